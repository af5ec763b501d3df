/*
 * The dtype in which an operation is computed: the conversion of numbers and operands before the operation, and of the result into another
 * dtype. The expected values are PyTorch's.
 */
#include "check.h"

static THTensor *scalar(THDtype dtype, double value) { return THTensor_newScalar(dtype, value); }

/* A vector of one element: unlike a 0-d tensor, it counts in promotion. */
static THTensor *one(THDtype dtype, double value) { return THTensor_newFull(dtype, 1, (int64_t[]){1}, value); }

/* Checks the element and the dtype of a result, and frees the result. */
static void check_result(THTensor *r, THStatus status, THDtype dtype, double expected) {
    CHECK_EQ(status, TH_OK);
    CHECK_EQ(THTensor_dtype(r), dtype);
    CHECK_NEAR(THTensor_item(r), expected, 0);
    THTensor_free(r);
}

static void zero_is_whole_whatever_its_sign(void) {
    THTensor *t = one(TH_INT32, 7), *f = one(TH_FLOAT32, 7), *r = THTensor_new();
    check_result(r, THTensor_add(r, t, -0.0), TH_INT32, 7);
    /* In a float dtype the zero keeps its sign. */
    r = THTensor_new();
    CHECK_OK(THTensor_mul(r, f, -0.0));
    CHECK(signbit(THTensor_item(r)));
    THTensor_free(r);
    THTensor_free(f);
    THTensor_free(t);
}

static void infinite_numbers_are_floats(void) {
    const double infinities[] = {-INFINITY, INFINITY};
    THTensor *t = one(TH_INT32, 7);
    for (int i = 0; i < 2; i++) {
        THTensor *larger = THTensor_new(), *smaller = THTensor_new();
        check_result(larger, THTensor_cmaxValue(larger, t, infinities[i]), TH_FLOAT32, i == 0 ? 7 : INFINITY);
        check_result(smaller, THTensor_cminValue(smaller, t, infinities[i]), TH_FLOAT32, i == 0 ? -INFINITY : 7);
    }
    /* As a bound of an interval, an infinity means no bound. */
    THTensor *r = THTensor_new();
    check_result(r, THTensor_clamp(r, t, -INFINITY, 5), TH_INT32, 5);
    THTensor_free(t);
}

static void numbers_are_rounded_to_the_common_dtype(void) {
    THTensor *tenth = one(TH_FLOAT16, 0.1), *r = THTensor_new();
    check_result(r, THTensor_eqValue(r, tenth, 0.1), TH_BOOL, 1);
    r = THTensor_new();
    check_result(r, THTensor_ltValue(r, tenth, 0.1), TH_BOOL, 0);
    /* 2049 is 2048 as a float16. */
    r = THTensor_new();
    check_result(r, THTensor_sub(r, tenth, 2049), TH_FLOAT16, -2048);
    THTensor *large = one(TH_FLOAT16, 2048);
    r = THTensor_new();
    check_result(r, THTensor_remainder(r, large, 2049), TH_FLOAT16, 0);
    /* Factors and divisors are not rounded to float16; 49984 is the float16 nearest to 50000. */
    THTensor *half = one(TH_FLOAT16, 0.5);
    r = THTensor_new();
    check_result(r, THTensor_mul(r, half, 100000), TH_FLOAT16, 49984);
    THTensor_free(half);
    THTensor_free(large);
    THTensor_free(tenth);
}

