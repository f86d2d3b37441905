#!/bin/bash
# lint-repeats.sh: which stretches of the harness repeat each other, the longest first, by sim_c (Debian's
# similarity-tester). A report and no gate: it fails nothing. Part of scripts/lint.sh.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
LEAST=100 # tokens, a dozen lines: below it most are tables and loops that look alike
command -v sim_c >/dev/null || {
    echo "repeats: not reported: sim_c is not installed (scripts/install-deps.sh --lint)"
    exit 0
}
mapfile -t files < <(find harness -name '*.c' | sort)
found=$(sim_c -n -s -r "$LEAST" "${files[@]}" | grep '|')
echo "repeats: $(grep -c . <<<"$found") stretches of $LEAST tokens or more occur twice (file: lines|file: lines[tokens])"
[ -z "$found" ] || tr -s ' ' <<<"$found"
exit 0
