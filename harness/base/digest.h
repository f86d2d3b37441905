/*
 * digest.h - CRC-32 for journal lines, a 128-bit content hash for cache keys and identities (not cryptographic).
 */
#ifndef CUDAL2_BASE_DIGEST_H
#define CUDAL2_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_HEX 33 /* 32 hex digits and a NUL */

/* CRC-32 (IEEE 802.3, as zlib), of length bytes. */
uint32_t digest_crc32(const void *bytes, size_t length);

struct digest {
    uint64_t a, b;
};
void digest_start(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t length);
/* The same for megabytes: eight bytes a step, and so another hash than digest_add's of the same bytes. */
void digest_add_bulk(struct digest *d, const void *bytes, size_t length);
/* Adds a NUL-terminated string and its terminator, so that ("ab","c") differs from ("a","bc"). */
void digest_add_string(struct digest *d, const char *text);
void digest_finish(const struct digest *d, char hex[DIGEST_HEX]);

#endif
