/*
 * cubin.c - a small reader of ELF64: sections by name, the attributes of .nv.info.<kernel>, the architecture. Every
 * offset and size is checked against the file's length before it is used. Relies on nothing but the bytes. Called by
 * binary.c, and by contender/ for each kernel that it loads or inspects.
 */
#include "compile/cubin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ELF_HEADER 64u
#define SECTION_HEADER 64u
#define TEXT_PREFIX ".text."
#define MACHINE_CUDA 190u
#define RESERVED_SHARED 1024u /* of each block, for the system, from sm_90 on: beyond the limit of a block */
#define SYMBOL_BITS 0xffffffu /* of a text section's info; older files have the registers above */

/* Attributes of .nv.info that are read here; each has a form, a number and a value. */
enum attribute {
    ATTRIBUTE_MAX_THREADS = 0x05,
    ATTRIBUTE_REQUIRED_BLOCK = 0x10,
    ATTRIBUTE_FRAME = 0x11,
    ATTRIBUTE_PARAMETER = 0x17,
    ATTRIBUTE_PARAMETER_BYTES = 0x19,
    ATTRIBUTE_REGISTERS = 0x2f,
    ATTRIBUTE_CLUSTER = 0x3d,
    ATTRIBUTE_PARAMETER_2 = 0x45 /* of CUDA 13.4 and later */
};
#define FORM_SHORT 3u /* the value is the two bytes behind the number; of 4 they are the length of what follows */
#define FORM_SIZED 4u

struct view {
    const unsigned char *bytes;
    size_t length;
};

/* Part of a view; empty where it is not within. */
static struct view part(struct view v, uint64_t offset, uint64_t length)
{
    bool within = v.bytes && offset <= v.length && length <= v.length - offset;
    return within ? (struct view){v.bytes + offset, (size_t)length} : (struct view){NULL, 0};
}

/* A little-endian number of `size` bytes; 0 where it is not within. */
static uint64_t number(struct view v, uint64_t offset, unsigned size)
{
    struct view at = part(v, offset, size);
    uint64_t value = 0;
    for (unsigned i = size; at.bytes && i-- > 0;)
        value = value << 8 | at.bytes[i];
    return value;
}

/* ---- sections ---- */

struct elf {
    struct view file, headers, names;
    unsigned n_sections;
};

struct section {
    const char *name; /* ends within the file */
    struct view content;
};

static int cut_off(struct error *err)
{
    return error_set(err, EXIT_CODE_DATA, "the cubin is cut off or damaged");
}

static struct view header_of(const struct elf *elf, unsigned index)
{
    return part(elf->headers, (uint64_t)index * SECTION_HEADER, SECTION_HEADER);
}

static struct view content_of(const struct elf *elf, unsigned index)
{
    struct view header = header_of(elf, index);
    return part(elf->file, number(header, 24, 8), number(header, 32, 8));
}

static int open_elf(struct view file, struct elf *out, struct error *err)
{
    static const unsigned char magic[6] = {0x7f, 'E', 'L', 'F', 2, 1}; /* 64 bits, little-endian */
    if (file.length < ELF_HEADER || memcmp(file.bytes, magic, sizeof magic) != 0)
        return error_set(err, EXIT_CODE_DATA, "this is no cubin (an ELF file of 64 bits)");
    out->file = file;
    out->n_sections = (unsigned)number(file, 60, 2);
    out->headers = part(file, number(file, 40, 8), (uint64_t)out->n_sections * SECTION_HEADER);
    if (number(file, 58, 2) != SECTION_HEADER || !out->headers.bytes)
        return cut_off(err);
    out->names = content_of(out, (unsigned)number(file, 62, 2));
    return out->names.bytes ? 0 : cut_off(err);
}

static int read_section(const struct elf *elf, unsigned index, struct section *out, struct error *err)
{
    struct view header = header_of(elf, index);
    uint64_t name = number(header, 0, 4);
    if (name >= elf->names.length || !memchr(elf->names.bytes + name, '\0', elf->names.length - name))
        return cut_off(err);
    out->name = (const char *)elf->names.bytes + name;
    out->content = content_of(elf, index);
    return 0;
}

