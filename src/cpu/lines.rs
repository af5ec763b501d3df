//! The driver of kernels that need whole lines: all elements along one dimension at once, contiguous and in the compute type.
//!
//! A line that is already contiguous and in the compute type is used in place. Other lines are gathered, converted or transposed into a
//! buffer, several neighbouring lines at a time; results go back the same way. Lines that are side by side in memory may also go to a
//! kernel over columns, which needs no transposition.
//!
//! A kernel gets one line at a time, or several lines of a block. With several lines, the division into blocks does not depend on the
//! number of threads, and neither do the results.

use super::copy::{Side, TileCopy};
use super::engine::{Shared, parallel};
use super::pool;
use super::tuning::{
    COLUMNS_LEAST, COLUMNS_OF_THREAD, COLUMNS_TRANSPOSED, COLUMNS_WORTH, LINES_ACROSS, LINES_BLOCK, LINES_BLOCKS, LINES_BUFFERS,
    LINES_ON_STACK, LINES_STACK,
};
use crate::alloc;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::plan::{Plan, Tile};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The maximum number of lines in a block of columns.
pub(crate) const MAX_COLUMNS: usize = 1024;
/// The alignment in bytes of buffers and of the lines in them.
const ALIGN: usize = 64;

/// One operand: the input or a result.
pub struct End<'a> {
    /// Sizes and strides. A result's may differ from the input's only along the dimension of the lines.
    pub layout: &'a Layout,
    /// The first element. NULL for a result that the caller does not want: the kernel writes that result to a buffer, which is dropped.
    pub data: *mut u8,
    /// The dtype of the elements in memory.
    pub dtype: Dtype,
    /// The dtype that the kernel reads or writes.
    pub compute: Dtype,
}

/// One line, as the kernel sees it.
#[derive(Clone, Copy)]
pub struct Line {
    /// The first element of the line in each result; NULL for a result that the operation does not have.
    pub out: [*mut u8; 2],
    /// The elements.
    pub x: *mut u8,
    /// The number of elements.
    pub n: usize,
    /// [`Kernels::scratch`] bytes, aligned to 64.
    pub scratch: *mut u8,
}

/// Several lines, each of them contiguous.
#[derive(Clone, Copy)]
pub struct Stack {
    /// The first element of each result.
    pub out: [*mut u8; 2],
    /// Bytes from one line of a result to the next.
    pub out_step: [isize; 2],
    /// The elements.
    pub x: *const u8,
    /// Bytes from one line to the next.
    pub x_step: isize,
    /// The number of elements in a line.
    pub n: usize,
    /// The number of lines.
    pub count: usize,
}

impl Stack {
    /// Returns at most `count` lines, beginning with line `first`.
    #[inline(always)]
    pub fn lines(self, first: usize, count: usize) -> Stack {
        let out = [0, 1].map(
            #[inline(always)]
            |k| self.out[k].wrapping_offset(first as isize * self.out_step[k]),
        );
        Stack { out, x: self.x.wrapping_offset(first as isize * self.x_step), count: count.min(self.count - first), ..self }
    }
}

/// Lines side by side: element `i` of line `j` is `i` steps and `j` elements after the first element.
#[derive(Clone, Copy)]
pub struct ColumnBlock {
    /// The first element of each result.
    pub out: [*mut u8; 2],
    /// Bytes from one element of a result's line to the next.
    pub out_step: [isize; 2],
    /// The elements.
    pub x: *const u8,
    /// Bytes from one element of a line to the next.
    pub x_step: isize,
    /// The number of elements in a line.
    pub n: usize,
    /// The number of lines, at most [`MAX_COLUMNS`].
    pub width: usize,
    /// Bytes from these elements to the elements that are probably needed next, for prefetching.
    pub ahead: isize,
}

/// A kernel over one line.
pub type LineKernel<'a> = &'a (dyn Fn(Line) + Sync);
/// A kernel over a stack of lines.
pub type StackKernel<'a> = &'a (dyn Fn(Stack) + Sync);
/// A kernel over a block of columns.
pub type ColumnKernel<'a> = &'a (dyn Fn(ColumnBlock) + Sync);

