/* Tensors joined, divided, and rearranged. */

#include "check.h"

static void cat_joins_along_a_dimension(void) {
    THTensor *a = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *b = matrix_of(TH_INT32, 1, 5, 6), *r = THTensor_new();
    CHECK_OK(THTensor_cat(r, a, b, 0));
    CHECK_SHAPE(r, 3, 2);
    CHECK_VALUES(r, 1, 2, 3, 4, 5, 6);
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32); /* the common dtype of both */
    CHECK_ERROR(THTensor_cat(r, a, b, 1), TH_ERR_SHAPE, "tensor 1 has shape [1, 2], the first one [2, 2]: they may differ in dimension 1 only");
    THTensor *none = THTensor_newZeros(TH_FLOAT32, SIZES(0)), *list[3] = {a, none, a};
    CHECK_OK(THTensor_catArray(r, list, 3, -1));
    CHECK_VALUES(r, 1, 2, 1, 2, 3, 4, 3, 4);
    /* The result may be one of the tensors. */
    list[0] = r;
    CHECK_OK(THTensor_catArray(r, list, 3, -1));
    CHECK_SHAPE(r, 2, 6);
    CHECK_ERROR(THTensor_catArray(r, list, 0, 0), TH_ERR_ARGUMENT, "expected at least one tensor");
    list[1] = NULL;
    CHECK_ERROR(THTensor_catArray(r, list, 3, 0), TH_ERR_ARGUMENT, "entry 1 of 'tensors' is NULL");
    THTensor_free(none);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void stack_makes_a_new_dimension(void) {
    THTensor *a = vector_of(TH_INT64, 1, 2), *b = vector_of(TH_INT64, 3, 4), *list[2] = {a, b}, *r = THTensor_new();
    CHECK_OK(THTensor_stack(r, list, 2, 0));
    CHECK_SHAPE(r, 2, 2);
    CHECK_VALUES(r, 1, 2, 3, 4);
    CHECK_OK(THTensor_stack(r, list, 2, -1));
    CHECK_VALUES(r, 1, 3, 2, 4);
    CHECK_OK(THTensor_hstack(r, list, 2));
    CHECK_SHAPE(r, 4);
    CHECK_OK(THTensor_vstack(r, list, 2));
    CHECK_SHAPE(r, 2, 2);
    CHECK_OK(THTensor_dstack(r, list, 2));
    CHECK_SHAPE(r, 1, 2, 2);
    CHECK_VALUES(r, 1, 3, 2, 4);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void pieces_are_views_of_the_sizes_asked_for(void) {
    THTensor *t = vector_of(TH_FLOAT64, 0, 1, 2, 3, 4, 5, 6), *piece[4];
    int count = 4;
    CHECK_OK(THTensor_splitSizes(piece, &count, t, SIZES(3, 0, 4), 0));
    CHECK_EQ(count, 3);
    CHECK_VALUES(piece[0], 0, 1, 2);
    CHECK_EQ(THTensor_numel(piece[1]), 0);
    CHECK_VALUES(piece[2], 3, 4, 5, 6);
    CHECK_OK(THTensor_fill(piece[0], 9));
    CHECK_NEAR(THTensor_get1d(t, 2), 9, 0);
    for (int i = 0; i < 3; i++) THTensor_free(piece[i]);
    count = 4;
    CHECK_OK(THTensor_tensorSplit(piece, &count, t, 3, 0));
    CHECK_EQ(count, 3);
    CHECK_VALUES(piece[0], 9, 9, 9);
    CHECK_VALUES(piece[2], 5, 6);
    for (int i = 0; i < 3; i++) THTensor_free(piece[i]);
    count = 4;
    CHECK_OK(THTensor_tensorSplitIndices(piece, &count, t, SIZES(2, -1), 0));
    CHECK_EQ(count, 3);
    CHECK_VALUES(piece[0], 9, 9);
    CHECK_VALUES(piece[1], 9, 3, 4, 5);
    CHECK_VALUES(piece[2], 6);
    for (int i = 0; i < 3; i++) THTensor_free(piece[i]);
    CHECK_ERROR(THTensor_splitSizes(piece, &count, t, SIZES(3, 3), 0), TH_ERR_SHAPE, "sizes [3, 3] do not add up to 7");
    THTensor_free(t);
}

static void images_are_flipped_turned_and_rolled(void) {
    THTensor *t = matrix_of(TH_UINT8, 2, 1, 2, 3, 4, 5, 6), *r = THTensor_new();
    CHECK_OK(THTensor_flip(r, t, SIZES(1)));
    CHECK_VALUES(r, 3, 2, 1, 6, 5, 4);
    CHECK_OK(THTensor_rot90(r, t, 1, 0, 1));
    CHECK_SHAPE(r, 3, 2);
    CHECK_VALUES(r, 3, 6, 2, 5, 1, 4);
    CHECK_OK(THTensor_roll(r, t, 1, (const int64_t[]){1}, (const int64_t[]){1}));
    CHECK_VALUES(r, 3, 1, 2, 6, 4, 5);
    CHECK_OK(THTensor_roll(r, t, 1, (const int64_t[]){-1}, NULL));
    CHECK_VALUES(r, 2, 3, 4, 5, 6, 1);
    /* In place, too. */
    CHECK_OK(THTensor_flip(t, t, SIZES(0, 1)));
    CHECK_VALUES(t, 6, 5, 4, 3, 2, 1);
    THTensor_free(r);
    THTensor_free(t);
}

static void elements_are_repeated_as_a_whole_or_one_by_one(void) {
    THTensor *t = vector_of(TH_INT16, 1, 2), *counts = vector_of(TH_INT64, 1, 3), *r = THTensor_new();
    CHECK_OK(THTensor_repeat(r, t, SIZES(2, 2)));
    CHECK_SHAPE(r, 2, 4);
    CHECK_VALUES(r, 1, 2, 1, 2, 1, 2, 1, 2);
    CHECK_OK(THTensor_tile(r, t, SIZES(2)));
    CHECK_VALUES(r, 1, 2, 1, 2);
    CHECK_OK(THTensor_repeatInterleave(r, t, counts, 0));
    CHECK_VALUES(r, 1, 2, 2, 2);
    CHECK_OK(THTensor_repeatInterleaveValue(r, t, 2, TH_ALL_DIMS));
    CHECK_VALUES(r, 1, 1, 2, 2);
    CHECK_ERROR(THTensor_repeatInterleaveValue(r, t, -2, 0), TH_ERR_ARGUMENT, "count -2 is negative");
    THTensor_free(r);
    THTensor_free(counts);
    THTensor_free(t);
}

static void edges_are_padded_in_four_ways(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3), *r = THTensor_new();
    CHECK_OK(THTensor_pad(r, t, SIZES(2, 1), TH_PAD_CONSTANT, -1));
    CHECK_VALUES(r, -1, -1, 1, 2, 3, -1);
    CHECK_OK(THTensor_pad(r, t, SIZES(2, 1), TH_PAD_REFLECT, 0));
    CHECK_VALUES(r, 3, 2, 1, 2, 3, 2);
    CHECK_OK(THTensor_pad(r, t, SIZES(2, 1), TH_PAD_REPLICATE, 0));
    CHECK_VALUES(r, 1, 1, 1, 2, 3, 3);
    CHECK_OK(THTensor_pad(r, t, SIZES(2, 1), TH_PAD_CIRCULAR, 0));
    CHECK_VALUES(r, 2, 3, 1, 2, 3, 1);
    CHECK_OK(THTensor_pad(r, t, SIZES(-1, -1), TH_PAD_CONSTANT, 0));
    CHECK_VALUES(r, 2);
    CHECK_ERROR(THTensor_pad(r, t, SIZES(3, 0), TH_PAD_REFLECT, 0), TH_ERR_SHAPE, "more than 3 entries of dimension 0 allow");
    CHECK_ERROR(THTensor_pad(r, t, SIZES(-4, 0), TH_PAD_CONSTANT, 0), TH_ERR_SHAPE, "leave no size");
    THTensor_free(r);
    THTensor_free(t);
}

