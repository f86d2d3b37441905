/*
 * source.c - from a path to the file that is meant: result, journal, gzip or directory, in a fixed order. Relies on
 * the file system only. Called by load.c and compare/side.c.
 */
#include "report/source.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* True, with the name in out, when the file named by the first bytes of `path` and an ending, or its compressed form,
 * can be read. */
static bool is_there(struct source *out, const char *path, int length, const char *ending)
{
    int n = snprintf(out->path, sizeof out->path - 3, "%.*s%s", length, path, ending);
    if (n < 0 || (size_t)n >= sizeof out->path - 3)
        return false;
    if (access(out->path, R_OK) == 0)
        return true;
    strcat(out->path, ".gz");
    return access(out->path, R_OK) == 0;
}

static int find_in_directory(const char *path, struct source *out, struct error *err)
{
    int length = (int)strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    out->journal = is_there(out, path, length, "/journal.jsonl");
    if (out->journal || is_there(out, path, length, "/result.json"))
        return 0;
    return error_set(err, EXIT_CODE_DATA, "%s: no journal.jsonl or result.json (or .gz of them) in this directory",
                     path);
}

int source_find(const char *path, struct source *out, struct error *err)
{
    if (strlen(path) >= sizeof out->path)
        return error_set(err, EXIT_CODE_DATA, "a path of %zu bytes is too long", strlen(path));
    if (is_directory(path))
        return find_in_directory(path, out, err);
    strcpy(out->path, path);
    out->journal = text_ends_with(path, ".jsonl") || text_ends_with(path, ".jsonl.gz");
    return 0;
}

/* "dir/x.json" and "dir/x.json.gz" have the stem "dir/x". */
static int stem_length(const char *path)
{
    size_t length = strlen(path);
    if (text_ends_with(path, ".gz"))
        length -= 3;
    if (length > 5 && strncmp(path + length - 5, ".json", 5) == 0)
        length -= 5;
    return (int)length;
}

int source_find_journal(const char *path, struct source *out, struct error *err)
{
    struct source result;
    int code = source_find(path, out, err);
    if (code || out->journal)
        return code;
    result = *out;
    int stem = stem_length(result.path);
    const char *slash = strrchr(result.path, '/');
    const char *name = slash ? slash + 1 : result.path;
    out->journal = is_there(out, result.path, stem, ".journal.jsonl");
    if (!out->journal && result.path + stem - name == 6 && strncmp(name, "result", 6) == 0)
        out->journal = is_there(out, result.path, (int)(name - result.path), "journal.jsonl");
    if (out->journal)
        return 0;
    return error_set(err, EXIT_CODE_DATA,
                     "%s: its journal %.*s.journal.jsonl is not there (nor as .gz), and only the journal has the value "
                     "of every block",
                     result.path, stem, result.path);
}
