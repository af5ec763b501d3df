/* Views by example: every function that shows a tensor's elements in another shape. */

#include "view_checks.h"

static void narrow(void) {
    THTensor *t = counted(SIZES(3, 4));

    THTensor *rows = THTensor_newNarrow(t, 0, 1, 2);
    CHECK_SHAPE(rows, 2, 4);
    CHECK_STRIDES(rows, 4, 1);
    CHECK_OFFSET(rows, 4);
    CHECK_SHARED(rows, t);
    CHECK_VALUES(rows, 4, 5, 6, 7, 8, 9, 10, 11);
    CHECK_FORMS(rows, t, THTensor_narrow(r, src, 0, 1, 2));
    CHECK_FORMS(rows, t, THTensor_narrow(r, src, -2, -2, 2));
    THTensor_free(rows);

    THTensor *columns = THTensor_newNarrow(t, -1, 2, 2);
    CHECK_SHAPE(columns, 3, 2);
    CHECK_STRIDES(columns, 4, 1);
    CHECK_VALUES(columns, 2, 3, 6, 7, 10, 11);
    CHECK_OK(THTensor_fill(columns, -1));
    CHECK_VALUES(t, 0, 1, -1, -1, 4, 5, -1, -1, 8, 9, -1, -1);
    THTensor_free(columns);

    THTensor *none = THTensor_newNarrow(t, 1, 4, 0);
    CHECK_SHAPE(none, 3, 0);
    CHECK_EQ(THTensor_nElement(none), 0);
    THTensor_free(none);
    THTensor_free(t);
}

static void narrow_refuses(void) {
    THTensor *t = counted(SIZES(3, 4)), *scalar = THTensor_newScalar(TH_FLOAT32, 1);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT,
                  "start 2 + length 3 exceeds size 4 of dimension 1", 1, 2, 3);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT, "start 5", 1, 5, 0);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT, "length -1", 1, 2, -1);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT, "exceeds size 4", 1, -5, 1);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT, "exceeds size 4", 1, INT64_MIN, 1);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT, "exceeds size 4", 1, 1, INT64_MAX);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT, "dimension 2 out of range", 2, 0, 1);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, t, TH_ERR_ARGUMENT, "dimension -3 out of range", -3, 0, 1);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, scalar, TH_ERR_ARGUMENT, "0-d", 0, 0, 1);
    CHECK_REFUSED(THTensor_narrow, THTensor_newNarrow, NULL, TH_ERR_ARGUMENT, "NULL", 0, 0, 1);
    CHECK_ERROR(THTensor_narrow(NULL, t, 0, 0, 1), TH_ERR_ARGUMENT, "NULL");
    THTensor_free(t);
    THTensor_free(scalar);
}

static void select_an_entry(void) {
    THTensor *t = counted(SIZES(3, 4));

    THTensor *row = THTensor_newSelect(t, 0, 1);
    CHECK_SHAPE(row, 4);
    CHECK_STRIDES(row, 1);
    CHECK_OFFSET(row, 4);
    CHECK_SHARED(row, t);
    CHECK_VALUES(row, 4, 5, 6, 7);
    CHECK_FORMS(row, t, THTensor_select(r, src, 0, 1));
    CHECK_FORMS(row, t, THTensor_select(r, src, -2, -2));

    THTensor *column = THTensor_newSelect(t, -1, -1);
    CHECK_SHAPE(column, 3);
    CHECK_STRIDES(column, 4);
    CHECK_VALUES(column, 3, 7, 11);

    THTensor *element = THTensor_newSelect(column, 0, 1);
    CHECK_EQ(THTensor_nDimension(element), 0);
    CHECK_EQ(THTensor_nElement(element), 1);
    CHECK_OFFSET(element, 7);
    CHECK_OK(THTensor_fill(element, 70));
    CHECK_EQ(THTensor_get2d(t, 1, 3), 70);

    CHECK_REFUSED(THTensor_select, THTensor_newSelect, t, TH_ERR_ARGUMENT,
                  "index 4 out of range for size 4 of dimension 1", 1, 4);
    CHECK_REFUSED(THTensor_select, THTensor_newSelect, t, TH_ERR_ARGUMENT, "index -4 out of range for size 3", 0, -4);
    CHECK_REFUSED(THTensor_select, THTensor_newSelect, t, TH_ERR_ARGUMENT, "out of range", 0, INT64_MIN);
    CHECK_REFUSED(THTensor_select, THTensor_newSelect, t, TH_ERR_ARGUMENT, "out of range", 0, INT64_MAX);
    CHECK_REFUSED(THTensor_select, THTensor_newSelect, t, TH_ERR_ARGUMENT, "dimension 2 out of range", 2, 0);
    CHECK_REFUSED(THTensor_select, THTensor_newSelect, element, TH_ERR_ARGUMENT, "0-d", 0, 0);
    CHECK_REFUSED(THTensor_select, THTensor_newSelect, NULL, TH_ERR_ARGUMENT, "NULL", 0, 0);
    CHECK_ERROR(THTensor_select(NULL, t, 0, 0), TH_ERR_ARGUMENT, "NULL");

    THTensor_free(element);
    THTensor_free(column);
    THTensor_free(row);
    THTensor_free(t);
}

