/*
 * cmd_verify.h - what `verify` found, from cell records to text and JSON. Private to cmd_verify.c, verify_form.c and
 * their test.
 */
#ifndef CUDAL2_CLI_CMD_VERIFY_H
#define CUDAL2_CLI_CMD_VERIFY_H

#include "cli/sanitize.h"
#include "record/activity.h"
#include "record/record.h"
#include "run/named.h"

/* {"schema":"cudal2-bench/verify","schema_version":1,"device":"...","problems":[{"problem":"f16-f32-64x64x64",
 *  "verification":{...},"contenders":[{"name","role","verdict","stage","reason","class","deviation","coverage","seeds",
 *  "describe_error","variants","rejected","invariance","activity","counters"}]}],"activity":{...},"sanitizers":[{"tool","outcome","errors","text"}],"passed":true}
 * What a contender does not have is left out. */
struct findings {
    cJSON *problems, *sanitizers; /* owned */
    struct activity_book book;    /* what was watched; empty in this process */
    char device[128];
    size_t passed, failed, skipped;     /* of kernels, over problems */
    struct named *named;                /* owned; what became of every contender */
    cJSON *origins;                     /* owned; whose name brought it (environment_named) */
    char unchecked[768];                /* who was named and checked nowhere, and why; "" none */
    char unfinished[RECORD_REASON_MAX]; /* the first sanitizer that did not come to its end, and why; "" none */
    struct error undrawn;               /* why there is no picture; code 0: nothing is wrong with it */
    char first[2 * RECORD_NAME_MAX + PROBLEM_KEY_MAX + RECORD_REASON_MAX];
};

void findings_open(struct findings *f);
void findings_free(struct findings *f);
/* What the record says of every contender that took part or should have: kernels, and baselines that failed. */
void findings_add(struct findings *f, const struct cell_record *record);
void findings_add_sanitizer(struct findings *f, const char *tool, const struct sanitize_result *result);

/* When all is added: notes who was named and checked nowhere. */
void findings_close(struct findings *f, const struct config *config);

/* 0, EXIT_CODE_VERIFICATION when a kernel failed or a sanitizer found something, EXIT_CODE_INCOMPARABLE when none could
 * be checked on any problem, or one that was named on none, EXIT_CODE_UNAVAILABLE when a sanitizer that was asked for
 * is missing or did not end; the text names the first. */
int findings_outcome(const struct findings *f, struct error *err);

/* Owned by the caller; NULL out of memory. */
char *findings_text(const struct findings *f);
char *findings_json(const struct findings *f);

#endif
