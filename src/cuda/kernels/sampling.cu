// Samples between the pixels of images, and their gradients.

struct SamplingArgs {
    // The gradient of the samples, the images and the coordinates.
    const void* g;
    const void* t;
    const void* grid;
    void* to;
    // The weights of all terms, in the order of the samples.
    double* weights;
    // The pixel of each term.
    Order order;
    int64 sizes[3];
    // Samples and pixels are those of one image, pixels those of one channel.
    int64 images, channels, samples, pixels, taps;
    int dims, along, outside, align_corners;
};

// A pixel along one dimension: its index, or -1 outside the image, its weight, and the derivative of the weight by the coordinate.
struct SamplingTerm {
    int64 at;
    double weight, slope;
};

struct SamplingPlace {
    double x, slope;
};

// The nearest place inside an image of `size` pixels.
DEVICE SamplingPlace limited(double x, int64 size) {
    const double last = (double)(size - 1);
    if (x <= 0) return {0, 0};
    if (x >= last) return {last, 0};
    return {x, 1};
}

// Reflects `x` at both bounds, as often as necessary.
DEVICE SamplingPlace reflected(double x, double low, double high) {
    const double span = high - low;
    if (span <= 0) return {0 * x, 0};
    const double distance = x < low ? low - x : x - low, sign = x < low ? -1 : 1;
    const double turns = libm::floor(distance / span), rest = distance - turns * span;
    if (turns * 0.5 == libm::floor(turns * 0.5)) return {low + rest, sign};
    return {high - rest, -sign};
}

// The place in the image for a place that may be outside.
DEVICE SamplingPlace inside(const SamplingArgs& args, double x, int64 size) {
    if (args.outside == 0) return {x, 1};
    if (args.outside == 1) return limited(x, size);
    const SamplingPlace turned = args.align_corners ? reflected(x, 0, (double)(size - 1)) : reflected(x, -0.5, (double)size - 0.5);
    const SamplingPlace at = limited(turned.x, size);
    return {at.x, at.slope * turned.slope};
}

// Cubic convolution with parameter -0.75 at the distance `x`, and its derivative.
DEVICE SamplingPlace cubic(double x) {
    const double a = -0.75, d = x < 0 ? -x : x, sign = x < 0 ? -1 : 1;
    if (d <= 1) return {((a + 2) * d - (a + 3)) * d * d + 1, (3 * (a + 2) * d - 2 * (a + 3)) * d * sign};
    return {((d - 5) * d + 8) * d * a - 4 * a, ((3 * d - 10) * d + 8) * a * sign};
}

DEVICE int64 pixel_index(double x, int64 size) {
    return x >= 0 && x < (double)size ? (int64)x : -1;
}

DEVICE void sampling_terms(const SamplingArgs& args, double coordinate, int64 size, SamplingTerm* terms) {
    const double pixels = (double)size, infinity = Special<double>::infinity();
    double at = args.align_corners ? (coordinate + 1) / 2 * (pixels - 1) : ((coordinate + 1) * pixels - 1) / 2;
    // Reflections of an infinite place have no limit.
    if (args.outside == 2 && (at == infinity || at == -infinity)) at = at - at;
    const double scale = args.align_corners ? (pixels - 1) / 2 : pixels / 2;
    if (args.along == 1) {
        const double x = inside(args, at, size).x;
        terms[0] = {pixel_index(libm::rint(x), size), x != x ? x : 1, 0};
    } else if (args.along == 2) {
        const SamplingPlace place = inside(args, at, size);
        const double first = libm::floor(place.x);
        // Infinite places are outside.
        const bool infinite = place.x == infinity || place.x == -infinity;
        const double rest = infinite ? 0 : place.x - first, slope = infinite ? 0 : place.slope * scale;
        terms[0] = {pixel_index(first, size), 1 - rest, -slope};
        terms[1] = {pixel_index(first + 1, size), rest, slope};
    } else {
        const double first = libm::floor(at), rest = at == infinity || at == -infinity ? 0 : at - first;
        for (int k = 0; k < 4; k++) {
            const SamplingPlace weight = cubic(rest - (k - 1));
            const double x = inside(args, first + (k - 1), size).x;
            terms[k] = {pixel_index(libm::rint(x), size), weight.x, weight.slope * scale};
        }
    }
}

// The terms of a sample along each dimension.
struct SamplingTerms {
    SamplingTerm of[3][4];

    // `row` is the number of the sample among those of all images.
    template <class T> DEVICE void read(const SamplingArgs& args, int64 row) {
        for (int d = 0; d < args.dims; d++) {
            const T coordinate = ((const T*)args.grid)[row * args.dims + args.dims - 1 - d];
            sampling_terms(args, (double)coordinate.v, args.sizes[d], of[d]);
        }
    }

