/* Greatest and least elements and their indices, and whether all or any elements are not 0. */

#include "check.h"

/* Greatest and least */

static void extremes_come_with_where_they_first_occur(void) {
    THTensor *m = matrix_of(TH_INT32, 2, 3, 9, 9, 5, 1, 1), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_max(values, indices, m, 1, 0));
    CHECK_EQ(THTensor_dtype(values), TH_INT32);
    CHECK_EQ(THTensor_dtype(indices), TH_INT64);
    CHECK_VALUES(values, 9, 5);
    CHECK_VALUES(indices, 1, 0);
    CHECK_OK(THTensor_min(values, indices, m, 0, 1));
    CHECK_SHAPE(values, 1, 3);
    CHECK_SHAPE(indices, 1, 3);
    CHECK_VALUES(values, 3, 1, 1);
    CHECK_VALUES(indices, 0, 1, 1);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(m);
}

static void over_all_elements_the_index_is_row_major(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 3, 4, 2, 8, 8, 1, 7), *turned = THTensor_newT(m);
    THTensor *value = THTensor_new(), *index = THTensor_new();
    CHECK_OK(THTensor_max(value, index, m, TH_ALL_DIMS, 0));
    CHECK_NEAR(THTensor_item(value), 8, 0);
    CHECK_EQ(THTensor_itemLong(index), 2);
    /* The rows of the transposed matrix are 4 8 1 and 2 8 7. */
    CHECK_OK(THTensor_max(value, index, turned, TH_ALL_DIMS, 1));
    CHECK_SHAPE(index, 1, 1);
    CHECK_EQ(THTensor_itemLong(index), 1);
    CHECK_OK(THTensor_min(NULL, index, turned, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_itemLong(index), 2);
    CHECK_OK(THTensor_min(value, NULL, turned, TH_ALL_DIMS, 0));
    CHECK_NEAR(THTensor_item(value), 1, 0);
    THTensor_free(index);
    THTensor_free(value);
    THTensor_free(turned);
    THTensor_free(m);
}

