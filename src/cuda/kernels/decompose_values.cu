// Eigenvalues of symmetric matrices and singular values by Jacobi rotations (G. H. Golub and C. F. Van Loan, Matrix Computations, 8.5 and
// 8.6). A round rotates disjoint pairs of columns. A sweep is as many rounds as are needed to rotate each pair once.

const int MOST_SWEEPS = 60;

// The rotation `[c -s; s c]` with the tangent t and c = 1 - lacking. Close to 1, c would round to 1 while s does not round to 0, and
// thousands of rotations would lengthen vectors.
struct Rotation {
    double s, lacking, t;

    // The rotated pair.
    DEVICE double first(double x, double y) const { return x - (s * y + lacking * x); }
    DEVICE double second(double x, double y) const { return y + (s * x - lacking * y); }
};

// The rotation that makes two columns orthogonal, or an off-diagonal element 0. `difference` is half the difference of the columns' squared
// norms, or of the diagonal elements; `common` is the dot product, or the off-diagonal element.
DEVICE Rotation rotation_of(double difference, double common) {
    double ratio = difference / common, size = libm::abs(ratio);
    double t = size < 1e150 ? libm::copysign(1 / (size + sqrt(1 + ratio * ratio)), ratio) : 0.5 / ratio;
    double c = 1 / sqrt(1 + t * t), s = c * t;
    return {s, s * s / (1 + c), t};
}

// Pair `k` of a round among n columns. Each column has another partner in each round. Returns false if it has none, because n is odd.
DEVICE bool pair_of(int64 n, int64 round, int64 k, int64& p, int64& q) {
    int64 even = n + n % 2, turns = even - 1;
    p = k == 0 ? turns : (round + k) % turns;
    q = (round - k + turns) % turns;
    if (p > q) {
        int64 kept = p;
        p = q;
        q = kept;
    }
    return q < n;
}

template <class V> DEVICE void rotate(V* x, V* y, int64 n, const Rotation& by) {
    for (int64 i = threadIdx.x % 32; i < n; i += 32) {
        double a = (double)x[i], b = (double)y[i];
        x[i] = (V)by.first(a, b);
        y[i] = (V)by.second(a, b);
    }
}

// Calls `f` with each of n values and its rank, in descending or ascending order, on the threads of a warp.
template <class V, class F> DEVICE void each_in_order(const V* values, int64 n, bool descending, F f) {
    for (int64 j = threadIdx.x / 32; j < n; j += WARPS) {
        int64 before = 0;
        for (int64 i = threadIdx.x % 32; i < n; i += 32) {
            bool first = descending ? values[i] > values[j] : values[i] < values[j];
            before += first || (values[i] == values[j] && i < j);
        }
        before = warp_reduce(before, [](int64 a, int64 b) { return a + b; });
        f(j, before);
    }
}

// Calls `f` with the number of each pair of columns, or of each column; each warp of a block processes some.
template <class F> DEVICE void each_by_warp(int64 n, F f) {
    for (int64 k = threadIdx.x / 32; k < n; k += WARPS) f(k);
}

// The rotation of a pair, and the resulting diagonal elements.
struct Turn {
    Rotation by;
    double p, q;
};

// Eigenvalues. `a` is the symmetric matrix with both triangles. `c` has the vectors, which start as the identity and are wanted with
// `mode`. `d` has a Turn of five doubles for each pair of columns, `e` the norm up to which elements count as 0, and `integers` whether a
// matrix was rotated.

// Computes the rotation of a pair, and rotates its columns, by one warp.
template <class V> DEVICE void eigen_columns(const DecomposeArgs& args, int64 index, int64 round, int64 k) {
    int64 n = args.n, step = args.a.step, p, q;
    Turn turn = {{0, 0, 0}, 0, 0};
    V* a = matrix<V>(args.a, index);
    if (pair_of(n, round, k, p, q)) {
        double common = (double)a[q + p * step], x = (double)a[p + p * step], y = (double)a[q + q * step];
        __syncwarp();
        if (libm::abs(common) > *matrix<double>(args.e, index)) {
            Rotation by = rotation_of((y - x) / 2, common);
            turn = {by, x - by.t * common, y + by.t * common};
            rotate(a + p * step, a + q * step, n, by);
            if (args.mode) {
                V* z = matrix<V>(args.c, index);
                rotate(z + p * args.c.step, z + q * args.c.step, n, by);
            }
        }
    }
    if (threadIdx.x % 32 == 0) {
        ((Turn*)matrix<double>(args.d, index))[k] = turn;
        if (turn.by.s != 0) args.integers[index] = 1;
    }
}

