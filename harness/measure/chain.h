/*
 * chain.h - mode `chain`: what a product adds to a program. A chain is a row of layers; a layer is one product and the
 * plain kernel behind it (device_ops.plain), whose output is A of the next layer. Each layer has weights (B) of its
 * own, and where those of all do not hold two caches, the cache is emptied before a chain: no layer finds its weights
 * in it. Plain kernels alone, the chain without products, are timed ahead of each chain: the difference, for a layer,
 * is the product's time.
 *
 * By `device` a chain is one graph, by `event` a stream of launches between two events, by `wall` the same stream by
 * the host's clock. Where the kernels of a contender may begin before the one ahead has ended, they may here too: the
 * plain kernels are launched without such an attribute and wait for their turn. block.c times chains; cell.c verifies.
 */
#ifndef CUDAL2_MEASURE_CHAIN_H
#define CUDAL2_MEASURE_CHAIN_H

#include "measure/bench.h"

/* Untimed layers at the head of a chain: the first one's A is not in the cache, and its kernels are not loaded. */
#define CHAIN_PRIMERS 2u
/* Timed layers: so many that the weights of all hold two caches, within these, and no more than take this long at the
 * device's peak. */
#define CHAIN_LEAST_LAYERS 4u
#define CHAIN_MOST_LAYERS 32u
#define CHAIN_LONGEST_NS 20e6
#define CHAIN_CACHES 2.0

/* Timed layers of a chain of this problem; config->chain_layers where that is not 0. */
unsigned chain_layers(const struct config *config, const struct device_info *info,
                      const struct cudal2_problem *problem);

/* Bytes that a cell in this mode holds beside its sets; 0 in other modes. */
uint64_t chain_bytes(const struct bench *bench);

/* In mode chain: allocates what lies between the layers and runs the plain kernel once. Nothing in other modes.
 * EXIT_CODE_UNAVAILABLE where the device has no plain kernel. */
int chain_open(struct bench *bench, struct error *err);
void chain_close(struct bench *bench);

/* Runs one chain of every living entrant and judges the output of every layer, and what the next layer read. Who is
 * wrong leaves with its verdict. Non-zero only when the worker must end. */
int chain_verify(struct bench *bench, struct error *err);

/* Captures the entrant's chain, or warms it, for every timing that the cell takes. Errors as segment_prepare. */
int chain_prepare(struct bench *bench, struct entrant *entrant, struct error *err);

/* Times the chain without products and then the entrant's chain; *ns gets the time of one
 * layer, product and plain kernel. Of random chains (verify.timed) inputs are disturbed before, and every layer's
 * output is judged behind it. Errors are the entrant's unless the device is lost. */
int chain_time(struct bench *bench, struct entrant *entrant, enum timing timing, double *ns, struct error *err);

/* Median of what a layer without product took since the last call; NaN: nothing was timed. */
double chain_without(struct bench *bench, enum timing timing);

/* {"layers":L,"primers":P,"weights_bytes":W,"cache_bytes":C,"emptied":whether,"without_ns":{timing: median over the
 * blocks}}. NULL in other modes. Owned by the caller. */
cJSON *chain_of(const struct bench *bench);

#endif
