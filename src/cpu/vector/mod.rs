//! Registers of elements: the common interface of vector kernels to every instruction set.
//!
//! A kernel is generic over its register and is inlined into a function that is compiled for an instruction set: see
//! [`simd`](super::simd::simd). [`by_level`] names the register of a level. Arithmetic on registers is safe to call, but a register may
//! only be used if the processor has its instructions. The code that chooses the register guarantees that.

mod array;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod bytes;
#[cfg(target_arch = "x86_64")]
mod elementary;
mod half_bits;
mod scalar;

use crate::dtype::Element;
use std::ops::{Add, Mul, Sub};

pub use array::Array;
#[cfg(target_arch = "x86_64")]
pub use avx2::{F32x8, F64x4, Pair};
#[cfg(target_arch = "x86_64")]
pub use avx512::{F32x16, F64x8, I32x16, I64x8};
#[cfg(target_arch = "x86_64")]
pub use bytes::{Bytes, transpose_lanes};
#[cfg(target_arch = "x86_64")]
pub use elementary::{Elementary, prefetch_to_write};
pub use half_bits::{f16_value, round_to_bf16};
pub use scalar::Scalar;

/// A bit for each lane. The lowest bit is the first lane.
pub type Mask = u32;

/// The maximum number of lanes of a register.
pub(crate) const MOST_LANES: usize = 16;

/// A register of numbers.
pub trait Register: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// The type of a lane.
    type Item: Element;
    /// The number of lanes.
    const LANES: usize;
    /// Returns `x` in all lanes.
    fn all(x: Self::Item) -> Self;
    /// Loads the `LANES` numbers at `x`.
    ///
    /// # Safety
    /// `x` must hold `LANES` numbers, aligned or not.
    unsafe fn load(x: *const Self::Item) -> Self;
    /// Writes the `LANES` numbers to `r`.
    ///
    /// # Safety
    /// `r` must have room for `LANES` numbers, aligned or not.
    unsafe fn store(self, r: *mut Self::Item);
    /// Returns the greater number of each lane, or the number of `other` if one is NaN.
    fn greater(self, other: Self) -> Self;
    /// Returns the lesser number of each lane, or the number of `other` if one is NaN.
    fn lesser(self, other: Self) -> Self;
    /// Returns a mask of the lanes that are equal.
    fn equal(self, other: Self) -> Mask;
    /// Returns a mask of the lanes in which a number is NaN.
    fn unordered(self, other: Self) -> Mask;
    /// Returns the sum of all lanes.
    fn sum(self) -> Self::Item;
    /// Returns the greatest number, if none is NaN.
    fn greatest(self) -> Self::Item;
    /// Returns the smallest number, if none is NaN.
    fn least(self) -> Self::Item;
}

/// A register that can be loaded and stored in part.
pub trait Partial: Register {
    /// Loads the first `n` lanes from `x`, or all lanes if `n` is more; the other lanes are from `self`.
    ///
    /// # Safety
    /// `n` must not be 0, and `x` must hold `n` numbers, or `LANES` if `n` is more.
    unsafe fn load_first(self, x: *const Self::Item, n: usize) -> Self;
    /// Writes the first `n` lanes, or all lanes if `n` is more.
    ///
    /// # Safety
    /// `n` must not be 0, and `r` must have room for the lanes.
    unsafe fn store_first(self, r: *mut Self::Item, n: usize);
}

/// A register with masks.
pub trait Masked: Partial {
    /// Returns the mask of the first `n` lanes.
    #[inline(always)]
    fn first(n: usize) -> Mask {
        (1 << n) - 1
    }
    /// Loads the lanes of the mask from `x`; the other lanes are 0.
    ///
    /// # Safety
    /// `x` must hold the numbers of the mask's lanes.
    unsafe fn load_where(mask: Mask, x: *const Self::Item) -> Self;
    /// Writes the lanes of the mask.
    ///
    /// # Safety
    /// `r` must have room for the mask's lanes.
    unsafe fn store_where(self, mask: Mask, r: *mut Self::Item);
    /// Returns `b` in the lanes of the mask, `self` in the others.
    fn or_where(self, mask: Mask, b: Self) -> Self;
    /// Returns a mask of the lanes that are less than in `b`.
    fn below(self, b: Self) -> Mask;
    /// Returns a mask of the lanes that are less than or equal to `b`.
    fn up_to(self, b: Self) -> Mask;
    /// Returns the lanes of the mask at the front, followed by zeros.
    fn packed(self, mask: Mask) -> Self;
}

