/*
 * fields.h - ONE table of the config's plain settings: key, kind, legal range, default and place in struct config. The
 * parser, the defaults, the writer and the test of configs/config.schema.json all read it. Used in config/ and tests.
 */
#ifndef CUDAL2_CONFIG_FIELDS_H
#define CUDAL2_CONFIG_FIELDS_H

#include "config/config.h"
#include "config/faults.h"

enum field_kind {
    FIELD_COUNT,  /* unsigned */
    FIELD_BYTES,  /* uint64_t */
    FIELD_NUMBER, /* double */
    FIELD_MILLIS, /* milliseconds in the file, whole nanoseconds in a double here */
    FIELD_FLAG,   /* bool */
    FIELD_CHOICE  /* an enum, index into choices */
};

struct config_field {
    const char *section; /* object that holds it; "" is the top level */
    const char *key;
    enum field_kind kind;
    size_t offset;              /* in struct config */
    double low, high;           /* inclusive, in the file's unit; unused for flags and choices */
    double standard;            /* the default, in the file's unit; of a choice its index */
    const char *const *choices; /* NULL-terminated */
    const char *help;           /* what configs/config.schema.json says of it */
};

extern const struct config_field config_fields[];
extern const size_t config_n_fields;
/* Objects of the top level that hold fields ("server", "stop", ...); NULL-terminated. */
extern const char *const config_sections[];

#define CONFIG_SCHEMA "cudal2-bench/config"
#define CONFIG_KEYS_MAX 40

/* Every legal key of a section ("" top level, "grid", "shapes[]", and those of config_sections), NULL-terminated.
 * Returns their number; 0 for an unknown section. */
size_t config_keys(const char *section, const char *keys[CONFIG_KEYS_MAX + 1]);

/* The field's value in its section's object, by its key or its former one; no node where it is not given. */
struct json_at config_field_find(const struct config_field *field, struct json_at object);
int config_field_read(const struct config_field *field, struct json_at at, struct config *c, struct error *err);
/* Adds the field to its section's object. */
void config_field_write(const struct config_field *field, const struct config *c, cJSON *object);

/* ---- what config.c, contenders.c and shapes.c do for one another ---- */

/* Without control characters. */
bool config_text_plain(const char *text);
/* A string of less than CONFIG_LABEL_MAX bytes. */
int config_read_short(struct json_at at, char *out, struct error *err);
/* Faults: that the node is no object, and each key that the section does not have. A former key is one of them only
 * beside the key that it is called now. */
void config_check_keys(struct json_at at, const char *section, struct faults *faults);

/* shapes.c: `grid` or `shapes`, whichever is there, to c->shapes. */
void config_read_shapes(struct json_at root, struct config *c, struct faults *faults);

/* contenders.c: `baselines` and `candidates`. */
void config_read_contenders(struct json_at root, struct config *c, struct faults *faults);
/* Makes relative paths of contenders start at the directory of the config's path. */
void config_rebase(struct config *c, const char *path, struct faults *faults);

/* optional.c: `optional`, once baselines and candidates are read; and back. */
void config_read_optional(struct json_at root, struct config *c, struct faults *faults);
void config_put_optional(cJSON *root, const struct config *c);

#endif
