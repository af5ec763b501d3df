// Copies, conversions and fills.

struct CopyArgs {
    Loops<2> loops;
    byte* to;
    const byte* from;
    int64 n;
    // The dtypes of destination and source.
    int to_dtype;
    int from_dtype;
};

// Moves units of SIZE bytes.
template <int SIZE> DEVICE void moved(const CopyArgs& args) {
    typedef typename Unit<SIZE>::type T;
    for (int64 i = first_item(); i < args.loops.total; i += item_step()) {
        int64 at[2];
        offsets(args.loops, i, at);
        *(T*)(args.to + at[0]) = *(const T*)(args.from + at[1]);
    }
}

// Converts elements through the type C, which holds all values of the source dtype.
template <class C> DEVICE void converted(const CopyArgs& args) {
    for (int64 i = first_item(); i < args.loops.total; i += item_step()) {
        int64 at[2];
        offsets(args.loops, i, at);
        store<C>(args.to + at[0], args.to_dtype, load<C>(args.from + at[1], args.from_dtype));
    }
}

// Elements that are loaded or stored together. The alignment is 16 bytes and not more.
template <class T, int N> struct alignas(N * sizeof(T)) Pack {
    static_assert(N * sizeof(T) <= 16, "the alignment of the operands");
    T x[N];
};

// Converts contiguous elements. Source and destination are multiples of 16 bytes.
template <class D, class S> DEVICE void converted_flat(const CopyArgs& args) {
    // The number of elements in 16 bytes of the larger type.
    const int N = 16 / (sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
    typedef Pack<D, N> To;
    typedef Pack<S, N> From;
    for (int64 i = first_item(); i < args.n / N; i += item_step()) {
        const From from = ((const From*)args.from)[i];
        To to;
        for (int k = 0; k < N; k++) to.x[k] = convert<D>(from.x[k]);
        ((To*)args.to)[i] = to;
    }
    const int64 last = args.n / N * N + first_item();
    if (last < args.n) ((D*)args.to)[last] = convert<D>(((const S*)args.from)[last]);
}

struct TransposeArgs {
    // The matrices.
    Loops<2> matrices;
    byte* to;
    const byte* from;
    // The matrices have contiguous columns in the result and contiguous rows in the source.
    int64 columns;
    int64 rows;
    // The distances in bytes between rows of the result, and between columns of the source.
    int64 to_step;
    int64 from_step;
};

// The number of rows and of columns of a tile.
const int SIDE = 32;

// Copies matrices, tile by tile.
template <int SIZE> DEVICE void transposed(const TransposeArgs& args) {
    typedef typename Unit<SIZE>::type T;
    __shared__ T tile[SIDE][SIDE + 1];
    const int lane = threadIdx.x % SIDE, line = threadIdx.x / SIDE;
    const int64 wide = (args.columns + SIDE - 1) / SIDE, high = (args.rows + SIDE - 1) / SIDE;
    for (int64 unit = blockIdx.x; unit < args.matrices.total * wide * high; unit += gridDim.x) {
        const Division matrix = divided(unit, wide * high), place = divided(matrix.rest, wide);
        const int64 column = place.rest * SIDE, row = place.quotient * SIDE;
        int64 at[2];
        offsets(args.matrices, matrix.quotient, at);
        const byte* from = args.from + at[1] + row * SIZE + column * args.from_step;
        byte* to = args.to + at[0] + column * SIZE + row * args.to_step;
        for (int k = line; k < SIDE; k += BLOCK / SIDE) {
            if (column + k < args.columns && row + lane < args.rows) tile[k][lane] = *(const T*)(from + k * args.from_step + lane * SIZE);
        }
        __syncthreads();
        for (int k = line; k < SIDE; k += BLOCK / SIDE) {
            if (row + k < args.rows && column + lane < args.columns) *(T*)(to + k * args.to_step + lane * SIZE) = tile[lane][k];
        }
        __syncthreads();
    }
}

struct FillArgs {
    Loops<1> loops;
    byte* to;
    // The bytes of the number, repeated.
    uint64 bits;
};

// The first bytes of `bits`.
template <class T> DEVICE T first_bytes(uint64 bits) { return (T)bits; }
template <> DEVICE Wide first_bytes<Wide>(uint64 bits) { return {bits, bits}; }

// Stores a number in units of SIZE bytes. Several positions may share a unit.
template <int SIZE> DEVICE void fill(const FillArgs& args) {
    typedef typename Unit<SIZE>::type T;
    for (int64 i = first_item(); i < args.loops.total; i += item_step()) {
        int64 at[1];
        offsets(args.loops, i, at);
        *(T*)(args.to + at[0]) = first_bytes<T>(args.bits);
    }
}
