// Gradients of softmax, normalized rows and their gradients, and losses. Sums are computed in float64.

DEVICE float exponential(float x) { return expf(x); }
DEVICE double exponential(double x) { return exp(x); }

// Sums that are computed together.
template <int K> struct Sums {
    double of[K];
    friend DEVICE Sums operator+(Sums a, const Sums& b) {
        for (int k = 0; k < K; k++) a.of[k] += b.of[k];
        return a;
    }
};

// The sum over the threads of a warp or of the block. Each thread gets it.
template <int THREADS, class X> DEVICE X sum_of(X x) {
    auto add = [](const X& a, const X& b) { return a + b; };
    if constexpr (THREADS == 32) {
        return warp_reduce(x, add);
    } else {
        __shared__ X shared[WARPS];
        return block_reduce(x, add, X{}, shared);
    }
}

// M rows of the same length that a warp or a block reads several times. A thread keeps P items of each row in registers. Longer rows are
// loaded again each time. An item is N adjacent elements, a packet or a single element.
template <class S, int M, int N, int P, int THREADS> struct Rows {
    typedef typename Compute<S>::type::value_type V;
    typedef typename Item<S, N>::type I;
    const I* rows[M];
    typedef typename Item<S, N>::index Index;
    I kept[M][P];
    Index items;
    int lane;

    DEVICE Rows(const void* const (&from)[M], int64 row, int64 n) : items((Index)(n / N)), lane(threadIdx.x % THREADS) {
        for (int m = 0; m < M; m++) rows[m] = (const I*)((const S*)from[m] + row * n);
        load(0);
    }
    DEVICE void load(Index at) {
#pragma unroll
        for (int k = 0; k < P; k++) {
            Index i = at + lane + k * THREADS;
            if (i < items) {
                for (int m = 0; m < M; m++) kept[m][k] = rows[m][i];
            }
        }
    }
    // Calls `f` with the elements of each item, and its number.
    template <class F> DEVICE void each(F f) {
#pragma unroll 1
        for (Index at = 0; at < items; at += P * THREADS) {
            if (items > P * THREADS) load(at);
#pragma unroll
            for (int k = 0; k < P; k++) {
                Index i = at + lane + k * THREADS;
                if (i >= items) continue;
                V x[M][N];
                for (int m = 0; m < M; m++) unpack<S>(x[m], kept[m][k]);
                f(x, i);
            }
        }
    }
    // Writes an item of a row of results.
    static DEVICE void write(void* to, int64 row, int64 n, int64 i, const V (&x)[N]) { ((I*)((S*)to + row * n))[i] = pack<S>(x); }
};

// The elements of item i.
template <class V, int N> DEVICE void numbers(V (&x)[N], const void* row, int64 i) {
    if constexpr (N == 1) {
        x[0] = ((const V*)row)[i];
    } else {
        const int PER = sizeof(Packet) / sizeof(V);
        for (int k = 0; k < N; k += PER) {
            Packet packet = ((const Packet*)row)[(i * N + k) / PER];
            memcpy(x + k, &packet, sizeof(Packet));
        }
    }
}

// The elements of item i of a row's weights, of which the first is number `first`; `span` adjacent elements have one weight.
template <class V, int N> DEVICE void weights_of(V (&x)[N], const void* weights, int64 first, int64 i, int64 span) {
    const V* row = (const V*)weights + first;
    if (span == 1) return numbers(x, row, i);
    int64 at = i * N / span, rest = i * N - at * span;
    for (int k = 0; k < N; k++) {
        x[k] = row[at];
        if (++rest == span) at++, rest = 0;
    }
}

// Calls `f` with the number of each line, for the threads that share it: a warp or a block.
template <int THREADS, class F> DEVICE void each_line(int64 lines, F f) {
    int64 step = (int64)gridDim.x * (BLOCK / THREADS);
    for (int64 line = (int64)blockIdx.x * (BLOCK / THREADS) + threadIdx.x / THREADS; line < lines; line += step) f(line);
}

struct SoftmaxArgs {
    const void* g;
    const void* y;
    void* r;
    // Lines of n elements at a distance of `inner`, as in `launch::LineShape`.
    int64 outer, n, inner;
    // True for log-softmax.
    int logarithm;
    int reserved;
};

template <class T> DEVICE double softmax_term(const SoftmaxArgs& args, int64 at) {
    double g = ((const T*)args.g)[at].to_f64();
    return args.logarithm ? g : g * ((const T*)args.y)[at].to_f64();
}

