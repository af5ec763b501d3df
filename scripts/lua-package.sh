#!/usr/bin/env bash
# Uses the package for LuaJIT in one of the ways to install it.
# Usage: THORN_LIB=LIBRARY scripts/lua-package.sh tree|luarocks|lupa
#   tree       `require` finds it in this tree
#   luarocks   `luarocks make` installs every file of the package
#   lupa       the LuaJIT within the wheel lupa of Python runs it, and its tests in one process
# Exits with 77 if luarocks is not installed, or pip cannot fetch the wheel.
set -euo pipefail
cd "$(dirname "$0")/.."

way=${1:?tree, luarocks or lupa}
lua=$PWD/lua
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "lua-package: $*" >&2
    exit 1
}

skip() {
    echo "lua-package: $*: left out"
    exit 77
}

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }

# uses FOLDER: LuaJIT must find the package in the folder, from a working directory without it.
uses() { (cd "$work" && LUA_PATH="$1/?.lua" luajit "$lua/tests/package/uses.lua" "$1/") || fail "$way: the package does not run"; }

files_in() { (cd "$1" && find thorn thorn.lua torch.lua -name '*.lua' | LC_ALL=C sort); }

case $way in
tree)
    uses "$lua"
    ;;
luarocks)
    command -v luarocks >/dev/null || skip "luarocks is not installed"
    version=$(sed -n 's/^version = "\([0-9]*\.[0-9]*\)\..*/\1/p' Cargo.toml | head -n 1)
    rockspec=thorn-$version-1.rockspec
    [ -f "lua/$rockspec" ] || fail "there is no lua/$rockspec, for version $version of the library"
    (cd lua && quietly luarocks --lua-version 5.1 make --tree "$work/tree" "$rockspec")
    installed=$work/tree/share/lua/5.1
    diff <(files_in lua) <(files_in "$installed") || fail "$rockspec installs other files (>) than the package has (<)"
    uses "$installed"
    ;;
lupa)
    python3 -m venv "$work/venv" >/dev/null 2>&1 || skip "Python makes no virtual environment"
    "$work/venv/bin/pip" install --quiet lupa >"$work/log" 2>&1 || skip "pip cannot fetch lupa"
    cat >"$work/run.py" <<'PYTHON'
import re
import sys
from lupa.luajit21 import LuaRuntime

lua, folder = LuaRuntime(), sys.argv[1]
lua.execute("package.path = ... .. '/?.lua'", folder)
lua.execute("local folder = ... assert(loadfile(folder .. '/tests/package/uses.lua'))(folder .. '/')", folder)
# All tests but those that start LuaJIT.
with open(folder + "/tests/run.lua") as file:
    names = re.findall(r'^    "(\w+)",$', file.read(), re.MULTILINE)
names = [name for name in names if name not in ("dynamic_hostile", "dynamic_memory", "paths_test", "tester_test")]
lua.execute("arg = { [0] = ..., select(2, ...) } assert(loadfile(arg[0]))()", folder + "/tests/run.lua", *names)
PYTHON
    (cd "$work" && venv/bin/python run.py "$lua") || fail "lupa: the package or its tests fail"
    ;;
*)
    fail "there is no way $way"
    ;;
esac
echo "ok: $way"
