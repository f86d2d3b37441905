/*
 * model.c - predicts a GEMM's time from tile, waves, bytes and the machine's rates (the constants are fitted to
 * results/h200/search). Pure. Called by choice/prune.c and features.c.
 */
#include "choice/cudal2/model.h"

#include <math.h>

#define LAUNCH_SECONDS 0.65e-6 /* a graph of empty kernels takes 0.6 us a kernel */

/* Saved by what begins before the launch ahead has ended. The same code saved 0.28, with tensor maps 0.48 us and 0.09
 * more with room, from the search before it could to the one at aa801b0. */
#define EARLY_SAVES 0.18e-6
#define EARLY_SAVES_TMA 0.40e-6 /* tensor maps and barriers take longer to set up */
#define EARLY_ROOM 0.17e-6      /* more, where the next launch's CTAs fit beside those that run */

#define HIDDEN_SHARE 0.112 /* of what hides behind something longer that shows all the same */

/* From the launch to the first multiplication. */
#define FILL_TMA 1770.0
#define FILL_COPIES 1760.0
#define FILL_DIRECT 1450.0

#define STAGE_LATENCY 778.0  /* of a stage, from its request to its release; hidden by four stages and more */
#define DIRECT_LATENCY 481.0 /* of a step that goes straight into registers; its loads are many and small */
#define INTAKE_RATE 104.0    /* bytes a cycle and multiprocessor; what neighbours share arrives in both */
#define L2_RATE 46.6         /* bytes a cycle that the L2 gives out, times the multiprocessors */
#define SHARE_MMA 0.53       /* of those rates, by cp.async and plain loads */
#define NN_COST_MMA 1.85     /* a row-major B comes in pieces that mma.sync must shuffle */
#define PAIR 2.0             /* neighbouring CTAs on two multiprocessors that share a port */
#define PAIR_SCATTERED 1.65  /* what is left of that where launches that begin early lose their CTAs' order */
#define GPC 16.0             /* CTAs in a row that come to one GPC, if they are no clusters */
#define GPC_MERGES 0.414     /* of what all of these share and pairs do not, so much is asked for once */
#define SHARED_RATE 208.0    /* bytes a cycle that wgmma reads of shared memory and copies write to it */
#define MOST_SERVED 10.6     /* times that the L2 gives out the same line at once: a port of a GPC serves the rest */

/* FLOP a cycle and multiprocessor. wgmma's 4096 at 1.98 GHz are this many at the sustained clock. */
#define WGMMA_RATE 4770.0
#define MMA_RATE 2600.0
#define WARPS_FOR_RATE 4.0 /* warps it takes to reach it */

#define EPILOGUE 173.0
#define STORE_RATE 22.7   /* bytes of C a cycle */
#define OWN_ROWS 218.0    /* saved where no warp waits for another to store */
#define ONE_SEEN 0.818    /* of the epilogue, where one warpgroup has to store before it multiplies on */
#define CLUSTER 100.0     /* for each peer: CTAs that share operands wait for each other at the end */
#define CLUSTER_16 1650.0 /* where they are more than 8 */
#define CLUSTER_8 624.0   /* from 8 on, where not all of the next launch's fit beside */
#define CROWDED 0.178     /* CTAs more on a multiprocessor that has places for two launches' */
#define SLICES 44.4       /* for each warp that has a partial sum */
#define SLICES_RATE 82.0
/* Where of a tile's two halves one is stored while the other is multiplied, half of the stores hides, less so much: as
 * much as half of the stores of 128x64, which gain nothing by it. Of pairs that differ in TAIL alone, from idle
 * (results/h200/2026-11-23g-tune), these lost 0.06 to 0.18 us, and 128x128 won 0.22, 192x128 0.42, 256x128 0.56 and
 * 128x256 0.72. */
#define TAIL_COSTS 361.0

/* Steps that are dealt out to all CTAs (STREAM_K), each a tile's in turn, and the sums where two of them meet: by a
 * grid of values, over 2252 times of 120 ragged problems (the journals of 24 November). The first choice of those timed
 * is then 9% off, the best of eight 0.8%; without these 44 and 4.8%. */
#define DEALT_STEP 1.25
#define DEALT_MEETING 8000.0
#define DEALT_RATE 15.0

