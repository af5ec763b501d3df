// Compressed sparse rows: products with dense matrices, and softmax of rows. Sums have a fixed order, so no result depends on the order in
// which threads run.

struct CompressedArgs {
    // The index of each row's first entry, followed by the number of entries; and the column of each entry.
    const byte* starts;
    const byte* columns;
    // The values of the entries; NULL if all are 1.
    const byte* entries;
    // Row-major dense matrices, or values of entries.
    const byte* a;
    const byte* b;
    byte* to;
    // The errors in positions; see `compressed_check`.
    uint64* found;
    Order order;
    int64 rows;
    int64 n;
    // The numbers of columns of the matrix and of dense ones.
    int64 size;
    int64 width;
    // True if positions are int64, false if they are int32.
    int wide;
    int unused;
};

DEVICE float exponential(float x) { return ::expf(x); }
DEVICE double exponential(double x) { return ::exp(x); }

DEVICE int64 position(const CompressedArgs& args, const byte* positions, int64 i) {
    return args.wide ? ((const int64*)positions)[i] : ((const int*)positions)[i];
}
DEVICE int64 start_of(const CompressedArgs& args, int64 row) { return position(args, args.starts, row); }
DEVICE int64 column_of(const CompressedArgs& args, int64 entry) { return position(args, args.columns, entry); }

template <class T> DEVICE T entry_of(const CompressedArgs& args, int64 k) {
    return args.entries ? ((const T*)args.entries)[k] : T::from_i64(1);
}

// The row of an entry.
DEVICE int64 row_of(const CompressedArgs& args, int64 entry) {
    int64 low = 0, end = args.rows;
    while (end - low > 1) {
        const int64 middle = low + (end - low) / 2;
        if (start_of(args, middle) <= entry) low = middle;
        else end = middle;
    }
    return low;
}

// Calls `f` with each of `n` numbers, one warp for each.
template <class F> DEVICE void each_warp(int64 n, F f) {
    for (int64 i = first_item() / 32; i < n; i += item_step() / 32) f(i);
}

template <class T> DEVICE T sum_of_warp(T x) {
    return warp_reduce(x, [](T a, T b) { return a.add(b); });
}

// Sets the first counter to the number of rows from the first one on that ends before it starts, and the second counter to the number of
// entries from the first one on whose column is out of range.
DEVICE void compressed_check(const CompressedArgs& args) {
    for (int64 i = first_item(); i < args.rows; i += item_step()) {
        if (start_of(args, i) > start_of(args, i + 1)) atomicMax(&args.found[0], (uint64)(args.rows - i));
    }
    if (!args.columns) return;
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        if ((uint64)column_of(args, i) >= (uint64)args.size) atomicMax(&args.found[1], (uint64)(args.n - i));
    }
}

// `r = A m`: one thread for each element.
template <class T> DEVICE void compressed_product(const CompressedArgs& args) {
    const T* m = (const T*)args.a;
    for (int64 i = first_item(); i < args.rows * args.width; i += item_step()) {
        const Division at = divided(i, args.width);
        const int64 end = start_of(args, at.quotient + 1);
        T sum = T::ZERO;
        for (int64 k = start_of(args, at.quotient); k < end; k++) {
            sum = sum.add(entry_of<T>(args, k).mul(m[column_of(args, k) * args.width + at.rest]));
        }
        ((T*)args.to)[i] = sum;
    }
}

// `r = A m` for a vector: one warp for each row.
template <class T> DEVICE void compressed_vector(const CompressedArgs& args) {
    const T* m = (const T*)args.a;
    each_warp(args.rows, [&](int64 i) {
        const int64 end = start_of(args, i + 1);
        T sum = T::ZERO;
        for (int64 k = start_of(args, i) + threadIdx.x % 32; k < end; k += 32) {
            sum = sum.add(entry_of<T>(args, k).mul(m[column_of(args, k)]));
        }
        sum = sum_of_warp(sum);
        if (threadIdx.x % 32 == 0) ((T*)args.to)[i] = sum;
    });
}

// Sets the key of each entry to its column.
DEVICE void compressed_keys(const CompressedArgs& args) {
    order_fill(args.order, [&](int64 i) { return (uint64)column_of(args, i); });
}

// `r = A' m`: one thread for each element. It adds the entries of a column in their order in the matrix.
template <class T> DEVICE void compressed_transposed(const CompressedArgs& args) {
    const T* m = (const T*)args.a;
    const int buffer = order_buffer(args.order);
    const uint64* keys = args.order.keys[buffer];
    const uint* ordinals = args.order.ordinals[buffer];
    for (int64 i = first_item(); i < args.size * args.width; i += item_step()) {
        const Division at = divided(i, args.width);
        T sum = T::ZERO;
        for (int64 k = first_key(args.order, keys, (uint64)at.quotient); k < args.n && keys[k] == (uint64)at.quotient; k++) {
            const int64 entry = ordinals[k];
            sum = sum.add(entry_of<T>(args, entry).mul(m[row_of(args, entry) * args.width + at.rest]));
        }
        ((T*)args.to)[i] = sum;
    }
}

// `r[k] = a[i] . b[j]` for entry `k` in row `i` and column `j`: one warp for each.
template <class T> DEVICE void compressed_sampled(const CompressedArgs& args) {
    each_warp(args.n, [&](int64 k) {
        const T* a = (const T*)args.a + row_of(args, k) * args.width;
        const T* b = (const T*)args.b + column_of(args, k) * args.width;
        T sum = T::ZERO;
        for (int64 i = threadIdx.x % 32; i < args.width; i += 32) sum = sum.add(a[i].mul(b[i]));
        sum = sum_of_warp(sum);
        if (threadIdx.x % 32 == 0) ((T*)args.to)[k] = sum;
    });
}

// Softmax of the entries of each row: one warp for each.
template <class T> DEVICE void compressed_softmax(const CompressedArgs& args) {
    const T* x = (const T*)args.a;
    T* r = (T*)args.to;
    each_warp(args.rows, [&](int64 i) {
        const int64 first = start_of(args, i) + threadIdx.x % 32, end = start_of(args, i + 1);
        T most = T::least();
        for (int64 k = first; k < end; k += 32) most = x[k] > most ? x[k] : most;
        most = warp_reduce(most, [](T a, T b) { return a > b ? a : b; });
        double sum = 0;
        for (int64 k = first; k < end; k += 32) sum += exponential((x[k] - most).v);
        const T share = T::from_f64(1 / sum_of_warp(f64(sum)).v);
        for (int64 k = first; k < end; k += 32) r[k] = T(exponential((x[k] - most).v)) * share;
    });
}

// `r = y * (g - sum of g * y)` over each row: one warp for each.
template <class T> DEVICE void compressed_softmax_gradient(const CompressedArgs& args) {
    const T *g = (const T*)args.a, *y = (const T*)args.b;
    T* r = (T*)args.to;
    each_warp(args.rows, [&](int64 i) {
        const int64 first = start_of(args, i) + threadIdx.x % 32, end = start_of(args, i + 1);
        f64 sum = 0;
        for (int64 k = first; k < end; k += 32) sum += g[k].to_f64() * y[k].to_f64();
        const T total = T::from_f64(sum_of_warp(sum));
        for (int64 k = first; k < end; k += 32) r[k] = y[k] * (g[k] - total);
    });
}
