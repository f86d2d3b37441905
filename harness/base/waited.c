/*
 * waited.c - reads a thread's scheduler statistics. Relies on /proc. Called by device/host_threads.c for this process
 * and run/process.c for a worker's.
 */
#include "base/waited.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t waited_ns(pid_t process, pid_t thread)
{
    char path[96], whose[16] = "self";
    uint64_t ran = 0, waited = 0;
    if (process != 0)
        snprintf(whose, sizeof whose, "%d", (int)process);
    snprintf(path, sizeof path, "/proc/%s/task/%d/schedstat", whose, (int)thread);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
        waited = 0;
    fclose(f);
    return waited;
}
