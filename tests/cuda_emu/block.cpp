// Runs a grid, block after block, with the threads of a block on fibers. A thread that meets no barrier is a plain call, and the next
// thread starts on the same stack. A thread that waits keeps its stack, and the next thread starts on another one.
#include "driver.h"
#include "fiber.h"

#include <algorithm>
#include <cstdarg>
#include <cinttypes>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <pthread.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

void run_threads();

namespace {

const unsigned WARP = 32;
const unsigned MAX_THREADS = 1024;
const size_t MAX_SHARED = 48 << 10;
const uint64_t NOTHING = 0xcdcdcdcdcdcdcdcdull; // what a lane reads from a lane outside of the mask

enum class Wait : unsigned char { no, block, warp, yielded };

struct Thread {
    emu::Index index;
    unsigned number;
    Wait wait;
    bool done;
    Fiber *fiber;
    int line;          // line in which the thread waits
    int kind;          // of barrier, or of warp function
    unsigned mask;
    int source;
    emu::Word value;
    emu::Word result;
};

struct Warp {
    unsigned arrived, exited; // sets of lanes
};

// The running block, and state that is kept between blocks. There is one such object, because the lock is held while a kernel runs.
struct Block {
    const Launch *launch = nullptr;
    emu::State *state = nullptr;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<unsigned> order;           // threads in the order of their starts
    unsigned count = 0, fresh = 0, done = 0, waiting = 0;
    int barrier_kind = 0, barrier_line = 0, barrier_sum = 0;
    unsigned ready[MAX_THREADS];           // ring of threads that may continue
    unsigned ready_first = 0, ready_count = 0;
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Fiber *> idle;
    Fiber main, *fiber = nullptr;          // the caller of run_grid, and the running fiber
    Thread *thread = nullptr;
    std::vector<emu::SharedArray *> shared;
    size_t shared_bytes = 0;
    Result failure = SUCCESS;
    int64_t number = 0;
    uint64_t random = 0;
    emu::Word epoch = 0;
};

Block &block = *new Block;
sigjmp_buf fault;
volatile bool in_kernel = false;
pthread_t kernel_thread;
void *fault_place; // the instruction that faulted

uint64_t next_random() {
    uint64_t &x = block.random;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x * 0x2545f4914f6cdd1dull >> 16;
}

void permute(std::vector<unsigned> &items) {
    for (size_t i = items.size(); i > 1; i--) std::swap(items[i - 1], items[next_random() % i]);
}

const char *kernel_name() { return block.launch->function->name.c_str(); }

__attribute__((format(printf, 1, 2))) void complain(const char *format, ...) {
    fprintf(stderr, "cuda_emu: kernel %s, block %" PRId64 ": ", kernel_name(), block.number);
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

// Leaves the kernel, and drops the state of its fibers.
[[noreturn]] void give_up(Result error) {
    block.failure = error;
    Fiber forgotten;
    switch_fiber(forgotten, block.main);
    abort();
}

void push_ready(Thread &thread) {
    unsigned at = block.ready_first + block.ready_count++;
    block.ready[at % MAX_THREADS] = thread.number;
}

// Makes a set of threads ready to continue, in a random order if there is a seed.
void release(std::vector<unsigned> &numbers) {
    if (settings.seed) permute(numbers);
    for (unsigned number : numbers) {
        block.threads[number].wait = Wait::no;
        push_ready(block.threads[number]);
    }
}

void show_deadlock() {
    unsigned at_block = 0, at_warp = 0, block_line = 0, warp_line = 0;
    for (Thread &thread : block.threads) {
        if (thread.done) continue;
        if (thread.wait == Wait::block) at_block++, block_line = thread.line;
        if (thread.wait == Wait::warp) at_warp++, warp_line = thread.line;
    }
    complain("divergent barrier: of %u threads %u have ended, %u wait in __syncthreads (line %u), %u in a warp function (line %u)",
             block.count, block.done, at_block, block_line, at_warp, warp_line);
}

// The fiber that runs next when the running fiber waits or ends.
Fiber &next_fiber() {
    bool start = block.fresh < block.count;
    if (block.ready_count && !(start && settings.seed && next_random() % 4 == 0)) {
        Thread &thread = block.threads[block.ready[block.ready_first]];
        block.ready_first = (block.ready_first + 1) % MAX_THREADS;
        block.ready_count--;
        return *thread.fiber;
    }
    if (start) {
        if (block.idle.empty()) {
            block.fibers.push_back(std::make_unique<Fiber>());
            start_fiber(*block.fibers.back(), run_threads, (unsigned)block.fibers.size());
            block.idle.push_back(block.fibers.back().get());
        }
        Fiber *fiber = block.idle.back();
        block.idle.pop_back();
        return *fiber;
    }
    if (block.done < block.count) {
        show_deadlock();
        block.failure = LAUNCH_FAILED;
    }
    return block.main;
}

void set_thread(Thread &thread) {
    block.thread = &thread;
    block.state->thread = thread.index;
    block.state->lane = thread.number % WARP;
}

// Switches to another fiber. Returns when a fiber switches back to this one.
void switch_away() {
    Fiber *me = block.fiber;
    Thread *thread = block.thread;
    Fiber &next = next_fiber();
    if (&next != me) {
        block.fiber = &next;
        switch_fiber(*me, next);
        block.fiber = me;
    }
    if (thread && !thread->done) set_thread(*thread);
}

// Keeps the running thread waiting until it is released.
void wait_here(Wait wait) {
    block.thread->wait = wait;
    block.thread->fiber = block.fiber;
    switch_away();
}

void release_block(Thread *running) {
    static std::vector<unsigned> numbers;
    numbers.clear();
    int ended = block.done, count = block.count, sum = block.barrier_sum;
    int result = block.barrier_kind == emu::BARRIER_AND  ? sum == count - ended
                 : block.barrier_kind == emu::BARRIER_OR ? sum != 0
                                                         : sum;
    for (Thread &thread : block.threads) {
        if (thread.wait != Wait::block) continue;
        thread.result = (emu::Word)(int64_t)result;
        if (&thread != running) numbers.push_back(thread.number);
    }
    block.waiting = 0;
    block.barrier_sum = 0;
    release(numbers);
}

int on_barrier(int kind, int value, int line) {
    Thread &thread = *block.thread;
    if (block.waiting && (block.barrier_kind != kind || block.barrier_line != line)) {
        complain("divergent barrier: threads wait in __syncthreads of line %d, and thread %u in that of line %d", block.barrier_line,
                 thread.number, line);
        give_up(LAUNCH_FAILED);
    }
    block.barrier_kind = kind;
    block.barrier_line = thread.line = line;
    block.barrier_sum += value;
    block.waiting++;
    thread.wait = Wait::block;
    if (block.waiting + block.done == block.count) {
        release_block(&thread);
        thread.wait = Wait::no;
        // With a seed, the last thread to arrive may not be the first to continue.
        if (settings.seed && next_random() % 2) {
            push_ready(thread);
            wait_here(Wait::no);
        }
    } else {
        wait_here(Wait::block);
    }
    return (int)thread.result;
}

// Releases the lanes of `need`, which all wait in a warp function, and gives each lane its result.
void release_warp(Warp &warp, unsigned need, Thread *running) {
    static std::vector<unsigned> numbers;
    numbers.clear();
    Thread *lanes = &block.threads[(&warp - block.warps.data()) * WARP];
    emu::Word ballot = 0;
    for (unsigned rest = need; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (lanes[lane].value) ballot |= 1ull << lane;
    }
    for (unsigned rest = need; rest; rest &= rest - 1) {
        Thread &thread = lanes[__builtin_ctz(rest)];
        switch (thread.kind) {
        case emu::WARP_SHUFFLE:
            thread.result = need >> thread.source & 1 ? lanes[thread.source].value : NOTHING;
            break;
        case emu::WARP_BALLOT:
            thread.result = ballot;
            break;
        case emu::WARP_MATCH:
            thread.result = 0;
            for (unsigned others = need; others; others &= others - 1) {
                unsigned lane = (unsigned)__builtin_ctz(others);
                if (lanes[lane].value == thread.value) thread.result |= 1ull << lane;
            }
            break;
        }
        if (&thread != running) numbers.push_back(thread.number);
        thread.wait = Wait::no;
    }
    warp.arrived &= ~need;
    release(numbers);
}

// Releases the group of a lane that waits, if all its lanes wait for the same thing.
bool try_warp(Warp &warp, unsigned lane, Thread *running) {
    Thread *lanes = &block.threads[(&warp - block.warps.data()) * WARP];
    unsigned need = lanes[lane].mask & ~warp.exited;
    if (need & ~warp.arrived) return false;
    for (unsigned rest = need; rest; rest &= rest - 1) {
        Thread &other = lanes[__builtin_ctz(rest)];
        if (other.mask == lanes[lane].mask && other.kind == lanes[lane].kind) continue;
        complain("lanes of a warp are in different warp functions: line %d with mask %08x, line %d with mask %08x", lanes[lane].line,
                 lanes[lane].mask, other.line, other.mask);
        give_up(LAUNCH_FAILED);
    }
    release_warp(warp, need, running);
    return true;
}

emu::Word on_warp(int op, unsigned mask, emu::Word value, int source, int line) {
    Thread &thread = *block.thread;
    unsigned lane = thread.number % WARP;
    if (!(mask >> lane & 1)) {
        complain("line %d: lane %u is not in the mask %08x of the warp function that it calls", line, lane, mask);
        give_up(LAUNCH_FAILED);
    }
    if (source < 0 || source >= (int)WARP) source = (int)lane;
    thread.kind = op, thread.mask = mask, thread.value = value, thread.source = source, thread.line = line;
    Warp &warp = block.warps[thread.number / WARP];
    warp.arrived |= 1u << lane;
    thread.wait = Wait::warp;
    if (try_warp(warp, lane, &thread)) {
        if (settings.seed && next_random() % 4 == 0) {
            push_ready(thread);
            wait_here(Wait::no);
        }
    } else {
        wait_here(Wait::warp);
    }
    return thread.result;
}

void on_yield() {
    push_ready(*block.thread);
    wait_here(Wait::yielded);
}

void on_enter(emu::SharedArray *array) {
    array->epoch = block.epoch;
    memset(array->memory, 0xfd, emu::SHARED_GUARD);
    memset(array->memory + emu::SHARED_GUARD, 0xcd, array->bytes);
    memset(array->memory + emu::SHARED_GUARD + array->bytes, 0xfd, emu::SHARED_GUARD);
    block.shared.push_back(array);
    block.shared_bytes += array->bytes;
    if (block.shared_bytes > MAX_SHARED) {
        complain("line %d: %zu bytes of shared memory, a block has %zu", array->line, block.shared_bytes, MAX_SHARED);
        give_up(LAUNCH_FAILED);
    }
}

void on_fail(int code, const char *text, int line) {
    complain("thread %u, line %d: %s", block.thread->number, line, text);
    give_up((Result)code);
}

// Ends a thread. Other threads may have waited only for this one.
void end_thread(Thread &thread) {
    thread.done = true;
    block.done++;
    Warp &warp = block.warps[thread.number / WARP];
    warp.exited |= 1u << thread.number % WARP;
    for (unsigned rest = warp.arrived; rest; rest &= warp.arrived & (rest - 1)) {
        try_warp(warp, (unsigned)__builtin_ctz(rest), nullptr);
    }
    if (block.waiting && block.waiting + block.done == block.count) release_block(nullptr);
}

void check_shared() {
    for (emu::SharedArray *array : block.shared) {
        unsigned char *after = array->memory + emu::SHARED_GUARD + array->bytes;
        for (unsigned i = 0; i < emu::SHARED_GUARD; i++) {
            if (array->memory[i] == 0xfd && after[i] == 0xfd) continue;
            complain("shared array %s of %u bytes (line %d) was written outside of its bounds", array->name, array->bytes, array->line);
            count_hit();
            block.failure = ILLEGAL_ADDRESS;
            return;
        }
    }
}

void reset_fibers() {
    block.idle.clear();
    for (size_t i = 0; i < block.fibers.size(); i++) {
        start_fiber(*block.fibers[i], run_threads, (unsigned)i + 1);
        block.idle.push_back(block.fibers[i].get());
    }
}

// Stores the x, y and z of each thread. The list is reused by later blocks of the same size.
void set_shape(const emu::Index &size) {
    static emu::Index last = {0, 0, 0};
    if (last.x == size.x && last.y == size.y && last.z == size.z) return;
    last = size;
    block.count = size.x * size.y * size.z;
    block.threads.assign(block.count, Thread());
    block.warps.assign((block.count + WARP - 1) / WARP, Warp());
    block.order.resize(block.count);
    std::iota(block.order.begin(), block.order.end(), 0u);
    for (unsigned i = 0; i < block.count; i++) {
        block.threads[i].number = i;
        block.threads[i].index = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
    }
}

void run_block(emu::Index at) {
    block.state->block = at;
    block.state->epoch = ++block.epoch;
    block.fresh = block.done = block.waiting = 0;
    block.barrier_sum = 0;
    block.ready_first = block.ready_count = 0;
    block.shared.clear();
    block.shared_bytes = 0;
    for (Thread &thread : block.threads) thread.wait = Wait::no, thread.done = false;
    for (Warp &warp : block.warps) warp = {0, 0};
    if (block.count % WARP) block.warps.back().exited = ~0u << block.count % WARP;
    if (settings.seed) permute(block.order);
    block.thread = nullptr;
    Fiber &first = next_fiber();
    block.fiber = &first;
    switch_fiber(block.main, first);
    Function &function = *block.launch->function;
    function.shared = std::max(function.shared, block.shared_bytes);
    if (block.failure == SUCCESS) check_shared();
    if (block.failure != SUCCESS) reset_fibers();
}

struct sigaction before[NSIG];

// An invalid access of a kernel ends the kernel. Any other signal is passed to the previous handler.
void on_signal(int signal, siginfo_t *info, void *machine) {
    if (!in_kernel || !pthread_equal(pthread_self(), kernel_thread)) {
        sigaction(signal, &before[signal], nullptr);
        return; // the instruction runs again and faults again
    }
    in_kernel = false;
    Result error = ILLEGAL_ADDRESS;
    unsigned number = block.thread ? block.thread->number : 0;
    if (signal == SIGFPE) {
        complain("thread %u: integer division by zero, or of the smallest number by -1", number);
        error = LAUNCH_FAILED;
    } else if (signal == SIGILL) {
        complain("thread %u: misaligned access, index out of bounds, or shift by too many bits", number);
        error = MISALIGNED_ADDRESS;
    } else {
        complain("thread %u: invalid access to address %p (%s)", number, info->si_addr, describe((DevicePtr)info->si_addr).c_str());
    }
    count_hit();
    block.failure = error;
#if defined(__x86_64__)
    fault_place = (void *)((ucontext_t *)machine)->uc_mcontext.gregs[REG_RIP];
#else
    (void)machine;
    fault_place = nullptr;
#endif
    siglongjmp(fault, 1);
}

// Prints where the kernel stopped, as a line of the module's text, and the path of the text.
void show_place() {
    Dl_info module;
    if (!dladdr((void *)block.launch->function->kernel, &module)) return;
    std::string path = module.dli_fname;
    Dl_info place;
    if (fault_place && dladdr(fault_place, &place) && place.dli_fbase == module.dli_fbase) {
        char offset[40];
        snprintf(offset, sizeof offset, "%#zx", (size_t)((char *)fault_place - (char *)module.dli_fbase));
        if (FILE *lines = popen(("addr2line -Cpfise '" + path + "' " + offset + " 2>/dev/null").c_str(), "r")) {
            char line[400];
            while (fgets(line, sizeof line, lines)) fprintf(stderr, "cuda_emu: at %s", line);
            pclose(lines);
        }
    }
    fault_place = nullptr;
    fprintf(stderr, "cuda_emu: the text of the kernel is %s.cu\n", path.substr(0, path.size() - 3).c_str());
}

// Installs the handler once, and a stack for it in each thread that launches.
void prepare_signals() {
    static bool installed = false;
    static thread_local bool has_stack = false;
    if (!has_stack) {
        stack_t stack;
        sigaltstack(nullptr, &stack);
        if (stack.ss_flags & SS_DISABLE || stack.ss_size < (32 << 10)) {
            stack.ss_size = 64 << 10;
            stack.ss_sp = malloc(stack.ss_size);
            stack.ss_flags = 0;
            sigaltstack(&stack, nullptr);
        }
        has_stack = true;
    }
    if (installed) return;
    installed = true;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, &before[signal]);
}

volatile uint64_t launches = 0; // number of started grids

// Ends the process if one grid runs for too long, because its threads wait for each other for ever.
void watch() {
    static bool started = false;
    if (started || settings.timeout <= 0) return;
    started = true;
    std::thread([] {
        for (uint64_t last = 0, seconds = 0;; sleep(1)) {
            seconds = in_kernel && launches == last ? seconds + 1 : 0;
            last = launches;
            if (seconds < (uint64_t)settings.timeout) continue;
            complain("runs for %d seconds: it waits for something that never comes?", settings.timeout);
            _exit(124);
        }
    }).detach();
}

void run_blocks(const Launch &launch, int64_t blocks) {
    std::vector<unsigned> order;
    if (settings.seed && blocks <= 1 << 24) {
        order.resize((size_t)blocks);
        std::iota(order.begin(), order.end(), 0u);
        permute(order);
    }
    bool often = blocks * (int64_t)allocations() <= 4096;
    for (int64_t i = 0; i < blocks && block.failure == SUCCESS; i++) {
        int64_t n = order.empty() ? i : order[(size_t)i];
        block.number = n;
        run_block({(unsigned)(n % launch.grid.x), (unsigned)(n / launch.grid.x % launch.grid.y),
                   (unsigned)(n / ((int64_t)launch.grid.x * launch.grid.y))});
        if (block.failure == SUCCESS && (often || i == blocks - 1)) block.failure = check_guards(kernel_name(), often ? n : -1);
    }
}

} // namespace

