/* Broadcasts and reductions: all layouts and dtypes. If ranks disagree, every rank gets an error. */
#include "check_mpi.h"

static void a_broadcast_brings_the_roots_elements(void) {
    for (int64_t round = 0; round < rounds_of(200); round++) {
        int64_t size[8];
        int ndim = any_shape(COMMON, 0, size), root = (int)pick(COMMON, ranks);
        THDtype dtype = any_dtype(COMMON);
        /* In half of the rounds all ranks have the same layout, so that the broadcast needs no copy. */
        THTensor *t = values_somehow(pick(COMMON, 2) ? OWN : COMMON, dtype, ndim, size, rank);
        CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, round % 3 != 0));
        CHECK_OK(TH_MPI_bcast(t, root, MPI_COMM_WORLD));
        CHECK_IS_OF(t, root);
        THTensor_free(t);
    }
    CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, 1));
}

static void a_broadcast_brings_the_roots_shape(void) {
    for (int64_t round = 0; round < rounds_of(150); round++) {
        int64_t size[8];
        int ndim = any_shape(COMMON, 0, size), root = (int)pick(COMMON, ranks), how = (int)pick(OWN, 3);
        THDtype dtype = any_dtype(COMMON);
        THTensor *r = rank == root ? values_somehow(OWN, dtype, ndim, size, root)
                      : how == 0   ? THTensor_new()
                      : how == 1   ? THTensor_newWithDtype(dtype)
                                   : zeros_somehow(OWN, dtype, SIZES(2, 3));
        CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, round % 3 != 0));
        CHECK_OK(TH_MPI_bcastShaped(r, root, MPI_COMM_WORLD));
        CHECK(THTensor_isSize(r, ndim, size));
        CHECK_EQ(THTensor_dtype(r), dtype);
        CHECK_IS_OF(r, root);
        THTensor_free(r);
    }
    CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, 1));
}

struct operation {
    const char *name;
    MPI_Op op;
    double (*of)(double a, double b);
    int floats, bools;
};
static double add(double a, double b) { return a + b; }
static double multiply(double a, double b) { return a * b; }
static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
static double both(double a, double b) { return a != 0 && b != 0; }
static double either(double a, double b) { return a != 0 || b != 0; }
static double one(double a, double b) { return (a != 0) != (b != 0); }
static double bits_of_both(double a, double b) { return (double)((int)a & (int)b); }
static double bits_of_either(double a, double b) { return (double)((int)a | (int)b); }
static double bits_of_one(double a, double b) { return (double)((int)a ^ (int)b); }

/* All elements of `r` are the reduction of value_of over the ranks. Every value is exact in all dtypes, or wraps. */
static void check_reduced(const THTensor *r, struct operation operation) {
    THDtype dtype = THTensor_dtype(r);
    for (int64_t i = 0; i < THTensor_nElement(r); i++) {
        double expected = value_of(dtype, 0, i);
        for (int p = 1; p < ranks; p++) expected = operation.of(expected, value_of(dtype, p, i));
        if (dtype == TH_INT8 || dtype == TH_UINT8) {
            expected = dtype == TH_INT8 ? (double)(int8_t)(int64_t)expected : (double)(uint8_t)(int64_t)expected;
        }
        /* Products over four ranks have more digits than 16-bit floats hold. */
        double tolerance = operation.op == MPI_PROD && (dtype == TH_BFLOAT16 || dtype == TH_FLOAT16) ? fabs(expected) / 64 : 0;
        if (check_is_near(element_at(r, i), expected, tolerance)) continue;
        CHECK_NEAR(element_at(r, i), expected, tolerance);
        printf(" (%s of %s)", operation.name, THDtype_name(dtype));
        return;
    }
}

