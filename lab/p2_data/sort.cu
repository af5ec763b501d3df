typedef unsigned int uint; typedef long long int64; typedef unsigned long long uint64;
#define DEVICE __device__ __forceinline__
const int DIGITS = 256;
DEVICE uint key_of(float x) {
    uint bits = __float_as_uint(x);
    if (x != x) return ~0u;
    if (x == 0) return 0x80000000u;
    return bits ^ (bits >> 31 ? ~0u : 0x80000000u);
}
DEVICE float back(uint key) { return __uint_as_float(key ^ (key >> 31 ? 0x80000000u : ~0u)); }
// digit counts of all four digits
template <int PARTS, bool TOPMATCH> DEVICE void hist(const float* x, int n, uint* counts) {
    __shared__ uint h[4][DIGITS][PARTS];
    for (int i = threadIdx.x; i < 4 * DIGITS * PARTS; i += 256) (&h[0][0][0])[i] = 0;
    __syncthreads();
    int part = threadIdx.x % PARTS;
    for (int i = (blockIdx.x * 256 + threadIdx.x) * 4; i < n; i += gridDim.x * 1024) {
        float4 v = *(const float4*)(x + i);
        uint k[4] = {key_of(v.x), key_of(v.y), key_of(v.z), key_of(v.w)};
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int d = 0; d < 4; d++) {
                if (TOPMATCH && d == 3) {
                    uint digit = k[j] >> 24, active = __activemask(), same = __match_any_sync(active, digit);
                    if ((same & ((1u << threadIdx.x % 32) - 1)) == 0) atomicAdd(&h[d][digit][part], (uint)__popc(same));
                } else atomicAdd(&h[d][k[j] >> 8 * d & 255][part], 1u);
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * DIGITS; i += 256) {
        uint s = 0;
        for (int p = 0; p < PARTS; p++) s += h[i / 256][i % 256][p];
        if (s) atomicAdd(&counts[i], s);
    }
}
template <bool B> DEVICE uint peers(uint digit) {
    if (B) return __match_any_sync(~0u, digit);
    uint same = ~0u;
#pragma unroll
    for (int bit = 0; bit < 8; bit++) {
        uint votes = __ballot_sync(~0u, digit >> bit & 1);
        same &= digit >> bit & 1 ? votes : ~votes;
    }
    return same;
}
template <int WARPS> DEVICE uint scan256(uint x) {  // exclusive over the first 256 threads
    __shared__ uint sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint sum = x;
    for (int d = 1; d < 32; d *= 2) { uint b = __shfl_up_sync(~0u, sum, d); if (lane >= d) sum += b; }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    uint before = 0;
    for (int k = 0; k < 8; k++) if (k < warp) before += sums[k];
    __syncthreads();
    return before + sum - x;
}
template <class S> struct Flag;
template <> struct Flag<uint> { static constexpr uint PART = 1u << 30, ALL = 2u << 30, MASK = PART - 1; };
template <> struct Flag<uint64> { static constexpr uint64 PART = 1ull << 62, ALL = 2ull << 62, MASK = PART - 1; };
// one pass
template <int BLOCK, int ITEMS, class S, bool MATCH, bool FIRST, bool LAST>
DEVICE void move(const float* x, const uint* keys, const uint* places, uint* keys_to, uint* places_to, float* out, int64* out_i,
                 int n, int shift, const uint* counts, S* status, uint* ticket) {
    const int WARPS = BLOCK / 32, TILE = BLOCK * ITEMS;
    __shared__ uint slots[WARPS][DIGITS];
    __shared__ uint bases[DIGITS];
    __shared__ uint sorted[TILE];
    __shared__ uint shared_tile;
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    if (thread == 0) shared_tile = atomicAdd(ticket, 1u);
    for (int i = thread; i < WARPS * DIGITS; i += BLOCK) (&slots[0][0])[i] = 0;
    __syncthreads();
    int tile = shared_tile, first = tile * TILE, count = n - first < TILE ? n - first : TILE;
    int start = warp * ITEMS * 32 + lane;
    uint key[ITEMS], rank[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int k = start + j * 32;
        key[j] = k < count ? FIRST ? key_of(x[first + k]) : keys[first + k] : ~0u;
    }
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        uint digit = key[j] >> shift & 255, same = peers<MATCH>(digit);
        uint before = same & ((1u << lane) - 1);
        rank[j] = slots[warp][digit] + (uint)__popc(before);
        __syncwarp();
        if (before == 0) slots[warp][digit] += (uint)__popc(same);
        __syncwarp();
    }
    __syncthreads();
    uint total = 0;
    if (thread < DIGITS) {
        for (int w = 0; w < WARPS; w++) total += slots[w][thread];
        // The padding keys are the greatest; they are not counted.
        uint mine = total - (thread == 255 ? TILE - count : 0);
        volatile S* to = status + (int64)tile * DIGITS + thread;
        *to = (tile == 0 ? Flag<S>::ALL : Flag<S>::PART) | mine;
    }
    uint slot = scan256<WARPS>(total), local = slot;
    uint digit_start = scan256<WARPS>(thread < DIGITS ? counts[thread] : 0);
    if (thread < DIGITS) {
        for (int w = 0; w < WARPS; w++) { uint more = slots[w][thread]; slots[w][thread] = slot; slot += more; }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) { rank[j] += slots[warp][key[j] >> shift & 255]; sorted[rank[j]] = key[j]; }
    if (thread < DIGITS) {
        S before = 0;
        if (tile > 0) {
            int t = tile - 1;
            while (true) {
                S got = *(volatile S*)(status + (int64)t * DIGITS + thread);
                if (got == 0) continue;
                before += got & Flag<S>::MASK;
                if (got & Flag<S>::ALL) break;
                t--;
            }
            uint mine = total - (thread == 255 ? TILE - count : 0);
            *(volatile S*)(status + (int64)tile * DIGITS + thread) = Flag<S>::ALL | (before + mine);
        }
        bases[thread] = digit_start + (uint)before - local;
    }
    __syncthreads();
    uint at[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int k = thread + j * BLOCK;
        uint kk = sorted[k];
        at[j] = bases[kk >> shift & 255] + k;
        if (LAST) key[j] = kk;
        else if (k < count) keys_to[at[j]] = kk;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int k = start + j * 32;
        if (k < count) sorted[rank[j]] = FIRST ? first + k : places[first + k];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int k = thread + j * BLOCK;
        if (k >= count) continue;
        uint place = sorted[k];
        if (LAST) {
            out_i[at[j]] = place;
            out[at[j]] = key[j] == 0x80000000u || key[j] == ~0u ? x[place] : back(key[j]);
        } else places_to[at[j]] = place;
    }
}
DEVICE void take(const uint* keys, const uint* places, const float* x, float* out, int64* out_i, int n, bool gather) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        uint place = places[i], key = keys[i];
        out_i[i] = place;
        out[i] = gather || key == 0x80000000u || key == ~0u ? x[place] : back(key);
    }
}
extern "C" __global__ void __launch_bounds__(256) take_plain(const uint* k, const uint* p, const float* x, float* o, int64* oi, int n) { take(k, p, x, o, oi, n, false); }
extern "C" __global__ void __launch_bounds__(256) take_gather(const uint* k, const uint* p, const float* x, float* o, int64* oi, int n) { take(k, p, x, o, oi, n, true); }
#define HIST(N, P, T) extern "C" __global__ void __launch_bounds__(256) N(const float* x, int n, uint* c) { hist<P, T>(x, n, c); }
HIST(hist_1, 1, false) HIST(hist_2, 2, false) HIST(hist_4, 4, false) HIST(hist_8, 8, false) HIST(hist_1m, 1, true) HIST(hist_2m, 2, true)
#define MOVE1(N, B, I, S, M, F, L, MIN) extern "C" __global__ void __launch_bounds__(B, MIN) N(const float* x, const uint* k, const uint* p, uint* kt, uint* pt, float* o, int64* oi, int n, int shift, const uint* c, S* s, uint* t) { move<B, I, S, M, F, L>(x, k, p, kt, pt, o, oi, n, shift, c, s, t); }
#define MOVEM(N, B, I, S, M, MIN) MOVE1(N##_first, B, I, S, M, true, false, MIN) MOVE1(N##_mid, B, I, S, M, false, false, MIN) MOVE1(N##_last, B, I, S, M, false, true, MIN)
#define MOVE(N, B, I, S, M) MOVEM(N, B, I, S, M, 1)
MOVE(b256_i8_u64, 256, 8, uint64, false)
MOVE(b256_i12_u64, 256, 12, uint64, false)
MOVE(b256_i16_u64, 256, 16, uint64, false)
MOVE(b256_i20_u64, 256, 20, uint64, false)
MOVE(b256_i16_u32, 256, 16, uint, false)
MOVEM(b256_i16_u64_3, 256, 16, uint64, false, 3)
MOVEM(b256_i16_u64_4, 256, 16, uint64, false, 4)
MOVEM(b256_i12_u64_5, 256, 12, uint64, false, 5)
MOVE(b256_i16_u64_match, 256, 16, uint64, true)
MOVE(b512_i12_u64, 512, 12, uint64, false)
MOVE(b512_i14_u64, 512, 14, uint64, false)
