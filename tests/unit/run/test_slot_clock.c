/* run/slot: the worker's clock against the supervisor's, between two looks; who is named for a call that was denied;
 * and the directory that a worker is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/slot.h"
#include "run/worker_directory.h"
#include "worker/protocol.h"

/* The page's layout (stage_page.c), to write what no sound worker writes. */
struct page {
    uint64_t count;
    struct stage_note notes[2];
};

static struct slot slot;
static int page_fd, worker_end;

static int open_slot(void **state)
{
    int pair[2];
    struct error err;
    (void)state;
    slot = (struct slot){.state = SLOT_BUSY};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        stage_page_create(&slot.process.page, &page_fd, &err))
        return -1;
    slot.process.pid = fork();
    if (slot.process.pid == 0) {
        pause();
        _exit(0);
    }
    slot.process.fd = pair[0];
    slot.reader = (struct line_reader){.fd = pair[0]};
    worker_end = pair[1];
    slot.looked_ns = clock_now_ns();
    return slot.process.pid > 0 ? 0 : -1;
}

static int close_slot(void **state)
{
    (void)state;
    slot_kill(&slot);
    close(worker_end);
    return close(page_fd);
}

static struct stage_note *latest(void)
{
    struct page *page = (struct page *)(void *)slot.process.page;
    return &page->notes[page->count % 2];
}

/* A note as the worker writes it, `seconds` off our clock. */
static void write_note(const char *contender, double seconds)
{
    stage_page_write(slot.process.page, contender, "measure", 60);
    latest()->written_ns += (uint64_t)(int64_t)(seconds * 1e9);
    latest()->counted_ns += (uint64_t)(int64_t)(seconds * 1e9);
}

/* A note of a worker that lost the processor for so long before it had counted it. */
static void write_note_late(double seconds)
{
    stage_page_write(slot.process.page, "a-nn", "measure", 60);
    latest()->written_ns -= (uint64_t)(seconds * 1e9);
}

static void look(struct slot_event *event)
{
    slot_look(&slot, event);
    slot_event_free(event);
}

static void honest_notes_pass(void **state)
{
    struct slot_event event;
    (void)state;
    for (int i = 0; i < 100; i++) {
        if (i % 3)
            write_note(i % 2 ? "a-nn" : "b-nn", 0);
        else
            write_note_late(i);
        look(&event);
        assert_int_not_equal(event.kind, SLOT_LOST);
    }
}

/* It has not read its clock a second time when it is looked at: a later look judges, by what was known then. */
static void a_note_is_judged_when_it_is_whole(void **state)
{
    struct slot_event event;
    (void)state;
    for (int honest = 1; honest >= 0; honest--) {
        write_note_late(5);
        latest()->counted_ns = 0;
        for (int i = 0; i < 3; i++) {
            look(&event);
            assert_int_not_equal(event.kind, SLOT_LOST);
        }
        latest()->counted_ns = clock_now_ns() - (honest ? 0 : 3000000000u);
        slot_look(&slot, &event);
        assert_int_equal(event.kind == SLOT_LOST, !honest);
        slot_event_free(&event);
    }
}

static void expect_lost(double seconds, unsigned notes, const char *words, const char *culprit)
{
    struct slot_event event;
    struct exclusion out;
    write_note("a-nn", 0);
    look(&event);
    for (unsigned i = 0; i < notes; i++)
        write_note("", seconds);
    slot_look(&slot, &event);
    assert_int_equal(event.kind, SLOT_LOST);
    assert_int_equal(event.verdict, VERDICT_TAMPER_SUSPECTED);
    assert_non_null(strstr(event.reason, words));
    assert_int_equal(slot_culprit(&slot, &event, &out), culprit != NULL);
    if (culprit)
        assert_string_equal(out.name, culprit);
    slot_event_free(&event);
}

/* In both directions; who ran meanwhile is named where nobody else can have. */
static void a_slow_clock_is_seen(void **state)
{
    (void)state;
    expect_lost(-0.2, 1, "behind", "a-nn");
}

static void a_fast_clock_is_seen(void **state)
{
    (void)state;
    expect_lost(0.2, 1, "ahead of", "a-nn");
}

static void nobody_is_named_where_several_ran(void **state)
{
    (void)state;
    expect_lost(-3, 2, "behind", NULL);
}

