//! Resampling along a dimension as a value.

/// Resamples the middle dimension of `x` [outer][before][inner]: `r[o][i][k] = sum over j of weights[j][i] * x[o][places[j][i]][k]`.
///
/// The row-major inputs are `[x, places, weights]`. `places` [taps][after] is int32, and every place is less than `before`; a negative
/// number in `places[0][i]` stands for a sum without terms. `weights` [taps][after] has the type of the computation, float32 or float64.
/// `x` and the result have this type, or uint8 if the type is float32. A uint8 result is rounded to the nearest integer, half to even, and
/// limited to 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resample {
    /// The number of images, times the sizes before the dimension.
    pub outer: usize,
    /// The size of the dimension in `x`.
    pub before: usize,
    /// The size of the dimension in the result.
    pub after: usize,
    /// The product of the sizes after the dimension.
    pub inner: usize,
    /// The number of terms of each sum.
    pub taps: usize,
}
