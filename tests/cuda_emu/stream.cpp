// Streams and events. Work is added to the queue of a stream. It runs at once or, with THORN_EMU_ASYNC, when a caller waits for it.
#include "driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

#include "capture.h"
#include "work.h"

namespace {

// The program's streams, and the streams that were destroyed before their work had run.
std::unordered_map<void *, std::shared_ptr<Stream>> &streams = *new std::unordered_map<void *, std::shared_ptr<Stream>>;
std::vector<std::shared_ptr<Stream>> &destroyed = *new std::vector<std::shared_ptr<Stream>>;
// Notified when an operation has run.
std::condition_variable_any &progress = *new std::condition_variable_any;

Stream *make_stream(Context *context) {
    Stream *stream = new Stream;
    stream->context = context;
    return stream;
}

// Visits all streams of a context.
template <class F> void each_stream(Context *context, F visit) {
    if (context->legacy) visit(context->legacy);
    for (auto &entry : context->per_thread) visit(entry.second);
    for (auto &entry : streams) {
        if (entry.second->context == context) visit(entry.second);
    }
    for (auto &stream : destroyed) {
        if (stream->context == context) visit(stream);
    }
}

std::shared_ptr<Stream> legacy_stream(Context *context) {
    if (!context->legacy) {
        context->legacy.reset(make_stream(context));
        context->legacy->legacy = true;
    }
    return context->legacy;
}

// Makes the operation wait as the rules for the legacy stream and the blocking streams require.
void add_legacy_order(const std::shared_ptr<Stream> &stream, Op &op) {
    Context *context = stream->context;
    if (stream->legacy) {
        each_stream(context, [&](const std::shared_ptr<Stream> &other) {
            if (other->blocking() && other->done < other->issued) op.after.push_back({other, other->issued});
        });
    } else if (stream->blocking() && context->legacy && context->legacy->done < context->legacy->issued) {
        op.after.push_back({context->legacy, context->legacy->issued});
    }
}

} // namespace

uint64_t this_thread() {
    static std::atomic<uint64_t> threads{0};
    static thread_local uint64_t number = ++threads;
    return number;
}

// Returns the stream of a handle: 0 and 1 are the legacy stream, 2 is the thread's stream. Null if there is no such stream.
std::shared_ptr<Stream> find_stream(void *handle) {
    if (handle == nullptr || handle == (void *)1) return legacy_stream(current());
    if (handle == (void *)2) {
        std::shared_ptr<Stream> &own = current()->per_thread[this_thread()];
        if (!own) own.reset(make_stream(current()));
        return own;
    }
    auto found = streams.find(handle);
    return found == streams.end() ? nullptr : found->second;
}

Result enqueue(const std::shared_ptr<Stream> &stream, Op op) {
    if (stream->context->error) return stream->context->error;
    if (stream->capture) return record(*stream, std::move(op));
    if (stream->legacy) {
        if (Result r = legacy_in_capture(stream->context)) return r;
    }
    add_legacy_order(stream, op);
    stream->queue.push_back(std::move(op));
    stream->issued++;
    if (!settings.async) drain(stream, stream->issued);
    return SUCCESS;
}

// Runs the operations of a stream up to a place in its queue. Before each operation, runs the operations that it waits for.
Result drain(const std::shared_ptr<Stream> &stream, uint64_t upto) {
    Context *context = stream->context;
    while (stream->done < upto) {
        if (stream->running) {
            progress.wait(lock);
            open_memory(); // another call may have closed the memory meanwhile
            continue;
        }
        Op op = std::move(stream->queue.front());
        stream->queue.pop_front();
        stream->running = true;
        for (auto &[other, place] : op.after) drain(other, place);
        if (op.host && context->error == SUCCESS) run_unlocked(op.host, op.user);
        if (op.run && context->error == SUCCESS) {
            Result result = op.run();
            if (result && context->error == SUCCESS) context->error = result;
        }
        stream->running = false;
        stream->done++;
        progress.notify_all();
    }
    return context->error;
}

Result synchronize(Context *context) {
    std::vector<std::shared_ptr<Stream>> all;
    each_stream(context, [&](const std::shared_ptr<Stream> &stream) { all.push_back(stream); });
    for (auto &stream : all) drain(stream, stream->issued);
    destroyed.erase(std::remove_if(destroyed.begin(), destroyed.end(), [](auto &s) { return s->done == s->issued; }), destroyed.end());
    return context->error;
}

