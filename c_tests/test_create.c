/* Tensors made from numbers: constants, progressions, diagonals, triangles, grids. The expected values are PyTorch's and NumPy's. */

#include "check.h"

#include <float.h>

#define FRESH THTensor_new()

static void constants_take_shapes_and_dtypes(void) {
    THTensor *r = FRESH, *like = THTensor_newZeros(TH_INT16, SIZES(2, 3));
    CHECK_OK(THTensor_zeros(r, SIZES(2, 2)));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 0, 0, 0, 0);
    CHECK_OK(THTensor_onesLike(r, like));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 1, 1, 1, 1, 1, 1);
    THTensor_free(r);

    r = FRESH;
    CHECK_OK(THTensor_fullLike(r, like, 7));
    CHECK_EQ(THTensor_dtype(r), TH_INT16);
    CHECK_VALUES(r, 7, 7, 7, 7, 7, 7);
    CHECK_OK(THTensor_zerosLike(r, r));
    CHECK_VALUES(r, 0, 0, 0, 0, 0, 0);
    CHECK_OK(THTensor_full(r, SIZES(2), 2.5));
    CHECK_VALUES(r, 2, 2);
    CHECK_ERROR(THTensor_ones(r, SIZES(2, -1)), TH_ERR_SHAPE, "-1");
    CHECK_ERROR(THTensor_ones(r, SIZES(INT64_MAX, 4)), TH_ERR_SHAPE, "overflows");
    CHECK_SHAPE(r, 2);
    THTensor_free(r);
    THTensor_free(like);

    r = FRESH;
    CHECK_OK(THTensor_full(r, SIZES(1), 2));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 2);
    THTensor_free(r);
}

static void transposed_likes_keep_their_strides(void) {
    THTensor *r = FRESH, *like = zeros_laid_out(TH_FLOAT64, 2, 3, TRANSPOSED);
    CHECK_OK(THTensor_onesLike(r, like));
    CHECK_STRIDES(r, 1, 2);
    CHECK_VALUES(r, 1, 1, 1, 1, 1, 1);
    THTensor_free(r);
    THTensor_free(like);
}

static void arange_stops_before_the_end(void) {
    THTensor *r = FRESH;
    CHECK_OK(THTensor_arange(r, 0, 5, 2));
    CHECK_EQ(THTensor_dtype(r), TH_INT64);
    CHECK_VALUES(r, 0, 2, 4);
    CHECK_OK(THTensor_arange(r, 5, 0, -2));
    CHECK_VALUES(r, 5, 3, 1);
    CHECK_OK(THTensor_arange(r, 5, 5, 1));
    CHECK_EQ(THTensor_nElement(r), 0);
    CHECK_ERROR(THTensor_arange(r, 0, 5, 0.5), TH_ERR_DTYPE, "int64");
    THTensor_free(r);

    r = FRESH;
    CHECK_OK(THTensor_arange(r, 1, 2.5, 0.5));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 1, 1.5, 2);
    CHECK_OK(THTensor_arange(r, 0, 1, 0.1));
    CHECK_EQ(THTensor_nElement(r), 10);
    CHECK_CLOSE(r, 1e-7, 0, .1, .2, .3, .4, .5, .6, .7, .8, .9);
    CHECK_OK(THTensor_resize2d(r, 2, 2));
    CHECK_OK(THTensor_arange(r, 0, 4, 1));
    CHECK_SHAPE(r, 2, 2);
    CHECK_VALUES(r, 0, 1, 2, 3);
    THTensor_free(r);
}

