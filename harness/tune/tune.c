/*
 * tune.c - the search as a run with a director: what each cell races, what is told, where the table goes. Relies on
 * run/supervisor.h and family.c. Called by cli/cmd_tune.c.
 */
#include "tune/tune.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "compile/kernels.h"
#include "tune/family.h"
#include "worker/cell.h"

#define MAX_FAMILIES 16

/* Blocks of a final, each a group with allocations and inputs of its own: eight choose and eight time. */
#define MIN_BLOCKS 16
#define MAX_BLOCKS 48
#define MAX_SERVER_BLOCKS 32 /* each costs a gap a contender */
#define GROUP_BLOCKS 1
#define LOOK_EVERY 4
#define DELTA 0.006
#define LAUNCH_SECONDS 5.0
#define TUNE_SECONDS 15.0

struct tuner {
    const struct tune_request *request;
    struct run_director director;
    struct device_info device;
    bool ready;
    size_t n_families;
    struct family families[MAX_FAMILIES];
    struct cudal2_problem *problems;
    /* With --update the table as it was before; in server mode the offline one; NULL: none. */
    struct tuned_table *known[FAMILY_TABLES];
    cJSON *kept; /* array of every search sent: a cell may be sent again after its worker died */
    char table_path[4096];
    struct table_summary summary;
};

/* ---- the config ---- */

