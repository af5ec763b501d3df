/*
 * Compares views with a naive model, at random.
 *
 * A chain of views (view_chain.h) is made step by step (view_steps.h), by the library and in a model (view_model.h).
 * Sizes, positions and values must agree after every step. A chain ends in an operation that reads or writes through
 * the last view.
 *
 * THORN_SEED and THORN_CHAINS choose the chains of each case. A failed chain prints its seed and its steps;
 * `THORN_SEED=<seed> THORN_CHAINS=1 test_view_property <case>` runs it alone.
 */

#include "view_steps.h"

enum { MAX_STEPS = 8, CHAINS = 20000, CHAINS_UNDER_VALGRIND = 1000 };

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

/* Returns true if the tensor may be written. The library may also refuse a tensor whose elements it cannot prove to be
 * distinct. */
static int check_written(const struct chain *r, THStatus status) {
    if (status == TH_ERR_SHAPE && strstr(THGetLastError(), "share one element")) {
        CHECK(model_overlaps_itself(&r->model) || !model_is_nested(&r->model));
        return 0;
    }
    return CHECK_OK(status) && CHECK(!model_overlaps_itself(&r->model));
}

/* Sizes that broadcast with others: leading sizes dropped, some set to 1. */
static int broadcastable(int ndim, const int64_t *size, int64_t *smaller) {
    int dropped = one_in(3) ? (int)between(0, ndim) : 0;
    for (int d = dropped; d < ndim; d++) smaller[d - dropped] = one_in(4) ? 1 : size[d];
    if (product(ndim - dropped, smaller) <= MAX_ELEMENTS) return ndim - dropped;
    /* A 0 had kept the product small. */
    memcpy(smaller, size, ndim * sizeof *size);
    return ndim;
}

/* Returns the element that broadcasting reads at an index. */
static double broadcast_value(const struct chain *c, int ndim, const int64_t *index) {
    int64_t own[MAX_DIMS];
    for (int d = 0; d < c->model.ndim; d++) {
        own[d] = c->model.size[d] == 1 ? 0 : index[ndim - c->model.ndim + d];
    }
    return chain_value(c, place(c->model.ndim, c->model.size, own));
}

/* Copies from another tensor of the same or a broadcasting shape, which may be in the same storage. */
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

/* Sizes for a tensor to add to `a`, and sizes of the sum. */
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

static uint64_t number_from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
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
