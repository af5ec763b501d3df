/**
 * @file messages.h
 * @brief Messages between two ranks. Included by thorn_mpi.h.
 *
 * A message has the elements of a tensor in row-major order. The receiver's tensor must have the same dtype and number
 * of elements; shape and layout may differ. Either side may be a program that uses only MPI. TH_MPI_sendShaped and
 * TH_MPI_recvShaped also transfer dtype and shape, by two messages with one tag. Ranks, tags, MPI_ANY_SOURCE,
 * MPI_ANY_TAG and MPI_PROC_NULL have the meaning of MPI. Errors: `TH_ERR_SHAPE`, the message has more or fewer elements
 * than the tensor; `TH_ERR_DTYPE`, a tensor without a dtype; and the errors of thorn_mpi.h. MPI does not compare
 * dtypes; TH_MPI_recvShaped does.
 *
 * A blocking receive first reads the size of the message (MPI_Mprobe). A message of another size is dropped, and the
 * tensor is unchanged. The check costs about 200 ns. It protects against Open MPI 4, which writes beyond the end of the
 * tensor if it copies a message that is too long from the memory of another process. TH_MPI_irecv relies on MPI's own
 * check.
 */

#ifndef THORN_MPI_MESSAGES_H
#define THORN_MPI_MESSAGES_H

#include "staging.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first message of a tensor with its shape: a magic number, the dtype, the number of dimensions, and the sizes. */
enum { TH_MPI_SHAPE_HEAD = 3, TH_MPI_SHAPE_MAX = 1024 + 3 };
/** @cond */
#define TH_MPI_SHAPE_MARK 0x544853484150453LL
/** @endcond */

typedef struct th_mpi_shape_header {
    int64_t word[TH_MPI_SHAPE_MAX];
    int length;
} th_mpi_shape_header;

/* Fills the header with dtype and shape of a tensor. */
static inline void th_mpi_describe(th_mpi_shape_header *header, const THTensor *t) {
    int dims;
    const int64_t *size = th_mpi_sizes_of(&dims, t);
    header->word[0] = TH_MPI_SHAPE_MARK;
    header->word[1] = (int64_t)t->dtype;
    header->word[2] = dims;
    if (dims > 0) memcpy(header->word + TH_MPI_SHAPE_HEAD, size, (size_t)dims * sizeof *size);
    header->length = TH_MPI_SHAPE_HEAD + dims;
}

/* Returns 1 if a message of `length` words is a valid header. */
static inline int th_mpi_is_shape(const th_mpi_shape_header *header) {
    return header->length >= TH_MPI_SHAPE_HEAD && header->word[0] == TH_MPI_SHAPE_MARK && header->word[1] > TH_UNDEFINED &&
           header->word[1] <= TH_BOOL && header->length == TH_MPI_SHAPE_HEAD + header->word[2];
}

/* ------------------------------------------------------------------------------------------------------- elements */

/* Sends a message as MPI_Send does, with the timeout of the communicator. */
static inline int th_mpi_send_buffer(THMpiCall *call, const th_mpi_buffer *buffer, int dest, int tag) {
    MPI_Request request;
    if (call->state->timeout <= 0) return MPI_Send(buffer->data, buffer->count, buffer->type, dest, tag, call->comm);
    int code = MPI_Isend(buffer->data, buffer->count, buffer->type, dest, tag, call->comm, &request);
    return code == MPI_SUCCESS ? th_mpi_complete(call, &request, dest, tag, MPI_STATUS_IGNORE) : code;
}

/* Sends a header. With a timeout, MPI gets a copy that outlives the call. */
static inline THStatus th_mpi_send_header(THMpiCall *call, const th_mpi_shape_header *header, int dest, int tag) {
    const size_t bytes = (size_t)header->length * sizeof *header->word;
    th_mpi_buffer buffer = {(void *)(uintptr_t)header->word, header->length, MPI_INT64_T};
    void *copy = call->state->timeout > 0 ? malloc(bytes) : NULL;
    if (call->state->timeout > 0 && !copy) return th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for a shape", call->what);
    if (copy) buffer.data = memcpy(copy, header->word, bytes);
    int code = th_mpi_send_buffer(call, &buffer, dest, tag);
    th_mpi_free_memory(call, copy);
    return th_mpi_check(code, call->what);
}

