/*
 * compile_form.c - what `verify --compile-only` found, as text or JSON. Relies on base/text.h. Called by compile_only.c
 * and its test.
 */
#include "cli/compile_only.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/text.h"
#include "base/tree.h"

static bool is_ok(const struct inspected *v)
{
    return v->verdict == VERDICT_OK;
}

static const char *suffix_of(const struct chip *chip)
{
    return chip->cc >= 90 ? "a" : "";
}

static int spills_of(const struct inspected *v)
{
    return v->usage.spill_store_bytes + v->usage.spill_load_bytes;
}

static size_t count_faults(const struct inspection *i)
{
    size_t n = 0;
    for (size_t v = 0; v < i->n; v++)
        n += !is_ok(&i->items[v]);
    return n;
}

/* "NVRTC 13.0"; false where there is none. */
static bool name_compiler(const struct compiled *c, const char *before, char out[32])
{
    snprintf(out, 32, "%s%d.%d", before, c->nvrtc[0], c->nvrtc[1]);
    return c->nvrtc[0] > 0;
}

/* ---- text ---- */

static void add_variant(struct text *out, const struct inspected *v)
{
    text_add(out, "%-4s %-4s %-3s ", dtype_names[v->dtype], accumulate_names[v->accumulate], layout_names[v->layout]);
    if (!is_ok(v)) {
        text_add(out, "%s: %s: %s\n", v->variant.key, verdict_name(v->verdict), v->why);
        return;
    }
    text_add(out, "%9d %7d %8d %7d %7zu ", v->usage.registers, spills_of(v), v->usage.stack_bytes,
             v->usage.shared_bytes, v->code.code_bytes);
    if (v->threads > 0)
        text_add(out, "%8u %7u %7u  %s", v->dynamic_bytes, v->threads, v->cluster_blocks, v->variant.key);
    else
        text_add(out, "%8s %7s %7s  %s", "-", "-", "-", v->variant.key);
    text_add(out, v->taken > 0 ? "\n" : " (%s)\n", v->why);
}

static void add_kernel(struct text *out, const struct compiled_kernel *k)
{
    const struct inspection *found = &k->found;
    if (found->legal == 0) {
        text_add(out, "%s: no legal variant: %s\n", k->name, found->none);
        return;
    }
    text_add(out, "%s: %zu of %s%zu variants%s\n", k->name, found->n, found->all_seen ? "" : "at least ", found->legal,
             found->n < found->legal || !found->all_seen ? " (--variants N for more)" : "");
    text_add(out, "%-4s %-4s %-3s %9s %7s %8s %7s %7s %8s %7s %7s  %s\n", "type", "acc", "b", "registers", "spills",
             "stack", "static", "code", "dynamic", "threads", "cluster", "variant");
    for (size_t i = 0; i < found->n; i++)
        add_variant(out, &found->items[i]);
}

char *compiled_text(const struct compiled *c)
{
    struct text out = {0};
    char nvrtc[32];
    text_add(&out, "sm_%d%s, figures of one %s; %s; launches of %zu shapes; nothing was run\n", c->chip->cc,
             suffix_of(c->chip), c->chip->name, name_compiler(c, "NVRTC ", nvrtc) ? nvrtc : "no NVRTC", c->n_shapes);
    for (size_t i = 0; i < c->n; i++)
        add_kernel(&out, &c->kernels[i]);
    plain_for_terminal(&out);
    if (out.failed) {
        text_free(&out);
        return NULL;
    }
    return out.bytes;
}

/* ---- JSON ---- */

/* Of the largest launch: blocks and warps that a multiprocessor has room for. */
static void put_occupancy(struct tree *t, const struct chip *chip, const struct inspected *v)
{
    unsigned shared = (unsigned)v->usage.shared_bytes + v->dynamic_bytes, warps = (v->threads + 31) / 32;
    const struct chip_launch launch = {(unsigned)v->usage.registers, v->threads, shared};
    unsigned blocks = chip_blocks(chip, &launch);
    tree_put_number(t, "blocks_per_multiprocessor", blocks);
    tree_put_number(t, "occupancy", round_to((double)(blocks * warps) / chip_warps(chip), 1e3));
}

/* Each class, also of none, so that a reader finds the same members in all. */
static cJSON *mix_tree(const struct mix *mix)
{
    struct tree t = tree_begin();
    for (size_t i = 0; i < MIX_CLASSES; i++)
        tree_put_number(&t, mix_class_names[i], (double)mix->count[i]);
    tree_put_number(&t, "total", (double)mix->total);
    return tree_finish(&t);
}

