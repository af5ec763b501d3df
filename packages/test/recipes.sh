#!/usr/bin/env bash
# Checks the recipes for vcpkg, Conan and Homebrew without building: their versions, their syntax, and whether they are loaded.
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

# tries MESSAGE COMMAND...: prints the output of the command and the message if the command fails.
tries() {
    local message=$1
    shift
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$message"; }
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
tries "CMake does not run portfile.cmake" cmake -P "$work/stand_ins.cmake"
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
    conan=$work/venv/bin/conan
    "$conan" profile detect >/dev/null 2>&1
    tries "Conan does not load the recipe" "$conan" inspect packages/conan
    grep -q "^version: $version" "$work/log" || fail "the recipe of Conan has another version"
    tries "Conan does not export the sources" "$conan" export packages/conan
    tries "Conan does not resolve the recipe" "$conan" graph info --no-remote --requires "thorn/$version"
    # The exported sources have all that Cargo and CMake read.
    exported=$("$conan" cache path "thorn/$version" --folder export_source)
    tries "the sources lack a crate" cargo metadata --locked --no-deps --format-version 1 --manifest-path "$exported/Cargo.toml"
    tries "CMake does not configure the sources" cmake -S "$exported" -B "$work/configured" -DTHORN_BUILD_TESTS=OFF \
        -DTHORN_BUILD_EXAMPLES=OFF
    echo "ok: Conan, loaded, exported and configured"
else
    echo "left out: pip cannot fetch conan"
fi
