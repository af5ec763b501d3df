/* Tensors: making them, asking them, their elements, memory formats, views and changes of shape. */

#include "check.h"

/* Making tensors */

static void a_tensor_is_made_of_dtype_and_sizes(void) {
    const int64_t sizes[] = {2, 3};
    THTensor *t = THTensor_newWithSizes(TH_FLOAT64, 2, sizes);
    CHECK_EQ(THTensor_dtype(t), TH_FLOAT64);
    CHECK_SHAPE(t, 2, 3);
    CHECK_STRIDES(t, 3, 1);
    CHECK_EQ(THTensor_nElement(t), 6);
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 6);
    THTensor_free(t);
}

static void sizes_may_be_arguments(void) {
    THTensor *made[] = {THTensor_newWithSize1d(TH_INT8, 2), THTensor_newWithSize2d(TH_INT8, 2, 3),
                        THTensor_newWithSize3d(TH_INT8, 2, 3, 4), THTensor_newWithSize4d(TH_INT8, 2, 3, 4, 5)};
    CHECK_SHAPE(made[0], 2);
    CHECK_SHAPE(made[1], 2, 3);
    CHECK_SHAPE(made[2], 2, 3, 4);
    CHECK_SHAPE(made[3], 2, 3, 4, 5);
    CHECK_STRIDES(made[3], 60, 20, 5, 1);
    for (int i = 0; i < 4; i++) THTensor_free(made[i]);
}

static void a_tensor_is_made_full_of_a_value(void) {
    for (int k = 0; k < DTYPES; k++) {
        THTensor *zeros = THTensor_newZeros(dtypes[k], SIZES(2, 2));
        THTensor *ones = THTensor_newOnes(dtypes[k], SIZES(2));
        THTensor *sevens = THTensor_newFull(dtypes[k], SIZES(1, 3), 7);
        CHECK_VALUES(zeros, 0, 0, 0, 0);
        CHECK_VALUES(ones, 1, 1);
        double seven = dtypes[k] == TH_BOOL ? 1 : 7;
        CHECK_VALUES(sevens, seven, seven, seven);
        CHECK_EQ(THTensor_dtype(sevens), dtypes[k]);
        CHECK_EQ(THTensor_elementSize(sevens), THDtype_size(dtypes[k]));
        THTensor_free(sevens);
        THTensor_free(ones);
        THTensor_free(zeros);
    }
}

static void a_tensor_is_made_from_an_array(void) {
    float array[] = {1, 2, 3, 4, 5, 6};
    THTensor *t = THTensor_newFromData(TH_FLOAT32, SIZES(2, 3), array);
    array[0] = 100;
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    THTensor_free(t);
}

static void a_tensor_is_made_with_strides(void) {
    const int64_t sizes[] = {2, 3}, column_major[] = {1, 2}, overlapping[] = {1, 1};
    THTensor *t = THTensor_newWithSizesStrides(TH_INT32, 2, sizes, column_major);
    CHECK_OK(THTensor_set2d(t, 1, 0, 5));
    CHECK_EQ(((int32_t *)THTensor_data(t))[1], 5);
    THTensor_free(t);
    t = THTensor_newWithSizesStrides(TH_INT32, 2, sizes, overlapping);
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 4);
    THTensor_free(t);
}

static void a_scalar_has_no_dimensions_and_one_element(void) {
    THTensor *pi = THTensor_newScalar(TH_FLOAT64, 3.14159);
    CHECK_EQ(THTensor_nDimension(pi), 0);
    CHECK_EQ(THTensor_nElement(pi), 1);
    CHECK_NEAR(THTensor_item(pi), 3.14159, 0);
    CHECK_NEAR(THTensor_getAt(pi, 0, NULL), 3.14159, 0);
    THTensor_free(pi);

    THTensor *made_empty_of_sizes = THTensor_newWithSizes(TH_FLOAT32, 0, NULL);
    CHECK_EQ(THTensor_nElement(made_empty_of_sizes), 1);
    THTensor_free(made_empty_of_sizes);
}

