/* Histories of views. For each handle that shows the memory, the gradient is right, or the call that would lose the gradient is refused.
 * Each expected gradient is the derivative of the sum of the final values, computed by hand. */
#include "check.h"

static THTensor *leaf(int64_t count, const double *values) {
    THTensor *t = check_vector(TH_FLOAT64, values, count);
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    return t;
}

#define LEAF(...) leaf(CHECK_COUNT(double, __VA_ARGS__), (const double[]){__VA_ARGS__})

/* `t * value` as a new tensor. */
static THTensor *times(const THTensor *t, double value) {
    THTensor *r = THTensor_new();
    CHECK_OK(THTensor_mul(r, t, value));
    return r;
}

static THTensor *sum_of(const THTensor *t) {
    THTensor *sum = THTensor_new();
    CHECK_OK(THTensor_sum(sum, t, TH_ALL_DIMS, 0));
    return sum;
}

static void backward_of_sum(const THTensor *t) {
    THTensor *sum = sum_of(t);
    CHECK_OK(THTensor_backward(sum, NULL));
    THTensor_free(sum);
}

#define CHECK_GRAD(t, ...)                                                                                             \
    do {                                                                                                               \
        THTensor *grad_ = THTensor_newGrad(t);                                                                         \
        if (CHECK(grad_ != NULL)) CHECK_CLOSE(grad_, 1e-12, __VA_ARGS__);                                              \
        THTensor_free(grad_);                                                                                          \
    } while (0)

static void free_all(int count, THTensor **tensors) {
    for (int k = 0; k < count; k++) THTensor_free(tensors[k]);
}

#define FREE(...) free_all(CHECK_COUNT(THTensor *, __VA_ARGS__), (THTensor *[]){__VA_ARGS__})

static void a_result_that_is_resized_keeps_its_history(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 2);
    CHECK_OK(THTensor_resize1d(y, 2));
    CHECK_OK(THTensor_resizeAs(y, w));
    backward_of_sum(y);
    CHECK_GRAD(w, 2, 2);
    FREE(w, y);

    /* Other sizes of the same elements, and fewer elements. */
    w = LEAF(1, 2, 3, 4), y = times(w, 2);
    CHECK_OK(THTensor_resize2d(y, 2, 2));
    THTensor *row = THTensor_newSelect(y, 0, 1), *more = times(row, 10);
    backward_of_sum(more);
    CHECK_GRAD(w, 0, 0, 20, 20);
    CHECK_OK(THTensor_zeroGrad(w));
    FREE(row, more, y);
    y = times(w, 2);
    CHECK_OK(THTensor_resize1d(y, 3));
    backward_of_sum(y);
    CHECK_GRAD(w, 2, 2, 2, 0);

    /* New elements have no history. */
    CHECK_ERROR(THTensor_resize1d(y, 5), TH_ERR_ARGUMENT, "THTensor_resize1d: argument 't' has a history, and would have elements that are not its own");
    CHECK_SHAPE(y, 3);
    CHECK_VALUES(y, 2, 4, 6);
    CHECK_OK(THTensor_reset(y));
    CHECK_OK(THTensor_resize1d(y, 5));
    CHECK_ERROR(THTensor_resize1d(w, 3), TH_ERR_ARGUMENT, "leaf");
    FREE(w, y);
}

static void flags_of_a_handle_leave_its_history(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 2);
    CHECK_OK(THTensor_setFlag(y, TH_TENSOR_REFCOUNTED));
    THTensor *view = THTensor_newNarrow(y, 0, 0, 1);
    CHECK_OK(THTensor_setFlag(view, TH_TENSOR_REFCOUNTED));
    CHECK_OK(THTensor_mul(view, view, 3));
    backward_of_sum(y);
    CHECK_GRAD(w, 6, 2);
    FREE(w, y, view);
}

static void a_view_that_requires_no_gradient_is_a_view(void) {
    THTensor *w = LEAF(1, 2), *b = THTensor_newZeros(TH_FLOAT64, SIZES(2, 2)), *c = times(w, 3);
    THTensor *v = THTensor_newSelect(b, 0, 0), *u = THTensor_newSelect(b, 0, 1);
    CHECK_OK(THTensor_setRequiresGrad(v, 0));
    CHECK_OK(THTensor_copy(u, c));
    CHECK_OK(THTensor_copy(v, c));
    backward_of_sum(b);
    CHECK_GRAD(w, 6, 6);
    FREE(w, b, c, v, u);
}