/* Of the whole machine. */
#define L2_BYTES_PER_S 5.88e12 /* when everything fits */
#define L2_HOLDS 0.506         /* of its size: up to here nothing is missed from launch to launch... */
#define L2_LOSES 0.858         /* ...and from here on everything is */
#define L2_PANEL 0.5           /* of its size, that a band's operands may take to be found again by the next wave */
#define F32_FLOPS 0.972        /* the power limit is lower by that for fp32 accumulators */
#define TOGETHER_COST 0.014    /* of that limit, lost when all warps of a CTA store at once and multiply at once */
/* Of that limit, for crosswise pairs whose tiles are handed out, and what TOGETHER_COST is for does not show in them.
 * From idle they won 31 of 34 races over 0.2 ms (fp32), in a row 24 (docs/kernels.md, the fourteenth run). */
#define QUEUE_GAIN 0.03
#define STORE_COST 0.18   /* stores that stay in the L2 drive out what is read: so much more to move */
#define STREAM_GAIN 0.015 /* of a matrix larger than the L2 that leaves it first: measured, not fitted */
#define FETCH_WIDE 256    /* bytes, two lines at once */
#define FETCH_GAIN 0.02   /* of what comes from memory line by line, if it is... */
#define FETCH_FROM 2.0    /* ...so many times what the L2 holds: measured, not fitted */

/* Multiprocessors of 132 that clusters of so many CTAs find, measured on an H200 (cudaOccupancyMaxActiveClusters): a
 * cluster lives in one GPC, and not every GPC has 16 multiprocessors or more. */
static const double cluster_places[] = {132, 132, 132, 117, 120, 102, 102, 102, 120};
#define PLACES_OF 132.0
#define PLACES_MANY 66.0 /* more than 8 */

/* How much of an epilogue shows, by model_tile.overlaps. */
static const double epilogue_seen[] = {1.0, 0.59, 0.15};

/* Cycles, and bytes of accumulators a cycle, by enum model_exchange. Own pieces stay where they are, if there is `own`.
 * The last is as it was fitted before. */
static const struct {
    double cycles, rate, own;
} exchanges[] = {{604, 15.1, 0}, {215, 22.4, 1}, {1820, 14.8, 1}, {3610, 17.3, 0}};

struct work {
    const struct model_machine *machine;
    const struct cudal2_problem *p;
    const struct model_tile *t;
    bool nn, f32;
    double rows, cols;    /* of tiles */
    double across, along; /* tiles from band to band, and along a band */
    double at_once;       /* CTAs that run at the same time */
    int kept;             /* the operand whose copies are spared: model_tile.keeps, or 0 */
};

static double hiding(double a, double b, double shown)
{
    return fmax(a, b) + shown * fmin(a, b);
}

static double longer(double a, double b)
{
    return hiding(a, b, HIDDEN_SHARE);
}

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

static double between(double low, double x, double high)
{
    return fmin(fmax(x, low), high);
}

static double places(const struct model_machine *machine, const struct model_tile *t, double per_sm)
{
    double of_132 = t->cluster > 8 ? PLACES_MANY : cluster_places[(int)t->cluster];
    return fmax(1.0, floor(machine->sm_count * of_132 / PLACES_OF) * per_sm);
}

/* What is kept is for the next tile of the lane: as many CTAs as make whole lanes. */
static double running_at_once(const struct model_machine *machine, const struct model_tile *t, double across)
{
    double all = places(machine, t, t->per_sm), wide = fmin(t->band, across);
    return t->keeps && wide <= all ? floor(all / wide) * wide : all;
}

double model_tiles(double size, double tile, double abreast)
{
    return abreast * ceil_div(size, tile * abreast);
}

static struct work work_of(const struct model_machine *machine, const struct cudal2_problem *p,
                           enum cudal2_layout layout, const struct model_tile *t)
{
    double rows = model_tiles((double)p->m, t->m, t->b_readers), cols = model_tiles((double)p->n, t->n, t->a_readers);
    return (struct work){.machine = machine,
                         .p = p,
                         .t = t,
                         .nn = layout == CUDAL2_NN,
                         .f32 = p->accumulate == CUDAL2_ACC_F32 || p->dtype == CUDAL2_BF16,
                         .rows = rows,
                         .cols = cols,
                         .across = t->down ? rows : cols,
                         .along = t->down ? cols : rows,
                         .at_once = running_at_once(machine, t, t->down ? rows : cols)};
}

