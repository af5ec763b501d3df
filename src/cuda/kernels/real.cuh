// The real functions that formulas use, in CUDA C's built-in mathematics where it is accurate to a few units in the last place. Special
// values are C99's. Needs prelude.cuh.

// ---- C's functions under one name for both floats: in `libm` for C's types, in `Real` for the compute types

#define FUNCTION(name)                                                                                          \
    namespace libm {                                                                                            \
    DEVICE float name(float x) { return ::name##f(x); }                                                         \
    DEVICE double name(double x) { return ::name(x); }                                                          \
    }                                                                                                           \
    namespace Real {                                                                                            \
    template <class V> DEVICE Float<V> name(Float<V> x, Isa) { return libm::name(x.v); }                        \
    }
#define FUNCTION_OF_TWO(name)                                                                                   \
    namespace libm {                                                                                            \
    DEVICE float name(float a, float b) { return ::name##f(a, b); }                                             \
    DEVICE double name(double a, double b) { return ::name(a, b); }                                             \
    }                                                                                                           \
    namespace Real {                                                                                            \
    template <class V> DEVICE Float<V> name(Float<V> a, Float<V> b, Isa) { return libm::name(a.v, b.v); }       \
    }

FUNCTION(exp)
FUNCTION(expm1)
FUNCTION(exp2)
FUNCTION(log)
FUNCTION(log1p)
FUNCTION(log2)
FUNCTION(log10)
FUNCTION(rsqrt)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(erf)
FUNCTION(erfc)
FUNCTION_OF_TWO(atan2)
FUNCTION_OF_TWO(pow)

#undef FUNCTION
#undef FUNCTION_OF_TWO

namespace libm {
// `a * b + c`, rounded once.
DEVICE float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
DEVICE double fma(double a, double b, double c) { return ::fma(a, b, c); }
DEVICE float hypot(float a, float b) { return ::hypotf(a, b); }
DEVICE double hypot(double a, double b) { return ::hypot(a, b); }
// `a * b` rounded. The compiler does not fuse it with an addition.
DEVICE float product(float a, float b) { return __fmul_rn(a, b); }
DEVICE double product(double a, double b) { return __dmul_rn(a, b); }
}  // namespace libm

namespace Real {
// `sqrt(a^2 + b^2)`. CUDA's function may round a result close to the largest number to infinity.
template <class V> DEVICE Float<V> hypot(Float<V> a, Float<V> b, Isa) {
    V root = libm::hypot(a.v, b.v);
    if (!isinf(root) || isinf(a.v) || isinf(b.v)) return root;
    V x = libm::abs(a.v), y = libm::abs(b.v), large = x > y ? x : y, ratio = (x > y ? y : x) / large;
    return large * libm::sqrt(libm::fma(ratio, ratio, (V)1));
}
}  // namespace Real

// `c[0] + c[1] x + c[2] x^2 + ...`
template <class V, int N> DEVICE V polynomial(V x, const V (&c)[N]) {
    V p = c[N - 1];
#pragma unroll
    for (int k = N - 2; k >= 0; k--) p = libm::fma(p, x, c[k]);
    return p;
}

// Constants that need more digits than a float has, as sums of two numbers.
template <class V> struct Constant;
template <> struct Constant<float> {
    // `1 / sqrt(2)`
    static constexpr float SQRT_HALF = 0.707106769f, SQRT_HALF_LOW = 1.21016171e-8f;
    // `1 / sqrt(2 pi)`
    static constexpr float SQRT_INVERSE_TAU = 0.398942292f;
    // `2 sqrt(2 / pi)`, and its product with 0.044715.
    static constexpr float GELU = 1.59576917f, GELU_LOW = -4.53406804e-8f;
    static constexpr float GELU_CUBIC = 0.0713548139f, GELU_CUBIC_LOW = 2.3988324e-9f;
    // The magnitudes from which on the tails of gelu and of its approximation are zero.
    static constexpr float GELU_END = 14.4f, GELU_TANH_END = 12.0f;
    // The magnitude from which on `x e^-x` is zero.
    static constexpr float SILU_END = 120.0f;
    // The least x for which `e^x` is normal.
    static constexpr float EXP_NORMAL = -87.0f;
    static constexpr float LEAST_NORMAL = 1.17549435e-38f;
};
template <> struct Constant<double> {
    static constexpr double SQRT_HALF = 0.7071067811865476, SQRT_HALF_LOW = -4.833646656726457e-17;
    static constexpr double SQRT_INVERSE_TAU = 0.3989422804014327;
    static constexpr double GELU = 1.5957691216057308, GELU_LOW = -9.96930880911092e-17;
    static constexpr double GELU_CUBIC = 0.07135481627260025, GELU_CUBIC_LOW = -6.175149918155315e-19;
    static constexpr double GELU_END = 38.7, GELU_TANH_END = 21.8, SILU_END = 770.0;
    static constexpr double EXP_NORMAL = -708.0;
    static constexpr double LEAST_NORMAL = 2.2250738585072014e-308;
};

namespace Real {
template <class V> DEVICE Float<V> sqrt(Float<V> x, Isa) { return libm::sqrt(x.v); }
template <class V> DEVICE Float<V> copysign(Float<V> x, Float<V> sign) { return libm::copysign(x.v, sign.v); }
template <class V> DEVICE bool is_finite(Float<V> x) { return libm::abs(x.v) < Special<V>::infinity(); }
template <class V> DEVICE Float<V> fmod(Float<V> a, Float<V> b, Isa isa) { return Number::fmod(a, b, isa); }
template <class V> DEVICE Float<V> remainder(Float<V> a, Float<V> b, Isa isa) { return Number::remainder(a, b, isa); }
template <class V> DEVICE Float<V> floor_div(Float<V> a, Float<V> b, Isa isa) { return Number::floor_div(a, b, isa); }

// `1 / (1 + e^-x)`
template <class V> DEVICE Float<V> sigmoid(Float<V> x, Isa) {
    // The numerator is e^-|x| or 1, so that nothing overflows.
    V e = libm::exp(-libm::abs(x.v)), d = 1 + e;
    V q = (x.v < 0 ? e : (V)1) / d;
    // Corrects the quotient for the rounding of d, which matters for small e.
    return libm::fma(-q, e - (d - 1), q);
}

// `x / (1 + e^-x)`; -0 at -inf
template <class V> DEVICE Float<V> silu(Float<V> x, Isa) {
    if (!(x.v < 0)) return x.v / (1 + libm::exp(-x.v));
    V a = x.v < -Constant<V>::SILU_END ? -Constant<V>::SILU_END : x.v, e = libm::exp(a);
    if (e >= Constant<V>::LEAST_NORMAL) return a * e / (1 + e);
    // A subnormal power would lose digits, so its root is multiplied twice.
    V half = libm::exp(a / 2);
    return a * half * half;
}

// The derivative of silu: 1 at inf, 0 at -inf
template <class V> DEVICE Float<V> silu_slope(Float<V> x, Isa) {
    V a = libm::abs(x.v);
    if (a > Constant<V>::SILU_END) a = Constant<V>::SILU_END;
    // The value at -|x|.
    V half = libm::exp(a / -2), d = 1 / (1 + half * half), tail = half * d * libm::fma(-a, d, (V)1) * half;
    return x.v > 0 ? 1 - tail : tail;
}

// `x tanh(log(1 + e^x))`; -0 at -inf
template <class V> DEVICE Float<V> mish(Float<V> x, Isa) {
    if (!(x.v < 0)) {
        V e = libm::exp(-x.v), n = libm::fma((V)2, e, (V)1);
        return x.v * (n / libm::fma(2 * e, e, n));
    }
    V a = x.v < -Constant<V>::SILU_END ? -Constant<V>::SILU_END : x.v, e = libm::exp(a), n = 2 + e;
    if (e >= Constant<V>::LEAST_NORMAL) return a * e * (n / libm::fma(e, n, (V)2));
    V half = libm::exp(a / 2);
    return a * half * half;
}

// `log(1 + e^(beta x)) / beta`; x if `beta x > threshold`
template <class V> DEVICE Float<V> softplus(Float<V> x, Float<V> beta, Float<V> threshold, Isa) {
    V t = libm::product(beta.v, x.v), size = libm::abs(t);
    if (t > threshold.v) return x;
    // The exponential amplifies the rounding error of the product. For large exponents the error may be NaN, so 0 is used.
    V lost = size < 1500 ? libm::fma(beta.v, x.v, -t) : (V)0;
    // If the power is subnormal before the division, it has lost digits.
    if (t < Constant<V>::EXP_NORMAL) {
        V half = libm::exp(t / 2);
        return half / beta.v * libm::fma(half, lost, half);
    }
    V e = libm::exp(-size);
    e = libm::fma(e, t > 0 ? -lost : lost, e);
    return (libm::log1p(e) + (t > 0 ? lost : (V)0) + (t > 0 ? t : (V)0)) / beta.v;
}

// The complement of the error function at `a / sqrt(2)`.
template <class V> DEVICE V erfc_of_root(V a) {
    V s = libm::product(a, Constant<V>::SQRT_HALF);
    V low = libm::fma(a, Constant<V>::SQRT_HALF_LOW, libm::fma(a, Constant<V>::SQRT_HALF, -s));
    V y = libm::erfc(s);
    // Uses the logarithmic derivative, which is `-(s + sqrt(s^2 + 4 / pi))` to a few percent.
    V slope = s + libm::sqrt(libm::fma(s, s, (V)1.2732395447351628));
    return s > 0 && s < Constant<V>::GELU_END ? libm::fma(-low * slope, y, y) : y;
}

// The square root of `sqrt(2 pi)` times the normal density at a. It is normal even if its square is subnormal.
template <class V> DEVICE V root_of_density(V a) {
    V square = libm::product(a, a), h = libm::exp((V)-0.25 * square);
    return libm::fma(h, (V)-0.25 * libm::fma(a, a, -square), h);
}

// `a Phi(-a)` divided by the normal density at a, for a > 13: an asymptotic series.
template <class V> DEVICE V mills_ratio(V a) {
    static constexpr V SERIES[] = {1, -1, 3, -15, 105, -945, 10395};
    return polynomial(1 / (a * a), SERIES);
}

// `x Phi(x)`, Phi being the normal distribution; NaN at -inf
template <class V> DEVICE Float<V> gelu(Float<V> x, Isa) {
    V y = erfc_of_root(-x.v);
    if (!(y < Constant<V>::LEAST_NORMAL)) return (V)0.5 * x.v * y;
    V a = -x.v;
    if (a > Constant<V>::GELU_END) return 0 * x.v;
    // A subnormal factor would lose digits, so the root is multiplied twice.
    V h = root_of_density(a);
    return x.v / a * (h * Constant<V>::SQRT_INVERSE_TAU * mills_ratio(a)) * h;
}

// `Phi(x) + x phi(x)`, the derivative of gelu: 1 at inf, 0 at -inf
template <class V> DEVICE Float<V> gelu_slope(Float<V> x, Isa) {
    V a = libm::abs(x.v), y = erfc_of_root(a), h = root_of_density(a), k = Constant<V>::SQRT_INVERSE_TAU;
    // The value at -|x|.
    V slope = libm::fma(-a * k, h * h, (V)0.5 * y);
    if (y < Constant<V>::LEAST_NORMAL) slope = a > Constant<V>::GELU_END ? (V)-0.0 : h * k * (mills_ratio(a) / a - a) * h;
    return x.v > 0 ? 1 - slope : slope;
}

// `e^-kv` with `v = 2 sqrt(2 / pi) (a + 0.044715 a^3)`, for 0 <= a <= GELU_TANH_END and a power of two k
template <class V> DEVICE V gelu_tanh_power(V a, V k) {
    // v is a sum of two numbers, because the exponential multiplies the error of v by v.
    V z = libm::product(a, a), z_low = libm::fma(a, a, -z);
    V t = libm::product(z, Constant<V>::GELU_CUBIC);
    V t_low = libm::fma(z, Constant<V>::GELU_CUBIC, -t) + libm::fma(z_low, Constant<V>::GELU_CUBIC, z * Constant<V>::GELU_CUBIC_LOW);
    V more = t > Constant<V>::GELU ? t : Constant<V>::GELU, less = t > Constant<V>::GELU ? Constant<V>::GELU : t;
    V q = more + less, q_low = ((more - q) + less) + (t_low + Constant<V>::GELU_LOW);
    V v = libm::product(a, q), v_low = libm::fma(a, q_low, libm::fma(a, q, -v));
    V e = libm::exp(-k * v);
    return libm::fma(e, -k * v_low, e);
}

// `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`, the approximation of gelu; NaN at -inf
template <class V> DEVICE Float<V> gelu_tanh(Float<V> x, Isa) {
    V a = libm::abs(x.v);
    if (!(a <= Constant<V>::GELU_TANH_END)) return x.v > 0 ? x.v : 0 * x.v;
    V e = gelu_tanh_power(a, (V)1);
    if (x.v < 0 && e < Constant<V>::LEAST_NORMAL) {
        V half = gelu_tanh_power(a, (V)0.5);
        return x.v * half * half;
    }
    return x.v * ((x.v > 0 ? (V)1 : e) / (1 + e));
}

// The derivative of the approximation of gelu: 1 at inf, 0 at -inf
template <class V> DEVICE Float<V> gelu_tanh_slope(Float<V> x, Isa) {
    V a = libm::abs(x.v);
    // The value at -|x|.
    V tail = (V)-0.0;
    if (!(a > Constant<V>::GELU_TANH_END)) {
        V half = gelu_tanh_power(a, (V)0.5), e = half * half, d = 1 / (1 + e);
        V slope = libm::fma(a * a, 3 * Constant<V>::GELU_CUBIC, Constant<V>::GELU);
        tail = half * d * libm::fma(-a * slope, d, (V)1) * half;
    }
    return x.v > 0 ? 1 - tail : tail;
}

// `erfinv(x)` for |x| > 0.999
DEVICE double erfinv_tail(double x) {
    if (libm::abs(x) == 1) return x * Special<double>::infinity();
    // `erfinv(x) / x` as a polynomial of `sqrt(-log(1 - x^2))` about a centre.
    static constexpr double TAIL[] = {
        4.092226102541276, 1.0099782809422462, 7.127451355152868e-4, -6.078917762729073e-4, 2.1217585906916183e-4,
        -6.441940182971805e-5, 2.1979937909876176e-5, -1.0197537202708526e-5, 5.807195108117616e-6, -3.21110156785533e-6,
        1.4901521790118102e-6, -5.152347138888627e-7, 9.330271401082617e-8, 2.5583597077958282e-8, -3.015254474090098e-8,
        1.3460200011530986e-8, -3.0600780245868694e-9, -2.0297166575137586e-10, 4.5940442416475846e-10, -1.812315502608633e-10,
        3.48341636010037e-11, 8.426445047630465e-13, -4.25398867326323e-12, 1.9839900980085546e-12, -2.9710980272522844e-13,
        -7.839235843123363e-14, 3.3627540633007283e-14, -3.2953080870233397e-15
    };
    double w = -libm::log((1 - x) * (1 + x));
    return x * polynomial(libm::sqrt(w) - 4.2500026524066925, TAIL);
}

// The inverse of erf: infinite at -1 and 1, NaN beyond. Up to 0.999 it is x times a polynomial of `-log(1 - x^2)` about a centre.
DEVICE f32 erfinv(f32 x, Isa) {
    static constexpr float CENTRAL[] = {
        1.6536659f, 2.401576e-1f, -6.033788e-3f, -7.4066344e-4f, 1.8675612e-4f, -1.388741e-5f, -1.3798336e-6f, 4.256531e-7f,
        -2.5654835e-8f, -4.6073168e-9f, 6.983681e-10f
    };
    if (!(libm::abs(x.v) <= 0.999f)) return (float)erfinv_tail(x.v);
    return x.v * polynomial(-libm::log((1 - x.v) * (1 + x.v)) - 3.1250472f, CENTRAL);
}

DEVICE f64 erfinv(f64 x, Isa) {
    static constexpr double CENTRAL[] = {
        1.6536549098107616, 2.4015816498329554e-1, -6.0336740832868775e-3, -7.407014545236344e-4, 1.8673410768962578e-4,
        -1.3882535234262339e-5, -1.3654648905416098e-6, 4.234784786398019e-7, -2.9070445479527432e-8, -4.112643873238251e-9,
        1.0512229634542396e-9, -5.414382147865815e-11, -1.2978931551899953e-11, 2.6306740954593807e-12, -8.067554592695456e-14,
        -4.00456672813428e-14, 6.513880466385611e-15, -3.6493334371986077e-17, -1.2134120553255528e-16, 1.5304356591190358e-17,
        5.514335791383579e-19, -3.3900307670767604e-19, 2.2195323552985507e-20, 3.047353762421821e-21, -3.9699670334859144e-22
    };
    if (!(libm::abs(x.v) <= 0.999)) return erfinv_tail(x.v);
    return x.v * polynomial(-libm::log((1 - x.v) * (1 + x.v)) - 3.125001445412636, CENTRAL);
}
}  // namespace Real

// ---- functions that are computed in float64 for every dtype

namespace vmath {
DEVICE f64 log_f64(Isa, f64 x) { return ::log(x.v); }
DEVICE f64 asinh(Isa, f64 x) { return ::asinh(x.v); }
DEVICE f64 acosh(Isa, f64 x) { return ::acosh(x.v); }
DEVICE f64 atanh(Isa, f64 x) { return ::atanh(x.v); }

// `sin(pi x) / (pi x)`: 1 at 0, exactly 0 at the other integers, NaN at the infinities
DEVICE f64 sinc(Isa, f64 x) {
    // `(sin(pi r) / (pi r) - 1) / r^2` as a polynomial of r^2, for |r| <= 1/2.
    static constexpr double SINC[] = {
        -1.6449340668482264, 0.811742425283346, -0.1907518241216723, 0.026147847807920784, -0.0023460809132359426,
        0.00014842791671375797, -6.972268306400272e-6, 2.451847417779688e-7
    };
    // All numbers from here on are integers. Adding it to a smaller number rounds that number to an integer, whose parity is the lowest bit
    // of the sum.
    const double whole = 4503599627370496.0;
    double t = libm::abs(x.v), turns = t + whole;
    double r = t < whole ? t - (turns - whole) : 0 * t, z = libm::product(r, r);
    // The rounding error of z matters most where the slope is -1.27.
    double s = libm::fma(z, polynomial(z, SINC), 1.27 * libm::fma(-r, r, z));
    double q = r == t ? 1.0 : r / t, y = libm::fma(q, s, q);
    // Adding 0 turns -0 into 0.
    return double_of(bits_of(y) ^ bits_of(turns) << 63) + 0.0;
}
}  // namespace vmath

// ---- powers of two and of floats, as `Number` has them for integers

namespace Number {
template <class V> DEVICE Float<V> pow(Float<V> a, Float<V> b, Isa) { return libm::pow(a.v, b.v); }

// `2^n`, exactly for whole n between -1000 and 1000.
DEVICE double two_to(double n) {
    return libm::abs(n) <= 1000 && n == libm::rint(n) ? double_of((uint64)((int64)n + 1023) << 52) : libm::exp2(n);
}

// `x 2^n`, rounded once for whole n, even if 2^n alone overflows or underflows.
DEVICE f32 scaled(f32 x, f32 n) {
    double m = n.v;
    // The limits are more than the whole range of float32. An infinite n is kept, because 0 or infinity then gives NaN.
    if (Real::is_finite(n)) m = m > 400 ? 400 : m < -400 ? -400 : m;
    return (float)(x.v * two_to(m));
}

DEVICE f64 scaled(f64 x, f64 n) {
    double r = x.v, m = n.v;
    if (Real::is_finite(n)) m = m > 2200 ? 2200 : m < -2200 ? -2200 : m;
    // A step rounds or overflows only if the result does.
    for (int k = 0; k < 2; k++) {
        double step = !Real::is_finite(f64(m)) ? 0 : m > 1000 ? 600 : m < -1000 ? -600 : 0;
        r *= two_to(step);
        m -= step;
    }
    return r * two_to(m);
}

// `a 2^b` and `a / 2^b`, rounded once for whole b.
template <class V> DEVICE Float<V> shl(Float<V> a, Float<V> b, Isa) { return scaled(a, b); }
template <class V> DEVICE Float<V> shr(Float<V> a, Float<V> b, Isa) { return scaled(a, -b); }
}  // namespace Number

// `a + weight * (b - a)`, exact at both ends. Where the difference overflows it is the sum of shares, of which one of weight 0 is 0.
template <class V> DEVICE Float<V> between(Float<V> a, Float<V> b, Float<V> weight) {
    V distance = b.v - a.v, infinity = Special<V>::infinity(), rest = 1 - weight.v;
    if (!(libm::abs(distance) < infinity)) {
        V of_a = rest == 0 && libm::abs(a.v) == infinity ? 0 : libm::product(a.v, rest);
        V of_b = weight.v == 0 && libm::abs(b.v) == infinity ? 0 : libm::product(b.v, weight.v);
        return of_a + of_b;
    }
    // Rounded as the host does, not contracted.
    V from_a = a.v + libm::product(weight.v, distance), from_b = b.v - libm::product(distance, rest);
    // Beyond a, the way from b is the longer one and may overflow alone.
    bool beyond = weight.v < 0 && libm::abs(from_b) == infinity;
    return libm::abs(weight.v) < (V)0.5 || beyond ? from_a : from_b;
}

// ---- floats next to each other, by their bits, which have the order of the magnitudes

// The bits of the float next to a in the direction of b. I is the integer type of the float's size.
template <class I> DEVICE I next_bits(I a, I b, I infinity) {
    const I mask = (I)(~0ull >> (65 - 8 * sizeof(I)));
    I size_a = a & mask, size_b = b & mask;
    if (size_a > infinity || size_b > infinity) return mask;
    I key_a = a < 0 ? -size_a : size_a, key_b = b < 0 ? -size_b : size_b;
    if (key_a == key_b) return b;
    if (size_a == 0) return (I)(1 | (b & ~mask));
    return (I)((key_b > key_a) == (a >= 0) ? a + 1 : a - 1);
}

namespace Neighbour {
// The number next to a in the direction of b
DEVICE f32 next(f32 a, f32 b) { return float_of((uint)next_bits((int)bits_of(a.v), (int)bits_of(b.v), 0x7f800000)); }
DEVICE f64 next(f64 a, f64 b) {
    return double_of((uint64)next_bits((int64)bits_of(a.v), (int64)bits_of(b.v), (int64)0x7ff0000000000000));
}
}  // namespace Neighbour

// ---- kernels that rows name: functions of the operands, the numbers, and a context. `common` of the context is the dtype that operands
// are rounded to, and `numbers` has each number as a double in `real`

namespace kernel {
template <class T, class C> DEVICE T power_of_tensor(T a, T b, const C&) { return Number::pow(a, b, Isa{}); }
template <class T, class C> DEVICE T power_of_number(T t, T value, const C&) { return Number::pow(value, t, Isa{}); }
template <class T, class C> DEVICE T between_of_number(T a, T b, T weight, const C&) { return between(a, b, weight); }

template <class T, class C> DEVICE T power(T t, T value, const C& cx) {
    if constexpr (Same<T, f32>::value) {
        // An exponent that float32 cannot represent is not rounded to float32.
        double exact = cx.numbers[0].real;
        if (value.v != exact && Real::is_finite(f64(exact))) return (float)::pow((double)t.v, exact);
    }
    return Number::pow(t, value, Isa{});
}

template <class T, class M, class C> DEVICE T select_kernel(M condition, T a, T b, const C&) { return condition.v != 0 ? a : b; }
template <class T, class M, class C> DEVICE T select_number_kernel(M mask, T t, T value, const C&) {
    return mask.v != 0 ? value : t;
}

// t if it is finite, or the replacement for NaN, infinity or -infinity.
template <class T, class C> DEVICE T finite(T t, T nan, T most, T least, T infinity, const C&) {
    return t.is_nan() ? nan : t == infinity ? most : t == -infinity ? least : t;
}

// Formulas for 16-bit floats as bits on the host; here they use the compute type.
template <class T, class C> DEVICE T neg_bits(T t, const C&) { return t.neg(); }
template <class T, class C> DEVICE T abs_bits(T t, const C&) { return Element::abs(t); }
template <class H, class T> DEVICE T next_of(T a, T b, short infinity) {
    H next;
    next.bits = (unsigned short)next_bits((short)convert<H>(a).bits, (short)convert<H>(b).bits, infinity);
    return convert<T>(next);
}
template <class T, class C> DEVICE T next_of_16_bits(T a, T b, const C& cx) {
    return cx.common == FLOAT16 ? next_of<f16>(a, b, 0x7c00) : next_of<bf16>(a, b, 0x7f80);
}
}  // namespace kernel
