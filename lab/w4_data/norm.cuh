struct Pair { double rest, squares; };
// Rows of n elements, n a multiple of N, at most N * P * LANES. EXACT: squares in float64.
template <class S, class W, int N, int P, int LANES, int NT, int EXACT> DEVICE void norm_kept(const NormArgs& args) {
    typedef Bytes<N * (int)sizeof(S)> Raw;
    typedef Bytes<N * (int)sizeof(W)> RawW;
    int lane = threadIdx.x % LANES, n = (int)(args.n / N);
    const int GROUPS = NT / LANES;
    for (int64 row = (int64)blockIdx.x * GROUPS + threadIdx.x / LANES; row < args.rows; row += (int64)gridDim.x * GROUPS) {
        const Raw* from = (const Raw*)((const S*)args.x + row * args.n);
        Raw* to = (Raw*)((S*)args.r + row * args.n);
        Raw kept[P];
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * LANES < n) kept[k] = from[lane + k * LANES];
        float factor = 1, middle;
        double rest, squares;
        while (true) {
            double sum = 0;
#pragma unroll
            for (int k = 0; k < P; k++) if (lane + k * LANES < n) {
                float x[N];
                unpack<S, N>(x, kept[k]);
                for (int j = 0; j < N; j++) x[j] *= factor;
                sum += sum_of_packet(x);
            }
            sum = fold_all<NT, LANES>(sum, [](double a, double b) { return a + b; }, 0.0);
            middle = (float)(sum / (double)args.n);
            Pair all{0, 0};
#pragma unroll
            for (int k = 0; k < P; k++) if (lane + k * LANES < n) {
                float x[N], q[N];
                unpack<S, N>(x, kept[k]);
                for (int j = 0; j < N; j++) { x[j] = x[j] * factor - middle; q[j] = x[j] * x[j]; }
                if (EXACT) {
                    for (int j = 0; j < N; j++) all.squares += (double)x[j] * (double)x[j];
                } else {
                    float few = sum_of_packet(q);
                    if (few > 1e-30f) all.squares += few;
                    else for (int j = 0; j < N; j++) all.squares += (double)x[j] * (double)x[j];
                }
                all.rest += sum_of_packet(x);
            }
            all = fold_all<NT, LANES>(all, [](Pair a, Pair b) { return Pair{a.rest + b.rest, a.squares + b.squares}; }, Pair{0, 0});
            rest = all.rest / (double)args.n;
            squares = all.squares / (double)args.n;
            if (squares < Special<double>::infinity() || factor < 1) break;
            factor = 0x1p-70f;
        }
        double scale = 1 / sqrt(squares - rest * rest + args.eps * factor * factor);
        Standard<f32> standard = {factor, middle, (float)scale, (float)(rest * scale)};
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * LANES < n) {
            float x[N], w[N], b[N];
            unpack<S, N>(x, kept[k]);
            unpack<W, N>(w, ((const RawW*)args.weight)[lane + k * LANES]);
            unpack<W, N>(b, ((const RawW*)args.bias)[lane + k * LANES]);
            for (int j = 0; j < N; j++) x[j] = standard.at(f32(x[j])).v * w[j] + b[j];
            to[lane + k * LANES] = pack<S, N>(x);
        }
    }
}
