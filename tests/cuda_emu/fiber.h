// Fibers: separate stacks that switch to one another, by assembly on x86-64, by ucontext elsewhere.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

// -DTHORN_EMU_UCONTEXT uses ucontext on x86-64, too.
#if defined(__x86_64__) && !defined(THORN_EMU_UCONTEXT)
#define THORN_EMU_SWITCH 1
#else
#include <ucontext.h>
#endif

struct Fiber {
#if defined(THORN_EMU_SWITCH)
    void *sp = nullptr;
#else
    ucontext_t saved;
#endif
    char *stack = nullptr;
    int thread = -1; // the thread of the block that waits on this stack
};

#if defined(THORN_EMU_SWITCH)
// Saves the callee-saved registers and the stack pointer, and continues on another stack.
extern "C" void thorn_emu_switch(void **save, void *to);
asm(R"(
.text
.hidden thorn_emu_switch
.globl thorn_emu_switch
.type thorn_emu_switch,@function
thorn_emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size thorn_emu_switch,.-thorn_emu_switch
)");
#endif

inline void switch_fiber(Fiber &from, Fiber &to) {
#if defined(THORN_EMU_SWITCH)
    thorn_emu_switch(&from.sp, to.sp);
#else
    swapcontext(&from.saved, &to.saved);
#endif
}

const size_t STACK_BYTES = 256 << 10;

// Prepares the fiber to call `entry`, which never returns, at the first switch. `number` staggers the stacks, so that they do not all use
// the same cache lines.
inline void start_fiber(Fiber &fiber, void (*entry)(), unsigned number) {
    if (!fiber.stack) {
        void *p = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            perror("cuda_emu: stack of a fiber");
            abort();
        }
        // The lowest page is inaccessible, so that a stack overflow is an invalid access.
        mprotect(p, 4096, PROT_NONE);
        fiber.stack = (char *)p;
    }
    fiber.thread = -1;
    size_t usable = STACK_BYTES - (number % 32) * 192;
#if defined(THORN_EMU_SWITCH)
    void **top = (void **)(fiber.stack + usable / 64 * 64);
    *--top = nullptr; // return address of `entry`
    *--top = (void *)entry;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    fiber.sp = top;
#else
    getcontext(&fiber.saved);
    fiber.saved.uc_stack.ss_sp = fiber.stack;
    fiber.saved.uc_stack.ss_size = usable;
    fiber.saved.uc_link = nullptr;
    makecontext(&fiber.saved, entry, 0);
#endif
}
