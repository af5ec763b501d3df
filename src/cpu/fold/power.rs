//! Sums of powers: what any norm but the common ones needs.

use super::total::{Plain, Root, Terms};
use super::{Accs, COLUMNS, Fold, Lanes, Tile};
use crate::cpu::simd::{Isa, simd};
use crate::cpu::vmath;
use crate::dtype::Element;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The float64 sum of `|x|^p`, and then its p-th root. Powers go through a buffer, made by whole vectors and then summed.
pub struct Powers<T> {
    p: f64,
    sum: Lanes<Terms<f64, Plain>>,
    of: PhantomData<T>,
}

/// Rows of a tile that are taken together, and as many columns as fit the buffer then.
const ABREAST: usize = 4;
const ACROSS: usize = COLUMNS / ABREAST;

impl<T: Element> Powers<T> {
    /// For this p, neither 0 nor infinite.
    pub fn new(p: f64) -> Powers<T> {
        Powers { p, sum: Lanes(Terms::new(Plain, Root::Power(1.0 / p))), of: PhantomData }
    }

    /// Writes the powers of `n` elements.
    ///
    /// # Safety
    /// `x` holds them, and `to` has room for as many.
    #[inline(always)]
    unsafe fn powers(isa: Isa, p: f64, to: *mut f64, x: *const T, n: usize) {
        // SAFETY: the caller's.
        unsafe {
            for i in 0..n {
                to.add(i).write(x.add(i).read().to_f64().abs());
            }
            // The detour by the logarithm costs the last bits, which float32 does not have.
            if size_of::<T>() < 8 {
                vmath::log_run_f64(isa, to, to, n);
                for i in 0..n {
                    *to.add(i) *= p;
                }
                vmath::exp_run_f64(isa, to, to, n);
            } else {
                for i in 0..n {
                    *to.add(i) = vmath::pow_f64(isa, *to.add(i), p);
                }
            }
        }
    }

    /// Hands the powers of a tile to `sum`, some rows and columns at a time; with the tile goes the number of its first row and column.
    ///
    /// # Safety
    /// The tile lies inside its memory.
    unsafe fn each(&self, tile: &Tile, (rows, cols): (usize, usize), sum: impl Fn(usize, usize, &Tile)) {
        let (p, mut room) = (self.p, [const { MaybeUninit::<f64>::uninit() }; COLUMNS]);
        let buffer = room.as_mut_ptr().cast::<f64>();
        for row in (0..tile.rows).step_by(rows) {
            for col in (0..tile.cols).step_by(cols) {
                let (rows, cols) = (rows.min(tile.rows - row), cols.min(tile.cols - col));
                for r in 0..rows {
                    let x = tile.row::<T>(row + r).wrapping_add(col);
                    simd(
                        #[inline(always)]
                        // SAFETY: the caller's; the buffer holds `rows` times `cols` numbers.
                        move |isa| unsafe { Self::powers(isa, p, buffer.add(r * cols), x, cols) },
                    );
                }
                sum(row, col, &Tile { x: buffer.cast(), rows, cols, step: (cols * size_of::<f64>()) as isize, ..*tile });
            }
        }
    }
}

impl<T: Element> Fold for Powers<T> {
    fn planes(&self) -> usize {
        self.sum.planes()
    }

    unsafe fn start(&self, accs: Accs, n: usize) {
        // SAFETY: the caller's.
        unsafe { self.sum.start(accs, n) }
    }

    unsafe fn rows(&self, accs: Accs, tile: &Tile) {
        // SAFETY: the caller's.
        unsafe { self.each(tile, (1, COLUMNS), |row, _, powers| self.sum.rows(accs.from(row), powers)) }
    }

    unsafe fn columns(&self, accs: Accs, tile: &Tile) {
        // SAFETY: the caller's.
        unsafe { self.each(tile, (ABREAST, ACROSS), |_, col, powers| self.sum.columns(accs.from(col), powers)) }
    }

    unsafe fn merge(&self, accs: Accs, later: Accs, n: usize, counts: [usize; 2]) {
        // SAFETY: the caller's.
        unsafe { self.sum.merge(accs, later, n, counts) }
    }

    unsafe fn finish(&self, accs: Accs, n: usize, count: usize, out: [*mut u8; 2]) {
        // SAFETY: the caller's.
        unsafe { self.sum.finish(accs, n, count, out) }
    }
}

impl Accs {
    /// The accumulators from `j` on, where each is one number of 8 bytes.
    fn from(self, j: usize) -> Accs {
        Accs { data: self.data.wrapping_add(j * 8), ..self }
    }
}