/* Slices are Python's x[start:end:step] for x = [0, 1, ... 9]. */
static void slices_are_pythons(void) {
    static const struct {
        int64_t start, end, step, length, first;
    } slices[] = {
        {0, 10, 1, 10, 0},        {2, 5, 1, 3, 2},    {1, 10, 3, 3, 1},    {0, 10, 3, 4, 0},
        {0, 9, 3, 3, 0},          {-3, 10, 1, 3, 7},  {0, -1, 1, 9, 0},    {-4, -2, 1, 2, 6},
        {-99, 99, 1, 10, 0},      {9, 99, 99, 1, 9},  {5, 5, 1, 0, 0},     {7, 3, 1, 0, 0},
        {10, 20, 1, 0, 0},        {99, 100, 1, 0, 0}, {-99, -98, 1, 0, 0}, {INT64_MIN, INT64_MAX, 1, 10, 0},
        {0, 10, INT64_MAX, 1, 0},
    };
    THTensor *t = counted(SIZES(10));
    for (size_t k = 0; k < sizeof slices / sizeof *slices; k++) {
        THTensor *v = THTensor_newSlice(t, 0, slices[k].start, slices[k].end, slices[k].step);
        CHECK_EQ(THTensor_size(v, 0), slices[k].length);
        for (int64_t i = 0; i < slices[k].length; i++) {
            CHECK_EQ(THTensor_get1d(v, i), slices[k].first + i * slices[k].step);
        }
        THTensor_free(v);
    }
    THTensor_free(t);
}

static void slice_along_a_dimension(void) {
    THTensor *t = counted(SIZES(2, 6)), *v = THTensor_newSlice(t, -1, 1, -1, 2);
    CHECK_SHAPE(v, 2, 2);
    CHECK_STRIDES(v, 6, 2);
    CHECK_OFFSET(v, 1);
    CHECK_SHARED(v, t);
    CHECK_VALUES(v, 1, 3, 7, 9);
    CHECK_FORMS(v, t, THTensor_slice(r, src, 1, 1, 5, 2));
    CHECK_REFUSED(THTensor_slice, THTensor_newSlice, t, TH_ERR_ARGUMENT, "step 0 must be positive", 1, 0, 6, 0);
    CHECK_REFUSED(THTensor_slice, THTensor_newSlice, t, TH_ERR_ARGUMENT, "step -1 must be positive", 1, 5, 0, -1);
    CHECK_REFUSED(THTensor_slice, THTensor_newSlice, t, TH_ERR_ARGUMENT, "dimension 2 out of range", 2, 0, 1, 1);
    CHECK_REFUSED(THTensor_slice, THTensor_newSlice, NULL, TH_ERR_ARGUMENT, "NULL", 0, 0, 1, 1);
    CHECK_ERROR(THTensor_slice(NULL, t, 0, 0, 1, 1), TH_ERR_ARGUMENT, "NULL");
    THTensor_free(v);
    THTensor_free(t);
}