template <class T> DEVICE void softmax_write(const SoftmaxArgs& args, int64 at, T total) {
    T g = ((const T*)args.g)[at], y = ((const T*)args.y)[at];
    ((T*)args.r)[at] = args.logarithm ? g - T(exponential(y.v)) * total : y * (g - total);
}

// `r = y * (g - sum(g * y))`, or `r = g - e^y * sum(g)` for log-softmax; one warp or block for each line.
template <class T, int THREADS> __device__ void softmax_lines(const SoftmaxArgs& args) {
    each_line<THREADS>(args.outer * args.inner, [&](int64 line) {
        int64 outer = line / args.inner, first = outer * args.n * args.inner + line - outer * args.inner;
        double sum = 0;
        for (int64 i = threadIdx.x % THREADS; i < args.n; i += THREADS) sum += softmax_term<T>(args, first + i * args.inner);
        T total = T::from_f64(sum_of<THREADS>(sum));
        for (int64 i = threadIdx.x % THREADS; i < args.n; i += THREADS) softmax_write(args, first + i * args.inner, total);
    });
}

// Like softmax_lines, for contiguous lines.
template <class T, int N, int P, int THREADS> __device__ void softmax_rows(const SoftmaxArgs& args) {
    typedef typename T::value_type V;
    typedef Rows<T, 2, N, P, THREADS> Pair;
    each_line<THREADS>(args.outer, [&](int64 row) {
        Pair pair({args.g, args.y}, row, args.n);
        double sum = 0;
        pair.each([&](V (&x)[2][N], int64) {
            for (int k = 0; k < N && !args.logarithm; k++) x[0][k] *= x[1][k];
            sum += packet_sum(x[0]);
        });
        T total = T::from_f64(sum_of<THREADS>(sum));
        pair.each([&](V (&x)[2][N], int64 i) {
            for (int k = 0; k < N; k++) {
                T g = x[0][k], y = x[1][k];
                x[0][k] = (args.logarithm ? g - T(exponential(y.v)) * total : y * (g - total)).v;
            }
            Pair::write(args.r, row, args.n, i, x[0]);
        });
    });
}

// The sum of each of the block's 32 columns, whose rows are distributed over the warps.
DEVICE double sum_of_column(double sum, double (&shared)[WARPS][32]) {
    int lane = threadIdx.x % 32;
    shared[threadIdx.x / 32][lane] = sum;
    __syncthreads();
    double total = 0;
    for (int k = 0; k < WARPS; k++) total += shared[k][lane];
    __syncthreads();
    return total;
}

// Like softmax_lines, for adjacent lines, 32 for each block.
template <class T> __device__ void softmax_columns(const SoftmaxArgs& args) {
    __shared__ double shared[WARPS][32];
    int64 across = (args.inner + 31) / 32, count = args.outer * across;
    for (int64 tile = blockIdx.x; tile < count; tile += gridDim.x) {
        int64 outer = tile / across, column = (tile - outer * across) * 32 + threadIdx.x % 32;
        int64 first = outer * args.n * args.inner + column, n = column < args.inner ? args.n : 0;
        double sum = 0;
        for (int64 i = threadIdx.x / 32; i < n; i += WARPS) sum += softmax_term<T>(args, first + i * args.inner);
        T total = T::from_f64(sum_of_column(sum, shared));
        for (int64 i = threadIdx.x / 32; i < n; i += WARPS) softmax_write(args, first + i * args.inner, total);
    }
}

// Rows of `n` elements, weights, and results. Each may be NULL.
struct NormArgs {
    const void* x;
    const void* weight;
    // The bias of a normalization, or the gradient of its result.
    const void* bias;
    const void* g;
    void* r;
    // A Standard for each row, if sums over rows are needed.
    void* standards;
    // The sums for weight and bias, n each, of each part of the rows.
    double* sums;
    void* of_weight;
    void* of_bias;
    // Element j of row i has weight i % groups * (n / span) + j / span.
    int64 rows, n, parts, groups, span;
    double eps;
    // False if the mean is not subtracted.
    int centred, reserved;

    // The number of the first weight of a row.
    DEVICE int64 first_weight(int64 row) const { return groups == 1 ? 0 : row % groups * (n / span); }
};

// A row's `(x - mean) / deviation` as `(x * factor - middle) * scale - shift`. The middle is the mean of `x * factor`, rounded, and the
// shift is the error of the middle. The factor is 1, or `shrunk` where squares of the row overflow.
template <class T> struct Standard {
    T factor, middle, scale, shift;

    DEVICE T at(T x) const { return (x * factor - middle) * scale - shift; }
};

// The factor for rows whose squares overflow.
template <class T> DEVICE T shrunk() { return T::from_f64(sizeof(T) == 4 ? 0x1p-70 : 0x1p-550); }

