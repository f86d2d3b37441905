/*
 * result.c - small questions about a result that has been read. Pure. Called by everything that shows or compares one.
 */
#include "result/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result/fields.h"

const char *const result_role_names[] = {"baseline", "candidate", "copy", NULL};

void result_attributes_read(const cJSON *json, struct result_attributes *out)
{
    struct error ignored = {0}; /* its members are loose: no type is refused */
    *out = (struct result_attributes){0};
    result_clear(result_attributes_fields, out);
    if (cJSON_IsObject(json))
        result_read_struct(json_root(json, ""), result_attributes_fields, out, &ignored);
}

bool result_same_group(const struct result_group *a, const struct result_group *b)
{
    return strcmp(a->mode, b->mode) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
           strcmp(a->accumulate, b->accumulate) == 0;
}

bool result_is_first_of_group(const struct result *r, size_t index)
{
    for (size_t i = index; i-- > 0;) /* backwards: groups mostly lie together */
        if (result_same_group(&r->cells[i].group, &r->cells[index].group))
            return false;
    return true;
}

const char *result_timing_name(enum timing timing)
{
    return timing < TIMING_COUNT ? timing_names[timing] : "";
}

const char *result_role_name(enum result_role role)
{
    return role < RESULT_ROLE_COUNT ? result_role_names[role] : "";
}

const char *result_cell_label(const struct result_cell *cell, char *room)
{
    if (!cell->args[0])
        return cell->label;
    snprintf(room, RESULT_LABEL_MAX, "%s%s%s", cell->args, cell->label[0] ? " " : "", cell->label);
    return room;
}

const struct result_contender *result_contender(const struct result_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->n_contenders; i++)
        if (strcmp(cell->contenders[i].name, name) == 0)
            return &cell->contenders[i];
    return NULL;
}

const struct result_timing *result_headline(const struct result_cell *cell, const struct result_contender *c)
{
    static const struct result_timing none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return cell->headline < TIMING_COUNT ? &c->timings[cell->headline] : &none;
}

const struct result_pair *result_speedup(const struct result_cell *cell, enum timing timing, const char *candidate,
                                         const char *reference)
{
    for (size_t i = 0; i < cell->n_speedups; i++) {
        const struct result_pair *s = &cell->speedups[i];
        if (s->timing == timing && strcmp(s->candidate, candidate) == 0 && strcmp(s->reference, reference) == 0)
            return s;
    }
    return NULL;
}

const struct result_device *result_device(const struct result *r, double index)
{
    static const struct result_device none = {NULL, "", "", "", "", NAN, NAN, NAN};
    return index >= 0 && index < (double)r->n_env ? &r->env[(size_t)index].device : &none;
}

bool result_has_timing(const struct result *r, enum timing timing)
{
    for (size_t i = 0; i < r->n_cells; i++)
        for (size_t j = 0; j < r->cells[i].n_contenders; j++)
            if (r->cells[i].contenders[j].timings[timing].n >= 0)
                return true;
    return false;
}