static void transpose(void) {
    THTensor *t = counted(SIZES(2, 3, 4)), *v = THTensor_newTranspose(t, 0, 2);
    CHECK_SHAPE(v, 4, 3, 2);
    CHECK_STRIDES(v, 1, 4, 12);
    CHECK_SHARED(v, t);
    CHECK_EQ(THTensor_get3d(v, 3, 1, 1), 12 + 4 + 3);
    CHECK(!THTensor_isContiguous(v));
    CHECK_FORMS(v, t, THTensor_transpose(r, src, 0, 2));
    CHECK_FORMS(v, t, THTensor_transpose(r, src, -1, -3));
    CHECK_FORMS(t, v, THTensor_transpose(r, src, 2, 0));
    CHECK_FORMS(t, t, THTensor_transpose(r, src, 1, 1));
    CHECK_REFUSED(THTensor_transpose, THTensor_newTranspose, t, TH_ERR_ARGUMENT, "dimension 3 out of range", 0, 3);
    CHECK_REFUSED(THTensor_transpose, THTensor_newTranspose, t, TH_ERR_ARGUMENT, "dimension -4 out of range", -4, 0);
    CHECK_REFUSED(THTensor_transpose, THTensor_newTranspose, NULL, TH_ERR_ARGUMENT, "NULL", 0, 1);
    CHECK_ERROR(THTensor_transpose(NULL, t, 0, 1), TH_ERR_ARGUMENT, "NULL");

    /* As in PyTorch, a scalar has dimension 0 for functions that do not remove the dimension. */
    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5), *same = THTensor_newTranspose(scalar, 0, -1);
    CHECK(THTensor_isSetTo(same, scalar));
    CHECK_EQ(THTensor_item(same), 5);
    THTensor_free(same);
    THTensor_free(scalar);
    THTensor_free(v);
    THTensor_free(t);
}

static void t_is_for_matrices(void) {
    THTensor *matrix = counted(SIZES(2, 3)), *turned = THTensor_newT(matrix);
    CHECK_SHAPE(turned, 3, 2);
    CHECK_STRIDES(turned, 1, 3);
    CHECK_VALUES(turned, 0, 3, 1, 4, 2, 5);
    CHECK_FORMS(turned, matrix, THTensor_t(r, src));
    THTensor *vector = counted(SIZES(3)), *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    CHECK_FORMS(vector, vector, THTensor_t(r, src));
    CHECK_FORMS(scalar, scalar, THTensor_t(r, src));
    THTensor *cube = counted(SIZES(2, 2, 2));
    CHECK_FAILURE(THTensor_newT(cube) == NULL, TH_ERR_SHAPE, "at most 2 dimensions, got 3");
    CHECK_ERROR(THTensor_t(cube, cube), TH_ERR_SHAPE, "at most 2 dimensions, got 3");
    CHECK_SHAPE(cube, 2, 2, 2);
    CHECK_FAILURE(THTensor_newT(NULL) == NULL, TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_t(NULL, matrix), TH_ERR_ARGUMENT, "NULL");
    THTensor_free(cube);
    THTensor_free(scalar);
    THTensor_free(vector);
    THTensor_free(turned);
    THTensor_free(matrix);
}

static void permute(void) {
    THTensor *t = counted(SIZES(2, 3, 5)), *v = THTensor_newPermute(t, SIZES(2, 0, 1));
    CHECK_SHAPE(v, 5, 2, 3);
    CHECK_STRIDES(v, 1, 15, 5);
    CHECK_SHARED(v, t);
    CHECK_EQ(THTensor_get3d(v, 4, 1, 2), 15 + 2 * 5 + 4);
    CHECK_FORMS(v, t, THTensor_permute(r, src, SIZES(2, 0, 1)));
    CHECK_FORMS(v, t, THTensor_permute(r, src, SIZES(-1, -3, 1)));
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, t, TH_ERR_ARGUMENT, "stands twice", SIZES(0, 1, 0));
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, t, TH_ERR_ARGUMENT, "stands twice", SIZES(0, 2, -1));
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, t, TH_ERR_SHAPE, "2 dimensions given for a tensor with 3",
                  SIZES(1, 0));
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, t, TH_ERR_ARGUMENT, "dimension 3 out of range",
                  SIZES(0, 1, 3));
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, t, TH_ERR_ARGUMENT, "out of range",
                  SIZES(0, 1, INT64_C(1) << 32));
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, t, TH_ERR_ARGUMENT, "NULL", 3, NULL);
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, NULL, TH_ERR_ARGUMENT, "NULL", SIZES(0));
    CHECK_REFUSED(THTensor_permute, THTensor_newPermute, t, TH_ERR_ARGUMENT, "-1 entries", -1, NULL);

    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    CHECK_FORMS(scalar, scalar, THTensor_permute(r, src, 0, NULL));
    THTensor_free(scalar);
    THTensor_free(v);
    THTensor_free(t);
}

