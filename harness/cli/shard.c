/*
 * shard.c - finds out which shard this process is, and turns a run's spec into that of its shard. Relies on
 * run/shard.h. Called by cmd_run.c and cmd_tune.c.
 */
#include "cli/shard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"

#define NONE "none"
#define COUNT_NAME "CUDAL2_SHARDS"

static bool read_number(const char *text, unsigned *out)
{
    unsigned long value = 0;
    size_t length = text ? strlen(text) : 0;
    if (length == 0 || length > 6 || strspn(text, "0123456789") != length)
        return false;
    value = strtoul(text, NULL, 10);
    *out = (unsigned)value;
    return true;
}

static int check(struct shard *out, const char *name, const char *text, struct error *err)
{
    if (out->count >= 1 && out->count <= SHARD_MAX && out->index < out->count)
        return 0;
    return error_set(err, EXIT_CODE_USAGE, "%s: expected I/N with I from 0 to N-1 and N up to %u, found \"%.40s\"",
                     name, SHARD_MAX, text);
}

/* "3/8" or "none". */
static int parse(const char *name, const char *text, struct shard *out, struct error *err)
{
    char index[16];
    size_t length = strcspn(text, "/");
    *out = (struct shard){0, 0};
    if (strcmp(text, NONE) == 0)
        return 0;
    snprintf(index, sizeof index, "%.*s", (int)(length < sizeof index ? length : sizeof index - 1), text);
    if (!read_number(index, &out->index) || text[length] != '/' || !read_number(text + length + 1, &out->count))
        out->count = 0;
    return check(out, name, text, err);
}

/* Index and count by the words of a scheduler. */
static int pair(const char *name, const char *index, const char *count, struct shard *out, struct error *err)
{
    char text[64];
    snprintf(text, sizeof text, "%.20s/%.20s", index, count);
    return parse(name, text, out, err);
}

/* A part of an array (--array=3,7) has the count of the part: only a whole one says N by itself. */
static int from_array(shard_lookup lookup, struct shard *out, struct error *err)
{
    static const char name[] = "SLURM_ARRAY_TASK_ID";
    const char *index = lookup(name), *count = lookup(COUNT_NAME), *step = lookup("SLURM_ARRAY_TASK_STEP");
    unsigned low = 1, high = 0, n = 0;
    if (count)
        return pair(name, index, count, out, err);
    bool whole = read_number(lookup("SLURM_ARRAY_TASK_MIN"), &low) &&
                 read_number(lookup("SLURM_ARRAY_TASK_MAX"), &high) &&
                 read_number(lookup("SLURM_ARRAY_TASK_COUNT"), &n) && low == 0 && n == high + 1 &&
                 (!step || strcmp(step, "1") == 0);
    if (whole)
        return pair(name, index, lookup("SLURM_ARRAY_TASK_COUNT"), out, err);
    return error_set(err, EXIT_CODE_USAGE,
                     "%s: this array is not 0-(N-1) in steps of 1, so the number of shards is unknown: set " COUNT_NAME
                     "=N, or --shard none to measure everything",
                     name);
}

static bool is_several(const char *count)
{
    unsigned n;
    return read_number(count, &n) && n > 1;
}

static int from_scheduler(shard_lookup lookup, struct shard *out, const char **source, struct error *err)
{
    const char *step_tasks = lookup("SLURM_STEP_NUM_TASKS"), *ranks = lookup("OMPI_COMM_WORLD_SIZE");
    *source = "SLURM_ARRAY_TASK_ID";
    if (lookup(*source))
        return from_array(lookup, out, err);
    *source = "JOB_COMPLETION_INDEX";
    if (lookup(*source) && lookup(COUNT_NAME))
        return pair(*source, lookup(*source), lookup(COUNT_NAME), out, err);
    *source = "SLURM_PROCID";
    if (lookup(*source) && is_several(step_tasks)) /* a batch script has it too, and is no task of several */
        return pair(*source, lookup(*source), lookup("SLURM_NTASKS") ? lookup("SLURM_NTASKS") : step_tasks, out, err);
    *source = "OMPI_COMM_WORLD_RANK";
    if (lookup(*source) && is_several(ranks))
        return pair(*source, lookup(*source), ranks, out, err);
    *source = "";
    return 0;
}

int shard_resolve(const char *option, shard_lookup lookup, struct shard *out, const char **source, struct error *err)
{
    *out = (struct shard){0, 0};
    *source = "--shard";
    if (option)
        return parse(*source, option, out, err);
    *source = "CUDAL2_SHARD";
    if (lookup(*source) && lookup(*source)[0])
        return parse(*source, lookup(*source), out, err);
    return from_scheduler(lookup, out, source, err);
}

static const char *from_environment(const char *name)
{
    return getenv(name);
}

static int refuse_no_gpu(const struct shard *shard, struct error *err)
{
    char node[256] = "";
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (gethostname(node, sizeof node - 1) != 0)
        node[0] = '\0';
    return error_set(
        err, EXIT_CODE_TEMPORARY,
        "shard %u/%u: no GPU is visible in this task on %s (CUDA_VISIBLE_DEVICES %s%s): ask the scheduler for "
        "one, or give --device cpu",
        shard->index, shard->count, node, visible ? "is " : "is not set", visible ? visible : "");
}

int shard_open(const struct options *options, struct shard *out, struct error *err)
{
    const char *source;
    int code = shard_resolve(options->shard, from_environment, out, &source, err);
    if (code || out->count == 0)
        return code;
    if (strcmp(options->device, "cpu") != 0 && device_count_gpus() <= 0)
        return refuse_no_gpu(out, err);
    if (!options->quiet)
        fprintf(stderr, "shard %u of %u, counted from 0 (%s); --shard none measures everything\n", out->index,
                out->count, source);
    return 0;
}

int shard_apply(const struct shard *shard, struct run_spec *spec, struct error *err)
{
    char whole[PATH_MAX], own[PATH_MAX];
    if (shard->count == 0)
        return 0;
    snprintf(whole, sizeof whole, "%s", spec->output);
    if (run_shard_path(whole, shard, own, err) || run_spec_name(spec, own, err))
        return err->code;
    spec->shard = *shard;
    spec->resume = true;
    spec->lock_seconds = SHARD_LOCK_SECONDS;
    return 0;
}
