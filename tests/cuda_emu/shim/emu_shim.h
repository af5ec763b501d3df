// NVRTC's built-in names for a C++ compiler. The emulated driver runs the result. No system header is included, because NVRTC has none: a
// name that NVRTC lacks must be missing here, too.
#pragma once
#include "emu_abi.h"

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __builtin_assume(condition) ((void)0)

__attribute__((visibility("hidden"))) extern emu::State emu_state;

#define threadIdx (emu_state.thread)
#define blockIdx (emu_state.block)
#define blockDim (emu_state.block_size)
#define gridDim (emu_state.grid)
#define warpSize 32

extern "C" int printf(const char *format, ...);

// The line of the caller, for messages.
#define EMU_LINE int line = __builtin_LINE()

#define assert(condition) ((condition) ? (void)0 : emu_state.fail(710, "assertion " #condition " failed", __LINE__))
static inline void __trap(EMU_LINE) { emu_state.fail(719, "__trap", line); }

#include "emu_vectors.h"
#include "emu_warp.h"
#include "emu_bits.h"
#include "emu_math.h"

namespace emu {

template <class T> struct Plain { typedef T type; };
template <class T> struct Plain<T &> { typedef T type; };
template <class T> struct Plain<const T> { typedef T type; };
template <class T> struct Plain<const T &> { typedef T type; };

// Memory of one `__shared__` variable. The rewriter replaces the variable's declaration by this class. N is the alignment in the
// declaration. The address is a multiple of the variable's alignment and of no larger power of 2. So a vector access to an array of a
// smaller type, which a GPU may place anywhere, is misaligned here.
template <class T, unsigned N> struct Shared {
    static constexpr unsigned ALIGN = alignof(T) > N ? alignof(T) : N;
    static constexpr unsigned START = ALIGN < SHARED_GUARD ? ALIGN : ALIGN - SHARED_GUARD;

    SharedArray array;
    alignas(ALIGN > 64 ? 2 * ALIGN : 128) unsigned char memory[START + SHARED_GUARD + sizeof(T) + SHARED_GUARD];

    T &value() { return *(T *)(memory + START + SHARED_GUARD); }

    void enter() {
        if (array.epoch != emu_state.epoch) {
            array.memory = memory + START;
            emu_state.enter(&array);
        }
    }
};

template <int... I> struct Numbers {};
template <int N> struct Count { template <template <int...> class List> using list = List<__integer_pack(N)...>; };

// Sizes of a kernel's parameters, and a call with parameters in memory.
template <class F> struct Signature;
template <class... A> struct Signature<void (*)(A...)> {
    static constexpr unsigned sizes[] = {sizeof(typename Plain<A>::type)..., 0};

    static constexpr unsigned total() {
        unsigned sum = 0;
        for (unsigned size : sizes) sum += size;
        return sum;
    }

    template <void (*F)(A...), int... I> static void unpack(void *const *params, Numbers<I...>) {
        F(*(typename Plain<A>::type *)params[I]...);
    }

    template <void (*F)(A...)> static void call(void *const *params) {
        static_assert(total() <= 4096, "a kernel's parameters may have 4096 bytes");
        unpack<F>(params, typename Count<sizeof...(A)>::template list<Numbers>());
    }

    static constexpr int count = sizeof...(A);
};

} // namespace emu

namespace emu {

template <class F, F function> constexpr Kernel kernel(const char *name, int threads) {
    return {name, threads, Signature<F>::count, Signature<F>::sizes, &Signature<F>::template call<function>};
}

} // namespace emu

// An entry in the module's table of kernels. The rewriter gives the functions this prefix.
#define EMU_KERNEL(name, threads) emu::kernel<decltype(&emu_kernel_##name), &emu_kernel_##name>(#name, threads)