static void a_base_whose_history_ended_takes_the_next(void) {
    THTensor *w = LEAF(1, 2), *b = THTensor_newZeros(TH_FLOAT64, SIZES(2, 2)), *c = times(w, 3);
    THTensor *v = THTensor_newSelect(b, 0, 0);
    CHECK_OK(THTensor_copy(v, c));
    CHECK_OK(THTensor_detach(b));
    CHECK_EQ(THTensor_requiresGrad(b), 0);
    CHECK_OK(THTensor_copy(v, c));
    CHECK_EQ(THTensor_requiresGrad(b), 1);
    backward_of_sum(b);
    CHECK_GRAD(w, 3, 3);
    FREE(w, b, c, v);
}

static void views_made_while_recording_is_off_are_not_written_while_it_is_on(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 2);
    CHECK_OK(THGrad_setEnabled(0));
    THTensor *v = THTensor_newSelect(y, 0, 0), *of_leaf = THTensor_newSelect(w, 0, 0);
    CHECK_OK(THGrad_setEnabled(1));
    CHECK_EQ(THTensor_requiresGrad(v), 0);
    CHECK_ERROR(THTensor_fill(v, 0), TH_ERR_ARGUMENT, "THTensor_fill: argument 'r' is a view that was made while recording was off");
    CHECK_ERROR(THTensor_mul(v, v, 5), TH_ERR_ARGUMENT, "between THGrad_setEnabled(0) and THGrad_setEnabled(1)");
    CHECK_ERROR(THTensor_fill(of_leaf, 0), TH_ERR_ARGUMENT, "recording was off");
    THTensor *again = THTensor_newUnsqueeze1d(v, 0);
    CHECK_ERROR(THTensor_fill(again, 0), TH_ERR_ARGUMENT, "recording was off");
    backward_of_sum(y);
    CHECK_GRAD(w, 2, 2);
    FREE(w, y, v, of_leaf, again);

    /* Views of a tensor without a history. */
    THTensor *b = THTensor_newZeros(TH_FLOAT64, SIZES(2));
    w = LEAF(1), y = times(w, 7);
    CHECK_OK(THGrad_setEnabled(0));
    v = THTensor_newNarrow(b, 0, 1, 1);
    CHECK_OK(THGrad_setEnabled(1));
    CHECK_OK(THTensor_copy(v, y));
    backward_of_sum(b);
    CHECK_GRAD(w, 7);
    FREE(w, y, v, b);
}

static void writes_to_a_detached_handle_reach_the_tensor(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 2), *d = THTensor_newDetach(y), *c = times(w, 5);
    CHECK_EQ(THTensor_requiresGrad(d), 0);
    THTensor *first = THTensor_newNarrow(d, 0, 0, 1), *one = THTensor_newNarrow(c, 0, 0, 1);
    CHECK_EQ(THTensor_requiresGrad(first), 0);
    CHECK_OK(THTensor_copy(first, one));
    backward_of_sum(y);
    CHECK_GRAD(w, 5, 2);
    CHECK_EQ(THTensor_requiresGrad(d), 0);
    FREE(w, y, d, c, first, one);

    /* A constant that is written has the gradient 0. */
    w = LEAF(1, 2), y = times(w, 2), d = THTensor_newDetach(y), first = THTensor_newNarrow(d, 0, 0, 1);
    CHECK_OK(THTensor_fill(first, 0));
    backward_of_sum(y);
    CHECK_GRAD(w, 0, 2);
    CHECK_OK(THTensor_fill(d, 0));
    CHECK_EQ(THTensor_requiresGrad(y), 0);
    FREE(w, y, d, first);

    /* Writing to a leaf through the detached handle is allowed: the leaf stays a leaf. */
    w = LEAF(1, 2), d = THTensor_newDetach(w);
    CHECK_OK(THTensor_fill(d, 4));
    y = THTensor_new();
    CHECK_OK(THTensor_cmul(y, w, w));
    backward_of_sum(y);
    CHECK_GRAD(w, 8, 8);
    FREE(w, y, d);
}

