/*
 * plugin_place.h - where the launching thread of a plugin's own process stands while the process is stopped. Behind a
 * hook it waits in the harness's loop (plugin_server.c). A thread that stands elsewhere has not come back from a hook:
 * it answers in the loop's place, and sees inputs before it is asked. The kernel says where it stands
 * (/proc/PID/syscall); nothing that the process can write is believed. Called by plugin_process.c.
 */
#ifndef CUDAL2_CONTENDER_PLUGIN_PLACE_H
#define CUDAL2_CONTENDER_PLUGIN_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PLUGIN_ASTRAY                                                                                                  \
    "tamper_suspected: its thread had not come back from a launch that was answered: it answered by itself"

/* Of a thread in user code. */
struct plugin_place {
    uint64_t stack, code; /* pointers */
};

/* The stack pointer of the function that this is inlined into; 0: not known on this architecture. */
__attribute__((always_inline)) static inline uint64_t plugin_place_stack(void)
{
    uint64_t pointer = 0;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
#endif
    return pointer;
}

/* Of the process's first thread, which is stopped. False: the system does not tell. */
bool plugin_place_read(pid_t pid, struct plugin_place *out);

/* Whether it stands in the loop whose stack pointer is `loop` (0: not known): in code of this program or of libc, the
 * stack no deeper than a call from the loop takes. */
bool plugin_place_is_in(const struct plugin_place *is, uint64_t loop);

#endif
