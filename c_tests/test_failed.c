/* A failed call has changed neither the result's sizes, strides, dtype, storage and elements, nor the storage's length. Here the last
 * condition that a call checks fails; in test_nomem.c memory runs out. */
#include "state.h"

/* A vector and a matrix whose storage was shrunk afterwards, and intact tensors. */
static THTensor *cut, *cut_matrix, *vector, *square, *counts;

typedef THStatus Call(THTensor *const *r);

static THStatus diag(THTensor *const *r) { return THTensor_diag(r[0], cut, 0); }
static THStatus diagonal(THTensor *const *r) { return THTensor_diag(r[0], cut_matrix, 0); }
static THStatus embed(THTensor *const *r) { return THTensor_diagEmbed(r[0], cut_matrix, 1, 0, 1); }
static THStatus tril(THTensor *const *r) { return THTensor_tril(r[0], cut_matrix, 0); }
static THStatus vander(THTensor *const *r) { return THTensor_vander(r[0], cut, 3, 0); }
static THStatus product(THTensor *const *r) {
    THTensor *vectors[] = {vector, cut};
    return THTensor_cartesianProd(r[0], vectors, 2);
}
static THStatus only(THTensor *const *r) {
    THTensor *vectors[] = {cut};
    return THTensor_cartesianProd(r[0], vectors, 1);
}
static THStatus meshgrid(THTensor *const *r) {
    THTensor *tensors[] = {vector, square};
    return THTensor_meshgrid(r, tensors, 2, "ij");
}
static THStatus expand(THTensor *const *r) {
    THTensor *tensors[] = {vector, square};
    return THTensor_expandNd(r, tensors, 2);
}
static THStatus one_hot(THTensor *const *r) { return THTensor_oneHot(r[0], counts, 2); }
static THStatus copy(THTensor *const *r) { return THTensor_copy(r[0], cut_matrix); }
static THStatus set_storage(THTensor *const *r) {
    return THTensor_setStorage(r[0], vector->storage, 0, SIZES(2, -1), NULL);
}
static THStatus resize_negative(THTensor *const *r) { return THTensor_resize(r[0], SIZES(-2), NULL); }
static THStatus resize_huge(THTensor *const *r) { return THTensor_resize2d(r[0], (int64_t)1 << 40, (int64_t)1 << 20); }
static THStatus resize_too_huge(THTensor *const *r) { return THTensor_resize2d(r[0], (int64_t)1 << 40, (int64_t)1 << 40); }
static THStatus resize_strange(THTensor *const *r) { return THTensor_resize(r[0], SIZES(2, 3), (const int64_t[]){1, -1}); }
static THStatus eye(THTensor *const *r) { return THTensor_eye(r[0], (int64_t)1 << 30, (int64_t)1 << 30); }
static THStatus add(THTensor *const *r) { return THTensor_cadd(r[0], square, 1, cut_matrix); }
static THStatus sum(THTensor *const *r) { return THTensor_sum(r[0], cut_matrix, 0, 0); }
static THStatus median(THTensor *const *r) { return THTensor_median(r[0], r[1], cut_matrix, 0, 0); }
static THStatus cumsum(THTensor *const *r) { return THTensor_cumsum(r[0], cut_matrix, 0); }
static THStatus mm(THTensor *const *r) { return THTensor_mm(r[0], square, cut_matrix); }
static THStatus addmm(THTensor *const *r) { return THTensor_addmm(r[0], 1, cut_matrix, 1, square, square); }
static THStatus histc(THTensor *const *r) { return THTensor_histc(r[0], cut, 4, 0, 1); }
static THStatus linspace(THTensor *const *r) { return THTensor_linspace(r[0], 0, 1, (int64_t)1 << 60); }
static THStatus uniform(THTensor *const *r) { return THTensor_uniform(r[0], NULL, 2, 1); }
static THStatus where(THTensor *const *r) { return THTensor_where(r[0], square, square, cut_matrix); }

