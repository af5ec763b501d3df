// Reductions: folds of the elements of each result position. A block folds `width` results at a time, or a segment of their elements. Each
// thread folds some elements, and the states of threads are merged in pairs. A second kernel merges the states of segments. The division of
// the work depends only on sizes, so that results are the same on every GPU.
//
// A fold has an accumulator, to which elements are added. An accumulator becomes a state, and states are merged.

struct ReduceArgs {
    // The loops over results, with the steps of the input and of each result.
    Loops<3> kept;
    // The loops over the elements of a result. They are row-major if the fold returns a position.
    Loops<1> folded;
    const byte* x;
    // NULL for a result that is not wanted.
    byte* out[2];
    // A state for each segment of each result; NULL if there is one segment.
    byte* parts;
    // The number of segments of a result, and the elements of a segment.
    int64 segments;
    int64 segment;
    // The correction of a variance, or the exponent of a norm.
    double number;
    // The dtypes of the results and of the input.
    int dtype[3];
    // 0 for a sum itself, 1 for a mean, 2 for a square root.
    int root;
    // True for the greatest element, for *all elements are true*, or for sums with every addition in float64.
    int flag;
    // True if absolute values are compared.
    int magnitude;
    // The number of results of a block, a power of two.
    int width;
    // True if neighbouring threads fold neighbouring results, false if they fold neighbouring elements of a result.
    int across;
    // True if the elements of a result are contiguous.
    int packed;
    int unused;
};

// Writes result k if it is wanted.
template <class T> DEVICE void put(const ReduceArgs& args, const int64 (&at)[3], int k, T x) {
    if (args.out[k]) store(args.out[k] + at[k + 1], args.dtype[k], x);
}

// ---- sums and products

// The sum of integers or Bools, which wraps.
template <class T> struct Sum {
    typedef T In;
    typedef uint64 Acc;
    typedef uint64 State;
    static constexpr int RUN = 0;
    DEVICE Sum(const ReduceArgs&) {}
    DEVICE Acc none() const { return 0; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        // 32 bits hold the sum of a few elements of at most 16 bits.
        typename KeyType<(sizeof(T) > 2)>::type sum = 0;
        for (int k = 0; k < N; k++) sum += x[k].plain();
        acc += sizeof(T) > 2 ? (uint64)sum : (uint64)(int64)(int)sum;
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const { return a + b; }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State sum) const { put(args, at, 0, i64((int64)sum)); }
};

// The terms of a sum of floats.
struct Plain {
    static constexpr bool NARROW = true;
    template <class V> static DEVICE V of(V x) { return x; }
};
struct Abs {
    static constexpr bool NARROW = true;
    template <class V> static DEVICE V of(V x) { return libm::abs(x); }
};
struct Square {
    static constexpr bool NARROW = false;
    template <class V> static DEVICE V of(V x) { return x * x; }
};
struct NonZero {
    static constexpr bool NARROW = false;
    template <class V> static DEVICE V of(V x) { return x == 0 ? 0 : 1; }
};
struct NotNan {
    static constexpr bool NARROW = false;
    template <class V> static DEVICE V of(V x) { return x == x ? x : 0; }
};

DEVICE bool is_finite(double x) { return libm::abs(x) < Special<double>::infinity(); }

// The sum of a term of floats, in float64. A few float32 terms are added in float32 first, if it has the range for them.
template <class T, class TERM> struct Terms {
    typedef T In;
    typedef double Acc;
    typedef double State;
    // The number of additions in float32, which bounds the rounding error.
    static constexpr int RUN = 128;
    int wide, root;
    DEVICE Terms(const ReduceArgs& args) : wide(args.flag), root(args.root) {}
    DEVICE Acc none() const { return 0; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        if constexpr (N > 1 && TERM::NARROW && sizeof(T) == 4) {
            if (!wide) {
                float sums[N];
                for (int k = 0; k < N; k++) sums[k] = TERM::of(x[k].v);
                for (int half = N / 2; half > 0; half /= 2) {
                    for (int k = 0; k < half; k++) sums[k] += sums[k + half];
                }
                if (is_finite(sums[0])) {
                    acc += sums[0];
                    return;
                }
            }
        }
        for (int k = 0; k < N; k++) acc += TERM::of(x[k].to_f64());
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const { return a + b; }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State sum) const {
        double result = root == 1 ? sum / (double)args.folded.total : root == 2 ? libm::sqrt(sum) : sum;
        put(args, at, 0, f64(result));
    }
};

