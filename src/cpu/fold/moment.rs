//! Variance: mean and sum of squared deviations, updated block by block.
//!
//! The deviations of a block are measured from the mean so far (Chan, Golub and LeVeque's update with the mean as shift). The first block
//! is measured from its first element, or again from its mean if that element is far from the mean. So cancellation loses at most a factor
//! of [`FAR`]. The mean is a sum of two numbers. If it is large compared with the deviation, the rounding error of one number, times the
//! count of elements, would be visible in the sum of squares.
//! show in the sum of squares.

use super::Reducer;
use super::kernel::{Accumulators, FoldKernel, FoldTile, UNROLL, for_rows};
use super::line::Columns;
use super::reducer::row;
use crate::cpu::simd::{Isa, Level, simd};
use crate::cpu::vector::{Float32s, Floats, Register, by_level};
use crate::dtype::{Dtype, Element};
use std::marker::PhantomData;

/// The variance or, with `root`, its square root: the sum of squares, divided by the count minus `correction`.
pub struct Moment<T> {
    correction: f64,
    root: bool,
    of: PhantomData<T>,
}

impl<T: Element> Moment<T> {
    /// The correction is 0 for the biased variance, 1 for the unbiased one.
    pub fn new(correction: f64, root: bool) -> Moment<T> {
        Moment { correction, root, of: PhantomData }
    }
}

/// Elements of a row whose deviations are measured from one shift.
const SHIFTED: usize = 2048;

/// A block is measured again if the sum of squares around its shift is this many times the sum around its mean.
const FAR: f64 = 64.0;

/// Sums of deviations from a shift and of their squares.
#[derive(Clone, Copy)]
struct Shifted<T> {
    shift: f64,
    of: PhantomData<T>,
}

impl<T: Element> Reducer for Shifted<T> {
    type In = T;
    type A = f64;
    type B = f64;
    type S = f64;
    type U = f64;
    type Out = f64;
    type Other = f64;
    #[inline(always)]
    fn empty(self) -> (f64, f64) {
        (0.0, 0.0)
    }
    #[inline(always)]
    fn accumulate(self, isa: Isa, (sum, squares): (f64, f64), x: T) -> (f64, f64) {
        let d = x.to_f64() - self.shift;
        (sum + d, isa.fma_f64(d, d, squares))
    }
    #[inline(always)]
    fn state(self, lane: (f64, f64)) -> (f64, f64) {
        lane
    }
    #[inline(always)]
    fn merge(self, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        (a.0 + b.0, a.1 + b.1)
    }
    #[inline(always)]
    fn finish(self, state: (f64, f64), _: usize) -> (f64, f64) {
        state
    }
}

/// A float type whose deviations are summed.
pub trait Measured: Element {
    /// Returns the sum of the deviations of `n` contiguous elements from `shift`, and the sum of their squares.
    ///
    /// # Safety
    /// `x` must hold `n` elements; `isa` must be an instruction set of this processor.
    #[inline(always)]
    unsafe fn deviations(isa: Isa, shift: f64, x: *const Self, n: usize) -> (f64, f64) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { row(Shifted::<Self> { shift, of: PhantomData }, isa, x, n) }
    }
}

impl Measured for f64 {}

impl Measured for f32 {
    #[inline(always)]
    unsafe fn deviations(isa: Isa, shift: f64, x: *const f32, n: usize) -> (f64, f64) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            // Short vectors need more independent sums.
            if isa.level() == Level::Baseline {
                return row(Shifted::<f32> { shift, of: PhantomData }, isa, x, n);
            }
            by_level!(isa, f32, V => deviations::<V>(isa, shift, x, n))
        }
    }
}

/// Adds the deviations from `shift` of a register of elements at `x`, and their squares, to the sums.
///
/// # Safety
/// As for [`Float32s::load_wide`].
#[inline(always)]
unsafe fn deviate<V: Float32s>((sums, squares): (V::Wide, V::Wide), x: *const f32, shift: V::Wide) -> (V::Wide, V::Wide) {
    // SAFETY: the caller keeps this function's contract.
    let d = unsafe { V::load_wide(x) } - shift;
    (sums + d, d.fma(d, squares))
}

