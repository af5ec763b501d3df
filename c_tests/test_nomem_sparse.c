/* Memory runs out while sparse tensors are made or computed: a failed call has changed neither results nor operands. */
#define _GNU_SOURCE
#include "sparse.h"
#include "refuse.h"

#include <stdbool.h>

/* Coordinates, the same matrix compressed by rows, and entries that are rows. */
static THSTensor *s, *by_rows, *hybrid;
/* The tensors of these handles, and dense operands. */
static THTensor *indices, *values, *crow, *col, *m, *vec, *t;
/* Results that already hold another tensor, new ones for each call. */
static THSTensor *r;
static THTensor *out;

/* The handle that a call makes. */
static THSTensor *made;

static THStatus keep(THSTensor *got) { return (made = got) ? TH_OK : THGetLastErrorCode(); }
static THStatus drop(THTensor *got) {
    THStatus status = got ? TH_OK : THGetLastErrorCode();
    THTensor_free(got);
    return status;
}
static THStatus number(double got) { return isnan(got) ? THGetLastErrorCode() : TH_OK; }

#define CALL(name, call)                                                                                               \
    static THStatus name(void) { return call; }

CALL(a_new_handle, keep(THSTensor_new()))
CALL(without_entries, keep(THSTensor_newWithSize(TH_FLOAT64, SIZES(3, 4), 1)))
CALL(with_tensor, keep(THSTensor_newWithTensor(indices, values)))
CALL(with_sizes, keep(THSTensor_newWithTensorAndSize(indices, values, SIZES(3, 4))))
CALL(with_rows, keep(THSTensor_newCsr(crow, col, values, 3, 4)))
CALL(from_dense, keep(THSTensor_newFromDense(t, -1)))
CALL(a_second_handle, keep(THSTensor_newWithSparse(s)))
CALL(cloned, keep(THSTensor_newClone(s)))
CALL(newly_coalesced, keep(THSTensor_newCoalesce(s)))
CALL(compressed, keep(THSTensor_newCompressed(s)))
CALL(back, keep(THSTensor_newCoordinates(by_rows)))
CALL(made_dense, drop(THSTensor_newDense(s)))
CALL(hybrid_made_dense, drop(THSTensor_newDense(hybrid)))
CALL(positions, drop(THSTensor_newIndices(by_rows)))
CALL(copied, THSTensor_copy(r, by_rows))
CALL(zeroed, THSTensor_zero(r))
CALL(resized, THSTensor_resize(r, SIZES(9), 1))
CALL(coalesced, THSTensor_coalesce(r, hybrid))
CALL(transposed, THSTensor_transpose(r, by_rows, 0, 1))
CALL(selected, THSTensor_select(r, s, 0, 2))
CALL(narrowed, THSTensor_narrow(r, s, 1, 0, 2))
CALL(joined, THSTensor_cat(r, ((THSTensor *const[]){s, by_rows, s}), 3, 0))
CALL(joined_entries, THSTensor_cat(r, ((THSTensor *const[]){hybrid, hybrid}), 2, 1))
CALL(added, THSTensor_cadd(r, s, 2, by_rows))
CALL(multiplied, THSTensor_cmul(r, s, by_rows))
CALL(times_dense, THSTensor_cmulDense(r, s, t))
CALL(scaled, THSTensor_mul(r, hybrid, 2))
CALL(of_sine, THSTensor_sin(r, by_rows))
CALL(summed, THSTensor_sum(r, s, SIZES(0)))
CALL(summed_up, number(THSTensor_sumall(s)))
CALL(norm, number(THSTensor_normall(s, 2)))
CALL(times_matrix, THSTensor_spmm(out, s, m))
CALL(times_vector, THSTensor_spmv(out, by_rows, vec))
CALL(added_product, THSTensor_spaddmm(out, 2, vec, 3, s, m))
CALL(hybrid_product, THSTensor_hspmm(r, s, m))
CALL(sparse_product, THSTensor_sspmm(r, s, m))
CALL(sampled, THSTensor_sampledAddmm(r, 1, s, 2, t, m))
CALL(added_to_dense, THSTensor_spcadd(out, t, 2, s))
CALL(masked, THSTensor_sparseMask(r, t, s))
CALL(rows_times_matrix, THTensor_csrMatmul(out, crow, col, values, m))
CALL(rows_transposed, THTensor_csrMatmulTransposed(out, crow, col, values, t, 5))
CALL(rows_sampled, THTensor_csrSampled(out, crow, col, t, m))
CALL(printed, (THFree(THSTensor_toString(s, NULL)), THGetLastErrorCode()))

