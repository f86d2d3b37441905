#!/bin/bash
# What a cell states that it needs is what it takes: the peak of its worker, beyond what that held when it had
# loaded its plugins, stays under the need, and under a limit that is just the need. Probes of long K work in
# slabs; what takes long by its size alone is no hang.
. "$(dirname "$0")/e2e.inc.sh"
[ -n "${CUDAL2_SLOW:-}" ] || { echo "takes 40 s: make test-all"; exit 77; }
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 4, "max_cell_seconds": 5}, "verify": {"cache": false}'

measure() { # measure M N K LIMIT [MORE-LIMITS]
    rm -f "$work"/m.out.json "$work"/m.out.journal.jsonl
    config "$work/m.json" "{\"m\": $1, \"n\": $2, \"k\": $3}" '"offline"' "\"$plugins/steady.so\"" "$stop"
    sed -i "s/\"limits\": {/&\"memory_bytes\": $4, /" "$work/m.json"
    [ -z "${5:-}" ] || sed -i "s/\"verify_seconds\": 20/$5/" "$work/m.json"
    run --config "$work/m.json" --device cpu --quiet --output "$work/m.out.json"
}

taken() { # bytes that measuring took, from the journal's end
    echo $(($(sed -n 's/.*"worker_peak_bytes":\([0-9]*\),"worker_ready_bytes":\([0-9]*\).*/\1 - \2/p' "$work/m.out.journal.jsonl")))
}

# A sanitizer's own memory is none of ours.
if ! grep -q __asan_init "$bench"; then
    for shape in "1 131072 1" "131072 1 8" "512 512 64" "64 48 20000" "900 700 1100"; do
        read -r m n k <<<"$shape"
        measure "$m" "$n" "$k" 1
        need=$(sed -n 's/.*"reason":"needs \([0-9]*\) bytes.*/\1/p' "$work/m.out.journal.jsonl" | head -1)
        measure "$m" "$n" "$k" "${need:-1}"
        expect_code 0 "${m}x${n}x$k is measured with a limit of what it needs, ${need:-nothing}"
        got=$(taken)
        [ "$got" -gt 0 ] && [ "$got" -le "$need" ]
        verdict $? "${m}x${n}x$k stays under it" "took $got of $need"
    done
    # Beside it the room for what empties the cache, which no launch here does: twice a cache of any size.
    cache=$(sed -n 's/.*"l2_bytes":\([0-9]*\).*/\1/p' "$work/m.out.journal.jsonl" | head -1)
    measure 1 131072 1 $((300000000 + 2 * ${cache:-0}))
    expect_code 0 "1x131072x1 with a limit of 300 MB"
    [ "$(taken)" -lt 300000000 ]
    verdict $? "1x131072x1 stays under 300 MB" "$(taken)"
    expect_text "$work/m.out.journal.jsonl" '"class":"f32"' "and is probed all the same, in a slab"
fi
measure 1 1048576 1 0 '"verify_seconds": 0.1'
expect_code 0 "1x1048576x1 finishes: what is long by its size is no hang"
expect_no_text "$work/m.out.journal.jsonl" '"status":"(hang|failed)"' "and nobody hangs"
finish
