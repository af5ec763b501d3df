/* Elementwise operations beyond plain arithmetic: rounded division, powers, bits, bounds, masks, truth values,
 * closeness, and callbacks. */

#include "check.h"

/* Division */

static void quotients_are_rounded_as_asked(void) {
    THTensor *a = vector_of(TH_INT32, 7, -7, 7, -7), *b = vector_of(TH_INT32, 2, 2, -2, -2), *r = THTensor_new();
    CHECK_OK(THTensor_cdivMode(r, a, b, TH_DIV_TRUNC));
    CHECK_EQ(THTensor_dtype(r), TH_INT32);
    CHECK_VALUES(r, 3, -3, -3, 3);
    CHECK_OK(THTensor_cdivMode(r, a, b, TH_DIV_FLOOR));
    CHECK_VALUES(r, 3, -4, -4, 3);
    CHECK_OK(THTensor_cfmod(r, a, b));
    CHECK_VALUES(r, 1, -1, 1, -1);
    CHECK_OK(THTensor_cremainder(r, a, b));
    CHECK_VALUES(r, 1, 1, -1, -1);
    CHECK_ERROR(THTensor_cdivMode(r, a, b, TH_DIV_TRUE), TH_ERR_DTYPE, "float32");
    CHECK_ERROR(THTensor_divMode(r, a, 2, 7), TH_ERR_ARGUMENT, "7 is no rounding mode");
    THTensor *floats = vector_of(TH_FLOAT64, 5.5, -5.5, INFINITY, 1);
    CHECK_OK(THTensor_divMode(floats, floats, 2, TH_DIV_FLOOR));
    CHECK_VALUES(floats, 2, -3, NAN, 0);
    THTensor_free(floats);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void integers_refuse_to_be_divided_by_zero(void) {
    THTensor *a = vector_of(TH_INT64, 1, 2), *b = vector_of(TH_INT64, 1, 0);
    CHECK_ERROR(THTensor_cfmod(a, a, b), TH_ERR_ARGUMENT, "divided by zero");
    CHECK_ERROR(THTensor_cremainder(a, a, b), TH_ERR_ARGUMENT, "divided by zero");
    CHECK_ERROR(THTensor_cdivMode(a, a, b, TH_DIV_FLOOR), TH_ERR_ARGUMENT, "divided by zero");
    CHECK_ERROR(THTensor_fmod(a, a, 0), TH_ERR_ARGUMENT, "divided by zero");
    CHECK_ERROR(THTensor_divMode(a, a, 0, TH_DIV_TRUNC), TH_ERR_ARGUMENT, "divided by zero");
    CHECK_VALUES(a, 1, 2);
    THTensor *bytes = vector_of(TH_UINT8, 1, 2);
    CHECK_ERROR(THTensor_remainder(bytes, bytes, 256), TH_ERR_ARGUMENT, "divided by zero");
    THTensor *wraps_to_zero = THTensor_newScalar(TH_INT32, 256);
    CHECK_ERROR(THTensor_cremainder(bytes, bytes, wraps_to_zero), TH_ERR_ARGUMENT, "divided by zero");
    THTensor_free(wraps_to_zero);
    THTensor *floats = vector_of(TH_FLOAT32, 1, -1, 0);
    CHECK_OK(THTensor_fmod(floats, floats, 0));
    CHECK_VALUES(floats, NAN, NAN, NAN);
    THTensor_free(floats);
    THTensor_free(bytes);
    THTensor_free(b);
    THTensor_free(a);
}

/* The one integer quotient that overflows wraps, and its remainder is 0. The machine's instruction would trap. */
static void the_least_integer_divided_by_minus_one_wraps(void) {
    static const THDtype signed_types[] = {TH_INT8, TH_INT16, TH_INT32, TH_INT64};
    for (int k = 0; k < 4; k++) {
        THTensor *least = THTensor_newScalar(signed_types[k], 1), *r = THTensor_new();
        CHECK_OK(THTensor_lshift(least, least, 8 * (1 << k) - 1));
        CHECK(THTensor_item(least) < 0);
        CHECK_OK(THTensor_divMode(r, least, -1, TH_DIV_TRUNC));
        CHECK(THTensor_equal(r, least));
        CHECK_OK(THTensor_divMode(r, least, -1, TH_DIV_FLOOR));
        CHECK(THTensor_equal(r, least));
        CHECK_OK(THTensor_remainder(r, least, -1));
        CHECK_VALUES(r, 0);
        CHECK_OK(THTensor_fmod(r, least, -1));
        CHECK_VALUES(r, 0);
        THTensor_free(r);
        THTensor_free(least);
    }
}

/* Powers */

static void powers_of_integers_stay_integers(void) {
    THTensor *t = vector_of(TH_INT64, -2, -1, 0, 1, 3), *e = vector_of(TH_INT64, 3, -3, 0, -5, -1), *r = THTensor_new();
    CHECK_OK(THTensor_pow(r, t, 2));
    CHECK_VALUES(r, 4, 1, 0, 1, 9);
    CHECK_OK(THTensor_pow(r, t, 5));
    CHECK_VALUES(r, -32, -1, 0, 1, 243);
    CHECK_OK(THTensor_cpow(r, t, e));
    CHECK_VALUES(r, -8, -1, 1, 1, 0);
    CHECK_OK(THTensor_tpow(r, 2, e));
    CHECK_VALUES(r, 8, 0, 1, 0, 0);
    CHECK_ERROR(THTensor_pow(r, t, -1), TH_ERR_ARGUMENT, "integer power");
    CHECK_ERROR(THTensor_pow(r, t, 0.5), TH_ERR_DTYPE, "float32");
    THTensor_free(r);
    THTensor_free(e);
    THTensor_free(t);
}

static void powers_of_floats_follow_c99(void) {
    THTensor *t = vector_of(TH_FLOAT64, 4, 0, -0.0, INFINITY, -INFINITY, NAN), *r = THTensor_new();
    CHECK_OK(THTensor_pow(r, t, 0.5));
    CHECK_VALUES(r, 2, 0, 0, INFINITY, INFINITY, NAN);
    CHECK_OK(THTensor_pow(r, t, -1));
    CHECK_VALUES(r, 0.25, INFINITY, -INFINITY, 0, -0.0, NAN);
    CHECK_OK(THTensor_pow(r, t, 0));
    CHECK_VALUES(r, 1, 1, 1, 1, 1, 1);
    CHECK_OK(THTensor_pow(r, t, 3));
    CHECK_VALUES(r, 64, 0, -0.0, INFINITY, -INFINITY, NAN);
    THTensor_free(r);
    THTensor_free(t);
}

/* Bits */

static void bits_are_combined_and_shifted(void) {
    THTensor *a = vector_of(TH_UINT8, 12, 10, 255), *b = vector_of(TH_UINT8, 10, 1, 8), *r = THTensor_new();
    CHECK_OK(THTensor_cbitand(r, a, b));
    CHECK_VALUES(r, 8, 0, 8);
    CHECK_OK(THTensor_cbitor(r, a, b));
    CHECK_VALUES(r, 14, 11, 255);
    CHECK_OK(THTensor_cbitxor(r, a, b));
    CHECK_VALUES(r, 6, 11, 247);
    CHECK_OK(THTensor_bitwiseNot(r, a));
    CHECK_VALUES(r, 243, 245, 0);
    CHECK_OK(THTensor_lshift(r, a, 1));
    CHECK_VALUES(r, 24, 20, 254);
    CHECK_OK(THTensor_crshift(r, a, b));
    CHECK_VALUES(r, 0, 5, 0);
    THTensor *truth = vector_of(TH_BOOL, 0, 1), *floats = vector_of(TH_FLOAT32, 1, 2);
    CHECK_OK(THTensor_bitwiseNot(truth, truth));
    CHECK_VALUES(truth, 1, 0);
    CHECK_ERROR(THTensor_bitand(floats, floats, 1), TH_ERR_DTYPE, "not defined for float32, only for integers and bool");
    THTensor_free(floats);
    THTensor_free(truth);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void shifts_past_the_width_are_defined(void) {
    THTensor *t = vector_of(TH_INT32, 1, -1, -5), *by = vector_of(TH_INT32, 32, 99, -1), *r = THTensor_new();
    CHECK_OK(THTensor_clshift(r, t, by));
    CHECK_VALUES(r, 0, 0, 0);
    CHECK_OK(THTensor_crshift(r, t, by));
    CHECK_VALUES(r, 0, -1, -1);
    THTensor_free(r);
    THTensor_free(by);
    THTensor_free(t);
}

/* Bounds */

static void values_are_kept_within_bounds(void) {
    THTensor *t = vector_of(TH_FLOAT32, -2, 0.5, 3, NAN), *r = THTensor_new();
    CHECK_OK(THTensor_clamp(r, t, -1, 1));
    CHECK_VALUES(r, -1, 0.5, 1, NAN);
    CHECK_OK(THTensor_clamp(r, t, 0, INFINITY));
    CHECK_VALUES(r, 0, 0.5, 3, NAN);
    CHECK_OK(THTensor_cminValue(r, t, 1));
    CHECK_VALUES(r, -2, 0.5, 1, NAN);
    CHECK_OK(THTensor_clamp(r, t, 2, 1));
    CHECK_VALUES(r, 1, 1, 1, NAN);
    CHECK_OK(THTensor_clamp(r, t, NAN, 1));
    CHECK_VALUES(r, NAN, NAN, NAN, NAN);
    CHECK_OK(THTensor_cmaxValue(r, t, NAN));
    CHECK_VALUES(r, NAN, NAN, NAN, NAN);
    CHECK_ERROR(THTensor_hardtanh(r, t, 2, 1), TH_ERR_ARGUMENT, "not in order");
    THTensor *bytes = vector_of(TH_UINT8, 0, 100, 255), *small = THTensor_new();
    CHECK_OK(THTensor_clamp(small, bytes, -5, 1000));
    CHECK_EQ(THTensor_dtype(small), TH_UINT8);
    CHECK_VALUES(small, 0, 100, 255);
    THTensor_free(small);
    THTensor_free(bytes);
    THTensor_free(r);
    THTensor_free(t);
}

static void interpolation_is_exact_at_both_ends(void) {
    THTensor *a = vector_of(TH_FLOAT32, 0, 1e8f), *b = vector_of(TH_FLOAT32, 10, 1), *r = THTensor_new();
    CHECK_OK(THTensor_lerp(r, a, b, 0.25));
    CHECK_VALUES(r, 2.5, 75000000);
    CHECK_OK(THTensor_lerp(r, a, b, 1));
    CHECK_VALUES(r, 10, 1);
    THTensor *weights = vector_of(TH_FLOAT32, 0.5, 0);
    CHECK_OK(THTensor_lerpTensor(r, a, b, weights));
    CHECK_VALUES(r, 5, 100000000);
    THTensor_free(weights);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void products_and_quotients_are_added(void) {
    THTensor *t = vector_of(TH_FLOAT64, 1, 2), *a = vector_of(TH_FLOAT64, 3, 4), *b = vector_of(TH_FLOAT64, 2, 8);
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_addcmul(r, t, 0.5, a, b));
    CHECK_VALUES(r, 4, 18);
    CHECK_OK(THTensor_addcdiv(t, t, 2, a, b));
    CHECK_VALUES(t, 4, 3);
    THTensor *whole = vector_of(TH_INT32, 1, 2);
    CHECK_ERROR(THTensor_addcdiv(whole, whole, 1, whole, whole), TH_ERR_DTYPE, "not defined for int32, only for floats");
    CHECK_ERROR(THTensor_addcmul(whole, whole, 0.5, whole, whole), TH_ERR_DTYPE, "must be an integer");
    THTensor_free(whole);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
    THTensor_free(t);
}

/* Masks and truth values */

static void a_condition_chooses_between_two_tensors(void) {
    THTensor *t = vector_of(TH_FLOAT32, -1, 2, -3), *zero = THTensor_newScalar(TH_FLOAT32, 0);
    THTensor *mask = THTensor_new(), *r = THTensor_new();
    CHECK_OK(THTensor_gtValue(mask, t, 0));
    CHECK_OK(THTensor_where(r, mask, t, zero));
    CHECK_VALUES(r, 0, 2, 0);
    CHECK_OK(THTensor_where(t, mask, zero, t));
    CHECK_VALUES(t, -1, 0, -3);
    THTensor *column = matrix_of(TH_BOOL, 2, 0, 1);
    CHECK_OK(THTensor_where(r, column, t, zero));
    CHECK_SHAPE(r, 2, 3);
    CHECK_VALUES(r, 0, 0, 0, -1, 0, -3);
    CHECK_ERROR(THTensor_where(r, t, t, t), TH_ERR_DTYPE, "bool or uint8");
    THTensor_free(column);
    THTensor_free(r);
    THTensor_free(mask);
    THTensor_free(zero);
    THTensor_free(t);
}

static void a_number_stands_for_either_tensor(void) {
    THTensor *mask = vector_of(TH_BOOL, 1, 0, 1), *t = vector_of(TH_INT16, 10, 20, 30), *r = THTensor_new();
    CHECK_OK(THTensor_whereValue(r, mask, t, -1));
    CHECK_EQ(THTensor_dtype(r), TH_INT16);
    CHECK_VALUES(r, 10, -1, 30);
    CHECK_OK(THTensor_whereValueTensor(r, mask, -1, t));
    CHECK_VALUES(r, -1, 20, -1);
    CHECK_ERROR(THTensor_whereValue(r, mask, t, 40000), TH_ERR_ARGUMENT, "40000 is out of the range of int16");
    CHECK_ERROR(THTensor_whereValue(r, mask, t, 0.5), TH_ERR_DTYPE, "float32");
    THTensor_free(r);
    r = THTensor_new();
    CHECK_OK(THTensor_whereValues(r, mask, 1, 0x1p53));
    CHECK_EQ(THTensor_dtype(r), TH_INT64);
    CHECK_VALUES(r, 1, 0x1p53, 1);
    THTensor_free(r);
    r = THTensor_new();
    CHECK_OK(THTensor_whereValues(r, mask, 0.5, 0));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, .5, 0, .5);
    THTensor_free(r);
    THTensor_free(t);
    THTensor_free(mask);
}

static void bounds_may_be_tensors(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, -5, 0, 5, 9, NAN, 1), *least = vector_of(TH_FLOAT32, -1, 1, 2), *r = THTensor_new();
    THTensor *most = THTensor_newScalar(TH_FLOAT32, 4);
    CHECK_OK(THTensor_clampTensor(r, t, least, most));
    CHECK_VALUES(r, -1, 1, 4, 4, NAN, 2);
    CHECK_OK(THTensor_clampTensor(r, t, NULL, most));
    CHECK_VALUES(r, -5, 0, 4, 4, NAN, 1);
    CHECK_OK(THTensor_clampTensor(r, t, least, NULL));
    CHECK_VALUES(r, -1, 1, 5, 9, NAN, 2);
    CHECK_ERROR(THTensor_clampTensor(r, t, NULL, NULL), TH_ERR_ARGUMENT, "both NULL");
    /* A bound may be the result, and may have another dtype. */
    CHECK_OK(THTensor_clampTensor(least, least, NULL, least));
    THTensor *ints = vector_of(TH_INT32, 7, 7, 7);
    CHECK_OK(THTensor_clampTensor(t, t, ints, t));
    CHECK_VALUES(t, -5, 0, 5, 9, NAN, 1);
    THTensor_free(ints);
    THTensor_free(most);
    THTensor_free(r);
    THTensor_free(least);
    THTensor_free(t);
}

