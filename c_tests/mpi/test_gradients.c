/* Gradients averaged over ranks, compared with the mean that one process computes, for linear models whose gradients
 * are known. */
#include "check_mpi.h"
#include "thorn_mpi/gradients.h"

enum { MOST = 6 };

static int begun;

/* A parameter of this shape, with the same values on all ranks. */
static THTensor *parameter(THDtype dtype, int ndim, const int64_t *size) {
    THTensor *t = values_somehow(COMMON, dtype, ndim, size, 1);
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

/* Adds to `loss` the sum of `factor * t * input`, whose gradient is `factor * input`, for the input of rank `from`. */
static THStatus add_term(THTensor *loss, const THTensor *t, double factor, int from) {
    THTensor *input = THTensor_newZeros(THTensor_dtype(t), t->nDimension, t->size), *product = THTensor_new(), *sum = THTensor_new();
    fill_as(input, from);
    THStatus status = THTensor_cmul(product, t, input);
    if (status == TH_OK) status = THTensor_sum(sum, product, TH_ALL_DIMS, 0);
    if (status == TH_OK) status = THTensor_cadd(loss, loss, factor, sum);
    THTensor_free(input);
    THTensor_free(product);
    THTensor_free(sum);
    return status;
}

/* The sum of the inputs of all ranks, where the input of rank `r` is multiplied by `factors[r]`. */
static THTensor *weighted_inputs(const THTensor *t, const double *factors) {
    THTensor *sum = THTensor_newZeros(TH_FLOAT64, t->nDimension, t->size), *input = THTensor_newZeros(TH_FLOAT64, t->nDimension, t->size);
    for (int r = 0; r < ranks; r++) {
        fill_as(input, r);
        CHECK_OK(THTensor_cadd(sum, sum, factors[r], input));
    }
    THTensor_free(input);
    return sum;
}

/* Fails unless the gradient of `t` is the weighted sum of the inputs. */
#define check_gradient(t, factors, tolerance) check_gradient_at(t, factors, tolerance, __LINE__)
static void check_gradient_at(const THTensor *t, const double *factors, double tolerance, int line) {
    THTensor *gradient = THTensor_newGrad(t), *difference = weighted_inputs(t, factors);
    if (check_that(gradient != NULL, __FILE__, line, "there is a gradient")) {
        CHECK_OK(THTensor_cadd(difference, difference, -1, gradient));
        CHECK_OK(THTensor_abs(difference, difference));
        if (THTensor_nElement(difference) > 0) check_near(THTensor_maxall(difference), 0, tolerance, __FILE__, line, "differences");
    }
    THTensor_free(gradient);
    THTensor_free(difference);
}

/* One factor for all ranks, divided by their number, for a mean. */
static const double *all_ranks(double factor) {
    static double factors[64];
    for (int r = 0; r < ranks; r++) factors[r] = factor / ranks;
    return factors;
}

static int make_parameters(THTensor **t, THDtype last) {
    static const int64_t sizes[MOST][2] = {{3, 4}, {5, 0}, {7, 2}, {1, 1}, {2, 30}, {9, 0}};
    for (int i = 0; i < MOST; i++) t[i] = parameter(i == 2 ? last : TH_FLOAT32, i % 4 == 1 ? 1 : 2, sizes[i]);
    return MOST;
}

static void free_all(THTensor **t, int count) {
    for (int i = 0; i < count; i++) THTensor_free(t[i]);
}

static void the_mean_is_that_of_all_ranks(void) {
    static const THDtype kinds[] = {TH_FLOAT32, TH_FLOAT64, TH_FLOAT16, TH_BFLOAT16};
    static const int64_t bytes[] = {0, 1, 64, 200};
    for (int k = 0; k < 4; k++) {
        THTensor *t[MOST];
        int count = make_parameters(t, kinds[k]);
        THMpiGradients *g = TH_MPI_newGradients(t, count, bytes[k], 1, MPI_COMM_WORLD);
        CHECK(g != NULL && g->buckets >= 1 && (bytes[k] != 1 || g->buckets == count));
        for (int step = 0; step < 3; step++) {
            THTensor *loss = THTensor_newZeros(TH_FLOAT32, 0, NULL);
            for (int i = 0; i < count; i++) {
                CHECK_OK(add_term(loss, t[i], i + 1, rank));
                CHECK_OK(THTensor_setGrad(t[i], NULL));
            }
            CHECK_OK(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)));
            for (int i = 0; i < count; i++) check_gradient(t[i], all_ranks(i + 1), THDtype_size(kinds[k]) == 2 && i == 2 ? 0.5 : 1e-5);
            THTensor_free(loss);
        }
        CHECK_OK(TH_MPI_freeGradients(g));
        free_all(t, count);
    }
}

