#!/usr/bin/env bash
# Tests and measures the library on a machine with an NVIDIA GPU; docs/guide/src/gpu_check.md explains it.
#
# Usage: scripts/gpu.sh pack [SM]       without a GPU: builds all that `run` needs into .gpu/, with kernels for sm_90 or sm_SM
#        scripts/gpu.sh run [OPTION...] with a GPU: runs the pack within 9 minutes; builds and fetches nothing; --help has the options
#        scripts/gpu.sh here [--tests | --bench] [OPTION of scripts/bench.sh --peers...]
#                                       with a GPU and Rust: builds here, runs the tests and the whole table, measures all rows and PyTorch
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
pack) exec bash scripts/gpu/pack.sh "${@:2}" ;;
run) exec python3 -B scripts/gpu/run.py "${@:2}" ;;
here) exec bash scripts/gpu/here.sh "${@:2}" ;;
*)
    sed -n 's/^# Usage: /usage: /p; s/^#        scripts/       scripts/p' "$0" >&2
    exit 2
    ;;
esac
