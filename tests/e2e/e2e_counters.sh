#!/bin/bash
# Hardware counters without a GPU: `verify --one-launch` launches once and the variant that was named, `verify
# --counters` and a submission say why there are none and change nothing else. What a real ncu counts:
# tests/gpu/gpu_counters.sh; what is made of its output: tests/unit/run/test_counters.c.
# Times nothing.
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
cat >"$work/counted.c" <<'END'
#include "bad.h"
static int counted(void *state, size_t set, char *why)
{
    FILE *f = fopen(getenv("CUDAL2_TEST_LAUNCHES"), "a");
    if (f) {
        fputs("x", f);
        fclose(f);
    }
    return honest_launch(state, set, why);
}
BAD_CONTENDER("counted-nn", honest_setup, counted);
BAD_ENTRY("counted")
const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
END
cc -shared -fPIC -I"$top/harness" -I"$top/tests/fixtures/plugins" -o "$work/counted.so" "$work/counted.c" || { echo "skipped: no compiler"; exit 77; }
export CUDAL2_TEST_LAUNCHES=$work/launches
here=(--in-process --baselines none --device cpu)

# --- one launch ---
run verify "$work/counted.so" "${here[@]}" --one-launch --shape 16x24x32 --shape 32x32x32
expect_code 0 "one launch of each kernel"
expect_text "$work/out" '^f32-f32-16x24x32 +counted-nn +launched once$' "is told"
[ "$(cat "$work/launches")" = xx ]
verdict $? "and is one for each problem" "$(cat "$work/launches")"
run verify "$plugins/tunable.so" "${here[@]}" --one-launch=tunable-nn=crash --shape 16x24x32
[ "$code" -ge 128 ]
verdict $? "the variant that is named is launched" "exit status $code"
run verify "$plugins/tunable.so" "${here[@]}" --one-launch=tunable-nn=small --shape 64x24x32
expect_code 2 "a variant that does not take the problem"
expect_text "$work/err" 'small is for M up to 32' "says so"
run verify "$plugins/tunable.so" "${here[@]}" --one-launch=tunable-tn --shape 16x24x32
expect_code 2 "a contender that is not there"
printf '64x24x32 tunable-nn=large\n-\n16x24x32 tunable-nn=small\n64x24x32 tunable-nn=small\n16x24x32 tunable-nn\n' >"$work/list"
run verify "$plugins/tunable.so" "${here[@]}" --one-launch=@"$work/list" --shape 16x24x32 --shape 64x24x32
expect_code 2 "a list with one that is not launched"
[ "$(sed 's/^f32-f32-\([0-9x]*\) *\([a-z-]*\) *\(launched once\|not launched\).*/\1 \3/' "$work/out" | tr '\n' ,)" = "64x24x32 launched once,16x24x32 launched once,64x24x32 not launched,16x24x32 launched once," ]
verdict $? "all others are launched, in the list's order" "$(cat "$work/out")"
echo 16x24x48 tunable-nn >"$work/list"
run verify "$plugins/tunable.so" "${here[@]}" --one-launch=@"$work/list" --shape 16x24x32
expect_code 65 "a listed shape that the config does not have"
run verify "$plugins/honest.so" --device cpu --one-launch --shape 16x24x32
expect_code 64 "it needs --in-process"

# --- counters ---
run verify "$plugins/honest.so" --device cpu --counters --shape 16x24x32 --quiet
expect_code 0 "verify --counters without a GPU passes"
expect_text "$work/out" '^    no counters: the device is no GPU' "and says why there are none"
run verify "$plugins/honest.so" --device cpu --counters=dram__bytes.sum --shape 16x24x32 --format json
expect_text "$work/out" '"unavailable":.*the device is no GPU' "in JSON too"
run verify "$plugins/honest.so" --device cpu --counters='dram__bytes.sum,--set' --shape 16x24x32
expect_code 64 "what is no metric's name never comes near ncu"
finish
