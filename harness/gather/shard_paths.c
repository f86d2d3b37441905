/*
 * shard_paths.c - lists journals in directories. Relies on the file system only. Called by shard_files.c and watch.c.
 */
#include "gather/shard_paths.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/text.h"

#define ENDING ".journal.jsonl"
#define OUTPUT_ENDING ".json"

static int add(struct shard_paths *paths, const char *path, bool named, struct error *err)
{
    struct shard_path *grown = grow_for_one(paths->list, paths->n, &paths->capacity, sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the list of journals");
    paths->list = grown;
    paths->list[paths->n] = (struct shard_path){strdup(path), named};
    if (!paths->list[paths->n].path)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the list of journals");
    paths->n++;
    return 0;
}

static int is_journal(const struct dirent *entry)
{
    return text_ends_with(entry->d_name, ENDING);
}

/* `stem`: how the names have to begin. */
static int add_directory(struct shard_paths *paths, const char *directory, const char *stem, struct error *err)
{
    char path[PATH_MAX];
    struct dirent **names = NULL;
    int n = scandir(directory, &names, is_journal, alphasort);
    int code = n < 0 ? error_set(err, EXIT_CODE_DATA, "%s: %s", directory, strerror(errno)) : 0;
    for (int i = 0; i < n; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", directory, names[i]->d_name);
        if (!code && length >= (int)sizeof path)
            code = error_set(err, EXIT_CODE_DATA, "%s: a path in it is too long", directory);
        if (!code && strncmp(names[i]->d_name, stem, strlen(stem)) == 0)
            code = add(paths, path, false, err);
        free(names[i]);
    }
    free((void *)names);
    return code;
}

/* "out/grid.json" stands for out/grid.shard-*. */
static int add_output(struct shard_paths *paths, const char *output, struct error *err)
{
    char directory[PATH_MAX], stem[NAME_MAX + 16];
    const char *slash = strrchr(output, '/'), *name = slash ? slash + 1 : output;
    int before = slash ? (int)(slash - output) + (slash == output) : 1;
    int n = snprintf(directory, sizeof directory, "%.*s", before, slash ? output : ".");
    int length = snprintf(stem, sizeof stem, "%.*s.shard-", (int)(strlen(name) - strlen(OUTPUT_ENDING)), name);
    if (n >= (int)sizeof directory || length >= (int)sizeof stem)
        return error_set(err, EXIT_CODE_DATA, "%.60s...: the path is too long", output);
    return add_directory(paths, directory, stem, err);
}

int shard_paths_list(const char *const *operands, struct shard_paths *out, struct error *err)
{
    struct stat st;
    int code = 0;
    *out = (struct shard_paths){.n = 0};
    for (size_t i = 0; operands[i] && !code; i++) {
        if (stat(operands[i], &st) == 0 && S_ISDIR(st.st_mode))
            code = add_directory(out, operands[i], "", err);
        else if (text_ends_with(operands[i], OUTPUT_ENDING))
            code = add_output(out, operands[i], err);
        else
            code = add(out, operands[i], true, err);
    }
    return code;
}

void shard_paths_free(struct shard_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->list[i].path);
    free(paths->list);
    *paths = (struct shard_paths){.n = 0};
}
