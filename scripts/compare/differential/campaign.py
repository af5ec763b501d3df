"""Random calls: each is made in thorn and in PyTorch, and compared."""

import sys

from ..campaign import Campaign
from . import attending, convolving, creating, decomposing, deviations, elementwise, folding, indexing, multiplying, recurring, sampling, sorting, transforming, viewing
from .calls import Call
from .drawing import Draw
from .judging import KINDS, Trial, returned

SKIPPED = 77
PARTS = (elementwise, folding, indexing, sorting, creating, viewing, multiplying, decomposing, convolving, transforming, recurring, attending, sampling)


def families(word):
    """Operations by module and name."""
    every = [(f"{part.__name__.rpartition('.')[2]}.{name}", draw_call) for part in PARTS for name, draw_call in part.families()]
    return [family for family in every if word in family[0]] or sys.exit(f"no operation contains {word}")


def calls(call, function):
    return isinstance(call, Call) and call.function == function


def families_that_call(function, seed):
    """The operations that call a function of C: those of its name or, if there are none, those that call it in their first calls."""
    every = families("")
    found = {name for name, _ in every if name.endswith("." + function)}
    # Ten calls usually show all functions of an operation.
    for numbers in (range(10), range(10, 60)):
        for name, draw_call in {} if found else dict(every).items():
            if any(calls(draw_call(Draw(seed, number)), function) for number in numbers):
                found.add(name)
    return [family for family in every if family[0] in found]


class Failure(Exception):
    """A difference between thorn and PyTorch."""


def text_of(call):
    def text(argument):
        if hasattr(argument, "optional"):
            return "r"
        return f"[{', '.join(map(text, argument))}]" if isinstance(argument, list) else str(argument)

    return f"{call.function}({', '.join(map(text, call.arguments))})"


def wanted(call, f=None):
    """PyTorch's results as a tuple, and its error, if there is one. `f` may replace PyTorch's function."""
    f = f or call.f
    try:
        expected = call.want(f) if f else call.want()
        return (expected if isinstance(expected, tuple) else (expected,)), None
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, OverflowError) as error:
        return None, error


def check(thorn, draw, call, on_device):
    """Runs one call, and raises a Failure if it differs from PyTorch's. Returns the case in words."""
    expected, error = wanted(call)
    kind = "fresh" if call.fresh else draw.choice(KINDS)
    deviation = deviations.of(call, error)
    if deviation and deviation.refuses:
        expected, error = None, deviation.reason
    elif deviation and deviation.f:
        expected, error = wanted(call, deviation.f(call.f))
    trial = Trial(thorn, draw, call, kind, on_device)
    status = trial.run(expected)
    story = f"{text_of(call)}, {trial.kinds()}"
    if call.undecided or deviation and deviation.either:
        wrong = trial.fault_of_failure() if status else None
    elif error is not None:
        if status == 0:
            raise Failure(f"{story}: succeeded, PyTorch: {str(error).splitlines()[0][:150]}")
        wrong = trial.fault_of_failure()
    else:
        refusal = None if call.returns else trial.must_refuse(expected)
        if refusal and status == 0:
            raise Failure(f"{story}: succeeded, although {refusal}")
        if not refusal and status:
            raise Failure(f"{story}: failed: {trial.said}")
        if status:
            wrong = trial.fault_of_failure()
        elif call.returns:
            wrong = returned(call, trial.got, expected[0]) or trial.untouched()
        else:
            wrong = trial.fault_of_success(expected)
    if wrong:
        raise Failure(f"{story}: {wrong}")


class Calls(Campaign):
    """Random calls of all functions, or of some."""

    cases, shown = 20000, 50

    @classmethod
    def add_options(cls, parser):
        parser.add_argument("--function", default="", help="only operations whose name, with that of their module, contains it")
        parser.add_argument("--call", help="only calls of this function of C, named without THTensor_")
        parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where thorn computes")

    def __init__(self, options):
        super().__init__(options)
        self.on_device = options.device == "cuda"
        # On a GPU, kernels are compiled first.
        self.seconds = 120 if self.on_device else 20
        self.operations = families_that_call(options.call, options.seed) if options.call else families(options.function)
        if not self.operations:
            print(f"no operation calls {options.call}")
            sys.exit(SKIPPED)

    def again(self):
        options = self.options
        return (f" --function {options.function}" if options.function else "") + (f" --call {options.call}" if options.call else "")

    def drawn(self, draw):
        """The name of an operation, and a call of it."""
        while True:
            name, draw_call = draw.choice(self.operations)
            call = draw_call(draw)
            if not self.options.call or calls(call, self.options.call):
                return name, call

    def fault(self, number):
        draw = Draw(self.options.seed, number)
        try:
            name, call = self.drawn(draw)
            self.say(number, f"{name} {text_of(call) if isinstance(call, Call) else ''}")
            if isinstance(call, Call):
                check(self.thorn, draw, call, self.on_device)
            elif not self.on_device:  # views, which are computed on the host
                call(self.thorn)
        except (Failure, viewing.Different) as failure:
            return str(failure)
        finally:
            self.thorn.close()
