// Pooling of planes, its gradients, and windows as columns of matrices.

struct PoolArgs {
    const void* x;
    void* r;
    // Positions of the greatest elements, or NULL.
    int64* indices;
    int64 planes;
    // The greatest element of an empty window, and a given divisor.
    double least, divisor;
    // For adaptive windows, only the sizes of image and output are used.
    Windows window;
    int adaptive;
    // The divisor of a mean. 0: the number of elements inside the image; 1: those in the padding, too; 2: `divisor`.
    int divided_by;
};

// A range of positions in one dimension: `count` from `first` on.
struct Extent {
    int64 first, count, step;
};

DEVICE int64 quotient_up(int64 x, int64 n) { return (x + n - 1) / n; }

// The elements of an output's window in dimension d that are inside the image.
DEVICE Extent seen(const PoolArgs& args, int d, int64 output) {
    const Windows& w = args.window;
    if (args.adaptive) {
        int64 first = output * w.image[d] / w.out[d];
        return {first, quotient_up((output + 1) * w.image[d], w.out[d]) - first, 1};
    }
    int64 start = output * w.stride[d] - w.padding[d], tap = 0;
    if (start < 0) {
        tap = -start + w.dilation[d] - 1;
        tap = quotient(tap, w.by_dilation[d]);
    }
    int64 end = w.image[d] - start + w.dilation[d] - 1;
    end = end > 0 ? quotient(end, w.by_dilation[d]) : 0;
    end = end < w.kernel[d] ? end : w.kernel[d];
    return {start + tap * w.dilation[d], end > tap ? end - tap : 0, w.dilation[d]};
}

// The factor of a mean's divisor for dimension d: a number of elements of the window.
DEVICE int64 counted(const PoolArgs& args, int d, int64 output) {
    const Windows& w = args.window;
    int64 start = output * w.stride[d], end = start + w.kernel[d];
    int64 from = args.divided_by == 1 ? start : start > w.padding[d] ? start : w.padding[d];
    int64 to = w.image[d] + (args.divided_by == 1 ? 2 : 1) * w.padding[d];
    to = end < to ? end : to;
    return to > from ? to - from : 0;
}

DEVICE double divisor_of(const PoolArgs& args, const Place<int64>& output) {
    if (args.adaptive) {
        return (double)(seen(args, 0, output.at[0]).count * seen(args, 1, output.at[1]).count * seen(args, 2, output.at[2]).count);
    }
    if (args.divided_by == 2) return args.divisor;
    double line = (double)counted(args, 0, output.at[0]) * (double)counted(args, 1, output.at[1]);
    return line * (double)counted(args, 2, output.at[2]);
}

// Calls `f` with the positions in the plane of the elements of an output's window, in ascending order. If SHARED, each thread of the block
// gets a share.
template <bool SHARED, class F> DEVICE void each_seen(const PoolArgs& args, const Place<int64>& output, F f) {
    const Windows& w = args.window;
    Extent z = seen(args, 0, output.at[0]), y = seen(args, 1, output.at[1]), x = seen(args, 2, output.at[2]);
    int64 line = SHARED ? threadIdx.x / 32 : 0, lines = SHARED ? WARPS : 1;
    int64 column = SHARED ? threadIdx.x % 32 : 0, columns = SHARED ? 32 : 1;
    for (int64 i = 0; i < z.count; i++) {
        for (int64 j = line; j < y.count; j += lines) {
            int64 row = ((z.first + i * z.step) * w.image[1] + y.first + j * y.step) * w.image[2] + x.first;
            for (int64 k = column; k < x.count; k += columns) f(row + k * x.step);
        }
    }
}

// An element and its position; -1 without an element.
template <class T> struct Best {
    T value;
    int64 at;
};

// The greater element, or the first of equal ones. NaN is greater than all others, and the last NaN wins.
template <class T> DEVICE Best<T> greater(Best<T> a, Best<T> b) {
    if (a.at < 0 || b.at < 0) return b.at < 0 ? a : b;
    if (a.value.is_nan() || b.value.is_nan()) {
        if (a.value.is_nan() && b.value.is_nan()) return a.at > b.at ? a : b;
        return a.value.is_nan() ? a : b;
    }
    if (a.value == b.value) return a.at < b.at ? a : b;
    return a.value > b.value ? a : b;
}

