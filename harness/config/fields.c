#include "config/fields.h"

#include <math.h>
#include <string.h>

const char *const gap_names[] = {"poisson", "uniform", "fixed", NULL};
const char *const activity_names[] = {"sample", "all", "off", NULL};
const char *const protocol_names[] = {"adaptive", "paper", NULL};

#define AT(field) offsetof(struct config, field)
#define MIB 1048576.0
#define DAY_SECONDS 86400.0

const struct config_field config_fields[] = {
    {"", "workspace_bytes", FIELD_BYTES, AT(workspace_bytes), 0, 1048576 * MIB, 64 * MIB, NULL},
    {"", "protocol", FIELD_CHOICE, AT(protocol), 0, 0, PROTOCOL_ADAPTIVE, protocol_names},
    {"", "other_timings_every", FIELD_COUNT, AT(other_timings_every), 1, 1000, 4, NULL},
    {"server", "gap", FIELD_CHOICE, AT(gap.kind), 0, 0, GAP_POISSON, gap_names},
    {"server", "mean_gap_ms", FIELD_MILLIS, AT(gap.mean_ns), 0.001, 60000, 2, NULL},
    {"server", "cache", FIELD_CHOICE, AT(cache[MODE_SERVER]), 0, 0, CACHE_WARM, cache_state_names},
    {"offline", "cache", FIELD_CHOICE, AT(cache[MODE_OFFLINE]), 0, 0, CACHE_WARM, cache_state_names},
    {"stop", "min_blocks", FIELD_COUNT, AT(stop.min_blocks), 2, 65536, 32, NULL},
    {"stop", "look_every", FIELD_COUNT, AT(stop.look_every), 1, 65536, 8, NULL},
    {"stop", "max_blocks", FIELD_COUNT, AT(stop.max_blocks), 2, 65536, 256, NULL},
    {"stop", "group_blocks", FIELD_COUNT, AT(stop.group_blocks), 1, 65536, 2, NULL},
    {"stop", "offline_half_width", FIELD_NUMBER, AT(stop.delta[MODE_OFFLINE]), 0.0001, 1, 0.005, NULL},
    {"stop", "server_half_width", FIELD_NUMBER, AT(stop.delta[MODE_SERVER]), 0.0001, 1, 0.02, NULL},
    {"stop", "least_blocks", FIELD_COUNT, AT(stop.least_blocks), 0, 65536, 0, NULL},
    {"stop", "max_cell_seconds", FIELD_NUMBER, AT(stop.max_cell_seconds[MODE_OFFLINE]), 0.01, DAY_SECONDS, 20, NULL},
    {"stop", "server_max_cell_seconds", FIELD_NUMBER, AT(stop.max_cell_seconds[MODE_SERVER]), 0, DAY_SECONDS, 0, NULL},
    {"stop", "hopeless_share", FIELD_NUMBER, AT(stop.hopeless_share), 0, 1, 0, NULL},
    {"stop", "hopeless_within", FIELD_NUMBER, AT(stop.hopeless_within[MODE_OFFLINE]), 0, 1000, 0, NULL},
    {"stop", "server_hopeless_within", FIELD_NUMBER, AT(stop.hopeless_within[MODE_SERVER]), 0, 1000, 0, NULL},
    {"limits", "setup_seconds", FIELD_NUMBER, AT(limits.setup_seconds), 0.1, DAY_SECONDS, 60, NULL},
    {"limits", "verify_seconds", FIELD_NUMBER, AT(limits.verify_seconds), 0.1, DAY_SECONDS, 60, NULL},
    {"limits", "launch_seconds", FIELD_NUMBER, AT(limits.launch_seconds), 0.1, DAY_SECONDS, 30, NULL},
    {"limits", "tune_seconds", FIELD_NUMBER, AT(limits.tune_seconds), 0.1, DAY_SECONDS, 120, NULL},
    {"limits", "memory_bytes", FIELD_BYTES, AT(limits.memory_bytes), 0, 1048576 * MIB, 0, NULL},
    {"paper", "warmup_seconds", FIELD_NUMBER, AT(paper.warmup_seconds), 0, 3600, 10, NULL},
    {"paper", "pair_seconds", FIELD_NUMBER, AT(paper.pair_seconds), 0.1, 3600, 30, NULL},
    {"paper", "tune_warmup_rounds", FIELD_COUNT, AT(paper.tune_warmup_rounds), 0, 10000, 50, NULL},
    {"paper", "tune_rounds", FIELD_COUNT, AT(paper.tune_rounds), 1, 10000, 100, NULL},
    {"verify", "enabled", FIELD_FLAG, AT(verify), 0, 0, true, NULL},
    {"verify", "seeds", FIELD_COUNT, AT(verify_seeds), 1, 100, 2, NULL},
    {"verify", "cache", FIELD_FLAG, AT(verify_cache), 0, 0, true, NULL},
    {"verify", "time_anyway", FIELD_FLAG, AT(time_anyway), 0, 0, false, NULL},
    {"verify", "only", FIELD_FLAG, AT(verify_only), 0, 0, false, NULL},
    {"verify", "honesty", FIELD_FLAG, AT(honesty), 0, 0, true, NULL},
    {"verify", "activity", FIELD_CHOICE, AT(activity), 0, 0, ACTIVITY_SAMPLE, activity_names},
    {"tune", "rounds", FIELD_COUNT, AT(tune_rounds), 1, 10000, 12, NULL},
};
const size_t config_n_fields = sizeof config_fields / sizeof config_fields[0];

