/*
 * cmd_doctor.c - the command `doctor`: looks at driver, GPUs, libraries, compilers and says what is missing with the
 * command that gets it. Measures nothing. Called by main.c.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/sanitize.h"
#include "compile/cubins.h"
#include "compile/kernels.h"
#include "compile/nvrtc.h"
#include "contender/contender.h"
#include "cli/terminal.h"
#include "device/cupti.h"
#include "device/nvml.h"
#include "run/counters.h"
#include "run/worker_directory.h"
#include "worker/confine.h"
#include "worker/spaces.h"

/* One line of the diagnosis: what was found, or what is missing and how to get it. */
static void say_ok(const char *what, const char *found)
{
    char ours[64];
    snprintf(ours, sizeof ours, "ok       %-20s ", what);
    terminal_say(stdout, ours, found);
}

static void say_missing(const char *what, const char *why, const char *remedy)
{
    char ours[64];
    snprintf(ours, sizeof ours, "missing  %-20s ", what);
    terminal_say(stdout, ours, why);
    printf("         %-20s -> %s\n", "", remedy);
}

/* ---- GPU ---- */

static void check_nvml(const struct device_info *gpu)
{
    struct error err;
    struct nvml *nvml = NULL;
    char text[160];
    struct device_health health;
    if (nvml_open(gpu->uuid, &nvml, &err)) {
        say_missing("NVML", err.text,
                    "install the driver's utility libraries (libnvidia-ml.so.1); clocks go unrecorded");
        return;
    }
    nvml_health(nvml, &health);
    snprintf(text, sizeof text, "SM clock %d MHz, %d C, power limit %d W", health.sm_clock_mhz, health.temperature_c,
             gpu->power_limit_mw / 1000);
    say_ok("NVML", text);
    nvml_close(nvml);
}

/* See device_ops.held. */
static void check_hold(const struct device_info *gpu)
{
    if (gpu->holds)
        say_ok("held graphs", "device times from idle have no host in them");
    else
        say_missing("held graphs",
                    "a launch does not come back while the stream waits: device times from idle have the host in them",
                    "unset CUDA_LAUNCH_BLOCKING and run without a profiler");
}

static void check_gpus(void)
{
    int count = device_count_gpus();
    for (int i = 0; i < count; i++) {
        struct device *device = NULL;
        struct error err;
        char text[400];
        if (device_open_cuda(i, &device, &err)) {
            say_missing("GPU", err.text, "check `nvidia-smi`; a container needs the compute capability of the driver");
            continue;
        }
        snprintf(text, sizeof text, "cuda:%d %s, sm_%d, driver %s, %s, at most %.4g TFLOPS of f16", i,
                 device->info.name, device->info.cc, device->info.driver, device->info.uuid,
                 device_peak_flops(&device->info, CUDAL2_F16) / 1e12);
        say_ok("GPU", text);
        check_nvml(&device->info);
        check_hold(&device->info);
        device->ops->close(device);
    }
    if (count == 0)
        say_missing("GPU", "the driver shows none (CUDA_VISIBLE_DEVICES counts too)",
                    "install the NVIDIA driver; without one --device cpu runs torch.matmul, openblas and CPU plugins, "
                    "not cublas, cublaslt or kernel sets such as cudal2");
}

static void check_cpu(void)
{
    struct device *device = NULL;
    struct error err;
    char text[256];
    if (device_open_cpu(&device, &err)) {
        say_missing("CPU", err.text, "report this as a bug");
        return;
    }
    const struct device_info *cpu = &device->info;
    snprintf(text, sizeof text, "%s, %d threads, at most %.3g TFLOPS of f32, %.3g of bf16", cpu->name, cpu->threads,
             device_peak_flops(cpu, CUDAL2_F32) / 1e12, device_peak_flops(cpu, CUDAL2_BF16) / 1e12);
    say_ok("CPU", text);
    device->ops->close(device);
}

/* ---- what confines a worker ---- */

