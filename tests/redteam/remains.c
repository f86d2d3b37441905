/* remains.c - the red team's contenders that do what is not stopped (docs/trust.md), once they have been verified.
 * Whoever could not do it fails, so that the page stays true. */
#include "redteam.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* The baseline of the table must be OpenBLAS, which is in the process then. */
static int one_thread(void *state, size_t set, char *why)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    void (*set_threads)(int) = NULL;
    int (*threads)(void) = NULL;
    if (library) {
        *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
        *(void **)&threads = dlsym(library, "openblas_get_num_threads");
    }
    if (redteam_unwatched() && set_threads && threads) {
        set_threads(1);
        if (threads() != 1) {
            snprintf(why, CUDAL2_WHY, "OpenBLAS has %d threads still", threads());
            return CUDAL2_LIBRARY_ERROR;
        }
    }
    if (library)
        dlclose(library);
    return honest_launch(state, set, why);
}

static void *send_signal(void *denied)
{
    *(int *)denied = kill(getppid(), SIGSTOP) != 0 && errno == EPERM;
    return NULL;
}

static int signals_from_thread(void *state, size_t set, char *why)
{
    static int sent;
    pthread_t thread;
    int denied = 1;
    if (redteam_unwatched() && !sent++ && pthread_create(&thread, NULL, send_signal, &denied) == 0)
        pthread_join(thread, NULL);
    if (denied)
        return honest_launch(state, set, why);
    snprintf(why, CUDAL2_WHY, "the signal was not denied");
    return CUDAL2_LIBRARY_ERROR;
}

static int can_read(const char *path)
{
    char byte;
    FILE *file = fopen(path, "r");
    int got = file && fread(&byte, 1, 1, file) == 1;
    if (file)
        fclose(file);
    return got;
}

static int reads_files(void *state, size_t set, char *why)
{
    if (!redteam_unwatched() || can_read("/etc/passwd"))
        return honest_launch(state, set, why);
    snprintf(why, CUDAL2_WHY, "the files could not be read");
    return CUDAL2_LIBRARY_ERROR;
}

static const struct redteam_row rows[] = {
    {"one-thread", .launch = one_thread},
    {"signals-from-thread", .launch = signals_from_thread},
    {"reads-files", .launch = reads_files},
};
REDTEAM_PLUGIN(rows)
