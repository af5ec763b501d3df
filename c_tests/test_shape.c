/* Changes of shape: reshape and flatten, lists of pieces, tensors that are set over storages, resize. */

#include "view_checks.h"

static void reshape_views_or_copies(void) {
    THTensor *t = counted(SIZES(2, 3)), *flat = THTensor_newReshape(t, SIZES(-1));
    CHECK_SHAPE(flat, 6);
    CHECK_SHARED(flat, t);
    THTensor *turned = THTensor_newT(t), *copied = THTensor_newReshape(turned, SIZES(6));
    CHECK_STRIDES(copied, 1);
    CHECK(THTensor_storage(copied) != THTensor_storage(t));
    CHECK_VALUES(copied, 0, 3, 1, 4, 2, 5);
    CHECK_EQ(THTensor_dtype(copied), TH_FLOAT32);
    THTensor *same = THTensor_newReshape(turned, SIZES(3, 2));
    CHECK(THTensor_isSetTo(same, turned));
    CHECK_FAILURE(THTensor_newReshape(t, SIZES(4)) == NULL, TH_ERR_SHAPE, "6 elements");
    CHECK_FAILURE(THTensor_newReshape(t, SIZES(-1, -1)) == NULL, TH_ERR_SHAPE, "more than once");
    CHECK_FAILURE(THTensor_newReshape(NULL, SIZES(4)) == NULL, TH_ERR_ARGUMENT, "NULL");
    CHECK_FAILURE(THTensor_newReshape(t, 1, NULL) == NULL, TH_ERR_ARGUMENT, "NULL");
    THTensor_free(same);
    THTensor_free(copied);
    THTensor_free(turned);
    THTensor_free(flat);
    THTensor_free(t);
}

static void flatten_views_or_copies(void) {
    THTensor *t = counted(SIZES(2, 3, 4)), *v = THTensor_newFlatten(t, 0, -1);
    CHECK_SHAPE(v, 24);
    CHECK_SHARED(v, t);
    THTensor_free(v);
    v = THTensor_newFlatten(t, 1, 2);
    CHECK_SHAPE(v, 2, 12);
    CHECK_STRIDES(v, 12, 1);
    CHECK_SHARED(v, t);
    THTensor_free(v);
    v = THTensor_newFlatten(t, -3, -2);
    CHECK_SHAPE(v, 6, 4);
    THTensor_free(v);
    v = THTensor_newFlatten(t, 1, 1);
    CHECK(THTensor_isSetTo(v, t));
    THTensor_free(v);

    THTensor *turned = THTensor_newTranspose(t, 0, 1);
    v = THTensor_newFlatten(turned, 0, 1);
    CHECK_SHAPE(v, 6, 4);
    CHECK_STRIDES(v, 4, 1);
    CHECK(THTensor_storage(v) != THTensor_storage(t));
    CHECK_VALUES(v, 0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 20, 21, 22, 23);
    THTensor_free(v);
    THTensor_free(turned);

    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    v = THTensor_newFlatten(scalar, 0, -1);
    CHECK_SHAPE(v, 1);
    CHECK_VALUES(v, 5);
    CHECK_FAILURE(THTensor_newFlatten(t, 2, 1) == NULL, TH_ERR_ARGUMENT,
                  "start dimension 2 comes after end dimension 1");
    CHECK_FAILURE(THTensor_newFlatten(t, 0, 3) == NULL, TH_ERR_ARGUMENT, "dimension 3 out of range");
    CHECK_FAILURE(THTensor_newFlatten(NULL, 0, 0) == NULL, TH_ERR_ARGUMENT, "NULL");
    THTensor_free(v);
    THTensor_free(scalar);
    THTensor_free(t);
}

