// Elements computed from their position: progressions, triangles of matrices, one-hot rows.

struct IntegersArgs {
    byte* to;
    int64 n;
    int64 start;
    int64 step;
};

// `start + i * step`, truncated to the lower bits.
template <int SIZE> DEVICE void integers(const IntegersArgs& args) {
    typedef typename Unit<SIZE>::type T;
    for (int64 i = first_item(); i < args.n; i += item_step()) ((T*)args.to)[i] = (T)((uint64)args.start + (uint64)i * (uint64)args.step);
}

// A progression: the number at position `origin` is `anchor`.
struct Ramp {
    double anchor;
    int64 origin;
    double step;
};

struct SpacedArgs {
    byte* to;
    int64 n;
    // The progression before position `half`, and the progression from there on.
    Ramp up;
    Ramp down;
    int64 half;
    // The base that is raised to the power of each number, or its logarithm.
    double base;
    int dtype;
    // The kind of power: a value of Power.
    int power;
};

enum Power { NONE, OF_BASE, OF_LOGARITHM };

// Evenly spaced floats, or powers of them.
DEVICE void spaced(const SpacedArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        const Ramp ramp = i < args.half ? args.up : args.down;
        // The product is rounded before it is added, as on the host.
        double x = ramp.anchor + __dmul_rn((double)(i - ramp.origin), ramp.step);
        if (args.power == OF_BASE) x = pow(args.base, x);
        if (args.power == OF_LOGARITHM) x = exp(x * args.base);
        store<f64>(args.to + i * size_of(args.dtype), args.dtype, x);
    }
}

struct TriangleArgs {
    // The matrices of the result and of the source.
    Loops<2> matrices;
    byte* to;
    const byte* from;
    int64 rows;
    int64 columns;
    // The distances between rows and between columns in bytes, for the result and the source.
    int64 row_step[2];
    int64 column_step[2];
    int64 k;
    int upper;
    int unused;
};

// Copies the elements of triangles, and stores 0 outside.
template <int SIZE> DEVICE void triangle(const TriangleArgs& args) {
    typedef typename Unit<SIZE>::type T;
    const int64 area = args.rows * args.columns;
    for (int64 i = first_item(); i < args.matrices.total * area; i += item_step()) {
        const Division matrix = divided(i, area), place = divided(matrix.rest, args.columns);
        const int64 row = place.quotient, column = place.rest;
        const bool inside = args.upper ? column - row >= args.k : column - row <= args.k;
        int64 at[2];
        offsets(args.matrices, matrix.quotient, at);
        const byte* from = args.from + at[1] + row * args.row_step[1] + column * args.column_step[1];
        byte* to = args.to + at[0] + row * args.row_step[0] + column * args.column_step[0];
        *(T*)to = inside ? *(const T*)from : (T)0;
    }
}

struct PlacesArgs {
    // The addresses for rows and columns, and the number of positions.
    int64* rows;
    int64* columns;
    int64 n;
    // The first row with positions, and the number of rows from there on.
    int64 first;
    int64 count;
    // The number of positions of the first row, and the number of rows with the same number.
    int64 width;
    int64 even;
    // The difference of positions, 1 or -1, between each later row and the row before; 0 after a row has `most`.
    int64 growth;
    int64 most;
    // The column of the first position of row r is r + shift, or 0 if that is negative.
    int64 shift;
};

// The number of positions in the first `row` rows with positions.
DEVICE int64 before(const PlacesArgs& args, int64 row) {
    // The numbers of rows as wide as the first, of rows that grow or shrink by one each, and of full rows.
    const int64 even = row < args.even ? row : args.even;
    int64 ramp = row - even;
    const int64 longest = args.growth > 0 ? args.most - args.width : ramp;
    const int64 full = ramp > longest ? ramp - longest : 0;
    ramp -= full;
    return even * args.width + ramp * args.width + args.growth * (ramp * (ramp + 1) / 2) + full * args.most;
}

// Writes the rows and columns of the positions of a triangle, in row-major order.
DEVICE void places(const PlacesArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        // Searches the last row that begins at or before position i.
        int64 row = 0, rows = args.count;
        while (rows > 1) {
            const int64 half = rows / 2;
            if (before(args, row + half) <= i) row += half;
            rows -= half;
        }
        const int64 start = args.first + row + args.shift;
        args.rows[i] = args.first + row;
        args.columns[i] = (start > 0 ? start : 0) + i - before(args, row);
    }
}

struct MarkArgs {
    byte* to;
    const int64* columns;
    int64 n;
    int64 width;
    uint64 bits;
    int size;
    int unused;
};

// Stores a number in each row, in the column that is listed for it.
DEVICE void mark(const MarkArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        byte* to = args.to + (i * args.width + args.columns[i]) * args.size;
        for (int k = 0; k < args.size; k++) to[k] = (byte)(args.bits >> (8 * k));
    }
}
