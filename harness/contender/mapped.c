/*
 * mapped.c - reads /proc/PID/maps, and in /proc/PID/mem the table of names of each ELF file that is mapped there.
 * Nothing of the process's is run, and what it may have written is read as bytes. Called by plugin_process.c.
 */
#include "contender/mapped.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 4352 /* of maps: a path and what stands before it */
#define SEGMENTS_MOST 64
#define DYNAMIC_MOST 256
#define NAMES_MOST (16u << 20)
#define READ_MOST (256u << 20)     /* in all: who maps more, to keep the harness busy, is not seen */
#define CODE_MOST (64u << 20)      /* of a plugin's own file */
#define PLUGIN "cudal2_plugin_abi" /* what every plugin exports */

struct reader {
    int memory;    /* /proc/PID/mem */
    uint64_t left; /* bytes that may still be read */
};

/* One file of the process. */
struct object {
    struct reader *reader;
    uint64_t base; /* where its first byte lies */
    uint64_t bias; /* what addresses in the file are moved by */
    ElfW(Phdr) parts[SEGMENTS_MOST];
    unsigned n_parts;
};

static bool take(const struct object *o, uint64_t at, void *out, size_t bytes)
{
    struct reader *r = o->reader;
    bool may = bytes <= r->left;
    r->left -= may ? bytes : 0;
    return may && pread(r->memory, out, bytes, (off_t)at) == (ssize_t)bytes;
}

/* Its dynamic section's place, of 0 bytes: none. */
struct dynamic {
    uint64_t at, bytes;
};

static bool read_header(struct object *o, struct dynamic *out)
{
    ElfW(Ehdr) head;
    *out = (struct dynamic){0, 0};
    if (!take(o, o->base, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_phentsize != sizeof *o->parts || head.e_phnum == 0 || head.e_phnum > SEGMENTS_MOST ||
        !take(o, o->base + head.e_phoff, o->parts, head.e_phnum * sizeof *o->parts))
        return false;
    o->n_parts = head.e_phnum;
    for (unsigned i = o->n_parts; i > 0; i--)
        if (o->parts[i - 1].p_type == PT_LOAD && o->parts[i - 1].p_offset == 0)
            o->bias = o->base - o->parts[i - 1].p_vaddr;
    for (unsigned i = 0; i < o->n_parts; i++)
        if (o->parts[i].p_type == PT_DYNAMIC)
            *out = (struct dynamic){o->bias + o->parts[i].p_vaddr, o->parts[i].p_memsz};
    return out->bytes > 0;
}

/* The loader has written addresses over those of the file, or it has not. */
static uint64_t address(const struct object *o, uint64_t value)
{
    return value < o->base ? o->bias + value : value;
}

/* The strings of its symbols, owned by the caller; NULL: none, or not to be read. */
static char *read_names(struct object *o, size_t *bytes)
{
    ElfW(Dyn) entries[DYNAMIC_MOST];
    struct dynamic dynamic;
    uint64_t at = 0;
    *bytes = 0;
    if (!read_header(o, &dynamic))
        return NULL;
    size_t n = dynamic.bytes / sizeof *entries;
    n = n < DYNAMIC_MOST ? n : DYNAMIC_MOST;
    if (!take(o, dynamic.at, entries, n * sizeof *entries))
        return NULL;
    for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
        at = entries[i].d_tag == DT_STRTAB ? address(o, entries[i].d_un.d_ptr) : at;
        *bytes = entries[i].d_tag == DT_STRSZ ? entries[i].d_un.d_val : *bytes;
    }
    char *names = at > 0 && *bytes > 0 && *bytes <= NAMES_MOST ? malloc(*bytes) : NULL;
    if (names && !take(o, at, names, *bytes)) {
        free(names);
        names = NULL;
    }
    return names;
}

/* By words among what was loaded of it; NULL: none. */
static const char *held_library(const struct object *o)
{
    const char *found = NULL;
    for (unsigned i = 0; i < o->n_parts && !found; i++) {
        const ElfW(Phdr) *part = &o->parts[i];
        bool loaded = part->p_type == PT_LOAD && part->p_filesz > 0 && part->p_filesz <= CODE_MOST;
        char *bytes = loaded ? malloc(part->p_filesz) : NULL;
        if (bytes && take(o, o->bias + part->p_vaddr, bytes, part->p_filesz))
            found = borrowed_words(bytes, part->p_filesz);
        free(bytes);
    }
    return found;
}

/* ---- the list ---- */

static void add(struct mapped *out, const char *library, const char *path)
{
    char text[BORROWED_TEXT];
    const char *slash = strrchr(path, '/');
    snprintf(text, sizeof text, "%s: %.90s", library, slash ? slash + 1 : path);
    text[strcspn(text, "\n")] = '\0';
    bool known = out->n == MAPPED_MOST;
    for (size_t i = 0; i < out->n && !known; i++)
        known = strcmp(out->list[i], text) == 0;
    if (!known)
        memcpy(out->list[out->n++], text, sizeof text);
}

static void look_at(struct reader *reader, uint64_t base, const char *path, struct mapped *out)
{
    struct object o = {.reader = reader, .base = base};
    size_t bytes;
    char *names = read_names(&o, &bytes);
    const char *library = names ? borrowed_exports(names, bytes) : NULL;
    if (names && !library && borrowed_has_name(names, bytes, PLUGIN))
        library = held_library(&o);
    if (library)
        add(out, library, path);
    free(names);
}

/* The first bytes of a file: "7f..-7f.. r--p 00000000 08:01 1234   /lib/x.so". */
static bool is_begin(const char *line, uint64_t *base, const char **path)
{
    char rights[8];
    uint64_t offset = 1, inode = 0;
    int length = 0;
    bool whole =
        sscanf(line, "%" SCNx64 "-%*x %7s %" SCNx64 " %*s %" SCNu64 " %n", base, rights, &offset, &inode, &length) == 4;
    *path = line + length;
    return whole && rights[0] == 'r' && offset == 0 && inode != 0;
}

void mapped_look(pid_t pid, struct mapped *out)
{
    char name[64], line[LINE_BYTES];
    const char *path;
    uint64_t base;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(name, "re");
    snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
    struct reader reader = {open(name, O_RDONLY | O_CLOEXEC), READ_MOST};
    while (maps && reader.memory >= 0 && fgets(line, sizeof line, maps))
        if (is_begin(line, &base, &path))
            look_at(&reader, base, path, out);
    if (maps)
        fclose(maps);
    if (reader.memory >= 0)
        close(reader.memory);
}
