"""Cases of matrix products and of functions that use them."""

import math

import torch

from .calls import Call, Expected, R, of_products, one_dtype, summed

SMALL = [0, 1, 2, 3, 3, 5]
LARGE = [17, 64, 100]


def size(draw):
    return draw.choice(SMALL) if draw.chance(0.92) else draw.choice(LARGE)


def pair(draw, one, two):
    """Two operands, mostly of one dtype."""
    dtype = draw.dtype()
    return draw.operand(dtype, one, "plain"), draw.operand(dtype if draw.chance(0.97) else draw.dtype(), two, "plain")


def nearly(draw, n):
    return n if draw.chance(0.98) else n + 1


def checked(f, *ranks):
    """`f` of operands with these numbers of dimensions."""

    def g(*operands):
        if any(t.dim() != rank for t, rank in zip(operands, ranks)):
            raise RuntimeError("wrong number of dimensions")
        return f(*operands)

    return g


FORMS = {
    "mm": (torch.mm, "nk", "kp"),
    "mv": (torch.mv, "nk", "k"),
    "bmm": (torch.bmm, "bnk", "bkp"),
    "dot": (torch.dot, "k", "k"),
    "vdot": (torch.dot, "k", "k"),
}
SUMS = {
    "addmm": (torch.mm, "nk", "kp", "np"),
    "addmv": (torch.mv, "nk", "k", "n"),
    "baddbmm": (torch.bmm, "bnk", "bkp", "bnp"),
    "addbmm": (lambda x, y: torch.bmm(x, y).sum(0), "bnk", "bkp", "np"),
    "addr": (torch.outer, "n", "p", "np"),
}


def product(draw):
    """Products of operands with fixed numbers of dimensions."""
    name = draw.choice(list(FORMS))
    f, *shapes = FORMS[name]
    sizes = {letter: size(draw) for letter in "nkp"} | {"b": draw.choice([0, 1, 2, 3])}
    a, b = pair(draw, *([nearly(draw, sizes[x]) for x in shape] for shape in shapes))
    return Call(name, [R, a, b], lambda: of_products(checked(f, *map(len, shapes)), [a, b], sizes["k"]))


def sum_with_product(draw):
    name = draw.choice(list(SUMS))
    f, *shapes, of_t = SUMS[name]
    sizes = {letter: size(draw) for letter in "nkp"} | {"b": draw.choice([0, 1, 2, 3])}
    a, b = pair(draw, *([nearly(draw, sizes[x]) for x in shape] for shape in shapes))
    beta, alpha = draw.number(), draw.number()
    shape = tuple(sizes[x] for x in of_t)
    values = "any" if beta == 0 else "plain"
    t = draw.operand(a.dtype if draw.chance(0.97) else draw.dtype(), shape if draw.chance(0.7) else draw.within(shape), values)
    length = sizes["k"] * (sizes["b"] if name == "addbmm" else 1) + 2

    def want():
        dtype = one_dtype([t, a, b])
        wide = torch.float64 if dtype.is_floating_point else torch.int64
        x, y, z = (operand.value.to(wide) for operand in (t, a, b))
        made = f(y, z)
        x = (torch.zeros_like(x) if beta == 0 else x).broadcast_to(made.shape)
        if not dtype.is_floating_point:
            return Expected((int(beta) * x + int(alpha) * made).to(dtype))
        return summed(dtype, beta * x + alpha * made, (beta * x).abs() + abs(alpha) * f(y.abs(), z.abs()), length)

    return Call(name, [R, beta, t, alpha, a, b], want)


def batch(draw):
    """Batch dimensions, and others that broadcast with them."""
    whole = tuple(draw.choice([0, 1, 2, 3]) for _ in range(draw.choice([0, 0, 1, 1, 2])))
    return draw.within(whole), draw.within(whole)


