/* Elements by index: read along a dimension, one by one, by a mask, or with a list of index tensors, and written in the
 * same ways. */

#include "check.h"

static THTensor *counted(THDtype dtype, int64_t rows, int64_t columns) {
    THTensor *t = THTensor_newWithSize2d(dtype, rows, columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) THTensor_set2d(t, i, j, (double)(10 * i + j));
    return t;
}

/* Taking */

static void rows_and_columns_are_selected_in_any_order(void) {
    THTensor *t = counted(TH_FLOAT32, 3, 4), *r = THTensor_new();
    THTensor *rows = vector_of(TH_INT64, 2, 0, 2), *column = vector_of(TH_INT32, 3);
    CHECK_OK(THTensor_indexSelect(r, t, 0, rows));
    CHECK_SHAPE(r, 3, 4);
    CHECK_VALUES(r, 20, 21, 22, 23, 0, 1, 2, 3, 20, 21, 22, 23);
    CHECK_OK(THTensor_indexSelect(r, t, -1, column));
    CHECK_SHAPE(r, 3, 1);
    CHECK_VALUES(r, 3, 13, 23);
    /* In place: the elements are copied before they are overwritten. */
    CHECK_OK(THTensor_indexSelect(t, t, 0, rows));
    CHECK_VALUES(t, 20, 21, 22, 23, 0, 1, 2, 3, 20, 21, 22, 23);
    THTensor_free(column);
    THTensor_free(rows);
    THTensor_free(r);
    THTensor_free(t);
}

static void an_index_out_of_range_is_named_with_its_place(void) {
    THTensor *t = counted(TH_INT16, 3, 4), *r = vector_of(TH_INT16, 7, 8);
    THTensor *index = vector_of(TH_INT64, 0, 3), *grid = matrix_of(TH_INT64, 2, 0, 1, 2, -1);
    CHECK_ERROR(THTensor_indexSelect(r, t, 0, index), TH_ERR_ARGUMENT,
                "THTensor_indexSelect: index 3 at position 1 is out of range for 3 entries");
    CHECK_ERROR(THTensor_gather(r, t, 0, grid), TH_ERR_ARGUMENT,
                "index -1 at position [1, 1] is out of range for 3 entries");
    CHECK_ERROR(THTensor_indexFill(t, 0, index, 1), TH_ERR_ARGUMENT, "index 3");
    CHECK_VALUES(r, 7, 8);
    CHECK_NEAR(THTensor_get2d(t, 0, 0), 0, 0);
    THTensor_free(grid);
    THTensor_free(index);
    THTensor_free(r);
    THTensor_free(t);
}

static void gather_picks_one_entry_for_each_place(void) {
    /* The scores of a network for three classes, and the index of the right class. */
    THTensor *scores = matrix_of(TH_FLOAT64, 2, 0.5, 0.25, 0.125, 3, 2, 1);
    THTensor *right = matrix_of(TH_INT64, 2, 1, 2), *r = THTensor_new();
    CHECK_OK(THTensor_gather(r, scores, 1, right));
    CHECK_SHAPE(r, 2, 1);
    CHECK_VALUES(r, 0.25, 1);
    /* scatter puts them back. */
    CHECK_OK(THTensor_zero(scores));
    CHECK_OK(THTensor_scatter(scores, 1, right, r));
    CHECK_VALUES(scores, 0, 0.25, 0, 0, 0, 1);
    CHECK_OK(THTensor_scatterFill(scores, 1, right, 7));
    CHECK_VALUES(scores, 0, 7, 0, 0, 0, 7);
    THTensor_free(r);
    THTensor_free(right);
    THTensor_free(scores);
}

static void take_counts_in_row_major_order(void) {
    THTensor *t = counted(TH_INT32, 2, 3), *index = vector_of(TH_INT64, 5, 0, -2), *r = THTensor_new();
    CHECK_OK(THTensor_take(r, t, index));
    CHECK_VALUES(r, 12, 0, 11);
    /* The order is the row-major order for any layout in memory. */
    CHECK_OK(THTensor_t(t, t));
    CHECK_OK(THTensor_take(r, t, index));
    CHECK_VALUES(r, 12, 0, 2);
    THTensor *values = vector_of(TH_INT32, 100, 200, 300);
    CHECK_OK(THTensor_put(t, index, values, 0));
    CHECK_VALUES(t, 200, 10, 1, 11, 300, 100);
    CHECK_OK(THTensor_put(t, index, values, 1));
    CHECK_VALUES(t, 400, 10, 1, 11, 600, 200);
    THTensor_free(values);
    THTensor_free(r);
    THTensor_free(index);
    THTensor_free(t);
}

