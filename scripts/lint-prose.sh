#!/bin/bash
# lint-prose.sh: pages are wrapped, do without certain words, and their links and file names lead somewhere
# (scripts/prose.py). Part of scripts/lint.sh.
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "prose: not looked at (no python3)" && exit 0; }
exec python3 scripts/prose.py