static void a_size_may_be_zero(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 0, 3));
    CHECK_SHAPE(t, 2, 0, 3);
    CHECK_STRIDES(t, 3, 3, 1);
    CHECK_EQ(THTensor_nElement(t), 0);
    CHECK_EQ(THTensor_isContiguous(t), 1);
    CHECK_OK(THTensor_fill(t, 1));
    THTensor *clone = THTensor_newClone(t);
    CHECK_EQ(THTensor_isSameSizeAs(t, clone), 1);
    CHECK_FAILURE(isnan(THTensor_item(t)), TH_ERR_ARGUMENT, "[2, 0, 3]");
    THTensor_free(clone);
    THTensor_free(t);
}

static void many_dimensions_are_no_trouble(void) {
    int64_t sizes[64];
    for (int d = 0; d < 64; d++) sizes[d] = d < 10 ? 2 : 1;
    THTensor *t = THTensor_newOnes(TH_UINT8, 64, sizes);
    CHECK_EQ(THTensor_nDimension(t), 64);
    CHECK_EQ(THTensor_nElement(t), 1024);
    CHECK_NEAR(THTensor_sumall(t), 1024, 0);
    CHECK_OK(THTensor_squeeze(t, t));
    CHECK_SHAPE(t, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2);
    THTensor_free(t);
}

static void tensors_are_made_like_others(void) {
    THTensor *model = matrix_of(TH_INT16, 2, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_t(model, model));
    THTensor *like[] = {THTensor_newEmptyLike(model), THTensor_newZerosLike(model), THTensor_newOnesLike(model),
                        THTensor_newFullLike(model, 9)};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(THTensor_dtype(like[i]), TH_INT16);
        CHECK_SHAPE(like[i], 3, 2);
        CHECK_STRIDES(like[i], 1, 3);
        CHECK(THTensor_storage(like[i]) != THTensor_storage(model));
    }
    CHECK_VALUES(like[1], 0, 0, 0, 0, 0, 0);
    CHECK_VALUES(like[2], 1, 1, 1, 1, 1, 1);
    CHECK_VALUES(like[3], 9, 9, 9, 9, 9, 9);
    for (int i = 0; i < 4; i++) THTensor_free(like[i]);
    THTensor_free(model);
}

static void what_is_like_an_expanded_tensor_has_elements_of_its_own(void) {
    THTensor *row = vector_of(TH_FLOAT32, 1, 2, 3);
    THTensor *rows = THTensor_newExpand(row, SIZES(4, 3));
    THTensor *like = THTensor_newZerosLike(rows);
    CHECK_SHAPE(like, 4, 3);
    CHECK_EQ(THStorage_size(THTensor_storage(like)), 12);
    THTensor_free(like);
    THTensor_free(rows);
    THTensor_free(row);
}

static void the_default_dtype_is_for_floats_nobody_gave_a_type(void) {
    THTensor *four = THTensor_newFull(TH_INT64, SIZES(1), 4);
    THTensor *root = THTensor_new(), *precise = THTensor_new();
    CHECK_EQ(THGetDefaultDtype(), TH_FLOAT32);
    CHECK_OK(THTensor_sqrt(root, four));
    CHECK_OK(THSetDefaultDtype(TH_FLOAT64));
    CHECK_OK(THTensor_sqrt(precise, four));
    CHECK_ERROR(THSetDefaultDtype(TH_INT32), TH_ERR_DTYPE, "int32");
    CHECK_ERROR(THSetDefaultDtype(77), TH_ERR_ARGUMENT, "77");
    CHECK_EQ(THGetDefaultDtype(), TH_FLOAT64);
    CHECK_OK(THSetDefaultDtype(TH_FLOAT32));
    CHECK_EQ(THTensor_dtype(root), TH_FLOAT32);
    CHECK_EQ(THTensor_dtype(precise), TH_FLOAT64);
    CHECK_VALUES(precise, 2);
    THTensor_free(precise);
    THTensor_free(root);
    THTensor_free(four);
}

/* Asking */

