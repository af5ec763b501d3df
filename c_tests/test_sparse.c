/*
 * Sparse tensors by example: entries and their positions, duplicate entries, dense dimensions, compressed rows, changes
 * of sizes and dimensions, and parts. test_sparse_math.c tests arithmetic.
 */
#include "sparse.h"

static void entries_are_given_by_their_positions(void) {
    THSTensor *s = example();
    CHECK_SIZES(s, 3, 4);
    CHECK_EQ(THSTensor_size(s, -1), 4);
    CHECK_EQ(THSTensor_nnz(s), 4);
    CHECK_EQ(THSTensor_sparseDim(s), 2);
    CHECK_EQ(THSTensor_denseDim(s), 0);
    CHECK_EQ(THSTensor_isCoalesced(s), 0);
    CHECK_EQ(THSTensor_isCompressed(s), 0);
    CHECK_EQ(THSTensor_dtype(s), TH_FLOAT64);
    /* Values of duplicate entries are summed. */
    CHECK_DENSE(s, EXAMPLE);
    CHECK_INDICES(s, 2, 0, 2, 2, 3, 1, 0, 3);
    CHECK_ENTRIES(s, 4, 2, 1, 1);
    THSTensor_free(s);
}

static void the_fields_may_be_read(void) {
    THSTensor *s = example(), *rows = example_by_rows();
    CHECK(s->size[0] == 3 && s->size[1] == 4 && s->nDimensionI == 2 && s->nDimensionV == 0 && s->nnz == 4);
    CHECK(s->coalesced == 0 && s->refcount == 1 && s->crow == NULL && s->col == NULL);
    CHECK_SHAPE(s->indices, 2, 4);
    CHECK_VALUES(s->values, 4, 2, 1, 1);
    CHECK(rows->indices == NULL && rows->nnz == 3);
    CHECK_VALUES(rows->crow, 0, 1, 1, 3);
    CHECK_VALUES(rows->col, 1, 0, 3);
    THSTensor_free(rows);
    THSTensor_free(s);
}

static void handles_are_counted(void) {
    THSTensor *s = example();
    THSTensor_retain(s);
    CHECK_EQ(s->refcount, 2);
    THSTensor_free(s);
    CHECK_EQ(s->refcount, 1);
    THSTensor_retain(NULL);
    THSTensor_free(NULL);
    THTensor *values = THSTensor_newValues(s);
    THSTensor_free(s);
    /* A part of a sparse tensor outlives the tensor. */
    CHECK_VALUES(values, 4, 2, 1, 1);
    THTensor_free(values);
}

/* A handle keeps references to positions and values, not copies. A clone has copies. */
static void values_are_shared(void) {
    THTensor *indices = POSITIONS(1, 0, 3), *values = vector_of(TH_FLOAT32, 1, 2);
    THSTensor *s = THSTensor_newWithTensor(indices, values), *second = THSTensor_newWithSparse(s),
              *clone = THSTensor_newClone(s);
    CHECK_SIZES(s, 4);
    CHECK_OK(THTensor_set1d(values, 1, 7));
    CHECK_DENSE(s, 1, 0, 0, 7);
    CHECK_DENSE(second, 1, 0, 0, 7);
    CHECK_DENSE(clone, 1, 0, 0, 2);
    CHECK(s->values == values && s->indices == indices);
    THSTensor_free(clone);
    THSTensor_free(second);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
}

static void sizes_are_the_least_that_hold_all_positions(void) {
    THTensor *indices = POSITIONS(2, 0, 4, 1, 6, 0, 2), *values = THTensor_newOnes(TH_INT32, SIZES(3, 2));
    THSTensor *s = THSTensor_newWithTensor(indices, values);
    CHECK_SIZES(s, 5, 7, 2);
    CHECK_EQ(THSTensor_sparseDim(s), 2);
    CHECK_EQ(THSTensor_denseDim(s), 1);
    THSTensor_free(s);
    THTensor_free(indices);
    THTensor_free(values);
}

/* An entry may have dense dimensions: here each entry is a row of two elements. */
static void entries_may_be_rows(void) {
    THTensor *indices = POSITIONS(1, 2, 0, 2), *values = matrix_of(TH_FLOAT32, 3, 1, 2, 3, 4, 5, 6);
    THSTensor *s = THSTensor_newWithTensorAndSize(indices, values, SIZES(4, 2)), *sorted = THSTensor_newCoalesce(s);
    CHECK_DENSE(s, 3, 4, 0, 0, 6, 8, 0, 0);
    CHECK_INDICES(sorted, 0, 2);
    CHECK_ENTRIES(sorted, 3, 4, 6, 8);
    CHECK_EQ(THSTensor_isCoalesced(sorted), 1);
    THSTensor_free(sorted);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
}

