// Counts of true bytes, of bins and of integers, and tests of all elements.

struct CountArgs {
    Loops<1> loops;
    const byte* from;
    // The counters.
    uint64* to;
    // Memory of the host that is set to 1 if a position is invalid.
    uint64* told;
    int64 n;
    // The least valid position, and the first invalid one above.
    int64 least;
    int64 end;
    // The number of entries of the result.
    int64 width;
    int dtype;
    int unused;
};

// The number of entries of a block's table in shared memory.
const int TABLE = 4096;

DEVICE uint64 sum(uint64 a, uint64 b) { return a + b; }
DEVICE uint64 greater(uint64 a, uint64 b) { return a > b ? a : b; }

// Adds the sum of `n` over the block to a counter.
DEVICE void add_to(uint64* to, uint64 n) {
    __shared__ uint64 shared[WARPS];
    n = block_reduce(n, [](uint64 a, uint64 b) { return sum(a, b); }, (uint64)0, shared);
    if (threadIdx.x == 0 && n != 0) atomicAdd(to, n);
}

// Raises a counter to the maximum of `n` over the block.
DEVICE void raise_to(uint64* to, uint64 n) {
    __shared__ uint64 shared[WARPS];
    n = block_reduce(n, [](uint64 a, uint64 b) { return greater(a, b); }, (uint64)0, shared);
    if (threadIdx.x == 0) atomicMax(to, n);
}

// The number of bytes that are not 0, of eight.
DEVICE int true_bytes(uint64 bytes) {
    const uint64 low = 0x7f7f7f7f7f7f7f7full;
    return __popcll((((bytes & low) + low) | bytes) & ~low);
}

// Counts the bytes that are not 0.
DEVICE void count_true(const CountArgs& args) {
    // The bytes before the first multiple of 16, and those after the last.
    int64 head = (int64)(-(uint64)args.from & 15);
    head = head < args.n ? head : args.n;
    const int64 whole = (args.n - head) / 16, tail = (args.n - head) % 16, i = first_item();
    uint64 found = 0;
    if (i < head) found += args.from[i] != 0;
    if (i < tail) found += args.from[args.n - 1 - i] != 0;
    for (int64 k = i; k < whole; k += item_step()) {
        const Wide bytes = ((const Wide*)(args.from + head))[k];
        found += (uint64)(true_bytes(bytes.low) + true_bytes(bytes.high));
    }
    add_to(args.to, found);
}

// Sets the counter to 1 if an element is 0.
DEVICE void any_zero(const CountArgs& args) {
    bool found = false;
    for (int64 i = first_item(); i < args.loops.total; i += item_step()) {
        int64 at[1];
        offsets(args.loops, i, at);
        found |= !load<Bool>(args.from + at[0], args.dtype).get();
    }
    raise_to(args.to, found);
}

// Raises the counter to the number of positions from the first invalid one to the end.
DEVICE void first_outside(const CountArgs& args) {
    const uint64 allowed = (uint64)args.end - (uint64)args.least;
    int64 found = args.n;
    for (int64 i = first_item(); i < args.n && found == args.n; i += item_step()) {
        const bool outside = ((const uint64*)args.from)[i] - (uint64)args.least >= allowed;
        found = outside ? i : found;
    }
    if (found < args.n) *args.told = 1;
    raise_to(args.to, (uint64)(args.n - found));
}

// Raises two counters to the greatest integer and to the greatest complement. The upper bit is inverted, so that unsigned comparison is
// right.
DEVICE void extremes(const CountArgs& args) {
    const uint64 upper = 1ull << 63;
    uint64 most = 0, least = 0;
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        const uint64 x = (uint64)load<i64>(args.from + i * size_of(args.dtype), args.dtype).v ^ upper;
        most = greater(most, x);
        least = greater(least, ~x);
    }
    raise_to(args.to, most);
    raise_to(args.to + 1, least);
}

// Counts integers, all of which are from 0 to below the width.
DEVICE void count_integers(const CountArgs& args) {
    __shared__ uint table[TABLE];
    const bool small = args.width <= TABLE;
    if (small) {
        for (int64 k = threadIdx.x; k < args.width; k += BLOCK) table[k] = 0;
        __syncthreads();
    }
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        const int64 x = load<i64>(args.from + i * size_of(args.dtype), args.dtype).v;
        if (small) atomicAdd(&table[x], 1u);
        else atomicAdd(&args.to[x], 1ull);
    }
    if (small) {
        __syncthreads();
        for (int64 k = threadIdx.x; k < args.width; k += BLOCK) {
            if (table[k] != 0) atomicAdd(&args.to[k], (uint64)table[k]);
        }
    }
}

struct HistogramArgs {
    const byte* from;
    uint64* to;
    int64 rows;
    int64 columns;
    // The number of parts of a row, and the number of elements of a part, which is below 2^32.
    int64 parts;
    int64 part;
    double low;
    double high;
    // The number of bins, below 2^30.
    int bins;
    int unused;
};

// The bin of `x`: `(x - low) * n / (high - low)`, rounded at each step, with `shrink` as a factor of all; -1 if it lies in none.
template <class T> DEVICE int bin_of(T x, T low, T high, T n, T shrink, int bins) {
    if (!(x >= low && x <= high)) return -1;
    const T first = low * shrink;
    T at = (x * shrink - first) * n / (high * shrink - first);
    // Also where the range is so wide that it is infinite.
    at = at >= T(T::ZERO) && at <= n ? at : n;
    const int bin = (int)at.v;
    return bin < bins ? bin : bins - 1;
}

// Histograms of rows of floats.
template <class T> DEVICE void histogram(const HistogramArgs& args) {
    __shared__ uint table[TABLE];
    const bool small = args.bins <= TABLE;
    const T low = T::from_f64(args.low), high = T::from_f64(args.high), n = T::from_i64(args.bins);
    // A power of 2 where a step would overflow.
    const T shrink = T::from_f64(libm::abs(((high - low) * n).v) == Special<typename T::value_type>::infinity() ? 0x1p-34 : 1);
    for (int64 unit = blockIdx.x; unit < args.rows * args.parts; unit += gridDim.x) {
        const int64 row = unit / args.parts, first = (unit - row * args.parts) * args.part;
        const T* x = (const T*)args.from + row * args.columns;
        uint64* to = args.to + row * args.bins;
        if (small) {
            for (int k = threadIdx.x; k < args.bins; k += BLOCK) table[k] = 0;
            __syncthreads();
        }
        for (int64 i = first + threadIdx.x; i < args.columns && i < first + args.part; i += BLOCK) {
            const int bin = bin_of(x[i], low, high, n, shrink, args.bins);
            if (bin < 0) continue;
            if (small) atomicAdd(&table[bin], 1u);
            else atomicAdd(&to[bin], 1ull);
        }
        if (small) {
            __syncthreads();
            for (int k = threadIdx.x; k < args.bins; k += BLOCK) {
                if (table[k] != 0) atomicAdd(&to[k], (uint64)table[k]);
            }
            __syncthreads();
        }
    }
}
