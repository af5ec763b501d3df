#!/usr/bin/env bash
# Runs the C tests on a library built with AddressSanitizer, which finds errors that valgrind misses: within objects on the stack and of the
# library. It is fast enough for all cases. Then runs random sequences of calls. Takes some minutes, most of them for the build.
#
# Usage: scripts/asan.sh [--calls N] [--seed S] [WORD]
# --calls  random calls of all functions (c_tests/sequences), 1000000 by default
# --seed   seed of the calls, 1 by default
#   WORD     only the tests whose name contains it
set -euo pipefail
cd "$(dirname "$0")/.."

calls=1000000
seed=1
word=
while [ $# -gt 0 ]; do
    case $1 in
    --calls) calls=$2 && shift 2 ;;
    --seed) seed=$2 && shift 2 ;;
    -*)
        sed -n 's/^# Usage: /usage: /p' "$0" >&2
        exit 2
        ;;
    *) word=$1 && shift ;;
    esac
done

PATH="$PATH:$HOME/.cargo/bin"
platform=$(rustc -vV | sed -n 's/^host: //p')
out=${CARGO_TARGET_DIR:-$PWD/target}/asan
runtime=$(rustc --print sysroot)/lib/rustlib/$platform/lib/librustc-stable_rt.asan.a

# The flag needs a nightly compiler. With this variable a stable compiler accepts it, too.
RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=1 cargo build --release --locked --lib --target "$platform" --target-dir "$out"

# Cached blocks would hide accesses to freed memory. The tests ask for more memory than there is, and skip measurements of the process under
# a checker.
export TH_CACHE_LIMIT=0 THORN_UNDER_VALGRIND=1 ASAN_OPTIONS=allocator_may_return_null=1

# build NAME SOURCE OPTION...: builds a program with the library in it.
build() {
    local name=$1 source=$2
    shift 2
    "${CC:-cc}" -std=gnu99 -g -Ic_tests -Iinclude "-DCORPUS=\"$PWD/files/corpus\"" "-DPROGRAMS=\"$PWD/tests/data/programs\"" "$@" "$source" "$out/$platform/release/libthorn.a" -o "$out/$name" \
        -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive -Wl,--export-dynamic -lm -lpthread -ldl -lrt
}

failed=0
# check NAME ARGUMENT...: runs the program.
check() {
    local name=$1
    shift
    if "$out/$name" "$@" >"$out/$name.log" 2>&1; then
        echo "ok      $name"
    else
        echo "FAILED  $name: $out/$name.log"
        failed=1
    fi
}

for source in c_tests/test_*"$word"*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    # These tests define malloc, and so does the sanitizer.
    if grep -q '"\(refuse\|refuse_each\|nomem\)\.h"' "$source"; then continue; fi
    build "$name" "$source"
    check "$name"
done
if [[ sequences == *"$word"* ]]; then
    python3 -B scripts/sequences.py "$out/sequences.d/calls.h"
    build sequences c_tests/sequences/sequences.c -O1 -I"$out/sequences.d"
    check sequences --calls "$calls" --seed "$seed"
    tail -n 2 "$out/sequences.log"
fi
exit $failed
