#!/bin/bash
# scripts/figures.sh draws every figure of the paper from results, the same bytes each time; and what it says
# when it cannot.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
if ! command -v gnuplot >/dev/null; then
    echo "no gnuplot here (apt-get install gnuplot-nox)"
    exit 77
fi
export CUDAL2_BENCH=$bench

# candidate NAME BM TIME_NS: one of a kernel whose other parameters are the same.
candidate() {
    printf '"%s-tn":{"status":"ok","family":"%s","layout":"tn","role":"candidate","timings":{"device":{"n":8,"median_ns":%s}},"attributes":' "$1" "$1" "$3"
    printf '{"kernel":"multistage","parameters":"BM=%s,BN=128,BK=64,STAGES=%s,RASTER=8"}}' "$2" "${4:-4}"
}
speedup() { # speedup CANDIDATE REFERENCE VALUE
    printf '{"candidate":"%s-max","reference":"%s","timing":"device","geomean":%s,"mean_of_ratios":%s,"ci95":[%s,%s]}' "$1" "$2" "$3" "$3" "$4" "$5"
}
cell() { # cell MODE M N K
    printf '{"key":"%s/f16-f32-%sx%sx%s","mode":"%s","m":%s,"n":%s,"k":%s,"dtype":"f16","accumulate":"f32","status":"ok","env":0,"headline":"device","converged":true,' "$1" "$2" "$3" "$4" "$1" "$2" "$3" "$4"
    printf '"contenders":{"cublaslt-autotuning-tn":{"status":"ok","role":"baseline","timings":{"device":{"n":8,"median_ns":5000}}},'
    candidate tall 160 4340 5
    printf ,
    candidate even 128 4980
    printf '},"speedups":['
    speedup tall cublaslt-autotuning-max 0.152 0.14 0.164
    printf ,
    speedup tall torch.matmul 0.21 0.2 0.22
    printf ,
    speedup even cublaslt-autotuning-max 0.004 -0.01 0.018
    printf ']}'
}
{
    printf '{"schema":"cudal2-bench/result","schema_version":1,"run":{"n_cells":4,"complete":true,"missing":[],"sittings":[]},'
    printf '"env":[{"device":{"name":"Test GPU","driver":"1"}}],"summary":{},"cells":['
    cell offline 8192 512 2048
    printf ,
    cell offline 4096 512 1024
    printf ,
    cell offline 64 64 64
    printf ,
    cell server 8192 512 2048
    printf ']}'
} >"$work/result.json"