/* One parameter is used in several terms, one of them through a view. */
static void a_parameter_may_be_used_several_times(void) {
    THTensor *t[2] = {parameter(TH_FLOAT64, 2, (const int64_t[]){4, 3}), parameter(TH_FLOAT64, 1, (const int64_t[]){5})};
    THMpiGradients *g = TH_MPI_newGradients(t, 2, 8, 0, MPI_COMM_WORLD);
    THTensor *loss = THTensor_newZeros(TH_FLOAT64, 0, NULL);
    THTensor *turned = THTensor_newTranspose(t[0], 0, 1), *back = THTensor_newTranspose(turned, 0, 1);
    CHECK_OK(add_term(loss, t[0], 1, rank));
    CHECK_OK(add_term(loss, t[1], 1, rank));
    CHECK_OK(add_term(loss, back, 2, rank));
    CHECK_OK(add_term(loss, t[0], 4, rank));
    CHECK_OK(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)));
    check_gradient(t[0], all_ranks(7 * ranks), 1e-9);
    check_gradient(t[1], all_ranks(ranks), 1e-9);
    THTensor_free(turned);
    THTensor_free(back);
    THTensor_free(loss);
    CHECK_OK(TH_MPI_freeGradients(g));
    free_all(t, 2);
}

/* Parameter 0 is used by the loss of rank 0 alone, parameter 1 by no loss, parameter 2 by all. */
static void ranks_may_use_different_parameters(void) {
    THTensor *t[3];
    for (int i = 0; i < 3; i++) t[i] = parameter(TH_FLOAT32, 1, (const int64_t[]){6 + i});
    THMpiGradients *g = TH_MPI_newGradients(t, 3, 1, 1, MPI_COMM_WORLD);
    for (int step = 0; step < 2; step++) {
        THTensor *loss = THTensor_newZeros(TH_FLOAT32, 0, NULL);
        for (int i = 0; i < 3; i++) CHECK_OK(THTensor_setGrad(t[i], NULL));
        if (rank == 0) CHECK_OK(add_term(loss, t[0], 1, 0));
        CHECK_OK(add_term(loss, t[2], 1, rank));
        CHECK_OK(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)));
        double first[64] = {1.0 / ranks};
        check_gradient(t[0], first, 1e-5);
        check_gradient(t[2], all_ranks(1), 1e-5);
        THTensor *none = THTensor_newGrad(t[1]);
        CHECK(none == NULL);
        THTensor_free(loss);
    }
    CHECK_OK(TH_MPI_freeGradients(g));
    free_all(t, 3);
}

