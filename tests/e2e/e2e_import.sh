#!/bin/bash
# scripts/import: a directory of torch extensions becomes a plugin, each file that does not build has its
# reason, and a second call builds nothing again. Needs nvcc and no GPU: of the plugin only what it does
# before the first launch is seen.
# Times nothing.
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
export CC="env gcc" # make may hand on a compiler of two words, such as "ccache gcc"
top=$(cd "$(dirname "$0")/../.." && pwd)
fixtures=$top/tests/fixtures/imports
command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] || { echo "skipped: no nvcc"; exit 0; }
export CUDAL2_ADAPTERS=$work/none # CUTLASS is not needed here
unset CUDAL2_SHARD CUDAL2_SHARDS SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX SLURM_PROCID OMPI_COMM_WORLD_RANK
cd "$work" || exit 1

import() { # import ARGUMENT...
    timeout -k 5 600 "$top/scripts/import/import.py" "$fixtures" --out out --name mine "$@" >"$work/out.txt" 2>"$work/err" </dev/null
    code=$?
}

import --plan
expect_code 0 "a plan"
expect_text out.txt '^4 files, [0-9]+ at a time: about [0-9]+ min to compile' "says how long"
import
expect_code 0 "what builds makes a plugin"
expect_text out.txt '^2 of 4 built' "of those that build"
expect_text out/report.tsv '^16_16_16.cu	ok	[0-9.]+	$' "a line for the good one"
expect_text out/report.tsv '^32_16_16.cu	failed	[0-9.]+	32_16_16.cu\(5\): error: identifier "nonsense" is undefined' "the compiler's reason"
expect_text out/report.tsv '^64_16_16.cu	failed	0.0	2 functions of the form .*: first, second$' "two functions are named"
expect_text out/mine.tsv '^16	16	16	0	0	0	[0-9a-f]{32}.so	16_16_16.cu$' "the index"
import
expect_text out.txt '^\[.*16_16_16.cu: ok \(kept\)' "a second call builds nothing again"
# From here on the compiler is a stand-in, but for its version: it takes half a second and gives what nvcc has
# made.
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
made=$work/out/$(awk '$1 == 16 { print $7 }' out/mine.tsv)
mkdir -p home/bin
cat >home/bin/nvcc <<END
#!/bin/bash
[ "\$1" != --version ] || exec "$nvcc" --version
while [ "\$1" != -o ]; do shift; done
sleep 0.5
cp "$made" "\$2"
END
chmod +x home/bin/nvcc
mkdir both
cp out/????????????????????????????????.* both
rm "both/$(awk '$1 == 16 { print substr($7, 1, 32) }' out/mine.tsv)".* # one is left to build, for both of them
for i in 1 2; do # two at the same directory, as slices of one set are
    CUDA_HOME=$work/home timeout -k 5 600 "$top/scripts/import/import.py" "$fixtures" --out both --name mine >"both.$i" 2>&1 </dev/null &
    pids[i]=$!
done
wait "${pids[1]}" && wait "${pids[2]}"
verdict $? "two at a time do not disturb each other" "$(tail -1 both.1); $(tail -1 both.2)"
[ "$(cat both.1 both.2 | grep -c '16_16_16.cu: ok, ')" -ge 1 ] && cmp -s both/mine.tsv out/mine.tsv
verdict $? "the one that was left is built" "$(tail -1 both.1); $(tail -1 both.2)"
# --- in shards, as `run` has them ---
mkdir parts
cp out/????????????????????????????????.* parts # what is built is kept
for i in 0 1; do
    SLURM_ARRAY_TASK_ID=$i CUDAL2_SHARDS=2 timeout -k 5 600 "$top/scripts/import/import.py" "$fixtures" --out parts --name mine \
        >"part.$i" 2>"part.$i.err" </dev/null
    verdict $? "shard $i of 2" "$(tail -1 "part.$i.err")"
    expect_text "part.$i.err" "^shard $i of 2, counted from 0 \(SLURM_ARRAY_TASK_ID\)" "and it says so"
