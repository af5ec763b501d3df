// Softmax and related functions along lines. Exponentials are computed of the distance to the greatest element, so that they cannot
// overflow. A block or a part of a warp processes a line, or a segment of a long line. Several threads process each of many adjacent lines.

// As `launch::lines::Softmax`. From LOG_SUM_EXP on, the results of a line are single numbers.
enum { SOFTMAX, LOG_SOFTMAX, LOG_SUM_EXP, PARTS };

struct SoftmaxArgs {
    Lines lines;
    // The state of each segment of each line.
    byte* states;
    // The number of segments of a line, and the number of elements of a segment, which is less than 2^31.
    int64 segments;
    int64 segment;
    int kind;
    // The number of threads for a line, a power of two.
    int lanes;
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
};

template <class X> DEVICE bool is_infinite(X x) { return libm::abs(x) == Special<X>::infinity(); }

// The sum of `weights` for distances to `most`, which is not less than the old maximum.
template <class T> DEVICE double moved(Weights<T> weights, typename T::value_type most) {
    bool stays = weights.most == most || weights.sum == 0 || is_infinite(weights.sum);
    return stays ? weights.sum : weights.sum * exponential(weights.most - most);
}

// The subtrahend of elements whose maximum is `most`. Infinity minus itself is NaN, so the distance is taken to 0 instead.
template <class V> DEVICE V finite(V most) { return is_infinite(most) ? 0 : most; }

