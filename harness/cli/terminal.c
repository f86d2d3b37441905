/*
 * terminal.c - whether a stream is a terminal, how wide, and one line with a path made harmless. Relies on
 * base/plain.h. Called by all output of cli/.
 */
#include "cli/terminal.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/plain.h"

bool terminal_is_live(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && !(term && strcmp(term, "dumb") == 0);
}

bool terminal_has_colour(int fd)
{
    const char *refused = getenv("NO_COLOR");
    return terminal_is_live(fd) && !(refused && refused[0]);
}

void terminal_say(FILE *out, const char *ours, const char *words)
{
    char *plain = plain_copy(words);
    fprintf(out, "%s%s\n", ours, plain ? plain : "");
    free(plain);
}

unsigned terminal_columns(void)
{
    const char *asked = getenv("COLUMNS");
    char *end = NULL;
    unsigned long columns = asked && isdigit((unsigned char)asked[0]) ? strtoul(asked, &end, 10) : 0;
    struct winsize size;
    if (columns > 0 && columns <= USHRT_MAX && *end == '\0')
        return (unsigned)columns;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
