/*
 * crew_devices.c - what a crew needs of the machine before its workers start: a share of the cores for each, the GPU
 * that it is shown, and the locks. Relies on cores.h and devices.h. Called by crew.c.
 */
#include "run/crew_devices.h"

#include <stdlib.h>
#include <string.h>

#include "run/cores.h"

/* Where the cores cannot be told apart the workers share them all. */
static int deal_cores(struct crew *crew, struct error *err)
{
    struct cores_view *view = calloc(1, sizeof *view);
    cpu_set_t *parts = calloc(DEVICES_MAX, sizeof *parts);
    int code = view && parts ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the workers' cores");
    if (!code && crew->n > 1)
        cores_read("/sys", &crew->setup.spec->devices, view);
    bool shared = !code && crew->setup.spec->devices.on_cuda && cores_share(view, parts);
    for (int i = 0; i < crew->n && shared; i++) {
        crew->slots[i].has_cores = true;
        crew->slots[i].cores = parts[i];
    }
    free(view);
    free(parts);
    return code;
}

/* Whoever has to wait is told for whom. */
static int take_lock(const struct crew *crew, const char *name, int *fd, struct error *err)
{
    char holder[DEVICES_HOLDER_MAX];
    double seconds = crew->setup.spec->lock_seconds;
    int code = devices_lock(name, 0, crew->setup.stop, fd, err);
    if (code != EXIT_CODE_TEMPORARY || seconds <= 0)
        return code;
    devices_holder(name, holder);
    crew_note(crew, "%s measures on %s: waiting for it, %.0f s at most", holder, name, seconds);
    return devices_lock(name, seconds, crew->setup.stop, fd, err);
}

static int take_locks(struct crew *crew, const struct devices *devices, struct error *err)
{
    int order[DEVICES_MAX], code = 0;
    devices_lock_order(devices, order);
    for (int i = 0; i < crew->n && !code; i++) {
        const char *name = devices->lock[order[i]];
        struct slot *slot = &crew->slots[order[i]];
        if (name[0] && slot->lock_fd < 0)
            code = take_lock(crew, name, &slot->lock_fd, err);
    }
    return code;
}

/* Where NVML says which GPU it is, its worker's driver need not bring up the others. */
static void show_alone(struct crew *crew, const struct devices *devices)
{
    static const char uuid[] = "GPU-";
    for (int i = 0; i < crew->n; i++)
        crew->slots[i].shown = strncmp(devices->lock[i], uuid, strlen(uuid)) == 0 ? devices->lock[i] : NULL;
}

int crew_take_devices(struct crew *crew, struct error *err)
{
    show_alone(crew, &crew->setup.spec->devices);
    int code = deal_cores(crew, err);
    return code ? code : take_locks(crew, &crew->setup.spec->devices, err);
}
