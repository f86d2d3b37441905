/*
 * confine_files.c - Landlock: a file system that can be read everywhere but in /dev and written in few places, no
 * signal to any other process, no port. No library knows it yet in Debian 12, and its header there lacks the later
 * rights, hence the raw system calls. Called by confine.c.
 */
#include "worker/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

#define ACCESS_TRUNCATE (1ull << 14)  /* since ABI 3 */
#define ACCESS_IOCTL_DEV (1ull << 15) /* since ABI 5 */
#define NET_PORTS 3ull                /* bind and connect, since ABI 4 */
#define SCOPED 3ull                   /* abstract sockets and signals, since ABI 6 */
#define PLACE_MAX 4096

/* The kernel's, with what its header here lacks. */
struct ruleset {
    uint64_t files, ports, scoped;
};

static size_t ruleset_size(int abi)
{
    return abi >= 6 ? sizeof(struct ruleset) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

/* Every right that changes something, and reading and commanding files, which devices are too. */
static unsigned long long handled(int abi)
{
    unsigned long long rights =
        LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
        LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
        LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
        LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    if (abi >= 2)
        rights |= LANDLOCK_ACCESS_FS_REFER;
    if (abi >= 3)
        rights |= ACCESS_TRUNCATE;
    if (abi >= 5)
        rights |= ACCESS_IOCTL_DEV;
    return rights;
}

/* In a place of its own: files and directories, no links, pipes or nodes. */
static unsigned long long keeping(int abi)
{
    return handled(abi) & ~(unsigned long long)(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                                LANDLOCK_ACCESS_FS_MAKE_SYM | ACCESS_IOCTL_DEV);
}

/* Of a device node. */
static unsigned long long using(int abi)
{
    return handled(abi) &
           (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE | ACCESS_IOCTL_DEV);
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

static int allow_own_cache(int ruleset, unsigned long long rights)
{
    const char *own = getenv(FILE_CACHE_OWN);
    return own ? allow(ruleset, own, rights) : 0;
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

/* Everything under the root may be read, but for the devices. What is mounted there later may not. */
static int allow_reading(int ruleset)
{
    char place[PLACE_MAX];
    int code = 0;
    DIR *root = opendir("/");
    if (!root)
        return -1;
    for (const struct dirent *entry = readdir(root); entry && !code; entry = readdir(root)) {
        bool skipped =
            strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || strcmp(entry->d_name, "dev") == 0;
        if (!skipped && snprintf(place, sizeof place, "/%s", entry->d_name) < (int)sizeof place)
            code = allow(ruleset, place, LANDLOCK_ACCESS_FS_READ_FILE);
    }
    closedir(root);
    return code;
}

/* Random numbers, nothing, and the GPUs. */
static int allow_devices(int ruleset, unsigned long long rights)
{
    static const char *const plain[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", NULL};
    char place[PLACE_MAX];
    int code = 0;
    for (size_t i = 0; plain[i] && !code; i++)
        code = allow(ruleset, plain[i], rights);
    DIR *devices = opendir("/dev");
    for (const struct dirent *entry = devices ? readdir(devices) : NULL; entry && !code; entry = readdir(devices))
        if (strncmp(entry->d_name, "nvidia", 6) == 0 &&
            snprintf(place, sizeof place, "/dev/%s", entry->d_name) < (int)sizeof place)
            code = allow(ruleset, place, rights);
    if (devices)
        closedir(devices);
    return code;
}

static int allow_all(int ruleset, int abi, enum confine_caches caches)
{
    const char *temporary = getenv("TMPDIR");
    int code = allow_reading(ruleset);
    code |= allow_devices(ruleset, using(abi));
    code |= allow(ruleset, temporary && temporary[0] == '/' ? temporary : "/tmp", keeping(abi));
    if (caches == CONFINE_CACHES_OWN)
        code |= allow_own_cache(ruleset, keeping(abi));
    if (caches == CONFINE_CACHES_ALL)
        code |= allow_cache(ruleset, keeping(abi)) | allow_driver_cache(ruleset, keeping(abi));
    return code;
}

int confine_files(struct confinement *c)
{
    const char *step = "landlock";
    int code = -1, ruleset = -1;
    int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        goto out;
    const struct ruleset attr = {handled(abi), NET_PORTS, SCOPED};
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, ruleset_size(abi), 0);
    if (ruleset < 0)
        goto out;
    step = "landlock rule";
    if (allow_all(ruleset, abi, c->caches) != 0)
        goto out;
    step = "landlock_restrict_self";
    code = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
out:
    if (code != 0)
        snprintf(c->note[CONFINE_FILES], CONFINE_NOTE, "%s: %s", step, strerror(errno));
    c->landlock_abi = code == 0 ? abi : 0;
    if (ruleset >= 0)
        close(ruleset);
    return code;
}
