#!/bin/bash
# scripts/import: a call may be ended at any time, by KILL, TERM or INT: the index has every kernel that is
# built, and the same command goes on without compiling one again. The compiler is a stand-in that notes each
# file and waits where it is told to.
# Times nothing.
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
export CC="env gcc"
top=$(cd "$(dirname "$0")/../.." && pwd)
fixtures=$top/tests/fixtures/imports
export CUDAL2_ADAPTERS=$work/none STUB=$work/stub CUDA_HOME=$work/cuda
unset CUDAL2_SHARD CUDAL2_SHARDS SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX SLURM_PROCID OMPI_COMM_WORLD_RANK
cd "$work" || exit 1
mkdir -p cuda/bin set
gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -I"$top/scripts/import" "$fixtures/counting.c" -o kernel.so || exit 1
gcc -std=c17 -D_GNU_SOURCE -I"$top/harness" "$fixtures/drive.c" -ldl -o drive || exit 1
# Notes what it is given. A file whose number is not in $STUB/go waits for $STUB/open, with a part of its
# output there; not longer than its parent lives.
cat >cuda/bin/nvcc <<'END_OF_STUB'
#!/bin/bash
[ "$1" = --version ] && { echo "a stand-in, release 1"; exit 0; }
while [ "$1" != -o ]; do case $1 in *.cu) source=$(sed -n 's/^#include "\(.*\.cu\)"$/\1/p' "$1") ;; esac; shift; done
go=" $(cat "$STUB/go") " name=${source##*/}
echo part >"$2"
echo $$ >"$STUB/$$.pid"
echo "$name" >"$STUB/$$.new"
mv "$STUB/$$.new" "$STUB/$$.file"
if [[ $go != *" all "* && $go != *" ${name%%_*} "* ]]; then
    while [ ! -e "$STUB/open" ]; do kill -0 $PPID 2>/dev/null || exit 1; sleep 0.02; done
fi
case $source in */6_16_16.cu) echo "6_16_16.cu(1): error: nonsense"; exit 2 ;; esac
cp "$work/kernel.so" "$2"
END_OF_STUB
chmod +x cuda/bin/nvcc
export work
for i in 1 2 3 4 5 6 7; do echo "void f(torch::Tensor a, torch::Tensor b, torch::Tensor b_col_major, torch::Tensor c) { /* $i */ }" >"set/${i}_16_16.cu"; done

