#!/bin/bash
# lint-sizes.sh: no file over 500 lines; functions of the harness have a median of at most 12 lines and a 95th
# percentile of at most 45, none over 60 and no more than 5 parameters. Lengths come from ctags.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
bad=0
mapfile -t files < <(find harness baselines kernels/plugins tests -name "*.[ch]" -o -name "*.cpp" -o -name "*.cu*")
for file in "${files[@]}"; do
    # The comment at a file's head does not count.
    lines=$(awk 'NR == 1 && /^\/\*/ { head = 1 } !head { n++ } head && /\*\// { head = 0 } END { print n + 0 }' "$file")
    if [ "$lines" -gt 500 ]; then
        echo "$file: $lines lines (500 at most)"
        bad=1
    fi
done
if ! ctags --version 2>/dev/null | grep -q Universal; then
    echo "sizes: functions not measured (no universal-ctags)"
    exit "$bad"
fi
find harness -name "*.c" | ctags -L - -o - --languages=C --kinds-C=f --fields=+neS -u --output-format=u-ctags |
    awk -F'\t' '
    !/^!/ {
        line = end = 0; signature = ""
        for (i = 4; i <= NF; i++) {
            if ($i ~ /^line:/) line = substr($i, 6)
            if ($i ~ /^end:/) end = substr($i, 5)
            if ($i ~ /^signature:/) signature = substr($i, 11)
        }
        body = end - line - 2                          # without head, opening and closing brace
        if (body < 0) body = 0
        depth = commas = 0
        for (i = 1; i <= length(signature); i++) {
            c = substr(signature, i, 1)
            if (c == "(") depth++
            if (c == ")") depth--
            if (c == "," && depth == 1) commas++
        }
        # `why` and `err` are where a failure is told, not what the function works on.
        parameters = commas + 1 - (signature ~ /(err|why)\)$/)
        # A callback has the form that its library asks for: microhttpd_...
        if (parameters > 5 && $1 !~ /^microhttpd_/) { print $2 ":" line ": " $1 " has " parameters " parameters (5 at most)"; bad = 1 }
        length_of[n++] = body
        if (body > 60) { print $2 ":" line ": " $1 " is " body " lines long (60 at most)"; bad = 1 }
    }
    END {
        if (n == 0) exit 0
        for (i = 1; i < n; i++) { v = length_of[i]; for (j = i - 1; j >= 0 && length_of[j] > v; j--) length_of[j + 1] = length_of[j]; length_of[j + 1] = v }
        median = length_of[int((n - 1) / 2)]; p95 = length_of[int((n - 1) * 0.95)]
        printf "sizes: %d functions, median %d lines, 95th percentile %d, longest %d\n", n, median, p95, length_of[n - 1]
        exit bad || median > 12 || p95 > 45
    }' || bad=1
exit "$bad"