void drop_streams(Context *context) {
    synchronize(context);
    for (auto i = streams.begin(); i != streams.end();) i = i->second->context == context ? streams.erase(i) : std::next(i);
    context->legacy.reset();
    context->per_thread.clear();
}

API Result cuStreamCreateWithPriority(void **out, unsigned flags, int priority) {
    Call call;
    if (Result r = call.context()) return r;
    if (!out || flags > 1) return INVALID_VALUE;
    std::shared_ptr<Stream> stream(make_stream(current()));
    stream->flags = flags;
    stream->priority = std::min(0, std::max(-5, priority));
    streams[stream.get()] = stream;
    *out = stream.get();
    return SUCCESS;
}

API Result cuStreamCreate(void **out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }

API Result cuStreamDestroy_v2(void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    auto found = streams.find(handle);
    if (found == streams.end()) return INVALID_HANDLE;
    std::shared_ptr<Stream> stream = found->second;
    streams.erase(found);
    if (stream->capture) leave(*stream);
    if (stream->done < stream->issued) destroyed.push_back(stream);
    return SUCCESS;
}

namespace {

// Returns the stream for functions that wait or ask, which are forbidden on a captured stream.
Result waiting_stream(const Call &call, void *handle, std::shared_ptr<Stream> &stream) {
    if (Result r = call.context()) return r;
    stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (stream->context->error) return stream->context->error;
    if (stream->capture) {
        invalidate(*stream->capture);
        return CAPTURE_UNSUPPORTED;
    }
    return stream->legacy ? legacy_in_capture(stream->context) : SUCCESS;
}

} // namespace

API Result cuStreamSynchronize(void *handle) {
    Call call;
    std::shared_ptr<Stream> stream;
    if (Result r = waiting_stream(call, handle, stream)) return r;
    // The legacy stream is done when the blocking streams are done, because their later work comes after it.
    if (stream->legacy) {
        Op op;
        add_legacy_order(stream, op);
        for (auto &[other, place] : op.after) drain(other, place);
    }
    return drain(stream, stream->issued);
}

// Each answer that work is not done runs one operation, so that a loop of queries ends.
API Result cuStreamQuery(void *handle) {
    Call call;
    std::shared_ptr<Stream> stream;
    if (Result r = waiting_stream(call, handle, stream)) return r;
    if (stream->done == stream->issued) return SUCCESS;
    if (Result r = drain(stream, stream->done + 1)) return r;
    return NOT_READY;
}

API Result cuStreamGetCtx(void *handle, Context **context) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    *context = stream->context;
    return SUCCESS;
}

API Result cuStreamGetFlags(void *handle, unsigned *flags) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    *flags = stream->flags;
    return SUCCESS;
}

API Result cuStreamGetPriority(void *handle, int *priority) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    *priority = stream->priority;
    return SUCCESS;
}

API Result cuLaunchHostFunc(void *handle, HostFunction function, void *user) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (!function) return INVALID_VALUE;
    Op op;
    op.host = function;
    op.user = user;
    return enqueue(stream, std::move(op));
}

API int thorn_emu_enqueue(void *handle, int (*run)(void *, int), void *data, void (*drop)(void *)) {
    Call call;
    std::shared_ptr<void> owned(data, drop);
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream || stream->context != current()) return INVALID_HANDLE;
    Op op;
    op.run = [run, owned, device = stream->context->device] { return (Result)run(owned.get(), device); };
    return enqueue(stream, std::move(op));
}

API int thorn_emu_reaches(const char *what, int device, uint64_t at, uint64_t bytes) {
    if (bytes == 0) return true;
    const Allocation *allocation = find_allocation(at);
    if (allocation && allocation->device == device && device_range(at, bytes)) return true;
    fprintf(stderr, "cuda_emu: %s: %llu bytes on device %d from an address that is %s\n", what, (unsigned long long)bytes, device,
            describe(at).c_str());
    count_hit();
    return false;
}

