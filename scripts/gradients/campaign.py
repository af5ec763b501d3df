"""Runs numbered programs in a child process, so that a crash fails only one program."""

import mmap
import os
import struct
import sys
import time
import traceback
import warnings

import torch

from .library import Thorn
from .program import Maker, fault, minimised


def child(options, board, numbers):
    """Runs the programs, and ends the process."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    thorn, shown, held = Thorn(), {}, None
    thorn.THGrad_setEnabled(1)
    _, failed = struct.unpack("qq", board[:])
    for number in numbers:
        board[:] = struct.pack("qq", number, failed)
        steps = Maker(options.seed, number).make()
        if options.verbose:
            print(f"program {number}:", *steps, sep="\n    ", flush=True)
        try:
            wrong = fault(thorn, steps)
        except Exception:  # an error of this program
            wrong = "the program itself failed: " + traceback.format_exc()
        if wrong:
            failed += 1
            if failed <= options.failures:
                fewer = minimised(thorn, steps) if "itself failed" not in wrong else steps
                print(f"program {number}: {fault(thorn, fewer) or wrong}", *fewer, sep="\n    ", flush=True)
    left = thorn.close()
    if left > 64 << 10:
        print(f"{left} bytes are still held")
        failed += 1
    board[:] = struct.pack("qq", numbers[-1] + 1, failed)
    sys.stdout.flush()
    os._exit(0)


def main(options):
    board, started = mmap.mmap(-1, 16), time.time()
    first, last = (options.only, options.only + 1) if options.only is not None else (0, options.cases)
    board[:] = struct.pack("qq", first, 0)
    while struct.unpack("qq", board[:])[0] < last:
        begin = struct.unpack("qq", board[:])[0]
        pid = os.fork()
        if pid == 0:
            try:
                child(options, board, range(begin, last))
            finally:
                traceback.print_exc()
                os._exit(1)
        status = os.waitpid(pid, 0)[1]
        number, failed = struct.unpack("qq", board[:])
        if status:
            print(f"program {number}: ended the process ({status})", flush=True)
            board[:] = struct.pack("qq", number + 1, failed + 1)
    failed = struct.unpack("qq", board[:])[1]
    print(f"seed {options.seed}: {last - first} programs, {failed} failed, {time.time() - started:.0f} s")
    if failed:
        print(f"again: {sys.argv[0]} --seed {options.seed} --only NUMBER")
    return int(failed > 0)