const char *const config_sections[] = {"server", "offline", "stop", "limits", "paper", "verify", "tune", NULL};

/* Keys that a reader of their own takes care of. */
static const char *const top_keys[] = {
    "$schema", "schema", "schema_version", "name",       "description", "grid",   "shapes", "dtype", "accumulate",
    "layouts", "modes",  "baselines",      "candidates", "optional",    "timing", "aa",     "seed",  NULL};
static const char *const grid_keys[] = {"m", "n", "k", NULL};
static const char *const shape_keys[] = {"m", "n", "k", "label", NULL};

static size_t copy_keys(const char *const from[], const char *keys[], size_t count)
{
    for (size_t i = 0; from[i]; i++)
        keys[count++] = from[i];
    return count;
}

size_t config_keys(const char *section, const char *keys[CONFIG_KEYS_MAX + 1])
{
    size_t count = 0;
    if (strcmp(section, "grid") == 0)
        count = copy_keys(grid_keys, keys, 0);
    else if (strcmp(section, "shapes[]") == 0)
        count = copy_keys(shape_keys, keys, 0);
    else if (!section[0])
        count = copy_keys(config_sections, keys, copy_keys(top_keys, keys, 0));
    for (size_t i = 0; i < config_n_fields; i++) {
        if (strcmp(config_fields[i].section, section) == 0)
            keys[count++] = config_fields[i].key;
    }
    keys[count] = NULL;
    return count;
}

/* Puts a value, in the file's unit, where the field lives. */
static void field_set(const struct config_field *field, struct config *c, double value)
{
    void *place = (char *)c + field->offset;
    switch (field->kind) {
    case FIELD_COUNT:
    case FIELD_CHOICE: /* gcc and clang give these enums the size of unsigned */
        *(unsigned *)place = (unsigned)value;
        break;
    case FIELD_BYTES:
        *(uint64_t *)place = (uint64_t)value;
        break;
    case FIELD_NUMBER:
        *(double *)place = value;
        break;
    case FIELD_MILLIS: /* whole nanoseconds, so that writing and reading again gives the same value */
        *(double *)place = round(value * 1e6);
        break;
    case FIELD_FLAG:
        *(bool *)place = value != 0;
        break;
    }
}

_Static_assert(sizeof(enum gap_kind) == sizeof(unsigned) && sizeof(enum cache_state) == sizeof(unsigned) &&
                   sizeof(enum protocol) == sizeof(unsigned) && sizeof(enum activity_choice) == sizeof(unsigned),
               "FIELD_CHOICE writes an unsigned");

static double field_get(const struct config_field *field, const struct config *c)
{
    const void *place = (const char *)c + field->offset;
    switch (field->kind) {
    case FIELD_COUNT:
    case FIELD_CHOICE:
        return *(const unsigned *)place;
    case FIELD_BYTES:
        return (double)*(const uint64_t *)place;
    case FIELD_NUMBER:
        return *(const double *)place;
    case FIELD_MILLIS:
        return *(const double *)place / 1e6;
    case FIELD_FLAG:
        break;
    }
    return *(const bool *)place;
}

int config_field_read(const struct config_field *field, struct json_at at, struct config *c, struct error *err)
{
    int64_t integer = 0;
    double number = 0;
    bool flag = false;
    int choice = 0;
    int code = 0;
    switch (field->kind) {
    case FIELD_COUNT:
    case FIELD_BYTES:
        code = json_read_int(at, (int64_t)field->low, (int64_t)field->high, &integer, err);
        number = (double)integer;
        break;
    case FIELD_NUMBER:
    case FIELD_MILLIS:
        code = json_read_number(at, field->low, field->high, &number, err);
        break;
    case FIELD_FLAG:
        code = json_read_bool(at, &flag, err);
        number = flag;
        break;
    case FIELD_CHOICE:
        code = json_read_choice(at, field->choices, &choice, err);
        number = choice;
        break;
    }
    if (!code)
        field_set(field, c, number);
    return code;
}

void config_field_write(const struct config_field *field, const struct config *c, cJSON *object)
{
    double value = field_get(field, c);
    if (field->kind == FIELD_CHOICE)
        cJSON_AddStringToObject(object, field->key, field->choices[(size_t)value]);
    else if (field->kind == FIELD_FLAG)
        cJSON_AddBoolToObject(object, field->key, value != 0);
    else
        json_put_number(object, field->key, value);
}

void config_defaults(struct config *c)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < config_n_fields; i++)
        field_set(&config_fields[i], c, config_fields[i].standard);
    c->dtype = CUDAL2_F16;
    c->layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN);
    c->modes = (1u << MODE_OFFLINE) | (1u << MODE_SERVER);
    c->headline = TIMING_DEVICE;
}
