// The beginning of every module: element types with the host's arithmetic, conversions, loads and stores by dtype, offsets of strided
// loops, and folds over warps and blocks.
//
// A compute type is a struct with one field, named like the Rust type whose arithmetic it has. C numbers convert to it implicitly. The
// conversion back is explicit: `.v` is the number.

// The emulator's C library defines macros with the names of members.
#undef INFINITY
#undef NAN

#ifdef THORN_EMULATED
#ifndef __grid_constant__
#define __grid_constant__
#endif
#endif

#define DEVICE __device__ __forceinline__

// Defines an entry that calls `function`, whose template arguments may contain commas. Blocks have 256 threads.
#define KERNEL(symbol, Args, ...) \
    extern "C" __global__ void __launch_bounds__(256) symbol(const __grid_constant__ Args args) { __VA_ARGS__(args); }

typedef unsigned char byte;
typedef unsigned int uint;
typedef long long int64;
typedef unsigned long long uint64;

// The numbers of threads and of warps of a block.
const int BLOCK = 256;
const int WARPS = BLOCK / 32;

// The dtype codes of the C API.
enum Dtype { UINT8 = 1, INT8, INT16, INT32, INT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64, BOOL };

// The host's instruction set, an argument that formulas pass through.
struct Isa {};

template <class A, class B> struct Same { static constexpr bool value = false; };
template <class A> struct Same<A, A> { static constexpr bool value = true; };

// ---- bits of floats

DEVICE uint bits_of(float x) { return __float_as_uint(x); }
DEVICE uint64 bits_of(double x) { return (uint64)__double_as_longlong(x); }
DEVICE float float_of(uint bits) { return __uint_as_float(bits); }
DEVICE double double_of(uint64 bits) { return __longlong_as_double((int64)bits); }

// The bits of infinity and NaN.
template <class V> struct Special;
template <> struct Special<float> {
    static DEVICE float infinity() { return float_of(0x7f800000u); }
    static DEVICE float nan() { return float_of(0x7fc00000u); }
};
template <> struct Special<double> {
    static DEVICE double infinity() { return double_of(0x7ff0000000000000ull); }
    static DEVICE double nan() { return double_of(0x7ff8000000000000ull); }
};

// C's functions under one name for both float types.
namespace libm {
DEVICE float sqrt(float x) { return ::sqrtf(x); }
DEVICE double sqrt(double x) { return ::sqrt(x); }
DEVICE float abs(float x) { return ::fabsf(x); }
DEVICE double abs(double x) { return ::fabs(x); }
DEVICE float copysign(float a, float b) { return ::copysignf(a, b); }
DEVICE double copysign(double a, double b) { return ::copysign(a, b); }
DEVICE float floor(float x) { return ::floorf(x); }
DEVICE double floor(double x) { return ::floor(x); }
DEVICE float ceil(float x) { return ::ceilf(x); }
DEVICE double ceil(double x) { return ::ceil(x); }
DEVICE float rint(float x) { return ::rintf(x); }
DEVICE double rint(double x) { return ::rint(x); }
DEVICE float trunc(float x) { return ::truncf(x); }
DEVICE double trunc(double x) { return ::trunc(x); }
DEVICE float fmod(float a, float b) { return ::fmodf(a, b); }
DEVICE double fmod(double a, double b) { return ::fmod(a, b); }
}  // namespace libm

// ---- compute types

template <class V> struct IsFloat { static constexpr bool value = Same<V, float>::value || Same<V, double>::value; };

// `x` as an integer type: truncated and saturated; NaN becomes 0.
template <class V, class F> DEVICE V saturated(F x) {
    constexpr bool negatives = (V)-1 < (V)0;
    constexpr int bits = 8 * (int)sizeof(V) - negatives;
    constexpr V most = (V)(~0ull >> (64 - bits));
    constexpr F end = (F)2 * (F)(1ull << (bits - 1));
    if (x >= end) return most;
    if (x <= (negatives ? -end : (F)0)) return negatives ? (V)(-most - 1) : (V)0;
    return x == x ? (V)x : (V)0;
}

