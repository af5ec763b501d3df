#!/usr/bin/env bash
# Installs thorn as the guide says, and builds the first programs of README.md in every way that the guide names, with the guide's commands.
# Usage: scripts/install-test.sh BUILD_DIR, the place where the library is built
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
build=$(realpath "${1:?the build directory}")
target=$(sed -n 's/^THORN_CARGO_TARGET_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
soname=libthorn.so.$(awk '$2 == "TH_ABI_VERSION" { print $3 }' include/thorn.h)
archive_goal=$((40 << 20))
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "install-test: $*" >&2
    exit 1
}

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }

guide=docs/guide/src
building=$guide/building.md

# in_page PAGE LANGUAGE WORD: prints the page's first block in this language that contains the word.
in_page() {
    local block
    block=$(awk -v fence="\`\`\`$2" -v word="$3" '
        inside && $0 == "```" { if (index(block, word)) { printf "%s", block; exit } inside = 0 }
        inside { block = block $0 "\n" }
        $0 == fence { inside = 1; block = "" }' "$1")
    [ -n "$block" ] || fail "$1 has no $2 block with $3"
    echo "$block"
}

# The program: the example with a main around it.
project=$work/project
mkdir "$project"
cp c_tests/consumer/CMakeLists.txt "$project"
example=$(in_page README.md c '#include <thorn.h>')
{
    grep '^#include' <<<"$example"
    printf '#include <stdio.h>\nint main(void) {\n'
    grep -v '^#include' <<<"$example"
    printf 'printf("thorn %%s: %%g\\n", THVersion(), first);\nreturn first == 3 ? 0 : 1;\n}\n'
} >"$project/app.c"
cp "$project/app.c" "$project/app.cpp"
example=$(in_page README.md cpp '#include <thorn.hpp>')
{
    grep '^#include' <<<"$example"
    printf '#include <cstdio>\nint main() {\n'
    grep -v '^#include' <<<"$example"
    printf 'std::cout << std::flush;\nstd::printf("thorn %%s: %%g\\n", th::version(), first);\nreturn first == 3 ? 0 : 1;\n}\n'
} >"$project/values.cpp"

# The output: the example's result, then the lines of its main.
printed="tensor([[3., 3., 3.],
        [3., 3., 3.]])
thorn $version: 3"

# prints PROGRAM [VARIABLE=VALUE]...: runs the program and checks its output.
prints() {
    local program=$1 out
    shift
    out=$(env "$@" "$program") || fail "$program failed: $out"
    [ "$out" = "$printed" ] || fail "$program printed: $out"
}

uses_shared() { readelf -d "$1" | grep -q "NEEDED.*\[$soname\]"; }

# cmake_project NAME ARGUMENT...: configures, builds and runs the program. The guide's lines come from standard input.
cmake_project() {
    local name=$1 program
    shift
    cat >"$work/$name.cmake"
    quietly cmake -S "$project" -B "$work/$name" -DTHORN_LINES="$work/$name.cmake" "$@"
    quietly cmake --build "$work/$name"
    for program in app app_static app_cxx app_values; do prints "$work/$name/$program"; done
    uses_shared "$work/$name/app" || fail "$name: app does not use the shared library"
    ! uses_shared "$work/$name/app_static" || fail "$name: app_static uses the shared library"
    echo "ok: $name, shared, static and C++"
}

# guest NAME: the project that cmake_project built around thorn installs only the program by default, and thorn on request.
guest() {
    local name=$1 files
    quietly cmake --install "$work/$name" --prefix "$work/$name-host"
    files=$(cd "$work/$name-host" && find . ! -type d)
    [ "$files" = ./bin/app_static ] || fail "$name installs with the program: $files"
    ctest --test-dir "$work/$name" -N | grep -q 'Total Tests: 0' || fail "$name brings tests of thorn"
    quietly cmake -DTHORN_INSTALL=ON "$work/$name"
    quietly cmake --install "$work/$name" --prefix "$work/$name-both"
    files=$(cd "$work/$name-both" && find . ! -type d)
    for file in bin/app_static "lib.*/$soname" include/thorn.h share/doc/thorn/LICENSE-MIT; do
        grep -qx "./$file" <<<"$files" || fail "$name does not install $file: $files"
    done
    echo "ok: $name installs thorn only when asked"
}

