//! Fourier transforms.
//!
//! Complex numbers are pairs in a last dimension of size 2, real part first. A signal has `signalDims` dimensions, the last ones before the
//! dimension of the pairs; all others are batch dimensions. Floats only; 16-bit floats are transformed in float32. With `normalized` both
//! directions divide by the square root of the number of elements of a signal; otherwise only the inverse divides, by that number.
//!
//! Errors: `TH_ERR_SHAPE`, a last dimension that is not of complex numbers, or invalid sizes; `TH_ERR_ARGUMENT`, signals with more
//! dimensions than the tensor; `TH_ERR_DTYPE`, tensors that are not of floats.

use crate::api::table::table;
use crate::ops::fourier::{self, FftOptions};

macro_rules! fourier_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r[k] = sum over j of t[j] * exp(-2 pi i j k / n)`, for complex `t`, in each dimension of the signal. `r` has the shape of `t`.
        fft(r: out, t: input, signalDims: int, normalized: flag) = fourier::fft(r, t, FftOptions { dims: signalDims, normalized }, false);
        /// The inverse of fft: `r[j] = sum over k of t[k] * exp(2 pi i j k / n) / n`.
        ifft(r: out, t: input, signalDims: int, normalized: flag) = fourier::fft(r, t, FftOptions { dims: signalDims, normalized }, true);
        /// `r[k, l] = sum over i, j of t[i, j] * exp(-2 pi i (i k / m + j l / n))`, for complex `t`, in the two dimensions, m x n, before
        /// the dimension of the complex numbers. `r` has the shape of `t`.
        fft2(r: out, t: input) = fourier::fft(r, t, FftOptions { dims: 2, normalized: false }, false);
        /// The inverse of fft2: `r[i, j] = sum over k, l of t[k, l] * exp(2 pi i (i k / m + j l / n)) / (m n)`.
        ifft2(r: out, t: input) = fourier::fft(r, t, FftOptions { dims: 2, normalized: false }, true);
        /// fft of real `t`, whose last dimension belongs to the signal. With `onesided` the result has only the first `n / 2 + 1` elements
        /// of the signal's last dimension; the others are their conjugates.
        rfft(r: out, t: input, signalDims: int, normalized: flag, onesided: flag) =
            fourier::rfft(r, t, FftOptions { dims: signalDims, normalized }, onesided);
        /// The inverse of rfft: `r` is real, and its last dimension is the last dimension of the signal. With `onesided` the last dimension
        /// of the signal in `t` has only its first half. Imaginary parts that are 0 for every real signal are ignored.
        ///
        /// `signalSizes` are the `ndim` sizes of the signal in the result. NULL means the sizes of `t`, except that with `onesided` the
        /// last size is the even number `2 * (n - 1)`. If the half has one element, its size must be given. With `onesided` the last size
        /// may be less than the size to which the half belongs; the higher frequencies are then left out.
        irfft(r: out, t: input, signalDims: int, normalized: flag, onesided: flag, ndim: len, signalSizes: optional_sizes) =
            fourier::irfft(r, t, FftOptions { dims: signalDims, normalized }, onesided, signalSizes);
    } };
}

fourier_functions!(table);
pub(crate) use fourier_functions as functions;
