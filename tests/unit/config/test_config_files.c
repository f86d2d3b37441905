/* Configs: files that cannot be read. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

static void test_bad_files(void **state)
{
    char path[] = "/tmp/test_config_XXXXXX";
    static const struct config zero;
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(config_load("/nonexistent/c.json", &c, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "/nonexistent/c.json: cannot be read: No such file or directory");
    int fd = mkstemp(path);
    assert_int_equal(config_load(path, &c, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, ": empty"));
    if (ftruncate(fd, 100 << 20) == 0)
        assert_int_equal(config_load(path, &c, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, ": 104857600 bytes, the limit is 3145728"));
    assert_memory_equal(&c, &zero, sizeof c);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
