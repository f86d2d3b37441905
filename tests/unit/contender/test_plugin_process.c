/* contender/plugin_process, plugin_remote: a plugin in a process of its own multiplies as it does elsewhere, stands
 * still when it is not asked, shares nothing but the matrices, and is missed when it dies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "contender/plugin_place.h"
#include "contender/plugin_remote.h"
#include "device/host_pages.h"

static const struct device_info cpu = {.kind = "cpu", .device_bit = CUDAL2_ON_CPU, .threads = 1};

static struct host_pages *pages;
static struct plugin_processes *processes;
static struct plugin plugin;
static struct contender contender;
static float *a, *b, *c;
static struct cudal2_operands set;
static pid_t begun_pid;
static unsigned entered;

static void enter(void *context)
{
    (void)context;
    entered++; /* over there */
    signal(SIGSEGV, SIG_DFL);
}

static void begun(void *context, pid_t pid)
{
    (void)context;
    begun_pid = pid;
}

/* The test that has one die runs in a process of its own, and ends as it did. */
static void ended(void *context, int status)
{
    (void)context;
    _exit(WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status));
}

static void forged(void *context)
{
    (void)context;
    _exit(77);
}

static void open_plugin(const char *name, struct plugin *out)
{
    char here[512], path[1024];
    struct error err = {0};
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    snprintf(path, sizeof path, "%s/plugins/%s.so", here, name);
    if (remote_plugin_open(processes, path, &cpu, out, &err))
        fail_msg("%s", err.text);
}

static int open_on(const cpu_set_t *processors, bool alone)
{
    struct plugin_processes_request request = {
        .alone = alone, .enter = enter, .begun = begun, .ended = ended, .forged = forged};
    request.harness = request.plugins = *processors;
    assert_int_equal(host_pages_open(1u << 30, &pages), 0);
    assert_int_equal(host_pages_share(pages), 0);
    request.apart = host_pages_apart(pages);
    a = host_pages_take(pages, 6 * sizeof *a);
    b = host_pages_take(pages, 6 * sizeof *b);
    c = host_pages_take(pages, 4 * sizeof *c);
    memcpy(a, (const float[]){1, 2, 3, 4, 5, 6}, 6 * sizeof *a);
    memcpy(b, (const float[]){1, 0, 2, 1, 0, 3}, 6 * sizeof *b);
    set = (struct cudal2_operands){a, b, c};
    processes = plugin_processes_open(&request);
    open_plugin("counts", &plugin);
    plugin_contender(&plugin, 0, ROLE_CANDIDATE, &contender);
    return 0;
}

static int open_with(bool alone)
{
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    return open_on(&all, alone);
}

static int open_all(void **state)
{
    (void)state;
    return open_with(true);
}

/* As where there are several processors. */
static int open_beside(void **state)
{
    (void)state;
    return open_with(false);
}

/* As in a worker, which takes no signals. */
static int open_without_signals(void **state)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = open_beside(state);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* As where somebody else has all processors but one. */
static int open_crowded(void **state)
{
    cpu_set_t one;
    (void)state;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    return open_on(&one, false);
}

static int close_all(void **state)
{
    (void)state;
    remote_plugin_close(&plugin);
    plugin_processes_close(processes);
    host_pages_close(pages);
    return 0;
}

static struct cudal2_setup setup_of(const char *variant)
{
    return (struct cudal2_setup){
        .problem = {.m = 2, .n = 2, .k = 3, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32, .alpha = 1},
        .sets = &set,
        .n_sets = 1,
        .variant = variant};
}

static void *set_up(const char *variant)
{
    const struct cudal2_setup setup = setup_of(variant);
    char why[CUDAL2_WHY];
    void *state = NULL;
    assert_int_equal(contender.ops->setup(&contender, &setup, &state, why), CUDAL2_OK);
    return state;
}

