typedef unsigned int uint; typedef long long int64; typedef unsigned long long uint64;
#define DEVICE __device__ __forceinline__
DEVICE uint key_of(float x) {  // ascending keys of descending numbers
    uint bits = __float_as_uint(x);
    uint key = x != x ? ~0u : x == 0 ? 0x80000000u : bits ^ (bits >> 31 ? ~0u : 0x80000000u);
    return ~key;
}
struct State { uint key, below, rank, ticket; };
// Sum of earlier threads, all 256.
DEVICE uint scan256(uint x, uint& all) {
    __shared__ uint sums[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint sum = x;
    for (int d = 1; d < 32; d *= 2) { uint b = __shfl_up_sync(~0u, sum, d); if (lane >= d) sum += b; }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    uint before = 0; all = 0;
    for (int k = 0; k < 8; k++) { if (k < warp) before += sums[k]; all += sums[k]; }
    __syncthreads();
    return before + sum - x;
}
enum { PLAIN, MATCH, PRIVATE };
// Counts the digit [shift, shift + BITS) of keys whose higher bits match; the last block chooses the digit. hist must be 0 at first; it is 0 again at the end.
template <int BITS, int MODE> DEVICE void count(const float* x, int n, int shift, State* state, uint* hist) {
    const int BINS = 1 << BITS, COPIES = MODE == PRIVATE ? 8 : 1;
    __shared__ uint h[COPIES][BINS];
    __shared__ bool last;
    for (int i = threadIdx.x; i < COPIES * BINS; i += 256) (&h[0][0])[i] = 0;
    uint prefix = state->key;
    int high = shift + BITS;  // 32 for the first
    __syncthreads();
    uint* mine = h[MODE == PRIVATE ? threadIdx.x / 32 : 0];
    for (int i = (blockIdx.x * 256 + threadIdx.x) * 4; i < n; i += gridDim.x * 1024) {
        float4 v = *(const float4*)(x + i);
        uint k[4] = {key_of(v.x), key_of(v.y), key_of(v.z), key_of(v.w)};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            bool counted = high >= 32 || (k[j] >> high) == (prefix >> high);
            if (!counted) continue;
            uint digit = k[j] >> shift & (BINS - 1);
            if (MODE == MATCH) {
                uint active = __activemask(), same = __match_any_sync(active, digit);
                if ((same & ((1u << threadIdx.x % 32) - 1)) == 0) atomicAdd(&mine[digit], (uint)__popc(same));
            } else atomicAdd(&mine[digit], 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += 256) {
        uint s = 0;
        for (int c = 0; c < COPIES; c++) s += h[c][i];
        if (s) atomicAdd(&hist[i], s);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&state->ticket, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    const int EACH = BINS / 256;
    uint c[EACH], sum = 0;
    for (int j = 0; j < EACH; j++) { c[j] = __ldcg(hist + threadIdx.x * EACH + j); sum += c[j]; hist[threadIdx.x * EACH + j] = 0; }
    uint all, before = scan256(sum, all), rank = state->rank;
    __syncthreads();
    for (int j = 0; j < EACH; j++) {
        if (rank >= before && rank < before + c[j]) {
            state->key = prefix | (uint)(threadIdx.x * EACH + j) << shift;
            state->below += before;
            state->rank = rank - before;
        }
        before += c[j];
    }
    if (threadIdx.x == 0) state->ticket = 0;
}
// Counts of lesser and equal keys of each tile.
template <int ITEMS> DEVICE void tally(const float* x, int n, const State* state, uint2* tallies) {
    const int TILE = 256 * ITEMS;
    __shared__ uint s[2];
    uint key = state->key;
    for (int tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        if (threadIdx.x < 2) s[threadIdx.x] = 0;
        __syncthreads();
        int less = 0, equal = 0;
#pragma unroll
        for (int j = 0; j < ITEMS / 4; j++) {
            int i = tile * TILE + (j * 256 + threadIdx.x) * 4;
            if (i < n) {
                float4 v = *(const float4*)(x + i);
                uint k[4] = {key_of(v.x), key_of(v.y), key_of(v.z), key_of(v.w)};
                for (int e = 0; e < 4; e++) { less += k[e] < key; equal += k[e] == key; }
            }
        }
        if (less) atomicAdd(&s[0], less);
        if (equal) atomicAdd(&s[1], equal);
        __syncthreads();
        if (threadIdx.x == 0) tallies[tile] = make_uint2(s[0], s[1]);
        __syncthreads();
    }
}
// Places of the first k, in order: one block a tile with any.
template <int ITEMS> DEVICE void pick(const float* x, int n, int k, const State* state, const uint2* tallies, uint* places) {
    const int TILE = 256 * ITEMS;
    __shared__ uint s[2];
    uint key = state->key, equals = k - state->below;
    for (int tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        uint2 own = tallies[tile];
        if (own.x == 0 && own.y == 0) continue;
        if (threadIdx.x < 2) s[threadIdx.x] = 0;
        __syncthreads();
        uint less = 0, equal = 0;
        for (int t = threadIdx.x; t < tile; t += 256) { uint2 c = tallies[t]; less += c.x; equal += c.y; }
        if (less) atomicAdd(&s[0], less);
        if (equal) atomicAdd(&s[1], equal);
        __syncthreads();
        less = s[0], equal = s[1];
        __syncthreads();
        if (own.x == 0 && equal >= equals) continue;
        for (int j = 0; j < ITEMS; j++) {
            int i = tile * TILE + j * 256 + threadIdx.x;
            uint mine = i < n ? key_of(x[i]) : ~0u;
            bool l = i < n && mine < key, e = i < n && mine == key;
            uint all, before = scan256((uint)l << 16 | (uint)e, all);
            uint eb = equal + (before & 0xffff);
            if (l || (e && eb < equals)) places[less + (before >> 16) + (eb < equals ? eb : equals)] = i;
            less += all >> 16; equal += all & 0xffff;
        }
    }
}
#define COUNT(N, B, M) extern "C" __global__ void __launch_bounds__(256) N(const float* x, int n, int shift, State* s, uint* h) { count<B, M>(x, n, shift, s, h); }
COUNT(c8_plain, 8, PLAIN) COUNT(c8_match, 8, MATCH) COUNT(c8_private, 8, PRIVATE) COUNT(c10_plain, 10, PLAIN) COUNT(c10_match, 10, MATCH) COUNT(c11_plain, 11, PLAIN) COUNT(c11_match, 11, MATCH)
#define TP(I) extern "C" __global__ void __launch_bounds__(256) tally_##I(const float* x, int n, const State* s, uint2* t) { tally<I>(x, n, s, t); } \
extern "C" __global__ void __launch_bounds__(256) pick_##I(const float* x, int n, int k, const State* s, const uint2* t, uint* p) { pick<I>(x, n, k, s, t, p); }
TP(8) TP(16) TP(32)
