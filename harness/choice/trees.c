/*
 * trees.c - reads a file of boosted trees and sums their leaves. Relies on base/file.h. Called by rank.c.
 */
#include "choice/trees.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"

#define HEAD "cudal2-bench/trees"
#define VERSION 1
#define MAX_LEAF 1000000 /* in TREES_UNIT: a factor that no model is wrong by */

#define ROWS_AT_ONCE 8

struct node {
    float threshold;
    int32_t child[2]; /* into nodes, or ~index into leaves */
    uint16_t feature; /* of the caller's */
};

struct support {
    size_t feature; /* of the caller's */
    float least, greatest;
};

struct trees {
    int cc;
    size_t n_features, n_trees, n_nodes, n_leaves;
    struct support features[TREES_MAX_FEATURES];
    int32_t roots[TREES_MAX];
    struct node *nodes; /* owned, of all trees */
    double *leaves;     /* owned */
};

/* ---- words ---- */

struct reader {
    const char *path, *at;
    const char *const *names;
    struct trees *trees;
    size_t nodes_capacity, leaves_capacity;
    int line;
};

static int fail(const struct reader *r, const char *what, struct error *err)
{
    return error_set(err, EXIT_CODE_DATA, "%s, line %d: expected %s", r->path, r->line, what);
}

static void skip_space(struct reader *r)
{
    for (; isspace((unsigned char)*r->at); r->at++)
        r->line += *r->at == '\n';
}

static bool ends_word(char c)
{
    return c == '\0' || isspace((unsigned char)c);
}

static int read_word(struct reader *r, const char *word, struct error *err)
{
    size_t length = strlen(word);
    skip_space(r);
    if (strncmp(r->at, word, length) != 0 || !ends_word(r->at[length]))
        return fail(r, word, err);
    r->at += length;
    return 0;
}

static int read_number(struct reader *r, long least, long most, long *out, struct error *err)
{
    char *end;
    skip_space(r);
    *out = strtol(r->at, &end, 10);
    if (end == r->at || !ends_word(*end) || *out < least || *out > most)
        return fail(r, "a number in its range", err);
    r->at = end;
    return 0;
}

static int read_float(struct reader *r, float *out, struct error *err)
{
    char *end;
    skip_space(r);
    *out = strtof(r->at, &end);
    if (end == r->at || !ends_word(*end) || !isfinite(*out))
        return fail(r, "a finite number", err);
    r->at = end;
    return 0;
}

/* ---- the head ---- */

static int read_feature(struct reader *r, struct support *s, struct error *err)
{
    size_t length = 0, i = 0;
    skip_space(r);
    while (!ends_word(r->at[length]))
        length++;
    while (r->names[i] && (strlen(r->names[i]) != length || strncmp(r->names[i], r->at, length) != 0))
        i++;
    if (!r->names[i])
        return fail(r, "a feature that there is", err);
    r->at += length;
    s->feature = i;
    if (read_float(r, &s->least, err) || read_float(r, &s->greatest, err))
        return err->code;
    return 0;
}

static int read_head(struct reader *r, struct error *err)
{
    struct trees *t = r->trees;
    long version, cc, count;
    if (read_word(r, HEAD, err) || read_number(r, VERSION, VERSION, &version, err) || read_word(r, "cc", err) ||
        read_number(r, 10, 1000, &cc, err) || read_word(r, "features", err) ||
        read_number(r, 1, TREES_MAX_FEATURES, &count, err))
        return err->code;
    t->cc = (int)cc;
    t->n_features = (size_t)count;
    for (size_t i = 0; i < t->n_features; i++)
        if (read_feature(r, &t->features[i], err))
            return err->code;
    return 0;
}

/* ---- trees ---- */

/* Room for one more element of `size` bytes. */
static int make_room(void **array, size_t n, size_t *capacity, size_t size, struct error *err)
{
    void *grown = grow_for_one(*array, n, capacity, size);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for trees");
    *array = grown;
    return 0;
}

/* A child of the tree's node `self`: a node that comes later, or a leaf. Both in the numbers of the whole. */
static int read_child(struct reader *r, long self, long n_nodes, int32_t *out, struct error *err)
{
    const struct trees *t = r->trees;
    long child;
    if (read_number(r, -n_nodes - 1, n_nodes - 1, &child, err))
        return err->code;
    if (child >= 0 && child <= self)
        return fail(r, "a child that comes after its parent", err);
    long base = child < 0 ? -(long)t->n_leaves : (long)t->n_nodes - self;
    *out = (int32_t)(base + child);
    return 0;
}

static int read_node(struct reader *r, long self, long n_nodes, struct error *err)
{
    struct trees *t = r->trees;
    struct node node;
    long feature;
    if (read_number(r, 0, (long)t->n_features - 1, &feature, err) || read_float(r, &node.threshold, err) ||
        read_child(r, self, n_nodes, &node.child[0], err) || read_child(r, self, n_nodes, &node.child[1], err))
        return err->code;
    node.feature = (uint16_t)t->features[feature].feature;
    void *nodes = t->nodes;
    int code = make_room(&nodes, t->n_nodes, &r->nodes_capacity, sizeof node, err);
    t->nodes = nodes;
    if (!code)
        t->nodes[t->n_nodes++] = node;
    return code;
}

