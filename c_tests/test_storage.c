/* Storages: flat blocks of elements of one dtype, which hold the elements of tensors. */

#include "check.h"

static void a_storage_holds_elements_of_one_dtype(void) {
    THStorage *s = THStorage_newWithSize(TH_FLOAT32, 3);
    CHECK_OK(THStorage_fill(s, 1));
    CHECK_OK(THStorage_set(s, 2, 2.5));
    CHECK_EQ(THStorage_size(s), 3);
    CHECK_EQ(THStorage_dtype(s), TH_FLOAT32);
    CHECK_EQ(THStorage_elementSize(s), sizeof(float));
    CHECK_EQ(THStorage_deviceType(s), TH_CPU);
    CHECK_EQ(THStorage_refcount(s), 1);
    CHECK_NEAR(THStorage_get(s, 0), 1, 0);
    CHECK_NEAR(THStorage_get(s, 2), 2.5, 0);

    const float *data = THStorage_data(s);
    CHECK_NEAR(data[1], 1, 0);
    CHECK_NEAR(data[2], 2.5, 0);
    THStorage_free(s);
}

static void an_empty_storage_has_no_memory(void) {
    THStorage *made_empty[] = {THStorage_new(TH_INT32), THStorage_newWithSize(TH_INT32, 0)};
    for (int i = 0; i < 2; i++) {
        THStorage *s = made_empty[i];
        CHECK_EQ(THStorage_size(s), 0);
        CHECK(THStorage_data(s) == NULL);
        CHECK_EQ(THStorage_dtype(s), TH_INT32);
        CHECK_OK(THStorage_fill(s, 1));
        CHECK_OK(THStorage_rawCopy(s, NULL));
        THStorage_free(s);
    }
}

static void short_storages_are_given_their_elements(void) {
    THStorage *s[] = {THStorage_newWithSize1(TH_FLOAT64, 0.5), THStorage_newWithSize2(TH_FLOAT64, 0.5, 1.5),
                      THStorage_newWithSize3(TH_FLOAT64, 0.5, 1.5, 2.5),
                      THStorage_newWithSize4(TH_FLOAT64, 0.5, 1.5, 2.5, 3.5)};
    for (int n = 1; n <= 4; n++) {
        CHECK_EQ(THStorage_size(s[n - 1]), n);
        for (int i = 0; i < n; i++) CHECK_NEAR(THStorage_get(s[n - 1], i), i + 0.5, 0);
        THStorage_free(s[n - 1]);
    }
}

/* Returns `value` after it was stored in an element of `dtype`. */
static double stored(THDtype dtype, double value) {
    THStorage *s = THStorage_newWithSize1(dtype, value);
    double kept = THStorage_get(s, 0);
    THStorage_free(s);
    return kept;
}

/* Returns the element of a storage of `dtype` after `value` was copied into it. */
static double converted(THDtype dtype, double value) {
    THStorage *from = THStorage_newWithSize1(TH_FLOAT64, value), *to = THStorage_newWithSize(dtype, 1);
    CHECK_OK(THStorage_copy(to, from));
    double kept = THStorage_get(to, 0);
    THStorage_free(to);
    THStorage_free(from);
    return kept;
}