done
[ "$(cat parts/report.shard-?-of-2.tsv | grep -c '_16_16.cu')" -eq 4 ] && cmp -s parts/mine.tsv out/mine.tsv && [ ! -e parts/report.tsv ]
verdict $? "each file is one shard's, and the index has those of both" "$(ls parts)"
CUDAL2_SHARD=1/2 timeout -k 5 600 "$top/scripts/import/import.py" "$fixtures" --out parts --name mine --shard none >out.txt 2>err </dev/null
code=$?
expect_code 0 "--shard none looks at all of them"
[ "$(grep -c '(kept)' out.txt)" -eq 4 ] && cmp -s parts/mine.tsv out/mine.tsv
verdict $? "builds nothing again, and has the same index" "$(cat out.txt)"
import --padding outside --name none
expect_code 3 "none of these is padded"
[ ! -e out/none.so ] && grep -q '^16_16_16' out/report.tsv
verdict $? "so nothing is listed, and the report stays" "$(cat "$work/err")"
mkdir tiled && cp "$fixtures/16_16_16.cu" tiled
printf '// BM = Int<32>{}\n// BN = Int<16>{}\n// BK = Int<16>{}\n' >>tiled/16_16_16.cu
for padding in inside outside; do
    CUDA_HOME=$work/home timeout -k 5 100 "$top/scripts/import/import.py" tiled --out tiled.out --name $padding --padding $padding >out.txt 2>err </dev/null
    code=$?
    expect_code 0 "a kernel whose tiles do not divide its shape, padding $padding"