static void signs_are_those_of_the_bits(void) {
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = vector_of(dtypes[k], 1, 0), *r = THTensor_new();
        CHECK_OK(THTensor_signbit(r, t));
        CHECK_EQ(THTensor_dtype(r), TH_BOOL);
        CHECK_VALUES(r, 0, 0);
        THTensor_free(r);
        THTensor_free(t);
    }
    THTensor *t = matrix_of(TH_FLOAT64, 2, -0.0, 0.0, copysign(NAN, -1), copysign(NAN, 1), -INFINITY, 5e-324);
    THTensor *turned = THTensor_newT(t), *r = THTensor_new();
    CHECK_OK(THTensor_signbit(r, turned));
    CHECK_VALUES(r, 1, 0, 0, 1, 1, 0);
    /* In place, the truth values are stored as floats. */
    CHECK_OK(THTensor_signbit(t, t));
    CHECK_VALUES(t, 1, 0, 1, 0, 1, 0);
    THTensor_free(r);
    THTensor_free(turned);
    THTensor_free(t);
}

static void numbers_take_the_place_of_nan_and_infinities(void) {
    THTensor *t = vector_of(TH_FLOAT16, NAN, INFINITY, -INFINITY, 3), *r = THTensor_new();
    CHECK_OK(THTensor_nanToNum(r, t, 0, NAN, NAN));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT16);
    CHECK_VALUES(r, 0, 65504, -65504, 3);
    /* Replaces only NaN, or only the infinities. */
    CHECK_OK(THTensor_nanToNum(r, t, 1, INFINITY, -INFINITY));
    CHECK_VALUES(r, 1, INFINITY, -INFINITY, 3);
    CHECK_OK(THTensor_nanToNum(t, t, NAN, 7, -7));
    CHECK_VALUES(t, NAN, 7, -7, 3);
    THTensor_free(r);
    THTensor_free(t);
}

