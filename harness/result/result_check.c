/*
 * result_check.c - a table of what a result's members must be, walked over a file before anybody reads it by name.
 * Called by result.c when a result is read.
 */
#include "result/result_check.h"

#include <math.h>
#include <stdint.h>

#include "result/result.h"

enum kind {
    /* words */
    IS_TEXT,
    IS_NAME, /* a text that must be there, and not empty */
    IS_FLAG,
    /* whole numbers */
    IS_COUNT,
    IS_SIZE,
    IS_INDEX,
    /* figures: null stands for one that is not known */
    IS_TIME,
    IS_SPAN, /* a time that may be 0 */
    IS_AMOUNT,
    IS_SHARE,
    IS_SPEEDUP,
    IS_FIGURE,
    IS_INTERVAL,
    /* what holds others */
    IS_OBJECT,
    IS_LIST, /* of objects */
    IS_TEXTS,
    IS_MAP /* of objects by name */
};

/* What holds for some members of an object. */
struct rule {
    enum kind kind;
    bool needed;
    const struct rule *inner; /* of the object, or of each that a list or map holds */
    const char *keys[16];     /* to the first NULL; an empty list ends the rules of an object */
};

/* What no clock, counter or ratio of ours comes near. A time below a picosecond would be one of nothing. */
#define COUNT_MAX 9007199254740992
#define TIME_MAX 1e15
#define FIGURE_MAX 1e21 /* 100 times the longest time over the shortest */
static const struct {
    double low, high;
} ranges[] = {[IS_TIME] = {1e-3, TIME_MAX}, [IS_SPAN] = {0, TIME_MAX}, [IS_AMOUNT] = {0, FIGURE_MAX},
              [IS_SHARE] = {0, 1},          [IS_SPEEDUP] = {-1, 1e15}, [IS_FIGURE] = {-FIGURE_MAX, FIGURE_MAX}};

/* ---- the table ---- */

static const struct rule timing[] = {
    {.kind = IS_COUNT, .keys = {"n"}},
    {.kind = IS_TIME,
     .keys = {"median_ns", "mean_ns", "p95_ns", "p99_ns", "median_low_ns", "median_high_ns", "min_ns"}},
    {.kind = IS_AMOUNT, .keys = {"sd_ns"}},
    {.keys = {NULL}}};
/* An empty kernel may take less than the clock can tell. */
static const struct rule empty_kernel[] = {
    {.kind = IS_COUNT, .keys = {"n"}},
    {.kind = IS_SPAN, .keys = {"median_ns", "mean_ns", "p95_ns", "min_ns", "sd_ns"}},
    {.keys = {NULL}}};
static const struct rule timings[] = {{.kind = IS_OBJECT, .inner = timing, .keys = {"device", "event", "wall"}},
                                      {.keys = {NULL}}};
static const struct rule contender[] = {
    {.kind = IS_TEXT, .keys = {"status", "stage", "reason", "family", "layout", "role", "copy_of", "rung"}},
    {.kind = IS_FLAG, .keys = {"invalid", "early", "host_sync"}},
    {.kind = IS_OBJECT, .inner = timings, .keys = {"timings", "equal_path"}},
    {.kind = IS_AMOUNT, .keys = {"tflops", "percent_of_roofline"}},
    {.keys = {NULL}}};
/* Of a pair of contenders, and of a copy and its original. */
static const struct rule pair[] = {
    {.kind = IS_TEXT, .keys = {"candidate", "reference", "contender", "timing"}},
    {.kind = IS_SPEEDUP, .keys = {"geomean", "mean_of_ratios", "ratio_of_means", "paper_max", "geomean_all_blocks"}},
    {.kind = IS_INTERVAL, .keys = {"ci95"}},
    {.kind = IS_COUNT, .keys = {"n", "groups"}},
    {.kind = IS_FLAG, .keys = {"excludes_one"}},
    {.keys = {NULL}}};
static const struct rule cell[] = {{.kind = IS_NAME, .needed = true, .keys = {"key"}},
                                   {.kind = IS_SIZE, .needed = true, .keys = {"m", "n", "k"}},
                                   {.kind = IS_TEXT,
                                    .keys = {"dtype", "accumulate", "mode", "label", "status", "reason", "headline",
                                             "cache", "overlap", "worst_pair"}},
                                   {.kind = IS_INDEX, .keys = {"env"}},
                                   {.kind = IS_COUNT, .keys = {"groups", "blocks", "dropped_blocks"}},
                                   {.kind = IS_FLAG, .keys = {"converged", "coarse"}},
                                   {.kind = IS_SPAN, .keys = {"floor_ns"}},
                                   {.kind = IS_AMOUNT, .keys = {"worst_half_width", "busy_seconds", "wall_seconds"}},
                                   {.kind = IS_OBJECT, .inner = empty_kernel, .keys = {"null_graph"}},
                                   {.kind = IS_MAP, .inner = contender, .keys = {"contenders"}},
                                   {.kind = IS_LIST, .inner = pair, .keys = {"speedups", "equal_path", "aa"}},
                                   {.keys = {NULL}}};

