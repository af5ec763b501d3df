//! Scans: running sums, products and extremes along lines.
//!
//! Totals of floats are float64, totals of integers are wrapping int64.

use super::lines::{ColumnBlock, Line, LinesKernel, MAX_COLUMNS, Stack};
use super::prefix::{Prefix, ROWS};
use super::simd::simd;
use crate::cpu::tuning::SCANNED_SINGLY;
use crate::dtype::{Bool, Element};
use std::ptr::null_mut;

/// Elements of a line that the fast kernel processes before its result is checked.
const PIECE: usize = 1024;

/// An element type with the types of its running totals and results.
pub trait Scanned: Element + Prefix<Self::Total, Self::Out> {
    /// The type of totals.
    type Total: Element;
    /// The type of results.
    type Out: Element;
    /// Converts the element to a total.
    fn total(self) -> Self::Total;
    /// Converts a total to a result.
    fn result(total: Self::Total) -> Self::Out;
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

/// Computes the running sums or products of a line.
fn totals<T: Scanned, const PRODUCT: bool>(l: Line) {
    let mut total = T::Total::from_i64(PRODUCT as i64);
    for at in (0..l.n).step_by(PIECE) {
        let (out, x, n) = (l.out[0].cast::<T::Out>().wrapping_add(at), l.x.cast::<T>().wrapping_add(at), PIECE.min(l.n - at));
        // SAFETY: the driver passes `n` elements of each, which do not overlap.
        unsafe {
            if !(n >= SCANNED_SINGLY && T::run::<PRODUCT>(out, x, n, &mut total)) {
                one_by_one::<T, PRODUCT>(out, x, n, &mut total);
            }
        }
    }
}

/// `out[i] = total + x[0] + ... + x[i]`, or the product; `total` becomes the last of these.
///
/// # Safety
/// Both must hold `n` elements and not overlap.
#[inline(always)]
unsafe fn one_by_one<T: Scanned, const PRODUCT: bool>(out: *mut T::Out, x: *const T, n: usize, total: &mut T::Total) {
    for i in 0..n {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            *total = join::<_, PRODUCT>(*total, x.add(i).read().total());
            out.add(i).write(T::result(*total));
        }
    }
}

/// Computes the running sums or products of lines one after the other, several at once if there is a kernel for that.
pub fn totals_of_lines<T: Scanned, const PRODUCT: bool>(s: Stack) {
    // SAFETY: the driver passes `count` lines of `n` elements, and as many results, which do not overlap.
    let done = unsafe { T::run_lines::<PRODUCT>(s) };
    let s = s.lines(done, s.count);
    if s.n >= SCANNED_SINGLY {
        return LinesKernel::Line(&totals::<T, PRODUCT>).run(s, null_mut());
    }
    for j in 0..s.count as isize {
        let (out, x) = (s.out[0].wrapping_offset(j * s.out_step[0]), s.x.wrapping_offset(j * s.x_step));
        // SAFETY: the driver passes `count` lines of `n` elements, and as many results, which do not overlap.
        unsafe { one_by_one::<T, PRODUCT>(out.cast(), x.cast(), s.n, &mut T::Total::from_i64(PRODUCT as i64)) }
    }
}

