// Shared code of sorting and selection: tiles of lines, and sums over the threads of a block.

// The number of elements of a tile for each thread, and the number of elements of a tile.
const int ITEMS = 8;
const int TILE = BLOCK * ITEMS;

// The sum of the numbers of earlier threads. `all` is set to the sum over the block.
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

// A tile of a line: its first element and its number of elements.
struct Tile {
    int64 line;
    int64 first;
    int count;
};

// Tile number `job` of lines with n elements and `tiles` tiles each.
DEVICE Tile tile_of(int64 job, int64 tiles, int64 n) {
    int64 line = job / tiles, first = (job - line * tiles) * TILE;
    return Tile{line, first, (int)least(TILE, n - first)};
}
