// Fills whose elements need a fixed number of words. A thread computes the elements of one block of Philox.

struct DrawArgs {
    byte* to;
    int64 n;
    uint64 seed;
    // The first block of the fill.
    uint64 block;
    // The parameters of the distribution. They are float32 numbers if the distribution is computed in float32.
    double numbers[5];
    int64 from;
    uint64 span;
    // The lists of the distribution.
    const void* lists[2];
    int dtype;
    int unused;
};

// For elements of one word, a group needs 16 blocks. Word w of block j belongs to element 16 w + j.
struct OfWord {
    static constexpr int BLOCKS = GROUP / 4;
    static constexpr int MANY = 4;
    typedef uint Word;
    static DEVICE Word word(const Words& words, int k) { return words.w[k]; }
};

// For elements of two words, a group needs 32 blocks. Half h of block j belongs to element 32 h + j.
struct OfDoubleWord {
    static constexpr int BLOCKS = GROUP / 2;
    static constexpr int MANY = 2;
    typedef uint64 Word;
    static DEVICE Word word(const Words& words, int k) { return joined(words.w[2 * k], words.w[2 * k + 1]); }
};

// The words that floats of a type are made from.
template <class V> struct Made;
template <> struct Made<float> { typedef OfWord type; };
template <> struct Made<double> { typedef OfDoubleWord type; };

// A distribution with independent elements: `L::one(args, word, i)`, converted from L::Result.
template <class L> struct OneByOne : L {
    typedef typename L::Of Of;
    static DEVICE void make(const DrawArgs& args, const typename Of::Word (&words)[Of::MANY], const int64 (&at)[Of::MANY],
                            typename L::Result (&made)[Of::MANY]) {
        // Positions beyond the end have no parameters.
        for (int k = 0; k < Of::MANY; k++) {
            if (at[k] < args.n) made[k] = L::one(args, words[k], at[k]);
        }
    }
};

// Fills a place.
template <class L> DEVICE void draw(const DrawArgs& args) {
    typedef typename L::Of Of;
    const int64 blocks = (args.n + GROUP - 1) / GROUP * Of::BLOCKS;
    const int size = size_of(args.dtype);
    for (int64 b = first_item(); b < blocks; b += item_step()) {
        const Words words = philox(args.seed, args.block + (uint64)b, 0, 0);
        typename Of::Word word[Of::MANY];
        typename L::Result made[Of::MANY];
        int64 at[Of::MANY];
        for (int k = 0; k < Of::MANY; k++) {
            word[k] = Of::word(words, k);
            at[k] = b / Of::BLOCKS * GROUP + k * Of::BLOCKS + b % Of::BLOCKS;
        }
        L::make(args, word, at, made);
        for (int k = 0; k < Of::MANY; k++) {
            if (at[k] < args.n) store(args.to + at[k] * size, args.dtype, made[k]);
        }
    }
}

// ---- numbers made of words

// The upper bits as a number in [0, 1).
DEVICE Single unit(uint word) { return Single((float)(int)(word >> 8)) * (1.0f / 16777216.0f); }
DEVICE Double unit(uint64 word) { return Double(double_of(ONE_64 | word >> 12)) - double_of(ONE_64 - (word >> 11 & 1)); }

template <class V> struct Pair {
    Plain<V> a;
    Plain<V> b;
};

// Sine and cosine within pi / 4 of 0.
DEVICE Pair<float> sin_cos(Single x) {
    const float s[3] = {-1.6666655e-1f, 8.332189e-3f, -1.9518286e-4f}, c[3] = {-4.9999884e-1f, 4.1655723e-2f, -1.3591202e-3f};
    const Single z = x * x;
    return {x + x * (z * polynomial(z, s)), 1.0f + z * polynomial(z, c)};
}

DEVICE Pair<double> sin_cos(Double x) {
    const double s[6] = {-1.666666666666663e-1, 8.333333333321872e-3, -1.9841269829408396e-4,
                         2.7557313563277907e-6, -2.5050739271496082e-8, 1.5895766795423138e-10};
    const double c[6] = {-4.999999999999941e-1, 4.166666666648731e-2, -1.3888888870550466e-3,
                         2.4801578635476382e-5, -2.755524027786441e-7, 2.0630514342422446e-9};
    const Double z = x * x;
    return {x + x * (z * polynomial(z, s)), 1.0 + z * polynomial(z, c)};
}

