#include "compare/forms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/tree.h"
#include "stats/interval.h"

const char *const compare_format_names[] = {"text", "markdown", "json", "junit", NULL};

int compare_print(const struct compare_runs *c, enum compare_format format, bool colour, char **out, struct error *err)
{
    struct text text = {0};
    *out = NULL;
    switch (format) {
    case COMPARE_TEXT:
        compare_form_text(&text, c, colour);
        break;
    case COMPARE_MARKDOWN:
        compare_form_markdown(&text, c);
        break;
    case COMPARE_JSON:
        compare_form_json(&text, c);
        break;
    case COMPARE_JUNIT:
        compare_form_junit(&text, c);
        break;
    }
    if (!text.failed && text.bytes) {
        *out = text.bytes;
        return 0;
    }
    text_free(&text);
    return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
}

void compare_headline(const struct compare_runs *c, struct error *line)
{
    if (compare_outcome(c, line) == EXIT_CODE_OK)
        snprintf(line->text, sizeof line->text, "no regression");
}

void compare_describe_side(struct text *out, const struct side *s)
{
    const char *commit = tree_text(tree_member(s->run, "build"), "commit");
    const char *started = tree_text(s->run, "started");
    const cJSON *device = tree_member(s->env, "device");
    text_add(out, "%s (%s%.12s%s%s, %s%s)", s->path, commit[0] ? "commit " : "", commit, commit[0] ? ", " : "", started,
             tree_text(device, "name"), s->complete ? "" : ", not complete");
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

void compare_describe_notes(struct text *out, const struct compare_runs *c, const char *before)
{
    size_t powerless = count_powerless(c);
    char changed[PROVENANCE_TEXT];
    provenance_changed_code(&c->base, &c->fresh, changed, sizeof changed);
    for (size_t i = 0; i < c->differences.n && i < PROVENANCE_MAX; i++)
        text_add(out, "%sforced: %s\n", before, c->differences.line[i]);
    if (changed[0])
        text_add(out, "%sother code in NEW than in BASE: %s\n", before, changed);
    if (c->without_base > 0)
        text_add(out, "%s%zu results in NEW have none in BASE to stand against\n", before, c->without_base);
    if (powerless > 0)
        text_add(out,
                 "%s%zu of %zu have too few groups for a loss of their own to stand out in this family; they come out "
                 "AMBIGUOUS at worst until --confirm looks again\n",
                 before, powerless, c->family);
    if (c->confirm.run)
        text_add(out, "%smeasured again: %zu, in %s\n", before, count_remeasured(c), c->confirm.path);
    else if (compare_suspects(c) > 0)
        text_add(out, "%s--confirm measures the suspects again and decides\n", before);
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

void compare_remark(const struct compare_row *row, char *out, size_t capacity)
{
    char again[48] = "";
    if (row->remeasured)
        snprintf(again, sizeof again, "measured again; %+.1f%% at first", 100 * expm1(row->screened_change));
    if (!row->tested)
        snprintf(out, capacity, "%s", row->reason);
    else
        snprintf(out, capacity, "%s%s%s%s%s", again, again[0] && row->other_variant ? "; " : "",
                 row->other_variant ? "another variant" : "",
                 (again[0] || row->other_variant) && row->other_reference_variant ? "; " : "",
                 row->other_reference_variant ? "reference: another variant" : "");
}
