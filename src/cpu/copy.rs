//! Copies between any two layouts and dtypes, tile by tile.

mod rows;

use super::convert::{Convert, converter};
use super::parallel::{CHEAP, Shared, parallel};
use super::small::{Operand, SMALL, SmallBuffer};
use super::transpose::{gains_streamed, transpose, transpose_stream};
use super::tuning::{COPY_BUFFERED, COPY_COLUMNS, COPY_PIECE, COPY_ROW, COPY_ROWS, COPY_SHORT_ROW, streams_from};
use super::{pool, stream};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::{Layout, TH_PRESERVE_FORMAT, format_strides};
use crate::operand;
use crate::plan::{Plan, Tile};
use crate::storage::Storage;
pub use rows::Side;
use rows::{copy_rows, fill_rows};
use std::mem::MaybeUninit;

/// Rows and columns of the tiles of a copy without contiguous runs on either side.
const TILE: usize = 64;
/// The height of a band is a multiple of this many rows of the result. Each thread copies one band of a transposed copy. `transpose` cuts
/// bands into tiles, and edges of tiles cost time.
const BAND: usize = 64;
/// The capacity, in elements of 8 bytes, of the buffer for a piece that is transposed before it is converted.
const TRANSPOSED: usize = 1024;

/// A method to copy a tile from one kind of side to another: chosen once, used for every tile.
#[derive(Clone, Copy)]
pub struct TileCopy {
    dst: Dtype,
    src: Dtype,
    convert: Convert,
    /// True if transposes and contiguous runs are stored past the caches.
    streamed: bool,
}

impl TileCopy {
    /// Returns the copy from elements of `src` to elements of `dst`.
    pub fn new(dst: Dtype, src: Dtype) -> TileCopy {
        TileCopy { dst, src, convert: converter(dst, src), streamed: false }
    }

