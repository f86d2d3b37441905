/* device/chips: an architecture has its usual GPUs one after the other, each with figures of its own, and an unknown
 * one is refused with the list of those there are, each once. */
#include "device/chips.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void hopper_is_an_h200_and_an_h100(void **state)
{
    const struct chip *chip;
    struct error err;
    (void)state;
    assert_int_equal(chip_find(NULL, &chip, &err), 0);
    assert_string_equal(chip_info(chip).name, "NVIDIA H200");
    assert_true(chip_info(chip).l2_bytes == 60u << 20);
    chip = chip_next(chip);
    assert_non_null(chip);
    struct device_info h100 = chip_info(chip); /* as an H100 SXM described itself to the CUDA driver */
    assert_string_equal(h100.name, "NVIDIA H100 80GB HBM3");
    assert_int_equal(h100.cc, 90);
    assert_int_equal(h100.sm_count, 132);
    assert_true(h100.l2_bytes == 52428800);
    assert_true(h100.peak_flops == 1070530560000000.0);
    assert_true(h100.peak_bytes_per_s > 3.35e12 && h100.peak_bytes_per_s < 3.36e12);
    assert_null(chip_next(chip));
}

static void the_last_architecture_ends(void **state)
{
    const struct chip *chip;
    struct error err;
    (void)state;
    assert_int_equal(chip_find("sm_120", &chip, &err), 0);
    assert_null(chip_next(chip));
}

static void an_unknown_one_is_told_what_there_is(void **state)
{
    const struct chip *chip;
    struct error err;
    (void)state;
    assert_int_not_equal(chip_find("sm_70", &chip, &err), 0);
    assert_non_null(strstr(err.text, "expected sm_80, sm_86, sm_89, sm_90, sm_100, sm_103, sm_120)"));
}

/* The expected ones are those of cudaOccMaxActiveBlocksPerMultiprocessor (cuda_occupancy.h of CUDA 13), with which all
 * of 1.5 million launches of 16 to 255 registers agreed. */
static void blocks_of_a_multiprocessor(void **state)
{
    static const struct {
        const char *arch;
        struct chip_launch launch;
        unsigned blocks, warps;
    } known[] = {
        {"90", {128, 256, 0}, 2, 64},      {"90", {32, 1024, 0}, 2, 64},     {"90", {17, 32, 0}, 32, 64},
        {"90", {168, 128, 102400}, 2, 64}, {"90", {64, 128, 232448}, 1, 64}, {"90", {64, 128, 232449}, 0, 64},
        {"90", {255, 1024, 0}, 0, 64},     {"80", {64, 256, 49152}, 3, 64},  {"86", {25, 160, 0}, 9, 48},
        {"89", {32, 32, 0}, 24, 48},       {"120", {40, 256, 20000}, 4, 48}, {"100", {96, 384, 65536}, 1, 64},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct chip *chip;
        struct error err;
        assert_int_equal(chip_find(known[i].arch, &chip, &err), 0);
        if (chip_blocks(chip, &known[i].launch) != known[i].blocks)
            fail_msg("%zu: %u", i, chip_blocks(chip, &known[i].launch));
        assert_int_equal(chip_warps(chip), known[i].warps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hopper_is_an_h200_and_an_h100),
        cmocka_unit_test(the_last_architecture_ends),
        cmocka_unit_test(an_unknown_one_is_told_what_there_is),
        cmocka_unit_test(blocks_of_a_multiprocessor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
