// Devices and contexts of the emulated driver, and the lock that all its functions hold.
#include "driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>

namespace {

int64_t number(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoll(text, nullptr, 0) : otherwise;
}

Settings read_settings() {
    Settings s;
    s.devices = (int)number("THORN_EMU_DEVICES", 2);
    if (s.devices > MAX_DEVICES) s.devices = MAX_DEVICES;
    s.async = number("THORN_EMU_ASYNC", 0) != 0;
    s.protect = number("THORN_EMU_PROTECT", 0) != 0;
    s.null = number("THORN_EMU_NULL", 0) != 0;
    s.seed = (uint64_t)number("THORN_EMU_SEED", 0);
    s.memory = (size_t)number("THORN_EMU_MEMORY", 1 << 30);
    s.fail_alloc = number("THORN_EMU_FAIL_ALLOC", 0);
    s.fail_launch = number("THORN_EMU_FAIL_LAUNCH", 0);
    s.timeout = (int)number("THORN_EMU_TIMEOUT", 120);
    s.capability = (int)number("THORN_EMU_CC", 90);
    s.multiprocessors = (int)number("THORN_EMU_SM", 4);
    return s;
}

Context *const contexts = new Context[MAX_DEVICES];
thread_local Context *stack[64]; // the contexts that were pushed; the last one is current
thread_local int depth = 0;
thread_local bool host_function = false;
bool initialised = false, forked = false;

void after_fork() { forked = true; }

} // namespace

Settings settings = read_settings();
std::mutex lock;

Context *current() { return depth ? stack[depth - 1] : nullptr; }
Context &primary(int device) { return contexts[device]; }
bool valid(Context *context) { return context >= contexts && context < contexts + MAX_DEVICES && context->retained > 0; }
void open_memory() { protect_memory(true); }
void close_memory() { protect_memory(false); }

// Runs a function of the program without the lock, because the function may wait for another thread that is in the driver.
void run_unlocked(HostFunction function, void *user) {
    close_memory();
    lock.unlock();
    host_function = true;
    function(user);
    host_function = false;
    lock.lock();
    open_memory();
}

Call::Call() {
    // In a forked child another thread may hold the lock for ever. Functions that the driver runs may not call the driver.
    if (forked || host_function) return;
    lock.lock();
    held = true;
    open_memory();
}

Call::~Call() {
    if (!held) return;
    close_memory();
    lock.unlock();
}

Result Call::ready() const {
    if (host_function) return NOT_PERMITTED;
    return held && initialised ? SUCCESS : NOT_INITIALIZED;
}

Result Call::context() const {
    if (Result r = ready()) return r;
    if (!valid(current())) return INVALID_CONTEXT;
    return current()->error;
}

API Result cuInit(unsigned flags) {
    Call call;
    if (forked) return NOT_INITIALIZED;
    if (flags) return INVALID_VALUE;
    if (settings.devices <= 0) return NO_DEVICE;
    if (!initialised) pthread_atfork(nullptr, nullptr, after_fork);
    initialised = true;
    return SUCCESS;
}

API Result cuDriverGetVersion(int *version) {
    if (!version) return INVALID_VALUE;
    *version = (int)number("THORN_EMU_DRIVER", 13000);
    return SUCCESS;
}

API Result cuDeviceGetCount(int *count) {
    Call call;
    if (Result r = call.ready()) return r;
    *count = settings.devices;
    return SUCCESS;
}

namespace {

Result check_device(const Call &call, int device) {
    if (Result r = call.ready()) return r;
    return device >= 0 && device < settings.devices ? SUCCESS : INVALID_DEVICE;
}

} // namespace

API Result cuDeviceGet(int *device, int ordinal) {
    Call call;
    if (Result r = check_device(call, ordinal)) return r;
    *device = ordinal;
    return SUCCESS;
}

API Result cuDeviceGetName(char *name, int bytes, int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    if (!name || bytes <= 0) return INVALID_VALUE;
    snprintf(name, (size_t)bytes, settings.null ? "Null CUDA device" : "Emulated CUDA device");
    return SUCCESS;
}

API Result cuDeviceTotalMem_v2(size_t *bytes, int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    *bytes = settings.memory;
    return SUCCESS;
}

API Result cuDeviceGetUuid_v2(char *uuid, int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    memcpy(uuid, "thorn-emulated-0", 16);
    uuid[15] = (char)device;
    return SUCCESS;
}

