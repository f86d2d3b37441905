#!/bin/bash
# The server over HTTP when many come at once: hundreds of connections that never finish their request take no
# place from who asks, or from who waits for an outcome; jobs that wait are measured by priority; a client
# that waits with too many requests is told so. Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
. "$(dirname "$0")/serve.inc.sh"
command -v curl >/dev/null || { echo "skipped: no curl"; exit 0; }
cp "$plugins/honest.so" "$plugins/steady.so" "$work/plugins/"
crowd=
at_exit() {
    for one in $server $crowd; do
        kill -9 "$one" 2>/dev/null
    done
}
begin "$work/jobs"
has_begun

# --- connections ---
port=${url##*:}
visitors=600
come() { # come TEXT: so many connections that begin with it and say no more; $crowd
    rm -f "$work/came"
    (
        trap '' PIPE
        ulimit -n 1024
        for _ in $(seq $visitors); do
            exec {socket}<>"/dev/tcp/127.0.0.1/$port"
            printf '%b' "$1" >&"$socket"
        done 2>/dev/null
        echo "$socket" >"$work/came"
        exec sleep 120
    ) &
    crowd=$!
    for _ in $(seq 600); do
        [ -s "$work/came" ] && break
        sleep 0.1
    done
    [ "$(cat "$work/came")" -ge $visitors ]
    verdict $? "$visitors connections are open"
}

leave() {
    kill "$crowd"
    wait "$crowd" 2>/dev/null
    crowd=
}

is_healthy() { # is_healthy NAME: ten times, each within 2 s
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        status=$(curl -s -m 2 -o "$work/body" -w '%{http_code}' "$url/health")
        [ "$status" = 200 ] || break
    done
    [ "$status" = 200 ]
    verdict $? "$1" "status $status, the ${i}th time"
}

post /v1/jobs '{"candidate":"steady","problem":["24x16x24","24x16x32","24x16x40","24x16x48","24x24x24","24x24x32"],"half_width":0.0005,"seconds":4}'
waiting=$(field id)
curl -s -m 100 "$url/v1/jobs/$waiting?wait=90" >"$work/waited" &
waiter=$!
for _ in $(seq 300); do
    ask "$url/v1/jobs/$waiting"
    grep -q '"state":"measuring"' "$work/body" && break
    sleep 0.1
done
post /v1/jobs "{\"jobs\":[$(job steady 8x8x8 '"priority":1'),$(job steady 8x8x16 '"priority":9'),$(job steady 8x8x24 '"priority":5')]}"
mapfile -t submitted < <(grep -o '"id":"[0-9a-f]*"' "$work/body" | cut -d'"' -f4)
come 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: '
is_healthy "half-sent heads: health is told at once"
ask "$url/v1/jobs/$waiting"
expect_text "$work/body" '"state":"measuring"' "half-sent heads: and somebody waits meanwhile"
leave
come 'POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{'
is_healthy "half-sent bodies: health is told at once"
finish_job steady 16x16x24
expect_text "$work/body" '"verdict":"ok"' "half-sent bodies: and a job is measured"
wait "$waiter"
expect_text "$work/waited" '"verdict":"ok"' "who waits for an outcome keeps the connection and gets it"
leave

# --- priorities ---
wanted="$waiting ${submitted[1]} ${submitted[2]} ${submitted[0]} $id " # the last one has none
order=$(sed -n 's/^serve: \([0-9a-f]*\) of .*: ok$/\1/p' "$work/serve.err" | tr '\n' ' ')
[ "$order" = "$wanted" ]
verdict $? "jobs that waited for the device are measured by priority" "$order instead of $wanted"

# --- waiting requests ---
long='"half_width":0.0005,"seconds":4}'
post /v1/jobs "{\"candidate\":\"steady\",\"problem\":[\"32x16x24\",\"32x16x32\",\"32x16x40\",\"32x16x48\"],$long"
waiting=$(field id)
come "GET /v1/jobs/$waiting?wait=60 HTTP/1.1\r\nHost: x\r\n\r\n"
is_healthy "waiting requests: health is told at once"
curl -s -m 10 -D "$work/head" -o "$work/body" "$url/v1/jobs/$waiting?wait=60"
expect_text "$work/head" '^HTTP/1.1 429 ' "waiting requests: one too many is refused"
expect_text "$work/head" '^Retry-After: [0-9]+' "waiting requests: and told when to try again"
curl -s -m 10 -o "$work/body" -w '%{http_code}' "$url/v1/jobs/$waiting/events" >"$work/status"
expect_text "$work/status" '^429$' "waiting requests: and so is a stream"
ask "$url/v1/jobs/$waiting"
expect_text "$work/body" '"state":"(queued|measuring)"' "waiting requests: who does not wait is told"
leave
end TERM
[ "$code" -eq 0 ]
verdict $? "TERM: ends well" "exit status $code"
finish
