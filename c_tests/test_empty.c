/* Tensors without elements, however long their other dimensions are: no element, no work. c_tests/empty.lua calls every
 * function with such tensors; here is what some of them say. */
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

#define HUGE_SIZE ((int64_t)1 << 60)

/* A call that hangs ends the program. */
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
    CHECK_OK(THTensor_quantile(r, wide, 0.5, 1, 0, TH_LINEAR));
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
    THTensor_free(wide);
    THTensor_free(one);
    THTensor_free(high);
    THTensor_free(flat);
    THTensor_free(rows);
    THTensor_free(columns);
    THTensor_free(r);
}

/* As PyTorch: `torch.empty(0, 3).chunk(4)` are four tensors. */
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

/* As PyTorch's is_contiguous(memory_format=channels_last): strides tell, elements or not. */
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

/* As PyTorch: where nothing is divided nothing goes wrong. */
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

CHECK_MAIN(CASE(results_of_the_same_shape_are_empty), CASE(elementwise_calls_take_any_order_of_dimensions),
           CASE(what_would_be_huge_does_not_fit), CASE(products_of_nothing_are_zeros_or_nothing),
           CASE(an_empty_dimension_is_cut_as_often_as_asked), CASE(an_empty_tensor_is_in_the_format_of_its_strides),
           CASE(no_integers_may_be_divided_by_zero))
