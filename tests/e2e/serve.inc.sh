# serve.inc.sh - a server under test and how it is asked, by curl; sourced after e2e.inc.sh. It measures the
# plugins in $work/plugins on the CPU device. The test's at_exit kills $server.
# shellcheck shell=bash
server=
mkdir "$work/plugins"

await_listening() { # await_listening PROCESS FILE: until it says in FILE where it listens; $url, empty where it ends
    for _ in $(seq "${listen_tries:-500}"); do
        grep -q listening "$2" 2>/dev/null && break
        kill -0 "$1" 2>/dev/null || break
        sleep 0.02
    done
    url=$(sed -n 's/^listening on //p' "$2")
}

launch() { # launch COMMAND...: a server, once it listens; $url, empty where it does not
    rm -f "$work/serve.out" # or what the last one said is believed
    "$@" >"$work/serve.out" 2>>"$work/serve.err" </dev/null &
    server=$!
    await_listening "$server" "$work/serve.out"
}

# After the first begin or launch: leaves a test of a program without libmicrohttpd out, and ends one whose
# server does not come.
has_begun() {
    [ -z "$url" ] || return 0
    grep -q 'libmicrohttpd' "$work/serve.err" && { echo "skipped: $(tail -1 "$work/serve.err")"; exit 0; }
    verdict 1 "the server begins" "$(tail -1 "$work/serve.err")"
    finish
}

begin() { # begin DIRECTORY [OPTION...]: a server on a free port
    launch "$bench" serve --listen 127.0.0.1:0 --device cpu --plugins "$work/plugins" --baselines honest --output "$@"
}

end() { # end SIGNAL: its exit status is $code
    kill "-$1" "$server"
    wait "$server" 2>/dev/null
    code=$?
    server=
}

ask() { # ask CURL-OPTION...: body in $work/body, status in $status
    status=$(curl -s -m 60 -o "$work/body" -w '%{http_code}' "$@")
}

post() { # post PATH BODY [CURL-OPTION...]
    local path=$1 body=$2
    shift 2
    ask -H 'Content-Type: application/json' "$@" "$url$path" --data-binary "$body"
}

field() { # field NAME: the first of this name in the body, without quotes
    sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p;q" "$work/body"
}

job() { # job CANDIDATE PROBLEM [MORE]: a submission that is measured quickly
    echo "{\"candidate\":\"$1\",\"problem\":\"$2\",\"half_width\":0.5,\"seconds\":0.1${3:+,$3}}"
}

finish_job() { # finish_job CANDIDATE PROBLEM [MORE]: submits and waits
    post /v1/jobs "$(job "$@")"
    id=$(field id)
    ask "$url/v1/jobs/$id?wait=60"
}

expect_status() { # expect_status STATUS NAME
    [ "$status" = "$1" ]
    verdict $? "$2" "status $status instead of $1: $(head -c 300 "$work/body")"
}

manifest() { # manifest ENTRY GRID BLOCK ARGUMENTS: of a compiled kernel, f16 with fp32 sums
    printf '{"schema":"cudal2-bench/kernel","schema_version":1,"name":"mine","source":"anything","entry":"%s","dtypes":["f16"],
        "accumulate":["f32"],"layouts":["nn"],"grid":[%s],"block":[%s,1,1],"arguments":[%s]}' "$@"
}

submit_binary() { # submit_binary ptx|cubin FILE PROBLEM MANIFEST: and waits; the outcome in $work/body
    local code
    [ "$1" = ptx ] && code=$(awk '{ gsub(/\\/, "&&"); gsub(/"/, "\\\""); gsub(/\t/, " "); printf "%s\\n", $0 }' "$2") || code=$(base64 -w 0 "$2")
    printf '{"%s":"%s","problem":"%s","manifest":%s}' "$1" "$code" "$3" "$4" >"$work/submission"
    post /v1/jobs "@$work/submission"
    id=$(field id)
    until [ -z "$id" ] || grep -q '"state":"done"' "$work/body"; do
        ask "$url/v1/jobs/$id?wait=50"
        [ "$status" = 200 ] || return
    done
}