/* An entry without elements still counts as an entry. */
static void entries_may_have_no_elements(void) {
    THTensor *indices = POSITIONS(1, 1, 0, 1), *values = THTensor_newZeros(TH_FLOAT32, SIZES(3, 0));
    THSTensor *s = THSTensor_newWithTensor(indices, values), *r = THSTensor_newCoalesce(s);
    CHECK_SIZES(s, 2, 0);
    CHECK_INDICES(r, 0, 1);
    CHECK_OK(THSTensor_cadd(r, s, 2, r));
    CHECK_INDICES(r, 0, 1);
    CHECK_SHAPE(r->values, 2, 0);
    CHECK_NEAR(THSTensor_sumall(r), 0, 0);
    CHECK_OK(THSTensor_sum(r, s, SIZES(1)));
    CHECK_ENTRIES(r, 0, 0);
    THSTensor_free(r);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
}

static void a_dense_tensor_becomes_sparse(void) {
    THTensor *t = matrix_of(TH_INT64, 3, 0, 0, 0, 9, 0, 10, 0, 0, 0);
    THSTensor *all = THSTensor_newFromDense(t, -1), *rows = THSTensor_newFromDense(t, 1);
    CHECK_INDICES(all, 1, 1, 0, 2);
    CHECK_ENTRIES(all, 9, 10);
    CHECK_EQ(THSTensor_isCoalesced(all), 1);
    CHECK_INDICES(rows, 1);
    CHECK_ENTRIES(rows, 9, 0, 10);
    CHECK_EQ(THSTensor_denseDim(rows), 1);
    CHECK_FAILURE(THSTensor_newFromDense(t, 3) == NULL, TH_ERR_ARGUMENT, "3 sparse dimensions of 2");
    CHECK_FAILURE(THSTensor_newFromDense(t, 0) == NULL, TH_ERR_ARGUMENT, "0 sparse dimensions of 2");
    THSTensor_free(rows);
    THSTensor_free(all);
    /* A tensor without dimensions, and a tensor without elements. */
    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 3), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3));
    all = THSTensor_newFromDense(scalar, -1);
    rows = THSTensor_newFromDense(none, -1);
    CHECK_EQ(THSTensor_nDimension(all), 0);
    CHECK_ENTRIES(all, 3);
    CHECK_DENSE(all, 3);
    CHECK_EQ(THSTensor_nnz(rows), 0);
    CHECK_SIZES(rows, 0, 3);
    THSTensor_free(rows);
    THSTensor_free(all);
    THTensor_free(none);
    THTensor_free(scalar);
    THTensor_free(t);
}