static void it_multiplies_and_answers(void **unused)
{
    char why[CUDAL2_WHY] = "", text[256];
    const struct cudal2_setup setup = setup_of(NULL);
    struct cudal2_variant listed[2];
    (void)unused;
    assert_string_equal(contender.name, "counts-nn");
    assert_string_equal(contender.family, "counts");
    assert_int_equal(entered, 0); /* not in this process */
    void *state = set_up(NULL);
    assert_int_equal(contender.ops->launch(&contender, state, 0, why), CUDAL2_OK);
    assert_memory_equal(c, ((const float[]){5, 11, 14, 23}), 4 * sizeof *c);
    assert_int_equal(contender.ops->describe(&contender, state, text, sizeof text), CUDAL2_OK);
    assert_string_equal(text, "{\"deed\":\"n\"}");
    contender.ops->teardown(&contender, state);
    assert_int_equal(contender.ops->list_variants(&contender, &setup, listed, 2, why), 2);
    assert_string_equal(listed[1].key, "n1");
    assert_int_equal(plugin_versions(&plugin, text, sizeof text), CUDAL2_OK);
    assert_string_equal(text, "{\"counts\":\"1\"}");
}

static void what_setup_is_handed_stays_until_teardown(void **unused)
{
    char why[CUDAL2_WHY];
    (void)unused;
    void *first = set_up("handed"), *second = set_up("here");
    assert_int_equal(contender.ops->launch(&contender, first, 0, why), CUDAL2_LIBRARY_ERROR);
    assert_string_equal(why, "A begins with 1, sets 1, variant handed");
    assert_int_equal(contender.ops->launch(&contender, second, 0, why), CUDAL2_LIBRARY_ERROR);
    assert_string_equal(why, "A begins with 1, sets 1, variant here");
    contender.ops->teardown(&contender, first);
    assert_int_equal(contender.ops->launch(&contender, second, 0, why), CUDAL2_LIBRARY_ERROR);
    assert_string_equal(why, "A begins with 1, sets 1, variant here");
    contender.ops->teardown(&contender, second);
}

static void a_reason_is_one_line(void **unused)
{
    const struct cudal2_setup setup = setup_of("unable");
    char why[CUDAL2_WHY];
    void *state;
    (void)unused;
    assert_int_equal(contender.ops->setup(&contender, &setup, &state, why), CUDAL2_UNSUPPORTED);
    assert_null(strchr(why, '\n'));
    assert_memory_equal(why, "not", 3);
}

/* Its process holds no file by which it could map what others have. */
static void its_matrices_are_its_own(void **unused)
{
    char why[CUDAL2_WHY], path[300], target[64];
    (void)unused;
    char *mine = host_apart_take(host_pages_apart(pages), 3 * 4096);
    assert_true(contender.ops->lend(&contender, mine, mine + 3 * 4096, false));
    assert_false(contender.ops->lend(&contender, a, a + 4096, false)); /* shared by all */
    set = (struct cudal2_operands){mine, mine + 4096, mine + 8192};
    memcpy(mine, a, 6 * sizeof *a);
    memcpy(mine + 4096, b, 6 * sizeof *b);
    void *state = set_up(NULL);
    assert_int_equal(contender.ops->launch(&contender, state, 0, why), CUDAL2_OK);
    assert_memory_equal(mine + 8192, ((const float[]){5, 11, 14, 23}), 4 * sizeof *c);
    contender.ops->teardown(&contender, state);
    for (int fd = 0; fd < 64; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)begun_pid, fd);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        assert_null(strstr(target, "memfd"));
    }
}

static bool counts_on(void)
{
    volatile const float *counted = c;
    float before = *counted;
    usleep(30000);
    return *counted != before;
}

static void its_threads_stand_still_when_nothing_is_asked(void **unused)
{
    (void)unused;
    void *state = set_up("counting");
    assert_false(counts_on());
    contender.ops->wake(&contender);
    contender.ops->wake(&contender);
    assert_true(counts_on());
    contender.ops->rest(&contender);
    assert_true(counts_on()); /* woken twice */
    contender.ops->rest(&contender);
    assert_false(counts_on());
    contender.ops->teardown(&contender, state);
}

/* Not in the launch's own turn either way: what its handler does there it does on time that counts. */
static void no_handler_runs_between_going_on_and_a_launch(void **unused)
{
    static const char *const deeds[] = {"takes", "later"};
    char why[CUDAL2_WHY] = "";
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        void *state = set_up(deeds[i]);
        for (int launch = 0; launch < 200; launch++)
            if (contender.ops->launch(&contender, state, 0, why) != CUDAL2_OK)
                fail_msg("%s, launch %d: %s", deeds[i], launch, why);
        contender.ops->teardown(&contender, state);
    }
}

static bool is_in_memory(const void *page)
{
    unsigned char there = 0;
    assert_int_equal(mincore((void *)(uintptr_t)page, 1, &there), 0);
    return there & 1;
}

