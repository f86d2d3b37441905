/*
 * What fp8 (e4m3, one scale a matrix) would give, on one shape: fp8 [M N K] (4096^3; TN, C in fp16, inputs N(0,1), K a
 * multiple of 16, N of 8) times cuBLASLt's fp16 and e4m3, with and without fast accumulation, persistent.cu with e4m3
 * products (fp8_gemm.cu), and what it takes to quantise A and B (fp8_quantise.cu). TSV on standard output: what it ran
 * on; of each contender the device time of a launch (graphs of LAUNCHES, ROUNDS of them in random order; before, each
 * contender's algorithms or tiles are raced in the same way), how far C is from the fp64 product of the fp16 inputs and
 * of what was multiplied, over sqrt(K), and how many elements of {0,1} inputs are wrong (of ROWS rows, these three).
 * For an sm_90; exit status 77 without one. The kernel directory is found as by the harness (CUDAL2_KERNELS).
 */
#include "fp8_fixture.h"
#include "base/half.h"
#include "device/fill.h"
#include "verify/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 64
#define LAUNCHES 16
#define HEAT_LAUNCHES 4
#define HEAT_ROUNDS 5
#define SEED 20261128u
#define HALF_448 0x5f00u /* quantised with it as largest magnitude, what is quantised is rounded and not scaled */

/* ---- races ---- */

static int launch(void *context, size_t set, char *why)
{
    struct candidate *c = context;
    (void)set;
    return c->launch(c, why);
}

