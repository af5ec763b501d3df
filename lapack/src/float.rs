//! The numbers that are computed with: float32 and float64, their columns, and views for faer.

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
    /// 2^n with n the exponent of this.
    fn power_of_two(self) -> Self;
    /// The n with a magnitude from 2^n to 2^(n + 1), of what is finite and not 0.
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
                // The exponent of a subnormal number is in its leading zeros.
                if bits >> 52 == 0 { -1011 - bits.leading_zeros() as i32 } else { (bits >> 52) as i32 - 1023 }
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

/// The exponent of the factor by which elements may grow: more than they do in practice.
const HEADROOM: i32 = 16;
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

/// The greatest magnitude; [`NOT_FINITE`] where there is an infinity or a NaN.
fn extent<T: Float>(x: &[T]) -> Result<T, Info> {
    let (most, nothing) = fast(
        #[inline(always)]
        || {
            // Zeros, or NaN of what is not finite.
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
            // By halves, since of a small matrix one after the other would take longer than all before.
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

/// The exponent of the power of 2 that a matrix was multiplied by to bring its greatest element near 1: rounding errors and thresholds of
/// an iteration are those of a matrix of norm 1 then, whatever its units.
pub fn unit<T: Float>(a: &mut [T]) -> Result<i32, Info> {
    let most = extent(a)?;
    let exponent = if most == T::default() { 0 } else { -most.exponent() };
    rescale(a, exponent);
    Ok(exponent)
}

/// As [`unit`], where squares of the elements would overflow or underflow; 0 for other matrices, which are left as they are.
pub fn scale<T: Float>(a: &mut [T]) -> Result<i32, Info> {
    let most = extent(a)?;
    if most < T::LARGE && most > T::ONE / T::LARGE { Ok(0) } else { unit(a) }
}

/// As [`scale`], of matrices that may have infinities and NaN, which are left as they are.
pub fn lascl<T: Float>(a: &mut [T]) -> i32 {
    scale(a).unwrap_or(0)
}

/// The exponent of the power of 2 that a matrix was multiplied by where sums of its elements would overflow, or where all are so small that
/// the digits of what is made of them are lost. What is small beside the greatest element remains, other than with [`scale`]: enough for
/// what takes no squares of elements, as LU and QR.
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

/// `x * 2^exponent`, where the power may be out of range.
pub fn rescale<T: Float>(x: &mut [T], exponent: i32) {
    let mut rest = exponent;
    while rest != 0 {
        let step = rest.clamp(-T::EXPONENT, T::EXPONENT);
        let factor = T::of(2f64.powi(step));
        x.iter_mut().for_each(|x| *x *= factor);
        rest -= step;
    }
}