// The loop of a fiber: starts threads until all are started, and then switches to fibers whose threads can continue.
void run_threads() {
    for (;;) {
        while (block.fresh < block.count) {
            Thread &thread = block.threads[block.order[block.fresh++]];
            set_thread(thread);
            block.launch->function->kernel->call(block.launch->params);
            end_thread(thread);
            if (block.ready_count) break;
        }
        block.thread = nullptr;
        block.idle.push_back(block.fiber);
        switch_away();
    }
}

// Returns the kernel's error.
Result run_grid(const Launch &launch) {
    prepare_signals();
    watch();
    block.launch = &launch;
    block.state = launch.function->state;
    *block.state = {{}, {}, launch.block, launch.grid, 0, 0, on_barrier, on_warp, on_yield, on_enter, on_fail};
    block.failure = SUCCESS;
    block.random = settings.seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull + launches;
    launches = launches + 1;
    set_shape(launch.block);
    limit_memory(launch.function->context);
    kernel_thread = pthread_self();
    if (sigsetjmp(fault, 1) == 0) {
        in_kernel = true;
        run_blocks(launch, (int64_t)launch.grid.x * launch.grid.y * launch.grid.z);
    } else {
        reset_fibers();
    }
    in_kernel = false;
    protect_memory(true);
    if (block.failure) show_place();
    return block.failure;
}
