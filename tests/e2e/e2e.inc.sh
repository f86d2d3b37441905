# e2e.inc.sh - what the end-to-end tests share; sourced, not run. The program is $CUDAL2_BENCH (default
# build/cudal2-bench). A test that uses no plugins says without_plugins=yes first.
set -u
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
case $bench in /*) ;; *) bench=$PWD/$bench ;; esac
tested_build=$(dirname "$bench")
plugins=$tested_build/tests/plugins
work=$(mktemp -d /tmp/cudal2-e2e-XXXXXX) || exit 1
export CUDAL2_CACHE=$work/cache
# As --plugins, for a test of something else: no family is installed, and nobody loads libtorch, which takes a
# processor second.
nothing=$work/nothing
mkdir "$nothing"
failures=0
at_exit() { :; }
trap 'at_exit; rm -rf "$work"' EXIT
[ -x "$bench" ] || { echo "no $bench"; exit 1; }
[ -n "${without_plugins:-}" ] || [ -e "$plugins/honest.so" ] || { echo "no $plugins/honest.so (make tests-build)"; exit 1; }

verdict() { # verdict STATUS NAME [DETAIL]
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2${3:+: $3}"
        failures=$((failures + 1))
    fi
}

# Runs the program for run_seconds (120) at most, keeps stdout, stderr and the exit status in $work/out,
# $work/err and $code.
run() {
    timeout -k 5 "${run_seconds:-120}" "$bench" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

expect_code() { # expect_code CODE NAME: of the last run; stderr is the detail
    if [ "$code" -eq "$1" ]; then
        verdict 0 "$2"
    else
        verdict 1 "$2" "exit status $code instead of $1; $(tail -1 "$work/err")"
        tail -40 "$work/err" | sed 's/^/#     /'
    fi
}

expect_text() { # expect_text FILE PATTERN NAME
    if grep -Eq -- "$2" "$1"; then verdict 0 "$3"; else verdict 1 "$3" "no /$2/ in: $(tail -3 "$1")"; fi
}

expect_no_text() { # expect_no_text FILE PATTERN NAME
    if grep -Eq -- "$2" "$1"; then verdict 1 "$3" "$(grep -E -- "$2" "$1" | head -1 | cut -c1-200)"; else verdict 0 "$3"; fi
}

# This exit status, one line on stderr that has the pattern, and nothing on stdout.
expect_refused() { # expect_refused CODE NAME PATTERN COMMAND ARGUMENT...
    local want=$1 name=$2 pattern=$3
    shift 3
    run "$@"
    expect_code "$want" "$name"
    expect_text "$work/err" "^cudal2-bench: .*$pattern" "$name: says why"
    [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ]
    verdict $? "$name: in one line" "$(cat "$work/err")"
}

# One config: config FILE SHAPES MODES CANDIDATES [MORE]; the baseline is the honest plugin. Baselines are not
# timed again without the candidates unless MORE has "rivals" (e2e_rivals.sh).
config() {
    local more=${5:-}
    case $more in
    *'"rivals"'*) ;;
    *'"verify": {'*) more=${more/'"verify": {'/'"verify": {"rivals": 0, '} ;;
    *) more="\"verify\": {\"rivals\": 0}${more:+, $more}" ;;
    esac
    cat >"$1" <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "e2e", "shapes": [$2], "dtype": "native", "accumulate": ["f32"],
 "layouts": ["nn"], "modes": [$3], "baselines": ["$plugins/honest.so"], "candidates": [$4],
 "limits": {"setup_seconds": 20, "verify_seconds": 20, "launch_seconds": ${launch_seconds:-2}, "tune_seconds": 20}${more:+, $more}}
END
}

# Ended: it is gone or has no memory any more. A worker is listed until the machine's first process has asked
# for the ends of all that it started, which takes that one two seconds.
is_over() { # is_over PID
    ! grep -qs '^VmSize:' "/proc/$1/status"
}

# make in the build that is tested: another compiler than the one that made it would make it again, for the
# other tests too.
make_built() { # make_built ARGUMENT...
    make -C "$(dirname "${BASH_SOURCE[0]}")/../.." --no-print-directory BUILD="$tested_build" \
        CC="$(sed 's/ -std=c17.*//' "$tested_build/flags")" "$@"
}

# "mode m n k" of every cell in a journal, one a line.
journal_cells() {
    grep '"kind":"cell"' "$1" |
        sed -E 's/.*"data":\{"m":([0-9]+),"n":([0-9]+),"k":([0-9]+),.*"mode":"([a-z]+)","headline".*/\4 \1 \2 \3/'
}

finish() {
    [ "$failures" -eq 0 ]
    exit $?
}