/* Sends the elements of `t`, after `header` if `header` is not NULL. If a check or a copy fails, nothing is sent. */
static inline THStatus th_mpi_send(THMpiCall *call, const th_mpi_shape_header *header, const THTensor *t, int dest, int tag) {
    th_mpi_source source;
    th_mpi_buffer buffer;
    THStatus status = th_mpi_check_tensor(t, call, "t");
    if (status != TH_OK) return status;
    call->about = t;
    status = th_mpi_read(&source, call, t, TH_MPI_ANY_LAYOUT, 0);
    if (status == TH_OK) status = th_mpi_buffer_of(&buffer, call, source.t);
    if (status == TH_OK && header) status = th_mpi_send_header(call, header, dest, tag);
    if (status == TH_OK) status = th_mpi_check(th_mpi_send_buffer(call, &buffer, dest, tag), call->what);
    th_mpi_end_source(&source, call);
    return status;
}

/// Sends the elements of `t` to rank `dest`. Like MPI_Send, the function may return before the elements are received,
/// or wait for the receiver. The caller may change `t` afterwards.
static inline THStatus TH_MPI_send(const THTensor *t, int dest, int tag, MPI_Comm comm) {
    THMpiCall call;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_send");
    return result == TH_OK ? th_mpi_end(&call, th_mpi_send(&call, NULL, t, dest, tag)) : result;
}

/* Fails unless `bytes` is the size of `count` elements of a dtype. */
static inline THStatus th_mpi_check_bytes(THMpiCall *call, int64_t bytes, THDtype dtype, int64_t count) {
    const int64_t each = th_mpi_bytes((int)dtype);
    if (bytes == count * each) return TH_OK;
    if (bytes % each != 0) {
        return th_mpi_fail(TH_ERR_SHAPE, "%s: the message has %lld bytes, which are no elements of %s", call->what,
                           (long long)bytes, THDtype_name(dtype));
    }
    return th_mpi_fail(TH_ERR_SHAPE, "%s: the message has %lld elements, and the tensor %lld", call->what,
                       (long long)(bytes / each), (long long)count);
}

/* Fails unless exactly `count` elements of a dtype were received. */
static inline THStatus th_mpi_check_came(THMpiCall *call, MPI_Status *came, THDtype dtype, int64_t count) {
    MPI_Count bytes = 0;
    THStatus status = th_mpi_check(MPI_Get_elements_x(came, MPI_BYTE, &bytes), call->what);
    return status == TH_OK ? th_mpi_check_bytes(call, (int64_t)bytes, dtype, count) : status;
}

/* Waits for a message as MPI_Mprobe does, with the timeout of the communicator. */
static inline int th_mpi_await_message(THMpiCall *call, int source, int tag, MPI_Message *message, MPI_Status *came) {
    const double begun = MPI_Wtime();
    for (;;) {
        int done = 0, code = MPI_Improbe(source, tag, call->comm, &done, message, came);
        if (code != MPI_SUCCESS || done) return code;
        const double waited = MPI_Wtime() - begun;
        if (waited >= call->state->timeout) return th_mpi_late(call, source, tag);
        th_mpi_pause(waited);
    }
}

/* Receives a probed message as MPI_Mrecv does, with the timeout of the communicator. */
static inline int th_mpi_take_message(THMpiCall *call, const th_mpi_buffer *buffer, MPI_Message *message, MPI_Status *came) {
    const int source = came->MPI_SOURCE, tag = came->MPI_TAG;
    MPI_Request request;
    if (call->state->timeout <= 0) return MPI_Mrecv(buffer->data, buffer->count, buffer->type, message, came);
    int code = MPI_Imrecv(buffer->data, buffer->count, buffer->type, message, &request);
    return code == MPI_SUCCESS ? th_mpi_complete(call, &request, source, tag, came) : code;
}

/* Waits for a message, stores its size in `*bytes`, and removes the message from MPI's queue without receiving it
 * yet. */
static inline THStatus th_mpi_probe(THMpiCall *call, int source, int tag, MPI_Message *message, MPI_Status *came, int64_t *bytes) {
    MPI_Count count = 0;
    int code = call->state->timeout > 0 ? th_mpi_await_message(call, source, tag, message, came)
                                        : MPI_Mprobe(source, tag, call->comm, message, came);
    if (code == MPI_SUCCESS) code = MPI_Get_elements_x(came, MPI_BYTE, &count);
    *bytes = (int64_t)count;
    return th_mpi_check(code, call->what);
}

