/*
 * compare.c - reads both sides, refuses what cannot be compared, makes rows, judges them and settles the exit code.
 * Relies on rows.c and judge.c. Called by cli/cmd_compare.c.
 */
#include "compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/rows.h"
#include "stats/interval.h"

/* ---- what counts as a loss ---- */

#define AA_WIDTHS 3.0

/* Median distance of the copies from their originals (the truth is 0), over both runs. NaN without copies. */
static int aa_scatter(const struct compare_runs *c, int mode, double *out)
{
    size_t n_base = c->base.aa[mode].n;
    size_t n = n_base + c->fresh.aa[mode].n;
    double *distances = malloc((n + 1) * sizeof *distances);
    if (!distances)
        return -1;
    for (size_t i = 0; i < n; i++)
        distances[i] = fabs(i < n_base ? c->base.aa[mode].values[i] : c->fresh.aa[mode].values[i - n_base]);
    *out = stats_median(distances, n);
    free(distances);
    return 0;
}

/* -ln(1 - share): a loss of speed in log units. */
static double log_of_loss(double share)
{
    return -log1p(-share);
}

double compare_delta_wanted(enum mode mode)
{
    static const double floors[MODE_COUNT] = {COMPARE_DELTA_OFFLINE, COMPARE_DELTA_SERVER, COMPARE_DELTA_SERVER};
    return floors[mode];
}

static int set_deltas(struct compare_runs *c, double given)
{
    c->delta_given = given > 0;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        if (aa_scatter(c, mode, &c->aa_scatter[mode]))
            return -1;
        double wide = AA_WIDTHS * c->aa_scatter[mode];
        double least = log_of_loss(compare_delta_wanted((enum mode)mode));
        c->delta[mode] = c->delta_given ? given : -expm1(-(wide > least ? wide : least));
    }
    return 0;
}

/* ---- the family ---- */

/* Judges the rows that `in_family` picks, together. Returns their number, or -1 out of memory. */
static long judge_rows(struct compare_runs *c, bool (*in_family)(const struct compare_row *))
{
    struct trial *trials = malloc((c->n_rows + 1) * sizeof *trials);
    if (!trials)
        return -1;
    size_t n = 0;
    for (size_t i = 0; i < c->n_rows; i++)
        if (in_family(&c->rows[i]))
            trials[n++] = c->rows[i].trial;
    int failed = judge_trials(trials, n);
    for (size_t i = 0, t = 0; i < c->n_rows && !failed; i++)
        if (in_family(&c->rows[i])) {
            c->rows[i].trial = trials[t++];
            c->rows[i].verdict = c->rows[i].trial.verdict;
        }
    free(trials);
    return failed ? -1 : (long)n;
}

static bool is_tested(const struct compare_row *row)
{
    return row->tested;
}

static bool is_remeasured(const struct compare_row *row)
{
    return row->remeasured;
}

/* ---- opening ---- */

static int refuse(const struct provenance *differences, const char *what, struct error *err)
{
    char lines[600];
    provenance_join(differences, lines, sizeof lines);
    return error_set(err, EXIT_CODE_INCOMPARABLE, "%s (--force compares all the same): %s", what, lines);
}

static int refuse_paper(const struct side *side, struct error *err)
{
    if (strcmp(side->run.config.protocol, "paper") != 0)
        return 0;
    return error_set(err, EXIT_CODE_INCOMPARABLE, "%s: measured with --protocol paper, which has no groups to test",
                     side->path);
}

/* Comes before whatever else is to be said of a comparison: exit status 3. */
static int tell_wrong_results(const struct side *side, struct error *err)
{
    return error_set(err, EXIT_CODE_VERIFICATION, "%zu wrong result%s in %s%s: %s", side->wrong_results,
                     side->wrong_results == 1 ? "" : "s", side->path, side->wrong_results == 1 ? "" : ", the first",
                     side->first_wrong);
}

static int check_sides(const struct compare_request *request, struct compare_runs *c, struct error *err)
{
    if (refuse_paper(&c->base, err) || refuse_paper(&c->fresh, err))
        return err->code;
    provenance_compare(&c->base, &c->fresh, &c->differences);
    if (c->differences.n > 0 && !request->force)
        return refuse(&c->differences, "the runs cannot be compared", err);
    return 0;
}

static int judge_all(struct compare_runs *c, struct error *err)
{
    if (c->n_rows == 0 && c->skipped_in_both > 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "nothing to compare: both runs skipped %s: %s",
                         c->first_skipped->key, c->first_skipped->reason);
    if (c->n_rows == 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "%s: no candidate was measured in any cell: nothing to compare",
                         c->base.path);
    for (size_t i = 0; i < c->n_rows; i++)
        c->rows[i].trial.delta = log_of_loss(c->delta[c->rows[i].mode]);
    long family = judge_rows(c, is_tested);
    if (family < 0)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    c->family = (size_t)family;
    rows_arrange(c);
    return 0;
}

