//! Softmax, log-softmax and log-sum-exp along lines: exponentials of the difference to the greatest element, which cannot overflow, and
//! their sum.
//!
//! Each step is a separate loop over elements in the L1 cache, because [`Real::exp_run`] is the fastest way to compute exponentials.

mod columns;
mod gradient;

use super::lines::{Line, Stack};
use super::real::Real;
use super::simd::{Isa, Level, simd};
use super::stream;
use super::vector::{Partial, Register, Scalar, Vectored};
use crate::cpu::tuning::SOFTMAX_STEP;
use crate::dtype::Element;
pub use crate::launch::lines::Softmax as Kind;
pub(crate) use columns::MOST_COLUMNS;
pub use columns::{columns, most_area};
pub use gradient::gradient;
use std::mem::MaybeUninit;

/// The maximum number of registers folded side by side: as many elements as compilers turn into vectors.
const REGISTERS: usize = 64;
/// Elements of the buffer. They are summed in their own type.
const PIECE: usize = 1024;
/// The maximum number of lines processed together.
const LINES: usize = 64;

/// Returns the number that is subtracted from the elements of a line. This is the greatest element. For the logarithm of a sum it is 0 if
/// the greatest is infinite, as infinity minus infinity is NaN.
#[inline(always)]
fn usable<T: Real>(kind: Kind, most: T) -> T {
    if kind == Kind::LogSumExp && most.abs() == T::from_f64(f64::INFINITY) { T::ZERO } else { most }
}

/// The element type of a register.
type Item<V> = <V as Register>::Item;

/// Folds elements from `at` on into `N` registers, while at least `N` registers of elements are left. Returns the index where it stopped.
///
/// # Safety
/// `x` must hold `n` elements.
#[inline(always)]
unsafe fn fold_by<V: Partial<Item: Real>, const N: usize>(
    lanes: &mut [V; REGISTERS],
    x: *const Item<V>,
    (mut at, n): (usize, usize),
    f: impl Fn(V, V) -> V,
) -> usize {
    while n - at >= N * V::LANES {
        for k in 0..N {
            // SAFETY: the caller keeps this function's contract.
            lanes[k] = f(unsafe { V::load(x.add(at + k * V::LANES)) }, lanes[k]);
        }
        at += N * V::LANES;
    }
    at
}

/// Folds `n` elements into one register, which is `start` if there are none.
///
/// # Safety
/// `x` must hold `n` elements.
#[inline(always)]
unsafe fn fold<V: Partial<Item: Real>>(x: *const Item<V>, n: usize, start: V, f: impl Fn(V, V) -> V + Copy) -> V {
    let mut lanes = [start; REGISTERS];
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let single = V::LANES == 1;
        let at = if single { fold_by::<V, REGISTERS>(&mut lanes, x, (0, n), f) } else { fold_by::<V, 4>(&mut lanes, x, (0, n), f) };
        let at = if single { fold_by::<V, 8>(&mut lanes, x, (at, n), f) } else { at };
        let at = fold_by::<V, 1>(&mut lanes, x, (at, n), f);
        if at < n {
            lanes[0] = f(start.load_first(x.add(at), n - at), lanes[0]);
        }
        let mut half = if single { REGISTERS / 2 } else { 2 };
        while half > 0 {
            for k in 0..half {
                lanes[k] = f(lanes[k], lanes[k + half]);
            }
            half /= 2;
        }
    }
    lanes[0]
}

/// `r[i] = f(x[i])`
///
/// # Safety
/// Both must hold `n` elements; `r` must be `x` or not overlap it; as for [`Register`].
#[inline(always)]
unsafe fn map<V: Partial<Item: Real>>(r: *mut Item<V>, x: *const Item<V>, n: usize, f: impl Fn(V) -> V) {
    let mut at = 0;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let none = V::all(Element::ZERO);
        while n - at >= 2 * V::LANES {
            let (a, b) = (f(V::load(x.add(at))), f(V::load(x.add(at + V::LANES))));
            a.store(r.add(at));
            b.store(r.add(at + V::LANES));
            at += 2 * V::LANES;
        }
        while at < n {
            f(none.load_first(x.add(at), n - at)).store_first(r.add(at), n - at);
            at += V::LANES;
        }
    }
}

