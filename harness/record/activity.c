/*
 * activity.c - checks an audit's lines, gathers them into a book by cell, and applies verdicts to records. Relies on
 * tree.c. Called by run/slot.c and ledger.c, and by result/make.c when a result is made.
 */
#include "record/activity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"

#define WORK_MAX 64

/* ---- reading ---- */

static int check_numbers(struct json_at at, const char *const keys[], struct error *err)
{
    double ignored;
    for (size_t i = 0; keys[i]; i++) {
        struct json_at member = json_member(at, keys[i]);
        if (member.node && json_read_number(member, 0, 1e18, &ignored, err))
            return err->code;
    }
    return 0;
}

static int check_text(struct json_at at, const char *key, size_t capacity, struct error *err)
{
    const char *text;
    struct json_at member = json_member(at, key);
    if (!member.node)
        return 0;
    if (json_read_string(member, &text, err))
        return err->code;
    return strlen(text) < capacity ? 0 : json_fail(member, err, "longer than %zu bytes", capacity - 1);
}

static int check_size(struct json_at at, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index, count;
    int64_t ignored;
    if (!at.node)
        return 0;
    if (json_read_array(at, 3, &count, err))
        return err->code;
    if (count != 3)
        return json_fail(at, err, "expected three sizes");
    while (json_each(at, &node, &index, &element))
        if (json_read_int(element, 0, INT32_MAX, &ignored, err))
            return err->code;
    return 0;
}

static int check_work(struct json_at at, struct error *err)
{
    static const char *const keys[] = {"kernel", "copy", "memset", "grid", "block", "stream", "n", "ns", NULL};
    static const char *const numbers[] = {"copy", "memset", "stream", "n", "ns", NULL};
    int code = json_only_keys(at, keys, err);
    if (code == 0)
        code = check_text(at, "kernel", 1024, err);
    if (code == 0)
        code = check_numbers(at, numbers, err);
    if (code == 0)
        code = check_size(json_member(at, "grid"), err);
    return code ? code : check_size(json_member(at, "block"), err);
}

static int check_list(struct json_at at, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index, count, code = 0;
    if (!at.node)
        return 0;
    if (json_read_array(at, 0, &count, err))
        return err->code;
    if (count > WORK_MAX)
        return json_fail(at, err, "%d pieces of work, at most %d", count, WORK_MAX);
    while (code == 0 && json_each(at, &node, &index, &element))
        code = check_work(element, err);
    return code;
}

static int check_flag(struct json_at at, const char *key, struct error *err)
{
    bool ignored;
    struct json_at member = json_member(at, key);
    return member.node ? json_read_bool(member, &ignored, err) : 0;
}

/* A verdict is one that refutes: a watcher has no other to give. */
static int check_verdict(struct json_at at, struct error *err)
{
    struct json_at status = json_member(at, "status");
    if (check_text(at, "status", 32, err) || check_text(at, "reason", RECORD_REASON_MAX, err) ||
        check_flag(at, "invalid", err) || check_flag(at, "waits", err))
        return err->code;
    if (status.node && !verdict_is_refuted(verdict_of(status.node->valuestring)))
        return json_fail(status, err, "\"%.30s\" is no verdict of a watcher", status.node->valuestring);
    return 0;
}

static int check_contender(struct json_at at, struct error *err)
{
    static const char *const keys[] = {"name",  "launch", "busy_ns", "graph",   "graph_busy_ns", "ratio", "overlap_ns",
                                       "waits", "status", "reason",  "invalid", "unavailable",   NULL};
    static const char *const numbers[] = {"busy_ns", "graph_busy_ns", "ratio", "overlap_ns", NULL};
    const char *name;
    if (json_only_keys(at, keys, err) || json_read_string(json_member(at, "name"), &name, err) ||
        check_text(at, "name", RECORD_NAME_MAX, err) || check_text(at, "unavailable", RECORD_REASON_MAX, err) ||
        check_numbers(at, numbers, err) || check_verdict(at, err) || check_list(json_member(at, "launch"), err))
        return err->code;
    return check_list(json_member(at, "graph"), err);
}

int activity_check_contenders(struct json_at list, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index, count;
    int code = json_read_array(list, 0, &count, err);
    if (code == 0 && count > RECORD_MAX_CONTENDERS)
        code = json_fail(list, err, "%d contenders, at most %d", count, RECORD_MAX_CONTENDERS);
    while (code == 0 && json_each(list, &node, &index, &element))
        code = check_contender(element, err);
    return code;
}

static int check_recorder(struct json_at at, struct error *err)
{
    static const char *const keys[] = {"cupti", "path", NULL};
    int64_t ignored;
    int code = json_only_keys(at, keys, err);
    if (code == 0)
        code = json_read_int(json_member(at, "cupti"), 0, INT32_MAX, &ignored, err);
    return code ? code : check_text(at, "path", 4096, err);
}

int activity_check(struct json_at line, struct error *err)
{
    static const char *const keys[] = {"cell", "contenders", "recorder", "unavailable", "seconds", NULL};
    static const char *const numbers[] = {"seconds", NULL};
    const char *text;
    int code = json_only_keys(line, keys, err);
    if (!code)
        code = check_numbers(line, numbers, err);
    if (code)
        return code;
    if (json_member(line, "recorder").node)
        return check_recorder(json_member(line, "recorder"), err);
    if (json_member(line, "unavailable").node)
        return json_read_string(json_member(line, "unavailable"), &text, err);
    code = json_read_string(json_member(line, "cell"), &text, err);
    return code ? code : activity_check_contenders(json_member(line, "contenders"), err);
}

