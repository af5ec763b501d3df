/**
 * @file staging.h
 * @brief Tensors that MPI reads and writes: checks, shapes of results, tensors on GPUs. Included by thorn_mpi.h.
 */

#ifndef THORN_MPI_STAGING_H
#define THORN_MPI_STAGING_H

#include "operations.h"

#if defined OPEN_MPI && !defined TH_MPI_CUDA_AWARE
#include <mpi-ext.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Returns 1 if MPI reports that it can access the memory of NVIDIA GPUs. Returns 0 otherwise, and if MPI is not
/// running. For an MPI without such a query, the macro TH_MPI_CUDA_AWARE, 0 or 1, is the answer.
static inline int TH_MPI_isCudaAware(void) {
#if defined TH_MPI_CUDA_AWARE
    return TH_MPI_CUDA_AWARE;
#elif defined MPIX_GPU_SUPPORT_CUDA
    int supported = 0;
    return th_mpi_runs() && MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported;
#elif defined MPIX_CUDA_AWARE_SUPPORT
    return th_mpi_runs() && MPIX_Query_cuda_support();
#else
    return 0;
#endif
}

/* The three arguments that describe the elements of a tensor to MPI. */
typedef struct th_mpi_buffer {
    void *data;
    int count;
    MPI_Datatype type;
} th_mpi_buffer;

/* The address of the first element; NULL if the tensor has no memory. */
static inline void *th_mpi_data(const THTensor *t) {
    if (!t->storage || !t->storage->data) return NULL;
    return (char *)t->storage->data + t->storageOffset * th_mpi_bytes(t->dtype);
}

/* Stores the count and the datatype for a layout in `buffer`. */
static inline THStatus th_mpi_count_of(th_mpi_buffer *buffer, THMpiCall *call, THDtype dtype, const th_mpi_layout *layout) {
    const int64_t row = layout->dims == 0 ? 1 : layout->size[0];
    buffer->type = TH_MPI_datatype(dtype);
    buffer->count = 0;
    if (layout->empty) return TH_OK;
    if (th_mpi_is_row(layout) && row <= TH_MPI_COUNT_MAX) {
        buffer->count = (int)row;
        return TH_OK;
    }
    buffer->count = 1;
    return th_mpi_type(&buffer->type, call, dtype, layout, TH_MPI_NO_EXTENT);
}

/* Stores the elements of a tensor with a dtype in `buffer`, for one call of MPI. Contiguous elements are counted as
 * such; any other layout is one item of a derived datatype. */
static inline THStatus th_mpi_buffer_of(th_mpi_buffer *buffer, THMpiCall *call, const THTensor *t) {
    th_mpi_layout layout;
    th_mpi_layout_of_tensor(&layout, t);
    buffer->data = th_mpi_data(t);
    return th_mpi_count_of(buffer, call, (THDtype)t->dtype, &layout);
}

/* Fails if `t` is NULL or has no dtype. `name` is the name of the argument. */
static inline THStatus th_mpi_check_tensor(const THTensor *t, THMpiCall *call, const char *name) {
    if (!t) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument '%s' is NULL", call->what, name);
    if (t->dtype == TH_UNDEFINED) return th_mpi_fail(TH_ERR_DTYPE, "%s: argument '%s' has no dtype yet", call->what, name);
    return TH_OK;
}

/* Waits until the thread's stream has finished its work on the GPU of `t`, because MPI does not know streams. */
static inline THStatus th_mpi_wait_for_gpu(const THTensor *t, THMpiCall *call) {
    THCudaStream *stream = THCudaStream_newCurrent(t->deviceIndex);
    THStatus status = stream ? THCudaStream_synchronize(stream) : TH_ERR_CUDA;
    THCudaStream_free(stream);
    return status == TH_OK ? TH_OK : th_mpi_passed_on(call->what);
}

/* Returns a row-major tensor of a dtype in host memory, with the shape of `t` and undefined elements. The memory is
 * pinned if `t` is on a GPU. NULL, and an error, if memory runs out. */
