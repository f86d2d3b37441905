/*
 * entrants.c - makes the entrants of a cell from the registry: who may race, finalists of a search, the A/A copy, and
 * who is left out with its reason. Relies on contender's supports. Called by cell.c.
 */
#include "worker/entrants.h"

#include <stdio.h>
#include <string.h>

#include "measure/variants.h"

static void fill_record(struct contender_record *r, const struct contender *c)
{
    snprintf(r->name, sizeof r->name, "%s", c->name);
    snprintf(r->family, sizeof r->family, "%s", c->family);
    r->candidate = c->role == ROLE_CANDIDATE;
    r->has_layout_suffix = c->has_layout_suffix;
    r->layout = c->is.layout;
    r->verdict = VERDICT_OK;
}

static void set_verdict(struct contender_record *r, enum verdict verdict, const char *stage, const char *reason)
{
    r->verdict = verdict;
    snprintf(r->stage, sizeof r->stage, "%s", stage);
    snprintf(r->reason, sizeof r->reason, "%s", reason);
}

static const struct exclusion *find_exclusion(const struct cell_request *request, const char *name)
{
    for (size_t i = 0; i < request->n_exclusions; i++)
        if (strcmp(request->exclusions[i].name, name) == 0 && !strchr(request->exclusions[i].stage, ':'))
            return &request->exclusions[i];
    return NULL;
}

/* Whether the contender may race; if not, its record says why. */
static bool may_race(const struct cell_context *context, const struct cell_request *request, const struct contender *c,
                     struct contender_record *r)
{
    char why[CUDAL2_WHY] = "";
    const struct exclusion *out = find_exclusion(request, r->name);
    if (out != NULL) {
        set_verdict(r, out->verdict, out->stage, out->reason);
        return false;
    }
    if (!c->available) {
        bool died = c->verdict != VERDICT_OK;
        set_verdict(r, died ? c->verdict : VERDICT_UNAVAILABLE, died ? "load" : "probe", c->reason);
        return false;
    }
    if (!contender_supports(c, &context->device->info, &request->problem, why)) {
        set_verdict(r, VERDICT_UNSUPPORTED, "probe", why);
        return false;
    }
    return true;
}

static void enter(struct bench *bench, const struct contender *c, struct contender_record *r)
{
    struct entrant *e = &bench->entrants[bench->n_entrants++];
    *e = (struct entrant){.contender = c, .record = r, .alive = true, .n_sets = bench->sets_each};
    if (!bench->shared_sets) {
        e->first_set = bench->n_sets;
        bench->n_sets += bench->sets_each;
    }
    e->has_variants = c->ops->list_variants != NULL;
    e->blame_variant = e->has_variants && variants_searched(bench, e);
}

/* Entrants for the places behind the winner of a search. They race in the blocks only. */
static void add_finalists(const struct cell_request *request, struct bench *bench, size_t original)
{
    const struct contender *c = bench->entrants[original].contender;
    if (!bench->entrants[original].blame_variant)
        return;
    for (unsigned place = 2; place <= request->finalists; place++) {
        struct cell_record *record = bench->record;
        if (record->n_contenders >= RECORD_MAX_CONTENDERS)
            return;
        struct contender_record *r = &record->contenders[record->n_contenders++];
        fill_record(r, c);
        snprintf(r->name, sizeof r->name, "%.*s+%u", (int)sizeof r->name - 4, c->name, place);
        enter(bench, c, r);
        bench->entrants[bench->n_entrants - 1].shares_ranking = 1 + (unsigned)original;
    }
}

/* The contender that A/A copies: the one named, else the first candidate that races, else the first baseline that
 * races. */
static const struct entrant *choose_copied(const struct bench *bench)
{
    const struct entrant *first = NULL;
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        if (bench->config->aa_contender[0] != '\0' && strcmp(e->record->name, bench->config->aa_contender) == 0)
            return e;
        if (first == NULL || (e->record->candidate && !first->record->candidate))
            first = e;
    }
    return bench->config->aa_contender[0] == '\0' ? first : NULL;
}

static void add_copy(const struct cell_request *request, struct bench *bench)
{
    const struct entrant *original = choose_copied(bench);
    struct cell_record *record = bench->record;
    if (original == NULL || record->n_contenders >= RECORD_MAX_CONTENDERS)
        return;
    struct contender_record *r = &record->contenders[record->n_contenders++];
    fill_record(r, original->contender);
    snprintf(r->copy_of, sizeof r->copy_of, "%s", original->record->name);
    snprintf(r->name, sizeof r->name, "%.*s+copy", (int)sizeof r->name - 6, original->record->name);
    const struct exclusion *out = find_exclusion(request, r->name);
    if (out != NULL) {
        set_verdict(r, out->verdict, out->stage, out->reason);
        return;
    }
    enter(bench, original->contender, r);
    if (bench->shared_sets) {
        bench->entrants[bench->n_entrants - 1].first_set = bench->sets_each;
        bench->n_sets = 2 * bench->sets_each;
    }
}

int entrants_choose(const struct cell_context *context, const struct cell_request *request, struct bench *bench,
                    struct error *err)
{
    size_t n = registry_count(context->registry);
    if (n > RECORD_MAX_CONTENDERS)
        return error_set(err, EXIT_CODE_INTERNAL, "%zu contenders, at most %d can race", n, RECORD_MAX_CONTENDERS);
    bench->n_sets = bench->shared_sets ? bench->sets_each : 0;
    for (size_t i = 0; i < n; i++) {
        const struct contender *c = registry_at(context->registry, i);
        struct contender_record *r = &bench->record->contenders[bench->record->n_contenders++];
        fill_record(r, c);
        if (!may_race(context, request, c, r))
            continue;
        enter(bench, c, r);
        add_finalists(request, bench, bench->n_entrants - 1);
    }
    if (context->config->aa)
        add_copy(request, bench);
    return 0;
}

/* The name of a finalist, "cudal2-nn+2", stands for its contender. */
size_t entrants_skipped(const struct cell_request *request, struct skipped_variant *out)
{
    size_t n = 0;
    for (size_t i = 0; i < request->n_exclusions; i++) {
        const struct exclusion *e = &request->exclusions[i];
        const char *tag = strchr(e->stage, ':');
        if (!tag)
            continue;
        struct skipped_variant *s = &out[n++];
        snprintf(s->contender, sizeof s->contender, "%.*s", (int)strcspn(e->name, "+"), e->name);
        snprintf(s->tag, sizeof s->tag, "%.*s", (int)sizeof s->tag - 1, tag + 1);
        snprintf(s->reason, sizeof s->reason, "%s in stage %.*s: %.200s", verdict_name(e->verdict),
                 (int)(tag - e->stage), e->stage, e->reason);
    }
    return n;
}
