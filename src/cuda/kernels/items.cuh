// Loops over elements, moves of elements, and sums over the threads of a block.

// The first element of this thread in a loop over elements, and the distance to its next one.
DEVICE int64 first_item() { return (int64)blockIdx.x * BLOCK + threadIdx.x; }
DEVICE int64 item_step() { return (int64)gridDim.x * BLOCK; }

// Quotient and remainder of an unsigned division, which is several times as fast if 32 bits hold both numbers.
struct Division {
    int64 quotient;
    int64 rest;
};

DEVICE Division divided(int64 a, int64 b) {
    if (((uint64)a | (uint64)b) >> 32 == 0) {
        const uint quotient = (uint)a / (uint)b;
        return {(int64)quotient, (int64)((uint)a - quotient * (uint)b)};
    }
    const int64 quotient = a / b;
    return {quotient, a - quotient * b};
}

// 16 bytes that are moved at once.
struct alignas(16) Wide {
    uint64 low;
    uint64 high;
};

// The type by which elements of SIZE bytes are moved.
template <int SIZE> struct Unit;
template <> struct Unit<1> { typedef byte type; };
template <> struct Unit<2> { typedef unsigned short type; };
template <> struct Unit<4> { typedef uint type; };
template <> struct Unit<8> { typedef uint64 type; };
template <> struct Unit<16> { typedef Wide type; };

// The number of earlier threads of the block for which `chosen` is true. `total` is set to the number for the block. `shared` has WARPS
// numbers and can be reused at once.
DEVICE uint block_rank(bool chosen, uint& total, uint* shared) {
    const uint lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint votes = __ballot_sync(~0u, chosen);
    if (lane == 0) shared[warp] = (uint)__popc(votes);
    __syncthreads();
    uint before = 0;
    total = 0;
    for (uint w = 0; w < WARPS; w++) {
        before = w == warp ? total : before;
        total += shared[w];
    }
    __syncthreads();
    return before + (uint)__popc(votes & ((1u << lane) - 1));
}

// The sum of `x` over the earlier threads of the block. `total` is set to the sum over the block. `shared` has WARPS numbers and can be
// reused at once.
template <class T> DEVICE T block_scan(T x, T& total, T* shared) {
    const uint lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = x;
    for (uint distance = 1; distance < 32; distance *= 2) {
        const T other = __shfl_up_sync(~0u, sum, distance);
        sum += lane >= distance ? other : 0;
    }
    if (lane == 31) shared[warp] = sum;
    __syncthreads();
    T before = 0;
    total = 0;
    for (uint w = 0; w < WARPS; w++) {
        before = w == warp ? total : before;
        total += shared[w];
    }
    __syncthreads();
    return before + sum - x;
}

// Replaces each of `n` numbers by the sum of the numbers before it, and returns the sum of all. One block does the work.
template <class T> DEVICE T scan_row(T* row, int64 n) {
    __shared__ T shared[WARPS];
    T before = 0;
    for (int64 start = 0; start < n; start += BLOCK) {
        const int64 i = start + threadIdx.x;
        T total;
        const T sum = block_scan<T>(i < n ? row[i] : 0, total, shared);
        if (i < n) row[i] = before + sum;
        before += total;
    }
    return before;
}