// The factor of exponentials, or the logarithm of the sum, of a line with these weights. Only the logarithm of a sum of exponentials is a
// number if an element is infinite, or if all of them are minus infinity.
template <class T> DEVICE T result_of(int kind, Weights<T> weights) {
    if (kind != LOG_SUM_EXP && is_infinite(weights.most)) return T(T::NAN);
    return T::from_f64(kind == SOFTMAX ? 1 / weights.sum : ::log(weights.sum));
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

// Folds the numbers of a block.
template <class V, class F> DEVICE V folded(V x, F f, V identity) {
    __shared__ V shared[WARPS];
    return block_reduce(x, f, identity, shared);
}

// Folds the numbers of each `lanes` adjacent threads of a warp.
template <class V, class F> DEVICE V folded_by(int lanes, V x, F f) {
#pragma unroll 1
    for (int half = lanes >> 1; half > 0; half >>= 1) x = f(x, exchange(x, half));
    return x;
}

// N adjacent elements in registers: a packet, or one element of any dtype.
template <class S, int N> struct Kept {
    typedef typename Stored<S>::T::value_type V;
    Packet packet;
    DEVICE void load(const byte* p, int) { packet = *(const Packet*)p; }
    DEVICE void get(V (&x)[N]) const { unpack<S>(x, packet); }
    static DEVICE void store(byte* p, int, const V (&x)[N]) { *(Packet*)p = pack<S>(x); }
};
template <class S> struct Kept<S, 1> {
    typedef typename Stored<S>::T::value_type V;
    V number;
    DEVICE void load(const byte* p, int dtype) { number = Stored<S>::read(p, dtype).v; }
    DEVICE void get(V (&x)[1]) const { x[0] = number; }
    static DEVICE void store(byte* p, int dtype, const V (&x)[1]) { Stored<S>::write(p, dtype, x[0]); }
};

// A block for each line or segment if WHOLE is true, else `lanes` threads of a warp for each line. A thread keeps P times N elements. So a
// short line is read once. The sum of a longer line is scaled down when a new maximum is found, and its elements are read again. If N is not
// 1, the elements are contiguous, and the elements before and after the aligned packets are fewer than `lanes`.
template <class S, int N, int P, bool WHOLE> DEVICE void softmax_rows(const SoftmaxArgs& args) {
    typedef typename Stored<S>::T T;
    typedef typename T::value_type V;
    const Lines& lines = args.lines;
    const V lowest = -Special<V>::infinity();
    int lanes = WHOLE ? BLOCK : args.lanes, lane = threadIdx.x & (lanes - 1), groups = BLOCK / lanes, chunk = P * lanes;
    auto fold = [&](auto x, auto f, auto identity) {
        if constexpr (WHOLE) return folded(x, f, identity);
        else return folded_by(lanes, x, f);
    };
    bool fits = args.segment <= (int64)chunk * N;
    int64 jobs = lines.outer.total * args.segments;
    for (int64 first = (int64)blockIdx.x * groups; first < jobs; first += (int64)gridDim.x * groups) {
        int64 job = first + threadIdx.x / lanes, number = job, start = 0;
        if (WHOLE && args.segments > 1) {
            number = job / args.segments;
            start = (job - number * args.segments) * args.segment;
        }
        // All threads of a warp take part in folds.
        bool inside = job < jobs;
        Line line = line_of(lines, inside ? number : 0);
        const byte* x = line.x + start * lines.step[0];
        int count = inside ? (int)least(args.segment, lines.n - start) : 0, packets = count, head = 0, outside = 0;
        int64 step = lines.step[0], step_back = lines.step[1];
        if constexpr (N > 1) {
            head = (int)least(count, (16 - ((uint64)x & 15)) % 16 / sizeof(S));
            packets = (count - head) / N;
            outside = count - packets * N;
            step = step_back = sizeof(Packet);
        }
        const byte* from = x + head * sizeof(S);
        Kept<S, N> kept[P];
        int rest = 0;
        auto load = [&](int at) {
            rest = packets - at;
#pragma unroll
            for (int k = 0; k < P; k++) {
                if (lane + k * lanes < rest) kept[k].load(from + (int64)(at + lane + k * lanes) * step, lines.dtype[0]);
            }
        };
        auto each = [&](auto f) {
#pragma unroll
            for (int k = 0; k < P; k++) {
                if (lane + k * lanes >= rest) continue;
                V some[N];
                kept[k].get(some);
                f(some, lane + k * lanes);
            }
        };
        Weights<T> weights{lowest, 0};
        // The element outside of the packets that this thread processes.
        int place = lane < head ? lane : packets * N + lane;
        V other = 0;
        if (N > 1 && lane < outside) {
            other = Stored<S>::read(x + place * sizeof(S), lines.dtype[0]).v;
            weights.most = Greater()(other, lowest);
            weights.sum = exponential(other - finite(weights.most));
        }
        int end = 0;
#pragma unroll 1
        do {
            load(end);
            V most = weights.most;
            each([&](V (&some)[N], int) {
                for (int k = 0; k < N; k++) most = Greater()(some[k], most);
            });
            if (fits) most = fold(most, Greater(), lowest);
            weights = {most, moved(weights, most)};
            V shift = finite(most);
            each([&](V (&some)[N], int) {
                for (int k = 0; k < N; k++) some[k] = exponential(some[k] - shift);
                weights.sum += packet_sum(some);
            });
            end += chunk;
        } while (end < packets);
        if (!fits) {
            V most = fold(weights.most, Greater(), lowest);
            weights = {most, moved(weights, most)};
        }
        weights.sum = fold(weights.sum, Added(), 0.0);
        if (WHOLE && args.segments > 1) {
            if (lane == 0) ((Weights<T>*)args.states)[job] = weights;
            continue;
        }
        T all = result_of(args.kind, weights), most = weights.most;
        if (args.kind >= LOG_SUM_EXP) {
            if (inside && lane == 0) write_numbers(args, line, most, all);
            continue;
        }
        if (N > 1 && lane < outside) {
            Stored<S>::write(line.out[0] + place * sizeof(S), lines.dtype[1], softmax_of(args.kind, T(other), most, all));
        }
        byte* to = line.out[0] + head * sizeof(S);
        // The last elements are still kept.
#pragma unroll 1
        for (int at = end - chunk; at >= 0; at -= chunk) {
            if (at + chunk < end) load(at);
            each([&](V (&some)[N], int i) {
                for (int k = 0; k < N; k++) some[k] = softmax_of(args.kind, T(some[k]), most, all).v;
                Kept<S, N>::store(to + (int64)(at + i) * step_back, lines.dtype[1], some);
            });
        }
    }
}

// A block for each segment of a line, after the weights of all segments are known.
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
        weights.most = folded(weights.most, Greater(), lowest);
#pragma unroll 1
        for (int64 k = threadIdx.x; k < args.segments; k += BLOCK) weights.sum += moved(states[k], weights.most);
        weights.sum = folded(weights.sum, Added(), 0.0);
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

// `lanes` threads of a block for each line. Neighbouring threads process neighbouring lines.
template <class S> DEVICE void softmax_columns(const SoftmaxArgs& args) {
    typedef typename Stored<S>::T T;
    typedef typename T::value_type V;
    __shared__ Weights<T> shared[BLOCK];
    const int P = 32 / sizeof(V);
    const Lines& lines = args.lines;
    const V lowest = -Special<V>::infinity();
    int lanes = args.lanes, width = BLOCK / lanes, slot = threadIdx.x & (width - 1), lane = threadIdx.x / width;
    for (int64 first = (int64)blockIdx.x * width; first < lines.outer.total; first += (int64)gridDim.x * width) {
        bool inside = first + slot < lines.outer.total;
        Line line = line_of(lines, inside ? first + slot : 0);
        int64 n = inside ? lines.n : 0;
        auto read = [&](int64 i) { return Stored<S>::read(line.x + i * lines.step[0], lines.dtype[0]).v; };
        Weights<T> weights{lowest, 0};
#pragma unroll 1
        for (int64 i = lane; i < n; i += P * lanes) {
            V x[P], most = weights.most;
#pragma unroll
            for (int k = 0; k < P; k++) x[k] = i + k * lanes < n ? read(i + k * lanes) : lowest;
#pragma unroll
            for (int k = 0; k < P; k++) most = Greater()(x[k], most);
            weights = {most, moved(weights, most)};
            V shift = finite(most);
#pragma unroll
            for (int k = 0; k < P; k++) x[k] = exponential(x[k] - shift);
            weights.sum += packet_sum(x);
        }
        if (lanes > 1) {
            shared[threadIdx.x] = weights;
            __syncthreads();
            weights.sum = 0;
            for (int k = 0; k < lanes; k++) weights.most = Greater()(shared[k * width + slot].most, weights.most);
            for (int k = 0; k < lanes; k++) weights.sum += moved(shared[k * width + slot], weights.most);
            __syncthreads();
        }
        T all = result_of(args.kind, weights), most = weights.most;
        if (args.kind >= LOG_SUM_EXP) {
            if (inside && lane == 0) write_numbers(args, line, most, all);
            continue;
        }
#pragma unroll 8
        for (int64 i = lane; i < n; i += lanes) {
            T result = softmax_of(args.kind, T(read(i)), most, all);
            Stored<S>::write(line.out[0] + i * lines.step[1], lines.dtype[1], result);
        }
    }
}
