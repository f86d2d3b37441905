/*
 * faults.c - the list of what is wrong with one file, freed by whoever asked for it. Called by the readers of config/;
 * cli/name_check.c adds to it, and cli/ prints it.
 */
#include "config/faults.h"

bool faults_none(struct faults *f, int code, const struct error *err)
{
    if (!code)
        return true;
    if (f->count == 0)
        f->first = *err;
    if (f->count++ < FAULTS_SHOWN)
        text_add(&f->lines, "%s\n", err->text);
    return false;
}

void faults_free(struct faults *f)
{
    text_free(&f->lines);
    *f = (struct faults){.count = 0};
}
