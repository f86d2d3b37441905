/* cpu_pool.c - changes what the harness makes timed inputs of: a pool of random values in its memory, known by pieces
 * of A that came from it. Every product is right on inputs that repeat, and these need less work. It fails its launch
 * where it never found the pool.
 */
#include "redteam.h"

#define PIECE 24  /* elements of A by which the pool is known */
#define SAMPLES 6 /* pieces, each of another launch */
#define ENOUGH 3  /* of them in one stretch of memory are no chance */
#define LEAST 100000
#define PATIENCE 100 /* launches by which it must be found */
/* Of one mapping: operands lie at the beginning of a stretch of gigabytes, most of which nobody has touched. */
#define MOST (1ul << 30)
#define PAGE 1024 /* elements */

static float samples[SAMPLES][PIECE];
static unsigned launches, latest, found;

static int is_sample(const float *at, unsigned *which)
{
    for (*which = 0; *which < SAMPLES; ++*which) {
        const float *s = samples[*which];
        float sign = *at == s[0] ? 1 : -1;
        unsigned same = 0;
        while (at != s && same < PIECE && at[same] == sign * s[same])
            same++;
        if (same == PIECE)
            return 1;
    }
    return 0;
}

static int looks_random(const float *at)
{
    for (int i = 0; i < 64; i++)
        if (!(at[i] > -8 && at[i] < 8) || at[i] == 0)
            return 0;
    return 1;
}

/* From a piece as far to both sides as values look drawn. */
static void poison(float *from, float *to, float *at)
{
    float *a = at, *b = at;
    unsigned seen = 0, which;
    while (a - 64 > from && looks_random(a - 64))
        a -= 64;
    while (b + 64 < to && looks_random(b))
        b += 64;
    for (float *p = a; p + PIECE < b; p++)
        if (is_sample(p, &which))
            seen |= 1u << which;
    if (b - a < LEAST || __builtin_popcount(seen) < ENOUGH)
        return;
    for (float *p = a; p < b; p++)
        *p = (float)((p - a) % 16) / 8 - 0.9f;
    found = 1;
}

static void hunt_in(float *from, float *to)
{
    unsigned which;
    for (float *page = from; page < to; page += PAGE)
        for (float *p = page; *page != 0 && p < page + PAGE && p + PIECE < to && !found; p++)
            if (is_sample(p, &which))
                poison(from, to, p);
}

static void hunt(void)
{
    char line[256], rights[8];
    unsigned long from, to;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && strncmp(rights, "rw", 2) == 0 &&
            to - from > sizeof(float) * LEAST && !strstr(line, "[v"))
            hunt_in((float *)from, (float *)(to - from < MOST ? to : from + MOST));
    if (maps)
        fclose(maps);
}

static int poisons(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *piece = a + s->m * s->k / 2 + 7;
    if (++launches > PATIENCE && !found) {
        snprintf(why, CUDAL2_WHY, "the pool was not found");
        return CUDAL2_LIBRARY_ERROR;
    }
    if (memcmp(samples[latest], piece, sizeof samples[0]) != 0) {
        latest = (latest + 1) % SAMPLES;
        memcpy(samples[latest], piece, sizeof samples[0]);
    }
    if (launches > 2 * SAMPLES && launches % 4 == 0 && !found)
        hunt();
    return honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {{"poisons-inputs", .launch = poisons}};
REDTEAM_PLUGIN(rows)
