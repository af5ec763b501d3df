//! Tiles of operands that their kernel cannot use in place.

use super::rows::Kernel;
use super::{Job, Rows, Shared};
use crate::cpu::copy::{Side, TileCopy};
use crate::cpu::stream;
use crate::cpu::tuning::PREFETCH_FROM;
use crate::plan::{Plan, Tile, each};
use std::mem::MaybeUninit;

/// The number of elements of any type that fit a staging buffer.
pub(super) const STAGE: usize = 2048;
/// The number of rows in a staged tile.
pub(super) const STAGE_ROWS: usize = 16;

/// Memory for a tile of one operand, or for one row of the tile.
#[repr(align(64))]
pub(super) struct Buffer(MaybeUninit<[u8; STAGE * 8]>);

impl Buffer {
    #[inline(always)]
    pub(super) const fn new() -> Buffer {
        Buffer(MaybeUninit::uninit())
    }

    #[inline(always)]
    pub(super) fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Copies tiles into the form that kernels need, and results back.
pub struct Stager<const N: usize> {
    data: [Shared; N],
    item: [usize; N],
    /// Bytes of an element in the kernel's type.
    wide: [usize; N],
    /// The operands that go through their buffer.
    pub staged: [bool; N],
    /// True if the kernel gets all rows of a tile as one run. Rows of operands that are not staged then follow each other without gaps.
    whole: bool,
    /// Inputs with one value for each row that the kernel uses in place.
    row_scalar: [bool; N],
    /// True if the kernel gets all rows of a tile at once, with any distance between rows.
    by_rows: bool,
    /// Other inputs with one value for each row, which differs from row to row. Their buffer holds one row.
    pub repeats: [bool; N],
    copies: [TileCopy; N],
    /// Operands larger than the L2 cache whose tiles are columns far apart, which the hardware prefetcher does not recognise. Prefetching
    /// did not pay where a column is one cache line.
    far_columns: [bool; N],
    streamed: bool,
}

impl<const N: usize> Stager<N> {
    pub fn new(job: &Job<N>, plan: &Plan<N>, streamed: bool, whole: bool, by_rows: bool) -> Stager<N> {
        let contiguous = |k: usize| plan.loops()[0].step[k] == plan.item[k] as isize;
        let lies = |k: usize| if whole { joins_rows(plan, k) } else { contiguous(k) };
        let lies_on_input = job.result_is_input();
        let row_scalar: [bool; N] = each(|k| by_rows && !whole && k > 0 && plan.loops()[0].step[k] == 0 && job.dtype[k] == job.compute[k]);
        let far = plan.bytes() >= PREFETCH_FROM;
        Stager {
            data: job.shared(),
            item: plan.item,
            wide: job.compute_sizes(),
            staged: each(|k| {
                !(lies(k) || row_scalar[k]) || job.dtype[k] != job.compute[k] || (k == 0 && (streamed || lies_on_input && !by_rows))
            }),
            whole,
            row_scalar,
            by_rows,
            repeats: each(|k| {
                k > 0 && !whole && !row_scalar[k] && plan.loops()[0].step[k] == 0 && plan.loops().get(1).is_some_and(|l| l.step[k] != 0)
            }),
            copies: each(
                |k| {
                    if k == 0 { TileCopy::new(job.dtype[0], job.compute[0]) } else { TileCopy::new(job.compute[k], job.dtype[k]) }
                },
            ),
            far_columns: each(|k| {
                let (first, second) = (plan.loops()[0].step[k], plan.loops().get(1).map_or(0, |l| l.step[k]));
                k > 0 && !contiguous(k) && first != 0 && second == plan.item[k] as isize && plan.item[k] * STAGE_ROWS > stream::LINE && far
            }),
            streamed,
        }
    }

    /// Prefetches a share of a tile: the columns `at`, `at + step`, ... of the operands in [`far_columns`](Self::far_columns).
    #[inline(always)]
    fn prefetch_columns(&self, tile: &Tile<N>, at: usize, step: usize) {
        for k in (1..N).filter(|&k| self.far_columns[k]) {
            let side = Side::of(tile, k, self.data[k].get());
            for c in (at..tile.cols).step_by(step) {
                stream::prefetch_near(side.data.wrapping_offset(c as isize * side.col_step), tile.rows * self.item[k]);
            }
        }
    }

    /// Prefetches memory that is needed after a row of a tile: a share of the next tile and, if the result is streamed, the next row of the
    /// inputs that are read in place. Their runs are too short for the hardware prefetcher.
    #[inline(always)]
    fn ask_with_row(&self, tile: &Tile<N>, next: &Tile<N>, row: usize) {
        self.prefetch_columns(next, row, tile.rows);
        if self.streamed && tile.rows > 1 {
            let (tile, row) = if row + 1 < tile.rows { (tile, row + 1) } else { (next, 0) };
            for k in (1..N).filter(|&k| !self.staged[k]) {
                let side = Side::of(tile, k, self.data[k].get());
                stream::prefetch(side.data.wrapping_offset(row as isize * side.row_step), tile.cols * self.item[k]);
            }
        }
    }

    /// Returns true if [`Stager::tile`] is faster when it knows the next tile.
    pub fn prefetches(&self) -> bool {
        self.streamed || self.far_columns.contains(&true)
    }

