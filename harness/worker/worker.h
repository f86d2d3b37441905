/*
 * worker.h - the process that owns one device: `cudal2-bench worker`, started by the supervisor from /proc/self/exe.
 */
#ifndef CUDAL2_WORKER_WORKER_H
#define CUDAL2_WORKER_WORKER_H

/* `arguments`, NULL-terminated, are what follows `worker` on the command line: `at DEVICE timing|watching PATH...`, of
 * a process that is to enter namespaces in which that device works and these paths can be read; `in ...`, of one that
 * has (spaces.h); or nothing. Reads `start` from PROTOCOL_FD, opens device and registry, answers `ready`, then serves
 * `cell` until `quit` or end of file. Returns the process's exit code. */
int worker_main(char *const arguments[]);

#endif
