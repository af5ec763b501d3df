//! Fourier transforms as values.

/// The transform of a signal. A complex number is a pair of floats, the real part first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// Complex numbers to complex numbers.
    Forward,
    /// The inverse of [`Transform::Forward`], without division by the number of elements.
    Inverse,
    /// Floats to complex numbers. The result has the first n / 2 + 1 of the n elements of the last dimension.
    FromReal,
    /// Complex numbers to floats: the inverse of [`Transform::FromReal`], without division. It reads the first n / 2 + 1 elements of the
    /// last dimension; the input may have more. It overwrites the input if the signal has several dimensions.
    ToReal,
}

/// Transforms all signals of a row-major input, which are in its last dimensions. The result is row-major, of the same dtype, float32 or
/// float64, and not empty. Complex inputs and results have size 2 in an additional last dimension.
#[derive(Debug, Clone, Copy)]
pub struct Fourier<'a> {
    /// The transform.
    pub transform: Transform,
    /// The sizes of a signal. If the input or the result is real, these are its sizes.
    pub signal: &'a [i64],
    /// The factor that each element of the result is multiplied by.
    pub factor: f64,
}
