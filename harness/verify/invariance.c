/*
 * invariance.c - launches every contender on several M with the same rows of A, and compares the bits of C. Relies on
 * operands of its own and room.h. Called by worker/cell.c after verification, with config->invariance.
 */
#include "verify/invariance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/room.h"

#define OUTPUT_BYTES (64u << 20) /* of an output on the host, at most: rows beyond are not compared */
#define SIZES 5

/* One entrant under every M. Outputs are on the host: their first rows. */
struct proof {
    struct bench *bench;
    struct entrant *entrant;
    struct cudal2_problem problem; /* of the M at hand */
    struct operands *operands;     /* for it */
    char *kept;                    /* under the first M that was taken, which is the largest */
    char *first;                   /* of the variant at hand, its first launch */
    char *seen;                    /* of its latest launch */
    int64_t most_rows, kept_rows;
    int64_t taken[SIZES];
    size_t n_taken, most_variants;
    bool differs, unsteady, compared;
    char difference[CUDAL2_WHY], unsteadiness[CUDAL2_WHY], why[CUDAL2_WHY];
    char refusal[CUDAL2_WHY]; /* why the first M that was not taken was not */
};

static int64_t rows_of(const struct proof *p)
{
    return p->problem.m < p->most_rows ? p->problem.m : p->most_rows;
}

static size_t row_bytes(const struct proof *p)
{
    return (size_t)p->problem.n * dtype_bytes(p->problem.dtype);
}

/* ---- bits ---- */

static unsigned long bits_at(const struct proof *p, const char *output, size_t element)
{
    size_t bytes = dtype_bytes(p->problem.dtype);
    uint32_t wide = 0;
    uint16_t narrow = 0;
    if (bytes == sizeof wide)
        memcpy(&wide, output + element * bytes, sizeof wide);
    else
        memcpy(&narrow, output + element * bytes, sizeof narrow);
    return bytes == sizeof wide ? wide : narrow;
}

/* False when the first `rows` rows are equal; else the first element that is not, in words. */
static bool tell_apart(const struct proof *p, const char *found, const char *expected, int64_t rows,
                       char out[CUDAL2_WHY])
{
    size_t elements = (size_t)(rows * p->problem.n), i = 0;
    if (memcmp(found, expected, (size_t)rows * row_bytes(p)) == 0)
        return false;
    while (i + 1 < elements && bits_at(p, found, i) == bits_at(p, expected, i))
        i++;
    snprintf(out, CUDAL2_WHY, "M %lld, row %zu, column %zu: bits %lx, not %lx", (long long)p->problem.m,
             i / (size_t)p->problem.n, i % (size_t)p->problem.n, bits_at(p, found, i), bits_at(p, expected, i));
    return true;
}

static void add_words(char text[CUDAL2_WHY], const char *words)
{
    size_t used = strlen(text);
    snprintf(text + used, CUDAL2_WHY - used, "%.*s", (int)(CUDAL2_WHY - 1 - used), words);
}

/* A launch's bits against those of the same state's first launch. */
static void hold_against_first(struct proof *p)
{
    if (!p->unsteady && tell_apart(p, p->seen, p->first, rows_of(p), p->unsteadiness)) {
        p->unsteady = true;
        add_words(p->unsteadiness, " as in the first launch");
    }
}

/* A variant's bits against those under the first M. */
static void hold_against_kept(struct proof *p)
{
    char words[64];
    if (p->kept_rows == 0) {
        memcpy(p->kept, p->first, (size_t)rows_of(p) * row_bytes(p));
        p->kept_rows = rows_of(p);
        return;
    }
    int64_t rows = rows_of(p) < p->kept_rows ? rows_of(p) : p->kept_rows;
    p->compared = true;
    if (!p->differs && tell_apart(p, p->first, p->kept, rows, p->difference)) {
        p->differs = true;
        snprintf(words, sizeof words, " as with M %lld", (long long)p->taken[0]);
        add_words(p->difference, words);
    }
}

/* ---- launches ---- */

static int read_rows(const struct proof *p, const void *c, char *output, struct error *err)
{
    struct device *d = p->bench->device;
    const struct matrix_extent e = problem_c(&p->problem);
    size_t stride = (size_t)e.stride * dtype_bytes(p->problem.dtype);
    int code = 0;
    if (!extent_has_gaps(&e))
        return d->ops->download(d, output, c, (size_t)rows_of(p) * row_bytes(p), err);
    for (size_t i = 0; i < (size_t)rows_of(p) && code == 0; i++)
        code = d->ops->download(d, output + i * row_bytes(p), (const char *)c + i * stride, row_bytes(p), err);
    return code;
}