static void a_sparse_tensor_may_be_empty(void) {
    THSTensor *s = THSTensor_newWithSize(TH_FLOAT32, SIZES(2, 3, 2), 2), *r = THSTensor_new();
    CHECK_EQ(THSTensor_nnz(s), 0);
    CHECK_EQ(THSTensor_denseDim(s), 1);
    CHECK_EQ(THSTensor_isCoalesced(s), 1);
    CHECK_DENSE(s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK_OK(THSTensor_cadd(r, s, 2, s));
    CHECK_EQ(THSTensor_nnz(r), 0);
    CHECK_OK(THSTensor_sum(r, s, SIZES(0)));
    CHECK_SIZES(r, 3, 2);
    CHECK_NEAR(THSTensor_sumall(s), 0, 0);
    CHECK_NEAR(THSTensor_normall(s, 2), 0, 0);
    CHECK_NEAR(THSTensor_normall(s, INFINITY), 0, 0);
    THSTensor_free(r);
    THSTensor_free(s);
    CHECK_FAILURE(THSTensor_newWithSize(TH_FLOAT32, SIZES(2, 3), 3) == NULL, TH_ERR_SHAPE,
                  "3 sparse dimensions of sizes [2, 3]");
    CHECK_FAILURE(THSTensor_newWithSize(TH_FLOAT32, SIZES(2, -3), 2) == NULL, TH_ERR_SHAPE, "[2, -3]");
    CHECK_FAILURE(THSTensor_newWithSize(TH_UNDEFINED, SIZES(2), 1) == NULL, TH_ERR_ARGUMENT, "no dtype of elements");
}

static void a_fresh_handle_has_no_elements(void) {
    THSTensor *s = THSTensor_new(), *r = THSTensor_new(), *other = example();
    CHECK_FAILURE(THSTensor_nnz(s) == -1, TH_ERR_DTYPE, "fresh handle");
    CHECK_FAILURE(THSTensor_dtype(s) == TH_UNDEFINED, TH_ERR_DTYPE, "fresh handle");
    CHECK_FAILURE(THSTensor_newDense(s) == NULL, TH_ERR_DTYPE, "fresh handle");
    CHECK_ERROR(THSTensor_neg(r, s), TH_ERR_DTYPE, "fresh handle");
    CHECK_ERROR(THSTensor_zero(s), TH_ERR_DTYPE, "fresh handle");
    CHECK_OK(THSTensor_copy(s, other));
    CHECK_DENSE(s, EXAMPLE);
    THSTensor_free(other);
    THSTensor_free(r);
    THSTensor_free(s);
}

/* ---- errors ---- */

#define CHECK_REFUSED(status, text, indices, values, ...)                                                              \
    do {                                                                                                               \
        THTensor *indices_ = indices, *values_ = values;                                                               \
        CHECK_FAILURE(THSTensor_newWithTensorAndSize(indices_, values_, SIZES(__VA_ARGS__)) == NULL, status, text);    \
        THTensor_free(indices_);                                                                                       \
        THTensor_free(values_);                                                                                        \
    } while (0)

static void positions_must_lie_inside(void) {
    CHECK_REFUSED(TH_ERR_ARGUMENT, "index -1 of dimension 1 is negative", POSITIONS(2, 0, 1, 0, -1),
                  vector_of(TH_INT8, 1, 2), 3, 3);
    CHECK_REFUSED(TH_ERR_ARGUMENT, "index 3 is out of range for size 3 of dimension 0", POSITIONS(2, 0, 3, 0, 1),
                  vector_of(TH_INT8, 1, 2), 3, 3);
    CHECK_REFUSED(TH_ERR_SHAPE, "values have shape [3] for 2 positions", POSITIONS(2, 0, 1, 0, 1),
                  vector_of(TH_INT8, 1, 2, 3), 3, 3);
    CHECK_REFUSED(TH_ERR_SHAPE, "sizes [3] for 2 sparse", POSITIONS(2, 0, 1, 0, 1), vector_of(TH_INT8, 1, 2), 3);
    CHECK_REFUSED(TH_ERR_SHAPE, "sizes [3, 3, 3] for 2 sparse", POSITIONS(2, 0, 1, 0, 1), vector_of(TH_INT8, 1, 2), 3,
                  3, 3);
    CHECK_REFUSED(TH_ERR_SHAPE, "sizes [3, -3]", POSITIONS(2, 0, 1, 0, 1), vector_of(TH_INT8, 1, 2), 3, -3);
    CHECK_REFUSED(TH_ERR_SHAPE, "a row for each sparse dimension", vector_of(TH_INT64, 0, 1), vector_of(TH_INT8, 1, 2),
                  3);
    CHECK_REFUSED(TH_ERR_DTYPE, "indices are int64 or int32, not float32", matrix_of(TH_FLOAT32, 1, 0, 1),
                  vector_of(TH_INT8, 1, 2), 3);
    CHECK_REFUSED(TH_ERR_DTYPE, "no dtype", POSITIONS(1, 0, 1), THTensor_new(), 3);
    THTensor *most = THTensor_newZeros(TH_INT64, SIZES(1, 1)), *one = vector_of(TH_INT8, 1);
    CHECK_OK(THTensor_setAtLong(most, 2, (int64_t[]){0, 0}, INT64_MAX));
    CHECK_FAILURE(THSTensor_newWithTensor(most, one) == NULL, TH_ERR_ARGUMENT, "out of range");
    THTensor_free(one);
    THTensor_free(most);
    /* Positions without entries use no memory, for any number of dimensions. */
    THTensor *wide = THTensor_newZeros(TH_INT64, SIZES((int64_t)1 << 40, 0)), *none = THTensor_newZeros(TH_INT8, SIZES(0));
    CHECK_FAILURE(THSTensor_newWithTensor(wide, none) == NULL, TH_ERR_SHAPE, "1099511627776 dimensions, at most 1024");
    THTensor_free(none);
    THTensor_free(wide);
}

static void int32_positions_are_copied(void) {
    THTensor *indices = matrix_of(TH_INT32, 2, 2, 0, 1, 1), *values = vector_of(TH_FLOAT32, 5, 6);
    THSTensor *s = THSTensor_newWithTensor(indices, values);
    CHECK_EQ(THTensor_dtype(s->indices), TH_INT64);
    CHECK_DENSE(s, 0, 6, 0, 0, 0, 5);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
}

/* All sizes together may be more than an int64 counts: SciPy has such matrices, too. */
static void sizes_may_be_huge(void) {
    const int64_t huge = (int64_t)1 << 40;
    THTensor *indices = POSITIONS(2, 5, 7, 9, 3), *values = vector_of(TH_FLOAT64, 1, 2);
    THSTensor *s = THSTensor_newWithTensorAndSize(indices, values, SIZES(huge, huge)), *r = THSTensor_new();
    CHECK_OK(THSTensor_mul(r, s, 3));
    CHECK_ENTRIES(r, 3, 6);
    CHECK_OK(THSTensor_transpose(r, s, 0, 1));
    CHECK_INDICES(r, 9, 3, 5, 7);
    CHECK_OK(THSTensor_select(r, s, 0, 7));
    CHECK_INDICES(r, 3);
    CHECK_OK(THSTensor_sum(r, s, SIZES(0)));
    CHECK_INDICES(r, 3, 9);
    CHECK_FAILURE(THSTensor_newDense(s) == NULL, TH_ERR_SHAPE, "overflow");
    CHECK_INDICES(r, 3, 9);
    CHECK_OK(THSTensor_coalesce(r, s));
    CHECK_INDICES(r, 5, 7, 9, 3);
    CHECK_OK(THSTensor_abs(r, s));
    CHECK_ENTRIES(r, 1, 2);
    CHECK_OK(THSTensor_cadd(r, s, 3, s));
    CHECK_ENTRIES(r, 4, 8);
    CHECK_OK(THSTensor_cmul(r, s, s));
    CHECK_INDICES(r, 5, 7, 9, 3);
    CHECK_ENTRIES(r, 1, 4);
    THSTensor_free(s);
    /* Positions in no order and twice, in four dimensions, of which any two together are beyond 2^63. */
    const int64_t last = INT64_MAX - 1, places[] = {last, 0, last, 0, last, 1, last, last, 0, last, 0, 5, last, 0, last, 0, 1, 2, 1, 2};
    THTensor *four = THTensor_newFromData(TH_INT64, SIZES(4, 5), places), *numbers = vector_of(TH_FLOAT64, 1, 2, 3, 4, 5);
    s = THSTensor_newWithTensorAndSize(four, numbers, SIZES(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX));
    CHECK_OK(THSTensor_coalesce(r, s));
    CHECK_ENTRIES(r, 4, 2, 1, 3 + 5);
    THTensor *ordered = THSTensor_newIndices(r);
    CHECK_EQ(THTensor_getAtLong(ordered, SIZES(0, 2)), last);
    CHECK_EQ(THTensor_getAtLong(ordered, SIZES(1, 1)), last);
    CHECK_OK(THSTensor_cmul(r, r, s));
    CHECK_ENTRIES(r, 16, 4, 1, 64);
    THTensor_free(ordered);
    THTensor_free(four);
    THTensor_free(numbers);
    THSTensor_free(r);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
}

/* Positions beyond 2^53, which doubles do not represent exactly. */
static void positions_are_exact(void) {
    const int64_t gap = ((int64_t)1 << 54) + 1, at[] = {0, 1, 0, gap - 1, gap - 2, 0, 1, 1, 1, gap - 2, 0, gap - 1};
    THTensor *indices = THTensor_newFromData(TH_INT64, SIZES(2, 6), at),
             *values = vector_of(TH_FLOAT64, 1, 2, 3, 4, 5, 6);
    THSTensor *r = THSTensor_new();
    THSTensor *s = THSTensor_newWithTensor(indices, values);
    CHECK_SIZES(s, gap, gap);
    CHECK_OK(THSTensor_select(r, s, 0, gap - 2));
    CHECK_ENTRIES(r, 5);
    CHECK_OK(THSTensor_narrow(r, s, 0, gap - 2, 1));
    CHECK_ENTRIES(r, 5);
    CHECK_EQ(THTensor_getAtLong(r->indices, 2, (int64_t[]){0, 0}), 0);
    CHECK_OK(THSTensor_narrow(r, s, 1, gap - 2, 2));
    CHECK_ENTRIES(r, 4, 6);
    CHECK_VALUES(r->indices, (double)(gap - 1), 0, 0, 1);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);

    /* The row-major number of a position is exact, too: (0, 2^54) and (1, 0) are neighbours. */
    const int64_t near[] = {1, 0, 1, 0, gap - 1, 1};
    indices = THTensor_newFromData(TH_INT64, SIZES(2, 3), near);
    values = vector_of(TH_FLOAT64, 1, 2, 3);
    s = THSTensor_newWithTensorAndSize(indices, values, SIZES(2, gap));
    CHECK_OK(THSTensor_coalesce(r, s));
    CHECK_ENTRIES(r, 2, 1, 3);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(indices);
    THSTensor_free(r);
}

