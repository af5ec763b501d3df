"""Pages of the guide: their blocks of code, headings and links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs" / "guide" / "src"


class Fault(Exception):
    """A fault of the guide, with the page and the line."""


@dataclass
class Block:
    """A fenced block: the words after its fence, its lines, and the number of its first line."""

    words: list
    text: str
    line: int
    output: str = None  # the block ```text that follows, with only blank lines in between

    @property
    def language(self):
        return self.words[0] if self.words else ""


@dataclass
class Page:
    path: Path
    text: str
    blocks: list
    prose: str  # the text without its blocks, line by line

    @property
    def name(self):
        return str(self.path.relative_to(ROOT))

    def anchors(self):
        """The anchors of the page's headings, as mdBook and GitHub make them."""
        headings = re.findall(r"^#+ +(.*?) *$", self.prose, re.M)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def links(self):
        """The targets of links and pictures, except on the web."""
        prose = re.sub(r"`[^`\n]*`", "", self.prose)
        return [target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target]


def read(path):
    text = path.read_text()
    blocks, prose = [], []
    block, adjacent = None, False
    for number, line in enumerate(text.splitlines(), 1):
        if block is None and line.startswith("```"):
            block = Block(line[3:].split(), "", number + 1)
        elif block is not None and line == "```":
            if block.language == "text" and adjacent:
                blocks[-1].output = block.text
            blocks.append(block)
            block, adjacent = None, True
        elif block is not None:
            block.text += line + "\n"
        else:
            adjacent = adjacent and not line.strip()
        prose.append("" if block is not None or line.startswith("```") else line)
    page = Page(path, text, blocks, "\n".join(prose))
    if block is not None:
        raise Fault(f"{page.name}:{block.line - 1}: the block has no end")
    return page


def check_summary(pages):
    """SUMMARY.md must name every page once, and every page that it names must exist."""
    summary = read(SOURCE / "SUMMARY.md")
    named = [SOURCE / target for target in summary.links()]
    twice = {path.name for path in named if named.count(path) > 1}
    there = {page.path for page in pages}
    for problem, paths in (
        ("names twice", twice),
        ("names, but there is no page", {path.name for path in set(named) - there}),
        ("does not name", {path.name for path in there - set(named)}),
    ):
        if paths:
            raise Fault(f"SUMMARY.md {problem}: {', '.join(sorted(paths))}")


def check_links(pages):
    """Links must lead to pages of the guide and to existing headings. Links in README.md may lead to any file of the repository."""
    by_path = {page.path: page for page in pages}
    for page in [*pages, read(ROOT / "README.md")]:
        for link in page.links():
            file, _, anchor = link.partition("#")
            target = (page.path.parent / file).resolve() if file else page.path
            if not target.exists():
                raise Fault(f"{page.name}: the link to {link} leads nowhere")
            if page.path in by_path and SOURCE not in target.parents:
                raise Fault(f"{page.name}: the link to {link} leads out of the book")
            if anchor and anchor not in (by_path[target] if target in by_path else read(target)).anchors():
                raise Fault(f"{page.name}: the link to {link} names no heading there")


def all_pages():
    return [read(path) for path in sorted(SOURCE.rglob("*.md")) if path.name != "SUMMARY.md"]


def check_commands(pages):
    """scripts/install-test.sh must run each block for a shell or CMake, including README.md's, except for scripts/demo.sh. The blocks
    of `console` are not run: they build for other platforms, as scripts/platform.sh does."""
    script = (ROOT / "scripts" / "install-test.sh").read_text()
    run = set()
    for file, language, quoted, plain in re.findall(r'in_page "\$(building|guide/\w+\.md)" (\w+) (?:\'([^\']*)\'|([\w-]+))', script):
        name = "building.md" if file == "building" else file.removeprefix("guide/")
        page = next(page for page in pages if page.path.name == name)
        first = next((block for block in page.blocks if block.words == [language] and (quoted or plain) in block.text), None)
        if not first:
            raise Fault(f"{page.name} has no {language} block with {quoted or plain}, which scripts/install-test.sh runs")
        run.add((page.path, first.line))
    texts = {block.text for page in pages for block in page.blocks if (page.path, block.line) in run}
    for page in pages:
        for block in page.blocks:
            if block.language in ("sh", "cmake") and (page.path, block.line) not in run:
                raise Fault(f"{page.name}:{block.line}: scripts/install-test.sh does not run this block")
    for block in read(ROOT / "README.md").blocks:
        if block.language in ("sh", "cmake") and "scripts/demo.sh" not in block.text and block.text not in texts:
            raise Fault(f"README.md:{block.line}: the guide has no block with these lines")
