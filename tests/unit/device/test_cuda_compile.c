/* device/cuda_compile: the harness's own kernels are in the cache before the first cell asks for them. */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

static int count_cubins(void)
{
    char path[256];
    int count = 0;
    snprintf(path, sizeof path, "%s/cubin", getenv("CUDAL2_CACHE"));
    DIR *directory = opendir(path);
    for (struct dirent *entry = directory ? readdir(directory) : NULL; entry; entry = readdir(directory))
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

/* What a cell of f32 operands uses of the harness's own is in the cache before the cell. */
static void own_kernels_are_compiled_ahead(void **state)
{
    static const enum harness_kernel used[] = {KERNEL_FILL_MANY,    KERNEL_FLUSH_READ, KERNEL_REFERENCE,
                                               KERNEL_COUNTS,       KERNEL_COMPARE,    KERNEL_REFERENCE_WIDE,
                                               KERNEL_COMPARE_WIDE, KERNEL_ROWS_TIMES, KERNEL_DISTURB};
    struct error err;
    cu_function function;
    (void)state;
    int before = count_cubins();
    cuda_compile_of(d, CUDAL2_F32, 2);
    int after = count_cubins();
    assert_true(after >= before + 9);
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        bool laid = used[i] == KERNEL_REFERENCE || used[i] == KERNEL_COUNTS || used[i] == KERNEL_REFERENCE_WIDE;
        int variant = used[i] == KERNEL_FLUSH_READ ? 0 : (int)CUDAL2_F32 * 2 + laid;
        assert_int_equal(cuda_kernel_get(cuda_of(d), used[i], variant, &function, &err), 0);
    }
    assert_int_equal(count_cubins(), after);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-compile-XXXXXX";
    const struct CMUnitTest tests[] = {ON_MOCK(own_kernels_are_compiled_ahead)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
