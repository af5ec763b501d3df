#!/usr/bin/env bash
# Runs the tests, and stops at the first failure. Usage: scripts/test.sh [--quick | PART... | --platform NAME | --update-symbols | --help]
#
# Without arguments every part runs. --quick runs, within minutes, the parts that find most mistakes, without their slowest tests.
# --update-symbols only writes c_tests/symbols.txt, the list of symbols that libthorn.so exports, after an intended change.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
build=$PWD/build
library=$build/lib/libthorn.so
jobs=$(nproc)

# The parts in the order in which they run. The parts c, table, valgrind, cuda, mpi and guide are labels of ctests, too.
names=(lint unit kernels c table valgrind cuda mpi guide torch install package aarch64)

help() {
    cat <<'HELP'
scripts/test.sh [--quick | PART... | --platform NAME | --update-symbols | --help]

  lint      rustfmt and clippy accept the sources.
  unit      The tests in Rust: the library, its packages, the command, and whether the generated headers are up to date.
  kernels   NVIDIA's compiler accepts every kernel; no GPU is needed.
  c         The tests in C, C++ and Lua, the examples, and what libthorn.so exports and needs.
  table     All functions give the expected values and gradients, at each instruction set.
  valgrind  The C and C++ tests run under valgrind.
  cuda      The GPU tests run on the emulated driver.
  mpi       thorn_mpi.h works with each installed MPI.
  guide     The programs of the guide print the output on its pages, Doxygen writes the reference, and the site is built.
  torch     Random calls give PyTorch's results, and PyTorch and thorn exchange tensors.
  install   thorn is installed, moved and used as the guide says.
  package   Debian packages, a tar, a Python wheel and a rock are built, unpacked and used.
  aarch64   The library for 64-bit ARM gives the expected values in an emulator: a part of the table.

Without a part all of them run. --quick runs lint, unit, c and table without their slowest tests, with a part of the table.
--platform builds and tests the library for another processor or system: scripts/platform.sh. scripts/try.sh NAME tests one function.
HELP
}

quick=
parts=("${names[@]}")
case ${1:-} in
--help | -h)
    help
    exit
    ;;
--quick)
    quick=1
    parts=(lint unit c table)
    # Runs every eighth expectation of each function.
    export TH_TEST_SHARE=8
    ;;
--update-symbols | '') ;;
--platform) exec scripts/platform.sh "${@:2}" ;;
*) parts=("$@") ;;
esac
for part in "${parts[@]}"; do
    if [[ " ${names[*]} " != *" $part "* ]]; then
        echo "test.sh: no part is named $part; the parts are ${names[*]}" >&2
        exit 2
    fi
done

# has PART...: true if one of the parts runs.
has() {
    local part
    for part in "$@"; do
        if [[ " ${parts[*]} " == *" $part "* ]]; then return 0; fi
    done
    return 1
}

section=start
section() {
    section=$*
    printf '\n== %s (%d s)\n' "$section" "$SECONDS"
}
trap '[ $? -eq 0 ] || printf "\nFAILED: %s\n" "$section" >&2; kill $(jobs -p) 2>/dev/null || true' EXIT

# together FIRST SECOND: runs two commands side by side, because neither uses all cores. The output of the first is printed when both have
# ended.
together() {
    local log first
    log=$(mktemp)
    "$1" >"$log" 2>&1 &
    first=$!
    "$2"
    wait "$first" || { cat "$log"; return 1; }
    cat "$log"
    rm "$log"
}

lint() { cargo clippy --workspace --all-targets --locked -- -D warnings; }

compile() {
    cmake -S . -B "$build" -DTHORN_CARGO_TARGET_DIR="$CARGO_TARGET_DIR" -DCMAKE_C_FLAGS=-Werror -DCMAKE_CXX_FLAGS=-Werror
    cmake --build "$build" -j "$jobs"
}

# Sorted in the same order on every machine.
symbols() { nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort; }

# libthorn.so has the number of its ABI, and needs only the C library and the compiler's library.
check_dependencies() {
    local abi name needed
    abi=$(awk '$2 == "TH_ABI_VERSION" { print $3 }' include/thorn.h)
    readelf -d "$library" | grep -F "soname: [libthorn.so.$abi]"
    needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    for name in $needed; do
        echo "needs $name"
        case $name in
        libc.so.* | libm.so.* | libgcc_s.so.* | ld-linux*) ;;
        *)
            echo "libthorn.so must not need $name" >&2
            return 1
            ;;
        esac
    done
    # The library must see forks from the beginning: src/alloc/cache.rs. Three functions are called at load: the C runtime's, std's, and
    # that one.
    local called
    called=$(readelf -S --wide "$library" | awk '$2 == ".init_array" { print $6 } $3 == ".init_array" { print $7 }')
    echo "functions called at load: $((16#${called:-0} / 8))"
    [ "$((16#${called:-0} / 8))" -ge 3 ]
}

check_symbols() {
    symbols | diff -u c_tests/symbols.txt - && return
    echo "What libthorn.so exports has changed; if it should have: scripts/test.sh --update-symbols" >&2
    return 1
}

# on_emulator SEED: the first random calls of a seed on the emulated GPU. Most of the time is spent on compiling kernels, so the compiled
# modules are kept for the next run.
on_emulator() {
    local emulator
    emulator=$(scripts/cuda_emu.sh)
    THORN_LIB=$library TH_CUDA_CACHE= TH_CUDA_GROUPS=1 TH_CUDA_LIBRARIES=$emulator THORN_EMULATED_DRIVER=$emulator/libcuda.so.1 \
        THORN_EMU_CACHE=$CARGO_TARGET_DIR/cuda_emu/modules "$python" scripts/differential.py --device cuda --cases 80 --seed "$1"
}
first_calls_on_emulator() { on_emulator 1; }
other_calls_on_emulator() { on_emulator 2; }