/// [`Measured::deviations`] by whole vectors.
///
/// # Safety
/// `x` must hold the elements; as for [`Register`].
#[inline(always)]
unsafe fn deviations<V: Float32s>(isa: Isa, shift: f64, x: *const f32, n: usize) -> (f64, f64) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let by = V::Wide::all(shift);
        let nothing = (V::Wide::all(0.0), V::Wide::all(0.0));
        let (mut even, mut odd, mut at) = (nothing, nothing, 0);
        while n - at >= 2 * V::LANES {
            even = deviate::<V>(even, x.add(at), by);
            odd = deviate::<V>(odd, x.add(at + V::LANES), by);
            at += 2 * V::LANES;
        }
        if n - at >= V::LANES {
            even = deviate::<V>(even, x.add(at), by);
            at += V::LANES;
        }
        let (l, mut rest) = (Shifted { shift, of: PhantomData }, (0.0, 0.0));
        for i in at..n {
            rest = l.accumulate(isa, rest, x.add(i).read());
        }
        (even.0.sum() + odd.0.sum() + rest.0, even.1.sum() + odd.1.sum() + rest.1)
    }
}

/// The mean and the squared deviations of the elements so far.
#[derive(Clone, Copy)]
struct Spread {
    /// The mean is `mean + rest`, where `rest` is far smaller.
    mean: f64,
    rest: f64,
    /// The sum of the squared deviations from the mean.
    squares: f64,
}

impl Spread {
    const NOTHING: Spread = Spread { mean: 0.0, rest: 0.0, squares: 0.0 };

    /// Returns entry `j` of the planes.
    ///
    /// # Safety
    /// The entry must exist.
    #[inline(always)]
    unsafe fn load(planes: [*mut f64; 3], j: usize) -> Spread {
        // SAFETY: the caller keeps this function's contract.
        unsafe { Spread { mean: planes[0].add(j).read(), rest: planes[1].add(j).read(), squares: planes[2].add(j).read() } }
    }

    /// # Safety
    /// Entry `j` must exist.
    #[inline(always)]
    unsafe fn store(self, planes: [*mut f64; 3], j: usize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            planes[0].add(j).write(self.mean);
            planes[1].add(j).write(self.rest);
            planes[2].add(j).write(self.squares);
        }
    }

    /// Returns the mean moved by `step`, still as a sum of two numbers.
    #[inline(always)]
    fn moved(self, step: f64) -> Spread {
        let rest = self.rest + step;
        let mean = self.mean + rest;
        // The rounding error of a finite sum, whichever part is larger.
        let added = mean - self.mean;
        let lost = (self.mean - (mean - added)) + (rest - added);
        Spread { mean, rest: if mean.abs() < f64::INFINITY { lost } else { 0.0 }, squares: self.squares }
    }

    /// Returns the spread of a first block of `1 / inverse` elements, given the sums of its deviations from `shift`.
    #[inline(always)]
    fn first(shift: f64, (sum, squares): (f64, f64), inverse: f64) -> Spread {
        let step = sum * inverse;
        Spread { mean: shift, rest: 0.0, squares: around(sum, squares, sum * step) }.moved(step)
    }

    /// Returns the spread including a block of elements, given the sums of its deviations from `mean`. The counts are `done` elements
    /// before, `more` in the block, and `1 / inverse` together.
    #[inline(always)]
    fn with(self, (sum, squares): (f64, f64), [done, more, inverse]: [f64; 3]) -> Spread {
        // The deviations of the earlier elements from `mean` are `rest` on average.
        let ahead = done * self.rest;
        let all = sum + ahead;
        let around = around(sum, squares, all * (all * inverse));
        let step = (sum - more * self.rest) * inverse;
        let squares = self.squares + (ahead * self.rest + around);
        Spread { squares, ..self }.moved(step)
    }
}

