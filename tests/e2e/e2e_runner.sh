#!/bin/bash
# scripts/run-tests.sh itself: what it counts, and what it leaves behind when it is ended.
. "$(dirname "$0")/e2e.inc.sh"
runner=$(dirname "$0")/../../scripts/run-tests.sh
write_test() { # write_test NAME: a test whose body is on stdin
    { echo '#!/bin/bash' && cat; } >"$work/$1.sh"
    chmod +x "$work/$1.sh"
}
write_test good <<<'echo "ok - one"; echo "ok - two"'
write_test bad <<<'echo "ok - one"; echo "not ok - two"; exit 1'
write_test elsewhere <<<'echo "no such device"; exit 77'
"$runner" "$work/build" "$work/good.sh" "$work/bad.sh" "$work/elsewhere.sh" >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a failed check"
expect_text "$work/out" '^3 passed, 1 failed$' "is counted beside those that passed"
expect_text "$work/out" '^skip +elsewhere +no such device$' "and what is not for here says why"
write_test builder <<<"echo new >'$work/build/cudal2-bench.new' && mv '$work/build/cudal2-bench.new' '$work/build/cudal2-bench'; echo 'ok - one'"
echo old >"$work/build/cudal2-bench"
"$runner" "$work/build" "$work/builder.sh" >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a test that builds the program again"
expect_text "$work/out" 'was built again while it was tested' "is told of"

# Two that wait for each other: only both at once can end. One that times something finds nobody else there,
# whatever its place.
mark='# Times nothing.'
for side in left right; do
    write_test $side <<END
$mark
touch "$work/$side.there"
other=$([ $side = left ] && echo right || echo left)
for _ in \$(seq 100); do
    [ -e "$work/\$other.there" ] && echo "ok - met" && sleep 0.3 && touch "$work/$side.over" && exit 0
    sleep 0.1
done
echo "not ok - met nobody"
exit 1
END
done
write_test clock <<<"[ -e '$work/left.over' ] && [ -e '$work/right.over' ] && echo 'ok - alone' || { echo 'not ok - alone'; exit 1; }"
"$runner" -j 2 "$work/build" "$work/clock.sh" "$work/left.sh" "$work/right.sh" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "two at a time, and one alone"
expect_text "$work/out" '^3 passed, 0 failed$' "are all counted"
# One that crashes as another one is judged: bash forgets those.
write_test crash <<END
$mark
sleep 0.2
kill -SEGV \$\$
END
for side in one two three four; do write_test $side <<<"$mark"$'\nsleep 0.2; echo "ok - one"'; done
"$runner" -j 5 "$work/build" "$work"/{one,two,crash,three,four,clock}.sh >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a test that crashes among others"
expect_text "$work/out" '^FAILED +crash +exit status 139' "is told of"
expect_text "$work/out" '^5 passed, 1 failed$' "and what comes after it runs"
rm -f "$work"/*.there "$work"/*.over
for side in one two three four; do write_test $side <<<"$mark"$'\n'"echo $side >>'$work/order'; sleep 0.3; echo 'ok - one'"; done
"$runner" -j 2 -f four "$work/build" "$work"/{one,two,three,four}.sh >"$work/out" 2>"$work/err"
[ "$(head -2 "$work/order" | sort | xargs)" = "four one" ] && [ "$(wc -l <"$work/order")" -eq 4 ]
verdict $? "what is named as long begins first" "$(xargs <"$work/order")"
cp "$work/clock.sh" "$work/solo"
"$runner" -j 3 -a solo "$work/build" "$work/solo" "$work/left.sh" "$work/right.sh" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "a program named as one that times, alone"
"$runner" -j 0 "$work/build" "$work/good.sh" >"$work/out" 2>"$work/err"
code=$?
expect_code 64 "no test at a time"
expect_text "$work/err" '^usage: run-tests.sh ' "is refused"

# What a test started goes with it, or it would keep the device from the next.
write_test slow <<END
sleep 98765 &
echo \$! >"$work/child"
wait
END
for signal in TERM INT; do
    rm -f "$work/child"
    # A shell's background job does not hear INT otherwise.
    env --default-signal=INT "$runner" "$work/build" "$work/slow.sh" >"$work/out" 2>"$work/err" &
    pid=$!
    for _ in $(seq 100); do [ -s "$work/child" ] && break; sleep 0.1; done
    kill -"$signal" "$pid"
    wait "$pid"
    code=$?
    expect_code $([ $signal = TERM ] && echo 143 || echo 130) "run-tests.sh on $signal"
    # Whoever adopts it may not have looked yet: a zombie has ended.
    state=$(sed 's/.*) //; s/ .*//' "/proc/$(cat "$work/child")/stat" 2>/dev/null)
    [ "${state:-Z}" = Z ]
    verdict $? "ends what the test has started"
done
finish
