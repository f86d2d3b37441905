/*
 * slot.c - one worker seen from the supervisor: reads its messages, checks nonce and turn, watches its deadline, and
 * reports what happened. Relies on process.c and stage_page.h. Called by crew.c.
 */
#include "run/slot.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "record/activity.h"
#include "run/death.h"
#include "run/devices.h"
#include "run/memory.h"
#include "run/starting.h"

#define READY_SECONDS 180.0      /* libtorch from a cold network disk takes a minute */
#define FIRST_STAGE_SECONDS 60.0 /* from `cell` to the first stage message */
#define QUIT_SECONDS 15.0        /* libraries clean up at exit */
#define REAP_SECONDS 30.0        /* after SIGKILL: the driver frees the GPU first */
/* A worker's launches may sum up to this much more than our clock saw pass: untimed ones count with their estimates. */
#define CLOCK_SHARE 1.1
#define CLOCK_SLACK_SECONDS 0.05
#define STAGE_MAX_SECONDS 86400.0
#define ANSWERS_MOST 64 /* in one look: threads may ask without end */
/* A note of the worker's was counted between two looks of ours. It reads its clock before and after that, so however
 * long it lost the processor meanwhile, no more than this can lie between the clocks. */
#define BRACKET_NS 50000000u

void slot_event_free(struct slot_event *event)
{
    cJSON_Delete(event->env);
    record_free(event->record);
    cJSON_Delete(event->activity);
    *event = (struct slot_event){0};
}

/* Written to the page too, which still says what the worker did last. */
static void set_stage(struct slot *slot, const char *stage, double seconds)
{
    slot->now = (struct stage_note){.deadline_ns = clock_now_ns() + (uint64_t)(seconds * 1e9)};
    snprintf(slot->now.stage, sizeof slot->now.stage, "%s", stage);
    stage_page_write(slot->process.page, "", stage, seconds);
    (void)stage_page_read(slot->process.page, &slot->now);
    slot->looked_ns = clock_now_ns();
    slot->since_ns = 0; /* our own */
    slot->patience = (struct patience){0};
}

/* A note that is new: what was between the look before and this one, and who ran until it was written. Exact blame only
 * where no note lies between. */
static void bracket_open(struct slot *slot, const struct stage_note *before)
{
    slot->since_ns = slot->looked_ns;
    slot->clock_owner = slot->now.count == before->count + 1 ? *before : (struct stage_note){0};
}

/* The worker's clock against ours, in both directions: what was counted after a look cannot have been over before it by
 * the worker's clock, nor begun after the next. `latest`: by our clock the note was there. Where the worker has not
 * read its clock again yet, a later look judges. */
static void bracket(struct slot *slot, uint64_t latest)
{
    uint64_t began = slot->now.written_ns, over = slot->now.counted_ns;
    bool late = began > latest + BRACKET_NS;
    bool early = over != 0 && over + BRACKET_NS < slot->since_ns;
    if (slot->since_ns == 0 || slot->clock_ns != 0)
        return;
    if (late || early)
        slot->clock_ns = early ? -(double)(slot->since_ns - over) : (double)(began - latest);
    if (late || over != 0)
        slot->since_ns = 0;
}

/* Takes over what the worker has written; true when contender or stage is another. */
static bool refresh(struct slot *slot)
{
    struct stage_note before = slot->now;
    uint64_t look_ns = clock_now_ns(), latest = look_ns + (uint64_t)(STAGE_MAX_SECONDS * 1e9);
    if (!stage_page_read(slot->process.page, &slot->now))
        return false;
    if (slot->now.count != before.count && slot->clock_ns == 0)
        bracket_open(slot, &before);
    bracket(slot, clock_now_ns());
    slot->looked_ns = look_ns;
    if (slot->now.deadline_ns > latest)
        slot->now.deadline_ns = latest;
    return strcmp(before.contender, slot->now.contender) != 0 || strcmp(before.stage, slot->now.stage) != 0;
}

/* ---- to the worker ---- */

/* What the worker's next messages must carry; an older one is worth nothing any more. */
static void renew_nonce(struct slot *slot)
{
    snprintf(slot->nonce, sizeof slot->nonce, "%016" PRIx64 "%016" PRIx64, random_entropy(), random_entropy());
}