static void views_of_a_storage_are_made_of_the_tensor(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 2);
    CHECK_FAILURE(THTensor_newWithStorage1d(y->storage, 0, 2, 1) == NULL, TH_ERR_ARGUMENT, "call THTensor_newAsStrided of the tensor");
    THTensor *t = THTensor_new();
    CHECK_ERROR(THTensor_setStorage1d(t, y->storage, 0, 2, 1), TH_ERR_ARGUMENT, "THTensor_newAsStrided");
    THTensor *v = THTensor_newAsStrided(y, 2, (int64_t[]){2, 2}, (int64_t[]){0, 1}, 0), *r = THTensor_new();
    CHECK_SHAPE(v, 2, 2);
    CHECK_VALUES(v, 2, 4, 2, 4);
    CHECK_OK(THTensor_cadd(r, v, 1, y));
    backward_of_sum(r);
    CHECK_GRAD(w, 8, 8);
    FREE(t, v, r);
    CHECK_FAILURE(THTensor_newAsStrided(y, 1, (int64_t[]){3}, (int64_t[]){1}, 0) == NULL, TH_ERR_SHAPE, "beyond the storage");
    CHECK_FAILURE(THTensor_newAsStrided(y, 1, (int64_t[]){1}, (int64_t[]){-1}, 0) == NULL, TH_ERR_ARGUMENT, "stride -1");

    /* A handle with a new geometry over its own storage. */
    CHECK_OK(THTensor_setStorage1d(y, y->storage, 1, 1, 1));
    CHECK_OK(THTensor_zeroGrad(w));
    y = (FREE(y), times(w, 2));
    CHECK_OK(THTensor_setStorage1d(y, y->storage, 1, 1, 1));
    backward_of_sum(y);
    CHECK_GRAD(w, 0, 2);
    FREE(w, y);

    /* Tensors made from a storage whose tensors have no history: their relation to the others is unknown. */
    THTensor *b = THTensor_newZeros(TH_FLOAT64, SIZES(2)), *u = THTensor_newWithStorage1d(b->storage, 0, 2, 1);
    w = LEAF(1, 2), y = times(w, 3);
    CHECK_ERROR(THTensor_copy(b, y), TH_ERR_ARGUMENT, "cannot take a recorded result, because a storage that the program holds");
    CHECK_VALUES(b, 0, 0);
    FREE(u);
    CHECK_OK(THTensor_copy(b, y));
    backward_of_sum(b);
    CHECK_GRAD(w, 3, 3);
    FREE(w, y, b);
}

static void views_of_strides_are_views_of_the_base(void) {
    THTensor *w = LEAF(1, 2, 3, 4), *y = times(w, 2), *last = THTensor_newNarrow(y, 0, 2, 2);
    /* Elements of the base that are not part of the view. */
    THTensor *v = THTensor_newAsStrided(last, 1, (int64_t[]){2}, (int64_t[]){3}, 0);
    CHECK_VALUES(v, 2, 8);
    backward_of_sum(v);
    CHECK_GRAD(w, 2, 0, 0, 2);
    FREE(w, y, last, v);
    /* Elements of the storage that are not part of the base. */
    THTensor *all = THTensor_newZeros(TH_FLOAT64, SIZES(4)), *part = THTensor_newNarrow(all, 0, 0, 2), *copy = THTensor_newDetach(part);
    CHECK_OK(THTensor_setRequiresGrad(copy, 1));
    CHECK_FAILURE(THTensor_newAsStrided(copy, 1, (int64_t[]){4}, (int64_t[]){1}, 0) == NULL, TH_ERR_UNSUPPORTED, "THTensor_newAsStrided: ");
    FREE(all, part, copy);
}

static THStatus ten_times(const THTensor *gradient, THTensor **replacement, void *calls) {
    ++*(int *)calls;
    *replacement = times(gradient, 10);
    return TH_OK;
}

static void gradients_of_views_of_views_go_through_the_views(void) {
    THTensor *x = LEAF(1, 2, 3), *v = THTensor_newUnsqueeze1d(x, 0), *u = THTensor_newSqueeze(v), *square = THTensor_new(), *found[1];
    int calls = 0, count = 1;
    CHECK(THTensor_addHook(v, ten_times, &calls, NULL) >= 0);
    CHECK_OK(THTensor_retainGrad(v));
    CHECK_OK(THTensor_cmul(square, u, u));
    backward_of_sum(square);
    CHECK_EQ(calls, 1);
    CHECK_GRAD(x, 20, 40, 60);
    FREE(v, u);

    v = THTensor_newUnsqueeze1d(x, 0), u = THTensor_newSqueeze(v);
    CHECK_OK(THTensor_cmul(square, u, u));
    THTensor *sum = sum_of(square);
    CHECK_OK(THGrad_gradients(found, &count, &sum, NULL, 1, &v, 1, 0, 0, 0));
    CHECK_SHAPE(found[0], 1, 3);
    CHECK_VALUES(found[0], 2, 4, 6);
    FREE(x, v, u, square, sum, found[0]);
}

