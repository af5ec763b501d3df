// Scans along lines: each element of a result depends on the elements of its line up to its position. A thread processes a short line, or
// one of many adjacent lines; a block processes any other line, a tile at a time. A line that is cut into segments is scanned in three
// steps: the state of each segment, the state before each segment, and the results.

struct ScanArgs {
    Lines lines;
    // The state of each segment of each line, then of the segments before it; NULL if lines have one segment.
    byte* states;
    // The number of segments of a line, and the number of elements of a segment.
    int64 segments;
    int64 segment;
    // True if results are written, false if states are written.
    int writes;
    // True for maxima, false for minima.
    int max;
};

// ---- functions: `of` is the state of an element, `join` the state of two adjacent runs of elements

// Running sums: in wrapping int64 for integers and Bool, in float64 for floats.
template <class T> struct Sums {
    typedef T In;
    typedef i64 Out;
    typedef uint64 State;
    typedef Sums Singly;
    static constexpr bool PLACES = false;
    DEVICE Sums(const ScanArgs&) {}
    DEVICE State none() const { return 0; }
    DEVICE State of(T x, int64) const { return (uint64)x.to_i64(); }
    DEVICE State join(State a, State b) const { return a + b; }
    DEVICE Out value(State s) const { return i64((int64)s); }
    DEVICE int64 place(State) const { return 0; }
};

template <class V> struct Sums<Float<V>> {
    typedef Float<V> In;
    typedef In Out;
    typedef double State;
    typedef Sums Singly;
    static constexpr bool PLACES = false;
    DEVICE Sums(const ScanArgs&) {}
    DEVICE State none() const { return 0; }
    DEVICE State of(In x, int64) const { return x.to_f64(); }
    DEVICE State join(State a, State b) const { return a + b; }
    DEVICE Out value(State s) const { return Out::from_f64(s); }
    DEVICE int64 place(State) const { return 0; }
};

// Running products in the same types.
template <class T> struct Products {
    typedef T In;
    typedef i64 Out;
    typedef uint64 State;
    typedef Products Singly;
    static constexpr bool PLACES = false;
    DEVICE Products(const ScanArgs&) {}
    DEVICE State none() const { return 1; }
    DEVICE State of(T x, int64) const { return (uint64)x.to_i64(); }
    DEVICE State join(State a, State b) const { return a * b; }
    DEVICE Out value(State s) const { return i64((int64)s); }
    DEVICE int64 place(State) const { return 0; }
};

// Products of floats, one factor after the other.
template <class T> struct FloatProducts {
    typedef T In;
    typedef T Out;
    typedef double State;
    static constexpr bool PLACES = false;
    DEVICE FloatProducts(const ScanArgs&) {}
    DEVICE State none() const { return 1; }
    DEVICE State of(In x, int64) const { return x.to_f64(); }
    DEVICE State join(State a, State b) const { return a * b; }
    DEVICE Out value(State s) const { return Out::from_f64(s); }
    DEVICE int64 place(State) const { return 0; }
};

// The product of a run of factors may leave the range of float64 even if no running product from the first factor does. So states have a
// separate exponent.
template <class V> struct Products<Float<V>> {
    typedef Float<V> In;
    typedef In Out;
    struct State {
        double mantissa;
        int64 exponent;
    };
    typedef FloatProducts<In> Singly;
    static constexpr bool PLACES = false;
    DEVICE Products(const ScanArgs&) {}
    DEVICE State none() const { return State{1, 0}; }
    // The state of `x * 2^exponent`.
    static DEVICE State parted(double x, int64 exponent) {
        bool plain = x != 0 && libm::abs(x) < Special<double>::infinity();
        if (!plain) return State{x, 0};
        // Subnormal numbers are scaled to normal ones first.
        bool small = libm::abs(x) < 2.2250738585072014e-308;
        uint64 bits = bits_of(small ? x * 18014398509481984.0 : x);
        int64 own = (int64)(bits >> 52 & 0x7ff) - 1023 - (small ? 54 : 0);
        return State{double_of((bits & 0x800fffffffffffffull) | 0x3ff0000000000000ull), exponent + own};
    }
    DEVICE State of(In x, int64) const { return parted(x.to_f64(), 0); }
    DEVICE State join(State a, State b) const { return parted(a.mantissa * b.mantissa, a.exponent + b.exponent); }
    DEVICE Out value(State s) const {
        int64 exponent = s.exponent > 2200 ? 2200 : s.exponent < -2200 ? -2200 : s.exponent;
        return Out::from_f64(::ldexp(s.mantissa, (int)exponent));
    }
    DEVICE int64 place(State) const { return 0; }
};

