/*
 * journal_freshness.h - a result and the journal that lies beside it: whether the result still tells what the journal
 * tells.
 */
#ifndef CUDAL2_REPORT_JOURNAL_FRESHNESS_H
#define CUDAL2_REPORT_JOURNAL_FRESHNESS_H

#include "report/source.h"
#include "result/result.h"

enum freshness {
    JOURNAL_HAS_NO_MORE,  /* no journal, or nothing in it that the result lacks */
    JOURNAL_HAS_MORE,     /* the run went on after the result was written */
    JOURNAL_OF_OTHER_RUN, /* the journal is of another run */
    JOURNAL_UNREADABLE,   /* damaged, or not a journal */
};

/* Looks at what lies beside the result that was read from `path`. *journal is set unless JOURNAL_HAS_NO_MORE; `note`
 * has one line for the user then, what there is and which of the two is shown: the journal for JOURNAL_HAS_MORE, else
 * the result. */
enum freshness journal_freshness(const char *path, const struct result *result, struct source *journal,
                                 struct error *note);

#endif
