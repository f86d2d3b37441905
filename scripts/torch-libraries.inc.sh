# shellcheck shell=sh
# torch-libraries.inc.sh - where a machine's own libtorch lies; sourced, not run.
# A build that was carried to another machine finds the libtorch of that machine, and with it the cuBLAS of
# torch: one cuBLAS for all.
torch_dir=$(python3 -c 'import torch, os; print(os.path.dirname(torch.__file__))' 2>/dev/null)
if [ -n "$torch_dir" ]; then
    for d in "$torch_dir/lib" "$torch_dir"/../nvidia/cu*/lib; do
        [ -d "$d" ] && LD_LIBRARY_PATH=$d${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done
    export LD_LIBRARY_PATH
fi
