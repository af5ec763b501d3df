// Shared code of decompositions: arguments, sums over warps and blocks, and scaling by powers of 2. Matrices are column-major; V is float
// or double. A batch has `count` matrices, and each list has an equal part for each matrix.

// The number of columns that a block eliminates, reflects or solves one by one.
const int PANEL = 32;

// The matrices of a batch in a list: the address, and the distances between matrices and between columns in elements.
struct Matrices {
    void* first;
    int64 size, step;
};

struct DecomposeArgs {
    Matrices a, b, c, d, e;
    // The integers of each matrix, and their number; an exponent of each matrix, at a distance of `exponent_step`; and the infos.
    int* integers;
    int* exponents;
    int* infos;
    int64 integer_step, exponent_step;
    int64 count, m, n, k;
    // The panel: its first row and column, and its width.
    int64 from, width;
    double number;
    int64 side;
    int upper, transposed, unit, mode;
};

template <class V> DEVICE V* matrix(const Matrices& of, int64 index) { return (V*)of.first + index * of.size; }

template <class V> struct Limits;
template <> struct Limits<float> {
    // The least normal number, the distance from 1 to the next number, the greatest element of a matrix that is not scaled, and the
    // greatest exponent of a power of 2 whose inverse is normal.
    static DEVICE float least() { return 1.17549435e-38f; }
    static DEVICE float epsilon() { return 1.1920929e-7f; }
    static DEVICE float large() { return 1e10f; }
    static constexpr int EXPONENT = 126;
};
template <> struct Limits<double> {
    static DEVICE double least() { return 2.2250738585072014e-308; }
    static DEVICE double epsilon() { return 2.2204460492503131e-16; }
    static DEVICE double large() { return 1e75; }
    static constexpr int EXPONENT = 1022;
};

// The threads that share a matrix or a column: a warp or a block. `shared` has WARPS numbers.
template <int THREADS> struct Group {
    static DEVICE int rank() { return threadIdx.x % THREADS; }

    static DEVICE void sync() {
        if (THREADS == 32) __syncwarp();
        else __syncthreads();
    }

    static DEVICE double sum(double x, double* shared) {
        auto add = [](double a, double b) { return a + b; };
        return THREADS == 32 ? warp_reduce(x, add) : block_reduce(x, add, 0.0, shared);
    }

    static DEVICE double most(double x, double* shared) {
        auto greater = [](double a, double b) { return a > b ? a : b; };
        return THREADS == 32 ? warp_reduce(x, greater) : block_reduce(x, greater, 0.0, shared);
    }
};

DEVICE double power_of_two(int exponent) { return double_of((uint64)(1023 + exponent) << 52); }

// The n with 2^n <= |x| < 2^(n + 1), for finite x other than 0.
DEVICE int exponent_of(double x) {
    int bits = (int)(bits_of(x) >> 52 & 0x7ff);
    return bits > 0 ? bits - 1023 : (int)(bits_of(x * power_of_two(64)) >> 52 & 0x7ff) - 1023 - 64;
}

// `x * 2^exponent`. The power may be out of range.
template <class V> DEVICE V rescaled(V x, int exponent) {
    const int most = Limits<V>::EXPONENT;
    while (exponent != 0) {
        int step = exponent > most ? most : exponent < -most ? -most : exponent;
        x *= (V)power_of_two(step);
        exponent -= step;
    }
    return x;
}

// The greatest magnitude; infinity if an element is not finite.
template <class V, int THREADS> DEVICE double extent(const V* x, int64 count, double* shared) {
    double most = 0;
    for (int64 i = Group<THREADS>::rank(); i < count; i += THREADS) {
        double size = libm::abs((double)x[i]);
        most = size <= most ? most : size > most ? size : Special<double>::infinity();
    }
    return Group<THREADS>::most(most, shared);
}

enum Scaling {
    // Used if sums of elements could overflow, or if all elements are so small that digits would be lost.
    HEADROOM,
    // Used if squares of elements could overflow or underflow.
    SQUARES,
    // Always used, so that the greatest element is near 1.
    UNIT,
};

// The exponent of the scaling for a matrix whose greatest element is `most`; 0 if it is not finite.
template <class V> DEVICE int scaling_exponent(double most, int scaling) {
    const int headroom = 16;
    if (most == 0 || most == Special<double>::infinity()) return 0;
    if (scaling == HEADROOM) {
        if (most < (double)Limits<V>::least() / (double)Limits<V>::epsilon()) return -exponent_of(most);
        return exponent_of(most) > Limits<V>::EXPONENT - headroom ? -headroom : 0;
    }
    if (scaling == SQUARES && most < (double)Limits<V>::large() && most > 1 / (double)Limits<V>::large()) return 0;
    return -exponent_of(most);
}

// Scales elements by a power of 2, and returns the exponent.
template <class V, int THREADS> DEVICE int scale_elements(V* x, int64 count, int scaling, double* shared) {
    int exponent = scaling_exponent<V>(extent<V, THREADS>(x, count, shared), scaling);
    if (exponent != 0) {
        for (int64 i = Group<THREADS>::rank(); i < count; i += THREADS) x[i] = rescaled(x[i], exponent);
    }
    Group<THREADS>::sync();
    return exponent;
}

// The Euclidean norm of n elements, without intermediate overflow or underflow.
template <class V, int THREADS> DEVICE double norm_of(const V* x, int64 n, double* shared) {
    double sum = 0;
    for (int64 i = Group<THREADS>::rank(); i < n; i += THREADS) sum += (double)x[i] * (double)x[i];
    sum = Group<THREADS>::sum(sum, shared);
    const double least = Limits<double>::least() / (Limits<double>::epsilon() * Limits<double>::epsilon());
    if (sum > least && sum < Special<double>::infinity()) return sqrt(sum);
    double most = extent<V, THREADS>(x, n, shared);
    if (most == 0 || most == Special<double>::infinity()) return sum != sum ? sum : most;
    int exponent = exponent_of(most);
    sum = 0;
    for (int64 i = Group<THREADS>::rank(); i < n; i += THREADS) {
        double part = rescaled((double)x[i], -exponent);
        sum += part * part;
    }
    return rescaled(sqrt(Group<THREADS>::sum(sum, shared)), exponent);
}

// Calls `f` with the number of each matrix; one block processes a matrix.
template <class F> DEVICE void each_matrix(const DecomposeArgs& args, F f) {
    for (int64 index = blockIdx.x; index < args.count; index += gridDim.x) {
        f(index);
        __syncthreads();
    }
}

// Calls `f` with the matrix and the index of each of `n` columns or rows of all matrices; a warp or a thread processes each.
template <int THREADS, class F> DEVICE void each_line(const DecomposeArgs& args, int64 n, F f) {
    int64 count = args.count * n, step = (int64)gridDim.x * (BLOCK / THREADS);
    for (int64 line = (int64)blockIdx.x * (BLOCK / THREADS) + threadIdx.x / THREADS; line < count; line += step) {
        f(line / n, line % n);
    }
}
