/*
 * evaluate.c - makes the config of a submission's run, has it supervised, and turns its journal into an outcome. Relies
 * on run/supervisor.h and result/result.h. Called by server_work.c on the thread of a device.
 */
#include "serve/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "result/result.h"
#include "run/supervisor.h"
#include "run/warm.h"
#include "serve/counted.h"
#include "serve/outcome.h"
#include "serve/repeats.h"
#include "serve/spent.h"
#include "serve/together.h"
#include "serve/warmth.h"
#include "serve/verdict.h"

/* Deadlines of one contender's stage. A submission that needs longer is a hang. */
#define SETUP_SECONDS 60.0
#define VERIFY_SECONDS 60.0
#define LAUNCH_SECONDS 5.0
#define TUNE_SECONDS 60.0
/* A quick look: so wide an interval is enough, and so much time. */
#define SCREEN_HALF_WIDTH 0.05
#define SCREEN_SECONDS 0.25
/* The stop rule of configs/grid.json (docs/method.md, section 5). A GPU's group is one block, on matrices of its own; a
 * CPU, where filling them takes longer than timing, has two in each. */
#define GROUP_ON_CUDA 1
#define GROUP_ON_CPU 2
#define FIRST_LOOK 8 /* blocks, and the least however little time: fewer have no interval that says anything */
/* Of cells that several share on a GPU, where a block costs each less: from ten on one that went wrong is dropped. */
#define FIRST_LOOK_TOGETHER 12
#define LOOK_EVERY 2
#define MOST_BLOCKS 512
/* What a run takes beside measuring: workers that start, and that are replaced. */
#define OVERHEAD_SECONDS 300.0

int evaluate_candidate(const struct evaluation *e, char out[PATH_MAX], struct error *err)
{
    if (e->submission->kind != CANDIDATE_NAMED)
        return store_path(e->store, e->id, e->place ? "kernel/together.json" : "kernel/kernel.json", out, err);
    snprintf(out, PATH_MAX, "%s", e->submission->name);
    return 0;
}

/* ---- the config ---- */

/* Whom one run measures. */
struct crowd {
    const struct evaluation *list;
    size_t n;
};

struct effort {
    double half_width, seconds;
    bool watch; /* launches, by a second worker when all is timed */
    bool on_cuda;
    unsigned first_look;
};

static bool put_list(cJSON *object, const char *key, const char *only)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);
    return list && cJSON_AddItemToArray(list, cJSON_CreateString(only));
}

static bool put_candidates(cJSON *object, const struct crowd *crowd, struct error *err)
{
    char candidate[PATH_MAX];
    cJSON *list = cJSON_AddArrayToObject(object, "candidates");
    for (size_t i = 0; i < crowd->n; i++)
        if (!list || evaluate_candidate(&crowd->list[i], candidate, err) ||
            !cJSON_AddItemToArray(list, cJSON_CreateString(candidate)))
            return false;
    return true;
}

static bool put_shapes(cJSON *object, const struct submission *s)
{
    cJSON *list = cJSON_AddArrayToObject(object, "shapes");
    for (size_t i = 0; list && i < s->n_problems; i++) {
        cJSON *shape = cJSON_CreateObject();
        json_put_number(shape, "m", (double)s->problems[i].m);
        json_put_number(shape, "n", (double)s->problems[i].n);
        json_put_number(shape, "k", (double)s->problems[i].k);
        if (!cJSON_AddItemToArray(list, shape))
            return false;
    }
    return list != NULL;
}

/* All of them unless it says which. */
static bool put_layouts(cJSON *object, const struct submission *s)
{
    const char *layout = submission_layout(s);
    return layout == NULL || put_list(object, "layouts", layout);
}

bool evaluate_put_problems(cJSON *config, const struct submission *s)
{
    return config && cJSON_AddStringToObject(config, "schema", "cudal2-bench/config") &&
           cJSON_AddNumberToObject(config, "schema_version", 1) && cJSON_AddStringToObject(config, "name", "serve") &&
           put_shapes(config, s) && put_layouts(config, s);
}

static bool put_checks(cJSON *object, bool watch)
{
    cJSON *verify = cJSON_AddObjectToObject(object, "verify");
    return verify && cJSON_AddStringToObject(verify, "activity", watch ? "sample" : "off");
}

