/* Tensors without elements cause no work, however large their other dimensions are. c_tests/empty.lua calls every function with such
 * tensors. Here are the results of some. */
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

#define HUGE_SIZE ((int64_t)1 << 60)

/* An alarm ends the program if a call hangs. */
static THTensor *empty(THDtype dtype, int64_t rows, int64_t columns) {
    alarm(60);
    return THTensor_newEmpty(dtype, SIZES(rows, columns), TH_CONTIGUOUS_FORMAT);
}

static void results_of_the_same_shape_are_empty(void) {
    THTensor *wide = empty(TH_FLOAT32, 0, HUGE_SIZE), *r = THTensor_new(), *indices = THTensor_new();
    for (int dimension = 0; dimension < 2; dimension++) {
        CHECK_OK(THTensor_cumsum(r, wide, dimension));
        CHECK_OK(THTensor_cummax(r, indices, wide, dimension));
        CHECK_OK(THTensor_softmax(r, wide, dimension));
        CHECK_OK(THTensor_logcumsumexp(r, wide, dimension));
        CHECK_SHAPE(r, 0, HUGE_SIZE);
        CHECK_SHAPE(indices, 0, HUGE_SIZE);
    }
    CHECK_OK(THTensor_renorm(r, wide, 2, 1, 1));
    CHECK_OK(THTensor_tril(r, wide, 0));
    CHECK_OK(THTensor_uniform(r, NULL, 0, 1));
    CHECK_SHAPE(r, 0, HUGE_SIZE);
    THTensor_free(wide);
    THTensor_free(r);
    THTensor_free(indices);
}

static void elementwise_calls_take_any_order_of_dimensions(void) {
    THTensor *t = THTensor_newEmpty(TH_FLOAT32, SIZES((int64_t)1 << 59, 0, 4), TH_CONTIGUOUS_FORMAT);
    THTensor *turned = THTensor_newPermute(t, SIZES(2, 0, 1)), *r = THTensor_new();
    alarm(60);
    CHECK_OK(THTensor_exp(r, turned));
    CHECK_OK(THTensor_cadd(r, turned, 2, r));
    CHECK_SHAPE(r, 4, (int64_t)1 << 59, 0);
    THTensor *zeros = THTensor_newZeros(TH_INT64, SIZES(HUGE_SIZE, 0, 0)), *copy = THTensor_newClone(zeros);
    CHECK_SHAPE(copy, HUGE_SIZE, 0, 0);
    CHECK_EQ(THTensor_equal(copy, zeros), 1);
    THTensor_free(t);
    THTensor_free(turned);
    THTensor_free(r);
    THTensor_free(zeros);
    THTensor_free(copy);
}

static void what_would_be_huge_does_not_fit(void) {
    THTensor *wide = empty(TH_FLOAT32, 0, HUGE_SIZE), *r = THTensor_new(), *rows = empty(TH_FLOAT32, HUGE_SIZE, 0);
    CHECK_ERROR(THTensor_sum(r, wide, 0, 0), TH_ERR_NOMEM, "memory");
    CHECK_ERROR(THTensor_logsumexp(r, rows, 1, 0), TH_ERR_NOMEM, "memory");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    CHECK_OK(THTensor_sum(r, wide, 1, 0));
    CHECK_SHAPE(r, 0);
    CHECK_NEAR(THTensor_sumall(wide), 0, 0);
    CHECK_NEAR(THTensor_prodall(rows), 1, 0);
    CHECK(isnan(THTensor_meanall(rows)));
    CHECK_OK(THTensor_median(r, NULL, wide, 1, 0));
    CHECK_OK(THTensor_mode(r, NULL, wide, 1, 0));
    CHECK_OK(THTensor_quantile(r, wide, 0.5, 1, 0, TH_INTERPOLATION_LINEAR));
    CHECK_SHAPE(r, 0);
    THTensor_free(wide);
    THTensor_free(rows);
    THTensor_free(r);
}

