#include "cli/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "result/tree.h"

#define NAMES_MAX 1000

static int read_config(const struct side *fresh, struct config *out, struct error *err)
{
    const cJSON *config = tree_member(fresh->run, "config");
    char *text = config ? json_print(config, false) : NULL;
    if (!text)
        return error_set(err, EXIT_CODE_DATA, "%s: no config in its journal", fresh->path);
    int code = config_parse(text, strlen(text), fresh->path, out, err);
    free(text);
    return code;
}

static bool is_suspect_shape(const struct compare_runs *runs, const struct shape *shape)
{
    for (size_t i = 0; i < runs->n_rows; i++) {
        const struct cudal2_problem *p = &runs->rows[i].problem;
        if (judge_suspects(runs->rows[i].verdict) && p->m == shape->m && p->n == shape->n && p->k == shape->k)
            return true;
    }
    return false;
}

static void keep_suspect_shapes(const struct compare_runs *runs, struct config *config)
{
    size_t kept = 0;
    for (size_t i = 0; i < config->n_shapes; i++)
        if (is_suspect_shape(runs, &config->shapes[i]))
            config->shapes[kept++] = config->shapes[i];
    config->n_shapes = kept;
}

/* A dtype that accumulates in one type only has other bits than the config: those stay as they are. */
static void keep_suspect_kinds(const struct compare_runs *runs, struct config *config)
{
    uint32_t modes = 0;
    uint32_t accumulates = 0;
    for (size_t i = 0; i < runs->n_rows; i++)
        if (judge_suspects(runs->rows[i].verdict)) {
            modes |= CUDAL2_BIT(runs->rows[i].mode);
            accumulates |= CUDAL2_BIT(runs->rows[i].problem.accumulate);
        }
    config->modes = modes;
    if (config->accumulates & accumulates)
        config->accumulates &= accumulates;
}

/* A confirmation is a measurement like any other: an earlier one is never overwritten. */
static int choose_output(const char *path, char out[PATH_MAX], struct error *err)
{
    static const char *const endings[] = {".journal.jsonl", ".jsonl",   ".json", ".journal.jsonl.gz",
                                          ".jsonl.gz",      ".json.gz", "/"};
    char journal[PATH_MAX];
    size_t stem = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]);
        if (stem == strlen(path) && stem > length && strcmp(path + stem - length, endings[i]) == 0)
            stem -= length;
    }
    for (int number = 1; number <= NAMES_MAX; number++) {
        char suffix[24] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%d", number);
        int used = snprintf(out, PATH_MAX, "%.*s.confirm%s.json", (int)stem, path, suffix);
        if (used < 0 || used >= PATH_MAX)
            break;
        snprintf(journal, sizeof journal, "%.*s.confirm%s.journal.jsonl", (int)stem, path, suffix);
        if (access(out, F_OK) != 0 && access(journal, F_OK) != 0)
            return 0;
    }
    return error_set(err, EXIT_CODE_CANTCREATE, "%s: no free name for a confirmation beside it", path);
}

int confirm_prepare(const struct compare_runs *runs, struct confirm *out, struct error *err)
{
    *out = (struct confirm){.device = tree_text(runs->fresh.run, "device")};
    if (choose_output(runs->fresh.path, out->output, err) || read_config(&runs->fresh, &out->config, err))
        return err->code;
    keep_suspect_shapes(runs, &out->config);
    keep_suspect_kinds(runs, &out->config);
    out->config.activity = ACTIVITY_OFF; /* the first look has had its own */
    out->config.seed_given = false;      /* the same inputs and orders would be less than a second look */
    if (out->config.n_shapes > 0)
        return 0;
    confirm_free(out);
    return error_set(err, EXIT_CODE_DATA, "%s: its config has none of the shapes that it measured", runs->fresh.path);
}

void confirm_free(struct confirm *c)
{
    config_free(&c->config);
}