    // The pixel of a term in a channel, or -1 outside the image, and its weight. `slopes[d]` is multiplied by the derivative by dimension
    // `d`.
    DEVICE SamplingTerm term(const SamplingArgs& args, int tap, double* slopes) const {
        SamplingTerm made = {0, 1, 0};
        int divisor = (int)args.taps;
        for (int d = 0; d < args.dims; d++) {
            divisor /= args.along;
            const SamplingTerm term = of[d][tap / divisor % args.along];
            made.at = made.at < 0 || term.at < 0 ? -1 : made.at * args.sizes[d] + term.at;
            made.weight *= term.weight;
            for (int other = 0; other < args.dims; other++) slopes[other] *= other == d ? term.slope : term.weight;
        }
        return made;
    }

    DEVICE SamplingTerm term(const SamplingArgs& args, int tap) const {
        double slopes[3] = {1, 1, 1};
        return term(args, tap, slopes);
    }
};

// The samples: one thread computes all channels of a sample.
template <class T> DEVICE void sampling_samples(const SamplingArgs& args) {
    for (int64 row = first_item(); row < args.images * args.samples; row += item_step()) {
        const int64 image = row / args.samples, first = image * args.channels;
        SamplingTerms terms;
        terms.read<T>(args, row);
        T* to = (T*)args.to + first * args.samples + (row - image * args.samples);
        for (int tap = 0; tap < (int)args.taps; tap++) {
            const SamplingTerm term = terms.term(args, tap);
            const T weight = T::of(term.weight);
            const T* t = (const T*)args.t + first * args.pixels + term.at;
            for (int64 c = 0; c < args.channels; c++) {
                // A weight may be NaN.
                const T product = weight * (term.at < 0 ? T(T::ZERO) : t[c * args.pixels]);
                to[c * args.samples] = tap == 0 ? product : to[c * args.samples] + product;
            }
        }
    }
}

// The gradient of the grid: one thread sums the products of all channels of a sample.
template <class T> DEVICE void sampling_grid(const SamplingArgs& args) {
    for (int64 row = first_item(); row < args.images * args.samples; row += item_step()) {
        const int64 image = row / args.samples, first = image * args.channels;
        SamplingTerms terms;
        terms.read<T>(args, row);
        const T* g = (const T*)args.g + first * args.samples + (row - image * args.samples);
        double sums[3] = {0, 0, 0};
        for (int tap = 0; args.along > 1 && tap < (int)args.taps; tap++) {
            double slopes[3] = {1, 1, 1}, product = 0;
            const SamplingTerm term = terms.term(args, tap, slopes);
            const T* t = (const T*)args.t + first * args.pixels + term.at;
            for (int64 c = 0; term.at >= 0 && c < args.channels; c++) product += (double)(t[c * args.pixels] * g[c * args.samples]).v;
            for (int d = 0; d < args.dims; d++) sums[d] += product * slopes[d];
        }
        for (int d = 0; d < args.dims; d++) ((T*)args.to)[row * args.dims + args.dims - 1 - d] = T::of(sums[d]);
    }
}

// The key of each term is its pixel, numbered over all images. A term outside has a number that no pixel has.
template <class T> DEVICE void sampling_terms_of(const SamplingArgs& args) {
    order_fill(args.order, [&](int64 i) {
        const int64 row = i / args.taps, image = row / args.samples;
        SamplingTerms terms;
        terms.read<T>(args, row);
        const SamplingTerm term = terms.term(args, (int)(i - row * args.taps));
        args.weights[i] = term.weight;
        return (uint64)(term.at < 0 ? args.images * args.pixels : image * args.pixels + term.at);
    });
}

// The gradient of the images: one thread for each element.
template <class T> DEVICE void sampling_images(const SamplingArgs& args) {
    const int buffer = order_buffer(args.order);
    const uint64* keys = args.order.keys[buffer];
    const uint* ordinals = args.order.ordinals[buffer];
    for (int64 i = first_item(); i < args.images * args.channels * args.pixels; i += item_step()) {
        const int64 plane = i / args.pixels, image = plane / args.channels;
        const uint64 key = (uint64)(image * args.pixels + (i - plane * args.pixels));
        T sum = T::ZERO;
        for (int64 k = first_key(args.order, keys, key); k < args.order.n && keys[k] == key; k++) {
            const int64 term = ordinals[k], row = term / args.taps;
            sum = sum + T::of(args.weights[term]) * ((const T*)args.g)[plane * args.samples + (row - image * args.samples)];
        }
        ((T*)args.to)[i] = sum;
    }
}