static void products_of_nothing_are_zeros_or_nothing(void) {
    THTensor *wide = empty(TH_FLOAT32, 0, HUGE_SIZE), *one = THTensor_newOnes(TH_FLOAT32, SIZES(1, 1)), *r = THTensor_new();
    THTensor *high = THTensor_newExpand(one, SIZES(HUGE_SIZE, 3)), *flat = THTensor_newSelect(high, 1, 0);
    CHECK_OK(THTensor_mm(r, wide, high));
    CHECK_SHAPE(r, 0, 3);
    CHECK_OK(THTensor_mv(r, wide, flat));
    CHECK_SHAPE(r, 0);
    THTensor *rows = empty(TH_FLOAT32, 2, 0), *columns = empty(TH_FLOAT32, 0, 3);
    CHECK_OK(THTensor_mm(r, rows, columns));
    CHECK_VALUES(r, 0, 0, 0, 0, 0, 0);
    /* A sum of many products without elements. */
    THTensor *lefts = THTensor_newEmpty(TH_FLOAT32, SIZES(HUGE_SIZE, 1, 0), TH_CONTIGUOUS_FORMAT);
    THTensor *rights = THTensor_newEmpty(TH_FLOAT32, SIZES(HUGE_SIZE, 0, 1), TH_CONTIGUOUS_FORMAT);
    CHECK_OK(THTensor_addbmm(r, 2, one, 1, lefts, rights));
    CHECK_VALUES(r, 2);
    CHECK_OK(THTensor_addbmm(r, 0, one, 1, lefts, rights));
    CHECK_VALUES(r, 0);
    THTensor_free(lefts);
    THTensor_free(rights);
    THTensor_free(wide);
    THTensor_free(one);
    THTensor_free(high);
    THTensor_free(flat);
    THTensor_free(rows);
    THTensor_free(columns);
    THTensor_free(r);
}

/* As in PyTorch: `torch.empty(0, 3).chunk(4)` returns four tensors. */
static void an_empty_dimension_is_cut_as_often_as_asked(void) {
    THTensor *t = empty(TH_FLOAT32, 0, 3), *pieces[5];
    int count = 5;
    CHECK_OK(THTensor_chunk(pieces, &count, t, 4, 0));
    CHECK_EQ(count, 4);
    for (int i = 0; i < count; i++) {
        CHECK_SHAPE(pieces[i], 0, 3);
        THTensor_free(pieces[i]);
    }
    count = 5;
    CHECK_OK(THTensor_chunk(pieces, &count, t, 5, 1));
    CHECK_EQ(count, 3);
    for (int i = 0; i < count; i++) THTensor_free(pieces[i]);
    CHECK_OK(THTensor_split(NULL, &count, t, 2, 0));
    CHECK_EQ(count, 1);
    CHECK_FAILURE(THTensor_chunk(NULL, &count, t, HUGE_SIZE, 0) == TH_ERR_ARGUMENT, TH_ERR_ARGUMENT, "more than can be");
    THTensor_free(t);
}

/* As in PyTorch's is_contiguous(memory_format=channels_last): strides decide, with or without elements. */
static void an_empty_tensor_is_in_the_format_of_its_strides(void) {
    const int64_t size[] = {2, 0, 4, 5};
    THTensor *rows = THTensor_newEmpty(TH_FLOAT32, 4, size, TH_CONTIGUOUS_FORMAT);
    THTensor *last = THTensor_newEmpty(TH_FLOAT32, 4, size, TH_CHANNELS_LAST);
    CHECK_STRIDES(rows, 20, 20, 5, 1);
    CHECK_STRIDES(last, 0, 1, 0, 0);
    CHECK_EQ(THTensor_isContiguousFormat(rows, TH_CHANNELS_LAST), 0);
    CHECK_EQ(THTensor_isContiguousFormat(last, TH_CHANNELS_LAST), 1);
    CHECK_EQ(THTensor_isContiguousFormat(last, TH_CONTIGUOUS_FORMAT), 1);
    THTensor *turned = THTensor_newContiguousFormat(rows, TH_CHANNELS_LAST);
    CHECK_STRIDES(turned, 0, 1, 0, 0);
    THTensor_free(rows);
    THTensor_free(last);
    THTensor_free(turned);
}

/* As in PyTorch: an integer division without elements does not fail. */
static void no_integers_may_be_divided_by_zero(void) {
    THTensor *none = empty(TH_INT64, 0, 3), *some = THTensor_newOnes(TH_INT64, SIZES(1, 3)), *r = THTensor_new();
    THTensor *zeros = THTensor_newZeros(TH_INT64, SIZES(3));
    CHECK_OK(THTensor_divMode(r, none, 0, TH_DIV_FLOOR));
    CHECK_OK(THTensor_divMode(r, none, 0, TH_DIV_TRUNC));
    CHECK_OK(THTensor_fmod(r, none, 0));
    CHECK_OK(THTensor_remainder(r, none, 0));
    CHECK_OK(THTensor_cdivMode(r, none, zeros, TH_DIV_FLOOR));
    CHECK_OK(THTensor_cfmod(r, none, zeros));
    CHECK_OK(THTensor_cremainder(r, none, zeros));
    CHECK_SHAPE(r, 0, 3);
    CHECK_ERROR(THTensor_remainder(r, some, 0), TH_ERR_ARGUMENT, "divided by zero");
    CHECK_ERROR(THTensor_cfmod(r, some, zeros), TH_ERR_ARGUMENT, "divided by zero");
    THTensor_free(none);
    THTensor_free(some);
    THTensor_free(zeros);
    THTensor_free(r);
}

