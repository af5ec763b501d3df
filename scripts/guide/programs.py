"""Builds programs from the blocks of a page, compiles and runs them, and compares their output with the page."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .pages import ROOT, Block, Fault, Page

COMPILED = {"c": "c", "cpp": "cpp"}
SCRIPTS = ("lua", "python")
# Words after the language of a block whose program needs more than the library. scripts/mpi.sh runs these programs by guide/mpi.py.
MARKS = ("mpi", "nccl")

# Linked with every program in C and C++: a program that ends with live memory fails.
LEAKS = """
#include <stdio.h>
#include <thorn.h>
#include <unistd.h>

__attribute__((destructor)) static void check_live_bytes(void) {
    long long bytes = THMemory_liveBytes();
    if (bytes == 0) return;
    fflush(stdout);
    fprintf(stderr, "%lld bytes are still in use at the end\\n", bytes);
    _exit(3);
}
"""


@dataclass
class Program:
    page: object
    language: str
    text: str
    line: int  # the line of its first block in the page
    output: str  # the output that the page shows

    @property
    def place(self):
        return f"{self.page.name}:{self.line}"


def printed(blocks):
    return "".join(block.output or "" for block in blocks)


def at_line(page, block):
    """The text of a block with a line directive, so that the compiler names the lines of the page."""
    return f'#line {block.line} "{page.path.name}"\n{block.text}'


def compiled(page, blocks):
    """Programs from blocks in C or C++: each block with a main is a program, and the others form one, in order."""
    programs = [Program(page, b.language, at_line(page, b), b.line, printed([b])) for b in blocks if "int main(" in b.text]
    parts = [block for block in blocks if "int main(" not in block.text]
    if not parts:
        return programs
    includes, outside, inside = [], [], []
    for block in parts:
        lines = block.text.splitlines()
        includes += [line for line in lines if line.startswith("#include")]
        block.text = "\n".join("" if line.startswith("#include") else line for line in lines) + "\n"
        (outside if "file" in block.words else inside).append(at_line(page, block))
    text = "\n".join([*includes, *outside, "int main(void) {", *inside, "return 0;", "}", ""])
    return [*programs, Program(page, parts[0].language, text, parts[0].line, printed(parts))]


def script(page, blocks):
    """One program from blocks in a language without a compiler. Blocks keep the line numbers of the page."""
    lines = []
    for block in blocks:
        lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
    return [Program(page, blocks[0].language, "\n".join(lines) + "\n", blocks[0].line, printed(blocks))]


def of_page(page, mark=None):
    """The programs of a page from the blocks with this mark, or without a mark."""
    programs = []
    for language in (*COMPILED, *SCRIPTS):
        marked = lambda block: next((word for word in block.words if word in MARKS), None)
        blocks = [block for block in page.blocks if block.language == language and marked(block) == mark]
        if blocks:
            programs += (compiled if language in COMPILED else script)(page, blocks)
    return programs


class Tools:
    """The library, the compilers, the interpreters, and the command prefix for programs."""

    def __init__(self, library, work, cc, cxx, luajit, python, launch=()):
        self.library, self.work, self.launch = Path(library).resolve(), work, launch
        self.cc, self.cxx, self.luajit, self.python = cc, cxx, luajit, python
        self.include = str(ROOT / "include")
        (work / "leaks.c").write_text(LEAKS)
        run([cc, "-O1", "-c", f"-I{self.include}", "leaks.c", "-o", "leaks.o"], work, "leaks.c")

    def missing(self, language):
        return {"lua": not self.luajit, "python": not self.python}.get(language, False)

    def compile(self, program, source, goal):
        compiler, standard = (self.cc, "c99") if program.language == "c" else (self.cxx, "c++17")
        flags = [f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-pthread"]
        link = [str(self.work / "leaks.o"), str(self.library), f"-Wl,-rpath,{self.library.parent}", "-lm"]
        run([compiler, *flags, f"-I{self.include}", str(source), "-o", str(goal), *link], self.work, program.place)
        return [str(goal)]

    def command(self, program, folder):
        source = folder / f"program.{ {'python': 'py'}.get(program.language, program.language) }"
        source.write_text(program.text)
        if program.language in COMPILED:
            return [*self.launch, *self.compile(program, source, folder / "program")]
        return [self.luajit if program.language == "lua" else self.python, str(source)]


def environment(library):
    """The environment variables by which interpreters find the library and the packages for LuaJIT and Python."""
    extra = {
        "THORN_LIB": str(library),
        "LD_LIBRARY_PATH": str(Path(library).parent),
        "LUA_PATH": f"{ROOT}/lua/?.lua;;",
        "PYTHONPATH": f"{ROOT}/python",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TH_NUM_THREADS": "2",
    }
    return {**os.environ, **extra}


def run(command, folder, place, env=None):
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise Fault(f"{place}: {Path(command[0]).name} ends with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(tools, program, name):
    """Compiles and runs the program in a separate folder with the example data, and compares its output."""
    folder = tools.work / name
    folder.mkdir()
    for data in (ROOT / "examples" / "data").iterdir():
        (folder / data.name).symlink_to(data)
    out = run(tools.command(program, folder), folder, program.place, environment(tools.library))
    strip = lambda text: re.sub(r"[ \t]+$", "", text, flags=re.M).rstrip("\n")
    if strip(out) != strip(program.output):
        raise Fault(f"{program.place}: the {program.language} program prints\n{out}\nand not\n{program.output}")


# C statements that must not pass, by their fault, each with the output that is claimed.
WRONG = {
    "does not compile": ("THTensor *t = 1;", ""),
    "gives a warning": ("int unused = 1;", ""),
    "prints something else": ('puts("2");', "1\n"),
    "prints more": ('puts("1"); puts("2");', "1\n"),
    "frees too little": ("THTensor *t = THTensor_new(); THTensor_zero(t);", ""),
    "fails": ("return 1;", ""),
}


def check_refusals(tools):
    """Checks that wrong programs are reported as faults."""
    for number, (problem, (statements, output)) in enumerate(WRONG.items()):
        block = Block(["c"], f"#include <stdio.h>\n#include <thorn.h>\n{statements}\n", 1, output)
        page = Page(ROOT / "wrong.md", "", [block], "")
        try:
            check(tools, of_page(page)[0], f"wrong{number}")
        except Fault:
            continue
        raise Fault(f"a program that {problem} passes")
