/*
 * provenance.c - compares two runs' environments member by member and says which differences forbid a comparison.
 * Relies on result/run_info.h and base/text_diff.h. Called by compare.c.
 */
#include "compare/provenance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_diff.h"
#include "base/tree.h"

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
static void describe_table(const struct result_table *table, bool by_hash, char out[VALUE_MAX + 1])
{
    const char *name = !table ? "" : by_hash ? table->hash : table->commit;
    if (!table)
        snprintf(out, VALUE_MAX + 1, "none");
    else
        snprintf(out, VALUE_MAX + 1, "%s %.*s", by_hash ? "hash" : "of", SHORT_HASH, name[0] ? name : "unknown");
}

/* Two of one name, or NULL where a side has none. */
static void compare_table(struct provenance *out, const struct result_table *base, const struct result_table *fresh)
{
    char label[LABEL_MAX], a[VALUE_MAX + 1], b[VALUE_MAX + 1];
    if (base && fresh && cJSON_Compare(base->json, fresh->json, true))
        return;
    bool same = strcmp(base ? base->commit : "", fresh ? fresh->commit : "") == 0;
    snprintf(label, sizeof label, "tuning table %.40s", base ? base->name : fresh->name);
    describe_table(base, same, a);
    describe_table(fresh, same, b);
    add(out, label, a, b);
}

static void compare_tables(struct provenance *out, const struct env_info *base, const struct env_info *fresh)
{
    const struct result_libraries *ours = &base->libraries, *theirs = &fresh->libraries;
    for (size_t i = 0; i < ours->n_tables; i++)
        compare_table(out, &ours->tables[i], env_info_table(fresh, ours->tables[i].name));
    for (size_t i = 0; i < theirs->n_tables; i++)
        if (!env_info_table(base, theirs->tables[i].name))
            compare_table(out, NULL, &theirs->tables[i]);
}

/* ---- values ---- */

/* Told as their JSON; takes both over. NULL is one that is not there. */
static void compare_values(struct provenance *out, const char *what, cJSON *base, cJSON *fresh)
{
    compare_nodes(out, what, base, fresh);
    cJSON_Delete(base);
    cJSON_Delete(fresh);
}

static void compare_texts(struct provenance *out, const char *what, const char *base, const char *fresh)
{
    compare_values(out, what, base[0] ? cJSON_CreateString(base) : NULL, fresh[0] ? cJSON_CreateString(fresh) : NULL);
}

static void compare_numbers(struct provenance *out, const char *what, double base, double fresh)
{
    compare_values(out, what, isnan(base) ? NULL : cJSON_CreateNumber(base),
                   isnan(fresh) ? NULL : cJSON_CreateNumber(fresh));
}

/* ---- device and libraries ---- */

static void compare_device(struct provenance *out, const struct env_info *base, const struct env_info *fresh)
{
    const struct result_machine *a = &base->device, *b = &fresh->device;
    compare_texts(out, "device kind", a->kind, b->kind);
    compare_texts(out, "device", a->name, b->name);
    compare_texts(out, "driver", a->driver, b->driver);
    compare_nodes(out, "power limit (mW)", a->power_limit_mw, b->power_limit_mw);
    compare_numbers(out, "threads", a->threads, b->threads);
}

static const cJSON *version_of(const struct result_library *library, const char *name)
{
    return library ? result_member_find(library->versions, library->n_versions, name) : NULL;
}