static void lists_of_index_tensors_are_those_of_numpy(void) {
    THTensor *t = counted(TH_FLOAT32, 3, 4), *r;
    THTensor *rows = vector_of(TH_INT64, 0, 2), *columns = vector_of(TH_INT64, 3, -1);
    THTensor *both[2] = {rows, columns}, *second[2] = {NULL, columns};
    r = THTensor_newIndex(t, both, 2); /* t[[0, 2], [3, -1]] */
    CHECK_VALUES(r, 3, 23);
    THTensor_free(r);
    r = THTensor_newIndex(t, second, 2); /* t[:, [3, -1]] */
    CHECK_SHAPE(r, 3, 2);
    CHECK_VALUES(r, 3, 3, 13, 13, 23, 23);
    CHECK_ERROR(THTensor_index(r, t, NULL, 0), TH_ERR_ARGUMENT, "no index tensor is given");
    THTensor_free(r);
    /* A mask selects the positions of its true elements. */
    THTensor *mask = THTensor_new(), *ten = THTensor_newScalar(TH_FLOAT32, -1);
    CHECK_OK(THTensor_gtValue(mask, t, 20));
    CHECK_OK(THTensor_indexPut(t, &mask, 1, ten, 0));
    CHECK_VALUES(t, 0, 1, 2, 3, 10, 11, 12, 13, 20, -1, -1, -1);
    CHECK_OK(THTensor_indexPut(t, both, 2, ten, 1));
    CHECK_VALUES(t, 0, 1, 2, 2, 10, 11, 12, 13, 20, -1, -1, -2);
    THTensor_free(ten);
    THTensor_free(mask);
    THTensor_free(columns);
    THTensor_free(rows);
    THTensor_free(t);
}

static void a_mask_selects_and_takes_back(void) {
    THTensor *t = counted(TH_INT64, 2, 3), *mask = matrix_of(TH_BOOL, 2, 1, 0, 1, 0, 1, 0), *r = THTensor_new();
    CHECK_OK(THTensor_maskedSelect(r, t, mask));
    CHECK_VALUES(r, 0, 2, 11);
    THTensor *values = vector_of(TH_INT64, -1, -2, -3, -4);
    CHECK_OK(THTensor_maskedCopy(t, mask, values));
    CHECK_VALUES(t, -1, 1, -2, 10, -3, 12);
    CHECK_OK(THTensor_narrow(values, values, 0, 0, 2));
    CHECK_ERROR(THTensor_maskedCopy(t, mask, values), TH_ERR_SHAPE, "2 elements for a mask with 3 places");
    THTensor_free(values);
    THTensor_free(r);
    THTensor_free(mask);
    THTensor_free(t);
}

static void masks_of_any_length_select_what_they_should(void) {
    for (int64_t n = 0; n < 200; n += 7) {
        for (int k = 0; k < DTYPES; k++) {
            THTensor *x = THTensor_newWithSize1d(dtypes[k], n), *mask = THTensor_newWithSize1d(TH_BOOL, n),
                     *r = THTensor_new();
            int64_t expected = 0;
            for (int64_t i = 0; i < n; i++) {
                THTensor_set1d(x, i, (double)(i % 100 % (dtypes[k] == TH_BOOL ? 2 : 100)));
                THTensor_set1d(mask, i, i * i % 5 < 2);
            }
            CHECK_OK(THTensor_maskedSelect(r, x, mask));
            for (int64_t i = 0; i < n; i++)
                if (i * i % 5 < 2) CHECK_NEAR(THTensor_get1d(r, expected++), THTensor_get1d(x, i), 0);
            CHECK_EQ(THTensor_numel(r), expected);
            THTensor_free(r);
            THTensor_free(mask);
            THTensor_free(x);
        }
    }
}

