/* Chains of views: a tensor over part of a storage, its model, and the steps that made both. */

#ifndef VIEW_CHAIN_H
#define VIEW_CHAIN_H

#include "view_model.h"

#include <stdarg.h>

/* A storage and its expected content. */
struct store {
    THStorage *storage;
    double content[ROOM];
};

/* A tensor, its model, and the steps that made them. */
struct chain {
    THTensor *t;
    struct store *store;
    struct model model;
    char history[512];
};

static void note(struct chain *c, const char *format, ...) {
    size_t used = strlen(c->history);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->history + used, sizeof c->history - used, format, arguments);
    va_end(arguments);
}

static double load(THDtype dtype, const void *data, int64_t at) {
    switch (dtype) {
    case TH_INT16:
        return ((const int16_t *)data)[at];
    case TH_INT32:
        return ((const int32_t *)data)[at];
    case TH_INT64:
        return (double)((const int64_t *)data)[at];
    case TH_FLOAT32:
        return ((const float *)data)[at];
    default:
        return ((const double *)data)[at];
    }
}

static THDtype random_dtype(void) {
    static const THDtype some[] = {TH_INT16, TH_INT32, TH_INT64, TH_FLOAT32, TH_FLOAT64};
    return some[between(0, 4)];
}

/* Makes a storage whose elements are all different. */
static void store_new(struct store *store, THDtype dtype) {
    store->storage = THStorage_newWithSize(dtype, ROOM);
    for (int p = 0; p < ROOM; p++) store->content[p] = p + 1;
    THTensor *doubles = THTensor_newFromData(TH_FLOAT64, SIZES(ROOM), store->content);
    THTensor *all = THTensor_newWithStorage1d(store->storage, 0, ROOM, 1);
    CHECK_OK(THTensor_copy(all, doubles));
    THTensor_free(all);
    THTensor_free(doubles);
}

static void check_store(const struct store *store) {
    THDtype dtype = THStorage_dtype(store->storage);
    for (int p = 0; p < ROOM; p++) {
        if (load(dtype, THStorage_data(store->storage), p) == store->content[p]) continue;
        CHECK_EQ(load(dtype, THStorage_data(store->storage), p), store->content[p]);
        printf(" at position %d of the storage", p);
        return;
    }
}

/* Random strides for these sizes: dense or with gaps, in a random order of dimensions, or any small numbers. */
static void random_strides(int ndim, const int64_t *size, int64_t offset, int64_t *stride) {
    int64_t next = 1, most = offset, gap = one_in(2) ? 2 : 0, loose = one_in(3);
    int64_t order[MAX_DIMS];
    shuffle(ndim, order);
    for (int d = 0; d < ndim; d++) {
        stride[order[d]] = loose ? between(0, 5) : next + between(0, gap);
        next = stride[order[d]] * (size[order[d]] ? size[order[d]] : 1);
    }
    for (int d = 0; d < ndim; d++) most += (size[d] ? size[d] - 1 : 0) * stride[d];
    if (most < ROOM) return;
    for (int d = ndim - 1, n = 1; d >= 0; n *= (int)(size[d] ? size[d] : 1), d--) stride[d] = n;
}

/* A tensor of these sizes somewhere in the storage. */
static void chain_new(struct chain *c, struct store *store, int ndim, const int64_t *size) {
    int64_t stride[MAX_DIMS] = {0}, offset = between(0, 3);
    random_strides(ndim, size, offset, stride);
    c->store = store;
    c->t = THTensor_newWithStorage(store->storage, offset, ndim, size, stride);
    c->history[0] = 0;
    note(c, "offset %d, sizes and strides", (int)offset);
    for (int d = 0; d < ndim; d++) note(c, " %dx%d", (int)size[d], (int)stride[d]);
    model_strided(&c->model, ndim, size, offset, stride);
}

/* A tensor of random sizes. */
static void chain_begin(struct chain *c, struct store *store) {
    int64_t size[MAX_DIMS];
    int ndim = one_in(20) ? 0 : (int)between(1, 4);
    for (int d = 0; d < ndim; d++) size[d] = one_in(30) ? 0 : one_in(6) ? 1 : between(2, 5);
    chain_new(c, store, ndim, size);
}

static double chain_value(const struct chain *c, int64_t i) { return c->store->content[c->model.at[i]]; }

/* Compares sizes, positions of all elements, contiguity, and one value. */
static int chain_agrees(const struct chain *c) {
    const struct model *m = &c->model;
    int good = CHECK_EQ(THTensor_nDimension(c->t), m->ndim) && CHECK_EQ(THTensor_nElement(c->t), m->count) &&
               CHECK_EQ(THTensor_isContiguous(c->t), model_is_contiguous(m)) &&
               CHECK(THTensor_isSize(c->t, m->ndim, m->size)) && CHECK(THTensor_storage(c->t) == c->store->storage);
    int64_t index[MAX_DIMS] = {0}, one = m->count ? between(0, m->count - 1) : -1;
    for (int64_t i = 0; good && i < m->count; i++, advance(m->ndim, m->size, index)) {
        int64_t position = c->t->storageOffset;
        for (int d = 0; d < m->ndim; d++) position += index[d] * c->t->stride[d];
        if (position != m->at[i]) good = CHECK_EQ(position, m->at[i]);
        if (good && i == one) good = CHECK_NEAR(THTensor_getAt(c->t, m->ndim, index), chain_value(c, i), 0);
    }
    return good;
}

/* Checks that `t` has these elements in row-major order. */
static void check_elements(const THTensor *t, int ndim, const int64_t *size, const double *expected) {
    if (!CHECK(THTensor_isSize(t, ndim, size))) return;
    int64_t index[MAX_DIMS] = {0}, count = product(ndim, size);
    for (int64_t i = 0; i < count; i++, advance(ndim, size, index)) {
        int64_t at = 0;
        for (int d = 0; d < ndim; d++) at += index[d] * THTensor_strides(t)[d];
        double got = load(THTensor_dtype(t), THTensor_data(t), at);
        if (got != expected[i] && !CHECK_NEAR(got, expected[i], 0)) return;
    }
}

#endif
