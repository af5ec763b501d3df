#!/usr/bin/env bash
# Builds the emulated CUDA driver, NVRTC and cuBLAS of tests/cuda_emu into target/cuda_emu/lib, and prints that folder. If the folder is in
# LD_LIBRARY_PATH, programs run CUDA C on the CPU. Libraries that are up to date are not rebuilt. target/cuda_emu/null has only the driver,
# for programs that run with THORN_EMU_NULL=1 and the real NVRTC.
#
# Usage: scripts/cuda_emu.sh [--test]
#   --test  builds and runs the emulator's own test too
set -euo pipefail
cd "$(dirname "$0")/.."

source=tests/cuda_emu
out=${CARGO_TARGET_DIR:-$PWD/target}/cuda_emu
mkdir -p "$out/lib" "$out/obj"
# Two builds at the same time would disturb each other.
exec 9>"$out/lock"
flock 9

# Hides the C++ library's symbols from programs that load these libraries.
echo '{ global: cu*; nvrtc*; thorn_emu_*; local: *; };' >"$out/exports"

cxx=${CXX:-g++}
flags=(-std=c++17 -O2 -g1 -fPIC -fvisibility=hidden -Wall -Wextra -Wno-missing-field-initializers)

# newer FILE SOURCE...: true if a source is newer than the file, or the file does not exist.
newer() {
    local file=$1 each
    shift
    [ -e "$file" ] || return 0
    for each in "$@"; do
        [ "$each" -nt "$file" ] && return 0
    done
    return 1
}

# library NAME FILE...: builds a library with the soname NAME from source files. `links` lists its link options.
links=()
library() {
    local name=$1 objects=() file object
    shift
    for file in "$@"; do
        object=$out/obj/$(basename "$file" .cpp).o
        if newer "$object" "$source/$file" "$source"/*.h "$source/shim/emu_abi.h" scripts/cuda_emu.sh; then
            "$cxx" "${flags[@]}" -c "$source/$file" -o "$object"
        fi
        objects+=("$object")
    done
    if newer "$out/lib/$name" "${objects[@]}" scripts/cuda_emu.sh; then
        "$cxx" -shared -Wl,-soname,"$name" -Wl,--version-script="$out/exports" -o "$out/lib/$name.new" "${objects[@]}" "${links[@]}" -ldl -lpthread
        mv "$out/lib/$name.new" "$out/lib/$name"
    fi
}

library libcuda.so.1 device.cpp memory.cpp copy.cpp stream.cpp graph.cpp module.cpp block.cpp error.cpp
library libnvrtc.so.13 nvrtc.cpp rewrite.cpp
links=("-L$out/lib" -l:libcuda.so.1)
library libcublas.so.13 cublas.cpp
mkdir -p "$out/shim" "$out/null"
ln -sf ../lib/libcuda.so.1 "$out/null/libcuda.so.1"
for header in "$source"/shim/*.h; do
    cmp -s "$header" "$out/shim/$(basename "$header")" || cp "$header" "$out/shim/"
done

if [ "${1:-}" = --test ]; then
    if newer "$out/selftest" "$source"/selftest* scripts/cuda_emu.sh; then
        "$cxx" -std=c++17 -O1 -g -Wall -Wextra "$source/selftest.cpp" -o "$out/selftest" -ldl -lpthread
    fi
    flock -u 9
    LD_LIBRARY_PATH="$out/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$out/selftest"
else
    echo "$out/lib"
fi
