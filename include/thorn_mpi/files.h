/**
 * @file files.h
 * @brief One file of all ranks, read and written by MPI-IO. Included by thorn_mpi.h.
 *
 *     TH_MPI_saveNpy(block, 0, "field.npy", comm);                        // the ranks' rows, one under the other
 *     TH_MPI_load(block, 0, NULL, "field.npy", NULL, comm);               // and back, whatever the number of ranks
 *
 * A file contains whole tensors: NumPy, PyTorch and thorn read the file like any other. A tensor in the file is divided
 * along one dimension into the blocks of the ranks. The blocks are in the order of the ranks and may be uneven. With
 * TH_MPI_WHOLE as the dimension, each rank has the whole tensor. All ranks call these functions with the same path, on
 * a shared file system. All ranks return the same error, with the message of MPI or thorn: `TH_ERR_IO`, the file cannot
 * be opened, read or written; `TH_ERR_FORMAT`, the file is malformed; `TH_ERR_UNSUPPORTED`, elements in another byte
 * order or of a type that thorn would have to convert, or a format other than .npy and safetensors; `TH_ERR_ARGUMENT`,
 * a name that is not in the file, or ranks that save along different dimensions or with different names;
 * `TH_ERR_SHAPE`, `TH_ERR_DTYPE`, blocks that do not fit together.
 *
 * A file is first written as PATH.part, and then renamed to PATH: after a failure an existing PATH is unchanged.
 */

#ifndef THORN_MPI_FILES_H
#define THORN_MPI_FILES_H

#include "heads.h"
#include "scatter.h"

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

/// In place of a dimension: the tensor is not divided, and every rank has the whole tensor. Rank 0 writes its tensor.
#define TH_MPI_WHOLE INT_MIN

#ifndef TH_MPI_FILE_BYTES
/// The largest number of bytes that a rank passes to one call of MPI; a single row may be larger.
#define TH_MPI_FILE_BYTES (1 << 29)
#endif

/* Returns the status of this rank. If that is TH_OK, returns an error if another rank has failed or calls another
 * function than `kind`. TH_MPI_setChecked does not switch this off, because the cost is negligible compared with file
 * access. */
static inline THStatus th_mpi_all_ok(THMpiCall *call, THStatus status, int64_t kind) {
    th_mpi_facts facts;
    th_mpi_facts_of(&facts, kind, NULL, -1, -1);
    return th_mpi_compare(call, status, &facts);
}

/* -------------------------------------------------------------------------------------------------------- blocks */

/* A block of a tensor in a file. `t` has the block's elements in memory, in any layout. In the file the tensor is
 * row-major, has the sizes `whole`, and its elements begin at byte `offset`. The block begins at entry `first` of
 * dimension `dim`. */
typedef struct th_mpi_block {
    const THTensor *t;
    int dim;
    int64_t first;
    const int64_t *whole;
    int64_t offset;
} th_mpi_block;