// A C float with Rust's function names.
template <class V> struct Float {
    typedef V value_type;
    static constexpr bool FLOAT = true;
    static constexpr V ZERO = 0;
    // Numbers for which C has no constants. They convert to the float.
    enum class Named { INFINITY, NAN };
    static constexpr Named INFINITY = Named::INFINITY;
    static constexpr Named NAN = Named::NAN;

    V v;

    Float() = default;
    DEVICE Float(V x) : v(x) {}
    DEVICE Float(Named x) : v(x == Named::NAN ? Special<V>::nan() : Special<V>::infinity()) {}

    // A C number in this type, rounded once.
    template <class X> static DEVICE Float of(X x) { return Float((V)x); }
    static DEVICE Float from_f64(Float<double> x);
    static DEVICE Float from_i64(int64 x) { return of(x); }
    // The ends of the order without NaN: -infinity and infinity.
    static DEVICE Float least() { return Float(-Special<V>::infinity()); }
    static DEVICE Float most() { return Float(Special<V>::infinity()); }

    DEVICE V plain() const { return v; }
    DEVICE double to_f64() const { return v; }
    DEVICE int64 to_i64() const { return saturated<int64>(v); }
    DEVICE bool is_nan() const { return v != v; }
    DEVICE Float add(Float b) const { return v + b.v; }
    DEVICE Float sub(Float b) const { return v - b.v; }
    DEVICE Float mul(Float b) const { return v * b.v; }
    DEVICE Float neg() const { return -v; }
    DEVICE Float abs() const { return libm::abs(v); }
    DEVICE Float sqrt() const { return libm::sqrt(v); }

    friend DEVICE Float operator+(Float a, Float b) { return a.v + b.v; }
    friend DEVICE Float operator-(Float a, Float b) { return a.v - b.v; }
    friend DEVICE Float operator*(Float a, Float b) { return a.v * b.v; }
    friend DEVICE Float operator/(Float a, Float b) { return a.v / b.v; }
    friend DEVICE Float operator-(Float a) { return -a.v; }
    friend DEVICE Float operator-(Named a) { return -Float(a); }
    friend DEVICE Float& operator+=(Float& a, Float b) { return a = a + b; }
    friend DEVICE Float& operator-=(Float& a, Float b) { return a = a - b; }
    friend DEVICE Float& operator*=(Float& a, Float b) { return a = a * b; }
    friend DEVICE Float& operator/=(Float& a, Float b) { return a = a / b; }
    friend DEVICE bool operator==(Float a, Float b) { return a.v == b.v; }
    friend DEVICE bool operator!=(Float a, Float b) { return a.v != b.v; }
    friend DEVICE bool operator<(Float a, Float b) { return a.v < b.v; }
    friend DEVICE bool operator<=(Float a, Float b) { return a.v <= b.v; }
    friend DEVICE bool operator>(Float a, Float b) { return a.v > b.v; }
    friend DEVICE bool operator>=(Float a, Float b) { return a.v >= b.v; }
};

template <class V> DEVICE Float<V> Float<V>::from_f64(Float<double> x) { return of(x.v); }

