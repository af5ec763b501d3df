// Matrix products by tiles in shared memory. A block computes 64 x 64 elements, each of its threads 4 x 4.

const int TILE = 64;

// The number of products that are summed between two barriers.
const int DEPTH = 16;
// The number of rows and columns of a thread.
const int SIDE = 4;
// The number of elements of a tile that a thread loads.
const int BROUGHT = TILE * DEPTH / BLOCK;
// The number of products that are summed before their sum is added to the total, which keeps rounding errors of float32 small.
const int PIECE = 64;

// The type of long sums of T.
template <class T> struct Wide { typedef T type; };
template <> struct Wide<f32> { typedef f64 type; };

// Elements that are loaded together.
template <class T> struct alignas(16) Four {
    T v[SIDE];
};

// A tile of a factor, with 64 elements for each depth. Four padding elements spread the elements of one place over the banks.
template <class T> struct FactorTile {
    Four<T> at[DEPTH][TILE / SIDE + 1];

    DEVICE void put(int k, int place, T x) { at[k][place / SIDE].v[place % SIDE] = x; }
    // The tile's memory, for other elements.
    DEVICE T* buffer() { return (T*)at; }
};
static_assert(DEPTH * (TILE / SIDE + 1) * SIDE >= TILE / SIDE * TILE, "the buffer of sums");

// The sums of a thread.
template <class T> struct Sums {
    T v[SIDE][SIDE];

    DEVICE void clear() {
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
#pragma unroll
            for (int j = 0; j < SIDE; j++) v[i][j] = T::ZERO;
        }
    }

    DEVICE void add(const Sums& other) {
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
#pragma unroll
            for (int j = 0; j < SIDE; j++) v[i][j] = v[i][j].add(other.v[i][j]);
        }
    }

    // Calls `f` with the row and the column of each sum of the tile, so that neighbouring threads get neighbouring columns. Uses a buffer
    // of 16 x 64 elements. All threads of the block take part.
    template <class F> DEVICE void each(T* buffer, F f) const {
        int row = threadIdx.x / (TILE / SIDE), col = threadIdx.x % (TILE / SIDE) * SIDE;
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
#pragma unroll
            for (int j = 0; j < SIDE; j++) buffer[row * TILE + col + j] = v[i][j];
            __syncthreads();
#pragma unroll 1
            for (int at = threadIdx.x; at < TILE / SIDE * TILE; at += BLOCK) f(at / TILE * SIDE + i, at % TILE, buffer[at]);
            __syncthreads();
        }
    }
};

// The depth and the place of the thread's element number `i`. Neighbouring threads load neighbouring elements, along the depth or across
// it.
DEVICE int depth_of(bool along, int i) { return along ? threadIdx.x % DEPTH : threadIdx.x / TILE + i * (BLOCK / TILE); }
DEVICE int place_of(bool along, int i) { return along ? threadIdx.x / DEPTH + i * (BLOCK / DEPTH) : threadIdx.x % TILE; }

// The rows or columns of a factor from the first one of a tile on, in memory.
template <class T, class S> struct Strided {
    // The thread's first element at depth 0, and the distance between its elements.
    const S* start;
    int64 apart, depth_step;
    // The number of places of the tile that are inside the matrix.
    int count;
    bool along;

    // `first` is the first element of the tile, and `places` the number of places from there to the end of the matrix.
    DEVICE Strided(const S* first, int64 step, int64 depth_step, int64 places, bool along) : depth_step(depth_step), along(along) {
        start = first + place_of(along, 0) * step + depth_of(along, 0) * depth_step;
        apart = along ? BLOCK / DEPTH * step : BLOCK / TILE * depth_step;
        count = places < TILE ? (int)places : TILE;
    }

    DEVICE T at(int64 from, int i) const {
        return place_of(along, i) < count ? convert<T>(start[from * depth_step + i * apart]) : T(T::ZERO);
    }
};

// Loads the thread's elements of a factor for the depths `from` to `to`. A factor F has the flag `along` and the function `at(from, i)`,
// which returns the thread's element number `i`, or 0 outside the matrix.
template <class T, class F> DEVICE void bring(const F& factor, int64 from, int64 to, T (&brought)[BROUGHT]) {
    int left = to - from < DEPTH ? (int)(to - from) : DEPTH;
#pragma unroll
    for (int i = 0; i < BROUGHT; i++) {
        brought[i] = depth_of(factor.along, i) < left ? factor.at(from, i) : T(T::ZERO);
    }
}

template <class T> DEVICE void put(FactorTile<T>& tile, bool along, const T (&brought)[BROUGHT]) {
#pragma unroll
    for (int i = 0; i < BROUGHT; i++) tile.put(depth_of(along, i), place_of(along, i), brought[i]);
}

// Adds the products of two tiles to the sums.
template <class T> DEVICE void multiply(const FactorTile<T>& left, const FactorTile<T>& right, Sums<T>& sums) {
    int row = threadIdx.x / (TILE / SIDE), col = threadIdx.x % (TILE / SIDE);
#pragma unroll 2
    for (int d = 0; d < DEPTH; d++) {
        Four<T> x = left.at[d][row], y = right.at[d][col];
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
#pragma unroll
            for (int j = 0; j < SIDE; j++) sums.v[i][j] = sums.v[i][j].add(x.v[i].mul(y.v[j]));
        }
    }
}

// Adds the products of the depths `from` to `to` to `total`. All threads of the block take part.
template <class T, class A, class B>
DEVICE void add_products(const A& a, const B& b, int64 from, int64 to, FactorTile<T>& left, FactorTile<T>& right, Sums<T>& total) {
    constexpr bool pieces = !Same<T, typename Wide<T>::type>::value;
    // The next elements are prefetched during the multiplication, if there are enough registers.
    constexpr bool ahead = sizeof(T) < 8;
    T next_a[BROUGHT], next_b[BROUGHT];
    Sums<T> piece;
    if constexpr (pieces) piece.clear();
    int summed = 0;
    if constexpr (ahead) {
        bring(a, from, to, next_a);
        bring(b, from, to, next_b);
    }
    for (; from < to; from += DEPTH) {
        if constexpr (!ahead) {
            bring(a, from, to, next_a);
            bring(b, from, to, next_b);
        }
        put(left, a.along, next_a);
        put(right, b.along, next_b);
        __syncthreads();
        if (ahead && from + DEPTH < to) {
            bring(a, from + DEPTH, to, next_a);
            bring(b, from + DEPTH, to, next_b);
        }
        if constexpr (pieces) {
            multiply(left, right, piece);
            summed += DEPTH;
            if (summed % PIECE == 0) {
                total.add(piece);
                piece.clear();
            }
        } else {
            multiply(left, right, total);
        }
        __syncthreads();
    }
    if constexpr (pieces) total.add(piece);
}

// The sum over a warp of `count` elements at `x` with distance `step`. Each thread gets it.
template <class T> DEVICE T sum_by_warp(const T* x, int64 count, int64 step) {
    typedef typename Wide<T>::type W;
    W sum = W::ZERO;
    for (int64 i = threadIdx.x % 32; i < count; i += 32) sum = sum.add(convert<W>(x[i * step]));
    return convert<T>(warp_reduce(sum, [](W a, W b) { return a.add(b); }));
}

// The sum of `count` elements at `x` with distance `step`, by one thread.
template <class T> DEVICE T sum_by_thread(const T* x, int64 count, int64 step) {
    typedef typename Wide<T>::type W;
    W sum = W::ZERO;
    for (int64 i = 0; i < count; i++) sum = sum.add(convert<W>(x[i * step]));
    return convert<T>(sum);
}
