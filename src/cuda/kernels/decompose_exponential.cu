// Norms of matrices and of their powers, which determine the scaling for the exponential of a matrix.

// The greatest column sum of magnitudes of each matrix `a`; infinity if an element is not finite.
template <class V> __device__ void greatest_columns(const DecomposeArgs& args) {
    __shared__ double shared[WARPS];
    each_matrix(args, [&](int64 index) {
        const V* a = matrix<V>(args.a, index);
        double most = 0;
        for (int64 j = threadIdx.x / 32; j < args.n; j += WARPS) {
            double sum = 0;
            for (int64 i = threadIdx.x % 32; i < args.n; i += 32) sum += libm::abs((double)a[i + j * args.a.step]);
            sum = Group<32>::sum(sum, nullptr);
            most = sum <= most ? most : sum > most ? sum : Special<double>::infinity();
        }
        most = Group<BLOCK>::most(most, shared);
        if (threadIdx.x == 0) *matrix<double>(args.b, index) = most;
    });
}

// The base-2 logarithm of the norm of the `k`-th power of the magnitudes of `a`. `c` is scratch memory of 2 n doubles.
template <class V> __device__ void norm_of_power(const DecomposeArgs& args) {
    __shared__ double shared[WARPS];
    each_matrix(args, [&](int64 index) {
        const V* a = matrix<V>(args.a, index);
        double* sums = matrix<double>(args.c, index);
        double* next = sums + args.n;
        double logarithm = 0;
        for (int64 i = threadIdx.x; i < args.n; i += BLOCK) sums[i] = 1;
        __syncthreads();
        for (int64 power = 0; power < args.k; power++) {
            double most = 0;
            for (int64 j = threadIdx.x / 32; j < args.n; j += WARPS) {
                double sum = 0;
                for (int64 i = threadIdx.x % 32; i < args.n; i += 32) sum += libm::abs((double)a[i + j * args.a.step]) * sums[i];
                sum = Group<32>::sum(sum, nullptr);
                if (threadIdx.x % 32 == 0) next[j] = sum;
                most = sum > most ? sum : most;
            }
            most = Group<BLOCK>::most(most, shared);
            logarithm += log2(most);
            for (int64 i = threadIdx.x; i < args.n; i += BLOCK) sums[i] = next[i] / most;
            __syncthreads();
        }
        if (threadIdx.x == 0) *matrix<double>(args.b, index) = logarithm;
    });
}
