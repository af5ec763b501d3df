/* Gradients where the result handle has another dtype than the computation, and where values are at the ends of the range. Expected values
   are derivatives computed by hand. */
#include <math.h>

#include "check.h"

static THTensor *requires_grad(THTensor *t) {
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

#define FREE(...)                                                                                                      \
    do {                                                                                                               \
        THTensor *tensors_[] = {__VA_ARGS__};                                                                          \
        for (size_t k_ = 0; k_ < sizeof tensors_ / sizeof tensors_[0]; k_++) THTensor_free(tensors_[k_]);              \
    } while (0)

#define CHECK_GRAD(t, tolerance, ...)                                                                                  \
    do {                                                                                                               \
        THTensor *grad_ = THTensor_newGrad(t);                                                                         \
        if (CHECK(grad_ != NULL)) CHECK_CLOSE(grad_, tolerance, __VA_ARGS__);                                          \
        THTensor_free(grad_);                                                                                          \
    } while (0)

static void backward_of_sum(const THTensor *t) {
    THTensor *sum = THTensor_new();
    CHECK_OK(THTensor_sum(sum, t, TH_ALL_DIMS, 0));
    CHECK_OK(THTensor_backward(sum, NULL));
    THTensor_free(sum);
}

static void factors_in_a_narrower_handle(void) {
    const THDtype narrower[] = {TH_FLOAT16, TH_BFLOAT16, TH_FLOAT32};
    for (int k = 0; k < 3; k++) {
        THTensor *a = requires_grad(matrix_of(TH_FLOAT64, 2, 4, 2, 1, 3));
        THTensor *factors = THTensor_newWithDtype(narrower[k]), *pivots = THTensor_new();
        CHECK_OK(THTensor_btrifact(factors, pivots, NULL, 1, a));
        CHECK_EQ(factors->dtype, narrower[k]);
        CHECK_VALUES(factors, 4, 2, 0.25, 2.5);
        backward_of_sum(factors);
        /* The sum is a + b + c / a + d - b c / a. */
        CHECK_GRAD(a, 1e-12, 1.0625, 0.75, -0.25, 1);
        FREE(a, factors, pivots);
    }
}

static void both_extremes_in_a_narrower_handle(void) {
    THTensor *t = requires_grad(vector_of(TH_FLOAT64, 0.1, 0.2, 0.3));
    THTensor *least = THTensor_newWithDtype(TH_FLOAT32), *greatest = THTensor_newWithDtype(TH_FLOAT16), *sum = THTensor_new();
    CHECK_OK(THTensor_aminmax(least, greatest, t, 0, 0));
    CHECK_EQ(least->dtype, TH_FLOAT32);
    CHECK_EQ(greatest->dtype, TH_FLOAT16);
    CHECK_OK(THTensor_cadd(sum, least, 2, greatest));
    backward_of_sum(sum);
    CHECK_GRAD(t, 1e-12, 1, 0, 2);
    FREE(t, least, greatest, sum);
}

/* The handle is an operand, whose values the derivative needs. */
static void a_handle_of_another_dtype_in_place(void) {
    THTensor *leaf = requires_grad(vector_of(TH_FLOAT32, 2, 3)), *b = requires_grad(vector_of(TH_FLOAT64, 5, 7));
    THTensor *a = THTensor_new();
    CHECK_OK(THTensor_mul(a, leaf, 2));
    CHECK_OK(THTensor_cmul(a, a, b));
    CHECK_EQ(a->dtype, TH_FLOAT32);
    CHECK_VALUES(a, 20, 42);
    backward_of_sum(a);
    CHECK_GRAD(leaf, 0, 10, 14);
    CHECK_GRAD(b, 0, 4, 6);
    FREE(leaf, b, a);
}

static void a_handle_that_is_a_view_of_another_dtype(void) {
    THTensor *whole = THTensor_newWithDtype(TH_FLOAT64), *t = requires_grad(vector_of(TH_FLOAT32, 1, 2));
    CHECK_OK(THTensor_resize1d(whole, 4));
    CHECK_OK(THTensor_zero(whole));
    THTensor *half = THTensor_newNarrow(whole, 0, 2, 2);
    CHECK_OK(THTensor_cmul(half, t, t));
    CHECK_VALUES(whole, 0, 0, 1, 4);
    backward_of_sum(whole);
    CHECK_GRAD(t, 0, 2, 4);
    FREE(whole, t, half);
}

/* A copy is a conversion into elements that are there. */
static void a_copy_keeps_the_shape_of_its_result(void) {
    THTensor *t = requires_grad(vector_of(TH_FLOAT32, 3)), *r = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4);
    CHECK_OK(THTensor_copy(r, t));
    CHECK_SHAPE(r, 2, 2);
    CHECK_EQ(r->dtype, TH_FLOAT64);
    CHECK_VALUES(r, 3, 3, 3, 3);
    backward_of_sum(r);
    CHECK_GRAD(t, 0, 4);
    FREE(t, r);
}

