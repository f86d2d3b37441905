/*
 * worker.c - the worker's life: start message, device, confinement, contenders, `ready`, then cells until `quit`.
 * Relies on everything below run/. Called by main.c for the hidden command `worker`.
 */
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stack_guard.h"
#include "choice/rank.h"
#include "compile/nvrtc.h"
#include "contender/module.h"
#include "measure/ranges.h"
#include "verify/rivals.h"
#include "worker/plugin_sandbox.h"
#include "worker/audit.h"
#include "worker/behind.h"
#include "worker/caches.h"
#include "worker/confine.h"
#include "worker/environment.h"
#include "worker/opening.h"
#include "worker/preflight.h"
#include "worker/process_state.h"
#include "worker/protocol.h"
#include "worker/settle.h"
#include "worker/stage_page.h"
#include "worker/tables.h"

#define COMPILE_SECONDS 600.0 /* a thousand kernels on two slow cores */
#define READY_SECONDS 60.0    /* from there to `ready` */
#define LOAD_SETUPS 3.0       /* a library from a cold network disk takes longer than a contender's setup */

struct worker {
    struct line_reader reader;
    struct stage_page *page;
    char nonce[PROTOCOL_NONCE];
    char identity[DIGEST_HEX], library_identity[DIGEST_HEX];
    int index;
    struct config config;
    struct device *device;
    struct registry *registry;
    struct tables tables;
    uint32_t own_compiled; /* dtypes whose kernels of the harness were compiled ahead */
    struct ranker *ranker;
    struct behind behind;
    struct watcher *watcher;  /* of an audit worker */
    struct audit_memory kept; /* its cells' */
    struct confinement confinement;
    struct process_state process;
    struct host_threads threads;
    struct plugin_sandbox sandbox;
    char stage[STAGE_NAME_MAX]; /* what is on the page */
    uint64_t marked_ns;         /* when the part of the start that is going on began */
    cJSON *start_seconds;       /* owned until the environment has it; of the parts so far */
    bool send_failed;           /* the supervisor is gone */
};

/* ---- messages ---- */

static cJSON *message_new(const struct worker *w, const char *type)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", type);
    cJSON_AddStringToObject(message, "nonce", w->nonce);
    return message;
}

/* Sends and deletes. */
static int message_send(struct worker *w, cJSON *message, struct error *err)
{
    int code = line_write(w->reader.fd, message, err);
    cJSON_Delete(message);
    w->send_failed |= code != 0;
    return code;
}

static void send_fatal(struct worker *w, const struct error *err)
{
    struct error ignored;
    cJSON *message = message_new(w, "fatal");
    cJSON_AddNumberToObject(message, "code", err->code);
    cJSON_AddStringToObject(message, "text", err->text);
    if (message_send(w, message, &ignored))
        fprintf(stderr, "cudal2-bench worker: %s\n", err->text);
}

/* Who has its turn stays where it is: a race of its variants. */
static bool goes_on(const struct worker *w, const char *contender, const char *stage)
{
    return strcmp(w->stage, stage) == 0 && strcmp(w->threads.turn, contender) == 0;
}

/* Leaves whoever is on the page. Who changed the process in there is named on it still, and stays. */
static void tell_stage(void *context, const char *contender, const char *stage, double deadline_seconds)
{
    struct worker *w = context;
    int code = w->threads.disturbed ? PROTOCOL_DISTURBED
                                    : process_state_leave(&w->process, w->stage, goes_on(w, contender, stage));
    if (code != 0)
        _exit(code);
    host_threads_turn(&w->threads, contender, stage_is(stage, "measure"));
    snprintf(w->stage, sizeof w->stage, "%s", stage);
    stage_page_write(w->page, contender, stage, deadline_seconds);
}

static int send_record(struct worker *w, const struct cell_record *record, struct error *err)
{
    cJSON *message = message_new(w, "record"), *tree = record_to_json(record);
    if (!message || !tree) {
        cJSON_Delete(message);
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a record");
    }
    cJSON_AddItemToObject(message, "record", tree);
    return message_send(w, message, err);
}

/* ---- start ---- */

/* A part of the start has ended. */
static void end_part(struct worker *w, const char *part)
{
    uint64_t now = clock_now_ns();
    if (!w->start_seconds)
        w->start_seconds = cJSON_CreateObject();
    cJSON_AddNumberToObject(w->start_seconds, part, (double)((now - w->marked_ns) / 1000000u) / 1000);
    w->marked_ns = now;
}

