// Elementwise operations. `Op::run<T>` computes an element of the result from the elements of the inputs at the same position.

// A number argument: a C integer or float.
struct Argument {
    double real;
    int64 whole;
    int64 is_whole;
};

template <class T> DEVICE T argument(const Argument& x) { return x.is_whole ? T::from_i64(x.whole) : T::from_f64(x.real); }

// The context of a formula.
struct Context {
    const Argument* numbers;
    int common;
};

DEVICE bool is_16_bits(int dtype) { return dtype == FLOAT16 || dtype == BFLOAT16; }

template <int N> struct MapArgs {
    void* data[N];
    Argument numbers[4];
    Loops<N> loops;
    int dtype[N];
    int common;
    // The number of elements that a thread processes at a time if operands are contiguous.
    int aligned;
};
typedef MapArgs<2> MapArgs2;
typedef MapArgs<3> MapArgs3;
typedef MapArgs<4> MapArgs4;

// Adjacent elements that are loaded and stored together. The host checks that addresses are multiples of 16 bytes. With a greater
// alignment, a compiler for compute capability 10.0 or later could access 32 bytes at an address that is not a multiple of 32.
template <class S, int V> struct alignas(sizeof(S) * V < 16 ? sizeof(S) * V : 16) Pack {
    S x[V];
};

// Applies the operation to elements, and converts the result to R.
template <class Op, class T, class R, class A> DEVICE R apply(const Context& cx, const A& a) { return Op::template run<T>(a, cx); }
template <class Op, class T, class R, class A, class B> DEVICE R apply(const Context& cx, const A& a, const B& b) {
    return Op::template run<T>(a, b, cx);
}
template <class Op, class T, class R, class A, class B, class C>
DEVICE R apply(const Context& cx, const A& a, const B& b, const C& c) {
    return Op::template run<T>(a, b, c, cx);
}

// Element `i` of contiguous operands: inputs of S, computed as T, the result of R.
template <class Op, class T, class S, class R, int N> DEVICE void one(const MapArgs<N>& args, int64 i) {
    const Context cx = {args.numbers, args.common};
    const S* a = (const S*)args.data[1];
    R* r = (R*)args.data[0];
    typedef typename Compute<R>::type Computed;
    if constexpr (N == 2) r[i] = convert<R>(apply<Op, T, Computed>(cx, convert<T>(a[i])));
    if constexpr (N == 3) {
        const S* b = (const S*)args.data[2];
        r[i] = convert<R>(apply<Op, T, Computed>(cx, convert<T>(a[i]), convert<T>(b[i])));
    }
    if constexpr (N == 4) {
        const S *b = (const S*)args.data[2], *c = (const S*)args.data[3];
        r[i] = convert<R>(apply<Op, T, Computed>(cx, convert<T>(a[i]), convert<T>(b[i]), convert<T>(c[i])));
    }
}

// Contiguous operands of one dtype S, and a result of R.
template <class Op, class T, class S, class R, int N> DEVICE void map_flat(const MapArgs<N>& args) {
    constexpr int V = 16 / sizeof(S);
    const Context cx = {args.numbers, args.common};
    typedef typename Compute<R>::type Computed;
    int64 total = args.loops.total, first = blockIdx.x * (int64)blockDim.x + threadIdx.x, step = gridDim.x * (int64)blockDim.x;
    int64 packs = args.aligned ? total / V : 0;
    for (int64 p = first; p < packs; p += step) {
        Pack<S, V> in[N - 1];
        Pack<R, V> out;
        for (int k = 0; k < N - 1; k++) in[k] = ((const Pack<S, V>*)args.data[k + 1])[p];
        for (int j = 0; j < V; j++) {
            if constexpr (N == 2) out.x[j] = convert<R>(apply<Op, T, Computed>(cx, convert<T>(in[0].x[j])));
            if constexpr (N == 3) {
                out.x[j] = convert<R>(apply<Op, T, Computed>(cx, convert<T>(in[0].x[j]), convert<T>(in[1].x[j])));
            }
            if constexpr (N == 4) {
                T a = convert<T>(in[0].x[j]), b = convert<T>(in[1].x[j]), c = convert<T>(in[2].x[j]);
                out.x[j] = convert<R>(apply<Op, T, Computed>(cx, a, b, c));
            }
        }
        ((Pack<R, V>*)args.data[0])[p] = out;
    }
    for (int64 i = packs * V + first; i < total; i += step) one<Op, T, S, R, N>(args, i);
}

// The element at `p` in the compute type of the common dtype. It is rounded once if its own dtype has more digits.
template <class T> DEVICE T load_common(const void* p, int dtype, int common) {
    if (dtype == common) return load<T>(p, dtype);
    if (common == FLOAT16) return convert<T>(load<f16>(p, dtype));
    if (common == BFLOAT16) return convert<T>(load<bf16>(p, dtype));
    return load<T>(p, dtype);
}

// The addresses of the operands' elements at position `i`.
template <int N, class Args> DEVICE void places(const Args& args, int64 i, char* (&at)[N]) {
    int64 offset[N];
    offsets(args.loops, i, offset);
    for (int k = 0; k < N; k++) at[k] = (char*)args.data[k] + offset[k];
}

// Operands of any layout and dtype. The first input is read as A, the others as T; the result is computed as R.
template <class Op, class A, class T, class R, int N> DEVICE void map_strided(const MapArgs<N>& args) {
    const Context cx = {args.numbers, args.common};
    int64 total = args.loops.total, step = gridDim.x * (int64)blockDim.x;
    for (int64 i = blockIdx.x * (int64)blockDim.x + threadIdx.x; i < total; i += step) {
        char* at[N];
        places(args, i, at);
        R r;
        A a = load_common<A>(at[1], args.dtype[1], args.common);
        if constexpr (N == 2) r = apply<Op, T, R>(cx, a);
        if constexpr (N == 3) r = apply<Op, T, R>(cx, a, load_common<T>(at[2], args.dtype[2], args.common));
        if constexpr (N == 4) {
            T b = load_common<T>(at[2], args.dtype[2], args.common), c = load_common<T>(at[3], args.dtype[3], args.common);
            r = apply<Op, T, R>(cx, a, b, c);
        }
        store(at[0], args.dtype[0], r);
    }
}
