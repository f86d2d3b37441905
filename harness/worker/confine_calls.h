/*
 * confine_calls.h - what the files of the system-call filter share: a program for the kernel, led by the calls that are
 * told to the supervisor (confine_named.c) and followed by the list of what is allowed (confine_calls.c), and the
 * memory that nobody may change any more (confine_memory.c).
 */
#ifndef CUDAL2_WORKER_CONFINE_CALLS_H
#define CUDAL2_WORKER_CONFINE_CALLS_H

#include "worker/confine.h"
#include "worker/protocol.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
#define CONFINE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define CONFINE_ARCHITECTURE AUDIT_ARCH_X86_64
#endif

#define CONFINE_PROGRAM_MAX 4000 /* the kernel takes 4096 */

struct confine_program {
    struct sock_filter code[CONFINE_PROGRAM_MAX];
    unsigned short length;
};

/* Writes the head of the program: calls that no library makes, and changes of `ranges`, are told to the supervisor, who
 * answers "not permitted" and names the contender; without a listener they fail at once. The rest goes on to the list.
 */
void confine_name(struct confine_program *p, const struct confine_ranges *ranges, bool listened);

#endif