static void a_failed_call_has_changed_nothing(void) {
    static const struct {
        const char *name;
        Call *call;
    } calls[] = {
#define NAMED(call) {#call, call}
        NAMED(diag),        NAMED(diagonal),        NAMED(embed),       NAMED(tril),           NAMED(vander),
        NAMED(product),     NAMED(only),            NAMED(meshgrid),    NAMED(expand),         NAMED(one_hot),
        NAMED(copy),        NAMED(set_storage),     NAMED(resize_huge), NAMED(resize_strange), NAMED(resize_negative),
        NAMED(eye),         NAMED(resize_too_huge), NAMED(add),         NAMED(sum),            NAMED(median),
        NAMED(cumsum),      NAMED(mm),              NAMED(addmm),       NAMED(histc),          NAMED(linspace),
        NAMED(uniform),     NAMED(where),
#undef NAMED
    };
    cut = THTensor_newOnes(TH_FLOAT32, SIZES(40));
    cut_matrix = THTensor_newOnes(TH_FLOAT32, SIZES(4, 4));
    vector = THTensor_newOnes(TH_FLOAT32, SIZES(3));
    square = THTensor_newOnes(TH_FLOAT32, SIZES(4, 4));
    counts = vector_of(TH_INT64, 0, 1, 2);
    CHECK_OK(THStorage_resize(cut->storage, 39));
    CHECK_OK(THStorage_resize(cut_matrix->storage, 15));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            Results now = results((enum kind)kind);
            State before[RESULTS];
            for (int k = 0; k < RESULTS; k++) before[k] = state_of(now.r[k]);
            bool fine = CHECK(calls[i].call(now.r) != TH_OK);
            for (int k = 0; k < RESULTS; k++) fine &= CHECK(result_as_it_was(&now, k, &before[k]));
            if (!fine) printf("\n  in %s, kind %d ", calls[i].name, kind);
            free_results(now);
        }
    }
    THTensor_free(cut);
    THTensor_free(cut_matrix);
    THTensor_free(vector);
    THTensor_free(square);
    THTensor_free(counts);
}

/* If the storage of a result must not grow, the call fails and the result is unchanged. */
static void results_in_memory_that_cannot_grow_stay(void) {
    float memory[] = {1, 2, 3};
    square = THTensor_newOnes(TH_FLOAT32, SIZES(4, 4));
    vector = THTensor_newFromBlob(TH_FLOAT32, SIZES(3), NULL, memory, NULL, NULL);
    THTensor *r = THTensor_newWithTensor(vector), *other = THTensor_newFull(TH_INT64, SIZES(2), 5);
    State before = state_of(r), other_before = state_of(other);
    CHECK_ERROR(THTensor_exp(r, square), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THTensor_sum(r, square, 0, 0), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THTensor_min(r, other, square, 0, 0), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THTensor_cummax(r, other, square, 0), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THTensor_mm(r, square, square), TH_ERR_ARGUMENT, "not resizable");
    CHECK_ERROR(THTensor_eye(r, 4, 4), TH_ERR_ARGUMENT, "not resizable");
    CHECK(as_it_was(r, &before));
    CHECK(as_it_was(other, &other_before));
    CHECK_VALUES(r, 1, 2, 3);
    CHECK_VALUES(other, 5, 5);
    /* A result of the right size is written in place. */
    CHECK_OK(THTensor_ones(r, SIZES(2)));
    CHECK_VALUES(vector, 1, 1, 3);
    THTensor_free(r);
    THTensor_free(other);
    THTensor_free(vector);
    THTensor_free(square);
}