/// A register of floats.
pub trait Floats: Register {
    /// `self * b + c`, rounded once if the instruction set can.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Returns the product of all lanes.
    fn product(self) -> Self::Item;
}

/// A register of float32 with conversions to and from float64.
pub trait Float32s: Floats<Item = f32> {
    /// A register of as many float64.
    type Wide: Floats<Item = f64>;
    /// Returns the numbers as float64.
    fn widen(self) -> Self::Wide;
    /// Loads float32 at `x` as float64.
    ///
    /// # Safety
    /// As for [`Register::load`].
    unsafe fn load_wide(x: *const f32) -> Self::Wide;
    /// Loads float16 at `x`.
    ///
    /// # Safety
    /// `x` must hold `LANES` float16.
    unsafe fn load_f16(x: *const u16) -> Self;
    /// Writes the numbers to `r`, rounded to float16.
    ///
    /// # Safety
    /// `r` must have room for `LANES` float16.
    unsafe fn store_f16(self, r: *mut u16);
    /// Loads bfloat16 at `x`.
    ///
    /// # Safety
    /// `x` must hold `LANES` bfloat16.
    unsafe fn load_bf16(x: *const u16) -> Self;
    /// Loads twice as many bfloat16 at `x`, in any order.
    ///
    /// # Safety
    /// `x` must hold `2 * LANES` bfloat16.
    unsafe fn load_bf16_unordered(x: *const u16) -> [Self; 2];
    /// Returns the bits that are set in both.
    fn and(self, bits: Self) -> Self;
}

/// A register of float64 with conversions to and from float32.
pub trait Float64s: Floats<Item = f64> {
    /// A register of as many float32.
    type Narrow: Float32s;
    /// Returns float32 as float64.
    fn of(x: Self::Narrow) -> Self;
    /// Returns the numbers rounded to float32.
    fn narrow(self) -> Self::Narrow;
}

/// A float with a register for each level.
pub trait Vectored: Element {
    /// The register of AVX-512.
    type Avx512: Partial<Item = Self>;
    /// The register of AVX2.
    type Avx2: Partial<Item = Self>;
}

#[cfg(target_arch = "x86_64")]
impl Vectored for f32 {
    type Avx512 = F32x16;
    type Avx2 = F32x8;
}
#[cfg(target_arch = "x86_64")]
impl Vectored for f64 {
    type Avx512 = F64x8;
    type Avx2 = F64x4;
}
#[cfg(not(target_arch = "x86_64"))]
impl Vectored for f32 {
    type Avx512 = Scalar<f32>;
    type Avx2 = Scalar<f32>;
}
#[cfg(not(target_arch = "x86_64"))]
impl Vectored for f64 {
    type Avx512 = Scalar<f64>;
    type Avx2 = Scalar<f64>;
}