const float QUARTER_32 = 0.785398163397448309615660845819875721f;
const double HALF_PI_64 = 1.57079632679489661923132169163975144;

// Two independent standard normal values: a random radius times a random point of the unit circle.
DEVICE Pair<float> normals(uint radius, uint angle) {
    Single r = root(minus_two_log(radius));
    // 30 bits give an angle within pi / 4 of an axis; the other two bits choose the quarter.
    const Pair<float> p = sin_cos(Single((float)(int)(angle << 2)) * (QUARTER_32 / 2147483648.0f));
    const bool swapped = (int)angle < 0;
    r = float_of(bits_of(r.v) ^ (angle << 1 & 0x80000000u));
    return {r * (swapped ? p.a : p.b), r * (swapped ? p.b : p.a)};
}

DEVICE Pair<double> normals(uint64 radius, uint64 angle) {
    Double r = root(minus_two_log(radius));
    const Pair<double> p = sin_cos((Double(double_of(angle >> 12 | ONE_64)) - 1.5) * HALF_PI_64);
    const bool swapped = (angle & 1) == 0;
    r = double_of(bits_of(r.v) ^ (angle << 62 & 0x8000000000000000ull));
    return {r * (swapped ? p.a : p.b), r * (swapped ? p.b : p.a)};
}

// The tangent of a uniform angle. One bit chooses whether the angle is within pi / 4 of the axis.
DEVICE Single tangent(uint word) {
    const Pair<float> p = sin_cos(Single((float)(int)(word << 1 | 1)) * (QUARTER_32 / 2147483648.0f));
    return (int)word < 0 ? p.b / p.a : p.a / p.b;
}

DEVICE Double tangent(uint64 word) {
    const Pair<double> p = sin_cos((Double(double_of(word >> 12 | 1 | ONE_64)) - 1.5) * HALF_PI_64);
    return (word & 1) == 0 ? p.a / p.b : p.b / p.a;
}

// ---- distributions

// Parameter k of a distribution in type V.
template <class V> DEVICE Plain<V> given(const DrawArgs& args, int k) { return (V)args.numbers[k]; }

// Uniform. The parameters are the lower end, the length of the range, a factor, the upper end, and the replacement for numbers that are not
// below it.
template <class V> struct UniformLaw {
    typedef typename Made<V>::type Of;
    typedef Float<V> Result;
    static DEVICE Result one(const DrawArgs& args, typename Of::Word word, int64) {
        const Plain<V> x = (given<V>(args, 0) + unit(word) * given<V>(args, 1)) * given<V>(args, 2);
        return (x < given<V>(args, 3) ? x : given<V>(args, 4)).v;
    }
};
template <class V> using Uniform = OneByOne<UniformLaw<V>>;

// Exponential: numbers are half the mean, and the smallest number drawn.
template <class V> struct ExponentialLaw {
    typedef typename Made<V>::type Of;
    typedef Float<V> Result;
    static DEVICE Result one(const DrawArgs& args, typename Of::Word word, int64) {
        return at_least(exponential_of(word) * given<V>(args, 0), given<V>(args, 1)).v;
    }
};
template <class V> using Exponential = OneByOne<ExponentialLaw<V>>;

// Cauchy. The parameters are the median and half the distance between the quartiles.
template <class V> struct CauchyLaw {
    typedef typename Made<V>::type Of;
    typedef Float<V> Result;
    static DEVICE Result one(const DrawArgs& args, typename Of::Word word, int64) {
        return (given<V>(args, 0) + given<V>(args, 1) * tangent(word)).v;
    }
};
template <class V> using Cauchy = OneByOne<CauchyLaw<V>>;

