/*
 * forms.h - a comparison as text for a terminal, Markdown for a merge request, JSON, JUnit XML for a CI system, or an
 * HTML page. One small file per format. Called by cli/cmd_compare.c.
 */
#ifndef CUDAL2_COMPARE_FORMS_H
#define CUDAL2_COMPARE_FORMS_H

#include "base/text.h"
#include "compare/compare.h"
#include "compare/formats.h"

#define COMPARE_FORMAT_ID(id, ...) COMPARE_##id,
enum compare_format { COMPARE_FORMATS(COMPARE_FORMAT_ID) COMPARE_FORMAT_COUNT };
extern const char *const compare_format_names[]; /* NULL-terminated */

#define COMPARE_SCHEMA "cudal2-bench/compare"
#define COMPARE_SCHEMA_VERSION 1

/* Of text. */
struct compare_style {
    bool colour;
    unsigned columns; /* of the terminal; 0: no limit */
};

/* *out is owned by the caller (free). All are valid UTF-8 that does nothing to a terminal,
 * whatever contenders and the runs' files are called (plain.h); in JSON a byte that is no part of a character becomes
 * U+FFFD. EXIT_CODE_INTERNAL out of memory. */
int compare_print(const struct compare_runs *c, enum compare_format format, struct compare_style style, char **out,
                  struct error *err);

/* Runs that could not be compared. */
struct compare_failure {
    const char *base, *fresh; /* as named by the user */
    const struct error *why;
};

/* The same for a comparison that did not come about: a reader of the form (a CI system, a merge request) sees that, and
 * why. *out is NULL for text, whose reader has the line on stderr. */
int compare_print_failure(const struct compare_failure *failure, enum compare_format format, char **out,
                          struct error *err);

/* ---- one each; out->failed when out of memory; the style is for text ---- */

/* Every row that is not SAME, and the worst of those that are up to 40 rows in all. Where the terminal is too narrow,
 * columns that tell least go, and remarks follow below the table. */
void compare_form_text(struct text *out, const struct compare_runs *c, struct compare_style style);
/* The 20 largest changes, and up to 20 candidates without a figure. */
void compare_form_markdown(struct text *out, const struct compare_runs *c, struct compare_style style);
void compare_form_json(struct text *out, const struct compare_runs *c, struct compare_style style);
/* A suite for each mode and reference, a case for each cell and candidate. SLOWER is a failure, MISSING and INVALID are
 * errors, AMBIGUOUS is skipped; the text is in the element's body. */
void compare_form_junit(struct text *out, const struct compare_runs *c, struct compare_style style);

/* One page with the data of JSON inside. */
void compare_form_html(struct text *out, const struct compare_runs *c, struct compare_style style);

void compare_failure_markdown(struct text *out, const struct compare_failure *failure);
/* The members of a comparison that are known: outcome, exit_code, the paths; no rows. */
void compare_failure_json(struct text *out, const struct compare_failure *failure);
/* One suite of one case, an error of the type that the exit status has a name for. */
void compare_failure_junit(struct text *out, const struct compare_failure *failure);
void compare_failure_html(struct text *out, const struct compare_failure *failure);

/* ---- what they share ---- */

/* "no regression", or the line of compare_outcome. */
void compare_headline(const struct compare_runs *c, struct error *line);
/* Path, commit, time and device of one side. */
void compare_describe_side(struct text *out, const struct side *s);
/* Which loss counts, and why, for the modes that the rows have. */
void compare_describe_delta(struct text *out, const struct compare_runs *c);
/* What a reader should know besides: forced differences, a family too large for so few groups, SAME that says little,
 * what --confirm did or could do, candidates without a base. One line each, beginning with `before`. */
void compare_describe_notes(struct text *out, const struct compare_runs *c, const char *before);
/* The change of speed against the reference, a ratio minus 1; and the candidate's speedup on one side. */
double compare_change(const struct compare_row *row);
double compare_speedup(struct sample side);
/* The least loss of speed that the row's groups could have shown, a share of the speed. */
double compare_resolution(const struct compare_row *row);
/* The p-value of the direction that the change points to. */
double compare_p(const struct compare_row *row);
/* "measured again; -6.1% at first; blind to losses below 12.0%; another variant", or the reason of a row without
 * figures; "" for the others. */
void compare_remark(const struct compare_row *row, char *out, size_t capacity);

#endif
