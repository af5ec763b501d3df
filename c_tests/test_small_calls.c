/* Calls on few elements take a short path, calls with other results the long one. Both give the same bits. */

#include "check.h"

#include <stdint.h>

/* The results of a call: a fresh handle, a contiguous tensor, and a view whose elements are not adjacent. */
enum { FRESH, CONTIGUOUS, SPREAD, KINDS };

static uint64_t state = 1;

static uint64_t next_below(uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

static THTensor *result_of(int kind, THDtype dtype, int ndim, const int64_t *sizes) {
    if (kind == FRESH) return THTensor_new();
    if (kind == CONTIGUOUS) return THTensor_newZeros(dtype, ndim, sizes);
    int64_t wide[3] = {0};
    for (int d = 0; d < ndim; d++) wide[d] = 2 * sizes[d];
    THTensor *large = THTensor_newZeros(dtype, ndim, wide), *r = THTensor_new();
    CHECK_OK(THTensor_set(r, large));
    for (int d = 0; d < ndim; d++) {
        THTensor *half = THTensor_newSlice(r, d, 0, wide[d], 2);
        THTensor_free(r);
        r = half;
    }
    THTensor_free(large);
    return r;
}

/* Uneven numbers, whose sums depend on the order of the additions. Integers for other dtypes. */
static THTensor *numbers_of(THDtype dtype, int ndim, const int64_t *sizes) {
    THTensor *t = THTensor_newZeros(dtype, ndim, sizes), *row = THTensor_newReshape(t, 1, (int64_t[]){-1});
    for (int64_t i = 0; i < THTensor_nElement(t); i++) {
        double x = dtype == TH_BOOL ? (double)next_below(2) : (double)next_below(200);
        if (dtype == TH_FLOAT32 || dtype == TH_FLOAT64) x = x / 7 + 1e5 * (double)next_below(3);
        CHECK_OK(THTensor_set1d(row, i, x));
    }
    THTensor_free(row);
    return t;
}

static void check_same_bits(THTensor *a, THTensor *b) {
    THTensor *x = THTensor_newContiguous(a), *y = THTensor_newContiguous(b);
    CHECK_EQ(THTensor_isSameSizeAs(x, y), 1);
    CHECK_EQ(THTensor_dtype(x), THTensor_dtype(y));
    const size_t bytes = (size_t)THTensor_nElement(x) * THTensor_elementSize(x);
    if (THTensor_nElement(x) == THTensor_nElement(y)) CHECK_EQ(memcmp(THTensor_data(x), THTensor_data(y), bytes), 0);
    THTensor_free(x);
    THTensor_free(y);
}

/* Frees the results after a comparison. */
static void compare(THTensor *r[KINDS]) {
    check_same_bits(r[FRESH], r[SPREAD]);
    check_same_bits(r[CONTIGUOUS], r[SPREAD]);
    for (int kind = 0; kind < KINDS; kind++) THTensor_free(r[kind]);
}

static void folds_of_rows_have_the_same_bits(void) {
    /* Around 16 columns and 64 rows, other ways of folding begin. */
    const int64_t counts[] = {1, 4, 15, 16, 17, 63, 64, 65}, lengths[] = {1, 3, 15, 16, 17, 100, 257};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
            for (int keep = 0; keep < 2; keep++) {
                int64_t of_t[] = {counts[i], lengths[j]}, of_r[] = {counts[i], 1};
                THTensor *t = numbers_of(TH_FLOAT32, 2, of_t), *sums[KINDS], *norms[KINDS], *most[KINDS], *where[KINDS];
                for (int kind = 0; kind < KINDS; kind++) {
                    sums[kind] = result_of(kind, TH_FLOAT32, 1 + keep, of_r);
                    norms[kind] = result_of(kind, TH_FLOAT32, 1 + keep, of_r);
                    most[kind] = result_of(kind, TH_FLOAT32, 1 + keep, of_r);
                    where[kind] = result_of(kind, TH_INT64, 1 + keep, of_r);
                    CHECK_OK(THTensor_sum(sums[kind], t, 1, keep));
                    CHECK_OK(THTensor_norm(norms[kind], t, 3, -1, keep));
                    CHECK_OK(THTensor_max(most[kind], where[kind], t, 1, keep));
                }
                compare(sums);
                compare(norms);
                compare(most);
                compare(where);
                THTensor_free(t);
            }
}

/* The element at a place of a tensor of up to three dimensions. */
static double at(const THTensor *t, const int64_t *place) {
    if (THTensor_nDimension(t) == 1) return THTensor_get1d(t, place[0]);
    if (THTensor_nDimension(t) == 2) return THTensor_get2d(t, place[0], place[1]);
    return THTensor_get3d(t, place[0], place[1], place[2]);
}

/* Calls `each` for every place of the sizes. */
#define FOR_PLACES(place, ndim, sizes)                                                                                 \
    for (int64_t number = 0, place[3] = {0}; locate(place, number, ndim, sizes); number++)

/* Finds the place with this number in row-major order. Returns 0 after the last place. */
static int locate(int64_t *place, int64_t number, int ndim, const int64_t *sizes) {
    for (int d = ndim - 1; d >= 0; d--) {
        place[d] = number % sizes[d];
        number /= sizes[d];
    }
    return number == 0;
}

static THTensor *positions_of(int ndim, const int64_t *sizes, int64_t entries, int negative) {
    THTensor *t = THTensor_newZeros(TH_INT64, ndim, sizes), *row = THTensor_newReshape(t, 1, (int64_t[]){-1});
    for (int64_t i = 0; i < THTensor_nElement(t); i++) {
        int64_t position = (int64_t)next_below((uint64_t)entries);
        CHECK_OK(THTensor_set1d(row, i, (double)(negative && next_below(2) ? position - entries : position)));
    }
    THTensor_free(row);
    return t;
}

static const THDtype MOVED[] = {TH_UINT8, TH_BOOL, TH_FLOAT16, TH_INT32, TH_FLOAT32, TH_FLOAT64, TH_INT64};

static void elements_move_along_each_dimension(void) {
    for (int trial = 0; trial < 150; trial++) {
        const int ndim = 1 + (int)next_below(3), d = (int)next_below((uint64_t)ndim);
        int64_t have[3], sizes[3];
        for (int k = 0; k < ndim; k++) {
            have[k] = 1 + (int64_t)next_below(5);
            sizes[k] = k == d ? 1 + (int64_t)next_below(7) : 1 + (int64_t)next_below((uint64_t)have[k]);
        }
        const THDtype dtype = MOVED[next_below(sizeof MOVED / sizeof *MOVED)];
        THTensor *t = numbers_of(dtype, ndim, have), *index = positions_of(ndim, sizes, have[d], 0);
        THTensor *src = numbers_of(dtype, ndim, sizes), *gathered[KINDS], *summed[KINDS], *written[KINDS];
        for (int kind = 0; kind < KINDS; kind++) {
            gathered[kind] = result_of(kind, dtype, ndim, sizes);
            CHECK_OK(THTensor_gather(gathered[kind], t, d, index));
            /* The tensor that changes: a clone, a contiguous one, a view. */
            summed[kind] = result_of(kind, dtype, ndim, have);
            written[kind] = result_of(kind, dtype, ndim, have);
            CHECK_OK(THTensor_copy(summed[kind], t));
            CHECK_OK(THTensor_copy(written[kind], t));
            CHECK_OK(THTensor_scatterAdd(summed[kind], d, index, src));
            CHECK_OK(THTensor_scatter(written[kind], d, index, src));
        }
        FOR_PLACES(place, ndim, sizes) {
            int64_t from[3] = {place[0], place[1], place[2]};
            from[d] = (int64_t)at(index, place);
            CHECK_NEAR(at(gathered[FRESH], place), at(t, from), 0);
        }
        compare(gathered);
        compare(summed);
        compare(written);
        THTensor_free(src);
        THTensor_free(index);
        THTensor_free(t);
    }
}

static void entries_move_by_a_vector(void) {
    for (int trial = 0; trial < 150; trial++) {
        const int ndim = 1 + (int)next_below(3), d = (int)next_below((uint64_t)ndim);
        int64_t have[3], sizes[3];
        for (int k = 0; k < ndim; k++) sizes[k] = have[k] = 1 + (int64_t)next_below(5);
        sizes[d] = 1 + (int64_t)next_below(7);
        const THDtype dtype = MOVED[next_below(sizeof MOVED / sizeof *MOVED)];
        THTensor *t = numbers_of(dtype, ndim, have), *index = positions_of(1, &sizes[d], have[d], 0);
        THTensor *any = positions_of(1, &sizes[d], have[d], 1), *src = numbers_of(dtype, ndim, sizes);
        THTensor *chosen[KINDS], *summed[KINDS], *written[KINDS], *filled[KINDS];
        for (int kind = 0; kind < KINDS; kind++) {
            chosen[kind] = result_of(kind, dtype, ndim, sizes);
            CHECK_OK(THTensor_indexSelect(chosen[kind], t, d, index));
            THTensor **changed[] = {&summed[kind], &written[kind], &filled[kind]};
            for (int k = 0; k < 3; k++) {
                *changed[k] = result_of(kind, dtype, ndim, have);
                CHECK_OK(THTensor_copy(*changed[k], t));
            }
            CHECK_OK(THTensor_indexAdd(summed[kind], d, index, src));
            CHECK_OK(THTensor_indexCopy(written[kind], d, index, src));
            CHECK_OK(THTensor_indexFill(filled[kind], d, any, 1));
        }
        FOR_PLACES(place, ndim, sizes) {
            int64_t from[3] = {place[0], place[1], place[2]};
            from[d] = (int64_t)at(index, &place[d]);
            CHECK_NEAR(at(chosen[FRESH], place), at(t, from), 0);
        }
        compare(chosen);
        compare(summed);
        compare(written);
        compare(filled);
        THTensor_free(src);
        THTensor_free(any);
        THTensor_free(index);
        THTensor_free(t);
    }
}

static void single_elements_move_by_positions(void) {
    /* Lists of more than 256 positions take the long path. */
    const int64_t lengths[] = {1, 2, 7, 255, 256, 257};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int trial = 0; trial < 8; trial++) {
            const int64_t n = lengths[i], have[] = {4, 5};
            const THDtype dtype = MOVED[next_below(sizeof MOVED / sizeof *MOVED)];
            THTensor *t = numbers_of(dtype, 2, have), *src = numbers_of(dtype, 1, &n);
            THTensor *flat = positions_of(1, &n, 20, 1);
            THTensor *lists[] = {positions_of(1, &n, 4, 1), positions_of(1, &n, 5, 1)};
            THTensor *taken[KINDS], *indexed[KINDS], *put[KINDS], *summed[KINDS], *set[KINDS];
            for (int kind = 0; kind < KINDS; kind++) {
                taken[kind] = result_of(kind, dtype, 1, &n);
                indexed[kind] = result_of(kind, dtype, 1, &n);
                CHECK_OK(THTensor_take(taken[kind], t, flat));
                CHECK_OK(THTensor_index(indexed[kind], t, lists, 2));
                THTensor **changed[] = {&put[kind], &summed[kind], &set[kind]};
                for (int k = 0; k < 3; k++) {
                    *changed[k] = result_of(kind, dtype, 2, have);
                    CHECK_OK(THTensor_copy(*changed[k], t));
                }
                CHECK_OK(THTensor_put(put[kind], flat, src, 0));
                CHECK_OK(THTensor_put(summed[kind], flat, src, 1));
                CHECK_OK(THTensor_indexPut(set[kind], lists, 2, src, 0));
            }
            for (int64_t k = 0; k < n; k++) {
                int64_t place = ((int64_t)at(flat, &k) + 20) % 20;
                int64_t pair[] = {((int64_t)at(lists[0], &k) + 4) % 4, ((int64_t)at(lists[1], &k) + 5) % 5};
                CHECK_NEAR(at(taken[FRESH], &k), at(t, (int64_t[]){place / 5, place % 5}), 0);
                CHECK_NEAR(at(indexed[FRESH], &k), at(t, pair), 0);
            }
            compare(taken);
            compare(indexed);
            compare(put);
            compare(summed);
            compare(set);
            THTensor_free(lists[0]);
            THTensor_free(lists[1]);
            THTensor_free(flat);
            THTensor_free(src);
            THTensor_free(t);
        }
}

