/*
 * plugin_sandbox.h - a worker whose plugins run in processes of their own (contender/plugin_process.h): those are
 * confined, and the worker, in which no stranger's code runs, is not. The worker times on a processor that it keeps for
 * itself.
 */
#ifndef CUDAL2_WORKER_PLUGIN_SANDBOX_H
#define CUDAL2_WORKER_PLUGIN_SANDBOX_H

#include "contender/plugin_process.h"
#include "device/device.h"
#include "model/config.h"
#include "worker/confine.h"
#include "worker/stage_page.h"

/* All zero: plugins run in the worker. */
struct plugin_sandbox {
    struct plugin_processes *processes;
    struct confinement *entered;     /* shared: what the latest process to load a plugin has entered */
    const struct confinement *asked; /* what it is to enter */
    struct device *device;
    struct stage_page *page;
};

struct plugin_sandbox_request {
    struct device *device;
    struct confinement *confinement; /* what is wanted, with the socket for listeners; stays where it is */
    struct stage_page *page;
    const struct config *config;
    const char *plugin_directory; /* as in caches.h */
};

/* `a` stays where it is. The device's matrices are shared memory from now on, its threads are as many as there are
 * processors for plugins, and no other process of this user's may read this one's memory. EXIT_CODE_UNAVAILABLE. */
int plugin_sandbox_open(struct plugin_sandbox *a, const struct plugin_sandbox_request *request, struct error *err);
/* The same on the CPU device, where it is asked for and pages can be shared; else this process is confined. The driver
 * is up by then, and strangers' code runs from here on. */
int plugin_sandbox_or_confine(struct plugin_sandbox *a, const struct plugin_sandbox_request *request,
                              struct error *err);
/* Ends the plugins' processes: what is loaded next has new ones. Without plugin_sandbox_open: nothing. */
int plugin_sandbox_renew(struct plugin_sandbox *a, struct error *err);
/* What of the confinement is in force where plugins run; nothing where none has been loaded. */
void plugin_sandbox_note(const struct plugin_sandbox *a, struct confinement *out);
void plugin_sandbox_close(struct plugin_sandbox *a);

#endif