static void progressions_fill_every_dtype_and_layout(void) {
    for (int k = 0; k < DTYPES - 1; k++) {
        for (enum layout layout = 0; layout < LAYOUTS; layout++) {
            THTensor *r = zeros_laid_out(dtypes[k], 2, 3, layout);
            CHECK_OK(THTensor_arange(r, 10, 4, -1));
            CHECK_VALUES(r, 10, 9, 8, 7, 6, 5);
            CHECK_OK(THTensor_range(r, 1, 11, 2));
            CHECK_VALUES(r, 1, 3, 5, 7, 9, 11);
            if (is_float(dtypes[k])) {
                CHECK_OK(THTensor_linspace(r, 0, 2.5, 6));
                CHECK_VALUES(r, 0, .5, 1, 1.5, 2, 2.5);
                CHECK_OK(THTensor_logspaceBase(r, -1, 4, 2, 6));
                CHECK_VALUES(r, .5, 1, 2, 4, 8, 16);
            } else {
                CHECK_ERROR(THTensor_linspace(r, 0, 1, 6), TH_ERR_DTYPE, "float32");
            }
            CHECK_SHAPE(r, 2, 3);
            THTensor_free(r);
        }
    }
    THTensor *truths = THTensor_newZeros(TH_BOOL, SIZES(3));
    CHECK_ERROR(THTensor_arange(truths, 0, 3, 1), TH_ERR_DTYPE, "bool");
    THTensor_free(truths);
}

static void long_progressions_are_exact_everywhere(void) {
    enum { N = 100003 };
    THTensor *r = FRESH, *narrow = THTensor_newZeros(TH_UINT8, SIZES(1));
    THTensor *steps = THTensor_newZeros(TH_FLOAT64, SIZES(1));
    CHECK_OK(THTensor_arange(r, 0, N, 1));
    CHECK_OK(THTensor_arange(narrow, 0, N, 1));
    CHECK_OK(THTensor_arange(steps, 0.25, 0.25 + 0.1 * N, 0.1));
    const int64_t *whole = THTensor_data(r);
    const uint8_t *wrapped = THTensor_data(narrow);
    const double *doubles = THTensor_data(steps);
    int wrong = 0;
    for (int64_t i = 0; i < N; i++) {
        volatile double product = (double)i * 0.1;
        wrong += whole[i] != i || wrapped[i] != i % 256 || doubles[i] != 0.25 + product;
    }
    CHECK_EQ(wrong, 0);
    CHECK_OK(THTensor_linspace(steps, -1, 3, N));
    doubles = THTensor_data(steps);
    wrong = 0;
    /* -1 + x and 3 - x for the same x. */
    for (int64_t i = 0; i < N / 2; i++) wrong += fabs(doubles[i] + doubles[N - 1 - i] - 2) > 0x1p-52;
    CHECK_EQ(wrong, 0);
    CHECK(doubles[0] == -1 && doubles[N - 1] == 3 && doubles[N / 2] == 1);
    THTensor_free(r);
    THTensor_free(narrow);
    THTensor_free(steps);
}