API Result cuDeviceGetUuid(char *uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }

API Result cuDeviceGetPCIBusId(char *id, int bytes, int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    if (!id || bytes < 13) return INVALID_VALUE;
    snprintf(id, (size_t)bytes, "0000:%02x:00.0", device + 1);
    return SUCCESS;
}

namespace {

// An H100's attributes, except for fewer multiprocessors, so that grids stay small.
const struct {
    int attribute, value;
} ATTRIBUTES[] = {
    {1, 1024},         // threads of a block
    {2, 1024},         {3, 1024}, {4, 64},       // block's x, y, z
    {5, 0x7fffffff},   {6, 65535}, {7, 65535},   // grid's x, y, z
    {8, 48 << 10},     // shared memory of a block
    {9, 64 << 10},     // constant memory
    {10, 32},          // lanes of a warp
    {11, 0x7fffffff},  // pitch
    {12, 65536},       // registers of a block
    {13, 1980000},     // clock in kHz
    {14, 512},         // alignment of textures
    {15, 1},           // copies during kernels
    {19, 1},           // maps host memory
    {31, 1},           // concurrent kernels
    {34, 0},           // PCI device
    {36, 2619000},     // clock of the memory in kHz
    {37, 5120},        // bits of the memory's bus
    {38, 50 << 20},    // second-level cache
    {39, 2048},        // threads of a multiprocessor
    {40, 3},           // copy engines
    {41, 1},           // unified addresses
    {78, 1},           // priorities of streams
    {79, 1},           {80, 1},                  // caches
    {81, 228 << 10},   // shared memory of a multiprocessor
    {82, 65536},       // registers of a multiprocessor
    {87, 2},           // speed of float32 to float64
    {91, 1},           // host pointers of registered memory
    {97, 227 << 10},   // shared memory of a block that asks for more
    {99, 1},           // registers host memory
    {106, 32},         // blocks of a multiprocessor
    {111, 1024},       // reserved shared memory of a block
    {115, 1},          // memory pools
};

} // namespace

API Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    if (!value || attribute <= 0 || attribute > 160) return INVALID_VALUE;
    *value = 0;
    if (attribute == 16) *value = settings.multiprocessors;
    if (attribute == 33) *value = device + 1;
    if (attribute == 75) *value = settings.capability / 10;
    if (attribute == 76) *value = settings.capability % 10;
    for (auto &row : ATTRIBUTES) {
        if (row.attribute == attribute) *value = row.value;
    }
    return SUCCESS;
}

API Result cuDevicePrimaryCtxRetain(Context **out, int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    Context &context = contexts[device];
    context.device = device;
    context.retained++;
    *out = &context;
    return SUCCESS;
}

namespace {

// Ends a context: frees its streams, modules and memory, and clears its error.
void reset(Context &context) {
    drop_streams(&context);
    drop_modules(&context);
    release_memory(context.device);
    context.peers.clear();
    context.error = SUCCESS;
    context.retained = 0;
}

} // namespace

API Result cuDevicePrimaryCtxRelease_v2(int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    Context &context = contexts[device];
    if (context.retained == 0) return INVALID_CONTEXT;
    if (context.retained == 1) reset(context);
    else context.retained--;
    return SUCCESS;
}

API Result cuDevicePrimaryCtxReset_v2(int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    reset(contexts[device]);
    return SUCCESS;
}

API Result cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    *flags = 0;
    *active = contexts[device].retained > 0;
    return SUCCESS;
}

API Result cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
    Call call;
    return check_device(call, device);
}

API Result cuCtxSetCurrent(Context *context) {
    Call call;
    if (Result r = call.ready()) return r;
    if (context && !valid(context)) return INVALID_CONTEXT;
    if (depth) depth--;
    if (context) stack[depth++] = context;
    return SUCCESS;
}

API Result cuCtxGetCurrent(Context **context) {
    Call call;
    if (Result r = call.ready()) return r;
    *context = current();
    return SUCCESS;
}

API Result cuCtxPushCurrent_v2(Context *context) {
    Call call;
    if (Result r = call.ready()) return r;
    if (!valid(context)) return INVALID_CONTEXT;
    if (depth == sizeof stack / sizeof *stack) return INVALID_VALUE;
    stack[depth++] = context;
    return SUCCESS;
}

