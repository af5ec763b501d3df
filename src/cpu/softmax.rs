//! Softmax and its kin along lines: exponentials of the distance to the greatest element, which cannot overflow, and their sum.
//!
//! Loops over exponentials have whole numbers of blocks, since what is left over would be done one by one: the last elements of a line or row
//! go through a buffer filled up with minus infinity, whose exponential is 0.

use super::lines::{Line, PANEL, Panel};
use super::real::Real;
use super::simd::{Isa, simd};
use std::mem::MaybeUninit;

/// What loops over exponentials are multiples of.
const BLOCK: usize = 16;
/// Elements of a line that are summed side by side.
const STRIP: usize = 256;
/// Strips of a line, or rows of a panel, summed in their own type before they join the total, which is float64.
const ROWS: usize = 64;

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

/// What to take from the elements of a line: the greatest. The distance to an infinite one is no number, which the logarithm of a sum need not
/// become.
#[inline(always)]
fn usable<T: Real>(kind: Kind, most: T) -> T {
    if kind == Kind::LogSumExp && most.abs() == T::from_f64(f64::INFINITY) { T::ZERO } else { most }
}

#[inline(always)]
fn greater<T: Real>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// `n` elements as one, `n` a multiple of BLOCK.
///
/// # Safety
/// `x` holds `n` elements.
#[inline(always)]
unsafe fn fold<T: Real>(x: *const T, n: usize, start: T, f: impl Fn(T, T) -> T) -> T {
    let mut lanes = [start; BLOCK];
    for r in 0..n / BLOCK {
        for (j, lane) in lanes.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *lane = f(*lane, unsafe { x.add(r * BLOCK + j).read() });
        }
    }
    folded(lanes, f)
}

