//! Softmax and its kin along lines: exponentials of the distance to the greatest element, which cannot overflow, and their sum.
//!
//! Each step is a loop of its own over elements in the first-level cache, for [`Real::exp_run`] is the fastest way to an exponential.

mod register;

use super::lines::{Line, PANEL, Panel, Stack};
use super::real::Real;
use super::simd::{Isa, simd};
use super::stream;
use crate::dtype::Element;
use register::{Plain, Register, Registered};
use std::mem::MaybeUninit;

/// Registers that are folded side by side.
const ABREAST: usize = 4;
/// Elements of the buffer, which are summed in their own type.
const PIECE: usize = 1024;
/// The most lines done together.
const LINES: usize = 64;
/// Elements between two looks ahead.
const STEP: usize = 128;
/// Rows of a panel that are read or summed together.
const ROWS: usize = 4;
/// Rows between one that is read and one that is asked for.
const AHEAD: usize = 8;
/// Rows of a panel summed in their own type.
const SUMMED: usize = 64;

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

/// The floats of a register.
type Item<V> = <V as Register>::Item;

/// `n` elements as one register, `start` where there are none.
///
/// # Safety
/// `x` holds `n` elements; as for [`Register`].
#[inline(always)]
unsafe fn fold<V: Register>(x: *const Item<V>, n: usize, start: V, f: impl Fn(V, V) -> V) -> V {
    let (mut lanes, mut at) = ([start; ABREAST], 0);
    // SAFETY: the caller's.
    unsafe {
        while n - at >= ABREAST * V::COUNT {
            for k in 0..ABREAST {
                lanes[k] = f(start.with(x.add(at + k * V::COUNT), V::COUNT), lanes[k]);
            }
            at += ABREAST * V::COUNT;
        }
        while at < n {
            lanes[0] = f(start.with(x.add(at), n - at), lanes[0]);
            at += V::COUNT;
        }
    }
    f(f(lanes[0], lanes[1]), f(lanes[2], lanes[3]))
}

/// `r[i] = f(x[i])`
///
/// # Safety
/// Both hold `n` elements; `r` is `x` or apart from it; as for [`Register`].
#[inline(always)]
unsafe fn map<V: Register>(r: *mut Item<V>, x: *const Item<V>, n: usize, f: impl Fn(V) -> V) {
    let mut at = 0;
    // SAFETY: the caller's.
    unsafe {
        let none = V::all(Element::ZERO);
        while n - at >= 2 * V::COUNT {
            let (a, b) = (f(none.with(x.add(at), V::COUNT)), f(none.with(x.add(at + V::COUNT), V::COUNT)));
            a.store(r.add(at), V::COUNT);
            b.store(r.add(at + V::COUNT), V::COUNT);
            at += 2 * V::COUNT;
        }
        while at < n {
            f(none.with(x.add(at), n - at)).store(r.add(at), n - at);
            at += V::COUNT;
        }
    }
}

/// The greatest of `n` elements, NaN left out.
///
/// # Safety
/// As for [`fold`].
#[inline(always)]
unsafe fn greatest<V: Register>(x: *const Item<V>, n: usize) -> Item<V> {
    // SAFETY: the caller's.
    unsafe {
        let none = V::all(Element::from_f64(f64::NEG_INFINITY));
        fold::<V>(
            x,
            n,
            none,
            #[inline(always)]
            |a, b| a.greater(b),
        )
        .greatest()
    }
}

/// The sum of `n` elements, a few thousand at most.
///
/// # Safety
/// As for [`fold`].
#[inline(always)]
unsafe fn sum<V: Register>(x: *const Item<V>, n: usize) -> Item<V> {
    // SAFETY: the caller's.
    unsafe {
        fold::<V>(
            x,
            n,
            V::all(Element::ZERO),
            #[inline(always)]
            |a, b| a.add(b),
        )
        .sum()
    }
}

/// `e^x` for `n` elements in their place, while as many bytes from each of `next` on come into the cache: asked for all at once, they would be
/// waited for.
///
/// # Safety
/// There are `n` elements.
#[inline(always)]
unsafe fn exp_ahead<T: Real>(isa: Isa, x: *mut T, n: usize, next: &[*const u8]) {
    for at in (0..n).step_by(STEP) {
        let step = STEP.min(n - at);
        for next in next {
            stream::prefetch(next.wrapping_add(at * size_of::<T>()), step * size_of::<T>());
        }
        // SAFETY: the caller's.
        unsafe { T::exp_run(isa, x.add(at), x.add(at), step) }
    }
}