/* Receives a probed message into a temporary buffer, and discards it. */
static inline void th_mpi_drop_message(MPI_Message *message, int64_t bytes) {
    const int64_t chunk = 1 << 20;
    char *room = (char *)malloc((size_t)bytes + 1);
    MPI_Datatype block;
    if (room && bytes > chunk && MPI_Type_contiguous((int)chunk, MPI_BYTE, &block) == MPI_SUCCESS) {
        char *more = (char *)realloc(room, (size_t)(bytes + chunk));
        if (more) room = more;
        MPI_Type_commit(&block);
        MPI_Mrecv(more, more ? (int)((bytes + chunk - 1) / chunk) : 0, block, message, MPI_STATUS_IGNORE);
        MPI_Type_free(&block);
    } else {
        MPI_Mrecv(room, room ? (int)bytes : 0, MPI_BYTE, message, MPI_STATUS_IGNORE);
    }
    free(room);
}

/* Receives a message of `count` elements of a dtype into a buffer. A message of another size is discarded. */
static inline THStatus th_mpi_take(THMpiCall *call, const th_mpi_buffer *buffer, THDtype dtype, int64_t count, int source, int tag,
                                   MPI_Status *came) {
    MPI_Message message;
    int64_t bytes;
    THStatus status = th_mpi_probe(call, source, tag, &message, came, &bytes);
    if (status != TH_OK) return status;
    status = th_mpi_check_bytes(call, bytes, dtype, count);
    if (status == TH_OK) return th_mpi_check(th_mpi_take_message(call, buffer, &message, came), call->what);
    th_mpi_drop_message(&message, bytes);
    return status;
}

/* Receives into a tensor that already has a dtype and a shape. */
static inline THStatus th_mpi_recv(THMpiCall *call, THTensor *r, int source, int tag, MPI_Status *came) {
    th_mpi_result result;
    th_mpi_buffer buffer;
    THStatus status = th_mpi_check_tensor(r, call, "r");
    if (status == TH_OK && source == MPI_PROC_NULL) {
        return th_mpi_check(MPI_Recv(NULL, 0, MPI_BYTE, source, tag, call->comm, came), call->what);
    }
    if (status != TH_OK) return status;
    call->about = r;
    status = th_mpi_write(&result, call, r, TH_MPI_ANY_LAYOUT);
    if (status == TH_OK) status = th_mpi_buffer_of(&buffer, call, result.at);
    if (status == TH_OK) status = th_mpi_take(call, &buffer, (THDtype)r->dtype, THTensor_nElement(r), source, tag, came);
    return th_mpi_written(&result, call, status);
}

/* Copies MPI's status to `*status`, unless the caller ignores it. */
static inline void th_mpi_tell(MPI_Status *status, const MPI_Status *came) {
    if (status && status != MPI_STATUS_IGNORE) *status = *came;
}

/// Receives a message from rank `source`, or from any rank for MPI_ANY_SOURCE, into the elements of `r`. `r` has a
/// dtype and as many elements as the message. `status` receives MPI's status, and may be MPI_STATUS_IGNORE. With
/// MPI_PROC_NULL nothing is received, and `r` is unchanged.
static inline THStatus TH_MPI_recv(THTensor *r, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    THMpiCall call;
    MPI_Status came;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_recv");
    if (result != TH_OK) return result;
    result = th_mpi_recv(&call, r, source, tag, &came);
    if (result == TH_OK) th_mpi_tell(status, &came);
    return th_mpi_end(&call, result);
}

