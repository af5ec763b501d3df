// Runs of equal elements of a vector, or of equal rows of a matrix, which some places bring into order. Each run begins at a head, and the
// number of heads up to an element is the number of its run. No NaN equals another: each is a run of its own.

struct UniqueArgs {
    // Row-major, of the type that is computed in.
    const byte* x;
    // The order; NULL if it is that of the elements.
    const uint* places;
    // Rows in runs of which each is sorted, and where they go.
    const uint* from;
    uint* to;
    // True for each head, then the number of heads up to each element.
    byte* heads;
    const int* numbers;
    // Where each run begins.
    int64* starts;
    byte* values;
    // NULL if it is not wanted.
    int64* inverse;
    int64* counts;
    // Elements or rows, and runs.
    int64 n;
    int64 runs;
    // Elements of a row.
    int64 width;
    // Rows that are in order already.
    int64 sorted;
};

DEVICE int64 first_item() { return (int64)blockIdx.x * BLOCK + threadIdx.x; }
DEVICE int64 item_step() { return (int64)gridDim.x * BLOCK; }
DEVICE int64 place_of(const UniqueArgs& args, int64 i) { return args.places ? args.places[i] : i; }

// The order of two rows: below 0 if the first one comes first, 0 if they are equal. The first key in which they differ decides.
template <class T> DEVICE int compared(const UniqueArgs& args, int64 a, int64 b) {
    const T* x = (const T*)args.x;
    for (int64 j = 0; j < args.width; j++) {
        typename Key<T>::type first = Key<T>::of(x[a * args.width + j]), second = Key<T>::of(x[b * args.width + j]);
        if (first != second) return first < second ? -1 : 1;
    }
    return 0;
}

// Makes each row a run of its own.
DEVICE void unique_places(const UniqueArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) args.to[i] = (uint)i;
}

// Merges pairs of sorted runs of rows: a row goes behind those of its run and those of the other run that come before it.
template <class T> DEVICE void unique_merge(const UniqueArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        int64 own = i / args.sorted * args.sorted, pair = i / (2 * args.sorted) * 2 * args.sorted;
        bool second = own != pair;
        int64 other = second ? pair : pair + args.sorted;
        int64 low = least(other, args.n), end = least(other + args.sorted, args.n), row = args.from[i];
        int64 first = low, left = end - low;
        while (left > 0) {
            int64 half = left / 2;
            int order = compared<T>(args, args.from[low + half], row);
            // Equal rows of the first run come first.
            if (order < 0 || (order == 0 && second)) {
                low += half + 1;
                left -= half + 1;
            } else {
                left = half;
            }
        }
        args.to[pair + (i - own) + (low - first)] = (uint)row;
    }
}

// Marks the rows that differ from the one before, and those with a NaN.
template <class T> DEVICE void unique_heads(const UniqueArgs& args) {
    const T* x = (const T*)args.x;
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        int64 row = place_of(args, i);
        bool head = i == 0 || compared<T>(args, row, place_of(args, i - 1)) != 0;
        for (int64 j = 0; j < args.width && Key<T>::FLOAT && !head; j++) head = x[row * args.width + j].is_nan();
        args.heads[i] = head;
    }
}

// Writes where each run begins, and for each row the number of its run.
DEVICE void unique_starts(const UniqueArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        int64 run = args.numbers[i] - 1;
        if (i == 0 || args.numbers[i - 1] != args.numbers[i]) args.starts[run] = i;
        if (args.inverse) args.inverse[place_of(args, i)] = run;
    }
}

// Writes the length of each run, and its first row.
template <class T> DEVICE void unique_values(const UniqueArgs& args) {
    for (int64 i = first_item(); i < args.runs * args.width; i += item_step()) {
        int64 run = args.width == 1 ? i : i / args.width, column = i - run * args.width, start = args.starts[run];
        ((T*)args.values)[i] = ((const T*)args.x)[place_of(args, start) * args.width + column];
        if (column == 0) args.counts[run] = (run + 1 < args.runs ? args.starts[run + 1] : args.n) - start;
    }
}