/* Functions that are given the size of the result: results without elements for planes with elements, and tensors without planes. */
static void windows_of_nothing_take_no_time(void) {
    const int64_t far = (int64_t)1 << 40, *two = (int64_t[]){2};
    THTensor *planes = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3, 4, 4)), *r = THTensor_new(), *indices = THTensor_new();
    THTensor *volumes = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3, 4, 4, 4)), *line = THTensor_newOnes(TH_FLOAT32, SIZES(3, 4));
    alarm(60);
    CHECK_OK(THTensor_adaptiveAvgPool1d(r, line, SIZES(0)));
    for (int last = 0; last < 2; last++) {
        const int64_t *of_plane = last ? (int64_t[]){far, 0} : (int64_t[]){0, far};
        const int64_t *of_volume = last ? (int64_t[]){far >> 10, far >> 11, 0} : (int64_t[]){far >> 10, 0, far >> 11};
        CHECK_OK(THTensor_adaptiveAvgPool2d(r, planes, 2, of_plane));
        CHECK_SHAPE(r, 2, 3, of_plane[0], of_plane[1]);
        CHECK_OK(THTensor_adaptiveMaxPool2d(r, indices, planes, 2, of_plane));
        CHECK_SHAPE(indices, 2, 3, of_plane[0], of_plane[1]);
        CHECK_OK(THTensor_adaptiveAvgPoolGradInput(r, r, planes, 2));
        CHECK_SHAPE(r, 2, 3, 4, 4);
        CHECK_NEAR(THTensor_sumall(r), 0, 0);
        CHECK_OK(THTensor_adaptiveAvgPool3d(r, volumes, 3, of_volume));
        CHECK_OK(THTensor_adaptiveMaxPool3d(r, NULL, volumes, 3, of_volume));
        CHECK_SHAPE(r, 2, 3, of_volume[0], of_volume[1], of_volume[2]);
    }
    THTensor *none = THTensor_newEmpty(TH_FLOAT32, SIZES(0, 3, 4, far / 4), TH_CONTIGUOUS_FORMAT);
    THTensor *places = THTensor_newEmpty(TH_INT64, SIZES(0, 3, 4, far / 4), TH_CONTIGUOUS_FORMAT);
    CHECK_OK(THTensor_maxPool2d(r, indices, none, 1, two, NULL, NULL, NULL, 0));
    CHECK_OK(THTensor_maxPoolGradInput(r, r, indices, none, 2));
    CHECK_SHAPE(r, 0, 3, 4, far / 4);
    CHECK_OK(THTensor_avgPool2d(r, none, 1, two, NULL, NULL, 0, 1, 0));
    CHECK_OK(THTensor_avgPoolGradInput(r, r, none, 2, (int64_t[]){2, 2}, NULL, NULL, 0, 1, 0));
    CHECK_OK(THTensor_maxUnpool(r, none, places, SIZES(far, 1)));
    CHECK_SHAPE(r, 0, 3, far, 1);
    THTensor_free(places);
    THTensor_free(none);
    THTensor_free(line);
    THTensor_free(volumes);
    THTensor_free(indices);
    THTensor_free(r);
    THTensor_free(planes);
}

static void convolutions_and_transforms_of_nothing_take_no_time(void) {
    const int64_t far = (int64_t)1 << 40;
    THTensor *none = THTensor_newEmpty(TH_FLOAT32, SIZES(0, 3, 4, far), TH_CONTIGUOUS_FORMAT), *r = THTensor_new(), *w = THTensor_new();
    alarm(60);
    for (int64_t channels = 1; channels < 9; channels += 7) {
        THTensor *weight = THTensor_newOnes(TH_FLOAT32, SIZES(channels, 3, 2, 2)), *turned = THTensor_newTranspose(weight, 0, 1);
        CHECK_OK(THTensor_conv2d(r, none, weight, NULL, 0, NULL, NULL, NULL, 1));
        CHECK_SHAPE(r, 0, channels, 3, far - 1);
        CHECK_OK(THTensor_convolutionGradWeight(w, r, none, weight, 0, NULL, NULL, NULL, 0, NULL, 1));
        CHECK_NEAR(THTensor_normall(w, 2), 0, 0);
        CHECK_OK(THTensor_convolutionGradInput(r, r, weight, none, 0, NULL, NULL, NULL, 0, NULL, 1));
        CHECK_SHAPE(r, 0, 3, 4, far);
        CHECK_OK(THTensor_convTranspose2d(r, none, turned, NULL, 0, NULL, NULL, NULL, 1, NULL));
        CHECK_SHAPE(r, 0, channels, 5, far + 1);
        THTensor_free(turned);
        THTensor_free(weight);
    }
    THTensor *weight = THTensor_newEmpty(TH_FLOAT32, SIZES(0, 3, 2, 2), TH_CONTIGUOUS_FORMAT);
    THTensor *one = THTensor_newOnes(TH_FLOAT32, SIZES(1, 1, 1, 1)), *wide = THTensor_newExpand(one, SIZES(far, 3, 2, 2));
    /* No memory holds these images in row-major order. */
    CHECK_ERROR(THTensor_conv2d(r, wide, weight, NULL, 0, NULL, NULL, NULL, 1), TH_ERR_NOMEM, "memory");
    THTensor *pairs = THTensor_newEmpty(TH_FLOAT32, SIZES(0, far, 8, 2), TH_CONTIGUOUS_FORMAT);
    CHECK_OK(THTensor_fft(r, pairs, 1, 0));
    CHECK_OK(THTensor_ifft(r, pairs, 2, 0));
    CHECK_OK(THTensor_rfft(r, pairs, 1, 0, 1));
    CHECK_OK(THTensor_irfft(r, pairs, 1, 0, 1, 0, NULL));
    CHECK_SHAPE(r, 0, far, 14);
    CHECK_OK(THTensor_im2col(r, none, SIZES(2, 2), NULL, NULL, NULL));
    THTensor_free(pairs);
    THTensor_free(wide);
    THTensor_free(one);
    THTensor_free(weight);
    THTensor_free(w);
    THTensor_free(r);
    THTensor_free(none);
}