/* The padding number is first converted to the dtype of the tensor, and then to the dtype of the result. */
static void what_pads_is_the_fresh_result_converted(void) {
    const struct {
        THDtype dtype, of_result;
        double value, stored;
    } cases[] = {{TH_UINT8, TH_INT32, -1, 255},          {TH_BOOL, TH_INT32, 2.5, 1},    {TH_BOOL, TH_INT32, 300, 1},
                 {TH_BOOL, TH_UINT8, NAN, 1},            {TH_INT32, TH_UINT8, 300, 44},  {TH_FLOAT16, TH_FLOAT32, 70000, INFINITY},
                 {TH_FLOAT16, TH_FLOAT64, 2049, 2048},   {TH_INT32, TH_FLOAT32, 2.5, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        THTensor *t = THTensor_newOnes(cases[i].dtype, SIZES(1)), *r = THTensor_newWithDtype(cases[i].of_result), *fresh = THTensor_new();
        CHECK_OK(THTensor_pad(r, t, SIZES(1, 0), TH_PAD_CONSTANT, cases[i].value));
        CHECK_OK(THTensor_pad(fresh, t, SIZES(1, 0), TH_PAD_CONSTANT, cases[i].value));
        CHECK_VALUES(r, cases[i].stored, 1);
        THTensor *converted = THTensor_newTo(fresh, cases[i].of_result);
        CHECK_EQ(THTensor_equal(r, converted), 1);
        THTensor_free(converted);
        THTensor_free(fresh);
        THTensor_free(r);
        THTensor_free(t);
    }
    THTensor *bytes = THTensor_newOnes(TH_UINT8, SIZES(1)), *wide = THTensor_newWithDtype(TH_INT32);
    CHECK_ERROR(THTensor_pad(wide, bytes, SIZES(1, 0), TH_PAD_CONSTANT, 300), TH_ERR_ARGUMENT, "300 is out of the range of uint8");
    THTensor_free(wide);
    THTensor_free(bytes);
}

/* As with PyTorch's `out=`. */
static void elements_that_are_joined_are_converted_once(void) {
    THTensor *half = vector_of(TH_FLOAT16, 1.5), *whole = vector_of(TH_INT64, 70000), *r = THTensor_new();
    CHECK_OK(THTensor_cat(r, half, whole, 0));
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT16);
    CHECK_VALUES(r, 1.5, INFINITY);
    THTensor *wide = THTensor_newWithDtype(TH_FLOAT64);
    CHECK_OK(THTensor_cat(wide, half, whole, 0));
    CHECK_VALUES(wide, 1.5, 70000);
    CHECK_OK(THTensor_stack(wide, (THTensor *[]){half, whole}, 2, 0));
    CHECK_VALUES(wide, 1.5, 70000);
    THTensor_free(wide);
    THTensor_free(r);
    THTensor_free(whole);
    THTensor_free(half);
}