# by_pkg_config NAME PREFIX/LIBDIR SED_COMMAND: runs the guide's command after an edit.
by_pkg_config() {
    local name=$1 libdir=$2 line
    line=$(in_page "$building" sh pkg-config | sed "$3")
    (cd "$project" && PKG_CONFIG_PATH=$libdir/pkgconfig quietly bash -ec "$line")
    prints "$project/a.out" LD_LIBRARY_PATH="$libdir"
    rm "$project/a.out"
    echo "ok: $name"
}

# in_gdb NAME OPTION...: gdb shows the result of the program that the guide's command made.
in_gdb() {
    local name=$1 out
    shift
    out=$(LD_LIBRARY_PATH=$libdir gdb -nx -batch "$@" -ex 'set breakpoint pending on' -ex 'break THTensor_free' -ex run -ex up \
        -ex 'print r' "$work/debugged" 2>&1)
    grep -qF 'float32 [2, 3], strides [3, 1]: [[3, 3, 3], [3, 3, 3]]' <<<"$out" || fail "$name: gdb says: $out"
    echo "ok: $name"
}

# The installation, by the guide's commands with other directories.
install_lines=$(in_page "$building" sh 'cmake --install' | sed -e "s,sudo ,,g; s,ldconfig,true,; s,/usr/local,$work/before,g" \
    -e "s,-B build,-B $work/build -DTHORN_CARGO_TARGET_DIR=$target," -e "s,--\(build\|install\) build,--\1 $work/build,")
quietly bash -ec "$install_lines"
[ -f "$work/before/include/thorn.h" ] || fail "the guide's lines did not install: $install_lines"
if ls "$work"/build/test_* >/dev/null 2>&1; then fail "the guide's lines build the tests"; fi

# gdb finds the printers by the path of the library.
libdir=$(dirname "$(find "$work/before" -name libthorn.a)")
cc -g "$project/app.c" -I"$work/before/include" -L"$libdir" -lthorn -o "$work/debugged"
scripts=$work/before/share/gdb/auto-load
in_gdb 'gdb, unasked' -iex "set auto-load scripts-directory $scripts" -iex "set auto-load safe-path $scripts"

# After the move, nothing may refer to the old path.
mv "$work/before" "$work/moved"
libdir=$(dirname "$(find "$work/moved" -name libthorn.a)")
for file in libthorn.so "$soname" "libthorn.so.$version" pkgconfig/thorn.pc cmake/thorn/thornConfig.cmake; do
    [ -f "$libdir/$file" ] || fail "$file is not installed"
done
for file in thorn.h thorn.hpp; do cmp include/$file "$work/moved/include/$file" || fail "$file is not installed"; done
if grep -rIl -e "$work/before" -e "$root" -e "$build" "$work/moved"; then fail "these files name directories of the build"; fi
sourced=$(grep -o 'source /usr/local/[^`]*' "$building") || fail "$building does not say what to source in gdb"
in_gdb 'gdb, source' -ex "${sourced//\/usr\/local/$work/moved}"

# Licences: the library's own, and those for the crates in it.
for file in LICENSE-MIT LICENSE-APACHE LICENSE-THIRD-PARTY; do
    cmp $file "$work/moved/share/doc/thorn/$file" || fail "$file is not installed"
done
crates=$(for package in thorn thorn-command; do
    cargo tree --package $package --edges normal,no-proc-macro --prefix none --no-dedupe --locked --format '{p}|{l}'
done | grep -v '(/' | sed 's/ v[^|]*|/ /' | LC_ALL=C sort -u)
listed=$(awk '/^Crates/ { inside = 1; next } !NF { inside = 0 } inside' LICENSE-THIRD-PARTY | sed -E 's/^ +([^ ]+) +(.*[^ ])  +.*/\1 \2/' |
    LC_ALL=C sort)