static void unfold(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4, 5, 6, 7);
    THTensor *pairs = THTensor_newUnfold(t, 0, 2, 1);
    CHECK_SHAPE(pairs, 6, 2);
    CHECK_STRIDES(pairs, 1, 1);
    CHECK_SHARED(pairs, t);
    CHECK_VALUES(pairs, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7);
    CHECK_FORMS(pairs, t, THTensor_unfold(r, src, 0, 2, 1));
    CHECK_FORMS(pairs, t, THTensor_unfold(r, src, -1, 2, 1));
    THTensor *apart = THTensor_newUnfold(t, 0, 2, 2);
    CHECK_SHAPE(apart, 3, 2);
    CHECK_STRIDES(apart, 2, 1);
    CHECK_VALUES(apart, 1, 2, 3, 4, 5, 6);
    THTensor *whole = THTensor_newUnfold(t, 0, 7, 100);
    CHECK_SHAPE(whole, 1, 7);

    THTensor *matrix = counted(SIZES(4, 3)), *rows = THTensor_newUnfold(matrix, 0, 2, 2);
    CHECK_SHAPE(rows, 2, 3, 2);
    CHECK_STRIDES(rows, 6, 1, 3);
    CHECK_VALUES(rows, 0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11);

    CHECK_REFUSED(THTensor_unfold, THTensor_newUnfold, t, TH_ERR_ARGUMENT, "window 8 exceeds size 7 of dimension 0", 0,
                  8, 1);
    CHECK_REFUSED(THTensor_unfold, THTensor_newUnfold, t, TH_ERR_ARGUMENT, "window -1", 0, -1, 1);
    CHECK_REFUSED(THTensor_unfold, THTensor_newUnfold, t, TH_ERR_ARGUMENT, "step 0 must be positive", 0, 2, 0);
    CHECK_REFUSED(THTensor_unfold, THTensor_newUnfold, t, TH_ERR_ARGUMENT, "dimension 1 out of range", 1, 2, 1);
    CHECK_REFUSED(THTensor_unfold, THTensor_newUnfold, NULL, TH_ERR_ARGUMENT, "NULL", 0, 1, 1);

    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5), *one = THTensor_newUnfold(scalar, 0, 1, 1);
    CHECK_SHAPE(one, 1);
    CHECK_VALUES(one, 5);
    THTensor_free(one);
    THTensor_free(scalar);
    THTensor_free(rows);
    THTensor_free(matrix);
    THTensor_free(whole);
    THTensor_free(apart);
    THTensor_free(pairs);
    THTensor_free(t);
}

static void squeeze(void) {
    THTensor *t = counted(SIZES(2, 1, 3, 1)), *v = THTensor_newSqueeze(t);
    CHECK_SHAPE(v, 2, 3);
    CHECK_STRIDES(v, 3, 1);
    CHECK_SHARED(v, t);
    CHECK_VALUES(v, 0, 1, 2, 3, 4, 5);
    CHECK_FORMS(v, t, THTensor_squeeze(r, src));
    CHECK_FORMS(v, v, THTensor_squeeze(r, src));

    THTensor *first = THTensor_newSqueeze1d(t, 1);
    CHECK_SHAPE(first, 2, 3, 1);
    CHECK_STRIDES(first, 3, 1, 1);
    CHECK_FORMS(first, t, THTensor_squeeze1d(r, src, 1));
    CHECK_FORMS(first, t, THTensor_squeeze1d(r, src, -3));
    CHECK_FORMS(t, t, THTensor_squeeze1d(r, src, 0));
    CHECK_REFUSED(THTensor_squeeze1d, THTensor_newSqueeze1d, t, TH_ERR_ARGUMENT, "dimension 4 out of range", 4);
    CHECK_REFUSED(THTensor_squeeze1d, THTensor_newSqueeze1d, NULL, TH_ERR_ARGUMENT, "NULL", 0);
    CHECK_FAILURE(THTensor_newSqueeze(NULL) == NULL, TH_ERR_ARGUMENT, "NULL");
    CHECK_ERROR(THTensor_squeeze(NULL, t), TH_ERR_ARGUMENT, "NULL");

    THTensor *ones = counted(SIZES(1, 1)), *scalar = THTensor_newSqueeze(ones);
    CHECK_EQ(THTensor_nDimension(scalar), 0);
    CHECK_EQ(THTensor_nElement(scalar), 1);
    CHECK_FORMS(scalar, scalar, THTensor_squeeze1d(r, src, 0));
    THTensor_free(scalar);
    THTensor_free(ones);
    THTensor_free(first);
    THTensor_free(v);
    THTensor_free(t);
}

