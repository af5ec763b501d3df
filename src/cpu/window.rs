//! Windows over an image: the indices of their elements, the image as a matrix of windows, and the sum of such a matrix into an image.

use super::matmul::Gemm;
use super::simd::simd;
use crate::alloc;
use crate::error::Result;
use crate::launch::{IMAGE_DIMS, Window};
use std::ops::Range;

/// Neighbouring outputs that read the image through one tap.
#[derive(Clone, Copy)]
pub struct Seen {
    /// The index of the first output in the row of the tap.
    pub at: usize,
    /// The number of outputs.
    pub n: usize,
    /// The index in the image that the first output reads, or `None` in the padding.
    pub pixel: Option<usize>,
}

impl Window {
    /// Returns the outputs in dimension `d` for which a tap is inside the image, and the index that output 0 would read.
    #[inline(always)]
    pub fn inside(&self, d: usize, tap: usize) -> (Range<usize>, isize) {
        let shift = (tap * self.dilation[d]) as isize - self.padding[d] as isize;
        let stride = self.stride[d];
        let first = if shift < 0 { shift.unsigned_abs().div_ceil(stride) } else { 0 };
        let end = (self.image[d] as isize - shift).max(0).unsigned_abs().div_ceil(stride).min(self.out[d]);
        (first.min(end)..end, shift)
    }

    /// Returns the three indices of a tap.
    #[inline(always)]
    pub fn tap(&self, tap: usize) -> [usize; IMAGE_DIMS] {
        [tap / (self.kernel[1] * self.kernel[2]), tap / self.kernel[2] % self.kernel[1], tap % self.kernel[2]]
    }

    /// Calls `f` for the runs of `outputs`, numbered in row-major order, at one tap.
    #[inline(always)]
    pub fn runs(&self, tap: usize, outputs: Range<usize>, mut f: impl FnMut(Seen)) {
        let tap = self.tap(tap);
        let [(slices, z), (lines, y), (columns, x)] = [0, 1, 2].map(|d| self.inside(d, tap[d]));
        let [_, height, width] = self.out;
        let (mut at, mut slice, mut line, mut column) =
            (0, outputs.start / (height * width), outputs.start / width % height, outputs.start % width);
        let count = outputs.len();
        while at < count {
            let n = (width - column).min(count - at);
            if slices.contains(&slice) && lines.contains(&line) {
                let (from, to) = (columns.start.clamp(column, column + n), columns.end.clamp(column, column + n));
                let to = to.max(from);
                if from > column {
                    f(Seen { at, n: from - column, pixel: None });
                }
                if to > from {
                    let z = (slice * self.stride[0]).wrapping_add_signed(z);
                    let y = (line * self.stride[1]).wrapping_add_signed(y);
                    let x = (from * self.stride[2]).wrapping_add_signed(x);
                    let pixel = (z * self.image[1] + y) * self.image[2] + x;
                    f(Seen { at: at + from - column, n: to - from, pixel: Some(pixel) });
                }
                if column + n > to {
                    f(Seen { at: at + to - column, n: column + n - to, pixel: None });
                }
            } else {
                f(Seen { at, n, pixel: None });
            }
            (at, column) = (at + n, 0);
            line += 1;
            if line == height {
                (slice, line) = (slice + 1, 0);
            }
        }
    }

    /// Calls `f`, compiled for wide vectors, with each run of `outputs`, tap by tap and channel by channel. The arguments are where the
    /// channel begins in the image, where its row of the matrix begins (rows are `step` elements apart), and the run.
    #[inline(always)]
    fn each_run(&self, rows: Range<usize>, outputs: Range<usize>, step: usize, mut f: impl FnMut(usize, usize, Seen)) {
        let pixels = self.pixels();
        simd(
            #[inline(always)]
            |_| {
                self.each_tap(
                    &rows,
                    &outputs,
                    #[inline(always)]
                    |tap, from, runs| {
                        for (row, channel) in self.rows_of(&rows, tap) {
                            runs.iter().for_each(|&run| f(channel * pixels, row * step + from, run));
                        }
                    },
                );
            },
        );
    }