// The mean of the floats that are not NaN.
template <class T> struct NanMean {
    typedef T In;
    struct State {
        double sum, count;
    };
    typedef State Acc;
    static constexpr int RUN = 128;
    DEVICE NanMean(const ReduceArgs&) {}
    DEVICE Acc none() const { return Acc{0, 0}; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        for (int k = 0; k < N; k++) {
            bool counts = !x[k].is_nan();
            acc.sum += counts ? x[k].to_f64() : 0;
            acc.count += counts;
        }
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const { return State{a.sum + b.sum, a.count + b.count}; }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const { put(args, at, 0, f64(s.sum / s.count)); }
};

// The product: in wrapping int64 for integers, in float64 for floats.
template <class T> struct Product {
    typedef T In;
    static constexpr bool FLOAT = T::FLOAT;
    union State {
        double number;
        uint64 whole;
    };
    typedef State Acc;
    static constexpr int RUN = 0;
    DEVICE Product(const ReduceArgs&) {}
    DEVICE Acc none() const {
        Acc one;
        if constexpr (FLOAT) one.number = 1;
        else one.whole = 1;
        return one;
    }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        for (int k = 0; k < N; k++) {
            if constexpr (FLOAT) acc.number *= x[k].to_f64();
            else acc.whole *= (uint64)x[k].to_i64();
        }
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const {
        if constexpr (FLOAT) a.number *= b.number;
        else a.whole *= b.whole;
        return a;
    }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const {
        if constexpr (FLOAT) put(args, at, 0, f64(s.number));
        else put(args, at, 0, i64((int64)s.whole));
    }
};

// ---- greatest and least elements

// The keys of elements, so that the greatest key wins. They are inverted for the least element. The key of NaN is the greatest in both
// cases.
template <class T> struct Ranking {
    typedef typename Key<T>::type K;
    K flip;
    DEVICE Ranking(bool max) : flip(max ? 0 : Key<T>::ALL) {}
    DEVICE K exact(T x) const { return x.is_nan() ? Key<T>::ALL : Key<T>::exact(x) ^ flip; }
    DEVICE K of(T x) const { return x.is_nan() ? Key<T>::ALL : Key<T>::of(x) ^ flip; }
    DEVICE K nothing() const { return Key<T>::exact(flip ? T::most() : T::least()) ^ flip; }
    DEVICE T back(K key) const { return Key<T>::FLOAT && key == Key<T>::ALL ? Key<T>::back(key) : Key<T>::back(key ^ flip); }
};

// The greatest or least element.
template <class T> struct Extreme {
    typedef T In;
    typedef typename Key<T>::type Acc;
    typedef Acc State;
    static constexpr int RUN = 0;
    Ranking<T> ranking;
    int magnitude;
    DEVICE Extreme(const ReduceArgs& args) : ranking(args.flag), magnitude(args.magnitude) {}
    DEVICE Acc none() const { return ranking.nothing(); }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        for (int k = 0; k < N; k++) acc = merge(acc, ranking.exact(magnitude ? x[k].abs() : x[k]));
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const { return a > b ? a : b; }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const { put(args, at, 0, ranking.back(s)); }
};

// The least and the greatest element.
template <class T> struct MinMax {
    typedef T In;
    struct State {
        typename Key<T>::type least, greatest;
    };
    typedef State Acc;
    static constexpr int RUN = 0;
    DEVICE MinMax(const ReduceArgs&) {}
    DEVICE Acc none() const { return Acc{Ranking<T>(false).nothing(), Ranking<T>(true).nothing()}; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        for (int k = 0; k < N; k++) acc = merge(acc, State{Ranking<T>(false).exact(x[k]), Ranking<T>(true).exact(x[k])});
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const {
        return State{a.least > b.least ? a.least : b.least, a.greatest > b.greatest ? a.greatest : b.greatest};
    }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const {
        put(args, at, 0, Ranking<T>(false).back(s.least));
        put(args, at, 1, Ranking<T>(true).back(s.greatest));
    }
};

// The greatest or least element, and the number of the first element that is equal to it.
template <class T> struct ExtremeAt {
    typedef T In;
    struct State {
        typename Key<T>::type key;
        int64 number;
    };
    typedef State Acc;
    static constexpr int RUN = 0;
    Ranking<T> ranking;
    DEVICE ExtremeAt(const ReduceArgs& args) : ranking(args.flag) {}
    DEVICE Acc none() const { return Acc{0, (int64)(~0ull >> 1)}; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64 number, int64 step) const {
        for (int k = 0; k < N; k++) acc = merge(acc, State{ranking.of(x[k]), number + k * step});
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const {
        bool second = b.key > a.key || (b.key == a.key && b.number < a.number);
        return second ? b : a;
    }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const {
        // The element itself is needed to distinguish the zeros.
        int64 place[1];
        offsets(args.folded, s.number, place);
        put(args, at, 0, load<T>(args.x + at[0] + place[0], args.dtype[2]));
        put(args, at, 1, i64(s.number));
    }
};

// True if all elements, or any of them, are not 0. The accumulator is true once an element has decided the result.
template <class T> struct Logic {
    typedef T In;
    typedef int Acc;
    typedef int State;
    static constexpr int RUN = 0;
    bool all;
    DEVICE Logic(const ReduceArgs& args) : all(args.flag) {}
    DEVICE Acc none() const { return 0; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        for (int k = 0; k < N; k++) acc |= (x[k] == T(T::ZERO)) == all;
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const { return a | b; }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const { put(args, at, 0, Bool((s != 0) != all)); }
};

// ---- variance

// The variance or the standard deviation. An accumulator subtracts its first element from all, so that cancellation in the squares of RUN
// elements loses at most a factor of RUN. States are merged with a mean that is a sum of two numbers.
template <class T> struct Moment {
    typedef T In;
    struct Acc {
        double shift, sum, squares;
        int count, infinite;
    };
    // `mean + rest` is the mean, and `squares` the sum of the squared distances from it.
    struct State {
        double count, mean, rest, squares;
    };
    static constexpr int RUN = 256;
    double correction;
    int root;
    DEVICE Moment(const ReduceArgs& args) : correction(args.number), root(args.root) {}
    DEVICE Acc none() const { return Acc{0, 0, 0, 0, 0}; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        if (acc.count == 0) acc.shift = x[0].to_f64();
        acc.count += N;
        for (int k = 0; k < N; k++) {
            double number = x[k].to_f64(), d = number - acc.shift;
            acc.sum += d;
            acc.squares = ::fma(d, d, acc.squares);
            if (sizeof(T) == 8) acc.infinite |= !is_finite(number);
        }
    }
    // The state with its mean moved by `step`, which is still a sum of two numbers.
    static DEVICE State moved(State s, double step) {
        double rest = s.rest + step, mean = s.mean + rest, added = mean - s.mean;
        double lost = (s.mean - (mean - added)) + (rest - added);
        return State{s.count, mean, is_finite(mean) ? lost : 0, s.squares};
    }
    DEVICE State state(Acc acc) const {
        if (acc.count == 0) return State{0, 0, 0, 0};
        double sum = acc.sum, squares = acc.squares, step = sum / acc.count, less = sum * step;
        // Distances of finite elements may overflow. Then the variance is infinite.
        if (sizeof(T) == 8 && !is_finite(sum) && is_finite(acc.shift) && !acc.infinite) {
            step = 0;
            squares = Special<double>::infinity();
        } else if (!(squares == Special<double>::infinity() && is_finite(sum))) {
            squares -= less;
        }
        return moved(State{(double)acc.count, acc.shift, 0, squares}, step);
    }
    DEVICE State merge(State a, State b) const {
        if (a.count == 0) return b;
        if (b.count == 0) return a;
        double count = a.count + b.count, part = b.count / count;
        double difference = (b.mean - a.mean) + (b.rest - a.rest);
        double squares = a.squares + b.squares + difference * difference * (a.count * part);
        bool far = !is_finite(difference) && is_finite(a.mean) && is_finite(b.mean);
        return moved(State{count, a.mean, a.rest, squares}, far ? 0 : difference * part);
    }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const {
        // Without elements the sum of squares is 0, and 0 / 0 is NaN.
        double divisor = s.count - correction;
        if (divisor < 0 || s.count == 0) divisor = 0;
        double variance = (s.squares < 0 ? 0 : s.squares) / divisor;
        put(args, at, 0, f64(root ? libm::sqrt(variance) : variance));
    }
};

// ---- norms

// Sums of powers. Elements whose powers would leave the range of float64 are divided by `scale`, the element with the greatest power.
struct PowerSum {
    double sum, scale;
};
// The exponent, and the range of magnitudes whose powers can be summed without scaling.
struct Exponent {
    double p, low, high;
};

DEVICE double raised(double x, double p) { return p == 2 ? x * x : ::pow(x, p); }

// These functions are not inlined, so they are compiled once.
__device__ __noinline__ PowerSum merged(PowerSum a, PowerSum b, double p) {
    if (a.scale == b.scale || b.sum == 0) return PowerSum{a.sum + b.sum, a.scale};
    if (a.sum == 0) return b;
    bool first = (p > 0) == (a.scale > b.scale);
    PowerSum most = first ? a : b, less = first ? b : a;
    return PowerSum{most.sum + (is_finite(less.sum) ? less.sum * raised(less.scale / most.scale, p) : less.sum), most.scale};
}
__device__ __noinline__ PowerSum added(PowerSum sum, double size, Exponent e) {
    bool safe = (e.low <= size && size <= e.high) || size == 0 || !is_finite(size);
    PowerSum one = safe ? PowerSum{raised(size, e.p), 1} : PowerSum{1, size};
    return one.scale == sum.scale ? PowerSum{sum.sum + one.sum, sum.scale} : merged(sum, one, e.p);
}

// `(sum of |x|^p)^(1/p)`
template <class T> struct Powers {
    typedef T In;
    typedef PowerSum State;
    typedef State Acc;
    static constexpr int RUN = 0;
    Exponent exponent;
    DEVICE Powers(const ReduceArgs& args) {
        double reach = 900.0 / libm::abs(args.number);
        exponent = Exponent{args.number, ::exp2(-reach), ::exp2(reach)};
    }
    DEVICE Acc none() const { return Acc{0, 1}; }
    template <int N> DEVICE void take(Acc& acc, const T (&x)[N], int64, int64) const {
        for (int k = 0; k < N; k++) acc = added(acc, libm::abs(x[k].to_f64()), exponent);
    }
    DEVICE State state(Acc acc) const { return acc; }
    DEVICE State merge(State a, State b) const { return merged(a, b, exponent.p); }
    DEVICE void finish(const ReduceArgs& args, const int64 (&at)[3], State s) const {
        double p = exponent.p, root;
        if (p == 2) {
            root = libm::sqrt(s.sum);
        } else {
            // 1 / p is a sum of two numbers, because the logarithm of the sum amplifies its rounding error.
            double inverse = 1 / p, lost = ::fma(-inverse, p, 1.0) / p;
            root = ::pow(s.sum, inverse);
            if (s.sum > 0 && is_finite(s.sum) && is_finite(root)) root += root * (lost * ::log(s.sum));
        }
        put(args, at, 0, f64(s.scale * root));
    }
};

// ---- the loops

// The state of a thread: an accumulator of `run` elements, and the state of the elements before.
template <class F> struct Folded {
    typename F::Acc acc;
    typename F::State state;
    int run;
    DEVICE Folded(const F& fold) : acc(fold.none()), state(fold.state(acc)), run(0) {}
    DEVICE void flush(const F& fold) {
        state = fold.merge(state, fold.state(acc));
        acc = fold.none();
        run = 0;
    }
    // Adds elements. The first one has this number, and each next one a number greater by `step`.
    template <int N> DEVICE void take(const F& fold, const typename F::In (&x)[N], int64 number, int64 step) {
        fold.template take<N>(acc, x, number, step);
        if (F::RUN > 0 && (run += N) >= F::RUN) flush(fold);
    }
};

// Folds every `lanes`-th of the contiguous elements from `start` to `end`, from number `lane` on. Aligned elements are loaded in packets.
template <class F, class S> DEVICE void fold_packed(
    const F& fold, Folded<F>& sum, const byte* x, int64 start, int64 end, int lane, int lanes) {
    typedef typename F::In T;
    const int PER = sizeof(Packet) / sizeof(S), SOME = 4;
    const S* first = (const S*)x;
    int64 aligned = least(end, start + (int64)(((16 - ((uint64)(first + start) & 15)) & 15) / sizeof(S)));
    int64 packets = (end - aligned) / PER, rest = aligned + packets * PER;
    const Packet* from = (const Packet*)(first + aligned);
    auto take = [&](const Packet& packet, int64 j) {
        S stored[PER];
        memcpy(stored, &packet, sizeof(Packet));
        T some[PER];
        for (int k = 0; k < PER; k++) some[k] = convert<T>(stored[k]);
        sum.template take<PER>(fold, some, aligned + j * PER, 1);
    };
    int64 j = lane;
    // Several packets are loaded before the first one is used.
#pragma unroll 1
    for (; j + (SOME - 1) * lanes < packets; j += SOME * lanes) {
        Packet packet[SOME];
#pragma unroll
        for (int k = 0; k < SOME; k++) packet[k] = from[j + k * lanes];
#pragma unroll
        for (int k = 0; k < SOME; k++) take(packet[k], j + k * lanes);
    }
#pragma unroll 1
    for (; j < packets; j += lanes) take(from[j], j);
    // The numbers of elements before the packets, and outside of them.
    int64 before = aligned - start, left = before + (end - rest);
#pragma unroll 1
    for (int64 k = lane; k < left; k += lanes) {
        int64 i = k < before ? start + k : rest + (k - before);
        T one[1] = {convert<T>(first[i])};
        sum.template take<1>(fold, one, i, 0);
    }
}

// Folds every `lanes`-th of the elements from `start` to `end`, from number `lane` on, one run of the first loop after the other.
template <class F, class S> DEVICE void fold_strided(
    const F& fold, Folded<F>& sum, const Loops<1>& loops, const byte* x, int64 start, int64 end, int lane, int lanes) {
    typedef typename F::In T;
    const int PER = 4;
    int64 step = loops.step[0][0] * lanes;
#pragma unroll 1
    for (int64 i = start + lane; i < end;) {
        int64 inner = loops.count == 1 ? i : loops.narrow ? (int64)((uint)i % (uint)loops.n[0]) : i % loops.n[0];
        int64 stop = least(end, i - inner + loops.n[0]), at[1];
        offsets(loops, i, at);
        const byte* from = x + at[0];
#pragma unroll 1
        for (; i + (PER - 1) * lanes < stop; i += PER * lanes) {
            S stored[PER];
            for (int k = 0; k < PER; k++) stored[k] = *(const S*)(from + k * step);
            from += PER * step;
            T some[PER];
            for (int k = 0; k < PER; k++) some[k] = convert<T>(stored[k]);
            sum.template take<PER>(fold, some, i, lanes);
        }
#pragma unroll 1
        for (; i < stop; i += lanes) {
            T one[1] = {convert<T>(*(const S*)from)};
            from += step;
            sum.template take<1>(fold, one, i, 0);
        }
    }
}

// Merges, in pairs, the states of the `lanes` threads with the same `slot`, which is below `width`. The thread of lane 0 gets the result. If
// the threads of a slot are adjacent, small states are exchanged within warps.
template <class F> DEVICE typename F::State merge_lanes(
    const F& fold, typename F::State state, int slot, int lane, int lanes, int width, bool adjacent) {
    typedef typename F::State State;
    __shared__ State states[BLOCK];
    if (sizeof(State) <= 16 && adjacent) {
        int warps = lanes / 32;
#pragma unroll 1
        for (int half = 1; half < least(lanes, 32); half *= 2) {
            State other = exchange(state, half);
            state = threadIdx.x & half ? fold.merge(other, state) : fold.merge(state, other);
        }
        if (warps > 1) {
            if (threadIdx.x % 32 == 0) states[threadIdx.x / 32] = state;
            __syncthreads();
            if (lane == 0) {
                for (int k = 1; k < warps; k++) state = fold.merge(state, states[slot * warps + k]);
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

// Folds the elements of results, or segments of them.
template <class F, class S> DEVICE void reduce(const ReduceArgs& args) {
    typedef typename F::State State;
    F fold(args);
    int width = args.width, lanes = BLOCK / width, thread = threadIdx.x;
    int slot = args.across ? thread % width : thread / lanes, lane = args.across ? thread / width : thread % lanes;
    int64 groups = (args.kept.total + width - 1) / width;
    for (int64 job = blockIdx.x; job < groups * args.segments; job += gridDim.x) {
        int64 part = job / groups, result = (job - part * groups) * width + slot;
        bool inside = result < args.kept.total;
        int64 at[3] = {0, 0, 0};
        State state = fold.state(fold.none());
        if (inside) {
            offsets(args.kept, result, at);
            int64 start = part * args.segment, end = least(start + args.segment, args.folded.total);
            Folded<F> sum(fold);
            if (args.packed) fold_packed<F, S>(fold, sum, args.x + at[0], start, end, lane, lanes);
            else fold_strided<F, S>(fold, sum, args.folded, args.x + at[0], start, end, lane, lanes);
            sum.flush(fold);
            state = sum.state;
        }
        state = merge_lanes(fold, state, slot, lane, lanes, width, !args.across);
        if (inside && lane == 0) {
            if (args.parts) ((State*)args.parts)[result * args.segments + part] = state;
            else fold.finish(args, at, state);
        }
    }
}

// Merges the states of the segments of each result.
template <class F> DEVICE void reduce_parts(const ReduceArgs& args) {
    typedef typename F::State State;
    F fold(args);
    int width = args.width, lanes = BLOCK / width, slot = threadIdx.x / lanes, lane = threadIdx.x % lanes;
    int64 groups = (args.kept.total + width - 1) / width;
    for (int64 job = blockIdx.x; job < groups; job += gridDim.x) {
        int64 result = job * width + slot;
        bool inside = result < args.kept.total;
        State state = fold.state(fold.none());
        if (inside) {
            const State* states = (const State*)args.parts + result * args.segments;
            for (int64 k = lane; k < args.segments; k += lanes) state = fold.merge(state, states[k]);
        }
        state = merge_lanes(fold, state, slot, lane, lanes, width, true);
        if (inside && lane == 0) {
            int64 at[3];
            offsets(args.kept, result, at);
            fold.finish(args, at, state);
        }
    }
}
