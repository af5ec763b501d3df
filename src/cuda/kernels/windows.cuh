// The windows of an image, as in `launch::Window`, with the divisors of indices into images, kernels and outputs. N is the type of indices.
// It is int only if the host has checked that all are below 2^31.

struct Windows {
    int64 image[3], kernel[3], out[3], stride[3], padding[3], dilation[3];
    Divider by_image[3], by_kernel[3], by_out[3], by_stride[3], by_dilation[3];
};

DEVICE int64 volume(const int64 (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

// The three indices of an element.
template <class N> struct Place {
    N at[3];
};

// The indices of an element from its number in row-major order, which is less than the product of the sizes.
template <class N> DEVICE Place<N> place_in(N number, const Divider (&by)[3]) {
    Place<N> place;
    place.at[2] = take(number, by[2]);
    place.at[1] = take(number, by[1]);
    place.at[0] = number;
    return place;
}

template <class N> DEVICE N number_of(const Place<N>& place, const int64 (&sizes)[3]) {
    return (place.at[0] * (N)sizes[1] + place.at[1]) * (N)sizes[2] + place.at[2];
}

// The element of the image at a tap of an output; -1 in the padding.
template <class N> DEVICE N pixel_of(const Windows& w, const Place<N>& output, const Place<N>& tap) {
    Place<N> pixel;
    bool inside = true;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        pixel.at[d] = output.at[d] * (N)w.stride[d] + tap.at[d] * (N)w.dilation[d] - (N)w.padding[d];
        inside &= pixel.at[d] >= 0 && pixel.at[d] < (N)w.image[d];
    }
    return inside ? number_of(pixel, w.image) : -1;
}

// The output for which this tap is at this element of the image; -1 if there is none.
template <class N> DEVICE N output_of(const Windows& w, const Place<N>& pixel, const Place<N>& tap) {
    Place<N> output;
    bool inside = true;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        N rest = pixel.at[d] + (N)w.padding[d] - tap.at[d] * (N)w.dilation[d];
        inside &= rest >= 0;
        rest = rest < 0 ? 0 : rest;
        output.at[d] = divide(rest, w.by_stride[d]);
        inside &= rest == 0 && output.at[d] < (N)w.out[d];
    }
    return inside ? number_of(output, w.out) : -1;
}
