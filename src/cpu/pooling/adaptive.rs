//! Adaptive pooling: windows that divide an image into a given number of parts, and the gradient of their means.

use super::{greater, taken};
use crate::cpu::scratch::{Elements, ThreadScratch};
use crate::cpu::simd::simd;
use crate::dtype::Element;
use crate::launch::{Adaptive, IMAGE_DIMS};
use std::ops::Range;

/// Lanes in a maximum: windows are often as wide.
const MAX_LANES: usize = 8;
/// Lanes in a sum.
const SUM_LANES: usize = 64;

/// Returns the sum of a row.
///
/// # Safety
/// `x` must have `n` elements.
#[inline(always)]
unsafe fn sum<T: Element>(x: *const T, n: usize) -> T {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if n < SUM_LANES {
            return (0..n).fold(T::ZERO, |total, at| total.add(*x.add(at)));
        }
        let mut lanes = [T::ZERO; SUM_LANES];
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

/// The windows of one dimension in ascending order.
struct Parts {
    out: usize,
    /// The number of windows that are left.
    left: usize,
    /// `size / out`, and the remainder.
    whole: usize,
    rest: usize,
    /// The next window begins at `start + fraction / out`, rounded down.
    start: usize,
    fraction: usize,
}

impl Iterator for Parts {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        self.left = self.left.checked_sub(1)?;
        let first = self.start;
        (self.start, self.fraction) = (self.start + self.whole, self.fraction + self.rest);
        if self.fraction >= self.out {
            (self.start, self.fraction) = (self.start + 1, self.fraction - self.out);
        }
        Some(first..self.start + usize::from(self.fraction > 0))
    }
}

impl Adaptive {
    /// Returns the elements of each window in dimension `d`. Window `o` begins at `o * size / out`, rounded down, and ends at
    /// `(o + 1) * size / out`, rounded up.
    #[inline(always)]
    fn parts(&self, d: usize) -> Parts {
        let out = self.out[d];
        Parts { out, left: out, whole: self.image[d] / out.max(1), rest: self.image[d] % out.max(1), start: 0, fraction: 0 }
    }

    /// Calls `f` with each output of a plane and the elements of its window, row by row.
    #[inline(always)]
    fn each(&self, mut f: impl FnMut(usize, [Range<usize>; IMAGE_DIMS])) {
        // Two dimensions may have huge sizes next to a 0.
        if self.out.contains(&0) {
            return;
        }
        let mut output = 0;
        // Loops and not `for_each`, which would not be compiled for the instruction set of the caller.
        for z in self.parts(0) {
            for y in self.parts(1) {
                for x in self.parts(2) {
                    f(output, [z.clone(), y.clone(), x]);
                    output += 1;
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
            let Some(indices) = indices else {
                return simd(
                    #[inline(always)]
                    |_| {
                        self.each(
                            #[inline(always)]
                            // SAFETY: the caller keeps this function's contract.
                            |place, window| unsafe { values.at(plane * places + place).write(self.greatest_of(&window, x)) },
                        );
                    },
                );
            };
            self.each(|place, window| {
                let (mut value, mut index) = (T::from_f64(f64::NEG_INFINITY), -1);
                // SAFETY: the caller keeps this function's contract; windows are inside the image.
                unsafe {
                    self.rows(&window, |row| row.for_each(|at| taken(&mut value, &mut index, *x.add(at), at)));
                    values.at(plane * places + place).write(value);
                    indices.at(plane * places + place).write(index);
                }
            });
        });
    }

    /// Returns the maximum of a window: first of each lane, then of the lanes.
    ///
    /// # Safety
    /// `x` must hold the image.
    #[inline(always)]
    unsafe fn greatest_of<T: Element>(&self, window: &[Range<usize>; IMAGE_DIMS], x: *const T) -> T {
        let least = T::from_f64(f64::NEG_INFINITY);
        let (mut lanes, mut rest) = ([least; MAX_LANES], least);
        self.rows(
            window,
            #[inline(always)]
            |row| {
                let whole = row.len() / MAX_LANES * MAX_LANES;
                for block in (row.start..row.start + whole).step_by(MAX_LANES) {
                    // SAFETY: the caller keeps this function's contract; windows are inside the image.
                    let block = unsafe { x.add(block).cast::<[T; MAX_LANES]>().read_unaligned() };
                    for k in 0..MAX_LANES {
                        lanes[k] = greater(lanes[k], block[k]);
                    }
                }
                for at in row.start + whole..row.end {
                    // SAFETY: as above.
                    rest = greater(rest, unsafe { *x.add(at) });
                }
            },
        );
        let mut half = MAX_LANES / 2;
        while half > 0 {
            for k in 0..half {
                lanes[k] = greater(lanes[k], lanes[k + half]);
            }
            half /= 2;
        }
        greater(lanes[0], rest)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_the_image() {
        for (size, out) in [(0, 0), (0, 3), (1, 1), (1, 4), (7, 3), (56, 7), (1000, 100), (10, 7), (5, 0), (usize::MAX, 3)] {
            let parts: Vec<_> = Adaptive { image: [1, 1, size], out: [1, 1, out] }.parts(2).collect();
            assert_eq!(parts.len(), out);
            for (o, part) in parts.into_iter().enumerate() {
                let at = |o: usize| o as u128 * size as u128;
                assert_eq!(part, (at(o) / out as u128) as usize..at(o + 1).div_ceil(out as u128) as usize, "{size} {out}");
            }
        }
    }

    #[test]
    fn a_maximum_is_the_same_with_and_without_its_index() {
        for (image, out) in [([1, 1, 100], [1, 1, 9]), ([1, 30, 29], [1, 4, 3]), ([9, 10, 40], [2, 3, 1]), ([1, 1, 5], [1, 1, 5])] {
            let (pixels, places) = (image.iter().product::<usize>(), out.iter().product::<usize>());
            let mut x: Vec<f32> = (0..pixels).map(|i| (i * 7919 % 1009) as f32 - 1100.0).collect();
            x[pixels / 2] = f32::NAN;
            let (mut with, mut without, mut indices) = (vec![0.0; places], vec![0.0; places], vec![0; places]);
            let (windows, scratch) = (Adaptive { image, out }, ThreadScratch::new(1, 1).unwrap());
            // SAFETY: all memory has the sizes of the windows.
            unsafe {
                windows.greatest(&scratch, 1, with.as_mut_ptr(), Some(indices.as_mut_ptr()), x.as_ptr());
                windows.greatest(&scratch, 1, without.as_mut_ptr(), None, x.as_ptr());
            }
            for place in 0..places {
                assert_eq!(with[place].to_bits(), without[place].to_bits(), "{image:?}: {place}");
                assert_eq!(with[place].to_bits(), x[indices[place] as usize].to_bits());
            }
        }
    }
}
