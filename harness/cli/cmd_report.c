#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "result/result.h"

static bool is_journal(const char *path)
{
    size_t length = strlen(path);
    return length > 6 && strcmp(path + length - 6, ".jsonl") == 0;
}

int report_print(const char *path, struct error *err)
{
    cJSON *result = NULL;
    int code = is_journal(path) ? result_from_journal(path, &result, err) : result_read(path, &result, err);
    cJSON_Delete(result);
    return code;
}

int command_report(const struct options *options, struct error *err)
{
    if (options->n_operands != 1)
        return error_set(err, EXIT_CODE_USAGE, "report: expected one result.json or journal");
    return report_print(options->operands[0], err);
}