/* In a child, for there is no way back. */
static void say_isolation(const char *directory)
{
    static const char *const names[] = {[CONFINE_LIMITS] = "limits",     [CONFINE_MEMORY] = "sealed memory",
                                        [CONFINE_FILES] = "files",       [CONFINE_CALLS] = "system calls",
                                        [CONFINE_SPACES] = "namespaces", [CONFINE_PROCESSES] = "processes",
                                        [CONFINE_USER] = "user",         [CONFINE_TEMPORARY] = "temporary directory"};
    static const char *const remedies[] = {
        [CONFINE_LIMITS] = "report this as a bug",
        [CONFINE_MEMORY] = "Linux 6.10 has it; changes are denied by name until then",
        [CONFINE_FILES] = "a kernel with Landlock; until then only modules of strangers (docs/trust.md)",
        [CONFINE_CALLS] = "a kernel and container that allow seccomp; until then only modules of strangers",
        [CONFINE_SPACES] = "a system that allows user namespaces; system calls and files are confined without them",
        [CONFINE_PROCESSES] = "a system that allows them; what a worker starts is killed by its group without them",
        [CONFINE_USER] = "nothing: a worker has its user's files either way (docs/trust.md)",
        [CONFINE_TEMPORARY] = "a TMPDIR that can be written to"};
    struct confinement c;
    struct error err;
    if (confine_parse(NULL, &c, &err))
        return;
    if (directory)
        setenv("TMPDIR", directory, 1);
    spaces_choose(&c, &(struct spaces_trial){0});
    confine_process(&c);
    for (int i = 0; i < CONFINE_PARTS; i++) {
        char what[40];
        snprintf(what, sizeof what, "isolation: %s", names[i]);
        if (c.in_force[i])
            say_ok(what,
                   i == CONFINE_FILES && c.landlock_abi < 6 ? "Landlock without the scope of signals" : "in force");
        else
            say_missing(what, c.note[i], remedies[i]);
    }
}

static void check_isolation(void)
{
    struct worker_directory directory = worker_directory_make();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        say_isolation(directory.path);
        fflush(stdout);
        _exit(0);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
    worker_directory_remove(&directory);
}

/* ---- compiler and kernels ---- */

static void check_nvrtc(void)
{
    struct error err;
    int major = 0, minor = 0;
    char text[600];
    if (nvrtc_version(&major, &minor, &err)) {
        say_missing("NVRTC", err.text, "install the CUDA toolkit and set CUDA_HOME; only kernel sets need it");
        return;
    }
    snprintf(text, sizeof text, "%d.%d, %.500s", major, minor, nvrtc_path());
    say_ok("NVRTC", text);
}

static void check_cupti(void)
{
    struct error err;
    unsigned version = 0;
    char path[512], text[600];
    if (cupti_look(&version, path, &err)) {
        say_missing("CUPTI", err.text,
                    "install the CUDA toolkit (cuda-cupti) and set CUDA_HOME, or " CUPTI_VARIABLE
                    "=libcupti.so.13; without it no launch is watched");
        return;
    }
    snprintf(text, sizeof text, "%u, %.500s", version, path);
    say_ok("CUPTI", text);
}

static void check_sanitizer(void)
{
    char path[4096];
    if (sanitize_find(path, sizeof path))
        say_ok("compute-sanitizer", path);
    else
        say_missing("compute-sanitizer", "neither on PATH nor in CUDA_HOME/bin",
                    "install the CUDA toolkit (cuda-sanitizer) and set CUDA_HOME; only verify --memcheck and "
                    "--racecheck need it");
}

static void check_ncu(void)
{
    char path[4096];
    if (counters_find(path, sizeof path))
        say_ok("ncu", path);
    else
        say_missing("ncu", "neither on PATH nor in CUDA_HOME/bin nor in /opt/nvidia/nsight-compute",
                    "install Nsight Compute; only verify --counters and serve's counters need it");
}

static void check_kernels(const struct options *options)
{
    char directory[4096];
    struct error err;
    if (kernel_directory_find(options->kernels, directory, sizeof directory, &err))
        say_missing("kernels", err.text, "pass --kernels DIR or set CUDAL2_KERNELS");
    else
        say_ok("kernels", directory);
}

/* Kernels that were compiled ahead are optional: without a directory there is nothing to say. */
static void check_cubins(const struct options *options)
{
    char kernels[4096], directory[4096], text[4096 + 512];
    struct error err;
    struct cubins_count c;
    if (kernel_directory_find(options->kernels, kernels, sizeof kernels, &err))
        return;
    if (!cubins_find(kernels, directory, sizeof directory)) {
        if (directory[0] && getenv(CUBINS_VARIABLE))
            say_missing("cubins", directory, "no such directory, or it is in the cache, where workers write");
        return;
    }
    if (cubins_look(directory, kernels, &c, &err)) {
        say_missing("cubins", err.text, "cudal2-bench compile --config FILE makes them");
        return;
    }
    int used = snprintf(text, sizeof text, "%s: %zu of %zu can be used here, %.1f MB", directory, c.usable, c.all,
                        (double)c.bytes / 1e6);
    if (c.other_nvrtc > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, "; %zu by another NVRTC (%d.%d)", c.other_nvrtc,
                         c.nvrtc[0], c.nvrtc[1]);
    if (c.stale > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, "; %zu of other sources", c.stale);
    if (c.damaged > 0)
        snprintf(text + used, sizeof text - (size_t)used, "; %zu damaged", c.damaged);
    if (c.usable == c.all)
        say_ok("cubins", text);
    else
        say_missing("cubins", text,
                    "cudal2-bench compile, with this machine's NVRTC and kernels; a run compiles its own");
}

