#!/bin/bash
# The server over HTTP on the CPU device: submit, wait, read the reward; batches, quotas, tokens; malformed,
# oversized and endless submissions, a client that vanishes, a full disk, a worker that dies, kill -9 and TERM
# in mid queue, two servers that know of each other. Five of the red team are caught through it, and the queue
# goes on after each. Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
. "$(dirname "$0")/serve.inc.sh"
command -v curl >/dev/null || { echo "skipped: no curl"; exit 0; }
cp "$plugins/honest.so" "$plugins/steady.so" "$work/plugins/"
for name in stale half-sums write-2-bytes segfault abort; do
    cp "$plugins/../redteam/$name.so" "$work/plugins/" || exit 1
done
consumers=$(dirname "$bench")/consumers/bin
server_a=
server_b=
first_server=
at_exit() {
    for one in $server $server_a $server_b $first_server; do
        kill -9 "$one" 2>/dev/null
    done
    umount "$work/disk" 2>/dev/null
}

# --- before it listens ---
run serve --listen 0.0.0.0:0 --device cpu --output "$work/jobs"
expect_code 64 "an address that others reach needs tokens"
run serve --listen nowhere --device cpu --output "$work/jobs"
expect_code 64 "an address that is none"
begin "$work/jobs" --queue 4
has_begun

# --- submit, wait, read ---
finish_job steady 32x48x64
expect_status 200 "a job is measured"
expect_text "$work/body" '"verdict":"ok","reward":\{"value":[0-9.]+,"low":[0-9.]+,"high":[0-9.]+\}' "with a reward and its interval"
expect_text "$work/body" '"terms":\{"ratio":[0-9.]+,.*"diff":[0-9.e-]+,"length":0,"alpha":0.01' "and the terms of Eq. 3"
expect_text "$work/body" '"percent_of_floor":[0-9]' "and the distance to the floor"
expect_text "$work/body" '"code":\{"instruction_mix":\{"unavailable":"[^"]*installed candidate' "and why no instructions of a plugin are counted"
first=$id
finish_job steady 16x48x64 '"screen":1000'
expect_text "$work/body" '"verdict":"ok".*"screened":true' "a quick look is enough for what cannot reach the ratio"
finish_job steady 16x48x64 '"screen":0.0001'
expect_no_text "$work/body" '"screened"' "and not for what can"

expect_text "$work/body" '"neighbours":\[\{"problem":"16x48x64","distance":0,"ratio":[0-9.e-]+,"candidate":"steady","id":' "neighbours: what was measured of the nearest problems"
# --- counters ---
finish_job steady 16x48x68 '"counters":true'
expect_text "$work/body" '"verdict":"ok","reward":\{"value":[0-9.]+.*"counters":\{"unavailable":"the device is no GPU' "counters: a reason where there are none, beside the same outcome"
post /v1/jobs "$(job steady 16x48x68 '"counters":["dram__bytes.sum","--set full"]')"
expect_status 400 "counters: what is no metric's name"
expect_text "$work/body" 'counters\[1\]' "with the place"
# --- warm workers ---
finish_job steady 16x48x72
finish_job steady 16x48x80
expect_text "$work/body" '"verdict":"ok".*"worker":"warm"' "warm: the worker of a job measures the next one of the same code"
expect_text "$work/body" '"spent":\{"queue":.*"start":0\.[0-9]*.*"measure":[0-9.]*.*"parts":\{' "and says where the seconds went"
touch "$work/plugins/steady.so"
finish_job steady 16x48x88
expect_text "$work/body" '"verdict":"ok".*"worker":"new"' "warm: a plugin that was installed anew gets a new worker"
finish_job half-sums 16x48x88
finish_job steady 16x48x96
expect_text "$work/body" '"verdict":"ok".*"worker":"new"' "warm: and so does what comes after another candidate"
id=$first
post /v1/jobs "$(job steady 32x48x64)"
expect_status 200 "the same content is not measured again"
[ "$(field id)" = "$first" ]
verdict $? "and has the same id"
run serve --listen 127.0.0.1:0 --device cpu --output "$work/jobs"
expect_code 75 "a second server on the same directory"

