#!/usr/bin/env bash
# Builds the library on a machine with an NVIDIA GPU, runs the CUDA tests and the table of expectations there, measures thorn and PyTorch,
# and writes docs/benchmarks-cuda.md. Kernels are compiled at their first use, and kept in target/kernels.
#
# Usage: scripts/gpu.sh here [--tests | --bench] [OPTION of scripts/bench.sh --peers...]
set -euo pipefail
cd "$(dirname "$0")/../.."

PATH="$PATH:$HOME/.cargo/bin"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
export TH_CUDA_CACHE=${TH_CUDA_CACHE:-$CARGO_TARGET_DIR/kernels}
tests=yes
bench=yes
case ${1:-} in
--tests) bench=no && shift ;;
--bench) tests=no && shift ;;
esac

# Fetches NVRTC if the machine has none.
if ! /sbin/ldconfig -p | grep -qF libnvrtc.so; then
    TH_CUDA_LIBRARIES=${TH_CUDA_LIBRARIES:-$(scripts/nvrtc.sh)}
    export TH_CUDA_LIBRARIES
fi
mkdir -p "$TH_CUDA_CACHE"

if [ $tests = yes ]; then
    scripts/setup.sh
    cmake -S . -B build -DTHORN_CARGO_TARGET_DIR="$CARGO_TARGET_DIR"
    cmake --build build -j "$(nproc)" --target thorn_library test_cuda test_streams test_graphs example_digits_cuda
    for program in test_cuda test_streams test_graphs example_digits_cuda; do
        printf '\n== %s\n' "$program"
        case $program in
        example_*) build/examples/"${program#example_}" ;;
        *) build/"$program" ;;
        esac
    done
    printf '\n== the table of expectations on the GPU\n'
    THORN_LIB=$PWD/build/lib/libthorn.so TH_TEST_DEVICE=cuda luajit c_tests/table.lua
fi
if [ $bench = yes ]; then
    scripts/bench.sh --peers --gpu "$@"
fi