/// A line longer than the buffer.
///
/// # Safety
/// `x` holds `n` elements, and so does `out`, or one number, apart; as for [`Register`].
#[inline(always)]
unsafe fn long<V: Register>(isa: Isa, kind: Kind, x: *const Item<V>, n: usize, out: *mut Item<V>) {
    let mut buffer = MaybeUninit::<[Item<V>; PIECE]>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<Item<V>>();
    // SAFETY: the caller's.
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
                |x| x.sub(all),
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
                |e| e.mul(share),
            ),
            Kind::LogSoftmax => map::<V>(
                out,
                x,
                n,
                #[inline(always)]
                |x| x.sub(all).sub(less),
            ),
            Kind::LogSumExp => out.write(log.add(most)),
        }
    }
}

/// Lines that have room in the buffer, all of them together: step by step, for what a step does to one line need not wait for another.
///
/// # Safety
/// As for [`lines`], with at most [`LINES`] lines of at most [`PIECE`] elements together, each counted as whole registers.
#[inline(always)]
unsafe fn short<V: Register>(isa: Isa, kind: Kind, s: Stack) {
    let (mut buffer, mut most, mut by) = (MaybeUninit::<[Item<V>; PIECE]>::uninit(), [Item::<V>::ZERO; LINES], [Item::<V>::ZERO; LINES]);
    let (buffer, pitch) = (buffer.as_mut_ptr().cast::<Item<V>>(), s.n.next_multiple_of(V::COUNT));
    let e = |i: usize| buffer.wrapping_add(i * pitch);
    let x = |i: usize| s.x.wrapping_offset(i as isize * s.x_step).cast::<Item<V>>();
    let out = |i: usize| s.out[0].wrapping_offset(i as isize * s.out_step[0]).cast::<Item<V>>();
    // The lines after these, and the results of these.
    let next = [x(s.count).cast(), s.out[0].cast_const()];
    // SAFETY: the caller's.
    unsafe {
        for i in 0..s.count {
            most[i] = usable(kind, greatest::<V>(x(i), s.n));
        }
        for i in 0..s.count {
            let (e, all) = (e(i), V::all(most[i]));
            for at in (0..s.n).step_by(V::COUNT) {
                all.with(x(i).add(at), s.n - at).sub(all).store(e.add(at), V::COUNT);
            }
        }
        exp_ahead(isa, e(0), pitch * s.count, if kind == Kind::LogSumExp { &next[..1] } else { &next });
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
                        |e| e.mul(by),
                    )
                }
                Kind::LogSoftmax => {
                    let by = V::all(by[i]);
                    map::<V>(
                        out(i),
                        x(i),
                        s.n,
                        #[inline(always)]
                        |x| x.sub(all).sub(by),
                    )
                }
                Kind::LogSumExp => out(i).write(by[i].add(most[i])),
            }
        }
    }
}

/// Lines one after the other.
///
/// # Safety
/// The driver's promises for lines of these elements; as for [`Register`].
#[inline(always)]
unsafe fn lines<V: Register>(isa: Isa, kind: Kind, s: Stack) {
    let pitch = s.n.next_multiple_of(V::COUNT).max(V::COUNT);
    let group = (PIECE / pitch).clamp(1, LINES);
    for i in (0..s.count).step_by(group) {
        let (x, out) = (s.x.wrapping_offset(i as isize * s.x_step), s.out[0].wrapping_offset(i as isize * s.out_step[0]));
        // SAFETY: the driver passes `count` lines of `n` elements, and results of as many, or of one, apart.
        unsafe {
            if pitch > PIECE {
                long::<V>(isa, kind, x.cast(), s.n, out.cast());
            } else {
                short::<V>(isa, kind, Stack { x, out: [out, s.out[1]], count: group.min(s.count - i), ..s });
            }
        }
    }
}

