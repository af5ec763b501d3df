#!/usr/bin/env bash
# Compiles the typed functions, THFloatTensor_* and the others, which are not part of the library yet, and prints how many there are and
# how long that took. Usage: scripts/typed.sh [--size [libthorn.so without them]]
#
# With --size they are compiled with optimisation, which takes minutes, and the script prints how many bytes they add. Without --size,
# nothing is optimised. Fails if fewer than 187 families exist in all ten element types.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
plain=
options=(--config profile.release.package.thorn.opt-level=0)
if [ "${1:-}" = --size ]; then
    plain=${2:-build/lib/libthorn.so}
    options=()
fi
built=${CARGO_TARGET_DIR:-$PWD/target}
target=$built/typed
library=$target/release/libthorn.so

# Reuses the library's compiled dependencies, in a separate directory, because a library with the same name would replace the other one.
if [ ! -d "$target/release" ] && [ -d "$built/release/deps" ]; then
    mkdir -p "$target/release"
    cp -a "$built"/release/{.fingerprint,build,deps} "$target/release"
    rm -rf "$target"/release/deps/libthorn.* "$target"/release/.fingerprint/thorn-????????????????
fi

began=$(date +%s)
cargo rustc --quiet --release --lib --crate-type cdylib --locked --features typed --target-dir "$target" "${options[@]}"
seconds=$(($(date +%s) - began))

functions=$(nm -D --defined-only "$library" | awk '{ print $3 }' |
    grep -E '^TH(Byte|Char|Short|Int|Long|Half|BFloat16|Float|Double|Bool)Tensor_')
families=$(sed 's/.*Tensor_//' <<<"$functions" | sort | uniq -c | awk '$1 == 10' | wc -l)
count=$(wc -l <<<"$functions")
echo "$count typed functions, $families families of ten; built in $seconds s"
if [ -n "$plain" ]; then
    bytes() { size -A "$1" | awk '$1 ~ /^\.(text|rodata|data|rela|eh_frame|gcc_except|dyn|gnu)/ { sum += $2 } END { print sum }'; }
    added=$(($(bytes "$library") - $(bytes "$plain")))
    echo "$added bytes more, $((added / count)) a function"
fi
[ "$families" -ge 187 ]
