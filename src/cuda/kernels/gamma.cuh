// The logarithm of the gamma function and its derivatives, computed in float64 for both float types. Close to the zeros between two poles,
// results are small differences; they are computed from the distance to the zero, or in 106 bits. Needs double.cuh.

namespace vmath {

// ---- parts

// y >= 0 minus the nearest integer, exactly.
DEVICE double from_integer(double y) { return y > 4503599627370496.0 ? 0 : y - libm::rint(y); }

// `c + u q` for |c| >= |u q|, and its rounding error.
DEVICE Double step(double u, double q, double c) {
    Double t = product(u, q);
    Double r = ordered(c, t.high);
    r.low += t.low;
    return r;
}

// `1 / d` and its rounding error, for finite d.
DEVICE Double inverse(double d) {
    double w = 1 / d;
    return Double{w, -w * libm::fma(w, d, -1.0)};
}

// `sin(pi r) / pi` for |r| <= 1/2.
DEVICE Double sine_over_pi(double r) {
    // `(sin(pi r) / (pi r) - 1) / r^2` as a polynomial of r^2.
    static constexpr double SINC[] = {
        -1.6449340668482264, 8.117424252833462e-1, -1.9075182412167532e-1, 2.614784780794252e-2, -2.346080913286947e-3,
        1.4842791654406582e-4, -6.972267199595811e-6, 2.4518314404518164e-7
    };
    Double z = product(r, r);
    double p = polynomial(z.high, SINC);
    Double sinc = step(z.high, p, 1.0);
    sinc.low = libm::fma(z.low, p, sinc.low);
    Double s = product(r, sinc.high);
    s.low = libm::fma(r, sinc.low, s.low);
    return s;
}

// `log(x)` for positive finite x, as a sum with a small low part.
DEVICE Double log_pair(double x) {
    // `(2 atanh(s) / s - 2) / s^2` as a polynomial of s^2, for the s of sqrt(1/2) <= (1 + s) / (1 - s) < sqrt(2).
    static constexpr double ATANH[] = {
        6.666666666666735e-1, 3.999999999940956e-1, 2.857142874359218e-1, 2.2222198442751057e-1, 1.8183571463965595e-1,
        1.531385877225739e-1, 1.479795895913975e-1
    };
    const uint64 sqrt_half = 0x3fe6a09e667f3bcdull;
    bool tiny = x < 2.2250738585072014e-308;
    if (tiny) x *= 18014398509481984.0;
    // x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). The high part of log(2) is short, so that its product with e is exact.
    uint64 bits = bits_of(x) + (0x3ff0000000000000ull - sqrt_half);
    double e = (int)(bits >> 52) - (tiny ? 1077 : 1023);
    double f = double_of((bits & 0xfffffffffffffull) + sqrt_half) - 1;
    double s = f / (2 + f), z = s * s, h = libm::product(0.5 * f, f);
    double tail = libm::fma(s, libm::fma(z, polynomial(z, ATANH), h), -h);
    Double r = ordered(libm::product(e, 0.6931471803691238), f);
    r.low += libm::fma(e, 1.9082149292705877e-10, tail);
    return r;
}

// `B_2j / (2j)!`
DEVICE Double bernoulli(int j) {
    static constexpr double B[20][2] = {
        {8.333333333333333e-2, 4.625929269271485e-18}, {-1.388888888888889e-3, 5.300543954373577e-20},
        {3.306878306878307e-5, -2.2300719288557665e-21}, {-8.267195767195768e-7, 3.457597454003665e-23},
        {2.08767569878681e-8, -1.2073450591132599e-24}, {-5.284190138687493e-10, 3.517096671929869e-27},
        {1.3382536530684679e-11, -2.828354019907999e-29}, {-3.3896802963225827e-13, -1.4986928409964295e-29},
        {8.586062056277845e-15, -6.05252374381974e-31}, {-2.174868698558062e-16, 4.961617782549996e-33},
        {5.5090028283602295e-18, -1.49827152194499e-35}, {-1.3954464685812522e-19, -1.0350590497256251e-35},
        {3.534707039629467e-21, 1.894231142684204e-37}, {-8.953517427037546e-23, -5.728752743153026e-39},
        {2.267952452337683e-24, 1.3043458462619563e-40}, {-5.744790668872202e-26, 1.663242973708004e-43},
        {1.455172475614865e-27, -5.613265715443096e-44}, {-3.6859949406653103e-29, 1.0778256413554197e-45},
        {9.336734257095045e-31, -3.9347970210731877e-47}, {-2.36502241570063e-32, 2.0347170931532494e-49}
    };
    return Double{B[j][0], B[j][1]};
}

// ---- lgamma

// `lgamma(2 + t) / t` at t = 0, and the rest as t times a polynomial of t, for -0.65 <= t <= 1/2.
const double AT_2 = 0.42278433509846713, AT_2_LOW = 4.942915152430645e-18;
DEVICE const double (&lgamma_coefficients())[20] {
    static constexpr double LGAMMA[] = {
        3.2246703342411326e-1, -6.735230105319807e-2, 2.058080842777827e-2, -7.385551028676681e-3, 2.8905103310776087e-3,
        -1.1927539115235781e-3, 5.09669515934851e-4, -2.2315476466422345e-4, 9.945764320051384e-5, -4.492611967482954e-5,
        2.0506049713160475e-5, -9.440765638407325e-6, 4.381211435907583e-6, -2.030905562644335e-6, 9.346606550245709e-7,
        -4.811257826817053e-7, 2.467035268228126e-7, -3.3406206619389045e-8, 2.8845350760790197e-8, -8.418274272520737e-8
    };
    return LGAMMA;
}

// lgamma of x, or of |x| if x is below -1/2.
DEVICE Double lgamma_of_size(double x) {
    double y = libm::abs(x);
    if (y >= 3.5) {
        // Stirling's series: `(y - 1/2) (log(y) - 1) + S(1 / y^2) / y + log(2 pi) / 2 - 1/2` with a polynomial S.
        static constexpr double STIRLING[] = {
            8.33333333333332e-2, -2.7777777776533093e-3, 7.936507586750007e-4, -5.952335686414274e-4, 8.414248463388923e-4,
            -1.903090229918538e-3, 5.992859825256315e-3, -2.132297749698358e-2, 6.345389704246303e-2, -1.0226011647210921e-1
        };
        Double log = log_pair(y), p = product(y - 0.5, log.high - 1);
        double w = 1 / y;
        Double series = step(w, polynomial(w * w, STIRLING), 0.4189385332046727);
        Double r = sum(p.high, series.high);
        r.low += libm::fma(y - 0.5, log.low, p.low) + (series.low + 1.6728209650585413e-17);
        if (r.high == Special<double>::infinity()) r.low = 0;
        return r;
    }
    // `lgamma(2 + t) + k log(a)` with an exact t. |x| <= 1/2 needs no reflection, because a = |x| (1 + x) is right for both signs.
    double t = y - 2, a = 1, k = 1;
    if (y > 2.5) t = y - 3, a = y - 1;
    if (y < 1.35) t = y - 1, a = y, k = -1;
    if (y <= 0.5) t = x, a = y * (1 + x);
    Double log = log_pair(a), p = step(t, polynomial(t, lgamma_coefficients()), AT_2), small = product(t, p.high);
    Double r = sum(k * log.high, small.high);
    r.low += libm::fma(k, log.low, libm::fma(t, p.low + AT_2_LOW, small.low));
    return r;
}

// The zeros of lgamma below and above the poles from -2 down to -17, as distances from the pole. There is no zero above -2.
DEVICE Double zero_of_lgamma(int pole, bool above) {
    static constexpr double ZEROS[16][2][2] = {
        {{-4.5702473822080064e-1, 1.843554041574456e-17}, {-4.5702473822080064e-1, 1.843554041574456e-17}},
        {{-1.4358088834998006e-1, 3.862806401714152e-18}, {2.523173532725874e-1, -2.04688991691325e-17}},
        {{-3.936183974053688e-2, 3.2731379225891636e-18}, {4.470571514140207e-2, 8.223977942582053e-19}},
        {{-8.218168322593521e-3, -5.582665915956405e-19}, {8.455359439952277e-3, 8.231751957350036e-19}},
        {{-1.3852944531550972e-3, -2.6295731811446077e-20}, {1.3925199191243706e-3, -7.090441230646531e-20}},
        {{-1.9833340732475162e-4, 1.1820573401560963e-20}, {1.984921093623021e-4, 6.263909978492175e-21}},
        {{-2.48002706819597e-5, 1.0083974251164085e-21}, {2.4802904179335845e-5, 3.15397713595963e-22}},
        {{-2.7557148226503463e-6, -5.624459871432079e-23}, {2.7557490225318057e-6, -6.500300408654724e-23}},
        {{-2.755730136466002e-7, -2.4472526783403563e-23}, {2.7557337083353163e-7, 1.4502658434955713e-23}},
        {{-2.5052106852407546e-8, 1.2924868620853802e-24}, {2.5052109918476226e-8, -6.807394864189793e-25}},
        {{-2.087675687777539e-9, -4.849684877236172e-26}, {2.087675709796081e-9, -8.658839215884982e-26}},
        {{-1.6059043830108875e-10, 7.046449983196074e-27}, {1.6059043843534355e-10, 6.465141936497467e-27}},
        {{-1.147074559737784e-11, 4.194056116105366e-28}, {1.147074559808161e-11, -7.830340218001236e-28}},
        {{-7.647163731803788e-13, 4.886154187641447e-29}, {7.647163731835846e-13, -3.8035184915187745e-29}},
        {{-4.779477332386745e-14, -1.811833433216651e-30}, {4.779477332388026e-14, -9.319923331229129e-31}},
        {{-2.811457254345498e-15, -2.2878206410005478e-32}, {2.8114572543455435e-15, -8.713180440266469e-32}}
    };
    const double* zero = ZEROS[pole - 2][above];
    return Double{zero[0], zero[1]};
}

// `log |Gamma(x)|` for -18 < x < -2, computed from the distance to the zero on the same side of the same pole.
DEVICE double lgamma_beside_zero(double x) {
    // Between the first two zeros the nearer zero is used, which is not always the one of the nearer pole.
    int n = x > -2.6 ? 2 : (int)libm::rint(-x);
    double r = x + n;
    Double zero = zero_of_lgamma(n, r >= 0), d = wide(r) - zero;
    // Gamma(-n + r) = Gamma(2 + r) / (r (1 + r) (r - 1) ... (r - n)), and at the zero it is 1 or -1. The quotient of the denominators,
    // minus 1, is
    Double e = d * (scaled(zero, 1) + wide(1) + d) / (zero * (wide(1) + zero));
    for (int k = 1; k <= n; k++) {
        Double factor = d / (zero - wide(k));
        e = e + factor + e * factor;
    }
    // The quotient of the numerators: lgamma(2 + t) as a polynomial at both places, whose difference is d times
    double slope = 0, value = 0;
    for (int k = 19; k >= -2; k--) {
        slope = slope * r + value;
        value = value * zero.high + (k >= 0 ? lgamma_coefficients()[k] : k == -1 ? AT_2 : 0);
    }
    return d.high * slope - libm::log1p(e.high);
}

// `log |Gamma(x)|`: infinite at 0, the negative integers and both infinities
DEVICE double lgamma(double x) {
    double y = libm::abs(x), r = from_integer(y);
    if (x <= 0 && r == 0) return Special<double>::infinity();
    Double size = lgamma_of_size(x);
    if (!(x < -0.5)) return size.high + size.low;
    // |Gamma(-y)| = 1 / (y |sin(pi y) / pi| Gamma(y))
    Double sine = sine_over_pi(libm::abs(r)), s = product(y, sine.high), log = log_pair(s.high);
    log.low += libm::fma(y, sine.low, s.low) / s.high;
    Double both = sum(log.high, size.high);
    double value = -(both.high + (both.low + (size.low + log.low)));
    // Below -18 no float64 is close to a zero.
    bool beside_zero = x < -2 && x > -18 && libm::abs(value) < 0.1 - 0.015 * x;
    return beside_zero ? lgamma_beside_zero(x) : value;
}

// `log(pi) p (p - 1) / 4 + lgamma(x) + lgamma(x - 1/2) + ... + lgamma(x - (p - 1) / 2)`
DEVICE double mvlgamma(double x, int64 p) {
    Double total = Double{0.28618247146235004, 2.5664877906769566e-18} * wide((double)p * ((double)p - 1));
    for (int64 k = 0; k < p; k++) {
        Double next = sum(total.high, lgamma(x - 0.5 * (double)k));
        total = Double{next.high, total.low + next.low};
    }
    // If the sum is infinite, the low part must not be added.
    return libm::abs(total.high) < Special<double>::infinity() ? total.high + total.low : total.high;
}

// ---- digamma

// `digamma(y + low)` for y >= 3, a Stirling series.
DEVICE Double digamma_of_large(double y, double low) {
    // `(digamma(y) - log(y) + 1 / (2 y)) y^2` as a polynomial of 1 / y^2.
    static constexpr double SERIES[] = {
        -8.333333333333327e-2, 8.333333333173406e-3, -3.9682538961444795e-3, 4.166653760385492e-3, -7.574544606231006e-3,
        2.102395212148106e-2, -8.076573002442523e-2, 3.764045191817405e-1, -1.7685646562006903, 6.858410296211629, -17.837587465753874,
        22.23974632241268
    };
    Double w = inverse(y), log = log_pair(y);
    double z = w.high * w.high;
    double rest = libm::fma(w.high, low, libm::fma(-0.5, w.low, z * polynomial(z, SERIES)));
    Double r = sum(log.high, -0.5 * w.high);
    r.low += log.low + rest;
    return r;
}

// `digamma(1 + t)` for 0 <= t <= 1: the distance from its zero times a polynomial.
DEVICE Double digamma_of_small(double t) {
    // `digamma(1 + t) / (t - zero)` at t = 1/2, and the rest as a polynomial of t - 1/2.
    static constexpr double DIGAMMA[] = {
        -4.2362742128146064e-1, 2.4054248424077823e-1, -1.484049230538659e-1, 9.498872445459039e-2, -6.192213327694662e-2,
        4.07608338263671e-2, -2.6975796598434704e-2, 1.790725213564174e-2, -1.1908221491184671e-2, 7.92694861965972e-3,
        -5.27991868423557e-3, 3.5189738493818833e-3, -2.345649694134077e-3, 1.5568001131861066e-3, -1.0356457229413092e-3,
        7.227927403556256e-4, -4.885563818914752e-4, 2.2818070721099558e-4, -1.4013957177522212e-4, 2.589640385030022e-4,
        -1.8179535605113124e-4
    };
    const double zero = 0.46163214496836236, zero_low = -1.5522348162858677e-17;
    const double centre = 0.9510558760318328, centre_low = 4.330743078649653e-17;
    // The distance is exact, except for small t.
    double from = t - zero, m = from - zero_low, m_low = (from - m) - zero_low;
    Double p = step(t - 0.5, polynomial(t - 0.5, DIGAMMA), centre), r = product(m, p.high);
    r.low = libm::fma(m, p.low + centre_low, libm::fma(m_low, p.high, r.low));
    return r;
}

// `a + 1 / d`
DEVICE Double plus_inverse(Double a, double d) {
    Double w = inverse(d), r = sum(a.high, w.high);
    r.low += a.low + w.low;
    return r;
}

// The sum of both parts; the high part alone if it is not finite.
DEVICE double finished(Double a) { return libm::abs(a.high) < Special<double>::infinity() ? a.high + a.low : a.high; }

// `pi cot(pi r)` minus its pole `1 / r`, for 0 < |r| <= 1/2.
DEVICE Double cotangent_without_pole(double r) {
    // The quotient by r at r = 0, and the rest as r^2 times a polynomial of r^2.
    static constexpr double COT[] = {
        -2.0346861239676737, -2.0081547125705836, -2.0019891376307863, -2.0004927156398766, -2.0001073483761584, -2.0003205204819214,
        -1.9960744196007871, -2.038530992040311, -1.7254725518145044, -3.416666585389253, 3.1977150012589686, -15.023167972755989,
        18.493312232728396, -18.449226976050905
    };
    const double at_0 = -3.289868133696453, at_0_low = -6.081344700796952e-17;
    Double z = product(r, r);
    Double p = step(z.high, polynomial(z.high, COT), -2.1646464674222794);
    Double q = step(z.high, p.high, at_0);
    q.low = libm::fma(z.high, p.low, libm::fma(p.high, z.low, q.low + at_0_low));
    Double b = product(r, q.high);
    b.low = libm::fma(r, q.low, b.low);
    return b;
}

// `digamma(x)`: -inf at 0, inf at -0, NaN at the negative integers and -inf. Close to a zero between two poles, cancellation of its largest
// term costs digits.
DEVICE double digamma_of_terms(double x) {
    double y = libm::abs(x), t = y - libm::trunc(y);
    if (!(x < 0)) {
        if (x == Special<double>::infinity()) return x;
        if (x >= 3) return finished(digamma_of_large(x, 0));
        Double small = digamma_of_small(t);
        return finished(x >= 2 ? plus_inverse(small, 1 + t) : x >= 1 ? small : plus_inverse(small, -x));
    }
    // digamma(-y) = digamma(1 + y) + pi cot(pi y)
    double r = from_integer(y);
    if (r == 0) return Special<double>::nan();
    Double next = sum(1.0, y);
    Double a = y >= 2 ? digamma_of_large(next.high, next.low) : digamma_of_small(t);
    if (y >= 1 && y < 2) a = plus_inverse(a, 1 + t);
    Double b = cotangent_without_pole(r), w = inverse(r);
    // The two largest terms may cancel, and their sum may cancel with the third.
    Double s = sum(w.high, b.high), v = sum(s.high, a.high);
    v.low += s.low + (w.low + b.low + a.low);
    return finished(v);
}

// `pi cot(pi r)` for |r| <= 1/2.
DEVICE Double cotangent(double r) {
    const Double pi = {3.141592653589793, 1.2246467991473532e-16};
    // Sine and cosine of half the angle.
    Double angle = pi * wide(0.5 * r), z = angle * angle, s = wide(1), c = wide(1);
    for (int k = 28; k > 0; k -= 2) {
        c = wide(1) - c * z / wide(k * (k - 1));
        s = wide(1) - s * z / wide(k * (k + 1));
    }
    s = s * angle;
    return pi * (c * c - s * s) / scaled(s * c, 1);
}

// `digamma(x)` for negative x close to a zero, in 106 bits.
DEVICE double digamma_beside_zero(double x) {
    // These numbers are so close to a zero that 106 bits are not enough.
    if (x == -0.5040830082644554) return 7.289763902976895e-17;
    if (x == -1.5734984731623904) return 1.5649788481838454e-16;
    if (x == -5.6671624415568855) return 4.1867794464524804e-17;
    double y = -x, factorials[15] = {1};
    for (int j = 1; j < 15; j++) factorials[j] = factorials[j - 1] * (2 * j * (2 * j + 1));
    Double a = sum(1.0, y), below = wide(0), series = wide(0);
    for (; a.high < 24; a = a + wide(1)) below = below + wide(1) / a;
    // `B_2 / (2 a^2) + B_4 / (4 a^4) + ...`
    Double z = wide(1) / (a * a);
    for (int j = 14; j >= 0; j--) series = (series + bernoulli(j) * wide(factorials[j])) * z;
    Double r = log(a) - wide(0.5) / a - series - below + cotangent(y - libm::rint(y));
    return r.high + r.low;
}

// `digamma(x)`: -inf at 0, inf at -0, NaN at the negative integers and -inf
DEVICE double digamma(double x) {
    double r = digamma_of_terms(x);
    return x < 0 && libm::abs(r) < 0.0625 ? digamma_beside_zero(x) : r;
}

// ---- trigamma

// `1 / a^2`; infinite if it overflows.
DEVICE double inverse_square(Double a) {
    double w = 1 / a.high, missing = libm::fma(-w, a.low, -libm::fma(w, a.high, -1.0));
    Double z = product(w, w);
    return z.high < Special<double>::infinity() ? z.high + libm::fma(2 * z.high, missing, z.low) : z.high;
}

// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf
DEVICE double trigamma(double x) {
    // `trigamma(1 + t) (1 + t)^2` for t = 1/2, and the rest as a polynomial of t - 1/2, for 0 <= t <= 1.
    static constexpr double TRIGAMMA[] = {
        9.396141521068198e-1, 3.363968109436588e-2, -1.800377823122002e-2, 9.315785154076297e-3, -4.6841337608975785e-3,
        2.298259754484511e-3, -1.1041398155642412e-3, 5.209026179004335e-4, -2.4189549940738307e-4, 1.1077137533715526e-4,
        -5.020230001643076e-5, 2.265042009449233e-5, -9.773787554040894e-6, 3.899161966310194e-6, -2.351172987907676e-6,
        1.425832225974512e-6
    };
    const double at_half = 2.1033049512255286;
    // `(trigamma(y) - 1 / y - 1 / (2 y^2)) y^3` as a polynomial of 1 / y^2, for y >= 2.
    static constexpr double SERIES[] = {
        1.6666666666653346e-1, -3.3333333264630165e-2, 2.3809511276983438e-2, -3.3332158176167456e-2, 7.569051940411897e-2,
        -2.5053981425841376e-1, 1.09535545373178, -5.578760240126501, 28.844732699315138, -135.0918897445647, 528.5839441532834,
        -1627.4399061630022, 3728.88263036061, -5925.44131278481, 5797.251376858196, -2621.94636027037
    };
    double y = libm::abs(x), r = from_integer(y);
    bool negative = x < 0, first = y < 1;
    double d = first ? 1 + y : y, w = 1 / d;
    double missing = y < Special<double>::infinity() ? -libm::fma(w, d, -1.0) : 0;
    Double z = product(w, w);
    // trigamma(y), or trigamma(1 + y) if y < 1, which is less by 1 / y^2. For negative x it is less by 1 / y^2 for y >= 1, too.
    double value;
    if (y >= 2) {
        double series = libm::fma(polynomial(z.high, SERIES), w, negative ? -0.5 : 0.5);
        value = w + libm::fma(series, z.high, w * missing);
    } else {
        double t = r < 0 ? r + 1 : r, slope = polynomial(t - 0.5, TRIGAMMA);
        double h = libm::fma(t - 0.5, slope, at_half), h_low = libm::fma(t - 0.5, slope, at_half - h);
        if (negative && !first) h -= 1;
        Double v = product(h, z.high);
        double lost = libm::fma(h, z.low, v.low);
        value = v.high + libm::fma(2 * v.high, missing, libm::fma(h_low, z.high, lost));
    }
    // Adds 1 / x^2. For negative x uses trigamma(x) + trigamma(1 - x) = (pi / sin(pi x))^2.
    if (negative) return inverse_square(sine_over_pi(r)) - value;
    return first ? inverse_square(wide(y)) + value : value;
}

// ---- the higher derivatives

// `value 2^exponent`, which neither overflows nor underflows. The value's magnitude is from 1 to 2, or 0.
struct Scaled {
    Double value;
    int64 exponent;
};

DEVICE Scaled normalized(Double value, int64 exponent) {
    if (value.high == 0) return Scaled{value, -(1ll << 61)};
    int e = (int)(bits_of(value.high) >> 52 & 0x7ff) - 1023;
    return Scaled{scaled(value, -e), exponent + e};
}

DEVICE Scaled operator-(Scaled a) { return Scaled{-a.value, a.exponent}; }

DEVICE Scaled operator+(Scaled a, Scaled b) {
    bool first = a.exponent > b.exponent;
    Scaled more = first ? a : b, less = first ? b : a;
    int64 down = more.exponent - less.exponent;
    return normalized(more.value + scaled(less.value, -(int)(down > 1000 ? 1000 : down)), more.exponent);
}

DEVICE Scaled operator*(Scaled a, Scaled b) { return normalized(a.value * b.value, a.exponent + b.exponent); }
DEVICE Scaled operator/(Scaled a, Scaled b) { return normalized(a.value / b.value, a.exponent - b.exponent); }

DEVICE Scaled power(Scaled a, int64 n) {
    Scaled r = {wide(1), 0};
    for (; n > 0; n >>= 1) {
        if (n & 1) r = r * a;
        if (n > 1) a = a * a;
    }
    return r;
}

DEVICE double to_double(Scaled a) {
    int e = (int)(a.exponent > 2000 ? 2000 : a.exponent < -2000 ? -2000 : a.exponent);
    return (a.value.high + a.value.low) * exact_two_to(e / 2) * exact_two_to(e - e / 2);
}

// `(s - 1) a^s (1 / a^s + 1 / (a+1)^s + ...)` by the Euler-Maclaurin formula, with about 60 bits for a > 8 + 0.6 s.
DEVICE Double end_of_sum(double s, Double a) {
    double square = 1 / (a.high * a.high), rest = 0, term = (s - 1) * s / a.high;
    for (int j = 0; j < 14; j++) {
        rest += bernoulli(j).high * term;
        term *= (s + 2 * j + 1) * (s + 2 * j + 2) * square;
    }
    return a + sum(0.5 * (s - 1), rest);
}

// Like `end_of_sum`, with about 100 bits for a > s + 23.
DEVICE Double end_of_sum_exactly(double s, Double a) {
    Double r = a + wide(0.5 * (s - 1)), term = product(s - 1, s) / a, square = a * a;
    for (int j = 0; j < 20; j++) {
        r = r + bernoulli(j) * term;
        term = term * product(s + 2 * j + 1, s + 2 * j + 2) / square;
    }
    return r;
}

// `n! (1 / x^(n+1) + 1 / (x+1)^(n+1) + ...)` for positive x, from (n - 1)!, with about 60 bits, or about 100 if `exactly`.
DEVICE Scaled sum_of_powers(int64 n, Scaled factorial, Double x, bool exactly) {
    // Values are relative to (n - 1)! / x^n, which is the size of the result for large x.
    double s = (double)n + 1, from = exactly ? 23 + s : 8.4 + 0.6 * s;
    double little = exactly ? 1.925929944387236e-34 : 5.421010862427522e-20;
    Double total = wide(0);
    for (double k = 0;; k++) {
        Double a = x + wide(k), ratio = power(x / a, (uint64)n + 1);
        if (a.high >= from) {
            total = total + ratio * (exactly ? end_of_sum_exactly(s, a) : end_of_sum(s, a));
            break;
        }
        total = total + ratio * wide((double)n);
        if (ratio.high * a.high < little) break;
    }
    return normalized(total, 0) * factorial / power(normalized(x, 0), n + 1);
}

// The n-th derivative of digamma for n >= 2. At 0 and the negative integers it is inf for odd n, and -inf for even n.
DEVICE double polygamma(double x, int64 n) {
    bool odd = n & 1;
    const double infinity = Special<double>::infinity();
    Scaled factorial = {wide(1), 0};
    for (int64 k = 2; k < n; k++) factorial = factorial * normalized(wide((double)k), 0);
    if (!(x <= 0)) {
        double size = x < infinity ? to_double(sum_of_powers(n, factorial, wide(x), false)) : 1 / x;
        return odd ? size : -size;
    }
    double d = x - libm::rint(x);
    if (d == 0 || x == -infinity) return odd ? infinity : -infinity;
    // Sums over positive numbers, for the terms on either side of 0 and for those beyond x, so that no loop runs down to x.
    Double above = d > 0 ? wide(d) : sum(1.0, d), below = d > 0 ? sum(1.0, -d) : wide(-d), beyond = sum(1.0, -x);
    for (bool exactly = false;; exactly = true) {
        Scaled over = sum_of_powers(n, factorial, above, exactly), under = sum_of_powers(n, factorial, below, exactly);
        // These two may cancel almost completely, so they are added first.
        Scaled poles = odd ? over + under : under + -over;
        double value = to_double(poles + -sum_of_powers(n, factorial, beyond, exactly));
        // Close to a zero, more digits are needed.
        if (exactly || libm::abs(value) > 0.01 * to_double(d > 0 ? over : under)) return value;
    }
}

}  // namespace vmath