static void sizes_and_strides_by_dimension(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3, 4));
    CHECK_EQ(THTensor_dim(t), 3);
    CHECK_EQ(THTensor_numel(t), 24);
    CHECK_EQ(THTensor_size(t, 1), 3);
    CHECK_EQ(THTensor_size(t, -1), 4);
    CHECK_EQ(THTensor_stride(t, 0), 12);
    CHECK_EQ(THTensor_stride(t, -3), 12);
    CHECK_FAILURE(THTensor_size(t, 3) == -1, TH_ERR_ARGUMENT, "dimension 3");
    CHECK_FAILURE(THTensor_stride(t, -4) == -1, TH_ERR_ARGUMENT, "dimension -4");
    CHECK_FAILURE(THTensor_size(t, INT32_MIN) == -1, TH_ERR_ARGUMENT, "dimension -2147483648");

    THStorage *sizes = THTensor_newSizeOf(t), *strides = THTensor_newStrideOf(t);
    CHECK_EQ(THStorage_dtype(sizes), TH_INT64);
    CHECK(memcmp(THStorage_data(sizes), THTensor_sizes(t), 3 * sizeof(int64_t)) == 0);
    CHECK(memcmp(THStorage_data(strides), THTensor_strides(t), 3 * sizeof(int64_t)) == 0);
    THStorage_free(strides);
    THStorage_free(sizes);
    THTensor_free(t);
}

static void a_tensor_says_where_its_elements_are(void) {
    THTensor *t = vector_of(TH_INT16, 1, 2, 3);
    THTensor *tail = THTensor_newNarrow(t, 0, 1, 2);
    CHECK_EQ(THTensor_storageOffset(tail), 1);
    CHECK((int16_t *)THTensor_data(tail) == (int16_t *)THTensor_data(t) + 1);
    CHECK_EQ(THTensor_deviceType(t), TH_CPU);
    CHECK_FAILURE(THTensor_getDevice(t) == -1, TH_ERR_DEVICE, "THTensor_getDevice");
    THTensor_free(tail);
    THTensor_free(t);
}

static void contiguous_means_row_major_without_gaps(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3, 4));
    THTensor *turned = THTensor_newTranspose(t, 0, 2);
    THTensor *front = THTensor_newNarrow(t, 0, 0, 1);
    THTensor *gaps = THTensor_newNarrow(t, 2, 0, 2);
    THTensor *one = THTensor_newNarrow(gaps, 2, 0, 1);
    CHECK_OK(THTensor_narrow(one, one, 1, 0, 1));
    CHECK_OK(THTensor_narrow(one, one, 0, 0, 1));
    CHECK_EQ(THTensor_isContiguous(t), 1);
    CHECK_EQ(THTensor_isContiguous(turned), 0);
    CHECK_EQ(THTensor_isContiguous(front), 1);
    CHECK_EQ(THTensor_isContiguous(gaps), 0);
    CHECK_EQ(THTensor_isContiguous(one), 1);
    THTensor_free(one);
    THTensor_free(gaps);
    THTensor_free(front);
    THTensor_free(turned);
    THTensor_free(t);
}

static void tensors_are_compared_by_size_and_place(void) {
    const int64_t sizes[] = {2, 3};
    THTensor *t = THTensor_newZeros(TH_FLOAT32, 2, sizes);
    THTensor *other = THTensor_newZeros(TH_INT8, 2, sizes);
    THTensor *turned = THTensor_newTranspose(t, 0, 1);
    THTensor *again = THTensor_newWithTensor(t);
    CHECK_EQ(THTensor_isSize(t, 2, sizes), 1);
    CHECK_EQ(THTensor_isSize(t, 1, sizes), 0);
    CHECK_EQ(THTensor_isSize(turned, 2, sizes), 0);
    CHECK_EQ(THTensor_isSameSizeAs(t, other), 1);
    CHECK_EQ(THTensor_isSameSizeAs(t, turned), 0);
    CHECK_EQ(THTensor_isSetTo(t, again), 1);
    CHECK_EQ(THTensor_isSetTo(t, other), 0);
    CHECK_EQ(THTensor_isSetTo(t, turned), 0);

    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 1), *fresh = THTensor_new();
    CHECK_EQ(THTensor_isSameSizeAs(scalar, fresh), 0);
    CHECK_EQ(THTensor_isSetTo(fresh, fresh), 0);
    THTensor_free(fresh);
    THTensor_free(scalar);
    THTensor_free(again);
    THTensor_free(turned);
    THTensor_free(other);
    THTensor_free(t);
}

/* Elements */

