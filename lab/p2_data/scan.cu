typedef unsigned int uint; typedef long long int64; typedef unsigned long long uint64;
#define DEVICE __device__ __forceinline__
// 11 bits that do not divide: digit shift may be negative? no.
DEVICE double up(double x, int d) { return __shfl_up_sync(~0u, x, d); }
// exclusive sum over the block's warps of a warp total
template <int WARPS> DEVICE double warps_before(double x, double& all, double* shared) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 31) shared[warp] = x;
    __syncthreads();
    double before = 0; all = 0;
    for (int k = 0; k < WARPS; k++) { if (k < warp) before += shared[k]; all += shared[k]; }
    __syncthreads();
    return before;
}
// Sum over the block in a fixed order.
DEVICE double block_sum(double x, double* shared) {
    for (int m = 1; m < 32; m *= 2) x += __shfl_xor_sync(~0u, x, m);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    double s = 0;
    for (int k = 0; k < 8; k++) s += shared[k];
    __syncthreads();
    return s;
}
enum { LOCAL, GROUP, LOOKBACK, STEP1, STEP3 };
// V vectors of 4 a thread. Flags: one for each tile (1: sum ready), one for each group.
template <int V, int G, int MODE> DEVICE void scan(const float* x, float* out, int64 n, double* sums, volatile uint* flags, double* starts, volatile uint* start_flags, uint* ticket) {
    const int TILE = 1024 * V;
    __shared__ double shared[8];
    __shared__ uint shared_tile;
    __shared__ double shared_before;
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    uint tile = blockIdx.x;
    if (MODE == GROUP || MODE == LOOKBACK) {
        if (thread == 0) shared_tile = atomicAdd(ticket, 1u);
        __syncthreads();
        tile = shared_tile;
    }
    int64 first = (int64)tile * TILE + warp * V * 128 + lane * 4;
    float4 v[V];
#pragma unroll
    for (int k = 0; k < V; k++) v[k] = first + k * 128 < n ? *(const float4*)(x + first + k * 128) : make_float4(0, 0, 0, 0);
    double before[V], total = 0;
#pragma unroll
    for (int k = 0; k < V; k++) {
        double s = (((double)v[k].x + v[k].y) + v[k].z) + v[k].w, own = s;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) { double b = up(s, d); if (lane >= d) s += b; }
        double b = up(s, 1);
        before[k] = total + (lane ? b : 0);
        total += __shfl_sync(~0u, s, 31);
    }
    double all, base = warps_before<8>(total, all, shared);
    if (MODE == STEP1) { if (thread == 0) sums[tile] = all; return; }
    if (MODE == STEP3) base += sums[tile];
    if (MODE == GROUP) {
        uint group = tile / G, j = tile % G;
        if (thread == 0) { sums[tile] = all; __threadfence(); flags[tile] = 1; }
        double x = 0;
        if (thread < j) {
            while (flags[group * G + thread] == 0) {}
            __threadfence();
            x = __ldcg(sums + group * G + thread);
        }
        double start = 0;
        if (group > 0) {
            if (thread == 0) { while (start_flags[group] == 0) {} __threadfence(); shared_before = __ldcg(starts + group); }
        } else if (thread == 0) shared_before = 0;
        double in_group = block_sum(x, shared);  // has a barrier
        start = shared_before;
        if (j == G - 1 && thread == 0) { starts[group + 1] = start + (in_group + all); __threadfence(); start_flags[group + 1] = 1; }
        base += start + in_group;
    }
    if (MODE == LOOKBACK) {  // not deterministic: the ceiling of the method
        if (thread == 0) {
            if (tile == 0) { starts[tile] = all; __threadfence(); flags[tile] = 2; }
            else { sums[tile] = all; __threadfence(); flags[tile] = 1; }
        }
        if (warp == 0 && tile > 0) {
            double before = 0;
            int t = (int)tile - 1 - lane;
            while (true) {
                uint f = 2;
                if (t >= 0) while ((f = flags[t]) == 0) {}
                __threadfence();
                double s = t < 0 ? 0 : f == 2 ? __ldcg(starts + t) : __ldcg(sums + t);
                uint done = __ballot_sync(~0u, f == 2);
                int end = done ? __ffs(done) - 1 : 31;
                if (lane > end) s = 0;
                for (int m = 1; m < 32; m *= 2) s += __shfl_xor_sync(~0u, s, m);
                before += s;
                if (done) break;
                t -= 32;
            }
            if (lane == 0) { starts[tile] = before + all; __threadfence(); flags[tile] = 2; shared_before = before; }
        }
        __syncthreads();
        if (tile > 0) base += shared_before;
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
        if (first + k * 128 >= n) continue;
        double a = base + before[k] + v[k].x, b = a + v[k].y, c = b + v[k].z, d = c + v[k].w;
        *(float4*)(out + first + k * 128) = make_float4((float)a, (float)b, (float)c, (float)d);
    }
}
// exclusive scan of the tiles' sums by one block
extern "C" __global__ void __launch_bounds__(256) step2(double* sums, int tiles) {
    __shared__ double shared[8];
    double before = 0;
    for (int f = 0; f < tiles; f += 256) {
        int k = f + threadIdx.x, lane = threadIdx.x % 32;
        double s = k < tiles ? sums[k] : 0;
        for (int d = 1; d < 32; d *= 2) { double b = up(s, d); if (lane >= d) s += b; }
        double b = up(s, 1), all, base = warps_before<8>(s, all, shared);
        if (k < tiles) sums[k] = before + base + (lane ? b : 0);
        before += all;
    }
}
#define SCAN(N, V, G, M) extern "C" __global__ void __launch_bounds__(256) N(const float* x, float* o, int64 n, double* s, uint* f, double* st, uint* sf, uint* t) { scan<V, G, M>(x, o, n, s, f, st, sf, t); }
SCAN(local_2, 2, 1, LOCAL) SCAN(local_4, 4, 1, LOCAL) SCAN(local_8, 8, 1, LOCAL)
SCAN(group_2_256, 2, 256, GROUP) SCAN(group_4_256, 4, 256, GROUP) SCAN(group_8_256, 8, 256, GROUP)
SCAN(group_4_64, 4, 64, GROUP) SCAN(group_4_128, 4, 128, GROUP) SCAN(group_8_64, 8, 64, GROUP) SCAN(group_8_128, 8, 128, GROUP) SCAN(group_2_128, 2, 128, GROUP)
SCAN(lookback_4, 4, 1, LOOKBACK) SCAN(lookback_8, 8, 1, LOOKBACK) SCAN(lookback_2, 2, 1, LOOKBACK)
SCAN(step1_4, 4, 1, STEP1) SCAN(step3_4, 4, 1, STEP3)
