/*
 * verdict.h - what a verdict means for the reward, and the words that a client is given for it. Pure.
 */
#ifndef CUDAL2_SERVE_VERDICT_H
#define CUDAL2_SERVE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "model/verdict.h"

#define VERDICT_TEXT 4096

/* Besides the verdicts of docs/results.md a submission has these: VERDICT_INVALID (a manifest or parameters that cannot
 * be), VERDICT_CANCELLED (taken back) and VERDICT_FAILED (the server or its device could not measure). */

/* Member "verdict" of an outcome or of one of its problems; VERDICT_FAILED where it is none. */
enum verdict verdict_of_outcome(const cJSON *outcome);

/* Whether the candidate had its chance and did not take it: its reward is 0. False: nothing was learnt about it, and
 * there is no reward at all. VERDICT_OK is neither. */
bool verdict_is_earned(enum verdict verdict);

/* Whether the candidate pretended: what it did is no mistake that a correct kernel could make. */
bool verdict_is_cheat(enum verdict verdict, const char *stage);

/* One text for a person or a language model. The reason is part of it where the candidate's author needs it to mend the
 * kernel (compiler, setup, wrong elements). Of checks on honesty it says which one failed, not how it was seen. */
void verdict_text(enum verdict verdict, const char *stage, const char *reason, char out[VERDICT_TEXT]);

/* Takes `directory` out of a text wherever it is named, with the slash behind it. */
void verdict_hide(char *text, const char *directory);

#endif
