/*
 * cores.c - which processors are near a GPU, and who gets them. Relies on base/sysfs.c and on the processors that this
 * process may use. Called by crew_devices.c when a run has several devices.
 */
#include "run/cores.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sysfs.h"

/* ---- what the kernel tells ---- */

static void read_near(const char *root, const char *bus, cpu_set_t *out)
{
    char path[PATH_MAX];
    CPU_ZERO(out);
    snprintf(path, sizeof path, "%s/bus/pci/devices/%s/numa_node", root, bus);
    int node = bus[0] ? sysfs_number(path, -1) : -1;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && node >= 0; cpu++) {
        snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpu%u", root, node, cpu);
        if (access(path, F_OK) == 0)
            CPU_SET(cpu, out);
    }
}

static bool overlap(const cpu_set_t *a, const cpu_set_t *b)
{
    cpu_set_t both;
    CPU_AND(&both, a, b);
    return CPU_COUNT(&both) > 0;
}

/* Whether any two devices have the same room or nothing in common. */
static bool is_divided(const struct cores_view *view)
{
    for (int i = 0; i < view->devices; i++)
        for (int j = 0; j < i; j++)
            if (!CPU_EQUAL(&view->room[i], &view->room[j]) && overlap(&view->room[i], &view->room[j]))
                return false;
    return true;
}

void cores_read(const char *root, const struct devices *devices, struct cores_view *out)
{
    cpu_set_t usable;
    memset(out, 0, sizeof *out);
    out->devices = devices->count;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        CPU_ZERO(&usable);
    for (int i = 0; i < devices->count; i++) {
        read_near(root, devices->bus[i], &out->room[i]);
        CPU_AND(&out->room[i], &out->room[i], &usable);
        if (CPU_COUNT(&out->room[i]) == 0)
            out->room[i] = usable;
    }
    bool divided = is_divided(out);
    for (int i = 0; i < devices->count && !divided; i++)
        out->room[i] = usable;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        out->core_of[cpu] = CPU_ISSET(cpu, &usable) ? sysfs_core(root, cpu) : (int)cpu;
}

/* ---- who gets what ---- */

/* Processors core by core, in the order of the first one of each; returns how many cores there are. cores[i]: of
 * cpus[i], counted from 0. */
static int list_cores(const struct cores_view *view, const cpu_set_t *room, unsigned *cpus, int *cores)
{
    int n = 0, count = 0;
    for (unsigned first = 0; first < CPU_SETSIZE; first++) {
        bool seen = !CPU_ISSET(first, room);
        for (int i = 0; i < n && !seen; i++)
            seen = cpus[i] == first;
        for (unsigned cpu = first; cpu < CPU_SETSIZE && !seen; cpu++) {
            if (CPU_ISSET(cpu, room) && view->core_of[cpu] == view->core_of[first]) {
                cores[n] = count;
                cpus[n++] = cpu;
            }
        }
        count += !seen;
    }
    return count;
}

/* The part of the `which`-th of `sharers`. False: there is nothing for it. */
static bool take_part(const struct cores_view *view, const cpu_set_t *room, int which, int sharers, cpu_set_t *out)
{
    unsigned cpus[CPU_SETSIZE];
    int cores[CPU_SETSIZE];
    int count = list_cores(view, room, cpus, cores), n = CPU_COUNT(room);
    CPU_ZERO(out);
    for (int i = 0; i < n; i++)
        if (cores[i] >= count * which / sharers && cores[i] < count * (which + 1) / sharers)
            CPU_SET(cpus[i], out);
    return CPU_COUNT(out) > 0;
}

bool cores_share(const struct cores_view *view, cpu_set_t out[DEVICES_MAX])
{
    bool shared = view->devices > 1;
    for (int i = 0; i < view->devices && shared; i++) {
        int which = 0, sharers = 0;
        for (int j = 0; j < view->devices; j++) {
            bool same = CPU_EQUAL(&view->room[i], &view->room[j]);
            which += same && j < i;
            sharers += same;
        }
        shared = take_part(view, &view->room[i], which, sharers, &out[i]);
    }
    return shared;
}