/// Returns the greatest of `n` elements, ignoring NaN.
///
/// # Safety
/// As for [`fold`].
#[inline(always)]
pub unsafe fn greatest<V: Partial<Item: Real>>(x: *const Item<V>, n: usize) -> Item<V> {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let none = V::all(Element::from_f64(f64::NEG_INFINITY));
        fold(x, n, none, V::greater).greatest()
    }
}

/// Returns the sum of `n` elements, at most a few thousand.
///
/// # Safety
/// As for [`fold`].
#[inline(always)]
pub unsafe fn sum<V: Partial<Item: Real>>(x: *const Item<V>, n: usize) -> Item<V> {
    // SAFETY: the caller keeps this function's contract.
    unsafe { fold(x, n, V::all(Element::ZERO), V::add).sum() }
}

/// Computes `e^x` of `n` elements in place, and meanwhile prefetches as many bytes from each of `next` on. If all were prefetched at once,
/// the core would wait for them.
///
/// # Safety
/// `x` must hold `n` elements.
#[inline(always)]
unsafe fn exp_ahead<T: Real>(isa: Isa, x: *mut T, n: usize, next: &[*const u8]) {
    for at in (0..n).step_by(SOFTMAX_STEP) {
        let step = SOFTMAX_STEP.min(n - at);
        for next in next {
            stream::prefetch(next.wrapping_add(at * size_of::<T>()), step * size_of::<T>());
        }
        // SAFETY: the caller keeps this function's contract.
        unsafe { T::exp_run(isa, x.add(at), x.add(at), step) }
    }
}

/// Computes a line longer than the buffer.
///
/// # Safety
/// `x` must hold `n` elements; the results must hold as many, or one number each, and not overlap `x`; as for [`Register`].
#[inline(always)]
unsafe fn long<V: Partial<Item: Real>>(isa: Isa, kind: Kind, x: *const Item<V>, n: usize, [out, second]: [*mut Item<V>; 2]) {
    let mut buffer = MaybeUninit::<[Item<V>; PIECE]>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<Item<V>>();
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let most = usable(kind, greatest::<V>(x, n));
        let (all, mut total) = (V::all(most), 0.0);
        for at in (0..n).step_by(PIECE) {
            let (e, piece) = (if kind == Kind::Softmax { out.add(at) } else { buffer }, PIECE.min(n - at));
            map::<V>(
                e,
                x.add(at),
                piece,
                #[inline(always)]
                |x| x - all,
            );
            exp_ahead(isa, e, piece, &[x.wrapping_add(at + PIECE).cast(), out.wrapping_add(at + PIECE).cast()]);
            total += sum::<V>(e, piece).to_f64();
        }
        let log = Item::<V>::from_f64(total).log(isa);
        let (share, less) = (V::all(Element::from_f64(1.0 / total)), V::all(log));
        match kind {
            Kind::Softmax => map::<V>(
                out,
                out,
                n,
                #[inline(always)]
                |e| e * share,
            ),
            Kind::LogSoftmax => map::<V>(
                out,
                x,
                n,
                #[inline(always)]
                |x| x - all - less,
            ),
            Kind::LogSumExp => out.write(log.add(most)),
            Kind::Parts => {
                out.write(most);
                second.write(log);
            }
        }
    }
}

