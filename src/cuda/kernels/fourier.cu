// Fourier transforms of lines. A line is transformed in shared memory, with a pass for each factor of its length (Stockham's algorithm: C.
// Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992). The host splits long signals into lines of several levels, and
// computes lengths with large prime factors as convolutions (L. I. Bluestein, 1970).

// The shared memory: two buffers of complex numbers, and the lines of a block.
template <class T> struct Held;
template <> struct Held<f32> { static constexpr int NUMBERS = 2048; };
template <> struct Held<f64> { static constexpr int NUMBERS = 1024; };
const int MOST_LINES = 128;
const int MOST_DIMS = 6;
const int MOST_PASSES = 12;

// The numbers on one side of a transform.
enum Kind { COMPLEX, REAL, HALF };

// The elements of all lines on one side. Positions of a signal are `stride` numbers apart; a number is a float if the side is real.
struct Side {
    void* data;
    int64 stride;
    // The distance between lines in each dimension of lines, in numbers, without the part of `position`.
    int64 base[MOST_DIMS];
    // The distances between lines, and between elements of a line, in positions.
    int64 position[MOST_DIMS];
    int64 step;
    int kind;
    int reserved;
};

// A pass for one factor of a line's length. `span` is the product of the earlier factors.
struct Pass {
    Divider by_count, by_span;
    int factor;
    int span;
};

struct FourierArgs {
    Side from, to;
    // The number of lines, in total and in each dimension, fastest first.
    int64 lines;
    int64 counts[MOST_DIMS];
    // The number of positions of a whole signal.
    int64 signal;
    // If it is not 0, results are multiplied by the roots of unity of this order, by position times index. The position is the index in
    // dimension `twiddled` of the lines.
    int64 order;
    // The n-th roots of unity for a line.
    const void* roots;
    double factor;
    Pass passes[MOST_PASSES];
    // The number of elements of a line, of lines of a block, and of passes.
    int n, together, count, twiddled;
    // 1 for exponents with +i, -1 for -i.
    int sign;
    int reserved;
};

template <class V> struct Complex {
    V re, im;
};