// Rotates the rows of all pairs in a column, by one warp. The off-diagonal element of the pair is set to 0.
template <class V> DEVICE void eigen_rows(const DecomposeArgs& args, int64 index, int64 round, int64 j) {
    int64 n = args.n, pairs = (n + 1) / 2;
    V* column = matrix<V>(args.a, index) + j * args.a.step;
    const Turn* turns = (const Turn*)matrix<double>(args.d, index);
    for (int64 k = threadIdx.x % 32; k < pairs; k += 32) {
        int64 p, q;
        Turn turn = turns[k];
        if (!pair_of(n, round, k, p, q) || turn.by.s == 0) continue;
        double x = (double)column[p], y = (double)column[q];
        column[p] = (V)(j == p ? turn.p : j == q ? 0 : turn.by.first(x, y));
        column[q] = (V)(j == q ? turn.q : j == p ? 0 : turn.by.second(x, y));
    }
}

// Computes the norm up to which off-diagonal elements count as 0.
template <class V> __device__ void eigen_begin(const DecomposeArgs& args) {
    __shared__ double shared[WARPS];
    each_matrix(args, [&](int64 index) {
        double norm = norm_of<V, BLOCK>(matrix<V>(args.a, index), args.n * args.n, shared);
        if (threadIdx.x == 0) *matrix<double>(args.e, index) = norm * (double)Limits<V>::epsilon() / (2 * (double)args.n);
    });
}

// Runs sweeps, one block for each matrix, until a sweep changes nothing. `pass(index, round)` is a round.
template <class Pass> __device__ void sweeps(const DecomposeArgs& args, Pass pass) {
    int64 pairs = (args.n + 1) / 2;
    each_matrix(args, [&](int64 index) {
        if (args.infos[index] != 0) return;
        int sweep = 0;
        for (; sweep < MOST_SWEEPS; sweep++) {
            __syncthreads();
            if (threadIdx.x == 0) args.integers[index] = 0;
            __syncthreads();
            for (int64 round = 0; round < 2 * pairs - 1; round++) {
                pass(index, round);
                __syncthreads();
            }
            if (args.integers[index] == 0) break;
        }
        if (threadIdx.x == 0 && sweep == MOST_SWEEPS) args.infos[index] = 1;
    });
}

template <class V> __device__ void eigen_sweeps(const DecomposeArgs& args) {
    sweeps(args, [&](int64 index, int64 round) {
        each_by_warp((args.n + 1) / 2, [&](int64 k) { eigen_columns<V>(args, index, round, k); });
        __syncthreads();
        each_by_warp(args.n, [&](int64 j) { eigen_rows<V>(args, index, round, j); });
    });
}

// The two parts of a round for all matrices: one warp for each pair, and one for each column.
template <class V> __device__ void eigen_round_columns(const DecomposeArgs& args) {
    each_line<32>(args, (args.n + 1) / 2, [&](int64 index, int64 k) {
        if (args.infos[index] == 0) eigen_columns<V>(args, index, args.from, k);
    });
}

template <class V> __device__ void eigen_round_rows(const DecomposeArgs& args) {
    each_line<32>(args, args.n, [&](int64 index, int64 j) {
        if (args.infos[index] == 0) eigen_rows<V>(args, index, args.from, j);
    });
}

// Writes the eigenvalues, the diagonal elements in ascending order, to `b`, and sorts the vectors alike. `d` is scratch memory of n
// elements.
template <class V> __device__ void eigen_end(const DecomposeArgs& args) {
    int64 n = args.n, step = args.a.step;
    int lane = threadIdx.x % 32;
    each_matrix(args, [&](int64 index) {
        V* a = matrix<V>(args.a, index);
        V* z = matrix<V>(args.c, index);
        V* values = matrix<V>(args.d, index);
        for (int64 i = threadIdx.x; i < n; i += BLOCK) values[i] = a[i + i * step];
        __syncthreads();
        each_in_order(values, n, false, [&](int64 j, int64 place) {
            if (lane == 0) matrix<V>(args.b, index)[place] = values[j];
            for (int64 i = lane; i < n && args.mode; i += 32) a[i + place * step] = z[i + j * args.c.step];
        });
        __syncthreads();
        each_by_warp(args.mode ? n : 0, [&](int64 j) {
            for (int64 i = lane; i < n; i += 32) z[i + j * args.c.step] = a[i + j * step];
        });
    });
}

