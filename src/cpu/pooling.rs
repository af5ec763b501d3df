//! Pooling: the greatest element or the mean of each window, line by line, and what their gradients need.

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

/// [`Divisor`] for each output of a line.
pub struct Divisors {
    divisor: Divisor,
    columns: Vec<f64>,
}

impl Pooling {
    /// Windows of `planes` images; an error without memory for the list of their columns.
    pub fn new(window: Window, planes: usize) -> Result<Pooling> {
        Ok(Pooling { lines: Lines::new(window)?, planes })
    }

    fn window(&self) -> &Window {
        &self.lines.window
    }

    /// The most rows of an image that a line of the outputs sees.
    fn rows(&self) -> usize {
        let w = self.window();
        w.kernel[0].min(w.image[0]).saturating_mul(w.kernel[1].min(w.image[1]))
    }

    /// Bytes that a thread needs: for a row that others are folded into.
    pub fn tile_bytes<T>(&self) -> usize {
        if self.planes > 0 && self.rows() > 1 { self.window().image[2].saturating_mul(size_of::<T>()) } else { 0 }
    }

    /// Lines of the outputs, of all planes.
    fn all_lines(&self) -> usize {
        self.planes * self.window().out[0] * self.window().out[1]
    }

    /// Lines that a part of the work has.
    fn lines_of_part(&self) -> usize {
        let w = self.window();
        (POOLED_PART / self.rows().saturating_mul(w.image[2].max(w.out[2])).max(1)).max(1)
    }

    /// Parts of the work.
    pub fn parts(&self) -> usize {
        self.all_lines().div_ceil(self.lines_of_part())
    }

    /// Elements of a window in dimension `d` that count for the mean of output `o`.
    fn counted(&self, d: usize, o: usize, padded: bool) -> usize {
        let w = self.window();
        let (start, padding, size) = (o * w.stride[d], w.padding[d], w.image[d]);
        let end = start + w.kernel[d];
        match padded {
            true => end.min(size + 2 * padding) - start,
            false => end.min(size + padding).saturating_sub(start.max(padding)),
        }
    }

    /// Calls `f`, compiled for wide vectors, for each line of the outputs: number of the plane, of the slice, and of the line in it.
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

    /// The first element of a line of the outputs.
    fn line_start(&self, [plane, slice, line]: [usize; IMAGE_DIMS]) -> usize {
        let [slices, lines, width] = self.window().out;
        ((plane * slices + slice) * lines + line) * width
    }

    /// The greatest elements of all windows, the last NaN where there is one, and where they stand in their planes: the first of equal
    /// ones; `least` and -1 where a window has none.
    ///
    /// # Safety
    /// All are row-major and as the window says; results are nobody else's, and the scratch memory is for [`Pooling::tile_bytes`].
    pub unsafe fn greatest<T: Element>(&self, scratch: &ThreadScratch, values: *mut T, indices: Option<*mut i64>, x: *const T, least: f64) {
        let least = T::from_f64(least);
        let (values, x, indices) = (Elements(values), Elements(x.cast_mut()), indices.map(Elements));
        let pixels = self.window().pixels();
        self.each_line::<T>(
            scratch,
            #[inline(always)]
            |line, tile| {
                let (x, start) = (x.at(line[0] * pixels), self.line_start(line));
                // SAFETY: the caller's; rows and columns lie inside of the image and of the line.
                unsafe {
                    match indices {
                        Some(indices) => self.greatest_with_places(line, values.at(start), indices.at(start), x, least),
                        None => self.folded(line, values.at(start), x, tile, least, greater),
                    }
                }
            },
        );
    }

    /// A line of the outputs: its rows folded element by element, and then their columns.
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
        // SAFETY: the caller's.
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
        // SAFETY: the caller's.
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

