#!/bin/bash
# NVTX ranges of cells and contenders, as a profiler sees them: a stand-in for its library writes them down,
# and asks for as much as NVIDIA's do.
# Where NVTX's own headers are installed the stand-in is tried with them first, so that both sides speak the
# protocol that they do.
# Times nothing.
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
cat >"$work/tool.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
typedef void (*function)(void);
struct callbacks { size_t size; int (*table)(int module, function ***table, unsigned *count); };
struct version { size_t size; uint32_t version, reserved; void (*set)(uint32_t); };
static void put(const char *what, const char *name)
{
    FILE *f = fopen(getenv("CUDAL2_TEST_RANGES"), "a");
    if (f) {
        fprintf(f, "%d %s %s\n", (int)getpid(), what, name);
        fclose(f);
    }
}
static int push(const char *name) { put("push", name); return 0; }
static int pop(void) { put("pop", ""); return 0; }
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t))
{
    /* What CUPTI and Nsight's library fill in, each: core, CUDA, OpenCL, CUDART, core2, sync. */
    static const unsigned wanted[] = {0, 16, 9, 15, 7, 16, 7};
    const struct callbacks *c = export_table(1);
    const struct version *v = export_table(3);
    function **table = NULL;
    unsigned count = 0;
    if (!c || c->size < sizeof *c || !v || v->size < sizeof *v || v->version < 2)
        return 0;
    for (int module = 6; module > 0; module--) {
        if (!c->table(module, &table, &count) || count < wanted[module])
            return 0;
        for (unsigned i = 1; i < count; i++)
            *table[i] = NULL;
    }
    *table[9] = (function)push;
    *table[11] = (function)pop;
    return 1;
}
END
cc -shared -fPIC -o "$work/tool.so" "$work/tool.c" || { echo "skipped: no compiler"; exit 77; }
export CUDAL2_TEST_RANGES=$work/ranges

headers=${CUDA_HOME:-/usr/local/cuda}/include
if [ -e "$headers/nvtx3/nvToolsExt.h" ]; then
    printf '#include <nvtx3/nvToolsExt.h>\nint main(void) { nvtxRangePushA("theirs"); nvtxRangePop(); return 0; }\n' >"$work/theirs.c"
    cc -I"$headers" -o "$work/theirs" "$work/theirs.c" -ldl && NVTX_INJECTION64_PATH=$work/tool.so "$work/theirs"
    [ "$(sed 's/^[0-9]* //' "$work/ranges" | tr -s ' \n' ' ')" = "push theirs pop " ]
    verdict $? "NVTX's own headers and the stand-in understand each other" "$(cat "$work/ranges")"
    rm -f "$work/ranges"
fi

cat >"$work/check.py" <<'END'
import sys
depth, seen, cells = [], [], set(sys.argv[2:])
for line in open(sys.argv[1]):
    _, what, name = line.rstrip("\n").split(" ", 2)
    if what == "push":
        assert len(depth) < 2, (depth, name)
        assert (name in cells) == (not depth), (depth, name)
        depth.append(name)
        seen.append(" / ".join(depth))
    else:
        depth.pop()
assert not depth, depth
for cell in cells:
    assert cell in seen and cell + " / honest-nn: setup" in seen and cell + " / harness: verify" in seen, seen
print("\n".join(seen))
END
check() { # check NAME CELL...: every range is closed, cells outside, turns of contenders inside
    local name=$1
    shift
    python3 "$work/check.py" "$work/ranges" "$@" >"$work/seen" 2>"$work/err"
    verdict $? "$name" "$(tail -1 "$work/err")"
}
export NVTX_INJECTION64_PATH=$work/tool.so
run verify "$plugins/honest.so" --device cpu --shape 16x24x32 --shape 32x32x32 --in-process --baselines none
expect_code 0 "verify --in-process under a profiler"
check "a range for each cell, and for each turn in it" offline/f32-f32-16x24x32 offline/f32-f32-32x32x32
rm -f "$work/ranges"
config "$work/c.json" '{"m": 16, "n": 24, "k": 32}' '"server"' "\"$plugins/steady.so\"" \
    '"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 4, "max_cell_seconds": 5}'
CUDAL2_ISOLATION=off run run --config "$work/c.json" --device cpu --output "$work/r.json"
expect_code 0 "a run under a profiler, without isolation"
check "has them in its worker" server/f32-f32-16x24x32
expect_text "$work/seen" '^server/f32-f32-16x24x32 / steady-nn: measure$' "and where each contender is timed"
rm -f "$work/ranges"
run run --config "$work/c.json" --device cpu --output "$work/s.json"
expect_code 0 "a run with its isolation"
[ ! -e "$work/ranges" ]
verdict $? "loads no library that the environment names"
NVTX_INJECTION64_PATH=$work/none.so run verify "$plugins/honest.so" --device cpu --shape 16x24x32 --in-process --baselines none
expect_code 0 "a profiler whose library is not there"
expect_text "$work/err" '^no NVTX ranges: .*none.so \(NVTX_INJECTION64_PATH\) is no library of a profiler$' "is named, and harms nothing"
finish