/* Rows of the summary: of the shapes that one pair, copy or contender was measured on. */
static const struct rule row[] = {
    {.kind = IS_TEXT, .keys = {"mode", "dtype", "accumulate", "timing", "candidate", "reference", "contender", "role"}},
    {.kind = IS_COUNT, .needed = true, .keys = {"n"}},
    {.kind = IS_COUNT, .keys = {"wins", "clear_wins", "clear_losses", "with_interval", "excludes_one"}},
    {.kind = IS_SPEEDUP, .keys = {"mean", "geomean", "median"}},
    {.kind = IS_INTERVAL, .keys = {"ci95"}},
    {.kind = IS_SHARE, .keys = {"false_alarm_rate"}},
    {.kind = IS_FIGURE, .keys = {"mean_log_ratio"}},
    {.kind = IS_AMOUNT,
     .keys = {"sd", "mean_of_max", "sd_log_ratio", "median_tflops", "max_tflops", "median_percent_of_roofline"}},
    {.keys = {NULL}}};
static const struct rule left_out[] = {{.kind = IS_TEXT, .keys = {"contender", "status", "reason"}},
                                       {.kind = IS_COUNT, .keys = {"cells"}},
                                       {.keys = {NULL}}};
static const struct rule counts[] = {
    {.kind = IS_COUNT,
     .keys = {"cells", "ok", "partial", "skipped", "failed", "cells_with_slowdown", "dropped_blocks"}},
    {.kind = IS_AMOUNT, .keys = {"busy_seconds", "wall_seconds"}},
    {.keys = {NULL}}};
static const struct rule not_converged[] = {
    {.kind = IS_TEXT, .keys = {"cell", "pair"}}, {.kind = IS_AMOUNT, .keys = {"half_width"}}, {.keys = {NULL}}};
static const struct rule convergence[] = {{.kind = IS_COUNT, .keys = {"measured", "converged", "incomparable"}},
                                          {.kind = IS_SHARE, .keys = {"share"}},
                                          {.kind = IS_LIST, .inner = not_converged, .keys = {"not_converged"}},
                                          {.keys = {NULL}}};
static const struct rule summary[] = {
    {.kind = IS_OBJECT, .inner = counts, .keys = {"counts"}},
    {.kind = IS_OBJECT, .inner = convergence, .keys = {"convergence"}},
    {.kind = IS_LIST, .inner = row, .keys = {"speedups", "equal_path", "rates", "aa"}},
    {.kind = IS_LIST, .inner = left_out, .keys = {"left_out"}},
    {.keys = {NULL}}};
static const struct rule run[] = {{.kind = IS_TEXT, .keys = {"started", "plan_hash"}},
                                  {.kind = IS_COUNT, .keys = {"n_cells"}},
                                  {.kind = IS_FLAG, .keys = {"complete"}},
                                  {.kind = IS_TEXTS, .keys = {"missing"}},
                                  {.keys = {NULL}}};
static const struct rule device[] = {{.kind = IS_TEXT, .keys = {"name", "driver"}},
                                     {.kind = IS_AMOUNT, .keys = {"peak_flops", "peak_flops_f32", "peak_bytes_per_s"}},
                                     {.keys = {NULL}}};
static const struct rule env[] = {{.kind = IS_OBJECT, .inner = device, .keys = {"device"}}, {.keys = {NULL}}};
static const struct rule result[] = {{.kind = IS_LIST, .needed = true, .inner = cell, .keys = {"cells"}},
                                     {.kind = IS_OBJECT, .needed = true, .inner = summary, .keys = {"summary"}},
                                     {.kind = IS_OBJECT, .inner = run, .keys = {"run"}},
                                     {.kind = IS_LIST, .inner = env, .keys = {"env"}},
                                     {.keys = {NULL}}};

/* ---- values ---- */

static int check_text(struct json_at at, struct error *err)
{
    return cJSON_IsString(at.node) ? 0 : json_expected(at, err, "a string");
}

