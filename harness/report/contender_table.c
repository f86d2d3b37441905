/*
 * contender_table.c - makes Table 8 of a result. Relies on contender_sums.h and table_parts.c. Called by tables.c.
 */
#include "report/contender_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/contender_sums.h"
#include "report/table_parts.h"

static bool tells(const struct result_contender *c)
{
    return c->role != RESULT_COPY && (c->tuning.raced > 0 || c->energy.json || c->invariance.json);
}

static void columns(struct table *s)
{
    table_column(s, "contender", "contender", true);
    table_column(s, "role", "role", true);
    table_column(s, "raced", "raced", false);
    table_column(s, "in cells", "race_cells", false);
    table_column(s, "in the median", "raced_median", false);
    table_column(s, "seconds", "race_seconds", false);
    table_column(s, "GPU-seconds", "race_gpu_seconds", false);
    table_share_column(s, "joules known", "energy_measured");
    table_column(s, "GFLOP/J", "gflop_per_joule", false);
    table_column(s, "J, a launch in each", "joules", false);
    table_column(s, "fewest steps", "energy_fewest_steps", false);
    table_share_column(s, "batch-invariant", "batch_invariant");
    table_share_column(s, "deterministic", "deterministic");
    static const char *const hidden[] = {"mode", "dtype", "accumulate"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        table_column(s, hidden[i], hidden[i], true);
        table_hide(s);
    }
}

static void add_figure(struct table *s, double value, const char *format)
{
    char text[32] = "-";
    if (!isnan(value))
        snprintf(text, sizeof text,
                 strcmp(format, "g") == 0   ? "%.3g"
                 : strcmp(format, "1") == 0 ? "%.1f"
                                            : "%.0f",
                 value);
    table_add(s, value, "%s", text);
}

static void add_row(const struct result *result, const struct result_group *g, const struct result_contender *c,
                    struct table *s)
{
    struct race_sums races;
    struct energy_sums energy;
    struct bits_sums bits;
    s->failed |= !sum_races(result, g, c->name, &races);
    sum_energy(result, g, c->name, &energy);
    sum_bits(result, g, c->name, &bits);
    bool raced = races.cells > 0;
    table_add(s, NAN, "%s", c->name);
    table_add(s, NAN, "%s", result_role_name(c->role));
    add_figure(s, raced ? races.all : (double)NAN, "0");
    add_figure(s, raced ? (double)races.cells : (double)NAN, "0");
    add_figure(s, races.median, "0");
    add_figure(s, raced ? races.seconds : (double)NAN, "1");
    add_figure(s, raced ? races.busy_seconds : (double)NAN, "1");
    table_add_share(s, energy.measured, energy.asked);
    add_figure(s, energy.gflop_per_joule, "g");
    add_figure(s, energy.joules, "g");
    add_figure(s, energy.fewest_steps, "0");
    table_add_share(s, bits.batch_invariant.yes, bits.batch_invariant.known);
    table_add_share(s, bits.deterministic.yes, bits.deterministic.known);
    table_add(s, NAN, "%s", g->mode);
    table_add(s, NAN, "%s", g->dtype);
    table_add(s, NAN, "%s", g->accumulate);
}

static void describe(struct table *s, const struct result_group *g)
{
    snprintf(s->name, sizeof s->name, "table8");
    snprintf(s->label, sizeof s->label, "table8-%s-%s-%s", g->mode, g->dtype, g->accumulate);
    make_label(s->label);
    snprintf(s->title, sizeof s->title, "Table 8: contenders: %s, %s accumulated in %s", g->mode, g->dtype,
             g->accumulate);
}

static void add_notes(struct table *s, const struct result *result, const struct result_group *g)
{
    bool raced = false, energy = false, bits = false;
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t j = 0; result_same_group(&result->cells[i].group, g) && j < result->cells[i].n_contenders; j++) {
            const struct result_contender *c = &result->cells[i].contenders[j];
            raced |= c->tuning.raced > 0;
            energy |= c->energy.json != NULL;
            bits |= c->invariance.json != NULL;
        }
    if (raced)
        table_note(s, "raced: algorithms before the blocks, without searches that made tables");
    if (energy)
        table_note(s, "joules are the whole GPU's, of cells in which all were measured; fewest steps: how often its "
                      "counter moved under the shortest row");
    if (bits)
        table_note(s, "batch-invariant: cells whose rows have the same bits for every M");
}

/* Whether an earlier cell of the group has told of this name. */
static bool is_told(const struct result *result, size_t before, const struct result_group *g, const char *name)
{
    for (size_t i = 0; i < before; i++) {
        const struct result_contender *c =
            result_same_group(&result->cells[i].group, g) ? result_contender(&result->cells[i], name) : NULL;
        if (c && tells(c))
            return true;
    }
    return false;
}

static int table_of(const struct result *result, const struct result_group *g, table_sink sink, void *context)
{
    struct table s = {0};
    describe(&s, g);
    columns(&s);
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t j = 0; result_same_group(&result->cells[i].group, g) && j < result->cells[i].n_contenders; j++) {
            const struct result_contender *c = &result->cells[i].contenders[j];
            if (tells(c) && !is_told(result, i, g, c->name))
                add_row(result, g, c, &s);
        }
    add_notes(&s, result, g);
    int code = table_rows(&s) > 0 || s.failed ? sink(context, 8, &s) : 0;
    table_free(&s);
    return code;
}

int contender_table_make(const struct result *result, table_sink sink, void *context)
{
    int code = 0;
    for (size_t i = 0; i < result->n_cells && code == 0; i++)
        if (result_is_first_of_group(result, i))
            code = table_of(result, &result->cells[i].group, sink, context);
    return code;
}