// Calls `f` with the number, the plane and the place of each output: one thread or one block for each.
template <bool SHARED, class F> DEVICE void each_output(const PoolArgs& args, F f) {
    int64 places = volume(args.window.out), count = args.planes * places, step = (int64)gridDim.x * (SHARED ? 1 : BLOCK);
    for (int64 number = SHARED ? blockIdx.x : (int64)blockIdx.x * BLOCK + threadIdx.x; number < count; number += step) {
        int64 plane = number / places;
        f(number, plane, place_in(number - plane * places, args.window.by_out));
    }
}

// Writes the greatest elements.
template <class T, bool SHARED> __device__ void pool_greatest(const PoolArgs& args) {
    __shared__ Best<T> shared[WARPS];
    int64 pixels = volume(args.window.image);
    each_output<SHARED>(args, [&](int64 number, int64 plane, const Place<int64>& output) {
        const T* x = (const T*)args.x + plane * pixels;
        Best<T> best = {T::from_f64(args.least), -1}, none = best;
        each_seen<SHARED>(args, output, [&](int64 at) {
            T value = x[at];
            bool better = value > best.value || value.is_nan() || best.at < 0;
            best.value = better ? value : best.value;
            best.at = better ? at : best.at;
        });
        if (SHARED) best = block_reduce(best, [](Best<T> a, Best<T> b) { return greater(a, b); }, none, shared);
        if (!SHARED || threadIdx.x == 0) {
            ((T*)args.r)[number] = best.value;
            if (args.indices) args.indices[number] = best.at;
        }
    });
}

// Writes the means.
template <class T, bool SHARED> __device__ void pool_means(const PoolArgs& args) {
    __shared__ double shared[WARPS];
    int64 pixels = volume(args.window.image);
    each_output<SHARED>(args, [&](int64 number, int64 plane, const Place<int64>& output) {
        const T* x = (const T*)args.x + plane * pixels;
        double sum = 0;
        each_seen<SHARED>(args, output, [&](int64 at) { sum += x[at].to_f64(); });
        if (SHARED) sum = block_reduce(sum, [](double a, double b) { return a + b; }, 0.0, shared);
        if (!SHARED || threadIdx.x == 0) ((T*)args.r)[number] = T::from_f64(sum / divisor_of(args, output));
    });
}

// The outputs in dimension d, `first` to `end`, whose windows may contain a position. With dilation, not all of them do.
struct Outputs {
    int64 first, end;
};

DEVICE Outputs outputs_of(const PoolArgs& args, int d, int64 position) {
    const Windows& w = args.window;
    if (args.adaptive) return {position * w.out[d] / w.image[d], quotient_up((position + 1) * w.out[d], w.image[d])};
    int64 last = position + w.padding[d], first = last - (w.kernel[d] - 1) * w.dilation[d];
    first = first > 0 ? quotient(first + w.stride[d] - 1, w.by_stride[d]) : 0;
    int64 end = quotient(last, w.by_stride[d]) + 1;
    return {first, end < w.out[d] ? end : w.out[d]};
}

DEVICE bool sees(const PoolArgs& args, int d, int64 output, int64 position) {
    const Windows& w = args.window;
    if (args.adaptive || w.dilation[d] == 1) return true;
    int64 rest = position + w.padding[d] - output * w.stride[d];
    divide(rest, w.by_dilation[d]);
    return rest == 0;
}

