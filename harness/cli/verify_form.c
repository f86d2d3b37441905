/*
 * verify_form.c - what `verify` found, as text or JSON. Relies on base/width.h. Called by cmd_verify.c and its test.
 */
#include "cli/cmd_verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/plain.h"
#include "base/width.h"
#include "base/tree.h"
#include "contender/module_set.h"

void findings_open(struct findings *f)
{
    *f = (struct findings){
        .problems = cJSON_CreateArray(), .sanitizers = cJSON_CreateArray(), .named = calloc(1, sizeof *f->named)};
}

void findings_free(struct findings *f)
{
    cJSON_Delete(f->problems);
    cJSON_Delete(f->sanitizers);
    cJSON_Delete(f->origins);
    free(f->named);
    activity_book_free(&f->book);
    *f = (struct findings){0};
}

/* A baseline that is not here, or passes, is nothing to report, unless something else was asked of it. */
static bool is_reported(const struct contender_record *c)
{
    return c->candidate || c->invariance || verdict_is_refuted(c->verdict);
}

static void count(struct findings *f, const char *problem, const struct contender_record *c)
{
    if (c->verdict == VERDICT_OK) {
        f->passed += c->candidate;
        return;
    }
    if (c->verdict == VERDICT_UNSUPPORTED || c->verdict == VERDICT_UNAVAILABLE) {
        f->skipped++;
        if (f->failed == 0 && f->first[0] == '\0')
            snprintf(f->first, sizeof f->first, "%s at %s: %s: %s", c->name, problem, record_verdict(c), c->reason);
        return;
    }
    if (f->failed++ == 0)
        snprintf(f->first, sizeof f->first, "%s at %s: %s: %s", c->name, problem, record_verdict(c), c->reason);
}

static void put_counts(struct tree *t, const cJSON *tuning)
{
    const cJSON *rejected = tree_member(tuning, "rejected");
    double variants = tree_number(tuning, "variants");
    if (variants > 0)
        tree_put_number(t, "variants", variants);
    if (cJSON_GetArraySize(rejected) > 0)
        tree_put_copy(t, "rejected", rejected);
}

static cJSON *contender_tree(const struct contender_record *c)
{
    static const char *const members[] = {"class", "class_reason", "wider", "coverage", "seeds", "wrong", NULL};
    struct tree t = tree_begin();
    tree_put_text(&t, "name", c->name);
    tree_put_text(&t, "role", c->candidate ? "candidate" : "baseline");
    tree_put_text(&t, "verdict", c->verdict == VERDICT_OK ? "passed" : record_verdict(c));
    tree_put_text(&t, "stage", c->stage);
    tree_put_text(&t, "reason", c->reason);
    for (size_t i = 0; members[i] != NULL; i++)
        tree_put_copy(&t, members[i], tree_member(c->verification, members[i]));
    tree_put_copy(&t, "deviation", c->deviation);
    tree_put_copy(&t, "invariance", c->invariance);
    tree_put_text(&t, "describe_error", tree_text(c->attributes, "describe_error"));
    put_counts(&t, c->tuning);
    tree_put_copy(&t, "activity", c->activity);
    return tree_finish(&t);
}

void findings_add(struct findings *f, const struct cell_record *record)
{
    char key[PROBLEM_KEY_MAX];
    struct tree t = tree_begin();
    cJSON *contenders = cJSON_CreateArray();
    problem_key(&record->problem, key);
    if (f->named != NULL)
        named_count(f->named, record);
    for (size_t i = 0; i < record->n_contenders; i++) {
        const struct contender_record *c = &record->contenders[i];
        if (!is_reported(c))
            continue;
        count(f, key, c);
        if (!tree_append(contenders, contender_tree(c)))
            contenders = NULL;
    }
    tree_put_text(&t, "problem", key);
    tree_put_text(&t, "reason", record->n_contenders == 0 || record->outcome == CELL_SKIPPED ? record->reason : "");
    tree_put_copy(&t, "verification", record->verification);
    tree_put(&t, "contenders", contenders);
    cJSON *problem = tree_finish(&t);
    if (problem != NULL)
        cJSON_AddItemToArray(f->problems, problem);
}

void findings_add_sanitizer(struct findings *f, const char *tool, const struct sanitize_result *result)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "tool", tool);
    tree_put_text(&t, "outcome", sanitize_outcome_names[result->outcome]);
    if (result->errors >= 0)
        tree_put_number(&t, "errors", (double)result->errors);
    tree_put_text(&t, "text", result->text);
    cJSON *item = tree_finish(&t);
    if (item != NULL)
        cJSON_AddItemToArray(f->sanitizers, item);
    bool ended = result->outcome == SANITIZE_CLEAN || result->outcome == SANITIZE_ERRORS;
    if (!ended && f->unfinished[0] == '\0')
        snprintf(f->unfinished, sizeof f->unfinished, "%s: %s: %.200s", tool, sanitize_outcome_names[result->outcome],
                 result->text);
    if (result->outcome == SANITIZE_ERRORS && f->failed++ == 0)
        snprintf(f->first, sizeof f->first, "%s: %ld errors: %.300s", tool, result->errors, result->text);
}