static double ctas(const struct work *w)
{
    return w->rows * w->cols * w->t->split;
}

/* CTAs that share what they copy with a CTA. */
static double peers(const struct model_tile *t)
{
    return t->a_readers * t->b_readers - 1.0;
}

/* Whether the next launch's CTAs fit beside those that run. */
static bool has_room(const struct work *w)
{
    const struct model_tile *t = w->t;
    return 2.0 * fmin(ctas(w), w->at_once) <= places(w->machine, t, t->fits > 0 ? t->fits : t->per_sm);
}

/* ---- a step of k ---- */

/* Bytes that a CTA copies of a column of B over those of a row of A. */
static double cost_of_b(const struct work *w)
{
    return w->nn && !w->t->wgmma ? NN_COST_MMA : 1.0;
}

/* What a tile is wider than the problem is copied by nobody. */
static double rows_of_a(const struct work *w)
{
    return w->kept == 1 ? 0.0 : fmin(w->t->m, (double)w->p->m);
}

static double columns_of_b(const struct work *w)
{
    double all = w->t->copied_n > 0 ? w->t->copied_n : w->t->n;
    return w->kept == 2 ? 0.0 : fmin(all, (double)w->p->n);
}

/* Elements of C that a tile stores. */
static double stored(const struct work *w)
{
    return fmin(w->t->m, (double)w->p->m) * fmin(w->t->n, (double)w->p->n);
}

/* How many of `most` CTAs that want the same line are served one by one: `together` of them ask for it at once. */
static double times_served(double most, double together)
{
    return between(1.0, most / fmin(most, together), MOST_SERVED);
}

/* CTAs that meet through the workspace end together; those of an early launch then seem to take any place. */
static bool is_scattered(const struct work *w)
{
    return w->t->early && w->t->split > 1 && w->t->cluster == 1 && !has_room(w);
}

/* CTAs on neighbouring multiprocessors that ask for the same lines at once. In a cluster the CTAs of tiles abreast are
 * neighbours; measured, they gain by it in clusters of four and not in larger ones. */
static double neighbours(const struct work *w)
{
    if (w->t->streams_k != 0) /* they are at different k from the first tile on */
        return 1.0;
    if (w->t->cluster > 1)
        return w->t->abreast > 1 && w->t->split == 2 ? PAIR : 1.0;
    return is_scattered(w) ? PAIR_SCATTERED : PAIR;
}

/* Bytes that `count` CTAs in a row need for an element of k, each line once, over the CTAs. */
static double needed(const struct work *w, double count)
{
    const struct model_tile *t = w->t;
    double side = fmin(fmin(t->band, w->across), count), run = fmin(w->along, count / side);
    double rows = t->down ? side : run, cols = t->down ? run : side;
    return (rows * rows_of_a(w) + cols * columns_of_b(w) * cost_of_b(w)) / count;
}

/* Of what pairs ask for, what leaves their GPC. */
static double leaves_gpc(const struct work *w)
{
    if (w->t->cluster > 1 || is_scattered(w) || w->t->streams_k != 0)
        return 1.0;
    return 1.0 - GPC_MERGES * (1.0 - needed(w, GPC) / needed(w, PAIR));
}

/* Whether the walk goes along a row of tiles first; bands one tile wide are walked the other way. */
static bool goes_along_rows(const struct model_tile *t, double band)
{
    return (band > 1) != t->down;
}

/* Bytes that the L2 gives out for one step of `running` CTAs. They cover some rows and columns of tiles; each line of A
 * is asked for once a column, each line of B once a row, less those that a cluster or neighbours ask for together:
 * A's where the walk goes along a row first, else B's. */
static double given_out(const struct work *w, double running)
{
    const struct model_tile *t = w->t;
    double tiles = fmin(running, w->at_once) / t->split, band = fmin(t->band, w->across);
    double wide = fmin(w->across, fmax(band, tiles / w->along));
    double high = fmin(w->along, tiles / wide);
    double cols = t->down ? high : wide, rows = t->down ? wide : high;
    bool row_first = goes_along_rows(t, band);
    double a_times = times_served(cols, t->a_readers * (row_first ? neighbours(w) : 1.0)),
           b_times = times_served(rows, t->b_readers * (row_first ? 1.0 : neighbours(w)));
    double a = rows * rows_of_a(w) * a_times, b = cols * columns_of_b(w) * b_times * cost_of_b(w);
    return 2.0 * t->step_k * t->split * (a + b) * leaves_gpc(w);
}

