#!/bin/bash
# Compiled kernels through the server over HTTP, without a GPU: PTX and a cubin of one kernel with their
# manifest get an outcome, with registers and counts of their instructions; what is damaged, of another GPU,
# or does not fit its manifest a verdict and a line that says so. What is submitted is assembled and read as
# always; scripted workers stand in for the GPU (tests/fixtures/scripted_server.c). Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
. "$(dirname "$0")/serve.inc.sh"
command -v curl >/dev/null || { echo "skipped: no curl"; exit 0; }
at_exit() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null
}
mkdir "$work/kernels" "$work/fake"
cp -R "$(dirname "$0")/../../kernels/harness" "$work/kernels/"
export CUDAL2_BENCH=$bench CUDAL2_KERNELS=$work/kernels CUDAL2_FAKE_DIR=$work/fake
launch "$tested_build/tests/scripted_server" "$work/jobs"
has_begun

arguments='"a","b","c","m"'
submit() { # submit FORMAT FILE [PROBLEM]
    submit_binary "$1" "$2" "${3:-64x64x64}" "$(manifest gemm '"M",1,1' 32 "$arguments")"
}
kernel() { # kernel TARGET: PTX of one product on tensor cores, a barrier, a load and a store
    cat <<END
.version 8.0
.target $1
.address_size 64
.visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 m)
{
    .reg .b64 %p;
    .reg .b32 %r;
    .reg .f32 %f<4>;
    ld.param.u64 %p, [c];
    cvta.to.global.u64 %p, %p;
    ld.global.u32 %r, [%p];
    mov.f32 %f0, 0f00000000;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r,%r,%r,%r}, {%r,%r}, {%f0,%f0,%f0,%f0};
    bar.sync 0;
    st.global.f32 [%p], %f0;
    ret;
}
END
}
is_measured() { # is_measured NAME
    expect_text "$work/body" '"verdict":"ok","reward":\{"value":(2|1\.99[0-9]*),' "$1: an outcome with the reward of the scripted times"
    expect_text "$work/body" '"code":\{[^}]*"registers":[1-9]' "$1: registers"
    expect_text "$work/body" '"instructions":"h?mma\.[^"]*"' "$1: what it multiplies with"
    expect_text "$work/body" '"instruction_mix":\{"other":0,"tensor":1,.*"load_global":1,"store_global":1,"load_shared":0,.*"barrier":1,"control":[1-9]' "$1: counts of its instructions"
}

# --- PTX ---
kernel sm_80 >"$work/gemm.ptx"
submit ptx "$work/gemm.ptx"
if grep -q 'nvJitLink' "$work/body"; then
    echo "skipped: no nvJitLink"
    exit 0
fi
is_measured PTX
expect_text "$work/body" '"terms":\{.*"length":[1-9]' "PTX: its length is in the reward"

# --- the same as a cubin, as the cache has it behind a line of its own ---
kept=$(find "$CUDAL2_CACHE/cubin" -type f | head -1)
tail -c "+$(($(LC_ALL=C grep -abo -m1 'ELF' "$kept" | head -1 | cut -d: -f1)))" "$kept" >"$work/gemm.cubin"
submit cubin "$work/gemm.cubin"
is_measured cubin
expect_text "$work/body" '"terms":\{.*"length":0' "cubin: its bytes are not in the reward"

# --- what is wrong ---
is_refused() { # is_refused NAME VERDICT PATTERN
    expect_text "$work/body" "\"verdict\":\"$2\",.*\"error\":\".*$3.*\"reward\":\{\"value\":0," "$1"
    expect_no_text "$work/body" "$work" "$1: no path of the server is told"
}
head -c 600 "$work/gemm.cubin" >"$work/short.cubin"
submit cubin "$work/short.cubin"
is_refused "a cubin that is cut off" load_error 'cut off'
echo 'no cubin' >"$work/text.cubin"
submit cubin "$work/text.cubin"
is_refused "a cubin that is none" load_error ''
sed 's/mma.sync/mma.never/' "$work/gemm.ptx" >"$work/wrong.ptx"
submit ptx "$work/wrong.ptx"
is_refused "PTX that does not assemble, with the assembler's line" load_error 'ptxas .*line 13'
kernel sm_100 >"$work/later.ptx"
submit ptx "$work/later.ptx"
is_refused "PTX of a later GPU" '(wrong_arch|compile_error)' 'sm_100'
sed 's/entry gemm/entry other/' "$work/gemm.ptx" >"$work/other.ptx"
submit ptx "$work/other.ptx"
is_refused "PTX without the manifest's entry, with the one it has" wrong_entry 'other'
arguments='"a","b","c","m","n"'
submit cubin "$work/gemm.cubin"
is_refused "a cubin of fewer arguments than the manifest" wrong_arguments ''
post /v1/jobs '{"cubin":"no base64!","manifest":{},"problem":"64x64x64"}'
expect_status 400 "a cubin that is no base64"
expect_text "$work/body" '\$\.cubin: ' "with the place"
post /v1/jobs '{"ptx":"// nothing","problem":"64x64x64"}'
expect_status 400 "PTX without a manifest"
expect_text "$work/body" 'manifest' "with what is missing"
post /v1/jobs '{"ptx":"// nothing","cubin":"AAAA","manifest":{},"problem":"64x64x64"}'
expect_status 400 "PTX and a cubin at once"
arguments='"a","b","c","m"'
submit cubin "$work/gemm.cubin" 64x64x128
is_measured "a cubin after all that"
end TERM
[ "$code" -eq 0 ]
verdict $? "the server ends well" "exit status $code: $(tail -1 "$work/serve.err")"
finish
