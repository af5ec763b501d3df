#!/usr/bin/env bash
# Builds the library for Windows on x86-64 with mingw-w64, and runs tests with Wine. Usage:
#   scripts/platform-windows.sh [NAME...]
#
# The parts are `exports`, `headers`, `c`, `files` and `table`; without names, all run. A name of a test in C or C++, such as test_copy, runs
# this test. The results are in build/windows: thorn.dll, its import library libthorn.dll.a, and the programs. TH_TEST_SHARE=N runs an Nth
# part of the table. The script installs the compilers and Wine by apt, as root. target/platform keeps LuaJIT.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
rust=x86_64-pc-windows-gnu
tools=$CARGO_TARGET_DIR/platform
platform=windows
build=$PWD/build/windows
export WINEPREFIX=$tools/$platform/wine WINEDEBUG=-all
mkdir -p "$tools/$platform" "$build"
. scripts/platform-tools.sh

# Tests in C and C++ that are left out, with the reason.
left_out() {
    case $1 in
    test_fork | test_threads | test_refused | test_files) echo "fork and signals" ;;
    test_share | test_mapping | test_memory | test_quantized) echo "POSIX mappings, shared memory and descriptors; test_windows has these" ;;
    test_blas | test_graphs) echo "dlfcn.h" ;;
    test_unwind) echo "execinfo.h" ;;
    test_nomem*) echo "a program cannot replace the malloc of a library" ;;
    *) return 1 ;;
    esac
}

packages gcc-mingw-w64-x86-64-win32 g++-mingw-w64-x86-64-win32 clang wine64 wine
rustup --quiet target add $rust

passed=0 failed=() out=0
# result NAME COMMAND...: runs the command, whose output is shown only if it fails.
result() {
    local name=$1
    shift
    if "$@" >"$build/$name.log" 2>&1; then
        echo "passed  $name"
        passed=$((passed + 1))
    else
        echo "FAILED  $name"
        tail -n 40 "$build/$name.log"
        failed+=("$name")
    fi
}

library() {
    cargo build --release --lib --locked --target $rust
    local from=$CARGO_TARGET_DIR/$rust/release
    cp -u "$from/thorn.dll" "$from/libthorn.dll.a" "$build"
    # Wine 8 lacks this part of Windows, which Rust's std uses.
    x86_64-w64-mingw32-gcc -shared -O1 c_tests/windows/bcryptprimitives.c -o "$build/bcryptprimitives.dll" -ladvapi32
    echo "thorn.dll: $(stat -c %s "$build/thorn.dll") bytes"
}

# The DLL must export the names in c_tests/symbols.txt, and import only the DLLs of Windows.
exports() {
    x86_64-w64-mingw32-objdump -p "$build/thorn.dll" >"$build/thorn.txt"
    awk '/\[Ordinal\/Name Pointer\] Table/ { names = 1; next } names && NF == 0 { exit } names { print $NF }' "$build/thorn.txt" |
        LC_ALL=C sort | diff c_tests/symbols.txt - || return
    ! sed -n 's/.*DLL Name: //p' "$build/thorn.txt" | grep -viE '^(kernel32|ntdll|msvcrt|bcryptprimitives|api-ms-win-[a-z0-9-]+|ws2_32|userenv)\.dll$'
}

# thorn.h under the rules of Microsoft's compiler, and both headers without extensions of GNU. The headers of mingw-w64 for C++ are not for
# these rules.
headers() {
    local rules=(-fsyntax-only -Wall -Wextra -pedantic -Wgnu -Werror -Iinclude) cxx
    cxx=$(dirname "$(x86_64-w64-mingw32-g++ -print-file-name=include)")/include/c++
    printf '#include "thorn.h"\nconst void *used(void) { return &THDefaultAllocator; }\n' >"$build/header.c"
    printf '#include "thorn.hpp"\n' >"$build/header.cpp"
    clang "${rules[@]}" --target=x86_64-pc-windows-msvc -fms-compatibility -fms-extensions -isystem /usr/share/mingw-w64/include \
        -std=c99 "$build/header.c"
    clang "${rules[@]}" --target=x86_64-w64-mingw32 -std=c99 "$build/header.c"
    clang++ "${rules[@]}" --target=x86_64-w64-mingw32 -std=c++17 -isystem "$cxx" -isystem "$cxx/x86_64-w64-mingw32" "$build/header.cpp"
}

# program SOURCE: compiles a test, which loads only thorn.dll and the DLLs of Windows.
program() {
    local name compiler=x86_64-w64-mingw32-gcc options=(-std=gnu99)
    name=$(basename "${1%.*}")
    if [[ $1 == *.cpp ]]; then compiler=x86_64-w64-mingw32-g++ options=(-std=gnu++17 -Wa,-mbig-obj); fi
    "$compiler" "${options[@]}" -O1 -Wall -Wextra -Iinclude -Ic_tests -include c_tests/windows/posix.h \
        -DCORPUS="\"$PWD/files/corpus\"" -DPROGRAMS="\"$PWD/tests/data/programs\"" \
        "$1" -o "$build/$name.exe" -static "$build/libthorn.dll.a" -lm -lpthread
}

run_test() {
    local name reason
    name=$(basename "${1%.*}")
    if reason=$(left_out "$name"); then
        echo "left out  $name: $reason"
        out=$((out + 1))
    elif program "$1" >"$build/$name.log" 2>&1; then
        result "$name" timeout 600 env -C "$build" wine "$name.exe"
    else
        echo "FAILED  $name, which does not compile"
        tail -n 20 "$build/$name.log"
        failed+=("$name")
    fi
}

tests() {
    local source
    for source in c_tests/windows/test_*.c c_tests/test_*.c c_tests/test_*.cpp; do run_test "$source"; done
}

table() {
    luajit Windows CROSS=x86_64-w64-mingw32-
    THORN_LIB="Z:$build/thorn.dll" WINEPATH="Z:$build" result table wine "$tools/$platform/luajit.exe" c_tests/table.lua
}

files() {
    WINEPATH="Z:$build" CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine result files cargo test --quiet --locked -p thorn-files --lib --target $rust
}

library
[ $# -gt 0 ] || set -- exports headers c files table
for part in "$@"; do
    case $part in
    exports | headers) result "$part" "$part" ;;
    c) tests ;;
    files | table) "$part" ;;
    *) run_test "$(ls c_tests/"$part".c* c_tests/windows/"$part".c 2>/dev/null | head -n 1)" ;;
    esac
done
echo "$passed passed, ${#failed[@]} failed, $out left out"
[ ${#failed[@]} -eq 0 ] || printf 'failed: %s\n' "${failed[@]}"
[ ${#failed[@]} -eq 0 ]
