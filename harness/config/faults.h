/*
 * faults.h - every fault of one config file, so that its reader is told all of them at once and not one at each try.
 * The config's readers add to it, cli/ prints it.
 */
#ifndef CUDAL2_CONFIG_FAULTS_H
#define CUDAL2_CONFIG_FAULTS_H

#include "base/error.h"
#include "base/text.h"

#define FAULTS_SHOWN 40 /* a file of another kind would fill the screen */

struct faults {
    struct text lines;  /* owned; one for each, with its line end, FAULTS_SHOWN at most */
    size_t count;       /* of all */
    struct error first; /* code 0 without any */
};

/* Takes what a reader has returned: true when code is 0; else the fault in *err, which may be any reader's, is kept. */
bool faults_none(struct faults *f, int code, const struct error *err);
void faults_free(struct faults *f);

#endif
