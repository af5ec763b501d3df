// Functions on bits, and conversions between numbers, which saturate and turn NaN into 0 as on a GPU.
#pragma once

namespace emu {

// Fails if the address is misaligned for its type. A CUDA compiler may assume that a pointer is aligned where it is converted to `void *`.
template <class T> static inline void check_aligned(const T *p, int line) {
    if ((size_t)p % alignof(T)) emu_state.fail(716, "a misaligned address in memcpy or memset", line);
}
static inline void check_aligned(const void *, int) {}

} // namespace emu

template <class D, class S> static inline void *memcpy(D *to, const S *from, size_t bytes, EMU_LINE) {
    emu::check_aligned(to, line);
    emu::check_aligned(from, line);
    return __builtin_memcpy((void *)to, (const void *)from, bytes);
}
template <class D> static inline void *memset(D *to, int byte, size_t bytes, EMU_LINE) {
    emu::check_aligned(to, line);
    return __builtin_memset((void *)to, byte, bytes);
}

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }

static inline unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned part = selector >> (4 * i) & 0xf, value = (unsigned)(both >> (8 * (part & 7))) & 0xff;
        if (part & 8) value = value & 0x80 ? 0xff : 0;
        result |= value << (8 * i);
    }
    return result;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

// Conversions between numbers and their bits.
#define EMU_AS(name, From, To)                                                                                                          \
    static inline To name(From x) {                                                                                                     \
        To y;                                                                                                                           \
        __builtin_memcpy(&y, &x, sizeof y);                                                                                             \
        return y;                                                                                                                       \
    }
EMU_AS(__float_as_int, float, int)
EMU_AS(__float_as_uint, float, unsigned)
EMU_AS(__int_as_float, int, float)
EMU_AS(__uint_as_float, unsigned, float)
EMU_AS(__double_as_longlong, double, long long)
EMU_AS(__longlong_as_double, long long, double)
#undef EMU_AS

static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)high << 32 | (unsigned)low);
}

namespace emu {

// Converts a whole number to an integer from `low` to `high`. `high1` is high + 1 as a float.
template <class T, class F> static inline T saturate(F x, T low, T high, F high1) {
    if (x != x) return 0;
    if (x < (F)low) return low;
    return x >= high1 ? high : (T)x;
}

} // namespace emu

#define EMU_TO_INTEGER(from, F, to, T, LOW, HIGH, HIGH1)                                                                                \
    static inline T __##from##2##to##_rn(F x) { return emu::saturate<T, F>(__builtin_rint(x), LOW, HIGH, HIGH1); }                      \
    static inline T __##from##2##to##_rz(F x) { return emu::saturate<T, F>(__builtin_trunc(x), LOW, HIGH, HIGH1); }                     \
    static inline T __##from##2##to##_rd(F x) { return emu::saturate<T, F>(__builtin_floor(x), LOW, HIGH, HIGH1); }                     \
    static inline T __##from##2##to##_ru(F x) { return emu::saturate<T, F>(__builtin_ceil(x), LOW, HIGH, HIGH1); }
#define EMU_TO_INTEGERS(from, F)                                                                                                        \
    EMU_TO_INTEGER(from, F, int, int, -2147483647 - 1, 2147483647, (F)2147483648.0)                                                     \
    EMU_TO_INTEGER(from, F, uint, unsigned, 0u, 4294967295u, (F)4294967296.0)                                                           \
    EMU_TO_INTEGER(from, F, ll, long long, -9223372036854775807LL - 1, 9223372036854775807LL, (F)9223372036854775808.0)                 \
    EMU_TO_INTEGER(from, F, ull, unsigned long long, 0ull, 18446744073709551615ull, (F)18446744073709551616.0)
EMU_TO_INTEGERS(float, float)
EMU_TO_INTEGERS(double, double)
#undef EMU_TO_INTEGER
#undef EMU_TO_INTEGERS

static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline double __int2double_rn(int x) { return (double)x; }
static inline double __uint2double_rn(unsigned x) { return (double)x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline float __double2float_rn(double x) { return (float)x; }

// Returns a double truncated to float: the nearest float, or the next one towards zero if rounding went away from zero.
static inline float __double2float_rz(double x) {
    float y = (float)x;
    if (__builtin_fabs((double)y) > __builtin_fabs(x)) y = __int_as_float(__float_as_int(y) - 1);
    return y;
}