static int check_figure(struct json_at at, enum kind kind, struct error *err)
{
    double ignored;
    return cJSON_IsNull(at.node) ? 0 : json_read_number(at, ranges[kind].low, ranges[kind].high, &ignored, err);
}

static int check_interval(struct json_at at, struct error *err)
{
    const cJSON *low = cJSON_IsArray(at.node) ? at.node->child : NULL;
    const cJSON *high = low ? low->next : NULL;
    if (cJSON_IsNull(at.node))
        return 0;
    if (!high || high->next)
        return json_expected(at, err, "two numbers, the lower end and the upper one");
    if (check_figure(json_element(at, 0), IS_FIGURE, err) || check_figure(json_element(at, 1), IS_FIGURE, err))
        return err->code;
    if (!cJSON_IsNumber(low) || !cJSON_IsNumber(high) || low->valuedouble <= high->valuedouble)
        return 0;
    return json_fail(at, err, "expected the lower end first, found [%.15g, %.15g]", low->valuedouble,
                     high->valuedouble);
}

/* ---- the walk ---- */

static int check_texts(struct json_at list, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at at;
    int index;
    int code = json_read_array(list, 0, &index, err);
    while (code == 0 && json_each(list, &node, &index, &at))
        code = check_text(at, err);
    return code;
}

static int check_object(struct json_at at, const struct rule *rules, struct error *err);

static int check_list(struct json_at list, const struct rule *rules, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at at;
    int index;
    int code = json_read_array(list, 0, &index, err);
    while (code == 0 && json_each(list, &node, &index, &at))
        code = check_object(at, rules, err);
    return code;
}

static int check_map(struct json_at map, const struct rule *rules, struct error *err)
{
    int code = cJSON_IsObject(map.node) ? 0 : json_expected(map, err, "an object");
    for (const cJSON *item = map.node->child; item && code == 0; item = item->next)
        code = check_object(json_member(map, item->string), rules, err);
    return code;
}

static int check_value(struct json_at at, const struct rule *rule, struct error *err)
{
    const char *text;
    bool flag;
    int64_t whole;
    switch (rule->kind) {
    case IS_TEXT:
        return check_text(at, err);
    case IS_NAME:
        return json_read_string(at, &text, err);
    case IS_FLAG:
        return json_read_bool(at, &flag, err);
    case IS_COUNT:
        return json_read_int(at, 0, COUNT_MAX, &whole, err);
    case IS_SIZE:
        return json_read_int(at, 1, COUNT_MAX, &whole, err);
    case IS_INDEX: /* -1: no worker measured the cell */
        return json_read_int(at, -1, INT32_MAX, &whole, err);
    case IS_INTERVAL:
        return check_interval(at, err);
    case IS_OBJECT:
        return cJSON_IsNull(at.node) && !rule->needed ? 0 : check_object(at, rule->inner, err);
    case IS_LIST:
        return check_list(at, rule->inner, err);
    case IS_TEXTS:
        return check_texts(at, err);
    case IS_MAP:
        return check_map(at, rule->inner, err);
    default:
        return check_figure(at, rule->kind, err);
    }
}

/* A path is made only where there is something to look at: a large result has a million members. */
static int check_rule(struct json_at object, const struct rule *rule, struct error *err)
{
    int code = 0;
    for (size_t i = 0; rule->keys[i] && code == 0; i++)
        if (rule->needed || cJSON_GetObjectItemCaseSensitive(object.node, rule->keys[i]))
            code = check_value(json_member(object, rule->keys[i]), rule, err);
    return code;
}

static int check_object(struct json_at at, const struct rule *rules, struct error *err)
{
    int code = cJSON_IsObject(at.node) ? 0 : json_expected(at, err, "an object");
    for (const struct rule *rule = rules; rule->keys[0] && code == 0; rule++)
        code = check_rule(at, rule, err);
    return code;
}

static int check_schema(struct json_at root, struct error *err)
{
    static const char *const schemas[] = {RESULT_SCHEMA, NULL};
    int which;
    int64_t version;
    if (json_read_choice(json_member(root, "schema"), schemas, &which, err))
        return err->code;
    if (json_read_int(json_member(root, "schema_version"), 1, INT32_MAX, &version, err))
        return err->code;
    if (version == RESULT_SCHEMA_VERSION)
        return 0;
    return json_fail(json_member(root, "schema_version"), err,
                     "this is version %d of the result file, and this program reads version %d: use the program that "
                     "wrote it, or make the result again from its journal",
                     (int)version, RESULT_SCHEMA_VERSION);
}

int result_check(struct json_at root, struct error *err)
{
    int code = check_schema(root, err);
    return code ? code : check_object(root, result, err);
}
