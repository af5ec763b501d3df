"""The kind of the processor, and how busy other programs keep the machine."""

import os
from pathlib import Path

KINDS = {"avx2": "AVX2", "avx512": "AVX-512", "avx512-amx": "AVX-512 with AMX", "cuda": "GPU"}
BUSY = 0.5  # cores that other programs use from which a row is marked


def cpuinfo(field):
    """The value of the first line of /proc/cpuinfo that begins with `field`."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(field)), "")


def processor():
    return cpuinfo("model name") or "unknown processor"


def kind(level):
    """The kind of the processor for the library's level, which TH_SIMD may lower."""
    amx = level == "avx512" and "amx_tile" in cpuinfo("flags").split()
    return "avx512-amx" if amx else level


class Others:
    """Measures how many cores other programs use between `start` and `cores`."""

    def __init__(self):
        self.tick = os.sysconf("SC_CLK_TCK")
        self.start()

    def start(self):
        self.began = self.now()

    def now(self):
        """The seconds of a core that the machine has spent outside this process and its children, and the time."""
        user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split(None, 9)[1:9])
        spent = os.times()
        ours = spent.user + spent.system + spent.children_user + spent.children_system
        return (user + nice + system + irq + softirq + steal) / self.tick - ours, spent.elapsed

    def cores(self):
        busy, elapsed = (after - before for before, after in zip(self.began, self.now()))
        return max(0.0, busy / elapsed) if elapsed else 0.0
