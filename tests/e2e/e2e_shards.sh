#!/bin/bash
# A run in shards: every cell is measured once over all of them, a killed or stopped shard goes on, merge
# refuses what does not belong together, names what is missing, and writes one journal that report and compare
# read.
# Times nothing.
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
unset CUDAL2_SHARD CUDAL2_SHARDS SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX SLURM_PROCID OMPI_COMM_WORLD_RANK
shapes=
for m in 8 16 24 32 40 48 56 64 72 80; do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 32, \"k\": 64}"
done
brief='"stop": {"min_blocks": 32, "look_every": 8, "max_blocks": 32, "group_blocks": 8, "max_cell_seconds": 60}'
brief="$brief, \"verify\": {\"process_per_plugin\": false}" # compare wants several groups of each cell, also beside other tests
cp "$plugins/steady.so" "$work/mine.so"
config "$work/c.json" "$shapes" '"offline", "server"' "\"$work/mine.so\"" "$brief"

task() { # task DIRECTORY OPTION...: one task of the run
    local directory=$1
    shift
    mkdir -p "$directory"
    run run --config "$work/c.json" --device cpu --output "$directory/r.json" "$@"
}
shard_cells() { # shard_cells DIRECTORY: of all shards
    for f in "$1"/r.shard-*.journal.jsonl; do journal_cells "$f"; done
}
data_of() { # data_of JOURNAL KIND EXPRESSION: of each line d of the kind
    python3 -c "
import json, sys
for line in open(sys.argv[1]):
    line = json.loads(line)
    if line['kind'] == sys.argv[2]:
        d = line['data']
        print($3)" "$1" "$2"
}

# --- every scheduler's words, and their order ---
SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=1 \
    JOB_COMPLETION_INDEX=2 task "$work/a"
expect_code 0 "a Slurm array says which shard this is"
expect_text "$work/err" '^shard 0 of 4, counted from 0 \(SLURM_ARRAY_TASK_ID\)' "and stderr says so"
SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_COUNT=2 CUDAL2_SHARDS=4 task "$work/a"
expect_code 0 "a part of an array is told N by CUDAL2_SHARDS"
JOB_COMPLETION_INDEX=2 CUDAL2_SHARDS=4 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4 task "$work/a"
expect_code 0 "an Indexed Job"
SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_COUNT=2 task "$work/x"
expect_code 64 "a part of an array without N is refused"
JOB_COMPLETION_INDEX=2 CUDAL2_SHARDS=4 CUDAL2_SHARD=1/4 task "$work/x" --shard 4/4
expect_code 64 "--shard 4/4 is none of 0 to 3"

# --- what is missing ---
run merge "$work/a"
expect_code 2 "merge without shard 3"
[ "$(cat "$work/out")" = "--array=3" ]
verdict $? "names it as an array" "$(cat "$work/out")"

run watch "$work/a"
expect_code 0 "watch in a pipe"
expect_text "$work/out" '^[0-9]+ of 20 cells \([0-9]+%\), 0 failed, 0 wrong; shards: 3 of 4 done, 0 running, 0 stopped, 1 waiting; time left unknown$' \
    "is one line"

# --- a stopped and a killed task go on; a torn line is cut off ---
CUDAL2_SHARD=3/4 "$bench" run --config "$work/c.json" --device cpu --output "$work/a/r.json" >"$work/out" 2>"$work/err" </dev/null &
task=$!
for _ in $(seq 3000); do
    grep -qs '"kind":"cell"' "$work/a/r.shard-3-of-4.journal.jsonl" && break
    sleep 0.02