static void operands_are_rounded_to_the_common_dtype(void) {
    THTensor *number = one(TH_INT32, 2049), *large = one(TH_FLOAT16, 2048), *r = THTensor_new();
    check_result(r, THTensor_eqTensor(r, number, large), TH_BOOL, 1);
    r = THTensor_new();
    check_result(r, THTensor_csub(r, number, 1, large), TH_FLOAT16, 0);
    THTensor *huge = one(TH_INT32, 100000), *half = one(TH_FLOAT16, 0.5);
    r = THTensor_new();
    check_result(r, THTensor_cmul(r, huge, half), TH_FLOAT16, INFINITY);
    /* A float64 0-d tensor next to 16-bit floats. */
    THTensor *tenth = scalar(TH_FLOAT64, 0.1), *rounded = one(TH_BFLOAT16, 0.1);
    r = THTensor_new();
    check_result(r, THTensor_eqTensor(r, rounded, tenth), TH_BOOL, 1);
    r = THTensor_new();
    check_result(r, THTensor_csub(r, rounded, 1, tenth), TH_BFLOAT16, 0);
    /* float16 represents bytes and truth values exactly. */
    THTensor *byte = one(TH_UINT8, 255);
    r = THTensor_new();
    check_result(r, THTensor_cadd(r, half, 1, byte), TH_FLOAT16, 255.5);
    THTensor_free(byte);
    THTensor_free(rounded);
    THTensor_free(tenth);
    THTensor_free(half);
    THTensor_free(huge);
    THTensor_free(large);
    THTensor_free(number);
}

/* Many elements use other code of the engine than one element. */
static void operands_are_rounded_in_any_number(void) {
    int64_t size[2] = {40, 100};
    THTensor *number = THTensor_newFull(TH_INT32, 2, size, 2049), *large = THTensor_newFull(TH_FLOAT16, 2, size, 2048);
    THTensor *turned = THTensor_newTranspose(number, 0, 1), *r = THTensor_new();
    THTensor *large_turned = THTensor_newTranspose(large, 0, 1);
    CHECK_OK(THTensor_csub(r, turned, 1, large_turned));
    CHECK_NEAR(THTensor_maxall(r), 0, 0);
    CHECK_NEAR(THTensor_minall(r), 0, 0);
    THTensor_free(large_turned);
    THTensor_free(r);
    THTensor_free(turned);
    THTensor_free(large);
    THTensor_free(number);
}

static void what_is_stored_is_the_fresh_result_converted(void) {
    /* 100 * 100 wraps to 16 in eight bits, for any dtype of the result. */
    THTensor *m = THTensor_newFull(TH_INT8, 2, (int64_t[]){1, 1}, 100), *r = THTensor_new();
    check_result(r, THTensor_mm(r, m, m), TH_INT8, 16);
    r = one(TH_INT32, 0);
    check_result(r, THTensor_mm(r, m, m), TH_INT32, 16);
    r = one(TH_FLOAT64, 0);
    check_result(r, THTensor_cmul(r, m, m), TH_FLOAT64, 16);
    /* 0.1f16^2 = 0.00999...f16; in float32 it would have more digits. */
    THTensor *tenth = one(TH_FLOAT16, 0.1), *fresh = THTensor_new();
    CHECK_OK(THTensor_cmul(fresh, tenth, tenth));
    const THDtype wider[] = {TH_FLOAT32, TH_FLOAT64};
    for (int i = 0; i < 2; i++) {
        r = THTensor_newFull(wider[i], 2, (int64_t[]){3, 2}, 5);
        check_result(r, THTensor_cmul(r, tenth, tenth), wider[i], THTensor_item(fresh));
        r = one(wider[i], 0);
        check_result(r, THTensor_mul(r, tenth, 0.1), wider[i], 0.0099945068359375);
    }
    THTensor *square = THTensor_newFull(TH_FLOAT16, 2, (int64_t[]){1, 1}, 0.1);
    r = one(TH_FLOAT32, 0);
    check_result(r, THTensor_mm(r, square, square), TH_FLOAT32, THTensor_item(fresh));
    /* Powers of bytes are computed as int64, and converted once. */
    THTensor *base = one(TH_UINT8, 200);
    r = one(TH_FLOAT32, 0);
    CHECK_OK(THTensor_vander(r, base, 4, 1));
    CHECK_VALUES(r, 1, 200, 40000, 8000000);
    THTensor_free(r);
    THTensor_free(base);
    THTensor_free(square);
    THTensor_free(fresh);
    THTensor_free(tenth);
    THTensor_free(m);
}

