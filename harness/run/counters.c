/*
 * counters.c - runs ncu over one launch, within limits, and turns what it printed into counters or a reason. Relies on
 * tool.h, on ncu_csv.h, and on process.h for a clean environment. Called by serve/counted.c and
 * cli/verify_counters.c.
 */
#include "run/counters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/tree.h"
#include "run/tool.h"
#include "run/devices.h"
#include "run/ncu_csv.h"
#include "run/process.h"
#include "run/worker_directory.h"

#define FILE_BYTES ((rlim_t)256 << 20)
#define LOG_BYTES ((size_t)16 << 20)
#define ARGUMENTS 48
#define VERSION_SECONDS 20.0
#define LOCK_SECONDS 60.0 /* for a run that has the GPU now */
#define REASON_MAX 400

const char counters_default[] =
    "gpu__time_duration.sum,gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed,"
    "dram__throughput.avg.pct_of_peak_sustained_elapsed,dram__bytes.sum,"
    "sm__throughput.avg.pct_of_peak_sustained_elapsed,"
    "sm__warps_active.avg.pct_of_peak_sustained_active,"
    "l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct";

/* ---- the process ---- */

/* A directory for what ncu writes, and a command. */
struct session {
    const struct counters_request *request;
    struct worker_directory directory;
    char tool[PATH_MAX], program[PATH_MAX];
    char table[PATH_MAX], said[PATH_MAX]; /* ncu's table; what it and the program said besides */
    char metrics[COUNTERS_LIST_MAX + sizeof NCU_WEIGHT + 1], one_launch[COUNTERS_CHOICE_MAX + 16], version[96];
    const char *arguments[ARGUMENTS + 1];
    char **environment;
};

/* Whether it ended by itself. */
static bool run(const struct session *s, double seconds, int *status)
{
    const struct tool ncu = {.program = s->tool,
                             .arguments = s->arguments,
                             .environment = s->environment,
                             .out = s->said,
                             .told = s->said,
                             .seconds = seconds,
                             .stop = s->request->stop,
                             .file_bytes = FILE_BYTES};
    return tool_run(&ncu, status) == TOOL_ENDED;
}

/* ---- the commands ---- */

static void ask_version(struct session *s)
{
    char *text = NULL;
    size_t length;
    int status;
    struct error ignored;
    const char *const words[] = {s->tool, "--version", NULL};
    memcpy(s->arguments, words, sizeof words);
    if (!run(s, VERSION_SECONDS, &status) || file_read(s->said, LOG_BYTES, &text, &length, &ignored))
        return;
    const char *at = strstr(text, "Version ");
    if (at)
        snprintf(s->version, sizeof s->version, "%.*s", (int)strcspn(at + 8, "\r\n"), at + 8);
    char *end = strstr(s->version, ") ");
    if (end)
        end[1] = '\0'; /* "(public-release)" */
    free(text);
}

/* The kernels' times are counted whatever is asked for: means over several kernels are weighted by them. */
static void name_metrics(struct session *s)
{
    const char *list = s->request->metrics[0] ? s->request->metrics : counters_default;
    snprintf(s->metrics, sizeof s->metrics, "%s%s%s", list, ncu_lists(list, NCU_WEIGHT) ? "" : ",",
             ncu_lists(list, NCU_WEIGHT) ? "" : NCU_WEIGHT);
}

struct words {
    const char **list;
    size_t n;
};

static void add(struct words *w, const char *option, const char *value)
{
    if (!value || w->n + 2 > ARGUMENTS)
        return;
    w->list[w->n++] = option;
    if (value[0])
        w->list[w->n++] = value;
}

/* Clocks are left as they are: holding them needs more rights, and is no business of a look. */
static void name_words(struct session *s)
{
    const struct counters_request *r = s->request;
    struct words w = {s->arguments, 0};
    name_metrics(s);
    snprintf(s->one_launch, sizeof s->one_launch, "--one-launch=%s", r->contender);
    add(&w, s->tool, "--csv");
    add(&w, "--page", "raw");
    add(&w, "--print-units", "base");
    add(&w, "--clock-control", "none");
    add(&w, "--profile-from-start", "off");
    add(&w, "--target-processes", "application-only");
    add(&w, "--metrics", s->metrics);
    add(&w, "--log-file", s->table);
    add(&w, s->program, "verify");
    add(&w, r->kernel, "--in-process");
    add(&w, "--quiet", s->one_launch);
    add(&w, "--baselines", "none");
    add(&w, "--device", r->device);
    add(&w, "--shape", r->problem);
    add(&w, "--accumulate", r->accumulate);
    add(&w, "--config", r->config);
    add(&w, "--plugins", r->plugins);
    add(&w, "--kernels", r->kernels);
    s->arguments[w.n] = NULL;
}

