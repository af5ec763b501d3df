// Elements by position: gathered from a tensor, scattered to it, or accumulated in it.
//
// There are three operands: elements, positions, and the indexed tensor. The place in the tensor moves in the outer loops only; in the
// inner loops it depends on positions only. So elements with different outer places never have the same place. Elements with the same place
// are processed in the order of the inner loops: by one thread that walks them all, or, if there are many, after sorting the positions by
// place.

struct IndexArgs {
    Loops<3> outer;
    Loops<3> inner;
    Order order;
    byte* data[3];
    // The distance between entries in bytes.
    int64 step;
    // The number added to negative positions.
    int64 count;
    // The size of an element in bytes.
    int size;
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

// Adds the outer offsets to the inner offsets.
DEVICE void add(const int64 (&outer)[3], int64 (&inner)[3]) {
    for (int k = 0; k < 3; k++) inner[k] += outer[k];
}

// Gathers over the outer loops. A unit of SIZE bytes is one element, or several adjacent ones.
template <int SIZE> DEVICE void gather(const IndexArgs& args) {
    typedef typename Unit<SIZE>::type T;
    for (int64 i = first_item(); i < args.outer.total; i += item_step()) {
        int64 at[3];
        offsets(args.outer, i, at);
        *(T*)(args.data[0] + at[0]) = *(const T*)(args.data[2] + place_of(args, at));
    }
}

// Scatters: one thread for each outer place.
template <int SIZE> DEVICE void scatter(const IndexArgs& args) {
    typedef typename Unit<SIZE>::type T;
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
        const int64 place = place_of(args, at) / args.size;
        // Places near 0 get keys with few digits, for either sign.
        return (uint64)place << 1 ^ (uint64)(place >> 63);
    });
}

// Scatters elements whose keys are sorted. Of elements with one key the last one wins.
template <int SIZE> DEVICE void scatter_sorted(const IndexArgs& args) {
    typedef typename Unit<SIZE>::type T;
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

// Accumulates elements whose keys are sorted: one thread for each outer place and each key.
template <class T> DEVICE void accumulate_sorted(const IndexArgs& args) {
    const int buffer = order_buffer(args.order);
    const uint64* keys = args.order.keys[buffer];
    for (int64 i = first_item(); i < args.outer.total * args.order.n; i += item_step()) {
        const Division place = divided(i, args.outer.total);
        const int64 first = place.quotient;
        const uint64 key = keys[first];
        if (first > 0 && keys[first - 1] == key) continue;
        int64 outer[3], at[3];
        offsets(args.outer, place.rest, outer);
        offsets(args.inner, (int64)args.order.ordinals[buffer][first], at);
        add(outer, at);
        T* to = (T*)(args.data[2] + place_of(args, at));
        T sum = *to;
        for (int64 j = first; j < args.order.n && keys[j] == key; j++) {
            offsets(args.inner, (int64)args.order.ordinals[buffer][j], at);
            sum = combined(args.combine, sum, *(const T*)(args.data[0] + outer[0] + at[0]));
        }
        *to = sum;
    }
}
