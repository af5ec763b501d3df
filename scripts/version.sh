#!/usr/bin/env bash
# Gives the next release its version: scripts/version.sh 0.2.0. Changes each place that names the version, and the generated files.
# CHANGELOG.md is left to its author.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
new=${1:-}
if ! [[ $new =~ ^([0-9]+)\.([0-9]+)\.([0-9]+)$ ]]; then
    echo "version.sh: the version has three numbers, as 0.2.0" >&2
    exit 2
fi
major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]} patch=${BASH_REMATCH[3]}
old=$(sed -n 's/^version = "\(.*\)"/\1/p;T;q' Cargo.toml)
short=$major.$minor before=${old%.*}

# change FILE EXPRESSION...: edits a file, and fails if nothing changes.
change() {
    local file=$1 text
    shift
    text=$(sed -E "${@/#/-e}" "$file" && echo .)
    if [ "$old" != "$new" ] && [ "$text" = "$(cat "$file" && echo .)" ]; then
        echo "version.sh: $file does not name version $old" >&2
        exit 1
    fi
    printf %s "${text%.}" >"$file"
}

for manifest in Cargo.toml {blocks,files,lapack,command}/Cargo.toml; do
    change "$manifest" "s/^version = \"$old\"/version = \"$new\"/" "s/^(thorn[a-z-]* = \{ version = )\"$old\"/\1\"$new\"/"
done
change src/api/functions/general.rs "s/(TH_VERSION_MAJOR: c_int = )[0-9]+/\1$major/" "s/(TH_VERSION_MINOR: c_int = )[0-9]+/\1$minor/" \
    "s/(TH_VERSION_PATCH: c_int = )[0-9]+/\1$patch/" "s/such as \`\"$old\"\`/such as \`\"$new\"\`/"
change docs/guide/src/embedding.md "s/^thorn $old$/thorn $new/"
change README.md "s/thorn $before/thorn $short/" "s/version is $old/version is $new/"
change packages/vcpkg/vcpkg.json "s/\"version\": \"$old\"/\"version\": \"$new\"/"
change packages/homebrew/thorn.rb "s/thorn-$old\.tar/thorn-$new.tar/"
if [ "$before" != "$short" ]; then
    git mv "lua/thorn-$before-1.rockspec" "lua/thorn-$short-1.rockspec"
    change "lua/thorn-$short-1.rockspec" "s/\"$before-1\"/\"$short-1\"/"
    change docs/guide/src/packages.md "s/thorn-$before-1/thorn-$short-1/"
fi
cargo update --quiet --workspace
(cd files/fuzz && cargo update --quiet --workspace)
scripts/header.sh
echo "The version is $new. It was $old."
