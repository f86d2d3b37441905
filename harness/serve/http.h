/*
 * http.h - the protocol over HTTP, by libmicrohttpd, which is loaded when it is asked for: a program without it does
 * everything else.
 */
#ifndef CUDAL2_SERVE_HTTP_H
#define CUDAL2_SERVE_HTTP_H

#include "serve/clients.h"
#include "serve/server.h"

#define HTTP_CLIENT "local" /* everybody's name where there are no tokens */

struct http;

struct http_options {
    const char *listen;            /* "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT"; port 0: any that is free */
    const struct clients *clients; /* NULL: no tokens, and only a loopback address */
};

/* EXIT_CODE_UNAVAILABLE where libmicrohttpd is not there or the address is in use, EXIT_CODE_USAGE for an address that
 * is none, or that others reach while there are no tokens. */
int http_check(const struct http_options *options, struct error *err);

/* Listens until http_stop. `server` and options must outlive it. */
int http_start(const struct http_options *options, struct server *server, struct http **out, struct error *err);
/* "127.0.0.1:8090", with the port that it has. */
const char *http_address(const struct http *h);
/* Answers what is under way and ends (server_drain first, or who waits is waited for). NULL: nothing. */
void http_stop(struct http *h);

#endif
