"""A random program: how its steps are drawn, how thorn and PyTorch run it, and how they differ."""

import random
import re
from dataclasses import dataclass

import torch

from ..library import Refused
from .operations import OPERATIONS

MOST_ELEMENTS = 400
NAMES = list(OPERATIONS)
WEIGHTS = [operation.weight for operation in OPERATIONS.values()]


# Operations that save their result where PyTorch saves their input, or save their inputs where PyTorch saves copies.
KEEPS_OTHERS = {"hardtanh", "hypot", "matmul"}


class Failure(Exception):
    """A difference between thorn and PyTorch."""


class Stricter(Failure):
    """PyTorch saved a tensor that was changed in place, and thorn does not need it."""


@dataclass
class Step:
    name: str  # an operation, or "tensor", "require", "backward", "twice"
    inputs: tuple = ()  # indices of tensors
    numbers: tuple = ()
    outputs: tuple = ()
    recorded: bool = True

    def __str__(self):
        arguments = ", ".join([*(f"v{k}" for k in self.inputs), *map(str, self.numbers)])
        if self.name == "tensor":
            value, requires = self.numbers
            arguments = f"{value.tolist()}, {str(value.dtype).removeprefix('torch.')}{', requires' if requires else ''}"
        made = ", ".join(f"v{k}" for k in self.outputs)
        return f"{made + ' = ' if made else ''}{self.name}({arguments}){'' if self.recorded else '  # not recorded'}"


def overlaps_itself(t):
    if t.numel() < 2:
        return False
    indices = torch.cartesian_prod(*(torch.arange(n) for n in t.shape)).reshape(t.numel(), -1)
    return len(set((indices * torch.tensor(t.stride())).sum(1).tolist())) < t.numel()


def memory_of(t):
    return t.untyped_storage().data_ptr()


