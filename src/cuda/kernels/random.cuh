// Random words, and the functions of distributions. Elements depend on the seed, the first block of a fill and their position, bit for bit
// as on the host. Products are rounded before an addition, and functions are the host's.

// A float whose products the compiler does not fuse with additions.
template <class V> struct Plain {
    V v;

    Plain() = default;
    DEVICE Plain(V x) : v(x) {}

    static DEVICE float product(float a, float b) { return __fmul_rn(a, b); }
    static DEVICE double product(double a, double b) { return __dmul_rn(a, b); }

    friend DEVICE Plain operator+(Plain a, Plain b) { return a.v + b.v; }
    friend DEVICE Plain operator-(Plain a, Plain b) { return a.v - b.v; }
    friend DEVICE Plain operator*(Plain a, Plain b) { return product(a.v, b.v); }
    friend DEVICE Plain operator/(Plain a, Plain b) { return a.v / b.v; }
    friend DEVICE Plain operator-(Plain a) { return -a.v; }
    friend DEVICE bool operator<(Plain a, Plain b) { return a.v < b.v; }
    friend DEVICE bool operator<=(Plain a, Plain b) { return a.v <= b.v; }
    friend DEVICE bool operator>(Plain a, Plain b) { return a.v > b.v; }
    friend DEVICE bool operator>=(Plain a, Plain b) { return a.v >= b.v; }
    friend DEVICE bool operator==(Plain a, Plain b) { return a.v == b.v; }
};
typedef Plain<float> Single;
typedef Plain<double> Double;

template <class V> DEVICE Plain<V> root(Plain<V> x) { return libm::sqrt(x.v); }
template <class V> DEVICE Plain<V> rounded_down(Plain<V> x) { return libm::floor(x.v); }
template <class V> DEVICE Plain<V> magnitude(Plain<V> x) { return libm::abs(x.v); }

// `c[0] + c[1] x + c[2] x^2 + ...`
template <class V, int N> DEVICE Plain<V> polynomial(Plain<V> x, const V (&c)[N]) {
    Plain<V> p = c[N - 1];
    for (int k = N - 2; k >= 0; k--) p = p * x + Plain<V>(c[k]);
    return p;
}

// ---- words

// The four words of Philox4x32-10 for a seed and a counter.
struct Words {
    uint w[4];
};

DEVICE Words philox(uint64 seed, uint64 block, uint part, uint kind) {
    uint a = (uint)block, b = (uint)(block >> 32), c = part, d = kind;
    uint k0 = (uint)seed, k1 = (uint)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64 x = (uint64)a * 0xd2511f53u, y = (uint64)c * 0xcd9e8d57u;
        a = (uint)(y >> 32) ^ b ^ k0;
        b = (uint)y;
        c = (uint)(x >> 32) ^ d ^ k1;
        d = (uint)x;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{a, b, c, d}};
}

// Two words as one. The first word is the upper half.
DEVICE uint64 joined(uint high, uint low) { return (uint64)high << 32 | low; }

// The number of elements that are made from the same blocks.
const int GROUP = 64;

// The 64-bit word of element i of a fill that starts with block `first`.
DEVICE uint64 double_word(uint64 seed, uint64 first, int64 i) {
    const int place = (int)(i % GROUP), half = GROUP / 2;
    const Words words = philox(seed, first + (uint64)(i / GROUP * half + place % half), 0, 0);
    return place < half ? joined(words.w[0], words.w[1]) : joined(words.w[2], words.w[3]);
}

// The upper half of a product.
DEVICE uint64 upper_half(uint64 a, uint64 b) { return __umul64hi(a, b); }

// The position of a word within its share of `span` integers, as a number in [0, 1).
DEVICE double left_of(uint64 word, uint64 span) { return (double)((word * span) >> 11) * (1.0 / 9007199254740992.0); }

// ---- functions

const double LN2_64 = 0.693147180559945309417232121458;
const float LN2_32 = 0.693147180559945309417232121458f;
const uint64 ONE_64 = 0x3ff0000000000000ull;

// Exponent and fraction of a positive normal number: `x = 2^e (1 + f)` with sqrt(1/2) <= 1 + f < sqrt(2).
template <class V> struct LogParts {
    Plain<V> e;
    Plain<V> f;
};

DEVICE LogParts<float> log_parts(Single x) {
    const uint t = bits_of(x.v) + (0x3f800000u - 0x3f3504f3u);
    return {Single((float)(int)(t >> 23) - 127.0f), Single(float_of((t & 0x7fffffu) + 0x3f3504f3u) - 1.0f)};
}

