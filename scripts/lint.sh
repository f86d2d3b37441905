#!/bin/bash
# lint.sh: format, clang-tidy, cppcheck, whether fuzz targets compile, shell syntax, room order, sizes, head
# comments, names, types of the Python module, prose and links, figures of the pages, the size of results, one
# version. Runs every check and then fails if one did. A tool that is not installed is named and skipped; with
# CI=1 that is a failure too. Repetition is reported (lint-repeats.sh) and fails nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0
c_files=$(find harness kernels/plugins tests baselines -name '*.c' -not -path '*/fuzz/*' | sort)
formatted="$c_files $(find harness baselines tests -name '*.h' -o -name 'torch.cpp' | sort)"
jobs=$(nproc)

missing() {
    echo "lint: $1 is not installed (scripts/install-deps.sh --lint): skipped"
    [ -z "${CI:-}" ] || bad=1
}

# Releases of clang-format disagree with each other; the tree is formatted with 14.
check_format() {
    local tool=clang-format
    command -v clang-format-14 >/dev/null && tool=clang-format-14
    command -v $tool >/dev/null || { missing clang-format; return; }
    case $($tool --version) in
    *' 14.'*) ;;
    *) echo "lint: format skipped: the tree is formatted with clang-format 14, here is $($tool --version)"; return ;;
    esac
    # shellcheck disable=SC2086
    $tool --dry-run -Werror $formatted || bad=1
}

check_tidy() {
    command -v clang-tidy >/dev/null || { missing clang-tidy; return; }
    local cuda=/usr/local/cuda/include sources
    [ -n "${CUDA_HOME:-}" ] && cuda=$CUDA_HOME/include
    sources=$(find harness kernels/plugins tests/fixtures/plugins baselines/openblas.c -name '*.c' | sort)
    [ -f "$cuda/cublasLt.h" ] && sources="$sources $(ls baselines/cublas*.c baselines/nvidia.c)"
    if [ -n "${TIDY_SINCE:-}" ] && git rev-parse -q --verify "$TIDY_SINCE" >/dev/null; then
        sources=$(comm -12 <(printf '%s\n' $sources | sort) <(git diff --name-only "$TIDY_SINCE" | sort))
        echo "lint: clang-tidy of the files that changed since $TIDY_SINCE (make lint: all)"
    fi
    # A process for each file: once, with four given to one, a call of error_set was taken for a va_start.
    # shellcheck disable=SC2086
    printf '%s\n' $sources | xargs -r -P "$jobs" -n 1 sh -c \
        'clang-tidy --quiet "$@" -- -std=c17 -D_GNU_SOURCE -Iharness -Ibaselines -isystem '"$cuda"' -isystem /usr/include/$(gcc -print-multiarch)/openblas-pthread 2>/dev/null' tidy ||
        bad=1
}

# make fuzz builds these with clang, which CI has no time for on each day: they have to compile all the same.
check_fuzz() {
    gcc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -Iharness tests/fuzz/fuzz_*.c || bad=1
}

check_cppcheck() {
    command -v cppcheck >/dev/null || { missing cppcheck; return; }
    # shellcheck disable=SC2046
    cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr -j "$jobs" \
        --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=normalCheckLevelMaxBranches \
        --error-exitcode=1 -Iharness $(find harness kernels/plugins baselines -name '*.c' | sort) || bad=1
}

check_shell() {
    local script
    for script in scripts/*.sh tests/*/*.sh .ci/run; do
        [ -f "$script" ] && { bash -n "$script" || bad=1; }
    done
    ! command -v shellcheck >/dev/null || shellcheck -S warning scripts/*.sh .ci/run || bad=1
}

check_text() {
    # Words that mark unfinished work do not belong in the tree.
    if grep -nEw 'TODO|FIXME|XXX' $formatted scripts/* Makefile mk/*.mk 2>/dev/null | grep -v '^scripts/lint.sh'; then
        echo "lint: unfinished work is marked above"
        bad=1
    fi
}

check_names() {
    command -v python3 >/dev/null || { missing python3; return; }
    scripts/lint-names.py || bad=1
}

# The Python module is typed: pyproject.toml says how strictly. What mypy remembers stays out of the tree.
check_types() {
    command -v mypy >/dev/null || { missing mypy; return; }
    mypy --cache-dir /dev/null --no-error-summary || bad=1
}

# Tables and figures of the committed runs, and every figure of the pages, against the data.
check_figures() {
    [ -x build/cudal2-bench ] || { echo "lint: figures not checked (make builds build/cudal2-bench)"; return; }
    command -v python3 >/dev/null || { missing python3; return; }
    scripts/results.sh --check || bad=1
    scripts/figures-check.py || bad=1
}

# On one processor, and the longest of those: beside the others.
told=$(mktemp) || exit 1
trap 'rm -f "$told"' EXIT
(
    check_figures
    exit "$bad"
) >"$told" 2>&1 &
figures=$!
check_format
check_text
check_shell
scripts/lint-includes.sh || bad=1
scripts/lint-sizes.sh || bad=1
scripts/lint-heads.sh || bad=1
check_names
check_types
scripts/lint-prose.sh || bad=1
scripts/lint-results.sh || bad=1
scripts/lint-repeats.sh
scripts/lint-release.sh || bad=1
check_cppcheck
check_tidy
check_fuzz
wait "$figures" || bad=1
cat "$told"
[ "$bad" -eq 0 ] && echo "lint: clean"
exit "$bad"
