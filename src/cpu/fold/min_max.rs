//! The minimum and the maximum in one pass over memory.

use super::kernel::{Accumulators, FoldKernel, FoldTile};
use super::{Extreme, Lanes, Ordered};
use std::marker::PhantomData;

/// The minimum and maximum: both folds run over one tile after the other, which stays in the cache.
pub struct MinMax<T>(Lanes<Extreme<T, false>>, Lanes<Extreme<T, true>>);

impl<T> Default for MinMax<T> {
    fn default() -> MinMax<T> {
        MinMax(Lanes(Extreme(PhantomData)), Lanes(Extreme(PhantomData)))
    }
}

/// Returns the accumulators of the maxima, which follow the accumulators of the minima.
#[inline(always)]
fn greatest(accs: Accumulators) -> Accumulators {
    Accumulators { data: accs.plane(1), ..accs }
}

impl<T: Ordered> FoldKernel for MinMax<T> {
    fn planes(&self) -> usize {
        2
    }

    unsafe fn start(&self, accs: Accumulators, n: usize) {
        // SAFETY: the caller keeps this function's contract, for both folds.
        unsafe {
            self.0.start(accs, n);
            self.1.start(greatest(accs), n);
        }
    }

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        // SAFETY: the caller keeps this function's contract, for both folds.
        unsafe {
            self.0.rows(accs, tile);
            self.1.rows(greatest(accs), tile);
        }
    }

    fn fewest(&self, gaps: bool) -> usize {
        self.0.fewest(gaps)
    }

    fn tall(&self, gaps: bool) -> bool {
        self.0.tall(gaps)
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        // SAFETY: the caller keeps this function's contract, for both folds.
        unsafe {
            self.0.columns(accs, tile);
            self.1.columns(greatest(accs), tile);
        }
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, counts: [usize; 2]) {
        // SAFETY: the caller keeps this function's contract, for both folds.
        unsafe {
            self.0.merge(accs, later, n, counts);
            self.1.merge(greatest(accs), greatest(later), n, counts);
        }
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, count: usize, out: [*mut u8; 2]) {
        // SAFETY: the caller keeps this function's contract; neither fold has a second result.
        unsafe {
            self.0.finish(accs, n, count, [out[0]; 2]);
            self.1.finish(greatest(accs), n, count, [out[1]; 2]);
        }
    }
}
