/*
 * cmd_serve.c - the command `serve`: what the options mean to the server, and its life from the first request to the
 * last signal. Relies on serve/. Called by main.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/name_check.h"
#include "compile/kernels.h"
#include "device/chips.h"
#include "serve/http.h"
#include "serve/server.h"

#define DEFAULT_LISTEN "127.0.0.1:8090"
#define DEFAULT_DIRECTORY "cudal2-serve"
#define DEFAULT_QUEUE 10000u
#define LOOK_NS 200000000

/* Everything that a server is given, for as long as it runs. */
struct service {
    struct names candidates;
    const char **baselines; /* owned; names are borrowed */
    struct clients clients;
    struct server_options server;
    struct devices devices;
    struct http_options http;
    char kernels[PATH_MAX]; /* "" where there are none */
    char arch[16];          /* what source is compiled for; "" the default */
};

/* ---- what the options mean ---- */

static int list_names(const struct options *options, struct service *out, struct error *err)
{
    size_t families = 0, n = 0;
    name_check_candidates(options, &out->candidates);
    while (family_names[families])
        families++;
    out->baselines = calloc(families + out->candidates.count + 1, sizeof *out->baselines);
    if (out->candidates.failed || !out->baselines)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for names");
    for (size_t i = 0; i < families; i++)
        out->baselines[n++] = family_names[i];
    for (size_t i = 0; i < out->candidates.count; i++)
        out->baselines[n++] = out->candidates.list[i];
    return 0;
}

static int check_baseline(const struct service *service, const char *name, struct error *err)
{
    for (size_t i = 0; service->baselines[i]; i++)
        if (strcmp(service->baselines[i], name) == 0)
            return 0;
    return error_set(err, EXIT_CODE_USAGE,
                     "serve: --baselines %.60s: expected one of the baselines that `cudal2-bench list` shows here",
                     name);
}

/* Source is compiled for the first GPU, unless --arch says otherwise; without a GPU it is only looked at. */
static int choose_arch(const struct options *options, struct service *out, struct error *err)
{
    const struct chip *chip;
    int ordinal = 0, capability = 0;
    if (out->devices.on_cuda && sscanf(out->devices.spec[0], "cuda:%d", &ordinal) == 1)
        capability = device_gpu_capability(ordinal);
    if (options->arch)
        snprintf(out->arch, sizeof out->arch, "%.15s", options->arch);
    else if (capability)
        snprintf(out->arch, sizeof out->arch, "sm_%d", capability);
    return chip_find(out->arch[0] ? out->arch : NULL, &chip, err);
}

static int fill(const struct options *options, struct service *out, struct error *err)
{
    static const char *const none[] = {NULL};
    struct error ignored;
    if (devices_find(options->device, &out->devices, err))
        return err->code;
    if (kernel_directory_find(options->kernels, out->kernels, sizeof out->kernels, &ignored))
        out->kernels[0] = '\0'; /* what needs a kernel of it will say so */
    if (choose_arch(options, out, err) || list_names(options, out, err))
        return err->code;
    out->server = (struct server_options){
        .directory = options_given(options, OPTION_OUTPUT) ? options->output : DEFAULT_DIRECTORY,
        .peers = options->peers,
        .devices = &out->devices,
        .plugins = options->plugins,
        .kernels = out->kernels[0] ? out->kernels : NULL,
        .arch = out->arch[0] ? out->arch : NULL,
        .candidates = out->candidates.list ? (const char *const *)out->candidates.list : none,
        .baselines = out->baselines,
        .baseline = options->baselines     ? options->baselines
                    : out->devices.on_cuda ? "cublaslt-autotuning"
                                           : "openblas",
        .queue = options->queue ? (size_t)options->queue : DEFAULT_QUEUE,
        .quiet = options->quiet};
    out->server.quota = options->quota ? (size_t)options->quota : out->server.queue;
    out->http.listen = options->listen ? options->listen : DEFAULT_LISTEN;
    if (options->tokens && clients_read(options->tokens, &out->clients, err))
        return err->code;
    out->http.clients = options->tokens ? &out->clients : NULL;
    return check_baseline(out, out->server.baseline, err);
}

static void empty(struct service *service)
{
    names_free(&service->candidates);
    clients_free(&service->clients);
    free(service->baselines);
}

/* ---- signals ---- */

/* Blocked before any thread begins, so that only the wait below sees them; workers have their own mask. */
static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigprocmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a client that goes away */
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is a failed write like a full disk */
}

/* The first signal lets what is measured end; a second one ends that too. */
static void wait_for_end(struct server *server, const sigset_t *set)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    int number;
    sigwait(set, &number);
    fprintf(stderr, "serve: ends when what is measured has ended (again to end at once); what waits stays\n");
    server_drain(server, false);
    while (!server_is_idle(server))
        if (sigtimedwait(set, NULL, &look) > 0)
            server_drain(server, true);
}

/* ---- the command ---- */

static int serve(const struct service *service, const sigset_t *signals, struct error *err)
{
    struct server *server = NULL;
    struct http *http = NULL;
    if (http_check(&service->http, err) || server_open(&service->server, &server, err))
        return err->code;
    int code = http_start(&service->http, server, &http, err);
    if (!code) {
        printf("listening on http://%s\n", http_address(http));
        fflush(stdout);
        wait_for_end(server, signals);
    }
    server_drain(server, true);
    http_stop(http);
    server_close(server);
    return code;
}

int command_serve(const struct options *options, struct error *err)
{
    sigset_t signals;
    struct service *service = calloc(1, sizeof *service);
    if (!service)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the server");
    umask(077); /* what clients submit is theirs */
    block_signals(&signals);
    int code = fill(options, service, err);
    if (!code)
        code = serve(service, &signals, err);
    empty(service);
    free(service);
    return code;
}