static void a_step_has_a_value_at_zero(void) {
    THTensor *t = vector_of(TH_FLOAT32, -2, -0.0, 0, 3, NAN), *half = THTensor_newScalar(TH_FLOAT32, 0.5), *r = THTensor_new();
    CHECK_OK(THTensor_heaviside(r, t, half));
    CHECK_VALUES(r, 0, 0.5, 0.5, 1, 0);
    CHECK_OK(THTensor_heaviside(t, t, t));
    CHECK_VALUES(t, 0, 0, 0, 1, 0);
    THTensor_free(r);
    THTensor_free(half);
    THTensor_free(t);
}

static void a_number_may_be_what_is_subtracted_from(void) {
    THTensor *t = vector_of(TH_UINT8, 1, 2, 250), *r = THTensor_new();
    CHECK_OK(THTensor_rsub(r, t, 5));
    CHECK_EQ(THTensor_dtype(r), TH_UINT8);
    CHECK_VALUES(r, 4, 3, 11);
    CHECK_OK(THTensor_crsub(r, t, 2, r));
    CHECK_VALUES(r, 2, 255, 23);
    THTensor_free(r);
    r = THTensor_new();
    CHECK_OK(THTensor_rsub(r, t, 0.5));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, -0.5, -1.5, -249.5);
    CHECK_OK(THTensor_xlogyValue(r, t, 1));
    CHECK_VALUES(r, 0, 0, 0);
    THTensor_free(r);
    THTensor_free(t);
}

