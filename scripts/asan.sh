#!/usr/bin/env bash
# Runs the C tests on a library built for AddressSanitizer, which sees what valgrind does not: errors inside of objects
# on the stack and of the library, at a speed that allows all cases. Takes some minutes, most of them to build.
#
# Usage: scripts/asan.sh [WORD]
#   WORD     only the tests whose name contains it
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
platform=$(rustc -vV | sed -n 's/^host: //p')
out=${CARGO_TARGET_DIR:-$PWD/target}/asan
runtime=$(rustc --print sysroot)/lib/rustlib/$platform/lib/librustc-stable_rt.asan.a

# The flag is for nightly compilers; this variable lets stable ones take it too.
RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    CARGO_PROFILE_RELEASE_DEBUG=1 cargo build --release --locked --lib --target "$platform" --target-dir "$out"

# Blocks kept for later would hide what is used after it was freed. The tests ask for more memory than there is, and
# skip under a checker what measures the process.
export TH_CACHE_LIMIT=0 THORN_UNDER_VALGRIND=1 ASAN_OPTIONS=allocator_may_return_null=1
failed=0
for source in c_tests/test_*"${1:-}"*.c; do
    name=$(basename "$source" .c)
    # Its malloc and the sanitizer's exclude each other.
    [ "$name" = test_nomem ] && continue
    "${CC:-cc}" -std=gnu99 -g -Ic_tests -Iinclude "$source" "$out/$platform/release/libthorn.a" -o "$out/$name" \
        -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive -Wl,--export-dynamic -lm -lpthread -ldl -lrt
    if "$out/$name" >"$out/$name.log" 2>&1; then
        echo "ok      $name"
    else
        echo "FAILED  $name: $out/$name.log"
        failed=1
    fi
done
exit $failed
