"""The reference of the site: Doxygen's pages, which link to the guide, and the names that the guide's pages link to."""

import html
import re
import subprocess
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

from .book import title
from .pages import ROOT, SOURCE, Fault, read

HEADERS = ROOT / "include"
# The text under the name of the project in Doxygen's pages.
BRIEF = "Torch tensors as a plain C library"
# Pages that mention functions of all chapters.
EVERYWHERE = {"SUMMARY", "finding", "numpy", "torch7", "libtorch"}
# A chapter links to at most MOST pages. The first page mentions the most functions of the chapter, and the others at least SHARE times as
# many functions.
SHARE, MOST = 0.5, 3


def chapters():
    """The chapters of thorn.h: label, title, and the functions that they declare."""
    parts = re.split(r"@defgroup (\w+) (.*)", (HEADERS / "thorn.h").read_text())
    for label, name, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        yield label, name, set(re.findall(r"^(?!#)[\w *]*?\b(TH\w+)\(", text, re.M))


def mentioned(page):
    """The names of C's functions that a page mentions, also as functions of C++ and Lua: `th::add(`, `x.add_(` or `thorn.add(`."""
    names = re.findall(r"\bTH\w+", page.text)
    return names + [f"THTensor_{name}" for name in re.findall(r"(?:th::|[\w)]\.)(\w+?)(?:_|_out)?\(", page.text)]


def pages_about(functions, pages):
    """The pages that mention the most functions of a set, in descending order."""
    counted = []
    for page in pages:
        found = Counter(name for name in mentioned(page) if name in functions)
        if found:
            counted.append((len(found), sum(found.values()), page))
    counted.sort(key=lambda entry: entry[:2], reverse=True)
    return [page for count, _, page in counted if count >= SHARE * counted[0][0]][:MOST]


def links():
    """For each chapter of thorn.h: label, title, and the guide's pages about it."""
    pages = [read(path) for path in sorted(SOURCE.glob("*.md"))]
    finding = [page for page in pages if page.path.stem == "finding"]
    pages = [page for page in pages if page.path.stem not in EVERYWHERE]
    return [(label, name, pages_about(functions, pages) or finding) for label, name, functions in chapters()]


def web_name(page):
    return "index" if page.path.stem == "README" else page.path.stem


def page_of(label):
    """Doxygen's page of a chapter."""
    return f"group__{label.replace('_', '__')}.html"


def replace(path, old, new):
    text = path.read_text()
    if old not in text:
        raise Fault(f"{path.name} of the reference has no {old}")
    path.write_text(text.replace(old, new, 1))


def write_reference(folder, work):
    """Runs Doxygen, and adds links to the guide in ../guide: at the head of each page, and to the pages about a chapter."""
    definitions = [f"-DHEADER={HEADERS}/thorn.h", f"-DREADME={ROOT}/README.md", f"-DTO={work}/front.md", "-DGUIDE=../guide"]
    subprocess.run(["cmake", *definitions, "-P", str(ROOT / "cmake/front.cmake")], check=True)
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
    settings = (ROOT / "docs/Doxyfile.in").read_text()
    for name, value in {"PROJECT_SOURCE_DIR": ROOT, "PROJECT_BINARY_DIR": work, "PROJECT_VERSION": version}.items():
        settings = settings.replace(f"@{name}@", str(value))
    settings += "\n".join([
        f"HTML_OUTPUT = {folder}",
        f"HTML_EXTRA_STYLESHEET = {work}/doxygen-awesome.css {ROOT}/docs/site/reference.css",
        f"GENERATE_TAGFILE = {work}/names.xml",
        "HTML_EXTRA_FILES =",
        "",
    ])
    (work / "Doxyfile").write_text(settings)
    subprocess.run(["doxygen", str(work / "Doxyfile")], check=True)
    for label, _, pages in links():
        guide = ", ".join(f'<a href="../guide/{web_name(page)}.html">{html.escape(title(page))}</a>' for page in pages)
        replace(folder / page_of(label), '<div class="contents">', f'<div class="contents">\n<p class="guide">In the guide: {guide}</p>')
    for path in folder.glob("*.html"):
        replace(path, BRIEF, '<a href="../index.html">Front page</a> · <a href="../guide/index.html">Guide</a>')


def names(work):
    """The address of each function, type and constant in the reference. Functions of thorn.hpp have the name `th::add`."""
    found = {}
    for compound in xml.parse(work / "names.xml").getroot():
        space = "th::" if compound.findtext("name") == "th" else ""
        if compound.get("kind") in ("struct", "class"):
            found.setdefault(compound.findtext("name"), compound.findtext("filename"))
        if compound.get("kind") not in ("group", "file", "namespace"):
            continue
        for member in compound.iter("member"):
            at = f"{member.findtext('anchorfile')}#{member.findtext('anchor')}"
            found.setdefault(space + member.findtext("name"), at)
            for value in member.iter("enumvalue"):
                found.setdefault(space + value.text, f"{value.get('file')}#{value.get('anchor')}")
    return {name: at for name, at in found.items() if name.startswith(("TH", "th::"))}


def page():
    """The page of the book that leads to the reference: the chapters of thorn.h with their pages of the guide, and the other headers."""
    lines = ["# The reference", "", "The comments in the headers are the reference: [all pages](reference/index.html). Each chapter of",
             "`thorn.h` links to the pages of the guide that use its functions.", "", "| header | content |", "|---|---|"]
    for name, file in (("thorn.hpp", "namespaceth.html"), ("thorn_mpi.h", "thorn__mpi_8h.html"), ("thorn_nccl.h", "thorn__nccl_8h.html")):
        brief = re.search(r"@brief (.*)", (HEADERS / name).read_text()).group(1)
        lines.append(f"| [`{name}`](reference/{file}) | {brief} |")
    lines += ["", "## Chapters of thorn.h", "", "| chapter | in the guide |", "|---|---|"]
    for label, name, pages in links():
        guide = ", ".join(f"[{title(page)}](guide/{web_name(page)}.md)" for page in pages)
        lines.append(f"| [{name}](reference/{page_of(label)}) | {guide} |")
    return "\n".join(lines) + "\n"
