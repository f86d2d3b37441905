/*
 * words.c - words that all forms share: verdicts, notes, counts, provenance. Pure but for text. Called by form_*.c.
 */
#include "compare/forms.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "stats/interval.h"

void compare_headline(const struct compare_runs *c, struct error *line)
{
    if (compare_outcome(c, line) == EXIT_CODE_OK)
        snprintf(line->text, sizeof line->text, "no regression");
}

void compare_describe_side(struct text *out, const struct side *s)
{
    const char *commit = s->run.build.commit;
    plain_add(out, s->path);
    text_add(out, " (");
    if (commit[0]) {
        char *plain = plain_copy(commit);
        text_add(out, "commit %.12s, ", plain ? plain : "");
        out->failed |= !plain;
        free(plain);
    }
    plain_add(out, s->run.started);
    text_add(out, ", ");
    plain_add(out, s->env.device.name);
    text_add(out, "%s)", s->complete ? "" : ", not complete");
}

static bool has_mode(const struct compare_runs *c, int mode)
{
    for (size_t i = 0; i < c->n_rows; i++)
        if ((int)c->rows[i].mode == mode)
            return true;
    return false;
}

void compare_describe_delta(struct text *out, const struct compare_runs *c)
{
    const char *separator = "";
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        if (!has_mode(c, mode))
            continue;
        text_add(out, "%s%.2g%% %s", separator, 100 * c->delta[mode], mode_names[mode]);
        if (!c->delta_given && !isnan(c->aa_scatter[mode]))
            text_add(out, " (A/A copies: %.2g%%)", 100 * expm1(c->aa_scatter[mode]));
        separator = ", ";
    }
}

/* Tested rows whose groups are so few that even complete separation could not stand out alone. */
static size_t count_powerless(const struct compare_runs *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_rows; i++) {
        const struct trial *t = &c->rows[i].trial;
        bool first_look = c->rows[i].tested && !c->rows[i].remeasured;
        n += first_look && stats_below_least_p(t->base.n, t->fresh.n) > JUDGE_RATE / (double)c->family;
    }
    return n;
}

static size_t count_remeasured(const struct compare_runs *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_rows; i++)
        n += c->rows[i].remeasured;
    return n;
}

/* What SAME does not say: how much could have been lost unseen. */
static void describe_blunt(struct text *out, const struct compare_runs *c, const char *before)
{
    size_t blunt = 0;
    double worst = 0;
    for (size_t i = 0; i < c->n_rows; i++) {
        if (!c->rows[i].tested || !judge_is_blunt(&c->rows[i].trial))
            continue;
        blunt++;
        worst = fmax(worst, compare_resolution(&c->rows[i]));
    }
    if (blunt > 0)
        text_add(out,
                 "%s%zu of %zu results were too noisy to detect a slowdown smaller than %.1f%% (the noisiest of them); "
                 "measure longer (stop.min_blocks of the config) or on a quieter machine\n",
                 before, blunt, c->n_rows, 100 * worst);
}

/* A loss below delta is SAME, however clear: where copies raised it, that is more than anybody asked for. */
static void describe_raised_delta(struct text *out, const struct compare_runs *c, const char *before)
{
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        double wanted = compare_delta_wanted((enum mode)mode);
        if (c->delta_given || !has_mode(c, mode) || c->delta[mode] < 1.005 * wanted)
            continue;
        text_add(out,
                 "%s%s: only slowdowns above %.2g%% count, not the usual %.2g%%, because copies of one kernel differed "
                 "by %.2g%% in these runs (--aa); a quieter machine brings it down\n",
                 before, mode_names[mode], 100 * c->delta[mode], 100 * wanted, 100 * expm1(c->aa_scatter[mode]));
    }
}

static void add_note(struct text *out, const char *before, const char *what, const char *words)
{
    text_add(out, "%s%s", before, what);
    plain_add(out, words);
    text_add(out, "\n");
}

void compare_describe_notes(struct text *out, const struct compare_runs *c, const char *before)
{
    size_t powerless = count_powerless(c);
    char changed[PROVENANCE_TEXT];
    provenance_changed_code(&c->base, &c->fresh, changed, sizeof changed);
    for (size_t i = 0; i < c->differences.n && i < PROVENANCE_MAX; i++)
        add_note(out, before, "compared by --force, although it differs: ", c->differences.line[i]);
    if (changed[0])
        add_note(out, before, "NEW has other code than BASE: ", changed);
    if (c->without_base > 0)
        text_add(out, "%s%zu results of NEW are not in BASE, and were not compared\n", before, c->without_base);
    if (c->without_result_in_both > 0)
        text_add(out, "%s%zu result%s missing in both runs, declined or failed, and not compared\n", before,
                 c->without_result_in_both, c->without_result_in_both == 1 ? " is" : "s are");
    if (c->skipped_in_both > 0)
        text_add(out, "%s%zu cell%s skipped in both runs, and not compared: %s %s%s\n", before, c->skipped_in_both,
                 c->skipped_in_both == 1 ? "" : "s", c->first_skipped->key, c->first_skipped->reason,
                 c->skipped_in_both == 1 ? "" : "; ...");
    if (powerless > 0)
        text_add(out,
                 "%s%zu of %zu results have too few groups of blocks to prove a slowdown among so many: AMBIGUOUS is "
                 "the most they can be; use --confirm, or measure longer\n",
                 before, powerless, c->family);
    describe_raised_delta(out, c, before);
    describe_blunt(out, c, before);
    if (c->confirm.path[0]) {
        text_add(out, "%s%zu of these were measured again, and are judged by ", before, count_remeasured(c));
        add_note(out, "", "", c->confirm.path);
    } else if (compare_suspects(c) > 0)
        text_add(out, "%s%zu look%s slower: compare --confirm measures again, and decides\n", before,
                 compare_suspects(c), compare_suspects(c) == 1 ? "s" : "");
}

double compare_change(const struct compare_row *row)
{
    return row->tested ? expm1(row->trial.change) : (double)NAN;
}

double compare_speedup(struct sample side)
{
    return expm1(stats_median(side.values, side.n));
}

double compare_p(const struct compare_row *row)
{
    if (!row->tested)
        return NAN;
    return row->trial.change < 0 ? row->trial.p_slower : row->trial.p_faster;
}

double compare_resolution(const struct compare_row *row)
{
    return row->tested ? -expm1(-row->trial.resolution) : (double)NAN;
}

/* Appends to a list joined by "; ". */
__attribute__((format(printf, 3, 4))) static void append(char *out, size_t capacity, const char *format, ...)
{
    size_t used = strlen(out);
    va_list arguments;
    if (used > 0 && used + 2 < capacity) {
        memcpy(out + used, "; ", 3);
        used += 2;
    }
    va_start(arguments, format);
    vsnprintf(out + used, capacity - used, format, arguments);
    va_end(arguments);
}

void compare_remark(const struct compare_row *row, char *out, size_t capacity)
{
    out[0] = '\0';
    if (!row->tested) {
        append(out, capacity, "%s", row->reason);
        return;
    }
    if (row->remeasured)
        append(out, capacity, "measured again; %+.1f%% at first", 100 * expm1(row->screened_change));
    if (judge_is_blunt(&row->trial))
        append(out, capacity, "would not show a slowdown below %.1f%%", 100 * compare_resolution(row));
    if (row->other_variant)
        append(out, capacity, "NEW chose another variant");
    if (row->other_reference_variant)
        append(out, capacity, "the baseline chose another variant");
}
