/*
 * portfolio.h - the kernels of a set that are compiled ahead for problems which nobody searched
 * (kernels/spaces/<set>.portfolio, which scripts/portfolio.py makes): a line each, "nn persistent:BM=128,...", without
 * the launch's parameters.
 */
#ifndef CUDAL2_CHOICE_PORTFOLIO_H
#define CUDAL2_CHOICE_PORTFOLIO_H

#include "contender/module.h"

struct portfolio;

/* NULL where the set has none, or none that can be read: a line that no kernel of the set knows makes it none. The
 * caller closes it; the set must outlive it. */
struct portfolio *portfolio_open(const struct module_set *set);
void portfolio_close(struct portfolio *p);

/* Whether the key's kernel is in it, however it is launched. */
bool portfolio_has(const struct portfolio *p, enum cudal2_layout layout, const char *key);

/* Its kernels for the precompiler, in the file's order, at most `most` of them; how many. The texts are the
 * portfolio's. */
size_t portfolio_keys(const struct portfolio *p, enum cudal2_accumulate accumulate, struct precompile_key *out,
                      size_t most);

#define PORTFOLIO_MAX 512 /* kernels */

#endif