stub() { rm -rf stub && mkdir stub && echo "$*" >stub/go; }                           # stub NUMBER...|all: other files wait
compiled() { cat stub/*.file 2>/dev/null | sort | tr '\n' ' '; }                      # which files, since
begun() { compiled | wc -w; }                                                         # so many
begin() { setsid "$top/scripts/import/import.py" set --out out --name mine --jobs 2 "$@" >out.txt 2>err </dev/null & task=$!; }
import() { timeout -k 5 120 "$top/scripts/import/import.py" set --out out --name mine --jobs 2 "$@" >out.txt 2>err </dev/null; code=$?; }
await() { # await BUILT BEGUN: so many in the index, and given to the compiler
    for _ in $(seq 1500); do
        [ "$(cat out/mine.tsv 2>/dev/null | wc -l)" -ge "$1" ] && [ "$(begun)" -ge "$2" ] && return
        sleep 0.02
    done
    verdict 1 "$1 built and $2 begun" "$(cat out/mine.tsv err)"
}
await_text() { # await_text FILE PATTERN TIMES
    for _ in $(seq 1500); do
        [ "$(grep -c "$2" "$1" 2>/dev/null)" -ge "$3" ] && return
        sleep 0.02
    done
    verdict 1 "$3 times '$2' in $1" "$(cat "$1" err)"
}
await_ends() { # of all compilers
    local pid
    for pid in $(cat stub/*.pid); do
        for _ in $(seq 1500); do is_over "$pid" && continue 2; sleep 0.02; done
        return 1
    done
}
no_parts() { [ -z "$(find out -name '*.part.*' -o -name '*.cu')" ]; }

# --- killed in the middle of a run, as at the end of a lease ---
stub 1 2 3
begin
await 3 5
await_text out/report.tsv '\bok\b' 3 # which is written after the index
kill -KILL "$task"
wait "$task" 2>/dev/null
await_ends
verdict $? "killed: its compilers see it and end"
[ "$(cut -f8 out/mine.tsv | tr '\n' ' ')" = "1_16_16.cu 2_16_16.cu 3_16_16.cu " ]
verdict $? "killed: the index has what was built" "$(cat out/mine.tsv)"
./drive out/mine.so tn 2 1 >told
expect_text told '"source":"2_16_16.cu"' "and the plugin finds it"
[ "$(cut -f1,2 out/report.tsv | tr '\n\t' ' ,')" = "file,state 1_16_16.cu,ok 2_16_16.cu,ok 3_16_16.cu,ok " ]
verdict $? "so has the report" "$(cat out/report.tsv)"
rm "$(echo out/"$(awk '$1 == 2 { print substr($7, 1, 32) }' out/mine.tsv)".json)" # killed behind the object and ahead of its record
stub all
import
expect_code 0 "the same command goes on"
[ "$(compiled)" = "4_16_16.cu 5_16_16.cu 6_16_16.cu 7_16_16.cu " ]
verdict $? "and compiles what is left alone" "$(compiled)"
[ "$(cut -f8 out/mine.tsv | tr '\n' ' ')" = "1_16_16.cu 2_16_16.cu 3_16_16.cu 4_16_16.cu 5_16_16.cu 7_16_16.cu " ]
verdict $? "the index has all that build" "$(cat out/mine.tsv)"
expect_text out/report.tsv '^6_16_16.cu	failed	[0-9.]+	6_16_16.cu\(1\): error: nonsense$' "the report says why the other does not"
no_parts
verdict $? "nothing is left of the call that was killed" "$(ls out)"
stub all
import
[ "$(compiled)" = "" ] && [ "$(grep -c '(kept)' out.txt)" -eq 7 ]
verdict $? "a third call compiles nothing" "$(compiled) $(cat out.txt)"
echo "// another" >>set/7_16_16.cu
stub none
begin
await 5 1
./drive out/mine.so tn 7 1 >told
expect_text told 'no kernel of the set is for this shape' "a source that has changed is not in the index until it is built"
: >stub/open
wait "$task"
./drive out/mine.so tn 7 1 >told
expect_text told '"source":"7_16_16.cu"' "and is then"

# --- TERM and INT, to the whole group, as timeout(1) and Ctrl-C have it ---
rm -rf out
stub 1 2
begin
await 2 4
kill -TERM -- "-$task"
await_text err 'a second signal' 1
: >stub/open # for those in hand
wait "$task"
code=$?
expect_code 75 "TERM ends a call with 75"
expect_text err '^import: terminated with 4 of 7 files looked at; the same command goes on$' "when the files in hand are built"
[ "$(cut -f8 out/mine.tsv | wc -l)" -eq 4 ] && no_parts
verdict $? "which are in the index" "$(cat out/mine.tsv; ls out)"
stub 5
begin
await 5 3 # one more is there, two are in hand
kill -INT -- "-$task"
await_text err 'a second signal' 1
kill -INT -- "-$task"
wait "$task"
code=$?
expect_code 130 "a second INT ends a call with 130"
expect_text err '^import: interrupted with 5 of 7 files looked at; the same command goes on$' "without the files in hand"
await_ends && no_parts && ! grep -q failed out/report.tsv
verdict $? "whose compilers are ended, and which count as neither built nor failed" "$(ls out; cat out/report.tsv)"
./drive out/mine.so tn 5 1 >told
expect_text told '"source":"5_16_16.cu"' "the index has the rest"
stub all
import
[ "$(compiled)" = "6_16_16.cu 7_16_16.cu " ] && [ "$(cat out/mine.tsv | wc -l)" -eq 6 ]
verdict $? "the same command goes on from there" "$(compiled)"

# --- the files that one wants first ---
rm -rf out
stub 5 3
printf '%s\n' 5_16_16.cu none.cu 3_16_16.cu >first
begin --order first
await 2 4
[ "$(cat out/mine.tsv | cut -f1 | tr '\n' ' ')" = "3 5 " ]
verdict $? "--order: the files that it names come first" "$(cat out/mine.tsv)"
: >stub/open
wait "$task"
[ "$(cut -f1 out/mine.tsv | tr '\n' ' ')" = "1 2 3 4 5 7 " ]
verdict $? "and the others after them" "$(cat out/mine.tsv)"

# --- slices: one directory for all of them, or one each, put together ---
for shared in yes no; do
    rm -rf out apart
    stub all
    for i in 0 1; do
        import --shard $i/2
        expect_code 0 "slice $i of 2, one directory: $shared"
        [ $shared = yes ] || { mkdir -p apart && cp out/????????????????????????????????.* apart && rm -rf out; }
    done
    [ $shared = yes ] || { mv apart out && stub all && import --limit 1 && [ "$(compiled)" = "" ] || verdict 1 "put together" "$(compiled)"; }
    [ "$(cut -f1 out/mine.tsv | tr '\n' ' ')" = "1 2 3 4 5 7 " ]
    verdict $? "the index has the kernels of both" "$(cat out/mine.tsv)"
done

# --- the step that judges them: what has been built since is a part of its own, and nothing is judged twice ---
mkdir -p theirs baseline runs
plugin() { # plugin OUT NAME: on the CPU device, of one kernel that is right
    gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$top/scripts/import" "-DIMPORT_NAME=\"$2\"" -DIMPORT_CC=0 \
        -DIMPORT_ACCUMULATE=CUDAL2_ACC_F32 -DIMPORT_DEVICES=CUDAL2_ON_CPU "$top/scripts/import/dispatch.c" -ldl -o "$1/$2.so" || exit 1
    gcc -std=c17 -D_GNU_SOURCE -O1 -fPIC -shared -I"$top/scripts/import" "$fixtures/product.c" -o "$1/kernel.so" || exit 1
}
row() { printf '%s\t16\t16\t0\t0\t0\tkernel.so\t%s_16_16.cu\n' "$1" "$1"; }
plugin theirs theirs
plugin baseline cublas # the same, as a baseline: there is none of halves here
for m in 16 32 48; do row $m; done >baseline/cublas.tsv
cat >cpu.json <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "published", "grid": {"m": [64], "n": [64], "k": [64]}, "dtype": "f16",
 "layouts": ["nn"], "modes": ["offline"], "candidates": [], "stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 4}}
END
judge() {
    (cd "$top" && PUBLISHED_CONFIG=$work/cpu.json PUBLISHED_TIMING=wall PUBLISHED_BASELINES=$work/baseline/cublas.so timeout -k 5 100 \
        scripts/gpu-run.sh -n -b "$tested_build" -o "$work/runs" -d cpu "published:$work/theirs:f32:offline") >out.txt 2>err </dev/null
    code=$?
}
{ row 16; row 32; } >theirs/theirs.tsv
judge
expect_code 0 "two kernels are judged"
row 48 >>theirs/theirs.tsv
judge
expect_code 0 "and a third one, which was built since"
for f in "" -part2; do grep -c '"kind":"cell"' "runs/published-theirs-offline$f.journal.jsonl"; done >counted
[ "$(tr '\n' ' ' <counted)" = "2 1 " ] && ! ls runs/*part3* runs/*.new.json 2>/dev/null
verdict $? "each once" "$(cat counted; ls runs; tail -5 out.txt)"
# A kernel that never comes out of its first call costs the time that the caller gives a setup, and is named.
gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -I"$top/scripts/import" '-DFAULT="hang"' "$fixtures/faulty.c" -o theirs/hang.so || exit 1
for m in 64 80; do row $m >>baseline/cublas.tsv; done
{ row 64 | sed 's/kernel\.so/hang.so/'; row 80; } >>theirs/theirs.tsv
PUBLISHED_SETUP=2 judge
expect_code 0 "one that hangs"
expect_text runs/published-theirs-offline-part3.journal.jsonl \
    '"m":64,.*"name":"theirs-nn","candidate":true,"status":"hang","stage":"setup","reason":"no sign of life for 2[0-9.]* s in stage setup .more time: limits.setup_seconds' \
    "has a verdict that names it, its stage and the deadline"
expect_text runs/published-theirs-offline-part3.journal.jsonl '"m":80,.*"name":"theirs-nn","candidate":true,"verification"' "and the run goes on to the next"
finish
