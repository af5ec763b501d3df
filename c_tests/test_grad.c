/* Gradients by example: leaves, backward, views and writes in place, hooks, custom functions, and errors. */
#include "check.h"
#include <pthread.h>
#include <stdlib.h>

/* A float64 leaf that requires a gradient. */
static THTensor *leaf(int64_t count, const double *values) {
    THTensor *t = check_vector(TH_FLOAT64, values, count);
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

#define LEAF(...) leaf(CHECK_COUNT(double, __VA_ARGS__), (const double[]){__VA_ARGS__})

/* Runs backward from the sum of all elements. */
static void backward_of_sum(const THTensor *t) {
    THTensor *sum = THTensor_new();
    CHECK_OK(THTensor_sumDims(sum, t, 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THTensor_backward(sum, NULL));
    THTensor_free(sum);
}

#define CHECK_GRAD(t, ...)                                                                                             \
    do {                                                                                                               \
        THTensor *grad_ = THTensor_newGrad(t);                                                                         \
        if (CHECK(grad_ != NULL)) CHECK_CLOSE(grad_, 1e-12, __VA_ARGS__);                                              \
        THTensor_free(grad_);                                                                                          \
    } while (0)

static void backward_adds_to_the_gradients_of_leaves(void) {
    THTensor *a = LEAF(1, 2, 3), *b = LEAF(4, 5, 6), *product = THTensor_new();
    CHECK(THTensor_newGrad(a) == NULL);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
    CHECK_OK(THTensor_cmul(product, a, b));
    CHECK_EQ(THTensor_requiresGrad(product), 1);
    CHECK_EQ(THTensor_isLeaf(product), 0);
    CHECK_EQ(THTensor_isLeaf(a), 1);
    backward_of_sum(product);
    CHECK_GRAD(a, 4, 5, 6);
    CHECK_GRAD(b, 1, 2, 3);

    /* A second backward adds to the gradients. The gradient of the result is not 1. */
    THTensor *weights = check_vector(TH_FLOAT64, (const double[]){1, 10, 100}, 3);
    CHECK_OK(THTensor_cmul(product, a, b));
    CHECK_OK(THTensor_backward(product, weights));
    CHECK_GRAD(a, 8, 55, 606);
    CHECK_OK(THTensor_zeroGrad(a));
    CHECK_GRAD(a, 0, 0, 0);
    CHECK_OK(THTensor_setGrad(a, NULL));
    CHECK(THTensor_newGrad(a) == NULL);
    THTensor_free(weights);
    THTensor_free(product);
    THTensor_free(a);
    THTensor_free(b);
}

static void backward_may_begin_with_several_tensors(void) {
    THTensor *x = LEAF(1, 2), *y = THTensor_new(), *z = THTensor_new(), *both[2], *given[2];
    CHECK_OK(THTensor_mul(y, x, 3));
    CHECK_OK(THTensor_cmul(z, x, x));
    both[0] = y, both[1] = z;
    given[0] = THTensor_newOnes(TH_FLOAT64, SIZES(2)), given[1] = THTensor_newFull(TH_FLOAT64, SIZES(2), 10);
    CHECK_OK(THGrad_backward(both, given, 2, 1, 0));
    CHECK_GRAD(x, 23, 43);
    CHECK_OK(THGrad_backward(both, given, 2, 0, 0));
    CHECK_GRAD(x, 46, 86);
    CHECK_ERROR(THGrad_backward(both, given, 2, 0, 0), TH_ERR_ARGUMENT, "a second time through cmul");
    CHECK_ERROR(THGrad_backward(both, NULL, 2, 0, 0), TH_ERR_ARGUMENT, "entry 0 of 'tensors' has 2 elements");
    CHECK_GRAD(x, 46, 86);
    THTensor_free(given[0]);
    THTensor_free(given[1]);
    THTensor_free(z);
    THTensor_free(y);
    THTensor_free(x);
}

static void what_was_broadcast_or_converted_is_undone(void) {
    THTensor *row = LEAF(1, 2, 3), *sum = THTensor_new(), *matrix = THTensor_newOnes(TH_FLOAT64, SIZES(4, 3));
    CHECK_OK(THTensor_cmul(sum, matrix, row));
    backward_of_sum(sum);
    CHECK_GRAD(row, 4, 4, 4);

    THTensor *single = THTensor_newOnes(TH_FLOAT32, SIZES(3));
    CHECK_OK(THTensor_setRequiresGrad(single, 1));
    CHECK_OK(THTensor_cmul(sum, single, row));
    CHECK_EQ(THTensor_dtype(sum), TH_FLOAT64);
    backward_of_sum(sum);
    THTensor *grad = THTensor_newGrad(single);
    CHECK_EQ(THTensor_dtype(grad), TH_FLOAT32);
    CHECK_VALUES(grad, 1, 2, 3);
    THTensor_free(grad);
    THTensor_free(single);
    THTensor_free(matrix);
    THTensor_free(sum);
    THTensor_free(row);
}

/* A common pattern in Torch: a buffer is filled row by row, and used as a whole. */
static void a_buffer_filled_by_rows_passes_gradients_on(void) {
    THTensor *w = LEAF(1, 2), *buffer = THTensor_newZeros(TH_FLOAT64, SIZES(3, 2)), *row = THTensor_new();
    THTensor *scaled = THTensor_new(), *squares = THTensor_new();
    CHECK_OK(THGrad_setEnabled(1));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(THTensor_select(row, buffer, 0, i));
        CHECK_OK(THTensor_mul(scaled, w, i + 1));
        CHECK_OK(THTensor_copy(row, scaled));
    }
    CHECK_EQ(THTensor_requiresGrad(buffer), 1);
    CHECK_OK(THTensor_cmul(squares, buffer, buffer));
    backward_of_sum(squares);
    /* The sum of (k w)^2 for k = 1, 2, 3 is 14 w^2. */
    CHECK_GRAD(w, 28, 56);
    THTensor_free(squares);
    THTensor_free(scaled);
    THTensor_free(row);
    THTensor_free(buffer);
    THTensor_free(w);
}

static void a_view_sees_what_was_written_to_its_base(void) {
    THTensor *x = LEAF(1, 2, 3, 4), *base = THTensor_new(), *view = THTensor_new(), *part = THTensor_new();
    CHECK_OK(THTensor_mul(base, x, 2));
    CHECK_OK(THTensor_narrow(view, base, 0, 1, 2));
    CHECK_OK(THTensor_narrow(part, base, 0, 2, 2));
    CHECK_OK(THTensor_mul(part, part, 10));
    backward_of_sum(view);
    CHECK_GRAD(x, 0, 2, 20, 0);
    CHECK_OK(THTensor_zeroGrad(x));

    /* Writing a constant cuts the history of the written elements. */
    CHECK_OK(THTensor_mul(base, x, 2));
    CHECK_OK(THTensor_narrow(view, base, 0, 1, 2));
    CHECK_OK(THTensor_fill(view, 7));
    backward_of_sum(base);
    CHECK_GRAD(x, 2, 0, 0, 2);
    THTensor_free(part);
    THTensor_free(view);
    THTensor_free(base);
    THTensor_free(x);
}

static void a_saved_tensor_may_not_change(void) {
    THTensor *a = LEAF(1, 2), *b = THTensor_new(), *product = THTensor_new(), *sum = THTensor_new();
    CHECK_OK(THTensor_add(b, a, 1));
    CHECK_OK(THTensor_cmul(product, b, b));
    int64_t version = THTensor_version(b);
    CHECK_OK(THTensor_add(b, b, 1));
    CHECK_EQ(THTensor_version(b), version + 1);
    CHECK_OK(THTensor_sumDims(sum, product, 0, NULL, 0, TH_UNDEFINED));
    CHECK_ERROR(THTensor_backward(sum, NULL), TH_ERR_ARGUMENT,
                "THTensor_backward: a tensor of shape [2] that the gradient of cmul needs was changed in place");
    CHECK(THTensor_newGrad(a) == NULL);

    /* The derivative of exp needs only its result, which is unchanged. */
    CHECK_OK(THTensor_exp(product, b));
    CHECK_OK(THTensor_add(b, b, 1));
    backward_of_sum(product);
    THTensor *grad = THTensor_newGrad(a);
    CHECK_NEAR(THTensor_get1d(grad, 0), THTensor_get1d(product, 0), 1e-12);
    THTensor_free(grad);

    CHECK_OK(THTensor_cmul(product, a, a));
    backward_of_sum(product);
    CHECK_OK(THTensor_sumDims(sum, product, 0, NULL, 0, TH_UNDEFINED));
    CHECK_ERROR(THTensor_backward(sum, NULL), TH_ERR_ARGUMENT, "a second time through cmul");
    THTensor_free(sum);
    THTensor_free(product);
    THTensor_free(b);
    THTensor_free(a);
}

static void what_is_refused_names_why(void) {
    THTensor *a = LEAF(1, 2), *whole = THTensor_newZeros(TH_INT64, SIZES(2)), *r = THTensor_new();
    CHECK_ERROR(THTensor_setRequiresGrad(whole, 1), TH_ERR_DTYPE, "argument 't' has dtype int64: only floats have gradients");
    CHECK_ERROR(THTensor_add(a, a, 1), TH_ERR_ARGUMENT, "THTensor_add: argument 'r' is a leaf that requires a gradient");
    CHECK_VALUES(a, 1, 2);
    CHECK_OK(THTensor_narrow(r, a, 0, 0, 1));
    CHECK_ERROR(THTensor_fill(r, 1), TH_ERR_ARGUMENT, "is a view of a leaf that requires a gradient");
    CHECK_OK(THTensor_reset(r));
    CHECK_OK(THTensor_mul(r, a, 2));
    CHECK_ERROR(THTensor_backward(r, NULL), TH_ERR_ARGUMENT, "has 2 elements, and no gradient is given");
    CHECK_ERROR(THTensor_backward(r, whole), TH_ERR_SHAPE, "another shape or dtype");
    CHECK_ERROR(THTensor_backward(whole, NULL), TH_ERR_ARGUMENT, "argument 't' requires no gradient");
    CHECK_ERROR(THTensor_setRequiresGrad(r, 0), TH_ERR_ARGUMENT, "is the result of a recorded operation");
    CHECK_ERROR(THTensor_setGrad(a, whole), TH_ERR_SHAPE, "another shape, dtype or device");
    CHECK_ERROR(THTensor_setGrad(a, a), TH_ERR_ARGUMENT, "its own gradient");
    CHECK_ERROR(THTensor_resize1d(a, 5), TH_ERR_ARGUMENT, "is a leaf that requires a gradient");
    CHECK_SHAPE(a, 2);
    CHECK_ERROR(THTensor_apply(r, NULL, NULL), TH_ERR_UNSUPPORTED, "THTensor_apply: has no derivative");
    THTensor_free(r);
    THTensor_free(whole);
    THTensor_free(a);
}

static void nothing_is_recorded_while_recording_is_off(void) {
    THTensor *w = LEAF(1, 2), *r = THTensor_new(), *detached = THTensor_newDetach(w);
    CHECK_OK(THTensor_mul(r, detached, 3));
    CHECK_EQ(THTensor_requiresGrad(r), 0);
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_EQ(THGrad_isEnabled(), 0);
    CHECK_OK(THTensor_mul(r, w, 3));
    CHECK_EQ(THTensor_requiresGrad(r), 0);
    /* A step of gradient descent: the leaf stays a leaf. */
    CHECK_OK(THTensor_add(w, w, -0.5));
    CHECK_OK(THGrad_setEnabled(1));
    CHECK_VALUES(w, 0.5, 1.5);
    CHECK_VALUES(detached, 0.5, 1.5);
    CHECK_EQ(THTensor_requiresGrad(w), 1);
    CHECK_OK(THGrad_setInference(1));
    CHECK_OK(THGrad_setEnabled(1));
    CHECK_OK(THTensor_mul(r, w, 3));
    CHECK_EQ(THTensor_requiresGrad(r), 0);
    CHECK_OK(THGrad_setInference(0));
    CHECK_OK(THTensor_mul(r, w, 3));
    CHECK_EQ(THTensor_requiresGrad(r), 1);
    CHECK_OK(THTensor_detach(r));
    CHECK_EQ(THTensor_requiresGrad(r), 0);
    THTensor_free(detached);
    THTensor_free(r);
    THTensor_free(w);
}

static void gradients_have_gradients(void) {
    THTensor *x = LEAF(2), *square = THTensor_new(), *cube = THTensor_new(), *first[1], *second[1];
    CHECK_OK(THTensor_cmul(square, x, x));
    CHECK_OK(THTensor_cmul(cube, square, x));
    int count = 1;
    CHECK_OK(THGrad_gradients(first, &count, &cube, NULL, 1, &x, 1, 1, 1, 0));
    CHECK_VALUES(first[0], 12);
    CHECK_OK(THGrad_gradients(second, &count, first, NULL, 1, &x, 1, 0, 0, 0));
    CHECK_VALUES(second[0], 12);
    CHECK(THTensor_newGrad(x) == NULL);
    THTensor *other = LEAF(1), *unused[1];
    CHECK_ERROR(THGrad_gradients(unused, &count, &cube, NULL, 1, &other, 1, 1, 0, 0), TH_ERR_ARGUMENT, "has no part in the outputs");
    CHECK_OK(THGrad_gradients(unused, &count, &cube, NULL, 1, &other, 1, 1, 0, 1));
    CHECK(unused[0] == NULL);
    THTensor_free(other);
    THTensor_free(first[0]);
    THTensor_free(second[0]);
    THTensor_free(cube);
    THTensor_free(square);
    THTensor_free(x);
}

static THStatus doubled(const THTensor *gradient, THTensor **replacement, void *calls) {
    ++*(int *)calls;
    *replacement = THTensor_new();
    return THTensor_mul(*replacement, gradient, 2);
}

static THStatus refusing(const THTensor *gradient, THTensor **replacement, void *context) {
    (void)gradient, (void)replacement, (void)context;
    return 77;
}

static void forget(void *data, void *calls) {
    CHECK(data == calls);
    *(int *)calls += 100;
}

/* A hook that appends its letter to the letters of the previous hooks. */
static char order[8];
static THStatus note(const THTensor *gradient, THTensor **replacement, void *letter) {
    (void)gradient, (void)replacement;
    strncat(order, letter, 1);
    return TH_OK;
}

/* The gradient of a leaf that is used only late is complete before backward reaches the early operations. The gradient of a leaf that is
 * also used early is not. */
static void hooks_of_leaves_are_called_as_soon_as_they_can(void) {
    THTensor *early = LEAF(1, 2), *both = LEAF(3, 4), *late = LEAF(5, 6), *y = THTensor_new(), *z = THTensor_new();
    CHECK(THTensor_addHook(early, note, "e", NULL) > 0);
    CHECK(THTensor_addHook(both, note, "b", NULL) > 0);
    CHECK(THTensor_addHook(late, note, "l", NULL) > 0);
    CHECK_OK(THTensor_cmul(y, early, both));
    CHECK(THTensor_addHook(y, note, "y", NULL) > 0);
    CHECK_OK(THTensor_cmul(z, y, late));
    CHECK_OK(THTensor_cmul(z, z, both));
    order[0] = 0;
    backward_of_sum(z);
    CHECK(strcmp(order, "lyeb") == 0 || strcmp(order, "lybe") == 0);
    CHECK_GRAD(late, 9, 32);
    CHECK_GRAD(both, 30, 96);
    THTensor_free(early);
    THTensor_free(both);
    THTensor_free(late);
    THTensor_free(y);
    THTensor_free(z);
}

static void hooks_look_on_and_replace(void) {
    int of_leaf = 0, of_result = 0;
    THTensor *x = LEAF(1, 2), *y = THTensor_new(), *z = THTensor_new();
    int64_t hook = THTensor_addHook(x, doubled, &of_leaf, forget);
    CHECK(hook > 0);
    CHECK_OK(THTensor_mul(y, x, 3));
    CHECK(THTensor_addHook(y, doubled, &of_result, NULL) > 0);
    CHECK_OK(THTensor_retainGrad(y));
    CHECK_OK(THTensor_mul(z, y, 5));
    backward_of_sum(z);
    CHECK_GRAD(x, 60, 60);
    CHECK_GRAD(y, 10, 10);
    CHECK_EQ(of_leaf, 1);
    CHECK_EQ(of_result, 1);
    CHECK_OK(THTensor_removeHook(x, hook));
    CHECK_EQ(of_leaf, 101);
    CHECK_ERROR(THTensor_removeHook(x, hook), TH_ERR_ARGUMENT, "there is no hook");
    CHECK(THTensor_addHook(x, refusing, NULL, NULL) > 0);
    CHECK_OK(THTensor_sumDims(z, x, 0, NULL, 0, TH_UNDEFINED));
    CHECK_EQ(THTensor_backward(z, NULL), 77);
    CHECK_GRAD(x, 60, 60);
    THTensor_free(z);
    THTensor_free(y);
    THTensor_free(x);
}

/* exp, whose gradient is the result times the gradient of the result. `context` is a factor that makes the gradient wrong. */
static THStatus exp_forward(THGradCall *call, const THTensor *const *from, int n, THTensor *const *to, int m, void *context) {
    (void)context;
    if (n != 1 || m != 1) return 1;
    THStatus status = THTensor_exp(to[0], from[0]);
    return status ? status : THGrad_save(call, to[0]);
}

static THStatus exp_backward(THGradCall *call, const THTensor *const *from, int n, THTensor *const *to, int m, void *context) {
    if (n != 1 || m != 1 || THGrad_needsGradient(call, 0) != 1) return 1;
    THTensor *saved = THGrad_newSaved(call, 0);
    THStatus status = THTensor_cmul(to[0], from[0], saved);
    if (context && !status) status = THTensor_mul(to[0], to[0], *(double *)context);
    THTensor_free(saved);
    return status;
}

static THStatus exp_of(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    THTensor *input = (THTensor *)inputs[0];
    return THGrad_apply(outputs, m, &input, n, exp_forward, exp_backward, context, NULL);
}

/* The elements above 0. Their number changes when an element that is 0 is moved by a small step. */
static THStatus positive(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    (void)n, (void)m, (void)context;
    THTensor *mask = THTensor_new();
    THStatus status = THTensor_gtValue(mask, inputs[0], 0);
    if (status == TH_OK) status = THTensor_maskedSelect(outputs[0], inputs[0], mask);
    THTensor_free(mask);
    return status;
}

/* Twice the input, computed from a detached handle, so that nothing is recorded. */
static THStatus unrecorded(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    (void)n, (void)m, (void)context;
    THTensor *t = THTensor_newDetach((THTensor *)inputs[0]);
    THStatus status = THTensor_mul(outputs[0], t, 2);
    THTensor_free(t);
    return status;
}

static void differences_are_those_of_one_shape(void) {
    THTensor *x = LEAF(1, 0);
    CHECK_ERROR(THGrad_check(&x, 1, 1, positive, NULL, 1e-6, 1e-5, 1e-3), TH_ERR_ARGUMENT,
                "result 0 has shape [1], and [2] where an input changes by eps");
    CHECK_ERROR(THGrad_check(&x, 1, 1, unrecorded, NULL, 1e-6, 1e-5, 1e-3), TH_ERR_NUMERIC, "is 0, and by differences");
    CHECK_VALUES(x, 1, 0);
    THTensor_free(x);
}

static void functions_have_gradients_of_their_own(void) {
    THTensor *x = LEAF(0, 1), *y = THTensor_new(), *g[1], *second[1];
    CHECK_OK(exp_of((const THTensor *const[]){x}, 1, (THTensor *const[]){y}, 1, NULL));
    int count = 1;
    THTensor *sum = THTensor_new();
    CHECK_OK(THTensor_sumDims(sum, y, 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THGrad_gradients(g, &count, &sum, NULL, 1, &x, 1, 1, 1, 0));
    CHECK_CLOSE(g[0], 1e-12, 1, 2.718281828459045);
    CHECK_OK(THTensor_sumDims(sum, g[0], 0, NULL, 0, TH_UNDEFINED));
    CHECK_OK(THGrad_gradients(second, &count, &sum, NULL, 1, &x, 1, 0, 0, 0));
    CHECK_CLOSE(second[0], 1e-12, 1, 2.718281828459045);
    CHECK_OK(THGrad_check(&x, 1, 1, exp_of, NULL, 1e-6, 1e-5, 1e-3));
    double wrong = 1.01;
    CHECK_ERROR(THGrad_check(&x, 1, 1, exp_of, &wrong, 1e-6, 1e-5, 1e-3), TH_ERR_NUMERIC,
                "the gradient of element 0 of result 0 with respect to element 0 of input 0 is 1.01");
    CHECK_VALUES(x, 0, 1);
    THTensor_free(g[0]);
    THTensor_free(second[0]);
    THTensor_free(sum);
    THTensor_free(y);
    THTensor_free(x);
}

static THStatus twice_sine(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *calls) {
    (void)n, (void)m;
    ++*(int *)calls;
    THStatus status = THTensor_sin(outputs[0], inputs[0]);
    return status ? status : THTensor_sin(outputs[0], outputs[0]);
}

static void a_checkpoint_computes_again(void) {
    int calls = 0;
    THTensor *x = LEAF(0.5, 1), *plain = THTensor_new(), *y = THTensor_new();
    CHECK_OK(THTensor_sin(plain, x));
    THTensor *inner = THTensor_new();
    CHECK_OK(THTensor_sin(inner, plain));
    backward_of_sum(inner);
    THTensor *expected = THTensor_newGrad(x);
    CHECK_OK(THTensor_setGrad(x, NULL));
    THTensor *outputs[] = {y};
    CHECK_ERROR(THGrad_checkpoint(outputs, 1, &x, 1, NULL, NULL, NULL), TH_ERR_ARGUMENT, "the function is NULL");
    CHECK_OK(THGrad_checkpoint(outputs, 1, &x, 1, twice_sine, &calls, NULL));
    CHECK(THTensor_equal(y, inner));
    CHECK_EQ(calls, 1);
    backward_of_sum(y);
    CHECK_EQ(calls, 2);
    THTensor *grad = THTensor_newGrad(x);
    CHECK(THTensor_allclose(grad, expected, 1e-12, 0, 0));
    THTensor_free(grad);
    THTensor_free(expected);
    THTensor_free(inner);
    THTensor_free(plain);
    THTensor_free(y);
    THTensor_free(x);
}

static void a_million_nodes_need_no_stack(void) {
    int64_t nodes = shrunk(1000000);
    THTensor *x = LEAF(1), *h = THTensor_new();
    CHECK_OK(THTensor_add(h, x, 1));
    for (int64_t i = 1; i < nodes; i++) CHECK_OK(THTensor_add(h, h, 1));
    backward_of_sum(h);
    CHECK_GRAD(x, 1);
    CHECK_OK(THTensor_add(h, x, 1));
    for (int64_t i = 1; i < nodes; i++) CHECK_OK(THTensor_add(h, h, 1));
    THTensor_free(h);
    THTensor_free(x);
}

/* A step of training: gradient descent on (w . x - 1)^2. */
static void train(int64_t steps, THTensor *w, const THTensor *x) {
    THTensor *dot = THTensor_new(), *loss = THTensor_new();
    for (int64_t i = 0; i < steps; i++) {
        CHECK_OK(THTensor_cmul(dot, w, x));
        CHECK_OK(THTensor_sumDims(loss, dot, 0, NULL, 0, TH_UNDEFINED));
        CHECK_OK(THTensor_add(loss, loss, -1));
        CHECK_OK(THTensor_cmul(dot, loss, loss));
        CHECK_OK(THTensor_backward(dot, NULL));
        THTensor *grad = THTensor_newGrad(w);
        CHECK_OK(THGrad_setEnabled(0));
        CHECK_OK(THTensor_cadd(w, w, -0.01, grad));
        CHECK_OK(THTensor_zero(grad));
        CHECK_OK(THGrad_setEnabled(1));
        THTensor_free(grad);
    }
    THTensor_free(loss);
    THTensor_free(dot);
}

static void steps_of_training_need_no_more_memory(void) {
    THTensor *w = LEAF(0, 0), *x = check_vector(TH_FLOAT64, (const double[]){1, 3}, 2);
    train(100, w, x);
    int64_t before = THMemory_liveBytes();
    train(shrunk(50000), w, x);
    CHECK_EQ(THMemory_liveBytes(), before);
    CHECK_CLOSE(w, 1e-9, 0.1, 0.3);
    THTensor_free(x);
    THTensor_free(w);
}

static void *train_alone(void *context) {
    THTensor *w = LEAF(0, 0), *x = check_vector(TH_FLOAT64, context, 2);
    train(1000, w, x);
    CHECK_CLOSE(w, 1e-9, ((double *)context)[0] / 10, ((double *)context)[1] / 10);
    THTensor_free(x);
    THTensor_free(w);
    return NULL;
}

static void two_threads_train_two_models(void) {
    double first[] = {1, 3}, second[] = {3, 1};
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, train_alone, first), 0);
    train_alone(second);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

CHECK_MAIN(CASE(backward_adds_to_the_gradients_of_leaves), CASE(backward_may_begin_with_several_tensors),
           CASE(what_was_broadcast_or_converted_is_undone), CASE(a_buffer_filled_by_rows_passes_gradients_on), CASE(a_view_sees_what_was_written_to_its_base), CASE(a_saved_tensor_may_not_change), CASE(what_is_refused_names_why), CASE(nothing_is_recorded_while_recording_is_off), CASE(gradients_have_gradients), CASE(hooks_look_on_and_replace), CASE(hooks_of_leaves_are_called_as_soon_as_they_can), CASE(functions_have_gradients_of_their_own), CASE(differences_are_those_of_one_shape), CASE(a_checkpoint_computes_again), CASE(a_million_nodes_need_no_stack), CASE(steps_of_training_need_no_more_memory), CASE(two_threads_train_two_models))