static int launch_once(struct proof *p, void *state, char *output, bool *done, struct error *err)
{
    struct bench *bench = p->bench;
    struct device *d = bench->device;
    const struct contender *c = p->entrant->contender;
    const struct cudal2_operands *set = operands_sets(p->operands, c->is.layout);
    int code = operands_poison(d, p->operands, 0, err);
    if (code == 0)
        code = d->ops->sync(d, err);
    double patience = bench_patience(bench, 0, problem_flops(&p->problem));
    bench_stage(bench, p->entrant, "verify", bench->config->limits.launch_seconds + patience);
    *done = code == 0 && c->ops->launch(c, state, 0, p->why) == CUDAL2_OK;
    if (*done)
        code = d->ops->sync(d, err);
    if (*done && code == 0)
        code = read_rows(p, set->c, output, err);
    return code;
}

static int set_up(struct proof *p, const char *variant, void **state)
{
    const struct contender *c = p->entrant->contender;
    struct cudal2_setup setup = bench_setup(p->bench, p->entrant, variant);
    setup.problem = p->problem;
    setup.sets = operands_sets(p->operands, c->is.layout);
    setup.n_sets = 1;
    bench_stage(p->bench, p->entrant, "verify", p->bench->config->limits.setup_seconds);
    return c->ops->setup(c, &setup, state, p->why);
}

/* `runs` launches after a setup; *launched counts those that came to an end. */
static int run_state(struct proof *p, const char *variant, unsigned runs, unsigned *launched, struct error *err)
{
    const struct contender *c = p->entrant->contender;
    void *state = NULL;
    bool done = true;
    int code = 0;
    if (set_up(p, variant, &state) != CUDAL2_OK)
        return 0;
    for (unsigned i = 0; i < runs && code == 0 && done; i++) {
        code = launch_once(p, state, *launched == 0 ? p->first : p->seen, &done, err);
        if (code == 0 && done && (*launched)++ > 0)
            hold_against_first(p);
    }
    c->ops->teardown(c, state);
    return code;
}

static void take(struct proof *p)
{
    if (p->n_taken == 0 || p->taken[p->n_taken - 1] != p->problem.m)
        p->taken[p->n_taken++] = p->problem.m;
}

/* The first variant on an M is launched as often as determinism asks for, the others once. */
static int try_variant(struct proof *p, const char *variant, bool often, struct error *err)
{
    unsigned launched = 0;
    int code = 0;
    for (int setup = 0; setup < (often ? 2 : 1) && code == 0; setup++)
        code = run_state(p, variant, often ? INVARIANCE_RUNS / 2 : 1, &launched, err);
    if (code != 0 || launched == 0)
        return code;
    take(p);
    hold_against_kept(p);
    return 0;
}

/* ---- variants ---- */

/* What may run for the M at hand: of the cell's own M first what the entrant has chosen. Returns how many. */
static size_t list_variants(struct proof *p, struct cudal2_variant out[INVARIANCE_VARIANTS + 1])
{
    const struct entrant *e = p->entrant;
    const struct contender *c = e->contender;
    struct cudal2_setup setup = bench_setup(p->bench, e, NULL);
    size_t n = 0;
    if (p->problem.m == p->bench->problem.m && e->variant[0] != '\0')
        snprintf(out[n++].key, sizeof out->key, "%s", e->variant);
    setup.problem = p->problem;
    setup.sets = operands_sets(p->operands, c->is.layout);
    setup.n_sets = 1;
    bench_stage(p->bench, e, "verify", p->bench->config->limits.setup_seconds);
    int listed = c->ops->list_variants(c, &setup, out + n, INVARIANCE_VARIANTS, p->why);
    if (listed > 0)
        n += listed < INVARIANCE_VARIANTS ? (size_t)listed : INVARIANCE_VARIANTS;
    return n;
}