static void elements_are_read_and_set_by_index(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3, 2, 2));
    const int64_t last[] = {-1, -1, -1, -1}, beyond[] = {0, 3, 0, 0};
    CHECK_OK(THTensor_set4d(t, 1, 2, 1, 1, 0.5));
    CHECK_NEAR(THTensor_get4d(t, -1, -1, -1, -1), 0.5, 0);
    CHECK_OK(THTensor_setAt(t, 4, last, 2.5));
    CHECK_NEAR(THTensor_getAt(t, 4, last), 2.5, 0);
    CHECK_NEAR(((float *)THTensor_data(t))[23], 2.5, 0);
    CHECK_FAILURE(isnan(THTensor_getAt(t, 4, beyond)), TH_ERR_ARGUMENT, "index 3");
    CHECK_ERROR(THTensor_set4d(t, 0, -4, 0, 0, 1), TH_ERR_ARGUMENT, "index -4");
    CHECK_FAILURE(isnan(THTensor_get3d(t, 0, 0, 0)), TH_ERR_ARGUMENT, "3 indices");

    THTensor *cube = THTensor_newSelect(t, 0, 1), *matrix = THTensor_newSelect(cube, 0, 2);
    CHECK_OK(THTensor_set3d(cube, 2, 0, 1, 6));
    CHECK_NEAR(THTensor_get2d(matrix, 0, 1), 6, 0);
    CHECK_OK(THTensor_set2d(matrix, 0, 0, 7));
    CHECK_NEAR(THTensor_get3d(cube, 2, 0, 0), 7, 0);
    THTensor_free(matrix);
    THTensor_free(cube);
    THTensor_free(t);
}

static void one_element_tensors_have_an_item(void) {
    THTensor *t = THTensor_newFull(TH_INT32, SIZES(1, 1, 1), -3);
    CHECK_NEAR(THTensor_item(t), -3, 0);
    CHECK_EQ(THTensor_itemLong(t), -3);
    THTensor_free(t);
    t = vector_of(TH_FLOAT32, 1, 2);
    CHECK_FAILURE(isnan(THTensor_item(t)), TH_ERR_ARGUMENT, "[2]");
    CHECK_FAILURE(THTensor_itemLong(t) == -1, TH_ERR_ARGUMENT, "[2]");
    THTensor_free(t);
}

static void filling_reaches_what_the_view_shows(void) {
    THTensor *t = THTensor_newZeros(TH_UINT8, SIZES(3, 4));
    THTensor *column = THTensor_newSelect(t, 1, 2);
    CHECK_OK(THTensor_fill(column, 255.5));
    CHECK_VALUES(t, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0);
    THTensor *row = THTensor_newSelect(t, 0, 1), *expanded = THTensor_newExpand(row, SIZES(5, 4));
    CHECK_OK(THTensor_fill(expanded, 1.9));
    CHECK_VALUES(t, 0, 0, 255, 0, 1, 1, 1, 1, 0, 0, 255, 0);
    CHECK_OK(THTensor_zero(column));
    CHECK_VALUES(t, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0);
    THTensor_free(expanded);
    THTensor_free(row);
    THTensor_free(column);
    THTensor_free(t);
}

/* Copies and memory formats */

static void a_clone_has_its_own_memory_and_the_same_strides(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_t(t, t));
    THTensor *clone = THTensor_newClone(t);
    CHECK_OK(THTensor_set2d(t, 0, 0, 100));
    CHECK_STRIDES(clone, 1, 3);
    CHECK_VALUES(clone, 1, 4, 2, 5, 3, 6);
    THTensor *row_major = THTensor_newCloneFormat(clone, TH_CONTIGUOUS_FORMAT);
    CHECK_STRIDES(row_major, 2, 1);
    CHECK_VALUES(row_major, 1, 4, 2, 5, 3, 6);
    THTensor_free(row_major);
    THTensor_free(clone);
    THTensor_free(t);
}

static void contiguous_copies_only_what_is_not(void) {
    THTensor *t = matrix_of(TH_INT8, 2, 1, 2, 3, 4);
    THTensor *same = THTensor_newContiguous(t);
    CHECK(same == t);
    THTensor_free(same);
    CHECK_OK(THTensor_t(t, t));
    THTensor *copy = THTensor_newContiguous(t);
    CHECK(copy != t);
    CHECK_STRIDES(copy, 2, 1);
    CHECK_VALUES(copy, 1, 3, 2, 4);
    THTensor_free(copy);
    THTensor_free(t);
}

