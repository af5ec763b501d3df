// Memory of the devices. Each device has an arena, in which every allocation is between guard zones. Fresh memory is filled with 0xCD,
// freed memory with 0xDD. Freed memory is kept in quarantine for a while, to detect writes to it.
#include "driver.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace {

const size_t ALIGN = 512;
const size_t GUARD = 64;
const unsigned char FRESH = 0xcd, FREED = 0xdd, ZONE = 0xfd;
const size_t QUARANTINE_BYTES = 16 << 20, QUARANTINE_COUNT = 64;

struct Slot {
    DevicePtr at;      // address of the first guard
    size_t bytes;
    DevicePtr freed;   // the previous allocation at this address
    size_t freed_bytes;
};

struct Arena {
    char *base = nullptr;
    size_t size = 0;
    size_t used = 0;                        // requested bytes
    std::map<DevicePtr, size_t> free;       // free ranges
    std::deque<Slot> quarantine;
    size_t quarantine_bytes = 0;
    bool open = true;
};

// Never destroyed, because other threads may still be in the driver when the process ends.
Arena *const arenas = new Arena[MAX_DEVICES];
std::map<DevicePtr, Allocation> &live = *new std::map<DevicePtr, Allocation>;
struct Pinned {
    size_t bytes;
    unsigned flags;
    bool registered;
    int device;
};
std::map<uintptr_t, Pinned> &pins = *new std::map<uintptr_t, Pinned>;
uint64_t hits = 0;

Arena &arena(int device) {
    Arena &a = arenas[device];
    if (!a.base) {
        a.size = settings.memory * 2 + (256 << 20);
        void *p = mmap(nullptr, a.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            perror("cuda_emu: memory of a device");
            abort();
        }
        a.base = (char *)p;
        a.free[(DevicePtr)p] = a.size;
    }
    return a;
}

size_t slot_bytes(size_t bytes) { return ALIGN + (bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN; }

void give_back(Arena &a, DevicePtr at, size_t bytes) {
    auto next = a.free.lower_bound(at);
    if (next != a.free.begin()) {
        auto previous = std::prev(next);
        if (previous->first + previous->second == at) {
            at = previous->first, bytes += previous->second;
            a.free.erase(previous);
        }
    }
    if (next != a.free.end() && at + bytes == next->first) {
        bytes += next->second;
        a.free.erase(next);
    }
    a.free[at] = bytes;
}

bool filled(DevicePtr at, size_t bytes, unsigned char value) {
    const unsigned char *p = (const unsigned char *)at;
    return bytes == 0 || (p[0] == value && memcmp(p, p + 1, bytes - 1) == 0);
}

void release_slot(Arena &a, const Slot &slot) {
    // Only whole pages are returned to the system. The pages at both ends are shared with other slots.
    const uint64_t page = 4096, first = (slot.at + page - 1) / page * page, end = (slot.at + slot.bytes) / page * page;
    if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
    give_back(a, slot.at, slot.bytes);
}

// Removes the oldest slot from the quarantine. Its bytes must be unchanged.
void release_oldest(Arena &a) {
    Slot slot = a.quarantine.front();
    a.quarantine.pop_front();
    a.quarantine_bytes -= slot.bytes;
    if (!filled(slot.freed, slot.freed_bytes, FREED)) {
        fprintf(stderr, "cuda_emu: memory at %#" PRIx64 " (%zu bytes) was written after it had been freed\n", slot.freed, slot.freed_bytes);
        count_hit();
    }
    release_slot(a, slot);
}

bool guards_intact(const Allocation &a) {
    return filled(a.at - GUARD, GUARD, ZONE) && filled(a.at + a.bytes, GUARD, ZONE);
}

void set_guards(const Allocation &a) {
    memset((void *)(a.at - GUARD), ZONE, GUARD);
    memset((void *)(a.at + a.bytes), ZONE, GUARD);
}

Result allocate(DevicePtr *out, size_t bytes, int device) {
    if (!out || bytes == 0) return INVALID_VALUE;
    if (settings.fail_alloc > 0 && --settings.fail_alloc == 0) return OUT_OF_MEMORY;
    Arena &a = arena(device);
    if (bytes > settings.memory || a.used + bytes > settings.memory) return OUT_OF_MEMORY;
    size_t need = slot_bytes(bytes);
    auto range = a.free.end();
    for (;;) {
        range = std::find_if(a.free.begin(), a.free.end(), [need](auto &r) { return r.second >= need; });
        if (range != a.free.end() || a.quarantine.empty()) break;
        release_oldest(a);
    }
    if (range == a.free.end()) return OUT_OF_MEMORY;
    DevicePtr slot = range->first;
    size_t left = range->second - need;
    a.free.erase(range);
    if (left) a.free[slot + need] = left;
    Allocation allocation;
    allocation.at = slot + ALIGN;
    allocation.bytes = bytes;
    allocation.device = device;
    // Without kernels nothing writes outside of allocations, and unwritten memory uses no pages.
    if (!settings.null) memset((void *)allocation.at, FRESH, bytes);
    set_guards(allocation);
    live[allocation.at] = allocation;
    a.used += bytes;
    *out = allocation.at;
    return SUCCESS;
}

Result release(DevicePtr at) {
    auto found = live.find(at);
    if (found == live.end()) return INVALID_VALUE;
    Allocation allocation = found->second;
    bool intact = guards_intact(allocation);
    if (!intact) {
        fprintf(stderr, "cuda_emu: at its release, a guard of the allocation at %#" PRIx64 " (%zu bytes) is broken\n", at,
                allocation.bytes);
        count_hit();
    }
    live.erase(found);
    Arena &a = arena(allocation.device);
    a.used -= allocation.bytes;
    Slot slot = {at - ALIGN, slot_bytes(allocation.bytes), at, allocation.bytes};
    if (settings.null) {
        release_slot(a, slot);
        return intact ? SUCCESS : ILLEGAL_ADDRESS;
    }
    memset((void *)at, FREED, allocation.bytes);
    a.quarantine.push_back(slot);
    a.quarantine_bytes += slot.bytes;
    while (a.quarantine.size() > QUARANTINE_COUNT || a.quarantine_bytes > QUARANTINE_BYTES) release_oldest(a);
    return intact ? SUCCESS : ILLEGAL_ADDRESS;
}

// Makes the process fail at its end if a guard was hit.
struct AtExit {
    ~AtExit() {
        open_memory();
        check_guards("(at exit)", -1);
        if (!hits) return;
        const char *status = getenv("THORN_EMU_EXIT");
        fprintf(stderr, "cuda_emu: %" PRIu64 " accesses outside of allocations\n", hits);
        fflush(nullptr);
        _exit(status ? atoi(status) : 86);
    }
} at_exit;

} // namespace

