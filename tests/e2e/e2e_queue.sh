#!/bin/bash
# A full queue changes no reward (make test-all): the same candidate is measured alone, and then amid a queue
# that is full, with clients that read events, poll, submit what is refused and leave. Compared on the CPU
# device, where both run on the cores that answer clients.
. "$(dirname "$0")/e2e.inc.sh"
[ -n "${CUDAL2_SLOW:-}" ] || { echo "takes a minute: make test-all"; exit 77; }
command -v curl >/dev/null || { echo "skipped: no curl"; exit 0; }
room=40 repeats=${QUEUE_REPEATS:-5}
mkdir "$work/plugins"
cp "$plugins/honest.so" "$plugins/steady.so" "$work/plugins/"
"$bench" serve --listen 127.0.0.1:0 --device cpu --plugins "$work/plugins" --baselines honest --queue $room --output "$work/jobs" \
    >"$work/serve.out" 2>"$work/serve.err" </dev/null &
server=$!
clients=
at_exit() {
    # shellcheck disable=SC2086 # a list of numbers
    kill $clients "$server" 2>/dev/null
    wait 2>/dev/null
}
for _ in $(seq 500); do
    grep -q listening "$work/serve.out" && break
    kill -0 "$server" 2>/dev/null || { echo "skipped: $(tail -1 "$work/serve.err")"; exit 0; }
    sleep 0.02
done
url=$(sed -n 's/^listening on //p' "$work/serve.out")

post() { # post BODY: the answer
    curl -s -m 60 -H 'Content-Type: application/json' "$url/v1/jobs" --data-binary "$1"
}
ids_of() { grep -o '"id":"[0-9a-f]*"' | cut -d'"' -f4; }
probe() { # the candidate in question, measured anew each time
    echo "{\"candidate\":\"steady\",\"problem\":\"64x64x256\",\"half_width\":0.01,\"seconds\":1.5,\"again\":true}"
}
outcome() { # outcome ID FILE: waits
    until curl -s -m 90 "$url/v1/jobs/$1?wait=60" >"$2" && grep -q '"state":"done"' "$2"; do :; done
}
reward() { # reward FILE: value, low and high, a line
    echo "$(sed -n 's/.*"reward":{"value":\([0-9.e-]*\),"low":\([0-9.e-]*\),"high":\([0-9.e-]*\)}.*/\1 \2 \3/p' "$1")"
}

# --- alone ---
for i in $(seq "$repeats"); do
    outcome "$(post "$(probe)" | ids_of)" "$work/alone.$i"
    reward "$work/alone.$i"
done >"$work/alone"
[ "$(grep -c . "$work/alone")" -eq "$repeats" ]
verdict $? "alone: $repeats rewards" "$(head -c 300 "$work/alone.1")"

# --- amid a full queue: filler of another candidate's problems, kept full; events are read, and readers leave ---
fill() {
    local n=0 batch i
    while true; do
        batch=
        for i in $(seq $room); do
            n=$((n + 1))
            batch="$batch${batch:+,}{\"candidate\":\"steady\",\"problem\":\"32x32x$((n % 4000 + 1))\",\"half_width\":0.5,\"seconds\":0.05}"
        done
        post "{\"jobs\":[$batch]}" >"$work/filled"
        sleep 0.3
    done
}
leave() {
    while true; do
        curl -sN -m 0.7 "$url/v1/jobs/$1/events" >/dev/null
        curl -s -m 0.3 "$url/v1/jobs/$1?wait=30" >/dev/null
    done
}
# The probes are submitted ahead of what fills the queue, behind a job that lasts until it is full.
post '{"candidate":"steady","problem":"64x64x264","half_width":0.0005,"seconds":5}' >"$work/first"
waiting=$(for _ in $(seq "$repeats"); do post "$(probe)" | ids_of; done)
fill &
clients=$!
for id in $waiting; do
    for _ in 1 2; do
        leave "$id" &
        clients="$clients $!"
    done
done
for _ in $(seq 200); do
    grep -q '"status":429' "$work/filled" 2>/dev/null && break
    sleep 0.05
done
grep -q '"status":429' "$work/filled"
verdict $? "the queue is full" "$(head -c 300 "$work/filled")"
i=0
for id in $waiting; do
    i=$((i + 1))
    outcome "$id" "$work/amid.$i"
    reward "$work/amid.$i"
done >"$work/amid"
[ "$(grep -c . "$work/amid")" -eq "$repeats" ]
verdict $? "amid: $repeats rewards" "$(head -c 300 "$work/amid.1")"

# The median of each side, and whether they differ by more than an interval: the wider of the median interval
# and of what the rewards alone differ by among themselves, for an interval covers repeats within one run.
awk 'function middle(list, n,    i, j, t) {
         for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
         return list[int((n + 1) / 2)]
     }
     FNR == NR { a[++n] = $1; w[n] = ($3 - $2) / 2 / $1; next }
     { b[++m] = $1; v[m] = ($3 - $2) / 2 / $1 }
     END {
         one = middle(a, n); two = middle(b, m); half = middle(w, n); other = middle(v, m)
         half = half > other ? half : other
         spread = (a[n] - a[1]) / one
         by = two / one - 1; by = by < 0 ? -by : by
         allowed = half > spread ? half : spread
         printf "# alone %.4f, amid %.4f: by %.2f%%; half an interval %.2f%%, alone they spread over %.2f%%\n", one, two, 100 * by, 100 * half, 100 * spread
         exit by > allowed
     }' "$work/alone" "$work/amid"
verdict $? "no reward changes by more than its interval" "$(paste "$work/alone" "$work/amid" | tr '\n' ';')"
curl -s "$url/health" | grep -q '"status":"ok"'
verdict $? "the server is well"
finish