namespace {

struct Event {
    Context *context;
    unsigned flags;                     // 2: has no time
    std::shared_ptr<Stream> stream;     // the stream of the last record, and its number of operations then
    uint64_t place = 0;
    std::shared_ptr<double> time;       // of the last record, in milliseconds
    std::shared_ptr<Capture> capture;   // set if the stream was captured during the last record
    uint64_t captured = 0;              // number of operations of the capture at the last record
};

std::unordered_map<void *, std::unique_ptr<Event>> &events = *new std::unordered_map<void *, std::unique_ptr<Event>>;

Event *find_event(void *handle) {
    auto found = events.find(handle);
    return found == events.end() ? nullptr : found->second.get();
}

double milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the event for functions that wait or ask.
Result waiting_event(const Call &call, void *handle, Event *&event) {
    if (Result r = call.ready()) return r;
    event = find_event(handle);
    if (!event) return INVALID_HANDLE;
    if (event->context->error) return event->context->error;
    if (event->capture) {
        invalidate(*event->capture);
        return CAPTURED_EVENT;
    }
    return SUCCESS;
}

} // namespace

API Result cuEventCreate(void **out, unsigned flags) {
    Call call;
    if (Result r = call.context()) return r;
    if (!out || flags > 7) return INVALID_VALUE;
    auto event = std::make_unique<Event>();
    event->context = current();
    event->flags = flags;
    *out = event.get();
    events[event.get()] = std::move(event);
    return SUCCESS;
}

API Result cuEventDestroy_v2(void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    return events.erase(handle) ? SUCCESS : INVALID_HANDLE;
}

API Result cuEventRecord(void *handle, void *stream_handle) {
    Call call;
    if (Result r = call.context()) return r;
    Event *event = find_event(handle);
    auto stream = find_stream(stream_handle);
    if (!event || !stream || event->context != stream->context) return INVALID_HANDLE;
    if (stream->capture) {
        event->capture = stream->capture;
        event->captured = note_record(*stream);
        event->stream = stream;
        return SUCCESS;
    }
    auto time = std::make_shared<double>(0);
    Op op;
    op.run = [time] {
        *time = milliseconds();
        return SUCCESS;
    };
    if (Result r = enqueue(stream, std::move(op))) return r;
    event->capture.reset();
    event->stream = stream;
    event->place = stream->issued;
    event->time = time;
    return SUCCESS;
}

API Result cuEventRecordWithFlags(void *event, void *stream, unsigned) { return cuEventRecord(event, stream); }

API Result cuStreamWaitEvent(void *stream_handle, void *handle, unsigned) {
    Call call;
    if (Result r = call.context()) return r;
    Event *event = find_event(handle);
    auto stream = find_stream(stream_handle);
    if (!event || !stream) return INVALID_HANDLE;
    if (event->capture) return join_capture(*stream, event->capture, event->stream.get(), event->captured);
    if (stream->capture) {
        invalidate(*stream->capture);
        return CAPTURE_ISOLATION;
    }
    if (!event->stream) return SUCCESS;
    Op op;
    op.after.push_back({event->stream, event->place});
    return enqueue(stream, std::move(op));
}

API Result cuEventQuery(void *handle) {
    Call call;
    Event *event = nullptr;
    if (Result r = waiting_event(call, handle, event)) return r;
    if (!event->stream || event->stream->done >= event->place) return SUCCESS;
    if (Result r = drain(event->stream, event->stream->done + 1)) return r;
    return NOT_READY;
}

API Result cuEventSynchronize(void *handle) {
    Call call;
    Event *event = nullptr;
    if (Result r = waiting_event(call, handle, event)) return r;
    std::shared_ptr<Stream> stream = event->stream;
    return stream ? drain(stream, event->place) : SUCCESS;
}

API Result cuEventElapsedTime_v2(float *out, void *start_handle, void *end_handle) {
    Call call;
    Event *start = nullptr, *end = nullptr;
    if (Result r = waiting_event(call, start_handle, start)) return r;
    if (Result r = waiting_event(call, end_handle, end)) return r;
    if (start->flags & 2 || end->flags & 2 || !start->stream || !end->stream) return INVALID_HANDLE;
    if (start->stream->done < start->place || end->stream->done < end->place) return NOT_READY;
    *out = (float)(*end->time - *start->time);
    return SUCCESS;
}

API Result cuEventElapsedTime(float *out, void *start, void *end) { return cuEventElapsedTime_v2(out, start, end); }