static size_t count_names(char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

/* cuBLASLt's autotuning is the yardstick; the other baselines would only take time. */
static void keep_yardstick(struct config *config)
{
    static const char yardstick[] = "cublaslt-autotuning";
    char *kept = NULL;
    for (size_t i = 0; config->baselines[i]; i++)
        if (strcmp(config->baselines[i], yardstick) == 0)
            kept = config->baselines[i];
    for (size_t i = 0; kept && config->baselines[i]; i++) {
        if (config->baselines[i] != kept)
            free(config->baselines[i]);
        config->baselines[i] = NULL;
    }
    if (kept)
        config->baselines[0] = kept;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

int tune_adjust(struct config *config, struct error *err)
{
    if (count_names(config->candidates) == 0)
        return error_set(err, EXIT_CODE_USAGE, "there is nothing to tune: the config has no candidate (--candidate)");
    bool f16 = config_dtype(config, true) == CUDAL2_F16;
    if (f16 && __builtin_popcount(config->accumulates) != 1)
        return error_set(err, EXIT_CODE_USAGE,
                         "a table is for one accumulate type: choose with --accumulate f16 or --accumulate f32");
    if (config->modes == CUDAL2_BIT(MODE_CHAIN))
        return error_set(err, EXIT_CODE_USAGE, "mode chain has no tables of its own: it uses those of offline");
    if (__builtin_popcount(config->modes) != 1)
        config->modes = CUDAL2_BIT(MODE_OFFLINE);
    keep_yardstick(config);
    config->aa = false;
    config->protocol = PROTOCOL_ADAPTIVE;
    config->verify = true;
    config->time_anyway = config->verify_only = false;
    config->activity = ACTIVITY_OFF; /* a table is no result: who uses it is watched */
    config->stop.min_blocks = MIN_BLOCKS;
    config->stop.look_every = LOOK_EVERY;
    config->stop.max_blocks = (config->modes & CUDAL2_BIT(MODE_SERVER)) != 0 ? MAX_SERVER_BLOCKS : MAX_BLOCKS;
    config->stop.group_blocks = GROUP_BLOCKS;
    for (int mode = 0; mode < MODE_COUNT; mode++)
        config->stop.delta[mode] = DELTA;
    config->limits.launch_seconds = least(config->limits.launch_seconds, LAUNCH_SECONDS);
    config->limits.tune_seconds = least(config->limits.tune_seconds, TUNE_SECONDS);
    config->other_timings_every = MAX_BLOCKS;
    config->race_seconds = 0; /* what is compiled all races */
    return config_check(config, err);
}

/* ---- telling ---- */

static void note(const struct tuner *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(const struct tuner *t, const char *format, ...)
{
    char line[1024];
    va_list args;
    if (!t->request->note)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    t->request->note(t->request->note_context, line);
}

static void tell_compiled(const struct tuner *t, const struct family *f, const struct family_compiled *c)
{
    note(t, "%s: %zu kernels compiled; rejected: %zu spill, %zu serialised, %zu failed%s%s", module_set_name(f->set),
         c->compiled, c->spilled, c->serialised, c->failed, c->last_failure[0] ? ": " : "", c->last_failure);
}

/* ---- where the table goes ---- */

/* What snprintf said of the path: whether it fits. */
static int check_path(int n, size_t capacity, struct error *err)
{
    return n < 0 || (size_t)n >= capacity
               ? error_set(err, EXIT_CODE_DATA,
                           "the tuning table's path has over %zu bytes: give --output in a shorter directory",
                           capacity - 1)
               : 0;
}

/* Where `run` looks for the table of that name. */
static int path_of(const struct tuner *t, const char *name, char *out, size_t capacity, struct error *err)
{
    char directory[2048];
    if (kernel_directory_find(t->request->kernel_directory, directory, sizeof directory, err))
        return err->code;
    return check_path(snprintf(out, capacity, "%s/tuned/%s.json", directory, name), capacity, err);
}

/* --output, or there. */
static int target_path(const struct tuner *t, const char *name, char *out, size_t capacity, struct error *err)
{
    const char *output = t->request->output;
    if (!output)
        return path_of(t, name, out, capacity, err);
    return check_path(snprintf(out, capacity, "%s", output), capacity, err);
}

/* What this search will have measured: known before it has. */
static struct merge_kind kind_of(const struct tuner *t)
{
    const struct config *config = t->request->config;
    bool on_cuda = t->device.device_bit == CUDAL2_ON_CUDA;
    enum cudal2_dtype dtype = config_dtype(config, on_cuda);
    enum mode mode = (config->modes & CUDAL2_BIT(MODE_SERVER)) ? MODE_SERVER : MODE_OFFLINE;
    bool f32 = (config_accumulates(config, dtype) & CUDAL2_BIT(CUDAL2_ACC_F32)) != 0;
    return (struct merge_kind){.device = t->device.name,
                               .dtype = dtype,
                               .accumulate = f32 ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16,
                               .mode = mode,
                               .timing = timing_choose(config->headline, timing_bits(t->device.device_bit), mode),
                               .cache = config->cache[mode]};
}

static void name_of(const struct tuner *t, const struct merge_kind *kind, char name[TUNED_NAME_MAX])
{
    const struct cudal2_problem problem = {.dtype = kind->dtype, .accumulate = kind->accumulate};
    tuned_name(&t->device, &problem, kind->mode, name);
}

int tune_target(const struct tuner *t, char *out, size_t capacity, struct error *err)
{
    const struct merge_kind kind = kind_of(t);
    char name[TUNED_NAME_MAX];
    name_of(t, &kind, name);
    return target_path(t, name, out, capacity, err);
}

/* A search of hours must not end with a table that it cannot go into. What that has of a problem races again. */
static int read_target(struct tuner *t, struct error *err)
{
    const struct merge_kind kind = kind_of(t);
    char path[sizeof t->table_path];
    int code = tune_target(t, path, sizeof path, err);
    return code || merge_read(path, &kind, &t->known[0], err) ? error_wrap(err, "--update") : 0;
}

/* What is fastest in a row is rarely slow from idle, and `run` falls back on it where the server table has nothing. A
 * search can do without. */
static void read_offline(struct tuner *t)
{
    struct merge_kind kind = kind_of(t);
    char name[TUNED_NAME_MAX], path[sizeof t->table_path];
    struct error refused;
    kind.mode = MODE_OFFLINE;
    kind.cache = t->request->config->cache[MODE_OFFLINE];
    name_of(t, &kind, name);
    if (path_of(t, name, path, sizeof path, &refused) || merge_read(path, &kind, &t->known[1], &refused))
        note(t, "the offline table's entries stay out: %s", refused.text);
}

static int read_tables(struct tuner *t, struct error *err)
{
    bool server = kind_of(t).mode == MODE_SERVER && t->device.device_bit == CUDAL2_ON_CUDA;
    if (server)
        read_offline(t);
    return t->request->update ? read_target(t, err) : 0;
}

/* ---- the first worker is up ---- */

static int read_figure(struct json_at device, const char *key, double *out, struct error *err)
{
    struct json_at at = json_member(device, key);
    *out = 0;
    return !at.node || cJSON_IsNull(at.node) ? 0 : json_read_number(at, 0, 1e18, out, err);
}

/* The device as its worker describes it (worker/environment.h). */
static int read_device(struct device_info *d, const cJSON *env, struct error *err)
{
    struct json_at device = json_member(json_root(env, "environment"), "device");
    double cc, sms, clock, l2;
    const char *name, *kind;
    if (json_read_string(json_member(device, "name"), &name, err) ||
        json_read_string(json_member(device, "kind"), &kind, err) || read_figure(device, "cc", &cc, err) ||
        read_figure(device, "sm_count", &sms, err) || read_figure(device, "max_sm_clock_mhz", &clock, err) ||
        read_figure(device, "l2_bytes", &l2, err) || read_figure(device, "peak_flops", &d->peak_flops, err) ||
        read_figure(device, "peak_bytes_per_s", &d->peak_bytes_per_s, err))
        return err->code;
    snprintf(d->name, sizeof d->name, "%s", name);
    d->kind = strcmp(kind, "cuda") == 0 ? "cuda" : "cpu";
    d->device_bit = strcmp(kind, "cuda") == 0 ? CUDAL2_ON_CUDA : CUDAL2_ON_CPU;
    d->cc = (int)cc;
    d->sm_count = (int)sms;
    d->max_sm_clock_mhz = (int)clock;
    d->l2_bytes = (uint64_t)l2;
    return 0;
}

static int list_problems(struct tuner *t, const struct family *f, struct error *err)
{
    const struct config *config = t->request->config;
    t->problems = calloc(config->n_shapes, sizeof *t->problems);
    if (!t->problems)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a list of problems");
    for (size_t i = 0; i < config->n_shapes; i++) {
        t->problems[i] = shape_problem(&config->shapes[i], f->dtype, f->accumulate);
        if (!problem_is_plain(&t->problems[i]))
            return error_set(err, EXIT_CODE_DATA,
                             "$.shapes[%zu]: a search takes packed problems only, without alpha and beta", i);
    }
    return 0;
}

/* Once: the rules that strike combinations off hardly differ between the layouts. */
static void tell_refused(const struct tuner *t, const struct family *f)
{
    const struct space *s = &f->spaces[f->layouts & CUDAL2_BIT(CUDAL2_NN) ? CUDAL2_NN : CUDAL2_TN];
    for (size_t i = 0; i < s->n_refusals; i++)
        note(t, "refused: %zu combinations: %s", s->refusals[i].count, s->refusals[i].why);
}

static int compile_family(struct tuner *t, struct family *f, struct error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const struct pool_request pool = {
        .workers = cpus < 1 ? 1 : (unsigned)cpus, .seconds = TUNE_COMPILE_SECONDS, .stop = t->request->stop};
    const struct family_problems problems = {t->problems, t->request->config->n_shapes};
    struct family_compiled compiled;
    note(t, "%s: choosing among %zu configurations (nn) and %zu (tn) for %zu shapes, compiling in %u processes",
         module_set_name(f->set), f->spaces[CUDAL2_NN].n_configurations, f->spaces[CUDAL2_TN].n_configurations,
         problems.n, pool.workers);
    tell_refused(t, f);
    if (family_compile(f, &problems, &pool, &compiled, err))
        return err->code;
    tell_compiled(t, f, &compiled);
    return 0;
}

static size_t breadth_of(const struct tune_request *request)
{
    if (request->breadth > 0)
        return request->breadth;
    return request->explore ? TUNE_EXPLORED : TUNE_BREADTH;
}

static int add_family(struct tuner *t, const char *candidate, struct error *err)
{
    const struct config *config = t->request->config;
    const struct merge_kind kind = kind_of(t);
    struct family *f = &t->families[t->n_families];
    bool has_space = false;
    if (t->n_families == MAX_FAMILIES)
        return error_set(err, EXIT_CODE_DATA, "more than %d candidates to search", MAX_FAMILIES);
    *f = (struct family){
        .asked = candidate,
        .described = {.info = t->device},
        .layouts = config->layouts,
        .dtype = kind.dtype,
        .accumulate = kind.accumulate,
        .workspace_bytes = config->workspace_bytes,
        .alone = !timing_table[kind.timing].overlaps,
        .idle = kind.mode == MODE_SERVER,
        .breadth = breadth_of(t->request),
        .at_random = t->request->explore ? breadth_of(t->request) * TUNE_EXPLORED_RANDOM / TUNE_EXPLORED : 0,
        .known = {t->known[0], t->known[1]},
    };
    int code = family_open(f, candidate, t->request->kernel_directory, &has_space, err);
    if (code || !has_space)
        return code;
    t->n_families++;
    if (!t->problems && list_problems(t, f, err))
        return err->code;
    return t->request->dry ? 0 : compile_family(t, f, err);
}

int tune_prepare(struct tuner *t, const struct device_info *device, struct error *err)
{
    char *const *candidates = t->request->config->candidates;
    t->ready = true;
    t->device = *device;
    if (read_tables(t, err))
        return err->code;
    for (size_t i = 0; candidates[i] && t->device.device_bit == CUDAL2_ON_CUDA; i++)
        if (add_family(t, candidates[i], err))
            return err->code;
    return 0;
}

size_t tune_families(const struct tuner *t, const struct family **out)
{
    *out = t->families;
    return t->n_families;
}

static int on_ready(void *context, const cJSON *env, struct error *err)
{
    struct tuner *t = context;
    struct device_info device = {0};
    if (t->ready)
        return 0;
    return read_device(&device, env, err) ? err->code : tune_prepare(t, &device, err);
}

/* ---- a cell ---- */

static void add_contenders(const struct family *f, const struct cudal2_problem *problem, cJSON *search)
{
    char name[CONTENDER_NAME_MAX];
    for (int layout = 0; layout < 2; layout++) {
        if (!(f->layouts & CUDAL2_BIT(layout)))
            continue;
        snprintf(name, sizeof name, "%s-%s", module_set_name(f->set), layout_names[layout]);
        cJSON_AddItemToObject(search, name, family_choose(f, (enum cudal2_layout)layout, problem));
    }
}

static int on_request(void *context, struct cell_request *request, struct error *err)
{
    struct tuner *t = context;
    if (!t->ready)
        return error_set(err, EXIT_CODE_INTERNAL, "a search was asked for before its device is known");
    cJSON *search = cJSON_CreateObject();
    if (!search)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a search");
    for (size_t i = 0; i < t->n_families; i++)
        add_contenders(&t->families[i], &request->problem, search);
    cJSON_AddNullToObject(search, "*");
    cJSON_AddItemToArray(t->kept, search);
    request->search = search;
    request->finalists = TUNE_FINALISTS;
    return 0;
}

/* ---- the end ---- */

/* The kernel directory's tuned/ may not be there yet. */
static int make_parent(const char *path, struct error *err)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 0, path);
    return directory[0] ? file_make_directories(directory, err) : 0;
}

/* Opens the sets by itself: with --resume and nothing left to do no worker comes up, and no family is open. */
static int merge_into(const struct tuner *t, const char *path, struct table *table, struct error *err)
{
    struct key_sets *keys;
    int code = keys_open(t->request->config->candidates, t->request->kernel_directory, &keys, err);
    if (!code)
        code = table_merge(table, path, keys, err);
    keys_close(keys);
    return code;
}

static int write_table(struct tuner *t, struct table *table, struct error *err)
{
    char *text = NULL, path[sizeof t->table_path];
    int code = target_path(t, t->summary.name, path, sizeof path, err);
    if (!code && t->request->update)
        code = merge_into(t, path, table, err);
    if (!code)
        code = table_text(table, &text, err);
    if (!code && !t->request->output)
        code = make_parent(path, err);
    if (!code)
        code = file_write_atomic(path, text, strlen(text), err);
    if (!code)
        memcpy(t->table_path, path, sizeof path);
    free(text);
    return code;
}

/* A table in part goes only where the user said, the device's own may be a whole one; or into what is there. */
static int on_write(void *context, const char *journal_path, const char *output, struct error *err)
{
    struct tuner *t = context;
    struct table *table = NULL;
    (void)output;
    int code = table_open(journal_path, &table, err);
    if (!code) {
        t->summary = *table_summary(table);
        bool whole = t->summary.cells == t->request->config->n_shapes;
        if (whole || t->request->output || t->request->update)
            code = write_table(t, table, err);
        t->summary = *table_summary(table);
    }
    table_close(table);
    return code;
}

/* ---- the tuner ---- */

int tune_open(const struct tune_request *request, struct tuner **out, struct error *err)
{
    struct tuner *t = calloc(1, sizeof *t);
    *out = t;
    if (!t)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a search");
    t->request = request;
    t->kept = cJSON_CreateArray();
    t->director = (struct run_director){.context = t, .ready = on_ready, .request = on_request, .write = on_write};
    return 0;
}

void tune_close(struct tuner *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_families; i++)
        family_close(&t->families[i]);
    for (size_t i = 0; i < FAMILY_TABLES; i++)
        tuned_free(t->known[i]);
    cJSON_Delete(t->kept);
    free(t->problems);
    free(t);
}

const struct run_director *tune_director(struct tuner *t)
{
    return &t->director;
}

const char *tune_table_path(const struct tuner *t)
{
    return t->table_path;
}

const struct table_summary *tune_summary(const struct tuner *t)
{
    return &t->summary;
}
