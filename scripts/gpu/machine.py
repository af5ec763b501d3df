"""Facts about the machine that runs a pack: its GPU, the driver, and the CUDA libraries that programs find."""

import contextlib
import ctypes
import json
import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

# The device names of the null driver and of the emulated driver, tests/cuda_emu.
NULL, EMULATED = "Null CUDA device", "Emulated CUDA device"
ASK_NVRTC = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
major, minor = ctypes.c_int(), ctypes.c_int()
library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
print(f"{major.value}.{minor.value}")
"""


def output(command, seconds, environment=None):
    """The output of a program; empty if the program fails, hangs or is missing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
        return done.stdout if done.returncode == 0 else ""
    except (OSError, subprocess.TimeoutExpired):
        return ""


def nvrtc_version(library, environment):
    """The version of an NVRTC, by a separate process: loading a library may crash."""
    return output([sys.executable, "-c", ASK_NVRTC, str(library)], 20, environment).strip()


def folders():
    """Folders in which a Python package, such as PyTorch's, has CUDA libraries."""
    roots = dict.fromkeys(Path(entry) / "nvidia" for entry in sys.path if entry)
    found = (root / name for root in roots for name in ("cu13/lib", "cuda_nvrtc/lib"))
    return [folder for folder in found if any(folder.glob("libnvrtc.so*"))]


def find_nvrtc(wanted, environment):
    """The folder and the version of an NVRTC, of the version `wanted` if there is one. The folder is "" if the loader finds the library."""
    candidates = ["", *map(str, folders()), "/usr/local/cuda/lib64"]
    if named := environment.get("TH_CUDA_LIBRARIES"):
        candidates = [named]
    found = []
    for folder in candidates:
        files = sorted(Path(folder).glob("libnvrtc.so*"), key=lambda path: len(path.name))
        names = files if folder else ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
        # The library does not find its second part by itself, so the loader gets the folder.
        paths = {**environment, "LD_LIBRARY_PATH": joined(folder, environment)}
        versions = (nvrtc_version(name, paths) for name in names)
        version = next((version for version in versions if version), "")
        if version:
            found.append((folder, version))
    return next((pair for pair in found if pair[1] == wanted), found[0] if found else ("", ""))


def joined(folder, environment):
    return ":".join(filter(None, [folder, environment.get("LD_LIBRARY_PATH", "")]))


def gpu_facts(program, environment):
    """The facts that gpu_bench prints about the first GPU, by name; empty without a GPU."""
    text = output([str(program), "--facts"], 60, environment)
    return dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)


def driver_version():
    try:
        version = ctypes.c_int()
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
        return f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"
    except OSError:
        return "none"


def find_torch():
    """The version of PyTorch, "" without PyTorch, and whether it finds a GPU."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        found = output([sys.executable, "-c", "import torch; print(torch.cuda.is_available())"], 90).strip()
        return metadata.version("torch"), found == "True"
    return "", False


def describe(pack, bench, out, environment):
    """All facts, which are also written to machine.json. nvidia-smi's output is written to nvidia-smi.txt."""
    if shutil.which("nvidia-smi"):
        (out / "nvidia-smi.txt").write_text(output(["nvidia-smi"], 20) + output(["nvidia-smi", "-q", "-d", "CLOCK,POWER,ECC"], 20))
    torch, on_gpu = find_torch()
    query = "name,driver_version,compute_cap,memory.total,clocks.max.sm,clocks.max.mem,mig.mode.current"
    facts = {
        "pack": pack,
        "gpu": gpu_facts(bench, environment),
        "nvidia_smi": output(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], 20).strip(),
        "driver": driver_version(),
        "system": f"{platform.system()} {platform.release()}, glibc {platform.libc_ver()[1]}",
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "torch": torch,
        "torch_gpu": on_gpu,
        "tools": [name for name in ("compute-sanitizer", "ncu") if tool(name)],
    }
    save(facts, out)
    return facts


def save(facts, out):
    (out / "machine.json").write_text(json.dumps(facts, indent=1) + "\n")


def tool(name):
    """The path of a CUDA tool; None if it is missing."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