/* A deadline that passed while nobody looked. */
static void a_machine_that_stood_still_is_no_hang(void **state)
{
    struct slot_event event;
    (void)state;
    write_note("a-nn", 0);
    latest()->deadline_ns = clock_now_ns() - 5000000000u;
    slot.patience.looked_ns = clock_now_ns() - 20000000000u;
    look(&event);
    assert_int_not_equal(event.kind, SLOT_LOST);
    slot.patience = (struct patience){0};
    slot_look(&slot, &event);
    assert_int_equal(event.verdict, VERDICT_HANG);
    slot_event_free(&event);
}

/* ---- a call that is denied ---- */

/* A call that a worker is denied, which LeakSanitizer does not make, as it does ptrace. Returns what the call does. */
static long write_elsewhere(void)
{
    return process_vm_writev(getpid(), NULL, 0, NULL, 0, 0);
}

/* That call stops its thread until the answer comes, in this process and its children. -1: not on this system. */
static int listen_to_writes(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* Hands the descriptor over as a worker does, and lives until it is killed. */
_Noreturn static void hand_over_and_wait(int socket)
{
    char byte = 'L';
    int fd = listen_to_writes();
    struct iovec bytes = {&byte, 1};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (fd < 0 || sendmsg(socket, &message, MSG_NOSIGNAL) != 1)
        _exit(1);
    close(fd);
    for (;;)
        pause();
}

/* A worker that is kept has had plugins' processes which have ended: who waits for its next word waits. */
static void what_has_ended_is_listened_to_no_more(void **state)
{
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pid_t pid = fork();
    if (pid == 0)
        hand_over_and_wait(pair[1]);
    struct listener l = {.socket = pair[0]};
    struct pollfd sent = {.fd = pair[0], .events = POLLIN};
    assert_int_equal(poll(&sent, 1, 10000), 1);
    listener_take(&l);
    assert_int_equal(l.n, 1);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    struct pollfd waited = {.fd = listener_wait_fd(&l), .events = POLLIN};
    assert_int_equal(poll(&waited, 1, 1000), 1); /* it hangs up */
    listener_take(&l);
    assert_int_equal(l.n, 0);
    assert_int_equal(poll(&waited, 1, 0), 0);
    listener_close(&l);
    close(pair[1]);
}

/* Whoever is busy when its call comes is named, however late the supervisor looks and whoever would run next. */
static void who_made_a_denied_call_is_named(void **state)
{
    struct slot_event event;
    struct exclusion out;
    (void)state;
    int fd = listen_to_writes();
    if (fd < 0)
        skip();
    slot_kill(&slot);
    for (int i = 0; i < 20; i++) {
        struct error err;
        assert_int_equal(stage_page_create(&slot.process.page, &page_fd, &err), 0);
        slot.process.listener = (struct listener){.fds = {dup(fd)}, .n = 1};
        slot.process.pid = fork();
        if (slot.process.pid == 0) {
            stage_page_write(slot.process.page, "cheat-nn", "measure", 60);
            write_elsewhere();
            stage_page_write(slot.process.page, "honest-nn", "measure", 60);
            for (;;)
                pause();
        }
        slot.process.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        slot.state = SLOT_BUSY;
        struct pollfd asked = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&asked, 1, 10000), 1);
        slot_look(&slot, &event);
        assert_int_equal(event.verdict, VERDICT_TAMPER_SUSPECTED);
        assert_true(slot_culprit(&slot, &event, &out));
        assert_string_equal(out.name, "cheat-nn");
        slot_event_free(&event);
    }
    close(fd);
}

/* The worker says that a plugin's own process has ended, and the page how. */
static void the_end_of_a_plugin_is_the_end_of_its_worker(void **state)
{
    struct slot_event event = {0};
    struct error err;
    int pair[2];
    (void)state;
    slot_kill(&slot);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(stage_page_create(&slot.process.page, &page_fd, &err), 0);
    stage_page_write(slot.process.page, "a-nn", "measure", 60);
    slot.process.pid = fork();
    if (slot.process.pid == 0) {
        stage_page_write_plugin_end(slot.process.page, SIGSEGV);
        _exit(PROTOCOL_PLUGIN_ENDED);
    }
    close(pair[1]); /* the child has it */
    slot.process.fd = pair[0];
    slot.reader = (struct line_reader){.fd = pair[0]};
    slot.state = SLOT_BUSY;
    for (int i = 0; i < 1000 && event.kind != SLOT_LOST; i++) {
        slot_look(&slot, &event);
        usleep(1000);
    }
    assert_int_equal(event.kind, SLOT_LOST);
    assert_int_equal(event.verdict, VERDICT_CRASH);
    assert_non_null(strstr(event.reason, "signal 11"));
    slot_event_free(&event);
}