// The mean of a row times the factor, rounded; 0 for rows that are not centred. The rounding errors of the sum matter little, because the
// error of the middle is computed.
template <int THREADS, class R, class T> DEVICE T middle_of(R& rows, const NormArgs& args, T factor) {
    if (!args.centred) return T::from_f64(0);
    double sum = 0;
    rows.each([&](auto& x, int64) {
        for (auto& one : x[0]) one *= factor.v;
        sum += packet_sum(x[0]);
    });
    return T::from_f64(sum_of<THREADS>(sum) / (double)args.n);
}

// The standard of a row, from the means of `x * factor - middle` and of its square.
template <class T> DEVICE Standard<T> standard_of(double rest, double squares, double eps, T factor, T middle) {
    double scale = 1 / sqrt(squares - rest * rest + eps * factor.to_f64() * factor.to_f64());
    return {factor, middle, T::from_f64(scale), T::from_f64(rest * scale)};
}

// Normalizes rows of S, multiplies by the weight and adds the bias; one warp or block for each row.
template <class S, int N, int P, int THREADS> __device__ void norm_rows(const NormArgs& args) {
    typedef typename Compute<S>::type T;
    typedef typename T::value_type V;
    typedef Rows<S, 1, N, P, THREADS> Row;
    each_line<THREADS>(args.rows, [&](int64 number) {
        Row row({args.x}, number, args.n);
        T factor = T::from_f64(1), middle = factor;
        double n = (double)args.n;
        Sums<2> sums;
        while (true) {
            middle = middle_of<THREADS>(row, args, factor);
            sums = {};
            row.each([&](V (&x)[1][N], int64) {
                for (int k = 0; k < N; k++) {
                    double d = (T(x[0][k]) * factor - middle).to_f64();
                    sums.of[0] += d;
                    sums.of[1] += d * d;
                }
            });
            sums = sum_of<THREADS>(sums);
            if (sums.of[1] < Special<double>::infinity() || factor.v < 1) break;
            factor = shrunk<T>();
        }
        Standard<T> standard = standard_of(args.centred ? sums.of[0] / n : 0, sums.of[1] / n, args.eps, factor, middle);
        int64 first = args.first_weight(number);
        row.each([&](V (&x)[1][N], int64 i) {
            V weight[N], bias[N];
            weights_of(weight, args.weight, first, i, args.span);
            weights_of(bias, args.bias, first, i, args.span);
            for (int k = 0; k < N; k++) x[0][k] = (standard.at(x[0][k]) * T(weight[k]) + T(bias[k])).v;
            Row::write(args.r, number, args.n, i, x[0]);
        });
    });
}

// Computes the gradient of the rows, and the standards of all rows for the other gradients.
template <class T, int N, int P, int THREADS> __device__ void norm_gradient(const NormArgs& args) {
    typedef typename T::value_type V;
    typedef Rows<T, 2, N, P, THREADS> Pair;
    each_line<THREADS>(args.rows, [&](int64 row) {
        Pair pair({args.x, args.g}, row, args.n);
        T factor = T::from_f64(1), middle = factor;
        double n = (double)args.n;
        // Of `d = x * factor - middle`, of its square, of the gradient times the weight, and of that times d.
        Sums<4> sums;
        int64 first = args.first_weight(row);
        while (true) {
            middle = middle_of<THREADS>(pair, args, factor);
            sums = {};
            pair.each([&](V (&x)[2][N], int64 i) {
                V weight[N];
                weights_of(weight, args.weight, first, i, args.span);
                for (int k = 0; k < N; k++) {
                    double d = (T(x[0][k]) * factor - middle).to_f64(), product = (double)x[1][k] * (double)weight[k];
                    sums.of[0] += d;
                    sums.of[1] += d * d;
                    sums.of[2] += product;
                    sums.of[3] += product * d;
                }
            });
            sums = sum_of<THREADS>(sums);
            if (sums.of[1] < Special<double>::infinity() || factor.v < 1) break;
            factor = shrunk<T>();
        }
        double squares = sums.of[1] / n, along = sums.of[3] / n;
        double rest = args.centred ? sums.of[0] / n : 0, mean = args.centred ? sums.of[2] / n : 0;
        Standard<T> standard = standard_of(rest, squares, args.eps, factor, middle);
        if (args.standards && threadIdx.x % THREADS == 0) ((Standard<T>*)args.standards)[row] = standard;
        if (!args.r) return;
        double scale = 1 / sqrt(squares - rest * rest + args.eps * factor.to_f64() * factor.to_f64());
        T rounded_mean = T::from_f64(mean), rounded_along = T::from_f64(along * scale - mean * rest * scale);
        pair.each([&](V (&x)[2][N], int64 i) {
            V weight[N];
            weights_of(weight, args.weight, first, i, args.span);
            for (int k = 0; k < N; k++) {
                T value = T(x[1][k]) * T(weight[k]) - rounded_mean - standard.at(x[0][k]) * rounded_along;
                x[1][k] = (standard.factor * standard.scale * value).v;
            }
            Pair::write(args.r, row, args.n, i, x[1]);
        });
    });
}

