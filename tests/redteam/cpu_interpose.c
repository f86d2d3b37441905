/* cpu_interpose.c - offers the whole process a clock of its own: the red team's symbol interposition. */
#include "redteam.h"

#include <time.h>

CUDAL2_EXPORT int clock_gettime(clockid_t id, struct timespec *out)
{
    (void)id;
    memset(out, 0, sizeof *out);
    return 0;
}

static const struct redteam_row rows[] = {{"interpose", .launch = honest_launch}};
REDTEAM_PLUGIN(rows)
