// Elements by position: gathered from a tensor, scattered to it, or accumulated in it.
//
// There are three operands: elements, positions, and the indexed tensor. The place in the tensor moves in the outer loops only; in the
// inner loops it depends on positions only. So elements with different outer places never have the same place. Elements with the same place
// are processed in the order of the inner loops: by one thread that walks them all, or, if there are many, after sorting the positions by
// place.
//
// Positions are checked by an earlier kernel. If one is invalid, the tensor is neither read nor written.

struct IndexArgs {
    Loops<3> outer;
    Loops<3> inner;
    Order order;
    byte* data[3];
    // The distance between entries in bytes.
    int64 step;
    // The number added to negative positions.
    int64 count;
    // A divisor of the distances between the places of the inner loops, in bytes.
    int64 unit;
    // Not 0 if a position is invalid. NULL if positions were not checked.
    const uint64* invalid;
    // The sums of the chunks, for each outer place.
    byte* sums;
    // The number of keys of a chunk.
    int chunk;
    // The combination: a value of Combine.
    int combine;
};

enum Combine { SUM, PRODUCT, GREATEST, LEAST };

// Combines two elements; `a` was there before. For Bool there are only sums and products.
template <class T> DEVICE T combined(int combine, T a, T b) {
    switch (combine) {
    case SUM: return a.add(b);
    case PRODUCT: return a.mul(b);
    case GREATEST: return b > a || b.is_nan() ? b : a;
    default: return a > b || b.is_nan() ? b : a;
    }
}

// The offset in bytes of the place in the tensor to which the position at these offsets leads.
DEVICE int64 place_of(const IndexArgs& args, const int64 (&at)[3]) {
    const int64 position = *(const int64*)(args.data[1] + at[1]);
    return at[2] + (position + (args.count & (position >> 63))) * args.step;
}

// Returns true if a position is invalid.
DEVICE bool is_refused(const IndexArgs& args) { return args.invalid != 0 && *args.invalid != 0; }

// Adds the outer offsets to the inner offsets.
DEVICE void add(const int64 (&outer)[3], int64 (&inner)[3]) {
    for (int k = 0; k < 3; k++) inner[k] += outer[k];
}

// Gathers over the outer loops. A unit of SIZE bytes is one element, or several adjacent ones.
template <int SIZE> DEVICE void gather(const IndexArgs& args) {
    typedef typename Unit<SIZE>::type T;
    if (is_refused(args)) return;
    for (int64 i = first_item(); i < args.outer.total; i += item_step()) {
        int64 at[3];
        offsets(args.outer, i, at);
        *(T*)(args.data[0] + at[0]) = *(const T*)(args.data[2] + place_of(args, at));
    }
}

// Scatters: one thread for each outer place.
template <int SIZE> DEVICE void scatter(const IndexArgs& args) {
    typedef typename Unit<SIZE>::type T;
    if (is_refused(args)) return;
    for (int64 i = first_item(); i < args.outer.total; i += item_step()) {
        int64 outer[3], at[3];
        offsets(args.outer, i, outer);
        for (int64 j = 0; j < args.inner.total; j++) {
            offsets(args.inner, j, at);
            add(outer, at);
            *(T*)(args.data[2] + place_of(args, at)) = *(const T*)(args.data[0] + at[0]);
        }
    }
}

// Accumulates: one thread for each outer place.
template <class T> DEVICE void accumulate(const IndexArgs& args) {
    if (is_refused(args)) return;
    for (int64 i = first_item(); i < args.outer.total; i += item_step()) {
        int64 outer[3], at[3];
        offsets(args.outer, i, outer);
        for (int64 j = 0; j < args.inner.total; j++) {
            offsets(args.inner, j, at);
            add(outer, at);
            T* to = (T*)(args.data[2] + place_of(args, at));
            *to = combined(args.combine, *to, *(const T*)(args.data[0] + at[0]));
        }
    }
}

// Sets the keys to the places of the inner loops.
DEVICE void index_keys(const IndexArgs& args) {
    order_fill(args.order, [&](int64 j) {
        int64 at[3];
        offsets(args.inner, j, at);
        const int64 place = place_of(args, at) / args.unit;
        // Places near 0 get keys with few digits, for either sign.
        return (uint64)place << 1 ^ (uint64)(place >> 63);
    });
}

