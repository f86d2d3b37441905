/* choice/cudal2/model: how far from measured races it is allowed to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "h200_fixture.h"

/* Races on an H200 of shapes that the constants were not fitted to, drawn at random from equal parts of the range of
 * times, what was in the final: 46 with fp16 accumulators of results/h200/2026-11-21c-offline-f16, whose launches were
 * late, and 34 with fp32 of 2026-11-22h-tune, split. A line is accumulate, layout, m, n, k, median in ns, variant. */
#define RACES "tests/fixtures/data/races-h200.txt"

struct timed {
    enum cudal2_layout layout;
    struct cudal2_problem problem;
    double ns, foretold_ns;
    struct cudal2_variant variant;
};

static bool read_timed(FILE *file, struct timed *t)
{
    char accumulate[8], layout[8], key[sizeof t->variant.key];
    long m, n, k;
    if (fscanf(file, "%7s %7s %ld %ld %ld %lf %255s", accumulate, layout, &m, &n, &k, &t->ns, key) != 7)
        return false;
    t->layout = strcmp(layout, "tn") == 0 ? CUDAL2_TN : CUDAL2_NN;
    t->problem =
        (struct cudal2_problem){.m = m,
                                .n = n,
                                .k = k,
                                .dtype = CUDAL2_F16,
                                .accumulate = strcmp(accumulate, "f32") == 0 ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16};
    snprintf(t->variant.key, sizeof t->variant.key, "%s", key);
    return true;
}

/* No launch was early when those were timed that do not say so. */
static bool is_early(const char *key)
{
    return strstr(key, "EARLY=1") != NULL;
}

static void set_late(const struct manifest *m, int64_t *values)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        if (strcmp(m->parameters[i].name, "EARLY") == 0)
            values[i] = 0;
}

static const struct configuration *find(const struct space *s, const char *key)
{
    int64_t values[MANIFEST_MAX_PARAMETERS]; /* what the key does not name is at its default */
    for (size_t i = 0; i < s->n_configurations; i++) {
        const struct configuration *c = &s->configurations[i];
        const struct manifest *m = s->kernels[c->kernel];
        int64_t own[MANIFEST_MAX_PARAMETERS];
        memcpy(own, c->values, sizeof own);
        if (!is_early(key))
            set_late(m, own);
        if (manifest_parse_key(m, key, values) && memcmp(values, own, m->n_parameters * sizeof *values) == 0)
            return c;
    }
    fail_msg("not in the space: %s", key);
    return NULL;
}

enum { MOST_TIMED = 512 };

static struct timed timed[MOST_TIMED];
static size_t n_timed;

static int foretell_races(void **state)
{
    struct module_set *set = open_cudal2();
    const struct model_machine machine = figures_machine(&h200.info);
    struct space spaces[2][2];
    FILE *file = fopen(RACES, "r");
    (void)state;
    if (!file)
        return -1;
    for (int i = 0; i < 4; i++) {
        const struct space_conditions conditions =
            h200_conditions((enum cudal2_accumulate)(i / 2), (enum cudal2_layout)(i % 2));
        open_space(set, &conditions, &spaces[i / 2][i % 2]);
    }
    while (n_timed < MOST_TIMED && read_timed(file, &timed[n_timed])) {
        struct timed *t = &timed[n_timed++];
        const struct configuration *c = find(&spaces[t->problem.accumulate][t->layout], t->variant.key);
        struct model_tile tile = c->tile;
        tile.early = is_early(t->variant.key);
        t->foretold_ns = 1e9 * model_seconds(&machine, &t->problem, t->layout, &tile);
    }
    fclose(file);
    for (int i = 0; i < 4; i++)
        space_free(&spaces[i / 2][i % 2]);
    module_set_close(set);
    return 0;
}

/* Mean and standard deviation of log(foretold / measured), in percent, of the variants of one kernel. */
static void check_kernel(enum cudal2_accumulate accumulate, const char *kernel, double most_bias, double most_deviation)
{
    double n = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < n_timed; i++) {
        if (timed[i].problem.accumulate != accumulate || strncmp(timed[i].variant.key, kernel, strlen(kernel)) != 0)
            continue;
        double e = 100 * log(timed[i].foretold_ns / timed[i].ns);
        n++;
        sum += e;
        squares += e * e;
    }
    double bias = sum / n, deviation = sqrt(squares / n - bias * bias);
    if (!(fabs(bias) <= most_bias && deviation <= most_deviation))
        fail_msg("%s, %g times: off by %+.1f%%, standard deviation %.1f%%", kernel, n, bias, deviation);
}

static void times_are_foretold(void **state)
{
    (void)state;
    assert_in_range(n_timed, 400, MOST_TIMED - 1);
    check_kernel(CUDAL2_ACC_F32, "persistent", 2.5, 6.5);
    /* Persistent kernels of then took 0.1 to 0.5 us more around their products, so they are foretold too fast; tiny
     * ones were by 7% before the last fit, too. */
    check_kernel(CUDAL2_ACC_F16, "persistent", 6, 10);
    check_kernel(CUDAL2_ACC_F16, "multistage", 6, 9);
    check_kernel(CUDAL2_ACC_F16, "tiny", 11, 9);
    for (size_t i = 0; i < n_timed; i++)
        /* 1.69 is a kernel of then for two CTAs a multiprocessor that found places for one, and ran a second wave. */
        if (fabs(log(timed[i].foretold_ns / timed[i].ns)) > log(is_early(timed[i].variant.key) ? 1.3 : 1.7))
            fail_msg("%s on %ldx%ldx%ld: %.0f ns, foretold %.0f", timed[i].variant.key, (long)timed[i].problem.m,
                     (long)timed[i].problem.n, (long)timed[i].problem.k, timed[i].ns, timed[i].foretold_ns);
}

static bool same_race(const struct timed *a, const struct timed *b)
{
    return a->layout == b->layout && a->problem.accumulate == b->problem.accumulate && a->problem.m == b->problem.m &&
           a->problem.n == b->problem.n && a->problem.k == b->problem.k;
}

/* What the model is for: its first choice is not far behind the winner, and the winner not far behind its first choice.
 * In the file the winner comes first. */
static void winners_are_near_the_front(void **state)
{
    double lost = 0, races = 0, within = 1;
    (void)state;
    for (size_t i = 0; i < n_timed;) {
        size_t winner = i, choice = i;
        for (; i < n_timed && same_race(&timed[winner], &timed[i]); i++)
            choice = timed[i].foretold_ns < timed[choice].foretold_ns ? i : choice;
        lost += timed[choice].ns / timed[winner].ns - 1;
        within = fmax(within, timed[winner].foretold_ns / timed[choice].foretold_ns);
        races++;
    }
    assert_true(races == 80);
    if (lost / races > 0.015 || within > 1.18)
        fail_msg("the first choices lose %.2f%%; winners within %.3f of them", 100 * lost / races, within);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_foretold),
        cmocka_unit_test(winners_are_near_the_front),
    };
    return cmocka_run_group_tests(tests, foretell_races, NULL);
}
