//! Layer normalisation: rows with mean 0 and variance 1, and the gradients of that.

use super::engine::{COSTLY, Shared, parallel};
use super::real::Real;
use super::simd::{Level, simd};
use super::sweep::{ColumnSums, Item, map, sums};
use super::vector::{Partial, Scalar, Vectored};
use crate::cpu::tuning::SHORT_LINES;
use crate::dtype::Element;
use crate::launch::layers::NormRows as Rows;

/// The maximum number of parts that are summed separately, and the elements and rows that are worth a part.
const MOST_PARTS: usize = 64;
const PART_ELEMENTS: usize = 1 << 15;
const PART_ROWS: usize = 32;

/// A row's `(x - mean) / deviation` as `(x - middle) * scale - shift`: the middle is the mean, rounded, and the shift is its error.
#[derive(Clone, Copy)]
struct Standard<V> {
    middle: V,
    scale: V,
    shift: V,
}

impl<V: Partial<Item: Real>> Standard<V> {
    /// Returns the mean of `f` of the elements, rounded.
    ///
    /// # Safety
    /// `x` must hold `n` elements; as for [`Register`](super::vector::Register).
    #[inline(always)]
    unsafe fn middle(x: *const Item<V>, n: usize, f: impl Fn(V) -> V + Copy) -> V {
        // SAFETY: the caller's.
        let [sum] = unsafe {
            sums::<V, 1, 1>(
                [x],
                [V::all(Element::ZERO)],
                n,
                #[inline(always)]
                |[x]| [f(x)],
            )
        };
        V::all(Element::from_f64(sum / n as f64))
    }

    /// Returns the form for a row with these means of `x - middle` and of its square, and its scale and shift.
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
unsafe fn forward_rows<V: Partial<Item: Real>>(all: Forward<Item<V>>, Rows { n, eps, .. }: Rows, rows: std::ops::Range<usize>) {
    for i in rows {
        let (mut x, mut eps, mut scaled) = (all.x.wrapping_add(i * n), eps, false);
        // SAFETY: the caller's.
        unsafe {
            let r = all.r.add(i * n);
            let standard = loop {
                let middle = Standard::<V>::middle(
                    x,
                    n,
                    #[inline(always)]
                    |x| x,
                );
                let [rest, squares] = sums::<V, 1, 2>(
                    [x],
                    [middle],
                    n,
                    #[inline(always)]
                    |[x]| [x - middle, (x - middle) * (x - middle)],
                )
                .map(|sum| sum / n as f64);
                if squares.is_finite() || scaled {
                    break Standard::around(middle, rest, squares, eps).0;
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
                (x, eps, scaled) = (r.cast_const(), eps * shrunk::<V>() * shrunk::<V>(), true);
            };
            map::<V, 3>(
                r,
                [x, all.weight, all.bias],
                n,
                #[inline(always)]
                |[x, weight, bias]| standard.at(x) * weight + bias,
            );
        }
    }
}

/// `r = (x - mean) / sqrt(variance + eps) * weight + bias` of each row.
///
/// # Safety
/// `r` and `x` must hold the rows, `weight` and `bias` one row. `r` must be `x`, or overlap no operand.
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
            move |isa| unsafe {
                match isa.level() {
                    Level::Avx512 => forward_rows::<T::Avx512>(all, rows, range),
                    _ => forward_rows::<Scalar<T>>(all, rows, range),
                }
            },
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
        let worth = (self.rows.saturating_mul(self.n) / PART_ELEMENTS).min(self.rows / PART_ROWS);
        worth.clamp(1, MOST_PARTS)
    }

    /// Returns the number of doubles that the sums of [`gradient`] need for each part. The last `2 * n` are scratch.
    pub const fn sums_of_part(self) -> usize {
        4 * self.n
    }
}

