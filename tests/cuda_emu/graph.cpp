// Captures and graphs. A graph is a list of captured operations. A launch adds them to a stream.
#include "capture.h"

#include <algorithm>

namespace {

struct Graph {
    std::vector<Op> ops;
};

typedef std::unordered_map<void *, std::unique_ptr<Graph>> Graphs;
Graphs &graphs = *new Graphs, &executables = *new Graphs;
// The captures in progress.
std::vector<std::shared_ptr<Capture>> &captures = *new std::vector<std::shared_ptr<Capture>>;
thread_local int thread_mode = 0;               // the mode that cuThreadExchangeStreamCaptureMode sets

void end(const std::shared_ptr<Capture> &capture) {
    capture->ended = true;
    for (auto &member : capture->members) {
        if (auto stream = member.lock()) stream->capture.reset();
    }
    captures.erase(std::remove(captures.begin(), captures.end(), capture), captures.end());
}

} // namespace

void invalidate(Capture &capture) { capture.invalid = true; }

bool capturing(const std::shared_ptr<Stream> &stream) { return stream->capture != nullptr; }

Result record(Stream &stream, Op op) {
    Capture &capture = *stream.capture;
    if (capture.invalid) return CAPTURE_INVALIDATED;
    capture.ops.push_back(std::move(op));
    if (&stream != capture.origin) capture.pending[&stream] = capture.ops.size();
    return SUCCESS;
}

uint64_t note_record(Stream &stream) { return stream.capture->ops.size(); }

Result join_capture(Stream &stream, const std::shared_ptr<Capture> &capture, Stream *from, uint64_t captured) {
    if (capture->ended) return CAPTURE_ISOLATION;
    if (capture->invalid) return CAPTURE_INVALIDATED;
    if (stream.legacy) return CAPTURE_IMPLICIT;
    if (stream.capture && stream.capture != capture) {
        invalidate(*stream.capture);
        invalidate(*capture);
        return CAPTURE_MERGE;
    }
    if (!stream.capture) {
        stream.capture = capture;
        capture->members.push_back(stream.weak_from_this());
    }
    auto pending = capture->pending.find(from);
    if (from != &stream && pending != capture->pending.end() && pending->second <= captured) {
        capture->pending.erase(pending);
        if (&stream != capture->origin) capture->pending[&stream] = capture->ops.size();
    }
    return SUCCESS;
}

Result legacy_in_capture(Context *context) {
    for (auto &capture : captures) {
        for (auto &member : capture->members) {
            auto stream = member.lock();
            if (!stream || stream->context != context || !stream->blocking()) continue;
            invalidate(*capture);
            return CAPTURE_IMPLICIT;
        }
    }
    return SUCCESS;
}

// Returns an error if a stream of the context is captured, because waiting for the context is then forbidden in every
// mode.
Result context_in_capture(Context *context) {
    for (auto &capture : captures) {
        for (auto &member : capture->members) {
            auto stream = member.lock();
            if (!stream || stream->context != context) continue;
            invalidate(*capture);
            return CAPTURE_UNSUPPORTED;
        }
    }
    return SUCCESS;
}

Result unsafe_in_capture() {
    if (thread_mode == 2) return SUCCESS;
    for (auto &capture : captures) {
        bool own = capture->thread == this_thread() && capture->mode != 2;
        bool others = capture->mode == 0 && thread_mode == 0;
        if (!own && !others) continue;
        invalidate(*capture);
        return CAPTURE_UNSUPPORTED;
    }
    return SUCCESS;
}

// Destroying a stream ends the capture that began in it, and invalidates the capture that it has joined.
void leave(Stream &stream) {
    std::shared_ptr<Capture> capture = stream.capture;
    invalidate(*capture);
    if (capture->origin == &stream) end(capture);
    stream.capture.reset();
}

API Result cuStreamBeginCapture_v2(void *handle, int mode) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (mode < 0 || mode > 2) return INVALID_VALUE;
    if (stream->legacy) return CAPTURE_UNSUPPORTED;
    if (stream->capture) return ILLEGAL_STATE;
    static uint64_t last_id = 0;
    auto capture = std::make_shared<Capture>();
    capture->id = ++last_id;
    capture->origin = stream.get();
    capture->mode = mode;
    capture->thread = this_thread();
    capture->members.push_back(stream);
    stream->capture = capture;
    captures.push_back(capture);
    return SUCCESS;
}

