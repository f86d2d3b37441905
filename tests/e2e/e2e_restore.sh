#!/bin/bash
# scripts/results-restore.sh brings back what left the tree, also in a clone without blobs, and believes no
# file that is not the listed one; scripts/lint-results.sh keeps the tree light. In repositories of its own;
# no harness is run.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
command -v git >/dev/null || { echo "skip: no git"; exit 77; }
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t GIT_CONFIG_GLOBAL=/dev/null
repo=$work/repo
mkdir -p "$repo/scripts" "$repo/results/h200/2026-old/tables"
cp "$scripts/results-restore.sh" "$scripts/lint-results.sh" "$repo/scripts/"
echo "a journal" >"$repo/results/h200/2026-old/journal"
echo "a table" >"$repo/results/h200/2026-old/tables/t.md"
in_repo() { git -C "$repo" "$@" >"$work/git" 2>&1 || verdict 1 "git $*" "$(cat "$work/git")"; }
in_repo init -q
in_repo add -A
in_repo commit -q -m old
commit=$(git -C "$repo" rev-parse HEAD)
in_repo rm -rq results/h200/2026-old
entry() { printf '%s\t%s\t%s\t%s\n' "$1" "$(git -C "$repo" cat-file blob "$commit:$1" | sha256sum | cut -d' ' -f1)" 10 "$commit"; }
mkdir -p "$repo/results"
{
    printf 'path\tsha256\tbytes\tcommit\n'
    entry results/h200/2026-old/journal
    entry results/h200/2026-old/tables/t.md
} >"$repo/results/MANIFEST.tsv"
in_repo add -A
in_repo commit -q -m new

ask() { # ask SCRIPT ARGUMENT...
    local script=$1
    shift
    "$repo/scripts/$script.sh" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
ask lint-results
expect_code 0 "a light tree passes"
ask results-restore -o "$work/back" 2026-old
expect_code 0 "a run comes back by its name"
[ "$(cat "$work/back/results/h200/2026-old/journal" "$work/back/results/h200/2026-old/tables/t.md")" = $'a journal\na table' ]
verdict $? "whole, with its tables"
ask results-restore results/h200/2026-old/tables/t.md
[ -e "$repo/results/h200/2026-old/tables/t.md" ] && [ ! -e "$repo/results/h200/2026-old/journal" ]
verdict $? "one file comes back where it was"
rm -r "$repo/results/h200/2026-old"
ask results-restore 2026-nowhere
expect_code 66 "what the list does not have is refused"
expect_text "$work/err" '2026-nowhere: not in .*MANIFEST.tsv' "by name"
ask results-restore
expect_code 64 "no path is wrong use"

git clone -q --filter=blob:none "file://$repo" "$work/clone" -c uploadpack.allowFilter=true >"$work/git" 2>&1 ||
    git -C "$repo" config uploadpack.allowFilter true
[ -d "$work/clone" ] || git clone -q --filter=blob:none "file://$repo" "$work/clone"
"$work/clone/scripts/results-restore.sh" 2026-old >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "and from a clone without blobs"
sed 's/\t[0-9a-f]\{8\}/\t00000000/' "$repo/results/MANIFEST.tsv" >"$work/wrong.tsv"
CUDAL2_MANIFEST=$work/wrong.tsv ask results-restore -o "$work/bad" 2026-old
expect_code 65 "a file with another sha256 is refused"
[ ! -e "$work/bad/results/h200/2026-old/journal" ]
verdict $? "and not written"

RESULTS_MB=0 ask lint-results
expect_code 1 "results over their limit are found"
TREE_MB=0 ask lint-results
expect_code 1 "and a tree over its"
printf 'results/x\t1\n' >>"$repo/results/MANIFEST.tsv"
ask lint-results
expect_code 1 "and a line that says too little"
expect_text "$work/out" 'want path, sha256' "with what it should say"
finish
