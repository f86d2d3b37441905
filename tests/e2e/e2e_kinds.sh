#!/bin/bash
# Files that are no files: a FIFO, a directory, a socket, a device, one far too large, in the place of
# everything that a user names. Each is refused at once, by one line that names it; nothing waits for somebody
# to write into a FIFO.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
run_seconds=20
kinds='fifo directory socket device huge'
config "$work/good.json" '{"m": 8, "n": 8, "k": 8}' '"offline"' '' '"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2}'
command -v python3 >/dev/null || { kinds=${kinds/socket /}; echo "# no python3 to make a socket with"; }

put() { # put KIND PATH
    rm -rf "$2"
    case $1 in
    fifo) mkfifo "$2" ;;
    directory) mkdir "$2" ;;
    socket) python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$2" ;;
    device) ln -s /dev/zero "$2" ;;
    huge) truncate -s 900G "$2" ;;
    esac
}

refused() { # refused CODES NAME ARGUMENT...: at once, and the file is named in one line
    local codes=$1 name=$2 begin=$SECONDS
    shift 2
    run "$@"
    case " $codes " in *" $code "*) true ;; *) false ;; esac
    verdict $? "$name: exit status" "$code instead of $codes: $(tail -1 "$work/err")"
    [ $((SECONDS - begin)) -lt 10 ]
    verdict $? "$name: at once" "after $((SECONDS - begin)) s"
    cat "$work/out" "$work/err" >"$work/both"
    expect_text "$work/both" "x\.[a-z.]*: ($wanted)" "$name: says what it is"
}

for kind in $kinds; do
    case $kind in
    fifo) wanted='not a regular file but a FIFO' ;;
    directory) wanted='not a regular file but a directory|no journal' ;;
    socket) wanted='not a regular file but a socket' ;;
    device) wanted='not a regular file but a device' ;;
    huge) wanted='[0-9]+ bytes, the limit is [0-9]+' ;;
    esac
    put "$kind" "$work/x.so"
    refused 2 "$kind as a plugin: verify" verify "$work/x.so" --device cpu --shape 8x8x8 --baselines "$plugins/honest.so"
    run list --device cpu --plugins "$nothing" -k "$work/x.so"
    expect_text "$work/out" "^x +candidate.*($wanted)" "$kind as a plugin: list"
    put "$kind" "$work/x.json"
    refused 65 "$kind as a module" verify "$work/x.json" --device cpu --shape 8x8x8
    refused 65 "$kind as a config" run --config "$work/x.json" --device cpu --output "$work/o.json"
    refused 65 "$kind as a result" report "$work/x.json"
    refused 65 "$kind as a result to compare" compare "$work/x.json" "$work/x.json"
    put "$kind" "$work/x.journal.jsonl"
    refused 65 "$kind as a journal" report "$work/x.journal.jsonl"
    rm -rf "$work/x.json"
    wanted='not a regular file|Is a directory|No such device|[0-9]+ bytes, the limit is'
    refused '65 73' "$kind as a journal to go on from" run --config "$work/good.json" --device cpu --output "$work/x.json" --resume
    rm -rf "$work"/x.*
done
finish
