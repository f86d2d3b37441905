/*
 * fuzz_request.c - every request that the transport hands over: method, path, header Authorization, ?wait= and body,
 * each a line of the input but for the last. "ID" in a path is the id of a job of alice's. Whatever is asked has an
 * answer of docs/serve.md's statuses, whoever has no token learns nothing, and nobody learns of another's job.
 */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "base/tree.h"
#include "serve/api.h"
#include "serve/clients.h"
#include "serve/server_state.h"

#define LINES 4

static struct client known[] = {{"alice", "aaaaaaaaaaaaaaaa"}, {"bob", "bbbbbbbbbbbbbbbb"}};
static const struct clients clients = {known, 2};
static char directory[] = "/tmp/fuzz-request-XXXXXX";
static char id[DIGEST_HEX];
static struct server *server;

static void remove_directory(void)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command))
        perror(command);
}

static void submit(const char *path, const char *body)
{
    struct api_reply out;
    const struct api_request request = {
        .method = "POST", .path = path, .client = "alice", .body = body, .length = strlen(body)};
    api_handle(server, &request, &out);
    require(out.status < 300);
    cJSON *told = cJSON_Parse(out.body);
    if (strlen(tree_text(told, "id")) == sizeof id - 1)
        memcpy(id, tree_text(told, "id"), sizeof id);
    cJSON_Delete(told);
    api_reply_free(&out);
}

/* A server without devices that has a job of alice's and ends, so that nobody is kept waiting. */
static void begin(void)
{
    static const struct devices nowhere = {.count = 0};
    static const char *const names[] = {"blocked", NULL};
    struct error err;
    require(mkdtemp(directory) != NULL);
    atexit(remove_directory);
    const struct server_options options = {.directory = directory,
                                           .devices = &nowhere,
                                           .candidates = names,
                                           .baselines = names,
                                           .baseline = "blocked",
                                           .queue = 10,
                                           .quota = 10,
                                           .quiet = true};
    require(server_open(&options, &server, &err) == 0);
    submit("/v1/jobs", "{\"candidate\":\"blocked\",\"problem\":\"8x8x8\"}");
    submit("/evaluate", "{\"task_id\":\"t\",\"kernel_code\":\"x\",\"timeout\":1,\"cudal2\":{\"candidate\":\"blocked\","
                        "\"problem\":\"8x8x8\"}}");
    server_drain(server, true);
}

/* The path with the id in place of the first "ID"; the caller's. */
static char *path_of(const char *text)
{
    size_t size = strlen(text) + sizeof id;
    char *path = malloc(size);
    const char *at = strstr(text, "ID");
    require(path != NULL);
    if (at)
        snprintf(path, size, "%.*s%s%s", (int)(at - text), text, id, at + 2);
    else
        snprintf(path, size, "%s", text);
    return path;
}

static bool is_status(int status)
{
    static const int all[] = {200, 202, 400, 401, 404, 405, 409, 429, 503};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (status == all[i])
            return true;
    return false;
}

static void check_body(const struct api_request *request, const struct api_reply *out)
{
    bool own = request->client && strcmp(request->client, "alice") == 0;
    require(out->body != NULL);
    if (strcmp(out->type, "application/json") == 0) {
        cJSON *told = cJSON_Parse(out->body);
        require(told != NULL);
        require(out->status < 400 || out->status == 503 || tree_text(told, "error")[0]);
        require(out->status != 200 || !strstr(out->body, id) || own);
        cJSON_Delete(told);
    }
    require(request->client || out->status == 401 || strcmp(request->path, "/health") == 0);
}

static void check(const struct api_request *request, struct api_reply *out)
{
    require(is_status(out->status));
    if (out->events) {
        require(request->client && strcmp(request->client, "alice") == 0 && out->status == 200);
        for (int i = 0; events_next(out->events); i++)
            require(i < 4);
    } else {
        check_body(request, out);
    }
    api_reply_free(out);
    require(server->waits.all == 0 && server->counts.streams == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *line[LINES], *rest = text;
    struct api_reply out;
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (!server)
        begin();
    for (size_t i = 0; i < LINES; i++)
        line[i] = rest ? strsep(&rest, "\n") : "";
    const char *body = rest ? rest : "";
    char *path = path_of(line[1]);
    const struct api_request request = {.method = line[0],
                                        .path = path,
                                        .client = clients_find(&clients, line[2]),
                                        .wait = line[3][0] ? line[3] : NULL,
                                        .body = body,
                                        .length = strlen(body)};
    api_handle(server, &request, &out);
    check(&request, &out);
    free(path);
    free(text);
    return 0;
}
