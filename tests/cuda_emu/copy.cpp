// Copies and fills. The ranges are checked at the call. The work runs in the order of the stream.
#include "driver.h"

#include <cstring>

namespace {

enum class Side { host, device };

// True if the memory can be this side of a copy. Device memory is not host memory.
bool fits(Side side, DevicePtr at, size_t bytes) { return side == Side::device ? device_range(at, bytes) : !in_arena(at); }

// Returns the copy as an operation. Pageable host memory is read at the call, pinned memory when the stream reaches the copy.
Op copy_op(DevicePtr to, Side from_side, DevicePtr from, size_t bytes, bool captured) {
    Op op;
    if (from_side == Side::host && settings.async && !captured && !pinned((void *)from, bytes)) {
        std::string snapshot((const char *)from, bytes);
        op.run = [to, snapshot = std::move(snapshot)] {
            memcpy((void *)to, snapshot.data(), snapshot.size());
            return SUCCESS;
        };
    } else {
        op.run = [to, from, bytes] {
            memmove((void *)to, (void *)from, bytes);
            return SUCCESS;
        };
    }
    return op;
}

// Copies in a stream. Waits for the copy if it writes pageable host memory, as in CUDA, or if `wait` is set.
Result copy(Side to_side, DevicePtr to, Side from_side, DevicePtr from, size_t bytes, void *handle, bool wait) {
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (bytes == 0) return stream->context->error;
    if (!fits(to_side, to, bytes) || !fits(from_side, from, bytes)) return INVALID_VALUE;
    bool captured = capturing(stream);
    if (wait && captured) return CAPTURE_UNSUPPORTED;
    bool pageable = to_side == Side::host && !pinned((void *)to, bytes);
    if (Result r = enqueue(stream, copy_op(to, from_side, from, bytes, captured))) return r;
    if (captured || (!pageable && !wait)) return SUCCESS;
    return drain(stream, stream->issued);
}

Side side_of(DevicePtr at) { return find_allocation(at) ? Side::device : Side::host; }

} // namespace

API Result cuMemcpyHtoD_v2(DevicePtr to, const void *from, size_t bytes) {
    Call call;
    if (Result r = call.context()) return r;
    return copy(Side::device, to, Side::host, (DevicePtr)from, bytes, nullptr, true);
}

API Result cuMemcpyHtoDAsync_v2(DevicePtr to, const void *from, size_t bytes, void *stream) {
    Call call;
    if (Result r = call.context()) return r;
    return copy(Side::device, to, Side::host, (DevicePtr)from, bytes, stream, false);
}

API Result cuMemcpyDtoH_v2(void *to, DevicePtr from, size_t bytes) {
    Call call;
    if (Result r = call.context()) return r;
    return copy(Side::host, (DevicePtr)to, Side::device, from, bytes, nullptr, true);
}

API Result cuMemcpyDtoHAsync_v2(void *to, DevicePtr from, size_t bytes, void *stream) {
    Call call;
    if (Result r = call.context()) return r;
    return copy(Side::host, (DevicePtr)to, Side::device, from, bytes, stream, false);
}

// Does not wait for a copy within a device, although the name lacks `Async`.
API Result cuMemcpyDtoD_v2(DevicePtr to, DevicePtr from, size_t bytes) {
    Call call;
    if (Result r = call.context()) return r;
    return copy(Side::device, to, Side::device, from, bytes, nullptr, false);
}

API Result cuMemcpyDtoDAsync_v2(DevicePtr to, DevicePtr from, size_t bytes, void *stream) {
    Call call;
    if (Result r = call.context()) return r;
    return copy(Side::device, to, Side::device, from, bytes, stream, false);
}

API Result cuMemcpyPeerAsync(DevicePtr to, Context *to_context, DevicePtr from, Context *from_context, size_t bytes, void *stream) {
    Call call;
    if (Result r = call.context()) return r;
    if (!valid(to_context) || !valid(from_context)) return INVALID_CONTEXT;
    return copy(Side::device, to, Side::device, from, bytes, stream, false);
}

API Result cuMemcpyPeer(DevicePtr to, Context *to_context, DevicePtr from, Context *from_context, size_t bytes) {
    return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, nullptr);
}

API Result cuMemcpyAsync(DevicePtr to, DevicePtr from, size_t bytes, void *stream) {
    Call call;
    if (Result r = call.context()) return r;
    return copy(side_of(to), to, side_of(from), from, bytes, stream, false);
}

API Result cuMemcpy(DevicePtr to, DevicePtr from, size_t bytes) {
    Call call;
    if (Result r = call.context()) return r;
    bool wait = side_of(to) == Side::host || side_of(from) == Side::host;
    return copy(side_of(to), to, side_of(from), from, bytes, nullptr, wait);
}

namespace {

template <class T> Result fill(DevicePtr at, T value, size_t count, void *handle) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (count == 0) return SUCCESS;
    if (at % sizeof(T) || count > SIZE_MAX / sizeof(T) || !device_range(at, count * sizeof(T))) return INVALID_VALUE;
    Op op;
    op.run = [at, value, count] {
        T *p = (T *)at;
        for (size_t i = 0; i < count; i++) p[i] = value;
        return SUCCESS;
    };
    return enqueue(stream, std::move(op));
}

} // namespace

API Result cuMemsetD8_v2(DevicePtr at, uint8_t value, size_t count) { return fill(at, value, count, nullptr); }
API Result cuMemsetD16_v2(DevicePtr at, uint16_t value, size_t count) { return fill(at, value, count, nullptr); }
API Result cuMemsetD32_v2(DevicePtr at, uint32_t value, size_t count) { return fill(at, value, count, nullptr); }
API Result cuMemsetD8Async(DevicePtr at, uint8_t value, size_t count, void *stream) { return fill(at, value, count, stream); }
API Result cuMemsetD16Async(DevicePtr at, uint16_t value, size_t count, void *stream) { return fill(at, value, count, stream); }
API Result cuMemsetD32Async(DevicePtr at, uint32_t value, size_t count, void *stream) { return fill(at, value, count, stream); }
