/*
 * lines.h - the lines of a tuning table in the making: their order, and the file that they become.
 */
#ifndef CUDAL2_TUNE_LINES_H
#define CUDAL2_TUNE_LINES_H

#include "base/json.h"
#include "model/problem.h"

/* One entry of the table. The texts are others'. */
struct table_line {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    const char *family, *variant;
    const char *runner_up, *reference;                           /* NULL: none */
    const char *commit;                                          /* that measured it; NULL: the table's own */
    double time_ns, low_ns, high_ns, runner_up_ns, reference_ns; /* NaN: unknown */
};

struct table_lines {
    struct table_line *items; /* owned */
    size_t n;
};

int lines_add(struct table_lines *lines, const struct table_line *line, struct error *err);
void lines_free(struct table_lines *lines);

/* Into the order of a table: by family, sizes and layout, whatever the order in which they were measured. */
void lines_sort(struct table_lines *lines);

/* The one of the first n lines, which are in order, that is of the same family, sizes and layout; NULL: none. */
struct table_line *lines_find(const struct table_lines *lines, size_t n, const struct table_line *like);

/* The text of a table with this head, owned by the caller. EXIT_CODE_DATA for more variants than a table can have. */
int lines_print(const struct table_lines *lines, const cJSON *head, char **text, struct error *err);

#endif
