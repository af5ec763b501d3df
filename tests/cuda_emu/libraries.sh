#!/usr/bin/env bash
# Tests which NVRTC and cuBLAS the library chooses in folders of links to the emulated libraries, and the message if none fits.
#
# Usage: tests/cuda_emu/libraries.sh PROGRAM. The program is the compiled tests/cuda_emu/libraries.c.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../.."
lib=$(scripts/cuda_emu.sh)
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
unset VIRTUAL_ENV CONDA_PREFIX CUDA_PATH CUDA_HOME
failed=0

# folder NAME FILE...: makes a folder of links to the emulated libraries, with these names.
folder() {
    local name=$1 file
    shift
    mkdir -p "$at/$name"
    for file in "$@"; do
        case $file in
        libcuda*) ln -s "$lib/libcuda.so.1" "$at/$name/$file" ;;
        libnvrtc*) ln -s "$lib/libnvrtc.so.13" "$at/$name/$file" ;;
        libcublas*) ln -s "$lib/libcublas.so.13" "$at/$name/$file" ;;
        esac
    done
}

# check STATUS TEXT VARIABLE=VALUE...: runs the program, which must exit with the status and print the text. A text that begins with `!`
# must not be printed.
check() {
    local status=$1 text=$2 said=0 output good=1
    shift 2
    output=$(env LD_LIBRARY_PATH="$at/driver" THORN_EMU_SHIM="$lib/../shim" TH_CUDA_CACHE= TH_CUDA_GROUPS=1 "$@" "$program" 2>&1) || said=$?
    [ "$said" = "$status" ] || good=0
    case $text in
    !*) [[ $output != *"${text#!}"* ]] || good=0 ;;
    *) [[ $output == *"$text"* ]] || good=0 ;;
    esac
    [ $good = 1 ] && return
    printf 'FAILED: %s\nstatus %d, not %d; expected: %s\n%s\n' "$*" "$said" "$status" "$text" "$output"
    failed=$((failed + 1))
}

folder driver libcuda.so.1
folder both libnvrtc.so.12 libnvrtc.so.13 libcublas.so.12 libcublas.so.13
folder new libnvrtc.so.13 libcublas.so.13
folder old libnvrtc.so.12 libcublas.so.12
folder full libnvrtc.so.12.4.127
folder plain libnvrtc.so
folder mixed libnvrtc.so.12 libcublas.so.13
folder broken
echo "no library" >"$at/broken/libnvrtc.so.12"

# The driver's own major version is preferred to a lower one, in any folder.
for kind in nvrtc cublas; do
    check 0 "$at/both/lib$kind.so.13" TH_CUDA_LIBRARIES="$at/both"
    check 0 "$at/both/lib$kind.so.12" TH_CUDA_LIBRARIES="$at/both" THORN_EMU_DRIVER=12040
    check 0 "$at/both/lib$kind.so.13" TH_CUDA_LIBRARIES="$at/both" THORN_EMU_DRIVER=14000
    check 0 "$at/old/lib$kind.so.12" TH_CUDA_LIBRARIES="$at/old"
    # In a list of folders, the first library of a version is taken.
    check 0 "$at/old/lib$kind.so.12" TH_CUDA_LIBRARIES="$at/new:$at/old:$at/both" THORN_EMU_DRIVER=12040
    check 0 "$at/new/lib$kind.so.13" TH_CUDA_LIBRARIES="$at/old::$at/missing:$at/new"
    check 0 "$at/both/lib$kind.so.12" LD_LIBRARY_PATH="$at/driver:$at/both" THORN_EMU_DRIVER=12040
done
check 0 "$at/full/libnvrtc.so.12.4.127" TH_CUDA_LIBRARIES="$at/full" THORN_EMU_DRIVER=12040

# The version that the library reports counts, not the version in its file name.
check 0 "$at/plain/libnvrtc.so" TH_CUDA_LIBRARIES="$at/plain" THORN_EMU_DRIVER=12040 THORN_EMU_NVRTC=12.9
check 1 "$at/plain/libnvrtc.so is of CUDA 13.0" TH_CUDA_LIBRARIES="$at/plain" THORN_EMU_DRIVER=12040 THORN_EMU_NVRTC=13.0
check 1 "$at/old/libnvrtc.so.12 is of CUDA 13.1" TH_CUDA_LIBRARIES="$at/old" THORN_EMU_DRIVER=12040 THORN_EMU_NVRTC=13.1
check 0 "$at/new/libnvrtc.so.13" TH_CUDA_LIBRARIES="$at/new" THORN_EMU_DRIVER=12040 THORN_EMU_NVRTC=12.8

