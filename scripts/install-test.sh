#!/usr/bin/env bash
# Installs thorn and builds c_tests/consumer against it in every documented way. Usage: scripts/install-test.sh BUILD_DIR
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${1:?the build directory}")
target=$(sed -n 's/^THORN_CARGO_TARGET_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
soname=libthorn.so.$(awk '$2 == "TH_ABI_VERSION" { print $3 }' include/thorn.h)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "install-test: $*" >&2
    exit 1
}

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }

# consumer NAME ARGUMENT...: configures and builds c_tests/consumer in $work/NAME, and runs its two programs.
consumer() {
    local name=$1 out
    shift
    quietly cmake -S c_tests/consumer -B "$work/$name" "$@"
    quietly cmake --build "$work/$name"
    for program in consumer consumer_static; do
        out=$("$work/$name/$program") || fail "$name: $program failed: $out"
        [ "$out" = "thorn $version: 3" ] || fail "$name: $program printed: $out"
    done
    uses_shared "$work/$name/consumer" || fail "$name: consumer does not use the shared library"
    ! uses_shared "$work/$name/consumer_static" || fail "$name: consumer_static uses the shared library"
    echo "ok: $name"
}

uses_shared() { readelf -d "$1" | grep -q "NEEDED.*\[$soname\]"; }

# by_pkg_config NAME PREFIX/LIBDIR MAKE_ARGUMENT...
by_pkg_config() {
    local name=$1 libdir=$2 out
    shift 2
    mkdir "$work/$name"
    cp c_tests/consumer/consumer.c c_tests/consumer/Makefile "$work/$name"
    PKG_CONFIG_PATH=$libdir/pkgconfig quietly make -C "$work/$name" "$@"
    out=$(LD_LIBRARY_PATH=$libdir "$work/$name/consumer") || fail "$name: consumer failed: $out"
    [ "$out" = "thorn $version: 3" ] || fail "$name: consumer printed: $out"
    echo "ok: $name"
}

# Installed, then moved: nothing may point to where it was.
quietly cmake --install "$build" --prefix "$work/before"
mv "$work/before" "$work/moved"
libdir=$(dirname "$(find "$work/moved" -name libthorn.a)")
for file in libthorn.so "$soname" "libthorn.so.$version" pkgconfig/thorn.pc cmake/thorn/thornConfig.cmake; do
    [ -f "$libdir/$file" ] || fail "$file is not installed"
done
cmp include/thorn.h "$work/moved/include/thorn.h" || fail "thorn.h is not installed"
if grep -rIl -e "$work/before" -e "$PWD" -e "$build" "$work/moved"; then fail "these files name directories of the build"; fi
consumer find_package -DCMAKE_PREFIX_PATH="$work/moved"
by_pkg_config pkg-config "$libdir"

# A library directory that CMake does not search on Debian, and later only the static library in it.
quietly cmake -S . -B "$work/lib64-build" -DCMAKE_INSTALL_LIBDIR=lib64 -DTHORN_CARGO_TARGET_DIR="$target" \
    -DTHORN_BUILD_TESTS=OFF -DTHORN_BUILD_EXAMPLES=OFF
quietly cmake --build "$work/lib64-build"
quietly cmake --install "$work/lib64-build" --prefix "$work/lib64"
consumer find_package-lib64 -Dthorn_DIR="$work/lib64/lib64/cmake/thorn"
rm "$work"/lib64/lib64/libthorn.so*
by_pkg_config pkg-config-static "$work/lib64/lib64" PKG_CONFIG_FLAGS=--static

# A program that asks for another version is told so, and not given this one.
sed 's/find_package(thorn [0-9.]*/find_package(thorn 99.0/' c_tests/consumer/CMakeLists.txt >"$work/CMakeLists.txt"
cp c_tests/consumer/consumer.c "$work"
if cmake -S "$work" -B "$work/version" -DCMAKE_PREFIX_PATH="$work/moved" >"$work/log" 2>&1; then fail "version 99.0 was found"; fi
grep -q "version: $version" "$work/log" || fail "the refusal of version 99.0 does not name $version: $(cat "$work/log")"
echo "ok: version"

consumer add_subdirectory -DTHORN_SOURCE_DIR="$PWD" -DTHORN_CARGO_TARGET_DIR="$target"