    /// `dst = src` for `rows` x `cols` elements.
    ///
    /// # Safety
    /// Both sides must hold the elements; they must not overlap.
    pub unsafe fn copy(&self, dst: Side, src: Side, rows: usize, cols: usize) {
        let size = self.dst.size() as isize;
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let transpose = if self.streamed { transpose_stream } else { transpose };
            if self.dst == self.src && rows > 1 && cols > 1 {
                if dst.col_step == size && src.row_step == size && src.col_step != size && (src.col_step != 0 || cols < COPY_COLUMNS) {
                    return transpose(size as usize, dst.data, dst.row_step, src.data, src.col_step, rows, cols);
                }
                if dst.row_step == size && src.col_step == size && dst.col_step != size {
                    return transpose(size as usize, dst.data, dst.col_step, src.data, src.row_step, cols, rows);
                }
            }
            let (step, own) = (src.col_step, self.src.size() as isize);
            if self.dst != self.src
                && dst.col_step == size
                && src.row_step == own
                && step != own
                && step != 0
                && rows >= COPY_ROWS
                && cols >= COPY_COLUMNS
            {
                return self.convert_transposed(dst, src, rows, cols);
            }
            // Rows that follow each other without gaps on both sides are one run.
            let joined = |side: Side| side.row_step == side.col_step * cols as isize;
            let (rows, cols) = if joined(dst) && joined(src) { (1, rows * cols) } else { (rows, cols) };
            if rows > 1 && cols * size as usize <= COPY_SHORT_ROW && !self.streamed && dst.col_step == size {
                if self.dst != self.src {
                    if cols >= COPY_COLUMNS && step == own && (joined(dst) || joined(src)) {
                        return self.convert_rows(dst, src, rows, cols);
                    }
                } else if step == size && cols > 1 {
                    return copy_rows(dst, src, rows, cols * size as usize);
                } else if step == 0 && cols >= COPY_COLUMNS {
                    return fill_rows(size as usize, dst, src, rows, cols);
                }
            }
            // A few long runs are faster than many short ones, so runs go along the longer side.
            let (dst, src, rows, cols) =
                if cols < COPY_COLUMNS && rows > cols { (dst.transposed(), src.transposed(), cols, rows) } else { (dst, src, rows, cols) };
            for r in 0..rows as isize {
                let (to, from) = (dst.data.offset(r * dst.row_step), src.data.offset(r * src.row_step));
                self.run(to, dst.col_step, from, src.col_step, cols);
            }
        }
    }

    /// Converts short rows that are contiguous on both sides and have no gaps on one, several rows at once.
    ///
    /// # Safety
    /// As for [`copy`](TileCopy::copy).
    unsafe fn convert_rows(&self, dst: Side, src: Side, rows: usize, cols: usize) {
        let (to, from) = (dst.col_step, src.col_step);
        let mut buffer = [MaybeUninit::<u64>::uninit(); COPY_BUFFERED];
        let data = buffer.as_mut_ptr().cast::<u8>();
        let most = COPY_BUFFERED / cols;
        for start in (0..rows).step_by(most) {
            let rows = most.min(rows - start);
            let (dst, src) = (dst.moved(start), src.moved(start));
            // SAFETY: the caller keeps this function's contract; the buffer has room for COPY_BUFFERED elements of any type.
            unsafe {
                if dst.row_step == to * cols as isize {
                    copy_rows(Side { data, row_step: from * cols as isize, col_step: from }, src, rows, cols * from as usize);
                    (self.convert)(dst.data, to, data, from, rows * cols);
                } else {
                    (self.convert)(data, to, src.data, from, rows * cols);
                    copy_rows(dst, Side { data, row_step: to * cols as isize, col_step: to }, rows, cols * to as usize);
                }
            }
        }
    }

    /// Converts a transposed source: transposes its elements in their own type, then converts them row by row.
    ///
    /// # Safety
    /// As for [`copy`](TileCopy::copy).
    unsafe fn convert_transposed(&self, dst: Side, src: Side, rows: usize, cols: usize) {
        let (to, from) = (dst.col_step, self.src.size() as isize);
        let (dst_row_step, src_col_step) = (dst.row_step, src.col_step);
        let mut buffer = [MaybeUninit::<u64>::uninit(); TRANSPOSED];
        let data = buffer.as_mut_ptr().cast::<u8>();
        let wide = cols.min(TILE);
        let high = TRANSPOSED * size_of::<u64>() / (wide * from as usize);
        for col in (0..cols).step_by(wide) {
            let wide = wide.min(cols - col);
            for row in (0..rows).step_by(high) {
                let high = high.min(rows - row);
                // SAFETY: the caller keeps this function's contract; the buffer has room for `high` rows of `wide` elements.
                unsafe {
                    let src = src.data.offset(row as isize * from + col as isize * src_col_step);
                    let dst = dst.data.offset(row as isize * dst_row_step + col as isize * to);
                    transpose(from as usize, data, wide as isize * from, src, src_col_step, high, wide);
                    for i in 0..high as isize {
                        (self.convert)(dst.offset(i * dst_row_step), to, data.offset(i * wide as isize * from), from, wide);
                    }
                }
            }
        }
    }

    /// Copies a run of `n` elements; steps in bytes.
    ///
    /// # Safety
    /// As for [`copy`](TileCopy::copy).
    pub unsafe fn run(&self, dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, n: usize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if self.streamed && dst_step == self.dst.size() as isize && src_step == self.src.size() as isize {
                self.convert_stream(dst, src, n);
            } else {
                (self.convert)(dst, dst_step, src, src_step, n);
            }
        }
    }

    /// `dst[i] = *src` for `n` contiguous elements.
    ///
    /// # Safety
    /// Both sides must hold the elements.
    #[inline(always)]
    pub unsafe fn repeat(&self, dst: *mut u8, src: *const u8, n: usize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { (self.convert)(dst, self.dst.size() as isize, src, 0, n) }
    }

    /// Converts a run through a buffer in the L1 cache, and prefetches the next part of the source meanwhile.
    ///
    /// # Safety
    /// Both sides must hold `n` contiguous elements and not overlap.
    unsafe fn convert_stream(&self, dst: *mut u8, src: *const u8, n: usize) {
        let mut buffer = [MaybeUninit::<u64>::uninit(); COPY_BUFFERED];
        let buffer = buffer.as_mut_ptr().cast::<u8>();
        let (to, from) = (self.dst.size(), self.src.size());
        for start in (0..n).step_by(COPY_BUFFERED) {
            let len = COPY_BUFFERED.min(n - start);
            let (dst, src) = (dst.wrapping_add(start * to), src.wrapping_add(start * from));
            stream::prefetch(src.wrapping_add(COPY_BUFFERED * from), len * from);
            // SAFETY: the caller keeps this function's contract; the buffer has room for COPY_BUFFERED elements of any type.
            unsafe {
                (self.convert)(buffer, to as isize, src, from as isize, len);
                stream::copy_stream(dst, buffer, len * to);
            }
        }
    }
}

