typedef unsigned int uint; typedef long long int64; typedef unsigned long long uint64;
#define DEVICE __device__ __forceinline__
template <int N> struct Vec { float v[N]; };
template <int N> DEVICE Vec<N> load(const float* p) {
    Vec<N> r;
    if (N == 4) { float4 f = *(const float4*)p; r.v[0] = f.x; r.v[1 % N] = f.y; r.v[2 % N] = f.z; r.v[3 % N] = f.w; } else r.v[0] = *p;
    return r;
}
template <int N> DEVICE void store(float* p, Vec<N> r) {
    if (N == 4) *(float4*)p = make_float4(r.v[0], r.v[1 % N], r.v[2 % N], r.v[3 % N]); else *p = r.v[0];
}
template <int N> DEVICE void plus(Vec<N>& a, const Vec<N>& b) { for (int k = 0; k < N; k++) a.v[k] += b.v[k]; }
// As today: one thread for each key and column; the first of a run walks it.
extern "C" __global__ void __launch_bounds__(256) today(float* r, const float* x, const uint64* keys, const uint* ordinals, int n, int columns, float* part) {
    for (int64 i = (int64)blockIdx.x * 256 + threadIdx.x; i < (int64)n * columns; i += (int64)gridDim.x * 256) {
        uint first = (uint)i / columns, c = (uint)i - first * columns;
        uint64 key = keys[first];
        if (first > 0 && keys[first - 1] == key) continue;
        float* to = r + key * columns + c;
        float sum = *to;
        for (int j = first; j < n && keys[j] == key; j++) sum += x[(int64)ordinals[j] * columns + c];
        *to = sum;
    }
}
// One thread for each chunk of C keys and N columns. A run inside of the chunk is added to r. What belongs to a run that goes on in other chunks is kept: part[2 * chunk] for the run from
// before, part[2 * chunk + 1] for the run that begins here.
template <int N, int C, int U> DEVICE void chunks(float* r, const float* x, const uint64* keys, const uint* ordinals, int n, int columns, float* part) {
    int wide = columns / N;
    int total = (n + C - 1) / C;
    for (int64 i = (int64)blockIdx.x * 256 + threadIdx.x; i < (int64)total * wide; i += (int64)gridDim.x * 256) {
        uint chunk = (uint)i / wide, c = ((uint)i - chunk * wide) * N;
        int first = chunk * C, end = first + C < n ? first + C : n;
        uint64 key = keys[first];
        bool from_before = first > 0 && keys[first - 1] == key;
        Vec<N> sum = {};
        for (int j = first; j < end; j += U) {
            Vec<N> v[U];
            uint64 k[U];
#pragma unroll
            for (int u = 0; u < U; u++) {
                if (j + u < end) { k[u] = keys[j + u]; v[u] = load<N>(x + (int64)ordinals[j + u] * columns + c); }
            }
#pragma unroll
            for (int u = 0; u < U; u++) {
                if (j + u >= end) break;
                if (k[u] != key) {
                    if (from_before) store<N>(part + (int64)2 * chunk * columns + c, sum);
                    else { float* to = r + key * columns + c; Vec<N> old = load<N>(to); plus(old, sum); store<N>(to, old); }
                    from_before = false;
                    key = k[u];
                    sum = Vec<N>{};
                }
                plus(sum, v[u]);
            }
        }
        bool goes_on = end < n && keys[end] == key;
        if (from_before) store<N>(part + (int64)2 * chunk * columns + c, sum);
        else if (goes_on) store<N>(part + ((int64)2 * chunk + 1) * columns + c, sum);
        else { float* to = r + key * columns + c; Vec<N> old = load<N>(to); plus(old, sum); store<N>(to, old); }
    }
}
// Adds the parts of each run that begins in one chunk and ends in another.
template <int N, int C, int U> DEVICE void parts(float* r, const uint64* keys, int n, int columns, const float* part) {
    int wide = columns / N, total = (n + C - 1) / C;
    for (int64 i = (int64)blockIdx.x * 256 + threadIdx.x; i < (int64)total * wide; i += (int64)gridDim.x * 256) {
        uint chunk = (uint)i / wide, c = ((uint)i - chunk * wide) * N;
        int first = chunk * C, end = first + C;
        if (end >= n) continue;
        uint64 key = keys[end];
        if (keys[end - 1] != key || (keys[first] == key && first > 0 && keys[first - 1] == key)) continue;
        Vec<N> sum = load<N>(part + ((int64)2 * chunk + 1) * columns + c);
        // the number of chunks whose first key is this
        int last = chunk + 1;
        int low = chunk + 1, high = total;  // first chunk in (low, high) with another first key
        while (low < high) { int m = (low + high) / 2; if (keys[m * C] == key) low = m + 1; else high = m; }
        last = low;
        for (int j = chunk + 1; j < last; j += U) {
            Vec<N> v[U];
#pragma unroll
            for (int u = 0; u < U; u++) if (j + u < last) v[u] = load<N>(part + (int64)2 * (j + u) * columns + c);
#pragma unroll
            for (int u = 0; u < U; u++) if (j + u < last) plus(sum, v[u]);
        }
        float* to = r + key * columns + c;
        Vec<N> old = load<N>(to);
        plus(old, sum);
        store<N>(to, old);
    }
}
#define CH(N, C, U) extern "C" __global__ void __launch_bounds__(256) chunks_##N##_##C##_##U(float* r, const float* x, const uint64* k, const uint* o, int n, int c, float* p) { chunks<N, C, U>(r, x, k, o, n, c, p); }
#define PA(N, C, U) extern "C" __global__ void __launch_bounds__(256) parts_##N##_##C##_##U(float* r, const uint64* k, int n, int c, const float* p) { parts<N, C, U>(r, k, n, c, p); }
CH(1, 16, 1) CH(1, 16, 4) CH(1, 32, 4) CH(1, 32, 8) CH(4, 8, 4) CH(4, 16, 1) CH(4, 16, 4) CH(4, 16, 8) CH(4, 32, 4) CH(4, 32, 8) CH(4, 64, 4) CH(4, 64, 8)
PA(1, 16, 8) PA(1, 32, 8) PA(4, 8, 8) PA(4, 16, 8) PA(4, 32, 8) PA(4, 64, 8) PA(1, 64, 8)
// The order of atomics: float4 columns; what PyTorch does.
extern "C" __global__ void __launch_bounds__(256) copy_like(float* r, const float* x, int64 n4) {
    for (int64 i = (int64)blockIdx.x * 256 + threadIdx.x; i < n4; i += (int64)gridDim.x * 256) {
        float4 a = ((const float4*)x)[i], b = ((float4*)r)[i];
        ((float4*)r)[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}