/// The kernel for lines that are not side by side.
#[derive(Clone, Copy)]
pub enum LinesKernel<'a> {
    /// A kernel that gets one line a call.
    Line(LineKernel<'a>),
    /// A kernel that gets several lines a call.
    Stack(StackKernel<'a>),
}

impl LinesKernel<'_> {
    /// Runs the kernel over all lines of `s`; kernels over one line get `scratch`.
    #[inline(always)]
    pub fn run(self, s: Stack, scratch: *mut u8) {
        let line = match self {
            LinesKernel::Stack(stack) => return stack(s),
            LinesKernel::Line(line) => line,
        };
        for j in 0..s.count as isize {
            let out = [0, 1].map(|k| s.out[k].wrapping_offset(j * s.out_step[k]));
            line(Line { out, x: s.x.wrapping_offset(j * s.x_step).cast_mut(), n: s.n, scratch });
        }
    }
}

/// The kernels of an operation over lines, and their requirements.
#[derive(Clone, Copy)]
pub struct Kernels<'a> {
    /// The kernel over one line or several.
    pub kernel: LinesKernel<'a>,
    /// The kernel over lines side by side, if the operation has one.
    pub columns: Option<ColumnKernel<'a>>,
    /// Bytes of scratch memory that the kernel needs for a line.
    pub scratch: usize,
    /// The maximum number of lines in a block of columns, up to [`MAX_COLUMNS`](MAX_COLUMNS).
    pub max_lines: usize,
    /// The maximum number of elements in a block of columns.
    pub area: usize,
    /// Lines of at most this many elements are processed faster side by side.
    pub max_transposed: usize,
    /// Returns the number of lines of `n` elements that the kernel processes at a time.
    pub batch: fn(usize) -> usize,
    /// The number of elements that is worth waking a thread.
    pub grain: usize,
    /// True if the kernel writes every result. A result that the caller does not want is then written to a buffer.
    pub writes_all: bool,
}

impl<'a> Kernels<'a> {
    /// Returns kernels that consist of `line` only: no kernel over columns, and no requirements.
    pub fn line(line: LineKernel<'a>, grain: usize) -> Kernels<'a> {
        Kernels::over(LinesKernel::Line(line), grain)
    }

    /// Returns kernels that consist of `stack` only: no kernel over columns, and no requirements.
    pub fn stack(stack: StackKernel<'a>, grain: usize) -> Kernels<'a> {
        Kernels::over(LinesKernel::Stack(stack), grain)
    }

    fn over(kernel: LinesKernel<'a>, grain: usize) -> Kernels<'a> {
        Kernels {
            kernel,
            columns: None,
            scratch: 0,
            max_lines: MAX_COLUMNS,
            area: usize::MAX,
            max_transposed: 0,
            batch: |_| 1,
            grain,
            writes_all: true,
        }
    }
}

/// An operation over lines, ready to run.
pub struct Lines<'a> {
    /// The plan over the other dimensions: the input, then the results.
    plan: Plan<3>,
    ends: [Along; 3],
    kernels: &'a Kernels<'a>,
}

/// The layout of one operand along its lines.
#[derive(Clone, Copy)]
struct Along {
    data: Shared,
    dtype: Dtype,
    compute: Dtype,
    n: usize,
    step: isize,
}

/// The division of lines into blocks, and the operands that go through buffers.
struct Cut {
    by_columns: bool,
    /// The number of lines in a block.
    lines: usize,
    staged: [bool; 3],
    /// For each operand: where its buffer begins, and bytes from row to row in the buffer.
    at: [usize; 3],
    row: [usize; 3],
    /// The offset of the kernel's scratch memory.
    scratch: usize,
    /// The size of all buffers in bytes.
    bytes: usize,
    copies: [TileCopy; 3],
}

impl<'a> Lines<'a> {
    /// Prepares an operation over the lines of `input` along `dim`, with one or two results. A 0-d tensor has one line of one element.
    pub fn new(input: End<'_>, out: [Option<End<'_>>; 2], dim: usize, kernels: &'a Kernels<'a>) -> Lines<'a> {
        let none = || End { layout: input.layout, data: null_mut(), dtype: input.dtype, compute: input.dtype };
        let (exists, [a, b]) = ([true, out[0].is_some(), out[1].is_some()], out.map(|end| end.unwrap_or_else(none)));
        let ends = [&input, &a, &b];
        let others = ends.map(|end| {
            let mut layout = end.layout.clone();
            if end.data.is_null() {
                layout.strides.iter_mut().for_each(|stride| *stride = 0);
            }
            if dim < layout.ndim() {
                layout.shape.remove(dim);
                layout.strides.remove(dim);
            }
            layout
        });
        let along = |k: usize| {
            let (end, size) = (ends[k], ends[k].dtype.size());
            let stride = end.layout.strides.get(dim).copied().unwrap_or(1) as isize;
            let n = if exists[k] { end.layout.shape.get(dim).copied().unwrap_or(1) as usize } else { 0 };
            let step = if n > 1 { stride * size as isize } else { size as isize };
            Along { data: Shared(end.data), dtype: end.dtype, compute: end.compute, n, step }
        };
        let plan = Plan::new([&others[0], &others[1], &others[2]], ends.map(|end| end.dtype.size()));
        Lines { plan, ends: [along(0), along(1), along(2)], kernels }
    }