static void tensors_are_made_of_numbers_in_a_dtype(void) {
    for (int k = 0; k < DTYPES - 1; k++) {
        THTensor *steps = THTensor_newArange(dtypes[k], 1, 8, 3), *identity = THTensor_newEye(dtypes[k], 2, 3);
        CHECK_EQ(THTensor_dtype(steps), dtypes[k]);
        CHECK_SHAPE(steps, 3);
        CHECK_VALUES(steps, 1, 4, 7);
        CHECK_EQ(THTensor_dtype(identity), dtypes[k]);
        CHECK_SHAPE(identity, 2, 3);
        CHECK_VALUES(identity, 1, 0, 0, 0, 1, 0);
        THTensor_free(identity);
        THTensor_free(steps);
        if (!is_float(dtypes[k])) {
            CHECK_FAILURE(THTensor_newArange(dtypes[k], 0, 1, 0.5) == NULL, TH_ERR_DTYPE, "cannot be stored");
            CHECK_FAILURE(THTensor_newLinspace(dtypes[k], 0, 1, 3) == NULL, TH_ERR_DTYPE, "cannot be stored");
            continue;
        }
        THTensor *spaced = THTensor_newLinspace(dtypes[k], 0, 1, 5), *halves = THTensor_newArange(dtypes[k], 0, 1, 0.5);
        CHECK_EQ(THTensor_dtype(spaced), dtypes[k]);
        CHECK_VALUES(spaced, 0, .25, .5, .75, 1);
        CHECK_VALUES(halves, 0, .5);
        THTensor_free(halves);
        THTensor_free(spaced);
    }
    THTensor *truths = THTensor_newEye(TH_BOOL, 2, 2), *none = THTensor_newArange(TH_INT8, 3, 3, 1);
    CHECK_VALUES(truths, 1, 0, 0, 1);
    CHECK_SHAPE(none, 0);
    THTensor_free(none);
    THTensor_free(truths);
    CHECK_FAILURE(THTensor_newArange(TH_INT64, 0, 1, 0) == NULL, TH_ERR_ARGUMENT, "step");
    CHECK_FAILURE(THTensor_newLinspace(TH_FLOAT32, 0, 1, -1) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_FAILURE(THTensor_newEye(TH_FLOAT32, -1, 2) == NULL, TH_ERR_SHAPE, "-1");
    CHECK_FAILURE(THTensor_newEye(TH_UNDEFINED, 1, 2) == NULL, TH_ERR_ARGUMENT, "TH_UNDEFINED");
}

static void bad_progressions_change_nothing(void) {
    THTensor *r = vector_of(TH_FLOAT32, 1, 2);
    CHECK_ERROR(THTensor_arange(r, 0, 5, 0), TH_ERR_ARGUMENT, "step");
    CHECK_ERROR(THTensor_arange(r, 0, 5, NAN), TH_ERR_ARGUMENT, "step");
    CHECK_ERROR(THTensor_arange(r, 0, 5, INFINITY), TH_ERR_ARGUMENT, "step");
    CHECK_ERROR(THTensor_arange(r, 0, 5, -1), TH_ERR_ARGUMENT, "sign");
    CHECK_ERROR(THTensor_range(r, 5, 0, 1), TH_ERR_ARGUMENT, "sign");
    CHECK_ERROR(THTensor_arange(r, 0, INFINITY, 1), TH_ERR_ARGUMENT, "range");
    CHECK_ERROR(THTensor_arange(r, NAN, 1, 1), TH_ERR_ARGUMENT, "range");
    CHECK_ERROR(THTensor_arange(r, 0, 1e30, 1), TH_ERR_ARGUMENT, "counted");
    CHECK(THTensor_arange(r, 0, 4e18, 1) != TH_OK);
    CHECK_ERROR(THTensor_range(r, -9e18, 9e18, 1), TH_ERR_ARGUMENT, "counted");
    CHECK_ERROR(THTensor_linspace(r, 0, 1, -1), TH_ERR_ARGUMENT, "-1");
    CHECK(THTensor_linspace(r, 0, 1, INT64_MAX) != TH_OK);
    CHECK_VALUES(r, 1, 2);
    THTensor_free(r);
}

static void linspace_and_logspace(void) {
    THTensor *r = FRESH;
    CHECK_OK(THTensor_linspace(r, 3, 10, 5));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 3, 4.75, 6.5, 8.25, 10);
    CHECK_OK(THTensor_linspace(r, 3, 10, 1));
    CHECK_VALUES(r, 3);
    CHECK_OK(THTensor_linspace(r, 3, 10, 0));
    CHECK_EQ(THTensor_nElement(r), 0);
    CHECK_OK(THTensor_logspace(r, 0, 3, 4));
    CHECK_VALUES(r, 1, 10, 100, 1000);
    CHECK_OK(THTensor_logspaceBase(r, 0, 3, -2, 4));
    CHECK_VALUES(r, 1, -2, 4, -8);
    CHECK_OK(THTensor_logspaceBase(r, 0, 2, 0, 3));
    CHECK_VALUES(r, 1, 0, 0);
    THTensor_free(r);
    r = THTensor_newZeros(TH_FLOAT64, SIZES(1));
    CHECK_OK(THTensor_linspace(r, -1.5e308, 1.5e308, 3));
    CHECK_VALUES(r, -1.5e308, 0, 1.5e308);
    CHECK_OK(THTensor_linspace(r, -1.5e308, 1.5e308, 2));
    CHECK_VALUES(r, -1.5e308, 1.5e308);
    THTensor_free(r);
}

