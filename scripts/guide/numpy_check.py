"""Compares functions of the library with their NumPy names in the table: `python3 -m guide.numpy_check libthorn.so`.

Checks functions of one or two tensors, with or without a dimension and flags, whose NumPy version has the same arguments.
"""

import ctypes
import sys

import numpy

from .numpy_table import names
from .operations import all_operations, by_name

FLOAT64, INT64 = 9, 5
RESULTS, OPERANDS = ("out", "truth", "indices"), ("input", "mask")
# Functions that divide by n - 1 where NumPy divides by n.
DIFFERENT = {"THTensor_std", "THTensor_var"}
# The smallest number of functions that must agree.
LEAST = 80


class Library:
    def __init__(self, path):
        self.th = ctypes.CDLL(path)
        for name in ("new", "newFromData", "newTo", "newContiguous", "data", "sizes"):
            getattr(self.th, f"THTensor_{name}").restype = ctypes.c_void_p

    def tensor(self, array):
        sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
        dtype = INT64 if array.dtype == numpy.int64 else FLOAT64
        return ctypes.c_void_p(self.th.THTensor_newFromData(dtype, array.ndim, sizes, ctypes.c_void_p(array.ctypes.data)))

    def array(self, tensor):
        """The elements as float64."""
        wide = ctypes.c_void_p(self.th.THTensor_newTo(tensor, FLOAT64))
        flat = ctypes.c_void_p(self.th.THTensor_newContiguous(wide))
        ndim = self.th.THTensor_nDimension(flat)
        sizes = (ctypes.c_int64 * ndim).from_address(self.th.THTensor_sizes(flat)) if ndim else []
        count = int(numpy.prod(list(sizes)))
        data = (ctypes.c_double * count).from_address(self.th.THTensor_data(flat)) if count else []
        result = numpy.array(data).reshape(list(sizes))
        for handle in (wide, flat):
            self.th.THTensor_free(handle)
        return result

    def call(self, row, arrays):
        """Returns the result along dimension 0, with flags off; None if the function fails."""
        operands = [self.tensor(array) for array in arrays]
        result, left = ctypes.c_void_p(self.th.THTensor_new()), list(operands)
        given = []
        for argument in row["arguments"]:
            kind = argument["kind"]
            given.append(result if kind in RESULTS else left.pop(0) if kind in OPERANDS else 0)
        status = getattr(self.th, row["name"])(*given)
        value = None if status else self.array(result)
        for handle in (*operands, result):
            self.th.THTensor_free(handle)
        return value


def kinds(row):
    return [argument["kind"] for argument in row["arguments"]]


def comparable(row):
    """True for a function with one result, one or two operands, and optionally a dimension and flags."""
    of = kinds(row)
    return (
        row["returns"]["kind"] == "status"
        and sum(kind in RESULTS for kind in of) == 1
        and 1 <= sum(kind in OPERANDS for kind in of) <= 2
        and all(kind in (*RESULTS, *OPERANDS, "dim", "flag") for kind in of)
        and row["name"] not in DIFFERENT
    )


def of_numpy(name):
    found = numpy
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def agrees(library, row, elsewhere):
    """True or False if both compute a result, None if one of them does not accept these operands."""
    floats = numpy.array([[0.5, 0.25, 0.75], [0.125, 2.0, 0.375], [0.625, 1.0, -0.875]])
    ints = numpy.array([[3, 1, 2], [7, 5, 4], [6, 2, 9]])
    for a in (floats, ints, floats[0].copy(), ints[0].copy()):
        arrays = [a, numpy.ascontiguousarray(a[::-1])][: sum(kind in OPERANDS for kind in kinds(row))]
        axis = {"axis": 0} if "dim" in kinds(row) else {}
        try:
            with numpy.errstate(all="ignore"):
                expected = of_numpy(elsewhere)(*arrays, **axis)
        except (TypeError, ValueError, IndexError, numpy.linalg.LinAlgError):
            continue
        value = library.call(row, arrays)
        if value is not None and isinstance(expected, (numpy.ndarray, numpy.generic)) and not numpy.iscomplexobj(expected):
            return value.shape == expected.shape and numpy.allclose(value, expected, 1e-9, 1e-12, equal_nan=True)
    return None


def main():
    library, rows, operations = Library(sys.argv[1]), by_name(), all_operations()
    count, wrong = 0, []
    for name, elsewhere in names(operations).items():
        candidates = [word for word in elsewhere if of_numpy(word) and word.startswith("numpy.")]
        for row in (rows[function] for function in operations[name].functions):
            if not candidates or not comparable(row):
                continue
            answers = {word: agrees(library, row, word) for word in candidates}
            if True in answers.values():
                count += 1
            elif False in answers.values():
                wrong.append(f"{row['name']} computes something else than {', '.join(candidates)}")
    if wrong or count < LEAST:
        sys.exit("\n".join([*wrong, f"{count} functions agree with NumPy, {LEAST} are the least"]))
    print(count)


if __name__ == "__main__":
    main()
