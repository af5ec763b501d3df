//! Accumulators of the columns of a tile.

use super::kernel::COLUMNS;
use std::mem::MaybeUninit;

/// A number for each column of a tile. It is on the stack, so that compilers know that it does not overlap the input, and vectorise. It is
/// aligned, so that no vector straddles two cache lines.
#[repr(align(64))]
pub(super) struct Columns<T>([MaybeUninit<T>; COLUMNS]);

impl<T: Copy> Columns<T> {
    /// Returns uninitialised numbers.
    #[inline(always)]
    pub(super) fn uninit() -> Columns<T> {
        Columns([const { MaybeUninit::uninit() }; COLUMNS])
    }

    /// Returns a line whose first `n` numbers are computed by `f`.
    #[inline(always)]
    pub(super) fn new(n: usize, f: impl Fn(usize) -> T) -> Columns<T> {
        debug_assert!(n <= COLUMNS);
        let mut line: Columns<T> = Columns::uninit();
        let data: *mut T = line.data();
        // SAFETY: a tile has at most as many columns as the line has room for.
        (0..n).for_each(|k| unsafe { data.add(k).write(f(k)) });
        line
    }

    #[inline(always)]
    pub(super) fn data(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }
}
