/*
 * record_form.h - what writer and reader of a record's JSON must agree on. A form is how a value is written there.
 * Private to record/: record_write.c and record_read.c use it, record_form.c and record_series.c hold it.
 */
#ifndef CUDAL2_RECORD_RECORD_FORM_H
#define CUDAL2_RECORD_RECORD_FORM_H

#include "record/record.h"

#define FORM_BLOCKS_MAX 1000000

/* That the record of a cell, or of a contender in it, has no key but those that are written: EXIT_CODE_DATA. */
int form_cell_keys(struct json_at at, struct error *err);
int form_contender_keys(struct json_at at, struct error *err);

/* Gaps are kept in units of 100 ns. */
#define GAP_UNIT_NS 100.0

/* The layout that a name tells: "-tn" at its end, else nn. A record writes a layout only where it differs. */
enum cudal2_layout record_layout_of(const char *name);
/* What family and layout are told by: the name, or that of the original for a copy. */
const char *record_root_name(const struct contender_record *c);
/* Family and has_layout_suffix as the name alone tells them: "cublas-nn" in layout nn is family cublas with a
 * suffix, "torch.matmul" is its own family. A record writes the two only where they differ from this. */
void record_family_of(const char *name, enum cudal2_layout layout, char family[RECORD_NAME_MAX], bool *suffix);

/* Members of an object by key. form_take_*: an absent member leaves *out as it is; form_need_*: it is an error. */
int form_take_text(struct json_at object, const char *key, char *out, size_t capacity, struct error *err);
int form_need_text(struct json_at object, const char *key, char *out, size_t capacity, struct error *err);
int form_take_unsigned(struct json_at object, const char *key, unsigned *out, struct error *err);
int form_take_bool(struct json_at object, const char *key, bool *out, struct error *err);
int form_take_number(struct json_at object, const char *key, double high, double *out, struct error *err);
/* A copy of an object or array, owned by the caller. */
int form_take_tree(struct json_at object, const char *key, cJSON **out, struct error *err);

/* A series as text (series_text.h). The string alone stands for every stride-th block from 0 on; other blocks make it
 * {"every":s,"values":""} or {"block":[],"values":""}. step_tenths 0: as the times ask for. */
struct form_place {
    unsigned stride, blocks; /* blocks: of the cell */
};
cJSON *form_write_series(const struct series *s, unsigned stride, double step_tenths); /* NULL out of memory */
int form_read_series(struct json_at at, const struct form_place *place, struct series *out, struct error *err);
/* The s for which value i was taken in block i*s, or 0. */
unsigned form_stride(const struct series *s);
cJSON *form_write_counts(const unsigned *values, size_t n);

/* EXIT_CODE_INTERNAL, out of memory at this place. */
int form_no_memory(struct json_at at, struct error *err);

#endif
