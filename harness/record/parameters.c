/*
 * parameters.c - finds one value in "BM=64,BN=128". Pure. Called by report/choices.c for Table 4.
 */
#include "record/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double parameters_value(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; *at;) {
        size_t item = strcspn(at, ",");
        if (item > length && strncmp(at, name, length) == 0 && at[length] == '=') {
            char *end;
            long long value = strtoll(at + length + 1, &end, 10);
            return end == at + item && end > at + length + 1 ? (double)value : NAN;
        }
        at += item;
        at += *at == ',';
    }
    return NAN;
}
