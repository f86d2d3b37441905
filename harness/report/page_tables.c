/*
 * page_tables.c - Tables 5, 6 and 8 for the page, as words: by time, by launch and by contender. Relies on tables.c and
 * page_put.c. Called by page_data.c.
 */
#include "report/page.h"

#include <string.h>

#include "report/page_put.h"
#include "report/tables.h"

struct made {
    struct text *out;
    size_t n;
};

/* What the table is of, from a column that readers do not see; the same in every row. "" where it has none. */
static void put_identity(struct text *out, const struct table *table, const char *key)
{
    const char *word = "";
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->column[c].hidden && strcmp(table->column[c].key, key) == 0)
            word = table_at(table, 0, c)->text;
    text_add(out, "\"%s\":", key);
    page_put_string(out, word);
    text_add(out, ",");
}

static void put_heads(struct text *out, const struct table *table)
{
    char head[132];
    text_add(out, ",\"heads\":[");
    for (size_t c = 0; c < table->n_columns; c++) {
        table_head(&table->column[c], head);
        text_add(out, c ? "," : "");
        page_put_string(out, head);
    }
    text_add(out, "],\"words\":[");
    for (size_t c = 0; c < table->n_columns; c++)
        text_add(out, "%s%d", c ? "," : "", table->column[c].left);
    text_add(out, "]");
}

static void put_rows(struct text *out, const struct table *table)
{
    text_add(out, ",\"rows\":[");
    for (size_t row = 0; row < table_rows(table); row++) {
        text_add(out, row ? ",[" : "[");
        for (size_t c = 0; c < table->n_columns; c++) {
            text_add(out, c ? "," : "");
            page_put_string(out, table_at(table, row, c)->text);
        }
        text_add(out, "]");
    }
    text_add(out, "]");
}

static int put_table(void *context, int number, const struct table *table)
{
    static const char *const identity[] = {"candidate", "mode", "dtype", "accumulate"};
    struct made *made = context;
    struct table shown;
    (void)number;
    if (table_rows(table) == 0)
        return 0;
    table_for_readers(table, &shown);
    made->out->failed |= shown.failed;
    text_add(made->out, made->n++ ? ",\n{" : "\n{");
    for (size_t i = 0; i < sizeof identity / sizeof *identity; i++)
        put_identity(made->out, table, identity[i]);
    text_add(made->out, "\"title\":");
    page_put_string(made->out, table->title);
    put_heads(made->out, &shown);
    put_rows(made->out, &shown);
    text_add(made->out, ",\"note\":");
    page_put_string(made->out, table->note);
    text_add(made->out, "}");
    table_free(&shown);
    return 0;
}

void page_tables(const struct result *result, struct text *out)
{
    static const int numbers[] = {5, 6, 8};
    struct made made = {out, 0};
    text_add(out, ",\n\"tables\":[");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        out->failed |= tables_make(NULL, result, numbers[i], put_table, &made) != 0;
    text_add(out, "]");
}
