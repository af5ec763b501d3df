#!/usr/bin/env bash
# Fetches NVIDIA's run-time compiler, which needs no GPU, from PyPI into target/nvrtc, and prints the folder of its libraries. If the folder
# is in LD_LIBRARY_PATH, the tests compile every kernel with the real NVRTC. Existing files are not fetched again.
#
# Usage: scripts/nvrtc.sh
set -euo pipefail
cd "$(dirname "$0")/.."

version=13.0.88
out=${CARGO_TARGET_DIR:-$PWD/target}/nvrtc
lib=$out/nvidia/cu13/lib
mkdir -p "$out"
exec 9>"$out/lock"
flock 9

if [ "$(cat "$out/version" 2>/dev/null)" != "$version" ]; then
    wheels=$(mktemp -d)
    trap 'rm -rf "$wheels"' EXIT
    python3 -m pip --disable-pip-version-check download --quiet --no-deps --dest "$wheels" "nvidia-cuda-nvrtc==$version" >&2
    # A wheel is a zip file. The other libraries in it are variants that are not needed.
    python3 - "$wheels" "$out" <<'PYTHON'
import glob, sys, zipfile

[wheel] = glob.glob(sys.argv[1] + "/nvidia_cuda_nvrtc-*.whl")
with zipfile.ZipFile(wheel) as files:
    for name in ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0"]:
        files.extract("nvidia/cu13/lib/" + name, sys.argv[2])
PYTHON
    echo "$version" >"$out/version"
fi
echo "$lib"
