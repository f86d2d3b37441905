/*
 * visible.c - resolves CUDA_VISIBLE_DEVICES, by number and by UUID prefix, as the driver does. Pure. Called by open.c,
 * so that the supervisor counts and locks the right GPUs.
 */
#include "device/visible.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Index of the one GPU whose UUID starts with the text, else -1. */
static int by_prefix(const char *text, size_t length, const char (*uuids)[64], int count)
{
    int found = -1;
    for (int i = 0; i < count; i++) {
        if (strncmp(uuids[i], text, length) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static int entry_index(const char *text, size_t length, const char (*uuids)[64], int count)
{
    char *end;
    if (length >= 4 && strncmp(text, "GPU-", 4) == 0)
        return by_prefix(text, length, uuids, count);
    if (length == 0 || !isdigit((unsigned char)*text))
        return -1;
    long index = strtol(text, &end, 10);
    return end == text + length && index < count ? (int)index : -1;
}

int visible_devices(const char *value, const char (*uuids)[64], int count, int *order)
{
    int n = 0;
    if (!value) {
        for (n = 0; n < count; n++)
            order[n] = n;
        return n;
    }
    for (;;) {
        while (*value == ' ')
            value++;
        size_t length = strcspn(value, ",");
        size_t trimmed = length;
        while (trimmed > 0 && value[trimmed - 1] == ' ')
            trimmed--;
        int index = entry_index(value, trimmed, uuids, count);
        bool repeated = false;
        for (int i = 0; i < n; i++)
            repeated = repeated || order[i] == index;
        if (index < 0)
            return n;
        if (repeated) /* the driver shows no device at all when one is named twice */
            return 0;
        order[n++] = index;
        if (value[length] != ',')
            return n;
        value += length + 1;
    }
}
