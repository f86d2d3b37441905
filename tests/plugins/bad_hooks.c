/*
 * bad_hooks.c - multiplies honestly, and does one deed in one hook: CUDAL2_TEST_DEED (locale, thread-locale, print,
 * socket, close, kill) in CUDAL2_TEST_HOOK (constructor, entry, probe, versions, variants, setup, launch, describe,
 * teardown, destructor, exit). tests/e2e_hooks.sh runs it beside an honest plugin.
 */
#include "bad.h"

#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void change_locale(int thread_only)
{
    const char *path = getenv("CUDAL2_TEST_LOCPATH");
    if (path)
        setenv("LOCPATH", path, 1);
    if (thread_only)
        uselocale(newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0));
    else
        setlocale(LC_ALL, "de_DE.UTF-8");
}

/* Half a line by stdio, which may be written at any later time, and half of one past it. */
static void print_halves(void)
{
    printf("half a line by stdio");
    fprintf(stderr, "half a line of stderr");
    if (write(STDOUT_FILENO, "{\"type\":\"rec", 12) < 0)
        return;
}

static void write_to_supervisor(void)
{
    if (write(3, "{\"type\":\"rec", 12) < 0)
        return;
}

/* Gives every descriptor up, and opens another file in their places. */
static void close_all(void)
{
    for (int fd = 0; fd < 64; fd++)
        close(fd);
    for (int i = 0; i < 8; i++)
        if (!fopen("/dev/null", "r+"))
            return;
}

static void do_deed(const char *deed)
{
    if (strcmp(deed, "locale") == 0 || strcmp(deed, "thread-locale") == 0)
        change_locale(deed[0] == 't');
    else if (strcmp(deed, "print") == 0)
        print_halves();
    else if (strcmp(deed, "socket") == 0)
        write_to_supervisor();
    else if (strcmp(deed, "close") == 0)
        close_all();
    else if (strcmp(deed, "kill") == 0)
        raise(SIGKILL);
}

static void hook(const char *name)
{
    const char *wanted = getenv("CUDAL2_TEST_HOOK"), *deed = getenv("CUDAL2_TEST_DEED");
    if (wanted && deed && strcmp(wanted, name) == 0)
        do_deed(deed);
}

static void at_exit(void)
{
    hook("exit");
}

__attribute__((constructor)) static void constructor(void)
{
    atexit(at_exit);
    hook("constructor");
}

__attribute__((destructor)) static void destructor(void)
{
    hook("destructor");
}

static int probe(uint32_t device, int ordinal, char *why)
{
    (void)device;
    (void)ordinal;
    (void)why;
    hook("probe");
    return CUDAL2_OK;
}

static int versions(char *json, size_t capacity)
{
    hook("versions");
    snprintf(json, capacity, "{\"number\":%d}", 1);
    return CUDAL2_OK;
}

static int list_variants(const struct cudal2_setup *setup, struct cudal2_variant *out, size_t capacity, char *why)
{
    (void)setup;
    (void)why;
    hook("variants");
    for (size_t i = 0; i < 2 && i < capacity; i++)
        snprintf(out[i].key, sizeof out[i].key, "way-%zu", i);
    return 2;
}

static int setup(const struct cudal2_setup *request, void **state, char *why)
{
    hook("setup");
    return honest_setup(request, state, why);
}

static int launch(void *state, size_t set, char *why)
{
    hook("launch");
    return honest_launch(state, set, why);
}

static int describe(void *state, char *json, size_t capacity)
{
    (void)state;
    hook("describe");
    snprintf(json, capacity, "{\"number\":1}");
    return CUDAL2_OK;
}

static void teardown(void *state)
{
    hook("teardown");
    honest_teardown(state);
}

static const struct cudal2_contender contenders[] = {{.name = "bad-hooks-nn",
                                                      .devices = CUDAL2_ON_CPU,
                                                      .dtypes = CUDAL2_BIT(CUDAL2_F32),
                                                      .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
                                                      .layout = CUDAL2_NN,
                                                      .list_variants = list_variants,
                                                      .setup = setup,
                                                      .launch = launch,
                                                      .describe = describe,
                                                      .teardown = teardown}};

static const struct cudal2_plugin plugin = {
    .name = "bad-hooks", .contenders = contenders, .n_contenders = 1, .probe = probe, .versions = versions};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    hook("entry");
    return &plugin;
}
