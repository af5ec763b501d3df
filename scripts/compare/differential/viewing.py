"""Cases of views: chains of views, each with PyTorch's sizes, strides and offset, and lists of pieces."""

import ctypes
from itertools import compress

import torch

from ..library import CODES, contents, state
from .calls import saturated


class Different(Exception):
    """A view that differs from PyTorch's."""


ERRORS = (RuntimeError, IndexError, ValueError, TypeError)


def steps(draw, t):
    """Draws a view of `t`: returns the name in C, its arguments, and PyTorch's view."""
    rank, shape = t.dim(), list(t.shape)
    d, e = draw.dim(rank), draw.dim(rank)
    size = shape[d] if -rank <= d < rank else 2
    index = draw.random.randrange(-size - 1, size + 1) if draw.chance(0.2) else draw.random.randrange(max(size, 1))
    length = draw.random.randrange(0, size + 2)
    step = draw.choice([1, 1, 2, 3, 0])
    dims = draw.random.sample(range(rank), rank)
    sizes = list(shape)
    if draw.chance(0.5):
        draw.random.shuffle(sizes)
    elif draw.chance(0.5):
        sizes = [t.numel()]
    if sizes and draw.chance(0.3):
        sizes[draw.random.randrange(len(sizes))] = -1
    if draw.chance(0.3):
        sizes.insert(draw.random.randrange(len(sizes) + 1), 1)
    larger = [n if n != 1 or draw.chance(0.5) else draw.choice([1, 2, 3]) for n in shape]
    larger = [-1 if draw.chance(0.2) else n for n in larger]
    larger = [2] + larger if draw.chance(0.2) else larger
    offset = draw.choice([0, 0, 1, -1, 2])
    bounds = draw.random.randrange(-4, 5), draw.random.randrange(-4, 5)
    same = [dtype for dtype in CODES if dtype.itemsize == t.element_size() and torch.bool not in (dtype, t.dtype)] or [t.dtype]
    other = draw.choice(same) if draw.chance(0.9) else draw.dtype()
    whole = slice(None)

    def sliced():
        if not -rank <= d < rank:
            raise IndexError("dimension out of range")
        return t[(whole,) * (d % rank) + (slice(*bounds, step),)]

    def seen_as():
        if other.itemsize != t.element_size():
            raise RuntimeError("dtypes of other sizes are refused, as in the documents")
        return t.view(other)

    return draw.choice([
        ("Narrow", [d, index, length], lambda: torch.narrow(t, d, index, length)),
        ("Select", [d, index], lambda: torch.select(t, d, index)),
        ("Slice", [d, *bounds, step], sliced),
        ("Transpose", [d, e], lambda: torch.transpose(t, d, e)),
        ("T", [], lambda: torch.t(t)),
        ("Permute", [len(dims), dims], lambda: torch.permute(t, dims)),
        ("Diagonal", [offset, d, e], lambda: torch.diagonal(t, offset, d, e)),
        ("Unfold", [d, length, step], lambda: t.unfold(d, length, step)),
        ("Squeeze", [], lambda: torch.squeeze(t)),
        ("Squeeze1d", [d], lambda: torch.squeeze(t, d)),
        ("Unsqueeze1d", [d], lambda: torch.unsqueeze(t, d)),
        ("View", [len(sizes), sizes], lambda: t.view(sizes)),
        ("Expand", [len(larger), larger], lambda: t.expand(larger)),
        ("Reshape", [len(sizes), sizes], lambda: torch.reshape(t, sizes)),
        ("Flatten", [d, e], lambda: torch.flatten(t, d, e)),
        ("ViewDtype", [CODES[other]], seen_as),
    ])


def in_c(arguments):
    return [(ctypes.c_int64 * len(x))(*x) if isinstance(x, list) else x for x in arguments]


def described(t):
    return f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)} strides {list(t.stride())} offset {t.storage_offset()}"


def compare(what, handle, expected, shared, exact=False):
    """Raises unless the handle is PyTorch's view. A copy has separate memory, and only its elements are compared.

    Strides of dimensions of size 1 have no meaning, and are compared only if `exact` is set.
    """
    now = state(handle)
    if now.dtype != CODES[expected.dtype] or now.size != tuple(expected.shape):
        raise Different(f"{what}: {now}, expected {described(expected)}")
    counts = [exact or n > 1 for n in expected.shape]
    strides = [list(compress(list(x), counts)) for x in (now.stride, expected.stride())]
    if shared and expected.numel() and (strides[0] != strides[1] or now.offset != expected.storage_offset()):
        raise Different(f"{what}: strides {now.stride} offset {now.offset}, expected {described(expected)}")
    got = contents(now).as_strided(now.size, now.stride, now.offset)
    if not torch.equal(bits(got), bits(expected)):
        raise Different(f"{what}: {got.tolist()}, expected {expected.tolist()}")


