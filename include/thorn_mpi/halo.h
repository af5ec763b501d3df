/**
 * @file halo.h
 * @brief The borders of blocks on a Cartesian communicator. Included by thorn_mpi.h.
 *
 *     THMpiHalo *halo = TH_MPI_newHalo(block, width, 0, cart);
 *     for (...) {
 *         TH_MPI_haloStart(halo);          // the neighbours' cells are on their way
 *         ...                              // computes what needs no border
 *         TH_MPI_haloWait(halo);           // the border is there
 *         ...
 *     }
 *     TH_MPI_freeHalo(halo);
 *
 * A grid is divided into blocks, one for each rank of a communicator that MPI_Cart_create has made. Dimension `k` of a
 * block is divided along dimension `k` of the communicator; further dimensions of a block are not divided. A block has
 * a border: its first and last `width[k]` entries in dimension `k`, which repeat cells of the neighbours. An exchange
 * fills the border with these cells. At the ends of the grid, the border is unchanged unless the dimension is periodic.
 *
 * Blocks may be uneven, have any layout, and be views. Contiguous borders are sent in place. Strided borders are sent
 * as derived datatypes if MPI is Open MPI and runs of at least 8 bytes are contiguous. Otherwise strided borders are
 * sent as row-major copies, because derived datatypes of MPICH are several times slower. Messages have the tags 32000
 * to 32728. Errors: `TH_ERR_ARGUMENT`, a communicator without a Cartesian topology, or of more than 6 dimensions;
 * `TH_ERR_SHAPE`, a block that is narrower than three times a border's width, or borders that differ between
 * neighbours.
 */

#ifndef THORN_MPI_HALO_H
#define THORN_MPI_HALO_H

#include "collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @cond */
#define TH_MPI_HALO_DIMS 6
#define TH_MPI_HALO_TAG 32000
/** @endcond */

/* A part of a block that one message transfers. */
typedef struct th_mpi_region {
    THTensor *view;      /* the cells in the block */
    THTensor *packed;    /* a row-major copy of the cells, or NULL */
    THTensor *staged;    /* a copy in pinned host memory, or NULL */
    MPI_Datatype type;   /* the derived datatype of the message, or MPI_DATATYPE_NULL */
} th_mpi_region;

/// A prepared exchange of a block. The exchange holds a reference to the block's memory.
typedef struct THMpiHalo {
    MPI_Comm comm;           ///< The communicator, which must outlive the halo.
    THTensor *block;         ///< A handle on the block.
    void *data;              ///< The address of the block's memory at TH_MPI_newHalo.
    int count;               ///< The largest number of messages in each direction.
    int active;              ///< 1 between TH_MPI_haloStart and TH_MPI_haloWait.
    th_mpi_region *region;   ///< `count` regions to receive, then `count` regions to send.
    MPI_Request *request;    ///< The persistent requests of the regions.
} THMpiHalo;

/* ------------------------------------------------------------------------------------------------------- packing */

/** @cond */
/* Copies `count` runs of `bytes` between a contiguous row and memory in which runs start `step` bytes apart. */
static inline void th_mpi_move_runs(char *row, char *at, int64_t count, size_t bytes, int64_t step, int into_row) {
#define TH_MPI_RUNS(width)                                                                                             \
    for (int64_t i = 0; i < count; i++, row += (width), at += step) {                                                  \
        if (into_row) memcpy(row, at, width);                                                                          \
        else memcpy(at, row, width);                                                                                   \
    }
    switch (bytes) {
    case 4: TH_MPI_RUNS(4) break;
    case 8: TH_MPI_RUNS(8) break;
    case 16: TH_MPI_RUNS(16) break;
    default: TH_MPI_RUNS(bytes) break;
    }
#undef TH_MPI_RUNS
}
/** @endcond */