static cJSON *variant_tree(const struct chip *chip, const struct inspected *v)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "variant", v->variant.key);
    tree_put_text(&t, "dtype", dtype_names[v->dtype]);
    tree_put_text(&t, "accumulate", accumulate_names[v->accumulate]);
    tree_put_text(&t, "layout", layout_names[v->layout]);
    tree_put_text(&t, "verdict", verdict_name(v->verdict));
    tree_put_text(&t, "reason", v->why);
    if (v->log)
        tree_put_text(&t, "log", v->log);
    if (v->code.code_bytes > 0) {
        tree_put_number(&t, "registers", v->usage.registers);
        tree_put_number(&t, "spill_bytes", spills_of(v));
        tree_put_number(&t, "stack_bytes", v->usage.stack_bytes);
        tree_put_number(&t, "static_shared_bytes", v->usage.shared_bytes);
        tree_put_number(&t, "code_bytes", (double)v->code.code_bytes);
        tree_put_text(&t, "instructions", v->instructions);
    }
    if (v->threads > 0) {
        tree_put_number(&t, "dynamic_shared_bytes", v->dynamic_bytes);
        tree_put_number(&t, "threads", v->threads);
        tree_put_number(&t, "cluster_blocks", v->cluster_blocks);
    }
    if (v->threads > 0 && v->code.code_bytes > 0)
        put_occupancy(&t, chip, v);
    tree_put_number(&t, "shapes_taken", (double)v->taken);
    if (v->code.code_bytes > 0)
        tree_put(&t, "instruction_mix", mix_tree(&v->mix));
    return tree_finish(&t);
}

static cJSON *kernel_tree(const struct chip *chip, const struct compiled_kernel *k)
{
    struct tree t = tree_begin();
    cJSON *variants = cJSON_CreateArray();
    for (size_t i = 0; i < k->found.n; i++)
        if (!tree_append(variants, variant_tree(chip, &k->found.items[i])))
            variants = NULL;
    tree_put_text(&t, "name", k->name);
    tree_put_number(&t, "legal", (double)k->found.legal);
    tree_put(&t, "all_seen", cJSON_CreateBool(k->found.all_seen));
    if (k->found.legal == 0)
        tree_put_text(&t, "reason", k->found.none);
    tree_put(&t, "variants", variants);
    return tree_finish(&t);
}

char *compiled_json(const struct compiled *c)
{
    struct error ignored;
    char arch[16], nvrtc[32];
    struct tree t = tree_begin();
    cJSON *kernels = cJSON_CreateArray();
    snprintf(arch, sizeof arch, "sm_%d%s", c->chip->cc, suffix_of(c->chip));
    for (size_t i = 0; i < c->n; i++)
        if (!tree_append(kernels, kernel_tree(c->chip, &c->kernels[i])))
            kernels = NULL;
    tree_put_text(&t, "schema", "cudal2-bench/compile");
    tree_put_number(&t, "schema_version", 1);
    tree_put_text(&t, "arch", arch);
    if (name_compiler(c, "", nvrtc))
        tree_put_text(&t, "nvrtc", nvrtc);
    tree_put(&t, "kernels", kernels);
    tree_put(&t, "passed", cJSON_CreateBool(compiled_outcome(c, &ignored) == 0));
    cJSON *tree = tree_finish(&t);
    char *text = tree ? json_print(tree, true) : NULL;
    cJSON_Delete(tree);
    return text;
}

/* ---- the end ---- */

static const struct inspected *first_fault(const struct compiled *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t v = 0; v < c->kernels[i].found.n; v++)
            if (!is_ok(&c->kernels[i].found.items[v]))
                return &c->kernels[i].found.items[v];
    return NULL;
}

int compiled_outcome(const struct compiled *c, struct error *err)
{
    const struct inspected *first = first_fault(c);
    size_t n = 0, faults = 0;
    for (size_t i = 0; i < c->n; i++) {
        n += c->kernels[i].found.n;
        faults += count_faults(&c->kernels[i].found);
    }
    if (first)
        return error_set(err, EXIT_CODE_VERIFICATION,
                         "verify: %zu of %zu variants failed; the first: %s %s %s %s: %s: %s", faults, n,
                         first->variant.key, dtype_names[first->dtype], accumulate_names[first->accumulate],
                         layout_names[first->layout], verdict_name(first->verdict), first->why);
    for (size_t i = 0; i < c->n; i++)
        if (c->kernels[i].found.n == 0)
            return error_set(err, EXIT_CODE_INCOMPARABLE, "verify: %s has no legal variant for sm_%d: %s",
                             c->kernels[i].name, c->chip->cc, c->kernels[i].found.none);
    return 0;
}
