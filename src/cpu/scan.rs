//! Scans: running sums, products and extremes along lines.
//!
//! Sums and products of floats are kept in float64, those of integers in wrapping int64.

use super::lines::{Line, PANEL, Panel};
use super::prefix::Prefix;
use super::simd::simd;
use crate::dtype::{Bool, Element};

/// Elements of a line done before looking whether the fast way was good.
const PIECE: usize = 1024;

/// What running totals of a type are kept in, and what they become.
pub trait Scanned: Element {
    /// The total.
    type Total: Element;
    /// The result.
    type Out: Element;
    /// The element as a total.
    fn total(self) -> Self::Total;
    /// A total as a result.
    fn result(total: Self::Total) -> Self::Out;
    /// Many elements at once, if there is a faster way; see [`Prefix::run`].
    ///
    /// # Safety
    /// Both must hold `n` elements and not overlap.
    unsafe fn fast<const PRODUCT: bool>(out: *mut Self::Out, x: *const Self, n: usize, total: &mut Self::Total) -> bool;
}

macro_rules! scanned {
    (integer: $($t:ty),*) => { $(
        impl Scanned for $t {
            type Total = i64;
            type Out = i64;
            #[inline(always)]
            fn total(self) -> i64 {
                self.to_i64()
            }
            #[inline(always)]
            fn result(total: i64) -> i64 {
                total
            }
            #[inline(always)]
            unsafe fn fast<const PRODUCT: bool>(_: *mut i64, _: *const $t, _: usize, _: &mut i64) -> bool {
                false
            }
        }
    )* };
    (float: $($t:ty),*) => { $(
        impl Scanned for $t {
            type Total = f64;
            type Out = $t;
            #[inline(always)]
            fn total(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn result(total: f64) -> $t {
                total as $t
            }
            #[inline(always)]
            unsafe fn fast<const PRODUCT: bool>(out: *mut $t, x: *const $t, n: usize, total: &mut f64) -> bool {
                // SAFETY: the caller's.
                unsafe { <$t as Prefix>::run::<PRODUCT>(out, x, n, total) }
            }
        }
    )* };
}
scanned!(integer: u8, i8, i16, i32, i64, Bool);
scanned!(float: f32, f64);

/// `total + x`, or `total * x`.
#[inline(always)]
fn join<A: Element, const PRODUCT: bool>(total: A, x: A) -> A {
    if PRODUCT { total.mul(x) } else { total.add(x) }
}

/// Running sums of a line, or products.
pub fn totals<T: Scanned, const PRODUCT: bool>(l: Line) {
    let mut total = T::Total::from_i64(PRODUCT as i64);
    for at in (0..l.n).step_by(PIECE) {
        let (out, x, n) = (l.out[0].cast::<T::Out>().wrapping_add(at), l.x.cast::<T>().wrapping_add(at), PIECE.min(l.n - at));
        // SAFETY: the driver passes `n` elements of each, apart.
        unsafe {
            if T::fast::<PRODUCT>(out, x, n, &mut total) {
                continue;
            }
            for i in 0..n {
                total = join::<_, PRODUCT>(total, x.add(i).read().total());
                out.add(i).write(T::result(total));
            }
        }
    }
}

/// Running sums of lines side by side, or products.
pub fn totals_beside<T: Scanned, const PRODUCT: bool>(p: Panel) {
    let mut totals = [T::Total::from_i64(PRODUCT as i64); PANEL];
    let totals = totals.as_mut_ptr();
    simd(
        #[inline(always)]
        move |_| {
            for i in 0..p.n as isize {
                let (out, x) =
                    (p.out[0].wrapping_offset(i * p.out_step[0]).cast::<T::Out>(), p.x.wrapping_offset(i * p.x_step).cast::<T>());
                for j in 0..p.width {
                    // SAFETY: the driver passes `n` rows of `width` elements, at most PANEL, apart.
                    unsafe {
                        let total = join::<_, PRODUCT>(totals.add(j).read(), x.add(j).read().total());
                        totals.add(j).write(total);
                        out.add(j).write(T::result(total));
                    }
                }
            }
        },
    )
}

/// Whether `x` takes the place of `best`, which came earlier: the last of equals counts, and a NaN beats everything.
#[inline(always)]
fn takes<T: Element, const MAX: bool>(x: T, best: T) -> bool {
    let ahead = if MAX { x >= best } else { x <= best };
    ahead | x.is_nan()
}

/// Running greatest elements of a line, or least, and where they are.
///
/// New ones are rare in most lines: 16 elements without one need a comparison each, and the same result 16 times.
pub fn extremes<T: Element, const MAX: bool>(l: Line) {
    const GROUP: usize = 16;
    let (values, indices, x) = (l.out[0].cast::<T>(), l.out[1].cast::<i64>(), l.x.cast::<T>());
    if l.n == 0 {
        return;
    }
    // SAFETY: the driver passes `n` elements of each, apart.
    simd(
        #[inline(always)]
        move |_| unsafe {
            let (mut best, mut index) = (x.read(), 0);
            let mut at = 0;
            while at < l.n {
                let n = GROUP.min(l.n - at);
                let any = n < GROUP || (0..GROUP).fold(false, |any, i| any | takes::<T, MAX>(x.add(at + i).read(), best));
                if !any {
                    (0..GROUP).for_each(|i| values.add(at + i).write(best));
                    (0..GROUP).for_each(|i| indices.add(at + i).write(index));
                } else {
                    for i in at..at + n {
                        let new = x.add(i).read();
                        if takes::<T, MAX>(new, best) {
                            (best, index) = (new, i as i64);
                        }
                        values.add(i).write(best);
                        indices.add(i).write(index);
                    }
                }
                at += n;
            }
        },
    )
}

/// Running extremes of lines side by side.
pub fn extremes_beside<T: Element, const MAX: bool>(p: Panel) {
    let (mut best, mut index) = ([T::ZERO; PANEL], [0i64; PANEL]);
    let (best, index) = (best.as_mut_ptr(), index.as_mut_ptr());
    if p.n == 0 {
        return;
    }
    // SAFETY: the driver passes `n` rows of `width` elements, at most PANEL, apart.
    unsafe { best.copy_from_nonoverlapping(p.x.cast::<T>(), p.width) };
    simd(
        #[inline(always)]
        move |_| {
            for i in 0..p.n as isize {
                let x = p.x.wrapping_offset(i * p.x_step).cast::<T>();
                let out = |k: usize| p.out[k].wrapping_offset(i * p.out_step[k]);
                let (values, indices) = (out(0).cast::<T>(), out(1).cast::<i64>());
                for j in 0..p.width {
                    // SAFETY: as above.
                    unsafe {
                        let (new, old, at) = (x.add(j).read(), best.add(j).read(), index.add(j).read());
                        let takes = takes::<T, MAX>(new, old);
                        let (new, at) = (if takes { new } else { old }, if takes { i as i64 } else { at });
                        best.add(j).write(new);
                        index.add(j).write(at);
                        values.add(j).write(new);
                        indices.add(j).write(at);
                    }
                }
            }
        },
    )
}