    /// Runs the kernel over every line. Lines side by side go to the kernel over columns.
    ///
    /// # Safety
    /// Every position must be inside its operand. Results must not overlap each other. A result may overlap the input only if equal
    /// positions have equal addresses. Kernels must read and write the compute types, and no more elements than the lines have.
    /// read and write the compute types, and no more elements than the lines have.
    pub unsafe fn run(&self) -> Result<()> {
        // If no result has elements, the number and the length of the lines do not matter.
        if self.plan.numel() == 0 || self.ends[1..].iter().all(|end| end.n == 0) {
            return Ok(());
        }
        let cut = self.cut(self.kernels.columns.is_some(), matches!(self.kernels.kernel, LinesKernel::Stack(_)));
        let tiles = self.plan.tiles(1, cut.lines);
        let unit = |i: usize, buffers: *mut u8| {
            let tile = tiles.get(i);
            let next = if cut.by_columns && i + 1 < tiles.count() { tiles.get(i + 1).at[0] - tile.at[0] } else { 0 };
            // SAFETY: the caller of `run` guarantees the operands. The buffers have the size that `cut` states and belong to this thread
            // alone.
            unsafe { self.block(&cut, &tile, next, buffers) }
        };
        let area = tiles.area().saturating_mul(self.ends[0].n.max(1));
        if cut.bytes <= LINES_ON_STACK {
            parallel(tiles.count(), area, self.kernels.grain, &|range| {
                let mut buffers = StackBuffer(MaybeUninit::uninit());
                range.for_each(|i| unit(i, buffers.0.as_mut_ptr().cast()));
            });
            return Ok(());
        }
        let wanted = if area.saturating_mul(tiles.count()) < 2 * self.kernels.grain { 1 } else { pool::num_threads().min(tiles.count()) };
        let Some(buffers) = Buffers::new(wanted, cut.bytes).or_else(|| Buffers::new(1, cut.bytes)) else {
            bail!(NoMem, "out of memory for {} bytes of buffers for lines of {} elements", cut.bytes, self.ends[0].n)
        };
        let next = AtomicUsize::new(0);
        pool::run(buffers.count, &|part| {
            while let i = next.fetch_add(1, Relaxed)
                && i < tiles.count()
            {
                unit(i, buffers.get(part));
            }
        });
        Ok(())
    }

    fn cut(&self, takes_columns: bool, stacks: bool) -> Cut {
        let first = self.plan.loops()[0];
        let input = self.ends[0];
        let side_by_side = first.n >= COLUMNS_WORTH && first.step[0] == self.plan.item[0] as isize && input.step != first.step[0];
        if takes_columns && side_by_side {
            let wanted = self.layout_of(true, self.block_width());
            let width = if wanted.bytes <= LINES_BUFFERS { wanted.lines } else { wanted.lines.min(LINES_BUFFERS / (input.n * 24)) };
            if width >= COLUMNS_WORTH {
                return if width == wanted.lines { wanted } else { self.layout_of(true, width) };
            }
        }
        let plain = self.ends.iter().all(|end| end.n == 0 || end.dtype == end.compute);
        if takes_columns && plain && input.n <= self.kernels.max_transposed && first.n >= COLUMNS_WORTH {
            return self.layout_of(true, (COLUMNS_TRANSPOSED / input.n.max(1)).clamp(COLUMNS_WORTH, self.kernels.max_lines).min(first.n));
        }
        let one = self.layout_of(false, 1);
        let few = if stacks { LINES_STACK } else { LINES_BLOCK } / input.n.max(1);
        // The lines that are processed together may influence rounding, so they must not depend on the number of threads.
        let batch = (self.kernels.batch)(input.n);
        let whole = few.max(1).next_multiple_of(batch);
        let keep = batch > 1 && self.plan.numel() / batch >= LINES_BLOCKS && self.layout_of(false, whole).bytes <= LINES_ON_STACK;
        let few = if keep { whole } else { few };
        let wanted = if one.staged[0] && side_by_side { few.max(LINES_ACROSS / self.plan.item[0]).max(COLUMNS_WORTH) } else { few };
        let lines = wanted.min(LINES_BUFFERS / one.bytes.max(1)).clamp(1, first.n.max(1));
        if lines == 1 { one } else { self.layout_of(false, lines) }
    }

