// Variants. Needs prelude.cuh, real.cuh, double.cuh, gamma.cuh and map.cu before it.

struct op_cadd {
    template <class T, class A0, class A1> static DEVICE auto run(const A0& a, const A1& b, const Context& cx) {
        const Isa isa{};
        const T value = argument<T>(cx.numbers[0]);
        return a.add(value.mul(b));
    }
};
struct op_mul {
    template <class T, class A0> static DEVICE auto run(const A0& t, const Context& cx) {
        const T value = argument<T>(cx.numbers[0]);
        return t.mul(value);
    }
};
struct op_exp {
    template <class T, class A0> static DEVICE auto run(const A0& t, const Context& cx) {
        const Isa isa{};
        return Real::exp(t, isa);
    }
};
struct op_tanh {
    template <class T, class A0> static DEVICE auto run(const A0& t, const Context& cx) {
        const Isa isa{};
        return Real::tanh(t, isa);
    }
};
struct op_gt {
    template <class T, class A0> static DEVICE auto run(const A0& t, const Context& cx) {
        const T value = argument<T>(cx.numbers[0]);
        return Bool(t > value);
    }
};
struct op_where {
    template <class T, class A0, class A1, class A2> static DEVICE auto run(const A0& m, const A1& a, const A2& b, const Context& cx) {
        return kernel::select_kernel<T>(m, a, b, cx);
    }
};

// ---- loads and stores with hints: 0 none, 1 streaming (.cs), 2 no allocation in L1 for loads
template <int HINT, class P> DEVICE P get(const P* p) {
    static_assert(sizeof(P) == 16 || HINT == 0, "16 bytes");
    if constexpr (HINT == 0) return *p;
    else {
        union U { uint w[4]; P p; DEVICE U() {} } u;
        if constexpr (HINT == 1) asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(u.w[0]), "=r"(u.w[1]), "=r"(u.w[2]), "=r"(u.w[3]) : "l"(p));
        if constexpr (HINT == 2) asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(u.w[0]), "=r"(u.w[1]), "=r"(u.w[2]), "=r"(u.w[3]) : "l"(p));
        return u.p;
    }
}
template <int HINT, class P> DEVICE void put(P* p, const P& x) {
    if constexpr (HINT == 0) *p = x;
    else {
        union U { uint w[4]; P p; DEVICE U() {} } u;
        u.p = x;
        asm volatile("st.global.cs.v4.u32 [%0], {%1,%2,%3,%4};" :: "l"(p), "r"(u.w[0]), "r"(u.w[1]), "r"(u.w[2]), "r"(u.w[3]) : "memory");
    }
}

template <int N> struct FlatArgs {
    void* data[N];
    Argument numbers[1];
    int64 total;
    int common, aligned;
};

