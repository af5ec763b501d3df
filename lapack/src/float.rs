//! What is computed with: float32 and float64, their columns, and views for faer.

use crate::{Info, NOT_FINITE, Scratch};
use dyn_stack::{MemStack, StackReq};
use faer::{MatMut, MatRef};
use faer_traits::RealField;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A float, as loops over columns need it.
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
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next.
    const EPS: Self;
    /// The least normal number.
    const LEAST: Self;
    /// Matrices with greater elements, or none greater than its inverse, are scaled.
    const LARGE: Self;
    fn of(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn magnitude(self) -> Self;
    fn root(self) -> Self;
    fn length(self, other: Self) -> Self;
    fn with_sign(self, other: Self) -> Self;
    fn greater(self, other: Self) -> Self;
    fn finite(self) -> bool;
    fn not_a_number(self) -> bool;
    /// 2^n with n the exponent of this.
    fn power_of_two(self) -> Self;
}

macro_rules! float {
    ($T:ident, $large:expr, $mask:expr) => {
        impl Float for $T {
            const ONE: $T = 1.0;
            const EPS: $T = $T::EPSILON;
            const LEAST: $T = $T::MIN_POSITIVE;
            const LARGE: $T = $large;
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
        }
    };
}
float!(f32, 1e10, 0x7f80_0000);
float!(f64, 1e75, 0x7ff0_0000_0000_0000);

/// A slice as a matrix.
pub fn view<T>(a: &[T], m: usize, n: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(a, m, n)
}

/// A slice as a matrix that is changed.
pub fn view_mut<T>(a: &mut [T], m: usize, n: usize) -> MatMut<'_, T> {
    MatMut::from_column_major_slice_mut(a, m, n)
}

/// The bytes of a requirement, at any address.
pub fn bytes(required: StackReq) -> usize {
    required.unaligned_bytes_required()
}

/// Scratch memory as faer takes it.
pub fn stack(scratch: Scratch<'_>) -> &mut MemStack {
    MemStack::new(scratch)
}

/// Calls a loop compiled for what the machine has.
#[inline(always)]
pub fn fast<R>(loops: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(loops)
}

/// Lanes that sums are kept in.
const LANES: usize = 16;

/// The sum of products.
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

/// The Euclidean norm, without overflow or underflow on the way.
#[inline(always)]
pub fn norm<T: Float>(x: &[T]) -> T {
    let sum = dot(x, x);
    // Where squares are normal numbers and nothing was lost, that is it.
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

/// The greatest magnitude; NaN where there is one.
#[inline(always)]
pub fn greatest<T: Float>(x: &[T]) -> T {
    x.iter().fold(T::default(), |most, &x| if x.magnitude() > most || x.not_a_number() { x.magnitude() } else { most })
}

/// What a matrix was multiplied by, a power of 2, to bring its elements near 1, where squares neither overflow nor underflow.
pub fn scale<T: Float>(a: &mut [T]) -> Result<T, Info> {
    if !a.iter().all(|x| x.finite()) {
        return Err(NOT_FINITE);
    }
    let most = greatest(a);
    if most == T::default() || (most < T::LARGE && most > T::ONE / T::LARGE) {
        return Ok(T::ONE);
    }
    let factor = T::ONE / most.power_of_two();
    a.iter_mut().for_each(|x| *x *= factor);
    Ok(factor)
}

/// As [`scale`], of matrices that may have infinities and NaN, which are left as they are.
pub fn lascl<T: Float>(a: &mut [T]) -> T {
    scale(a).unwrap_or(T::ONE)
}

/// `x * by / other`, for powers of 2 whose quotient may be out of range.
pub fn rescale<T: Float>(x: &mut [T], by: T, other: T) {
    if by == other {
        return;
    }
    let quotient = by / other;
    let factors = if quotient.finite() && quotient >= T::LEAST { [quotient, T::ONE] } else { [by, T::ONE / other] };
    x.iter_mut().for_each(|x| *x = *x * factors[0] * factors[1]);
}
