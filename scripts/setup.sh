#!/usr/bin/env bash
# Installs the packages for building and testing that this machine lacks, by apt as root or with sudo. Otherwise lists the missing ones.
# Prints nothing if nothing is missing. Usage: scripts/setup.sh [demo]; `demo` leaves out packages that only the tests need.
set -euo pipefail

PATH="$PATH:$HOME/.cargo/bin"
goal=${1:-test}

fail() {
    echo "setup: $*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null; }

# command:package
tools=(cmake:cmake cc:build-essential c++:build-essential make:build-essential luajit:luajit)
if [ "$goal" = test ]; then
    tools+=(valgrind:valgrind gdb:gdb pkg-config:pkg-config nm:binutils readelf:binutils diff:diffutils doxygen:doxygen)
    tools+=(luarocks:luarocks)
    # The library for ARM.
    if [ "$(uname -m)" = x86_64 ]; then tools+=(aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user); fi
    # Both of Debian's MPIs; scripts/mpi.sh runs with each.
    tools+=(mpirun.openmpi:openmpi-bin mpicc.openmpi:libopenmpi-dev mpirun.mpich:mpich mpicc.mpich:libmpich-dev)
fi

packages() {
    local tool
    for tool in "${tools[@]}"; do
        has "${tool%%:*}" || echo "${tool##*:}"
    done | sort -u
    # The guide's lines for cffi run with this interpreter or the system's; apt installs cffi for the latter.
    if [ "$goal" = test ] && ! python3 -c 'import cffi' 2>/dev/null && ! /usr/bin/python3 -c 'import cffi' 2>/dev/null; then
        echo python3-cffi
    fi
    # scripts/site.sh makes a virtual environment.
    if [ "$goal" = test ] && ! python3 -c 'import ensurepip' 2>/dev/null; then
        echo python3-venv
    fi
    # examples/python needs NumPy in the same way.
    if [ "$goal" = test ] && ! python3 -c 'import numpy' 2>/dev/null && ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        echo python3-numpy
    fi
    # A BLAS to test THSetBlas.
    if [ "$goal" = test ] && ! /sbin/ldconfig -p | grep -qF libopenblas.so.0; then
        echo libopenblas0-pthread
    fi
}

install() {
    local as=()
    if [ "$(id -u)" != 0 ]; then
        if ! has sudo || ! sudo -n true 2>/dev/null; then fail "please install: $*"; fi
        as=(sudo -n)
    fi
    has apt-get || fail "please install: $*"
    echo "setup: installing $*"
    local apt=("${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
    "${apt[@]}" update || echo "setup: apt-get update failed, trying with the lists at hand" >&2
    "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null || fail "apt-get could not install: $*"
}

mapfile -t missing < <(packages)
if [ ${#missing[@]} -gt 0 ]; then
    install "${missing[@]}"
    mapfile -t missing < <(packages)
    [ ${#missing[@]} -eq 0 ] || fail "still missing after the installation: ${missing[*]}"
fi

has cargo || fail "Rust is missing; get it with
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh
or see https://rustup.rs"
if [ "$goal" = test ]; then
    for component in fmt:rustfmt clippy:clippy; do
        if cargo "${component%%:*}" --version >/dev/null 2>&1; then continue; fi
        if ! has rustup || ! rustup --quiet component add "${component##*:}"; then
            fail "please install ${component##*:} for $(rustc --version)"
        fi
    done
fi