/// Names the register of a level: `by_level!(isa, f32, V => f::<V>(..))`. For kernels that are inlined into a closure for
/// [`simd`](crate::cpu::simd::simd).
macro_rules! by_level {
    ($isa:expr, f32, $V:ident => $body:expr) => { $crate::cpu::vector::by_level!(@ $isa, F32x16 F32x8 f32, $V => $body) };
    ($isa:expr, f64, $V:ident => $body:expr) => { $crate::cpu::vector::by_level!(@ $isa, F64x8 F64x4 f64, $V => $body) };
    (@ $isa:expr, $Avx512:ident $Avx2:ident $t:ident, $V:ident => $body:expr) => {
        match $isa.level() {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::simd::Level::Avx512 => {
                type $V = $crate::cpu::vector::$Avx512;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::simd::Level::Avx2 => {
                type $V = $crate::cpu::vector::$Avx2;
                $body
            }
            _ => {
                type $V = $crate::cpu::vector::Array<$t, 4>;
                $body
            }
        }
    };
}
pub(crate) use by_level;

/// Calls a function with the register of the level: `with_register!(isa, T => f(..))` is `f::<V>(..)`, where V has elements of the
/// [`Vectored`] type T. For kernels that are inlined into a closure for [`simd`](crate::cpu::simd::simd).
macro_rules! with_register {
    ($isa:expr, $T:ident => $f:ident($($argument:expr),* $(,)?)) => {
        match $isa.level() {
            $crate::cpu::simd::Level::Avx512 => $f::<$T::Avx512>($($argument),*),
            $crate::cpu::simd::Level::Avx2 => $f::<$T::Avx2>($($argument),*),
            $crate::cpu::simd::Level::Baseline => $f::<$crate::cpu::vector::Scalar<$T>>($($argument),*),
        }
    };
}
pub(crate) use with_register;

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::cpu::simd::{Level, level};

    /// Returns the lanes of a register.
    fn lanes<V: Register>(x: V) -> Vec<V::Item> {
        let mut r = vec![V::Item::ZERO; V::LANES];
        // SAFETY: the vector has room for all lanes.
        unsafe { x.store(r.as_mut_ptr()) };
        r
    }

    /// Returns a register of these numbers.
    fn of<V: Register>(x: impl Fn(usize) -> i64) -> V {
        let x: Vec<V::Item> = (0..V::LANES).map(|k| V::Item::from_i64(x(k))).collect();
        // SAFETY: the vector has a number for each lane.
        unsafe { V::load(x.as_ptr()) }
    }

    fn check<V: Register>() {
        let n = V::LANES as i64;
        let (a, b) = (of::<V>(|k| k as i64 - 2), of::<V>(|k| 2 - k as i64));
        let numbers = |x: V| lanes(x).into_iter().map(|x| x.to_i64()).collect::<Vec<_>>();
        let expected = |f: &dyn Fn(i64) -> i64| (0..n).map(f).collect::<Vec<_>>();
        assert_eq!(numbers(a + b), expected(&|_| 0));
        assert_eq!(numbers(a - b), expected(&|k| 2 * k - 4));
        assert_eq!(numbers(a * b), expected(&|k| -(k - 2) * (k - 2)));
        assert_eq!(numbers(a.greater(b)), expected(&|k| (k - 2).abs()));
        assert_eq!(numbers(a.lesser(b)), expected(&|k| -(k - 2).abs()));
        assert_eq!((a.equal(b), a.unordered(b)), (if n > 2 { 4 } else { 0 }, 0));
        let [sum, most, least] = [a.sum(), a.greatest(), a.least()].map(|x| x.to_i64());
        assert_eq!((sum, most, least), (n * (n - 1) / 2 - 2 * n, n - 3, -2));
    }

    fn check_floats<V: Floats>() {
        check::<V>();
        let (a, nan) = (of::<V>(|k| k as i64 % 2 + 1), V::all(V::Item::from_f64(f64::NAN)));
        assert_eq!(a.product().to_i64(), 1 << (V::LANES / 2));
        assert_eq!(lanes(a.fma(a, a)), lanes(a * a + a));
        assert_eq!(lanes(nan.greater(a)), lanes(a));
        assert_eq!(lanes(nan.lesser(a)), lanes(a));
        assert!(lanes(a.greater(nan)).iter().all(|x| x.is_nan()));
        assert_eq!(a.unordered(nan), (1u64 << V::LANES) as Mask - 1);
        assert_eq!(a.equal(nan), 0);
    }

    fn check_float32s<V: Float32s>() {
        check_floats::<V>();
        check_floats::<V::Wide>();
        let a = of::<V>(|k| k as i64 - 3);
        let halves: Vec<u16> = lanes(a).iter().map(|&x| half::f16::from_f32(x).to_bits()).collect();
        let uppers: Vec<u16> = (0..2 * V::LANES).map(|k| ((k as f32).to_bits() >> 16) as u16).collect();
        let (mut stored, all) = (vec![0; V::LANES], lanes(a));
        // SAFETY: the vectors have room for as many numbers as lanes, or twice as many.
        let (wide, from_halves, from_uppers, unordered) = unsafe {
            a.store_f16(stored.as_mut_ptr());
            let unordered = V::load_bf16_unordered(uppers.as_ptr());
            (V::load_wide(all.as_ptr()), V::load_f16(halves.as_ptr()), V::load_bf16(uppers.as_ptr()), unordered)
        };
        assert_eq!(lanes(wide), lanes(a.widen()));
        assert_eq!(lanes(wide), all.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        assert_eq!((stored, lanes(from_halves)), (halves, all));
        assert_eq!(lanes(from_uppers), (0..V::LANES).map(|k| k as f32).collect::<Vec<_>>());
        let mut both = [lanes(unordered[0]), lanes(unordered[1])].concat();
        both.sort_unstable_by(f32::total_cmp);
        assert_eq!(both, (0..2 * V::LANES).map(|k| k as f32).collect::<Vec<_>>());
    }

    fn check_partial<V: Partial>() {
        check::<V>();
        let a = of::<V>(|k| k as i64 + 1);
        for n in 1..=V::LANES + 1 {
            let (all, mut stored) = (lanes(a), vec![V::Item::ZERO; V::LANES]);
            // SAFETY: the vectors have `n` numbers, or as many as lanes.
            let some = unsafe {
                a.store_first(stored.as_mut_ptr(), n);
                V::all(V::Item::ZERO).load_first(all.as_ptr(), n)
            };
            let expected: Vec<i64> = (0..V::LANES).map(|k| if k < n { k as i64 + 1 } else { 0 }).collect();
            assert_eq!(lanes(some).iter().map(|x| x.to_i64()).collect::<Vec<_>>(), expected);
            assert_eq!(lanes(some), stored);
        }
    }

    #[test]
    fn registers_of_every_level_compute_the_same() {
        check_float32s::<Array<f32, 4>>();
        check_floats::<Array<f64, 2>>();
        check::<Array<i64, 4>>();
        check_partial::<Scalar<f64>>();
        #[cfg(target_arch = "x86_64")]
        if level() >= Level::Avx2 {
            check_float32s::<F32x8>();
            check_floats::<F64x4>();
            check_partial::<F32x8>();
            check_partial::<F64x4>();
        }
        #[cfg(target_arch = "x86_64")]
        if level() == Level::Avx512 {
            check_float32s::<F32x16>();
            check_partial::<F32x16>();
            check_partial::<F64x8>();
            check_partial::<I32x16>();
            check_partial::<I64x8>();
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn lanes_move_where_they_should() {
        if level() == Level::Avx512 {
            let (a, b) = (of::<I64x8>(|k| k as i64), of::<I64x8>(|k| k as i64 + 10));
            assert_eq!(lanes(b.delayed::<1>(a)), [7, 10, 11, 12, 13, 14, 15, 16]);
            assert_eq!(lanes(b.delayed::<2>(a)), [6, 7, 10, 11, 12, 13, 14, 15]);
            assert_eq!(lanes(b.delayed::<4>(a)), [4, 5, 6, 7, 10, 11, 12, 13]);
            assert_eq!((lanes(b.all_last()), b.first_lane()), (vec![17; 8], 10));
            assert_eq!(lanes(b.packed(0b1010_0001)), [10, 15, 17, 0, 0, 0, 0, 0]);
            assert_eq!((a.below(I64x8::all(3)), a.up_to(I64x8::all(3))), (0b111, 0b1111));
            assert_eq!(lanes(a.or_where(0b11, b)), [10, 11, 2, 3, 4, 5, 6, 7]);
        }
        if level() >= Level::Avx2 {
            let rows = std::array::from_fn(|r| of::<F32x8>(|k| 8 * r as i64 + k as i64));
            let columns = F32x8::transposed(rows).map(lanes);
            assert!((0..64).all(|i| columns[i % 8][i / 8] == i as f32));
        }
    }
}