static void identities(void) {
    THTensor *r = FRESH;
    CHECK_OK(THTensor_eye(r, 2, 3));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 1, 0, 0, 0, 1, 0);
    CHECK_OK(THTensor_eye(r, 3, 0));
    CHECK_SHAPE(r, 3, 0);
    CHECK_ERROR(THTensor_eye(r, -1, 2), TH_ERR_SHAPE, "-1");
    CHECK(THTensor_eye(r, INT64_C(1) << 31, INT64_C(1) << 31) != TH_OK);
    THTensor_free(r);
    for (int k = 0; k < DTYPES; k++) {
        for (enum layout layout = 0; layout < LAYOUTS; layout++) {
            r = zeros_laid_out(dtypes[k], 2, 2, layout);
            CHECK_OK(THTensor_fill(r, 5));
            CHECK_OK(THTensor_eye(r, 2, 2));
            CHECK_VALUES(r, 1, 0, 0, 1);
            THTensor_free(r);
        }
    }
}

static void diagonals(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *r = FRESH;
    CHECK_OK(THTensor_diag(r, m, 1));
    CHECK_VALUES(r, 2, 6);
    CHECK_OK(THTensor_diag(r, m, 9));
    CHECK_EQ(THTensor_nElement(r), 0);
    THTensor *view = THTensor_newDiagonal(m, -1, 0, 1);
    CHECK_VALUES(view, 4);
    CHECK_OK(THTensor_fill(view, 9));
    CHECK_VALUES(m, 1, 2, 3, 9, 5, 6);
    CHECK_OK(THTensor_diagonal(view, m, 0, 1, 0));
    CHECK_VALUES(view, 1, 5);
    CHECK_OK(THTensor_diag(r, view, -1));
    CHECK_VALUES(r, 0, 0, 0, 1, 0, 0, 0, 5, 0);
    CHECK_OK(THTensor_diag(m, view, 0));
    CHECK_VALUES(m, 1, 0, 0, 5);
    CHECK_OK(THTensor_diag(m, m, 0));
    CHECK_VALUES(m, 1, 5);
    CHECK_OK(THTensor_diag(m, m, 0));
    CHECK_VALUES(m, 1, 0, 0, 5);
    CHECK_NEAR(THTensor_trace(m), 6, 0);
    THTensor_free(view);

    THTensor *s = THTensor_newScalar(TH_FLOAT32, 1);
    CHECK_ERROR(THTensor_diag(r, s, 0), TH_ERR_SHAPE, "0 dimensions");
    CHECK_ERROR(THTensor_diagEmbed(r, s, 0, 0, 1), TH_ERR_SHAPE, "0-d");
    CHECK_ERROR(THTensor_diagonal(r, m, 0, 0, 0), TH_ERR_ARGUMENT, "same");
    CHECK_ERROR(THTensor_diagEmbed(r, m, 0, 2, -1), TH_ERR_ARGUMENT, "same");
    CHECK_ERROR(THTensor_diagEmbed(r, m, INT64_MAX, 0, 1), TH_ERR_SHAPE, "overflows");
    CHECK_ERROR(THTensor_diagEmbed(r, m, INT64_MIN, 0, 1), TH_ERR_SHAPE, "overflows");
    CHECK_FAILURE(isnan(THTensor_trace(s)), TH_ERR_SHAPE, "matrix");
    THTensor_free(s);
    THTensor_free(r);
    THTensor_free(m);
}

