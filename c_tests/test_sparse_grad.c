/*
 * Gradients of sparse tensors are gradients of their values, which are an ordinary tensor. If the values require a
 * gradient, operations on the sparse tensor are recorded, and backward gives each value its gradient, also if entries
 * are duplicates.
 */
#include "sparse.h"

/* A 4 x 5 matrix with an empty row, whose entries are in no order and have one duplicate. */
enum { ROWS = 4, COLUMNS = 5, ENTRIES = 7 };
#define PLACES 3, 0, 2, 0, 3, 2, 2, /* columns */ 4, 1, 0, 3, 0, 4, 0

static THSTensor *matrix_with(THTensor *values) {
    THTensor *indices = POSITIONS(2, PLACES);
    THSTensor *s = THSTensor_newWithTensorAndSize(indices, values, SIZES(ROWS, COLUMNS));
    THTensor_free(indices);
    return s;
}

/* Entries by rows: 2 in the first row, 1 in each of the next two, 3 in the last. */
static THSTensor *rows_with(THTensor *values) {
    THTensor *crow = vector_of(TH_INT64, 0, 2, 3, 4, 7), *col = vector_of(TH_INT64, 3, 1, 0, 2, 4, 0, 4);
    THSTensor *s = THSTensor_newCsr(crow, col, values, ROWS, COLUMNS);
    THTensor_free(crow);
    THTensor_free(col);
    return s;
}

/* Entries at three positions, each a row of 5. */
static THSTensor *hybrid_with(THTensor *values) {
    THTensor *indices = POSITIONS(1, 1, 3, 1), *first = THTensor_newNarrow(values, 0, 0, 6), *rows = THTensor_newView(first, SIZES(3, 2));
    THSTensor *s = THSTensor_newWithTensorAndSize(indices, rows, SIZES(ROWS, 2));
    THTensor_free(rows);
    THTensor_free(first);
    THTensor_free(indices);
    return s;
}

/* Values near 1, without integers and duplicates. */
static THTensor *numbers(int64_t count, double first) {
    THTensor *t = THTensor_newZeros(TH_FLOAT64, SIZES(count));
    for (int64_t i = 0; i < count; i++) CHECK_OK(THTensor_set1d(t, i, first + 0.17 * (double)(i * 5 % count)));
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

/* The second operand, in these sizes. */
static THTensor *shaped(const THTensor *x, int ndim, const int64_t *size) {
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) count *= size[d];
    THTensor *part = THTensor_newNarrow(x, 0, 0, count), *t = THTensor_newView(part, ndim, size);
    CHECK(t != NULL);
    THTensor_free(part);
    return t;
}

/* A differentiated step: writes `r` or `out`, from a sparse and a dense operand. */
typedef THStatus Step(THSTensor *r, THTensor *out, const THSTensor *s, const THTensor *x);

#define WITH_DENSE(call, ...)                                                                                          \
    THTensor *t = shaped(x, SIZES(__VA_ARGS__));                                                                       \
    THStatus status = call;                                                                                            \
    THTensor_free(t);                                                                                                  \
    (void)r, (void)out;                                                                                                \
    return status

#define STEP(name) static THStatus name(THSTensor *r, THTensor *out, const THSTensor *s, const THTensor *x)
#define SPARSE_STEP(name, call)                                                                                        \
    STEP(name) {                                                                                                       \
        (void)out, (void)x;                                                                                            \
        return call;                                                                                                   \
    }

SPARSE_STEP(copied, THSTensor_copy(r, s))
SPARSE_STEP(coalesced, THSTensor_coalesce(r, s))
SPARSE_STEP(transposed, THSTensor_transpose(r, s, 0, 1))
SPARSE_STEP(selected, THSTensor_select(r, s, 0, 3))
SPARSE_STEP(narrowed, THSTensor_narrow(r, s, 1, 0, 4))
SPARSE_STEP(joined, THSTensor_cat(r, ((THSTensor *const[]){(THSTensor *)s, (THSTensor *)s}), 2, 0))
SPARSE_STEP(added, THSTensor_cadd(r, s, 3, s))
SPARSE_STEP(subtracted, THSTensor_csub(r, s, 3, s))
SPARSE_STEP(multiplied, THSTensor_cmul(r, s, s))
SPARSE_STEP(scaled, THSTensor_mul(r, s, -2))
SPARSE_STEP(divided, THSTensor_div(r, s, 4))
SPARSE_STEP(negated, THSTensor_neg(r, s))
SPARSE_STEP(squared, THSTensor_pow(r, s, 2))
SPARSE_STEP(rooted, THSTensor_sqrt(r, s))
SPARSE_STEP(of_sine, THSTensor_sin(r, s))
SPARSE_STEP(of_tanh, THSTensor_tanh(r, s))
SPARSE_STEP(of_log1p, THSTensor_log1p(r, s))
SPARSE_STEP(of_expm1, THSTensor_expm1(r, s))
SPARSE_STEP(summed, THSTensor_sum(r, s, SIZES(0)))
SPARSE_STEP(summed_all, THSTensor_sum(r, s, SIZES(0, 1)))