done
run watch "$work/a"
expect_text "$work/out" ' 1 running, 0 stopped, 0 waiting; 0:00:[0-9]+ left$' "watch sees it run, and how long"
kill -TERM "$task"
wait "$task"
[ $? -eq 75 ]
verdict $? "TERM ends a shard with 75"
printf '{"crc":"01234567","kind":"cell","da' >>"$work/a/r.shard-3-of-4.journal.jsonl"
run watch "$work/a" --once
expect_text "$work/out" ' 3 of 4 done, 0 running, 1 stopped, 0 waiting; time left unknown$' "watch sees that it was stopped"
run merge "$work/a"
expect_code 2 "merge of a shard that was stopped"
expect_text "$work/err" 'shard 3 is not at its end: .* of [0-9]+ cells, the last line is torn' "tells how far it is"
task "$work/a" --shard 3/4
expect_code 0 "the same command again finishes the shard"
cp "$work/a/r.shard-3-of-4.journal.jsonl" "$work/before"
task "$work/a" --shard 3/4
expect_code 0 "and again finds nothing to do"
cmp -s "$work/before" "$work/a/r.shard-3-of-4.journal.jsonl"
verdict $? "and changes nothing"

run watch "$work/a/r.json"
expect_text "$work/out" '^20 of 20 cells \(100%\), .* 4 of 4 done, 0 running, 0 stopped, 0 waiting$' "watch sees the end"

# --- the cut ---
[ "$(shard_cells "$work/a" | sort -u | wc -l)" -eq 20 ]
verdict $? "20 cells are measured over all shards"
[ "$(shard_cells "$work/a" | wc -l)" -eq 23 ]
verdict $? "each once, and the sentinel by every shard"
hashes=$(for f in "$work"/a/r.shard-*.journal.jsonl; do data_of "$f" run "d['plan_hash'], d['shard']['hash'], d['seed']"; done | sort -u | wc -l)
[ "$hashes" -eq 1 ]
verdict $? "all shards have one plan, one cut and one seed" "$hashes"

# --- the merge ---
run merge "$work/a"
expect_code 0 "merge of all shards"
expect_text "$work/out" '^20 cells of 4 shards' "says what it has"
expect_text "$work/out" 'hosts: time of the sentinel cell offline/' "and how hosts differ"
merged=$work/a/r.journal.jsonl
[ "$(journal_cells "$merged" | sort | uniq -c | awk '$1 == 1' | wc -l)" -eq 20 ]
verdict $? "the merged journal has each cell once"
[ "$(data_of "$merged" sentinel "d['shard'], d['node']" | sort -u | wc -l)" -eq 4 ]
verdict $? "and every shard's sentinel, with its node"
python3 - "$merged" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
env = [line["data"] for line in lines if line["kind"] == "env"]
cells = [line["data"] for line in lines if line["kind"] == "cell"]
sys.exit(not all(env[cell["worker"]]["node"] for cell in cells) or {e["shard"] for e in env} != {0, 1, 2, 3})
END
verdict $? "each cell has its host"
run report "$merged"
expect_code 0 "report reads it"
run report --format json "$work/a/r.json"
expect_code 0 "and its result"
run compare "$merged" "$merged"
expect_code 0 "compare reads it"
cp "$merged" "$work/before"
run merge "$work/a"
expect_code 0 "a second merge takes the place of the first"
cmp -s "$work/before" "$merged"
verdict $? "and comes to the same bytes"
run run --config "$work/c.json" --device cpu --output "$work/a/r.json" --resume --shard none --seed "$(data_of "$merged" run "d['seed']")"
expect_code 65 "a seed that is given later is another config"
run run --config "$work/c.json" --device cpu --output "$work/a/r.json" --resume --shard none
expect_code 0 "the merged run is a finished run"

cp "$work/a/r.shard-1-of-4.journal.jsonl" "$work/a/s.shard-1-of-4.journal.jsonl"
run merge "$work/a/r.json"
expect_code 0 "the output stands for its shards"
expect_no_text "$work/err" 'there twice' "and for no other's"
rm "$work/a/s.shard-1-of-4.journal.jsonl"

# --- one shard twice ---
task "$work/b" --shard 1/4
cp "$work/b/r.shard-1-of-4.journal.jsonl" "$work/a/z.journal.jsonl"
run merge "$work/a" --output "$work/twice.json"
expect_code 0 "merge with one shard twice"
expect_text "$work/err" 'shard 1 is there twice: .*/r.shard-1-of-4.journal.jsonl is taken, .*/z.journal.jsonl is not' "says which is taken"
cmp -s "$merged" "$work/twice.journal.jsonl"
verdict $? "and has the first complete one"
rm "$work/a/z.journal.jsonl"

