/*
 * http.c - one thread for each connection, a limit on everything that a client sends, and api_handle for the rest.
 * Relies on libmicrohttpd's header when it is compiled (CUDAL2_MICROHTTPD, scripts/probe.sh) and on its library when it
 * runs. Called by cli/cmd_serve.c.
 */
#include "serve/http.h"

#include "serve/http_address.h"

static int check_address(const struct http_options *options, struct http_address *out, struct error *err)
{
    if (http_address_parse(options->listen, out, err))
        return err->code;
    if (options->clients || out->is_loopback)
        return 0;
    return error_set(err, EXIT_CODE_USAGE,
                     "--listen %.60s: others reach it, so --tokens FILE must say who may (or listen on 127.0.0.1)",
                     options->listen);
}

#ifdef CUDAL2_MICROHTTPD

#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "serve/api.h"
#include "serve/visitors.h"

#define LIBRARY "libmicrohttpd.so.12"
#define CONNECTIONS_MAX 512u /* beyond VISITORS_PLACES, those whose end the transport has not seen yet */
#define IDLE_SECONDS 30u     /* a client that sends nothing for so long is gone */
#define BODY_SECONDS 60.0    /* of a body, from its first byte to its last */
#define FORGOTTEN_BYTES (64u << 20)
#define STREAM_BYTES ((size_t)4 << 10)
#define STACK_BYTES ((size_t)512 << 10)

static struct {
    struct MHD_Daemon *(*start_daemon)(unsigned, uint16_t, MHD_AcceptPolicyCallback, void *, MHD_AccessHandlerCallback,
                                       void *, ...);
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_get_daemon_info) get_daemon_info;
    __typeof__(&MHD_get_connection_info) get_connection_info;
    __typeof__(&MHD_lookup_connection_value) lookup_connection_value;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_create_response_from_callback) create_response_from_callback;
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_destroy_response) destroy_response;
} lib;

struct http {
    struct MHD_Daemon *daemon;
    struct server *server;
    const struct clients *clients;
    struct visitors *visitors;
    char address[80];
};

static int load_library(struct error *err)
{
    const struct {
        const char *name;
        void *place;
    } wanted[] = {{"MHD_start_daemon", &lib.start_daemon},
                  {"MHD_stop_daemon", &lib.stop_daemon},
                  {"MHD_get_daemon_info", &lib.get_daemon_info},
                  {"MHD_get_connection_info", &lib.get_connection_info},
                  {"MHD_lookup_connection_value", &lib.lookup_connection_value},
                  {"MHD_create_response_from_buffer", &lib.create_response_from_buffer},
                  {"MHD_create_response_from_callback", &lib.create_response_from_callback},
                  {"MHD_add_response_header", &lib.add_response_header},
                  {"MHD_queue_response", &lib.queue_response},
                  {"MHD_destroy_response", &lib.destroy_response}};
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "serve: %s is not here (apt-get install libmicrohttpd12)",
                         LIBRARY);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *symbol = dlsym(handle, wanted[i].name);
        if (!symbol)
            return error_set(err, EXIT_CODE_UNAVAILABLE, "serve: %s has no %s", LIBRARY, wanted[i].name);
        memcpy(wanted[i].place, &symbol, sizeof symbol);
    }
    return 0;
}

int http_check(const struct http_options *options, struct error *err)
{
    struct http_address address;
    return check_address(options, &address, err) ? err->code : load_library(err);
}

/* ---- one request ---- */

/* Lives from the headers to the reply. */
struct exchange {
    char *body; /* owned */
    size_t length;
    unsigned long long left; /* of what the client announced */
    uint64_t began_ns;
    const char *why;
    int status; /* of the refusal that follows the body; 0: none */
};

/* Of a stream: what of an event the client has not got yet. */
struct sending {
    struct events *events; /* owned */
    const char *rest;
};

/* The connection's own thread waits in here. */
static ssize_t send_events(void *context, uint64_t position, char *to, size_t capacity)
{
    struct sending *s = context;
    (void)position;
    if (!s->rest || !*s->rest)
        s->rest = events_next(s->events);
    if (!s->rest)
        return MHD_CONTENT_READER_END_OF_STREAM;
    size_t n = strnlen(s->rest, capacity);
    memcpy(to, s->rest, n);
    s->rest += n;
    return (ssize_t)n;
}

/* After the last event, or when the client is gone. */
static void end_events(void *context)
{
    struct sending *s = context;
    events_close(s->events);
    free(s);
}

static struct MHD_Response *stream_of(struct api_reply *with)
{
    struct sending *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct sending){.events = with->events};
    struct MHD_Response *response =
        lib.create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BYTES, send_events, s, end_events);
    if (!response) {
        free(s);
        return NULL;
    }
    with->events = NULL;
    lib.add_response_header(response, "Cache-Control", "no-store");
    lib.add_response_header(response, "X-Accel-Buffering", "no"); /* a proxy that collects would hold events back */
    return response;
}