/* Copies dimensions 0 to `d` of a layout between memory at `at` and a contiguous row. Returns the end of the row. */
static inline char *th_mpi_move(char *row, char *at, const th_mpi_layout *layout, int d, int into_row) {
    const int runs = layout->dims > 0 && layout->step[0] == layout->bytes;
    const size_t run = (size_t)(runs ? layout->size[0] * layout->bytes : layout->bytes);
    if (d < runs) {
        th_mpi_move_runs(row, at, 1, run, 0, into_row);
        return row + run;
    }
    if (d == runs) {
        th_mpi_move_runs(row, at, layout->size[d], run, layout->step[d], into_row);
        return row + run * (size_t)layout->size[d];
    }
    for (int64_t i = 0; i < layout->size[d]; i++) row = th_mpi_move(row, at + i * layout->step[d], layout, d - 1, into_row);
    return row;
}

/* Copies the cells of a region in host memory to the row-major copy, or back. */
static inline void th_mpi_pack(th_mpi_region *region, int into_row) {
    th_mpi_layout layout;
    const THTensor *t = region->view;
    th_mpi_layout_of(&layout, (int64_t)THDtype_size((THDtype)t->dtype), t->nDimension, t->size, t->stride);
    if (layout.empty) return;
    th_mpi_move((char *)THTensor_data(region->packed), (char *)THTensor_data(t), &layout, layout.dims - 1, into_row);
}

/* ------------------------------------------------------------------------------------------------------- regions */

/* Stores in `*view` the cells to send in direction `delta`. If `comes` is 1, stores the part of the border that
 * receives the message sent in this direction. */
static inline THStatus th_mpi_region_view(THTensor **view, THMpiCall *call, THTensor *block, const int64_t *width, int dims,
                                          const int *delta, int comes) {
    THTensor *v = THTensor_newDetach(block);
    THStatus status = v ? TH_OK : TH_ERR_NOMEM;
    for (int k = 0; k < dims && status == TH_OK; k++) {
        const int64_t w = width[k], size = block->size[k];
        int64_t first = w, length = size - 2 * w;
        if (delta[k] != 0) {
            const int high = comes ? delta[k] < 0 : delta[k] > 0;
            first = comes ? (high ? size - w : 0) : (high ? size - 2 * w : w);
            length = w;
        }
        status = THTensor_narrow(v, v, k, first, length);
    }
    *view = v;
    return status == TH_OK ? TH_OK : th_mpi_passed_on(call->what);
}

/* Returns 1 if sending a row-major copy is faster than sending the cells in place. */
static inline int th_mpi_packs(const THTensor *view) {
    th_mpi_layout layout;
    th_mpi_layout_of(&layout, (int64_t)THDtype_size((THDtype)view->dtype), view->nDimension, view->size, view->stride);
    if (layout.empty || th_mpi_is_row(&layout)) return 0;
#ifdef OPEN_MPI
    return (layout.step[0] == layout.bytes ? layout.size[0] * layout.bytes : layout.bytes) < 8;
#else
    return 1;
#endif
}

/* Prepares the copies of a region, and stores in `buffer` the arguments for MPI. */
static inline THStatus th_mpi_region_buffer(th_mpi_buffer *buffer, THMpiCall *call, th_mpi_region *region) {
    const THTensor *v = region->view;
    const THTensor *sent = v;
    if (v->deviceType == TH_CUDA || th_mpi_packs(v)) {
        region->packed = THTensor_newWithSizesOn((THDtype)v->dtype, (THDeviceType)v->deviceType, v->deviceIndex, v->nDimension, v->size);
        sent = region->packed;
        if (!sent) return th_mpi_passed_on(call->what);
    }
    if (v->deviceType == TH_CUDA && !TH_MPI_isCudaAware()) {
        sent = region->staged = th_mpi_new_on_host(v, (THDtype)v->dtype);
        if (!sent) return th_mpi_passed_on(call->what);
    }
    THStatus status = th_mpi_buffer_of(buffer, call, sent);
    if (status != TH_OK || buffer->type == TH_MPI_datatype((THDtype)v->dtype)) return status;
    /* The persistent requests may outlive the cached datatype, so they use a duplicate. */
    status = th_mpi_check(MPI_Type_dup(buffer->type, &region->type), call->what);
    buffer->type = region->type;
    return status;
}