/* Versions that `from` names, against `to`; those that both name are compared in the first direction only. */
static void compare_library(struct provenance *out, const struct result_library *from, const struct result_library *to,
                            bool forward)
{
    for (size_t i = 0; i < from->n_versions; i++) {
        const struct result_member *one = &from->versions[i];
        const cJSON *other = version_of(to, one->name);
        if (forward)
            compare_nodes(out, one->name, one->json, other);
        else if (!other)
            compare_nodes(out, one->name, NULL, one->json);
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
    bool asked = side->run.config.n_candidates > 0;
    for (size_t i = 0; asked && i < side->n_cells; i++)
        for (size_t j = 0; j < side->cells[i].n_candidates; j++)
            if (is_of_family(side->cells[i].candidates[j].name, family))
                return true;
    return false;
}

/* A plugin that is being judged moves no reference: it may be of another version, or be there on one side only. */
static bool is_judged_plugin(const struct side *base, const struct side *fresh, const struct result_library *library)
{
    bool plugin = library->plugin_digest && !library->kernels;
    return plugin && (judges(base, library->name) || judges(fresh, library->name));
}

static void compare_libraries(struct provenance *out, const struct side *base, const struct side *fresh)
{
    const struct result_libraries *ours = &base->env.libraries, *theirs = &fresh->env.libraries;
    for (size_t i = 0; i < ours->n; i++)
        if (!is_judged_plugin(base, fresh, &ours->list[i]))
            compare_library(out, &ours->list[i], env_info_library(&fresh->env, ours->list[i].name), true);
    for (size_t i = 0; i < theirs->n; i++)
        if (!is_judged_plugin(base, fresh, &theirs->list[i]))
            compare_library(out, &theirs->list[i], env_info_library(&base->env, theirs->list[i].name), false);
    compare_tables(out, &base->env, &fresh->env);
}

/* ---- what was asked for ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Baselines by file name: each side may have been built in a directory of its own. */
static cJSON *file_names(const struct result_config *config)
{
    cJSON *out = cJSON_CreateArray();
    for (size_t i = 0; i < config->n_baselines && out; i++)
        if (!tree_append(out, cJSON_CreateString(base_name(config->baselines[i]))))
            out = NULL;
    return out;
}

/* What "native" is on the device of the run. */
static const char *dtype_of(const struct side *s)
{
    const char *dtype = s->run.config.dtype;
    if (strcmp(dtype, "native") != 0)
        return dtype;
    return dtype_names[strcmp(s->env.device.kind, "cpu") == 0 ? CUDAL2_F32 : CUDAL2_F16];
}

static void compare_dtypes(struct provenance *out, const struct side *base, const struct side *fresh)
{
    if (strcmp(dtype_of(base), dtype_of(fresh)) != 0)
        add(out, "dtype", dtype_of(base), dtype_of(fresh));
}

/* A joined row is another row: its times are not those of launches that wait. */
static void compare_joins(struct provenance *out, const struct result_config *base, const struct result_config *fresh)
{
    bool a = cJSON_IsTrue(base->join_rows), b = cJSON_IsTrue(fresh->join_rows);
    if (a != b)
        add(out, "joined rows of launches (join_rows)", a ? "true" : "false", b ? "true" : "false");
}

static void compare_config(struct provenance *out, const struct result_config *base, const struct result_config *fresh)
{
    compare_texts(out, "protocol", base->protocol, fresh->protocol);
    compare_nodes(out, "modes", base->modes, fresh->modes);
    compare_nodes(out, "headline timing asked for", base->timing, fresh->timing);
    compare_nodes(out, "accumulate types", base->accumulate, fresh->accumulate);
    compare_nodes(out, "layouts", base->layouts, fresh->layouts);
    compare_nodes(out, "server mode", base->server, fresh->server);
    compare_nodes(out, "offline mode", base->offline, fresh->offline);
    compare_texts(out, "overlap of launches", base->overlap, fresh->overlap);
    compare_joins(out, base, fresh);
    compare_numbers(out, "workspace_bytes", base->workspace_bytes, fresh->workspace_bytes);
    compare_nodes(out, "tuning", base->tune, fresh->tune);
    compare_values(out, "baselines", file_names(base), file_names(fresh));
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
    compare_device(out, &base->env, &fresh->env);
    compare_libraries(out, base, fresh);
    compare_config(out, &base->run.config, &fresh->run.config);
    compare_dtypes(out, base, fresh);
    compare_headlines(out, base, fresh);
}

/* ---- measured again ---- */

/* Two of one name, or NULL where a side has none. */
static void compare_loaded(struct provenance *out, const struct result_library *fresh,
                           const struct result_library *again)
{
    char what[80];
    snprintf(what, sizeof what, "plugins and libraries (%.50s)", fresh ? fresh->name : again->name);
    compare_nodes(out, what, fresh ? fresh->json : NULL, again ? again->json : NULL);
}

/* Only suspects are measured again: of the tuning tables that NEW asked, those for other modes and accumulate types may
 * be missing, and one that is there must be the same. */
void provenance_compare_loaded(const struct env_info *fresh, const struct env_info *again, struct provenance *out)
{
    const struct result_libraries *ours = &fresh->libraries, *theirs = &again->libraries;
    *out = (struct provenance){.names = {"NEW", "the second look"}};
    compare_device(out, fresh, again);
    for (size_t i = 0; i < ours->n; i++)
        compare_loaded(out, &ours->list[i], env_info_library(again, ours->list[i].name));
    for (size_t i = 0; i < theirs->n; i++)
        if (!env_info_library(fresh, theirs->list[i].name))
            compare_loaded(out, NULL, &theirs->list[i]);
    for (size_t i = 0; i < theirs->n_tables; i++)
        compare_table(out, env_info_table(fresh, theirs->tables[i].name), &theirs->tables[i]);
}

void provenance_compare_again(const struct side *fresh, const struct side *again, struct provenance *out)
{
    provenance_compare_loaded(&fresh->env, &again->env, out);
    compare_headlines(out, fresh, again);
}

/* ---- other code ---- */

static bool both_differ(const cJSON *a, const cJSON *b)
{
    return a && b && !cJSON_Compare(a, b, true);
}

static bool code_differs(const struct result_library *base, const struct result_library *fresh)
{
    return base && (both_differ(base->plugin_digest, fresh->plugin_digest) || both_differ(base->set, fresh->set) ||
                    both_differ(base->kernels, fresh->kernels));
}

void provenance_changed_code(const struct side *base, const struct side *fresh, char *out, size_t capacity)
{
    const struct result_libraries *theirs = &fresh->env.libraries;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < theirs->n && used < capacity; i++) {
        const char *name = theirs->list[i].name;
        if (!code_differs(env_info_library(&base->env, name), &theirs->list[i]))
            continue;
        int more = snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", name);
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
