#!/bin/bash
# setup.sh NAME: installs the tool that an adapter needs, at its current version from PyPI, in a virtual
# environment of its own: $CUDAL2_ADAPTERS/NAME, by default ~/.cache/cudal2-bench/adapters/NAME. Nothing of it
# is ever committed. Prints what it installed.
set -euo pipefail
usage='usage: scripts/adapters/setup.sh triton|cutlass|cute|tilelang|cutile|heuristics'
name=${1:?$usage}
at=${CUDAL2_ADAPTERS:-${XDG_CACHE_HOME:-$HOME/.cache}/cudal2-bench/adapters}/$name
case $name in
triton) packages=triton ;;
cutlass) packages=nvidia-cutlass ;; # headers alone: what its Python side needs is left out
cute) packages=nvidia-cutlass-dsl ;;
tilelang) packages=tilelang ;; # with torch, some gigabytes
cutile) packages='cuda-tile[tileiras]' ;;
heuristics) packages=nvidia-matmul-heuristics ;;
*) echo "$usage" >&2; exit 64 ;;
esac
"$at/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$at" # also where an earlier call has left half of one
no_deps=
[ "$name" != cutlass ] || no_deps=--no-deps
# shellcheck disable=SC2086
"$at/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade $no_deps $packages
# shellcheck disable=SC2086
"$at/bin/python" -m pip list --disable-pip-version-check 2>/dev/null |
    grep -iE "^(triton|nvidia-cutlass|nvidia-cutlass-dsl|tilelang|torch|cuda-tile|nvidia-matmul-heuristics) " | sed "s|^|$at: |"
