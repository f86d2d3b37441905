/*
 * protocol.c - the messages between supervisor and worker as JSON lines, both ways, with caps on length and time.
 * Relies on base/json.h. Called by worker.c, audit.c and run/slot.c.
 */
#include "worker/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define READ_CHUNK 65536u
#define WRITE_TIMEOUT_NS (30u * 1000000000ull)

/* ---- lines ---- */

/* Drops what was handed out before, so that `bytes` starts with the unread rest. */
static void reader_compact(struct line_reader *r)
{
    if (r->consumed == 0)
        return;
    r->length -= r->consumed;
    memmove(r->bytes, r->bytes + r->consumed, r->length);
    r->consumed = 0;
}

static bool reader_reserve(struct line_reader *r)
{
    if (r->capacity - r->length >= READ_CHUNK)
        return true;
    size_t capacity = r->capacity ? 2 * r->capacity : 2 * READ_CHUNK;
    char *bytes = realloc(r->bytes, capacity);
    if (!bytes)
        return false;
    r->bytes = bytes;
    r->capacity = capacity;
    return true;
}

/* A whole line from position `from` on: NUL in place of the newline. */
static bool reader_take(struct line_reader *r, size_t from, char **line, size_t *length)
{
    char *newline = r->length > from ? memchr(r->bytes + from, '\n', r->length - from) : NULL;
    if (!newline)
        return false;
    *newline = '\0';
    *line = r->bytes;
    *length = (size_t)(newline - r->bytes);
    r->consumed = *length + 1;
    return true;
}

int line_read(struct line_reader *r, char **line, size_t *length)
{
    reader_compact(r);
    size_t searched = 0;
    while (!reader_take(r, searched, line, length)) {
        searched = r->length;
        if (r->length > PROTOCOL_MAX_LINE || !reader_reserve(r))
            return -1;
        ssize_t n = read(r->fd, r->bytes + r->length, READ_CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n <= 0)
            return -1;
        r->length += (size_t)n;
    }
    return 1;
}

bool line_is_begun(const struct line_reader *r)
{
    return r->length > r->consumed;
}

void line_reader_free(struct line_reader *r)
{
    free(r->bytes);
    *r = (struct line_reader){.fd = -1};
}

/* send() so that a dead peer is an error and not a SIGPIPE; a pipe (tests) takes write(). */
static ssize_t write_some(int fd, const char *bytes, size_t length)
{
    ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(fd, bytes, length) : n;
}

static int write_all(int fd, const char *bytes, size_t length, struct error *err)
{
    uint64_t deadline = clock_now_ns() + WRITE_TIMEOUT_NS;
    for (size_t done = 0; done < length;) {
        ssize_t n = write_some(fd, bytes + done, length - done);
        if (n >= 0) {
            done += (size_t)n;
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            return error_set(err, EXIT_CODE_IO, "writing a message: %s", strerror(errno));
        if (clock_now_ns() > deadline)
            return error_set(err, EXIT_CODE_IO, "writing a message: the other side does not read");
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        poll(&wait, 1, 100);
    }
    return 0;
}

int line_write(int fd, const cJSON *message, struct error *err)
{
    char *text = json_print(message, false);
    if (!text)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a message");
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the NUL: one write for the whole line */
    int code = write_all(fd, text, length + 1, err);
    free(text);
    return code;
}

/* ---- the cell request ---- */

static cJSON *problem_to_json(const struct cudal2_problem *p)
{
    char args[PROBLEM_ARGS_MAX];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "m", (double)p->m);
    cJSON_AddNumberToObject(o, "n", (double)p->n);
    cJSON_AddNumberToObject(o, "k", (double)p->k);
    cJSON_AddStringToObject(o, "dtype", dtype_names[p->dtype]);
    cJSON_AddStringToObject(o, "accumulate", accumulate_names[p->accumulate]);
    problem_args(p, args);
    if (args[0])
        cJSON_AddStringToObject(o, "args", args);
    return o;
}

