/*
 * screen_known.c - tells who takes longer on new inputs than on known ones (verification.known, verify/known_note.h):
 * what is timed launches on known ones. Relies on screen_seen.c. Called by screen.c.
 */
#include "report/screen_known.h"

#include "base/tree.h"
#include "report/screen_seen.h"

/* From this on, by the lower end of the interval. */
#define TOLD 1.05

/* The median. */
static double ratio_of(const struct result_contender *c)
{
    const cJSON *known = tree_member(c->verification, "known");
    const cJSON *ratio = cJSON_GetArrayItem(known, 0), *low = cJSON_GetArrayItem(known, 1);
    bool told = cJSON_IsNumber(ratio) && cJSON_IsNumber(low) && low->valuedouble > TOLD;
    return told ? ratio->valuedouble : -1;
}

void screen_known(struct screen *screen)
{
    const struct screen_remark remark = {"Slower on new inputs than on those seen before, which are timed",
                                         "times as long", ratio_of};
    screen_remark(screen, &remark);
}
