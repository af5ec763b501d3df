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

CHECK_MAIN(CASE(large_integers_stay_exact), CASE(large_integers_are_set_and_read), CASE(integers_go_into_every_dtype),
           CASE(a_storage_holds_large_integers), CASE(five_dimensions_have_the_forms_of_four))
