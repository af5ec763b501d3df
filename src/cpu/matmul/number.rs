//! Arithmetic of the elements of products.

use thorn_lapack::vendor::{Library, Routine, Routines};

/// Arithmetic of the elements of products. Not part of the public interface.
pub trait Number: Copy + Default + PartialEq + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
    /// The routines of a BLAS, if it has any for this type.
    const ROUTINES: Option<fn(&Library) -> &Routines<Self>>;
    fn add(a: Self, b: Self) -> Self;
    fn mul(a: Self, b: Self) -> Self;
    /// `a * b + c`, rounded once if `FUSED`, which is only for instruction sets with fused multiply-add.
    fn mul_add<const FUSED: bool>(a: Self, b: Self, c: Self) -> Self;
    /// [`Number::mul_add`] for a vector.
    #[inline(always)]
    fn mul_add_vector<const FUSED: bool, const N: usize>(a: Self, b: [Self; N], c: [Self; N]) -> [Self; N] {
        let mut sums = c;
        for l in 0..N {
            sums[l] = Self::mul_add::<FUSED>(a, b[l], c[l]);
        }
        sums
    }
}

macro_rules! number {
    ($T:ident, $zero:literal, $one:literal, $routines:expr, |$a:ident, $b:ident, $c:ident| $add:expr, $mul:expr,
        $fused:expr) => {
        impl Number for $T {
            const ZERO: $T = $zero;
            const ONE: $T = $one;
            const ROUTINES: Option<fn(&Library) -> &Routines<$T>> = $routines;
            #[inline(always)]
            fn add($a: $T, $b: $T) -> $T {
                $add
            }
            #[inline(always)]
            fn mul($a: $T, $b: $T) -> $T {
                $mul
            }
            #[inline(always)]
            fn mul_add<const FUSED: bool>($a: $T, $b: $T, $c: $T) -> $T {
                if FUSED { $fused } else { Self::add(Self::mul($a, $b), $c) }
            }
        }
    };
}

number!(f32, 0.0, 1.0, Some(Routine::routines), |a, b, c| a + b, a * b, a.mul_add(b, c));
number!(f64, 0.0, 1.0, Some(Routine::routines), |a, b, c| a + b, a * b, a.mul_add(b, c));
number!(i32, 0, 1, None, |a, b, c| a.wrapping_add(b), a.wrapping_mul(b), a.wrapping_mul(b).wrapping_add(c));
number!(i64, 0, 1, None, |a, b, c| a.wrapping_add(b), a.wrapping_mul(b), a.wrapping_mul(b).wrapping_add(c));
