/*
 * plain_tree.c - walks a JSON tree and writes out what does harm in its names and words. Relies on base/plain.h, and on
 * the reader of JSON, which has bounded the tree's depth. Called by result_make_plain.
 */
#include "result/plain_tree.h"

#include <stdlib.h>

#include "base/plain.h"

bool plain_tree_is(const cJSON *node)
{
    bool plain = true;
    for (; node && plain; node = node->next)
        plain = (!node->string || plain_is(node->string)) && (!cJSON_IsString(node) || plain_is(node->valuestring)) &&
                plain_tree_is(node->child);
    return plain;
}

static bool make_word_plain(char **word)
{
    char *plain = *word && !plain_is(*word) ? plain_copy(*word) : NULL;
    bool failed = *word && !plain && !plain_is(*word);
    if (plain) {
        free(*word);
        *word = plain;
    }
    return !failed;
}

bool plain_tree_make(cJSON *node)
{
    bool done = true;
    for (; node && done; node = node->next) {
        if (!(node->type & cJSON_StringIsConst))
            done = make_word_plain(&node->string);
        if (done && cJSON_IsString(node))
            done = make_word_plain(&node->valuestring);
        done = done && plain_tree_make(node->child);
    }
    return done;
}
