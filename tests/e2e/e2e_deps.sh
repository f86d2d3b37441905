#!/bin/bash
# scripts/install-deps.sh on machines that are not this one: apt and dpkg are scripts here that know nothing
# is installed.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
script=$(cd "$(dirname "$0")/../.." && pwd)/scripts/install-deps.sh
mkdir "$work/bin"
for tool in sh sed id cat grep tr; do ln -s "$(type -P "$tool")" "$work/bin/$tool"; done
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/sh
# -W -f FORMAT PACKAGE
for package in $INSTALLED; do [ "$package" = "$4" ] && printf installed; done
exit 0
END
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
case " $* " in *' --assume-no '*)
    echo "Need to get $# MB of archives."
    echo "After this operation, 1$# MB of additional disk space will be used."
    exit 1
    ;;
esac
echo "apt-get $*" >>"$LOG"
for word in "$@"; do [ "$word" = "$REFUSED" ] && exit 100; done
exit 0
END
printf '#!/bin/sh\nexit 1\n' >"$work/bin/python3" # a python without torch
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work/bin"/*
printf 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n' >"$work/debian"
printf 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nID=ubuntu\nVERSION_ID="24.04"\nID_LIKE=debian\n' >"$work/ubuntu"
printf 'PRETTY_NAME="Mint 22"\nID=linuxmint\nVERSION_ID="22"\n' >"$work/mint"
required='gcc g++ make libc6-dev libcjson-dev zlib1g-dev libseccomp-dev libcmocka-dev'

deps() { # deps RELEASE ARGUMENT...
    : >"$work/log"
    env -i PATH="$work/bin" LOG="$work/log" REFUSED="${refused:-}" INSTALLED="${have:-}" TORCH="${TORCH:-}" OPENBLAS="${OPENBLAS:-}" OS_RELEASE="$work/$1" sh "$script" "${@:2}" >"$work/out" 2>"$work/err"
    code=$?
}
for release in debian ubuntu; do
    deps "$release" --dry-run
    expect_code 0 "$release: --dry-run"
    expect_text "$work/out" "install .* ${required//+/\\+}( |$)" "$release: what the build needs, in one command"
    for package in libopenblas-dev libmicrohttpd-dev gnuplot-nox python3-jsonschema libtorch-dev; do
        expect_text "$work/out" "^\\+ .*install .* $package\$" "$release: $package"
    done
    [ ! -s "$work/log" ] && [ ! -s "$work/err" ]
    verdict $? "$release: and nothing is installed" "$(cat "$work/log" "$work/err")"
    deps "$release" --dry-run --lint
    expect_text "$work/out" 'clang libclang-rt-dev clang-format clang-tidy cppcheck universal-ctags' "$release: tools of make lint"
done
deps debian --dry-run --browser
expect_text "$work/out" ' chromium$' "debian: a browser"
deps ubuntu --dry-run --browser
expect_no_text "$work/out" chromium "ubuntu: no snap for a browser"
expect_text "$work/err" 'by hand' "ubuntu: but a word about it"
deps mint --dry-run
expect_code 0 "another release"
expect_text "$work/err" 'Mint 22: not tried there' "is warned of and tried"
deps debian
expect_text "$work/out" '^install-deps: installs gcc .*libcmocka-dev .*libtorch-dev' "what will be installed is said"
expect_text "$work/out" '^install-deps: Need to get 17 MB of archives. After this operation, 117 MB' "and how much, by apt's own word"
expect_text "$work/out" '^install-deps: libtorch-dev alone: Need to get 5 MB .*TORCH=0 goes without it' "and what the large ones are of it"
before=$(grep -n 'Need to get' "$work/out" | head -1 | cut -d: -f1)
[ "$before" -lt "$(grep -n '^+ .*install' "$work/out" | head -1 | cut -d: -f1)" ]
verdict $? "before it is done" "$(cat "$work/out")"
deps debian --demo
expect_code 0 "--demo"
expect_no_text "$work/log" 'cmocka|gnuplot|jsonschema' "goes without what tests and figures need"
expect_text "$work/log" 'libtorch-dev$' "but has torch"
export TORCH=0 OPENBLAS=0
deps debian --demo
expect_no_text "$work/log" 'torch|openblas' "TORCH=0 and OPENBLAS=0"
expect_text "$work/log" 'libcjson-dev' "leave the rest"
unset TORCH OPENBLAS
refused=libtorch-dev deps ubuntu
expect_code 0 "a release that lacks libtorch-dev"
expect_text "$work/log" ' gnuplot-nox$' "gets everything else"
expect_text "$work/err" 'libtorch-dev cannot be installed here' "and is told"
refused=libcjson-dev deps ubuntu
[ "$code" -ne 0 ]
verdict $? "without libcjson-dev it fails" "exit status $code"
have="$required libopenblas-dev libmicrohttpd-dev gnuplot-nox python3-jsonschema libtorch-dev" deps debian
expect_code 0 "everything there"
expect_text "$work/out" 'everything is here' "says so"
[ ! -s "$work/log" ]
verdict $? "and asks apt for nothing" "$(cat "$work/log")"
finish