static bool put_rules(cJSON *object, const struct effort *effort, enum mode mode)
{
    cJSON *stop = cJSON_AddObjectToObject(object, "stop"), *limits = cJSON_AddObjectToObject(object, "limits");
    json_put_number(stop, mode == MODE_OFFLINE ? "offline_half_width" : "server_half_width", effort->half_width);
    json_put_number(stop, "max_cell_seconds", effort->seconds);
    json_put_number(stop, "group_blocks", effort->on_cuda ? GROUP_ON_CUDA : GROUP_ON_CPU);
    json_put_number(stop, "min_blocks", effort->first_look);
    json_put_number(stop, "least_blocks", effort->first_look);
    json_put_number(stop, "look_every", LOOK_EVERY);
    json_put_number(stop, "max_blocks", MOST_BLOCKS);
    json_put_number(limits, "setup_seconds", SETUP_SECONDS);
    json_put_number(limits, "verify_seconds", VERIFY_SECONDS);
    json_put_number(limits, "launch_seconds", LAUNCH_SECONDS);
    json_put_number(limits, "tune_seconds", TUNE_SECONDS);
    json_put_number(object, "other_timings_every", MOST_BLOCKS); /* in the first one: no reward is made of them */
    return stop && limits;
}

static cJSON *config_tree(const struct crowd *crowd, const struct effort *effort, struct error *err)
{
    const struct submission *s = crowd->list->submission;
    cJSON *object = cJSON_CreateObject();
    bool good = evaluate_put_problems(object, s) && put_list(object, "accumulate", accumulate_names[s->accumulate]) &&
                put_list(object, "modes", mode_names[s->mode]) && put_list(object, "baselines", s->baseline) &&
                put_candidates(object, crowd, err) && put_checks(object, effort->watch) &&
                put_rules(object, effort, s->mode);
    if (good)
        return object;
    cJSON_Delete(object);
    return NULL;
}

static int make_config(const struct crowd *crowd, const struct effort *effort, struct config *out, struct error *err)
{
    *err = (struct error){0};
    cJSON *tree = config_tree(crowd, effort, err);
    char *text = tree ? json_print(tree, false) : NULL;
    cJSON_Delete(tree);
    if (!text)
        return err->code ? err->code : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a config");
    int code = config_parse(text, strlen(text), "the submission", out, err);
    free(text);
    if (code)
        return code;
    code = config_settle(out, crowd->list->devices->on_cuda, err);
    if (code)
        config_free(out);
    return code;
}

/* ---- the run ---- */

static void add_cell(void *context, const struct cell_record *record, size_t done, double eta_seconds)
{
    const struct evaluation *e = context;
    if (e->spent)
        spent_add_cell(e->spent, record, done, eta_seconds);
    if (e->looks)
        repeats_look(e->looks, record);
}

/* Code of ours with parameters runs nothing on the host, so who watched it may watch it again. A plugin is in the
 * watcher's process, and gets a new one each time. */
static struct warm *watcher_of(const struct evaluation *e)
{
    return e->warm && e->submission->kind == CANDIDATE_KERNEL ? e->warm->watcher : NULL;
}

static int supervise(const struct evaluation *e, const struct config *config, const char *output, struct error *err)
{
    char *const argv[] = {(char *)"cudal2-bench", (char *)"serve", NULL};
    struct evaluation context = *e;
    const struct run_observer observer = {.context = &context, .cell = add_cell};
    cJSON *spent = NULL;
    const struct run_hooks hooks = {
        .observer = &observer, .stop = e->stop, .warm = e->warm, .watcher = watcher_of(e), .spent = &spent};
    struct run_spec *spec = malloc(sizeof *spec);
    if (!spec)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a run");
    run_spec_init(spec, config);
    devices_pick(e->devices, e->device_index, &spec->devices);
    spec->argc = 2;
    spec->argv = argv;
    spec->plugin_directory = e->plugins;
    spec->kernel_directory = e->kernels;
    spec->budget_seconds = OVERHEAD_SECONDS;
    spec->temporary = spec->journal_only = true; /* what did not come to its end begins again */
    for (size_t i = 0; i < config->n_shapes; i++)
        spec->budget_seconds += config->stop.max_cell_seconds[MODE_OFFLINE];
    int code = run_spec_name(spec, output, err);
    if (!code)
        code = run_supervise(spec, &hooks, err);
    if (e->spent)
        spent_add_run(e->spent, spent);
    cJSON_Delete(spent);
    free(spec);
    return code;
}

