/*
 * portfolio.c - reads a set's portfolio and looks kernels up in it. Relies on contender/module.h for what of a key is
 * compiled. Called by rank.c and the command `compile`.
 */
#include "choice/portfolio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MAX_BYTES (256u << 10)

struct member {
    enum cudal2_layout layout;
    struct cudal2_variant code;
};

struct portfolio {
    const struct module_set *set;
    size_t n;
    struct member members[PORTFOLIO_MAX];
};

static bool read_line(struct portfolio *p, const char *line)
{
    char layout[4], key[512];
    if (p->n == PORTFOLIO_MAX || sscanf(line, "%3s %511s", layout, key) != 2)
        return false;
    struct member *m = &p->members[p->n++];
    m->layout = strcmp(layout, "nn") == 0 ? CUDAL2_NN : CUDAL2_TN;
    return module_set_code(p->set, key, &m->code);
}

static bool read_lines(struct portfolio *p, char *text)
{
    char *rest = NULL;
    bool good = true;
    for (char *line = strtok_r(text, "\n", &rest); line && good; line = strtok_r(NULL, "\n", &rest))
        good = read_line(p, line);
    return good && p->n > 0;
}

struct portfolio *portfolio_open(const struct module_set *set)
{
    char path[1200];
    char *text = NULL;
    size_t length;
    struct error ignored;
    struct portfolio *p = calloc(1, sizeof *p);
    int n = snprintf(path, sizeof path, "%s/spaces/%s.portfolio", module_set_directory(set), module_set_name(set));
    bool there = p && n > 0 && (size_t)n < sizeof path && file_read(path, MAX_BYTES, &text, &length, &ignored) == 0;
    if (p)
        p->set = set;
    if (!there || !read_lines(p, text)) {
        free(p);
        p = NULL;
    }
    free(text);
    return p;
}

void portfolio_close(struct portfolio *p)
{
    free(p);
}

bool portfolio_has(const struct portfolio *p, enum cudal2_layout layout, const char *key)
{
    struct cudal2_variant code;
    bool found = false;
    if (!module_set_code(p->set, key, &code))
        return false;
    for (size_t i = 0; i < p->n && !found; i++)
        found = p->members[i].layout == layout && strcmp(p->members[i].code.key, code.key) == 0;
    return found;
}

size_t portfolio_keys(const struct portfolio *p, enum cudal2_accumulate accumulate, struct precompile_key *out,
                      size_t most)
{
    size_t n = p->n < most ? p->n : most;
    for (size_t i = 0; i < n; i++)
        out[i] =
            (struct precompile_key){module_set_name(p->set), p->members[i].code.key, p->members[i].layout, accumulate};
    return n;
}