impl Side {
    /// Returns the side from row `rows` on.
    fn moved(self, rows: usize) -> Side {
        Side { data: self.data.wrapping_offset(rows as isize * self.row_step), ..self }
    }

    fn transposed(self) -> Side {
        Side { data: self.data, row_step: self.col_step, col_step: self.row_step }
    }

    /// Returns the side of operand `k` of a tile, for an operand that starts at `data`.
    #[inline(always)]
    pub fn of<const N: usize>(tile: &Tile<N>, k: usize, data: *mut u8) -> Side {
        Side { data: data.wrapping_offset(tile.at[k]), row_step: tile.row_step[k], col_step: tile.col_step[k] }
    }
}

/// `dst = src` over a plan of the two operands.
///
/// # Safety
/// Every position of the plan must be inside the memory of both operands, and they must not overlap.
pub unsafe fn copy(mut plan: Plan<2>, dst: (*mut u8, Dtype), src: (*const u8, Dtype)) {
    if plan.is_flat() {
        // SAFETY: the caller keeps this function's contract.
        return unsafe { copy_flat(plan.numel(), dst, src) };
    }
    if plan.numel() <= SMALL {
        let (n, mut buffer) = (plan.numel(), SmallBuffer::new());
        let to = Operand { plan: &plan, k: 0, data: dst.0, dtype: dst.1 };
        let from = Operand { plan: &plan, k: 1, data: src.0.cast_mut(), dtype: src.1 };
        // SAFETY: the caller keeps this function's contract; the buffer has room for SMALL elements of any type.
        return unsafe {
            if to.is_contiguous() {
                from.load(dst.1, dst.0, n)
            } else if from.is_contiguous() {
                to.store(src.1, src.0, n)
            } else {
                from.load(dst.1, buffer.data(), n);
                to.store(dst.1, buffer.data(), n)
            }
        };
    }
    let size = src.1.size() as isize;
    let (mut dst, mut src) = (dst, src);
    // Backward columns of the source are read forward, so that they are transposed as others are.
    if let Some(l) = (1..plan.loops().len()).find(|&l| dst.1 == src.1 && plan.loops()[l].step[1] == -size) {
        let [to, from] = plan.reverse(l);
        (dst.0, src.0) = (dst.0.wrapping_offset(to), src.0.wrapping_offset(from));
    }
    plan.pair_for_transposes();
    let mut how = TileCopy::new(dst.1, src.1);
    let (first, second) = (plan.loops()[0], plan.loops().get(1));
    let transposed =
        dst.1 == src.1 && first.step[0] == size && second.is_some_and(|l| l.step[1] == size) && first.step[1] != size && first.step[1] != 0;
    let long_rows = (TILE * TILE / first.n.max(1)).max(16);
    let tiles = if transposed {
        how.streamed = second.is_some_and(|rows| gains_streamed(plan.numel() * 2 * src.1.size(), rows.step[0]));
        let share = second.map_or(1, |l| l.n).div_ceil(pool::num_threads()).next_multiple_of(BAND);
        plan.tiles(share, first.n)
    } else if first.step[0] == plan.item[0] as isize
        && (first.step[1].unsigned_abs() == plan.item[1] || (first.step[1] == 0 && first.n >= TILE))
    {
        // A copy that writes fewer bytes than it reads does not wait for its stores.
        let gains = plan.item[0] >= plan.item[1] && first.step[1] != 0;
        how.streamed = gains && plan.bytes() >= streams_from();
        plan.tiles(long_rows, COPY_ROW)
    } else if plan.loops().len() == 1 || first.step[1].unsigned_abs() == plan.item[1] {
        // A contiguous side has no gaps that a square tile would use again.
        plan.tiles(long_rows, COPY_ROW)
    } else {
        plan.tiles(TILE, TILE)
    };
    let (to, from) = (Shared(dst.0), Shared(src.0.cast_mut()));
    parallel(tiles.count(), tiles.area(), CHEAP, &move |range| {
        for i in range {
            let tile = tiles.get(i);
            // SAFETY: the plan's tiles are inside both operands, and are disjoint in `dst`.
            unsafe { how.copy(Side::of(&tile, 0, to.get()), Side::of(&tile, 1, from.get()), tile.rows, tile.cols) }
        }
        if how.streamed {
            stream::fence();
        }
    });
}