/* Which section is "<prefix><entry>"; 0: there is none. */
static int find_index(const struct elf *elf, const char *prefix, const char *entry, unsigned *out, struct error *err)
{
    struct section s;
    size_t length = strlen(prefix);
    *out = 0;
    for (unsigned i = 1; i < elf->n_sections && *out == 0; i++) {
        if (read_section(elf, i, &s, err))
            return err->code;
        if (strncmp(s.name, prefix, length) == 0 && strcmp(s.name + length, entry) == 0)
            *out = i;
    }
    return 0;
}

/* Its content; NULL where there is none. */
static int find(const struct elf *elf, const char *prefix, const char *entry, struct view *out, struct error *err)
{
    unsigned index;
    *out = (struct view){NULL, 0};
    if (find_index(elf, prefix, entry, &index, err))
        return err->code;
    if (index > 0)
        *out = content_of(elf, index);
    return index == 0 || out->bytes ? 0 : cut_off(err);
}

static int no_entry(const struct elf *elf, const char *entry, struct error *err)
{
    struct section s;
    char list[300] = "";
    size_t used = 0;
    for (unsigned i = 1; i < elf->n_sections && used < sizeof list; i++) {
        if (read_section(elf, i, &s, err))
            return err->code;
        if (strncmp(s.name, TEXT_PREFIX, strlen(TEXT_PREFIX)) != 0)
            continue;
        int n = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", s.name + strlen(TEXT_PREFIX));
        used += n > 0 ? (size_t)n : 0;
    }
    return error_set(err, EXIT_CODE_DATA,
                     "there is no kernel \"%.100s\" in the code, which has: %s (is its entry extern \"C\"?)", entry,
                     used ? list : "none");
}

/* ---- attributes ---- */

static void read_three(struct view value, unsigned out[3])
{
    for (unsigned i = 0; i < 3; i++)
        out[i] = (unsigned)number(value, 4 * i, 4);
}

/* Index, ordinal, offset, then a word whose upper 14 bits are the size; in the second form two bytes that are it. */
static int read_parameter(unsigned which, struct view value, struct cubin_entry *out, struct error *err)
{
    uint64_t ordinal = number(value, 4, 2);
    if (value.length < 12)
        return cut_off(err);
    if (ordinal >= CUBIN_MAX_PARAMETERS)
        return error_set(err, EXIT_CODE_DATA, "the kernel takes more than %d arguments", CUBIN_MAX_PARAMETERS);
    out->sizes[ordinal] = (unsigned)(which == ATTRIBUTE_PARAMETER_2 ? number(value, 8, 2) : number(value, 8, 4) >> 18);
    if (ordinal >= out->n_parameters)
        out->n_parameters = (unsigned)ordinal + 1;
    return 0;
}

static int read_attribute(unsigned which, struct view value, struct cubin_entry *out, struct error *err)
{
    unsigned bound[3];
    switch (which) {
    case ATTRIBUTE_PARAMETER:
    case ATTRIBUTE_PARAMETER_2:
        return read_parameter(which, value, out, err);
    case ATTRIBUTE_MAX_THREADS:
        read_three(value, bound);
        out->max_threads = bound[0] * bound[1] * bound[2];
        return 0;
    case ATTRIBUTE_REQUIRED_BLOCK:
        read_three(value, out->required_block);
        return 0;
    case ATTRIBUTE_CLUSTER:
        read_three(value, out->cluster);
        return 0;
    default:
        return 0;
    }
}

static int read_attributes(struct view info, struct cubin_entry *out, struct error *err)
{
    int code = 0;
    for (uint64_t at = 0; at < info.length && !code;) {
        unsigned form = (unsigned)number(info, at, 1), which = (unsigned)number(info, at + 1, 1);
        unsigned short_value = (unsigned)number(info, at + 2, 2);
        struct view value = part(info, at + 4, form == FORM_SIZED ? short_value : 0);
        if (!value.bytes)
            return cut_off(err);
        if (form == FORM_SHORT && which == ATTRIBUTE_PARAMETER_BYTES)
            out->parameter_bytes = short_value;
        else if (form == FORM_SIZED)
            code = read_attribute(which, value, out, err);
        at += 4 + value.length;
    }
    return code;
}

/* .nv.info, which is about all kernels: pairs of a symbol and a number. */
static void read_symbol(unsigned which, struct view value, uint64_t symbol, struct cubin_entry *out)
{
    if (value.length < 8 || number(value, 0, 4) != symbol)
        return;
    if (which == ATTRIBUTE_REGISTERS)
        out->registers = (int)number(value, 4, 2);
    else if (which == ATTRIBUTE_FRAME)
        out->stack_bytes = (unsigned)number(value, 4, 4);
}

