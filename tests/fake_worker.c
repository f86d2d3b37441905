/*
 * fake_worker.c - a scripted worker process: sends what a test's script says, hangs, dies or lies. Relies on
 * worker/protocol.h. Linked into the tests of run/, which start themselves as the worker.
 */
#include "fake_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/protocol.h"
#include "worker/stage_page.h"

static const char *const contenders[] = {"alpha", "beta", "gamma", NULL};
static char nonce[PROTOCOL_NONCE], first_nonce[PROTOCOL_NONCE];
static struct cell_request asked;
static struct stage_page *page;
static struct start_request start;

static void say(const char *text)
{
    if (write(PROTOCOL_FD, text, strlen(text)) < 0)
        _exit(9);
}

static void say_message(cJSON *message)
{
    struct error err;
    cJSON_AddStringToObject(message, "nonce", nonce);
    if (line_write(PROTOCOL_FD, message, &err))
        _exit(9);
    cJSON_Delete(message);
}

static void say_fatal(int code, const char *text)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", "fatal");
    cJSON_AddNumberToObject(message, "code", code);
    cJSON_AddStringToObject(message, "text", text);
    say_message(message);
    _exit(code);
}

/* Bytes that no sound worker sends. */
static const struct {
    const char *action, *bytes;
} bad_lines[] = {
    {"garbage", "{\"type\":\"record\",,}\n"},
    {"half", "{\"type\":\"rec"},
    {"binary", "\x01\x02\xff\n"},
    {"forge", "{\"type\":\"record\",\"nonce\":\"0123\",\"record\":{}}\n"},
    {"anonymous", "{\"type\":\"stage\",\"contender\":\"x\",\"stage\":\"y\",\"deadline_s\":1}\n"},
};

static void say_stage(const char *contender, const char *stage)
{
    stage_page_write(page, contender, stage, 0.4);
}

/* Thousands of changes in a blink, as a run of short segments makes them, and then the end in beta's hands. */
static void storm(void)
{
    for (int i = 0; i < 30000; i++)
        say_stage(contenders[i % 3], i % 2 ? "measure" : "tune");
    say_stage("beta", "setup");
}

/* A whole record before its time: with this cell's nonce, as somebody sends it who has read the worker's memory, or
 * with the nonce of the start. */
static void send_early(bool replay)
{
    struct cell_record *r = record_new();
    r->problem = asked.problem;
    r->mode = asked.mode;
    snprintf(r->status, sizeof r->status, "ok");
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", "record");
    cJSON_AddItemToObject(message, "record", record_to_json(r));
    if (replay)
        snprintf(nonce, sizeof nonce, "%s", first_nonce);
    say_message(message);
    record_free(r);
}

/* Does not return: what is ordered ends the process, or the supervisor does. */
static void act(const char *action)
{
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++)
        if (strcmp(action, bad_lines[i].action) == 0)
            say(bad_lines[i].bytes);
    if (strcmp(action, "storm") == 0)
        storm();
    if (strcmp(action, "early") == 0 || strcmp(action, "replay") == 0)
        send_early(strcmp(action, "replay") == 0);
    if (strcmp(action, "crash") == 0 || strcmp(action, "storm") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn it into an exit */
        kill(getpid(), SIGSEGV);
    }
    if (strcmp(action, "abort") == 0)
        abort();
    if (strcmp(action, "exit") == 0)
        _exit(0);
    if (strcmp(action, "exit7") == 0)
        _exit(7);
    if (strncmp(action, "code", 4) == 0)
        _exit(atoi(action + 4));
    if (strcmp(action, "close") == 0)
        close(PROTOCOL_FD);
    if (strcmp(action, "orphan") == 0) { /* a child keeps the socket open after the worker's death */
        if (fork() != 0)
            _exit(0);
    }
    if (strcmp(action, "lost") == 0)
        say_fatal(EXIT_CODE_UNAVAILABLE, "CUDA_ERROR_ILLEGAL_ADDRESS in alpha");
    if (strcmp(action, "memory") == 0)
        say_fatal(EXIT_CODE_INTERNAL, "out of memory");
    for (;;)
        pause();
}

/* The action ordered for this name in a cell with this m; NULL none. */
static const char *ordered(const char *name, int64_t m)
{
    static char action[32];
    const char *script = getenv("CUDAL2_FAKE");
    for (const char *at = script; at && *at; at += strcspn(at, ","), at += *at == ',') {
        char who[32];
        long only = 0;
        if (sscanf(at, "%31[a-z]@%ld=%31[a-z0-9]", who, &only, action) != 3 &&
            sscanf(at, "%31[a-z]=%31[a-z0-9]", who, action) != 2)
            continue;
        if (strcmp(who, name) == 0 && (only == 0 || only == m))
            return action;
    }
    return NULL;
}

