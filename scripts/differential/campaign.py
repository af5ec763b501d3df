"""Runs numbered cases in a child process, so that a crash or a hang fails only one case."""

import mmap
import os
import signal
import struct
import sys
import time
import traceback
import warnings

import torch

from . import convolving, creating, decomposing, deviations, elementwise, folding, indexing, multiplying, sorting, transforming, viewing
from .calls import Call
from .drawing import Draw
from .judging import KINDS, Trial, returned
from .library import Session, library_path, load

SECONDS_PER_CASE = 20
# Includes the time to compile kernels.
SECONDS_ON_DEVICE = 120
PARTS = (elementwise, folding, indexing, sorting, creating, viewing, multiplying, decomposing, convolving, transforming)


def families(word):
    """Operations by module and name."""
    every = [(f"{part.__name__.rpartition('.')[2]}.{name}", draw_call) for part in PARTS for name, draw_call in part.families()]
    return [family for family in every if word in family[0]] or sys.exit(f"no operation contains {word}")


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


def check(session, draw, call):
    """Runs one call, and raises a Failure if it differs from PyTorch's. Returns the case in words."""
    expected, error = wanted(call)
    kind = "fresh" if call.fresh else draw.choice(KINDS)
    deviation = deviations.of(call, error)
    if deviation and deviation.refuses:
        expected, error = None, deviation.reason
    elif deviation and deviation.f:
        expected, error = wanted(call, deviation.f(call.f))
    trial = Trial(session, draw, call, kind)
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


def run_case(library, operations, seed, number, verbose=False, device=False):
    """Returns what is wrong with a case; None if nothing is."""
    draw = Draw(seed, number)
    name, draw_call = draw.choice(operations)
    session = Session(library, device)
    try:
        call = draw_call(draw)
        if verbose:
            print(f"{number}: {name}", text_of(call) if isinstance(call, Call) else "", flush=True)
        if isinstance(call, Call):
            check(session, draw, call)
        elif not device:  # views, which are computed on the host
            call(session)
    except (Failure, viewing.Different) as failure:
        return name, str(failure)
    except Exception:  # an error of this program
        return name, "the case itself failed: " + traceback.format_exc()
    finally:
        session.close()


class Board:
    """State that the child shares with the parent: the number of the current case, and the number of failures."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 16)

    def write(self, number, failed):
        self.memory[:] = struct.pack("qq", number, failed)

    def read(self):
        return struct.unpack("qq", self.memory[:])


def child(options, board, numbers):
    """Runs the cases, and ends the process."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    library = load(library_path())
    operations = families(options.function)
    failed = board.read()[1]
    for number in numbers:
        board.write(number, failed)
        signal.alarm(SECONDS_ON_DEVICE if options.device == "cuda" else SECONDS_PER_CASE)
        wrong = run_case(library, operations, options.seed, number, options.verbose, options.device == "cuda")
        if wrong:
            failed += 1
            if failed <= options.failures:
                print(f"case {number}: {wrong[1]}", flush=True)
    signal.alarm(0)
    left = library.THMemory_liveBytes()
    if left > 64 << 10:
        print(f"{left} bytes are still held")
        failed += 1
    board.write(numbers[-1] + 1, failed)
    sys.stdout.flush()
    os._exit(0)


def main(options):
    board, started = Board(), time.time()
    first, last = (options.only, options.only + 1) if options.only is not None else (options.start, options.start + options.cases)
    board.write(first, 0)
    while board.read()[0] < last:
        begin = board.read()[0]
        pid = os.fork()
        if pid == 0:
            try:
                child(options, board, range(begin, last))
            finally:
                os._exit(1)
        status = os.waitpid(pid, 0)[1]
        number, failed = board.read()
        if status:
            what = "ran too long" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else f"ended the process ({status})"
            print(f"case {number}: {what}", flush=True)
            board.write(number + 1, failed + 1)
    failed = board.read()[1]
    print(f"seed {options.seed}: {last - first} cases, {failed} failed, {time.time() - started:.0f} s")
    if failed:
        print(f"again: {sys.argv[0]} --seed {options.seed} --only NUMBER" + (f" --function {options.function}" if options.function else ""))
    return failed > 0