/* Its thread stands still until it is answered. */
static void a_call_waits_for_its_answer(void **state)
{
    struct listener_call call;
    int written[2], fd = listen_to_writes();
    struct pollfd asked = {.fd = fd, .events = POLLIN};
    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(pipe(written), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_elsewhere() == -1 && errno == EPERM && write(written[1], "x", 1) == 1 ? 0 : 1);
    const struct listener l = {.fds = {fd}, .n = 1};
    assert_int_equal(poll(&asked, 1, 10000), 1);
    assert_true(listener_hear(&l, &call));
    assert_int_equal(call.thread, pid);
    struct pollfd gone_on = {.fd = written[0], .events = POLLIN};
    assert_int_equal(poll(&gone_on, 1, 30), 0);
    listener_refuse(&call);
    assert_int_equal(poll(&gone_on, 1, 10000), 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(written[0]);
    close(written[1]);
    close(fd);
}

/* ---- directories ---- */

/* Whatever the worker left there, links included, is gone, and nothing that a link leads to. */
static void directories_go_with_their_workers(void **state)
{
    char deep[300], outside[] = "/tmp/cudal2-test-slot-XXXXXX";
    struct stat st;
    (void)state;
    assert_true(mkdtemp(outside) != NULL);
    setenv("TMPDIR", outside, 1);
    struct worker_directory made = worker_directory_make();
    const char *path = made.path;
    assert_non_null(path);
    assert_true(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
    snprintf(deep, sizeof deep, "%s/a", path);
    assert_int_equal(mkdir(deep, 0700), 0);
    snprintf(deep, sizeof deep, "%s/a/link", path);
    assert_int_equal(symlink("/tmp", deep), 0);
    snprintf(deep, sizeof deep, "%s/closed", path);
    assert_int_equal(mkdir(deep, 0), 0);
    worker_directory_remove(&made);
    assert_null(made.path);
    assert_int_equal(rmdir(outside), 0);
    assert_int_equal(stat("/tmp", &st), 0);
    setenv("CUDAL2_ISOLATION", "off", 1);
    assert_null(worker_directory_make().path);
    unsetenv("CUDAL2_ISOLATION");
    setenv("TMPDIR", "/nowhere", 1);
    assert_null(worker_directory_make().path); /* the worker has everybody's then, and its record says so */
    unsetenv("TMPDIR");
}

/* What a maker that was killed has left goes when the next one comes; what is in use stays. */
static void abandoned_directories_are_removed(void **state)
{
    char base[] = "/tmp/cudal2-test-slot-XXXXXX", left[128];
    struct stat st;
    (void)state;
    assert_true(mkdtemp(base) != NULL);
    setenv("TMPDIR", base, 1);
    struct worker_directory first = worker_directory_make();
    snprintf(left, sizeof left, "%s/cudal2-worker-left", base);
    assert_int_equal(mkdir(left, 0700), 0);
    struct worker_directory second = worker_directory_make();
    assert_true(first.path && second.path && strcmp(first.path, second.path) != 0);
    assert_int_equal(stat(first.path, &st), 0);
    assert_int_equal(stat(second.path, &st), 0);
    assert_int_not_equal(stat(left, &st), 0);
    worker_directory_remove(&first);
    worker_directory_remove(&second);
    assert_int_equal(rmdir(base), 0);
    unsetenv("TMPDIR");
}

#define ON_SLOT(test) cmocka_unit_test_setup_teardown(test, open_slot, close_slot)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SLOT(honest_notes_pass),
        ON_SLOT(a_note_is_judged_when_it_is_whole),
        ON_SLOT(a_slow_clock_is_seen),
        ON_SLOT(a_fast_clock_is_seen),
        ON_SLOT(nobody_is_named_where_several_ran),
        ON_SLOT(a_machine_that_stood_still_is_no_hang),
        cmocka_unit_test(what_has_ended_is_listened_to_no_more), /* ahead of those that filter this process */
        ON_SLOT(who_made_a_denied_call_is_named),
        ON_SLOT(the_end_of_a_plugin_is_the_end_of_its_worker),
        cmocka_unit_test(a_call_waits_for_its_answer),
        cmocka_unit_test(directories_go_with_their_workers),
        cmocka_unit_test(abandoned_directories_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