STEP(multiplied_by_dense) { WITH_DENSE(THSTensor_cmulDense(r, s, t), 1, COLUMNS); }
STEP(divided_by_dense) { WITH_DENSE(THSTensor_cdivDense(r, s, t), ROWS, 1); }
STEP(masked) { WITH_DENSE(THSTensor_sparseMask(r, t, s), ROWS, COLUMNS); }
STEP(added_to_dense) { WITH_DENSE(THSTensor_spcadd(out, t, 3, s), ROWS, COLUMNS); }
STEP(times_matrix) { WITH_DENSE(THSTensor_spmm(out, s, t), COLUMNS, 3); }
STEP(times_vector) { WITH_DENSE(THSTensor_spmv(out, s, t), COLUMNS); }
STEP(times_matrix_sparse) { WITH_DENSE(THSTensor_hspmm(r, s, t), COLUMNS, 2); }
STEP(times_matrix_coordinates) { WITH_DENSE(THSTensor_sspmm(r, s, t), COLUMNS, 2); }
STEP(added_product) {
    THTensor *beside = shaped(x, SIZES(3)), *t = shaped(x, SIZES(COLUMNS, 3));
    THStatus status = THSTensor_spaddmm(out, 2, beside, 3, s, t);
    (void)r;
    THTensor_free(t);
    THTensor_free(beside);
    return status;
}
STEP(added_sparse_product) { WITH_DENSE(THSTensor_sspaddmm(r, 2, s, 3, s, t), COLUMNS, COLUMNS); }
STEP(sampled) {
    THTensor *a = shaped(x, SIZES(ROWS, 2)), *b = shaped(x, SIZES(2, COLUMNS));
    THStatus status = THSTensor_sampledAddmm(r, 2, s, 3, a, b);
    (void)out;
    THTensor_free(b);
    THTensor_free(a);
    return status;
}
STEP(made_dense) {
    THTensor *dense = THSTensor_newDense(s);
    THStatus status = THTensor_mul(out, dense, 2);
    (void)r, (void)x;
    THTensor_free(dense);
    return status;
}
STEP(from_dense) {
    THTensor *t = shaped(x, SIZES(ROWS, COLUMNS));
    THSTensor *made = THSTensor_newFromDense(t, 1);
    THStatus status = THSTensor_cmulDense(r, made, t);
    (void)out, (void)s;
    THSTensor_free(made);
    THTensor_free(t);
    return status;
}
/* One step after another. */
STEP(in_a_row) {
    THTensor *t = shaped(x, SIZES(COLUMNS, 3));
    THStatus status = THSTensor_pow(r, s, 3);
    if (status == TH_OK) status = THSTensor_cadd(r, r, -2, s);
    if (status == TH_OK) status = THSTensor_spmm(out, r, t);
    if (status == TH_OK) status = THTensor_cmul(out, out, out);
    THTensor_free(t);
    return status;
}

struct trial {
    Step *step;
    THSTensor *(*make)(THTensor *values);
};

/* Runs the step. The output is the values of the sparse result, or the dense result. */
static THStatus run(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    const struct trial *trial = context;
    (void)n, (void)m;
    THSTensor *s = trial->make((THTensor *)inputs[0]), *r = THSTensor_new();
    THStatus status = s ? trial->step(r, outputs[0], s, inputs[1]) : THGetLastErrorCode();
    if (status == TH_OK && THTensor_dtype(outputs[0]) == TH_UNDEFINED) {
        THTensor *values = THSTensor_newValues(r);
        status = THTensor_mul(outputs[0], values, 2);
        THTensor_free(values);
    }
    THSTensor_free(r);
    THSTensor_free(s);
    return status;
}

/* Runs backward from the sum of the step's output. */
static THStatus backward(THTensor *const *inputs, struct trial *trial) {
    THTensor *y = THTensor_new(), *loss = THTensor_new();
    THStatus status = run((const THTensor *const *)inputs, 2, &y, 1, trial);
    if (status == TH_OK) status = THTensor_sumDims(loss, y, 0, NULL, 0, TH_UNDEFINED);
    if (status == TH_OK) status = THTensor_backward(loss, NULL);
    THTensor_free(loss);
    THTensor_free(y);
    return status;
}

