#!/bin/bash
# lint-results.sh: the tree stays light. results/ holds at most 25 MB and the whole tree at most 40 MB; each
# line of results/MANIFEST.tsv names a file that is not in the tree and a commit that this history has. Part
# of scripts/lint.sh. Sizes are those of files that git tracks.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0
bytes() { git ls-files -z -- "$@" | xargs -0 stat -c %s 2>/dev/null | awk '{ n += $1 } END { printf "%d\n", n }'; }
at_most() { # at_most WHAT LIMIT_MB BYTES
    if [ "$3" -gt $(($2 * 1000000)) ]; then
        echo "$1: $3 bytes, $2 MB at most: move old runs to results/MANIFEST.tsv (results/README.md)"
        bad=1
    fi
}
git rev-parse --git-dir >/dev/null 2>&1 || { echo "results: sizes not measured (no git here)" && exit 0; }
results=$(bytes results)
tree=$(bytes .)
at_most results "${RESULTS_MB:-25}" "$results"
at_most "the tree" "${TREE_MB:-40}" "$tree"
list=results/MANIFEST.tsv
if ! awk -F'\t' 'NR > 1 && (NF != 4 || length($2) != 64 || $3 !~ /^[0-9]+$/ || length($4) != 40) { print; bad = 1 }
    END { exit bad }' "$list"; then
    echo "$list: the lines above: want path, sha256, bytes and commit, between tabs"
    bad=1
fi
if comm -12 <(cut -f1 "$list" | sort) <(git ls-files results | sort) | grep .; then
    echo "$list: these files are in the tree: take their lines out"
    bad=1
fi
if [ "$(git rev-parse --is-shallow-repository)" = false ]; then
    for commit in $(tail -n +2 "$list" | cut -f4 | sort -u); do
        git cat-file -e "$commit^{commit}" 2>/dev/null || { echo "$list: no commit $commit here" && bad=1; }
    done
fi
[ "$bad" -eq 0 ] && echo "results: $((results / 1000000)) MB of 25, the tree $((tree / 1000000)) MB of 40"
exit "$bad"