static void tensors_join_and_turn(void) {
    for (int trial = 0; trial < 100; trial++) {
        const int ndim = 1 + (int)next_below(3), d = (int)next_below((uint64_t)ndim), parts = 1 + (int)next_below(3);
        int64_t sizes[3], total = 0, turned = d;
        for (int k = 0; k < ndim; k++) sizes[k] = 1 + (int64_t)next_below(6);
        const THDtype dtype = MOVED[next_below(sizeof MOVED / sizeof *MOVED)];
        THTensor *list[3], *joined[KINDS], *flipped[KINDS];
        for (int k = 0; k < parts; k++) {
            total += sizes[d] = 1 + (int64_t)next_below(6);
            list[k] = numbers_of(dtype, ndim, sizes);
        }
        for (int kind = 0; kind < KINDS; kind++) {
            flipped[kind] = result_of(kind, dtype, ndim, sizes);
            CHECK_OK(THTensor_flip(flipped[kind], list[parts - 1], 1, &turned));
        }
        FOR_PLACES(place, ndim, sizes) {
            int64_t from[3] = {place[0], place[1], place[2]};
            from[d] = sizes[d] - 1 - place[d];
            CHECK_NEAR(at(flipped[FRESH], place), at(list[parts - 1], from), 0);
        }
        sizes[d] = total;
        for (int kind = 0; kind < KINDS; kind++) {
            joined[kind] = result_of(kind, dtype, ndim, sizes);
            CHECK_OK(THTensor_catArray(joined[kind], list, parts, d));
        }
        FOR_PLACES(place, ndim, sizes) {
            int64_t from[3] = {place[0], place[1], place[2]};
            int k = 0;
            while (from[d] >= THTensor_size(list[k], d)) from[d] -= THTensor_size(list[k++], d);
            CHECK_NEAR(at(joined[FRESH], place), at(list[k], from), 0);
        }
        compare(joined);
        compare(flipped);
        for (int k = 0; k < parts; k++) THTensor_free(list[k]);
    }
}