/* Fields are open: a program that changes them gets an error instead of a crash. */
static void changed_fields_are_noticed(void) {
    THSTensor *s = example(), *r = THSTensor_new();
    s->nDimensionI = 7;
    CHECK_ERROR(THSTensor_neg(r, s), TH_ERR_SHAPE, "7 sparse");
    s->nDimensionI = -1;
    CHECK_ERROR(THSTensor_neg(r, s), TH_ERR_SHAPE, "sparse");
    s->nDimensionI = 2;
    CHECK_OK(THSTensor_neg(r, s));

    /* Positions that were changed to lie outside. */
    CHECK_OK(THTensor_set2d(s->indices, 0, 0, 1000));
    CHECK_FAILURE(THSTensor_newDense(s) == NULL, TH_ERR_ARGUMENT, "out of range");
    CHECK_OK(THTensor_set2d(s->indices, 0, 0, -1000));
    CHECK_FAILURE(THSTensor_newDense(s) == NULL, TH_ERR_ARGUMENT, "is negative");
    CHECK_OK(THTensor_set2d(s->indices, 0, 0, 2));

    CHECK_OK(THTensor_resize1d(s->values, 2));
    CHECK_FAILURE(THSTensor_newDense(s) == NULL, TH_ERR_SHAPE, "indices have shape [2, 4], expected [2, 2]");
    THTensor_free(s->values);
    s->values = NULL;
    CHECK_FAILURE(THSTensor_newDense(s) == NULL, TH_ERR_SHAPE, "positions and no values");
    CHECK_OK(THSTensor_copy(s, r));
    CHECK_ENTRIES(s, -4, -2, -1, -1);
    THSTensor_free(r);
    THSTensor_free(s);
}

