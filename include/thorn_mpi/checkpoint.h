/**
 * @file checkpoint.h
 * @brief Checkpoints of all ranks in one file, from which another number of ranks continues. Included by thorn_mpi.h.
 *
 *     THMpiCheckpoint checkpoint = {tensors, names, count, optimizer, shards, generator};
 *     TH_MPI_saveCheckpoint(&checkpoint, "run.pt", comm);    // all ranks
 *     TH_MPI_loadCheckpoint(&checkpoint, "run.pt", comm);    // all ranks, perhaps more or fewer than before
 *
 * The file has the format of its name's extension, `.pt` or `.safetensors`, and is the same with and without shards and
 * with any number of ranks: the tensors under their names, the optimizer as the entry `optimizer` of THOptim_add, and
 * `generators`, uint8 [ranks x bytes], with the state of each rank's generator. THArchive_open and THOptim_read read the
 * file in a program without MPI. `torch.load("run.pt")["optimizer"]` is a state dict of torch.optim.
 *
 * Rank 0 writes and reads the file. THArchive_close renames the file when it is complete on the disk, so that a crash
 * leaves either the previous file or the new one. With shards, rank 0 holds the whole state of the optimizer while it
 * writes. Each rank with a part of the state writes the temporary file `PATH.RANK.part.pt`, and removes the file before
 * the call returns. So the folder must exist, and must be writable, on the machine of each rank; a shared disk is not
 * required.
 *
 * The same number of ranks continues with the same bits. With more ranks, a rank without a row in `generators` gets a
 * seed that is computed from the first row and the number of the rank, as `seed = FNV-1a(row 0, rank)`.
 *
 * All ranks return an error if one rank fails. Errors: `TH_ERR_SHAPE`, ranks pass lists of different lengths or names;
 * `TH_ERR_ARGUMENT`, a name that begins with `optimizer.` or is `generators`, or a name that the file lacks;
 * `TH_ERR_UNSUPPORTED`, shards of an optimizer with several groups; `TH_ERR_FORMAT`, the file has an optimizer with
 * another number of parameters; and the errors of the functions of archives. If reading fails, some tensors may have
 * their elements of the file already.
 */

#ifndef THORN_MPI_CHECKPOINT_H
#define THORN_MPI_CHECKPOINT_H

#include "files.h"
#include "shards.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The contents of a checkpoint.
typedef struct THMpiCheckpoint {
    THTensor *const *tensors; ///< Parameters, running statistics, numbers: equal on all ranks.
    const char *const *names; ///< The name of each tensor, the same on all ranks.
    int count;                ///< Number of tensors.
    THOptim *optimizer;       ///< The optimizer of this rank; NULL on all ranks for none. With `shards`, NULL on ranks without parameters.
    THMpiShards *shards;      ///< The shares of the optimizer's parameters; NULL if each rank has the whole state.
    THGenerator *generator;   ///< This rank's generator; NULL on all ranks for none.
} THMpiCheckpoint;

/* An entry of the optimizer that one rank sends to all ranks. A negative kind is a status of the sender, with the other
 * sign. */
enum { TH_MPI_LAST, TH_MPI_TENSOR, TH_MPI_TEXT };
typedef struct th_mpi_item {
    int64_t kind;
    char name[256];
    char value[256];
} th_mpi_item;

/* A checkpoint in progress. `file` is the archive of rank 0, `part` this rank's own archive. */
typedef struct th_mpi_checkpoint_call {
    const THMpiCheckpoint *given;
    THMpiCall *call;
    int64_t kind;
    THArchive *file;
    THArchive *part;
    char path[1024];        /* the path of `part` */
    int64_t parameters;     /* while loading: the number of parameters in the file */
} th_mpi_checkpoint_call;

/* ----------------------------------------------------------------------------------------------- entries of a file */

static const char th_mpi_state_prefix[] = "optimizer.state.";
static const char th_mpi_groups_prefix[] = "optimizer.param_groups.";