    /// Returns the number of lines in a block of columns: as many as the kernel accepts, fewer if threads would be idle otherwise.
    fn block_width(&self) -> usize {
        let (first, all) = (self.plan.loops()[0].n.max(1), self.plan.numel());
        let worth = all.saturating_mul(self.ends[0].n) / self.kernels.grain;
        let blocks = worth.min(pool::num_threads()).div_ceil((all / first).max(1)).max(1);
        let share = first.div_ceil(blocks).next_multiple_of(COLUMNS_OF_THREAD);
        let most =
            (self.kernels.area / self.ends[0].n.max(1) / COLUMNS_WORTH * COLUMNS_WORTH).max(COLUMNS_LEAST).min(self.kernels.max_lines);
        share.max(COLUMNS_OF_THREAD).min(most).min(first)
    }

    /// Returns the division into blocks of `lines` lines.
    fn layout_of(&self, by_columns: bool, lines: usize) -> Cut {
        let first = self.plan.loops()[0];
        let staged = std::array::from_fn(|k| {
            let end = self.ends[k];
            let step = if by_columns { first.step[k] } else { end.step };
            let unlike = end.data.get().is_null() || end.dtype != end.compute || step != self.plan.item[k] as isize;
            let on_input = k > 0 && end.data.get() == self.ends[0].data.get();
            end.n > 0 && (unlike || on_input)
        });
        let copies = std::array::from_fn(|k| {
            let end = self.ends[k];
            if k == 0 { TileCopy::new(end.compute, end.dtype) } else { TileCopy::new(end.dtype, end.compute) }
        });
        let mut cut = Cut { by_columns, lines, staged, at: [0; 3], row: [0; 3], scratch: 0, bytes: 0, copies };
        for k in (0..3).filter(|&k| staged[k]) {
            let (rows, cols) = if by_columns { (self.ends[k].n, lines) } else { (lines, self.ends[k].n) };
            let row = (cols * self.ends[k].compute.size()).next_multiple_of(ALIGN);
            // Rows that are a multiple of 4 KiB apart would share few sets of the cache.
            cut.row[k] = if rows > 1 && !by_columns { row + ALIGN } else { row };
            cut.at[k] = cut.bytes;
            cut.bytes = cut.bytes.saturating_add(cut.row[k].saturating_mul(rows));
        }
        cut.scratch = cut.bytes;
        cut.bytes = cut.bytes.saturating_add(self.kernels.scratch);
        cut
    }

    /// Copies a block of lines into the kernel's form, runs the kernel, and stores the results.
    ///
    /// # Safety
    /// As for [`Lines::run`]. `buffers` must have the number of bytes that `cut` states.
    unsafe fn block(&self, cut: &Cut, tile: &Tile<3>, next: isize, buffers: *mut u8) {
        let mut at = [Side { data: null_mut(), row_step: 0, col_step: 0 }; 3];
        for k in 0..3 {
            at[k] = self.memory(cut, tile, k);
            if cut.staged[k] {
                let buffer = self.buffer(cut, k, buffers);
                if k == 0 {
                    let (rows, cols) = self.extent(cut, tile, k);
                    // SAFETY: the caller guarantees that the block is inside the operand, and that its buffer has room for it.
                    unsafe { cut.copies[k].copy(buffer, at[k], rows, cols) };
                }
                at[k] = buffer;
            }
        }
        match self.kernels.columns.filter(|_| cut.by_columns) {
            Some(columns) => columns(ColumnBlock {
                out: [at[1].data, at[2].data],
                out_step: [at[1].row_step, at[2].row_step],
                x: at[0].data,
                x_step: at[0].row_step,
                n: self.ends[0].n,
                width: tile.cols,
                ahead: if cut.staged[0] { 0 } else { next },
            }),
            None => self.kernels.kernel.run(
                Stack {
                    out: [at[1].data, at[2].data],
                    out_step: [at[1].row_step, at[2].row_step],
                    x: at[0].data,
                    x_step: at[0].row_step,
                    n: self.ends[0].n,
                    count: tile.cols,
                },
                buffers.wrapping_add(cut.scratch),
            ),
        }
        for k in (1..3).filter(|&k| cut.staged[k] && !self.ends[k].data.get().is_null()) {
            let (rows, cols) = self.extent(cut, tile, k);
            // SAFETY: the caller guarantees that the block is inside the result, and that its buffer holds it.
            unsafe { cut.copies[k].copy(self.memory(cut, tile, k), at[k], rows, cols) };
        }
    }

