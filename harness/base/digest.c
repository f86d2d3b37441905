/*
 * digest.c - CRC-32 for the lines of the journal and cache entries, and a 128-bit hash made of two mixed 64-bit
 * states. Not cryptographic. Called for cache keys, identities of plugins and kernels, and journal lines.
 */
#include "base/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t digest_crc32(const void *bytes, size_t length)
{
    /* Half a byte at a time: a table this small can be a constant, and journals are small. */
    static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const unsigned char *p = bytes;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < length; i++) {
        crc ^= p[i];
        crc = (crc >> 4) ^ nibble[crc & 15u];
        crc = (crc >> 4) ^ nibble[crc & 15u];
    }
    return ~crc;
}

/* Two lanes that fail differently: FNV-1a, and a rotate-xor-multiply by an unrelated odd constant. */
#define LANE_A_START 0xcbf29ce484222325u
#define LANE_A_PRIME 0x00000100000001b3u
#define LANE_B_START 0x6c62272e07bb0142u
#define LANE_B_PRIME 0x9e3779b97f4a7c15u

void digest_start(struct digest *d)
{
    d->a = LANE_A_START;
    d->b = LANE_B_START;
}

void digest_add(struct digest *d, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < length; i++) {
        d->a = (d->a ^ p[i]) * LANE_A_PRIME;
        d->b = (((d->b << 29) | (d->b >> 35)) ^ p[i]) * LANE_B_PRIME;
    }
}

void digest_add_bulk(struct digest *d, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    size_t whole = length / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, sizeof word);
        d->a = (d->a ^ word) * LANE_A_PRIME;
        d->a ^= d->a >> 32; /* a product carries upwards only */
        d->b = (((d->b << 29) | (d->b >> 35)) ^ word) * LANE_B_PRIME;
    }
    digest_add(d, p + whole, length - whole);
}

void digest_add_string(struct digest *d, const char *text)
{
    digest_add(d, text, strlen(text) + 1);
}

/* The finaliser of splitmix64: a bijection in which every input bit reaches every output bit. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void digest_finish(const struct digest *d, char hex[DIGEST_HEX])
{
    uint64_t a = mix(d->a);
    uint64_t b = mix(d->b ^ a);
    snprintf(hex, DIGEST_HEX, "%016" PRIx64 "%016" PRIx64, a, b);
}
