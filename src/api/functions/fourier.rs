//! Fourier transforms.
//!
//! Complex numbers are pairs in a last dimension of size 2, real part first. A signal has `signalDims` dimensions, the last ones before
//! that; all others are a batch. Floats only; 16-bit floats are transformed in float32. With `normalized` both directions divide by the
//! square root of the number of elements of a signal; otherwise the inverse one divides by that number.
//!
//! Errors: `TH_ERR_SHAPE`, complex numbers or sizes that are none; `TH_ERR_ARGUMENT`, signals with more dimensions than the tensor has;
//! `TH_ERR_DTYPE`, tensors that are not of floats.

use crate::api::table::table;
use crate::ops::fourier::{self, FftOptions};

macro_rules! fourier_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r[k] = sum over j of t[j] * exp(-2 pi i j k / n)`, for complex `t`, in each dimension of the signal. `r` has the shape of `t`.
        fft(r: out, t: input, signalDims: int, normalized: flag) = fourier::fft(r, t, FftOptions { dims: signalDims, normalized }, false);
        /// The inverse of fft: `r[j] = sum over k of t[k] * exp(2 pi i j k / n) / n`.
        ifft(r: out, t: input, signalDims: int, normalized: flag) = fourier::fft(r, t, FftOptions { dims: signalDims, normalized }, true);
        /// `r[k, l] = sum over i, j of t[i, j] * exp(-2 pi i (i k / m + j l / n))`, for complex `t`, in the last two dimensions, m x n,
        /// before that of the complex numbers. `r` has the shape of `t`.
        fft2(r: out, t: input) = fourier::fft(r, t, FftOptions { dims: 2, normalized: false }, false);
        /// The inverse of fft2: `r[i, j] = sum over k, l of t[k, l] * exp(2 pi i (i k / m + j l / n)) / (m n)`.
        ifft2(r: out, t: input) = fourier::fft(r, t, FftOptions { dims: 2, normalized: false }, true);
        /// fft of real `t`, whose last dimension belongs to the signal. With `onesided` the result has the first `n / 2 + 1` elements of
        /// the signal's last dimension only: the others are the conjugates of those.
        rfft(r: out, t: input, signalDims: int, normalized: flag, onesided: flag) =
            fourier::rfft(r, t, FftOptions { dims: signalDims, normalized }, onesided);
        /// The inverse of rfft: `r` is real, and its last dimension the last of the signal. With `onesided` the last dimension of the
        /// signal in `t` is the first half, and the imaginary parts are not looked at that a real signal has not.
        ///
        /// `signalSizes` are the sizes of the signal in the result, `ndim` of them; if NULL, those of `t`, with `onesided` the last of them
        /// even: `2 * (n - 1)`. A half of one number does not tell a size, which must be given. With `onesided` the last size may be less
        /// than that of which `t` is the half: the frequencies beyond its own half are left out.
        irfft(r: out, t: input, signalDims: int, normalized: flag, onesided: flag, ndim: len, signalSizes: optional_sizes) =
            fourier::irfft(r, t, FftOptions { dims: signalDims, normalized }, onesided, signalSizes);
    } };
}

fourier_functions!(table);
pub(crate) use fourier_functions as functions;
