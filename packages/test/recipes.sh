#!/usr/bin/env bash
# Checks the recipes for vcpkg, Conan and Homebrew as far as that is possible without building: versions, syntax, and the loading of recipes.
# Usage: packages/test/recipes.sh BUILD_DIR FOLDER_OF_PACKAGES; run by scripts/package.sh recipes.
set -euo pipefail
PATH="$PATH:$HOME/.cargo/bin"
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "recipes: $*" >&2
    exit 1
}

grep -q "\"version\": \"$version\"" packages/vcpkg/vcpkg.json || fail "vcpkg.json is not for version $version"
grep -q "thorn-$version.tar.gz" packages/homebrew/thorn.rb || fail "thorn.rb is not for version $version"
python3 -m json.tool packages/vcpkg/vcpkg.json /dev/null

# CMake runs the port with stand-ins for vcpkg's functions, which print their names.
cat >"$work/stand_ins.cmake" <<CMAKE
cmake_minimum_required(VERSION 3.21)
set(FEATURES core tools)
foreach(name vcpkg_download_distfile vcpkg_extract_source_archive vcpkg_check_features vcpkg_cmake_configure vcpkg_cmake_install
    vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_copy_tools vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(\${name})\nmessage(\${name})\nendfunction()")
endforeach()
set(VERSION $version)
set(CURRENT_PACKAGES_DIR "$work/none")
include("$PWD/packages/vcpkg/portfile.cmake")
CMAKE
cmake -P "$work/stand_ins.cmake" >"$work/log" 2>&1 || { cat "$work/log"; fail "CMake does not run portfile.cmake"; }
grep -q vcpkg_install_copyright "$work/log" || fail "portfile.cmake installs no licences"
echo "ok: vcpkg, run with stand-ins"

if command -v ruby >/dev/null; then
    ruby -c packages/homebrew/thorn.rb >/dev/null || fail "Ruby does not read thorn.rb"
    echo "ok: Homebrew, syntax"
else
    echo "left out: the formula needs ruby"
fi

if python3 -m venv "$work/venv" 2>/dev/null && "$work/venv/bin/pip" install --quiet conan 2>/dev/null; then
    export CONAN_HOME=$work/conan
    "$work/venv/bin/conan" profile detect >/dev/null 2>&1
    "$work/venv/bin/conan" inspect packages/conan >"$work/log" 2>&1 || { cat "$work/log"; fail "Conan does not load the recipe"; }
    grep -q "^version: $version" "$work/log" || fail "the recipe of Conan has another version"
    "$work/venv/bin/conan" export packages/conan >"$work/log" 2>&1 || { cat "$work/log"; fail "Conan does not export the sources"; }
    "$work/venv/bin/conan" graph info --no-remote --requires "thorn/$version" >"$work/log" 2>&1 || { cat "$work/log"; fail "Conan does not resolve it"; }
    # The exported sources have all that Cargo and CMake read.
    exported=$("$work/venv/bin/conan" cache path "thorn/$version" --folder export_source)
    (cd "$exported" && cargo metadata --locked --no-deps --format-version 1) >"$work/log" 2>&1 || { cat "$work/log"; fail "the sources lack a crate"; }
    cmake -S "$exported" -B "$work/configured" -DTHORN_BUILD_TESTS=OFF -DTHORN_BUILD_EXAMPLES=OFF >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "CMake does not configure the exported sources"; }
    echo "ok: Conan, loaded, exported and configured"
else
    echo "left out: pip cannot fetch conan"
fi
