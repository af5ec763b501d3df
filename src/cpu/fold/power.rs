//! Sums of powers, for norms of any exponent.
//!
//! Elements whose powers would leave the range of float64 are first divided by the element with the greatest power: the greatest element,
//! or the smallest if the exponent is negative. An accumulator is a sum and the divisor of its elements, which is usually 1.

use super::kernel::{Accumulators, COLUMNS, FoldKernel, FoldTile};
use super::line::Columns;
use super::total::{Plain, Square, Terms};
use super::{Lanes, Reducer};
use crate::cpu::simd::{Isa, simd};
use crate::cpu::vmath;
use crate::dtype::Element;
use crate::launch::Root;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The float64 sum of `|x|^p`, followed by its p-th root.
pub struct Powers<T> {
    p: f64,
    /// True if powers must have all bits of float64.
    exact: bool,
    /// The powers of magnitudes between these two can be summed without a divisor.
    safe: [f64; 2],
    of: PhantomData<T>,
}

/// Rows of a tile that are processed together, and the number of columns that then fit the buffer.
const UNROLL: usize = 4;
const ACROSS: usize = COLUMNS / UNROLL;
/// Rows whose squares are summed before the sums are checked.
const SQUARE_ROWS: usize = 64;
/// Sums of powers stay below two to this power.
const ROOM: f64 = 900.0;

/// A buffer for the powers of a few elements.
type Buffer = [MaybeUninit<f64>; COLUMNS];

impl<T: Element> Powers<T> {
    /// Returns the fold for an exponent `p` that is neither 0 nor infinite. Powers are `exact`, or as accurate as float32.
    pub fn new(p: f64, exact: bool) -> Powers<T> {
        let reach = ROOM / p.abs();
        Powers { p, exact: exact || size_of::<T>() == 8, safe: [(-reach).exp2(), reach.exp2()], of: PhantomData }
    }

    /// Returns the divisor of elements, of which `most` has the greatest power.
    #[inline(always)]
    fn scale(&self, most: f64) -> f64 {
        let safe = (self.safe[0] <= most) & (most <= self.safe[1]);
        if safe | (most == 0.0) | (most == f64::INFINITY) { 1.0 } else { most }
    }

    /// Returns the number with the greater power. A NaN need not be returned, because it shows in the sum.
    #[inline(always)]
    fn greater(up: bool, a: f64, b: f64) -> f64 {
        if if up { b > a } else { b < a } { b } else { a }
    }