// A C integer V that wraps. W is the unsigned type in which C computes it without overflow.
template <class V, class W> struct Integer {
    typedef V value_type;
    static constexpr bool FLOAT = false;
    static constexpr bool SIGNED = (V)-1 < (V)0;
    static constexpr int BITS = 8 * (int)sizeof(V);
    static constexpr V ZERO = 0;
    static constexpr V MAX = (V)(~0ull >> (64 - BITS + SIGNED));
    static constexpr V MIN = SIGNED ? (V)(-MAX - 1) : (V)0;

    V v;

    Integer() = default;
    DEVICE Integer(V x) : v(x) {}

    // A C number in this type: floats truncate and saturate, NaN becomes 0, integers wrap.
    template <class X> static DEVICE Integer of(X x) {
        if constexpr (IsFloat<X>::value) return Integer(saturated<V>(x));
        else return Integer((V)x);
    }
    static DEVICE Integer from_f64(Float<double> x) { return of(x.v); }
    static DEVICE Integer from_i64(int64 x) { return of(x); }
    static DEVICE Integer least() { return Integer(MIN); }
    static DEVICE Integer most() { return Integer(MAX); }

    DEVICE V plain() const { return v; }
    DEVICE double to_f64() const { return (double)v; }
    DEVICE int64 to_i64() const { return v; }
    DEVICE bool is_nan() const { return false; }
    DEVICE bool is_negative() const {
        if constexpr (SIGNED) return v < 0;
        else return false;
    }
    DEVICE Integer add(Integer b) const { return (V)((W)v + (W)b.v); }
    DEVICE Integer sub(Integer b) const { return (V)((W)v - (W)b.v); }
    DEVICE Integer mul(Integer b) const { return (V)((W)v * (W)b.v); }
    DEVICE Integer neg() const { return (V)((W)0 - (W)v); }
    DEVICE Integer abs() const { return is_negative() ? neg() : *this; }

    friend DEVICE Integer operator-(Integer a) { return a.neg(); }
    friend DEVICE bool operator==(Integer a, Integer b) { return a.v == b.v; }
    friend DEVICE bool operator!=(Integer a, Integer b) { return a.v != b.v; }
    friend DEVICE bool operator<(Integer a, Integer b) { return a.v < b.v; }
    friend DEVICE bool operator<=(Integer a, Integer b) { return a.v <= b.v; }
    friend DEVICE bool operator>(Integer a, Integer b) { return a.v > b.v; }
    friend DEVICE bool operator>=(Integer a, Integer b) { return a.v >= b.v; }
};

typedef Integer<unsigned char, uint> u8;
typedef Integer<signed char, uint> i8;
typedef Integer<short, uint> i16;
typedef Integer<int, uint> i32;
typedef Integer<int64, uint64> i64;
typedef Float<float> f32;
typedef Float<double> f64;

// A truth value in memory: any byte except 0 is true.
struct Bool {
    typedef byte value_type;
    static constexpr bool FLOAT = false;
    static constexpr bool ZERO = false;

    byte v;

    Bool() = default;
    DEVICE Bool(bool x) : v(x) {}

    template <class X> static DEVICE Bool of(X x) { return Bool(x != (X)0); }
    static DEVICE Bool from_f64(f64 x) { return of(x.v); }
    static DEVICE Bool from_i64(int64 x) { return of(x); }
    static DEVICE Bool least() { return Bool(false); }
    static DEVICE Bool most() { return Bool(true); }

    DEVICE bool get() const { return v != 0; }
    DEVICE bool plain() const { return get(); }
    DEVICE double to_f64() const { return get(); }
    DEVICE int64 to_i64() const { return get(); }
    DEVICE bool is_nan() const { return false; }
    // Sum, difference and product are *or*, *exclusive or* and *and*.
    DEVICE Bool add(Bool b) const { return get() | b.get(); }
    DEVICE Bool sub(Bool b) const { return get() ^ b.get(); }
    DEVICE Bool mul(Bool b) const { return get() & b.get(); }
    DEVICE Bool neg() const { return *this; }
    DEVICE Bool abs() const { return *this; }

    friend DEVICE bool operator==(Bool a, Bool b) { return a.get() == b.get(); }
    friend DEVICE bool operator!=(Bool a, Bool b) { return a.get() != b.get(); }
    friend DEVICE bool operator<(Bool a, Bool b) { return a.get() < b.get(); }
    friend DEVICE bool operator<=(Bool a, Bool b) { return a.get() <= b.get(); }
    friend DEVICE bool operator>(Bool a, Bool b) { return a.get() > b.get(); }
    friend DEVICE bool operator>=(Bool a, Bool b) { return a.get() >= b.get(); }
};

// ---- 16-bit floats, which are storage types only

// IEEE 754 binary16.
struct f16 {
    unsigned short bits;
};
// The upper half of a float32.
struct bf16 {
    unsigned short bits;
};

// The compute type of a storage type.
template <class S> struct Compute { typedef S type; };
template <> struct Compute<f16> { typedef f32 type; };
template <> struct Compute<bf16> { typedef f32 type; };

