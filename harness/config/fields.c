/*
 * fields.c - the one table of plain settings: key, kind, range, default, place in struct config. A new key is one row
 * here and one in configs/config.schema.json. Called by config.c, which parses by it, write.c, and cli/cmd_init.c for
 * `init`.
 */
#include "config/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct config, field)
#define MIB 1048576.0
#define DAY_SECONDS 86400.0

const struct config_field config_fields[] = {
    {"", "workspace_bytes", FIELD_BYTES, AT(workspace_bytes), 0, 1048576 * MIB, 512 * MIB, NULL,
     "Workspace that contenders may use, shared by all."},
    {"", "protocol", FIELD_CHOICE, AT(protocol), 0, 0, PROTOCOL_ADAPTIVE, protocol_names,
     "adaptive: blocks until the stop rule is met; paper: the fixed times of the CUDA-L2 paper."},
    {"", "overlap", FIELD_CHOICE, AT(overlap), 0, 0, OVERLAP_NONE, overlap_names,
     "Of older configs: launches asks for timing device-row where the timing is device."},
    {"", "other_timings_every", FIELD_COUNT, AT(other_timings_every), 1, 1000, 4, NULL,
     "The timings other than the headline are taken in every n-th block, from block 32 on in every 4n-th; in server "
     "mode and where launches take over 30 us in every 2n-th, from block 8 on in every 4n-th."},
    {"", "energy", FIELD_FLAG, AT(energy), 0, 0, false, NULL,
     "Offline, behind each cell's blocks: joules a launch of every contender by the GPU's energy counter, over a "
     "second and ten of its steps at least."},
    {"", "join_rows", FIELD_FLAG, AT(join_rows), 0, 0, false, NULL,
     "device-row: launches whose kernels are seen to wait for the one ahead may overlap it, though they do not ask "
     "for it."},
    {"server", "gap", FIELD_CHOICE, AT(gap.kind), 0, 0, GAP_POISSON, gap_names,
     "Distribution of the idle gaps; uniform is 0.5 to 1.5 of the mean."},
    {"server", "mean_gap_ms", FIELD_MILLIS, AT(gap.mean_ns), 0.001, 60000, 2, NULL,
     "Mean idle gap before each launch, milliseconds."},
    {"server", "cache", FIELD_CHOICE, AT(cache[MODE_SERVER]), 0, 0, CACHE_WARM, cache_state_names,
     "State of the device's cache before each launch: warm (the operands were just used), rotate (another set of "
     "operands each time, and emptied where those in between hold less than it), flush (emptied), left (all contenders "
     "share their operands, and a launch finds what the one before it left, as in the paper's loop)."},
    {"offline", "cache", FIELD_CHOICE, AT(cache[MODE_OFFLINE]), 0, 0, CACHE_WARM, cache_state_names,
     "State of the device's cache before each launch: warm (the operands were just used), rotate (another set of "
     "operands each time, and emptied where those in between hold less than it), flush (emptied), left (all contenders "
     "share their operands, and a launch finds what the one before it left, as in the paper's loop)."},
    {"chain", "layers", FIELD_COUNT, AT(chain_layers), 0, 64, 0, NULL,
     "Timed layers of a chain, each with weights of its own; 0: 4 to 32, so that the weights of all hold two caches."},
    {"stop", "min_blocks", FIELD_COUNT, AT(stop.min_blocks), 2, 65536, 32, NULL,
     "Blocks before the first look; at least two groups."},
    {"stop", "look_every", FIELD_COUNT, AT(stop.look_every), 1, 65536, 8, NULL, "Blocks between looks."},
    {"stop", "max_blocks", FIELD_COUNT, AT(stop.max_blocks), 2, 65536, 256, NULL, "Cap; not below min_blocks."},
    {"stop", "group_blocks", FIELD_COUNT, AT(stop.group_blocks), 1, 65536, 2, NULL,
     "Blocks that share allocations and inputs; divides min_blocks and look_every."},
    {"stop", "offline_half_width", FIELD_NUMBER, AT(stop.delta[MODE_OFFLINE]), 0.0001, 1, 0.005, NULL,
     "Half-width of the log ratio that is enough offline (0.005: about 0.5%)."},
    {"stop", "server_half_width", FIELD_NUMBER, AT(stop.delta[MODE_SERVER]), 0.0001, 1, 0.02, NULL,
     "The same in server mode."},
    {"stop", "chain_half_width", FIELD_NUMBER, AT(stop.delta[MODE_CHAIN]), 0.0001, 1, 0.01, NULL,
     "The same in mode chain."},
    {"stop", "least_blocks", FIELD_COUNT, AT(stop.least_blocks), 0, 65536, 0, NULL,
     "Blocks that a cell gets that has not converged, even when its time is up; at most max_blocks."},
    {"stop", "max_cell_seconds", FIELD_NUMBER, AT(stop.max_cell_seconds[MODE_OFFLINE]), 0.01, DAY_SECONDS, 20, NULL,
     "Cap on the measuring of one cell, seconds."},
    {"stop", "server_max_cell_seconds", FIELD_NUMBER, AT(stop.max_cell_seconds[MODE_SERVER]), 0, DAY_SECONDS, 0, NULL,
     "The same in server mode, where most of a cell's time is gaps; 0: as max_cell_seconds."},
    {"stop", "chain_max_cell_seconds", FIELD_NUMBER, AT(stop.max_cell_seconds[MODE_CHAIN]), 0, DAY_SECONDS, 0, NULL,
     "The same in mode chain; 0: as max_cell_seconds."},
    {"stop", "hopeless_share", FIELD_NUMBER, AT(stop.hopeless_share), 0, 1, 0, NULL,
     "Share of that cap after which a cell ends that will not converge by then, if its widest interval narrows with "
     "the square root of the time; 0: never."},
    {"stop", "hopeless_within", FIELD_NUMBER, AT(stop.hopeless_within[MODE_OFFLINE]), 0, 1000, 0, NULL,
     "A cell without hope goes on while its widest interval is over so many times what is wanted; 0: it ends however "
     "wide that is. 1.25 or less: it never ends for want of hope."},
    {"stop", "server_hopeless_within", FIELD_NUMBER, AT(stop.hopeless_within[MODE_SERVER]), 0, 1000, 0, NULL,
     "The same in server mode."},
    {"stop", "near_baselines", FIELD_NUMBER, AT(stop.near_baselines), 0, 1000, 0, NULL,
     "A baseline that takes more than so many times the fastest one's time does not keep a cell going; 0: all do."},
    {"stop", "offline_long_half_width", FIELD_NUMBER, AT(stop.long_delta), 0, 1, 0, NULL,
     "offline_half_width where the fastest launch takes 1.6 ms or more; 0: the same."},
    {"stop", "offline_lead_half_width", FIELD_NUMBER, AT(stop.lead_delta), 0, 1, 0, NULL,
     "offline_half_width where the lead (of the fastest candidate over the fastest baseline) is ten times this or "
     "more; of smaller leads a tenth is enough. At most offline_half_width: no lead makes a difference."},
    {"limits", "setup_seconds", FIELD_NUMBER, AT(limits.setup_seconds), 0.1, DAY_SECONDS, 60, NULL,
     "Setup, compilation included."},
    {"limits", "verify_seconds", FIELD_NUMBER, AT(limits.verify_seconds), 0.1, DAY_SECONDS, 60, NULL, "Verification."},
    {"limits", "launch_seconds", FIELD_NUMBER, AT(limits.launch_seconds), 0.1, DAY_SECONDS, 30, NULL,
     "One timed segment."},
    {"limits", "tune_seconds", FIELD_NUMBER, AT(limits.tune_seconds), 0.1, DAY_SECONDS, 120, NULL,
     "Racing the variants of one contender."},
    {"limits", "memory_bytes", FIELD_BYTES, AT(limits.memory_bytes), 0, 1048576 * MIB, 0, NULL,
     "Larger cells are skipped; 0: what the device has free."},
    {"paper", "warmup_seconds", FIELD_NUMBER, AT(paper.warmup_seconds), 0, 3600, 10, NULL,
     "Warm-up of a pair, seconds."},
    {"paper", "pair_seconds", FIELD_NUMBER, AT(paper.pair_seconds), 0.1, 3600, 30, NULL,
     "Measuring of a pair, seconds."},
    {"paper", "tune_warmup_rounds", FIELD_COUNT, AT(paper.tune_warmup_rounds), 0, 10000, 50, NULL,
     "Autotuning: untimed rounds."},
    {"paper", "tune_rounds", FIELD_COUNT, AT(paper.tune_rounds), 1, 10000, 100, NULL, "Autotuning: timed rounds."},
    {"verify", "enabled", FIELD_FLAG, AT(verify), 0, 0, true, NULL, "Off only for debugging: the record says so."},
    {"verify", "seeds", FIELD_COUNT, AT(verify_seeds), 1, 100, 2, NULL, "Random inputs of the exact-match check."},
    {"verify", "cache", FIELD_FLAG, AT(verify_cache), 0, 0, true, NULL,
     "What passed before on the same GPU, driver, libraries and kernels is not verified again; the record says "
     "cached."},
    {"verify", "time_anyway", FIELD_FLAG, AT(time_anyway), 0, 0, false, NULL,
     "Time what fails verification too; its times are marked invalid and count nowhere."},
    {"verify", "only", FIELD_FLAG, AT(verify_only), 0, 0, false, NULL,
     "End each cell after verification: nothing is timed."},
    {"verify", "invariance", FIELD_FLAG, AT(invariance), 0, 0, false, NULL,
     "Find out of every contender whether rows of C have the same bits for every M, and over 20 launches."},
    {"verify", "honesty", FIELD_FLAG, AT(honesty), 0, 0, true, NULL,
     "Check what contenders do while they are timed: outputs, inputs, memory, streams and clocks (docs/trust.md)."},
    {"verify", "activity", FIELD_CHOICE, AT(activity), 0, 0, ACTIVITY_SAMPLE, activity_names,
     "On a GPU: when everything has been timed, watch one launch of the contenders by CUPTI in a process of its own, "
     "in all cells, or (sample) of every contender in a tenth of them and of every other variant of a candidate once "
     "(docs/trust.md)."},
    {"tune", "choice", FIELD_CHOICE, AT(choice), 0, 0, CHOICE_RACE, kernel_choice_names,
     "How a candidate's kernel is chosen for a problem that no tuning table has: race (neighbours in the table and the "
     "model's choice race once, and the winner is remembered), zero (the first choice, no race), table (neighbours in "
     "the table alone), portfolio (race among the kernels that are compiled ahead, as ever without a compiler)."},
    {"verify", "timed", FIELD_CHOICE, AT(timed), 0, 0, TIMED_SAMPLE, activity_names,
     "Renew inputs before launches that are timed and judge their outputs: before each launch on the CPU, and before "
     "random segments on a GPU (sample); before all of them (all); or never (off). See docs/trust.md."},
    {"verify", "rivals", FIELD_COUNT, AT(rivals), 0, 16, 2, NULL,
     "Cells, drawn when everything has been timed, in which baselines are timed again without the plugins that raced. "
     "Where one took longer beside them, pairs of fresh workers tell whether a plugin slows it by more than 3%: that "
     "one is named (rival_disturbed). On a GPU only in runs of five minutes, or where the config has this key."},
    {"verify", "process_per_plugin", FIELD_FLAG, AT(process_per_plugin), 0, 0, true, NULL,
     "On the CPU device: each plugin runs in a process of its own, which stands still whenever none of its hooks runs, "
     "and one processor is kept for the process that times it (docs/trust.md)."},
    {"tune", "seconds", FIELD_NUMBER, AT(race_seconds), 0, DAY_SECONDS, 0, NULL,
     "Seconds that each contender may take for a problem to list its variants, compile them and race them; who has "
     "more "
     "than that looks at the first. 0: as long as it takes."},
    {"tune", "rounds", FIELD_COUNT, AT(tune_rounds), 1, 10000, 12, NULL, "Timed rounds."},
};
const size_t config_n_fields = sizeof config_fields / sizeof config_fields[0];