/* Nobody has touched the pages of these matrices. */
static void *watching(bool inputs, char *pages_of[3])
{
    for (int i = 0; i < 3; i++)
        pages_of[i] = host_pages_take(pages, 4096);
    set = (struct cudal2_operands){pages_of[0], pages_of[1], pages_of[2]};
    void *state = set_up(NULL);
    contender.ops->wake(&contender);
    const struct contender_range ranges[CONTENDER_WATCHED] = {
        {pages_of[2], 4096}, {pages_of[0], inputs ? 4096 : 0}, {pages_of[1], inputs ? 4096 : 0}};
    contender.ops->watch(&contender, ranges);
    for (int i = 0; i < 1000 && !(is_in_memory(pages_of[2]) && (!inputs || is_in_memory(pages_of[1]))); i++)
        usleep(10000);
    return state;
}

static void it_watches_matrices_until_it_is_asked(void **unused)
{
    char why[CUDAL2_WHY], *pages_of[3];
    const float ones[] = {1, 1, 1, 1, 1, 1};
    (void)unused;
    void *state = watching(false, pages_of);
    contender.ops->rest(&contender);
    assert_true(is_in_memory(pages_of[2]));
    assert_false(is_in_memory(pages_of[0]) || is_in_memory(pages_of[1]));
    contender.ops->teardown(&contender, state);
    state = watching(true, pages_of);
    assert_true(is_in_memory(pages_of[0]) && is_in_memory(pages_of[1]) && is_in_memory(pages_of[2]));
    memcpy(pages_of[0], ones, sizeof ones);
    memcpy(pages_of[1], ones, sizeof ones);
    assert_int_equal(contender.ops->launch(&contender, state, 0, why), CUDAL2_OK);
    assert_memory_equal(pages_of[2], ((const float[]){3, 3, 3, 3}), 4 * sizeof(float));
    contender.ops->rest(&contender);
    contender.ops->teardown(&contender, state);
}

/* Has it launch and rest; whether its thread was in its place then. */
static bool comes_back(const char *variant, unsigned launches)
{
    char why[CUDAL2_WHY];
    bool there = true;
    void *state = set_up(variant);
    for (unsigned i = 0; i < launches; i++) {
        contender.ops->wake(&contender);
        assert_int_equal(contender.ops->launch(&contender, state, 0, why), CUDAL2_OK);
        there = contender.ops->rest(&contender) && there;
    }
    if (there) /* else it is asked for no more than it answers by itself */
        contender.ops->teardown(&contender, state);
    return there;
}

static void a_thread_that_comes_back_is_in_its_place(void **unused)
{
    (void)unused;
    assert_true(comes_back(NULL, 200));
    assert_true(comes_back("k", 200)); /* on a stack of its own meanwhile */
}

static void a_thread_that_answers_by_itself_is_not(void **unused)
{
    struct plugin_place place;
    (void)unused;
    if (!plugin_place_read(begun_pid, &place))
        skip(); /* this system does not tell */
    assert_false(comes_back("a", 3));
}

static void a_place_is_judged_by_its_code_and_its_stack(void **unused)
{
    const uint64_t loop = 0x7ffd00001000, ours = (uint64_t)(uintptr_t)plugin_place_read;
    const uint64_t libc = (uint64_t)(uintptr_t)sched_yield, data = (uint64_t)(uintptr_t)&plugin;
    (void)unused;
    assert_true(plugin_place_is_in(&(struct plugin_place){loop, ours}, loop));
    assert_true(plugin_place_is_in(&(struct plugin_place){loop - 8, libc}, loop));
    assert_true(plugin_place_is_in(&(struct plugin_place){1, ours}, 0));
    assert_false(plugin_place_is_in(&(struct plugin_place){loop, data}, loop));
    assert_false(plugin_place_is_in(&(struct plugin_place){loop - 256, libc}, loop)); /* called by a hook */
    assert_false(plugin_place_is_in(&(struct plugin_place){loop + 256, ours}, loop));
}