static bool is_excluded(const struct cell_request *request, const char *name, struct contender_record *c)
{
    for (size_t i = 0; i < request->n_exclusions; i++) {
        const struct exclusion *e = &request->exclusions[i];
        if (strcmp(e->name, name) != 0)
            continue;
        snprintf(c->status, sizeof c->status, "%s", e->status);
        snprintf(c->stage, sizeof c->stage, "%s", e->stage);
        snprintf(c->reason, sizeof c->reason, "%s", e->reason);
        return true;
    }
    return false;
}

/* A plugin that the supervisor no longer lets us load: the registry says so in every cell. */
static bool is_refused(const char *name, struct contender_record *c)
{
    for (size_t i = 0; i < start.n_refused; i++) {
        const struct exclusion *e = &start.refused[i];
        if (strcmp(e->name, name) != 0)
            continue;
        snprintf(c->status, sizeof c->status, "%s", e->status);
        snprintf(c->stage, sizeof c->stage, "load");
        snprintf(c->reason, sizeof c->reason, "%s", e->reason);
        return true;
    }
    return false;
}

static void run_contender(const struct cell_request *request, const char *name, struct contender_record *c)
{
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->family, sizeof c->family, "%s", name);
    c->candidate = strcmp(name, "alpha") == 0;
    snprintf(c->status, sizeof c->status, "ok");
    if (is_excluded(request, name, c) || is_refused(name, c))
        return;
    say_stage(name, "setup");
    const char *action = ordered(name, request->problem.m);
    if (action && strcmp(action, "wrong") == 0)
        snprintf(c->status, sizeof c->status, "wrong_result");
    else if (action)
        act(action);
}

static void fake_cell(const struct cell_request *request)
{
    struct cell_record *r = record_new();
    r->problem = request->problem;
    r->mode = request->mode;
    r->headline = TIMING_WALL;
    r->worker = 77; /* the supervisor knows better */
    snprintf(r->label, sizeof r->label, "%s", request->label);
    snprintf(r->status, sizeof r->status, "ok");
    snprintf(r->reason, sizeof r->reason, "seed %llu", (unsigned long long)request->seed);
    snprintf(nonce, sizeof nonce, "%s", request->nonce);
    asked = *request;
    say_stage("", "operands");
    const char *harness = ordered("harness", request->problem.m);
    if (harness && strcmp(harness, "slow") == 0)
        usleep(200000);
    else if (harness && strcmp(harness, "othercell") == 0)
        r->problem.m++;
    else if (harness)
        act(harness);
    for (size_t i = 0; contenders[i]; i++)
        run_contender(request, contenders[i], &r->contenders[r->n_contenders++]);
    say_stage("", "record");
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", "record");
    cJSON_AddItemToObject(message, "record", record_to_json(r));
    say_message(message);
    record_free(r);
}

/* What an audit worker sees of one contender; "alphawatched=escape" refutes it, and any other action happens. */
static cJSON *watch(const struct cell_request *request, const cJSON *subject)
{
    const char *name = cJSON_GetObjectItem(subject, "name")->valuestring;
    char who[32];
    struct contender_record excluded;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", name);
    if (is_excluded(request, name, &excluded)) {
        cJSON_AddStringToObject(o, "unavailable", excluded.status);
        return o;
    }
    say_stage(name, "activity");
    snprintf(who, sizeof who, "%swatched", name);
    const char *action = ordered(who, request->problem.m);
    cJSON_AddArrayToObject(o, "launch");
    if (action && strcmp(action, "escape") == 0) {
        cJSON_AddStringToObject(o, "status", "stream_escape");
        cJSON_AddStringToObject(o, "reason", "kernel x in stream 9 began early");
    } else if (action && strcmp(action, "nonsense") == 0) {
        cJSON_AddStringToObject(o, "status", "crash"); /* not for a watcher to say */
    } else if (action) {
        act(action);
    }
    return o;
}

static void fake_audit(const struct cell_request *request)
{
    const cJSON *subject;
    cJSON *message = cJSON_CreateObject(), *list = cJSON_CreateArray();
    snprintf(nonce, sizeof nonce, "%s", request->nonce);
    say_stage("", "operands");
    const char *harness = ordered("watcher", request->problem.m);
    if (harness)
        act(harness);
    cJSON_ArrayForEach(subject, request->audit) cJSON_AddItemToArray(list, watch(request, subject));
    if (ordered("slander", request->problem.m)) { /* of somebody whom nobody asked about */
        cJSON *rival = cJSON_Parse("{\"name\":\"rival\",\"status\":\"late_work\",\"reason\":\"x\"}");
        cJSON_AddItemToArray(list, rival);
    }
    say_stage("", "record");
    cJSON_AddStringToObject(message, "type", "activity");
    cJSON_AddItemToObject(message, "contenders", list);
    say_message(message);
}