static void split_into_pieces(void) {
    THTensor *t = counted(SIZES(2, 5)), *pieces[4] = {NULL};
    int count = -1;
    CHECK_OK(THTensor_split(NULL, &count, t, 2, 1));
    CHECK_EQ(count, 3);

    /* Too little room fails and changes nothing. With too much room, the count is set to the number of pieces. */
    count = 2;
    CHECK_ERROR(THTensor_split(pieces, &count, t, 2, 1), TH_ERR_ARGUMENT, "3 are needed");
    CHECK_EQ(count, 2);
    CHECK(pieces[0] == NULL && pieces[1] == NULL);
    count = 4;
    CHECK_OK(THTensor_split(pieces, &count, t, 2, -1));
    CHECK_EQ(count, 3);
    CHECK(pieces[3] == NULL);

    CHECK_SHAPE(pieces[0], 2, 2);
    CHECK_SHAPE(pieces[1], 2, 2);
    CHECK_SHAPE(pieces[2], 2, 1);
    CHECK_VALUES(pieces[1], 2, 3, 7, 8);
    CHECK_VALUES(pieces[2], 4, 9);
    for (int i = 0; i < count; i++) {
        CHECK_STRIDES(pieces[i], 5, 1);
        CHECK_OFFSET(pieces[i], 2 * i);
        CHECK_SHARED(pieces[i], t);
        CHECK_EQ(THTensor_refcount(pieces[i]), 1);
        THTensor_free(pieces[i]);
    }

    count = 1;
    CHECK_OK(THTensor_split(pieces, &count, t, INT64_MAX, 0));
    CHECK_EQ(count, 1);
    CHECK(THTensor_isSetTo(pieces[0], t));
    THTensor_free(pieces[0]);

    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    CHECK_ERROR(THTensor_split(pieces, &count, t, 0, 1), TH_ERR_ARGUMENT, "piece size 0 must be positive");
    CHECK_ERROR(THTensor_split(pieces, &count, t, -1, 1), TH_ERR_ARGUMENT, "piece size -1 must be positive");
    CHECK_ERROR(THTensor_split(pieces, &count, t, 1, 2), TH_ERR_ARGUMENT, "dimension 2 out of range");
    CHECK_ERROR(THTensor_split(pieces, &count, scalar, 1, 0), TH_ERR_SHAPE, "0-d");
    CHECK_ERROR(THTensor_split(pieces, NULL, t, 1, 1), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_split(pieces, &count, NULL, 1, 1), TH_ERR_ARGUMENT, "NULL");
    count = -1;
    CHECK_ERROR(THTensor_split(pieces, &count, t, 5, 1), TH_ERR_ARGUMENT, "room for -1 handles");
    THTensor_free(scalar);
    THTensor_free(t);
}

/* PyTorch's sizes: pieces of ceil(n / chunks) elements, as many as needed. */
static void chunk_into_equal_pieces(void) {
    static const struct {
        int64_t n, chunks;
        int pieces;
        int64_t first, last;
    } cases[] = {{6, 3, 3, 2, 2}, {5, 3, 3, 2, 1}, {5, 4, 3, 2, 1}, {5, 1, 1, 5, 5}, {3, 7, 3, 1, 1}, {9, 6, 5, 2, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, cases[k].n)), *pieces[5];
        int count = 0;
        CHECK_OK(THTensor_chunk(NULL, &count, t, cases[k].chunks, 1));
        CHECK_EQ(count, cases[k].pieces);
        CHECK_OK(THTensor_chunk(pieces, &count, t, cases[k].chunks, -1));
        CHECK_EQ(THTensor_size(pieces[0], 1), cases[k].first);
        CHECK_EQ(THTensor_size(pieces[count - 1], 1), cases[k].last);
        for (int i = 0; i < count; i++) {
            CHECK_OFFSET(pieces[i], i * cases[k].first);
            THTensor_free(pieces[i]);
        }
        THTensor_free(t);
    }
    THTensor *t = counted(SIZES(2, 5));
    int count = 0;
    CHECK_ERROR(THTensor_chunk(NULL, &count, t, 0, 0), TH_ERR_ARGUMENT, "chunks 0 must be positive");
    CHECK_ERROR(THTensor_chunk(NULL, &count, t, -2, 0), TH_ERR_ARGUMENT, "chunks -2 must be positive");
    CHECK_ERROR(THTensor_chunk(NULL, &count, t, 1, -3), TH_ERR_ARGUMENT, "dimension -3 out of range");
    CHECK_ERROR(THTensor_chunk(NULL, NULL, t, 1, 0), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_chunk(NULL, &count, NULL, 1, 0), TH_ERR_ARGUMENT, "NULL");
    THTensor_free(t);
}

