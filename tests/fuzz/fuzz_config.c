/*
 * fuzz_config.c - every config that is accepted keeps what config.h promises, and writing it out and
 * reading that back gives the same config.
 */
#include "fuzz.h"

#include "config/config.h"

static void check_promises(const struct config *c)
{
    require(c->n_shapes >= 1 && c->n_shapes <= CONFIG_MAX_SHAPES);
    for (size_t i = 0; i < c->n_shapes; i++) {
        const struct shape *s = &c->shapes[i];
        require(s->m >= 1 && s->n >= 1 && s->k >= 1);
        require(s->m <= CONFIG_MAX_SIZE && s->n <= CONFIG_MAX_SIZE && s->k <= CONFIG_MAX_SIZE);
        require(memchr(s->label, 0, sizeof s->label) != NULL);
    }
    require(c->name[0] && c->baselines[0] && c->layouts && c->modes && c->accumulates);
    require(c->stop.max_blocks >= c->stop.min_blocks && c->stop.min_blocks >= 2 * c->stop.group_blocks);
    require(c->stop.min_blocks % c->stop.group_blocks == 0 && c->stop.look_every % c->stop.group_blocks == 0);
    require(c->gap.mean_ns >= 1e3 && c->gap.mean_ns <= 60e9);
    require(c->verify_seeds >= 1 && c->tune_rounds >= 1 && c->other_timings_every >= 1);
}

static char *text_of(const struct config *c)
{
    cJSON *tree = config_to_json(c);
    char *text = tree ? json_print(tree, false) : NULL;
    cJSON_Delete(tree);
    require(text != NULL);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config c, again;
    struct error err = {0, ""};
    int code = config_parse((const char *)data, size, "fuzz", &c, &err);
    if (code) {
        require(code == EXIT_CODE_DATA && err.code == code && err.text[0] && !c.shapes && !strchr(err.text, '\n'));
        return 0;
    }
    check_promises(&c);
    char *first = text_of(&c);
    require(config_parse(first, strlen(first), "again", &again, &err) == 0);
    char *second = text_of(&again);
    require(strcmp(first, second) == 0);
    free(first);
    free(second);
    config_free(&c);
    config_free(&again);
    return 0;
}
