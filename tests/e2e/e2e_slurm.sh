#!/bin/bash
# The real scheduler: an array of eight shards on a Slurm cluster of one node. One task is killed, one requeued, one preempted, one
# journal torn, one shard submitted twice; the merge behind them has each cell once. Skipped (77) where Slurm is not installed;
# SLURM=1 installs it (Debian, root).
# shellcheck source=tests/e2e/e2e.inc.sh
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
# shellcheck source=tests/e2e/slurm.inc.sh
. "$(dirname "$0")/slurm.inc.sh"
for tool in munged slurmctld slurmd sbatch; do
    command -v $tool >/dev/null && continue
    [ -n "${SLURM:-}" ] && [ "$(id -u)" -eq 0 ] && DEBIAN_FRONTEND=noninteractive timeout 300 \
        apt-get install -y --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null 2>&1
    command -v $tool >/dev/null || { echo "skipped: no $tool (SLURM=1 installs it)"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: devices for GPUs are made as root"; exit 77; }
# shellcheck disable=SC2317 # e2e.inc.sh calls it
at_exit() { slurm_stop; }
slurm_start || { echo "not ok - a cluster of one node"; exit 1; }

shapes=
for m in $(seq 8 8 320); do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 32, \"k\": 64}"
done
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
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "SLURM_ARRAY_TASK_ID=$1" && [ -z "${2:-}" ] && echo "$pid"
    done | head -1
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
kill -9 "$(bench_of 4)"
printf '{"crc":"01234567","kind":"cell","da' >>"$(journal 4)"
verdict $? "the last line of task 4's journal is torn"
twice=$(timeout 10 sbatch --parsable --array=5 --export="ALL,CUDAL2_SHARDS=8,CUDAL2_CACHE=$work/cache" --output="$out/twice.log" \
    scripts/slurm/shards.sbatch "$bench" run --config "$work/c.json" --device cpu --output "$out/r.json")
verdict $? "shard 5 is submitted a second time" "$twice"
timeout 10 sbatch --partition=high --exclusive --output=/dev/null --wrap="sleep 1" >/dev/null
verdict $? "a job of higher priority takes the node"

for _ in $(seq 900); do
    [ -z "$(timeout 5 squeue -h -o %i)" ] && break
    sleep 0.2
done
[ -z "$(timeout 5 squeue -h)" ]
verdict $? "everything comes to its end" "$(timeout 5 squeue -h -o '%i %T %r' | head -3)"
has "$out/shard-$array-1.log" 'exit status 137'
verdict $? "task 1 went back to the queue after the kill"
expect_text "$out/shard-$array-1.log" 'start 2:' "and started again"
expect_text "$out/shard-$array-2.log" 'start 2:' "task 2 started again"
[ "$(cat "$out"/shard-"$array"-*.log | grep -c 'exit status 75')" -ge 1 ]
verdict $? "a preempted task finished its cell and exited with 75"
expect_text "$out/shard-$array-4.log" 'start 2:' "task 4 started again"
expect_text "$out/twice.log" 'exit status 0' "the second task of shard 5 ends well"
merged=$out/r.journal.jsonl
cat "$out"/merge-*.log >"$work/merges"
expect_text "$work/merges" '^40 cells of 8 shards' "the dependent merge found all shards"
[ "$(journal_cells "$merged" | sort | uniq -c | awk '$1 == 1' | wc -l)" -eq 40 ]
verdict $? "the merged journal has each of the 40 cells once" "$(journal_cells "$merged" | wc -l) cells"
[ "$(grep -c '"kind":"sentinel"' "$merged")" -eq 8 ]
verdict $? "and eight sentinels"
run report "$merged"
expect_code 0 "report reads it"

# --- an import as an array: no GPU is asked for, each task builds its files, one call behind them makes the plugin. In make test
# e2e_import.sh has the same shards by Slurm's variables. ---
[ -n "${CUDAL2_SLOW:-}" ] || { echo "# an import as an array: in make test-all"; finish; }
top=$(cd "$(dirname "$0")/../.." && pwd)
import=("$top/scripts/import/import.py" "$top/tests/fixtures/imports" --out "$work/imported" --name mine)
if [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    timeout 10 sbatch --array=0-1 --gres=none --output="$work/import-%a.log" "$top/scripts/slurm/shards.sbatch" \
        "${import[@]}" >/dev/null
    for i in 0 1; do
        has "$work/import-$i.log" 'exit status' && expect_text "$work/import-$i.log" 'exit status 0' "import: task $i of the array ends well"
        [ -e "$work/imported/report.shard-$i-of-2.tsv" ]
        verdict $? "and leaves the report of its files"
    done
    CUDAL2_ADAPTERS=$work/none timeout 300 "${import[@]}" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    expect_code 0 "and one call behind them makes the plugin"
    [ "$(grep -c '(kept)' "$work/out")" -eq 4 ]
    verdict $? "and builds nothing again" "$(cat "$work/out")"
fi
finish