static void unbind_takes_a_dimension_apart(void) {
    THTensor *t = counted(SIZES(2, 3)), *columns[3] = {NULL};
    int count = 0;
    CHECK_OK(THTensor_unbind(NULL, &count, t, 1));
    CHECK_EQ(count, 3);
    CHECK_OK(THTensor_unbind(columns, &count, t, -1));
    for (int i = 0; i < 3; i++) {
        CHECK_SHAPE(columns[i], 2);
        CHECK_STRIDES(columns[i], 3);
        CHECK_VALUES(columns[i], i, 3 + i);
        CHECK_SHARED(columns[i], t);
        THTensor_free(columns[i]);
    }
    count = 1;
    CHECK_ERROR(THTensor_unbind(columns, &count, t, 0), TH_ERR_ARGUMENT, "2 are needed");

    THTensor *none = counted(SIZES(0, 3)), *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    CHECK_OK(THTensor_unbind(NULL, &count, none, 0));
    CHECK_EQ(count, 0);
    CHECK_ERROR(THTensor_unbind(NULL, &count, scalar, 0), TH_ERR_SHAPE, "0-d");
    CHECK_ERROR(THTensor_unbind(NULL, &count, t, 2), TH_ERR_ARGUMENT, "dimension 2 out of range");
    CHECK_ERROR(THTensor_unbind(NULL, NULL, t, 0), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_unbind(NULL, &count, NULL, 0), TH_ERR_ARGUMENT, "NULL");
    THTensor_free(scalar);
    THTensor_free(none);
    THTensor_free(t);
}

static void expand_several_to_one_shape(void) {
    THTensor *row = vector_of(TH_FLOAT32, 1, 2, 3), *column = matrix_of(TH_INT32, 2, 10, 20);
    THTensor *scalar = THTensor_newScalar(TH_FLOAT64, 5);
    THTensor *sources[] = {row, column, scalar};
    THTensor *views[] = {THTensor_new(), THTensor_new(), THTensor_new()};
    CHECK_OK(THTensor_expandNd(views, sources, 3));
    CHECK_VALUES(views[0], 1, 2, 3, 1, 2, 3);
    CHECK_VALUES(views[1], 10, 10, 10, 20, 20, 20);
    CHECK_VALUES(views[2], 5, 5, 5, 5, 5, 5);
    CHECK_STRIDES(views[0], 0, 1);
    CHECK_STRIDES(views[1], 1, 0);
    CHECK_STRIDES(views[2], 0, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_SHAPE(views[i], 2, 3);
        CHECK_SHARED(views[i], sources[i]);
        CHECK_EQ(THTensor_dtype(views[i]), THTensor_dtype(sources[i]));
    }

    /* Results may be among the sources, in any order. */
    THTensor *swapped[] = {column, row, scalar};
    CHECK_OK(THTensor_expandNd(swapped, sources, 3));
    CHECK(THTensor_isSetTo(column, views[0]));
    CHECK(THTensor_isSetTo(row, views[1]));
    CHECK(THTensor_isSetTo(scalar, views[2]));

    THTensor *two = vector_of(TH_FLOAT32, 1, 2), *three = vector_of(TH_FLOAT32, 1, 2, 3);
    THTensor *unlike[] = {two, three}, *missing[] = {two, NULL};
    CHECK_ERROR(THTensor_expandNd(views, unlike, 2), TH_ERR_SHAPE, "sizes 2 and 3 of dimension 0 do not broadcast");
    CHECK_ERROR(THTensor_expandNd(views, missing, 2), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_expandNd(missing, unlike, 2), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_expandNd(NULL, unlike, 2), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_expandNd(views, NULL, 2), TH_ERR_ARGUMENT, "NULL");
    CHECK_OK(THTensor_expandNd(NULL, NULL, 0));
    CHECK_SHAPE(views[0], 2, 3);
    THTensor_free(two);
    THTensor_free(three);
    for (int i = 0; i < 3; i++) {
        THTensor_free(sources[i]);
        THTensor_free(views[i]);
    }
}

