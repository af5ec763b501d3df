// Elements of a rank, of sorted and of unsorted lines. In an unsorted line, the key of the rank is found from the highest digit on, by
// counting the next digit of all elements whose higher digits match. Several blocks work on a line if there are few lines.

// The element of a rank, the median, or the median of the elements that are not NaN.
enum { AT, MEDIAN, MEDIAN_OF_NUMBERS };
// The value of a rank between two elements.
enum { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST };

// The state of the search for the key of a rank.
struct Choice {
    // The digits of the key so far.
    uint64 key;
    // The number of smaller keys, and the rank among those that begin with these digits.
    int64 below, rank;
    // The number of NaNs, and the number of parts that were counted.
    uint nans, counted;
};

struct SelectArgs {
    Lines lines;
    // Keys and places of the sorted lines, row-major.
    const byte* keys;
    const uint* places;
    // The places of the selected elements, row-major; NULL if results are written.
    uint* taken;
    // The fractions of lines for quantiles, in the compute type.
    const byte* shares;
    // A choice for each line; the number of keys with each digit in each line, if it has several parts; the number of lesser keys (upper
    // half) and of equal keys in each part.
    Choice* choices;
    uint* counts;
    uint64* tallies;
    // The number of parts of a line.
    int64 parts;
    // The number of quantiles, or of elements to take; 0 if the element of a rank is wanted.
    int64 count;
    // The rank, or the rank of the last element to take.
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
    // The indices of the digit's lowest bit and of the bit above its highest one.
    int shift, high;
    // True for the highest digit.
    int starts;
    int unused;
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

// The maximum number of bits of a digit, and the number of its values.
const int CHOSEN = 11;
const int BINS = 1 << CHOSEN;

// A part of a line: the number of the line, and the part's first element and its end.
struct Part {
    int64 line, first, end;
};

DEVICE Part part_of(const SelectArgs& args, int64 job) {
    const int64 line = job / args.parts, part = job - line * args.parts, n = args.lines.n, each = (n + args.parts - 1) / args.parts;
    return Part{line, least(part * each, n), least((part + 1) * each, n)};
}

// Calls `f` with each key of a part.
template <class S, class F> DEVICE void each_key(const Keys<S>& keys, const Part& part, F f) {
    for (int64 first = part.first + threadIdx.x; first < part.end; first += BLOCK * ITEMS) {
        typename Key<S>::type key[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) key[k] = first + k * BLOCK < part.end ? keys.at(first + k * BLOCK) : 0;
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (first + k * BLOCK < part.end) f(key[k]);
        }
    }
}

struct Plus {
    template <class N> DEVICE N operator()(N a, N b) const { return a + b; }
};

// Chooses the digit of the rank by the counts of a line, and sets counts in global memory to 0 again.
DEVICE void choose(const SelectArgs& args, Choice& choice, uint* counts) {
    const int EACH = BINS / BLOCK;
    volatile uint* own = counts + threadIdx.x * EACH;
    uint count[EACH], sum = 0, all;
    for (int k = 0; k < EACH; k++) {
        count[k] = own[k];
        sum += count[k];
        own[k] = 0;
    }
    const int64 rank = choice.rank;
    uint before = sum_before(sum, all);
    for (int k = 0; k < EACH; k++) {
        if (rank >= before && rank < (int64)before + count[k]) {
            choice.key = choice.key << (args.high - args.shift) | (uint)(threadIdx.x * EACH + k);
            choice.below += before;
            choice.rank = rank - before;
        }
        before += count[k];
    }
}