/// The lanes as one.
#[inline(always)]
fn folded<T: Real>(mut lanes: [T; BLOCK], f: impl Fn(T, T) -> T) -> T {
    let mut width = BLOCK / 2;
    while width > 0 {
        for j in 0..width {
            lanes[j] = f(lanes[j], lanes[j + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Copies `n` elements and fills the last block up; returns the number of both.
///
/// # Safety
/// `x` holds `n` elements; `e` has room for whole blocks, and does not overlap it.
#[inline(always)]
unsafe fn filled_up<T: Real>(e: *mut T, x: *const T, n: usize) -> usize {
    let whole = n.next_multiple_of(BLOCK);
    // SAFETY: the caller's.
    unsafe {
        if n > 0 {
            (whole - BLOCK..whole).for_each(|i| e.add(i).write(T::from_f64(f64::NEG_INFINITY)));
        }
        e.copy_from_nonoverlapping(x, n);
    }
    whole
}

/// The greatest element, NaN left out.
///
/// # Safety
/// `x` holds `n` elements, a block or more.
#[inline(always)]
unsafe fn greatest<T: Real>(x: *const T, n: usize) -> T {
    let none = T::from_f64(f64::NEG_INFINITY);
    // SAFETY: the caller's; the last block may begin inside the one before.
    unsafe { greater(fold(x, n / BLOCK * BLOCK, none, greater), fold(x.add(n - BLOCK), BLOCK, none, greater)) }
}

/// The sum of `e^(x - most)`; `out` gets the exponentials if it is to keep them.
///
/// # Safety
/// `x` holds `n` elements, a strip or more, and so does `out` if it keeps.
#[inline(always)]
unsafe fn sum<T: Real>(isa: Isa, x: *const T, n: usize, most: T, out: *mut T, keep: bool) -> f64 {
    let (mut sums, mut buffer) = ([T::ZERO; STRIP], MaybeUninit::<[T; STRIP]>::uninit());
    let (sums, buffer) = (sums.as_mut_ptr(), buffer.as_mut_ptr().cast::<T>());
    let (whole, mut total) = (n / BLOCK * BLOCK, 0.0);
    // SAFETY: the caller's.
    unsafe {
        for at in (0..whole).step_by(STRIP) {
            strip(isa, if keep { out.add(at) } else { buffer }, x.add(at), most, sums, STRIP.min(whole - at));
            if at / STRIP % ROWS == ROWS - 1 {
                total += fold(sums, STRIP, T::ZERO, T::add).to_f64();
                (0..STRIP).for_each(|j| sums.add(j).write(T::ZERO));
            }
        }
        if whole < n {
            let filled = filled_up(buffer, x.add(whole), n - whole);
            strip(isa, buffer, buffer, most, sums, filled);
            if keep {
                out.add(whole).copy_from_nonoverlapping(buffer, n - whole);
            }
        }
        total + fold(sums, STRIP, T::ZERO, T::add).to_f64()
    }
}

/// `e[j] = e^(x[j] - most)`, added to `sums[j]`.
///
/// # Safety
/// All hold `n` elements.
#[inline(always)]
unsafe fn strip<T: Real>(isa: Isa, e: *mut T, x: *const T, most: T, sums: *mut T, n: usize) {
    for j in 0..n {
        // SAFETY: the caller's.
        unsafe {
            let power = x.add(j).read().sub(most).exp(isa);
            sums.add(j).write(sums.add(j).read().add(power));
            e.add(j).write(power);
        }
    }
}

/// `e^(x - most)`
#[inline(always)]
fn powers<T: Real>(isa: Isa, mut x: [T; BLOCK], most: T) -> [T; BLOCK] {
    for j in 0..BLOCK {
        x[j] = x[j].sub(most).exp(isa);
    }
    x
}

/// The last elements of a line, as many as a block has. A shorter line stands at its end, after copies of the first element: exponentials of
/// minus infinity would take ten times as long.
///
/// # Safety
/// `x` holds `n` elements.
#[inline(always)]
unsafe fn last_block<T: Real>(x: *const T, n: usize) -> [T; BLOCK] {
    // SAFETY: the caller's.
    unsafe {
        if n >= BLOCK {
            return x.add(n - BLOCK).cast::<[T; BLOCK]>().read();
        }
        let mut block = [if n > 0 { x.read() } else { T::from_f64(f64::NEG_INFINITY) }; BLOCK];
        block.as_mut_ptr().add(BLOCK - n).copy_from_nonoverlapping(x, n);
        block
    }
}

/// A line of at most STRIP elements: all blocks stay at hand.
///
/// # Safety
/// `x` holds `n` elements, and so does `out`, or one number; they do not overlap.
#[inline(always)]
unsafe fn short_line<T: Real>(isa: Isa, kind: Kind, x: *const T, n: usize, out: *mut T) {
    let (block, to) = (|at: usize| x.wrapping_add(at).cast::<[T; BLOCK]>(), |at: usize| out.wrapping_add(at).cast::<[T; BLOCK]>());
    let (end, again) = (n.saturating_sub(BLOCK), n.wrapping_neg() % BLOCK);
    // SAFETY: the caller's; blocks begin before the last one, and so lie inside the line.
    unsafe {
        let last = last_block(x, n);
        let mut lanes = last;
        for at in (0..end).step_by(BLOCK) {
            let b = block(at).read();
            for j in 0..BLOCK {
                lanes[j] = greater(lanes[j], b[j]);
            }
        }
        let most = usable(kind, folded(lanes, greater));
        let last_powers = powers(isa, last, most);
        let mut sums = last_powers;
        for j in 0..BLOCK {
            sums[j] = if j < again { T::ZERO } else { sums[j] };
        }
        for at in (0..end).step_by(BLOCK) {
            let e = powers(isa, block(at).read(), most);
            for j in 0..BLOCK {
                sums[j] = sums[j].add(e[j]);
            }
            if kind == Kind::Softmax {
                to(at).write(e);
            }
        }
        let sum = folded(sums, T::add);
        if kind == Kind::LogSumExp {
            return out.write(sum.log(isa).add(most));
        }
        let scaled = kind == Kind::Softmax;
        let by = if scaled { T::from_f64(1.0).div(sum) } else { sum.log(isa) };
        for at in (0..end).step_by(BLOCK) {
            let from = if scaled { to(at).read() } else { block(at).read() };
            to(at).write(finished(from, scaled, most, by));
        }
        let finished = finished(if scaled { last_powers } else { last }, scaled, most, by);
        let own = n.min(BLOCK);
        out.add(end).copy_from_nonoverlapping(finished.as_ptr().add(BLOCK - own), own);
    }
}

/// Exponentials times `by`, or elements less `most` and `by`.
#[inline(always)]
fn finished<T: Real>(mut x: [T; BLOCK], scaled: bool, most: T, by: T) -> [T; BLOCK] {
    for j in 0..BLOCK {
        x[j] = if scaled { x[j].mul(by) } else { x[j].sub(most).sub(by) };
    }
    x
}

/// One line.
pub fn line<T: Real>(kind: Kind, l: Line) {
    let (x, out, n) = (l.x.cast::<T>(), l.out[0].cast::<T>(), l.n);
    // SAFETY: the driver passes `n` elements, and a result of as many, or of one, apart.
    simd(
        #[inline(always)]
        move |isa| unsafe {
            if n <= STRIP {
                return short_line(isa, kind, x, n, out);
            }
            let most = usable(kind, greatest(x, n));
            let sum = sum(isa, x, n, most, out, kind == Kind::Softmax);
            if kind == Kind::Softmax {
                let scale = T::from_f64(1.0 / sum);
                return (0..n).for_each(|i| out.add(i).write(out.add(i).read().mul(scale)));
            }
            let log = T::from_f64(sum).log(isa);
            match kind {
                Kind::LogSumExp => out.write(log.add(most)),
                _ => (0..n).for_each(|i| out.add(i).write(x.add(i).read().sub(most).sub(log))),
            }
        },
    )
}

/// A number for each line of a panel, and for what fills it up to whole blocks.
struct Columns<T>(MaybeUninit<[T; PANEL]>);

impl<T: Copy> Columns<T> {
    #[inline(always)]
    fn new() -> Columns<T> {
        Columns(MaybeUninit::uninit())
    }

    /// The numbers, all `x` for `width` lines.
    #[inline(always)]
    fn filled(&mut self, x: T, width: usize) -> *mut T {
        let data = self.0.as_mut_ptr().cast::<T>();
        // SAFETY: a panel has at most PANEL lines, a multiple of BLOCK.
        (0..width.next_multiple_of(BLOCK)).for_each(|j| unsafe { data.add(j).write(x) });
        data
    }
}

/// Row `i` of the elements and of the result.
#[inline(always)]
fn row<T>(p: Panel, i: usize) -> (*const T, *mut T) {
    let i = i as isize;
    (p.x.wrapping_offset(i * p.x_step).cast(), p.out[0].wrapping_offset(i * p.out_step[0]).cast())
}

/// Lines side by side.
pub fn panel<T: Real>(kind: Kind, p: Panel) {
    let (mut most, mut sums) = (Columns::<T>::new(), Columns::<T>::new());
    let (most, sums) = (most.filled(T::from_f64(f64::NEG_INFINITY), p.width), sums.filled(T::ZERO, p.width));
    // SAFETY: the driver passes `n` rows of `width` elements, at most PANEL, apart, and results as many, or one row.
    simd(
        #[inline(always)]
        move |isa| unsafe {
            for i in 0..p.n {
                let x = row::<T>(p, i).0;
                (0..p.width).for_each(|j| most.add(j).write(greater(most.add(j).read(), x.add(j).read())));
            }
            (0..p.width).for_each(|j| most.add(j).write(usable(kind, most.add(j).read())));
            sums_beside(isa, p, most, sums, kind == Kind::Softmax);
            finish(isa, kind, p, most, sums);
        },
    )
}

/// The sum of `e^(x - most)` of each line; the result gets the exponentials if it is to keep them.
///
/// # Safety
/// `most` and `sums` hold numbers for the lines of the panel, zeros the latter.
#[inline(always)]
unsafe fn sums_beside<T: Real>(isa: Isa, p: Panel, most: *const T, sums: *mut T, keep: bool) {
    let (mut totals, mut tail) = (Columns::<f64>::new(), MaybeUninit::<[T; BLOCK]>::uninit());
    let (totals, tail) = (totals.filled(0.0, p.width), tail.as_mut_ptr().cast::<T>());
    let (whole, width) = (p.width / BLOCK * BLOCK, p.width.next_multiple_of(BLOCK));
    // SAFETY: the caller's.
    unsafe {
        for i in 0..p.n {
            let (x, out) = row::<T>(p, i);
            if keep {
                keep_row(isa, out, x, most, sums, whole);
            } else {
                add_row(isa, x, most, sums, whole);
            }
            if whole < p.width {
                let n = filled_up(tail, x.add(whole), p.width - whole);
                keep_row(isa, tail, tail, most.add(whole), sums.add(whole), n);
                if keep {
                    out.add(whole).copy_from_nonoverlapping(tail, p.width - whole);
                }
            }
            if i % ROWS == ROWS - 1 || i == p.n - 1 {
                (0..width).for_each(|j| totals.add(j).write(totals.add(j).read() + sums.add(j).read().to_f64()));
                (0..width).for_each(|j| sums.add(j).write(T::ZERO));
            }
        }
        (0..width).for_each(|j| sums.add(j).write(T::from_f64(totals.add(j).read())));
    }
}

/// `e[j] = e^(x[j] - most[j])`, added to `sums[j]`.
///
/// # Safety
/// All hold `n` elements.
#[inline(always)]
unsafe fn keep_row<T: Real>(isa: Isa, e: *mut T, x: *const T, most: *const T, sums: *mut T, n: usize) {
    for j in 0..n {
        // SAFETY: the caller's.
        unsafe {
            let power = x.add(j).read().sub(most.add(j).read()).exp(isa);
            sums.add(j).write(sums.add(j).read().add(power));
            e.add(j).write(power);
        }
    }
}

/// [`keep_row`] without keeping.
///
/// # Safety
/// All hold `n` elements.
#[inline(always)]
unsafe fn add_row<T: Real>(isa: Isa, x: *const T, most: *const T, sums: *mut T, n: usize) {
    for j in 0..n {
        // SAFETY: the caller's.
        unsafe { sums.add(j).write(sums.add(j).read().add(x.add(j).read().sub(most.add(j).read()).exp(isa))) }
    }
}

/// The results of a panel: the exponentials there scaled, or maxima and logarithms of the sums taken away or added.
///
/// # Safety
/// `most` and `sums` hold numbers for the lines of the panel.
#[inline(always)]
unsafe fn finish<T: Real>(isa: Isa, kind: Kind, p: Panel, most: *const T, sums: *mut T) {
    // SAFETY: the caller's.
    unsafe {
        for j in 0..p.width.next_multiple_of(BLOCK) {
            let sum = sums.add(j).read();
            sums.add(j).write(if kind == Kind::Softmax { T::from_f64(1.0) / sum } else { sum.log(isa) });
        }
        if kind == Kind::LogSumExp {
            let out = row::<T>(p, 0).1;
            return (0..p.width).for_each(|j| out.add(j).write(sums.add(j).read().add(most.add(j).read())));
        }
        for i in 0..p.n {
            let (x, out) = row::<T>(p, i);
            if kind == Kind::Softmax {
                (0..p.width).for_each(|j| out.add(j).write(out.add(j).read().mul(sums.add(j).read())));
            } else {
                (0..p.width).for_each(|j| out.add(j).write(x.add(j).read().sub(most.add(j).read()).sub(sums.add(j).read())));
            }
        }
    }
}

/// `out[i] = log(e^x[0] + ... + e^x[i])`
///
/// The sum is kept relative to the greatest element so far, and shrinks when that grows.
pub fn log_sums<T: Real>(l: Line) {
    const PART: usize = 256;
    let (mut ups, mut downs, mut mosts) = ([T::ZERO; PART], [T::ZERO; PART], [T::ZERO; PART]);
    let (ups, downs, mosts) = (ups.as_mut_ptr(), downs.as_mut_ptr(), mosts.as_mut_ptr());
    let (mut most, mut before, mut sum) = (T::from_f64(f64::NEG_INFINITY), T::ZERO, 0.0);
    for at in (0..l.n).step_by(PART) {
        let (x, out, n) = (l.x.cast::<T>().wrapping_add(at), l.out[0].cast::<T>().wrapping_add(at), PART.min(l.n - at));
        // SAFETY: the driver passes `n` elements of each, apart.
        unsafe {
            for i in 0..n {
                most = greater(most, x.add(i).read());
                let now = usable(Kind::LogSumExp, most);
                mosts.add(i).write(now);
                downs.add(i).write(before.sub(now));
                before = now;
            }
            simd(
                #[inline(always)]
                move |isa| {
                    (0..n).for_each(
                        #[inline(always)]
                        |i| downs.add(i).write(downs.add(i).read().exp(isa)),
                    );
                    (0..n).for_each(
                        #[inline(always)]
                        |i| ups.add(i).write(x.add(i).read().sub(mosts.add(i).read()).exp(isa)),
                    );
                },
            );
            for i in 0..n {
                let kept = if sum == 0.0 { 0.0 } else { sum * downs.add(i).read().to_f64() };
                sum = kept + ups.add(i).read().to_f64();
                ups.add(i).write(T::from_f64(sum));
            }
            simd(
                #[inline(always)]
                move |isa| {
                    (0..n).for_each(
                        #[inline(always)]
                        |i| out.add(i).write(ups.add(i).read().log(isa).add(mosts.add(i).read())),
                    )
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    /// `n` rows of `width` elements: element `i` of each line in turn.
    fn elements(n: usize, width: usize) -> Vec<f32> {
        (0..n * width).map(|i| ((i * 7919) % 1013) as f32 / 40.0 - 12.0).collect()
    }

    fn expected(kind: Kind, x: &[f64]) -> Vec<f64> {
        let sum: f64 = x.iter().map(|v| v.exp()).sum();
        match kind {
            Kind::Softmax => x.iter().map(|v| v.exp() / sum).collect(),
            Kind::LogSoftmax => x.iter().map(|v| v - sum.ln()).collect(),
            Kind::LogSumExp => vec![sum.ln()],
        }
    }

    fn close(got: &[f32], expected: &[f64], what: &str) {
        for (i, (&a, &b)) in got.iter().zip(expected).enumerate() {
            assert!((f64::from(a) - b).abs() <= 3e-6 * b.abs().max(1e-3), "{what}, element {i}: {a}, not {b}");
        }
    }

    const KINDS: [Kind; 3] = [Kind::Softmax, Kind::LogSoftmax, Kind::LogSumExp];

    #[test]
    fn lines_of_any_length() {
        for (kind, n) in KINDS.into_iter().flat_map(|kind| [1, 3, 15, 16, 17, 100, 256, 257, 2048, 2049, 5000].map(|n| (kind, n))) {
            let (x, mut out) = (elements(n, 1), vec![0f32; n]);
            line::<f32>(kind, Line { out: [out.as_mut_ptr().cast(), null_mut()], x: x.as_ptr() as *mut u8, n, scratch: null_mut() });
            let wide: Vec<f64> = x.iter().map(|&v| v.into()).collect();
            close(&out, &expected(kind, &wide), &format!("{kind:?} of {n}"));
        }
    }

    #[test]
    fn infinities_and_nan_spread_as_the_formulas_say() {
        let infinite = f32::INFINITY;
        for n in [2, 15, 16, 40, 300] {
            let run = |kind, at: usize, special: f32, rest: f32| {
                let (mut x, mut out) = (vec![rest; n], vec![7f32; n]);
                x[at] = special;
                line::<f32>(kind, Line { out: [out.as_mut_ptr().cast(), null_mut()], x: x.as_ptr() as *mut u8, n, scratch: null_mut() });
                out
            };
            for at in [0, n / 2, n - 1] {
                assert!(run(Kind::Softmax, at, f32::NAN, 1.0).iter().all(|v| v.is_nan()));
                assert!(run(Kind::LogSoftmax, at, infinite, 1.0)[at].is_nan());
                assert_eq!(run(Kind::LogSumExp, at, infinite, 1.0)[0], infinite);
                assert_eq!(run(Kind::LogSumExp, at, -infinite, -infinite)[0], -infinite);
                let without = run(Kind::Softmax, at, -infinite, 1.0);
                assert!(without[at] == 0.0 && (without[(at + 1) % n] * (n - 1) as f32 - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn panels_of_any_width() {
        for (kind, width) in KINDS.into_iter().flat_map(|kind| [1, 15, 16, 33, 300].map(|width| (kind, width))) {
            let n = 150;
            let (x, mut out) = (elements(n, width), vec![0f32; n * width]);
            let step = 4 * width as isize;
            panel::<f32>(
                kind,
                Panel { out: [out.as_mut_ptr().cast(), null_mut()], out_step: [step; 2], x: x.as_ptr().cast(), x_step: step, n, width },
            );
            for j in 0..width {
                let column = |v: &[f32]| v.iter().skip(j).step_by(width).copied().collect::<Vec<f32>>();
                let wide: Vec<f64> = column(&x).iter().map(|&v| v.into()).collect();
                close(&column(&out), &expected(kind, &wide), &format!("{kind:?} beside {width}"));
            }
        }
    }

    #[test]
    fn running_sums_survive_a_large_step() {
        let x = [-1000.0, -1000.0, 0.0, 500.0, 499.0f64];
        let mut out = [0f64; 5];
        log_sums::<f64>(Line { out: [out.as_mut_ptr().cast(), null_mut()], x: x.as_ptr() as *mut u8, n: 5, scratch: null_mut() });
        let expected = [-1000.0, -1000.0 + 2f64.ln(), 0.0, 500.0, 500.0 + (-1f64).exp().ln_1p()];
        assert!(out.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{out:?}");
    }
}
