//! Accumulators of the columns of a tile.

use super::kernel::COLUMNS;
use std::mem::MaybeUninit;

/// A number for each column of a tile. It is on the stack, so that compilers know that it does not overlap the input, and vectorise. It is
/// aligned, so that no vector straddles two cache lines.
#[repr(align(64))]
pub(super) struct Columns<T>(MaybeUninit<[T; COLUMNS]>);

impl<T: Copy> Columns<T> {
    /// Returns uninitialised numbers.
    #[inline(always)]
    pub(super) fn uninit() -> Columns<T> {
        Columns(MaybeUninit::uninit())
    }

    /// Computes the first `n` numbers by `f`, and returns the address of the first one. If a function returned the line by value,
    /// the compiler would clear all 8 KiB, and a small reduction would take more than four times as many instructions.
    #[inline(always)]
    pub(super) fn fill(&mut self, n: usize, f: impl Fn(usize) -> T) -> *mut T {
        debug_assert!(n <= COLUMNS);
        let data: *mut T = self.data();
        // SAFETY: a tile has at most as many columns as the line has room for.
        (0..n).for_each(|k| unsafe { data.add(k).write(f(k)) });
        data
    }

    #[inline(always)]
    pub(super) fn data(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }
}