static void reductions_reduce(void) {
    const struct operation operations[] = {
        {"sum", MPI_SUM, add, 1, 0},           {"product", MPI_PROD, multiply, 1, 1}, {"minimum", MPI_MIN, least, 1, 1},
        {"maximum", MPI_MAX, most, 1, 1},      {"and", MPI_LAND, both, 0, 1},         {"or", MPI_LOR, either, 0, 1},
        {"xor", MPI_LXOR, one, 0, 1},          {"band", MPI_BAND, bits_of_both, 0, 1}, {"bor", MPI_BOR, bits_of_either, 0, 1},
        {"bxor", MPI_BXOR, bits_of_one, 0, 1},
    };
    for (int64_t round = 0; round < rounds_of(300); round++) {
        int64_t size[8];
        int ndim = any_shape(COMMON, 0, size), root = (int)pick(COMMON, ranks);
        THDtype dtype = any_dtype(COMMON);
        struct operation operation = operations[pick(COMMON, 10)];
        if ((is_float(dtype) && !operation.floats) || (dtype == TH_BOOL && !operation.bools)) continue;
        THTensor *t = values_somehow(OWN, dtype, ndim, size, rank);
        THTensor *r = pick(OWN, 2) ? THTensor_new() : zeros_somehow(OWN, dtype, ndim, size);
        THTensor *view = THTensor_newWithTensor(t);
        CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, round % 3 != 0));
        CHECK_OK(TH_MPI_allreduce(r, t, operation.op, MPI_COMM_WORLD));
        check_reduced(r, operation);
        CHECK_IS_OF(t, rank);
        CHECK_OK(TH_MPI_reduce(rank == root ? r : NULL, t, operation.op, root, MPI_COMM_WORLD));
        if (rank == root) check_reduced(r, operation);
        /* In place, with the same handle or another one. */
        CHECK_OK(TH_MPI_allreduce(view, t, operation.op, MPI_COMM_WORLD));
        check_reduced(t, operation);
        fill_as(t, rank);
        THMpiRequest *request;
        CHECK_OK(TH_MPI_iallreduce(&request, t, operation.op, MPI_COMM_WORLD));
        CHECK_OK(TH_MPI_wait(&request, MPI_STATUS_IGNORE));
        check_reduced(t, operation);
        THTensor_free(t);
        THTensor_free(r);
        THTensor_free(view);
    }
    CHECK_OK(TH_MPI_setChecked(MPI_COMM_WORLD, 1));
}

static void floats_of_16_bits_add_up_like_floats(void) {
    for (int k = 0; k < 2; k++) {
        THDtype dtype = k ? TH_BFLOAT16 : TH_FLOAT16;
        const int first = rank == 0;
        THTensor *t = vector_of(dtype, 0.5, -3, 60000, first ? NAN : 1, first ? INFINITY : 1, 6e-8 * first), *r = THTensor_new();
        CHECK_OK(TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD));
        CHECK_NEAR(THTensor_get1d(r, 0), 0.5 * ranks, 0);
        CHECK_NEAR(THTensor_get1d(r, 1), -3 * ranks, 0);
        CHECK(dtype == TH_FLOAT16 && ranks > 1 ? isinf(THTensor_get1d(r, 2)) : fabs(THTensor_get1d(r, 2) / 60000 / ranks - 1) < 0.01);
        CHECK(isnan(THTensor_get1d(r, 3)) && isinf(THTensor_get1d(r, 4)));
        CHECK_NEAR(THTensor_get1d(r, 5), 6e-8, 1e-9);
        CHECK_OK(TH_MPI_allreduce(r, t, MPI_MAX, MPI_COMM_WORLD));
        CHECK(isnan(THTensor_get1d(r, 3)));
        THTensor_free(t);
        THTensor_free(r);
    }
}

/* The sum of 256 and of ones is rounded once: 257 and 259 are ties between two numbers of bfloat16, of which the even one is the result. */
static void sums_of_16_bits_are_rounded_once(void) {
    static const double once[] = {256, 256, 258, 260};
    if (ranks > 4) return;
    THTensor *t = vector_of(TH_BFLOAT16, rank == 0 ? 256 : 1, rank == 0 ? 1 : 1.0078125), *r = THTensor_new();
    THTensor *matrix = THTensor_newFull(TH_BFLOAT16, SIZES(ranks, 3), rank == 0 ? 256 : 1);
    CHECK_OK(THTensor_t(matrix, matrix));
    CHECK_OK(TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD));
    CHECK_NEAR(THTensor_get1d(r, 0), once[ranks - 1], 0);
    CHECK_OK(TH_MPI_allreduce(r, t, MPI_PROD, MPI_COMM_WORLD));
    /* (1 + 1/128)^3 = 1 + 3/128 + 3/128^2 + 1/128^3. */
    CHECK_NEAR(THTensor_get1d(r, 1), 1 + (ranks - 1) / 128.0, 0);
    CHECK_OK(TH_MPI_reduceScatter(r, matrix, NULL, 1, MPI_SUM, MPI_COMM_WORLD));
    CHECK_SHAPE(r, 3, 1);
    CHECK_NEAR(THTensor_sumall(r), 3 * once[ranks - 1], 0);
    THMpiRequest *request;
    CHECK_OK(TH_MPI_iallreduce(&request, matrix, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_wait(&request, MPI_STATUS_IGNORE));
    CHECK_NEAR(THTensor_minall(matrix), once[ranks - 1], 0);
    /* With rounding after each step, no order of four ranks gives 260. */
    CHECK_OK(TH_MPI_setReduction(MPI_COMM_WORLD, 1));
    CHECK_OK(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD));
    CHECK(THTensor_get1d(t, 0) == 256 || (THTensor_get1d(t, 0) == 258 && ranks > 2));
    CHECK_OK(TH_MPI_setReduction(MPI_COMM_WORLD, rank == 0));
    if (ranks > 1) CHECK_ERROR(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "settings");
    CHECK_OK(TH_MPI_setReduction(MPI_COMM_WORLD, 0));
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(matrix);
}

