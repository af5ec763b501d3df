#!/usr/bin/env bash
# Unpacks each package and uses it: programs in C and C++ by pkg-config and CMake, the LuaJIT package, the command, and Python.
# Usage: packages/test/test.sh BUILD_DIR FOLDER_OF_PACKAGES; run by scripts/package.sh test.
set -euo pipefail
packages=$(realpath "$2")
cd "$(dirname "$0")/../.."
root=$PWD
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset THORN_LIB THORN_LIBRARY PYTHONPATH

fail() {
    echo "package test: $*" >&2
    exit 1
}

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }

printed="tensor([[3., 3., 3.],
        [3., 3., 3.]])"

# prints COMMAND...: the command prints the tensor of README.md.
prints() {
    local out
    out=$("$@") || fail "$* failed: $out"
    [ "$out" = "$printed" ] || fail "$* printed: $out"
}

python3 packages/test/examples.py "$work"
cp c_tests/consumer/CMakeLists.txt "$work"
printf "find_package(thorn CONFIG REQUIRED)\ntarget_link_libraries(app PRIVATE thorn::thorn)\n" >"$work/lines.cmake"

# uses NAME PREFIX LIBDIR: programs are built and run with an unpacked prefix.
uses() {
    local name=$1 prefix=$2 libdir=$2/$3
    export PKG_CONFIG_PATH=$libdir/pkgconfig
    # shellcheck disable=SC2046 # lists of flags
    quietly cc "$work/app.c" $(pkg-config --cflags --libs thorn) -o "$work/app"
    # shellcheck disable=SC2046
    quietly c++ -std=c++17 "$work/values.cpp" $(pkg-config --cflags --libs thorn) -o "$work/values"
    prints env LD_LIBRARY_PATH="$libdir" "$work/app"
    prints env LD_LIBRARY_PATH="$libdir" "$work/values"
    rm -rf "$work/cmake"
    quietly cmake -S "$work" -B "$work/cmake" -DTHORN_LINES="$work/lines.cmake" -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build "$work/cmake"
    for program in app app_static app_values; do prints "$work/cmake/$program"; done
    if command -v luajit >/dev/null; then
        prints env LUA_PATH="$prefix/share/lua/5.1/?.lua" LD_LIBRARY_PATH="$libdir" luajit "$work/package.lua"
    fi
    [ "$("$prefix/bin/thorn" --version)" = "thorn $version" ] || fail "$name: thorn --version"
    echo "ok: $name"
}

deb() {
    local package multiarch
    command -v dpkg >/dev/null || return 0
    multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    for package in "$packages"/*.deb; do dpkg -x "$package" "$work/root"; done
    [ -f "$work/root/usr/share/man/man1/thorn.1.gz" ] || fail "thorn has no manual page"
    [ -f "$work/root/usr/share/doc/libthorn0/copyright" ] || fail "libthorn0 has no licences"
    uses 'Debian packages' "$work/root/usr" "lib/$multiarch"
}

# The folder has another name than the archive's.
tar_() {
    mkdir "$work/unpacked"
    tar -C "$work/unpacked" -xzf "$packages/thorn-$version-linux-$(uname -m).tar.gz"
    mv "$work/unpacked"/thorn-* "$work/moved here"
    ln -s "$work/moved here" "$work/moved"
    uses tar "$work/moved" lib
}

wheel() {
    local python=$work/venv/bin/python installed
    python3 -m venv "$work/venv" >"$work/log" 2>&1 || { echo "left out: Python makes no virtual environment"; return; }
    if ! "$work/venv/bin/pip" install --quiet "$packages"/*.whl numpy >"$work/log" 2>&1; then
        echo "left out: pip cannot fetch cffi and NumPy"
        return
    fi
    (cd "$work" && diff <("$python" five.py) five.txt) || fail "the first program of python.md prints other lines (<)"
    (cd "$work" && quietly "$python" -B -m unittest discover -s "$root/python/tests")
    grep '^Ran' "$work/log"
    # The wheel also has what programs in C need.
    installed=$(cd "$work" && "$python" -c 'import thorn; print(thorn.__path__[0])')
    quietly cc "$work/app.c" -I"$installed/include" -L"$installed/lib" -lthorn -Wl,-rpath,"$installed/lib" -o "$work/app"
    prints "$work/app"
    echo "ok: wheel"
}

rock() {
    command -v luarocks >/dev/null && command -v luajit >/dev/null || { echo "left out: the rock needs luarocks and luajit"; return; }
    quietly luarocks --lua-version 5.1 install --tree "$work/rocks" "$packages"/*.rock
    prints env LUA_PATH="$work/rocks/share/lua/5.1/?.lua" luajit "$work/package.lua"
    echo "ok: rock"
}

present() { compgen -G "$packages/$1" >/dev/null; }

if present '*.deb'; then deb; fi
if present '*.tar.gz'; then tar_; fi
if present '*.whl'; then wheel; fi
if present '*.rock'; then rock; fi