static void images_may_lie_channels_last(void) {
    THTensor *t = THTensor_newEmpty(TH_FLOAT32, SIZES(2, 3, 4, 5), TH_CHANNELS_LAST);
    CHECK_STRIDES(t, 60, 1, 15, 3);
    CHECK_EQ(THTensor_isContiguousFormat(t, TH_CHANNELS_LAST), 1);
    CHECK_EQ(THTensor_isContiguousFormat(t, TH_CONTIGUOUS_FORMAT), 0);
    THTensor *same = THTensor_newContiguousFormat(t, TH_CHANNELS_LAST);
    CHECK(same == t);
    THTensor_free(same);
    THTensor_free(t);

    t = THTensor_newEmpty(TH_INT8, SIZES(2, 3, 4, 5, 6), TH_CHANNELS_LAST_3D);
    CHECK_STRIDES(t, 360, 1, 90, 18, 3);
    CHECK_EQ(THTensor_isContiguousFormat(t, TH_CHANNELS_LAST_3D), 1);
    THTensor_free(t);
}

static void a_change_of_format_keeps_the_elements(void) {
    THTensor *t = THTensor_newZeros(TH_INT32, SIZES(1, 2, 2, 2));
    for (int i = 0; i < 8; i++) ((int32_t *)THTensor_data(t))[i] = i;
    THTensor *last = THTensor_newContiguousFormat(t, TH_CHANNELS_LAST);
    CHECK_STRIDES(last, 8, 1, 4, 2);
    CHECK_VALUES(last, 0, 1, 2, 3, 4, 5, 6, 7);
    CHECK_EQ(((int32_t *)THTensor_data(last))[1], 4);
    THTensor *preserved = THTensor_newCloneFormat(last, TH_PRESERVE_FORMAT);
    CHECK_STRIDES(preserved, 8, 1, 4, 2);
    CHECK_VALUES(preserved, 0, 1, 2, 3, 4, 5, 6, 7);
    THTensor_free(preserved);
    THTensor_free(last);
    THTensor_free(t);
}

static void formats_must_fit_the_shape(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3));
    CHECK_FAILURE(THTensor_newEmpty(TH_FLOAT32, SIZES(2, 3), TH_CHANNELS_LAST) == NULL, TH_ERR_SHAPE, "4 dimensions");
    CHECK_FAILURE(THTensor_newCloneFormat(t, TH_CHANNELS_LAST_3D) == NULL, TH_ERR_SHAPE, "5 dimensions");
    CHECK_FAILURE(THTensor_newContiguousFormat(t, TH_CHANNELS_LAST) == NULL, TH_ERR_SHAPE, "4 dimensions");
    CHECK_FAILURE(THTensor_newEmpty(TH_FLOAT32, SIZES(2, 3), 9) == NULL, TH_ERR_ARGUMENT, "9");
    CHECK_FAILURE(THTensor_newCloneFormat(t, -1) == NULL, TH_ERR_ARGUMENT, "-1");
    CHECK_FAILURE(THTensor_isContiguousFormat(t, 9) == 0, TH_ERR_ARGUMENT, "9");
    THTensor_free(t);
}

/* Views */

static void views_share_the_elements(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4, 5, 6), *v = THTensor_new();
    CHECK_OK(THTensor_narrow(v, m, 1, 1, 2));
    CHECK_VALUES(v, 2, 3, 5, 6);
    CHECK_OK(THTensor_select(v, m, 0, -1));
    CHECK_VALUES(v, 4, 5, 6);
    CHECK_OK(THTensor_slice(v, m, 1, 0, INT64_MAX, 2));
    CHECK_VALUES(v, 1, 3, 4, 6);
    CHECK_OK(THTensor_transpose(v, m, 0, 1));
    CHECK_VALUES(v, 1, 4, 2, 5, 3, 6);
    CHECK_OK(THTensor_set2d(v, 2, 1, 60));
    CHECK_NEAR(THTensor_get2d(m, 1, 2), 60, 0);

    const int64_t order[] = {1, 0}, flat[] = {-1}, rows[] = {2, 2, 3};
    CHECK_OK(THTensor_permute(v, m, 2, order));
    CHECK_SHAPE(v, 3, 2);
    CHECK_OK(THTensor_view(v, m, 1, flat));
    CHECK_VALUES(v, 1, 2, 3, 4, 5, 60);
    CHECK_OK(THTensor_unfold(v, v, 0, 3, 2));
    CHECK_VALUES(v, 1, 2, 3, 3, 4, 5);
    CHECK_OK(THTensor_expand(v, m, 3, rows));
    CHECK_VALUES(v, 1, 2, 3, 4, 5, 60, 1, 2, 3, 4, 5, 60);
    CHECK(THTensor_storage(v) == THTensor_storage(m));
    THTensor_free(v);
    THTensor_free(m);
}