/// Folds the columns of a tile.
///
/// # Safety
/// As for [`FoldKernel::columns`].
#[inline(always)]
unsafe fn columns<T: Element>(isa: Isa, accs: Accumulators, tile: FoldTile) {
    let (n, first) = (tile.cols, tile.row::<T>(0));
    let planes = planes(accs);
    let (mut a, mut b, mut shift) = (Columns::uninit(), Columns::uninit(), Columns::uninit());
    // SAFETY: the caller keeps this function's contract; lines have an entry for each column.
    unsafe {
        let shift = if tile.done == 0 {
            shift.fill(
                n,
                #[inline(always)]
                |k| first.add(k).read().to_f64(),
            )
        } else {
            shift.fill(
                n,
                #[inline(always)]
                |k| planes[0].add(k).read(),
            )
        };
        let (a, b) = (a.fill(n, |_| 0.0), b.fill(n, |_| 0.0));
        let (mut measured, inverse) = (false, 1.0 / tile.rows as f64);
        loop {
            for_rows::<T>(
                &tile,
                #[inline(always)]
                |_, x| {
                    for k in 0..n {
                        let l = Shifted::<T> { shift: shift.add(k).read(), of: PhantomData };
                        let mut lane = (a.add(k).read(), b.add(k).read());
                        for q in 0..UNROLL {
                            lane = l.accumulate(isa, lane, x[q].add(k).read());
                        }
                        (*a.add(k), *b.add(k)) = lane;
                    }
                },
                #[inline(always)]
                |_, x| {
                    for k in 0..n {
                        let l = Shifted::<T> { shift: shift.add(k).read(), of: PhantomData };
                        (*a.add(k), *b.add(k)) = l.accumulate(isa, (a.add(k).read(), b.add(k).read()), x.add(k).read());
                    }
                },
            );
            let far = |k: usize| is_far::<T>((a.add(k).read(), b.add(k).read()), inverse);
            if measured || tile.done > 0 || !(0..n).fold(false, |any, k| any | far(k)) {
                break;
            }
            measured = true;
            for k in 0..n {
                *shift.add(k) += if far(k) { a.add(k).read() / tile.rows as f64 } else { 0.0 };
                (*a.add(k), *b.add(k)) = (0.0, 0.0);
            }
        }
        if T::DTYPE == Dtype::Float64 && (0..n).fold(false, |any, k| any | !a.add(k).read().is_finite()) {
            for k in 0..n {
                let column = (0..tile.rows).map(|j| tile.row::<T>(j).add(k).read());
                (*a.add(k), *b.add(k)) = overflowed::<T>((a.add(k).read(), b.add(k).read()), shift.add(k).read(), column);
            }
        }
        let counts = counts(tile.done, tile.rows);
        for k in 0..n {
            let before = Spread { mean: shift.add(k).read(), ..Spread::load(planes, k) };
            before.with((a.add(k).read(), b.add(k).read()), counts).store(planes, k);
        }
    }
}

/// `squares - less`. If the sum is finite and the squares overflowed, the result is infinite: `less` may be infinite, too, and the
/// difference NaN.
#[inline(always)]
fn around(sum: f64, squares: f64, less: f64) -> f64 {
    if squares == f64::INFINITY && sum.is_finite() { squares } else { squares - less }
}

/// Returns true if the shift of these deviations is far from the mean of the `1 / inverse` elements, compared with the deviations. Only
/// float64 has no spare digits.
#[inline(always)]
fn is_far<T: Element>((sum, squares): (f64, f64), inverse: f64) -> bool {
    T::DTYPE == Dtype::Float64 && squares - sum * (sum * inverse) < squares * (1.0 / FAR)
}