draw() { # draw ARGUMENT...
    timeout -k 5 120 scripts/figures.sh "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
draw -o "$work/a" "$work/result.json"
expect_code 0 "the figures of a result are drawn"
[ ! -s "$work/err" ]
verdict $? "without a warning" "$(head -3 "$work/err")"
for name in figure1-tall-max-f16-f32 figure1-even-max-f16-f32 figure3-offline-tall-max-f16-f32 figure3-server-even-max-f16-f32 figure4-offline-tall-f16-f32 \
    ablation-offline-f16-f32-8192x512x2048 ablation-server-f16-f32-8192x512x2048; do
    [ -s "$work/a/$name.svg" ] && [ -s "$work/a/$name.pdf" ]
    verdict $? "$name is there as SVG and PDF" "$(ls "$work/a")"
done
svg_says() { # svg_says NAME TEXT
    expect_text "$work/a/$1.svg" ">$2<" "$1 says $2"
}
svg_says figure1-tall-max-f16-f32 15.2
svg_says figure1-tall-max-f16-f32 21.0
svg_says figure1-tall-max-f16-f32 "\(a\) offline: mean over 3 shapes"
svg_says figure1-tall-max-f16-f32 "\(b\) server: mean over 1 shape"
svg_says figure3-offline-tall-max-f16-f32 "\(b\) by mean of M, N and K"
svg_says figure4-offline-tall-f16-f32 "\(a\) BM by M, 3 shapes"
svg_says ablation-offline-f16-f32-8192x512x2048 "\+15.2"
svg_says ablation-offline-f16-f32-8192x512x2048 "\+0.4"
svg_says ablation-offline-f16-f32-8192x512x2048 160
svg_says figure4-offline-tall-f16-f32 "\(e\) stages by K, 3 shapes"
for name in figure1-tall-max-f16-f32 ablation-offline-f16-f32-8192x512x2048; do
    svg_says $name 0
    ! grep -q '>+0<' "$work/a/$name.svg"
    verdict $? "$name gives 0 no sign"
done
# SVG has the label of the y axis, that of the x axis, then the title.
axes_of() { sed "/>$1/q" "$work/a/figure4-offline-tall-f16-f32.svg" | sed -nE 's,.*>([^<]+)</tspan>.*,\1,p' | tail -2 | xargs; }
[ "$(axes_of '(e) stages by K')" = "stages K" ] && [ "$(axes_of '(f) swizzle stride by MNK')" = "swizzle stride log2(MNK)" ]
verdict $? "the axes of (e) and (f) are those of their titles" "$(axes_of '(e) stages by K'), $(axes_of "(f) swizzle stride by MNK")"
head -c 5 "$work/a/figure3-offline-tall-max-f16-f32.pdf" | grep -q '%PDF-'
verdict $? "a PDF is a PDF"
# As a reader sees them: no word runs over the edge of its page, none lies on another.
if command -v pdftotext >/dev/null; then
    draw -o "$work/published" -f pdf --published tests/fixtures/data/published/cuda_l2_a100_F16F16F16F16_speedup_offline.csv --published tests/fixtures/data/published/cuda_l2_a100_F16F16F16F16_speedup_server.csv
    for file in "$work"/a/*.pdf "$work"/published/*.pdf; do
        pdftotext -bbox "$file" - | sed -nE 's/.*<page width="([0-9.]+)" height="([0-9.]+)".*/page \1 \2/p; s/.*<word xMin="([-0-9.]+)" yMin="([-0-9.]+)" xMax="([-0-9.]+)" yMax="([-0-9.]+)">(.*)<.word>.*/word \1 \2 \3 \4 \5/p' |
            awk '$1 == "page" { w = $2; h = $3; next }
                { if ($2 < 0 || $3 < 0 || $4 > w || $5 > h) print "over the edge: " $6
                  for (i = 1; i <= n; i++) if ($2 < x1[i] - 2 && x0[i] + 2 < $4 && $3 < y1[i] - 4 && y0[i] + 4 < $5) print $6 " lies on " t[i]
                  n++; x0[n] = $2; y0[n] = $3; x1[n] = $4; y1[n] = $5; t[n] = $6 }' >"$work/words"
        [ ! -s "$work/words" ]
        verdict $? "$(basename "$file" .pdf): every word can be read" "$(head -3 "$work/words" | xargs)"
    done
fi
draw -o "$work/b" "$work/result.json"
# Newer versions of cairo compress what holds a PDF's date.
grep -aq CreationDate "$work/a/figure3-offline-tall-max-f16-f32.pdf" || rm -f "$work"/[ab]/*.pdf
diff -r "$work/a" "$work/b" >"$work/differ"
verdict $? "a second run gives the same bytes" "$(cat "$work/differ")"

# A parameter that no kernel has, and shapes of which none reached the wanted precision.
sed 's/BK=64,//g; s/"converged":true/"converged":false/g' "$work/result.json" >"$work/poor.json"
draw -o "$work/poor" -f svg "$work/poor.json"
expect_code 0 "figures without means and with a panel without data are drawn"
[ ! -s "$work/err" ]
verdict $? "without a warning" "$(head -3 "$work/err")"
expect_text "$work/poor/figure4-offline-tall-f16-f32.svg" '>has a parameter BK<' "an empty panel says why"
expect_text "$work/poor/figure4-offline-tall-f16-f32.svg" '>\(c\) BK by K<' "and has neither shapes nor correlations"
[ -z "$(ls "$work/poor" | grep figure1)" ]
verdict $? "there are no bars of noise" "$(ls "$work/poor")"
expect_text "$work/out" 'no figure1-tall-max-f16-f32: too few shapes' "which is said"
expect_text "$work/poor/figure3-offline-tall-max-f16-f32.svg" 'too few reached the wanted precision for a mean' "Figure 3 has its dots alone"

# The authors' files alone: no parameters, so no Figure 4.
draw -o "$work/claimed" -f svg --published tests/fixtures/data/published/cuda_l2_a100_F16F16F16F16_speedup_offline.csv
expect_code 0 "the figures of a published file are drawn"
expect_text "$work/claimed/figure1-claimed-f16-f16.svg" '>22.1<' "Figure 1 has the published mean"
expect_text "$work/out" 'no ablation' "what cannot be drawn is said in one line"
[ "$(ls "$work/claimed")" = "$(printf 'figure1-claimed-f16-f16.svg\nfigure3-offline-claimed-f16-f16.svg')" ]
verdict $? "and nothing else is there" "$(ls "$work/claimed")"

draw
expect_code 64 "without arguments it says how to call it"
draw --help
expect_code 0 "help is no mistake"
expect_text "$work/out" 'Exit status' "and told to its end"
draw -f gif "$work/result.json"
expect_code 64 "an unknown picture format is refused"
draw -o "$work/c" "$work/none.json"
expect_code 65 "a result that is not there has report's exit status"
mkdir "$work/bin"
for tool in bash dirname sed cat; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
(PATH=$work/bin scripts/figures.sh -o "$work/d" "$work/result.json" >"$work/out" 2>"$work/err")
code=$?
expect_code 69 "without gnuplot it says so"
expect_text "$work/err" 'no gnuplot here' "in one line"
finish
