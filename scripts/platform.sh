#!/usr/bin/env bash
# Builds the library for another platform, and runs the tests of files and of scripts/test.sh c and table on it. Usage:
#   scripts/platform.sh PLATFORM [--table | CTEST-ARGUMENT...]
#
#   aarch64  Linux on 64-bit ARM, in the emulator qemu-aarch64.
#   musl     Linux on x86-64 with the C library musl; programs are linked dynamically and statically.
#   glibc    Linux on x86-64 with glibc 2.28 and later: what the packages for old systems contain.
#   macos    macOS on 64-bit ARM: the library and the examples are compiled and linked, and nothing runs.
#   windows  Windows on x86-64, in Wine: scripts/platform-windows.sh, which has other arguments.
#
# --table builds only the library, and runs only the table. The build is in build/PLATFORM. TH_TEST_SHARE=N runs an Nth part of the table. The script installs compilers and the emulator by apt, as root.
# Zig's compiler from PyPI has headers and C libraries for musl, macOS and each glibc. LuaJIT is built from its source on crates.io.
# target/platform keeps these tools.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
platform=${1:?aarch64, musl, glibc, macos or windows}
shift
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
tools=$CARGO_TARGET_DIR/platform
build=$PWD/build/$platform
mkdir -p "$tools/$platform"
. scripts/platform-tools.sh

# program NAME COMMAND...: an executable file that runs the command with further arguments.
program() {
    local path=$tools/$platform/$1
    shift
    mkdir -p "${path%/*}"
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$path"
    chmod +x "$path"
}

# zig ARGUMENT...: compilers cc and c++ with these arguments for Zig's compiler.
zig() {
    [ -x "$tools/zig/bin/python" ] || python3 -m venv "$tools/zig"
    "$tools/zig/bin/pip" install --quiet 'ziglang==0.15.2'
    local compiler
    for compiler in cc c++; do program "$compiler" "'$tools/zig/bin/python' -m ziglang $compiler $*"; done
    for compiler in ar ranlib; do program "$compiler" "'$tools/zig/bin/python' -m ziglang $compiler"; done
    configuration+=("-DCMAKE_C_COMPILER=$tools/$platform/cc" "-DCMAKE_CXX_COMPILER=$tools/$platform/c++"
        "-DCMAKE_AR=$tools/$platform/ar" "-DCMAKE_RANLIB=$tools/$platform/ranlib")
    # Zig links its unwinder only on request.
    if [[ $* == *linux* ]]; then configuration+=(-DCMAKE_EXE_LINKER_FLAGS=-lunwind); fi
}

compiler=$tools/$platform/cc emulator= lua=luajit
# Tools of this machine do not run with programs of another system.
configuration=(-DVALGRIND_EXECUTABLE=OFF -DGDB_EXECUTABLE=OFF -DTHORN_BLAS=OFF -DDOXYGEN_EXECUTABLE=OFF -DTHORN_CALLGRIND_H=OFF)
# Tests that start such programs in a shell or in Python.
left_out='^(abi|guide|calls|example:(checkpoint|panels|cifar_like|numpy)|lua:package:|header:.*(clang|checked|dropped|constant))'
case $platform in
aarch64)
    packages gcc-aarch64-linux-gnu qemu-user
    if [ "${1:-}" != --table ]; then packages g++-aarch64-linux-gnu; fi
    rust=aarch64-unknown-linux-gnu
    compiler=aarch64-linux-gnu-gcc emulator="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    luajit Linux CROSS=aarch64-linux-gnu-
    lua=$tools/$platform/lua
    program lua "$emulator '$tools/$platform/luajit'"
    configuration+=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "-DCMAKE_CROSSCOMPILING_EMULATOR=${emulator// /;}"
        -DCMAKE_C_COMPILER=$compiler -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
        "-DLUAJIT_EXECUTABLE=$lua")
    # qemu-user ends the second process of share. The table runs with the only level of the processor.
    left_out+='|^example:share$|^lua:table:'
    ;;
musl)
    rust=x86_64-unknown-linux-musl
    packages musl
    zig -target x86_64-linux-musl -dynamic
    luajit Linux "CC=$tools/$platform/cc" TARGET_CFLAGS=-fno-sanitize=undefined TARGET_LIBS=-lunwind
    lua=$tools/$platform/luajit
    configuration+=("-DLUAJIT_EXECUTABLE=$lua")
    ;;
glibc)
    rust=x86_64-unknown-linux-gnu
    zig -target x86_64-linux-gnu.2.28
    ;;
macos)
    rust=aarch64-apple-darwin
    zig -target aarch64-macos
    # Zig has no lists of exported symbols, so the library also exports functions of Rust. Zig has no libiconv either, which std names and
    # thorn does not use.
    mv "$tools/$platform/cc" "$tools/$platform/zigcc"
    cat >"$tools/$platform/cc" <<'CC'
#!/usr/bin/env bash
for argument in "$@"; do
    shift
    [[ $argument == -Wl,-exported_symbols_list || $argument == -Wl,/*/list || $argument == -liconv ]] || set -- "$@" "$argument"
done
exec "${0%/*}/zigcc" "$@"
CC
    chmod +x "$tools/$platform/cc"
    configuration+=(-DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=arm64 -DCMAKE_INSTALL_NAME_TOOL=true -DLUAJIT_EXECUTABLE=OFF)
    # CMake asks this program for the version of macOS.
    program path/sw_vers "echo 13.0; exit"
    PATH="$tools/$platform/path:$PATH"
    ;;
windows) exec scripts/platform-windows.sh "$@" ;;
*)
    echo "platform.sh: no platform is named $platform" >&2
    exit 2
    ;;
esac
rustup --quiet target add "$rust"
programs=ON
if [ "${1:-}" = --table ]; then programs=OFF; fi
for part in TESTS EXAMPLES COMMAND; do configuration+=("-DTHORN_BUILD_$part=$programs"); done
if [ "$platform" = macos ]; then configuration+=(-DTHORN_BUILD_TESTS=OFF -DTHORN_BUILD_COMMAND=OFF); fi
cmake -S . -B "$build" "${configuration[@]}" -DTHORN_RUST_TARGET="$rust" -DTHORN_CARGO_TARGET_DIR="$CARGO_TARGET_DIR" >/dev/null
if [ "${1:-}" = --table ]; then
    cmake --build "$build" --target thorn_library
    THORN_LIB=$build/lib/libthorn.so "$lua" c_tests/table.lua
    exit
fi
cmake --build "$build" -j "$(nproc)"
if [ "$platform" = macos ]; then exit; fi
if [ "$platform" = musl ]; then
    # A program without any shared library.
    static=$build/examples/pagerank_static
    "$tools/musl/cc" -O2 -Iinclude examples/pagerank.c "$build/lib/libthorn.a" -static -lunwind -Wl,--gc-sections -s -o "$static"
    readelf -d "$static" | grep 'no dynamic section'
    "$static"
fi
# The readers of files, with all mutations. Cargo gets the compiler and the emulator of CMake.
variable=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$rust")
export "${variable}_LINKER=$compiler"
if [ -n "$emulator" ]; then export "${variable}_RUNNER=$emulator"; fi
cargo test --release --locked --package thorn-files --lib --test '*' --target "$rust"
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -L '^(c|table)$' -E "$left_out" "$@"