    /// Returns the element of `n` with the greatest power.
    ///
    /// # Safety
    /// `x` must hold `n` elements.
    #[inline(always)]
    unsafe fn most(up: bool, x: *const f64, n: usize) -> f64 {
        const EXTREMES: usize = 16;
        let mut lanes = [if up { 0.0 } else { f64::INFINITY }; EXTREMES];
        let whole = n - n % EXTREMES;
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            for at in (0..whole).step_by(EXTREMES) {
                for k in 0..EXTREMES {
                    lanes[k] = Self::greater(up, lanes[k], x.add(at + k).read());
                }
            }
            for i in whole..n {
                lanes[0] = Self::greater(up, lanes[0], x.add(i).read());
            }
        }
        for k in 1..EXTREMES {
            lanes[0] = Self::greater(up, lanes[0], lanes[k]);
        }
        lanes[0]
    }

    /// Writes the magnitudes of `n` elements.
    ///
    /// # Safety
    /// `x` must hold `n` elements, and `to` must have room for them.
    #[inline(always)]
    unsafe fn magnitudes(to: *mut f64, x: *const T, n: usize) {
        for i in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe { to.add(i).write(x.add(i).read().to_f64().abs()) }
        }
    }

    /// Replaces `n` magnitudes by their powers.
    ///
    /// # Safety
    /// `to` must hold `n` magnitudes.
    #[inline(always)]
    unsafe fn raise(isa: Isa, p: f64, exact: bool, to: *mut f64, n: usize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if p == 3.0 || p == 4.0 {
                for i in 0..n {
                    let x = to.add(i).read();
                    let square = x * x;
                    to.add(i).write(square * if p == 3.0 { x } else { square });
                }
                return;
            }
            if exact {
                for i in 0..n {
                    *to.add(i) = vmath::pow_f64(isa, *to.add(i), p);
                }
                return;
            }
            // exp(p log x) is wrong in the last bits of float64, which a float32 result does not have.
            vmath::log_run_f64(isa, to, to, n);
            for i in 0..n {
                *to.add(i) *= p;
            }
            vmath::exp_run_f64(isa, to, to, n);
        }
    }

    /// Returns the accumulator of up to [`COLUMNS`] contiguous elements.
    ///
    /// # Safety
    /// `x` must hold `n` elements.
    unsafe fn of_piece(&self, x: *const T, n: usize, buffer: &mut Buffer) -> [f64; 2] {
        let (p, exact, to, mut sum) = (self.p, self.exact, buffer.as_mut_ptr().cast::<f64>(), 0.0);
        let most = simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract; the buffer has room for a piece.
            move |_| unsafe {
                Self::magnitudes(to, x, n);
                Self::most(p > 0.0, to, n)
            },
        );
        let scale = self.scale(most);
        let (powers, accs) = (Lanes(Terms::<f64, _>::new(Plain, Root::Itself)), Accumulators { data: (&raw mut sum).cast(), capacity: 1 });
        // SAFETY: the buffer holds the magnitudes, and there is one accumulator.
        unsafe {
            if scale != 1.0 {
                (0..n).for_each(|i| *to.add(i) /= scale);
            }
            simd(
                #[inline(always)]
                move |isa| Self::raise(isa, p, exact, to, n),
            );
            powers.rows(accs, &FoldTile { x: to.cast(), rows: 1, cols: n, step: 0, done: 0, index: 0, weight: 0 });
        }
        [sum, scale]
    }

    /// Merges two accumulators.
    fn joined(&self, [a, a_scale]: [f64; 2], [b, b_scale]: [f64; 2]) -> [f64; 2] {
        if a_scale == b_scale || b == 0.0 {
            return [a + b, a_scale];
        }
        if a == 0.0 {
            return [b, b_scale];
        }
        let first = Self::greater(self.p > 0.0, a_scale, b_scale) == a_scale;
        let (most, least) = if first { ([a, a_scale], [b, b_scale]) } else { ([b, b_scale], [a, a_scale]) };
        let less = if least[0].is_finite() { least[0] * (least[1] / most[1]).powf(self.p) } else { least[0] };
        [most[0] + less, most[1]]
    }

    /// Adds `more` to accumulator `j`.
    ///
    /// # Safety
    /// The accumulator must exist.
    unsafe fn take(&self, accs: Accumulators, j: usize, more: [f64; 2]) {
        let planes = [accs.plane::<f64>(0).wrapping_add(j), accs.plane::<f64>(1).wrapping_add(j)];
        // SAFETY: the caller keeps this function's contract.
        unsafe { [*planes[0], *planes[1]] = self.joined([*planes[0], *planes[1]], more) }
    }

    /// Adds the powers of up to [`UNROLL`] times [`ACROSS`] elements to accumulators from `j` on, if all are safe. Otherwise returns false.
    ///
    /// # Safety
    /// The tile must be inside its memory, and there must be as many accumulators as columns.
    unsafe fn add_block(&self, accs: Accumulators, j: usize, tile: &FoldTile, buffer: &mut Buffer) -> bool {
        let (p, exact, safe, to, tile) = (self.p, self.exact, self.safe, buffer.as_mut_ptr().cast::<f64>(), *tile);
        let (sums, scales) = (accs.plane::<f64>(0).wrapping_add(j), accs.plane::<f64>(1).wrapping_add(j));
        simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract; the buffer has room for the elements of the tile.
            move |isa| unsafe {
                for r in 0..tile.rows {
                    Self::magnitudes(to.add(r * tile.cols), tile.row(r), tile.cols);
                }
                let mut rejected = 0u64;
                let mut most = [if p > 0.0 { 0.0 } else { f64::INFINITY }; ACROSS];
                for r in 0..tile.rows {
                    for k in 0..tile.cols {
                        most[k] = Self::greater(p > 0.0, most[k], to.add(r * tile.cols + k).read());
                    }
                }
                for k in 0..tile.cols {
                    let safe = (safe[0] <= most[k]) & (most[k] <= safe[1]) | (most[k] == 0.0) | (most[k] == f64::INFINITY);
                    rejected |= u64::from(!safe | (scales.add(k).read() != 1.0));
                }
                if rejected == 0 {
                    Self::raise(isa, p, exact, to, tile.rows * tile.cols);
                    for r in 0..tile.rows {
                        for k in 0..tile.cols {
                            *sums.add(k) += to.add(r * tile.cols + k).read();
                        }
                    }
                }
                rejected == 0
            },
        )
    }
}

