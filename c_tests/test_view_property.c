/*
 * Views against a naive model, at random.
 *
 * The model of a tensor is the list of the storage positions of its elements in row-major order. Every view operation
 * is done twice: by the library, and on the list, one element at a time, as the operation is defined. Sizes, positions
 * and values must agree after every step. A chain of steps ends in an operation that reads or writes through the view.
 *
 * THORN_SEED and THORN_CHAINS choose the chains of each case. A chain that fails tells its seed and its steps;
 * `THORN_SEED=<seed> THORN_CHAINS=1 test_view_property <case>` runs it alone.
 */

#include "check.h"

#include <stdarg.h>

enum {
    MAX_DIMS = 6,
    MAX_ELEMENTS = 1024,
    /* Elements of every storage. */
    ROOM = 2048,
    MAX_STEPS = 8,
    CHAINS = 20000,
    CHAINS_UNDER_VALGRIND = 1000
};

/* Random numbers: splitmix64. */
static uint64_t random_state;

static uint64_t random_word(void) {
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number from `low` to `high`, both included. */
static int64_t between(int64_t low, int64_t high) {
    return low + (int64_t)(random_word() % (uint64_t)(high - low + 1));
}

/* True one time in `n`. */
static int one_in(int n) { return between(1, n) == 1; }

/* The dimensions in random order. */
static void shuffle(int ndim, int64_t *dims) {
    for (int d = 0; d < ndim; d++) dims[d] = d;
    for (int d = 1; d < ndim; d++) {
        int64_t other = between(0, d), dim = dims[other];
        dims[other] = dims[d];
        dims[d] = dim;
    }
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static int64_t product(int ndim, const int64_t *size) {
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) count *= size[d];
    return count;
}

/* Moves an index vector to its successor in row-major order. */
static void advance(int ndim, const int64_t *size, int64_t *index) {
    for (int d = ndim - 1; d >= 0 && ++index[d] == size[d]; d--) index[d] = 0;
}

/* The place of an index vector in row-major order. */
static int64_t place(int ndim, const int64_t *size, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < ndim; d++) at = at * size[d] + index[d];
    return at;
}

/* The elements of a tensor in row-major order. */
struct model {
    int ndim;
    int64_t size[MAX_DIMS];
    int64_t count;
    /* Storage position of each element. */
    int64_t at[MAX_ELEMENTS];
};

/* A storage and what it should hold. */
struct store {
    THStorage *storage;
    double content[ROOM];
};

/* A tensor, its model, and how it came about. */
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

/* The other sizes of the same elements in the same order. */
static void model_reshape(struct model *m, int ndim, const int64_t *size) {
    m->ndim = ndim;
    memmove(m->size, size, ndim * sizeof *size);
}

/* Where an element of a view comes from: from its index, the index in the source. */
typedef void source_fn(const struct model *source, const int64_t *arguments, const int64_t *index, int64_t *from);

/* The model of a view of these sizes. */
static void model_view(struct model *m, int ndim, const int64_t *size, source_fn *source, const int64_t *arguments) {
    static struct model old;
    old = *m;
    int64_t index[MAX_DIMS] = {0}, from[MAX_DIMS];
    model_reshape(m, ndim, size);
    m->count = product(ndim, m->size);
    for (int64_t i = 0; i < m->count; i++, advance(ndim, m->size, index)) {
        source(&old, arguments, index, from);
        m->at[i] = old.at[place(old.ndim, old.size, from)];
    }
}

/* The definition of a strided tensor. */
static void model_strided(struct model *m, int ndim, const int64_t *size, int64_t offset, const int64_t *stride) {
    int64_t index[MAX_DIMS] = {0};
    model_reshape(m, ndim, size);
    m->count = product(ndim, size);
    for (int64_t i = 0; i < m->count; i++, advance(ndim, size, index)) {
        m->at[i] = offset;
        for (int d = 0; d < ndim; d++) m->at[i] += index[d] * stride[d];
    }
}

/* Stores the strides that lead from the first element to all others; returns 0 if there are none. */
static int model_strides(const struct model *m, int64_t *stride) {
    int64_t index[MAX_DIMS] = {0};
    if (m->count == 0) return 0;
    for (int d = 0; d < m->ndim; d++) {
        int64_t unit[MAX_DIMS] = {0};
        unit[d] = 1;
        stride[d] = m->size[d] > 1 ? m->at[place(m->ndim, m->size, unit)] - m->at[0] : 0;
    }
    for (int64_t i = 0; i < m->count; i++, advance(m->ndim, m->size, index)) {
        int64_t position = m->at[0];
        for (int d = 0; d < m->ndim; d++) position += index[d] * stride[d];
        if (position != m->at[i]) return 0;
    }
    return 1;
}