static inline THStatus th_mpi_sendrecv(THMpiCall *call, THTensor *r, int source, int recvtag, const THTensor *t, int dest,
                                       int sendtag, MPI_Status *came) {
    th_mpi_source from;
    th_mpi_result to;
    th_mpi_buffer in, out;
    if (!r) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    THStatus status = th_mpi_check_tensor(t, call, "t");
    if (status != TH_OK) return status;
    int dims;
    const int64_t *size = th_mpi_sizes_of(&dims, t);
    memset(&to, 0, sizeof to);
    call->about = t;
    status = th_mpi_read(&from, call, t, TH_MPI_ANY_LAYOUT, th_mpi_share(r, t));
    if (status == TH_OK) {
        const int how = TH_MPI_ANY_LAYOUT;
        status = r->dtype == TH_UNDEFINED ? th_mpi_write_shaped(&to, call, r, (THDtype)t->dtype, dims, size, t, how)
                                          : th_mpi_write(&to, call, r, how);
    }
    if (status == TH_OK) status = th_mpi_buffer_of(&out, call, from.t);
    if (status == TH_OK) status = th_mpi_buffer_of(&in, call, to.at);
    if (status == TH_OK) {
        MPI_Request request;
        status = th_mpi_check(MPI_Isend(out.data, out.count, out.type, dest, sendtag, call->comm, &request), call->what);
        if (status == TH_OK) {
            if (source != MPI_PROC_NULL) {
                status = th_mpi_take(call, &in, (THDtype)to.at->dtype, THTensor_nElement(to.at), source, recvtag, came);
            } else {
                status = th_mpi_check(MPI_Recv(NULL, 0, MPI_BYTE, source, recvtag, call->comm, came), call->what);
            }
            int code = th_mpi_complete(call, &request, dest, sendtag, MPI_STATUS_IGNORE);
            if (status == TH_OK) status = th_mpi_check(code, call->what);
        }
    }
    if (status == TH_OK && source == MPI_PROC_NULL) {
        THTensor_free(to.own);
        to.own = NULL;
    }
    th_mpi_end_source(&from, call);
    return th_mpi_written(&to, call, status);
}

/// Sends the elements of `t` to rank `dest`, and at the same time receives elements from rank `source` into `r`. `r`
/// may be `t` or share memory with `t`. A fresh `r` gets the dtype and shape of `t`. `status` as for TH_MPI_recv.
static inline THStatus TH_MPI_sendrecv(THTensor *r, int source, int recvtag, const THTensor *t, int dest, int sendtag,
                                       MPI_Comm comm, MPI_Status *status) {
    THMpiCall call;
    MPI_Status came;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_sendrecv");
    if (result != TH_OK) return result;
    result = th_mpi_sendrecv(&call, r, source, recvtag, t, dest, sendtag, &came);
    if (result == TH_OK) th_mpi_tell(status, &came);
    return th_mpi_end(&call, result);
}

/* ------------------------------------------------------------------------------------------------- dtype and shape */

/// Sends dtype, shape and elements of `t` to rank `dest`, which must receive with TH_MPI_recvShaped.
static inline THStatus TH_MPI_sendShaped(const THTensor *t, int dest, int tag, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_shape_header header;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_sendShaped");
    if (result != TH_OK) return result;
    result = th_mpi_check_tensor(t, &call, "t");
    if (result != TH_OK) return th_mpi_end(&call, result);
    th_mpi_describe(&header, t);
    return th_mpi_end(&call, th_mpi_send(&call, &header, t, dest, tag));
}

/* Receives a header of `header->length` words. With a timeout, MPI writes to memory that outlives the call. */
static inline THStatus th_mpi_take_header(THMpiCall *call, th_mpi_shape_header *header, MPI_Message *message, MPI_Status *came) {
    const size_t bytes = (size_t)header->length * sizeof *header->word;
    th_mpi_buffer buffer = {header->word, header->length, MPI_INT64_T};
    void *copy = call->state->timeout > 0 ? malloc(bytes) : NULL;
    if (copy) buffer.data = copy;
    int code = copy ? th_mpi_take_message(call, &buffer, message, came)
                    : MPI_Mrecv(buffer.data, buffer.count, buffer.type, message, came);
    if (copy && code == MPI_SUCCESS) memcpy(header->word, copy, bytes);
    th_mpi_free_memory(call, copy);
    return th_mpi_check(code, call->what);
}

