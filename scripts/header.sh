#!/bin/sh
# Writes include/thorn.h, src/capi/declarations.h, which THCdef returns, src/capi/api.json and lua/thorn/api.lua from src/. Also writes
# include/thorn.hpp from these files, scripts/header/cxx and scripts/guide/pytorch_names.txt, and docs/aten.md from src/program/aten.
set -eu
cd "$(dirname "$0")/.."
cargo run --quiet --package thorn-header
