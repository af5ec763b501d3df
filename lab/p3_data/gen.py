import re, sys, json
sys.path.insert(0, "/work/lab/p3_data")
from nv import compile
K = "/work/p3/src/cuda/kernels/"
rd = lambda n: open(K + n).read()
base = rd("prelude.cuh") + rd("real.cuh") + rd("double.cuh") + rd("gamma.cuh") + rd("map.cu")
lab = open("/work/lab/p3_data/lab.cuh").read()
def kernel(name, args, call, threads=256): return f'extern "C" __global__ void __launch_bounds__({threads}) {name}(const __grid_constant__ {args} args) {{ {call}; }}\n'
text = base + lab
for n in (2, 3, 4):
    text += f"typedef FlatArgs<{n}> FlatArgs{n};\ntypedef WalkArgs<{n}> WalkArgs{n};\n"
text += "typedef FusedArgs<3> FusedArgs3;\n"
OPS = {  # op: T, F, S, R, N
 "cadd": ("f32", "f32", "f32", "f32", 3), "caddh": ("f32", "bf16", "bf16", "bf16", 3), "mul": ("f32", "f32", "f32", "f32", 2), "exp": ("f32", "f32", "f32", "f32", 2),
 "tanh": ("f32", "f32", "f32", "f32", 2), "gt": ("f32", "f32", "f32", "Bool", 2), "where": ("i32", "Bool", "i32", "i32", 4)}
for o, (T, F, S, R, N) in OPS.items():
    op = "op_" + o.rstrip("h") if o == "caddh" else "op_" + o
    if o != "where": text += kernel(f"old_{o}", f"MapArgs{N}", f"map_flat<{op}, {T}, {S}, {R}, {N}>(args)")
    A = {"bf16": "f32"}.get(F, F)
    C = {"bf16": "f32"}.get(R, R)
    if o in ("cadd", "where"): text += kernel(f"strided_{o}", f"MapArgs{N}", f"map_strided<{op}, {A}, {T}, {C}, {N}>(args)")
    for U in (1, 2, 4): text += kernel(f"flat_{o}_u{U}", f"FlatArgs{N}", f"flat<{op}, {T}, {F}, {S}, {R}, {N}, {U}, 0, 0>(args, args.total, args.aligned)", 512)
    V = 16 // {"bf16": 2}.get(S, 4)
    for v in sorted({4, V}):
        text += kernel(f"one_{o}_v{v}", f"WalkArgs{N}", f"walk_one<{op}, {T}, {F}, {S}, {R}, {N}, {v}>(args)")
    if o in ("cadd", "where"):
        for v in (4,): text += kernel(f"any_{o}_v{v}", f"WalkArgs{N}", f"walk_any<{op}, {T}, {A}, {C}, {N}, {v}>(args)")
def bounded(k, blocks): return k.replace("__launch_bounds__(256)", f"__launch_bounds__(256, {blocks})")
for v, b in ((4, 3), (4, 4), (4, 5), (2, 4), (2, 6), (1, 8)):
    for o, A, T, R, N in (("cadd", "f32", "f32", "f32", 3), ("where", "Bool", "i32", "i32", 4)):
        text += bounded(kernel(f"any_{o}_v{v}b{b}", f"WalkArgs{N}", f"walk_any<op_{o}, {T}, {A}, {R}, {N}, {v}>(args)"), b)
        text += bounded(kernel(f"raw_{o}_v{v}b{b}", f"WalkArgs{N}", f"walk_raw<op_{o}, {T}, {A}, {R}, {N}, {v}>(args)"), b)
for o, T, F, R, v, b in (("cadd", "f32", "f32", "f32", 4, 6), ("cadd", "f32", "f32", "f32", 4, 8), ("caddh", "f32", "bf16", "bf16", 8, 5), ("caddh", "f32", "bf16", "bf16", 8, 6)):
    text += bounded(kernel(f"one_{o}_v{v}b{b}", "WalkArgs3", f"walk_one<op_cadd, {T}, {F}, {F}, {R}, 3, {v}>(args)"), b)
text += kernel("raw_cadd_v4", "WalkArgs3", "walk_raw<op_cadd, f32, f32, f32, 3, 4>(args)")
for ld, st in ((1, 1), (2, 0), (2, 1), (0, 1)):
    for U in (1, 2): text += kernel(f"flat_cadd_u{U}_l{ld}s{st}", "FlatArgs3", f"flat<op_cadd, f32, f32, f32, f32, 3, {U}, {ld}, {st}>(args, args.total, args.aligned)", 512)
text += kernel("big_cadd", "MapArgs3", "flat<op_cadd, f32, f32, f32, f32, 3, 1, 0, 0>(args, args.loops.total, args.aligned)")
text += kernel("turned_by", "TurnArgs", "turned(args)")
for s, code in (("f32", 8), ("bf16", 7)):
    text += kernel(f"fused_{s}", "FusedArgs3", f"fused<Program<{s}, {code}>, {s}, 3>(args)")
    for v in (4, 8): text += kernel(f"fusedw_{s}_v{v}", "WalkArgs3", f"fused_walk<Program<{s}, {code}>, {s}, {v}>(args)")
def report(log):
    name = None
    for l in log.splitlines():
        m = re.search(r"Compiling entry function '(\w+)'", l)
        if m: name = m[1]
        m = re.search(r"(\d+) bytes spill stores", l)
        if m and m[1] != "0": print("SPILL", name, l)
        m = re.search(r"Used (\d+) registers", l)
        if m: print(name, m[1], end="; ")
    print()
