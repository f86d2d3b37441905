/*
 * plugin_process.h - processes that plugins run in, one for each plugin, so that none shares memory with what times and
 * judges it but the matrices. Such a process is stopped (SIGSTOP) whenever none of its hooks runs: its threads can
 * neither work ahead, nor finish late, nor compute in a rival's turn.
 *
 * On the CPU device only: a GPU's context and graphs belong to the process that launches. A process is forked when its
 * plugin is to be loaded, while this one has one thread. Called by worker.c (open, close), registry.c (load) and
 * plugin_remote.c (hooks).
 */
#ifndef CUDAL2_CONTENDER_PLUGIN_PROCESS_H
#define CUDAL2_CONTENDER_PLUGIN_PROCESS_H

#include "contender/mapped.h"
#include "contender/plugin_mailbox.h"
#include "device/host_apart.h"

#include <sched.h>
#include <sys/types.h>

#define PLUGIN_PROCESSES_MOST 96

struct plugin_processes;
struct plugin_process;

struct plugin_processes_request {
    /* Processors of theirs, and the one that the calling thread keeps to while one of them is awake: on a busy machine
     * one that spins is not to keep the processor from who is to answer. */
    cpu_set_t plugins, harness;
    struct host_apart *apart;     /* where each sees its own memory; NULL: nowhere */
    bool alone;                   /* these are the same: who waits gives it up at once, not after a while */
    void (*enter)(void *context); /* in each of them, before its plugin is loaded: gives up what is the harness's */
    /* In the harness, when one has begun: its number. */
    void (*begun)(void *context, pid_t pid);
    /* In the harness, when one has ended: with what waitpid says of it. Does not return. */
    void (*ended)(void *context, int status);
    /* In the harness, when something has answered that is not the harness's loop: its process was killed. Does not
     * return. */
    void (*forged)(void *context);
    void *context;
};

/* NULL: no memory. */
struct plugin_processes *plugin_processes_open(const struct plugin_processes_request *request);
/* Ends them all. NULL: nothing. */
void plugin_processes_close(struct plugin_processes *all);

/* Forks one for the plugin at `path`, stopped. NULL with the reason: EXIT_CODE_UNAVAILABLE. */
struct plugin_process *plugin_processes_begin(struct plugin_processes *all, const char *path, struct error *err);

/* host_apart.h: pages become this process's. False: no memory, or none of the stretch. */
bool plugin_process_lend(struct plugin_process *p, const void *from, const void *to, bool keep);

struct plugin_mailbox *plugin_process_mailbox(const struct plugin_process *p);

/* mapped.h of it. */
void plugin_process_mapped(const struct plugin_process *p, struct mapped *out);

/* Has it run, and stops it. Between the two its hooks are asked for without the cost of either. Nested calls count. */
void plugin_process_wake(struct plugin_process *p);
void plugin_process_rest(struct plugin_process *p);
/* Whether at some rest its thread had not come back from a hook (plugin_place.h). */
bool plugin_process_is_astray(const struct plugin_process *p);

/* Asks for a hook and waits: wakes and stops it if nobody has woken it. Returns the answer's status; what else the
 * answer holds lies in the mailbox. */
int plugin_process_ask(struct plugin_process *p, const struct mailbox_question *question);

#endif
