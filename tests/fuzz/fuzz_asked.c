/*
 * fuzz_asked.c - what lies beside a cubin that was compiled ahead: what is accepted is written as it is read again.
 */
#include "fuzz.h"

#include "compile/asked.h"

static void check(const struct asked *a)
{
    struct asked *again = malloc(sizeof *again);
    struct error err = {0};
    char *text = asked_text(a);
    require(text != NULL && again != NULL);
    require(a->n_options > 0 && a->n_options <= ASKED_OPTIONS_MAX);
    require(asked_read(text, again, &err) == 0);
    require(again->n_options == a->n_options && strcmp(again->source, a->source) == 0);
    for (int i = 0; i < a->n_options; i++)
        require(strcmp(again->options[i], a->options[i]) == 0);
    free(text);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct asked *a = malloc(sizeof *a);
    char *text = malloc(size + 1);
    require(a != NULL && text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    int code = asked_read(text, a, &err);
    if (code)
        require_refusal(code, &err);
    else
        check(a);
    free(text);
    free(a);
    return 0;
}