/* The result may be among the operands of cat, pad, repeat and index functions: the result is as if the operands had
 * been copied first. */
static void a_result_may_lie_on_what_it_is_made_of(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4, 5, 6, 7, 8), *half = THTensor_newNarrow(t, 0, 0, 4), *r = THTensor_newNarrow(t, 0, 2, 4);
    THTensor *two = THTensor_newNarrow(t, 0, 1, 2), *index = vector_of(TH_INT64, 3, 2, 1, 0);
    CHECK_OK(THTensor_cat(r, two, two, 0));
    CHECK_VALUES(t, 1, 2, 2, 3, 2, 3, 7, 8);
    CHECK_OK(THTensor_pad(r, half, SIZES(1, -1), TH_PAD_CONSTANT, 9));
    CHECK_VALUES(t, 1, 2, 9, 1, 2, 2, 7, 8);
    CHECK_OK(THTensor_repeat(r, two, SIZES(2)));
    CHECK_VALUES(t, 1, 2, 2, 9, 2, 9, 7, 8);
    CHECK_OK(THTensor_indexSelect(r, half, 0, index));
    CHECK_VALUES(t, 1, 2, 9, 2, 2, 1, 7, 8);
    CHECK_OK(THTensor_flip(r, r, SIZES(0)));
    CHECK_VALUES(t, 1, 2, 1, 2, 2, 9, 7, 8);
    /* If its shape changes, the result gets other memory. */
    CHECK_OK(THTensor_cat(two, t, t, 0));
    CHECK_VALUES(two, 1, 2, 1, 2, 2, 9, 7, 8, 1, 2, 1, 2, 2, 9, 7, 8);
    CHECK_VALUES(t, 1, 2, 1, 2, 2, 9, 7, 8);
    THTensor_free(index);
    THTensor_free(two);
    THTensor_free(r);
    THTensor_free(half);
    THTensor_free(t);
}

