/* base/stack_guard: a word above a frame that changes while others run is seen, and what may change is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/stack_guard.h"

#define CODE 95
/* Where a sanitizer looks for frames that are used after they have ended, it keeps locals elsewhere than on the stack.
 */
#define ON_THE_STACK __attribute__((noinline, no_sanitize("address")))

struct above {
    uint64_t words[8];
    char why[40];
};

typedef void (*stranger)(struct above *above);

static void changes_nothing(struct above *above)
{
    (void)above;
}

static void changes_a_word(struct above *above)
{
    ((volatile uint64_t *)above->words)[5] ^= 1;
}

static void gives_a_reason(struct above *above)
{
    memset(above->why, 'x', sizeof above->why);
}

static __attribute__((noinline)) bool guarded(struct above *above, stranger call, bool with_reason)
{
    struct stack_guard guard;
    stack_guard_begin(&guard, __builtin_frame_address(0), with_reason ? above->why : NULL,
                      with_reason ? sizeof above->why : 0);
    call(above);
    return stack_guard_end(&guard);
}

/* As in a launch: `above` lies in a caller's frame. */
static ON_THE_STACK bool kept(stranger call, bool with_reason)
{
    struct above above = {{0}, ""};
    bool good = guarded(&above, call, with_reason);
    return good && above.words[0] == 0;
}

static __attribute__((noinline)) bool nested(struct above *above)
{
    struct stack_guard guard;
    stack_guard_begin(&guard, __builtin_frame_address(0), NULL, 0);
    bool inner = guarded(above, changes_a_word, false); /* it leaves that to this one */
    return inner && !stack_guard_end(&guard);
}

static ON_THE_STACK void test_what_is_seen(void **state)
{
    (void)state;
    struct above above = {{0}, ""};
    assert_true(kept(changes_a_word, false)); /* without a top nothing is guarded */
    stack_guard_top(__builtin_frame_address(0), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(kept(changes_nothing, false));
        assert_false(kept(changes_a_word, false));
        assert_false(kept(gives_a_reason, false));
        assert_true(kept(gives_a_reason, true));
    }
    assert_false(kept(changes_a_word, true));
    assert_true(nested(&above));
}

static void test_the_process_ends(void **state)
{
    int status = 0;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        stack_guard_top(__builtin_frame_address(0), CODE);
        (void)kept(changes_nothing, false);
        (void)kept(changes_a_word, false);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_seen),
        cmocka_unit_test(test_the_process_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
