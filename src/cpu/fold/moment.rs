//! Variance: mean and sum of squared deviations, brought up to date block by block.
//!
//! A block is measured from the mean so far (Chan, Golub and LeVeque's update with the mean as shift), the first one from its first element.
//! What cancels is then at most a block's length times what stays.

use super::vector::{Vector, with_vectors};
use super::{ABREAST, Accs, Fold, Lanewise, Line, Tile, for_rows, row};
use crate::cpu::simd::{Isa, Level, simd};
use crate::dtype::Element;
use std::marker::PhantomData;

/// The variance or, with `root`, its square root: the sum of squares over the count less `correction`.
pub struct Moment<T> {
    correction: f64,
    root: bool,
    of: PhantomData<T>,
}

impl<T: Element> Moment<T> {
    /// 0 as correction gives the biased variance, 1 the unbiased one.
    pub fn new(correction: f64, root: bool) -> Moment<T> {
        Moment { correction, root, of: PhantomData }
    }
}

/// Elements of a row that are measured from one shift.
const BLOCK: usize = 2048;

/// Sums of deviations from a shift and of their squares.
#[derive(Clone, Copy)]
struct Shifted<T> {
    shift: f64,
    of: PhantomData<T>,
}

impl<T: Element> Lanewise for Shifted<T> {
    type In = T;
    type A = f64;
    type B = f64;
    type S = f64;
    type U = f64;
    type Out = f64;
    type Other = f64;
    #[inline(always)]
    fn lane(self) -> (f64, f64) {
        (0.0, 0.0)
    }
    #[inline(always)]
    fn push(self, isa: Isa, (sum, squares): (f64, f64), x: T) -> (f64, f64) {
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

/// A float whose deviations are summed.
pub trait Measured: Element {
    /// The sums of the deviations of `n` contiguous elements from `shift`, and of their squares.
    ///
    /// # Safety
    /// `x` holds them; `isa` stands for what the machine has.
    #[inline(always)]
    unsafe fn deviations(isa: Isa, shift: f64, x: *const Self, n: usize) -> (f64, f64) {
        // SAFETY: the caller's.
        unsafe { row(Shifted::<Self> { shift, of: PhantomData }, isa, x, n) }
    }
}

impl Measured for f64 {}

impl Measured for f32 {
    #[inline(always)]
    unsafe fn deviations(isa: Isa, shift: f64, x: *const f32, n: usize) -> (f64, f64) {
        // SAFETY: the caller's.
        unsafe {
            // Short vectors need more sums side by side.
            if isa.level() == Level::Baseline {
                return row(Shifted::<f32> { shift, of: PhantomData }, isa, x, n);
            }
            with_vectors!(isa, V => deviations::<V>(isa, shift, x, n))
        }
    }
}

/// [`Measured::deviations`] by whole vectors.
///
/// # Safety
/// `x` holds the elements; as for [`Vector`].
#[inline(always)]
unsafe fn deviations<V: Vector>(isa: Isa, shift: f64, x: *const f32, n: usize) -> (f64, f64) {
    // SAFETY: the caller's.
    unsafe {
        let by = V::all_wide(shift);
        let (mut even, mut odd, mut at) = ((V::nothing(), V::nothing()), (V::nothing(), V::nothing()), 0);
        while n - at >= 2 * V::WIDTH {
            even = V::above(x.add(at), by, even.0, even.1);
            odd = V::above(x.add(at + V::WIDTH), by, odd.0, odd.1);
            at += 2 * V::WIDTH;
        }
        if n - at >= V::WIDTH {
            even = V::above(x.add(at), by, even.0, even.1);
            at += V::WIDTH;
        }
        let (l, mut rest) = (Shifted { shift, of: PhantomData }, (0.0, 0.0));
        for i in at..n {
            rest = l.push(isa, rest, x.add(i).read());
        }
        let squares = V::together(even.1) + V::together(odd.1) + rest.1;
        (V::together(even.0) + V::together(odd.0) + rest.0, squares)
    }
}

/// Mean and squares of `done` elements with a block of `more`, whose deviations from `shift` are summed up; `shift` is `mean` once there is one.
#[inline(always)]
fn updated(shift: f64, squares: f64, block: (f64, f64), inverse: f64) -> (f64, f64) {
    let step = block.0 * inverse;
    // Squares that overflow are infinite; so is what is taken off them.
    let rest = if block.1 == f64::INFINITY && block.0.is_finite() { block.1 } else { block.1 - block.0 * step };
    (shift + step, squares + rest)
}

/// Folds the columns of a tile.
///
/// # Safety
/// As for [`Fold::columns`].
#[inline(always)]
unsafe fn columns<T: Element>(isa: Isa, accs: Accs, tile: Tile) {
    let (n, first) = (tile.cols, tile.row::<T>(0));
    let (means, squares) = (accs.plane::<f64>(0), accs.plane::<f64>(1));
    let (mut a, mut b) = (Line::new(n, |_| 0.0), Line::new(n, |_| 0.0));
    // SAFETY: the caller's; lines have an entry for each column.
    unsafe {
        let mut shift = if tile.done == 0 {
            Line::new(
                n,
                #[inline(always)]
                |k| first.add(k).read().to_f64(),
            )
        } else {
            Line::new(
                n,
                #[inline(always)]
                |k| means.add(k).read(),
            )
        };
        let (a, b, shift) = (a.data(), b.data(), shift.data());
        for_rows::<T>(
            &tile,
            #[inline(always)]
            |_, x| {
                for k in 0..n {
                    let l = Shifted::<T> { shift: shift.add(k).read(), of: PhantomData };
                    let mut lane = (a.add(k).read(), b.add(k).read());
                    for q in 0..ABREAST {
                        lane = l.push(isa, lane, x[q].add(k).read());
                    }
                    (*a.add(k), *b.add(k)) = lane;
                }
            },
            #[inline(always)]
            |_, x| {
                for k in 0..n {
                    let l = Shifted::<T> { shift: shift.add(k).read(), of: PhantomData };
                    (*a.add(k), *b.add(k)) = l.push(isa, (a.add(k).read(), b.add(k).read()), x.add(k).read());
                }
            },
        );
        let inverse = 1.0 / (tile.done + tile.rows) as f64;
        for k in 0..n {
            let block = (a.add(k).read(), b.add(k).read());
            (*means.add(k), *squares.add(k)) = updated(shift.add(k).read(), squares.add(k).read(), block, inverse);
        }
    }
}

impl<T: Measured> Fold for Moment<T> {
    fn planes(&self) -> usize {
        2
    }

    unsafe fn start(&self, accs: Accs, n: usize) {
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe {
                accs.plane::<f64>(0).add(j).write(0.0);
                accs.plane::<f64>(1).add(j).write(0.0);
            }
        }
    }

    unsafe fn rows(&self, accs: Accs, tile: &Tile) {
        let (means, squares, tile) = (accs.plane::<f64>(0), accs.plane::<f64>(1), *tile);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    let x = tile.row::<T>(j);
                    // SAFETY: the caller's.
                    unsafe {
                        let mut state = (means.add(j).read(), squares.add(j).read());
                        for start in (0..tile.cols).step_by(BLOCK) {
                            let (x, n, done) = (x.add(start), BLOCK.min(tile.cols - start), tile.done + start);
                            let shift = if done == 0 { x.read().to_f64() } else { state.0 };
                            let block = T::deviations(isa, shift, x, n);
                            state = updated(shift, state.1, block, 1.0 / (done + n) as f64);
                        }
                        means.add(j).write(state.0);
                        squares.add(j).write(state.1);
                    }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accs, tile: &Tile) {
        let tile = *tile;
        simd(
            #[inline(always)]
            // SAFETY: the caller's.
            move |isa| unsafe { columns::<T>(isa, accs, tile) },
        )
    }

    unsafe fn merge(&self, accs: Accs, later: Accs, n: usize, counts: [usize; 2]) {
        let [done, more] = counts.map(|c| c as f64);
        let [(means, squares), (later_means, later_squares)] = [accs, later].map(|a| (a.plane::<f64>(0), a.plane::<f64>(1)));
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe {
                let apart = later_means.add(j).read() - means.add(j).read();
                means.add(j).write(means.add(j).read() + apart * (more / (done + more)));
                let between = apart * apart * (done * more / (done + more));
                squares.add(j).write(squares.add(j).read() + later_squares.add(j).read() + between);
            }
        }
    }

    unsafe fn finish(&self, accs: Accs, n: usize, count: usize, out: [*mut u8; 2]) {
        let divisor = (count as f64 - self.correction).max(0.0);
        let (all, out, root) = (accs.plane::<f64>(1), out[0].cast::<f64>(), self.root);
        simd(
            #[inline(always)]
            move |_| {
                for j in 0..n {
                    // SAFETY: the caller's. The squares of nothing are 0, and 0 by 0 is NaN.
                    unsafe {
                        let squares = all.add(j).read();
                        // Rounding may leave a little less than nothing; NaN stays.
                        let variance = if squares < 0.0 { 0.0 } else { squares } / divisor;
                        out.add(j).write(if root { variance.sqrt() } else { variance });
                    }
                }
            },
        )
    }
}
