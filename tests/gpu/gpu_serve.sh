#!/bin/bash
# The server's warm workers on a GPU: kernels by parameters are measured by one worker, each with its own
# parameters, and watched under CUPTI once for each line of parameters; source gets a new worker; and a worker
# that has nothing to do frees the GPU for who measures by hand. Prints rewards an hour for parameters.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 70
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
case $bench in /*) ;; *) bench=$PWD/$bench ;; esac
kernels=${CUDAL2_KERNELS:-$root/kernels}
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
command -v curl >/dev/null || { echo "no curl"; exit 77; }
work=$(mktemp -d /tmp/cudal2-serve-XXXXXX) || exit 70
failures=0
"$bench" serve --listen 127.0.0.1:0 --device cuda:0 --kernels "$kernels" --baselines cublas --output "$work/jobs" >"$work/out" 2>"$work/err" </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"; rm -rf "$work"' EXIT
for _ in $(seq 300); do
    grep -q listening "$work/out" && break
    kill -0 "$server" 2>/dev/null || { echo "serve does not run: $(tail -1 "$work/err")"; exit 77; }
    sleep 0.1
done
url=$(sed -n 's/^listening on //p' "$work/out")

verdict() { # verdict STATUS NAME DETAIL
    [ "$1" -eq 0 ] && echo "ok - $2: $3" && return
    echo "not ok - $2: $3"
    failures=$((failures + 1))
}

measure() { # measure MEMBERS: the outcome in $work/outcome, $ratio and $worker of it
    local id
    id=$(curl -s -m 60 "$url/v1/jobs" -H 'Content-Type: application/json' -d "{$1,\"again\":true,\"seconds\":2}" | grep -o '"id":"[0-9a-f]*"' | cut -d'"' -f4)
    until curl -s -m 90 "$url/v1/jobs/$id?wait=60" >"$work/outcome" && grep -q '"state":"done"\|"error":"there is' "$work/outcome"; do :; done
    ratio=$(sed -n 's/.*"terms":{"ratio":\([0-9.e-]*\),.*/\1/p' "$work/outcome"; echo)
    worker=$(grep -o '"worker":"[a-z]*"' "$work/outcome" | cut -d'"' -f4)
    watched=$(grep -o '"watched":"[a-z]*"' "$work/outcome" | cut -d'"' -f4)
}
kernel() { # kernel M N K PARAMETERS
    measure "\"kernel\":\"multistage\",\"parameters\":{$4},\"problem\":\"$1x$2x$3\""
}
large='"BM":128,"BN":128,"WARPS_M":2,"WARPS_N":4' small='"BM":32,"BN":32,"WARPS_M":1,"WARPS_N":2'

kernel 4096 4096 1024 "$large"
one=$ratio
[ "$worker" = new ] && [ -n "$one" ]
verdict $? "the first job has a new worker" "$(head -c 300 "$work/outcome")"
[ "$watched" = now ]
verdict $? "a line of parameters is watched in its first job" "watched: ${watched:-nothing}"
kernel 4096 4096 1024 "$small"
[ "$watched" = now ]
verdict $? "and so is the next one" "watched: ${watched:-nothing}"
[ "$worker" = warm ] && awk -v a="$one" -v b="$ratio" 'BEGIN { exit !(b > 0 && b < 0.8 * a) }'
verdict $? "other parameters, of a warm worker, are measured and not the first ones again" "ratio $one with large tiles, ${ratio:-none} with small ones, worker $worker"
kernel 4096 4096 1024 "$large"
[ "$worker" = warm ] && awk -v a="$one" -v b="$ratio" 'BEGIN { exit !(b > 0.95 * a && b < 1.05 * a) }'
verdict $? "a warm worker finds what a new one found, within 5%" "ratio $one of a new worker, ${ratio:-none} of a warm one, worker $worker"
[ "$watched" = before ]
verdict $? "and not again" "watched: ${watched:-nothing}"
kernel 4096 4096 1024 '"BM":33'
verdict "$(grep -q '"verdict":"ok"' "$work/outcome"; echo $((! $?)))" "wrong parameters have no speed" "$(head -c 200 "$work/outcome")"
source=$(sed 's/\\/\\\\/g; s/"/\\"/g' "$kernels/skeleton.cu" | awk '{ printf "%s\\n", $0 }')
manifest=$(tr -d '\n' <"$kernels/skeleton.json")
for turn in first second; do
    measure "\"source\":\"$source\",\"manifest\":$manifest,\"problem\":\"512x512x512\""
    [ "$worker" = new ] && grep -q '"verdict":"ok"' "$work/outcome"
    verdict $? "source: the $turn has a worker of its own" "$(head -c 200 "$work/outcome")"
done
kernel 4096 4096 1024 "$large"
verdict "$([ "$worker" = new ]; echo $?)" "and none is left for the next job" "worker $worker"
sleep 15
timeout 120 "$bench" run --shape 512x512x512 --device cuda:0 --mode offline --accumulate f32 --baselines cublas --candidate "$kernels/skeleton.json" --kernels "$kernels" --quiet --output "$work/by-hand.json" >"$work/by-hand" 2>&1
verdict $? "a worker without jobs frees the GPU" "$(tail -1 "$work/by-hand")"
rate() { # rate WHAT JOBS MEMBERS: prints rewards an hour
    local line
    line=$(DEVICE=cuda:0 SIDES=1024x1024 STEP=64 timeout 300 "$root/scripts/serve-rate.sh" "$bench" "$2" "$3")
    verdict $? "rewards of $1" "$line"
}
lines='128,"BN":128 64,"BN":128 128,"BN":64 64,"BN":64 128,"BN":256 256,"BN":128'
rate "parameters" 200 '"kernel":"multistage","parameters":{}'
VARY=$lines rate "six lines of parameters on each problem" 240 '"kernel":"multistage","parameters":{"BM":@VARY@}'
EFFORT='"half_width":0.005,"seconds":2' VARY=$lines rate "the same, to 0.5%" 120 '"kernel":"multistage","parameters":{"BM":@VARY@}'
rate "source, each compiled anew" 60 "\"source\":\"// job @JOB@\\n$source\",\"manifest\":$manifest"
[ "$failures" -eq 0 ]
