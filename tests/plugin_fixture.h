/*
 * plugin_fixture.h - races nothing: opens a plugin that the build made, multiplies with one of its contenders on the
 * CPU and compares with plain loops.
 */
#ifndef CUDAL2_TESTS_PLUGIN_FIXTURE_H
#define CUDAL2_TESTS_PLUGIN_FIXTURE_H

#include "contender/plugin.h"

/* Opens <build>/plugins/<name>.so for a device; false when it was not built (its library is not here). Anything else
 * fails the test. */
bool fixture_open(const char *name, uint32_t device_bit, struct plugin *out);

/* The contender of that name, or the test fails. */
struct contender fixture_contender(const struct plugin *plugin, const char *name);

/* Sets up, launches `rounds` times over two operand sets whose C is poisoned before each, compares every element with a
 * reference on small integers (exact in every dtype), tears down. describe() must give a JSON object with
 * "accumulates": "f32". Returns setup's status; anything wrong after it fails the test. */
int fixture_multiply(const struct contender *c, struct cudal2_problem problem, int threads, char *why);

#endif
