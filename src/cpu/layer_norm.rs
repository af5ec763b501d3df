//! Normalization of rows: rows with mean 0 and variance 1, or with mean square 1, and the gradients.

use super::engine::{COSTLY, Shared, parallel};
use super::real::Real;
use super::simd::simd;
use super::sweep::{ColumnSums, Item, map, sums};
use super::vector::{Partial, Vectored, with_register};
use crate::cpu::tuning::SHORT_LINES;
use crate::dtype::Element;
use crate::launch::layers::NormRows as Rows;
use std::ptr::null_mut;

/// The maximum number of parts that are summed separately, and the elements and rows that are worth a part.
const MOST_PARTS: usize = 64;
const PART_ELEMENTS: usize = 1 << 15;
const PART_ROWS: usize = 32;

/// The elements of a row from which on a sample determines the middle.
const SAMPLED: usize = 1024;

/// A row's `(x - mean) / deviation` as `(x - middle) * scale - shift`: the middle is a number near the mean, and the shift is its error.
#[derive(Clone, Copy)]
struct Standard<V> {
    middle: V,
    scale: V,
    shift: V,
}

impl<V: Partial<Item: Real>> Standard<V> {
    /// Returns a number near the mean of `f` of the elements, from a sample if the row is long; 0 if the rows are not centred.
    ///
    /// # Safety
    /// `x` must hold a row; as for [`Register`](super::vector::Register).
    #[inline(always)]
    unsafe fn middle(rows: Rows, x: *const Item<V>, f: impl Fn(V) -> V + Copy) -> V {
        if !rows.centred {
            return V::all(Element::ZERO);
        }
        let (pieces, length) = if rows.n > SAMPLED { (4, SAMPLED / 16) } else { (1, rows.n) };
        let mut total = 0.0;
        for k in 0..pieces {
            // SAFETY: the caller keeps this function's contract. The row has all elements of the pieces.
            let [sum] = unsafe {
                sums::<V, 1, 1>(
                    [x.add(rows.n / pieces * k)],
                    [V::all(Element::ZERO)],
                    length,
                    #[inline(always)]
                    |[x]| [f(x)],
                )
            };
            total += sum;
        }
        V::all(Element::from_f64(total / (pieces * length) as f64))
    }

    /// Returns true if a middle is so far from the mean that the variance would lose digits, given the means of `x - middle` and of its
    /// square.
    #[inline(always)]
    fn is_far(rows: Rows, rest: f64, squares: f64) -> bool {
        rows.centred && squares.is_finite() && rest * rest > 0.5 * squares
    }

    /// Returns the form for a row with these means of `x - middle` and of its square, and its scale and shift. The first mean is 0 for rows
    /// that are not centred.
    #[inline(always)]
    fn around(middle: V, rest: f64, squares: f64, eps: f64) -> (Self, [f64; 2]) {
        let scale = 1.0 / (squares - rest * rest + eps).sqrt();
        let shift = rest * scale;
        (Standard { middle, scale: V::all(Element::from_f64(scale)), shift: V::all(Element::from_f64(shift)) }, [scale, shift])
    }

    #[inline(always)]
    fn at(self, x: V) -> V {
        (x - self.middle) * self.scale - self.shift
    }

    /// Returns the gradient of `x`, from the gradient `h` of the standardized element and the means of `h` and of `h * standardized
    /// element`. What is standardized is `x * factor`.
    #[inline(always)]
    fn slope(self, factor: V, h: V, x: V, [mean, along]: [V; 2]) -> V {
        factor * self.scale * (h - mean - self.at(x * factor) * along)
    }
}

/// The factor for rows whose squares overflow: with it none does, and what vanishes is nothing beside the greatest element.
const fn shrunk<V: Partial>() -> f64 {
    if size_of::<Item<V>>() == 4 { 8.470_329_472_543_003e-22 } else { SHRUNK_64 }
}

/// 2^-550.
const SHRUNK_64: f64 = f64::from_bits((1023 - 550) << 52);

/// Elements of a call, each row-major.
#[derive(Clone, Copy)]
struct Forward<T> {
    r: *mut T,
    x: *const T,
    weight: *const T,
    bias: *const T,
}