    /// Returns the divisors of the means of a line: a factor of all, and one of each.
    pub fn divisors(&self, divisor: Divisor) -> Result<Divisors> {
        // Without planes there is no line, however long.
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

    /// The means of all windows.
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
                // SAFETY: as above.
                unsafe {
                    self.folded(line, r, x, tile, T::ZERO, T::add);
                    for (i, of_column) in divisors.columns.iter().enumerate() {
                        r.add(i).write(T::from_f64((*r.add(i)).to_f64() / (of_line * of_column)));
                    }
                }
            },
        );
    }

    /// `x` = the gradient of what means were taken of, from that of the means.
    ///
    /// # Safety
    /// As for [`Pooling::greatest`].
    pub unsafe fn spread_means<T: Element>(&self, scratch: &ThreadScratch, x: *mut T, grad: *const T, divisors: &Divisors) {
        let (x, grad, pixels) = (Elements(x), Elements(grad.cast_mut()), self.window().pixels());
        let [slices, lines, _] = self.window().out;
        scratch.each::<T>(self.planes, &|plane, _| {
            let x = x.at(plane * pixels);
            // SAFETY: the caller's; each plane is written by one thread, and all bits 0 are the number 0.
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
                                // SAFETY: as above.
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

/// `r[i] = fold(a[i], b[i * STRIDE])` for two strides, 1 and 2; `r` may be `a`.
///
/// # Safety
/// All have the elements for `n`.
#[inline(always)]
unsafe fn fold_run<T: Element, const STRIDE: usize>(r: *mut T, a: *const T, b: *const T, n: usize, fold: impl Fn(T, T) -> T + Copy) {
    // SAFETY: the caller's.
    unsafe {
        let done = fold_blocks::<T, STRIDE, 16>(r, a, b, 0..n, fold);
        let done = fold_blocks::<T, STRIDE, 4>(r, a, b, done..n, fold);
        (done..n).for_each(|i| r.add(i).write(fold(*a.add(i), *b.add(i * STRIDE))));
    }
}

/// [`fold_run`] for as many blocks of `N` elements as there are; says how far they go. A block is read before it is written, so that the
/// compiler need not ask whether memory overlaps.
#[inline(always)]
unsafe fn fold_blocks<T: Element, const STRIDE: usize, const N: usize>(
    r: *mut T,
    a: *const T,
    b: *const T,
    range: Range<usize>,
    fold: impl Fn(T, T) -> T + Copy,
) -> usize {
    let mut at = range.start;
    // With stride 2 a block reads the element behind its last: before one that is there.
    while at + N + STRIDE - 1 <= range.end {
        // SAFETY: the caller's.
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

/// The greater one; a NaN beats everything.
#[inline(always)]
fn greater<T: Element>(a: T, b: T) -> T {
    if b > a || b.is_nan() { b } else { a }
}

/// Takes an element for the greatest and its place, where it is, or is the first.
#[inline(always)]
unsafe fn taken<T: Element>(value: *mut T, index: *mut i64, x: T, at: usize) {
    // SAFETY: the caller's: both may be written.
    unsafe {
        let better = x > *value || x.is_nan() || *index < 0;
        value.write(if better { x } else { *value });
        index.write(if better { at as i64 } else { *index });
    }
}

impl Adaptive {
    /// The elements of output `o` in dimension `d`.
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
                // A loop and no for_each, which would not be compiled for the instruction set of the caller.
                for k in 0..width {
                    f((slice * lines + line) * width + k, [z.clone(), y.clone(), self.part(2, k)]);
                }
            }
        }
    }

    /// Calls `f` with the elements of a window, row by row, or as one range where they lie in a row.
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

    /// The greatest elements and where they stand, as by [`Pooling::greatest`].
    ///
    /// # Safety
    /// All are row-major and as `self` says, for the planes of the call; results are nobody else's.
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
                // SAFETY: the caller's; windows lie inside of the image.
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

    /// The means of all windows.
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
                                    // SAFETY: as above.
                                    total = total.add(unsafe { sum(x.wrapping_add(row.start), row.len()) });
                                },
                            );
                            let count: usize = window.iter().map(Range::len).product();
                            // SAFETY: as above.
                            unsafe { r.at(plane * places + place).write(T::from_f64(total.to_f64() / count as f64)) };
                        },
                    );
                },
            );
        });
    }

    /// `x` = the gradient of what means were taken of, from that of the means.
    ///
    /// # Safety
    /// As for [`Adaptive::greatest`].
    pub unsafe fn spread_means<T: Element>(&self, scratch: &ThreadScratch, planes: usize, x: *mut T, grad: *const T) {
        let (grad, x) = (Elements(grad.cast_mut()), Elements(x));
        let (pixels, places) = (self.image.iter().product::<usize>(), self.out.iter().product::<usize>());
        scratch.each::<T>(planes, &|plane, _| {
            let x = x.at(plane * pixels);
            // SAFETY: the caller's; each plane is written by one thread, and all bits 0 are the number 0.
            unsafe { x.write_bytes(0, pixels) };
            self.each(|place, window| {
                let count: usize = window.iter().map(Range::len).product();
                // SAFETY: as above.
                let share = T::from_f64(unsafe { *grad.at(plane * places + place) }.to_f64() / count as f64);
                self.rows(&window, |row| {
                    // SAFETY: as above.
                    row.for_each(|at| unsafe { x.add(at).write((*x.add(at)).add(share)) });
                });
            });
        });
    }
}

