// Matrix products: r = beta * t + alpha * (a @ b), by tiles, by one warp for each element, or by one thread for each element.
//
// The products of a sum are numbered, starting with the first matrix of a summed batch. If a result has few elements, ranges of these
// numbers, the splits, are computed by different blocks. Their sums go to `partial`, and `join_splits` adds them.

struct MatmulArgs {
    const void* a;
    const void* b;
    void* c;
    // The addend, or NULL.
    const void* t;
    // Row-major m x n sums for each split and product; NULL if there is one split, whose sums go to c.
    void* partial;
    int64 m, n, k;
    // The distances between rows and between columns of a and b in elements.
    int64 a_row, a_col, b_row, b_col;
    // The distances between rows and between columns of c and t in bytes.
    int64 c_row, c_col, t_row, t_col;
    int64 splits, split_depth;
    // The factors, for floats and for integers.
    double alpha, beta;
    int64 whole_alpha, whole_beta;
    // The loops over products with separate results: places of a, b, c and t.
    Loops<4> products;
    // The loops over products that are summed: places of a and b.
    Loops<2> summed;
    // True if elements along a row of a, or along a column of b, are closer in memory than neighbouring rows, or columns.
    int a_along, b_along;
    int t_dtype, c_dtype;
};

// The type in which elements of a storage type are multiplied.
template <class S> struct Product { typedef typename Compute<S>::type type; };
template <> struct Product<u8> { typedef i32 type; };
template <> struct Product<i8> { typedef i32 type; };
template <> struct Product<i16> { typedef i32 type; };

DEVICE int64 smaller(int64 a, int64 b) { return a < b ? a : b; }

template <class T> DEVICE T factor(double number, int64 whole) {
    if constexpr (T::FLOAT) return T::from_f64(number);
    else return T::from_i64(whole);
}

// Stores an element of the result or of `partial`. `index` counts products and then splits.
template <class T> DEVICE void put(const MatmulArgs& args, int64 index, int64 i, int64 j, T sum) {
    if (args.partial) {
        ((T*)args.partial)[(index * args.m + i) * args.n + j] = sum;
        return;
    }
    int64 at[4];
    offsets(args.products, index, at);
    T value = factor<T>(args.alpha, args.whole_alpha).mul(sum);
    if (args.t) {
        T t = load<T>((const byte*)args.t + at[3] + i * args.t_row + j * args.t_col, args.t_dtype);
        value = factor<T>(args.beta, args.whole_beta).mul(t).add(value);
    }
    store((byte*)args.c + at[2] + i * args.c_row + j * args.c_col, args.c_dtype, value);
}

// Calls `f` with the matrices and the range of depths of each part of a product's sums.
template <class S, class F> DEVICE void each_part(const MatmulArgs& args, int64 index, F f) {
    int64 split = index / args.products.total, begin = split * args.split_depth, at[4];
    int64 end = smaller(begin + args.split_depth, args.summed.total * args.k);
    offsets(args.products, index - split * args.products.total, at);
    const byte* a = (const byte*)args.a + at[0];
    const byte* b = (const byte*)args.b + at[1];
    while (begin < end) {
        int64 matrix = begin / args.k, from = begin - matrix * args.k, to = smaller(args.k, from + end - begin), place[2];
        offsets(args.summed, matrix, place);
        f((const S*)(a + place[0]), (const S*)(b + place[1]), from, to);
        begin += to - from;
    }
}

// One block for each tile.
template <class S> __device__ void multiply_tiles(const MatmulArgs& args) {
    typedef typename Product<S>::type T;
    __shared__ FactorTile<T> left, right;
    uint down = (uint)((args.m + TILE - 1) / TILE), across = (uint)((args.n + TILE - 1) / TILE);
    uint rest = blockIdx.x / across, index = rest / down, of_row = rest - index * down, of_col = blockIdx.x - rest * across;
    Sums<T> total;
    total.clear();
    each_part<S>(args, index, [&](const S* a, const S* b, int64 from, int64 to) {
        int64 row = (int64)of_row * TILE, col = (int64)of_col * TILE;
        Strided<T, S> of_a(a + row * args.a_row, args.a_row, args.a_col, args.m - row, args.a_along != 0);
        Strided<T, S> of_b(b + col * args.b_col, args.b_col, args.b_row, args.n - col, args.b_along != 0);
        add_products(of_a, of_b, from, to, left, right, total);
    });
    total.each(left.buffer(), [&](int i, int j, T sum) {
        int64 row = (int64)of_row * TILE + i, col = (int64)of_col * TILE + j;
        if (row < args.m && col < args.n) put(args, index, row, col, sum);
    });
}

