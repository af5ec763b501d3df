"""Operations: elements by index, and tensors that are joined and rearranged."""

import numpy

from .operands import *

F = torch.nn.functional


def index(name, values, dtype="int64", shape=None):
    return tensor(f"index.{name}", values, dtype, shape)


# For dimensions of sizes 5 and 7, in EDGES, and of sizes 2 and 3, in SMALL.
ROWS_OF_5 = index("rows", [4, 0, 0, 3, 2, 1, 4])
COLUMNS_OF_7 = index("columns", [6, 0, 3], "int32")
ONE_OF_5 = index("one", 3)
NONE = index("none", [], shape=(0,))
BAD = index("bad", [0, 5, 1])
NEGATIVE = index("negative", [0, -1])
GRID = index("grid", [0, 4, 2, 1, 3, 0, 2, 2, 1, 4, 0, 3], shape=(3, 4))
UNIQUE = index("unique", [3, 0, 6, 1, 0, 5, 6, 4, 2, 1, 3, 0], shape=(4, 3))
FLAT = index("flat", [0, 34, -1, -35, 17, 3], shape=(2, 3))
PLACES = index("places", [0, 34, 17, 3, 8, -2], shape=(2, 3))
WIDE = index("wide", [0, 35])
MASK = tensor("mask", [i % 3 == 0 or i % 5 == 1 for i in range(35)], "bool", (5, 7))
BYTES = tensor("mask.bytes", [0, 2, 0, 1, 255, 0, 1], "uint8", (7,))
MASK_ROWS = tensor("mask.rows", [1, 0, 1, 1, 0], "bool", (5, 1))
NOTHING = tensor("mask.nothing", [0] * 35, "bool", (5, 7))
DEEP = {d: tensor(f"deep.{d}", [i % 2 if d == "bool" else i for i in range(24)], d, (2, 3, 4)) for d in ALL}


def into(name, operand, arguments, change, **how):
    """A function that changes a tensor. `change` changes a copy."""
    value = operand.value.clone()
    change(value)
    expect(name, [Start(operand), *arguments], value, **how)


def taken():
    for dtype in ALL:
        t, v = EDGES[dtype], EDGES[dtype].value
        for dim, i in ((0, ROWS_OF_5), (1, COLUMNS_OF_7), (-1, COLUMNS_OF_7), (0, ONE_OF_5), (1, NONE)):
            expect("indexSelect", [R, t, dim, i], torch.index_select(v, dim, i.value), options="any")
        expect("indexSelect", [R, ONE[dtype], 0, index(f"zero.{dtype}", [0])], ONE[dtype].value.reshape(1), options="any")
        expect("indexSelect", [R, DEEP[dtype], 1, NEWEST], torch.index_select(DEEP[dtype].value, 1, NEWEST.value), options="any")
        refuse("indexSelect", [R, t, 0, BAD], ERR_ARGUMENT)
        refuse("indexSelect", [R, t, 0, NEGATIVE], ERR_ARGUMENT)
        refuse("indexSelect", [R, t, 0, GRID], ERR_SHAPE)
        expect("gather", [R, t, 0, GRID], torch.gather(v, 0, GRID.value), options="any")
        expect("gather", [R, t, 1, UNIQUE], torch.gather(v, 1, UNIQUE.value), options="any")
        refuse("gather", [R, t, 0, ROWS_OF_5], ERR_SHAPE)
        expect("takeAlongDim", [R, t, ALONG, 0], torch.take_along_dim(v, ALONG.value, 0), options="any")
        expect("takeAlongDim", [R, t, index(f"row.{dtype}", [34, 0]), TH_ALL_DIMS], torch.take_along_dim(v, torch.tensor([34, 0])), options="any")
        backwards = index(f"backwards.{dtype}", [0, -1, 4, -5, 2, 0, 1], shape=(1, 7))
        expect("takeAlongDim", [R, t, backwards, 0], torch.take_along_dim(v, backwards.value % 5, 0), options="any")
        expect("take", [R, t, FLAT], torch.take(v, FLAT.value), options="any")
        expect("take", [R, t, NONE], torch.take(v, NONE.value), options="any")
        refuse("take", [R, t, WIDE], ERR_ARGUMENT)
        refuse("take", [R, t, EDGES["float32"]], ERR_DTYPE)
        a, b = index(f"a.{dtype}", [0, -1, 2]), index(f"b.{dtype}", [[6], [-7]], shape=(2, 1))
        deep = DEEP[dtype]
        expect("index", [R, t, (a, b), 2], v[a.value, b.value], options="any")
        expect("index", [R, t, (NULL, a), 2], v[:, a.value], options="any")
        expect("index", [R, t, (MASK,), 1], v[MASK.value], options="any")
        first, last = index(f"f.{dtype}", [1, 0, 1]), index(f"l.{dtype}", [3, 0, -1])
        expect("index", [R, deep, (first, NULL, last), 3], deep.value[first.value, :, last.value], options="any")
        expect("index", [R, deep, (NULL, last3(dtype), last), 3], deep.value[:, last3(dtype).value, last.value], options="any")
        refuse("index", [R, t, (a, NULL, b), 3], ERR_SHAPE)
        refuse("index", [R, t, (BAD,), 1], ERR_ARGUMENT)
        refuse("index", [R, t, (BYTES,), 1], ERR_SHAPE)
        for mask in (MASK, BYTES, MASK_ROWS, NOTHING):
            expect("maskedSelect", [R, t, mask], torch.masked_select(v, mask.value.bool()), options="any")
        refuse("maskedSelect", [R, t, EDGES["float32"]])
        for x in (t, DEEP[dtype], EMPTY3[dtype], ONE[dtype]):
            expect("nonzero", [R, x], torch.nonzero(x.value), options="any")


