/*
 * room.h - what a cell may still take of memory, and how long the harness's own work may take, by size. Whatever is
 * allocated beside what the cell has stated (a probe, fences, a second set of matrices) asks here first.
 */
#ifndef CUDAL2_MEASURE_ROOM_H
#define CUDAL2_MEASURE_ROOM_H

#include "measure/bench.h"

/* Bytes that may be taken now: the least of what the device has free and of what the cell's limit leaves beside what it
 * holds all the time (bench->memory_held). 0 when the device does not say. */
uint64_t bench_room(const struct bench *bench);

/* Seconds that so much work may take on a slow and busy machine of this kind, beyond the limits of the config: bytes
 * filled or copied, and floating-point operations. */
double bench_patience(const struct bench *bench, double bytes, double flops);

/* What bench_stage adds to a deadline: of the harness (entrant NULL) for filling all matrices and computing references,
 * of a contender for one launch, its check, and the emptying of the cache before it. */
double bench_stage_patience(const struct bench *bench, const struct entrant *entrant);

/* Bytes that checks of timed launches take: vectors, digests, values to renew inputs from. */
uint64_t bench_check_bytes(const struct bench *bench);

/* Whether the cache is emptied at some time in this cell, and by a buffer of how many bytes; 0 when not. */
uint64_t bench_flush_bytes(const struct bench *bench);

#endif