int compare_open(const struct compare_request *request, struct compare_runs *out, struct error *err)
{
    *out = (struct compare_runs){0};
    int code = side_read(request->base, &out->base, err);
    if (!code)
        code = side_read(request->fresh, &out->fresh, err);
    if (!code)
        code = check_sides(request, out, err);
    if (!code && (set_deltas(out, request->delta) || rows_make(out)))
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    if (!code)
        code = judge_all(out, err);
    if (code == EXIT_CODE_INCOMPARABLE && out->fresh.wrong_results > 0)
        code = tell_wrong_results(&out->fresh, err);
    if (code)
        compare_free(out);
    return code;
}

void compare_free(struct compare_runs *c)
{
    side_free(&c->base);
    side_free(&c->fresh);
    side_free(&c->confirm);
    free(c->rows);
    *c = (struct compare_runs){0};
}

/* ---- the second look ---- */

size_t compare_suspects(const struct compare_runs *c)
{
    return c->counts[JUDGED_SLOWER] + c->counts[JUDGED_AMBIGUOUS];
}

/* What is not here and was in NEW, "name: reason", joined by "; ". Runs of old say it in their cells alone. */
static void tell_unavailable(const struct side *fresh, const struct env_info *env, char *out, size_t capacity)
{
    const struct env_info *then = &fresh->env;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < env->n_unavailable && used < capacity; i++) {
        const struct result_member *one = &env->unavailable[i];
        if (result_member_find(then->unavailable, then->n_unavailable, one->name) ||
            side_was_absent(&fresh->cells[0], one->name))
            continue;
        int more = snprintf(out + used, capacity - used, "%s%s: %s", used ? "; " : "", one->name,
                            cJSON_IsString(one->json) ? one->json->valuestring : "");
        used += more > 0 ? (size_t)more : 0;
    }
}

static int check_loaded(const struct compare_runs *c, const struct env_info *env, struct error *err)
{
    static const char what[] = "the suspects cannot be measured again as NEW was";
    struct provenance differences;
    char missing[500];
    provenance_compare_loaded(&c->fresh.env, env, &differences);
    if (differences.n == 0)
        return 0;
    tell_unavailable(&c->fresh, env, missing, sizeof missing);
    if (!missing[0])
        return refuse(&differences, what, err);
    return error_set(err, EXIT_CODE_INCOMPARABLE, "%s; not here: %s", what, missing);
}

int compare_check_again(const struct compare_runs *c, const cJSON *env, struct error *err)
{
    struct env_info loaded;
    int code = env_info_read(json_root(env, "the worker's environment"), &loaded, err);
    if (!code)
        code = check_loaded(c, &loaded, err);
    env_info_free(&loaded);
    return code;
}

int compare_confirm(struct compare_runs *c, const char *path, bool force, struct error *err)
{
    struct provenance differences;
    if (side_read(path, &c->confirm, err))
        return err->code;
    provenance_compare_again(&c->fresh, &c->confirm, &differences);
    if (differences.n > 0 && !force)
        return refuse(&differences, "the suspects were not measured again as NEW was", err);
    for (size_t i = 0; i < c->n_rows; i++)
        if (judge_suspects(c->rows[i].verdict))
            row_take_second_look(&c->rows[i], &c->base, &c->confirm);
    if (judge_rows(c, is_remeasured) < 0)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    rows_arrange(c);
    return 0;
}

/* ---- the end ---- */

static int regression(const struct compare_runs *c, struct error *err)
{
    const struct compare_row *worst = &c->rows[0];
    size_t n = c->counts[JUDGED_SLOWER];
    return error_set(err, EXIT_CODE_REGRESSION, "%zu regression%s; the worst: %s in %s, %.1f%%", n, n == 1 ? "" : "s",
                     worst->candidate, worst->key, 100 * expm1(worst->trial.change));
}

int compare_outcome(const struct compare_runs *c, struct error *err)
{
    const struct side *wrong = c->fresh.wrong_results ? &c->fresh : &c->confirm;
    if (wrong->wrong_results > 0)
        return tell_wrong_results(wrong, err);
    if (c->counts[JUDGED_SLOWER] > 0)
        return regression(c, err);
    if (c->counts[JUDGED_MISSING] + c->counts[JUDGED_INVALID] > 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "%zu missing, %zu invalid: NEW does not cover what BASE has",
                         c->counts[JUDGED_MISSING], c->counts[JUDGED_INVALID]);
    return EXIT_CODE_OK;
}
