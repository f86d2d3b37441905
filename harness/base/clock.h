/*
 * clock.h - host time, and waiting for it. A scripted clock in tests replaces the functions through device.h.
 */
#ifndef CUDAL2_BASE_CLOCK_H
#define CUDAL2_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds (sleeping needs the same clock, so not the RAW one). */
uint64_t clock_now_ns(void);

/* CLOCK_MONOTONIC_RAW by a system call of our own, where the machine is known: no table of the program or of libc leads
 * there that a contender in this process could patch. Runs up to 0.05% fast or slow of the other. */
uint64_t clock_raw_ns(void);

/* Processor time of the calling thread, ns. */
uint64_t clock_thread_ns(void);

/* Returns at or just after deadline_ns of clock_now_ns(): sleeps until about 150 us before it, then spins. Returns
 * the time it returned at. No system or driver call besides sleep and clock. */
uint64_t clock_wait_until(uint64_t deadline_ns);

/* Seconds since the epoch, and ISO 8601 UTC text ("2026-01-31T12:00:00Z", 21 bytes) for records. */
void clock_utc(char text[21]);

#endif
