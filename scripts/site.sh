#!/usr/bin/env bash
# Builds the site into build/site: the front page, the guide, the other pages and the reference. Fails if a link leads nowhere.
# Usage: scripts/site.sh [FOLDER]
#
# Needs cmake, doxygen and Python; docs/site/requirements.txt has the other tools, which pip installs into FOLDER.tools.
# Exits with 77 if they cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

goal=${1:-build/site}
tools=$goal.tools
wanted=docs/site/requirements.txt

if ! cmp -s "$wanted" "$tools/installed"; then
    mkdir -p "$(dirname "$goal")"
    if ! python3 -m venv --clear "$tools" || ! "$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$wanted"; then
        echo "site: left out, because pip could not install $wanted" >&2
        exit 77
    fi
    cp "$wanted" "$tools/installed"
fi
PYTHONPATH=scripts python3 -B -m guide.site --tools "$tools" --to "$goal"