static inline THStatus th_mpi_recv_shaped(THMpiCall *call, THTensor *r, int source, int tag, MPI_Status *came) {
    th_mpi_shape_header header;
    th_mpi_result result;
    th_mpi_buffer buffer;
    MPI_Message message;
    int64_t bytes;
    if (!r) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'r' is NULL", call->what);
    if (source == MPI_PROC_NULL) {
        return th_mpi_check(MPI_Recv(NULL, 0, MPI_BYTE, source, tag, call->comm, came), call->what);
    }
    THStatus status = th_mpi_probe(call, source, tag, &message, came, &bytes);
    if (status != TH_OK) return status;
    header.length = bytes <= (int64_t)sizeof header.word && bytes % 8 == 0 ? (int)(bytes / 8) : 0;
    if (header.length > 0) {
        status = th_mpi_take_header(call, &header, &message, came);
    } else {
        th_mpi_drop_message(&message, bytes);
    }
    if (status == TH_OK && !th_mpi_is_shape(&header)) {
        status = th_mpi_fail(TH_ERR_SHAPE, "%s: the message has no dtype and shape; TH_MPI_recv takes elements alone", call->what);
    }
    if (status != TH_OK) return status;
    const THDtype dtype = (THDtype)header.word[1];
    const int from = came->MPI_SOURCE, with = came->MPI_TAG;
    status = th_mpi_write_shaped(&result, call, r, dtype, (int)header.word[2], header.word + 3, NULL, TH_MPI_ANY_LAYOUT);
    if (status == TH_OK) status = th_mpi_buffer_of(&buffer, call, result.at);
    if (status == TH_OK) {
        status = th_mpi_take(call, &buffer, dtype, THTensor_nElement(result.at), from, with, came);
    } else if (th_mpi_probe(call, from, with, &message, came, &bytes) == TH_OK) {
        th_mpi_drop_message(&message, bytes);
    }
    return th_mpi_written(&result, call, status);
}

/// Receives dtype, shape and elements from TH_MPI_sendShaped. A fresh `r` gets dtype and shape of the message. Any
/// other `r` must have the dtype of the message, and is resized. `status` as for TH_MPI_recv. Errors: `TH_ERR_DTYPE`,
/// the message has another dtype than `r`; the message is then discarded, and `r` is unchanged.
static inline THStatus TH_MPI_recvShaped(THTensor *r, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    THMpiCall call;
    MPI_Status came;
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_recvShaped");
    if (result != TH_OK) return result;
    result = th_mpi_recv_shaped(&call, r, source, tag, &came);
    if (result == TH_OK) th_mpi_tell(status, &came);
    return th_mpi_end(&call, result);
}

/* ------------------------------------------------------------------------------------------------------- requests */

/// A message or a collective in progress. The request holds references to the memory that MPI reads or writes. Until
/// the request has ended, this memory must not be changed; the memory of a receive must not be read either.
typedef struct THMpiRequest {
    MPI_Request request;       ///< The request of MPI.
    MPI_Comm comm;             ///< The communicator, which must outlive the request.
    THStorage *storage;        ///< The memory that MPI reads; NULL if it reads none.
    THTensor *tensor;          ///< A handle on the result; NULL for a send.
    th_mpi_result result;      ///< The result in a form that MPI can write.
    int64_t count;             ///< Expected elements; -1 for a send and a collective.
    int peer;                  ///< The other rank of a message.
    int tag;                   ///< The tag of a message.
    char sizes[128];           ///< Dtype and sizes of the tensor of a send, for the message of a timeout.
    int collective;            ///< 1 for a collective, which MPI cannot cancel.
} THMpiRequest;

/* Returns a request without an operation; NULL, and an error, if memory runs out. */
static inline THMpiRequest *th_mpi_new_request(THMpiCall *call) {
    THMpiRequest *request = (THMpiRequest *)calloc(1, sizeof *request);
    if (!request) {
        th_mpi_fail(TH_ERR_NOMEM, "%s: no memory for a request", call->what);
        return NULL;
    }
    request->request = MPI_REQUEST_NULL;
    request->comm = call->comm;
    request->count = -1;
    return request;
}

/* Frees a request and its references. */
static inline void th_mpi_drop(THMpiRequest *request) {
    THStorage_free(request->storage);
    THTensor_free(request->result.own);
    THTensor_free(request->tensor);
    free(request);
}

static inline THStatus th_mpi_isend(THMpiCall *call, THMpiRequest *request, const THTensor *t, int dest, int tag) {
    th_mpi_source source;
    th_mpi_buffer buffer;
    THStatus status = th_mpi_check_tensor(t, call, "t");
    if (status != TH_OK) return status;
    status = th_mpi_read(&source, call, t, TH_MPI_ANY_LAYOUT, 0);
    if (status == TH_OK) status = th_mpi_buffer_of(&buffer, call, source.t);
    if (status == TH_OK) {
        request->storage = source.t->storage;
        THStorage_retain(request->storage);
        request->peer = dest;
        request->tag = tag;
        if (call->state->timeout > 0) th_mpi_shape_text(request->sizes, sizeof request->sizes, t);
        status = th_mpi_check(MPI_Isend(buffer.data, buffer.count, buffer.type, dest, tag, call->comm, &request->request), call->what);
    }
    th_mpi_end_source(&source, call);
    return status;
}

