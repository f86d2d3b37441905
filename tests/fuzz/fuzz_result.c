/*
 * fuzz_result.c - a result.json that is accepted prints, is read again, and prints the same; its speedups can be
 * gathered for every table.
 */
#include "fuzz.h"

#include "report/dataset.h"
#include "result/result.h"

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
