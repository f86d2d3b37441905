/*
 * room.c - memory that a cell may still take beside what it stated, and how long the harness's own work may take for so
 * many bytes. Relies on the device's free memory. Called by bench.c, worker/cell.c and the checks of verify/ before
 * each extra allocation.
 */
#include "measure/room.h"

#define PASSES 3.0 /* over a problem's products: two references and a look at the output */

/* A tenth of what a core or a GPU of ten years ago does, so that a busy machine is no hang. */
static const struct {
    double bytes_per_s, flops_per_s;
} slow[] = {{25e6, 0.2e9}, {5e9, 0.2e12}};

uint64_t bench_room(const struct bench *bench)
{
    uint64_t there = 0, limit = bench->memory_limit, held = bench->memory_held + arenas_spare(&bench->arenas);
    struct error ignored;
    if (bench->device->ops->memory_free(bench->device, &there, &ignored) != 0)
        return 0;
    uint64_t left = limit > held ? limit - held : 0;
    return limit > 0 && left < there ? left : there;
}

double bench_patience(const struct bench *bench, double bytes, double flops)
{
    bool on_cuda = bench->device->info.device_bit == CUDAL2_ON_CUDA;
    return bytes / slow[on_cuda].bytes_per_s + flops / slow[on_cuda].flops_per_s;
}

double bench_stage_patience(const struct bench *bench, const struct entrant *entrant)
{
    double sets = entrant != NULL ? 1 : (double)bench->n_sets;
    double bytes = sets * problem_bytes(&bench->problem) + (double)bench_flush_bytes(bench);
    double products = bench->mode == MODE_CHAIN ? (double)bench->sets_each : 1;
    return bench_patience(bench, bytes, PASSES * products * problem_flops(&bench->problem));
}

#define CHECK_POOL_BYTES (8ull << 20)
#define CHECK_VECTORS 2u /* of doubles, for rows, columns and sums, at a time */

uint64_t bench_check_bytes(const struct bench *bench)
{
    const struct cudal2_problem *p = &bench->problem;
    return CHECK_POOL_BYTES + CHECK_VECTORS * (uint64_t)(p->n + p->k + 2 * p->m) * sizeof(double);
}

/* Matrices that are shared are too large for the cache, which is then emptied between contenders; rotating may empty
 * it as well (segment.c). */
uint64_t bench_flush_bytes(const struct bench *bench)
{
    enum cache_state cache = bench->config->cache[bench->mode];
    bool flushes = cache == CACHE_FLUSH || cache == CACHE_ROTATE || bench->shared_sets;
    return flushes && !bench->config->verify_only ? 2 * bench->device->info.l2_bytes : 0;
}
