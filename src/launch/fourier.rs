//! Fourier transforms as values.

/// The transform of a signal. A complex number is a pair of floats, the real part first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// Of complex numbers to complex numbers.
    Forward,
    /// The inverse of [`Transform::Forward`], without its division by the number of elements.
    Inverse,
    /// Of floats to complex numbers: of the last dimension the first half, n / 2 + 1 of n.
    FromReal,
    /// Of complex numbers to floats, by the first half of the last dimension or more of it: the inverse of [`Transform::FromReal`], without
    /// the division. Of a signal with several dimensions it overwrites the input.
    ToReal,
}

/// The transforms of all signals of a row-major input, in the last dimensions: one row-major result of the same dtype, float32 or float64,
/// with an element at least. The result has size 2 behind the signal if it is complex, and so has the input.
#[derive(Debug, Clone, Copy)]
pub struct Fourier<'a> {
    /// The transform.
    pub transform: Transform,
    /// The sizes of a signal; where one side is real, those of that side.
    pub signal: &'a [i64],
    /// The factor that each element of the result is multiplied by.
    pub factor: f64,
}