static void progressions_are_whole_if_all_three_numbers_are(void) {
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_arange(r, 0, 2.5, 1));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 0, 1, 2);
    THTensor_free(r);
    r = THTensor_new();
    CHECK_OK(THTensor_arange(r, -0.0, 3, 1));
    CHECK_EQ(THTensor_dtype(r), TH_INT64);
    CHECK_VALUES(r, 0, 1, 2);
    CHECK_ERROR(THTensor_arange(r, 0, 2.5, 1), TH_ERR_DTYPE, "cannot be stored");
    CHECK_ERROR(THTensor_range(r, 0, 2.5, 1), TH_ERR_DTYPE, "cannot be stored");
    CHECK_VALUES(r, 0, 1, 2);
    THTensor_free(r);
}

static void integers_refuse_numbers_out_of_their_range(void) {
    const struct {
        THDtype dtype;
        double value, stored; /* NaN: the call is refused */
    } cases[] = {
        {TH_UINT8, 255.5, 255},    {TH_UINT8, 256, NAN},       {TH_UINT8, -1, 255},        {TH_UINT8, -256, NAN},
        {TH_INT8, -128, -128},     {TH_INT8, 128, NAN},        {TH_INT16, 32768, NAN},     {TH_INT32, 2147483647, 2147483647},
        {TH_INT32, 2147483648, NAN}, {TH_INT64, 9.3e18, NAN},  {TH_INT64, NAN, NAN},       {TH_INT64, -INFINITY, NAN},
        {TH_UINT8, -0.5, NAN},     {TH_UINT8, -1.5, NAN},      {TH_UINT8, -7.3, NAN},     {TH_UINT8, -255.5, NAN},
        {TH_UINT8, -255, 1},       {TH_INT8, -127.5, -127},
        {TH_INT32, 2.5, 2},        {TH_BOOL, 300, 1},          {TH_FLOAT32, 1e300, INFINITY},
    };
    THTensor *mask = one(TH_BOOL, 1), *first = one(TH_INT64, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        THDtype dtype = cases[i].dtype;
        double value = cases[i].value, stored = cases[i].stored;
        THTensor *r = one(dtype, 1), *shaped = THTensor_newFull(dtype, 1, (int64_t[]){2}, 1);
        THStorage *storage = THTensor_storage(r);
        if (isnan(stored)) {
            CHECK_ERROR(THTensor_fill(r, value), TH_ERR_ARGUMENT, "out of the range");
            CHECK_ERROR(THTensor_set1d(r, 0, value), TH_ERR_ARGUMENT, "out of the range");
            CHECK_ERROR(THTensor_maskedFill(r, mask, value), TH_ERR_ARGUMENT, "out of the range");
            CHECK_ERROR(THTensor_scatterFillMode(r, 0, first, value, TH_REDUCE_ADD), TH_ERR_ARGUMENT, "out of the range");
            CHECK_ERROR(THStorage_fill(storage, value), TH_ERR_ARGUMENT, "out of the range");
            CHECK_ERROR(THTensor_full(shaped, 1, (int64_t[]){1}, value), TH_ERR_ARGUMENT, "out of the range");
            CHECK(THTensor_newScalar(dtype, value) == NULL);
            CHECK_VALUES(shaped, 1, 1);
            CHECK_VALUES(r, 1);
        } else {
            CHECK_OK(THTensor_fill(r, value));
            CHECK_NEAR(THTensor_item(r), stored, 0);
            CHECK_OK(THTensor_set1d(r, 0, value));
            CHECK_NEAR(THTensor_item(r), stored, 0);
            CHECK_OK(THTensor_maskedFill(r, mask, value));
            CHECK_NEAR(THTensor_item(r), stored, 0);
            CHECK_OK(THTensor_full(shaped, 1, (int64_t[]){1}, value));
            CHECK_NEAR(THTensor_item(shaped), stored, 0);
        }
        THTensor_free(shaped);
        THTensor_free(r);
    }
    THTensor_free(first);
    THTensor_free(mask);
}

CHECK_MAIN(CASE(zero_is_whole_whatever_its_sign), CASE(infinite_numbers_are_floats), CASE(numbers_are_rounded_to_the_common_dtype),
           CASE(operands_are_rounded_to_the_common_dtype), CASE(operands_are_rounded_in_any_number),
           CASE(what_is_stored_is_the_fresh_result_converted), CASE(progressions_are_whole_if_all_three_numbers_are),
           CASE(integers_refuse_numbers_out_of_their_range))