static void set_makes_a_second_handle(void) {
    THTensor *t = counted(SIZES(2, 3)), *r = vector_of(TH_INT64, 1, 2);
    THStorage *old = THTensor_storage(r);
    THStorage_retain(old);
    CHECK_OK(THTensor_set(r, t));
    CHECK(THTensor_isSetTo(r, t));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    CHECK_EQ(THStorage_refcount(old), 1);
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 2);
    CHECK_OK(THTensor_set(t, t));
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 2);
    CHECK_OK(THTensor_zero(r));
    CHECK_VALUES(t, 0, 0, 0, 0, 0, 0);
    CHECK_ERROR(THTensor_set(NULL, t), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_set(t, NULL), TH_ERR_ARGUMENT, "NULL");
    THStorage_free(old);
    THTensor_free(r);
    THTensor_free(t);
}

/* A 3 x 2 view [5 6; 9 10; 13 14] of 0 ... 19, and repetition by stride 0. */
static void set_a_geometry_over_a_storage(void) {
    THTensor *numbers = counted(SIZES(20)), *x = THTensor_new();
    THStorage *storage = THTensor_storage(numbers);
    CHECK_OK(THTensor_setStorage(x, storage, 5, 2, (const int64_t[]){3, 2}, (const int64_t[]){4, 1}));
    CHECK_SHAPE(x, 3, 2);
    CHECK_STRIDES(x, 4, 1);
    CHECK_OFFSET(x, 5);
    CHECK_VALUES(x, 5, 6, 9, 10, 13, 14);
    CHECK_OK(THTensor_setStorageNd(x, storage, 1, 2, (const int64_t[]){3, 3}, (const int64_t[]){0, 1}));
    CHECK_VALUES(x, 1, 2, 3, 1, 2, 3, 1, 2, 3);
    CHECK_OK(THTensor_setStorage(x, storage, 2, 2, (const int64_t[]){2, 3}, NULL));
    CHECK_STRIDES(x, 3, 1);
    CHECK_VALUES(x, 2, 3, 4, 5, 6, 7);
    CHECK_OK(THTensor_setStorage(x, storage, 7, 0, NULL, NULL));
    CHECK_EQ(THTensor_nDimension(x), 0);
    CHECK_EQ(THTensor_item(x), 7);

    CHECK_OK(THTensor_setStorage1d(x, storage, 3, 4, 5));
    CHECK_VALUES(x, 3, 8, 13, 18);
    CHECK_OK(THTensor_setStorage2d(x, storage, 1, 2, 1, 4, 0));
    CHECK_VALUES(x, 1, 1, 1, 1, 2, 2, 2, 2);
    CHECK_OK(THTensor_setStorage3d(x, storage, 0, 2, 8, 2, 4, 2, 1));
    CHECK_STRIDES(x, 8, 4, 1);
    CHECK_VALUES(x, 0, 1, 4, 5, 8, 9, 12, 13);
    CHECK_OK(THTensor_setStorage4d(x, storage, 1, 2, 8, 1, 0, 2, 4, 2, 1));
    CHECK_SHAPE(x, 2, 1, 2, 2);
    CHECK_STRIDES(x, 8, 0, 4, 1);
    CHECK_VALUES(x, 1, 2, 5, 6, 9, 10, 13, 14);
    CHECK_EQ(THStorage_size(storage), 20);

    /* A storage that is too small grows to the last element, and keeps its elements. */
    CHECK_OK(THTensor_setStorage2d(x, storage, 19, 2, 10, 2, 2));
    CHECK_EQ(THStorage_size(storage), 19 + 10 + 2 + 1);
    CHECK_EQ(THTensor_get2d(x, 0, 0), 19);
    THTensor_free(x);
    THTensor_free(numbers);
}

