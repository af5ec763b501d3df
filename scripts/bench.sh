#!/usr/bin/env bash
# Measures the library against the limits of this machine. benches/README.md explains the output.
#
# Usage: scripts/bench.sh [--quick] [--build] [WORD]
#        scripts/bench.sh --calls [--write]
#        scripts/bench.sh --peers [--gpu] [--group NAME] [--threads 1|2] [--quick] [--strict] [WORD]
#   --quick  shorter rounds, for a first look
#   --build  also times building the library, from scratch and after a change of one file
# --calls  counts the instructions of calls on small tensors, and fails if one exceeds its limit; --write makes the counts the limits
# --peers  compares the library with PyTorch and NumPy instead, and writes docs/benchmarks.md and the sentences about speed in README.md
# --gpu    compares with PyTorch on a GPU, and writes docs/benchmarks-cuda.md
#   WORD     only the rows whose name contains it
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$target/bench
library=$out/libthorn.so.0 # the program loads the library by this name

size_goal=$((8 << 20))

# PyTorch and NumPy, in a virtual environment. PEERS_VENV names an existing one.
venv=${PEERS_VENV:-$target/peers/venv}

options=()
builds=no
peers=no
calls=no
if [ "${1:-}" = --peers ]; then
    peers=yes
    options=("${@:2}") # benches/peers reads them
    set --
elif [ "${1:-}" = --calls ]; then
    calls=yes
    options=("${@:2}") # scripts/calls.py reads them
    set --
fi
for argument; do
    case $argument in
    --build) builds=yes ;;
    --quick) options+=("$argument") ;;
    -*)
        sed -n 's/^# Usage: /usage: /p' "$0" >&2
        exit 2
        ;;
    *) options+=("$argument") ;;
    esac
done

build_library() {
    scripts/setup.sh demo
    cargo build --release --locked --quiet
    mkdir -p "$out"
    strip --strip-unneeded -o "$library" "$target/release/libthorn.so"
}

build_foundation() {
    "${CC:-cc}" -std=gnu99 -O3 -Wall -Wextra -Iinclude benches/foundation.c -o "$out/foundation" "$library" -pthread \
        -Wl,-rpath,"$out"
}

build_calls() {
    "${CC:-cc}" -std=c99 -O2 -Wall -Wextra -Iinclude benches/calls/calls.c -o "$out/calls" "$library" -Wl,-rpath,"$out"
}

verdict() { if [ "$1" = 0 ]; then echo ok; else echo MISS; fi; }

# Prints the size of the shipped library, and the libraries that it loads.
shipped() {
    local size needed others
    size=$(stat -c %s "$library")
    needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    others=$(grep -Ecv '^(libc|libm|libgcc_s|ld-linux[^.]*)\.so' <<<"$needed" || true)
    printf 'libthorn.so, stripped: %d bytes   <= %d %s\n' "$size" "$size_goal" "$(verdict $((size > size_goal)))"
    printf 'it needs: %s   libc, libm, libgcc_s, ld-linux %s\n' "$(tr '\n' ' ' <<<"$needed")" "$(verdict "$others")"
}

seconds() {
    local start=$EPOCHREALTIME
    "$@"
    awk -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.1f s\n", end - start }'
}

# Builds a copy, so that the files here keep their times, and the build outputs here stay up to date.
build_times() (
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    cp -r Cargo.toml Cargo.lock build.rs src benches include "$copy"
    cd "$copy"
    export CARGO_TARGET_DIR=$copy/target
    printf 'release build from scratch, dependencies included: %s\n' "$(seconds cargo build --release --locked --quiet)"
    changed=src/ops/pointwise/arithmetic.rs
    touch -c $changed
    printf 'release build after touching %s: %s\n' $changed "$(seconds cargo build --release --locked --quiet)"
    # Writes 1 / x in another way, which is new code for every float and instruction set.
    sed -i 's,T::from_i64(1) / t,T::from_i64(2) / (t + t),' $changed
    grep -qF '(t + t)' $changed
    printf 'release build after changing a kernel in it: %s\n' "$(seconds cargo build --release --locked --quiet)"
)

# Installs the versions of PyTorch and NumPy that benches/peers/requirements.txt names: a few GB, once.
install_peers() {
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r benches/peers/requirements.txt
}

build_library
if [ $peers = yes ]; then
    install_peers
    # NumPy's products would use all cores.
    export OPENBLAS_NUM_THREADS=1
    exec "$venv/bin/python" -B benches/peers --library "$library" --out "$target/peers" "${options[@]}"
fi
if [ $calls = yes ]; then
    build_calls
    exec scripts/calls.py "$out/calls" "${options[@]}"
fi
build_foundation
shipped
"$out/foundation" "${options[@]}"
cargo bench --locked --quiet --bench pool
if [ $builds = yes ]; then build_times; fi
