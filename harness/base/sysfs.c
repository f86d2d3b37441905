/*
 * sysfs.c - numbers that the kernel keeps in files of one line. Relies on nothing else. Called by run/cores.c and
 * worker/behind.c.
 */
#include "base/sysfs.h"

#include <limits.h>
#include <stdio.h>

#define PACKAGE_CORES 65536 /* more than a package has */

int sysfs_number(const char *path, int otherwise)
{
    int number = otherwise;
    FILE *f = fopen(path, "re");
    if (!f)
        return otherwise;
    if (fscanf(f, "%d", &number) != 1)
        number = otherwise;
    fclose(f);
    return number;
}

int sysfs_core(const char *root, unsigned cpu)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/core_id", root, cpu);
    int core = sysfs_number(path, -1);
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/physical_package_id", root, cpu);
    int package = sysfs_number(path, 0);
    return core < 0 ? -1 - (int)cpu : (package < 0 ? 0 : package) * PACKAGE_CORES + core;
}
