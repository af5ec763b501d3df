# Functions of scripts/platform.sh and scripts/platform-windows.sh, which set `tools`, a folder that is kept, and `platform`.

# packages PACKAGE...: installs the missing ones.
packages() {
    local missing=() package
    for package in "$@"; do
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
    fi
}

# luajit SYSTEM MAKE-ARGUMENT...: builds the interpreter LuaJIT for the platform, from its source on crates.io.
luajit() {
    local source=$tools/luajit system=$1 name=luajit
    shift
    if [ "$system" = Windows ]; then name=luajit.exe; fi
    [ ! -x "$tools/$platform/$name" ] || return 0
    mkdir -p "$source/src" "$tools/$platform"
    printf '[package]\nname = "sources"\nedition = "2024"\n[workspace]\n[dependencies]\nluajit-src = "210"\n' >"$source/Cargo.toml"
    : >"$source/src/lib.rs"
    (cd "$source" && cargo vendor --quiet >/dev/null)
    rm -rf "$source/build"
    cp -r "$source/vendor/luajit-src/luajit2" "$source/build"
    make -C "$source/build/src" -j "$(nproc)" HOST_CC=gcc TARGET_SYS="$system" BUILDMODE=static "$@" >/dev/null
    mv "$source/build/src/$name" "$tools/$platform/$name"
}