/// Lines one after the other.
pub fn stack<T: Registered>(kind: Kind, s: Stack) {
    simd(
        #[inline(always)]
        // SAFETY: the driver passes such lines; the machine has the level.
        move |isa| unsafe { if isa.has_avx512() { lines::<T::Wide>(isa, kind, s) } else { lines::<Plain<T>>(isa, kind, s) } },
    )
}

/// A number for each line of a panel.
struct Columns<T>(MaybeUninit<[T; PANEL]>);

impl<T: Copy> Columns<T> {
    const fn new() -> Columns<T> {
        Columns(MaybeUninit::uninit())
    }

    /// The numbers, all `x` for `width` lines.
    #[inline(always)]
    fn filled(&mut self, x: T, width: usize) -> *mut T {
        let data = self.0.as_mut_ptr().cast::<T>();
        // SAFETY: a panel has at most PANEL lines.
        (0..width).for_each(|j| unsafe { data.add(j).write(x) });
        data
    }
}

/// Rows from `i` on of the elements and of the result: as many as are left, up to [`ROWS`], then the last again.
#[inline(always)]
fn rows<T>(p: Panel, i: usize) -> [(*const T, *mut T); ROWS] {
    std::array::from_fn(|k| {
        let i = (i + k).min(p.n - 1) as isize;
        (p.x.wrapping_offset(i * p.x_step).cast(), p.out[0].wrapping_offset(i * p.out_step[0]).cast())
    })
}

/// `r[i] = f(r[i], x[i])` for the columns of some rows.
///
/// # Safety
/// All hold `n` elements; rows and `r` are apart or one; as for [`Register`].
#[inline(always)]
unsafe fn join<V: Register, const N: usize>(r: *mut Item<V>, x: [*const Item<V>; N], n: usize, f: impl Fn(V, [V; N]) -> V) {
    // SAFETY: the caller's.
    unsafe {
        let none = V::all(Element::ZERO);
        for at in (0..n).step_by(V::COUNT) {
            let count = V::COUNT.min(n - at);
            let mut values = [none; N];
            for k in 0..N {
                values[k] = none.with(x[k].add(at), count);
            }
            f(none.with(r.add(at), count), values).store(r.add(at), count);
        }
    }
}

/// Lines side by side.
pub fn panel<T: Registered>(kind: Kind, p: Panel) {
    simd(
        #[inline(always)]
        // SAFETY: the driver passes a panel; the machine has the level.
        move |isa| unsafe { if isa.has_avx512() { beside::<T::Wide>(isa, kind, p) } else { beside::<Plain<T>>(isa, kind, p) } },
    )
}

/// Lines side by side.
///
/// # Safety
/// The driver's promises for a panel of these elements; as for [`Register`].
#[inline(always)]
unsafe fn beside<V: Register>(isa: Isa, kind: Kind, p: Panel) {
    let (mut most, mut by) = (Columns::<Item<V>>::new(), Columns::<Item<V>>::new());
    let (most, by) = (most.filled(Element::from_f64(f64::NEG_INFINITY), p.width), by.filled(Element::ZERO, p.width));
    // SAFETY: the driver passes `n` rows of `width` elements, at most PANEL, apart, and results as many, or one row.
    unsafe {
        for i in (0..p.n).step_by(ROWS) {
            for (x, _) in rows::<Item<V>>(p, i + AHEAD) {
                stream::prefetch(x.cast(), p.width * size_of::<Item<V>>());
            }
            join::<V, ROWS>(
                most,
                rows(p, i).map(|row| row.0),
                p.width,
                #[inline(always)]
                |most, [a, b, c, d]| a.greater(b.greater(c.greater(d.greater(most)))),
            );
        }
        (0..p.width).for_each(|j| most.add(j).write(usable(kind, most.add(j).read())));
        sums_beside::<V>(isa, p, most, by, kind == Kind::Softmax);
        if kind == Kind::Softmax {
            (0..p.width).for_each(|j| by.add(j).write(Item::<V>::from_f64(1.0) / by.add(j).read()));
        } else {
            Item::<V>::log_run(isa, by, by, p.width);
        }
        finish::<V>(kind, p, most, by);
    }
}