void findings_close(struct findings *f, const struct config *config)
{
    struct error err = {.text = ""};
    if (f->named != NULL && named_verdict(f->named, f->origins, config, &err))
        snprintf(f->unchecked, sizeof f->unchecked, "%s", err.text);
}

int findings_outcome(const struct findings *f, struct error *err)
{
    if (f->failed > 0)
        return error_set(err, EXIT_CODE_VERIFICATION, "verify: %zu failed, %zu passed; the first: %s", f->failed,
                         f->passed, f->first);
    if (f->passed == 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "verify: nothing could be checked%s%s%s",
                         f->first[0] == '\0' ? "" : "; the first: ", f->first,
                         strstr(f->first, MODULE_NEEDS_CUDA) ? " (verify --compile-only needs none)" : "");
    if (f->unchecked[0] != '\0')
        return error_set(err, EXIT_CODE_INCOMPARABLE, "verify: %.700s", f->unchecked);
    if (f->unfinished[0] != '\0')
        return error_set(err, EXIT_CODE_UNAVAILABLE, "verify: %s", f->unfinished);
    return 0;
}

/* ---- text ---- */

static double bound_at(const cJSON *problem, int which)
{
    const cJSON *item = cJSON_GetArrayItem(tree_member(tree_member(problem, "verification"), "bound"), which);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* What one launch runs: the first kernel by name, and how much else. */
static void add_activity(struct text *out, const cJSON *activity)
{
    const cJSON *list = tree_member(activity, "launch"), *work;
    double pieces = 0;
    cJSON_ArrayForEach(work, list) pieces += tree_number(work, "n");
    if (pieces < 1)
        return;
    text_add(out, "; runs %.60s", tree_text(list->child, "kernel")[0] ? tree_text(list->child, "kernel") : "a copy");
    if (pieces > 1)
        text_add(out, " and %.0f more", pieces - 1);
    text_add(out, ", %.1f us", tree_number(activity, "busy_ns") * 1e-3);
}

/* "batch-invariant", or "NOT batch-invariant (where)"; nothing of what was not found out. */
static void add_property(struct text *out, const cJSON *answer, const char *word, const char *where)
{
    if (!cJSON_IsBool(answer))
        return;
    text_add(out, "; %s%s", cJSON_IsTrue(answer) ? "" : "NOT ", word);
    if (!cJSON_IsTrue(answer))
        text_add(out, " (%s)", where);
}

static void add_invariance(struct text *out, const cJSON *found)
{
    add_property(out, tree_member(found, "batch_invariant"), "batch-invariant", tree_text(found, "differs"));
    add_property(out, tree_member(found, "deterministic"), "deterministic", tree_text(found, "unsteady"));
    if (tree_text(found, "reason")[0] != '\0')
        text_add(out, "; batch invariance unknown: %s", tree_text(found, "reason"));
}

static void add_passed(struct text *out, const cJSON *problem, const cJSON *c)
{
    const cJSON *deviation = tree_member(c, "deviation");
    const cJSON *largest = cJSON_GetArrayItem(deviation, 0), *rms = cJSON_GetArrayItem(deviation, 1);
    const char *class = tree_text(c, "class");
    if (cJSON_IsNumber(largest) && cJSON_IsNumber(rms))
        text_add(out, "exact; largest deviation %.3g of %.3g, RMS %.3g of %.3g", largest->valuedouble,
                 bound_at(problem, 0), rms->valuedouble, bound_at(problem, 1));
    if (class[0] != '\0')
        text_add(out, "; accumulates in %s%s", class, tree_true(c, "wider") ? ", wider than billed" : "");
    if (tree_number(c, "variants") > 0)
        text_add(out, "; %.0f variants", tree_number(c, "variants"));
    add_invariance(out, tree_member(c, "invariance"));
    add_activity(out, tree_member(c, "activity"));
    if (tree_text(c, "describe_error")[0] != '\0')
        text_add(out, "; its attributes are lost: %s", tree_text(c, "describe_error"));
}

/* What was expected, and where it is not: '#' for a part of the output with wrong elements in it. */
static void add_wrong(struct text *out, const cJSON *wrong)
{
    const cJSON *item, *mark = tree_member(wrong, "mark");
    cJSON_ArrayForEach(item, tree_member(wrong, "elements"))
    {
        const cJSON *got = cJSON_GetArrayItem(item, 3);
        text_add(out, "    row %.0f, column %.0f: expected %g, got ", cJSON_GetArrayItem(item, 0)->valuedouble,
                 cJSON_GetArrayItem(item, 1)->valuedouble, cJSON_GetArrayItem(item, 2)->valuedouble);
        if (cJSON_IsNumber(got))
            text_add(out, "%g\n", got->valuedouble);
        else
            text_add(out, "NaN\n");
    }
    if (cJSON_GetArraySize(mark) == 2)
        text_add(out, "    wrong (#) in C, a mark for %.0f rows and %.0f columns:\n", mark->child->valuedouble,
                 mark->child->next->valuedouble);
    cJSON_ArrayForEach(item, tree_member(wrong, "map")) text_add(out, "    %s\n", item->valuestring);
}

static void add_counters(struct text *out, const cJSON *counters)
{
    const cJSON *metric;
    if (counters == NULL)
        return;
    if (tree_text(counters, "unavailable")[0] != '\0') {
        text_add(out, "    no counters: %s\n", tree_text(counters, "unavailable"));
        return;
    }
    text_add(out, "    one launch, by ncu %s:\n", tree_text(counters, "version"));
    for (metric = tree_first(tree_member(counters, "metrics")); metric != NULL; metric = metric->next)
        text_add(out, "    %16.10g %-14s %s\n", tree_number(metric, "value"), tree_text(metric, "unit"),
                 metric->string);
}

static void add_contender(struct text *out, const cJSON *problem, const cJSON *c)
{
    const char *verdict = tree_text(c, "verdict");
    char *name = plain_copy(tree_text(c, "name"));
    text_add(out, "%-28s ", tree_text(problem, "problem"));
    width_add_padded(out, name ? name : "", 24);
    out->failed |= !name;
    free(name);
    text_add(out, " %-16s ", verdict);
    if (strcmp(verdict, "passed") == 0)
        add_passed(out, problem, c);
    else
        text_add(out, "%s%s%s", tree_text(c, "stage"), tree_text(c, "stage")[0] ? ": " : "", tree_text(c, "reason"));
    text_add(out, "\n");
    add_wrong(out, tree_member(c, "wrong"));
    add_counters(out, tree_member(c, "counters"));
}

static void add_problem(struct text *out, const cJSON *problem)
{
    const cJSON *c;
    const cJSON *contenders = tree_member(problem, "contenders");
    if (cJSON_GetArraySize(contenders) == 0 || tree_text(problem, "reason")[0] != '\0')
        text_add(out, "%-28s %s\n", tree_text(problem, "problem"), tree_text(problem, "reason"));
    cJSON_ArrayForEach(c, contenders) add_contender(out, problem, c);
}

static void add_sanitizer(struct text *out, const cJSON *s)
{
    double errors = tree_number(s, "errors");
    text_add(out, "%s: %s", tree_text(s, "tool"), tree_text(s, "outcome"));
    if (errors > 0)
        text_add(out, " (%.0f)", errors);
    text_add(out, "%s%s\n", tree_text(s, "text")[0] ? ": " : "", tree_text(s, "text"));
}

char *findings_text(const struct findings *f)
{
    const cJSON *item;
    struct text out = {0};
    text_add(&out, "device: %s\n", f->device);
    cJSON_ArrayForEach(item, f->problems) add_problem(&out, item);
    if (f->book.unavailable)
        text_add(&out, "GPU activity was not watched: %s\n", tree_text(f->book.unavailable, "unavailable"));
    cJSON_ArrayForEach(item, f->sanitizers) add_sanitizer(&out, item);
    text_add(&out, "%zu passed, %zu failed, %zu not checked\n", f->passed, f->failed, f->skipped);
    plain_for_terminal(&out);
    if (out.failed) {
        text_free(&out);
        return NULL;
    }
    return out.bytes;
}

char *findings_json(const struct findings *f)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "schema", "cudal2-bench/verify");
    tree_put_number(&t, "schema_version", 1);
    tree_put_text(&t, "device", f->device);
    tree_put_copy(&t, "problems", f->problems);
    if (f->book.recorder || f->book.unavailable)
        tree_put(&t, "activity", activity_book_run(&f->book));
    tree_put_copy(&t, "sanitizers", f->sanitizers);
    tree_put_text(&t, "unchecked", f->unchecked);
    tree_put(&t, "passed", cJSON_CreateBool(f->failed == 0 && f->passed > 0 && f->unchecked[0] == '\0'));
    cJSON *tree = tree_finish(&t);
    char *text = tree == NULL ? NULL : json_print(tree, true);
    cJSON_Delete(tree);
    return text;
}