/// Computes lines that fit the buffer together. Each step is done for all lines before the next step, since the steps of different lines
/// are independent.
///
/// # Safety
/// As for [`lines`], with at most [`LINES`] lines of at most [`PIECE`] elements together, each counted in whole registers.
#[inline(always)]
unsafe fn short<V: Partial<Item: Real>>(isa: Isa, kind: Kind, s: Stack) {
    let (mut buffer, mut most, mut by) = (MaybeUninit::<[Item<V>; PIECE]>::uninit(), [Item::<V>::ZERO; LINES], [Item::<V>::ZERO; LINES]);
    let (buffer, pitch) = (buffer.as_mut_ptr().cast::<Item<V>>(), s.n.next_multiple_of(V::LANES));
    let e = |i: usize| buffer.wrapping_add(i * pitch);
    let x = |i: usize| s.x.wrapping_offset(i as isize * s.x_step).cast::<Item<V>>();
    let result = |k: usize, i: usize| s.out[k].wrapping_offset(i as isize * s.out_step[k]).cast::<Item<V>>();
    let out = |i: usize| result(0, i);
    // The lines after this stack, and the results of this stack.
    let next = [x(s.count).cast(), s.out[0].cast_const()];
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        for i in 0..s.count {
            most[i] = usable(kind, greatest::<V>(x(i), s.n));
        }
        for i in 0..s.count {
            let (e, all) = (e(i), V::all(most[i]));
            for at in (0..s.n).step_by(V::LANES) {
                (all.load_first(x(i).add(at), s.n - at) - all).store(e.add(at));
            }
        }
        exp_ahead(isa, e(0), pitch * s.count, if kind.reduces() { &next[..1] } else { &next });
        for i in 0..s.count {
            by[i] = sum::<V>(e(i), s.n);
        }
        if kind != Kind::Softmax {
            Item::<V>::log_run(isa, by.as_mut_ptr(), by.as_ptr(), s.count);
        }
        for i in 0..s.count {
            let all = V::all(most[i]);
            match kind {
                Kind::Softmax => {
                    let by = V::all(Item::<V>::from_f64(1.0) / by[i]);
                    map::<V>(
                        out(i),
                        e(i),
                        s.n,
                        #[inline(always)]
                        |e| e * by,
                    )
                }
                Kind::LogSoftmax => {
                    let by = V::all(by[i]);
                    map::<V>(
                        out(i),
                        x(i),
                        s.n,
                        #[inline(always)]
                        |x| x - all - by,
                    )
                }
                Kind::LogSumExp => out(i).write(by[i].add(most[i])),
                Kind::Parts => {
                    out(i).write(most[i]);
                    result(1, i).write(by[i]);
                }
            }
        }
    }
}

/// Computes lines one after the other.
///
/// # Safety
/// The lines and results must be as the driver passes them, with these elements; as for [`Register`].
#[inline(always)]
unsafe fn lines<V: Partial<Item: Real>>(isa: Isa, kind: Kind, s: Stack) {
    let pitch = s.n.next_multiple_of(V::LANES).max(V::LANES);
    let group = (PIECE / pitch).clamp(1, LINES);
    for i in (0..s.count).step_by(group) {
        let s = s.lines(i, group);
        // SAFETY: the driver passes `count` lines of `n` elements, and results of `n` elements or of one, which do not overlap.
        unsafe {
            if pitch > PIECE {
                long::<V>(isa, kind, s.x.cast(), s.n, s.out.map(|out| out.cast()));
            } else {
                short::<V>(isa, kind, s);
            }
        }
    }
}

/// Computes lines one after the other, with the registers of this processor.
pub fn stack<T: Real + Vectored>(kind: Kind, s: Stack) {
    simd(
        #[inline(always)]
        // SAFETY: the driver passes such lines, and the processor has the level.
        move |isa| unsafe {
            if isa.level() == Level::Avx512 { lines::<T::Avx512>(isa, kind, s) } else { lines::<Scalar<T>>(isa, kind, s) }
        },
    )
}