/// Returns the elements of `t` in another dtype and in new memory. Dense strides are kept.
pub fn converted(t: &operand::Operand, dtype: Dtype) -> Result<operand::Operand> {
    let strides = format_strides(&t.layout().shape, TH_PRESERVE_FORMAT, Some(t.layout()))?;
    let layout = Layout { shape: t.layout().shape.clone(), strides, offset: 0 };
    let n = t.layout().numel();
    let made = operand::Operand::inside(Storage::on_host(dtype, n)?, dtype, layout);
    let (to, from) = ((made.first(), dtype), (t.first().cast_const(), t.dtype));
    // SAFETY: both operands are inside their storages, and the new one shares no memory. Dense operands of equal strides have equal
    // offsets.
    unsafe {
        match t.layout().is_contiguous() {
            true => copy_flat(n as usize, to, from),
            false => copy(Plan::new([made.layout(), t.layout()], [dtype.size(), t.dtype.size()]), to, from),
        }
    }
    Ok(made)
}

/// `dst = src` for `n` contiguous elements of each.
///
/// # Safety
/// Both sides must hold the elements, and not overlap.
pub unsafe fn copy_flat(n: usize, dst: (*mut u8, Dtype), src: (*const u8, Dtype)) {
    if dst.1 == src.1 {
        // SAFETY: the caller keeps this function's contract.
        return unsafe { copy_bytes(n * dst.1.size(), dst.0, src.0) };
    }
    let mut how = TileCopy::new(dst.1, src.1);
    let size = (dst.1.size(), src.1.size());
    // A copy that writes fewer bytes than it reads does not wait for its stores.
    how.streamed = size.0 >= size.1 && n * (size.0 + size.1) >= streams_from();
    let (to, from) = (Shared(dst.0), Shared(src.0.cast_mut()));
    parallel(n.div_ceil(COPY_ROW), COPY_ROW, CHEAP, &move |range| {
        let (start, end) = (range.start * COPY_ROW, (range.end * COPY_ROW).min(n));
        // SAFETY: the pieces are inside both sides.
        unsafe {
            let (dst, src) = (to.get().add(start * size.0), from.get().add(start * size.1));
            how.run(dst, size.0 as isize, src, size.1 as isize, end - start);
        }
        if how.streamed {
            stream::fence();
        }
    });
}

