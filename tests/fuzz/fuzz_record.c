/*
 * fuzz_record.c - a record that is read from arbitrary JSON prints, reads back, and prints the same
 * again; everything computed from it (speedups, stop rule, result cell) stands whatever the numbers are.
 */
#include "fuzz.h"

#include "measure/stop.h"
#include "record/record.h"
#include "result/cell.h"

static struct cell_record *read_record(const char *text, size_t length)
{
    struct error err = {0};
    struct cell_record *record = NULL;
    cJSON *tree = NULL;
    if (json_parse(text, length, 1u << 20, "fuzz", &tree, &err) == 0)
        (void)record_from_json(json_root(tree, "fuzz"), &record, &err);
    cJSON_Delete(tree);
    return record;
}

static char *print_record(const struct cell_record *record)
{
    cJSON *tree = record_to_json(record);
    require(tree != NULL);
    char *text = json_print(tree, false);
    cJSON_Delete(tree);
    require(text != NULL);
    return text;
}

static void compute(struct cell_record *record)
{
    const struct stop_config stop = {.min_blocks = 1, .look_every = 1, .max_blocks = 1000, .delta = {0.005, 0.02}};
    const struct peak peak = {.flops = 1e15, .bytes_per_s = 1e12};
    cJSON *cell = cell_json_of(record, &peak);
    require(cell != NULL);
    cJSON_Delete(cell);
    (void)stop_decide(&stop, record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cell_record *first = read_record((const char *)data, size);
    if (!first)
        return 0;
    char *once = print_record(first);
    struct cell_record *second = read_record(once, strlen(once));
    require(second != NULL);
    char *twice = print_record(second);
    require(strcmp(once, twice) == 0);
    if (first->blocks <= 4096)
        compute(first);
    free(once);
    free(twice);
    record_free(first);
    record_free(second);
    return 0;
}
