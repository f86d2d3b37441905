/*
 * verified.h - verdicts that need not be found again: a contender that passed on a problem, kept on disk under GPU,
 * driver, libraries and their files' hashes (the bench's identity), contender, variant, problem, workspace and seeds.
 * Only baselines and device-only modules are remembered. A candidate with host code of its own can tell one process
 * from the next, so it is verified every time; so is everything with verify.cache off.
 */
#ifndef CUDAL2_VERIFY_VERIFIED_H
#define CUDAL2_VERIFY_VERIFIED_H

#include "verify/deviation.h"

/* True when the entrant passed before: its record then has the verification with `cached` true, and *out what it
 * showed. */
bool verified_recall(const struct bench *bench, struct entrant *entrant, struct deviation *out);

/* Keeps what the entrant, which has passed, showed. A cache that cannot be written costs time, nothing else. */
void verified_remember(const struct bench *bench, const struct entrant *entrant, const struct deviation *deviation);

#endif
