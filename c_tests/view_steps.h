/* The steps of a chain: view operations, made by the library and, one element at a time, on the model. */

#ifndef VIEW_STEPS_H
#define VIEW_STEPS_H

#include "view_chain.h"

/* Replaces the tensor by the view. NULL is a failure. */
static void take(struct chain *c, THTensor *view) {
    if (!CHECK(view != NULL)) return;
    THTensor_free(c->t);
    c->t = view;
}

/* Returns the tensor itself, which a call changed in place. */
static THTensor *changed(struct chain *c, THStatus status) {
    if (!CHECK_OK(status)) return NULL;
    THTensor_retain(c->t);
    return c->t;
}

/* A view operation in one of its two forms. */
#define STEP(c, into, make, ...)                                                                                       \
    take(c, one_in(2) ? changed(c, into((c)->t, (c)->t, __VA_ARGS__)) : make((c)->t, __VA_ARGS__))

/* `dim`, or the same counted from the end. */
static int either_sign(int dim, int ndim) { return one_in(3) ? dim - ndim : dim; }

static int random_dim(const struct chain *c) { return (int)between(0, c->model.ndim - 1); }

static void from_narrow(const struct model *m, const int64_t *a, const int64_t *index, int64_t *from) {
    memcpy(from, index, m->ndim * sizeof *from);
    from[a[0]] += a[1];
}

static void model_narrow(struct model *m, int dim, int64_t first, int64_t length) {
    int64_t size[MAX_DIMS], arguments[] = {dim, first};
    memcpy(size, m->size, sizeof size);
    size[dim] = length;
    model_view(m, m->ndim, size, from_narrow, arguments);
}

static void step_narrow(struct chain *c) {
    if (c->model.ndim == 0) return;
    int dim = random_dim(c);
    int64_t n = c->model.size[dim], first = between(0, n), length = between(0, n - first);
    if (length == 0 && !one_in(5)) return;
    note(c, ", narrow %d %d %d", dim, (int)first, (int)length);
    int64_t signed_first = first < n && one_in(3) ? first - n : first;
    STEP(c, THTensor_narrow, THTensor_newNarrow, either_sign(dim, c->model.ndim), signed_first, length);
    model_narrow(&c->model, dim, first, length);
}

static void from_select(const struct model *m, const int64_t *a, const int64_t *index, int64_t *from) {
    for (int d = 0; d < m->ndim; d++) from[d] = d < a[0] ? index[d] : d == a[0] ? a[1] : index[d - 1];
}

static void model_select(struct model *m, int dim, int64_t at) {
    int64_t size[MAX_DIMS], arguments[] = {dim, at};
    for (int d = 0; d < m->ndim - 1; d++) size[d] = m->size[d < dim ? d : d + 1];
    model_view(m, m->ndim - 1, size, from_select, arguments);
}

static void step_select(struct chain *c) {
    if (c->model.ndim == 0) return;
    int dim = random_dim(c);
    int64_t n = c->model.size[dim], at = between(0, n);
    if (at == n) return;
    note(c, ", select %d %d", dim, (int)at);
    int64_t signed_at = one_in(3) ? at - n : at;
    STEP(c, THTensor_select, THTensor_newSelect, either_sign(dim, c->model.ndim), signed_at);
    model_select(&c->model, dim, at);
}

static void from_slice(const struct model *m, const int64_t *a, const int64_t *index, int64_t *from) {
    memcpy(from, index, m->ndim * sizeof *from);
    from[a[0]] = a[1] + index[a[0]] * a[2];
}

static void step_slice(struct chain *c) {
    if (c->model.ndim == 0) return;
    int dim = random_dim(c);
    int64_t n = c->model.size[dim], start = between(0, n), end = between(0, n + 2), step = between(1, 3);
    int64_t size[MAX_DIMS], arguments[] = {dim, start, step};
    memcpy(size, c->model.size, sizeof size);
    size[dim] = 0;
    for (int64_t i = start; i < end && i < n; i += step) size[dim]++;
    if (size[dim] == 0 && !one_in(5)) return;
    note(c, ", slice %d %d:%d:%d", dim, (int)start, (int)end, (int)step);
    int64_t signed_end = end < n && one_in(3) ? end - n : end;
    STEP(c, THTensor_slice, THTensor_newSlice, either_sign(dim, c->model.ndim), start, signed_end, step);
    model_view(&c->model, c->model.ndim, size, from_slice, arguments);
}

