// Distributions that need an unknown number of random words for each element: the host's rejection methods. Each element has separate
// words.

struct EachArgs {
    byte* to;
    int64 n;
    uint64 seed;
    // The block of the first element.
    uint64 block;
    // The parameters of the distribution, or lists of a parameter for each element.
    double numbers[4];
    const double* lists[2];
    int dtype;
    int unused;
};

const double PI = 3.14159265358979323846264338327950288;

// The words of an element.
struct Source {
    uint64 seed;
    uint64 block;
    uint part;
    uint64 words[2];
    int next;

    DEVICE Source(uint64 seed, uint64 block) : seed(seed), block(block), part(0), next(2) {}

    DEVICE uint64 bits() {
        if (next == 2) {
            const Words w = philox(seed, block, part, 1);
            words[0] = joined(w.w[0], w.w[1]);
            words[1] = joined(w.w[2], w.w[3]);
            part++;
            next = 0;
        }
        next++;
        return next == 1 ? words[0] : words[1];
    }

    // Uniform in (0, 1), from 52 bits.
    DEVICE Double open() { return (Double((double)(bits() >> 12)) + 0.5) * (1.0 / 4503599627370496.0); }
};

// Parameter k of element i.
DEVICE Double given(const EachArgs& args, int k, int64 i) { return args.lists[k] != 0 ? args.lists[k][i] : args.numbers[k]; }

DEVICE Double limited(Double x, Double low, Double high) { return x < low ? low : x > high ? high : x; }

// Fills a place.
template <class Law> DEVICE void draw_each(const EachArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        Source source(args.seed, args.block + (uint64)i);
        store<f64>(args.to + i * size_of(args.dtype), args.dtype, Law::one(args, i, source).v);
    }
}

// Standard normal, by the polar method.
DEVICE Double normal(Source& source) {
    while (true) {
        const Double x = 2.0 * source.open() - 1.0, y = 2.0 * source.open() - 1.0;
        const Double square = x * x + y * y;
        if (square < 1.0 && square > 0.0) return x * root(-2.0 * logarithm(square) / square);
    }
}

// The gamma distribution with scale 1.
struct GammaLaw {
    // `shape - 1/3`, or `shape + 2/3` if shape is below 1.
    Double d;
    // The exponent of the uniform number that multiplies the result if shape is below 1.
    Double boost;

    DEVICE GammaLaw(Double shape) {
        // For smaller shapes the logarithms of results would overflow.
        shape = shape > 1e-300 ? shape : Double(1e-300);
        boost = shape < 1.0 ? 1.0 / shape : Double(0.0);
        d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
    }

    DEVICE Double large(Source& source) const {
        const Double c = 1.0 / root(9.0 * d);
        while (true) {
            const Double x = normal(source);
            Double v = 1.0 + c * x;
            if (v <= 0.0) continue;
            v = v * v * v;
            const Double u = source.open();
            if (u < 1.0 - 0.0331 * (x * x) * (x * x) || logarithm(u) < 0.5 * x * x + d * (1.0 - v + logarithm(v))) return d * v;
        }
    }

    // The logarithm of a gamma number, because the number itself may underflow.
    DEVICE Double log(Source& source) const {
        const Double found = logarithm(large(source));
        return boost == 0.0 ? found : found + logarithm(source.open()) * boost;
    }

    DEVICE Double draw(Source& source) const { return boost == 0.0 ? large(source) : exponential(log(source)); }
};

// Gamma: numbers are shape, scale, and the smallest number drawn.
struct Gamma {
    static DEVICE Double one(const EachArgs& args, int64 i, Source& source) {
        const Double x = given(args, 1, i) * GammaLaw(given(args, 0, i)).draw(source);
        return x < args.numbers[2] ? Double(args.numbers[2]) : x;
    }
};

// Beta: numbers are both shapes, and the smallest and the greatest number drawn. The result is the share of the first of two gamma numbers in
// their sum. It is computed from logarithms, because both numbers may underflow.
struct Beta {
    static DEVICE Double one(const EachArgs& args, int64 i, Source& source) {
        const Double x = GammaLaw(given(args, 0, i)).log(source);
        const Double y = GammaLaw(given(args, 1, i)).log(source);
        return limited(1.0 / (1.0 + exponential(y - x)), args.numbers[2], args.numbers[3]);
    }
};

// The error of Stirling's formula: `log(k!) = log(sqrt(2 pi)) + (k + 1/2) log(k + 1) - (k + 1) + stirling(k)`.
DEVICE Double stirling(Double k) {
    const double first[10] = {0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509, 0.01664469118982119,
                              0.01387612882307075, 0.01189670994589177, 0.01041126526197209, 0.009255462182712733, 0.00833056343336287};
    if (k < 10.0) {
        Double found = first[0];
        for (int i = 1; i < 10; i++) found = k == (double)i ? Double(first[i]) : found;
        return found;
    }
    const Double next = k + 1.0, square = next * next;
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / next;
}

// `x ln(x / mean) + mean - x`, with full relative accuracy even if x is close to the mean.
DEVICE Double deviance(Double x, Double mean) {
    const Double off = (x - mean) / mean;
    if (magnitude(off) < 0.05) {
        // 1 / (n (n - 1)) with alternating signs.
        const double c[10] = {1.0 / 2.0, -1.0 / 6.0, 1.0 / 12.0, -1.0 / 20.0, 1.0 / 30.0, -1.0 / 42.0, 1.0 / 56.0, -1.0 / 72.0,
                              1.0 / 90.0, -1.0 / 110.0};
        return mean * off * off * polynomial(off, c);
    }
    return x * logarithm(x / mean) + mean - x;
}

