/*
 * restartable.h - takes the calling thread out of the kernel's list of restartable sequences (rseq), into which the C
 * library puts every thread. Whoever may write what is registered says where the thread goes on after it was stopped:
 * a plugin would run code of its own behind SIGCONT, ahead of the question, on the thread that waits for it.
 */
#ifndef CUDAL2_WORKER_RESTARTABLE_H
#define CUDAL2_WORKER_RESTARTABLE_H

#include <stdbool.h>

/* Threads that this one starts are not registered either. Whether the thread is in no list now; true where the C
 * library had registered nothing. */
bool restartable_leave(void);

#endif
