//! Softmax and its kin along lines: exponentials of the distance to the greatest element, which cannot overflow, and their sum.

use super::lines::{Line, PANEL, Panel};
use super::real::Real;
use super::simd::{Isa, simd};

/// Elements whose exponentials are summed in their own type before they join the total, which is float64.
const PIECE: usize = 512;
/// Partial sums and maxima side by side.
const LANES: usize = 32;

/// What a line of exponentials becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `e^x / sum of e^x`
    Softmax,
    /// Its logarithm.
    LogSoftmax,
    /// `log(sum of e^x)`, one number a line.
    LogSumExp,
}

/// The greatest of `n` elements, NaN left out; minus infinity of none.
///
/// # Safety
/// `x` holds `n` elements.
#[inline(always)]
unsafe fn greatest<T: Real>(x: *const T, n: usize) -> T {
    let none = T::from_f64(f64::NEG_INFINITY);
    let mut lanes = [none; LANES];
    for r in 0..n / LANES {
        for (j, lane) in lanes.iter_mut().enumerate() {
            // SAFETY: the caller's.
            let v = unsafe { x.add(r * LANES + j).read() };
            *lane = if v > *lane { v } else { *lane };
        }
    }
    // SAFETY: the caller's.
    let rest = (n / LANES * LANES..n).map(|i| unsafe { x.add(i).read() });
    lanes.into_iter().chain(rest).fold(none, |most, v| if v > most { v } else { most })
}

/// # Safety
/// `x` holds `n` elements.
#[inline(always)]
unsafe fn sum<T: Real>(x: *const T, n: usize) -> f64 {
    let mut lanes = [T::ZERO; LANES];
    for r in 0..n / LANES {
        for (j, lane) in lanes.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *lane = lane.add(unsafe { x.add(r * LANES + j).read() });
        }
    }
    // SAFETY: the caller's.
    let rest = (n / LANES * LANES..n).map(|i| unsafe { x.add(i).read() });
    lanes.into_iter().chain(rest).fold(0.0, |sum, v| sum + v.to_f64())
}

/// The sum of `e^(x - most)` over a line; the exponentials stay in `keep` if there is room for them.
///
/// # Safety
/// `x` holds `n` elements, and so does `keep` unless it is `None`.
#[inline(always)]
unsafe fn exponentials<T: Real>(isa: Isa, x: *const T, n: usize, most: T, keep: Option<*mut T>) -> f64 {
    let mut buffer = [T::ZERO; PIECE];
    let buffer = buffer.as_mut_ptr();
    let mut total = 0.0;
    let mut at = 0;
    while at < n {
        let len = PIECE.min(n - at);
        let to = keep.map_or(buffer, |keep| keep.wrapping_add(at));
        // SAFETY: the caller's; the buffer holds a piece.
        unsafe {
            for i in 0..len {
                to.add(i).write(x.add(at + i).read().sub(most).exp(isa));
            }
            total += sum(to, len);
        }
        at += len;
    }
    total
}

/// `x`, or 0 where it is infinite: the distance to an infinite maximum is no number, which the logarithm of a sum need not become.
#[inline(always)]
fn finite<T: Real>(x: T) -> T {
    if x.abs() == T::from_f64(f64::INFINITY) { T::ZERO } else { x }
}

/// One line.
pub fn line<T: Real>(kind: Kind, l: Line) {
    let (out, x, n) = (l.out[0].cast::<T>(), l.x.cast::<T>(), l.n);
    // SAFETY: the driver passes `n` elements, and a result of as many, or of one, apart.
    simd(
        #[inline(always)]
        move |isa| unsafe {
            let most = greatest(x, n);
            match kind {
                Kind::Softmax => {
                    let scale = T::from_f64(1.0 / exponentials(isa, x, n, most, Some(out)));
                    (0..n).for_each(|i| out.add(i).write(out.add(i).read().mul(scale)));
                }
                Kind::LogSoftmax => {
                    let log = T::from_f64(exponentials(isa, x, n, most, None)).log(isa);
                    (0..n).for_each(|i| out.add(i).write(x.add(i).read().sub(most).sub(log)));
                }
                Kind::LogSumExp => {
                    let most = finite(most);
                    out.write(T::from_f64(exponentials(isa, x, n, most, None)).log(isa).add(most));
                }
            }
        },
    )
}

