// The kernels of the emulator's test, as a text for NVRTC, and a header for the kernels.
#pragma once

namespace {

const char *SOURCE = R"(
#include "plus.cuh"
struct One { float v; };
struct MapArgs { float *out; const float *a, *b; long long n; };
template <class T> __device__ void map(const MapArgs &args) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < args.n; i += gridDim.x * 256ll) args.out[i] = plus<T>(args.a[i], args.b[i]);
}
#define KERNEL(name, Args, ...) extern "C" __global__ void __launch_bounds__(256) name(const Args args) { __VA_ARGS__(args); }

struct SumArgs { double *out; const float *a; long long n; unsigned long long *count; };
template <class T> __device__ T block_sum(T x) {
    __shared__ __align__(16) T parts[256 >> 5];
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    T sum = 0;
    for (int i = 0; i < 8; i++) sum += parts[i];
    return sum;
}
template <class T> __device__ void sum(const SumArgs &args) {
    T x = 0;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < args.n; i += gridDim.x * 256ll) x += args.a[i];
    x = block_sum<T>(x);
    if (threadIdx.x == 0) { args.out[blockIdx.x] = x; atomicAdd(args.count, 1ull); }
}

struct ScanArgs { unsigned *out; const unsigned *in; unsigned long long *state; unsigned *ticket; unsigned n; };
// A scan in one pass: blocks look back at those before them.
template <class T> __device__ void scan(const ScanArgs &args) {
    __shared__ unsigned tile, warps[8], before;
    if (threadIdx.x == 0) tile = atomicAdd(args.ticket, 1u);
    __syncthreads();
    unsigned i = tile * 256 + threadIdx.x, lane = threadIdx.x % 32, x = i < args.n ? args.in[i] : 0;
    for (int d = 1; d < 32; d *= 2) { unsigned y = __shfl_up_sync(0xffffffffu, x, d); if (lane >= d) x += y; }
    if (lane == 31) warps[threadIdx.x / 32] = x;
    __syncthreads();
    for (int w = 0; w < threadIdx.x / 32; w++) x += warps[w];
    if (threadIdx.x == 255) {
        unsigned sum = 0;
        if (tile) {
            atomicExch(&args.state[tile], 1ull << 32 | x);
            for (int t = tile - 1;; t--) {
                unsigned long long s;
                do s = atomicAdd(&args.state[t], 0ull); while (!(s >> 32));
                sum += (unsigned)s;
                if (s >> 33) break;
            }
        }
        atomicExch(&args.state[tile], 2ull << 32 | (sum + x));
        before = sum;
    }
    __syncthreads();
    if (i < args.n) args.out[i] = before + x;
}

struct PokeArgs { unsigned char *p; long long at; int what; };
struct alignas(16) Four { float x[4]; };
struct alignas(32) Eight { float x[8]; };
// Accesses of 8 bytes and more at `at`, each in another way.
template <class T> __device__ T vector(const PokeArgs &args, int *local) {
    unsigned char *p = args.p + args.at;
    Four four = {{1, 2, 3, 4}};
    Eight eight = {{1, 2, 3, 4, 5, 6, 7, 8}};
    if (args.what == 20) return ((float4 *)p)->x;
    if (args.what == 21) *(float4 *)p = make_float4(1, 2, 3, 4);
    if (args.what == 22) return __ldg((const double2 *)p).x;
    if (args.what == 23) __stcg((uint2 *)p, make_uint2(1, 2));
    if (args.what == 24) four = *(const Four *)p;
    if (args.what == 25) *(Four *)p = four;
    if (args.what == 26) eight = *(const Eight *)p;
    if (args.what == 27) *(Eight *)p = eight;
    if (args.what == 28) memcpy(&four, (const Four *)p, sizeof four);
    if (args.what == 29) memcpy((Four *)p, &four, sizeof four);
    if (args.what == 30) memset((ulonglong2 *)p, 0, 16);
    if (args.what == 31) memcpy(&four, p, sizeof four);
    if (args.what == 32) return ((int4 *)local)->x;
    return four.x[0] + eight.x[0];
}
template <class T> __device__ void poke(const PokeArgs &args) {
    __shared__ int local[4];
    local[threadIdx.x % 4] = 1;
    if (threadIdx.x == 7 && blockIdx.x == 1) {
        if (args.what == 0) args.p[args.at] = 1;
        if (args.what == 1) { int *p = local; p[args.at] = 2; }
        if (args.what == 10) local[args.at] = 2;
        if (args.what == 2) args.p[args.at << 40] = 3;
    }
    if (args.what == 3 && threadIdx.x < 7) __syncthreads();
    if (args.what == 3 && threadIdx.x >= 7) __syncwarp();
    if (args.what == 4) { if (threadIdx.x < 32) __syncthreads(); else
        __syncthreads(); }
    if (args.what == 5) args.p[threadIdx.x] = local[0] / (int)args.at;
    if (args.what == 6) *(int *)(args.p + args.at) = 1;
    if (args.what >= 20) args.p[0] = (unsigned char)vector<T>(args, local);
    if (args.what == 7) assert(args.at == 0);
    if (args.what == 8) args.p[0] = __shfl_sync(1u, 5, 0);
}

