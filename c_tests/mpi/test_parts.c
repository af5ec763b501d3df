/* Tensors joined along a dimension and cut into parts: even and uneven parts, all dimensions, layouts and dtypes. */
#include "check_mpi.h"

/* Chooses a shape with at least one dimension, and one of the dimensions, which sometimes counts from the end. */
static int any_cut(int64_t *size, int *ndim, int *named) {
    *ndim = any_shape(COMMON, 1, size);
    int dim = (int)pick(COMMON, *ndim);
    *named = pick(COMMON, 2) ? dim : dim - *ndim;
    return dim;
}

/* Chooses the sizes of the parts: all equal, or up to three entries each, sometimes none. Returns their sum. */
static int64_t any_parts(int64_t *parts) {
    int64_t total = 0, equal = pick(COMMON, 3) == 0 ? pick(COMMON, 4) : -1;
    for (int p = 0; p < ranks; p++) total += parts[p] = equal >= 0 ? equal : pick(COMMON, 4);
    return total;
}

/* The tensor of rank `from` whose part along `dim` begins with entry `first`. */
static THTensor *part_of(const THTensor *all, int dim, int64_t first, int64_t size) {
    THTensor *part = THTensor_newNarrow(all, dim, first, size);
    THTensor *copy = zeros_somehow(OWN, THTensor_dtype(all), part->nDimension, part->size);
    CHECK_OK(THTensor_copy(copy, part));
    THTensor_free(part);
    return copy;
}

static int64_t sum_before(const int64_t *parts, int p) {
    int64_t sum = 0;
    while (p > 0) sum += parts[--p];
    return sum;
}

/* A result: fresh, of the right shape in some layout, or of another shape. */
static THTensor *any_result(THDtype dtype, int ndim, const int64_t *size) {
    switch (pick(OWN, 3)) {
    case 0: return THTensor_new();
    case 1: return zeros_somehow(OWN, dtype, ndim, size);
    default: return zeros_somehow(OWN, dtype, SIZES(2, 3));
    }
}

#define CHECK_SAME(a, b) CHECK(THTensor_isSameSizeAs(a, b) && THTensor_dtype(a) == THTensor_dtype(b) && THTensor_equal(a, b))

static void parts_are_joined(void) {
    for (int64_t round = 0; round < rounds_of(250); round++) {
        int64_t size[8], parts[8];
        int ndim, named, dim = any_cut(size, &ndim, &named), root = (int)pick(COMMON, ranks);
        THDtype dtype = any_dtype(COMMON);
        size[dim] = any_parts(parts);
        THTensor *all = values_somehow(COMMON, dtype, ndim, size, 3), *t = part_of(all, dim, sum_before(parts, rank), parts[rank]);
        THTensor *r = any_result(dtype, ndim, size);
        CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, round % 3 != 0));
        CHECK_OK(TH_MPI_allgather(r, t, named, MPI_COMM_WORLD));
        CHECK_SAME(r, all);
        THTensor_free(r);
        r = rank == root ? any_result(dtype, ndim, size) : NULL;
        CHECK_OK(TH_MPI_gather(r, t, named, root, MPI_COMM_WORLD));
        if (rank == root) CHECK_SAME(r, all);
        THTensor_free(r);
        THTensor_free(all);
        THTensor_free(t);
    }
    CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, 1));
}

static void a_rank_may_join_in_place(void) {
    THTensor *all = THTensor_newZeros(TH_INT32, SIZES(2, 3 * ranks)), *own = THTensor_newNarrow(all, 1, 3 * rank, 3);
    CHECK_OK(THTensor_fill(own, rank + 1));
    CHECK_OK(TH_MPI_allgather(all, own, 1, MPI_COMM_WORLD));
    for (int i = 0; i < 3 * ranks; i++) CHECK_NEAR(THTensor_get2d(all, 1, i), i / 3 + 1, 0);
    /* A tensor that grows to hold the parts of all ranks, including its own. */
    THTensor *t = THTensor_newFull(TH_INT32, SIZES(1, 2), rank);
    CHECK_OK(TH_MPI_allgather(t, t, 0, MPI_COMM_WORLD));
    CHECK_SHAPE(t, ranks, 2);
    for (int i = 0; i < ranks; i++) CHECK_NEAR(THTensor_get2d(t, i, 1), i, 0);
    THTensor_free(all);
    THTensor_free(own);
    THTensor_free(t);
}

