#!/usr/bin/env bash
# Measures the package for LuaJIT for ../lua.md, and fails if a goal is missed. Usage: THORN_LIB=LIBRARY benches/lua/bench.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cc -O2 -shared -fPIC -o "$out/loop.so" benches/lua/loop.c
LUA_PATH="$PWD/lua/?.lua" luajit benches/lua/bench.lua "$out/loop.so"