impl<T: Element> FoldKernel for Powers<T> {
    fn planes(&self) -> usize {
        2
    }

    unsafe fn start(&self, accs: Accumulators, n: usize) {
        for j in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                accs.plane::<f64>(0).add(j).write(0.0);
                accs.plane::<f64>(1).add(j).write(1.0);
            }
        }
    }

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        let mut buffer = [const { MaybeUninit::uninit() }; COLUMNS];
        for j in 0..tile.rows {
            for at in (0..tile.cols).step_by(COLUMNS) {
                // SAFETY: the caller keeps this function's contract.
                unsafe {
                    let piece = self.of_piece(tile.row::<T>(j).add(at), COLUMNS.min(tile.cols - at), &mut buffer);
                    self.take(accs, j, piece);
                }
            }
        }
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        let mut buffer = [const { MaybeUninit::uninit() }; COLUMNS];
        for row in (0..tile.rows).step_by(UNROLL) {
            for col in (0..tile.cols).step_by(ACROSS) {
                let (rows, cols) = (UNROLL.min(tile.rows - row), ACROSS.min(tile.cols - col));
                let part = FoldTile { x: tile.row::<T>(row).wrapping_add(col).cast(), rows, cols, ..*tile };
                // SAFETY: the caller keeps this function's contract.
                unsafe {
                    if self.add_block(accs, col, &part, &mut buffer) {
                        continue;
                    }
                    for k in 0..cols {
                        for r in 0..rows {
                            let piece = self.of_piece(part.row::<T>(r).add(k), 1, &mut buffer);
                            self.take(accs, col + k, piece);
                        }
                    }
                }
            }
        }
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, _: [usize; 2]) {
        for j in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe { self.take(accs, j, [later.plane::<f64>(0).add(j).read(), later.plane::<f64>(1).add(j).read()]) }
        }
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, _: usize, out: [*mut u8; 2]) {
        // 1 / p as a sum of two numbers, because the rounding error of 1 / p is multiplied by the logarithm of the sum.
        let inverse = 1.0 / self.p;
        let lost = (-inverse).mul_add(self.p, 1.0) / self.p;
        for j in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                let (sum, scale) = (accs.plane::<f64>(0).add(j).read(), accs.plane::<f64>(1).add(j).read());
                let root = sum.powf(inverse);
                let root = if sum > 0.0 && sum < f64::INFINITY && root < f64::INFINITY { root + root * (lost * sum.ln()) } else { root };
                out[0].cast::<f64>().add(j).write(scale * root);
            }
        }
    }
}

/// The root of the sum of squares of float64, in float64. Squares outside the range are left to [`Powers`].
pub struct Squares {
    sum: Lanes<Terms<f64, Square>>,
    powers: Powers<f64>,
}

impl Default for Squares {
    fn default() -> Squares {
        Squares { sum: Lanes(Terms::new(Square, Root::Itself)), powers: Powers::new(2.0, true) }
    }
}

impl Squares {
    /// Returns true if no square that matters in this sum underflowed or overflowed. Any number of such sums can be added.
    #[inline(always)]
    fn good(sum: f64) -> bool {
        (1e-280..1e280).contains(&sum)
    }

