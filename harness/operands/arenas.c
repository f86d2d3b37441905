/*
 * arenas.c - keeps up to four allocations for the matrices of a cell and says which comes next. Relies on device.h.
 * Called by bench_move, and by the worker's cell at its ends.
 */
#include "operands/arenas.h"

#include "base/random.h"

static unsigned most_of(const struct arenas *a)
{
    return a->most < 1 ? 1 : a->most < ARENAS_MOST ? a->most : ARENAS_MOST;
}

static bool all_hold(const struct arenas *a, uint64_t bytes)
{
    bool fit = true;
    for (unsigned i = 0; i < a->n; i++)
        fit = fit && a->kept[i].bytes >= bytes;
    return fit;
}

bool arenas_full(const struct arenas *arenas, uint64_t bytes)
{
    return arenas->n > 1 && arenas->n == most_of(arenas) && all_hold(arenas, bytes);
}

uint64_t arenas_spare(const struct arenas *arenas)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < arenas->n; i++)
        bytes += i == arenas->at ? 0 : arenas->kept[i].bytes;
    return bytes;
}

void arenas_free(struct arenas *arenas, struct device *device)
{
    for (unsigned i = 0; i < arenas->n; i++)
        device->ops->release(device, arenas->kept[i].memory);
    arenas->n = arenas->at = 0;
}

static int take(const struct arenas *a, struct device *device, struct arena *fresh, struct error *err)
{
    bool apart = a->apart && device->ops->alloc_apart != NULL;
    return (apart ? device->ops->alloc_apart : device->ops->alloc)(device, (size_t)fresh->bytes, &fresh->memory, err);
}

static int add(struct arenas *a, struct device *device, uint64_t bytes, struct error *err)
{
    struct arena fresh = {.bytes = bytes};
    int code = take(a, device, &fresh, err);
    if (code == 0) {
        a->at = a->n++;
        a->kept[a->at] = fresh;
    }
    return code;
}

/* Any but the one in use, each alike. */
static void draw_other(struct arenas *a, uint64_t seed)
{
    struct random random;
    random_seed(&random, random_derive(seed, "arena", 0));
    a->at = (a->at + 1 + (unsigned)random_below(&random, a->n - 1)) % a->n;
}

/* A new one in place of all that there are. */
static int replace(struct arenas *a, struct device *device, const struct arenas_move *move, struct error *err)
{
    struct error no_room;
    struct arena fresh = {.bytes = move->bytes};
    int code = -1;
    if (a->n > 0 && move->bytes <= move->room)
        code = take(a, device, &fresh, &no_room);
    arenas_free(a, device);
    if (code != 0)
        return add(a, device, move->bytes, err);
    a->kept[a->n++] = fresh;
    return 0;
}

/* By one more, where there may be more and memory is plenty. */
static bool grows(struct arenas *a, struct device *device, const struct arenas_move *move)
{
    struct error no_more;
    bool more = a->n < most_of(a) && move->bytes <= move->room / ARENAS_ROOM;
    return more && add(a, device, move->bytes, &no_more) == 0;
}

int arenas_move(struct arenas *arenas, struct device *device, const struct arenas_move *move, void **memory,
                struct error *err)
{
    bool fit = arenas->n > 0 && all_hold(arenas, move->bytes);
    int code = 0;
    if (!fit || !grows(arenas, device, move)) {
        if (fit && arenas->n > 1)
            draw_other(arenas, move->seed);
        else
            code = replace(arenas, device, move, err);
    }
    *memory = code == 0 ? arenas->kept[arenas->at].memory : NULL;
    return code;
}