template <class V> DEVICE Complex<V> operator+(Complex<V> a, Complex<V> b) { return {a.re + b.re, a.im + b.im}; }
template <class V> DEVICE Complex<V> operator-(Complex<V> a, Complex<V> b) { return {a.re - b.re, a.im - b.im}; }
template <class V> DEVICE Complex<V> operator*(Complex<V> a, Complex<V> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class V> DEVICE Complex<V> operator*(V a, Complex<V> b) { return {a * b.re, a * b.im}; }
// `sign i x`
template <class V> DEVICE Complex<V> turned(Complex<V> x, V sign) { return {-sign * x.im, sign * x.re}; }

// e^(2 pi i x / n) for 0 <= x < n, from the angle's distance to the nearest multiple of a quarter turn, which is exact.
DEVICE Complex<double> root_of_unity(int64 x, int64 n) {
    int64 octant = 8 * x / n, rest = 8 * x - octant * n;
    if (octant % 2 == 1) rest = n - rest;
    double t = (double)rest / (double)n * 0.78539816339744830962, square = t * t;
    // Taylor's polynomials up to pi / 4.
    double sine = -1.0 / 355687428096000.0;
    sine = sine * square + 1.0 / 1307674368000.0;
    sine = sine * square - 1.0 / 6227020800.0;
    sine = sine * square + 1.0 / 39916800.0;
    sine = sine * square - 1.0 / 362880.0;
    sine = sine * square + 1.0 / 5040.0;
    sine = sine * square - 1.0 / 120.0;
    sine = sine * square + 1.0 / 6.0;
    sine = t - t * square * sine;
    double cosine = 1.0 / 20922789888000.0;
    cosine = cosine * square - 1.0 / 87178291200.0;
    cosine = cosine * square + 1.0 / 479001600.0;
    cosine = cosine * square - 1.0 / 3628800.0;
    cosine = cosine * square + 1.0 / 40320.0;
    cosine = cosine * square - 1.0 / 720.0;
    cosine = cosine * square + 1.0 / 24.0;
    cosine = 1.0 - square * (0.5 - square * cosine);
    bool exchanged = octant % 4 == 1 || octant % 4 == 2;
    double re = exchanged ? sine : cosine, im = exchanged ? cosine : sine;
    return {octant >= 2 && octant < 6 ? -re : re, octant >= 4 ? -im : im};
}

template <class V> DEVICE Complex<V> root_as(int64 x, int64 n, int sign) {
    Complex<double> root = root_of_unity(x, n);
    return {(V)root.re, (V)(sign * root.im)};
}

// The element at a position of a signal that starts at `data`.
template <class V> DEVICE Complex<V> read_at(const Side& side, int64 base, int64 position, int64 signal) {
    if (side.kind == REAL) return {((const V*)side.data)[base + position * side.stride], (V)0};
    const Complex<V>* data = (const Complex<V>*)side.data;
    if (side.kind == COMPLEX) return data[base + position * side.stride];
    // The second half mirrors the first. Elements that mirror themselves are real.
    bool mirrored = position > signal - position;
    int64 at = mirrored ? signal - position : position;
    Complex<V> x = data[base + at * side.stride];
    if (at == 0 || 2 * at == signal) x.im = 0;
    return {x.re, mirrored ? -x.im : x.im};
}

template <class V> DEVICE void write_at(const Side& side, int64 base, int64 position, int64 signal, Complex<V> x) {
    if (side.kind == REAL) ((V*)side.data)[base + position * side.stride] = x.re;
    else if (side.kind == COMPLEX || 2 * position <= signal) ((Complex<V>*)side.data)[base + position * side.stride] = x;
}

// The address of the first element of a line on one side.
struct Start {
    int64 base, position;
};

DEVICE Start start_of(const FourierArgs& args, const Side& side, int64 line) {
    Start start = {0, 0};
    for (int d = 0; d < MOST_DIMS; d++) {
        int64 rest = line / args.counts[d], index = line - rest * args.counts[d];
        start.base += index * side.base[d];
        start.position += index * side.position[d];
        line = rest;
    }
    return start;
}

DEVICE int64 index_in(const FourierArgs& args, int dim, int64 line) {
    for (int d = 0; d < dim; d++) line /= args.counts[d];
    return line % args.counts[dim];
}

// The transform of R numbers, in place.
template <int R, class V> struct Butterfly;

template <class V> struct Butterfly<2, V> {
    static DEVICE void run(Complex<V>* x, V) {
        Complex<V> sum = x[0] + x[1];
        x[1] = x[0] - x[1];
        x[0] = sum;
    }
};

template <class V> struct Butterfly<3, V> {
    static DEVICE void run(Complex<V>* x, V sign) {
        Complex<V> sum = x[1] + x[2], side = turned(x[1] - x[2], sign * (V)0.86602540378443864676), middle = x[0] - (V)0.5 * sum;
        x[0] = x[0] + sum;
        x[1] = middle + side;
        x[2] = middle - side;
    }
};

template <class V> struct Butterfly<4, V> {
    static DEVICE void run(Complex<V>* x, V sign) {
        Complex<V> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3], sign);
        x[0] = a + c;
        x[1] = b + d;
        x[2] = a - c;
        x[3] = b - d;
    }
};

template <class V> struct Butterfly<5, V> {
    static DEVICE void run(Complex<V>* x, V sign) {
        // Cosines and sines of a fifth and of two fifths of a turn.
        const V c1 = (V)0.30901699437494742410, c2 = (V)-0.80901699437494742410;
        const V s1 = (V)0.95105651629515357212, s2 = (V)0.58778525229247312917;
        Complex<V> a = x[1] + x[4], b = x[2] + x[3], c = x[1] - x[4], d = x[2] - x[3];
        Complex<V> e = x[0] + c1 * a + c2 * b, f = x[0] + c2 * a + c1 * b;
        Complex<V> g = turned(s1 * c + s2 * d, sign), h = turned(s2 * c - s1 * d, sign);
        x[0] = x[0] + a + b;
        x[1] = e + g;
        x[2] = f + h;
        x[3] = f - h;
        x[4] = e - g;
    }
};

