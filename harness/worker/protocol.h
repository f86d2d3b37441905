/*
 * protocol.h - JSON lines between supervisor and worker over a socket pair (fd 3 in the worker).
 *
 * supervisor -> worker: {"type":"start","config":{...},"device":"cuda:0","worker":0,"nonce":"...","plugins":null,
 *                        "kernels":null,"precompile":true,"refused":[...]}   perhaps "tuned":{files,none,force},
 *                                                                     "order":[3,0,...],"workers":2
 *                                                                     to an audit worker also "audit":true
 *                       {"type":"cell","problem":{...},"mode":"offline","label":"","seed":"123","nonce":"...",
 *                        "exclude":[...]}
 *                                                                     from the tuner also "search":{...},"finalists":3
 *                                                                     to an audit worker also "audit":[...]
 *                       {"type":"quit"}
 *                       a worker that is kept for another run (run/warm.h) gets another "start" in place of "quit"
 * worker -> supervisor: {"type":"ready","env":{...}}            env: device info, driver, library versions, host
 *                       {"type":"record","record":{...}}
 *                       {"type":"activity","contenders":[...]}    an audit worker's, in place of a record
 *                       {"type":"fatal","code":69,"text":"..."}  then the worker exits
 * Who is running, in which stage and by when it must be over, is not a message: stage_page.h.
 * Every worker message carries the latest nonce it was sent, one for the start and one for each cell; a message without
 * it is refused, and so is a record or `ready` that comes while the stage page names a contender: the worker itself
 * sends them when nobody's code is running. Both are kept in memory that a plugin can read: they stop replays,
 * leftovers and whoever just writes to the descriptor, not a plugin made to defeat them.
 */
#ifndef CUDAL2_WORKER_PROTOCOL_H
#define CUDAL2_WORKER_PROTOCOL_H

#include "base/json.h"
#include "worker/cell.h"

#define PROTOCOL_FD 3
/* How a worker ends that finds its process changed when it leaves a hook (process_state.h): the descriptor closed, or
 * bytes in it that it did not write; another locale. The stage page then says whose hook it was. */
#define PROTOCOL_TAMPERED 86
#define PROTOCOL_LOCALE 87
#define PROTOCOL_ARITHMETIC 88
#define PROTOCOL_DESCRIPTORS 89
#define PROTOCOL_VARIABLES 90
#define PROTOCOL_DISTURBED 91
#define PROTOCOL_MALLOC 92
#define PROTOCOL_INPUTS 93
#define PROTOCOL_THREADS 94
#define PROTOCOL_STACK 95
#define PROTOCOL_PLUGIN_ENDED 96 /* a plugin's own process did: the stage page says how */
#define PROTOCOL_FORGED 97       /* in a plugin's own process something answered in the harness's place */
#define PROTOCOL_MAX_LINE (4u << 20)

/* Line reader over a descriptor: keeps what came after the newline. */
struct line_reader {
    int fd;
    char *bytes;
    size_t length, capacity, consumed;
};

/* 1: a line is in *line (valid until the next call, no newline); 0: none yet (non-blocking fd); -1: end or error. */
int line_read(struct line_reader *r, char **line, size_t *length);
/* Whether there are bytes that no call has handed out. */
bool line_is_begun(const struct line_reader *r);
void line_reader_free(struct line_reader *r);
/* Prints `message` and a newline to fd, all of it. EXIT_CODE_IO on failure. */
int line_write(int fd, const cJSON *message, struct error *err);
#define PROTOCOL_NONCE CELL_NONCE

#define START_MAX_REFUSED CELL_MAX_EXCLUSIONS

/* What a worker is told once. Strings point into the tree they were read from; NULL directories mean the defaults. */
struct start_request {
    const cJSON *config;
    const char *device;
    const char *gpu; /* NULL, or its UUID: CUDA is to show no other */
    int worker;
    const char *nonce;
    const char *plugin_directory, *kernel_directory;
    bool precompile; /* kernels all at once; otherwise each in its contender's setup */
    /* Places of the config's shapes, in the order of the first cells that are to be measured of them, and how many
     * workers share those. NULL: all, as they are. */
    const cJSON *order;
    int workers;
    struct exclusion refused[START_MAX_REFUSED]; /* plugins that were the end of an earlier worker while loading */
    size_t n_refused;
    const char *tuned[CONFIG_NAMES_MAX + 1]; /* tuning tables to use; none named: this device's own */
    bool no_tuned, force_tuned;              /* no table at all; also those of another device */
    bool audit;                              /* it is to watch launches and to time nothing */
    bool search;                             /* its cells search variants: somebody must have some */
};
cJSON *start_request_to_json(const struct start_request *request);
int start_request_from_json(struct json_at at, struct start_request *out, struct error *err);

/* Copies a string node, which may be empty, into out. EXIT_CODE_DATA when absent, not a string or too long. */
int protocol_read_text(struct json_at at, char *out, size_t capacity, struct error *err);

/* All of the request, or nothing: strict both in keys and in ranges. */
cJSON *cell_request_to_json(const struct cell_request *request);
int cell_request_from_json(struct json_at at, struct cell_request *out, struct error *err);

#endif