static int model_is_contiguous(const struct model *m) {
    for (int64_t i = 0; i < m->count; i++) {
        if (m->at[i] != m->at[0] + i) return 0;
    }
    return 1;
}

/* Whether two elements share a position. */
static int model_overlaps_itself(const struct model *m) {
    char seen[ROOM] = {0};
    for (int64_t i = 0; i < m->count; i++) {
        if (seen[m->at[i]]++) return 1;
    }
    return 0;
}

/* Whether every stride reaches beyond all that lies within smaller ones: the rule by which the library knows, without
 * looking at each element, that none share a position. */
static int model_is_nested(const struct model *m) {
    int64_t stride[MAX_DIMS], reach = 0;
    int done[MAX_DIMS] = {0};
    if (!model_strides(m, stride)) return 1;
    for (int round = 0; round < m->ndim; round++) {
        int least = -1;
        for (int d = 0; d < m->ndim; d++) {
            if (!done[d] && m->size[d] > 1 && (least < 0 || stride[d] < stride[least])) least = d;
        }
        if (least < 0) break;
        if (stride[least] <= reach) return 0;
        reach += (m->size[least] - 1) * stride[least];
        done[least] = 1;
    }
    return 1;
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

/* A storage whose elements are all different. */
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

/* Strides for these sizes: dense or with gaps, in a random order of dimensions, or any small numbers. */
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

/* Sizes, positions of all elements, contiguity, and one value. */
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
        if (good && i == one) good = CHECK_NEAR(THTensor_get(c->t, m->ndim, index), chain_value(c, i), 0);
    }
    return good;
}

/* The elements of `t` are these, in row-major order. */
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

/* The view takes the place of the tensor; NULL is a failure. */
static void take(struct chain *c, THTensor *view) {
    if (!CHECK(view != NULL)) return;
    THTensor_free(c->t);
    c->t = view;
}

/* The tensor itself, changed in place. */
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

/* Other sizes for the same number of elements: neighbours joined, then some cut in two, and ones put between. */
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

/* These sizes with one of them, if they are not zero, left for the library to find. */
static void forget_one(int ndim, int64_t *size) {
    if (ndim > 0 && product(ndim, size) > 0 && one_in(3)) size[between(0, ndim - 1)] = -1;
}

/* A view exists exactly where strides lead through the elements in their order. */
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
        CHECK_FAILURE(THTensor_newView(c->t, ndim, asked) == NULL, TH_ERR_SHAPE, "view size is not compatible");
        CHECK_ERROR(THTensor_view(c->t, c->t, ndim, asked), TH_ERR_SHAPE, "view size is not compatible");
    }
}

/* A view where there is one, else a copy, whose elements are checked and which is left again. */
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

/* Goes on with one of a list of pieces and gives the others back. */
static void take_piece(struct chain *c, THTensor **pieces, int count, int64_t which) {
    for (int i = 0; i < count; i++) {
        if (i != which) THTensor_free(pieces[i]);
    }
    take(c, pieces[which]);
}

/* Splits into pieces of a size, or into the number of pieces that gives this size. */
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

/* From here on: what is done through the view at the end of a chain. */

static void fills_touch_their_positions(struct chain *c) {
    int zero = one_in(2);
    CHECK_OK(zero ? THTensor_zero(c->t) : THTensor_fill(c->t, -7));
    for (int64_t i = 0; i < c->model.count; i++) c->store->content[c->model.at[i]] = zero ? 0 : -7;
    check_store(c->store);
}

static void clones_hold_the_elements(struct chain *c) {
    static double expected[MAX_ELEMENTS];
    const struct model *m = &c->model;
    for (int64_t i = 0; i < m->count; i++) expected[i] = chain_value(c, i);

    THTensor *contiguous = THTensor_newContiguous(c->t);
    CHECK_EQ(contiguous == c->t, model_is_contiguous(m));
    CHECK(THTensor_isContiguous(contiguous));
    check_elements(contiguous, m->ndim, m->size, expected);
    THTensor_free(contiguous);

    THTensor *clone = THTensor_newClone(c->t);
    CHECK(THTensor_storage(clone) != c->store->storage);
    CHECK_EQ(THTensor_dtype(clone), THTensor_dtype(c->t));
    check_elements(clone, m->ndim, m->size, expected);
    THTensor_free(clone);

    THTensor *rows = THTensor_newCloneFormat(c->t, TH_CONTIGUOUS_FORMAT);
    CHECK(THTensor_isContiguous(rows));
    check_elements(rows, m->ndim, m->size, expected);
    THTensor_free(rows);

    THTensor *converted = THTensor_newTo(c->t, random_dtype());
    check_elements(converted, m->ndim, m->size, expected);
    THTensor_free(converted);
    check_store(c->store);
}

