"""Pictures of the guide. Each is made by a program, and the test of the guide compares the stored file with the program's output.

docs/guide/pictures/NAME.c prints NAME.svg. The programs of the pages write the other pictures as files in their folder.
"""

import re
import tempfile
from pathlib import Path

from .pages import ROOT, SOURCE, Fault, Page, read
from .programs import Program, Tools, environment, run

PROGRAMS = ROOT / "docs" / "guide" / "pictures"
SUFFIXES = (".svg", ".png")
# The largest size of a picture in bytes.
MOST = 30_000


def stored():
    return sorted(path for path in SOURCE.iterdir() if path.suffix in SUFFIXES)


def programs_of_pictures():
    """The programs that print pictures. The output of a program is the stored picture."""
    helper = (PROGRAMS / "svg.h").read_text()
    for path in sorted(PROGRAMS.glob("*.c")):
        goal = SOURCE / f"{path.stem}.svg"
        text = path.read_text().replace('#include "svg.h"\n', f'{helper}#line 3 "{path.name}"\n')
        yield Program(read(path), "c", text, 1, goal.read_text() if goal.exists() else "")


def write(library, cc):
    """Writes the pictures that docs/guide/pictures prints."""
    with tempfile.TemporaryDirectory() as work:
        tools = Tools(library, Path(work), cc, None, None, None)
        for program in programs_of_pictures():
            out = run(tools.command(program, Path(work)), work, program.place, environment(tools.library))
            (SOURCE / f"{program.page.path.stem}.svg").write_text(out)


def compare(folder, program, store=False, kept=SOURCE):
    """Compares the pictures that a program has written into a folder with the stored ones, or stores them."""
    for name in sorted(set(program.page.links())):
        written, goal = folder / name, kept / name
        if goal.suffix not in SUFFIXES or not written.exists():
            continue
        if store:
            goal.write_bytes(written.read_bytes())
        elif not goal.exists() or written.read_bytes() != goal.read_bytes():
            raise Fault(f"{program.place}: the program writes another picture than {name}; scripts/guide.py --write stores the picture")


def check_refusal():
    """Checks that a picture which differs from the stored one is reported."""
    with tempfile.TemporaryDirectory() as work:
        for name, text in (("stored", "<svg/>"), ("written", "<svg></svg>")):
            (Path(work) / name).mkdir()
            (Path(work) / name / "picture.svg").write_text(text)
        program = Program(Page(ROOT / "wrong.md", "", [], "![](picture.svg)"), "c", "", 1, "")
        try:
            compare(Path(work) / "written", program, kept=Path(work) / "stored")
        except Fault:
            return
    raise Fault("a picture that differs from the stored one passes")


def check_structure(pages):
    """Each picture must have a program, a page with an alternative text, and a size that pages load quickly."""
    for path in stored():
        writers = [page.name for page in pages for block in page.blocks if f'"{path.name}"' in block.text]
        if not (PROGRAMS / f"{path.stem}.c").exists() and not writers:
            raise Fault(f"{path.name}: no program of the guide makes this picture")
        if not any(re.search(rf"!\[[^\]]+\]\({path.name}\)", page.prose) for page in pages):
            raise Fault(f"{path.name}: no page shows this picture with a text in place of it")
        if path.stat().st_size > MOST:
            raise Fault(f"{path.name}: {path.stat().st_size} bytes, more than {MOST}")