/* wgmma reads B again for each 64 rows of A. */
static double shared_cycles(const struct model_tile *t)
{
    return t->wgmma ? 2.0 * t->step_k * (fmax(1.0, t->m / 64.0) * (64.0 + t->n) + t->m + t->n) / SHARED_RATE : 0.0;
}

/* Cycles of one step while `together` CTAs are on a multiprocessor and `running` on all. */
static double step_cycles(const struct work *w, double together, double running)
{
    const struct model_tile *t = w->t;
    double rate = t->wgmma ? WGMMA_RATE : MMA_RATE * fmin(1.0, together * t->warps / WARPS_FOR_RATE);
    double share = t->wgmma ? 1.0 : SHARE_MMA;
    double tensor = together * fmax(2.0 * t->m * t->n * t->step_k / rate, shared_cycles(t));
    double intake = together * 2.0 * t->step_k * (rows_of_a(w) + columns_of_b(w) * cost_of_b(w)) / INTAKE_RATE;
    double outlet = given_out(w, running) / (L2_RATE * w->machine->sm_count);
    double latency = (t->direct ? DIRECT_LATENCY : STAGE_LATENCY) / t->stages;
    return longer(longer(tensor, fmax(intake, outlet) / share), latency);
}

/* ---- what comes around the steps ---- */

static double fill_cycles(const struct model_tile *t)
{
    return t->direct ? FILL_DIRECT : t->wgmma ? FILL_TMA - (t->own_rows ? OWN_ROWS : 0.0) : FILL_COPIES;
}

static double epilogue_cycles(const struct work *w, double together)
{
    double stores = together * stored(w) * 2.0 / STORE_RATE;
    return EPILOGUE + (w->t->tail ? stores / 2 + TAIL_COSTS : stores);
}

/* mma.sync kernels exchange fp32 whatever they add up in. */
static double sum_bytes(const struct work *w)
{
    return stored(w) * (w->f32 || !w->t->wgmma ? 4.0 : 2.0);
}

static double split_cycles(const struct work *w)
{
    const struct model_tile *t = w->t;
    double bytes = sum_bytes(w) * (1.0 - exchanges[t->exchange].own / t->split);
    return exchanges[t->exchange].cycles + bytes / exchanges[t->exchange].rate;
}

static double exchange_cycles(const struct work *w)
{
    const struct model_tile *t = w->t;
    double cycles = t->split > 1 ? split_cycles(w) : 0.0, k = ceil_div((double)w->p->k, t->split);
    double slices = fmin(t->slices, ceil_div(k * t->slices, t->step_k)); /* those that get any k */
    if (slices > 1)
        cycles += SLICES * t->slices + t->m * t->n * 4.0 * slices / SLICES_RATE;
    return cycles;
}

static double cluster_cycles(const struct work *w)
{
    const struct model_tile *t = w->t;
    double cycles = CLUSTER * peers(t) + (t->cluster > 8 ? CLUSTER_16 : 0.0);
    return cycles + (t->wgmma && t->cluster >= 8 && t->early && !has_room(w) ? CLUSTER_8 : 0.0);
}

/* A wave that another one follows. */
static double wave_cycles(const struct work *w, double steps, double epilogue)
{
    const struct model_tile *t = w->t;
    if (t->overlaps == 2)
        return hiding(steps, epilogue, epilogue_seen[2]);
    double refill = t->overlaps || t->direct ? 0.0 : fill_cycles(t) / 2;
    bool one = t->overlaps == 1 && t->warps <= 4;
    return steps + epilogue * (one ? ONE_SEEN : epilogue_seen[t->overlaps]) + refill;
}

/* CTAs of the last wave on the multiprocessor that has most. Early CTAs go where there is room, and beside a launch of
 * more than half a wave that is not one place on each. */
