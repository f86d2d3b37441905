#!/bin/bash
# price.sh: what the checks during timing cost. Runs SHAPES shapes of a config with verify.honesty on and off,
# in alternation, and prints the share of wall time that the checks take: as it was, and for equal numbers of
# blocks in each cell (a run without checks may need more, and chance moves both).
#
#   scripts/price.sh [-p PROGRAM] [-o DIR] [-d DEVICE] [-c CONFIG] [-n SHAPES] [-r ROUNDS] [-m MOST] [-- RUN_OPTION...]
#
# 200 shapes of configs/grid.json, 2 rounds and at most 10 percent unless told otherwise. DIR gets results,
# journals and price.txt. By mode it says where they go: blocks, scatter, seconds (price-where.py), and where
# times scatter more (price-scatter.py). Intervals say what other shapes would give (price-share.py): one
# round of 26 shapes says little.
# Every run verifies anew (verify.cache false). A run that does not count compiles the kernels beforehand.
# Exit 0: the share is at most MOST percent in the mean; 1: more; else a run failed. For a GPU; on the CPU
# every launch is checked.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 70
bench=$root/build/cudal2-bench out=results/local/price device=auto config=$root/configs/grid.json shapes=200 rounds=2 most=10
usage() {
    sed -n 6p "$0" | cut -c5- >&2
    exit 64
}
while getopts p:o:d:c:n:r:m: flag; do
    case $flag in
    p) bench=$OPTARG ;;
    o) out=$OPTARG ;;
    d) device=$OPTARG ;;
    c) config=$OPTARG ;;
    n) shapes=$OPTARG ;;
    r) rounds=$OPTARG ;;
    m) most=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
mkdir -p "$out" || exit 73

configs() { # of the arms: the same shapes, drawn once and for all
    python3 - "$config" "$out" "$shapes" <<'END'
import itertools, json, random, sys

path, out, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(path) as file:
    config = json.load(file)
grid = config.pop("grid", None)
shapes = config.get("shapes", [])
if grid:
    shapes = [dict(zip("mnk", shape)) for shape in itertools.product(grid["m"], grid["n"], grid["k"])]
places = random.Random(1).sample(range(len(shapes)), min(wanted, len(shapes)))  # a fixed step meets one K only
config["shapes"] = [shapes[i] for i in sorted(places)]
usual = config.get("stop", {})
for arm in ("warm", "on", "off"):
    config["verify"] = {**config.get("verify", {}), "honesty": arm == "on", "cache": False}
    config["stop"] = {**usual, "group_blocks": 1, "min_blocks": 2, "least_blocks": 2, "look_every": 2, "max_blocks": 2} if arm == "warm" else usual
    with open(f"{out}/{arm}.config.json", "w") as file:
        json.dump(config, file, indent=1)
END
}

run() { # run ROUND ARM OPTION...: "round arm seconds" to runs.txt
    local name=$out/$1-$2 start code
    local round=$1 arm=$2
    shift 2
    rm -f "$name.json" "$name.journal.jsonl"
    start=${EPOCHREALTIME//[.,]/}
    "$bench" run --config "$out/$arm.config.json" --device "$device" --output "$name.json" --quiet --seed "$round" "$@" \
        >"$name.log" 2>&1 </dev/null
    code=$?
    [ "$code" -le 3 ] || { cat "$name.log" >&2 && exit "$code"; } # 2 and 3 are verdicts on contenders
    echo "$round $arm $(((${EPOCHREALTIME//[.,]/} - start) / 1000))" >>"$out/runs.txt"
}

configs || exit
: >"$out/runs.txt"
run 0 warm "$@"
: >"$out/runs.txt"
for ((round = 1; round <= rounds; round++)); do
    arms='on off'
    ((round % 2)) || arms='off on'
    for arm in $arms; do run "$round" "$arm" "$@"; done
done
where() { # the checks go, round by round
    for ((round = 1; round <= rounds; round++)); do
        printf '\nRound %d:\n\n' "$round"
        python3 "$root/scripts/price-where.py" "$out/$round-on.journal.jsonl" "$out/$round-off.journal.jsonl" || return
    done
}

scatter() { # of times with checks, all rounds together
    local journals=()
    for ((round = 1; round <= rounds; round++)); do
        journals+=("$out/$round-on.journal.jsonl" "$out/$round-off.journal.jsonl")
    done
    printf '\nScatter, all rounds:\n\n'
    python3 "$root/scripts/price-scatter.py" "${journals[@]}"
}

python3 "$root/scripts/price-share.py" "$out" "$most" >"$out/price.txt"
code=$?
where >>"$out/price.txt" || code=70
scatter >>"$out/price.txt" || code=70
cat "$out/price.txt"
exit "$code"
