#!/bin/bash
# lint-includes.sh: proves the order of the rooms under harness/. A file includes only its own room and the
# rooms named for it below; baselines and plugins include abi/contender.h and their own neighbours, nothing
# else of the project.
set -u
cd "$(dirname "$0")/.." || exit 1
declare -A may=(
    [abi]=""
    [base]="abi"
    [model]="base abi"
    [stats]="base abi"
    [config]="model stats base abi"
    [compile]="model base abi"
    [device]="compile model base abi"
    [contender]="device compile model base abi"
    # What knows one kernel set is in this room alone, and only choice and tune may include it.
    [choice/cudal2]="device model base abi"
    [choice]="choice/cudal2 contender device compile model base abi"
    [operands]="contender device compile model base abi"
    [record]="config model stats base abi"
    [analysis]="record config model stats base abi"
    [result]="analysis record config model stats base abi"
    [measure]="analysis record operands choice contender device compile config model stats base abi"
    [verify]="measure analysis record operands choice contender device compile config model stats base abi"
    [worker]="verify measure analysis record operands choice contender device compile config model stats base abi"
    [run]="worker result record config model stats base abi"
    [gather]="run worker result record config model stats base abi"
    [tune]="choice/cudal2 run worker verify measure analysis record operands choice contender device compile result config model stats base abi"
    [serve]="run result analysis record config model stats base abi"
    [report]="result analysis record config model stats base abi"
    [compare]="report result analysis record config model stats base abi"
    [cli]="gather serve compare report tune run worker verify measure operands choice contender device compile result analysis record config model stats base abi"
)
bad=0

complain() {
    echo "$1"
    bad=1
}

includes_of() {
    grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$1" | sed -E 's/^([0-9]+):.*"([^"]+)".*/\1 \2/'
}

# The room of a path under harness/: its directory, or the first part of it where that is no room.
room_of() { # room_of PATH
    local directory=${1%/*}
    [ -n "${may[$directory]+known}" ] && echo "$directory" || echo "${1%%/*}"
}

allowed() { # allowed ROOM TARGET
    local room=$1 target=$2 theirs entry
    theirs=$(room_of "$target")
    [ "$theirs" = "$room" ] && return 0
    for entry in ${may[$room]}; do
        [ "$entry" = "$theirs" ] && return 0
    done
    return 1
}

for file in $(find harness -mindepth 2 -name "*.[ch]" | sort); do
    room=$(room_of "${file#harness/}")
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

for file in baselines/*.[ch] baselines/*.cpp kernels/plugins/*.c tests/fixtures/plugins/*.[ch]; do
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
