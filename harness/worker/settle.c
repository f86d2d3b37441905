/*
 * settle.c - where a worker lives before it opens anything: its namespaces, its descriptors. Relies on spaces.h. Called
 * by worker.c.
 */
#include "worker/settle.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda_watch.h"
#include "device/device.h"
#include "worker/protocol.h"
#include "worker/spaces.h"
#include "worker/stage_page.h"

#define LOCK_FD 4 /* the GPU's lock, held open and never used (run/process.h) */

void settle_descriptors(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
    fcntl(PROTOCOL_FD, F_SETFD, FD_CLOEXEC);
    fcntl(LOCK_FD, F_SETFD, FD_CLOEXEC);
    fcntl(STAGE_PAGE_FD, F_SETFD, FD_CLOEXEC);
    fcntl(CONFINE_LISTENER_FD, F_SETFD, FD_CLOEXEC);
}

struct place {
    const char *device;
    bool watches;
};

/* Whether the GPU's driver, and its recorder, work where the worker is about to go. */
static bool opens(void *context)
{
    const struct place *place = context;
    struct watcher *watcher = NULL;
    struct device *device = NULL;
    struct error ignored;
    return strcmp(place->device, "cpu") == 0 || ((!place->watches || cuda_watcher_open(&watcher, &ignored) == 0) &&
                                                 device_open(place->device, NULL, &device, &ignored) == 0);
}

void settle(struct confinement *c, char *const arguments[])
{
    struct error ignored;
    if (confine_parse(getenv(CONFINE_VARIABLE), c, &ignored) || !arguments[0])
        return;
    if (strcmp(arguments[0], "in") == 0 && !spaces_entered(c, arguments + 1))
        _exit(EXIT_CODE_USAGE);
    bool wary = strcmp(arguments[0], "wary") == 0;
    if ((!wary && strcmp(arguments[0], "at") != 0) || !arguments[1] || !arguments[2])
        return;
    struct place place = {arguments[1], strcmp(arguments[2], "watching") == 0};
    const struct spaces_trial trial = {wary ? opens : NULL, &place, arguments + 3};
    spaces_choose(c, &trial);
    spaces_enter(c, CONFINE_LISTENER_FD);
}
