/*
 * plan.c - lists the cells of a config with a seed each, a hash of the list and an estimate of its time. Pure, so that
 * every process has the same. Called by ledger.c, and by cli/ to check a config or to verify.
 */
#include "run/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "record/record.h"

/* Rates of the cost model. Only the ETA uses them, and it corrects itself from the cells already done, so what matters
 * is the proportion between large and small cells. */
#define CUDA_FLOPS 3e14
#define CUDA_BYTES 2e12
#define CPU_FLOPS 4e10
#define CPU_BYTES 1e10
#define LAUNCH_SECONDS 1e-5
#define SEGMENT_SECONDS 200e-6 /* of a device-timed offline segment */
#define CONTENDER_SECONDS 0.05 /* setup, verification and tuning of one contender */
#define BLOCKS_FACTOR 1.5      /* blocks until convergence, in units of min_blocks */
#define ETA_PRIOR 0.05         /* share of the whole after which what was measured counts as much as the model */

static size_t name_count(char *const names[])
{
    size_t count = 0;
    while (names[count])
        count++;
    return count;
}

static size_t bit_count(uint32_t bits)
{
    return (size_t)__builtin_popcount(bits);
}

static double adaptive_cost(const struct config *config, bool on_cuda, const struct plan_cell *cell)
{
    double compute = problem_flops(&cell->problem) / (on_cuda ? CUDA_FLOPS : CPU_FLOPS);
    double memory = problem_bytes(&cell->problem) / (on_cuda ? CUDA_BYTES : CPU_BYTES);
    double launch = fmax(compute, memory) + LAUNCH_SECONDS;
    double contenders = (double)((name_count(config->baselines) + name_count(config->candidates)) *
                                 (bit_count(config->layouts) ? bit_count(config->layouts) : 1));
    double others = config->other_timings_every ? 2.0 / config->other_timings_every : 0.0;
    double blocks = BLOCKS_FACTOR * config->stop.min_blocks;
    double segment = launch;
    if (cell->mode == MODE_OFFLINE && on_cuda)
        segment = fmax(launch, SEGMENT_SECONDS) + others * launch;
    if (cell->mode == MODE_SERVER)
        segment = (launch + config->gap.mean_ns * 1e-9) * (1.0 + others);
    return fmax(contenders, 1.0) * (CONTENDER_SECONDS + 20.0 * launch + blocks * segment);
}

static double paper_cost(const struct config *config)
{
    double pairs = (double)(name_count(config->baselines) * name_count(config->candidates));
    return fmax(pairs, 1.0) * (double)bit_count(config->layouts) *
           (config->paper.warmup_seconds + config->paper.pair_seconds);
}

static void cell_fill(struct plan_cell *cell, const struct config *config, bool on_cuda, uint64_t seed)
{
    char key[RECORD_KEY_MAX];
    record_key(&cell->problem, cell->mode, key);
    cell->seed = random_derive(seed, key, 0);
    cell->cost_seconds = config->protocol == PROTOCOL_PAPER ? paper_cost(config) : adaptive_cost(config, on_cuda, cell);
}

static void plan_fill(struct plan *p, const struct config *config, bool on_cuda, uint64_t seed)
{
    enum cudal2_dtype dtype = config_dtype(config, on_cuda);
    uint32_t accumulates = config_accumulates(config, dtype);
    for (int mode = 0; mode < MODE_COUNT; mode++)
        for (int acc = CUDAL2_ACC_F16; acc <= CUDAL2_ACC_F32; acc++)
            for (size_t i = 0; i < config->n_shapes; i++) {
                if (!(config->modes & CUDAL2_BIT(mode)) || !(accumulates & CUDAL2_BIT(acc)))
                    continue;
                const struct shape *shape = &config->shapes[i];
                struct plan_cell *cell = &p->cells[p->n_cells++];
                *cell = (struct plan_cell){.problem = shape_problem(shape, dtype, (enum cudal2_accumulate)acc),
                                           .mode = (enum mode)mode,
                                           .place = p->n_cells - 1,
                                           .label = shape->label};
                cell_fill(cell, config, on_cuda, seed);
            }
}

/* Cells have all shapes in turn, of one mode and type after another (plan_fill). */
size_t plan_shape(const struct config *config, const struct plan_cell *cell)
{
    return cell->place % config->n_shapes;
}

static void plan_hash(struct plan *p)
{
    struct digest d;
    digest_start(&d);
    for (size_t i = 0; i < p->n_cells; i++) {
        char key[RECORD_KEY_MAX], seed[24];
        record_key(&p->cells[i].problem, p->cells[i].mode, key);
        snprintf(seed, sizeof seed, "%" PRIu64, p->cells[i].seed);
        digest_add_string(&d, key);
        digest_add_string(&d, p->cells[i].label);
        digest_add_string(&d, seed);
    }
    digest_finish(&d, p->hash);
}

int plan_build(const struct config *config, bool on_cuda, uint64_t seed, struct plan *out, struct error *err)
{
    *out = (struct plan){0};
    size_t per_shape = bit_count(config->modes) * bit_count(config_accumulates(config, config_dtype(config, on_cuda)));
    if (per_shape * config->n_shapes == 0)
        return error_set(err, EXIT_CODE_DATA,
                         "the config names no cell to measure (no shape, mode or accumulate type)");
    out->cells = calloc(per_shape * config->n_shapes, sizeof *out->cells);
    if (!out->cells)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a plan of %zu shapes", config->n_shapes);
    plan_fill(out, config, on_cuda, seed);
    plan_hash(out);
    return 0;
}

void plan_free(struct plan *p)
{
    free(p->cells);
    *p = (struct plan){0};
}

double plan_eta(double done, double left, double elapsed, int workers)
{
    double prior = ETA_PRIOR * (done + fmax(left, 0));
    return prior > 0 ? fmax(left, 0) * (elapsed + prior / fmax(workers, 1)) / (done + prior) : 0;
}

long plan_find(const struct plan *p, const struct cudal2_problem *problem, enum mode mode)
{
    for (size_t i = 0; i < p->n_cells; i++)
        if (p->cells[i].mode == mode && problem_equal(&p->cells[i].problem, problem))
            return (long)i;
    return -1;
}
