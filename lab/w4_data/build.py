# Builds cubins for sm_90 and prints registers and spills. Run here, not in the lab.
import ctypes, sys, re, json, os
K = '/work/w4/src/cuda/kernels/'
rd = lambda f: open(K + f).read()
lib = ctypes.CDLL('/work/w4/target/nvrtc/nvidia/cu13/lib/libnvrtc.so.13')
here = os.path.dirname(os.path.abspath(__file__)) + '/'
def compile(name, text):
    prog = ctypes.c_void_p()
    lib.nvrtcCreateProgram(ctypes.byref(prog), text.encode(), name.encode(), 0, None, None)
    opts = [b'--gpu-architecture=sm_90', b'--std=c++17', b'-default-device', b'--ptxas-options=-v']
    rc = lib.nvrtcCompileProgram(prog, len(opts), (ctypes.c_char_p * len(opts))(*opts))
    n = ctypes.c_size_t(); lib.nvrtcGetProgramLogSize(prog, ctypes.byref(n))
    log = ctypes.create_string_buffer(n.value); lib.nvrtcGetProgramLog(prog, log)
    log = log.value.decode()
    if rc: print(log[:6000]); sys.exit(1)
    for m in re.finditer(r"entry function '(\w+)'.*?\n.*?\n?.*?(\d+) bytes spill stores.*?Used (\d+) registers", log, re.S):
        print(f'  {m[1]}: {m[3]} regs, spill {m[2]}')
    lib.nvrtcGetCUBINSize(prog, ctypes.byref(n))
    out = ctypes.create_string_buffer(n.value); lib.nvrtcGetCUBIN(prog, out)
    open(here + name + '.cubin', 'wb').write(out.raw)
    print(name, n.value)
PRE = rd('prelude.cuh')
own = lambda f: open(here + f).read()
only = sys.argv[1:]
def want(n): return not only or n in only
SA, NA, RA = 'SoftmaxArgs', 'NormArgs', 'ReduceArgs'
if want('soft'):
    t = PRE + rd('keys.cuh') + rd('lines.cuh') + rd('softmax.cu') + own('soft.cuh')
    for s in ('f32', 'bf16'):
        t += f'KERNEL(base_block_{s}, {SA}, softmax_lines<{s}, BLOCK>)\nKERNEL(base_warp_{s}, {SA}, softmax_lines<{s}, 32>)\nKERNEL(base_single_{s}, {SA}, softmax_singly<{s}>)\n'
    def row(sym, s, n, p, lanes, nt, mode, minb=1):
        return f'KERNEL_N({sym}, {nt}, {minb}, {SA}, rows<{s}, {n}, {p}, {lanes}, {nt}, {mode}>)\n'
    for nt, p in ((256, 10), (512, 5), (1024, 3)):
        for m in (0, 1): t += row(f'rows_f32_{nt}_{m}', 'f32', 4, p, nt, nt, m)
    t += row('rows_f32_256_0_b4', 'f32', 4, 10, 256, 256, 0, 4)
    for p in (2, 4, 8): t += row(f'online_f32_256_{p}', 'f32', 4, p, 256, 256, 2)
    t += row('online_f32_512_4', 'f32', 4, 4, 512, 512, 2) + row('online_f32_1024_2', 'f32', 4, 2, 1024, 1024, 2)
    t += row('online_f32s_256_8', 'f32', 1, 8, 256, 256, 2) + row('online_f32s_1024_8', 'f32', 1, 8, 1024, 1024, 2)
    for nt, p in ((256, 5), (512, 3), (1024, 2)):
        for m in (0, 1): t += row(f'rows_bf16_{nt}_{m}', 'bf16', 8, p, nt, nt, m)
    t += row('rows_bf16_256_0_p10', 'bf16', 8, 10, 256, 256, 0)
    t += row('online_bf16_256_4', 'bf16', 8, 4, 256, 256, 2) + row('online_bf16_512_2', 'bf16', 8, 2, 512, 512, 2)
    t += row('online_bf16s_256_8', 'bf16', 1, 8, 256, 256, 2) + row('online_bf16s_1024_8', 'bf16', 1, 8, 1024, 1024, 2)
    t += row('warp_f32_8_0', 'f32', 4, 8, 32, 256, 0) + row('warp_f32_8_1', 'f32', 4, 8, 32, 256, 1) + row('warp_bf16_4_0', 'bf16', 8, 4, 32, 256, 0)
    for p in (1, 2, 4, 8):
        for m in (0, 1): t += f'KERNEL(short_f32_{p}_{m}, {SA}, short_rows<f32, 4, {p}, {m}>)\n'
    t += f'KERNEL(short_f32s_1_0, {SA}, short_rows<f32, 1, 1, 0>)\nKERNEL(short_f32s_4_0, {SA}, short_rows<f32, 1, 4, 0>)\nKERNEL(short_f32s_8_0, {SA}, short_rows<f32, 1, 8, 0>)\n'
    t += f'KERNEL(short_bf16_1_0, {SA}, short_rows<bf16, 8, 1, 0>)\nKERNEL(short_bf16_4_0, {SA}, short_rows<bf16, 8, 4, 0>)\n'
    for p in (4, 8, 16): t += f'KERNEL(cols_f32_{p}, {SA}, columns<f32, {p}, 256>)\n'
    for p in (4, 8): t += f'KERNEL_N(cols_f32_{p}_1024, 1024, 1, {SA}, columns<f32, {p}, 1024>)\n'
    t += f'KERNEL(cols_bf16_8, {SA}, columns<bf16, 8, 256>)\n'
    compile('soft', t)
