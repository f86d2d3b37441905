/*
 * watch_state.c - puts inputs, C and caches into the state that a watched launch is to find, warm as the timed launch
 * found them or emptied. Relies on operands/ and the device. Called by activity.c in audit workers.
 */
#include "verify/watch_state.h"

/* The first launch brings the inputs into the caches, the second finds them as every further one does. */
#define PRIMERS 2

static bool is_cold(const struct bench *bench)
{
    enum cache_state cache = bench->config->cache[bench->mode];
    return cache == CACHE_FLUSH || cache == CACHE_ROTATE;
}

static struct operands_values fresh(struct watch_state *s)
{
    return (struct operands_values){FILL_SPREAD, random_next(s->random) >> 8, 0};
}

static int launch_once(struct watch_state *s, struct error *err)
{
    struct device *d = s->bench->device;
    char why[CUDAL2_WHY] = "";
    double ns;
    if (s->segment != NULL)
        return d->ops->measure(d, s->segment, &ns, err);
    int status = s->entrant->work.launch(s->entrant->work.context, 0, why);
    int code = d->ops->sync(d, err);
    if (code == 0 && status != CUDAL2_OK)
        code = error_set(err, EXIT_CODE_VERIFICATION, "launch failed with status %d: %s", status, why);
    return code;
}

static int prime(struct watch_state *s, struct error *err)
{
    int code = 0;
    for (int i = 0; i < PRIMERS && code == 0; i++)
        code = launch_once(s, err);
    return code;
}

static struct operands_part part_of(const struct watch_state *s)
{
    return (struct operands_part){s->entrant->first_set, s->entrant->contender->is.layout};
}

static int fill_all(struct watch_state *s, struct error *err)
{
    const struct operands_part part = part_of(s);
    return operands_fill_set(s->bench->device, s->bench->operands, &s->all, &part, err);
}

static int fill_lesser(struct watch_state *s, struct error *err)
{
    const struct operands_part part = part_of(s);
    return operands_fill_lesser(s->bench->device, s->bench->operands, &s->lesser, &part, err);
}

static int poison(struct watch_state *s, struct error *err)
{
    return operands_poison(s->bench->device, s->bench->operands, s->entrant->first_set, err);
}

static int bring_cold(struct watch_state *s, enum watch_arm arm, struct error *err)
{
    struct device *d = s->bench->device;
    int code = 0;
    if (arm == WATCH_NEW)
        s->all = s->lesser = fresh(s);
    if (arm != WATCH_TIMED)
        code = fill_all(s, err);
    if (code == 0 && arm == WATCH_NEW)
        code = poison(s, err);
    return code == 0 ? d->ops->flush(d, err) : code;
}

static int bring_warm(struct watch_state *s, enum watch_arm arm, struct error *err)
{
    int code = 0;
    if (arm == WATCH_NEW) {
        s->all = fresh(s);
        s->lesser = fresh(s);
        code = fill_all(s, err);
    }
    if (code == 0)
        code = prime(s, err);
    if (code == 0 && arm != WATCH_TIMED)
        code = fill_lesser(s, err);
    return code == 0 && arm == WATCH_NEW ? poison(s, err) : code;
}

int watch_state_bring(struct watch_state *s, enum watch_arm arm, struct error *err)
{
    int code = is_cold(s->bench) ? bring_cold(s, arm, err) : bring_warm(s, arm, err);
    return code == 0 ? s->bench->device->ops->sync(s->bench->device, err) : code;
}
