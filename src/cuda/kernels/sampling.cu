// Pixels and weights of samples between the pixels of images, one thread for each sample.

struct SamplingArgs {
    const double* grid;
    int64* places;
    double* weights;
    // NULL if no derivatives are wanted.
    double* slopes;
    int64 sizes[3];
    int64 samples, images;
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
    const double rest = libm::fmod(distance, span), turns = libm::floor(distance / span);
    if (libm::fmod(turns, 2.0) == 0) return {low + rest, sign};
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

DEVICE void sampling(const SamplingArgs& args) {
    const int dims = args.dims;
    int64 pixels = 1, taps = 1;
    for (int d = 0; d < dims; d++) {
        pixels *= args.sizes[d];
        taps *= args.along;
    }
    for (int64 row = first_item(); row < args.samples; row += item_step()) {
        const int64 image = row / (args.samples / args.images);
        SamplingTerm of[3][4];
        for (int d = 0; d < dims; d++) sampling_terms(args, args.grid[row * dims + dims - 1 - d], args.sizes[d], of[d]);
        for (int64 tap = 0; tap < taps; tap++) {
            SamplingTerm chosen[3];
            int64 digits = tap, place = 0;
            double weight = 1;
            bool outside = false;
            for (int d = dims - 1; d >= 0; d--) {
                chosen[d] = of[d][digits % args.along];
                digits /= args.along;
            }
            for (int d = 0; d < dims; d++) {
                outside |= chosen[d].at < 0;
                place = place * args.sizes[d] + chosen[d].at;
                weight *= chosen[d].weight;
            }
            args.places[row * taps + tap] = outside ? args.images * pixels : image * pixels + place;
            args.weights[row * taps + tap] = weight;
            for (int d = 0; args.slopes && d < dims; d++) {
                double slope = chosen[d].slope;
                for (int other = 0; other < dims; other++) slope *= other == d ? 1 : chosen[other].weight;
                args.slopes[(row * taps + tap) * dims + dims - 1 - d] = slope;
            }
        }
    }
}