static inline THTensor *th_mpi_new_on_host(const THTensor *t, THDtype dtype) {
    THTensor *made = NULL;
    if (t->deviceType == TH_CUDA) {
        THStorage *storage = THStorage_newPinned(dtype, THTensor_nElement(t));
        if (storage) made = THTensor_newWithStorage(storage, 0, t->nDimension, t->size, NULL);
        THStorage_free(storage);
    } else {
        made = THTensor_newWithSizesOn(dtype, TH_CPU, 0, t->nDimension, t->size);
    }
    return made;
}

/* ------------------------------------------------------------------------------------------------------- sources */

/* Requirements for a tensor that is passed to MPI. TH_MPI_ROW: contiguous elements. TH_MPI_ON_HOST: host memory, even
 * if MPI can access GPU memory. TH_MPI_WIDE: elements converted to float32. */
enum { TH_MPI_ANY_LAYOUT = 0, TH_MPI_ROW = 1, TH_MPI_ON_HOST = 2, TH_MPI_WIDE = 4 };

/* Returns a row-major tensor with the shape of `t`, in the dtype that `how` requires, and undefined elements: in host
 * memory if `staged` is 1, otherwise on the device of `t`. NULL, and an error, if memory runs out. */
static inline THTensor *th_mpi_new_temporary(const THTensor *t, int how, int staged) {
    const THDtype dtype = how & TH_MPI_WIDE ? TH_FLOAT32 : (THDtype)t->dtype;
    if (staged || t->deviceType != TH_CUDA) return th_mpi_new_on_host(t, dtype);
    return THTensor_newWithSizesOn(dtype, TH_CUDA, t->deviceIndex, t->nDimension, t->size);
}

/* A tensor that MPI reads. `t` is the argument or its copy. `own` is the copy, which must be freed, or NULL. */
typedef struct th_mpi_source {
    const THTensor *t;
    THTensor *own;
} th_mpi_source;

/* Returns a row-major copy of `t` without autograd history. The copy is in pinned host memory if `pinned` is 1. NULL,
 * and an error, if memory runs out. */
static inline THTensor *th_mpi_new_copy(const THTensor *t, int pinned) {
    THTensor *plain = THTensor_newDetach((THTensor *)(uintptr_t)t);
    THTensor *copy = NULL;
    if (plain) copy = pinned ? THTensor_newPinned(plain) : THTensor_newCloneFormat(plain, TH_CONTIGUOUS_FORMAT);
    THTensor_free(plain);
    return copy;
}

/* Returns the elements of `t` as float32, as th_mpi_new_copy does. */
static inline THTensor *th_mpi_new_wide(const THTensor *t, int staged) {
    THTensor *plain = THTensor_newDetach((THTensor *)(uintptr_t)t);
    THTensor *copy = plain ? th_mpi_new_temporary(t, TH_MPI_WIDE, staged) : NULL;
    if (copy && THTensor_copy(copy, plain) != TH_OK) {
        THTensor_free(copy);
        copy = NULL;
    }
    THTensor_free(plain);
    return copy;
}

/* Stores in `source` the elements of `t` in a form that MPI can read. The elements are copied if `copy` is 1 or if MPI
 * needs a copy. th_mpi_end_source ends the source, even after a failure. */
static inline THStatus th_mpi_read(th_mpi_source *source, THMpiCall *call, const THTensor *t, int how, int copy) {
    const int staged = t->deviceType == TH_CUDA && (how & TH_MPI_ON_HOST || !TH_MPI_isCudaAware());
    source->t = t;
    source->own = NULL;
    if (staged || copy || how & TH_MPI_WIDE || (how & TH_MPI_ROW && !THTensor_isContiguous(t))) {
        source->t = source->own = how & TH_MPI_WIDE ? th_mpi_new_wide(t, staged) : th_mpi_new_copy(t, staged);
        if (!source->own) return th_mpi_passed_on(call->what);
    }
    return source->t->deviceType == TH_CUDA ? th_mpi_wait_for_gpu(t, call) : TH_OK;
}

