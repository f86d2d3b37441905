#!/bin/bash
# The red team's modules as submissions to a server: all are caught, and no honest one is accused.
here=$(cd "$(dirname "$0")" && pwd) || exit 70
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
"$bench" serve --help >/dev/null 2>&1 || { echo "no server: built without libmicrohttpd"; exit 77; }
exec "$here/../../scripts/redteam-served.py" "$bench" --device cuda:0 ${REDTEAM_OUT:+--out "$REDTEAM_OUT/served.md"}
