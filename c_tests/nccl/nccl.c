/* A stand-in for NCCL on the real or the emulated CUDA driver (tests/cuda_emu), for ranks that are threads of one process.
 *
 * A call adds four steps to its stream: a copy of the rank's data to host memory; a function that deposits the data together with the
 * other ranks' data for the same call; a function that waits for the deposits and computes the result; and a copy of the result back.
 * The calls of the ranks are matched by their number on the communicator or, for messages, by their number between the two ranks. A
 * group adds the deposits of all its calls first, so that one thread may hold several ranks. If the calls of ranks do not match, or a
 * rank waits for more than 20 seconds, the communicator fails. */

#define _GNU_SOURCE
#include "nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 16, PATIENCE = 20 };

typedef enum { ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, SEND, RECV } Kind;

/* A call of one rank. */
typedef struct Op {
    Kind kind;
    ncclComm_t comm;
    const void *from;
    void *to;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int peer; /* root of a collective */
    cudaStream_t stream;
    struct Meeting *meeting;
    unsigned char *gives, *takes; /* pinned memory of the host */
    struct Op *next, *before;
} Op;

/* Calls of several ranks that are matched. */
typedef struct Meeting {
    int from, to; /* the ranks of a message; -1 for a collective */
    uint64_t number;
    const Op *op[RANKS]; /* by rank; for a message, the sender's call and the receiver's call */
    int gathered, left;
    struct Meeting *next;
} Meeting;

/* The ranks of a communicator. */
typedef struct World {
    char id[NCCL_UNIQUE_ID_BYTES];
    int size, joined, gone;
    ncclResult_t state;
    const char *text;
    Meeting *meetings;
    Op *ops; /* all calls, freed with the last rank: functions in a stream may not call the driver */
    struct World *next;
} World;

struct ncclComm {
    World *world;
    int rank, device;
    uint64_t calls, sent[RANKS], received[RANKS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static World *worlds;
static int fail_after = -1, polls_left, polls_wanted;
static ncclResult_t fail_with;
static __thread int depth;
static __thread Op *group_first, **group_end;
static __thread ncclResult_t group_state;

/* ---- the driver ---- */

static struct {
    int (*cuInit)(unsigned);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxGetCurrent)(void **);
    int (*cuCtxSetCurrent)(void *);
    int (*cuCtxGetDevice)(int *);
    int (*cuCtxSynchronize)(void);
    int (*cuDeviceGetCount)(int *);
    int (*cuMemHostAlloc)(void **, size_t, unsigned);
    int (*cuMemFreeHost)(void *);
    int (*cuMemcpyDtoHAsync_v2)(void *, uint64_t, size_t, void *);
    int (*cuMemcpyHtoDAsync_v2)(uint64_t, const void *, size_t, void *);
    int (*cuLaunchHostFunc)(void *, void (*)(void *), void *);
    int (*cuEventCreate)(void **, unsigned);
    int (*cuEventDestroy_v2)(void *);
    int (*cuEventRecord)(void *, void *);
    int (*cuStreamWaitEvent)(void *, void *, unsigned);
} cu;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int driver_missing;

#define FIND(name) *(void **)(&cu.name) = dlsym(driver, #name)

static void find_driver(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    driver_missing = 1;
    if (!driver) return;
    FIND(cuInit);
    FIND(cuDevicePrimaryCtxRetain);
    FIND(cuCtxGetCurrent);
    FIND(cuCtxSetCurrent);
    FIND(cuCtxGetDevice);
    FIND(cuCtxSynchronize);
    FIND(cuDeviceGetCount);
    FIND(cuMemHostAlloc);
    FIND(cuMemFreeHost);
    FIND(cuMemcpyDtoHAsync_v2);
    FIND(cuMemcpyHtoDAsync_v2);
    FIND(cuLaunchHostFunc);
    FIND(cuEventCreate);
    FIND(cuEventDestroy_v2);
    FIND(cuEventRecord);
    FIND(cuStreamWaitEvent);
    driver_missing = !cu.cuInit || cu.cuInit(0) != 0;
}

static int enter(int device) {
    void *context;
    pthread_once(&once, find_driver);
    if (driver_missing || cu.cuDevicePrimaryCtxRetain(&context, device) != 0) return 1;
    return cu.cuCtxSetCurrent(context);
}

cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    pthread_once(&once, find_driver);
    if (driver_missing) return cudaErrorInvalidDevice;
    void *context = NULL;
    if (cu.cuCtxGetCurrent(&context) == 0 && context) cu.cuCtxGetDevice(device);
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    int count = 0;
    pthread_once(&once, find_driver);
    if (driver_missing || cu.cuDeviceGetCount(&count) != 0 || device < 0 || device >= count) return cudaErrorInvalidDevice;
    return enter(device) ? cudaErrorInvalidDevice : cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "invalid device ordinal"; }

