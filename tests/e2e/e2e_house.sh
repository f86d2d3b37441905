#!/bin/bash
# The lints of text: each finds what it is there to find (scripts/prose.py, lint-heads.sh, lint-heads.py,
# lint-release.sh, figures-check.py and others), in a small tree of its own. A lint that cannot fail would
# keep nothing.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
command -v git >/dev/null && command -v python3 >/dev/null || { echo "skip: no git or no python3"; exit 77; }
tree=$work/tree
mkdir -p "$tree/scripts" "$tree/harness/base" "$tree/docs" "$tree/debian" "$tree/harness/cli"
cp "$scripts"/{prose.py,comments.py,wrapping.py,lint-heads.sh,lint-heads.py,lint-release.sh,lint-repeats.sh,lint-names.py,lint-sizes.sh} "$tree/scripts/"
git -C "$tree" init -q
lint() { # lint PROGRAM...: in the tree
    (cd "$tree" && "$@") >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
finds() { # finds PATTERN NAME
    expect_code 1 "$2 is found"
    expect_text "$work/out" "$1" "and told"
}
printf '# Page\n\nShort. See [the other](docs/other.md#a-heading).\n' >"$tree/README.md"
printf '# Other\n\n## A heading\n\nText.\n' >"$tree/docs/other.md"
lint scripts/prose.py
expect_code 0 "good pages pass"
long=$(printf 'word %.0s' {1..30})
printf '# Page\n\n%s\n' "$long" >"$tree/README.md"
lint scripts/prose.py
finds 'README.md: line 3 has 1[0-9]+ columns' "a long line"
lint scripts/prose.py --write README.md
expect_code 0 "--write wraps it"
mkdir "$tree/docs/lab"
printf '# Log\n\nObviously `harness/base/gone.c`.\n' >"$tree/docs/lab/log.md"
lint scripts/prose.py
expect_code 0 "a log names what is gone, in the words of its day"
printf '# Log\n\n%s\n' "$long" >"$tree/docs/lab/log.md"
lint scripts/prose.py
finds 'docs/lab/log.md: line 3 has 1[0-9]+ columns' "and is wrapped all the same"
rm -r "$tree/docs/lab"
printf '# Page\n\nSee [it](docs/none.md) and [that](docs/other.md#nothing).\n' >"$tree/README.md"
lint scripts/prose.py
finds 'the link docs/none.md leads nowhere' "a dead link"
expect_text "$work/out" 'docs/other.md has no heading #nothing' "a dead anchor too"
printf '# Page\n\nObviously fast. `harness/base/none.c` does it.\n' >"$tree/README.md"
lint scripts/prose.py
finds 'line 3: "Obviously"' "a word that style does without"
expect_text "$work/out" 'harness/base/none.c is not there' "and a file that is not there"

printf '#!/bin/bash\n# a.sh: adds.\ncat <<END\n# %s\nEND\n' "$long" >"$tree/scripts/a.sh"
lint scripts/comments.py
expect_code 0 "what a here-document holds is no comment"
printf '#!/bin/bash\n# a.sh: %s\n# It takes two.\ntrue\n' "$long" >"$tree/scripts/a.sh"
lint scripts/comments.py
finds '^scripts/a.sh:2: a comment of over 110 columns' "a long comment"
lint scripts/comments.py --write
lint scripts/comments.py
expect_code 0 "--write wraps it"
[ "$(grep -c . "$tree/scripts/a.sh")" -eq 4 ] && [ "$(tail -1 "$tree/scripts/a.sh")" = true ]
verdict $? "and leaves the rest" "$(cat "$tree/scripts/a.sh")"
rm "$tree/scripts/a.sh"
mkdir -p "$tree/mk" "$tree/tests/e2e"
printf '# a.mk - adds.\n# %s\nall:\n' "$long" >"$tree/mk/a.mk"
printf '#!/bin/bash\n# %sand more.\n# Times nothing.\necho $((1 << 3))\n# %s\n' "$long" "$long" >"$tree/tests/e2e/e2e_a.sh"
lint scripts/comments.py
finds '^mk/a.mk:2: a comment' "one of make"
expect_text "$work/out" '^tests/e2e/e2e_a.sh:2: a comment' "one of a test"
expect_text "$work/out" '^tests/e2e/e2e_a.sh:5: a comment' "one behind a shift, which begins no here-document"
lint scripts/comments.py --write
expect_text "$tree/tests/e2e/e2e_a.sh" '^# Times nothing\.$' "what the runner looks for keeps its line"
expect_text "$tree/mk/a.mk" '^# a\.mk - adds\.$' "a sentence that has a line of its own keeps it"
rm -r "$tree/mk" "$tree/tests"

printf '/*\n * a.c - adds numbers for those who have two of them. Relies on nothing. Called by the rest of this room.\n */\nint a;\n' >"$tree/harness/base/a.c"
lint scripts/lint-heads.sh
expect_code 0 "a head comment passes"
printf '#include "base/a.h"\nint b;\n' >"$tree/harness/base/b.c"
lint scripts/lint-heads.sh
finds 'harness/base/b.c: begins with no head comment' "a file without one"
head_says() { # head_says WORDS: what the head comment of b.c says after its first sentence
    printf '/*\n * b.c - doubles a number for those who have only one of them. %s\n */\nint twice(int n)\n{\n}\n' "$1" \
        >"$tree/harness/base/b.c"
    lint scripts/lint-heads.sh
}
printf '/*\n * c.c - prints twice what it was given as a number. Relies on b.c. Called by main.\n */\nint c(void)\n{\n    twice(1);\n}\n' \
    >"$tree/harness/base/c.c"
head_says 'Relies on nothing. Called by c.c.'
expect_code 0 "a true caller passes"
head_says 'Relies on nothing. Called by c.c alone.'
expect_code 0 "one who is alone too"
printf '/*\n * d.c - prints four times what it was given, by asking twice. Relies on b.c. Called by main.\n */\nint d(void)\n{\n    twice(2);\n}\n' \
    >"$tree/harness/base/d.c"
lint scripts/lint-heads.sh
finds 'base/b.c: .* says that c.c alone calls it, and harness/base/d.c does' "a caller who is not alone"
rm "$tree/harness/base/d.c"
head_says 'Relies on nothing. Called by a.c.'
finds 'base/b.c: .* says that a.c calls it, which uses nothing of it' "a caller that calls nothing"
head_says 'Relies on nothing. Called by cli/.'
expect_code 0 "an empty room says nothing"
head_says 'Relies on a.c. Called by c.c.'
expect_code 0 "what a file without functions gives out is not asked"
printf '/*\n * e.h - triples, for those who have three of them and more.\n */\nint thrice(int n);\n' >"$tree/harness/base/e.h"
head_says 'Relies on e.h. Called by c.c.'
finds 'base/b.c: .* says that it relies on e.h, of which it uses nothing' "a header that is not used"
rm "$tree/harness/base/e.h"
head_says 'Relies on base/gone.h. Called by gone.c.'
finds 'base/b.c: .* names base/gone.h, which is not there' "a header that is gone"
expect_text "$work/out" 'names gone.c, which is not there' "and a source that is gone"
head_says 'Relies on base/gone. Called by c.c.'
finds 'base/b.c: .* names base/gone, which is not there' "a source that is named by its room"
head_says 'Relies on nothing, and nobody knows who wants it.'
finds 'base/b.c: .* does not say who calls it' "a head without a caller"
head_says 'Relies on nothing. Called by c.c.'
mkdir -p "$tree/tests/unit/cli"
printf '/* base/b: a number becomes twice as large. */\nint t;\n' >"$tree/tests/unit/cli/test_b.c"
lint scripts/lint-heads.sh
finds 'test_b.c: tests base/b, so its place is tests/unit/base/' "a unit test in another room"
rm -r "$tree/harness/base/b.c" "$tree/harness/base/c.c" "$tree/tests"

mkdir "$tree/configs"
echo '{"properties": {"verify": {"properties": {"seeds": {}}}}}' >"$tree/configs/config.schema.json"
printf 'struct timed_trial {\n    int n;\n};\n' >"$tree/harness/base/look_again.h"
lint scripts/lint-names.py
expect_code 0 "plain names pass"
printf 'struct gunzip_input {\n    int n;\n};\n' >"$tree/harness/base/look.h"
printf '/* Of what was unpacked. */\nenum places { HERE };\n' >"$tree/harness/base/test_sheet.c"
echo '{"properties": {"verify": {"properties": {"seeds": {}, "wanted": {}}}}}' >"$tree/configs/config.schema.json"
lint scripts/lint-names.py
finds 'base/look.h: the file look needs a dictionary' "a file with a name of the list"
expect_text "$work/out" 'base/look.h: the tag gunzip_input .*\(gzip_read\)' "a struct too, with the better word"
expect_text "$work/out" 'base/test_sheet.c: the file sheet' "a test's file"
expect_text "$work/out" 'base/test_sheet.c: the tag places' "an enum"
expect_text "$work/out" 'config.schema.json: the key wanted' "and a key of the config"
rm -r "$tree/configs" "$tree"/harness/base/{look,look_again}.h "$tree/harness/base/test_sheet.c"

if ctags --version 2>/dev/null | grep -q Universal; then
    function_of() { # function_of LINES
        echo "int f(int n)" && echo "{" && for ((i = 0; i < $1; i++)); do echo "    n += $i;"; done && echo "}"
    }
    for i in {1..9}; do printf 'int f%s(int n)\n{\n    return n;\n}\n' "$i"; done >"$tree/harness/cli/short.c"
    function_of 60 >"$tree/harness/cli/long.c"
    lint scripts/lint-sizes.sh
    expect_code 0 "a function of 60 lines passes"
    function_of 61 >"$tree/harness/cli/long.c"
    lint scripts/lint-sizes.sh
    finds 'harness/cli/long.c:1: f is 61 lines long' "a function of 61"
    rm "$tree/harness/cli/long.c" "$tree/harness/cli/short.c"
fi

if command -v sim_c >/dev/null; then
    { echo "int once(int n)" && echo "{" && for i in {1..20}; do echo "    n = n * $i + (n ^ $i);"; done && echo "}"; } >"$tree/harness/cli/one.c"
    lint scripts/lint-repeats.sh
    expect_text "$work/out" 'repeats: 0 stretches' "one function repeats nothing"
    cp "$tree/harness/cli/one.c" "$tree/harness/cli/other.c"
    lint scripts/lint-repeats.sh
    expect_code 0 "what repeats is reported and fails nothing"
    expect_text "$work/out" 'cli/(one|other)\.c: line .*\|harness/cli/o' "and where"
    rm "$tree/harness/cli/one.c" "$tree/harness/cli/other.c"
fi
mkdir "$work/bare"
ln -s "$(command -v dirname)" "$work/bare/dirname"
lint env PATH="$work/bare" "$BASH" scripts/lint-repeats.sh
expect_text "$work/out" 'not reported: sim_c is not installed' "a tool that is missing is told"

echo 1.2.3 >"$tree/VERSION"
printf '## [1.2.3] - 2026-01-01\n' >"$tree/CHANGELOG.md"
echo 'version: 1.2.3' >"$tree/CITATION.cff"
echo 'cudal2-bench (1.2.3) unstable; urgency=medium' >"$tree/debian/changelog"
touch "$tree/harness/cli/options.h" "$tree/pyproject.toml" "$tree/CMakeLists.txt"
lint scripts/lint-release.sh
expect_code 0 "one version passes"
echo 1.2.4 >"$tree/VERSION"
lint scripts/lint-release.sh
finds 'CITATION.cff: says "1.2.3", VERSION says 1.2.4' "a version that was forgotten"

# The figures of pages: one block alone in a tree with the real results, so that it takes a moment.
mkdir -p "$tree/configs" "$tree/docs/lab"
cp -r "$scripts"/figures-check.py "$scripts/figures" "$tree/scripts/"
cp "$scripts/../configs/config.schema.json" "$tree/configs/"
mkdir "$tree/results"
ln -s "$(cd "$scripts/../results" && pwd)"/h[12]00 "$tree/results/"
for other in README results/README docs/scale-out docs/method docs/trust docs/rl docs/lab/rl-details docs/lab/referee; do echo '# Page' >"$tree/$other.md"; done
sed -n '/<!-- figures: between_runs -->/,/<!-- end -->/p' "$scripts/../results/README.md" >"$tree/docs/trust.md"
expect_text "$tree/docs/trust.md" '^\| server, fp16, other hosts' "a block of figures is there"
lint env CUDAL2_BENCH="$bench" scripts/figures-check.py
expect_code 0 "figures that the results give pass"
sed -i '/^| server, fp16, other hosts/s/[0-9.]*%/99.9%/' "$tree/docs/trust.md"
lint env CUDAL2_BENCH="$bench" scripts/figures-check.py
finds 'docs/trust.md: not what results/ gives' "a figure that is changed by hand"

# The page of HTML beside a page of figures, which the script makes whole.
echo '# Page' >"$tree/docs/trust.md"
mkdir "$tree/scripts/import"
cp "$scripts"/{referee,wrapping}.py "$tree/scripts/" && cp "$scripts"/import/*.py "$tree/scripts/import/"
cp "$scripts"/../docs/lab/referee.{md,html} "$tree/docs/lab/"
sed -i '0,/+15\.3%/s//+95.3%/' "$tree/docs/lab/referee.html"
lint env CUDAL2_BENCH="$bench" scripts/figures-check.py
finds 'docs/lab/referee.html: not what results/ gives' "a page that is changed by hand"
expect_no_text "$work/out" 'referee.md: not what' "and no other"
lint env CUDAL2_BENCH="$bench" scripts/figures-check.py --write
cmp -s "$scripts/../docs/lab/referee.html" "$tree/docs/lab/referee.html"
verdict $? "and is made again, byte for byte"
finish
