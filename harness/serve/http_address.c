/*
 * http_address.c - reads the address that --listen names: numbers only, so that nothing is looked up. Called by http.c.
 */
#include "serve/http_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *text, struct error *err)
{
    return error_set(
        err, EXIT_CODE_USAGE,
        "--listen: expected ADDRESS:PORT, such as 127.0.0.1:8090 or [::1]:8090, or a port; found \"%.60s\"", text);
}

static bool read_port(const char *text, in_port_t *out)
{
    char *end = NULL;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || number > 65535)
        return false;
    *out = htons((uint16_t)number);
    return true;
}

/* Without the brackets that IPv6 has before a port. */
static bool split_host(const char *text, char host[64], const char **port)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    bool bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    if (length >= 64)
        return false;
    snprintf(host, 64, "%.*s", (int)(bracketed ? length - 2 : length), bracketed ? text + 1 : text);
    *port = colon ? colon + 1 : text;
    if (!colon)
        snprintf(host, 64, "127.0.0.1");
    return true;
}

int http_address_parse(const char *text, struct http_address *out, struct error *err)
{
    char host[64];
    const char *port;
    *out = (struct http_address){.is_loopback = false};
    struct sockaddr_in *four = (struct sockaddr_in *)&out->socket;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out->socket;
    if (!split_host(text, host, &port))
        return refuse(text, err);
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        out->is_loopback = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
        snprintf(out->host, sizeof out->host, "%s", host);
        return read_port(port, &four->sin_port) ? 0 : refuse(text, err);
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
        return refuse(text, err);
    six->sin6_family = AF_INET6;
    out->is_loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    snprintf(out->host, sizeof out->host, "[%.60s]", host);
    return read_port(port, &six->sin6_port) ? 0 : refuse(text, err);
}