// The norm up to which a column counts as 0, for matrices whose greatest element is near 1.
template <class V> DEVICE double negligible() { return sizeof(V) == 4 ? 1e-31 : 1e-140; }

// Singular values. `a` has n columns of n elements, which become orthogonal. `c` has the product of the rotations, which starts as the
// identity and is wanted with `mode`. `integers` has whether a matrix was rotated.

// Makes a pair of columns orthogonal, by one warp.
template <class V> DEVICE void singular_pair(const DecomposeArgs& args, int64 index, int64 round, int64 k) {
    int64 n = args.n, p, q;
    if (!pair_of(n, round, k, p, q)) return;
    V* x = matrix<V>(args.a, index) + p * args.a.step;
    V* y = matrix<V>(args.a, index) + q * args.a.step;
    double of_x = 0, of_y = 0, common = 0, zero = negligible<V>();
    for (int64 i = threadIdx.x % 32; i < n; i += 32) {
        double s = (double)x[i], t = (double)y[i];
        of_x += s * s;
        of_y += t * t;
        common += s * t;
    }
    of_x = Group<32>::sum(of_x, nullptr);
    of_y = Group<32>::sum(of_y, nullptr);
    common = Group<32>::sum(common, nullptr);
    double bound = (double)Limits<V>::epsilon() * sqrt((double)n) * sqrt(of_x) * sqrt(of_y);
    if (libm::abs(common) <= bound || of_x < zero * zero || of_y < zero * zero) return;
    Rotation by = rotation_of((of_y - of_x) / 2, common);
    rotate(x, y, n, by);
    if (args.mode) {
        V* v = matrix<V>(args.c, index);
        rotate(v + p * args.c.step, v + q * args.c.step, n, by);
    }
    if (threadIdx.x % 32 == 0) args.integers[index] = 1;
}

template <class V> __device__ void singular_sweeps(const DecomposeArgs& args) {
    sweeps(args, [&](int64 index, int64 round) {
        each_by_warp((args.n + 1) / 2, [&](int64 k) { singular_pair<V>(args, index, round, k); });
    });
}

// A round for all matrices, one warp for each pair.
template <class V> __device__ void singular_round(const DecomposeArgs& args) {
    each_line<32>(args, (args.n + 1) / 2, [&](int64 index, int64 k) {
        if (args.infos[index] == 0) singular_pair<V>(args, index, args.from, k);
    });
}

// Sets column j of `a` to a unit vector that is orthogonal to the columns before. It starts from the row of the identity with the largest
// remainder, and is orthogonalised twice.
template <class V> DEVICE void complete_column(V* a, int64 step, int64 n, int64 j, double* shared) {
    double left = 0;
    int64 row = 0;
    for (int64 i = threadIdx.x; i < n; i += BLOCK) {
        double rest = 2;
        for (int64 l = 0; l < j; l++) rest -= (double)a[i + l * step] * (double)a[i + l * step];
        if (rest > left) {
            left = rest;
            row = i;
        }
    }
    bool most = left == Group<BLOCK>::most(left, shared);
    int64 found = (int64)Group<BLOCK>::most(most ? (double)(n - row) : 0.0, shared);
    V* column = a + j * step;
    for (int64 i = threadIdx.x; i < n; i += BLOCK) column[i] = i == n - found ? 1 : 0;
    __syncthreads();
    for (int again = 0; again < 2; again++) {
        for (int64 l = 0; l < j; l++) {
            double sum = 0;
            for (int64 i = threadIdx.x; i < n; i += BLOCK) sum += (double)column[i] * (double)a[i + l * step];
            sum = Group<BLOCK>::sum(sum, shared);
            for (int64 i = threadIdx.x; i < n; i += BLOCK) column[i] = (V)((double)column[i] - sum * (double)a[i + l * step]);
        }
        __syncthreads();
        double size = norm_of<V, BLOCK>(column, n, shared);
        for (int64 i = threadIdx.x; i < n; i += BLOCK) column[i] = (V)((double)column[i] / size);
        __syncthreads();
    }
}