/// `out[i] = log(e^x[0] + ... + e^x[i])`, in float64.
///
/// The running value is the sum divided by the exponential of the greatest element so far, minus 1. If it were not reduced by 1, a small
/// rest would lose its digits. It is scaled down when the greatest element grows.
pub fn log_sums<T: Real>(l: Line) {
    const PART: usize = 256;
    let (mut powers, mut mosts) = ([0f64; PART], [0f64; PART]);
    let (powers, mosts) = (powers.as_mut_ptr(), mosts.as_mut_ptr());
    let (mut most, mut rest) = (f64::NEG_INFINITY, 0.0);
    for at in (0..l.n).step_by(PART) {
        let (x, out, n) = (l.x.cast::<T>().wrapping_add(at), l.out[0].cast::<T>().wrapping_add(at), PART.min(l.n - at));
        // SAFETY: the driver passes `n` elements of each, which do not overlap.
        unsafe {
            let mut before = most;
            for i in 0..n {
                let x = x.add(i).read().to_f64();
                // The negative difference between the element and the greatest one before it.
                powers.add(i).write(if x > before { before - x } else { x - before });
                before = if x > before || x.is_nan() { x } else { before };
                mosts.add(i).write(before);
            }
            simd(
                #[inline(always)]
                move |isa| f64::exp_run(isa, powers, powers, n),
            );
            for i in 0..n {
                let (power, now) = (powers.add(i).read(), mosts.add(i).read());
                rest = if now > most {
                    if most == f64::NEG_INFINITY { 0.0 } else { (1.0 + rest) * power }
                } else if x.add(i).read().to_f64() == now {
                    rest + 1.0
                } else {
                    rest + power
                };
                most = now;
                powers.add(i).write(rest);
            }
            simd(
                #[inline(always)]
                move |isa| {
                    f64::log1p_run(isa, powers, powers, n);
                    for i in 0..n {
                        let most = mosts.add(i).read();
                        // If an element is infinite, the result is that element.
                        let sum = if most.abs() < f64::INFINITY { most + powers.add(i).read() } else { most };
                        out.add(i).write(T::from_f64(sum));
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::lines::ColumnBlock;
    use std::ptr::null_mut;

    /// Returns `n` rows of `width` elements: element `i` of every line is in row `i`.
    fn elements(n: usize, width: usize) -> Vec<f32> {
        (0..n * width).map(|i| ((i * 7919) % 1013) as f32 / 40.0 - 12.0).collect()
    }

    fn expected(kind: Kind, x: &[f64]) -> Vec<f64> {
        let sum: f64 = x.iter().map(|v| v.exp()).sum();
        match kind {
            Kind::Softmax => x.iter().map(|v| v.exp() / sum).collect(),
            Kind::LogSoftmax => x.iter().map(|v| v - sum.ln()).collect(),
            Kind::LogSumExp => vec![sum.ln()],
            Kind::Parts => unreachable!("two results"),
        }
    }

    fn close(got: &[f32], expected: &[f64], what: &str) {
        for (i, (&a, &b)) in got.iter().zip(expected).enumerate() {
            // Logarithms close to 0 are differences of larger numbers.
            let least = if b < 0.0 { 0.1 } else { 1e-3 };
            assert!((f64::from(a) - b).abs() <= 3e-6 * b.abs().max(least), "{what}, element {i}: {a}, not {b}");
        }
    }

    /// Returns a stack of one line.
    fn one<T>(x: &[T], out: &mut [T]) -> Stack {
        Stack { out: [out.as_mut_ptr().cast(), null_mut()], out_step: [0; 2], x: x.as_ptr().cast(), x_step: 0, n: x.len(), count: 1 }
    }

    const KINDS: [Kind; 3] = [Kind::Softmax, Kind::LogSoftmax, Kind::LogSumExp];

    #[test]
    fn lines_of_any_length() {
        for (kind, n) in KINDS.into_iter().flat_map(|kind| [1, 3, 15, 16, 17, 100, 256, 257, 2048, 2049, 5000].map(|n| (kind, n))) {
            let (x, mut out) = (elements(n, 1), vec![0f32; n]);
            stack::<f32>(kind, one(&x, &mut out));
            let wide: Vec<f64> = x.iter().map(|&v| v.into()).collect();
            close(&out, &expected(kind, &wide), &format!("{kind:?} of {n}"));
        }
    }

    #[test]
    fn stacks_of_short_lines() {
        for (kind, n) in KINDS.into_iter().flat_map(|kind| [1, 7, 16, 50, 100, 600].map(|n| (kind, n))) {
            let (count, pitch) = (150, n + 3);
            let (x, mut out) = (elements(count * pitch, 1), vec![7f32; count * pitch]);
            let step = 4 * pitch as isize;
            let out_step = [step; 2];
            stack::<f32>(kind, Stack { out_step, x_step: step, n, count, ..one(&x, &mut out) });
            for (x, out) in x.chunks(pitch).zip(out.chunks(pitch)) {
                let expected = expected(kind, &x[..n].iter().map(|&v| v.into()).collect::<Vec<f64>>());
                close(&out[..expected.len()], &expected, &format!("{kind:?} of {count} x {n}"));
                assert_eq!(out[expected.len()..], vec![7.0; pitch - expected.len()]);
            }
        }
    }

    #[test]
    fn infinities_and_nan_spread_as_the_formulas_say() {
        let infinite = f32::INFINITY;
        for n in [2, 15, 16, 40, 300] {
            let run = |kind, at: usize, special: f32, rest: f32| {
                let (mut x, mut out) = (vec![rest; n], vec![7f32; n]);
                x[at] = special;
                stack::<f32>(kind, one(&x, &mut out));
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
            columns::<f32>(
                kind,
                ColumnBlock {
                    out: [out.as_mut_ptr().cast(), null_mut()],
                    out_step: [step; 2],
                    x: x.as_ptr().cast(),
                    x_step: step,
                    n,
                    width,
                    ahead: 0,
                },
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
