//! The folds themselves: sums and extremes of one compute type.

use super::reduce::Fold;
use super::simd::simd;
use crate::dtype::{Bool, Element};
use std::marker::PhantomData;

/// What a type is summed in: float64 for floats, wrapping int64 for the rest.
pub trait Summand: Element {
    /// The accumulator, and the type of the result.
    type Total: Element;
    /// The element as a total.
    fn total(self) -> Self::Total;
    /// The sum of `n` contiguous elements.
    ///
    /// # Safety
    /// `x` holds `n` elements.
    unsafe fn sum(x: *const Self, n: usize) -> Self::Total;
}

macro_rules! summand {
    (integer: $($t:ty),*) => { $(
        impl Summand for $t {
            type Total = i64;
            #[inline(always)]
            fn total(self) -> i64 {
                self.to_i64()
            }
            #[inline(always)]
            unsafe fn sum(x: *const $t, n: usize) -> i64 {
                // SAFETY: the caller's.
                (0..n).fold(0i64, |sum, i| sum.wrapping_add(unsafe { x.add(i).read() }.to_i64()))
            }
        }
    )* };
    (float: $($t:ty),*) => { $(
        impl Summand for $t {
            type Total = f64;
            #[inline(always)]
            fn total(self) -> f64 {
                self as f64
            }
            /// In 32 lanes: float64 keeps what float32 would round away, at the speed of memory.
            #[inline(always)]
            unsafe fn sum(x: *const $t, n: usize) -> f64 {
                const LANES: usize = 32;
                let mut lanes = [0f64; LANES];
                for r in 0..n / LANES {
                    for (j, lane) in lanes.iter_mut().enumerate() {
                        // SAFETY: the caller's.
                        *lane += unsafe { x.add(r * LANES + j).read() } as f64;
                    }
                }
                let sum = lanes.iter().sum::<f64>();
                // SAFETY: the caller's.
                (n / LANES * LANES..n).fold(sum, |sum, i| sum + unsafe { x.add(i).read() } as f64)
            }
        }
    )* };
}
summand!(integer: u8, i8, i16, i32, i64, Bool);
summand!(float: f32, f64);

/// The sum, divided by the count for a mean.
pub struct Sum<T> {
    divisor: f64,
    of: PhantomData<T>,
}

impl<T> Sum<T> {
    /// A sum whose total is divided by `divisor`; 1 leaves it alone.
    pub fn over(divisor: f64) -> Sum<T> {
        Sum { divisor, of: PhantomData }
    }
}

impl<T: Summand> Fold for Sum<T> {
    fn acc_size(&self) -> usize {
        size_of::<T::Total>()
    }

    unsafe fn start(&self, acc: *mut u8, n: usize) {
        // SAFETY: the caller's.
        (0..n).for_each(|j| unsafe { acc.cast::<T::Total>().add(j).write(Element::ZERO) })
    }

    unsafe fn row(&self, acc: *mut u8, x: *const u8, n: usize, _: i64) {
        let (acc, x) = (acc.cast::<T::Total>(), x.cast::<T>());
        // SAFETY: the caller's.
        unsafe {
            let sum = simd(
                #[inline(always)]
                move |_| T::sum(x, n),
            );
            acc.write(acc.read().add(sum));
        }
    }

    unsafe fn column(&self, accs: *mut u8, x: *const u8, n: usize, _: i64) {
        let (accs, x) = (accs.cast::<T::Total>(), x.cast::<T>());
        simd(
            #[inline(always)]
            move |_| {
                for j in 0..n {
                    // SAFETY: the caller's.
                    unsafe { accs.add(j).write(accs.add(j).read().add(x.add(j).read().total())) }
                }
            },
        )
    }

    unsafe fn merge(&self, acc: *mut u8, other: *const u8) {
        // SAFETY: the caller's.
        unsafe { acc.cast::<T::Total>().write(acc.cast::<T::Total>().read().add(other.cast::<T::Total>().read())) }
    }

