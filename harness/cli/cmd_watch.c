/*
 * cmd_watch.c - the command `watch`: a sharded run's progress, drawn again and again on a terminal, one line elsewhere.
 * Relies on gather/watch.h. Called by main.c.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "gather/watch.h"

#define PAUSE_SECONDS 2
#define ROWS_DEFAULT 20

static size_t terminal_rows(void)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4;
    return known ? (size_t)size.ws_row - 4 : ROWS_DEFAULT;
}

/* Over what was drawn before; the rows are cut to the terminal's width, or the cursor would go up too little. */
static size_t draw(const struct text *text, size_t drawn)
{
    unsigned columns = terminal_columns();
    size_t rows = 0;
    for (; drawn > 0; drawn--)
        printf("\033[A\033[2K");
    for (const char *line = text->bytes; line && *line; rows++) {
        size_t length = 0;
        while (line[length] && line[length] != '\n')
            length++;
        printf("%.*s\n", (int)(columns && length > columns ? columns : length), line);
        line += length + (line[length] == '\n');
    }
    fflush(stdout);
    return rows;
}

static void compose(const struct watch *w, bool live, struct watch_sum *sum, struct text *out)
{
    watch_sum_up(w, sum);
    watch_line(sum, w, out);
    if (live)
        watch_rows(w, terminal_rows(), out);
}

static int look(struct watch *w, const struct options *options, struct error *err)
{
    bool live = !options->once && !options->no_color && terminal_is_live(STDOUT_FILENO), over = false;
    size_t drawn = 0;
    while (!over) {
        struct watch_sum sum;
        struct text text = {0};
        if (watch_poll(w, options->operands, err))
            return err->code;
        compose(w, live, &sum, &text);
        drawn = draw(&text, drawn);
        text_free(&text);
        over = !live || (w->n_shards > 0 && sum.of_state[WATCH_DONE] == w->n_shards);
        if (!over)
            sleep(PAUSE_SECONDS);
    }
    return 0;
}

int command_watch(const struct options *options, struct error *err)
{
    struct watch w = {.n = 0};
    int code = look(&w, options, err);
    watch_free(&w);
    return code;
}