struct job_paths {
    char directory[PATH_MAX], output[PATH_MAX], journal[PATH_MAX];
};

/* Codes of a run that came to its end, whatever it says of the contenders. */
static bool is_result(int code)
{
    return code == 0 || code == EXIT_CODE_VERIFICATION || code == EXIT_CODE_INCOMPARABLE;
}

static struct outcome_input input_of(const struct evaluation *e, const char *directory)
{
    return (struct outcome_input){.submission = e->submission, .code = e->code, .hide = {directory, e->kernels}};
}

static cJSON *outcome_of_one(const struct crowd *crowd, size_t i, const struct result *result, const char *directory)
{
    char family[CONFIG_LABEL_MAX];
    struct outcome_input in = input_of(&crowd->list[i], directory);
    together_family(&crowd->list[i], family);
    in.result = result;
    in.family = crowd->n > 1 ? family : NULL;
    return outcome_of_result(&in);
}

/* One for each of the crowd. */
static int read_outcomes(const struct crowd *crowd, const struct job_paths *at, cJSON *outcomes[], struct error *err)
{
    struct result *result = NULL;
    bool all = true;
    if (result_from_journal(at->journal, &result, err))
        return err->code;
    for (size_t i = 0; i < crowd->n; i++) {
        outcomes[i] = outcome_of_one(crowd, i, result, at->directory);
        all = all && outcomes[i];
    }
    result_free(result);
    return all ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for an outcome");
}

/* What a worker refused at its start is wrong with the submission: a manifest, parameters, sizes. */
static int refuse(const struct outcome_input *in, cJSON **outcome, struct error *err)
{
    const struct outcome_failure failure = {VERDICT_INVALID, "load", err->text};
    *outcome = outcome_of_failure(in, &failure);
    return *outcome ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for an outcome");
}

static int run_crowd(const struct crowd *crowd, const struct effort *effort, const struct job_paths *at,
                     cJSON *outcomes[], struct error *err)
{
    struct config config;
    const struct evaluation *e = crowd->list;
    unlink(at->output);
    unlink(at->journal);
    int code = make_config(crowd, effort, &config, err);
    if (code)
        return code;
    code = supervise(e, &config, at->output, err);
    config_free(&config);
    if (*e->stop)
        return error_set(err, EXIT_CODE_INTERRUPTED, "stopped");
    return is_result(code) ? read_outcomes(crowd, at, outcomes, err) : code;
}

static int run_once(const struct evaluation *e, const struct effort *effort, const struct job_paths *at,
                    cJSON **outcome, struct error *err)
{
    const struct outcome_input in = input_of(e, at->directory);
    int code = run_crowd(&(struct crowd){e, 1}, effort, at, outcome, err);
    return code == EXIT_CODE_DATA || code == EXIT_CODE_USAGE ? refuse(&in, outcome, err) : code;
}

static int find_paths(const struct evaluation *e, struct job_paths *out, struct error *err)
{
    int code = store_path(e->store, e->id, "", out->directory, err);
    if (!code)
        code = store_path(e->store, e->id, "run.json", out->output, err);
    return code ? code : store_path(e->store, e->id, STORE_JOURNAL, out->journal, err);
}

/* Of a quick look, what is not promising is the outcome; anything else is measured again in full. */
static int look_first(const struct evaluation *e, const struct job_paths *at, cJSON **outcome, struct error *err)
{
    const struct effort quick = {SCREEN_HALF_WIDTH, SCREEN_SECONDS, e->submission->kind != CANDIDATE_KERNEL,
                                 e->devices->on_cuda, FIRST_LOOK};
    int code = run_once(e, &quick, at, outcome, err);
    if (code)
        return code;
    bool failed = verdict_of_outcome(*outcome) != VERDICT_OK;
    bool hopeless = outcome_is_hopeless(*outcome, e->submission->screen);
    if (hopeless)
        cJSON_AddBoolToObject(*outcome, "screened", true);
    if (failed || hopeless)
        return 0;
    cJSON_Delete(*outcome);
    *outcome = NULL;
    return 0;
}

static struct effort full_effort(const struct evaluation *e)
{
    return (struct effort){e->submission->half_width, e->submission->seconds,
                           e->watch || e->submission->kind != CANDIDATE_KERNEL, e->devices->on_cuda, FIRST_LOOK};
}