static void set_storage_refuses(void) {
    THTensor *x = vector_of(TH_INT16, 1, 2);
    float memory[4] = {1, 2, 3, 4};
    THStorage *foreign = THStorage_newFromBlob(TH_FLOAT32, memory, 4, NULL, NULL);
    THStorage *storage = THStorage_newWithSize(TH_FLOAT32, 4);
    CHECK_ERROR(THTensor_setStorage1d(x, storage, -1, 2, 1), TH_ERR_ARGUMENT, "storage offset -1 is negative");
    CHECK_ERROR(THTensor_setStorage1d(x, storage, 0, -2, 1), TH_ERR_SHAPE, "size -2 of dimension 0 is negative");
    CHECK_ERROR(THTensor_setStorage1d(x, storage, 0, 2, -1), TH_ERR_ARGUMENT, "stride -1 of dimension 0 is negative");
    CHECK_ERROR(THTensor_setStorage1d(x, storage, 1, 3, INT64_MAX), TH_ERR_SHAPE, "overflows");
    CHECK_ERROR(THTensor_setStorage1d(x, storage, PTRDIFF_MAX, 2, 1), TH_ERR_SHAPE, "overflows");
    CHECK_ERROR(THTensor_setStorage2d(x, storage, 0, INT64_MAX, 1, INT64_MAX, 1), TH_ERR_SHAPE, "overflows");
    CHECK_ERROR(THTensor_setStorage1d(x, foreign, 0, 5, 1), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THTensor_setStorage(x, storage, 0, -2, NULL, NULL), TH_ERR_ARGUMENT, "-2 entries");
    CHECK_ERROR(THTensor_setStorage(x, storage, 0, 1, NULL, NULL), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_setStorage1d(x, NULL, 0, 1, 1), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_setStorage1d(NULL, storage, 0, 1, 1), TH_ERR_ARGUMENT, "NULL");
    CHECK(THTensor_setStorage1d(x, storage, 0, INT64_C(1) << 60, 1) != TH_OK);
    CHECK_VALUES(x, 1, 2);
    CHECK_EQ(THStorage_size(storage), 4);
    CHECK_OK(THTensor_setStorage1d(x, foreign, 1, 3, 1));
    CHECK_VALUES(x, 2, 3, 4);
    THStorage_free(storage);
    THStorage_free(foreign);
    THTensor_free(x);
}

static void resize_keeps_elements_where_they_lie(void) {
    THTensor *t = matrix_of(TH_INT64, 3, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_resize2d(t, 2, 2));
    CHECK_STRIDES(t, 2, 1);
    CHECK_VALUES(t, 1, 2, 3, 4);
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 6);
    CHECK_OK(THTensor_resize1d(t, 6));
    CHECK_VALUES(t, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_resize2d(t, 2, 4));
    CHECK_SHAPE(t, 2, 4);
    CHECK_STRIDES(t, 4, 1);
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 8);
    CHECK_EQ(THTensor_get2d(t, 1, 1), 6);

    /* The same sizes change nothing, not even the strides. Other sizes become row-major. */
    THTensor *turned = THTensor_newT(t);
    CHECK_OK(THTensor_resize2d(turned, 4, 2));
    CHECK_STRIDES(turned, 1, 4);
    CHECK_OK(THTensor_resizeAs(turned, t));
    CHECK_SHAPE(turned, 2, 4);
    CHECK_STRIDES(turned, 4, 1);
    THTensor_free(turned);

    /* An offset is kept, and the storage must be larger by the offset. */
    THTensor *row = THTensor_newSelect(t, 0, 1);
    CHECK_OK(THTensor_resize1d(row, 6));
    CHECK_OFFSET(row, 4);
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 10);
    THTensor_free(row);
    THTensor_free(t);
}

