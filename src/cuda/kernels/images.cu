// Convolutions: x [batch][groups * inputs][pixels], y [batch][groups * outputs][places], w [groups * outputs][inputs][taps].
//
// Each group is a matrix product. One factor is gathered from windows while its tiles are loaded into shared memory:
//   FORWARD     y = w x     rows: outputs   columns: places of all images   depth: inputs and taps
//   TRANSPOSED  x = w' y    rows: inputs    columns: pixels of all images   depth: outputs and taps
//   WEIGHTS     w = y x'    rows: outputs   columns: inputs and taps        depth: places of all images
// A sum over many places is split, as in matmul.cu. Integers, groups of few channels, and operands of more than 2^31 elements use one
// thread or one block for each element.

enum Convolved { FORWARD, TRANSPOSED, WEIGHTS };

struct ConvolutionArgs {
    // The first factor, which is w or y; the second factor; and the result.
    const void* a;
    const void* b;
    void* r;
    // A number for each channel of the result, or NULL.
    const void* bias;
    // The sums of splits, each shaped like the result; NULL if there is one split.
    void* partial;
    int64 batch, groups, inputs, outputs;
    // The numbers of rows and columns, and the depth, of a group's product.
    int64 rows, columns, depth;
    int64 splits, split_depth;
    Windows window;
    Divider by_taps, by_places, by_pixels;
};

// The channel and the tap of a number that counts the taps of channels from 0 on.
template <class N> struct Tap {
    N channel;
    Place<N> place;

    DEVICE Tap(const ConvolutionArgs& args, N number) {
        channel = divide(number, args.by_taps);
        place = place_in(number, args.window.by_kernel);
    }
};

// The first factor of a group.
template <class T, int OF, class N> struct Left {
    const ConvolutionArgs& args;
    const T* first;
    N row;
    bool along;

    DEVICE Left(const ConvolutionArgs& args, N group, N row) : args(args), row(row) {
        int64 channel = group * args.outputs;
        first = (const T*)args.a + channel * (OF == WEIGHTS ? args.by_places.n : args.inputs * args.by_taps.n);
        along = OF != TRANSPOSED || args.by_taps.n > 1;
    }

    DEVICE T get(N k, N row) const {
        if (OF == FORWARD) return first[row * (N)args.depth + k];
        if (OF == TRANSPOSED) {
            N channel = divide(k, args.by_taps);
            return first[(channel * (N)args.inputs + row) * (N)args.by_taps.n + k];
        }
        N image = divide(k, args.by_places);
        return first[(image * (N)(args.groups * args.outputs) + row) * (N)args.by_places.n + k];
    }

    DEVICE T at(int64 from, int i) const {
        N at = row + place_of(along, i);
        return at < (N)args.rows ? get((N)from + depth_of(along, i), at) : T(T::ZERO);
    }
};

// The second factor of a group for one column of the product: elements of y or x, or one tap.
template <class T, int OF, class N> struct Column {
    const T* first;
    Place<N> place;

    DEVICE Column() {}

    DEVICE Column(const ConvolutionArgs& args, N group, N number) {
        const T* data = (const T*)args.b;
        if (OF == FORWARD) {
            N image = divide(number, args.by_places);
            first = data + (image * args.groups + group) * args.inputs * args.by_pixels.n;
            place = place_in(number, args.window.by_out);
        } else if (OF == TRANSPOSED) {
            N image = divide(number, args.by_pixels);
            first = data + (image * args.groups + group) * args.outputs * args.by_places.n;
            place = place_in(number, args.window.by_image);
        } else {
            Tap<N> tap(args, number);
            first = data + (group * args.inputs + tap.channel) * args.by_pixels.n;
            place = tap.place;
        }
    }

    // The element at a depth.
    DEVICE T get(const ConvolutionArgs& args, N k) const {
        N at, channel;
        if (OF == WEIGHTS) {
            channel = divide(k, args.by_places) * (N)(args.groups * args.inputs);
            at = pixel_of(args.window, place_in(k, args.window.by_out), place);
        } else {
            Tap<N> tap(args, k);
            channel = tap.channel;
            at = OF == FORWARD ? pixel_of(args.window, place, tap.place) : output_of(args.window, place, tap.place);
        }
        const Divider& by = OF == TRANSPOSED ? args.by_places : args.by_pixels;
        return at < 0 ? T(T::ZERO) : first[channel * (N)by.n + at];
    }
};

// The columns of a tile. If a thread loads across the depth, all its elements are in one column.
template <class T, int OF, class N> struct Right {
    static constexpr bool along = OF == WEIGHTS;
    const ConvolutionArgs& args;
    Column<T, OF, N> columns[along ? BROUGHT : 1];
    int count;

    DEVICE Right(const ConvolutionArgs& args, N group, N column) : args(args) {
        N left = (N)args.columns - column;
        count = left < TILE ? (int)left : TILE;
#pragma unroll
        for (int i = 0; i < (along ? BROUGHT : 1); i++) {
            if (place_of(along, i) < count) columns[i] = Column<T, OF, N>(args, group, column + place_of(along, i));
        }
    }

    DEVICE T at(int64 from, int i) const {
        return place_of(along, i) < count ? columns[along ? i : 0].get(args, (N)from + depth_of(along, i)) : T(T::ZERO);
    }
};