done
expect_text tiled.out/inside.tsv '^16	16	16	16	0	0	[0-9a-f]{32}.so	16_16_16.cu$' "is given copies"
expect_text tiled.out/outside.tsv '^32	16	16	0	0	0	[0-9a-f]{32}.so	16_16_16.cu$' "or is for the padded shape"
expect_text out.txt '^0 of 0 built; .*/outside.so with 1 kernels' "of one compilation"
expect_text out.txt '^compiles nothing: kernels that tiled.out has$' "and no time to compile is foretold"
cp "$fixtures/16_16_16.cu" tiled/mine.cu
CUDA_HOME=$work/home timeout -k 5 100 "$top/scripts/import/import.py" tiled --out tiled.out --name inside >out.txt 2>err </dev/null
code=$?
expect_code 0 "a file whose name is no shape"
expect_text err '^import: built but in no plugin, for the name is no shape \(M_N_K.cu\): mine.cu$' "is named"
timeout -k 5 100 "$top/scripts/import/import.py" nowhere >out.txt 2>err </dev/null
code=$?
expect_code 1 "a directory that is not there"
expect_text err '^import: nowhere: no such directory$' "is told as such"
import --shard 2/2
expect_code 64 "shard 2/2 is none of 0 and 1"
mkdir slow
{ echo "// another"; cat "$fixtures/16_16_16.cu"; } >slow/1_16_16.cu
cp "$fixtures/64_16_16.cu" slow/2_16_16.cu # which does not build: that costs nothing
CUDA_HOME=$work/home "$top/scripts/import/import.py" slow --out slow.out --jobs 1 --shard 0/1 >slow.txt 2>err </dev/null &
task=$!
for _ in $(seq 600); do
    ls slow.out/*.cu >/dev/null 2>&1 && break
    sleep 0.02
done
kill -TERM "$task"
wait "$task"
code=$?
expect_code 75 "TERM ends a task with 75"
expect_text err '^import: terminated with 1 of 2 files looked at; the same command goes on$' "when the file in hand is built"
! ls slow.out/*.part.* slow.out/*.cu >/dev/null 2>&1
verdict $? "and leaves no part of another" "$(ls slow.out)"
CUDA_HOME=$work/home timeout -k 5 600 "$top/scripts/import/import.py" slow --out slow.out >out.txt 2>"$work/err" </dev/null
code=$?
expect_code 0 "the same command goes on"
expect_text out.txt '1_16_16.cu: ok \(kept\)' "from there"
expect_text out.txt '^\[[12]/2\] 2_16_16.cu: failed' "to the end"

object=$(awk '$1 == 128 { print $7 }' out/mine.tsv)
[ -n "$object" ] && [ "$(nm -D --defined-only "out/$object" | awk '{ print $3 }')" = cudal2_imported ]
verdict $? "names of libtorch that a kernel brings along stay inside of it" "$(nm -D --defined-only "out/$object" | head -3)"
[ "$(nm -D --defined-only out/mine.so | grep -c ' [TDBR] ')" -eq 2 ]
verdict $? "the plugin exports the two names alone" "$(nm -D --defined-only out/mine.so)"

# The published sets pad what their tiles do not divide; which tiles is read as their own scripts read it.
python3 - "$top/scripts/import/import.py" <<'END'
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("importer", sys.argv[1])
importer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(importer)
text = "  auto BM = Int<160>{};\n  auto BN = Int<128>{};\n  auto BK = Int<32>{};\n"
assert importer.tiles_of(text) == [160, 128, 32], importer.tiles_of(text)
assert importer.tiles_of(text.replace("BK", "KB")) == [1, 1, 1]
line = importer.line_of_index(pathlib.Path("64_256_4096.cu"), {"tiles": [160, 128, 32], "key": "k"})
assert line == "64\t256\t4096\t96\t0\t0\tk.so\t64_256_4096.cu\n", line
line = importer.line_of_index(pathlib.Path("64_256_4096.cu"), {"tiles": [160, 128, 32], "key": "k"}, "outside")
assert line == "160\t256\t4096\t0\t0\t0\tk.so\t64_256_4096.cu\n", line
pathlib.Path("tiles").mkdir()
for shape in ("64_256_4096", "32_256_4096", "160_128_32", "128_128_32", "40_40_40"):  # four to whole ones, of which two are one; one alone
    pathlib.Path(f"tiles/{shape}.cu").write_text(text)
assert [f.name for f in importer.padded_alone(sorted(pathlib.Path("tiles").iterdir()))] == ["40_40_40.cu"]
END
verdict $? "paddings as the published sets' scripts have them"

# With a real libtorch only what the stand-in has not built is built: "out" has two that it has, and two that
# it has not.
python3 - "$top/scripts/import/import.py" "$fixtures" out <<'END'
import argparse, importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("importer", sys.argv[1])
importer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(importer)
options = argparse.Namespace(out=pathlib.Path(sys.argv[3]), arch="sm_90a", include=[], cutlass=None, again=False, shared_cudart=False, real_torch=True, dtype="f16")
torch = importer.real_torch.Torch("9.9", "00", "-std=c++17", [], [], True, "1")
importer.real_torch.find = lambda: torch
importer.build_text = lambda build, path, text: {"state": "asked", "key": build.key(text)}
build, files = importer.Build(options, []), sorted(pathlib.Path(sys.argv[2]).glob("*.cu"))
build.plain = importer.Build(argparse.Namespace(**vars(options) | {"real_torch": False}), [])
found = {f.name: importer.build_one(build, f) for f in files}
assert [f["state"] for f in found.values()] == ["ok", "ok", "asked", "asked"], found
assert found["16_16_16.cu"]["cached"] and not found["16_16_16.cu"]["key"].endswith("-torch"), found
assert found["32_16_16.cu"]["key"].endswith("-torch"), found
torch.build_id = "01"
assert importer.Build(options, []).key("x") != build.key("x"), "another libtorch is another key"
text = "#define _GLIBCXX_USE_CXX11_ABI 0\n"
assert build.refusal(text) and not build.refusal(text.replace("0", "1")) and not build.plain.refusal(text), "the other ABI"
options.dtype = "bf16"
assert importer.Build(options, []).key("x") != build.key("x"), "another type is another key"
END
verdict $? "with a real libtorch only what the stand-in has not built"

gcc -std=c17 -D_GNU_SOURCE -I"$top/harness" "$fixtures/drive.c" -ldl -o drive || exit 1
# What a kernel does beside launching, in its first call and in each later one, whatever the number of sets.
mkdir counted
gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -I"$top/scripts/import" "$fixtures/counting.c" -o counted/kernel.so || exit 1
gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$top/scripts/import" '-DIMPORT_NAME="counted"' -DIMPORT_CC=90 \
    -DIMPORT_ACCUMULATE=CUDAL2_ACC_F32 "$top/scripts/import/dispatch.c" -ldl -o counted/counted.so || exit 1
printf '16\t16\t16\t0\t0\t0\tkernel.so\tkernel.cu\n' >counted/counted.tsv
./drive counted/counted.so tn 16 1 >told
expect_text told '"first_call":\{"launches":1,"allocations":1,.*"each_call":\{"launches":1,"allocations":0,' "calls are counted one by one"
# The same behind the real wrapper, of a kernel with padding: that, and what a teardown before has left, are
# not the kernel's. Its own are torch::empty's, once, and a cleared buffer.
nvcc_include=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include
mkdir wrapped
gcc -std=c17 -fPIC -shared -I"$nvcc_include" "$fixtures/runtime.c" -o wrapped/libruntime.so || exit 1
# shellcheck disable=SC2046 # a flag for each name
g++ -std=c++17 -Wno-init-list-lifetime -fPIC -shared -fvisibility=hidden -I"$top/scripts/import" -I"$top/scripts/import/include" -I"$nvcc_include" \
    $(sed -nE 's/^WRAPPED\(cudaError_t, (\w+),?.*/-Wl,--wrap=\1/p' "$top/scripts/import/wrapper.hpp") "$fixtures/wrapped.cpp" \
    -Lwrapped -lruntime -Wl,-rpath,"$work/wrapped" -o wrapped/kernel.so || exit 1
gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$top/scripts/import" '-DIMPORT_NAME="wrapped"' -DIMPORT_CC=90 \
    -DIMPORT_ACCUMULATE=CUDAL2_ACC_F32 "$top/scripts/import/dispatch.c" -ldl -o wrapped/wrapped.so || exit 1
printf '%s\t16\t16\t%s\t0\t0\tkernel.so\tkernel.cu\n' 16 0 32 16 >wrapped/wrapped.tsv
own='"first_call":\{"launches":0,"allocations":1,"synchronisations":0,"streams":0,"events":0,"copies":1\},"each_call":\{"launches":0,"allocations":0,.*"copies":1\}'
for m in 16 32; do
    ./drive wrapped/wrapped.so tn $m 1 >told
    [ "$(grep -cE "$own" told)" -eq 2 ]
    verdict $? "the real wrapper counts the kernel's own calls alone, in each setup, M $m" "$(cat told)"
done
./drive wrapped/wrapped.so nn 16 1 >told
expect_text told '^wrapped-nn: 1: it reads B column-major: not in layout nn$' "a kernel that throws its own error for the layout it does not have is unsupported"
# --- kernels at fault, on the CPU device: each has a verdict that names it, and the run goes on to the next ---
mkdir faulty
row=0
for fault in throw load hang abi none; do
    row=$((row + 16))
    # shellcheck disable=SC2046 # a flag or none
    [ "$fault" = none ] || gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -I"$top/scripts/import" "-DFAULT=\"$fault\"" \
        $([ "$fault" = abi ] && echo -DFAULT_ABI=99) "$fixtures/faulty.c" -o "faulty/$fault.so" || exit 1
    printf '%s\t16\t16\t0\t0\t0\t%s.so\t%s.cu\n' "$row" "$fault" "$fault" >>faulty/faulty.tsv
done
gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$top/scripts/import" '-DIMPORT_NAME="faulty"' -DIMPORT_CC=0 \
    -DIMPORT_ACCUMULATE=CUDAL2_ACC_F32 -DIMPORT_DEVICES=CUDAL2_ON_CPU "$top/scripts/import/dispatch.c" -ldl -o faulty/faulty.so || exit 1
cat >faulty.json <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "faulty", "dtype": "f16", "accumulate": ["f32"], "layouts": ["tn"],
 "modes": ["offline"], "shapes": ["16x16x16", "32x16x16", "48x16x16", "64x16x16", "80x16x16"], "baselines": ["openblas"],
 "optional": ["openblas"], "candidates": ["$work/faulty/faulty.so"], "limits": {"setup_seconds": 3}}
END
timeout -k 5 120 "$bench" verify faulty/faulty.so --config faulty.json --device cpu --format json --quiet >faulty.out 2>"$work/err" </dev/null
code=$?
expect_code 3 "kernels at fault fail"
python3 - faulty.out <<'END'
import json, sys
found = {p["problem"]: c for p in json.load(open(sys.argv[1]))["problems"] for c in p["contenders"] if c["name"] == "faulty-tn"}
told = [(c["verdict"], c.get("stage"), c.get("reason", "")) for _, c in sorted(found.items())]
wanted = [("setup_error", "it throws: no configuration fits"), ("crash", "SIGSEGV|signal 11"), ("hang", "no sign of life for 3"),
          ("load_error", "load_error: not built by this import.py: abi.so"), ("load_error", "load_error: .*none.so: cannot open")]