static void first_of(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    memcpy(to, from, (size_t)*count * sizeof(int32_t));
}

static void an_operation_of_the_callers_is_used(void) {
    MPI_Op op;
    MPI_Op_create(first_of, 0, &op);
    THTensor *t = vector_of(TH_INT32, rank + 3, 1 + rank), *r = THTensor_new();
    CHECK_OK(TH_MPI_allreduce(r, t, op, MPI_COMM_WORLD));
    CHECK_VALUES(r, 3, 1);
    MPI_Op_free(&op);
    THTensor_free(t);
    THTensor_free(r);
}

static void bytes_that_are_true_stay_true(void) {
    unsigned char bytes[3] = {2, 0, (unsigned char)(rank == 0 ? 0 : 4)};
    THTensor *t = THTensor_newFromBlob(TH_BOOL, SIZES(3), NULL, bytes, NULL, NULL), *r = THTensor_new();
    CHECK_OK(TH_MPI_allreduce(r, t, MPI_LAND, MPI_COMM_WORLD));
    CHECK_VALUES(r, 1, 0, 0);
    CHECK_OK(TH_MPI_allreduce(r, t, MPI_BOR, MPI_COMM_WORLD));
    CHECK_VALUES(r, 1, 0, ranks > 1);
    THTensor_free(t);
    THTensor_free(r);
}

/* A call fails with `status` on all ranks. On the rank at fault the message contains `text`. */
#define CHECK_ALL_FAIL(call, status, own, text) CHECK_ERROR(call, status, rank == (own) ? text : "TH_MPI_")

