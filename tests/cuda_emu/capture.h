// The capture of a stream into a graph. Captured operations are recorded, not run.
#pragma once
#include "driver.h"

struct Capture {
    uint64_t id = 0;
    Stream *origin = nullptr;              // where the capture began
    int mode = 0;                          // 0: global, 1: of the thread, 2: relaxed
    uint64_t thread = 0;
    bool invalid = false, ended = false;
    std::vector<Op> ops;                   // in the order of their calls, which agrees with every dependency
    std::map<Stream *, uint64_t> pending;  // per stream that has not been joined: the number of operations up to its last one
    std::vector<std::weak_ptr<Stream>> members;
};

uint64_t this_thread();
// Records an operation of a captured stream.
Result record(Stream &stream, Op op);
// Returns the number of operations so far, for an event.
uint64_t note_record(Stream &stream);
// Makes a stream wait for an event of a capture, which takes the stream into the capture.
Result join_capture(Stream &stream, const std::shared_ptr<Capture> &capture, Stream *from, uint64_t captured);
// An error if the legacy stream would have to wait for a stream that is being captured.
Result legacy_in_capture(Context *context);
void invalidate(Capture &capture);
void leave(Stream &stream);