def matmul(draw):
    n, k, p = size(draw), size(draw), size(draw)
    front, other = batch(draw)
    a, b = pair(
        draw,
        draw.choice([(k,), (n, k), (*front, n, k), (*front, n, k)]),
        draw.choice([(nearly(draw, k),), (nearly(draw, k), p), (*other, nearly(draw, k), p), (*other, k, p)]) if draw.chance(0.98) else draw.shape(),
    )
    return Call("matmul", [R, a, b], lambda: of_products(torch.matmul, [a, b], k))


def promoted(draw, name, f, one, two, length=1, numbers_only=False):
    """A product of any dtypes."""
    dtype = draw.dtype()
    a = draw.operand(dtype, one, "plain")
    b = draw.operand(dtype if draw.chance(0.6) else draw.dtype(), two, "plain")

    def want(*_):
        # Unlike in `inner`, a scalar counts as a matrix, or is refused.
        common = torch.result_type(a.value, b.value) if name == "inner" else torch.promote_types(a.dtype, b.dtype)
        if numbers_only and common == torch.bool:
            raise RuntimeError("not for Bool")
        if not common.is_floating_point:
            return Expected(f(a.value.to(common).contiguous(), b.value.to(common).contiguous()))
        x, y = (operand.value.to(common).double().contiguous() for operand in (a, b))
        return summed(common, f(x, y), f(x.abs(), y.abs()) if length == 1 else two_products(x, y), length)

    def two_products(x, y):
        """An upper bound of the terms that cancel in a cross product."""
        f(x, y)
        rows, columns = torch.broadcast_tensors(x.abs(), y.abs())
        return (rows.amax() * columns.amax() * 2 if rows.numel() else torch.zeros(())).double()

    return a, b, want


def outer(draw):
    name = draw.choice(["outer", "ger"])
    shapes = ((size(draw),), (size(draw),)) if draw.chance(0.97) else (draw.shape(), draw.shape())
    a, b, want = promoted(draw, name, torch.outer, *shapes)
    return Call(name, [R, a, b], want)


def kron(draw):
    shape = lambda: tuple(draw.choice([0, 1, 2, 3, 4]) for _ in range(draw.choice([0, 1, 2, 2, 3])))
    a, b, want = promoted(draw, "kron", lambda x, y: torch.kron(x.clone(memory_format=torch.contiguous_format), y.clone(memory_format=torch.contiguous_format)), shape(), shape())
    return Call("kron", [R, a, b], want)


def cross(draw):
    shape = list(draw.shape(large=False)) or [3]
    dim = draw.dim(len(shape))
    if -len(shape) <= dim < len(shape):
        shape[dim] = 3 if draw.chance(0.97) else 2
    other = [1 if n != 3 and draw.chance(0.2) else n for n in shape]
    torch_cross = lambda x, y: torch.linalg.cross(*torch.broadcast_tensors(x, y), dim=dim)
    a, b, want = promoted(draw, "cross", torch_cross, shape, other, 3, True)
    return Call("cross", [R, a, b, dim], want)


def inner(draw):
    k = size(draw)
    front = lambda: tuple(draw.choice([0, 1, 2, 3]) for _ in range(draw.choice([0, 0, 1, 1, 2])))
    if draw.chance(0.1):
        # A scalar of any dtype multiplies all elements.
        a, b, want = promoted(draw, "inner", torch.mul, *draw.choice([((), (*front(), k)), ((*front(), k), ())]))
        return Call("inner", [R, a, b], want)
    a, b = pair(draw, *((*front(), nearly(draw, k)) for _ in "ab"))
    return Call("inner", [R, a, b], lambda: of_products(torch.inner, [a, b], k))