/* ---- forms ---- */

static void coalescing_sorts_and_sums(void) {
    THSTensor *s = example(), *r = THSTensor_newCoalesce(s), *again = THSTensor_newCoalesce(r);
    CHECK_EQ(THSTensor_nnz(r), 3);
    CHECK_EQ(THSTensor_isCoalesced(r), 1);
    CHECK_INDICES(r, 0, 2, 2, 1, 0, 3);
    CHECK_ENTRIES(r, 2, 1, 5);
    /* A coalesced tensor is shared. */
    CHECK(again->values == r->values && again->indices == r->indices);
    CHECK_OK(THSTensor_coalesce(s, s));
    CHECK_ENTRIES(s, 2, 1, 5);
    THSTensor_free(again);
    THSTensor_free(r);
    THSTensor_free(s);
}

static void sums_for_one_position_stay_in_the_dtype(void) {
    for (int k = 0; k < DTYPES; k++) {
        THSTensor *s = coordinates(POSITIONS(2, 1, 0, 1, 1, 0, 1), vector_of(dtypes[k], 1, 1, 1), 2, 2),
                  *r = THSTensor_newCoalesce(s);
        CHECK_EQ(THSTensor_dtype(r), dtypes[k]);
        CHECK_INDICES(r, 0, 1, 0, 1);
        CHECK_ENTRIES(r, 1, dtypes[k] == TH_BOOL ? 1 : 2);
        CHECK_DENSE(s, 1, 0, 0, dtypes[k] == TH_BOOL ? 1 : 2);
        THSTensor_free(r);
        THSTensor_free(s);
    }
}

static void values_may_lie_anyhow(void) {
    THTensor *whole = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *column, *one = THTensor_newScalar(TH_FLOAT32, 2);
    THTensor *indices = POSITIONS(3, 1, 0, 0, 1, 1, 0), *turned = THTensor_newTranspose(indices, 0, 1);
    column = THTensor_newSelect(whole, 1, 1);
    THSTensor *s = THSTensor_newWithTensorAndSize(turned, column, SIZES(2, 2, 2));
    CHECK(s == NULL);
    THTensor_free(turned);
    THTensor_free(indices);
    indices = POSITIONS(2, 1, 0, 0, 1);
    turned = THTensor_newTranspose(indices, 0, 1);
    s = THSTensor_newWithTensorAndSize(turned, column, SIZES(2, 2));
    CHECK_DENSE(s, 0, 5, 2, 0);
    THSTensor_free(s);
    /* All entries may share one element. */
    THTensor *all = THTensor_newExpand(one, SIZES(2));
    s = THSTensor_newWithTensorAndSize(turned, all, SIZES(2, 2));
    THSTensor *r = THSTensor_newCoalesce(s);
    CHECK_DENSE(s, 0, 2, 2, 0);
    CHECK_ENTRIES(r, 2, 2);
    THSTensor_free(r);
    THSTensor_free(s);
    THTensor_free(all);
    THTensor_free(turned);
    THTensor_free(indices);
    THTensor_free(one);
    THTensor_free(column);
    THTensor_free(whole);
}

static void a_matrix_may_be_compressed_by_rows(void) {
    THSTensor *s = example(), *rows = THSTensor_newCompressed(s), *back = THSTensor_newCoordinates(rows);
    CHECK_EQ(THSTensor_isCompressed(rows), 1);
    CHECK_PART(THSTensor_newCrow(rows), 0, 1, 1, 3);
    CHECK_PART(THSTensor_newCol(rows), 1, 0, 3);
    CHECK_ENTRIES(rows, 2, 1, 5);
    CHECK_EQ(THTensor_dtype(rows->crow), TH_INT32);
    CHECK_DENSE(rows, EXAMPLE);
    CHECK_INDICES(rows, 0, 2, 2, 1, 0, 3);
    CHECK_EQ(THSTensor_isCompressed(back), 0);
    CHECK_DENSE(back, EXAMPLE);
    CHECK_FAILURE(THSTensor_newCrow(s) == NULL, TH_ERR_ARGUMENT, "no starts of rows");
    CHECK_FAILURE(THSTensor_newCol(s) == NULL, TH_ERR_ARGUMENT, "no columns");
    THSTensor_free(back);
    THSTensor_free(rows);
    THSTensor_free(s);
    s = THSTensor_newWithSize(TH_FLOAT32, SIZES(2, 3), 1);
    CHECK_FAILURE(THSTensor_newCompressed(s) == NULL, TH_ERR_SHAPE,
                  "1 sparse and 1 dense dimensions, expected a matrix");
    THSTensor_free(s);
}