template <class V> struct Butterfly<8, V> {
    static DEVICE void run(Complex<V>* x, V sign) {
        const V half = (V)0.70710678118654752440;
        Complex<V> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
        Butterfly<4, V>::run(even, sign);
        Butterfly<4, V>::run(odd, sign);
        odd[1] = half * (odd[1] + turned(odd[1], sign));
        odd[2] = turned(odd[2], sign);
        odd[3] = half * (turned(odd[3], sign) - odd[3]);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            x[k] = even[k] + odd[k];
            x[k + 4] = even[k] - odd[k];
        }
    }
};

// A pass for factor R over the lines of a block.
template <int R, class V>
DEVICE void pass_by(const FourierArgs& args, const Pass& pass, int lines, const Complex<V>* from, Complex<V>* to) {
    int n = args.n, count = n / R, turn = count / pass.span;
    const Complex<V>* roots = (const Complex<V>*)args.roots;
    for (int number = threadIdx.x; number < lines * count; number += BLOCK) {
        int64 i = number;
        int line = (int)divide(i, pass.by_count);
        int64 rest = i;
        int block = (int)divide(rest, pass.by_span), k = (int)rest;
        Complex<V> x[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            x[r] = from[line * n + (int)i + r * count];
            if (r > 0) x[r] = x[r] * roots[r * k * turn];
        }
        Butterfly<R, V>::run(x, (V)args.sign);
#pragma unroll
        for (int r = 0; r < R; r++) to[line * n + block * pass.span * R + k + r * pass.span] = x[r];
    }
}

// A pass for any factor, one thread for each result.
template <class V> DEVICE void pass_by_any(const FourierArgs& args, const Pass& pass, int lines, const Complex<V>* from, Complex<V>* to) {
    int n = args.n, factor = pass.factor, count = n / factor, turn = count / pass.span;
    const Complex<V>* roots = (const Complex<V>*)args.roots;
    for (int number = threadIdx.x; number < lines * n; number += BLOCK) {
        int line = number / n, at = number - line * n, k = at % pass.span, q = at / pass.span % factor;
        int first = line * n + at / (pass.span * factor) * pass.span + k, step = k * turn + q * count, exponent = 0;
        Complex<V> sum = {0, 0};
        for (int r = 0; r < factor; r++) {
            sum = sum + from[first + r * count] * roots[exponent];
            exponent += step;
            if (exponent >= n) exponent -= n;
        }
        to[number] = sum;
    }
}

// Transforms lines; each block processes some.
template <class T> __device__ void transform_lines(const FourierArgs& args) {
    typedef typename T::value_type V;
    __shared__ Complex<V> held[2][Held<T>::NUMBERS];
    __shared__ Start starts[2][MOST_LINES];
    __shared__ int64 turns[MOST_LINES];
    int n = args.n;
    int64 blocks = (args.lines + args.together - 1) / args.together;
    for (int64 block = blockIdx.x; block < blocks; block += gridDim.x) {
        int64 first = block * args.together, left = args.lines - first;
        int lines = left < args.together ? (int)left : args.together;
        if ((int)threadIdx.x < lines) {
            starts[0][threadIdx.x] = start_of(args, args.from, first + threadIdx.x);
            starts[1][threadIdx.x] = start_of(args, args.to, first + threadIdx.x);
            turns[threadIdx.x] = args.order ? index_in(args, args.twiddled, first + threadIdx.x) : 0;
        }
        __syncthreads();
        // Neighbouring threads load elements that are neighbours in memory.
        bool along = args.from.step * args.from.stride == 1;
        for (int number = threadIdx.x; number < lines * n; number += BLOCK) {
            int line = along ? number / n : number % lines, e = along ? number - line * n : number / lines;
            Start start = starts[0][line];
            held[0][line * n + e] = read_at<V>(args.from, start.base, start.position + e * args.from.step, args.signal);
        }
        int now = 0;
        for (int k = 0; k < args.count; k++) {
            const Pass& pass = args.passes[k];
            __syncthreads();
            switch (pass.factor) {
            case 2: pass_by<2>(args, pass, lines, held[now], held[1 - now]); break;
            case 3: pass_by<3>(args, pass, lines, held[now], held[1 - now]); break;
            case 4: pass_by<4>(args, pass, lines, held[now], held[1 - now]); break;
            case 5: pass_by<5>(args, pass, lines, held[now], held[1 - now]); break;
            case 8: pass_by<8>(args, pass, lines, held[now], held[1 - now]); break;
            default: pass_by_any(args, pass, lines, held[now], held[1 - now]);
            }
            now = 1 - now;
        }
        __syncthreads();
        along = args.to.step * args.to.stride == 1;
        for (int number = threadIdx.x; number < lines * n; number += BLOCK) {
            int line = along ? number / n : number % lines, e = along ? number - line * n : number / lines;
            Start start = starts[1][line];
            Complex<V> x = held[now][line * n + e];
            if (args.order) x = x * root_as<V>(turns[line] * e, args.order, args.sign);
            write_at(args.to, start.base, start.position + e * args.to.step, args.signal, (V)args.factor * x);
        }
        __syncthreads();
    }
}

