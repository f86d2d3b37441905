#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "report/screen.h"
#include "result/result.h"

static bool is_journal(const char *path)
{
    size_t length = strlen(path);
    return length > 6 && strcmp(path + length - 6, ".jsonl") == 0;
}

static struct screen_options screen_of_terminal(const struct options *options)
{
    struct winsize size;
    struct screen_options screen = {.colour = isatty(STDOUT_FILENO) && !options->no_color && !getenv("NO_COLOR")};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        screen.columns = size.ws_col;
    return screen;
}

int report_print(const char *path, const struct options *options, struct error *err)
{
    cJSON *result = NULL;
    char *text = NULL;
    struct screen_options screen = screen_of_terminal(options);
    int code = is_journal(path) ? result_from_journal(path, &result, err) : result_read(path, &result, err);
    if (!code)
        code = screen_report(result, &screen, &text, err);
    if (!code)
        fputs(text, stdout);
    free(text);
    cJSON_Delete(result);
    return code;
}

int command_report(const struct options *options, struct error *err)
{
    if (options->n_operands != 1)
        return error_set(err, EXIT_CODE_USAGE, "report: expected one result.json or journal");
    return report_print(options->operands[0], options, err);
}
