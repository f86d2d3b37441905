#!/bin/bash
# package.sh deb | wheel: builds a package of the committed tree into dist/.
#   deb    needs dpkg-dev and debhelper (apt-get install dpkg-dev debhelper)
#   wheel  needs python3 with venv; pip fetches scikit-build-core, or finds it where PIP_NO_INDEX and PIP_FIND_LINKS say
# The build happens in a copy of the tree, so nothing is left in this one. CUDAL2_CC names the compiler
# ("ccache gcc"). tests/e2e/e2e_package.sh installs and runs what it makes. Exit 69: a tool is missing; 64:
# wrong use.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
out=${DIST:-$top/dist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
need() { command -v "$1" >/dev/null || { echo "package: $1 is missing: $2" >&2 && exit 69; }; }

copy_tree() { # without what a package does not build from
    mkdir "$work/tree"
    git -C "$top" ls-files -z --cached --others --exclude-standard -- . ':!results' ':!docs/lab' ':!tests' |
        (cd "$top" && xargs -0 -r sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh) |
        tar -C "$top" --null -T - -cf - | tar -C "$work/tree" -xf -
    cd "$work/tree"
}

deb() {
    need dpkg-buildpackage "apt-get install dpkg-dev"
    need dh "apt-get install debhelper"
    copy_tree
    dpkg-buildpackage -us -uc -b
    mkdir -p "$out"
    cp "$work"/*.deb "$out/"
}

wheel() {
    need python3 "apt-get install python3-venv"
    copy_tree
    python3 -m venv "$work/venv"
    mkdir -p "$out"
    "$work/venv/bin/pip" -q --disable-pip-version-check wheel --no-deps -w "$out" .
}

case ${1:-} in
deb | wheel) "$1" >"$work/log" 2>&1 || { code=$?; tail -40 "$work/log" >&2; exit "$code"; } ;;
*) echo "usage: package.sh deb | wheel" >&2 && exit 64 ;;
esac
ls "$out"/*."${1/wheel/whl}"
