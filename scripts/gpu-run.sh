#!/usr/bin/env bash
# Runs steps of the evaluation on a machine with a GPU and leaves journals and logs in one directory.
#
#   scripts/gpu-run.sh [-b BUILD] [-o DIR] [-t SECONDS] [-d DEVICE] [-n] STEP...
#
# steps: doctor            what is here
#        clock             device time against CUPTI, 20 shapes (tests/gpu_clock)
#        test              the GPU tests
#        paper:W:S[:R]     the paper's protocol beside R adaptive runs (1; scripts/paper-check.sh), W s of warm-up and S s for each pair
#        sensitivity       times and speedups by cache state and gap (scripts/sensitivity.sh)
#        odd:ACC           verification of the kernel set on 300 ragged problems (configs/odd.json)
#        ncu               what a profiler counts for five problems of different classes, on the first GPU (ncu.csv)
#        accuse[:P/OF[:ACC]] is anybody honest accused: NVIDIA's baselines over 693 shapes, part P of OF (0/8; scripts/accuse.sh)
#        tune:CONFIG:ACC:N a search over the config's shapes, N configurations a shape and layout; goes on likewise
#        update:CONFIG:ACC:N[:MODE] the same, and what it finds goes into this device's table for the mode in the kernel directory
#        explore[:ACC]     data for the ranker: configs/explore.json on all devices; goes on likewise
#        unseen:CHOICE:N[:TYPE] every Nth problem that nobody searched; CHOICE is race or zero (results/README.md), TYPE f16
#                          (the default) or bf16; goes on likewise
#        cold:CHOICE:N[:TYPE] of those the language models' with M up to 96, every Nth, their weights not cached; likewise
#        share:SEED:N      what a choice has of the best that a search of 512 configurations a layout finds: every Nth problem that
#                          SEED draws, but for the judged ones; raced, by first choice, searched, and with the table found
#        strongest:MODE:ACC 200 shapes beside every search of NVIDIA's algorithms there is
#        referee:TYPE[:DIR] the referee table's families, and what scripts/referee.sh has built in DIR (referee); goes on likewise;
#                          REFEREE_QUICK=1: on one GPU in one go (below)
#        published:DIR[:ACC[:MODE]] every kernel that scripts/import/import.py has built in DIR (f32, both modes), right or not,
#                          against NVIDIA's baselines, for scripts/import/receipts.py; goes on likewise; kernels that DIR has
#                          got since are in a -part2 and so on
#        CONFIG:MODE:ACC   a run, say grid:offline:f16; goes on from its journal when one is in DIR
# -t: TERM after so many seconds, so that a run ends cleanly inside a lease (exit 75) and the next call goes on.
# -n: without the A/A copy, a tenth shorter.
# Built already: the build directory is used as it is. Otherwise: make gpu-build first.
set -u
build=build
out=results/local
limit=86400
device=auto
aa=--aa
while getopts b:o:t:d:n flag; do
    case $flag in
    b) build=$OPTARG ;;
    o) out=$OPTARG ;;
    t) limit=$OPTARG ;;
    d) device=$OPTARG ;;
    n) aa= ;;
    *) exit 64 ;;
    esac
done
shift $((OPTIND - 1))
mkdir -p "$out"

# shellcheck source=scripts/torch-libraries.inc.sh
. "$(dirname "$0")"/torch-libraries.inc.sh
bench=$build/cudal2-bench
export CUDAL2_KERNELS=${CUDAL2_KERNELS:-$PWD/kernels}

stamp() {
    "$bench" --version | head -1
    date -u +%Y-%m-%dT%H:%M:%SZ
    nvidia-smi --query-gpu=name,driver_version,uuid,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null
}