# --- live: a pseudo-terminal, on which it ends by itself when the last shard is done ---
mkdir -p "$work/live"
cp "$work"/a/r.shard-[012]-of-4.journal.jsonl "$work/live"
(sleep 3; cp "$work/a/r.shard-3-of-4.journal.jsonl" "$work/live") &
TERM=xterm timeout 30 script -qec "$bench watch $work/live" /dev/null >"$work/out" 2>&1 </dev/null
code=$?
expect_code 0 "watch ends with the run"
expect_text "$work/out" 'shard 3 +waiting' "and named the shard that was missing"
expect_text "$work/out" '20 of 20 cells' "until it was there"

# --- failed cells and wrong contenders, as watch counts them: the sentinel's once, though both shards have it ---
config "$work/w.json" '{"m": 8, "n": 32, "k": 64}, {"m": 16, "n": 32, "k": 64}, {"m": 24, "n": 32, "k": 64}' '"offline"' \
    "\"$plugins/bad_wrong.so\", \"$plugins/bad_launch.so\"" "$brief"
sed "s|$plugins/honest.so|$plugins/bad_setup.so|" "$work/w.json" >"$work/f.json" # nothing is left to time
for name in w f; do
    mkdir "$work/$name"
    for i in 0 1; do
        run run --config "$work/$name.json" --device cpu --output "$work/$name/r.json" --shard $i/2
        expect_code 3 "shard $i of 2 with a wrong contender and one that fails"
    done
    run watch "$work/$name"
    case $name in w) expect="0 failed" ;; f) expect="3 failed" ;; esac
    expect_text "$work/out" "^3 of 3 cells \(100%\), $expect, 3 wrong; shards: 2 of 2 done," "watch: $expect, 3 wrong"
done

# --- what does not belong together ---
mkdir "$work/mix"
cp "$work"/a/r.shard-[012]-of-4.journal.jsonl "$work/mix"
run run --config "$work/c.json" --device cpu --output "$work/mix/r.json" --shard 3/4 --seed 5
run merge "$work/mix"
expect_code 65 "shards of two seeds are of two runs"
expect_text "$work/err" 'are of different runs' "which merge says"
rm "$work"/mix/r.shard-3*
task "$work/mix" --shard 3/5
run merge "$work/mix"
expect_code 65 "shards of two cuts are refused"
expect_text "$work/err" 'one plan cut in two ways' "which merge says"
task "$work/a" --shard none --resume
sed 's/"shard":{"index":1/"shard":{"index":0/' "$work/a/r.shard-1-of-4.journal.jsonl" >"$work/forged.journal.jsonl"
run merge "$work/forged.journal.jsonl"
expect_code 65 "a journal that was changed by hand is refused"
run merge "$merged"
expect_code 65 "the journal of a whole run is no shard's"
task "$work/other"
run merge "$work/a" --output "$work/other/r.json"
expect_code 73 "merge does not write over a run"
cp "$work/a/r.shard-2-of-4.journal.jsonl" "$work/a/r.shard-2-of-5.journal.jsonl"
task "$work/a" --shard 2/5
expect_code 65 "a shard does not go on with another's journal"

# --- a search ---
export CUDAL2_TUNABLE=plain,slow CUDAL2_KERNELS=$work/kernels
mkdir -p "$CUDAL2_KERNELS" "$work/t"
cp -R kernels/harness "$CUDAL2_KERNELS/"
config "$work/t.json" '{"m": 32, "n": 64, "k": 64}, {"m": 128, "n": 64, "k": 64}, {"m": 128, "n": 64, "k": 128}' '"offline"' \
    "\"$plugins/tunable.so\""
for i in 0 1; do
    run tune --config "$work/t.json" --device cpu --output "$work/t/x.json" --shard $i/2
    expect_code 0 "tune, shard $i of 2"
