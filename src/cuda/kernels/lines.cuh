// Lines: the elements along the last dimension of an input, and the corresponding lines of up to two results.

struct Lines {
    // The loops over lines, with the steps of the input and of each result.
    Loops<3> outer;
    const byte* x;
    // The results; NULL for a result that is not wanted.
    byte* out[2];
    // The number of elements of a line of the input.
    int64 n;
    // The distance between elements in bytes, for the input and each result.
    int64 step[3];
    // The dtypes of the input and of each result.
    int dtype[3];
    int unused;
};

// A line: the address of its first element in the input and in each result.
struct Line {
    const byte* x;
    byte* out[2];
};

DEVICE Line line_of(const Lines& lines, int64 number) {
    int64 at[3];
    offsets(lines.outer, number, at);
    return Line{lines.x + at[0], {lines.out[0] + at[1], lines.out[1] + at[2]}};
}

DEVICE int64 least(int64 a, int64 b) { return a < b ? a : b; }