/* Several calls of backward add up to one gradient. Without TH_MPI_holdGradients the second call is refused. */
static void gradients_are_added_up(void) {
    THTensor *t = parameter(TH_FLOAT64, 1, (const int64_t[]){8}), *loss = THTensor_newZeros(TH_FLOAT64, 0, NULL);
    THMpiGradients *g = TH_MPI_newGradients(&t, 1, 0, 1, MPI_COMM_WORLD);
    CHECK_OK(TH_MPI_holdGradients(g, 1));
    for (int part = 1; part <= 3; part++) {
        if (part == 3) CHECK_OK(TH_MPI_holdGradients(g, 0));
        CHECK_OK(THTensor_zero(loss));
        CHECK_OK(add_term(loss, t, part, rank));
        CHECK_OK(THTensor_backward(loss, NULL));
    }
    CHECK_OK(TH_MPI_allreduceGradients(g, TH_OK));
    check_gradient(t, all_ranks(6), 1e-9);
    /* The new gradients are added to a mean that all ranks have. */
    CHECK_OK(THTensor_zero(loss));
    CHECK_OK(add_term(loss, t, 4, rank));
    CHECK_OK(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)));
    check_gradient(t, all_ranks(10), 1e-9);
    CHECK_OK(THTensor_setGrad(t, NULL));
    CHECK_OK(THTensor_zero(loss));
    CHECK_OK(add_term(loss, t, 1, rank));
    CHECK_OK(THGrad_backward(&loss, NULL, 1, 1, 0));
    CHECK_ERROR(THGrad_backward(&loss, NULL, 1, 1, 0), TH_ERR_ARGUMENT, "");
    CHECK_ERROR(TH_MPI_allreduceGradients(g, TH_OK), TH_ERR_ARGUMENT, "must be called after each backward");
    /* The next step works again. */
    CHECK_OK(THTensor_setGrad(t, NULL));
    CHECK_OK(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)));
    check_gradient(t, all_ranks(1), 1e-9);
    THTensor_free(loss);
    CHECK_OK(TH_MPI_freeGradients(g));
    THTensor_free(t);
}

static THStatus refuse(const THTensor *gradient, THTensor **replacement, void *context) {
    (void)gradient, (void)replacement, (void)context;
    return (THStatus)77;
}

/* If backward fails on one rank, all ranks get an error, and the next step works. */
static void backward_may_fail_on_a_rank(void) {
    THTensor *t[3];
    for (int i = 0; i < 3; i++) t[i] = parameter(TH_FLOAT32, 1, (const int64_t[]){6});
    THMpiGradients *g = TH_MPI_newGradients(t, 3, 1, 1, MPI_COMM_WORLD);
    for (int step = 0; step < 4; step++) {
        THTensor *loss = THTensor_newZeros(TH_FLOAT32, 0, NULL), *way = THTensor_new();
        CHECK_OK(THTensor_mul(way, t[1], 1));
        int fails = step % 2 == 0, here = fails && rank == ranks - 1;
        for (int i = 0; i < 3; i++) CHECK_OK(THTensor_setGrad(t[i], NULL));
        for (int i = 0; i < 3; i++) CHECK_OK(add_term(loss, i == 1 ? way : t[i], 1, rank));
        if (here) CHECK(THTensor_addHook(way, refuse, NULL, NULL) >= 0);
        THStatus backward = THTensor_backward(loss, NULL);
        CHECK_EQ(backward, here ? 77 : TH_OK);
        THStatus status = TH_MPI_allreduceGradients(g, backward);
        CHECK_EQ(status, here ? 77 : fails ? TH_ERR_CALLBACK : TH_OK);
        if (fails) CHECK(strstr(THGetLastError(), here ? "hook" : "on another rank") != NULL);
        for (int i = 0; i < 3 && !fails; i++) check_gradient(t[i], all_ranks(1), 1e-5);
        THTensor_free(way);
        THTensor_free(loss);
    }
    CHECK_OK(TH_MPI_freeGradients(g));
    free_all(t, 3);
}

/* Stores the number of buckets whose reduction has begun. */
static THStatus count_begun(const THTensor *gradient, THTensor **replacement, void *context) {
    THMpiGradients *g = (THMpiGradients *)context;
    (void)gradient, (void)replacement;
    if (begun < 0) begun = g->next;
    return TH_OK;
}

