/*
 * preview.c - the text of `tune --dry-run`: shapes, layouts, how many configurations, the first of each ranking, about
 * how long. Relies on family.h, which chooses as it does in a search. Called by cli/cmd_tune.c.
 */
#include "tune/preview.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/plain.h"
#include "base/text.h"
#include "choice/cudal2/cost.h"

/* Every key that is raced, as a number, so that each is counted once. */
struct counted {
    uint64_t *keys; /* owned */
    size_t n, capacity;
};

static uint64_t number_of(const char *key, int layout)
{
    uint64_t hash = 14695981039346656037u + (uint64_t)layout;
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    return hash;
}

static int count_key(struct counted *c, const char *key, int layout, struct error *err)
{
    uint64_t *grown = grow_for_one(c->keys, c->n, &c->capacity, sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a list of kernels");
    c->keys = grown;
    c->keys[c->n++] = number_of(key, layout);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t count_distinct(struct counted *c)
{
    size_t n = 0;
    if (c->n > 0)
        qsort(c->keys, c->n, sizeof *c->keys, by_number);
    for (size_t i = 0; i < c->n; i++)
        n += i == 0 || c->keys[i] != c->keys[i - 1];
    return n;
}

static int add_ranking(struct text *out, const struct family *f, int layout, const struct cudal2_problem *problem,
                       struct counted *counted, struct error *err)
{
    cJSON *keys = family_choose(f, (enum cudal2_layout)layout, problem);
    const cJSON *key;
    int code = keys ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a ranking"), n = 0;
    text_add(out, "%lldx%lldx%lld %s-%s: %d of %zu configurations%s\n", (long long)problem->m, (long long)problem->n,
             (long long)problem->k, module_set_name(f->set), layout_names[layout], cJSON_GetArraySize(keys),
             f->spaces[layout].n_configurations, cJSON_GetArraySize(keys) > 0 ? ", first" : ": none takes this shape");
    cJSON_ArrayForEach(key, keys)
    {
        if (n++ < PREVIEW_KEYS)
            text_add(out, "    %s\n", key->valuestring);
        if (!code)
            code = count_key(counted, key->valuestring, layout, err);
    }
    cJSON_Delete(keys);
    return code;
}

static int add_family(struct text *out, const struct family *f, const struct config *config, struct counted *counted,
                      struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < config->n_shapes && !code; i++) {
        const struct shape *s = &config->shapes[i];
        const struct cudal2_problem problem = {
            .m = s->m, .n = s->n, .k = s->k, .dtype = f->dtype, .accumulate = f->accumulate};
        for (int layout = 0; layout < 2 && !code; layout++)
            if (f->layouts & CUDAL2_BIT(layout))
                code = add_ranking(out, f, layout, &problem, counted, err);
    }
    return code;
}

/* Whoever has no space lists its variants itself, in the worker. Returns how many there are. */
static size_t add_others(struct text *out, const struct config *config, const struct family *families, size_t n)
{
    size_t others = 0;
    for (size_t i = 0; config->candidates[i]; i++) {
        bool searched = false;
        for (size_t f = 0; f < n; f++)
            searched |= families[f].asked == config->candidates[i];
        if (searched)
            continue;
        others++;
        text_add(out, "%s: has no search space, and races what it lists on the GPU\n", config->candidates[i]);
    }
    return others;
}

static enum mode mode_of(const struct config *config)
{
    return (config->modes & CUDAL2_BIT(MODE_SERVER)) ? MODE_SERVER : MODE_OFFLINE;
}

static void add_time(struct text *out, const struct config *config, size_t n_kernels)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    double compile = COMPILE_SECONDS * (double)n_kernels / (cpus < 1 ? 1 : (double)cpus);
    text_add(out,
             "about %.0f s of compiling on %ld cores (%zu configurations at most, less what the cache has and what "
             "differs in the launch alone), then about %.0f s of racing on an H200\n",
             compile, cpus, n_kernels, race_seconds[mode_of(config)] * (double)config->n_shapes);
}

static int add_head(struct text *out, const struct tuner *t, const struct config *config,
                    const struct device_info *device, struct error *err)
{
    char path[4096];
    if (tune_target(t, path, sizeof path, err))
        return err->code;
    text_add(out, "nothing was run; a search on one %s (sm_%d) would race %zu shapes, %s, and write %s\n", device->name,
             device->cc, config->n_shapes, mode_names[mode_of(config)], path);
    return 0;
}

int preview_text(const struct tuner *t, const struct config *config, const struct device_info *device, char **text,
                 struct error *err)
{
    struct text out = {0};
    struct counted counted = {0};
    const struct family *families;
    size_t n = tune_families(t, &families);
    int code = add_head(&out, t, config, device, err);
    for (size_t i = 0; i < n && !code; i++)
        code = add_family(&out, &families[i], config, &counted, err);
    size_t others = add_others(&out, config, families, n);
    if (!code && others == 0 && counted.n == 0)
        code = error_set(err, EXIT_CODE_UNAVAILABLE, "nothing to search on one %s (sm_%d)", device->name, device->cc);
    add_time(&out, config, count_distinct(&counted));
    plain_for_terminal(&out);
    if (!code && out.failed)
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for a preview");
    free(counted.keys);
    if (code)
        text_free(&out);
    *text = code ? NULL : out.bytes;
    return code;
}
