/*
 * clients.c - reads the token file and finds a client by its token. Relies on base/file.h. Called by http.c and
 * cli/cmd_serve.c.
 */
#include "serve/clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"

#define FILE_BYTES (1u << 20)

static int add_line(const char *path, int number, char *line, struct clients *out, struct error *err)
{
    char *name = strtok_r(line, " \t", &line), *token = strtok_r(NULL, " \t", &line);
    if (!name || name[0] == '#')
        return 0;
    if (!submission_is_name(name) || strlen(name) >= JOBS_CLIENT_MAX || !token || strtok_r(NULL, " \t", &line))
        return error_set(err, EXIT_CODE_DATA, "%s: line %d: expected a name and a token", path, number);
    if (strlen(token) < CLIENT_TOKEN_MIN || strlen(token) > CLIENT_TOKEN_MAX)
        return error_set(err, EXIT_CODE_DATA, "%s: line %d: expected a token of %d to %d characters", path, number,
                         CLIENT_TOKEN_MIN, CLIENT_TOKEN_MAX);
    struct client *grown = realloc(out->list, (out->n + 1) * sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for clients");
    out->list = grown;
    snprintf(grown[out->n].name, sizeof grown->name, "%.47s", name);
    snprintf(grown[out->n].token, sizeof grown->token, "%.128s", token);
    out->n++;
    return 0;
}

static int read_lines(const char *path, char *text, struct clients *out, struct error *err)
{
    int code = 0, number = 0;
    for (char *line = text; line && !code;) {
        char *end = strpbrk(line, "\r\n");
        if (end)
            *end = '\0';
        code = add_line(path, ++number, line, out, err);
        line = end ? end + 1 : NULL;
    }
    return code;
}

int clients_read(const char *path, struct clients *out, struct error *err)
{
    char *text = NULL;
    size_t length;
    struct stat about;
    *out = (struct clients){0};
    if (stat(path, &about) == 0 && (about.st_mode & (S_IRGRP | S_IROTH)))
        return error_set(err, EXIT_CODE_DATA, "%s: others can read the tokens (chmod 600 it)", path);
    int code = file_read(path, FILE_BYTES, &text, &length, err);
    if (!code)
        code = read_lines(path, text, out, err);
    free(text);
    if (!code && out->n == 0)
        code = error_set(err, EXIT_CODE_DATA, "%s: no client in it (expected lines \"NAME TOKEN\")", path);
    if (code)
        clients_free(out);
    return code;
}

void clients_free(struct clients *c)
{
    free(c->list);
    *c = (struct clients){0};
}

/* All of both are looked at, so that the time says nothing of how much is right. */
static bool is_equal(const char given[CLIENT_TOKEN_MAX + 1], const char token[CLIENT_TOKEN_MAX + 1])
{
    unsigned differ = 0;
    for (size_t i = 0; i <= CLIENT_TOKEN_MAX; i++)
        differ |= (unsigned char)given[i] ^ (unsigned char)token[i];
    return differ == 0;
}

const char *clients_find(const struct clients *c, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    char given[CLIENT_TOKEN_MAX + 1] = {0}, known[CLIENT_TOKEN_MAX + 1];
    const char *name = NULL;
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0 ||
        strlen(authorization + sizeof scheme - 1) > CLIENT_TOKEN_MAX)
        return NULL;
    memcpy(given, authorization + sizeof scheme - 1, strlen(authorization + sizeof scheme - 1));
    for (size_t i = 0; i < c->n; i++) {
        memset(known, 0, sizeof known);
        memcpy(known, c->list[i].token, strlen(c->list[i].token));
        if (is_equal(given, known))
            name = c->list[i].name;
    }
    return name;
}