void count_hit() { hits++; }
size_t allocations() { return live.size(); }

// Makes the arenas of all devices accessible or inaccessible.
void protect_memory(bool open) {
    if (!settings.protect) return;
    for (int device = 0; device < settings.devices; device++) {
        Arena &a = arenas[device];
        if (!a.base || a.open == open) continue;
        mprotect(a.base, a.size, open ? PROT_READ | PROT_WRITE : PROT_NONE);
        a.open = open;
    }
}

// Makes the arenas accessible that kernels of a context may use: its own and its peers'.
void limit_memory(const Context *context) {
    if (!settings.protect) return;
    for (int device = 0; device < settings.devices; device++) {
        Arena &a = arenas[device];
        bool open = device == context->device || context->peers.count(device);
        if (!a.base || a.open == open) continue;
        mprotect(a.base, a.size, open ? PROT_READ | PROT_WRITE : PROT_NONE);
        a.open = open;
    }
}

const Allocation *find_allocation(DevicePtr at) {
    auto after = live.upper_bound(at);
    if (after == live.begin()) return nullptr;
    const Allocation &allocation = std::prev(after)->second;
    return at < allocation.at + allocation.bytes ? &allocation : nullptr;
}

bool in_arena(DevicePtr at) {
    for (int device = 0; device < settings.devices; device++) {
        const Arena &a = arenas[device];
        if (a.base && at >= (DevicePtr)a.base && at < (DevicePtr)a.base + a.size) return true;
    }
    return false;
}

// True if the bytes are in one allocation, or in pinned memory, which devices can read, too.
bool device_range(DevicePtr at, size_t bytes) {
    const Allocation *allocation = find_allocation(at);
    if (allocation) return !allocation->freeing && bytes <= allocation->at + allocation->bytes - at;
    return pinned((const void *)at, bytes);
}

bool pinned(const void *p, size_t bytes) {
    auto after = pins.upper_bound((uintptr_t)p);
    if (after == pins.begin()) return false;
    auto pin = std::prev(after);
    return (uintptr_t)p + bytes <= pin->first + pin->second.bytes && (uintptr_t)p < pin->first + pin->second.bytes;
}

