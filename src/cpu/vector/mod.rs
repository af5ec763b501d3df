//! Registers of elements: the one vocabulary of vector kernels, for every instruction set.
//!
//! A kernel is generic over its register and inlined into a function that is compiled for an instruction set: see [`simd`](super::simd::simd).
//! [`by_level`] names the register of a level. Arithmetic on registers is safe to call, yet a register may only be used where the machine
//! has its instructions: whoever picks the register vouches for that.

mod array;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod bytes;
#[cfg(target_arch = "x86_64")]
mod elementary;

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

/// A bit for each lane, the lowest one for the first lane.
pub type Mask = u32;

/// The most lanes of a register.
pub(crate) const MOST_LANES: usize = 16;

/// A register of numbers.
pub trait Register: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// What a lane holds.
    type Item: Element;
    /// How many numbers it holds.
    const LANES: usize;
    /// `x` in all lanes.
    fn all(x: Self::Item) -> Self;
    /// The `LANES` numbers at `x`.
    ///
    /// # Safety
    /// They lie there, aligned or not.
    unsafe fn load(x: *const Self::Item) -> Self;
    /// Writes the `LANES` numbers to `r`.
    ///
    /// # Safety
    /// There is room for them, aligned or not.
    unsafe fn store(self, r: *mut Self::Item);
    /// The greater number of each lane; that of `other` where one is NaN.
    fn greater(self, other: Self) -> Self;
    /// The lesser number of each lane; that of `other` where one is NaN.
    fn lesser(self, other: Self) -> Self;
    /// The lanes that are equal.
    fn equal(self, other: Self) -> Mask;
    /// The lanes where one of the numbers is NaN.
    fn unordered(self, other: Self) -> Mask;
    /// The sum of all lanes.
    fn sum(self) -> Self::Item;
    /// The greatest number, if none is NaN.
    fn greatest(self) -> Self::Item;
    /// The least number, if none is NaN.
    fn least(self) -> Self::Item;
}

/// A register that can be loaded and stored in part.
pub trait Partial: Register {
    /// The first `n` lanes from `x`, the others from `self`; all of them if `n` is more.
    ///
    /// # Safety
    /// `n` numbers lie there, or `LANES` if `n` is more; `n` is not 0.
    unsafe fn load_first(self, x: *const Self::Item, n: usize) -> Self;
    /// Writes the first `n` lanes, all of them if `n` is more.
    ///
    /// # Safety
    /// There is room for them; `n` is not 0.
    unsafe fn store_first(self, r: *mut Self::Item, n: usize);
}

/// A register with masks.
pub trait Masked: Partial {
    /// The mask of the first `n` lanes.
    #[inline(always)]
    fn first(n: usize) -> Mask {
        (1 << n) - 1
    }
    /// The lanes of the mask from `x`, the others 0.
    ///
    /// # Safety
    /// The numbers of the mask lie there.
    unsafe fn load_where(mask: Mask, x: *const Self::Item) -> Self;
    /// Writes the lanes of the mask.
    ///
    /// # Safety
    /// There is room for them.
    unsafe fn store_where(self, mask: Mask, r: *mut Self::Item);
    /// `b` in the lanes of the mask, `self` in the others.
    fn or_where(self, mask: Mask, b: Self) -> Self;
    /// The lanes that are less than those of `b`.
    fn below(self, b: Self) -> Mask;
    /// The lanes that are less than those of `b` or equal.
    fn up_to(self, b: Self) -> Mask;
    /// The lanes of the mask in front, zeros after them.
    fn packed(self, mask: Mask) -> Self;
}

/// A register of floats.
pub trait Floats: Register {
    /// `self * b + c`, rounded once if the instruction set can.
    fn fma(self, b: Self, c: Self) -> Self;
    /// The product of all lanes.
    fn product(self) -> Self::Item;
}

/// A register of float32, and how those become float64.
pub trait Float32s: Floats<Item = f32> {
    /// As many float64.
    type Wide: Floats<Item = f64>;
    /// The numbers as float64.
    fn widen(self) -> Self::Wide;
    /// [`Float32s::widen`] of what lies at `x`.
    ///
    /// # Safety
    /// As for [`Register::load`].
    unsafe fn load_wide(x: *const f32) -> Self::Wide;
    /// The float16 at `x`.
    ///
    /// # Safety
    /// `LANES` of them lie there.
    unsafe fn load_f16(x: *const u16) -> Self;
    /// The numbers, rounded to float16, to `r`.
    ///
    /// # Safety
    /// There is room for `LANES` of them.
    unsafe fn store_f16(self, r: *mut u16);
    /// The bfloat16 at `x`.
    ///
    /// # Safety
    /// `LANES` of them lie there.
    unsafe fn load_bf16(x: *const u16) -> Self;
    /// Twice as many bfloat16 at `x`, in any order.
    ///
    /// # Safety
    /// They lie there.
    unsafe fn load_bf16_unordered(x: *const u16) -> [Self; 2];
    /// The bits that are set in both.
    fn and(self, bits: Self) -> Self;
}

/// A register of float64, and how those become float32.
pub trait Float64s: Floats<Item = f64> {
    /// As many float32.
    type Narrow: Float32s;
    /// Float32 as float64.
    fn of(x: Self::Narrow) -> Self;
    /// The numbers rounded to float32.
    fn narrow(self) -> Self::Narrow;
}

/// A float with a register for each level.
pub trait Vectored: Element {
    /// The register of AVX-512.
    type Avx512: Partial<Item = Self> + Floats;
}

#[cfg(target_arch = "x86_64")]
impl Vectored for f32 {
    type Avx512 = F32x16;
}
#[cfg(target_arch = "x86_64")]
impl Vectored for f64 {
    type Avx512 = F64x8;
}
#[cfg(not(target_arch = "x86_64"))]
impl Vectored for f32 {
    type Avx512 = Array<f32, 1>;
}
#[cfg(not(target_arch = "x86_64"))]
impl Vectored for f64 {
    type Avx512 = Array<f64, 1>;
}

/// Names the register of a level: `by_level!(isa, f32, V => f::<V>(..))`. For kernels that are inlined into one of
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