/// # Safety
/// As for [`gradient`].
#[inline(always)]
unsafe fn gradient_part<V: Partial<Item: Real>>(all: Backward<Item<V>>, rows: Rows, part: usize) {
    let Rows { rows: count, n, eps } = rows;
    let parts = rows.parts();
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let added = all.sums.wrapping_add(part * rows.sums_of_part());
        let few = added.wrapping_add(2 * n).cast::<Item<V>>();
        let width = if all.sums.is_null() { 0 } else { n };
        let mut of_weight = ColumnSums::new(few, added, width);
        let mut of_bias = ColumnSums::new(few.wrapping_add(n), added.wrapping_add(n), width);
        for i in count * part / parts..count * (part + 1) / parts {
            let (g, x) = (all.g.add(i * n), all.x.add(i * n));
            let none = V::all(Element::ZERO);
            // One pass computes the sums of the row and of its gradient. The gradient of the row is left out if the caller wants only the
            // gradients of weight and bias.
            let weight = if all.r.is_null() { g } else { all.weight };
            // Where squares of the row overflow, what is standardized is the row with a factor.
            let mut factor = 1.0;
            let (standard, scaled, [scale, shift], mean, along) = loop {
                let scaled: V = V::all(Element::from_f64(factor));
                let middle = Standard::<V>::middle(
                    x,
                    n,
                    #[inline(always)]
                    |x| x * scaled,
                );
                let fill = middle * V::all(Element::from_f64(1.0 / factor));
                let [rest, squares, mean, along] = sums::<V, 3, 4>(
                    [g, weight, x],
                    [none, none, fill],
                    n,
                    #[inline(always)]
                    |[g, weight, x]| {
                        let off = x * scaled - middle;
                        [off, off * off, g * weight, g * weight * off]
                    },
                )
                .map(|sum| sum / n as f64);
                if squares.is_finite() || factor < 1.0 {
                    let (standard, numbers) = Standard::<V>::around(middle, rest, squares, eps * factor * factor);
                    break (standard, scaled, numbers, mean, along);
                }
                factor = shrunk::<V>();
            };
            if width > 0 {
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
            }
            if all.r.is_null() {
                continue;
            }
            let (mean, along): (V, V) = (V::all(Element::from_f64(mean)), V::all(Element::from_f64(along * scale - mean * shift)));
            map::<V, 3>(
                all.r.add(i * n),
                [g, all.weight, x],
                n,
                #[inline(always)]
                |[g, weight, x]| scaled * standard.scale * (g * weight - mean - standard.at(x * scaled) * along),
            );
        }
        of_weight.finish();
        of_bias.finish();
    }
}

/// Computes the gradients of [`forward`] from the gradient `g` of its result. `r` is the gradient of `x`. `sums` are the gradients of
/// weight and bias, part by part: `n` doubles for the weight, `n` for the bias, and scratch. `r` or `sums` may be NULL.
///
/// # Safety
/// `r`, `g` and `x` must hold the rows, `weight` one row, and `sums` [`Rows::sums_of_part`] for each of [`Rows::parts`]. `r` must be `g` or
/// `x`, or overlap no operand.
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
                    unsafe {
                        match isa.level() {
                            Level::Avx512 => gradient_part::<T::Avx512>(all, rows, part),
                            _ => gradient_part::<Scalar<T>>(all, rows, part),
                        }
                    }
                }
            },
        );
    });
}

/// Adds up the parts of the sums of [`gradient`]: number 0 is the gradient of the weight, number 1 the gradient of the bias.
///
/// # Safety
/// `sums` must be written by [`gradient`], and `end` must have room for a row.
pub unsafe fn added<T: Real>(rows: Rows, sums: *const f64, k: usize, end: *mut T) {
    for j in 0..rows.n {
        let total = (0..rows.parts()).fold(0.0, |total, part| {
            // SAFETY: the caller keeps this function's contract.
            total + unsafe { sums.add(part * rows.sums_of_part() + k * rows.n + j).read() }
        });
        // SAFETY: the caller keeps this function's contract.
        unsafe { end.add(j).write(T::from_f64(total)) };
    }
}
