/*
 * table_parts.c - cells, columns and counts that the paper's tables share. Relies on table.c. Called by tables.c and
 * claimed.c.
 */
#include "report/table_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "result/left_out.h"

void add_percent(struct table *s, double value, bool sign)
{
    if (isnan(value))
        table_add(s, NAN, "-");
    else
        table_add(s, value, sign ? "%+.2f%%" : "%.2f%%", 100 * value);
}

void add_count(struct table *s, size_t count, bool known)
{
    if (known)
        table_add(s, (double)count, "%zu", count);
    else
        table_add(s, NAN, "-");
}

void mode_column(struct table *s, const char *mode, const char *what, const char *key, enum table_pair pair)
{
    char full_key[48];
    snprintf(full_key, sizeof full_key, "%s_%s", mode, key);
    if (pair == TABLE_INTERVAL)
        table_interval_column(s, what, full_key);
    else if (pair == TABLE_SHARE)
        table_share_column(s, what, full_key);
    else
        table_column(s, what, full_key, false);
    table_group(s, mode);
}

void aggregate_or_nothing(const struct line *line, struct aggregate *out)
{
    *out = (struct aggregate){.mean = NAN, .sd = NAN, .low = NAN, .high = NAN, .geomean = NAN, .median = NAN};
    out->max_mean = NAN;
    if (line)
        line_aggregate(line, out);
}

/* ---- shapes that are in no mean ---- */

void left_out_columns(struct table *s, const char *mode)
{
    mode_column(s, mode, "left out", "left_out", TABLE_SINGLE);
    mode_column(s, mode, "of all", "geomean_of_all", TABLE_SINGLE);
}

void left_out_cells(struct table *s, const struct line *line, double geomean)
{
    size_t left_out = line ? line->left_out : 0;
    double of_all = line ? result_mean_of_all(geomean, (double)line->n, (double)left_out) : NAN;
    bool known = line && strcmp(line->source, "measured") == 0;
    if (left_out > 0) {
        add_count(s, left_out, true);
        add_percent(s, of_all, true);
    } else {
        table_add(s, known ? 0 : NAN, "-");
        table_add(s, known ? of_all : NAN, "-");
    }
}

void left_out_note_of(struct table *s, const struct line *line)
{
    struct aggregate a;
    if (!line || line->left_out == 0)
        return;
    line_aggregate(line, &a);
    table_note(s, "%s: " LEFT_OUT_WORDS "; with those as 1x over %s %+.2f%%", line->mode, line->left_out,
               line->left_out + line->n, line->reference,
               100 * result_mean_of_all(a.geomean, (double)line->n, (double)line->left_out));
}

void left_out_note(struct table *s, const struct dataset *d, const struct line *group)
{
    for (size_t m = 0; m < GROUP_MODES; m++) {
        const struct line *most = NULL;
        for (size_t i = 0; i < d->n; i++) {
            const struct line *line = group_line(d, group, group_modes[m], d->lines[i].reference);
            if (line && (!most || line->left_out > most->left_out))
                most = line;
        }
        left_out_note_of(s, most);
    }
}

void make_label(char *label)
{
    char *to = label;
    for (const char *c = label; *c; c++) {
        if (isalnum((unsigned char)*c))
            *to++ = *c;
        else if (to > label && to[-1] != '-')
            *to++ = '-';
    }
    *to = '\0';
}

void describe_table(struct table *s, const char *name, const char *title, const struct line *group)
{
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->label, sizeof s->label, "%s-%s-%s-%s-%s-%s", name, group->candidate, group->source, group->dtype,
             group->accumulate, group->timing);
    make_label(s->label);
    snprintf(s->title, sizeof s->title, "%s: %s, %s over each baseline, %s accumulated in %s, %s time", title,
             group->candidate, group->source, group->dtype, group->accumulate, group->timing);
}

void identity_columns(struct table *s)
{
    static const char *const keys[] = {"candidate", "source", "dtype", "accumulate", "timing"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        table_column(s, keys[i], keys[i], true);
        table_hide(s);
    }
}

void identity_cells(struct table *s, const struct line *line)
{
    const char *const words[] = {line->candidate, line->source, line->dtype, line->accumulate, line->timing};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        table_add(s, NAN, "%s", words[i]);
}

void table_note(struct table *s, const char *format, ...)
{
    size_t used = strlen(s->note);
    va_list args;
    if (used > 0 && used + 3 < sizeof s->note) {
        memcpy(s->note + used, "; ", 3);
        used += 2;
    }
    va_start(args, format);
    vsnprintf(s->note + used, sizeof s->note - used, format, args);
    va_end(args);
}

/* ---- where too few shapes reached the wanted precision ---- */

struct outcomes outcomes_of(const struct dataset *d, const struct line *group)
{
    struct outcomes o = {0};
    for (size_t i = 0; i < d->n; i++)
        for (size_t m = 0; m < GROUP_MODES; m++) {
            const struct line *line = group_line(d, group, group_modes[m], d->lines[i].reference);
            if (line)
                o.mode[m] = line->outcome;
        }
    for (size_t m = 0; m < GROUP_MODES; m++)
        o.scant |= !outcome_allows_mean(o.mode[m]);
    return o;
}

void outcome_note(struct table *s, const char *mode, struct outcome outcome)
{
    char words[128];
    outcome_say(outcome, words, sizeof words);
    if (!outcome_allows_mean(outcome))
        table_note(s, "%s: %s", mode, words);
}

void outcome_columns(struct table *s, const struct outcomes *o)
{
    static const char *const keys[] = {"converged", "measured"};
    for (size_t m = 0; m < GROUP_MODES; m++) {
        for (size_t i = 0; i < 2; i++) {
            mode_column(s, group_modes[m], keys[i], keys[i], TABLE_SINGLE);
            if (!o->scant)
                table_hide(s);
        }
        outcome_note(s, group_modes[m], o->mode[m]);
    }
}

void outcome_cells(struct table *s, const struct outcomes *o)
{
    for (size_t m = 0; m < GROUP_MODES; m++) {
        add_count(s, o->mode[m].converged, o->mode[m].measured > 0);
        add_count(s, o->mode[m].measured, o->mode[m].measured > 0);
    }
}
