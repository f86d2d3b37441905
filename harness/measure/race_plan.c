/*
 * race_plan.c - the numbers of a race by the time of its fastest: cuts, rounds, finalists (docs/method.md, section 2).
 * Pure, so that tests play it over real times. Called by race.c after each round.
 */
#include "measure/race_plan.h"

#include <math.h>

#define SHORT_BELOW_NS 30e3
/* From here on a segment is one launch. */
#define SINGLE_FROM_NS 200e3
#define SINGLE_FINALS 5u

/* Without elimination in the final: a final of long launches is short, for their scatter is the power limit's, which
 * more rounds within a second do not average. */
#define LONG_FROM_NS 1e6
#define LONG_HEATS 2u
#define LONG_FINALS 4u

/* Ahead of a final that loses its runners from the second round on, whose graphs are then made once; in the middle of
 * one that loses nobody.
 */
static unsigned round_of_move(const struct race_plan *plan, double fastest_ns)
{
    bool moves = plan->finals > 1 && fastest_ns < SINGLE_FROM_NS;
    return moves ? plan->heats + (plan->spread > 0 ? 0 : plan->finals / 2) : 0;
}

static struct race_plan segment_plan(unsigned rounds, double fastest_ns)
{
    struct race_plan plan = {.start_cut = 2.0,
                             .heats = (rounds + 5) / 6,
                             .finals = rounds / 2,
                             .heat_cut = 1.2,
                             .final_cut = 1.10,
                             .finalists = 6,
                             .spread = 0.03};
    if (fastest_ns >= SHORT_BELOW_NS) {
        plan.start_cut = 1.5;
        plan.spread = 0.04;
    }
    if (fastest_ns >= SINGLE_FROM_NS) {
        plan.start_cut = 1.3;
        plan.heats = 1;
        plan.finals = rounds - 1 < SINGLE_FINALS ? rounds - 1 : SINGLE_FINALS;
        plan.finalists = 8;
        plan.spread = 0.06;
        plan.keeps_times = true;
    }
    plan.moves_at = round_of_move(&plan, fastest_ns);
    return plan;
}

/* Only the order of the variants is asked for, and short gaps change none. But long launches a tenth of the
 * gaps apart keep the GPU at its power limit, where others win than in the blocks: over 1 ms the winner read over 1%
 * slower than the first variant in 56 of 240 layouts, offline in one. Nor do heats in a row tell who is fast from idle:
 * there they share one clock, and here each has the clock that its power leaves it. */
#define GAP_SHARE 0.1

/* One launch tells less than a segment of many: in server mode more reach the final, and it has more rounds. While the
 * host was in the time (segment.h) the winner read over 1% slower than the first variant in a tenth of the cells with 4
 * finalists and 8 rounds; with these, and held graphs, it does in 80 of 2000. */
static struct race_plan launch_plan(const struct race_terms *terms, double fastest_ns)
{
    bool server = terms->server, is_long = fastest_ns > LONG_FROM_NS, rests = server && fastest_ns >= SINGLE_FROM_NS;
    struct race_plan plan = {.gap_share = rests    ? 1
                                          : server ? GAP_SHARE
                                                   : 0,
                             .start_cut = is_long ? 1.3 : 2.0,
                             .heats = (terms->rounds + 2) / 3,
                             .heat_cut = rests ? 1.2 : INFINITY,
                             .heats_rest = rests,
                             .keeps_times = rests,
                             .final_cut = server ? 1.15 : 1.10,
                             .finalists = rests     ? 12
                                          : server  ? 6
                                          : is_long ? 4
                                                    : 8};
    plan.finals = (server && !rests ? 2 : 1) * (terms->rounds - plan.heats);
    if (is_long && plan.heats > LONG_HEATS)
        plan.heats = LONG_HEATS;
    if (is_long && !server && plan.finals > LONG_FINALS)
        plan.finals = LONG_FINALS;
    plan.moves_at = round_of_move(&plan, fastest_ns);
    return plan;
}

struct race_plan race_plan(const struct race_terms *terms, double fastest_ns)
{
    if (terms->paper)
        return (struct race_plan){.start_cut = INFINITY, .finals = terms->rounds};
    if (terms->segments)
        return segment_plan(terms->rounds, fastest_ns);
    return launch_plan(terms, fastest_ns);
}

unsigned race_most_rounds(const struct race_terms *terms)
{
    return (terms->paper ? 1 : 2) * terms->rounds;
}

static bool stays_in_final(const struct race_plan *plan, const struct race_standing *s)
{
    if (plan->spread <= 0 || s->n < 2)
        return true;
    size_t places = s->n < 4 ? 7 - s->n : 3;
    return s->place < places && s->ratio <= 1 + plan->spread / sqrt((double)(s->n - 1));
}

bool race_goes_on(const struct race_plan *plan, const struct race_standing *standing)
{
    if (standing->round >= plan->heats)
        return stays_in_final(plan, standing);
    if (standing->round + 1 < plan->heats)
        return standing->ratio <= plan->heat_cut;
    return standing->first || (standing->ratio <= plan->final_cut && standing->place < plan->finalists);
}