# The message names the rejected libraries and the reason.
check 1 "was not found for the driver of CUDA 12.4: $at/new/libnvrtc.so.13 is of CUDA 13.0, which is newer than the driver; looked in" \
    TH_CUDA_LIBRARIES="$at/new" THORN_EMU_DRIVER=12040
check 1 "libnvrtc.so.13 is of CUDA 13.0, which is newer" LD_LIBRARY_PATH="$at/driver:$at/new" THORN_EMU_DRIVER=12040
check 1 "$at/old/libnvrtc.so.12 is of CUDA 11.8, and the oldest that is used is CUDA 12" TH_CUDA_LIBRARIES="$at/old" THORN_EMU_NVRTC=11.8
check 1 "$at/broken/libnvrtc.so.12 does not load: " TH_CUDA_LIBRARIES="$at/broken"
check 0 "$at/new/libnvrtc.so.13" TH_CUDA_LIBRARIES="$at/broken:$at/new"
check 1 "looked in $at/missing, the loader's folders, $at/cuda/lib64, " TH_CUDA_LIBRARIES="$at/missing" CUDA_PATH="$at/cuda"
# Without a cuBLAS that fits, products are computed by the library's own kernels.
check 0 "!libcublas" TH_CUDA_LIBRARIES="$at/mixed" THORN_EMU_DRIVER=12040

# Packages of pip.
for package in cu13 cu12 cuda_nvrtc; do
    folder "env/$package/lib/python3.12/site-packages/nvidia/$package/lib" libnvrtc.so.12
    check 0 "nvidia/$package/lib/libnvrtc.so.12" VIRTUAL_ENV="$at/env/$package" THORN_EMU_DRIVER=12040
done
folder env/cuda_nvrtc/lib/python3.12/site-packages/nvidia/cublas/lib libcublas.so.12
check 0 "nvidia/cublas/lib/libcublas.so.12" CONDA_PREFIX="$at/env/cuda_nvrtc" THORN_EMU_DRIVER=12040

# A cache of kernels works without NVRTC. The newest version that the driver accepts is used.
cache=(TH_CUDA_CACHE="$at/cache" TH_CUDA_BLAS=0)
mkdir "$at/modules12" "$at/modules13"
check 1 "libnvrtc, was not found" "${cache[@]}"
check 0 libnvrtc.so.12 "${cache[@]}" TH_CUDA_LIBRARIES="$at/old" THORN_EMU_NVRTC=12.4 THORN_EMU_CACHE="$at/modules12"
[[ $(echo "$at"/cache/*) != *"-nvrtc13"* ]] || failed=$((failed + 1))
check 0 "!libnvrtc" "${cache[@]}" THORN_EMU_DRIVER=12000
check 0 "!libnvrtc" "${cache[@]}" THORN_EMU_DRIVER=13000
check 0 libnvrtc.so.13 "${cache[@]}" TH_CUDA_LIBRARIES="$at/new" THORN_EMU_NVRTC=13.10 THORN_EMU_CACHE="$at/modules13"
[[ $(echo "$at"/cache/*) == *"-nvrtc12.4 "*"-nvrtc13.10"* ]] || failed=$((failed + 1))
# Images of the emulator are paths of modules. Without the modules an image does not load.
mv "$at/modules12" "$at/gone"
check 0 "!libnvrtc" "${cache[@]}" THORN_EMU_DRIVER=13000
check 1 "libnvrtc, was not found for the driver of CUDA 12.0" "${cache[@]}" THORN_EMU_DRIVER=12000
mv "$at/gone" "$at/modules12"
# A damaged file is skipped.
for file in "$at"/cache/*-nvrtc13.10; do echo damaged >"$file"; done
check 0 "!libnvrtc" "${cache[@]}" THORN_EMU_DRIVER=13000
rm "$at"/cache/*-nvrtc12.4
check 1 "libnvrtc, was not found" "${cache[@]}" THORN_EMU_DRIVER=13000

[ "$failed" = 0 ] && echo "all passed"
exit "$((failed > 0))"