/* One message; *out is NULL at the end of the stream. */
static int receive(struct worker *w, cJSON **out, struct error *err)
{
    char *line;
    size_t length;
    *out = NULL;
    if (line_read(&w->reader, &line, &length) != 1)
        return 0;
    return json_parse(line, length, PROTOCOL_MAX_LINE, "message to the worker", out, err);
}

static bool message_is(const cJSON *message, const char *type)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(message, "type");
    return cJSON_IsString(node) && strcmp(node->valuestring, type) == 0;
}

static int parse_config(struct worker *w, const cJSON *tree, struct error *err)
{
    char *text = json_print(tree, false);
    if (!text)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    int code = config_parse(text, strlen(text), "config", &w->config, err);
    free(text);
    return code;
}

/* A contender that A/A names must be there, or the run would silently have none. */
static int check_copied(const struct worker *w, struct error *err)
{
    if (!w->config.aa || !w->config.aa_contender[0])
        return 0;
    for (size_t i = 0; i < registry_count(w->registry); i++)
        if (strcmp(registry_at(w->registry, i)->name, w->config.aa_contender) == 0)
            return 0;
    return error_set(err, EXIT_CODE_DATA, "aa: no contender of this run is called \"%s\" (`list` shows their names)",
                     w->config.aa_contender);
}

static void tell_loading(void *context, const char *plugin)
{
    const struct worker *w = context;
    double seconds = plugin[0] ? LOAD_SETUPS * w->config.limits.setup_seconds : READY_SECONDS;
    tell_stage(context, plugin, plugin[0] ? "load" : "start", seconds);
}

static enum cudal2_dtype dtype_of(const struct worker *w)
{
    return config_dtype(&w->config, w->device->info.device_bit == CUDAL2_ON_CUDA);
}

/* Threads that a plugin's constructor left computing: it is not loaded again. */
static void check_loaded(struct worker *w)
{
    char owner[HOST_THREADS_NAME];
    if (!host_threads_any_owned(&w->threads) || !w->config.honesty || !rivals_find(&w->threads, w->device, owner))
        return;
    tell_loading(w, strcmp(owner, HOST_THREADS_NOBODY) == 0 ? "" : owner);
    _exit(PROTOCOL_DISTURBED);
}

/* Once in a worker's life. */
static int open_machine(struct worker *w, const struct start_request *start, struct error *err)
{
    struct confinement asked; /* in worker_main there was nobody to tell of a fault in it */
    if (confine_parse(getenv(CONFINE_VARIABLE), &asked, err) || opening_device(start, &w->watcher, &w->device, err))
        return err->code;
    end_part(w, "device");
    w->confinement.listener_socket = CONFINE_LISTENER_FD;
    ranges_open();
    const struct plugin_sandbox_request request = {w->device, &w->confinement, w->page, &w->config,
                                                   start->plugin_directory};
    if (plugin_sandbox_or_confine(&w->sandbox, &request, err))
        return err->code;
    if (w->device->info.device_bit & CUDAL2_ON_CUDA) {
        w->ranker = ranker_open(&w->device->info, precompile_threads());
        if (w->ranker && (w->config.choice == CHOICE_PORTFOLIO || !nvrtc_supports(w->device->info.cc)))
            ranker_keep_portfolio(w->ranker);
        stack_guard_top(NULL, 0); /* what could be moved by this is not device time */
    }
    host_state_read(&w->device->host);
    w->process.host = w->device->host;
    bool looked_at =
        w->device->info.device_bit & CUDAL2_ON_CPU || caches_strangers(&w->config, start->plugin_directory);
    host_threads_begin(&w->threads, looked_at); /* by verify/rivals.h */
    return 0;
}

static int open_contenders(struct worker *w, const struct start_request *start, struct error *err)
{
    struct plugin_refusal refused[START_MAX_REFUSED];
    for (size_t i = 0; i < start->n_refused; i++) {
        const struct exclusion *e = &start->refused[i];
        refused[i] = (struct plugin_refusal){.name = e->name, .verdict = e->verdict, .reason = e->reason};
    }
    struct registry_request request = {
        .baselines = (const char *const *)w->config.baselines,
        .candidates = (const char *const *)w->config.candidates,
        .layouts = w->config.layouts,
        .plugin_directory = start->plugin_directory,
        .kernel_directory = start->kernel_directory,
        .loading = tell_loading,
        .loading_context = w,
        .refused = refused,
        .n_refused = start->n_refused,
        .processes = w->sandbox.processes,
    };
    /* Who watches is told the variants, and needs no table. */
    if ((!start->audit && tables_open(&w->tables, start, &w->config, w->device, err)) ||
        registry_open(&request, w->device, &w->registry, err))
        return err->code;
    plugin_sandbox_note(&w->sandbox, &w->confinement);
    caches_believe(&w->confinement);
    check_loaded(w);
    end_part(w, "contenders");
    return check_copied(w, err);
}

