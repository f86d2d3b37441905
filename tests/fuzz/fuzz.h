/*
 * fuzz.h - what the libFuzzer entries share. Each file is one target: it reads arbitrary bytes from memory, and what is
 * accepted must keep the promises of its header. `make fuzz` builds and runs them (scripts/fuzz.sh); seeds are in
 * corpus/<target>, tokens in <target>.dict.
 */
#ifndef CUDAL2_TESTS_FUZZ_H
#define CUDAL2_TESTS_FUZZ_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

/* Bad data is told in one line with the code for it. */
static inline void require_refusal(int code, const struct error *err)
{
    require(code == EXIT_CODE_DATA && err->code == code && err->text[0] && !strchr(err->text, '\n'));
}

#endif
