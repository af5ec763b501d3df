//! Running sums and products in AVX-512 registers, if the processor has them.
//!
//! The sum of each element and the seven before it takes three steps, which add the neighbours 1, 2 and 4 elements away. A register of such
//! sums plus the results of the register before is the next register of results, so that each register waits for only one addition of the
//! previous one. This rounds in another order than adding one element after the other, and may overflow although the sum itself does not.
//! Pieces that overflow are left to the caller. Consecutive lines of float32 avoid both: [`scan8`] computes eight lines at once.

// On other processors only the trait's defaults exist, which do nothing.
#![cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]

#[cfg(target_arch = "x86_64")]
mod scan8;

use super::lines::Stack;
#[cfg(target_arch = "x86_64")]
use super::simd::{Level, level, with_avx512};
#[cfg(target_arch = "x86_64")]
use super::vector::{Elementary, F32x8, F64x8, Float64s, Floats, I64x8, Mask, Masked, Register};
use crate::dtype::Bool;
#[cfg(target_arch = "x86_64")]
use crate::dtype::Element;

/// An element type with the types of its running totals and results, and kernels for some of them.
pub trait Prefix<Total, Out>: Sized {
    /// Returns the number of lines of `n` elements that [`Prefix::run_lines`] processes at a time.
    fn batch(_n: usize) -> usize {
        1
    }

    /// `out[i] = total * x[0] ... x[i]` or the sum; `total` becomes the last of these. Returns false if nothing was computed; `out` is then
    /// undefined, and `total` is unchanged.
    ///
    /// # Safety
    /// Both must hold `n` elements and not overlap.
    #[inline(always)]
    unsafe fn run<const PRODUCT: bool>(_out: *mut Out, _x: *const Self, _n: usize, _total: &mut Total) -> bool {
        false
    }

    /// The same for consecutive lines. Returns the number of lines that are done, from the first on.
    ///
    /// # Safety
    /// The lines and results must exist as `lines` says; results must not overlap anything.
    #[inline(always)]
    unsafe fn run_lines<const PRODUCT: bool>(_lines: Stack) -> usize {
        0
    }

    /// The same for [`ROWS`] rows of `n` lines that are columns, with a total each. Returns false if nothing was done.
    ///
    /// # Safety
    /// All must hold `n` elements, and results must not overlap anything.
    #[inline(always)]
    unsafe fn run_columns<const PRODUCT: bool>(_out: [*mut Out; ROWS], _x: [*const Self; ROWS], _n: usize, _totals: *mut Total) -> bool {
        false
    }
}

impl Prefix<i64, i64> for u8 {}
impl Prefix<i64, i64> for i8 {}
impl Prefix<i64, i64> for i16 {}
impl Prefix<i64, i64> for i32 {}
impl Prefix<i64, i64> for Bool {}

impl Prefix<i64, i64> for i64 {
    #[inline(always)]
    unsafe fn run<const PRODUCT: bool>(out: *mut i64, x: *const i64, n: usize, total: &mut i64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if !PRODUCT && level() == Level::Avx512 {
            // SAFETY: the processor has the level, and the caller keeps this function's contract.
            unsafe { integers_avx512(out, x, n, total) }
            return true;
        }
        false
    }
}

/// Rows that [`Prefix::run_columns`] processes together.
pub(crate) const ROWS: usize = 4;

macro_rules! prefix {
    ($($t:ty $({ $($more:item)* })?),*) => { $(
        impl Prefix<f64, $t> for $t {
            $($($more)*)?

            #[inline(always)]
            unsafe fn run<const PRODUCT: bool>(out: *mut $t, x: *const $t, n: usize, total: &mut f64) -> bool {
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the processor has the level, and the caller keeps this function's contract.
                    return unsafe { wide_avx512::<$t, PRODUCT>(out, x, n, total) };
                }
                false
            }

            #[inline(always)]
            unsafe fn run_columns<const PRODUCT: bool>(out: [*mut $t; ROWS], x: [*const $t; ROWS], n: usize, totals: *mut f64) -> bool {
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the processor has the level, and the caller keeps this function's contract.
                    unsafe { wide_columns_avx512::<$t, PRODUCT>(out, x, n, totals) }
                    return true;
                }
                false
            }
        }
    )* };
}
prefix!(
    f32 {
        #[cfg(target_arch = "x86_64")]
        fn batch(n: usize) -> usize {
            scan8::batch(n)
        }

        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        unsafe fn run_lines<const PRODUCT: bool>(lines: Stack) -> usize {
            // SAFETY: the caller keeps this function's contract.
            unsafe { scan8::run::<PRODUCT>(lines) }
        }
    },
    f64
);