    /// Runs the kernel on one tile, and prefetches the `next` tile meanwhile.
    ///
    /// # Safety
    /// The tile must be inside every operand. A buffer must have room for the part of the tile that goes through the buffer.
    pub unsafe fn tile(
        &self,
        tile: &Tile<N>,
        next: Option<&Tile<N>>,
        buffers: [*mut u8; N],
        filled: &mut [(*mut u8, usize); N],
        kernel: Kernel<'_, N>,
    ) {
        let (rows, cols) = (tile.rows, tile.cols);
        let mut at: [Side; N] = each(|k| Side::of(tile, k, self.data[k].get()));
        let whole = self.whole || self.staged.iter().all(|&s| s);
        for k in 0..N {
            if !self.staged[k] {
                continue;
            }
            let (source, wide) = (at[k], self.wide[k] as isize);
            if self.repeats[k] && rows > 1 && !whole {
                filled[k] = (std::ptr::null_mut(), 0);
                continue;
            }
            at[k] = Side { data: buffers[k], row_step: wide * cols as isize, col_step: wide };
            if k == 0 {
                continue;
            }
            // A value that all elements of the tile share is written to the buffer once. So is a row that all rows of a whole tile share.
            let stands = source.row_step == 0 || rows == 1;
            let (value, row) = (stands && source.col_step == 0, stands && self.whole);
            if (value || row) && filled[k].0 == source.data && filled[k].1 >= rows * cols {
                continue;
            }
            filled[k] = if value || row { (source.data, rows * cols) } else { (std::ptr::null_mut(), 0) };
            // SAFETY: the caller guarantees that the tile is inside the operand, and the buffer has room for STAGE elements of 8 bytes.
            unsafe {
                if value {
                    self.copies[k].copy(Side { row_step: 0, ..at[k] }, source, 1, rows * cols);
                } else if row {
                    self.copies[k].copy(at[k], source, 1, cols);
                    repeat(buffers[k], cols * self.wide[k], rows);
                } else {
                    self.copies[k].copy(at[k], source, rows, cols);
                }
            }
        }
        if whole {
            next.into_iter().for_each(|next| self.prefetch_columns(next, 0, 1));
            kernel(&Rows::one(each(|k| at[k].data), rows * cols));
        } else if self.by_rows && next.is_none() && !self.repeats.contains(&true) {
            kernel(&Rows { at: each(|k| at[k].data), step: each(|k| at[k].row_step), row_scalar: self.row_scalar, rows, cols });
        } else {
            // SAFETY: the caller guarantees that the tile is inside every operand; the buffers hold the staged ones.
            unsafe {
                match next {
                    Some(next) => self.rows(tile, at, buffers, kernel, |row| self.ask_with_row(tile, next, row)),
                    None => self.rows(tile, at, buffers, kernel, |_| ()),
                }
            }
        }
        if self.staged[0] {
            // SAFETY: the caller guarantees that the tile is inside the result.
            unsafe { self.store(tile, at[0]) }
        }
    }

    /// Runs the kernel on each row of a tile with operands `at` these places. Calls `before` before each row.
    ///
    /// # Safety
    /// As for [`Stager::tile`].
    #[inline(always)]
    unsafe fn rows(&self, tile: &Tile<N>, at: [Side; N], buffers: [*mut u8; N], kernel: Kernel<'_, N>, before: impl Fn(usize)) {
        for row in 0..tile.rows {
            before(row);
            // The pointers are computed anew for each row. If the pointers of the previous row were advanced, their loads would wait for
            // the stores.
            let given = each(|k| {
                let start = at[k].data.wrapping_offset(row as isize * at[k].row_step);
                if !self.repeats[k] || tile.rows == 1 {
                    return start;
                }
                // SAFETY: the caller guarantees that the row is inside the input, and the buffer has room for a row.
                unsafe { self.copies[k].repeat(buffers[k], start, tile.cols) }
                buffers[k]
            });
            kernel(&Rows { row_scalar: self.row_scalar, ..Rows::one(given, tile.cols) });
        }
    }

    /// # Safety
    /// As for [`Stager::tile`].
    unsafe fn store(&self, tile: &Tile<N>, from: Side) {
        let to = Side::of(tile, 0, self.data[0].get());
        // SAFETY: the caller guarantees that the tile is inside the result and that `from` holds it.
        unsafe {
            if self.streamed && self.item[0] == self.wide[0] {
                let joined = self.whole && to.row_step == (tile.cols * self.item[0]) as isize;
                let (rows, cols) = if joined { (1, tile.rows * tile.cols) } else { (tile.rows, tile.cols) };
                for r in 0..rows as isize {
                    let (dst, src) = (to.data.offset(r * to.row_step), from.data.offset(r * from.row_step));
                    stream::copy_stream(dst, src, cols * self.item[0]);
                }
            } else {
                self.copies[0].copy(to, from, tile.rows, tile.cols);
            }
        }
    }
}

/// Returns true if operand `k` continues from row to row without a gap.
fn joins_rows<const N: usize>(plan: &Plan<N>, k: usize) -> bool {
    let (first, item) = (plan.loops()[0], plan.item[k] as isize);
    first.step[k] == item && plan.loops().get(1).is_none_or(|l| l.step[k] == first.n as isize * item)
}

/// Repeats the `bytes` bytes at `at` until they are there `times` times.
///
/// # Safety
/// There must be room for `bytes * times` bytes at `at`.
unsafe fn repeat(at: *mut u8, bytes: usize, times: usize) {
    let (mut done, all) = (bytes, bytes * times);
    while done < all {
        let more = done.min(all - done);
        // SAFETY: the caller guarantees the room, and `more` is at most `done`.
        unsafe { std::ptr::copy_nonoverlapping(at, at.add(done), more) };
        done += more;
    }
}
