/*
 * waited.h - how long a thread has waited for a processor: time in which it would have run.
 */
#ifndef CUDAL2_BASE_WAITED_H
#define CUDAL2_BASE_WAITED_H

#include <stdint.h>
#include <sys/types.h>

/* ns since the thread began, of a process's thread (process 0: this one's); 0 where the kernel does not count it, or it
 * has ended
 * (/proc/PID/task/TID/schedstat: "RAN WAITED TIMES"). */
uint64_t waited_ns(pid_t process, pid_t thread);

#endif
