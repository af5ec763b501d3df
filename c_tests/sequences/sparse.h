/* Sparse tensors: handles that often fit each other, and handles whose fields the program has changed. */
#ifndef THORN_SEQUENCES_SPARSE_H
#define THORN_SEQUENCES_SPARSE_H

#include "files.h"
#include "runtime.h"
#include "special.h"

static void keep_sparse(THSTensor *s) {
    if (!s) return;
    THSTensor **slot = &pool.sparse[below(SPARSE)];
    if (*slot && gone_sparse_count < MOST_GONE) gone_sparse[gone_sparse_count++] = *slot;
    *slot = s;
}

/* Returns positions below `size`, with few duplicates. If `hostile`, some positions are outside. */
static THTensor *some_positions(int64_t rows, int64_t nnz, const int64_t *size, bool hostile) {
    THTensor *t = THTensor_newZeros(chance(25) ? TH_INT32 : TH_INT64, 2, (int64_t[]){rows, nnz});
    if (!t) fail("no memory: %s", THGetLastError());
    for (ptrdiff_t i = 0; i < rows * nnz; i++) {
        int64_t most = size[i / nnz];
        THStorage_setLong(t->storage, i, hostile && chance(5) ? below(9) - 3 : most > 0 ? below(most < 9 ? (int)most : 9) : 0);
    }
    return t;
}

/* Returns small numbers in one of the dtypes that most functions accept, row-major or a view of a larger tensor. */
static THTensor *some_entries(int rank, const int64_t *size) {
    int64_t twice[5];
    for (int d = 0; d < rank; d++) twice[d] = size[d];
    bool stepped = chance(20), expanded = !stepped && chance(5);
    if (stepped) twice[0] *= 2;
    if (expanded) twice[0] = 1;
    THDtype dtype = chance(75) ? (chance(50) ? TH_FLOAT64 : TH_FLOAT32) : (THDtype)(1 + below(10));
    THTensor *t = THTensor_newZeros(dtype, rank, twice), *view = NULL;
    if (!t) fail("no memory: %s", THGetLastError());
    for (ptrdiff_t i = 0; t->storage && i < t->storage->size; i++) THStorage_set(t->storage, i, below(7) - 2);
    if (stepped) view = THTensor_newSlice(t, 0, 0, twice[0], 2);
    if (expanded) view = THTensor_newExpand(t, rank, size);
    if (!view) return t;
    THTensor_free(t);
    return view;
}

static THSTensor *some_rows(int64_t rows, int64_t columns, bool hostile) {
    int64_t nnz = 0, starts[8] = {0};
    for (int64_t i = 0; i < rows; i++) starts[i + 1] = nnz += columns > 0 ? below(3) : 0;
    if (hostile && chance(20)) starts[below((int)rows + 1)] = below(9) - 2;
    THTensor *at = some_positions(1, nnz, &columns, hostile);
    THTensor *crow = THTensor_newFromData(TH_INT64, 1, (int64_t[]){rows + 1}, starts);
    THTensor *col = THTensor_newSelect(at, 0, 0), *values = some_entries(1, &nnz);
    if (chance(30)) {
        THTensor *narrow = THTensor_newTo(crow, TH_INT32);
        THTensor_free(crow);
        crow = narrow;
    }
    THSTensor *s = THSTensor_newCsr(crow, col, values, rows, columns);
    THTensor_free(at);
    THTensor_free(crow);
    THTensor_free(col);
    THTensor_free(values);
    return s;
}