def tensordot(draw):
    count = draw.choice([0, 1, 1, 2])
    shared = [draw.choice([1, 2, 3, 4]) for _ in range(count)]
    shapes, dims = [], []
    for _ in range(2):
        shape = [draw.choice([0, 1, 2, 3]) if draw.chance(0.1) else draw.choice([1, 2, 5]) for _ in range(draw.choice([0, 1, 1, 2]))]
        places = draw.random.sample(range(len(shape) + count), count)
        for place, n in sorted(zip(places, shared)):
            shape.insert(place, nearly(draw, n))
        shapes.append(shape)
        dims.append([d - len(shape) if draw.chance(0.3) else d for d in places] if draw.chance(0.98) else [draw.dim(len(shape)) for _ in places])
    a, b = pair(draw, *shapes)

    def want():
        if any(not -len(shape) <= d < len(shape) for shape, some in zip(shapes, dims) for d in some):
            raise IndexError("dimension out of range")
        if any(len({d % len(shape) for d in some}) < count for shape, some in zip(shapes, dims)):
            raise RuntimeError("a dimension is named twice")
        f = lambda x, y: torch.tensordot(x, y, dims) if count else torch.tensordot(x, y, 0)
        return of_products(f, [a, b], math.prod(shared))

    return Call("tensordot", [R, a, b, count, *dims], want)


def stepwise(expected, size, count):
    """In a chain of products each one is rounded: to the dtype of the operands, or to float32 for 16-bit floats."""
    if expected.native.dtype in (torch.float32, torch.float64):
        expected.scale = torch.maximum(expected.scale, size * count)


def einsum(draw):
    """Random subscripts: repeated letters, an ellipsis, with or without a named result."""
    sizes = {x: draw.choice([1, 2, 3, 4]) if draw.chance(0.95) else 0 for x in "abcdXZ"}
    letters = draw.random.sample(list(sizes), draw.choice([1, 2, 3, 4]))
    batch = tuple(draw.choice([1, 2, 3]) for _ in range(draw.choice([0, 1, 2])))
    dotted, terms, shapes, dtype = draw.chance(0.35), [], [], draw.dtype()
    for _ in range(draw.choice([1, 2, 2, 2, 3, 4])):
        term = [draw.choice(letters) for _ in range(draw.choice([0, 1, 2, 2, 3]))]
        term = list(dict.fromkeys(term)) if draw.chance(0.8) else term
        shape = [[nearly(draw, sizes[x]) if draw.chance(0.3) else sizes[x]] for x in term]
        if dotted and draw.chance(0.8):
            at = draw.random.randrange(len(term) + 1)
            term.insert(at, "...")
            shape.insert(at, list(draw.within(batch)) if draw.chance(0.97) else [2, 3])
        terms.append("".join(term))
        shapes.append(sum(shape, []))
    equation = draw.choice([",", ",", " , "]).join(terms)
    if draw.chance(0.8):
        present = sorted({x for term in terms for x in term if x != "."})
        kept = draw.random.sample(present, draw.random.randrange(len(present) + 1))
        if any("." in term for term in terms) and draw.chance(0.95):
            kept.insert(draw.random.randrange(len(kept) + 1), "...")
        kept = kept + ["e"] if draw.chance(0.01) else kept
        equation += draw.choice(["->", " -> "]) + "".join(kept)
    operands = [draw.operand(dtype if draw.chance(0.99) else draw.dtype(), shape, "small") for shape in shapes]
    handles = operands if draw.chance(0.98) else operands[:-1] or operands * 2

    def want():
        many = len(operands) > 2
        expected = of_products(lambda *t: torch.einsum(equation, *t), handles, math.prod(sizes[x] or 1 for x in letters) * math.prod(batch) + len(operands))
        if expected.exact and many:
            stepwise(expected, torch.einsum(equation, *(operand.value.double().abs() for operand in handles)), len(operands))
        return expected

    return Call("einsum", [R, equation.encode(), handles, len(handles)], want)


