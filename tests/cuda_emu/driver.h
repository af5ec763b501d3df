// The emulated CUDA driver: types and functions that its files share. The lock must be held to use them: each function of the driver takes
// the lock by a `Call` at its start.
#pragma once
#include <cstddef>
#include <cstdint>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shim/emu_abi.h"

#define API extern "C" __attribute__((visibility("default")))

enum Result : int {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    ASSERT = 710,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    MISALIGNED_ADDRESS = 716,
    LAUNCH_FAILED = 719,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    CAPTURE_WRONG_THREAD = 908,
};

const int MAX_DEVICES = 16;

typedef uint64_t DevicePtr;
typedef void (*HostFunction)(void *);

// Settings in the environment, read when the library is loaded.
struct Settings {
    int devices;           // THORN_EMU_DEVICES
    bool async;            // THORN_EMU_ASYNC
    bool protect;          // THORN_EMU_PROTECT
    bool null;             // THORN_EMU_NULL: any image is a module, and launches do nothing
    uint64_t seed;         // THORN_EMU_SEED, 0 for the plain order
    size_t memory;         // THORN_EMU_MEMORY, bytes of a device
    int64_t fail_alloc;    // THORN_EMU_FAIL_ALLOC, counted down to the allocation that fails
    int64_t fail_launch;   // THORN_EMU_FAIL_LAUNCH, counted down in the same way
    int timeout;           // THORN_EMU_TIMEOUT, seconds after which a kernel counts as hanging
    int capability;        // THORN_EMU_CC, 90 for 9.0
    int multiprocessors;   // THORN_EMU_SM
};
extern Settings settings;

struct Stream;
struct Capture;

struct Context {
    int device = 0;
    int retained = 0;
    Result error = SUCCESS;          // sticky: the first error of a kernel
    std::shared_ptr<Stream> legacy;
    std::map<uint64_t, std::shared_ptr<Stream>> per_thread;
    std::set<int> peers;             // devices whose memory kernels may use
};

// Work in a stream. `after` lists places in other streams that must be reached first.
struct Op {
    std::function<Result()> run;
    HostFunction host = nullptr;
    void *user = nullptr;
    std::vector<std::pair<std::shared_ptr<Stream>, uint64_t>> after;
};

struct Stream : std::enable_shared_from_this<Stream> {
    Context *context = nullptr;
    unsigned flags = 0;              // 1: does not synchronise with the legacy stream
    int priority = 0;
    bool legacy = false;
    bool running = false;            // an operation is being run, perhaps by another thread
    std::deque<Op> queue;
    uint64_t issued = 0, done = 0;   // operations put into the queue, and operations run so far
    std::shared_ptr<Capture> capture;

    bool blocking() const { return !legacy && !(flags & 1); }
};

struct Function {
    Context *context;
    void *module;
    const emu::Kernel *kernel;
    emu::State *state;
    size_t shared = 0;               // most bytes of shared memory that any block has used
    std::string name;
};

struct Allocation {
    DevicePtr at = 0;
    size_t bytes = 0;
    int device = 0;
    bool freeing = false;            // a cuMemFreeAsync is pending
};

// Holds the lock and makes device memory readable for one function of the driver.
class Call {
  public:
    Call();
    ~Call();
    // Returns an error unless cuInit has been called in this process.
    Result ready() const;
    // Returns an error unless there is a current context without an error.
    Result context() const;

  private:
    bool held = false;
};

// device.cpp
extern std::mutex lock;
Context *current();
Context &primary(int device);
bool valid(Context *context);
void run_unlocked(HostFunction function, void *user);
void open_memory();
void close_memory();

// memory.cpp
void protect_memory(bool open);
void limit_memory(const Context *context);
const Allocation *find_allocation(DevicePtr at);
bool device_range(DevicePtr at, size_t bytes);
bool in_arena(DevicePtr at);
bool pinned(const void *p, size_t bytes);
Result check_guards(const char *kernel, int64_t block);
size_t allocations();
void release_memory(int device);
void count_hit();
// Describes in words which memory an address is in.
std::string describe(DevicePtr at);

// stream.cpp
std::shared_ptr<Stream> find_stream(void *handle);
Result enqueue(const std::shared_ptr<Stream> &stream, Op op);
Result drain(const std::shared_ptr<Stream> &stream, uint64_t upto);
Result synchronize(Context *context);
void drop_streams(Context *context);
// Returns an error if a stream is captured and the function is not allowed then. The capture becomes invalid.
Result unsafe_in_capture();
Result context_in_capture(Context *context);
bool capturing(const std::shared_ptr<Stream> &stream);

// module.cpp
void drop_modules(Context *context);

// block.cpp
struct Launch {
    Function *function;
    void *const *params;
    emu::Index grid, block;
};
Result run_grid(const Launch &launch);
