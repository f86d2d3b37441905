/*
 * instructions.c - scans PTX for mma, wgmma and fma and notes in what type each accumulates. Text only, no assembler.
 * Called by kept.c; verify/instructions.c judges what it found.
 */
#include "compile/instructions.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char separators[] = " \t\r\n;{}(),";

/* A word is part of the list, or is added to its end. */
static void add_word(char *out, size_t capacity, const char *word)
{
    size_t used = strlen(out), length = strlen(word);
    for (const char *at = out; (at = strstr(at, word)) != NULL; at += length) {
        bool starts = at == out || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0'))
            return;
    }
    if (used + length + 2 <= capacity)
        snprintf(out + used, capacity - used, "%s%s", used > 0 ? " " : "", word);
}

static bool starts_with(const char *text, size_t length, const char *start)
{
    return length >= strlen(start) && strncmp(text, start, strlen(start)) == 0;
}

/* "m64n128k16" */
static bool is_shape(const char *text)
{
    int m = 0, n = 0, k = 0;
    return sscanf(text, "m%dn%dk%d", &m, &n, &k) == 3;
}

/* The types of "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": what follows shape and orders. */
static const char *types_of(char *opcode)
{
    char *types = NULL;
    for (char *dot = strchr(opcode, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        bool order = strncmp(dot, ".row", 4) == 0 || strncmp(dot, ".col", 4) == 0;
        if (types == NULL && !order && is_shape(dot + 1))
            types = dot + strcspn(dot + 1, ".") + 1;
        else if (types != NULL && order && dot == types)
            types = dot + 4;
    }
    return types == NULL ? "" : types;
}

static void add_matrix(const char *word, size_t length, char *out, size_t capacity)
{
    static const struct {
        const char *start, *name;
    } kinds[] = {{"mma.sync", "mma"}, {"wmma.mma", "wmma"}, {"wgmma.mma_async", "wgmma"}, {"tcgen05.mma", "tcgen05"}};
    char opcode[128], entry[160];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!starts_with(word, length, kinds[i].start) || length >= sizeof opcode)
            continue;
        snprintf(opcode, sizeof opcode, "%.*s", (int)length, word);
        snprintf(entry, sizeof entry, "%s%s", kinds[i].name, types_of(opcode));
        add_word(out, capacity, entry);
    }
}

static void add_scalar(const char *word, size_t length, char *out, size_t capacity)
{
    char opcode[64], entry[80];
    if (!starts_with(word, length, "fma.") || length >= sizeof opcode)
        return;
    snprintf(opcode, sizeof opcode, "%.*s", (int)length, word);
    snprintf(entry, sizeof entry, "fma%s", strrchr(opcode, '.'));
    add_word(out, capacity, entry);
}

static void scan(const char *ptx, void (*add)(const char *, size_t, char *, size_t), char *out, size_t capacity)
{
    out[0] = '\0';
    for (const char *at = ptx; *at != '\0';) {
        at += strspn(at, separators);
        size_t length = strcspn(at, separators);
        if (length > 0 && islower((unsigned char)*at))
            add(at, length, out, capacity);
        at += length;
    }
}

void instructions_of(const char *ptx, char *out, size_t capacity)
{
    scan(ptx, add_matrix, out, capacity);
    if (out[0] == '\0')
        scan(ptx, add_scalar, out, capacity);
}