static void a_tensor_is_cut(void) {
    for (int64_t round = 0; round < rounds_of(250); round++) {
        int64_t size[8], parts[8];
        int ndim, named, dim = any_cut(size, &ndim, &named), root = (int)pick(COMMON, ranks), even = (int)pick(COMMON, 2);
        THDtype dtype = any_dtype(COMMON);
        size[dim] = any_parts(parts);
        if (even) {
            int64_t first = -1;
            for (int p = 0; p < ranks; p++) th_mpi_even(&first, &parts[p], size[dim], ranks, p);
            CHECK_OK(TH_MPI_part(&first, &parts[rank], size[dim], MPI_COMM_WORLD));
            CHECK_EQ(first, sum_before(parts, rank));
        }
        THTensor *all = values_somehow(OWN, dtype, ndim, size, 3), *t = part_of(all, dim, sum_before(parts, rank), parts[rank]);
        THTensor *r = any_result(dtype, t->nDimension, t->size);
        CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, round % 3 != 0));
        CHECK_OK(TH_MPI_scatter(r, rank == root ? all : NULL, even ? NULL : parts, named, root, MPI_COMM_WORLD));
        CHECK_SAME(r, t);
        THTensor_free(r);
        if (dtype != TH_BOOL) {
            r = any_result(dtype, t->nDimension, t->size);
            CHECK_OK(TH_MPI_reduceScatter(r, all, even ? NULL : parts, named, MPI_SUM, MPI_COMM_WORLD));
            THTensor *sum = THTensor_new();
            CHECK_OK(THTensor_mul(sum, t, ranks));
            CHECK_SAME(r, sum);
            THTensor_free(sum);
            THTensor_free(r);
        }
        THTensor_free(all);
        THTensor_free(t);
    }
    CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, 1));
}

static void parts_are_exchanged(void) {
    for (int64_t round = 0; round < rounds_of(200); round++) {
        int64_t size[8], cut[8], joined[8];
        int ndim, named, split = any_cut(size, &ndim, &named), join = (int)pick(COMMON, ndim), even = (int)pick(COMMON, 2);
        THDtype dtype = any_dtype(COMMON);
        size[split] = any_parts(cut);
        if (even) {
            int64_t first = -1;
            for (int p = 0; p < ranks; p++) th_mpi_even(&first, &cut[p], size[split], ranks, p);
        }
        THTensor *expected;
        THTensor *t, *all;
        if (split != join) {
            /* Each rank has a slab along `join` of one tensor, and gets a slab along `split` of the same tensor. */
            size[join] = any_parts(joined);
            all = values_somehow(COMMON, dtype, ndim, size, 1);
            t = part_of(all, join, sum_before(joined, rank), joined[rank]);
            expected = part_of(all, split, sum_before(cut, rank), cut[rank]);
        } else {
            /* All ranks have the same tensor, and get the same part of it from each rank. */
            all = values_somehow(COMMON, dtype, ndim, size, 1);
            t = THTensor_newWithTensor(all);
            THTensor *part = part_of(all, split, sum_before(cut, rank), cut[rank]), *parts[8];
            for (int p = 0; p < ranks; p++) parts[p] = part;
            expected = THTensor_new();
            CHECK_OK(THTensor_catArray(expected, parts, ranks, join));
            THTensor_free(part);
        }
        THTensor *r = any_result(dtype, expected->nDimension, expected->size);
        CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, round % 3 != 0));
        CHECK_OK(TH_MPI_alltoall(r, t, even ? NULL : cut, named, join, MPI_COMM_WORLD));
        CHECK_SAME(r, expected);
        THTensor_free(r);
        THTensor_free(t);
        THTensor_free(all);
        THTensor_free(expected);
    }
    CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, 1));
}