/* Returns a sparse tensor. The sizes are few, so that two tensors mostly fit each other. NULL if the library refuses the positions. */
static THSTensor *some_sparse(bool hostile) {
    static const int64_t sizes[][4] = {{3, 3}, {3, 3}, {3, 3}, {3, 4}, {4, 3}, {3, 3, 2}, {2, 3, 3, 2}, {5}, {0, 3}, {3, 0, 2}};
    static const int ranks[] = {2, 2, 2, 2, 2, 3, 4, 1, 2, 3};
    int which = below(LENGTH(ranks)), rank = ranks[which], sparse = chance(70) && rank >= 2 ? 2 : below(rank + 1);
    if (rank == 2 && sparse == 2 && chance(35)) return some_rows(sizes[which][0], sizes[which][1], hostile);
    int64_t entries[5] = {below(7)};
    for (int d = 0; d < sparse; d++)
        if (sizes[which][d] == 0) entries[0] = 0;
    for (int d = sparse; d < rank; d++) entries[d - sparse + 1] = sizes[which][d];
    THTensor *at = some_positions(sparse, entries[0], sizes[which], hostile), *values = some_entries(rank - sparse + 1, entries);
    THSTensor *s = chance(80) ? THSTensor_newWithTensorAndSize(at, values, rank, sizes[which]) : THSTensor_newWithTensor(at, values);
    if (s && chance(30)) {
        THSTensor *one = THSTensor_newCoalesce(s);
        THSTensor_free(s);
        s = one;
    }
    THTensor_free(at);
    THTensor_free(values);
    return s;
}

/* Changes the fields of a handle, as a careless program may. The references stay valid. */
static void change_fields(THSTensor *s) {
    THTensor *part = chance(50) ? s->values : s->indices ? s->indices : chance(50) ? s->crow : s->col;
    THTensor **fields[] = {&s->indices, &s->values, &s->crow, &s->col}, **field = fields[below(4)];
    trace("(fields changed) ");
    switch (below(7)) {
    case 0: s->nDimensionI = below(6) - 1; break;
    case 1: s->nDimensionV = below(6) - 1; break;
    case 2: s->coalesced = below(2); break;
    case 3:
        if (s->nDimensionI > 0 && s->size) s->size[0] = whole("size");
        break;
    case 4:
        if (part && part->storage && part->storage->size > 0)
            THStorage_setLong(part->storage, below((int)part->storage->size), whole("element"));
        break;
    case 5:
        if (part) THTensor_resize1d(part, below(6));
        break;
    default:
        THTensor_free(*field);
        *field = chance(50) ? NULL : pool.tensor[below(TENSORS)];
        THTensor_retain(*field);
    }
    THClearLastError();
}

static THSTensor *sparse(const char *name) {
    THSTensor **slot = &pool.sparse[below(SPARSE)];
    if (chance(12)) {
        keep_sparse(chance(10) ? THSTensor_new() : some_sparse(chance(30)));
        THClearLastError();
    }
    THSTensor *s = chance(4) ? NULL : *slot;
    /* The changed handle is freed after the call, so that later calls get valid handles. */
    if (s && chance(3)) {
        THSTensor *other = THSTensor_newClone(s);
        if (other) {
            keep_sparse(other);
            change_fields(s = other);
        }
        THClearLastError();
    }
    trace("%s=sparse %p", name, (void *)s);
    if (s) {
        trace("(%d + %d dims, nnz %lld, [", s->nDimensionI, s->nDimensionV, (long long)s->nnz);
        for (int d = 0; d < sparse_rank(s); d++) trace("%lld ", (long long)s->size[d]);
        trace("]%s) ", s->crow ? ", rows" : "");
        last_sparse = s;
    }
    if (s && touched_count < MOST_TOUCHED) touched[touched_count++] = (struct look){.sparse = s};
    return s;
}

static THSTensor **sparse_handles(const char *name, int n) {
    if (n > 1000 || chance(3)) n = 0;
    trace("%s={", name);
    THSTensor **entries = exactly(n > 0 ? (size_t)n * sizeof *entries : 0);
    THSTensor *one = sparse("");
    for (int i = 0; i < n; i++) entries[i] = n > 10 || chance(60) ? one : sparse("");
    trace("} ");
    return entries;
}

/* Returns a dense tensor for a function of sparse tensors: sometimes with the same sizes, or with sizes that can be multiplied, of any
 * dtype or the same. */
