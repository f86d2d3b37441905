#!/bin/bash
# Compiled kernels through the server on a GPU of sm_90: a cubin and PTX of one kernel
# (examples/cubin/gemm.cu, which the build compiled) are verified, raced and rewarded, and agree; a cubin that
# is cut off, one whose manifest leaves a third of C out, and PTX that does not assemble end in a verdict, and
# the next one is measured.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
. "$(dirname "$0")/../e2e/serve.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
command -v curl >/dev/null || { echo "no curl"; exit 77; }
cubin=$tested_build/tests/gemm.cubin ptx=$tested_build/tests/gemm.ptx
[ -s "$cubin" ] && [ -s "$ptx" ] || { echo "no $cubin, $ptx (make tests-build, on a machine with nvcc)"; exit 77; }
at_exit() {
    [ -z "$server" ] || kill "$server"
}
export CUDAL2_KERNELS=${CUDAL2_KERNELS:-$(dirname "$0")/../../kernels}
listen_tries=3000
launch "$bench" serve --listen 127.0.0.1:0 --device cuda:0 --baselines cublas --output "$work/jobs"
[ -n "$url" ] || { echo "serve does not run: $(tail -1 "$work/serve.err")"; exit 77; }

submit() { # submit FORMAT FILE [ROWS]: ROWS of C are written
    submit_binary "$1" "$2" 512x512x512 "$(manifest gemm "\"ceildiv(N,128)\",\"${3:-M}\",1" 128 '"a","b","c","m","n","k"')"
    ratio=$(sed -n 's/.*"terms":{"ratio":\([0-9.e-]*\),.*/\1/p' "$work/body")
}
is_measured() { # is_measured NAME
    expect_text "$work/body" '"verdict":"ok","reward":\{"value":-?[0-9.e-]+,"low":' "$1: verified, raced and rewarded"
    expect_text "$work/body" '"registers":[1-9].*"instruction_mix":\{"other":0,"tensor":0,"float":[1-9].*"load_global":[1-9]' "$1: read"
    echo "# $1: ratio ${ratio:-none}; $(grep -o '"candidate_ns":[0-9.]*' "$work/body"); $(grep -o '"instruction_mix":{[^}]*}' "$work/body")"
}
is_refused() { # is_refused NAME VERDICT
    expect_text "$work/body" "\"verdict\":\"$2\",.*\"error\":\".*\"reward\":\{\"value\":0," "$1"
}
submit cubin "$cubin"
is_measured cubin
of_cubin=$ratio
submit ptx "$ptx"
is_measured PTX
awk -v a="$of_cubin" -v b="$ratio" 'BEGIN { exit !(a > 0 && b > 0.9 * a && b < 1.1 * a) }'
verdict $? "of one kernel both have the same reward, within 10%" "ratio ${of_cubin:-none} of the cubin, ${ratio:-none} of PTX"
head -c 1500 "$cubin" >"$work/short.cubin"
submit cubin "$work/short.cubin"
is_refused "a cubin that is cut off" load_error
sed 's/fma.rn/fma.never/' "$ptx" >"$work/wrong.ptx"
submit ptx "$work/wrong.ptx"
is_refused "PTX that does not assemble" load_error
submit cubin "$cubin" 'M-M/3'
is_refused "a cubin that leaves a third of C out" '(wrong_result|precision_class)'
submit ptx "$ptx" 'M+0'
is_measured "PTX after all that"
finish