static void a_view_that_was_written_shows_its_base(void) {
    THTensor *w = LEAF(1, 2), *b = times(w, 2), *v = THTensor_newNarrow(b, 0, 0, 1), *found[1];
    int count = 1;
    CHECK_OK(THTensor_mul(v, v, 3));
    THTensor *sum = sum_of(v);
    CHECK_OK(THGrad_gradients(found, &count, &sum, NULL, 1, &b, 1, 1, 0, 0));
    CHECK_VALUES(found[0], 1, 0);
    CHECK_OK(THTensor_backward(sum, NULL));
    CHECK_GRAD(w, 6, 0);
    FREE(w, b, v, sum, found[0]);
}

/* A leaf that is a view: the base of the view depends on the leaf. */
static void a_base_depends_on_a_leaf_that_is_its_view(void) {
    THTensor *all = THTensor_newOnes(TH_FLOAT64, SIZES(4)), *w = THTensor_newNarrow(all, 0, 1, 2), *r = times(all, 3);
    CHECK_EQ(THTensor_requiresGrad(r), 0);
    CHECK_OK(THTensor_setRequiresGrad(w, 1));
    CHECK_EQ(THTensor_isLeaf(w), 1);
    CHECK_OK(THTensor_mul(r, all, 3));
    backward_of_sum(r);
    CHECK_GRAD(w, 3, 3);
    CHECK_ERROR(THTensor_fill(all, 0), TH_ERR_ARGUMENT, "shares its elements with a leaf");
    CHECK_VALUES(all, 1, 1, 1, 1);
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_OK(THTensor_fill(all, 2));
    CHECK_OK(THGrad_setEnabled(1));
    FREE(all, w, r);
}

static void writes_to_storages_are_counted(void) {
    THTensor *x = THTensor_newOnes(TH_FLOAT64, SIZES(2)), *w = LEAF(1, 2), *r = THTensor_new();
    THStorage *other = THStorage_newWithSize2(TH_FLOAT64, 5, 6);
    for (int k = 0; k < 5; k++) {
        CHECK_OK(THTensor_cmul(r, w, x));
        int64_t before = THTensor_version(x);
        if (k == 0) CHECK_OK(THStorage_fill(x->storage, 7));
        if (k == 1) CHECK_OK(THStorage_set(x->storage, 0, 100));
        if (k == 2) CHECK_OK(THStorage_copy(x->storage, other));
        if (k == 3) CHECK_OK(THStorage_rawCopy(x->storage, THStorage_data(other)));
        if (k == 4) CHECK_OK(THStorage_swap(x->storage, other));
        CHECK_EQ(THTensor_version(x), before + 1);
        THTensor *sum = sum_of(r);
        CHECK_ERROR(THTensor_backward(sum, NULL), TH_ERR_ARGUMENT, "was changed in place");
        THTensor_free(sum);
    }
    /* If the elements have a history, the gradient would be wrong. */
    THTensor *y = times(w, 2);
    CHECK_ERROR(THStorage_fill(y->storage, 7), TH_ERR_ARGUMENT, "THStorage_fill: the storage has elements of a tensor that requires a gradient");
    CHECK_ERROR(THStorage_set(w->storage, 0, 7), TH_ERR_ARGUMENT, "would be changed");
    CHECK_VALUES(y, 2, 4);
    CHECK_OK(THGrad_setEnabled(0));
    CHECK_OK(THStorage_set(w->storage, 0, 7));
    CHECK_OK(THGrad_setEnabled(1));
    THStorage_free(other);
    FREE(x, w, r, y);
}