namespace Real {
DEVICE f32 lgamma(f32 x, Isa) { return (float)vmath::lgamma(x.v); }
DEVICE f64 lgamma(f64 x, Isa) { return vmath::lgamma(x.v); }
DEVICE f32 digamma(f32 x, Isa) { return (float)vmath::digamma_of_terms(x.v); }
DEVICE f64 digamma(f64 x, Isa) { return vmath::digamma(x.v); }
DEVICE f32 trigamma(f32 x, Isa) { return (float)vmath::trigamma(x.v); }
DEVICE f64 trigamma(f64 x, Isa) { return vmath::trigamma(x.v); }
}  // namespace Real

namespace kernel {
template <class T, class C> DEVICE T derivative_kernel(T x, T n, const C&) { return T::of(vmath::polygamma(x.to_f64(), n.to_i64())); }
template <class T, class C> DEVICE T multivariate_kernel(T x, T p, const C&) { return T::of(vmath::mvlgamma(x.to_f64(), p.to_i64())); }
}  // namespace kernel

// The functions of `kernel` by their names in rows. T is the compute type of the operands:
//     T power_of_tensor(T a, T b, cx)                       numbers
//     T power(T t, T value, cx)                             numbers; reads `cx.numbers[0].real`
//     T power_of_number(T t, T value, cx)                   numbers
//     T between_of_number(T a, T b, T weight, cx)           floats
//     T select_kernel(condition, T a, T b, cx)              any; the condition is Bool or an integer
//     T select_number_kernel(mask, T t, T value, cx)        any; the mask is Bool or an integer
//     T finite(T t, T nan, T most, T least, T infinity, cx) floats
//     T neg_bits(T t, cx), T abs_bits(T t, cx)              numbers
//     T next_of_16_bits(T a, T b, cx)                       floats; reads `cx.common`
//     T log_add_exp(T a, T b, cx)                           floats
//     T derivative_kernel(T x, T n, cx)                     floats
//     T multivariate_kernel(T x, T p, cx)                   floats
