// LU with partial pivoting, Cholesky factors, and triangular systems. The host divides matrices into panels and updates the rest by
// products.

struct Pivot {
    double size;
    int64 row;
};

DEVICE Pivot larger(Pivot a, Pivot b) { return a.size > b.size || (a.size == b.size && a.row < b.row) ? a : b; }

// Eliminates the columns of a panel, one after the other, and stores the pivots as row numbers from 1. A column of zeros is unchanged.
template <class V> __device__ void lu_panel(const DecomposeArgs& args) {
    __shared__ Pivot shared[WARPS];
    int64 m = args.m, step = args.a.step, end = args.from + args.width;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    each_matrix(args, [&](int64 index) {
        V* a = matrix<V>(args.a, index);
        for (int64 k = args.from; k < end; k++) {
            V* column = a + k * step;
            Pivot best = {-1, k};
            for (int64 i = k + threadIdx.x; i < m; i += BLOCK) {
                double size = libm::abs((double)column[i]);
                // A NaN is the pivot only if it is in the first row.
                if (size != size) size = i == k ? Special<double>::infinity() : -1;
                best = larger(best, {size, i});
            }
            best = block_reduce(best, [](Pivot a, Pivot b) { return larger(a, b); }, Pivot{-2, k}, shared);
            V pivot = column[best.row];
            if (threadIdx.x == 0) args.integers[index * args.integer_step + k] = (int)best.row + 1;
            __syncthreads();
            for (int64 j = args.from + threadIdx.x; j < end && best.row != k; j += BLOCK) {
                V kept = a[k + j * step];
                a[k + j * step] = a[best.row + j * step];
                a[best.row + j * step] = kept;
            }
            __syncthreads();
            if (pivot != 0) {
                // The inverse of a subnormal pivot may overflow.
                bool divided = libm::abs(pivot) < Limits<V>::least();
                V inverse = 1 / pivot;
                for (int64 i = k + 1 + threadIdx.x; i < m; i += BLOCK) column[i] = divided ? column[i] / pivot : column[i] * inverse;
            }
            __syncthreads();
            for (int64 j = k + 1 + warp; j < end; j += WARPS) {
                V* other = a + j * step;
                V factor = other[k];
                if (factor == 0) continue;
                for (int64 i = k + 1 + lane; i < m; i += 32) other[i] -= factor * column[i];
            }
            __syncthreads();
        }
    });
}

// Exchanges rows by the pivots of a panel in the `n` columns of `b`, one thread for each column. If `k` > 0, columns from `from` on are
// shifted by `k`, to skip the panel's own columns, which are exchanged already.
template <class V> __device__ void exchange_rows(const DecomposeArgs& args) {
    each_line<1>(args, args.n, [&](int64 index, int64 column) {
        if (args.k > 0 && column >= args.from) column += args.k;
        V* b = matrix<V>(args.b, index) + column * args.b.step;
        const int* pivots = args.integers + index * args.integer_step;
        for (int64 i = args.from; i < args.from + args.width; i++) {
            int64 row = pivots[i] - 1;
            if (row == i) continue;
            V kept = b[i];
            b[i] = b[row];
            b[row] = kept;
        }
    });
}

// Applies the row exchanges of the pivots to row numbers, and writes the original number of each row to the `integers` after the first
// `from`.
template <class V> __device__ void order_rows(const DecomposeArgs& args) {
    each_line<1>(args, 1, [&](int64 index, int64) {
        int* pivots = args.integers + index * args.integer_step;
        int* rows = pivots + args.from;
        for (int64 i = 0; i < args.m; i++) rows[i] = (int)i;
        for (int64 i = 0; i < args.from; i++) {
            int64 row = pivots[i] - 1;
            int kept = rows[i];
            rows[i] = rows[row];
            rows[row] = kept;
        }
    });
}

