#!/bin/bash
# lint-prose.sh: pages are wrapped, do without certain words, and their links and file names lead somewhere
# (scripts/prose.py); comments of scripts are wrapped too (scripts/comments.py). Part of scripts/lint.sh.
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "prose: not looked at (no python3)" && exit 0; }
bad=0
python3 scripts/prose.py || bad=1
python3 scripts/comments.py || bad=1
exit "$bad"
