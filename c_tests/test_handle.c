/* Handles without elements: fresh handles, which get the dtype of the first result, and handles that already have a dtype. */

#include "check.h"

static void a_fresh_handle_has_nothing(void) {
    THTensor *fresh = THTensor_new();
    CHECK_EQ(THTensor_dtype(fresh), TH_UNDEFINED);
    CHECK_EQ(THTensor_nDimension(fresh), 0);
    CHECK_EQ(THTensor_nElement(fresh), 0);
    CHECK_EQ(THTensor_elementSize(fresh), 0);
    CHECK(THTensor_storage(fresh) == NULL);
    CHECK(THTensor_data(fresh) == NULL);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    CHECK_ERROR(THTensor_fill(fresh, 1), TH_ERR_DTYPE, "no dtype yet");
    CHECK_FAILURE(isnan(THTensor_item(fresh)), TH_ERR_DTYPE, "no dtype yet");
    CHECK_FAILURE(THTensor_newTo(fresh, TH_INT8) == NULL, TH_ERR_DTYPE, "no dtype yet");
    THTensor_free(fresh);
}

static void messages_name_the_fresh_handle(void) {
    THTensor *a = vector_of(TH_FLOAT32, 1, 2), *fresh = THTensor_new(), *r = THTensor_new();
    CHECK_ERROR(THTensor_cmul(r, a, fresh), TH_ERR_DTYPE,
                "THTensor_cmul: argument 'b' has no dtype yet: it is a fresh handle that nothing was written to");
    CHECK_ERROR(THTensor_cmul(r, fresh, a), TH_ERR_DTYPE, "argument 'a' has no dtype yet");
    CHECK_ERROR(THTensor_sum(r, fresh, 0, 0), TH_ERR_DTYPE, "argument 't' has no dtype yet");
    CHECK_ERROR(THTensor_mm(r, a, fresh), TH_ERR_DTYPE, "argument 'm2' has no dtype yet");
    THTensor *list[] = {a, a, fresh};
    CHECK_ERROR(THTensor_einsum(r, "i,i,i", list, 3), TH_ERR_DTYPE, "THTensor_einsum: entry 2 of 'operands' has no dtype yet");
    CHECK_ERROR(THTensor_indexPut(a, &fresh, 1, a, 0), TH_ERR_DTYPE, "entry 0 of 'indices' has no dtype yet");
    list[1] = NULL;
    CHECK_ERROR(THTensor_stack(r, list, 3, 0), TH_ERR_ARGUMENT, "THTensor_stack: entry 1 of 'tensors' is NULL");
    CHECK_ERROR(THTensor_stack(r, list, -1, 0), TH_ERR_ARGUMENT, "-1 entries for 'tensors': the count is negative");
    CHECK_ERROR(THTensor_stack(r, NULL, 1, 0), TH_ERR_ARGUMENT, "argument 'tensors' is NULL");
    THTensor_free(r);
    THTensor_free(fresh);
    THTensor_free(a);
}

/* The message of each refused dtype lists the dtypes for which the function is defined. */
static void messages_say_which_dtypes_there_are(void) {
    THTensor *whole = vector_of(TH_INT64, 1, 2), *truth = vector_of(TH_BOOL, 0, 1), *half = vector_of(TH_FLOAT16, 1, 2);
    THTensor *r = THTensor_new();
    CHECK_ERROR(THTensor_mean(r, whole, 0, 0), TH_ERR_DTYPE, "THTensor_mean: not defined for int64, only for floats");
    CHECK_ERROR(THTensor_neg(r, truth), TH_ERR_DTYPE, "not defined for bool, only for integers and floats");
    CHECK_ERROR(THTensor_cbitxor(r, half, half), TH_ERR_DTYPE, "not defined for float16, only for integers and bool");
    CHECK_ERROR(THTensor_bincount(r, half, NULL, 0), TH_ERR_DTYPE, "not defined for float16, only for integers");
    CHECK_ERROR(THTensor_renorm(r, whole, 2, 0, 1), TH_ERR_SHAPE, "2 dimensions");
    CHECK_ERROR(THTensor_normal(whole, NULL, 0, 1), TH_ERR_DTYPE, "not defined for int64, only for floats");
    CHECK_ERROR(THTensor_dot(r, truth, truth), TH_ERR_DTYPE, "not defined for bool, only for integers and floats");
    THTensor *matrix = THTensor_newOnes(TH_FLOAT16, SIZES(2, 2));
    CHECK_ERROR(THTensor_inverse(r, matrix), TH_ERR_DTYPE, "not defined for float16, only for float32 and float64");
    THTensor_free(matrix);
    THTensor_free(r);
    THTensor_free(half);
    THTensor_free(truth);
    THTensor_free(whole);
}

