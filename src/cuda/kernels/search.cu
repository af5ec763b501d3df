// Binary search in ascending sequences.

struct SearchArgs {
    const byte* sequences;
    const byte* x;
    byte* to;
    // Elements that are searched for.
    int64 total;
    // How many of them in a row are searched for in one sequence.
    int64 row;
    // Elements of a sequence.
    int64 n;
    // True for the place behind equal elements, or for elements that are in no sequence.
    int other;
    int unused;
};

// The order of sequences: NaN is the greatest, and equal to itself.
template <class T> DEVICE bool less(T a, T b) { return a < b || (b.is_nan() && !a.is_nan()); }

// How many elements of the sequence come before `x`, or with `right` before everything greater than it.
template <class T> DEVICE int64 place_in(const T* sequence, int64 n, T x, bool right) {
    int64 base = 0;
    // The place lies in `n` elements from the base on, or behind the last of those.
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

// The place of each element.
template <class T> DEVICE void search(const SearchArgs& args) {
    for (int64 i = first_item(); i < args.total; i += item_step()) {
        const T* sequence = (const T*)args.sequences + divided(i, args.row).quotient * args.n;
        ((int64*)args.to)[i] = place_in(sequence, args.n, ((const T*)args.x)[i], args.other != 0);
    }
}

// Tells of each element whether the sequence has it. No NaN is in any.
template <class T> DEVICE void contains(const SearchArgs& args) {
    const T* sequence = (const T*)args.sequences;
    for (int64 i = first_item(); i < args.total; i += item_step()) {
        const T x = ((const T*)args.x)[i];
        const int64 place = place_in(sequence, args.n, x, false);
        const bool found = place < args.n && sequence[place] == x;
        args.to[i] = found != (args.other != 0);
    }
}