std::string describe(DevicePtr at) {
    char text[160];
    auto after = live.upper_bound(at);
    if (!in_arena(at)) return "no memory of a device";
    if (after == live.begin()) return "before all allocations";
    const Allocation &a = std::prev(after)->second;
    snprintf(text, sizeof text, "%" PRIu64 " bytes after the start of an allocation of %zu bytes on device %d", at - a.at, a.bytes,
             a.device);
    return text;
}

// Checks the guards of all allocations, and repairs them. `block` is -1 if it is unknown.
Result check_guards(const char *kernel, int64_t block) {
    Result result = SUCCESS;
    for (auto &[at, allocation] : live) {
        if ((settings.protect && !arenas[allocation.device].open) || guards_intact(allocation)) continue;
        bool before = !filled(at - GUARD, GUARD, ZONE);
        fprintf(stderr, "cuda_emu: kernel %s, block %" PRId64 ": wrote %s the allocation at %#" PRIx64 " (%zu bytes on device %d)\n",
                kernel, block, before ? "before" : "after", at, allocation.bytes, allocation.device);
        set_guards(allocation);
        count_hit();
        result = ILLEGAL_ADDRESS;
    }
    return result;
}

void release_memory(int device) {
    std::vector<DevicePtr> all;
    for (auto &[at, allocation] : live) {
        if (allocation.device == device) all.push_back(at);
    }
    for (DevicePtr at : all) release(at);
}

// Functions for tests.
API uint64_t thorn_emu_guard_hits() { return hits; }
API void thorn_emu_clear_guard_hits() { hits = 0; }
API uint64_t thorn_emu_allocations() { return live.size(); }
API void thorn_emu_fail_alloc(int64_t n) { settings.fail_alloc = n; }

API Result cuMemAlloc_v2(DevicePtr *out, size_t bytes) {
    Call call;
    if (Result r = call.context()) return r;
    if (Result r = unsafe_in_capture()) return r;
    return allocate(out, bytes, current()->device);
}

API Result cuMemFree_v2(DevicePtr at) {
    Call call;
    if (Result r = call.context()) return r;
    if (at == 0) return SUCCESS;
    if (Result r = unsafe_in_capture()) return r;
    const Allocation *allocation = find_allocation(at);
    if (!allocation || allocation->at != at || allocation->freeing) return INVALID_VALUE;
    // The driver waits for the context before it frees memory.
    if (Result r = context_in_capture(&primary(allocation->device))) return r;
    if (Result r = synchronize(&primary(allocation->device))) return r;
    Result result = release(at);
    if (result) current()->error = result;
    return result;
}

API Result cuMemAllocAsync(DevicePtr *out, size_t bytes, void *handle) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (capturing(stream)) return NOT_SUPPORTED;
    return allocate(out, bytes, stream->context->device);
}

API Result cuMemFreeAsync(DevicePtr at, void *handle) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (capturing(stream)) return NOT_SUPPORTED;
    auto found = live.find(at);
    if (found == live.end() || found->second.freeing) return INVALID_VALUE;
    found->second.freeing = true;
    Op op;
    op.run = [at] { return release(at); };
    return enqueue(stream, std::move(op));
}

API Result cuMemGetInfo_v2(size_t *free, size_t *total) {
    Call call;
    if (Result r = call.context()) return r;
    *total = settings.memory;
    *free = settings.memory - arena(current()->device).used;
    return SUCCESS;
}

API Result cuMemGetAddressRange_v2(DevicePtr *base, size_t *bytes, DevicePtr at) {
    Call call;
    if (Result r = call.context()) return r;
    const Allocation *allocation = find_allocation(at);
    if (!allocation) return NOT_FOUND;
    if (base) *base = allocation->at;
    if (bytes) *bytes = allocation->bytes;
    return SUCCESS;
}

API Result cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    Call call;
    if (Result r = call.context()) return r;
    if (Result r = unsafe_in_capture()) return r;
    if (!out || bytes == 0) return INVALID_VALUE;
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!p) return OUT_OF_MEMORY;
    memset(p, FRESH, bytes);
    pins[(uintptr_t)p] = {bytes, flags, false, current()->device};
    *out = p;
    return SUCCESS;
}

