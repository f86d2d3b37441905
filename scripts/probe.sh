#!/bin/sh
# Finds the libraries that this build can use. Prints one line for each: what was found, where and which
# version, or "not found" and the command that gets it. Writes make variables to the file named by $1. Nothing
# here fails the build: a plugin whose library is missing is not built, and `cudal2-bench list` says so.
# Environment: CC, CUDA_HOME, LIBTORCH, PYTHON override what is found by itself; TORCH=0 and OPENBLAS=0 leave
# those two out.
set -u
out=${1:?usage: probe.sh OUTPUT.mk}
CC=${CC:-gcc}
PYTHON=${PYTHON:-python3}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
multiarch=$($CC -print-multiarch 2>/dev/null)
: >"$work/mk"

say() { printf '  %-9s %s\n' "$1" "$2"; }
put() { printf '%s := %s\n' "$1" "$2" >>"$work/mk"; }

# try_c FLAGS: compiles, links and runs the program on standard input; its output is the library's version.
try_c() {
    cat >"$work/t.c"
    # shellcheck disable=SC2086
    $CC -x c "$work/t.c" -x none $1 -o "$work/t" 2>/dev/null && "$work/t" 2>/dev/null
}

probe_cjson() {
    version=$(printf '#include <cjson/cJSON.h>\n#include <stdio.h>\nint main(void){puts(cJSON_Version());return 0;}\n' | try_c -lcjson)
    if [ -n "$version" ]; then
        say cJSON "$version"
        put HAVE_CJSON yes
    else
        say cJSON "not found: apt-get install libcjson-dev (required)"
    fi
}

probe_zlib() {
    version=$(printf '#include <zlib.h>\n#include <stdio.h>\nint main(void){puts(zlibVersion());return 0;}\n' | try_c -lz)
    if [ -n "$version" ]; then
        say zlib "$version"
        put HAVE_ZLIB yes
    else
        say zlib "not found: apt-get install zlib1g-dev (required)"
    fi
}

# The archive is preferred: a build that is carried to another machine then has its filter with it.
probe_seccomp() {
    for flags in -l:libseccomp.a -lseccomp; do
        version=$(printf '#include <seccomp.h>\n#include <stdio.h>\nint main(void){const struct scmp_version *v=seccomp_version();printf("%%u.%%u.%%u\\n",v->major,v->minor,v->micro);return 0;}\n' | try_c "$flags")
        [ -n "$version" ] || continue
        say seccomp "$version ($flags)"
        put SECCOMP_LIBS "$flags"
        return
    done
    say seccomp "not found: apt-get install libseccomp-dev (required)"
}

# The header alone: the library is loaded when `serve` runs.
probe_microhttpd() {
    version=$(printf '#include <microhttpd.h>\n#include <stdio.h>\nint main(void){printf("%%x.%%x.%%x\\n",MHD_VERSION>>24,MHD_VERSION>>16&255,MHD_VERSION>>8&255);return 0;}\n' | try_c "")
    if [ -n "$version" ]; then
        say microhttpd "$version"
        put HAVE_MICROHTTPD yes
    else
        say microhttpd "not found, so serve is left out: apt-get install libmicrohttpd-dev"
    fi
}

probe_cmocka() {
    if printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>\nint main(void){cmocka_set_message_output(CM_OUTPUT_STDOUT);return 0;}\n' | try_c -lcmocka; then
        say cmocka "$(pkg-config --modversion cmocka 2>/dev/null || echo 'version unknown')"
        put HAVE_CMOCKA yes
    else
        say cmocka "not found: apt-get install libcmocka-dev (only the tests need it)"
    fi
}

# The plain cblas.h may be another BLAS's (the distribution's alternatives decide), so the flags are tried in
# turn and the one with OpenBLAS's own functions is taken.
probe_openblas() {
    [ "${OPENBLAS:-}" != 0 ] || { say OpenBLAS "left out (OPENBLAS=0)"; return; }
    for flags in "$(pkg-config --cflags --libs openblas 2>/dev/null)" \
        "-I/usr/include/$multiarch/openblas-pthread -L/usr/lib/$multiarch/openblas-pthread -lopenblas" \
        "-I/usr/include/openblas -lopenblas" "-lopenblas"; do
        [ -n "$flags" ] || continue
        version=$(printf '#include <cblas.h>\n#include <stdio.h>\nint main(void){puts(openblas_get_config());openblas_set_num_threads(1);return 0;}\n' | try_c "$flags")
        [ -n "$version" ] || continue
        say OpenBLAS "$version"
        put OPENBLAS_FLAGS "$flags"
        return
    done
    say OpenBLAS "not found: apt-get install libopenblas-dev"
}

first_directory() {
    for directory in "$@"; do
        [ -d "$directory" ] && { (cd "$directory" && pwd); return 0; }
    done
    return 1
}

