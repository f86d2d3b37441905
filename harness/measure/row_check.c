/*
 * row_check.c - runs a row of launches that ends early, with other inputs and a spoiled C ahead of one of its last.
 * Relies on the device's segments and on probe_ops.upset. Called by timed.c and timed_segment.c.
 */
#include "measure/row_check.h"

#include "measure/rotation.h"

/* Launches from the break on: one, or up to so many. */
#define BEHIND_MOST 4u
/* Rows and columns of which one is changed where few are. */
#define FEW_LINES 32u

struct row {
    const struct bench *bench;
    const struct entrant *entrant;
    struct probe_upset upset;
    size_t first; /* set of the visit that the row is like */
    unsigned visit, length;
    struct device_break broken;
};

bool row_check_possible(const struct bench *bench, const struct entrant *entrant)
{
    const struct device_shape *shape = &entrant->row.shape;
    return bench->device->probes->upset != NULL && entrant->row.segment != NULL &&
           shape->primers + shape->launches / device_shape_visits(shape) > 1;
}

static int launch(void *context, size_t set, char *why)
{
    const struct row *row = context;
    const struct device_work *work = &row->entrant->work;
    return work->launch(work->context, row->first + set, why);
}

static int put_upset(void *context, size_t set, char *why)
{
    struct row *row = context;
    struct device *d = row->bench->device;
    row->upset.operands =
        operands_sets(row->bench->operands, row->upset.layout) + row->entrant->first_set + row->first + set;
    return d->probes->upset(d, &row->upset, why);
}

static void draw_upset(struct row *row, struct random *random)
{
    static const enum probe_spoil kinds[] = {SPOIL_NONE, SPOIL_SOME_NAN, SPOIL_SOME_LIKELY, SPOIL_NUDGED, SPOIL_MOVED};
    static const uint64_t lines[] = {0, 1, FEW_LINES, FEW_LINES};
    row->upset = (struct probe_upset){.problem = row->bench->problem,
                                      .layout = row->entrant->contender->is.layout,
                                      .spoil = kinds[random_below(random, sizeof kinds / sizeof *kinds)],
                                      .lines = lines[random_below(random, sizeof lines / sizeof *lines)],
                                      .seed = random_next(random)};
    if (row->upset.spoil == SPOIL_NONE && row->upset.lines == 0)
        row->upset.lines = FEW_LINES;
}

/* Any launch but the first may be the one behind the break, and as a rule the row ends with it. */
static void draw_row(struct row *row, struct random *random)
{
    const struct device_shape *shape = &row->entrant->row.shape;
    unsigned visits = device_shape_visits(shape), total = shape->primers + shape->launches / visits;
    unsigned visit = (unsigned)random_below(random, visits), at = 1 + (unsigned)random_below(random, total - 1);
    unsigned left = total - at < BEHIND_MOST ? total - at : BEHIND_MOST;
    unsigned behind = random_below(random, 2) == 0 ? 1 : 1 + (unsigned)random_below(random, left);
    row->first = visit * (shape->n_sets / visits);
    row->length = at + behind;
    row->broken = (struct device_break){.enqueue = put_upset, .context = row, .visit = 0, .launch = at};
    draw_upset(row, random);
}

/* Primers as far as they go; the rest stands between the events, as it does when it is timed. */
static struct device_shape shape_of(const struct row *row)
{
    struct device_shape shape = row->entrant->row.shape;
    shape.n_sets /= device_shape_visits(&shape);
    shape.primers = shape.primers < row->length ? shape.primers : row->length - 1;
    shape.launches = row->length - shape.primers;
    shape.visits = 1;
    shape.again = 0;
    shape.loaded = shape.settled = true;
    shape.broken = &row->broken;
    return shape;
}

/* The first upset of a problem must not be under capture; this one changes a C that is written again. */
static int try_upset(struct row *row, struct error *err)
{
    struct probe_upset first = row->upset;
    char why[CUDAL2_WHY] = "";
    first.operands = operands_sets(row->bench->operands, first.layout) + row->entrant->first_set + row->first;
    first.lines = 0;
    if (row->bench->device->probes->upset(row->bench->device, &first, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "spoiling an output: %s", why);
    return 0;
}

int row_check_run(struct bench *bench, const struct entrant *entrant, struct random *random,
                  const struct cudal2_operands **broken, struct error *err)
{
    struct device *d = bench->device;
    struct row row = {.bench = bench, .entrant = entrant};
    const struct device_work work = {launch, &row, entrant->work.flags};
    struct device_segment *segment = NULL;
    double ns;
    draw_row(&row, random);
    struct device_shape shape = shape_of(&row);
    int code = try_upset(&row, err);
    if (code == 0)
        code = d->ops->prepare(d, &work, &shape, d->ops->rung(entrant->row.segment), &segment, err);
    if (code == 0 && rotation_is_told(bench, entrant)) /* the order of a row that was timed would announce this one */
        d->ops->reorder(segment, random_next(random) | 1);
    if (code == 0)
        code = d->ops->measure(d, segment, &ns, err);
    if (segment != NULL)
        d->ops->release_segment(d, segment);
    *broken = row.upset.operands;
    return code;
}
