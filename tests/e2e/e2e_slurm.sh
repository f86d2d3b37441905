#!/bin/bash
# The real scheduler: an array of eight shards on a Slurm cluster of one node. One task is killed, one
# requeued, one journal torn, one shard submitted twice, the others preempted; the merge behind them has each
# cell once. Then a node is lost below an array of two. Skipped (77) where Slurm is not installed or no
# cluster comes up; SLURM=1 installs it (Debian, root).
# shellcheck source=tests/e2e/e2e.inc.sh
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
# shellcheck source=tests/e2e/slurm.inc.sh
. "$(dirname "$0")/slurm.inc.sh"
for tool in munged slurmctld slurmd sbatch; do
    command -v $tool >/dev/null && continue
    [ -n "${SLURM:-}" ] && [ "$(id -u)" -eq 0 ] && DEBIAN_FRONTEND=noninteractive timeout 100 \
        apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null 2>&1
    command -v $tool >/dev/null || { echo "skipped: no $tool (SLURM=1 installs it, as root and by apt-get)"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: devices for GPUs are made as root"; exit 77; }
# shellcheck disable=SC2317 # e2e.inc.sh calls it
at_exit() { slurm_stop; }
slurm_start || { echo "skipped: no cluster of one node comes up here, $slurm_missing"; exit 77; }

shapes=
for m in $(seq 8 8 320); do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 32, \"k\": 64}"
done
launch_seconds=20 # beside seven other tasks
# 40 cells of at least 0.4 s each: time to do harm in.
config "$work/c.json" "$shapes" '"server"' '' \
    '"stop": {"min_blocks": 192, "look_every": 8, "max_blocks": 192, "group_blocks": 8, "max_cell_seconds": 5}'
out=$work/shared
journal() { echo "$out/r.shard-$1-of-8.journal.jsonl"; }
has() { # has FILE PATTERN: within 60 s
    for _ in $(seq 600); do
        grep -Eqs -- "$2" "$1" && return 0
        sleep 0.1
    done
    echo "# no /$2/ in $1: $(tail -2 "$1" 2>/dev/null)"
    return 1
}
bench_of() { # the program of a shard, below its batch script
    pgrep -f -- "^$(realpath "$bench") run .*" | while read -r pid; do
        { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null | grep -qx "SLURM_ARRAY_TASK_ID=$1" && echo "$pid"
    done | head -1
}
start_of() { # start_of LOG N: what the task said in its Nth start
    awk -v start=", start $2:" '/^shard task .*, start [0-9]+:/ { on = index($0, start) > 0 } on' "$1"
}
cells_of() { # cells_of JOURNAL: how many
    grep -c '"kind":"cell"' "$1"
}
is_idle() { # within 180 s
    for _ in $(seq 900); do
        [ -z "$(timeout 5 squeue -h -o %i)" ] && break
        sleep 0.2
    done
    [ -z "$(timeout 5 squeue -h)" ]
}

said=$(CUDAL2_BENCH=$bench CUDAL2_CACHE=$work/cache timeout 20 scripts/slurm/submit.sh -n 8 -o "$out/r.json" -r 1 -- \
    run --config "$work/c.json" --device cpu)
verdict $? "eight shards are submitted, and a merge" "$said"
echo "# $said"
array=$(sed -E 's/^[^:]*: job ([0-9]+);.*/\1/' <<<"$said")
measuring=0
for i in 0 1 2 3 4 5 6 7; do has "$(journal $i)" '"kind":"cell"' || { measuring=1; break; }; done
verdict $measuring "every shard measures"
[ $measuring -eq 0 ] || { squeue; tail -5 "$cluster"/*.log "$out"/*; finish; }

kill -9 "$(bench_of 1)"
verdict $? "task 1 is killed with -9"
timeout 10 scontrol requeue "${array}_2"
verdict $? "task 2 is requeued"
torn=$(bench_of 4)
kill -9 "$torn"
for _ in $(seq 100); do is_over "$torn" && break || sleep 0.1; done
cp "$(journal 4)" "$work/whole"
printf '{"crc":"01234567","kind":"cell","da' >>"$(journal 4)"
run merge "$out/r.json"
expect_text "$work/err" "shard 4 is not at its end: .* $(cells_of "$work/whole") of [0-9]+ cells, the last line is torn" \
    "the last line of task 4's journal is torn"
twice=$(timeout 10 sbatch --parsable --array=5 --export="ALL,CUDAL2_SHARDS=8,CUDAL2_CACHE=$work/cache" --output="$out/twice.log" \
    scripts/slurm/shards.sbatch "$bench" run --config "$work/c.json" --device cpu --output "$out/r.json")
verdict $? "shard 5 is submitted a second time" "$twice"
timeout 10 sbatch --partition=high --exclusive --output=/dev/null --wrap="sleep 1" >/dev/null
verdict $? "a job of higher priority takes the node"

is_idle
verdict $? "everything comes to its end" "$(timeout 5 squeue -h -o '%i %T %r' | head -3)"
has "$out/shard-$array-1.log" 'exit status 137'
verdict $? "task 1 went back to the queue after the kill"
expect_text "$out/shard-$array-1.log" 'start 2:' "and started again"
expect_text "$out/shard-$array-2.log" 'start 2:' "task 2 started again"
# Slurm's own word for it: tasks 1, 2 and 4 were in the queue by then, and 5 is left out.
preempted=$(sed -nE "s/.* preempted JobId=${array}_([0367])\([0-9]+\) has been requeued .*/\1/p" "$cluster/slurmctld.log" | sort -u)
[ -n "$preempted" ]
verdict $? "Slurm preempts tasks that nothing else was done to" "$(grep 'preempt' "$cluster/slurmctld.log" | tail -2)"
for i in $preempted; do
    start_of "$out/shard-$array-$i.log" 1 >"$work/first"
    start_of "$out/shard-$array-$i.log" 2 >"$work/second"
    expect_text "$work/first" '^cudal2-bench: terminated with [1-9][0-9]* of [0-9]+ cells done' "task $i, preempted, finishes its cell"
    expect_text "$work/first" '^shard task .: exit status 75$' "exits with 75"
    done=$(sed -nE 's/.*: terminated with ([0-9]+) of .*/\1/p' "$work/first")
    expect_text "$work/second" "^resuming: $done of [0-9]+ cells are done" "goes on there when it is started again"
    expect_text "$work/second" '^shard task .: exit status 0$' "and ends well"
done
start_of "$out/shard-$array-4.log" 2 >"$work/second"
expect_text "$work/second" "^resuming: $(cells_of "$work/whole") of [0-9]+ cells are done" "task 4 starts again and counts the whole lines"
cmp -s -n "$(stat -c %s "$work/whole")" "$work/whole" "$(journal 4)"
verdict $? "keeps them"
expect_no_text "$(journal 4)" '"crc":"01234567"' "and cuts the torn one off"
expect_text "$out/twice.log" 'exit status 0' "the second task of shard 5 ends well"
merged=$out/r.journal.jsonl
cat "$out"/merge-*.log >"$work/merges"
expect_text "$work/merges" '^40 cells of 8 shards' "the dependent merge found all shards"
[ "$(journal_cells "$merged" | sort | uniq -c | awk '$1 == 1' | wc -l)" -eq 40 ] && [ "$(journal_cells "$merged" | wc -l)" -eq 40 ]
verdict $? "the merged journal has each of the 40 cells once" "$(journal_cells "$merged" | wc -l) cells"
[ "$(grep -c '"kind":"sentinel"' "$merged")" -eq 8 ]
verdict $? "and eight sentinels"
run report "$merged"
expect_code 0 "report reads it"

# --- the node is lost while both of its tasks measure: its power is cut, Slurm finds out, and the node comes back. ---
shapes=
for m in 8 16 24 32 40 48 56 64 72 80; do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 32, \"k\": 64}"
done
config "$work/few.json" "$shapes" '"server"' '' \
    '"stop": {"min_blocks": 192, "look_every": 8, "max_blocks": 192, "group_blocks": 8, "max_cell_seconds": 5}'
lost=$work/lost
said=$(CUDAL2_BENCH=$bench CUDAL2_CACHE=$work/cache timeout 20 scripts/slurm/submit.sh -n 2 -o "$lost/r.json" -r 1 -- \
    run --config "$work/few.json" --device cpu)
array=$(sed -E 's/^[^:]*: job ([0-9]+);.*/\1/' <<<"$said")
for i in 0 1; do has "$lost/r.shard-$i-of-2.journal.jsonl" '"kind":"cell"'; done
[ "$(timeout 5 squeue -h -r -j "$array" -t RUNNING -o %i | wc -l)" -eq 2 ] && slurm_lose_node
verdict $? "the node of two tasks loses its power" "$said"
for i in 0 1; do cp "$lost/r.shard-$i-of-2.journal.jsonl" "$work/lost-$i"; done
slurm_node_is down
verdict $? "Slurm takes it for lost"
[ "$(timeout 5 squeue -h -r -j "$array" -t PENDING -o %i | wc -l)" -eq 2 ]
verdict $? "and both tasks are in the queue again" "$(timeout 5 squeue -h -r -o '%i %T %r')"
slurm_node
is_idle
verdict $? "the node comes back, and everything comes to its end" "$(timeout 5 squeue -h -o '%i %T %r' | head -3)"
for i in 0 1; do
    start_of "$lost/shard-$array-$i.log" 1 >"$work/first"
    expect_no_text "$work/first" 'exit status|terminated' "task $i had no time to say anything"
    start_of "$lost/shard-$array-$i.log" 2 >"$work/second"
    expect_text "$work/second" "^resuming: $(cells_of "$work/lost-$i") of [0-9]+ cells are done" "started again, it goes on where it was"
    expect_text "$work/second" '^shard task .: exit status 0$' "and ends well"
done
cat "$lost"/merge-*.log >"$work/merges"
expect_text "$work/merges" '^10 cells of 2 shards' "the merge behind them found both shards"
[ "$(journal_cells "$lost/r.journal.jsonl" | sort | uniq -c | awk '$1 == 1' | wc -l)" -eq 10 ] &&
    [ "$(journal_cells "$lost/r.journal.jsonl" | wc -l)" -eq 10 ]
verdict $? "and its journal has each of the 10 cells once"

# --- an import as an array: no GPU is asked for, each task builds its files, one call behind them makes the plugin. In make test
# e2e_import.sh has the same shards by Slurm's variables. ---
[ -n "${CUDAL2_SLOW:-}" ] || { echo "# an import as an array: in make test-all"; finish; }
top=$(cd "$(dirname "$0")/../.." && pwd)
import=("$top/scripts/import/import.py" "$top/tests/fixtures/imports" --out "$work/imported" --name mine)
if [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    export CUDAL2_ADAPTERS=$work/none # for the tasks too: what is kept is of the headers of CUTLASS that were found
    timeout 10 sbatch --array=0-1 --gres=none --output="$work/import-%a.log" "$top/scripts/slurm/shards.sbatch" \
        "${import[@]}" >/dev/null
    for i in 0 1; do
        has "$work/import-$i.log" 'exit status' && expect_text "$work/import-$i.log" 'exit status 0' "import: task $i of the array ends well"
        [ -e "$work/imported/report.shard-$i-of-2.tsv" ]
        verdict $? "and leaves the report of its files"
    done
    timeout 300 "${import[@]}" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    expect_code 0 "and one call behind them makes the plugin"
    [ "$(grep -c '(kept)' "$work/out")" -eq 4 ]
    verdict $? "and builds nothing again" "$(cat "$work/out")"
fi
finish