    /// Returns the number of rows and columns of a block in the kernel's form.
    fn extent(&self, cut: &Cut, tile: &Tile<3>, k: usize) -> (usize, usize) {
        if cut.by_columns { (self.ends[k].n, tile.cols) } else { (tile.cols, self.ends[k].n) }
    }

    /// Returns where the block is in memory.
    fn memory(&self, cut: &Cut, tile: &Tile<3>, k: usize) -> Side {
        let data = self.ends[k].data.get().wrapping_offset(tile.at[k]);
        let (row_step, col_step) =
            if cut.by_columns { (self.ends[k].step, tile.col_step[k]) } else { (tile.col_step[k], self.ends[k].step) };
        Side { data, row_step, col_step }
    }

    /// Returns where the block is in its buffer.
    fn buffer(&self, cut: &Cut, k: usize, buffers: *mut u8) -> Side {
        let col_step = self.ends[k].compute.size() as isize;
        Side { data: buffers.wrapping_add(cut.at[k]), row_step: cut.row[k] as isize, col_step }
    }
}

/// Buffers that are small enough for the stack.
#[repr(align(64))]
struct StackBuffer(MaybeUninit<[u8; LINES_ON_STACK]>);

/// Buffers on the heap, one for each thread.
struct Buffers {
    memory: NonNull<u8>,
    count: usize,
    /// The size of each buffer in bytes.
    bytes: usize,
}

// SAFETY: `Lines::run` gives each buffer to one thread.
unsafe impl Sync for Buffers {}

impl Buffers {
    fn new(count: usize, bytes: usize) -> Option<Buffers> {
        let bytes = bytes.checked_next_multiple_of(ALIGN)?;
        Some(Buffers { memory: alloc::allocate(bytes.checked_mul(count)?)?, count, bytes })
    }