static void sums_in_whole_numbers_have_no_gradient(void) {
    THTensor *t = requires_grad(vector_of(TH_FLOAT64, 1.5, 2)), *given = THTensor_newWithDtype(TH_FLOAT64), *fresh = THTensor_new();
    CHECK_OK(THTensor_sumDims(given, t, 0, NULL, 0, TH_INT32));
    CHECK_OK(THTensor_sumDims(fresh, t, 0, NULL, 0, TH_INT32));
    CHECK_VALUES(given, 3);
    CHECK_EQ(fresh->dtype, TH_INT32);
    CHECK_EQ(THTensor_requiresGrad(given), 0);
    CHECK_EQ(THTensor_requiresGrad(fresh), 0);
    FREE(t, given, fresh);
}

/* Of diag(3, 1) the derivative of the element of `u` at row 0, column 1 is -(da[0][1] + 3 da[1][0]) / 8 times the sign of the second
   column, and that of a multiple is a fraction of it. */
static void singular_vectors_of_large_and_small_matrices(void) {
    const double scales[] = {1, 1e19, 1e-24};
    for (int k = 0; k < 3; k++) {
        THTensor *a = requires_grad(matrix_of(TH_FLOAT32, 2, 3 * scales[k], 0, 0, scales[k]));
        THTensor *u = THTensor_new(), *s = THTensor_new(), *v = THTensor_new();
        CHECK_OK(THTensor_svd(u, s, v, a, 1));
        double sign = element_at(u, 3);
        THTensor *row = THTensor_newSelect(u, 0, 0), *element = THTensor_newSelect(row, 0, 1);
        CHECK_OK(THTensor_backward(element, NULL));
        THTensor *grad = THTensor_newGrad(a);
        CHECK_NEAR(element_at(grad, 0) * scales[k], 0, 1e-5);
        CHECK_NEAR(element_at(grad, 1) * scales[k], -sign / 8, 1e-5);
        CHECK_NEAR(element_at(grad, 2) * scales[k], -sign * 3 / 8, 1e-5);
        CHECK_NEAR(element_at(grad, 3) * scales[k], 0, 1e-5);
        FREE(a, u, s, v, row, element, grad);
    }
}

/* The logarithm of the determinant has no derivative at a singular matrix; its neighbours in the batch have theirs. */
static void determinants_of_singular_matrices(void) {
    for (THDtype dtype = TH_FLOAT32; dtype <= TH_FLOAT64; dtype++) {
        THTensor *flat = vector_of(dtype, 1, 2, 2, 4, 2, 0, 0, 4);
        THTensor *view = THTensor_newReshape(flat, SIZES(2, 2, 2)), *t = requires_grad(THTensor_newClone(view));
        THTensor *sign = THTensor_new(), *r = THTensor_new();
        CHECK_OK(THTensor_slogdet(sign, r, t));
        CHECK_VALUES(sign, 0, 1);
        backward_of_sum(r);
        THTensor *grad = THTensor_newGrad(t);
        for (int i = 0; i < 4; i++) CHECK(!isfinite(element_at(grad, i)));
        const double expected[] = {0.5, 0, 0, 0.25};
        for (int i = 0; i < 4; i++) CHECK_NEAR(element_at(grad, 4 + i), expected[i], 1e-6);
        FREE(flat, view, t, sign, r, grad);
    }
}

CHECK_MAIN(CASE(factors_in_a_narrower_handle), CASE(both_extremes_in_a_narrower_handle), CASE(a_handle_of_another_dtype_in_place),
           CASE(a_handle_that_is_a_view_of_another_dtype), CASE(a_copy_keeps_the_shape_of_its_result),
           CASE(sums_in_whole_numbers_have_no_gradient), CASE(singular_vectors_of_large_and_small_matrices),
           CASE(determinants_of_singular_matrices))
