/*
 * fields.h - one table for each struct of result.h and run_info.h: the key of each member in JSON, what it must be, and
 * where it goes. Private to result/.
 */
#ifndef CUDAL2_RESULT_FIELDS_H
#define CUDAL2_RESULT_FIELDS_H

#include "result/result.h"
#include "result/run_info.h"

enum field_kind {
    /* words: const char * */
    IS_TEXT,
    IS_NAME,       /* must not be empty */
    IS_LOOSE_TEXT, /* somebody else's: what is no text counts as none */
    IS_OWN_KEY,    /* of an element of a map: its name there */
    /* names of an enum */
    IS_TIMING,
    IS_ROLE,
    IS_FLAG,   /* bool */
    IS_ANSWER, /* true, false or absent: enum result_answer */
    /* whole numbers, as doubles */
    IS_COUNT,
    IS_SIZE,
    IS_INDEX, /* -1: none */
    /* figures, as doubles: null stands for one that is not known */
    IS_TIME,
    IS_SPAN, /* a time that may be 0 */
    IS_AMOUNT,
    IS_SHARE,
    IS_SPEEDUP,
    IS_FIGURE,
    IS_INTERVAL, /* struct result_interval */
    /* what holds others */
    IS_OBJECT,       /* a struct in place */
    IS_LOOSE_OBJECT, /* the same of somebody else's: what is no object counts as none */
    /* lists, down to IS_OTHER_MEMBERS */
    IS_LIST,    /* an array of structs */
    IS_MAP,     /* the same of objects by name */
    IS_TEXTS,   /* const char ** */
    IS_MEMBERS, /* struct result_member *: all members of an object, whatever they are */
    /* of the object itself: those of its members that no other field of the struct names */
    IS_OTHER_OBJECTS, /* as IS_MAP */
    IS_OTHER_MEMBERS, /* as IS_MEMBERS */
    /* const cJSON *: as it stands */
    IS_SELF, /* the object itself */
    IS_NODE,
    IS_TREE,  /* an object */
    IS_ARRAY, /* an array */
    IS_NAMED  /* not read: no other member (IS_OTHER_...) is meant */
};

struct field {
    const char *key;    /* NULL ends a struct's fields */
    size_t offset;      /* of the member in its struct */
    size_t count, size; /* of a list: where its length goes, and the size of an element */
    const struct field *inner;
    enum field_kind kind;
    bool needed;
};

extern const struct field result_fields[];            /* of struct result */
extern const struct field result_cell_fields[];       /* of struct result_cell */
extern const struct field result_contender_fields[];  /* of struct result_contender */
extern const struct field result_attributes_fields[]; /* of struct result_attributes */
extern const struct field result_cells_fields[];      /* of struct result_cells */
extern const struct field result_summary_fields[];    /* of struct result_summary */
extern const struct field run_info_fields[];          /* of struct run_info */
extern const struct field env_info_fields[];          /* of struct env_info */

/* The cells of a result that has no summary yet. */
struct result_cells {
    struct result_cell *list;
    size_t n;
};

/* Reads an array of cells, which the texts of *out point into; nothing is put back. *out is owned by the caller
 * (result_free_cells), also after errors. */
int result_read_cells(const cJSON *array, const char *source, struct result_cells *out, struct error *err);
void result_free_cells(struct result_cells *cells);
/* Reads one object into a struct that result_clear has seen. Lists are the caller's (result_free_lists), also after
 * errors; the rest points into the JSON. */
int result_read_struct(struct json_at at, const struct field *fields, void *into, struct error *err);
/* Of a struct that is zero everywhere: what is not there is NaN, "" or the enum's last. */
void result_clear(const struct field *fields, void *into);
/* Frees the lists of a struct. */
void result_free_lists(const struct field *fields, void *into);
/* Frees what a summary holds; its texts are not its own. */
void result_free_summary(struct result_summary *s);

#endif
