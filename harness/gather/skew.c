/*
 * skew.c - compares the dates of a journal with each other and with this host's. Pure. Called by merge.c.
 */
#include "gather/skew.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Seconds since the epoch; -1 for what clock_utc would not write. */
static double seconds_of(const char *date)
{
    struct tm tm = {.tm_isdst = 0};
    char end = '\0', behind = '\0';
    int read = sscanf(date, "%4d-%2d-%2dT%2d:%2d:%2d%c%c", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
                      &tm.tm_min, &tm.tm_sec, &end, &behind);
    if (read != 7 || end != 'Z')
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (double)timegm(&tm);
}

static bool is_after(const char *a, const char *b)
{
    double x = seconds_of(a), y = seconds_of(b);
    return x >= 0 && y >= 0 && x > y + SKEW_SECONDS;
}

const char *skew_see(struct skew *skew, const char *date, const char *now)
{
    const char *what = NULL;
    if (seconds_of(date) < 0 || skew->told)
        return NULL;
    if (is_after(skew->latest, date))
        what = "is before the one ahead of it";
    else if (is_after(date, now))
        what = "is in the future here";
    snprintf(skew->latest, sizeof skew->latest, "%.20s", date);
    skew->told = what != NULL;
    return what;
}
