/*
 * screen_errors.c - tells whose timed outputs are off by another error than verification saw (verification.timed,
 * measure/timed_error.h). Relies on screen_seen.c. Called by screen.c.
 */
#include "report/screen_errors.h"

#include <math.h>

#include "base/tree.h"
#include "report/screen_seen.h"

static double ratio_of(const struct result_contender *c)
{
    const cJSON *timed = tree_member(c->verification, "timed");
    double ratio = tree_number(timed, "error");
    if (!tree_true(timed, "error_changes"))
        return -1;
    return isnan(ratio) ? 0 : ratio;
}

void screen_errors(struct screen *screen)
{
    const struct screen_remark remark = {
        "Timed with other arithmetic than verified (RMS error over that of verification)", "times", ratio_of};
    screen_remark(screen, &remark);
}