static void ranks_that_disagree_get_an_error(void) {
    if (ranks < 2) return;
    const int last = ranks - 1, odd = rank == last;
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, odd ? 4 : 3)), *d = THTensor_newZeros(odd ? TH_INT32 : TH_FLOAT32, SIZES(4));
    THTensor *good = vector_of(TH_FLOAT32, 1, 2), *r = THTensor_new(), *integers = vector_of(TH_INT32, 7, 8);
    char shapes[128];
    snprintf(shapes, sizeof shapes, "ranks have tensors of different shapes: float32 [2, 3] on rank 0, float32 [2, 4] on rank %d", last);
    CHECK_ERROR(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD), TH_ERR_SHAPE, shapes);
    CHECK_ERROR(TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD), TH_ERR_SHAPE, shapes);
    CHECK_ERROR(TH_MPI_bcast(t, 0, MPI_COMM_WORLD), TH_ERR_SHAPE, shapes);
    CHECK_ALL_FAIL(TH_MPI_allreduce(r, d, MPI_SUM, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "different dtypes");
    CHECK_ALL_FAIL(TH_MPI_bcast(good, odd, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "roots");
    CHECK_ALL_FAIL(TH_MPI_allreduce(r, good, odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "operations");
    CHECK_ERROR(odd ? TH_MPI_bcast(good, 0, MPI_COMM_WORLD) : TH_MPI_allreduce(r, good, MPI_SUM, MPI_COMM_WORLD), TH_ERR_ARGUMENT,
                "different collectives");
    /* Failures of one rank. */
    CHECK_ALL_FAIL(TH_MPI_allreduce(r, odd ? NULL : good, MPI_SUM, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "argument 't' is NULL");
    CHECK_ALL_FAIL(TH_MPI_allreduce(odd ? integers : r, good, MPI_SUM, MPI_COMM_WORLD), TH_ERR_DTYPE, last,
                   "the result holds int32, and float32 comes");
    CHECK_ALL_FAIL(TH_MPI_reduce(odd ? integers : r, good, MPI_SUM, last, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "the result holds int32");
    CHECK_ALL_FAIL(TH_MPI_bcastShaped(odd ? integers : good, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, last, "the result holds int32");
    CHECK_ALL_FAIL(TH_MPI_bcastShaped(odd ? NULL : good, 0, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "argument 'r' is NULL");
    CHECK_ALL_FAIL(TH_MPI_bcastShaped(rank == 0 ? r : good, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, 0, "argument 'r' has no dtype");
    CHECK_ALL_FAIL(TH_MPI_allreduce(r, good, odd ? MPI_OP_NULL : MPI_SUM, MPI_COMM_WORLD), TH_ERR_ARGUMENT, last, "MPI_OP_NULL");
    /* Nothing has changed, and the communicator still works. */
    CHECK_EQ(THTensor_dtype(r), TH_UNDEFINED);
    CHECK_VALUES(integers, 7, 8);
    CHECK_SHAPE(t, 2, odd ? 4 : 3);
    CHECK_OK(TH_MPI_allreduce(r, good, MPI_SUM, MPI_COMM_WORLD));
    CHECK_VALUES(r, ranks, 2 * ranks);
    THTensor_free(t);
    THTensor_free(d);
    THTensor_free(good);
    THTensor_free(r);
    THTensor_free(integers);
}

static void a_result_keeps_its_shape_where_the_call_fails(void) {
    if (ranks < 2) return;
    THTensor *r = THTensor_newZeros(TH_FLOAT32, SIZES(5, 2)), *t = THTensor_newZeros(TH_FLOAT32, SIZES(rank == 0 ? 30 : 31));
    CHECK_OK(THTensor_t(r, r));
    CHECK_ERROR(TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD), TH_ERR_SHAPE, "different shapes");
    CHECK_SHAPE(r, 2, 5);
    CHECK_STRIDES(r, 1, 2);
    THTensor_free(r);
    THTensor_free(t);
}

/* A tensor with a dtype and without sizes counts as a row without elements. As a result it gets the shape and the device. */
static void tensors_may_have_no_sizes(void) {
    THTensor *t = THTensor_newWithDtype(TH_FLOAT32), *r = THTensor_new(), *row = vector_of(TH_FLOAT32, rank, 2);
    CHECK_OK(TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD));
    CHECK_SHAPE(r, 0);
    CHECK_OK(TH_MPI_reduce(rank == 0 ? t : NULL, t, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK_OK(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD));
    CHECK_SHAPE(t, 0);
    THTensor *none = THTensor_newWithDtype(TH_FLOAT32), *odd = THTensor_newZeros(TH_FLOAT32, SIZES(rank == 0 ? 3 : 4));
    CHECK_OK(TH_MPI_bcast(none, 0, MPI_COMM_WORLD));
    if (ranks > 1) CHECK_ERROR(TH_MPI_allreduce(none, odd, MPI_SUM, MPI_COMM_WORLD), TH_ERR_SHAPE, "different shapes");
    CHECK(THTensor_nDimension(none) == 0 && THTensor_dtype(none) == TH_FLOAT32);
    CHECK_OK(THTensor_setRequiresGrad(none, 1));
    CHECK_ERROR(TH_MPI_allreduce(none, row, MPI_SUM, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "requires a gradient");
    CHECK_OK(THTensor_setRequiresGrad(none, 0));
    CHECK_OK(TH_MPI_allreduce(none, row, MPI_MAX, MPI_COMM_WORLD));
    CHECK_VALUES(none, ranks - 1, 2);
    THTensor_free(t);
    THTensor_free(r);
    THTensor_free(row);
    THTensor_free(none);
    THTensor_free(odd);
}

static void arguments_that_fail_everywhere(void) {
    THTensor *halves = vector_of(TH_FLOAT16, 1), *truth = vector_of(TH_BOOL, 1), *row = vector_of(TH_INT8, 1), *r = THTensor_new();
    CHECK_ERROR(TH_MPI_allreduce(r, truth, MPI_SUM, MPI_COMM_WORLD), TH_ERR_DTYPE, "MPI_SUM of bool");
    CHECK_ERROR(TH_MPI_allreduce(r, halves, MPI_BOR, MPI_COMM_WORLD), TH_ERR_DTYPE, "float16 has no logical or bitwise operation");
    CHECK_ERROR(TH_MPI_bcast(row, ranks, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "is none of");
    CHECK_ERROR(TH_MPI_bcast(row, -1, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "is none of");
    CHECK_ERROR(TH_MPI_bcast(r, 0, MPI_COMM_WORLD), TH_ERR_DTYPE, "has no dtype");
    CHECK_ERROR(TH_MPI_allreduce(NULL, row, MPI_SUM, MPI_COMM_WORLD), TH_ERR_ARGUMENT, "argument 'r' is NULL");
    THTensor *many = THTensor_newExpand(row, SIZES(4));
    CHECK_ERROR(TH_MPI_allreduce(many, many, MPI_SUM, MPI_COMM_WORLD), TH_ERR_SHAPE, "stride 0");
    CHECK_OK(TH_MPI_allreduce(r, many, MPI_SUM, MPI_COMM_WORLD));
    CHECK_VALUES(r, ranks, ranks, ranks, ranks);
    /* MPI itself refuses the call, because floats have no bitwise operations. */
    THTensor *floats = vector_of(TH_FLOAT32, 1);
    CHECK_ERROR(TH_MPI_allreduce(floats, floats, MPI_BOR, MPI_COMM_WORLD), TH_ERR_DTYPE, "TH_MPI_allreduce: ");
    THTensor_free(halves);
    THTensor_free(truth);
    THTensor_free(row);
    THTensor_free(r);
    THTensor_free(many);
    THTensor_free(floats);
}

static void tensors_on_gpus_are_reduced_and_broadcast(void) {
    if (!there_is_a_gpu()) return;
    for (int k = 0; k < 2; k++) {
        THDtype dtype = k ? TH_FLOAT32 : TH_FLOAT16;
        THTensor *host = values_somehow(OWN, dtype, SIZES(3, 4), rank), *t = THTensor_newCuda(host, 0), *r = THTensor_new();
        CHECK_OK(TH_MPI_allreduce(r, t, MPI_SUM, MPI_COMM_WORLD));
        CHECK(THTensor_isCuda(r));
        check_reduced(r, (struct operation){"sum", MPI_SUM, add, 1, 0});
        THTensor *typed = THTensor_newWithDtype(dtype);
        CHECK_OK(TH_MPI_allreduce(typed, t, MPI_SUM, MPI_COMM_WORLD));
        CHECK(THTensor_isCuda(typed));
        check_reduced(typed, (struct operation){"sum", MPI_SUM, add, 1, 0});
        THTensor_free(typed);
        CHECK_OK(THTensor_t(t, t));
        CHECK_OK(TH_MPI_bcast(t, ranks - 1, MPI_COMM_WORLD));
        CHECK_OK(THTensor_t(t, t));
        CHECK_IS_OF(t, ranks - 1);
        fill_as(t, rank);
        CHECK_OK(TH_MPI_allreduce(t, t, MPI_SUM, MPI_COMM_WORLD));
        check_reduced(t, (struct operation){"sum", MPI_SUM, add, 1, 0});
        fill_as(t, rank);
        THMpiRequest *request;
        CHECK_OK(TH_MPI_iallreduce(&request, t, MPI_SUM, MPI_COMM_WORLD));
        CHECK_OK(TH_MPI_wait(&request, NULL));
        check_reduced(t, (struct operation){"sum", MPI_SUM, add, 1, 0});
        /* A strided tensor: MPI gets a copy, which the stream has to make first. */
        THTensor *wide = THTensor_newWithSizesOn(dtype, TH_CUDA, 0, SIZES(3, 8));
        THTensor *strided = THTensor_newSlice(wide, 1, 0, 8, 2);
        CHECK_OK(THTensor_copy(strided, host));
        CHECK_OK(TH_MPI_iallreduce(&request, strided, MPI_SUM, MPI_COMM_WORLD));
        CHECK_OK(TH_MPI_wait(&request, NULL));
        check_reduced(strided, (struct operation){"sum", MPI_SUM, add, 1, 0});
        THTensor_free(wide);
        THTensor_free(strided);
        THTensor_free(host);
        THTensor_free(t);
        THTensor_free(r);
    }
}

CHECK_MPI_MAIN(CASE(a_broadcast_brings_the_roots_elements), CASE(a_broadcast_brings_the_roots_shape), CASE(reductions_reduce),
               CASE(floats_of_16_bits_add_up_like_floats), CASE(sums_of_16_bits_are_rounded_once),
               CASE(an_operation_of_the_callers_is_used), CASE(bytes_that_are_true_stay_true),
               CASE(ranks_that_disagree_get_an_error), CASE(a_result_keeps_its_shape_where_the_call_fails),
               CASE(tensors_may_have_no_sizes), CASE(arguments_that_fail_everywhere),
               CASE(tensors_on_gpus_are_reduced_and_broadcast))