// Sums over a part of the rows; one block for each 32 columns. A row has all columns: `groups` rows of the normalization.
template <class T> __device__ void norm_column_sums(const NormArgs& args) {
    __shared__ double shared[WARPS][32];
    int64 across = (args.n + 31) / 32, count = across * args.parts;
    for (int64 tile = blockIdx.x; tile < count; tile += gridDim.x) {
        int64 part = tile / across, column = (tile - part * across) * 32 + threadIdx.x % 32;
        int64 from = args.rows * part / args.parts, to = args.rows * (part + 1) / args.parts;
        double of_weight = 0, of_bias = 0;
        if (column < args.n) {
            const Standard<T>* standards = (const Standard<T>*)args.standards + column / (args.n / args.groups);
            for (int64 row = from + threadIdx.x / 32; row < to; row += WARPS) {
                T g = ((const T*)args.g)[row * args.n + column], x = ((const T*)args.x)[row * args.n + column];
                of_weight += (g * standards[row * args.groups].at(x)).to_f64();
                of_bias += g.to_f64();
            }
        }
        of_weight = sum_of_column(of_weight, shared);
        of_bias = sum_of_column(of_bias, shared);
        if (threadIdx.x < 32 && column < args.n) {
            args.sums[part * 2 * args.n + column] = of_weight;
            args.sums[(part * 2 + 1) * args.n + column] = of_bias;
        }
    }
}

// Sums over the elements of a span, for each weight of each row, which is a part; one warp or block for each span.
template <class T, int THREADS> __device__ void norm_span_sums(const NormArgs& args) {
    each_line<THREADS>(args.rows * args.n, [&](int64 line) {
        int64 row = line / args.n, column = line - row * args.n;
        const T *g = (const T*)args.g + line * args.span, *x = (const T*)args.x + line * args.span;
        Standard<T> standard = ((const Standard<T>*)args.standards)[row * args.groups + column / (args.n / args.groups)];
        Sums<2> sums = {};
        for (int64 i = threadIdx.x % THREADS; i < args.span; i += THREADS) {
            sums.of[0] += (g[i] * standard.at(x[i])).to_f64();
            sums.of[1] += g[i].to_f64();
        }
        sums = sum_of<THREADS>(sums);
        if (threadIdx.x % THREADS == 0) {
            for (int k = 0; k < 2; k++) args.sums[(row * 2 + k) * args.n + column] = sums.of[k];
        }
    });
}

// The gradients of weight and bias: the sums of all parts.
template <class T> __device__ void norm_join(const NormArgs& args) {
    int64 threads = (int64)gridDim.x * BLOCK;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < args.n; i += threads) {
        double of_weight = 0, of_bias = 0;
        for (int64 part = 0; part < args.parts; part++) {
            of_weight += args.sums[part * 2 * args.n + i];
            of_bias += args.sums[(part * 2 + 1) * args.n + i];
        }
        if (args.of_weight) ((T*)args.of_weight)[i] = T::from_f64(of_weight);
        if (args.of_bias) ((T*)args.of_bias)[i] = T::from_f64(of_bias);
    }
}

enum LossOp { LIKELIHOOD, LIKELIHOOD_GRADIENT, CROSS_ENTROPY, CROSS_ENTROPY_GRADIENT };

struct LossArgs {
    // Scores or probabilities, batch x classes x inner; NULL if only weights are summed.
    const void* scores;
    // Numbers for each position that are subtracted from the scores in CROSS_ENTROPY.
    const void* parts[2];
    // The gradient of the loss.
    const void* g;
    // A class for each position, batch x inner.
    const int64* target;
    // Factors of the classes, or NULL.
    const void* weight;
    void* r;
    // The sums of losses and of weights: first of all positions, then of each block.
    double* sums;
    // 0, or the complement of the position of the first target that is not a class.
    uint64* wrong;
    int64 positions, classes, inner, ignored, blocks;
    int op;
    // True if the losses are summed, and if the sum is divided by the sum of the weights.
    int summed, mean;
    // The dtype of the scores.
    int dtype;
};

