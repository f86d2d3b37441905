/*
 * table_json.c - prints a table as JSON, numbers unrounded. Relies on base/tree.h. Called through table.h by report.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/table.h"
#include "base/tree.h"

static void put_interval(struct tree *t, const char *key, const struct table_cell *cell)
{
    const double ends[] = {round_to(cell->value, 1e7), round_to(cell->high, 1e7)};
    tree_put(t, key, cJSON_CreateDoubleArray(ends, 2));
}

static cJSON *row_to_json(const struct table *s, size_t row)
{
    struct tree t = tree_begin();
    for (size_t c = 0; c < s->n_columns; c++) {
        const struct table_cell *cell = table_at(s, row, c);
        char whole[sizeof s->column->key + 4];
        bool share = s->column[c].pair == TABLE_SHARE;
        bool missing = isnan(cell->value) && strcmp(cell->text, "-") == 0;
        if (share) {
            snprintf(whole, sizeof whole, "%s_of", s->column[c].key);
            tree_put_number(&t, whole, cell->high);
        }
        if (!isnan(cell->high) && !share)
            put_interval(&t, s->column[c].key, cell);
        else if (missing || !isnan(cell->value))
            tree_put_number(&t, s->column[c].key, round_to(cell->value, 1e7));
        else
            tree_put(&t, s->column[c].key, cJSON_CreateString(cell->text));
    }
    return tree_finish(&t);
}

cJSON *table_to_json(const struct table *s)
{
    struct tree t = tree_begin();
    cJSON *rows = cJSON_CreateArray();
    tree_put_text(&t, "title", s->title);
    for (size_t row = 0; row < table_rows(s) && rows; row++)
        if (!tree_append(rows, row_to_json(s, row)))
            rows = NULL;
    tree_put(&t, "rows", rows);
    if (s->note[0])
        tree_put_text(&t, "note", s->note);
    t.failed |= s->failed;
    return tree_finish(&t);
}
