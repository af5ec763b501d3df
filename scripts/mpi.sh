#!/usr/bin/env bash
# Compiles the programs of c_tests/mpi, examples/mpi and the guide with one MPI's compiler, and runs them with 1, 2 and 4 ranks on this
# machine. Each run has a time limit, and a program that hangs fails. Tests with GPU tensors also run on the emulated driver, if
# scripts/cuda_emu.sh has built it. Exits with 77 if that MPI is missing.
#
# Usage: scripts/mpi.sh openmpi|mpich [--valgrind | --asan] [WORD]
#   --valgrind  runs the tests with 2 ranks under valgrind
#   --asan      runs them with 2 ranks, compiled for AddressSanitizer
# WORD        only the programs whose names contain it
#
# THORN_LIB is the library, build/lib/libthorn.so if not set.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n 's/^# Usage: /usage: /p' "$0" >&2
    exit 2
}

mpi=${1:-} mode=plain word=
shift || usage
for argument; do
    case $argument in
    --valgrind | --asan) mode=${argument#--} ;;
    -*) usage ;;
    *) word=$argument ;;
    esac
done

# Debian has both MPIs side by side. Elsewhere mpicc belongs to the installed one.
case $mpi in
openmpi) banner="Open MPI\|OpenRTE" ;;
mpich) banner="HYDRA\|mpich" ;;
*) usage ;;
esac
cc=mpicc.$mpi cxx=mpicxx.$mpi run=mpirun.$mpi
if ! command -v "$cc" >/dev/null && command -v mpirun >/dev/null && mpirun --version 2>&1 | grep -qi "$banner"; then
    cc=mpicc cxx=mpicxx run=mpirun
fi
if ! command -v "$cc" >/dev/null || ! command -v "$run" >/dev/null; then
    echo "mpi: $mpi is not installed"
    exit 77
fi
if [ "$mode" = valgrind ] && ! command -v valgrind >/dev/null; then
    echo "mpi: valgrind is not installed"
    exit 77
fi

library=$(realpath "${THORN_LIB:-build/lib/libthorn.so}")
out=${CARGO_TARGET_DIR:-$PWD/target}/mpi/$mpi-$mode
mkdir -p "$out"
# The library, under the name that the linker uses.
ln -sf "$library" "$out/libthorn.so"
ln -sf "$library" "$out/libthorn.so.0"
export LD_LIBRARY_PATH="$out${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" TH_NUM_THREADS=1 TH_CUDA_CACHE=
# Allows more ranks than cores, and running as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1