/* Adds the message to be sent in direction `delta`, or, if `comes` is 1, to be received from the opposite direction.
 * `code` is the number of the direction. */
static inline THStatus th_mpi_add_region(THMpiHalo *halo, THMpiCall *call, const int64_t *width, int dims, const int *delta, int code,
                                         int peer, int comes, int place) {
    th_mpi_region *region = &halo->region[place];
    th_mpi_buffer buffer;
    THStatus status = th_mpi_region_view(&region->view, call, halo->block, width, dims, delta, comes);
    if (status == TH_OK) status = th_mpi_region_buffer(&buffer, call, region);
    if (status != TH_OK) return status;
    const int tag = TH_MPI_HALO_TAG + code;
    int made = comes ? MPI_Recv_init(buffer.data, buffer.count, buffer.type, peer, tag, call->comm, &halo->request[place])
                     : MPI_Send_init(buffer.data, buffer.count, buffer.type, peer, tag, call->comm, &halo->request[place]);
    return th_mpi_check(made, call->what);
}

/* Stores the rank at `coordinates + sign * delta`, or MPI_PROC_NULL beyond the ends of the grid. */
static inline int th_mpi_neighbour(int *rank, MPI_Comm comm, int dims, const int *length, const int *periodic, const int *coordinates,
                                   const int *delta, int sign) {
    int at[TH_MPI_HALO_DIMS];
    *rank = MPI_PROC_NULL;
    for (int k = 0; k < dims; k++) {
        at[k] = coordinates[k] + sign * delta[k];
        if (!periodic[k] && (at[k] < 0 || at[k] >= length[k])) return MPI_SUCCESS;
        at[k] = (at[k] + length[k]) % length[k];
    }
    return MPI_Cart_rank(comm, at, rank);
}