static void embedded_diagonals(void) {
    THTensor *t = matrix_of(TH_INT32, 2, 0, 1, 2, 3, 4, 5), *r = FRESH;
    CHECK_OK(THTensor_diagEmbed(r, t, 1, 0, 2));
    CHECK_EQ(THTensor_dtype(r), TH_INT32);
    CHECK_SHAPE(r, 4, 2, 4);
    CHECK_VALUES(r, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK_OK(THTensor_narrow(t, t, 1, 0, 2));
    CHECK_OK(THTensor_diagEmbed(r, t, 0, -2, -1));
    CHECK_VALUES(r, 0, 0, 0, 1, 3, 0, 0, 4);
    THTensor_free(t);
    THTensor_free(r);
}

static void traces_sum_any_dtype(void) {
    for (int k = 0; k < DTYPES - 1; k++) {
        THTensor *m = matrix_of(dtypes[k], 2, 100, 2, 3, 4, 100, 6);
        CHECK_NEAR(THTensor_trace(m), 200, 0);
        THTensor_free(m);
    }
}

/* Returns 1 if `r` is not the triangle of `t` by its definition. */
static int triangle_is_wrong(const THTensor *r, const THTensor *t, int64_t k, int upper) {
    int ndim = THTensor_nDimension(t);
    int64_t rows = THTensor_size(t, ndim - 2), columns = THTensor_size(t, ndim - 1);
    for (int64_t at = 0; at < THTensor_nElement(t); at++) {
        int64_t i = at / columns % rows, j = at % columns;
        int inside = upper ? j - i >= k : j - i <= k;
        if (element_at(r, at) != (inside ? element_at(t, at) : 0)) return 1;
    }
    return 0;
}

static void triangles_of_every_layout(void) {
    for (enum layout from = 0; from < LAYOUTS; from++) {
        for (enum layout to = 0; to < LAYOUTS; to++) {
            for (int64_t k = -4; k <= 6; k++) {
                THTensor *t = zeros_laid_out(TH_INT32, 3, 5, from), *r = zeros_laid_out(TH_INT32, 3, 5, to);
                THTensor *wide = zeros_laid_out(TH_FLOAT16, 3, 5, to), *fresh = FRESH;
                CHECK_OK(THTensor_range(t, 1, 15, 1));
                CHECK_OK(THTensor_tril(r, t, k));
                CHECK(!triangle_is_wrong(r, t, k, 0));
                CHECK_OK(THTensor_triu(wide, t, k));
                CHECK(!triangle_is_wrong(wide, t, k, 1));
                CHECK_OK(THTensor_triu(fresh, t, k));
                CHECK(!triangle_is_wrong(fresh, t, k, 1));
                CHECK_OK(THTensor_copy(r, t));
                CHECK_OK(THTensor_triu(r, r, k));
                CHECK(!triangle_is_wrong(r, t, k, 1));
                THTensor_free(t);
                THTensor_free(r);
                THTensor_free(wide);
                THTensor_free(fresh);
            }
        }
    }
}

static void triangles_of_batches_and_overlaps(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(2, 3, 4, 4)), *r = FRESH;
    CHECK_OK(THTensor_arange(t, 0, 96, 1));
    THTensor *swapped = THTensor_newTranspose(t, 0, 1);
    CHECK_OK(THTensor_tril(r, swapped, 0));
    CHECK_SHAPE(r, 3, 2, 4, 4);
    CHECK(!triangle_is_wrong(r, swapped, 0, 0));
    CHECK_OK(THTensor_tril(r, t, INT64_MAX));
    CHECK(!triangle_is_wrong(r, t, 100, 0));
    CHECK_OK(THTensor_triu(r, t, INT64_MAX));
    CHECK_EQ(THTensor_sumall(r), 0);
    CHECK_OK(THTensor_triu(r, t, INT64_MIN));
    CHECK_EQ(THTensor_sumall(r), 95 * 48);

    THTensor *row = THTensor_newNarrow(t, 2, 0, 2), *other = THTensor_newNarrow(t, 2, 1, 2), *kept = THTensor_newClone(other);
    CHECK_OK(THTensor_tril(row, other, 0));
    CHECK(!triangle_is_wrong(row, kept, 0, 0));
    THTensor *across = THTensor_newTranspose(t, 2, 3), *before = THTensor_newClone(across);
    CHECK_OK(THTensor_tril(t, across, 0));
    CHECK(!triangle_is_wrong(t, before, 0, 0));

    THTensor *v = vector_of(TH_FLOAT32, 1, 2), *expanded = THTensor_newExpand(v, SIZES(2, 2));
    CHECK_ERROR(THTensor_tril(r, v, 0), TH_ERR_SHAPE, "at least 2");
    CHECK_OK(THTensor_tril(r, expanded, 0));
    CHECK_VALUES(r, 1, 0, 1, 2);
    CHECK_ERROR(THTensor_tril(expanded, expanded, 0), TH_ERR_SHAPE, "share one element");
    CHECK_VALUES(v, 1, 2);
    THTensor *whole = THTensor_newZeros(TH_INT32, SIZES(2, 2));
    CHECK_ERROR(THTensor_tril(whole, expanded, 0), TH_ERR_DTYPE, "float32");
    THTensor *all[] = {t, r, swapped, row, other, kept, across, before, v, expanded, whole};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

static void triangle_indices(void) {
    THTensor *r = FRESH;
    CHECK_OK(THTensor_trilIndices(r, 3, 4, 1));
    CHECK_EQ(THTensor_dtype(r), TH_INT64);
    CHECK_SHAPE(r, 2, 9);
    CHECK_VALUES(r, 0, 0, 1, 1, 1, 2, 2, 2, 2, 0, 1, 0, 1, 2, 0, 1, 2, 3);
    CHECK_OK(THTensor_triuIndices(r, 3, 3, 1));
    CHECK_VALUES(r, 0, 0, 1, 1, 2, 2);
    CHECK_OK(THTensor_trilIndices(r, INT64_MAX, 1, -INT64_MAX + 2));
    CHECK_VALUES(r, (double)(INT64_MAX - 2), (double)(INT64_MAX - 1), 0, 0);
    CHECK_OK(THTensor_triuIndices(r, 3, 3, 5));
    CHECK_SHAPE(r, 2, 0);
    CHECK_OK(THTensor_triuIndices(r, INT64_MAX, 0, 0));
    CHECK_SHAPE(r, 2, 0);
    CHECK_ERROR(THTensor_trilIndices(r, -1, 3, 0), TH_ERR_ARGUMENT, "-1");
    CHECK_ERROR(THTensor_trilIndices(r, INT64_MAX, INT64_MAX, 0), TH_ERR_ARGUMENT, "counted");
    THTensor_free(r);
    r = zeros_laid_out(TH_FLOAT32, 2, 3, TRANSPOSED);
    CHECK_OK(THTensor_trilIndices(r, 2, 2, 0));
    CHECK_VALUES(r, 0, 1, 1, 0, 0, 1);
    THTensor_free(r);
}

static void grids(void) {
    THTensor *a = vector_of(TH_FLOAT32, 1, 2), *b = vector_of(TH_FLOAT32, 3, 4, 5);
    THTensor *in[] = {a, b}, *out[] = {FRESH, FRESH};
    CHECK_OK(THTensor_meshgrid(out, in, 2, "ij"));
    CHECK_SHAPE(out[0], 2, 3);
    CHECK_VALUES(out[0], 1, 1, 1, 2, 2, 2);
    CHECK_VALUES(out[1], 3, 4, 5, 3, 4, 5);
    CHECK_STRIDES(out[1], 0, 1);
    CHECK_OK(THTensor_meshgrid(out, in, 2, "xy"));
    CHECK_SHAPE(out[1], 3, 2);
    CHECK_VALUES(out[0], 1, 2, 1, 2, 1, 2);
    CHECK_VALUES(out[1], 3, 3, 4, 4, 5, 5);
    CHECK_ERROR(THTensor_meshgrid(out, in, 2, "yx"), TH_ERR_ARGUMENT, "'yx'");
    CHECK_ERROR(THTensor_meshgrid(out, in, 2, NULL), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_meshgrid(out, in, 0, "ij"), TH_ERR_ARGUMENT, "at least one");
    CHECK_ERROR(THTensor_meshgrid(in, out, 2, "ij"), TH_ERR_SHAPE, "2 dimensions");
    CHECK_OK(THTensor_meshgrid(in, in, 2, "ij"));
    CHECK_VALUES(in[1], 3, 4, 5, 3, 4, 5);
    CHECK_OK(THTensor_select(a, a, 1, 0));
    CHECK_OK(THTensor_select(b, b, 0, 0));

    THTensor *r = FRESH;
    CHECK_OK(THTensor_cartesianProd(r, in, 2));
    CHECK_SHAPE(r, 6, 2);
    CHECK_VALUES(r, 1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5);
    CHECK_OK(THTensor_cartesianProd(a, in, 2));
    CHECK_VALUES(a, 1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5);
    CHECK_OK(THTensor_cartesianProd(r, in + 1, 1));
    CHECK_VALUES(r, 3, 4, 5);
    THTensor *ints = vector_of(TH_INT32, 1), *mixed[] = {b, ints};
    CHECK_ERROR(THTensor_cartesianProd(r, mixed, 2), TH_ERR_DTYPE, "int32");
    THTensor *all[] = {a, b, out[0], out[1], r, ints};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
}

static void one_hot_rows(void) {
    THTensor *t = vector_of(TH_INT64, 0, 2), *r = FRESH;
    CHECK_OK(THTensor_oneHot(r, t, -1));
    CHECK_EQ(THTensor_dtype(r), TH_INT64);
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 1, 0, 0, 0, 0, 1);
    CHECK_ERROR(THTensor_oneHot(r, t, 2), TH_ERR_ARGUMENT, "class 2");
    CHECK_ERROR(THTensor_oneHot(r, t, -2), TH_ERR_ARGUMENT, "-2");
    CHECK_OK(THTensor_set1d(t, 0, -3));
    CHECK_ERROR(THTensor_oneHot(r, t, 5), TH_ERR_ARGUMENT, "-3");
    CHECK_OK(THTensor_set1d(t, 0, 1));
    CHECK_OK(THTensor_oneHot(t, t, 4));
    CHECK_VALUES(t, 0, 1, 0, 0, 0, 0, 1, 0);
    THTensor_free(r);
    r = zeros_laid_out(TH_FLOAT16, 2, 4, TRANSPOSED);
    THTensor *bytes = vector_of(TH_UINT8, 3, 0);
    CHECK_OK(THTensor_oneHot(r, bytes, 4));
    CHECK_VALUES(r, 0, 0, 0, 1, 1, 0, 0, 0);
    CHECK_OK(THTensor_resize1d(bytes, 0));
    CHECK_ERROR(THTensor_oneHot(r, bytes, -1), TH_ERR_ARGUMENT, "inferred");
    CHECK_OK(THTensor_oneHot(r, bytes, 3));
    CHECK_SHAPE(r, 0, 3);
    CHECK_ERROR(THTensor_oneHot(bytes, r, 3), TH_ERR_DTYPE, "float16");
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(bytes);
}

