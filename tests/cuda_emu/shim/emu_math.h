// Mathematics: libm's functions under CUDA's names, for double, for float with the suffix f, and as overloads for float.
#pragma once

#define EMU_MATH1(name)                                                                                                                 \
    extern "C" double name(double);                                                                                                     \
    extern "C" float name##f(float);                                                                                                    \
    static inline float name(float x) { return name##f(x); }
#define EMU_MATH2(name)                                                                                                                 \
    extern "C" double name(double, double);                                                                                             \
    extern "C" float name##f(float, float);                                                                                             \
    static inline float name(float x, float y) { return name##f(x, y); }

EMU_MATH1(acos) EMU_MATH1(acosh) EMU_MATH1(asin) EMU_MATH1(asinh) EMU_MATH1(atan) EMU_MATH1(atanh)
EMU_MATH1(cbrt) EMU_MATH1(ceil) EMU_MATH1(cos) EMU_MATH1(cosh) EMU_MATH1(erf) EMU_MATH1(erfc)
EMU_MATH1(exp) EMU_MATH1(exp2) EMU_MATH1(exp10) EMU_MATH1(expm1) EMU_MATH1(fabs) EMU_MATH1(floor)
EMU_MATH1(log) EMU_MATH1(log10) EMU_MATH1(log1p) EMU_MATH1(log2) EMU_MATH1(logb) EMU_MATH1(nearbyint)
EMU_MATH1(rint) EMU_MATH1(round) EMU_MATH1(sin) EMU_MATH1(sinh) EMU_MATH1(sqrt) EMU_MATH1(tan)
EMU_MATH1(tanh) EMU_MATH1(tgamma) EMU_MATH1(trunc) EMU_MATH1(j0) EMU_MATH1(j1) EMU_MATH1(y0) EMU_MATH1(y1)
EMU_MATH2(atan2) EMU_MATH2(copysign) EMU_MATH2(fdim) EMU_MATH2(fmax) EMU_MATH2(fmin) EMU_MATH2(fmod)
EMU_MATH2(hypot) EMU_MATH2(nextafter) EMU_MATH2(pow) EMU_MATH2(remainder)

#undef EMU_MATH1
#undef EMU_MATH2

// lgamma writes the sign to a global variable; lgamma_r does not.
extern "C" double lgamma_r(double, int *);
extern "C" float lgammaf_r(float, int *);
static inline double lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}
static inline float lgammaf(float x) {
    int sign;
    return lgammaf_r(x, &sign);
}
static inline float lgamma(float x) { return lgammaf(x); }

#define EMU_MATH(R, name, double_params, float_params, names)                                                                           \
    extern "C" R name double_params;                                                                                                    \
    extern "C" R name##f float_params;                                                                                                  \
    static inline R name float_params { return name##f names; }
EMU_MATH(int, ilogb, (double x), (float x), (x))
EMU_MATH(long, lrint, (double x), (float x), (x))
EMU_MATH(long, lround, (double x), (float x), (x))
EMU_MATH(long long, llrint, (double x), (float x), (x))
EMU_MATH(long long, llround, (double x), (float x), (x))
#undef EMU_MATH

extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
static inline float ldexp(float x, int n) { return ldexpf(x, n); }
extern "C" double scalbn(double, int);
extern "C" float scalbnf(float, int);
static inline float scalbn(float x, int n) { return scalbnf(x, n); }
extern "C" double frexp(double, int *);
extern "C" float frexpf(float, int *);
static inline float frexp(float x, int *n) { return frexpf(x, n); }
extern "C" double modf(double, double *);
extern "C" float modff(float, float *);
static inline float modf(float x, float *whole) { return modff(x, whole); }
extern "C" double remquo(double, double, int *);
extern "C" float remquof(float, float, int *);
static inline float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }
extern "C" void sincos(double, double *, double *);
extern "C" void sincosf(float, float *, float *);
static inline void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
extern "C" double jn(int, double);
extern "C" double yn(int, double);
static inline double pow(double x, int n) { return pow(x, (double)n); }
static inline float pow(float x, int n) { return powf(x, (float)n); }
static inline double powi(double x, int n) { return pow(x, (double)n); }
static inline float powif(float x, int n) { return powf(x, (float)n); }
static inline double nan(const char *) { return __builtin_nan(""); }
static inline float nanf(const char *) { return __builtin_nanf(""); }

static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool signbit(double x) { return __builtin_signbit(x); }
static inline bool signbit(float x) { return __builtin_signbit(x); }

extern "C" int abs(int);
static inline long abs(long x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
static inline long labs(long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }

#define EMU_MIN_MAX(T, A, B)                                                                                                            \
    static inline T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; }                                                                 \
    static inline T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(unsigned, unsigned, unsigned)
EMU_MIN_MAX(unsigned, int, unsigned)
EMU_MIN_MAX(unsigned, unsigned, int)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef EMU_MIN_MAX
// Both functions ignore a NaN.
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }

// These functions are not in libm. The functions for float compute in double, and round once more.
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline double rcbrt(double x) { return 1 / cbrt(x); }

// sin(pi x) and cos(pi x). x is reduced to [-1/4, 1/4] exactly.
static inline double sinpi(double x) {
    if (isinf(x)) return __builtin_nan("");
    if (x == trunc(x)) return copysign(0.0, x);
    double half = rint(2 * x), rest = x - half / 2, angle = rest * 3.14159265358979323846;
    switch ((int)fmod(half, 4.0) & 3) {
    case 0: return sin(angle);
    case 1: return cos(angle);
    case 2: return -sin(angle);
    default: return -cos(angle);
    }
}
static inline double cospi(double x) {
    if (isinf(x)) return __builtin_nan("");
    x = fabs(x);
    if (x - floor(x) == 0.5) return 0;
    double half = rint(2 * x), rest = x - half / 2, angle = rest * 3.14159265358979323846;
    switch ((int)fmod(half, 4.0) & 3) {
    case 0: return cos(angle);
    case 1: return -sin(angle);
    case 2: return -cos(angle);
    default: return sin(angle);
    }
}

// exp(x^2) erfc(x), where x^2 is a sum of two doubles. From 25 on, the asymptotic series.
static inline double erfcx(double x) {
    if (x < 25) {
        double square = x * x, rest = fma(x, x, -square);
        return exp(square) * (1 + rest) * erfc(x);
    }
    double y = 1 / (2 * x * x), sum = 1;
    for (int k = 9; k > 0; k--) sum = 1 - (2 * k - 1) * y * sum;
    return 0.56418958354775628695 / x * sum;
}

// The standard normal distribution function.
static inline double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }

namespace emu {

// Returns the x with erfc(x) = y for y in (0, 1]: Newton's method with Halley's correction on the logarithm, from an asymptotic estimate.
static inline double inverse_erfc(double y) {
    if (y > 0.5) {
        double x = (1 - y) * 0.88622692545275801365;
        for (int i = 0; i < 6; i++) {
            double step = ((1 - y) - erf(x)) * 0.88622692545275801365 * exp(x * x);
            x += step / (1 + x * step);
        }
        return x;
    }
    double u = sqrt(-2 * log(y / 2));
    double above = 2.515517 + u * (0.802853 + u * 0.010328), below = 1 + u * (1.432788 + u * (0.189269 + u * 0.001308));
    double x = 0.70710678118654752440 * (u - above / below);
    for (int i = 0; i < 4; i++) {
        double step = (erfc(x) / y - 1) * y * 0.88622692545275801365 * exp(x * x);
        x += step / (1 + x * step);
    }
    return x;
}

} // namespace emu

static inline double erfcinv(double y) {
    if (!(y >= 0 && y <= 2)) return __builtin_nan("");
    if (y == 0 || y == 2) return y == 0 ? __builtin_inf() : -__builtin_inf();
    return y <= 1 ? emu::inverse_erfc(y) : -emu::inverse_erfc(2 - y);
}
static inline double erfinv(double x) {
    if (!(fabs(x) <= 1)) return __builtin_nan("");
    if (fabs(x) == 1) return copysign(__builtin_inf(), x);
    if (fabs(x) < 0.5) {
        double y = fabs(x), z = y * 0.88622692545275801365;
        for (int i = 0; i < 6; i++) {
            double step = (y - erf(z)) * 0.88622692545275801365 * exp(z * z);
            z += step / (1 + z * step);
        }
        return copysign(z, x);
    }
    return copysign(emu::inverse_erfc(1 - fabs(x)), x);
}
static inline double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2 * p); }

#define EMU_OF_DOUBLE(name)                                                                                                             \
    static inline float name##f(float x) { return (float)name((double)x); }                                                             \
    static inline float name(float x) { return name##f(x); }
EMU_OF_DOUBLE(rsqrt) EMU_OF_DOUBLE(rcbrt) EMU_OF_DOUBLE(sinpi) EMU_OF_DOUBLE(cospi) EMU_OF_DOUBLE(erfcx)
EMU_OF_DOUBLE(normcdf) EMU_OF_DOUBLE(normcdfinv) EMU_OF_DOUBLE(erfinv) EMU_OF_DOUBLE(erfcinv)
#undef EMU_OF_DOUBLE

static inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
static inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
static inline double rhypot(double x, double y) { return 1 / hypot(x, y); }
static inline float rhypotf(float x, float y) { return (float)(1 / hypot((double)x, (double)y)); }

// Arithmetic with one rounding, also if the compiler contracts expressions.
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frcp_rn(float x) { return 1 / x; }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __drcp_rn(double x) { return 1 / x; }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

// The fast functions, which are exact here.
static inline float __expf(float x) { return expf(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

#if defined(__x86_64__)
static inline long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
#else
static inline long long clock64() {
    static long long calls = 0;
    return ++calls;
}
#endif
static inline int clock() { return (int)clock64(); }