static void unsqueeze(void) {
    THTensor *t = counted(SIZES(2, 3)), *v = THTensor_newUnsqueeze1d(t, 0);
    CHECK_SHAPE(v, 1, 2, 3);
    CHECK_STRIDES(v, 6, 3, 1);
    CHECK_SHARED(v, t);
    CHECK_FORMS(v, t, THTensor_unsqueeze1d(r, src, 0));
    CHECK_FORMS(v, t, THTensor_unsqueeze1d(r, src, -3));
    CHECK_OK(THTensor_unsqueeze1d(v, t, 1));
    CHECK_SHAPE(v, 2, 1, 3);
    CHECK_STRIDES(v, 3, 3, 1);
    CHECK_OK(THTensor_unsqueeze1d(v, t, -1));
    CHECK_SHAPE(v, 2, 3, 1);
    CHECK_STRIDES(v, 3, 1, 1);
    CHECK_VALUES(v, 0, 1, 2, 3, 4, 5);
    CHECK_REFUSED(THTensor_unsqueeze1d, THTensor_newUnsqueeze1d, t, TH_ERR_ARGUMENT, "dimension 3 out of range", 3);
    CHECK_REFUSED(THTensor_unsqueeze1d, THTensor_newUnsqueeze1d, t, TH_ERR_ARGUMENT, "dimension -4 out of range", -4);
    CHECK_REFUSED(THTensor_unsqueeze1d, THTensor_newUnsqueeze1d, NULL, TH_ERR_ARGUMENT, "NULL", 0);

    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    CHECK_OK(THTensor_unsqueeze1d(v, scalar, -1));
    CHECK_SHAPE(v, 1);
    CHECK_VALUES(v, 5);
    THTensor_free(scalar);
    THTensor_free(v);
    THTensor_free(t);
}

static void view(void) {
    THTensor *t = counted(SIZES(4, 6)), *v = THTensor_newView(t, SIZES(2, 3, 4));
    CHECK_SHAPE(v, 2, 3, 4);
    CHECK_STRIDES(v, 12, 4, 1);
    CHECK_SHARED(v, t);
    CHECK_EQ(THTensor_get3d(v, 1, 2, 3), 23);
    CHECK_FORMS(v, t, THTensor_view(r, src, SIZES(2, 3, 4)));
    CHECK_FORMS(v, t, THTensor_view(r, src, SIZES(2, -1, 4)));
    CHECK_FORMS(t, v, THTensor_view(r, src, SIZES(-1, 6)));
    CHECK_FORMS(v, t, THTensor_viewAs(r, src, v));
    CHECK_FORMS(t, v, THTensor_viewAs(r, src, t));
    THTensor *flat = THTensor_newViewAs(v, t);
    CHECK(THTensor_isSetTo(flat, t));
    CHECK_OK(THTensor_view(flat, v, SIZES(-1)));
    CHECK_SHAPE(flat, 24);
    CHECK_STRIDES(flat, 1);
    THTensor_free(flat);

    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_SHAPE, "24 elements", SIZES(5, 5));
    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_SHAPE, "24 elements", SIZES(-1, 7));
    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_SHAPE, "more than once", SIZES(-1, -1));
    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_SHAPE, "negative", SIZES(-2, -12));
    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_SHAPE, "cannot infer the size -1", SIZES(-1, 0));
    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_SHAPE, "overflows",
                  SIZES(INT64_C(1) << 32, INT64_C(1) << 32, 24));
    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_ARGUMENT, "NULL", 2, NULL);
    CHECK_REFUSED(THTensor_view, THTensor_newView, t, TH_ERR_ARGUMENT, "entries", 1025, THTensor_sizes(t));
    CHECK_REFUSED(THTensor_view, THTensor_newView, NULL, TH_ERR_ARGUMENT, "NULL", SIZES(24));
    CHECK_REFUSED(THTensor_viewAs, THTensor_newViewAs, t, TH_ERR_ARGUMENT, "NULL", NULL);
    CHECK_ERROR(THTensor_view(NULL, t, SIZES(24)), TH_ERR_ARGUMENT, "NULL");
    THTensor_free(v);
    THTensor_free(t);
}

