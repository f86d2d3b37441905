#!/bin/bash
# The referee table's chain on the CPU device, with plugins for families: scripts/gpu-run.sh referee goes on
# where it was ended, and scripts/referee.py makes the page of its journal. scripts/referee.sh without its
# tools says what it leaves out.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1

mkdir -p "$work/built/f32/steady" "$work/built/f32/bad_wrong" "$work/built/f32/tunable" "$work/built/f32/cuda-l2.src" "$work/runs"
for family in steady bad_wrong tunable; do
    cp "$plugins/$family.so" "$work/built/f32/$family/" || exit 1
done
printf 'steady\ta <plugin> of the tests\thttps://example.org/steady\t1.2\tMIT\n' >"$work/built/families.tsv"
cat >"$work/small.json" <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "referee", "dtype": "f16", "accumulate": ["f32"], "layouts": ["nn"],
 "modes": ["offline"], "baselines": ["$plugins/honest.so"], "candidates": [],
 "limits": {"setup_seconds": 20, "verify_seconds": 20, "launch_seconds": 2, "tune_seconds": 20},
 "stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 4},
 "shapes": [{"m": 64, "n": 64, "k": 64, "label": "grid"}, {"m": 128, "n": 64, "k": 64, "label": "grid, toy attn m=128"},
            {"m": 96, "n": 64, "k": 64, "label": "toy ffn m=96"}]}
