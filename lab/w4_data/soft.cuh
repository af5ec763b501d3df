#define KERNEL_N(symbol, NT, MINB, Args, ...) \
    extern "C" __global__ void __launch_bounds__(NT, MINB) symbol(const __grid_constant__ Args args) { __VA_ARGS__(args); }
template <int B> struct Bytes;
template <> struct alignas(16) Bytes<16> { uint64 words[2]; };
template <> struct Bytes<8> { uint64 word; };
template <> struct Bytes<4> { uint word; };
template <> struct Bytes<2> { unsigned short word; };
template <> struct alignas(16) Bytes<32> { uint64 words[4]; };
template <class S, int N> DEVICE void unpack(float (&x)[N], Bytes<N * (int)sizeof(S)> raw) {
    S s[N];
    memcpy(s, &raw, sizeof(raw));
    for (int k = 0; k < N; k++) x[k] = convert<f32>(s[k]).v;
}
template <class S, int N> DEVICE Bytes<N * (int)sizeof(S)> pack(const float (&x)[N]) {
    S s[N];
    for (int k = 0; k < N; k++) s[k] = convert<S>(f32(x[k]));
    Bytes<N * (int)sizeof(S)> raw;
    memcpy(&raw, s, sizeof(raw));
    return raw;
}
template <int N> DEVICE float sum_of_packet(float (&x)[N]) {
    for (int half = N / 2; half > 0; half /= 2) for (int k = 0; k < half; k++) x[k] += x[k + half];
    return x[0];
}
template <int NT, int LANES, class V, class F> DEVICE V fold_all(V x, F f, V identity) {
    x = warp_reduce(x, f);
    if constexpr (LANES > 32) {
        __shared__ V shared[NT / 32];
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
        __syncthreads();
        V sum = identity;
        for (int k = 0; k < NT / 32; k++) sum = f(sum, shared[k]);
        __syncthreads();
        x = sum;
    }
    return x;
}
DEVICE float lse_shift(float m) { return is_infinite(m) ? 0 : m; }
// MODE 0: raw packets kept, exponentials twice. 1: exponentials kept as float. 2: online, thread by thread, chunks of P packets.
template <class S, int N, int P, int LANES, int NT, int MODE> DEVICE void rows(const SoftmaxArgs& args) {
    typedef Bytes<N * (int)sizeof(S)> Raw;
    const Lines& lines = args.lines;
    const int GROUPS = NT / LANES;
    int lane = threadIdx.x % LANES, n = (int)(lines.n / N);
    for (int64 number = (int64)blockIdx.x * GROUPS + threadIdx.x / LANES; number < lines.outer.total; number += (int64)gridDim.x * GROUPS) {
        Line line = line_of(lines, number);
        const Raw* from = (const Raw*)line.x;
        Raw* to = (Raw*)line.out[0];
        Raw kept[P];
        float most = -Special<float>::infinity();
        double sum = 0;
        float e[MODE == 1 ? P : 1][N];
        if constexpr (MODE < 2) {
#pragma unroll
            for (int k = 0; k < P; k++) if (lane + k * LANES < n) kept[k] = from[lane + k * LANES];
#pragma unroll
            for (int k = 0; k < P; k++) if (lane + k * LANES < n) {
                float x[N];
                unpack<S, N>(x, kept[k]);
                for (int j = 0; j < N; j++) most = x[j] > most ? x[j] : most;
            }
            most = fold_all<NT, LANES>(most, Greater(), -Special<float>::infinity());
            float shift = lse_shift(most);
#pragma unroll
            for (int k = 0; k < P; k++) if (lane + k * LANES < n) {
                float x[N];
                unpack<S, N>(x, kept[k]);
                for (int j = 0; j < N; j++) x[j] = exponential(x[j] - shift);
                if constexpr (MODE == 1) for (int j = 0; j < N; j++) e[k][j] = x[j];
                sum += sum_of_packet(x);
            }
            sum = fold_all<NT, LANES>(sum, Added(), 0.0);
        } else {
#pragma unroll 1
            for (int start = lane; start < n; start += P * LANES) {
#pragma unroll
                for (int k = 0; k < P; k++) if (start + k * LANES < n) kept[k] = from[start + k * LANES];
                float m = most;
#pragma unroll
                for (int k = 0; k < P; k++) if (start + k * LANES < n) {
                    float x[N];
                    unpack<S, N>(x, kept[k]);
                    for (int j = 0; j < N; j++) m = x[j] > m ? x[j] : m;
                }
                if (m > most) { sum = moved(Weights<f32>{most, sum}, m); most = m; }
                float shift = lse_shift(most);
#pragma unroll
                for (int k = 0; k < P; k++) if (start + k * LANES < n) {
                    float x[N];
                    unpack<S, N>(x, kept[k]);
                    for (int j = 0; j < N; j++) x[j] = exponential(x[j] - shift);
                    sum += sum_of_packet(x);
                }
            }
            float all = fold_all<NT, LANES>(most, Greater(), -Special<float>::infinity());
            sum = moved(Weights<f32>{most, sum}, all);
            most = all;
            sum = fold_all<NT, LANES>(sum, Added(), 0.0);
        }
        if (is_infinite(most)) sum = Special<double>::nan();
        f32 all = result_of(args.kind, Weights<f32>{most, sum});
        if (args.kind == LOG_SUM_EXP) {
            if (lane == 0) Stored<S>::write(line.out[0], lines.dtype[1], all + f32(most));
            continue;
        }
        if constexpr (MODE < 2) {
#pragma unroll
            for (int k = 0; k < P; k++) if (lane + k * LANES < n) {
                float x[N];
                if (MODE == 1 && args.kind == SOFTMAX) {
                    for (int j = 0; j < N; j++) x[j] = e[MODE == 1 ? k : 0][j] * all.v;
                } else {
                    unpack<S, N>(x, kept[k]);
                    for (int j = 0; j < N; j++) x[j] = softmax_of<f32>(args.kind, x[j], most, all).v;
                }
                to[lane + k * LANES] = pack<S, N>(x);
            }
        } else {
#pragma unroll 1
            for (int start = lane; start < n; start += P * LANES) {
#pragma unroll
                for (int k = 0; k < P; k++) if (start + k * LANES < n) kept[k] = from[start + k * LANES];
#pragma unroll
                for (int k = 0; k < P; k++) if (start + k * LANES < n) {
                    float x[N];
                    unpack<S, N>(x, kept[k]);
                    for (int j = 0; j < N; j++) x[j] = softmax_of<f32>(args.kind, x[j], most, all).v;
                    to[start + k * LANES] = pack<S, N>(x);
                }
            }
        }
    }
}
template <class V, class F> DEVICE V fold_lanes(V x, F f, int lanes) {
#pragma unroll 1
    for (int half = lanes >> 1; half > 0; half >>= 1) x = f(x, exchange(x, half));
    return x;
}
// `lanes` threads for each line, a power of two up to 32. MODE 0: two exponentials, 1: exponentials kept.
template <class S, int N, int P, int MODE> DEVICE void short_rows(const SoftmaxArgs& args) {
    typedef Bytes<N * (int)sizeof(S)> Raw;
    const Lines& lines = args.lines;
    int lanes = args.unused, slot = threadIdx.x / lanes, lane = threadIdx.x & (lanes - 1), n = (int)(lines.n / N), groups = BLOCK / lanes;
    int64 blocks = (lines.outer.total + groups - 1) / groups;
    for (int64 job = blockIdx.x; job < blocks; job += gridDim.x) {
        int64 number = job * groups + slot;
        bool inside = number < lines.outer.total;
        Line line = line_of(lines, inside ? number : 0);
        const Raw* from = (const Raw*)line.x;
        Raw* to = (Raw*)line.out[0];
        int end = inside ? n : 0;
        Raw kept[P];
        float most = -Special<float>::infinity();
        double sum = 0;
        float e[MODE == 1 ? P : 1][N];
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * lanes < end) kept[k] = from[lane + k * lanes];
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * lanes < end) {
            float x[N];
            unpack<S, N>(x, kept[k]);
            for (int j = 0; j < N; j++) most = x[j] > most ? x[j] : most;
        }
        most = fold_lanes(most, Greater(), lanes);
        float shift = lse_shift(most);
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * lanes < end) {
            float x[N];
            unpack<S, N>(x, kept[k]);
            for (int j = 0; j < N; j++) x[j] = exponential(x[j] - shift);
            if constexpr (MODE == 1) for (int j = 0; j < N; j++) e[k][j] = x[j];
            sum += sum_of_packet(x);
        }
        sum = fold_lanes(sum, Added(), lanes);
        if (is_infinite(most)) sum = Special<double>::nan();
        f32 all = result_of(args.kind, Weights<f32>{most, sum});
