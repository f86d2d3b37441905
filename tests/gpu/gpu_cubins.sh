#!/bin/bash
# Kernels compiled ahead on a GPU: from a cold cache the run compiles none of the set's itself, says so in
# each record, and has them as soon as from a warm cache; with a directory that was made of other sources it
# compiles its own.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
run_seconds=400
export CUDAL2_CUBINS=none
# Of the tables, and one that no table has.
problems=(--shape 4096x4096x4096 --shape 64x4096x2048 --shape 1000x1000x1000 --accumulate f32 --mode offline --candidate cudal2)
run compile "${problems[@]}" --output "$work/cubins"
expect_code 0 "compile"
sed 's/^/# /' "$work/out"

measure() { # measure NAME: from a cold cache
    CUDAL2_CACHE=$work/cache-$1 run run "${problems[@]}" --device cuda:0 --quiet --baselines cublaslt-heuristic --no-verify \
        --output "$work/$1.json"
    expect_code 0 "$1"
}
field() { # field NAME EXPRESSION: python over the result as `r`
    python3 -c "import json,sys; r=json.load(open(sys.argv[1])); print($2)" "$work/$1.json"
}
from='sorted(set(x["attributes"]["cubin"] for c in r["cells"] for n, x in c["contenders"].items() if n.startswith("cudal2-") and "attributes" in x))'
ready='[e["start_seconds"] for e in r["env"]]'

measure without
[ "$(field without "$from")" = "['cached']" ] || [ "$(field without "$from")" = "['cached', 'compiled']" ]
verdict $? "without a directory they are compiled, into the cache" "$(field without "$from")"
export CUDAL2_CUBINS=$work/cubins
run doctor
expect_text "$work/out" '^ok +cubins ' "doctor: all can be used"
measure ahead
[ "$(field ahead "$from")" = "['ahead']" ]
verdict $? "with one they are all from there" "$(field ahead "$from")"
[ "$(find "$work/cache-ahead/cubin" -type f 2>/dev/null | wc -l)" -le 2 ]
verdict $? "and next to nothing was compiled" "in the cache: $(python3 -c 'import pathlib, re, sys
for path in (p for p in pathlib.Path(sys.argv[1]).rglob("*") if p.is_file()):
    print(path.name, *sorted(x.decode() for x in set(re.findall(rb"\.text\.(\w+)", path.read_bytes()))), end="; ")' "$work/cache-ahead/cubin")"
echo "# seconds of the start: without $(field without "$ready"), ahead $(field ahead "$ready")"
mkdir "$work/other" && cp -R "${CUDAL2_KERNELS:-$(dirname "$0")/../../kernels}" "$work/other/kernels"
echo '// changed' >>"$work/other/kernels/persistent.cuh"
CUDAL2_KERNELS=$work/other/kernels measure stale
field stale "$from" | grep -qv ahead
verdict $? "with another header they are compiled anew" "$(field stale "$from")"
finish
