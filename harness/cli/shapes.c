/*
 * shapes.c - which shapes of a config are measured: --shape, --where and --limit of run_config.h. Relies on
 * contender/expr.h for `--where`. Called by run_config.c, compile_only.c and cmd_verify.c.
 */
#include "cli/run_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender/expr.h"

/* The shapes on the command line take the place of the config's. */
static int take_shapes(const char *const *texts, struct config *config, struct error *err)
{
    size_t n = 0;
    while (texts[n])
        n++;
    struct shape *shapes = calloc(n, sizeof *shapes);
    if (!shapes)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for %zu shapes", n);
    int code = 0;
    for (size_t i = 0; i < n && !code; i++) {
        code = shape_parse(texts[i], &shapes[i], err);
        for (size_t j = 0; j < i && !code; j++)
            if (shape_equal(&shapes[j], &shapes[i]))
                code = error_set(err, EXIT_CODE_DATA, "%s is there twice", texts[i]);
    }
    if (code) {
        free(shapes);
        return code;
    }
    free(config->shapes);
    config->shapes = shapes;
    config->n_shapes = n;
    return 0;
}

/* Whether the expression holds; both cases of the letters are names. */
static int holds(const struct expr *where, const struct shape *s, bool *out, struct error *err)
{
    const struct expr_variable sizes[] = {{"M", s->m}, {"N", s->n}, {"K", s->k}, {"m", s->m}, {"n", s->n}, {"k", s->k}};
    const struct expr_scope scope = {sizes, sizeof sizes / sizeof sizes[0]};
    int64_t value = 0;
    int code = expr_eval(where, &scope, &value, err);
    *out = value != 0;
    return code;
}

static int filter(const char *text, struct config *config, struct error *err)
{
    struct expr *where = NULL;
    size_t kept = 0;
    int code = expr_parse(text, &where, err);
    for (size_t i = 0; i < config->n_shapes && !code; i++) {
        bool keep = false;
        code = holds(where, &config->shapes[i], &keep, err);
        if (keep)
            config->shapes[kept++] = config->shapes[i];
    }
    if (!code && kept == 0)
        code = error_set(err, EXIT_CODE_USAGE, "none of %zu shapes has %.60s", config->n_shapes, text);
    config->n_shapes = kept;
    expr_free(where);
    return code;
}

static double work(const struct shape *s)
{
    return (double)s->m * (double)s->n * (double)s->k;
}

static int by_work(const void *a, const void *b)
{
    const struct shape *const *x = a, *const *y = b;
    double left = work(*x), right = work(*y);
    if (left != right)
        return left < right ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static int by_place(const void *a, const void *b)
{
    const struct shape *const *x = a, *const *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The `limit` shapes with the least work, in the order that they have. */
static int keep_least(uint64_t limit, struct config *config, struct error *err)
{
    if (limit == 0)
        return error_set(err, EXIT_CODE_USAGE, "expected a number of shapes, 1 or more, found 0");
    if (limit >= config->n_shapes)
        return 0;
    const struct shape **order = calloc(config->n_shapes, sizeof(struct shape *));
    if (!order)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for %zu shapes", config->n_shapes);
    for (size_t i = 0; i < config->n_shapes; i++)
        order[i] = &config->shapes[i];
    qsort(order, config->n_shapes, sizeof(struct shape *), by_work);
    qsort(order, (size_t)limit, sizeof(struct shape *), by_place);
    for (size_t i = 0; i < (size_t)limit; i++) /* a shape never moves back, so none is lost that is still wanted */
        config->shapes[i] = *order[i];
    config->n_shapes = (size_t)limit;
    free(order);
    return 0;
}

/* What a file's reader calls data is usage here. */
static int blame(const char *option, int code, struct error *err)
{
    if (!code)
        return 0;
    err->code = code == EXIT_CODE_DATA ? EXIT_CODE_USAGE : code;
    return error_wrap(err, "%s", option);
}

int shapes_choose(const struct options *options, struct config *config, struct error *err)
{
    int code = 0;
    if (options->shapes[0])
        code = blame("--shape", take_shapes(options->shapes, config, err), err);
    if (!code && options->where)
        code = blame("--where", filter(options->where, config, err), err);
    if (!code && options_given(options, OPTION_LIMIT))
        code = blame("--limit", keep_least(options->limit, config, err), err);
    return code;
}
