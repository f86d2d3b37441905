/*
 * digest.c - CRC-32 for the lines of the journal and cache entries, and a 128-bit hash made of two mixed 64-bit
 * states. Not cryptographic. Called for cache keys, identities of plugins and kernels, and journal lines.
 */
#include "base/digest.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CRC_POLYNOMIAL 0xedb88320u /* IEEE 802.3, bits reversed */

/* What a byte is worth with so many bytes behind it: eight are looked up at once, for a cubin has some 100 kB. */
static uint32_t worth[8][256];
static pthread_once_t worth_known = PTHREAD_ONCE_INIT;

static void find_worth(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1u) ? CRC_POLYNOMIAL : 0u);
        worth[0][byte] = crc;
    }
    for (int behind = 1; behind < 8; behind++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t before = worth[behind - 1][byte];
            worth[behind][byte] = (before >> 8) ^ worth[0][before & 255u];
        }
}

uint32_t digest_crc32(const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    uint32_t crc = 0xffffffffu;
    (void)pthread_once(&worth_known, find_worth);
    for (; length >= 8; p += 8, length -= 8) {
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = worth[7][crc & 255u] ^ worth[6][crc >> 8 & 255u] ^ worth[5][crc >> 16 & 255u] ^ worth[4][crc >> 24] ^
              worth[3][p[4]] ^ worth[2][p[5]] ^ worth[1][p[6]] ^ worth[0][p[7]];
    }
    for (; length > 0; p++, length--)
        crc = (crc >> 8) ^ worth[0][(crc ^ *p) & 255u];
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
