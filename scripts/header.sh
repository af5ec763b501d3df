#!/bin/sh
# Writes include/thorn.h, src/capi/declarations.h, which THCdef returns, src/capi/api.json and lua/thorn/api.lua from src/. Also writes
# include/thorn.hpp from these files and scripts/header/cxx.
set -eu
cd "$(dirname "$0")/.."
cargo run --quiet --package thorn-header
