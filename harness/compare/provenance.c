/*
 * provenance.c - compares two runs' environments member by member and says which differences forbid a comparison.
 * Relies on base/text_diff.h. Called by compare.c.
 */
#include "compare/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_diff.h"
#include "base/tree.h"

#define TABLES "tuned" /* among the libraries: the tables by name */

#define VALUE_MAX 90 /* bytes of a value in a line; a longer one is told by what it is */
#define LABEL_MAX 80
#define SHORT_HASH 7 /* as git shortens a commit */

static void add(struct provenance *out, const char *what, const char *base, const char *fresh)
{
    if (out->n < PROVENANCE_MAX)
        snprintf(out->line[out->n], PROVENANCE_TEXT, "%.60s: %.90s in %s, %.90s in %s", what, base, out->names[0],
                 fresh, out->names[1]);
    out->n++;
}

/* JSON as it stands while it is short: half of an object or of a string would be read for the whole. */
static void describe(const cJSON *node, char out[VALUE_MAX + 1])
{
    char *text = node ? json_print(node, false) : NULL;
    if (!node)
        snprintf(out, VALUE_MAX + 1, "nothing");
    else if (text && strlen(text) <= VALUE_MAX)
        snprintf(out, VALUE_MAX + 1, "%s", text);
    else if (cJSON_IsString(node))
        snprintf(out, VALUE_MAX + 1, "a text of %zu bytes", strlen(node->valuestring));
    else
        snprintf(out, VALUE_MAX + 1, "%s of %d", cJSON_IsArray(node) ? "a list" : "settings", cJSON_GetArraySize(node));
    free(text);
}

/* Two that would be told alike, or whose beginnings may be: where they differ. */
static void describe_apart(const cJSON *base, const cJSON *fresh, char a[VALUE_MAX + 1], char b[VALUE_MAX + 1])
{
    char *first = json_print(base, false);
    char *second = json_print(fresh, false);
    if (first && second)
        text_diff(first, second, VALUE_MAX + 1, a, b);
    free(first);
    free(second);
}

static void compare_leaves(struct provenance *out, const char *what, const cJSON *base, const cJSON *fresh)
{
    char a[VALUE_MAX + 1], b[VALUE_MAX + 1];
    if ((!base && !fresh) || cJSON_Compare(base, fresh, true))
        return;
    describe(base, a);
    describe(fresh, b);
    if ((cJSON_IsString(base) && cJSON_IsString(fresh)) || strcmp(a, b) == 0)
        describe_apart(base, fresh, a, b);
    add(out, what, a, b);
}

/* Objects on both sides are told member by member: a line each for what really differs. */
static void compare_nodes(struct provenance *out, const char *what, const cJSON *base, const cJSON *fresh)
{
    const cJSON *member;
    char label[LABEL_MAX];
    if (!cJSON_IsObject(base) || !cJSON_IsObject(fresh)) {
        compare_leaves(out, what, base, fresh);
        return;
    }
    tree_each(member, base)
    {
        snprintf(label, sizeof label, "%.50s %.25s", what, member->string);
        compare_leaves(out, label, member, tree_member(fresh, member->string));
    }
    tree_each(member, fresh)
    {
        snprintf(label, sizeof label, "%.50s %.25s", what, member->string);
        if (!tree_member(base, member->string))
            compare_leaves(out, label, NULL, member);
    }
}

/* ---- tuning tables ---- */

/* Told by the commit that searched the table, and by its own hash where that commit is the same. */
static void describe_table(const cJSON *table, const char *key, char out[VALUE_MAX + 1])
{
    const char *name = tree_text(table, key);
    if (!table)
        snprintf(out, VALUE_MAX + 1, "none");
    else
        snprintf(out, VALUE_MAX + 1, "%s %.*s", strcmp(key, "hash") == 0 ? "hash" : "of", SHORT_HASH,
                 name[0] ? name : "unknown");
}

static void compare_table(struct provenance *out, const char *name, const cJSON *base, const cJSON *fresh)
{
    char label[LABEL_MAX], a[VALUE_MAX + 1], b[VALUE_MAX + 1];
    if ((!base && !fresh) || cJSON_Compare(base, fresh, true))
        return;
    bool same = strcmp(tree_text(base, "commit"), tree_text(fresh, "commit")) == 0;
    const char *key = same ? "hash" : "commit";
    snprintf(label, sizeof label, "tuning table %.40s", name);
    describe_table(base, key, a);
    describe_table(fresh, key, b);
    add(out, label, a, b);
}

static void compare_tables(struct provenance *out, const cJSON *base, const cJSON *fresh)
{
    const cJSON *one;
    tree_each(one, base) compare_table(out, one->string, one, tree_member(fresh, one->string));
    tree_each(one, fresh)
    {
        if (!tree_member(base, one->string))
            compare_table(out, one->string, NULL, one);
    }
}

