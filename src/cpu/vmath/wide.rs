//! Elementary functions of whole AVX-512 registers. AVX-512 has instructions for exponents and mantissas and for tables in registers, which
//! compilers do not generate from loops over scalars. These instructions also give the special values.

use super::arc::{ASIN_64, PI_2_LOW_64};
use super::wide_tables::{TANH_32, Tabled};
use crate::cpu::vector::{Elementary, F32x16, F64x8, Floats, Mask, Masked, Register};
use std::f64::consts::{FRAC_PI_2, PI};
use std::ops::Range;

/// `r[i] = f(a[i])`
///
/// # Safety
/// `r` and `a` must have `n` elements; `r` must be `a` or not overlap it. The processor must have AVX-512.
#[inline(always)]
pub(super) unsafe fn each<V: Tabled>(r: *mut V::Item, a: *const V::Item, n: usize, f: impl Fn(V) -> V) {
    let mut i = 0;
    // Two registers at a time: a load waits for a store just before it if their addresses differ by about a multiple of 4096.
    while i + 2 * V::LANES <= n {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let (x, y) = (V::load(a.add(i)), V::load(a.add(i + V::LANES)));
            let (x, y) = (f(x), f(y));
            x.store(r.add(i));
            y.store(r.add(i + V::LANES));
        }
        i += 2 * V::LANES;
    }
    while i < n {
        let some = V::first((n - i).min(V::LANES));
        // SAFETY: the caller keeps this function's contract.
        unsafe { f(V::load_where(some, a.add(i))).store_where(some, r.add(i)) }
        i += V::LANES;
    }
}

/// `r[i] = pow(a[i], b[i])`. Ranges with elements for which [`pow`] does not hold are left to `rest`.
///
/// # Safety
/// As for [`each`]; steps must be 1, or 0 for an operand of one element.
#[inline(always)]
pub(super) unsafe fn each_pow<V: Tabled>(
    r: *mut V::Item,
    [a, b]: [*const V::Item; 2],
    steps: [usize; 2],
    n: usize,
    log_tail: impl Fn(V, V, V) -> (V, V) + Copy,
    rest: impl Fn(Range<usize>),
) {
    let whole = n - n % V::LANES;
    for i in (0..whole).step_by(V::LANES) {
        // SAFETY: the caller keeps this function's contract.
        let (x, y) = unsafe { (load_stepped::<V>(a, steps[0], i), load_stepped::<V>(b, steps[1], i)) };
        let (p, known) = pow(x, y, log_tail);
        if known == V::first(V::LANES) {
            // SAFETY: the caller keeps this function's contract.
            unsafe { p.store(r.add(i)) }
        } else {
            rest(i..i + V::LANES);
            // SAFETY: the caller keeps this function's contract.
            unsafe { p.store_where(known, r.add(i)) }
        }
    }
    if whole < n {
        let some = V::first(n - whole);
        // SAFETY: the caller keeps this function's contract.
        let (x, y) = unsafe { (load_last::<V>(a, steps[0], whole, some), load_last::<V>(b, steps[1], whole, some)) };
        let (p, known) = pow(x, y, log_tail);
        if some & !known != 0 {
            rest(whole..n);
        }
        // SAFETY: the caller keeps this function's contract.
        unsafe { p.store_where(some & known, r.add(whole)) }
    }
}

/// Loads the elements from `i` on, or, for a step of 0, the only element.
///
/// # Safety
/// The elements must exist.
#[inline(always)]
unsafe fn load_stepped<V: Tabled>(from: *const V::Item, step: usize, i: usize) -> V {
    // SAFETY: the caller keeps this function's contract.
    unsafe { if step == 0 { V::all(*from) } else { V::load(from.add(i)) } }
}

/// [`load_stepped`] of the elements in the mask.
///
/// # Safety
/// The elements must exist.
#[inline(always)]
unsafe fn load_last<V: Tabled>(from: *const V::Item, step: usize, i: usize, mask: Mask) -> V {
    // SAFETY: the caller keeps this function's contract.
    unsafe { if step == 0 { V::all(*from) } else { V::load_where(mask, from.add(i)) } }
}

/// `c[0] + c[1] x + ...`
#[inline(always)]
fn poly<V: Tabled>(x: V, c: &[V::Item]) -> V {
    let mut p = V::all(c[c.len() - 1]);
    for &c in c[..c.len() - 1].iter().rev() {
        p = p.fma(x, V::all(c));
    }
    p
}