DEVICE LogParts<double> log_parts(Double x) {
    const uint64 t = bits_of(x.v) + (ONE_64 - 0x3fe6a09e667f3bcdull);
    return {Double((double)(int)(t >> 52) - 1023.0), Double(double_of((t & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0)};
}

// The natural logarithm.
DEVICE Double logarithm(Double x) {
    const double c[7] = {6.666666666666735e-1, 3.999999999940956e-1, 2.857142874359218e-1, 2.2222198442751057e-1,
                         1.8183571463965595e-1, 1.531385877225739e-1, 1.479795895913975e-1};
    const bool tiny = x.v < 2.2250738585072014e-308;
    if (!(x.v > 0.0)) return x.v == 0.0 ? -Special<double>::infinity() : Special<double>::nan();
    if (x.v == Special<double>::infinity()) return x;
    LogParts<double> parts = log_parts(tiny ? x * 18014398509481984.0 : x);
    const Double e = tiny ? parts.e - 54.0 : parts.e, f = parts.f;
    const Double s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
    const Double tail = e * 1.9082149292705877e-10 + (s * (z * polynomial(z, c) + h) + -h);
    return e * 0.6931471803691238 + (f + tail);
}

// The exponential.
DEVICE Double exponential(Double x) {
    const double c[10] = {5.000000000000011e-1, 1.6666666666666455e-1, 4.1666666666528046e-2, 8.33333333347424e-3, 1.3888888943984626e-3,
                          1.9841269541624184e-4, 2.4801492829028287e-5, 2.7557560091435237e-6, 2.7630327171461953e-7,
                          2.5007297574587452e-8};
    const double shift = 6755399441055744.0 + 2046.0;
    x = x.v > 710.0 ? Double(710.0) : x;
    x = x.v < -746.0 ? Double(-746.0) : x;
    const Double t = x * 1.44269504088896340735992468100189214 + shift, n = t - shift;
    const uint64 half = bits_of(t.v) >> 1, rest = bits_of(t.v) - half;
    const Double a = double_of(half << 52), b = double_of(rest << 52);
    const Double r = n * -1.9082149292705877e-10 + (n * -0.6931471803691238 + x);
    const Double p = r * r * polynomial(r, c) + r;
    return (p * a + a) * b;
}

DEVICE Single exponential(Single x) {
    const float c[5] = {0.5f, 0.16666517f, 4.1666202e-2f, 8.369088e-3f, 1.3950727e-3f};
    const float shift = 12582912.0f + 254.0f;
    x = x.v > 89.0f ? Single(89.0f) : x;
    x = x.v < -104.0f ? Single(-104.0f) : x;
    const Single t = x * 1.44269504088896340735992468100189214f + shift, n = t - shift;
    const uint half = bits_of(t.v) >> 1, rest = bits_of(t.v) - half;
    const Single a = float_of(half << 23), b = float_of(rest << 23);
    const Single r = n * -1.4286068e-6f + (n * -0.69314575f + x);
    const Single p = r * r * polynomial(r, c) + r;
    return (p * a + a) * b;
}

// `-2 log(u)` for u in (0, 1], with the same relative resolution near 0 as elsewhere.
DEVICE Single minus_two_log(uint word) {
    const float c[8] = {-1.9999999f, 1.0000072f, -6.667015e-1f, 4.9940357e-1f, -3.980022e-1f, 3.4496528e-1f, -3.2443336e-1f, 2.0224598e-1f};
    const LogParts<float> u = log_parts((Single((float)(int)(word >> 1)) + 0.5f) * (1.0f / 2147483648.0f));
    return u.e * (-2.0f * LN2_32) + u.f * polynomial(u.f, c);
}

DEVICE Double minus_two_log(uint64 word) {
    const double c[7] = {-4.000000000000001, -1.3333333333308435, -8.000000012986035e-1, -5.714283123790803e-1,
                         -4.444691807675636e-1, -3.6242444985284006e-1, -3.3691165112363447e-1};
    const LogParts<double> u = log_parts((Double((double)word) + 0.5) * (1.0 / 18446744073709551616.0));
    const Double s = u.f / (2.0 + u.f);
    return u.e * (-2.0 * LN2_64) + s * polynomial(s * s, c);
}

// `-2 log(u)`, positive for every word. A u so near 1 that it is rounded to 1 leaves `2 (1 - u)`.
DEVICE Single exponential_of(uint word) {
    const Single x = minus_two_log(word), from_one = (Single((float)(int)(~word >> 1)) + 0.5f) * (1.0f / 1073741824.0f);
    return x > 0.0f ? x : from_one;
}

DEVICE Double exponential_of(uint64 word) {
    const Double x = minus_two_log(word), from_one = (Double((double)~word) + 0.5) * (1.0 / 9223372036854775808.0);
    return x > 0.0 ? x : from_one;
}

template <class V> DEVICE Plain<V> at_least(Plain<V> x, Plain<V> least) { return x < least ? least : x; }