static void from_permute(const struct model *m, const int64_t *a, const int64_t *index, int64_t *from) {
    for (int d = 0; d < m->ndim; d++) from[a[d]] = index[d];
}

static void model_permute(struct model *m, const int64_t *dims) {
    int64_t size[MAX_DIMS];
    for (int d = 0; d < m->ndim; d++) size[d] = m->size[dims[d]];
    model_view(m, m->ndim, size, from_permute, dims);
}

static void step_transpose(struct chain *c) {
    if (c->model.ndim == 0) return;
    int a = random_dim(c), b = random_dim(c), ndim = c->model.ndim;
    int64_t dims[MAX_DIMS];
    for (int d = 0; d < ndim; d++) dims[d] = d == a ? b : d == b ? a : d;
    note(c, ", transpose %d %d", a, b);
    if (ndim == 2 && a != b && one_in(2)) {
        take(c, one_in(2) ? changed(c, THTensor_t(c->t, c->t)) : THTensor_newT(c->t));
    } else {
        int signed_a = either_sign(a, ndim);
        STEP(c, THTensor_transpose, THTensor_newTranspose, signed_a, either_sign(b, ndim));
    }
    model_permute(&c->model, dims);
}

static void step_permute(struct chain *c) {
    int ndim = c->model.ndim;
    int64_t dims[MAX_DIMS], signed_dims[MAX_DIMS];
    shuffle(ndim, dims);
    note(c, ", permute");
    for (int d = 0; d < ndim; d++) {
        note(c, " %d", (int)dims[d]);
        signed_dims[d] = either_sign((int)dims[d], ndim);
    }
    STEP(c, THTensor_permute, THTensor_newPermute, ndim, signed_dims);
    model_permute(&c->model, dims);
}

static void from_unfold(const struct model *m, const int64_t *a, const int64_t *index, int64_t *from) {
    memcpy(from, index, m->ndim * sizeof *from);
    from[a[0]] = index[a[0]] * a[1] + index[m->ndim];
}

static void step_unfold(struct chain *c) {
    if (c->model.ndim == 0 || c->model.ndim == MAX_DIMS) return;
    int dim = random_dim(c), ndim = c->model.ndim;
    int64_t n = c->model.size[dim], window = between(0, n), step = between(1, 3), size[MAX_DIMS];
    if (window == 0 && !one_in(8)) return;
    memcpy(size, c->model.size, sizeof size);
    size[dim] = 0;
    for (int64_t first = 0; first + window <= n; first += step) size[dim]++;
    size[ndim] = window;
    if (product(ndim + 1, size) > MAX_ELEMENTS) return;
    note(c, ", unfold %d %d %d", dim, (int)window, (int)step);
    STEP(c, THTensor_unfold, THTensor_newUnfold, either_sign(dim, ndim), window, step);
    model_view(&c->model, ndim + 1, size, from_unfold, (const int64_t[]){dim, step});
}

static void step_squeeze(struct chain *c) {
    int ndim = 0;
    int64_t size[MAX_DIMS];
    for (int d = 0; d < c->model.ndim; d++) {
        if (c->model.size[d] != 1) size[ndim++] = c->model.size[d];
    }
    note(c, ", squeeze");
    take(c, one_in(2) ? changed(c, THTensor_squeeze(c->t, c->t)) : THTensor_newSqueeze(c->t));
    model_reshape(&c->model, ndim, size);
}

static void step_squeeze_dim(struct chain *c) {
    if (c->model.ndim == 0) return;
    int dim = random_dim(c);
    note(c, ", squeeze1d %d", dim);
    STEP(c, THTensor_squeeze1d, THTensor_newSqueeze1d, either_sign(dim, c->model.ndim));
    if (c->model.size[dim] == 1) model_select(&c->model, dim, 0);
}

