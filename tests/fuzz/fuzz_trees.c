/*
 * fuzz_trees.c - a file of trees that is accepted ends for any features, in a finite value.
 */
#include "fuzz.h"

#include <math.h>

#include "choice/trees.h"

static const char *const names[] = {"size", "tile", "unused", NULL};

static const float asked[][3] = {
    {0, 0, 0}, {-1e30f, 1e30f, 1}, {3, 7, -5}, {INFINITY, -INFINITY, 0}, {NAN, NAN, NAN}, {1, 48, 0},
};

#define N_ASKED (sizeof asked / sizeof *asked)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct trees *trees = NULL;
    double made[N_ASKED];
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    int code = trees_parse("fuzz.trees", text, names, &trees, &err);
    free(text);
    if (code) {
        require_refusal(code, &err);
        require(trees == NULL);
        return 0;
    }
    require(trees_cc(trees) >= 10);
    trees_values(trees, asked[0], sizeof *asked / sizeof **asked, N_ASKED, made);
    for (size_t i = 0; i < N_ASKED; i++)
        require(isfinite(made[i]));
    trees_free(trees);
    return 0;
}