/* Frees the copy of a source. If an operation of the call has timed out, the memory is kept. */
static inline void th_mpi_end_source(th_mpi_source *source, const THMpiCall *call) {
    th_mpi_keep(call, source->t);
    THTensor_free(source->own);
    source->own = NULL;
}

/* Returns 1 if two tensors share memory or are the same handle. */
static inline int th_mpi_share(const THTensor *a, const THTensor *b) {
    const THStorage *x = a->storage, *y = b->storage;
    if (a == b) return 1;
    if (!x || !y || x->size == 0 || y->size == 0) return 0;
    const char *first = (const char *)x->data, *second = (const char *)y->data;
    return first < second + y->size * th_mpi_bytes(y->dtype) &&
           second < first + x->size * th_mpi_bytes(x->dtype);
}

/* ------------------------------------------------------------------------------------------------------- results */

/* A result that MPI writes. `r` is the argument. `before` has the argument's old shape, or is NULL if the shape did not
 * change. `made` is a new tensor for an argument without memory, otherwise NULL; the argument becomes `made` after
 * success. MPI writes to `at`, which is `r`, `made` or `own`. `own` is a temporary that is copied to the result after
 * success. */
typedef struct th_mpi_result {
    THTensor *r;
    THTensor *made;
    THTensor *at;
    THTensor *own;
    THTensor *before;
} th_mpi_result;

/* Returns the tensor that finally holds the elements, in the shape of the result. */
static inline THTensor *th_mpi_target(const th_mpi_result *result) { return result->made ? result->made : result->r; }

/* Checks strides and sizes for overlapping elements. Returns 0 if all elements are distinct, 1 if some may overlap, 2
 * if some do overlap. */
static inline int th_mpi_overlaps(const THTensor *r) {
    th_mpi_layout layout;
    if (r->nDimension == 0) return 0;
    th_mpi_layout_of(&layout, 1, r->nDimension, r->size, r->stride);
    if (layout.empty) return 0;
    int64_t reach = 0;
    for (int seen = 0; seen < layout.dims; seen++) {
        int next = seen;
        for (int d = seen; d < layout.dims; d++) {
            if (layout.step[d] < layout.step[next]) next = d;
        }
        const int64_t step = layout.step[next], size = layout.size[next];
        layout.step[next] = layout.step[seen];
        layout.size[next] = layout.size[seen];
        if (step == 0) return 2;
        if (step <= reach) return 1;
        reach += step * (size - 1);
    }
    return 0;
}

/* Fails if `r` may not be written. Otherwise reports a write to autograd, so that backward detects that a saved tensor
 * has changed. */
static inline THStatus th_mpi_touch(THTensor *r, THMpiCall *call) {
    if (THTensor_requiresGrad(r) && THGrad_isEnabled()) {
        return th_mpi_fail(TH_ERR_ARGUMENT, "%s: the result requires a gradient; write to it between THGrad_setEnabled(0) and "
                           "THGrad_setEnabled(1)", call->what);
    }
    if (!r->storage) return TH_OK;
    THTensor *none = r->nDimension > 0 ? THTensor_newNarrow(r, 0, 0, 0) : THTensor_newUnsqueeze1d(r, 0);
    THStatus status = none ? TH_OK : TH_ERR_NOMEM;
    if (status == TH_OK && r->nDimension == 0) status = THTensor_narrow(none, none, 0, 0, 0);
    if (status == TH_OK) status = THTensor_zero(none);
    THTensor_free(none);
    return status == TH_OK ? TH_OK : th_mpi_passed_on(call->what);
}

/* Gives the result a dtype and a shape. An argument without memory gets memory on the device of `like`, or on the
 * thread's default device if `like` is NULL. */