/// Begins to send the elements of `t` to rank `dest`, and stores a new request in `*request`. TH_MPI_wait, TH_MPI_test
/// or TH_MPI_freeRequest ends the request. The request holds a reference to the memory of `t`, not to the handle: the
/// handle may be freed or set to other memory.
static inline THStatus TH_MPI_isend(THMpiRequest **request, const THTensor *t, int dest, int tag, MPI_Comm comm) {
    THMpiCall call;
    if (!request) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_isend: argument 'request' is NULL");
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_isend");
    if (result != TH_OK) return result;
    THMpiRequest *made = th_mpi_new_request(&call);
    result = made ? th_mpi_isend(&call, made, t, dest, tag) : TH_ERR_NOMEM;
    if (result == TH_OK) *request = made;
    else if (made) th_mpi_drop(made);
    return th_mpi_end(&call, result);
}

/* Makes `r` the result of a request, and stores in `buffer` the memory that MPI writes. */
static inline THStatus th_mpi_hold(THMpiCall *call, THMpiRequest *request, THTensor *r, int how, th_mpi_buffer *buffer) {
    request->tensor = THTensor_newWithTensor(r);
    if (!request->tensor) return th_mpi_passed_on(call->what);
    THStatus status = th_mpi_touch(r, call);
    if (status == TH_OK) status = th_mpi_write(&request->result, call, request->tensor, how);
    return status == TH_OK ? th_mpi_buffer_of(buffer, call, request->result.at) : status;
}

static inline THStatus th_mpi_irecv(THMpiCall *call, THMpiRequest *request, THTensor *r, int source, int tag) {
    th_mpi_buffer buffer = {NULL, 0, MPI_BYTE};
    THStatus status = th_mpi_check_tensor(r, call, "r");
    if (status == TH_OK && source != MPI_PROC_NULL) {
        status = th_mpi_hold(call, request, r, TH_MPI_ANY_LAYOUT, &buffer);
        request->count = (int64_t)THTensor_nElement(r);
        request->peer = source;
        request->tag = tag;
    }
    if (status != TH_OK) return status;
    return th_mpi_check(MPI_Irecv(buffer.data, buffer.count, buffer.type, source, tag, call->comm, &request->request), call->what);
}

/// Begins to receive into the elements of `r`, as TH_MPI_recv does, and stores a new request in `*request`. The request
/// holds a reference to the memory of `r`, not to the handle. A tensor on a GPU may get its elements only when the
/// request ends.
static inline THStatus TH_MPI_irecv(THMpiRequest **request, THTensor *r, int source, int tag, MPI_Comm comm) {
    THMpiCall call;
    if (!request) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_irecv: argument 'request' is NULL");
    THStatus result = th_mpi_begin(&call, comm, "TH_MPI_irecv");
    if (result != TH_OK) return result;
    THMpiRequest *made = th_mpi_new_request(&call);
    result = made ? th_mpi_irecv(&call, made, r, source, tag) : TH_ERR_NOMEM;
    if (result == TH_OK) *request = made;
    else if (made) th_mpi_drop(made);
    return th_mpi_end(&call, result);
}

/* Ends a request that MPI has completed with `code`: checks the number of elements, completes the result, and frees the
 * request. */
static inline THStatus th_mpi_finish(THMpiCall *call, THMpiRequest *request, int code, MPI_Status *came) {
    THStatus status = th_mpi_check(code, call->what);
    if (status == TH_OK && request->count >= 0) {
        status = th_mpi_check_came(call, came, (THDtype)request->tensor->dtype, request->count);
    }
    status = th_mpi_written(&request->result, call, status);
    th_mpi_drop(request);
    return status;
}

/* Waits for a request with the timeout of the communicator. */
static inline int th_mpi_await_request(THMpiCall *call, const THMpiRequest *request) {
    call->about = request->tensor;
    call->sizes = request->sizes;
    return th_mpi_await(call, request->request, request->collective ? TH_MPI_ALL_RANKS : request->peer, request->tag);
}

