#!/usr/bin/env bash
# Builds the library and runs the examples, in C, C++ and Lua.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
scripts/setup.sh demo

title() {
    if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n== %s\n' "$*"; fi
}

title "Building"
cmake -S . -B build -DTHORN_CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}" >/dev/null
cmake --build build --target thorn_examples -j "$(nproc)"

title "examples/hello.cpp: tensors from C++"
build/examples/hello

title "examples/digits.c: a classifier learns handwritten digits, in C"
build/examples/digits

title "examples/digits_grad.c: a convolutional net learns them, by gradients that are found for it"
build/examples/digits_grad | tee build/digits_grad.txt

title "examples/mlp.cpp: a perceptron learns them, in C++"
build/examples/mlp

title "examples/neighbours.c: digits sorted by their neighbours and by k-means"
build/examples/neighbours

title "examples/pca.c: digits on a plane, by singular values"
build/examples/pca build/digits.svg

title "examples/edges.c: the edges in a picture, by convolution"
build/examples/edges build/edges.pgm

title "examples/julia.c: a fractal, each step of it one pass"
build/examples/julia build/julia.png

title "examples/panels.cpp: the picture of README.md, of the training above, the fractal and the edges"
build/examples/panels build/panels.png build/digits_grad.txt build/julia.png build/edges.pgm

title "examples/checkpoint.c: a network that PyTorch trained reads digits"
build/examples/checkpoint

title "examples/program.c: models that PyTorch exported read digits, are trained further, and continue a sonnet"
build/examples/program

title "examples/gpt.c: a transformer learns to write C headers, and writes"
build/examples/gpt build/gpt.weights

title "examples/transformer.c: another one learns sonnets, by gradients that are found for it"
build/examples/transformer

title "examples/cifar_like.c: a net learns shapes in colour; the program may be killed and started again"
build/examples/cifar_like --checkpoint build/cifar_like

title "examples/share.c: two processes send each other tensors"
build/examples/share

title "examples/digits.lua: digits again, from LuaJIT"
THORN_LIB=$PWD/build/lib/libthorn.so luajit examples/digits.lua

title "examples/digits_grad.lua: the convolutional net, from LuaJIT"
THORN_LIB=$PWD/build/lib/libthorn.so luajit examples/digits_grad.lua

title "examples/inspect.lua: the tensors of a file"
THORN_LIB=$PWD/build/lib/libthorn.so luajit examples/inspect.lua examples/data/digits.pt