import re
assert len(told) == 5, told
for (verdict, stage, reason), (expected, words) in zip(told, wanted):
    assert verdict == expected and stage == "setup" and re.search(words, reason), told
END
verdict $? "each with a verdict that names it" "$(head -c 1500 faulty.out)"

# --- in bf16: the same plugin is for that type, and for no other ---
gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$top/scripts/import" '-DIMPORT_NAME="faulty"' -DIMPORT_CC=0 \
    -DIMPORT_ACCUMULATE=CUDAL2_ACC_F32 -DIMPORT_DTYPE=CUDAL2_BF16 -DIMPORT_DEVICES=CUDAL2_ON_CPU "$top/scripts/import/dispatch.c" -ldl -o faulty/faulty.so || exit 1
for type in bf16 f16; do
    sed "s/\"dtype\": \"f16\"/\"dtype\": \"$type\"/; s/\"shapes\": .*, \"baselines\"/\"shapes\": [\"16x16x16\"], \"baselines\"/" faulty.json >typed.json
    timeout -k 5 60 "$bench" verify faulty/faulty.so --config typed.json --device cpu --format json --quiet >"typed.$type" 2>"$work/err" </dev/null
done
expect_text typed.bf16 '"verdict": *"setup_error"' "a kernel of bf16 is called for bf16"
expect_no_text typed.f16 '"verdict": *"setup_error"' "and not for fp16"

./drive out/mine.so tn 48 1 >told
expect_text told '^mine-tn: 1: no kernel of the set is for this shape$' "a shape without a kernel is unsupported"
./drive out/mine.so nn 16 1 >told
expect_text told '^mine-nn: 1: it reads B column-major: not in layout nn$' "so is the layout that it does not read"
./drive out/mine.so tn 16 0 >told
expect_text told '^mine-tn: 2: it throws: no stream$' "what it throws is told"
./drive out/mine.so tn 16 1 >told
if [ ! -e /dev/nvidiactl ]; then
    expect_text told '^mine-tn: 2: it throws: after the call: ' "and a launch without a GPU"
fi

# --- a real libtorch in place of the stand-in: for files that want what the stand-in does not have ---
[ -n "${CUDAL2_SLOW:-}" ] || { echo "# a real libtorch: a minute of two cores, in make test-all"; finish; }
real() { # real OUT ARGUMENT...
    timeout -k 5 600 "$top/scripts/import/import.py" "$top/tests/fixtures/imports_torch" --out "$1" --name aten "${@:2}" >out.txt 2>"$work/err" </dev/null
    code=$?
}
# plugin DIRECTORY BUILD-ID: the plugin again, as with another libtorch
plugin() {
    gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$top/scripts/import" '-DIMPORT_NAME="aten"' -DIMPORT_CC=0 \
        -DIMPORT_ACCUMULATE=CUDAL2_ACC_F32 -DIMPORT_DEVICES=CUDAL2_ON_CPU '-DIMPORT_TORCH="9.9"' "-DIMPORT_TORCH_ID=\"$2\"" \
        "$top/scripts/import/dispatch.c" -ldl -o "$1/aten.so" || exit 1
}
verify_real() { # verify_real DIRECTORY BASELINE
    sed "s|BASELINE|$2|g; s|PLUGIN|$work/$1/aten.so|" >aten.json <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "aten", "dtype": "f16", "accumulate": ["f32"], "layouts": ["nn", "tn"],
 "modes": ["offline"], "shapes": ["16x32x16"], "baselines": ["BASELINE"], "optional": ["BASELINE"], "candidates": ["PLUGIN"]}
