/* Backward as a whole: gradients that later calls may write, functions that use other tensors than their inputs, and calls that fail. */
#include "check.h"
#include <stdlib.h>

static THTensor *matrix(void) {
    THTensor *t = check_matrix(TH_FLOAT64, 2, (const double[]){1, 2, 3, 4}, 4);
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

static THTensor *leaf(int64_t count, const double *values) {
    THTensor *t = check_vector(TH_FLOAT64, values, count);
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

#define LEAF(...) leaf(CHECK_COUNT(double, __VA_ARGS__), (const double[]){__VA_ARGS__})

static THTensor *sum_of(const THTensor *t) {
    THTensor *sum = THTensor_new();
    CHECK_OK(THTensor_sumDims(sum, t, 0, NULL, 0, TH_UNDEFINED));
    return sum;
}

static void backward_of_sum(const THTensor *t, int create) {
    THTensor *sum = sum_of(t);
    CHECK_OK(THGrad_backward(&sum, NULL, 1, 0, create));
    THTensor_free(sum);
}

#define CHECK_GRAD(t, ...)                                                                                             \
    do {                                                                                                               \
        THTensor *grad_ = THTensor_newGrad(t);                                                                         \
        if (CHECK(grad_ != NULL)) CHECK_CLOSE(grad_, 1e-12, __VA_ARGS__);                                              \
        THTensor_free(grad_);                                                                                          \
    } while (0)

/* The gradient of a sum is one element, expanded to all positions. */
static void a_gradient_that_has_a_history_can_be_written(void) {
    THTensor *w = matrix(), *square = THTensor_new();
    backward_of_sum(w, 1);
    CHECK_OK(THTensor_cmul(square, w, w));
    backward_of_sum(square, 0);
    CHECK_GRAD(w, 3, 5, 7, 9);
    CHECK_OK(THTensor_setGrad(w, NULL));
    backward_of_sum(w, 1);
    CHECK_NEAR(THGrad_clipNorm(&w, 1, 1, 2), 2, 1e-12);
    double half = 1 / (2 + 1e-6);
    CHECK_GRAD(w, half, half, half, half);
    CHECK_OK(THGrad_clipValue(&w, 1, 0.25));
    CHECK_GRAD(w, 0.25, 0.25, 0.25, 0.25);
    CHECK_OK(THTensor_zeroGrad(w));
    CHECK_GRAD(w, 0, 0, 0, 0);

    /* The second derivative passes through the copy. */
    THTensor *x = LEAF(3), *wide = THTensor_newExpand(x, 1, (const int64_t[]){2}), *cube = THTensor_new();
    CHECK_OK(THTensor_setGrad(w, NULL));
    CHECK_OK(THTensor_pow(cube, wide, 3));
    CHECK_OK(THTensor_retainGrad(wide));
    backward_of_sum(cube, 1);
    CHECK_GRAD(x, 54);
    THTensor *grad = THTensor_newGrad(x);
    CHECK_OK(THTensor_setGrad(x, NULL));
    backward_of_sum(grad, 0);
    CHECK_GRAD(x, 36);
    THTensor_free(grad);
    THTensor_free(cube);
    THTensor_free(wide);
    THTensor_free(x);
    THTensor_free(square);
    THTensor_free(w);
}

/* The program's gradient may be an expanded tensor. It need not be refused; if it is, no other gradient may have changed. */
static void an_expanded_gradient_is_added_to_and_clipped(void) {
    THTensor *a = LEAF(1, 2), *b = LEAF(1, 2), *one = check_vector(TH_FLOAT64, (const double[]){3}, 1);
    THTensor *wide = THTensor_newExpand(one, 1, (const int64_t[]){2}), *plain = check_vector(TH_FLOAT64, (const double[]){3, 3}, 2);
    THTensor *both[] = {a, b};
    CHECK_OK(THTensor_setGrad(a, plain));
    CHECK_OK(THTensor_setGrad(b, wide));
    CHECK_NEAR(THGrad_clipNorm(both, 2, 3, 2), 6, 1e-12);
    double clipped = 9 / (6 + 1e-6);
    CHECK_GRAD(a, clipped, clipped);
    CHECK_GRAD(b, clipped, clipped);
    CHECK_OK(THTensor_setGrad(b, wide));
    CHECK_OK(THGrad_clipValue(both, 2, 1));
    CHECK_GRAD(a, 1, 1);
    CHECK_GRAD(b, 1, 1);
    CHECK_OK(THTensor_setGrad(b, wide));
    THTensor *product = THTensor_new();
    CHECK_OK(THTensor_cmul(product, a, b));
    backward_of_sum(product, 0);
    CHECK_GRAD(a, 2, 3);
    CHECK_GRAD(b, 4, 5);
    CHECK_VALUES(wide, 3, 3);
    THTensor_free(product);
    THTensor_free(plain);
    THTensor_free(wide);
    THTensor_free(one);
    THTensor_free(b);
    THTensor_free(a);
}

/* a a, where the second result replaces a factor. */
static void a_result_may_be_an_operand_of_a_list(void) {
    for (int chain = 0; chain < 2; chain++) {
        THTensor *a = matrix(), *b = THTensor_new(), *factors[2] = {b, a};
        CHECK_OK(THTensor_mul(b, a, 1));
        CHECK_OK(chain ? THTensor_chainMatmul(b, factors, 2) : THTensor_einsum(b, "ij,jk->ik", factors, 2));
        backward_of_sum(b, 0);
        CHECK_GRAD(a, 7, 11, 9, 13);
        THTensor_free(b);
        THTensor_free(a);
    }
}

/* Tensors that a function uses in addition to its inputs. */
struct used {
    THTensor *factor;
    int calls;
};

static THStatus times(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    (void)n, (void)m;
    struct used *used = context;
    used->calls++;
    return THTensor_cmul(outputs[0], inputs[0], used->factor);
}

static THStatus count(const THTensor *gradient, THTensor **replacement, void *context) {
    (void)gradient;
    ++*(int *)context;
    *replacement = THTensor_new();
    return THTensor_mul(*replacement, gradient, 1);
}

static THTensor *checkpoint(THTensor *x, struct used *used) {
    THTensor *y = THTensor_new();
    CHECK_OK(THGrad_checkpoint(&y, 1, &x, 1, times, used, NULL));
    return y;
}

static void a_checkpoint_may_use_other_leaves(void) {
    THTensor *w = LEAF(2, 3), *x = LEAF(5, 7), *other = LEAF(1, 1), *r[3];
    struct used used = {w, 0};
    THTensor *y = checkpoint(x, &used), *sum = sum_of(y);
    THTensor *inputs[] = {x, w, other};
    int room = 3;
    CHECK_OK(THGrad_gradients(r, &room, &sum, NULL, 1, inputs, 3, 1, 0, 1));
    CHECK_VALUES(r[0], 2, 3);
    CHECK_VALUES(r[1], 5, 7);
    CHECK(r[2] == NULL);
    THTensor_free(r[0]);
    THTensor_free(r[1]);
    /* Leaves keep their gradients. */
    CHECK(THTensor_newGrad(w) == NULL && THTensor_newGrad(x) == NULL);
    int calls = used.calls;
    room = 1;
    CHECK_OK(THGrad_gradients(r, &room, &sum, NULL, 1, &y, 1, 1, 0, 0));
    CHECK_VALUES(r[0], 1, 1);
    THTensor_free(r[0]);
    CHECK_EQ(used.calls, calls);
    CHECK_OK(THTensor_backward(sum, NULL));
    CHECK_GRAD(w, 5, 7);
    CHECK_GRAD(x, 2, 3);
    THTensor_free(sum);
    THTensor_free(y);
    THTensor_free(other);
    THTensor_free(x);
    THTensor_free(w);
}

/* h = 2 w is used by two functions and by the loss: sum(x h) + sum(x h) + sum(h). */
static void a_checkpoint_may_use_other_results(void) {
    THTensor *w = LEAF(2, 3), *x = LEAF(5, 7), *h = THTensor_new(), *loss = THTensor_new(), *r[2];
    int of_leaf = 0, of_result = 0;
    CHECK(THTensor_addHook(w, count, &of_leaf, NULL) > 0);
    CHECK_OK(THTensor_mul(h, w, 2));
    CHECK(THTensor_addHook(h, count, &of_result, NULL) > 0);
    struct used used = {h, 0};
    THTensor *first = checkpoint(x, &used), *second = checkpoint(x, &used);
    CHECK_OK(THTensor_cadd(loss, first, 1, second));
    CHECK_OK(THTensor_cadd(loss, loss, 1, h));
    THTensor *sum = sum_of(loss), *inputs[] = {h, w};
    int room = 2;
    CHECK_OK(THGrad_gradients(r, &room, &sum, NULL, 1, inputs, 2, 1, 0, 0));
    CHECK_VALUES(r[0], 11, 15);
    CHECK_VALUES(r[1], 22, 30);
    THTensor_free(r[0]);
    THTensor_free(r[1]);
    of_leaf = of_result = 0;
    CHECK_OK(THTensor_backward(sum, NULL));
    CHECK_GRAD(w, 22, 30);
    CHECK_GRAD(x, 8, 12);
    CHECK_EQ(of_leaf, 1);
    CHECK_EQ(of_result, 1);
    THTensor_free(sum);

    /* Without the loss, only the function leads to h. */
    THTensor *alone = checkpoint(x, &used);
    CHECK_OK(THTensor_setGrad(w, NULL));
    CHECK_OK(THTensor_mul(h, w, 3));
    backward_of_sum(alone, 0);
    CHECK_GRAD(w, 15, 21);
    THTensor_free(alone);
    THTensor_free(first);
    THTensor_free(second);
    THTensor_free(loss);
    THTensor_free(h);
    THTensor_free(x);
    THTensor_free(w);
}

static void what_is_refused_leaves_the_graph(void) {
    THTensor *x = LEAF(1, 2), *other = LEAF(1), *y = THTensor_new(), *r[2], *inputs[] = {x, other};
    CHECK_OK(THTensor_cmul(y, x, x));
    THTensor *sum = sum_of(y);
    int room = 2;
    CHECK_ERROR(THGrad_gradients(r, &room, &sum, NULL, 1, inputs, 2, 0, 0, 0), TH_ERR_ARGUMENT, "has no part in the outputs");
    CHECK_OK(THTensor_backward(sum, NULL));
    CHECK_GRAD(x, 2, 4);
    CHECK_ERROR(THTensor_backward(sum, NULL), TH_ERR_ARGUMENT, "a second time");
    THTensor_free(sum);
    THTensor_free(y);
    THTensor_free(other);
    THTensor_free(x);
}

static THStatus stops(const THTensor *gradient, THTensor **replacement, void *context) {
    (void)gradient, (void)replacement;
    return *(int *)context;
}

/* A hook stops backward half way. Backward of the same graph can then be repeated. */
static void a_backward_that_failed_can_be_repeated(void) {
    THTensor *x = LEAF(0.5, 1), *y = THTensor_new(), *z = THTensor_new();
    int status = 77;
    CHECK_OK(THTensor_exp(y, x));
    CHECK(THTensor_addHook(y, stops, &status, NULL) > 0);
    CHECK_OK(THTensor_cmul(z, y, y));
    THTensor *sum = sum_of(z);
    CHECK_EQ(THTensor_backward(sum, NULL), 77);
    CHECK(THTensor_newGrad(x) == NULL);
    status = 0;
    CHECK_OK(THTensor_backward(sum, NULL));
    CHECK_GRAD(x, 2 * exp(1), 2 * exp(2));
    THTensor_free(sum);
    THTensor_free(z);
    THTensor_free(y);
    THTensor_free(x);
}

static THGradCall *kept_call;

static THStatus keep_call(THGradCall *call, const THTensor *const *from, int n, THTensor *const *to, int m, void *context) {
    (void)n, (void)m;
    kept_call = call;
    if (context) return 78;
    CHECK_EQ(THGrad_needsGradient(call, 0), 1);
    return THTensor_mul(to[0], from[0], 2);
}

static THStatus twice_backward(THGradCall *call, const THTensor *const *from, int n, THTensor *const *to, int m, void *context) {
    (void)call, (void)n, (void)m, (void)context;
    return THTensor_mul(to[0], from[0], 2);
}

static void a_call_ends_with_its_function(void) {
    THTensor *x = LEAF(1, 2), *y = THTensor_new();
    CHECK_OK(THGrad_apply(&y, 1, &x, 1, keep_call, twice_backward, NULL, NULL));
    CHECK_ERROR(THGrad_save(kept_call, x), TH_ERR_ARGUMENT, "argument 'call' is not the call of a function that runs");
    CHECK(THGrad_newSaved(kept_call, 0) == NULL);
    backward_of_sum(y, 0);
    CHECK_GRAD(x, 2, 2);
    int fails = 1;
    CHECK_EQ(THGrad_apply(&y, 1, &x, 1, keep_call, twice_backward, &fails, NULL), 78);
    CHECK_ERROR(THGrad_save(kept_call, x), TH_ERR_ARGUMENT, "argument 'call'");
    THTensor_free(y);
    THTensor_free(x);
}

static THStatus first_alone(const THTensor *const *inputs, int n, THTensor *const *outputs, int m, void *context) {
    (void)n, (void)m, (void)context;
    THStatus status = THTensor_mul(outputs[0], inputs[0], 2);
    return status ? status : 79;
}

static void a_function_that_fails_leaves_fresh_handles(void) {
    THTensor *x = LEAF(1, 2), *r[] = {THTensor_new(), THTensor_new()};
    CHECK_EQ(THGrad_checkpoint(r, 2, &x, 1, first_alone, NULL, NULL), 79);
    CHECK_EQ(THTensor_nDimension(r[0]), 0);
    CHECK(r[0]->storage == NULL && THTensor_requiresGrad(r[0]) == 0);
    CHECK_ERROR(THGrad_check(&x, 1, 67108864, first_alone, NULL, 1e-6, 1e-5, 1e-3), TH_ERR_ARGUMENT,
                "67108864 results: expected 1 to 65536");
    THTensor_free(r[0]);
    THTensor_free(r[1]);
    THTensor_free(x);
}

/* The gradients of sum(k x_k) with respect to each of many x_k, and of the partial sums. */
static void many_gradients_are_found_at_once(void) {
    int n = (int)shrunk(20000);
    THTensor **inputs = malloc(sizeof *inputs * 2 * n), **r = malloc(sizeof *r * 2 * n);
    for (int k = 0; k < n; k++) {
        inputs[k] = LEAF(1);
        inputs[n + k] = THTensor_new();
        THTensor *term = THTensor_new();
        CHECK_OK(THTensor_mul(term, inputs[k], k));
        CHECK_OK(k ? THTensor_cadd(inputs[n + k], inputs[n + k - 1], 1, term) : THTensor_mul(inputs[n], term, 1));
        THTensor_free(term);
    }
    int room = 2 * n;
    CHECK_OK(THGrad_gradients(r, &room, &inputs[2 * n - 1], NULL, 1, inputs, 2 * n, 0, 0, 0));
    int right = 0;
    for (int k = 0; k < n; k++) right += THTensor_get1d(r[k], 0) == k && THTensor_get1d(r[n + k], 0) == 1;
    CHECK_EQ(right, n);
    for (int k = 0; k < 2 * n; k++) {
        THTensor_free(inputs[k]);
        THTensor_free(r[k]);
    }
    free(inputs);
    free(r);
}

/* Each part of a joined tensor gets its own gradient; a list that is too long for a history is refused. */
static void long_lists_have_gradients(void) {
    int n = (int)shrunk(20000), many = (1 << 16) + 1, right = 0;
    THTensor **parts = malloc(sizeof *parts * many), *r = THTensor_new(), *g = THTensor_newArange(TH_FLOAT64, 0, n, 1);
    for (int k = 0; k < many; k++) parts[k] = k < n ? LEAF(1) : parts[0];
    CHECK_OK(THTensor_catArray(r, parts, n, 0));
    CHECK_OK(THTensor_backward(r, g));
    for (int k = 0; k < n; k++) {
        THTensor *grad = THTensor_newGrad(parts[k]);
        right += grad && THTensor_get1d(grad, 0) == k;
        THTensor_free(grad);
    }
    CHECK_EQ(right, n);
    CHECK_ERROR(THTensor_catArray(r, parts, many, 0), TH_ERR_UNSUPPORTED, "65537 tensors in 'tensors'");
    for (int k = 0; k < n; k++) THTensor_free(parts[k]);
    THTensor_free(g);
    THTensor_free(r);
    free(parts);
}

CHECK_MAIN(CASE(a_gradient_that_has_a_history_can_be_written), CASE(an_expanded_gradient_is_added_to_and_clipped),
           CASE(a_result_may_be_an_operand_of_a_list), CASE(a_checkpoint_may_use_other_leaves), CASE(a_checkpoint_may_use_other_results),
           CASE(what_is_refused_leaves_the_graph), CASE(a_backward_that_failed_can_be_repeated), CASE(a_call_ends_with_its_function),
           CASE(a_function_that_fails_leaves_fresh_handles), CASE(many_gradients_are_found_at_once),
           CASE(long_lists_have_gradients))
