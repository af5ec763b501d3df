// Softmax and related functions along lines. Exponentials are computed of the distance to the greatest element, so that they cannot
// overflow. A warp or a block processes a line; a thread processes one of many adjacent lines; several blocks process the segments of a
// long line.

// As `launch::lines::Softmax`. From LOG_SUM_EXP on, the results of a line are single numbers.
enum { SOFTMAX, LOG_SOFTMAX, LOG_SUM_EXP, PARTS };

struct SoftmaxArgs {
    Lines lines;
    // The state of each segment of each line.
    byte* states;
    // The number of segments of a line, and the number of elements of a segment.
    int64 segments;
    int64 segment;
    int kind;
    int unused;
};

DEVICE float exponential(float x) { return ::expf(x); }
DEVICE double exponential(double x) { return ::exp(x); }

// Elements of any dtype that are computed in T. Other types are the storage types of input and result.
template <class T> struct Any {};

// The compute type of elements, and their loads and stores.
template <class S> struct Stored {
    typedef typename Compute<S>::type T;
    static DEVICE T read(const byte* p, int) { return convert<T>(*(const S*)p); }
    static DEVICE void write(byte* p, int, T x) { *(S*)p = convert<S>(x); }
};
template <class C> struct Stored<Any<C>> {
    typedef C T;
    static DEVICE T read(const byte* p, int dtype) { return load_other<T>(p, dtype); }
    static DEVICE void write(byte* p, int dtype, T x) { store_other(p, dtype, x); }
};

// The weights of a run of elements: the greatest element except NaN, and the sum of the exponentials of the distances to it.
template <class T> struct Weights {
    typedef typename T::value_type V;
    V most;
    double sum;
    static DEVICE Weights none() { return Weights{-Special<V>::infinity(), 0}; }
    // Adds an element that is not greater than `most`.
    DEVICE void add(V x) { sum += exponential(x - most); }
};

template <class X> DEVICE bool is_infinite(X x) { return libm::abs(x) == Special<X>::infinity(); }

// The sum of `weights` for distances to `most`, which is not less than the old maximum.
template <class T> DEVICE double moved(Weights<T> weights, typename T::value_type most) {
    bool stays = weights.most == most || weights.sum == 0 || is_infinite(weights.sum);
    return stays ? weights.sum : weights.sum * exponential((double)weights.most - (double)most);
}

// The factor of exponentials, or the logarithm of the sum, of a line with these weights.
template <class T> DEVICE T result_of(int kind, Weights<T> weights) {
    return kind == SOFTMAX ? T::from_f64(1 / weights.sum) : T::from_f64(::log(weights.sum));
}

// The result of an element.
template <class T> DEVICE T softmax_of(int kind, T x, T most, T all) {
    return kind == SOFTMAX ? T(exponential((x - most).v)) * all : x - most - all;
}

// Writes the results of a line that are single numbers.
template <class T> DEVICE void write_numbers(const SoftmaxArgs& args, const Line& line, T most, T all) {
    write(line.out[0], args.lines.dtype[1], args.kind == PARTS ? most : all + most);
    if (args.kind == PARTS) write(line.out[1], args.lines.dtype[2], all);
}

// The greater of two; `b` if `a` is NaN.
struct Greater {
    template <class V> DEVICE V operator()(V a, V b) const { return a > b ? a : b; }
};
struct Added {
    DEVICE double operator()(double a, double b) const { return a + b; }
};

// Folds the numbers of a warp, or of a block.
template <int LANES, class V, class F> DEVICE V folded(V x, F f, V identity) {
    if constexpr (LANES == 32) {
        return warp_reduce(x, f);
    } else {
        __shared__ V shared[WARPS];
        return block_reduce(x, f, identity, shared);
    }
}

// Every LANES-th element of a line from `start` to `end`, from the thread's lane on. The first KEPT elements are kept in registers.
template <class S, int LANES> struct Elements {
    typedef typename Stored<S>::T T;
    static const int KEPT = 32 / (int)sizeof(T);
    const byte* x;
    int64 step, end;
    int dtype, lane;
    // The number of kept elements of all threads.
    int first;
    T kept[KEPT];
    DEVICE Elements(const byte* line, int64 step, int dtype, int64 start, int64 end)
        : x(line + start * step), step(step), end(end - start), dtype(dtype), lane(threadIdx.x % LANES) {
        first = (int)least(this->end, KEPT * LANES);
#pragma unroll
        for (int k = 0; k < KEPT; k++) {
            if (lane + k * LANES < first) kept[k] = at(lane + k * LANES);
        }
    }
    DEVICE T at(int64 i) const { return Stored<S>::read(x + i * step, dtype); }
    // Calls `f` with each element and its number, counted from `start`.
    template <class F> DEVICE void each(F f) const {
#pragma unroll
        for (int k = 0; k < KEPT; k++) {
            if (lane + k * LANES < first) f(kept[k], lane + k * LANES);
        }
#pragma unroll 2
        for (int64 i = lane + KEPT * LANES; i < end; i += LANES) f(at(i), i);
    }
    // The weights of the elements. Infinity minus itself is NaN. So the distance is taken to 0 if no element is greater than minus
    // infinity, and for the logarithm of a sum with an infinite element.
    DEVICE Weights<T> weights(int kind) const {
        typedef typename T::value_type V;
        V lowest = -Special<V>::infinity(), most = lowest;
        each([&](T x, int64) { most = x.v > most ? x.v : most; });
        most = folded<LANES>(most, Greater(), lowest);
        bool infinite = most == lowest || (kind == LOG_SUM_EXP && is_infinite(most));
        Weights<T> weights{infinite ? 0 : most, 0};
        each([&](T x, int64) { weights.add(x.v); });
        weights.sum = folded<LANES>(weights.sum, Added(), 0.0);
        if (most == lowest) weights.most = lowest;
        return weights;
    }
};

