#!/bin/bash
# lint-includes.sh: proves the order of the rooms under harness/. A file includes only its own room and the rooms named for it
# below; baselines and plugins include abi/contender.h and their own neighbours, nothing else of the project.
set -u
cd "$(dirname "$0")/.." || exit 1
declare -A may=(
    [abi]=""
    [base]="abi"
    [stats]="base abi"
    [config]="stats base abi"
    [compile]="base abi"
    [device]="compile base abi"
    [contender]="device compile base abi"
    [choice]="contender device compile base abi"
    [operands]="contender device compile base abi"
    # record.h keeps the device's own health struct: a type, no code of the room.
    [result]="config stats base abi device/device.h"
    [measure]="operands choice contender device compile result config stats base abi"
    [verify]="measure operands choice contender device compile result config stats base abi"
    [worker]="verify measure operands choice contender device compile result config stats base abi"
    [run]="worker result config stats base abi device/device.h"
    [tune]="run worker verify measure operands choice contender device compile result config stats base abi"
    [report]="result config stats base abi"
    [compare]="report result config stats base abi"
    [cli]="compare report tune run worker verify measure operands choice contender device compile result config stats base abi"
)
bad=0

complain() {
    echo "$1"
    bad=1
}

includes_of() {
    grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1" | sed -E 's/^([0-9]+):.*"([^"]+)".*/\1 \2/'
}

allowed() { # allowed ROOM TARGET
    local room=$1 target=$2 entry
    [ "${target%%/*}" = "$room" ] && return 0
    for entry in ${may[$room]}; do
        [ "$entry" = "$target" ] && return 0
        [ "$entry" = "${target%%/*}" ] && return 0
    done
    return 1
}

for file in harness/*/*.[ch]; do
    room=$(basename "$(dirname "$file")")
    if [ -z "${may[$room]+known}" ]; then
        complain "$file: the room \"$room\" has no place in the order (scripts/lint-includes.sh)"
        continue
    fi
    while read -r line target; do
        case $target in
        */*) ;;
        *)
            complain "$file:$line: include \"$target\" by room (\"room/file.h\")"
            continue
            ;;
        esac
        [ -f "harness/$target" ] || complain "$file:$line: there is no harness/$target"
        allowed "$room" "$target" || complain "$file:$line: $room may not include $target"
    done < <(includes_of "$file")
done

for file in baselines/*.[ch] baselines/*.cpp kernels/plugins/*.c tests/plugins/*.[ch]; do
    while read -r line target; do
        [ "$target" = abi/contender.h ] && continue
        case $target in
        */*) complain "$file:$line: a plugin includes abi/contender.h and nothing else of the project" ;;
        *) [ -f "$(dirname "$file")/$target" ] || complain "$file:$line: there is no $(dirname "$file")/$target" ;;
        esac
    done < <(includes_of "$file")
done

[ "$bad" -eq 0 ] && echo "includes: every room includes only what stands below it"
exit "$bad"