static THTensor *beside_sparse(const char *name) {
    const THSTensor *s = last_sparse;
    int ndim = s ? THSTensor_nDimension(s) : -1, kind = below(4);
    THDtype dtype = s ? THSTensor_dtype(s) : TH_UNDEFINED;
    int64_t size[4] = {1 + below(3), 1 + below(3), 1, 1};
    for (int d = 0; d < ndim && d < 4; d++) size[d] = THSTensor_size(s, d);
    THClearLastError();
    if (ndim < 0 || ndim > 4 || dtype == TH_UNDEFINED || chance(25)) return tensor(name);
    for (int d = 0; d < ndim; d++)
        if (size[d] < 0 || size[d] > 9) return tensor(name);
    fitting_dtype = dtype;
    if (kind == 0) return fitting_tensor(name, ' ', ndim, size);
    if (kind == 1 && ndim > 1) return fitting_tensor(name, ' ', 1, &size[1]);
    if (kind == 2 && ndim > 1) return fitting_tensor(name, ' ', 2, (int64_t[]){size[1], 1 + below(3)});
    for (int d = 0; d < ndim; d++) size[d] = chance(50) ? 1 : size[d];
    return fitting_tensor(name, ' ', ndim, size);
}

static void call_THSTensor_retain(void) {
    THSTensor *s = pool.sparse[below(SPARSE)];
    begin("THSTensor_retain");
    before();
    THSTensor_retain(s);
    after();
    keep_sparse(s);
}

static void call_THSTensor_free(void) {
    begin("THSTensor_free");
    before();
    THSTensor_free(take(pool.sparse, SPARSE));
    after();
}

/* Passes positions and values that fit each other, or tensors of any kind. */
static void call_THSTensor_newWithTensorAndSize(void) {
    begin("THSTensor_newWithTensorAndSize");
    int64_t size[] = {3, 3, 2}, entries[] = {below(7), 2};
    bool fits = chance(60);
    int ndim = fits ? 3 : below(5);
    THTensor *at = some_positions(2, entries[0], size, chance(30)), *values = some_entries(2, entries);
    keep_tensor(at);
    keep_tensor(values);
    if (!fits) values = tensor("values");
    if (chance(20)) at = tensor("indices");
    int64_t *sizes = fits && chance(70) ? these("size", 3, size) : list("size", ndim);
    before();
    THSTensor *got = THSTensor_newWithTensorAndSize(at, values, ndim, sizes);
    after();
    keep_sparse(got);
}

/* As call_THSTensor_newWithTensorAndSize, without sizes. */
static void call_THSTensor_newWithTensor(void) {
    begin("THSTensor_newWithTensor");
    int64_t size[] = {3, 3}, entries[] = {below(7), 2};
    THTensor *at = some_positions(2, entries[0], size, chance(30)), *values = some_entries(1 + below(2), entries);
    keep_tensor(at);
    keep_tensor(values);
    if (chance(15)) at = tensor("indices");
    if (chance(15)) values = tensor("values");
    before();
    THSTensor *got = THSTensor_newWithTensor(at, values);
    after();
    keep_sparse(got);
}

/* Passes starts of rows that ascend, or tensors of any kind. */
static void call_THSTensor_newCsr(void) {
    begin("THSTensor_newCsr");
    int64_t nnz = below(5), columns = 3;
    THTensor *crow = THTensor_newFromData(TH_INT64, 1, (int64_t[]){3}, (int64_t[]){0, nnz / 2, nnz}), *values = some_entries(1, &nnz);
    THTensor *at = some_positions(1, nnz, &columns, chance(30)), *col = THTensor_newSelect(at, 0, 0);
    keep_tensor(crow);
    keep_tensor(values);
    keep_tensor(at);
    keep_tensor(col);
    if (chance(15)) crow = tensor("crow");
    if (chance(15)) col = tensor("col");
    if (chance(15)) values = tensor("values");
    int64_t rows = chance(80) ? 2 : whole("rows");
    if (chance(20)) columns = whole("columns");
    before();
    THSTensor *got = THSTensor_newCsr(crow, col, values, rows, columns);
    after();
    keep_sparse(got);
}

static void call_THSTensor_newLoad(void) {
    begin("THSTensor_newLoad");
    const char *path = file_name("path");
    before();
    THSTensor *got = THSTensor_newLoad(path);
    after();
    keep_sparse(got);
}

static void call_THSTensor_save(void) {
    begin("THSTensor_save");
    const THSTensor *s = sparse("s");
    const char *path = file_name("path");
    before();
    after_status(THSTensor_save(s, path));
}