static void vandermonde_matrices(void) {
    THTensor *t = vector_of(TH_INT32, 1, 2, 3), *r = FRESH;
    CHECK_OK(THTensor_vander(r, t, -1, 0));
    CHECK_EQ(THTensor_dtype(r), TH_INT64);
    CHECK_VALUES(r, 1, 1, 1, 4, 2, 1, 9, 3, 1);
    CHECK_OK(THTensor_vander(r, t, 2, 1));
    CHECK_VALUES(r, 1, 1, 1, 2, 1, 3);
    CHECK_OK(THTensor_vander(t, t, 4, 1));
    CHECK_VALUES(t, 1, 1, 1, 1, 1, 2, 4, 8, 1, 3, 9, 27);
    CHECK_ERROR(THTensor_vander(r, t, 2, 1), TH_ERR_SHAPE, "2 dimensions");
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(0));
    CHECK_ERROR(THTensor_vander(r, none, 2, 0), TH_ERR_DTYPE, "float32");
    THTensor_free(r);
    r = FRESH;
    CHECK_OK(THTensor_vander(r, none, INT64_C(1) << 40, 0));
    CHECK_SHAPE(r, 0, INT64_C(1) << 40);
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(none);
}

/* A type with 113 bits of precision, if there is one. On x86-64, a long double has 64 bits, and 53 under valgrind. */
#if LDBL_MANT_DIG == 113
typedef long double quad;
#elif defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else
typedef double quad;
#endif

