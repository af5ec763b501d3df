//! Pooling: the maximum or the mean of each window, line by line, and the gradients of both.

mod adaptive;

use super::scratch::{Elements, ThreadScratch};
use super::simd::{opaque, simd};
use super::window::Lines;
use crate::alloc;
use crate::cpu::tuning::POOLED_PART;
use crate::dtype::Element;
use crate::error::{Result, bail};
use crate::launch::{Divisor, IMAGE_DIMS, Unpool, Window};
use std::ops::Range;

/// Regular windows over planes.
pub struct Pooling {
    lines: Lines,
    planes: usize,
}

/// The [`Divisor`] of each output of a line.
pub struct Divisors {
    divisor: Divisor,
    columns: Vec<f64>,
}

impl Pooling {
    /// Prepares the windows of `planes` images. Fails if there is no memory for the list of columns.
    pub fn new(window: Window, planes: usize) -> Result<Pooling> {
        Ok(Pooling { lines: Lines::new(window)?, planes })
    }

    fn window(&self) -> &Window {
        &self.lines.window
    }

    /// Returns the maximum number of image rows that a line of the outputs reads.
    fn rows(&self) -> usize {
        let w = self.window();
        w.kernel[0].min(w.image[0]).saturating_mul(w.kernel[1].min(w.image[1]))
    }

    /// Returns the scratch bytes that a thread needs: for one row, into which other rows are folded.
    pub fn tile_bytes<T>(&self) -> usize {
        if self.planes > 0 && self.rows() > 1 { self.window().image[2].saturating_mul(size_of::<T>()) } else { 0 }
    }

    /// Returns the number of lines of outputs in all planes.
    fn all_lines(&self) -> usize {
        self.planes * self.window().out[0] * self.window().out[1]
    }

    /// Returns the number of lines in a part of the work.
    fn lines_of_part(&self) -> usize {
        let w = self.window();
        (POOLED_PART / self.rows().saturating_mul(w.image[2].max(w.out[2])).max(1)).max(1)
    }

    /// Returns the number of parts of the work.
    pub fn parts(&self) -> usize {
        self.all_lines().div_ceil(self.lines_of_part())
    }

    /// Returns the number of elements of a window in dimension `d` that count for the mean of output `o`.
    fn counted(&self, d: usize, o: usize, padded: bool) -> usize {
        let w = self.window();
        let (start, padding, size) = (o * w.stride[d], w.padding[d], w.image[d]);
        let end = start + w.kernel[d];
        match padded {
            true => end.min(size + 2 * padding) - start,
            false => end.min(size + padding).saturating_sub(start.max(padding)),
        }
    }

    /// Calls `f`, compiled for wide vectors, for each line of the outputs: the index of the plane, of the slice, and of the line in the
    /// slice.
    fn each_line<T>(&self, scratch: &ThreadScratch, f: impl Fn([usize; IMAGE_DIMS], *mut T) + Sync) {
        let [slices, lines, width] = self.window().out;
        let (all, length) = (self.all_lines(), self.lines_of_part());
        if all == 0 || width == 0 {
            return;
        }
        scratch.each(self.parts(), &|part, tile| {
            simd(
                #[inline(always)]
                |_| {
                    let from = part * length;
                    let [mut plane, mut slice, mut line] = [from / lines / slices, from / lines % slices, from % lines];
                    for _ in from..all.min(from + length) {
                        f([plane, slice, line], tile);
                        line += 1;
                        if line == lines {
                            (slice, line) = (slice + 1, 0);
                        }
                        if slice == slices {
                            (plane, slice) = (plane + 1, 0);
                        }
                    }
                },
            );
        });
    }

    /// Returns the index of the first element of a line of the outputs.
    fn line_start(&self, [plane, slice, line]: [usize; IMAGE_DIMS]) -> usize {
        let [slices, lines, width] = self.window().out;
        ((plane * slices + slice) * lines + line) * width
    }

    /// Computes the maxima of all windows and their indices in their planes. A NaN is the maximum, and the last NaN wins; of equal maxima
    /// the first wins. An empty window has the maximum `least` and the index -1.
    ///
    /// # Safety
    /// All operands must be row-major and have the sizes that the window says. No other thread may access the results. The scratch memory
    /// must have [`Pooling::tile_bytes`].
    pub unsafe fn greatest<T: Element>(&self, scratch: &ThreadScratch, values: *mut T, indices: Option<*mut i64>, x: *const T, least: f64) {
        let least = T::from_f64(least);
        let (values, x, indices) = (Elements(values), Elements(x.cast_mut()), indices.map(Elements));
        let pixels = self.window().pixels();
        self.each_line::<T>(
            scratch,
            #[inline(always)]
            |line, tile| {
                let (x, start) = (x.at(line[0] * pixels), self.line_start(line));
                // SAFETY: the caller keeps this function's contract; rows and columns are inside the image and the line.
                unsafe {
                    match indices {
                        Some(indices) => self.greatest_with_places(line, values.at(start), indices.at(start), x, least),
                        None => self.folded(line, values.at(start), x, tile, least, greater),
                    }
                }
            },
        );
    }

