/*
 * plugin_exports.c - reads the dynamic symbol table of an ELF file by its hash table and names the first symbol that a
 * plugin may not export. Bounds are checked at each step. Called by plugin.c before any code runs.
 */
#include "contender/plugin_exports.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_SYMBOLS (1u << 24)

struct image {
    const unsigned char *bytes;
    size_t length;
    const char *path;
    const Elf64_Phdr *segments;
    size_t n_segments;
};

/* The dynamic loader's view of the symbol table, as file contents. */
struct symbols {
    const Elf64_Sym *table;
    size_t first, end; /* indices that a lookup can find */
    const char *names;
    size_t names_bytes;
};

static int bad(const struct image *image, struct error *err, const char *what)
{
    return error_set(err, EXIT_CODE_DATA, "%s: %s", image->path, what);
}

/* File contents behind a run-time address: `count` items of `size` bytes, aligned to it (to 8 at most), else NULL. */
static const void *at_address(const struct image *image, uint64_t address, uint64_t count, size_t size)
{
    uint64_t bytes = count * size;
    if (count > image->length / size)
        return NULL;
    for (size_t i = 0; i < image->n_segments; i++) {
        const Elf64_Phdr *p = &image->segments[i];
        if (p->p_type != PT_LOAD || address < p->p_vaddr || address - p->p_vaddr >= p->p_filesz)
            continue;
        uint64_t within = address - p->p_vaddr;
        if ((p->p_offset + within) % (size > 8 ? 8 : size) != 0)
            return NULL;
        if (p->p_offset > image->length || p->p_filesz > image->length - p->p_offset || bytes > p->p_filesz - within)
            return NULL;
        return image->bytes + p->p_offset + within;
    }
    return NULL;
}

static int check_header(struct image *image, struct error *err)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)image->bytes;
    if (image->length < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return bad(image, err, "not a shared object (no ELF header)");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_DYN)
        return bad(image, err, "not a 64-bit little-endian shared object");
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff > image->length || h->e_phoff % sizeof(uint64_t) != 0 ||
        (image->length - h->e_phoff) / sizeof(Elf64_Phdr) < h->e_phnum)
        return bad(image, err, "damaged: program headers lie outside the file");
    image->segments = (const Elf64_Phdr *)(const void *)(image->bytes + h->e_phoff);
    image->n_segments = h->e_phnum;
    return 0;
}

static bool find_dynamic(const struct image *image, const Elf64_Dyn **out, size_t *n)
{
    for (size_t i = 0; i < image->n_segments; i++) {
        const Elf64_Phdr *p = &image->segments[i];
        if (p->p_type != PT_DYNAMIC)
            continue;
        if (p->p_offset % 8 != 0 || p->p_offset > image->length || p->p_filesz > image->length - p->p_offset)
            return false;
        *out = (const Elf64_Dyn *)(const void *)(image->bytes + p->p_offset);
        *n = p->p_filesz / sizeof(Elf64_Dyn);
        return true;
    }
    return false;
}

/* Of two entries with one tag the loader takes the last. */
static uint64_t tag_value(const Elf64_Dyn *dynamic, size_t n, int64_t tag)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n && dynamic[i].d_tag != DT_NULL; i++)
        if (dynamic[i].d_tag == tag)
            value = dynamic[i].d_un.d_val;
    return value;
}

/* GNU hash: symbols before `first` cannot be found; the last one ends the highest bucket's chain. */
static bool gnu_hash_range(const struct image *image, uint64_t address, struct symbols *out)
{
    const uint32_t *head = at_address(image, address, 4, sizeof *head);
    if (!head)
        return false;
    uint64_t buckets_at = address + 4 * sizeof *head + (uint64_t)head[2] * sizeof(uint64_t);
    const uint32_t *buckets = at_address(image, buckets_at, head[0], sizeof *buckets);
    if (!buckets)
        return false;
    uint32_t last = 0;
    for (uint32_t i = 0; i < head[0]; i++)
        last = buckets[i] > last ? buckets[i] : last;
    out->first = out->end = head[1];
    if (last < head[1])
        return true; /* no exported symbol at all */
    uint64_t chain_at = buckets_at + (uint64_t)head[0] * sizeof *buckets;
    for (uint64_t i = last; i < MAX_SYMBOLS; i++) {
        const uint32_t *link = at_address(image, chain_at + (i - head[1]) * sizeof *link, 1, sizeof *link);
        if (!link)
            return false;
        out->end = (size_t)i + 1;
        if (*link & 1u)
            return true;
    }
    return false;
}