/* A handle gets other sizes or other memory as a result, while views of its old elements exist. */
static void a_handle_that_changes_its_sizes_has_its_views(void) {
    THTensor *w = LEAF(1, 2), *b = THTensor_newZeros(TH_FLOAT64, SIZES(2)), *v = THTensor_newNarrow(b, 0, 0, 2), *c = times(w, 3);
    THTensor *wide = THTensor_newOnes(TH_FLOAT64, SIZES(3, 2)), *row;
    CHECK_OK(THTensor_add(b, wide, 1));
    CHECK(b->storage == v->storage);
    CHECK_OK(THTensor_copy(v, c));
    backward_of_sum(b);
    CHECK_GRAD(w, 3, 3);
    row = THTensor_newSelect(b, 0, 1);
    CHECK_OK(THTensor_copy(row, c));
    CHECK_OK(THTensor_zeroGrad(w));
    backward_of_sum(b);
    CHECK_GRAD(w, 6, 6);
    /* Other memory. */
    CHECK_OK(THTensor_reset(b));
    CHECK_OK(THTensor_add(b, wide, 1));
    CHECK_OK(THTensor_copy(v, c));
    CHECK_EQ(THTensor_requiresGrad(b), 0);
    FREE(w, b, v, c, wide, row);

    /* A result that grows over elements of a view. */
    w = LEAF(1, 2), b = times(w, 2), v = THTensor_newNarrow(b, 0, 0, 1), wide = THTensor_newOnes(TH_FLOAT64, SIZES(3, 2)), row = THTensor_new();
    CHECK_OK(THTensor_cmul(b, wide, w));
    if (b->storage == v->storage) CHECK_ERROR(THTensor_mul(row, v, 2), TH_ERR_ARGUMENT, "make the tensor or its view anew");
    backward_of_sum(b);
    CHECK_GRAD(w, 3, 3);
    FREE(w, b, v, wide, row);
}

/* Leaves that are views of one tensor, contiguous or interleaved, are independent of each other. */
static void leaves_may_be_views_of_one_tensor(void) {
    for (int step = 1; step < 3; step++) {
        THTensor *all = THTensor_newOnes(TH_FLOAT64, SIZES(6)), *half[2], *other = THTensor_newNarrow(all, 0, 5, 1), *r = THTensor_new();
        for (int k = 0; k < 2; k++) {
            half[k] = step == 1 ? THTensor_newNarrow(all, 0, 2 * k, 2) : THTensor_newSlice(all, 0, k, 4, 2);
            CHECK_OK(THTensor_setRequiresGrad(half[k], 1));
            CHECK_EQ(THTensor_isLeaf(half[k]), 1);
        }
        CHECK_EQ(THTensor_requiresGrad(other), 0);
        CHECK_OK(THTensor_cmul(r, half[0], half[1]));
        backward_of_sum(r);
        CHECK_OK(THTensor_mul(r, all, 5));
        backward_of_sum(r);
        for (int k = 0; k < 2; k++) CHECK_GRAD(half[k], 6, 6);
        CHECK_OK(THTensor_fill(other, 3));
        CHECK_ERROR(THTensor_fill(all, 3), TH_ERR_ARGUMENT, "shares its elements with a leaf");
        FREE(all, half[0], half[1], other, r);
    }
}

/* A leaf of one element in 4 positions. Gradients of positions are apart. */
static THTensor *one_in_four(void) {
    double half = 0.5;
    THTensor *one = check_vector(TH_FLOAT64, &half, 1);
    THTensor *t = THTensor_newExpand(one, 2, (int64_t[]){2, 2});
    CHECK_OK(THTensor_setRequiresGrad(t, 1));
    THTensor_free(one);
    return t;
}

static THTensor *matrix(int64_t rows, int64_t columns, const double *values) {
    THTensor *t = check_vector(TH_FLOAT64, values, rows * columns);
    CHECK_OK(THTensor_resize2d(t, rows, columns));
    return t;
}

/* The gradient of the sum of `view * factors`. */
static void backward_of_product(const THTensor *view, const THTensor *factors) {
    THTensor *product = THTensor_new();
    CHECK_OK(THTensor_cmul(product, view, factors));
    backward_of_sum(product);
    THTensor_free(product);
}