static void masked_elements_are_filled(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT16, SIZES(2, 3)), *mask = vector_of(TH_UINT8, 1, 0, 7);
    CHECK_OK(THTensor_maskedFill(t, mask, 2.5));
    CHECK_VALUES(t, 2.5, 0, 2.5, 2.5, 0, 2.5);
    THTensor *large = THTensor_newOnes(TH_BOOL, SIZES(4, 2, 3));
    CHECK_ERROR(THTensor_maskedFill(t, large, 1), TH_ERR_SHAPE, "does not broadcast");
    CHECK_ERROR(THTensor_maskedFill(t, t, 1), TH_ERR_DTYPE, "bool or uint8");
    THTensor_free(large);
    THTensor_free(mask);
    THTensor_free(t);
}

static void truth_is_what_is_not_zero(void) {
    THTensor *a = vector_of(TH_FLOAT32, 0, 2, 0, NAN), *b = vector_of(TH_INT8, 0, 0, -1, 1), *r = THTensor_new();
    CHECK_OK(THTensor_logicalAnd(r, a, b));
    CHECK_EQ(THTensor_dtype(r), TH_BOOL);
    CHECK_VALUES(r, 0, 0, 0, 1);
    CHECK_OK(THTensor_logicalOr(r, a, b));
    CHECK_VALUES(r, 0, 1, 1, 1);
    CHECK_OK(THTensor_logicalXor(r, a, b));
    CHECK_VALUES(r, 0, 1, 1, 0);
    CHECK_OK(THTensor_logicalNot(r, a));
    CHECK_VALUES(r, 1, 0, 1, 0);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void a_derivative_of_digamma_has_an_order(void) {
    THTensor *t = vector_of(TH_FLOAT64, 1, 2), *r = THTensor_new();
    /* psi''(1) = -2 zeta(3) */
    CHECK_OK(THTensor_polygamma(r, 2, t));
    CHECK_CLOSE(r, 1e-15, -2.4041138063191886, -0.4041138063191886);
    CHECK_ERROR(THTensor_polygamma(r, -1, t), TH_ERR_ARGUMENT, "order -1");
    CHECK_ERROR(THTensor_polygamma(r, INT64_MAX, t), TH_ERR_UNSUPPORTED, "at most 1048576");
    CHECK_OK(THTensor_polygamma(r, 1 << 20, t));
    CHECK_VALUES(r, -INFINITY, -INFINITY);
    THTensor_free(r);
    THTensor_free(t);
}

static void infinities_and_nan_are_found(void) {
    THTensor *t = vector_of(TH_FLOAT16, 1, INFINITY, -INFINITY, NAN, 65504), *r = THTensor_new();
    CHECK_OK(THTensor_isnan(r, t));
    CHECK_VALUES(r, 0, 0, 0, 1, 0);
    CHECK_OK(THTensor_isinf(r, t));
    CHECK_VALUES(r, 0, 1, 1, 0, 0);
    CHECK_OK(THTensor_isfinite(r, t));
    CHECK_VALUES(r, 1, 0, 0, 0, 1);
    THTensor_free(r);
    THTensor_free(t);
}

static void closeness_has_tolerances(void) {
    THTensor *a = vector_of(TH_FLOAT64, 1, 100, INFINITY, NAN, INFINITY), *r = THTensor_new();
    THTensor *b = vector_of(TH_FLOAT64, 1 + 1e-9, 101, INFINITY, NAN, 1e300);
    CHECK_OK(THTensor_isclose(r, a, b, 1e-5, 1e-8, 0));
    CHECK_VALUES(r, 1, 0, 1, 0, 0);
    CHECK_OK(THTensor_isclose(r, a, b, 0.01, 0, 1));
    CHECK_VALUES(r, 1, 1, 1, 1, 0);
    CHECK_EQ(THTensor_allclose(a, b, 1e-5, 1e-8, 1), 0);
    CHECK_EQ(THTensor_allclose(a, a, 0, 0, 1), 1);
    CHECK_ERROR(THTensor_isclose(r, a, b, -1, 0, 0), TH_ERR_ARGUMENT, "not negative");
    THTensor_free(b);
    THTensor_free(r);
    THTensor_free(a);
}

static void equality_is_of_shape_and_elements(void) {
    THTensor *a = vector_of(TH_INT32, 1, 2), *b = vector_of(TH_FLOAT32, 1, 2), *row = matrix_of(TH_INT32, 1, 1, 2);
    CHECK_EQ(THTensor_equal(a, b), 1);
    CHECK_EQ(THTensor_equal(a, row), 0);
    CHECK_OK(THTensor_set1d(b, 1, NAN));
    CHECK_EQ(THTensor_equal(b, b), 0);
    THTensor_free(row);
    THTensor_free(b);
    THTensor_free(a);
}

/* Callbacks */

static int count_up(double *x, void *context) {
    *x = ++*(int *)context;
    return 0;
}

static int leave_odd_ones(double *x, void *context) {
    (void)context;
    if (fmod(*x, 2) == 0) *x /= 2;
    return 0;
}

static int stop_at_three(double *x, void *context) {
    (void)context;
    *x += 10;
    return *x == 13 ? 42 : 0;
}

static void a_function_is_applied_in_row_major_order(void) {
    THTensor *t = THTensor_newZeros(TH_INT16, SIZES(3, 2)), *columns = THTensor_newTranspose(t, 0, 1);
    int count = 0;
    CHECK_OK(THTensor_apply(columns, count_up, &count));
    CHECK_VALUES(columns, 1, 2, 3, 4, 5, 6);
    CHECK_VALUES(t, 1, 4, 2, 5, 3, 6);
    CHECK_OK(THTensor_apply(t, leave_odd_ones, NULL));
    CHECK_VALUES(t, 1, 2, 1, 5, 3, 3);
    CHECK_ERROR(THTensor_apply(t, NULL, NULL), TH_ERR_ARGUMENT, "function is NULL");
    THTensor_free(columns);
    THTensor_free(t);
}

static int look(double *x, void *context) {
    *(double *)context = *x;
    return 0;
}

/* A double rounds 2^53 + 1 to 2^53. Unless the callback stores another value, the element is unchanged. */
static void what_a_function_leaves_alone_keeps_every_bit(void) {
    int64_t odd = ((int64_t)1 << 53) + 1;
    double seen = 0;
    THTensor *t = THTensor_newScalarLong(TH_INT64, odd);
    CHECK_OK(THTensor_apply(t, look, &seen));
    CHECK_NEAR(seen, ldexp(1, 53), 0);
    CHECK_EQ(THTensor_itemLong(t), odd);
    THTensor_free(t);
}

static void a_function_stops_with_its_own_code(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4);
    CHECK_ERROR(THTensor_apply(t, stop_at_three, NULL), 42, "stopped with 42 at [2]");
    CHECK_VALUES(t, 11, 12, 13, 4);
    THTensor_free(t);
}