# --- what is wrong with a submission is told, and the next one is taken ---
post /v1/jobs '{"candidate":'
expect_status 400 "malformed JSON"
expect_text "$work/body" 'line 1, column' "with the place"
post /v1/jobs "$(job stedy 32x48x64)"
expect_status 400 "a candidate that is not here"
expect_text "$work/body" 'did you mean steady' "with the nearest name"
post /v1/jobs "$(job ../../etc/passwd 32x48x64)"
expect_status 400 "a path is no name"
post /v1/jobs "$(job steady 32x48)"
expect_status 400 "a problem that is none"
ask "$url/v1/jobs" --data-binary "$(job steady 32x48x64)"
expect_status 415 "a form, as a browser's page could send"
ask "$url/v1/jobs/00000000000000000000000000000000"
expect_status 404 "an id that is nobody's"
ask -X PUT "$url/v1/jobs"
expect_status 405 "another method"
port=${url##*:}
raw() ( # raw TEXT: what the server answers to these bytes, one line
    trap '' PIPE
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    printf '%b' "$1" >&5 2>/dev/null
    head -1 <&5 | tr -d '\r'
)
type='Content-Type: application/json\r\nHost: x\r\n'
raw "POST /v1/jobs HTTP/1.1\r\n${type}Content-Length: 99999999999\r\n\r\n" >"$work/raw"
expect_text "$work/raw" '^HTTP/1.1 413' "an oversized submission is refused before it is sent"
head -c 9000000 /dev/zero >"$work/large"
post /v1/jobs "@$work/large" -H 'Expect:'
expect_status 413 "and one that comes all the same is answered"
raw "POST /v1/jobs HTTP/1.1\r\n${type}Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n" >"$work/raw"
expect_text "$work/raw" '^HTTP/1.1 411' "an endless one too"
(
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    printf 'POST /v1/jobs HTTP/1.1\r\n%bContent-Length: 5000\r\n\r\n{"candidate":' "$type" >&5
)
curl -s -m 0.2 "$url/v1/jobs/$first?wait=30" >/dev/null
ask "$url/health"
expect_text "$work/body" '"status":"ok"' "clients that vanish leave a healthy server"

# --- the red team ---
caught() { # caught NAME VERDICTS
    finish_job "$1" 48x40x96
    expect_text "$work/body" "\"verdict\":\"($2)\".*\"reward\":\{\"value\":0," "red team: $1 is caught"
    expect_no_text "$work/body" 'a timed launch|projection|unmapped|seed|/tmp/' "red team: $1 is not told how"
}
caught stale 'wrong_result|implausible_speed'
caught half-sums 'wrong_result|precision_class'
caught write-2-bytes oob_write
caught segfault 'crash|early_exit' # the latter under a sanitizer, which makes an exit of it
caught abort 'crash|early_exit'
finish_job abort 48x40x104
expect_text "$work/body" '"worker":"new"' "red team: no worker is kept of a job that failed"
finish_job steady 40x40x40
expect_text "$work/body" '"verdict":"ok"' "the queue goes on after a worker died"

# --- limits, batches, taking back ---
batch=
for k in 8 16 24 32 40 48; do
    batch="$batch${batch:+,}$(job steady "16x16x$k")"
done
post /v1/jobs "{\"jobs\":[$batch]}"
expect_status 202 "a batch is taken"
[ "$(grep -o '"state":"' "$work/body" | wc -l)" -eq 4 ] && [ "$(grep -o '"status":429' "$work/body" | wc -l)" -eq 2 ]
verdict $? "as far as the queue has room" "$(cat "$work/body")"
last=$(grep -o '"id":"[0-9a-f]*"' "$work/body" | tail -1 | cut -d'"' -f4)
ask -X DELETE "$url/v1/jobs/$last"
expect_text "$work/body" '"verdict":"cancelled"' "what waits can be taken back"

# --- kill -9 in mid queue ---
[ "$(find "$work/jobs" -name submission.json | wc -l)" -gt "$(find "$work/jobs" -name outcome.json | wc -l)" ]
verdict $? "jobs are open when the server is killed"
end KILL
fatal=$(dirname "$(grep -l 16x16x24 "$work"/jobs/jobs/*/*/submission.json)")
echo 9 >"$fatal/attempts"
begin "$work/jobs"
ask "$url/v1/jobs/$(basename "$fatal")?wait=60"
expect_text "$work/body" '"verdict":"failed".*several times.*"reward":null' "a job that ended the server several times is given up"
for k in 8 16 24; do
    post /v1/jobs "$(job steady "16x16x$k")"
    ask "$url/v1/jobs/$(field id)?wait=60"
    expect_text "$work/body" '"verdict":"ok"' "kill -9: the job of K=$k is done after the restart"
done
ask "$url/v1/jobs/$first"
expect_text "$work/body" '"verdict":"ok"' "kill -9: what was done is still there"
finish_job steady 32x48x67
expect_text "$work/body" '"neighbours":\[\{"problem":"32x48x64"' "kill -9: and still is a neighbour"
ask "$url/metrics"
expect_text "$work/body" '^cudal2_serve_outcomes_total\{verdict="ok"\} [0-9]' "metrics count outcomes"
if command -v promtool >/dev/null || [ -x "$consumers/promtool" ]; then
    PATH=$PATH:$consumers promtool check metrics <"$work/body" >"$work/said" 2>&1
    verdict $? "promtool accepts the metrics" "$(head -3 "$work/said")"
else
    echo "skip: promtool (not here: scripts/consumers.sh gets it)"
fi

# --- KernelGYM ---
post /evaluate '{"task_id":"t-1","reference_code":"class Model: pass","kernel_code":"see below","backend":"cuda","num_perf_trials":100,
 "cudal2":{"candidate":"steady","problem":"24x24x24","half_width":0.5,"seconds":0.1}}'
expect_text "$work/body" '"task_id":"t-1","status":"completed","compiled":true,"correctness":true,.*"speedup":[0-9.]+' "KernelGYM: evaluate"
ask "$url/status/t-1"
expect_text "$work/body" '"status":"completed"' "KernelGYM: status"
ask "$url/results/t-1"
expect_text "$work/body" '"kernel_runtime":[0-9.e-]+' "KernelGYM: results"
post /evaluate '{"task_id":"t-1","kernel_code":"other","cudal2":{"candidate":"steady","problem":"8x8x8"}}'
expect_status 409 "KernelGYM: a task_id is not used twice"

post /evaluate/batch '{"batch_id":"b-1","tasks":[
 {"task_id":"t-2","reference_code":"class Model: pass","kernel_code":"see below","cudal2":{"candidate":"steady","problem":"24x24x32","half_width":0.5,"seconds":0.1}},
 {"task_id":"t-3","reference_code":"class Model: pass","kernel_code":"see below","cudal2":{"candidate":"steady","problem":"24x24x40","half_width":0.5,"seconds":0.1}}]}'