void slot_start_again(struct slot *slot, struct start_request *start)
{
    struct error ignored;
    renew_nonce(slot);
    slot->state = SLOT_STARTING;
    slot->told_to_quit = false;
    slot->started_ns = clock_now_ns();
    slot->clock_ns = 0;
    set_stage(slot, "start", READY_SECONDS);
    start->nonce = slot->nonce;
    start->device = slot->device;
    start->gpu = slot->wary ? NULL : slot->shown;
    cJSON *message = start_request_to_json(start);
    line_write(slot->process.fd, message, &ignored); /* a worker that is already dead is seen at the next look */
    cJSON_Delete(message);
}

int slot_start(struct slot *slot, const char *program, struct start_request *start, struct error *err)
{
    const char *arguments[STARTING_ARGUMENTS];
    starting_arguments(start, slot->device, slot->wary, arguments);
    struct process_request request = {.program = program,
                                      .arguments = arguments,
                                      .lock_fd = slot->lock_fd,
                                      .cores = slot->has_cores ? &slot->cores : NULL};
    if (process_spawn(&request, &slot->process, err))
        return err->code;
    slot->reader = (struct line_reader){.fd = slot->process.fd};
    slot->warned_memory = false;
    slot->oom_kills = memory_oom_kills();
    slot_start_again(slot, start);
    return 0;
}

void slot_send_cell(struct slot *slot)
{
    struct error ignored;
    renew_nonce(slot);
    memcpy(slot->request.nonce, slot->nonce, sizeof slot->request.nonce);
    cJSON *message = cell_request_to_json(&slot->request);
    slot->state = SLOT_BUSY;
    slot->sent_ns = clock_now_ns();
    set_stage(slot, "cell", FIRST_STAGE_SECONDS);
    line_write(slot->process.fd, message, &ignored);
    cJSON_Delete(message);
}

void slot_send_quit(struct slot *slot)
{
    struct error ignored;
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", "quit");
    slot->state = SLOT_QUITTING;
    slot->told_to_quit = true;
    set_stage(slot, "quit", QUIT_SECONDS);
    line_write(slot->process.fd, message, &ignored);
    cJSON_Delete(message);
}

void slots_wait(const struct slot *slots, int n, int wake_fd, int milliseconds)
{
    struct pollfd fds[6 * DEVICES_MAX + 1]; /* of a crew, and of who leaves it */
    nfds_t count = 0;
    if (wake_fd > 0)
        fds[count++] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    for (int i = 0; i < n; i++) {
        if (slots[i].process.pid <= 0 || slots[i].ahead)
            continue;
        fds[count++] = (struct pollfd){.fd = slots[i].process.fd, .events = POLLIN};
        fds[count++] = (struct pollfd){.fd = listener_wait_fd(&slots[i].process.listener), .events = POLLIN};
        fds[count++] = (struct pollfd){.fd = relay_wait_fd(&slots[i].process.said), .events = POLLIN};
    }
    poll(fds, count, milliseconds);
}

/* ---- the end of a worker ---- */

static void slot_release(struct slot *slot, enum slot_state state)
{
    line_reader_free(&slot->reader);
    slot->state = state;
}

void slot_kill(struct slot *slot)
{
    struct process_end end;
    if (slot->process.pid <= 0)
        return;
    process_kill(&slot->process);
    bool gone = process_reap(&slot->process, REAP_SECONDS, &end);
    if (!gone)
        process_forget(&slot->process);
    slot_release(slot, gone ? SLOT_EMPTY : SLOT_RETIRED);
}

static void lost(struct slot_event *event, enum verdict verdict, const char *reason)
{
    event->kind = SLOT_LOST;
    event->verdict = verdict;
    snprintf(event->reason, sizeof event->reason, "%.255s", reason);
}

static void slot_condemn(struct slot *slot, struct slot_event *event, enum verdict verdict, const char *reason)
{
    slot_kill(slot);
    lost(event, verdict, reason);
}

static const char written[] = "the worker's message socket was closed under it, or written to";

