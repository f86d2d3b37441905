/*
 * fuzz_message.c - a line on the socket between supervisor and worker, as either side reads it. The first byte says
 * what becomes of the rest: a line that a worker sent, the record, environment or activity inside a message that is
 * otherwise sound, or a request that a worker receives. Whatever a supervisor makes of a line, it comes to one event.
 */
#include "fuzz.h"

#include "base/text.h"
#include "run/slot.h"

#include <unistd.h>

static struct stage_page *page;
static struct slot slot;

/* No process behind it: what would be killed is nobody. */
static void reset_slot(enum slot_state state)
{
    struct error err;
    int fd;
    if (!page && stage_page_create(&page, &fd, &err) == 0)
        close(fd);
    require(page != NULL);
    slot = (struct slot){.state = state, .process = {.fd = -1, .page = page}, .nonce = "n", .work = 0};
    slot.request.problem =
        (struct cudal2_problem){.m = 16, .n = 24, .k = 32, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    slot.request.mode = MODE_OFFLINE;
}

static void check_event(const struct slot_event *event)
{
    switch (event->kind) {
    case SLOT_READY:
        require(event->env && !event->record);
        break;
    case SLOT_RECORD:
        require(event->record && !event->env && slot.state == SLOT_IDLE);
        require(problem_equal(&event->record->problem, &slot.request.problem));
        break;
    case SLOT_ACTIVITY:
        require(event->activity && slot.request.audit && !event->record && slot.state == SLOT_IDLE);
        break;
    case SLOT_LOST:
        require(event->verdict && event->reason[0] && !event->env && !event->record);
        require(memchr(event->reason, '\0', sizeof event->reason));
        break;
    default:
        abort(); /* every line means something */
    }
}

static const cJSON *audit; /* what a cell's request asks to be watched; NULL: it is to be measured */

static void take(enum slot_state state, const char *line, size_t length)
{
    struct slot_event event = {0};
    reset_slot(state);
    slot.request.audit = audit;
    slot_take_line(&slot, line, length, &event);
    check_event(&event);
    slot_event_free(&event);
}

static void take_wrapped(enum slot_state state, const char *head, const char *line, size_t length)
{
    struct text text = {0};
    text_add(&text, "%s", head);
    text_add_bytes(&text, line, length);
    text_add(&text, "}");
    if (!text.failed)
        take(state, text.bytes, text.length);
    text_free(&text);
}

/* What was seen of two contenders. */
static void take_activity(const char *line, size_t length)
{
    cJSON *asked = cJSON_Parse("[{\"name\":\"a\"},{\"name\":\"b\"}]");
    require(asked != NULL);
    audit = asked;
    take_wrapped(SLOT_BUSY, "{\"type\":\"activity\",\"nonce\":\"n\",\"contenders\":", line, length);
    audit = NULL;
    cJSON_Delete(asked);
}

static void read_request(const char *line, size_t length)
{
    static struct cell_request cell;
    static struct start_request start;
    struct error err = {0};
    cJSON *tree = NULL;
    if (json_parse(line, length, PROTOCOL_MAX_LINE, "fuzz", &tree, &err))
        return;
    struct json_at at = json_root(tree, "fuzz");
    if (cell_request_from_json(at, &cell, &err) == 0) {
        cJSON *again = cell_request_to_json(&cell);
        require(cell_request_from_json(json_root(again, "again"), &cell, &err) == 0);
        cJSON_Delete(again);
    }
    if (start_request_from_json(at, &start, &err) == 0) {
        cJSON *again = start_request_to_json(&start);
        require(start_request_from_json(json_root(again, "again"), &start, &err) == 0);
        cJSON_Delete(again);
    }
    cJSON_Delete(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = (const char *)data + 1;
    if (size == 0)
        return 0;
    switch (data[0]) {
    case 'R':
        take_wrapped(SLOT_BUSY, "{\"type\":\"record\",\"nonce\":\"n\",\"record\":", line, size - 1);
        break;
    case 'E':
        take_wrapped(SLOT_STARTING, "{\"type\":\"ready\",\"nonce\":\"n\",\"env\":", line, size - 1);
        break;
    case 'A':
        take_activity(line, size - 1);
        break;
    case 'W':
        read_request(line, size - 1);
        break;
    case 'I':
        take(SLOT_IDLE, line, size - 1);
        break;
    case 'S':
        take(SLOT_STARTING, line, size - 1);
        break;
    default:
        take(SLOT_BUSY, line, size - 1);
    }
    return 0;
}
