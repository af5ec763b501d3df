"""Operations: matrix products. Elements are small integers, so that every dtype holds the sums."""

import numpy

from .operands import *

WIDE = {"bool": torch.int64, **{d: torch.int64 for d in INTEGERS}, **{d: torch.float64 for d in FLOATS}}


def whole(name, dtype, shape, seed):
    return random(f"product.{name}.{dtype}", dtype, shape, seed, 5, 0 if dtype in ("uint8", "bool") else -2, 1)


def text(equation):
    return Raw(f'"{equation}"')


def agree(function, dtype, operands, f, *arguments, options="any", **how):
    """A call whose operands are multiplied in float64 or int64."""
    values = [o.value.to(WIDE[dtype]) for o in operands]
    expect(function, [R, *arguments] if arguments else [R, *operands], f(*values).to(getattr(torch, dtype)), options=options, **how)


def products():
    for dtype in NUMBERS:
        make = lambda name, *shape: whole(name, dtype, shape, sum(map(ord, name)))
        a, b, c = make("a", 3, 4), make("b", 4, 5), make("c", 3, 5)
        v, w = make("v", 4), make("w", 3)
        batch, other = make("batch", 2, 3, 4), make("other", 2, 4, 5)
        deep, ones = make("deep", 3, 1, 3, 4), make("ones", 2, 4, 3)
        none, empty = make("none", 3, 0), make("empty", 0, 5)
        agree("mm", dtype, [a, b], torch.mm)
        agree("mm", dtype, [none, empty], torch.mm)
        agree("mv", dtype, [a, v], torch.mv)
        agree("bmm", dtype, [batch, other], torch.bmm)
        agree("dot", dtype, [v, v], torch.dot)
        agree("vdot", dtype, [w, w], torch.dot)
        agree("outer", dtype, [v, w], torch.outer)
        agree("ger", dtype, [w, v], torch.outer)
        for pair in ((a, b), (a, v), (w, a), (v, v), (batch, b), (batch, other), (a, other), (v, other), (batch, v), (deep, ones), (deep, v), (w, make("tall", 2, 3, 2))):
            agree("matmul", dtype, pair, torch.matmul)
        for pair in ((none, empty), (make("nothing", 0, 3, 4), b), (make("zero", 2, 3, 0), make("thin", 0, 4))):
            agree("matmul", dtype, pair, torch.matmul)
        add = lambda product: lambda t, x, y: 2 * t + 3 * product(x, y)
        for function, t, x, y, product in (
            ("addmm", c, a, b, torch.mm),
            ("addmm", make("line", 5), a, b, torch.mm),
            ("addmv", w, a, v, torch.mv),
            ("addr", a, w, v, torch.outer),
            ("baddbmm", make("sheets", 2, 3, 5), batch, other, torch.bmm),
            ("baddbmm", c, batch, other, torch.bmm),
            ("addbmm", c, batch, other, lambda x, y: torch.bmm(x, y).sum(0)),
            ("addbmm", c, make("no", 0, 3, 4), make("nor", 0, 4, 5), lambda x, y: torch.bmm(x, y).sum(0)),
        ):
            agree(function, dtype, [t, x, y], add(product), 2, t, 3, x, y)
        agree("tensordot", dtype, [batch, other], lambda x, y: torch.tensordot(x, y, ([0, 2], [0, 1])), batch, other, 2, [0, 2], [0, -2])
        agree("tensordot", dtype, [a, c], lambda x, y: torch.tensordot(x, y, ([0], [0])), a, c, 1, [0], [0])
        agree("tensordot", dtype, [w, v], lambda x, y: torch.tensordot(x, y, 0), w, v, 0, [], [], options="any unsigned")
        agree("inner", dtype, [batch, a], torch.inner)
        agree("inner", dtype, [v, v], torch.inner)
        agree("inner", dtype, [ONE[dtype], a], torch.inner)
        agree("kron", dtype, [a, SMALL[dtype]], torch.kron)
        agree("kron", dtype, [w, a], torch.kron)
        agree("kron", dtype, [ONE[dtype], w], torch.kron)
        x, y = make("x", 4, 3), make("y", 4, 3)
        agree("cross", dtype, [x, y], lambda x, y: torch.linalg.cross(x, y, dim=1), x, y, 1)
        agree("cross", dtype, [x, w], lambda x, y: torch.linalg.cross(x, y.expand(4, 3), dim=-1), x, w, -1)
        if dtype in ("float16", "bfloat16"):
            # The products have more bits than the dtype; their difference has not.
            x, y = tensor(f"product.left.{dtype}", [201, 203, 0], dtype), tensor(f"product.right.{dtype}", [199, 201, 0], dtype)
            agree("cross", dtype, [x, y], torch.linalg.cross, x, y, 0)
        square = make("square", 2, 3, 3)
        for n in (0, 1, 2, 3):
            agree("matrixPower", dtype, [square], lambda t: torch.from_numpy(numpy.linalg.matrix_power(t.numpy(), n)), square, n)
        if dtype in ("float32", "float64"):
            triangle = tensor(f"product.triangle.{dtype}", [1, 2, 0, 4], dtype, (2, 2))
            expect("matrixPower", [R, triangle, -2], torch.tensor([1, -0.625, 0, 0.0625], dtype=getattr(torch, dtype)).reshape(2, 2), options="any", ulps=1)
        agree("chainMatmul", dtype, [a, b, make("d", 5, 2)], lambda *m: torch.chain_matmul(*m), (a, b, make("d", 5, 2)), 3)
        agree("chainMatmul", dtype, [a], lambda m: m, (a,), 1)
        agree("chainMatmul", dtype, [w, a, b, make("e", 5)], lambda w, a, b, e: w @ a @ b @ e, (w, a, b, make("e", 5)), 4)
        for equation, *operands in (
            ("ij,jk->ik", a, b),
            ("ij,jk", a, b),
            ("ij->ji", a),
            ("ij->", a),
            ("ij->j", a),
            ("bij,bjk->bik", batch, other),
            ("...ij,jk->...ik", deep, b),
            ("...ij,...jk", deep, ones),
            ("i,j->ij", w, v),
            ("i,i->", v, v),
            ("i,i->i", v, v),
            ("ij,ij->i", a, a),
            ("bii->b", square),
            ("bii->bi", square),
            ("bij,bij->ij", batch, batch),
            ("ij,jk,kl->il", a, b, make("d", 5, 2)),
            ("ij,jk,kl,li->", a, b, make("d", 5, 2), make("f", 2, 3)),
            ("bij,jk,bl->kl", batch, b, make("g", 2, 6)),
            ("i,ij,j->", w, a, v),
            ("Zij,aZ->ija", batch, make("h", 3, 2)),
            ("...,...->...", a, batch),
            ("ij,kj->", a, make("k", 2, 4)),
            ("a...b->...", square),
            ("->", ONE[dtype]),
            (",i->i", ONE[dtype], w),
            ("ij,jk->ik", none, empty),
            ("i...->...", batch),
        ):
            agree("einsum", dtype, operands, lambda *t: torch.einsum(equation, *t), text(equation), tuple(operands), len(operands))
    for dtype in FLOATS:
        x, y = whole("x", dtype, (4, 3), ord("x")), whole("far", dtype, (2, 5, 3), 7)
        many, more = whole("many", dtype, (30, 6), 9), whole("more", dtype, (3, 6), 11)
        for p in (0, 1, 2, 3, INF):
            distances = lambda a, b: torch.cdist(a, b, float(p), compute_mode="donot_use_mm_for_euclid_dist")
            for a, b in ((x, x), (x, y), (more, many)):
                agree("cdist", dtype, [a, b], distances, a, b, p, ulps=32 if p == 2 and b is many else 2)
        for mode in (0, 1, 2):
            agree("cdistMode", dtype, [more, many], distances_2, more, many, 2, mode, ulps=2 if mode == 2 else 32)
        # Rows far from 0, at distances of some units.
        offset = 64 if dtype == "bfloat16" else 1024
        high = tensor(f"product.high.{dtype}", (many.value + offset).flatten().tolist(), dtype, tuple(many.value.shape))
        agree("cdistMode", dtype, [high, high], distances_2, high, high, 2, 2, ulps=2)
        for p in (0, 1, 2, 3, INF):
            for t in (x, many):
                agree("pdist", dtype, [t], lambda t: torch.pdist(t, float(p)), t, p, ulps=2)
        for t in (make_empty(dtype, 3, 0), whole("none3", dtype, (0, 3), 1), whole("one3", dtype, (1, 3), 1)):
            agree("pdist", dtype, [t], lambda t: torch.zeros(t.shape[0] * max(t.shape[0] - 1, 0) // 2, dtype=t.dtype), t, 2)
        agree("cdist", dtype, [whole("none3", dtype, (0, 3), 1), x], torch.cdist, whole("none3", dtype, (0, 3), 1), x, 2)
        for p in (2, INF):
            agree("cdist", dtype, [make_empty(dtype, 2, 0), make_empty(dtype, 3, 0)], torch.cdist, make_empty(dtype, 2, 0), make_empty(dtype, 3, 0), p)
    refusals()


def distances_2(a, b):
    return torch.cdist(a, b, 2.0, compute_mode="donot_use_mm_for_euclid_dist")


def make_empty(dtype, rows, columns):
    return whole(f"nothing{rows}", dtype, (rows, columns), 1)


def refusals():
    a, v, truth = SMALL["float32"], SMALL_ROW["float32"], SMALL["bool"]
    third = ONE["float32"]
    for function in ("mm", "bmm", "matmul"):
        refuse(function, [R, a, a], ERR_SHAPE)
    refuse("mm", [R, SMALL["float32"], SMALL["float64"]], ERR_SHAPE)
    refuse("mv", [R, SMALL["float32"], SMALL_ROW["float64"]])
    refuse("mv", [R, truth, SMALL_ROW["bool"]])
    refuse("dot", [R, v, a], ERR_SHAPE)
    refuse("dot", [R, SMALL_ROW["bool"], SMALL_ROW["bool"]])
    refuse("outer", [R, a, v], ERR_SHAPE)
    refuse("matmul", [R, third, a], ERR_SHAPE)
    refuse("addr", [R, 1, a, 1, v, v], ERR_SHAPE)
    refuse("baddbmm", [R, 1, a, 1, EMPTY3["float32"], EMPTY3["float32"]], ERR_SHAPE)
    refuse("tensordot", [R, a, a, 1, [0], [1]], ERR_SHAPE)
    refuse("tensordot", [R, a, a, 2, [0, 0], [0, 1]], ERR_ARGUMENT)
    refuse("tensordot", [R, a, a, 1, [2], [0]], ERR_ARGUMENT)
    refuse("cross", [R, a, a, 0], ERR_SHAPE)
    refuse("cross", [R, truth, truth, 1])
    refuse("cdist", [R, SMALL["int32"], SMALL["int32"], 2])
    refuse("cdist", [R, a, v, 2], ERR_SHAPE)
    refuse("cdist", [R, a, a, -1], ERR_ARGUMENT)
    refuse("cdistMode", [R, a, a, 2, 3], ERR_ARGUMENT)
    refuse("pdist", [R, SMALL["int32"], 2])
    refuse("pdist", [R, v, 2], ERR_SHAPE)
    refuse("pdist", [R, a, -1], ERR_ARGUMENT)
    refuse("matrixPower", [R, a, 2], ERR_SHAPE)
    refuse("matrixPower", [R, tensor("product.whole", [1, 2, 0, 4], "int64", (2, 2)), -1])
    refuse("chainMatmul", [R, (a, a), 2], ERR_SHAPE)
    refuse("chainMatmul", [R, (third,), 1], ERR_SHAPE)
    for equation, status, *operands in (
        ("ij,jk->ik", ERR_SHAPE, a, a),
        ("ij->ij", ERR_ARGUMENT, a, a),
        ("ijk->i", ERR_SHAPE, a),
        ("ij->ik", ERR_ARGUMENT, a),
        ("ij->ii", ERR_ARGUMENT, a),
        ("ii->i", ERR_SHAPE, a),
        ("i1->i", ERR_ARGUMENT, a),
        ("i...j...->i", ERR_ARGUMENT, a),
        ("i.j->i", ERR_ARGUMENT, a),
        ("ij,ij->", ERR_DTYPE, a, SMALL["float64"]),
    ):
        refuse("einsum", [R, text(equation), tuple(operands), len(operands)], status)


def rows():
    if noted is None:
        products()