def bits(t):
    return t.reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8)


def copies(name):
    return name in ("Reshape", "Flatten")


def step(draw, thorn, handle, t, exact):
    """Makes and compares one view. Returns the handle and PyTorch's view, or nothing if both refuse."""
    library = thorn.library
    name, arguments, f = steps(draw, t)
    what = f"new{name}({described(t)}, {', '.join(map(str, arguments))})"
    try:
        expected = f()
    except ERRORS as error:
        expected = None
        why = str(error).splitlines()[0]
    before = state(handle)
    if copies(name) or name == "ViewDtype" or draw.chance(0.6):
        made = getattr(library, f"THTensor_new{name}")(handle, *in_c(arguments))
        made = thorn.keep(made) if made else None
    else:
        # The other form: the result handle is given, and may be the source's.
        own = draw.chance(0.3)
        what = what.replace("new", "", 1) + (" in place" if own else "")
        target = handle if own else thorn.keep(library.THTensor_new())
        before_target = state(target)
        short = name[0].lower() + name[1:]
        failed = getattr(library, f"THTensor_{short}")(target, handle, *in_c(arguments))
        if failed and state(target) != before_target:
            raise Different(f"{what}: failed and changed its handle")
        made = None if failed else target
    if expected is None and made:
        raise Different(f"{what}: succeeded, PyTorch: {why}")
    if expected is not None and not made:
        raise Different(f"{what}: failed: {thorn.message()}, expected {described(expected)}")
    if made is None:
        if state(handle) != before:
            raise Different(f"{what}: failed and changed its source")
        return None
    shares = expected.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
    if expected.numel() and (state(made).data == before.data) != shares:
        raise Different(f"{what}: {'a copy' if shares else 'a view'}, PyTorch's is {'a view' if shares else 'a copy'}")
    # Reshape and flatten may return other strides for dimensions of size 1.
    exact = exact and not copies(name)
    compare(what, made, expected, shares, exact)
    return made, expected, exact


def chain(draw):
    operand = draw.operand(draw.dtype(), draw.shape(large=False), "plain")

    def run(thorn):
        handle, t, exact = operand.make(thorn), operand.value, True
        for _ in range(draw.choice([1, 2, 3, 5])):
            made = step(draw, thorn, handle, t, exact)
            if made is None:
                return
            handle, t, exact = made

    return run


def pieces(draw):
    """split, chunk and unbind: a list of views."""
    operand = draw.operand(draw.dtype(), draw.shape(large=False), "plain")
    d, n = draw.dim(len(operand.size)), draw.choice([1, 2, 3, 5, 0, -1])
    t = operand.value
    name, arguments, f = draw.choice([
        ("split", [n, d], lambda: torch.split(t, n, d)), ("chunk", [n, d], lambda: torch.chunk(t, n, d)), ("unbind", [d], lambda: torch.unbind(t, d)),
    ])

    def run(thorn):
        library, handle, what = thorn.library, operand.make(thorn), f"{name}({operand}, {', '.join(map(str, arguments))})"
        call, count = getattr(library, f"THTensor_{name}"), ctypes.c_int(0)
        failed = call(None, ctypes.byref(count), handle, *arguments)
        try:
            expected = f()
        except ERRORS as error:
            if not failed:
                raise Different(f"{what}: succeeded, PyTorch: {str(error).splitlines()[0]}") from None
            return
        if failed:
            raise Different(f"{what}: failed: {thorn.message()}")
        if count.value != len(expected):
            raise Different(f"{what}: {count.value} pieces, expected {len(expected)}")
        room = (ctypes.c_void_p * count.value)()
        if call(room, ctypes.byref(count), handle, *arguments):
            raise Different(f"{what}: failed with room: {thorn.message()}")
        for one in room:
            thorn.keep(one)
        for one, other in zip(room, expected):
            compare(what, one, other, True)

    return run


FORMATS = [torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d]


def dense(t):
    """True if the elements fill a block, each once, in some order of the dimensions."""
    span = 1
    for stride, size in sorted((s, n) for s, n in zip(t.stride(), t.shape) if n != 1):
        if stride != span:
            return False
        span *= size
    return True


