"""Operations: sorting, unique elements, and searching."""

import itertools

import numpy

from .operands import *
from .reductions import LONG, LONGEST, SHEET

# A sorted sequence may have equal elements, and NaN at its end.
STEPS = {d: tensor(f"steps.{d}", [0, 0, 1, 2, 2, 5, 7, 7, 9] if d != "bool" else [0] * 4 + [1] * 5, d) for d in ALL}
ENDS_IN_NAN = {d: tensor(f"ends.nan.{d}", [-INF, -2, -0.0, 0.0, 2.5, INF, NAN, NAN], d) for d in FLOATS}


def plain_array(t):
    """An array for NumPy, which has no bfloat16. No value changes."""
    return (t.float() if t.dtype == torch.bfloat16 else t).numpy()


def in_order(t, dim, descending=False):
    """PyTorch's stable sort: values and their positions."""
    return tuple(torch.sort(t, dim=dim, descending=bool(descending), stable=True))


def top(t, k, dim, largest, ordered):
    """The top k. Of equal elements the first ones are chosen. In the order of `t` unless `ordered`."""
    values, places = (part.narrow(dim, 0, k) if t.dim() else part for part in in_order(t, dim, largest))
    if t.dim() and t.dtype != torch.bool:
        # PyTorch does not define which of several equal elements are chosen, but their values are determined.
        assert torch.equal(values.nan_to_num(), torch.topk(t, k, dim, bool(largest)).values.nan_to_num())
    if ordered or not t.dim():
        return values, places
    places = torch.sort(places, dim).values
    return torch.take_along_dim(t, places, dim), places


def once(t, consecutive):
    """Values, inverse and counts of all elements. Of -0.0 and 0.0 the first one is kept."""
    flat = t.flatten()
    if consecutive:
        values, inverse, counts = torch.unique_consecutive(flat, return_inverse=True, return_counts=True)
        return values, inverse.reshape(t.shape), counts
    line, places = in_order(flat, 0)
    values, of_line, counts = torch.unique_consecutive(line, return_inverse=True, return_counts=True)
    return values, torch.empty_like(places).scatter_(0, places, of_line).reshape(t.shape), counts


def slices_once(t, dim, consecutive):
    """As above for slices, in the order of NumPy, which sorts NaN last."""
    rows = t.movedim(dim, 0)
    flat = plain_array(rows.flatten(1) if t.dim() > 1 else rows.unsqueeze(1))
    order = numpy.arange(len(flat)) if consecutive or not len(flat) else numpy.lexsort(flat.T[::-1])
    line = flat[order]
    new = numpy.concatenate([[True], (line[1:] != line[:-1]).any(1)]) if len(flat) else numpy.zeros(0, bool)
    starts = numpy.flatnonzero(new)
    inverse = torch.empty(len(flat), dtype=torch.int64)
    inverse[torch.from_numpy(order.astype(numpy.int64))] = torch.from_numpy(numpy.cumsum(new).astype(numpy.int64) - 1)
    counts = torch.from_numpy(numpy.diff(numpy.append(starts, len(flat))).astype(numpy.int64))
    values = rows[torch.from_numpy(order[starts].astype(numpy.int64))].movedim(0, dim)
    if not (t.is_floating_point() and t.isnan().any()) and len(flat):
        f = torch.unique_consecutive if consecutive else torch.unique
        assert torch.equal(values, f(t, dim=dim)) or t.is_floating_point()
    return values, inverse, counts


def places_in(sequence, t, right):
    """NumPy's searchsorted, line by line if there are several sequences."""
    common = torch.result_type(sequence, t)
    s, x = plain_array(sequence.to(common)), plain_array(t.to(common))
    side = "right" if right else "left"
    if s.ndim == 1:
        return torch.as_tensor(numpy.searchsorted(s, x, side)).reshape(t.shape).long()
    rows = zip(s.reshape(-1, s.shape[-1]), x.reshape(-1, x.shape[-1]))
    return torch.from_numpy(numpy.stack([numpy.searchsorted(*row, side) for row in rows])).reshape(t.shape).long()


