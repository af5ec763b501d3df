"""The pages of the built site: names of functions become links to the reference, and a check that links lead somewhere."""

import html
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

NAME = re.compile(r"\b(?:th::)?\w+")
TAG = re.compile(r"(<[^>]*>)")
# Elements whose text is left alone: links have a target, and scripts are no text.
CLOSED = ("a", "script", "style", "title")


def with_names(text, names, prefix):
    """The page with links at the names of functions in its code. `prefix` leads to the reference."""
    pieces, inside, code = [], [], 0
    for piece in TAG.split(text):
        if piece.startswith("<"):
            tag = re.match(r"</?(\w*)", piece).group(1)
            if tag in CLOSED:
                inside = inside[:-1] if piece.startswith("</") else [*inside, tag]
            elif tag == "code":
                code += -1 if piece.startswith("</") else 1
        elif code and not inside:
            piece = NAME.sub(lambda found: link(found.group(), names, prefix), piece)
        pieces.append(piece)
    return "".join(pieces)


def link(name, names, prefix):
    return f'<a class="name" href="{prefix}{names[name]}">{name}</a>' if name in names else name


def link_names(site, names):
    """Links the names in all pages except the reference. Returns the number of links."""
    count = 0
    for path in site.rglob("*.html"):
        if path.is_relative_to(site / "reference"):
            continue
        prefix = os.path.relpath(site / "reference", path.parent) + "/"
        text = with_names(path.read_text(), names, prefix)
        count += text.count('<a class="name"')
        path.write_text(text)
    return count


class Reader(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def broken_links(site):
    """The links of the site that lead to no file or to no anchor, as texts, and the number of links to pages of the site."""
    pages = {path.resolve(): Reader(path.read_text(errors="replace")) for path in Path(site).rglob("*.html")}
    broken, count = [], 0
    for path, page in pages.items():
        for target in sorted(page.links):
            if re.match(r"[a-z]+:|//", target):
                continue
            count += 1
            file, _, anchor = html.unescape(target).partition("#")
            goal = (path.parent / unquote(file.partition("?")[0])).resolve() if file else path
            if not goal.is_file() or anchor and goal in pages and unquote(anchor) not in pages[goal].anchors:
                broken.append(f"{path.relative_to(site)}: {target}")
    return broken, count