/// # Safety
/// As for [`forward`].
#[inline(always)]
unsafe fn forward_rows<V: Partial<Item: Real>>(all: Forward<Item<V>>, rows: Rows, range: std::ops::Range<usize>) {
    let Rows { n, span, .. } = rows;
    for i in range {
        let (mut x, mut eps, mut scaled, mut corrected) = (all.x.wrapping_add(i * n), rows.eps, false, None);
        // SAFETY: the caller's.
        unsafe {
            let r = all.r.add(i * n);
            let standard = loop {
                let middle = match corrected {
                    Some(middle) => middle,
                    None => Standard::<V>::middle(
                        rows,
                        x,
                        #[inline(always)]
                        |x| x,
                    ),
                };
                let [rest, squares] = sums::<V, 1, 2>(
                    [x],
                    [middle],
                    n,
                    #[inline(always)]
                    |[x]| [x - middle, (x - middle) * (x - middle)],
                )
                .map(|sum| sum / n as f64);
                if corrected.is_none() && Standard::<V>::is_far(rows, rest, squares) {
                    corrected = Some(middle + V::all(Element::from_f64(rest)));
                    continue;
                }
                if squares.is_finite() || scaled {
                    break Standard::around(middle, if rows.centred { rest } else { 0.0 }, squares, eps).0;
                }
                // The row with a factor takes the place of the row.
                let factor = V::all(Element::from_f64(shrunk::<V>()));
                map::<V, 1>(
                    r,
                    [x],
                    n,
                    #[inline(always)]
                    |[x]| x * factor,
                );
                (x, eps, scaled, corrected) = (r.cast_const(), eps * shrunk::<V>() * shrunk::<V>(), true, None);
            };
            let first = i % rows.groups * rows.row_weights();
            let (weight, bias) = (all.weight.add(first), all.bias.add(first));
            if span == 1 {
                map::<V, 3>(
                    r,
                    [x, weight, bias],
                    n,
                    #[inline(always)]
                    |[x, weight, bias]| standard.at(x) * weight + bias,
                );
                continue;
            }
            for k in 0..rows.row_weights() {
                let (weight, bias) = (V::all(weight.add(k).read()), V::all(bias.add(k).read()));
                map::<V, 1>(
                    r.add(k * span),
                    [x.add(k * span)],
                    span,
                    #[inline(always)]
                    |[x]| standard.at(x) * weight + bias,
                );
            }
        }
    }
}

/// `r = (x - mean) / sqrt(variance + eps) * weight + bias` of each row, or `x / sqrt(mean of squares + eps) * weight + bias`.
///
/// # Safety
/// `r` and `x` must hold the rows, `weight` and `bias` [`Rows::weights`]. `r` must be `x`, or overlap no operand.
pub unsafe fn forward<T: Real + Vectored>(rows: Rows, r: *mut T, x: *const T, weight: *const T, bias: *const T) {
    let shared = [r.cast_const(), x, weight, bias].map(|p| Shared(p.cast_mut().cast()));
    let block_rows = (SHORT_LINES / rows.n.max(1)).max(1);
    parallel(rows.rows.div_ceil(block_rows), block_rows * rows.n, COSTLY, &|range| {
        let [r, x, weight, bias] = shared.map(|p| p.get().cast::<T>());
        let all = Forward { r, x: x.cast_const(), weight: weight.cast_const(), bias: bias.cast_const() };
        let range = range.start * block_rows..rows.rows.min(range.end * block_rows);
        simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract, and the processor has the level.
            move |isa| unsafe { with_register!(isa, T => forward_rows(all, rows, range)) },
        );
    });
}

/// The operands of a call, each row-major; NULL for a gradient that is not wanted.
#[derive(Clone, Copy)]
struct Backward<T> {
    r: *mut T,
    sums: *mut f64,
    g: *const T,
    x: *const T,
    weight: *const T,
}

impl Rows {
    /// Returns the number of parts of the rows that are summed separately. It depends on sizes alone, and so does the rounding of sums.
    pub fn parts(self) -> usize {
        let elements = self.rows.saturating_mul(self.n);
        let worth = (elements / PART_ELEMENTS).min(elements / (PART_ROWS * self.weights()).max(1)).min(self.rows);
        worth.clamp(1, MOST_PARTS)
    }

    /// Returns the number of doubles that the sums of [`gradient`] need for each part. The last `2 * row_weights` are scratch.
    pub fn sums_of_part(self) -> usize {
        2 * (self.weights() + self.row_weights())
    }
}