// Returns true if a position counts. A target that is not a class is noted.
DEVICE bool loss_counts(const LossArgs& args, int64 i) {
    int64 class_ = args.target[i];
    bool counts = class_ != args.ignored, inside = class_ >= 0 && class_ < args.classes;
    if (counts && !inside) atomicMax(args.wrong, ~(uint64)i);
    return counts && inside;
}

__device__ void loss_check(const LossArgs& args) {
    int64 threads = (int64)gridDim.x * BLOCK;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < args.positions; i += threads) loss_counts(args, i);
}

// The weight of a position that is not ignored.
template <class T> DEVICE double weight_of(const LossArgs& args, int64 class_) {
    return args.weight ? ((const T*)args.weight)[class_].to_f64() : 1.0;
}

// The score of the right class.
template <class T> DEVICE double score_of(const LossArgs& args, int64 position, int64 class_) {
    int64 batch = position / args.inner, s = position - batch * args.inner, at = (batch * args.classes + class_) * args.inner + s;
    T score = load<T>((const byte*)args.scores + at * size_of(args.dtype), args.dtype);
    if (args.op == CROSS_ENTROPY) score = score - ((const T*)args.parts[0])[position] - ((const T*)args.parts[1])[position];
    return score.to_f64();
}

// Writes a loss for each position, 0 for ignored ones.
template <class T> __device__ void loss_each(const LossArgs& args) {
    int64 threads = (int64)gridDim.x * BLOCK;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < args.positions; i += threads) {
        int64 class_ = args.target[i];
        bool counts = class_ != args.ignored;
        ((T*)args.r)[i] = counts ? T::from_f64(-weight_of<T>(args, class_) * score_of<T>(args, i, class_)) : T(T::ZERO);
    }
}

struct LossSums {
    double losses, weights;
};

DEVICE LossSums add_sums(LossSums a, LossSums b) { return {a.losses + b.losses, a.weights + b.weights}; }

// Computes the sums of each block, and checks the targets.
template <class T> __device__ void loss_sums(const LossArgs& args) {
    __shared__ LossSums shared[WARPS];
    LossSums sums = {0, 0};
    int64 threads = (int64)gridDim.x * BLOCK;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < args.positions; i += threads) {
        if (!loss_counts(args, i)) continue;
        int64 class_ = args.target[i];
        double weight = weight_of<T>(args, class_);
        if (args.scores) sums.losses -= weight * score_of<T>(args, i, class_);
        sums.weights += weight;
    }
    sums = block_reduce(sums, [](LossSums a, LossSums b) { return add_sums(a, b); }, LossSums{0, 0}, shared);
    if (threadIdx.x == 0) ((LossSums*)args.sums)[1 + blockIdx.x] = sums;
}

// Computes the sums of all blocks, and the loss if it is wanted and all targets are classes; one block.
template <class T> __device__ void loss_total(const LossArgs& args) {
    __shared__ LossSums shared[WARPS];
    LossSums sums = {0, 0};
    for (int64 i = threadIdx.x; i < args.blocks; i += BLOCK) sums = add_sums(sums, ((const LossSums*)args.sums)[1 + i]);
    sums = block_reduce(sums, [](LossSums a, LossSums b) { return add_sums(a, b); }, LossSums{0, 0}, shared);
    if (threadIdx.x != 0) return;
    ((LossSums*)args.sums)[0] = sums;
    if (args.r && *args.wrong == 0) *(T*)args.r = T::from_f64(args.mean ? sums.losses / sums.weights : sums.losses);
}

// The gradient of the scores, one thread for each element.
template <class T> __device__ void loss_gradient(const LossArgs& args) {
    int64 count = args.positions * args.classes, threads = (int64)gridDim.x * BLOCK;
    const T* g = (const T*)args.g;
    double all = args.summed && count > 0 ? g[0].to_f64() : 0;
    if (args.mean) all /= args.sums[1];
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += threads) {
        int64 rest = i / args.inner, batch = rest / args.classes, position = batch * args.inner + i - rest * args.inner;
        int64 class_ = rest - batch * args.classes, target = args.target[position];
        bool counts = target != args.ignored, right = counts && target == class_;
        double own = args.summed ? all : g[position].to_f64();
        T scale = counts ? T::from_f64(own * weight_of<T>(args, target)) : T(T::ZERO);
        if (args.op == LIKELIHOOD_GRADIENT) {
            ((T*)args.r)[i] = right ? scale.neg() : T(T::ZERO);
        } else {
            T p = ((const T*)args.scores)[i];
            // Probabilities of infinite scores are NaN.
            ((T*)args.r)[i] = counts ? (right ? p - T::from_i64(1) : p) * scale : T(T::ZERO);
        }
    }
}