// One warp or block for each line.
template <class S, int LANES> DEVICE void softmax_lines(const SoftmaxArgs& args) {
    typedef typename Stored<S>::T T;
    const Lines& lines = args.lines;
    const int GROUPS = BLOCK / LANES;
    for (int64 number = (int64)blockIdx.x * GROUPS + threadIdx.x / LANES; number < lines.outer.total; number += (int64)gridDim.x * GROUPS) {
        Line line = line_of(lines, number);
        Elements<S, LANES> elements(line.x, lines.step[0], lines.dtype[0], 0, lines.n);
        Weights<T> weights = elements.weights(args.kind);
        T all = result_of(args.kind, weights), most = weights.most;
        if (args.kind >= LOG_SUM_EXP) {
            if (elements.lane == 0) write_numbers(args, line, most, all);
        } else {
            elements.each([&](T x, int64 i) {
                Stored<S>::write(line.out[0] + i * lines.step[1], lines.dtype[1], softmax_of(args.kind, x, most, all));
            });
        }
    }
}

// One block for each segment of a line. It stores the segment's weights.
template <class S> DEVICE void softmax_segments(const SoftmaxArgs& args) {
    typedef typename Stored<S>::T T;
    const Lines& lines = args.lines;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.segments; job += gridDim.x) {
        int64 number = job / args.segments, start = (job - number * args.segments) * args.segment;
        Line line = line_of(lines, number);
        Elements<S, BLOCK> elements(line.x, lines.step[0], lines.dtype[0], start, least(start + args.segment, lines.n));
        Weights<T> weights = elements.weights(args.kind);
        if (threadIdx.x == 0) ((Weights<T>*)args.states)[job] = weights;
    }
}

// One block for each segment of a line, after the weights of all segments are known.
template <class S> DEVICE void softmax_results(const SoftmaxArgs& args) {
    typedef typename Stored<S>::T T;
    typedef typename T::value_type V;
    const Lines& lines = args.lines;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.segments; job += gridDim.x) {
        int64 number = job / args.segments, part = job - number * args.segments, start = part * args.segment;
        Line line = line_of(lines, number);
        const Weights<T>* states = (const Weights<T>*)args.states + number * args.segments;
        V lowest = -Special<V>::infinity();
        Weights<T> weights{lowest, 0};
        for (int64 k = threadIdx.x; k < args.segments; k += BLOCK) weights.most = Greater()(states[k].most, weights.most);
        weights.most = folded<BLOCK>(weights.most, Greater(), lowest);
#pragma unroll 1
        for (int64 k = threadIdx.x; k < args.segments; k += BLOCK) weights.sum += moved(states[k], weights.most);
        weights.sum = folded<BLOCK>(weights.sum, Added(), 0.0);
        T all = result_of(args.kind, weights), most = weights.most;
        if (args.kind >= LOG_SUM_EXP) {
            if (part == 0 && threadIdx.x == 0) write_numbers(args, line, most, all);
        } else {
            int64 end = least(start + args.segment, lines.n);
            for (int64 i = start + threadIdx.x; i < end; i += BLOCK) {
                T x = Stored<S>::read(line.x + i * lines.step[0], lines.dtype[0]);
                Stored<S>::write(line.out[0] + i * lines.step[1], lines.dtype[1], softmax_of(args.kind, x, most, all));
            }
        }
    }
}

// One thread for each line. The sum is scaled down when a new maximum is found.
template <class S> DEVICE void softmax_singly(const SoftmaxArgs& args) {
    typedef typename Stored<S>::T T;
    typedef typename T::value_type V;
    const Lines& lines = args.lines;
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < lines.outer.total; number += (int64)gridDim.x * BLOCK) {
        Line line = line_of(lines, number);
        Weights<T> weights = Weights<T>::none();
#pragma unroll 4
        for (int64 i = 0; i < lines.n; i++) {
            V x = Stored<S>::read(line.x + i * lines.step[0], lines.dtype[0]).v;
            if (x > weights.most) {
                weights.sum = moved(weights, x) + 1;
                weights.most = x;
            } else if (!is_infinite(x)) {
                weights.add(x);
            }
        }
        bool infinite = is_infinite(weights.most);
        if (args.kind == LOG_SUM_EXP) {
            // An infinite maximum is the result, unless an element is NaN.
            bool greatest = infinite && weights.sum == weights.sum;
            T all = result_of(args.kind, weights);
            write(line.out[0], lines.dtype[1], greatest ? T(weights.most) : all + T(weights.most));
            continue;
        }
        if (infinite) weights.sum = Special<double>::nan();
        T all = result_of(args.kind, weights), most = weights.most;
        if (args.kind == PARTS) {
            write_numbers(args, line, most, all);
            continue;
        }
        for (int64 i = 0; i < lines.n; i++) {
            T x = Stored<S>::read(line.x + i * lines.step[0], lines.dtype[0]);
            Stored<S>::write(line.out[0] + i * lines.step[1], lines.dtype[1], softmax_of(args.kind, x, most, all));
        }
    }
}
