/*
 * verify_counters.c - `verify --counters`: has ncu count one launch of each kernel that passed, and puts what it says
 * beside the verdict. Relies on run/counters.h. Called by cmd_verify.c.
 */
#include "cli/verify_counters.h"

#include <stdio.h>
#include <string.h>

#include "base/tree.h"
#include "run/counters.h"

/* What was named on the command line and brought this contender; NULL: nothing. */
static const char *operand_of(const struct findings *f, const char *contender)
{
    const cJSON *name, *asked;
    for (asked = tree_first(f->origins); asked != NULL; asked = asked->next)
        cJSON_ArrayForEach(name, asked)
        {
            if (cJSON_IsString(name) && strcmp(name->valuestring, contender) == 0)
                return asked->string;
        }
    return NULL;
}

static bool is_counted(const cJSON *contender)
{
    return strcmp(tree_text(contender, "role"), "candidate") == 0 &&
           strcmp(tree_text(contender, "verdict"), "passed") == 0;
}

/* A key is "f16-f32-64x64x64": dtype, accumulate type, shape. */
static bool take(const struct options *options, const struct devices *devices, const struct findings *f,
                 const char *key, cJSON *contender)
{
    char accumulate[8];
    const char *name = tree_text(contender, "name"), *from = strchr(key, '-');
    const char *shape = from != NULL ? strchr(from + 1, '-') : NULL, *operand = operand_of(f, name);
    if (shape == NULL || operand == NULL)
        return true;
    snprintf(accumulate, sizeof accumulate, "%.*s", (int)(shape - from - 1), from + 1);
    const struct counters_request request = {.kernel = operand,
                                             .contender = name,
                                             .problem = shape + 1,
                                             .accumulate = accumulate,
                                             .device = devices->spec[0],
                                             .lock = devices->lock[0],
                                             .config = options->config,
                                             .plugins = options->plugins,
                                             .kernels = options->kernels,
                                             .metrics = options->counters,
                                             .seconds = options->timeout_seconds > 0 ? options->timeout_seconds
                                                                                     : COUNTERS_SECONDS};
    cJSON *counters = counters_take(&request);
    return counters != NULL && cJSON_AddItemToObject(contender, "counters", counters);
}

int verify_counters(const struct options *options, const struct devices *devices, struct findings *f, struct error *err)
{
    const cJSON *problem;
    cJSON_ArrayForEach(problem, f->problems)
    {
        cJSON *contender;
        cJSON_ArrayForEach(contender, cJSON_GetObjectItemCaseSensitive(problem, "contenders"))
        {
            if (is_counted(contender) && !take(options, devices, f, tree_text(problem, "problem"), contender))
                return error_set(err, EXIT_CODE_INTERNAL, "out of memory for counters");
        }
    }
    return 0;
}
