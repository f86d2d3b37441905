#!/bin/bash
# The packages. Always: the version is one, `make install` gives a tree that runs from another place, and the
# Python module runs the program, reads its results and raises its errors. With PACKAGES=1 (some minutes;
# .ci/run) also the .deb and the wheel are built, installed in a root that debootstrap makes and in a venv of
# their own, and run there. A missing tool, right or registry skips its part with the reason. Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
version=$(cat "$top/VERSION")
"$top/scripts/lint-release.sh" >"$work/out" 2>&1
verdict $? "one version in all files" "$(head -1 "$work/out")"
run --version
expect_text "$work/out" "^cudal2-bench ${version//./\\.}" "--version says it"
run help --man
expect_text "$work/out" "cudal2\\\\?-bench ${version//./\\.}" "and the man page"

smoke='run --shape 64x64x64 --device cpu --mode offline --baselines openblas,torch.matmul --candidate blocked --quiet'
measures() { # measures PROGRAM NAME: outside of the source tree
    (cd "$work" && timeout 120 env -u CUDAL2_BENCH "$1" $smoke --output "$work/m.json" >"$work/out" 2>"$work/err")
    code=$?
    rm -f "$work"/m.*
    # 2: a baseline whose library is not here is named; blocked was measured all the same.
    [ "$code" -eq 0 ] || [ "$code" -eq 2 ]
    verdict $? "$2" "exit $code: $(tail -2 "$work/err")"
}
make_built -o all install PREFIX=/usr DESTDIR="$work/root" >"$work/make" 2>&1
verdict $? "make install" "$(tail -2 "$work/make")"
measures "$work/root/usr/bin/cudal2-bench" "what it installs measures"
[ -s "$work/root/usr/share/man/man1/cudal2-bench.1" ] && [ -e "$work/root/usr/include/cudal2/abi/contender.h" ]
verdict $? "with man page and header"

python=${PYTHON:-python3}
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    cat >"$work/module.py" <<'END'
import sys, cudal2_bench as cb
top, version, work = sys.argv[1:]
assert cb.version().startswith(version), cb.version()
result = cb.load(top + "/tests/fixtures/data/journals/11-24g-offline-f16")
assert result.device == "NVIDIA H200" and len(result.cells) == 6
cell = result.cells[0]
lead = cell.speedup("cudal2-max", "cublaslt-autotuning-max")
assert lead.low < lead.estimate < lead.high and cell.contenders["cudal2-nn"].median_ns("device") > 0
assert not cell.contenders["cudal2-nn"].is_baseline and cell.contenders["cublas-nn"].is_baseline
rows = list(result.rows())
assert {r["timing"] for r in rows} == {"device", "event", "wall"}
comparison = cb.compare(result.path, result.path)
assert comparison.code == 0 and comparison.changes and all(c.verdict == "SAME" and c.cell for c in comparison.changes)
mine = cb.run({"schema": "cudal2-bench/config", "schema_version": 1, "name": "t", "shapes": [{"m": 64, "n": 64, "k": 64}],
               "dtype": "f32", "modes": ["offline"], "baselines": ["skeleton"], "candidates": ["blocked"],
               "stop": {"min_blocks": 2, "look_every": 2, "max_blocks": 2, "group_blocks": 1}}, device="cpu",
              output=work + "/mine.json")
