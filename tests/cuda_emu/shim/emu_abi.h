// The interface between the emulated driver and a compiled module of kernels. Both include this header, which includes no other.
#pragma once

namespace emu {

// Version of the interface. The driver refuses a module that was compiled with another version.
const int ABI = 1;

typedef unsigned long long Word;

struct Index {
    unsigned x, y, z;
};

// Variants of __syncthreads, by the value that they combine over the threads of a block.
enum Barrier { BARRIER_SYNC, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };

// Operations that combine the lanes of a warp.
enum WarpOp { WARP_SYNC, WARP_SHUFFLE, WARP_BALLOT, WARP_MATCH };

// Guard bytes before and after each array in shared memory. No kernel may write to them.
const unsigned SHARED_GUARD = 32;

// An array in shared memory. `memory` has a guard, `bytes` bytes of data, and a guard.
struct SharedArray {
    Word epoch;             // number of the block that uses the array
    unsigned char *memory;
    unsigned bytes;
    const char *name;
    int line;
};

// State of the running thread, which the driver updates, and the functions that the module calls.
struct State {
    Index thread, block, block_size, grid;
    unsigned lane;
    Word epoch;             // number of the running block, never 0
    // Waits for all threads of the block and returns the combined `value`.
    int (*barrier)(int kind, int value, int line);
    // Waits for the lanes of `mask` and returns the value of lane `source`, or a set of lanes.
    Word (*warp)(int op, unsigned mask, Word value, int source, int line);
    // Lets the other threads of the block run.
    void (*yield)();
    // Fills a shared array with garbage at its first use in a block.
    void (*enter)(SharedArray *array);
    // Ends the kernel with an error code of the driver. Does not return.
    void (*fail)(int code, const char *text, int line);
};

// One kernel of a module.
struct Kernel {
    const char *name;
    int max_threads;        // of __launch_bounds__; 1024 by default
    int params;
    const unsigned *sizes;  // bytes of each parameter
    void (*call)(void *const *params);
};

// The one symbol that a module exports, as `emu_module`.
struct Module {
    int abi;
    State *state;
    const Kernel *kernels;
    int count;
};

} // namespace emu
