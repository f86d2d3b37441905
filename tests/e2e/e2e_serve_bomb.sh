#!/bin/bash
# The server and a source that would keep the compiler busy for ever: it ends within its limits as
# compile_error, and the next job is measured. Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
. "$(dirname "$0")/serve.inc.sh"
[ -n "${CUDAL2_SLOW:-}" ] || { echo "takes 100 s: make test-all"; exit 77; }
command -v curl >/dev/null || { echo "no curl"; exit 77; }
kernels=$(dirname "$bench")/../kernels
"$bench" verify --compile-only --shape 64x64x64 --variants 1 "$kernels/skeleton.json" >/dev/null 2>"$work/err" ||
    { echo "no compiler: $(tail -1 "$work/err")"; exit 77; }
cp "$plugins/honest.so" "$plugins/steady.so" "$work/plugins/"
at_exit() { [ -z "$server" ] || kill -9 "$server"; }
begin "$work/jobs"
has_begun

# 2^40 types, each of its own, in two lines.
bomb='template <int D, long I> struct t { static const int x = t<D - 1, 2 * I>::x + t<D - 1, 2 * I + 1>::x; };'
bomb="$bomb template <long I> struct t<0, I> { static const int x = 1; };"
bomb="$bomb extern \\\"C\\\" __global__ void skeleton(int *c) { c[0] = t<40, 0>::x; }"
began=$SECONDS
post /v1/jobs "{\"source\":\"$bomb\",\"manifest\":$(tr -d '\n' <"$kernels/skeleton.json"),\"problem\":\"64x64x64\"}"
expect_status 202 "a bomb is taken as any source"
id=$(field id)
ask "$url/health"
expect_status 200 "health is told while it compiles"
ask -m 150 "$url/v1/jobs/$id?wait=140"
took=$((SECONDS - began))
expect_text "$work/body" '"verdict":"compile_error","stage":"compile","error":"[^"]*: it takes more than the compiler is given: 90 s and 8 GiB"' "it ends as compile_error"
expect_text "$work/body" '"reward":\{"value":0,' "without a reward"
[ $took -le 120 ]
verdict $? "within the 90 s that docs/serve.md says, and what a busy machine adds" "$took s"
! pgrep -f "compile-only.*$work" >/dev/null
verdict $? "and its compiler is gone"
finish_job steady 16x16x24
expect_text "$work/body" '"verdict":"ok"' "the next job is measured"
end TERM
[ "$code" -eq 0 ]
verdict $? "TERM: ends well" "exit status $code"
finish