/// The sum of `e^(x - most)` of each line; the result gets the exponentials if it is to keep them.
///
/// # Safety
/// `most` and `sums` hold numbers for the lines of the panel, zeros the latter; as for [`Register`].
#[inline(always)]
unsafe fn sums_beside<V: Register>(isa: Isa, p: Panel, most: *const Item<V>, sums: *mut Item<V>, keep: bool) {
    let (mut totals, mut buffer) = (Columns::<f64>::new(), [const { Columns::<Item<V>>::new() }; ROWS]);
    let totals = totals.filled(0.0, p.width);
    let buffer = buffer.each_mut().map(|row| row.filled(Element::ZERO, 0));
    // SAFETY: the caller's.
    unsafe {
        for i in (0..p.n).step_by(ROWS) {
            let (ahead, rows, mut e, count) = (rows::<Item<V>>(p, i + ROWS), rows::<Item<V>>(p, i), buffer, ROWS.min(p.n - i));
            for k in 0..count {
                e[k] = if keep { rows[k].1 } else { buffer[k] };
                less_each::<V>(e[k], rows[k].0, most, p.width);
                let next = [rows[k].0.cast::<u8>().wrapping_offset(p.ahead), ahead[k].1.cast_const().cast()];
                exp_ahead(isa, e[k], p.width, if keep { &next } else { &next[..1] });
            }
            if count == ROWS {
                join::<V, ROWS>(
                    sums,
                    e.map(|e| e.cast_const()),
                    p.width,
                    #[inline(always)]
                    |sum, [a, b, c, d]| sum.add(a.add(b).add(c.add(d))),
                );
            } else {
                for e in &e[..count] {
                    join::<V, 1>(
                        sums,
                        [*e],
                        p.width,
                        #[inline(always)]
                        |sum, [e]| sum.add(e),
                    );
                }
            }
            if (i + ROWS).is_multiple_of(SUMMED) || i + ROWS >= p.n {
                (0..p.width).for_each(|j| totals.add(j).write(totals.add(j).read() + sums.add(j).read().to_f64()));
                (0..p.width).for_each(|j| sums.add(j).write(Element::ZERO));
            }
        }
        (0..p.width).for_each(|j| sums.add(j).write(Element::from_f64(totals.add(j).read())));
    }
}

/// `r[j] = x[j] - by[j]`
///
/// # Safety
/// All hold `n` elements, apart; as for [`Register`].
#[inline(always)]
unsafe fn less_each<V: Register>(r: *mut Item<V>, x: *const Item<V>, by: *const Item<V>, n: usize) {
    // SAFETY: the caller's.
    unsafe {
        let none = V::all(Element::ZERO);
        for at in (0..n).step_by(V::COUNT) {
            let count = V::COUNT.min(n - at);
            none.with(x.add(at), count).sub(none.with(by.add(at), count)).store(r.add(at), count);
        }
    }
}

/// The results of a panel: exponentials times `by`, or elements less maxima and `by`, or the sums of both.
///
/// # Safety
/// `most` and `by` hold numbers for the lines of the panel; as for [`Register`].
#[inline(always)]
unsafe fn finish<V: Register>(kind: Kind, p: Panel, most: *const Item<V>, by: *const Item<V>) {
    // SAFETY: the caller's.
    unsafe {
        if kind == Kind::LogSumExp {
            let out = p.out[0].cast::<Item<V>>();
            return (0..p.width).for_each(|j| out.add(j).write(by.add(j).read().add(most.add(j).read())));
        }
        for i in 0..p.n {
            let (x, out) = rows::<Item<V>>(p, i)[0];
            if kind == Kind::Softmax {
                join::<V, 1>(
                    out,
                    [by],
                    p.width,
                    #[inline(always)]
                    |e, [by]| e.mul(by),
                );
            } else {
                less_each::<V>(out, x, most, p.width);
                join::<V, 1>(
                    out,
                    [by],
                    p.width,
                    #[inline(always)]
                    |d, [by]| d.sub(by),
                );
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
            // Logarithms close to 0 are differences of larger numbers.
            let least = if b < 0.0 { 2e-2 } else { 1e-3 };
            assert!((f64::from(a) - b).abs() <= 3e-6 * b.abs().max(least), "{what}, element {i}: {a}, not {b}");
        }
    }

    /// A stack of one line.
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
            panel::<f32>(
                kind,
                Panel {
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
