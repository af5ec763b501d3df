"""Compiles the rows: thorn's with include/thorn.h, libtorch's with the headers of its wheel."""

import ctypes
import hashlib
import os
import re
import subprocess
from pathlib import Path

import torch

from operands import DTYPES, sizes

HERE = Path(__file__).resolve().parent
BENCHES = HERE.parent
HEADER = BENCHES.parent / "include" / "thorn.h"
MISFITS = ("implicit-function-declaration", "incompatible-pointer-types", "int-conversion")


class Failed(Exception):
    """A library refused a row, or its result is wrong."""


def constants(header):
    """The codes of the dtypes, from lines like `TH_FLOAT32 = 8`."""
    names = {"u": "UINT", "i": "INT", "f": "FLOAT", "b": "BFLOAT"}
    code = {dtype: "TH_BOOL" if dtype == "bool" else f"TH_{names[dtype[0]]}{dtype.lstrip('uibf')}" for dtype in DTYPES}
    return {DTYPES[dtype]: int(re.search(rf"\b{code} = (\d+)", header)[1]) for dtype, code in code.items()}


def missing(row, header):
    """The functions that a row calls and the header lacks."""
    called = re.findall(r"\bTH[A-Za-z]\w*(?=\()", row.thorn)
    return [name for name in dict.fromkeys(called) if not re.search(rf"\b{name}\(", header)]


def compiler(variable, default):
    return os.environ.get(variable, default).split()


class Thorn:
    """The library, and a loop in C for each row that compiles with its header."""

    def __init__(self, library, out, rows):
        self.unfit = {}
        header = HEADER.read_text()
        self.codes = constants(header)
        self.dtypes = {code: dtype for dtype, code in self.codes.items()}
        for row in rows:
            if names := missing(row, header):
                self.unfit[row] = "not in thorn.h: " + ", ".join(names)
        self.rows = [row for row in rows if row not in self.unfit]
        while failures := self.compile(Path(library), out / "rows.c", out / f"rows.{os.getpid()}.so"):
            self.unfit.update(failures)
            self.rows = [row for row in self.rows if row not in failures]

    def compile(self, library, source, shared):
        """Writes and compiles one line for each row. Returns the rows that do not compile, with the compiler's messages."""
        lines = ['#include "harness.c"', *(loop(k, row) for k, row in enumerate(self.rows))]
        source.write_text("\n".join(lines) + "\n")
        options = ["-std=gnu11", "-O2", "-march=native", "-w", *(f"-Werror={misfit}" for misfit in MISFITS)]
        paths = [f"-I{HEADER.parent}", f"-I{HERE}", f"-I{BENCHES}", f"-Wl,-rpath,{library.parent}"]
        command = [*compiler("CC", "cc"), *options, "-fPIC", "-shared", *paths, source, library, "-pthread", "-o", shared]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        if done.returncode == 0:
            self.load(shared)
            return {}
        failures = re.findall(r"In function 'row(\d+)':\n(?:(?!In function).*\n)*?.* error: (.*)", done.stderr)
        if not failures:
            raise SystemExit(f"peers: cannot compile the rows\n{done.stderr}")
        return {self.rows[int(k)]: f"does not fit thorn.h: {error}" for k, error in failures}

    def load(self, shared):
        self.c = ctypes.CDLL(str(shared))
        shared.unlink()
        self.c.wrap.restype = self.c.fresh.restype = ctypes.c_void_p
        self.c.wrap.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.c.drop.argtypes = self.c.hosted.argtypes = [ctypes.c_void_p]
        self.c.hosted.restype = ctypes.c_void_p
        self.c.copyLimit.restype, self.c.copyLimit.argtypes = ctypes.c_double, [ctypes.c_int64, ctypes.c_long]
        self.c.describe.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        self.c.message.restype = self.c.version.restype = self.c.simdLevel.restype = ctypes.c_char_p
        self.c.lastNumber.restype = ctypes.c_double
        self.c.streamLimit.restype = self.c.arithmeticLimit.restype = ctypes.c_double
        self.c.streamLimit.argtypes = [*(ctypes.c_void_p, ctypes.c_size_t) * 2, *(ctypes.c_int, ctypes.c_int, ctypes.c_long)]
        self.c.arithmeticLimit.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_long]
        loop_type = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p)
        self.loops = {row: loop_type((f"row{k}", self.c)) for k, row in enumerate(self.rows)}

    def call(self, row, tensors):
        """Returns a function that makes the row's call `calls` times and returns ns, and the row's handles, which are fresh if there is
        no tensor."""
        handles = Handles(self.c, {name: self.wrap(tensors.get(name)) for name in row.names()}, tensors)
        function, status = self.loops[row], ctypes.c_int()

        def run(calls):
            spent = function(handles.array, calls, ctypes.byref(status))
            if status.value != 0:
                raise Failed(self.c.message().decode())
            return spent

        return run, handles

    def wrap(self, tensor):
        if tensor is None:
            return self.c.fresh()
        ndim = tensor.dim()
        extents = (ctypes.c_int64 * (2 * ndim))(*tensor.shape, *tensor.stride())
        strides = ctypes.byref(extents, 8 * ndim)
        handle = self.c.wrap(self.codes[tensor.dtype], ndim, extents, strides, tensor.data_ptr())
        if handle is None:
            raise Failed(self.c.message().decode())
        return handle

    def read(self, handle):
        """A copy of a handle's elements."""
        here = handle and self.c.hosted(handle)
        try:
            return self.read_here(here)
        finally:
            self.c.drop(here)

    def read_here(self, handle):
        described = (ctypes.c_int64 * 64)()
        if not handle or not self.c.describe(handle, described, 64):
            raise Failed("there is no result")
        data, code, ndim = described[:3]
        shape, stride = described[3 : 3 + ndim], described[3 + ndim : 3 + 2 * ndim]
        dtype = self.dtypes[code]
        if 0 in shape:
            return torch.empty(shape, dtype=dtype)
        span = 1 + sum((size - 1) * step for size, step in zip(shape, stride))
        raw = (ctypes.c_char * (span * dtype.itemsize)).from_address(data)
        return torch.frombuffer(raw, dtype=dtype).as_strided(shape, stride).clone()