def chain(draw):
    count = draw.choice([1, 2, 3, 3, 4, 6])
    sizes = [draw.choice([1, 2, 3, 5]) if draw.chance(0.97) else 0 for _ in range(count + 1)]
    dtype = draw.dtype()
    shapes = [[nearly(draw, sizes[k]), sizes[k + 1]] for k in range(count)]
    if count > 1 and draw.chance(0.15):
        del shapes[0][0]
    if count > 1 and draw.chance(0.15):
        del shapes[-1][1]
    matrices = [draw.operand(dtype if draw.chance(0.99) else draw.dtype(), shape, "small") for shape in shapes]

    def want():
        f = lambda *m: torch.linalg.multi_dot(m) if len(m) > 1 else m[0].clone()
        g = f if count > 1 else checked(f, 2)
        expected = of_products(g if dtype.is_floating_point else wrapped, matrices, sum(sizes))
        if expected.exact:
            stepwise(expected, g(*(m.value.double().abs() for m in matrices)), count)
        return expected

    def wrapped(*matrices):
        """multi_dot does not support integers."""
        made = matrices[0]
        for m in matrices[1:]:
            made = torch.matmul(made, m)
        return made

    return Call("chainMatmul", [R, matrices, count], want)


def matrix_power(draw):
    n = draw.choice([0, 1, 2, 3, 3, 5]) if draw.chance(0.97) else draw.choice(LARGE[:1])
    front = tuple(draw.choice([0, 1, 2, 3]) for _ in range(draw.choice([0, 0, 1, 2])))
    t = draw.operand(draw.dtype(), (*front, n, nearly(draw, n)) if draw.chance(0.98) else draw.shape(), "small")
    power = draw.choice([0, 1, 2, 3, 4, 7])

    def want():
        expected = of_products(lambda t: torch.linalg.matrix_power(t, power) if t.dtype.is_floating_point else repeated(t), [t], 1)
        if expected.exact and power:
            stepwise(expected, torch.linalg.matrix_power(t.value.double().abs(), power), power * (n + 2))
        return expected

    def repeated(t):
        """PyTorch has no matrix powers of integers."""
        if t.dim() < 2 or t.shape[-1] != t.shape[-2]:
            raise RuntimeError("not square")
        made = torch.eye(t.shape[-1], dtype=t.dtype).expand(t.shape).clone()
        for _ in range(power):
            made = torch.matmul(made, t)
        return made

    return Call("matrixPower", [R, t, power], want)


def cdist(draw):
    d = draw.choice([0, 1, 2, 3, 5, 40])
    rows = lambda: draw.choice([0, 1, 2, 3, 5]) if draw.chance(0.85) else draw.choice([30, 70])
    front, other = batch(draw)
    dtype = draw.floats() if draw.chance(0.96) else draw.dtype()
    a = draw.operand(dtype, (*front, rows(), d), "small")
    b = draw.operand(dtype if draw.chance(0.98) else draw.dtype(), (*other, rows(), nearly(draw, d)), "small")
    p = draw.choice([0, 1, 1.5, 2, 2, 3, 0.5, math.inf]) if draw.chance(0.98) else -1

    def want():
        dtype = one_dtype([a, b])
        if not dtype.is_floating_point:
            raise RuntimeError("floats only")
        x, y = a.value.double(), b.value.double()
        exact = torch.cdist(x, y, p, compute_mode="donot_use_mm_for_euclid_dist")
        finest = torch.finfo(torch.promote_types(dtype, torch.float32)).eps
        expected = summed(dtype, exact, exact, 2 * d + 16)
        if p == 2 and max(a.size[-2], b.size[-2]) > 25:
            norms = x.square().sum(-1).unsqueeze(-1) + y.square().sum(-1).unsqueeze(-2)
            error = (d + 4) * finest * norms
            error = torch.minimum(error.sqrt(), error / exact)
            expected.scale = expected.scale + error / torch.finfo(dtype).eps
        return expected

    return Call("cdist", [R, a, b, p], want)


def families():
    often = {product: 4, sum_with_product: 5, matmul: 4, einsum: 8}
    for draw_call in (product, sum_with_product, matmul, outer, kron, cross, inner, tensordot, einsum, chain, matrix_power, cdist):
        for _ in range(often.get(draw_call, 2)):
            yield draw_call.__name__, draw_call
