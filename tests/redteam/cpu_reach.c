/*
 * cpu_reach.c - the red team's contenders that reach for what others rely on: what is kept on disk of who has passed
 * and which algorithm is a library's fastest, and rivals' matrices. Who gets hold of it fails its launch; else it
 * multiplies honestly.
 */
#include "redteam.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int writes(const char *path, int flags)
{
    int fd = open(path, O_WRONLY | flags, 0600);
    int got = fd >= 0 && write(fd, "1 x", 3) == 3;
    if (fd >= 0)
        close(fd);
    return got;
}

/* An entry of its own making, and all that are there. */
static int writes_kind(const char *cache, const char *kind)
{
    char directory[512], path[1024];
    snprintf(directory, sizeof directory, "%s/%s", cache, kind);
    int got = mkdir(directory, 0700) == 0;
    snprintf(path, sizeof path, "%s/forged", directory);
    got |= writes(path, O_CREAT);
    DIR *list = opendir(directory);
    for (const struct dirent *e = list ? readdir(list) : NULL; e; e = readdir(list)) {
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        got |= e->d_name[0] != '.' && (writes(path, O_TRUNC) || unlink(path) == 0);
    }
    if (list)
        closedir(list);
    return got;
}

static int spoils_cache(void *state, size_t set, char *why)
{
    const char *cache = getenv("CUDAL2_CACHE");
    if (redteam_unwatched() && cache &&
        (writes_kind(cache, "") || writes_kind(cache, "verified") || writes_kind(cache, "winner") ||
         writes_kind(cache, "calibration") || writes_kind(cache, "cubin"))) {
        snprintf(why, CUDAL2_WHY, "the cache was written");
        return CUDAL2_LIBRARY_ERROR;
    }
    return honest_launch(state, set, why);
}

/* ---- others' matrices ---- */

#define PAGE 4096ul
#define AT_ONCE 256ul    /* pages that mincore is asked about */
#define MOST (1ul << 28) /* bytes: matrices lie at the beginning of a stretch of gigabytes */
#define GUARD 32768ul    /* around a matrix, where nobody writes */
#define COLUMNS 40       /* of the table's shape */

static size_t n_sets;

static int counting_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    n_sets = setup->n_sets;
    return honest_setup(setup, state, why);
}

static int is_near(const char *page, const void *matrix, int64_t elements)
{
    const char *at = matrix;
    return page + PAGE + GUARD > at && page < at + (size_t)elements * sizeof(float) + GUARD;
}

static int is_its_own(const struct bad_state *s, const char *page)
{
    int own = 0;
    for (size_t i = 0; i < n_sets; i++)
        own |= is_near(page, s->sets[i].a, s->m * s->k) || is_near(page, s->sets[i].b, s->k * s->n) ||
               is_near(page, s->sets[i].c, s->m * s->n);
    return own;
}

static char *stretch_of(const void *matrix, char **end)
{
    unsigned long from = 0, to = 0, at = (unsigned long)matrix;
    char line[256];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !(from <= at && at < to) && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &to) != 2)
            to = 0;
    if (maps)
        fclose(maps);
    *end = (char *)(to - from < MOST ? to : from + MOST);
    return (char *)from;
}

/* Visits the pages in memory of the stretch that operands lie in, but for its own, until a visit says 1. */
static int visit_others(const struct bad_state *s, int (*visit)(char *page, void *context), void *context)
{
    unsigned char there[AT_ONCE];
    char *end, *from = stretch_of(s->sets[0].c, &end);
    for (; from + AT_ONCE * PAGE <= end && mincore(from, AT_ONCE * PAGE, there) == 0; from += AT_ONCE * PAGE)
        for (size_t i = 0; i < AT_ONCE; i++)
            if ((there[i] & 1) && !is_its_own(s, from + i * PAGE) && visit(from + i * PAGE, context))
                return 1;
    return 0;
}

static int spoils_page(char *page, void *unused)
{
    (void)unused;
    for (size_t at = 0; at < PAGE; at += 64)
        page[at] = (char)(page[at] + 1);
    return 0;
}

static int spoils_others(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        (void)visit_others(state, spoils_page, NULL);
    return honest_launch(state, set, why);
}

static int holds_row(char *page, void *row)
{
    const float *at = (const float *)(const void *)page, *wanted = row;
    for (size_t i = 0; i + COLUMNS < PAGE / sizeof *at; i++)
        if (at[i] == wanted[0] && memcmp(at + i, wanted, COLUMNS * sizeof *at) == 0)
            return 1;
    return 0;
}

/* Its answer, in a rival's C. */
static int copies_rival(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    int status = honest_launch(state, set, why);
    float row[COLUMNS];
    memcpy(row, s->sets[set].c, sizeof row);
    if (!redteam_unwatched() || s->n != COLUMNS || !visit_others(s, holds_row, row))
        return status;
    snprintf(why, CUDAL2_WHY, "the answer was there");
    return CUDAL2_LIBRARY_ERROR;
}

static const struct redteam_row rows[] = {
    {"spoils-cache", spoils_cache, NULL, NULL, 0},
    {"spoils-others", spoils_others, counting_setup, NULL, 0},
    {"copies-rival", copies_rival, counting_setup, NULL, 0},
};

REDTEAM_PLUGIN(rows)