/* A storage that grows for a result keeps its identity, and keeps the elements before the result. */
static void storages_grow_in_place(void) {
    square = THTensor_newOnes(TH_FLOAT32, SIZES(40, 50));
    for (int way = 0; way < 5; way++) {
        THTensor *whole = THTensor_newFull(TH_FLOAT32, SIZES(5), 3), *r = THTensor_newNarrow(whole, 0, 2, 1);
        THStorage *storage = r->storage;
        THTensor *turned = THTensor_newT(square);
        switch (way) {
        case 0: CHECK_OK(THTensor_neg(r, square)); break;
        case 1: CHECK_OK(THTensor_sum(r, square, 0, 0)); break;
        case 2: CHECK_OK(THTensor_cumsum(r, square, 0)); break;
        case 3: CHECK_OK(THTensor_mm(r, square, turned)); break;
        default: CHECK_OK(THTensor_eye(r, 40, 50)); break;
        }
        CHECK(r->storage == storage && r->storageOffset == 2);
        CHECK_EQ(storage->size, 2 + THTensor_numel(r));
        CHECK_NEAR(THStorage_get(storage, 0), 3, 0);
        CHECK_NEAR(THStorage_get(storage, 1), 3, 0);
        THTensor_free(turned);
        THTensor_free(whole);
        THTensor_free(r);
    }
    THTensor_free(square);
}

/* Memory of the program's allocator, which may refuse to let it grow. */
static int refusals, grown;

static void *own_malloc(void *context, ptrdiff_t size) { return (void)context, malloc((size_t)size); }
static void *own_realloc(void *context, void *block, ptrdiff_t size) {
    (void)context;
    if (refusals > 0 && --refusals == 0) return NULL;
    grown++;
    return realloc(block, (size_t)size);
}
static void own_free(void *context, void *block) {
    (void)context;
    free(block);
}
static const THAllocator own = {own_malloc, own_realloc, own_free};

static THTensor *of_own_memory(THDtype dtype) {
    THStorage *storage = THStorage_newWithAllocator(dtype, ELEMENTS, &own, NULL);
    CHECK_OK(THStorage_fill(storage, 7));
    THTensor *t = THTensor_newWithStorage1d(storage, 2, 3, 1);
    THStorage_free(storage);
    return t;
}

static void the_allocator_of_the_caller_grows_its_memory(void) {
    square = THTensor_newOnes(TH_FLOAT32, SIZES(20, 30));
    for (int refused = 0; refused <= 3; refused++) {
        THTensor *values = of_own_memory(TH_FLOAT32), *indices = of_own_memory(TH_INT64);
        State before[] = {state_of(values), state_of(indices)};
        refusals = refused;
        grown = 0;
        THStatus status = THTensor_min(values, indices, square, 0, 0);
        refusals = 0;
        if (refused == 1 || refused == 2) {
            CHECK_EQ(status, TH_ERR_NOMEM);
            /* The memory of a storage may move when it grows and shrinks again. */
            before[0].data = values->storage->data;
            CHECK(as_it_was(values, &before[0]) && as_it_was(indices, &before[1]));
            for (int i = 0; i < ELEMENTS; i++) {
                CHECK_NEAR(THStorage_get(values->storage, i), 7, 0);
                CHECK_NEAR(THStorage_get(indices->storage, i), 7, 0);
            }
        } else {
            CHECK_EQ(status, TH_OK);
            CHECK_EQ(grown, 2);
            CHECK(values->storage == before[0].storage && values->storage->allocator == &own);
            CHECK_SHAPE(values, 30);
            CHECK_NEAR(THTensor_sumall(values), 30, 0);
            CHECK_NEAR(THTensor_sumall(indices), 0, 0);
            CHECK_NEAR(THStorage_get(values->storage, 1), 7, 0);
        }
        THTensor_free(values);
        THTensor_free(indices);
    }
    THTensor_free(square);
}

static THStatus greatest(THTensor *values, THTensor *indices) { return THTensor_max(values, indices, square, 0, 0); }
static THStatus middle(THTensor *values, THTensor *indices) { return THTensor_median(values, indices, square, 0, 0); }
static THStatus running(THTensor *values, THTensor *indices) { return THTensor_cummax(values, indices, square, 0); }