/// [`poly`] of an even number of coefficients, with even and odd powers summed separately, because the additions of a long polynomial would
/// wait for one another.
#[inline(always)]
fn poly_halves<V: Tabled>(x: V, square: V, c: &[V::Item]) -> V {
    debug_assert!(c.len().is_multiple_of(2));
    let mut halves = [V::all(c[c.len() - 2]), V::all(c[c.len() - 1])];
    for (i, &c) in c[..c.len() - 2].iter().enumerate().rev() {
        halves[i % 2] = halves[i % 2].fma(square, V::all(c));
    }
    halves[1].fma(x, halves[0])
}

/// `exp(x) = (t + low) (1 + q) 2^floor(n)` with t in [1, 2): returns t, q, n and low, which is very small. For |x| < 1000.
#[inline(always)]
fn exp_parts<V: Tabled>(x: V) -> (V, V, V, V) {
    // The sum rounds to a multiple of 1 / 32 or 1 / 16. Its lowest bits are the index of the fraction.
    let shifted = x.fma(V::all(V::K.log2_e[0]), V::all(V::K.shift));
    let n = shifted - V::all(V::K.shift);
    let r = n.fnmadd(V::all(V::K.ln2[1]), n.fnmadd(V::all(V::K.ln2[0]), x));
    let q = (r * r).fma(poly(r, V::K.exp), r);
    (shifted.lookup(V::K.exp2_table), q, n, shifted.lookup(V::K.exp2_table_low))
}

/// `exp(x)`
#[inline(always)]
pub(super) fn exp<V: Tabled>(x: V) -> V {
    let (t, q, n, _) = exp_parts(x.at_most(V::K.exp_most).at_least(V::K.exp_least));
    t.fma(q, t).scale(n)
}

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub(super) fn sigmoid<V: Tabled>(x: V) -> V {
    let one = V::all(V::K.one);
    let (t, q, n, low) = exp_parts(x.with_sign(V::all(V::K.minus_one)).at_least(V::K.exp_least));
    let e = (t + t.fma(q, low)).scale(n);
    // The numerator is e^-|x| or 1, so that nothing overflows and a subnormal result is rounded once.
    let numerator = one.or_where(x.below(x.abs()), e);
    let d = one + e;
    let y = numerator / d;
    // Corrects the quotient for the rounding of d, which matters for small e.
    y.fnmadd(e - (d - one), y)
}

/// `cosh(x)`
#[inline(always)]
pub(super) fn cosh<V: Tabled>(x: V) -> V {
    let (t, q, n, _) = exp_parts(x.abs().at_most(V::K.exp_most));
    // h + 1 / 4h with h = exp(|x|) / 2
    let h = t.fma(q, t).scale(n - V::all(V::K.one));
    V::all(V::K.quarter) / h + h
}

/// `log_b(x) = e log_b(2) + t + r p` with `t = -log_b(inverse)`: returns e, the number whose lowest bits select `inverse` in its table, r
/// and p.
#[inline(always)]
fn log_parts<V: Tabled>(x: V, c: &[V::Item]) -> (V, V, V, V) {
    let (e, m) = x.split();
    let index = m + V::all(V::K.shift);
    let r = m.fma(index.lookup(V::K.inverse), V::all(V::K.minus_one));
    (e, index, r, poly(r, c))
}

/// `log(x)`
#[inline(always)]
pub(super) fn log<V: Tabled>(x: V) -> V {
    let (e, index, r, p) = log_parts(x, V::K.log);
    r.fma(p, e.fma(V::all(V::K.ln2[0]), index.lookup(V::K.log_table)))
}

/// `log(1 + x)`: the logarithm of the rounded sum, corrected for its rounding error by the derivative.
#[inline(always)]
pub(super) fn log1p<V: Tabled>(x: V) -> V {
    let one = V::all(V::K.one);
    let sum = one + x;
    let lost = (x - (sum - one)) / sum;
    let (e, index, r, p) = log_parts(sum, V::K.log);
    let base = e.fma(V::all(V::K.ln2[0]), index.lookup(V::K.log_table));
    // At both ends the logarithm is infinite, and the quotient is NaN.
    let lost = V::all(V::K.zero).or_where(base.inside(V::K.exp_most), lost);
    (base + r.fma(p, lost)).with_sign(x)
}