static void integers_truncate_saturate_and_take_nan_for_zero(void) {
    static const struct {
        THDtype dtype;
        double least, greatest;
    } rows[] = {
        {TH_UINT8, 0, 255},
        {TH_INT8, -128, 127},
        {TH_INT16, -32768, 32767},
        {TH_INT32, -2147483648.0, 2147483647.0},
        {TH_INT64, -9223372036854775808.0, 9223372036854775808.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        THDtype dtype = rows[i].dtype;
        CHECK_NEAR(converted(dtype, 2.9), 2, 0);
        CHECK_NEAR(converted(dtype, -2.9), dtype == TH_UINT8 ? 0 : -2, 0);
        CHECK_NEAR(converted(dtype, 1e30), rows[i].greatest, 0);
        CHECK_NEAR(converted(dtype, -1e30), rows[i].least, 0);
        CHECK_NEAR(converted(dtype, INFINITY), rows[i].greatest, 0);
        CHECK_NEAR(converted(dtype, -INFINITY), rows[i].least, 0);
        CHECK_NEAR(converted(dtype, NAN), 0, 0);
    }
}

static void floats_round_to_nearest_even(void) {
    CHECK_NEAR(stored(TH_FLOAT64, 0.1), 0.1, 0);
    CHECK_NEAR(stored(TH_FLOAT32, 0.1), 0.1f, 0);
    /* float16 has 11 significant bits, bfloat16 has 8. */
    CHECK_NEAR(stored(TH_FLOAT16, 2049), 2048, 0);
    CHECK_NEAR(stored(TH_FLOAT16, 2051), 2052, 0);
    CHECK_NEAR(stored(TH_FLOAT16, 65504), 65504, 0);
    CHECK_NEAR(stored(TH_FLOAT16, 65520), INFINITY, 0);
    CHECK_NEAR(stored(TH_BFLOAT16, 257), 256, 0);
    CHECK_NEAR(stored(TH_BFLOAT16, 259), 260, 0);
    CHECK_NEAR(stored(TH_BFLOAT16, 1e39), INFINITY, 0);
    for (THDtype dtype = TH_FLOAT16; dtype <= TH_FLOAT64; dtype++) {
        CHECK_NEAR(stored(dtype, NAN), NAN, 0);
        CHECK_NEAR(stored(dtype, -INFINITY), -INFINITY, 0);
    }
}

static void anything_but_zero_is_true(void) {
    CHECK_NEAR(stored(TH_BOOL, 0), 0, 0);
    CHECK_NEAR(stored(TH_BOOL, -0.0), 0, 0);
    CHECK_NEAR(stored(TH_BOOL, 0.25), 1, 0);
    CHECK_NEAR(stored(TH_BOOL, -7), 1, 0);

    THStorage *s = THStorage_newWithSize(TH_BOOL, 1);
    memset(THStorage_data(s), 0xff, 1);
    CHECK_NEAR(THStorage_get(s, 0), 1, 0);
    THStorage_free(s);
}

static void raw_copies_take_elements_as_they_are(void) {
    const int64_t exact[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1};
    THStorage *s = THStorage_newWithSize(TH_INT64, 3);
    CHECK_OK(THStorage_rawCopy(s, exact));
    CHECK(memcmp(THStorage_data(s), exact, sizeof exact) == 0);
    CHECK_ERROR(THStorage_rawCopy(s, NULL), TH_ERR_ARGUMENT, "NULL");
    THStorage_free(s);
}

static void copies_convert(void) {
    THStorage *src = THStorage_newWithSize3(TH_FLOAT64, -1.5, 200.75, 1000);
    THStorage *bytes = THStorage_newWithSize(TH_UINT8, 3);
    CHECK_OK(THStorage_copy(bytes, src));
    CHECK_NEAR(THStorage_get(bytes, 0), 0, 0);
    CHECK_NEAR(THStorage_get(bytes, 1), 200, 0);
    CHECK_NEAR(THStorage_get(bytes, 2), 255, 0);
    CHECK_OK(THStorage_copy(src, src));
    CHECK_NEAR(THStorage_get(src, 1), 200.75, 0);

    THStorage *two = THStorage_newWithSize2(TH_FLOAT64, 1, 2);
    CHECK_ERROR(THStorage_copy(two, src), TH_ERR_SHAPE, "2 and 3 elements");
    CHECK_NEAR(THStorage_get(two, 0), 1, 0);
    THStorage_free(two);
    THStorage_free(bytes);
    THStorage_free(src);
}

static void resizing_keeps_what_fits(void) {
    THStorage *s = THStorage_newWithSize4(TH_INT16, 1, 2, 3, 4);
    static const ptrdiff_t sizes[] = {6, 100000, 4, 3};
    for (int k = 0; k < 4; k++) {
        CHECK_OK(THStorage_resize(s, sizes[k]));
        CHECK_EQ(THStorage_size(s), sizes[k]);
        for (int i = 0; i < 3; i++) CHECK_NEAR(THStorage_get(s, i), i + 1, 0);
    }
    CHECK_OK(THStorage_resize(s, 0));
    CHECK(THStorage_data(s) == NULL);
    CHECK_OK(THStorage_resize(s, 1));
    CHECK_OK(THStorage_set(s, 0, 9));
    CHECK_NEAR(THStorage_get(s, 0), 9, 0);
    THStorage_free(s);
}

static void only_resizable_storages_resize(void) {
    THStorage *s = THStorage_newWithSize2(TH_INT32, 1, 2);
    CHECK_OK(THStorage_clearFlag(s, TH_STORAGE_RESIZABLE));
    CHECK_ERROR(THStorage_resize(s, 3), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THStorage_resize(s, 1), TH_ERR_ARGUMENT, "not resizable");
    CHECK_EQ(THStorage_size(s), 2);
    CHECK_OK(THStorage_setFlag(s, TH_STORAGE_RESIZABLE));
    CHECK_OK(THStorage_resize(s, 3));
    CHECK_NEAR(THStorage_get(s, 1), 2, 0);
    THStorage_free(s);
}

static void swapping_exchanges_all_but_references(void) {
    THStorage *a = THStorage_newWithSize1(TH_INT8, 5);
    THStorage *b = THStorage_newWithSize2(TH_FLOAT32, 0.5, 1.5);
    const void *data_of_a = THStorage_data(a);
    THStorage_retain(b);
    CHECK_OK(THStorage_swap(a, b));
    CHECK_EQ(THStorage_dtype(a), TH_FLOAT32);
    CHECK_EQ(THStorage_size(a), 2);
    CHECK_NEAR(THStorage_get(a, 1), 1.5, 0);
    CHECK_EQ(THStorage_dtype(b), TH_INT8);
    CHECK(THStorage_data(b) == data_of_a);
    CHECK_EQ(THStorage_refcount(a), 1);
    CHECK_EQ(THStorage_refcount(b), 2);
    CHECK_OK(THStorage_swap(a, a));
    CHECK_EQ(THStorage_size(a), 2);
    THStorage_free(b);
    THStorage_free(b);
    THStorage_free(a);
}

static void tensors_share_a_storage(void) {
    THStorage *s = THStorage_newWithSize4(TH_FLOAT32, 1, 2, 3, 4);
    THTensor *all = THTensor_newWithStorage(s, 0, -1, NULL, NULL);
    THTensor *rows = THTensor_newWithStorage2d(s, 0, 2, 2, 2, 1);
    THTensor *last = THTensor_newWithStorage1d(s, 2, 2, 1);
    CHECK_VALUES(all, 1, 2, 3, 4);
    CHECK_SHAPE(rows, 2, 2);
    CHECK_EQ(THStorage_refcount(s), 4);
    CHECK_OK(THTensor_set1d(last, 0, 30));
    CHECK_VALUES(rows, 1, 2, 30, 4);
    CHECK_NEAR(THStorage_get(s, 2), 30, 0);
    THTensor_free(last);
    THTensor_free(rows);
    THTensor_free(all);
    CHECK_EQ(THStorage_refcount(s), 1);
    THStorage_free(s);
}

static void a_storage_grows_for_its_tensor(void) {
    THStorage *s = THStorage_newWithSize1(TH_INT32, 7);
    THTensor *t = THTensor_newWithStorage(s, 2, SIZES(2, 3), NULL);
    CHECK_STRIDES(t, 3, 1);
    CHECK_EQ(THStorage_size(s), 8);
    CHECK_NEAR(THStorage_get(s, 0), 7, 0);
    THTensor_free(t);

    CHECK_OK(THStorage_clearFlag(s, TH_STORAGE_RESIZABLE));
    CHECK_FAILURE(THTensor_newWithStorage1d(s, 0, 9, 1) == NULL, TH_ERR_ARGUMENT, "not resizable");
    CHECK_FAILURE(THTensor_newWithStorage1d(s, -1, 1, 1) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_EQ(THStorage_size(s), 8);
    CHECK_EQ(THStorage_refcount(s), 1);
    THStorage_free(s);
}

static void positions_outside_are_errors(void) {
    THStorage *s = THStorage_newWithSize2(TH_FLOAT32, 1, 2);
    static const ptrdiff_t outside[] = {-1, 2, PTRDIFF_MAX, PTRDIFF_MIN};
    for (int i = 0; i < 4; i++) {
        CHECK_FAILURE(isnan(THStorage_get(s, outside[i])), TH_ERR_ARGUMENT, "out of range");
        CHECK_ERROR(THStorage_set(s, outside[i], 9), TH_ERR_ARGUMENT, "out of range");
    }
    CHECK_NEAR(THStorage_get(s, 0), 1, 0);
    CHECK_NEAR(THStorage_get(s, 1), 2, 0);
    THStorage_free(s);
}

static void sizes_no_memory_holds_are_errors(void) {
    CHECK_FAILURE(THStorage_newWithSize(TH_FLOAT32, -1) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_FAILURE(THStorage_newWithSize(TH_FLOAT32, PTRDIFF_MIN) == NULL, TH_ERR_ARGUMENT, "negative");
    static const ptrdiff_t huge[] = {PTRDIFF_MAX, PTRDIFF_MAX / 8, (ptrdiff_t)1 << 50};
    for (int i = 0; i < 3; i++) {
        CHECK_FAILURE(THStorage_newWithSize(TH_FLOAT64, huge[i]) == NULL, TH_ERR_NOMEM, "");
        THStorage *s = THStorage_newWithSize1(TH_FLOAT64, 5);
        CHECK_ERROR(THStorage_resize(s, huge[i]), TH_ERR_NOMEM, "");
        CHECK_ERROR(THStorage_resize(s, -1), TH_ERR_ARGUMENT, "-1");
        CHECK_EQ(THStorage_size(s), 1);
        CHECK_NEAR(THStorage_get(s, 0), 5, 0);
        THStorage_free(s);
    }
}

static void count_call(void *data, void *context) {
    (void)data;
    ++*(int *)context;
}

static void foreign_memory_is_aligned_to_its_elements(void) {
    double room[3] = {0};
    int calls = 0;
    for (int k = 0; k < DTYPES; k++) {
        char *at = (char *)room + THDtype_size(dtypes[k]);
        THTensor *t = THTensor_newFromBlob(dtypes[k], SIZES(1), NULL, at, count_call, &calls);
        CHECK(THTensor_data(t) == at);
        THTensor_free(t);
        CHECK_EQ(calls, k + 1);
        if (THDtype_size(dtypes[k]) == 1) continue;
        CHECK_FAILURE(THTensor_newFromBlob(dtypes[k], SIZES(1), NULL, at + 1, count_call, &calls) == NULL,
                      TH_ERR_ARGUMENT, "not aligned");
        CHECK_FAILURE(THStorage_newFromBlob(dtypes[k], at - 1, 1, count_call, &calls) == NULL, TH_ERR_ARGUMENT, "not aligned");
        CHECK_FAILURE(THStorage_newWithData(dtypes[k], at + 1, 1) == NULL, TH_ERR_ARGUMENT, "not aligned");
        CHECK_EQ(calls, k + 1);
        /* The source of a copy may have any alignment. */
        THTensor *copy = THTensor_newFromData(dtypes[k], SIZES(1), at + 1);
        CHECK_VALUES(copy, 0);
        THTensor_free(copy);
    }
}

static void codes_of_no_dtype_are_errors(void) {
    static const THDtype codes[] = {TH_UNDEFINED, -1, 11, 255, 256 + TH_FLOAT32, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        CHECK_FAILURE(THStorage_new(codes[i]) == NULL, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_FAILURE(THStorage_newWithSize(codes[i], 1) == NULL, TH_ERR_ARGUMENT, "is no dtype");
        CHECK_FAILURE(THStorage_newWithSize1(codes[i], 1) == NULL, TH_ERR_ARGUMENT, "is no dtype");
    }
}

CHECK_MAIN(CASE(a_storage_holds_elements_of_one_dtype), CASE(an_empty_storage_has_no_memory),
           CASE(short_storages_are_given_their_elements), CASE(integers_truncate_saturate_and_take_nan_for_zero),
           CASE(floats_round_to_nearest_even), CASE(anything_but_zero_is_true),
           CASE(raw_copies_take_elements_as_they_are), CASE(copies_convert), CASE(resizing_keeps_what_fits),
           CASE(only_resizable_storages_resize), CASE(swapping_exchanges_all_but_references),
           CASE(tensors_share_a_storage), CASE(a_storage_grows_for_its_tensor), CASE(positions_outside_are_errors),
           CASE(sizes_no_memory_holds_are_errors), CASE(foreign_memory_is_aligned_to_its_elements),
           CASE(codes_of_no_dtype_are_errors))