/* The stream ended, or the process did. */
static void slot_ended(struct slot *slot, struct slot_event *event)
{
    struct process_end end;
    char reason[DEATH_REASON_MAX];
    int plugin_end = stage_page_plugin_end(slot->process.page);
    if (!process_ending(&slot->process)) {
        slot_condemn(slot, event, VERDICT_TAMPER_SUSPECTED, written);
        return;
    }
    if (!process_reap(&slot->process, REAP_SECONDS, &end)) {
        slot_condemn(slot, event, VERDICT_CRASH, "the worker is dying and does not end");
        return;
    }
    if (!end.signalled && end.number == PROTOCOL_PLUGIN_ENDED)
        process_describe_end(plugin_end, &end);
    slot_release(slot, SLOT_EMPTY);
    const struct death death = {&end, slot->now.stage, memory_oom_kills() > slot->oom_kills};
    enum verdict verdict = death_verdict(&death, reason);
    lost(event, verdict, reason);
}

/* ---- from the worker ---- */

static int take_fatal(struct slot *slot, struct json_at at, struct slot_event *event, struct error *err)
{
    int64_t code = 0;
    char text[sizeof event->reason];
    struct json_at line = json_member(at, "text");
    if (json_read_int(json_member(at, "code"), 1, 255, &code, err))
        return err->code;
    bool given = cJSON_IsString(line.node) && line.node->valuestring[0];
    snprintf(text, sizeof text, "%s", given ? line.node->valuestring : "no reason given");
    error_one_line(text);
    event->code = (int)code;
    slot_condemn(slot, event,
                 code == EXIT_CODE_UNAVAILABLE ? death_of_device(slot->now.stage, text) : VERDICT_INFRASTRUCTURE, text);
    return 0;
}

static int take_record(struct slot *slot, struct json_at at, struct slot_event *event, struct error *err)
{
    if (record_from_json(json_member(at, "record"), &event->record, err))
        return err->code;
    const struct cell_record *r = event->record;
    if (!problem_equal(&r->problem, &slot->request.problem) || r->mode != slot->request.mode)
        return error_set(err, EXIT_CODE_DATA, "record of another cell than the one asked for");
    double passed = 1e-9 * (double)(clock_now_ns() - slot->sent_ns);
    if (r->busy_seconds > CLOCK_SHARE * passed + CLOCK_SLACK_SECONDS)
        return error_set(err, EXIT_CODE_DATA, "a record of %.3f s of launches for a cell that took %.3f s",
                         r->busy_seconds, passed);
    event->kind = SLOT_RECORD;
    slot->state = SLOT_IDLE;
    set_stage(slot, "idle", STAGE_MAX_SECONDS);
    return 0;
}

/* Those that were asked about, in that order. */
static bool same_names(const cJSON *asked, const cJSON *told)
{
    const cJSON *a = asked->child, *b = told->child;
    for (; a && b; a = a->next, b = b->next)
        if (!cJSON_Compare(cJSON_GetObjectItemCaseSensitive(a, "name"), cJSON_GetObjectItemCaseSensitive(b, "name"),
                           true))
            return false;
    return !a && !b;
}

static int take_activity(struct slot *slot, struct json_at at, struct slot_event *event, struct error *err)
{
    struct json_at contenders = json_member(at, "contenders");
    if (activity_check_contenders(contenders, err))
        return err->code;
    if (!same_names(slot->request.audit, contenders.node))
        return error_set(err, EXIT_CODE_DATA, "activity of other contenders than those asked for");
    event->activity = cJSON_Duplicate(contenders.node, true);
    event->kind = SLOT_ACTIVITY;
    slot->state = SLOT_IDLE;
    set_stage(slot, "idle", STAGE_MAX_SECONDS);
    return 0;
}

static int take_ready(struct slot *slot, struct json_at at, struct slot_event *event, struct error *err)
{
    struct json_at env = json_member(at, "env");
    if (!cJSON_IsObject(env.node))
        return json_fail(env, err, "expected an object");
    event->env = cJSON_Duplicate(env.node, true);
    event->kind = SLOT_READY;
    slot->state = SLOT_IDLE;
    set_stage(slot, "idle", STAGE_MAX_SECONDS);
    return 0;
}

/* Whose code was running when this was written. A worker tells the end of a cell and of its start when no contender's
 * is. */
