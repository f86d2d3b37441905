/*
 * inspect_list.h - which variants an inspection looks at. Shared by the inspect*.c files only.
 */
#ifndef CUDAL2_CONTENDER_INSPECT_LIST_H
#define CUDAL2_CONTENDER_INSPECT_LIST_H

#include "contender/inspect.h"
#include "contender/module_set.h"

struct inspect_item {
    const struct manifest *manifest;
    const struct expr *when; /* NULL: always */
    const int64_t *values;
};

struct inspect_list {
    struct module_identity *jobs; /* owned, as are the two below */
    const struct expr **whens;    /* of the set's entry; NULL: always */
    size_t *first;                /* the first job of the same code */
    size_t n, capacity, legal;
    bool all_seen;
    char none[CUDAL2_WHY]; /* the last reason why a combination is not legal */
};

int inspect_list_make(const struct module_set *set, const struct inspect_request *request, struct inspect_list *out,
                      struct error *err);
void inspect_list_free(struct inspect_list *list);

#endif
