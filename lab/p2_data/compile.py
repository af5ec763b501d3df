import ctypes, sys, re
L='/work/p2/target/nvrtc/nvidia/cu13/lib/'
ctypes.CDLL(L+'libnvrtc-builtins.so.13.0'); n=ctypes.CDLL(L+'libnvrtc.so.13')
def comp(name):
    src=open(name+'.cu').read().encode()
    p=ctypes.c_void_p()
    n.nvrtcCreateProgram(ctypes.byref(p),src,name.encode(),0,None,None)
    o=[b'--gpu-architecture=sm_90',b'--std=c++17',b'-default-device',b'--ptxas-options=-v']
    r=n.nvrtcCompileProgram(p,len(o),(ctypes.c_char_p*len(o))(*o))
    s=ctypes.c_size_t(); n.nvrtcGetProgramLogSize(p,ctypes.byref(s)); b=ctypes.create_string_buffer(s.value); n.nvrtcGetProgramLog(p,b)
    log=b.value.decode()
    if r: print(log); sys.exit(1)
    for m in re.findall(r"Compiling entry function '(\w+)'.*?(\d+ bytes stack.*?spill loads).*?Used (\d+ registers).*?(\d+ bytes smem)?\n",log,re.S): print(m)
    n.nvrtcGetCUBINSize(p,ctypes.byref(s)); b=ctypes.create_string_buffer(s.value); n.nvrtcGetCUBIN(p,b)
    open(name+'.cubin','wb').write(b.raw)
for x in sys.argv[1:]: comp(x)