static void check_steps(Step *const *steps, size_t count, THSTensor *(*make)(THTensor *values)) {
    THTensor *inputs[] = {numbers(ENTRIES, 0.31), numbers(25, 0.73)};
    for (size_t k = 0; k < count; k++) {
        struct trial trial = {steps[k], make};
        /* The hundred calls of finite differences are left out under valgrind. */
        bool ok = under_valgrind() ? CHECK_OK(backward(inputs, &trial))
                                   : CHECK_OK(THGrad_check(inputs, 2, 1, run, &trial, 1e-6, 1e-6, 1e-5));
        if (!ok) printf("\n  step %d ", (int)k);
    }
    THTensor_free(inputs[0]);
    THTensor_free(inputs[1]);
}

static Step *const steps[] = {
    copied,
    coalesced,
    transposed,
    selected,
    narrowed,
    joined,
    added,
    subtracted,
    multiplied,
    scaled,
    divided,
    negated,
    squared,
    rooted,
    of_sine,
    of_tanh,
    of_log1p,
    of_expm1,
    summed,
    summed_all,
    multiplied_by_dense,
    masked,
    divided_by_dense,
    added_to_dense,
    times_matrix,
    times_vector,
    times_matrix_sparse,
    times_matrix_coordinates,
    added_product,
    added_sparse_product,
    sampled,
    made_dense,
    from_dense,
    in_a_row,
};

static void gradients_are_slopes(void) { check_steps(steps, sizeof steps / sizeof *steps, matrix_with); }

static void gradients_of_compressed_rows_are_slopes(void) {
    check_steps(steps, sizeof steps / sizeof *steps, rows_with);
}

static void gradients_of_dense_dimensions_are_slopes(void) {
    static Step *const hybrid[] = {copied, coalesced, selected, joined, added,     multiplied,
                                   scaled, squared,   of_sine,  summed, made_dense};
    check_steps(hybrid, sizeof hybrid / sizeof *hybrid, hybrid_with);
}

/* loss = |s m|^2, whose gradient is 2 (s m) m' at the positions of s. */
static void values_get_their_gradients(void) {
    THTensor *indices = POSITIONS(2, 0, 1, 1, 1, 0, 1), *values = vector_of(TH_FLOAT64, 2, 3, 4);
    THTensor *m = matrix_of(TH_FLOAT64, 2, 1, 2, 10, 20), *y = THTensor_new(), *loss = THTensor_new();
    CHECK_OK(THTensor_setRequiresGrad(values, 1));
    THSTensor *s = THSTensor_newWithTensorAndSize(indices, values, SIZES(2, 2));
    CHECK_OK(THSTensor_spmm(y, s, m));
    CHECK_VALUES(y, 20, 40, 43, 86);
    CHECK_EQ(THTensor_requiresGrad(y), 1);
    CHECK_OK(THTensor_cmul(y, y, y));
    CHECK_OK(THTensor_sumDims(loss, y, 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THTensor_backward(loss, NULL));
    THTensor *grad = THTensor_newGrad(values);
    CHECK_VALUES(grad, 2000, 430, 4300);
    /* The values are a leaf: an optimizer may change them, and so the sparse tensor. */
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_OK(THTensor_cadd(values, values, -0.001, grad));
    CHECK_OK(THGrad_setEnabled(1));
    CHECK_NEAR(THSTensor_sumall(s), 9 - 6.73, 1e-12);
    THTensor_free(grad);
    THSTensor_free(s);
    THTensor_free(loss);
    THTensor_free(y);
    THTensor_free(m);
    THTensor_free(values);
    THTensor_free(indices);
}

/* While recording is off, results require no gradient. */
static void nothing_is_recorded_where_that_is_off(void) {
    THTensor *values = numbers(ENTRIES, 0.31);
    THSTensor *s = matrix_with(values), *r = THSTensor_new();
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_OK(THSTensor_sin(r, s));
    CHECK_EQ(THTensor_requiresGrad(r->values), 0);
    CHECK_OK(THGrad_setEnabled(1));
    CHECK_OK(THSTensor_sin(r, s));
    CHECK_EQ(THTensor_requiresGrad(r->values), 1);
    CHECK_EQ(THTensor_requiresGrad(r->indices), 0);
    THSTensor_free(r);
    THSTensor_free(s);
    THTensor_free(values);
}

CHECK_MAIN(CASE(gradients_are_slopes), CASE(gradients_of_compressed_rows_are_slopes),
           CASE(gradients_of_dense_dimensions_are_slopes), CASE(values_get_their_gradients),
           CASE(nothing_is_recorded_where_that_is_off))
