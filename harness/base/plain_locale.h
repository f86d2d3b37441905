/*
 * plain_locale.h - numbers written and read with a '.', whatever setlocale() says. A plugin in this process may call
 * it at any time, and printf, strtod and cJSON all follow. json_parse.c and json_print.c put it around every text; a
 * worker keeps it for its thread (worker/process_state.h).
 */
#ifndef CUDAL2_BASE_PLAIN_LOCALE_H
#define CUDAL2_BASE_PLAIN_LOCALE_H

#include <locale.h>
#include <stdbool.h>

/* Puts the "C" locale in force for the calling thread; what was in force is given back to plain_locale_leave. */
locale_t plain_locale_enter(void);
void plain_locale_leave(locale_t before);

/* Whether the calling thread has it in force. */
bool plain_locale_is_here(void);

/* Whether the process, for threads without a locale of their own, writes numbers with a '.'. */
bool plain_locale_is_global(void);

#endif