/* Powers are rounded once, from a result with more precision. */
static void vandermonde_matrices_are_rounded_once(void) {
    static const double bases[] = {1.1, -0.93, 1.7, -2.3, 0.3, 1 + 0x1p-20};
    for (int type = 0; type < 2; type++) {
        THTensor *t = THTensor_newZeros(type ? TH_FLOAT64 : TH_FLOAT32, SIZES(6)), *r = FRESH;
        for (int i = 0; i < 6; i++) CHECK_OK(THTensor_set1d(t, i, bases[i]));
        CHECK_OK(THTensor_vander(r, t, 70, 1));
        for (int64_t i = 0; i < 6; i++) {
            quad power = 1, x = THTensor_get1d(t, i);
            for (int64_t j = 0; j < 70; j++, power *= x) {
                double got = THTensor_get2d(r, i, j), unit = type ? 0x1p-52 : 0x1p-23;
                double error = (double)((got - power) / power);
                CHECK(sizeof(quad) == sizeof(double) || fabs(error) <= 0.501 * unit);
            }
        }
        THTensor_free(t);
        THTensor_free(r);
    }
    THTensor *t = vector_of(TH_FLOAT64, 1e200, -1e-200, INFINITY, NAN), *r = FRESH;
    CHECK_OK(THTensor_vander(r, t, 4, 1));
    CHECK_VALUES(r, 1, 1e200, INFINITY, INFINITY, 1, -1e-200, 0, 0, 1, INFINITY, INFINITY, INFINITY, 1, NAN, NAN, NAN);
    THTensor_free(t);
    THTensor_free(r);
}

