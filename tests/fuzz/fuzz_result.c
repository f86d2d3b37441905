/*
 * fuzz_result.c - a result.json that is accepted prints, is read again, and prints the same; its speedups can be
 * gathered for every table, it can be shown on a screen, and its times and intervals are such as a run can have.
 */
#include "fuzz.h"

#include "report/dataset.h"
#include "report/screen.h"
#include "result/make.h"

#include <math.h>

static void gather(const struct result *result)
{
    struct dataset all = {0};
    struct aggregate sum;
    struct error err = {0};
    int code = dataset_add_result(&all, result, NULL, &err);
    require(code == 0 || code == EXIT_CODE_DATA);
    for (size_t i = 0; i < all.n; i++)
        line_aggregate(&all.lines[i], &sum);
    dataset_free(&all);
}

static void require_interval(const struct result_interval *ci)
{
    require(isnan(ci->low) == isnan(ci->high) && !(ci->low > ci->high));
}

static void require_cell(const struct result_cell *cell)
{
    for (size_t i = 0; i < cell->n_contenders; i++)
        for (int t = 0; t < TIMING_COUNT; t++)
            require(isnan(cell->contenders[i].timings[t].median_ns) || cell->contenders[i].timings[t].median_ns > 0);
    for (size_t i = 0; i < cell->n_speedups; i++)
        require_interval(&cell->speedups[i].ci95);
    for (size_t i = 0; i < cell->n_aa; i++)
        require_interval(&cell->aa[i].ci95);
}

static void show(const struct result *result)
{
    static const struct screen_options options = {.columns = 80};
    struct error err = {0};
    char *text = NULL;
    for (size_t i = 0; i < result->n_cells; i++)
        require_cell(&result->cells[i]);
    int code = screen_report(result, &options, &text, &err);
    require(code == 0 || code == EXIT_CODE_DATA);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct result *result = NULL, *again = NULL;
    int code = result_parse("fuzz", (const char *)data, size, &result, &err);
    if (code) {
        require_refusal(code, &err);
        require(result == NULL);
        return 0;
    }
    gather(result);
    show(result);
    char *first = result_print(result->json), *second = NULL;
    require(first != NULL);
    /* A key of the reader's own beside a stranger's that differs in case only ("rOle") is what cannot be read again. */
    if (result_parse("again", first, strlen(first), &again, &err))
        require(strstr(err.text, "differ only in case") != NULL);
    else
        require((second = result_print(again->json)) && strcmp(first, second) == 0);
    free(first);
    free(second);
    result_free(result);
    result_free(again);
    return 0;
}