/* ---- members by name ---- */

struct named_key {
    const char *key, *name;
};

static void compare_members(struct provenance *out, const struct named_key *keys, const cJSON *base, const cJSON *fresh)
{
    for (size_t i = 0; keys[i].key; i++)
        compare_nodes(out, keys[i].name, tree_member(base, keys[i].key), tree_member(fresh, keys[i].key));
}

/* ---- device and libraries ---- */

static void compare_device(struct provenance *out, const cJSON *base, const cJSON *fresh)
{
    static const struct named_key keys[] = {{"kind", "device kind"}, {"name", "device"},
                                            {"driver", "driver"},    {"power_limit_mw", "power limit (mW)"},
                                            {"threads", "threads"},  {NULL, NULL}};
    compare_members(out, keys, base, fresh);
}

/* Digests tell builds of plugins and kernels apart, and paths machines; neither says that a library is another one. */
static bool is_version(const cJSON *member)
{
    static const char *const others[] = {"plugin_digest", "plugin_name", "set", "kernels", "path", "blas_mapped"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(member->string, others[i]) == 0)
            return false;
    return true;
}

/* Versions that `from` names, against `to`; those that both name are compared in the first direction only. */
static void compare_library(struct provenance *out, const cJSON *from, const cJSON *to, bool forward)
{
    const cJSON *member;
    tree_each(member, from)
    {
        const cJSON *other = tree_member(to, member->string);
        if (!is_version(member) || (other && !forward))
            continue;
        compare_nodes(out, member->string, forward ? member : other, forward ? other : member);
    }
}

static bool is_of_family(const char *contender, const char *family)
{
    size_t n = strlen(family);
    return strncmp(contender, family, n) == 0 &&
           (contender[n] == '\0' || strcmp(contender + n, "-nn") == 0 || strcmp(contender + n, "-tn") == 0);
}

static bool judges(const struct side *side, const char *family)
{
    bool asked = cJSON_GetArraySize(tree_member(tree_member(side->run, "config"), "candidates")) > 0;
    for (size_t i = 0; asked && i < side->n_cells; i++)
        for (size_t j = 0; j < side->cells[i].n_candidates; j++)
            if (is_of_family(side->cells[i].candidates[j].name, family))
                return true;
    return false;
}

/* A plugin that is being judged moves no reference: it may be of another version, or be there on one side only. */
static bool is_judged_plugin(const struct side *base, const struct side *fresh, const cJSON *library)
{
    bool plugin = tree_member(library, "plugin_digest") && !tree_member(library, "kernels");
    return plugin && (judges(base, library->string) || judges(fresh, library->string));
}

static void compare_libraries(struct provenance *out, const struct side *base, const struct side *fresh)
{
    const cJSON *library, *ours = tree_member(base->env, "libraries"), *theirs = tree_member(fresh->env, "libraries");
    tree_each(library, ours)
    {
        if (strcmp(library->string, TABLES) != 0 && !is_judged_plugin(base, fresh, library))
            compare_library(out, library, tree_member(theirs, library->string), true);
    }
    tree_each(library, theirs)
    {
        if (strcmp(library->string, TABLES) != 0 && !is_judged_plugin(base, fresh, library))
            compare_library(out, library, tree_member(ours, library->string), false);
    }
    compare_tables(out, tree_member(ours, TABLES), tree_member(theirs, TABLES));
}

/* ---- what was asked for ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Baselines by file name: each side may have been built in a directory of its own. */
static cJSON *file_names(const cJSON *names)
{
    cJSON *out = cJSON_CreateArray();
    const cJSON *name;
    cJSON_ArrayForEach(name, names)
    {
        if (out && cJSON_IsString(name) && !tree_append(out, cJSON_CreateString(base_name(name->valuestring))))
            out = NULL;
    }
    return out;
}

static void compare_baselines(struct provenance *out, const cJSON *base, const cJSON *fresh)
{
    cJSON *a = file_names(tree_member(base, "baselines"));
    cJSON *b = file_names(tree_member(fresh, "baselines"));
    compare_nodes(out, "baselines", a, b);
    cJSON_Delete(a);
    cJSON_Delete(b);
}

/* What "native" is on the device of the run. */
static const char *dtype_of(const struct side *s)
{
    const char *dtype = tree_text(tree_member(s->run, "config"), "dtype");
    if (strcmp(dtype, "native") != 0)
        return dtype;
    bool on_cpu = strcmp(tree_text(tree_member(s->env, "device"), "kind"), "cpu") == 0;
    return dtype_names[on_cpu ? CUDAL2_F32 : CUDAL2_F16];
}

static void compare_dtypes(struct provenance *out, const struct side *base, const struct side *fresh)
{
    if (strcmp(dtype_of(base), dtype_of(fresh)) != 0)
        add(out, "dtype", dtype_of(base), dtype_of(fresh));
}

