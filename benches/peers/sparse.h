// Conversions of sparse tensors with coordinates to other forms. The result is the values. sparse.py does the same with
// PyTorch and SciPy.
#include <thorn.h>

// The values of the matrix [size x size] with entries `values` at `indices`, in another form.
static THTensor *sparseForm(const THTensor *indices, const THTensor *values, int64_t size, THSTensor *(*form)(const THSTensor *)) {
    int64_t sizes[] = {size, size};
    THSTensor *s = THSTensor_newWithTensorAndSize((THTensor *)indices, (THTensor *)values, 2, sizes);
    THSTensor *made = s ? form(s) : NULL;
    THTensor *r = made ? THSTensor_newValues(made) : NULL;
    THSTensor_free(made);
    THSTensor_free(s);
    return r;
}

// The matrix [size x size] with entries `values` at `indices`, coalesced. The latest one is kept for the next call with the same handles.
static THSTensor *sparseMatrix(const THTensor *indices, const THTensor *values, int64_t size) {
    static const THTensor *known[2];
    static THSTensor *kept;
    if (kept && known[0] == indices && known[1] == values) return kept;
    int64_t sizes[] = {size, size};
    THSTensor *s = THSTensor_newWithTensorAndSize((THTensor *)indices, (THTensor *)values, 2, sizes);
    THSTensor_free(kept);
    kept = s ? THSTensor_newCoalesce(s) : NULL;
    THSTensor_free(s);
    // Handles that are kept keep their addresses.
    for (int k = 0; k < 2; k++) THTensor_free((THTensor *)known[k]);
    known[0] = indices, known[1] = values;
    for (int k = 0; k < 2; k++) THTensor_retain((THTensor *)known[k]);
    return kept;
}

static THSTensor *sparseResult(void) {
    static THSTensor *kept;
    if (!kept) kept = THSTensor_new();
    return kept;
}

// For rows: the values of `q`, which `call` makes from the matrix `s` with the entries `a` at `i`.
#define SPARSE(i, a, size, call)                                                                                       \
    ({                                                                                                                 \
        THSTensor *s = sparseMatrix(i, a, size), *q = sparseResult();                                                  \
        s && (call) == TH_OK ? THSTensor_newValues(q) : NULL;                                                          \
    })

// For rows: a dense tensor that `call` makes from the matrix `s`.
#define SPARSE_TO_DENSE(i, a, size, call)                                                                              \
    ({                                                                                                                 \
        THSTensor *s = sparseMatrix(i, a, size);                                                                       \
        s ? (call) : NULL;                                                                                             \
    })

// For rows: `call` computes the dense `r` from the matrix `s`.
#define WITH_SPARSE(i, a, size, call)                                                                                  \
    ({                                                                                                                 \
        THSTensor *s = sparseMatrix(i, a, size);                                                                       \
        s ? (call) : THGetLastErrorCode();                                                                             \
    })

// Takes the values of `made` and frees it.
static THTensor *sparseValues(THSTensor *made) {
    THTensor *values = made ? THSTensor_newValues(made) : NULL;
    THSTensor_free(made);
    return values;
}

static THStatus sparseCat(THSTensor *q, THSTensor *s) {
    THSTensor *both[] = {s, s};
    return THSTensor_cat(q, (void *)both, 2, 0);
}