    /// Computes a line of the outputs: folds its rows element by element, and then their columns.
    #[inline(always)]
    unsafe fn folded<T: Element>(
        &self,
        line: [usize; IMAGE_DIMS],
        r: *mut T,
        x: *const T,
        tile: *mut T,
        initial: T,
        fold: impl Fn(T, T) -> T + Copy,
    ) {
        let (width, stride) = (self.window().image[2], self.window().stride[2]);
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let mut source: Option<*const T> = None;
            self.lines.each_row(
                &self.lines.rows(line[1], line[2]),
                #[inline(always)]
                |row, _| {
                    let row = x.wrapping_add(row);
                    match source {
                        None => source = Some(row),
                        Some(before) => {
                            fold_run::<T, 1>(tile, before, row, width, fold);
                            source = Some(tile);
                        }
                    }
                },
            );
            (0..self.window().out[2]).for_each(|i| r.add(i).write(initial));
            let Some(source) = source else { return };
            let mut columns = &self.lines.columns[..];
            while let [column, rest @ ..] = columns {
                columns = rest;
                let (r, x, n) = (r.add(column.outputs.start), source.wrapping_add(column.x), column.outputs.len());
                match stride {
                    1 => fold_run::<T, 1>(r, r, x, n, fold),
                    2 if column.is_before(rest.first()) => {
                        fold_pairs(r, x, n, fold);
                        columns = &rest[1..];
                    }
                    2 => fold_run::<T, 2>(r, r, x, n, fold),
                    _ => (0..n).for_each(|i| r.add(i).write(fold(*r.add(i), *x.add(stride * i)))),
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn greatest_with_places<T: Element>(&self, line: [usize; IMAGE_DIMS], values: *mut T, indices: *mut i64, x: *const T, least: T) {
        let stride = self.window().stride[2];
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            for i in 0..self.window().out[2] {
                values.add(i).write(least);
                indices.add(i).write(-1);
            }
            self.lines.each_row(
                &self.lines.rows(line[1], line[2]),
                #[inline(always)]
                |row, _| {
                    for column in &self.lines.columns {
                        let first = row + column.x;
                        let (values, indices) = (values.add(column.outputs.start), indices.add(column.outputs.start));
                        let (x, n) = (x.wrapping_add(first), column.outputs.len());
                        match stride {
                            1 => (0..n).for_each(|i| taken(values.add(i), indices.add(i), *x.add(i), first + i)),
                            2 => (0..n).for_each(|i| taken(values.add(i), indices.add(i), *x.add(2 * i), first + 2 * i)),
                            _ => (0..n).for_each(|i| taken(values.add(i), indices.add(i), *x.add(stride * i), first + stride * i)),
                        }
                    }
                },
            );
        }
    }

    /// Returns the divisors of the means of a line: one factor for the line, and one for each output.
    pub fn divisors(&self, divisor: Divisor) -> Result<Divisors> {
        // Without planes there are no lines, and the list may be empty.
        let count = if self.planes == 0 { 0 } else { self.window().out[2] };
        let columns = alloc::list(count, |column| {
            Ok(match divisor {
                Divisor::Inside => self.counted(2, column, false) as f64,
                Divisor::Padded => self.counted(2, column, true) as f64,
                Divisor::Given(number) => number,
            })
        })?;
        Ok(Divisors { divisor, columns })
    }

    fn of_line(&self, divisors: &Divisors, [_, slice, line]: [usize; IMAGE_DIMS]) -> f64 {
        let counted = |padded: bool| self.counted(0, slice, padded) as f64 * self.counted(1, line, padded) as f64;
        match divisors.divisor {
            Divisor::Inside => counted(false),
            Divisor::Padded => counted(true),
            Divisor::Given(_) => 1.0,
        }
    }

    /// Computes the means of all windows.
    ///
    /// # Safety
    /// As for [`Pooling::greatest`].
    pub unsafe fn means<T: Element>(&self, scratch: &ThreadScratch, r: *mut T, x: *const T, divisors: &Divisors) {
        let (r, x, pixels) = (Elements(r), Elements(x.cast_mut()), self.window().pixels());
        self.each_line::<T>(
            scratch,
            #[inline(always)]
            |line, tile| {
                let (x, r) = (x.at(line[0] * pixels), r.at(self.line_start(line)));
                let of_line = self.of_line(divisors, line);
                // SAFETY: the caller keeps this function's contract; rows and columns are inside the image and the line.
                unsafe {
                    self.folded(line, r, x, tile, T::ZERO, T::add);
                    for (i, of_column) in divisors.columns.iter().enumerate() {
                        r.add(i).write(T::from_f64((*r.add(i)).to_f64() / (of_line * of_column)));
                    }
                }
            },
        );
    }

    /// Computes the gradient `x` of the image from the gradient `grad` of the means.
    ///
    /// # Safety
    /// As for [`Pooling::greatest`].
    pub unsafe fn spread_means<T: Element>(&self, scratch: &ThreadScratch, x: *mut T, grad: *const T, divisors: &Divisors) {
        let (x, grad, pixels) = (Elements(x), Elements(grad.cast_mut()), self.window().pixels());
        let [slices, lines, _] = self.window().out;
        scratch.each::<T>(self.planes, &|plane, _| {
            let x = x.at(plane * pixels);
            // SAFETY: the caller keeps this function's contract; each plane is written by one thread, and all bits 0 are the number 0.
            unsafe { x.write_bytes(0, pixels) };
            for line in (0..slices * lines).map(|k| [plane, k / lines, k % lines]) {
                let (grad, of_line) = (grad.at(self.line_start(line)), self.of_line(divisors, line));
                self.lines.each_row(
                    &self.lines.rows(line[1], line[2]),
                    #[inline(always)]
                    |row, _| {
                        for column in &self.lines.columns {
                            for i in column.outputs.clone() {
                                let at = row + column.x + (i - column.outputs.start) * self.window().stride[2];
                                // SAFETY: the caller keeps this function's contract; rows and columns are inside the image and the line.
                                unsafe {
                                    let share = (*grad.add(i)).to_f64() / (of_line * divisors.columns[i]);
                                    x.add(at).write((*x.add(at)).add(T::from_f64(share)));
                                }
                            }
                        }
                    },
                );
            }
        });
    }
}

/// `r[i] = fold(a[i], b[i * STRIDE])` for the strides 1 and 2; `r` may be `a`.
///
/// # Safety
/// All operands must have the elements for `n` results.
#[inline(always)]
unsafe fn fold_run<T: Element, const STRIDE: usize>(r: *mut T, a: *const T, b: *const T, n: usize, fold: impl Fn(T, T) -> T + Copy) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let done = fold_blocks::<T, STRIDE, 16>(r, a, b, 0..n, fold);
        let done = fold_blocks::<T, STRIDE, 4>(r, a, b, done..n, fold);
        (done..n).for_each(|i| r.add(i).write(fold(*a.add(i), *b.add(i * STRIDE))));
    }
}

