/*
 * opening.c - opens a GPU while CUDA is shown no other: the driver comes up faster than with all GPUs of the host.
 * Relies on CUDA_VISIBLE_DEVICES, which the driver reads once. Called by worker.c, which has one thread then.
 */
#include "worker/opening.h"

#include <stdlib.h>
#include <string.h>

#include "device/cuda_watch.h"

#define VISIBLE "CUDA_VISIBLE_DEVICES"
#define CUDA "cuda:"

/* The variable is as it was afterwards: the record, and whoever is started from here, have it from the user. */
static int put_back(char *before, struct error *err)
{
    int failed = before ? setenv(VISIBLE, before, 1) : unsetenv(VISIBLE);
    free(before);
    return failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for a variable") : 0;
}

static int open_shown(const struct start_request *start, const char *device, struct watcher **watcher,
                      struct device **out, struct error *err)
{
    int code = start->audit ? cuda_watcher_open(watcher, err) : 0;
    return code ? code : device_open(device, NULL, out, err);
}

static int open_alone(const struct start_request *start, struct watcher **watcher, struct device **out,
                      struct error *err)
{
    struct error second;
    const char *value = getenv(VISIBLE);
    char *before = value ? strdup(value) : NULL;
    if ((value && !before) || setenv(VISIBLE, start->gpu, 1) != 0) {
        free(before);
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a variable");
    }
    int code = open_shown(start, CUDA "0", watcher, out, err);
    if (code)
        error_wrap(err, "%s, %s", start->device, start->gpu);
    if (put_back(before, &second) && !code)
        *err = second, code = err->code;
    return code;
}

int opening_device(const struct start_request *start, struct watcher **watcher, struct device **out, struct error *err)
{
    return start->gpu ? open_alone(start, watcher, out, err) : open_shown(start, start->device, watcher, out, err);
}

void opening_number(const struct start_request *start, cJSON *environment)
{
    cJSON *device = cJSON_GetObjectItemCaseSensitive(environment, "device");
    cJSON *number = cJSON_GetObjectItemCaseSensitive(device, "ordinal");
    if (start->gpu && number && strncmp(start->device, CUDA, strlen(CUDA)) == 0)
        cJSON_SetNumberValue(number, (double)strtol(start->device + strlen(CUDA), NULL, 10));
}

cJSON *opening_recorder(const struct watcher *watcher)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "cupti", watcher->version);
    cJSON_AddStringToObject(o, "path", watcher->path);
    return o;
}