/// Waits until the request in `*request` is complete, frees the request, and stores NULL in `*request`. If `*request`
/// is NULL, returns TH_OK at once. `status` receives MPI's status, which is meaningful for a receive, and may be
/// MPI_STATUS_IGNORE. Errors: the errors of the message; `TH_ERR_IO`, after the timeout of TH_MPI_setTimeout, and
/// `*request` is unchanged.
static inline THStatus TH_MPI_wait(THMpiRequest **request, MPI_Status *status) {
    THMpiCall call;
    MPI_Status came;
    if (!request) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_wait: argument 'request' is NULL");
    if (!*request) return TH_OK;
    THStatus result = th_mpi_begin(&call, (*request)->comm, "TH_MPI_wait");
    if (result != TH_OK) return result;
    THMpiRequest *done = *request;
    int code = th_mpi_await_request(&call, done);
    if (code == TH_MPI_LATE) return th_mpi_end(&call, TH_ERR_IO);
    *request = NULL;
    code = MPI_Wait(&done->request, &came);
    th_mpi_tell(status, &came);
    return th_mpi_end(&call, th_mpi_finish(&call, done, code, &came));
}

/// Stores 1 in `*done` if the request in `*request` is complete, and ends the request as TH_MPI_wait does. Otherwise
/// stores 0.
static inline THStatus TH_MPI_test(int *done, THMpiRequest **request, MPI_Status *status) {
    THMpiCall call;
    MPI_Status came;
    if (!done || !request) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_test: an argument is NULL");
    *done = 1;
    if (!*request) return TH_OK;
    THStatus result = th_mpi_begin(&call, (*request)->comm, "TH_MPI_test");
    if (result != TH_OK) return result;
    THMpiRequest *tested = *request;
    int code = MPI_Test(&tested->request, done, &came);
    if (code == MPI_SUCCESS && !*done) return th_mpi_end(&call, TH_OK);
    *request = NULL;
    *done = 1;
    th_mpi_tell(status, &came);
    return th_mpi_end(&call, th_mpi_finish(&call, tested, code, &came));
}

/// Waits for `count` requests, as TH_MPI_wait does. All requests are ended, even if one fails; the error of the first
/// failed request is returned. Requests that time out are not ended.
static inline THStatus TH_MPI_waitall(int count, THMpiRequest **requests) {
    THStatus first = TH_OK;
    char text[1024];
    if (count < 0 || (count > 0 && !requests)) {
        return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_waitall: a count of %d, or argument 'requests' is NULL", count);
    }
    for (int i = 0; i < count; i++) {
        THStatus status = TH_MPI_wait(&requests[i], MPI_STATUS_IGNORE);
        if (status == TH_OK || first != TH_OK) continue;
        first = status;
        snprintf(text, sizeof text, "%s", THGetLastError());
    }
    return first == TH_OK ? TH_OK : THSetLastError(first, text);
}

/// Frees a request without waiting for its message. A receive is cancelled. A send continues, and its memory is kept
/// until MPI has completed the send. A collective cannot be cancelled: the function waits for it. After a timeout, the
/// function returns `TH_ERR_IO` and the communicator keeps the memory of the collective. NULL is ignored.
static inline THStatus TH_MPI_freeRequest(THMpiRequest *request) {
    THMpiCall call;
    MPI_Status came;
    if (!request) return TH_OK;
    THStatus result = th_mpi_begin(&call, request->comm, "TH_MPI_freeRequest");
    if (result != TH_OK) return result;
    if (request->storage && !request->collective) {
        th_mpi_abandon(&call, request->request, 0);
        th_mpi_keep_storage(&call, request->storage);
        th_mpi_end_orphans(call.state);
    } else {
        if (request->tensor && !request->collective) result = th_mpi_check(MPI_Cancel(&request->request), call.what);
        int code = th_mpi_await_request(&call, request);
        if (code == TH_MPI_LATE) {
            th_mpi_abandon(&call, request->request, request->collective);
            th_mpi_keep(&call, request->result.at);
        } else {
            code = MPI_Wait(&request->request, &came);
        }
        if (result == TH_OK) result = th_mpi_check(code, call.what);
    }
    th_mpi_drop(request);
    return th_mpi_end(&call, result);
}

#ifdef __cplusplus
}
#endif

#endif