static int problem_from_json(struct json_at at, struct cudal2_problem *out, struct error *err)
{
    static const char *const keys[] = {"m", "n", "k", "dtype", "accumulate", "args", NULL};
    int dtype = 0, accumulate = 0;
    struct json_at args = json_member(at, "args");
    const int64_t huge = (int64_t)1 << 40;
    if (json_only_keys(at, keys, err) || json_read_int(json_member(at, "m"), 1, huge, &out->m, err) ||
        json_read_int(json_member(at, "n"), 1, huge, &out->n, err) ||
        json_read_int(json_member(at, "k"), 1, huge, &out->k, err) ||
        json_read_choice(json_member(at, "dtype"), dtype_names, &dtype, err) ||
        json_read_choice(json_member(at, "accumulate"), accumulate_names, &accumulate, err))
        return err->code;
    out->dtype = (enum cudal2_dtype)dtype;
    out->accumulate = (enum cudal2_accumulate)accumulate;
    if (args.node && !cJSON_IsString(args.node))
        return json_expected(args, err, "a string");
    return args.node ? problem_args_parse(args.node->valuestring, out, err) : 0;
}

static cJSON *exclusion_to_json(const struct exclusion *e)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", e->name);
    cJSON_AddStringToObject(o, "status", verdict_name(e->verdict));
    cJSON_AddStringToObject(o, "stage", e->stage);
    cJSON_AddStringToObject(o, "reason", e->reason);
    return o;
}

static void put_exclusions(cJSON *o, const char *key, const struct exclusion *exclusions, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(o, key);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, exclusion_to_json(&exclusions[i]));
}

cJSON *cell_request_to_json(const struct cell_request *request)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "type", "cell");
    cJSON_AddItemToObject(o, "problem", problem_to_json(&request->problem));
    cJSON_AddStringToObject(o, "mode", mode_names[request->mode]);
    cJSON_AddStringToObject(o, "label", request->label);
    json_put_u64(o, "seed", request->seed);
    cJSON_AddStringToObject(o, "nonce", request->nonce);
    put_exclusions(o, "exclude", request->exclusions, request->n_exclusions);
    if (request->search) {
        cJSON_AddItemToObject(o, "search", cJSON_Duplicate(request->search, true));
        cJSON_AddNumberToObject(o, "finalists", request->finalists);
    }
    if (request->audit)
        cJSON_AddItemToObject(o, "audit", cJSON_Duplicate(request->audit, true));
    return o;
}

int protocol_read_text(struct json_at at, char *out, size_t capacity, struct error *err)
{
    if (!at.node || !cJSON_IsString(at.node))
        return json_fail(at, err, at.node ? "expected a string" : "is missing");
    size_t length = strlen(at.node->valuestring);
    if (length >= capacity)
        return json_fail(at, err, "string of %zu bytes, at most %zu fit", length, capacity - 1);
    memcpy(out, at.node->valuestring, length + 1);
    return 0;
}

static int read_verdict(struct json_at at, enum verdict *out, struct error *err)
{
    char word[RECORD_WORD_MAX];
    if (protocol_read_text(at, word, sizeof word, err))
        return err->code;
    *out = verdict_of(word);
    return *out == VERDICT_COUNT ? json_fail(at, err, "there is no verdict \"%s\"", word) : 0;
}

static int exclusion_from_json(struct json_at at, struct exclusion *out, struct error *err)
{
    static const char *const keys[] = {"name", "status", "stage", "reason", NULL};
    if (json_only_keys(at, keys, err) ||
        protocol_read_text(json_member(at, "name"), out->name, sizeof out->name, err) ||
        read_verdict(json_member(at, "status"), &out->verdict, err) ||
        protocol_read_text(json_member(at, "stage"), out->stage, sizeof out->stage, err) ||
        protocol_read_text(json_member(at, "reason"), out->reason, sizeof out->reason, err))
        return err->code;
    return 0;
}