// Contiguous operands: F the type of the first input, S of the others. U packs a thread, whose blocks take chunks of blockDim * U packs.
template <class Op, class T, class F, class S, class R, int N, int U, int LD, int ST, class Args> DEVICE void flat(const Args& args, int64 total, bool aligned) {
    constexpr int V = 16 / sizeof(S);
    const Context cx = {args.numbers, args.common};
    typedef typename Compute<R>::type Computed;
    typedef typename Compute<F>::type A;
    const int64 chunk = (int64)blockDim.x * U;
    if (aligned) {
        int64 packs = total / V;
        for (int64 start = blockIdx.x * chunk; start < packs; start += gridDim.x * chunk) {
            Pack<F, V> first[U];
            Pack<S, V> rest[U][N > 2 ? N - 2 : 1];
#pragma unroll
            for (int u = 0; u < U; u++) {
                int64 p = start + u * blockDim.x + threadIdx.x;
                if (p < packs) {
                    first[u] = get<sizeof(Pack<F, V>) == 16 ? LD : 0>((const Pack<F, V>*)args.data[1] + p);
                    for (int k = 2; k < N; k++) rest[u][k - 2] = get<LD>((const Pack<S, V>*)args.data[k] + p);
                }
            }
#pragma unroll
            for (int u = 0; u < U; u++) {
                int64 p = start + u * blockDim.x + threadIdx.x;
                if (p >= packs) break;
                Pack<R, V> out;
                for (int j = 0; j < V; j++) {
                    A a = convert<A>(first[u].x[j]);
                    if constexpr (N == 2) out.x[j] = convert<R>(apply<Op, T, Computed>(cx, a));
                    if constexpr (N == 3) out.x[j] = convert<R>(apply<Op, T, Computed>(cx, a, convert<T>(rest[u][0].x[j])));
                    if constexpr (N == 4) out.x[j] = convert<R>(apply<Op, T, Computed>(cx, a, convert<T>(rest[u][0].x[j]), convert<T>(rest[u][1].x[j])));
                }
                put<sizeof(Pack<R, V>) == 16 ? ST : 0>((Pack<R, V>*)args.data[0] + p, out);
            }
        }
        total -= packs * V;
        // The tail is left out in this lab: sizes are multiples.
        return;
    }
    // Unaligned: neighbouring threads have neighbouring elements, W a thread.
    constexpr int W = V * U;
    const int64 many = (int64)blockDim.x * W;
    for (int64 start = blockIdx.x * many; start < total; start += gridDim.x * many) {
        F first[W];
        S rest[N > 2 ? N - 2 : 1][W];
#pragma unroll
        for (int j = 0; j < W; j++) {
            int64 i = start + j * (int)blockDim.x + threadIdx.x;
            if (i < total) {
                first[j] = ((const F*)args.data[1])[i];
                for (int k = 2; k < N; k++) rest[k - 2][j] = ((const S*)args.data[k])[i];
            }
        }
#pragma unroll
        for (int j = 0; j < W; j++) {
            int64 i = start + j * (int)blockDim.x + threadIdx.x;
            if (i >= total) break;
            R out;
            A a = convert<A>(first[j]);
            if constexpr (N == 2) out = convert<R>(apply<Op, T, Computed>(cx, a));
            if constexpr (N == 3) out = convert<R>(apply<Op, T, Computed>(cx, a, convert<T>(rest[0][j])));
            if constexpr (N == 4) out = convert<R>(apply<Op, T, Computed>(cx, a, convert<T>(rest[0][j]), convert<T>(rest[1][j])));
            ((R*)args.data[0])[i] = out;
        }
    }
}

template <int SIZE> struct Unit_;
template <> struct Unit_<1> { typedef byte type; };
template <> struct Unit_<2> { typedef unsigned short type; };
template <> struct Unit_<4> { typedef uint type; };
template <> struct Unit_<8> { typedef uint64 type; };

// ---- positions of any layout, in tiles

template <int N> struct Walk {
    // Loops over tiles. The steps of the operands are followed by the first index of the tile in the first and in the second loop.
    Loops<N + 2> tiles;
    // The lengths of the first and second loop.
    int64 n[2];
    // The distances in bytes between columns and between rows of threads, and between the positions of a thread.
    int64 column[N], row[N], apart[N];
    // The columns and rows of threads in a tile as powers of two.
    int wide, high;
    // The loop along which a thread has several positions, and their distance as a power of two.
    int along, gap;
    // Positions between neighbouring columns.
    int columns;
    // Bit k: the positions of operand k are one aligned pack.
    int packed;
};

template <int N> struct WalkArgs {
    void* data[N];
    Argument numbers[4];
    Walk<N> walk;
    int dtype[N];
    int common;
};

template <class S, int V> DEVICE Pack<S, V> take(const char* at, int64 apart, int left, bool together) {
    Pack<S, V> in;
    if (together) return *(const Pack<S, V>*)at;
#pragma unroll
    for (int j = 0; j < V; j++) if (j < left) in.x[j] = *(const S*)(at + j * apart);
    return in;
}

template <class S, class T, int V> DEVICE void take_as(T (&x)[V], const char* at, int64 apart, int left, bool together) {
    Pack<S, V> in = take<S, V>(at, apart, left, together);
    for (int j = 0; j < V; j++) x[j] = convert<T>(in.x[j]);
}

