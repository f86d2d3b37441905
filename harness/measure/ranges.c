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
enum { MODULE_CORE = 1, MODULES = 7, MOST_FUNCTIONS = 16 };
enum { PUSH = 9, POP = 11 }; /* nvtxRangePushA, nvtxRangePop, of the core module */
#define NVTX_VERSION 3u

/* How many functions each module has: core, CUDA, OpenCL, CUDART, core2, sync. NVIDIA's tools fill in all of them, and
 * refuse a program in which one is not there. */
static const unsigned sizes[MODULES] = {0, 16, 9, 15, 7, 16, 7};

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
    function functions[MODULES][MOST_FUNCTIONS];
    function *tables[MODULES][MOST_FUNCTIONS + 1];
    bool tried, is_there, in_cell, in_turn;
    char turn[160];
} nvtx;

static int module_table(int module, function ***table, unsigned *count)
{
    if (module <= 0 || module >= MODULES)
        return 0;
    *table = nvtx.tables[module];
    *count = sizes[module];
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
    for (int m = MODULE_CORE; m < MODULES; m++)
        for (unsigned i = 1; i < sizes[m]; i++)
            nvtx.tables[m][i] = &nvtx.functions[m][i];
    void *library = path && path[0] ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    memcpy(&initialize, &symbol, sizeof symbol);
    const function *core = nvtx.functions[MODULE_CORE];
    nvtx.is_there = initialize && initialize(export_table) != 0 && core[PUSH] && core[POP];
    if (path && path[0] && !nvtx.is_there)
        fprintf(stderr, "no NVTX ranges: %s (NVTX_INJECTION64_PATH) is no library of a profiler\n", path);
}

static void push(const char *name)
{
    int (*call)(const char *);
    memcpy(&call, &nvtx.functions[MODULE_CORE][PUSH], sizeof call);
    (void)call(name);
}

static void pop(void)
{
    int (*call)(void);
    memcpy(&call, &nvtx.functions[MODULE_CORE][POP], sizeof call);
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