b, log = compile(text); report(log); open("maps.cubin", "wb").write(b)

red = rd("prelude.cuh") + rd("keys.cuh") + rd("lines.cuh") + rd("reduce.cu")
LOOP = red[red.index("#pragma unroll 2\n    for (int64 j = lane; j < packets"):red.index("    // The numbers of elements before the packets, and outside")]
def ahead(n):
    return f"""    int64 j = lane;
#pragma unroll 1
    for (; j + {n - 1} * lanes < packets; j += {n} * lanes) {{
        Packet packet[{n}];
        for (int m = 0; m < {n}; m++) packet[m] = *(const Packet*)(first + aligned + (j + m * lanes) * PER);
        for (int m = 0; m < {n}; m++) {{
            S stored[PER];
            memcpy(stored, &packet[m], sizeof(Packet));
            T some[PER];
            for (int k = 0; k < PER; k++) some[k] = convert<T>(stored[k]);
            sum.template take<PER>(fold, some, aligned + (j + m * lanes) * PER, 1);
        }}
    }}
#pragma unroll 1
    for (; j < packets; j += lanes) {{
        Packet packet = *(const Packet*)(first + aligned + j * PER);
        S stored[PER];
        memcpy(stored, &packet, sizeof(Packet));
        T some[PER];
        for (int k = 0; k < PER; k++) some[k] = convert<T>(stored[k]);
        sum.template take<PER>(fold, some, aligned + j * PER, 1);
    }}
"""
FOLDS = {"sum": ("Terms<f32, Plain>", "f32"), "sumh": ("Terms<f32, Plain>", "bf16"), "maxat": ("ExtremeAt<f32>", "f32")}
# Positions in 32 bits within a thread, for comparison.
def entries(t):
    for n, (f, s) in FOLDS.items(): t += kernel("red_" + n, "ReduceArgs", f"reduce<{f}, {s}>(args)") + (kernel("parts_" + n, "ReduceArgs", f"reduce_parts<{f}>(args)") if n != "sumh" else "")
    return t
def variant(name, t):
    b, log = compile(entries(t)); print(name, end=": "); report(log); open(f"red_{name}.cubin", "wb").write(b)
variant("old", red)
for n in (2, 4, 8): variant(f"a{n}", red.replace(LOOP, ahead(n)))
# Interleaved segments: the threads of all blocks read neighbouring packets.
inter = lambda t: t.replace("int64 start = part * args.segment, end = least(start + args.segment, args.folded.total);", "int64 start = 0, end = args.folded.total;").replace(
    "fold_packed<F, S>(fold, sum, args.x + at[0], start, end, lane, lanes)", "fold_packed<F, S>(fold, sum, args.x + at[0], start, end, lane + (int)part * lanes, lanes * (int)args.segments)")
variant("i", inter(red)); variant("i4", inter(red.replace(LOOP, ahead(4))))
# One kernel: the last block merges the states. The word behind the states counts blocks.
one = red.replace("// Merges the states of the segments of each result.", """template <class F, class S> DEVICE void reduce_once(const ReduceArgs& args) {
    typedef typename F::State State;
    reduce<F, S>(args);
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    uint* count = (uint*)(args.parts + args.kept.total * args.segments * sizeof(State));
    if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    F fold(args);
    State state = fold.state(fold.none());
    const volatile double* states = (const volatile double*)args.parts;
    for (int64 k = threadIdx.x; k < args.segments; k += BLOCK) { State s; s = states[k]; state = fold.merge(state, s); }
    state = merge_lanes(fold, state, 0, threadIdx.x, BLOCK, 1);
    if (threadIdx.x == 0) { int64 at[3]; offsets(args.kept, 0, at); fold.finish(args, at, state); *count = 0; }
}
// Merges the states of the segments of each result.""").replace(LOOP, ahead(4))
b, log = compile(one + kernel("once_sum", "ReduceArgs", "reduce_once<Terms<f32, Plain>, f32>(args)") + kernel("once_sumh", "ReduceArgs", "reduce_once<Terms<f32, Plain>, bf16>(args)")); print("once", end=": "); report(log); open("red_once.cubin", "wb").write(b)
# Launch cost: kernels with arguments of several sizes, which do the add of 1024.
t = base + lab
for size in (0, 104, 400, 800, 1600):
    pad = f"char pad[{size}];" if size else ""
    t += f"struct Small{size} {{ const float* a; const float* b; float* r; int64 n; {pad} }};\n"
    t += f'extern "C" __global__ void small{size}(const __grid_constant__ Small{size} args) {{ int64 i = blockIdx.x * (int64)blockDim.x + threadIdx.x; if (i * 4 < args.n) {{ float4 a = ((const float4*)args.a)[i], b = ((const float4*)args.b)[i]; ((float4*)args.r)[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }} }}\n'
b, log = compile(t + "typedef FlatArgs<3> FlatArgs3;typedef WalkArgs<3> WalkArgs3;" + kernel("old_cadd", "MapArgs3", "map_flat<op_cadd, f32, f32, f32, 3>(args)") + kernel("flat_cadd", "FlatArgs3", "flat<op_cadd, f32, f32, f32, f32, 3, 1, 0, 0>(args, args.total, args.aligned)", 512)
   + kernel("one_cadd", "WalkArgs3", "walk_one<op_cadd, f32, f32, f32, f32, 3, 4>(args)")); report(log); open("small.cubin", "wb").write(b)