/* Timing and watching are counted apart. */
static long count_start(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("CUDAL2_FAKE_DIR"), start.audit ? "audits" : "starts");
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1)
        _exit(9);
    long count = (long)lseek(fd, 0, SEEK_END);
    close(fd);
    return count;
}

/* What the process was given, for test_child_is_clean. */
static void dump_surroundings(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/environ", getenv("CUDAL2_FAKE_DIR"));
    FILE *f = fopen(path, "w");
    for (int fd = 0; f && fd < 64; fd++)
        if (fd != fileno(f) && fcntl(fd, F_GETFD) >= 0)
            fprintf(f, "fd %d\n", fd);
    if (f)
        fprintf(f, "leads %s\n", getsid(0) == getpid() && getpgid(0) == getpid() ? "its session" : "nothing");
    for (size_t i = 0; f && environ[i]; i++)
        fprintf(f, "%s\n", environ[i]);
    if (f)
        fclose(f);
}

/* "betaload=crash": beta's plugin does that while it is loaded. */
static void load_contenders(void)
{
    for (size_t i = 0; contenders[i]; i++) {
        char who[32];
        struct contender_record ignored;
        snprintf(who, sizeof who, "%sload", contenders[i]);
        if (!ordered(who, 0) || is_refused(contenders[i], &ignored))
            continue;
        say_stage(contenders[i], "load");
        act(ordered(who, 0));
    }
}

static void fake_start(struct line_reader *reader)
{
    char *line;
    size_t length;
    cJSON *tree = NULL;
    struct error err;
    if (line_read(reader, &line, &length) != 1 || json_parse(line, length, PROTOCOL_MAX_LINE, "start", &tree, &err) ||
        start_request_from_json(json_root(tree, "start"), &start, &err))
        _exit(8);
    snprintf(nonce, sizeof nonce, "%s", start.nonce);
    snprintf(first_nonce, sizeof first_nonce, "%s", start.nonce);
    if (stage_page_map(STAGE_PAGE_FD, &page, &err))
        _exit(8);
    long count = count_start(), first = 0;
    char action[32];
    const char *script = getenv("CUDAL2_FAKE");
    if (script && sscanf(script, "start:%ld=%31[a-z0-9]", &first, action) == 2 && count <= first)
        act(action);
    if (start.audit && ordered("recorder", 0))
        say_fatal(EXIT_CODE_UNAVAILABLE, "no CUPTI: nowhere");
    if (start.audit && ordered("auditor", 0))
        act(ordered("auditor", 0));
    if (start.audit && start.worker == 0 && ordered("firstauditor", 0))
        act(ordered("firstauditor", 0));
    load_contenders();
    if (start.precompile && ordered("compile", 0)) {
        say_stage("", STAGE_COMPILE);
        act(ordered("compile", 0));
    }
    say_stage("", "start");
    cJSON *message = cJSON_CreateObject(), *env = cJSON_CreateObject();
    cJSON *device = cJSON_AddObjectToObject(env, "device");
    cJSON_AddStringToObject(device, "kind", getenv("CUDAL2_FAKE_KIND") ? getenv("CUDAL2_FAKE_KIND") : "cpu");
    cJSON_AddStringToObject(device, "name", "fake");
    cJSON_AddStringToObject(device, "driver", getenv("CUDAL2_FAKE_DRIVER") ? getenv("CUDAL2_FAKE_DRIVER") : "1");
    cJSON_AddStringToObject(message, "type", "ready");
    if (start.audit)
        cJSON_AddNumberToObject(cJSON_AddObjectToObject(env, "recorder"), "cupti", 130001);
    cJSON_AddItemToObject(message, "env", env);
    say_message(message);
    cJSON_Delete(tree);
}

int fake_worker(void)
{
    struct line_reader reader = {.fd = PROTOCOL_FD};
    char *line;
    size_t length;
    dump_surroundings();
    fake_start(&reader);
    while (line_read(&reader, &line, &length) == 1) {
        cJSON *tree = NULL;
        struct error err;
        struct cell_request *request = calloc(1, sizeof *request);
        if (json_parse(line, length, PROTOCOL_MAX_LINE, "cell", &tree, &err))
            _exit(8);
        if (strcmp(json_member(json_root(tree, ""), "type").node->valuestring, "quit") == 0)
            _exit(0);
        if (cell_request_from_json(json_root(tree, "cell"), request, &err))
            _exit(8);
        if (request->audit)
            fake_audit(request);
        else
            fake_cell(request);
        free(request);
        cJSON_Delete(tree);
    }
    return 0;
}