/// [`fold_run`] for all whole blocks of `N` elements; returns the index after the last block. A block is read before it is written, so the
/// compiler need not check whether memory overlaps.
#[inline(always)]
unsafe fn fold_blocks<T: Element, const STRIDE: usize, const N: usize>(
    r: *mut T,
    a: *const T,
    b: *const T,
    range: Range<usize>,
    fold: impl Fn(T, T) -> T + Copy,
) -> usize {
    let mut at = range.start;
    // With stride 2 a block reads one element after its last, so that element must exist.
    while at + N + STRIDE - 1 <= range.end {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let left = a.add(at).cast::<[T; N]>().read_unaligned();
            let right = if STRIDE == 1 {
                b.add(at).cast::<[T; N]>().read_unaligned()
            } else {
                b.add(2 * at).cast::<[[T; 2]; N]>().read_unaligned().map(|[first, _]| first)
            };
            let mut folded = left;
            (0..N).for_each(|k| folded[k] = fold(left[k], right[k]));
            r.add(at).cast::<[T; N]>().write_unaligned(folded);
        }
        at += N;
    }
    at
}

/// `r[i] = fold(fold(r[i], x[2 * i]), x[2 * i + 1])`
///
/// # Safety
/// `r` must have `n` elements and `x` twice as many.
#[inline(always)]
unsafe fn fold_pairs<T: Element>(r: *mut T, x: *const T, n: usize, fold: impl Fn(T, T) -> T + Copy) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let done = fold_pairs_by::<T, 16>(r, x, n, fold);
        let done = done + fold_pairs_by::<T, 4>(r.add(done), x.add(2 * done), n - done, fold);
        (done..n).for_each(|i| r.add(i).write(fold(fold(*r.add(i), *x.add(2 * i)), *x.add(2 * i + 1))));
    }
}

