// Keys that are sorted together with their ordinals, by digits from the lowest on.

// Sorting goes back and forth between two buffers, as many times as the greatest key has digits.
struct Order {
    uint64* keys[2];
    uint* ordinals[2];
    // The greatest key.
    uint64* greatest;
    // How many keys of each tile have each digit, digit by digit.
    uint* counts;
    // How many keys have each digit.
    uint* totals;
    int64 n;
    int tiles;
    // The digit that is sorted by.
    int digit;
};

const int DIGIT_BITS = 8;

// Makes `key(i)` the key with ordinal i.
template <class F> DEVICE void order_fill(const Order& order, F key) {
    __shared__ uint64 shared[WARPS];
    uint64 greatest = 0;
    for (int64 i = first_item(); i < order.n; i += item_step()) {
        const uint64 x = key(i);
        order.keys[0][i] = x;
        order.ordinals[0][i] = (uint)i;
        greatest = x > greatest ? x : greatest;
    }
    greatest = block_reduce(greatest, [](uint64 a, uint64 b) { return a > b ? a : b; }, (uint64)0, shared);
    if (threadIdx.x == 0) atomicMax(order.greatest, greatest);
}

// The buffer that holds keys and ordinals once they are sorted.
DEVICE int order_buffer(const Order& order) {
    int digits = 0;
    for (uint64 rest = *order.greatest; rest != 0; rest >>= DIGIT_BITS) digits++;
    return digits & 1;
}