// The place of an element by its number, which counts elements of a row, then rows, products and splits.
struct Place {
    int64 i, j, index;
};

DEVICE Place place_of(const MatmulArgs& args, int64 number) {
    int64 row = number / args.n, index = row / args.m;
    return {row - index * args.m, number - row * args.n, index};
}

DEVICE int64 elements_of(const MatmulArgs& args) { return args.products.total * args.splits * args.m * args.n; }

// One warp for each element. Its threads compute neighbouring products.
template <class S> __device__ void multiply_rows(const MatmulArgs& args) {
    typedef typename Product<S>::type T;
    typedef typename Wide<T>::type W;
    int64 count = elements_of(args), warps = (int64)gridDim.x * WARPS;
    for (int64 number = (int64)blockIdx.x * WARPS + threadIdx.x / 32; number < count; number += warps) {
        Place e = place_of(args, number);
        W sum = W::ZERO;
        each_part<S>(args, e.index, [&](const S* a, const S* b, int64 from, int64 to) {
            from += threadIdx.x % 32;
            a += e.i * args.a_row + from * args.a_col;
            b += e.j * args.b_col + from * args.b_row;
#pragma unroll 4
            for (; from < to; from += 32, a += 32 * args.a_col, b += 32 * args.b_row) {
                sum = sum.add(convert<W>(convert<T>(*a)).mul(convert<W>(convert<T>(*b))));
            }
        });
        sum = warp_reduce(sum, [](W a, W b) { return a.add(b); });
        if (threadIdx.x % 32 == 0) put(args, e.index, e.i, e.j, convert<T>(sum));
    }
}

// One thread for each element.
template <class S> __device__ void multiply_elements(const MatmulArgs& args) {
    typedef typename Product<S>::type T;
    int64 count = elements_of(args), threads = (int64)gridDim.x * BLOCK;
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < count; number += threads) {
        Place e = place_of(args, number);
        T total = T::ZERO;
        each_part<S>(args, e.index, [&](const S* a, const S* b, int64 from, int64 to) {
            a += e.i * args.a_row + from * args.a_col;
            b += e.j * args.b_col + from * args.b_row;
            while (from < to) {
                int count = (int)smaller(PIECE, to - from);
                T sum = T::ZERO;
#pragma unroll 4
                for (int k = 0; k < count; k++, a += args.a_col, b += args.b_row) sum = sum.add(convert<T>(*a).mul(convert<T>(*b)));
                total = total.add(sum);
                from += count;
            }
        });
        put(args, e.index, e.i, e.j, total);
    }
}

// The sums of splits, and the work with their result, which has one split and no `partial`.
struct JoinArgs {
    const void* partial;
    int64 splits;
    MatmulArgs to;
};

template <class T> __device__ void join_splits(const JoinArgs& args) {
    int64 count = elements_of(args.to);
    const T* partial = (const T*)args.partial;
    if (args.splits > 32) {
        int64 warps = (int64)gridDim.x * WARPS;
        for (int64 number = (int64)blockIdx.x * WARPS + threadIdx.x / 32; number < count; number += warps) {
            T sum = sum_by_warp(partial + number, args.splits, count);
            Place e = place_of(args.to, number);
            if (threadIdx.x % 32 == 0) put(args.to, e.index, e.i, e.j, sum);
        }
        return;
    }
    int64 threads = (int64)gridDim.x * BLOCK;
    for (int64 number = (int64)blockIdx.x * BLOCK + threadIdx.x; number < count; number += threads) {
        Place e = place_of(args.to, number);
        put(args.to, e.index, e.i, e.j, sum_by_thread(partial + number, args.splits, count));
    }
}