// Poisson. The parameter is the rate.
struct Poisson {
    static DEVICE Double one(const EachArgs& args, int64 i, Source& source) {
        const Double rate = given(args, 0, i);
        return rate < 10.0 ? by_search(rate, source) : by_rejection(rate, source);
    }

    // The least k whose cumulative probability reaches a uniform number.
    static DEVICE Double by_search(Double rate, Source& source) {
        Double probability = exponential(-rate), left = source.open() - probability;
        int k = 0;
        // Stops at the resolution of 53 bits, because probabilities below 1e-18 change nothing.
        while (left > 0.0 && (probability > 1e-18 || (double)k < rate)) {
            probability = probability * (rate * (1.0 / (double)((k & 63) + 1)));
            left = left - probability;
            k++;
        }
        return (double)k;
    }

    static DEVICE Double by_rejection(Double rate, Source& source) {
        const Double known = logarithm(rate);
        const Double b = 0.931 + 2.53 * root(rate), a = -0.059 + 0.02483 * b;
        const Double scale = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2.0);
        while (true) {
            const Double u = source.open() - 0.5, v = source.open();
            const Double us = 0.5 - magnitude(u);
            const Double k = rounded_down((2.0 * a / us + b) * u + rate + 0.43);
            if (us >= 0.07 && v <= most) return k;
            if (k < 0.0 || (us < 0.013 && v > us)) continue;
            const Double probability = 0.5 * logarithm((k + 1.0) / (2.0 * PI)) - deviance(k + 1.0, rate) - known - stirling(k);
            if (logarithm(v * scale / (a / (us * us) + b)) <= probability) return k;
        }
    }
};

// Binomial. The parameters are the number of trials and the probability of success.
struct Binomial {
    Double n;
    // The smaller one of the probabilities of success and of failure.
    Double p;

    static DEVICE Double one(const EachArgs& args, int64 i, Source& source) {
        const Double n = given(args, 0, i), p = given(args, 1, i), failure = 1.0 - p;
        const Binomial law = {n, p < failure ? p : failure};
        const Double k = law.p == 0.0 ? Double(0.0) : law.n * law.p < 10.0 ? law.by_waiting(source) : law.by_rejection(source);
        return p > 0.5 ? n - k : k;
    }

    // The number of successes, by drawing the distance from one to the next.
    DEVICE Double by_waiting(Source& source) const {
        // log(1 - p), also for p that are too small to change 1.
        const Double failure = p < 1e-5 ? -p * (1.0 + 0.5 * p) : logarithm(1.0 - p);
        Double trials = 0.0, k = 0.0;
        while (true) {
            trials = trials + (rounded_down(logarithm(source.open()) / failure) + 1.0);
            if (trials > n) return k;
            k = k + 1.0;
        }
    }

    // The logarithm of the probability of k, up to a constant.
    DEVICE Double weight(Double k) const {
        const Double successes = k + 1.0, failures = n - k + 1.0, all = n + 2.0;
        return 0.5 * logarithm(successes * failures) - deviance(successes, all * p) - deviance(failures, all * (1.0 - p)) - stirling(k) -
               stirling(n - k);
    }

    DEVICE Double by_rejection(Source& source) const {
        const Double spread = root(n * p * (1.0 - p));
        const Double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
        const Double scale = (2.83 + 5.1 / b) * spread, most = 0.92 - 4.2 / b;
        const Double of_mode = weight(rounded_down((n + 1.0) * p));
        while (true) {
            const Double u = source.open() - 0.5, v = source.open();
            const Double us = 0.5 - magnitude(u);
            const Double k = rounded_down((2.0 * a / us + b) * u + n * p + 0.5);
            if (us >= 0.07 && v <= most) return k;
            if (k < 0.0 || k > n) continue;
            if (logarithm(v * scale / (a / (us * us) + b)) <= weight(k) - of_mode) return k;
        }
    }
};

// Truncated normal. The parameters are mean, standard deviation and the bounds.
struct Truncated {
    // The bounds of a standard normal number. The interval is mirrored if it is below the mean.
    Double from;
    Double to;

    static DEVICE Double one(const EachArgs& args, int64, Source& source) {
        const Double mean = args.numbers[0], std = args.numbers[1], from = args.numbers[2], to = args.numbers[3];
        const Double low = (from - mean) / std, high = (to - mean) / std;
        // At this distance from the mean, the result is almost surely the nearer bound, whose square would overflow.
        if (low > 1e150) return from;
        if (high < -1e150) return to;
        const bool mirrored = high < 0.0;
        const Truncated law = mirrored ? Truncated{-high, -low} : Truncated{low, high};
        const Double x = limited(law.drawn(source), law.from, law.to);
        return limited(mean + std * (mirrored ? -x : x), from, to);
    }

    DEVICE Double drawn(Source& source) const {
        // The interval contains a large part of the distribution.
        if (from <= 0.0 && to - from > root(Double(2.0 * PI))) {
            while (true) {
                const Double x = normal(source);
                if (x >= from && x <= to) return x;
            }
        }
        // The mode within the interval, and the slope of an exponential that bounds the density from there on.
        const Double peak = from > 0.0 ? from : Double(0.0);
        const Double steep = 0.5 * (peak + root(peak * peak + 4.0));
        if (from > 0.0 && (to - from) * steep > 1.0) {
            while (true) {
                const Double x = from - logarithm(source.open()) / steep;
                if (x <= to && logarithm(source.open()) <= -0.5 * (x - steep) * (x - steep)) return x;
            }
        }
        while (true) {
            const Double x = from + (to - from) * source.open();
            if (logarithm(source.open()) <= 0.5 * (peak - x) * (peak + x)) return x;
        }
    }
};