// The exact number; `bits` must not be NaN.
DEVICE float f16_to_float(unsigned short bits) {
#ifdef THORN_EMULATED
    uint sign = (uint)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
    if (exponent == 31) return float_of(sign | 0x7f800000u | mantissa << 13);
    // A subnormal number is its mantissa times 2^-24.
    if (exponent == 0) return float_of(sign | bits_of((float)mantissa * 5.9604644775390625e-8f));
    return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
#else
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
#endif
}

// The nearest number, ties to even; `x` must not be NaN.
DEVICE unsigned short float_to_f16(float x) {
#ifdef THORN_EMULATED
    uint bits = bits_of(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00);
    // Adding 1/2 rounds a subnormal number and leaves it in the last bits.
    if (size < 0x38800000u) return (unsigned short)(sign | (bits_of(float_of(size) + 0.5f) - 0x3f000000u));
    return (unsigned short)(sign | (size - 0x38000000u + 0xfff + (size >> 13 & 1)) >> 13);
#else
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#endif
}

DEVICE f32 widen(f16 x) {
    // NaNs keep their bits, as on the host.
    bool nan = (x.bits & 0x7fff) > 0x7c00;
    return nan ? float_of((uint)(x.bits & 0x8000) << 16 | 0x7fc00000u | (uint)(x.bits & 0x3ff) << 13) : f16_to_float(x.bits);
}

DEVICE f32 widen(bf16 x) { return float_of((uint)x.bits << 16); }