/* When backward reaches the first of five layers, the reductions of the other layers have begun. */
static void reductions_begin_while_backward_runs(void) {
    enum { LAYERS = 5 };
    THTensor *t[LAYERS], *x[LAYERS + 1] = {THTensor_newOnes(TH_FLOAT64, SIZES(3, 3))}, *loss = THTensor_new();
    for (int i = 0; i < LAYERS; i++) t[i] = parameter(TH_FLOAT64, 2, (const int64_t[]){3, 3});
    THMpiGradients *g = TH_MPI_newGradients(t, LAYERS, 1, 1, MPI_COMM_WORLD);
    for (int i = 0; i < LAYERS; i++) {
        x[i + 1] = THTensor_new();
        CHECK_OK(THTensor_mm(x[i + 1], x[i], t[i]));
    }
    CHECK(THTensor_addHook(x[1], count_begun, g, NULL) >= 0);
    CHECK_OK(THTensor_sum(loss, x[LAYERS], TH_ALL_DIMS, 0));
    begun = -1;
    CHECK_OK(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)));
    CHECK_EQ(begun, LAYERS - 1);
    CHECK_OK(TH_MPI_freeGradients(g));
    THTensor_free(loss);
    free_all(x, LAYERS + 1);
    free_all(t, LAYERS);
}

/* Parameters on a GPU and on the host, one of them float16, each with a separate loss. */
static void tensors_on_gpus_have_gradients(void) {
    if (THCuda_deviceCount() == 0) return;
    static const THDtype kinds[] = {TH_FLOAT32, TH_FLOAT32, TH_FLOAT16};
    THTensor *t[3], *input[3], *host = NULL;
    for (int i = 0; i < 3; i++) {
        THTensor *values = values_somehow(COMMON, kinds[i], SIZES(6, 2), rank);
        t[i] = i == 1 ? THTensor_newZeros(kinds[i], SIZES(6, 2)) : THTensor_newWithSizesOn(kinds[i], TH_CUDA, 0, SIZES(6, 2));
        input[i] = i == 1 ? THTensor_newClone(values) : THTensor_newCuda(values, 0);
        CHECK_OK(THTensor_zero(t[i]));
        CHECK_OK(THTensor_setRequiresGrad(t[i], 1));
        THTensor_free(values);
    }
    THMpiGradients *g = TH_MPI_newGradients(t, 3, 32, 1, MPI_COMM_WORLD);
    CHECK_EQ(g->buckets, 3);
    for (int step = 0; step < 2; step++) {
        THTensor *loss[3];
        for (int i = 0; i < 3; i++) {
            THTensor *product = THTensor_new();
            loss[i] = THTensor_new();
            CHECK_OK(THTensor_setGrad(t[i], NULL));
            CHECK_OK(THTensor_cmul(product, t[i], input[i]));
            CHECK_OK(THTensor_sum(loss[i], product, TH_ALL_DIMS, 0));
            THTensor_free(product);
        }
        for (int i = 0; i < 3; i++) CHECK_OK(THTensor_backward(loss[i], NULL));
        CHECK_OK(TH_MPI_allreduceGradients(g, TH_OK));
        for (int i = 0; i < 3; i++) {
            THTensor *gradient = THTensor_newGrad(t[i]), *expected = weighted_inputs(t[i], all_ranks(1));
            host = THTensor_newCpu(gradient);
            CHECK(THTensor_allclose(host, expected, 2e-3, 1e-5, 0));
            THTensor_free(gradient);
            THTensor_free(expected);
            THTensor_free(host);
            THTensor_free(loss[i]);
        }
    }
    CHECK_OK(TH_MPI_freeGradients(g));
    free_all(t, 3);
    free_all(input, 3);
}

/* The mean of (256 * ranks, ranks, ranks, ...) is 255 + ranks. In bfloat16, 257 and 259 are ties, rounded to the even neighbour. A gradient
 * from before backward is added in float32, too. */
