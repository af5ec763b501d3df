// Divisions of indices by numbers that are constant in a launch. If `fast`, all dividends are below 2^31, and a multiplication is used.
// 32-bit indices always are.

struct Divider {
    int64 n;
    uint multiplier, shift;
    int fast;
    int reserved;
};

DEVICE int quotient(int x, const Divider& by) {
    uint y = (uint)x;
    return (int)(((uint)((uint64)y * by.multiplier >> 32) + y) >> by.shift);
}

DEVICE int64 quotient(int64 x, const Divider& by) { return by.fast ? quotient((int)x, by) : x / by.n; }

// Replaces x by its remainder and returns the quotient.
template <class N> DEVICE N divide(N& x, const Divider& by) {
    N result = quotient(x, by);
    x -= result * (N)by.n;
    return result;
}

// Replaces x by its quotient and returns the remainder.
template <class N> DEVICE N take(N& x, const Divider& by) {
    N before = x;
    x = quotient(x, by);
    return before - x * (N)by.n;
}