/* ---- what it printed ---- */

static char *read_all(const char *path)
{
    char *text = NULL;
    size_t length;
    struct error ignored;
    return file_read(path, LOG_BYTES, &text, &length, &ignored) == 0 ? text : NULL;
}

static cJSON *no_counters(const struct session *s, const char *why)
{
    struct tree t = tree_begin();
    char line[REASON_MAX];
    snprintf(line, sizeof line, "%s", why);
    error_one_line(line);
    tree_put_text(&t, "unavailable", line);
    if (s && s->tool[0]) {
        tree_put_text(&t, "tool", "ncu");
        tree_put_text(&t, "version", s->version);
    }
    return tree_finish(&t);
}

static cJSON *explain(const struct session *s, const char *table, const char *said, int status)
{
    static const char forbidden[] = "ERR_NVGPUCTRPERM";
    char why[REASON_MAX] = "", words[REASON_MAX / 2];
    if ((table && strstr(table, forbidden)) || (said && strstr(said, forbidden)))
        return no_counters(s, "ERR_NVGPUCTRPERM: this user may not read the GPU's counters; run as root, or load the "
                              "driver with NVreg_RestrictProfilingToAdminUsers=0");
    ncu_complaint(table ? table : "", why, sizeof why);
    if (!why[0] || strncmp(why, "==", 2) == 0) /* ncu's own course, no fault */
        ncu_complaint(said ? said : "", why, sizeof why);
    snprintf(words, sizeof words, "ncu ended with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return no_counters(s, why[0] ? why : words);
}

static cJSON *judge(const struct session *s, int status)
{
    char *table = read_all(s->table), *said = read_all(s->said);
    cJSON *counters = NULL;
    struct error err = {.code = EXIT_CODE_DATA};
    int code = table ? ncu_csv_read(table, s->metrics, &counters, &err) : EXIT_CODE_DATA;
    if (code == EXIT_CODE_DATA)
        counters = explain(s, table, said, status);
    if (code == 0 && !(cJSON_AddStringToObject(counters, "tool", "ncu") &&
                       cJSON_AddStringToObject(counters, "version", s->version))) {
        cJSON_Delete(counters);
        counters = NULL;
    }
    free(table);
    free(said);
    return counters;
}

static cJSON *count(struct session *s)
{
    char words[96];
    int status;
    ask_version(s);
    name_words(s);
    if (run(s, s->request->seconds, &status))
        return judge(s, status);
    snprintf(words, sizeof words, "ncu was ended after %.0f s", s->request->seconds);
    return no_counters(s, s->request->stop && *s->request->stop ? "stopped" : words);
}

/* With the GPU's lock: nobody measures beside it. */
static cJSON *count_alone(struct session *s)
{
    const struct counters_request *r = s->request;
    struct error err;
    int fd = -1;
    if (r->lock && r->lock[0] && devices_lock(r->lock, LOCK_SECONDS, r->stop, &fd, &err))
        return no_counters(s, err.text);
    cJSON *counters = count(s);
    if (fd >= 0)
        close(fd);
    return counters;
}

/* ---- the whole ---- */

static bool open_session(struct session *s)
{
    ssize_t length = readlink("/proc/self/exe", s->program, sizeof s->program - 1);
    s->directory = worker_directory_make();
    if (length < 0 || !s->directory.path)
        return false;
    s->program[length] = '\0';
    snprintf(s->table, sizeof s->table, "%s/table.csv", s->directory.path);
    snprintf(s->said, sizeof s->said, "%s/said", s->directory.path);
    s->environment = process_environment(environ, 1);
    return s->environment && process_environment_point(s->environment, s->directory.path);
}

static void close_session(struct session *s)
{
    process_environment_free(s->environment);
    worker_directory_remove(&s->directory);
}

cJSON *counters_take(const struct counters_request *request)
{
    cJSON *counters = NULL;
    struct session *s = NULL;
    if (strncmp(request->device, "cuda", 4) != 0)
        return no_counters(NULL, "the device is no GPU: ncu counts on NVIDIA's GPUs alone");
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->request = request;
    if (!counters_find(s->tool, sizeof s->tool)) {
        s->tool[0] = '\0';
        counters = no_counters(s, "no ncu on PATH, in CUDA_HOME/bin, /usr/local/cuda or /opt/nvidia/nsight-compute: "
                                  "install Nsight Compute, which comes with the CUDA toolkit");
    } else {
        counters = open_session(s) ? count_alone(s) : no_counters(s, "no temporary directory of its own for ncu");
        close_session(s);
    }
    free(s);
    return counters;
}
