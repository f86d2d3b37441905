/*
 * plugin_place.c - reads and judges where a stopped thread stands. Relies on /proc/PID/syscall (proc(5)) and on the
 * program's own segments, which are a forked process's too. Called by plugin_process.c.
 */
#include "contender/plugin_place.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_BYTES 64u /* what a call of sched_yield takes below the loop's frame */

/* ---- whose code ---- */

struct lookup {
    uint64_t address;
    bool ours;
};

/* One object of this process, in which no plugin is loaded; a process that was forked from it has them where it has. */
static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    struct lookup *l = context;
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum && !l->ours; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        l->ours = part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0 &&
                  l->address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz;
    }
    return l->ours;
}

/* ---- the place ---- */

bool plugin_place_read(pid_t pid, struct plugin_place *out)
{
    char path[64], line[256] = "", *end;
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char *got = fgets(line, sizeof line, file);
    fclose(file);
    char *code = got ? strrchr(line, ' ') : NULL; /* "... STACK CODE", or "running" */
    if (!code)
        return false;
    *code = '\0';
    char *stack = strrchr(line, ' ');
    if (!stack)
        return false;
    *out = (struct plugin_place){strtoull(stack + 1, &end, 16), strtoull(code + 1, NULL, 16)};
    return *end == '\0' && out->code != 0;
}

bool plugin_place_is_in(const struct plugin_place *is, uint64_t loop)
{
    struct lookup l = {.address = is->code};
    (void)dl_iterate_phdr(look, &l);
    return l.ours && (loop == 0 || loop - is->stack <= CALL_BYTES);
}
