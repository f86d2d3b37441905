/*
 * keys.c - variants' keys with all parameters named, so that an old table's key and a new one compare equal. Relies on
 * contender/module.h. Called by table.c; tune.c opens them.
 */
#include "tune/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contender/module.h"

struct key_sets {
    struct device none; /* the sets' device: nothing here compiles or launches */
    size_t n;
    struct module_set *sets[];
};

int keys_open(char *const *candidates, const char *kernel_directory, struct key_sets **out, struct error *err)
{
    size_t n = 0;
    while (candidates[n])
        n++;
    struct key_sets *keys = calloc(1, sizeof *keys + n * sizeof *keys->sets);
    *out = keys;
    if (!keys)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a list of kernel sets");
    for (size_t i = 0; i < n; i++) {
        struct error ignored; /* a plugin; of a set the worker has told */
        if (module_set_open(candidates[i], kernel_directory, &keys->none, &keys->sets[keys->n], &ignored) == 0)
            keys->n++;
    }
    return 0;
}

void keys_close(struct key_sets *keys)
{
    for (size_t i = 0; keys && i < keys->n; i++)
        module_set_close(keys->sets[i]);
    free(keys);
}

bool keys_write(const struct key_sets *keys, const char *family, const char *key, struct cudal2_variant *out)
{
    for (size_t i = 0; keys && i < keys->n; i++)
        if (strcmp(module_set_name(keys->sets[i]), family) == 0)
            return module_set_key(keys->sets[i], key, out);
    snprintf(out->key, sizeof out->key, "%s", key);
    return true;
}