def sorting():
    for dtype in ALL:
        t = SHEET[dtype]
        some = dtype in SOME
        for dim, descending in itertools.product((0, 1, -1) if some else (1,), (0, 1)):
            values, places = in_order(t.value, dim, descending)
            expect("sort", [MAYBE, MAYBE, t, dim, descending, 1], values, places)
            expect("argsort", [R, t, dim, descending, 0], places, options="strict")
        others = [EDGES] if dtype in FLOATS else []
        for operands, dim in itertools.product(others + ([ONE, EMPTY, EMPTY3, ALIKE, LONG] if some else []), (0, -1)):
            values, places = in_order(operands[dtype].value, dim)
            expect("sort", [MAYBE, MAYBE, operands[dtype], dim, 0, 0], values, places, every=51 if operands is LONG else 1)
        if dtype in FLOATS:
            expect("sort", [MAYBE, MAYBE, EDGES[dtype], 0, 1, 1], *in_order(EDGES[dtype].value, 0, 1))
        if dtype in LONGEST:
            for descending in (0, 1):
                expect("sort", [MAYBE, MAYBE, LONGEST[dtype], 0, descending, 1], *in_order(LONGEST[dtype].value, 0, descending), every=5003)
        expect("msort", [R, t], torch.msort(t.value))
        expect("msort", [R, ONE[dtype]], torch.msort(ONE[dtype].value))
        tops(dtype)
    refuse("sort", [R, R, SHEET["float32"], 3, 0, 1], ERR_ARGUMENT)
    refuse("sort", [R, R, SHEET["float32"], TH_ALL_DIMS, 0, 1], ERR_ARGUMENT)


def tops(dtype):
    t = SHEET[dtype]
    for (k, dim), largest, ordered in itertools.product(((0, 0), (1, -1), (2, 0), (3, 1), (5, 2)), (0, 1), (0, 1)):
        if dtype in SOME or (k, dim) == (3, 1):
            expect("topk", [MAYBE, MAYBE, t, k, dim, largest, ordered], *top(t.value, k, dim, largest, ordered))
    expect("topk", [MAYBE, MAYBE, ONE[dtype], 1, 0, 1, 1], *top(ONE[dtype].value, 1, 0, 1, 1))
    if dtype in FLOATS:
        for k, largest in itertools.product((1, 3, 5), (0, 1)):
            expect("topk", [MAYBE, MAYBE, EDGES[dtype], k, 0, largest, 1], *top(EDGES[dtype].value, k, 0, largest, 1))
    if dtype in LONGEST:
        for largest, ordered in itertools.product((0, 1), (0, 1)):
            t_long = LONGEST[dtype]
            expect("topk", [MAYBE, MAYBE, t_long, 1000, 0, largest, ordered], *top(t_long.value, 1000, 0, largest, ordered), every=51)
    refuse("topk", [R, R, t, 4, 0, 1, 1], ERR_ARGUMENT)
    refuse("topk", [R, R, t, -1, 0, 1, 1], ERR_ARGUMENT)


def several_keys():
    for a, b in itertools.product(ALL, ("int64", "float32", "bool")):
        for dim in (0, 1, -1):
            keys = SHEET[a], ALIKE3[b]
            places = torch.from_numpy(numpy.lexsort([plain_array(key.value) for key in keys], axis=dim))
            expect("lexsort", [R, keys, 2, dim], places, options="strict")
    for dtype in ALL:
        expect("lexsort", [R, (EDGES[dtype],), 1, 1], torch.from_numpy(numpy.lexsort([plain_array(EDGES[dtype].value)], axis=1)), options="strict")
    refuse("lexsort", [R, (SHEET["int32"], EDGES["int32"]), 2, 0], ERR_SHAPE)
    refuse("lexsort", [R, (), 0, 0], ERR_ARGUMENT)


ALIKE3 = {d: random(f"alike3.{d}", d, (3, 4, 5), 17, 2, 0, 1) for d in ("int64", "float32", "bool")}


def uniques():
    heads = [MAYBE, MAYBE, MAYBE]
    for dtype, (name, consecutive) in itertools.product(ALL, (("unique", False), ("uniqueConsecutive", True))):
        operands = [SHEET, ONE, EMPTY3, ALIKE] + ([EDGES] if dtype in FLOATS else []) + ([LONG] if dtype in SOME else [])
        for t in (o[dtype] for o in operands):
            every = 51 if t.value.numel() > 1000 else 1
            expect(name, [*heads, t, TH_ALL_DIMS], *once(t.value, consecutive), every=every)
        if dtype in LONGEST:
            expect(name, [*heads, LONGEST[dtype], TH_ALL_DIMS], *once(LONGEST[dtype].value, consecutive), every=1009)
        for t, dim in ((SHEET, 1), (ALIKE, 0), (ALIKE, 1), (EMPTY, 0), *([(EDGES, 0)] if dtype in FLOATS else []), *([(LONG, 1)] if dtype == "bool" else [])):
            expect(name, [*heads, t[dtype], dim], *slices_once(t[dtype].value, dim, consecutive), every=51 if t is LONG else 1)
        refuse(name, [*heads, EMPTY3[dtype], 0], ERR_SHAPE)
        refuse(name, [*heads, SHEET[dtype], 3], ERR_ARGUMENT)


