//! The types of elements, float32 and float64; operations on columns; views for faer.

use crate::{Info, NOT_FINITE, Scratch};
use dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use faer_traits::RealField;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A float with the operations that loops over columns need.
pub trait Float:
    RealField
    + Copy
    + Default
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// The number 1.
    const ONE: Self;
    /// The distance from 1 to the next number.
    const EPS: Self;
    /// The least normal number.
    const LEAST: Self;
    /// A matrix is scaled if its greatest element is above this, or below its inverse.
    const LARGE: Self;
    /// The exponent of the greatest power of 2 whose inverse is a normal number, too.
    const EXPONENT: i32;
    fn of(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn magnitude(self) -> Self;
    fn root(self) -> Self;
    fn length(self, other: Self) -> Self;
    fn with_sign(self, other: Self) -> Self;
    fn greater(self, other: Self) -> Self;
    fn finite(self) -> bool;
    fn not_a_number(self) -> bool;
    /// 2^n, where n is the exponent of the number.
    fn power_of_two(self) -> Self;
    /// The n for which the magnitude is in [2^n, 2^(n + 1)). The number must be finite and not 0.
    fn exponent(self) -> i32;
}

macro_rules! float {
    ($T:ident, $large:expr, $mask:expr) => {
        impl Float for $T {
            const ONE: $T = 1.0;
            const EPS: $T = $T::EPSILON;
            const LEAST: $T = $T::MIN_POSITIVE;
            const LARGE: $T = $large;
            const EXPONENT: i32 = $T::MAX_EXP - 2;
            fn of(x: f64) -> $T {
                x as $T
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn magnitude(self) -> $T {
                self.abs()
            }
            fn root(self) -> $T {
                self.sqrt()
            }
            fn length(self, other: $T) -> $T {
                self.hypot(other)
            }
            fn with_sign(self, other: $T) -> $T {
                self.copysign(other)
            }
            #[inline(always)]
            fn greater(self, other: $T) -> $T {
                self.max(other)
            }
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn not_a_number(self) -> bool {
                self.is_nan()
            }
            fn power_of_two(self) -> $T {
                $T::from_bits(self.to_bits() & $mask).max($T::MIN_POSITIVE)
            }
            fn exponent(self) -> i32 {
                let bits = (self.abs() as f64).to_bits();
                // Leading zeros of a subnormal number determine its exponent.
                if bits >> 52 == 0 { -1011 - bits.leading_zeros() as i32 } else { (bits >> 52) as i32 - 1023 }
            }
        }
    };
}
float!(f32, 1e10, 0x7f80_0000);
float!(f64, 1e75, 0x7ff0_0000_0000_0000);

/// A slice as a column-major matrix.
pub fn view<T>(a: &[T], m: usize, n: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(a, m, n)
}

/// A slice as a mutable column-major matrix.
pub fn view_mut<T>(a: &mut [T], m: usize, n: usize) -> MatMut<'_, T> {
    MatMut::from_column_major_slice_mut(a, m, n)
}

/// The bytes that a requirement needs at an address of any alignment.
pub fn bytes(required: StackReq) -> usize {
    required.unaligned_bytes_required()
}

/// Scratch memory in faer's form.
pub fn stack(scratch: Scratch<'_>) -> &mut MemStack {
    MemStack::new(scratch)
}

/// Calls a loop that is compiled for the instruction sets of the machine.
#[inline(always)]
pub fn fast<R>(loops: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(loops)
}

/// The base-2 logarithm of the largest expected growth of elements, more than occurs in practice.
const HEADROOM: i32 = 16;
/// The number of partial sums.
const LANES: usize = 16;

/// The dot product.
#[inline(always)]
pub fn dot<T: Float>(x: &[T], y: &[T]) -> T {
    let mut sums = [T::default(); LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y[..x.len()].chunks_exact(LANES));
    let (xr, yr) = (xs.remainder(), ys.remainder());
    for (x, y) in xs.zip(ys) {
        for k in 0..LANES {
            sums[k] += x[k] * y[k];
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            let other = sums[k + width];
            sums[k] += other;
        }
        width /= 2;
    }
    xr.iter().zip(yr).fold(sums[0], |sum, (&x, &y)| sum + x * y)
}

/// `y = y + a * x`
#[inline(always)]
pub fn axpy<T: Float>(y: &mut [T], a: T, x: &[T]) {
    y.iter_mut().zip(x).for_each(|(y, &x)| *y += a * x);
}