// Scatters elements whose keys are sorted. Of elements with one key the last one wins.
template <int SIZE> DEVICE void scatter_sorted(const IndexArgs& args) {
    typedef typename Unit<SIZE>::type T;
    if (is_refused(args)) return;
    const int buffer = order_buffer(args.order);
    const uint64* keys = args.order.keys[buffer];
    for (int64 i = first_item(); i < args.outer.total * args.order.n; i += item_step()) {
        const Division place = divided(i, args.outer.total);
        const int64 j = place.quotient;
        if (j + 1 < args.order.n && keys[j + 1] == keys[j]) continue;
        int64 outer[3], at[3];
        offsets(args.outer, place.rest, outer);
        offsets(args.inner, (int64)args.order.ordinals[buffer][j], at);
        add(outer, at);
        *(T*)(args.data[2] + place_of(args, at)) = *(const T*)(args.data[0] + at[0]);
    }
}

// Adjacent elements of outer places that are combined together.
template <class T, int N> struct alignas(N * sizeof(T)) Pack {
    T x[N];
};

template <class T, int N> DEVICE void combine(int how, Pack<T, N>& a, const Pack<T, N>& b) {
    for (int k = 0; k < N; k++) a.x[k] = combined(how, a.x[k], b.x[k]);
}

// The place in the tensor of a key and an outer place.
template <class V> DEVICE V* place_of_key(const IndexArgs& args, uint64 key, const int64 (&outer)[3]) {
    const int64 place = (int64)(key >> 1) ^ -(int64)(key & 1);
    return (V*)(args.data[2] + outer[2] + place * args.unit);
}

// Accumulates elements whose keys are sorted: one thread for each chunk of keys and N outer places. Elements of a key that the previous
// chunk ends with are combined apart.
template <class T, int N> DEVICE void accumulate_chunks(const IndexArgs& args) {
    typedef Pack<T, N> V;
    // The number of elements that are loaded at once.
    const int STEPS = 4;
    if (is_refused(args)) return;
    const int buffer = order_buffer(args.order);
    const uint64* keys = args.order.keys[buffer];
    const uint* ordinals = args.order.ordinals[buffer];
    const int64 chunks = (args.order.n + args.chunk - 1) / args.chunk;
    for (int64 i = first_item(); i < args.outer.total * chunks; i += item_step()) {
        const Division place = divided(i, args.outer.total);
        const int64 first = place.quotient * args.chunk;
        const int64 end = first + args.chunk < args.order.n ? first + args.chunk : args.order.n;
        int64 outer[3];
        offsets(args.outer, place.rest, outer);
        V* to = 0;
        V sum;
        for (int64 start = first; start < end; start += STEPS) {
            V x[STEPS], old[STEPS];
            V* next[STEPS];
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                const int64 j = start + s;
                next[s] = 0;
                if (j >= end) continue;
                int64 at[3];
                offsets(args.inner, (int64)ordinals[j], at);
                x[s] = *(const V*)(args.data[0] + outer[0] + at[0]);
                if (j > 0 && keys[j - 1] == keys[j]) continue;
                next[s] = place_of_key<V>(args, keys[j], outer);
                old[s] = *next[s];
            }
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                if (start + s >= end) break;
                if (start + s == first && next[s] == 0) {
                    to = (V*)args.sums + i;
                    sum = x[s];
                    continue;
                }
                if (next[s] != 0) {
                    if (to != 0) *to = sum;
                    to = next[s];
                    sum = old[s];
                }
                combine(args.combine, sum, x[s]);
            }
        }
        *to = sum;
    }
}

// Adds the sums of chunks to the places of the keys that they begin with: one thread for each chunk in which such a key begins, and N
// outer places.
template <class T, int N> DEVICE void accumulate_sums(const IndexArgs& args) {
    typedef Pack<T, N> V;
    const int STEPS = 8;
    if (is_refused(args)) return;
    const uint64* keys = args.order.keys[order_buffer(args.order)];
    const int64 chunks = (args.order.n + args.chunk - 1) / args.chunk;
    for (int64 i = first_item(); i < args.outer.total * (chunks - 1); i += item_step()) {
        const Division place = divided(i, args.outer.total);
        const int64 first = place.quotient * args.chunk, end = first + args.chunk;
        const uint64 key = keys[end];
        if (keys[end - 1] != key || (first > 0 && keys[first - 1] == key)) continue;
        int64 outer[3];
        offsets(args.outer, place.rest, outer);
        V* to = place_of_key<V>(args, key, outer);
        V sum = *to;
        bool same = true;
        for (int64 start = place.quotient + 1; same; start += STEPS) {
            V x[STEPS];
            uint64 of[STEPS];
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                if (start + s >= chunks) continue;
                of[s] = keys[(start + s) * args.chunk];
                x[s] = ((const V*)args.sums)[(start + s) * args.outer.total + place.rest];
            }
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                same = same && start + s < chunks && of[s] == key;
                if (same) combine(args.combine, sum, x[s]);
            }
        }
        *to = sum;
    }
}
