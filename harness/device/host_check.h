/*
 * host_check.h - checks of an output in the host's memory against sums in fp64, and new inputs for it: the probes
 * (probe.h) of that name, for the CPU device and the scripted one.
 */
#ifndef CUDAL2_DEVICE_HOST_CHECK_H
#define CUDAL2_DEVICE_HOST_CHECK_H

#include "device/fill.h"
#include "device/probe.h"

/* Of a pool for host_renew, in probe_ops.pool_elements. */
#define HOST_POOL_ELEMENTS FILL_POOL_ELEMENTS

/* The share of large elements in it (FILL_POOL's density): 0 in fp32, and where C would come near the end of fp16. One
 * scale for many elements, whether by rows, columns or indices of K, wastes on them the bits that the rest needs. */
double host_large_share(const struct cudal2_problem *p);

int host_product(struct device *d, const struct probe_product *product, struct probe_difference *out,
                 struct error *err);
int host_spots(struct device *d, const struct probe_product *product, struct probe_spot *spots, size_t n,
               struct error *err);
int host_band(struct device *d, const struct probe_product *product, int64_t first, int64_t rows,
              struct probe_difference *out, struct error *err);
int host_renew(struct device *d, const struct probe_renewal *renewal, struct error *err);
/* probe_ops.disturb: the scripted device's segments, and chains. */
int host_disturb(struct device *d, const struct probe_renewal *renewal, size_t n, struct error *err);

/* All of C becomes what is kept of it, where it is an input; what is between its lines stays. */
void host_put_back(const struct cudal2_problem *p, const void *input, void *c);
/* What is asked for where C is an input: no NaN. */
enum probe_spoil host_spoil_of_input(enum probe_spoil spoil);

/* host_upset.c: probe_ops of these names. */
int host_upset(struct device *d, const struct probe_upset *upset, char *why);
int host_count_kept(struct device *d, const struct probe_upset *upset, char *why);
int host_read_kept(struct device *d, uint64_t *kept, struct error *err);

/* `n` of the k elements of row `line` of A or, is_b, of column `line` of B, from `place` on. */
struct host_elements {
    uint64_t line, place, n;
    bool is_b;
};

/* values[n]: what host_renew wrote there. False when one is not there any more. */
bool host_renewed(const struct probe_renewal *renewal, const struct host_elements *which, float *values);

/* Puts bytes, none or more, out of every cache. False where the machine has no instruction for it. */
bool host_evict(const void *memory, size_t bytes);
/* probe.h: deliver. */
void host_deliver(const struct cudal2_problem *p, const struct probe_delivery *delivery);

#endif