/// A float type whose totals are float64, eight at a time.
///
/// # Safety
/// For both functions: pointers must be valid for the elements with a bit in `mask`, and the processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
trait Summed: Element {
    /// True if the sum of any eight elements fits float64.
    const SAFE: bool;
    unsafe fn load(x: *const Self, mask: Mask) -> F64x8;
    unsafe fn store(out: *mut Self, mask: Mask, v: F64x8);
}

#[cfg(target_arch = "x86_64")]
impl Summed for f32 {
    const SAFE: bool = true;

    #[inline(always)]
    unsafe fn load(x: *const f32, mask: Mask) -> F64x8 {
        // SAFETY: the caller keeps this function's contract.
        F64x8::of(unsafe { F32x8::load_where(mask, x) })
    }

    #[inline(always)]
    unsafe fn store(out: *mut f32, mask: Mask, v: F64x8) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { v.narrow().store_where(mask, out) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Summed for f64 {
    const SAFE: bool = false;

    #[inline(always)]
    unsafe fn load(x: *const f64, mask: Mask) -> F64x8 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { F64x8::load_where(mask, x) }
    }

    #[inline(always)]
    unsafe fn store(out: *mut f64, mask: Mask, v: F64x8) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { v.store_where(mask, out) }
    }
}

/// The mask of a whole register.
#[cfg(target_arch = "x86_64")]
const WHOLE: Mask = 0xff;

#[cfg(target_arch = "x86_64")]
with_avx512! {
    unsafe fn wide_avx512<T: Summed, const PRODUCT: bool>(out: *mut T, x: *const T, n: usize, total: &mut f64) -> bool {
        // SAFETY: the caller keeps this function's contract.
        unsafe { wide::<T, PRODUCT>(out, x, n, total) }
    }

    unsafe fn wide_columns_avx512<T: Summed, const PRODUCT: bool>(out: [*mut T; ROWS], x: [*const T; ROWS], n: usize, totals: *mut f64) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { wide_columns::<T, PRODUCT>(out, x, n, totals) }
    }

    unsafe fn integers_avx512(out: *mut i64, x: *const i64, n: usize, total: &mut i64) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { integers(out, x, n, total) }
    }
}

/// Computes sums or products, eight at a time in float64.
///
/// # Safety
/// As for [`Prefix::run`]; the processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn wide<T: Summed, const PRODUCT: bool>(out: *mut T, x: *const T, n: usize, total: &mut f64) -> bool {
    let neutral = F64x8::all(if PRODUCT { 1.0 } else { 0.0 });
    let (twos, fours, results) = (neutral, neutral, F64x8::all(*total));
    let (mut sums, mut at) = (Sums::<PRODUCT> { twos, fours, results, moderate: true, spoilt: F64x8::all(0.0) }, 0);
    // SAFETY: the caller keeps this function's contract; masks exclude lanes after the end and the element before the first.
    unsafe {
        while n - at >= 8 {
            let v = T::load(x.add(at), WHOLE);
            let before = if at == 0 { v.delayed::<1>(neutral) } else { T::load(x.add(at).sub(1), WHOLE) };
            let result = sums.push::<T>(v, before);
            T::store(out.add(at), WHOLE, result);
            at += 8;
        }
        if at < n {
            let mask = F64x8::first(n - at);
            let v = neutral.or_where(mask, T::load(x.add(at), mask));
            let last = if at == 0 { neutral } else { F64x8::all(x.add(at).sub(1).read().to_f64()) };
            let result = sums.push::<T>(v, v.delayed::<1>(last));
            // Masked stores are slow on AMD's processors.
            let mut rest = [T::ZERO; 8];
            T::store(rest.as_mut_ptr(), WHOLE, result);
            (at..n).for_each(|i| out.add(i).write(rest[i - at]));
        }
    }
    let done = sums.moderate && sums.spoilt.unordered(sums.spoilt) == 0;
    if done {
        *total = sums.results.all_last().first_lane();
    }
    done
}