/* Returns 1 if `name` is the state of a parameter, `optimizer.state.INDEX.FIELD`. */
static inline int th_mpi_is_state(const char *name, int64_t *index, const char **field) {
    const size_t length = sizeof th_mpi_state_prefix - 1;
    char *end;
    if (strncmp(name, th_mpi_state_prefix, length) != 0) return 0;
    *index = strtoll(name + length, &end, 10);
    *field = end + 1;
    return end > name + length && *end == '.' && *index >= 0;
}

/* Stores in `item` entry number `at` of the optimizer in an archive: first the tensors, then the texts. Stores in `*t` a
 * new reference to the tensor. */
static inline THStatus th_mpi_item_of(th_mpi_item *item, THTensor **t, THMpiCall *call, const THArchive *archive, int64_t *at) {
    const int64_t tensors = THArchive_count(archive), texts = THArchive_metadataCount(archive);
    memset(item, 0, sizeof *item);
    for (; *at < tensors + texts; ++*at) {
        const int is_tensor = *at < tensors;
        const char *name = is_tensor ? THArchive_name(archive, *at) : THArchive_metadataKey(archive, *at - tensors);
        const char *value = is_tensor ? "" : THArchive_metadataValue(archive, *at - tensors);
        if (!name || strncmp(name, "optimizer.", 10) != 0) continue;
        if (!value || strlen(name) >= sizeof item->name || strlen(value) >= sizeof item->value) {
            return th_mpi_fail(TH_ERR_FORMAT, "%s: the entry \"%.200s\" is too long", call->what, name);
        }
        item->kind = is_tensor ? TH_MPI_TENSOR : TH_MPI_TEXT;
        memcpy(item->name, name, strlen(name));
        memcpy(item->value, value, strlen(value));
        if (is_tensor) *t = THArchive_newTensor(archive, *at);
        ++*at;
        return is_tensor && !*t ? th_mpi_passed_on(call->what) : TH_OK;
    }
    item->kind = TH_MPI_LAST;
    return TH_OK;
}

/* Sends the optimizer's entries of rank `root`, whose archive is `from`, to all ranks, and calls `visit` with each. A
 * rank whose `visit` has failed still takes part, and the ranks compare their statuses once at the end. */
static inline THStatus th_mpi_share_items(th_mpi_checkpoint_call *c, int root, const THArchive *from,
                                          THStatus (*visit)(th_mpi_checkpoint_call *c, int root, const th_mpi_item *item, THTensor *t)) {
    enum { WORDS = sizeof(th_mpi_item) / sizeof(int64_t) };
    THMpiCall *call = c->call;
    const int sends = call->state->rank == root;
    THStatus status = TH_OK, visited = TH_OK;
    int64_t at = 0, room[WORDS], *words = th_mpi_words(call, room);
    th_mpi_item item = {TH_MPI_TENSOR, "", ""};
    while (status == TH_OK && item.kind != TH_MPI_LAST) {
        THTensor *t = sends ? NULL : THTensor_new();
        if (sends) status = th_mpi_item_of(&item, &t, call, from, &at);
        if (status != TH_OK) item.kind = -(int64_t)status;
        memcpy(words, &item, sizeof item);
        THStatus sent = th_mpi_check(th_mpi_do_bcast(call, words, WORDS, MPI_INT64_T, root), call->what);
        if (status == TH_OK) status = sent;
        if (sent == TH_OK) memcpy(&item, words, sizeof item);
        if (status == TH_OK && item.kind < TH_MPI_LAST) {
            status = th_mpi_fail((THStatus)-item.kind, "%s: another rank failed; the message of that rank says why", call->what);
        }
        if (status == TH_OK && item.kind == TH_MPI_TENSOR) status = th_mpi_bcast_shaped(call, t, root);
        if (status == TH_OK && visited == TH_OK && item.kind != TH_MPI_LAST) {
            visited = visit(c, root, &item, item.kind == TH_MPI_TENSOR ? t : NULL);
            if (visited != TH_OK) visited = th_mpi_passed_on(call->what);
        }
        THTensor_free(t);
    }
    return th_mpi_all_ok(call, status != TH_OK ? status : visited, c->kind);
}

/* Returns the number of parameters of rank `owner` before parameter `index`: the parameter's number in the optimizer of
 * its owner. */
