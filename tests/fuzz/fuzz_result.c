/*
 * fuzz_result.c - a result.json that is accepted prints, is read again, and prints the same; its speedups can be
 * gathered for every table, it can be shown on a screen, and its times and intervals are such as a run can have.
 */
#include "fuzz.h"

#include "report/dataset.h"
#include "report/screen.h"
#include "result/result.h"
#include "base/tree.h"

static void gather(const cJSON *result)
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

static void require_times(const cJSON *cell)
{
    const cJSON *contender, *timing;
    cJSON_ArrayForEach(contender, tree_member(cell, "contenders"))
    {
        cJSON_ArrayForEach(timing, tree_member(contender, "timings"))
        {
            const cJSON *median = tree_member(timing, "median_ns");
            bool named = strcmp(timing->string, "device") == 0 || strcmp(timing->string, "event") == 0 ||
                         strcmp(timing->string, "wall") == 0;
            require(!named || !median || cJSON_IsNull(median) || tree_number(timing, "median_ns") > 0);
        }
    }
}

static void require_intervals(const cJSON *list)
{
    const cJSON *pair;
    cJSON_ArrayForEach(pair, list)
    {
        const cJSON *ci = tree_member(pair, "ci95"), *low = ci ? ci->child : NULL;
        if (low && cJSON_IsNumber(low) && cJSON_IsNumber(low->next))
            require(low->valuedouble <= low->next->valuedouble);
    }
}

static void show(const cJSON *result)
{
    static const struct screen_options options = {.columns = 80};
    struct error err = {0};
    const cJSON *cell;
    char *text = NULL;
    cJSON_ArrayForEach(cell, tree_member(result, "cells"))
    {
        require_times(cell);
        require_intervals(tree_member(cell, "speedups"));
        require_intervals(tree_member(cell, "aa"));
    }
    int code = screen_report(result, &options, &text, &err);
    require(code == 0 || code == EXIT_CODE_DATA);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    cJSON *result = NULL, *again = NULL;
    int code = result_parse("fuzz", (const char *)data, size, &result, &err);
    if (code) {
        require_refusal(code, &err);
        require(result == NULL);
        return 0;
    }
    gather(result);
    show(result);
    char *first = result_print(result), *second = NULL;
    require(first != NULL);
    /* A key of the reader's own beside a stranger's that differs in case only ("rOle") is what cannot be read again. */
    if (result_parse("again", first, strlen(first), &again, &err))
        require(strstr(err.text, "differ only in case") != NULL);
    else
        require((second = result_print(again)) && strcmp(first, second) == 0);
    free(first);
    free(second);
    cJSON_Delete(result);
    cJSON_Delete(again);
    return 0;
}
