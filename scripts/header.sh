#!/bin/sh
# Writes include/thorn.h from src/.
set -eu
cd "$(dirname "$0")/.."
THORN_WRITE_HEADER=1 cargo test --quiet --test header