assert mine.complete and mine.cells[0].contenders["blocked-nn"].status == "ok"
def raises(kind, code, text, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind and error.code == code and text in str(error), (type(error), error)
    else:
        raise AssertionError("no " + kind.__name__)
assert len(repr(result)) < 400 and "honest" not in repr(result), repr(result)
raises(cb.UsageError, 64, "--shape", lambda: cb.run(shapes=["0x1"]))
raises(cb.DataError, 65, "/nowhere", lambda: cb.load("/nowhere"))
raises(cb.DataError, 65, "not a result", lambda: cb.load(top + "/configs/grid.json"))
raises(cb.CannotCreate, 73, "mine", lambda: cb.run(shapes=["64x64x64"], device="cpu", output=work + "/mine.json"))
try:
    import pandas
    assert len(result.to_pandas()) == len(rows)
except ImportError:
    raises(cb.Unavailable, 69, "pip install pandas", result.to_pandas)
END
    PYTHONPATH=$top/python CUDAL2_BENCH=$bench "$python" "$work/module.py" "$top" "$version" "$work" >"$work/out" 2>"$work/err"
    verdict $? "the Python module runs, reads and raises" "$(tail -1 "$work/err")"
    CUDAL2_BENCH=$work/none PYTHONPATH=$top/python "$python" -c 'import cudal2_bench as c
try: c.run()
except c.Unavailable as e: print(e)' >"$work/out" 2>&1
    expect_text "$work/out" 'no program cudal2-bench at .*: install the package, or set CUDAL2_BENCH' "and says how to get the program"
    if "$python" -c 'import mypy' 2>/dev/null; then
        (cd "$top" && "$python" -m mypy --no-error-summary --cache-dir "$work/mypy") >"$work/out" 2>&1
        verdict $? "its types hold" "$(head -2 "$work/out")"
    else
        echo "skip: types of the Python module (no mypy)"
    fi
else
    echo "skip: the Python module (no Python 3.9)"
fi

if [ -z "${PACKAGES:-}" ]; then
    echo "skip: building the .deb and the wheel (PACKAGES=1 does)"
    finish
fi

# ---- the .deb, in a root that has nothing of this machine's ----

# Mounts are of a namespace that ends with the command, so that none is left in a directory that will be
# removed.
in_root() { # in_root COMMAND...
    timeout 200 unshare --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$work/clean" "$@"
}
make_root() { # says why there is none
    [ "$(id -u)" -eq 0 ] || { echo "not root"; return 1; }
    command -v debootstrap >/dev/null || { echo "no debootstrap"; return 1; }
    unshare --mount --pid --fork true 2>/dev/null || { echo "no mount namespaces here"; return 1; }
    # Of this release, whose libraries the package was built with.
    (
        . /etc/os-release
        parts=main
        [ "$ID" = ubuntu ] && parts=main,universe
        timeout 300 unshare --mount debootstrap --variant=minbase --components=$parts "$VERSION_CODENAME" "$work/clean"
    ) >"$work/out" 2>&1 || { tail -1 "$work/out"; return 1; }
}
install_deb() { # install_deb FILE
    local why code rest
    why=$(make_root) || { echo "skip: installing the .deb ($why)"; return; }
    cp "$1" "$work/clean/tmp/"
    in_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "/tmp/${1##*/}" >"$work/out" 2>&1
    verdict $? "and installed in a clean root, with what it depends on" "$(tail -2 "$work/out")"
    in_root cudal2-bench --version >"$work/out" 2>&1
    expect_text "$work/out" "^cudal2-bench ${version//./\\.}" "where it says its version"
    in_root sh -c "cd /tmp && cudal2-bench $smoke --output m.json" >"$work/out" 2>"$work/err"
    code=$?
    # 2: torch.matmul is named as not there; blocked was measured.
    [ "$code" -eq 2 ] && [ -s "$work/clean/tmp/m.json" ] && grep -q '^blocked-nn .* 1 ' "$work/out"
    verdict $? "and measures" "exit $code: $(tail -2 "$work/err")"
    in_root dpkg --purge cudal2-bench >"$work/out" 2>&1
    verdict $? "and is removed" "$(tail -1 "$work/out")"
    rest=$(cd "$work/clean" && find . -xdev -name '*cudal2*' ! -path './tmp/*' | head -3)
    [ -z "$rest" ]
    verdict $? "without a rest" "$rest"
}

export DIST=$work/dist CUDAL2_CC="${CUDAL2_CC:-$(command -v ccache >/dev/null && echo 'ccache gcc' || echo gcc)}"
"$top/scripts/package.sh" deb >"$work/out" 2>"$work/err"
code=$?
if [ "$code" -eq 69 ]; then
    echo "skip: the .deb ($(tail -1 "$work/err"))"
else
    expect_code 0 "the .deb is built"
    [ "$(dpkg-deb -f "$work"/dist/*.deb Version)" = "$version" ]
    verdict $? "with the version"
    install_deb "$work"/dist/*.deb
fi
"$python" -m venv "$work/venv" 2>"$work/err" || { echo "skip: the wheel (no venv: $(tail -1 "$work/err"))" && finish; }
"$top/scripts/package.sh" wheel >"$work/out" 2>"$work/err"
code=$?
if [ "$code" -ne 0 ] && grep -Eq 'No matching distribution|ConnectionError|Could not find a version|NewConnectionError' "$work/err"; then
    echo "skip: the wheel (pip cannot fetch scikit-build-core)"
    finish
fi
expect_code 0 "the wheel is built"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-index "$work"/dist/*.whl >"$work/out" 2>&1
verdict $? "and installed in a fresh venv" "$(tail -1 "$work/out")"
measures "$work/venv/bin/cudal2-bench" "its command measures"
(cd "$work" && env -u PYTHONPATH -u CUDAL2_BENCH "$work/venv/bin/python" "$work/module.py" "$top" "$version" "$work/venv") >"$work/out" 2>"$work/err"
verdict $? "its module runs the program inside" "$(tail -1 "$work/err")"
finish
