#!/usr/bin/env python3
"""Writes the first programs of README.md, in C, C++ and Lua, and that of docs/guide/src/python.md into a folder, with a main around them.

    packages/test/examples.py FOLDER

Each program prints the tensor of README.md, or that of the page.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()
PYTHON = (ROOT / "docs/guide/src/python.md").read_text()


def block(text, language, word):
    """Returns the first block of the page in this language that contains the word."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return next(found for found in blocks if word in found)


def with_main(code, *includes):
    lines = code.splitlines()
    heads = [line for line in lines if line.startswith("#include")] + [f"#include <{name}>" for name in includes]
    body = [line for line in lines if not line.startswith("#include")]
    return "\n".join([*heads, "int main(void) {", *body, "return first == 3 ? 0 : 1;", "}", ""])


def main():
    folder = Path(sys.argv[1])
    c = block(README, "c", "#include <thorn.h>")
    (folder / "app.c").write_text(with_main(c, "stdio.h"))
    (folder / "app.cpp").write_text(with_main(c, "stdio.h"))
    (folder / "values.cpp").write_text(with_main(block(README, "cpp", "#include <thorn.hpp>")))
    (folder / "package.lua").write_text(block(README, "lua", 'require "thorn"'))
    (folder / "five.py").write_text(block(PYTHON, "python", "import thorn"))
    (folder / "five.txt").write_text(PYTHON[PYTHON.index("import thorn"):].partition("```text\n")[2].partition("```")[0])


if __name__ == "__main__":
    main()
