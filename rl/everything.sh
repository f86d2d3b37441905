#!/bin/bash
# everything.sh [PYTHON [RUNS]]: trains three seeds with each context, two at a time, compares them with the
# searches and draws the picture, into results/policy. PYTHON (python3) has torch; RUNS (a new directory in
# /tmp) takes the runs. The same command goes on with what was stopped. TRAIN has further options for every
# run (--size large --device cuda); PARALLEL (2) runs go at a time; RESULTS is another directory for what
# comes out; CONTEXTS names other contexts, as neighbours+counters, and SEEDS other seeds.
set -euo pipefail
cd "$(dirname "$0")"
python=${1:-python3}
runs=${2:-$(mktemp -d /tmp/cudal2-rl-XXXXXX)}
results=${RESULTS:-../results/policy}
"$python" -c 'import torch' || { echo "everything.sh: $python has no torch (requirements.txt)" >&2; exit 69; }
mkdir -p "$runs" "$results"
for seed in ${SEEDS:-1 2 3}; do
    for context in ${CONTEXTS:-neighbours+ranker neighbours none}; do
        echo "--context $context --seed $seed --output $runs/$context-$seed${TRAIN:+ $TRAIN}"
    done
done | OMP_NUM_THREADS=1 xargs -r -P "${PARALLEL:-2}" -L 1 "$python" -m kernel_policy.train
"$python" -m kernel_policy.compare "$runs"/*/scores.json --curves "$results/curves.csv" -o "$results/compare.json"
"$python" -m kernel_policy.figure "$results/compare.json" "$results/curves.csv" -o "$results/policy.svg"