#pragma unroll
        for (int k = 0; k < P; k++) if (lane + k * lanes < end) {
            float x[N];
            if (MODE == 1 && args.kind == SOFTMAX) {
                for (int j = 0; j < N; j++) x[j] = e[MODE == 1 ? k : 0][j] * all.v;
            } else {
                unpack<S, N>(x, kept[k]);
                for (int j = 0; j < N; j++) x[j] = softmax_of<f32>(args.kind, x[j], most, all).v;
            }
            to[lane + k * lanes] = pack<S, N>(x);
        }
    }
}
// `width` adjacent lines for a block of NT threads; NT / width threads for each line.
template <class S, int P, int NT> DEVICE void columns(const SoftmaxArgs& args) {
    __shared__ float mosts[NT];
    __shared__ double sums[NT];
    const Lines& lines = args.lines;
    int width = args.unused, lanes = NT / width, slot = threadIdx.x & (width - 1), lane = threadIdx.x / width, n = (int)lines.n;
    int64 step = lines.step[0], back = lines.step[1];
    int64 tiles = (lines.outer.total + width - 1) / width;
    for (int64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int64 number = tile * width + slot;
        bool inside = number < lines.outer.total;
        Line line = line_of(lines, inside ? number : 0);
        int end = inside ? n : 0;
        float most = -Special<float>::infinity(), x[P];
        double sum = 0;
#pragma unroll 1
        for (int i = lane; i < end; i += P * lanes) {
#pragma unroll
            for (int k = 0; k < P; k++) x[k] = i + k * lanes < end ? convert<f32>(*(const S*)(line.x + (i + k * lanes) * step)).v : -Special<float>::infinity();
            float m = most;
#pragma unroll
            for (int k = 0; k < P; k++) m = x[k] > m ? x[k] : m;
            if (m > most) { sum = moved(Weights<f32>{most, sum}, m); most = m; }
            float shift = lse_shift(most);
#pragma unroll
            for (int k = 0; k < P; k++) x[k] = exponential(x[k] - shift);
            sum += sum_of_packet(x);
        }
        mosts[threadIdx.x] = most;
        sums[threadIdx.x] = sum;
        __syncthreads();
        float all = -Special<float>::infinity();
        for (int k = 0; k < lanes; k++) all = Greater()(mosts[k * width + slot], all);
        sum = 0;
        for (int k = 0; k < lanes; k++) sum += moved(Weights<f32>{mosts[k * width + slot], sums[k * width + slot]}, all);
        __syncthreads();
        most = all;
        if (is_infinite(most)) sum = Special<double>::nan();
        f32 factor = result_of(args.kind, Weights<f32>{most, sum});
#pragma unroll 1
        for (int i = lane; i < end; i += P * lanes) {
#pragma unroll
            for (int k = 0; k < P; k++) if (i + k * lanes < end) x[k] = convert<f32>(*(const S*)(line.x + (i + k * lanes) * step)).v;
#pragma unroll
            for (int k = 0; k < P; k++) if (i + k * lanes < end) Stored<S>::write(line.out[0] + (i + k * lanes) * back, 0, softmax_of<f32>(args.kind, x[k], most, factor));
        }
    }
}
