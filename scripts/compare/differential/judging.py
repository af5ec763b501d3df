"""Runs one call in thorn with a kind of result, and returns how it differs from PyTorch; nothing if it does not."""

import math

import torch

from ..library import ALL, CODES, DTYPES, contents, state, view
from .calls import Expected
from .mirroring import Mirrors
from .operand import Operand, c_argument

KINDS = ["fresh"] * 4 + ["of a dtype"] + ["given"] * 3 + ["other dtype"] * 2 + ["resized"] * 2 + ["in place"] * 2 + ["overlapping"] * 2 + ["expanded"]


def shown(t):
    values = [format(x, ".9g") if isinstance(x, float) else str(x) for x in t.flatten()[:12].tolist()]
    more = " ..." if t.numel() > 12 else ""
    return f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)} [{' '.join(values)}{more}]"


def spacing(x, dtype):
    """The distance from `|x|` to the next number of a float dtype."""
    info = torch.finfo(dtype)
    exponent = torch.frexp(x.abs().clamp(min=info.tiny)).exponent
    return torch.ldexp(torch.tensor(info.eps, dtype=torch.float64), exponent - 1)


def rounds(native, stored):
    """The float dtypes that a result was rounded to: its native dtype, and the dtype in which it is stored."""
    return [native] if native == stored else [native, stored]


def within(got, exact, dtypes, expected):
    """True where `got` is close enough to `exact`, rounded to all of `dtypes`."""
    stored, largest = exact, math.inf
    for dtype in dtypes:
        stored, largest = stored.to(dtype).double(), min(largest, torch.finfo(dtype).max)
    unit = max(torch.finfo(dtype).eps for dtype in dtypes)
    bound = expected.ulps * torch.stack([spacing(exact, dtype) for dtype in dtypes]).amax(0)
    if expected.scale is not None:
        bound = bound + expected.ulps * unit * expected.scale.double().abs().nan_to_num(0, 0, 0)
    near = ((got - exact).abs() <= bound) & stored.isfinite() & got.isfinite()
    # At the largest number, one of the two may round to infinity.
    edge = (exact.abs() >= largest * (1 - 16 * unit)) & (got.isinf() | stored.isinf()) & (got.sign() == exact.sign())
    return near | (got == stored) | (got.isnan() & exact.isnan()) | edge


def different(got, expected):
    """Returns a tensor that is true where elements of `got` are wrong."""
    native = expected.native
    if native.dtype.is_floating_point and got.dtype.is_floating_point:
        wrong = torch.ones(got.shape, dtype=torch.bool)
        for exact in expected.exact or [native.double()]:
            dtypes = [got.dtype] if expected.adapts else rounds(native.dtype, got.dtype)
            wrong &= ~within(got.double(), exact.broadcast_to(got.shape), dtypes, expected)
        # The stored result is the fresh result, converted: a wider dtype adds no digits.
        if not expected.adapts and torch.finfo(got.dtype).bits > torch.finfo(native.dtype).bits:
            wrong |= (got.to(native.dtype).to(got.dtype) != got) & ~got.isnan()
        return wrong
    if native.dtype.is_floating_point:
        return torch.ones(got.shape, dtype=torch.bool)
    return got != native.to(got.dtype)


class Target:
    """A handle for a result, and the memory around it, which must not change."""

    def __init__(self, thorn, handle, operand=None, dtype=None, moves=False, shares=None):
        self.handle, self.operand, self.dtype, self.moves, self.shares = handle, operand, dtype, moves, shares
        self.before = state(handle)
        self.memory = contents(self.before) if self.before.storage else None

    def unchanged(self):
        now = state(self.handle)
        if now != self.before:
            return False
        return self.memory is None or same_bytes(contents(now), self.memory)


def shares_elements(operand):
    """True if two positions of a tensor share an element."""
    places = torch.arange(len(operand.base)).as_strided(operand.size, operand.stride, operand.offset)
    return places.unique().numel() < places.numel()


def same_bytes(a, b):
    return a.shape == b.shape and torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))


