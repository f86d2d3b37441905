#!/bin/bash
# serve-rate.sh PROGRAM [JOBS] [CANDIDATE] [MORE]: how many rewards an hour `serve` gives on the CPU device for jobs of one candidate
# and different problems, submitted as one batch. MORE: members of a submission (',"seconds":1'). Prints one line; needs curl.
# docs/lab/serve-details.md has what it printed.
set -euo pipefail
program=${1:?usage: scripts/serve-rate.sh PROGRAM [JOBS] [CANDIDATE] [MORE]} jobs=${2:-20} candidate=${3:-blocked} more=${4:-}
work=$(mktemp -d)
"$program" serve --listen 127.0.0.1:0 --device cpu --output "$work/jobs" --quiet >"$work/out" 2>"$work/err" </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$work"' EXIT
for _ in $(seq 200); do
    grep -q listening "$work/out" && break
    kill -0 "$server" 2>/dev/null || { cat "$work/err" >&2; exit 1; }
    sleep 0.05
done
url=$(sed -n 's/^listening on //p' "$work/out")
list=
for i in $(seq "$jobs"); do
    list+=${list:+,}"{\"candidate\":\"$candidate\",\"problem\":\"64x64x$((56 + 8 * i))\",\"half_width\":0.5,\"seconds\":0.1$more}"
done
began=$(date +%s%N)
ids=$(curl -sf "$url/v1/jobs" -H 'Content-Type: application/json' -d "{\"jobs\":[$list]}" | grep -o '"id":"[0-9a-f]*"' | cut -d'"' -f4)
ok=0
for id in $ids; do
    until curl -sf "$url/v1/jobs/$id?wait=60" >"$work/outcome" && grep -q '"state":"done"' "$work/outcome"; do :; done
    grep -q '"verdict":"ok"' "$work/outcome" && ok=$((ok + 1))
done
ns=$(($(date +%s%N) - began))
awk -v n="$jobs" -v ok="$ok" -v s="$((ns / 1000000))" \
    'BEGIN { printf "%d jobs, %d ok: %.3f s each, %.0f an hour\n", n, ok, s / 1000 / n, 3600000 * n / s }'