static void short_lines_are_selected(void) {
    /* The buffer of a line of up to 2 k + 256 elements has a record for each of them. */
    const int64_t lengths[] = {1, 4, 127, 128, 129, 255, 256, 257, 300, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int trial = 0; trial < 4; trial++) {
            int64_t sizes[] = {3, lengths[i]}, k = 1 + (int64_t)next_below((uint64_t)lengths[i]), of_r[] = {3, k};
            const THDtype dtype = trial % 2 ? TH_FLOAT32 : TH_INT64;
            THTensor *t = numbers_of(dtype, 2, sizes), *sorted = THTensor_new(), *order = THTensor_new();
            THTensor *best[KINDS], *where[KINDS];
            CHECK_OK(THTensor_sort(sorted, order, t, 1, 1, 1));
            for (int kind = 0; kind < KINDS; kind++) {
                best[kind] = result_of(kind, dtype, 2, of_r);
                where[kind] = result_of(kind, TH_INT64, 2, of_r);
                CHECK_OK(THTensor_topk(best[kind], where[kind], t, k, 1, 1, 1));
            }
            THTensor *first = THTensor_newNarrow(sorted, 1, 0, k), *places = THTensor_newNarrow(order, 1, 0, k);
            check_same_bits(best[SPREAD], first);
            check_same_bits(where[SPREAD], places);
            compare(best);
            compare(where);
            THTensor *all[] = {t, sorted, order, first, places};
            for (size_t a = 0; a < sizeof all / sizeof *all; a++) THTensor_free(all[a]);
        }
}

