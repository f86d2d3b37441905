/*
 * tool.h - runs a program to its end, within limits and alone: no descriptors but three, a session of its own, and
 * nothing of it left behind. Relies on fork and execve. Called by counters.c and serve/compiling.c.
 */
#ifndef CUDAL2_RUN_TOOL_H
#define CUDAL2_RUN_TOOL_H

#include <sys/resource.h>

struct tool {
    const char *program;
    const char *const *arguments; /* from the program's name on, NULL-terminated */
    char *const *environment;     /* NULL: ours */
    const char *out, *told;       /* files for what it prints: stdout, stderr; the same path: both */
    double seconds;               /* then it is killed */
    const volatile int *stop;     /* NULL: nobody stops it */
    rlim_t processor_seconds, memory_bytes, file_bytes; /* 0: no limit */
};

enum tool_end {
    TOOL_ENDED,
    TOOL_LATE,    /* killed, with all that it had started */
    TOOL_STOPPED, /* likewise */
    TOOL_FAILED   /* no process; errno says why */
};

/* *status: waitpid's, where it ended by itself; exit code 127: it could not be executed. What it has left running in
 * its process group is killed. */
enum tool_end tool_run(const struct tool *tool, int *status);

#endif