expect_text "$work/body" '"batch_id":"b-1","total_tasks":2,"completed_tasks":2,"failed_tasks":0,"batch_status":"completed".*"task_id":"t-2".*"task_id":"t-3"' "KernelGYM: a batch"

# --- events ---
post /v1/jobs "{\"jobs\":[$(job steady 24x16x8),$(job steady 24x16x16)]}"
id=$(grep -o '"id":"[0-9a-f]*"' "$work/body" | tail -1 | cut -d'"' -f4)
ask -N "$url/v1/jobs/$id/events"
expect_status 200 "events: a stream that ends"
expect_text "$work/body" '^event: state$' "events: the state at once"
tail -3 "$work/body" >"$work/last"
expect_text "$work/last" '^data: \{"verdict":"ok","reward":' "events: the outcome at last"
streams() { # streams N: waits until so many are open
    for _ in $(seq 300); do
        ask "$url/metrics"
        grep -q "^cudal2_serve_streams $1\$" "$work/body" && return
        sleep 0.1
    done
    return 1
}
post /v1/jobs "{\"candidate\":\"steady\",\"problem\":\"24x16x24\",\"half_width\":0.0005,\"seconds\":12}"
id=$(field id)
curl -sN "$url/v1/jobs/$id/events" >"$work/stream" &
reader=$!
streams 1
verdict $? "events: a reader is counted"
kill -9 "$reader"
wait "$reader" 2>/dev/null
streams 0
verdict $? "events: a reader that vanishes is forgotten"
ask "$url/v1/jobs/$id?wait=60"
expect_text "$work/body" '"verdict":"ok"' "events: and its job is measured all the same"

