/*
 * record_form.c - reads of a record's JSON that give a clear error, and the sizes that writer and reader share. Called
 * by record_read.c and record_series.c; record_write.c takes the sizes.
 */
#include "record/record_form.h"

#include <stdlib.h>
#include <string.h>

/* What a contender says besides its times. */
static const char *const contender_keys[] = {
    "name",       "layout",     "family",  "layout_suffix", "candidate",   "status",    "stage",
    "reason",     "invalid",    "copy_of", "rung",          "rung_reason", "host_sync", "launches",
    "primers",    "attributes", "tuning",  "verification",  "deviation",   "late",      "early",
    "invariance", "energy",     "joined",  "join_reason"};
#define CONTENDER_KEYS (sizeof contender_keys / sizeof *contender_keys)

int form_contender_keys(struct json_at at, struct error *err)
{
    const char *keys[CONTENDER_KEYS + 2 * TIMING_COUNT + 1];
    size_t n = CONTENDER_KEYS;
    memcpy(keys, contender_keys, sizeof contender_keys);
    for (int t = 0; t < TIMING_COUNT; t++) {
        keys[n++] = timing_names[t];
        if (timing_is_single((enum timing)t))
            keys[n++] = timing_equal_names[t];
    }
    keys[n] = NULL;
    return json_only_keys(at, keys, err);
}

int form_cell_keys(struct json_at at, struct error *err)
{
    static const char *const keys[] = {"m",
                                       "n",
                                       "k",
                                       "args",
                                       "dtype",
                                       "accumulate",
                                       "mode",
                                       "label",
                                       "headline",
                                       "cache",
                                       "overlap",
                                       "status",
                                       "reason",
                                       "worker",
                                       "group_blocks",
                                       "visits",
                                       "passes",
                                       "held",
                                       "dropped_blocks",
                                       "converged",
                                       "coarse",
                                       "worst_half_width",
                                       "worst_pair",
                                       "order",
                                       "verification",
                                       "others_every",
                                       "gap",
                                       "usual",
                                       "contenders",
                                       "null_graph",
                                       "paper_pairs",
                                       "rotation",
                                       "chain",
                                       "health",
                                       "phase_seconds",
                                       "part_seconds",
                                       "busy_seconds",
                                       NULL};
    return json_only_keys(at, keys, err);
}

int form_no_memory(struct json_at at, struct error *err)
{
    return error_set(err, EXIT_CODE_INTERNAL, "%s: %s: out of memory", at.source, at.path);
}

/* Optional members: absent leaves *out as it is. */
int form_take_text(struct json_at object, const char *key, char *out, size_t capacity, struct error *err)
{
    const char *text;
    struct json_at at = json_member(object, key);
    if (!at.node)
        return 0;
    if (json_read_string(at, &text, err))
        return err->code;
    if (strlen(text) >= capacity)
        return json_fail(at, err, "longer than %zu bytes", capacity - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

int form_need_text(struct json_at object, const char *key, char *out, size_t capacity, struct error *err)
{
    if (!json_member(object, key).node)
        return json_fail(json_member(object, key), err, "is missing");
    return form_take_text(object, key, out, capacity, err);
}

int form_take_unsigned(struct json_at object, const char *key, unsigned *out, struct error *err)
{
    int64_t value = 0;
    struct json_at at = json_member(object, key);
    if (!at.node)
        return 0;
    if (json_read_int(at, 0, FORM_BLOCKS_MAX, &value, err))
        return err->code;
    *out = (unsigned)value;
    return 0;
}

int form_take_bool(struct json_at object, const char *key, bool *out, struct error *err)
{
    struct json_at at = json_member(object, key);
    return at.node ? json_read_bool(at, out, err) : 0;
}

int form_take_number(struct json_at object, const char *key, double high, double *out, struct error *err)
{
    struct json_at at = json_member(object, key);
    return at.node ? json_read_number(at, 0, high, out, err) : 0;
}

int form_take_tree(struct json_at object, const char *key, cJSON **out, struct error *err)
{
    struct json_at at = json_member(object, key);
    if (!at.node)
        return 0;
    if (!cJSON_IsObject(at.node) && !cJSON_IsArray(at.node))
        return json_fail(at, err, "expected an object or an array");
    *out = cJSON_Duplicate(at.node, true);
    return *out ? 0 : form_no_memory(at, err);
}