    unsafe fn finish(&self, accs: *const u8, n: usize, out: [*mut u8; 2]) {
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe {
                let total = accs.cast::<T::Total>().add(j).read();
                let result = if self.divisor == 1.0 { total } else { Element::from_f64(total.to_f64() / self.divisor) };
                out[0].cast::<T::Total>().add(j).write(result);
            }
        }
    }
}

/// The greatest (`MAX`) or least element and the number of its first occurrence; a NaN beats everything.
pub struct Extreme<T, const MAX: bool>(pub PhantomData<T>);

#[derive(Clone, Copy)]
struct Best<T> {
    value: T,
    /// -1 before the first element.
    index: i64,
}

impl<T: Element, const MAX: bool> Extreme<T, MAX> {
    /// Whether `x` takes the place of `best`, which came earlier.
    #[inline(always)]
    fn beats(x: T, best: T) -> bool {
        let ahead = if MAX { x > best } else { x < best };
        ahead || (x.is_nan() && !best.is_nan())
    }

    /// # Safety
    /// `x` holds `n` >= 1 elements.
    #[inline(always)]
    unsafe fn best_of(x: *const T, n: usize) -> T {
        const LANES: usize = 32;
        // SAFETY: the caller's.
        unsafe {
            let mut lanes = [x.read(); LANES];
            for r in 0..n / LANES {
                for (j, lane) in lanes.iter_mut().enumerate() {
                    let v = x.add(r * LANES + j).read();
                    *lane = if Self::beats(v, *lane) { v } else { *lane };
                }
            }
            let tail = (n / LANES * LANES..n).map(|i| x.add(i).read());
            lanes.into_iter().chain(tail).fold(x.read(), |best, v| if Self::beats(v, best) { v } else { best })
        }
    }
}

impl<T: Element, const MAX: bool> Fold for Extreme<T, MAX> {
    fn acc_size(&self) -> usize {
        size_of::<Best<T>>()
    }

    unsafe fn start(&self, acc: *mut u8, n: usize) {
        // SAFETY: the caller's.
        (0..n).for_each(|j| unsafe { acc.cast::<Best<T>>().add(j).write(Best { value: T::ZERO, index: -1 }) })
    }

    /// Finds the best value of a piece first, its place only if the value is news: one comparison an element.
    unsafe fn row(&self, acc: *mut u8, x: *const u8, n: usize, index: i64) {
        const PIECE: usize = 512;
        let (acc, x) = (acc.cast::<Best<T>>(), x.cast::<T>());
        // SAFETY: the caller's.
        unsafe {
            for start in (0..n).step_by(PIECE) {
                let (piece, len) = (x.add(start), PIECE.min(n - start));
                let value = simd(
                    #[inline(always)]
                    move |_| Self::best_of(piece, len),
                );
                let best = acc.read();
                if best.index < 0 || Self::beats(value, best.value) {
                    let same = |v: T| v == value || (v.is_nan() && value.is_nan());
                    let at = (0..len).position(|i| same(piece.add(i).read())).unwrap_or(0);
                    acc.write(Best { value, index: index + (start + at) as i64 });
                }
            }
        }
    }

    unsafe fn column(&self, accs: *mut u8, x: *const u8, n: usize, index: i64) {
        let (accs, x) = (accs.cast::<Best<T>>(), x.cast::<T>());
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe {
                let (best, value) = (accs.add(j).read(), x.add(j).read());
                if best.index < 0 || Self::beats(value, best.value) {
                    accs.add(j).write(Best { value, index });
                }
            }
        }
    }

    unsafe fn merge(&self, acc: *mut u8, other: *const u8) {
        // SAFETY: the caller's.
        unsafe {
            let (best, later) = (acc.cast::<Best<T>>().read(), other.cast::<Best<T>>().read());
            if best.index < 0 || (later.index >= 0 && Self::beats(later.value, best.value)) {
                acc.cast::<Best<T>>().write(later);
            }
        }
    }

    unsafe fn finish(&self, accs: *const u8, n: usize, out: [*mut u8; 2]) {
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe {
                let best = accs.cast::<Best<T>>().add(j).read();
                out[0].cast::<T>().add(j).write(best.value);
                out[1].cast::<i64>().add(j).write(best.index);
            }
        }
    }
}