static void compare_config(struct provenance *out, const cJSON *base, const cJSON *fresh)
{
    static const struct named_key keys[] = {{"protocol", "protocol"},
                                            {"modes", "modes"},
                                            {"timing", "headline timing asked for"},
                                            {"accumulate", "accumulate types"},
                                            {"layouts", "layouts"},
                                            {"server", "server mode"},
                                            {"offline", "offline mode"},
                                            {"overlap", "overlap of launches"},
                                            {"workspace_bytes", "workspace_bytes"},
                                            {"tune", "tuning"},
                                            {NULL, NULL}};
    compare_members(out, keys, base, fresh);
    compare_baselines(out, base, fresh);
}

/* The timing that really was the headline: a device may offer less than was asked for. */
static void compare_headlines(struct provenance *out, const struct side *base, const struct side *fresh)
{
    bool told[MODE_COUNT] = {false};
    for (size_t i = 0; i < base->n_cells; i++) {
        const struct side_cell *a = &base->cells[i];
        const struct side_cell *b = side_find_cell(fresh, a->key);
        char what[40];
        if (!b || a->headline == b->headline || told[a->mode])
            continue;
        told[a->mode] = true;
        snprintf(what, sizeof what, "%s headline timing", mode_names[a->mode]);
        add(out, what, timing_names[a->headline], timing_names[b->headline]);
    }
}

void provenance_compare(const struct side *base, const struct side *fresh, struct provenance *out)
{
    *out = (struct provenance){.names = {"BASE", "NEW"}};
    compare_device(out, tree_member(base->env, "device"), tree_member(fresh->env, "device"));
    compare_libraries(out, base, fresh);
    compare_config(out, tree_member(base->run, "config"), tree_member(fresh->run, "config"));
    compare_dtypes(out, base, fresh);
    compare_headlines(out, base, fresh);
}

static void compare_loaded(struct provenance *out, const char *name, const cJSON *fresh, const cJSON *again)
{
    char what[80];
    snprintf(what, sizeof what, "plugins and libraries (%.50s)", name);
    compare_nodes(out, what, fresh, again);
}

/* Only suspects are measured again: of the tuning tables that NEW asked, those for other modes and accumulate types may
 * be missing, and one that is there must be the same. */
static void compare_libraries_again(struct provenance *out, const cJSON *fresh, const cJSON *again)
{
    const cJSON *one;
    tree_each(one, fresh)
    {
        if (strcmp(one->string, TABLES) != 0)
            compare_loaded(out, one->string, one, tree_member(again, one->string));
    }
    tree_each(one, again)
    {
        if (strcmp(one->string, TABLES) != 0 && !tree_member(fresh, one->string))
            compare_loaded(out, one->string, NULL, one);
    }
    tree_each(one, tree_member(again, TABLES))
        compare_table(out, one->string, tree_member(tree_member(fresh, TABLES), one->string), one);
}

void provenance_compare_loaded(const cJSON *fresh, const cJSON *again, struct provenance *out)
{
    *out = (struct provenance){.names = {"NEW", "the second look"}};
    compare_device(out, tree_member(fresh, "device"), tree_member(again, "device"));
    compare_libraries_again(out, tree_member(fresh, "libraries"), tree_member(again, "libraries"));
}

void provenance_compare_again(const struct side *fresh, const struct side *again, struct provenance *out)
{
    provenance_compare_loaded(fresh->env, again->env, out);
    compare_headlines(out, fresh, again);
}

static bool code_differs(const cJSON *base, const cJSON *fresh)
{
    static const char *const keys[] = {"plugin_digest", "set", "kernels"};
    bool differs = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const cJSON *a = tree_member(base, keys[i]), *b = tree_member(fresh, keys[i]);
        differs |= a && b && !cJSON_Compare(a, b, true);
    }
    return differs;
}

void provenance_changed_code(const struct side *base, const struct side *fresh, char *out, size_t capacity)
{
    const cJSON *library, *ours = tree_member(base->env, "libraries");
    size_t used = 0;
    out[0] = '\0';
    tree_each(library, tree_member(fresh->env, "libraries"))
    {
        if (used >= capacity || !code_differs(tree_member(ours, library->string), library))
            continue;
        int more = snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", library->string);
        used += more > 0 ? (size_t)more : 0;
    }
}

void provenance_join(const struct provenance *differences, char *out, size_t capacity)
{
    static const char more[] = "; and 999 more";
    size_t used = 0, told = 0;
    out[0] = '\0';
    for (; told < differences->n && told < PROVENANCE_MAX; told++) {
        const char *line = differences->line[told];
        if (used + strlen(line) + 2 + sizeof more > capacity)
            break;
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", told ? "; " : "", line);
    }
    if (told < differences->n)
        snprintf(out + used, capacity - used, "%sand %zu more", told ? "; " : "", differences->n - told);
}
