/*
 * parameters.h - a kernel's compile-time parameters as a record keeps them: "BM=64,BN=128,STAGES=4".
 */
#ifndef CUDAL2_RECORD_PARAMETERS_H
#define CUDAL2_RECORD_PARAMETERS_H

/* The value of `name` in the text, or NaN when it is not there or not an integer. */
double parameters_value(const char *text, const char *name);

#endif
