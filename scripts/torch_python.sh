#!/bin/sh
# Prints a Python that has PyTorch: in the virtual environment that PEERS_VENV names, that scripts/bench.sh --peers makes, or in .venv. Fails
# and prints how to make one if there is none.
cd "$(dirname "$0")/.." || exit
for venv in "${PEERS_VENV:-}" "${CARGO_TARGET_DIR:-$PWD/target}/peers/venv" .venv; do
    if [ -n "$venv" ] && "$venv/bin/python" -c 'import torch, numpy, scipy, mpmath' 2>/dev/null; then
        echo "$venv/bin/python"
        exit
    fi
done
echo "left out, for want of PyTorch: python3 -m venv .venv && .venv/bin/pip install -r benches/peers/requirements.txt" >&2
exit 1
