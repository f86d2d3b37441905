#!/bin/bash
# What a plugin does in one of its hooks and leaves behind for the worker and its rivals
# (tests/fixtures/plugins/bad_hooks.c): another locale, words on stdout, bytes in the worker's socket, closed
# descriptors. The honest plugin beside it is always measured, and what is a fault is told under the name of
# who did it, whichever hook it was. In a process of its own, which a plugin has where nothing else is asked
# for, it harms nobody but itself.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 5}'
journal=$work/r.journal.jsonl
config "$work/apart.json" '{"m": 16, "n": 24, "k": 32}' '"offline"' "\"$plugins/bad_hooks.so\"" "$stop"
config "$work/inside.json" '{"m": 16, "n": 24, "k": 32}' '"offline"' "\"$plugins/bad_hooks.so\"" "\"verify\": {\"process_per_plugin\": false}, $stop"
chosen=inside

# A locale with a decimal comma: made here, for few machines have one installed.
mkdir "$work/locales"
localedef -i de_DE -f UTF-8 "$work/locales/de_DE.UTF-8" >/dev/null 2>&1
export CUDAL2_TEST_LOCPATH=$work/locales
comma=$(LOCPATH=$work/locales LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null)

deed() { # deed DEED HOOK CODE: a run with this deed
    rm -rf "$work/cache" "$work"/r.*
    CUDAL2_TEST_DEED=$1 CUDAL2_TEST_HOOK=$2 run run --config "$work/$chosen.json" --device cpu --output "$work/r.json"
    expect_code "$3" "$1 in $2, $chosen: exit status"
    grep -q '"name":"honest-nn"' "$journal" && ! grep -oE '"name":"honest-nn"[^{}]*' "$journal" | grep -q '"status"'
    verdict $? "$1 in $2: the honest plugin is measured" "$(grep -oE '"name":"honest-nn"[^{}]*' "$journal" | cut -c1-200)"
}

named() { # named DEED HOOK VERDICT: the run's plugin is the one at fault
    deed "$1" "$2" 3
    grep -qE "\"name\":\"bad.hooks[^{}]*\"status\":\"$3\"" "$journal"
    verdict $? "$1 in $2: named as $3" "$(grep -oE '"name":"bad.hooks[^{}]*' "$journal" | cut -c1-200)"
    expect_no_text "$work/err" 'of the harness' "$1 in $2: nobody asks what the harness did"
}

harmless() { # harmless DEED HOOK: nothing comes of it, and it is measured too
    chosen=apart
    deed "$1" "$2" 0
    grep -q '"name":"bad-hooks-nn"' "$journal" && ! grep -oE '"name":"bad-hooks-nn"[^{}]*' "$journal" | grep -q '"status"'
    verdict $? "$1 in $2: of no effect on a process of its own" "$(grep -oE '"name":"bad.hooks[^{}]*' "$journal" | cut -c1-200)"
    chosen=inside
}

hooks='constructor entry probe versions variants setup launch describe teardown'
if [ "$comma" = , ]; then
    for hook in $hooks; do named locale "$hook" device_state_changed; done
    for hook in entry launch describe; do named thread-locale "$hook" device_state_changed; done
    for hook in destructor exit; do deed locale "$hook" 0; done
    for hook in $hooks; do harmless locale "$hook"; done
    CUDAL2_TEST_DEED=locale CUDAL2_TEST_HOOK=launch run verify --device cpu "$plugins/bad_hooks.so" --shape 16x24x32 --baselines "$plugins/honest.so"
    expect_code 0 "locale in launch: of no effect on verify"
    run list --device cpu --plugins "$nothing" -k "$plugins/honest.so" -k "$plugins/bad_hooks.so"
    cp "$work/out" "$work/listed"
    CUDAL2_TEST_DEED=locale CUDAL2_TEST_HOOK=probe run list --device cpu --plugins "$nothing" -k "$plugins/honest.so" -k "$plugins/bad_hooks.so"
    cmp -s "$work/out" "$work/listed"
    verdict $? "locale in probe: list is what it is without" "$(diff "$work/out" "$work/listed" | head -2)"
else
    echo "# no localedef, or no source of de_DE (package locales): nothing was tried in a locale with a decimal comma"
fi
# A SIGKILL that the supervisor did not send, as the kernel's when memory is out, convicts nobody
# (tests/unit/run/test_death.c).
for hook in setup launch setup launch; do
    [ "$chosen" = inside ] && chosen=apart || chosen=inside
    deed kill "$hook" 2
    grep -qE '"name":"bad-hooks[^{}]*"status":"killed"' "$journal"
    verdict $? "kill in $hook: told as killed" "$(grep -oE '"name":"bad.hooks[^{}]*' "$journal" | cut -c1-200)"
done
chosen=inside
for hook in $hooks; do named socket "$hook" tamper_suspected; done
for hook in constructor launch describe; do named close "$hook" tamper_suspected; done
for hook in constructor launch describe; do harmless socket "$hook"; done
for hook in constructor launch describe; do harmless close "$hook"; done
chosen=apart
for hook in $hooks destructor exit; do
    deed print "$hook" 0
    expect_no_text "$work/out" 'half a line' "print in $hook: none of it on the program's stdout"
done
finish