/* Creates the messages of all directions: 3^dims - 1 with corners, otherwise 2 for each dimension. */
static inline THStatus th_mpi_fill_halo(THMpiHalo *halo, THMpiCall *call, const int64_t *width, int corners, int dims) {
    int length[TH_MPI_HALO_DIMS], periodic[TH_MPI_HALO_DIMS], coordinates[TH_MPI_HALO_DIMS], delta[TH_MPI_HALO_DIMS];
    int all = 1, comes = 0, goes = 0;
    for (int k = 0; k < dims; k++) all *= 3;
    THStatus status = th_mpi_check(MPI_Cart_get(call->comm, dims, length, periodic, coordinates), call->what);
    halo->region = (th_mpi_region *)calloc((size_t)(2 * all), sizeof *halo->region);
    halo->request = (MPI_Request *)calloc((size_t)(2 * all), sizeof *halo->request);
    if (!halo->region || !halo->request) return th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call->what);
    for (int i = 0; i < 2 * all; i++) {
        halo->request[i] = MPI_REQUEST_NULL;
        halo->region[i].type = MPI_DATATYPE_NULL;
    }
    halo->count = all;
    for (int code = 0; code < all && status == TH_OK; code++) {
        int others = 0, flat = 0, from = MPI_PROC_NULL, to = MPI_PROC_NULL;
        for (int k = 0, rest = code; k < dims; k++, rest /= 3) {
            delta[k] = rest % 3 - 1;
            others += delta[k] != 0;
            flat |= delta[k] != 0 && width[k] == 0;
        }
        if (flat || others == 0 || (others > 1 && !corners)) continue;
        int found = th_mpi_neighbour(&from, call->comm, dims, length, periodic, coordinates, delta, -1);
        if (found == MPI_SUCCESS) found = th_mpi_neighbour(&to, call->comm, dims, length, periodic, coordinates, delta, 1);
        status = th_mpi_check(found, call->what);
        if (status == TH_OK && from != MPI_PROC_NULL) status = th_mpi_add_region(halo, call, width, dims, delta, code, from, 1, comes++);
        if (status == TH_OK && to != MPI_PROC_NULL) status = th_mpi_add_region(halo, call, width, dims, delta, code, to, 0, all + goes++);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------ exchanges */

static inline void th_mpi_free_halo(THMpiHalo *halo) {
    for (int i = 0; halo->region && halo->request && i < 2 * halo->count; i++) {
        th_mpi_region *region = &halo->region[i];
        if (halo->request[i] != MPI_REQUEST_NULL) MPI_Request_free(&halo->request[i]);
        if (region->type != MPI_DATATYPE_NULL) MPI_Type_free(&region->type);
        THTensor_free(region->view);
        THTensor_free(region->packed);
        THTensor_free(region->staged);
    }
    free(halo->region);
    free(halo->request);
    THTensor_free(halo->block);
    free(halo);
}

/* Fails unless the block has room for borders of these widths on a Cartesian communicator. Stores the number of
 * dimensions of the communicator. */
static inline THStatus th_mpi_check_block(int *dims, THMpiCall *call, const THTensor *t, const int64_t *width) {
    int topology = MPI_UNDEFINED;
    THStatus status = th_mpi_check(MPI_Topo_test(call->comm, &topology), call->what);
    if (status != TH_OK) return status;
    if (topology != MPI_CART) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: the communicator has no Cartesian topology", call->what);
    status = th_mpi_check(MPI_Cartdim_get(call->comm, dims), call->what);
    if (status == TH_OK) status = th_mpi_check_tensor(t, call, "t");
    if (status != TH_OK) return status;
    if (!width) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument 'width' is NULL", call->what);
    if (*dims > TH_MPI_HALO_DIMS) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: %d dimensions are more than 6", call->what, *dims);
    if (t->nDimension < *dims) {
        return th_mpi_fail(TH_ERR_SHAPE, "%s: the block has %d dimensions, the communicator %d", call->what, t->nDimension, *dims);
    }
    for (int k = 0; k < *dims; k++) {
        if (width[k] < 0) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: border %lld of dimension %d", call->what, (long long)width[k], k);
        if (width[k] > t->size[k] / 3) {
            return th_mpi_fail(TH_ERR_SHAPE, "%s: size %lld of dimension %d has no cells for borders of %lld", call->what,
                               (long long)t->size[k], k, (long long)width[k]);
        }
    }
    if (th_mpi_overlaps(t)) return th_mpi_fail(TH_ERR_SHAPE, "%s: the block shows elements twice", call->what);
    return TH_OK;
}

/* Compares dtype, number of dimensions, widths and corners among the ranks. Sizes are not compared, because blocks may
 * be uneven. */
static inline THStatus th_mpi_agree_on_halo(THMpiCall *call, THStatus status, const THTensor *t, const int64_t *width, int corners,
                                            int dims) {
    th_mpi_facts facts;
    th_mpi_facts_of(&facts, th_mpi_kind(TH_MPI_HALO, MPI_SUM, corners != 0, 0), NULL, -1, -1);
    if (status == TH_OK) {
        facts.own[TH_MPI_DTYPE] = t->dtype;
        facts.own[TH_MPI_RANK] = t->nDimension;
        for (int k = 0; k < dims; k++) facts.own[TH_MPI_SIZES] = th_mpi_hash(facts.own[TH_MPI_SIZES], width[k]);
    }
    return th_mpi_agree(call, status, &facts);
}

/* Fails if the borders differ from a neighbour's borders. Blocks that fit in each dimension also fit at corners. */
static inline THStatus th_mpi_compare_borders(THMpiCall *call, const THTensor *t, const int64_t *width, int dims) {
    enum { WORDS = TH_MPI_HALO_DIMS + 1 };
    int64_t own[WORDS] = {0}, theirs[2 * TH_MPI_HALO_DIMS][WORDS], room[(2 * TH_MPI_HALO_DIMS + 1) * WORDS];
    int64_t *sent = th_mpi_words(call, room), *came = sent + WORDS;
    for (int d = 0; d < t->nDimension; d++) {
        if (d < dims) own[d] = t->size[d];
        else own[TH_MPI_HALO_DIMS] = th_mpi_hash(own[TH_MPI_HALO_DIMS], t->size[d]);
    }
    /* A rank at the end of the grid receives nothing from beyond, so its own sizes are the default. */
    for (int i = 0; i < 2 * dims; i++) memcpy(theirs[i], own, sizeof own);
    memcpy(sent, own, sizeof own);
    memcpy(came, theirs, sizeof theirs);
    int code = th_mpi_do_neighbor_allgather(call, sent, WORDS, MPI_INT64_T, came, WORDS, MPI_INT64_T);
    if (code == MPI_SUCCESS) memcpy(theirs, came, sizeof theirs);
    for (int i = 0; i < 2 * dims && code == MPI_SUCCESS; i++) {
        const int k = i / 2;
        for (int d = 0; d < dims && width[k] > 0; d++) {
            if (d == k || theirs[i][d] == own[d]) continue;
            return th_mpi_fail(TH_ERR_SHAPE, "%s: a neighbour in dimension %d has size %lld of dimension %d, not %lld",
                               call->what, k, (long long)theirs[i][d], d, (long long)own[d]);
        }
        if (width[k] == 0 || theirs[i][TH_MPI_HALO_DIMS] == own[TH_MPI_HALO_DIMS]) continue;
        return th_mpi_fail(TH_ERR_SHAPE, "%s: a neighbour in dimension %d has other sizes where nothing is cut",
                           call->what, k);
    }
    return th_mpi_check(code, call->what);
}

/* Prepares the cells to be sent. All steps that can fail on one rank alone are here. */
static inline THStatus th_mpi_ready_halo(THMpiCall *call, THMpiHalo *halo) {
    th_mpi_region *goes = halo->region + halo->count;
    const THTensor *block = halo->block;
    const int on_gpu = block->deviceType == TH_CUDA;
    if (halo->active) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: the exchange has begun already", call->what);
    if (block->storage && block->storage->data != halo->data) {
        return th_mpi_fail(TH_ERR_ARGUMENT, "%s: the memory of the block has moved since TH_MPI_newHalo", call->what);
    }
    THStatus status = th_mpi_touch(halo->block, call);
    if (status != TH_OK || !on_gpu) return status;
    for (int i = 0; i < halo->count && goes[i].view; i++) {
        status = THTensor_copy(goes[i].packed, goes[i].view);
        if (status == TH_OK && goes[i].staged) status = THTensor_copyAsync(goes[i].staged, goes[i].packed);
        if (status != TH_OK) return th_mpi_passed_on(call->what);
    }
    return th_mpi_wait_for_gpu(block, call);
}

/* Begins an exchange whose cells are prepared. */
static inline THStatus th_mpi_start_halo(THMpiCall *call, THMpiHalo *halo) {
    th_mpi_region *comes = halo->region, *goes = comes + halo->count;
    MPI_Request *receive = halo->request, *send = receive + halo->count;
    const int on_gpu = halo->block->deviceType == TH_CUDA;
    THStatus status = TH_OK;
    halo->active = 1;
    for (int i = 0; i < halo->count && comes[i].view && status == TH_OK; i++) {
        status = th_mpi_check(MPI_Start(&receive[i]), call->what);
    }
    for (int i = 0; i < halo->count && goes[i].view && status == TH_OK; i++) {
        if (!on_gpu && goes[i].packed) th_mpi_pack(&goes[i], 1);
        status = th_mpi_check(MPI_Start(&send[i]), call->what);
    }
    return status;
}

/* Prepares the exchanges of a block. If `begins` is 1, also prepares the cells of the first exchange. */
static inline THMpiHalo *th_mpi_new_halo(THMpiCall *call, THTensor *t, const int64_t *width, int corners, int begins,
                                         THStatus *status) {
    int dims = 0;
    THMpiHalo *halo = NULL;
    *status = th_mpi_check_block(&dims, call, t, width);
    if (*status == TH_OK) {
        halo = (THMpiHalo *)calloc(1, sizeof *halo);
        if (!halo) *status = th_mpi_fail(TH_ERR_NOMEM, "%s: out of memory", call->what);
    }
    if (halo) {
        halo->comm = call->comm;
        halo->block = THTensor_newWithTensor(t);
        halo->data = t->storage ? t->storage->data : NULL;
        *status = halo->block ? th_mpi_fill_halo(halo, call, width, corners, dims) : th_mpi_passed_on(call->what);
    }
    if (*status == TH_OK && begins) *status = th_mpi_ready_halo(call, halo);
    *status = th_mpi_agree_on_halo(call, *status, t, width, corners, dims);
    if (*status == TH_OK && call->state->checked && call->state->size > 1) {
        *status = th_mpi_compare_borders(call, t, width, dims);
        *status = th_mpi_agree_on_halo(call, *status, t, width, corners, dims);
    }
    if (*status == TH_OK) return halo;
    if (halo) th_mpi_free_halo(halo);
    return NULL;
}
/* Copies a received message from its temporary copies to the border. */
static inline THStatus th_mpi_unpack(THMpiCall *call, th_mpi_region *region, MPI_Status *came) {
    const THTensor *view = region->view;
    THStatus status = th_mpi_check_came(call, came, (THDtype)view->dtype, (int64_t)THTensor_nElement(view));
    if (status != TH_OK || !region->packed) return status;
    if (view->deviceType != TH_CUDA) {
        th_mpi_pack(region, 0);
        return TH_OK;
    }
    if (region->staged) status = THTensor_copyAsync(region->packed, region->staged);
    if (status == TH_OK) status = THTensor_copy(region->view, region->packed);
    return status == TH_OK ? TH_OK : th_mpi_passed_on(call->what);
}

/* Waits for each message separately, because MPI_Waitall of MPICH reports an error to the error handler of another
 * communicator. */
static inline THStatus th_mpi_wait_halo(THMpiCall *call, THMpiHalo *halo) {
    char text[1024];
    THStatus first = TH_OK;
    if (!halo->active) return TH_OK;
    call->about = halo->block;
    for (int i = 0; i < 2 * halo->count; i++) {
        if (!halo->region[i].view) continue;
        int code = th_mpi_await(call, halo->request[i], TH_MPI_ALL_RANKS, 0);
        if (code == TH_MPI_LATE) return TH_ERR_IO;
    }
    halo->active = 0;
    for (int i = 0; i < 2 * halo->count; i++) {
        MPI_Status came;
        if (!halo->region[i].view) continue;
        THStatus status = th_mpi_check(MPI_Wait(&halo->request[i], &came), call->what);
        if (status == TH_OK && i < halo->count) status = th_mpi_unpack(call, &halo->region[i], &came);
        if (status == TH_OK || first != TH_OK) continue;
        first = status;
        snprintf(text, sizeof text, "%s", THGetLastError());
    }
    return first == TH_OK ? TH_OK : THSetLastError(first, text);
}

/// Prepares exchanges of the block `t`. `width` has the width of the border for each dimension of the communicator.
/// With `corners` 1, cells of diagonal neighbours are exchanged, too; with 0 the corners of the border are unchanged.
/// All ranks of the communicator call this. Free the result with TH_MPI_freeHalo. NULL on error; if one rank fails, all
/// ranks get NULL, unless TH_MPI_setChecked has switched the comparison off.
TH_NODISCARD static inline THMpiHalo *TH_MPI_newHalo(THTensor *t, const int64_t *width, int corners, MPI_Comm comm) {
    THMpiCall call;
    THStatus status;
    if (th_mpi_begin(&call, comm, "TH_MPI_newHalo") != TH_OK) return NULL;
    THMpiHalo *halo = th_mpi_new_halo(&call, t, width, corners, 0, &status);
    th_mpi_end(&call, status);
    return halo;
}

/// Begins an exchange: sends the cells next to the border. Until TH_MPI_haloWait the caller may read the block's inner
/// cells but not the border, and must not write either. If the call fails, the neighbours are not informed, and wait.
static inline THStatus TH_MPI_haloStart(THMpiHalo *halo) {
    THMpiCall call;
    if (!halo) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_haloStart: argument 'halo' is NULL");
    THStatus status = th_mpi_begin(&call, halo->comm, "TH_MPI_haloStart");
    if (status != TH_OK) return status;
    status = th_mpi_ready_halo(&call, halo);
    if (status == TH_OK) status = th_mpi_start_halo(&call, halo);
    return th_mpi_end(&call, status);
}

/// Ends the exchange that TH_MPI_haloStart began. Afterwards the border has the neighbours' cells. Does nothing if no
/// exchange has begun.
static inline THStatus TH_MPI_haloWait(THMpiHalo *halo) {
    THMpiCall call;
    if (!halo) return th_mpi_fail(TH_ERR_ARGUMENT, "TH_MPI_haloWait: argument 'halo' is NULL");
    THStatus status = th_mpi_begin(&call, halo->comm, "TH_MPI_haloWait");
    return status == TH_OK ? th_mpi_end(&call, th_mpi_wait_halo(&call, halo)) : status;
}

/// Waits for an exchange in progress, and frees the halo. NULL is ignored. If the exchange times out, MPI still uses the
/// halo, whose memory is kept until the program ends.
static inline THStatus TH_MPI_freeHalo(THMpiHalo *halo) {
    THMpiCall call;
    if (!halo) return TH_OK;
    THStatus status = th_mpi_begin(&call, halo->comm, "TH_MPI_freeHalo");
    if (status != TH_OK) return status;
    status = th_mpi_wait_halo(&call, halo);
    if (halo->block->deviceType == TH_CUDA && status == TH_OK) status = th_mpi_wait_for_gpu(halo->block, &call);
    if (!halo->active) th_mpi_free_halo(halo);
    return th_mpi_end(&call, status);
}

/// Fills the border of the block `t` once, as TH_MPI_newHalo, TH_MPI_haloStart and TH_MPI_haloWait do. If one rank
/// fails or calls another function, all ranks return an error, unless TH_MPI_setChecked has switched the comparison
/// off.
static inline THStatus TH_MPI_haloExchange(THTensor *t, const int64_t *width, int corners, MPI_Comm comm) {
    THMpiCall call;
    THStatus status = th_mpi_begin(&call, comm, "TH_MPI_haloExchange");
    if (status != TH_OK) return status;
    THMpiHalo *halo = th_mpi_new_halo(&call, t, width, corners, 1, &status);
    if (!halo) return th_mpi_end(&call, status);
    status = th_mpi_start_halo(&call, halo);
    THStatus waited = th_mpi_wait_halo(&call, halo);
    if (status == TH_OK) status = waited;
    if (halo->block->deviceType == TH_CUDA && status == TH_OK) status = th_mpi_wait_for_gpu(halo->block, &call);
    if (!halo->active) th_mpi_free_halo(halo);
    return th_mpi_end(&call, status);
}

#ifdef __cplusplus
}
#endif

#endif
