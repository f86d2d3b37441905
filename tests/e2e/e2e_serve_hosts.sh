#!/bin/bash
# Two servers, each with a directory of its own beside the other's, behind a load balancer that deals requests
# out in turn: a client that only knows the balancer gets all outcomes, nothing is measured twice, and when
# one server is killed with jobs in its queue the client is told to submit them again, and has them from the
# other one. Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
. "$(dirname "$0")/serve.inc.sh"
command -v curl >/dev/null || { echo "skipped: no curl"; exit 0; }
hosts=$(dirname "$0")/hosts.py
cp "$plugins/honest.so" "$plugins/steady.so" "$work/plugins/"
server_a=
server_b=
balancer=
at_exit() {
    for one in $server $server_a $server_b $balancer; do
        kill -9 "$one" 2>/dev/null
    done
}
mkdir "$work/shared"
begin "$work/shared/a" --peers "$work/shared"
has_begun
server_a=$server url_a=$url
begin "$work/shared/b" --peers "$work/shared"
server_b=$server url_b=$url
server=
mkfifo "$work/urls"
python3 "$hosts" balance "$url_a" "$url_b" <"$work/urls" >"$work/balancer" &
balancer=$!
exec 3>"$work/urls"
await_listening "$balancer" "$work/balancer"

outcomes() { # outcomes HOST: how many of its jobs are done
    find "$work/shared/$1" -name outcome.json | wc -l
}

# --- both alive ---
python3 "$hosts" ask "$url" 6 >"$work/met"
expect_text "$work/met" '"ok": 6, "again": 0' "a client gets each outcome, whichever server it asks"
[ "$(outcomes a)" -gt 0 ] && [ "$(outcomes b)" -gt 0 ]
verdict $? "both measured" "a $(outcomes a), b $(outcomes b)"
python3 "$hosts" ask "$url" 6 >"$work/met"
expect_text "$work/met" '"ok": 6, "again": 0' "and again"
[ "$(($(outcomes a) + $(outcomes b)))" -eq 6 ]
verdict $? "what one of them has measured is not measured again" "a $(outcomes a), b $(outcomes b)"

# --- one is killed with jobs in its queue ---
post /v1/jobs '{"candidate":"steady","problem":["32x16x24","32x16x32"],"half_width":0.0005,"seconds":3}'
post /v1/jobs '{"candidate":"steady","problem":["32x16x40","32x16x48"],"half_width":0.0005,"seconds":3}'
python3 "$hosts" ask "$url" 16 >"$work/met" &
client=$!
for _ in $(seq 1000); do
    grep -q submitted "$work/met" && break
    sleep 0.02
done
kill -9 "$server_a"
wait "$server_a" 2>/dev/null
server_a=
had=$(outcomes a)
wait "$client"
expect_text "$work/met" '"ok": 16, "again": [1-9]' "a server that is killed: the client submits what it took along again, and has all"
[ "$((had + $(outcomes b)))" -ge 16 ]
verdict $? "and what it had measured still counts" "a $had, b $(outcomes b)"

# --- it comes back ---
begin "$work/shared/a" --peers "$work/shared"
echo "$url $url_b" >&3
server_a=$server
server=
url=$(sed -n 's/^listening on //p' "$work/balancer")
before=$(outcomes b)
python3 "$hosts" ask "$url" 16 >"$work/met"
expect_text "$work/met" '"ok": 16, "again": 0' "a server that comes back: all are told by either"
[ "$(outcomes b)" -eq "$before" ]
verdict $? "and the other one measures none of them again" "$before, then $(outcomes b)"
for server in $server_a $server_b; do
    end TERM
    [ "$code" -eq 0 ]
    verdict $? "TERM: ends well" "exit status $code"
done
server_a=
server_b=
finish