/// `log2(x)`
#[inline(always)]
pub(super) fn log2<V: Tabled>(x: V) -> V {
    let (e, index, r, p) = log_parts(x, V::K.log2);
    r.fma(p, e + index.lookup(V::K.log2_table))
}

/// `log10(x)`, with an exact first sum, so that the logarithms of powers of ten are exact.
#[inline(always)]
pub(super) fn log10<V: Tabled>(x: V) -> V {
    let (e, index, r, p) = log_parts(x, V::K.log10);
    let high = e.fma(V::all(V::K.log10_2[0]), index.lookup(V::K.log10_table));
    let low = e.fma(V::all(V::K.log10_2[1]), index.lookup(V::K.log10_table_low));
    high + r.fma(p, low)
}

/// `tanh(x)`: four polynomials for each power of two, from 1 / 16 on.
#[inline(always)]
pub(super) fn tanh(x: F32x16) -> F32x16 {
    let t = x.abs().at_most(10.0);
    let index = t.at_least(1.0 / 16.0).shifted_right::<21>();
    let y = t - index.lookup(&TANH_32[0]);
    let mut p = index.lookup(&TANH_32[7]);
    for c in TANH_32[1..7].iter().rev() {
        p = p.fma(y, index.lookup(c));
    }
    p.with_sign(x)
}

/// `sqrt(x)`: Newton's steps take half the time of the instruction.
///
/// The result is correctly rounded. All steps scale with powers of 4, so let 1 <= x < 4, s be its root, u = 2^-52 and y = (1 + a) / s with
/// |a| < 2^-14. A step turns a common relative error a of g and h into -1.5 a^2. Half the difference between their errors, which comes from
/// roundings, remains. After two steps, g = s - e is within 2.5 u of s, and h = (1 + b) / 2s with |b| < 1.5 u: 0.75 u from differences,
/// 0.25 u from 1.5 a^2, and the last rounding. g + h (s^2 - g^2) = s + b e - (1 + b) e^2 / 2s differs from s by less than 7 u^2, and the
/// rounding of s^2 - g^2 adds 1.25 u^2. So rounding is wrong only if s is within 8.25 u^2 of the middle m of two numbers, x within 33 u^2
/// of m^2. But 4 m^2 / u^2 is the square of an odd number, and 4 x / u^2 is a multiple of 2^54, for x > 2 of 2^55: few of these multiples
/// are within 132 of such a square. `square_roots_are_correctly_rounded` tests all of them.
#[inline(always)]
pub(super) fn sqrt(x: F64x8) -> F64x8 {
    // From 2^-900 on no remainder is subnormal. The roots of zero, infinity, NaN and negative numbers come from the instruction.
    if !x.all_bits_within((1023 - 900) << 52, 0x7ff << 52) {
        return x.sqrt();
    }
    let y = x.rsqrt_estimate();
    // g converges to the root, h to half its inverse.
    let (mut g, mut h) = (x * y, y * F64x8::all(0.5));
    for _ in 0..2 {
        let off = g.fnmadd(h, F64x8::all(0.5));
        (g, h) = (g.fma(off, g), h.fma(off, h));
    }
    g.fnmadd(g, x).fma(h, g)
}

/// `sqrt(z)` with an error below 1 unit, for z >= 0 far from overflow; NaN below.
#[inline(always)]
fn near_root(z: F64x8) -> F64x8 {
    let y = z.rsqrt_estimate().at_most(1e150);
    let g = z * y;
    let e = g.fnmadd(y, F64x8::all(1.0));
    (g * e).fma(poly(e, &[0.5, 0.375, 0.3125]), g)
}

/// Returns `s`, `asin(s) - s`, and a mask of the lanes with `|x|` beyond one half. There `asin(|x|) = pi / 2 - 2 asin(s)`, elsewhere
/// `asin(|x|) = asin(s)`.
#[inline(always)]
fn arc(x: F64x8, low: f64) -> (F64x8, F64x8, Mask) {
    let t = x.abs();
    let far = F64x8::all(0.5).below(t);
    let z = (t * t).or_where(far, t.fma(F64x8::all(-0.5), F64x8::all(0.5)));
    let s = t.or_where(far, near_root(z));
    (s, (s * z).fma(poly(z, &ASIN_64), F64x8::all(-0.0).or_where(far, F64x8::all(-0.5 * low))), far)
}