/* The result is the input itself, which changes its shape. All parts have the same size, or one rank has everything. */
static void a_tensor_may_become_its_part(void) {
    for (int last_has_all = 0; last_has_all < 2; last_has_all++) {
        int64_t parts[8];
        for (int p = 0; p < ranks; p++) parts[p] = last_has_all ? (p == ranks - 1) * 2 * ranks : 2;
        THTensor *t = THTensor_newArange(TH_FLOAT64, 0, 6 * ranks, 1), *sum = THTensor_new();
        CHECK_OK(THTensor_view(t, t, 2, (const int64_t[]){3, 2 * ranks}));
        THTensor *expected = part_of(t, 1, sum_before(parts, rank), parts[rank]);
        CHECK_OK(THTensor_mul(sum, expected, ranks));
        THTensor *again = THTensor_newClone(t);
        CHECK_OK(TH_MPI_reduceScatter(t, t, parts, 1, MPI_SUM, MPI_COMM_WORLD));
        CHECK_SAME(t, sum);
        CHECK_OK(TH_MPI_scatter(again, again, parts, 1, ranks - 1, MPI_COMM_WORLD));
        CHECK_SAME(again, expected);
        /* And back: one rank has everything. The other ranks, and with two of them the root, start without elements. */
        CHECK_OK(TH_MPI_gather(again, again, 1, 0, MPI_COMM_WORLD));
        if (rank == 0) CHECK_EQ(THTensor_get2d(again, 2, 2 * ranks - 1), 6 * ranks - 1);
        THTensor_free(t);
        THTensor_free(sum);
        THTensor_free(expected);
        THTensor_free(again);
    }
    /* Rows become columns in place, and rank 0 has all the rows. */
    THTensor *t = THTensor_newFull(TH_INT32, SIZES(rank == 0 ? 3 : 0, 2 * ranks), 7);
    CHECK_OK(TH_MPI_alltoall(t, t, NULL, 1, 0, MPI_COMM_WORLD));
    CHECK_SHAPE(t, 3, 2);
    CHECK_VALUES(t, 7, 7, 7, 7, 7, 7);
    THTensor_free(t);
}

#define CHECK_ALL_FAIL(call, status, own, text) CHECK_ERROR(call, status, rank == (own) ? text : "TH_MPI_")