static inline int64_t th_mpi_local_index(const THMpiShards *shards, int owner, int64_t index) {
    int64_t local = 0;
    for (int64_t i = 0; i < index; i++) local += shards->owner[i] == owner;
    return local;
}

/* Returns parameter number `local` of rank `owner`; `count` if there is none. */
static inline int64_t th_mpi_global_index(const THMpiShards *shards, int owner, int64_t local) {
    int64_t i = 0;
    for (; i < shards->count; i++) {
        if (shards->owner[i] == owner && local-- == 0) break;
    }
    return i;
}

/* Adds the state of a parameter under another number. */
static inline THStatus th_mpi_add_state(const THArchive *archive, int64_t index, const char *field, const THTensor *t) {
    char name[320];
    snprintf(name, sizeof name, "%s%lld.%s", th_mpi_state_prefix, (long long)index, field);
    return THArchive_add(archive, name, t);
}

/* Adds a text of the optimizer, without the list of parameters, which depends on the shares. */
static inline THStatus th_mpi_add_group_text(th_mpi_checkpoint_call *c, const THArchive *archive, const th_mpi_item *item) {
    const size_t length = sizeof th_mpi_groups_prefix - 1;
    if (strncmp(item->name, th_mpi_groups_prefix, length) == 0) {
        if (strncmp(item->name + length, "0.", 2) != 0) {
            return th_mpi_fail(TH_ERR_UNSUPPORTED, "%s: shards of an optimizer with several groups", c->call->what);
        }
        if (strncmp(item->name + length, "0.params.", 9) == 0) return c->parameters++, TH_OK;
    }
    return archive ? THArchive_addMetadata(archive, item->name, item->value) : TH_OK;
}