/// Lines side by side.
pub fn panel<T: Real>(kind: Kind, p: Panel) {
    let (mut most, mut sums) = ([T::ZERO; PANEL], [T::ZERO; PANEL]);
    let (most, sums) = (most.as_mut_ptr(), sums.as_mut_ptr());
    // SAFETY: the driver passes `n` rows of `width` elements, at most PANEL, apart.
    simd(
        #[inline(always)]
        move |isa| unsafe {
            maxima(p, most);
            if kind == Kind::LogSumExp {
                (0..p.width).for_each(|j| most.add(j).write(finite(most.add(j).read())));
            }
            sums_of_exponentials(isa, p, most, sums, kind == Kind::Softmax);
            let out = |i: usize| p.out[0].wrapping_offset(i as isize * p.out_step[0]).cast::<T>();
            match kind {
                Kind::Softmax => {
                    let one = T::from_f64(1.0);
                    (0..p.width).for_each(|j| sums.add(j).write(one / sums.add(j).read()));
                    for i in 0..p.n {
                        let out = out(i);
                        (0..p.width).for_each(|j| out.add(j).write(out.add(j).read().mul(sums.add(j).read())));
                    }
                }
                Kind::LogSoftmax => {
                    (0..p.width).for_each(|j| sums.add(j).write(sums.add(j).read().log(isa)));
                    for i in 0..p.n {
                        let (out, x) = (out(i), row::<T>(p, i));
                        (0..p.width).for_each(|j| out.add(j).write(x.add(j).read().sub(most.add(j).read()).sub(sums.add(j).read())));
                    }
                }
                Kind::LogSumExp => {
                    let out = out(0);
                    (0..p.width).for_each(|j| out.add(j).write(sums.add(j).read().log(isa).add(most.add(j).read())));
                }
            }
        },
    )
}

#[inline(always)]
fn row<T>(p: Panel, i: usize) -> *const T {
    p.x.wrapping_offset(i as isize * p.x_step).cast()
}

/// The greatest element of each line, NaN left out.
///
/// # Safety
/// `most` has room for the lines of the panel.
#[inline(always)]
unsafe fn maxima<T: Real>(p: Panel, most: *mut T) {
    let none = T::from_f64(f64::NEG_INFINITY);
    // SAFETY: the caller's.
    (0..p.width).for_each(|j| unsafe { most.add(j).write(none) });
    for i in 0..p.n {
        let x = row::<T>(p, i);
        for j in 0..p.width {
            // SAFETY: the caller's.
            unsafe {
                let (v, m) = (x.add(j).read(), most.add(j).read());
                most.add(j).write(if v > m { v } else { m });
            }
        }
    }
}

/// The sum of `e^(x - most)` of each line; the exponentials go into the result if it is to keep them.
///
/// # Safety
/// `most` and `sums` have room for the lines of the panel, and so has the result if it keeps.
#[inline(always)]
unsafe fn sums_of_exponentials<T: Real>(isa: Isa, p: Panel, most: *mut T, sums: *mut T, keep: bool) {
    let mut totals = [0f64; PANEL];
    let totals = totals.as_mut_ptr();
    let mut at = 0;
    while at < p.n {
        let end = p.n.min(at + PIECE);
        // SAFETY: the caller's.
        unsafe {
            (0..p.width).for_each(|j| sums.add(j).write(T::ZERO));
            for i in at..end {
                let (x, out) = (row::<T>(p, i), p.out[0].wrapping_offset(i as isize * p.out_step[0]).cast::<T>());
                for j in 0..p.width {
                    let e = x.add(j).read().sub(most.add(j).read()).exp(isa);
                    sums.add(j).write(sums.add(j).read().add(e));
                    if keep {
                        out.add(j).write(e);
                    }
                }
            }
            (0..p.width).for_each(|j| totals.add(j).write(totals.add(j).read() + sums.add(j).read().to_f64()));
        }
        at = end;
    }
    // SAFETY: the caller's.
    (0..p.width).for_each(|j| unsafe { sums.add(j).write(T::from_f64(totals.add(j).read())) });
}