static void nonzero_gives_places_as_rows_or_as_a_list(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, 0, 3, 0, NAN, 0, -1), *r = THTensor_new(), *list[2];
    CHECK_OK(THTensor_nonzero(r, t));
    CHECK_SHAPE(r, 3, 2);
    CHECK_VALUES(r, 0, 1, 1, 0, 1, 2);
    int count = 0;
    CHECK_OK(THTensor_nonzeroTuple(NULL, &count, t));
    CHECK_EQ(count, 2);
    CHECK_OK(THTensor_nonzeroTuple(list, &count, t));
    CHECK_VALUES(list[0], 0, 1, 1);
    CHECK_VALUES(list[1], 1, 0, 2);
    /* The list is an index: t[nonzero(t)] are the elements that are not 0. */
    THTensor *found = THTensor_newIndex(t, list, 2);
    CHECK_VALUES(found, 3, NAN, -1);
    THTensor_free(found);
    THTensor_free(list[0]);
    THTensor_free(list[1]);
    THTensor_free(r);
    THTensor_free(t);
}

/* Putting */

static void sums_by_index_are_formed_in_order(void) {
    /* Three points, two of them in group 1. */
    THTensor *sums = THTensor_newZeros(TH_FLOAT32, SIZES(2, 2)), *group = vector_of(TH_INT64, 1, 0, 1);
    THTensor *points = matrix_of(TH_FLOAT32, 3, 1, 2, 3, 4, 5, 6);
    CHECK_OK(THTensor_indexAdd(sums, 0, group, points));
    CHECK_VALUES(sums, 3, 4, 6, 8);
    CHECK_OK(THTensor_indexAddScale(sums, 0, group, -2, points));
    CHECK_VALUES(sums, -3, -4, -6, -8);
    CHECK_OK(THTensor_indexCopy(sums, 0, group, points));
    CHECK_VALUES(sums, 3, 4, 5, 6);
    CHECK_ERROR(THTensor_indexAdd(sums, 1, group, points), TH_ERR_SHAPE, "elements of sizes [3, 2], expected [2, 3]");
    THTensor_free(points);
    THTensor_free(group);
    THTensor_free(sums);
}

static void scaled_sums_of_16_bits_are_not_rounded_between(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT16, SIZES(1)), *src = vector_of(TH_FLOAT16, 6e4, 6e4, -6e4, -6e4);
    THTensor *index = THTensor_newZeros(TH_INT64, SIZES(4));
    CHECK_OK(THTensor_indexAddScale(t, 0, index, 2, src));
    CHECK_VALUES(t, 0);
    THTensor_free(index);
    THTensor_free(src);
    THTensor_free(t);
}

static void zeros_that_repeat_need_no_mask(void) {
    THMemoryStats before, after;
    THTensor *zero = THTensor_newZeros(TH_FLOAT32, SIZES(2, 1)), *t = THTensor_newExpand(zero, SIZES(2, 1 << 28)), *r = THTensor_new();
    THMemory_stats(&before);
    CHECK_OK(THTensor_nonzero(r, t));
    THMemory_stats(&after);
    CHECK_SHAPE(r, 0, 2);
    CHECK(after.peak_bytes - before.peak_bytes < 1 << 20);
    THTensor *nowhere = THTensor_newZeros(TH_BOOL, SIZES(2, 1)), *selected = THTensor_new();
    CHECK_OK(THTensor_maskedSelect(selected, t, nowhere));
    THMemory_stats(&after);
    CHECK_SHAPE(selected, 0);
    CHECK(after.peak_bytes - before.peak_bytes < 1 << 20);
    THTensor_free(selected);
    THTensor_free(nowhere);
    CHECK_OK(THTensor_set2d(zero, 1, 0, 5));
    CHECK_OK(THTensor_narrow(t, t, 1, 0, 3));
    CHECK_OK(THTensor_nonzero(r, t));
    CHECK_VALUES(r, 1, 0, 1, 1, 1, 2);
    THTensor_free(r);
    THTensor_free(t);
    THTensor_free(zero);
}

