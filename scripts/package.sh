#!/usr/bin/env bash
# Packages of one build: Debian packages, a tar, a Python wheel and a LuaRocks rock, and tests of them.
#
#     scripts/package.sh [--build BUILD_DIR] [--out DIR] [--fast] [PART...]
#
#   deb       libthorn0, libthorn-dev, thorn and lua-thorn
#   tar       thorn-VERSION-linux-PROCESSOR.tar.gz, which works in any folder
#   wheel     the Python package thorn, with the library
#   rock      the LuaJIT package with the library, for luarocks install
#   test      unpacks and uses each package of DIR
#   lintian   checks the Debian packages
#   chroot    installs the Debian packages into an empty Debian, and uses them there
#   recipes   checks the recipes for vcpkg, Conan and Homebrew
#
# Without a part: deb, tar, wheel, rock and test. --fast compresses little, for tests. The build must be complete; the script compiles only
# programs of the tests. A part whose tools are missing is left out with a message.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
build=build
out=
parts=()
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift ;;
    --out) out=$2 && shift ;;
    --fast) export THORN_COMPRESSION=1 DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 ;;
    deb | tar | wheel | rock | test | lintian | chroot | recipes) parts+=("$1") ;;
    --help | -h) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit ;;
    *) echo "package.sh: no part is named $1: scripts/package.sh --help" >&2 && exit 2 ;;
    esac
    shift
done
[ ${#parts[@]} -gt 0 ] || parts=(deb tar wheel rock test)
build=$(realpath "$build")
out=${out:-$build/packages}
mkdir -p "$out"
out=$(realpath "$out")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
processor=$(uname -m)
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "package: $*" >&2
    exit 1
}

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }

has() { command -v "$1" >/dev/null; }

[ -f "$build/lib/libthorn.so.$version" ] || fail "$build has no lib/libthorn.so.$version: build it first"

# stage NAME LIBDIR PREFIX: installs the build into $work/NAME, with another library directory. A second configuration refers to the files
# of the build, so that nothing is compiled.
stage() {
    [ -d "$work/$1" ] && return
    mkdir "$work/$1.build"
    ln -s "$build/lib" "$build/command" "$work/$1.build"
    quietly cmake -S . -B "$work/$1.build" -DCMAKE_INSTALL_PREFIX="$3" -DCMAKE_INSTALL_LIBDIR="$2" -DTHORN_BUILD_TESTS=OFF \
        -DTHORN_BUILD_EXAMPLES=OFF
    DESTDIR=$work/$1 quietly cmake --install "$work/$1.build" --prefix "$3"
}

# Prints a Python that has cffi, if necessary from a virtual environment.
python_with_cffi() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import cffi' 2>/dev/null; then echo "$python" && return; fi
    done
    python3 -m venv "$work/venv" >/dev/null 2>&1 && "$work/venv/bin/pip" install --quiet cffi 2>/dev/null && echo "$work/venv/bin/python"
}

deb() {
    has dpkg-shlibdeps || { echo "left out: deb needs dpkg-dev" && return; }
    rm -f "$out"/*.deb
    stage debian "lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" /usr
    packages/deb.py "$work/debian" "$out"
}

# lintian needs up to a minute.
lintian_() {
    has lintian || { echo "left out: lintian is not installed" && return; }
    lintian --fail-on error --allow-root "$out"/*.deb || fail "lintian"
}

tar_() {
    local name=thorn-$version-linux-$processor
    stage plain lib /opt/thorn
    mkdir "$work/tar"
    cp -a "$work/plain/opt/thorn" "$work/tar/$name"
    # gdb searches this folder by the path of the library.
    rm -r "$work/tar/$name/share/gdb"
    cp README.md "$work/tar/$name/share/doc/thorn"
    # A fixed order, owner and date, so that the same build gives the same archive.
    local date
    date=$(git log -1 --format=%ct 2>/dev/null || echo 0)
    tar -C "$work/tar" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -cf - "$name" |
        gzip -n -"${THORN_COMPRESSION:-9}" >"$out/$name.tar.gz"
    echo "$out/$name.tar.gz"
}

wheel() {
    local python
    has objdump || { echo "left out: wheel needs binutils" && return; }
    python=$(python_with_cffi) || { echo "left out: wheel needs cffi, which pip cannot fetch" && return; }
    rm -f "$out"/*.whl
    stage plain lib /opt/thorn
    "$python" packages/wheel.py "$work/plain/opt/thorn" "$out"
}

# The rock has the modules of the package and the library. The rockspec in lua/ is for an installed library.
rock() {
    local rockspec=thorn-${version%.*}-1.rockspec
    has luarocks || { echo "left out: rock needs luarocks" && return; }
    rm -f "$out"/*.rock
    cp -r lua "$work/lua"
    cp -L "$build/lib/libthorn.so" "$work/lua"
    sed -i 's/^    type = "builtin",/&\n    install = { lib = { ["thorn.libthorn"] = "libthorn.so" } },/' "$work/lua/$rockspec"
    (cd "$work/lua" && quietly luarocks --lua-version 5.1 make --tree "$work/tree" "$rockspec")
    (cd "$out" && quietly luarocks --lua-version 5.1 --tree "$work/tree" pack thorn "${version%.*}-1")
    ls "$out"/*.rock
}

for part in "${parts[@]}"; do
    case $part in
    tar | lintian) "${part}_" ;;
    test | chroot | recipes) bash "packages/test/$part.sh" "$build" "$out" ;;
    *) "$part" ;;
    esac
done
(cd "$out" && ls -l | awk 'NR > 1 { printf "%9.2f MB  %s\n", $5 / 1e6, $9 }')