struct RootsArgs {
    void* roots;
    int64 n;
    int sign;
    int reserved;
};

// All n-th roots of unity.
template <class T> __device__ void roots_of_unity(const RootsArgs& args) {
    typedef typename T::value_type V;
    int64 threads = (int64)gridDim.x * BLOCK;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < args.n; i += threads) {
        ((Complex<V>*)args.roots)[i] = root_as<V>(i, args.n, args.sign);
    }
}

// The convolution that computes a transform of any length n. With w(j) = e^(sign pi i j^2 / n), element k is w(k) times the sum over j of
// x(j) w(j) / w(k - j). The factors of the convolution are lines of `size` numbers.
struct ChirpArgs {
    FourierArgs lines;
    void* numbers;
    // The transform of 1 / w.
    void* filter;
    int64 first, count, size;
};

template <class V> DEVICE Complex<V> chirp(const FourierArgs& args, int64 j) {
    int64 order = 2 * args.signal;
    return root_as<V>((int64)((uint64)j * (uint64)j % (uint64)order), order, args.sign);
}

// Writes x(j) w(j), and zeros up to the size, for some lines.
template <class T> __device__ void chirp_from(const ChirpArgs& args) {
    typedef typename T::value_type V;
    int64 count = args.count * args.size, threads = (int64)gridDim.x * BLOCK, n = args.lines.signal;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += threads) {
        int64 line = i / args.size, j = i - line * args.size;
        Complex<V> x = {0, 0};
        if (j < n) {
            Start start = start_of(args.lines, args.lines.from, args.first + line);
            x = read_at<V>(args.lines.from, start.base, j, n) * chirp<V>(args.lines, j);
        }
        ((Complex<V>*)args.numbers)[i] = x;
    }
}

// Writes 1 / w from both ends of a line.
template <class T> __device__ void chirp_filter(const ChirpArgs& args) {
    typedef typename T::value_type V;
    int64 threads = (int64)gridDim.x * BLOCK, n = args.lines.signal;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < args.size; i += threads) {
        int64 j = i < n ? i : args.size - i;
        Complex<V> x = {0, 0};
        if (j < n) {
            x = chirp<V>(args.lines, j);
            x.im = -x.im;
        }
        ((Complex<V>*)args.filter)[i] = x;
    }
}

// Multiplies transformed lines by the transformed filter.
template <class T> __device__ void chirp_product(const ChirpArgs& args) {
    typedef typename T::value_type V;
    int64 count = args.count * args.size, threads = (int64)gridDim.x * BLOCK;
    Complex<V>* numbers = (Complex<V>*)args.numbers;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += threads) {
        numbers[i] = numbers[i] * ((const Complex<V>*)args.filter)[i % args.size];
    }
}

// Writes the elements of the result.
template <class T> __device__ void chirp_to(const ChirpArgs& args) {
    typedef typename T::value_type V;
    int64 n = args.lines.signal, count = args.count * n, threads = (int64)gridDim.x * BLOCK;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += threads) {
        int64 line = i / n, k = i - line * n;
        Start start = start_of(args.lines, args.lines.to, args.first + line);
        Complex<V> x = ((const Complex<V>*)args.numbers)[line * args.size + k] * chirp<V>(args.lines, k);
        write_at(args.lines.to, start.base, k, n, (V)args.lines.factor * x);
    }
}
