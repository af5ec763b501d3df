// Elements of a rank, of sorted and of unsorted lines. In an unsorted line, the key of the rank is found from the highest digit on, by
// counting the next digit of all elements whose higher digits match.

// The element of a rank, the median, or the median of the elements that are not NaN.
enum { AT, MEDIAN, MEDIAN_OF_NUMBERS };
// The value of a rank between two elements.
enum { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST };

struct SelectArgs {
    Lines lines;
    // Keys and places of the sorted lines, row-major.
    const byte* keys;
    const uint* places;
    // The places of the selected elements, row-major; NULL if results are written.
    uint* taken;
    // The fractions of lines for quantiles, in the compute type, and their number.
    const byte* shares;
    int64 count;
    // The rank, or the number of elements to take.
    int64 rank;
    // The key of NaN for floats.
    uint64 nan;
    // The kind of rank, or the interpolation.
    int kind;
    // True if the elements are floats.
    int floats;
    // True if NaNs are ignored.
    int skips;
    // True for the greatest elements.
    int largest;
};

// The index of the first of n ascending keys that is not less than `key`.
template <class K> DEVICE int64 first_from(const K* keys, int64 n, K key) {
    int64 low = 0;
    while (n > 0) {
        int64 half = n / 2;
        if (keys[low + half] < key) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

// The wanted rank among n elements, of which `numbers` are not NaN.
DEVICE int64 rank_of(const SelectArgs& args, int64 n, int64 numbers) {
    if (args.kind == AT) return args.rank;
    if (args.kind == MEDIAN) return numbers < n ? n - 1 : (n - 1) / 2;
    return numbers > 0 ? (numbers - 1) / 2 : 0;
}

// Writes the element of a line at `place`, and the place.
template <class T> DEVICE void write_choice(const Lines& lines, const Line& line, int64 place) {
    if (lines.out[0]) write(line.out[0], lines.dtype[1], read<T>(line.x + place * lines.step[0], lines.dtype[0]));
    if (lines.out[1]) write(line.out[1], lines.dtype[2], i64(place));
}

// One thread for each sorted line.
template <class T> DEVICE void select_sorted(const SelectArgs& args) {
    typedef typename Key<T>::type K;
    const Lines& lines = args.lines;
    int64 n = lines.n;
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < lines.outer.total; number += (int64)gridDim.x * BLOCK) {
        const K* keys = (const K*)args.keys + number * n;
        int64 numbers = args.floats && args.kind != AT ? first_from(keys, n, (K)args.nan) : n;
        K key = keys[rank_of(args, n, numbers)];
        write_choice<T>(lines, line_of(lines, number), args.places[number * n + first_from(keys, n, key)]);
    }
}

// A run of equal keys: its length and its last record.
struct Run {
    int64 length, last;
};
struct Longer {
    // If runs have equal length, the one with smaller keys wins.
    DEVICE Run operator()(Run a, Run b) const { return b.length > a.length || (b.length == a.length && b.last < a.last) ? b : a; }
};

// One warp or block for each sorted line: the most frequent element. No NaN equals another, so a NaN is returned only if there is nothing
// else.
template <class T, int LANES> DEVICE void select_mode(const SelectArgs& args) {
    typedef typename Key<T>::type K;
    const Lines& lines = args.lines;
    const int GROUPS = BLOCK / LANES;
    int lane = threadIdx.x % LANES;
    int64 n = lines.n;
    for (int64 number = (int64)blockIdx.x * GROUPS + threadIdx.x / LANES; number < lines.outer.total; number += (int64)gridDim.x * GROUPS) {
        const K* keys = (const K*)args.keys + number * n;
        Run best{0, 0};
        for (int64 i = lane; i < n; i += LANES) {
            bool ends = i == n - 1 || keys[i] != keys[i + 1], nan = args.floats && keys[i] == (K)args.nan;
            if (ends && !nan) best = Longer()(best, Run{i + 1 - first_from(keys, i, keys[i]), i});
        }
        if constexpr (LANES == 32) {
            best = warp_reduce(best, Longer());
        } else {
            __shared__ Run shared[WARPS];
            best = block_reduce(best, Longer(), Run{0, 0}, shared);
        }
        if (lane == 0) write_choice<T>(lines, line_of(lines, number), args.places[number * n + best.last]);
    }
}

// From a to b, exact at both ends. Equal infinities stay what they are. The sum of shares is used where the difference overflows.
template <class T> DEVICE T between(T a, T b, T fraction) {
    if (fraction.v == 0 || a == b) return a;
    T step = b - a;
    if (step.v == Special<typename T::value_type>::infinity()) return a * (T(1) - fraction) + b * fraction;
    return fraction.v < 0.5 ? a + fraction * step : b - (T(1) - fraction) * step;
}

// One thread for each quantile of a sorted line.
template <class T> DEVICE void select_quantiles(const SelectArgs& args) {
    typedef typename Key<T>::type K;
    const Lines& lines = args.lines;
    int64 n = lines.n;
    for (int64 job = (int64)blockIdx.x * BLOCK + threadIdx.x; job < lines.outer.total * args.count; job += (int64)gridDim.x * BLOCK) {
        int64 number = job / args.count, share = job - number * args.count;
        const K* keys = (const K*)args.keys + number * n;
        Line line = line_of(lines, number);
        int64 numbers = first_from(keys, n, (K)args.nan);
        T result = Special<typename T::value_type>::nan();
        if (numbers == n || (args.skips && numbers > 0)) {
            double rank = ((const T*)args.shares)[share].to_f64() * (double)(numbers - 1);
            double whole = args.kind == HIGHER ? ::ceil(rank) : args.kind == NEAREST ? ::rint(rank) : ::floor(rank);
            double fraction = args.kind == LINEAR ? rank - whole : args.kind == MIDPOINT && rank > whole ? 0.5 : 0;
            int64 k = least((int64)whole, numbers - 1);
            const uint* places = args.places + number * n;
            T a = read<T>(line.x + places[k] * lines.step[0], lines.dtype[0]);
            T b = read<T>(line.x + places[least(k + 1, numbers - 1)] * lines.step[0], lines.dtype[0]);
            result = between(a, b, T::from_f64(fraction));
        }
        write(line.out[0] + share * lines.step[1], lines.dtype[1], result);
    }
}

// ---- lines that are not sorted

// The keys of a line.
template <class S> struct Keys {
    typedef typename Key<S>::type K;
    const byte* x;
    int64 n, step;
    K flip;
    DEVICE Keys(const Lines& lines, const Line& line, bool largest)
        : x(line.x), n(lines.n), step(lines.step[0]), flip(largest ? Key<S>::ALL : 0) {}
    DEVICE K at(int64 i) const { return Key<S>::of(*(const S*)(x + i * step)) ^ flip; }
};

// The key of a rank, and the number of smaller keys.
template <class K> struct Found {
    K key;
    int64 below;
};

// The key with `rank` keys before it in order. All threads of the block take part.
template <class S> DEVICE Found<typename Key<S>::type> find(const Keys<S>& keys, int64 rank) {
    typedef typename Key<S>::type K;
    __shared__ uint counts[DIGITS];
    __shared__ uint chosen[2];
    const int TOP = (Key<S>::BITS + DIGIT - 1) / DIGIT * DIGIT - DIGIT;
    Found<K> found{0, 0};
    for (int shift = TOP; shift >= 0; shift -= DIGIT) {
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (int64 first = 0; first < keys.n; first += BLOCK) {
            int64 i = first + threadIdx.x;
            K key = i < keys.n ? keys.at(i) : 0;
            // The shift is done in two steps, because it may be as long as the key.
            bool counted = i < keys.n && (key >> shift >> (DIGIT - 1) >> 1) == found.key;
            uint digit = counted ? digit_of(key, shift) : DIGITS, same = peers(digit);
            if (counted && (same & lanes_below()) == 0) atomicAdd(&counts[digit], (uint)__popc(same));
        }
        __syncthreads();
        uint count = counts[threadIdx.x], all, before = sum_before(count, all);
        if (rank >= before && rank < (int64)before + count) {
            chosen[0] = threadIdx.x;
            chosen[1] = before;
        }
        __syncthreads();
        found.key = (K)(found.key << (DIGIT - 1) << 1) | chosen[0];
        found.below += chosen[1];
        rank -= chosen[1];
        __syncthreads();
    }
    return found;
}

struct Lesser {
    DEVICE int64 operator()(int64 a, int64 b) const { return a < b ? a : b; }
};
struct Plus {
    DEVICE int64 operator()(int64 a, int64 b) const { return a + b; }
};

// One block for each line: the element of a rank and its first position.
template <class S> DEVICE void select_lines(const SelectArgs& args) {
    typedef typename Key<S>::type K;
    typedef typename Compute<S>::type T;
    __shared__ int64 shared[WARPS];
    const Lines& lines = args.lines;
    for (int64 number = blockIdx.x; number < lines.outer.total; number += gridDim.x) {
        Line line = line_of(lines, number);
        Keys<S> keys(lines, line, false);
        int64 nans = 0;
        if (Key<S>::FLOAT && args.kind != AT) {
            for (int64 i = threadIdx.x; i < lines.n; i += BLOCK) nans += keys.at(i) == Key<S>::ALL;
            nans = block_reduce(nans, Plus(), (int64)0, shared);
        }
        K key = find(keys, rank_of(args, lines.n, lines.n - nans)).key;
        int64 place = lines.n;
        for (int64 i = threadIdx.x; i < lines.n && place == lines.n; i += BLOCK) place = keys.at(i) == key ? i : place;
        place = block_reduce(place, Lesser(), lines.n, shared);
        if (threadIdx.x == 0) write_choice<T>(lines, line, place);
    }
}

// One block for each line: the least or greatest elements in the order of the line; of equal ones the first.
template <class S> DEVICE void select_top(const SelectArgs& args) {
    typedef typename Key<S>::type K;
    typedef typename Compute<S>::type T;
    const Lines& lines = args.lines;
    for (int64 number = blockIdx.x; number < lines.outer.total; number += gridDim.x) {
        Line line = line_of(lines, number);
        Keys<S> keys(lines, line, args.largest);
        Found<K> last = find(keys, args.rank - 1);
        // The number of elements equal to the last selected one that are taken.
        int64 equals = args.rank - last.below, less_before = 0, equal_before = 0;
        for (int64 first = 0; first < lines.n; first += BLOCK) {
            int64 i = first + threadIdx.x;
            K key = i < lines.n ? keys.at(i) : 0;
            bool less = i < lines.n && key < last.key, equal = i < lines.n && key == last.key;
            uint all, before = sum_before((uint)less << 16 | (uint)equal, all);
            int64 equal_to_here = equal_before + (before & 0xffff);
            if (less || (equal && equal_to_here < equals)) {
                int64 to = less_before + (before >> 16) + least(equal_to_here, equals);
                if (args.taken) {
                    args.taken[number * args.rank + to] = (uint)i;
                } else {
                    T x = convert<T>(*(const S*)(line.x + i * lines.step[0]));
                    if (lines.out[0]) write(line.out[0] + to * lines.step[1], lines.dtype[1], x);
                    if (lines.out[1]) write(line.out[1] + to * lines.step[2], lines.dtype[2], i64(i));
                }
            }
            less_before += all >> 16;
            equal_before += all & 0xffff;
        }
    }
}
