// Elements by mask: compressed, expanded, and the positions of true entries. True entries are counted tile by tile, and the counts are
// summed, so that the rank of each true entry is known.

struct MaskArgs {
    // The sizes of the mask.
    int64 shape[MAX_LOOPS];
    int64 n;
    const byte* mask;
    byte* to;
    const byte* from;
    // The number of true entries of each tile, later the number in all earlier tiles.
    uint64* starts;
    int dims;
    int unused;
};

// The number of entries of a tile, which a block processes in order.
const int TILE = 4096;

DEVICE int64 tiles(const MaskArgs& args) { return (args.n + TILE - 1) / TILE; }

// Counts the true entries of each tile.
DEVICE void mask_count(const MaskArgs& args) {
    __shared__ uint shared[WARPS];
    for (int64 tile = blockIdx.x; tile < tiles(args); tile += gridDim.x) {
        const int64 first = tile * TILE;
        uint found = 0;
        for (int64 i = first + threadIdx.x; i < args.n && i < first + TILE; i += BLOCK) found += args.mask[i] != 0;
        found = block_reduce(found, [](uint a, uint b) { return a + b; }, 0u, shared);
        if (threadIdx.x == 0) args.starts[tile] = found;
    }
}

// Sums the counts: one block.
DEVICE void mask_scan(const MaskArgs& args) { scan_row(args.starts, tiles(args)); }

// Calls `f(i, k)` for each true entry i, which is number k among the true ones.
template <class F> DEVICE void for_true(const MaskArgs& args, F f) {
    __shared__ uint shared[WARPS];
    for (int64 tile = blockIdx.x; tile < tiles(args); tile += gridDim.x) {
        int64 before = (int64)args.starts[tile];
        for (int64 start = tile * TILE; start < args.n && start < (tile + 1) * TILE; start += BLOCK) {
            const int64 i = start + threadIdx.x;
            const bool is_true = i < args.n && args.mask[i] != 0;
            uint total;
            const uint rank = block_rank(is_true, total, shared);
            if (is_true) f(i, before + rank);
            before += total;
        }
    }
}

// Copies the elements at true entries to consecutive elements.
template <int SIZE> DEVICE void compress(const MaskArgs& args) {
    typedef typename Unit<SIZE>::type T;
    for_true(args, [&](int64 i, int64 k) { ((T*)args.to)[k] = ((const T*)args.from)[i]; });
}

// Copies consecutive elements to the true entries.
template <int SIZE> DEVICE void expand(const MaskArgs& args) {
    typedef typename Unit<SIZE>::type T;
    for_true(args, [&](int64 i, int64 k) { ((T*)args.to)[i] = ((const T*)args.from)[k]; });
}

// Writes a row of indices for each true entry.
DEVICE void positions(const MaskArgs& args) {
    for_true(args, [&](int64 i, int64 k) {
        int64* row = (int64*)args.to + k * args.dims;
        for (int d = args.dims - 1; d > 0; d--) {
            const Division place = divided(i, args.shape[d]);
            row[d] = place.rest;
            i = place.quotient;
        }
        row[0] = i;
    });
}