static void step_unsqueeze(struct chain *c) {
    if (c->model.ndim == MAX_DIMS) return;
    int dim = (int)between(0, c->model.ndim), ndim = c->model.ndim + 1;
    int64_t size[MAX_DIMS];
    for (int d = 0; d < ndim; d++) size[d] = d < dim ? c->model.size[d] : d == dim ? 1 : c->model.size[d - 1];
    note(c, ", unsqueeze1d %d", dim);
    STEP(c, THTensor_unsqueeze1d, THTensor_newUnsqueeze1d, either_sign(dim, ndim));
    model_reshape(&c->model, ndim, size);
}

/* Other sizes for the same number of elements: neighbours merged, then some split in two, and ones inserted. */
static int random_sizes(const struct model *m, int64_t *size) {
    int ndim = 0;
    for (int d = 0; d < m->ndim; d++) {
        if (ndim > 0 && one_in(2)) {
            size[ndim - 1] *= m->size[d];
        } else {
            size[ndim++] = m->size[d];
        }
    }
    for (int d = 0; d < ndim && ndim < MAX_DIMS; d++) {
        int64_t part = between(1, 4);
        if (size[d] % part != 0 || one_in(2)) continue;
        memmove(size + d + 1, size + d, (ndim - d) * sizeof *size);
        size[d] = part;
        size[d + 1] /= part;
        ndim++;
    }
    return ndim;
}

/* Replaces one size by -1, to be found by the library, unless a size is 0. */
static void forget_one(int ndim, int64_t *size) {
    if (ndim > 0 && product(ndim, size) > 0 && one_in(3)) size[between(0, ndim - 1)] = -1;
}

/* A view exists exactly if strides reach the elements in their order. */
static void step_view(struct chain *c) {
    static struct model wanted;
    int64_t size[MAX_DIMS], asked[MAX_DIMS], stride[MAX_DIMS];
    int ndim = random_sizes(&c->model, size);
    memcpy(asked, size, sizeof size);
    forget_one(ndim, asked);
    wanted = c->model;
    model_reshape(&wanted, ndim, size);
    note(c, ", view");
    for (int d = 0; d < ndim; d++) note(c, " %d", (int)asked[d]);
    if (wanted.count == 0 || model_strides(&wanted, stride)) {
        STEP(c, THTensor_view, THTensor_newView, ndim, asked);
        model_reshape(&c->model, ndim, size);
    } else {
        CHECK_FAILURE(THTensor_newView(c->t, ndim, asked) == NULL, TH_ERR_SHAPE, "call newReshape, or newContiguous before");
        CHECK_ERROR(THTensor_view(c->t, c->t, ndim, asked), TH_ERR_SHAPE, "call newReshape, or newContiguous before");
    }
}

/* If a view exists, continues with `t`, which must be the view. Otherwise `t` must be a copy: checks its elements and
 * frees it. */
static void view_or_copy(struct chain *c, THTensor *t, int ndim, const int64_t *size) {
    static struct model wanted;
    int64_t stride[MAX_DIMS];
    wanted = c->model;
    model_reshape(&wanted, ndim, size);
    if (wanted.count == 0 || model_strides(&wanted, stride)) {
        take(c, t);
        model_reshape(&c->model, ndim, size);
        return;
    }
    static double expected[MAX_ELEMENTS];
    for (int64_t i = 0; i < c->model.count; i++) expected[i] = chain_value(c, i);
    CHECK(THTensor_storage(t) != c->store->storage);
    CHECK(THTensor_isContiguous(t));
    check_elements(t, ndim, size, expected);
    THTensor_free(t);
}

static void step_reshape(struct chain *c) {
    int64_t size[MAX_DIMS], asked[MAX_DIMS];
    int ndim = random_sizes(&c->model, size);
    memcpy(asked, size, sizeof size);
    forget_one(ndim, asked);
    note(c, ", reshape");
    for (int d = 0; d < ndim; d++) note(c, " %d", (int)asked[d]);
    view_or_copy(c, THTensor_newReshape(c->t, ndim, asked), ndim, size);
}

