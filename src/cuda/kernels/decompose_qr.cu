// QR by Householder reflectors `I - tau v v'` in LAPACK's packed form. The host divides matrices into panels, and applies the reflectors of
// a panel together, as `I - V T V'`.

// Replaces the elements from `k` on of a column by its first element after the reflection, followed by the vector; returns tau. LAPACK's
// larfg.
template <class V> DEVICE V reflector(V* column, int64 k, int64 m, double* shared) {
    double below = norm_of<V, BLOCK>(column + k + 1, m - k - 1, shared), alpha = (double)column[k];
    if (below == 0) return 0;
    double beta = -libm::copysign(hypot(alpha, below), alpha), size = libm::abs(beta);
    const double least = (double)Limits<V>::least() / (double)Limits<V>::epsilon();
    int exponent = 0;
    // If the norm is subnormal or overflows, the column is scaled by a power of 2.
    if (!(size >= least && (double)(V)size < Special<double>::infinity())) {
        double most = extent<V, BLOCK>(column + k, m - k, shared);
        if (most == Special<double>::infinity()) {
            for (int64 i = k + threadIdx.x; i < m; i += BLOCK) column[i] = (V)Special<double>::nan();
            __syncthreads();
            return (V)Special<double>::nan();
        }
        exponent = exponent_of(most) + 1;
        __syncthreads();
        for (int64 i = k + threadIdx.x; i < m; i += BLOCK) column[i] = rescaled(column[i], -exponent);
        __syncthreads();
        alpha = (double)column[k];
        beta = -libm::copysign(hypot(alpha, norm_of<V, BLOCK>(column + k + 1, m - k - 1, shared)), alpha);
    }
    __syncthreads();
    double divisor = alpha - beta;
    for (int64 i = k + threadIdx.x; i < m; i += BLOCK) {
        column[i] = i == k ? rescaled((V)beta, exponent) : (V)((double)column[i] / divisor);
    }
    __syncthreads();
    return (V)((beta - alpha) / beta);
}

// Factors a panel, one column after the other. The numbers tau are stored in `d`.
template <class V> __device__ void qr_panel(const DecomposeArgs& args) {
    __shared__ double shared[WARPS];
    int64 m = args.m, step = args.a.step, end = args.from + args.width;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    each_matrix(args, [&](int64 index) {
        V* a = matrix<V>(args.a, index);
        V* taus = matrix<V>(args.d, index);
        for (int64 k = args.from; k < end; k++) {
            const V* column = a + k * step;
            V tau = reflector(a + k * step, k, m, shared);
            if (threadIdx.x == 0) taus[k] = tau;
            if (tau == 0) continue;
            for (int64 j = k + 1 + warp; j < end; j += WARPS) {
                V* other = a + j * step;
                double sum = lane == 0 ? (double)other[k] : 0;
                for (int64 i = k + 1 + lane; i < m; i += 32) sum += (double)column[i] * (double)other[i];
                V factor = (V)((double)tau * Group<32>::sum(sum, nullptr));
                for (int64 i = k + 1 + lane; i < m; i += 32) other[i] -= factor * column[i];
                if (lane == 0) other[k] -= factor;
            }
            __syncthreads();
        }
    });
}

// Writes the vectors of a panel with their ones and zeros to `b`, for rows from `from` to m, and T to `c`. Column j of T is -tau(j) T V'
// v(j) above the diagonal, and tau(j) on it.
template <class V> __device__ void qr_block(const DecomposeArgs& args) {
    __shared__ double products[PANEL][PANEL + 1], upper[PANEL][PANEL + 1];
    int64 rows = args.m - args.from;
    int width = (int)args.width, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    each_matrix(args, [&](int64 index) {
        const V* a = matrix<V>(args.a, index) + args.from * (args.a.step + 1);
        const V* taus = matrix<V>(args.d, index) + args.from;
        V* full = matrix<V>(args.b, index);
        V* t = matrix<V>(args.c, index);
        for (int j = warp; j < width; j += WARPS) {
            for (int64 i = lane; i < rows; i += 32) {
                full[i + j * args.b.step] = i > j ? a[i + j * args.a.step] : (V)(i == j ? 1 : 0);
            }
        }
        for (int pair = warp; pair < width * width; pair += WARPS) {
            int i = pair % width, j = pair / width;
            if (i >= j) continue;
            double sum = lane == 0 ? (double)a[j + i * args.a.step] : 0;
            for (int64 r = j + 1 + lane; r < rows; r += 32) sum += (double)a[r + i * args.a.step] * (double)a[r + j * args.a.step];
            sum = Group<32>::sum(sum, nullptr);
            if (lane == 0) products[i][j] = sum;
        }
        __syncthreads();
        // Each thread computes one row of T.
        int i = threadIdx.x;
        for (int j = 0; j < width && i < width; j++) {
            double sum = 0;
            for (int l = i; l < j; l++) sum += upper[i][l] * products[l][j];
            upper[i][j] = i < j ? -(double)taus[j] * sum : i == j ? (double)taus[j] : 0;
            t[i + j * args.c.step] = (V)upper[i][j];
        }
    });
}