run_config() { # CONFIG MODE ACC
    local base=$out/$1-$2-$3 resume=
    [ -f "$base.journal.jsonl" ] && resume=--resume
    local begin=$SECONDS
    timeout --preserve-status -s TERM "$limit" "$bench" run --config "configs/$1.json" --mode "$2" --accumulate "$3" $aa --device "$device" \
        --output "$base.json" $resume
    local rc=$?
    echo "gpu-run: $1 $2 $3: exit $rc after $((SECONDS - begin)) s, $(head -n 1 "$base.journal.jsonl" | grep -o '"commit":"[^"]*"')"
    return $rc
}

run_tune() { # CONFIG ACC BREADTH
    local base=$out/tune-$1-$2 resume=
    [ -f "$base.journal.jsonl" ] && resume=--resume
    timeout --preserve-status -s TERM "$limit" "$bench" tune --config "configs/$1.json" --accumulate "$2" --breadth "$3" --device "$device" \
        --output "$base.json" $resume
}

run_explore() { # ACC
    local base=$out/explore-$1 resume=
    [ -f "$base.journal.jsonl" ] && resume=--resume
    timeout --preserve-status -s TERM "$limit" "$bench" tune --explore --config configs/explore.json --accumulate "$1" --device "$device" \
        --output "$base.json" $resume
}

drawn() { # TYPE [--share N]: the problems that nobody searched, as a config
    python3 scripts/draw-shapes.py 20261125 "${@:2}" | sed "s/\"modes\"/\"dtype\": \"$1\", &/"
}

run_drawn() { # BASE CONFIG CHOICE [OPTION...]
    local base=$1 config=$2 choice=$3 resume=
    shift 3
    [ -f "$base.journal.jsonl" ] && resume=--resume
    timeout --preserve-status -s TERM "$limit" "$bench" run --config "$config" --choice "$choice" "$@" --baselines cublaslt-autotuning --device "$device" \
        --output "$base.json" $resume
}

run_unseen() { # CHOICE N TYPE
    local config=$out/unseen-$2-$3.json
    drawn "$3" --share "$2" >"$config" || return
    run_drawn "$out/unseen-$1-$3" "$config" "$1"
}

run_cold() { # CHOICE N TYPE
    local base=$out/cold-$1-$3
    drawn "$3" | python3 -c '
import json, sys
tree = json.load(sys.stdin)
tree["shapes"] = [s for s in tree["shapes"] if s["label"] == "llm" and s["m"] <= 96][:: int(sys.argv[1])]
json.dump(tree, sys.stdout)' "$2" >"$base.config.json" || return
    run_drawn "$base" "$base.config.json" "$1" --cache rotate
}

share_config() { # SEED N: none of the problems that choices are judged by
    python3 scripts/draw-shapes.py "$1" --share "$2" | python3 -c '
import json, sys
size = lambda s: (s["m"], s["n"], s["k"])
with open("configs/unseen.json") as file:
    judged = {size(s) for s in json.load(file)["shapes"]}
tree = json.load(sys.stdin)
tree["shapes"] = [s for s in tree["shapes"] if size(s) not in judged]
json.dump(tree, sys.stdout)'
}

run_share() { # SEED N
    local base=$out/share config=$out/share.json resume=
    share_config "$1" "$2" >"$config" || return
    run_drawn "$base-race" "$config" race && run_drawn "$base-zero" "$config" zero || return
    [ -f "$base-search.journal.jsonl" ] && resume=--resume
    timeout --preserve-status -s TERM "$limit" "$bench" tune --config "$config" --breadth 512 --device "$device" --output "$base-search.json" $resume || return
    run_drawn "$base-best" "$config" race --tuned "$base-search.json"
}

searched=torch.matmul,torch.matmul-full,cublas,cublas-autotune,cublaslt-heuristic,cublaslt-autotuning,cublaslt-exhaustive
run_strongest() { # MODE ACC
    local base=$out/strongest-$1-$2 resume=
    [ -f "$base.journal.jsonl" ] && resume=--resume
    timeout --preserve-status -s TERM "$limit" "$bench" run --config configs/fifth.json --mode "$1" --accumulate "$2" --baselines $searched $aa \
        --device "$device" --output "$base.json" $resume
}

# For one GPU in one go (REFEREE_QUICK=1): no exhaustive search, device times alone, cells that end earlier,
# and the shapes in an order of which any beginning is a fair sample.
referee_quick() { # CONFIG, in place
    python3 - "$1" <<'END'
import json, math, sys
with open(sys.argv[1]) as file:
    tree = json.load(file)
shapes = tree["shapes"]
n = len(shapes)
step = next(s for s in range(round(0.618 * n), 2 * n + 1) if math.gcd(s, n) == 1)
tree |= {"shapes": [shapes[i * step % n] for i in range(n)], "candidates": [c for c in tree["candidates"] if c != "cublaslt-exhaustive"], "timing": ["device"]}
tree["stop"] |= {"max_cell_seconds": 1.6, "least_blocks": 12, "offline_half_width": 0.0075}
tree.pop("other_timings_every", None)
with open(sys.argv[1], "w") as file:
    json.dump(tree, file, indent=1)
END
}

# What DIR/DTYPE has of a family: its set, or its plugin.
run_referee() { # TYPE [DIR]; TYPE: f16, bf16, or f16-f16 for fp16 sums
    local base=$out/referee-$1 dir=${2:-referee} resume='' kernels=() path name sums=''
    [ "${1#*-}" = "$1" ] || sums=${1#*-}
    sed -E 's/"dtype": "[a-z0-9]+"/"dtype": "'"${1%-*}"'"/; '"${sums:+s/\"accumulate\": \[[^]]*\]/\"accumulate\": [\"$sums\"]/}" "${REFEREE_CONFIG:-configs/referee.json}" >"$base.config.json" || return
    [ -z "${REFEREE_QUICK:-}" ] || referee_quick "$base.config.json" || return
    for path in "$dir/$1"/*/; do
        name=$(basename "$path")
        [ ! -e "$path$name.json" ] || kernels+=(-k "$(realpath "$path$name.json")")
        [ ! -e "$path$name.so" ] || kernels+=(-k "$(realpath "$path$name.so")")
    done
    [ ! -e "$dir/families.tsv" ] || cp "$dir/families.tsv" "$out/referee-families.tsv"
    [ -f "$base.journal.jsonl" ] && resume=--resume
    timeout --preserve-status -s TERM "$limit" "$bench" run --config "$base.config.json" "${kernels[@]}" --device "$device" --output "$base.json" $resume
}

# The shapes are those of the plugin's index, all else is the grid's. PUBLISHED_SETUP: seconds of a setup,
# with its first calls, in which a kernel may tune itself: it is a hang beyond (60). PUBLISHED_FURTHER: more
# baselines, by commas. Other PUBLISHED_*: for trying this step.
# The shapes of an index that no earlier part has, as a config; 1 where there is none.
published_config() { # INDEX EARLIER-CONFIG...
    python3 - "${PUBLISHED_CONFIG:-configs/grid.json}" "$@" <<'END'
import json, os, sys
tree = json.load(open(sys.argv[1]))
tree.pop("grid", None)
if os.environ.get("PUBLISHED_SETUP"):
    tree.setdefault("limits", {})["setup_seconds"] = float(os.environ["PUBLISHED_SETUP"])
had = {shape for path in sys.argv[3:] for shape in json.load(open(path))["shapes"]}
tree["shapes"] = [s for s in ("x".join(line.split("\t")[:3]) for line in open(sys.argv[2])) if s not in had]
json.dump(tree, sys.stdout, indent=1)
sys.exit(not tree["shapes"])
END
}

# A journal is of one list of shapes. So what an index has grown by since the last call is a part of its own.
run_published() { # DIR ACC MODE
    local name first base part=1 rc=0 code resume earlier=() begin=$SECONDS
    name=$(basename "$1")
    first=$out/published-$name-$3
    while :; do
        base=$first
        [ $part -gt 1 ] && base=$first-part$part
        resume=''
        if [ ! -f "$base.config.json" ]; then
            published_config "$1/$name.tsv" "${earlier[@]}" >"$base.new.json" || break
            mv "$base.new.json" "$base.config.json"
        fi
        [ -f "$base.journal.jsonl" ] && resume=--resume
        timeout --preserve-status -s TERM $((limit > SECONDS - begin ? limit - SECONDS + begin : 1)) "$bench" run --config "$base.config.json" --mode "$3" \
            --accumulate "$2" --timing "${PUBLISHED_TIMING:-device,device-row}" --time-anyway \
            --baselines "${PUBLISHED_BASELINES:-torch.matmul,cublas,cublaslt-heuristic,cublaslt-autotuning}${PUBLISHED_FURTHER:+,$PUBLISHED_FURTHER}" -k "$(realpath "$1/$name.so")" \
            --device "$device" --output "$base.json" $resume
        code=$?
        [ $code -eq 0 ] || rc=$code
        [ $code -eq 0 ] || [ $code -eq 3 ] || return $rc
        earlier+=("$base.config.json")
        part=$((part + 1))
    done
    rm -f "$base.new.json"
    return $rc
}

run_update() { # CONFIG ACC BREADTH MODE; the journal lies where the program is started, that of a search that ended is put aside
    local config=$PWD/configs/$1.json journal=$out/cudal2-tune-$1-$2-$4.journal.jsonl program resume=
    program=$(realpath "$bench")
    CUDAL2_KERNELS=$(realpath "$CUDAL2_KERNELS")
    [ -f "$journal" ] && grep -q '"kind":"end"' "$journal" && mv "$journal" "$journal.$(date -u +%Y%m%dT%H%M%S)"
    [ -f "$journal" ] && resume=--resume
    (cd "$out" && timeout --preserve-status -s TERM "$limit" "$program" tune --config "$config" --mode "$4" --accumulate "$2" --breadth "$3" --device "$device" \
        --update $resume)
}

first_of() { # first_of cuda:0,1,2: cuda:0; auto stays
    printf '%s' "${1%%,*}"
}

run_odd() { # ACC
    "$bench" verify cudal2 --config configs/odd.json --accumulate "$1" --device "$(first_of "$device")" --format json >"$out/odd-$1.json"
}

run_paper() { # paper:W:S[:R]
    local w s r
    IFS=: read -r _ w s r <<<"$1"
    scripts/paper-check.sh -p "$bench" -o "$out/paper" -d "$device" -w "$w" -s "$s" -r "${r:-1}"
}

# Few tiles and short K, few tiles and long K, one wave, many waves, bound by writing C: the kernel that wins
# each of them.
run_ncu() {
    local metrics=gpu__time_duration.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_tensor.sum
    metrics=$metrics,lts__t_bytes.sum,dram__bytes.sum,launch__registers_per_thread,launch__occupancy_limit_shared_mem
    metrics=$metrics,smsp__cycles_active.avg,sm__cycles_elapsed.max
    : >"$out/ncu.csv"
    for shape in 128x512x256 512x512x16384 4096x2048x1024 8192x8192x8192 16384x16384x64; do
        ncu --clock-control none --csv --page raw --metrics "$metrics" --kernel-name gemm --launch-count 40 \
            "$bench" verify cudal2 --shape "$shape" --accumulate f16 --baselines none --in-process --device "$(first_of "$device")" \
            >>"$out/ncu.csv" || return
    done
}

status=0
for step in "$@"; do
    log=$out/$(printf '%s' "$step" | tr ':/' '--').log
    {
        echo "gpu-run: step $step"
        stamp
        case $step in
        doctor) "$bench" doctor && "$bench" list ;;
        clock) "$build/tests/gpu_clock" >"$out/clock.csv" && cat "$out/clock.csv" ;;
        test) scripts/gpu-tests.sh "$build" ;;
        paper:*:*) run_paper "$step" ;;
        sensitivity) scripts/sensitivity.sh -p "$bench" -o "$out/sensitivity" -d "$device" ;;
        tune:*:*:*) IFS=: read -r _ c a n <<<"$step" && run_tune "$c" "$a" "$n" ;;
        update:*:*:*) IFS=: read -r _ c a n m <<<"$step" && run_update "$c" "$a" "$n" "${m:-offline}" ;;
        explore | explore:*) IFS=: read -r _ a <<<"$step" && run_explore "${a:-f32}" ;;
        unseen:*:*) IFS=: read -r _ c n a <<<"$step" && run_unseen "$c" "$n" "${a:-f16}" ;;
        cold:*:*) IFS=: read -r _ c n a <<<"$step" && run_cold "$c" "$n" "${a:-f16}" ;;
        share:*:*) IFS=: read -r _ c n <<<"$step" && run_share "$c" "$n" ;;
        strongest:*:*) IFS=: read -r _ m a <<<"$step" && run_strongest "$m" "$a" ;;
        referee:*) IFS=: read -r _ a n <<<"$step" && run_referee "$a" "$n" ;;
        published:*) IFS=: read -r _ c a m <<<"$step" && run_published "$c" "${a:-f32}" "${m:-both}" ;;
        odd:*) run_odd "${step#odd:}" ;;
        ncu) run_ncu ;;
        accuse | accuse:*) IFS=: read -r _ c a <<<"$step" && scripts/accuse.sh "$bench" "$out" "$(first_of "$device")" "${c:-0/8}" "${a:-f32}" ;;
        *:*:*) IFS=: read -r c m a <<<"$step" && run_config "$c" "$m" "$a" ;;
        *) echo "gpu-run: unknown step $step" && false ;;
        esac
    } >>"$log" 2>&1
    rc=$?
    tail -n 25 "$log"
    [ $rc -eq 0 ] || status=$rc
done
exit $status