static int exclusions_from_json(struct json_at at, struct exclusion out[CELL_MAX_EXCLUSIONS], size_t *n,
                                struct error *err)
{
    int count = 0;
    if (json_read_array(at, 0, &count, err))
        return err->code;
    if ((size_t)count > CELL_MAX_EXCLUSIONS)
        return json_fail(at, err, "%d exclusions, at most %d", count, (int)CELL_MAX_EXCLUSIONS);
    for (int i = 0; i < count; i++)
        if (exclusion_from_json(json_element(at, i), &out[i], err))
            return err->code;
    *n = (size_t)count;
    return 0;
}

/* Contender names with what they are to race: keys, or null for their own variants. */
static int search_from_json(struct json_at at, struct cell_request *out, struct error *err)
{
    struct json_at search = json_member(at, "search");
    const char *key;
    int64_t finalists;
    if (!search.node)
        return 0;
    if (!cJSON_IsObject(search.node))
        return json_fail(search, err, "expected an object");
    for (const cJSON *child = search.node->child; child; child = child->next) {
        struct json_at list = json_member(search, child->string);
        int count = 0;
        if (cJSON_IsNull(child))
            continue;
        if (json_read_array(list, 0, &count, err))
            return err->code;
        for (int i = 0; i < count; i++)
            if (json_read_string(json_element(list, i), &key, err))
                return err->code;
    }
    if (json_read_int(json_member(at, "finalists"), 1, CELL_MAX_FINALISTS, &finalists, err))
        return err->code;
    out->search = search.node;
    out->finalists = (unsigned)finalists;
    return 0;
}

int cell_request_from_json(struct json_at at, struct cell_request *out, struct error *err)
{
    static const char *const keys[] = {"type",    "problem", "mode",      "label", "seed", "nonce",
                                       "exclude", "search",  "finalists", "audit", NULL};
    int mode = 0;
    *out = (struct cell_request){0};
    if (json_only_keys(at, keys, err) || problem_from_json(json_member(at, "problem"), &out->problem, err) ||
        json_read_choice(json_member(at, "mode"), mode_names, &mode, err) ||
        protocol_read_text(json_member(at, "label"), out->label, sizeof out->label, err) ||
        json_read_u64(json_member(at, "seed"), &out->seed, err) ||
        protocol_read_text(json_member(at, "nonce"), out->nonce, sizeof out->nonce, err) ||
        exclusions_from_json(json_member(at, "exclude"), out->exclusions, &out->n_exclusions, err) ||
        search_from_json(at, out, err))
        return err->code;
    out->mode = (enum mode)mode;
    out->audit = json_member(at, "audit").node;
    return 0;
}

/* ---- the start request ---- */

static void put_text_or_null(cJSON *o, const char *key, const char *value)
{
    cJSON_AddItemToObject(o, key, value ? cJSON_CreateString(value) : cJSON_CreateNull());
}

static cJSON *tuned_to_json(const struct start_request *request)
{
    cJSON *o = cJSON_CreateObject(), *files = cJSON_AddArrayToObject(o, "files");
    for (size_t i = 0; request->tuned[i]; i++)
        cJSON_AddItemToArray(files, cJSON_CreateString(request->tuned[i]));
    cJSON_AddBoolToObject(o, "none", request->no_tuned);
    cJSON_AddBoolToObject(o, "force", request->force_tuned);
    return o;
}

cJSON *start_request_to_json(const struct start_request *request)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "type", "start");
    cJSON_AddItemToObject(o, "config", cJSON_Duplicate(request->config, true));
    cJSON_AddStringToObject(o, "device", request->device);
    if (request->gpu)
        cJSON_AddStringToObject(o, "gpu", request->gpu);
    cJSON_AddNumberToObject(o, "worker", request->worker);
    cJSON_AddStringToObject(o, "nonce", request->nonce);
    put_text_or_null(o, "plugins", request->plugin_directory);
    put_text_or_null(o, "kernels", request->kernel_directory);
    cJSON_AddBoolToObject(o, "precompile", request->precompile);
    if (request->order) {
        cJSON_AddItemToObject(o, "order", cJSON_Duplicate(request->order, true));
        cJSON_AddNumberToObject(o, "workers", request->workers);
    }
    put_exclusions(o, "refused", request->refused, request->n_refused);
    if (request->tuned[0] || request->no_tuned || request->force_tuned)
        cJSON_AddItemToObject(o, "tuned", tuned_to_json(request));
    if (request->audit)
        cJSON_AddTrueToObject(o, "audit");
    if (request->search)
        cJSON_AddTrueToObject(o, "search");
    return o;
}