static void step_flatten(struct chain *c) {
    if (c->model.ndim == 0) return;
    int start = random_dim(c), end = (int)between(start, c->model.ndim - 1), ndim = 0;
    int64_t size[MAX_DIMS];
    for (int d = 0; d < c->model.ndim; d++) {
        if (d > start && d <= end) {
            size[ndim - 1] *= c->model.size[d];
        } else {
            size[ndim++] = c->model.size[d];
        }
    }
    note(c, ", flatten %d %d", start, end);
    int from = either_sign(start, c->model.ndim), to = either_sign(end, c->model.ndim);
    view_or_copy(c, THTensor_newFlatten(c->t, from, to), ndim, size);
}

static void from_expand(const struct model *m, const int64_t *a, const int64_t *index, int64_t *from) {
    for (int d = 0; d < m->ndim; d++) from[d] = m->size[d] == 1 ? 0 : index[d + a[0]];
}

static void step_expand(struct chain *c) {
    int extra = c->model.ndim < MAX_DIMS && one_in(2), ndim = c->model.ndim + extra;
    int64_t size[MAX_DIMS], asked[MAX_DIMS];
    if (extra) size[0] = between(0, 3);
    for (int d = 0; d < c->model.ndim; d++) {
        size[extra + d] = c->model.size[d] == 1 && one_in(2) ? between(0, 4) : c->model.size[d];
    }
    if (product(ndim, size) > MAX_ELEMENTS || (product(ndim, size) == 0 && !one_in(5))) return;
    note(c, ", expand");
    for (int d = 0; d < ndim; d++) {
        note(c, " %d", (int)size[d]);
        asked[d] = d >= extra && size[d] == c->model.size[d - extra] && one_in(2) ? -1 : size[d];
    }
    STEP(c, THTensor_expand, THTensor_newExpand, ndim, asked);
    model_view(&c->model, ndim, size, from_expand, (const int64_t[]){extra});
}

/* Continues with one of a list of pieces, and frees the others. */
static void take_piece(struct chain *c, THTensor **pieces, int count, int64_t which) {
    for (int i = 0; i < count; i++) {
        if (i != which) THTensor_free(pieces[i]);
    }
    take(c, pieces[which]);
}

/* Splits into pieces of a given size, or into the number of pieces that gives this size. */
static void step_split(struct chain *c) {
    if (c->model.ndim == 0) return;
    int dim = random_dim(c), signed_dim = either_sign(dim, c->model.ndim), count = MAX_ELEMENTS;
    int64_t n = c->model.size[dim], size = between(1, 4), chunks = between(1, 4);
    if (n == 0) return;
    THTensor *pieces[MAX_ELEMENTS];
    if (one_in(2)) {
        note(c, ", split %d %d", (int)size, dim);
        CHECK_OK(THTensor_split(pieces, &count, c->t, size, signed_dim));
    } else {
        note(c, ", chunk %d %d", (int)chunks, dim);
        CHECK_OK(THTensor_chunk(pieces, &count, c->t, chunks, signed_dim));
        size = (n + chunks - 1) / chunks;
    }
    if (!CHECK_EQ(count, (n + size - 1) / size)) return;
    int64_t which = between(0, count - 1), first = which * size;
    note(c, " [%d]", (int)which);
    take_piece(c, pieces, count, which);
    model_narrow(&c->model, dim, first, first + size < n ? size : n - first);
}

static void step_unbind(struct chain *c) {
    if (c->model.ndim == 0) return;
    int dim = random_dim(c), count = MAX_ELEMENTS;
    int64_t n = c->model.size[dim];
    THTensor *entries[MAX_ELEMENTS];
    CHECK_OK(THTensor_unbind(entries, &count, c->t, either_sign(dim, c->model.ndim)));
    if (!CHECK_EQ(count, n) || n == 0) return;
    int64_t which = between(0, n - 1);
    note(c, ", unbind %d [%d]", dim, (int)which);
    take_piece(c, entries, count, which);
    model_select(&c->model, dim, which);
}

/* One random step. */
static void chain_step(struct chain *c) {
    static void (*const steps[])(struct chain *) = {
        step_narrow,  step_select,      step_slice,     step_transpose, step_permute, step_unfold,
        step_squeeze, step_squeeze_dim, step_unsqueeze, step_view,      step_view,    step_reshape,
        step_flatten, step_expand,      step_split,     step_unbind,
    };
    steps[between(0, sizeof steps / sizeof *steps - 1)](c);
}

#endif