/* Row starts, columns and values of SciPy's csr_matrix, as int32 or int64, in any order within a row. */
static void compressed_rows_come_from_three_vectors(void) {
    THSTensor *s = example_by_rows();
    CHECK_EQ(THSTensor_isCoalesced(s), 0);
    CHECK_DENSE(s, EXAMPLE);
    THSTensor_free(s);
    THTensor *crow = vector_of(TH_INT64, 0, 3, 3), *col = vector_of(TH_INT32, 2, 0, 2),
             *values = vector_of(TH_FLOAT32, 1, 2, 3);
    s = THSTensor_newCsr(crow, col, values, 2, 3);
    CHECK_DENSE(s, 2, 0, 4, 0, 0, 0);
    THSTensor *r = THSTensor_newCoalesce(s);
    CHECK_INDICES(r, 0, 0, 0, 2);
    CHECK_ENTRIES(r, 2, 4);
    THSTensor_free(r);
    THSTensor_free(s);
    THTensor_free(values);
    THTensor_free(col);
    THTensor_free(crow);
}

#define CHECK_ROWS_REFUSED(status, text, crow, col, values, rows, columns)                                             \
    do {                                                                                                               \
        THTensor *crow_ = crow, *col_ = col, *values_ = values;                                                        \
        CHECK_FAILURE(THSTensor_newCsr(crow_, col_, values_, rows, columns) == NULL, status, text);                    \
        THTensor_free(crow_);                                                                                          \
        THTensor_free(col_);                                                                                           \
        THTensor_free(values_);                                                                                        \
    } while (0)

static void rows_must_follow_each_other(void) {
    CHECK_ROWS_REFUSED(TH_ERR_ARGUMENT, "ascend", vector_of(TH_INT64, 0, 2, 1, 2), vector_of(TH_INT64, 0, 1),
                       vector_of(TH_INT8, 1, 2), 3, 3);
    CHECK_ROWS_REFUSED(TH_ERR_ARGUMENT, "ascend", vector_of(TH_INT64, 1, 2), vector_of(TH_INT64, 0, 1),
                       vector_of(TH_INT8, 1, 2), 1, 3);
    CHECK_ROWS_REFUSED(TH_ERR_ARGUMENT, "number of entries, 2", vector_of(TH_INT32, 0, 3), vector_of(TH_INT64, 0, 1),
                       vector_of(TH_INT8, 1, 2), 1, 3);
    CHECK_ROWS_REFUSED(TH_ERR_ARGUMENT, "column 3 is out of range", vector_of(TH_INT32, 0, 2),
                       vector_of(TH_INT64, 0, 3), vector_of(TH_INT8, 1, 2), 1, 3);
    CHECK_ROWS_REFUSED(TH_ERR_ARGUMENT, "column -1 is out of range", vector_of(TH_INT32, 0, 2),
                       vector_of(TH_INT64, 0, -1), vector_of(TH_INT8, 1, 2), 1, 3);
    CHECK_ROWS_REFUSED(TH_ERR_SHAPE, "crow [2]", vector_of(TH_INT32, 0, 2), vector_of(TH_INT64, 0, 1),
                       vector_of(TH_INT8, 1, 2), 2, 3);
    CHECK_ROWS_REFUSED(TH_ERR_SHAPE, "expected a vector", vector_of(TH_INT32, 0, 2), vector_of(TH_INT64, 0, 1),
                       matrix_of(TH_INT8, 1, 1, 2), 1, 3);
    CHECK_ROWS_REFUSED(TH_ERR_DTYPE, "'col' is int64 or int32, not float32", vector_of(TH_INT32, 0, 2),
                       vector_of(TH_FLOAT32, 0, 1), vector_of(TH_INT8, 1, 2), 1, 3);
    CHECK_ROWS_REFUSED(TH_ERR_ARGUMENT, "-1 rows", vector_of(TH_INT32, 0, 2), vector_of(TH_INT64, 0, 1),
                       vector_of(TH_INT8, 1, 2), -1, 3);
}

/* ---- shapes ---- */