probe_cuda() {
    home=
    nvcc=$(command -v nvcc 2>/dev/null)
    for candidate in "${CUDA_HOME:-}" "${nvcc:+$(dirname "$(dirname "$(readlink -f "$nvcc")")")}" /usr/local/cuda /usr; do
        [ -n "$candidate" ] && [ -f "$candidate/include/cuda_runtime_api.h" ] && { home=$candidate; break; }
    done
    if [ -z "$home" ]; then
        say CUDA "not found: install the CUDA toolkit from https://developer.nvidia.com/cuda-downloads and set CUDA_HOME"
        return
    fi
    cuda_include=$home/include
    cuda_lib=$(first_directory "$home/lib64" "$home/targets/x86_64-linux/lib" "$home/lib/$multiarch")
    version=$(sed -n 's/^#define CUDART_VERSION *\([0-9]*\).*/\1/p' "$home/include/cuda_runtime_api.h")
    [ -x "$home/bin/nvcc" ] && nvcc=$home/bin/nvcc
    say CUDA "$((version / 1000)).$((version % 1000 / 10)) in $home, nvcc ${nvcc:-not found}"
    put CUDA_FOUND "$home"
    put CUDA_INCLUDE "$cuda_include"
    put CUDA_LIB "$cuda_lib"
    put NVCC "$nvcc"
    probe_cublas
}

probe_cublas() {
    if [ ! -f "$cuda_include/cublasLt.h" ] || [ ! -e "$cuda_lib/libcublas.so" ] || [ ! -e "$cuda_lib/libcublasLt.so" ]; then
        say cuBLAS "not found in $home: install the toolkit's cuBLAS development package (libcublas-dev-<version>)"
        return
    fi
    major=$(sed -n 's/^#define CUBLAS_VER_MAJOR *\([0-9]*\).*/\1/p' "$cuda_include/cublas_api.h")
    minor=$(sed -n 's/^#define CUBLAS_VER_MINOR *\([0-9]*\).*/\1/p' "$cuda_include/cublas_api.h")
    patch=$(sed -n 's/^#define CUBLAS_VER_PATCH *\([0-9]*\).*/\1/p' "$cuda_include/cublas_api.h")
    say cuBLAS "$major.$minor.$patch in $cuda_lib"
    put HAVE_CUBLAS yes
}

# torch_at INCLUDE LIB WHERE: takes the libtorch of these two directories if it is one.
torch_at() {
    include=$1
    lib=$2
    [ -f "$include/ATen/ops/matmul.h" ] && [ -e "$lib/libtorch_cpu.so" ] || return 1
    api=$include/torch/csrc/api/include
    header=$api/torch/version.h
    [ -f "$include/torch/headeronly/version.h" ] && header=$include/torch/headeronly/version.h
    major=$(sed -n 's/^#define TORCH_VERSION_MAJOR *\([0-9]*\).*/\1/p' "$header")
    minor=$(sed -n 's/^#define TORCH_VERSION_MINOR *\([0-9]*\).*/\1/p' "$header")
    patch=$(sed -n 's/^#define TORCH_VERSION_PATCH *\([0-9]*\).*/\1/p' "$header")
    standard=c++17
    grep -q '__cplusplus < 202002L' "$api/torch/all.h" 2>/dev/null && standard=c++20
    # Wheels before 2.6 were built with the old std::string.
    new_strings=0
    LC_ALL=C grep -qa __cxx11 "$lib/libc10.so" && new_strings=1
    flags="-std=$standard -D_GLIBCXX_USE_CXX11_ABI=$new_strings -isystem $api"
    # Naming /usr/include hides the compiler's own headers from #include_next.
    [ "$include" = /usr/include ] || flags="$flags -isystem $include"
    libs="-L$lib -Wl,-rpath,$lib"
    cuda="for the CPU only"
    if [ -e "$lib/libtorch_cuda.so" ]; then
        torch_cuda
    fi
    put TORCH_VERSION "$major.$minor.$patch"
    put TORCH_CXXFLAGS "$flags"
    put TORCH_LIBS "$libs -ltorch_cpu -lc10"
    say libtorch "$major.$minor.$patch in $lib ($3), $cuda"
}

# libtorch's CUDA headers include the toolkit's; wheels carry those beside torch.
torch_cuda() {
    headers=$(first_directory "${cuda_include:-}" "$lib"/../../nvidia/cu1*/include "$lib"/../../nvidia/cuda_runtime/include)
    if [ -z "$headers" ]; then
        cuda="has CUDA, but built for the CPU only: no CUDA headers were found"
        return
    fi
    cuda="with CUDA"
    flags="$flags -DTORCH_HAS_CUDA=1 -isystem $headers"
    # Nothing refers to torch_cuda by name: without --no-as-needed the linker drops it and torch has no CUDA.
    libs="$libs -Wl,--no-as-needed -ltorch_cuda -lc10_cuda -Wl,--as-needed"
}

probe_torch() {
    [ "${TORCH:-}" != 0 ] || { say libtorch "left out (TORCH=0)"; return; }
    if [ -n "${LIBTORCH:-}" ]; then
        torch_at "$LIBTORCH/include" "$LIBTORCH/lib" LIBTORCH && return
        say libtorch "not found in LIBTORCH=$LIBTORCH (looked for include/ATen/ops/matmul.h and lib/libtorch_cpu.so)"
        return
    fi
    wheel=$($PYTHON -c 'import importlib.util as u, os; s = u.find_spec("torch"); print(os.path.dirname(s.origin) if s and s.origin else "")' 2>/dev/null)
    [ -n "$wheel" ] && torch_at "$wheel/include" "$wheel/lib" "$PYTHON's torch" && return
    torch_at /usr/include "/usr/lib/$multiarch" "the distribution's" && return
    say libtorch "not found: apt-get install libtorch-dev, or pip install torch, or LIBTORCH=<directory of libtorch>"
}

echo "probing for libraries:"
probe_cjson
probe_zlib
probe_seccomp
probe_microhttpd
probe_cmocka
probe_openblas
probe_cuda
probe_torch
mkdir -p "$(dirname "$out")" && mv "$work/mk" "$out"
