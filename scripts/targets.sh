#!/usr/bin/env bash
# Checks that the library compiles for processors and systems on which no tests run. Nothing is linked, so no other compiler is needed.
# Usage: scripts/targets.sh [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
targets=("$@")
if [ $# -eq 0 ]; then targets=(aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-apple-darwin x86_64-pc-windows-gnu); fi

rustup --quiet target add "${targets[@]}"
for target in "${targets[@]}"; do
    echo "== $target"
    cargo check --release --lib --locked --target "$target"
done
