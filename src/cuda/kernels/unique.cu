// Runs of equal elements of a vector, or of equal rows of a matrix, in an order that is given by places. Each run begins at a head. The
// number of heads up to an element is the number of its run. No NaN equals another, so each NaN is a separate run.

struct UniqueArgs {
    // The elements, row-major, in the compute type.
    const byte* x;
    // The order; NULL for the order of the elements in memory.
    const uint* places;
    // The rows in sorted runs, and the destination of the merge.
    const uint* from;
    uint* to;
    // True for each head; then the number of heads up to each element.
    byte* heads;
    const int* numbers;
    // The start of each run.
    int64* starts;
    byte* values;
    // The run of each element; NULL if it is not wanted.
    int64* inverse;
    int64* counts;
    // The number of elements or rows, and the number of runs.
    int64 n;
    int64 runs;
    // The number of elements of a row.
    int64 width;
    // The length of sorted runs in rows.
    int64 sorted;
};

DEVICE int64 first_item() { return (int64)blockIdx.x * BLOCK + threadIdx.x; }
DEVICE int64 item_step() { return (int64)gridDim.x * BLOCK; }
DEVICE int64 place_of(const UniqueArgs& args, int64 i) { return args.places ? args.places[i] : i; }

// Compares two rows: negative if the first one comes first, 0 if they are equal. The first different key decides.
template <class T> DEVICE int compared(const UniqueArgs& args, int64 a, int64 b) {
    const T* x = (const T*)args.x;
    for (int64 j = 0; j < args.width; j++) {
        typename Key<T>::type first = Key<T>::of(x[a * args.width + j]), second = Key<T>::of(x[b * args.width + j]);
        if (first != second) return first < second ? -1 : 1;
    }
    return 0;
}

// Makes each row a sorted run.
DEVICE void unique_places(const UniqueArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) args.to[i] = (uint)i;
}

// Merges pairs of sorted runs of rows. The new position of a row is the number of rows before it in both runs.
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

// Writes the start of each run, and the run number of each row.
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
