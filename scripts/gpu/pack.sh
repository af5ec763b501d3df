#!/usr/bin/env bash
# Collects what scripts/gpu.sh run needs into .gpu/: the library, programs that load the library from their own folder, LuaJIT, and a cache
# of kernels. No GPU is needed, because NVRTC compiles without one. Programs that run on the null driver (tests/cuda_emu) ask for the
# kernels of fused expressions; tests/kernels.rs lists all others.
#
# Usage: scripts/gpu.sh pack [SM]
#   SM  the compute capability of the GPU times 10, 90 (H100, H200) by default
#
# Environment: THORN_GPU_PACK      the folder of the pack instead of .gpu
#              THORN_GPU_LIBRARY   a built library, instead of building one
#              THORN_GPU_KERNELS   0: leaves the kernels out
set -euo pipefail
cd "$(dirname "$0")/../.."

PATH="$PATH:$HOME/.cargo/bin"
sm=${1:-90}
pack=${THORN_GPU_PACK:-$PWD/.gpu}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
library=${THORN_GPU_LIBRARY:-}
kernels=$CARGO_TARGET_DIR/gpu_kernels/sm_$sm
most_mib=60

say() { printf 'pack: %s\n' "$*"; }

case $sm in
'' | *[!0-9]*)
    echo "pack: $sm is not a compute capability times 10, such as 90" >&2
    exit 2
    ;;
esac

# compile NAME SOURCE OPTION...: a program in the pack.
compile() {
    local name=$1 source=$2
    shift 2
    "${CC:-cc}" -std=gnu11 -O2 "$source" -Iinclude "$@" "$pack/bin/libthorn.so.0" -Wl,-rpath,'$ORIGIN' -o "$pack/bin/$name" -lm -pthread
}

programs() {
    rm -rf "$pack"
    mkdir -p "$pack/bin"
    if [ -z "$library" ]; then
        cargo build --release --locked
        library=$CARGO_TARGET_DIR/release/libthorn.so
    fi
    strip --strip-unneeded -o "$pack/bin/libthorn.so.0" "$library"
    compile test_streams c_tests/test_streams.c -Ic_tests
    compile test_graphs c_tests/test_graphs.c -Ic_tests
    compile test_cuda c_tests/test_cuda.c -Ic_tests
    compile digits_cuda examples/digits_cuda.c
    python3 -B benches/gpu/rows.py >"$pack/rows.h"
    compile gpu_bench benches/gpu/bench.c "-I$pack" -Ibenches/peers
    rm "$pack/rows.h"
    if command -v luajit >/dev/null; then
        cp "$(readlink -f "$(command -v luajit)")" "$pack/bin/luajit"
    else
        say "left out: LuaJIT, which the table of expectations needs, is not installed"
    fi
}

# Compiles the kernels of all entries in two processes, because NVRTC serialises the threads of one process.
listed_kernels() {
    local share pids=()
    # Kernels of older sources would only fill the pack.
    if [ -n "$(find src/cuda src/ops/pointwise Cargo.toml -newer "$kernels.stamp" 2>/dev/null || echo none)" ]; then rm -rf "$kernels"; fi
    mkdir -p "$kernels"
    touch "$kernels.stamp"
    cargo test --release --locked --quiet --test kernels --no-run
    for share in 0 1; do
        THORN_TEST_CACHE="$sm $share 2" cargo test --release --locked --quiet --test kernels kernels_fill_the_cache -- --nocapture &
        pids+=($!)
    done
    for share in "${pids[@]}"; do wait "$share"; done
}

# Runs the programs of the pack on the null driver. Their checks fail, because no kernel runs.
asked_kernels() {
    local before emulator
    before=$(find "$kernels" -type f | wc -l)
    emulator=$(scripts/cuda_emu.sh)
    for program in test_streams test_graphs test_cuda "digits_cuda examples/data/digits.csv" "gpu_bench 0.001"; do
        # shellcheck disable=SC2086 # a program and its arguments
        LD_LIBRARY_PATH=$(dirname "$emulator")/null THORN_EMU_NULL=1 THORN_EMU_CC=$sm TH_CUDA_BLAS=0 \
            timeout 300 "$pack/bin/"$program >"$CARGO_TARGET_DIR/gpu_kernels/null.log" 2>&1 ||
            [ $? = 1 ] || say "$program did not end on the null driver: see $CARGO_TARGET_DIR/gpu_kernels/null.log"
    done
    say "$(($(find "$kernels" -type f | wc -l) - before)) kernels that no list has"
}

facts() {
    local commit
    commit=$(git describe --always --dirty 2>/dev/null || true)
    printf '{"capability": %d, "kernels": %d, "nvrtc": "%s", "commit": "%s"}\n' "$sm" "$1" "$2" "$commit" >"$pack/pack.json"
}

programs
if [ "${THORN_GPU_KERNELS:-1}" = 0 ]; then
    facts 0 ""
else
    TH_CUDA_LIBRARIES=$(scripts/nvrtc.sh)
    export TH_CUDA_LIBRARIES TH_CUDA_CACHE=$kernels
    listed_kernels
    asked_kernels
    facts "$(find "$kernels" -type f | wc -l)" "$(sed 's/\.[^.]*$//' "$CARGO_TARGET_DIR/nvrtc/version")"
    tar -cJf "$pack/kernels.tar.xz" -C "$kernels" .
fi
size=$(du -sm "$pack" | cut -f1)
say "$pack has $size MiB: $(cat "$pack/pack.json")"
if [ "$size" -gt $most_mib ]; then
    say "more than $most_mib MiB" >&2
    exit 1
fi
