/*
 * sysfs.h - what the kernel tells of the machine under /sys. `root` is "/sys", or a test's.
 */
#ifndef CUDAL2_BASE_SYSFS_H
#define CUDAL2_BASE_SYSFS_H

/* The number in a file of one line; `otherwise` where there is none. */
int sysfs_number(const char *path, int otherwise);

/* Threads of one core have the same. A processor of which nothing is known is a core of its own. */
int sysfs_core(const char *root, unsigned cpu);

#endif
