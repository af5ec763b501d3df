#!/usr/bin/env python3
"""Writes the Debian packages libthorn0, libthorn-dev, thorn and lua-thorn.

    packages/deb.py INSTALLATION OUT

INSTALLATION is a folder into which all components are installed with the prefix /usr and Debian's library directory. Needs dpkg-dev.
"""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = (ROOT / "Cargo.toml").read_text()
VERSION = re.search(r'^version = "(.*)"', MANIFEST, re.MULTILINE)[1]
MAINTAINER = "The thorn developers <thorn@example.org>"
SUMMARY = "Torch tensors as a plain C library"
DETAILS = """Arrays with any number of dimensions, more than a thousand functions on
them, gradients, sparse tensors and files of tensors. The functions have
the names of Torch."""


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.strip()


ARCHITECTURE = output("dpkg", "--print-architecture")
MULTIARCH = output("dpkg-architecture", "-qDEB_HOST_MULTIARCH")

# The packages: files, section, relations, and what differs from the library's description.
PACKAGES = {
    "libthorn0": {
        "files": [f"usr/lib/{MULTIARCH}/libthorn.so.*"], "section": "libs", "shlibs": True, "title": "shared library",
        "fields": {"Multi-Arch": "same"}},
    "libthorn-dev": {
        "files": ["usr/include/*", f"usr/lib/{MULTIARCH}/*", "usr/share/thorn", "usr/share/gdb"], "section": "libdevel",
        "title": "headers, static library and printers for gdb", "fields": {"Depends": f"libthorn0 (= {VERSION}-1), libc6-dev"}},
    "thorn": {
        "files": ["usr/bin/thorn", "usr/share/man", "usr/share/bash-completion", "usr/share/zsh", "usr/share/fish"], "section": "math",
        "shlibs": True, "title": "command for files of tensors", "fields": {}},
    "lua-thorn": {
        "files": ["usr/share/lua"], "section": "interpreters", "title": "package for LuaJIT", "architecture": "all",
        "fields": {"Depends": f"luajit, libthorn0 (>= {VERSION})"}},
}


def gzipped(path):
    """Replaces a file by a compressed one."""
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()


def copyright_text():
    """Returns the licences as Debian's machine-readable copyright file."""
    mit = (ROOT / "LICENSE-MIT").read_text()
    holder = re.search(r"^Copyright.*", mit, re.MULTILINE)[0].removeprefix("Copyright").replace("(c)", "").strip()
    indented = lambda text: "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.strip().splitlines())
    return f"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: thorn

Files: *
Copyright: {holder}
License: MIT or Apache-2.0
Comment:
 The library contains code of the crates below.
 .
{indented((ROOT / "LICENSE-THIRD-PARTY").read_text())}

License: MIT
{indented(mit)}

License: Apache-2.0
 On Debian systems, the text of the licence is in /usr/share/common-licenses/Apache-2.0.
"""


def dependencies(tree, work):
    """Returns the packages whose libraries the package needs."""
    (work / "debian").mkdir(exist_ok=True)
    (work / "debian/control").write_text(f"Source: thorn\n\nPackage: thorn\nArchitecture: {ARCHITECTURE}\n")
    files = [f"-e{path}" for path in tree.rglob("*") if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]
    text = output("dpkg-shlibdeps", "-O", "--ignore-missing-info", *files, cwd=work)
    return text.removeprefix("shlibs:Depends=")


def move(source, target, patterns):
    """Moves what matches the patterns from one tree to another."""
    for pattern in patterns:
        for path in sorted(source.glob(pattern)):
            to = target / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, to)


def documents(name, tree):
    """Writes /usr/share/doc, as Debian's policy demands."""
    folder = tree / "usr/share/doc" / name
    folder.mkdir(parents=True)
    (folder / "copyright").write_text(copyright_text())
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct", cwd=ROOT)
    date = output("date", "-R", "-u", "-d", f"@{seconds}")
    changes = f"  * Packaged version {VERSION}. CHANGELOG.md lists the changes."
    changes = f"thorn ({VERSION}-1) unstable; urgency=medium\n\n{changes}\n\n -- {MAINTAINER}  {date}\n"
    (folder / "changelog.Debian").write_text(changes)
    gzipped(folder / "changelog.Debian")
    if (ROOT / "CHANGELOG.md").exists():
        shutil.copy(ROOT / "CHANGELOG.md", folder / "changelog")
        gzipped(folder / "changelog")


def control(name, package, tree, work):
    """Writes the control files."""
    folder = tree / "DEBIAN"
    folder.mkdir()
    fields = {
        "Package": name, "Source": "thorn", "Version": f"{VERSION}-1", "Section": package["section"], "Priority": "optional",
        "Architecture": package.get("architecture", ARCHITECTURE), "Maintainer": MAINTAINER,
        "Installed-Size": str(sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir()) // 1024 + 1), **package["fields"]}
    if name == "thorn":
        del fields["Source"]
    if package.get("shlibs"):
        fields["Depends"] = dependencies(tree, work)
    details = "\n".join(f" {line}" for line in DETAILS.splitlines())
    fields["Description"] = f"{SUMMARY}: {package['title']}\n{details}"
    (folder / "control").write_text("".join(f"{field}: {value}\n" for field, value in fields.items()))
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n" for path in sorted(tree.rglob("usr/**/*"))
            if path.is_file() and not path.is_symlink()]
    (folder / "md5sums").write_text("".join(sums))
    if name == "libthorn0":
        (folder / "shlibs").write_text(f"libthorn 0 libthorn0 (>= {VERSION})\n")
        (folder / "triggers").write_text("activate-noawait ldconfig\n")


def arrange(source):
    """Moves and compresses files as Debian has them."""
    for page in source.glob("usr/share/man/man1/*"):
        gzipped(page)
    zsh = source / "usr/share/zsh/site-functions"
    zsh.rename(zsh.parent / "vendor-completions")


def modes(tree):
    for path in [tree, *tree.rglob("*")]:
        if path.is_symlink():
            continue
        executable = path.is_dir() or path.parent.name == "bin"
        path.chmod(0o755 if executable else 0o644)


def main():
    installed, out = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        source = work / "source"
        shutil.copytree(installed, source, symlinks=True)
        arrange(source)
        for name, package in PACKAGES.items():
            tree = work / name
            tree.mkdir()
            move(source, tree, package["files"])
            documents(name, tree)
            control(name, package, tree, work)
            modes(tree)
            file = out / f"{name}_{VERSION}-1_{package.get('architecture', ARCHITECTURE)}.deb"
            subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, file], check=True, stdout=subprocess.DEVNULL)
            print(file)
        shutil.rmtree(source / "usr/share/doc")
        left = [str(path.relative_to(source)) for path in source.rglob("*") if not path.is_dir()]
        if left:
            raise SystemExit(f"deb: no package has {', '.join(left)}")


if __name__ == "__main__":
    main()