static void dimensions_of_size_one_come_and_go(void) {
    THTensor *t = THTensor_newOnes(TH_INT8, SIZES(1, 2, 1)), *v = THTensor_new();
    CHECK_OK(THTensor_squeeze(v, t));
    CHECK_SHAPE(v, 2);
    CHECK_OK(THTensor_squeeze1d(v, t, 0));
    CHECK_SHAPE(v, 2, 1);
    CHECK_OK(THTensor_squeeze1d(v, t, 1));
    CHECK_SHAPE(v, 1, 2, 1);
    CHECK_OK(THTensor_unsqueeze1d(v, t, -1));
    CHECK_SHAPE(v, 1, 2, 1, 1);
    THTensor_free(v);
    THTensor_free(t);
}

static void reshape_copies_where_a_view_cannot(void) {
    THTensor *m = matrix_of(TH_INT32, 2, 1, 2, 3, 4, 5, 6), *turned = THTensor_newT(m);
    const int64_t sizes[] = {6};
    CHECK_FAILURE(THTensor_newView(turned, 1, sizes) == NULL, TH_ERR_SHAPE, "call newReshape, or newContiguous before");
    THTensor *copied = THTensor_newReshape(turned, 1, sizes), *viewed = THTensor_newFlatten(m, 0, -1);
    CHECK_VALUES(copied, 1, 4, 2, 5, 3, 6);
    CHECK_VALUES(viewed, 1, 2, 3, 4, 5, 6);
    CHECK(THTensor_storage(copied) != THTensor_storage(m));
    CHECK(THTensor_storage(viewed) == THTensor_storage(m));
    CHECK_FAILURE(THTensor_newReshape(m, SIZES(4, -1)) == NULL, TH_ERR_SHAPE, "6 elements");
    THTensor_free(viewed);
    THTensor_free(copied);
    THTensor_free(turned);
    THTensor_free(m);
}

static void bytes_are_seen_as_another_dtype(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, -2);
    THTensor *bits = THTensor_newViewDtype(t, TH_INT32);
    CHECK_VALUES(bits, 0x3f800000, -1073741824);
    CHECK_FAILURE(THTensor_newViewDtype(t, TH_FLOAT64) == NULL, TH_ERR_DTYPE, "number of bytes");
    THTensor_free(bits);
    THTensor_free(t);
}

static void tensors_come_apart_along_a_dimension(void) {
    THTensor *m = matrix_of(TH_FLOAT32, 3, 1, 2, 3, 4, 5, 6), *parts[3];
    int count = 3;
    CHECK_OK(THTensor_unbind(parts, &count, m, 0));
    CHECK_EQ(count, 3);
    CHECK_VALUES(parts[1], 3, 4);
    for (int i = 0; i < count; i++) THTensor_free(parts[i]);
    CHECK_OK(THTensor_chunk(parts, &count, m, 2, 0));
    CHECK_EQ(count, 2);
    CHECK_VALUES(parts[0], 1, 2, 3, 4);
    CHECK_VALUES(parts[1], 5, 6);
    for (int i = 0; i < count; i++) THTensor_free(parts[i]);
    THTensor_free(m);
}

static void tensors_expand_to_their_common_shape(void) {
    THTensor *column = matrix_of(TH_INT32, 2, 1, 2), *row = vector_of(TH_INT32, 10, 20, 30);
    THTensor *in[] = {column, row}, *out[] = {THTensor_new(), THTensor_new()};
    CHECK_OK(THTensor_expandNd(out, in, 2));
    CHECK_VALUES(out[0], 1, 1, 1, 2, 2, 2);
    CHECK_VALUES(out[1], 10, 20, 30, 10, 20, 30);
    for (int i = 0; i < 2; i++) {
        THTensor_free(out[i]);
        THTensor_free(in[i]);
    }
}

