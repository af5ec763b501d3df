// Scaling of matrices by powers of 2, and kernels that copy, set and test elements for decompositions.

// Scales `n` elements of each matrix `a`, and stores the exponent. If elements must be finite, also sets the info.
template <class V> __device__ void scale_matrices(const DecomposeArgs& args) {
    __shared__ double shared[WARPS];
    each_matrix(args, [&](int64 index) {
        V* a = matrix<V>(args.a, index);
        double most = extent<V, BLOCK>(a, args.n, shared);
        int exponent = scaling_exponent<V>(most, args.mode);
        for (int64 i = threadIdx.x; i < args.n && exponent != 0; i += BLOCK) a[i] = rescaled(a[i], exponent);
        if (threadIdx.x != 0) return;
        args.exponents[index * args.exponent_step] = exponent;
        if (args.mode == UNIT) args.infos[index] = most == Special<double>::infinity() ? -1 : 0;
    });
}

// Scales the first `m` elements of each of the `k` columns of `b`, and stores the exponents after other integers.
template <class V> __device__ void scale_columns(const DecomposeArgs& args) {
    each_line<32>(args, args.k, [&](int64 index, int64 column) {
        V* b = matrix<V>(args.b, index) + column * args.b.step;
        int exponent = scale_elements<V, 32>(b, args.m, HEADROOM, nullptr);
        if (threadIdx.x % 32 == 0) args.integers[index * args.integer_step + args.from + column] = exponent;
    });
}

// Multiplies m x n elements of `a` by the power of 2 whose exponent is the matrix's exponent times `side`, minus the exponent of the
// column. With `upper`, elements below the diagonal are unchanged. With `mode`, matrices with an info are, too.
template <class V> __device__ void rescale_matrices(const DecomposeArgs& args) {
    each_line<32>(args, args.n, [&](int64 index, int64 column) {
        V* a = matrix<V>(args.a, index) + column * args.a.step;
        int exponent = args.exponents[index * args.exponent_step] * (int)args.side;
        if (args.integers) exponent -= args.integers[index * args.integer_step + args.from + column];
        if (exponent == 0 || (args.mode && args.infos[index] != 0)) return;
        int64 rows = args.upper && column + 1 < args.m ? column + 1 : args.m;
        for (int64 i = threadIdx.x % 32; i < rows; i += 32) a[i] = rescaled(a[i], exponent);
    });
}

// Sets the info of each matrix to the number, from 1, of the first 0 on the diagonal.
template <class V> __device__ void find_zero(const DecomposeArgs& args) {
    each_line<32>(args, 1, [&](int64 index, int64) {
        const V* a = matrix<V>(args.a, index);
        int64 found = args.n;
        for (int64 i = threadIdx.x % 32; i < args.n; i += 32) {
            if (a[i + i * args.a.step] == 0 && i < found) found = i;
        }
        found = warp_reduce(found, [](int64 a, int64 b) { return a < b ? a : b; });
        if (threadIdx.x % 32 == 0) args.infos[index] = found < args.n ? (int)found + 1 : 0;
    });
}

enum Filling {
    // Zeros, and `number` on the diagonal.
    IDENTITY,
    // Zeros above the diagonal, zeros in matrices with an info, zeros below row `from`.
    CLEAR_UPPER, CLEAR_FAILED, CLEAR_BELOW,
    // Elements of `b`; of its transpose; those on and above its diagonal, and zeros below; those below it, 1 on the diagonal, and zeros
    // above.
    COPY, COPY_TRANSPOSED, COPY_UPPER, COPY_LOWER,
    // Copies the elements below the diagonal to the upper triangle.
    MIRROR,
    // In each column a 1, in the row given by the `integers` after the first `from`.
    PERMUTATION,
    // Adds the elements of `b` times `number`.
    ADD,
    // Elements of `b` in matrices whose exponent is above `from`.
    COPY_SOME,
    // NaN in matrices with an info.
    SPOIL_FAILED,
};

// Writes m x n elements of `a`.
template <class V> __device__ void fill_matrices(const DecomposeArgs& args) {
    each_line<32>(args, args.n, [&](int64 index, int64 j) {
        V* a = matrix<V>(args.a, index);
        const V* b = matrix<V>(args.b, index);
        bool failed = (args.mode == CLEAR_FAILED || args.mode == SPOIL_FAILED) && args.infos[index] != 0;
        bool some = args.mode == COPY_SOME && args.exponents[index * args.exponent_step] > args.from;
        for (int64 i = threadIdx.x % 32; i < args.m; i += 32) {
            V& to = a[i + j * args.a.step];
            switch (args.mode) {
            case IDENTITY: to = i == j ? (V)args.number : (V)0; break;
            case CLEAR_UPPER: if (i < j) to = 0; break;
            case CLEAR_FAILED: if (failed) to = 0; break;
            case CLEAR_BELOW: if (i >= args.from) to = 0; break;
            case COPY: to = b[i + j * args.b.step]; break;
            case COPY_TRANSPOSED: to = b[j + i * args.b.step]; break;
            case COPY_UPPER: to = i <= j ? b[i + j * args.b.step] : (V)0; break;
            case COPY_LOWER: to = i > j ? b[i + j * args.b.step] : (V)(i == j ? 1 : 0); break;
            case MIRROR: if (i < j) to = a[j + i * args.a.step]; break;
            case ADD: to += (V)args.number * b[i + j * args.b.step]; break;
            case COPY_SOME: if (some) to = b[i + j * args.b.step]; break;
            case SPOIL_FAILED: if (failed) to = (V)Special<double>::nan(); break;
            default: to = args.integers[index * args.integer_step + args.from + j] == i ? 1 : 0;
            }
        }
    });
}