    /// Calls `f` for each tap in turn, with the runs of some of `outputs` and the number of the first of these outputs.
    #[inline(always)]
    fn each_tap(&self, rows: &Range<usize>, outputs: &Range<usize>, mut f: impl FnMut(usize, usize, &[Seen])) {
        let mut runs = [const { Seen { at: 0, n: 0, pixel: None } }; MOST_RUNS];
        for from in outputs.clone().step_by(LISTED) {
            for tap in (0..self.taps()).take(rows.len()) {
                // The first rows are rows of all taps, in another order.
                let tap = (rows.start + tap) % self.taps();
                let mut count = 0;
                self.runs(
                    tap,
                    from..outputs.end.min(from + LISTED),
                    #[inline(always)]
                    |run| {
                        runs[count] = run;
                        count += 1;
                    },
                );
                f(tap, from - outputs.start, &runs[..count]);
            }
        }
    }

    /// Returns the rows of a tap, one for each channel, numbered from the first of `rows`.
    #[inline(always)]
    fn rows_of(&self, rows: &Range<usize>, tap: usize) -> impl Iterator<Item = (usize, usize)> {
        let (taps, start) = (self.taps(), rows.start);
        let first = (start / taps + (start % taps > tap) as usize) * taps + tap;
        (first..rows.end).step_by(taps).map(move |row| (row - start, row / taps))
    }

    /// `columns[row][i]` = the element that `tap` of output `outputs[i]` reads in `image[channel]`, or 0 in the padding. `rows` numbers
    /// channels and taps in row-major order. Rows are `step` elements apart.
    ///
    /// # Safety
    /// The image must have the channels of the rows. There must be room for the columns, outside the image.
    pub unsafe fn unroll<T: Gemm>(&self, image: *const T, rows: Range<usize>, outputs: Range<usize>, columns: *mut T, step: usize) {
        let stride = self.stride[2];
        self.each_run(
            rows,
            outputs,
            step,
            #[inline(always)]
            |channel, row, run| {
                let (image, to) = (image.wrapping_add(channel), columns.wrapping_add(row + run.at));
                // SAFETY: the caller keeps this function's contract; runs are inside the image and the outputs.
                unsafe {
                    match run.pixel {
                        None => (0..run.n).for_each(|k| to.add(k).write(T::ZERO)),
                        Some(pixel) if stride == 1 => copied(to, image.add(pixel), run.n),
                        Some(pixel) => (0..run.n).for_each(|k| to.add(k).write(*image.add(pixel + k * stride))),
                    }
                }
            },
        );
    }

    /// Adds columns, arranged as by [`Window::unroll`], to the image.
    ///
    /// # Safety
    /// As for [`Window::unroll`]; no other thread may access the channels of the rows.
    pub unsafe fn fold<T: Gemm>(&self, image: *mut T, rows: Range<usize>, outputs: Range<usize>, columns: *const T, step: usize) {
        let stride = self.stride[2];
        self.each_run(
            rows,
            outputs,
            step,
            #[inline(always)]
            |channel, row, run| {
                let Some(pixel) = run.pixel else { return };
                let (to, from) = (image.wrapping_add(channel + pixel), columns.wrapping_add(row + run.at));
                // SAFETY: the caller keeps this function's contract; runs are inside the image and the outputs.
                unsafe {
                    match stride {
                        1 => (0..run.n).for_each(|k| to.add(k).write(T::add(*to.add(k), *from.add(k)))),
                        _ => (0..run.n).for_each(|k| to.add(k * stride).write(T::add(*to.add(k * stride), *from.add(k)))),
                    }
                }
            },
        );
    }
}

