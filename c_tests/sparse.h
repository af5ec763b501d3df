/* Two sparse matrices for tests, and checks of sparse tensors. */

#ifndef THORN_TESTS_SPARSE_H
#define THORN_TESTS_SPARSE_H

#include "check.h"

/* Positions: a matrix with one row for each sparse dimension. */
#define POSITIONS(rows, ...) matrix_of(TH_INT64, rows, __VA_ARGS__)

/* Makes a sparse matrix of these positions and values, and takes over both references. */
static inline THSTensor *coordinates(THTensor *indices, THTensor *values, int64_t rows, int64_t columns) {
    THSTensor *s = THSTensor_newWithTensorAndSize(indices, values, SIZES(rows, columns));
    CHECK(s != NULL);
    THTensor_free(indices);
    THTensor_free(values);
    return s;
}

/*
 * 0 2 0 0
 * 0 0 0 0    The entries are in no order, and the 5 is 4 + 1.
 * 1 0 0 5
 */
static inline THSTensor *example(void) {
    return coordinates(POSITIONS(2, 2, 0, 2, 2, 3, 1, 0, 3), vector_of(TH_FLOAT64, 4, 2, 1, 1), 3, 4);
}

/* The same matrix, compressed by rows. */
static inline THSTensor *example_by_rows(void) {
    THTensor *crow = vector_of(TH_INT32, 0, 1, 1, 3), *col = vector_of(TH_INT32, 1, 0, 3),
             *values = vector_of(TH_FLOAT64, 2, 1, 5);
    THSTensor *s = THSTensor_newCsr(crow, col, values, 3, 4);
    CHECK(s != NULL);
    THTensor_free(crow);
    THTensor_free(col);
    THTensor_free(values);
    return s;
}

#define EXAMPLE 0, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 5

/* Positions and values of a sparse tensor, and all of its elements. */
#define CHECK_INDICES(s, ...) CHECK_PART(THSTensor_newIndices(s), __VA_ARGS__)
#define CHECK_ENTRIES(s, ...) CHECK_PART(THSTensor_newValues(s), __VA_ARGS__)
#define CHECK_DENSE(s, ...) CHECK_PART(THSTensor_newDense(s), __VA_ARGS__)
#define CHECK_PART(call, ...)                                                                                          \
    do {                                                                                                               \
        THTensor *part_ = call;                                                                                        \
        if (CHECK(part_ != NULL)) CHECK_VALUES(part_, __VA_ARGS__);                                                    \
        THTensor_free(part_);                                                                                          \
    } while (0)

/* The sizes of a sparse tensor. */
#define CHECK_SIZES(s, ...) check_sizes(s, CHECK_COUNTED(int64_t, __VA_ARGS__), __LINE__)

static inline void check_sizes(const THSTensor *s, const int64_t *size, int ndim, int line) {
    check_eq(THSTensor_nDimension(s), ndim, __FILE__, line, "dimensions");
    for (int d = 0; d < ndim; d++) check_eq(THSTensor_size(s, d), size[d], __FILE__, line, "size");
}

#endif