def put():
    for dtype in ALL:
        t, plain = EDGES[dtype], PLAIN[dtype]
        torch_dtype = getattr(torch, dtype)
        chosen = tensor(f"chosen.{dtype}", plain.value.flatten()[:21].tolist(), dtype, (3, 7))
        rows, twice = index(f"rows3.{dtype}", [4, 0, 2]), index(f"twice.{dtype}", [3, 1, 3])
        into("indexCopy", t, [0, rows, chosen], lambda r: r.index_copy_(0, rows.value, chosen.value), options="any")
        last = t.value.clone()
        last[3], last[1] = chosen.value[2], chosen.value[1]
        expect("indexCopy", [Start(t), 0, twice, chosen], last, options="any")
        refuse("indexCopy", [Start(t), 0, BAD, chosen], ERR_ARGUMENT)
        refuse("indexCopy", [Start(t), 1, rows, chosen], ERR_SHAPE)
        into("indexFill", t, [1, COLUMNS_OF_7, 1], lambda r: r.index_fill_(1, COLUMNS_OF_7.value.long(), 1), options="any")
        into("indexFill", t, [0, NEGATIVE, 1], lambda r: r.index_fill_(0, NEGATIVE.value, 1), options="any")
        # Sums are in the order of the index. 16-bit floats are summed in float32.
        wide = torch.float32 if dtype in ("float16", "bfloat16") else torch_dtype
        summed = lambda r, f: r.copy_(f(r.to(wide)).to(torch_dtype))
        into("indexAdd", plain, [0, twice, chosen], lambda r: summed(r, lambda w: w.index_add_(0, twice.value, chosen.value.to(wide))), options="any", ulps=1)
        if dtype in NUMBERS:
            # Elements that wrap are scaled in their dtype.
            scaled = (chosen.value.to(wide) * 2).to(torch_dtype).to(wide)
            into("indexAddScale", plain, [0, twice, 2, chosen], lambda r: summed(r, lambda w: w.index_add_(0, twice.value, scaled)), options="any", ulps=1)
        source = tensor(f"source.{dtype}", plain.value.flatten()[:12].tolist(), dtype, (3, 4))
        narrow = index(f"narrow.{dtype}", [0, 4, 2, 1, 3, 0, 1, 2, 1, 2, 0, 3], shape=(3, 4))
        into("scatter", t, [0, narrow, source], lambda r: r.scatter_(0, narrow.value, source.value), options="any")
        into("scatterFill", t, [0, GRID, 1], lambda r: r.scatter_(0, GRID.value, 1), options="any")
        into("scatterAdd", plain, [0, GRID, source], lambda r: summed(r, lambda w: w.scatter_add_(0, GRID.value, source.value.to(wide))), options="any", ulps=1)
        refuse("scatter", [Start(t), 0, BAD_GRID, source], ERR_ARGUMENT)
        refuse("scatter", [Start(t), 0, GRID, SMALL[dtype]], ERR_SHAPE)
        if dtype in ("int32", "int64", "float32", "float64"):
            for mode, name in ((1, "prod"), (2, "amax"), (3, "amin")):
                into("scatterMode", SMALL5[dtype], [0, GRID, source, mode], lambda r: r.scatter_reduce_(0, GRID.value, source.value, name), options="any", ulps=1)
            into("scatterFillMode", SMALL5[dtype], [0, GRID, 3, 1], lambda r: r.scatter_reduce_(0, GRID.value, torch.full((3, 4), 3, dtype=torch_dtype), "prod"), options="any")
        refuse("scatterMode", [Start(t), 0, GRID, source, 7], ERR_ARGUMENT)
        six = tensor(f"six.{dtype}", plain.value.flatten()[5:11].tolist(), dtype, (6,))
        into("put", t, [PLACES, six, 0], lambda r: r.put_(PLACES.value.flatten(), six.value), options="any")
        into("put", plain, [PLACES, six, 1], lambda r: summed(r, lambda w: w.put_(PLACES.value.flatten(), six.value.to(wide), accumulate=True)), options="any", ulps=1)
        refuse("put", [Start(t), PLACES, chosen, 0], ERR_SHAPE)
        a, b = index(f"pa.{dtype}", [0, -1, 2]), index(f"pb.{dtype}", [[6], [-6]], shape=(2, 1))
        row = tensor(f"prow.{dtype}", plain.value.flatten()[2:5].tolist(), dtype, (3,))
        into("indexPut", t, [(a, b), 2, row, 0], lambda r: r.index_put_((a.value, b.value), row.value), options="any")
        into("indexPut", plain, [(a,), 1, ONE[dtype], 1], lambda r: summed(r, lambda w: w.index_put_((a.value,), ONE[dtype].value.to(wide), accumulate=True)), options="any", ulps=1)
        into("indexPut", t, [(MASK,), 1, ONE[dtype], 0], lambda r: r.index_put_((MASK.value,), ONE[dtype].value), options="any")
        refuse("indexPut", [Start(t), (a, b), 2, chosen, 0], ERR_SHAPE)
        refuse("indexPut", [Start(t), (BAD,), 1, ONE[dtype], 0], ERR_ARGUMENT)
        for name in ("maskedCopy", "maskedScatter"):
            for mask in (MASK, MASK_ROWS, NOTHING):
                into(name, t, [mask, plain], lambda r: r.masked_scatter_(mask.value, plain.value), options="any")
            refuse(name, [Start(t), MASK, SMALL[dtype]], ERR_SHAPE)