/// The sums of a row and of its gradient: of `off = x - middle`, of its square, of `h = g * weight`, and of `h * off`.
///
/// If several elements have one weight, `parts` receives the sums of `g` and of `g * off` for each weight, unless it is NULL.
///
/// # Safety
/// As for [`gradient`].
#[inline(always)]
unsafe fn row_sums<V: Partial<Item: Real>>(
    rows: Rows,
    [g, weight, x]: [*const Item<V>; 3],
    [middle, scaled, fill]: [V; 3],
    parts: *mut f64,
) -> [f64; 4] {
    let none = V::all(Element::ZERO);
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if rows.span == 1 {
            return sums::<V, 3, 4>(
                [g, weight, x],
                [none, none, fill],
                rows.n,
                #[inline(always)]
                |[g, weight, x]| {
                    let off = x * scaled - middle;
                    [off, off * off, g * weight, g * weight * off]
                },
            );
        }
        let mut total = [0.0; 4];
        for k in 0..rows.row_weights() {
            let [rest, squares, sum, along] = sums::<V, 2, 4>(
                [g.add(k * rows.span), x.add(k * rows.span)],
                [none, fill],
                rows.span,
                #[inline(always)]
                |[g, x]| {
                    let off = x * scaled - middle;
                    [off, off * off, g, g * off]
                },
            );
            if !parts.is_null() {
                parts.add(2 * k).write(sum);
                parts.add(2 * k + 1).write(along);
            }
            let weight = weight.add(k).read().to_f64();
            for (total, sum) in total.iter_mut().zip([rest, squares, sum * weight, along * weight]) {
                *total += sum;
            }
        }
        total
    }
}

/// # Safety
/// As for [`gradient`].
#[inline(always)]
unsafe fn gradient_part<V: Partial<Item: Real>>(all: Backward<Item<V>>, rows: Rows, part: usize) {
    let (parts, groups) = (rows.parts(), rows.groups);
    let (start, end) = (rows.rows * part / parts, rows.rows * (part + 1) / parts);
    for group in 0..groups {
        let first = start + (group + groups - start % groups) % groups;
        // SAFETY: the caller keeps this function's contract.
        unsafe { gradient_group::<V>(all, rows, (part, group), (first..end).step_by(groups)) }
    }
}

