/* Sparse tensors over MPI, compared with the same operation on dense tensors. */
#include "check_mpi.h"

/* Entries of rank `from`: a matrix of 4 x 5 with two dense numbers an entry. Entries of different ranks, and of one rank, share positions.
 * Rank 2 has no entries. */
static THSTensor *entries_of(int from, THDtype dtype) {
    const int64_t nnz = from == 2 ? 0 : 3 + from % 2, size[] = {4, 5, 2};
    THTensor *indices = THTensor_newZeros(TH_INT64, SIZES(2, nnz)), *values = THTensor_newZeros(dtype, SIZES(nnz, 2));
    for (int64_t k = 0; k < nnz; k++) {
        CHECK_OK(THTensor_set2d(indices, 0, k, (double)((from + 3 * k) % 4)));
        CHECK_OK(THTensor_set2d(indices, 1, k, (double)(k == 2 ? 0 : (from * k) % 5)));
    }
    fill_as(values, from);
    THSTensor *s = THSTensor_newWithTensorAndSize(indices, values, 3, size);
    CHECK(s != NULL);
    THTensor_free(indices);
    THTensor_free(values);
    return s;
}

/* The dense tensor of `s` equals `expected`. */
static void check_dense(const THSTensor *s, const THTensor *expected, int line) {
    THTensor *dense = THSTensor_newDense(s), *same = dense ? THTensor_newTo(dense, THTensor_dtype(expected)) : NULL;
    check_that(same && THTensor_equal(same, expected), __FILE__, line, "elements");
    THTensor_free(dense);
    THTensor_free(same);
}

static THTensor *dense_of(int from) {
    THSTensor *s = entries_of(from, TH_FLOAT64);
    THTensor *dense = THSTensor_newDense(s);
    THSTensor_free(s);
    return dense;
}

static void the_sum_has_the_union_of_positions(void) {
    static const THDtype kinds[] = {TH_FLOAT32, TH_FLOAT64, TH_BFLOAT16, TH_FLOAT16, TH_INT32};
    THTensor *sum = THTensor_newZeros(TH_FLOAT64, SIZES(4, 5, 2));
    for (int p = 0; p < ranks; p++) {
        THTensor *dense = dense_of(p);
        CHECK_OK(THTensor_cadd(sum, sum, 1, dense));
        THTensor_free(dense);
    }
    for (int k = 0; k < 5; k++) {
        THSTensor *s = entries_of(rank, kinds[k]), *r = THSTensor_new();
        CHECK_OK(TH_MPI_allreduceSparse(r, s, MPI_COMM_WORLD));
        check_dense(r, sum, __LINE__);
        CHECK(THSTensor_isCoalesced(r));
        CHECK_EQ(THSTensor_dtype(r), kinds[k]);
        CHECK_OK(TH_MPI_allreduceSparse(s, s, MPI_COMM_WORLD));
        check_dense(s, sum, __LINE__);
        THSTensor_free(s);
        THSTensor_free(r);
    }
    THTensor_free(sum);
}

/* 256 + (ranks - 1) in bfloat16, rounded once: 257 and 259 are ties. */
static void sums_of_16_bits_are_rounded_once(void) {
    static const double once[] = {256, 256, 258, 260};
    if (ranks > 4) return;
    THTensor *indices = THTensor_newZeros(TH_INT64, SIZES(1, 1)), *values = vector_of(TH_BFLOAT16, rank ? 1 : 256);
    THSTensor *s = THSTensor_newWithTensor(indices, values);
    CHECK_OK(TH_MPI_allreduceSparse(s, s, MPI_COMM_WORLD));
    CHECK_EQ(THSTensor_nnz(s), 1);
    CHECK_VALUES(s->values, once[ranks - 1]);
    THTensor_free(indices);
    THTensor_free(values);
    THSTensor_free(s);
}

static void a_broadcast_brings_the_roots_entries(void) {
    for (int root = 0; root < ranks; root++) {
        THSTensor *s = rank == root ? entries_of(root, TH_FLOAT32) : root % 2 ? THSTensor_new() : entries_of(rank, TH_FLOAT32);
        THTensor *expected = dense_of(root);
        CHECK_OK(TH_MPI_bcastSparse(s, root, MPI_COMM_WORLD));
        CHECK_EQ(THSTensor_nnz(s), root == 2 ? 0 : 3 + root % 2);
        check_dense(s, expected, __LINE__);
        CHECK_OK(THSTensor_coalesce(s, s));
        CHECK_OK(TH_MPI_bcastSparse(s, root, MPI_COMM_WORLD));
        CHECK(THSTensor_isCoalesced(s));
        check_dense(s, expected, __LINE__);
        THSTensor_free(s);
        THTensor_free(expected);
    }
}

