// cuBLAS: matrix products in the memory of emulated devices, by three loops, in the order of the stream.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "version.h"
#include "work.h"

#define API extern "C" __attribute__((visibility("default")))

enum Status : int {
    SUCCESS = 0,
    NOT_INITIALIZED = 1,
    ALLOC_FAILED = 3,
    INVALID_VALUE = 7,
    EXECUTION_FAILED = 13,
    INTERNAL_ERROR = 14,
    NOT_SUPPORTED = 15,
};

extern "C" {
int cuCtxGetDevice(int *device);
int cuMemAlloc_v2(uint64_t *at, size_t bytes);
int cuMemFree_v2(uint64_t at);
int cuStreamGetCtx(void *stream, void **context);
}

namespace {

const uint64_t OWN_BYTES = 1024, WORKSPACE_ALIGN = 256, SCRIBBLED = 1 << 16;

struct Handle {
    int device = 0;
    uint64_t own = 0;                       // device memory of the handle
    void *stream = nullptr;
    uint64_t workspace = 0, workspace_bytes = 0;
    std::atomic<bool> used{false};          // a call is in progress
};

std::mutex &lock = *new std::mutex;
std::set<Handle *> &handles = *new std::set<Handle *>;

// Locks a handle for one call. Two threads that use a handle at the same time, or a thread on another device, get an error.
class Use {
  public:
    explicit Use(void *p) {
        {
            std::lock_guard<std::mutex> guard(lock);
            if (!handles.count((Handle *)p)) return;
        }
        int device = -1;
        if (cuCtxGetDevice(&device) || device != ((Handle *)p)->device) {
            status = EXECUTION_FAILED;
        } else if (((Handle *)p)->used.exchange(true)) {
            status = INTERNAL_ERROR;
        } else {
            handle = (Handle *)p;
            status = SUCCESS;
        }
    }
    ~Use() {
        if (handle) handle->used = false;
    }
    Handle *handle = nullptr;
    Status status = NOT_INITIALIZED;
};

enum Type : int { F32 = 0, F64 = 1, F16 = 2, BF16 = 14 };
enum Compute : int { IN_F32 = 68, IN_F64 = 70, IN_TF32 = 77 };

uint64_t bytes_of(int type) { return type == F64 ? 8 : type == F32 ? 4 : 2; }

float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

float of_half(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent) return of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float small = (float)fraction / (1 << 24);
    return sign ? -small : small;
}

// Rounds to the nearest bfloat16, ties to even.
uint16_t to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    if (x != x) return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Rounds to ten bits after the leading one.
float to_tf32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return (bits & 0x7f800000) == 0x7f800000 ? x : of_bits((bits + 0x1000) & ~0x1fffu);
}

struct Matrix {
    uint64_t at;
    int type;
    bool transposed;
    int64_t ld, apart;

    uint64_t place(int64_t number) const { return at + (uint64_t)(number * apart * (int64_t)bytes_of(type)); }
    // Bytes from the first element to the end of the last one.
    uint64_t extent(int64_t rows, int64_t cols) const {
        if (transposed) std::swap(rows, cols);
        return rows && cols ? (uint64_t)((cols - 1) * ld + rows) * bytes_of(type) : 0;
    }
    double get(int64_t number, int64_t i, int64_t j) const {
        uint64_t p = place(number) + (uint64_t)(transposed ? i * ld + j : j * ld + i) * bytes_of(type);
        switch (type) {
        case F64: return *(double *)p;
        case F32: return *(float *)p;
        case F16: return of_half(*(uint16_t *)p);
        default: return of_bits((uint32_t) * (uint16_t *)p << 16);
        }
    }
    void set(int64_t number, int64_t i, int64_t j, double x) const {
        uint64_t p = place(number) + (uint64_t)(j * ld + i) * bytes_of(type);
        switch (type) {
        case F64: *(double *)p = x; break;
        case F32: *(float *)p = (float)x; break;
        case F16: *(_Float16 *)p = (_Float16)(float)x; break;
        default: *(uint16_t *)p = to_bf16((float)x);
        }
    }
};

struct Gemm {
    int64_t m, n, k, count;
    Matrix a, b, c;
    double alpha, beta;
    int compute;
    uint64_t workspace, workspace_bytes;
};