static struct MHD_Response *body_of(struct api_reply *with)
{
    static const char nothing[] = "";
    bool owned = with->body != NULL;
    void *body = owned ? with->body : (void *)nothing;
    return lib.create_response_from_buffer(strlen(body), body, owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result reply(struct MHD_Connection *connection, struct api_reply *with)
{
    struct MHD_Response *response = with->events ? stream_of(with) : body_of(with);
    if (!response) {
        api_reply_free(with);
        return MHD_NO;
    }
    lib.add_response_header(response, "Content-Type", with->type);
    lib.add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (with->status == 429 || with->status == 503)
        lib.add_response_header(response, "Retry-After", "5");
    if (with->status == 401)
        lib.add_response_header(response, "WWW-Authenticate", "Bearer");
    enum MHD_Result result = lib.queue_response(connection, (unsigned)with->status, response);
    lib.destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *connection, int status, const char *why)
{
    struct api_reply out;
    server_count_refusal(h->server, status);
    api_refuse(status, why, &out);
    return reply(connection, &out);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return lib.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static const char *client_of(const struct http *h, struct MHD_Connection *connection)
{
    return h->clients ? clients_find(h->clients, header(connection, "Authorization")) : HTTP_CLIENT;
}

/* A browser's page may send a form anywhere; JSON it may not send to a server that has not said so. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    size_t length = sizeof json - 1;
    return type && strncasecmp(type, json, length) == 0 && (type[length] == '\0' || strchr("; ", type[length]));
}

/* What the headers say of a request. */
struct head {
    unsigned long long bytes; /* of the body */
    int status;               /* 0, or of the refusal */
    const char *why;
    bool counted; /* its length is known */
};

/* What is wrong with a request is seen before its body comes. */
static struct head check_head(const struct http *h, struct MHD_Connection *connection, bool posts)
{
    static const char what[] = "expected the header Content-Length: the whole body's bytes, at most 8 MiB";
    const char *length = header(connection, "Content-Length");
    char *end = NULL;
    errno = 0;
    struct head head = {.bytes = length ? strtoull(length, &end, 10) : 0, .why = what};
    head.counted = length ? !errno && !*end : !header(connection, "Transfer-Encoding");
    if (!length && (posts || !head.counted))
        head.status = 411;
    else if (!head.counted || head.bytes > SUBMISSION_BODY_BYTES)
        head.status = 413;
    if (!client_of(h, connection)) {
        head.status = 401;
        head.why = "expected the header \"Authorization: Bearer TOKEN\" with a token of this server";
    } else if (!head.status && posts && !is_json(header(connection, "Content-Type"))) {
        head.status = 415;
        head.why = "expected Content-Type: application/json";
    }
    return head;
}

static struct exchange *exchange_open(const struct head *head)
{
    struct exchange *e = calloc(1, sizeof *e);
    size_t capacity = head->status ? 0 : (size_t)head->bytes;
    if (e)
        e->body = malloc(capacity + 1);
    if (!e || !e->body) {
        free(e);
        return NULL;
    }
    e->status = head->status;
    e->why = head->why;
    e->left = head->bytes;
    e->began_ns = clock_now_ns();
    return e;
}

/* Many a client reads no answer before it has sent its body. One of some size is let come, and forgotten. */
static enum MHD_Result begin(struct http *h, struct MHD_Connection *connection, const char *method, const char *path,
                             void **context)
{
    bool is_health = strcmp(path, "/health") == 0 && strcmp(method, "GET") == 0;
    struct head head = check_head(h, connection, strcmp(method, "POST") == 0);
    if (is_health && head.counted && head.bytes == 0)
        head.status = 0;
    if (head.status && (!head.counted || head.bytes == 0 || head.bytes > FORGOTTEN_BYTES))
        return refuse(h, connection, head.status, head.why);
    *context = exchange_open(&head);
    return *context ? MHD_YES : MHD_NO;
}

/* A body that trickles holds a connection; one that is longer than announced is no HTTP. */
static enum MHD_Result take(struct exchange *e, const char *bytes, size_t *n)
{
    bool late = (double)(clock_now_ns() - e->began_ns) * 1e-9 > BODY_SECONDS;
    if (late || *n > e->left)
        return MHD_NO;
    if (!e->status)
        memcpy(e->body + e->length, bytes, *n);
    e->length += e->status ? 0 : *n;
    e->left -= *n;
    *n = 0;
    return MHD_YES;
}

/* ---- connections ---- */

/* Of a connection that it does not know, no hurry. */
static struct visitor *visitor_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = lib.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Its socket is closed after the end has been told. */
static void microhttpd_connection(void *context, struct MHD_Connection *connection, void **visitor,
                                  enum MHD_ConnectionNotificationCode what)
{
    struct http *h = context;
    const union MHD_ConnectionInfo *info = lib.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *visitor = info ? visitors_come(h->visitors, info->connect_fd, clock_now_ns()) : NULL;
    else
        visitors_leave(h->visitors, *visitor);
}

/* It has closed its side, or the network says that nobody is there. */
static bool has_left(const void *context)
{
    const union MHD_ConnectionInfo *info = context;
    struct pollfd there = {.fd = info->connect_fd, .events = POLLRDHUP};
    return poll(&there, 1, 0) > 0 && (there.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static enum MHD_Result microhttpd_request(void *context, struct MHD_Connection *connection, const char *path,
                                          const char *method, const char *version, const char *bytes, size_t *n,
                                          void **kept)
{
    struct http *h = context;
    struct exchange *e = *kept;
    struct api_reply out;
    (void)version;
    if (!e) {
        visitors_next(h->visitors, visitor_of(connection), clock_now_ns());
        return begin(h, connection, method, path, kept);
    }
    if (*n > 0)
        return take(e, bytes, n);
    if (e->status)
        return refuse(h, connection, e->status, e->why);
    e->body[e->length] = '\0';
    const union MHD_ConnectionInfo *info = lib.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const struct api_request request = {.method = method,
                                        .path = path,
                                        .client = client_of(h, connection),
                                        .wait = lib.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "wait"),
                                        .body = e->body,
                                        .length = e->length,
                                        .gone = info ? has_left : NULL,
                                        .connection = info};
    if (request.client) /* a stranger gets his answer, but no place to wait for it */
        visitors_asked(h->visitors, visitor_of(connection));
    api_handle(h->server, &request, &out);
    return reply(connection, &out);
}

/* Whatever ended it: the reply was sent, or the client is gone. */
static void microhttpd_completed(void *context, struct MHD_Connection *connection, void **kept,
                                 enum MHD_RequestTerminationCode how)
{
    struct exchange *e = *kept;
    struct http *h = context;
    (void)how;
    visitors_next(h->visitors, visitor_of(connection), clock_now_ns());
    if (e)
        free(e->body);
    free(e);
    *kept = NULL;
}

/* ---- beginning and end ---- */

static void name_address(struct http *h, const struct http_address *address)
{
    const union MHD_DaemonInfo *info = lib.get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(h->address, sizeof h->address, "%s:%u", address->host, info ? (unsigned)info->port : 0);
}

static int start(struct http *h, const struct http_address *address, struct error *err)
{
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;
    if (address->socket.ss_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    h->daemon = lib.start_daemon(flags, 0, NULL, NULL, microhttpd_request, h, MHD_OPTION_SOCK_ADDR,
                                 (const struct sockaddr *)&address->socket, MHD_OPTION_NOTIFY_COMPLETED,
                                 microhttpd_completed, h, MHD_OPTION_NOTIFY_CONNECTION, microhttpd_connection, h,
                                 MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
                                 IDLE_SECONDS, MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, MHD_OPTION_END);
    if (!h->daemon)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "serve: cannot listen on %s: %s", address->host, strerror(errno));
    name_address(h, address);
    return 0;
}

int http_start(const struct http_options *options, struct server *server, struct http **out, struct error *err)
{
    struct http_address address;
    if (check_address(options, &address, err) || load_library(err))
        return err->code;
    struct http *h = calloc(1, sizeof *h);
    if (!h)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the server");
    h->server = server;
    h->clients = options->clients;
    if (visitors_open(&h->visitors, err) || start(h, &address, err)) {
        visitors_close(h->visitors);
        free(h);
        return err->code;
    }
    *out = h;
    return 0;
}

const char *http_address(const struct http *h)
{
    return h->address;
}

void http_stop(struct http *h)
{
    if (!h)
        return;
    lib.stop_daemon(h->daemon);
    visitors_close(h->visitors);
    free(h);
}

#else

int http_check(const struct http_options *options, struct error *err)
{
    struct http_address address;
    if (check_address(options, &address, err))
        return err->code;
    return error_set(err, EXIT_CODE_UNAVAILABLE,
                     "serve: built without libmicrohttpd (apt-get install libmicrohttpd-dev, then make again)");
}

int http_start(const struct http_options *options, struct server *server, struct http **out, struct error *err)
{
    (void)server;
    *out = NULL;
    return http_check(options, err);
}

const char *http_address(const struct http *h)
{
    (void)h;
    return "";
}

void http_stop(struct http *h)
{
    (void)h;
}

#endif