/* ---- meetings ---- */

static void fail_world(World *world, ncclResult_t state, const char *text) {
    if (world->state == ncclSuccess) {
        world->state = state;
        world->text = text;
    }
    pthread_cond_broadcast(&changed);
}

/* Waits until `*count` is `wanted`, or the world has failed. The caller holds the lock. */
static int await(World *world, const int *count, int wanted) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    while (*count < wanted && world->state == ncclSuccess) {
        if (pthread_cond_timedwait(&changed, &lock, &until) != 0) fail_world(world, ncclRemoteError, "a rank did not come");
    }
    return world->state == ncclSuccess;
}

static Meeting *meet(World *world, int from, int to, uint64_t number) {
    Meeting *m;
    for (m = world->meetings; m; m = m->next) {
        if (m->from == from && m->to == to && m->number == number) return m;
    }
    m = calloc(1, sizeof *m);
    m->from = from;
    m->to = to;
    m->number = number;
    m->next = world->meetings;
    world->meetings = m;
    return m;
}

static void leave(World *world, Meeting *m) {
    Meeting **at = &world->meetings;
    if (++m->left < (m->from < 0 ? world->size : 2)) return;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    free(m);
}

static int is_message(const Op *op) { return op->kind == SEND || op->kind == RECV; }

static int match(const Op *a, const Op *b) {
    if (a->count != b->count || a->type != b->type) return 0;
    return is_message(a) || (a->kind == b->kind && a->op == b->op && a->peer == b->peer);
}

