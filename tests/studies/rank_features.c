/*
 * rank_features - what the ranker is asked about measured configurations: scripts/train-ranker.py learns from it. No
 * GPU.
 *
 *   rank_features                                                    the names of the features, one a line
 *   rank_features SMS CLOCK_MHZ L2_BYTES PEAK_FLOPS PEAK_BYTES <lines   1 + FEATURES_COUNT floats for each line
 *   ... takes <lines     the same, and all are 0 where the configuration does not take the problem
 *
 * The arguments are a journal's figures of its device. A line is "m n k layout accumulate mode alone key". The first
 * float is the model's time in ns, 0 where the set no longer has the key; then all are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choice/cudal2/features.h"
#include "choice/prune.h"

struct asked {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    bool idle, alone;
    char key[sizeof(((struct cudal2_variant *)0)->key)];
};

static bool read_line(const char *line, struct asked *a)
{
    char layout[8], accumulate[8], mode[16];
    long m, n, k;
    int alone;
    if (sscanf(line, "%ld %ld %ld %7s %7s %15s %d %255s", &m, &n, &k, layout, accumulate, mode, &alone, a->key) != 8)
        return false;
    bool f32 = strcmp(accumulate, "f32") == 0;
    a->problem = (struct cudal2_problem){
        .m = m, .n = n, .k = k, .dtype = CUDAL2_F16, .accumulate = f32 ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16};
    a->layout = strcmp(layout, "nn") == 0 ? CUDAL2_NN : CUDAL2_TN;
    a->idle = strcmp(mode, "server") == 0;
    a->alone = alone != 0;
    return true;
}

/* The workspace that a run has. */
#define WORKSPACE_BYTES (512ull << 20)

static bool takes(const struct asked *a, const struct space *space, const struct device_info *device,
                  const struct configuration *c)
{
    const struct prune_request request = {.space = space,
                                          .conditions = {a->problem.dtype, a->problem.accumulate, a->layout, device},
                                          .m = a->problem.m,
                                          .n = a->problem.n,
                                          .k = a->problem.k,
                                          .workspace_bytes = WORKSPACE_BYTES};
    return prune_takes(&request, c);
}

/* `device`: NULL where it is not asked whether the problem is taken. */
static void write_one(const struct asked *a, const struct space *space, const struct model_machine *machine,
                      const struct device_info *device)
{
    const struct feature_query query = {machine, a->problem, a->layout, a->idle, a->alone};
    struct configuration c;
    float out[1 + FEATURES_COUNT] = {0};
    bool known = space_read_key(space, a->key, &c) && (!device || takes(a, space, device, &c));
    double seconds = known ? model_seconds(machine, &a->problem, a->layout, &c.tile) : INFINITY;
    if (isfinite(seconds)) {
        out[0] = (float)(1e9 * seconds);
        features_of(&query, &c.tile, seconds, out + 1);
    }
    fwrite(out, sizeof *out, 1 + FEATURES_COUNT, stdout);
}

static int write_all(const struct module_set *set, const struct device_info *device, bool asks, struct error *err)
{
    const struct model_machine machine = figures_machine(device);
    static struct space spaces[2][2];
    char line[512], path[1024];
    struct asked asked;
    if (!space_path(set, path, sizeof path))
        return error_set(err, EXIT_CODE_DATA, "the set has no space");
    for (int i = 0; i < 4; i++) {
        const struct space_conditions on = {CUDAL2_F16, (enum cudal2_accumulate)(i / 2), (enum cudal2_layout)(i % 2),
                                            device};
        if (space_open(set, path, &on, &spaces[i / 2][i % 2], err))
            return err->code;
    }
    while (fgets(line, sizeof line, stdin))
        if (read_line(line, &asked))
            write_one(&asked, &spaces[asked.problem.accumulate][asked.layout], &machine, asks ? device : NULL);
        else
            return error_set(err, EXIT_CODE_DATA, "not a line: %s", line);
    for (int i = 0; i < 4; i++)
        space_free(&spaces[i / 2][i % 2]);
    return 0;
}

static int run(char **figures, bool asks, struct error *err)
{
    struct module_set *set = NULL;
    struct device device = {.info = {.kind = "cuda",
                                     .device_bit = CUDAL2_ON_CUDA,
                                     .cc = 90,
                                     .sm_count = atoi(figures[0]),
                                     .max_sm_clock_mhz = atoi(figures[1]),
                                     .l2_bytes = strtoull(figures[2], NULL, 10),
                                     .peak_flops = atof(figures[3]),
                                     .peak_bytes_per_s = atof(figures[4])}};
    int code = module_set_open("cudal2", "kernels", &device, &set, err);
    if (!code)
        code = write_all(set, &device.info, asks, err);
    module_set_close(set);
    return code;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    for (size_t i = 0; argc == 1 && i < FEATURES_COUNT; i++)
        puts(feature_names[i]);
    if (argc == 1)
        return 0;
    bool asks = argc == 7 && strcmp(argv[6], "takes") == 0;
    int code =
        argc == 6 || asks ? run(argv + 1, asks, &err) : error_set(&err, EXIT_CODE_USAGE, "expected five figures");
    if (code)
        fprintf(stderr, "rank_features: %s\n", err.text);
    return code;
}