// The running maxima or minima, and the last position of each. A NaN wins over everything.
template <class T> struct Extremes {
    typedef T In;
    typedef T Out;
    struct State {
        // Negative if there is no element.
        int64 place;
        T best;
    };
    typedef Extremes Singly;
    static constexpr bool PLACES = true;
    bool max;
    DEVICE Extremes(const ScanArgs& args) : max(args.max) {}
    DEVICE State none() const { return State{-1, T(T::ZERO)}; }
    DEVICE State of(T x, int64 place) const { return State{place, x}; }
    DEVICE State join(State a, State b) const {
        if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
        bool takes = (max ? b.best >= a.best : b.best <= a.best) || b.best.is_nan();
        return takes ? b : a;
    }
    DEVICE Out value(State s) const { return s.best; }
    DEVICE int64 place(State s) const { return s.place; }
};

// The logarithm of a sum of exponentials: the greatest exponent, and the sum divided by its exponential, minus 1.
struct LogSum {
    double most, rest;
};

// This function is not inlined, so it is compiled once.
__device__ __noinline__ LogSum joined(LogSum a, LogSum b) {
    double nothing = -Special<double>::infinity();
    if (b.most == nothing || a.most != a.most) return a;
    if (a.most == nothing || b.most != b.most) return b;
    if (a.most == b.most) return LogSum{a.most, a.rest + b.rest + 1};
    bool second = b.most > a.most;
    LogSum most = second ? b : a, less = second ? a : b;
    return LogSum{most.most, most.rest + (1 + less.rest) * ::exp(less.most - most.most)};
}

// `log(e^x[0] + ... + e^x[i])` in float64
template <class T> struct LogSums {
    typedef T In;
    typedef T Out;
    typedef LogSum State;
    typedef LogSums Singly;
    static constexpr bool PLACES = false;
    DEVICE LogSums(const ScanArgs&) {}
    DEVICE State none() const { return State{-Special<double>::infinity(), 0}; }
    DEVICE State of(T x, int64) const { return State{x.to_f64(), 0}; }
    DEVICE State join(State a, State b) const { return joined(a, b); }
    DEVICE Out value(State s) const {
        // If an element is infinite, it is the sum.
        bool finite = libm::abs(s.most) < Special<double>::infinity();
        return Out::from_f64(finite ? s.most + ::log1p(s.rest) : s.most);
    }
    DEVICE int64 place(State) const { return 0; }
};

// ---- loops

// Reads every `stride`-th element of a line from number `first` on and below `end`. N elements of the type itself are loaded without
// waiting for each other.
template <int N, class T> DEVICE void read_some(T (&x)[N], const byte* line, int64 step, int dtype, int64 first, int64 end, int stride) {
    if (dtype == Code<T>::value && first + (N - 1) * stride < end) {
#pragma unroll
        for (int k = 0; k < N; k++) x[k] = *(const T*)(line + (first + k * stride) * step);
    } else {
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (first + k * stride < end) x[k] = read<T>(line + (first + k * stride) * step, dtype);
        }
    }
}

// One thread scans a line, some elements at a time. They are read before their results are written, because results may overwrite them.
template <class F> DEVICE void scan_singly(const ScanArgs& args) {
    typedef typename F::Singly Scan;
    typedef typename F::In In;
    const int SOME = 8;
    const Lines& lines = args.lines;
    Scan scan(args);
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < lines.outer.total; number += (int64)gridDim.x * BLOCK) {
        Line line = line_of(lines, number);
        typename Scan::State state = scan.none();
        for (int64 start = 0; start < lines.n; start += SOME) {
            In x[SOME];
            read_some(x, line.x, lines.step[0], lines.dtype[0], start, lines.n, 1);
#pragma unroll
            for (int k = 0; k < SOME && start + k < lines.n; k++) {
                state = scan.join(state, scan.of(x[k], start + k));
                if (lines.out[0]) write(line.out[0] + (start + k) * lines.step[1], lines.dtype[1], scan.value(state));
                if (F::PLACES && lines.out[1]) write(line.out[1] + (start + k) * lines.step[2], lines.dtype[2], i64(scan.place(state)));
            }
        }
    }
}

// The value of the thread `distance` lanes below. T is trivially copyable.
template <class T> DEVICE T below(T x, int distance) {
    const int words = (sizeof(T) + 3) / 4;
    int word[words] = {};
    memcpy(word, &x, sizeof(T));
    for (int k = 0; k < words; k++) word[k] = __shfl_up_sync(0xffffffffu, word[k], distance);
    memcpy(&x, word, sizeof(T));
    return x;
}

