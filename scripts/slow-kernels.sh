#!/bin/bash
# slow-kernels.sh KERNELS OUT PERCENT: a copy of a kernels/ directory in which every candidate's thread blocks
# last PERCENT longer. The regression gate must see a loss that was put there on purpose, and the results stay
# right.
set -eu
from=${1:?usage: slow-kernels.sh KERNELS OUT PERCENT}
to=${2:?usage: slow-kernels.sh KERNELS OUT PERCENT}
percent=${3:?usage: slow-kernels.sh KERNELS OUT PERCENT}
mkdir -p "$to"
cp -R "$from/." "$to"
# An object that lives as long as the kernel's body, whatever its ways out are: at its end it waits in
# proportion to its age.
for kernel in "$to"/*.cu; do
    grep -q '^#include ".*\.cu"' "$kernel" && continue # its body is the other file's, which is slowed by itself
    sed -i '/^extern "C" __global__/,/^{/ s/^{/{\n    const SlowOnPurpose slow_on_purpose;/' "$kernel"
    [ "$(grep -c 'SlowOnPurpose slow_on_purpose' "$kernel")" -eq 1 ] || { echo "slow-kernels: no kernel found in $kernel" >&2; exit 65; }
    cat - "$kernel" >"$kernel.new" <<END
struct SlowOnPurpose
{
    long long start;
    __device__ SlowOnPurpose() : start(clock64())
    {
    }
    __device__ ~SlowOnPurpose()
    {
        const long long end = clock64();
        while ((clock64() - end) * 100 < (end - start) * $percent) {
        }
    }
};
END
    mv "$kernel.new" "$kernel"
done