/* Reads or writes the entries `from` to `from + count - 1` of dimension 0 of a block, in one collective call. */
static inline THStatus th_mpi_move_rows(THMpiCall *call, MPI_File file, const th_mpi_block *block, int64_t from, int64_t count,
                                        int writes) {
    int64_t stride[1024], place = block->offset, step = 1;
    const int dims = block->t->nDimension;
    const THDtype dtype = (THDtype)block->t->dtype;
    const int64_t item = (int64_t)THDtype_size(dtype);
    th_mpi_buffer memory = {NULL, 0, MPI_BYTE}, there = {NULL, 0, MPI_BYTE};
    th_mpi_layout layout;
    MPI_Status moved;
    for (int d = dims - 1; d >= 0; step *= block->whole[d--]) stride[d] = step;
    place += (from * stride[0] + block->first * stride[block->dim]) * item;
    THTensor *rows = THTensor_newDetach((THTensor *)(uintptr_t)block->t);
    THStatus status = rows ? THTensor_narrow(rows, rows, 0, from, count) : TH_ERR_NOMEM;
    if (status != TH_OK) status = th_mpi_passed_on(call->what);
    if (status == TH_OK) {
        th_mpi_layout_of(&layout, item, dims, rows->size, stride);
        status = th_mpi_count_of(&there, call, dtype, &layout);
    }
    if (status == TH_OK) status = th_mpi_buffer_of(&memory, call, rows);
    /* All ranks take part in both calls. A rank that has failed transfers nothing. */
    if (status != TH_OK) memory.count = 0, memory.type = there.type = TH_MPI_datatype(dtype);
    int code = MPI_File_set_view(file, (MPI_Offset)place, TH_MPI_datatype(dtype), there.type, "native", MPI_INFO_NULL);
    int done = writes ? MPI_File_write_all(file, memory.data, memory.count, memory.type, &moved)
                      : MPI_File_read_all(file, memory.data, memory.count, memory.type, &moved);
    if (status == TH_OK) status = th_mpi_check(code == MPI_SUCCESS ? done : code, call->what);
    const int64_t expected = rows ? (int64_t)THTensor_nElement(rows) * item : 0;
    MPI_Count bytes = 0;
    if (status == TH_OK && expected > 0) status = th_mpi_check(MPI_Get_elements_x(&moved, MPI_BYTE, &bytes), call->what);
    if (status == TH_OK && bytes != expected) {
        status = th_mpi_fail(TH_ERR_IO, "%s: %lld bytes of %lld were moved", call->what, (long long)bytes, (long long)expected);
    }
    THTensor_free(rows);
    return status;
}

/* Reads or writes the block of each rank, in as many collective calls as the largest block needs. Returns this rank's
 * own status. */