template <class T, int V> DEVICE void take_any(T (&x)[V], const char* at, int64 apart, int left, bool together, int dtype) {
    switch (dtype) {
    case UINT8: take_as<u8>(x, at, apart, left, together); break;
    case INT8: take_as<i8>(x, at, apart, left, together); break;
    case INT16: take_as<i16>(x, at, apart, left, together); break;
    case INT32: take_as<i32>(x, at, apart, left, together); break;
    case INT64: take_as<i64>(x, at, apart, left, together); break;
    case FLOAT16: take_as<f16>(x, at, apart, left, together); break;
    case BFLOAT16: take_as<bf16>(x, at, apart, left, together); break;
    case FLOAT32: take_as<f32>(x, at, apart, left, together); break;
    case FLOAT64: take_as<f64>(x, at, apart, left, together); break;
    default: take_as<Bool>(x, at, apart, left, together);
    }
}

template <class S, class T, int V> DEVICE void give_as(const T (&x)[V], char* at, int64 apart, int left, bool together) {
    Pack<S, V> out;
    for (int j = 0; j < V; j++) out.x[j] = convert<S>(x[j]);
    if (together) *(Pack<S, V>*)at = out;
    else {
#pragma unroll
        for (int j = 0; j < V; j++) if (j < left) *(S*)(at + j * apart) = out.x[j];
    }
}

template <class T, int V> DEVICE void give_any(const T (&x)[V], char* at, int64 apart, int left, bool together, int dtype) {
    switch (dtype) {
    case UINT8: give_as<u8>(x, at, apart, left, together); break;
    case INT8: give_as<i8>(x, at, apart, left, together); break;
    case INT16: give_as<i16>(x, at, apart, left, together); break;
    case INT32: give_as<i32>(x, at, apart, left, together); break;
    case INT64: give_as<i64>(x, at, apart, left, together); break;
    case FLOAT16: give_as<f16>(x, at, apart, left, together); break;
    case BFLOAT16: give_as<bf16>(x, at, apart, left, together); break;
    case FLOAT32: give_as<f32>(x, at, apart, left, together); break;
    case FLOAT64: give_as<f64>(x, at, apart, left, together); break;
    default: give_as<Bool>(x, at, apart, left, together);
    }
}

// Calls f with the addresses of the thread's first positions, and the number of its positions.
template <int V, int N, class F> DEVICE void walk(const Walk<N>& w, void* const* data, F f) {
    const int shift = w.wide + w.high;
    const int x = threadIdx.x & ((1 << w.wide) - 1), y = threadIdx.x >> w.wide & ((1 << w.high) - 1);
    const int64 step = (int64)gridDim.x * BLOCK >> shift;
    for (int64 tile = ((int64)blockIdx.x * BLOCK + threadIdx.x) >> shift; tile < w.tiles.total; tile += step) {
        int64 at[N + 2];
        offsets(w.tiles, tile, at);
        const int64 i0 = at[N] + x * w.columns, i1 = at[N + 1] + y;
        if (i0 >= w.n[0] || i1 >= w.n[1]) continue;
        const int64 rest = w.along ? w.n[1] - i1 : w.n[0] - i0;
        const int left = (int)(((rest < (V << w.gap) ? rest : V << w.gap) + (1 << w.gap) - 1) >> w.gap);
        char* p[N];
        for (int k = 0; k < N; k++) p[k] = (char*)data[k] + at[k] + x * w.column[k] + y * w.row[k];
        f(p, left);
    }
}

template <class Op, class T, class A, class R, int N, int V> DEVICE void walk_any(const WalkArgs<N>& args) {
    const Context cx = {args.numbers, args.common};
    const Walk<N>& w = args.walk;
    walk<V, N>(w, args.data, [&](char* (&p)[N], int left) {
        const int packed = left == V ? w.packed : 0;
        A a[V];
        T rest[N > 2 ? N - 2 : 1][V];
        R out[V];
        take_any(a, p[1], w.apart[1], left, packed & 2, args.dtype[1]);
        for (int k = 2; k < N; k++) take_any(rest[k - 2], p[k], w.apart[k], left, packed >> k & 1, args.dtype[k]);
        for (int j = 0; j < V; j++) {
            if constexpr (N == 2) out[j] = apply<Op, T, R>(cx, a[j]);
            if constexpr (N == 3) out[j] = apply<Op, T, R>(cx, a[j], rest[0][j]);
            if constexpr (N == 4) out[j] = apply<Op, T, R>(cx, a[j], rest[0][j], rest[1][j]);
        }
        give_any(out, p[0], w.apart[0], left, packed & 1, args.dtype[0]);
    });
}