/* If strides allow it, a view may split and merge dimensions of a tensor that is not contiguous. */
static void view_of_a_view(void) {
    THTensor *t = counted(SIZES(4, 6)), *left = THTensor_newNarrow(t, 1, 0, 4);
    THTensor *cut = THTensor_newView(left, SIZES(2, 2, 1, 2, 2));
    CHECK_SHAPE(cut, 2, 2, 1, 2, 2);
    for (int d = 0; d < 5; d++) {
        if (d != 2) CHECK_EQ(THTensor_stride(cut, d), ((const int64_t[]){12, 6, 0, 2, 1})[d]);
    }
    CHECK_VALUES(cut, 0, 1, 2, 3, 6, 7, 8, 9, 12, 13, 14, 15, 18, 19, 20, 21);
    THTensor *joined = THTensor_newView(cut, SIZES(4, 4));
    CHECK(THTensor_isSetTo(joined, left));

    const char *incompatible = "need a copy of a tensor with sizes";
    CHECK_ERROR(THTensor_view(joined, left, SIZES(16)), TH_ERR_SHAPE,
                "THTensor_view: sizes [16] need a copy of a tensor with sizes [4, 4] and strides [6, 1]: call newReshape, "
                "or newContiguous before");
    CHECK_REFUSED(THTensor_view, THTensor_newView, left, TH_ERR_SHAPE, incompatible, SIZES(16));
    CHECK_REFUSED(THTensor_view, THTensor_newView, left, TH_ERR_SHAPE, incompatible, SIZES(2, 8));
    THTensor *turned = THTensor_newT(t), *vector = counted(SIZES(24));
    CHECK_REFUSED(THTensor_view, THTensor_newView, turned, TH_ERR_SHAPE, incompatible, SIZES(-1));
    CHECK_REFUSED(THTensor_viewAs, THTensor_newViewAs, turned, TH_ERR_SHAPE, incompatible, vector);
    THTensor_free(vector);
    THTensor_free(turned);
    THTensor_free(joined);
    THTensor_free(cut);
    THTensor_free(left);
    THTensor_free(t);
}

static void view_of_one_or_no_element(void) {
    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5), *v = THTensor_newView(scalar, SIZES(1, 1));
    CHECK_SHAPE(v, 1, 1);
    CHECK_VALUES(v, 5);
    CHECK_OK(THTensor_view(v, v, 0, NULL));
    CHECK_EQ(THTensor_nDimension(v), 0);
    CHECK_EQ(THTensor_item(v), 5);
    CHECK_OK(THTensor_view(v, scalar, SIZES(-1)));
    CHECK_SHAPE(v, 1);
    THTensor_free(scalar);

    THTensor *none = counted(SIZES(0, 3));
    CHECK_OK(THTensor_view(v, none, SIZES(3, 0, 7)));
    CHECK_SHAPE(v, 3, 0, 7);
    CHECK_OK(THTensor_view(v, none, SIZES(-1, 3)));
    CHECK_SHAPE(v, 0, 3);
    CHECK_REFUSED(THTensor_view, THTensor_newView, none, TH_ERR_SHAPE, "cannot infer the size -1", SIZES(-1, 0));
    CHECK_REFUSED(THTensor_view, THTensor_newView, none, TH_ERR_SHAPE, "0 elements", SIZES(1));
    THTensor_free(none);
    THTensor_free(v);
}