static inline THStatus th_mpi_move_block(THMpiCall *call, MPI_File file, const th_mpi_block *block, int writes) {
    const int64_t count = block->t->size[0], elements = (int64_t)THTensor_nElement(block->t);
    const int64_t row = count > 0 ? elements / count * (int64_t)THDtype_size((THDtype)block->t->dtype) : 0;
    const int64_t each = row == 0 ? count + 1 : row > TH_MPI_FILE_BYTES ? 1 : TH_MPI_FILE_BYTES / row;
    long long mine = (count + each - 1) / each, rounds = 0;
    THStatus status = th_mpi_check(MPI_Allreduce(&mine, &rounds, 1, MPI_LONG_LONG, MPI_MAX, call->comm), call->what);
    for (int64_t k = 0; k < rounds; k++) {
        const int64_t from = k * each < count ? k * each : count;
        const THStatus moved = th_mpi_move_rows(call, file, block, from, count - from < each ? count - from : each, writes);
        if (status == TH_OK) status = moved;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------- writing */

/* A tensor to be written: the argument in host memory (`source`), its view with at least one dimension (`row`), and its
 * block of the file. */
typedef struct th_mpi_saved {
    th_mpi_source source;
    THTensor *row;
    int64_t *whole;
    th_mpi_block block;
} th_mpi_saved;

/* Prepares a tensor for writing, and stores in `saved->whole` the sizes in the file. All ranks call this within
 * `function`, each with its own `status`; the call fails on all ranks or on none. */
static inline THStatus th_mpi_open_saved(th_mpi_saved *saved, THMpiCall *call, THStatus status, const THTensor *t,
                                         int dim, int function) {
    const int is_whole = dim == TH_MPI_WHOLE;
    int64_t *parts = NULL;
    memset(saved, 0, sizeof *saved);
    if (status == TH_OK) status = th_mpi_check_tensor(t, call, "t");
    if (is_whole) dim = 0;
    else if (status == TH_OK) status = th_mpi_check_dim(call, t, &dim);
    if (status == TH_OK) status = th_mpi_read(&saved->source, call, t, TH_MPI_ON_HOST, 0);
    if (status == TH_OK) {
        THTensor *source = (THTensor *)(uintptr_t)saved->source.t;
        saved->row = t->flag & TH_TENSOR_SCALAR ? THTensor_newUnsqueeze1d(source, 0) : THTensor_newDetach(source);
        if (!saved->row) status = th_mpi_passed_on(call->what);
    }
    if (status == TH_OK) {
        parts = th_mpi_new_list(call, 1);
        saved->whole = (int64_t *)malloc((size_t)saved->row->nDimension * sizeof(int64_t));
        if (!parts || !saved->whole) status = th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for sizes", call->what);
    }
    const int64_t kind = th_mpi_kind(function, MPI_OP_NULL, dim, is_whole);
    status = th_mpi_all_ok(call, status, kind);
    if (status == TH_OK) status = th_mpi_sizes(call, TH_OK, parts, kind, saved->row, dim);
    if (status == TH_OK) {
        for (int p = 1; is_whole && p < call->state->size; p++) {
            if (parts[p] != parts[0]) {
                status = th_mpi_fail(TH_ERR_SHAPE, "%s: ranks have different sizes of a whole tensor", call->what);
            }
            parts[p] = 0;
        }
        THTensor *row = saved->row;
        const int gives_none = status == TH_OK && is_whole && call->state->rank > 0;
        if (gives_none && THTensor_narrow(row, row, 0, 0, 0) != TH_OK) status = th_mpi_passed_on(call->what);
        if (status == TH_OK) status = th_mpi_joined(call, saved->whole, saved->row, dim, parts);
        saved->block.t = saved->row;
        saved->block.dim = dim;
        saved->block.whole = saved->whole;
        saved->block.first = th_mpi_before(parts, call->state->rank);
        status = th_mpi_all_ok(call, status, kind);
    }
    free(parts);
    return status;
}

static inline void th_mpi_free_saved(th_mpi_saved *saved, int count) {
    for (int i = 0; i < count; i++) {
        THTensor_free(saved[i].source.own);
        THTensor_free(saved[i].row);
        free(saved[i].whole);
    }
}

/* Fails unless fopen can open the file with `mode` on this rank. */
static inline THStatus th_mpi_try_file(THMpiCall *call, const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (!file) return th_mpi_fail(TH_ERR_IO, "%s: %s cannot be opened: %s", call->what, path, strerror(errno));
    fclose(file);
    return TH_OK;
}

/* Opens a file on all ranks, for writing if `writes` is 1. Each rank first tries to open the file on its own: MPI might
 * open the file on some ranks only, and these could not close the file, because closing is collective. */
static inline THStatus th_mpi_open_file(MPI_File *file, THMpiCall *call, const char *path, int writes, int64_t kind) {
    char *name = (char *)malloc(strlen(path) + 1);
    THStatus status = name ? th_mpi_try_file(call, path, writes ? "r+b" : "rb")
                           : th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for a name", call->what);
    status = th_mpi_all_ok(call, status, kind);
    if (status == TH_OK) {
        const int mode = writes ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
        status = th_mpi_check(MPI_File_open(call->comm, strcpy(name, path), mode, MPI_INFO_NULL, file), call->what);
        status = th_mpi_all_ok(call, status, kind);
    }
    free(name);
    return status;
}

/* Writes header and blocks to a file that all ranks have opened, and closes the file. */
static inline THStatus th_mpi_fill_file(THMpiCall *call, MPI_File *file, const th_mpi_text *header,
                                        const th_mpi_saved *saved, int count) {
    MPI_Status written;
    THStatus status = TH_OK;
    if (call->state->rank == 0) {
        int code = MPI_File_write_at(*file, 0, header->text, (int)header->length, MPI_BYTE, &written);
        status = th_mpi_check(code, call->what);
    }
    for (int i = 0; i < count; i++) {
        THStatus moved = th_mpi_move_block(call, *file, &saved[i].block, 1);
        if (status == TH_OK) status = moved;
    }
    int synced = MPI_File_sync(*file), closed = MPI_File_close(file);
    return status == TH_OK ? th_mpi_check(synced == MPI_SUCCESS ? closed : synced, call->what) : status;
}

/* Writes header and blocks to `path`. The file is created or replaced only if the function returns TH_OK. */
static inline THStatus th_mpi_write_file(THMpiCall *call, const char *path, const th_mpi_text *header, const th_mpi_saved *saved,
                                         int count, int64_t kind) {
    MPI_File file;
    const int first = call->state->rank == 0;
    const size_t length = strlen(path);
    char *part = (char *)malloc(length + 6);
    THStatus status = part ? TH_OK : th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for a name", call->what);
    if (part) {
        memcpy(part, path, length);
        memcpy(part + length, ".part", 6);
        if (first) status = th_mpi_try_file(call, part, "wb");
    }
    const int created = first && status == TH_OK;
    status = th_mpi_all_ok(call, status, kind);
    if (status == TH_OK) status = th_mpi_open_file(&file, call, part, 1, kind);
    if (status == TH_OK) status = th_mpi_all_ok(call, th_mpi_fill_file(call, &file, header, saved, count), kind);
    if (first && status == TH_OK) {
        THArchive *archive = THArchive_open(part);
        if (!archive) status = th_mpi_passed_on(call->what);
        else if (rename(part, path) != 0) status = th_mpi_fail(TH_ERR_IO, "%s: %s cannot be renamed to %s", call->what, part, path);
        THArchive_free(archive);
    }
    if (created && status != TH_OK) {
        char text[1024];
        snprintf(text, sizeof text, "%s", THGetLastError());
        remove(part);
        THSetLastError(status, text);
    }
    free(part);
    return th_mpi_all_ok(call, status, kind);
}

/// Writes the tensors of all ranks, joined along dimension `dim` in the order of the ranks, as the NumPy file `path`.
/// Errors: `TH_ERR_UNSUPPORTED`, bfloat16.
static inline THStatus TH_MPI_saveNpy(const THTensor *t, int dim, const char *path, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_saved saved;
    th_mpi_text header = {NULL, 0, 0};
    THStatus status = th_mpi_begin(&call, comm, "TH_MPI_saveNpy");
    if (status != TH_OK) return status;
    const int64_t kind = th_mpi_kind(TH_MPI_SAVE_NPY, MPI_OP_NULL, 0, 0);
    if (!path) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'path' is NULL", call.what);
    status = th_mpi_open_saved(&saved, &call, status, t, dim, TH_MPI_SAVE_NPY);
    if (status == TH_OK) {
        const int dims = t->flag & TH_TENSOR_SCALAR ? 0 : saved.row->nDimension;
        status = th_mpi_npy_header(&header, &call, (THDtype)t->dtype, dims, saved.whole);
        saved.block.offset = (int64_t)header.length;
        status = th_mpi_all_ok(&call, status, kind);
    }
    if (status == TH_OK) status = th_mpi_write_file(&call, path, &header, &saved, 1, kind);
    free(header.text);
    th_mpi_free_saved(&saved, 1);
    return th_mpi_end(&call, status);
}

/* Makes the header of a safetensors file, and assigns the offsets of the tensors. Larger element types come first, so
 * that all elements are aligned to their size. */
static inline THStatus th_mpi_safetensors_header(th_mpi_text *to, THMpiCall *call, const char *const *names, const THTensor *const *tensors,
                                                 th_mpi_saved *saved, int count) {
    int64_t end = 0;
    th_mpi_append(to, "\0\0\0\0\0\0\0", 8);
    th_mpi_text json = {NULL, 0, 0};
    for (int64_t item = 8; item > 0; item /= 2) {
        for (int i = 0; i < count; i++) {
            const THDtype dtype = (THDtype)tensors[i]->dtype;
            if ((int64_t)THDtype_size(dtype) != item) continue;
            int64_t bytes = item;
            for (int d = 0; d < saved[i].row->nDimension; d++) bytes *= saved[i].whole[d];
            saved[i].block.offset = end;
            const int dims = tensors[i]->flag & TH_TENSOR_SCALAR ? 0 : saved[i].row->nDimension;
            th_mpi_print_entry(&json, names[i], dtype, dims, saved[i].whole, end, end + bytes);
            end += bytes;
        }
    }
    th_mpi_append(&json, count ? "}" : "{}", count ? 1 : 2);
    th_mpi_pad(&json, 0, 8);
    if (json.text) th_mpi_append(to, json.text, json.length);
    const int enough = json.text && to->text;
    for (int i = 0; i < 8 && enough; i++) to->text[i] = (char)(json.length >> 8 * i & 255);
    for (int i = 0; i < count; i++) saved[i].block.offset += (int64_t)to->length;
    free(json.text);
    return enough ? TH_OK : th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for the header", call->what);
}

static inline int th_mpi_by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Fails unless `names` has `count` different names. */
static inline THStatus th_mpi_check_names(THMpiCall *call, const char *const *names, int count) {
    const char *twice = NULL;
    for (int i = 0; i < count; i++) {
        if (!names[i]) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: name %d is NULL", call->what, i);
    }
    const char **sorted = (const char **)malloc(((size_t)count + 1) * sizeof *sorted);
    if (!sorted) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d names", call->what, count);
    if (count > 0) memcpy(sorted, names, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, th_mpi_by_name);
    for (int i = 1; i < count; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) twice = sorted[i];
    }
    free(sorted);
    return twice ? th_mpi_fail(TH_ERR_ARGUMENT, "%s: the name '%s' comes twice", call->what, twice) : TH_OK;
}

static inline int64_t th_mpi_hash_of_names(const char *const *names, int count) {
    int64_t hash = 0;
    for (int i = 0; i < count; i++) {
        for (const char *c = names[i]; *c; c++) hash = th_mpi_hash(hash, *c);
        hash = th_mpi_hash(hash, INT64_MAX);
    }
    return hash;
}

/// Writes `count` tensors as the safetensors file `path`. Tensor `i` is named `names[i]`; the tensors of all ranks are
/// joined along dimension `dims[i]`. If `dims` is NULL, TH_MPI_WHOLE is used for all tensors.
static inline THStatus TH_MPI_saveSafetensors(const THTensor *const *tensors, const char *const *names, const int *dims, int count,
                                              const char *path, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_text header = {NULL, 0, 0};
    int ready = 0;
    THStatus status = th_mpi_begin(&call, comm, "TH_MPI_saveSafetensors");
    if (status != TH_OK) return status;
    th_mpi_saved *saved = (th_mpi_saved *)calloc((size_t)(count > 0 ? count : 1), sizeof *saved);
    if (!saved) status = th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for %d tensors", call.what, count);
    else if (count < 0 || !path || (count > 0 && (!tensors || !names))) {
        status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: an argument is NULL, or the count negative", call.what);
    } else status = th_mpi_check_names(&call, names, count);
    th_mpi_facts facts;
    const int64_t kind = th_mpi_kind(TH_MPI_SAVE_SAFETENSORS, MPI_OP_NULL, 0, 0);
    th_mpi_facts_of(&facts, kind, NULL, -1, -1);
    /* The hash of the names takes the place of the layout's hash. th_mpi_compare allows layouts to differ, so the next
     * check compares the names. */
    if (status == TH_OK) facts.own[TH_MPI_LAYOUT] = th_mpi_hash_of_names(names, count);
    status = th_mpi_compare(&call, status, &facts);
    if (status == TH_OK && facts.low[TH_MPI_LAYOUT] != facts.high[TH_MPI_LAYOUT]) {
        status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: ranks have different names, or in another order", call.what);
    }
    for (; ready < count && status == TH_OK; ready++) {
        const int dim = dims ? dims[ready] : TH_MPI_WHOLE;
        status = th_mpi_open_saved(&saved[ready], &call, TH_OK, tensors[ready], dim, TH_MPI_SAVE_SAFETENSORS);
    }
    if (status == TH_OK) {
        status = th_mpi_all_ok(&call, th_mpi_safetensors_header(&header, &call, names, tensors, saved, count), kind);
    }
    if (status == TH_OK) status = th_mpi_write_file(&call, path, &header, saved, count, kind);
    free(header.text);
    if (saved) th_mpi_free_saved(saved, ready);
    free(saved);
    return th_mpi_end(&call, status);
}

/* ------------------------------------------------------------------------------------------------------- reading */

/* Stores the sizes of this rank's block, and the block's first entry of dimension `dim`. */
static inline THStatus th_mpi_part_of_head(THMpiCall *call, const th_mpi_head *head, int *dim, const int64_t *parts, int64_t *size,
                                           int64_t *first) {
    const int dims = (int)head->dims, given = *dim;
    memcpy(size, head->size, sizeof head->size);
    *first = 0;
    if (given == TH_MPI_WHOLE) return *dim = 0, TH_OK;
    if (given < 0) *dim += dims;
    if (*dim < 0 || *dim >= dims) {
        return th_mpi_fail(TH_ERR_ARGUMENT, "%s: dimension %d out of range for %d dimensions", call->what, given, dims);
    }
    int64_t *list = th_mpi_new_list(call, 1);
    THStatus status = list ? th_mpi_parts(call, list, parts, head->size[*dim]) : TH_ERR_NOMEM;
    if (status == TH_OK) {
        *first = th_mpi_before(list, call->state->rank);
        size[*dim] = list[call->state->rank];
    }
    free(list);
    return status;
}

/* Makes `block` the block that begins at entry `first` of dimension `dim` of the tensor in the file. The block is read
 * into `at`, which has the block's shape. `whole` has room for the sizes. Returns `block->t` as a new reference; NULL
 * on error. */
static inline THTensor *th_mpi_new_read(th_mpi_block *block, const th_mpi_head *head, THTensor *at, int dim,
                                        int64_t first, int64_t *whole) {
    int64_t order[1024];
    const int dims = (int)head->dims, turned = head->is_fortran && dims > 1;
    for (int d = 0; d < dims; d++) {
        order[d] = turned ? dims - 1 - d : d;
        whole[d] = head->size[order[d]];
    }
    if (dims == 0) whole[0] = 1;
    THTensor *rows = dims == 0 ? THTensor_newUnsqueeze1d(at, 0) : THTensor_newPermute(at, dims, order);
    const th_mpi_block made = {rows, turned ? dims - 1 - dim : dim, first, whole, head->offset};
    *block = made;
    return rows;
}

/// `r` = this rank's block of a tensor in a .npy or safetensors file. The tensor is divided along dimension `dim`.
/// `parts` has the number of entries for each rank; NULL means even parts, as TH_MPI_part computes them. `name` is the
/// name of the tensor, or NULL if the file has only one tensor.
static inline THStatus TH_MPI_load(THTensor *r, int dim, const int64_t *parts, const char *path, const char *name, MPI_Comm comm) {
    THMpiCall call;
    MPI_File file;
    th_mpi_result result;
    th_mpi_block block;
    int64_t size[1024], whole[1024], first = 0;
    THTensor *rows = NULL;
    memset(&result, 0, sizeof result);
    THStatus status = th_mpi_begin(&call, comm, "TH_MPI_load");
    if (status != TH_OK) return status;
    th_mpi_head *head = (th_mpi_head *)calloc(1, sizeof *head);
    if (!r || !path) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument '%s' is NULL", call.what, r ? "path" : "r");
    else if (!head) status = th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for a header", call.what);
    const int64_t kind = th_mpi_kind(TH_MPI_LOAD, MPI_OP_NULL, 0, 0);
    status = th_mpi_all_ok(&call, status, kind);
    if (status == TH_OK && call.state->rank == 0) {
        head->status = th_mpi_read_head(head, &call, path, name);
        snprintf(head->text, sizeof head->text, "%s", THGetLastError());
    }
    if (status == TH_OK) status = th_mpi_check(MPI_Bcast(head, (int)sizeof *head, MPI_BYTE, 0, comm), call.what);
    if (status == TH_OK && head->status != TH_OK) status = THSetLastError((THStatus)head->status, head->text);
    if (status == TH_OK) {
        status = th_mpi_part_of_head(&call, head, &dim, parts, size, &first);
        if (status == TH_OK) {
            status = th_mpi_write_shaped(&result, &call, r, (THDtype)head->dtype, (int)head->dims, size, NULL, TH_MPI_ON_HOST);
        }
        if (status == TH_OK) {
            rows = th_mpi_new_read(&block, head, result.at, dim, first, whole);
            if (!rows) status = th_mpi_passed_on(call.what);
        }
        status = th_mpi_all_ok(&call, status, kind);
        if (status == TH_OK) status = th_mpi_open_file(&file, &call, path, 0, kind);
        if (status == TH_OK) {
            status = th_mpi_move_block(&call, file, &block, 0);
            MPI_File_close(&file);
            status = th_mpi_all_ok(&call, status, kind);
        }
    }
    THTensor_free(rows);
    if (result.r) status = th_mpi_written(&result, &call, status);
    free(head);
    return th_mpi_end(&call, status);
}

#ifdef __cplusplus
}
#endif

#endif