static bool comes_from_a_contender(const struct slot *slot, const char *type)
{
    static const char *const own[] = {"record", "activity", "ready", NULL};
    bool ours = false;
    for (size_t i = 0; own[i]; i++)
        ours = ours || strcmp(type, own[i]) == 0;
    return ours && (slot->writer.contender[0] || slot->now.contender[0]);
}

/* A message in its turn, from the worker itself. */
static int take_by_type(struct slot *slot, const char *type, struct json_at at, struct slot_event *event,
                        struct error *err)
{
    if (strcmp(type, "record") == 0 && slot->state == SLOT_BUSY && !slot->request.audit)
        return take_record(slot, at, event, err);
    if (strcmp(type, "activity") == 0 && slot->state == SLOT_BUSY && slot->request.audit)
        return take_activity(slot, at, event, err);
    if (strcmp(type, "ready") == 0 && slot->state == SLOT_STARTING)
        return take_ready(slot, at, event, err);
    if (strcmp(type, "fatal") == 0)
        return take_fatal(slot, at, event, err);
    return error_set(err, EXIT_CODE_DATA, "message of type \"%.24s\" out of turn", type);
}

/* EXIT_CODE_DATA for a message that a sound worker does not send; *forged where it may not be the worker's own: with
 * the nonce it is, so that the fault is ours. */
static int take_message(struct slot *slot, struct json_at at, struct slot_event *event, bool *forged, struct error *err)
{
    const struct stage_note *writer = slot->writer.contender[0] ? &slot->writer : &slot->now;
    const cJSON *nonce = json_member(at, "nonce").node;
    const char *type = NULL;
    *forged = !cJSON_IsString(nonce) || strcmp(nonce->valuestring, slot->nonce) != 0;
    if (*forged)
        return error_set(err, EXIT_CODE_DATA, "message without the worker's nonce");
    if (json_read_string(json_member(at, "type"), &type, err))
        return err->code;
    *forged = comes_from_a_contender(slot, type);
    if (*forged)
        return error_set(err, EXIT_CODE_DATA, "a %.24s while %s was running, in stage %s", type, writer->contender,
                         writer->stage);
    return take_by_type(slot, type, at, event, err);
}

void slot_take_line(struct slot *slot, const char *line, size_t length, struct slot_event *event)
{
    cJSON *message = NULL;
    struct error err;
    bool forged = true;
    int code = json_parse(line, length, PROTOCOL_MAX_LINE, "message of a worker", &message, &err);
    if (!code)
        code = take_message(slot, json_root(message, "message of a worker"), event, &forged, &err);
    cJSON_Delete(message);
    if (!code)
        return;
    slot_event_free(event);
    slot_condemn(slot, event, forged ? VERDICT_TAMPER_SUSPECTED : VERDICT_INFRASTRUCTURE, err.text);
}

/* The key of a config that gives a stage its time; "" for those that are nobody's to set. */
static const char *limit_of(const struct stage_note *now)
{
    static const char *const keys[][2] = {
        {"setup", "setup_seconds"},    {"teardown", "setup_seconds"},  {"operands", "setup_seconds"},
        {"load", "setup_seconds"},     {STAGE_FENCE, "setup_seconds"}, {"verify", "launch_seconds"},
        {"measure", "launch_seconds"}, {"activity", "launch_seconds"}, {"tune", "tune_seconds"}};
    if (strcmp(now->stage, "verify") == 0 && !now->contender[0])
        return "verify_seconds";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (stage_is(now->stage, keys[i][0]))
            return keys[i][1];
    return "";
}

static void check_deadline(struct slot *slot, struct slot_event *event)
{
    char reason[RECORD_REASON_MAX];
    const struct stage_note *now = &slot->now;
    const char *key = limit_of(now);
    if (!patience_ends(&slot->patience, now, &slot->process))
        return;
    snprintf(reason, sizeof reason, "no sign of life for %.3g s in stage %s%s%s%s", now->seconds, now->stage,
             key[0] ? " (more time: limits." : "", key, key[0] ? " in the config)" : "");
    slot_condemn(slot, event, VERDICT_HANG, reason);
}