/// Indices checked together.
const CHECKED: usize = 1024;

/// Lanes of a sum.
const SUM_LANES: usize = 64;

/// The sum of a row.
///
/// # Safety
/// There are `n` elements.
#[inline(always)]
unsafe fn sum<T: Element>(x: *const T, n: usize) -> T {
    let mut lanes = [T::ZERO; SUM_LANES];
    // SAFETY: the caller's.
    unsafe {
        for block in 0..n / SUM_LANES {
            let block = x.add(block * SUM_LANES).cast::<[T; SUM_LANES]>().read_unaligned();
            (0..SUM_LANES).for_each(|k| lanes[k] = lanes[k].add(block[k]));
        }
        // By halves, since additions one after the other would take as long as all before.
        (0..SUM_LANES / 2).for_each(|k| lanes[k] = lanes[k].add(lanes[k + SUM_LANES / 2]));
        (0..SUM_LANES / 4).for_each(|k| lanes[k] = lanes[k].add(lanes[k + SUM_LANES / 4]));
        (0..SUM_LANES / 8).for_each(|k| lanes[k] = lanes[k].add(lanes[k + SUM_LANES / 8]));
        let total = lanes.into_iter().take(SUM_LANES / 8).fold(T::ZERO, T::add);
        (n / SUM_LANES * SUM_LANES..n).fold(total, |total, at| total.add(*x.add(at)))
    }
}

impl Unpool {
    /// An error if an index lies outside of its plane.
    pub fn check(&self, indices: &[i64]) -> Result<()> {
        let least = if self.adds { -1 } else { 0 };
        let places = (self.pixels as i64 - least) as u64;
        let outside = |index: &&i64| (**index).wrapping_sub(least) as u64 >= places;
        // All of a block are compared before anything is decided.
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

    /// Spreads them.
    ///
    /// # Safety
    /// There is an element of `t` for each index, and `r` has a plane for each of theirs; the indices were checked.
    pub unsafe fn run<T: Element>(&self, scratch: &ThreadScratch, r: *mut T, t: *const T, indices: &[i64]) {
        if self.pixels == 0 {
            return;
        }
        let (r, t) = (Elements(r), Elements(t.cast_mut()));
        let of_part = (POOLED_PART / (self.pixels + self.places)).max(1);
        scratch.each::<T>(self.planes.div_ceil(of_part), &|part, _| {
            for plane in part * of_part..self.planes.min((part + 1) * of_part) {
                let r = r.at(plane * self.pixels);
                // SAFETY: the caller's; all bits 0 are the number 0.
                unsafe { r.write_bytes(0, self.pixels) };
                for at in plane * self.places..(plane + 1) * self.places {
                    let Ok(index) = usize::try_from(indices[at]) else { continue };
                    let to = r.wrapping_add(index);
                    // SAFETY: the caller's.
                    unsafe { to.write(if self.adds { (*to).add(*t.at(at)) } else { *t.at(at) }) };
                }
            }
        });
    }
}