API Result cuMemAllocHost_v2(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

API Result cuMemFreeHost(void *p) {
    Call call;
    if (Result r = call.context()) return r;
    if (Result r = unsafe_in_capture()) return r;
    auto found = pins.find((uintptr_t)p);
    if (found == pins.end() || found->second.registered) return INVALID_VALUE;
    // As in the real driver, this waits for all work of the device that could use the memory.
    if (Result r = context_in_capture(current())) return r;
    if (Result r = synchronize(current())) return r;
    pins.erase(found);
    free(p);
    return SUCCESS;
}

API Result cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags) {
    Call call;
    if (Result r = call.context()) return r;
    if (!p || bytes == 0) return INVALID_VALUE;
    auto after = pins.lower_bound((uintptr_t)p + bytes);
    if (after != pins.begin()) {
        auto pin = std::prev(after);
        if (pin->first + pin->second.bytes > (uintptr_t)p) return HOST_MEMORY_ALREADY_REGISTERED;
    }
    pins[(uintptr_t)p] = {bytes, flags, true, current()->device};
    return SUCCESS;
}

API Result cuMemHostUnregister(void *p) {
    Call call;
    if (Result r = call.context()) return r;
    auto found = pins.find((uintptr_t)p);
    if (found == pins.end() || !found->second.registered) return HOST_MEMORY_NOT_REGISTERED;
    pins.erase(found);
    return SUCCESS;
}

API Result cuMemHostGetDevicePointer_v2(DevicePtr *out, void *p, unsigned) {
    Call call;
    if (Result r = call.context()) return r;
    if (!pinned(p, 1)) return INVALID_VALUE;
    *out = (DevicePtr)p;
    return SUCCESS;
}

API Result cuMemHostGetFlags(unsigned *flags, void *p) {
    Call call;
    if (Result r = call.context()) return r;
    auto found = pins.find((uintptr_t)p);
    if (found == pins.end()) return INVALID_VALUE;
    *flags = found->second.flags;
    return SUCCESS;
}

namespace {

enum Attribute {
    CONTEXT = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MAPPED = 13,
};

Result pointer_attribute(void *data, int attribute, DevicePtr at) {
    const Allocation *allocation = find_allocation(at);
    auto after = pins.upper_bound((uintptr_t)at);
    bool host = !allocation && pinned((void *)at, 1);
    if (!allocation && !host) return INVALID_VALUE;
    uintptr_t pin = host ? std::prev(after)->first : 0;
    int device = allocation ? allocation->device : pins[pin].device;
    switch (attribute) {
    case CONTEXT: *(Context **)data = &primary(device); return SUCCESS;
    case MEMORY_TYPE: *(unsigned *)data = host ? 1 : 2; return SUCCESS;
    case DEVICE_POINTER: *(DevicePtr *)data = at; return SUCCESS;
    case HOST_POINTER:
        if (!host) return INVALID_VALUE;
        *(void **)data = (void *)at;
        return SUCCESS;
    case BUFFER_ID: *(uint64_t *)data = allocation ? allocation->at : pin; return SUCCESS;
    case IS_MANAGED: *(int *)data = 0; return SUCCESS;
    case DEVICE_ORDINAL: *(int *)data = device; return SUCCESS;
    case RANGE_START: *(DevicePtr *)data = allocation ? allocation->at : pin; return SUCCESS;
    case RANGE_SIZE: *(size_t *)data = allocation ? allocation->bytes : pins[pin].bytes; return SUCCESS;
    case MAPPED: *(int *)data = 1; return SUCCESS;
    default: return NOT_SUPPORTED;
    }
}

} // namespace

API Result cuPointerGetAttribute(void *data, int attribute, DevicePtr at) {
    Call call;
    if (Result r = call.ready()) return r;
    return data ? pointer_attribute(data, attribute, at) : INVALID_VALUE;
}

// Attributes of an unknown pointer are 0 here, and its device is -2.
API Result cuPointerGetAttributes(unsigned count, const int *attributes, void **data, DevicePtr at) {
    Call call;
    if (Result r = call.ready()) return r;
    for (unsigned i = 0; i < count; i++) {
        Result r = pointer_attribute(data[i], attributes[i], at);
        if (r == NOT_SUPPORTED) return r;
        if (r == SUCCESS) continue;
        bool wide = attributes[i] == CONTEXT || attributes[i] == DEVICE_POINTER || attributes[i] == HOST_POINTER ||
                    attributes[i] == BUFFER_ID || attributes[i] == RANGE_START || attributes[i] == RANGE_SIZE;
        if (wide) *(uint64_t *)data[i] = 0;
        else *(int *)data[i] = attributes[i] == DEVICE_ORDINAL ? -2 : 0;
    }
    return SUCCESS;
}
