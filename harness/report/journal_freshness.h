/*
 * journal_freshness.h - a result and the journal that lies beside it: whether the result still tells what the journal
 * tells.
 */
#ifndef CUDAL2_REPORT_JOURNAL_FRESHNESS_H
#define CUDAL2_REPORT_JOURNAL_FRESHNESS_H

#include "report/source.h"
#include "result/result.h"

enum beside {
    BESIDE_NOTHING,    /* no journal, or nothing in it that the result lacks */
    BESIDE_MORE,       /* the run went on after the result was written */
    BESIDE_OTHER_RUN,  /* the journal is of another run */
    BESIDE_UNREADABLE, /* damaged, or not a journal */
};

/* Looks at what lies beside the result that was read from `path`. *journal is set unless BESIDE_NOTHING; `note` has one
 * line for the user then, what there is and which of the two is shown: the journal for BESIDE_MORE, else the result. */
enum beside journal_freshness(const char *path, const struct result *result, struct source *journal,
                              struct error *note);

#endif
