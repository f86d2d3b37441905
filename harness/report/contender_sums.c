/*
 * contender_sums.c - adds up what result.h has of each contender beside its times. Relies on stats/interval.h. Called
 * by contender_table.c and by the screen's tables of races, energy and bits.
 */
#include "report/contender_sums.h"

#include <math.h>
#include <stdlib.h>

#include "stats/interval.h"

static const struct result_contender *in_cell(const struct result_cell *cell, const struct result_group *group,
                                              const char *name)
{
    return !group || result_same_group(&cell->group, group) ? result_contender(cell, name) : NULL;
}

/* ---- races ---- */

static void add_race(const struct result_tuning *tuning, double *raced, struct race_sums *out)
{
    raced[out->cells++] = tuning->raced;
    out->all += tuning->raced;
    out->seconds += tuning->seconds > 0 ? tuning->seconds : 0;
    out->busy_seconds += tuning->busy_seconds > 0 ? tuning->busy_seconds : 0;
}

bool sum_races(const struct result *result, const struct result_group *group, const char *name, struct race_sums *out)
{
    double *raced = calloc(result->n_cells + 1, sizeof *raced);
    *out = (struct race_sums){.median = NAN};
    for (size_t i = 0; i < result->n_cells && raced; i++) {
        const struct result_contender *c = in_cell(&result->cells[i], group, name);
        if (c && c->tuning.raced > 0)
            add_race(&c->tuning, raced, out);
    }
    if (out->cells > 0)
        out->median = stats_median(raced, out->cells);
    free(raced);
    return raced != NULL;
}

/* ---- energy ---- */

static bool is_measured(const struct result_contender *c)
{
    return c->energy.json && c->energy.joules > 0 && c->energy.gflop_per_joule > 0;
}

/* Whether all that were asked in the cell were measured: sums of some cells and of others cannot be compared. */
static bool is_whole(const struct result_cell *cell)
{
    for (size_t i = 0; i < cell->n_contenders; i++)
        if (cell->contenders[i].energy.json && !is_measured(&cell->contenders[i]))
            return false;
    return true;
}

static void add_energy(const struct result_cell *cell, const struct result_energy *energy, struct energy_sums *out)
{
    out->measured++;
    if (energy->steps > 0)
        out->fewest_steps = fmin(out->fewest_steps, energy->steps); /* fmin passes NaN over */
    if (!is_whole(cell))
        return;
    out->whole++;
    out->gflop_per_joule += log(energy->gflop_per_joule);
    out->joules += energy->joules;
}

void sum_energy(const struct result *result, const struct result_group *group, const char *name,
                struct energy_sums *out)
{
    *out = (struct energy_sums){.fewest_steps = NAN};
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_contender *c = in_cell(&result->cells[i], group, name);
        out->asked += c && c->energy.json;
        if (c && is_measured(c))
            add_energy(&result->cells[i], &c->energy, out);
    }
    out->gflop_per_joule = out->whole > 0 ? exp(out->gflop_per_joule / (double)out->whole) : (double)NAN;
    out->joules = out->whole > 0 ? out->joules : (double)NAN;
}

/* ---- bits ---- */

static void count(struct answer_sums *sums, enum result_answer answer)
{
    sums->known += answer != ANSWER_NONE;
    sums->yes += answer == ANSWER_YES;
}

void sum_bits(const struct result *result, const struct result_group *group, const char *name, struct bits_sums *out)
{
    *out = (struct bits_sums){.batch_invariant = {0, 0}};
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_contender *c = in_cell(&result->cells[i], group, name);
        if (!c || !c->invariance.json)
            continue;
        count(&out->batch_invariant, c->invariance.batch_invariant);
        count(&out->deterministic, c->invariance.deterministic);
    }
}