// The same with dtypes that are known.
template <class Op, class T, class F, class S, class R, int N, int V> DEVICE void walk_one(const WalkArgs<N>& args) {
    const Context cx = {args.numbers, args.common};
    const Walk<N>& w = args.walk;
    typedef typename Compute<F>::type A;
    typedef typename Compute<R>::type Computed;
    walk<V, N>(w, args.data, [&](char* (&p)[N], int left) {
        const int packed = left == V ? w.packed : 0;
        Pack<F, V> a = take<F, V>(p[1], w.apart[1], left, packed & 2);
        Pack<S, V> rest[N > 2 ? N - 2 : 1];
        for (int k = 2; k < N; k++) rest[k - 2] = take<S, V>(p[k], w.apart[k], left, packed >> k & 1);
        Computed out[V];
        for (int j = 0; j < V; j++) {
            if constexpr (N == 2) out[j] = apply<Op, T, Computed>(cx, convert<A>(a.x[j]));
            if constexpr (N == 3) out[j] = apply<Op, T, Computed>(cx, convert<A>(a.x[j]), convert<T>(rest[0].x[j]));
            if constexpr (N == 4) out[j] = apply<Op, T, Computed>(cx, convert<A>(a.x[j]), convert<T>(rest[0].x[j]), convert<T>(rest[1].x[j]));
        }
        give_as<R>(out, p[0], w.apart[0], left, packed & 1);
    });
}

// Transposed through shared memory, for comparison: square matrices of f32, r = a + b^T.
struct TurnArgs {
    float* r;
    const float* a;
    const float* b;
    int64 q;
};
DEVICE void turned(const TurnArgs& args) {
    __shared__ float tile[32][33];
    const int lane = threadIdx.x % 32, line = threadIdx.x / 32;
    const int64 side = (args.q + 31) / 32, row = blockIdx.x / side * 32, column = blockIdx.x % side * 32;
    for (int k = line; k < 32; k += 8) if (column + k < args.q && row + lane < args.q) tile[k][lane] = args.b[(column + k) * args.q + row + lane];
    float a[4];
    for (int k = 0; k < 4; k++) if (row + line + 8 * k < args.q && column + lane < args.q) a[k] = args.a[(row + line + 8 * k) * args.q + column + lane];
    __syncthreads();
    for (int k = 0; k < 4; k++) if (row + line + 8 * k < args.q && column + lane < args.q) args.r[(row + line + 8 * k) * args.q + column + lane] = a[k] + tile[lane][line + 8 * k];
}

// ---- the fused expression tanh(a*b + a)
struct op_cmul {
    template <class T, class A0, class A1> static DEVICE auto run(const A0& a, const A1& b, const Context& cx) { return a.mul(b); }
};
template <class T, class S> DEVICE T operand(S x, int dtype, int common) { return load_common<T>(&x, dtype, common); }
template <class S, int CODE> struct Program {
    static DEVICE S run(const S& x0, const S& x1) {
        const S v0 = [&]() { const Argument n[] = {{0, 0, 1}}; const Context cx = {n, CODE}; return convert<S>(apply<op_cmul, f32, f32>(cx, operand<f32>(x0, CODE, CODE), operand<f32>(x1, CODE, CODE))); }();
        const S v1 = [&]() { const Argument n[] = {{double_of(4607182418800017408ull), (int64)1ull, 1}}; const Context cx = {n, CODE}; return convert<S>(apply<op_cadd, f32, f32>(cx, operand<f32>(v0, CODE, CODE), operand<f32>(x0, CODE, CODE))); }();
        const S v2 = [&]() { const Argument n[] = {{0, 0, 1}}; const Context cx = {n, CODE}; return convert<S>(apply<op_tanh, f32, f32>(cx, operand<f32>(v1, CODE, CODE))); }();
        return v2;
    }
    static DEVICE S run(char* const* at) { return run(*(const S*)at[1], *(const S*)at[2]); }
};
template <int N> struct FusedArgs {
    void* data[N];
    Loops<N> loops;
};
template <class P, class R, int N> DEVICE void fused(const FusedArgs<N>& args) {
    int64 total = args.loops.total, step = gridDim.x * (int64)blockDim.x;
    for (int64 i = blockIdx.x * (int64)blockDim.x + threadIdx.x; i < total; i += step) {
        char* at[N];
        places(args, i, at);
        *(R*)at[0] = convert<R>(P::run(at));
    }
}
template <class P, class S, int V> DEVICE void fused_walk(const WalkArgs<3>& args) {
    const Walk<3>& w = args.walk;
    walk<V, 3>(w, args.data, [&](char* (&p)[3], int left) {
        const int packed = left == V ? w.packed : 0;
        Pack<S, V> a = take<S, V>(p[1], w.apart[1], left, packed & 2), b = take<S, V>(p[2], w.apart[2], left, packed & 4), out;
        for (int j = 0; j < V; j++) out.x[j] = P::run(a.x[j], b.x[j]);
        if (packed & 1) *(Pack<S, V>*)p[0] = out;
        else for (int j = 0; j < V; j++) if (j < left) *(S*)(p[0] + j * w.apart[0]) = out.x[j];
    });
}

