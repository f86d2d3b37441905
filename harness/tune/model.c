#include "tune/model.h"

#include <math.h>

#define LAUNCH_SECONDS 1.6e-6
#define FILL 830.0           /* from the launch to the first multiplication */
#define STAGE_LATENCY 1660.0 /* of a stage, from its request to its release */
#define DIRECT_LATENCY 190.0 /* of a step that goes straight into registers; its loads are many and small */
#define L2_RATE 59.0         /* bytes a cycle and multiprocessor */
#define L2_SHARE_MMA 0.6     /* of that rate, by cp.async and plain loads */
#define NN_COST_MMA 1.5      /* a row-major B comes in pieces that mma.sync must shuffle */
#define WGMMA_RATE 2960.0    /* FLOP a cycle and multiprocessor: the power limit is in it */
#define HIDDEN_SHARE 0.05    /* of what hides behind something longer that shows all the same */
#define MMA_RATE 2600.0
#define WARPS_FOR_RATE 4.0 /* warps it takes to reach it */
#define EPILOGUE 295.0
#define CLUSTER 400.0   /* CTAs that share operands wait for each other */
#define EXCHANGE 1500.0 /* for each doubling of the CTAs that share a tile */
#define EXCHANGE_RATE 7.8
#define SLICES 100.0
#define SLICES_RATE 128.0
#define L2_BYTES_PER_S 4.4e12 /* of the whole machine, when everything fits */
#define GPC_COUNT 8.0
#define GPC_SMS 16.0 /* that a cluster can count on */

/* How much of an epilogue shows, by model_tile.overlaps. */
static const double epilogue_seen[] = {1.0, 0.6, 0.1};

static double longer(double a, double b)
{
    return fmax(a, b) + HIDDEN_SHARE * fmin(a, b);
}

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

/* CTAs that run at the same time. A cluster lives in one GPC, and a GPC rarely has sixteen multiprocessors free. */
static double capacity(const struct model_machine *machine, const struct model_tile *t)
{
    double sms = machine->sm_count;
    if (t->cluster > 1)
        sms = fmin(sms, fmax(1.0, sms / (GPC_COUNT * GPC_SMS)) * GPC_COUNT * floor(GPC_SMS / t->cluster) * t->cluster);
    if (t->cluster > 8)
        sms /= 2;
    return fmax(1.0, sms * t->per_sm);
}

static double ctas(const struct cudal2_problem *p, const struct model_tile *t)
{
    return ceil_div((double)p->m, t->m) * ceil_div((double)p->n, t->n) * t->split;
}

/* Cycles of one step of `together` CTAs on a multiprocessor. */
static double step_cycles(const struct model_tile *t, enum cudal2_layout layout, double together)
{
    double mma_rate = MMA_RATE * fmin(1.0, together * t->warps / WARPS_FOR_RATE);
    double b_cost = !t->wgmma && layout == CUDAL2_NN ? NN_COST_MMA : 1.0;
    double bytes = 2.0 * t->step_k * (t->m / sqrt(t->a_readers) + t->n / sqrt(t->b_readers) * b_cost);
    double tensor = together * 2.0 * t->m * t->n * t->step_k / (t->wgmma ? WGMMA_RATE : mma_rate);
    double l2 = together * bytes / (L2_RATE * (t->wgmma ? 1.0 : L2_SHARE_MMA));
    return longer(longer(tensor, l2), (t->direct ? DIRECT_LATENCY : STAGE_LATENCY) / t->stages);
}

static double epilogue_cycles(const struct model_tile *t, double together)
{
    return EPILOGUE + together * t->m * t->n * 2.0 / L2_RATE;
}

static double exchange_cycles(const struct model_tile *t)
{
    double cycles = 0;
    if (t->split > 1)
        cycles += EXCHANGE * log2(t->split) + t->m * t->n * 4.0 / EXCHANGE_RATE;
    if (t->slices > 1)
        cycles += SLICES + t->m * t->n * 4.0 * t->slices / SLICES_RATE;
    return cycles;
}

static double work_cycles(const struct model_machine *machine, const struct cudal2_problem *p,
                          enum cudal2_layout layout, const struct model_tile *t)
{
    double all = ctas(p, t), at_once = capacity(machine, t);
    double waves = ceil_div(all, at_once), last = all - (waves - 1) * at_once;
    double steps = ceil_div(ceil_div((double)p->k, t->split), t->step_k);
    double full = fmin(t->per_sm, ceil_div(all, machine->sm_count));
    double rest = fmax(1.0, fmin(t->per_sm, ceil_div(last, machine->sm_count)));
    double cycles = (waves - 1) * steps * step_cycles(t, layout, full) + steps * step_cycles(t, layout, rest);
    cycles += t->cluster > t->split ? CLUSTER : 0.0;
    cycles += t->direct ? 0.0 : FILL + (t->overlaps ? 0.0 : (waves - 1) * FILL / 2);
    cycles += epilogue_cycles(t, rest) + (waves - 1) * epilogue_cycles(t, full) * epilogue_seen[t->overlaps];
    return cycles + exchange_cycles(t);
}

static double floor_seconds(const struct model_machine *machine, const struct cudal2_problem *p)
{
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    double bytes = 2.0 * (m * k + n * k + m * n);
    double rate = bytes > machine->l2_bytes ? machine->memory_bytes_per_s : L2_BYTES_PER_S;
    double arithmetic = machine->flops > 0 ? 2.0 * m * n * k / machine->flops : 0.0;
    return fmax(arithmetic, rate > 0 ? bytes / rate : 0.0);
}

static bool sensible(const struct cudal2_problem *p, const struct model_tile *t)
{
    return p->m > 0 && p->n > 0 && p->k > 0 && t->m > 0 && t->n > 0 && t->step_k > 0 && t->stages > 0 && t->split > 0 &&
           t->cluster > 0 && t->per_sm > 0 && t->warps > 0 && t->overlaps >= 0 && t->overlaps <= 2 &&
           t->a_readers > 0 && t->b_readers > 0;
}

double model_waves(const struct model_machine *machine, const struct cudal2_problem *problem,
                   const struct model_tile *tile)
{
    return sensible(problem, tile) ? ctas(problem, tile) / capacity(machine, tile) : INFINITY;
}

double model_seconds(const struct model_machine *machine, const struct cudal2_problem *problem,
                     enum cudal2_layout layout, const struct model_tile *tile)
{
    if (!sensible(problem, tile))
        return INFINITY;
    double work = work_cycles(machine, problem, layout, tile) / machine->clock_hz;
    return LAUNCH_SECONDS + longer(work, floor_seconds(machine, problem));
}
