/* A BLAS of a few lines that counts its calls. Integers have 32 bits, or 64 bits if WIDE is defined. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef WIDE
typedef int64_t integer;
#define NAME(name) name##_64_
#else
typedef int32_t integer;
#define NAME(name) name##_
#endif

/* The number of calls of each routine. */
int gemm_calls, gemv_calls, potrf_calls;

integer NAME(isamax)(const integer *n, const float *x, const integer *step);

integer NAME(isamax)(const integer *n, const float *x, const integer *step) {
    integer best = 0;
    for (integer i = 0; i < *n; i++) {
        if (!best || fabsf(x[i * *step]) > fabsf(x[(best - 1) * *step])) best = i + 1;
    }
    return best;
}

#define ROUTINES(T, gemm, gemv, potrf)                                                                                 \
    void NAME(gemm)(const char *ta, const char *tb, const integer *m, const integer *n, const integer *k,              \
                    const T *alpha, const T *a, const integer *lda, const T *b, const integer *ldb, const T *beta,     \
                    T *c, const integer *ldc, size_t la, size_t lb);                                                   \
    void NAME(gemm)(const char *ta, const char *tb, const integer *m, const integer *n, const integer *k,              \
                    const T *alpha, const T *a, const integer *lda, const T *b, const integer *ldb, const T *beta,     \
                    T *c, const integer *ldc, size_t la, size_t lb) {                                                  \
        gemm_calls += la == 1 && lb == 1;                                                                              \
        for (integer i = 0; i < *m; i++) {                                                                             \
            for (integer j = 0; j < *n; j++) {                                                                         \
                T sum = 0, *to = &c[i + j * *ldc];                                                                     \
                for (integer l = 0; l < *k; l++) {                                                                     \
                    sum += (*ta == 'T' ? a[l + i * *lda] : a[i + l * *lda]) *                                          \
                           (*tb == 'T' ? b[j + l * *ldb] : b[l + j * *ldb]);                                           \
                }                                                                                                      \
                *to = *beta == 0 ? *alpha * sum : *beta * *to + *alpha * sum;                                          \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    void NAME(gemv)(const char *ta, const integer *m, const integer *n, const T *alpha, const T *a,                    \
                    const integer *lda, const T *x, const integer *incx, const T *beta, T *y, const integer *incy,     \
                    size_t la);                                                                                        \
    void NAME(gemv)(const char *ta, const integer *m, const integer *n, const T *alpha, const T *a,                    \
                    const integer *lda, const T *x, const integer *incx, const T *beta, T *y, const integer *incy,     \
                    size_t la) {                                                                                       \
        gemv_calls += la == 1;                                                                                         \
        integer rows = *ta == 'T' ? *n : *m, cols = *ta == 'T' ? *m : *n;                                              \
        for (integer i = 0; i < rows; i++) {                                                                           \
            T sum = 0;                                                                                                 \
            for (integer j = 0; j < cols; j++) {                                                                       \
                sum += (*ta == 'T' ? a[j + i * *lda] : a[i + j * *lda]) * x[j * *incx];                                \
            }                                                                                                          \
            /* As in some BLAS libraries: NaN times 0 is NaN. */                                                       \
            y[i * *incy] = *beta * y[i * *incy] + *alpha * sum;                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    void NAME(potrf)(const char *uplo, const integer *n, T *a, const integer *lda, integer *info, size_t lu);          \
    void NAME(potrf)(const char *uplo, const integer *n, T *a, const integer *lda, integer *info, size_t lu) {         \
        potrf_calls += *uplo == 'L' && lu == 1;                                                                        \
        *info = 0;                                                                                                     \
        for (integer j = 0; j < *n && !*info; j++) {                                                                   \
            for (integer i = j; i < *n; i++) {                                                                         \
                T sum = a[i + j * *lda];                                                                               \
                for (integer l = 0; l < j; l++) sum -= a[i + l * *lda] * a[j + l * *lda];                              \
                if (i == j && !(sum > 0)) *info = j + 1;                                                               \
                a[i + j * *lda] = i == j ? (T)sqrt((double)sum) : sum / a[j + j * *lda];                               \
            }                                                                                                          \
        }                                                                                                              \
    }

ROUTINES(float, sgemm, sgemv, spotrf)
ROUTINES(double, dgemm, dgemv, dpotrf)