static void what_one_result_is_refused_spares_the_other(void) {
    THStatus (*const calls[])(THTensor *, THTensor *) = {greatest, middle, running};
    square = THTensor_newOnes(TH_FLOAT32, SIZES(20, 30));
    for (int i = 0; i < 3; i++) {
        THTensor *values = i < 2 ? THTensor_newFull(TH_FLOAT32, SIZES(30), -1) : THTensor_newFull(TH_FLOAT32, SIZES(20, 30), -1);
        THTensor *indices = of_own_memory(TH_INT64);
        State before[] = {state_of(values), state_of(indices)};
        refusals = 1;
        CHECK_EQ(calls[i](values, indices), TH_ERR_NOMEM);
        refusals = 0;
        CHECK(as_it_was(values, &before[0]) && as_it_was(indices, &before[1]));
        CHECK_NEAR(THTensor_maxall(values), -1, 0);
        CHECK_OK(calls[i](values, indices));
        CHECK(values->storage == before[0].storage && THTensor_nElement(indices) == THTensor_nElement(values));
        CHECK_NEAR(THTensor_minall(values), 1, 0);
        THTensor_free(indices);
        THTensor_free(values);
    }
    THTensor_free(square);
}

/* Functions with several results. */
static THTensor *values, *symmetric, *rows_of, *places_of, *labels, *weights;

static THStatus min(THTensor *const *r) { return THTensor_min(r[0], r[1], values, 0, 0); }
static THStatus max(THTensor *const *r) { return THTensor_max(r[0], r[1], values, 0, 0); }
static THStatus cummax(THTensor *const *r) { return THTensor_cummax(r[0], r[1], values, 0); }
static THStatus cummin(THTensor *const *r) { return THTensor_cummin(r[0], r[1], values, 0); }
static THStatus sort(THTensor *const *r) { return THTensor_sort(r[0], r[1], values, 0, 0, 0); }
static THStatus topk(THTensor *const *r) { return THTensor_topk(r[0], r[1], values, 2, 0, 1, 1); }
static THStatus kthvalue(THTensor *const *r) { return THTensor_kthvalue(r[0], r[1], values, 2, 0, 0); }
static THStatus median_of(THTensor *const *r) { return THTensor_median(r[0], r[1], values, 0, 0); }
static THStatus nanmedian(THTensor *const *r) { return THTensor_nanmedian(r[0], r[1], values, 0, 0); }
static THStatus mode(THTensor *const *r) { return THTensor_mode(r[0], r[1], values, 0, 0); }
static THStatus aminmax(THTensor *const *r) { return THTensor_aminmax(r[0], r[1], values, 0, 0); }
static THStatus unique(THTensor *const *r) { return THTensor_unique(r[0], r[1], r[2], values, TH_ALL_DIMS); }
static THStatus consecutive(THTensor *const *r) {
    return THTensor_uniqueConsecutive(r[0], r[1], r[2], values, TH_ALL_DIMS);
}
static THStatus pool(THTensor *const *r) { return THTensor_maxPool1d(r[0], r[1], values, SIZES(2), NULL, NULL, NULL, 0); }
static THStatus layer_norm_grad(THTensor *const *r) {
    return THTensor_layerNormGrad(r[0], r[1], r[2], values, values, 1, weights, 1e-5);
}
static THStatus batch_norm(THTensor *const *r) {
    return THTensor_batchNorm(r[0], r[1], r[2], values, NULL, NULL, r[3], r[4], 1, 0.5, 1e-5);
}
static THStatus lu(THTensor *const *r) { return THTensor_lu(r[0], r[1], r[2], symmetric); }
static THStatus slogdet(THTensor *const *r) { return THTensor_slogdet(r[0], r[1], symmetric); }
static THStatus solve(THTensor *const *r) { return THTensor_solve(r[0], r[1], values, symmetric); }
static THStatus gesv(THTensor *const *r) { return THTensor_gesv(r[0], r[1], values, symmetric); }
static THStatus trtrs(THTensor *const *r) { return THTensor_trtrs(r[0], r[1], values, symmetric, 1, 0, 0); }
static THStatus gels(THTensor *const *r) { return THTensor_gels(r[0], r[1], values, symmetric); }
static THStatus lstsq(THTensor *const *r) { return THTensor_lstsq(r[0], r[1], r[2], values, symmetric, -1); }
static THStatus btrifact(THTensor *const *r) { return THTensor_btrifact(r[0], r[1], r[2], 1, symmetric); }
static THStatus pstrf(THTensor *const *r) { return THTensor_pstrf(r[0], r[1], r[2], symmetric, 1, -1); }
static THStatus geqrf(THTensor *const *r) { return THTensor_geqrf(r[0], r[1], symmetric); }
static THStatus qr(THTensor *const *r) { return THTensor_qr(r[0], r[1], symmetric, 1); }
static THStatus syev(THTensor *const *r) { return THTensor_syev(r[0], r[1], symmetric, 1); }
static THStatus symeig(THTensor *const *r) { return THTensor_symeig(r[0], r[1], symmetric, 1); }
static THStatus geev(THTensor *const *r) { return THTensor_geev(r[0], r[1], symmetric); }
static THStatus eig(THTensor *const *r) { return THTensor_eig(r[0], r[1], symmetric); }
static THStatus gesvd(THTensor *const *r) { return THTensor_gesvd(r[0], r[1], r[2], symmetric, 1); }
static THStatus svd(THTensor *const *r) { return THTensor_svd(r[0], r[1], r[2], symmetric, 1); }
static THStatus dropout(THTensor *const *r) { return THTensor_dropout(r[0], r[1], NULL, values, 0.5); }
static THStatus alias_setup(THTensor *const *r) { return THTensor_multinomialAliasSetup(weights, r[0], r[1]); }
static THStatus csr_compress(THTensor *const *r) {
    return THTensor_csrCompress(r[0], r[1], r[2], r[3], rows_of, places_of, 3);
}
static THStatus csr_product(THTensor *const *r) {
    return THTensor_csrMatmulCsr(r[0], r[1], r[2], labels, places_of, weights, labels, places_of, weights, 3);
}
static THStatus csr_solve(THTensor *const *r) {
    return THTensor_csrCg(r[0], r[1], labels, places_of, weights, weights, NULL, 1e-3, 10, NULL, NULL) < 0 ? TH_ERR_NUMERIC
                                                                                                         : TH_OK;
}
enum { MOST_RESULTS = 5 };