static void fold_undoes_unfold(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4, 5, 6), *windows = THTensor_newUnfold(t, 0, 2, 2), *r = THTensor_new();
    CHECK_OK(THTensor_fold(r, windows, 0, 2));
    CHECK_VALUES(r, 1, 2, 3, 4, 5, 6);
    THTensor *overlapping = THTensor_newUnfold(t, 0, 3, 1);
    CHECK_OK(THTensor_fold(r, overlapping, 0, 1)); /* each element is multiplied by the number of windows that contain it */
    CHECK_VALUES(r, 1, 4, 9, 12, 10, 6);
    THTensor_free(overlapping);
    THTensor_free(r);
    THTensor_free(windows);
    THTensor_free(t);
}

static void differences_of_neighbours(void) {
    THTensor *t = vector_of(TH_INT32, 1, 4, 9, 16), *r = THTensor_new();
    CHECK_OK(THTensor_diff(r, t, 1, 0));
    CHECK_VALUES(r, 3, 5, 7);
    CHECK_OK(THTensor_diff(r, t, 2, -1));
    CHECK_VALUES(r, 2, 2);
    CHECK_OK(THTensor_diff(r, t, 9, 0));
    CHECK_EQ(THTensor_numel(r), 0);
    THTensor_free(r);
    THTensor_free(t);
}

static void positions_become_indices(void) {
    THTensor *positions = vector_of(TH_INT64, 5, 0, -1), *index[2];
    int count = 2;
    CHECK_OK(THTensor_unravelIndex(index, &count, positions, SIZES(3, 4)));
    CHECK_VALUES(index[0], 1, 0, 2);
    CHECK_VALUES(index[1], 1, 0, 3);
    THTensor_free(index[0]);
    THTensor_free(index[1]);
    CHECK_ERROR(THTensor_unravelIndex(index, &count, positions, SIZES(1, 4)), TH_ERR_ARGUMENT, "index 5 at position 0 is out of range");
    THTensor_free(positions);
}

/* A cache to which rows are appended may begin as a fresh handle. */
static void cat_takes_a_fresh_handle_as_empty(void) {
    THTensor *cache = THTensor_new(), *k = THTensor_newOnes(TH_FLOAT16, SIZES(1, 2)), *r = THTensor_new(), *fresh = THTensor_new();
    CHECK_OK(THTensor_cat(cache, cache, k, 0));
    CHECK_EQ(THTensor_dtype(cache), TH_FLOAT16);
    CHECK_SHAPE(cache, 1, 2);
    CHECK_OK(THTensor_cat(cache, cache, k, 0));
    CHECK_SHAPE(cache, 2, 2);
    CHECK_VALUES(cache, 1, 1, 1, 1);
    CHECK_OK(THTensor_cat(r, k, fresh, 1));
    CHECK_SHAPE(r, 1, 2);
    THTensor *list[] = {fresh, k, fresh, k};
    CHECK_OK(THTensor_catArray(r, list, 4, -1));
    CHECK_SHAPE(r, 1, 4);
    CHECK_EQ(THTensor_dtype(fresh), TH_UNDEFINED);
    CHECK_ERROR(THTensor_cat(r, fresh, fresh, 0), TH_ERR_DTYPE, "argument 'a' has no dtype yet");
    THTensor_free(fresh);
    THTensor_free(r);
    THTensor_free(k);
    THTensor_free(cache);
}

CHECK_MAIN(CASE(cat_takes_a_fresh_handle_as_empty), CASE(cat_joins_along_a_dimension), CASE(stack_makes_a_new_dimension), CASE(pieces_are_views_of_the_sizes_asked_for),
           CASE(images_are_flipped_turned_and_rolled), CASE(elements_are_repeated_as_a_whole_or_one_by_one),
           CASE(edges_are_padded_in_four_ways), CASE(what_pads_is_the_fresh_result_converted),
           CASE(elements_that_are_joined_are_converted_once), CASE(a_result_may_lie_on_what_it_is_made_of), CASE(fold_undoes_unfold), CASE(differences_of_neighbours),
           CASE(positions_become_indices))
