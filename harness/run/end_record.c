/*
 * end_record.c - the exit code and the last line of a run: a signal, a spent budget, a worker that never started, or
 * the ledger's verdict. Pure. Called by supervisor.c at the end.
 */
#include "run/end_record.h"

#include <signal.h>
#include <stdlib.h>

static const char *word_for(int signal_number)
{
    switch (signal_number) {
    case SIGINT:
        return "interrupted";
    case SIGTERM:
        return "terminated";
    case SIGALRM:
        return "the budget is spent";
    default:
        return "hung up";
    }
}

const char *end_record_advice(const struct run_spec *spec)
{
    return spec->temporary ? "" : "; the same command with --resume goes on";
}

/* A shard that lost a device on which a worker was up is to be tried elsewhere; what never worked will not work there
 * either. */
static int code_of_loss(const struct ledger *ledger, const struct run_spec *spec, const struct error *last)
{
    if (spec->shard.count && ledger->n_env > 0 && last->code == EXIT_CODE_UNAVAILABLE)
        return EXIT_CODE_TEMPORARY;
    return last->code ? last->code : EXIT_CODE_INTERNAL;
}

int end_record_of(const struct ledger *ledger, const struct run_spec *spec, int signal_number, const struct error *last,
                  struct error *err)
{
    int number = abs(signal_number);
    if (ledger->n_done >= ledger->plan.n_cells)
        return ledger_verdict(ledger, spec->config, err);
    if (number == 0)
        return error_set(err, code_of_loss(ledger, spec, last), "%s", last->text);
    return error_set(err, number == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_TEMPORARY,
                     "%s with %zu of %zu cells done%s", word_for(number), ledger->n_done, ledger->plan.n_cells,
                     end_record_advice(spec));
}
