#!/bin/bash
# lint-release.sh: the version has one place, the file VERSION; what must repeat it (CHANGELOG.md,
# CITATION.cff, debian/changelog) says the same. Part of scripts/lint.sh.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0
version=$(cat VERSION)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "VERSION: \"$version\": want three numbers, such as 0.2.0" && bad=1; }
says() { # says FILE FOUND
    [ "$2" = "$version" ] || { echo "$1: says \"$2\", VERSION says $version" && bad=1; }
}
says CHANGELOG.md "$(sed -nE 's/^## \[([0-9.]+)\] - [0-9-]+$/\1/p' CHANGELOG.md | head -1)"
says CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
says debian/changelog "$(sed -nE '1s/^cudal2-bench \(([^)]*)\) .*/\1/p' debian/changelog)"
if grep -nE '"[0-9]+\.[0-9]+\.[0-9]+"' harness/cli/options.h pyproject.toml CMakeLists.txt; then
    echo "the version stands in VERSION alone"
    bad=1
fi
[ "$bad" -eq 0 ] && echo "release: $version everywhere"
exit "$bad"