static int read_text_or_null(struct json_at at, const char **out, struct error *err)
{
    *out = NULL;
    return at.node && cJSON_IsNull(at.node) ? 0 : json_read_string(at, out, err);
}

static int tuned_from_json(struct json_at at, struct start_request *out, struct error *err)
{
    static const char *const keys[] = {"files", "none", "force", NULL};
    struct json_at files = json_member(at, "files");
    int count = 0;
    if (!at.node)
        return 0;
    if (json_only_keys(at, keys, err) || json_read_array(files, 0, &count, err) ||
        json_read_bool(json_member(at, "none"), &out->no_tuned, err) ||
        json_read_bool(json_member(at, "force"), &out->force_tuned, err))
        return err->code;
    if (count > CONFIG_NAMES_MAX)
        return json_fail(files, err, "more than %d tables", CONFIG_NAMES_MAX);
    for (int i = 0; i < count; i++)
        if (json_read_string(json_element(files, i), &out->tuned[i], err))
            return err->code;
    return 0;
}

static int order_from_json(struct json_at at, struct start_request *out, struct error *err)
{
    struct json_at order = json_member(at, "order"), each;
    int64_t workers = 0, place;
    const cJSON *one = NULL;
    int count = 0, i = 0;
    if (!order.node)
        return 0;
    if (json_read_array(order, 0, &count, err) ||
        json_read_int(json_member(at, "workers"), 1, INT32_MAX, &workers, err))
        return err->code;
    while (json_each(order, &one, &i, &each))
        if (json_read_int(each, 0, INT32_MAX, &place, err))
            return err->code;
    out->order = order.node;
    out->workers = (int)workers;
    return 0;
}

static int read_flag(struct json_at at, bool *out, struct error *err)
{
    return at.node ? json_read_bool(at, out, err) : 0;
}

int start_request_from_json(struct json_at at, struct start_request *out, struct error *err)
{
    static const char *const keys[] = {"type",    "config",  "device",     "gpu",     "worker", "nonce",
                                       "plugins", "kernels", "precompile", "refused", "tuned",  "audit",
                                       "search",  "order",   "workers",    NULL};
    struct json_at gpu = json_member(at, "gpu");
    int64_t worker = 0;
    *out = (struct start_request){0};
    if (json_only_keys(at, keys, err) || json_read_string(json_member(at, "device"), &out->device, err) ||
        (gpu.node && json_read_string(gpu, &out->gpu, err)) ||
        json_read_int(json_member(at, "worker"), 0, INT32_MAX, &worker, err) ||
        json_read_string(json_member(at, "nonce"), &out->nonce, err) ||
        read_text_or_null(json_member(at, "plugins"), &out->plugin_directory, err) ||
        read_text_or_null(json_member(at, "kernels"), &out->kernel_directory, err) ||
        json_read_bool(json_member(at, "precompile"), &out->precompile, err) ||
        exclusions_from_json(json_member(at, "refused"), out->refused, &out->n_refused, err) ||
        order_from_json(at, out, err) || tuned_from_json(json_member(at, "tuned"), out, err) ||
        read_flag(json_member(at, "audit"), &out->audit, err) ||
        read_flag(json_member(at, "search"), &out->search, err))
        return err->code;
    out->config = json_member(at, "config").node;
    out->worker = (int)worker;
    return out->config ? 0 : json_fail(json_member(at, "config"), err, "is missing");
}
