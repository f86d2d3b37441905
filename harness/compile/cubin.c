/*
 * cubin.c - a small reader of ELF64: sections by name, the attributes of .nv.info.<kernel>. Every offset and size is
 * checked against the file's length before it is used. Relies on nothing but the bytes. Called by contender/inspect.c.
 */
#include "compile/cubin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ELF_HEADER 64u
#define SECTION_HEADER 64u
#define TEXT_PREFIX ".text."

/* Attributes of .nv.info that are read here; each has a form, a number and a value. */
enum attribute {
    ATTRIBUTE_MAX_THREADS = 0x05,
    ATTRIBUTE_REQUIRED_BLOCK = 0x10,
    ATTRIBUTE_PARAMETER = 0x17,
    ATTRIBUTE_PARAMETER_BYTES = 0x19,
    ATTRIBUTE_CLUSTER = 0x3d
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

/* The section "<prefix><entry>"; its content is NULL where there is none. */
static int find(const struct elf *elf, const char *prefix, const char *entry, struct view *out, struct error *err)
{
    struct section s;
    size_t length = strlen(prefix);
    *out = (struct view){NULL, 0};
    for (unsigned i = 1; i < elf->n_sections; i++) {
        if (read_section(elf, i, &s, err))
            return err->code;
        if (strncmp(s.name, prefix, length) != 0 || strcmp(s.name + length, entry) != 0)
            continue;
        *out = s.content;
        return s.content.bytes ? 0 : cut_off(err);
    }
    return 0;
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

/* Index, ordinal, offset, then a word whose upper 14 bits are the size. */
static int read_parameter(struct view value, struct cubin_entry *out, struct error *err)
{
    uint64_t ordinal = number(value, 4, 2);
    if (value.length < 12)
        return cut_off(err);
    if (ordinal >= CUBIN_MAX_PARAMETERS)
        return error_set(err, EXIT_CODE_DATA, "the kernel takes more than %d arguments", CUBIN_MAX_PARAMETERS);
    out->sizes[ordinal] = (unsigned)(number(value, 8, 4) >> 18);
    if (ordinal >= out->n_parameters)
        out->n_parameters = (unsigned)ordinal + 1;
    return 0;
}

static int read_attribute(unsigned which, struct view value, struct cubin_entry *out, struct error *err)
{
    unsigned bound[3];
    switch (which) {
    case ATTRIBUTE_PARAMETER:
        return read_parameter(value, out, err);
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

int cubin_read(const void *bytes, size_t length, const char *entry, struct cubin_entry *out, struct error *err)
{
    struct elf elf;
    struct view text, info;
    *out = (struct cubin_entry){0};
    if (open_elf((struct view){bytes, length}, &elf, err) || find(&elf, TEXT_PREFIX, entry, &text, err))
        return err->code;
    if (!text.bytes)
        return no_entry(&elf, entry, err);
    out->code_bytes = text.length;
    int code = find(&elf, ".nv.info.", entry, &info, err);
    return code ? code : read_attributes(info, out, err);
}