# Random calls compared with PyTorch, and PyTorch opens the network that thorn saved.
beside_torch() {
    local saved=$build/examples
    if [ "$(uname -m)" = x86_64 ]; then together first_calls_on_emulator other_calls_on_emulator; fi
    THORN_LIB=$library "$python" scripts/differential.py --cases 20000
    THORN_LIB=$library "$python" scripts/gradients.py --cases 2000 --seed 13
    THORN_LIB=$library "$python" scripts/sparse.py --cases 3000 --seed 13
    "$saved/checkpoint" --save "$saved/copy.pt" --scores "$saved/scores.npy" >/dev/null
    "$python" examples/python/check_digits.py "$saved/copy.pt" "$saved/scores.npy"
}

# NumPy's example is a ctest. PyTorch needs a separate environment.
exchange_with_torch() {
    local example
    for example in torch_exchange numpy_exchange; do
        THORN_LIB=$library PYTHONDONTWRITEBYTECODE=1 "$python" "examples/python/$example.py"
    done
}

torch_tests() {
    local python
    if python=$(scripts/torch_python.sh); then
        beside_torch
        exchange_with_torch
    fi
}

# The Rust tests use the dependencies and the library as CMake built them, which are compiled once. The tests inside the library check
# overflow and assertions, and are fast enough without optimisation. The script that writes the headers also runs without.
cargo_tests() {
    local checked=(opt-level=0 overflow-checks=true debug-assertions=true)
    # The tests that take longest without optimisation; the table sorts and copies, too.
    local slow=(cpu::sort::tests any_dtype_and_layout matrices_of_many_tiles eigenvectors_belong past_the_caches spread_over_a_matrix)
    cargo test --release --locked --lib --package thorn "${checked[@]/#/--config=profile.release.package.thorn.}" \
        -- ${quick:+"${slow[@]/#/--skip=}"}
    cargo test --release --locked --lib --package thorn-blocks --package thorn-files --package gemm --package nano-gemm
    if [ -n "$quick" ]; then
        cargo test --release --locked --test modules --package thorn
    else
        cargo test --release --locked --test '*' --package thorn --package thorn-blocks --package thorn-files
        cargo test --release --locked --package thorn-command
    fi
    cargo test --locked --package thorn-header --config 'profile.dev.package."*".opt-level=0' --config profile.dev.debug=false
}

# The real NVRTC compiles every kernel to machine code for five generations of GPUs in turn. No GPU is needed.
compile_kernels() {
    local -x TH_CUDA_LIBRARIES
    if TH_CUDA_LIBRARIES=$(scripts/nvrtc.sh); then
        THORN_TEST_NVRTC=turns cargo test --release --locked --package thorn --test kernels -- --nocapture
    else
        echo "left out, for want of NVRTC: scripts/nvrtc.sh could not fetch it"
    fi
}

# ctests of the chosen parts, together, so that no core waits for the last test of a part.
ctests() {
    local labels
    labels=$(IFS='|' && echo "^(${parts[*]})\$")
    ctest --test-dir "$build" --output-on-failure -j "$jobs" -L "$labels" ${quick:+-LE '^slow$'}
}

# The kernels for ARM. scripts/platform.sh aarch64 runs the other tests, too.
on_arm() {
    if [ "$(uname -m)" != x86_64 ]; then
        echo "left out: the emulator is for x86-64"
    elif ! rustup --quiet target add aarch64-unknown-linux-gnu; then
        echo "left out, for want of Rust's library for aarch64"
    else
        TH_TEST_SHARE=48 scripts/platform.sh aarch64 --table
    fi
}

section "set-up"
scripts/setup.sh

if [ "${1:-}" = --update-symbols ]; then
    compile
    symbols >c_tests/symbols.txt
    echo "c_tests/symbols.txt: $(wc -l <c_tests/symbols.txt) symbols"
    exit
fi

on_library=(c table valgrind cuda mpi guide torch install package)
if has lint; then
    section "cargo fmt"
    cargo fmt --check
fi
if has lint && has "${on_library[@]}"; then
    section "cargo clippy, and CMake"
    together lint compile
elif has lint; then
    section "cargo clippy"
    lint
elif has "${on_library[@]}"; then
    section "CMake"
    compile
fi
if has guide; then
    section "reference"
    cmake --build "$build" --target docs
fi
if has unit; then
    section "cargo test"
    cargo_tests
fi
if has kernels; then
    section "kernels for GPUs"
    compile_kernels
fi
if has c; then
    section "exported symbols"
    check_symbols
    section "dependencies of libthorn.so"
    check_dependencies
fi
if has c table valgrind cuda mpi guide; then
    section "C, C++ and Lua tests"
    ctests
fi
if has torch; then
    section "beside PyTorch: random calls, a network, exchange"
    torch_tests
fi
if has install; then
    section "installation"
    scripts/install-test.sh "$build"
fi
if has package; then
    section "packages"
    scripts/package.sh --build "$build" --fast
fi

if has aarch64; then
    section "aarch64"
    on_arm
fi

printf '\nThe tests passed: %s (%d s).\n' "${parts[*]}" "$SECONDS"
