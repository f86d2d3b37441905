/*
 * model.h - how far an honest kernel's output may be from the true product on N(0,1) inputs, from theory alone. Pure
 * functions; errors are RMS over the elements divided by the RMS of the output, sqrt(K), unless a name says otherwise.
 *
 * A sum of K products is N(0, K). Storing it in a format of p significant bits costs an error of at most half a unit in
 * the last place; averaged over N(0, K) that is model_rounding, about 2.0e-4 for fp16 whatever K is. Accumulating in
 * that format costs such a rounding after every step of s products. Partial sums of j steps have variance s*j, so over
 * the K/s steps the squared errors add up to rounding^2 * K * (K/s) / 2: relative, rounding * sqrt(K / 2s). Tensor
 * cores add 8 or 16 products a step (s), half-precision FMA one.
 */
#ifndef CUDAL2_VERIFY_MODEL_H
#define CUDAL2_VERIFY_MODEL_H

#include "model/problem.h"

/* Bounds on a candidate's RMS and largest deviation: this many times the larger of what the baselines show and what
 * the model gives an honest kernel of the billed type (model_honest, s = 8).
 * RMS: a kernel that rounds after every product (s = 1) is sqrt(8) = 2.83 times as far off as one that rounds after
 * eight and still does what "accumulates in fp16" says; 16 half-precision partial sums of a split K added in half
 * precision make 2.9 of a float kernel. An RMS over thousands of elements itself moves by a few percent only.
 * Largest: the same 2.83, times 1.4 for the scatter of a maximum from one set of inputs to the next; or what follows
 * from the contender's own RMS (model_tail), if that is more. */
#define MODEL_RMS_MARGIN 3.0
#define MODEL_MAX_MARGIN 4.0

/* How often an honest output may exceed a bound on one set of inputs, and on how many sets it must exceed one to be
 * wrong: together 1e-10 a cell. A largest error over its bound by MODEL_FAR is wrong at once: at 13 times its RMS an
 * honest element is one in 1e6, and at 52 times it is one in 1e23. So is an RMS over its bound by MODEL_RMS_NEAR, as it
 * moves little between sets: five tries would let pass who rounds too much in some launches. */
#define MODEL_CHANCE 0.01
#define MODEL_DRAWS 5
#define MODEL_FAR 4.0
#define MODEL_RMS_NEAR 1.25

/* A baseline sets the bound, so it is held only against this: an output a quarter of which is noise is no GEMM. */
#define MODEL_GROSS 0.25

/* K of the problem on which kernels for smaller ones are profiled, and of the calibration. */
#define MODEL_PROBE_K 4096

/* Floor of the profile's threshold, in units of what a float kernel shows: room for split K with half-precision partial
 * sums, of which 16 make 2.9. */
#define MODEL_CLASS_FLOOR 3.0
/* And in units of the worst float baseline of the cell. */
#define MODEL_CLASS_BASELINES 1.5

/* RMS error of storing N(0, K) in the dtype. */
double model_rounding(enum cudal2_dtype dtype, double k);
/* Accumulated in fp32 (s = 1), stored in the dtype; for fp16 and bf16 the storing is all there is to see. */
double model_wide(enum cudal2_dtype dtype, double k);
/* Accumulated in 16 bits with steps of 16 products (the dtype; fp16 for fp32 operands), stored in the dtype: the least
 * that 16-bit accumulation over all of K can show, so what is held against kernels billed as float. */
double model_narrow(enum cudal2_dtype dtype, double k);
/* RMS of the output: of alpha A B + beta C, all N(0,1), or spread (FILL_SPREAD, which leaves it as it is). */
double model_output(const struct cudal2_problem *p);
/* The most that an honest kernel billed with this accumulate type is expected to show: steps of 8. */
double model_honest(const struct cudal2_problem *p);
/* Largest deviation expected among m*n elements whose RMS error is that of model_honest; absolute. */
double model_largest(const struct cudal2_problem *p);

/* Largest error among m*n elements, in units of their own RMS, that an honest output exceeds with probability
 * MODEL_CHANCE. Errors of accumulation are no normal deviates: each is a sum of roundings, every one of which is as
 * large as the partial sum that it rounds. With one partial sum that counts it is the product of two normal deviates,
 * and P(|xy| > t) < sqrt(2 / (pi t)) exp(-t); with more of them the tail is thinner. Where the billed type does not
 * show accumulation (fp16 that accumulates in fp32) there is no such tail. */
double model_tail(const struct cudal2_problem *p);

/* What calibration found on this machine: profiles of the same baseline billed f32 and f16 at MODEL_PROBE_K, or zeros.
 */
struct model_calibration {
    double wide, narrow;
};

/* Profile from which a kernel counts as accumulating in 16 bits at this K: between float and half, geometrically, and
 * never under the floors above; `baselines` is the worst profile among the cell's float baselines, 0 if none. 0 when
 * the two classes cannot be told apart. */
double model_class_threshold(enum cudal2_dtype dtype, double k, const struct model_calibration *calibration,
                             double baselines);

#endif