// An element of the result or of `partial`.
template <class T, int OF, class N> DEVICE void put(const ConvolutionArgs& args, N split, N group, N row, N column, T sum) {
    N channel = group * (N)args.rows + row;
    int64 index;
    if (OF == WEIGHTS) {
        index = channel * args.columns + column;
    } else {
        const Divider& by = OF == FORWARD ? args.by_places : args.by_pixels;
        N image = divide(column, by);
        index = (image * args.groups * args.rows + channel) * by.n + column;
    }
    if (args.partial) ((T*)args.partial)[split * (args.groups * args.rows * args.columns) + index] = sum;
    else ((T*)args.r)[index] = args.bias ? ((const T*)args.bias)[channel].add(sum) : sum;
}

// One block for each tile of a group.
template <class T, int OF> __device__ void convolve_tiles(const ConvolutionArgs& args) {
    __shared__ FactorTile<T> left, right;
    int down = ((int)args.rows + TILE - 1) / TILE, across = ((int)args.columns + TILE - 1) / TILE;
    int rest = blockIdx.x / down, row = (blockIdx.x - rest * down) * TILE, index = rest / across, column = (rest - index * across) * TILE;
    int split = index / (int)args.groups, group = index - split * (int)args.groups;
    int64 from = split * args.split_depth, to = from + args.split_depth < args.depth ? from + args.split_depth : args.depth;
    Sums<T> total;
    total.clear();
    Left<T, OF, int> of_a(args, group, row);
    Right<T, OF, int> of_b(args, group, column);
    add_products(of_a, of_b, from, to, left, right, total);
    total.each(left.buffer(), [&](int i, int j, T sum) {
        if (row + i < (int)args.rows && column + j < (int)args.columns) put<T, OF>(args, split, group, row + i, column + j, sum);
    });
}

// Calls `f` with group, row and column of each element of the products, from `first` on in steps of `threads`.
template <class F> DEVICE void each_element(const ConvolutionArgs& args, int64 first, int64 threads, F f) {
    int64 count = args.groups * args.rows * args.columns;
    for (int64 number = first; number < count; number += threads) {
        int64 rest = number / args.columns, group = rest / args.rows;
        f(group, rest - group * args.rows, number - rest * args.columns);
    }
}

// One thread for each element. It sums the products over the taps of each channel, and adds the sums of the channels.
template <class T, int OF> __device__ void convolve_elements(const ConvolutionArgs& args) {
    each_element(args, (int64)blockIdx.x * BLOCK + threadIdx.x, (int64)gridDim.x * BLOCK, [&](int64 group, int64 row, int64 column) {
        Left<T, OF, int64> a(args, group, row);
        Column<T, OF, int64> b(args, group, column);
        T total = T::ZERO;
        for (int64 from = 0; from < args.depth; from += args.by_taps.n) {
            T sum = T::ZERO;
            for (int64 k = from; k < from + args.by_taps.n; k++) sum = sum.add(a.get(k, row).mul(b.get(args, k)));
            total = total.add(sum);
        }
        put<T, OF>(args, (int64)0, group, row, column, total);
    });
}

// One block for each element of the weights.
template <class T> __device__ void convolve_weights(const ConvolutionArgs& args) {
    typedef typename Wide<T>::type W;
    __shared__ W shared[WARPS];
    each_element(args, blockIdx.x, gridDim.x, [&](int64 group, int64 row, int64 column) {
        Left<T, WEIGHTS, int64> a(args, group, row);
        Column<T, WEIGHTS, int64> b(args, group, column);
        W sum = W::ZERO;
        for (int64 k = threadIdx.x; k < args.depth; k += BLOCK) {
            sum = sum.add(convert<W>(a.get(k, row)).mul(convert<W>(b.get(args, k))));
        }
        sum = block_reduce(sum, [](W a, W b) { return a.add(b); }, W(W::ZERO), shared);
        if (threadIdx.x == 0) put<T, WEIGHTS>(args, (int64)0, group, row, column, convert<T>(sum));
    });
}

// Adds the sums of all splits to the weights.
template <class T> __device__ void join_weights(const ConvolutionArgs& args) {
    int64 count = args.groups * args.rows * args.columns;
    const T* partial = (const T*)args.partial;
    T* r = (T*)args.r;
    if (args.splits > 32) {
        int64 warps = (int64)gridDim.x * WARPS;
        for (int64 i = (int64)blockIdx.x * WARPS + threadIdx.x / 32; i < count; i += warps) {
            T sum = sum_by_warp(partial + i, args.splits, count);
            if (threadIdx.x % 32 == 0) r[i] = sum;
        }
        return;
    }
    int64 threads = (int64)gridDim.x * BLOCK;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += threads) r[i] = sum_by_thread(partial + i, args.splits, count);
}
