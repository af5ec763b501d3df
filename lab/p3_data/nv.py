import ctypes, os, sys
L = "/work/p3/target/nvrtc/nvidia/cu13/lib/"
ctypes.CDLL(L + "libnvrtc-builtins.so.13.0", mode=ctypes.RTLD_GLOBAL)
N = ctypes.CDLL(L + "libnvrtc.so.13")
def compile(text, more=(), arch="sm_90", fmad=False):
    p = ctypes.c_void_p()
    N.nvrtcCreateProgram(ctypes.byref(p), text.encode(), b"lab", 0, None, None)
    o = ["--gpu-architecture=" + arch, "--std=c++17", "-default-device", "--ptxas-options=-v"] + ([] if fmad else ["--fmad=false"]) + list(more)
    a = (ctypes.c_char_p * len(o))(*[x.encode() for x in o])
    r = N.nvrtcCompileProgram(p, len(o), a)
    n = ctypes.c_size_t(); N.nvrtcGetProgramLogSize(p, ctypes.byref(n))
    log = ctypes.create_string_buffer(n.value); N.nvrtcGetProgramLog(p, log)
    if r: raise SystemExit(log.value.decode())
    N.nvrtcGetCUBINSize(p, ctypes.byref(n)); b = ctypes.create_string_buffer(n.value); N.nvrtcGetCUBIN(p, b)
    return b.raw, log.value.decode()