    fn get(&self, part: usize) -> *mut u8 {
        self.memory.as_ptr().wrapping_add(part * self.bytes)
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: `new` allocated this memory with this size.
        unsafe { alloc::release(self.memory, self.count * self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype::{Float32, Int32, Int64};

    fn layout(shape: &[i64], strides: &[i64]) -> Layout {
        Layout { shape: shape.into(), strides: strides.into(), offset: 0 }
    }

    /// Adds its index and 1 to each element; the second result is the last element.
    fn line(l: Line) {
        let (out, last, x) = (l.out[0].cast::<i64>(), l.out[1].cast::<i64>(), l.x.cast::<i64>());
        // SAFETY: the driver passes `n` elements, and one element for the second result.
        unsafe {
            (0..l.n).for_each(|i| out.add(i).write(x.add(i).read() + i as i64 + 1));
            last.write(if l.n > 0 { x.add(l.n - 1).read() } else { -1 });
        }
    }

    fn column_block(p: ColumnBlock) {
        assert!(p.width <= MAX_COLUMNS && p.width >= 1);
        for j in 0..p.width {
            for i in 0..p.n as isize {
                // SAFETY: as for `line`.
                unsafe {
                    let x = p.x.offset(i * p.x_step).cast::<i64>().add(j).read();
                    p.out[0].offset(i * p.out_step[0]).cast::<i64>().add(j).write(x + i as i64 + 1);
                    p.out[1].cast::<i64>().add(j).write(x);
                }
            }
        }
    }

    /// Runs both kernels over elements 0, 1, 2, ... of `input` (int32 or int64), into float32 results of layout `out` and int64 results.
    fn check(input: &Layout, out: &Layout, dim: usize, dtype: Dtype, columns: bool) {
        let capacity = |l: &Layout| l.end().unwrap_or(0).max(1) as usize;
        let (narrow, wide): (Vec<i32>, Vec<i64>) = ((0..capacity(input) as i32).collect(), (0..capacity(input) as i64).collect());
        let mut one = Layout::contiguous(&out.shape);
        one.shape[dim] = 1;
        one = Layout::contiguous(&one.shape);
        let (mut values, mut lasts) = (vec![0f32; capacity(out)], vec![0i64; capacity(&one)]);
        let data = if dtype == Int32 { narrow.as_ptr() as *mut u8 } else { wide.as_ptr() as *mut u8 };
        let ends = [
            Some(End { layout: out, data: values.as_mut_ptr().cast(), dtype: Float32, compute: Int64 }),
            Some(End { layout: &one, data: lasts.as_mut_ptr().cast(), dtype: Int64, compute: Int64 }),
        ];
        let kernels = Kernels { columns: if columns { Some(&column_block) } else { None }, ..Kernels::line(&line, 64) };
        let lines = Lines::new(End { layout: input, data, dtype, compute: Int64 }, ends, dim, &kernels);
        // SAFETY: the vectors hold every position of their layouts.
        unsafe { lines.run() }.unwrap();
        let what = format!("{:?} along {dim}, {dtype}, columns {columns}", input.shape.as_slice());
        let n = input.shape[dim];
        for flat in 0..input.numel() {
            let (mut rest, mut at, mut along) = (flat, [0i64; 3], 0);
            for d in (0..input.ndim()).rev() {
                let i = rest % input.shape[d];
                rest /= input.shape[d];
                at[0] += i * input.strides[d];
                at[1] += i * out.strides[d];
                at[2] += if d == dim { 0 } else { i * one.strides[d] };
                along += if d == dim { i } else { 0 };
            }
            assert_eq!(values[at[1] as usize], (at[0] + along + 1) as f32, "{what}, element {flat}");
            if along == n - 1 {
                assert_eq!(lasts[at[2] as usize], at[0], "{what}, element {flat}");
            }
        }
    }

    #[test]
    fn lines_of_any_layout_reach_the_kernel() {
        let shapes: [&[i64]; 8] = [&[1], &[7], &[3, 5], &[40, 300], &[300, 40], &[4, 33, 20], &[1500, 2], &[3, 0, 2]];
        for shape in shapes {
            let contiguous = Layout::contiguous(shape);
            let mut transposed: Vec<i64> = shape.iter().rev().copied().collect();
            let strides: Vec<i64> = Layout::contiguous(&transposed).strides.iter().rev().copied().collect();
            transposed.reverse();
            let stepped: Vec<i64> = contiguous.strides.iter().map(|s| 2 * s).collect();
            let layouts = [contiguous, layout(&transposed, &strides), layout(shape, &stepped)];
            for (input, out) in layouts.iter().flat_map(|input| layouts.iter().map(move |out| (input, out))) {
                for dim in 0..shape.len() {
                    for (dtype, columns) in [(Int32, false), (Int64, true), (Int32, true), (Int64, false)] {
                        check(input, out, dim, dtype, columns);
                    }
                }
            }
        }
    }

    #[test]
    fn long_lines_get_memory_of_their_own() {
        let (input, out) = (layout(&[20_000, 3], &[3, 1]), layout(&[20_000, 3], &[1, 20_000]));
        check(&input, &out, 0, Int32, false);
        let wide = Layout::contiguous(&[20_000, 20]);
        check(&wide, &wide, 0, Int64, true);
    }

    #[test]
    fn a_kernel_gets_scratch_memory() {
        let (mut x, l) = ([5i64, 1, 4, 2], layout(&[2, 2], &[2, 1]));
        let mut least = [0i64; 2];
        let end = |data: *mut i64, layout| End { layout, data: data.cast(), dtype: Int64, compute: Int64 };
        let one = layout(&[2, 1], &[1, 1]);
        let kernel = |l: Line| {
            // SAFETY: the driver passes two elements, eight bytes of scratch, and one result.
            unsafe {
                let x = l.x.cast::<i64>();
                l.scratch.cast::<i64>().write(x.read().min(x.add(1).read()));
                l.out[1].cast::<i64>().write(l.scratch.cast::<i64>().read());
            }
        };
        let kernels = Kernels { scratch: 8, ..Kernels::line(&kernel, 64) };
        let lines = Lines::new(end(x.as_mut_ptr(), &l), [None, Some(end(least.as_mut_ptr(), &one))], 1, &kernels);
        // SAFETY: the arrays hold every position of their layouts.
        unsafe { lines.run() }.unwrap();
        assert_eq!((x, least), ([5, 1, 4, 2], [1, 2]));
    }
}
