/*
 * plugin_mailbox.h - the memory through which the harness asks a plugin's own process to run a hook, and gets the
 * answer. The process that runs the plugin may write anything here at any time while it is awake: who reads it takes
 * copies, and believes nothing that it has not checked.
 */
#ifndef CUDAL2_CONTENDER_PLUGIN_MAILBOX_H
#define CUDAL2_CONTENDER_PLUGIN_MAILBOX_H

#include "abi/contender.h"
#include "contender/plugin.h"
#include "device/fill.h"

#include <stdatomic.h>

#define MAILBOX_TEXT 8192
#define MAILBOX_VARIANTS 512 /* as many as a race looks at (measure/variants.h) */
#define MAILBOX_SETS 2880    /* as many as there are (operands/operands.h) */
#define MAILBOX_PAGE 4096
#define MAILBOX_LINE 64 /* bytes that two processors hand each other at once */

enum mailbox_hook {
    MAILBOX_HELLO, /* none: says that the process runs */
    MAILBOX_LOAD,  /* dlopen, entry, probe */
    MAILBOX_VERSIONS,
    MAILBOX_LIST_VARIANTS,
    MAILBOX_SETUP,
    MAILBOX_LAUNCH,
    MAILBOX_TEARDOWN,
    MAILBOX_DESCRIBE,
    MAILBOX_WATCH /* of plugin_mailbox.watch */
};

/* What a launch needs, in one line of the cache. `number` is written last. */
struct mailbox_question {
    _Alignas(MAILBOX_LINE) _Atomic uint32_t number;
    uint32_t hook, contender;
    uint32_t capacity; /* of variants, or of the text */
    uint64_t state, set;
};

struct mailbox_answer {
    _Alignas(MAILBOX_LINE) _Atomic uint64_t word; /* mailbox_word of the question; written last */
    int32_t status;
    uint64_t state;
};

/* A contender as the plugin declares it; its pointers mean nothing here. */
struct mailbox_contender {
    struct cudal2_contender is;
    char name[CONTENDER_NAME_MAX];
    bool lists_variants;
};

struct mailbox_plugin {
    char path[PLUGIN_PATH_MAX]; /* asked for */
    struct device_info device;
    struct error err; /* when the status is not 0 */
    char name[CONTENDER_NAME_MAX];
    struct mailbox_contender contenders[PLUGIN_MAX_CONTENDERS];
    uint32_t n_contenders, abi;
    bool usable, tells_versions;
    char reason[CUDAL2_WHY];
};

struct plugin_mailbox {
    _Alignas(MAILBOX_PAGE) struct mailbox_question question;
    struct mailbox_answer answer;
    uint64_t key;   /* until the first answer: the loop keeps it, and the harness takes it away */
    uint64_t stack; /* of the loop that answers, told with the first answer */
    struct contender_range watch[CONTENDER_WATCHED]; /* what is read while nothing is asked */
    char why[CUDAL2_WHY];
    char text[MAILBOX_TEXT];
    struct cudal2_setup setup; /* its pointers to sets and variant mean nothing here */
    bool has_variant;
    char variant[sizeof(struct cudal2_variant)];
    struct mailbox_plugin plugin;
    struct cudal2_variant variants[MAILBOX_VARIANTS];
    struct cudal2_operands sets[MAILBOX_SETS];
};

/* How the loop answers a question. Code that writes to the answer and does not know the key gives itself away. */
static inline uint64_t mailbox_word(uint64_t key, uint32_t number)
{
    return fill_bits(key, number);
}

#endif