# --- source, where there is a compiler ---
kernels=$(dirname "$bench")/../kernels
if "$bench" verify --compile-only --shape 64x64x64 --variants 1 "$kernels/skeleton.json" >/dev/null 2>&1; then
    manifest=$(tr -d '\n' <"$kernels/skeleton.json")
    source() { # source TEXT: a submission of it, waited for
        post /v1/jobs "{\"source\":\"$1\",\"manifest\":$manifest,\"problem\":\"64x64x64\"}"
        ask "$url/v1/jobs/$(field id)?wait=60"
    }
    source 'extern \"C\" __global__ void skeleton() { undeclared = 1; }'
    expect_text "$work/body" '"verdict":"compile_error","stage":"compile".*kernel.cu\(1\): error: .*undeclared' "source: the compiler's lines"
    cubins() { find "$CUDAL2_CACHE/cubin" -type f 2>/dev/null | wc -l; }
    before=$(cubins)
    source 'extern \"C\" __global__ void skeleton(const u16 *a, const u16 *b, u16 *c, int m, int n, int k) { __shared__ float sums[64]; int seen[40]; for (int i = 0; i < k; i++) seen[a[i] % 40] = b[i]; sums[m % 64] = seen[n % 40] * 1.5f + a[0]; __syncthreads(); c[0] = sums[k % 64]; }'
    [ "$(cubins)" -eq $((before + 2)) ]
    verdict $? "source: both layouts are compiled before a device has the job" "$before and $(cubins) cubins"
    expect_text "$work/body" '"code":\{[^}]*"registers":[1-9][0-9]*,' "code: registers"
    expect_text "$work/body" '"code":\{[^}]*"spill_bytes":0,' "code: spills"
    expect_text "$work/body" '"code":\{[^}]*"stack_bytes":(16[0-9]|1[7-9][0-9]),' "code: stack, of an array of 40 that is indexed by what is read"
    expect_text "$work/body" '"code":\{[^}]*"static_shared_bytes":256,' "code: shared memory, of the 64 floats"
    expect_text "$work/body" '"code":\{[^}]*"code_bytes":[1-9]' "code: bytes"
    expect_text "$work/body" '"code":\{[^}]*"instructions":"fma.f32"' "code: instructions"
    expect_text "$work/body" '"instruction_mix":\{"other":0,"tensor":0,"float":[1-9].*"load_global":[1-9][0-9]*,"store_global":1,"load_shared":1,"store_shared":1,"local":[1-9].*"barrier":1,"control":[1-9][0-9]*,"total":[1-9]' "code: as many of each class as the source has"
    expect_text "$work/body" '"code":\{[^}]*"threads":256,.*"blocks_per_multiprocessor":8,"occupancy":1[,}]' "code: occupancy"
    source '#include \"/etc/passwd\"\n'
    expect_text "$work/body" '"verdict":"(invalid|compile_error)"' "source: a file of the host is not read"
    expect_no_text "$work/body" 'root:|/jobs/' "source: and nothing of it or of our paths is told"
    post /v1/jobs "{\"cubin\":\"AAAA\",\"manifest\":$manifest,\"problem\":\"64x64x64\"}"
    ask "$url/v1/jobs/$(field id)?wait=60"
    expect_text "$work/body" '"verdict":"(load_error|invalid)".*"reward":\{"value":0,' "source: a binary that is none"
    expect_no_text "$work/body" '/jobs/' "source: and none of our paths is told of it"
fi

