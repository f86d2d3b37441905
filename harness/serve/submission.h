/*
 * submission.h - what a client asks for: a candidate, problems, a baseline, and how the reward is made. Parsing only:
 * nothing here touches a disk or a device. Form: docs/serve.md.
 */
#ifndef CUDAL2_SERVE_SUBMISSION_H
#define CUDAL2_SERVE_SUBMISSION_H

#include "base/digest.h"
#include "config/config.h"

#define SUBMISSION_BODY_BYTES (8u << 20)
#define SUBMISSION_SOURCE_BYTES (256u << 10)
#define SUBMISSION_BINARY_BYTES (4u << 20) /* of base64 or PTX */
#define SUBMISSION_PROBLEMS 16
#define SUBMISSION_BATCH 256
#define SUBMISSION_PRIORITIES 9 /* 0 to 9, higher first */

enum candidate_kind {
    CANDIDATE_NAMED,  /* a plugin or kernel set that is installed here */
    CANDIDATE_KERNEL, /* an installed kernel with values of its parameters */
    CANDIDATE_SOURCE  /* CUDA source, or a kernel that is compiled already, and its manifest */
};

/* Of what is submitted with a manifest. */
enum source_format { SOURCE_CUDA, SOURCE_PTX, SOURCE_CUBIN, SOURCE_FATBIN };
/* The member that it comes in, "source" for CUDA; "cubin" and "fatbin" hold base64. NULL-terminated. */
extern const char *const source_format_names[];
/* What its file ends in, with the dot. */
extern const char *const source_format_endings[];

struct submission {
    enum candidate_kind kind;
    enum source_format format;
    int priority;
    char name[CONFIG_LABEL_MAX]; /* of the candidate or kernel; "" with source */
    char baseline[CONFIG_LABEL_MAX];
    char *source;                 /* owned; as it came, so that a binary is base64; NULL without */
    cJSON *manifest, *parameters; /* owned; NULL without */
    char *counters;               /* owned; metrics to count (run/counters.h), "": the default ones; NULL: none */
    struct shape problems[SUBMISSION_PROBLEMS];
    size_t n_problems;
    enum mode mode;
    enum cudal2_accumulate accumulate;
    double half_width;  /* log units: when a cell has converged */
    double seconds;     /* cap on the measuring of one problem */
    double screen;      /* ratio that a quick look must not exclude before all is measured; 0: no quick look */
    double alpha, beta; /* Eq. 3: of the deviation, and of a byte of source */
    unsigned layouts;   /* bits of the layouts that are measured; 0: all */
    bool share;         /* may be measured in the same cells as others (submission_may_share) */
    bool again;         /* measure although the same was measured */
};

/* What may be named on this server. */
struct submission_rules {
    const char *const *candidates; /* NULL-terminated; NULL: anything */
    const char *const *baselines;
    const char *baseline; /* when none is named */
};

/* Reads one submission. EXIT_CODE_DATA with the JSON path. *out is to be freed only after success. */
int submission_read(struct json_at at, const struct submission_rules *rules, struct submission *out, struct error *err);
void submission_free(struct submission *s);

/* The name of the one layout that is measured; NULL: all are. */
const char *submission_layout(const struct submission *s);

/* Everything that decides the outcome, defaults filled in; submission_read reads it back. Priority and `again` are not
 * in it. Owned by the caller; NULL out of memory. */
cJSON *submission_to_json(const struct submission *s);

/* Whether two may be measured in the same cells: both ask for `share`, and are other values of one installed kernel's
 * parameters, on the same problems, against the same baseline and to the same width, with no quick look and no
 * counters. */
bool submission_may_share(const struct submission *a, const struct submission *b);

/* Whether a client may choose such a name: letters, digits, '_', '-' and '.', beginning with a letter or digit, and no
 * ending that makes it a path. */
bool submission_is_name(const char *name);
/* The same for a client's own name of a task, which is no file's: also ':', and any length but 0. */
bool submission_is_task(const char *name);

#endif