API Result cuCtxPopCurrent_v2(Context **context) {
    Call call;
    if (Result r = call.ready()) return r;
    if (!depth) return INVALID_CONTEXT;
    depth--;
    if (context) *context = stack[depth];
    return SUCCESS;
}

API Result cuCtxGetDevice(int *device) {
    Call call;
    if (Result r = call.ready()) return r;
    if (!valid(current())) return INVALID_CONTEXT;
    *device = current()->device;
    return SUCCESS;
}

API Result cuCtxSynchronize() {
    Call call;
    if (Result r = call.context()) return r;
    if (Result r = context_in_capture(current())) return r;
    return synchronize(current());
}

API Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    Call call;
    if (Result r = call.context()) return r;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return SUCCESS;
}

API Result cuCtxSetFlags(unsigned) {
    Call call;
    return call.context();
}

API Result cuCtxGetFlags(unsigned *flags) {
    Call call;
    if (Result r = call.context()) return r;
    *flags = 0;
    return SUCCESS;
}

API Result cuCtxGetLimit(size_t *value, int) {
    Call call;
    if (Result r = call.context()) return r;
    *value = 1 << 20;
    return SUCCESS;
}

API Result cuCtxSetLimit(int, size_t) {
    Call call;
    return call.context();
}

API Result cuCtxSetCacheConfig(int) {
    Call call;
    return call.context();
}

API Result cuDeviceCanAccessPeer(int *can, int device, int peer) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    if (Result r = check_device(call, peer)) return r;
    *can = device != peer;
    return SUCCESS;
}

API Result cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    if (Result r = check_device(call, peer)) return r;
    if (device == peer) return INVALID_DEVICE;
    *value = attribute == 2 || attribute == 3; // access and native atomics; the others are ranks and arrays
    return SUCCESS;
}

API Result cuCtxEnablePeerAccess(Context *peer, unsigned flags) {
    Call call;
    if (Result r = call.context()) return r;
    if (!valid(peer)) return INVALID_CONTEXT;
    if (flags) return INVALID_VALUE;
    if (peer == current()) return INVALID_DEVICE;
    return current()->peers.insert(peer->device).second ? SUCCESS : PEER_ACCESS_ALREADY_ENABLED;
}

API Result cuCtxDisablePeerAccess(Context *peer) {
    Call call;
    if (Result r = call.context()) return r;
    if (!valid(peer)) return INVALID_CONTEXT;
    return current()->peers.erase(peer->device) ? SUCCESS : PEER_ACCESS_NOT_ENABLED;
}

// The default pool of cuMemAllocAsync. Its attributes can be set, and have no effect.
API Result cuDeviceGetDefaultMemPool(void **pool, int device) {
    Call call;
    if (Result r = check_device(call, device)) return r;
    *pool = &contexts[device].peers;
    return SUCCESS;
}

API Result cuDeviceGetMemPool(void **pool, int device) { return cuDeviceGetDefaultMemPool(pool, device); }

API Result cuMemPoolSetAttribute(void *, int, void *) {
    Call call;
    return call.ready();
}

API Result cuMemPoolGetAttribute(void *, int attribute, void *value) {
    Call call;
    if (Result r = call.ready()) return r;
    if (attribute <= 3) *(int *)value = 1;
    else *(uint64_t *)value = 0;
    return SUCCESS;
}

API Result cuMemPoolTrimTo(void *, size_t) {
    Call call;
    return call.ready();
}

// Finds a function by its name, with or without the version suffix.
API Result cuGetProcAddress_v2(const char *symbol, void **function, int, uint64_t, int *status) {
    Dl_info self;
    dladdr((void *)&cuInit, &self);
    void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    *function = nullptr;
    for (const char *suffix : {"_v3", "_v2", ""}) {
        if (!*function) *function = dlsym(library, (std::string(symbol) + suffix).c_str());
    }
    if (status) *status = *function ? 0 : 1;
    return *function ? SUCCESS : NOT_FOUND;
}

// NVRTC asks the driver for a private table. This table has the size, 16 bytes, and no function.
API Result cuGetExportTable(const void **table, const void *) {
    static const size_t empty[2] = {sizeof empty, 0};
    if (!table) return INVALID_VALUE;
    *table = empty;
    return SUCCESS;
}