END
    timeout -k 5 120 "$bench" verify "$work/$1/aten.so" --config aten.json --device cpu --quiet >told 2>"$work/err" </dev/null
    code=$?
}
words=$(cd "$top/scripts/import" && python3 -c 'import real_torch, sys
print(*real_torch.for_nvcc(sys.argv[1].split()))' '-L/t -Wl,-rpath,/t -Wl,--no-as-needed -ltorch_cuda -Wl,--as-needed -ltorch_cpu')
[ "$words" = '-L/t -Xlinker -rpath -Xlinker /t -Xlinker --no-as-needed -Xlinker -ltorch_cuda -Xlinker --as-needed -ltorch_cpu' ]
verdict $? "a library that no name refers to stays linked, in whatever order nvcc puts its options" "$words"
LIBTORCH=$work/none real none --real-torch
expect_code 69 "--real-torch where LIBTORCH is none"
expect_text err "^import: not found in LIBTORCH=$work/none " "says where it looked"
sh "$top/scripts/probe.sh" probe.mk >probed 2>&1
if grep -q '^TORCH_VERSION' probe.mk; then
    real plain
    expect_code 3 "the stand-in refuses operators that it does not have"
    expect_text plain/report.tsv '^16_32_16.cu	failed	[0-9.]+	.*error' "with the compiler's reason"
    mkdir -p old && printf '#define _GLIBCXX_USE_CXX11_ABI %s\nvoid f(torch::Tensor a, torch::Tensor b, torch::Tensor b_col_major, torch::Tensor c) {}\n' \
        "$((1 - $(sed -nE 's/.*_GLIBCXX_USE_CXX11_ABI=([01]).*/\1/p' probe.mk | head -1)))" >old/16_16_16.cu
    timeout -k 5 60 "$top/scripts/import/import.py" old --out old-built --real-torch >out.txt 2>"$work/err" </dev/null
    code=$?
    expect_code 3 "a source of the other ABI"
    expect_text old-built/report.tsv 'it defines _GLIBCXX_USE_CXX11_ABI [01], and libtorch [0-9.]+ has [01]: build it without --real-torch' "is told why not"
    real built --real-torch
    expect_code 0 "--real-torch builds them"
    expect_text out.txt '^libtorch [0-9.]+, with' "and says with which libtorch"
    object=$(awk '{ print $7 }' built/aten.tsv)
    [ "$(nm -D --defined-only "built/$object" | awk '{ print $3 }')" = cudal2_imported ]
    verdict $? "the object gives nobody libtorch's names" "$(nm -D --defined-only "built/$object" | head -3)"
    real built --real-torch
    expect_text out.txt '^\[1/1\] 16_32_16.cu: ok \(kept\)' "a second call builds nothing again"
fi
if grep -q '^TORCH_VERSION' probe.mk && ! grep -q TORCH_HAS_CUDA probe.mk; then
    verify_real built openblas
    expect_code 0 "without CUDA it is for the CPU device"
    expect_text told '16x32x16 +aten-nn +passed ' "where it is right"
    expect_text told '16x32x16 +aten-tn +unsupported .*it reads B row-major: not in layout tn' "and unsupported in the layout that it does not read"
    for baseline in openblas torch.matmul; do # libtorch comes with the object; or it is there before
        verify_real built $baseline
        expect_code 0 "beside $baseline"
        cp -r built "other-$baseline" && plugin "other-$baseline" 00
        verify_real "other-$baseline" $baseline
        expect_code 3 "beside $baseline, built with another libtorch"
        expect_text told 'aten-nn +load_error .*built with libtorch 9.9, and this process has another, /.*libtorch_cpu' "says so"
    done

    # --- a published set from end to end, a command for each step: build, run in both modes, claims next to what was measured ---
    mkdir -p their/kernels/cpu_F32F16F16F32 their/eval_results baseline
    cp "$top/tests/fixtures/imports_torch/16_32_16.cu" their/kernels/cpu_F32F16F16F32/
    printf 'mnk,torch.matmul,cuBLAS-max\n16_32_16,1.5,1.2\n' >their/eval_results/cuda_l2_cpu_F32F16F16F32_speedup_offline.csv
    timeout -k 5 600 "$top/scripts/import/import.py" their/kernels/cpu_F32F16F16F32 --name theirs --out built --real-torch >out.txt 2>err </dev/null
    code=$?
    expect_code 0 "a set of the authors' form"
    expect_text out.txt '\(kept\)' "whose kernels are kept by content"
    for name in cublas cublaslt-exhaustive; do
        gcc -std=c17 -D_GNU_SOURCE -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$top/scripts/import" "-DIMPORT_NAME=\"$name\"" -DIMPORT_CC=0 \
            -DIMPORT_ACCUMULATE=CUDAL2_ACC_F32 -DIMPORT_DEVICES=CUDAL2_ON_CPU "$top/scripts/import/dispatch.c" -ldl -o baseline/$name.so || exit 1
    done
    sed "s|\t\([0-9a-f]*-torch\.so\)|\t../built/\1|" built/theirs.tsv >baseline/cublas.tsv # the same kernel, as a baseline: there is none of halves here
    mkdir -p runs imported && cp -r built imported/theirs
    cat >cpu.json <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "published", "grid": {"m": [64], "n": [64], "k": [64]}, "dtype": "f16",
 "layouts": ["nn"], "modes": ["offline", "server"], "candidates": [], "stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 4}}
END
    for call in first second; do
        PUBLISHED_CONFIG=$work/cpu.json PUBLISHED_TIMING=wall PUBLISHED_BASELINES=$work/baseline/cublas.so timeout -k 5 200 \
            "$top/scripts/gpu-run.sh" -b "$tested_build" -o runs -d cpu "published:$work/imported/theirs" >out.txt 2>err </dev/null
        code=$?
        expect_code 0 "the $call call of the step that runs it"
        cells=$(grep '"kind":"cell"' runs/published-theirs-both.journal.jsonl | cut -c1-20000)
        [ "$(grep -c . <<<"$cells")" -eq 2 ] && [ "${kept:-$cells}" = "$cells" ]
        verdict $? "has both modes, each once" "$(cut -c1-200 <<<"$cells")"
        kept=$cells
    done
    timeout -k 5 60 "$top/scripts/import/receipts.py" their/kernels/cpu_F32F16F16F32 runs/published-theirs-both.journal.jsonl --name theirs \
        --build imported/theirs --program "$bench" --tsv theirs.tsv --out receipts.md >out.txt 2>err </dev/null
    code=$?
    expect_code 0 "the page of receipts"
    expect_text receipts.md '^\| built \| 1 of 1 tried \| 1 in the set \|$' "says what builds"
    expect_text receipts.md '^\| offline \| ok \| 1 \|' "the verdict offline"
    expect_text receipts.md '^\| server \| ok \| 1 \|' "and in server mode"
    expect_text receipts.md '^\| offline \| cuBLAS-max \| wall \| 1 \| \+20.0% \| \+20.0% \| [+-][0-9.]+% ' "the claim next to what was measured"

    # The same by one command; of a kernel whose tiles do not divide its shape, with copies and without.
    printf '// BM = Int<32>{}\n// BN = Int<16>{}\n// BK = Int<16>{}\n' >>their/kernels/cpu_F32F16F16F32/16_32_16.cu
    sed 's/^16/32/' baseline/cublas.tsv >more.tsv && cat more.tsv >>baseline/cublas.tsv # the baseline, for the padded shape as well
    cp baseline/cublas.tsv baseline/cublaslt-exhaustive.tsv
    PUBLISHED_CONFIG=$work/cpu.json PUBLISHED_TIMING=wall PUBLISHED_BASELINES=$work/baseline/cublas.so timeout -k 5 300 \
        "$top/scripts/import/receipts.sh" -o one -b "$tested_build" -d cpu -s 30 -r "$work/baseline/cublaslt-exhaustive.so" their cpu_F32F16F16F32 --real-torch >out.txt 2>err </dev/null
    code=$?
    expect_code 0 "a checkout becomes receipts by one command"
    expect_text out.txt "^receipts: $work/one/receipts.md$" "which says where they are"
    expect_text one/receipts.md '^\| (offline|server) \| ok \| 1 \|' "with verdicts"
    expect_text one/published-cpu_F32F16F16F32-both.config.json '"setup_seconds": 30' "a setup has the time that is given"
    expect_text one/receipts.md '^\| offline \| cuBLAS-max \| wall \| 0 \| - \| - \| 1 \| \+20.0% \| [+-][0-9.]+% \| [+-][0-9.]+% \(1\) \|$' \
        "padded copies inside of the time and outside"
    expect_text one/receipts.md '^\| offline \| exhaustive \| wall \| 1 \| - \| - \| [+-][0-9.]+% ' "and a further reference, of which nothing is claimed"
    [ "$(wc -l <one/receipts.tsv)" -eq 3 ]
    verdict $? "and a row for each mode" "$(cut -c1-100 one/receipts.tsv)"
fi
finish