static void call_THSTensor_print(void) {
    begin("THSTensor_print");
    const THSTensor *s = sparse("s");
    FILE *stream = some_stream(), *was = stdout;
    stdout = stream;
    before();
    THStatus got = THSTensor_print(s);
    stdout = was;
    after_status(got);
    fclose(stream);
}

static void call_THSTensor_fprint(void) {
    begin("THSTensor_fprint");
    FILE *stream = some_stream();
    const THSTensor *s = sparse("s");
    const THPrintOptions *options = print_options("options");
    before();
    after_status(THSTensor_fprint(chance(4) ? NULL : stream, s, options));
    fclose(stream);
}

/* Starts, columns and values, from one sparse tensor of the pool, or any tensors. */
enum rows_part { STARTS, COLUMNS, VALUES };

static THTensor *part_of_rows(const char *name, enum rows_part part) {
    static const THSTensor *s;
    if (part == STARTS) {
        s = NULL;
        for (int i = 0; i < SPARSE && !(s && s->crow); i++) s = pool.sparse[below(SPARSE)];
        fitting_dtype = s && s->values && s->values->dtype != TH_UNDEFINED ? s->values->dtype : TH_FLOAT64;
    }
    if (!s || !s->crow || chance(5)) return tensor(name);
    THTensor *t = part == STARTS ? s->crow : part == COLUMNS ? s->col : s->values;
    trace("%s=%p of sparse %p ", name, (void *)t, (const void *)s);
    touch(t, NULL);
    return t;
}

/* Returns a vector or matrix to multiply with a matrix of compressed rows. */
static THTensor *beside_rows(const char *name) {
    return chance(15) ? tensor(name) : fitting_tensor(name, ' ', 1 + below(2), (int64_t[]){3 + chance(20), 2});
}

static void call_THTensor_csrCompress(void) {
    begin("THTensor_csrCompress");
    int64_t nnz = below(7), size = 3;
    THTensor *crow = tensor("crow"), *col = tensor("col"), *starts = tensor("starts"), *order = tensor("order");
    THTensor *at = some_positions(2, nnz, (int64_t[]){3, 4}, chance(30));
    THTensor *rows = THTensor_newSelect(at, 0, 0), *columns = THTensor_newSelect(at, 0, 1);
    keep_tensor(at);
    keep_tensor(rows);
    keep_tensor(columns);
    if (chance(15)) rows = tensor("rows");
    if (chance(15)) columns = tensor("columns");
    if (chance(15)) size = whole("size");
    before();
    after_status(THTensor_csrCompress(crow, col, starts, order, rows, columns, size));
}

/* A progress function that rarely stops the iteration. */
static THStatus some_progress(int64_t iteration, double residual, void *context) {
    (void)iteration, (void)residual, (void)context;
    return chance(5) ? TH_ERR_IO : TH_OK;
}

/* Returns a small number of steps, because all of them may be made. */
static int64_t some_steps(void) { return chance(10) ? -1 - below(3) : below(40); }

static void call_THTensor_csrCg(void) {
    begin("THTensor_csrCg");
    THTensor *r = tensor("r"), *residual = chance(50) ? NULL : tensor("residual");
    THTensor *crow = part_of_rows("crow", STARTS), *col = part_of_rows("col", COLUMNS);
    THTensor *values = part_of_rows("values", VALUES), *b = beside_rows("b"), *start = chance(60) ? NULL : tensor("start");
    double tol = number("tol");
    int64_t steps = some_steps();
    before();
    THTensor_csrCg(r, residual, crow, col, values, b, start, tol, steps, chance(50) ? NULL : some_progress, NULL);
    after();
}

static void call_THSTensor_cg(void) {
    begin("THSTensor_cg");
    THTensor *r = tensor("r"), *residual = chance(50) ? NULL : tensor("residual");
    const THSTensor *s = sparse("s");
    THTensor *b = beside_sparse("b"), *start = chance(60) ? NULL : beside_sparse("start");
    double tol = number("tol");
    int64_t steps = some_steps();
    before();
    THSTensor_cg(r, residual, s, b, start, tol, steps, chance(50) ? NULL : some_progress, NULL);
    after();
}

#endif