static void sixteen_bit_fills_are_rounded_once(void) {
    /* Just above the midpoint of two neighbours. Rounding to float32 first would give the midpoint, and then the even neighbour. */
    THTensor *r = zeros_laid_out(TH_FLOAT16, 2, 2, STEPPED);
    CHECK_OK(THTensor_fill(r, 1 + 0x1p-11 + 0x1p-40));
    CHECK_VALUES(r, 1 + 0x1p-10, 1 + 0x1p-10, 1 + 0x1p-10, 1 + 0x1p-10);
    THTensor_free(r);
}

CHECK_MAIN(CASE(constants_take_shapes_and_dtypes), CASE(transposed_likes_keep_their_strides), CASE(arange_stops_before_the_end),
           CASE(progressions_fill_every_dtype_and_layout), CASE(long_progressions_are_exact_everywhere),
           CASE(tensors_are_made_of_numbers_in_a_dtype), CASE(bad_progressions_change_nothing), CASE(linspace_and_logspace), CASE(identities), CASE(diagonals),
           CASE(embedded_diagonals), CASE(traces_sum_any_dtype), CASE(triangles_of_every_layout),
           CASE(triangles_of_batches_and_overlaps), CASE(triangle_indices), CASE(grids), CASE(one_hot_rows),
           CASE(vandermonde_matrices), CASE(vandermonde_matrices_are_rounded_once), CASE(sixteen_bit_fills_are_rounded_once))