/* Whether the library may write elements one by one through this tensor; it may refuse what it cannot see to be fit. */
static int check_written(const struct chain *r, THStatus status) {
    if (status == TH_ERR_SHAPE && strstr(THGetLastError(), "share one element")) {
        CHECK(model_overlaps_itself(&r->model) || !model_is_nested(&r->model));
        return 0;
    }
    return CHECK_OK(status) && CHECK(!model_overlaps_itself(&r->model));
}

/* Sizes that broadcast with others: leading ones dropped, some turned into 1. */
static int broadcastable(int ndim, const int64_t *size, int64_t *smaller) {
    int dropped = one_in(3) ? (int)between(0, ndim) : 0;
    for (int d = dropped; d < ndim; d++) smaller[d - dropped] = one_in(4) ? 1 : size[d];
    if (product(ndim - dropped, smaller) <= MAX_ELEMENTS) return ndim - dropped;
    /* It was a 0 that kept the product small. */
    memcpy(smaller, size, ndim * sizeof *size);
    return ndim;
}

/* The element of a tensor that broadcasting puts at an index. */
static double broadcast_value(const struct chain *c, int ndim, const int64_t *index) {
    int64_t own[MAX_DIMS];
    for (int d = 0; d < c->model.ndim; d++) {
        own[d] = c->model.size[d] == 1 ? 0 : index[ndim - c->model.ndim + d];
    }
    return chain_value(c, place(c->model.ndim, c->model.size, own));
}

/* From another tensor of the same or of a broadcasting shape, which may lie in the same storage. */
static void copies_are_as_if_from_a_copy(struct chain *r) {
    static struct chain source;
    static struct store other;
    static double expected[MAX_ELEMENTS];
    int64_t size[MAX_DIMS], index[MAX_DIMS] = {0};
    int ndim = broadcastable(r->model.ndim, r->model.size, size), elsewhere = one_in(2);
    if (elsewhere) store_new(&other, random_dtype());
    chain_new(&source, elsewhere ? &other : r->store, ndim, size);
    note(r, ", copy from %s: %s", elsewhere ? "elsewhere" : "the same storage", source.history);
    for (int64_t i = 0; i < r->model.count; i++, advance(r->model.ndim, r->model.size, index)) {
        expected[i] = broadcast_value(&source, r->model.ndim, index);
    }
    if (check_written(r, THTensor_copy(r->t, source.t))) {
        for (int64_t i = 0; i < r->model.count; i++) r->store->content[r->model.at[i]] = expected[i];
    }
    check_store(r->store);
    THTensor_free(source.t);
    if (elsewhere) THStorage_free(other.storage);
}

/* Sizes of a tensor to add to `a`, and of the sum. */
static int random_partner(const struct model *a, int64_t *size, int64_t *sum_size) {
    int64_t most[MAX_DIMS];
    memcpy(most, a->size, sizeof most);
    for (int d = 0; d < a->ndim; d++) {
        if (most[d] == 1 && product(a->ndim, most) <= MAX_ELEMENTS / 4 && one_in(3)) most[d] = between(2, 4);
    }
    int ndim = broadcastable(a->ndim, most, size), extra = a->ndim - ndim;
    for (int d = 0; d < a->ndim; d++) sum_size[d] = a->size[d] == 1 && d >= extra ? size[d - extra] : a->size[d];
    return ndim;
}

