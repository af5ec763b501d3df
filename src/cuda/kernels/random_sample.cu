// Samples: permutations, and categories without replacement.

struct PermutationArgs {
    int64* order;
    // The element that each element is exchanged with; -1 after the exchange.
    int64* targets;
    // The claims on each element: the first exchange of the round that uses the element.
    uint64* cells;
    // Set to 1 if an exchange remains.
    uint64* left;
    int64 n;
    uint64 seed;
    uint64 block;
    int64 round;
};

// Writes the integers in order, and for each one except the last its exchange partner among the remaining ones.
DEVICE void permutation_begin(const PermutationArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        args.order[i] = i;
        args.cells[i] = 0;
        args.targets[i] = i + 1 < args.n ? i + (int64)upper_half(double_word(args.seed, args.block, i), (uint64)(args.n - i)) : -1;
    }
}

// The result is as if exchanges were done one after the other. Exchanges of different elements are independent: in each round, every
// element is claimed by the first exchange that uses it, and an exchange that has claimed both its elements is done. Claims of later rounds
// and of earlier exchanges are greater.
DEVICE uint64 claim(const PermutationArgs& args, int64 i) { return (uint64)args.round << 40 | (uint64)(args.n - i); }

DEVICE void permutation_claim(const PermutationArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        const int64 target = args.targets[i];
        if (target < 0) continue;
        atomicMax(&args.cells[i], claim(args, i));
        atomicMax(&args.cells[target], claim(args, i));
    }
}

DEVICE void permutation_exchange(const PermutationArgs& args) {
    for (int64 i = first_item(); i < args.n; i += item_step()) {
        const int64 target = args.targets[i];
        if (target < 0) continue;
        if (args.cells[i] != claim(args, i) || args.cells[target] != claim(args, i)) {
            *args.left = 1;
            continue;
        }
        const int64 x = args.order[i];
        args.order[i] = args.order[target];
        args.order[target] = x;
        args.targets[i] = -1;
    }
}

struct RaceArgs {
    Order order;
    int64* to;
    int64 n;
    // The probabilities.
    const double* p;
    uint64 seed;
    uint64 block;
};

// Sets the keys to the arrival times of categories. They are exponentially distributed, with the probability as rate. Categories that never
// arrive come last.
DEVICE void race_keys(const RaceArgs& args) {
    order_fill(args.order, [&](int64 i) {
        const double p = args.p[i];
        if (!(p > 0.0)) return ~0ull;
        const uint64 upper = 1ull << 63, bits = bits_of((exponential_of(double_word(args.seed, args.block, i)) * 0.5 / p).v);
        return bits & upper ? ~bits : bits | upper;
    });
}

// The first categories to arrive.
DEVICE void race_result(const RaceArgs& args) {
    const uint* ordinals = args.order.ordinals[order_buffer(args.order)];
    for (int64 i = first_item(); i < args.n; i += item_step()) args.to[i] = ordinals[i];
}
