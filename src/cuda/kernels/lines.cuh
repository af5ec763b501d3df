// Lines: the elements along the last dimension of an input, and those of up to two results that go with each line.

struct Lines {
    // The lines: bytes from line to line, of the input and of each result.
    Loops<3> outer;
    const byte* x;
    // The results; NULL for one that is not wanted.
    byte* out[2];
    // Elements of a line of the input.
    int64 n;
    // Bytes from element to element, of the input and of each result.
    int64 step[3];
    // Of the input and of each result.
    int dtype[3];
    int unused;
};

// A line: its first element in the input and in each result.
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
