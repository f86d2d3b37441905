/*
 * fuzz_json.c - whatever json_parse accepts, cJSON accepts too, and printing it and parsing that gives the same tree.
 */
#include "fuzz.h"

#include "base/json.h"

#define MAX_BYTES (1u << 20)

static void check_print(const cJSON *tree, bool formatted)
{
    cJSON *again = NULL;
    struct error err;
    char *text = json_print(tree, formatted);
    /* Formatting may outgrow the cap of the input; that is no fault. */
    if (json_parse(text, strlen(text), 64 * (size_t)MAX_BYTES, "printed", &again, &err))
        abort();
    if (!cJSON_Compare(tree, again, true))
        abort();
    char *second = json_print(again, formatted);
    if (strcmp(text, second) != 0) /* exact numbers: cJSON_Compare allows a little */
        abort();
    free(text);
    free(second);
    cJSON_Delete(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON *tree = NULL;
    struct error err = {0, ""};
    int code = json_parse((const char *)data, size, MAX_BYTES, "fuzz", &tree, &err);
    if (code) {
        /* Only the text can be at fault, and the error says so in one line. */
        if (code != EXIT_CODE_DATA || err.code != code || tree || !err.text[0] || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    check_print(tree, false);
    check_print(tree, true);
    cJSON_Delete(tree);
    return 0;
}