/* A result that an input shares is written as if the inputs were elsewhere. */
static void shared_memory_does_not_matter(void) {
    THTensor *t = vector_of(TH_INT64, 3, 0, 2, 1), *index = vector_of(TH_INT64, 1, 3, 0, 2);
    CHECK_OK(THTensor_indexSelect(t, t, 0, index));
    CHECK_VALUES(t, 0, 1, 3, 2);
    CHECK_OK(THTensor_gather(index, t, 0, index));
    CHECK_VALUES(index, 1, 2, 0, 3);
    CHECK_OK(THTensor_take(t, t, t));
    CHECK_VALUES(t, 0, 1, 2, 3);
    CHECK_OK(THTensor_scatterAdd(t, 0, index, t));
    CHECK_VALUES(t, 2, 1, 3, 6);
    int64_t first = 0;
    CHECK_OK(THTensor_flip(t, t, 1, &first));
    CHECK_VALUES(t, 6, 3, 1, 2);
    THTensor *head = THTensor_newNarrow(t, 0, 0, 2), *tail = THTensor_newNarrow(t, 0, 2, 2);
    CHECK_OK(THTensor_cat(t, tail, head, 0));
    CHECK_VALUES(t, 1, 2, 6, 3);
    THTensor_free(head);
    THTensor_free(tail);
    THTensor_free(index);
    THTensor_free(t);
}

CHECK_MAIN(CASE(folds_of_rows_have_the_same_bits), CASE(elements_move_along_each_dimension),
           CASE(entries_move_by_a_vector), CASE(single_elements_move_by_positions), CASE(tensors_join_and_turn),
           CASE(short_lines_are_selected), CASE(shared_memory_does_not_matter))
