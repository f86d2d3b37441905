/*
 * warmth.c - digests what a worker would load. Relies on base/digest.h. Called by evaluate.c.
 */
#include "serve/warmth.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* In the order of names, or the key would depend on the file system. */
static void add_directory(struct digest *d, const char *directory)
{
    struct dirent **entries = NULL;
    int n = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX], text[96];
        struct stat is;
        int length = snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        if (length > 0 && (size_t)length < sizeof path && stat(path, &is) == 0 && S_ISREG(is.st_mode)) {
            snprintf(text, sizeof text, "%llu %lld %lld.%09ld", (unsigned long long)is.st_ino, (long long)is.st_size,
                     (long long)is.st_mtim.tv_sec, is.st_mtim.tv_nsec);
            digest_add_string(d, entries[i]->d_name);
            digest_add_string(d, text);
        }
        free(entries[i]);
    }
    free(entries);
}

static void add_plugins(struct digest *d, const char *given)
{
    char here[PATH_MAX - 16], directory[PATH_MAX];
    struct error ignored;
    if (!given && file_executable_directory(here, sizeof here, &ignored))
        return;
    snprintf(directory, sizeof directory, "%s%s", given ? given : here, given ? "" : "/plugins");
    add_directory(d, directory);
}

void warmth_add_kernels(struct digest *d, const char *directory)
{
    char tuned[PATH_MAX];
    add_directory(d, directory);
    if (snprintf(tuned, sizeof tuned, "%s/tuned", directory) < (int)sizeof tuned)
        add_directory(d, tuned);
}

bool warmth_key(const struct evaluation *e, char key[DIGEST_HEX])
{
    const struct submission *s = e->submission;
    struct digest d;
    if (s->kind == CANDIDATE_SOURCE)
        return false;
    digest_start(&d);
    digest_add_string(&d, s->kind == CANDIDATE_KERNEL ? "kernel" : "named");
    digest_add_string(&d, s->name);
    digest_add_string(&d, s->baseline);
    digest_add_string(&d, accumulate_names[s->accumulate]);
    digest_add_string(&d, mode_names[s->mode]);
    add_plugins(&d, e->plugins);
    if (e->kernels)
        warmth_add_kernels(&d, e->kernels);
    digest_finish(&d, key);
    return true;
}
