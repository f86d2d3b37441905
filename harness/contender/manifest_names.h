/*
 * manifest_names.h - which names an expression of a manifest may use: a define those of the code, a constraint those of
 * the launch too, and whatever is worked out for a problem terms as well.
 */
#ifndef CUDAL2_CONTENDER_MANIFEST_NAMES_H
#define CUDAL2_CONTENDER_MANIFEST_NAMES_H

#include "base/json.h"
#include "contender/manifest.h"

/* Unknown and clashing names are found when the manifest is read, not at the first problem that needs them. `at` is the
 * manifest's text. EXIT_CODE_DATA with the JSON path. Sets m->flags: CUDAL2_STRIDES where each matrix is handed over as
 * a tensor map or with its LDA, LDB or LDC, CUDAL2_SCALES where alpha and beta both are. */
int manifest_check_names(struct manifest *m, struct json_at at, struct error *err);

#endif