static void nan_beats_everything(void) {
    THTensor *m = matrix_of(TH_FLOAT64, 3, 1, NAN, 3, NAN, INFINITY, -INFINITY, -0.5, -2, -1);
    THTensor *values = THTensor_new(), *indices = THTensor_new();
    CHECK_OK(THTensor_max(values, indices, m, 1, 0));
    CHECK_VALUES(values, NAN, NAN, -0.5);
    CHECK_VALUES(indices, 1, 0, 0);
    CHECK_OK(THTensor_min(values, indices, m, 1, 0));
    CHECK_VALUES(values, NAN, NAN, -2);
    CHECK_VALUES(indices, 1, 0, 1);
    CHECK_OK(THTensor_max(NULL, indices, m, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_itemLong(indices), 1);
    CHECK_NEAR(THTensor_maxall(m), NAN, 0);
    CHECK_NEAR(THTensor_minall(m), NAN, 0);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(m);
}

static void large_integers_are_told_apart(void) {
    const int64_t close[] = {INT64_MAX - 1, INT64_MAX, INT64_MIN + 1, INT64_MIN};
    THTensor *t = THTensor_newFromData(TH_INT64, SIZES(4), close), *value = THTensor_new(), *index = THTensor_new();
    CHECK_OK(THTensor_max(value, index, t, 0, 0));
    CHECK_EQ(THTensor_itemLong(value), INT64_MAX);
    CHECK_EQ(THTensor_itemLong(index), 1);
    CHECK_OK(THTensor_min(value, index, t, 0, 0));
    CHECK_EQ(THTensor_itemLong(value), INT64_MIN);
    CHECK_EQ(THTensor_itemLong(index), 3);
    THTensor_free(index);
    THTensor_free(value);
    THTensor_free(t);
}

static void there_is_no_greatest_of_nothing(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3)), *values = THTensor_new(), *indices = THTensor_new();
    CHECK_ERROR(THTensor_max(values, indices, t, 0, 0), TH_ERR_ARGUMENT, "[0, 3]");
    CHECK_ERROR(THTensor_min(values, NULL, t, TH_ALL_DIMS, 0), TH_ERR_ARGUMENT, "[0, 3]");
    CHECK_FAILURE(isnan(THTensor_maxall(t)), TH_ERR_ARGUMENT, "THTensor_maxall");
    CHECK_OK(THTensor_max(values, indices, t, 1, 0));
    CHECK_SHAPE(values, 0);
    CHECK_SHAPE(indices, 0);
    /* Refused even if the result has no element, as in PyTorch. */
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(3, 0, 0));
    CHECK_ERROR(THTensor_max(values, indices, none, 1, 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_argmin(indices, none, 2, 1), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_amaxDims(values, none, SIZES(0, 2), 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_aminmax(values, NULL, none, 1, 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_ERROR(THTensor_norm(values, none, INFINITY, 1, 0), TH_ERR_ARGUMENT, "[3, 0, 0]");
    CHECK_OK(THTensor_norm(values, none, 2, 1, 0));
    CHECK_SHAPE(values, 3, 0);
    CHECK_OK(THTensor_amax(values, none, 0, 0));
    CHECK_SHAPE(values, 0, 0);
    THTensor_free(none);
    THTensor_free(indices);
    THTensor_free(values);
    THTensor_free(t);
}

static void indices_are_int64_and_apart_from_values(void) {
    THTensor *t = vector_of(TH_INT64, 5, 7), *floats = vector_of(TH_FLOAT32, 1), *r = THTensor_new();
    CHECK_ERROR(THTensor_max(r, floats, t, 0, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_min(NULL, floats, t, 0, 0), TH_ERR_DTYPE, "indices are int64");
    CHECK_ERROR(THTensor_max(r, r, t, 0, 0), TH_ERR_ARGUMENT, "THTensor_max");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    THTensor_free(r);
    THTensor_free(floats);
    THTensor_free(t);
}

/* Truth, and extremes alone */

static void all_and_any_ask_for_what_is_not_zero(void) {
    THTensor *m = matrix_of(TH_UINT8, 2, 0, 2, 3, 0, 0, 6), *r = THTensor_new();
    CHECK_OK(THTensor_all(r, m, 0, 0));
    CHECK_EQ(THTensor_dtype(r), TH_UINT8);
    CHECK_VALUES(r, 0, 0, 1);
    CHECK_OK(THTensor_any(r, m, 0, 1));
    CHECK_VALUES(r, 0, 1, 1);
    CHECK_EQ(THTensor_logicalall(m), 0);
    CHECK_EQ(THTensor_logicalany(m), 1);
    THTensor_free(r);
    r = THTensor_new();
    THTensor *nan = vector_of(TH_FLOAT64, NAN, -0.0), *none = THTensor_newZeros(TH_FLOAT64, SIZES(0, 2));
    CHECK_OK(THTensor_anyDims(r, nan, 0, NULL, 0));
    CHECK_EQ(THTensor_dtype(r), TH_BOOL);
    CHECK_VALUES(r, 1);
    CHECK_EQ(THTensor_logicalall(nan), 0);
    CHECK_OK(THTensor_all(r, none, 0, 0));
    CHECK_VALUES(r, 1, 1);
    CHECK_OK(THTensor_any(r, none, 0, 0));
    CHECK_VALUES(r, 0, 0);
    THTensor_free(none);
    THTensor_free(nan);
    THTensor_free(r);
    THTensor_free(m);
}

static void a_late_exception_is_found(void) {
    const int64_t n = 100003;
    THTensor *t = THTensor_newOnes(TH_BOOL, SIZES(n));
    CHECK_EQ(THTensor_logicalall(t), 1);
    CHECK_OK(THTensor_set1d(t, n - 1, 0));
    CHECK_EQ(THTensor_logicalall(t), 0);
    CHECK_OK(THTensor_zero(t));
    CHECK_EQ(THTensor_logicalany(t), 0);
    CHECK_OK(THTensor_set1d(t, 77777, 1));
    CHECK_EQ(THTensor_logicalany(t), 1);
    CHECK_NEAR(THTensor_sumall(t), 1, 0);
    THTensor_free(t);
}

static void extremes_come_alone_or_in_pairs(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 3, 9, NAN, 5, -1, 1), *r = THTensor_new(), *least = THTensor_new();
    CHECK_OK(THTensor_amax(r, m, 0, 0));
    CHECK_VALUES(r, 5, 9, NAN);
    CHECK_OK(THTensor_amin(r, m, 1, 1));
    CHECK_SHAPE(r, 2, 1);
    CHECK_VALUES(r, NAN, -1);
    CHECK_OK(THTensor_aminmax(least, r, m, 0, 0));
    CHECK_VALUES(least, 3, -1, NAN);
    CHECK_VALUES(r, 5, 9, NAN);
    CHECK_OK(THTensor_amaxDims(r, m, SIZES(-1, 0), 1));
    CHECK_SHAPE(r, 1, 1);
    CHECK_VALUES(r, NAN);
    THTensor *where = THTensor_new(), *none = THTensor_newZeros(TH_FLOAT32, SIZES(0));
    CHECK_OK(THTensor_argmax(where, m, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_itemLong(where), 2);
    CHECK_OK(THTensor_argmin(where, m, 0, 0));
    CHECK_VALUES(where, 0, 1, 0);
    CHECK_ERROR(THTensor_argmin(where, none, 0, 0), TH_ERR_ARGUMENT, "[0]");
    CHECK_ERROR(THTensor_amax(r, none, TH_ALL_DIMS, 0), TH_ERR_ARGUMENT, "[0]");
    CHECK_ERROR(THTensor_aminmax(r, r, m, 0, 0), TH_ERR_ARGUMENT, "tensor each");
    THTensor_free(none);
    THTensor_free(where);
    THTensor_free(least);
    THTensor_free(r);
    THTensor_free(m);
}

CHECK_MAIN(CASE(extremes_come_with_where_they_first_occur), CASE(over_all_elements_the_index_is_row_major), CASE(nan_beats_everything),
           CASE(large_integers_are_told_apart), CASE(there_is_no_greatest_of_nothing), CASE(indices_are_int64_and_apart_from_values),
           CASE(all_and_any_ask_for_what_is_not_zero), CASE(a_late_exception_is_found), CASE(extremes_come_alone_or_in_pairs))
