// Packets: 16 bytes of adjacent elements, which are loaded and stored together.

struct alignas(16) Packet {
    uint64 words[2];
};

// N adjacent elements of S in memory: a packet, or a single element. The index counts the items of a row.
template <class S, int N> struct Item {
    typedef Packet type;
    typedef int index;
};
template <class S> struct Item<S, 1> {
    typedef S type;
    typedef int64 index;
};

// Adjacent elements of S as C floats.
template <class S, class V, int N> DEVICE void unpack(V (&x)[N], const typename Item<S, N>::type& item) {
    S stored[N];
    memcpy(stored, &item, sizeof(item));
    for (int k = 0; k < N; k++) x[k] = convert<typename Compute<S>::type>(stored[k]).v;
}

// Adjacent elements of S from C floats.
template <class S, class V, int N> DEVICE typename Item<S, N>::type pack(const V (&x)[N]) {
    S stored[N];
    for (int k = 0; k < N; k++) stored[k] = convert<S>(typename Compute<S>::type(x[k]));
    typename Item<S, N>::type item;
    memcpy(&item, stored, sizeof(item));
    return item;
}

// The sum of an array, whose length is a power of two. The array is overwritten. The rounding errors of few additions add up.
template <class V, int N> DEVICE V packet_sum(V (&x)[N]) {
    for (int half = N / 2; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) x[k] += x[k + half];
    }
    return x[0];
}
