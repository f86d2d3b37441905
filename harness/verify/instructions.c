/*
 * instructions.c - holds the multiply instructions of a module against the accumulator that it is billed with. Pure.
 * Called by stage.c as a second witness beside the error profile.
 */
#include "verify/instructions.h"

#include <stdio.h>
#include <string.h>

#define DESCRIPTION_MAX 4096

/* "mma.f16.f16.f16.f16" -> the first type after the operation's name is that of the result. */
static bool is_half(const char *word, size_t length)
{
    const char *dot = memchr(word, '.', length);
    size_t left = dot == NULL ? 0 : length - (size_t)(dot + 1 - word);
    return left >= 3 && strncmp(dot + 1, "f16", 3) == 0;
}

bool instructions_are_half(const char *instructions)
{
    size_t words = 0;
    for (const char *at = instructions; *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (length > 0 && !is_half(at, length))
            return false;
        words += length > 0;
        at += length;
        at += strspn(at, " ");
    }
    return words > 0;
}

enum verdict instructions_judge(const struct bench *bench, const struct entrant *entrant, char *why)
{
    char text[DESCRIPTION_MAX] = "";
    cJSON *tree = NULL;
    struct error ignored;
    enum verdict verdict = VERDICT_OK;
    if (!entrant->set_up || entrant_ask(bench, entrant, text, sizeof text) != CUDAL2_OK ||
        json_parse(text, strnlen(text, sizeof text), sizeof text, "description", &tree, &ignored) != 0)
        return VERDICT_OK;
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(tree, "instructions");
    if (cJSON_IsString(found) && instructions_are_half(found->valuestring)) {
        verdict = VERDICT_PRECISION_CLASS;
        snprintf(why, CUDAL2_WHY, "billed f32, all that multiplies has half-precision results: %.150s",
                 found->valuestring);
    }
    cJSON_Delete(tree);
    return verdict;
}