static void a_fresh_handle_becomes_the_result(void) {
    THTensor *a = vector_of(TH_INT32, 1, 2), *b = vector_of(TH_FLOAT32, 0.5, 0.5);
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_cadd(r, a, 1, b));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 1.5, 2.5);
    CHECK_OK(THTensor_copy(r, a));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_VALUES(r, 1, 2);

    THTensor *copy = THTensor_new();
    CHECK_OK(THTensor_copy(copy, a));
    CHECK_EQ(THTensor_dtype(copy), TH_INT32);
    CHECK_VALUES(copy, 1, 2);
    THTensor_free(copy);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void a_handle_of_a_dtype_has_nothing_else(void) {
    for (int k = 0; k < DTYPES; k++) {
        THTensor *t = THTensor_newWithDtype(dtypes[k]);
        CHECK_EQ(THTensor_dtype(t), dtypes[k]);
        CHECK_EQ(THTensor_nDimension(t), 0);
        CHECK_EQ(THTensor_nElement(t), 0);
        CHECK(THTensor_storage(t) == NULL);
        CHECK(THTensor_data(t) == NULL);
        THTensor_free(t);
    }
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    CHECK_FAILURE(THTensor_newWithDtype(TH_UNDEFINED) == NULL, TH_ERR_ARGUMENT, "TH_UNDEFINED");
    CHECK_FAILURE(THTensor_newWithDtype(11) == NULL, TH_ERR_ARGUMENT, "11");
}

static void a_handle_of_a_dtype_keeps_it(void) {
    THTensor *a = matrix_of(TH_INT32, 2, 1, 2, 3, 4), *r = THTensor_newWithDtype(TH_FLOAT64);
    CHECK_OK(THTensor_cadd(r, a, 2, a));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
    CHECK_SHAPE(r, 2, 2);
    CHECK_VALUES(r, 3, 6, 9, 12);
    THTensor_free(r);

    /* A result that the dtype cannot represent is refused, and the handle is unchanged. */
    THTensor *bytes = THTensor_newWithDtype(TH_UINT8);
    CHECK_ERROR(THTensor_sqrt(bytes, a), TH_ERR_DTYPE, "cannot be stored in a tensor of uint8");
    CHECK_EQ(THTensor_nElement(bytes), 0);
    CHECK(THTensor_storage(bytes) == NULL);
    CHECK_OK(THTensor_sum(bytes, a, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_dtype(bytes), TH_UINT8);
    CHECK_VALUES(bytes, 10);
    THTensor_free(bytes);
    THTensor_free(a);
}

static void a_handle_of_a_dtype_takes_results_of_every_kind(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 4, 3, 2, 1);
    enum { CALLS = 9 };
    for (int k = 0; k < CALLS; k++) {
        THTensor *r = THTensor_newWithDtype(TH_FLOAT64), *fresh = THTensor_new();
        THTensor *both[] = {r, fresh};
        for (int i = 0; i < 2; i++) {
            THTensor *into = both[i];
            CHECK_OK(k == 0   ? THTensor_mm(into, m, m)
                     : k == 1 ? THTensor_mean(into, m, 0, 1)
                     : k == 2 ? THTensor_cumsum(into, m, 1)
                     : k == 3 ? THTensor_kthvalue(into, NULL, m, 1, 0, 0)
                     : k == 4 ? THTensor_copy(into, m)
                     : k == 5 ? THTensor_tril(into, m, 0)
                     : k == 6 ? THTensor_linspace(into, 0, 1, 3)
                     : k == 7 ? THTensor_zerosLike(into, m)
                              : THTensor_diag(into, m, 0));
        }
        CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
        CHECK_EQ(THTensor_dtype(fresh), TH_FLOAT32);
        CHECK_EQ(THTensor_nDimension(r), THTensor_nDimension(fresh));
        CHECK(THTensor_equal(r, fresh));
        THTensor_free(fresh);
        THTensor_free(r);
    }
    THTensor_free(m);
}

