/*
 * together.c - names for kernel sets that are in one run, and the journal of all for each job. Relies on compiling.h
 * for what a set looks like and on store.h. Called by evaluate.c.
 */
#include "serve/together.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/compiling.h"
#include "serve/verdict.h"

void together_family(const struct evaluation *e, char out[CONFIG_LABEL_MAX])
{
    if (e->submission->kind == CANDIDATE_NAMED)
        snprintf(out, CONFIG_LABEL_MAX, "%s", e->submission->name);
    else if (e->place)
        snprintf(out, CONFIG_LABEL_MAX, EVALUATE_FAMILY "%u", e->place + 1);
    else
        snprintf(out, CONFIG_LABEL_MAX, EVALUATE_FAMILY);
}

static int write_set(const struct evaluation *e, struct error *err)
{
    char path[PATH_MAX], family[CONFIG_LABEL_MAX];
    if (e->submission->kind != CANDIDATE_KERNEL)
        return 0;
    if (evaluate_candidate(e, path, err))
        return err->code;
    together_family(e, family);
    return compiling_write_set(e->submission, family, path, err);
}

int together_prepare(struct evaluation *list, size_t n, struct error *err)
{
    int code = 0;
    for (size_t i = 1; i < n && !code; i++) {
        list[i].place = (unsigned)i;
        code = write_set(&list[i], err);
    }
    return code;
}

/* A fault of one that was launched may have met the others. */
static bool was_launched(enum verdict verdict)
{
    return verdict != VERDICT_OK && verdict != VERDICT_UNSUPPORTED;
}

/* The next run of that job makes a journal anew, and leaves this one alone. */
static bool have_journal(const struct evaluation *e, const char *journal)
{
    char own[PATH_MAX];
    struct error ignored;
    if (store_path(e->store, e->id, STORE_JOURNAL, own, &ignored))
        return false;
    if (strcmp(own, journal) == 0)
        return true;
    unlink(own);
    return link(journal, own) == 0;
}

void together_keep(const struct evaluation *list, size_t n, const char *journal, cJSON *outcomes[])
{
    bool launched = false;
    for (size_t i = 0; i < n; i++)
        launched = launched || was_launched(verdict_of_outcome(outcomes[i]));
    for (size_t i = 0; i < n; i++) {
        bool stands = !launched && verdict_of_outcome(outcomes[i]) == VERDICT_OK && have_journal(&list[i], journal);
        if (stands) {
            cJSON_AddNumberToObject(outcomes[i], "together", (double)n);
            continue;
        }
        cJSON_Delete(outcomes[i]);
        outcomes[i] = NULL;
    }
}
