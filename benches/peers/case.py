"""A prepared row: its operands, its reference result, and a runner for each library."""

import re
from itertools import repeat
from time import perf_counter_ns

import numpy as np
import torch

import files
import grad
import net
import sparse
from native import Failed
from operands import copied, memory, sizes

OUT = re.compile(r",?\s*\bout=(\w+|\([^)]*\))")
LEAST_TRAFFIC = 256 << 10  # bytes; calls with less traffic are not limited by memory

# Allowed differences from PyTorch's results, relative and absolute.
TOLERANCE = {torch.float16: (2e-3, 1e-3), torch.bfloat16: (2e-2, 1e-2), torch.float32: (2e-5, 4e-6), torch.float64: (1e-10, 1e-11)}


def results_of(expression):
    """The names that an expression writes to: `torch.max(a, 0, out=(r, i))` gives r and i."""
    found = OUT.search(expression)
    return re.findall(r"\w+", found[1]) if found else ["r"]


class Case:
    """If `gpu` is true, thorn and PyTorch compute on a GPU, from copies there, and NumPy is left out."""

    def __init__(self, row, thorn, libtorch, gpu=False):
        self.row, self.thorn, self.libtorch, self.gpu = row, thorn, libtorch, gpu
        self.operands = {name: operand.make(name, row.dtype, row.shape) for name, operand in row.operands.items()}
        self.references = self.compute_references()
        self.results = None  # with one thread, the same memory for all libraries, because its address affects the caches

    def compute_references(self):
        """The results of PyTorch, or of NumPy if PyTorch is called from C++ or lacks the function."""
        as_numpy = self.row.cpp or self.row.torch is None
        expression = self.row.numpy if as_numpy else self.row.torch
        operands = {name: copied(t) if name == "r" else t for name, t in self.operands.items()}
        if self.row.result:
            result = self.row.result.make("r", self.row.dtype, self.row.shape)
            operands.setdefault("r", memory(result.dtype, result.shape))
        if expression is None:
            return {}
        found = eval(OUT.sub("", expression), self.namespace(operands, as_numpy))
        if found is None or found is operands.get("r"):
            found = operands["r"]
        names = results_of(expression)
        found = tuple(found) if len(names) > 1 else (found,)
        return {name: torch.as_tensor(t) for name, t in zip(names, found)}

    def namespace(self, tensors, as_numpy):
        shape = sizes(self.row.shape)
        values = {name: t.numpy() for name, t in tensors.items()} if as_numpy else tensors
        modules = {"torch": torch, "nn": torch._C._nn, "np": np, "grad": grad, "net": net, "files": files, "sparse": sparse}
        return {**modules, "n": self.row.count(), "shape": shape, **values}

    def tensors(self, threads=None):
        """The operands, which are shared, and the results, which are shared only with one thread. An operand that is changed in place is
        copied."""
        results = self.results if threads == 1 else None
        results = results or {name: memory(t.dtype, t.shape) for name, t in self.references.items()}
        if threads == 1:
            self.results = results
        if "r" in self.operands:
            results = {**results, "r": copied(self.operands["r"])}
        return {**self.operands, **results}

    def check(self):
        """Runs thorn with fresh handles, and compares dtypes, shapes and elements with the reference."""
        given = self.tensors() if self.row.result or "r" in self.operands else self.operands
        run, handles = self.thorn.call(self.row, given)
        run(1)
        if self.row.number():
            number = torch.tensor(self.thorn.c.lastNumber(), dtype=torch.float64)
            self.compare("the number", number, self.references["r"].double())
            return
        for name in self.row.checked or self.references:
            if name in handles.names:
                self.compare(name, self.thorn.read(handles[name]), self.references[name])

    def compare(self, name, found, expected):
        if found.dtype != expected.dtype or found.shape != expected.shape:
            kinds = [f"{str(t.dtype)[6:]} {list(t.shape)}" for t in (found, expected)]
            raise Failed(f"{name} is {kinds[0]}, not {kinds[1]}")
        relative, absolute = TOLERANCE.get(expected.dtype, (0, 0))
        if self.row.tolerance and expected.is_floating_point():
            relative = self.row.tolerance
        elif self.row.tolerance:
            found, expected, absolute = found.double(), expected.double(), self.row.tolerance
        wrong = ~torch.isclose(found, expected, relative, absolute, equal_nan=True)
        if wrong.any():
            first = int(wrong.flatten().to(torch.uint8).argmax())
            values = [t.flatten()[first].item() for t in (found, expected)]
            raise Failed(f"{int(wrong.sum())} elements of {name} differ: {values[0]} at {first}, not {values[1]}")

    def run_thorn(self, threads):
        tensors = self.tensors(threads)
        if self.row.makes():
            tensors.pop("r", None)
        self.thorn.c.setThreads(threads)
        run, self.handles = self.thorn.call(self.row, tensors)
        run(1)
        return run

    def result_bytes(self):
        """Thorn's last results, as bytes."""
        names = [] if self.row.number() else [name for name in self.references if name in self.handles.names]
        found = {name: self.thorn.read(self.handles[name]) for name in names}
        return {name: t.contiguous().flatten().view(torch.uint8) for name, t in found.items()}

    def run_torch(self, threads):
        torch.set_num_threads(threads)
        if self.row.cpp:
            return self.libtorch.call(self.row, self.tensors(threads))
        tensors = self.tensors(threads)
        # If PyTorch has no GPU, as with the emulated driver, it computes on the host.
        on_gpu = self.gpu and torch.cuda.is_available()
        if on_gpu:
            tensors = {name: t.to("cuda") for name, t in tensors.items()}
        return python_loop(self.row.torch, self.namespace(tensors, False), torch.cuda.synchronize if on_gpu else None)

    def run_numpy(self, threads):
        return python_loop(self.row.numpy, self.namespace(self.tensors(threads), True))

    def has_torch(self):
        return self.row.torch is not None and not (self.row.cpp and self.libtorch.problem)

    def has_numpy(self):
        if self.gpu:
            return False
        tensors = [*self.operands.values(), *self.references.values()]
        return self.row.numpy is not None and all(t.dtype != torch.bfloat16 for t in tensors)

    def traffic(self):
        """The least bytes to read and to write."""
        read = sum(touched(t) for t in self.operands.values())
        return read, sum(touched(t) for t in self.references.values())

    def has_limit(self):
        if self.gpu:
            return self.row.flops is None and sum(self.traffic()) >= LEAST_TRAFFIC
        return self.row.flops is not None or sum(self.traffic()) >= LEAST_TRAFFIC

    def run_limit(self, threads):
        """The time of the same number of operations in registers, or of the same traffic in the fastest of several ways."""
        c = self.thorn.c
        if self.gpu:
            # A copy reads half of the bytes and writes half.
            bytes_copied = sum(self.traffic()) // 2
            return lambda calls: c.copyLimit(bytes_copied, calls)
        if threads > 1:
            c.wakePartner()
        if self.row.flops is not None:
            return lambda calls: c.arithmeticLimit(self.row.flops, threads, calls)
        reads, writes = self.traffic()
        source, target = (memory(torch.uint8, (size,)).fill_(1) for size in (reads, writes))
        if "r" in self.operands and writes <= reads < writes + writes // 8:
            target = source[:writes]  # in place, with negligible other reads

        def way(k):
            return lambda calls: c.streamLimit(source.data_ptr(), reads, target.data_ptr(), writes, k, threads, calls)

        return min(map(way, range(c.waysToStream())), key=lambda run: min(run(1) for _ in range(5)))


def touched(tensor):
    """The bytes of the distinct elements, without repetitions by stride 0."""
    elements = 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        elements *= size if stride else 1
    return elements * tensor.element_size()


def python_loop(expression, names, finish=None):
    """A function that evaluates the expression `calls` times, calls `finish`, and returns ns. Names are locals, because locals are
    fastest."""
    names = {**names, "clock": perf_counter_ns, "repeat": repeat, "finish": finish or (lambda: None)}
    source = (
        f"def loop(calls, {', '.join(f'{name}={name}' for name in names)}):\n"
        f"    start = clock()\n    for _ in repeat(None, calls): {expression}\n    finish()\n    return clock() - start\n"
    )
    exec(source, names)
    return names["loop"]
