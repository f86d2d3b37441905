/*
 * nearest.c - the edit distance between a misspelt word and each known one, without regard to case. Pure. Called where
 * a name is refused: options, config keys, shapes, contenders.
 */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NEAR_MISS 2u
#define LETTERS_FOR_AN_EDIT 4u
#define LETTERS_OF_A_PART 5u /* "half_width" of "offline_half_width" */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int folded(char c)
{
    return tolower((unsigned char)c);
}

/* Edit distance with adjacent swaps ("--mdoe"), blind to case, for words short enough. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[3][NEAREST_WORD_MAX + 1];
    size_t na = strlen(a), nb = strlen(b);
    if (na > NEAREST_WORD_MAX || nb > NEAREST_WORD_MAX)
        return NEAREST_WORD_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = row[i % 3], *before = row[(i - 1) % 3], *earlier = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned change = before[j - 1] + (folded(a[i - 1]) != folded(b[j - 1]));
            now[j] = least(change, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]))
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

const char *nearest_name(const char *word, const char *const names[], size_t count)
{
    const char *best = NULL;
    unsigned length = (unsigned)strlen(word);
    unsigned best_distance = (length / LETTERS_FOR_AN_EDIT > NEAR_MISS ? length / LETTERS_FOR_AN_EDIT : NEAR_MISS) + 1;
    for (size_t i = 0; i < count; i++) {
        if (names[i] && strcasecmp(word, names[i]) == 0)
            return names[i];
        if (!names[i] || strlen(names[i]) < 2) /* a single letter is near everything short */
            continue;
        unsigned d = distance(word, names[i]);
        if (length >= 3 && strncmp(word, names[i], length) == 0)
            d = least(d, 1);
        else if (length >= LETTERS_OF_A_PART && strstr(names[i], word))
            d = least(d, NEAR_MISS);
        if (d < best_distance && d < length) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
