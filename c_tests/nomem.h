/* Calls with memory refused: every allocation of a call in turn, with results of all kinds.
 *
 * Each call is repeated with the first allocation refused, then the second, and so on, until the call succeeds: once
 * with that allocation alone refused, and once with all later ones refused as well. */

#ifndef THORN_NOMEM_H
#define THORN_NOMEM_H

#define _GNU_SOURCE
#include "check.h"
#include "refuse.h"
#include "state.h"

enum { STORED = 3, MOST_INPUTS = 16 };

/* A call that writes to one or two results. */
typedef THStatus Call(THTensor *const *r);

/* A call, and whether the elements it makes are undefined. */
typedef struct Named {
    const char *name;
    Call *call;
    bool undefined;
} Named;

#define NAMED(call) {#call, call, false}
#define UNDEFINED(call) {#call, call, true}

/* A separate storage for each call, with room for STORED elements. */
static THStorage *store;

/* Returns true if a tensor equals `model` bit for bit. */
static bool same(const THTensor *t, const THTensor *model) {
    if (THTensor_dtype(t) != THTensor_dtype(model) || !THTensor_isSameSizeAs(t, model)) return false;
    return THTensor_dtype(t) == TH_UNDEFINED || THTensor_equal(t, model) == 1;
}

/* Returns true if results and inputs are unchanged. If not, prints which of them changed. */
static bool nothing_changed(const Results *now, int kind, const State *r, THTensor *const *inputs, const State *before,
                            int count, const THStorage *was) {
    bool unchanged = true;
    for (int k = 0; k < RESULTS; k++) {
        bool fits = kind >= KINDS;
        if (fits ? as_it_was(now->r[k], &r[k]) && same(now->r[k], now->whole[k]) : result_as_it_was(now, k, &r[k]))
            continue;
        printf("\n  result %d has changed ", k);
        unchanged = false;
    }
    for (int k = 0; k < count; k++) {
        if (as_it_was(inputs[k], &before[k])) continue;
        printf("\n  input %d has changed ", k);
        unchanged = false;
    }
    if (store->data != was->data || store->size != was->size) {
        printf("\n  the storage has changed ");
        unchanged = false;
    }
    return unchanged;
}

/* Further kinds of results, whose memory the call keeps: row-major results, and results whose first two dimensions are
 * swapped in memory. */
enum { FITTING = KINDS, SWAPPED, ALL_KINDS };

/* Returns results with the shapes and dtypes of the fresh results of `call`, filled with sevens. */
static Results fitting_results(Call *call, bool swapped) {
    Results fresh = results(FRESH), made;
    store = THStorage_newWithSize(TH_FLOAT32, STORED);
    CHECK_OK(THStorage_fill(store, 0));
    call(fresh.r);
    THStorage_free(store);
    for (int k = 0; k < RESULTS; k++) {
        const THTensor *t = fresh.r[k];
        int64_t sizes[MOST_DIMS];
        int ndim = t->nDimension;
        bool swaps = swapped && ndim > 1;
        for (int d = 0; d < ndim; d++) sizes[d] = t->size[swaps && d < 2 ? 1 - d : d];
        THDtype dtype = THTensor_dtype(t);
        made.r[k] = dtype == TH_UNDEFINED ? THTensor_new() : THTensor_newFull(dtype, ndim, sizes, 7);
        if (swaps) CHECK_OK(THTensor_transpose(made.r[k], made.r[k], 0, 1));
        made.whole[k] = THTensor_newClone(made.r[k]);
    }
    free_results(fresh);
    return made;
}

static Results results_for(Call *call, int kind) {
    return kind < KINDS ? results((enum kind)kind) : fitting_results(call, kind == SWAPPED);
}

/* Checks that the call succeeds with memory, and fails when any of its allocations is refused. */
static void run_out_of(const Named *named, THTensor *const *inputs, int count, int kind, bool for_good) {
    Call *call = named->call;
    State inputs_before[MOST_INPUTS], before[RESULTS];
    for (int k = 0; k < count; k++) inputs_before[k] = state_of(inputs[k]);
    Results expected = results_for(call, kind);
    store = THStorage_newWithSize(TH_FLOAT32, STORED);
    CHECK_OK(THStorage_fill(store, 0));
    THStatus possible = call(expected.r);
    THStorage_free(store);
    for (long n = 0; n < 1000; n++) {
        Results now = results_for(call, kind);
        for (int k = 0; k < RESULTS; k++) before[k] = state_of(now.r[k]);
        store = THStorage_newWithSize(TH_FLOAT32, STORED);
        CHECK_OK(THStorage_fill(store, 0));
        THStorage was = *store;
        THClearLastError();
        refuse(n, for_good ? FOR_GOOD : n);
        THStatus status = call(now.r);
        bool refused = was_refused(), fine = true;
        if (status == TH_ERR_NOMEM) {
            fine &= CHECK(refused) & CHECK(strstr(THGetLastError(), "memory") != NULL);
        } else {
            fine &= CHECK_EQ(status, possible);
        }
        if (status != TH_OK) {
            fine &= CHECK(nothing_changed(&now, kind, before, inputs, inputs_before, count, &was));
        }
        for (int k = 0; k < RESULTS && status == TH_OK; k++) {
            const THTensor *r = now.r[k], *model = expected.r[k];
            fine &= CHECK(named->undefined ? THTensor_isSameSizeAs(r, model) : same(r, model));
        }
        if (!fine) printf("\n  in %s, kind %d, request %ld%s ", named->name, kind, n, for_good ? " and all after" : "");
        free_results(now);
        THStorage_free(store);
        if (!refused) break;
    }
    free_results(expected);
}

/* Calls `run_out_of` with results of every kind. */
static void run_out(const Named *calls, size_t number, THTensor *const *inputs, int count) {
    for (size_t i = 0; i < number; i++) {
        for (size_t kind = 0; kind < 2 * ALL_KINDS; kind++) {
            /* Under valgrind each call gets a third of the kinds. */
            if (under_valgrind() && (i + kind) % 3 != 0) continue;
            run_out_of(&calls[i], inputs, count, (int)kind / 2, kind & 1);
        }
    }
}

#endif