static void resize_in_all_its_forms(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(1)), *like = counted(SIZES(2, 1, 3));
    CHECK_OK(THTensor_resize3d(t, 2, 3, 4));
    CHECK_SHAPE(t, 2, 3, 4);
    CHECK_OK(THTensor_resize4d(t, 5, 4, 3, 2));
    CHECK_SHAPE(t, 5, 4, 3, 2);
    CHECK_OK(THTensor_resize5d(t, 1, 2, 3, 4, 5));
    CHECK_SHAPE(t, 1, 2, 3, 4, 5);
    CHECK_STRIDES(t, 120, 60, 20, 5, 1);
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 120);
    CHECK_OK(THTensor_resizeAs(t, like));
    CHECK_SHAPE(t, 2, 1, 3);
    CHECK_OK(THTensor_resizeNd(t, 2, (const int64_t[]){2, 3}, (const int64_t[]){1, 2}));
    CHECK_STRIDES(t, 1, 2);
    CHECK_OK(THTensor_resize(t, 2, (const int64_t[]){2, 3}, (const int64_t[]){100, 1}));
    CHECK_STRIDES(t, 100, 1);
    CHECK_OK(THTensor_resize(t, 2, (const int64_t[]){2, 101}, (const int64_t[]){100, 1}));
    CHECK_EQ(THStorage_size(THTensor_storage(t)), 201);
    CHECK_OK(THTensor_resize2d(t, 0, 7));
    CHECK_SHAPE(t, 0, 7);
    CHECK_OK(THTensor_resize(t, 0, NULL, NULL));
    CHECK_EQ(THTensor_nDimension(t), 0);
    CHECK_EQ(THTensor_nElement(t), 1);

    /* A fresh handle gets the default dtype. */
    THTensor *fresh = THTensor_new();
    CHECK_OK(THTensor_resize2d(fresh, 2, 3));
    CHECK_SHAPE(fresh, 2, 3);
    CHECK_EQ(THTensor_dtype(fresh), THGetDefaultDtype());
    THTensor_free(fresh);
    THTensor_free(like);
    THTensor_free(t);
}

static void resize_refuses(void) {
    float memory[4] = {1, 2, 3, 4};
    THTensor *t = counted(SIZES(2, 2)), *foreign = THTensor_newFromBlob(TH_FLOAT32, SIZES(4), NULL, memory, NULL, NULL);
    CHECK_ERROR(THTensor_resize1d(t, -1), TH_ERR_SHAPE, "size -1 of dimension 0 is negative");
    CHECK_ERROR(THTensor_resize2d(t, INT64_MAX, 2), TH_ERR_SHAPE, "overflows");
    CHECK(THTensor_resize1d(t, INT64_MAX) != TH_OK);
    CHECK(THTensor_resize1d(t, INT64_C(1) << 60) != TH_OK);
    CHECK_ERROR(THTensor_resize(t, 1, (const int64_t[]){2}, (const int64_t[]){-1}), TH_ERR_ARGUMENT, "negative");
    CHECK_ERROR(THTensor_resize(t, 2, (const int64_t[]){2, 2}, (const int64_t[]){INT64_MAX, 1}), TH_ERR_SHAPE,
                "overflows");
    CHECK_ERROR(THTensor_resize(t, 1, NULL, NULL), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_resize1d(NULL, 1), TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_resizeAs(t, NULL), TH_ERR_ARGUMENT, "NULL");
    CHECK_SHAPE(t, 2, 2);
    CHECK_VALUES(t, 0, 1, 2, 3);
    CHECK_ERROR(THTensor_resize1d(foreign, 5), TH_ERR_ARGUMENT, "not resizable");
    CHECK_VALUES(foreign, 1, 2, 3, 4);
    CHECK_OK(THTensor_resize1d(foreign, 3));
    CHECK_VALUES(foreign, 1, 2, 3);
    THTensor_free(foreign);
    THTensor_free(t);
}

CHECK_MAIN(CASE(reshape_views_or_copies), CASE(flatten_views_or_copies), CASE(split_into_pieces),
           CASE(chunk_into_equal_pieces), CASE(unbind_takes_a_dimension_apart), CASE(expand_several_to_one_shape),
           CASE(set_makes_a_second_handle), CASE(set_a_geometry_over_a_storage), CASE(set_storage_refuses),
           CASE(resize_keeps_elements_where_they_lie), CASE(resize_in_all_its_forms), CASE(resize_refuses))