static void deposit(void *data) {
    Op *op = data;
    Meeting *m = op->meeting;
    pthread_mutex_lock(&lock);
    for (int r = 0; r < RANKS; r++) {
        if (m->op[r] && !match(m->op[r], op)) fail_world(op->comm->world, ncclInvalidUsage, "calls of ranks do not match");
    }
    m->op[is_message(op) ? op->kind == RECV : op->comm->rank] = op;
    m->gathered++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- numbers ---- */

static size_t width(ncclDataType_t type) {
    static const size_t of[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return of[type];
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double half(uint16_t h) {
    uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = (h >> 10) & 31, fraction = h & 1023u;
    if (exponent == 0) return (sign ? -1.0 : 1.0) * fraction / 16777216.0;
    return float_of(sign | (exponent == 31 ? 255u << 23 : (exponent + 112) << 23) | fraction << 13);
}

/* Converts numbers that float16 represents exactly. The tests use no others. */
static uint16_t to_half(double value) {
    uint32_t bits = bits_of((float)value);
    if (value == 0) return 0;
    return (uint16_t)((bits >> 16 & 0x8000u) | ((((bits >> 23) & 255u) - 112) << 10) | ((bits >> 13) & 1023u));
}

#define READ(type) (double)((const type *)data)[i]
#define WRITE(type) ((type *)data)[i] = (type)value
static double read_at(const void *data, ncclDataType_t type, size_t i) {
    switch (type) {
    case ncclInt8: return READ(int8_t);
    case ncclUint8: return READ(uint8_t);
    case ncclInt32: return READ(int32_t);
    case ncclUint32: return READ(uint32_t);
    case ncclInt64: return READ(int64_t);
    case ncclUint64: return READ(uint64_t);
    case ncclFloat32: return READ(float);
    case ncclFloat64: return READ(double);
    case ncclFloat16: return half(((const uint16_t *)data)[i]);
    default: return float_of((uint32_t)((const uint16_t *)data)[i] << 16);
    }
}

static void write_at(void *data, ncclDataType_t type, size_t i, double value) {
    switch (type) {
    case ncclInt8: WRITE(int8_t); break;
    case ncclUint8: WRITE(uint8_t); break;
    case ncclInt32: WRITE(int32_t); break;
    case ncclUint32: WRITE(uint32_t); break;
    case ncclInt64: WRITE(int64_t); break;
    case ncclUint64: WRITE(uint64_t); break;
    case ncclFloat32: WRITE(float); break;
    case ncclFloat64: WRITE(double); break;
    case ncclFloat16: ((uint16_t *)data)[i] = to_half(value); break;
    default: ((uint16_t *)data)[i] = (uint16_t)(bits_of((float)value) >> 16);
    }
}

static double reduced(ncclRedOp_t op, double a, double b) {
    switch (op) {
    case ncclProd: return a * b;
    case ncclMax: return a > b ? a : b;
    case ncclMin: return a < b ? a : b;
    default: return a + b;
    }
}

static void reduce_all(const Op *op, size_t first) {
    int size = op->comm->world->size;
    for (size_t i = 0; i < op->count; i++) {
        double value = read_at(op->meeting->op[0]->gives, op->type, first + i);
        for (int r = 1; r < size; r++) value = reduced(op->op, value, read_at(op->meeting->op[r]->gives, op->type, first + i));
        write_at(op->takes, op->type, i, op->op == ncclAvg ? value / size : value);
    }
}

static void collect(void *data) {
    Op *op = data;
    Meeting *m = op->meeting;
    World *world = op->comm->world;
    size_t bytes = op->count * width(op->type);
    pthread_mutex_lock(&lock);
    if (await(world, &m->gathered, is_message(op) ? 2 : world->size)) {
        switch (op->kind) {
        case REDUCE:
        case ALL_REDUCE: if (op->takes) reduce_all(op, 0); break;
        case REDUCE_SCATTER: reduce_all(op, (size_t)op->comm->rank * op->count); break;
        case BROADCAST: memcpy(op->takes, m->op[op->peer]->gives, bytes); break;
        case ALL_GATHER:
            for (int r = 0; r < world->size; r++) memcpy(op->takes + (size_t)r * bytes, m->op[r]->gives, bytes);
            break;
        case RECV: memcpy(op->takes, m->op[0]->gives, bytes); break;
        case SEND: break;
        }
    }
    leave(world, m);
    pthread_mutex_unlock(&lock);
}

/* ---- work ---- */

static void *pinned(size_t bytes) {
    void *p = NULL;
    if (cu.cuMemHostAlloc(&p, bytes ? bytes : 1, 0) != 0) return NULL;
    return memset(p, 0, bytes ? bytes : 1);
}

static size_t given(const Op *op) {
    size_t bytes = op->count * width(op->type), size = (size_t)op->comm->world->size;
    if (op->kind == RECV || (op->kind == BROADCAST && op->comm->rank != op->peer)) return 0;
    return op->kind == REDUCE_SCATTER ? size * bytes : bytes;
}

static size_t taken(const Op *op) {
    size_t bytes = op->count * width(op->type), size = (size_t)op->comm->world->size;
    if (op->kind == SEND || (op->kind == REDUCE && op->comm->rank != op->peer)) return 0;
    return op->kind == ALL_GATHER ? size * bytes : bytes;
}

static int begin(Op *op) {
    ncclComm_t comm = op->comm;
    pthread_mutex_lock(&lock);
    op->before = comm->world->ops;
    comm->world->ops = op;
    if (op->kind == SEND) op->meeting = meet(comm->world, comm->rank, op->peer, comm->sent[op->peer]++);
    else if (op->kind == RECV) op->meeting = meet(comm->world, op->peer, comm->rank, comm->received[op->peer]++);
    else op->meeting = meet(comm->world, -1, -1, comm->calls++);
    pthread_mutex_unlock(&lock);
    size_t gives = given(op), takes = taken(op);
    if (enter(comm->device) || !(op->gives = pinned(gives)) || (takes && !(op->takes = pinned(takes)))) return 1;
    if (gives && cu.cuMemcpyDtoHAsync_v2(op->gives, (uint64_t)(uintptr_t)op->from, gives, op->stream)) return 1;
    return cu.cuLaunchHostFunc(op->stream, deposit, op);
}

static int finish(Op *op) {
    size_t takes = taken(op);
    if (enter(op->comm->device) || cu.cuLaunchHostFunc(op->stream, collect, op)) return 1;
    return takes && cu.cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)op->to, op->takes, takes, op->stream);
}

/* Makes each stream of a group wait for the deposits in the other streams. */
static int join(Op *first) {
    int failed = 0;
    for (Op *a = first; a && a->next; a = a->next) {
        for (Op *b = first; b; b = b->next) {
            void *event = NULL;
            if (b == a || (b->comm == a->comm && b->stream == a->stream)) continue;
            failed |= enter(b->comm->device) || cu.cuEventCreate(&event, 2) || cu.cuEventRecord(event, b->stream);
            failed |= enter(a->comm->device) || cu.cuStreamWaitEvent(a->stream, event, 0) || cu.cuEventDestroy_v2(event);
        }
    }
    return failed;
}

static ncclResult_t run(Op *first) {
    void *before = NULL;
    int failed = 0;
    pthread_once(&once, find_driver);
    if (driver_missing) return ncclUnhandledCudaError;
    cu.cuCtxGetCurrent(&before);
    for (Op *op = first; op && !failed; op = op->next) failed = begin(op);
    failed = failed || join(first);
    for (Op *op = first; op && !failed; op = op->next) failed = finish(op);
    cu.cuCtxSetCurrent(before);
    return failed ? ncclUnhandledCudaError : ncclSuccess;
}

static ncclResult_t ask(Op wanted) {
    ncclComm_t comm = wanted.comm;
    if (!comm || wanted.peer < 0 || wanted.peer >= comm->world->size) return ncclInvalidArgument;
    pthread_mutex_lock(&lock);
    ncclResult_t state = comm->world->state;
    int fails = fail_after >= 0 && fail_after-- == 0;
    pthread_mutex_unlock(&lock);
    if (fails) return depth > 0 ? (group_state = fail_with) : fail_with;
    if (state != ncclSuccess) return state;
    Op *op = malloc(sizeof *op);
    *op = wanted;
    if (depth > 0) {
        *group_end = op;
        group_end = &op->next;
        return ncclSuccess;
    }
    ncclResult_t result = run(op);
    polls_left = polls_wanted;
    return result == ncclSuccess && polls_wanted ? ncclInProgress : result;
}

#define ASK(...) ask((Op){__VA_ARGS__, .comm = comm, .count = count, .type = type, .stream = stream})

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
    return ASK(.kind = ALL_REDUCE, .from = from, .to = to, .op = op);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm,
                        cudaStream_t stream) {
    return ASK(.kind = REDUCE, .from = from, .to = to, .op = op, .peer = root);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
    return ASK(.kind = BROADCAST, .from = from, .to = to, .peer = root);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
    return ASK(.kind = ALL_GATHER, .from = from, .to = to);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
    return ASK(.kind = REDUCE_SCATTER, .from = from, .to = to, .op = op);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
    return ASK(.kind = SEND, .from = from, .peer = peer);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
    return ASK(.kind = RECV, .to = to, .peer = peer);
}