/// `asin(x)`
#[inline(always)]
pub(super) fn asin(x: F64x8) -> F64x8 {
    let (s, rest, far) = arc(x, PI_2_LOW_64);
    let times = F64x8::all(1.0).or_where(far, F64x8::all(-2.0));
    let from = F64x8::all(0.0).or_where(far, F64x8::all(FRAC_PI_2));
    let sum = times.fma(s, from);
    let lost = times.fma(s, from - sum);
    (sum + times.fma(rest, lost)).with_sign(x)
}

/// `acos(x)`
#[inline(always)]
pub(super) fn acos(x: F64x8) -> F64x8 {
    let (s, rest, far) = arc(x, 0.0);
    // -1 and 2 for positive x, 1 and -2 for negative ones.
    let times = F64x8::all(-1.0).or_where(far, F64x8::all(2.0)).flipped(x);
    let from = F64x8::all(FRAC_PI_2).or_where(far, F64x8::all(0.0)).or_where(x.below(F64x8::all(-0.5)), F64x8::all(PI));
    times.fma(rest, times.fma(s, from))
}

/// Returns `pow(x, y)`, and a mask of the elements for which it is correct: x is positive and the result neither infinite nor subnormal.
#[inline(always)]
pub(super) fn pow<V: Tabled>(x: V, y: V, log_tail: impl Fn(V, V, V) -> (V, V)) -> (V, Mask) {
    // log2 x = whole + high + low, computed from c = k / 32 or k / 16 and (m - c) / c = r + rest.
    let (e, m) = x.split();
    let index = m + V::all(V::K.shift);
    let c = index - V::all(V::K.shift);
    let (d, inverse) = (m - c, index.lookup(V::K.pow_inverse));
    let r = d * inverse;
    let rest = r.fnmadd(c, d) * inverse;
    let whole = e + index.lookup(V::K.pow_log);
    let (high, low) = log_tail(r, rest, index.lookup(V::K.pow_log_low));
    let sum = whole + high;
    let low = ((whole - sum) + high) + low;
    // A large y magnifies the error of the logarithm, so the remaining error must be below the last bit.
    let log = sum + low;
    let log_low = (sum - log) + low;
    let p = y * log;
    let p_low = y.fma(log_low, y.fmsub(log, p));
    let shifted = p + V::all(V::K.shift);
    let n = shifted - V::all(V::K.shift);
    let f = (p - n) + p_low;
    let t = shifted.lookup(V::K.exp2_table);
    // The polynomial of float64 is long.
    let q = if V::LANES == 8 { poly_halves(f, f * f, V::K.exp2) } else { poly(f, V::K.exp2) };
    let low = t.fma(f * q, shifted.lookup(V::K.exp2_table_low));
    ((t + low).scale(n), p.inside(V::K.pow_most))
}

/// Returns `log2(1 + r + rest) + low` as a sum of two.
#[inline(always)]
pub(super) fn log_tail_32(r: F32x16, rest: F32x16, low: F32x16) -> (F32x16, F32x16) {
    let log2_e = F32x16::all(F32x16::K.log2_e[0]);
    let high = r * log2_e;
    let lost = r.fmsub(log2_e, high);
    let lost = r.fma(F32x16::all(F32x16::K.log2_e[1]), rest.fma(log2_e, lost));
    (high, (r * r).fma(poly(r, F32x16::K.pow), lost) + low)
}

/// [`log_tail_32`] for f64, with an exact square of r.
#[inline(always)]
pub(super) fn log_tail_64(r: F64x8, rest: F64x8, low: F64x8) -> (F64x8, F64x8) {
    let half = F64x8::all(0.5);
    let square = r * r;
    let square_low = r.fmsub(r, square);
    let s = half.fnmadd(square, r);
    let s_low = half.fnmadd(square, r - s);
    let s_low = half.fnmadd(square_low, s_low) + r.fnmadd(rest, rest);
    let s_low = (r * square).fma(poly_halves(r, square, F64x8::K.pow), s_low);
    let log2_e = F64x8::all(F64x8::K.log2_e[0]);
    let high = s * log2_e;
    let lost = s.fmsub(log2_e, high);
    let lost = s.fma(F64x8::all(F64x8::K.log2_e[1]), s_low.fma(log2_e, lost));
    (high, lost + low)
}