#define NAMED(call) {#call, call}
static const struct {
    const char *name;
    THStatus (*call)(void);
} calls[] = {
    NAMED(a_new_handle),
    NAMED(without_entries),
    NAMED(with_tensor),
    NAMED(with_sizes),
    NAMED(with_rows),
    NAMED(from_dense),
    NAMED(a_second_handle),
    NAMED(cloned),
    NAMED(newly_coalesced),
    NAMED(compressed),
    NAMED(back),
    NAMED(made_dense),
    NAMED(hybrid_made_dense),
    NAMED(positions),
    NAMED(copied),
    NAMED(zeroed),
    NAMED(resized),
    NAMED(coalesced),
    NAMED(transposed),
    NAMED(selected),
    NAMED(narrowed),
    NAMED(joined),
    NAMED(joined_entries),
    NAMED(added),
    NAMED(multiplied),
    NAMED(times_dense),
    NAMED(scaled),
    NAMED(of_sine),
    NAMED(summed),
    NAMED(summed_up),
    NAMED(norm),
    NAMED(times_matrix),
    NAMED(times_vector),
    NAMED(added_product),
    NAMED(hybrid_product),
    NAMED(sparse_product),
    NAMED(sampled),
    NAMED(added_to_dense),
    NAMED(masked),
    NAMED(rows_times_matrix),
    NAMED(rows_transposed),
    NAMED(rows_sampled),
    NAMED(printed),
};

enum { CALLS = sizeof calls / sizeof *calls, OPERANDS = 3 };

/* A snapshot of the handle and its tensors. */
struct look {
    THSTensor fields;
    int64_t size[3];
};

static struct look look_at(const THSTensor *a) {
    struct look look;
    memset(&look, 0, sizeof look);
    look.fields = *a;
    memcpy(look.size, a->size, (size_t)(a->nDimensionI + a->nDimensionV) * sizeof *a->size);
    return look;
}

static bool is_as_it_was(const THSTensor *a, const struct look *before) {
    struct look now = look_at(a);
    return memcmp(&now, before, sizeof now) == 0;
}

/* Makes a result with one entry of 7, and a dense result of three nines. */
static void make_results(void) {
    THTensor *at = POSITIONS(1, 2), *seven = vector_of(TH_FLOAT64, 7);
    r = THSTensor_newWithTensor(at, seven);
    out = vector_of(TH_FLOAT64, 9, 9, 9);
    THTensor_free(seven);
    THTensor_free(at);
}

/* Makes one call with allocations refused. Returns true if the call reached them. */
static bool refused_once(int k, long first, long last) {
    THSTensor *const operands[] = {s, by_rows, hybrid};
    struct look before[OPERANDS], result;
    make_results();
    if (calls[k].call == resized) CHECK_OK(THSTensor_zero(r));
    for (int i = 0; i < OPERANDS; i++) before[i] = look_at(operands[i]);
    result = look_at(r);
    made = NULL;
    THClearLastError();
    refuse(first, last);
    THStatus status = calls[k].call();
    bool refused = was_refused();
    bool fine = CHECK(status == TH_OK || (status == TH_ERR_NOMEM && refused));
    for (int i = 0; i < OPERANDS; i++) fine &= CHECK(is_as_it_was(operands[i], &before[i]));
    if (status != TH_OK) {
        fine &= CHECK(is_as_it_was(r, &result)) & CHECK(made == NULL);
        fine &= CHECK_VALUES(out, 9, 9, 9);
        if (calls[k].call != resized) fine &= CHECK_VALUES(r->values, 7);
    }
    fine &= CHECK_VALUES(s->values, 4, 2, 1, 1) & CHECK_VALUES(by_rows->values, 4, 2, 1, 1);
    if (!fine) printf("\n  in %s, request %ld%s ", calls[k].name, first, first == last ? "" : " and all after");
    THSTensor_free(made);
    THSTensor_free(r);
    THTensor_free(out);
    return refused;
}

static void a_call_without_memory_changes_nothing(void) {
    indices = POSITIONS(2, 2, 0, 2, 2, 3, 1, 0, 3);
    values = vector_of(TH_FLOAT64, 4, 2, 1, 1);
    crow = vector_of(TH_INT64, 0, 2, 2, 4);
    col = vector_of(TH_INT32, 3, 1, 0, 2);
    m = THTensor_newOnes(TH_FLOAT64, SIZES(4, 4));
    vec = vector_of(TH_FLOAT64, 1, 2, 3, 4);
    t = THTensor_newOnes(TH_FLOAT64, SIZES(3, 4));
    THTensor *one = POSITIONS(1, 1, 1), *rows = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4);
    s = THSTensor_newWithTensorAndSize(indices, values, SIZES(3, 4));
    by_rows = THSTensor_newCsr(crow, col, values, 3, 4);
    hybrid = THSTensor_newWithTensor(one, rows);
    for (int k = 0; k < CALLS; k++) {
        for (int alone = 0; alone < 2; alone++) {
            long request = 0;
            while (request < 1000 && refused_once(k, request, alone ? request : FOR_GOOD)) request++;
            if (!CHECK(request < 1000)) printf("\n  in %s ", calls[k].name);
        }
    }
    THTensor *const dense[] = {indices, values, crow, col, m, vec, t, one, rows};
    for (size_t k = 0; k < sizeof dense / sizeof *dense; k++) THTensor_free(dense[k]);
    THSTensor_free(hybrid);
    THSTensor_free(by_rows);
    THSTensor_free(s);
    THAllocator_emptyCache();
}

CHECK_MAIN(CASE(a_call_without_memory_changes_nothing))