class Trial:
    """One call with one kind of result."""

    def __init__(self, thorn, draw, call, kind, on_device):
        self.thorn, self.draw, self.call, self.kind, self.on_device = thorn, draw, call, kind, on_device
        self.operands = list(dict.fromkeys(call.operands()))
        for operand in sorted(self.operands, key=lambda operand: operand.shares is not None):
            operand.make(thorn, operand.shares and operand.shares.storage)
        self.targets = []

    def kinds(self):
        """The results in words."""
        return ", ".join("NULL" if t is None else f"r {self.kind} {t.operand}" if t.operand else "r fresh" for t in self.targets) or "no result"

    def target(self, expected):
        """A target of the trial's kind for an expected result (None: an error). If the kind does not fit, a fresh handle."""
        library, keep = self.thorn.library, self.thorn.keep
        kind, draw, native = self.kind, self.draw, expected.native if expected else None
        if kind == "in place" and self.operands:
            operand = draw.choice(self.operands)
            if operand.handle not in [target.handle for target in self.targets if target]:
                moves = native is None or operand.size != tuple(native.shape)
                if not moves or operand.stride == operand.value.contiguous().stride() and not operand.offset:
                    return Target(self.thorn, operand.handle, operand, operand.dtype, moves, shares=operand)
        if kind == "overlapping" and self.operands and native is not None and not self.targets:
            placed = self.overlapping(draw.choice(self.operands), tuple(native.shape))
            if placed:
                return placed
        if kind in ("given", "other dtype", "expanded") and native is not None:
            dtype = native.dtype
            if kind == "other dtype":
                dtype = draw.choice(ALL)
            operand = draw.operand(dtype, tuple(native.shape), "small", written=True)
            if kind == "expanded" and native.numel() > 1:
                operand = Operand(operand.base, operand.size, [0] * len(operand.size), operand.offset)
            return Target(self.thorn, operand.make(self.thorn), operand, dtype)
        if kind == "of a dtype" and native is not None:
            dtype = native.dtype if draw.chance(0.5) else draw.choice(ALL)
            return Target(self.thorn, keep(library.THTensor_newWithDtype(CODES[dtype])), dtype=dtype)
        if kind == "resized":
            dtype = native.dtype if native is not None else draw.dtype()
            shape = draw.beside(tuple(native.shape)) if native is not None else draw.shape(large=False)
            operand = draw.operand(dtype, shape, "small", written=True)
            moves = native is None or operand.size != tuple(native.shape)
            return Target(self.thorn, operand.make(self.thorn), operand, dtype, moves)
        return Target(self.thorn, keep(library.THTensor_new()))

    def overlapping(self, operand, shape):
        """A view of this shape somewhere in the memory of an operand."""
        strides, offset, length = self.draw.layout(shape, written=True)
        room = len(operand.base) - length
        if room < 0 or not math.prod(shape):
            return None
        placed = Operand(operand.base, shape, strides, offset + self.draw.random.randrange(room + 1))
        placed.make(self.thorn, operand.storage)
        return Target(self.thorn, placed.handle, placed, operand.dtype, shares=operand)

    def run(self, expected):
        """Makes the call. Returns the function's result, or None on failure."""
        results = iter(expected) if expected else None
        mirrors = Mirrors(self.thorn) if self.on_device else None
        placed = mirrors.there if mirrors else lambda handle: handle
        arguments = []
        for argument in self.call.arguments:
            if hasattr(argument, "optional"):
                wanted = next(results, None) if results else None
                if argument.optional and self.draw.chance(0.1):
                    self.targets.append(None)
                    arguments.append(None)
                else:
                    self.targets.append(self.target(wanted))
                    arguments.append(placed(self.targets[-1].handle))
            else:
                arguments.append(placed(argument.handle) if isinstance(argument, Operand) else c_argument(argument, placed))
        for operand in self.call.into:
            self.targets.append(Target(self.thorn, operand.handle, operand, operand.dtype, shares=operand))
        library = self.thorn.library
        library.THClearLastError()
        self.got = getattr(library, "THTensor_" + self.call.function)(*arguments)
        self.status, self.said = library.THGetLastErrorCode(), self.thorn.message()
        if mirrors:
            mirrors.bring_back()
            for target in filter(None, self.targets):
                target.handle = mirrors.back(target.handle)
        return self.status

    def untouched(self, besides=()):
        """Returns which memory has changed without permission."""
        for operand in self.operands:
            if operand in besides:
                continue
            if state(operand.handle) != operand.before or not same_bytes(contents(operand.before), operand.base):
                return f"changed the operand {operand}"

    def fault_of_failure(self):
        for target in filter(None, self.targets):
            if not target.unchanged():
                return "changed a result though it failed"
        if len(self.said) < 8:
            return "no message"
        return self.untouched()

    def fault_of(self, target, expected):
        """What is wrong with one result."""
        now = state(target.handle)
        dtype = target.dtype or expected.native.dtype
        if self.call.keeps:
            exact = expected.exact if dtype.is_floating_point else None
            expected = Expected((expected.exact or [expected.native])[0].to(dtype), exact, expected.scale, expected.ulps, adapts=expected.adapts)
        if self.call.counts and target.operand and math.prod(target.before.size) == expected.native.numel():
            same = lambda x: x.reshape(target.before.size)
            exact = expected.exact and list(map(same, expected.exact))
            expected, target.moves = Expected(same(expected.native), exact, expected.scale, expected.ulps, adapts=expected.adapts), False
        native = expected.native
        if now.dtype != CODES[dtype]:
            return f"dtype {DTYPES.get(now.dtype)}, expected {dtype}"
        if now.size != tuple(native.shape):
            return f"shape {list(now.size)}, expected {list(native.shape)}"
        memory = contents(now)
        got = view(now, memory)
        if got is None:
            return None if native.numel() == 0 else "no elements"
        wrong = different(got, expected)
        if not expected.free and wrong.any():
            at = wrong.flatten().nonzero()[0].item()
            ref = expected.exact[0] if expected.exact else native
            want = ref.broadcast_to(native.shape).flatten()[at].item()
            return f"element {at} is {got.flatten()[at].item()!r}, expected {want!r}; got {shown(got)}"
        if not target.operand or target.moves:
            return None
        if now != target.before:
            return f"the handle changed: {now} was {target.before}"
        inside = torch.zeros(len(target.operand.base), dtype=torch.bool)
        inside.as_strided(now.size, now.stride, now.offset).fill_(True)
        if not same_bytes(memory[~inside], target.operand.base[~inside]):
            return "wrote beside the result"

    def must_refuse(self, expected):
        """Returns why results of these kinds must fail, if they must."""
        for target, one in zip(self.targets, expected):
            if target is None or not target.dtype:
                continue
            if self.call.refuses and self.call.refuses(target.dtype):
                return self.call.refuses(target.dtype)
            if one.index and target.dtype != torch.int64:
                return "places are int64"
            if not self.call.keeps and not torch.can_cast(one.native.dtype, target.dtype):
                return "a result of this dtype does not fit"
            if not target.operand:
                continue
            stays = self.call.counts and math.prod(target.before.size) == one.native.numel()
            if (stays or not target.moves) and shares_elements(target.operand):
                return "an element of the result has several places"

    def fault_of_success(self, expected):
        besides = []
        for target, one in zip(self.targets, expected):
            if target:
                wrong = self.fault_of(target, one)
                if wrong:
                    return wrong
                besides += [target.shares, target.shares and target.shares.shares]
        return self.unrelated(expected) or self.untouched(besides)

    def unrelated(self, expected):
        """Checks the relation of the results, with a tolerance for the coarsest of their dtypes."""
        got = [target and view(state(target.handle), contents(state(target.handle))) for target in self.targets]
        if not self.call.relation:
            return None
        floats = {dtype for dtype in [one.native.dtype for one in expected] + [t.dtype for t in got if t is not None] if dtype.is_floating_point}
        return self.call.relation(max(torch.finfo(dtype).eps for dtype in floats), *(t if t is None else t.double() for t in got))


def returned(call, got, expected):
    """Returns what is wrong with a returned number."""
    native = expected.native
    if call.returns == "int":
        return None if int(got) == int(native) else f"returned {got}, expected {native.item()}"
    value = torch.tensor(float(got), dtype=torch.float64)
    if native.dtype.is_floating_point:
        ok = any(within(value, exact, [native.dtype], expected) for exact in expected.exact or [native.double()])
        return None if ok else f"returned {got!r}, expected {[e.item() for e in expected.exact or [native]]}"
    return None if float(native) == float(got) else f"returned {got!r}, expected {native.item()}"
