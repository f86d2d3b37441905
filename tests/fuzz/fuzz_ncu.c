/*
 * fuzz_ncu.c - what NVIDIA's ncu printed: read as its table of counters, and as a complaint. What is accepted has
 * finite numbers under names that may be asked for.
 */
#include "fuzz.h"

#include <math.h>

#include "run/ncu_csv.h"

static void check_metrics(const cJSON *metrics)
{
    const cJSON *metric;
    require(cJSON_IsObject(metrics));
    cJSON_ArrayForEach(metric, metrics)
    {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(metric, "value");
        require(ncu_is_metric(metric->string, strlen(metric->string)));
        require(cJSON_IsNull(value) || (cJSON_IsNumber(value) && isfinite(value->valuedouble)));
    }
}

static void check(const cJSON *counters)
{
    const cJSON *kernel, *kernels = cJSON_GetObjectItemCaseSensitive(counters, "kernels");
    check_metrics(cJSON_GetObjectItemCaseSensitive(counters, "metrics"));
    require(cJSON_GetArraySize(kernels) >= 1 && cJSON_GetArraySize(kernels) <= NCU_KERNELS_SHOWN);
    cJSON_ArrayForEach(kernel, kernels)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(kernel, "kernel");
        require(!name || strlen(name->valuestring) < NCU_NAME_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), words[64];
    cJSON *counters = NULL;
    struct error err = {0, ""};
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    int code = ncu_csv_read(text, size % 2 ? "" : "gpu__time_duration.sum,a__b.sum", &counters, &err);
    if (code)
        require_refusal(code, &err);
    else
        check(counters);
    ncu_complaint(text, words, sizeof words);
    require(!strchr(words, '\n'));
    cJSON_Delete(counters);
    free(text);
    return 0;
}
