/*
 * devices.c - resolves `--device` to CPU or a list of GPUs by NVML, and takes a lock file for each GPU, with a
 * deadline. Relies on device/visible.c. Called by the commands and supervisor.c.
 */
#include "run/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "device/device.h"

static int add_gpu(long ordinal, int gpus, struct devices *out, struct error *err)
{
    if (gpus == 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE,
                         "--device cuda: no usable NVIDIA GPU here (see `cudal2-bench doctor`); use --device cpu");
    if (ordinal >= gpus)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "--device cuda:%ld: the driver shows %d GPU%s, numbered from 0",
                         ordinal, gpus, gpus == 1 ? "" : "s");
    for (int i = 0; i < out->count; i++)
        if (out->ordinal[i] == ordinal)
            return error_set(err, EXIT_CODE_USAGE, "--device names cuda:%ld twice", ordinal);
    if (out->count == DEVICES_MAX)
        return error_set(err, EXIT_CODE_USAGE, "--device names more than %d GPUs", DEVICES_MAX);
    out->ordinal[out->count] = (int)ordinal;
    snprintf(out->spec[out->count++], sizeof out->spec[0], "cuda:%d", (int)ordinal);
    return 0;
}

static int bad_device(const char *text, struct error *err)
{
    return error_set(err, EXIT_CODE_USAGE, "--device %s: expected auto, cpu, cuda, cuda:N or cuda:N,N,...", text);
}

static int resolve_list(const char *text, int gpus, struct devices *out, struct error *err)
{
    const char *at = text + strlen("cuda:");
    for (;;) {
        char *end;
        long ordinal = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || end - at > 4 || (*end != ',' && *end != '\0'))
            return bad_device(text, err);
        if (add_gpu(ordinal, gpus, out, err))
            return err->code;
        if (*end == '\0')
            return 0;
        at = end + 1;
    }
}

int devices_resolve(const char *text, int gpus, struct devices *out, struct error *err)
{
    *out = (struct devices){.on_cuda = true};
    if (strcmp(text, "cpu") == 0 || (strcmp(text, "auto") == 0 && gpus <= 0)) {
        out->on_cuda = false;
        out->count = 1;
        strcpy(out->spec[0], "cpu");
        return 0;
    }
    if (strcmp(text, "auto") == 0 || strcmp(text, "cuda") == 0)
        return add_gpu(0, gpus, out, err);
    return strncmp(text, "cuda:", 5) == 0 ? resolve_list(text, gpus, out, err) : bad_device(text, err);
}

/* Opens, and makes the directory on the way. */
static int lock_open(const char *name, int *fd, struct error *err)
{
    char path[4096];
    if (file_cache_path("locks", name, path, sizeof path, err))
        return err->code;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (file_make_directories(path, err))
        return error_wrap(err, "lock of the GPU");
    *slash = '/';
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0)
        return error_set(err, EXIT_CODE_CANTCREATE, "lock file %s: %s", path, strerror(errno));
    return 0;
}

int devices_lock_named(const char *name, double seconds, const volatile int *stop, int *fd, struct error *err)
{
    if (lock_open(name, fd, err))
        return err->code;
    uint64_t deadline = clock_now_ns() + (uint64_t)(seconds * 1e9);
    while (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (busy && clock_now_ns() < deadline && !(stop && *stop)) {
            usleep(50000);
            continue;
        }
        if (busy)
            error_set(err, EXIT_CODE_TEMPORARY, "another run holds GPU %s (waited %.0f s)", name, seconds);
        else
            error_set(err, EXIT_CODE_IO, "lock of GPU %s: %s", name, strerror(errno));
        close(*fd);
        *fd = -1;
        return err->code;
    }
    return 0;
}

int devices_lock(int ordinal, double seconds, const volatile int *stop, int *fd, struct error *err)
{
    char uuid[64] = "";
    struct error ignored;
    *fd = -1;
    /* Without NVML the UUID is unknown before CUDA runs: the ordinal serves, as long as everybody sees the same GPUs.
     */
    if (device_gpu_uuid(ordinal, uuid, &ignored) || uuid[0] == '\0')
        snprintf(uuid, sizeof uuid, "cuda-%d", ordinal);
    return devices_lock_named(uuid, seconds, stop, fd, err);
}
