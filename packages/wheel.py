#!/usr/bin/env python3
"""Writes the Python wheel: the package in python/thorn, the library, the headers, the table of functions and type hints.

    packages/wheel.py INSTALLATION OUT

INSTALLATION is a prefix with the components `runtime` and `devel`. Needs cffi, which parses the declarations once, so that the package is
imported in a few milliseconds.
"""

import base64
import hashlib
import os
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import cffi
import elf
import hints

ROOT = Path(__file__).resolve().parent.parent
# Linkers find the library by this script, because a wheel contains no symbolic links.
LINKER_SCRIPT = "/* GNU ld script */\nINPUT(libthorn.so.0)\n"


def version():
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def declarations():
    """Returns the source of the module with the parsed declarations."""
    declared = cffi.FFI()
    declared.set_source("thorn._cdef", None)
    declared.cdef((ROOT / "src/capi/declarations.h").read_text())
    with tempfile.TemporaryDirectory() as folder:
        return Path(declared.compile(tmpdir=folder)).read_bytes()


def metadata():
    return f"""Metadata-Version: 2.4
Name: thorn
Version: {version()}
Summary: Torch tensors as a plain C library, with NumPy and DLPack
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
License-File: LICENSE-THIRD-PARTY
Requires-Python: >=3.9
Requires-Dist: cffi>=1.15
Provides-Extra: numpy
Requires-Dist: numpy>=1.23; extra == "numpy"
Description-Content-Type: text/markdown

{(ROOT / "docs/guide/src/python.md").read_text()}"""


def files(installed, tag):
    """Returns the content of the wheel by path."""
    found = {f"thorn/{path.name}": path.read_bytes() for path in sorted((ROOT / "python/thorn").glob("*.py"))}
    found["thorn/_cdef.py"] = declarations()
    found["thorn/api.json"] = (ROOT / "src/capi/api.json").read_bytes()
    found["thorn/__init__.pyi"], found["thorn/py.typed"] = hints.stub().encode(), b""
    compile(found["thorn/__init__.pyi"], "__init__.pyi", "exec")
    found["thorn/lib/libthorn.so.0"] = next(installed.glob("lib*/**/libthorn.so.0")).read_bytes()
    found["thorn/lib/libthorn.so"] = LINKER_SCRIPT.encode()
    headers = sorted(path for path in (installed / "include").rglob("*") if path.is_file())
    found |= {f"thorn/include/{path.relative_to(installed / 'include')}": path.read_bytes() for path in headers}
    info = f"thorn-{version()}.dist-info"
    found |= {f"{info}/licenses/{path.name}": path.read_bytes() for path in sorted(ROOT.glob("LICENSE-*"))}
    found[f"{info}/METADATA"] = metadata().encode()
    found[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: packages/wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode()
    return found


def record(content, path):
    """Returns the list of files with their hashes."""
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
             for name, data in content.items()]
    return "\n".join([*lines, f"{path},,", ""]).encode()


def main():
    installed, out = Path(sys.argv[1]), Path(sys.argv[2])
    library = next(installed.glob("lib*/**/libthorn.so.0"))
    major, minor = elf.glibc(library)
    tag = f"manylinux_{major}_{minor}_{elf.machine(library)}"
    content = files(installed, tag)
    path = f"thorn-{version()}.dist-info/RECORD"
    content[path] = record(content, path)
    wheel = out / f"thorn-{version()}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=int(os.environ.get("THORN_COMPRESSION", 9))) as archive:
        for name, data in content.items():
            # A fixed date, so that the same build gives the same wheel.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=archive.compresslevel)
    print(wheel)


if __name__ == "__main__":
    main()
