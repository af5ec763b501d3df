template <int N, int P, int NT> DEVICE void soft_grad_kept(const SoftmaxArgs& args) {
    typedef Bytes<N * 4> Raw;
    int lane = threadIdx.x, n = (int)(args.n / N);
    for (int64 row = blockIdx.x; row < args.outer; row += gridDim.x) {
        const Raw *g = (const Raw*)((const float*)args.g + row * args.n), *y = (const Raw*)((const float*)args.y + row * args.n);
        Raw* r = (Raw*)((float*)args.r + row * args.n);
        Raw gs[P], ys[P];
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * NT < n) { gs[k] = g[lane + k * NT]; ys[k] = y[lane + k * NT]; }
        double sum = 0;
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * NT < n) {
            float a[N], b[N];
            unpack<f32, N>(a, gs[k]);
            unpack<f32, N>(b, ys[k]);
            if (!args.logarithm) for (int j = 0; j < N; j++) a[j] *= b[j];
            sum += sum_of_packet(a);
        }
        float total = (float)fold_all<NT, NT>(sum, [](double a, double b) { return a + b; }, 0.0);
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * NT < n) {
            float a[N], b[N];
            unpack<f32, N>(a, gs[k]);
            unpack<f32, N>(b, ys[k]);
            for (int j = 0; j < N; j++) a[j] = args.logarithm ? a[j] - exponential(b[j]) * total : b[j] * (a[j] - total);
            r[lane + k * NT] = pack<f32, N>(a);
        }
    }
}
// The same without kept elements: two passes, packets.
template <int N, int P, int NT> DEVICE void soft_grad_passes(const SoftmaxArgs& args) {
    typedef Bytes<N * 4> Raw;
    int n = (int)(args.n / N);
    for (int64 row = blockIdx.x; row < args.outer; row += gridDim.x) {
        const Raw *g = (const Raw*)((const float*)args.g + row * args.n), *y = (const Raw*)((const float*)args.y + row * args.n);
        Raw* r = (Raw*)((float*)args.r + row * args.n);
        double sum = 0;
#pragma unroll P
        for (int i = threadIdx.x; i < n; i += NT) {
            float a[N], b[N];
            unpack<f32, N>(a, g[i]);
            unpack<f32, N>(b, y[i]);
            if (!args.logarithm) for (int j = 0; j < N; j++) a[j] *= b[j];
            sum += sum_of_packet(a);
        }
        float total = (float)fold_all<NT, NT>(sum, [](double a, double b) { return a + b; }, 0.0);
#pragma unroll P
        for (int i = threadIdx.x; i < n; i += NT) {
            float a[N], b[N];
            unpack<f32, N>(a, g[i]);
            unpack<f32, N>(b, y[i]);
            for (int j = 0; j < N; j++) a[j] = args.logarithm ? a[j] - exponential(b[j]) * total : b[j] * (a[j] - total);
            r[i] = pack<f32, N>(a);
        }
    }
}
struct Four { double rest, squares, mean, along; };
template <int N, int P, int NT> DEVICE void norm_grad_kept(const NormArgs& args) {
    typedef Bytes<N * 4> Raw;
    int lane = threadIdx.x, n = (int)(args.n / N);
    for (int64 row = blockIdx.x; row < args.rows; row += gridDim.x) {
        const Raw *g = (const Raw*)((const float*)args.g + row * args.n), *x = (const Raw*)((const float*)args.x + row * args.n), *w = (const Raw*)args.weight;
        Raw* r = (Raw*)((float*)args.r + row * args.n);
        Raw gs[P], xs[P];
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * NT < n) { xs[k] = x[lane + k * NT]; gs[k] = g[lane + k * NT]; }
        double sum = 0;
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * NT < n) {
            float a[N];
            unpack<f32, N>(a, xs[k]);
            sum += sum_of_packet(a);
        }
        sum = fold_all<NT, NT>(sum, [](double a, double b) { return a + b; }, 0.0);
        float middle = (float)(sum / (double)args.n);
        Four all{0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * NT < n) {
            float d[N], q[N], p[N], c[N];
            unpack<f32, N>(d, xs[k]);
            unpack<f32, N>(p, gs[k]);
            unpack<f32, N>(c, w[lane + k * NT]);
            for (int j = 0; j < N; j++) { d[j] -= middle; q[j] = d[j] * d[j]; p[j] *= c[j]; c[j] = p[j] * d[j]; }
            all.rest += sum_of_packet(d);
            all.squares += sum_of_packet(q);
            all.mean += sum_of_packet(p);
            all.along += sum_of_packet(c);
        }
        all = fold_all<NT, NT>(all, [](Four a, Four b) { return Four{a.rest + b.rest, a.squares + b.squares, a.mean + b.mean, a.along + b.along}; }, Four{0, 0, 0, 0});
        double m = (double)args.n, rest = all.rest / m, squares = all.squares / m, mean = all.mean / m, along = all.along / m;
        double scale = 1 / sqrt(squares - rest * rest + args.eps), shift = rest * scale;
        Standard<f32> standard = {1.0f, middle, (float)scale, (float)shift};
        float rounded_mean = (float)mean, rounded_along = (float)(along * scale - mean * shift);
        if (args.standards && lane == 0) ((Standard<f32>*)args.standards)[row] = standard;
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * NT < n) {
            float a[N], p[N], c[N];
            unpack<f32, N>(a, xs[k]);
            unpack<f32, N>(p, gs[k]);
            unpack<f32, N>(c, w[lane + k * NT]);
            for (int j = 0; j < N; j++) a[j] = standard.scale.v * (p[j] * c[j] - rounded_mean - standard.at(f32(a[j])).v * rounded_along);
            r[lane + k * NT] = pack<f32, N>(a);
        }
    }
}
