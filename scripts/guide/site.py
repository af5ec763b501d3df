"""Builds the site: `python3 -m guide.site --tools FOLDER --to build/site`, as scripts/site.sh calls it.

The site has the front page from README.md, the guide, the other pages of docs, and the reference of the headers. It needs no server: the
pages can be opened as files.
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from . import book, reference, web
from .pages import ROOT, Fault

STYLE = ROOT / "docs" / "site"
BOOK = """[book]
title = "thorn"
description = "Torch tensors as a plain C library"
language = "en"
src = "src"

[build]
create-missing = false

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
no-section-label = true
additional-css = ["book.css"]
input-404 = ""

[output.html.print]
enable = false

[output.html.fold]
enable = true

[output.html.search.chapter]
"benchmarks.md" = { enable = false }
"files" = { enable = false }
"""
# The smallest number of links from the guide to the reference: fewer mean that names are not found.
LEAST_NAMES = 2000


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode or "warning" in (done.stdout + done.stderr).lower():
        raise Fault(f"{Path(command[0]).name} fails:\n{done.stdout}{done.stderr}")


def build_book(mdbook, site, work):
    """The pages in Markdown. Returns the number of pages."""
    count = book.write(work / "src")
    (work / "src" / "reference.md").write_text(reference.page())
    (work / "book.toml").write_text(BOOK)
    shutil.copy(STYLE / "book.css", work)
    run(mdbook, "build", "--dest-dir", site, work)
    return count


def build_reference(tools, site, work):
    """Doxygen's pages. Returns their number."""
    work.mkdir(parents=True)
    shutil.copy(next(tools.glob("lib/python*/site-packages/doxygen_awesome_css/doxygen-awesome.css")), work)
    reference.write_reference(site / "reference", work)
    return len(list((site / "reference").glob("*.html")))


def build(tools, site, work):
    begin = time.monotonic()
    for folder in (site, work):
        shutil.rmtree(folder, ignore_errors=True)
    pages = build_book(tools / "bin" / "mdbook", site, work / "book")
    references = build_reference(tools, site, work / "reference")
    names = web.link_names(site, reference.names(work / "reference"))
    if names < LEAST_NAMES:
        raise Fault(f"only {names} names of functions are links to the reference")
    broken, links = web.broken_links(site)
    if broken:
        raise Fault("\n".join(["links that lead nowhere:", *broken[:40], f"{len(broken)} of {links}"]))
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    return (f"{pages} pages and {references} pages of the reference, {names} names that link to it, {links} links hold, "
            f"{size / 1e6:.1f} MB, {time.monotonic() - begin:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=Path, help="a virtual environment with docs/site/requirements.txt")
    parser.add_argument("--to", required=True, type=Path, help="the folder of the site, which is replaced")
    arguments = parser.parse_args()
    try:
        site = arguments.to.resolve()
        print(f"site: {build(arguments.tools.resolve(), site, site.with_name(site.name + '.work'))}")
    except Fault as fault:
        sys.exit(f"site: {fault}")


if __name__ == "__main__":
    main()
