// A test of the emulated driver and NVRTC, without thorn. Each case runs in a separate process with its own environment.
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "selftest_kernels.h"

namespace {

void *cuda, *nvrtc, *cublas;
int failures = 0;
const char *case_name = "";

#define CHECK(condition)                                                                                                                \
    do {                                                                                                                                \
        if (!(condition)) {                                                                                                             \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, case_name, #condition);                                                       \
            failures++;                                                                                                                 \
        }                                                                                                                               \
    } while (0)
#define EQUAL(got, wanted)                                                                                                              \
    do {                                                                                                                                \
        long long g = (long long)(got), w = (long long)(wanted);                                                                        \
        if (g != w) {                                                                                                                   \
            printf("%s:%d: %s: %s is %lld, not %lld\n", __FILE__, __LINE__, case_name, #got, g, w);                                     \
            failures++;                                                                                                                 \
        }                                                                                                                               \
    } while (0)

// Calls a function of the driver by its name.
template <class... A> int cu(const char *name, A... args) {
    auto function = (int (*)(A...))dlsym(cuda, name);
    if (!function) {
        printf("no %s\n", name);
        exit(1);
    }
    return function(args...);
}
template <class... A> int rtc(const char *name, A... args) {
    auto function = (int (*)(A...))dlsym(nvrtc, name);
    if (!function) {
        printf("no %s\n", name);
        exit(1);
    }
    return function(args...);
}

template <class... A> int blas(const char *name, A... args) {
    auto function = (int (*)(A...))dlsym(cublas, name);
    if (!function) {
        printf("no %s\n", name);
        exit(1);
    }
    return function(args...);
}

typedef uint64_t Ptr;
void *context[2];
void *module_[2];
void *const NO_STREAM = nullptr;

std::string compile(const char *source, int *result) {
    void *program = nullptr;
    const char *text = HEADER, *name = "plus.cuh", *options[] = {"--gpu-architecture=sm_90", "--std=c++17"};
    EQUAL(rtc("nvrtcCreateProgram", &program, source, "selftest.cu", 1, &text, &name), 0);
    *result = rtc("nvrtcCompileProgram", program, 2, (const char **)options);
    size_t bytes = 0;
    EQUAL(rtc("nvrtcGetProgramLogSize", program, &bytes), 0);
    std::string log(bytes, 0);
    EQUAL(rtc("nvrtcGetProgramLog", program, log.data()), 0);
    if (*result == 0) {
        EQUAL(rtc("nvrtcGetCUBINSize", program, &bytes), 0);
        log.assign(bytes, 0);
        EQUAL(rtc("nvrtcGetCUBIN", program, log.data()), 0);
    }
    EQUAL(rtc("nvrtcDestroyProgram", &program), 0);
    return log;
}

void start(int devices = 1) {
    EQUAL(cu("cuInit", 0u), 0);
    int result = 0;
    std::string image = compile(SOURCE, &result);
    EQUAL(result, 0);
    if (result) {
        printf("%s\n", image.c_str());
        exit(1);
    }
    for (int i = devices - 1; i >= 0; i--) {
        EQUAL(cu("cuDevicePrimaryCtxRetain", &context[i], i), 0);
        EQUAL(cu("cuCtxSetCurrent", context[i]), 0);
        EQUAL(cu("cuModuleLoadData", &module_[i], (const void *)image.c_str()), 0);
    }
}

template <class A> int launch(const char *name, unsigned blocks, const A &args, void *stream = nullptr, int device = 0) {
    void *function = nullptr;
    if (int r = cu("cuModuleGetFunction", &function, module_[device], name)) return r;
    void *params[] = {(void *)&args};
    return cu("cuLaunchKernel", function, blocks, 1u, 1u, 256u, 1u, 1u, 0u, stream, (void **)params, (void **)nullptr);
}

Ptr device_memory(size_t bytes) {
    Ptr p = 0;
    EQUAL(cu("cuMemAlloc_v2", &p, bytes), 0);
    return p;
}
template <class T> Ptr upload(const std::vector<T> &v) {
    Ptr p = device_memory(v.size() * sizeof(T));
    EQUAL(cu("cuMemcpyHtoD_v2", p, (const void *)v.data(), v.size() * sizeof(T)), 0);
    return p;
}
template <class T> std::vector<T> download(Ptr p, size_t n) {
    std::vector<T> v(n);
    EQUAL(cu("cuMemcpyDtoH_v2", (void *)v.data(), p, n * sizeof(T)), 0);
    return v;
}

struct MapArgs {
    Ptr out, a, b;
    int64_t n;
};
struct SumArgs {
    Ptr out, a;
    int64_t n;
    Ptr count;
};
struct ScanArgs {
    Ptr out, in, state, ticket;
    unsigned n;
};
struct PokeArgs {
    Ptr p;
    int64_t at;
    int what;
};

std::vector<float> numbers(size_t n) {
    std::vector<float> v(n);
    for (size_t i = 0; i < n; i++) v[i] = (float)(i % 1000);
    return v;
}

void test_kernels() {
    start();
    size_t n = 100003;
    std::vector<float> a = numbers(n);
    Ptr da = upload(a), out = device_memory(n * 4);
    EQUAL(download<unsigned char>(out, 5)[4], 0xcd);
    EQUAL(launch("map_f32", 64, MapArgs{out, da, da, (int64_t)n}), 0);
    std::vector<float> r = download<float>(out, n);
    bool same = true;
    double sum = 0;
    for (size_t i = 0; i < n; i++) same &= r[i] == 2 * a[i], sum += a[i];
    CHECK(same);

    std::vector<uint64_t> zeros(1000);
    Ptr sums = device_memory(8 * 32), count = upload(std::vector<uint64_t>(1));
    EQUAL(launch("sum_f64", 32, SumArgs{sums, da, (int64_t)n, count}), 0);
    double total = 0;
    for (double x : download<double>(sums, 32)) total += x;
    CHECK(total == sum);
    EQUAL(download<uint64_t>(count, 1)[0], 32);

    std::vector<unsigned> u(n), expected(n);
    unsigned running = 0;
    for (size_t i = 0; i < n; i++) u[i] = (unsigned)i * 2654435761u >> 20, expected[i] = running += u[i];
    unsigned tiles = (unsigned)((n + 255) / 256);
    Ptr du = upload(u), scanned = device_memory(n * 4), state = upload(zeros), ticket = upload(std::vector<unsigned>(1));
    EQUAL(launch("scan_u32", tiles, ScanArgs{scanned, du, state, ticket, (unsigned)n}), 0);
    CHECK(download<unsigned>(scanned, n) == expected);

    Ptr checks = device_memory(256 * 4);
    EQUAL(launch("warp", 1, checks), 0);
    std::vector<unsigned> failed = download<unsigned>(checks, 256);
    for (int t = 0; t < 256; t++) {
        if (failed[t]) printf("warp: thread %d fails the checks %#x\n", t, failed[t]), failures++, t = 256;
    }
    EQUAL(launch("race", 1, checks), 0);
    bool garbage = false;
    for (unsigned x : download<unsigned>(checks, 256)) garbage |= x == 0xcdcdcdcd;
    CHECK(garbage);
    EQUAL(cu("cuMemsetD32_v2", du, 7u, n), 0);
    EQUAL(download<unsigned>(du, n)[n - 1], 7);
    EQUAL(cu("cuMemFree_v2", du), 0);
    EQUAL(cu("cuMemFree_v2", du), 1);
    EQUAL(cu("cuMemcpyHtoD_v2", out, (const void *)a.data(), n * 4 + 1), 1);
    EQUAL(launch("nothing", 1, checks), 500);
    EQUAL(cu("cuLaunchKernel", nullptr, 1u, 1u, 1u, 256u, 1u, 1u, 0u, NO_STREAM, (void **)nullptr, (void **)nullptr), 400);
}

void test_devices() {
    start(2);
    int count = 0, can = 0, device = 9;
    EQUAL(cu("cuDeviceGetCount", &count), 0);
    EQUAL(count, 2);
    EQUAL(cu("cuDeviceCanAccessPeer", &can, 0, 1), 0);
    EQUAL(can, 1);
    EQUAL(cu("cuCtxEnablePeerAccess", context[1], 0u), 0);
    EQUAL(cu("cuCtxEnablePeerAccess", context[1], 0u), 704);
    Ptr a = upload(numbers(100));
    EQUAL(cu("cuCtxPushCurrent_v2", context[1]), 0);
    Ptr b = device_memory(400);
    EQUAL(cu("cuPointerGetAttribute", &device, 9, b), 0);
    EQUAL(device, 1);
    EQUAL(cu("cuMemcpyPeerAsync", b, context[1], a, context[0], (size_t)400, NO_STREAM), 0);
    CHECK(download<float>(b, 100) == numbers(100));
    EQUAL(launch("map_f32", 1, MapArgs{b, b, b, 100}, nullptr, 0), 400); // a function of the other context
    EQUAL(launch("map_f32", 1, MapArgs{b, b, b, 100}, nullptr, 1), 0);
    EQUAL(download<float>(b, 100)[3], 6);
    void *popped = nullptr;
    EQUAL(cu("cuCtxPopCurrent_v2", &popped), 0);
    CHECK(popped == context[1]);
    EQUAL(cu("cuPointerGetAttribute", &device, 9, a), 0);
    EQUAL(device, 0);
    EQUAL(cu("cuPointerGetAttribute", &device, 9, (Ptr)&device), 1);
    const char *name = nullptr;
    EQUAL(cu("cuGetErrorName", 719, &name), 0);
    CHECK(name && !strcmp(name, "CUDA_ERROR_LAUNCH_FAILED"));
    void *function = nullptr;
    int status = 9;
    EQUAL(cu("cuGetProcAddress_v2", "cuMemAlloc", &function, 13000, (uint64_t)0, &status), 0);
    CHECK(function == dlsym(cuda, "cuMemAlloc_v2"));
}

void count_call(void *p) { ++*(int *)p; }

void test_async() {
    start();
    void *first = nullptr, *second = nullptr, *event = nullptr, *other = nullptr;
    EQUAL(cu("cuStreamCreate", &first, 1u), 0);
    EQUAL(cu("cuStreamCreate", &second, 1u), 0);
    EQUAL(cu("cuEventCreate", &event, 0u), 0);
    EQUAL(cu("cuEventCreate", &other, 0u), 0);
    float *host = nullptr;
    EQUAL(cu("cuMemHostAlloc", (void **)&host, (size_t)400, 0u), 0);
    std::vector<float> pageable = numbers(100);
    Ptr a = device_memory(400), b = device_memory(400);
    int calls = 0;
    EQUAL(cu("cuEventRecord", other, first), 0);
    EQUAL(cu("cuMemcpyHtoDAsync_v2", a, (const void *)pageable.data(), (size_t)400, first), 0);
    pageable.assign(100, 0); // the copy has read it
    EQUAL(cu("cuLaunchHostFunc", first, count_call, (void *)&calls), 0);
    EQUAL(cu("cuEventRecord", event, first), 0);
    EQUAL(cu("cuStreamWaitEvent", second, event, 0u), 0);
    EQUAL(launch("map_f32", 1, MapArgs{b, a, a, 100}, second), 0);
    EQUAL(cu("cuMemcpyDtoHAsync_v2", (void *)host, b, (size_t)400, second), 0);
    EQUAL(((unsigned char *)host)[4], 0xcd); // nothing has waited for the work
    EQUAL(calls, 0);
    EQUAL(cu("cuEventQuery", event), 600);
    EQUAL(cu("cuStreamSynchronize", second), 0);
    EQUAL(host[3], 6);
    EQUAL(calls, 1);
    EQUAL(cu("cuEventQuery", event), 0);
    float ms = -1;
    EQUAL(cu("cuEventElapsedTime_v2", &ms, other, event), 0);
    CHECK(ms >= 0);
    // Pinned memory is read when the stream reaches the copy.
    EQUAL(cu("cuMemcpyHtoDAsync_v2", a, (const void *)host, (size_t)400, first), 0);
    host[3] = 100;
    int asked = 0;
    while (cu("cuStreamQuery", first) == 600) asked++;
    CHECK(asked > 0);
    EQUAL(download<float>(a, 100)[3], 100);
    // The legacy stream and a blocking stream wait for one another. A non-blocking stream does not wait.
    void *blocking = nullptr;
    EQUAL(cu("cuStreamCreate", &blocking, 0u), 0);
    EQUAL(cu("cuMemsetD32Async", a, 5u, (size_t)100, blocking), 0);
    EQUAL(download<unsigned>(a, 100)[3], 5);
    EQUAL(cu("cuMemsetD32Async", a, 6u, (size_t)100, first), 0);
    EQUAL(download<unsigned>(a, 100)[3], 5);
    EQUAL(cu("cuCtxSynchronize"), 0);
    EQUAL(download<unsigned>(a, 100)[3], 6);
    EQUAL(cu("cuMemsetD32_v2", a, 7u, (size_t)100), 0);
    EQUAL(cu("cuMemcpyDtoHAsync_v2", (void *)host, a, (size_t)400, blocking), 0);
    EQUAL(cu("cuStreamSynchronize", blocking), 0);
    EQUAL(((unsigned *)host)[3], 7);
    Ptr c = 0;
    EQUAL(cu("cuMemAllocAsync", &c, (size_t)64, first), 0);
    EQUAL(cu("cuMemsetD8Async", c, (unsigned char)1, (size_t)64, first), 0);
    EQUAL(cu("cuMemFreeAsync", c, first), 0);
    EQUAL(cu("cuMemsetD8Async", c, (unsigned char)1, (size_t)64, first), 1);
    EQUAL(cu("cuStreamDestroy_v2", first), 0);
    EQUAL(cu("cuStreamSynchronize", first), 400);
    EQUAL(cu("cuCtxSynchronize"), 0);
    EQUAL(cu("cuEventDestroy_v2", event), 0);
    EQUAL(cu("cuEventDestroy_v2", event), 400);
    EQUAL(cu("cuMemFreeHost", (void *)host), 0);
}

// A host function in a stream may wait for another thread that is in the driver.
void test_threads() {
    start();
    static std::atomic<bool> go{false};
    void *stream = nullptr;
    EQUAL(cu("cuStreamCreate", &stream, 1u), 0);
    void (*wait)(void *) = [](void *) {
        while (!go) usleep(1000);
        EQUAL(cu("cuCtxSynchronize"), 800); // a host function may not call the driver
    };
    std::vector<float> a = numbers(1000);
    std::thread other([&] {
        EQUAL(cu("cuCtxSetCurrent", context[0]), 0);
        Ptr p = upload(a), q = device_memory(4000);
        go = true;
        for (int i = 0; i < 100; i++) EQUAL(launch("map_f32", 2, MapArgs{q, p, p, 1000}), 0);
        CHECK(download<float>(q, 1000)[3] == 6);
    });
    EQUAL(cu("cuLaunchHostFunc", stream, wait, (void *)nullptr), 0);
    EQUAL(cu("cuStreamSynchronize", stream), 0);
    other.join();
    EQUAL(cu("cuCtxSynchronize"), 0);
}

void test_guards() {
    start();
    Ptr a = device_memory(100);
    EQUAL(launch("poke", 2, PokeArgs{a, 99, 0}), 0);
    EQUAL(cu("cuCtxSynchronize"), 0);
    EQUAL(launch("poke", 2, PokeArgs{a, 100, 0}), 0);
    EQUAL(cu("cuCtxSynchronize"), 700);
    EQUAL(cu("cuMemFree_v2", a), 700); // sticky
    auto hits = (uint64_t(*)())dlsym(cuda, "thorn_emu_guard_hits");
    EQUAL(hits(), 1);
    EQUAL(cu("cuDevicePrimaryCtxReset_v2", 0), 0);
    start();
    a = device_memory(100);
    EQUAL(launch("poke", 2, PokeArgs{a, -1, 0}), 0);
    EQUAL(cu("cuCtxSynchronize"), 700);
    EQUAL(hits(), 2);
}

// Runs a kernel that fails, and returns its error.
int failing(int what, int64_t at) {
    start();
    Ptr a = device_memory(100);
    EQUAL(launch("poke", 2, PokeArgs{a, at, what}), 0);
    int error = cu("cuCtxSynchronize");
    EQUAL(cu("cuMemAlloc_v2", &a, (size_t)8), error);
    EQUAL(cu("cuDevicePrimaryCtxReset_v2", 0), 0);
    return error;
}

void test_faults() {
    EQUAL(failing(1, 4), 700);   // shared memory
    EQUAL(failing(2, 3), 700);   // no memory at all
    EQUAL(failing(3, 0), 719);   // divergent barrier
    EQUAL(failing(4, 0), 719);   // two barriers
    EQUAL(failing(5, 0), 719);   // division by zero
    EQUAL(failing(6, 1), 716);   // misaligned
    EQUAL(failing(7, 1), 710);   // assert
    EQUAL(failing(8, 0), 719);   // a lane outside of its mask
    EQUAL(failing(10, 4), 716);  // an index
    EQUAL(failing(9, 0), 0);
    // Vectors of 16 bytes, of 32 bytes, and one of 8; a copy without a type; an int array that is not aligned for int4.
    for (int what : {20, 21, 22, 24, 25, 28, 29, 30}) EQUAL(failing(what, 8), 716);
    for (int what : {26, 27}) EQUAL(failing(what, 16), 716);
    EQUAL(failing(23, 4), 716);
    EQUAL(failing(32, 0), 716);
    for (int what : {20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}) EQUAL(failing(what, 32), 0);
    EQUAL(failing(31, 1), 0);
    ((void (*)())dlsym(cuda, "thorn_emu_clear_guard_hits"))();
}

const int64_t M = 2, N = 3, K = 4;

// c = beta * c + alpha * (a @ b) for dense M x K and K x N matrices.
int gemm(void *handle, int op_a, int op_b, float alpha, Ptr a, int64_t lda, Ptr b, float beta, Ptr c, int64_t ldc, int64_t count = 1,
         int compute = 68) {
    return blas("cublasGemmStridedBatchedEx_64", handle, op_a, op_b, M, N, K, (const void *)&alpha, a, 0, lda, 0ll, b, 0, op_b ? N : K,
                (long long)(K * N), (const void *)&beta, c, 0, ldc, (long long)(M * N), count, compute, -1);
}

// Products wait in their stream, read the earlier writes of the stream, and refuse the arguments that cuBLAS refuses.
void test_products() {
    start(2);
    void *handle = nullptr, *stream = nullptr;
    EQUAL(blas("cublasCreate_v2", &handle), 0);
    EQUAL(cu("cuStreamCreate", &stream, 1u), 0);
    std::vector<float> zeros(2 * M * N), start_values(2 * M * N, 1.0f);
    Ptr a = upload(numbers(M * K)), b = upload(numbers(2 * K * N)), c = upload(start_values), workspace = device_memory(4096);
    EQUAL(blas("cublasSetMathMode", handle, 16), 0);
    EQUAL(blas("cublasSetStream_v2", handle, stream), 0);
    EQUAL(blas("cublasSetWorkspace_v2", handle, (void *)(workspace + 1), (size_t)512), 7);
    EQUAL(blas("cublasSetWorkspace_v2", handle, (void *)workspace, (size_t)4096), 0);
    EQUAL(gemm(handle, 0, 0, 2, a, M, b, 3, c, M, 2), 0);
    if (getenv("THORN_EMU_ASYNC")) EQUAL(((unsigned char *)workspace)[0], 0xcd); // nothing has waited for the work
    EQUAL(cu("cuStreamSynchronize", stream), 0);
    EQUAL(((unsigned char *)workspace)[0], 0xee);
    std::vector<float> sums = download<float>(c, 2 * M * N);
    for (int64_t q = 0; q < 2; q++) {
        for (int64_t at = 0; at < M * N; at++) {
            float sum = 0;
            for (int64_t k = 0; k < K; k++) sum += (float)(k * M + at % M) * (float)(q * K * N + at / M * K + k);
            EQUAL(sums[(size_t)(q * M * N + at)], 2 * sum + 3);
        }
    }
    // A transposed A, which has the same numbers in another order, and TF32, which drops the last bits of 4097.
    EQUAL(gemm(handle, 1, 0, 1, a, K, b, 0, c, M), 0);
    EQUAL(cu("cuStreamSynchronize", stream), 0);
    EQUAL(download<float>(c, 1)[0], 0 * 0 + 1 * 1 + 2 * 2 + 3 * 3);
    Ptr odd = upload(std::vector<float>(M * K, 4097.0f)), ones = upload(std::vector<float>(K * N, 1.0f));
    EQUAL(gemm(handle, 0, 0, 1, odd, M, ones, 0, c, M, 1, 77), 0);
    EQUAL(cu("cuStreamSynchronize", stream), 0);
    EQUAL(download<float>(c, 1)[0], 4 * 4096);
    // Wrong leading dimensions, types, streams and handles.
    EQUAL(gemm(handle, 0, 0, 1, a, M - 1, b, 0, c, M), 7);
    EQUAL(gemm(handle, 1, 0, 1, a, K - 1, b, 0, c, M), 7);
    EQUAL(gemm(handle, 0, 0, 1, a, M, b, 0, c, M - 1), 7);
    EQUAL(gemm(handle, 0, 0, 1, a + 1, M, b, 0, c, M), 7);
    EQUAL(gemm(handle, 0, 0, 1, a, M, b, 0, c, M, -1), 7);
    EQUAL(gemm(handle, 0, 0, 1, a, M, b, 0, c, M, 1, 70), 15);
    EQUAL(gemm(&handle, 0, 0, 1, a, M, b, 0, c, M), 1);
    EQUAL(cu("cuCtxSetCurrent", context[1]), 0);
    EQUAL(gemm(handle, 0, 0, 1, a, M, b, 0, c, M), 13);
    EQUAL(cu("cuCtxSetCurrent", context[0]), 0);
    // A matrix that exceeds its memory.
    EQUAL(cu("cuCtxSynchronize"), 0);
    gemm(handle, 0, 0, 1, a, M, b, 0, c, M, 3);
    EQUAL(cu("cuStreamSynchronize", stream), 700);
    CHECK(cu("thorn_emu_guard_hits") > 0);
    cu("thorn_emu_clear_guard_hits");
    EQUAL(blas("cublasDestroy_v2", handle), 0);
}

void test_memory() {
    start();
    Ptr a = 0, b = 0;
    size_t free = 0, total = 0;
    EQUAL(cu("cuMemAlloc_v2", &a, (size_t)600000), 0);
    EQUAL(cu("cuMemAlloc_v2", &b, (size_t)600000), 2);
    EQUAL(cu("cuMemGetInfo_v2", &free, &total), 0);
    EQUAL(free, 400000);
    EQUAL(total, 1000000);
    EQUAL(cu("cuMemFree_v2", a), 0);
    EQUAL(cu("cuMemAlloc_v2", &b, (size_t)600000), 2); // the third one fails: THORN_EMU_FAIL_ALLOC
    EQUAL(cu("cuMemAlloc_v2", &b, (size_t)600000), 0);
    EQUAL(launch("poke", 1, PokeArgs{b, 0, 9}), 0);
    EQUAL(cu("cuCtxSynchronize"), 0);
    EQUAL(launch("poke", 1, PokeArgs{b, 0, 9}), 0); // the second one fails: THORN_EMU_FAIL_LAUNCH
    EQUAL(cu("cuCtxSynchronize"), 719);
    EQUAL(launch("poke", 1, PokeArgs{b, 0, 9}), 719);
}

void test_capture() {
    start();
    void *stream = nullptr, *fork = nullptr, *event = nullptr, *graph = nullptr, *executable = nullptr;
    EQUAL(cu("cuStreamCreate", &stream, 1u), 0);
    EQUAL(cu("cuStreamCreate", &fork, 1u), 0);
    EQUAL(cu("cuEventCreate", &event, 2u), 0);
    Ptr a = upload(numbers(100)), b = upload(numbers(100));
    int status = 9;
    EQUAL(cu("cuStreamBeginCapture_v2", NO_STREAM, 0), 900);
    EQUAL(cu("cuStreamBeginCapture_v2", stream, 2), 0);
    EQUAL(launch("map_f32", 1, MapArgs{a, a, b, 100}, stream), 0);
    EQUAL(cu("cuEventRecord", event, stream), 0);
    EQUAL(cu("cuStreamWaitEvent", fork, event, 0u), 0);
    EQUAL(launch("map_f32", 1, MapArgs{a, a, b, 100}, fork), 0);
    EQUAL(cu("cuEventRecord", event, fork), 0);
    EQUAL(cu("cuStreamWaitEvent", stream, event, 0u), 0);
    EQUAL(cu("cuStreamIsCapturing", fork, &status), 0);
    EQUAL(status, 1);
    EQUAL(cu("cuStreamEndCapture", stream, &graph), 0);
    EQUAL(download<float>(a, 100)[3], 3);
    EQUAL(cu("cuGraphInstantiateWithFlags", &executable, graph, 0ull), 0);
    EQUAL(cu("cuGraphDestroy", graph), 0);
    EQUAL(cu("cuGraphLaunch", executable, stream), 0);
    EQUAL(cu("cuGraphLaunch", executable, stream), 0);
    EQUAL(cu("cuStreamSynchronize", stream), 0);
    EQUAL(download<float>(a, 100)[3], 15);
    // Functions that are forbidden in a capture invalidate the capture.
    EQUAL(cu("cuStreamBeginCapture_v2", stream, 0), 0);
    EQUAL(cu("cuStreamSynchronize", stream), 900);
    EQUAL(cu("cuStreamEndCapture", stream, &graph), 901);
    EQUAL(cu("cuStreamBeginCapture_v2", stream, 0), 0);
    EQUAL(cu("cuMemAlloc_v2", &b, (size_t)8), 900);
    EQUAL(cu("cuStreamEndCapture", stream, &graph), 901);
    EQUAL(cu("cuStreamBeginCapture_v2", stream, 0), 0);
    EQUAL(cu("cuEventRecord", event, stream), 0);
    EQUAL(cu("cuStreamWaitEvent", fork, event, 0u), 0);
    EQUAL(launch("map_f32", 1, MapArgs{a, a, b, 100}, fork), 0);
    EQUAL(cu("cuStreamEndCapture", stream, &graph), 904);
    EQUAL(cu("cuStreamIsCapturing", fork, &status), 0);
    EQUAL(status, 0);
    // Some functions are forbidden in every mode.
    uint64_t id = 0, other = 0;
    const void *nothing = nullptr;
    for (const char *function : {"cuCtxSynchronize", "cuMemFree_v2", "cuEventQuery", "cuGraphLaunch"}) {
        std::string name = function;
        EQUAL(cu("cuStreamBeginCapture_v2", stream, 2), 0);
        EQUAL(cu("cuEventRecord", event, stream), 0);
        EQUAL(cu("cuStreamWaitEvent", fork, event, 0u), 0);
        EQUAL(cu("cuStreamGetCaptureInfo_v2", stream, &status, &id, nothing, nothing, nothing), 0);
        EQUAL(cu("cuStreamGetCaptureInfo_v2", fork, &status, &other, nothing, nothing, nothing), 0);
        EQUAL(status, 1);
        EQUAL(id == other && id != 0, true);
        EQUAL(cu("cuMemAlloc_v2", &b, (size_t)8), 0);
        int got = name == "cuMemFree_v2" ? cu(function, b)
            : name == "cuEventQuery" ? cu(function, event) : name == "cuGraphLaunch" ? cu(function, executable, stream) : cu(function);
        EQUAL(got, name == "cuEventQuery" ? 907 : 900);
        EQUAL(cu("cuStreamGetCaptureInfo_v2", fork, &status, &other, nothing, nothing, nothing), 0);
        EQUAL(status, 2);
        EQUAL(cu("cuStreamEndCapture", stream, &graph), 901);
        EQUAL(cu("cuMemFree_v2", b), 0);
    }
    EQUAL(cu("cuGraphExecDestroy", executable), 0);
}

void test_protect() {
    start();
    Ptr a = upload(numbers(100));
    EQUAL(launch("map_f32", 1, MapArgs{a, a, a, 100}), 0);
    EQUAL(download<float>(a, 100)[3], 6);
    pid_t child = fork();
    if (child == 0) {
        printf("%d\n", *(volatile int *)a);
        _exit(0);
    }
    int result = 0;
    waitpid(child, &result, 0);
    CHECK(WIFSIGNALED(result) && WTERMSIG(result) == SIGSEGV);
    child = fork();
    if (child == 0) _exit(cu("cuCtxSynchronize"));
    waitpid(child, &result, 0);
    EQUAL(WEXITSTATUS(result), 3);
}

void test_compiler() {
    int result = 0, major = 0, count = 0;
    EQUAL(rtc("nvrtcVersion", &major, &count), 0);
    EQUAL(major, 13);
    std::string log = compile("extern \"C\" __global__ void f(const int x) {\n    y = x;\n}\n", &result);
    EQUAL(result, 6);
    CHECK(log.find("selftest.cu:2") != std::string::npos);
    log = compile("__device__ unsigned z = (uint32_t)1;\n", &result); // NVRTC has no header for this type
    EQUAL(result, 6);
}

void test_nothing() { EQUAL(cu("cuInit", 0u), 100); }

const struct {
    const char *name;
    void (*run)();
    const char *environment;
    int status;
} CASES[] = {
    {"compiler", test_compiler, "", 0},
    {"kernels", test_kernels, "", 0},
    {"kernels", test_kernels, "THORN_EMU_SEED=1", 0},
    {"kernels", test_kernels, "THORN_EMU_SEED=77 THORN_EMU_ASYNC=1", 0},
    {"kernels", test_kernels, "THORN_EMU_PROTECT=1", 0},
    {"devices", test_devices, "", 0},
    {"devices", test_devices, "THORN_EMU_PROTECT=1 THORN_EMU_ASYNC=1", 0},
    {"async", test_async, "THORN_EMU_ASYNC=1", 0},
    {"threads", test_threads, "", 0},
    {"threads", test_threads, "THORN_EMU_ASYNC=1 THORN_EMU_PROTECT=1", 0},
    {"guards", test_guards, "", 86},
    {"faults", test_faults, "", 0},
    {"faults", test_faults, "THORN_EMU_SEED=5", 0},
    {"memory", test_memory, "THORN_EMU_MEMORY=1000000 THORN_EMU_FAIL_ALLOC=3 THORN_EMU_FAIL_LAUNCH=2", 0},
    {"capture", test_capture, "", 0},
    {"capture", test_capture, "THORN_EMU_ASYNC=1", 0},
    {"products", test_products, "", 0},
    {"products", test_products, "THORN_EMU_ASYNC=1", 0},
    {"protect", test_protect, "THORN_EMU_PROTECT=1", 0},
    {"nothing", test_nothing, "THORN_EMU_DEVICES=0", 0},
};

void *open_library(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return library;
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1) {
        cuda = open_library("libcuda.so.1");
        nvrtc = open_library("libnvrtc.so.13");
        cublas = open_library("libcublas.so.13");
        const auto &row = CASES[atoi(argv[1])];
        case_name = row.name;
        row.run();
        fflush(stdout);
        return failures > 0;
    }
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const auto &row = CASES[i];
        // Messages of kernels that fail on purpose are shown only if the case fails.
        std::string log = "/tmp/cuda_emu_selftest_" + std::to_string(getpid());
        std::string command = std::string("env ") + row.environment + " timeout 60 " + argv[0] + " " + std::to_string(i);
        command += " >" + log + " 2>&1";
        int status = system(command.c_str());
        bool good = WIFEXITED(status) && WEXITSTATUS(status) == row.status;
        printf("%s %s %s\n", good ? "ok    " : "FAILED", row.name, row.environment);
        fflush(stdout);
        if (!good) {
            printf("status %d, not %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1, row.status);
            fflush(stdout);
            if (system(("cat " + log).c_str())) return 1;
        }
        unlink(log.c_str());
        ++(good ? passed : failed);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
