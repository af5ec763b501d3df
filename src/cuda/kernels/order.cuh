// Keys that are sorted together with their ordinals, from the lowest digit on.

// Sorting alternates between two buffers, once for each digit of the greatest key.
struct Order {
    uint64* keys[2];
    uint* ordinals[2];
    // The greatest key.
    uint64* greatest;
    // The number of keys with each digit in each tile, digit by digit.
    uint* counts;
    // The number of keys with each digit.
    uint* totals;
    int64 n;
    int tiles;
    // The index of the current digit.
    int digit;
};

const int DIGIT_BITS = 8;

// Sets the key with ordinal i to `key(i)`, for all i.
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

// The index of the buffer that holds the sorted keys and ordinals.
DEVICE int order_buffer(const Order& order) {
    int digits = 0;
    for (uint64 rest = *order.greatest; rest != 0; rest >>= DIGIT_BITS) digits++;
    return digits & 1;
}

// The index of the first sorted key that is not less than `key`.
DEVICE int64 first_key(const Order& order, const uint64* keys, uint64 key) {
    int64 low = 0, left = order.n;
    while (left > 0) {
        const int64 half = left / 2;
        if (keys[low + half] < key) {
            low += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return low;
}