static double most_together(const struct work *w, double last, double one_each)
{
    const struct model_tile *t = w->t;
    double most = between(1.0, ceil_div(last, one_each), t->per_sm);
    bool crowded = t->early && most == 1.0 && ctas(w) > one_each / 2 && fmax(t->fits, t->per_sm) > 1;
    return most + (crowded ? CROWDED : 0.0);
}

/* Waves that copy both operands: in each band as many as it takes to fill what is kept. */
static double copying_waves(const struct work *w, double waves, double steps)
{
    const struct model_tile *t = w->t;
    if (t->keeps == 0)
        return waves;
    double wide = fmin(t->band, w->across), of_band = ceil_div(wide * w->along, w->at_once);
    return fmin(waves, ceil_div(w->across, wide) * fmin(of_band, ceil_div(t->kept_for, steps)));
}

/* Whole waves first, then the steps of the last one (and, for 2, of one more) evenly among all CTAs, who meet through
 * the workspace. Infinite where there is no last wave to deal out. */
static double dealt_cycles(const struct work *w)
{
    const struct model_tile *t = w->t;
    double all = ctas(w), extra = t->streams_k == 2 ? w->at_once : 0.0;
    double steps = ceil_div((double)w->p->k, t->step_k), whole = floor(all / w->at_once);
    double dealt = all - whole * w->at_once + extra;
    if (whole < 1 || dealt <= extra)
        return INFINITY;
    double step = step_cycles(w, t->per_sm, all), waves = whole - extra / w->at_once;
    double cycles = waves * wave_cycles(w, steps * step, epilogue_cycles(w, t->per_sm));
    cycles += fill_cycles(t) + ceil_div(dealt * steps, w->at_once) * step * DEALT_STEP + epilogue_cycles(w, t->per_sm);
    return cycles + DEALT_MEETING + sum_bytes(w) / DEALT_RATE + cluster_cycles(w);
}

static double work_cycles(const struct work *w)
{
    const struct model_tile *t = w->t;
    if (t->streams_k != 0)
        return dealt_cycles(w);
    double all = ctas(w), one_each = places(w->machine, t, 1.0);
    double waves = ceil_div(all, w->at_once), last = all - (waves - 1) * w->at_once;
    double steps = ceil_div(ceil_div((double)w->p->k, t->split), t->step_k);
    double full = fmin(t->per_sm, ceil_div(all, one_each)), rest = most_together(w, last, one_each);
    double fresh = copying_waves(w, waves, steps), both = fmin(fresh, waves - 1);
    struct work later = *w;
    later.kept = t->keeps;
    double cycles = both * wave_cycles(w, steps * step_cycles(w, full, all), epilogue_cycles(w, full));
    cycles += (waves - 1 - both) * wave_cycles(w, steps * step_cycles(&later, full, all), epilogue_cycles(w, full));
    cycles += fill_cycles(t) + steps * step_cycles(waves > fresh ? &later : w, rest, last) + epilogue_cycles(w, rest);
    return cycles + cluster_cycles(w) + exchange_cycles(w);
}

/* ---- the floor ---- */

/* Bytes of an operand that leaves the L2 first: all of them come from DRAM again, each launch. */
static double streamed_bytes(const struct work *w)
{
    double rows = w->t->streams == 1 ? (double)w->p->m : w->t->streams == 2 ? (double)w->p->n : 0.0;
    return 2.0 * rows * (double)w->p->k;
}

/* Bytes that waves read again because the bands come back to them too late: those of the operand that each band reads
 * as a whole, and of the one that a band reads a part of, when they do not fit into `panel`; A is `a` bytes, B `b`. */
static double read_again(const struct work *w, double a, double b, double panel)
{
    const struct model_tile *t = w->t;
    double band = fmin(w->across, fmax(t->band, w->at_once / t->split / w->along)); /* a wave may fill several */
    double whole = t->down ? b : a, part = t->down ? a : b, side = t->down ? t->m : t->n, bytes = 0.0;
    if (whole > panel)
        bytes += whole * (ceil_div(w->across, band) - 1.0);
    if (2.0 * (double)w->p->k * band * side > panel)
        bytes += part * fmax(0.0, w->along * band / w->at_once - 1.0);
    return bytes;
}