static void views_of_positions_that_share_elements_keep_them_apart(void) {
    THTensor *factors = matrix(2, 2, (const double[]){1, 2, 3, 4}), *row = THTensor_newSelect(factors, 0, 0);
    THTensor *list = THTensor_newView(factors, 1, (int64_t[]){4});
    THTensor *c = one_in_four(), *view = THTensor_newT(c);
    backward_of_product(view, factors);
    CHECK_GRAD(c, 1, 3, 2, 4);
    THTensor_free(view);

    CHECK_OK(THTensor_zeroGrad(c));
    view = THTensor_newSelect(c, 1, 1);
    backward_of_product(view, row);
    CHECK_GRAD(c, 0, 1, 0, 2);
    THTensor_free(view);

    CHECK_OK(THTensor_zeroGrad(c));
    view = THTensor_newReshape(c, 1, (int64_t[]){4});
    CHECK_SHAPE(view, 4);
    backward_of_product(view, list);
    CHECK_GRAD(c, 1, 2, 3, 4);
    THTensor_free(view);

    /* Into a handle, and a view of the view. */
    CHECK_OK(THTensor_zeroGrad(c));
    view = THTensor_new();
    CHECK_OK(THTensor_transpose(view, c, 0, 1));
    THTensor *part = THTensor_newNarrow(view, 1, 1, 1), *column = THTensor_newNarrow(factors, 1, 0, 1);
    backward_of_product(part, column);
    CHECK_GRAD(c, 0, 0, 1, 3);
    FREE(view, part);

    CHECK_OK(THTensor_zeroGrad(c));
    THTensor *parts[2];
    int count = 2;
    CHECK_OK(THTensor_split(parts, &count, c, 1, 1));
    CHECK_EQ(count, 2);
    backward_of_product(parts[1], column);
    CHECK_GRAD(c, 0, 1, 0, 3);
    FREE(parts[0], parts[1], column, c, list, row, factors);
}

static THStatus note_gradient(const THTensor *grad, THTensor **replacement, void *context) {
    (void)replacement;
    return THTensor_copy(context, grad);
}

static void hooks_of_an_expanded_result_see_the_gradients_of_its_views(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 1), *expanded = THTensor_newExpand(y, 2, (int64_t[]){2, 2});
    THTensor *seen = THTensor_new(), *factors = matrix(2, 2, (const double[]){1, 2, 3, 4});
    CHECK_OK(THTensor_resize2d(seen, 2, 2));
    CHECK(THTensor_addHook(expanded, note_gradient, seen, NULL) >= 0);
    THTensor *view = THTensor_newT(expanded);
    backward_of_product(view, factors);
    CHECK_VALUES(seen, 1, 3, 2, 4);
    CHECK_GRAD(w, 3, 7);
    FREE(w, y, expanded, seen, factors, view);
}

/* g = d/dx sum((c x)^2) = 2 c' c x; the derivatives of g[0][0] by the positions of c are 2 ((c x)[i][0] [k = 0] + c[i][0] x[k][0]). */
static void second_derivatives_tell_positions_that_share_elements_apart(void) {
    THTensor *c = one_in_four(), *x = matrix(2, 2, (const double[]){1, 2, 3, 4});
    CHECK_OK(THTensor_setRequiresGrad(x, 1));
    THTensor *y = THTensor_new(), *square = THTensor_new();
    CHECK_OK(THTensor_mm(y, c, x));
    CHECK_OK(THTensor_cmul(square, y, y));
    THTensor *sum = sum_of(square), *g = NULL, *dc = NULL;
    int count = 1;
    CHECK_OK(THGrad_gradients(&g, &count, &sum, NULL, 1, &x, 1, 1, 1, 0));
    THTensor *first = THTensor_newSelect(g, 0, 0), *entry = THTensor_newSelect(first, 0, 0);
    count = 1;
    CHECK_OK(THGrad_gradients(&dc, &count, &entry, NULL, 1, &c, 1, 0, 0, 0));
    CHECK_CLOSE(dc, 1e-12, 5, 3, 5, 3);
    FREE(c, x, y, square, sum, g, first, entry, dc);
}

/* The view does not know which positions of the later leaf it shows. */
static void a_view_from_before_a_leaf_of_shared_positions_is_refused(void) {
    double half = 0.5;
    THTensor *one = check_vector(TH_FLOAT64, &half, 1);
    THTensor *c = THTensor_newExpand(one, 2, (int64_t[]){2, 2}), *view = THTensor_newT(c), *r = THTensor_new();
    CHECK_OK(THTensor_setRequiresGrad(c, 1));
    CHECK_OK(THTensor_mul(r, view, 2));
    THTensor *sum = sum_of(r);
    CHECK_ERROR(THTensor_backward(sum, NULL), TH_ERR_UNSUPPORTED, "has no gradient where positions of the leaf share elements");
    CHECK(THTensor_newGrad(c) == NULL);
    FREE(one, c, view, r, sum);
}

