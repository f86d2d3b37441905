/*
 * claimed.c - rows that set the authors' published speedups beside ours, with GPU, timing and cache state of each
 * side. Relies on table_parts.c. Called by tables.c with `--published`.
 */
#include "report/claimed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/groups.h"
#include "report/table_parts.h"

/* "H200, device, warm": the columns are narrow. */
static void say_conditions(const struct line *line, char *out, size_t capacity)
{
    const char *device = line->device[0] ? line->device : "GPU unknown";
    if (strncmp(device, "NVIDIA ", 7) == 0)
        device += 7;
    snprintf(out, capacity, "%s, %s, %s", device, line->timing, line->cache[0] ? line->cache : "cache ?");
}

static void side_columns(struct table *s, const char *mode, const char *side, const char *conditions)
{
    char key[32], head[64];
    snprintf(head, sizeof head, "%s (%.48s)", side, conditions);
    snprintf(key, sizeof key, "%s_mean", side);
    mode_column(s, mode, head, key, TABLE_SINGLE);
    snprintf(key, sizeof key, "%s_wins", side);
    mode_column(s, mode, "wins", key, TABLE_SHARE);
    snprintf(key, sizeof key, "%s_conditions", side);
    mode_column(s, mode, "conditions", key, TABLE_SINGLE);
    table_hide(s);
}

static void side_cells(struct table *s, const struct line *line, const char *conditions)
{
    struct aggregate a;
    aggregate_or_nothing(line, &a);
    add_percent(s, a.mean, true);
    table_add_share(s, a.wins, a.n);
    table_add(s, NAN, "%s", line ? conditions : "-");
}

/* One line that nobody can miss: the two sides were not taken alike. */
static void warn(struct table *s, const struct line *measured, const struct line *claimed)
{
    bool gpu = strcmp(measured->device, claimed->device) != 0, timing = strcmp(measured->timing, claimed->timing) != 0;
    bool cache = strcmp(measured->cache, claimed->cache) != 0;
    if (gpu || timing || cache)
        table_note(s, "Not alike: measured and claimed are of another%s%s%s; what differs between them is that, too",
                   gpu ? " GPU" : "", timing ? gpu ? ", timing" : " timing" : "",
                   cache ? gpu || timing ? ", cache state" : " cache state" : "");
}

static int side_by_side(const struct dataset *d, const struct line *measured, const struct line *claimed,
                        table_sink sink, void *context)
{
    const struct line *const sides[] = {measured, claimed};
    const char *references[128];
    char conditions[2][128];
    struct table s = {.name = "table1-claimed"};
    size_t n = group_references(d, references, 128);
    const struct outcomes outcomes = outcomes_of(d, measured);
    describe_table(&s, "table1-claimed", "Table 1", measured);
    snprintf(s.title, sizeof s.title, "Table 1: claimed (%s) next to measured (%s), accumulate %s, the paper's means",
             claimed->candidate, measured->candidate, measured->accumulate);
    table_column(&s, "baseline", "baseline", true);
    for (size_t side = 0; side < 2; side++)
        say_conditions(sides[side], conditions[side], sizeof conditions[side]);
    for (size_t m = 0; m < GROUP_MODES; m++) {
        side_columns(&s, group_modes[m], "measured", conditions[0]);
        side_columns(&s, group_modes[m], "claimed", conditions[1]);
        outcome_note(&s, group_modes[m], outcomes.mode[m]);
    }
    warn(&s, measured, claimed);
    left_out_note(&s, d, measured);
    for (size_t i = 0; i < n; i++) {
        table_add(&s, NAN, "%s", references[i]);
        for (size_t m = 0; m < GROUP_MODES; m++)
            for (size_t side = 0; side < 2; side++)
                side_cells(&s, group_line(d, sides[side], group_modes[m], references[i]), conditions[side]);
    }
    int code = sink(context, 1, &s);
    table_free(&s);
    return code;
}

int claimed_make(const struct dataset *d, table_sink sink, void *context)
{
    int code = 0;
    for (size_t i = 0; i < d->n && code == 0; i++)
        for (size_t j = 0; j < d->n && code == 0; j++) {
            const struct line *a = &d->lines[i];
            const struct line *b = &d->lines[j];
            bool pair = strcmp(a->source, "measured") == 0 && strcmp(b->source, "claimed") == 0;
            bool firsts = group_is_first(d, i) && group_is_first(d, j);
            if (pair && firsts && strcmp(a->accumulate, b->accumulate) == 0)
                code = side_by_side(d, a, b, sink, context);
        }
    return code;
}