/* A call that no library makes. The launching thread's is its contender's; another thread may be anybody's, and fails
 * in its call without being named. True when the worker was condemned. */
static bool hears_tampering(struct slot *slot, struct slot_event *event)
{
    struct listener_call call;
    char reason[RECORD_REASON_MAX];
    process_follow(&slot->process);
    for (int i = 0; i < ANSWERS_MOST && listener_hear(&slot->process.listener, &call); i++) {
        if (!listener_is_launching(&call)) {
            listener_refuse(&call);
            continue;
        }
        (void)refresh(slot); /* the page stands still: its writer waits for an answer, and gets none */
        snprintf(reason, sizeof reason, "asked the system for what no library needs, and was denied: %s", call.what);
        slot_condemn(slot, event, VERDICT_TAMPER_SUSPECTED, reason);
        return true;
    }
    return false;
}

/* Nothing that it measured since is worth anything. */
static void condemn_clock(struct slot *slot, struct slot_event *event)
{
    char reason[RECORD_REASON_MAX];
    snprintf(reason, sizeof reason, "between two segments the worker's clock was %.0f ms %s the supervisor's",
             fabs(slot->clock_ns) * 1e-6, slot->clock_ns < 0 ? "behind" : "ahead of");
    slot_condemn(slot, event, VERDICT_TAMPER_SUSPECTED, reason);
    slot->now = slot->clock_owner;
}

/* A worker leaves no hook while something that it wrote is unread or its socket is another (worker/process_state.h). So
 * the page, read when there is something and before it is taken, says in whose hook it was written, or closed. */
static int read_message(struct slot *slot, char **line, size_t *length, bool *moved)
{
    struct pollfd there = {.fd = slot->process.fd, .events = POLLIN};
    bool begun = line_is_begun(&slot->reader), readable = poll(&there, 1, 0) > 0;
    *moved = refresh(slot);
    if (!begun)
        slot->writer = readable ? slot->now : (struct stage_note){0};
    int got = begun || readable ? line_read(&slot->reader, line, length) : 0;
    *moved |= refresh(slot); /* after reading: the page is then at least as new as the message */
    return got;
}

void slot_look(struct slot *slot, struct slot_event *event)
{
    char *line;
    size_t length;
    *event = (struct slot_event){0};
    if (slot->process.pid <= 0)
        return;
    relay_pass(&slot->process.said);
    if (hears_tampering(slot, event))
        return;
    /* Asked before reading: what the process wrote before its end is then in the socket. The stream alone would not
     * tell, for a child that a contender left behind holds it open. */
    bool ended = process_ended(&slot->process), moved = false;
    int got = read_message(slot, &line, &length, &moved);
    if (slot->clock_ns != 0)
        condemn_clock(slot, event);
    else if (got > 0)
        slot_take_line(slot, line, length, event);
    else if (got < 0 || ended)
        slot_ended(slot, event);
    else if (line_is_begun(&slot->reader) && slot->writer.contender[0])
        slot_condemn(slot, event, VERDICT_TAMPER_SUSPECTED, written);
    else
        check_deadline(slot, event);
    if (event->kind == SLOT_LOST && slot->writer.contender[0] && event->verdict == VERDICT_TAMPER_SUSPECTED)
        slot->now = slot->writer;
    if (event->kind == SLOT_NOTHING && moved && (slot->state == SLOT_BUSY || slot->state == SLOT_STARTING))
        event->kind = SLOT_STAGE;
}

bool slot_culprit(const struct slot *slot, const struct slot_event *event, struct exclusion *out)
{
    *out = (struct exclusion){0};
    if (!slot->now.contender[0] || event->verdict == VERDICT_INFRASTRUCTURE)
        return false;
    snprintf(out->name, sizeof out->name, "%s", slot->now.contender);
    out->verdict = event->verdict;
    snprintf(out->stage, sizeof out->stage, "%s", slot->now.stage);
    snprintf(out->reason, sizeof out->reason, "%s", event->reason);
    return true;
}

bool slot_ended_well(const struct slot *slot, const struct slot_event *event)
{
    return slot->told_to_quit && !slot->now.contender[0] && event->verdict == VERDICT_EARLY_EXIT &&
           strcmp(event->reason, "exited with code 0") == 0;
}