static void scatter_combines_as_asked(void) {
    THTensor *t = vector_of(TH_INT32, 1, 2, 3), *index = vector_of(TH_INT64, 0, 0, 2),
             *src = vector_of(TH_INT32, 5, 7, 2);
    CHECK_OK(THTensor_scatterAdd(t, 0, index, src));
    CHECK_VALUES(t, 13, 2, 5);
    CHECK_OK(THTensor_scatterMode(t, 0, index, src, TH_REDUCE_MULTIPLY));
    CHECK_VALUES(t, 455, 2, 10);
    CHECK_OK(THTensor_scatterMode(t, 0, index, src, TH_REDUCE_AMIN));
    CHECK_VALUES(t, 5, 2, 2);
    CHECK_OK(THTensor_scatterFillMode(t, 0, index, 6, TH_REDUCE_AMAX));
    CHECK_VALUES(t, 6, 2, 6);
    THTensor_free(src);
    THTensor_free(index);
    THTensor_free(t);
}

static void what_shares_memory_with_itself_is_not_written(void) {
    THTensor *one = THTensor_newScalar(TH_FLOAT32, 1), *t = THTensor_newExpand(one, SIZES(3));
    THTensor *index = vector_of(TH_INT64, 0), *src = vector_of(TH_FLOAT32, 5);
    CHECK_ERROR(THTensor_indexCopy(t, 0, index, src), TH_ERR_SHAPE,
                "several positions of the tensor share one element");
    CHECK_ERROR(THTensor_put(t, index, src, 0), TH_ERR_SHAPE, "share one element");
    CHECK_NEAR(THTensor_item(one), 1, 0);
    THTensor_free(src);
    THTensor_free(index);
    THTensor_free(t);
    THTensor_free(one);
}

static void a_tensor_may_be_its_own_source(void) {
    THTensor *t = vector_of(TH_INT64, 2, 0, 1);
    CHECK_OK(THTensor_scatter(t, 0, t, t)); /* t[t[i]] = t[i] */
    CHECK_VALUES(t, 0, 1, 2);
    THTensor_free(t);
    t = vector_of(TH_INT64, 1, 2, 0);
    CHECK_OK(THTensor_take(t, t, t)); /* t[i] = t[t[i]], of the previous t */
    CHECK_VALUES(t, 2, 0, 1);
    THTensor_free(t);
}

/* If several elements are written to one position, the last one in row-major order wins, for rows of any length. */
static void the_last_element_for_a_place_stays(void) {
    enum { N = 5000 };
    THTensor *values = THTensor_new(), *index = THTensor_newWithSize2d(TH_INT64, 2, N), *t = THTensor_newZeros(TH_INT64, SIZES(N));
    CHECK_OK(THTensor_arange(values, 0, N, 1));
    for (int64_t i = 0; i < N; i++) {
        THTensor_set2d(index, 0, i, (double)i);
        THTensor_set2d(index, 1, i, (double)(N - 1 - i));
    }
    THTensor *indices[] = {index};
    CHECK_OK(THTensor_indexPut(t, indices, 1, values, 0));
    for (int64_t place = 0; place < N; place += N - 1) CHECK_NEAR(THTensor_get1d(t, place), (double)(N - 1 - place), 0);
    CHECK_NEAR(THTensor_get1d(t, 4500), 499, 0);
    THTensor_free(t);
    THTensor_free(index);
    THTensor_free(values);
}

CHECK_MAIN(CASE(rows_and_columns_are_selected_in_any_order), CASE(an_index_out_of_range_is_named_with_its_place),
           CASE(the_last_element_for_a_place_stays),
           CASE(gather_picks_one_entry_for_each_place), CASE(take_counts_in_row_major_order),
           CASE(lists_of_index_tensors_are_those_of_numpy), CASE(a_mask_selects_and_takes_back),
           CASE(masks_of_any_length_select_what_they_should), CASE(nonzero_gives_places_as_rows_or_as_a_list),
           CASE(sums_by_index_are_formed_in_order), CASE(scatter_combines_as_asked),
           CASE(scaled_sums_of_16_bits_are_not_rounded_between), CASE(zeros_that_repeat_need_no_mask),
           CASE(what_shares_memory_with_itself_is_not_written), CASE(a_tensor_may_be_its_own_source))