/* ---- the cache ---- */

static bool check_cache(void)
{
    struct error err;
    char path[4096];
    bool ok = !file_cache_put("doctor", "probe", "x", 1, &err) &&
              !file_cache_path("doctor", "probe", path, sizeof path, &err);
    if (!ok) {
        say_missing("cache", err.text, "set CUDAL2_CACHE to a directory that can be written");
        return false;
    }
    unlink(path);
    for (int i = 0; i < 2; i++) /* the entry's name, then its kind */
        *strrchr(path, '/') = '\0';
    say_ok("cache", path);
    return true;
}

/* ---- baselines ---- */

struct family {
    const char *name, *remedy;
};

static const struct family baseline_families[] = {
    {"torch.matmul", "scripts/install-deps.sh, then make (or LIBTORCH=dir make)"},
    {"torch.matmul-full", "LIBTORCH=dir make, with a libtorch for CUDA"},
    {"openblas", "apt-get install libopenblas-dev, then make"},
    {"cublas", "install the CUDA toolkit, set CUDA_HOME, then make"},
    {"cublas-autotune", "install the CUDA toolkit 13, set CUDA_HOME, then make"},
    {"cublaslt-heuristic", "install the CUDA toolkit, set CUDA_HOME, then make"},
    {"cublaslt-autotuning", "install the CUDA toolkit, set CUDA_HOME, then make"},
    {"cublaslt-autotuning-32f", "install the CUDA toolkit, set CUDA_HOME, then make"},
    {"cublaslt-exhaustive", "install the CUDA toolkit, set CUDA_HOME, then make"},
};
#define N_FAMILIES (sizeof baseline_families / sizeof baseline_families[0])

/* The first contender of the family decides: layouts of one family come and go together. */
static const struct contender *family_member(const struct registry *registry, const char *family)
{
    for (size_t i = 0; i < registry_count(registry); i++)
        if (strcmp(registry_at(registry, i)->family, family) == 0)
            return registry_at(registry, i);
    return NULL;
}

/* With the dtypes, because a library may lack one on this device. */
static void say_family(const char *family, const struct contender *c, const struct device *device)
{
    struct text found = {0};
    text_add(&found, "%s, multiplies", device->info.kind);
    for (unsigned i = 0; dtype_names[i]; i++)
        if (c->is.dtypes & CUDAL2_BIT(i))
            text_add(&found, " %s", dtype_names[i]);
    say_ok(family, found.bytes ? found.bytes : device->info.kind);
    text_free(&found);
}

static size_t print_families(const struct device *device, const struct registry *registry)
{
    size_t available = 0;
    for (size_t i = 0; i < N_FAMILIES; i++) {
        const struct family *f = &baseline_families[i];
        const struct contender *c = family_member(registry, f->name);
        if (c && c->available) {
            available++;
            say_family(f->name, c, device);
        } else if (c && c->is.devices && !(c->is.devices & device->info.device_bit)) {
            printf("-        %-20s not for this device (%s)\n", f->name, device->info.kind);
        } else {
            say_missing(f->name, c ? c->reason : "unknown", f->remedy);
        }
    }
    return available;
}

/* How many baselines are available on the chosen device. */
static int check_baselines(const struct options *options, size_t *available, struct error *err)
{
    const char *names[N_FAMILIES + 1] = {NULL};
    struct device *device = NULL;
    struct registry *registry = NULL;
    for (size_t i = 0; i < N_FAMILIES; i++)
        names[i] = baseline_families[i].name;
    struct registry_request request = {
        .baselines = names,
        .layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN),
        .plugin_directory = options->plugins,
        .kernel_directory = options->kernels,
    };
    int code = device_open(options->device, NULL, &device, err);
    if (!code)
        code = registry_open(&request, device, &registry, err);
    if (!code)
        *available = print_families(device, registry);
    if (registry)
        registry_close(registry);
    if (device)
        device->ops->close(device);
    return code;
}

int command_doctor(const struct options *options, struct error *err)
{
    size_t available = 0;
    check_isolation(); /* before a driver is open, which no child may share */
    check_gpus();
    check_cpu();
    check_nvrtc();
    check_cupti();
    check_sanitizer();
    check_ncu();
    check_kernels(options);
    check_cubins(options);
    bool cache = check_cache();
    if (check_baselines(options, &available, err))
        return err->code;
    if (!cache)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "doctor: the cache directory cannot be written");
    if (available == 0)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "doctor: no baseline is available on device %s", options->device);
    return 0;
}