/* Not asked when a plugin died while loading: that verdict belongs into the cells. */
static int check_possible(const struct worker *w, const struct start_request *start, struct error *err)
{
    const struct preflight_question question = {
        .registry = w->registry,
        .device = &w->device->info,
        .dtype = dtype_of(w),
        .accumulates = config_accumulates(&w->config, dtype_of(w)),
    };
    if (start->n_refused > 0)
        return 0;
    int code = preflight_check(&question, err);
    return code || !start->search ? code : preflight_search_check(&question, err);
}

/* Here, or by lanes while the first cells are measured. */
static void compile_kernels(struct worker *w, const struct start_request *start)
{
    uint32_t dtype = CUDAL2_BIT(dtype_of(w));
    w->behind.what = (struct precompiling){.config = &w->config,
                                           .tuned = &w->tables.tuned,
                                           .registry = w->registry,
                                           .device = w->device,
                                           .threads = precompile_threads(),
                                           .turn = (unsigned)w->index,
                                           .ranked = w->ranker != NULL,
                                           .own = (w->own_compiled & dtype) == 0};
    if (!(w->device->info.device_bit & CUDAL2_ON_CUDA))
        return;
    stage_page_write(w->page, "", STAGE_COMPILE, COMPILE_SECONDS);
    if (w->behind.lanes)
        behind_list(&w->behind, start);
    else
        precompile(&w->behind.what);
    w->own_compiled |= dtype;
    stage_page_write(w->page, "", "start", READY_SECONDS);
}

static int send_ready(struct worker *w, const struct start_request *start, struct error *err)
{
    cJSON *env = NULL, *message = message_new(w, "ready");
    end_part(w, "compile");
    if (environment_collect(w->device, w->registry, w->index, &env, err)) {
        cJSON_Delete(message);
        return err->code;
    }
    opening_number(start, env);
    environment_identity(env, NULL, w->identity);
    environment_identity(env, w->registry, w->library_identity);
    environment_add_tuned(env, &w->tables.tuned);
    environment_add_refused(env, start->refused, start->n_refused);
    cJSON_AddItemToObject(env, "isolation", confine_to_json(&w->confinement));
    if (w->watcher)
        cJSON_AddItemToObject(env, "recorder", opening_recorder(w->watcher));
    end_part(w, "environment");
    cJSON_AddItemToObject(env, "start_seconds", w->start_seconds);
    w->start_seconds = NULL;
    cJSON_AddItemToObject(message, "env", env);
    return message_send(w, message, err);
}

/* What the start message asks for, until the worker is ready. */
static int start_as(struct worker *w, const struct start_request *start, struct error *err)
{
    int code = w->page ? 0 : stage_page_map(STAGE_PAGE_FD, &w->page, err);
    snprintf(w->nonce, sizeof w->nonce, "%s", start->nonce);
    w->index = start->worker;
    if (w->device)
        w->marked_ns = clock_now_ns();
    else
        end_part(w, "settle");
    if (!code)
        code = parse_config(w, start->config, err);
    bool compiles = start->precompile && !start->audit;
    if (!code && !w->device && compiles)
        w->behind.lanes = behind_open(&w->config, start->device, start->plugin_directory);
    if (!code && !w->device)
        code = open_machine(w, start, err);
    if (!code)
        code = open_contenders(w, start, err);
    if (!code)
        code = check_possible(w, start, err);
    if (!code && compiles)
        compile_kernels(w, start);
    return code ? code : send_ready(w, start, err);
}

static int start_with(struct worker *w, const cJSON *message, struct error *err)
{
    struct start_request *start = calloc(1, sizeof *start);
    int code = start ? start_request_from_json(json_root(message, "start"), start, err)
                     : error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    if (!code)
        code = start_as(w, start, err);
    free(start);
    return code;
}

static int worker_start(struct worker *w, struct error *err)
{
    cJSON *message = NULL;
    if (receive(w, &message, err))
        return err->code;
    int code = message && message_is(message, "start")
                   ? start_with(w, message, err)
                   : error_set(err, EXIT_CODE_USAGE,
                               "no start message on descriptor %d (`cudal2-bench run` starts workers)", PROTOCOL_FD);
    cJSON_Delete(message);
    return code;
}

