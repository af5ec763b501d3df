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

// The threads over the first two loops. A thread has several adjacent positions of the first loop. Threads form tiles of `1 << wide` threads
// along the first loop and `1 << high` threads along the second one.
struct Tiles {
    // The number of tiles, the tiles along the first loop, and the tiles along the second loop.
    int64 total, across, down;
    int64 wide, high;
    // Bit k: if a thread has all its positions, they are one aligned pack of operand k.
    int64 packed;
};

template <int N> struct MapArgs {
    void* data[N];
    Argument numbers[4];
    Loops<N> loops;
    Tiles tiles;
    int dtype[N];
    int common;
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

// The positions of a thread: at most V neighbours in the first loop.
template <int V, int N> struct Positions {
    const Loops<N>& loops;
    // The number of positions, which is not positive if the thread has none.
    int64 count;
    int64 packed;
    // The addresses of the elements at the first position.
    char* at[N];

    DEVICE Positions(void* const* data, const Loops<N>& loops, const Tiles& tiles) : loops(loops) {
        const int64 thread = blockIdx.x * (int64)BLOCK + threadIdx.x;
        if (loops.count == 1) {
            count = loops.n[0] - thread * V;
            for (int k = 0; k < N; k++) at[k] = (char*)data[k] + thread * V * loops.step[k][0];
        } else if (loops.narrow) {
            find<uint>(data, tiles, thread);
        } else {
            find<uint64>(data, tiles, thread);
        }
        if (count > V) count = V;
        packed = count == V ? tiles.packed : 0;
    }

    // Finds the positions of a thread. I holds all positions and offsets.
    template <class I> DEVICE void find(void* const* data, const Tiles& tiles, int64 thread) {
        const int wide = (int)tiles.wide, high = (int)tiles.high, last = loops.count - 1;
        const I tile = (I)(thread >> (wide + high)), row = tile / (I)tiles.across, down = (I)tiles.down;
        I rest = last > 1 ? row / down : 0;
        const int64 first = (int64)((tile - row * (I)tiles.across) << wide | (threadIdx.x & ((1u << wide) - 1))) * V;
        const int64 second = (int64)((row - rest * down) << high | (threadIdx.x >> wide & ((1u << high) - 1)));
        count = (int64)tile < tiles.total && second < loops.n[1] ? loops.n[0] - first : 0;
        for (int k = 0; k < N; k++) at[k] = (char*)data[k] + first * loops.step[k][0] + second * loops.step[k][1];
#pragma unroll 1
        for (int d = 2; d <= last; d++) {
            const I n = (I)loops.n[d], quotient = d < last ? rest / n : 0, index = rest - quotient * n;
            for (int k = 0; k < N; k++) at[k] += (int64)index * loops.step[k][d];
            rest = quotient;
        }
    }

    // The elements of operand k. Positions that the thread does not have repeat the first one.
    template <class S> DEVICE Pack<S, V> load(int k) const {
        if (packed >> k & 1) return *(const Pack<S, V>*)at[k];
        Pack<S, V> x;
        for (int j = 0; j < V; j++) x.x[j] = *(const S*)(at[k] + (j < count ? j * loops.step[k][0] : 0));
        return x;
    }

    // Stores the elements of the result.
    template <class R> DEVICE void store(const Pack<R, V>& x) const {
        if (packed & 1) *(Pack<R, V>*)at[0] = x;
        else {
            for (int j = 0; j < V; j++) {
                if (j < count) *(R*)(at[0] + j * loops.step[0][0]) = x.x[j];
            }
        }
    }
};

// The number of positions of a thread for elements of S: 16 bytes, but at most 8 positions.
template <class S> struct Width { static constexpr int V = sizeof(S) == 1 ? 8 : 16 / sizeof(S); };

// Operands of known dtypes: the first input of F, the others of S, the result of R. The operation computes in T.
template <class Op, class T, class F, class S, class R, int N> DEVICE void map_known(const MapArgs<N>& args) {
    constexpr int V = Width<S>::V;
    const Context cx = {args.numbers, args.common};
    typedef typename Compute<F>::type A;
    typedef typename Compute<R>::type Computed;
    const Positions<V, N> here(args.data, args.loops, args.tiles);
    if (here.count <= 0) return;
    const Pack<F, V> a = here.template load<F>(1);
    Pack<S, V> more[N - 1];
    for (int k = 2; k < N; k++) more[k - 2] = here.template load<S>(k);
    Pack<R, V> r;
    for (int j = 0; j < V; j++) {
        const A first = convert<A>(a.x[j]);
        if constexpr (N == 2) r.x[j] = convert<R>(apply<Op, T, Computed>(cx, first));
        if constexpr (N == 3) r.x[j] = convert<R>(apply<Op, T, Computed>(cx, first, convert<T>(more[0].x[j])));
        if constexpr (N == 4) {
            const T b = convert<T>(more[0].x[j]), c = convert<T>(more[1].x[j]);
            r.x[j] = convert<R>(apply<Op, T, Computed>(cx, first, b, c));
        }
    }
    here.store(r);
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

// Operands of any dtype. The first input is read as A, the others as T; the result is computed as R.
template <class Op, class A, class T, class R, int N> DEVICE void map_any(const MapArgs<N>& args) {
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
