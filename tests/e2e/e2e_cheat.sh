#!/bin/bash
# A stranger's source, tried with one command (docs/trust.md): make redteam CHEAT=path.c. One that cheats is
# caught in every setting, one that does not is left alone, and one that does not compile is told apart from
# both. Chosen settings alone can be tried.
. "$(dirname "$0")/e2e.inc.sh"
[ -n "${CUDAL2_SLOW:-}" ] || { echo "takes a minute: make test-all"; exit 77; }
if grep -qa __asan_init "$bench"; then
    echo "a plugin without the sanitizer's runtime: the verdicts would be about it"
    exit 77
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
try() { # try NAME: what the command does
    TMPDIR=$work REDTEAM_SEED=11 CUDAL2_BENCH=$bench timeout 280 bash "$root/tests/redteam/try.sh" "$work/$1.c" >"$work/out" 2>"$work/err"
    code=$?
}

make -C "$root" -n redteam CHEAT="$work/lazy.c" 2>/dev/null | grep -qF "tests/redteam/try.sh $work/lazy.c"
verdict $? "make redteam CHEAT=path.c tries that path"

cat >"$work/lazy.c" <<'END'
#include "redteam.h"
static int lazy(void *state, size_t set, char *why)
{
    static unsigned launches;
    return ++launches > 40 ? CUDAL2_OK : honest_launch(state, set, why);
}
static const struct redteam_row rows[] = {{"lazy", .launch = lazy}};
REDTEAM_PLUGIN(rows)
END
try lazy
expect_code 3 "one that stops multiplying is caught"
[ "$(grep -cE '^[a-z].*  (wrong_result|implausible_speed) at ' "$work/out")" -eq 6 ]
verdict $? "in all six settings" "$(cat "$work/out")"

TRY_SETTINGS='^server, warm$' try lazy
expect_code 3 "it is caught in a setting that is asked for"
[ "$(grep -c . "$work/out")" -eq 1 ] && grep -q '^server, warm ' "$work/out"
verdict $? "and no other is tried" "$(cat "$work/out")"
TRY_SETTINGS=cold try lazy
expect_code 1 "a setting that there is not could not be tried"
expect_text "$work/err" 'no setting is called "cold"' "and that is said"

printf '#include "redteam.h"\nstatic const struct redteam_row rows[] = {{"fair"}};\nREDTEAM_PLUGIN(rows)\n' >"$work/fair.c"
try fair
expect_code 0 "one that does not cheat is left alone"
[ "$(grep -cE '^[a-z].*  ok' "$work/out")" -eq 6 ]
verdict $? "in all six settings" "$(cat "$work/out")"

echo 'int main(void) { return' >"$work/broken.c"
try broken
expect_code 1 "one that does not compile could not be tried"
expect_text "$work/err" 'broken.c does not compile' "and that is said"
finish