/* r = x + 2 y, where `r` is fresh, one of the operands, or another tensor in their storage. */
static void sums_are_as_if_of_copies(struct chain *a) {
    static struct chain b, r;
    static double expected[MAX_ELEMENTS];
    int64_t size[MAX_DIMS], sum_size[MAX_DIMS], index[MAX_DIMS] = {0};
    int ndim = a->model.ndim, b_ndim = random_partner(&a->model, size, sum_size), turned = one_in(2);
    chain_new(&b, a->store, b_ndim, size);
    const struct chain *x = turned ? &b : a, *y = turned ? a : &b;
    for (int64_t i = 0; i < product(ndim, sum_size); i++, advance(ndim, sum_size, index)) {
        expected[i] = broadcast_value(x, ndim, index) + 2 * broadcast_value(y, ndim, index);
    }
    int where = (int)between(0, 3);
    note(a, ", %s operand of cadd with %s", turned ? "second" : "first", b.history);
    if (where == 0) {
        r.t = THTensor_new();
    } else if (where < 3) {
        r = where == 1 ? *x : *y;
        THTensor_retain(r.t);
    } else {
        chain_new(&r, a->store, ndim, sum_size);
    }
    note(a, ", r %s", (const char *[]){"fresh", "the first operand", "the second operand", r.history}[where]);
    int fits = where > 0 && THTensor_isSize(r.t, ndim, sum_size);
    THStatus status = THTensor_cadd(r.t, x->t, 2, y->t);
    if (!fits) {
        if (CHECK_OK(status)) check_elements(r.t, ndim, sum_size, expected);
    } else if (check_written(&r, status)) {
        for (int64_t i = 0; i < r.model.count; i++) r.store->content[r.model.at[i]] = expected[i];
    }
    check_store(a->store);
    THTensor_free(r.t);
    THTensor_free(b.t);
}

static void sums_over_a_dimension(struct chain *c) {
    static double expected[MAX_ELEMENTS];
    const struct model *m = &c->model;
    int all = m->ndim == 0 || one_in(4), dim = all ? 0 : random_dim(c), keep = one_in(2), ndim = 0;
    int64_t kept[MAX_DIMS], size[MAX_DIMS], index[MAX_DIMS] = {0};
    for (int d = 0; d < m->ndim; d++) {
        kept[d] = all || d == dim ? 1 : m->size[d];
        if (keep || !(all || d == dim)) size[ndim++] = kept[d];
    }
    int64_t results = product(m->ndim, kept);
    if (results > MAX_ELEMENTS) return;
    note(c, ", sum %d%s", all ? TH_ALL_DIMS : dim, keep ? " kept" : "");
    memset(expected, 0, results * sizeof *expected);
    for (int64_t i = 0; i < m->count; i++, advance(m->ndim, m->size, index)) {
        int64_t to[MAX_DIMS];
        for (int d = 0; d < m->ndim; d++) to[d] = kept[d] == 1 ? 0 : index[d];
        expected[place(m->ndim, kept, to)] += chain_value(c, i);
    }
    THTensor *sum = THTensor_new();
    CHECK_OK(THTensor_sum(sum, c->t, all ? TH_ALL_DIMS : either_sign(dim, m->ndim), keep));
    CHECK_EQ(THTensor_dtype(sum), THTensor_dtype(c->t) < TH_INT64 ? TH_INT64 : THTensor_dtype(c->t));
    check_elements(sum, ndim, size, expected);
    THTensor_free(sum);
}

/* Runs chains until one fails. */
static void run_chains(void (*end)(struct chain *)) {
    static struct chain c;
    static struct store store;
    uint64_t seed = number_from_environment("THORN_SEED", 1);
    uint64_t chains = number_from_environment("THORN_CHAINS", under_valgrind() ? CHAINS_UNDER_VALGRIND : CHAINS);
    printf(" %" PRIu64 " chains from seed %" PRIu64 " ...", chains, seed);
    for (int failures = check_failures; chains > 0; chains--, seed++) {
        random_state = seed;
        store_new(&store, random_dtype());
        chain_begin(&c, &store);
        int good = chain_agrees(&c);
        for (int64_t steps = between(0, MAX_STEPS); good && steps > 0; steps--) {
            chain_step(&c);
            good = check_failures == failures && chain_agrees(&c);
        }
        if (good) end(&c);
        THTensor_free(c.t);
        THStorage_free(store.storage);
        if (check_failures != failures) {
            printf("\n  seed %" PRIu64 ": %s", seed, c.history);
            return;
        }
    }
}

static void fill(void) { run_chains(fills_touch_their_positions); }
static void clone(void) { run_chains(clones_hold_the_elements); }
static void copy(void) { run_chains(copies_are_as_if_from_a_copy); }
static void cadd(void) { run_chains(sums_are_as_if_of_copies); }
static void sum(void) { run_chains(sums_over_a_dimension); }

CHECK_MAIN(CASE(fill), CASE(clone), CASE(copy), CASE(cadd), CASE(sum))
