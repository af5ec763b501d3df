/* Single elements: integers that a double cannot represent, and the forms for up to five dimensions. */

#include "check.h"

static const int64_t large[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1};

static void large_integers_stay_exact(void) {
    for (int i = 0; i < 3; i++) {
        THTensor *t = THTensor_newScalarLong(TH_INT64, large[i]);
        CHECK_EQ(THTensor_itemLong(t), large[i]);
        THTensor *copy = THTensor_newClone(t);
        CHECK_EQ(THTensor_itemLong(copy), large[i]);
        THTensor_free(copy);
        THTensor_free(t);
    }
}

static void large_integers_are_set_and_read(void) {
    THTensor *t = THTensor_newZeros(TH_INT64, SIZES(2, 3));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(THTensor_setAtLong(t, SIZES(1, -1), large[i]));
        CHECK_EQ(THTensor_getAtLong(t, SIZES(-1, 2)), large[i]);
        CHECK_EQ(THTensor_getAtLong(t, SIZES(0, 0)), 0);
        CHECK_OK(THTensor_fillLong(t, large[i]));
        CHECK_EQ(THTensor_getAtLong(t, SIZES(0, 0)), large[i]);
        CHECK_OK(THTensor_zero(t));
    }
    /* A double holds the nearest number. */
    CHECK_OK(THTensor_setAtLong(t, SIZES(0, 0), large[2]));
    CHECK_NEAR(THTensor_getAt(t, SIZES(0, 0)), 0x1p53, 0);
    CHECK_ERROR(THTensor_setAtLong(t, SIZES(2, 0), 1), TH_ERR_ARGUMENT, "index 2");
    CHECK_FAILURE(THTensor_getAtLong(t, SIZES(0)) == -1, TH_ERR_ARGUMENT, "1 indices");
    THTensor_free(t);
}

static void integers_go_into_every_dtype(void) {
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = THTensor_newZeros(dtypes[k], SIZES(3));
        int64_t seven = dtypes[k] == TH_BOOL ? 1 : 7;
        CHECK_OK(THTensor_fillLong(t, 7));
        CHECK_EQ(THTensor_getAtLong(t, SIZES(1)), seven);
        CHECK_OK(THTensor_setAtLong(t, SIZES(1), 0));
        CHECK_EQ(THTensor_getAtLong(t, SIZES(1)), 0);
        THTensor_free(t);
    }
    THTensor *bytes = THTensor_newZeros(TH_UINT8, SIZES(2)), *floats = vector_of(TH_FLOAT32, 2.75, -2.75, NAN, INFINITY);
    CHECK_ERROR(THTensor_fillLong(bytes, 256), TH_ERR_ARGUMENT, "256 is out of the range of uint8");
    CHECK_ERROR(THTensor_setAtLong(bytes, SIZES(0), -256), TH_ERR_ARGUMENT, "-256 is out of the range of uint8");
    CHECK_VALUES(bytes, 0, 0);
    /* Floats are truncated, and saturate at the ends of int64. NaN becomes 0. */
    const int64_t cut[] = {2, -2, 0, INT64_MAX};
    for (int64_t i = 0; i < 4; i++) CHECK_EQ(THTensor_getAtLong(floats, 1, &i), cut[i]);
    THTensor_free(floats);
    THTensor_free(bytes);
}

static void a_storage_holds_large_integers(void) {
    THStorage *s = THStorage_newWithSize(TH_INT64, 3);
    for (int i = 0; i < 3; i++) CHECK_OK(THStorage_setLong(s, i, large[i]));
    for (int i = 0; i < 3; i++) CHECK_EQ(THStorage_getLong(s, i), large[i]);
    CHECK_ERROR(THStorage_setLong(s, 3, 0), TH_ERR_ARGUMENT, "index 3");
    CHECK_FAILURE(THStorage_getLong(s, -1) == -1, TH_ERR_ARGUMENT, "index -1");
    THStorage_free(s);
}