/* Seconds to move operands and result, from DRAM as far as they do not stay in the L2 from launch to launch. */
static double memory_seconds(const struct work *w)
{
    const struct model_machine *machine = w->machine;
    double m = (double)w->p->m, n = (double)w->p->n, k = (double)w->p->k, panel = L2_PANEL * machine->l2_bytes;
    double a = 2.0 * m * k, b = 2.0 * n * k, c = 2.0 * m * n, again = read_again(w, a, b, panel);
    double stream = streamed_bytes(w), stays = a + b + c - stream;
    double missed = between(0.0, (stays / machine->l2_bytes - L2_HOLDS) / (L2_LOSES - L2_HOLDS), 1.0);
    double found = (1 - missed) * stays / L2_BYTES_PER_S;
    double moved = missed * (a + b + again + c * (w->t->evicts ? 1.0 : 1 + STORE_COST) - stream);
    moved += stream * (stream > machine->l2_bytes ? 1.0 - STREAM_GAIN : 1.0);
    if (w->t->fetch > 0 && w->t->fetch < FETCH_WIDE && 2.0 * k * (m + n) > FETCH_FROM * machine->l2_bytes)
        moved *= 1.0 - FETCH_GAIN;
    return found + (machine->memory_bytes_per_s > 0 ? moved / machine->memory_bytes_per_s : 0.0);
}

/* Whether pairs share the operand that neighbours in the walk do not. */
static bool is_crosswise(const struct model_tile *t)
{
    return t->cluster == 2 && (goes_along_rows(t, t->band) ? t->b_readers : t->a_readers) > 1;
}

/* FLOP/s that the power limit leaves. */
static double limit_of(const struct work *w)
{
    const double flops = w->machine->flops * (w->f32 ? F32_FLOPS : 1.0);
    if (w->t->queue && is_crosswise(w->t))
        return flops * (1 + QUEUE_GAIN);
    return flops / (w->t->overlaps == 2 ? 1.0 : 1 + TOGETHER_COST);
}

static double floor_seconds(const struct work *w)
{
    double flops = limit_of(w);
    double arithmetic = 2.0 * (double)w->p->m * (double)w->p->n * (double)w->p->k;
    return longer(flops > 0 ? arithmetic / flops : 0.0, memory_seconds(w));
}

/* ---- the whole ---- */

/* From launch to launch of a row, besides the kernel. */
static double launch_seconds(const struct work *w)
{
    const struct model_tile *t = w->t;
    if (!t->early)
        return LAUNCH_SECONDS;
    double saved = t->wgmma ? EARLY_SAVES_TMA : EARLY_SAVES;
    return LAUNCH_SECONDS - saved - (t->wgmma && has_room(w) ? EARLY_ROOM : 0.0);
}

static bool sensible(const struct model_machine *machine, const struct cudal2_problem *p, const struct model_tile *t)
{
    return p->m > 0 && p->n > 0 && p->k > 0 && t->m > 0 && t->n > 0 && t->step_k > 0 && t->stages > 0 && t->split > 0 &&
           t->cluster > 0 && t->per_sm > 0 && t->warps > 0 && t->band > 0 && t->overlaps >= 0 && t->overlaps <= 2 &&
           t->streams >= 0 && t->streams <= 2 && t->keeps >= 0 && t->keeps <= 2 && t->streams_k >= 0 &&
           (t->keeps == 0 || t->kept_for > 0) && t->exchange >= 0 && t->exchange <= MODEL_EXCHANGE_PARTS &&
           t->a_readers > 0 && t->b_readers > 0 && machine->sm_count > 0 && machine->clock_hz > 0 &&
           machine->l2_bytes > 0;
}

double model_waves(const struct model_machine *machine, const struct cudal2_problem *problem,
                   const struct model_tile *tile)
{
    if (!sensible(machine, problem, tile))
        return INFINITY;
    const struct work w = work_of(machine, problem, CUDAL2_TN, tile);
    return ctas(&w) / w.at_once;
}

double model_seconds(const struct model_machine *machine, const struct cudal2_problem *problem,
                     enum cudal2_layout layout, const struct model_tile *tile)
{
    if (!sensible(machine, problem, tile))
        return INFINITY;
    const struct work w = work_of(machine, problem, layout, tile);
    return launch_seconds(&w) + longer(work_cycles(&w) / machine->clock_hz, floor_seconds(&w));
}