// The state of all earlier threads. `all` is set to the state of the block.
template <class F> DEVICE typename F::State scan_block(const F& scan, typename F::State x, typename F::State& all) {
    typedef typename F::State State;
    __shared__ State sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
    for (int distance = 1; distance < 32; distance *= 2) {
        State before = below(x, distance);
        if (lane >= distance) x = scan.join(before, x);
    }
    State before = below(x, 1);
    if (lane == 31) sums[warp] = x;
    __syncthreads();
    State sum = scan.none(), first = sum;
    for (int k = 0; k < WARPS; k++) {
        if (k == warp) first = sum;
        sum = scan.join(sum, sums[k]);
    }
    __syncthreads();
    all = sum;
    return lane > 0 ? scan.join(first, before) : first;
}

// The number of neighbouring elements of a thread, and the number of elements of a tile.
const int ITEMS = 8;
const int TILE = BLOCK * ITEMS;

// The place of an element of a tile in shared memory. It avoids bank conflicts between threads that read their elements.
DEVICE int spread(int k) { return k + k / ITEMS; }

// Reads a number of any type from a word of shared memory.
template <class T> DEVICE T taken(const uint64& word) {
    T x;
    memcpy(&x, &word, sizeof(T));
    return x;
}
template <class T> DEVICE void keep(uint64& word, T x) { memcpy(&word, &x, sizeof(T)); }

// One block scans a segment of a line.
template <class F> DEVICE void scan_segments(const ScanArgs& args) {
    typedef typename F::In In;
    typedef typename F::Out Out;
    typedef typename F::State State;
    // The elements, later their results.
    __shared__ uint64 values[TILE + TILE / ITEMS];
    __shared__ int64 places[F::PLACES ? TILE + TILE / ITEMS : 1];
    const Lines& lines = args.lines;
    F scan(args);
    int thread = threadIdx.x;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.segments; job += gridDim.x) {
        int64 number = job / args.segments, start = (job - number * args.segments) * args.segment;
        int64 end = least(start + args.segment, lines.n);
        Line line = line_of(lines, number);
        State state = args.states && args.writes ? ((const State*)args.states)[job] : scan.none();
        for (int64 tile = start; tile < end; tile += TILE) {
            int count = (int)least(TILE, end - tile);
            In x[ITEMS];
            read_some(x, line.x, lines.step[0], lines.dtype[0], tile + thread, end, BLOCK);
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                if (thread + k * BLOCK < count) keep(values[spread(thread + k * BLOCK)], x[k]);
            }
            __syncthreads();
            int first = thread * ITEMS, mine = count - first < ITEMS ? count - first : ITEMS;
            State sum = scan.none(), all;
#pragma unroll 1
            for (int k = 0; k < mine; k++) sum = scan.join(sum, scan.of(taken<In>(values[spread(first + k)]), tile + first + k));
            State before = scan.join(state, scan_block(scan, sum, all));
            state = scan.join(state, all);
            if (args.writes) {
#pragma unroll 1
                for (int k = 0; k < mine; k++) {
                    uint64& value = values[spread(first + k)];
                    before = scan.join(before, scan.of(taken<In>(value), tile + first + k));
                    keep(value, scan.value(before));
                    if (F::PLACES) places[spread(first + k)] = scan.place(before);
                }
                __syncthreads();
#pragma unroll 1
                for (int k = thread; k < count; k += BLOCK) {
                    if (lines.out[0]) write(line.out[0] + (tile + k) * lines.step[1], lines.dtype[1], taken<Out>(values[spread(k)]));
                    if (F::PLACES && lines.out[1]) {
                        write(line.out[1] + (tile + k) * lines.step[2], lines.dtype[2], i64(places[spread(k)]));
                    }
                }
            }
            __syncthreads();
        }
        if (!args.writes && thread == 0) ((State*)args.states)[job] = state;
    }
}

// One block replaces the states of a line's segments by the states before each segment.
template <class F> DEVICE void scan_states(const ScanArgs& args) {
    typedef typename F::State State;
    F scan(args);
    for (int64 number = blockIdx.x; number < args.lines.outer.total; number += gridDim.x) {
        State* states = (State*)args.states + number * args.segments;
        State before = scan.none(), all;
        for (int64 first = 0; first < args.segments; first += BLOCK) {
            int64 k = first + threadIdx.x;
            State state = k < args.segments ? states[k] : scan.none();
            state = scan.join(before, scan_block(scan, state, all));
            if (k < args.segments) states[k] = state;
            before = scan.join(before, all);
        }
    }
}