/// Computes the running sums or products of lines that are columns.
pub fn totals_of_columns<T: Scanned, const PRODUCT: bool>(p: ColumnBlock) {
    let mut totals = [T::Total::from_i64(PRODUCT as i64); MAX_COLUMNS];
    let totals = totals.as_mut_ptr();
    let out = move |i: usize| p.out[0].wrapping_offset(i as isize * p.out_step[0]).cast::<T::Out>();
    let x = move |i: usize| p.x.wrapping_offset(i as isize * p.x_step).cast::<T>();
    let mut done = 0;
    // SAFETY: the driver passes `n` rows of at most MAX_COLUMNS elements, which do not overlap.
    unsafe {
        let rows = |i: usize| (std::array::from_fn(|k| out(i + k)), std::array::from_fn(|k| x(i + k)));
        while done + ROWS <= p.n {
            let (out, x) = rows(done);
            if !T::run_columns::<PRODUCT>(out, x, p.width, totals) {
                break;
            }
            done += ROWS;
        }
    }
    simd(
        #[inline(always)]
        move |_| {
            for i in done..p.n {
                let (out, x) = (out(i), x(i));
                for j in 0..p.width {
                    // SAFETY: the driver passes `n` rows of at most MAX_COLUMNS elements, which do not overlap.
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

/// Returns true if `x` replaces `best`, which came earlier: of equal elements the last wins, and a NaN wins over everything.
#[inline(always)]
fn takes<T: Element, const MAX: bool>(x: T, best: T) -> bool {
    let ahead = if MAX { x >= best } else { x <= best };
    ahead | x.is_nan()
}

/// Computes the running maxima or minima of a line and their indices.
///
/// In most lines few elements are new extremes. A group of 16 elements without a new extreme needs only comparisons, and all its results
/// are equal.
pub fn extremes<T: Element, const MAX: bool>(l: Line) {
    const GROUP: usize = 16;
    let (values, indices, x) = (l.out[0].cast::<T>(), l.out[1].cast::<i64>(), l.x.cast::<T>());
    if l.n == 0 {
        return;
    }
    // SAFETY: the driver passes `n` elements of each, which do not overlap.
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

/// Computes the running extremes of lines that are columns.
pub fn extremes_of_columns<T: Element, const MAX: bool>(p: ColumnBlock) {
    let (mut best, mut index) = ([T::ZERO; MAX_COLUMNS], [0i64; MAX_COLUMNS]);
    let (best, index) = (best.as_mut_ptr(), index.as_mut_ptr());
    if p.n == 0 {
        return;
    }
    // SAFETY: the driver passes `n` rows of at most MAX_COLUMNS elements, which do not overlap.
    unsafe { best.copy_from_nonoverlapping(p.x.cast::<T>(), p.width) };
    simd(
        #[inline(always)]
        move |_| {
            for i in 0..p.n as isize {
                let x = p.x.wrapping_offset(i * p.x_step).cast::<T>();
                let out = |k: usize| p.out[k].wrapping_offset(i * p.out_step[k]);
                let (values, indices) = (out(0).cast::<T>(), out(1).cast::<i64>());
                for j in 0..p.width {
                    // SAFETY: the driver passes `n` rows of at most MAX_COLUMNS elements, which do not overlap.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T: Scanned, const PRODUCT: bool>(x: &[T]) -> Vec<T::Out> {
        let mut out = vec![T::Out::ZERO; x.len()];
        totals::<T, PRODUCT>(Line {
            out: [out.as_mut_ptr().cast(), null_mut()],
            x: x.as_ptr() as *mut u8,
            n: x.len(),
            scratch: null_mut(),
        });
        out
    }

    #[test]
    fn sums_of_any_length_are_exact_for_small_integers() {
        for n in [0usize, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 1024, 1025, 3000] {
            let x: Vec<f32> = (0..n).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
            let wide: Vec<f64> = x.iter().map(|&v| v.into()).collect();
            let exact: Vec<f64> = wide.iter().scan(0.0, |sum, v| Some(*sum + v).inspect(|s| *sum = *s)).collect();
            assert_eq!(run::<f64, false>(&wide), exact, "{n}");
            assert_eq!(run::<f32, false>(&x), exact.iter().map(|&v| v as f32).collect::<Vec<_>>(), "{n}");
        }
    }

    #[test]
    fn integers_wrap_around() {
        for n in [0usize, 1, 7, 8, 9, 63, 1023, 1024, 1025, 3000] {
            let x: Vec<i64> = (0..n as i64).map(|i| i.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ i).collect();
            let scanned = |one: i64, join: fn(i64, i64) -> i64| {
                let next = |total: &mut i64, &v: &i64| Some(join(*total, v)).inspect(|&t| *total = t);
                x.iter().scan(one, next).collect::<Vec<_>>()
            };
            assert_eq!(run::<i64, false>(&x), scanned(0, i64::wrapping_add), "{n}");
            assert_eq!(run::<i64, true>(&x), scanned(1, i64::wrapping_mul), "{n}");
        }
    }

    #[test]
    fn panels_of_any_size_are_totalled_line_by_line() {
        for (n, width) in [(1usize, 1usize), (3, 17), (4, 8), (9, 31), (50, 100)] {
            let x: Vec<f32> = (0..n * width).map(|i| 1.0 + (i * 37 % 101) as f32 / 64.0).collect();
            let mut out = vec![0f32; n * width];
            let step = 4 * width as isize;
            let outs = [out.as_mut_ptr().cast(), null_mut()];
            totals_of_columns::<f32, true>(ColumnBlock {
                out: outs,
                out_step: [step; 2],
                x: x.as_ptr().cast(),
                x_step: step,
                n,
                width,
                ahead: 0,
            });
            for j in 0..width {
                let mut product = 1.0;
                for i in 0..n {
                    product *= f64::from(x[i * width + j]);
                    assert_eq!(out[i * width + j], product as f32, "{n}x{width}, element {i} of line {j}");
                }
            }
        }
    }

    #[test]
    fn lines_one_after_the_other_are_totalled_with_those_that_are_left_over() {
        for (n, count) in [(5usize, 9usize), (40, 17), (9000, 9)] {
            let (step, out_step) = (n + 3, n + 1);
            let x: Vec<f32> = (0..count * step).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
            let mut out = vec![-7f32; count * out_step];
            let (data, out_steps) = ([out.as_mut_ptr().cast(), null_mut()], [4 * out_step as isize, 0]);
            totals_of_lines::<f32, false>(Stack {
                out: data,
                out_step: out_steps,
                x: x.as_ptr().cast(),
                x_step: 4 * step as isize,
                n,
                count,
            });
            for j in 0..count {
                let exact = x[j * step..][..n].iter().scan(0.0, |sum, &v| Some(*sum + v).inspect(|s| *sum = *s)).collect::<Vec<f32>>();
                assert_eq!(out[j * out_step..][..n], exact, "{n} x {count}, line {j}");
                assert_eq!(out[j * out_step + n], -7.0, "{n} x {count}, after line {j}");
            }
        }
    }

    #[test]
    fn products_that_float64_has_no_room_for_do_not_vanish() {
        let tiny = f32::from_bits(1);
        let big = f32::powi(2.0, 127);
        for line in [[&[f32::INFINITY][..], &[tiny; 8]].concat(), [&[big; 8][..], &[tiny; 8], &[big; 8]].concat()] {
            assert_eq!(run::<f32, true>(&line).last(), Some(&f32::INFINITY));
        }
    }

    #[test]
    fn what_overflows_on_the_way_only_in_registers_does_not_overflow() {
        let mut x = vec![0f32; 100];
        (x[40], x[41], x[42], x[50]) = (-3e38, 3e38, 3e38, -3e38);
        let sums = run::<f32, false>(&x);
        assert_eq!((sums[40], sums[41], sums[42], sums[99]), (-3e38, 0.0, 3e38, 0.0));
        let big = run::<f32, false>(&[3e38, 3e38, -3e38]);
        assert_eq!(big, [3e38, f32::INFINITY, 3e38]);
        let halves = [f64::powi(2.0, 1000), f64::powi(2.0, -600), f64::powi(2.0, -600), f64::powi(2.0, 200)];
        assert_eq!(run::<f64, true>(&halves), [1000, 400, -200, 0].map(|e| f64::powi(2.0, e)));
    }

    #[test]
    fn products_keep_zeros_and_signs() {
        assert_eq!(run::<f32, true>(&[2.0, -3.0, 0.5, 0.0, 7.0]), [2.0, -6.0, -3.0, 0.0, 0.0]);
        assert_eq!(run::<i8, true>(&[100, 100, 100]), [100, 10_000, 1_000_000]);
        let powers: Vec<f64> = (1..=20).map(|e| f64::powi(2.0, e)).collect();
        assert_eq!(run::<f64, true>(&[2.0; 20]), powers);
    }

    #[test]
    fn nan_and_infinity_go_on_to_the_end() {
        let mut x = vec![1f32; 40];
        (x[10], x[30]) = (f32::INFINITY, f32::NEG_INFINITY);
        let sums = run::<f32, false>(&x);
        assert!(sums[9] == 10.0 && sums[10] == f32::INFINITY && sums[29] == f32::INFINITY && sums[30].is_nan() && sums[39].is_nan());
    }
}