static void means_of_16_bits_are_rounded_once(void) {
    static const double once[] = {256, 256, 258, 260};
    if (ranks > 4) return;
    for (int each = 0; each < 2; each++) {
        THTensor *w = THTensor_newZeros(TH_BFLOAT16, SIZES(2));
        THTensor *input = THTensor_newFull(TH_BFLOAT16, SIZES(2), rank ? ranks : 256 * ranks);
        THTensor *loss = THTensor_new(), *zeros = THTensor_newZeros(TH_BFLOAT16, SIZES(2));
        CHECK_OK(THTensor_setRequiresGrad(w, 1));
        CHECK_OK(TH_MPI_setReduction(MPI_COMM_WORLD, each));
        THMpiGradients *g = TH_MPI_newGradients(&w, 1, 0, 1, MPI_COMM_WORLD);
        CHECK_OK(TH_MPI_setReduction(MPI_COMM_WORLD, 0));
        for (int before = 0; before < 2; before++) {
            CHECK_OK(THTensor_setGrad(w, before ? zeros : NULL));
            CHECK_OK(THTensor_cmul(loss, w, input));
            CHECK_OK(THTensor_sum(loss, loss, TH_ALL_DIMS, 0));
            CHECK_OK(TH_MPI_allreduceGradients(g, THTensor_backward(loss, NULL)));
            THTensor *gradient = THTensor_newGrad(w);
            CHECK_EQ(THTensor_dtype(gradient), TH_BFLOAT16);
            if (each) CHECK(THTensor_get1d(gradient, 0) <= 258);
            else CHECK_VALUES(gradient, once[ranks - 1], once[ranks - 1]);
            THTensor_free(gradient);
        }
        CHECK_OK(TH_MPI_freeGradients(g));
        THTensor *all[] = {w, input, loss, zeros};
        for (int i = 0; i < 4; i++) THTensor_free(all[i]);
    }
}

static void arguments_are_checked(void) {
    THTensor *leaf = parameter(TH_FLOAT32, 1, (const int64_t[]){3}), *plain = THTensor_newOnes(TH_FLOAT32, SIZES(3)), *none = NULL;
    THTensor *other = parameter(TH_FLOAT32, 1, (const int64_t[]){4});
    CHECK_FAILURE(TH_MPI_newGradients(NULL, 1, 0, 1, MPI_COMM_WORLD) == NULL, TH_ERR_ARGUMENT, "'parameters' is NULL");
    CHECK_FAILURE(TH_MPI_newGradients(&none, 1, 0, 1, MPI_COMM_WORLD) == NULL, TH_ERR_ARGUMENT, "parameter 0 is NULL");
    CHECK_FAILURE(TH_MPI_newGradients(&plain, 1, 0, 1, MPI_COMM_WORLD) == NULL, TH_ERR_ARGUMENT, "no leaf that requires a gradient");
    CHECK_FAILURE(TH_MPI_newGradients(&leaf, 1, 0, 1, MPI_COMM_NULL) == NULL, TH_ERR_ARGUMENT, "MPI_COMM_NULL");
    CHECK_ERROR(TH_MPI_allreduceGradients(NULL, TH_OK), TH_ERR_ARGUMENT, "'gradients' is NULL");
    CHECK_ERROR(TH_MPI_holdGradients(NULL, 1), TH_ERR_ARGUMENT, "'gradients' is NULL");
    CHECK_OK(TH_MPI_freeGradients(NULL));
    THMpiGradients *empty = TH_MPI_newGradients(NULL, 0, 0, 1, MPI_COMM_WORLD);
    CHECK(empty != NULL);
    CHECK_OK(TH_MPI_allreduceGradients(empty, TH_OK));
    CHECK_OK(TH_MPI_freeGradients(empty));
    if (ranks > 1) {
        CHECK_FAILURE(TH_MPI_newGradients(rank == 1 ? &other : &leaf, 1, 0, 1, MPI_COMM_WORLD) == NULL, TH_ERR_SHAPE, "different shapes");
        CHECK_FAILURE(TH_MPI_newGradients(rank == 1 ? &plain : &leaf, 1, 0, 1, MPI_COMM_WORLD) == NULL, TH_ERR_ARGUMENT,
                      rank == 1 ? "no leaf" : "another rank");
    }
    THTensor_free(leaf);
    THTensor_free(plain);
    THTensor_free(other);
}

CHECK_MPI_MAIN(CASE(the_mean_is_that_of_all_ranks), CASE(a_parameter_may_be_used_several_times), CASE(ranks_may_use_different_parameters),
               CASE(gradients_are_added_up), CASE(backward_may_fail_on_a_rank), CASE(tensors_on_gpus_have_gradients),
               CASE(reductions_begin_while_backward_runs), CASE(means_of_16_bits_are_rounded_once),
               CASE(arguments_are_checked))
