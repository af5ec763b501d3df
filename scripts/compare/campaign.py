"""The loop of a random test: numbered cases run in a child process, so that a crash or a hang fails only one case."""

import argparse
import mmap
import os
import signal
import struct
import sys
import time
import traceback
import warnings

import torch

from .library import Thorn


class Board:
    """State that the child shares with the parent: the number of the current case, and the number of failures."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 16)

    def write(self, number, failed):
        self.memory[:] = struct.pack("qq", number, failed)

    def read(self):
        return struct.unpack("qq", self.memory[:])


class Campaign:
    """Numbered cases. A subclass draws the case of a seed and a number, always the same one, and runs it.

    Class attributes: `noun`, a case in one word; `cases` and `shown`, the default numbers of cases and of failures to print; `seconds`, the
    time limit of a case.
    """

    noun = "case"
    cases, shown, seconds = 1000, 20, 20

    def __init__(self, options):
        self.options = options

    @classmethod
    def main(cls, description):
        """Runs the cases that the command line asks for, and ends the program."""
        parser = argparse.ArgumentParser(description=description.splitlines()[0])
        parser.add_argument("--cases", type=int, default=cls.cases)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--start", type=int, default=0, help="the number of the first case")
        parser.add_argument("--only", type=int, help="the number of the only case")
        parser.add_argument("--failures", type=int, default=cls.shown, help="failures to show")
        parser.add_argument("--verbose", action="store_true", help="prints each case before it runs")
        cls.add_options(parser)
        # A child of fork must not wait for PyTorch's threads.
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")
        sys.exit(cls(parser.parse_args()).run())

    @classmethod
    def add_options(cls, parser):
        """Adds options of the subclass."""

    def begin(self, thorn):
        """Called in the child before the first case."""
        self.thorn = thorn

    def fault(self, number):
        """Runs a case. Returns what is wrong with it as text; None if nothing is."""
        raise NotImplementedError

    def again(self):
        """Options that repeat these cases, in addition to the seed and the number."""
        return ""

    def say(self, number, *lines):
        """Prints a case before it runs, if the user wants that."""
        if self.options.verbose:
            print(f"{self.noun} {number}: " + "\n    ".join(map(str, lines)), flush=True)

    def child(self, board, numbers):
        """Runs the cases, and ends the process."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        thorn = Thorn()
        self.begin(thorn)
        failed = board.read()[1]
        for number in numbers:
            board.write(number, failed)
            signal.alarm(self.seconds)
            try:
                wrong = self.fault(number)
            except Exception:  # an error of this program
                wrong = f"the {self.noun} itself failed: " + traceback.format_exc()
            if wrong:
                failed += 1
                if failed <= self.options.failures:
                    print(f"{self.noun} {number}: {wrong}", flush=True)
        signal.alarm(0)
        left = thorn.close()
        if left > 64 << 10:
            print(f"{left} bytes are still held")
            failed += 1
        board.write(numbers[-1] + 1, failed)
        sys.stdout.flush()
        os._exit(0)

    def run(self):
        """Returns the exit status."""
        options, board, started = self.options, Board(), time.time()
        first, last = (options.only, options.only + 1) if options.only is not None else (options.start, options.start + options.cases)
        board.write(first, 0)
        while board.read()[0] < last:
            begin = board.read()[0]
            pid = os.fork()
            if pid == 0:
                try:
                    self.child(board, range(begin, last))
                finally:
                    traceback.print_exc()
                    sys.stderr.flush()
                    os._exit(1)
            status = os.waitpid(pid, 0)[1]
            number, failed = board.read()
            if status:
                what = "ran too long" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else f"ended the process ({status})"
                print(f"{self.noun} {number}: {what}", flush=True)
                board.write(number + 1, failed + 1)
        failed = board.read()[1]
        print(f"seed {options.seed}: {last - first} {self.noun}s, {failed} failed, {time.time() - started:.0f} s")
        if failed:
            print(f"again: {sys.argv[0]} --seed {options.seed} --only NUMBER{self.again()}")
        return int(failed > 0)