/// Computes the running sums of eight elements in three steps, and then adds the total. So each register waits for only one addition of the
/// previous register.
///
/// # Safety
/// As for [`Prefix::run`]; the processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn integers(out: *mut i64, x: *const i64, n: usize, total: &mut i64) {
    let zero = I64x8::all(0);
    let (mut before, mut at) = (I64x8::all(*total), 0);
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        while n - at >= 8 {
            let v = I64x8::load(x.add(at));
            let twos = v + v.delayed::<1>(zero);
            let fours = twos + twos.delayed::<2>(zero);
            let sums = fours + fours.delayed::<4>(zero);
            (before + sums).store(out.add(at));
            before = before + sums.all_last();
            at += 8;
        }
        let mut sum = before.first_lane();
        while at < n {
            sum = sum.wrapping_add(x.add(at).read());
            out.add(at).write(sum);
            at += 1;
        }
        *total = sum;
    }
}

/// Computes columns. The totals of eight lines stay in a register from row to row.
///
/// # Safety
/// As for [`Prefix::run_columns`]; the processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn wide_columns<T: Summed, const PRODUCT: bool>(out: [*mut T; ROWS], x: [*const T; ROWS], n: usize, totals: *mut f64) {
    for at in (0..n).step_by(8) {
        let mask = F64x8::first(8.min(n - at));
        // SAFETY: the caller keeps this function's contract; masks exclude lanes after the end.
        unsafe {
            let mut total = f64::load(totals.add(at), mask);
            for k in 0..ROWS {
                total = join::<PRODUCT>(total, T::load(x[k].add(at), mask));
                T::store(out[k].add(at), mask, total);
            }
            f64::store(totals.add(at), mask, total);
        }
    }
}

/// `a + b`, or `a * b`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn join<const PRODUCT: bool>(a: F64x8, b: F64x8) -> F64x8 {
    if PRODUCT { a * b } else { a + b }
}

/// Returns true if no product of eight such factors, or of factors between them in size, leaves the range of float64.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn moderate(v: F64x8) -> bool {
    let (least, most) = (F64x8::all(f64::from_bits((1023 - 120) << 52)), F64x8::all(f64::from_bits((1023 + 120) << 52)));
    least.up_to(v.abs()) & v.abs().up_to(most) == WHOLE
}

/// The sums of the last register, which the next register needs.
#[cfg(target_arch = "x86_64")]
struct Sums<const PRODUCT: bool> {
    /// Sums of each element and the one before.
    twos: F64x8,
    /// Sums of each element and the three before.
    fours: F64x8,
    /// Sums of all elements so far.
    results: F64x8,
    /// True if no intermediate product left the range of float64.
    moderate: bool,
    /// NaN in some lane if a sum was ever infinite or NaN.
    spoilt: F64x8,
}

#[cfg(target_arch = "x86_64")]
impl<const PRODUCT: bool> Sums<PRODUCT> {
    /// Returns the next results, from a register of elements and the register of the elements before each.
    #[inline(always)]
    fn push<T: Summed>(&mut self, v: F64x8, before: F64x8) -> F64x8 {
        let (twos, fours) = (self.twos, self.fours);
        self.twos = join::<PRODUCT>(v, before);
        self.fours = join::<PRODUCT>(self.twos, self.twos.delayed::<2>(twos));
        self.results = join::<PRODUCT>(self.results, join::<PRODUCT>(self.fours, self.fours.delayed::<4>(fours)));
        if PRODUCT {
            self.moderate &= moderate(v);
        } else if !T::SAFE {
            self.spoilt = self.results.fma(F64x8::all(0.0), self.spoilt);
        }
        self.results
    }
}