/* Memory of all small sizes that holds other bits than zeros, for the next allocations. */
static void fill_freed_memory(void) {
    for (int64_t size = 4; size <= 16384; size += size < 512 ? 4 : size / 2) {
        THTensor *t[6];
        for (int i = 0; i < 6; i++) t[i] = THTensor_newFull(TH_INT32, SIZES(size), 0x3c3c3c3c);
        for (int i = 0; i < 6; i++) THTensor_free(t[i]);
    }
}

/* As torch.linalg.lstsq: the solution of least norm of no equations is 0, of rank 0; no unknowns have no solution. */
static void systems_without_equations_or_unknowns(void) {
    alarm(60);
    for (int type = 0; type < 2; type++) {
        THDtype dtype = type ? TH_FLOAT64 : TH_FLOAT32;
        for (int64_t columns = 0; columns <= 512; columns = columns ? columns * 8 : 1) {
            THTensor *a = THTensor_newZeros(dtype, SIZES(3, 0, 8)), *b = THTensor_newZeros(dtype, SIZES(3, 0, columns));
            THTensor *x = THTensor_new(), *rank = THTensor_new(), *s = THTensor_new();
            for (int by_qr = 0; by_qr < 2; by_qr++) {
                fill_freed_memory();
                CHECK_OK(by_qr ? THTensor_gels(x, NULL, b, a) : THTensor_lstsq(x, rank, s, b, a, -1));
                CHECK_SHAPE(x, 3, 8, columns);
                CHECK_NEAR(THTensor_sumall(x), 0, 0);
                CHECK_NEAR(columns ? THTensor_maxall(x) : 0, 0, 0);
            }
            CHECK_VALUES(rank, 0, 0, 0);
            CHECK_SHAPE(s, 3, 0);
            THTensor *none = THTensor_newZeros(dtype, SIZES(3, 5, 0)), *ones = THTensor_newOnes(dtype, SIZES(3, 5, columns));
            fill_freed_memory();
            CHECK_OK(THTensor_lstsq(x, rank, NULL, ones, none, -1));
            CHECK_SHAPE(x, 3, 0, columns);
            CHECK_VALUES(rank, 0, 0, 0);
            CHECK_OK(THTensor_gels(x, NULL, ones, none));
            CHECK_SHAPE(x, 3, 0, columns);
            THTensor *empty_square = THTensor_newZeros(dtype, SIZES(3, 0, 0));
            CHECK_OK(THTensor_gesv(x, NULL, b, empty_square));
            CHECK_SHAPE(x, 3, 0, columns);
            THTensor_free(empty_square);
            THTensor_free(ones);
            THTensor_free(none);
            THTensor_free(s);
            THTensor_free(rank);
            THTensor_free(x);
            THTensor_free(b);
            THTensor_free(a);
        }
    }
}

CHECK_MAIN(CASE(results_of_the_same_shape_are_empty), CASE(elementwise_calls_take_any_order_of_dimensions),
           CASE(what_would_be_huge_does_not_fit), CASE(products_of_nothing_are_zeros_or_nothing),
           CASE(an_empty_dimension_is_cut_as_often_as_asked), CASE(an_empty_tensor_is_in_the_format_of_its_strides),
           CASE(no_integers_may_be_divided_by_zero), CASE(windows_of_nothing_take_no_time),
           CASE(convolutions_and_transforms_of_nothing_take_no_time),
           CASE(systems_without_equations_or_unknowns))