/* Changes of shape */

static void resizing_keeps_elements_where_they_are(void) {
    THTensor *t = matrix_of(TH_INT32, 2, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_resize2d(t, 3, 2));
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_resize1d(t, 2));
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 6);
    CHECK_OK(THTensor_resize1d(t, 6));
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_resize5d(t, 1, 2, 1, 4, 1));
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 8);
    CHECK_NEAR(element_at(t, 5), 6, 0);

    const int64_t sizes[] = {2, 2}, strides[] = {1, 3};
    CHECK_OK(THTensor_resize(t, 2, sizes, strides));
    CHECK_VALUES(t, 1, 4, 2, 5);
    CHECK_OK(THTensor_resize(t, 2, sizes, NULL));
    CHECK_STRIDES(t, 1, 3);
    THTensor_free(t);
}

static void resizing_takes_the_sizes_of_another(void) {
    THTensor *t = vector_of(TH_INT32, 1, 2, 3), *model = THTensor_newZeros(TH_FLOAT64, SIZES(2, 1, 3));
    CHECK_OK(THTensor_resizeAs(t, model));
    CHECK_SHAPE(t, 2, 1, 3);
    CHECK_EQ(THTensor_dtype(t), TH_INT32);
    THTensor_free(model);
    THTensor_free(t);
}

static void a_handle_moves_to_another_storage(void) {
    THStorage *s = THStorage_newWithSize(TH_INT16, 24);
    for (int i = 0; i < 24; i++) CHECK_OK(THStorage_set(s, i, i));
    THTensor *t = vector_of(TH_FLOAT32, 1);
    CHECK_OK(THTensor_setStorage4d(t, s, 1, 2, 8, 1, 8, 2, 2, 1, 1));
    CHECK_EQ(THTensor_dtype(t), TH_INT16);
    CHECK_VALUES(t, 1, 3, 9, 11);
    CHECK_OK(THTensor_setStorage3d(t, s, 0, 2, 12, 1, 12, 2, 3));
    CHECK_VALUES(t, 0, 3, 12, 15);
    CHECK_OK(THTensor_setStorage2d(t, s, 20, 2, 2, 2, 1));
    CHECK_VALUES(t, 20, 21, 22, 23);
    CHECK_OK(THTensor_setStorageNd(t, s, 4, SIZES(2), NULL));
    CHECK_VALUES(t, 4, 5);
    THTensor_free(t);
    THStorage_free(s);
}

CHECK_MAIN(CASE(a_tensor_is_made_of_dtype_and_sizes), CASE(sizes_may_be_arguments),
           CASE(a_tensor_is_made_full_of_a_value), CASE(a_tensor_is_made_from_an_array),
           CASE(a_tensor_is_made_with_strides), CASE(a_scalar_has_no_dimensions_and_one_element),
           CASE(a_size_may_be_zero), CASE(many_dimensions_are_no_trouble),
           CASE(tensors_are_made_like_others), CASE(what_is_like_an_expanded_tensor_has_elements_of_its_own),
           CASE(the_default_dtype_is_for_floats_nobody_gave_a_type), CASE(sizes_and_strides_by_dimension),
           CASE(a_tensor_says_where_its_elements_are), CASE(contiguous_means_row_major_without_gaps),
           CASE(tensors_are_compared_by_size_and_place), CASE(elements_are_read_and_set_by_index),
           CASE(one_element_tensors_have_an_item), CASE(filling_reaches_what_the_view_shows),
           CASE(a_clone_has_its_own_memory_and_the_same_strides), CASE(contiguous_copies_only_what_is_not),
           CASE(images_may_lie_channels_last), CASE(a_change_of_format_keeps_the_elements),
           CASE(formats_must_fit_the_shape), CASE(views_share_the_elements), CASE(dimensions_of_size_one_come_and_go),
           CASE(reshape_copies_where_a_view_cannot), CASE(bytes_are_seen_as_another_dtype),
           CASE(tensors_come_apart_along_a_dimension), CASE(tensors_expand_to_their_common_shape),
           CASE(resizing_keeps_elements_where_they_are), CASE(resizing_takes_the_sizes_of_another),
           CASE(a_handle_moves_to_another_storage))
