#!/usr/bin/env bash
# Installs the Debian packages into an empty Debian by apt, as root, and uses them there. The empty system is kept outside of this tree.
# Usage: packages/test/chroot.sh BUILD_DIR FOLDER_OF_PACKAGES; run by scripts/package.sh chroot. THORN_CHROOT names the place of the system.
set -euo pipefail
packages=$(realpath "$2")
cd "$(dirname "$0")/../.."
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
base=${THORN_CHROOT:-/var/cache/thorn}/$release.tar
root=$(mktemp -d)

skip() {
    echo "left out: chroot needs $*"
    exit 0
}

finish() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap finish EXIT

[ "$(id -u)" = 0 ] || skip root
command -v debootstrap >/dev/null || skip debootstrap
if [ ! -f "$base" ]; then
    mkdir -p "$(dirname "$base")"
    debootstrap --variant=minbase "$release" "$root" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
    rm "$root.log"
    tar -C "$root" -cf "$base.part" .
    mv "$base.part" "$base"
else
    tar -C "$root" -xf "$base"
fi
for file in /etc/resolv.conf /etc/apt/sources.list /etc/apt/apt.conf.d; do
    if [ -e "$file" ]; then cp -r "$file" "$root/$(dirname "$file")/"; fi
done
mount -t proc proc "$root/proc" 2>/dev/null || true

inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }

mkdir "$root/packages"
cp "$packages"/*.deb c_tests/consumer/CMakeLists.txt "$root/packages"
python3 packages/test/examples.py "$root/packages"
inside apt-get -qq update
start=$SECONDS
inside sh -c 'apt-get -qq install -y --no-install-recommends /packages/libthorn0_*.deb /packages/thorn_*.deb >/dev/null'
inside thorn --version
echo "runtime and command installed and used: $((SECONDS - start)) s"
inside sh -c 'apt-get -qq install -y --no-install-recommends /packages/*.deb gcc g++ libc6-dev pkg-config cmake make >/dev/null'
inside sh -ec 'cd /packages
    cc app.c $(pkg-config --cflags --libs thorn) -o app && ./app
    cc app.c $(pkg-config --cflags thorn) $(pkg-config --variable=libdir thorn)/libthorn.a -lm -Wl,--gc-sections -o static && ./static
    c++ -std=c++17 values.cpp $(pkg-config --cflags --libs thorn) -o values && ./values
    printf "find_package(thorn CONFIG REQUIRED)\ntarget_link_libraries(app PRIVATE thorn::thorn)\n" >lines.cmake
    cmake -S . -B build -DTHORN_LINES=/packages/lines.cmake >/dev/null && cmake --build build >/dev/null
    ./build/app && ./build/app_values
    luajit package.lua' >"$root/out"
[ "$(grep -c '3., 3., 3.' "$root/out")" = 12 ] || { cat "$root/out"; exit 1; }
inside sh -c 'apt-get -qq remove -y libthorn0 >/dev/null && ! ls /usr/lib/*/libthorn* 2>/dev/null'
echo "ok: empty $release, $((SECONDS - start)) s with the compilers"
