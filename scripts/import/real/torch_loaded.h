/*
 * torch_loaded.h - which libtorch the process has: the build ID of libtorch_cpu. The dynamic loader takes a library by
 * its name, so an object that was built with another libtorch would be bound to the one that is there. Included by
 * dispatch.c where import.py built with --real-torch.
 */
#ifndef CUDAL2_TORCH_LOADED_H
#define CUDAL2_TORCH_LOADED_H

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct torch_loaded {
    char id[2 * 20 + 1]; /* build ID in hexadecimal; empty where there is none */
    char path[160];      /* empty: no libtorch is loaded */
};

static inline void torch_note(const unsigned char *at, size_t size, char id[2 * 20 + 1])
{
    ElfW(Nhdr) head;
    for (size_t step; size >= sizeof head; at += step, size -= step) {
        memcpy(&head, at, sizeof head);
        size_t name = (head.n_namesz + 3u) & ~3u;
        step = sizeof head + name + ((head.n_descsz + 3u) & ~3u);
        if (step > size)
            return;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_descsz <= 20 && memcmp(at + sizeof head, "GNU", 4) == 0)
            for (size_t i = 0; i < head.n_descsz; i++)
                snprintf(id + 2 * i, 3, "%02x", at[sizeof head + name + i]);
    }
}

static inline int torch_look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct torch_loaded *out = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (strncmp(slash ? slash + 1 : info->dlpi_name, "libtorch_cpu.so", 15) != 0)
        return 0;
    snprintf(out->path, sizeof out->path, "%s", info->dlpi_name);
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            torch_note((const unsigned char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                       info->dlpi_phdr[i].p_memsz, out->id);
    return 1;
}

/* The libtorch of the process; its path is empty where there is none. */
static inline struct torch_loaded torch_loaded(void)
{
    struct torch_loaded out = {"", ""};
    (void)dl_iterate_phdr(torch_look, &out);
    return out;
}

#endif
