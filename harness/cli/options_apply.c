/*
 * options_apply.c - overrides a config by what the command line says, value by value. Relies on options.c having
 * parsed it. Called by run_config.c after the file was read.
 */
#include "cli/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One item of a comma-separated list. */
static int add_part(char **names, const char *part, size_t length, struct error *err)
{
    char *name = strndup(part, length);
    if (!name)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a name");
    int code = config_add_name(names, name, err);
    free(name);
    return code;
}

static int replace_baselines(const char *list, struct config *config, struct error *err)
{
    config_drop_names(config->baselines);
    config->baselines_given = true;
    config->optional_baselines = 0; /* these are named */
    for (const char *part = list;; part++) {
        size_t length = strcspn(part, ",");
        if (add_part(config->baselines, part, length, err))
            return error_wrap(err, "--baselines");
        part += length;
        if (!*part)
            return 0;
    }
}

static int add_candidates(const char *const *names, struct config *config, struct error *err)
{
    for (int i = 0; names[i]; i++) {
        if (config_add_name(config->candidates, names[i], err))
            return error_wrap(err, "--candidate");
    }
    return 0;
}

static int apply_aa(const char *name, struct config *config, struct error *err)
{
    if (strlen(name) >= sizeof config->aa_contender)
        return error_set(err, EXIT_CODE_USAGE, "--aa: the name is longer than %zu bytes",
                         sizeof config->aa_contender - 1);
    config->aa = true;
    if (name[0])
        snprintf(config->aa_contender, sizeof config->aa_contender, "%s", name);
    return 0;
}

static int apply_rate(double rate_hz, struct config *config, struct error *err)
{
    double gap_ns = round(1e9 / rate_hz);
    if (!(gap_ns >= 1e3 && gap_ns <= 60e9)) /* the range of server.mean_gap_ms */
        return error_set(err, EXIT_CODE_USAGE, "--rate: expected 1/60 to 1000000 launches a second, found %g", rate_hz);
    config->gap.mean_ns = gap_ns;
    return 0;
}

static int apply_budget(double seconds, struct config *config, struct error *err)
{
    if (!(seconds > 0 && seconds <= 86400)) /* the range of tune.seconds */
        return error_set(err, EXIT_CODE_USAGE, "--equal-budget: expected over 0 to 86400 seconds, found %g", seconds);
    config->race_seconds = seconds;
    return 0;
}

/* Settings that cannot fail. */
static void apply_plain(const struct options *o, struct config *config)
{
    static const uint32_t modes[] = {
        [MODE_CHOICE_OFFLINE] = 1u << MODE_OFFLINE,
        [MODE_CHOICE_SERVER] = 1u << MODE_SERVER,
        [MODE_CHOICE_BOTH] = (1u << MODE_OFFLINE) | (1u << MODE_SERVER),
        [MODE_CHOICE_CHAIN] = 1u << MODE_CHAIN,
    };
    if (options_given(o, OPTION_MODE))
        config->modes = modes[o->mode];
    if (options_given(o, OPTION_PROTOCOL))
        config->protocol = (enum protocol)o->protocol;
    if (options_given(o, OPTION_TIMING)) {
        config->headline_given = true;
        config->headline = (enum timing)o->timing.first;
        config->timings |= o->timing.bits;
        config->overlap = OVERLAP_NONE; /* the older word for one of them */
    }
    if (options_given(o, OPTION_ACCUMULATE))
        config->accumulates = 1u << o->accumulate;
    if (options_given(o, OPTION_CACHE))
        config->cache[MODE_OFFLINE] = config->cache[MODE_SERVER] = (enum cache_state)o->cache;
    if (options_given(o, OPTION_CHOICE))
        config->choice = (enum choice)o->choice;
    if (options_given(o, OPTION_GAP))
        config->gap.kind = (enum gap_kind)o->gap;
    if (options_given(o, OPTION_SEED)) {
        config->seed_given = true;
        config->seed = o->seed;
    }
    if (o->no_verify)
        config->verify = false;
    if (o->verify_again)
        config->verify_cache = false;
    if (options_given(o, OPTION_ACTIVITY))
        config->activity = (enum activity_choice)o->activity;
    if (o->time_anyway)
        config->time_anyway = true;
    if (o->energy)
        config->energy = true;
    if (o->join_rows)
        config->join_rows = true;
    if (o->invariance)
        config->invariance = true;
}

/* Whoever asks for joules and gets no word of them would wait in vain. */
static int check_energy(const struct options *o, const struct config *config, struct error *err)
{
    if (!o->energy || (config->modes & (1u << MODE_OFFLINE)) != 0)
        return 0;
    return error_set(err, EXIT_CODE_USAGE, "--energy is measured in mode offline, and this run has none (--mode)");
}

static int apply_all(const struct options *o, struct config *config, struct error *err)
{
    int code = 0;
    apply_plain(o, config);
    if (options_given(o, OPTION_RATE))
        code = apply_rate(o->rate_hz, config, err);
    if (!code)
        code = check_energy(o, config, err);
    if (!code && options_given(o, OPTION_EQUAL_BUDGET))
        code = apply_budget(o->equal_budget, config, err);
    if (!code && options_given(o, OPTION_AA))
        code = apply_aa(o->aa, config, err);
    if (!code && options_given(o, OPTION_BASELINES))
        code = replace_baselines(o->baselines, config, err);
    if (!code)
        code = add_candidates(o->candidates, config, err);
    return code ? code : config_check(config, err);
}

int options_apply(const struct options *o, struct config *config, struct error *err)
{
    int code = apply_all(o, config, err);
    if (code != EXIT_CODE_DATA)
        return code;
    err->code = EXIT_CODE_USAGE; /* the same complaint, but about the command line */
    if (err->text[0] == '$')     /* a place in what config and options come to together */
        error_wrap(err, "%s with these options", o->config ? o->config : "the config");
    return err->code;
}