/* Keys that were called otherwise: configs and journals of older releases have the former name, which is read and never
 * written. A result keeps the config of its journal as it stands there. */
static const struct {
    const char *section, *former, *key;
} renamed[] = {{"verify", "apart", "process_per_plugin"}};

const char *const config_sections[] = {"server", "offline", "chain", "stop", "limits", "paper", "verify", "tune", NULL};

/* Keys that a reader of their own takes care of. */
static const char *const top_keys[] = {
    "$schema", "schema", "schema_version", "name",       "description", "grid",   "shapes", "dtype", "accumulate",
    "layouts", "modes",  "baselines",      "candidates", "optional",    "timing", "aa",     "seed",  NULL};
static const char *const grid_keys[] = {"m", "n", "k", NULL};
static const char *const shape_keys[] = {"m", "n", "k", "lda", "ldb", "ldc", "alpha", "beta", "label", NULL};

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
                   sizeof(enum overlap) == sizeof(unsigned) && sizeof(enum choice) == sizeof(unsigned) &&
                   sizeof(enum protocol) == sizeof(unsigned) && sizeof(enum activity_choice) == sizeof(unsigned) &&
                   sizeof(enum timed_choice) == sizeof(unsigned),
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

struct json_at config_field_find(const struct config_field *field, struct json_at object)
{
    struct json_at at = json_member(object, field->key);
    for (size_t i = 0; !at.node && i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i].section, field->section) == 0 && strcmp(renamed[i].key, field->key) == 0)
            at = json_member(object, renamed[i].former);
    return at;
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
    snprintf(c->name, sizeof c->name, "run");
    c->dtype = CUDAL2_F16;
    c->dtype_native = true;
    c->accumulates = CUDAL2_BIT(CUDAL2_ACC_F16);
    c->layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN);
    c->modes = (1u << MODE_OFFLINE) | (1u << MODE_SERVER);
    c->cache[MODE_CHAIN] = CACHE_ROTATE;
    c->headline = TIMING_DEVICE;
    c->timings = timing_defaults();
}

bool config_text_plain(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    }
    return true;
}

int config_read_short(struct json_at at, char *out, struct error *err)
{
    const char *text;
    if (json_read_string(at, &text, err))
        return err->code;
    if (strlen(text) >= CONFIG_LABEL_MAX)
        return json_fail(at, err, "longer than %d bytes", CONFIG_LABEL_MAX - 1);
    if (!config_text_plain(text))
        return json_fail(at, err, "has a control character");
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

/* A former key, where the key that it is called now is not given too. */
static bool is_former_key(struct json_at object, const char *section, const char *key)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i].section, section) == 0 && strcmp(renamed[i].former, key) == 0)
            return !json_member(object, renamed[i].key).node;
    return false;
}

void config_check_keys(struct json_at at, const char *section, struct faults *faults)
{
    const char *keys[CONFIG_KEYS_MAX + 1];
    const cJSON *key = NULL;
    struct error err;
    config_keys(section, keys);
    if (!cJSON_IsObject(at.node)) {
        faults_none(faults, json_expected(at, &err, "an object"), &err);
        return;
    }
    while (json_unknown_key(at, keys, &key, &err))
        if (!is_former_key(at, section, key->string))
            faults_none(faults, err.code, &err);
}