static int stop_with(double *x, void *context) {
    (void)x;
    return *(int *)context;
}

/* 10 would blame the library. */
static void no_code_of_a_function_is_an_internal_fault(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    int code = TH_ERR_INTERNAL;
    CHECK_ERROR(THTensor_apply(t, stop_with, &code), TH_ERR_CALLBACK, "stopped with 10 at [0]");
    CHECK_EQ(THGetLastErrorCode(), TH_ERR_CALLBACK);
    for (code = 1; code < 20; code++) {
        if (code != TH_ERR_INTERNAL) CHECK_ERROR(THTensor_apply(t, stop_with, &code), (THStatus)code, "stopped with");
    }
    THTensor_free(t);
}

static int add(double *x, double y, void *context) {
    (void)context;
    *x += y;
    return 0;
}

static int multiply_and_add(double *x, double y, double z, void *context) {
    (void)context;
    *x += y * z;
    return 0;
}

static void functions_see_the_elements_of_other_tensors(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *row = vector_of(TH_INT32, 10, 20);
    CHECK_OK(THTensor_map(t, row, add, NULL));
    CHECK_VALUES(t, 11, 22, 13, 24);
    CHECK_OK(THTensor_map2(t, t, row, multiply_and_add, NULL));
    CHECK_VALUES(t, 121, 462, 143, 504);
    THTensor *reversed = THTensor_newTranspose(t, 0, 1);
    CHECK_OK(THTensor_map(t, reversed, add, NULL));
    CHECK_VALUES(t, 242, 605, 605, 1008);
    THTensor *cube = THTensor_newZeros(TH_FLOAT32, SIZES(2, 2, 2));
    CHECK_ERROR(THTensor_map(t, cube, add, NULL), TH_ERR_SHAPE, "");
    THTensor_free(cube);
    THTensor_free(reversed);
    THTensor_free(row);
    THTensor_free(t);
}