ncclResult_t ncclGroupStart(void) {
    if (depth++ == 0) {
        group_first = NULL;
        group_end = &group_first;
        group_state = ncclSuccess;
    }
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
    if (depth == 0) return ncclInvalidUsage;
    if (--depth > 0) return ncclSuccess;
    ncclResult_t result = group_state;
    if (result == ncclSuccess) return group_first ? run(group_first) : ncclSuccess;
    for (Op *op = group_first, *next; op; op = next) {
        next = op->next;
        free(op);
    }
    return result;
}

/* ---- communicators ---- */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    static int made;
    pthread_mutex_lock(&lock);
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "stand-in %d", ++made);
    pthread_mutex_unlock(&lock);
    return ncclSuccess;
}

static ncclComm_t new_rank(World *world, int rank, int device) {
    ncclComm_t comm = calloc(1, sizeof *comm);
    comm->world = world;
    comm->rank = rank;
    comm->device = device;
    world->joined++;
    return comm;
}

static World *find_world(const ncclUniqueId *id, int size) {
    for (World *w = worlds; w; w = w->next) {
        if (memcmp(w->id, id->internal, sizeof w->id) == 0) return w;
    }
    World *w = calloc(1, sizeof *w);
    memcpy(w->id, id->internal, sizeof w->id);
    w->size = size;
    w->next = worlds;
    return worlds = w;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank) {
    int device = 0;
    if (nranks < 1 || nranks > RANKS || rank < 0 || rank >= nranks) return ncclInvalidArgument;
    if (cudaGetDevice(&device) != cudaSuccess) return ncclUnhandledCudaError;
    pthread_mutex_lock(&lock);
    World *world = find_world(&id, nranks);
    *comm = new_rank(world, rank, device);
    pthread_cond_broadcast(&changed);
    int came = await(world, &world->joined, nranks);
    pthread_mutex_unlock(&lock);
    return came ? ncclSuccess : ncclRemoteError;
}