// Solves with the panel's diagonal triangle of `a`, for the panel's rows of the `k` columns of `b`: one warp for each column, one thread
// for each row.
template <class V> __device__ void solve_panel(const DecomposeArgs& args) {
    int lane = threadIdx.x % 32, width = (int)args.width;
    bool upper = (args.upper != 0) != (args.transposed != 0);
    each_line<32>(args, args.k, [&](int64 index, int64 column) {
        const V* a = matrix<V>(args.a, index) + args.from * (args.a.step + 1);
        V* b = matrix<V>(args.b, index) + args.from + column * args.b.step;
        bool has = lane < width;
        V x = has ? b[lane] : (V)0;
        for (int number = 0; number < width; number++) {
            int i = upper ? width - 1 - number : number;
            V solved = __shfl_sync(0xffffffffu, x, i);
            if (!args.unit) solved /= a[i + i * args.a.step];
            int64 factor = args.transposed ? i + lane * args.a.step : lane + i * args.a.step;
            if (lane == i) x = solved;
            else if (has && (upper ? lane < i : lane > i)) x -= solved * a[factor];
        }
        if (has) b[lane] = x;
    });
}

// Computes the Cholesky factor of a panel. The info is the order of the leading minor that is not positive. Matrices that have one already
// are skipped.
template <class V> __device__ void cholesky_panel(const DecomposeArgs& args) {
    int64 n = args.n, step = args.a.step, end = args.from + args.width;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    each_matrix(args, [&](int64 index) {
        V* a = matrix<V>(args.a, index);
        if (args.from == 0 && threadIdx.x == 0) args.infos[index] = 0;
        if (args.from > 0 && args.infos[index] != 0) return;
        for (int64 k = args.from; k < end; k++) {
            V* column = a + k * step;
            V pivot = column[k];
            __syncthreads();
            if (!(pivot > 0)) {
                if (threadIdx.x == 0) args.infos[index] = (int)k + 1;
                return;
            }
            V side = libm::sqrt(pivot);
            for (int64 i = k + threadIdx.x; i < n; i += BLOCK) column[i] = i == k ? side : column[i] / side;
            __syncthreads();
            for (int64 j = k + 1 + warp; j < end; j += WARPS) {
                V* other = a + j * step;
                V factor = column[j];
                for (int64 i = j + lane; i < n; i += 32) other[i] -= factor * column[i];
            }
            __syncthreads();
        }
    });
}

// Computes the Cholesky factor with complete pivoting, `P' A P = L L'`, from the lower triangle. The rank follows the n pivots.
template <class V> __device__ void pivoted_cholesky(const DecomposeArgs& args) {
    __shared__ Pivot shared[WARPS];
    int64 n = args.n, step = args.a.step;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    each_matrix(args, [&](int64 index) {
        V* a = matrix<V>(args.a, index);
        int* pivots = args.integers + index * args.integer_step;
        auto larger_of = [](Pivot a, Pivot b) { return larger(a, b); };
        // A diagonal element that is negative or NaN counts as infinite.
        Pivot best = {0, 0};
        for (int64 i = threadIdx.x; i < n; i += BLOCK) {
            double x = (double)a[i + i * step];
            best = larger(best, {x >= 0 ? x : Special<double>::infinity(), i});
            pivots[i] = (int)i + 1;
        }
        best = block_reduce(best, larger_of, Pivot{0, n}, shared);
        bool failed = best.size == Special<double>::infinity();
        // If the inverse or the square of the greatest pivot is not a normal number, the matrix is scaled by an even power of 2.
        int half = failed ? 0 : scaling_exponent<V>(best.size, SQUARES) / 2;
        for (int64 j = warp; j < n && half != 0; j += WARPS) {
            for (int64 i = j + lane; i < n; i += 32) a[i + j * step] = rescaled(a[i + j * step], 2 * half);
        }
        __syncthreads();
        double most = rescaled(best.size, 2 * half), least = (double)Limits<V>::epsilon() * (double)n * most;
        double given = rescaled(args.number > 0 ? args.number : 0, 2 * half);
        int64 rank = 0;
        for (; rank < n && !failed; rank++) {
            best = {-1, n};
            for (int64 i = rank + threadIdx.x; i < n; i += BLOCK) {
                double x = (double)a[i + i * step];
                best = larger(best, {x == x ? x : Special<double>::infinity(), i});
            }
            best = block_reduce(best, larger_of, Pivot{-1, n}, shared);
            failed = best.size == Special<double>::infinity();
            if (failed || best.size <= 0 || best.size <= given || best.size < least) break;
            int64 k = rank, p = best.row;
            // Exchanges rows and columns k and p in the lower triangle of the rest.
            if (p != k) {
                for (int64 i = threadIdx.x; i < n; i += BLOCK) {
                    if (i == p) continue;
                    V* one = i < k ? a + k + i * step : a + i + k * step;
                    V* other = i < k || (i > k && i < p) ? a + p + i * step : a + (i == k ? p : i) + p * step;
                    V kept = *one;
                    *one = *other;
                    *other = kept;
                }
                if (threadIdx.x == 0) {
                    int kept = pivots[k];
                    pivots[k] = pivots[p];
                    pivots[p] = kept;
                }
            }
            __syncthreads();
            V* column = a + k * step;
            V side = libm::sqrt(column[k]);
            __syncthreads();
            for (int64 i = k + threadIdx.x; i < n; i += BLOCK) column[i] = i == k ? side : column[i] / side;
            __syncthreads();
            for (int64 j = k + 1 + warp; j < n; j += WARPS) {
                V* rest = a + j * step;
                V factor = column[j];
                for (int64 i = j + lane; i < n; i += 32) rest[i] -= factor * column[i];
            }
            __syncthreads();
        }
        for (int64 j = warp; j < n; j += WARPS) {
            for (int64 i = lane; i < n; i += 32) {
                V& x = a[i + j * step];
                x = i < j || j >= rank ? (V)0 : rescaled(x, -half);
            }
        }
        if (threadIdx.x == 0) {
            pivots[n] = failed ? 0 : (int)rank;
            args.infos[index] = failed ? 1 : 0;
        }
    });
}