static void a_kept_gradient_is_a_sum_until_it_is_cleared(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 2);
    CHECK_OK(THTensor_retainGrad(y));
    THTensor *sum = sum_of(y);
    CHECK_OK(THGrad_backward(&sum, NULL, 1, 1, 0));
    CHECK_GRAD(y, 1, 1);
    CHECK_OK(THGrad_backward(&sum, NULL, 1, 1, 0));
    CHECK_GRAD(y, 2, 2);
    CHECK_OK(THTensor_zeroGrad(y));
    CHECK_GRAD(y, 0, 0);
    CHECK_OK(THTensor_setGrad(y, NULL));
    CHECK(THTensor_newGrad(y) == NULL);
    CHECK_OK(THGrad_backward(&sum, NULL, 1, 0, 0));
    CHECK_GRAD(y, 1, 1);
    CHECK_GRAD(w, 6, 6);
    FREE(w, y, sum);
}

static void a_kept_gradient_is_that_of_the_new_values_after_a_write(void) {
    THTensor *w = LEAF(1, 2), *y = times(w, 2);
    CHECK_OK(THTensor_retainGrad(y));
    CHECK_OK(THTensor_mul(y, y, 3));
    backward_of_sum(y);
    CHECK_GRAD(y, 1, 1);
    CHECK_GRAD(w, 6, 6);
    FREE(w, y);

    /* A write through a view. */
    w = LEAF(1, 2), y = times(w, 2);
    CHECK_OK(THTensor_retainGrad(y));
    THTensor *first = THTensor_newNarrow(y, 0, 0, 1);
    CHECK_OK(THTensor_mul(first, first, 3));
    THTensor *r = times(y, 5);
    backward_of_sum(r);
    CHECK_GRAD(y, 5, 5);
    CHECK_GRAD(w, 30, 10);
    FREE(w, y, first, r);
}

static void hooks_of_a_leaf_see_the_gradient_that_is_asked_for(void) {
    THTensor *w = LEAF(1, 2), *other = LEAF(3, 4), *y = THTensor_new();
    int calls = 0, others = 0, count = 1;
    CHECK(THTensor_addHook(w, ten_times, &calls, NULL) >= 0);
    CHECK(THTensor_addHook(other, ten_times, &others, NULL) >= 0);
    CHECK_OK(THTensor_cmul(y, w, other));
    CHECK_OK(THTensor_cadd(y, y, 1, w));
    THTensor *sum = sum_of(y), *grad = NULL;
    CHECK_OK(THGrad_gradients(&grad, &count, &sum, NULL, 1, &w, 1, 0, 0, 0));
    CHECK_VALUES(grad, 40, 50);
    CHECK_EQ(calls, 1);
    CHECK_EQ(others, 0);
    CHECK(THTensor_newGrad(w) == NULL);
    FREE(w, other, y, sum, grad);
}

CHECK_MAIN(CASE(a_result_that_is_resized_keeps_its_history), CASE(flags_of_a_handle_leave_its_history),
           CASE(a_view_that_requires_no_gradient_is_a_view), CASE(a_base_whose_history_ended_takes_the_next),
           CASE(views_made_while_recording_is_off_are_not_written_while_it_is_on), CASE(writes_to_a_detached_handle_reach_the_tensor),
           CASE(views_of_a_storage_are_made_of_the_tensor), CASE(views_of_strides_are_views_of_the_base),
           CASE(gradients_of_views_of_views_go_through_the_views), CASE(a_view_that_was_written_shows_its_base),
           CASE(a_base_depends_on_a_leaf_that_is_its_view), CASE(writes_to_storages_are_counted),
           CASE(a_handle_that_changes_its_sizes_has_its_views), CASE(leaves_may_be_views_of_one_tensor),
           CASE(views_of_positions_that_share_elements_keep_them_apart),
           CASE(hooks_of_an_expanded_result_see_the_gradients_of_its_views),
           CASE(second_derivatives_tell_positions_that_share_elements_apart),
           CASE(a_view_from_before_a_leaf_of_shared_positions_is_refused), CASE(a_kept_gradient_is_a_sum_until_it_is_cleared),
           CASE(a_kept_gradient_is_that_of_the_new_values_after_a_write), CASE(hooks_of_a_leaf_see_the_gradient_that_is_asked_for))
