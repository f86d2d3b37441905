#!/bin/bash
# The red team on a GPU. REDTEAM_OUT: where to leave the table, its JSON and the journals.
here=$(cd "$(dirname "$0")" && pwd) || exit 70
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
[ -e "$(dirname "$bench")/tests/redteam/cuda.so" ] || { echo "not built: no nvcc where this was made"; exit 77; }
REDTEAM_DEVICE=cuda REDTEAM_BASELINE=${REDTEAM_BASELINE:-cublas} exec "$here/../redteam/run.sh" "$here/../redteam/cuda.table" ${REDTEAM_OUT:+"$REDTEAM_OUT"}