// Counts a digit of the keys whose higher digits match: one block for each part. The last block of a line chooses the digit.
template <class S> DEVICE void select_count(const SelectArgs& args) {
    typedef typename Key<S>::type K;
    __shared__ uint counts[BINS];
    __shared__ uint shared[WARPS];
    __shared__ bool last;
    const Lines& lines = args.lines;
    const uint digits = (1u << (args.high - args.shift)) - 1;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.parts; job += gridDim.x) {
        const Part part = part_of(args, job);
        const Keys<S> keys(lines, line_of(lines, part.line), args.largest);
        Choice& choice = args.choices[part.line];
        for (int k = threadIdx.x; k < BINS; k += BLOCK) counts[k] = 0;
        __syncthreads();
        const K chosen = (K)choice.key;
        uint nans = 0;
        each_key<S>(keys, part, [&](K key) {
            nans += key == Key<S>::ALL;
            // The shift is done in two steps, because it may be as long as the key.
            if ((key >> (args.high - 1) >> 1) == chosen) atomicAdd(&counts[(uint)(key >> args.shift) & digits], 1u);
        });
        __syncthreads();
        uint* all = counts;
        if (args.parts > 1) {
            all = args.counts + part.line * BINS;
            for (int k = threadIdx.x; k < BINS; k += BLOCK) {
                if (counts[k] != 0) atomicAdd(&all[k], counts[k]);
            }
        }
        if (args.starts) {
            nans = block_reduce(nans, Plus(), 0u, shared);
            if (threadIdx.x == 0) atomicAdd(&choice.nans, nans);
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            last = atomicAdd(&choice.counted, 1u) == args.parts - 1;
            if (last) {
                choice.counted = 0;
                if (args.starts) choice.rank = rank_of(args, lines.n, lines.n - (Key<S>::FLOAT ? ((volatile Choice&)choice).nans : 0));
            }
        }
        __syncthreads();
        if (last) choose(args, choice, all);
        __syncthreads();
    }
}

// Counts the keys of each part that are less than the chosen one, and those equal to it.
template <class S> DEVICE void select_tally(const SelectArgs& args) {
    typedef typename Key<S>::type K;
    __shared__ uint64 shared[WARPS];
    const Lines& lines = args.lines;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.parts; job += gridDim.x) {
        const Part part = part_of(args, job);
        const K chosen = (K)args.choices[part.line].key;
        uint64 tally = 0;
        each_key<S>(Keys<S>(lines, line_of(lines, part.line), args.largest), part, [&](K key) {
            tally += (uint64)(key < chosen) << 32 | (uint64)(key == chosen);
        });
        tally = block_reduce(tally, Plus(), (uint64)0, shared);
        if (threadIdx.x == 0) args.tallies[job] = tally;
    }
}

// Takes the least or greatest elements in the order of the line, and of equal ones the first; or takes the first element with the chosen
// key.
template <class S> DEVICE void select_pick(const SelectArgs& args) {
    typedef typename Key<S>::type K;
    typedef typename Compute<S>::type T;
    __shared__ uint64 shared[WARPS];
    const Lines& lines = args.lines;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.parts; job += gridDim.x) {
        const Part part = part_of(args, job);
        const Line line = line_of(lines, part.line);
        const Keys<S> keys(lines, line, args.largest);
        const Choice& choice = args.choices[part.line];
        const K chosen = (K)choice.key;
        const bool many = args.count > 0;
        // The number of elements equal to the chosen one that are taken.
        const int64 equals = many ? args.count - choice.below : 1;
        const uint64 own = args.tallies[job];
        if ((many ? own : (uint)own) == 0) continue;
        uint64 earlier = 0;
        for (int64 k = part.line * args.parts + threadIdx.x; k < job; k += BLOCK) earlier += args.tallies[k];
        earlier = block_reduce(earlier, Plus(), (uint64)0, shared);
        int64 less_before = many ? (int64)(earlier >> 32) : 0, equal_before = (uint)earlier;
        if ((!many || own >> 32 == 0) && equal_before >= equals) continue;
        for (int64 first = part.first; first < part.end; first += BLOCK) {
            const int64 i = first + threadIdx.x;
            const K key = i < part.end ? keys.at(i) : 0;
            const bool less = many && i < part.end && key < chosen, equal = i < part.end && key == chosen;
            uint all, before = sum_before((uint)less << 16 | (uint)equal, all);
            const int64 equal_to_here = equal_before + (before & 0xffff);
            if (less || (equal && equal_to_here < equals)) {
                const int64 to = less_before + (before >> 16) + least(equal_to_here, equals);
                if (args.taken) {
                    args.taken[part.line * args.count + to] = (uint)i;
                } else {
                    const T x = convert<T>(*(const S*)(line.x + i * lines.step[0]));
                    if (lines.out[0]) write(line.out[0] + to * lines.step[1], lines.dtype[1], x);
                    if (lines.out[1]) write(line.out[1] + to * lines.step[2], lines.dtype[2], i64(i));
                }
            }
            less_before += all >> 16;
            equal_before += all & 0xffff;
        }
    }
}
