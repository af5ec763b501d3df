// Binary search in ascending sequences.

struct SearchArgs {
    const byte* sequences;
    const byte* x;
    byte* to;
    // The number of elements that are searched for.
    int64 total;
    // The number of consecutive elements that are searched for in one sequence.
    int64 row;
    // The number of elements of a sequence.
    int64 n;
    // True for the position after equal elements, or for elements that are not in the sequence.
    int other;
    int unused;
};

// The order of sequences: NaN is the greatest, and equal to itself.
template <class T> DEVICE bool less(T a, T b) { return a < b || (b.is_nan() && !a.is_nan()); }

// The number of elements of the sequence before `x`; with `right` the number of elements that are not greater than `x`.
template <class T> DEVICE int64 place_in(const T* sequence, int64 n, T x, bool right) {
    int64 base = 0;
    // The position is among the `n` elements from the base on, or after the last of them.
    while (n > 1) {
        const int64 half = n / 2;
        const T y = sequence[base + half - 1];
        base += (right ? !less(x, y) : less(y, x)) ? half : 0;
        n -= half;
    }
    if (n == 0) return base;
    const T y = sequence[base];
    return base + (right ? !less(x, y) : less(y, x));
}

// Writes the position of each element.
template <class T> DEVICE void search(const SearchArgs& args) {
    for (int64 i = first_item(); i < args.total; i += item_step()) {
        const T* sequence = (const T*)args.sequences + divided(i, args.row).quotient * args.n;
        ((int64*)args.to)[i] = place_in(sequence, args.n, ((const T*)args.x)[i], args.other != 0);
    }
}

// Writes whether the sequence contains each element. No sequence contains NaN.
template <class T> DEVICE void contains(const SearchArgs& args) {
    const T* sequence = (const T*)args.sequences;
    for (int64 i = first_item(); i < args.total; i += item_step()) {
        const T x = ((const T*)args.x)[i];
        const int64 place = place_in(sequence, args.n, x, false);
        const bool found = place < args.n && sequence[place] == x;
        args.to[i] = found != (args.other != 0);
    }
}
