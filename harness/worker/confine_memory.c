/*
 * confine_memory.c - memory that clocks are read with and verdicts are made by, and that nobody needs to change once
 * the program runs: the vDSO, and the code, constants and relocated tables of the program and of the C library. mseal
 * (Linux 6.10) makes it unchangeable for good; where that is missing, changing it by name is at least told
 * (confine_named.c). Called by confine.c.
 */
#include "worker/confine_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL_MSEAL 462 /* the same number everywhere */

struct mapping {
    uint64_t from, to;
    bool writable;
    char name[512];
};

static bool next_mapping(FILE *maps, struct mapping *m)
{
    char line[1024], rights[8] = "";
    while (fgets(line, sizeof line, maps)) {
        m->name[0] = '\0';
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %511[^\n]", &m->from, &m->to, rights, m->name) < 3)
            continue;
        m->writable = rights[1] == 'w';
        return true;
    }
    return false;
}

/* The kernel's pages, the program and libc. Under a sanitizer the kernel's only: its runtime patches what it likes. */
static bool is_ours(const char *name, const char *program)
{
    if (strncmp(name, "[vvar", 5) == 0 || strcmp(name, "[vdso]") == 0)
        return true;
    const char *slash = strrchr(name, '/');
    return !SANITIZED && slash &&
           (strcmp(name, program) == 0 || strncmp(slash + 1, "libc.so.", 8) == 0 ||
            strncmp(slash + 1, "libc-2.", 7) == 0);
}

static void add_range(struct confine_ranges *r, uint64_t from, uint64_t to)
{
    if (r->n > 0 && r->list[r->n - 1].to == from)
        r->list[r->n - 1].to = to;
    else if (r->n < CONFINE_RANGES_MAX)
        r->list[r->n++] = (struct confine_range){from, to};
}

int confine_memory(struct confine_ranges *ranges, char note[CONFINE_NOTE])
{
    char program[512] = "";
    struct mapping m;
    int code = 0;
    *ranges = (struct confine_ranges){0};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps || length < 0) {
        snprintf(note, CONFINE_NOTE, "mseal: /proc/self: %s", strerror(errno));
        code = -1;
    }
    while (!code && next_mapping(maps, &m))
        if (!m.writable && is_ours(m.name, program))
            add_range(ranges, m.from, m.to);
    for (size_t i = 0; !code && i < ranges->n; i++)
        code = (int)syscall(CALL_MSEAL, ranges->list[i].from, ranges->list[i].to - ranges->list[i].from, 0);
    if (code && !note[0])
        snprintf(note, CONFINE_NOTE, "mseal: %s", strerror(errno));
    if (maps)
        fclose(maps);
    return code;
}