// Copies a factor, converted to the type of the sums, so that the elements that are multiplied are contiguous.
template <class T, class F> std::vector<T> packed(int64_t lines, int64_t k, bool tf32, F get) {
    std::vector<T> all((size_t)(lines * k));
    for (int64_t line = 0; line < lines; line++) {
        for (int64_t i = 0; i < k; i++) {
            T x = (T)get(line, i);
            all[(size_t)(line * k + i)] = tf32 ? (T)to_tf32((float)x) : x;
        }
    }
    return all;
}

template <class T> T dot(const T *a, const T *b, int64_t k) {
    T sums[8] = {};
    for (int64_t i = 0; i < k; i++) sums[i % 8] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <class T> void multiply(const Gemm &g) {
    bool tf32 = g.compute == IN_TF32;
    T alpha = (T)g.alpha, beta = (T)g.beta;
    for (int64_t q = 0; q < g.count; q++) {
        std::vector<T> a = packed<T>(g.m, g.k, tf32, [&](int64_t row, int64_t i) { return g.a.get(q, row, i); });
        std::vector<T> b = packed<T>(g.n, g.k, tf32, [&](int64_t col, int64_t i) { return g.b.get(q, i, col); });
        for (int64_t j = 0; j < g.n; j++) {
            for (int64_t i = 0; i < g.m; i++) {
                T value = alpha * dot(a.data() + i * g.k, b.data() + j * g.k, g.k);
                // If beta is 0, the result is not read.
                if (beta != 0) value += beta * (T)g.c.get(q, i, j);
                g.c.set(q, i, j, value);
            }
        }
    }
}

int run(void *data, int device) {
    const Gemm &g = *(const Gemm *)data;
    const int ILLEGAL_ADDRESS = 700;
    if (g.workspace_bytes && !thorn_emu_reaches("the workspace of cuBLAS", device, g.workspace, g.workspace_bytes)) return ILLEGAL_ADDRESS;
    for (int64_t q = 0; q < g.count; q++) {
        bool reached = thorn_emu_reaches("A of cuBLAS", device, g.a.place(q), g.a.extent(g.m, g.k)) &&
                       thorn_emu_reaches("B of cuBLAS", device, g.b.place(q), g.b.extent(g.k, g.n)) &&
                       thorn_emu_reaches("C of cuBLAS", device, g.c.place(q), g.c.extent(g.m, g.n));
        if (!reached) return ILLEGAL_ADDRESS;
    }
    // Overwrites the workspace, so that another user of the workspace gets wrong values.
    if (g.workspace_bytes) memset((void *)g.workspace, 0xee, std::min(g.workspace_bytes, SCRIBBLED));
    g.compute == IN_F64 ? multiply<double>(g) : multiply<float>(g);
    return 0;
}

bool supported(int a, int b, int c, int compute) {
    if (compute == IN_F64) return a == F64 && b == F64 && c == F64;
    if (compute == IN_TF32) return a == F32 && b == F32 && c == F32;
    return compute == IN_F32 && a == b && (c == F32 || c == a) && (a == F32 || a == F16 || a == BF16);
}

double factor(const void *p, int compute) { return compute == IN_F64 ? *(const double *)p : *(const float *)p; }

Status enqueue(void *p, int op_a, int op_b, const void *alpha, const void *beta, Gemm g) {
    Use use(p);
    if (use.status) return use.status;
    if (op_a < 0 || op_a > 2 || op_b < 0 || op_b > 2 || !alpha || !beta) return INVALID_VALUE;
    if (!supported(g.a.type, g.b.type, g.c.type, g.compute)) return NOT_SUPPORTED;
    g.a.transposed = op_a != 0;
    g.b.transposed = op_b != 0;
    if (g.m < 0 || g.n < 0 || g.k < 0 || g.count < 0) return INVALID_VALUE;
    if (g.a.ld < std::max<int64_t>(1, op_a ? g.k : g.m) || g.b.ld < std::max<int64_t>(1, op_b ? g.n : g.k)) return INVALID_VALUE;
    if (g.c.ld < std::max<int64_t>(1, g.m)) return INVALID_VALUE;
    if (!g.m || !g.n || !g.count) return SUCCESS;
    for (const Matrix *t : {&g.a, &g.b, &g.c}) {
        if (!t->at || t->at % bytes_of(t->type)) return INVALID_VALUE;
    }
    g.alpha = factor(alpha, g.compute);
    g.beta = factor(beta, g.compute);
    g.workspace = use.handle->workspace;
    g.workspace_bytes = use.handle->workspace_bytes;
    int failed = thorn_emu_enqueue(use.handle->stream, run, new Gemm(g), [](void *data) { delete (Gemm *)data; });
    return failed ? EXECUTION_FAILED : SUCCESS;
}

} // namespace