// Writes the singular values, the norms of the columns of `a`, to `b` in descending order. `a` becomes U, and `c`, which is V, is sorted
// alike. `d` is scratch memory of n x n elements, `e` of n.
template <class V> __device__ void singular_end(const DecomposeArgs& args) {
    __shared__ double shared[WARPS];
    int64 n = args.n, step = args.a.step;
    int lane = threadIdx.x % 32;
    each_matrix(args, [&](int64 index) {
        V* a = matrix<V>(args.a, index);
        V* v = matrix<V>(args.c, index);
        V* kept = matrix<V>(args.d, index);
        V* values = matrix<V>(args.e, index);
        V* sorted = matrix<V>(args.b, index);
        each_by_warp(n, [&](int64 j) {
            double size = norm_of<V, 32>(a + j * step, n, nullptr);
            if (lane == 0) values[j] = size < negligible<V>() ? (V)0 : (V)size;
        });
        __syncthreads();
        each_in_order(values, n, true, [&](int64 j, int64 place) {
            if (lane == 0) sorted[place] = values[j];
            for (int64 i = lane; i < n && args.mode; i += 32) {
                kept[i + place * n] = values[j] > 0 ? a[i + j * step] / values[j] : (V)0;
            }
        });
        __syncthreads();
        if (!args.mode) return;
        each_by_warp(n, [&](int64 j) {
            for (int64 i = lane; i < n; i += 32) a[i + j * step] = kept[i + j * n];
        });
        __syncthreads();
        each_in_order(values, n, true, [&](int64 j, int64 place) {
            for (int64 i = lane; i < n; i += 32) kept[i + place * n] = v[i + j * args.c.step];
        });
        __syncthreads();
        each_by_warp(n, [&](int64 j) {
            for (int64 i = lane; i < n; i += 32) v[i + j * args.c.step] = kept[i + j * n];
        });
        __syncthreads();
        // Columns of norm 0 are the last ones.
        for (int64 j = 0; j < n; j++) {
            if (!(sorted[j] > 0)) complete_column(a, step, n, j, shared);
        }
    });
}

// The singular value up to which values count as 0: `number` times the greatest, or a default for rounding errors if `number` is negative.
template <class V> DEVICE double tolerance(const DecomposeArgs& args, double most) {
    bool given = args.number >= 0;
    return (given ? args.number : (double)Limits<V>::epsilon() * (double)(args.m > args.n ? args.m : args.n)) * most;
}

// Counts the `k` values `a` whose magnitude is above `number`, or above a default for rounding errors. With `mode`, `number` is relative to
// the first value.
template <class V> __device__ void count_rank(const DecomposeArgs& args) {
    each_line<32>(args, 1, [&](int64 index, int64) {
        const V* values = matrix<V>(args.a, index);
        double most = 0;
        for (int64 i = threadIdx.x % 32; i < args.k; i += 32) {
            double size = libm::abs((double)values[i]);
            most = size > most ? size : most;
        }
        most = Group<32>::most(most, nullptr);
        bool given = args.mode == 0 && args.number >= 0;
        double least = given ? args.number : tolerance<V>(args, most), count = 0;
        for (int64 i = threadIdx.x % 32; i < args.k; i += 32) count += libm::abs((double)values[i]) > least;
        count = Group<32>::sum(count, nullptr);
        if (threadIdx.x % 32 == 0) args.integers[index * args.integer_step] = (int)count;
    });
}

// Divides rows or columns by the singular values `b`, and sets those whose value counts as 0 to 0: the columns of `a`, `side` x `k`, or
// with `transposed` its rows, `k` x `side`.
template <class V> __device__ void divide_by_values(const DecomposeArgs& args) {
    each_line<32>(args, args.transposed ? args.side : args.k, [&](int64 index, int64 column) {
        V* a = matrix<V>(args.a, index) + column * args.a.step;
        const V* values = matrix<V>(args.b, index);
        double least = tolerance<V>(args, (double)values[0]);
        int64 rows = args.transposed ? args.k : args.side;
        for (int64 i = threadIdx.x % 32; i < rows; i += 32) {
            V value = values[args.transposed ? i : column];
            a[i] = (double)value > least ? a[i] / value : (V)0;
        }
    });
}