diff <(echo "$listed") <(echo "$crates") || fail "LICENSE-THIRD-PARTY lists other crates (<) than Cargo (>)"
echo "ok: licences"

# libthorn.a defines the functions of the library and no other global symbols.
nm --defined-only --extern-only "$libdir/libthorn.a" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort | diff -u c_tests/symbols.txt - ||
    fail "libthorn.a defines other symbols than libthorn.so"
bytes=$(stat -c %s "$libdir/libthorn.a")
[ "$bytes" -le $archive_goal ] || fail "libthorn.a has $bytes bytes, more than $archive_goal"
echo "ok: libthorn.a, $bytes bytes"

# The command alone needs no other file of the installation.
mkdir "$work/alone"
cp "$work/moved/bin/thorn" "$work/alone"
[ "$("$work/alone/thorn" --version)" = "thorn $version" ] || fail "thorn --version says: $("$work/alone/thorn" --version)"
out=$("$work/alone/thorn" show files/corpus/safetensors/dtypes.safetensors)
grep -Eq '^int16 +int16 +\[2, 3\] +12 +0 +1 +0.5 +0$' <<<"$out" || fail "thorn show says: $out"
in_page "$building" sh 'thorn show' >"$work/alone/lines"
# A blank picture of 8 x 8 pixels for the program.
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }" >"$work/alone/image.npy"
head -c 256 /dev/zero >>"$work/alone/image.npy"
(PATH=$work/alone:$PATH quietly bash -ec "cp examples/data/digits.pt '$work/alone/model.pt'; cp examples/data/digits.pt2 '$work/alone'
    cd '$work/alone'; . ./lines")
[ "$(head -c 8 "$work/alone/weight.png" | tail -c 7)" = $'PNG\r\n\032' ] || fail "the guide's lines draw no picture"
for file in man/man1/thorn.1 man/man1/thorn-show.1 bash-completion/completions/thorn zsh/site-functions/_thorn \
    fish/vendor_completions.d/thorn.fish; do
    [ -s "$work/moved/share/$file" ] || fail "share/$file is not installed"
done
bash -n "$work/moved/share/bash-completion/completions/thorn" || fail "bash does not read the completions"
echo "ok: the command, $(stat -c %s "$work/moved/bin/thorn") bytes"

# find_package.
in_page "$building" cmake find_package | cmake_project find_package -DCMAKE_PREFIX_PATH="$work/moved"
by_pkg_config pkg-config "$libdir" ''
by_pkg_config 'pkg-config, C++' "$libdir" 's/^cc app.c/c++ app.cpp/'

# Two static libraries from Rust in one program.
rustc --edition 2024 -O --crate-type staticlib -o "$work/libother.a" c_tests/consumer/other.rs
sed 's/^printf(/extern int other_seven(void);\nif (other_seven() != 7) return 2;\n&/' "$project/app.c" >"$work/both.c"
grep -q 'other_seven() != 7' "$work/both.c" || fail "both.c calls no other library"
libs=$(sed -n 's/^Libs.private: //p' "$libdir/pkgconfig/thorn.pc")

# Programs linked with the archive by the guide's command, with and without -static. They contain only the parts of the archive that they
# call.
small_goal=$((3 << 20))
is_small() { [ "$(stat -c %s "$1")" -le $small_goal ] || fail "$1 has $(stat -c %s "$1") bytes, more than $small_goal"; }
for static in '' '-static '; do
    line=$(in_page "$building" sh 'libthorn.a -lm' | sed "s/^cc /cc $static/")
    (cd "$project" && PKG_CONFIG_PATH=$libdir/pkgconfig quietly bash -ec "$line")
    prints "$project/a.out"
    is_small "$project/a.out"
    rm "$project/a.out"
done
is_small "$work/find_package/app_static"
echo "ok: libthorn.a by the line of the guide"
for order in "$libdir/libthorn.a $work/libother.a" "$work/libother.a $libdir/libthorn.a"; do
    # shellcheck disable=SC2086 # lists of words
    quietly cc "$work/both.c" -I"$work/moved/include" $order $libs -o "$work/both"
    prints "$work/both"
done
echo "ok: beside another library of Rust"

# LuaJIT with the installed library.
quietly env THORN_LIB="$libdir/libthorn.so" luajit examples/digits.lua
out=$(in_page "$guide/luajit.md" lua THCdef | LD_LIBRARY_PATH=$libdir luajit -)
[ "$out" = $'15\n55' ] || fail "the guide's lines for LuaJIT print: $out"
echo "ok: LuaJIT"

# The package for LuaJIT finds the library of the same installation.
modules=$work/moved/share/lua/5.1
diff <(cd lua && find thorn thorn.lua torch.lua -type f | sort) <(cd "$modules" && find . -type f | sed 's,^./,,' | sort) ||
    fail "the package for LuaJIT has other files (<) than are installed (>)"
quietly env -u THORN_LIB -u THORN_LIBRARY LUA_PATH="$modules/?.lua" luajit lua/tests/package/uses.lua "$modules/"
in_page README.md lua 'require "thorn"' >"$work/package.lua"
out=$(env -u THORN_LIB -u THORN_LIBRARY LUA_PATH="$modules/?.lua" luajit "$work/package.lua")
[ "$out" = "${printed%$'\n'*}" ] || fail "README.md's lines for the package print: $out"
in_page "$guide/luajit.md" lua 'require "thorn"' >"$work/package.lua"
quietly env -u THORN_LIB -u THORN_LIBRARY LUA_PATH="$modules/?.lua" luajit "$work/package.lua"
grep -q 'torch.DoubleTensor of size 2x3' "$work/log" || fail "the guide's lines for the package print: $(cat "$work/log")"
echo "ok: the package for LuaJIT"

# Python's cffi.
python=python3
"$python" -c 'import cffi' 2>/dev/null || python=/usr/bin/python3
out=$(in_page "$guide/python.md" python THCdef | LD_LIBRARY_PATH=$libdir "$python" -)
[ "$out" = '5.0 50.0' ] || fail "the guide's lines for cffi print: $out"
echo "ok: cffi"

# A library directory that CMake does not search on Debian, later with only the static library in it.
quietly cmake -S . -B "$work/lib64-build" -DCMAKE_INSTALL_LIBDIR=lib64 -DTHORN_CARGO_TARGET_DIR="$target" \
    -DTHORN_BUILD_TESTS=OFF -DTHORN_BUILD_EXAMPLES=OFF
quietly cmake --build "$work/lib64-build"
quietly cmake --install "$work/lib64-build" --prefix "$work/lib64"
in_page "$building" cmake find_package | sed "s/thorn CONFIG/thorn ${version%.*} CONFIG/" |
    cmake_project find_package-lib64 -Dthorn_DIR="$work/lib64/lib64/cmake/thorn"
rm "$work"/lib64/lib64/libthorn.so*
by_pkg_config pkg-config-static "$work/lib64/lib64" 's/--cflags/--static &/'
by_pkg_config pkg-config-all-static "$work/lib64/lib64" 's/^cc /cc -static /; s/--cflags/--static &/'

# A program that asks for another version gets an error.
in_page "$building" cmake find_package | sed 's/thorn CONFIG/thorn 99.0 CONFIG/' >"$work/version.cmake"
if cmake -S "$project" -B "$work/version" -DTHORN_LINES="$work/version.cmake" -DCMAKE_PREFIX_PATH="$work/moved" >"$work/log" 2>&1; then
    fail "version 99.0 was found"
fi
grep -q "version: $version" "$work/log" || fail "the refusal of version 99.0 does not name $version: $(cat "$work/log")"
echo "ok: version"

# thorn as part of other builds. FetchContent uses this tree instead of fetching.
ln -s "$root" "$project/thorn"
in_page "$building" cmake add_subdirectory | cmake_project add_subdirectory -DTHORN_CARGO_TARGET_DIR="$target"
guest add_subdirectory
in_page "$building" cmake FetchContent_Declare |
    cmake_project FetchContent -DTHORN_CARGO_TARGET_DIR="$target" -DFETCHCONTENT_SOURCE_DIR_THORN="$root"
guest FetchContent
