#!/bin/bash
# lint-heads.sh: every C, C++, CUDA, shell and Python file begins by saying what it is for (what it relies on,
# who calls it): a comment, of a source of harness/ with a dozen words. What it says of other files is true
# (lint-heads.py). Part of scripts/lint.sh.
set -u
own=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$(dirname "$0")/..}" || exit 1
bad=0
complain() {
    echo "$1: begins with no head comment: two to six lines, what it is for, what it relies on, who calls it"
    bad=1
}
count=0
mapfile -t files < <(find harness baselines kernels tests examples scripts -name "*.[ch]" -o -name "*.[ch]pp" -o -name "*.cu" -o -name "*.cuh" 2>/dev/null)
for file in "${files[@]}"; do
    [ -f "$file" ] || continue
    count=$((count + 1))
    # The first comment, and how many words it has.
    words=$(awk 'NR == 1 && !/^\/[*\/]/ { exit } /^#(include|ifndef|pragma)/ { exit } { print } /\*\// { exit }' "$file" | wc -w)
    least=5
    case $file in harness/*/*.c) least=14 ;; esac
    [ "$words" -ge "$least" ] || complain "$file"
done
mapfile -t files < <(find scripts tests examples -name "*.sh" 2>/dev/null)
for file in "${files[@]}"; do
    [ -f "$file" ] || continue
    count=$((count + 1))
    head -3 "$file" | grep -qE '^# .{20}' || complain "$file"
done
mapfile -t files < <(find scripts python rl examples tests -name "*.py" 2>/dev/null)
for file in "${files[@]}"; do
    [ -f "$file" ] || continue
    count=$((count + 1))
    head -3 "$file" | grep -q '"""' || complain "$file"
done
if command -v python3 >/dev/null; then
    python3 "$own/lint-heads.py" || bad=1
fi
[ "$bad" -eq 0 ] && echo "heads: $count files say what they are for"
exit "$bad"