/* Adds the list of `count` parameters of group 0. */
static inline THStatus th_mpi_add_list(const THArchive *archive, int64_t count) {
    THStatus status = TH_OK;
    for (int64_t i = 0; i < count && status == TH_OK; i++) {
        char name[64], value[32];
        snprintf(name, sizeof name, "%s0.params.%lld", th_mpi_groups_prefix, (long long)i);
        snprintf(value, sizeof value, "%lld", (long long)i);
        status = THArchive_addMetadata(archive, name, value);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------------- common */

/* Checks the arguments of this rank, and compares them among the ranks. */
static inline THStatus th_mpi_begin_checkpoint(th_mpi_checkpoint_call *c, THMpiCall *call, const THMpiCheckpoint *given, const char *path,
                                               int saves) {
    th_mpi_facts facts;
    THStatus status = TH_OK;
    memset(c, 0, sizeof *c);
    c->given = given;
    c->call = call;
    const int lacks = given && given->count > 0 && (!given->tensors || !given->names);
    const char *missing = !given ? "checkpoint" : !path ? "path" : lacks ? "tensors" : NULL;
    if (missing) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: argument '%s' is NULL", call->what, missing);
    const int length = status == TH_OK ? snprintf(c->path, sizeof c->path, "%s.%d.part.pt", path, call->state->rank) : 0;
    if (length >= (int)sizeof c->path) status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: the path is too long", call->what);
    const int shards = given && given->shards, whole = given && given->optimizer && !shards;
    c->kind = th_mpi_kind(TH_MPI_CHECKPOINT, MPI_OP_NULL, saves | shards << 1 | whole << 2 | (given && given->generator) << 3, 0);
    th_mpi_facts_of(&facts, c->kind, NULL, -1, -1);
    facts.own[TH_MPI_RANK] = given ? given->count : 0;
    for (int i = 0; status == TH_OK && i < given->count; i++) {
        const char *name = given->names[i];
        if (!name || !given->tensors[i]) {
            status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: tensor %d or its name is NULL", call->what, i);
        } else if (strncmp(name, "optimizer.", 10) == 0 || strcmp(name, "generators") == 0) {
            status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: the name \"%.200s\" is reserved", call->what, name);
        }
        for (; status == TH_OK && *name; name++) facts.own[TH_MPI_SIZES] = th_mpi_hash(facts.own[TH_MPI_SIZES] + i, *name);
    }
    if (status == TH_OK && shards && !given->optimizer != (given->shards->owned == 0)) {
        status = th_mpi_fail(TH_ERR_ARGUMENT, "%s: this rank has %d parameters, and its optimizer is %s", call->what, given->shards->owned,
                             given->optimizer ? "not NULL" : "NULL");
    }
    return th_mpi_compare(call, status, &facts);
}

/* Frees the archives of a checkpoint, and removes the temporary file. */
static inline THStatus th_mpi_end_checkpoint(th_mpi_checkpoint_call *c, THStatus status) {
    char text[1024];
    snprintf(text, sizeof text, "%s", THGetLastError());
    const int wrote = c->part != NULL;
    THArchive_free(c->part);
    THArchive_free(c->file);
    if (wrote) remove(c->path);
    return status == TH_OK ? TH_OK : THSetLastError(status, text);
}

/* --------------------------------------------------------------------------------------------------------- saving */

/* Adds the state of a parameter of rank `root` to the file of rank 0. */
static inline THStatus th_mpi_save_item(th_mpi_checkpoint_call *c, int root, const th_mpi_item *item, THTensor *t) {
    const char *field;
    int64_t index;
    if (c->call->state->rank != 0) return TH_OK;
    if (t && th_mpi_is_state(item->name, &index, &field)) {
        return th_mpi_add_state(c->file, th_mpi_global_index(c->given->shards, root, index), field, t);
    }
    /* All ranks have the same hyperparameters. */
    return th_mpi_add_group_text(c, root == 0 ? c->file : NULL, item);
}

/* Collects the state of all shares in the file of rank 0. */
static inline THStatus th_mpi_save_shards(th_mpi_checkpoint_call *c) {
    THMpiCall *call = c->call;
    const THMpiShards *shards = c->given->shards;
    THStatus status = TH_OK;
    if (shards->owned > 0) {
        c->part = THArchive_create(c->path, TH_FILE_PT);
        if (!c->part || THOptim_add(c->given->optimizer, c->part, "optimizer") != TH_OK || THArchive_close(c->part) != TH_OK) {
            status = th_mpi_passed_on(call->what);
        }
        THArchive *written = c->part;
        c->part = status == TH_OK ? THArchive_open(c->path) : NULL;
        if (status == TH_OK && !c->part) status = th_mpi_passed_on(call->what);
        THArchive_free(written);
        if (!c->part) remove(c->path);
    }
    status = th_mpi_all_ok(call, status, c->kind);
    for (int p = 0; p < call->state->size && status == TH_OK; p++) {
        if (th_mpi_global_index(shards, p, 0) < shards->count) status = th_mpi_share_items(c, p, c->part, th_mpi_save_item);
    }
    if (status == TH_OK && call->state->rank == 0 && th_mpi_add_list(c->file, shards->count) != TH_OK) {
        status = th_mpi_passed_on(call->what);
    }
    return th_mpi_all_ok(call, status, c->kind);
}

/* Adds the states of the generators of all ranks to the file of rank 0. */
static inline THStatus th_mpi_save_generators(th_mpi_checkpoint_call *c) {
    THMpiCall *call = c->call;
    THTensor *state = THTensor_new(), *row = THTensor_new(), *rows = THTensor_new();
    THStatus status = state && row && rows ? THTensor_getRNGState(c->given->generator, state) : TH_ERR_NOMEM;
    if (status == TH_OK) status = THTensor_unsqueeze1d(row, state, 0);
    if (status != TH_OK) status = th_mpi_passed_on(call->what);
    status = th_mpi_all_ok(call, status, c->kind);
    if (status == TH_OK) status = th_mpi_gather(call, rows, row, 0, 0);
    if (status == TH_OK && call->state->rank == 0 && THArchive_add(c->file, "generators", rows) != TH_OK) {
        status = th_mpi_passed_on(call->what);
    }
    THTensor_free(state);
    THTensor_free(row);
    THTensor_free(rows);
    return status;
}

/// Writes a checkpoint of all ranks to the file `path`. All ranks call this and return the same status; if it is not
/// TH_OK, the previous file is unchanged. `path` is used on rank 0, and names the temporary files of the other ranks.
static inline THStatus TH_MPI_saveCheckpoint(const THMpiCheckpoint *checkpoint, const char *path, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_checkpoint_call c;
    THStatus status = th_mpi_begin(&call, comm, "TH_MPI_saveCheckpoint");
    if (status != TH_OK) return status;
    const int checked = call.state->checked, first = call.state->rank == 0;
    call.state->checked = 1;
    status = th_mpi_begin_checkpoint(&c, &call, checkpoint, path, 1);
    if (status == TH_OK) {
        c.file = first ? THArchive_create(path, TH_FILE_BY_NAME) : NULL;
        THStatus added = first && !c.file ? THGetLastErrorCode() : TH_OK;
        for (int i = 0; first && i < checkpoint->count && added == TH_OK; i++) {
            added = THArchive_add(c.file, checkpoint->names[i], checkpoint->tensors[i]);
        }
        if (added == TH_OK && first && checkpoint->optimizer && !checkpoint->shards) {
            added = THOptim_add(checkpoint->optimizer, c.file, "optimizer");
        }
        status = th_mpi_all_ok(&call, added == TH_OK ? TH_OK : th_mpi_passed_on(call.what), c.kind);
    }
    if (status == TH_OK && checkpoint->shards) status = th_mpi_save_shards(&c);
    if (status == TH_OK && checkpoint->generator) status = th_mpi_save_generators(&c);
    if (status == TH_OK && first && THArchive_close(c.file) != TH_OK) status = th_mpi_passed_on(call.what);
    status = th_mpi_all_ok(&call, status, c.kind);
    call.state->checked = checked;
    return th_mpi_end(&call, th_mpi_end_checkpoint(&c, status));
}

/* -------------------------------------------------------------------------------------------------------- loading */

/* Keeps an entry of the optimizer that belongs to this rank. */
static inline THStatus th_mpi_load_item(th_mpi_checkpoint_call *c, int root, const th_mpi_item *item, THTensor *t) {
    const THMpiShards *shards = c->given->shards;
    const char *field;
    int64_t index;
    (void)root;
    if (!shards) return t ? THArchive_add(c->part, item->name, t) : THArchive_addMetadata(c->part, item->name, item->value);
    if (!t || !th_mpi_is_state(item->name, &index, &field)) return th_mpi_add_group_text(c, c->part, item);
    if (index >= shards->count) {
        return th_mpi_fail(TH_ERR_FORMAT, "%s: the entry \"%.200s\" is of parameter %lld, and there are %d", c->call->what, item->name,
                           (long long)index, shards->count);
    }
    const int owner = shards->owner[index];
    return owner == c->call->state->rank ? th_mpi_add_state(c->part, th_mpi_local_index(shards, owner, index), field, t) : TH_OK;
}

/* Reads the optimizer of each rank: rank 0 sends all entries, and each rank keeps its own. */
static inline THStatus th_mpi_load_optimizer(th_mpi_checkpoint_call *c) {
    THMpiCall *call = c->call;
    const THMpiShards *shards = c->given->shards;
    THStatus status = TH_OK;
    if (c->given->optimizer) {
        c->part = THArchive_create(c->path, TH_FILE_PT);
        if (!c->part) status = th_mpi_passed_on(call->what);
    }
    status = th_mpi_all_ok(call, status, c->kind);
    if (status == TH_OK) status = th_mpi_share_items(c, 0, c->file, th_mpi_load_item);
    if (status == TH_OK && shards && c->parameters != shards->count) {
        status = th_mpi_fail(TH_ERR_FORMAT, "%s: the file has the optimizer of %lld parameters, and there are %d", call->what,
                             (long long)c->parameters, shards->count);
    }
    if (status == TH_OK && c->part) {
        THStatus done = shards ? th_mpi_add_list(c->part, shards->owned) : TH_OK;
        if (done == TH_OK) done = THArchive_close(c->part);
        THArchive *read = done == TH_OK ? THArchive_open(c->path) : NULL;
        if (done == TH_OK) done = read ? THOptim_read(c->given->optimizer, read, "optimizer") : THGetLastErrorCode();
        if (done != TH_OK) status = th_mpi_passed_on(call->what);
        THArchive_free(read);
    }
    return th_mpi_all_ok(call, status, c->kind);
}

/* Reads the states of the generators. A rank without a row seeds its generator. */
static inline THStatus th_mpi_load_generators(th_mpi_checkpoint_call *c) {
    THMpiCall *call = c->call;
    const int rank = call->state->rank;
    THTensor *rows = rank == 0 ? THArchive_newFind(c->file, "generators") : THTensor_new();
    THTensor *row = NULL;
    THStatus status = rows ? TH_OK : th_mpi_passed_on(call->what);
    if (status == TH_OK && rank == 0 && (rows->dtype != TH_UINT8 || rows->nDimension != 2 || rows->size[0] < 1)) {
        status = th_mpi_fail(TH_ERR_FORMAT, "%s: the entry 'generators' is no matrix of bytes", call->what);
    }
    status = th_mpi_all_ok(call, status, c->kind);
    if (status == TH_OK) status = th_mpi_bcast_shaped(call, rows, 0);
    if (status == TH_OK) {
        const int64_t has = rows->size[0];
        THStatus done = (row = THTensor_newSelect(rows, 0, rank < has ? rank : 0)) ? TH_OK : THGetLastErrorCode();
        if (done == TH_OK && rank < has) {
            done = THTensor_setRNGState(c->given->generator, row);
        } else if (done == TH_OK) {
            uint64_t seed = 0xCBF29CE484222325u;
            for (int64_t i = 0; i < row->size[0]; i++) seed = (seed ^ (uint64_t)THTensor_get1d(row, i)) * 0x100000001B3u;
            for (int i = 0; i < 4; i++) seed = (seed ^ (uint64_t)(rank >> 8 * i & 255)) * 0x100000001B3u;
            done = THRandom_manualSeed(c->given->generator, seed);
        }
        if (done != TH_OK) status = th_mpi_passed_on(call->what);
    }
    THTensor_free(row);
    THTensor_free(rows);
    return th_mpi_all_ok(call, status, c->kind);
}

/* Reads the tensors on rank 0, and sends them to all ranks. */
static inline THStatus th_mpi_load_tensors(th_mpi_checkpoint_call *c) {
    THMpiCall *call = c->call;
    THStatus status = TH_OK;
    for (int i = 0; i < c->given->count && status == TH_OK; i++) {
        THTensor *t = c->given->tensors[i];
        th_mpi_facts facts;
        if (call->state->rank == 0 && THArchive_copy(t, c->file, c->given->names[i]) != TH_OK) status = th_mpi_passed_on(call->what);
        th_mpi_facts_of(&facts, c->kind, status == TH_OK ? t : NULL, -1, -1);
        status = th_mpi_bcast_elements(call, status, &facts, t, 0);
    }
    return status;
}

/// Reads a checkpoint of any number of ranks from the file `path`. All ranks call this and return the same status. The
/// tensors exist already, with the dtypes and shapes of the file, and the optimizer has the kind and the number of
/// parameters of the file.
static inline THStatus TH_MPI_loadCheckpoint(const THMpiCheckpoint *checkpoint, const char *path, MPI_Comm comm) {
    THMpiCall call;
    th_mpi_checkpoint_call c;
    THStatus status = th_mpi_begin(&call, comm, "TH_MPI_loadCheckpoint");
    if (status != TH_OK) return status;
    const int checked = call.state->checked, records = THGrad_isEnabled();
    call.state->checked = 1;
    if (records) THGrad_setEnabled(0);
    status = th_mpi_begin_checkpoint(&c, &call, checkpoint, path, 0);
    if (status == TH_OK && call.state->rank == 0 && !(c.file = THArchive_open(path))) status = th_mpi_passed_on(call.what);
    status = th_mpi_all_ok(&call, status, c.kind);
    if (status == TH_OK) status = th_mpi_load_tensors(&c);
    if (status == TH_OK && (checkpoint->optimizer || checkpoint->shards)) status = th_mpi_load_optimizer(&c);
    if (status == TH_OK && checkpoint->generator) status = th_mpi_load_generators(&c);
    if (records) THGrad_setEnabled(1);
    call.state->checked = checked;
    return th_mpi_end(&call, th_mpi_end_checkpoint(&c, status));
}

#ifdef __cplusplus
}
#endif

#endif