/* What a start message decides. */
static void forget_start(struct worker *w)
{
    behind_close(&w->behind);
    registry_close(w->registry);
    config_free(&w->config);
    w->registry = NULL;
    w->config = (struct config){0};
}

/* The worker was kept for another run (run/warm.h): device, confinement, loaded libraries and
 * tuning tables stay. */
static int start_again(struct worker *w, const cJSON *message, struct error *err)
{
    tell_stage(w, "", "start", READY_SECONDS);
    forget_start(w);
    return plugin_sandbox_renew(&w->sandbox, err) ? err->code : start_with(w, message, err);
}

/* ---- cells ---- */

static int send_activity(struct worker *w, cJSON *contenders, struct error *err)
{
    cJSON *message = message_new(w, "activity");
    cJSON_AddItemToObject(message, "contenders", contenders);
    return message_send(w, message, err);
}

/* Returns the seconds. */
static double wait_for_kernels(struct worker *w, const struct cell_request *request)
{
    uint64_t begun = clock_now_ns();
    if (!w->behind.lanes)
        return 0;
    tell_stage(w, "", STAGE_COMPILE, COMPILE_SECONDS);
    behind_wait(&w->behind, &request->problem, request->mode);
    return (double)(clock_now_ns() - begun) * 1e-9;
}

/* One cell, measured or, in an audit worker, watched. */
static int conduct(struct worker *w, const struct cell_context *context, const struct cell_request *request,
                   struct error *err)
{
    struct cell_record *record = NULL;
    cJSON *seen = NULL;
    int code =
        request->audit ? audit_conduct(context, request, &seen, err) : cell_conduct(context, request, &record, err);
    if (!code) {
        tell_stage(w, "", "record", READY_SECONDS);
        code = seen ? send_activity(w, seen, err) : send_record(w, record, err);
    }
    record_free(record);
    return code;
}

static int serve_cell(struct worker *w, const cJSON *message, struct error *err)
{
    struct cell_context context = {
        .config = &w->config,
        .device = w->device,
        .tuned = &w->tables.tuned,
        .ranker = w->ranker,
        .registry = w->registry,
        .threads = &w->threads,
        .filled = &w->process.inputs,
        .worker = w->index,
        .identity = w->identity,
        .library_identity = w->library_identity,
        .report = tell_stage,
        .report_context = w,
        .watcher = w->watcher,
        .kept = &w->kept,
    };
    struct cell_request *request = calloc(1, sizeof *request);
    if (!request)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a request");
    int code = cell_request_from_json(json_root(message, "cell"), request, err);
    if (!code) {
        memcpy(w->nonce, request->nonce, sizeof w->nonce);
        context.waited_seconds = wait_for_kernels(w, request);
        code = !request->audit == !w->watcher
                   ? conduct(w, &context, request, err)
                   : error_set(err, EXIT_CODE_USAGE, "a cell of the other kind than this worker's");
    }
    free(request);
    return code;
}

/* Until `quit` or the end of the stream. */
static int worker_serve(struct worker *w, struct error *err)
{
    int code = 0;
    for (bool more = true; more && !code;) {
        cJSON *message = NULL;
        code = receive(w, &message, err);
        more = !code && message && !message_is(message, "quit") && !w->send_failed;
        if (more)
            code = message_is(message, "start") ? start_again(w, message, err) : serve_cell(w, message, err);
        cJSON_Delete(message);
    }
    return code;
}

int worker_main(char *const arguments[])
{
    struct error err = {0};
    struct worker *w = calloc(1, sizeof *w);
    if (!w)
        return EXIT_CODE_INTERNAL;
    stack_guard_top(__builtin_frame_address(0), PROTOCOL_STACK);
    w->marked_ns = clock_now_ns();
    settle(&w->confinement, arguments);
    w->reader.fd = PROTOCOL_FD;
    settle_descriptors();
    host_process_block_signals(); /* before there is another thread */
    process_state_begin(&w->process, PROTOCOL_FD);
    int code = worker_start(w, &err);
    if (!code)
        code = worker_serve(w, &err);
    if (code) {
        send_fatal(w, &err);
        _exit(code); /* closing a lost device or its libraries may hang or crash and helps nobody */
    }
    if (w->watcher) /* all is told, and the run waits for its end: the system is quicker than libraries that clean up */
        _exit(0);
    forget_start(w);
    plugin_sandbox_close(&w->sandbox);
    if (w->device)
        w->device->ops->close(w->device);
    host_threads_end(&w->threads);
    tuned_tables_close(&w->tables.tuned);
    ranker_close(w->ranker);
    line_reader_free(&w->reader);
    stage_page_unmap(w->page);
    free(w);
    return code;
}