// A float32 in a 16-bit type H, rounded to nearest, ties to even.
template <class H> DEVICE H narrow(f32 x) {
    uint bits = bits_of(x.v);
    H r;
    if constexpr (Same<H, f16>::value) {
        r.bits = x.is_nan() ? (unsigned short)((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff)) : float_to_f16(x.v);
    } else {
        r.bits = (unsigned short)((x.is_nan() ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    return r;
}

// Rounds a number to odd in float32, so that rounding the result to a 16-bit float gives the same as rounding the number directly.
template <class S> DEVICE f32 round_to_odd(S x) { return (float)x.plain(); }

DEVICE f32 round_to_odd(f64 x) {
    // 14 bits are enough for either 16-bit float, and few enough that subnormal float32 numbers keep all bits that matter.
    const uint64 lost = (1ull << 39) - 1;
    uint64 bits = bits_of(x.v);
    return (float)double_of((bits & ~lost) | (bits & lost ? lost + 1 : 0));
}

DEVICE f32 round_to_odd(i32 x) {
    bool held = x.v > -(1 << 24) && x.v < 1 << 24;
    return (float)(held ? x.v : (x.v & ~0xff) | (x.v & 0xff ? 0x100 : 0));
}

DEVICE f32 round_to_odd(i64 x) {
    bool held = x.v >= -(1ll << 53) && x.v < 1ll << 53;
    return round_to_odd(f64((double)(held ? x.v : (x.v & ~0xfffll) | (x.v & 0xfff ? 0x1000ll : 0))));
}

// Converts `x` to any of the ten types, as the host does: floats to integers truncate and saturate, and NaN becomes 0; integers wrap; Bool
// is `x != 0`; 16-bit floats are rounded once.
template <class D, class S> DEVICE D convert(S x) {
    constexpr bool from_half = Same<S, f16>::value || Same<S, bf16>::value;
    constexpr bool to_half = Same<D, f16>::value || Same<D, bf16>::value;
    if constexpr (Same<D, S>::value) return x;
    else if constexpr (from_half) return convert<D>(widen(x));
    else if constexpr (to_half) return narrow<D>(round_to_odd(x));
    else return D::of(x.plain());
}

// Loads the element of a run-time dtype at `p` as T.
template <class T> DEVICE T load(const void* p, int dtype) {
    switch (dtype) {
    case UINT8: return convert<T>(*(const u8*)p);
    case INT8: return convert<T>(*(const i8*)p);
    case INT16: return convert<T>(*(const i16*)p);
    case INT32: return convert<T>(*(const i32*)p);
    case INT64: return convert<T>(*(const i64*)p);
    case FLOAT16: return convert<T>(*(const f16*)p);
    case BFLOAT16: return convert<T>(*(const bf16*)p);
    case FLOAT32: return convert<T>(*(const f32*)p);
    case FLOAT64: return convert<T>(*(const f64*)p);
    default: return convert<T>(*(const Bool*)p);
    }
}

// Stores `x` as the element of a run-time dtype at `p`.
template <class T> DEVICE void store(void* p, int dtype, T x) {
    switch (dtype) {
    case UINT8: *(u8*)p = convert<u8>(x); break;
    case INT8: *(i8*)p = convert<i8>(x); break;
    case INT16: *(i16*)p = convert<i16>(x); break;
    case INT32: *(i32*)p = convert<i32>(x); break;
    case INT64: *(i64*)p = convert<i64>(x); break;
    case FLOAT16: *(f16*)p = convert<f16>(x); break;
    case BFLOAT16: *(bf16*)p = convert<bf16>(x); break;
    case FLOAT32: *(f32*)p = convert<f32>(x); break;
    case FLOAT64: *(f64*)p = convert<f64>(x); break;
    default: *(Bool*)p = convert<Bool>(x);
    }
}

// The size of an element in bytes.
DEVICE int size_of(int dtype) {
    switch (dtype) {
    case INT16: case FLOAT16: case BFLOAT16: return 2;
    case INT32: case FLOAT32: return 4;
    case INT64: case FLOAT64: return 8;
    default: return 1;
    }
}

// `x` rounded to a 16-bit dtype, in its compute type; `x` itself for other dtypes.
template <class T> DEVICE T rounded(int dtype, T x) {
    if (dtype == FLOAT16) return convert<T>(convert<f16>(x));
    if (dtype == BFLOAT16) return convert<T>(convert<bf16>(x));
    return x;
}

// ---- arithmetic that integers and floats define differently

namespace Element {
// `|x|`; integers wrap.
template <class T> DEVICE T abs(T x) { return x.abs(); }
}  // namespace Element

namespace number {
#define EXTREMES(T)                                                 \
    DEVICE T max(T a, T b) { return a >= b || a.is_nan() ? a : b; } \
    DEVICE T min(T a, T b) { return a <= b || a.is_nan() ? a : b; }
// The larger and the smaller number; NaN if either is NaN. They are no templates, so that calls prefer them to a library's templates.
EXTREMES(u8)
EXTREMES(i8)
EXTREMES(i16)
EXTREMES(i32)
EXTREMES(i64)
EXTREMES(f32)
EXTREMES(f64)
EXTREMES(Bool)
#undef EXTREMES

// -1, 0 or 1; NaN is neither negative nor positive.
template <class T> DEVICE T sign(T x) {
    T zero = T::ZERO;
    return x > zero ? T::from_i64(1) : zero > x ? T::from_i64(-1) : zero;
}

// The positive part; NaN is unchanged.
template <class T> DEVICE T relu(T x) { return T::ZERO > x ? T(T::ZERO) : x; }
}  // namespace number

using number::max;
using number::min;

namespace Number {
// For integers, rounding does nothing. Rounding to nearest rounds ties to even.
template <class V, class W> DEVICE Integer<V, W> floor(Integer<V, W> x) { return x; }
template <class V, class W> DEVICE Integer<V, W> ceil(Integer<V, W> x) { return x; }
template <class V, class W> DEVICE Integer<V, W> round(Integer<V, W> x) { return x; }
template <class V, class W> DEVICE Integer<V, W> trunc(Integer<V, W> x) { return x; }
template <class V> DEVICE Float<V> floor(Float<V> x) { return libm::floor(x.v); }
template <class V> DEVICE Float<V> ceil(Float<V> x) { return libm::ceil(x.v); }
template <class V> DEVICE Float<V> round(Float<V> x) { return libm::rint(x.v); }
template <class V> DEVICE Float<V> trunc(Float<V> x) { return libm::trunc(x.v); }

// The quotient rounded towards zero. For integers b is not 0, and the least integer divided by -1 wraps.
template <class V, class W> DEVICE Integer<V, W> trunc_div(Integer<V, W> a, Integer<V, W> b, Isa) {
    if constexpr (Integer<V, W>::SIGNED) {
        if (b.v == -1) return a.neg();
    }
    return (V)(a.v / b.v);
}

// The remainder of truncated division, with the sign of a. For integers b is not 0.
template <class V, class W> DEVICE Integer<V, W> fmod(Integer<V, W> a, Integer<V, W> b, Isa) {
    if constexpr (Integer<V, W>::SIGNED) {
        if (b.v == -1) return (V)0;
    }
    return (V)(a.v % b.v);
}

// The remainder of floored division, with the sign of b. For integers b is not 0.
template <class V, class W> DEVICE Integer<V, W> remainder(Integer<V, W> a, Integer<V, W> b, Isa isa) {
    Integer<V, W> rest = fmod(a, b, isa);
    return rest.v != 0 && rest.is_negative() != b.is_negative() ? rest.add(b) : rest;
}

// The quotient rounded down. For integers b is not 0.
template <class V, class W> DEVICE Integer<V, W> floor_div(Integer<V, W> a, Integer<V, W> b, Isa isa) {
    Integer<V, W> quotient = trunc_div(a, b, isa), rest = a.sub(quotient.mul(b));
    return rest.v != 0 && rest.is_negative() != b.is_negative() ? quotient.sub((V)1) : quotient;
}

template <class V> DEVICE Float<V> trunc_div(Float<V> a, Float<V> b, Isa) { return libm::trunc(a.v / b.v); }
template <class V> DEVICE Float<V> fmod(Float<V> a, Float<V> b, Isa) { return libm::fmod(a.v, b.v); }

// A zero has the sign of a.
template <class V> DEVICE Float<V> remainder(Float<V> a, Float<V> b, Isa) {
    V rest = libm::fmod(a.v, b.v);
    return rest != 0 && (rest < 0) != (b.v < 0) ? rest + b.v : rest;
}

// The exact quotient, floored and then rounded; `a / b` if b is zero.
template <class V> DEVICE Float<V> floor_div(Float<V> a, Float<V> b, Isa) {
    if (b.v == 0) return a.v / b.v;
    V rest = libm::fmod(a.v, b.v);
    V quotient = (a.v - rest) / b.v;
    if (rest != 0 && (rest < 0) != (b.v < 0)) quotient -= 1;
    if (quotient == 0) return libm::copysign((V)0, a.v / b.v);
    // The quotient is an integer, up to rounding.
    V floor = libm::floor(quotient);
    return quotient - floor > (V)0.5 ? floor + 1 : floor;
}

// `a^b` of integers, wrapping. For negative b, 1 divided by the power, rounded towards zero; 0 if a is 0.
template <class V, class W> DEVICE Integer<V, W> pow(Integer<V, W> a, Integer<V, W> b, Isa) {
    if (b.is_negative()) {
        bool odd = b.v & 1;
        return a.v == 1 || (a.v == (V)-1 && !odd) ? (V)1 : a.v == (V)-1 ? (V)-1 : (V)0;
    }
    W base = (W)a.v, left = (W)b.v, power = 1;
    for (; left != 0; left >>= 1) {
        if (left & 1) power *= base;
        base *= base;
    }
    return (V)power;
}

// `a * 2^b`; 0 if b is negative or too large.
template <class V, class W> DEVICE Integer<V, W> shl(Integer<V, W> a, Integer<V, W> b, Isa) {
    bool inside = !b.is_negative() && b.v < Integer<V, W>::BITS;
    return inside ? (V)((W)a.v << b.v) : (V)0;
}

// `a / 2^b` rounded down; only the sign remains if b is negative or too large.
template <class V, class W> DEVICE Integer<V, W> shr(Integer<V, W> a, Integer<V, W> b, Isa) {
    bool inside = !b.is_negative() && b.v < Integer<V, W>::BITS;
    return inside ? (V)(a.v >> b.v) : a.is_negative() ? (V)-1 : (V)0;
}
}  // namespace Number

// Bitwise operations. C++ reserves the names without the underscore. For Bool, `not_` is logical.
namespace Bits {
template <class V, class W> DEVICE Integer<V, W> and_(Integer<V, W> a, Integer<V, W> b) { return (V)(a.v & b.v); }
template <class V, class W> DEVICE Integer<V, W> or_(Integer<V, W> a, Integer<V, W> b) { return (V)(a.v | b.v); }
template <class V, class W> DEVICE Integer<V, W> xor_(Integer<V, W> a, Integer<V, W> b) { return (V)(a.v ^ b.v); }
template <class V, class W> DEVICE Integer<V, W> not_(Integer<V, W> a) { return (V)~a.v; }
DEVICE Bool and_(Bool a, Bool b) { return a.get() & b.get(); }
DEVICE Bool or_(Bool a, Bool b) { return a.get() | b.get(); }
DEVICE Bool xor_(Bool a, Bool b) { return a.get() ^ b.get(); }
DEVICE Bool not_(Bool a) { return !a.get(); }
}  // namespace Bits

// ---- strided loops

const int MAX_LOOPS = 12;

// The loops over N operands of one shape, fastest first. Steps are in bytes. If `narrow` is true, every index and offset fits in 32 bits.
template <int N> struct Loops {
    int64 total;
    int64 n[MAX_LOOPS];
    int64 step[N][MAX_LOOPS];
    int count;
    int narrow;
};

// Sets `at` to the byte offsets of element i, 0 <= i < total.
template <int N> DEVICE void offsets(const Loops<N>& loops, int64 i, int64 (&at)[N]) {
    int last = loops.count - 1;
    if (loops.narrow) {
        uint rest = (uint)i;
        int sum[N] = {};
        // Each iteration has a division. Unrolled, the loop would be most of a kernel's code.
#pragma unroll 1
        for (int d = 0; d < last; d++) {
            uint n = (uint)loops.n[d], quotient = rest / n;
            int index = (int)(rest - quotient * n);
            for (int k = 0; k < N; k++) sum[k] += index * (int)loops.step[k][d];
            rest = quotient;
        }
        for (int k = 0; k < N; k++) at[k] = sum[k] + (int)rest * (int)loops.step[k][last];
        return;
    }
    for (int k = 0; k < N; k++) at[k] = 0;
#pragma unroll 1
    for (int d = 0; d < last; d++) {
        int64 quotient = i / loops.n[d], index = i - quotient * loops.n[d];
        for (int k = 0; k < N; k++) at[k] += index * loops.step[k][d];
        i = quotient;
    }
    for (int k = 0; k < N; k++) at[k] += i * loops.step[k][last];
}

// ---- folds over the threads of a warp or block, all of which take part

// The value of the thread whose lane number differs in the bits of `mask`. T is trivially copyable.
template <class T> DEVICE T exchange(T x, int mask) {
    const int words = (sizeof(T) + 3) / 4;
    union {
        int word[words];
        T value;
    } both = {};
    both.value = x;
    for (int k = 0; k < words; k++) both.word[k] = __shfl_xor_sync(0xffffffffu, both.word[k], mask);
    return both.value;
}

// Folds the values of a warp by `f`, which is associative, in lane order. Each thread gets the result.
template <class T, class F> DEVICE T warp_reduce(T x, F f) {
    for (int mask = 1; mask < 32; mask <<= 1) {
        T other = exchange(x, mask);
        x = threadIdx.x & mask ? f(other, x) : f(x, other);
    }
    return x;
}

// Folds the values of a block by `f`, which is associative, in thread order. Each thread gets the result. `shared` has WARPS elements and
// can be reused at once.
template <class T, class F> DEVICE T block_reduce(T x, F f, T identity, T* shared) {
    x = warp_reduce(x, f);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    T sum = identity;
    for (int k = 0; k < WARPS; k++) sum = f(sum, shared[k]);
    __syncthreads();
    return sum;
}