static void ranks_that_disagree_get_an_error(void) {
    if (ranks < 2) return;
    const int last = ranks - 1, odd = rank == last;
    for (int checked = 0; checked < 2; checked++) {
        THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, odd ? 4 : 3)), *d = THTensor_newZeros(odd ? TH_INT32 : TH_FLOAT32, SIZES(4));
        THTensor *r = THTensor_new();
        CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, checked));
        char shapes[128];
        snprintf(shapes, sizeof shapes, "different shapes: float32 [2, 3] on rank 0, float32 [2, 4] on rank %d", last);
        CHECK_ERROR(TH_MPI_allgather(r, t, 0, MPI_COMM_WORLD), TH_ERR_SHAPE, shapes);
        CHECK_ERROR(TH_MPI_gather(r, t, 0, 0, MPI_COMM_WORLD), TH_ERR_SHAPE, shapes);
        CHECK_ALL_FAIL(TH_MPI_allgather(r, d, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "different dtypes");
        CHECK_ALL_FAIL(TH_MPI_allgather(r, odd ? NULL : d, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "argument 't' is NULL");
        THTensor_free(t);
        THTensor_free(d);
        THTensor_free(r);
    }
    THTensor *good = THTensor_newZeros(TH_INT16, SIZES(2, 3)), *other = vector_of(TH_INT8, 5), *r = THTensor_new();
    const int64_t parts[8] = {odd ? 1 : 2, odd ? 1 : 0}, wrong[8] = {3, 1}, negative[8] = {1, -1};
    CHECK_ALL_FAIL(TH_MPI_allgather(r, good, odd, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "dimensions");
    CHECK_ALL_FAIL(TH_MPI_allgather(odd ? other : r, good, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "the result holds int8");
    /* A result of the right shape is unchanged. */
    THTensor *nines = THTensor_newFull(TH_INT16, SIZES(2 * ranks, 3), 9);
    CHECK_ALL_FAIL(TH_MPI_allgather(odd ? other : nines, good, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "holds int8");
    CHECK(THTensor_minall(nines) == 9);
    THTensor_free(nines);
    /* Dimensions whose lower 16 bits agree. */
    CHECK_ALL_FAIL(TH_MPI_scatter(r, good, NULL, odd ? 1 << 16 : 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last,
                   "dimension 65536 out of range");
    CHECK_ALL_FAIL(TH_MPI_gather(odd ? other : r, good, 0, last, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "the result holds int8");
    CHECK_ALL_FAIL(TH_MPI_scatter(odd ? other : r, good, NULL, 0, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "the result holds int8");
    CHECK_ALL_FAIL(TH_MPI_scatter(r, odd ? good : NULL, wrong, 0, last, MPI_COMM_WORLD), TH_ERR_SHAPE, last, "too large");
    CHECK_ALL_FAIL(TH_MPI_scatter(r, good, NULL, 0, odd, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "roots");
    CHECK_ALL_FAIL(TH_MPI_reduceScatter(r, good, parts, 0, MPI_SUM, MPI_COMM_WORLD), TH_ERR_SHAPE, last, "different shapes");
    CHECK_ALL_FAIL(TH_MPI_reduceScatter(odd ? other : r, good, NULL, 0, MPI_SUM, MPI_COMM_WORLD), TH_ERR_DTYPE, last,
                   "the result holds int8");
    CHECK_ERROR(TH_MPI_reduceScatter(r, good, negative, 0, MPI_SUM, MPI_COMM_WORLD), TH_ERR_SHAPE, "parts[1] is -1: a part has 0 entries or more");
    CHECK_ERROR(TH_MPI_alltoall(r, good, parts, 0, 1, MPI_COMM_WORLD), TH_ERR_SHAPE, "TH_MPI_alltoall: ");
    CHECK_ERROR(TH_MPI_alltoall(r, good, wrong, 0, 1, MPI_COMM_WORLD), TH_ERR_SHAPE, "too large");
    CHECK_ERROR(TH_MPI_alltoall(r, good, NULL, 0, 2, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "dimension 2 out of range");
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    CHECK_VALUES(other, 5);
    THTensor *scalar = THTensor_newScalar(TH_INT16, 1);
    CHECK_ERROR(TH_MPI_allgather(r, scalar, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "dimension 0 out of range for 0 dimensions");
    THTensor_free(scalar);
    CHECK_OK(TH_MPI_allgather(r, good, 0, MPI_COMM_WORLD));
    CHECK_SHAPE(r, 2 * ranks, 3);
    THTensor_free(good);
    THTensor_free(other);
    THTensor_free(r);
}

static void tensors_on_gpus_are_joined_and_cut(void) {
    if (!there_is_a_gpu()) return;
    THTensor *host = values_somehow(COMMON, TH_FLOAT32, SIZES(2 * ranks, 3), 0), *all = THTensor_newCuda(host, 0);
    THTensor *r = THTensor_new(), *back = THTensor_new(), *expected = THTensor_newNarrow(host, 0, 2 * rank, 2);
    CHECK_OK(TH_MPI_scatter(r, rank == 0 ? all : NULL, NULL, 0, 0, MPI_COMM_WORLD));
    CHECK_SHAPE(r, 2, 3);
    THTensor *mine = THTensor_newCpu(r), *gpu = THTensor_newCuda(r, 0);
    CHECK_SAME(mine, expected);
    CHECK_OK(TH_MPI_allgather(back, gpu, 0, MPI_COMM_WORLD));
    CHECK(THTensor_isCuda(back));
    THTensor *home = THTensor_newCpu(back);
    CHECK_SAME(home, host);
    THTensor_free(home);
    CHECK_OK(TH_MPI_reduceScatter(back, all, NULL, 0, MPI_SUM, MPI_COMM_WORLD));
    CHECK_NEAR(THTensor_get2d(back, 1, 1), ranks * THTensor_get2d(expected, 1, 1), 0);
    THTensor_free(host);
    THTensor_free(all);
    THTensor_free(r);
    THTensor_free(back);
    THTensor_free(expected);
    THTensor_free(mine);
    THTensor_free(gpu);
}

CHECK_MPI_MAIN(CASE(parts_are_joined), CASE(a_rank_may_join_in_place), CASE(a_tensor_is_cut),
               CASE(parts_are_exchanged), CASE(a_tensor_may_become_its_part),
               CASE(ranks_that_disagree_get_an_error), CASE(tensors_on_gpus_are_joined_and_cut))
