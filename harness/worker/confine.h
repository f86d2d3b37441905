/*
 * confine.h - what a worker gives up once its device is open and before the first plugin is loaded: new privileges,
 * core dumps and huge files, system calls that no GEMM makes, and writing anywhere but into caches and temporary files.
 *
 * It is a fence against accident and against the cheap tricks (killing the supervisor, editing the journal, leaving a
 * child behind), not a vault: reading stays free, and what a plugin does inside its own process cannot be seen from
 * outside. What cannot be had on this system is a note in the record, never an error.
 */
#ifndef CUDAL2_WORKER_CONFINE_H
#define CUDAL2_WORKER_CONFINE_H

#include "base/json.h"

#include <stdbool.h>

/* The variable that chooses the parts: "on" (all, also when unset), "off", or a list such as "limits,calls". */
#define CONFINE_VARIABLE "CUDAL2_ISOLATION"

enum confine_part { CONFINE_LIMITS, CONFINE_FILES, CONFINE_CALLS, CONFINE_PARTS };

struct confinement {
    bool wanted[CONFINE_PARTS];
    bool in_force[CONFINE_PARTS];
    int landlock_abi;              /* 0: none */
    char note[CONFINE_PARTS][128]; /* why a wanted part is not in force, or not wholly; "" */
};

/* Reads the variable's value (NULL: unset). EXIT_CODE_USAGE with the parts there are. */
int confine_parse(const char *value, struct confinement *out, struct error *err);

/* Puts the wanted parts in force for this process, for good. Landlock holds for the calling thread and those it starts
 * later; the rest for every thread there is. */
void confine_process(struct confinement *c);

/* {"limits":true,"files":true,"calls":true,"landlock":7,"notes":[...]} for the worker's env entry; `notes` only where
 * there is one. Owned by the caller. */
cJSON *confine_to_json(const struct confinement *c);

/* The parts that need a file of their own. 0, or -1 with the reason in note[128]. */
int confine_files(int *landlock_abi, char note[128]);
int confine_calls(char note[128]);

#endif