DEVICE double fraction_of(double x, int64& exponent) {
    if (x == 0 || !(libm::abs(x) < Special<double>::infinity())) return x;
    int own = exponent_of(x);
    exponent += own;
    return rescaled(x, -own);
}

enum Determinant { VALUE, SIGN_AND_LOGARITHM, LOGARITHM };

// Computes a determinant as two numbers in `b`, from packed factors. `exponents` are the exponents of the powers of 2 that scaled the
// matrices.
template <class V> __device__ void determinant(const DecomposeArgs& args) {
    each_line<1>(args, 1, [&](int64 index, int64) {
        const V* a = matrix<V>(args.a, index);
        double* numbers = matrix<double>(args.b, index);
        const int* pivots = args.integers + index * args.integer_step;
        bool odd = false;
        for (int64 i = 0; i < args.n; i++) odd ^= pivots[i] != i + 1;
        double sign = odd ? -1 : 1;
        int64 power = -args.n * (int64)args.exponents[index * args.exponent_step];
        if (args.mode == VALUE) {
            // Exponents are summed separately, so that a product of large and small elements does not overflow or underflow on the way.
            double product = sign;
            for (int64 i = 0; i < args.n; i++) {
                product = fraction_of(product, power);
                product *= fraction_of((double)a[i + i * args.a.step], power);
            }
            product = fraction_of(product, power);
            int exponent = (int)(power > 1200 ? 1200 : power < -1200 ? -1200 : power);
            int first = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
            numbers[0] = product * power_of_two(first) * power_of_two(exponent - first);
            numbers[1] = 0;
            return;
        }
        double sum = (double)power * 0.69314718055994530942;
        for (int64 i = 0; i < args.n; i++) {
            double x = (double)a[i + i * args.a.step];
            sign = sign == 0 || x == 0 ? 0 : x != x ? x : sign * libm::copysign(1.0, x);
            sum += log(libm::abs(x));
        }
        bool negative = args.mode == LOGARITHM && sign < 0;
        numbers[0] = args.mode != LOGARITHM ? sign : negative ? Special<double>::nan() : sum;
        numbers[1] = args.mode != LOGARITHM ? sum : 0;
    });
}
