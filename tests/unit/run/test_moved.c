/* run/process and worker/spaces: a worker that moves into a process namespace, with a user of its own where root starts
 * it, is the supervisor's child all the same, and whatever it leaves behind ends with it. This program is its own
 * worker.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/process.h"
#include "worker/protocol.h"
#include "worker/spaces.h"

#define MODE "CUDAL2_TEST_MODE"
#define STRAY "CUDAL2_TEST_STRAY"
#define CLOSED "CUDAL2_TEST_CLOSED"
#define ALL "namespaces,processes,user,temporary"
#define REAP_SECONDS 20.0

/* What the worker says of where it is. */
struct facts {
    int pid, parent, seen, death_signal, temporary_is_own;
    uint32_t user;
    int stray;    /* whether it has left one */
    int readable; /* what lies in a directory that is its starter's alone */
};

/* ---- the worker ---- */

static int processes_seen(void)
{
    int n = 0;
    DIR *list = opendir("/proc");
    for (const struct dirent *e = list ? readdir(list) : NULL; e; e = readdir(list))
        n += isdigit((unsigned char)e->d_name[0]) != 0;
    if (list)
        closedir(list);
    return n;
}

/* Out of its group and session, and deaf. */
static int leave_a_stray(void)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        prctl(PR_SET_PDEATHSIG, 0);
        prctl(PR_SET_NAME, getenv(STRAY));
        close_range(0, ~0u, 0);
        for (;;)
            pause();
    }
    close(ready[1]);
    bool named = read(ready[0], &byte, 1) == 0; /* it has closed its end, and has its name */
    close(ready[0]);
    return pid > 0 && named;
}

static void tell(void)
{
    struct stat st;
    const char *directory = getenv("TMPDIR");
    struct facts f = {.pid = getpid(), .parent = getppid(), .seen = processes_seen(), .user = getuid()};
    prctl(PR_GET_PDEATHSIG, &f.death_signal);
    f.temporary_is_own = directory && stat(directory, &st) == 0 && st.st_uid == f.user;
    f.stray = leave_a_stray();
    f.readable = access(getenv(CLOSED), R_OK) == 0;
    (void)!write(PROTOCOL_FD, &f, sizeof f);
}

