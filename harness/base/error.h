/*
 * error.h - how failures travel: a code and one line of text, context added on the way up, printed once by cli/.
 */
#ifndef CUDAL2_BASE_ERROR_H
#define CUDAL2_BASE_ERROR_H

/* Exit codes of the program; functions return them (0 is success). Documented in docs/method.md and --help. */
enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_REGRESSION = 1,
    EXIT_CODE_INCOMPARABLE = 2,
    EXIT_CODE_VERIFICATION = 3,
    EXIT_CODE_USAGE = 64,
    EXIT_CODE_DATA = 65,        /* an input file cannot be read, or its content is wrong */
    EXIT_CODE_UNAVAILABLE = 69, /* device, driver or library is not there */
    EXIT_CODE_INTERNAL = 70,    /* a broken promise of ours, or no memory */
    EXIT_CODE_CANTCREATE = 73,  /* output cannot be created */
    EXIT_CODE_IO = 74,          /* a write, sync or rename failed (disk full) */
    EXIT_CODE_TEMPORARY = 75,   /* try again: lock held, stopped by TERM with work left */
    EXIT_CODE_INTERRUPTED = 130
};

struct error {
    int code;
    char text[768];
};

/* Sets code and text, with what does harm (plain.h) as '?'; returns code, so that `return error_set(err, ...)` reads
 * well. err may not be NULL. */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of the text; keeps and returns the code. */
int error_wrap(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What does harm (plain.h) becomes '?': words of a file, a plugin or a worker stay one line and do nothing to a
 * terminal. */
void error_one_line(char *text);

#endif