warnings=(-Wall -Wextra -pedantic -Werror)
# MPI's C++ bindings, which were removed from the standard, would cause warnings.
without_bindings=(-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
flags=(-g -O1 -Iinclude -Ic_tests/mpi)
[ "$mode" != asan ] || flags+=(-fsanitize=address)

failed=0
# report NAME LOG COMMAND...: runs a command with its output in a file, and prints the outcome.
report() {
    local name=$1 log=$2
    shift 2
    if "$@" >"$log" 2>&1; then
        echo "ok      $name"
    else
        echo "FAILED  $name ($?): $log"
        tail -n 40 "$log" | sed 's/^/    /'
        failed=1
    fi
}

# build NAME SOURCE OPTION...: builds a program, unless the existing one is newer than all of its sources.
build() {
    local name=$1 program=$out/$1
    shift
    if [ -e "$program" ]; then
        [ -n "$(find include c_tests/mpi c_tests/check.h examples "$1" -name '*.[ch]' -newer "$program" -print -quit)" ] || return 0
    fi
    rm -f "$program"
    "$cc" -std=gnu99 "${warnings[@]}" "${flags[@]}" "$@" -o "$program" -L"$out" -lthorn -lm -lpthread
}

# with COUNT: the number of ranks in words.
with() { if [ "$1" = 1 ]; then echo "1 rank"; else echo "$1 ranks"; fi; }

# ranks COUNT LIMIT PROGRAM...: runs a program with COUNT ranks for at most LIMIT seconds.
before=()
ranks() {
    local count=$1 limit=$2
    shift 2
    timeout --kill-after=5 "$limit" "$run" -np "$count" "${before[@]}" "$@" </dev/null
}

wanted() { [[ $1 == *"$word"* ]]; }

# Background jobs for compilations, as many as there are cores.
jobs=()
later() {
    if [ ${#jobs[@]} -ge "$(nproc)" ]; then
        wait "${jobs[0]}" || failed=1
        jobs=("${jobs[@]:1}")
    fi
    "$@" &
    jobs+=($!)
}
all_built() {
    local job
    for job in "${jobs[@]}"; do wait "$job" || failed=1; done
    jobs=()
}

tests=()
for source in c_tests/mpi/test_*.c; do
    name=$(basename "$source" .c)
    wanted "$name" && tests+=("$name")
done
# The second source file of a test.
also_test_errors=c_tests/mpi/second.c
# Tests with a case for GPUs, tests of all calls with a timeout, and tests whose loops must be shortened.
on_gpus=" test_messages test_collectives test_parts test_halo test_mpi_files test_gradients "
with_timeouts=" test_messages test_collectives test_parts test_halo test_gradients test_sparse test_shards "
of_counts=" test_types test_messages test_collectives test_parts test_halo test_mpi_files test_gradients test_memory "

for name in "${tests[@]}"; do
    also=also_$name
    later build "$name" "c_tests/mpi/$name.c" ${!also:+"${!also}"}
done

case $mode in
valgrind)
    all_built
    # The cache would hide accesses to freed memory. MPI's own memory is not checked.
    export TH_CACHE_LIMIT=0 THORN_UNDER_VALGRIND=1
    suppressions=(--suppressions=c_tests/mpi/$mpi.supp)
    for file in /usr/share/openmpi/openmpi-valgrind.supp; do
        [ ! -e "$file" ] || suppressions+=("--suppressions=$file")
    done
    for name in "${tests[@]}"; do
        report "$name under valgrind" "$out/$name.log" ranks 2 300 valgrind --quiet --num-callers=40 --leak-check=full \
            --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=99 \
            "${suppressions[@]}" "$out/$name"
    done
    exit $failed
    ;;
asan)
    all_built
    # valgrind checks for leaks, because libraries that MPI has unloaded have no name for a suppression here.
    export TH_CACHE_LIMIT=0 THORN_UNDER_VALGRIND=1 ASAN_OPTIONS=detect_leaks=0
    for name in "${tests[@]}"; do
        report "$name for AddressSanitizer" "$out/$name.log" ranks 2 120 "$out/$name"
    done
    exit $failed
    ;;
esac

if [ "$mpi" = mpich ]; then
    build yield.so c_tests/mpi/yield.c -shared -fPIC -ldl
    before=(env "LD_PRELOAD=$out/yield.so")
fi

# The header alone compiles without warnings in C99 and C++11, also with extra warnings.
if wanted header; then
    cat >"$out/header.c" <<<'#include "thorn_mpi.h"
#include "thorn_mpi.h"
int main(void) { return 0; }'
    strict=("${warnings[@]}" -Wshadow -Wconversion -fsyntax-only -Iinclude)
    report "header in C99" "$out/header.log" "$cc" -std=c99 "${strict[@]}" -Wstrict-prototypes "$out/header.c"
    report "header in C++11" "$out/header.log" "$cxx" -std=c++11 "${strict[@]}" "${without_bindings[@]}" -x c++ "$out/header.c"
fi

for name in "${tests[@]}"; do
    [[ $of_counts != *" $name "* ]] || later build "$name.counts" "c_tests/mpi/$name.c" -O0 -DTH_MPI_COUNT_MAX=3
done
emulator=${CARGO_TARGET_DIR:-$PWD/target}/cuda_emu/lib
gpu_tests=()
for name in "${tests[@]}"; do
    [[ $on_gpus == *" $name "* && -e $emulator/libcuda.so.1 ]] || continue
    gpu_tests+=("$name")
    later build "$name.aware" "c_tests/mpi/$name.c" -O0 -DTH_MPI_CUDA_AWARE=1
done
examples=()
for source in examples/mpi/*.c; do
    name=$(basename "$source" .c)
    wanted "example:$name" || continue
    examples+=("$name")
    later build "example_$name" "$source" -O2
done
if wanted gone; then later build gone c_tests/mpi/gone.c; fi
if wanted cxx; then
    later "$cxx" -std=c++11 "${warnings[@]}" "${flags[@]}" "${without_bindings[@]}" c_tests/mpi/cxx.cpp -o "$out/cxx" -L"$out" -lthorn
fi
all_built

for name in "${tests[@]}"; do
    for count in 1 2 4; do
        report "$name with $(with $count)" "$out/$name.$count.log" ranks $count 120 "$out/$name"
    done
    if [[ $of_counts == *" $name "* ]]; then
        report "$name with 2 ranks and small counts" "$out/$name.counts.log" ranks 2 120 "$out/$name.counts"
    fi
    # With a timeout, all calls of MPI are nonblocking.
    if [[ $with_timeouts == *" $name "* ]]; then
        report "$name with 2 ranks and a timeout" "$out/$name.late.log" ranks 2 120 env THORN_MPI_TIMEOUT=90 "$out/$name"
    fi
done
if wanted cxx; then report "cxx with 2 ranks" "$out/cxx.log" ranks 2 120 "$out/cxx"; fi

# GPUs whose memory the host cannot access, and then an MPI that can access it. Work stays in its stream until a caller waits for it.
for name in "${gpu_tests[@]}"; do
    gpu=(env "LD_LIBRARY_PATH=$out:$emulator" THORN_EMU_ASYNC=1)
    mapfile -t cases < <(sed -n 's/^static void \(tensors_on_gpus_[a-z_]*\)(.*/\1/p' "c_tests/mpi/$name.c")
    report "$name on a GPU" "$out/$name.gpu.log" ranks 2 120 "${gpu[@]}" THORN_EMU_PROTECT=1 THORN_MPI_GPU=1 "$out/$name" "${cases[@]}"
    report "$name on a GPU that MPI can reach" "$out/$name.aware.log" ranks 2 120 "${gpu[@]}" THORN_MPI_GPU=1 "$out/$name.aware" \
        "${cases[@]}"
done

arguments_digits=examples/data/digits.csv
for name in "${examples[@]}"; do
    arguments=arguments_$name
    for count in 1 2 4; do
        report "example:$name with $(with $count)" "$out/example_$name.$count.log" ranks $count 120 "$out/example_$name" \
            ${!arguments:+"${!arguments}"}
    done
done

if wanted guide && command -v python3 >/dev/null; then
    report "programs of the guide" "$out/guide.log" env PYTHONPATH=scripts python3 -B -m guide.mpi --library "$library" --cc "$cc" \
        --run "$run"
fi

# If a rank ends early, mpirun or MPI must notice.
if wanted gone; then
    for way in "" receive; do
        code=0
        ranks 2 20 "$out/gone" ${way:+"$way"} >"$out/gone.log" 2>&1 || code=$?
        if [ $code = 0 ] || [ $code = 124 ] || [ $code = 137 ]; then
            echo "FAILED  a rank that is gone ($code): $out/gone.log"
            failed=1
        else
            echo "ok      a rank that is gone${way:+, to a $way}"
        fi
    done
fi
exit $failed
