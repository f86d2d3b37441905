/*
 * confine.h - what a worker gives up once its device is open and before the first plugin is loaded: new privileges,
 * core dumps and huge files, system calls that no GEMM makes, writing anywhere but into caches and its own temporary
 * directory, devices, signals to others, and changes of the code that clocks and verdicts are made by.
 *
 * What cannot be had on this system is a note in the record, never an error. What a plugin does to the harness's data
 * inside its own process cannot be seen from outside (docs/trust.md, "What a plugin can still do").
 */
#ifndef CUDAL2_WORKER_CONFINE_H
#define CUDAL2_WORKER_CONFINE_H

#include "base/json.h"
#include "base/sanitized.h"
#include "device/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The variable that chooses the parts: "on" (all, also when unset), "off", or a list such as "limits,calls". */
#define CONFINE_VARIABLE "CUDAL2_ISOLATION"
/* The worker's end of a socket pair by which it hands the supervisor a listener for its system calls; -1 for none. */
#define CONFINE_LISTENER_FD 6
#define CONFINE_NOTE 128
#define CONFINE_RANGES_MAX 16

/* How the name of a temporary directory of a worker's own begins. */
#define CONFINE_TEMPORARY_NAME "cudal2-worker-"

enum confine_part {
    CONFINE_LIMITS,
    CONFINE_MEMORY,
    CONFINE_FILES,
    CONFINE_CALLS,
    CONFINE_SPACES,    /* namespaces of its own; these three are entered by spaces.h */
    CONFINE_PROCESSES, /* a process namespace, /proc and /dev/shm of its own */
    CONFINE_USER,      /* a user of its own */
    CONFINE_TEMPORARY, /* a temporary directory of its own, which who starts a worker makes */
    CONFINE_PARTS
};

/* What may be written of the cache. */
enum confine_caches {
    CONFINE_CACHES_ALL, /* and of the driver's: no stranger's code runs here */
    CONFINE_CACHES_OWN, /* $CUDAL2_CACHE_OWN (base/file.h) */
    CONFINE_CACHES_NONE
};

struct confinement {
    bool wanted[CONFINE_PARTS];
    bool in_force[CONFINE_PARTS];
    enum confine_caches caches;
    int landlock_abi;                       /* 0: none */
    bool stops;                             /* it is stopped between hooks: no timers, no restartable sequences */
    bool process_per_plugin;                /* plugins run in processes of their own (plugin_sandbox.h) */
    bool listened;                          /* the supervisor is told of the calls that no library makes */
    int listener_socket;                    /* where it listens; -1: nobody does */
    struct host_span operands;              /* what nobody may change of the memory; to 0: nothing */
    char note[CONFINE_PARTS][CONFINE_NOTE]; /* why a wanted part is not in force, or not wholly; "" */
};

/* Reads the variable's value (NULL: unset); nobody listens. EXIT_CODE_USAGE with the parts there are. */
int confine_parse(const char *value, struct confinement *out, struct error *err);

/* Puts the wanted parts but those of spaces.h in force for this process, for good, and closes the listener's socket.
 * Landlock holds for the calling thread and those it starts later; the rest for every thread there is. */
void confine_process(struct confinement *c);
/* The same, and the pages that the CPU's matrices lie on can no more be changed, or are watched where calls are not
 * filtered; a note says where they lie on the allocator's. */
void confine_keeping(struct confinement *c, const struct device *d);
/* Lowers a limit of this process (RLIMIT_*); one that is lower already stays. */
bool confine_lower(int resource, uint64_t most);

/* {"limits":true,"memory":true,"files":true,"calls":true,"namespaces":true,"processes":true,"user":true,
 * "temporary":true,"listened":true,"landlock":7,"notes":[...]} for the worker's env entry; `notes` only where there is
 * one. Owned by the caller. */
cJSON *confine_to_json(const struct confinement *c);

/* Memory that is not to be changed. */
struct confine_ranges {
    struct confine_range {
        uint64_t from, to;
    } list[CONFINE_RANGES_MAX]; /* none may be touched */
    size_t n;
    struct host_span operands; /* only given back as a whole; its ends are multiples of 4 GiB. to 0: none */
};

/* The parts that need a file of their own. 0, or -1 with the reason in the note. The ranges of the list are found
 * either way. */
int confine_memory(struct confine_ranges *ranges, char note[CONFINE_NOTE]);
int confine_files(struct confinement *c);
/* stops: as in struct confinement. With a listener (NULL: nobody listens) *listener becomes a descriptor for the
 * supervisor, or -1. */
int confine_calls(const struct confine_ranges *ranges, bool stops, int *listener, char note[CONFINE_NOTE]);

#endif
