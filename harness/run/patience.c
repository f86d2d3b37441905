/*
 * patience.c - the deadline of a stage, moved by what the machine withheld: looks that the supervisor itself missed,
 * and the worker's wait for processors. Relies on /proc/<pid>/task/<tid>/schedstat. Called by slot.c.
 */
#include "run/patience.h"

#include "base/clock.h"

#define ABSENT_NS 2000000000u /* the supervisor looks several times a second */
#define WITHHELD 0.25         /* of the time, by all threads together */
#define EXTENSIONS 4u
#define LONGEST_SECONDS 86400.0 /* a contender may write anything onto the page */

static bool was_withheld(const struct patience *p, const struct process *process, uint64_t now)
{
    double waited = (double)(process_waited_ns(process) - p->waited_ns);
    return waited > WITHHELD * (double)(now - p->from_ns);
}

static uint64_t half_of(double seconds)
{
    return seconds > 0 && seconds < LONGEST_SECONDS ? (uint64_t)(seconds * 0.5e9) : 0;
}

bool patience_ends(struct patience *p, const struct stage_note *note, const struct process *process)
{
    uint64_t now = clock_now_ns(), half = half_of(note->seconds);
    if (p->count != note->count)
        *p = (struct patience){.count = note->count, .looked_ns = p->looked_ns};
    if (p->looked_ns != 0 && now > p->looked_ns + ABSENT_NS)
        p->grace_ns += now - p->looked_ns;
    p->looked_ns = now;
    uint64_t deadline = note->deadline_ns + p->grace_ns;
    if (now + half < deadline)
        return false;
    if (p->from_ns == 0) {
        p->from_ns = now;
        p->waited_ns = process_waited_ns(process);
    }
    if (now < deadline)
        return false;
    if (p->extended == EXTENSIONS || now == p->from_ns || !was_withheld(p, process, now))
        return true;
    p->extended++;
    p->grace_ns += now - p->from_ns;
    p->from_ns = 0;
    return false;
}