static void sizes_may_grow(void) {
    THSTensor *s = example(), *other = THSTensor_newWithSize(TH_INT8, SIZES(6, 7), 2);
    CHECK_OK(THSTensor_resize(s, SIZES(5, 4), 2));
    CHECK_SIZES(s, 5, 4);
    CHECK_EQ(THSTensor_nnz(s), 4);
    CHECK_ERROR(THSTensor_resize(s, SIZES(2, 4), 2), TH_ERR_SHAPE, "sparse sizes may grow");
    CHECK_ERROR(THSTensor_resize(s, SIZES(5, 4), 1), TH_ERR_SHAPE, "sparse sizes may grow");
    CHECK_ERROR(THSTensor_resize(s, SIZES(5, -4), 2), TH_ERR_SHAPE, "[5, -4]");
    CHECK_SIZES(s, 5, 4);
    CHECK_OK(THSTensor_resizeAs(s, other));
    CHECK_SIZES(s, 6, 7);
    CHECK_EQ(THSTensor_dtype(s), TH_FLOAT64);
    /* Without entries nothing is kept. */
    CHECK_OK(THSTensor_zero(s));
    CHECK_SIZES(s, 6, 7);
    CHECK_EQ(THSTensor_nnz(s), 0);
    CHECK_OK(THSTensor_resize(s, SIZES(2), 1));
    CHECK_SIZES(s, 2);
    CHECK_EQ(THSTensor_dtype(s), TH_FLOAT64);
    THSTensor_free(other);
    THSTensor_free(s);
}

static void dimensions_are_exchanged(void) {
    THSTensor *s = example(), *r = THSTensor_new();
    CHECK_OK(THSTensor_transpose(r, s, 0, 1));
    CHECK_SIZES(r, 4, 3);
    CHECK_DENSE(r, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 5);
    CHECK_OK(THSTensor_transpose(r, r, -1, -2));
    CHECK_DENSE(r, EXAMPLE);
    CHECK_ERROR(THSTensor_transpose(r, s, 0, 2), TH_ERR_ARGUMENT, "dimension 2 out of range");
    THSTensor_free(s);
    /* A view along dense dimensions shares the values. */
    THTensor *indices = POSITIONS(1, 1), *values = THTensor_newZeros(TH_INT8, SIZES(1, 2, 3));
    CHECK_OK(THTensor_set3d(values, 0, 0, 2, 5));
    s = THSTensor_newWithTensor(indices, values);
    CHECK_OK(THSTensor_transpose(r, s, 1, 2));
    CHECK_SIZES(r, 2, 3, 2);
    CHECK_DENSE(r, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0);
    CHECK_ERROR(THSTensor_transpose(r, s, 0, 1), TH_ERR_ARGUMENT, "one is sparse and one is dense");
    THTensor_free(values);
    THTensor_free(indices);
    THSTensor_free(r);
    THSTensor_free(s);
}

static void parts_are_selected(void) {
    THSTensor *s = example(), *r = THSTensor_new();
    CHECK_OK(THSTensor_select(r, s, 0, 2));
    CHECK_SIZES(r, 4);
    CHECK_DENSE(r, 1, 0, 0, 5);
    CHECK_OK(THSTensor_select(r, s, 1, -1));
    CHECK_DENSE(r, 0, 0, 5);
    CHECK_OK(THSTensor_select(r, r, 0, 2));
    CHECK_EQ(THSTensor_nDimension(r), 0);
    CHECK_DENSE(r, 5);
    CHECK_ERROR(THSTensor_select(r, s, 0, 3), TH_ERR_ARGUMENT, "index 3 is out of range for size 3 of dimension 0");
    CHECK_ERROR(THSTensor_select(r, s, 5, 0), TH_ERR_ARGUMENT, "dimension 5 out of range");
    CHECK_OK(THSTensor_narrow(r, s, 1, 1, 3));
    CHECK_SIZES(r, 3, 3);
    CHECK_DENSE(r, 2, 0, 0, 0, 0, 0, 0, 0, 5);
    CHECK_OK(THSTensor_narrow(r, s, 0, 3, 0));
    CHECK_SIZES(r, 0, 4);
    CHECK_ERROR(THSTensor_narrow(r, s, 0, 2, 2), TH_ERR_ARGUMENT, "start 2 + length 2 exceeds size 3 of dimension 0");
    CHECK_ERROR(THSTensor_narrow(r, s, 0, -1, 2), TH_ERR_ARGUMENT, "start -1");
    CHECK_ERROR(THSTensor_narrow(r, s, 0, 1, INT64_MAX), TH_ERR_ARGUMENT, "exceeds size 3");
    THSTensor_free(r);
    THSTensor_free(s);
}