    /// Adds `n` sums to accumulators if all are good and no accumulator has a divisor. Otherwise changes nothing and returns true.
    ///
    /// # Safety
    /// `n` sums and accumulators must exist.
    #[inline(always)]
    unsafe fn added(planes: [*mut f64; 2], sums: *const f64, n: usize) -> bool {
        let mut bad = 0;
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            for k in 0..n {
                bad |= u64::from(!Self::good(sums.add(k).read()) | (planes[1].add(k).read() != 1.0));
            }
            if bad == 0 {
                for k in 0..n {
                    *planes[0].add(k) += sums.add(k).read();
                }
            }
        }
        bad != 0
    }
}

impl FoldKernel for Squares {
    fn planes(&self) -> usize {
        2
    }

    unsafe fn start(&self, accs: Accumulators, n: usize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.powers.start(accs, n) }
    }

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        let (terms, tile, planes) = (self.sum.0, *tile, [accs.plane::<f64>(0), accs.plane::<f64>(1)]);
        let mut line = Columns::uninit();
        let sums: *mut f64 = line.fill(SQUARE_ROWS, |_| 0.0);
        for first in (0..tile.rows).step_by(SQUARE_ROWS) {
            let rows = SQUARE_ROWS.min(tile.rows - first);
            let bad = simd(
                #[inline(always)]
                // SAFETY: the caller keeps this function's contract; the line has an entry for each row.
                move |isa| unsafe {
                    for j in 0..rows {
                        sums.add(j).write(terms.of_row(isa, tile.row(first + j), tile.cols).0);
                    }
                    Self::added([planes[0].add(first), planes[1].add(first)], sums, rows)
                },
            );
            for j in (0..rows).filter(|_| bad) {
                // SAFETY: the caller keeps this function's contract.
                unsafe {
                    let at = Accumulators { data: accs.data.add((first + j) * 8), ..accs };
                    match sums.add(j).read() {
                        sum if Self::good(sum) => self.powers.take(at, 0, [sum, 1.0]),
                        _ => self.powers.rows(at, &FoldTile { x: tile.row(first + j), rows: 1, ..tile }),
                    }
                }
            }
        }
    }

    fn fewest(&self, gaps: bool) -> usize {
        self.sum.fewest(gaps)
    }

    fn tall(&self, gaps: bool) -> bool {
        self.sum.tall(gaps)
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        let mut line = Columns::uninit();
        let sums = line.fill(tile.cols, |_| 0.0);
        // SAFETY: the caller keeps this function's contract; the line has an entry for each column.
        unsafe {
            self.sum.columns(Accumulators { data: sums.cast(), capacity: COLUMNS }, tile);
            let (cols, planes) = (tile.cols, [accs.plane::<f64>(0), accs.plane::<f64>(1)]);
            let bad = simd(
                #[inline(always)]
                move |_| Self::added(planes, sums, cols),
            );
            if bad {
                self.powers.columns(accs, tile);
            }
        }
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, counts: [usize; 2]) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.powers.merge(accs, later, n, counts) }
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, _: usize, out: [*mut u8; 2]) {
        for j in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                let (sum, scale) = (accs.plane::<f64>(0).add(j).read(), accs.plane::<f64>(1).add(j).read());
                out[0].cast::<f64>().add(j).write(scale * sum.sqrt());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the norms of the rows and of the columns of a tile of elements.
    fn norms<T: Element>(fold: &dyn FoldKernel, x: &[T], rows: usize, cols: usize) -> [Vec<f64>; 2] {
        let tile = FoldTile { x: x.as_ptr().cast(), rows, cols, step: (cols * size_of::<T>()) as isize, done: 0, index: 0, weight: 1 };
        [(rows, cols), (cols, rows)].map(|(n, count)| {
            let (mut memory, mut out) = (vec![0u64; 2 * n], vec![0.0; n]);
            let accs = Accumulators { data: memory.as_mut_ptr().cast(), capacity: n };
            // SAFETY: accumulators and results have room for the rows and the columns.
            unsafe {
                fold.start(accs, n);
                if (n, count) == (rows, cols) {
                    fold.rows(accs, &tile)
                } else {
                    fold.columns(accs, &tile)
                }
                fold.finish(accs, n, count, [out.as_mut_ptr().cast(), std::ptr::null_mut()]);
            }
            out
        })
    }

    #[test]
    fn powers_that_float64_has_no_room_for_leave_norms_right() {
        // k elements x have the norm k^(1/p) |x|.
        for x in [1e-300, 1e-10, 0.3, 1.0, 7.0, 1e10, 1e300, 5e-324] {
            for p in [0.5, 3.0, 100.0, 2000.0, -2.0, -100.0] {
                let norm = |k: f64| k.powf(1.0 / p) * x;
                for (n, cols) in [(1, 1), (9, 31), (40, 1000)] {
                    let got = norms::<f64>(&Powers::<f64>::new(p, true), &vec![-x; n * cols], n, cols);
                    for (got, expected) in got.iter().zip([norm(cols as f64), norm(n as f64)]) {
                        let error = 1e-13 * expected + 5e-324;
                        assert!(got.iter().all(|got| (got - expected).abs() <= error || *got == expected), "{x:e}, {p}: {}", got[0]);
                    }
                }
            }
        }
    }

    #[test]
    fn roots_beyond_float64_are_infinite() {
        for (x, n, p) in [(1.0, 300, 1.0 / 128.0), (1.0, 3, 0.001), (1e308, 4, 0.5)] {
            for got in norms::<f64>(&Powers::<f64>::new(p, true), &vec![x; n], 1, n)[0].iter() {
                assert_eq!(*got, f64::INFINITY, "{n} of {x:e}, {p}");
            }
        }
    }

    #[test]
    fn what_counts_most_may_come_late() {
        for (first, last) in [(1e-300, 1e300), (1.0, 1e200), (1e200, 1.0), (1e-200, 1.0), (0.0, 1e-200), (1e-200, 0.0)] {
            let mut x = vec![0.0; 3 * 1000];
            (x[0], x[2999]) = (first, last);
            let most = f64::max(first, last);
            for fold in [&Powers::<f64>::new(4.0, true) as &dyn FoldKernel, &Squares::default()] {
                assert_eq!(norms(fold, &x, 1, 1000)[0], [first]);
                assert!((norms(fold, &x[2000..], 1, 1000)[0][0] / last - 1.0).abs() < 1e-15 || last == 0.0);
                let columns = &norms(fold, &x, 3000, 1)[1];
                assert!((columns[0] / most - 1.0).abs() < 1e-15, "{first:e}, {last:e}: {}", columns[0]);
            }
        }
    }

    #[test]
    fn squares_that_float64_has_no_room_for_leave_norms_right() {
        for x in [1e-300, 1e-160, 1e-140, 1.0, 1e200] {
            for got in norms(&Squares::default(), &[3.0 * x, 4.0 * x, 3.0 * x, 4.0 * x], 2, 2)[0].iter() {
                assert!((got / (5.0 * x) - 1.0).abs() < 1e-15, "{x:e}: {got:e}");
            }
        }
    }

    #[test]
    fn infinity_and_nan_come_through() {
        for (special, expected) in [(f64::INFINITY, f64::INFINITY), (f64::NAN, f64::NAN)] {
            for rest in [1e-200, 1.0, 1e200] {
                let mut x = vec![rest; 20 * 40];
                x[19 * 40 + 39] = special;
                for fold in [&Powers::<f64>::new(4.0, true) as &dyn FoldKernel, &Squares::default()] {
                    let [along, across] = norms(fold, &x, 20, 40);
                    for got in [along[19], across[39]] {
                        assert!(got == expected || (got.is_nan() && expected.is_nan()), "{got}, not {expected}");
                    }
                    assert!(along[0].is_finite() && across[0].is_finite());
                }
            }
        }
        assert_eq!(norms(&Powers::<f64>::new(-3.0, true), &[0.0, 1.0, f64::INFINITY], 1, 3)[0], [0.0]);
    }
}
