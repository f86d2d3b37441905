# Sourced by scripts that run a program on a GPU. A build carried to another machine finds that machine's
# libtorch, and with it torch's own cuBLAS: one cuBLAS for all.
torch_dir=$(python3 -c 'import torch, os; print(os.path.dirname(torch.__file__))' 2>/dev/null)
if [ -n "$torch_dir" ]; then
    for d in "$torch_dir/lib" "$torch_dir"/../nvidia/cu*/lib; do
        [ -d "$d" ] && LD_LIBRARY_PATH=$d${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done
    export LD_LIBRARY_PATH
fi