struct WarpArgs { unsigned *out; };
// Reads what other threads write, without a barrier between.
template <class T> __device__ void race(const WarpArgs &args) {
    __shared__ unsigned values[256];
    values[threadIdx.x] = threadIdx.x;
    args.out[threadIdx.x] = values[255 - threadIdx.x];
}
#define OK(condition) { if (!(condition)) failed |= 1u << n; n++; }
template <class T> __device__ void warp(const WarpArgs &args) {
    unsigned t = threadIdx.x, lane = t % 32, all = 0xffffffffu;
    One one; one.v = (float)t;
    unsigned failed = 0, n = 0;
    OK(__shfl_sync(all, one, lane ^ 1).v == (float)(t ^ 1))
    OK(__ballot_sync(all, lane & 1) == 0xaaaaaaaau)
    OK(__any_sync(all, lane == 5) == 1)
    OK(__all_sync(all, lane == 5) == 0)
    OK(__shfl_down_sync(all, t, 3) == (lane < 29 ? t + 3 : t))
    OK(__shfl_up_sync(all, (long long)t << 33, 2, 8) == (long long)(lane % 8 < 2 ? t : t - 2) << 33)
    unsigned half = lane < 16 ? 0xffffu : 0xffff0000u, mine = lane < 16 ? __shfl_xor_sync(half, t, 3) : __shfl_xor_sync(half, t, 5);
    if (lane >= 16) __syncwarp(half);
    OK(mine == (lane < 16 ? t ^ 3 : t ^ 5))
    OK(__match_any_sync(all, lane / 8) == 0xffu << lane / 8 * 8)
    OK(__syncthreads_count(lane == 0) == 8)
    OK(__syncthreads_and(t < 256) != 0)
    OK(__syncthreads_or(t == 77) != 0)
    OK(__popc(0xf0f0u) == 8)
    OK(__clz(1) == 31)
    OK(__ffs(8) == 4)
    OK(__brev(1u) == 0x80000000u)
    OK(__clzll(1ll) == 63 && __popcll(3ull) == 2 && __brevll(1ull) == 1ull << 63)
    OK(__umulhi(0x80000000u, 6u) == 3 && __float2int_rz(1e20f) == 2147483647 && __double2ll_rz(-2.7) == -2)
    OK(fabs(erfinv(0.3) - 0.27246271472675435562) < 1e-15 && fabs(erfinv(0.999) - 2.32675376551352467057) < 1e-13)
    OK(fabs(erfcinv(1e-20) - 6.60158062235514256 ) < 1e-12 && normcdf(0.0) == 0.5 && sinpi(1.5) == -1 && cospi(0.5f) == 0)
    OK(fabs(erfcx(30.0) - 0.018795888861416751) < 1e-15 && rsqrt(4.0f) == 0.5f && exp10(2.0f) == 100)
    OK(min(3, 5) == 3 && max(2.0f, 1.0f) == 2 && min(1ll, 2ll) == 1)
    float4 f = make_float4(1, 2, 3, 4);
    OK(sizeof(f) == 16 && alignof(float4) == 16 && f.w == 4 && alignof(double2) == 16)
    OK(alignof(uchar4) == 4 && alignof(short4) == 8 && alignof(float2) == 8 && alignof(float3) == 4 && alignof(longlong4) == 16)
    __shared__ __align__(64) char wide; __shared__ short narrow;
    OK((size_t)&wide % 64 == 0 && (size_t)&narrow % 4 == 2)
    args.out[t] = failed;
}

KERNEL(map_f32, MapArgs, map<float>)
KERNEL(sum_f64, SumArgs, sum<double>)
KERNEL(scan_u32, ScanArgs, scan<unsigned>)
KERNEL(poke, PokeArgs, poke<int>)
KERNEL(warp, WarpArgs, warp<int>)
KERNEL(race, WarpArgs, race<int>)
)";
const char *HEADER = "template <class T> __device__ T plus(T a, T b) { return a + b; }\n";

} // namespace
