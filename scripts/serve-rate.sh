#!/bin/bash
# serve-rate.sh PROGRAM [JOBS] [CANDIDATE] [MORE]: how many rewards an hour `serve` gives for jobs of one
# candidate and different problems, submitted as one batch. CANDIDATE: a name, or members of a submission
# ('"kernel":"multistage","parameters":{"BM":128}'); MORE: further members (',"screen":1'). Each @JOB@ in them
# is the job's number: a source that has one is compiled anew for each job. $VARY: words for @VARY@ in them,
# one job of each problem for each word, as a generator tries several candidates on a problem. $DEVICE (cpu;
# cuda:0,1: the work is shared), $SIDES (64x64) and $STEP (8) of K choose devices and problems; $EFFORT: how
# exactly each is measured. Prints the rate, the devices' busy share (the mean), the middle half-width of the
# ratios by their runs alone, how many runs it took, how long devices had no job, in all, and the first
# failure; exit 1: not all were ok. A second line has the
# means of `spent`, the first job left out, a third those of a worker's start. Needs curl.
# docs/lab/serve-details.md has what it printed.
set -euo pipefail
program=${1:?usage: scripts/serve-rate.sh PROGRAM [JOBS] [CANDIDATE] [MORE]} jobs=${2:-20} candidate=${3:-blocked} more=${4:-}
work=$(mktemp -d)
case $candidate in '"'*) ;; *) candidate="\"candidate\":\"$candidate\"" ;; esac
"$program" serve --listen 127.0.0.1:0 --device "${DEVICE:-cpu}" --output "$work/jobs" --quiet >"$work/out" 2>"$work/err" </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$work"' EXIT
for _ in $(seq 200); do
    grep -q listening "$work/out" && break
    kill -0 "$server" 2>/dev/null || { cat "$work/err" >&2; exit 1; }
    sleep 0.05
done
url=$(sed -n 's/^listening on //p' "$work/out")
list=
read -ra vary <<<"${VARY:-none}"
for i in $(seq "$jobs"); do
    problem=$(((i - 1) / ${#vary[@]} + 1))
    members="$candidate,\"problem\":\"${SIDES:-64x64}x$((${STEP:-8} * (problem + 7)))\",${EFFORT:-\"half_width\":0.5,\"seconds\":0.1}$more"
    members=${members//@VARY@/${vary[(i - 1) % ${#vary[@]}]}}
    list+=${list:+,}"{${members//@JOB@/$i}}"
done
began=$(date +%s%N)
printf '{"jobs":[%s]}' "$list" >"$work/batch"
curl -s "$url/v1/jobs" -H 'Content-Type: application/json' -d "@$work/batch" >"$work/taken"
ids=$(grep -o '"id":"[0-9a-f]*"' "$work/taken" | cut -d'"' -f4) || { head -c 400 "$work/taken" >&2; exit 1; }
ok=0
: >"$work/spent"
: >"$work/widths"
: >"$work/together"
for id in $ids; do
    until curl -sf "$url/v1/jobs/$id?wait=60" >"$work/outcome" && grep -q '"state":"done"' "$work/outcome"; do :; done
    sed -n 's/.*"run_low":\([0-9.e-]*\),"run_high":\([0-9.e-]*\)[,}].*/\1 \2/p' "$work/outcome" >>"$work/widths"
    sed -n 's/.*"together":\([0-9]*\).*/\1/p' "$work/outcome" >>"$work/together"
    { grep -o '"spent":{[^}]*}' "$work/outcome" | sed 's/"spent":{//; s/{/0,/; s/[}"]//g'; } >>"$work/spent" || true
    if grep -q '"verdict":"ok"' "$work/outcome"; then
        ok=$((ok + 1))
    elif [ ! -s "$work/failed" ]; then
        cp "$work/outcome" "$work/failed"
    fi
done
ns=$(($(date +%s%N) - began))
devices=${DEVICE:-cpu}
devices=${devices//[!,]/}
devices=$((${#devices} + 1))
width=$(awk '$1 > 0 { printf "%.3f\n", 50 * log($2 / $1) }' "$work/widths" | sort -g | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }')
busy=$(sed 's/.*busy:\([0-9.e-]*\).*/\1/' "$work/spent" | awk -v ms="$((ns / 1000000))" -v of="$devices" '{ s += $1 } END { printf "%.1f", 100000 * s / ms / of }')
awk -v n="$jobs" -v ok="$ok" -v s="$((ns / 1000000))" -v busy="$busy" -v width="${width:-?}" 'BEGIN {
    printf "%d jobs, %d ok: %.3f s each, %.0f an hour; ", n, ok, s / 1000 / n, 3600000 * n / s
    printf "busy with contenders %s%%, half-width %s%%", busy, width
}'
awk -v n="$jobs" '{ s += 1 / $1; m++ } END { printf "; in %d runs, %d shared ones", n - m + s + 0.5, s + 0.5 }' "$work/together"
# The parts of a job, but for its queue, compiler and what is counted twice, are when a device had it.
sed 's/,parts:.*//; s/,busy:.*//' "$work/spent" | tr ',' '\n' | awk -F: -v ns="$ns" -v of="$devices" '
    $1 != "queue" && $1 != "compile" { s += $2 } END { printf "; devices without a job %.2f s\n", of * ns / 1e9 - s }'
tr ',' '\n' <"$work/spent" | awk -F: -v n="$jobs" -v ms="$((ns / 1000000))" '
    $1 == "queue" { job++; of = ""; next }
    $1 == "parts" { of = "parts/"; next }
    job > 1 && NF == 2 { if (!(of $1 in sum)) order[++names] = of $1; sum[of $1] += $2 }
    END {
        if (job > 1) printf "mean seconds of all but the first:"
        for (i = 1; job > 1 && i <= names; i++) printf " %s %.3f", order[i], sum[order[i]] / (job - 1)
        if (job > 1) printf "\n"
    }'
grep -rho '"start_seconds":{[^}]*}' "$work/jobs" --include=run.journal.jsonl | tr '{,}' '\n' | awk -F: '
    NF == 2 && $2 != "" { gsub("\"", "", $1); sum[$1] += $2; n[$1]++ }
    END { printf "mean seconds of a start, cut to milliseconds:"; for (k in sum) printf " %s %.4f", k, sum[k] / n[k]; printf "\n" }' || true
[ ! -s "$work/failed" ] || head -c 400 "$work/failed" >&2
[ "$ok" -eq "$jobs" ]