/// Returns the sums of deviations from `shift`. If the sum of finite elements overflowed, only the sum of squares is infinite in the
/// result, so that the variance is infinite.
#[inline(always)]
fn overflowed<T: Element>(sums: (f64, f64), shift: f64, mut elements: impl Iterator<Item = T>) -> (f64, f64) {
    let may = T::DTYPE == Dtype::Float64 && !sums.0.is_finite() && shift.is_finite();
    if may && elements.all(|x| x.to_f64().is_finite()) { (0.0, f64::INFINITY) } else { sums }
}

/// Returns the counts for [`Spread::with`], for `done` elements and `more`.
#[inline(always)]
fn counts(done: usize, more: usize) -> [f64; 3] {
    [done as f64, more as f64, 1.0 / (done + more) as f64]
}

#[inline(always)]
fn planes(accs: Accumulators) -> [*mut f64; 3] {
    [accs.plane(0), accs.plane(1), accs.plane(2)]
}

impl<T: Measured> FoldKernel for Moment<T> {
    fn planes(&self) -> usize {
        3
    }

    unsafe fn start(&self, accs: Accumulators, n: usize) {
        let planes = planes(accs);
        // SAFETY: the caller keeps this function's contract.
        (0..n).for_each(|j| unsafe { Spread::NOTHING.store(planes, j) })
    }

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        let (planes, tile) = (planes(accs), *tile);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    let x = tile.row::<T>(j);
                    // SAFETY: the caller keeps this function's contract.
                    unsafe {
                        let mut state = if tile.done == 0 { Spread::NOTHING } else { Spread::load(planes, j) };
                        for start in (0..tile.cols).step_by(SHIFTED) {
                            let (x, n, done) = (x.add(start), SHIFTED.min(tile.cols - start), tile.done + start);
                            let mut shift = if done == 0 { x.read().to_f64() } else { state.mean };
                            let mut block = T::deviations(isa, shift, x, n);
                            if done == 0 && is_far::<T>(block, 1.0 / n as f64) {
                                shift += block.0 / n as f64;
                                block = T::deviations(isa, shift, x, n);
                            }
                            let block = overflowed::<T>(block, shift, (0..n).map(|i| x.add(i).read()));
                            state = match done {
                                0 => Spread::first(shift, block, 1.0 / n as f64),
                                _ => state.with(block, counts(done, n)),
                            };
                        }
                        state.store(planes, j);
                    }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        let tile = *tile;
        simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract.
            move |isa| unsafe { columns::<T>(isa, accs, tile) },
        )
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, counts: [usize; 2]) {
        let [done, more] = counts.map(|c| c as f64);
        let (planes, later, part, between) = (planes(accs), planes(later), more / (done + more), done * more / (done + more));
        simd(
            #[inline(always)]
            move |_| {
                for j in 0..n {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe {
                        let (before, later) = (Spread::load(planes, j), Spread::load(later, j));
                        let difference = (later.mean - before.mean) + (later.rest - before.rest);
                        let squares = before.squares + later.squares + difference * difference * between;
                        // The difference of the finite means overflows. The squares are then infinite, and the mean stays finite.
                        let step = if difference.is_infinite() && before.mean.is_finite() && later.mean.is_finite() {
                            0.0
                        } else {
                            difference * part
                        };
                        Spread { squares, ..before }.moved(step).store(planes, j);
                    }
                }
            },
        )
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, count: usize, out: [*mut u8; 2]) {
        // Without elements, 0 / 0 gives NaN.
        let divisor = if count == 0 { 0.0 } else { (count as f64 - self.correction).max(0.0) };
        let (all, out, root) = (planes(accs)[2], out[0].cast::<f64>(), self.root);
        simd(
            #[inline(always)]
            move |_| {
                for j in 0..n {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe {
                        let squares = all.add(j).read();
                        // Rounding may leave a negative number. NaN is kept.
                        let variance = if squares < 0.0 { 0.0 } else { squares } / divisor;
                        out.add(j).write(if root { variance.sqrt() } else { variance });
                    }
                }
            },
        )
    }
}