static void messages_have_entries(void) {
    if (ranks < 2) return;
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    THSTensor *s = entries_of(rank, TH_FLOAT64), *r = THSTensor_new();
    THTensor *expected = dense_of(before);
    MPI_Status came;
    /* Even ranks send first. */
    for (int turn = 0; turn < 2; turn++) {
        if ((rank % 2 == 0) == (turn == 0)) CHECK_OK(TH_MPI_sendSparse(s, next, 6, MPI_COMM_WORLD));
        else CHECK_OK(TH_MPI_recvSparse(r, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &came));
    }
    check_dense(r, expected, __LINE__);
    CHECK(came.MPI_SOURCE == before && came.MPI_TAG == 6);
    CHECK_OK(TH_MPI_sendSparse(s, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_recvSparse(r, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_dense(r, expected, __LINE__);
    THSTensor_free(s);
    THSTensor_free(r);
    THTensor_free(expected);
    /* A dense message is no sparse tensor. */
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    THSTensor *none = THSTensor_new();
    for (int i = 0; i < 3 && rank == 0; i++) CHECK_OK(TH_MPI_sendShaped(t, 1, 9, MPI_COMM_WORLD));
    if (rank == 1) CHECK_ERROR(TH_MPI_recvSparse(none, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), TH_ERR_SHAPE, "no sparse tensor");
    THTensor_free(t);
    THSTensor_free(none);
}

static void a_gather_joins_along_a_sparse_dimension(void) {
    for (int dim = 0; dim < 2; dim++) {
        const int root = dim ? ranks - 1 : 0;
        THSTensor *s = entries_of(rank, TH_FLOAT64), *r = rank == root ? THSTensor_new() : NULL;
        CHECK_OK(TH_MPI_gatherSparse(r, s, dim ? -2 : 0, root, MPI_COMM_WORLD));
        if (rank == root) {
            THTensor *joined = dense_of(0);
            for (int p = 1; p < ranks; p++) {
                THTensor *dense = dense_of(p);
                CHECK_OK(THTensor_cat(joined, joined, dense, dim));
                THTensor_free(dense);
            }
            check_dense(r, joined, __LINE__);
            THTensor_free(joined);
        }
        THSTensor_free(s);
        THSTensor_free(r);
    }
}

static void ranks_that_disagree_get_an_error(void) {
    static const int64_t size[] = {4, 5}, other[] = {4, 6};
    const int last = ranks - 1, odd = rank == last && ranks > 1;
    THSTensor *s = THSTensor_newWithSize(TH_FLOAT32, 2, odd ? other : size, 2), *good = THSTensor_newWithSize(TH_FLOAT32, 2, size, 2);
    THSTensor *less = THSTensor_newWithSize(TH_FLOAT32, 2, size, odd ? 1 : 2);
    THSTensor *d = THSTensor_newWithSize(odd ? TH_INT32 : TH_FLOAT32, 2, size, 2);
    THSTensor *r = THSTensor_new(), *doubles = THSTensor_newWithSize(TH_FLOAT64, 2, size, 2);
    CHECK_ERROR(TH_MPI_allreduceSparse(NULL, good, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "'r' is NULL");
    CHECK_ERROR(TH_MPI_allreduceSparse(r, r, MPI_COMM_WORLD), TH_ERR_DTYPE, "no dtype");
    CHECK_ERROR(TH_MPI_allreduceSparse(doubles, good, MPI_COMM_WORLD), TH_ERR_DTYPE, "the result holds float64");
    CHECK_ERROR(TH_MPI_gatherSparse(r, good, 2, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "none of 2 sparse dimensions");
    CHECK_ERROR(TH_MPI_bcastSparse(good, ranks, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "root");
    CHECK_ERROR(TH_MPI_sendSparse(NULL, 0, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "'s' is NULL");
    CHECK_ERROR(TH_MPI_recvSparse(NULL, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), TH_ERR_ARGUMENT, "'r' is NULL");
    if (ranks > 1) {
        char text[160];
        snprintf(text, sizeof text,
                 "float32 with 2 sparse of the sizes [4, 5] on rank 0, float32 with 2 sparse of the sizes [4, 6] on rank %d", last);
        CHECK_ERROR(TH_MPI_allreduceSparse(r, s, MPI_COMM_WORLD), TH_ERR_SHAPE, text);
        CHECK_ERROR(TH_MPI_gatherSparse(r, s, 0, 0, MPI_COMM_WORLD), TH_ERR_SHAPE, text);
        CHECK_ERROR(TH_MPI_allreduceSparse(r, less, MPI_COMM_WORLD), TH_ERR_SHAPE, "with 1 sparse of the sizes [4, 5] on rank");
        CHECK_ERROR(TH_MPI_allreduceSparse(r, d, MPI_COMM_WORLD), TH_ERR_DTYPE, "different dtypes");
        CHECK_ERROR(TH_MPI_allreduceSparse(r, odd ? NULL : good, MPI_COMM_WORLD), TH_ERR_ARGUMENT, odd ? "'s' is NULL" : "another rank");
        CHECK_ERROR(TH_MPI_bcastSparse(rank ? doubles : good, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, rank ? "the result holds" : "another rank");
        CHECK_OK(TH_MPI_gatherSparse(r, s, 1, 0, MPI_COMM_WORLD));
        if (rank == 0) CHECK_EQ(THSTensor_size(r, 1), 5 * ranks + 1);
    }
    THSTensor *all[] = {s, good, less, d, r, doubles};
    for (int i = 0; i < 6; i++) THSTensor_free(all[i]);
}

CHECK_MPI_MAIN(CASE(the_sum_has_the_union_of_positions), CASE(sums_of_16_bits_are_rounded_once), CASE(a_broadcast_brings_the_roots_entries),
               CASE(messages_have_entries), CASE(a_gather_joins_along_a_sparse_dimension), CASE(ranks_that_disagree_get_an_error))
