/*
 * tree.h - building JSON objects: adds members and remembers whether memory ever ran out, so that a builder checks
 * once, in tree_finish.
 */
#ifndef CUDAL2_BASE_TREE_H
#define CUDAL2_BASE_TREE_H

#include "base/json.h"

struct tree {
    cJSON *object;
    bool failed;
};

struct tree tree_begin(void);
/* Takes item over, also on failure; NULL counts as out of memory. */
void tree_put(struct tree *t, const char *key, cJSON *item);
void tree_put_number(struct tree *t, const char *key, double value);    /* NaN and infinities become null */
void tree_put_text(struct tree *t, const char *key, const char *text);  /* "" is left out */
void tree_put_count(struct tree *t, const char *key, double value);     /* 0 is left out */
void tree_put_true(struct tree *t, const char *key, bool value);        /* false is left out */
void tree_put_copy(struct tree *t, const char *key, const cJSON *tree); /* NULL is left out */
/* The object, owned by the caller, or NULL out of memory. */
cJSON *tree_finish(struct tree *t);

/* Appends item (taken over) to array; on failure deletes both and returns false. */
bool tree_append(cJSON *array, cJSON *item);

/* Members of an object for reading what this program wrote: "" and NaN stand for absent or of another type. */
const char *tree_text(const cJSON *object, const char *key);
double tree_number(const cJSON *object, const char *key);
size_t tree_whole(const cJSON *object, const char *key); /* 0 for what is no count, too */
bool tree_true(const cJSON *object, const char *key);
const cJSON *tree_member(const cJSON *object, const char *key); /* NULL when absent */

/* Walks the members of an object; of anything else, an array among them, there are none. Elements of an array have no
 * name, and a file may hold an array where this program writes an object. */
const cJSON *tree_first(const cJSON *object);
#define tree_each(member, object) for ((member) = tree_first(object); (member) != NULL; (member) = (member)->next)

/* Rounded to a decimal grid, so that it prints short: round_to(x, 1e3) keeps three decimals. */
double round_to(double value, double per_unit);

#endif
