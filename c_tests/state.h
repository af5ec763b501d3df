/* Snapshots of handles, to compare before and after a call, and several kinds of results for the call. */

#ifndef THORN_STATE_H
#define THORN_STATE_H

#include "check.h"

#include <stdbool.h>

enum { RESULTS = 2, MOST_DIMS = 16, ELEMENTS = 7 };

/* The fields of a handle, and the memory of its storage. */
typedef struct State {
    int ndim;
    char flag;
    THDtype dtype;
    ptrdiff_t offset, stored;
    const void *storage, *data;
    int64_t dims[2 * MOST_DIMS];
} State;

static inline State state_of(const THTensor *t) {
    State state;
    memset(&state, 0, sizeof state);
    state.ndim = t->nDimension;
    state.flag = t->flag;
    state.dtype = THTensor_dtype(t);
    state.offset = t->storageOffset;
    state.storage = t->storage;
    state.stored = t->storage ? t->storage->size : 0;
    state.data = t->storage ? t->storage->data : NULL;
    for (int d = 0; d < t->nDimension && d < MOST_DIMS; d++) {
        state.dims[d] = t->size[d];
        state.dims[MOST_DIMS + d] = t->stride[d];
    }
    return state;
}

/* Returns true if nothing has changed since `before`. */
static inline bool as_it_was(const THTensor *t, const State *before) {
    State now = state_of(t);
    return memcmp(&now, before, sizeof now) == 0;
}

/* Kinds of results: fresh, too small, a view with elements before and after it, with many dimensions, two results in one storage. */
enum kind { FRESH, SMALL, VIEW, MANY_DIMS, SHARED, KINDS };

/* The results of a call, and all elements of their storages. */
typedef struct Results {
    THTensor *r[RESULTS], *whole[RESULTS];
} Results;

static inline Results results(enum kind kind) {
    Results made;
    for (int k = 0; k < RESULTS; k++) {
        THTensor *whole = THTensor_newFull(TH_FLOAT64, SIZES(ELEMENTS), 7);
        made.whole[k] = kind == SHARED && k > 0 ? THTensor_newWithTensor(made.whole[0]) : THTensor_newWithTensor(whole);
        THTensor_free(whole);
        made.r[k] = kind == FRESH ? THTensor_new() : THTensor_newWithTensor(made.whole[k]);
        if (kind == SMALL) CHECK_OK(THTensor_narrow(made.r[k], made.r[k], 0, 0, 3));
        if (kind == VIEW) CHECK_OK(THTensor_narrow(made.r[k], made.r[k], 0, 2, 3));
        if (kind == SHARED) CHECK_OK(THTensor_narrow(made.r[k], made.r[k], 0, 3 * k, 3));
        if (kind == MANY_DIMS) CHECK_OK(THTensor_view(made.r[k], made.r[k], SIZES(1, 1, 7, 1, 1, 1, 1)));
    }
    return made;
}

static inline void free_results(Results results) {
    for (int k = 0; k < RESULTS; k++) {
        THTensor_free(results.r[k]);
        THTensor_free(results.whole[k]);
    }
}

/* Returns true if a result and all elements of its storage are unchanged. */
static inline bool result_as_it_was(const Results *results, int k, const State *before) {
    for (int64_t i = 0; i < ELEMENTS; i++) {
        if (THTensor_get1d(results->whole[k], i) != 7) return false;
    }
    return as_it_was(results->r[k], before);
}

#endif