static bool sysv_hash_range(const struct image *image, uint64_t address, struct symbols *out)
{
    const uint32_t *head = at_address(image, address, 2, sizeof *head);
    if (!head || head[1] > MAX_SYMBOLS)
        return false;
    out->first = 0;
    out->end = head[1];
    return true;
}

static int find_symbols(const struct image *image, struct symbols *out, struct error *err)
{
    const Elf64_Dyn *dynamic;
    size_t n;
    if (!find_dynamic(image, &dynamic, &n))
        return bad(image, err, "not a shared object (no dynamic section)");
    uint64_t gnu = tag_value(dynamic, n, DT_GNU_HASH);
    uint64_t sysv = tag_value(dynamic, n, DT_HASH);
    bool known = gnu ? gnu_hash_range(image, gnu, out) : sysv && sysv_hash_range(image, sysv, out);
    if (!known)
        return bad(image, err, "its symbol hash table is missing or damaged");
    out->names_bytes = tag_value(dynamic, n, DT_STRSZ);
    out->names = at_address(image, tag_value(dynamic, n, DT_STRTAB), out->names_bytes, 1);
    out->table = at_address(image, tag_value(dynamic, n, DT_SYMTAB), out->end, sizeof(Elf64_Sym));
    if (!out->names || out->names_bytes == 0 || out->names[out->names_bytes - 1] != '\0' || !out->table)
        return bad(image, err, "its symbol table is missing or damaged");
    return 0;
}

static bool is_exported(const Elf64_Sym *s)
{
    unsigned visibility = ELF64_ST_VISIBILITY(s->st_other);
    return s->st_shndx != SHN_UNDEF && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool is_listed(const char *name, const char *const list[])
{
    for (size_t i = 0; list[i]; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

static int check_symbols(const struct image *image, const struct symbols *s, struct error *err)
{
    static const char *const wanted[] = {"cudal2_plugin_abi", "cudal2_plugin", NULL};
    static const char *const linkers_own[] = {"_init", "_fini", "_edata", "_end", "__bss_start", NULL};
    unsigned found = 0;
    for (size_t i = s->first; i < s->end; i++) {
        if (!is_exported(&s->table[i]))
            continue;
        if (s->table[i].st_name >= s->names_bytes)
            return bad(image, err, "its symbol table is damaged");
        const char *name = s->names + s->table[i].st_name;
        if (is_listed(name, wanted))
            found++;
        else if (!is_listed(name, linkers_own))
            return error_set(err, EXIT_CODE_DATA,
                             "%s: exports the symbol \"%.100s\"; a plugin exports cudal2_plugin and cudal2_plugin_abi "
                             "only (build it with -fvisibility=hidden)",
                             image->path, name);
    }
    if (found != 2)
        return bad(image, err, "not a plugin: it does not export both cudal2_plugin and cudal2_plugin_abi");
    return 0;
}

static int check_image(const char *path, const void *bytes, size_t length, struct error *err)
{
    struct image image = {.path = path, .bytes = bytes, .length = length};
    struct symbols symbols = {0};
    int rc = check_header(&image, err);
    if (rc == 0)
        rc = find_symbols(&image, &symbols, err);
    return rc == 0 ? check_symbols(&image, &symbols, err) : rc;
}

int plugin_check_exports(const char *path, struct error *err)
{
    int fd;
    size_t length = 0;
    if (file_open(path, PLUGIN_MAX_BYTES, &fd, &length, err))
        return err->code;
    void *map = length > 0 ? mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return error_set(err, EXIT_CODE_DATA, length > 0 ? "%s: cannot be read" : "%s: an empty file", path);
    int rc = check_image(path, map, length, err);
    munmap(map, length);
    return rc;
}