done
[ ! -e "$work/t/x.json" ]
verdict $? "no shard writes the table of all"
run merge "$work/t/x.json"
expect_code 0 "merge of a search"
run tune --config "$work/t.json" --device cpu --output "$work/t/x.json" --shard none --resume
expect_code 0 "tune makes the table of it"
expect_text "$work/out" '3 entries from 3 problems' "with every shape"
run tune --config "$work/t.json" --device cpu --output "$work/t/y.json" --shard 0/2 --update
expect_code 64 "a shard has no table to --update"

# What LD_PRELOAD is to be: AddressSanitizer's runtime must come first, and calls what comes behind it.
preload() { # preload LIBRARY
    local runtime
    runtime=$(ldd "$bench" | sed -n 's/.*libasan.* => \(.*\) (.*/\1/p')
    echo "${runtime:+$runtime:}$1"
}

# --- clocks that do not agree: a host a year ahead, one a year behind, a shard that goes on where the clock is behind ---
cat >"$work/clock.c" <<'END'
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    long status = syscall(SYS_clock_gettime, clock, t);
    if (clock == CLOCK_REALTIME && getenv("CUDAL2_TEST_AHEAD"))
        t->tv_sec += atol(getenv("CUDAL2_TEST_AHEAD"));
    return (int)status;
}
time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return out ? (*out = t.tv_sec) : t.tv_sec;
}
END
if cc -shared -fPIC -o "$work/clock.so" "$work/clock.c"; then
    skewed() { # skewed SECONDS OPTION...: a task on a host whose clock is so far ahead
        CUDAL2_TEST_AHEAD=$1 LD_PRELOAD=$(preload "$work/clock.so") task "$work/k" "${@:2}"
    }
    year=31536000
    skewed $year --shard 0/3
    skewed -$year --shard 1/3
    task "$work/k" --shard 2/3
    head -n -2 "$work/k/r.shard-2-of-3.journal.jsonl" >"$work/begun"
    mv "$work/begun" "$work/k/r.shard-2-of-3.journal.jsonl"
    run watch "$work/k"
    expect_text "$work/out" '2 of 3 done, 0 running, 1 stopped, 0 waiting' "watch asks no clock"
    skewed -$year --shard 2/3
    expect_code 0 "goes on where the clock is a year behind"
    run merge "$work/k"
    expect_code 0 "merge of hosts whose clocks do not agree"
    [ "$(journal_cells "$work/k/r.journal.jsonl" | sort | uniq -c | awk '$1 == 1' | wc -l)" -eq 20 ]
    verdict $? "has each cell once"
    expect_text "$work/err" '^note: shard 0: the clock of .+ is off: [0-9TZ:-]+ is in the future here; times' "names a clock that is ahead"
    expect_text "$work/err" '^note: shard 2: the clock of .+ is off: [0-9TZ:-]+ is before the one ahead of it' "and one that goes back"
    [ "$(grep -c '^note:' "$work/err")" -eq 2 ]
    verdict $? "each once" "$(cat "$work/err")"
    run report "$work/k/r.json"
    expect_code 0 "report reads the result"
fi

# --- no GPU, and no locks ---
for command in run tune; do
    CUDA_VISIBLE_DEVICES= run $command --config "$work/c.json" --output "$work/g.json" --shard 0/2
    expect_code 75 "$command in a task without a GPU ends with 75"
    expect_text "$work/err" 'shard 0/2: no GPU is visible in this task on .+ \(CUDA_VISIBLE_DEVICES is \)' "says so, and where"
    [ "$(wc -l <"$work/err")" -eq 1 ] && ! ls "$work"/g.* >/dev/null 2>&1
    verdict $? "in one line, and leaves nothing" "$(cat "$work/err")"
done
for kind in "errno = ENOSYS; return -1;" "return 0;"; do
    printf '#include <errno.h>\nint flock(int fd, int op) { (void)fd; (void)op; %s }\n' "$kind" >"$work/flock.c"
    cc -shared -fPIC -o "$work/flock.so" "$work/flock.c" || continue
    LD_PRELOAD=$(preload "$work/flock.so") run run --config "$work/c.json" --device cpu --output "$work/l.json" --shard 0/2
    expect_code 74 "a file system without locks ($kind)"
    expect_text "$work/err" 'flock.*another task could write it too: choose' "is told, with the way out"
    rm -f "$work"/l.*
done
finish