static int read_usage(const struct elf *elf, unsigned text, const char *entry, struct cubin_entry *out,
                      struct error *err)
{
    struct view info;
    unsigned shared, reserved;
    uint64_t symbol = number(header_of(elf, text), 44, 4) & SYMBOL_BITS;
    if (find(elf, ".nv.info", "", &info, err) || find_index(elf, ".nv.shared.", entry, &shared, err) ||
        find_index(elf, ".nv.shared.reserved.0", "", &reserved, err))
        return err->code;
    if (shared > 0) /* takes no room in the file: only its size is there */
        out->static_shared_bytes = (unsigned)number(header_of(elf, shared), 32, 4);
    if (reserved > 0 && out->static_shared_bytes >= RESERVED_SHARED)
        out->static_shared_bytes -= RESERVED_SHARED;
    for (uint64_t at = 0; at < info.length;) {
        unsigned form = (unsigned)number(info, at, 1), which = (unsigned)number(info, at + 1, 1);
        struct view value = part(info, at + 4, form == FORM_SIZED ? number(info, at + 2, 2) : 0);
        if (!value.bytes)
            return cut_off(err);
        if (form == FORM_SIZED)
            read_symbol(which, value, symbol, out);
        at += 4 + value.length;
    }
    return 0;
}

int cubin_read(const void *bytes, size_t length, const char *entry, struct cubin_entry *out, struct error *err)
{
    struct elf elf;
    struct view text, info;
    unsigned index = 0;
    *out = (struct cubin_entry){0};
    if (open_elf((struct view){bytes, length}, &elf, err) || find(&elf, TEXT_PREFIX, entry, &text, err) ||
        find_index(&elf, TEXT_PREFIX, entry, &index, err))
        return err->code;
    if (!text.bytes)
        return no_entry(&elf, entry, err);
    out->code = text.bytes;
    out->code_bytes = text.length;
    int code = find(&elf, ".nv.info.", entry, &info, err);
    if (!code)
        code = read_attributes(info, out, err);
    return code ? code : read_usage(&elf, index, entry, out, err);
}

/* ---- the architecture ---- */

/* Newer files keep what older ones have in the flags: pairs (form 2, a byte each) of .nv.compat, whose ninth says
 * whether the code is of one architecture alone. Of a family of them only the compiler's command line tells. */
static int read_compat(const struct elf *elf, struct cubin_arch *out, struct error *err)
{
    struct view compat, note;
    char family[16];
    if (find(elf, ".nv.compat", "", &compat, err) || find(elf, ".note.nv.tkinfo", "", &note, err))
        return err->code;
    for (uint64_t at = 0; at + 4 <= compat.length; at += 4)
        if (number(compat, at, 2) == 0x0902 && number(compat, at + 2, 1) > 0)
            out->alone = true;
    int n = snprintf(family, sizeof family, "sm_%df", out->cc);
    out->family = out->alone && note.bytes && n > 0 && memmem(note.bytes, note.length, family, (size_t)n);
    return 0;
}

int cubin_arch_of(const void *bytes, size_t length, struct cubin_arch *out, struct error *err)
{
    struct elf elf;
    *out = (struct cubin_arch){0};
    if (open_elf((struct view){bytes, length}, &elf, err))
        return err->code;
    unsigned flags = (unsigned)number(elf.file, 48, 4);
    if (number(elf.file, 18, 2) != MACHINE_CUDA)
        return error_set(err, EXIT_CODE_DATA, "this ELF file is not for an NVIDIA GPU");
    if (number(elf.file, 8, 1) >= 8) { /* the ABI's version, from CUDA 13 on; of some files of 12 too */
        out->cc = (int)(flags >> 8 & 0xff);
        out->alone = flags & 0x8;
        return read_compat(&elf, out, err);
    }
    out->cc = (int)(flags & 0xff);
    out->alone = flags & 0x800;
    return 0;
}

bool cubin_runs_on(const struct cubin_arch *arch, int cc)
{
    bool one_family = arch->cc / 10 == cc / 10 && arch->cc <= cc;
    return arch->alone && !arch->family ? arch->cc == cc : one_family;
}

const char *cubin_arch_suffix(const struct cubin_arch *arch)
{
    return !arch->alone ? "" : arch->family ? "f" : "a";
}