static int read_leaf(struct reader *r, struct error *err)
{
    struct trees *t = r->trees;
    long leaf;
    if (read_number(r, -MAX_LEAF, MAX_LEAF, &leaf, err))
        return err->code;
    void *leaves = t->leaves;
    int code = make_room(&leaves, t->n_leaves, &r->leaves_capacity, sizeof *t->leaves, err);
    t->leaves = leaves;
    if (!code)
        t->leaves[t->n_leaves++] = TREES_UNIT * (double)leaf;
    return code;
}

static int read_tree(struct reader *r, int32_t *root, struct error *err)
{
    struct trees *t = r->trees;
    long n_nodes;
    if (read_number(r, 0, TREES_MAX_NODES, &n_nodes, err))
        return err->code;
    *root = (int32_t)(n_nodes > 0 ? (long)t->n_nodes : -(long)t->n_leaves - 1);
    for (long i = 0; i < n_nodes; i++)
        if (read_node(r, i, n_nodes, err))
            return err->code;
    for (long i = 0; i <= n_nodes; i++)
        if (read_leaf(r, err))
            return err->code;
    return 0;
}

static int read_trees(struct reader *r, struct error *err)
{
    long count;
    if (read_word(r, "trees", err) || read_number(r, 0, TREES_MAX, &count, err))
        return err->code;
    r->trees->n_trees = (size_t)count;
    for (size_t i = 0; i < r->trees->n_trees; i++)
        if (read_tree(r, &r->trees->roots[i], err))
            return err->code;
    skip_space(r);
    return *r->at ? fail(r, "the end of the file", err) : 0;
}

/* ---- the whole ---- */

int trees_parse(const char *path, const char *text, const char *const *names, struct trees **out, struct error *err)
{
    struct reader r = {.path = path, .at = text, .names = names, .line = 1};
    r.trees = *out = calloc(1, sizeof **out);
    if (!r.trees)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for trees");
    int code = read_head(&r, err);
    if (!code)
        code = read_trees(&r, err);
    if (code) {
        trees_free(*out);
        *out = NULL;
    }
    return code;
}

int trees_load(const char *path, const char *const *names, struct trees **out, struct error *err)
{
    char *text = NULL;
    size_t length = 0;
    *out = NULL;
    int code = file_read(path, TREES_MAX_BYTES, &text, &length, err);
    if (!code)
        code = trees_parse(path, text, names, out, err);
    free(text);
    return code;
}

void trees_free(struct trees *t)
{
    if (!t)
        return;
    free(t->nodes);
    free(t->leaves);
    free(t);
}

int trees_cc(const struct trees *t)
{
    return t->cc;
}

static double trust(const struct trees *t, const float *features)
{
    double share = 1.0;
    for (size_t i = 0; i < t->n_features; i++) {
        const struct support *s = &t->features[i];
        if (features[s->feature] < s->least || features[s->feature] > s->greatest)
            share /= 2;
    }
    return share;
}

static int32_t next_of(const struct node *nodes, int32_t at, const float *features)
{
    const struct node *node = &nodes[at];
    return node->child[features[node->feature] > node->threshold];
}

static double leaf_of(const struct trees *t, int32_t at, const float *features)
{
    while (at >= 0)
        at = next_of(t->nodes, at, features);
    return t->leaves[~at];
}

/* Of ROWS_AT_ONCE rows side by side: each step of one waits for its last, not for the others'. */
static void add_leaves(const struct trees *t, int32_t root, const float *features, size_t stride, double *out)
{
    const struct node *nodes = t->nodes;
    int32_t at[ROWS_AT_ONCE];
    for (size_t i = 0; i < ROWS_AT_ONCE; i++)
        at[i] = root;
    for (int32_t all = root; all >= 0;) {
        all = -1;
        for (size_t i = 0; i < ROWS_AT_ONCE; i++) {
            int32_t next = next_of(nodes, at[i] < 0 ? root : at[i], features + i * stride);
            at[i] = at[i] < 0 ? at[i] : next;
            all &= at[i];
        }
    }
    for (size_t i = 0; i < ROWS_AT_ONCE; i++)
        out[i] += t->leaves[~at[i]];
}

/* Tree by tree: one of them and a block of rows fit into the nearest cache. */
void trees_values(const struct trees *t, const float *features, size_t stride, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    for (size_t tree = 0; tree < t->n_trees; tree++) {
        size_t i = 0;
        for (; i + ROWS_AT_ONCE <= n; i += ROWS_AT_ONCE)
            add_leaves(t, t->roots[tree], features + i * stride, stride, out + i);
        for (; i < n; i++)
            out[i] += leaf_of(t, t->roots[tree], features + i * stride);
    }
    for (size_t i = 0; i < n; i++)
        out[i] *= trust(t, features + i * stride);
}