// The gradient of an image, one thread for each element: the sum of the shares in all means, in the order of the taps of each line.
template <class T> __device__ void pool_spread(const PoolArgs& args) {
    const Windows& w = args.window;
    int64 pixels = volume(w.image), places = volume(w.out), count = args.planes * pixels, threads = (int64)gridDim.x * BLOCK;
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < count; number += threads) {
        int64 plane = number / pixels;
        Place<int64> pixel = place_in(number - plane * pixels, w.by_image), output;
        const T* grad = (const T*)args.x + plane * places;
        Outputs z = outputs_of(args, 0, pixel.at[0]), y = outputs_of(args, 1, pixel.at[1]), x = outputs_of(args, 2, pixel.at[2]);
        T sum = T::ZERO;
        for (output.at[0] = z.first; output.at[0] < z.end; output.at[0]++) {
            if (!sees(args, 0, output.at[0], pixel.at[0])) continue;
            for (output.at[1] = y.first; output.at[1] < y.end; output.at[1]++) {
                if (!sees(args, 1, output.at[1], pixel.at[1])) continue;
                for (int64 k = 0; k < x.end - x.first; k++) {
                    output.at[2] = args.adaptive ? x.first + k : x.end - 1 - k;
                    if (!sees(args, 2, output.at[2], pixel.at[2])) continue;
                    sum = sum.add(T::from_f64(grad[number_of(output, w.out)].to_f64() / divisor_of(args, output)));
                }
            }
        }
        ((T*)args.r)[number] = sum;
    }
}

struct UnpoolArgs {
    const void* t;
    const int64* indices;
    void* r;
    int64 planes, places, pixels;
    int adds;
    int reserved;
};

// Writes elements of a plane by index, one warp for each plane, 32 elements at a time, in order. If several threads have the same index,
// one of them writes: the first thread the sum of all, or the last thread its element.
template <class T> __device__ void unpool(const UnpoolArgs& args) {
    int lane = threadIdx.x % 32;
    int64 warps = (int64)gridDim.x * WARPS;
    for (int64 plane = (int64)blockIdx.x * WARPS + threadIdx.x / 32; plane < args.planes; plane += warps) {
        T* r = (T*)args.r + plane * args.pixels;
        for (int64 from = 0; from < args.places; from += 32) {
            bool has = from + lane < args.places;
            int64 at = plane * args.places + from + lane, index = has ? args.indices[at] : -1;
            T value = has ? ((const T*)args.t)[at] : T(T::ZERO), sum = T::ZERO;
            bool writes = index >= 0;
            if (args.adds && writes) sum = r[index];
            for (int k = 0; k < 32; k++) {
                int64 other = __shfl_sync(0xffffffffu, index, k);
                T added;
                added.v = __shfl_sync(0xffffffffu, value.v, k);
                if (other == index) {
                    sum = sum.add(added);
                    writes &= args.adds ? k >= lane : k <= lane;
                }
            }
            __syncwarp();
            if (writes) r[index] = args.adds ? sum : value;
            __syncwarp();
        }
    }
}

struct ColumnsArgs {
    const void* t;
    void* r;
    int64 images;
    Windows window;
    Divider by_taps, by_places, by_pixels;
};

// Copies images to columns: [image][tap][output], 0 in the padding.
template <class T> __device__ void unroll(const ColumnsArgs& args) {
    const Windows& w = args.window;
    int64 count = args.images * args.by_taps.n * args.by_places.n, threads = (int64)gridDim.x * BLOCK;
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < count; number += threads) {
        int64 rest = number;
        Place<int64> output = place_in(take(rest, args.by_places), w.by_out), tap = place_in(take(rest, args.by_taps), w.by_kernel);
        int64 pixel = pixel_of(w, output, tap);
        ((T*)args.r)[number] = pixel < 0 ? T(T::ZERO) : ((const T*)args.t)[rest * args.by_pixels.n + pixel];
    }
}

// Sums columns into images, one thread for each element.
template <class T> __device__ void fold(const ColumnsArgs& args) {
    const Windows& w = args.window;
    int64 count = args.images * args.by_pixels.n, threads = (int64)gridDim.x * BLOCK;
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < count; number += threads) {
        int64 image = number;
        Place<int64> pixel = place_in(take(image, args.by_pixels), w.by_image);
        T sum = T::ZERO;
        for (int64 k = 0; k < args.by_taps.n; k++) {
            int64 output = output_of(w, pixel, place_in(k, w.by_kernel));
            if (output >= 0) sum = sum.add(((const T*)args.t)[(image * args.by_taps.n + k) * args.by_places.n + output]);
        }
        ((T*)args.r)[number] = sum;
    }
}