def clones(draw):
    """Copies in other dtypes and formats: compares dtype, values, and strides if the format determines them."""
    operand = draw.operand(draw.dtype(), draw.shape(), "plain")
    t = operand.value
    form, dtype = draw.choice(range(4)), draw.dtype()
    name, arguments, f = draw.choice([
        ("newClone", [], lambda: t.clone()), ("newContiguous", [], lambda: t.contiguous()),
        ("newCloneFormat", [form], lambda: t.clone(memory_format=FORMATS[form])),
        # PyTorch has no contiguous() for the preserving format; thorn returns a dense tensor itself.
        ("newContiguousFormat", [form], lambda: t.contiguous(memory_format=FORMATS[form]) if form != 1 else t if dense(t) else t.clone()),
        ("newTo", [CODES[dtype]], lambda: t.to(dtype) if dtype == t.dtype else t.to(dtype).copy_(saturated(t, dtype))),
        ("newEmptyLike", [], lambda: torch.empty_like(t)),
    ])

    def run(thorn):
        handle, what = operand.make(thorn), f"{name}({operand}, {', '.join(map(str, arguments))})"
        made = getattr(thorn.library, f"THTensor_{name}")(handle, *arguments)
        try:
            expected = f()
        except ERRORS as error:
            if made:
                thorn.keep(made)
                raise Different(f"{what}: succeeded, PyTorch: {str(error).splitlines()[0]}") from None
            return
        if not made:
            raise Different(f"{what}: failed: {thorn.message()}")
        now = state(thorn.keep(made))
        # The strides of a tensor that is not dense cannot be kept: the library chooses the order of dimensions.
        counts = [n > 1 for n in t.shape]
        if dense(t) and t.numel() and list(compress(now.stride, counts)) != list(compress(expected.stride(), counts)):
            raise Different(f"{what}: strides {now.stride}, expected {described(expected)}")
        if name == "newEmptyLike":
            if now.size != tuple(expected.shape):
                raise Different(f"{what}: {now}, expected {described(expected)}")
            return
        shares = expected.data_ptr() == t.data_ptr()
        if expected.numel() and (now.data == operand.before.data) != shares:
            raise Different(f"{what}: {'a copy' if shares else 'a view'}, PyTorch's is not")
        compare(what, made, expected, shares)

    return run


def formats(draw):
    operand = draw.operand(draw.dtype(), draw.shape(rank=draw.choice([2, 3, 4, 4, 4])), "plain")
    form = draw.choice([0, 2])

    def run(thorn):
        got = thorn.library.THTensor_isContiguousFormat(operand.make(thorn), form)
        expected = operand.value.is_contiguous(memory_format=FORMATS[form])
        if bool(got) != expected:
            raise Different(f"isContiguousFormat({operand}, {form}): {got}, expected {expected}")

    return run


def grids(draw):
    """meshgrid and expandNd: lists of handles in, lists of views out; expandAs and viewAs for one tensor."""
    dtype = draw.dtype()
    name = draw.choice(["meshgrid", "expandNd", "expandAs", "viewAs", "cartesianProd"])
    if name in ("meshgrid", "cartesianProd"):
        vector = lambda: draw.choice([(), (1,), (2,), (3,), (3,), (0,)])
        operands = [draw.operand(dtype if draw.chance(0.97) else draw.dtype(), vector(), "plain") for _ in range(draw.choice([1, 2, 3]))]
    else:
        shape = draw.shape(large=False)
        operands = [draw.operand(draw.dtype(), draw.within(shape), "plain") for _ in range(2)]
    values = [operand.value for operand in operands]
    order = draw.choice(["ij", "xy"])

    def expected():
        if name == "meshgrid":
            return torch.meshgrid(*values, indexing=order)
        if name == "cartesianProd":
            return [torch.cartesian_prod(*values)]
        if name == "expandNd":
            return torch.broadcast_tensors(*values)
        return [getattr(values[0], {"expandAs": "expand_as", "viewAs": "view_as"}[name])(values[1])]

    def run(thorn):
        library, n = thorn.library, len(operands)
        handles = (ctypes.c_void_p * n)(*(operand.make(thorn) for operand in operands))
        made = [thorn.keep(library.THTensor_new()) for _ in range(n)]
        before = [state(handle) for handle in made]
        rooms = (ctypes.c_void_p * n)(*made)
        what = f"{name}({', '.join(map(str, operands))}{', ' + order if name == 'meshgrid' else ''})"
        arguments = {
            "meshgrid": lambda: [rooms, handles, n, order.encode()], "cartesianProd": lambda: [made[0], handles, n],
            "expandNd": lambda: [rooms, handles, n],
        }.get(name, lambda: [made[0], handles[0], handles[1]])()
        failed = getattr(library, f"THTensor_{name}")(*arguments)
        try:
            results = expected()
        except ERRORS as error:
            if not failed:
                raise Different(f"{what}: succeeded, PyTorch: {str(error).splitlines()[0]}") from None
            if [state(handle) for handle in made] != before:
                raise Different(f"{what}: failed and changed a handle")
            return
        if failed:
            raise Different(f"{what}: failed: {thorn.message()}")
        for handle, result in zip(made, results):
            compare(what, handle, result, name not in ("cartesianProd", "meshgrid"))

    return run


def families():
    for draw_call, times in ((chain, 16), (pieces, 3), (clones, 4), (formats, 1), (grids, 4)):
        for _ in range(times):
            yield draw_call.__name__, draw_call