/// # Safety
/// Both sides hold `bytes` bytes and do not overlap.
unsafe fn copy_bytes(bytes: usize, dst: *mut u8, src: *const u8) {
    if bytes <= COPY_PIECE {
        // SAFETY: the caller keeps this function's contract.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
    }
    let streamed = 2 * bytes >= streams_from();
    let (to, from) = (Shared(dst), Shared(src.cast_mut()));
    parallel(bytes.div_ceil(COPY_PIECE), COPY_PIECE, 4 * CHEAP, &move |range| {
        let (start, end) = (range.start * COPY_PIECE, (range.end * COPY_PIECE).min(bytes));
        // SAFETY: the pieces are inside both sides.
        unsafe {
            if streamed {
                stream::copy_stream(to.get().add(start), from.get().add(start), end - start);
                stream::fence();
            } else {
                std::ptr::copy_nonoverlapping(from.get().add(start), to.get().add(start), end - start);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;

    const DTYPES: [Dtype; 10] = [
        Dtype::Uint8,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::Float16,
        Dtype::Bfloat16,
        Dtype::Float32,
        Dtype::Float64,
        Dtype::Bool,
    ];

    /// Copies `shape` elements between these dtypes and strides, and compares each element with a single conversion.
    fn check(dtypes: [Dtype; 2], [rows, cols]: [usize; 2], strides: [[usize; 2]; 2]) {
        let [dst, src] = dtypes;
        let most = strides.map(|s| s[0] * (rows - 1) + s[1] * (cols - 1) + 1);
        // Numbers that every dtype holds, and for Bool some that are not 0 or 1: 0, 40 and 80.
        let which = |i: usize| i * 7 % 101 % 3;
        let numbers: Vec<u8> = (0..most[1]).map(|i| (which(i) * 40) as u8).collect();
        let (mut from, mut to) = (vec![0u8; most[1] * src.size()], vec![0xa5u8; most[0] * dst.size()]);
        let layouts = strides.map(|s| Layout {
            shape: (&[rows as i64, cols as i64][..]).into(),
            strides: (&s.map(|n| n as i64)[..]).into(),
            offset: 0,
        });
        let mut expected = to.clone();
        // SAFETY: the vectors hold the elements.
        unsafe {
            let given = if src == Dtype::Bool { Dtype::Bool } else { Dtype::Uint8 };
            converter(src, given)(from.as_mut_ptr(), src.size() as isize, numbers.as_ptr(), 1, most[1]);
            let mut converted = [[0; 8]; 3];
            for (number, converted) in [0, 40, 80].iter().zip(&mut converted) {
                let mut element = [0; 8];
                converter(src, given)(element.as_mut_ptr(), 0, number, 0, 1);
                converter(dst, src)(converted.as_mut_ptr(), 0, element.as_ptr(), 0, 1);
            }
            let size = dst.size();
            for r in 0..rows {
                for c in 0..cols {
                    let [to, from] = [0, 1].map(|k| r * strides[k][0] + c * strides[k][1]);
                    expected[to * size..to * size + size].copy_from_slice(&converted[which(from)][..size]);
                }
            }
            let plan = Plan::new(layouts.each_ref(), dtypes.map(Dtype::size));
            copy(plan, (to.as_mut_ptr(), dst), (from.as_ptr(), src));
        }
        assert!(to == expected, "{src} to {dst}, {rows} x {cols}, {strides:?}");
    }

    #[test]
    fn any_dtype_and_layout_becomes_any_other() {
        for (dst, src) in DTYPES.iter().flat_map(|dst| DTYPES.iter().map(move |src| (*dst, *src))) {
            for [rows, cols] in [[5, 3], [3, 100], [70, 67], [130, 65], [33, 700], [700, 33]] {
                let contiguous = [cols, 1];
                for from in
                    [contiguous, [1, rows], [1, rows + 3], [cols + 5, 1], [0, 1], [1, 0], [3, 0], [0, 0], [3 * cols, 3], [2, 2 * rows]]
                {
                    check([dst, src], [rows, cols], [contiguous, from]);
                    check([dst, src], [rows, cols], [[cols + 2, 1], from]);
                }
                check([dst, src], [rows, cols], [[2 * cols, 2], contiguous]);
                check([dst, src], [rows, cols], [[1, rows], contiguous]);
            }
        }
    }

    #[test]
    fn backward_columns_and_rows_are_copied_in_their_order() {
        let (rows, cols) = (130, 77);
        let from: Vec<i32> = (0..rows * cols).collect();
        for (sign_of_row, sign_of_col) in [(1, -1), (-1, 1), (-1, -1)] {
            // The rows of the result are columns of the source.
            let mut to = vec![0i32; from.len()];
            let source = Layout {
                shape: (&[cols.into(), rows.into()][..]).into(),
                strides: (&[sign_of_row, sign_of_col * i64::from(cols)][..]).into(),
                offset: 0,
            };
            let result = Layout { strides: (&[i64::from(rows), 1][..]).into(), ..source.clone() };
            let plan = Plan::new([&result, &source], [4, 4]);
            let first = if sign_of_row < 0 { cols - 1 } else { 0 } + if sign_of_col < 0 { (rows - 1) * cols } else { 0 };
            // SAFETY: the vectors hold the elements.
            unsafe {
                copy(plan, (to.as_mut_ptr().cast(), Dtype::Int32), (from.as_ptr().add(first as usize).cast(), Dtype::Int32));
            }
            for i in 0..cols {
                for j in 0..rows {
                    let at = i64::from(first) + i64::from(i) * sign_of_row + i64::from(j) * sign_of_col * i64::from(cols);
                    assert_eq!(to[(i * rows + j) as usize], from[at as usize], "{i}, {j}: {sign_of_row}, {sign_of_col}");
                }
            }
        }
    }
}
