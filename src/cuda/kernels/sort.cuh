// What sorting and selection share: tiles of lines, digits of keys, and the records of a sorted line.

// Elements that a thread takes of a tile, and elements of a tile.
const int ITEMS = 8;
const int TILE = BLOCK * ITEMS;

// Values of a digit.
const int DIGIT = 8;
const int DIGITS = 1 << DIGIT;

template <class K> DEVICE uint digit_of(K key, int shift) { return (uint)(key >> shift) & (DIGITS - 1); }

// The lanes of a warp that have the same number, of at most DIGIT bits and one.
DEVICE uint peers(uint number) {
    uint same = 0xffffffffu;
    for (int bit = 0; bit <= DIGIT; bit++) {
        uint votes = __ballot_sync(0xffffffffu, number >> bit & 1);
        same &= number >> bit & 1 ? votes : ~votes;
    }
    return same;
}

// Lanes below this one, as bits.
DEVICE uint lanes_below() { return (1u << threadIdx.x % 32) - 1; }

// The sum of the numbers of the threads before this one; `all` becomes that of the block.
template <class N> DEVICE N sum_before(N x, N& all) {
    __shared__ N sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    N sum = x;
    for (int distance = 1; distance < 32; distance *= 2) {
        N before = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance) sum += before;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    N before = 0;
    all = 0;
    for (int k = 0; k < WARPS; k++) {
        if (k < warp) before += sums[k];
        all += sums[k];
    }
    __syncthreads();
    return before + sum - x;
}

// A tile of a line: its first element and how many it has.
struct Tile {
    int64 line;
    int64 first;
    int count;
};

// Tile number `job` of lines of n elements, which have `tiles` each.
DEVICE Tile tile_of(int64 job, int64 tiles, int64 n) {
    int64 line = job / tiles, first = (job - line * tiles) * TILE;
    return Tile{line, first, (int)least(TILE, n - first)};
}