if want('norm'):
    soft = own('soft.cuh'); cut = soft.index('DEVICE float lse_shift')
    t = PRE + rd('two_blocks.cuh') + rd('layers.cu') + soft[:cut] + own('norm.cuh')
    t += f'KERNEL(base_256, {NA}, norm_rows<f32, 256>)\nKERNEL(base_32, {NA}, norm_rows<f32, 32>)\n'
    def k(sym, s, w, n, p, lanes, nt, exact=0, minb=1):
        return f'KERNEL_N({sym}, {nt}, {minb}, {NA}, norm_kept<{s}, {w}, {n}, {p}, {lanes}, {nt}, {exact}>)\n'
    for nt, p in ((256, 10), (512, 5), (1024, 3)): t += k(f'f32_{nt}', 'f32', 'f32', 4, p, nt, nt) + k(f'f32_{nt}_exact', 'f32', 'f32', 4, p, nt, nt, 1)
    t += k('f32_256_b4', 'f32', 'f32', 4, 10, 256, 256, 0, 4)
    for nt, p in ((256, 5), (512, 3), (1024, 2)): t += k(f'bf16_{nt}', 'bf16', 'bf16', 8, p, nt, nt)
    t += k('bf16_f32_256', 'bf16', 'f32', 8, 5, 256, 256)
    t += k('f32_warp8', 'f32', 'f32', 4, 8, 32, 256) + k('bf16_warp4', 'bf16', 'bf16', 8, 4, 32, 256) + k('f32_256_p2', 'f32', 'f32', 4, 2, 256, 256)
    compile('norm', t)
if want('grad'):
    soft = own('soft.cuh'); cut = soft.index('DEVICE float lse_shift')
    t = PRE + rd('two_blocks.cuh') + rd('layers.cu') + soft[:cut] + own('grad.cuh')
    t += f'KERNEL(base_soft, {SA}, softmax_lines<f32, 256>)\nKERNEL(base_norm, {NA}, norm_gradient<f32, 256>)\nKERNEL(base_sums, {NA}, norm_column_sums<f32>)\nKERNEL(base_columns, {SA}, softmax_columns<f32>)\n'
    for nt, p in ((256, 10), (512, 5), (1024, 3)): t += f'KERNEL_N(soft_{nt}, {nt}, 1, {SA}, soft_grad_kept<4, {p}, {nt}>)\nKERNEL_N(norm_{nt}, {nt}, 1, {NA}, norm_grad_kept<4, {p}, {nt}>)\n'
    for nt, p in ((256, 2), (256, 4), (1024, 2)): t += f'KERNEL_N(passes_{nt}_{p}, {nt}, 1, {SA}, soft_grad_passes<4, {p}, {nt}>)\n'
    compile('grad', t)
