/*
 * worker.h - the process that owns one device: `cudal2-bench worker`, started by the supervisor from /proc/self/exe.
 */
#ifndef CUDAL2_WORKER_WORKER_H
#define CUDAL2_WORKER_WORKER_H

/* Reads `start` from PROTOCOL_FD, opens device and registry, answers `ready`, then serves `cell` until `quit` or end of
 * file. Returns the process's exit code. */
int worker_main(void);

#endif
