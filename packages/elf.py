"""What a package must know of a shared library: the processor, and the newest version of glibc that the library refers to."""

import platform
import re
import subprocess


def glibc(*files):
    """Returns the newest version of glibc to which a symbol of the files belongs: (2, 34)."""
    text = "".join(subprocess.run(["objdump", "-T", file], check=True, capture_output=True, text=True).stdout for file in files)
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)\b", text)}
    if not versions:
        raise SystemExit(f"{', '.join(map(str, files))}: no symbol of glibc")
    return max(versions)[:2]


def machine(file):
    """Returns the processor of a file, as in the names of wheels: "x86_64" or "aarch64"."""
    text = subprocess.run(["objdump", "-f", file], check=True, capture_output=True, text=True).stdout
    found = re.search(r"architecture: ([\w:-]+)", text)
    names = {"i386:x86-64": "x86_64", "aarch64": "aarch64"}
    # objdump of another processor knows no name for this file.
    return names.get(found[1] if found else "", platform.machine())