static void a_result_without_elements_has_dimensions_all_the_same(void) {
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(0)), *r = THTensor_newWithDtype(TH_FLOAT64);
    CHECK_OK(THTensor_neg(r, none));
    CHECK_SHAPE(r, 0);
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT64);
    THTensor_free(r);
    THTensor_free(none);
}

static void reset_makes_a_handle_fresh_again(void) {
    int64_t before = THMemory_liveBytes();
    THTensor *t = THTensor_newOnes(TH_INT64, SIZES(1000)), *view = THTensor_newNarrow(t, 0, 1, 2);
    CHECK_OK(THTensor_reset(t));
    CHECK_EQ(THTensor_dtype(t), TH_UNDEFINED);
    CHECK_EQ(THTensor_nDimension(t), 0);
    CHECK_EQ(THTensor_nElement(t), 0);
    CHECK(THTensor_storage(t) == NULL);
    /* Other handles keep the elements. */
    CHECK_VALUES(view, 1, 1);
    CHECK_EQ(THStorage_refcount(THTensor_storage(view)), 1);
    CHECK_OK(THTensor_mul(t, view, 2.5));
    CHECK_EQ(THTensor_dtype(t), TH_FLOAT32);
    CHECK_VALUES(t, 2.5, 2.5);
    THTensor_free(view);
    CHECK_OK(THTensor_reset(t));
    /* reset has freed everything: a handle alone takes less than a KiB. */
    CHECK(THMemory_liveBytes() - before < 1024);
    CHECK_OK(THTensor_reset(t));
    THTensor_free(t);
    CHECK_ERROR(THTensor_reset(NULL), TH_ERR_ARGUMENT, "NULL");
}

static void reset_forgets_any_number_of_dimensions(void) {
    int64_t ones[40];
    for (int d = 0; d < 40; d++) ones[d] = 1;
    THTensor *t = THTensor_newOnes(TH_FLOAT32, 40, ones), *scalar = THTensor_newScalar(TH_FLOAT32, 3), *kept = t;
    THTensor_retain(kept);
    CHECK_OK(THTensor_reset(t));
    CHECK_OK(THTensor_copy(t, scalar));
    CHECK_EQ(THTensor_nDimension(t), 0);
    CHECK_NEAR(THTensor_item(t), 3, 0);
    /* reset also clears the flag of a scalar. References stay. */
    CHECK_OK(THTensor_reset(t));
    CHECK_EQ(THTensor_nElement(t), 0);
    CHECK_EQ(THTensor_refcount(t), 2);
    THTensor_free(kept);
    THTensor_free(scalar);
    THTensor_free(t);
}

CHECK_MAIN(CASE(a_fresh_handle_has_nothing), CASE(messages_name_the_fresh_handle), CASE(messages_say_which_dtypes_there_are),
           CASE(a_fresh_handle_becomes_the_result), CASE(a_handle_of_a_dtype_has_nothing_else),
           CASE(a_handle_of_a_dtype_keeps_it), CASE(a_handle_of_a_dtype_takes_results_of_every_kind),
           CASE(a_result_without_elements_has_dimensions_all_the_same), CASE(reset_makes_a_handle_fresh_again),
           CASE(reset_forgets_any_number_of_dimensions))
