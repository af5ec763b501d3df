// Barriers, warp functions, fences and atomics. Threads are switched only in barriers and warp functions, so atomics are ordinary
// operations.
#pragma once

static inline void __syncthreads(EMU_LINE) { emu_state.barrier(emu::BARRIER_SYNC, 0, line); }
static inline int __syncthreads_count(int p, EMU_LINE) { return emu_state.barrier(emu::BARRIER_COUNT, p != 0, line); }
static inline int __syncthreads_and(int p, EMU_LINE) { return emu_state.barrier(emu::BARRIER_AND, p != 0, line); }
static inline int __syncthreads_or(int p, EMU_LINE) { return emu_state.barrier(emu::BARRIER_OR, p != 0, line); }

static inline void __syncwarp(unsigned mask = 0xffffffffu, EMU_LINE) { emu_state.warp(emu::WARP_SYNC, mask, 0, 0, line); }

static inline unsigned __ballot_sync(unsigned mask, int p, EMU_LINE) {
    return (unsigned)emu_state.warp(emu::WARP_BALLOT, mask, p != 0, 0, line);
}
static inline int __any_sync(unsigned mask, int p, EMU_LINE) { return __ballot_sync(mask, p, line) != 0; }
static inline int __all_sync(unsigned mask, int p, EMU_LINE) { return __ballot_sync(mask, !p, line) == 0; }

// Returns all lanes, because the emulator has no divergence between warp functions.
static inline unsigned __activemask(EMU_LINE) { return 0xffffffffu; }

namespace emu {

template <class T> static inline Word to_word(T x) {
    static_assert(sizeof(T) <= sizeof(Word), "warp functions exchange up to 8 bytes");
    Word word = 0;
    __builtin_memcpy(&word, &x, sizeof(T));
    return word;
}

template <class T> static inline T from_word(Word word) {
    T x;
    __builtin_memcpy((void *)&x, &word, sizeof(T));
    return x;
}

template <class T> static inline T shuffle(unsigned mask, T x, int source, int line) {
    return from_word<T>(emu_state.warp(WARP_SHUFFLE, mask, to_word(x), source, line));
}

} // namespace emu

// A lane of a segment of `width` lanes reads itself if its source is outside of the segment.
template <class T> static inline T __shfl_sync(unsigned mask, T x, int source, int width = 32, EMU_LINE) {
    int lane = emu_state.lane, first = lane & ~(width - 1);
    return emu::shuffle(mask, x, first + (source & (width - 1)), line);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T x, unsigned delta, int width = 32, EMU_LINE) {
    int lane = emu_state.lane, first = lane & ~(width - 1), source = lane - (int)delta;
    return emu::shuffle(mask, x, source < first ? lane : source, line);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T x, unsigned delta, int width = 32, EMU_LINE) {
    int lane = emu_state.lane, last = lane | (width - 1), source = lane + (int)delta;
    return emu::shuffle(mask, x, source > last ? lane : source, line);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T x, int bits, int width = 32, EMU_LINE) {
    int lane = emu_state.lane, last = lane | (width - 1), source = lane ^ bits;
    return emu::shuffle(mask, x, source > last ? lane : source, line);
}

template <class T> static inline unsigned __match_any_sync(unsigned mask, T x, EMU_LINE) {
    return (unsigned)emu_state.warp(emu::WARP_MATCH, mask, emu::to_word(x), 0, line);
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T x, int *all, EMU_LINE) {
    unsigned same = (unsigned)emu_state.warp(emu::WARP_MATCH, mask, emu::to_word(x), 0, line);
    *all = same == mask;
    return *all ? mask : 0;
}

static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) { emu_state.yield(); }

template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline T __ldca(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline T __ldcv(const T *p) { return *p; }
template <class T> static inline void __stcg(T *p, T x) { *p = x; }
template <class T> static inline void __stcs(T *p, T x) { *p = x; }
template <class T> static inline void __stwt(T *p, T x) { *p = x; }

// name(type *p, type x): stores `result`, which may use the previous value `old`, and returns `old`.
#define EMU_ATOMIC(name, type, result)                                                                                                  \
    static inline type name(type *p, type x) {                                                                                          \
        type old = *p;                                                                                                                  \
        *p = result;                                                                                                                    \
        return old;                                                                                                                     \
    }
#define EMU_ATOMIC3(name, result)                                                                                                       \
    EMU_ATOMIC(name, int, result)                                                                                                       \
    EMU_ATOMIC(name, unsigned, result)                                                                                                  \
    EMU_ATOMIC(name, unsigned long long, result)

EMU_ATOMIC3(atomicAdd, old + x)
EMU_ATOMIC(atomicAdd, float, old + x)
EMU_ATOMIC(atomicAdd, double, old + x)
EMU_ATOMIC(atomicSub, int, old - x)
EMU_ATOMIC(atomicSub, unsigned, old - x)
EMU_ATOMIC3(atomicExch, x)
EMU_ATOMIC(atomicExch, float, x)
EMU_ATOMIC3(atomicMin, x < old ? x : old)
EMU_ATOMIC(atomicMin, long long, x < old ? x : old)
EMU_ATOMIC3(atomicMax, x > old ? x : old)
EMU_ATOMIC(atomicMax, long long, x > old ? x : old)
EMU_ATOMIC3(atomicAnd, old &x)
EMU_ATOMIC3(atomicOr, old | x)
EMU_ATOMIC3(atomicXor, old ^ x)
EMU_ATOMIC(atomicInc, unsigned, old >= x ? 0 : old + 1)
EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > x ? x : old - 1)

#define EMU_ATOMIC_CAS(type)                                                                                                            \
    static inline type atomicCAS(type *p, type expected, type x) {                                                                      \
        type old = *p;                                                                                                                  \
        if (old == expected) *p = x;                                                                                                    \
        return old;                                                                                                                     \
    }
EMU_ATOMIC_CAS(int)
EMU_ATOMIC_CAS(unsigned)
EMU_ATOMIC_CAS(unsigned short)
EMU_ATOMIC_CAS(unsigned long long)

#undef EMU_ATOMIC
#undef EMU_ATOMIC3
#undef EMU_ATOMIC_CAS