// Operands of run-time dtypes: loaded by their size, converted afterwards.
template <int V> DEVICE void take_raw(uint64 (&x)[V], const char* at, int64 apart, int left, bool together, int size) {
    switch (size) {
    case 1: { Pack<byte, V> in = take<byte, V>(at, apart, left, together); for (int j = 0; j < V; j++) x[j] = in.x[j]; break; }
    case 2: { Pack<unsigned short, V> in = take<unsigned short, V>(at, apart, left, together); for (int j = 0; j < V; j++) x[j] = in.x[j]; break; }
    case 4: { Pack<uint, V> in = take<uint, V>(at, apart, left, together); for (int j = 0; j < V; j++) x[j] = in.x[j]; break; }
    default: { Pack<uint64, V> in = take<uint64, V>(at, apart, left, together); for (int j = 0; j < V; j++) x[j] = in.x[j]; }
    }
}
template <class S> DEVICE S of_raw(uint64 raw) {
    union U { typename Unit_<sizeof(S)>::type from; S to; DEVICE U() {} } u;
    u.from = (typename Unit_<sizeof(S)>::type)raw;
    return u.to;
}
template <class T, int V> DEVICE void of_raw_any(T (&x)[V], const uint64 (&raw)[V], int dtype) {
    switch (dtype) {
    case UINT8: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<u8>(raw[j])); break;
    case INT8: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<i8>(raw[j])); break;
    case INT16: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<i16>(raw[j])); break;
    case INT32: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<i32>(raw[j])); break;
    case INT64: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<i64>(raw[j])); break;
    case FLOAT16: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<f16>(raw[j])); break;
    case BFLOAT16: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<bf16>(raw[j])); break;
    case FLOAT32: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<f32>(raw[j])); break;
    case FLOAT64: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<f64>(raw[j])); break;
    default: for (int j = 0; j < V; j++) x[j] = convert<T>(of_raw<Bool>(raw[j]));
    }
}
template <class Op, class T, class A, class R, int N, int V> DEVICE void walk_raw(const WalkArgs<N>& args) {
    const Context cx = {args.numbers, args.common};
    const Walk<N>& w = args.walk;
    walk<V, N>(w, args.data, [&](char* (&p)[N], int left) {
        const int packed = left == V ? w.packed : 0;
        uint64 raw[N - 1][V];
        for (int k = 1; k < N; k++) take_raw(raw[k - 1], p[k], w.apart[k], left, packed >> k & 1, size_of(args.dtype[k]));
        A a[V];
        T rest[N > 2 ? N - 2 : 1][V];
        R out[V];
        of_raw_any(a, raw[0], args.dtype[1]);
        for (int k = 2; k < N; k++) of_raw_any(rest[k - 2], raw[k - 1], args.dtype[k]);
        for (int j = 0; j < V; j++) {
            if constexpr (N == 2) out[j] = apply<Op, T, R>(cx, a[j]);
            if constexpr (N == 3) out[j] = apply<Op, T, R>(cx, a[j], rest[0][j]);
            if constexpr (N == 4) out[j] = apply<Op, T, R>(cx, a[j], rest[0][j], rest[1][j]);
        }
        give_any(out, p[0], w.apart[0], left, packed & 1, args.dtype[0]);
    });
}