/* ---- the book ---- */

static int no_memory(struct json_at at, struct error *err)
{
    return error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", at.source);
}

static int replace(cJSON **place, const cJSON *by, struct json_at at, struct error *err)
{
    cJSON_Delete(*place);
    *place = cJSON_Duplicate(by, true);
    return *place ? 0 : no_memory(at, err);
}

static int add_cell(struct activity_book *book, struct json_at line, struct error *err)
{
    const char *key = json_member(line, "cell").node->valuestring;
    if (!book->cells && !(book->cells = cJSON_CreateObject()))
        return no_memory(line, err);
    if (activity_book_cell(book, key))
        return json_fail(line, err, "a second look at cell %.80s", key);
    cJSON *copy = cJSON_Duplicate(json_member(line, "contenders").node, true);
    if (copy && cJSON_AddItemToObject(book->cells, key, copy))
        return 0;
    cJSON_Delete(copy);
    return no_memory(line, err);
}

static int add_line(struct activity_book *book, struct json_at line, struct error *err)
{
    struct json_at recorder = json_member(line, "recorder");
    if (activity_check(line, err))
        return err->code;
    const cJSON *seconds = json_member(line, "seconds").node;
    book->seconds += seconds ? seconds->valuedouble : 0;
    if (recorder.node) {
        cJSON_Delete(book->unavailable); /* of an earlier sitting */
        book->unavailable = NULL;
        return replace(&book->recorder, recorder.node, line, err);
    }
    if (json_member(line, "unavailable").node)
        return replace(&book->unavailable, line.node, line, err);
    return add_cell(book, line, err);
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    (void)kind;
    return add_line(context, data, err);
}

int activity_book_read(const char *journal_path, struct activity_book *out, struct error *err)
{
    const struct journal_filter only = {ACTIVITY_KIND, visit, out};
    *out = (struct activity_book){0};
    return journal_read_kind(journal_path, &only, err);
}

int activity_book_parse(const struct journal_text *text, struct activity_book *out, struct error *err)
{
    const struct journal_filter only = {ACTIVITY_KIND, visit, out};
    *out = (struct activity_book){0};
    return journal_parse_kind(text, &only, err);
}

void activity_book_free(struct activity_book *book)
{
    cJSON_Delete(book->cells);
    cJSON_Delete(book->recorder);
    cJSON_Delete(book->unavailable);
    *book = (struct activity_book){0};
}

const cJSON *activity_book_cell(const struct activity_book *book, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(book->cells, key);
}

cJSON *activity_book_run(const struct activity_book *book)
{
    struct tree t = tree_begin();
    if (!book->recorder && !book->unavailable) {
        cJSON_Delete(tree_finish(&t));
        return NULL;
    }
    tree_put_copy(&t, "recorder", book->recorder);
    tree_put_count(&t, "cells", cJSON_GetArraySize(book->cells));
    tree_put_count(&t, "seconds", round_to(book->seconds, 1e3));
    tree_put_text(&t, "unavailable", tree_text(book->unavailable, "unavailable"));
    return tree_finish(&t);
}

/* ---- what follows ---- */

/* What was seen, without what the contender's own status says. */
static bool keep(struct contender_record *c, const cJSON *seen)
{
    static const char *const said[] = {"name", "status", "reason", "invalid", NULL};
    cJSON *copy = cJSON_Duplicate(seen, true);
    for (size_t i = 0; copy && said[i]; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(copy, said[i]);
    cJSON_Delete(c->activity);
    c->activity = copy;
    return copy != NULL;
}

static void refute(struct cell_record *r, struct contender_record *c, enum verdict verdict, const char *reason)
{
    if (c->verdict != VERDICT_OK)
        return;
    c->verdict = verdict;
    snprintf(c->stage, sizeof c->stage, "%s", ACTIVITY_STAGE);
    snprintf(c->reason, sizeof c->reason, "%s", reason);
    if (r->outcome == CELL_OK)
        r->outcome = CELL_PARTIAL;
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(node) ? node->valuestring : "";
}

/* The contender and, after a verdict, what is a copy of it. */
static bool apply_one(struct cell_record *r, const cJSON *seen)
{
    const char *name = text_of(seen, "name"), *word = text_of(seen, "status");
    bool invalid = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(seen, "invalid"));
    bool good = true;
    for (size_t i = 0; i < r->n_contenders; i++) {
        struct contender_record *c = &r->contenders[i];
        bool same = strcmp(c->name, name) == 0, copy = strcmp(c->copy_of, name) == 0;
        if (same)
            good = keep(c, seen);
        if ((same || copy) && word[0]) {
            refute(r, c, verdict_of(word), same ? text_of(seen, "reason") : "the original failed");
            c->invalid |= invalid;
        }
    }
    return good;
}

bool activity_book_apply(const struct activity_book *book, struct cell_record *record)
{
    char key[RECORD_KEY_MAX];
    const cJSON *seen;
    bool good = true;
    record_key(&record->problem, record->mode, key);
    cJSON_ArrayForEach(seen, activity_book_cell(book, key)) good = apply_one(record, seen) && good;
    return good;
}