/* A result like `made` that no call can write: its elements are one, or it is Bool; or with `leaf` a leaf that requires a gradient. NULL
 * if there is none. */
static THTensor *unusable(const THTensor *made, int leaf) {
    THTensor *t;
    if (leaf) {
        if (THTensor_dtype(made) != TH_FLOAT32) return NULL;
        t = THTensor_newFull(TH_FLOAT32, THTensor_nDimension(made), made->size, 7);
        CHECK_OK(THTensor_setRequiresGrad(t, 1));
        return t;
    }
    if (THTensor_numel(made) < 2) {
        return THTensor_dtype(made) == TH_BOOL ? NULL : THTensor_newFull(TH_BOOL, THTensor_nDimension(made), made->size, 1);
    }
    THTensor *one = THTensor_newScalar(THTensor_dtype(made), 7);
    t = THTensor_newExpand(one, THTensor_nDimension(made), made->size);
    THTensor_free(one);
    return t;
}

/* Calls with results of 7 of which number `bad` cannot be written: nothing has changed. */
static void check_refused(const char *name, Call *call, int count, THTensor *const *made, int bad, int leaf) {
    THTensor *r[MOST_RESULTS] = {NULL}, *before[MOST_RESULTS];
    State states[MOST_RESULTS];
    for (int k = 0; k < count; k++) {
        THDtype dtype = THTensor_dtype(made[k]);
        r[k] = k == bad ? unusable(made[k], leaf) : THTensor_newFull(dtype, THTensor_nDimension(made[k]), made[k]->size, 7);
    }
    if (r[bad]) {
        for (int k = 0; k < count; k++) before[k] = THTensor_newClone(r[k]), states[k] = state_of(r[k]);
        bool fine = CHECK(call(r) != TH_OK);
        for (int k = 0; k < count; k++) {
            fine &= CHECK(as_it_was(r[k], &states[k]));
            fine &= CHECK(THTensor_equal(r[k], before[k]) == 1);
            THTensor_free(before[k]);
        }
        if (!fine) printf("\n  in %s, where result %d %s ", name, bad, leaf ? "is a leaf" : "cannot be written");
    }
    for (int k = 0; k < count; k++) THTensor_free(r[k]);
}