/// Computes the gradients of the rows of a group in a part of the rows.
///
/// # Safety
/// As for [`gradient`].
#[inline(always)]
unsafe fn gradient_group<V: Partial<Item: Real>>(
    all: Backward<Item<V>>,
    rows: Rows,
    (part, group): (usize, usize),
    numbers: impl Iterator<Item = usize>,
) {
    let Rows { n, eps, span, .. } = rows;
    let own = rows.row_weights();
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let weight = all.weight.add(group * own);
        let added = all.sums.wrapping_add(part * rows.sums_of_part());
        let scratch = added.wrapping_add(2 * rows.weights());
        let few = scratch.cast::<Item<V>>();
        let (to_weight, to_bias) = (added.wrapping_add(group * own), added.wrapping_add(rows.weights() + group * own));
        let width = if all.sums.is_null() { 0 } else { own };
        // `new` sets the sums to 0.
        let mut of_weight = ColumnSums::new(few, to_weight, width);
        let mut of_bias = ColumnSums::new(few.wrapping_add(own), to_bias, width);
        for i in numbers {
            let (g, x) = (all.g.add(i * n), all.x.add(i * n));
            // One pass computes the sums of the row and of its gradient. The gradient of the row is left out if the caller wants only the
            // gradients of weight and bias.
            let factors = if all.r.is_null() && span == 1 { g } else { weight };
            let each = if width > 0 { scratch } else { null_mut() };
            // Where squares of the row overflow, what is standardized is the row with a factor.
            let (mut factor, mut corrected) = (1.0, None);
            let (standard, scaled, [scale, shift], mean, along) = loop {
                let scaled: V = V::all(Element::from_f64(factor));
                let middle = match corrected {
                    Some(middle) => middle,
                    None => Standard::<V>::middle(
                        rows,
                        x,
                        #[inline(always)]
                        |x| x * scaled,
                    ),
                };
                let fill = middle * V::all(Element::from_f64(1.0 / factor));
                let [rest, squares, mean, along] =
                    row_sums::<V>(rows, [g, factors, x], [middle, scaled, fill], each).map(|sum| sum / n as f64);
                if corrected.is_none() && Standard::<V>::is_far(rows, rest, squares) {
                    corrected = Some(middle + V::all(Element::from_f64(rest)));
                    continue;
                }
                let (rest, mean) = if rows.centred { (rest, mean) } else { (0.0, 0.0) };
                if squares.is_finite() || factor < 1.0 {
                    let (standard, numbers) = Standard::<V>::around(middle, rest, squares, eps * factor * factor);
                    break (standard, scaled, numbers, mean, along);
                }
                (factor, corrected) = (shrunk::<V>(), None);
            };
            if width > 0 && span == 1 {
                of_weight.add::<V, 2>(
                    [g, x],
                    #[inline(always)]
                    |[g, x]| g * standard.at(x * scaled),
                );
                of_bias.add::<V, 1>(
                    [g],
                    #[inline(always)]
                    |[g]| g,
                );
            } else {
                for k in 0..width {
                    let (sum, along) = (scratch.add(2 * k).read(), scratch.add(2 * k + 1).read());
                    *to_weight.add(k) += along * scale - sum * shift;
                    *to_bias.add(k) += sum;
                }
            }
            if all.r.is_null() {
                continue;
            }
            let (mean, along): (V, V) = (V::all(Element::from_f64(mean)), V::all(Element::from_f64(along * scale - mean * shift)));
            let r = all.r.add(i * n);
            if span == 1 {
                map::<V, 3>(
                    r,
                    [g, weight, x],
                    n,
                    #[inline(always)]
                    |[g, weight, x]| standard.slope(scaled, g * weight, x, [mean, along]),
                );
                continue;
            }
            for k in 0..own {
                let weight = V::all(weight.add(k).read());
                map::<V, 2>(
                    r.add(k * span),
                    [g.add(k * span), x.add(k * span)],
                    span,
                    #[inline(always)]
                    |[g, x]| standard.slope(scaled, g * weight, x, [mean, along]),
                );
            }
        }
        if span == 1 {
            of_weight.finish();
            of_bias.finish();
        }
    }
}

/// Computes the gradients of [`forward`] from the gradient `g` of its result. `r` is the gradient of `x`. `sums` are the gradients of
/// weights and biases, part by part: a double for each weight, a double for each bias, and scratch. `r` or `sums` may be NULL.
///
/// # Safety
/// `r`, `g` and `x` must hold the rows, `weight` [`Rows::weights`], and `sums` [`Rows::sums_of_part`] for each of [`Rows::parts`]. `r` must
/// be `g` or `x`, or overlap no operand.
pub unsafe fn gradient<T: Real + Vectored>(rows: Rows, r: *mut T, sums: *mut f64, g: *const T, x: *const T, weight: *const T) {
    let shared = [r.cast_const(), g, x, weight].map(|p| Shared(p.cast_mut().cast()));
    let at_sums = Shared(sums.cast());
    let parts = rows.parts();
    parallel(parts, rows.rows.saturating_mul(rows.n) / parts, COSTLY, &|range| {
        let [r, g, x, weight] = shared.map(|p| p.get().cast::<T>());
        let all = Backward { r, sums: at_sums.get().cast(), g: g.cast_const(), x: x.cast_const(), weight: weight.cast_const() };
        simd(
            #[inline(always)]
            move |isa| {
                for part in range {
                    // SAFETY: the caller keeps this function's contract, and the processor has the level.
                    unsafe { with_register!(isa, T => gradient_part(all, rows, part)) }
                }
            },
        );
    });
}

/// Adds up the parts of the sums of [`gradient`]: number 0 is the gradient of the weight, number 1 the gradient of the bias.
///
/// # Safety
/// `sums` must be written by [`gradient`], and `end` must have room for [`Rows::weights`].
pub unsafe fn added<T: Real>(rows: Rows, sums: *const f64, k: usize, end: *mut T) {
    for j in 0..rows.weights() {
        let total = (0..rows.parts()).fold(0.0, |total, part| {
            // SAFETY: the caller keeps this function's contract.
            total + unsafe { sums.add(part * rows.sums_of_part() + k * rows.weights() + j).read() }
        });
        // SAFETY: the caller keeps this function's contract.
        unsafe { end.add(j).write(T::from_f64(total)) };
    }
}
