/* Landlock: a file system that can be read everywhere and written in few places. No library knows it yet in Debian 12,
 * and its header there lacks the later rights, hence the raw system calls. */
#include "worker/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

#define ACCESS_TRUNCATE (1ull << 14) /* since ABI 3 */
#define PLACE_MAX 4096

/* Every right that changes something. Reading and executing stay free: what a library opens cannot be foreseen. */
static unsigned long long changes(int abi)
{
    unsigned long long rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    if (abi >= 2)
        rights |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        rights |= ACCESS_TRUNCATE;
    return rights;
}

/* A place that is not there needs no rule. */
static int allow(int ruleset, const char *place, unsigned long long rights)
{
    int fd = open(place, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return 0;
    struct landlock_path_beneath_attr attr = {.allowed_access = rights, .parent_fd = fd};
    int code = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
    close(fd);
    return code;
}

/* The cache of ours, made if it is not there yet. */
static int allow_cache(int ruleset, unsigned long long rights)
{
    char place[PLACE_MAX];
    struct error ignored;
    if (file_cache_directory(place, sizeof place, &ignored) || file_make_directories(place, &ignored))
        return 0;
    return allow(ruleset, place, rights);
}

/* The driver's cache of kernels that it had to translate. */
static int allow_driver_cache(int ruleset, unsigned long long rights)
{
    char place[PLACE_MAX];
    const char *own = getenv("CUDA_CACHE_PATH"), *home = getenv("HOME");
    if (own && own[0])
        return allow(ruleset, own, rights);
    if (!home || snprintf(place, sizeof place, "%s/.nv", home) >= (int)sizeof place)
        return 0;
    return allow(ruleset, place, rights);
}

static int allow_all(int ruleset, unsigned long long rights)
{
    const char *temporary = getenv("TMPDIR");
    int code = allow(ruleset, "/dev", rights);         /* the GPU, shared memory, null */
    code |= allow(ruleset, "/proc/self/task", rights); /* names of threads */
    code |= allow(ruleset, temporary && temporary[0] == '/' ? temporary : "/tmp", rights);
    code |= allow_cache(ruleset, rights);
    code |= allow_driver_cache(ruleset, rights);
    return code;
}

int confine_files(int *landlock_abi, char note[128])
{
    const char *step = "landlock";
    int code = -1, ruleset = -1;
    int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        goto out;
    struct landlock_ruleset_attr attr = {.handled_access_fs = changes(abi)};
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        goto out;
    step = "landlock rule";
    if (allow_all(ruleset, changes(abi)) != 0)
        goto out;
    step = "landlock_restrict_self";
    code = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
out:
    if (code != 0)
        snprintf(note, 128, "%s: %s", step, strerror(errno));
    *landlock_abi = code == 0 ? abi : 0;
    if (ruleset >= 0)
        close(ruleset);
    return code;
}
