// Weighted sums of elements along a dimension, one thread for each result.

struct ResampleArgs {
    const void* x;
    void* r;
    // For each term, the place and the weight of every result along the dimension. A negative first place stands for a sum without terms.
    const int* places;
    const void* weights;
    int64 total, before, after, inner;
    int taps, unused;
};

// An element of a result: a float, or an integer from 0 to 255 that is nearest to the sum, half to even.
template <class R, class T> DEVICE R pixel(T sum) {
    if constexpr (R::FLOAT) return R::of(sum.v);
    else return R::of(libm::rint(sum.v > 0 ? sum.v < 255 ? sum.v : 255 : 0));
}

template <class X, class R, class T> DEVICE void resample(const ResampleArgs& args) {
    for (int64 at = first_item(); at < args.total; at += item_step()) {
        const int64 row = at / args.inner, k = at - row * args.inner, o = row / args.after, i = row - o * args.after;
        const X* x = (const X*)args.x + o * args.before * args.inner + k;
        T sum = T::ZERO;
        if (args.places[i] >= 0) {
            for (int j = 0; j < args.taps; j++) {
                const int64 term = j * args.after + i;
                const T product = ((const T*)args.weights)[term] * T::of(x[args.places[term] * args.inner].v);
                sum = j == 0 ? product : sum + product;
            }
        }
        ((R*)args.r)[at] = pixel<R>(sum);
    }
}