static void shuffle(size_t *order, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = fill_bits(key, i) % i, kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void prepare(struct study *s, struct candidate *of, size_t n, unsigned launches)
{
    const struct device_shape shape = {.launches = launches, .primers = 2, .n_sets = 1};
    struct error err;
    for (size_t i = 0; i < n; i++) {
        const struct device_work work = {launch, &of[i], 0};
        of[i].out = of[i].launch == NULL ||
                    s->device->ops->prepare(s->device, &work, &shape, RUNG_GRAPH, &of[i].segment, &err) != 0;
        if (of[i].out && of[i].launch != NULL)
            fprintf(stderr, "without %s: %s\n", of[i].choice, err.text);
        if (!of[i].out && s->device->ops->rung(of[i].segment) != RUNG_GRAPH)
            fprintf(stderr, "%s is no graph: %s\n", of[i].choice, s->device->ops->rung_reason(of[i].segment));
    }
}

static int run_round(struct study *s, struct candidate *of, size_t n, unsigned round, struct error *err)
{
    size_t order[LT_MAX_ALGORITHMS];
    int code = 0;
    shuffle(order, n, fill_key(SEED + round));
    for (size_t i = 0; i < n && code == 0; i++) {
        struct candidate *c = &of[order[i]];
        double ns = 0;
        if (!c->out)
            code = s->device->ops->measure(s->device, c->segment, &ns, err);
        c->us[round] = 1e-3 * ns;
    }
    return code;
}

static int race(struct study *s, struct candidate *of, size_t n, bool final, struct error *err)
{
    unsigned rounds = final ? FP8_ROUNDS : HEAT_ROUNDS;
    int code = 0;
    prepare(s, of, n, final ? LAUNCHES : HEAT_LAUNCHES);
    for (unsigned round = 0; round < rounds && code == 0; round++)
        code = run_round(s, of, n, round, err);
    for (size_t i = 0; i < n; i++) {
        if (!of[i].out)
            s->device->ops->release_segment(s->device, of[i].segment);
        of[i].segment = NULL;
        qsort(of[i].us, rounds, sizeof *of[i].us, ascending);
    }
    return code;
}

/* The fastest of its algorithms or tiles goes on. */
static int choose(struct study *s, enum contender which, struct error *err)
{
    static struct candidate all[LT_MAX_ALGORITHMS];
    size_t n = fp8_list(s, which, all);
    int code = race(s, all, n, false, err);
    const struct candidate *best = NULL;
    for (size_t i = 0; i < n && code == 0; i++)
        if (!all[i].out && (best == NULL || all[i].us[HEAT_ROUNDS / 2] < best->us[HEAT_ROUNDS / 2]))
            best = &all[i];
    if (best)
        s->final[which] = *best;
    s->raced[which] = n;
    return code;
}

/* ---- errors ---- */

static int once(struct study *s, struct candidate *c, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    if (c->launch(c, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "%s", why);
    return s->device->ops->sync(s->device, err);
}

static int64_t n_rows(const struct study *s)
{
    return s->problem.m < ROWS ? s->problem.m : ROWS;
}

/* Rows that lie as far from each other as can be. */
static int64_t between(const struct study *s)
{
    return s->problem.m / n_rows(s);
}

/* Rows of the fp64 product of fp16 matrices, on the host; the device makes them one by one, for it takes no stride. */
static int refer(struct study *s, void *const halves[2], double *out, struct error *err)
{
    const struct device_ops *ops = s->device->ops;
    struct cudal2_problem p = s->problem;
    int code = 0;
    p.m = 1;
    for (int64_t i = 0; i < n_rows(s) && code == 0; i++) {
        const uint16_t *a = (const uint16_t *)halves[0] + i * between(s) * p.k;
        const struct cudal2_operands operands = {a, halves[1], s->c};
        code = ops->reference_wide(s->device, &p, CUDAL2_TN, &operands, s->wide + i * p.n, err);
    }
    const size_t count = (size_t)(n_rows(s) * p.n);
    return code == 0 ? ops->download(s->device, out, s->wide, count * sizeof *out, err) : code;
}

static struct errors compare(const struct study *s, const uint16_t *c, const double *reference, double scale)
{
    const struct cudal2_problem *p = &s->problem;
    const int64_t count = n_rows(s) * p->n;
    struct errors e = {0};
    for (int64_t i = 0; i < count; i++) {
        double off = fabs((double)half_to_float(c[i]) - scale * reference[i]);
        e.unequal += !(off == 0);
        e.largest = fmax(e.largest, off);
        e.rms += off * off; /* and a NaN stays */
    }
    e.largest /= sqrt((double)p->k);
    e.rms = sqrt(e.rms / (double)count / (double)p->k);
    return e;
}

static int product_of(struct study *s, struct candidate *c, uint16_t *out, struct error *err)
{
    const size_t row = (size_t)s->problem.n * sizeof *out;
    int code = once(s, c, err);
    for (int64_t i = 0; i < n_rows(s) && code == 0; i++)
        code = s->device->ops->download(s->device, out + i * s->problem.n,
                                        (const char *)s->c + (size_t)(i * between(s)) * row, row, err);
    return code;
}

/* Each product's errors, against `reference` times `scale`. */
static int judge(struct study *s, struct errors *out, const double *reference, double scale, struct error *err)
{
    uint16_t *c = malloc((size_t)(n_rows(s) * s->problem.n) * sizeof *c);
    int code = c ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory");
    for (int i = 0; i < QUANTISE && code == 0; i++) {
        if (s->final[i].launch == NULL || s->final[i].out)
            continue;
        code = product_of(s, &s->final[i], c, err);
        if (code == 0)
            out[i] = compare(s, c, reference, scale);
    }
    free(c);
    return code;
}

static int fill(struct study *s, enum fill_kind kind, struct error *err)
{
    const struct cudal2_problem *p = &s->problem;
    int code = 0;
    for (int i = 0; i < 2 && code == 0; i++) {
        const struct fill fill = {.kind = kind,
                                  .dtype = CUDAL2_F16,
                                  .seed = SEED + (uint64_t)i,
                                  .density = fmin(sqrt(512 / (double)p->k), 1),
                                  .rows = i == 0 ? p->m : p->n,
                                  .cols = p->k};
        code = s->device->ops->fill(s->device, s->halves[i], &fill, err);
    }
    return code;
}

/* What was multiplied, as fp16, in place of the inputs. */
static int widen(struct study *s, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    for (int i = 0; i < 2; i++)
        if (fp8_launch_widen(s, i, s->halves[i], why) != CUDAL2_OK)
            return error_set(err, EXIT_CODE_INTERNAL, "%s", why);
    return s->device->ops->sync(s->device, err);
}

static int judge_normal(struct study *s, double *reference, struct error *err)
{
    float scales[FP8_SCALE_STEP + 1];
    int code = refer(s, s->halves, reference, err);
    if (code == 0)
        code = judge(s, s->of_inputs, reference, 1, err);
    if (code == 0)
        code = widen(s, err);
    if (code == 0)
        code = refer(s, s->halves, reference, err);
    if (code == 0)
        code = s->device->ops->download(s->device, scales, s->scales, sizeof scales, err);
    if (code == 0)
        code = judge(s, s->of_quantised, reference, (double)scales[0] * scales[FP8_SCALE_STEP], err);
    s->of_quantised[F16] = s->of_inputs[F16];
    return code;
}

/* Counts of ones: up to 2048, of which these have a quarter in the mean, fp16 has each. */
static int judge_binary(struct study *s, double *reference, struct error *err)
{
    const uint32_t bits[2] = {HALF_448, HALF_448};
    int code = fill(s, FILL_BINARY, err);
    if (code == 0)
        code = s->device->ops->upload(s->device, s->bits, bits, sizeof bits, err);
    if (code == 0)
        code = once(s, &s->final[CONVERT], err);
    if (code == 0)
        code = refer(s, s->halves, reference, err);
    return code == 0 ? judge(s, s->binary, reference, 1, err) : code;
}

/* ---- the study ---- */

static int take(struct study *s, struct error *err)
{
    const struct cudal2_problem *p = &s->problem;
    struct device *d = s->device;
    const size_t elements[2] = {(size_t)(p->m * p->k), (size_t)(p->n * p->k)};
    int code = 0;
    for (int i = 0; i < 2 && code == 0; i++) {
        code = d->ops->alloc(d, elements[i] * 2, &s->halves[i], err);
        if (code == 0)
            code = d->ops->alloc(d, elements[i], &s->bytes[i], err);
    }
    if (code == 0)
        code = d->ops->alloc(d, (size_t)(p->m * p->n) * 2, &s->c, err);
    if (code == 0)
        code = d->ops->alloc(d, (size_t)(ROWS * p->n) * sizeof *s->wide, (void **)&s->wide, err);
    if (code == 0)
        code = d->ops->alloc(d, FP8_WORKSPACE, &s->workspace, err);
    if (code == 0)
        code = d->ops->alloc(d, 2 * FP8_SCALE_STEP * sizeof *s->scales, (void **)&s->scales, err);
    return code == 0 ? d->ops->alloc(d, 2 * sizeof *s->bits, (void **)&s->bits, err) : code;
}

static int time_all(struct study *s, struct error *err)
{
    s->final[QUANTISE] = (struct candidate){.study = s, .launch = fp8_launch_quantise, .choice = "two passes"};
    s->final[CONVERT] = (struct candidate){.study = s, .launch = fp8_launch_convert, .choice = "known scales"};
    int code = fill(s, FILL_NORMAL, err);
    if (code == 0)
        code = once(s, &s->final[QUANTISE], err);
    for (int i = 0; i < QUANTISE && code == 0; i++)
        code = choose(s, (enum contender)i, err);
    return code == 0 ? race(s, s->final, CONTENDERS, true, err) : code;
}

static int judge_all(struct study *s, struct error *err)
{
    double *reference = malloc((size_t)(n_rows(s) * s->problem.n) * sizeof *reference);
    int code = reference ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory");
    if (code == 0)
        code = judge_normal(s, reference, err);
    if (code == 0)
        code = judge_binary(s, reference, err);
    free(reference);
    return code;
}

static void print_head(const struct study *s)
{
    const struct cudal2_problem *p = &s->problem;
    const struct device_info *info = &s->device->info;
    printf("gpu\t%s\t%d MHz, %d W\ndriver\t%s\ncublaslt\t%zu\n", info->name, info->max_sm_clock_mhz,
           info->power_limit_mw / 1000, info->driver, cublasLtGetVersion());
    printf("shape\t%lldx%lldx%lld TN\t%d graphs of %d launches\n", (long long)p->m, (long long)p->n, (long long)p->k,
           FP8_ROUNDS, LAUNCHES);
    printf("bounds of fp16, by the model\tmax %.3g\trms %.3g\n",
           MODEL_MAX_MARGIN * model_largest(p) / sqrt((double)p->k), MODEL_RMS_MARGIN * model_honest(p));
    puts("contender\tus\tp10\tp90\ttflops\traced\tchoice\tmax\trms\tquantised max\tquantised rms\tbinary unequal");
}

static void print(const struct study *s, enum contender which)
{
    const struct candidate *c = &s->final[which];
    const struct cudal2_problem *p = &s->problem;
    const struct errors *inputs = &s->of_inputs[which], *quantised = &s->of_quantised[which];
    if (c->launch == NULL || c->out)
        return;
    const double us = c->us[FP8_ROUNDS / 2], operations = 2 * (double)p->m * (double)p->n * (double)p->k;
    printf("%s\t%.2f\t%.2f\t%.2f", fp8_names[which], us, c->us[FP8_ROUNDS / 10],
           c->us[FP8_ROUNDS - 1 - FP8_ROUNDS / 10]);
    if (which < QUANTISE)
        printf("\t%.1f\t%zu\t%s\t%.3g\t%.3g\t%.3g\t%.3g\t%llu\n", 1e-6 * operations / us, s->raced[which], c->choice,
               inputs->largest, inputs->rms, quantised->largest, quantised->rms,
               (unsigned long long)s->binary[which].unequal);
    else
        printf("\t\t\t%s\t\t\t\t\t\n", c->choice);
}

static int64_t number(int argc, char **argv, int at)
{
    return argc > at ? atoll(argv[at]) : 4096;
}

int main(int argc, char **argv)
{
    static struct study s;
    const int64_t m = number(argc, argv, 1), n = number(argc, argv, 2), k = number(argc, argv, 3);
    struct error err;
    if (m < 1 || n < 8 || k < 16 || n % 8 != 0 || k % 16 != 0) {
        fprintf(stderr, "usage: fp8 [M N K], N in multiples of 8 and K of 16\n");
        return EXIT_CODE_USAGE;
    }
    s.problem = (struct cudal2_problem){.m = m,
                                        .n = n,
                                        .k = k,
                                        .lda = k,
                                        .ldb = k,
                                        .ldc = n,
                                        .alpha = 1,
                                        .dtype = CUDAL2_F16,
                                        .accumulate = CUDAL2_ACC_F32};
    if (device_open_cuda(0, &s.device, &err) != 0 || s.device->info.cc != 90) {
        fprintf(stderr, "no sm_90: %s\n", s.device ? s.device->info.name : err.text);
        return 77;
    }
    int code = take(&s, &err);
    if (code == 0)
        code = fp8_open_kernels(&s, &err);
    if (code == 0)
        code = time_all(&s, &err);
    if (code == 0)
        code = judge_all(&s, &err);
    if (code == 0)
        print_head(&s);
    for (int i = 0; i < CONTENDERS && code == 0; i++)
        print(&s, (enum contender)i);
    if (code != 0)
        fprintf(stderr, "%s\n", err.text);
    return code;
}