static void expand(void) {
    THTensor *t = matrix_of(TH_INT64, 3, 1, 2, 3), *v = THTensor_newExpand(t, SIZES(3, 4));
    CHECK_SHAPE(v, 3, 4);
    CHECK_STRIDES(v, 1, 0);
    CHECK_SHARED(v, t);
    CHECK_VALUES(v, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    CHECK_FORMS(v, t, THTensor_expand(r, src, SIZES(3, 4)));
    CHECK_FORMS(v, t, THTensor_expand(r, src, SIZES(-1, 4)));
    CHECK_FORMS(v, t, THTensor_expandAs(r, src, v));
    THTensor *like = THTensor_newExpandAs(t, v);
    CHECK(THTensor_isSetTo(like, v));
    THTensor_free(like);

    THTensor *stack = THTensor_newExpand(t, SIZES(2, -1, -1));
    CHECK_SHAPE(stack, 2, 3, 1);
    CHECK_STRIDES(stack, 0, 1, 1);
    CHECK_OK(THTensor_expand(stack, t, SIZES(3, 0)));
    CHECK_SHAPE(stack, 3, 0);

    CHECK_REFUSED(THTensor_expand, THTensor_newExpand, t, TH_ERR_SHAPE, "size 3 of dimension 0 cannot become 4",
                  SIZES(4, 1));
    CHECK_REFUSED(THTensor_expand, THTensor_newExpand, t, TH_ERR_ARGUMENT, "new dimension 0 cannot be set to -1",
                  SIZES(-1, 3, 4));
    CHECK_REFUSED(THTensor_expand, THTensor_newExpand, t, TH_ERR_SHAPE, "1 sizes given for a tensor with 2 dimensions",
                  SIZES(3));
    CHECK_REFUSED(THTensor_expand, THTensor_newExpand, t, TH_ERR_SHAPE, "negative", SIZES(3, -2));
    CHECK_REFUSED(THTensor_expand, THTensor_newExpand, t, TH_ERR_SHAPE, "overflows", SIZES(3, INT64_MAX));
    CHECK_REFUSED(THTensor_expand, THTensor_newExpand, t, TH_ERR_ARGUMENT, "NULL", 2, NULL);
    CHECK_REFUSED(THTensor_expandAs, THTensor_newExpandAs, v, TH_ERR_SHAPE, "cannot become 1", t);
    CHECK_REFUSED(THTensor_expandAs, THTensor_newExpandAs, t, TH_ERR_ARGUMENT, "NULL", NULL);
    CHECK_REFUSED(THTensor_expand, THTensor_newExpand, NULL, TH_ERR_ARGUMENT, "NULL", SIZES(1));
    CHECK_ERROR(THTensor_expand(NULL, t, SIZES(3, 4)), TH_ERR_ARGUMENT, "NULL");

    THTensor *scalar = THTensor_newScalar(TH_FLOAT32, 5);
    CHECK_OK(THTensor_expand(stack, scalar, SIZES(2, 2)));
    CHECK_STRIDES(stack, 0, 0);
    CHECK_VALUES(stack, 5, 5, 5, 5);
    THTensor_free(scalar);
    THTensor_free(stack);
    THTensor_free(v);
    THTensor_free(t);
}

/* One value may be written to all positions of an element; several values may not. */
static void writing_through_expanded_tensors(void) {
    THTensor *t = counted(SIZES(3, 1)), *v = THTensor_newExpand(t, SIZES(3, 4)), *other = counted(SIZES(3, 4));
    CHECK_OK(THTensor_fill(v, 7));
    CHECK_VALUES(t, 7, 7, 7);
    CHECK_ERROR(THTensor_copy(v, other), TH_ERR_SHAPE, "share one element");
    CHECK_ERROR(THTensor_cadd(v, v, 1, other), TH_ERR_SHAPE, "share one element");
    CHECK_VALUES(t, 7, 7, 7);
    THTensor_free(other);
    THTensor_free(v);
    THTensor_free(t);
}

static void view_as_another_dtype(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, -2, 0.5, 0), *bits = THTensor_newViewDtype(t, TH_INT32);
    CHECK_EQ(THTensor_dtype(bits), TH_INT32);
    CHECK_SHARED(bits, t);
    CHECK_VALUES(bits, 0x3f800000, -0x40000000, 0x3f000000, 0);
    CHECK_OK(THTensor_set1d(bits, 3, 1000000000));
    CHECK_EQ(THTensor_get1d(t, 3), 0.004723787307739258);
    THTensor_free(bits);

    THTensor *every_other = THTensor_newSlice(t, 0, 0, 4, 2);
    bits = THTensor_newViewDtype(every_other, TH_INT32);
    CHECK_STRIDES(bits, 2);
    CHECK_VALUES(bits, 0x3f800000, 0x3f000000);

    CHECK_FAILURE(THTensor_newViewDtype(t, TH_INT16) == NULL, TH_ERR_DTYPE,
                  "Viewing a tensor as a new dtype with a different number of bytes per element is not supported.");
    CHECK_FAILURE(THTensor_newViewDtype(t, TH_UNDEFINED) == NULL, TH_ERR_ARGUMENT, "TH_UNDEFINED is no dtype");
    CHECK_FAILURE(THTensor_newViewDtype(t, 99) == NULL, TH_ERR_ARGUMENT, "99 is no dtype");
    CHECK_FAILURE(THTensor_newViewDtype(NULL, TH_INT32) == NULL, TH_ERR_ARGUMENT, "NULL");
    THTensor_free(bits);
    THTensor_free(every_other);
    THTensor_free(t);
}

static void get_device_is_for_gpus(void) {
    static const struct {
        THDtype dtype;
        const char *message;
    } types[] = {
        {TH_FLOAT32, "get_device is not implemented for type torch.FloatTensor"},
        {TH_FLOAT64, "get_device is not implemented for type torch.DoubleTensor"},
        {TH_FLOAT16, "get_device is not implemented for type torch.HalfTensor"},
        {TH_UINT8, "get_device is not implemented for type torch.ByteTensor"},
        {TH_INT8, "get_device is not implemented for type torch.CharTensor"},
        {TH_INT64, "get_device is not implemented for type torch.LongTensor"},
    };
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        THTensor *t = THTensor_newZeros(types[k].dtype, SIZES(3, 4, 5));
        CHECK_FAILURE(THTensor_getDevice(t) == -1, TH_ERR_DEVICE, types[k].message);
        CHECK_EQ(THTensor_deviceType(t), TH_CPU);
        THTensor_free(t);
    }
}