END
step() {
    REFEREE_CONFIG=$work/small.json timeout -k 5 200 scripts/gpu-run.sh -b "$tested_build" -o "$work/runs" -d cpu "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
journal=$work/runs/referee-f32.journal.jsonl
cells() { grep -c '"kind":"cell"' "$journal"; }

step "referee:f32:$work/built"
expect_code 3 "the step runs what was built beside the config's own, one of which is wrong"
[ "$(cells)" -eq 3 ] && grep -q '"dtype":"f32"' "$journal"
verdict $? "every shape, in the type that the step names"
expect_text "$work/runs/referee-families.tsv" '^steady	' "whose code it is lies beside the journal"

# As a slice that was ended after the first shape: the next call measures the others.
awk '/"kind":"cell"/ && ++n > 1 { exit } { print }' "$journal" >"$work/cut" && mv "$work/cut" "$journal"
before=$(sed -n '/"kind":"cell"/p' "$journal")
step "referee:f32:$work/built"
expect_code 3 "the step goes on"
[ "$(cells)" -eq 3 ] && [ "$(sed -n '/"kind":"cell"/{p;q}' "$journal")" = "$before" ]
verdict $? "behind what was measured" "$(cells) cells"

# A slice that its time ends says so by 75, as the program does.
mkdir -p "$work/stub"
printf '#!/bin/bash\ntrap "exit 75" TERM\n[ "$1" = run ] && { sleep 60 & wait $!; }\n' >"$work/stub/cudal2-bench"
chmod +x "$work/stub/cudal2-bench"
tested_build=$work/stub step -t 1 "referee:f32:$work/built"
expect_code 75 "a slice that is ended"
tested_build=$work/stub step -t 1 "referee:f16-f16:$work/built"
expect_text "$work/runs/referee-f16-f16.config.json" '"dtype": "f16", "accumulate": \["f16"\]' "fp16 sums are a type of their own"

REFEREE_QUICK=1 tested_build=$work/stub step -t 1 "referee:f32:$work/built"
python3 - "$work/runs/referee-f32.config.json" 2>"$work/err" <<'END'
import json, sys
tree = json.load(open(sys.argv[1]))
assert tree["dtype"] == "f32" and tree["timing"] == ["device"] and tree["stop"]["max_cell_seconds"] == 1.6 and tree["stop"]["min_blocks"] == 8, tree
assert [s["m"] for s in tree["shapes"]] == [64, 96, 128], tree
END
verdict $? "for one GPU in one go the shapes are spread and cells end earlier" "$(tail -1 "$work/err")"
REFEREE_CONFIG=configs/referee.json REFEREE_QUICK=1 timeout -k 5 60 scripts/gpu-run.sh -b "$work/stub" -t 1 -o "$work/quick" referee:bf16 >"$work/out" 2>&1 </dev/null
python3 - configs/referee.json "$work/quick/referee-bf16.config.json" 2>"$work/err" <<'END'
import json, sys
whole, quick = (json.load(open(path)) for path in sys.argv[1:])
key = lambda s: tuple(s.values())
assert sorted(map(key, whole["shapes"])) == sorted(map(key, quick["shapes"])) and quick["candidates"] == ["torch.matmul", "cudal2"], quick["candidates"]
for n in (30, 100, 150, 250): # any beginning has its share of both groups, and of every part of the grid
    grid = [s["m"] for s in quick["shapes"][:n] if s["label"].split(",")[0] == "grid"]
    assert abs(len(grid) / n - 2 / 3) < 0.06 and (n < 100 or set(grid) == {s["m"] for s in whole["shapes"][:190]}), (n, len(grid))
END
verdict $? "of the table's own, without the exhaustive search, any beginning is a sample" "$(tail -1 "$work/err")"

page() {
    timeout -k 5 60 scripts/referee.py "$@" --program "$bench" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
page "$journal" --out "$work/page.md" --html "$work/page.html"
expect_code 0 "the page is made of the journal"
expect_text "$work/page.md" '^## f32, sums in f32: grid, 2 shapes$' "with the grid's shapes"
expect_text "$work/page.md" '^## f32, sums in f32: language models, 2 shapes$' "and those of language models, one of which is both"
expect_text "$work/page.md" '^\| steady \| 2 of 2 \| [+-][0-9.]+% ' "a family's lead"
expect_text "$work/page.md" '^\| honest \| 2 of 2 \| the reference ' "the reference in its place"
expect_no_text "$work/page.md" '^\| bad-wrong \| [0-9]+ of ' "a wrong family has no lead"
expect_text "$work/page.md" '^bad-wrong: wrong_result 3$' "and is named with its verdict"
expect_text "$work/page.md" '^\| steady \| a <plugin> of the tests \| https://example.org/steady \| 1.2 \| MIT \|' "whose code a family is"
expect_text "$work/page.md" '^\| tunable \| .* \| [1-9][0-9]* \| [0-9.e-]+ s \| [1-3] \| [1-9][0-9]* \| [0-9]+ s \| [0-9.]+ s \|$' "how much it searched, and in all"
searched=$("$bench" report "$journal" --format result | python3 -c 'import json, sys
told = [c["tuning"]["raced"] for cell in json.load(sys.stdin)["cells"] for n, c in cell["contenders"].items() if n == "tunable-nn" and "raced" in c["tuning"]]
print(len(told), sum(told))')
expect_text "$work/page.md" "^\\| tunable \\| .* s \\| ${searched/ / \\\\| } \\| " "as the journal has it"
expect_text "$work/page.html" '<a href="https://example.org/steady">example.org/steady</a>' "the page of HTML"
expect_no_text "$work/page.html" 'Beware' "without notes there are none"
printf '# Title\n\n**Beware.** It is [ours](a.md) & small.\n\n<!-- figures: referee -->\nnumbers\n' >"$work/notes.md"
page "$journal" --notes "$work/notes.md" --out "$work/page.md" --html "$work/noted.html"
expect_text "$work/noted.html" '^<p><b>Beware\.</b> It is <a href="a\.md">ours</a> &amp; small\.$' "which begins with the notes"
expect_no_text "$work/noted.html" 'numbers' "and with nothing that stands behind them"
expect_text "$work/page.html" 'a &lt;plugin&gt; of the tests' "has text as text"
gzip -kf "$journal"
page "$journal.gz" --families "$work/built/families.tsv" --out "$work/again.md"
cmp -s "$work/page.md" "$work/again.md"
verdict $? "a compressed journal gives the same page" "$(cat "$work/err")"
# The first shape in one journal, all three in another: one table, in which the first journal's cell counts.
awk '/"kind":"cell"/ && ++n > 1 { exit } { print }' "$journal" >"$work/first.journal.jsonl"
page "$work/first.journal.jsonl" "$journal" --families "$work/built/families.tsv" --out "$work/two.md"
expect_code 0 "two journals of one type"
expect_text "$work/two.md" '^Of 3 shapes in all: 1 shapes on .*; 2 shapes on ' "say what each has"
diff <(grep '^|' "$work/page.md") <(grep '^|' "$work/two.md") >"$work/differ"
verdict $? "and are one table" "$(head -3 "$work/differ")"
# A shape that steady had no kernel for: told with the reason, or what another run has of it, by the name that
# it has there.
"$bench" report "$journal" --format result >"$work/whole.json"
python3 - "$work" <<'END'
import json, sys
text = open(f"{sys.argv[1]}/whole.json").read()
open(f"{sys.argv[1]}/other.json", "w").write(text.replace('"steady-', '"theirs-').replace("2026-", "2025-"))
tree = json.loads(text)
cell = next(c for c in tree["cells"] if c["m"] == 96)
cell["contenders"]["steady-nn"] = {"status": "unsupported", "reason": "no kernel of the set is for this shape", "layout": "nn", "role": "candidate"}
cell["speedups"] = [s for s in cell["speedups"] if not s["candidate"].startswith("steady")]
json.dump(tree, open(f"{sys.argv[1]}/gap.json", "w"))
END
page "$work/gap.json" --families "$work/built/families.tsv" --out "$work/gap.md"
expect_text "$work/gap.md" '^\| steady \| unsupported \| no kernel of the set is for this shape \| 1 \| 96x64x64 \|$' "a shape without a kernel, by name"
expect_text "$work/gap.md" '^\| steady \| 1 of 2 ' "which is a gap"
page "$work/gap.json" --gaps "$work/other.json" --as theirs=steady --families "$work/built/families.tsv" --out "$work/filled.md"
expect_code 0 "a result for the gaps"
tr '\n' ' ' <"$work/filled.md" >"$work/filled.line"
expect_text "$work/filled.line" 'For 1 of these steady had no kernel there; what other runs found counts, over the reference in those: 1 shapes on [^;]* begun 2025-' \
    "the page says where the rest is from"
diff <(grep '^| steady' "$work/page.md") <(grep '^| steady' "$work/filled.md") >"$work/differ"
verdict $? "and it is as if it had been there" "$(head -3 "$work/differ")"
page "$journal" --families "$work/built/families.tsv" --also "On another GPU=$work/other.json" --also "On another GPU=$journal" --out "$work/also.md" --html "$work/also.html"
expect_code 0 "a run that is not to be mixed with the others"
expect_text "$work/also.md" '^### f32, sums in f32: grid, 2 shapes$' "has tables of its own, by its title"
expect_text "$work/also.html" '^<h2>On another GPU</h2>$' "and in the page of HTML"
[ "$(grep -c '^| theirs | 2 of 2 | ' "$work/also.md")" -eq 2 ] && [ "$(grep -c '^| steady | 2 of 2 | ' "$work/also.md")" -eq 2 ]
verdict $? "a cell is that of its first result there too" "$(grep '^| theirs\|^| steady' "$work/also.md")"
diff <(sed '/^## On another/,/^## Again/d' "$work/also.md") <(sed '/^## Again/d' "$work/page.md") >"$work/differ"
verdict $? "the other tables are as without it" "$(head -3 "$work/differ")"
expect_text "$work/also.md" '^\| tunable \| [1-3] \| [0-9.e-]+ s \| [1-9][0-9]* \| ' "and what was searched is told for it alone"
page "$journal" --reference nobody
expect_code 1 "a reference that is not there"
expect_text "$work/err" '^referee: .*no family was measured against nobody$' "is named"

# --- without its tools nothing is built, and each is told of ---
CUDAL2_ADAPTERS=$work/none timeout -k 5 120 scripts/referee.sh -c "$work/small.json" "$work/empty" bf16 >"$work/out" 2>"$work/err" </dev/null
[ $? -ne 0 ] && [ "$(grep -c 'bf16: left out (exit status ' "$work/err")" -eq 3 ]
verdict $? "referee.sh without its tools says what is left out" "$(tail -3 "$work/err")"
if command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    set=$work/their/kernels/h100_F32F16F16F32 # of the published set, the shapes of the config
    mkdir -p "$set" && cp tests/fixtures/imports/16_16_16.cu "$set/64_64_64.cu" && cp tests/fixtures/imports/32_16_16.cu "$set/"
    echo "A Licence" >"$work/their/LICENSE"
    CUDAL2_ADAPTERS=$work/none timeout -k 5 300 scripts/referee.sh -p "$work/their" -c "$work/small.json" "$work/published" f16 >"$work/out" 2>"$work/err" </dev/null
    expect_text "$work/out" '^1 of 1 built; ' "of a checkout, the kernels of the config's shapes"
    expect_text "$work/published/families.tsv" '^cuda-l2	.*/CUDA-L2	[^	]+	A Licence$' "with their licence"
    rm "$work/their/LICENSE" # a part of a checkout, as the kernels are carried
    CUDAL2_ADAPTERS=$work/none timeout -k 5 300 scripts/referee.sh -p "$work/their" -c "$work/small.json" "$work/published" f16 >"$work/out" 2>"$work/err" </dev/null
    expect_text "$work/published/families.tsv" '^cuda-l2	.*	unknown	MIT License \(not in this checkout\)$' "a part of a checkout does not say that there is none"
    [ -e "$work/published/f16/cuda-l2/cuda-l2.so" ]
    verdict $? "as a family of the table"
fi
timeout 20 scripts/referee.sh "$work/empty" >"$work/out" 2>"$work/err"
code=$?
expect_code 64 "referee.sh without a type"
finish
