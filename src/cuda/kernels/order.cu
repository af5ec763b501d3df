// A stable radix sort of keys and their ordinals. For each digit, the digits of each tile are counted and the counts are summed. Then each
// key moves after the keys with lesser digits and the earlier keys with the same digit.

// The number of keys that a block sorts, and that one of its warps sorts.
const int TILE = 4096;
const int PART = TILE / WARPS;
// The number of values of a digit.
const int DIGITS = 1 << DIGIT_BITS;

// A digit of a key.
DEVICE uint digit_of(uint64 key, int digit) { return (uint)(key >> (DIGIT_BITS * digit)) % DIGITS; }

// Returns true if no key has this digit or a higher one, so that the keys are sorted.
DEVICE bool is_sorted(const Order& order, int digit) { return (*order.greatest >> (DIGIT_BITS * digit)) == 0; }

// Counts the digits of a tile: one block for each tile.
DEVICE void order_count(const Order& order) {
    __shared__ uint counts[DIGITS];
    if (is_sorted(order, order.digit)) return;
    counts[threadIdx.x] = 0;
    __syncthreads();
    const uint64* keys = order.keys[order.digit & 1];
    const int64 first = (int64)blockIdx.x * TILE;
    for (int64 i = first + threadIdx.x; i < order.n && i < first + TILE; i += BLOCK) atomicAdd(&counts[digit_of(keys[i], order.digit)], 1u);
    __syncthreads();
    order.counts[(int64)threadIdx.x * order.tiles + blockIdx.x] = counts[threadIdx.x];
}

// Sums the counts of a digit over the tiles: one block for each digit.
DEVICE void order_scan(const Order& order) {
    if (is_sorted(order, order.digit)) return;
    const uint total = scan_row(order.counts + (int64)blockIdx.x * order.tiles, order.tiles);
    if (threadIdx.x == 0) order.totals[blockIdx.x] = total;
}

// Moves the keys of a tile to their places by a digit. `start(n)` is the place of the first key whose digit is this thread's number; the
// tile has n such keys.
template <class F> DEVICE void move_tile(const Order& order, int by, int64 tile, F start) {
    // The place of the next key of each warp with each digit.
    __shared__ uint places[WARPS][DIGITS];
    const uint lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int from = by & 1;
    const uint64* keys = order.keys[from];
    const int64 first = tile * TILE + warp * PART;
    for (int w = 0; w < WARPS; w++) places[w][threadIdx.x] = 0;
    __syncthreads();
    for (int64 i = first + lane; i < order.n && i < first + PART; i += 32) atomicAdd(&places[warp][digit_of(keys[i], by)], 1u);
    __syncthreads();
    uint found = 0;
    for (int w = 0; w < WARPS; w++) found += places[w][threadIdx.x];
    uint place = start(found);
    for (int w = 0; w < WARPS; w++) {
        const uint count = places[w][threadIdx.x];
        places[w][threadIdx.x] = place;
        place += count;
    }
    __syncthreads();
    for (int64 begin = first; begin < first + PART && begin < order.n; begin += 32) {
        const int64 i = begin + lane;
        const bool valid = i < order.n;
        const uint64 key = valid ? keys[i] : 0;
        const uint digit = digit_of(key, by);
        // The lanes whose keys have the same digit.
        uint same = __ballot_sync(~0u, valid);
        for (int bit = 0; bit < DIGIT_BITS; bit++) {
            const bool set = digit >> bit & 1;
            const uint votes = __ballot_sync(~0u, set);
            same &= set ? votes : ~votes;
        }
        const uint before = (uint)__popc(same & ((1u << lane) - 1));
        const uint at = places[warp][digit] + before;
        __syncwarp();
        if (valid && before == 0) places[warp][digit] = at + (uint)__popc(same);
        __syncwarp();
        if (valid) {
            order.keys[1 - from][at] = key;
            order.ordinals[1 - from][at] = order.ordinals[from][i];
        }
    }
    __syncthreads();
}

// Moves the keys of all tiles: one block for each tile.
DEVICE void order_move(const Order& order) {
    __shared__ uint shared[WARPS];
    if (is_sorted(order, order.digit)) return;
    move_tile(order, order.digit, blockIdx.x, [&](uint) {
        uint total;
        const uint lesser = block_scan<uint>(order.totals[threadIdx.x], total, shared);
        return lesser + order.counts[(int64)threadIdx.x * order.tiles + blockIdx.x];
    });
}

// Sorts the keys of one tile by all digits: one block.
DEVICE void order_tile(const Order& order) {
    __shared__ uint shared[WARPS];
    for (int by = 0; by < 64 / DIGIT_BITS && !is_sorted(order, by); by++) {
        move_tile(order, by, 0, [&](uint found) {
            uint total;
            return block_scan<uint>(found, total, shared);
        });
    }
}
