/*
 * counters_list.c - reads which metrics are asked for, in JSON or on a command line. A name goes onto ncu's command
 * line, so that nothing but a metric's name is one. Relies on ncu_csv.h. Called by serve/submission.c and
 * cli/cmd_verify.c.
 */
#include "run/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "run/ncu_csv.h"

static const char expected[] = "expected names of ncu's metrics, as in \"dram__bytes.sum\"";

static int add_name(struct json_at at, struct text *list, struct error *err)
{
    const char *name;
    if (json_read_string(at, &name, err))
        return err->code;
    if (!ncu_is_metric(name, strlen(name)))
        return json_fail(at, err, "%s", expected);
    text_add(list, "%s%s", list->length > 0 ? "," : "", name);
    return 0;
}

static int read_names(struct json_at at, struct text *list, struct error *err)
{
    struct json_at element;
    const cJSON *node = NULL;
    int index, count, code = json_read_array(at, 1, &count, err);
    if (code == 0 && count > COUNTERS_METRICS)
        code = json_fail(at, err, "expected at most %d metrics", COUNTERS_METRICS);
    while (code == 0 && json_each(at, &node, &index, &element))
        code = add_name(element, list, err);
    if (code == 0 && list->length >= COUNTERS_LIST_MAX)
        code = json_fail(at, err, "expected at most %d bytes of names", COUNTERS_LIST_MAX - 1);
    return code;
}

int counters_read(struct json_at at, char **out, struct error *err)
{
    struct text list = {0};
    *out = NULL;
    if (cJSON_IsFalse(at.node))
        return 0;
    if (!cJSON_IsTrue(at.node) && !cJSON_IsArray(at.node))
        return json_expected(at, err, "true, false, or an array of metrics");
    int code = cJSON_IsTrue(at.node) ? 0 : read_names(at, &list, err);
    if (code == 0)
        text_add(&list, "%s", "");
    if (code == 0 && (list.failed || !list.bytes))
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for metrics");
    if (code != 0)
        text_free(&list);
    else
        *out = list.bytes;
    return code;
}

int counters_check(const char *list, struct error *err)
{
    size_t n = 0;
    if (strlen(list) >= COUNTERS_LIST_MAX)
        return error_set(err, EXIT_CODE_USAGE, "--counters: at most %d bytes of names", COUNTERS_LIST_MAX - 1);
    for (const char *at = list; *at; n++) {
        size_t length = strcspn(at, ",");
        if (!ncu_is_metric(at, length))
            return error_set(err, EXIT_CODE_USAGE, "--counters=%.80s: %s", list, expected);
        at += length;
        at += *at == ',';
    }
    return n <= COUNTERS_METRICS
               ? 0
               : error_set(err, EXIT_CODE_USAGE, "--counters: %zu metrics, at most %d", n, COUNTERS_METRICS);
}