if want('red'):
    src = rd('reduce.cu')
    u2 = '#pragma unroll 2\n    for (int64 j = lane; j < packets; j += lanes) {'
    assert u2 in src
    a = src.index('// Folds every `lanes`-th of the contiguous'); b = src.index('// Folds every `lanes`-th of the elements from')
    def packed(u, flat=False):
        body = src[a:b].replace(u2, f'''    int64 j = lane;
#pragma unroll 1
    for (; j + {u - 1} * lanes < packets; j += {u} * lanes) {{
        Packet p[{u}];
#pragma unroll
        for (int k = 0; k < {u}; k++) p[k] = *(const Packet*)(first + aligned + (j + k * lanes) * PER);
#pragma unroll
        for (int k = 0; k < {u}; k++) {{
            S stored[PER];
            memcpy(stored, &p[k], sizeof(Packet));
            T some[PER];
            for (int i = 0; i < PER; i++) some[i] = convert<T>(stored[i]);
            sum.template take<PER>(fold, some, aligned + (j + k * lanes) * PER, 1);
        }}
    }}
#pragma unroll 1
    for (; j < packets; j += lanes) {{''')
        return body
    m0 = src.index('template <class F> DEVICE typename F::State merge_lanes'); m1 = src.index('// Folds the elements of results, or segments of them.')
    shuffle = '''
template <class F> DEVICE typename F::State merge_lanes(const F& fold, typename F::State state, int slot, int lane, int lanes, int width) {
    __shared__ typename F::State states[BLOCK];
    typedef typename F::State State;
    if (threadIdx.x / lanes == slot) {
        int most = lanes < 32 ? lanes : 32;
        for (int half = 1; half < most; half *= 2) {
            State other = exchange(state, half);
            state = threadIdx.x & half ? fold.merge(other, state) : fold.merge(state, other);
        }
        if (lanes > 32) {
            if (threadIdx.x % 32 == 0) states[threadIdx.x / 32] = state;
            __syncthreads();
            if (lane < 32) {
                state = states[slot * (lanes / 32) + lane % (lanes / 32)];
                for (int half = 1; half < lanes / 32; half *= 2) {
                    State other = exchange(state, half);
                    state = threadIdx.x & half ? fold.merge(other, state) : fold.merge(state, other);
                }
            }
            __syncthreads();
        }
        return state;
    }
    for (int half = lanes / 2; half > 0; half /= 2) {
        if (lane >= half && lane < 2 * half) states[lane * width + slot] = state;
        __syncthreads();
        if (lane < half) state = fold.merge(state, states[(lane + half) * width + slot]);
        __syncthreads();
    }
    return state;
}
'''
    old_take = src[src.index('        if (acc.count == 0) acc.shift = x[0].to_f64();'):src.index('    // The state with its mean moved by `step`')]
    new_take = '''        if (acc.count == 0) acc.shift = x[0].to_f64();
        acc.count += N;
        if constexpr (N > 1 && sizeof(T) == 4) {
            float pivot = x[0].v, e[N], q[N];
            for (int k = 0; k < N; k++) { e[k] = x[k].v - pivot; q[k] = e[k] * e[k]; }
            for (int half = N / 2; half > 0; half /= 2) for (int k = 0; k < half; k++) { e[k] += e[k + half]; q[k] += q[k + half]; }
            if (q[0] > 1e-30f && q[0] < Special<float>::infinity()) {
                double d = (double)pivot - acc.shift, s = e[0];
                acc.sum += ::fma((double)N, d, s);
                acc.squares += ::fma(d, ::fma((double)N, d, 2 * s), (double)q[0]);
                return;
            }
        }
        for (int k = 0; k < N; k++) {
            double number = x[k].to_f64(), d = number - acc.shift;
            acc.sum += d;
            acc.squares = ::fma(d, d, acc.squares);
            if (sizeof(T) == 8) acc.infinite |= !is_finite(number);
        }
    }
'''
    def variant(u=None, sh=False, take=False):
        s = src
        if u: s = s.replace(src[a:b], packed(u))
        if sh: s = s.replace(src[m0:m1], shuffle)
        if take: s = s.replace(old_take, new_take)
        return s
    vs = {'base': variant(), 'u4': variant(4), 'u8': variant(8), 'sh': variant(None, True), 'u4sh': variant(4, True), 'u8sh': variant(8, True),
          'take': variant(None, False, True), 'u4take': variant(4, False, True), 'u4shtake': variant(4, True, True), 'u8shtake': variant(8, True, True)}
    for name, s in vs.items():
        t = PRE + rd('keys.cuh') + rd('lines.cuh') + s
        if 'take' not in name:
            t += f'KERNEL(sum_f32, {RA}, reduce<Terms<f32, Plain>, f32>)\nKERNEL(sum_bf16, {RA}, reduce<Terms<f32, Plain>, bf16>)\nKERNEL(maxat_f32, {RA}, reduce<ExtremeAt<f32>, f32>)\n'
        t += f'KERNEL(var_f32, {RA}, reduce<Moment<f32>, f32>)\n'
        compile('red_' + name, t)
