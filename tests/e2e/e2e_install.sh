#!/bin/bash
# make install and make uninstall under a DESTDIR: what is put there works from there, an own plugin is built
# by the pkg-config file alone, and uninstall takes away exactly what install brought. And a program that was
# moved says what it does not find.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
root=$work/root
installs() { # installs TARGET
    make_built -o all "$1" DESTDIR="$root" PREFIX=/opt/bench >"$work/out" 2>"$work/err"
    code=$?
}
mkdir -p "$root/opt/bench/share/man/man1" "$root/opt/bench/bin" "$root/opt/bench/lib/cudal2-bench/plugins"
echo theirs >"$root/opt/bench/bin/other"
echo theirs >"$root/opt/bench/lib/cudal2-bench/plugins/own.so"
before=$(cd "$root" && find . | sort)
installs install
expect_code 0 "make install"
bench=$root/opt/bench/bin/cudal2-bench
run --version
expect_text "$work/out" '^cudal2-bench [0-9.]+$' "--version: version"
expect_text "$work/out" '^commit ([0-9a-f]{40}(-dirty)?|unknown) of ([0-9]{4}-[0-9]{2}-[0-9]{2}|unknown)$' "--version: commit and its date"
expect_text "$work/out" '^built by .* with -O' "--version: compiler and flags"
run list --device cpu
expect_text "$work/out" "^kernels: $root/opt/bench/lib/cudal2-bench/kernels$" "list says where its kernels are"
expect_text "$work/out" '^cudal2-nn ' "and has them"
(cd "$work" && run run -c smoke --limit 1 --mode offline --no-verify --device cpu)
expect_text "$work/err" "^config: $root/opt/bench/share/cudal2-bench/configs/smoke.json$" "an installed config by name"
man_page=$root/opt/bench/share/man/man1/cudal2-bench.1
[ -s "$man_page" ] && [ -s "$root/opt/bench/share/bash-completion/completions/cudal2-bench" ]
verdict $? "man page and completions are there"

# --- an own plugin, from what is installed and nothing else ---
if command -v pkg-config >/dev/null; then
    cp "$top/kernels/plugins/skeleton.c" "$work/mine.c"
    export PKG_CONFIG_PATH=$root/opt/bench/share/pkgconfig
    flags=$(pkg-config --define-variable=prefix="$root/opt/bench" --cflags --libs cudal2-bench)
    map=$(pkg-config --define-variable=prefix="$root/opt/bench" --variable=plugin_map cudal2-bench)
    [ -s "$map" ]
    verdict $? "pkg-config names the symbol map" "$map"
    # shellcheck disable=SC2086
    (cd "$work" && gcc -std=c17 -O3 mine.c $flags -o mine.so) >"$work/out" 2>&1
    verdict $? "the skeleton is built by pkg-config's flags" "$(cat "$work/out")"
    run verify "$work/mine.so" --shape 16x32x8 --device cpu --quiet
    expect_code 0 "and passes"
    [ "$(pkg-config --modversion cudal2-bench)" = "$("$bench" --version | sed -n '1s/.* //p')" ]
    verdict $? "pkg-config has the program's version"
fi

# --- again, and away ---
installs install
expect_code 0 "make install again"
installs uninstall
expect_code 0 "make uninstall"
[ "$(cd "$root" && find . | sort)" = "$before" ]
verdict $? "takes away exactly what install brought" "$(diff <(echo "$before") <(cd "$root" && find . | sort))"
installs uninstall
[ "$code" -ne 0 ]
verdict $? "with nothing there it says so" "$(cat "$work/err")"
expect_text "$work/err" 'nothing to remove: there is no .*/installed' "and what it looked for"

# --- a program without its directory ---
mkdir "$work/moved"
cp "$tested_build/cudal2-bench" "$work/moved/"
bench=$work/moved/cudal2-bench
run list --device cpu
expect_text "$work/out" "^kernels: no kernel directory .*: tried $work/moved/../kernels, $work/moved/kernels; .*set CUDAL2_KERNELS" \
    "a moved program says where it looked for kernels and what to set"
CUDAL2_KERNELS=$top/kernels run list --device cpu
expect_text "$work/out" '^cudal2-nn ' "CUDAL2_KERNELS brings them back"
finish