API Result cuStreamEndCapture(void *handle, void **out) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (!out) return INVALID_VALUE;
    *out = nullptr;
    std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return ILLEGAL_STATE;
    if (capture->origin != stream.get()) {
        invalidate(*capture);
        return CAPTURE_UNMATCHED;
    }
    if (capture->mode != 2 && capture->thread != this_thread()) return CAPTURE_WRONG_THREAD;
    end(capture);
    if (capture->invalid) return CAPTURE_INVALIDATED;
    if (!capture->pending.empty()) return CAPTURE_UNJOINED;
    auto graph = std::make_unique<Graph>();
    graph->ops = std::move(capture->ops);
    *out = graph.get();
    graphs[graph.get()] = std::move(graph);
    return SUCCESS;
}

API Result cuStreamIsCapturing(void *handle, int *status) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (stream->legacy) {
        if (Result r = legacy_in_capture(stream->context)) return r;
    }
    *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
    return SUCCESS;
}

// The graph and the dependencies are left unset, because the library does not use them.
API Result cuStreamGetCaptureInfo_v2(void *handle, int *status, uint64_t *id, void **graph, const void **dependencies, size_t *count) {
    Call call;
    if (Result r = call.context()) return r;
    auto stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (!status || graph || dependencies || count) return INVALID_VALUE;
    if (stream->legacy) {
        if (Result r = legacy_in_capture(stream->context)) return r;
    }
    *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
    if (id && *status == 1) *id = stream->capture->id;
    return SUCCESS;
}

API Result cuThreadExchangeStreamCaptureMode(int *mode) {
    Call call;
    if (Result r = call.ready()) return r;
    if (!mode || *mode < 0 || *mode > 2) return INVALID_VALUE;
    std::swap(*mode, thread_mode);
    return SUCCESS;
}

API Result cuGraphInstantiateWithFlags(void **out, void *handle, unsigned long long) {
    Call call;
    if (Result r = call.context()) return r;
    auto found = graphs.find(handle);
    if (found == graphs.end() || !out) return INVALID_VALUE;
    auto executable = std::make_unique<Graph>(*found->second);
    *out = executable.get();
    executables[executable.get()] = std::move(executable);
    return SUCCESS;
}

API Result cuGraphUpload(void *handle, void *) {
    Call call;
    if (Result r = call.context()) return r;
    return executables.count(handle) ? SUCCESS : INVALID_VALUE;
}

API Result cuGraphLaunch(void *handle, void *stream_handle) {
    Call call;
    if (Result r = call.context()) return r;
    auto found = executables.find(handle);
    auto stream = find_stream(stream_handle);
    if (found == executables.end()) return INVALID_VALUE;
    if (!stream) return INVALID_HANDLE;
    if (stream->capture) {
        invalidate(*stream->capture);
        return CAPTURE_UNSUPPORTED;
    }
    std::vector<Op> ops = found->second->ops;
    for (Op &op : ops) {
        if (Result r = enqueue(stream, std::move(op))) return r;
    }
    return SUCCESS;
}

// Fills `nodes` unless it is null. The library only counts nodes.
API Result cuGraphGetNodes(void *handle, void **nodes, size_t *count) {
    Call call;
    if (Result r = call.ready()) return r;
    auto found = graphs.find(handle);
    if (found == graphs.end() || !count) return INVALID_VALUE;
    std::vector<Op> &ops = found->second->ops;
    for (size_t i = 0; nodes && i < *count; i++) nodes[i] = i < ops.size() ? &ops[i] : nullptr;
    if (!nodes || *count > ops.size()) *count = ops.size();
    return SUCCESS;
}

API Result cuGraphExecDestroy(void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    return executables.erase(handle) ? SUCCESS : INVALID_VALUE;
}

API Result cuGraphDestroy(void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    return graphs.erase(handle) ? SUCCESS : INVALID_VALUE;
}