static void its_memory_is_its_own(void **unused)
{
    static volatile int mine = 3;
    char why[CUDAL2_WHY], address[32];
    struct plugin other;
    (void)unused;
    snprintf(address, sizeof address, "%jx", (uintmax_t)(uintptr_t)&mine);
    setenv("CUDAL2_TEST_ADDRESS", address, 1);
    pid_t first = begun_pid;
    open_plugin("counts", &other); /* it has the variable */
    assert_int_not_equal(begun_pid, first);
    plugin_contender(&other, 0, ROLE_CANDIDATE, &contender);
    void *state = set_up("writes");
    assert_int_equal(contender.ops->launch(&contender, state, 0, why), CUDAL2_OK);
    assert_int_equal(mine, 3);
    assert_memory_equal(c, ((const float[]){5, 11, 14, 23}), 4 * sizeof *c);
    remote_plugin_close(&other);
    unsetenv("CUDAL2_TEST_ADDRESS");
}

static int end_of_one_that(const char *deed)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        char why[CUDAL2_WHY];
        open_all(NULL);
        (void)contender.ops->launch(&contender, set_up(deed), 0, why);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void its_end_is_told(void **unused)
{
    (void)unused;
    assert_int_equal(end_of_one_that("segfaults"), 100 + SIGSEGV);
    assert_int_equal(end_of_one_that("ends"), 9);
    assert_int_equal(end_of_one_that("guesses"), 77);
    assert_int_equal(end_of_one_that("nothing"), 0);
}

static void one_that_cannot_be_loaded_is_told(void **unused)
{
    struct error err = {0};
    struct plugin none;
    (void)unused;
    assert_int_equal(remote_plugin_open(processes, "/nowhere/none.so", &cpu, &none, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "/nowhere/none.so"));
    assert_null(none.remote);
}

static void it_ends_with_the_harness(void **unused)
{
    int numbers[2];
    pid_t pid = 0;
    (void)unused;
    assert_int_equal(pipe(numbers), 0);
    pid_t harness = fork();
    if (harness == 0) {
        open_all(NULL);
        (void)!write(numbers[1], &begun_pid, sizeof begun_pid);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(read(numbers[0], &pid, sizeof pid), sizeof pid);
    assert_int_equal(waitpid(harness, NULL, 0), harness);
    bool there = true;
    for (int i = 0; i < 500 && there; i++) {
        char path[64], line[256];
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "r");
        there = file && fgets(line, sizeof line, file) && !strstr(line, ") Z ");
        if (file)
            fclose(file);
        usleep(10000);
    }
    assert_false(there);
    close(numbers[0]);
    close(numbers[1]);
}

/* Who waits on the processor that the other needs gives it up long before the kernel takes it, after some milliseconds.
 */
static void who_waits_long_gives_way(void **unused)
{
    enum { LAUNCHES = 20 };
    char why[CUDAL2_WHY];
    (void)unused;
    void *state = set_up(NULL);
    uint64_t before = clock_thread_ns();
    for (int i = 0; i < LAUNCHES; i++)
        assert_int_equal(contender.ops->launch(&contender, state, 0, why), CUDAL2_OK);
    assert_in_range(clock_thread_ns() - before, 0, LAUNCHES * 1500000);
    contender.ops->teardown(&contender, state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_multiplies_and_answers, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_setup_is_handed_stays_until_teardown, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_reason_is_one_line, open_all, close_all),
        cmocka_unit_test_setup_teardown(its_threads_stand_still_when_nothing_is_asked, open_all, close_all),
        cmocka_unit_test_setup_teardown(no_handler_runs_between_going_on_and_a_launch, open_without_signals, close_all),
        cmocka_unit_test_setup_teardown(it_watches_matrices_until_it_is_asked, open_beside, close_all),
        cmocka_unit_test_setup_teardown(who_waits_long_gives_way, open_crowded, close_all),
        cmocka_unit_test_setup_teardown(a_thread_that_comes_back_is_in_its_place, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_thread_that_comes_back_is_in_its_place, open_beside, close_all),
        cmocka_unit_test_setup_teardown(a_thread_that_comes_back_is_in_its_place, open_crowded, close_all),
        cmocka_unit_test_setup_teardown(a_thread_that_answers_by_itself_is_not, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_thread_that_answers_by_itself_is_not, open_beside, close_all),
        cmocka_unit_test(a_place_is_judged_by_its_code_and_its_stack),
        cmocka_unit_test_setup_teardown(its_matrices_are_its_own, open_all, close_all),
        cmocka_unit_test_setup_teardown(its_memory_is_its_own, open_all, close_all),
        cmocka_unit_test_setup_teardown(its_end_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_loaded_is_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(it_ends_with_the_harness, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