/* So that whoever tells of a move by this socket has to wait. */
static void fill(int socket)
{
    while (send(socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
        continue;
}

static int worker(char **arguments)
{
    struct confinement c;
    struct error err;
    const char *mode = getenv(MODE);
    if (confine_parse(getenv(CONFINE_VARIABLE), &c, &err))
        return 100;
    if (arguments[0] && strcmp(arguments[0], "at") == 0) {
        spaces_choose(&c, &(struct spaces_trial){.reads = arguments + 3});
        if (mode && strcmp(mode, "late") == 0)
            fill(CONFINE_LISTENER_FD);
        spaces_enter(&c, CONFINE_LISTENER_FD);
    } else if (!arguments[0] || !spaces_entered(&c, arguments + 1)) {
        return 101;
    }
    tell();
    if (mode && strcmp(mode, "abort") == 0)
        abort();
    if (mode && strcmp(mode, "stop") == 0)
        raise(SIGSTOP);
    if (mode && strcmp(mode, "wait") == 0)
        pause();
    return 7;
}

/* ---- the supervisor ---- */

static struct process process;
static char stray[16], closed[48];

static int make_closed(void **state)
{
    char directory[] = "/tmp/cudal2-test-XXXXXX";
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(closed, sizeof closed, "%s/file", directory);
    FILE *f = fopen(closed, "w");
    setenv(CLOSED, closed, 1);
    return !f || fclose(f) || chmod(closed, 0600);
}

static int remove_closed(void **state)
{
    (void)state;
    unlink(closed);
    *strrchr(closed, '/') = '\0';
    return rmdir(closed);
}

static bool is_stray(const char *number)
{
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/%s/comm", number);
    FILE *f = fopen(path, "re");
    bool is = f && fgets(name, sizeof name, f) && strncmp(name, stray, strlen(stray)) == 0;
    if (f)
        fclose(f);
    return is;
}

static pid_t find_stray(void)
{
    pid_t found = 0;
    DIR *list = opendir("/proc");
    for (const struct dirent *e = list ? readdir(list) : NULL; e && !found; e = readdir(list))
        if (isdigit((unsigned char)e->d_name[0]) && is_stray(e->d_name))
            found = (pid_t)atoi(e->d_name);
    if (list)
        closedir(list);
    return found;
}

static void spawn(const char *isolation, const char *mode)
{
    static const char *const arguments[] = {"at", "cpu", "timing", "/", NULL};
    const struct process_request request = {.program = "/proc/self/exe", .arguments = arguments, .lock_fd = -1};
    struct error err;
    snprintf(stray, sizeof stray, "stray-%d", (int)getpid() % 100000);
    setenv(STRAY, stray, 1);
    setenv(MODE, mode, 1);
    setenv(CONFINE_VARIABLE, isolation, 1);
    assert_int_equal(process_spawn(&request, &process, &err), 0);
}

static struct facts start(const char *isolation, const char *mode)
{
    struct facts f = {0};
    spawn(isolation, mode);
    struct pollfd there = {.fd = process.fd, .events = POLLIN};
    assert_int_equal(poll(&there, 1, 60000), 1);
    assert_int_equal(read(process.fd, &f, sizeof f), (ssize_t)sizeof f);
    assert_true(f.stray);
    return f;
}

/* Nobody is left, and nobody waits to be reaped. */
static void expect_nobody(void)
{
    assert_int_equal(find_stray(), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static bool has_moved(void)
{
    process_follow(&process);
    return process.pid != process.group;
}

static void reap(int number, bool signalled)
{
    struct process_end end;
    assert_true(process_reap(&process, REAP_SECONDS, &end));
    assert_int_equal(end.signalled, signalled);
    assert_int_equal(end.number, number);
}

/* Where it may not move the other cases prove nothing. */
static void need_to_move(const char *isolation, const char *mode, struct facts *f)
{
    *f = start(isolation, mode);
    if (has_moved())
        return;
    pid_t left = find_stray();
    if (left > 0)
        kill(left, SIGKILL);
    process_kill(&process);
    process_forget(&process);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    print_message("no process namespace is to be had here\n");
    skip();
}

static void it_sees_itself_alone(void **state)
{
    struct facts f;
    (void)state;
    need_to_move(ALL, "exit", &f);
    assert_int_equal(f.pid, 2);
    assert_int_equal(f.parent, 0);
    assert_int_equal(f.seen, 2);
    assert_int_equal(f.death_signal, SIGKILL);
    assert_true(f.temporary_is_own);
    assert_true(f.readable);
    if (getuid() == 0)
        assert_true(spaces_is_user(f.user));
    else
        assert_int_equal(f.user, getuid());
    reap(7, false);
    expect_nobody();
}

/* As without: the signals that contenders die of end it, and are told as what they are. */
static void it_dies_of_its_own_signals(void **state)
{
    struct facts f;
    (void)state;
    need_to_move(ALL, "abort", &f);
    reap(SIGABRT, true);
    expect_nobody();
}

static void it_is_killed_while_it_is_stopped(void **state)
{
    struct facts f;
    (void)state;
    need_to_move(ALL, "stop", &f);
    assert_true(find_stray() > 0);
    assert_false(process_ended(&process));
    process_kill(&process);
    reap(SIGKILL, true);
    expect_nobody();
}

static void its_memory_is_known(void **state)
{
    struct facts f;
    (void)state;
    need_to_move(ALL, "wait", &f);
    assert_true(process_resident_bytes(&process) > 0);
    assert_false(process_ending(&process));
    process_kill(&process);
    reap(SIGKILL, true);
    expect_nobody();
}

/* Otherwise the end of the process that moved could be taken for its own: it runs only once its number is told. */
static void it_says_nothing_before_its_number(void **state)
{
    struct facts f;
    struct spaces_moved said = {0};
    (void)state;
    need_to_move(ALL, "exit", &f);
    reap(7, false);
    spawn(ALL, "late");
    struct pollfd there = {.fd = process.fd, .events = POLLIN};
    assert_int_equal(poll(&there, 1, 700), 0);
    while (said.kind != SPACES_MOVED)
        assert_true(recv(process.listener.socket, &said, sizeof said, 0) > 0);
    process.listener.moved = said.pid;
    assert_int_equal(poll(&there, 1, 60000), 1);
    assert_int_equal(read(process.fd, &f, sizeof f), (ssize_t)sizeof f);
    reap(7, false);
    expect_nobody();
}

/* What the others are held against. */
static void without_it_a_stray_stays(void **state)
{
    (void)state;
    start("namespaces", "exit");
    assert_false(has_moved());
    reap(7, false);
    pid_t left = find_stray();
    assert_true(left > 0);
    assert_int_equal(kill(left, SIGKILL), 0);
}

/* Killed before it has said anything. */
static void an_early_end_leaves_nobody(void **state)
{
    static const char *const arguments[] = {"at", "cpu", "timing", NULL};
    const struct process_request request = {.program = "/proc/self/exe", .arguments = arguments, .lock_fd = -1};
    struct process_end end;
    struct error err;
    (void)state;
    setenv(MODE, "wait", 1);
    setenv(CONFINE_VARIABLE, ALL, 1);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(process_spawn(&request, &process, &err), 0);
        usleep(i * 1500);
        process_kill(&process);
        assert_true(process_reap(&process, REAP_SECONDS, &end));
    }
    for (int i = 0; i < 100 && find_stray() > 0; i++)
        usleep(20000);
    assert_int_equal(find_stray(), 0);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void what_does_not_work_is_not_entered(void **state)
{
    char *missing[] = {(char *)"/", NULL};
    struct confinement c;
    struct error err;
    (void)state;
    assert_int_equal(confine_parse(ALL, &c, &err), 0);
    spaces_choose(&c, &(struct spaces_trial){.works = never, .reads = missing});
    for (int part = CONFINE_SPACES; part <= CONFINE_USER; part++) {
        assert_false(c.in_force[part]);
        assert_true(c.note[part][0] != '\0');
    }
    spaces_enter(&c, -1); /* nothing to enter: comes back */
}

/* The new /dev/shm hides what lies in this one. */
static void what_it_needs_must_be_seen_there(void **state)
{
    char place[] = "/dev/shm/cudal2-test-XXXXXX";
    struct confinement c;
    struct error err;
    (void)state;
    if (!mkdtemp(place))
        skip();
    char *needed[] = {place, NULL}, *absent[] = {(char *)"/nowhere", NULL};
    assert_int_equal(confine_parse("processes", &c, &err), 0);
    spaces_choose(&c, &(struct spaces_trial){.reads = absent});
    bool possible = c.in_force[CONFINE_PROCESSES];
    assert_int_equal(confine_parse("processes", &c, &err), 0);
    spaces_choose(&c, &(struct spaces_trial){.reads = needed});
    assert_false(c.in_force[CONFINE_PROCESSES]);
    if (possible)
        assert_non_null(strstr(c.note[CONFINE_PROCESSES], "cannot be read"));
    rmdir(place);
    if (!possible)
        skip();
}

static void what_is_not_wanted_is_not_tried(void **state)
{
    struct confinement c;
    struct error err;
    (void)state;
    assert_int_equal(confine_parse("limits", &c, &err), 0);
    spaces_choose(&c, &(struct spaces_trial){0});
    assert_false(c.in_force[CONFINE_SPACES] || c.in_force[CONFINE_PROCESSES] || c.in_force[CONFINE_USER]);
    assert_int_equal(c.note[CONFINE_USER][0], '\0');
}

static void what_was_entered_is_read(void **state)
{
    char *good[] = {(char *)"np", (char *)"", (char *)"", (char *)"user: no", NULL};
    char *bad[] = {(char *)"np", (char *)"", NULL};
    struct confinement c = {0};
    (void)state;
    assert_true(spaces_entered(&c, good));
    assert_true(c.in_force[CONFINE_SPACES] && c.in_force[CONFINE_PROCESSES] && !c.in_force[CONFINE_USER]);
    assert_string_equal(c.note[CONFINE_USER], "user: no");
    assert_false(spaces_entered(&c, bad));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_sees_itself_alone),
        cmocka_unit_test(it_dies_of_its_own_signals),
        cmocka_unit_test(it_is_killed_while_it_is_stopped),
        cmocka_unit_test(its_memory_is_known),
        cmocka_unit_test(it_says_nothing_before_its_number),
        cmocka_unit_test(without_it_a_stray_stays),
        cmocka_unit_test(an_early_end_leaves_nobody),
        cmocka_unit_test(what_does_not_work_is_not_entered),
        cmocka_unit_test(what_is_not_wanted_is_not_tried),
        cmocka_unit_test(what_it_needs_must_be_seen_there),
        cmocka_unit_test(what_was_entered_is_read),
    };
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return worker(argv + 2);
    return cmocka_run_group_tests(tests, make_closed, remove_closed);
}