def joined():
    for dtype in ALL:
        t, plain, deep = EDGES[dtype], PLAIN[dtype], DEEP[dtype]
        for dim in (0, 1, -1):
            expect("cat", [R, t, plain, dim], torch.cat([t.value, plain.value], dim), options="any")
            expect("catArray", [R, (t, EMPTY[dtype], plain, t), 4, dim], torch.cat([t.value, plain.value, t.value], dim), options="any")
        for dim in (0, 1, 2, -1):
            expect("stack", [R, (t, plain), 2, dim], torch.stack([t.value, plain.value], dim), options="any")
        expect("stack", [R, (ONE[dtype], ONE[dtype]), 2, 0], torch.stack([ONE[dtype].value] * 2), options="any")
        expect("catArray", [R, (EMPTY[dtype], EMPTY[dtype]), 2, 0], EMPTY[dtype].value, options="any")
        refuse("cat", [R, t, SMALL[dtype], 0], ERR_SHAPE)
        refuse("cat", [R, t, ONE[dtype], 0], ERR_SHAPE)
        refuse("cat", [R, t, t, 2], ERR_ARGUMENT)
        row = SMALL_ROW[dtype]
        for name in ("hstack", "vstack", "dstack"):
            f = getattr(torch, name)
            expect(name, [R, (t, plain), 2], f([t.value, plain.value]), options="any")
            expect(name, [R, (row, row, row), 3], f([row.value] * 3), options="any")
            expect(name, [R, (ONE[dtype], ONE[dtype]), 2], f([ONE[dtype].value] * 2), options="any")
        for other in ALL:
            promoted = torch.cat([SMALL[dtype].value, SMALL[other].value])
            expect("cat", [R, SMALL[dtype], SMALL[other], 0], promoted, options="fresh")
        for dims in ([0], [1], [0, 1], [-1]):
            expect("flip", [R, t, len(dims), dims], torch.flip(t.value, dims), options="any")
        expect("flip", [R, deep, 2, [0, 2]], torch.flip(deep.value, [0, 2]), options="any")
        refuse("flip", [R, t, 2, [0, -2]], ERR_ARGUMENT)
        for shifts, dims in (([3], [1]), ([-8], [0]), ([1, 2], [0, 1])):
            expect("roll", [R, t, len(shifts), shifts, dims], torch.roll(t.value, shifts, dims), options="any")
        expect("roll", [R, t, 1, [10], NULL], torch.roll(t.value, 10), options="any")
        for k in (-1, 0, 1, 2, 3):
            expect("rot90", [R, deep, k, 0, 2], torch.rot90(deep.value, k, [0, 2]), options="any")
        refuse("rot90", [R, t, 1, 0, 0], ERR_ARGUMENT)
        for sizes in ([2, 3], [2, 1, 2], [0, 1]):
            for name in ("repeat", "repeatTensor"):
                expect(name, [R, t, len(sizes), sizes], t.value.repeat(sizes), options="any")
        for sizes in ([2], [3, 2], [2, 1, 2]):
            expect("tile", [R, t, len(sizes), sizes], torch.tile(t.value, sizes), options="any")
        refuse("repeat", [R, t, 1, [2]], ERR_SHAPE)
        counts = index(f"counts.{dtype}", [2, 0, 1, 3, 1])
        expect("repeatInterleave", [R, t, counts, 0], torch.repeat_interleave(t.value, counts.value, 0), options="any")
        expect("repeatInterleaveValue", [R, t, 2, 1], torch.repeat_interleave(t.value, 2, 1), options="any")
        expect("repeatInterleaveValue", [R, SMALL[dtype], 2, TH_ALL_DIMS], torch.repeat_interleave(SMALL[dtype].value, 2), options="any")
        refuse("repeatInterleave", [R, t, NEGATIVE, 0], ERR_SHAPE)
        for pads in ([1, 2], [0, 3, 2, 1], [-1, -2], [2, -1, 0, 0]):
            expect("pad", [R, t, len(pads), pads, 0, 1], F.pad(t.value, pads, value=1), options="any")
        for mode, name in ((1, "reflect"), (2, "edge"), (3, "wrap")):
            padded = torch.from_numpy(numpy.pad(deep.value.double().numpy(), ((0, 0), (1, 2), (2, 3)), name)).to(getattr(torch, dtype))
            expect("pad", [R, deep, 4, [2, 3, 1, 2], mode, 0], padded, options="any")
        refuse("pad", [R, t, 2, [7, 0], 1, 0], ERR_SHAPE)
        refuse("pad", [R, t, 3, [1, 1, 1], 0, 0], ERR_ARGUMENT)
        refuse("pad", [R, t, 2, [1, 1], 9, 0], ERR_ARGUMENT)
        if dtype in NUMBERS:
            windows = SMALL5[dtype].value.unfold(0, 3, 2)
            whole = tensor(f"windows.{dtype}", windows.flatten().tolist(), dtype, tuple(windows.shape))
            folded = torch.zeros((5, 7), dtype=torch.float64)
            for w in range(windows.shape[0]):
                folded[2 * w : 2 * w + 3] += windows[w].T.double()
            expect("fold", [R, whole, 0, 2], folded.to(getattr(torch, dtype)), options="any")
        for n, dim in ((1, 0), (1, 1), (2, 1), (0, 0), (9, 0)):
            expect("diff", [R, SMALL5[dtype], n, dim], torch.diff(SMALL5[dtype].value, n, dim), options="any")


SMALL5 = {d: tensor(f"small5.{d}", [(i * 5) % 7 % (2 if d == "bool" else 7) for i in range(35)], d, (5, 7)) for d in ALL}
BAD_GRID = index("bad_grid", [0, 4, 5, 1, 3, 0, 2, 2, 1, 4, 0, 3], shape=(3, 4))
ALONG = index("along", [[2], [0]], shape=(2, 1))
NEWEST = index("deep", [2, 0, 2, 1])
LAST3 = {d: index(f"last3.{d}", [2, 0, 1]) for d in ALL}


def last3(dtype):
    return LAST3[dtype]


def rows():
    taken()
    put()
    joined()
