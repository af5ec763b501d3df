// 106-bit numbers as sums of two float64, for results that are small differences, such as some of `log(e^a + e^b)`. The error of an
// operation is a few units of 2^-104. Needs real.cuh.

namespace vmath {

// `high + low`; `high` is the rounded sum.
struct Double {
    double high, low;
};

const double LOG_2 = 0.6931471805599453, LOG_2_LOW = 2.3190468138462996e-17;

DEVICE Double wide(double x) { return Double{x, 0}; }

// `a + b` exactly.
DEVICE Double sum(double a, double b) {
    double high = a + b, part = high - a;
    return Double{high, (a - (high - part)) + (b - part)};
}

// `a + b` exactly, if |a| >= |b|.
DEVICE Double ordered(double a, double b) {
    double high = a + b;
    return Double{high, (a - high) + b};
}

// `a * b` exactly. An intrinsic computes the high part, because the compiler would fuse a plain product with a following addition.
DEVICE Double product(double a, double b) {
    double high = libm::product(a, b);
    return Double{high, libm::fma(a, b, -high)};
}

DEVICE Double operator-(Double a) { return Double{-a.high, -a.low}; }

DEVICE Double operator+(Double a, Double b) {
    Double high = sum(a.high, b.high), low = sum(a.low, b.low);
    high = ordered(high.high, high.low + low.high);
    return ordered(high.high, high.low + low.low);
}

DEVICE Double operator-(Double a, Double b) { return a + -b; }

DEVICE Double operator*(Double a, Double b) {
    Double p = product(a.high, b.high);
    return ordered(p.high, libm::fma(a.low, b.high, libm::fma(a.high, b.low, p.low)));
}

DEVICE Double operator/(Double a, Double b) {
    double quotient = a.high / b.high;
    Double rest = a - b * wide(quotient);
    return ordered(quotient, rest.high / b.high);
}

// `2^n` for -1023 <= n <= 1023
DEVICE double exact_two_to(int n) { return n == -1023 ? 1.1125369292536007e-308 : double_of((uint64)(n + 1023) << 52); }

// `a 2^n` for -1023 <= n <= 1023; exact unless the result is subnormal.
DEVICE Double scaled(Double a, int n) {
    double two = exact_two_to(n);
    return Double{libm::product(a.high, two), libm::product(a.low, two)};
}

// `a^n`
DEVICE Double power(Double a, uint64 n) {
    Double r = wide(1);
    for (; n > 0; n >>= 1) {
        if (n & 1) r = r * a;
        if (n > 1) a = a * a;
    }
    return r;
}

// `e^a` for -1000 < a <= 0
DEVICE Double exp(Double a) {
    double n = libm::rint(a.high * 1.4426950408889634);
    // A sixteenth of the remaining argument needs 17 terms.
    Double r = scaled(a - Double{LOG_2, LOG_2_LOW} * wide(n), -4), e = wide(1);
    for (int k = 17; k > 0; k--) e = wide(1) + e * r / wide(k);
    for (int k = 0; k < 4; k++) e = e * e;
    return scaled(e, (int)n);
}

// `2 atanh(a)` for |a| < 0.18
DEVICE Double atanh_twice(Double a) {
    Double z = a * a, r = wide(0);
    for (int k = 21; k >= 0; k--) r = r * z + wide(1) / wide(2 * k + 1);
    return scaled(a, 1) * r;
}

// The natural logarithm of a positive normal number.
DEVICE Double log(Double a) {
    // a = 2^n m, log m = 2 atanh(s) with |s| < 0.18.
    int n = (int)libm::ceil(libm::log2(a.high * 0.7071067811865476));
    Double m = scaled(a, -n);
    return Double{LOG_2, LOG_2_LOW} * wide(n) + atanh_twice((m - wide(1)) / (m + wide(1)));
}

// `log(1 + a)` for 0 <= a <= 1
DEVICE Double log1p(Double a) { return a.high < 0.4 ? atanh_twice(a / (a + wide(2))) : log(wide(1) + a); }

// `log(e^a + e^b)`, to within a unit of its operands.
template <class V> DEVICE V log_add_exp_once(V a, V b) {
    // The difference of equal infinities would be NaN.
    V difference = a == b ? (V)0 : a - b;
    return (a > b ? a : b) + libm::log1p(libm::exp(-libm::abs(difference)));
}

// `log(e^a + e^b)` to 100 bits of the larger operand.
DEVICE double log_add_exp_exactly(double a, double b) {
    double most = a > b ? a : b, least = a > b ? b : a;
    if (least - most < -700) return most + libm::exp(least - most);
    Double r = wide(most) + log1p(exp(sum(least, -most)));
    return r.high + r.low;
}

// Returns true if cancellation in `r = log(e^a + e^b)` loses more than a bit of the operands.
template <class V> DEVICE bool cancels(V a, V b, V r) {
    V most = a > b ? a : b;
    return most < 0 && libm::abs(r) < (V)-0.5 * most;
}

DEVICE f64 log_add_exp(f64 a, f64 b) {
    double r = log_add_exp_once(a.v, b.v);
    return cancels(a.v, b.v, r) ? log_add_exp_exactly(a.v, b.v) : r;
}

DEVICE f32 log_add_exp(f32 a, f32 b) {
    float r = log_add_exp_once(a.v, b.v);
    if (!cancels(a.v, b.v, r)) return r;
    double x = a.v, y = b.v, wider = log_add_exp_once(x, y);
    return (float)(libm::abs(wider) < -1e-7 * (x > y ? x : y) ? log_add_exp_exactly(x, y) : wider);
}

}  // namespace vmath

namespace kernel {
template <class T, class C> DEVICE T log_add_exp(T a, T b, const C&) { return vmath::log_add_exp(a, b); }
}  // namespace kernel