API int cublasCreate_v2(void **out) {
    if (!out) return INVALID_VALUE;
    Handle *handle = new Handle;
    int failed = cuCtxGetDevice(&handle->device);
    if (failed || (failed = cuMemAlloc_v2(&handle->own, OWN_BYTES))) {
        delete handle;
        return failed == 2 ? ALLOC_FAILED : NOT_INITIALIZED;
    }
    std::lock_guard<std::mutex> guard(lock);
    handles.insert(handle);
    *out = handle;
    return SUCCESS;
}

API int cublasDestroy_v2(void *p) {
    Handle *handle = (Handle *)p;
    {
        std::lock_guard<std::mutex> guard(lock);
        if (!handles.erase(handle)) return NOT_INITIALIZED;
    }
    cuMemFree_v2(handle->own);
    delete handle;
    return SUCCESS;
}

// The property 0 is the major version, 1 the minor one, 2 the patch.
API int cublasGetProperty(int property, int *value) {
    if (!value || property < 0 || property > 2) return INVALID_VALUE;
    int numbers[3] = {0, 0, 0};
    version_of("THORN_EMU_CUBLAS", (void *)&cublasGetProperty, &numbers[0], &numbers[1]);
    *value = numbers[property];
    return SUCCESS;
}

API int cublasSetMathMode(void *p, int mode) {
    Use use(p);
    if (use.status) return use.status;
    return (mode & ~16) >= 0 && (mode & ~16) <= 3 ? SUCCESS : INVALID_VALUE;
}

// Resets the workspace, as cuBLAS does.
API int cublasSetStream_v2(void *p, void *stream) {
    Use use(p);
    if (use.status) return use.status;
    void *context = nullptr;
    if (cuStreamGetCtx(stream, &context)) return INVALID_VALUE;
    use.handle->stream = stream;
    use.handle->workspace = use.handle->workspace_bytes = 0;
    return SUCCESS;
}

API int cublasSetWorkspace_v2(void *p, void *workspace, size_t bytes) {
    Use use(p);
    if (use.status) return use.status;
    if ((uint64_t)workspace % WORKSPACE_ALIGN || (!workspace && bytes)) return INVALID_VALUE;
    use.handle->workspace = (uint64_t)workspace;
    use.handle->workspace_bytes = bytes;
    return SUCCESS;
}

API const char *cublasGetStatusName(int status) {
    switch (status) {
    case SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_UNKNOWN";
    }
}

API const char *cublasGetStatusString(int status) { return status ? "the emulated cuBLAS refuses it" : "success"; }

API int cublasGemmStridedBatchedEx_64(void *handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void *alpha, uint64_t a,
                                      int a_type, int64_t lda, long long a_apart, uint64_t b, int b_type, int64_t ldb, long long b_apart,
                                      const void *beta, uint64_t c, int c_type, int64_t ldc, long long c_apart, int64_t count,
                                      int compute, int) {
    Gemm g = {};
    g.m = m, g.n = n, g.k = k, g.count = count, g.compute = compute;
    g.a = {a, a_type, false, lda, a_apart};
    g.b = {b, b_type, false, ldb, b_apart};
    g.c = {c, c_type, false, ldc, c_apart};
    return enqueue(handle, op_a, op_b, alpha, beta, g);
}

API int cublasGemmEx_64(void *handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void *alpha, uint64_t a, int a_type,
                        int64_t lda, uint64_t b, int b_type, int64_t ldb, const void *beta, uint64_t c, int c_type, int64_t ldc,
                        int compute, int algorithm) {
    return cublasGemmStridedBatchedEx_64(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c, c_type, ldc, 0,
                                         1, compute, algorithm);
}
