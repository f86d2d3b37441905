#!/bin/bash
# The learning side (rl/) with this build: records, searches, the live environment on the CPU; the policy
# itself where torch is installed ($PYTHON names another interpreter); Gymnasium, OpenEnv and KernelGYM's
# client against a live server, where $PYTHON or `scripts/consumers.sh` (OpenEnv: `all`) has what they need.
# What is skipped is told in one line.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null; then
    echo "no python3 here (apt-get install python3)"
    exit 77
fi
"$python" -c 'import gymnasium' 2>/dev/null || export PYTHONPATH=$(dirname "$bench")/consumers/python
CUDAL2_BENCH=$bench PYTHONDONTWRITEBYTECODE=1 timeout 600 "$python" -m unittest discover -v -s rl/tests -t rl >"$work/out" 2>&1 </dev/null
verdict $? "rl/tests pass" "$(tail -3 "$work/out")"
expect_text "$work/out" '^Ran [1-9][0-9]* tests' "tests were found"
expect_no_text "$work/out" 'live environment is not tested' "the live environment was tested"
! grep -q 'torch is not installed' "$work/out" || echo "# torch is not installed: the policy itself was not tested (rl/requirements.txt)"
for what in gymnasium openenv-core httpx; do
    ! grep -q "$what is not installed" "$work/out" || echo "# $what is not installed: not tried (scripts/consumers.sh all)"
done
[ "$failures" -eq 0 ] || tail -40 "$work/out"
finish
