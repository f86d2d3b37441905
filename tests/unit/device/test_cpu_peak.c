/* device/cpu_peak: what no CPU can beat, from its instruction set and clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/cpu_peak.h"

static void test_flops_per_cycle(void **state)
{
    const struct {
        struct cpu_features features;
        double f32, narrow;
    } table[] = {
#if defined(__x86_64__)
        {{0}, 8, 8},
        {{.avx = true}, 16, 16},
        {{.avx = true, .avx2 = true, .fma = true}, 32, 32},
        {{.avx = true, .avx2 = true, .fma = true, .avx512 = true}, 64, 64},
        {{.avx = true, .avx2 = true, .fma = true, .avx512 = true, .avx512_bf16 = true}, 64, 128},
        {{.avx = true, .avx2 = true, .fma = true, .avx512 = true, .avx512_bf16 = true, .amx = true}, 576, 1152},
#endif
        {{.arm = true}, 32, 128},
        {{.arm = true, .sve_bytes = 16}, 32, 128},
        {{.arm = true, .sve_bytes = 64}, 64, 256},
        {{.arm = true, .sme = true}, 1056, 1152},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_true(cpu_flops_per_cycle(&table[i].features, true) == table[i].f32);
        assert_true(cpu_flops_per_cycle(&table[i].features, false) == table[i].narrow);
    }
}

static void put(const char *root, const char *cpu, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "mkdir -p %s/sys/devices/system/cpu/%s/cpufreq", root, cpu);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/%s/cpufreq/%s", root, cpu, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* A clock is taken from who counts boost; nobody is accused for what a machine hides. */
static void test_clock(void **state)
{
    char root[] = "/tmp/cudal2-cpufreq-XXXXXX", command[64];
    (void)state;
    assert_non_null(mkdtemp(root));
    assert_true(cpu_max_hz(root) == 6.5e9);
    put(root, "cpu0", "cpuinfo_max_freq", "3200000\n");
    put(root, "cpu1", "cpuinfo_max_freq", "5100000\n");
    assert_true(cpu_max_hz(root) == 6.5e9);
    put(root, "cpu0", "scaling_driver", "acpi-cpufreq\n");
    assert_true(cpu_max_hz(root) == 6.5e9);
    put(root, "cpu0", "scaling_driver", "amd-pstate-epp\n");
    assert_true(cpu_max_hz(root) == 5.1e9);
    put(root, "cpu1", "cpuinfo_max_freq", "rubbish\n");
    assert_true(cpu_max_hz(root) == 3.2e9);
    put(root, "cpu0", "cpuinfo_max_freq", "0\n");
    assert_true(cpu_max_hz(root) == 6.5e9);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

/* 377 TFLOPS on two threads were believed once. */
static void test_here(void **state)
{
    struct device_info info = {.threads = 2};
    (void)state;
    cpu_peak_read(&info);
#if defined(__x86_64__) || defined(__aarch64__)
    assert_true(info.peak_flops_f32 >= 2 * 8 * 1e8 && info.peak_flops_f32 < 20e12);
    assert_true(info.peak_flops >= info.peak_flops_f32 && info.peak_flops < 20e12);
#endif
    assert_true(info.peak_bytes_per_s > 0);
    assert_true(device_peak_flops(&info, CUDAL2_F32) == info.peak_flops_f32);
    assert_true(device_peak_flops(&info, CUDAL2_BF16) == info.peak_flops);
    info.peak_flops_f32 = 0;
    assert_true(device_peak_flops(&info, CUDAL2_F32) == info.peak_flops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flops_per_cycle),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
