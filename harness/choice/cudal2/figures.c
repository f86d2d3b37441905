/*
 * figures.c - the model's figures by name, and a machine's. Relies on model.h. Called by space.c when a space is
 * expanded, and by rank.c and the search for the machine.
 */
#include "choice/cudal2/figures.h"

/* Measured on an H200 under matrix load: 796 TFLOP/s of 1070 at the maximum clock, 1.7 GHz of 1.98, 4.1 TB/s of 4.8. */
#define SUSTAINED_FLOPS 0.744
#define SUSTAINED_CLOCK 0.859
#define SUSTAINED_MEMORY 0.858

/* An absent one is 1, or 0 from "wgmma" on. */
const char *const figure_keys[] = {"m",        "n",         "step_k",    "stages",   "split",    "cluster",  "per_sm",
                                   "warps",    "a_readers", "b_readers", "slices",   "band",     "wgmma",    "direct",
                                   "evicts",   "overlaps",  "exchange",  "copied_n", "own_rows", "streams",  "fetch",
                                   "down",     "early",     "fits",      "queue",    "abreast",  "tail",     "keeps",
                                   "kept_for", "streams_k", "across",    "peek",     "narrow",   "roomless", NULL};
#define N_NUMBERS 12

int64_t figure_standard(size_t index)
{
    return index < N_NUMBERS;
}

static int at_most(int64_t value, int most)
{
    return value < 0 || value > most ? 0 : (int)value;
}

void figures_to_tile(const int64_t values[FIGURES_COUNT], struct model_tile *out)
{
    struct model_tile *t = out;
    double *const numbers[N_NUMBERS] = {&t->m,      &t->n,     &t->step_k,    &t->stages,    &t->split,  &t->cluster,
                                        &t->per_sm, &t->warps, &t->a_readers, &t->b_readers, &t->slices, &t->band};
    const int64_t *flags = values + N_NUMBERS;
    for (size_t i = 0; i < N_NUMBERS; i++)
        *numbers[i] = (double)values[i];
    t->wgmma = flags[0] != 0;
    t->direct = flags[1] != 0;
    t->evicts = flags[2] != 0;
    t->overlaps = at_most(flags[3], 2);
    t->exchange = at_most(flags[4], MODEL_EXCHANGE_PARTS);
    t->copied_n = at_most(flags[5], INT32_MAX);
    t->own_rows = flags[6] != 0;
    t->streams = at_most(flags[7], 2);
    t->fetch = at_most(flags[8], 256);
    t->down = flags[9] != 0;
    t->early = flags[10] != 0;
    t->fits = at_most(flags[11], INT32_MAX);
    t->queue = flags[12] != 0;
    t->abreast = at_most(flags[13], 2);
    t->tail = flags[14] != 0;
    t->keeps = at_most(flags[15], 2);
    t->kept_for = at_most(flags[16], INT32_MAX);
    t->streams_k = at_most(flags[17], 2);
    t->across = at_most(flags[18], 1);
    t->peek = at_most(flags[19], 2);
    t->narrow = at_most(flags[20], 8);
    t->roomless = flags[21] != 0;
}

struct model_machine figures_machine(const struct device_info *device)
{
    return (struct model_machine){
        .sm_count = device->sm_count,
        .l2_bytes = (double)device->l2_bytes,
        .clock_hz = SUSTAINED_CLOCK * 1e6 * device->max_sm_clock_mhz,
        .flops = SUSTAINED_FLOPS * device->peak_flops,
        .memory_bytes_per_s = SUSTAINED_MEMORY * device->peak_bytes_per_s,
    };
}