/// [`fold_pairs`] for all whole blocks of `N` results; returns their number of results. As in [`fold_blocks`], a block is read before it is
/// written.
#[inline(always)]
unsafe fn fold_pairs_by<T: Element, const N: usize>(mut r: *mut T, x: *const T, n: usize, fold: impl Fn(T, T) -> T + Copy) -> usize {
    let whole = n - n % N;
    for at in (0..whole).step_by(N) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let mut folded = r.cast::<[T; N]>().read_unaligned();
            let pairs = x.add(2 * at).cast::<[[T; 2]; N]>().read_unaligned();
            let (first, second) = (pairs.map(|[first, _]| first), pairs.map(|[_, second]| second));
            for k in 0..N {
                folded[k] = fold(fold(folded[k], first[k]), second[k]);
            }
            r.cast::<[T; N]>().write_unaligned(folded);
            // The compiler must not know how far the result is advanced, since it would merge several blocks and gather their elements.
            r = opaque(r.add(N)).cast_mut();
        }
    }
    whole
}

/// Returns the greater number, or a NaN if there is one.
#[inline(always)]
fn greater<T: Element>(a: T, b: T) -> T {
    if b > a || b.is_nan() { b } else { a }
}

/// Stores `x` and its index if `x` is greater than the maximum so far, is a NaN, or is the first element.
#[inline(always)]
unsafe fn taken<T: Element>(value: *mut T, index: *mut i64, x: T, at: usize) {
    // SAFETY: the caller guarantees that both may be written.
    unsafe {
        let better = x > *value || x.is_nan() || *index < 0;
        value.write(if better { x } else { *value });
        index.write(if better { at as i64 } else { *index });
    }
}

/// Indices that are checked together.
const CHECKED: usize = 1024;

impl Unpool {
    /// Returns an error if an index is outside its plane.
    pub fn check(&self, indices: &[i64]) -> Result<()> {
        let least = if self.adds { -1 } else { 0 };
        let places = (self.pixels as i64 - least) as u64;
        let outside = |index: &&i64| (**index).wrapping_sub(least) as u64 >= places;
        // A whole block is compared before the result is tested.
        let blocks = indices.chunks(CHECKED);
        let any = |block: &&[i64]| {
            simd(
                #[inline(always)]
                |_| block.iter().fold(false, |any, index| any | outside(&index)),
            )
        };
        match blocks.into_iter().find(any).and_then(|block| block.iter().find(outside)) {
            Some(index) => bail!(Argument, "index {index} is out of range for planes of {} elements", self.pixels),
            None => Ok(()),
        }
    }

    /// Writes or adds each element of `t` to the place of its index.
    ///
    /// # Safety
    /// `t` must have an element for each index, and `r` a plane for each plane of indices. [`Unpool::check`] must have accepted the
    /// indices.
    pub unsafe fn run<T: Element>(&self, scratch: &ThreadScratch, r: *mut T, t: *const T, indices: &[i64]) {
        if self.pixels == 0 {
            return;
        }
        let (r, t) = (Elements(r), Elements(t.cast_mut()));
        let of_part = (POOLED_PART / (self.pixels + self.places)).max(1);
        scratch.each::<T>(self.planes.div_ceil(of_part), &|part, _| {
            for plane in part * of_part..self.planes.min((part + 1) * of_part) {
                let r = r.at(plane * self.pixels);
                // SAFETY: the caller keeps this function's contract; all bits 0 are the number 0.
                unsafe { r.write_bytes(0, self.pixels) };
                for at in plane * self.places..(plane + 1) * self.places {
                    let Ok(index) = usize::try_from(indices[at]) else { continue };
                    let to = r.wrapping_add(index);
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { to.write(if self.adds { (*to).add(*t.at(at)) } else { *t.at(at) }) };
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_folded_in_order() {
        for n in (0..40).chain([100]) {
            let x: Vec<i32> = (0..2 * n as i32).map(|i| i * 37 % 61).collect();
            let mut r: Vec<i32> = (0..=n as i32).collect();
            let fold = |a: i32, b: i32| 3 * a - b;
            // SAFETY: the result has more than `n` elements and the operand twice as many.
            unsafe { fold_pairs(r.as_mut_ptr(), x.as_ptr(), n, fold) };
            for i in 0..n {
                assert_eq!(r[i], 9 * i as i32 - 3 * x[2 * i] - x[2 * i + 1], "{n}: {i}");
            }
            assert_eq!(r[n], n as i32);
        }
    }
}