static int shrink(double *x, void *context) {
    (void)x;
    THStorage *storage = THTensor_storage(context);
    return THStorage_resize(storage, 0) == TH_OK ? 0 : -1;
}

static void a_function_that_frees_the_memory_is_found_out(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(1000));
    CHECK_ERROR(THTensor_apply(t, shrink, t), TH_ERR_CALLBACK, "changed the storage");
    THTensor_free(t);
}

CHECK_MAIN(CASE(quotients_are_rounded_as_asked), CASE(integers_refuse_to_be_divided_by_zero),
           CASE(the_least_integer_divided_by_minus_one_wraps), CASE(powers_of_integers_stay_integers),
           CASE(powers_of_floats_follow_c99), CASE(bits_are_combined_and_shifted),
           CASE(shifts_past_the_width_are_defined), CASE(values_are_kept_within_bounds),
           CASE(interpolation_is_exact_at_both_ends), CASE(products_and_quotients_are_added),
           CASE(a_condition_chooses_between_two_tensors), CASE(a_number_stands_for_either_tensor), CASE(bounds_may_be_tensors),
           CASE(signs_are_those_of_the_bits), CASE(numbers_take_the_place_of_nan_and_infinities),
           CASE(a_step_has_a_value_at_zero), CASE(a_number_may_be_what_is_subtracted_from), CASE(masked_elements_are_filled),
           CASE(truth_is_what_is_not_zero), CASE(a_derivative_of_digamma_has_an_order),
           CASE(infinities_and_nan_are_found), CASE(closeness_has_tolerances), CASE(equality_is_of_shape_and_elements),
           CASE(a_function_is_applied_in_row_major_order), CASE(what_a_function_leaves_alone_keeps_every_bit),
           CASE(a_function_stops_with_its_own_code), CASE(no_code_of_a_function_is_an_internal_fault), CASE(functions_see_the_elements_of_other_tensors),
           CASE(a_function_that_frees_the_memory_is_found_out))