/* More dimensions than fit into a handle. */
static void views_of_many_dimensions(void) {
    int64_t twos[12], order[12];
    for (int d = 0; d < 12; d++) twos[d] = 2, order[d] = 11 - d;
    THTensor *t = counted(SIZES(64, 64)), *v = THTensor_newView(t, 12, twos),
             *turned = THTensor_newPermute(v, 12, order);
    for (int d = 0; d < 12; d++) {
        CHECK_EQ(THTensor_stride(v, d), 1 << (11 - d));
        CHECK_EQ(THTensor_stride(turned, d), 1 << d);
    }
    int64_t last[12];
    for (int d = 0; d < 12; d++) last[d] = 1;
    last[11] = 0;
    CHECK_EQ(THTensor_getAt(v, 12, last), 4094);
    CHECK_EQ(THTensor_getAt(turned, 12, last), 2047);
    CHECK_OK(THTensor_view(v, v, SIZES(4096)));
    CHECK_SHAPE(v, 4096);
    CHECK_OK(THTensor_set(v, turned));
    CHECK(THTensor_isSetTo(v, turned));
    CHECK_OK(THTensor_select(v, v, 11, 1));
    CHECK_EQ(THTensor_nDimension(v), 11);
    CHECK_EQ(THTensor_nElement(v), 2048);
    THTensor_free(turned);
    THTensor_free(v);
    THTensor_free(t);
}

/* A fresh handle has neither elements nor a dtype, so it has no views. */
static void fresh_handles_have_no_views(void) {
    THTensor *fresh = THTensor_new(), *t = counted(SIZES(2));
    int count = 0;
    CHECK_FAILURE(THTensor_newTranspose(fresh, 0, 0) == NULL, TH_ERR_DTYPE, "no dtype yet");
    CHECK_FAILURE(THTensor_newView(fresh, SIZES(0)) == NULL, TH_ERR_DTYPE, "no dtype yet");
    CHECK_FAILURE(THTensor_newReshape(fresh, SIZES(0)) == NULL, TH_ERR_DTYPE, "no dtype yet");
    CHECK_FAILURE(THTensor_newViewDtype(fresh, TH_INT32) == NULL, TH_ERR_DTYPE, "no dtype yet");
    CHECK_ERROR(THTensor_split(NULL, &count, fresh, 1, 0), TH_ERR_DTYPE, "no dtype yet");
    CHECK_ERROR(THTensor_set(t, fresh), TH_ERR_DTYPE, "no dtype yet");
    CHECK_ERROR(THTensor_squeeze(t, fresh), TH_ERR_DTYPE, "no dtype yet");
    CHECK_VALUES(t, 0, 1);
    THTensor_free(t);
    THTensor_free(fresh);
}

/* A view keeps the memory alive. The source handle may be freed or changed. */
static void views_outlive_their_source(void) {
    THTensor *t = counted(SIZES(2, 3)), *row = THTensor_newSelect(t, 0, 1);
    THStorage *storage = THTensor_storage(t);
    CHECK_EQ(THStorage_refcount(storage), 2);
    CHECK_OK(THTensor_transpose(t, t, 0, 1));
    CHECK_SHAPE(row, 3);
    THTensor_free(t);
    CHECK_EQ(THStorage_refcount(storage), 1);
    CHECK_VALUES(row, 3, 4, 5);
    THTensor_free(row);
}

CHECK_MAIN(CASE(narrow), CASE(narrow_refuses), CASE(select_an_entry), CASE(slices_are_pythons),
           CASE(slice_along_a_dimension), CASE(transpose), CASE(t_is_for_matrices), CASE(permute), CASE(unfold),
           CASE(squeeze), CASE(unsqueeze), CASE(view), CASE(view_of_a_view), CASE(view_of_one_or_no_element),
           CASE(expand), CASE(writing_through_expanded_tensors), CASE(view_as_another_dtype),
           CASE(get_device_is_for_gpus), CASE(views_of_many_dimensions), CASE(fresh_handles_have_no_views),
           CASE(views_outlive_their_source))
