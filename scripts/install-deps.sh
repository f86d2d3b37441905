#!/bin/sh
# install-deps.sh [--dry-run] [--demo] [--lint] [--browser]: installs what is missing of the packages this
# project builds and tests with, by apt, on Debian 12 and Ubuntu 24.04; says before what that is, and apt's
# own word on how much. sudo is used only when not root. Nothing missing: says so and returns at once. --demo
# leaves out what only tests and figures need, --dry-run prints the commands, --lint adds the tools of `make
# lint` and `make fuzz`. TORCH=0 and OPENBLAS=0 in the environment go without those two. The CUDA toolkit and
# GPU drivers are not installed here: `make probe` and `cudal2-bench doctor` say how to get them.
set -eu
dry=no
demo=no
lint=no
browser=no
for option in "$@"; do
    case $option in
    --dry-run) dry=yes ;;
    --demo) demo=yes ;;
    --lint) lint=yes ;;
    --browser) browser=yes ;;
    *)
        echo "usage: install-deps.sh [--dry-run] [--demo] [--lint] [--browser]" >&2
        exit 64
        ;;
    esac
done

# Which release this is. The package names are those of both; what is not there under its name is said when it
# is tried.
release=${OS_RELEASE:-/etc/os-release}
release_field() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" "$release" 2>/dev/null; }
distribution=$(release_field ID)
case $distribution:$(release_field VERSION_ID) in
debian:12 | ubuntu:24.04) ;;
*) echo "install-deps: $(release_field PRETTY_NAME): not tried there (Debian 12 and Ubuntu 24.04 are); package names may differ" >&2 ;;
esac

# Without these nothing builds, or the tests do not run.
required="gcc g++ make libc6-dev libcjson-dev zlib1g-dev libseccomp-dev"
[ "$demo" = yes ] || required="$required libcmocka-dev"
# Without one of these a contender, a figure or the test of the JSON Schema files is missing, and the program
# or test says so.
optional=
[ "$demo" = yes ] || optional="libmicrohttpd-dev gnuplot-nox python3-jsonschema"
[ "${OPENBLAS:-}" = 0 ] || optional="libopenblas-dev $optional"
[ "$lint" = yes ] && required="$required clang libclang-rt-dev clang-format clang-tidy cppcheck universal-ctags similarity-tester mypy"
# Ubuntu's chromium-browser only installs a snap, which a test cannot drive from a temporary directory.
if [ "$browser" = yes ]; then
    [ "$distribution" = ubuntu ] && echo "install-deps: on Ubuntu install a browser by hand (google-chrome, or a Debian-style chromium)" >&2
    [ "$distribution" = ubuntu ] || optional="$optional chromium"
fi

has_torch() {
    [ -n "${LIBTORCH:-}" ] && [ -d "$LIBTORCH/include" ] && return 0
    "${PYTHON:-python3}" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)' 2>/dev/null
}
[ "${TORCH:-}" = 0 ] || has_torch || optional="$optional libtorch-dev"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "install-deps: no apt here; install by hand: $required $optional" >&2
    exit 0
fi

installed() {
    # Another package may provide it (gnuplot-qt for gnuplot-nox, clang-format-14 for nothing).
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return 0
    case $1 in
    gnuplot-nox) command -v gnuplot >/dev/null ;;
    python3-jsonschema) "${PYTHON:-python3}" -W ignore -c 'import jsonschema' 2>/dev/null ;;
    chromium) command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ;;
    gcc | g++ | make | clang | clang-format | clang-tidy | cppcheck | mypy) command -v "$1" >/dev/null ;;
    *) return 1 ;;
    esac
}

missing() {
    for package in "$@"; do
        installed "$package" || printf '%s ' "$package"
    done
}

# shellcheck disable=SC2086
need=$(missing $required)
# shellcheck disable=SC2086
wish=$(missing $optional)
if [ -z "$need$wish" ]; then
    echo "install-deps: everything is here"
    exit 0
fi

root=
if [ "$(id -u)" -ne 0 ]; then
    root=sudo
    if ! command -v sudo >/dev/null; then
        echo "install-deps: not root and no sudo; as root run: apt-get install $need$wish" >&2
        [ -z "$need" ]
        exit
    fi
fi

run() {
    echo "+ $*"
    [ "$dry" = yes ] || "$@"
}

# apt's own two lines for these packages and what they bring: "Need to get 130 MB of archives.", "After this
# operation, ...". At a prompt apt would ask here, and is answered no; where it would not ask, it would only
# download.
amount() {
    LC_ALL=C $root apt-get install --assume-no --download-only --no-install-recommends "$@" 2>/dev/null |
        grep -E '^(Need to get|After this)' | tr '\n' ' '
}

announce() {
    echo "install-deps: installs $need$wish"
    # shellcheck disable=SC2086
    echo "install-deps: $(amount $need $wish)"
    for large in TORCH:libtorch-dev OPENBLAS:libopenblas-dev; do
        case " $wish " in
        *" ${large#*:} "*) echo "install-deps: ${large#*:} alone: $(amount "${large#*:}")(${large%:*}=0 goes without it)" ;;
        esac
    done
}

export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
{
    run $root apt-get update -q
    [ "$dry" = yes ] || announce
    [ -z "$need" ] || run $root apt-get install -y -q --no-install-recommends $need
    # One at a time: a release that lacks one of them still gets the others.
    for package in $wish; do
        run $root apt-get install -y -q --no-install-recommends "$package" ||
            echo "install-deps: $package cannot be installed here; what needs it will be listed as unavailable" >&2
    done
}