def weights_for(shapes, seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def run_torch(step, tensors, copied=None):
    """Runs one step of an operation in PyTorch. Returns the list of results. Steps whose results have another layout are added to
    `copied`."""
    # A view whose base has received a history counts as a leaf until its history is requested.
    for t in tensors:
        t.grad_fn
    with torch.set_grad_enabled(step.recorded):
        made = OPERATIONS[step.name].torch(*tensors, *step.numbers)
    if OPERATIONS[step.name].kind == "place":
        return []
    # In thorn the results of operations are row-major.
    if OPERATIONS[step.name].kind == "fresh" and not made.is_contiguous():
        made = made.contiguous()
        if copied is not None:
            copied.append(step)
    return made if isinstance(made, list) else [made]


class Maker:
    """Draws a program, while PyTorch runs it."""

    def __init__(self, seed, number):
        self.draw = random.Random(f"{seed}:{number}")
        self.steps, self.values, self.pieces, self.detached = [], {}, set(), set()
        self.double = self.draw.random() < 0.5  # otherwise both float32 and float64
        self.next = 0

    def name(self):
        self.next += 1
        return self.next - 1

    def dtype(self):
        return torch.float64 if self.double else self.draw.choice([torch.float32, torch.float64])

    def shape(self):
        common = [(3,), (2, 3), (3, 3), (4,), (2, 3, 4), (), (1, 3), (2, 1, 3), (4, 2)]
        return self.draw.choice(common)

    def start(self, value, requires=False):
        step = Step("tensor", (), (value, requires), (self.name(),))
        self.steps.append(step)
        self.values[step.outputs[0]] = value.clone().requires_grad_(requires)

    def begin(self):
        generator = torch.Generator().manual_seed(self.draw.randrange(1 << 30))
        for k in range(self.draw.randint(1, 3)):
            self.start((torch.randn(self.shape(), generator=generator, dtype=torch.float64) * 0.8).to(self.dtype()), True)
        for k in range(self.draw.randint(1, 3)):
            value = torch.randn(self.shape(), generator=generator, dtype=torch.float64)
            self.start((value if self.draw.random() < 0.4 else torch.zeros_like(value)).to(self.dtype()))
        self.start(torch.tensor(self.draw.choice([[0, 1], [1, 0, 1], [1, 1]])))
        self.start(torch.rand(self.draw.choice([(3,), (2, 3), (3, 3), (2, 3, 4)]), generator=generator) < 0.5)

    def pick(self, operation):
        """The indices of tensors that may be inputs. Later ones are drawn more often. The last input may repeat one of the first."""
        picked = []
        for place in range(operation.inputs):
            special = torch.int64 if place in operation.integers else torch.bool if place in operation.masks else None
            fit = [k for k, t in self.values.items() if (t.dtype == special if special else t.is_floating_point())]
            if not fit:
                return None
            picked.append(self.draw.choice(fit[-6:] if self.draw.random() < 0.4 else fit))
        return tuple(picked)

    def forbidden(self, operation, inputs, recorded):
        """True for operations on which thorn and PyTorch differ intentionally, or that would only fail."""
        t = inputs[0]
        if operation.kind in ("view", "pieces", "detach") and not recorded:
            return True
        if operation.kind != "place":
            return False
        if overlaps_itself(t) or memory_of(t) in self.pieces:
            return True
        # In thorn the history of memory is that of all handles, or a later use is an error. In PyTorch a detached tensor loses it.
        if recorded and memory_of(t) in self.detached:
            return True
        if any(memory_of(other) == memory_of(t) and (other is not t or operation.integers) for other in inputs[1:]):
            return True
        if not recorded and t.requires_grad and not t.is_leaf and operation.name in ("copy_", "fill_", "zero_"):
            return True
        leaf = t if t._base is None else t._base
        if recorded and leaf.requires_grad and leaf.is_leaf and self.draw.random() < 0.95:
            return True
        return any(other.dtype == torch.float64 and t.dtype == torch.float32 for other in inputs[1:])

    def one(self):
        """Draws an operation. Returns False if none fits."""
        operation = OPERATIONS[self.draw.choices(NAMES, WEIGHTS)[0]]
        picked = self.pick(operation)
        if picked is None:
            return False
        inputs = [self.values[k] for k in picked]
        recorded = self.draw.random() < 0.93
        if self.forbidden(operation, inputs, recorded):
            return False
        with torch.no_grad():
            numbers = operation.draw(self.draw, *(t.detach() for t in inputs))
        if numbers is None:
            return False
        step = Step(operation.name, picked, tuple(numbers), (), recorded)
        try:
            made = run_torch(step, inputs)
        except RuntimeError:
            self.steps.append(step)
            return True
        if any(t.numel() > MOST_ELEMENTS or t.numel() and not t.detach().abs().max() < 1e3 for t in made):
            return False
        if operation.kind == "place" and inputs[0].numel() and not inputs[0].detach().abs().max() < 1e3:
            self.steps.append(step)
            raise OverflowError
        if operation.kind == "detach":
            self.detached.add(memory_of(inputs[0]))
        if operation.kind == "pieces":
            self.pieces.add(memory_of(inputs[0]))
        step.outputs = tuple(self.name() for _ in made)
        self.values.update(zip(step.outputs, made))
        self.steps.append(step)
        return True

    def require(self):
        free = [k for k, t in self.values.items() if t.is_floating_point() and not t.requires_grad]
        alone = [k for k in free if sum(memory_of(self.values[k]) == memory_of(t) for t in self.values.values()) == 1]
        if alone:
            k = self.draw.choice(alone)
            self.values[k].requires_grad_()
            self.steps.append(Step("require", (k,)))

    def backward(self, name, retain):
        roots = [k for k, t in self.values.items() if t.requires_grad and t.numel()]
        if roots:
            picked = self.draw.sample(roots, min(len(roots), self.draw.randint(1, 4)))
            self.steps.append(Step(name, tuple(picked), (self.draw.randrange(1 << 20), retain)))

    def make(self):
        self.begin()
        length = self.draw.randint(5, 30)
        try:
            for _ in range(length * 40):
                if len(self.steps) >= length + 6:
                    break
                if self.draw.random() < 0.002:
                    self.backward("backward", True)
                elif self.draw.random() < 0.004:
                    self.require()
                else:
                    self.one()
        except OverflowError:
            self.steps.pop()
        self.backward(self.draw.choice(["backward", "backward", "twice"]), False)
        return self.steps


class Pair:
    """A program that thorn and PyTorch run side by side."""

    def __init__(self, thorn, is_lenient=False):
        self.is_lenient = is_lenient  # PyTorch copies every tensor that it saves
        self.thorn, self.tensors, self.handles, self.leaves = thorn, {}, {}, []
        self.loose, self.names, self.copied = 1e-9, set(), []

    def both(self, step, torch_side, thorn_side):
        """Runs both sides. Returns their results, or None if both fail."""
        made = told = None
        try:
            made = torch_side()
        except RuntimeError as error:
            told = str(error).splitlines()[0]
        try:
            given = thorn_side()
        except Refused as error:
            if told is None and not self.means_to_refuse(str(error)):
                raise Failure(f"{step}: thorn says: {error}") from None
            return None
        if told is not None:
            raise (Stricter if "modified by an inplace operation" in told else Failure)(f"{step}: PyTorch says: {told}")
        return made, given

    def means_to_refuse(self, error):
        """True if thorn needs a tensor that was changed in place, and PyTorch needs another one or a copy."""
        needs = re.search(r"the gradient of (\w+) needs was changed in place", error)
        return needs and (self.is_lenient or self.copied or needs.group(1) + "_" in self.names or needs.group(1) in KEEPS_OTHERS)

    def same(self, what, expected, got):
        if expected.shape != got.shape or expected.dtype != got.dtype:
            raise Failure(f"{what} is {got.dtype}{list(got.shape)}, in PyTorch {expected.dtype}{list(expected.shape)}")
        if not expected.is_floating_point():
            return
        scale = max(1.0, expected.abs().nan_to_num(0, 0, 0).max().item()) if expected.numel() else 1
        if not torch.allclose(expected, got, self.loose, self.loose * scale, equal_nan=True):
            raise Failure(f"{what} is {got.tolist()}, in PyTorch {expected.tolist()}")

    def same_state(self, k):
        t, handle = self.tensors[k], self.handles[k]
        requires = bool(self.thorn.requiresGrad(handle))
        if requires and not t.requires_grad:
            raise Failure(f"v{k} requires a gradient in thorn alone")
        # A tensor that is overwritten by fill or copy no longer requires a gradient in thorn. In PyTorch it requires one that is 0.
        if requires == t.requires_grad and bool(self.thorn.isLeaf(handle)) != t.is_leaf:
            raise Failure(f"v{k} is a leaf in {'PyTorch' if t.is_leaf else 'thorn'} alone")

    def operation(self, step):
        tensors, handles = [self.tensors[k] for k in step.inputs], [self.handles[k] for k in step.inputs]

        def thorn_side():
            self.thorn.THGrad_setEnabled(int(step.recorded))
            try:
                made = OPERATIONS[step.name].thorn(self.thorn, *handles, *step.numbers)
            finally:
                self.thorn.THGrad_setEnabled(1)
            return [] if made is None else made if isinstance(made, list) else [made]

        got = self.both(step, lambda: run_torch(step, tensors, self.copied), thorn_side)
        if got is None:
            return
        for k, t, handle in zip(step.outputs, *got):
            self.tensors[k], self.handles[k] = t, handle
            self.same(f"v{k}, {step}", t.detach(), self.thorn.value(handle))
            self.same_state(k)
        for k in step.inputs:
            self.same_state(k)

    def roots(self, step):
        """Weights of the roots for both sides, and the roots."""
        keys = [k for k in step.inputs if k in self.tensors and self.tensors[k].requires_grad and self.thorn.requiresGrad(self.handles[k])]
        weights = [w.to(self.tensors[k].dtype) for k, w in zip(keys, weights_for([self.tensors[k].shape for k in keys], step.numbers[0]))]
        return keys, weights

    def backward_of(self, step, tensors, handles, weights, retain, create):
        given = tuple(self.thorn.tensor(w) for w in weights)
        return self.both(
            step,
            lambda: torch.autograd.backward(tensors, weights, retain_graph=retain or None, create_graph=create) or True,
            lambda: self.thorn.THGrad_backward(tuple(handles), given, len(handles), int(retain), int(create)) or True,
        )

    def gradients(self, step, what):
        """Compares the gradients of all leaves. Returns the gradients."""
        found = []
        for k in self.leaves:
            expected, handle = self.tensors[k].grad, self.thorn.newGrad(self.handles[k])
            if handle:
                self.thorn.keep(handle)
            if (expected is None) != (not handle):
                # A gradient of zeros equals a missing gradient.
                if (self.thorn.value(handle) if handle else expected.detach()).any():
                    raise Failure(f"{what} of v{k} is there in {'PyTorch' if handle is None else 'thorn'} alone")
            elif handle:
                self.same(f"{what} of v{k}", expected.detach(), self.thorn.value(handle))
                found.append((expected, handle))
        return found

    def backward(self, step):
        """Returns False if both fail, after which gradients are undefined."""
        keys, weights = self.roots(step)
        twice = step.name == "twice"
        if not keys:
            return True
        for k in self.leaves if twice else []:
            self.tensors[k].grad = None
            self.thorn.setGrad(self.handles[k], None)
        tensors, handles = [self.tensors[k] for k in keys], [self.handles[k] for k in keys]
        if not self.backward_of(step, tensors, handles, weights, step.numbers[1], twice):
            return False
        found = self.gradients(step, "the gradient")
        if not twice:
            return True
        found = [(t, handle) for t, handle in found if t.requires_grad and self.thorn.requiresGrad(handle)]
        for k in self.leaves:
            self.tensors[k].grad = None
            self.thorn.setGrad(self.handles[k], None)
        if found:
            weights = [w.to(t.dtype) for (t, _), w in zip(found, weights_for([t.shape for t, _ in found], step.numbers[0] + 1))]
            if not self.backward_of(step, [t for t, _ in found], [handle for _, handle in found], weights, False, False):
                return False
            self.gradients(step, "the second gradient")
        return True

    def run(self, steps):
        self.names = {step.name for step in steps}
        if "newTo" in self.names or any(step.numbers[0].dtype == torch.float32 for step in steps if step.name == "tensor"):
            self.loose = 2e-4
        for step in steps:
            if step.name in ("backward", "twice"):
                if not self.backward(step):
                    return
            elif any(k not in self.tensors for k in step.inputs):
                continue
            elif step.name == "tensor":
                value, requires = step.numbers
                k = step.outputs[0]
                self.tensors[k], self.handles[k] = value.clone().requires_grad_(requires), self.thorn.tensor(value)
                if requires:
                    self.thorn.setRequiresGrad(self.handles[k], 1)
                    self.leaves.append(k)
            elif step.name == "require":
                k = step.inputs[0]
                if not self.tensors[k].requires_grad:
                    self.tensors[k].requires_grad_()
                    self.thorn.setRequiresGrad(self.handles[k], 1)
                    self.leaves.append(k)
            else:
                self.operation(step)
        for k, t in self.tensors.items():
            self.same(f"v{k} in the end", t.detach(), self.thorn.value(self.handles[k]))
            self.same_state(k)


def fault(thorn, steps):
    """Returns what is wrong with a program; None if nothing is."""
    try:
        Pair(thorn).run(steps)
    except Stricter:
        thorn.close()
        if any(step.name == "twice" for step in steps):
            return None
        # If PyTorch saves copies, it computes the gradients of the program, though not the gradients of these copies.
        with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda t: t):
            try:
                Pair(thorn, is_lenient=True).run(steps)
            except Failure as failure:
                return str(failure)
    except Failure as failure:
        return str(failure)
    finally:
        thorn.close()
    return None


def minimised(thorn, steps):
    """Returns the program without the steps that its fault does not need."""
    for _ in range(3):
        for k in reversed(range(len(steps))):
            fewer = steps[:k] + steps[k + 1 :]
            if fault(thorn, fewer):
                steps = fewer
    return steps