/// A column of taps: the outputs of a line for which the column is inside the image, and its index for the first of them.
pub struct Column {
    /// The outputs.
    pub outputs: Range<usize>,
    /// The index in a row of the image.
    pub x: usize,
}

impl Column {
    /// Returns true if `next` has the same outputs and is directly to the right.
    pub fn is_before(&self, next: Option<&Column>) -> bool {
        next.is_some_and(|next| next.outputs == self.outputs && next.x == self.x + 1)
    }
}

/// Windows processed line by line: the outputs of a line read rows of the image through columns of taps.
pub struct Lines {
    /// The windows.
    pub window: Window,
    /// The columns of taps that are inside the image for any output.
    pub columns: Vec<Column>,
    /// The index of the first of these columns in a row of taps.
    pub first: usize,
}

/// The rows of an image that a line of the outputs reads.
#[derive(Debug, Clone)]
pub struct WindowRows {
    slices: Range<usize>,
    lines: Range<usize>,
    z: usize,
    y: usize,
}

impl Lines {
    /// Fails if there is no memory for the list of columns.
    pub fn new(window: Window) -> Result<Lines> {
        let w = &window;
        let reach = (w.out[2].max(1) - 1).saturating_mul(w.stride[2]);
        let first = w.padding[2].saturating_sub(reach).div_ceil(w.dilation[2]);
        let end = (w.image[2] + w.padding[2]).div_ceil(w.dilation[2]).min(w.kernel[2]);
        let columns = alloc::list(end.saturating_sub(first), |k| {
            let (outputs, shift) = w.inside(2, first + k);
            let x = (outputs.start * w.stride[2]).wrapping_add_signed(shift);
            Ok(Column { outputs, x })
        })?;
        Ok(Lines { window, columns, first })
    }

    /// Returns the taps of output `o` in dimension `d` that are inside the image, and the index that the first of them reads.
    fn taps(&self, d: usize, o: usize) -> (Range<usize>, usize) {
        let w = &self.window;
        let (start, padding, dilation) = (o * w.stride[d], w.padding[d], w.dilation[d]);
        // Divisions take longer than everything else here.
        let steps = |n: usize| if dilation == 1 { n } else { n.div_ceil(dilation) };
        let first = steps(padding.saturating_sub(start));
        let end = steps((w.image[d] + padding).saturating_sub(start)).min(w.kernel[d]);
        (first.min(end)..end, (start + first * dilation).saturating_sub(padding))
    }

    /// Returns the outputs of a line that read the image through every column.
    pub fn whole(&self) -> Range<usize> {
        let start = self.columns.iter().map(|column| column.outputs.start).max().unwrap_or(0);
        let end = self.columns.iter().map(|column| column.outputs.end).min().unwrap_or(0);
        start..end.max(start)
    }

    /// Returns the rows that a line of a slice of the outputs reads.
    pub fn rows(&self, slice: usize, line: usize) -> WindowRows {
        let ((slices, z), (lines, y)) = (self.taps(0, slice), self.taps(1, line));
        WindowRows { slices, lines, z, y }
    }

    /// Calls `f` for each row with the index of its first element in the plane, and with the first tap of the row.
    #[inline(always)]
    pub fn each_row(&self, rows: &WindowRows, mut f: impl FnMut(usize, usize)) {
        let w = &self.window;
        for (i, slice) in rows.slices.clone().enumerate() {
            for (j, line) in rows.lines.clone().enumerate() {
                let row = ((rows.z + i * w.dilation[0]) * w.image[1] + rows.y + j * w.dilation[1]) * w.image[2];
                f(row, (slice * w.kernel[1] + line) * w.kernel[2] + self.first);
            }
        }
    }
}

/// Outputs whose runs are listed together.
const LISTED: usize = 128;
/// A line has up to three runs, and at least one output.
const MOST_RUNS: usize = 3 * LISTED;

/// Elements copied at a time.
const COPIED: usize = 8;