/// The Euclidean norm, without overflow or underflow of the squares.
#[inline(always)]
pub fn norm<T: Float>(x: &[T]) -> T {
    let sum = dot(x, x);
    // The sum is exact enough if the squares are normal numbers and did not overflow.
    if sum > T::LEAST / (T::EPS * T::EPS) && sum.finite() {
        return sum.root();
    }
    let most = greatest(x);
    if most == T::default() || !most.finite() {
        return most;
    }
    let scale = most.power_of_two();
    let sum = x.iter().fold(T::default(), |sum, &x| sum + (x / scale) * (x / scale));
    scale * sum.root()
}

/// The greatest magnitude; NaN if an element is NaN.
#[inline(always)]
pub fn greatest<T: Float>(x: &[T]) -> T {
    x.iter().fold(T::default(), |most, &x| if x.magnitude() > most || x.not_a_number() { x.magnitude() } else { most })
}

/// The greatest magnitude; [`NOT_FINITE`] if an element is infinite or NaN.
fn extent<T: Float>(x: &[T]) -> Result<T, Info> {
    let (most, nothing) = fast(
        #[inline(always)]
        || {
            // A product with 0 is NaN if the element is not finite, else 0.
            let (mut most, mut nothing) = ([T::default(); LANES], [T::default(); LANES]);
            let chunks = x.chunks_exact(LANES);
            let rest = chunks.remainder();
            for chunk in chunks {
                for k in 0..LANES {
                    most[k] = if chunk[k].magnitude() > most[k] { chunk[k].magnitude() } else { most[k] };
                    nothing[k] += chunk[k] * T::default();
                }
            }
            for (k, &x) in rest.iter().enumerate() {
                most[k] = if x.magnitude() > most[k] { x.magnitude() } else { most[k] };
                nothing[k] += x * T::default();
            }
            // The reduction is by halves, because for a small matrix a sequential one would take longer than the rest.
            let mut width = LANES / 2;
            while width > 0 {
                for k in 0..width {
                    most[k] = if most[k + width] > most[k] { most[k + width] } else { most[k] };
                    nothing[k] += nothing[k + width];
                }
                width /= 2;
            }
            (most[0], nothing[0])
        },
    );
    if nothing == T::default() { Ok(most) } else { Err(NOT_FINITE) }
}

/// Scales a matrix by a power of 2 so that its greatest element is about 1, and returns the exponent. Rounding errors and thresholds of an
/// iteration then do not depend on the units of the matrix.
pub fn unit<T: Float>(a: &mut [T]) -> Result<i32, Info> {
    let most = extent(a)?;
    let exponent = if most == T::default() { 0 } else { -most.exponent() };
    rescale(a, exponent);
    Ok(exponent)
}

/// Applies [`unit`] if squares of the elements would overflow or underflow. Other matrices are unchanged, and the result is 0.
pub fn scale<T: Float>(a: &mut [T]) -> Result<i32, Info> {
    let most = extent(a)?;
    if most < T::LARGE && most > T::ONE / T::LARGE { Ok(0) } else { unit(a) }
}

/// [`scale`] for matrices that may have infinities and NaN. Such matrices are unchanged.
pub fn lascl<T: Float>(a: &mut [T]) -> i32 {
    scale(a).unwrap_or(0)
}

/// Scales a matrix by a power of 2 if sums of its elements would overflow, or if all elements are so small that results lose digits.
/// Returns the exponent. Unlike [`scale`], it keeps elements that are small compared with the greatest one. This suffices for LU and QR,
/// which do not square elements.
pub fn headroom<T: Float>(a: &mut [T]) -> i32 {
    let Ok(most) = extent(a) else { return 0 };
    let exponent = match most {
        most if most == T::default() => 0,
        most if most < T::LEAST / T::EPS => -most.exponent(),
        most if most.exponent() > T::EXPONENT - HEADROOM => -HEADROOM,
        _ => 0,
    };
    rescale(a, exponent);
    exponent
}

/// `x * 2^exponent`. The power itself may be out of range.
pub fn rescale<T: Float>(x: &mut [T], exponent: i32) {
    let mut rest = exponent;
    while rest != 0 {
        let step = rest.clamp(-T::EXPONENT, T::EXPONENT);
        let factor = T::of(2f64.powi(step));
        x.iter_mut().for_each(|x| *x *= factor);
        rest -= step;
    }
}
