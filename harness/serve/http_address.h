/*
 * http_address.h - "ADDRESS:PORT" as a socket address. Private to http*.c and their test.
 */
#ifndef CUDAL2_SERVE_HTTP_ADDRESS_H
#define CUDAL2_SERVE_HTTP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

#include "base/error.h"

struct http_address {
    struct sockaddr_storage socket;
    bool is_loopback;
    char host[64]; /* as it is shown, in brackets for IPv6 */
};

/* "127.0.0.1:8090", "[::1]:8090", or a port alone (of 127.0.0.1). EXIT_CODE_USAGE. */
int http_address_parse(const char *text, struct http_address *out, struct error *err);

#endif
