"""The source of the site's book: the pages of the repository, with links that lead to pages of the book."""

import os
import re
from pathlib import Path

from .pages import ROOT, SOURCE, Fault, read

# The pages after the guide, by parts of the contents. A pattern names all pages that match. The pages of docs/internals are one level
# deeper than their README.md.
PARTS = {
    "Lists": ["docs/lua.md", "docs/lua_dynamic.md", "docs/aten.md"],
    "Numbers": ["docs/benchmarks.md", "docs/benchmarks-cuda.md", "docs/accuracy.md", "docs/mpi.md", "benches/README.md"],
    "Development": ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/abi.md", "docs/design.md", "docs/internals/README.md",
                    "docs/internals/*.md", "c_tests/README.md", "tests/cuda_emu/README.md", "examples/data/README.md"],
}
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".rs": "rust", ".lua": "lua", ".py": "python"}
PICTURES = (".svg", ".png")
# The pages of the book that have another name than in the repository.
RENAMED = {
    "README.md": "index.md",
    "docs/guide/src/README.md": "guide/index.md",
    "docs/guide/src/SUMMARY.md": "guide/index.md",
    "include/thorn.h": "reference.md",
}


def name_in_book(path):
    """The name of a page of the repository in the book. The README.md of a folder has the name of the folder."""
    name = str(path.relative_to(ROOT))
    if name in RENAMED:
        return RENAMED[name]
    name = re.sub(r"^docs/(guide/src/)?", lambda found: "guide/" if found.group(1) else "", name)
    if name.endswith((".md", *PICTURES)):
        return name.replace("/README.md", ".md")
    return f"files/{name}.md"


def title(page):
    """The first heading of a page."""
    found = re.search(r"^# +(.*)$", page.prose, re.M)
    if not found:
        raise Fault(f"{page.name} has no heading")
    return found.group(1)


def with_links(page, used):
    """The text of a page with the links of the book. Adds the files that links name to `used`."""

    def rewritten(found):
        link = found.group(1)
        file, hash, anchor = link.partition("#")
        if not file or ":" in file:
            return found.group()
        target = (page.path.parent / file).resolve()
        if not target.is_file():
            raise Fault(f"{page.name}: the link to {link} leads to no file")
        used.add(target)
        here = os.path.dirname(name_in_book(page.path)) or "."
        return f"]({os.path.relpath(name_in_book(target), here)}{hash}{anchor})"

    lines, fenced = [], False
    for line in page.text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        code = "" if fenced else r"`[^`]*`|"
        lines.append(line if fenced else re.sub(code + r"\]\(([^)\s]+)\)", lambda m: rewritten(m) if m.group(1) else m.group(), line))
    return "\n".join(lines)


def wrapped(path):
    """A page that shows a file."""
    name = path.relative_to(ROOT)
    text = path.read_text()
    fence = "`" * 4
    return f"# {name}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def listed(patterns):
    """The pages that patterns name, each once."""
    found = []
    for pattern in patterns:
        found += [path for path in sorted(ROOT.glob(pattern)) if path not in found]
    return found


def contents(parts, files):
    """SUMMARY.md of the book: the front page, the guide's contents, the other parts."""
    guide = (SOURCE / "SUMMARY.md").read_text().removeprefix("# Summary\n")
    guide = re.sub(r"\]\((\w+)\.md\)", lambda found: f"](guide/{'index' if found.group(1) == 'README' else found.group(1)}.md)", guide)
    lines = ["# Summary", "", "[thorn](index.md)", "[The reference](reference.md)", guide.strip()]
    for part, pages in parts.items():
        lines += ["", f"# {part}", ""]
        for page in pages:
            deep = "  " if page.path.parent.name == "internals" and page.path.name != "README.md" else ""
            lines.append(f"{deep}- [{title(page)}]({name_in_book(page.path)})")
    lines += ["", "# Files", "", *(f"- [{path.relative_to(ROOT)}]({name_in_book(path)})" for path in files)]
    return "\n".join(lines) + "\n"


def write(folder):
    """Writes the source of the book, except reference.md. Returns the number of pages."""
    parts = {part: [read(path) for path in listed(patterns)] for part, patterns in PARTS.items()}
    guide = [read(path) for path in sorted(SOURCE.glob("*.md")) if path.name != "SUMMARY.md"]
    pages = [read(ROOT / "README.md"), *guide, *(page for part in parts.values() for page in part)]
    used = set()
    texts = {name_in_book(page.path): with_links(page, used) for page in pages}
    files = sorted(path for path in used if name_in_book(path).startswith("files/"))
    texts |= {name_in_book(path): wrapped(path) for path in files}
    texts["SUMMARY.md"] = contents(parts, files)
    for name, text in texts.items():
        goal = Path(folder) / name
        goal.parent.mkdir(parents=True, exist_ok=True)
        goal.write_text(text)
    for path in used:
        if path.suffix in PICTURES:
            (Path(folder) / name_in_book(path)).write_bytes(path.read_bytes())
        elif name_in_book(path) not in texts and name_in_book(path) != "reference.md":
            raise Fault(f"{path.relative_to(ROOT)} is linked, but is no page of the book: scripts/guide/book.py")
    return len(texts)
