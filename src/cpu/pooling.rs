//! Pooling: the maximum or the mean of each window, line by line, and the gradients of both.

use super::scratch::{Elements, ThreadScratch};
use super::simd::simd;
use super::window::Lines;
use crate::alloc;
use crate::cpu::tuning::POOLED_PART;
use crate::dtype::Element;
use crate::error::{Result, bail};
use crate::launch::{Adaptive, Divisor, IMAGE_DIMS, Unpool, Window};
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
            for column in &self.lines.columns {
                let (r, x, n) = (r.add(column.outputs.start), source.wrapping_add(column.x), column.outputs.len());
                match stride {
                    1 => fold_run::<T, 1>(r, r, x, n, fold),
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

impl Adaptive {
    /// Returns the elements of the window of output `o` in dimension `d`.
    #[inline(always)]
    fn part(&self, d: usize, o: usize) -> Range<usize> {
        let (size, out) = (self.image[d] as u128, self.out[d] as u128);
        (o as u128 * size / out) as usize..((o as u128 + 1) * size).div_ceil(out) as usize
    }

    /// Calls `f` with each output of a plane and the elements of its window, row by row.
    #[inline(always)]
    fn each(&self, mut f: impl FnMut(usize, [Range<usize>; IMAGE_DIMS])) {
        let [slices, lines, width] = self.out;
        if width == 0 || lines == 0 {
            return;
        }
        for slice in 0..slices {
            let z = self.part(0, slice);
            for line in 0..lines {
                let y = self.part(1, line);
                // A loop and not `for_each`, which would not be compiled for the instruction set of the caller.
                for k in 0..width {
                    f((slice * lines + line) * width + k, [z.clone(), y.clone(), self.part(2, k)]);
                }
            }
        }
    }

    /// Calls `f` with the elements of a window, row by row, or as one range if they are contiguous.
    #[inline(always)]
    fn rows(&self, [z, y, x]: &[Range<usize>; IMAGE_DIMS], mut f: impl FnMut(Range<usize>)) {
        for z in z.clone() {
            if x.len() == self.image[2] {
                let row = (z * self.image[1] + y.start) * x.len();
                f(row..row + y.len() * x.len());
                continue;
            }
            for y in y.clone() {
                let row = (z * self.image[1] + y) * self.image[2] + x.start;
                f(row..row + x.len());
            }
        }
    }

    /// Computes the maxima of all windows and their indices, as [`Pooling::greatest`].
    ///
    /// # Safety
    /// All operands must be row-major and have the sizes that `self` says, for `planes` planes. No other thread may access the results.
    pub unsafe fn greatest<T: Element>(
        &self,
        scratch: &ThreadScratch,
        planes: usize,
        values: *mut T,
        indices: Option<*mut i64>,
        x: *const T,
    ) {
        let (values, x, indices) = (Elements(values), Elements(x.cast_mut()), indices.map(Elements));
        let (pixels, places) = (self.image.iter().product::<usize>(), self.out.iter().product::<usize>());
        scratch.each::<T>(planes, &|plane, _| {
            let x = x.at(plane * pixels);
            self.each(|place, window| {
                let (mut value, mut index) = (T::from_f64(f64::NEG_INFINITY), -1);
                // SAFETY: the caller keeps this function's contract; windows are inside the image.
                unsafe {
                    self.rows(&window, |row| row.for_each(|at| taken(&mut value, &mut index, *x.add(at), at)));
                    values.at(plane * places + place).write(value);
                    if let Some(indices) = indices {
                        indices.at(plane * places + place).write(index);
                    }
                }
            });
        });
    }

    /// Computes the means of all windows.
    ///
    /// # Safety
    /// As for [`Adaptive::greatest`].
    pub unsafe fn means<T: Element>(&self, scratch: &ThreadScratch, planes: usize, r: *mut T, x: *const T) {
        let (r, x) = (Elements(r), Elements(x.cast_mut()));
        let (pixels, places) = (self.image.iter().product::<usize>(), self.out.iter().product::<usize>());
        scratch.each::<T>(planes, &|plane, _| {
            let x = x.at(plane * pixels);
            simd(
                #[inline(always)]
                |_| {
                    self.each(
                        #[inline(always)]
                        |place, window| {
                            let mut total = T::ZERO;
                            self.rows(
                                &window,
                                #[inline(always)]
                                |row| {
                                    // SAFETY: the caller keeps this function's contract; windows are inside the image.
                                    total = total.add(unsafe { sum(x.wrapping_add(row.start), row.len()) });
                                },
                            );
                            let count: usize = window.iter().map(Range::len).product();
                            // SAFETY: the caller keeps this function's contract.
                            unsafe { r.at(plane * places + place).write(T::from_f64(total.to_f64() / count as f64)) };
                        },
                    );
                },
            );
        });
    }

    /// Computes the gradient `x` of the image from the gradient `grad` of the means.
    ///
    /// # Safety
    /// As for [`Adaptive::greatest`].
    pub unsafe fn spread_means<T: Element>(&self, scratch: &ThreadScratch, planes: usize, x: *mut T, grad: *const T) {
        let (grad, x) = (Elements(grad.cast_mut()), Elements(x));
        let (pixels, places) = (self.image.iter().product::<usize>(), self.out.iter().product::<usize>());
        scratch.each::<T>(planes, &|plane, _| {
            let x = x.at(plane * pixels);
            // SAFETY: the caller keeps this function's contract; each plane is written by one thread, and all bits 0 are the number 0.
            unsafe { x.write_bytes(0, pixels) };
            self.each(|place, window| {
                let count: usize = window.iter().map(Range::len).product();
                // SAFETY: the caller keeps this function's contract.
                let share = T::from_f64(unsafe { *grad.at(plane * places + place) }.to_f64() / count as f64);
                self.rows(&window, |row| {
                    // SAFETY: the caller keeps this function's contract; windows are inside the image.
                    row.for_each(|at| unsafe { x.add(at).write((*x.add(at)).add(share)) });
                });
            });
        });
    }
}

/// Indices that are checked together.
const CHECKED: usize = 1024;

/// Lanes in a sum.
const SUM_LANES: usize = 64;

/// Returns the sum of a row.
///
/// # Safety
/// `x` must have `n` elements.
#[inline(always)]
unsafe fn sum<T: Element>(x: *const T, n: usize) -> T {
    let mut lanes = [T::ZERO; SUM_LANES];
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        for block in 0..n / SUM_LANES {
            let block = x.add(block * SUM_LANES).cast::<[T; SUM_LANES]>().read_unaligned();
            (0..SUM_LANES).for_each(|k| lanes[k] = lanes[k].add(block[k]));
        }
        // The lanes are added in halves, since 63 dependent additions would take as long as all the others.
        (0..SUM_LANES / 2).for_each(|k| lanes[k] = lanes[k].add(lanes[k + SUM_LANES / 2]));
        (0..SUM_LANES / 4).for_each(|k| lanes[k] = lanes[k].add(lanes[k + SUM_LANES / 4]));
        (0..SUM_LANES / 8).for_each(|k| lanes[k] = lanes[k].add(lanes[k + SUM_LANES / 8]));
        let total = lanes.into_iter().take(SUM_LANES / 8).fold(T::ZERO, T::add);
        (n / SUM_LANES * SUM_LANES..n).fold(total, |total, at| total.add(*x.add(at)))
    }
}

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