# --- two servers behind a load balancer ---
mkdir "$work/shared"
first_server=$server first_url=$url
run serve --listen 127.0.0.1:0 --device cpu --plugins "$work/plugins" --baselines honest --output "$work/elsewhere" --peers "$work/shared"
expect_code 64 "peers: an output that is not among them"
begin "$work/shared/a" --peers "$work/shared"
server_a=$server url_a=$url
begin "$work/shared/b" --peers "$work/shared"
server_b=$server url_b=$url
url=$url_a
post /v1/jobs "$(job steady 24x24x56)"
id=$(field id)
ask "$url_b/v1/jobs/$id?wait=60"
expect_text "$work/body" '"verdict":"ok"' "peers: another server waits for the outcome and tells it"
url=$url_b
post /v1/jobs "$(job steady 24x24x56)"
expect_status 200 "peers: the same content is not measured again"
ask -N "$url_b/v1/jobs/$id/events"
expect_text "$work/body" '^event: outcome$' "peers: its events too"
kill -9 "$server_a"
wait "$server_a" 2>/dev/null
server_a=
ask "$url_b/v1/jobs/$id"
expect_text "$work/body" '"verdict":"ok"' "peers: also of a server that is gone"
server=$server_b
end TERM
server=$first_server
url=$first_url
server_b=
first_server=

# --- TERM ---
post /v1/jobs "{\"jobs\":[$(job steady 56x8x8),$(job steady 56x8x16)]}"
end TERM
[ "$code" -eq 0 ]
verdict $? "TERM: ends well" "exit status $code"

# --- tokens ---
echo 'alice' >"$work/tokens"
chmod 600 "$work/tokens"
run serve --device cpu --output "$work/owned" --tokens "$work/tokens"
expect_code 65 "tokens: a line without one is refused"
printf 'alice aaaaaaaaaaaaaaaa\nbob bbbbbbbbbbbbbbbbbb\n' >"$work/tokens"
chmod 600 "$work/tokens"
begin "$work/owned" --tokens "$work/tokens" --quota 1
post /v1/jobs "$(job steady 24x8x8)"
expect_status 401 "tokens: without one"
alice='Authorization: Bearer aaaaaaaaaaaaaaaa'
post /v1/jobs "{\"jobs\":[$(job steady 24x8x8),$(job steady 24x8x16)]}" -H "$alice"
expect_text "$work/body" '"status":429' "tokens: a client has its quota"
id=$(field id)
ask -H 'Authorization: Bearer bbbbbbbbbbbbbbbbbb' "$url/v1/jobs/$id"
expect_status 404 "tokens: another's job is not told"
ask -H "$alice" "$url/v1/jobs/$id?wait=60"
expect_text "$work/body" '"verdict":"ok"' "tokens: one's own is"
end TERM

# --- what TERM left is measured, and then the disk is full ---
mkdir "$work/disk"
if mount -t tmpfs -o size=1m tmpfs "$work/disk" 2>/dev/null; then
    cp -r "$work/jobs" "$work/disk/jobs" 2>/dev/null
    begin "$work/disk/jobs"
    ask "$url/health"
    expect_text "$work/body" '"status":"ok"' "full disk: the server is up"
    finish_job steady 56x8x16
    expect_text "$work/body" '"verdict":"ok"' "TERM: what waited is done by the next server"
    dd if=/dev/zero of="$work/disk/full" bs=4k 2>/dev/null
    post /v1/jobs "$(job steady 72x8x8)"
    expect_status 507 "full disk: a submission is refused as that"
    rm "$work/disk/full"
    post /v1/jobs "$(job steady 72x8x8)"
    id=$(field id)
    dd if=/dev/zero of="$work/disk/full" bs=4k 2>/dev/null
    ask "$url/v1/jobs/$id?wait=60"
    expect_text "$work/body" '"verdict":"failed".*"reward":null' "full disk: what is measured then has no reward, and says so"
    rm "$work/disk/full"
    finish_job steady 72x8x8
    expect_text "$work/body" '"verdict":"ok"' "full disk: and can be submitted again when there is room"
    end TERM
else
    echo "# cannot mount a tmpfs here: a full disk was not tested"
fi
finish
