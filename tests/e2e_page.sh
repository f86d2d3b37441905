#!/bin/bash
# The HTML page in a real browser without a display: sorts and filters the table, and reads values back.
. "$(dirname "$0")/e2e.inc.sh"
browser=
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && browser=$name && break
done
if [ -z "$browser" ]; then
    echo "no chromium here (apt-get install chromium)"
    exit 77
fi
cell() { # cell M N K SPEEDUP TIME_NS
    printf '{"key":"offline/f16-f32-%sx%sx%s","m":%s,"n":%s,"k":%s,"dtype":"f16","accumulate":"f32","mode":"offline","status":"ok",' "$1" "$2" "$3" "$1" "$2" "$3"
    printf '"env":0,"headline":"device","converged":true,"contenders":{"cudal2-nn":{"status":"ok","role":"candidate","timings":{"device":{"median_ns":%s}}},' "$5"
    printf '"torch.matmul":{"status":"ok","role":"baseline","timings":{"device":{"median_ns":5000}}}},'
    printf '"speedups":[{"candidate":"cudal2-max","reference":"torch.matmul","timing":"device","geomean":%s,"mean_of_ratios":%s,"ci95":[-0.5,0.9]}]}' "$4" "$4"
}
summary='{"counts":{"cells":3},"speedups":[{"mode":"offline","dtype":"f16","accumulate":"f32","timing":"device","candidate":"cudal2-max","reference":"torch.matmul","n":3,"mean":0.1,"geomean":0.1,"wins":2}]}'
head='{"schema":"cudal2-bench/result","schema_version":1,"run":{"n_cells":3,"complete":true,"missing":[],"sittings":[]},"env":[{"device":{"name":"Test GPU","driver":"1"}}],"summary":'
echo "$head$summary,\"cells\":[$(cell 64 64 64 0.25 4000),$(cell 128 64 64 0.5 3333),$(cell 256 64 64 -0.2 6250)]}" >"$work/small.json"

# show PAGE WIDTH: what page_check.js wrote down.
show() {
    { cat "$1"; echo '<script>'; cat tests/page_check.js; echo '</script>'; } >"$work/checked.html"
    HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
        --window-size="$2",900 --dump-dom "file://$work/checked.html" 2>"$work/browser.err" | grep -oE '^(<pre>)?PAGE .*|<pre>PAGE .*' | sed 's/<pre>//; s/<.pre>.*//' | sed 's/&lt;/</g' >"$work/said"
}
said() { # said NAME VALUE
    grep -qxF "PAGE $1=$2" "$work/said"
    verdict $? "page: $1 is $2" "$(cat "$work/said")"
}
run report "$work/small.json" --format html --output "$work/small"
expect_code 0 "a page is made"
show "$work/small/report.html" 1280
said baselines 1
said dots 3
said heat 3
said falling "128×64×64,64×64×64,256×64×64"
said fastest "+50.0%"
said rising "256×64×64,64×64×64,128×64×64"
said filtered "256×64×64,128×64×64"
said count "2 of 3 shapes"
said slower "256×64×64"
said time "4.00 µs"
said wide no
# A phone: nothing but the tables scrolls sideways. (Headless windows are at least 500 wide.)
show "$work/small/report.html" 500
said wide no

# --- 1000 shapes ---
{
    printf '%s%s,"cells":[' "$head" "$summary"
    separator=
    for m in 64 128 256 512 1024 2048 4096 8192 12288 16384; do
        for n in 64 128 256 512 1024 2048 4096 8192 12288 16384; do
            for k in 64 128 256 512 1024 2048 4096 8192 12288 16384; do
                printf '%s' "$separator"
                cell $m $n $k 0.1 4000
                separator=,
            done
        done
    done
    printf ']}'
} >"$work/big.json"
run report "$work/big.json" --format html --output "$work/big"
expect_code 0 "a page of 1000 shapes is made"
[ "$(wc -c <"$work/big/report.html")" -lt 3000000 ]
verdict $? "it is under 3 MB"
# The fastest of three: other tests may be running on this machine.
for _ in 1 2 3; do
    show "$work/big/report.html" 1280
    grep -qx 'PAGE ready=in time' "$work/said" && break
done
said ready "in time"
said dots 1000
said heat 1000
[ -s "$work/big/report.html" ] && ! grep -qE 'https?://' "$work/big/report.html"
verdict $? "and asks nothing of the network"
finish
