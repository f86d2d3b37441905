/*
 * fuzz_submission.c - every body that a client sends: read as one of ours and as one of KernelGYM's. What is accepted
 * keeps the limits of submission.h, and its form reads back to the same form.
 */
#include "fuzz.h"

#include "serve/gym.h"

static const char *const names[] = {"blocked", "cudal2", "openblas", NULL};
static const struct submission_rules rules = {names, names, "openblas"};

static char *text_of(const struct submission *s)
{
    cJSON *tree = submission_to_json(s);
    char *text = tree ? json_print(tree, false) : NULL;
    cJSON_Delete(tree);
    require(text != NULL);
    return text;
}

static void check_promises(const struct submission *s)
{
    require(s->n_problems >= 1 && s->n_problems <= SUBMISSION_PROBLEMS);
    for (size_t i = 0; i < s->n_problems; i++)
        require(s->problems[i].m >= 1 && s->problems[i].n >= 1 && s->problems[i].k >= 1);
    require(s->priority >= 0 && s->priority <= SUBMISSION_PRIORITIES);
    require(s->kind == CANDIDATE_SOURCE ? s->source && s->manifest : submission_is_name(s->name));
    require(!strchr(s->name, '/') && !strchr(s->baseline, '/') && submission_is_name(s->baseline));
}

static void check_again(const struct submission *s)
{
    cJSON *tree = NULL;
    struct submission again;
    struct error err;
    char *first = text_of(s);
    require(json_parse(first, strlen(first), SUBMISSION_BODY_BYTES, "again", &tree, &err) == 0);
    require(submission_read(json_root(tree, "again"), &rules, &again, &err) == 0);
    char *second = text_of(&again);
    require(strcmp(first, second) == 0);
    free(first);
    free(second);
    submission_free(&again);
    cJSON_Delete(tree);
}

static void check(struct submission *s)
{
    check_promises(s);
    check_again(s);
    submission_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON *tree = NULL;
    struct submission s;
    struct gym_request gym;
    struct error err = {0, ""};
    if (json_parse((const char *)data, size, SUBMISSION_BODY_BYTES, "fuzz", &tree, &err))
        return 0;
    int code = submission_read(json_root(tree, "fuzz"), &rules, &s, &err);
    if (code)
        require_refusal(code, &err);
    else
        check(&s);
    code = gym_read(json_root(tree, "fuzz"), &rules, &gym, &err);
    if (code)
        require_refusal(code, &err);
    else
        check(&gym.submission);
    cJSON_Delete(tree);
    return 0;
}