static void of_several_results_all_change_or_none(void) {
    static const struct {
        const char *name;
        Call *call;
        int count;
        /* The last ones are read, too: vectors of 3 elements. */
        int read;
    } calls[] = {
#define NAMED(call, count) {#call, call, count, 0}
        NAMED(min, 2),         NAMED(max, 2),          NAMED(cummax, 2),      NAMED(cummin, 2),      NAMED(sort, 2),
        NAMED(topk, 2),        NAMED(kthvalue, 2),     NAMED(median_of, 2),   NAMED(nanmedian, 2),   NAMED(mode, 2),
        NAMED(aminmax, 2),     NAMED(unique, 3),       NAMED(consecutive, 3), NAMED(pool, 2),        NAMED(layer_norm_grad, 3),
        NAMED(lu, 3),          NAMED(slogdet, 2),      NAMED(solve, 2),       NAMED(gesv, 2),        NAMED(trtrs, 2),
        NAMED(gels, 2),        NAMED(lstsq, 3),        NAMED(btrifact, 3),    NAMED(pstrf, 3),       NAMED(geqrf, 2),
        NAMED(qr, 2),          NAMED(syev, 2),         NAMED(symeig, 2),      NAMED(geev, 2),        NAMED(eig, 2),
        NAMED(gesvd, 3),       NAMED(svd, 3),          NAMED(dropout, 2),     NAMED(alias_setup, 2), NAMED(csr_compress, 4),
        NAMED(csr_product, 3), NAMED(csr_solve, 2),    {"batch_norm", batch_norm, 5, 2},
#undef NAMED
    };
    static const float elements[] = {4, 1, 0, 1, 3, 1, 0, 1, 2};
    values = THTensor_newFromData(TH_FLOAT32, SIZES(3, 3), elements);
    symmetric = THTensor_newFromData(TH_FLOAT32, SIZES(3, 3), elements);
    weights = THTensor_newOnes(TH_FLOAT32, SIZES(3));
    rows_of = vector_of(TH_INT64, 0, 1, 2);
    places_of = vector_of(TH_INT64, 0, 1, 2);
    labels = vector_of(TH_INT64, 0, 1, 2, 3);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        THTensor *made[MOST_RESULTS];
        int count = calls[i].count;
        for (int k = 0; k < count; k++) {
            made[k] = k < count - calls[i].read ? THTensor_new() : THTensor_newFull(TH_FLOAT32, SIZES(3), 7);
        }
        if (CHECK(calls[i].call(made) == TH_OK)) {
            for (int k = 0; k < count; k++) {
                check_refused(calls[i].name, calls[i].call, count, made, k, 0);
                check_refused(calls[i].name, calls[i].call, count, made, k, 1);
            }
        } else {
            printf("\n  in %s: %s ", calls[i].name, THGetLastError());
        }
        for (int k = 0; k < count; k++) THTensor_free(made[k]);
    }
    THTensor_free(values);
    THTensor_free(symmetric);
    THTensor_free(weights);
    THTensor_free(rows_of);
    THTensor_free(places_of);
    THTensor_free(labels);
}

CHECK_MAIN(CASE(a_failed_call_has_changed_nothing), CASE(results_in_memory_that_cannot_grow_stay),
           CASE(storages_grow_in_place), CASE(the_allocator_of_the_caller_grows_its_memory),
           CASE(what_one_result_is_refused_spares_the_other),
           CASE(of_several_results_all_change_or_none))
