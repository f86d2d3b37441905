/*
 * ranges.c - offers a profiler's library the table of NVTX functions (NVTX 3's injection), and calls those that it
 * fills in. Its numbers and structs are declared here. Relies on dlopen. Called by worker/cell.c, worker.c and bench.c.
 */
#include "measure/ranges.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of nvtxTypes.h. */
enum { TABLE_CALLBACKS = 1, TABLE_VERSION = 3 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5, FUNCTIONS = 16 }; /* both modules have as many */
enum { PUSH = 9, POP = 11 };                                /* nvtxRangePushA, nvtxRangePop */
#define NVTX_VERSION 3u

typedef void (*function)(void);

struct callbacks {
    size_t size;
    int (*module_table)(int module, function ***table, unsigned *count);
};

struct version_info {
    size_t size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t version);
};

/* The protocol has no context to pass: a tool writes into these slots. */
static struct {
    function core[FUNCTIONS], core2[FUNCTIONS];
    function *core_table[FUNCTIONS + 1], *core2_table[FUNCTIONS + 1];
    bool tried, is_there, in_cell, in_turn;
    char turn[160];
} nvtx;

static int module_table(int module, function ***table, unsigned *count)
{
    if (module != MODULE_CORE && module != MODULE_CORE2)
        return 0;
    *table = module == MODULE_CORE ? nvtx.core_table : nvtx.core2_table;
    *count = FUNCTIONS;
    return 1;
}

static void set_version(uint32_t version)
{
    (void)version;
}

static const void *export_table(uint32_t id)
{
    static const struct callbacks callbacks = {sizeof callbacks, module_table};
    static const struct version_info version = {sizeof version, NVTX_VERSION, 0, set_version};
    return id == TABLE_CALLBACKS ? (const void *)&callbacks : id == TABLE_VERSION ? (const void *)&version : NULL;
}

void ranges_open(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    if (nvtx.tried)
        return;
    nvtx.tried = true;
    for (int i = 1; i < FUNCTIONS; i++) {
        nvtx.core_table[i] = &nvtx.core[i];
        nvtx.core2_table[i] = &nvtx.core2[i];
    }
    void *library = path && path[0] ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    memcpy(&initialize, &symbol, sizeof symbol);
    nvtx.is_there = initialize && initialize(export_table) != 0 && nvtx.core[PUSH] && nvtx.core[POP];
    if (path && path[0] && !nvtx.is_there)
        fprintf(stderr, "no NVTX ranges: %s (NVTX_INJECTION64_PATH) is no library of a profiler\n", path);
}

static void push(const char *name)
{
    int (*call)(const char *);
    memcpy(&call, &nvtx.core[PUSH], sizeof call);
    (void)call(name);
}

static void pop(void)
{
    int (*call)(void);
    memcpy(&call, &nvtx.core[POP], sizeof call);
    (void)call();
}

static void end_turn(void)
{
    if (nvtx.in_turn)
        pop();
    nvtx.in_turn = false;
    nvtx.turn[0] = '\0';
}

void ranges_begin_cell(const char *key)
{
    ranges_open();
    nvtx.in_cell = nvtx.is_there;
    if (nvtx.in_cell)
        push(key);
}

void ranges_turn(const char *contender, const char *stage)
{
    char turn[sizeof nvtx.turn];
    if (!nvtx.in_cell)
        return;
    snprintf(turn, sizeof turn, "%s: %s", contender[0] ? contender : "harness", stage);
    if (nvtx.in_turn && strcmp(turn, nvtx.turn) == 0)
        return;
    end_turn();
    memcpy(nvtx.turn, turn, sizeof turn);
    nvtx.in_turn = true;
    push(nvtx.turn);
}

void ranges_end_cell(void)
{
    if (!nvtx.in_cell)
        return;
    end_turn();
    pop();
    nvtx.in_cell = false;
}
