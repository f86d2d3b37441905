/* analysis/uneven: who does in one launch of many the work of all is timed by means; the noise of a machine, however
 * rough, is nobody's. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/uneven.h"
#include "base/random.h"

#define MOST 512u

static double reference[MOST], candidate[MOST], ratio[MOST];
static unsigned group[MOST];

static struct pair pair_of(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ratio[i] = log(reference[i] / candidate[i]);
        group[i] = (unsigned)(i / 8);
    }
    return (struct pair){
        .n = n, .reference_ns = reference, .candidate_ns = candidate, .log_ratio = ratio, .group = group};
}

/* Times of 1000 ns that scatter by 2%, and one of `every` takes `times` as long. */
static void time_all(struct random *random, double *ns, size_t n, unsigned every, double times)
{
    for (size_t i = 0; i < n; i++) {
        ns[i] = 1000 * (1 + 0.02 * (random_unit(random) - 0.5));
        if (every > 0 && random_below(random, every) == 0)
            ns[i] *= times;
    }
}

static void rare_work_is_counted(void **state)
{
    struct random random;
    struct speedup s;
    (void)state;
    random_seed(&random, 5);
    time_all(&random, reference, MOST, 0, 1);
    time_all(&random, candidate, MOST, 0, 1);
    for (size_t i = 0; i < MOST; i++) /* 28% faster, and in one of 40 the work of 40 */
        candidate[i] = i % 40 == 7 ? 720 + 40 * 280 : candidate[i] * 0.72;
    struct pair p = pair_of(MOST);
    double excess = uneven_excess(&p);
    assert_true(excess > 0.3 && excess < 0.5);
    pair_speedup(&p, &s);
    assert_true(s.uneven == excess && s.geomean < 0.05 && s.low < 0 && fabs(s.geomean - s.ratio_of_means) < 1e-9);
    assert_true(fabs(s.geomean - expm1(s.log_mean)) < 1e-9);
}

/* Its rival's slow launches are not to the candidate's loss, nor are a few. */
static void nobody_else_is_told(void **state)
{
    struct random random;
    struct speedup s;
    (void)state;
    random_seed(&random, 6);
    time_all(&random, reference, MOST, 40, 16);
    time_all(&random, candidate, MOST, 0, 1);
    struct pair p = pair_of(MOST);
    assert_true(isnan(uneven_excess(&p)));
    time_all(&random, reference, MOST, 0, 1);
    for (size_t i = 0; i < 6; i++)
        candidate[80 * i] = 16000;
    p = pair_of(MOST);
    pair_speedup(&p, &s);
    assert_true(isnan(s.uneven) && fabs(s.geomean) < 0.01 && s.ratio_of_means < -0.1);
    p = pair_of(0);
    assert_true(isnan(uneven_excess(&p)));
}

/* Each group begins with a fresh set-up: a first launch that is slow by itself is nobody's work for others. */
static void a_groups_first_block_is_its_own(void **state)
{
    struct random random;
    (void)state;
    random_seed(&random, 9);
    time_all(&random, reference, MOST, 0, 1);
    time_all(&random, candidate, MOST, 0, 1);
    for (size_t i = 0; i < MOST; i += 8)
        candidate[i] *= 3;
    struct pair p = pair_of(MOST);
    assert_true(isnan(uneven_excess(&p)));
    for (size_t i = 0; i < MOST; i++) /* a group for each block has no first */
        group[i] = (unsigned)i;
    assert_true(uneven_excess(&p) > 0.2);
}

/* A busy machine: one launch in ten, in thirty, takes up to sixty times as long, whoever's it is. */
static void noise_is_nobodys(void **state)
{
    static const unsigned every[] = {4, 10, 30, 100};
    struct random random;
    unsigned told = 0, tried = 0;
    (void)state;
    random_seed(&random, 7);
    for (size_t n = 16; n <= MOST; n *= 2)
        for (size_t e = 0; e < 4; e++)
            for (int i = 0; i < 250; i++) {
                tried++;
                double times = 1 + 60 * random_unit(&random);
                time_all(&random, reference, n, every[e], times);
                time_all(&random, candidate, n, every[e], times);
                struct pair p = pair_of(n);
                told += isnan(uneven_excess(&p)) ? 0 : 1;
            }
    assert_true(told * 500 < tried);
}

/* Who takes twenty times as long is interrupted twenty times as often. */
static void the_longer_are_interrupted_more_often(void **state)
{
    struct random random;
    unsigned told = 0, tried = 0;
    (void)state;
    random_seed(&random, 8);
    for (size_t n = 16; n <= MOST; n *= 2)
        for (int i = 0; i < 250; i++, tried++) {
            time_all(&random, reference, n, 200, 31);
            time_all(&random, candidate, n, 10, 2.5);
            for (size_t k = 0; k < n; k++)
                candidate[k] *= 20;
            struct pair p = pair_of(n);
            told += isnan(uneven_excess(&p)) ? 0 : 1;
        }
    assert_true(told * 500 < tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rare_work_is_counted),
        cmocka_unit_test(a_groups_first_block_is_its_own),
        cmocka_unit_test(nobody_else_is_told),
        cmocka_unit_test(noise_is_nobodys),
        cmocka_unit_test(the_longer_are_interrupted_more_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