static void tensors_are_joined(void) {
    THSTensor *s = example(), *rows = example_by_rows(), *r = THSTensor_new();
    THSTensor *const both[] = {s, rows};
    CHECK_OK(THSTensor_cat(r, both, 2, 0));
    CHECK_SIZES(r, 6, 4);
    CHECK_DENSE(r, EXAMPLE, EXAMPLE);
    CHECK_OK(THSTensor_cat(r, both, 2, -1));
    CHECK_SIZES(r, 3, 8);
    CHECK_DENSE(r, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 5, 1, 0, 0, 5);
    THSTensor *const wrong[] = {s, r};
    CHECK_ERROR(THSTensor_cat(r, wrong, 2, 0), TH_ERR_SHAPE, "tensor 1 has sizes [3, 8], tensor 0 [3, 4]");
    CHECK_ERROR(THSTensor_cat(r, both, 0, 0), TH_ERR_ARGUMENT, "at least one");
    CHECK_ERROR(THSTensor_cat(r, both, 2, 2), TH_ERR_ARGUMENT, "dimension 2 out of range");
    THSTensor *const missing[] = {s, NULL};
    CHECK_ERROR(THSTensor_cat(r, missing, 2, 0), TH_ERR_ARGUMENT, "NULL");
    THSTensor_free(rows);
    THSTensor_free(s);

    /* Along a dense dimension, each entry is padded with zeros at the positions of the other tensor. */
    THTensor *indices = POSITIONS(1, 1), *values = matrix_of(TH_FLOAT32, 1, 1, 2);
    s = THSTensor_newWithTensor(indices, values);
    CHECK_OK(THSTensor_cat(r, (THSTensor *const[]){s, s}, 2, 1));
    CHECK_SIZES(r, 2, 4);
    CHECK_DENSE(r, 0, 0, 0, 0, 1, 2, 1, 2);
    THTensor_free(values);
    THTensor_free(indices);
    THSTensor_free(s);
    THSTensor_free(r);
}

static void the_layout_of_a_text_is_pytorchs(void) {
    THSTensor *s = example(), *rows = example_by_rows();
    char *text = THSTensor_toString(s, NULL);
    CHECK_STR(text, "tensor(indices=tensor([[2, 0, 2, 2],\n"
                    "                       [3, 1, 0, 3]]),\n"
                    "       values=tensor([4., 2., 1., 1.]),\n"
                    "       size=(3, 4), nnz=4, dtype=torch.float64, layout=torch.sparse_coo)");
    THFree(text);
    text = THSTensor_toString(rows, NULL);
    CHECK_STR(text, "tensor(crow_indices=tensor([0, 1, 1, 3]),\n"
                    "       col_indices=tensor([1, 0, 3]),\n"
                    "       values=tensor([2., 1., 5.]), size=(3, 4), nnz=3, dtype=torch.float64,\n"
                    "       layout=torch.sparse_csr)");
    THFree(text);
    FILE *file = tmpfile();
    char line[200];
    CHECK_OK(THSTensor_fprint(file, s, NULL));
    rewind(file);
    CHECK(fgets(line, sizeof line, file) && strcmp(line, "tensor(indices=tensor([[2, 0, 2, 2],\n") == 0);
    fclose(file);
    CHECK_ERROR(THSTensor_print(NULL), TH_ERR_ARGUMENT, "argument 's' is NULL");
    THSTensor_free(rows);
    THSTensor_free(s);
}

static void null_is_refused(void) {
    THSTensor *s = example();
    CHECK_ERROR(THSTensor_neg(NULL, s), TH_ERR_ARGUMENT, "argument 'r' is NULL");
    CHECK_ERROR(THSTensor_neg(s, NULL), TH_ERR_ARGUMENT, "argument 's' is NULL");
    CHECK_FAILURE(THSTensor_newCsr(NULL, NULL, NULL, 0, 0) == NULL, TH_ERR_ARGUMENT, "argument 'crow' is NULL");
    CHECK_DENSE(s, EXAMPLE);
    THSTensor_free(s);
}

CHECK_MAIN(CASE(entries_are_given_by_their_positions), CASE(the_fields_may_be_read), CASE(handles_are_counted),
           CASE(values_are_shared), CASE(sizes_are_the_least_that_hold_all_positions), CASE(entries_may_be_rows),
           CASE(entries_may_have_no_elements), CASE(a_dense_tensor_becomes_sparse), CASE(a_sparse_tensor_may_be_empty),
           CASE(a_fresh_handle_has_no_elements), CASE(positions_must_lie_inside), CASE(int32_positions_are_copied),
           CASE(sizes_may_be_huge), CASE(positions_are_exact), CASE(changed_fields_are_noticed),
           CASE(coalescing_sorts_and_sums), CASE(sums_for_one_position_stay_in_the_dtype), CASE(values_may_lie_anyhow),
           CASE(a_matrix_may_be_compressed_by_rows), CASE(compressed_rows_come_from_three_vectors),
           CASE(rows_must_follow_each_other), CASE(sizes_may_grow), CASE(dimensions_are_exchanged),
           CASE(parts_are_selected), CASE(tensors_are_joined), CASE(the_layout_of_a_text_is_pytorchs),
           CASE(null_is_refused))
