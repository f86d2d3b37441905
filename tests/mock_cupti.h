/*
 * mock_cupti.h - a recorder for tests, behind cupti_resolver: gives out, at the next flush, the records that a test or
 * the driver of mock_cuda.h has put in, byte for byte as cupti_activity.h of CUDA 12 and 13 lays them out.
 * Included by one test file.
 */
#ifndef CUDAL2_TESTS_MOCK_CUPTI_H
#define CUDAL2_TESTS_MOCK_CUPTI_H

#include "device/cupti.h"

#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES = 160, MAX_RECORDS = 600 };

static struct {
    uint32_t version;
    unsigned char records[MAX_RECORDS][RECORD_BYTES];
    size_t n, given;
    size_t dropped;
    int enabled;          /* kinds that are recorded */
    const char *withheld; /* a call the library does not have */
    int refuse_enable;    /* status of cuptiActivityEnable */
    uint64_t now;
    uint64_t late_start; /* not 0: a kernel of another stream that begins here, recorded at the second flush on */
    int flushes;
    void (*give)(uint8_t **buffer, size_t *size, size_t *max_records);
    void (*take)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
} cupti_mock;

#define OWN_STREAM 13u
#define OTHER_STREAM 14u

static void put(unsigned char *record, size_t at, const void *value, size_t bytes)
{
    memcpy(record + at, value, bytes);
}

struct mock_kernel {
    const char *name;
    uint32_t stream;
    int grid, block;
    uint64_t start, end, node;
};

static void record_kernel(const struct mock_kernel *k)
{
    unsigned char *r = cupti_mock.records[cupti_mock.n++];
    const int kind = 10, one = 1;
    memset(r, 0, RECORD_BYTES);
    put(r, 0, &kind, 4);
    put(r, 16, &k->start, 8);
    put(r, 24, &k->end, 8);
    put(r, 48, &k->stream, 4);
    put(r, 52, &k->grid, 4);
    put(r, 56, &one, 4);
    put(r, 60, &one, 4);
    put(r, 64, &k->block, 4);
    put(r, 68, &one, 4);
    put(r, 72, &one, 4);
    put(r, 104, &k->name, 8);
    put(r, 144, &k->node, 8);
}

/* kind 1: a copy, 2: a memset. */
static void record_transfer(int kind, uint64_t bytes, uint64_t start, uint64_t node)
{
    unsigned char *r = cupti_mock.records[cupti_mock.n++];
    const uint32_t stream = OTHER_STREAM;
    const uint64_t end = start + 500;
    memset(r, 0, RECORD_BYTES);
    put(r, 0, &kind, 4);
    put(r, 8, &bytes, 8);
    put(r, 16, &start, 8);
    put(r, 24, &end, 8);
    put(r, 40, &stream, 4);
    put(r, 64, &node, 8);
}

static int p_version(uint32_t *version)
{
    *version = cupti_mock.version;
    return 0;
}

static int p_result_string(int status, const char **text)
{
    *text = status == 7 ? "CUPTI_ERROR_NOT_COMPATIBLE" : NULL;
    return 0;
}

static int p_register(void (*give)(uint8_t **, size_t *, size_t *),
                      void (*take)(void *, uint32_t, uint8_t *, size_t, size_t))
{
    cupti_mock.give = give;
    cupti_mock.take = take;
    return 0;
}

static int p_enable(int kind)
{
    cupti_mock.enabled |= 1 << kind;
    return cupti_mock.refuse_enable;
}

static int p_disable(int kind)
{
    cupti_mock.enabled &= ~(1 << kind);
    return 0;
}

static int p_flush(uint32_t flag)
{
    uint8_t *buffer = NULL;
    size_t size = 0, most = 0;
    cupti_mock.flushes++;
    if (cupti_mock.late_start > 0 && cupti_mock.flushes > 1)
        record_kernel(
            &(struct mock_kernel){"late", OTHER_STREAM, 1, 32, cupti_mock.late_start, cupti_mock.late_start + 100, 0});
    if (flag != 1 || cupti_mock.give == NULL)
        return 1;
    cupti_mock.give(&buffer, &size, &most);
    if (buffer == NULL)
        return 1;
    cupti_mock.given = 0;
    cupti_mock.take(NULL, 0, buffer, size, cupti_mock.n * RECORD_BYTES);
    cupti_mock.n = 0;
    return 0;
}

/* The records stay where they are: the buffer is only handed back and forth. */
static int p_next(uint8_t *buffer, size_t valid, void **record)
{
    (void)buffer;
    if (cupti_mock.given * RECORD_BYTES >= valid)
        return 20; /* CUPTI_ERROR_MAX_LIMIT_REACHED */
    *record = cupti_mock.records[cupti_mock.given++];
    return 0;
}

static int p_dropped(void *context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = cupti_mock.flushes > 1 ? cupti_mock.dropped : 0;
    return 0;
}

static int p_stream_id(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
    (void)context;
    (void)stream;
    *id = per_thread == 0 ? OWN_STREAM : 0;
    return 0;
}

static int p_timestamp(uint64_t *now)
{
    *now = cupti_mock.now;
    return 0;
}

static void *cupti_mock_resolve(void *library, const char *symbol)
{
    static const struct {
        const char *name;
        void *function;
    } calls[] = {{"cuptiGetVersion", (void *)p_version},
                 {"cuptiGetResultString", (void *)p_result_string},
                 {"cuptiActivityRegisterCallbacks", (void *)p_register},
                 {"cuptiActivityEnable", (void *)p_enable},
                 {"cuptiActivityDisable", (void *)p_disable},
                 {"cuptiActivityFlushAll", (void *)p_flush},
                 {"cuptiActivityGetNextRecord", (void *)p_next},
                 {"cuptiActivityGetNumDroppedRecords", (void *)p_dropped},
                 {"cuptiGetStreamIdEx", (void *)p_stream_id},
                 {"cuptiGetTimestamp", (void *)p_timestamp}};
    (void)library;
    if (cupti_mock.withheld != NULL && strcmp(cupti_mock.withheld, symbol) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, symbol) == 0)
            return calls[i].function;
    return NULL;
}

#endif