static int try_variants(struct proof *p, struct error *err)
{
    struct cudal2_variant *variants = calloc(INVARIANCE_VARIANTS + 1, sizeof *variants);
    if (variants == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for variants");
    size_t n = list_variants(p, variants), tried = 0;
    int code = 0;
    for (size_t i = 0; i < n && code == 0 && (tried == 0 || !p->differs); i++) {
        bool again = i > 0 && strcmp(variants[i].key, variants[0].key) == 0;
        if (again)
            continue;
        code = try_variant(p, variants[i].key, tried == 0, err);
        tried++;
    }
    p->most_variants = tried > p->most_variants ? tried : p->most_variants;
    free(variants);
    return code;
}

/* ---- one M ---- */

static int take_operands(struct proof *p, bool *ready, struct error *err)
{
    struct bench *bench = p->bench;
    struct operands_request *request = calloc(1, sizeof *request);
    if (request == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a proof");
    *request = (struct operands_request){
        .problem = p->problem, .n_sets = 1, .period = 1, .tight = true, .seed = 1, .pool = bench_pool(bench)};
    request->layouts[0] = (uint8_t)CUDAL2_BIT(p->entrant->contender->is.layout);
    uint64_t bytes = operands_bytes(request);
    double patience = bench_patience(bench, (double)bytes, 0);
    *ready = bytes <= bench_room(bench);
    bench_stage(bench, NULL, "verify", bench->config->limits.verify_seconds + patience);
    int code = *ready ? operands_alloc(bench->device, request, &p->operands, err) : 0;
    if (*ready && code == 0) /* a value is a function of seed, row and column: the rows of A are the same for every M */
        code = operands_fill(bench->device, p->operands, FILL_SPREAD, bench_values(bench, "invariance", 0), 0, err);
    if (!*ready)
        snprintf(p->why, sizeof p->why, "no memory for M %lld", (long long)p->problem.m);
    free(request);
    return code;
}

static int multiply(struct proof *p, struct error *err)
{
    struct device *d = p->bench->device;
    bool ready = false;
    if (!contender_supports(p->entrant->contender, &d->info, &p->problem, p->why))
        return 0;
    int code = take_operands(p, &ready, err);
    if (code == 0 && ready)
        code = p->entrant->has_variants ? try_variants(p, err) : try_variant(p, NULL, true, err);
    operands_free(d, p->operands);
    p->operands = NULL;
    return code;
}

static int try_size(struct proof *p, int64_t m, struct error *err)
{
    size_t before = p->n_taken;
    p->problem.m = m;
    int code = multiply(p, err);
    if (p->n_taken == before && p->refusal[0] == '\0')
        memcpy(p->refusal, p->why, sizeof p->refusal);
    return code;
}

/* Largest first; the cell's own is one of them. Returns how many. */
static size_t list_sizes(int64_t own, int64_t out[SIZES])
{
    static const int64_t sizes[] = {INVARIANCE_ROWS, 64, 7, 1};
    size_t n = 0;
    bool placed = false;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!placed && own > sizes[i])
            out[n++] = own;
        placed = placed || own >= sizes[i];
        out[n++] = sizes[i];
    }
    return n;
}

/* ---- one entrant ---- */

static void note(const struct proof *p)
{
    cJSON *o = cJSON_CreateObject();
    if (p->compared)
        cJSON_AddBoolToObject(o, "batch_invariant", !p->differs);
    if (p->n_taken > 0) {
        cJSON_AddBoolToObject(o, "deterministic", !p->unsteady);
        cJSON *m = cJSON_AddArrayToObject(o, "m");
        for (size_t i = 0; i < p->n_taken; i++)
            cJSON_AddItemToArray(m, cJSON_CreateNumber((double)p->taken[i]));
        json_put_number(o, "runs", INVARIANCE_RUNS);
    }
    if (p->entrant->has_variants)
        json_put_number(o, "variants", (double)p->most_variants);
    if (p->differs)
        cJSON_AddStringToObject(o, "differs", p->difference);
    if (p->unsteady)
        cJSON_AddStringToObject(o, "unsteady", p->unsteadiness);
    if (!p->compared)
        cJSON_AddStringToObject(o, "reason", p->refusal);
    cJSON_Delete(p->entrant->record->invariance);
    p->entrant->record->invariance = o;
}

static int try_sizes(struct proof *p, struct error *err)
{
    int64_t sizes[SIZES];
    size_t n = list_sizes(p->bench->problem.m, sizes), bytes;
    p->most_rows = (int64_t)(OUTPUT_BYTES / row_bytes(p));
    p->most_rows = p->most_rows < 1 ? 1 : p->most_rows < INVARIANCE_ROWS ? p->most_rows : INVARIANCE_ROWS;
    bytes = (size_t)p->most_rows * row_bytes(p);
    p->kept = malloc(bytes);
    p->first = malloc(bytes);
    p->seen = malloc(bytes);
    if (!p->kept || !p->first || !p->seen)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for outputs");
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++)
        code = try_size(p, sizes[i], err);
    return code;
}

static int prove(struct bench *bench, struct entrant *entrant, struct error *err)
{
    struct proof *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a proof");
    p->bench = bench;
    p->entrant = entrant;
    p->problem = bench->problem;
    int code = try_sizes(p, err);
    if (code == 0)
        note(p);
    else
        code = entrant_fault(bench, entrant, "verify", err);
    free(p->kept);
    free(p->first);
    free(p->seen);
    free(p);
    return code;
}

static bool is_wanted(const struct entrant *e)
{
    return e->alive && e->set_up && !e->record->invalid && e->shares_ranking == 0 && e->record->copy_of[0] == '\0';
}

int invariance_check(struct bench *bench, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < bench->n_entrants && code == 0 && bench->config->invariance; i++)
        if (is_wanted(&bench->entrants[i]))
            code = prove(bench, &bench->entrants[i], err);
    return code;
}