static void five_dimensions_have_the_forms_of_four(void) {
    THTensor *t = THTensor_newWithSize5d(TH_INT32, 2, 1, 3, 1, 2);
    CHECK_SHAPE(t, 2, 1, 3, 1, 2);
    CHECK_STRIDES(t, 6, 6, 2, 2, 1);
    CHECK_OK(THTensor_zero(t));
    CHECK_OK(THTensor_set5d(t, 1, 0, -1, 0, 1, 7));
    CHECK_NEAR(THTensor_get5d(t, -1, 0, 2, 0, 1), 7, 0);
    CHECK_NEAR(THTensor_sumall(t), 7, 0);
    CHECK_ERROR(THTensor_set5d(t, 0, 1, 0, 0, 0, 7), TH_ERR_ARGUMENT, "index 1");
    CHECK_FAILURE(isnan(THTensor_get5d(t, 0, 0, 3, 0, 0)), TH_ERR_ARGUMENT, "index 3");

    THStorage *s = THTensor_storage(t);
    THTensor *view = THTensor_newWithStorage5d(s, 1, 2, 6, 1, 6, 3, 2, 1, 2, 1, 1), *other = THTensor_new();
    CHECK_SHAPE(view, 2, 1, 3, 1, 1);
    CHECK_STRIDES(view, 6, 6, 2, 2, 1);
    CHECK_VALUES(view, 0, 0, 0, 0, 0, 7);
    CHECK_OK(THTensor_setStorage5d(other, s, 1, 2, 6, 1, 6, 3, 2, 1, 2, 1, 1));
    CHECK(THTensor_isSetTo(other, view));
    CHECK_OK(THTensor_resize5d(other, 1, 1, 1, 1, 1));
    CHECK_SHAPE(other, 1, 1, 1, 1, 1);
    THTensor_free(other);
    /* Sizes and strides alternate. The offset 1 leaves 12 of 13 elements. */
    THTensor *three = THTensor_newWithStorage3d(s, 1, 2, 6, 3, 2, 1, 2), *four = THTensor_newWithStorage4d(s, 1, 2, 6, 1, 6, 3, 2, 1, 2);
    CHECK_SHAPE(three, 2, 3, 1);
    CHECK_STRIDES(three, 6, 2, 2);
    CHECK_VALUES(three, 0, 0, 0, 0, 0, 7);
    CHECK_SHAPE(four, 2, 1, 3, 1);
    CHECK_STRIDES(four, 6, 6, 2, 2);
    CHECK_OK(THTensor_squeeze1d(four, four, 1));
    CHECK(THTensor_isSetTo(three, four));
    THTensor_free(four);
    THTensor_free(three);
    THTensor_free(view);
    THTensor_free(t);
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The quiet NaN without a sign or payload. */
static const uint64_t canonical = UINT64_C(0x7ff8000000000000);

#define CHECK_CANONICAL(x) CHECK_EQ(bits_of(x), canonical)

static int sees_canonical(double *x, void *context) {
    (void)context;
    CHECK_CANONICAL(*x);
    return 0;
}

static int sees_two_canonical(double *x, double y, void *context) { return sees_canonical(x, context) + sees_canonical(&y, context); }

static int sees_three_canonical(double *x, double y, double z, void *context) {
    return sees_two_canonical(x, y, context) + sees_canonical(&z, context);
}

/* Three NaNs of a dtype with all bits set; of the second one only those that make it a signalling one of negative sign. */
static THTensor *payloads(THDtype dtype) {
    THTensor *t = THTensor_newWithSize1d(dtype, 3);
    size_t size = THDtype_size(dtype);
    memset(THTensor_data(t), 255, 3 * size);
    const uint64_t signalling = dtype == TH_FLOAT64   ? UINT64_C(0xfff0000000000001)
                                : dtype == TH_FLOAT32 ? 0xff800001
                                : dtype == TH_FLOAT16 ? 0xfc01
                                                      : 0xff81;
    memcpy((char *)THTensor_data(t) + size, &signalling, size);
    return t;
}

static void every_nan_that_is_returned_is_canonical(void) {
    for (int d = 0; d < DTYPES; d++) {
        if (!is_float(dtypes[d])) continue;
        THTensor *t = payloads(dtypes[d]), *five = THTensor_newView(t, SIZES(1, 1, 1, 1, 3));
        THTensor *one = THTensor_newNarrow(t, 0, 1, 1), *square = THTensor_newView(one, SIZES(1, 1));
        THTensor *four = THTensor_newSelect(five, 0, 0), *three = THTensor_newSelect(four, 0, 0), *two = THTensor_newSelect(three, 0, 0);
        for (int64_t i = 0; i < 3; i++) {
            CHECK_CANONICAL(THTensor_get1d(t, i));
            CHECK_CANONICAL(THTensor_getAt(t, 1, &i));
            CHECK_CANONICAL(THTensor_get2d(two, 0, i));
            CHECK_CANONICAL(THTensor_get3d(three, 0, 0, i));
            CHECK_CANONICAL(THTensor_get4d(four, 0, 0, 0, i));
            CHECK_CANONICAL(THTensor_get5d(five, 0, 0, 0, 0, i));
            CHECK_CANONICAL(THStorage_get(THTensor_storage(t), i));
        }
        double (*const numbers[])(const THTensor *) = {THTensor_sumall, THTensor_prodall, THTensor_meanall,
                                                        THTensor_maxall, THTensor_minall,  THTensor_medianall};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            CHECK_CANONICAL(numbers[k](t));
            CHECK_CANONICAL(numbers[k](one));
        }
        CHECK_CANONICAL(THTensor_item(one));
        CHECK_CANONICAL(THTensor_trace(square));
        CHECK_CANONICAL(THTensor_varall(t, 0));
        CHECK_CANONICAL(THTensor_stdall(t, 1));
        CHECK_CANONICAL(THTensor_varallCorrection(t, 1));
        CHECK_CANONICAL(THTensor_stdallCorrection(t, 0));
        CHECK_CANONICAL(THTensor_normall(t, 2));
        CHECK_CANONICAL(THTensor_dist(t, t, 3));
        CHECK_OK(THTensor_apply(t, sees_canonical, NULL));
        CHECK_OK(THTensor_map(t, t, sees_two_canonical, NULL));
        CHECK_OK(THTensor_map2(t, t, t, sees_three_canonical, NULL));
        /* The elements themselves keep their bits. */
        CHECK_EQ(*(unsigned char *)THTensor_data(t), 255);
        THTensor *const all[] = {t, five, one, square, four, three, two};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) THTensor_free(all[k]);
    }
    CHECK_CANONICAL(THStorage_get(NULL, 0));
    CHECK_CANONICAL(THTensor_item(NULL));
}

CHECK_MAIN(CASE(every_nan_that_is_returned_is_canonical), CASE(large_integers_stay_exact), CASE(large_integers_are_set_and_read), CASE(integers_go_into_every_dtype),
           CASE(a_storage_holds_large_integers), CASE(five_dimensions_have_the_forms_of_four))
