#!/bin/sh
# Writes include/thorn.h, src/capi/declarations.h, which THCdef returns, src/capi/rows.json and lua/thorn/rows.lua from src/.
set -eu
cd "$(dirname "$0")/.."
cargo run --quiet --package thorn-header