def searching():
    for dtype, right in itertools.product(ALL, (0, 1)):
        s, t = STEPS[dtype], PLAIN[dtype]
        expect("searchsorted", [R, s, t, right, NULL], places_in(s.value, t.value, right), options="strict")
        expect("searchsorted", [R, s, ONE[dtype], right, NULL], places_in(s.value, ONE[dtype].value, right), options="strict")
        expect("searchsorted", [R, EMPTY[dtype], t, right, NULL], places_in(EMPTY[dtype].value, t.value, right), options="strict")
        expect("bucketize", [R, t, s, right], places_in(s.value, t.value, right), options="strict")
        rows, places = in_order(SHEET[dtype].value, 2)
        for k in (1, 7):
            sequences = tensor(f"rows.{dtype}", rows.flatten().tolist(), dtype, rows.shape)
            values = random(f"sought.{dtype}.{k}", dtype, (3, 4, k), 23, *((2, 0) if dtype == "bool" else (25, 0 if dtype == "uint8" else -12)), 1)
            expect("searchsorted", [R, sequences, values, right, NULL], places_in(rows, values.value, right), options="strict")
            sorter = tensor(f"sorter.{dtype}.{right}", places.flatten().tolist(), "int32" if right else "int64", places.shape)
            expect("searchsorted", [R, SHEET[dtype], values, right, sorter], places_in(rows, values.value, right), options="strict")
        if dtype in FLOATS:
            expect("searchsorted", [R, ENDS_IN_NAN[dtype], EDGES[dtype], right, NULL], places_in(ENDS_IN_NAN[dtype].value, EDGES[dtype].value, right), options="strict")
        for other in ALL:
            expect("searchsorted", [R, s, SMALL[other], right, NULL], places_in(s.value, SMALL[other].value, right), options="strict")
    for dtype in ("uint8", "int64", "float32", "float64"):
        s = LONGEST[dtype]
        sequence = tensor(f"steps.long.{dtype}", sorted({*s.value[:301].tolist()}), dtype)
        expect("searchsorted", [R, sequence, s, 0, NULL], places_in(sequence.value, s.value, 0), options="strict", every=5003)
    t = STEPS["float32"]
    refuse("searchsorted", [R, ONE["float32"], t, 0, NULL], ERR_SHAPE)
    refuse("searchsorted", [R, SHEET["float32"], t, 0, NULL], ERR_SHAPE)
    refuse("searchsorted", [R, t, t, 0, STEPS["float64"]])
    refuse("searchsorted", [R, t, t, 0, PLAIN["int64"]], ERR_SHAPE)
    refuse("searchsorted", [R, t, t, 0, tensor("sorter.bad", [0, 1, 2, 3, 4, 5, 6, 7, 9], "int64")], ERR_ARGUMENT)
    refuse("bucketize", [R, t, SHEET["float32"], 0], ERR_SHAPE)


def members():
    for a, b, invert in itertools.product(ALL, ALL, (0, 1)):
        if a != b and invert:
            continue
        x, tests = SMALL[a].value, SMALL_ROW[b].value
        common = torch.result_type(x, tests)
        found = numpy.isin(plain_array(x.to(common)), plain_array(tests.to(common)), invert=bool(invert))
        expect("isin", [R, SMALL[a], SMALL_ROW[b], 0, invert], torch.from_numpy(found))
    for dtype, invert in itertools.product(ALL, (0, 1)):
        for t, tests in ((EDGES, COLUMN if dtype in FLOATS else SMALL), (SHEET, EMPTY), (EMPTY3, SHEET), (ONE, SHEET), (SHEET, ONE)):
            t, tests = t[dtype], tests[dtype]
            found = numpy.isin(plain_array(t.value), plain_array(tests.value), invert=bool(invert))
            expect("isin", [R, t, tests, 0, invert], torch.from_numpy(numpy.asarray(found)))
        if dtype in LONGEST:
            found = numpy.isin(LONGEST[dtype].value.numpy(), LONGEST[dtype].value[:50].numpy(), invert=bool(invert))
            tests = tensor(f"tests.{dtype}", LONGEST[dtype].value[:50].tolist(), dtype)
            expect("isin", [R, LONGEST[dtype], tests, 0, invert], torch.from_numpy(found), every=5003)


def rows():
    for part in (sorting, several_keys, uniques, searching, members):
        part()