class Handles:
    """The handles of a row, as a C array, and the tensors whose memory they show. The handles are freed with this object."""

    def __init__(self, c, handles, tensors):
        self.c, self.names, self.tensors = c, list(handles), tensors
        self.array = (ctypes.c_void_p * len(handles))(*handles.values())

    def __getitem__(self, name):
        return self.array[self.names.index(name)]

    def __del__(self):
        for handle in self.array:
            self.c.drop(handle)


def loop(k, row):
    """A row in C. The row may replace the handle `r`."""
    shape = sizes(row.shape)
    names = row.names()
    tensors = ", ".join(f"*{name} = t[{at}]" for at, name in enumerate(names))
    kept = f"t[{names.index('r')}] = r; " if "r" in names else ""
    return (
        f"double row{k}(THTensor **t, long calls, int *status) {{ "
        f"const int ndim = {len(shape)}; const int64_t n = {row.count()}, shape[] = {{{', '.join(map(str, shape))}}}; "
        f"THTensor {tensors}; TIMED({row.thorn}) {kept}return spent; }}"
    )


class LibTorch:
    """Loops in C++ for the rows whose torch expression is C++."""

    def __init__(self, out, rows):
        self.problem, self.rows = None, rows
        if not rows:
            return
        source = CPP_START + "\n".join(cpp_loop(k, row) for k, row in enumerate(rows)) + "\n"
        self.compile(source, out / f"libtorch-{hashlib.sha1((source + torch.__version__).encode()).hexdigest()[:12]}.so")

    def compile(self, source, shared):
        """Compiles what is not compiled yet, which takes half a minute."""
        if not shared.exists():
            wheel = Path(torch.__path__[0])
            abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
            written, made = shared.with_suffix(".cpp"), shared.with_suffix(".part")
            written.write_text(source)
            options = ["-std=c++20", "-O2", "-w", abi, "-fPIC", "-shared"]
            paths = [f"-I{wheel}/include", f"-L{wheel}/lib", f"-Wl,-rpath,{wheel}/lib"]
            command = [*compiler("CXX", "g++"), *options, *paths, written, "-ltorch_cpu", "-lc10", "-o", made]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                self.problem = "libtorch's headers do not compile here: " + done.stderr.strip().split("\n")[0]
                return
            made.rename(shared)
        self.c = ctypes.CDLL(str(shared))

    def call(self, row, tensors):
        """Returns a function that makes the row's call `calls` times on tensors over this memory and returns ns."""
        described = []
        for name in row.names():
            t = tensors[name]
            described += [t.data_ptr(), CPP_TYPES[t.dtype], t.dim(), *t.shape, *[0] * (5 - t.dim())]
        data = (ctypes.c_int64 * len(described))(*described)
        function = self.c[f"row{self.rows.index(row)}"]
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_long]
        return lambda calls, keep=tensors: function(data, calls)


CPP_START = """#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <chrono>
static double ns() { return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
template <typename T> static void keep(const T &value) { asm volatile("" : : "r"(&value) : "memory"); }
static at::Tensor over(const int64_t *t) {
    return at::from_blob((void *)t[0], at::IntArrayRef(t + 3, t[2]), at::ScalarType(t[1]));
}
"""

# Numbers of at::ScalarType.
CPP_TYPES = {torch.int32: 3, torch.int64: 4, torch.float32: 6, torch.float64: 7, torch.bool: 11}


def cpp_loop(k, row):
    tensors = " ".join(f"at::Tensor {name} = over(data + {8 * at});" for at, name in enumerate(row.names()))
    return (
        f'extern "C" double row{k}(const int64_t *data, long calls) {{ c10::InferenceMode mode; {tensors} '
        f"double start = ns(); for (; calls > 0; calls--) keep({row.torch}); return ns() - start; }}"
    )