static inline THStatus th_mpi_shape(th_mpi_result *result, THMpiCall *call, THDtype dtype, int dims, const int64_t *size,
                                    const THTensor *like) {
    THTensor *r = result->r;
    if (r->dtype != TH_UNDEFINED && r->dtype != dtype) {
        return th_mpi_fail(TH_ERR_DTYPE, "%s: the result holds %s, and %s comes", call->what,
                           THDtype_name((THDtype)r->dtype), THDtype_name(dtype));
    }
    if (!r->storage) {
        THStatus status = th_mpi_touch(r, call);
        if (status != TH_OK) return status;
        const THDeviceType device = like ? (THDeviceType)like->deviceType : TH_CPU;
        result->made = like ? THTensor_newWithSizesOn(dtype, device, like->deviceIndex, dims, size)
                            : THTensor_newWithSizes(dtype, dims, size);
        result->at = result->made;
        return result->made ? TH_OK : th_mpi_passed_on(call->what);
    }
    if (THTensor_isSize(r, dims, size)) return TH_OK;
    result->before = THTensor_newWithTensor(r);
    if (result->before && THTensor_resize(r, dims, size, NULL) == TH_OK) return TH_OK;
    return th_mpi_passed_on(call->what);
}

/* Prepares `result`, which has the right shape, for writing by MPI. */
static inline THStatus th_mpi_open(th_mpi_result *result, THMpiCall *call, int how) {
    THTensor *r = th_mpi_target(result);
    const int overlaps = th_mpi_overlaps(r), cuda = r->deviceType == TH_CUDA;
    if (overlaps == 2) {
        return th_mpi_fail(TH_ERR_SHAPE, "%s: the result has a dimension of stride 0, whose elements are one", call->what);
    }
    THStatus status = th_mpi_touch(r, call);
    if (status != TH_OK) return status;
    const int staged = cuda && (how & TH_MPI_ON_HOST || !TH_MPI_isCudaAware());
    if (staged || overlaps || how & TH_MPI_WIDE || (how & TH_MPI_ROW && !THTensor_isContiguous(r))) {
        result->own = th_mpi_new_temporary(r, how, staged);
        if (!result->own) return th_mpi_passed_on(call->what);
        result->at = result->own;
    }
    return cuda && !staged ? th_mpi_wait_for_gpu(r, call) : TH_OK;
}

/* Stores in `result` the elements of `r` in a form that MPI can write. th_mpi_written ends the result, even after a
 * failure. */
static inline THStatus th_mpi_write(th_mpi_result *result, THMpiCall *call, THTensor *r, int how) {
    memset(result, 0, sizeof *result);
    result->r = result->at = r;
    return th_mpi_open(result, call, how);
}

/* Like th_mpi_write, but first gives `r` a dtype and a shape, as th_mpi_shape does. */
static inline THStatus th_mpi_write_shaped(th_mpi_result *result, THMpiCall *call, THTensor *r, THDtype dtype, int dims,
                                           const int64_t *size, const THTensor *like, int how) {
    memset(result, 0, sizeof *result);
    result->r = result->at = r;
    THStatus status = th_mpi_shape(result, call, dtype, dims, size, like);
    return status == TH_OK ? th_mpi_open(result, call, how) : status;
}

/* Ends a result. If `status` is TH_OK, moves the elements that MPI wrote into the argument; otherwise restores the
 * argument's shape. Later waits of the call do not describe a tensor, which may have been freed. Returns the final
 * status. */
static inline THStatus th_mpi_written(th_mpi_result *result, THMpiCall *call, THStatus status) {
    th_mpi_keep(call, result->at);
    call->about = NULL;
    if (status == TH_OK && result->own && THTensor_copy(th_mpi_target(result), result->own) != TH_OK) {
        status = th_mpi_passed_on(call->what);
    }
    if (status == TH_OK && result->made && THTensor_set(result->r, result->made) != TH_OK) {
        status = th_mpi_passed_on(call->what);
    }
    if (status != TH_OK && result->before) THTensor_set(result->r, result->before);
    THTensor_free(result->made);
    THTensor_free(result->before);
    THTensor_free(result->own);
    result->made = result->own = result->before = NULL;
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