ncclResult_t ncclCommInitAll(ncclComm_t *comm, int count, const int *devices) {
    ncclUniqueId id;
    if (count < 1 || count > RANKS) return ncclInvalidArgument;
    ncclGetUniqueId(&id);
    pthread_mutex_lock(&lock);
    World *world = find_world(&id, count);
    for (int r = 0; r < count; r++) comm[r] = new_rank(world, r, devices ? devices[r] : r);
    pthread_mutex_unlock(&lock);
    return ncclSuccess;
}

static void end_world(World *world) {
    World **at = &worlds;
    while (*at != world) at = &(*at)->next;
    *at = world->next;
    while (world->ops) {
        Op *op = world->ops;
        world->ops = op->before;
        if (op->gives) cu.cuMemFreeHost(op->gives);
        if (op->takes) cu.cuMemFreeHost(op->takes);
        free(op);
    }
    while (world->meetings) {
        Meeting *m = world->meetings;
        world->meetings = m->next;
        free(m);
    }
    free(world);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    void *before = NULL;
    if (!comm) return ncclSuccess;
    cu.cuCtxGetCurrent(&before);
    enter(comm->device);
    cu.cuCtxSynchronize();
    pthread_mutex_lock(&lock);
    if (++comm->world->gone == comm->world->joined) end_world(comm->world);
    pthread_mutex_unlock(&lock);
    cu.cuCtxSetCurrent(before);
    free(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }

const char *ncclGetErrorString(ncclResult_t result) {
    static const char *const text[] = {"no error", "unhandled cuda error", "unhandled system error", "internal error",
                                       "invalid argument", "invalid usage", "remote process exited or there was a network error",
                                       "NCCL operation in progress"};
    return result >= 0 && result <= ncclInProgress ? text[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm) { return comm && comm->world->text ? comm->world->text : ""; }

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
    pthread_mutex_lock(&lock);
    *error = comm->world->state == ncclSuccess && polls_left > 0 && polls_left-- ? ncclInProgress : comm->world->state;
    pthread_mutex_unlock(&lock);
    return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count) { return *count = comm->world->size, ncclSuccess; }
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device) { return *device = comm->device, ncclSuccess; }
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank) { return *rank = comm->rank, ncclSuccess; }

void standin_fail(ncclResult_t result, int after) {
    fail_with = result;
    fail_after = after;
}

void standin_in_progress(int polls) { polls_wanted = polls; }

void standin_lose(ncclComm_t comm) {
    pthread_mutex_lock(&lock);
    fail_world(comm->world, ncclRemoteError, "rank 1 is lost");
    pthread_mutex_unlock(&lock);
}