/// Copies a short row. A call of memcpy would take longer.
///
/// # Safety
/// Both sides must have `n` elements, and must not overlap.
#[inline(always)]
pub unsafe fn copied<T: Copy>(to: *mut T, from: *const T, n: usize) {
    // SAFETY: the caller keeps this function's contract; the last block may overlap the one before.
    unsafe {
        if n < COPIED {
            return (0..n).for_each(|k| to.add(k).write(*from.add(k)));
        }
        let block = |k: usize| to.add(k).cast::<[T; COPIED]>().write_unaligned(from.add(k).cast::<[T; COPIED]>().read_unaligned());
        (0..n / COPIED).for_each(|k| block(k * COPIED));
        block(n - COPIED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(image: [usize; 3], kernel: [usize; 3], stride: [usize; 3], padding: [usize; 3], dilation: [usize; 3]) -> Window {
        let out = [0, 1, 2].map(|d| (image[d] + 2 * padding[d] - (kernel[d] - 1) * dilation[d] - 1) / stride[d] + 1);
        Window { image, kernel, out, stride, padding, dilation }
    }

    const WINDOWS: &[fn() -> Window] = &[
        || window([1, 5, 7], [1, 3, 2], [1, 1, 1], [0, 1, 1], [1, 1, 1]),
        || window([1, 1, 40], [1, 1, 3], [1, 1, 1], [0, 0, 5], [1, 1, 2]),
        || window([3, 4, 5], [2, 3, 3], [2, 1, 3], [1, 2, 0], [1, 2, 1]),
        || window([1, 9, 40], [1, 1, 2], [1, 1, 1], [0, 1, 0], [1, 1, 1]),
        || window([1, 1, 2], [1, 1, 2], [1, 1, 3], [0, 0, 4], [1, 1, 7]),
    ];

    /// Returns the index in the image that a tap of an output reads, or `None` in the padding.
    fn pixel(w: &Window, output: usize, tap: usize) -> Option<usize> {
        let place = [output / (w.out[1] * w.out[2]), output / w.out[2] % w.out[1], output % w.out[2]];
        let tap = w.tap(tap);
        let mut at = 0;
        for d in 0..3 {
            let x = (place[d] * w.stride[d] + tap[d] * w.dilation[d]).checked_sub(w.padding[d])?;
            at = at * w.image[d] + Some(x).filter(|&x| x < w.image[d])?;
        }
        Some(at)
    }

    #[test]
    fn columns_have_what_windows_see_and_fold_is_the_transposed() {
        for w in WINDOWS {
            let w = w();
            let (rows, places) = (2 * w.taps(), w.places());
            let image: Vec<i64> = (0..2 * w.pixels() as i64).map(|i| 100 + i).collect();
            for (outputs, rows) in
                [(0..places, 0..rows), (places / 3..places, 1..rows), (places / 2..places / 2 + 1, rows / 3..rows / 2 + 1)]
            {
                let mut columns = vec![-1i64; rows.len() * outputs.len()];
                let mut sum = vec![0i64; image.len()];
                let mut expected = sum.clone();
                // SAFETY: the vectors have the lengths that the window says.
                unsafe {
                    w.unroll(image.as_ptr(), rows.clone(), outputs.clone(), columns.as_mut_ptr(), outputs.len());
                    w.fold(sum.as_mut_ptr(), rows.clone(), outputs.clone(), columns.as_ptr(), outputs.len());
                }
                for row in rows.clone() {
                    for (i, output) in outputs.clone().enumerate() {
                        let at = pixel(&w, output, row % w.taps()).map(|p| p + row / w.taps() * w.pixels());
                        assert_eq!(
                            columns[(row - rows.start) * outputs.len() + i],
                            at.map_or(0, |at| image[at]),
                            "{w:?} row {row} output {output}"
                        );
                        at.into_iter().for_each(|at| expected[at] += image[at]);
                    }
                }
                assert_eq!(sum, expected, "{w:?} {outputs:?}");
            }
        }
    }
}