// Normal. The parameters are mean and standard deviation. Elements at a distance of half a group are a pair.
template <class V> struct Normal {
    typedef typename Made<V>::type Of;
    typedef Float<V> Result;
    static DEVICE Result finished(const DrawArgs&, Plain<V> x) { return x.v; }
    template <class Self = Normal>
    static DEVICE void make(const DrawArgs& args, const typename Of::Word (&words)[Of::MANY], const int64 (&)[Of::MANY],
                            Result (&made)[Of::MANY]) {
        const Plain<V> mean = given<V>(args, 0), std = given<V>(args, 1);
        const int half = Of::MANY / 2;
        for (int k = 0; k < half; k++) {
            const Pair<V> pair = normals(words[k], words[k + half]);
            made[k] = Self::finished(args, mean + std * pair.a);
            made[k + half] = Self::finished(args, mean + std * pair.b);
        }
    }
};

// Exponentials of normal numbers: the third number is the smallest number drawn.
template <class V> struct LogNormal : Normal<V> {
    typedef typename Made<V>::type Of;
    typedef Float<V> Result;
    static DEVICE Result finished(const DrawArgs& args, Plain<V> x) { return at_least(exponential(x), given<V>(args, 2)).v; }
    static DEVICE void make(const DrawArgs& args, const typename Of::Word (&words)[Of::MANY], const int64 (&at)[Of::MANY],
                            Result (&made)[Of::MANY]) {
        Normal<V>::template make<LogNormal>(args, words, at, made);
    }
};

// Geometric. The parameter is half the factor of the logarithm.
struct GeometricLaw {
    typedef OfDoubleWord Of;
    typedef f64 Result;
    static DEVICE Result one(const DrawArgs& args, uint64 word, int64) {
        return (rounded_down(minus_two_log(word) * given<double>(args, 0)) + 1.0).v;
    }
};
typedef OneByOne<GeometricLaw> Geometric;

// Bernoulli: true for `span` of the 2^32 words.
struct ChanceLaw {
    typedef OfWord Of;
    typedef Bool Result;
    static DEVICE Result one(const DrawArgs& args, uint word, int64) { return word < args.span; }
};
typedef OneByOne<ChanceLaw> Chance;

// Bernoulli with a probability for each element.
struct ChanceEachLaw {
    typedef OfDoubleWord Of;
    typedef f64 Result;
    static DEVICE Result one(const DrawArgs& args, uint64 word, int64 i) {
        return unit(word).v < ((const double*)args.lists[0])[i] ? 1.0 : 0.0;
    }
};
typedef OneByOne<ChanceEachLaw> ChanceEach;

// Uniform over `span` integers from `from` on; `span` is below 2^32.
struct RangeLaw {
    typedef OfWord Of;
    typedef i64 Result;
    static DEVICE Result one(const DrawArgs& args, uint word, int64) { return (int64)((uint64)args.from + (word * args.span >> 32)); }
};
typedef OneByOne<RangeLaw> Range;

// Uniform over any number of integers, from two words.
struct LongRangeLaw {
    typedef OfDoubleWord Of;
    typedef i64 Result;
    static DEVICE Result one(const DrawArgs& args, uint64 word, int64) { return (int64)((uint64)args.from + upper_half(word, args.span)); }
};
typedef OneByOne<LongRangeLaw> LongRange;

// Categories by alias tables: a category is drawn uniformly from `span`, and kept with its probability or replaced by the other one.
struct AliasLaw {
    typedef OfDoubleWord Of;
    typedef i64 Result;
    static DEVICE Result one(const DrawArgs& args, uint64 word, int64) {
        const uint64 k = upper_half(word, args.span);
        return left_of(word, args.span) < ((const double*)args.lists[1])[k] ? (int64)k : ((const int64*)args.lists[0])[k];
    }
};
typedef OneByOne<AliasLaw> Alias;

// Categories by the running sums of `span` probabilities. The parameter is the last sum; `from` is the last category with a positive
// probability.
struct SumsLaw {
    typedef OfDoubleWord Of;
    typedef i64 Result;
    static DEVICE Result one(const DrawArgs& args, uint64 word, int64) {
        const double* sums = (const double*)args.lists[0];
        const double wanted = left_of(word, 1) * args.numbers[0];
        // Searches the first sum above.
        int64 low = 0, high = (int64)args.span;
        while (low < high) {
            const int64 middle = low + (high - low) / 2;
            if (sums[middle] <= wanted) low = middle + 1;
            else high = middle;
        }
        return low < args.from ? low : args.from;
    }
};
typedef OneByOne<SumsLaw> Sums;