static int evaluate_once(const struct evaluation *e, cJSON **outcome, struct error *err)
{
    const struct effort full = full_effort(e);
    struct job_paths *at = calloc(1, sizeof *at);
    *outcome = NULL;
    int code = at ? find_paths(e, at, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a run");
    if (!code && e->submission->screen > 0)
        code = look_first(e, at, outcome, err);
    if (!code && !*outcome)
        code = run_once(e, &full, at, outcome, err);
    free(at);
    return code;
}

static bool is_ok(int code, const cJSON *outcome)
{
    return code == 0 && verdict_of_outcome(outcome) == VERDICT_OK;
}

/* Who had watched before has seen it, too: else a new one is to try. */
static bool is_seen(const struct evaluation *e, const cJSON *outcome)
{
    const struct warm *watcher = watcher_of(e);
    return !watcher || !watcher->taken || strcmp(tree_text(outcome, "watched"), OUTCOME_WATCHED_NOW) == 0;
}

static int evaluate_warm(const struct evaluation *e, const char key[DIGEST_HEX], cJSON **outcome, struct error *err)
{
    bool had_one, had_any, good;
    int code;
    *outcome = NULL;
    do {
        cJSON_Delete(*outcome);
        warm_begin(e->warm, key);
        had_one = e->warm->held;
        had_any = warm_any(e->warm);
        code = evaluate_once(e, outcome, err);
        good = is_ok(code, *outcome) && is_seen(e, *outcome);
        if (!good)
            warm_end(e->warm);
    } while (!good && had_any && !*e->stop);
    if (*outcome)
        cJSON_AddStringToObject(*outcome, "worker", had_one ? "warm" : "new");
    return code;
}

static int evaluate_alone(const struct evaluation *e, cJSON **outcome, struct error *err)
{
    struct evaluation alone = *e;
    if (e->warm)
        warm_end(e->warm);
    alone.warm = NULL;
    int code = evaluate_once(&alone, outcome, err);
    if (*outcome)
        cJSON_AddStringToObject(*outcome, "worker", "new");
    return code;
}

int evaluate(const struct evaluation *e, cJSON **outcome, struct error *err)
{
    char key[DIGEST_HEX];
    bool warm = e->warm && warmth_key(e, key);
    int code = warm ? evaluate_warm(e, key, outcome, err) : evaluate_alone(e, outcome, err);
    if (code || !e->submission->counters)
        return code;
    if (e->warm && e->devices->on_cuda)
        warm_end(e->warm); /* it has the GPU's lock, and memory there */
    counted_add(e, *outcome);
    return 0;
}

/* ---- several at once ---- */

/* Their time is that of all. */
static int run_together(const struct crowd *crowd, cJSON *outcomes[], struct error *err)
{
    struct effort effort = full_effort(crowd->list);
    struct job_paths *at = calloc(1, sizeof *at);
    effort.seconds *= (double)crowd->n;
    effort.first_look = effort.on_cuda ? FIRST_LOOK_TOGETHER : FIRST_LOOK;
    int code = at ? find_paths(crowd->list, at, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a run");
    if (!code)
        code = run_crowd(crowd, &effort, at, outcomes, err);
    if (!code)
        together_keep(crowd->list, crowd->n, at->journal, outcomes);
    free(at);
    return code;
}

int evaluate_together(struct evaluation *list, size_t n, cJSON *outcomes[], struct error *err)
{
    char key[DIGEST_HEX];
    const struct crowd crowd = {list, n};
    struct warm *warm = list->warm;
    memset(outcomes, 0, n * sizeof *outcomes);
    if (!warmth_key(list, key))
        return error_set(err, EXIT_CODE_INTERNAL, "submissions that bring code are not measured together");
    int code = together_prepare(list, n, err);
    if (code)
        return code;
    if (warm)
        warm_begin(warm, key);
    bool had_one = warm && warm->held;
    code = run_together(&crowd, outcomes, err);
    bool all = !code;
    for (size_t i = 0; i < n; i++) {
        bool stands = !code && outcomes[i] && is_seen(list, outcomes[i]);
        all = all && stands;
        if (!stands) {
            cJSON_Delete(outcomes[i]);
            outcomes[i] = NULL;
        } else {
            cJSON_AddStringToObject(outcomes[i], "worker", had_one ? "warm" : "new");
        }
    }
    if (warm && !all)
        warm_end(warm);
    return code;
}
