//! Samples between the pixels of images, and their gradients.
//!
//! The weights of a block of samples are computed once, in float64, and serve all channels. If all terms of a sample are inside the image,
//! they are adjacent pixels, and a sample is a sum of weighted rows. The terms of other samples are computed one by one.

use super::engine::{CHEAP, Shared, parallel};
use super::real::Real;
use super::simd::simd;
use crate::dtype::dispatch;
use crate::error::Result;
use crate::launch::sampling::{Outside, Sampling, SamplingGradient};
use crate::operand::Operand;
use std::ops::{Add, Mul};

/// The samples of a block.
const BLOCK: usize = 64;
/// The maximum number of terms of a sample: cubic convolution in two dimensions.
const MOST: usize = 16;

/// A number for each sample of a block.
type Lane<T> = [T; BLOCK];
/// A number for each term along each dimension. The last dimension of the image comes first, as in the grid.
type Along<T> = [[Lane<T>; 4]; 3];

/// An element type of images.
trait Pixel: Real + Add<Output = Self> + Mul<Output = Self> {}

impl Pixel for f32 {}
impl Pixel for f64 {}

/// The terms of the samples of a block.
struct Block {
    /// The places in the image along each dimension. Places of cubic convolution may be outside the image.
    places: [Lane<f64>; 3],
    weights: Along<f64>,
    /// The derivatives of the weights by the coordinates.
    slopes: Along<f64>,
    /// The first pixel of each sample in a channel, or -1 if a term is outside the image.
    first: Lane<i64>,
}

/// A term of a sample: its pixel in a channel, or -1 outside the image, its weight, and the derivatives of the weight.
#[derive(Clone, Copy)]
struct Term {
    at: i64,
    weight: f64,
    slopes: [f64; 3],
}

/// The nearest place inside an image whose last pixel is `last`, and the derivative.
#[inline(always)]
fn limited(x: f64, last: f64) -> (f64, f64) {
    let slope = if x > 0.0 && x < last { 1.0 } else { 0.0 };
    let x = if x <= 0.0 { 0.0 } else { x };
    (if x >= last { last } else { x }, slope)
}

/// The place in an image of `size` pixels for a place that may be outside, and the derivative. Places are reflected at both ends as often
/// as necessary.
#[inline(always)]
fn reflected(x: f64, size: f64, align_corners: bool) -> (f64, f64) {
    let [low, high] = if align_corners { [0.0, size - 1.0] } else { [-0.5, size - 0.5] };
    let span = high - low;
    if span <= 0.0 {
        return (0.0 * x, 0.0);
    }
    let (distance, sign) = if x < low { (low - x, -1.0) } else { (x - low, 1.0) };
    let turns = (distance / span).floor();
    let rest = distance - turns * span;
    let (x, turned) = if turns * 0.5 == (turns * 0.5).floor() { (low + rest, sign) } else { (high - rest, -sign) };
    let (x, slope) = limited(x, size - 1.0);
    (x, slope * turned)
}

/// Cubic convolution with parameter -0.75 at the distance `x`, and its derivative.
#[inline(always)]
fn cubic(x: f64) -> (f64, f64) {
    const A: f64 = -0.75;
    let (d, sign) = (x.abs(), 1.0f64.copysign(x));
    let near = (((A + 2.0) * d - (A + 3.0)) * d * d + 1.0, (3.0 * (A + 2.0) * d - 2.0 * (A + 3.0)) * d * sign);
    let far = (((d - 5.0) * d + 8.0) * d * A - 4.0 * A, ((3.0 * d - 10.0) * d + 8.0) * A * sign);
    if d <= 1.0 { near } else { far }
}

/// A whole number less than 2^51.
#[inline(always)]
fn whole(x: f64) -> i64 {
    // Adding 1.5 * 2^52 leaves the integer in the low bits. AVX2 has no conversion of vectors.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    (x + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64
}

/// The size of the image along the dimension with this number in the grid.
#[inline(always)]
fn size(work: &Sampling, d: usize) -> i64 {
    work.sizes[work.dims - 1 - d]
}

/// Replaces coordinates by places in an image of `size` pixels, and returns the derivatives of the places. `inside` moves places that are
/// outside the image, if the method does so before it chooses pixels.
#[inline(always)]
fn places_by(places: &mut Lane<f64>, slopes: &mut Lane<f64>, size: f64, align_corners: bool, inside: impl Fn(f64) -> (f64, f64)) {
    let scale = if align_corners { (size - 1.0) / 2.0 } else { size / 2.0 };
    for (place, slope) in places.iter_mut().zip(slopes) {
        let c = *place + 1.0;
        let (x, turned) = inside(if align_corners { c / 2.0 * (size - 1.0) } else { (c * size - 1.0) / 2.0 });
        (*place, *slope) = (x, turned * scale);
    }
}

/// [`places_by`] for the treatment of places outside the image.
#[inline(always)]
fn places_of(work: &Sampling, size: f64, places: &mut Lane<f64>, slopes: &mut Lane<f64>) {
    let corners = work.align_corners;
    match (work.outside, work.along) {
        (Outside::Zero, _) | (Outside::Edge, 4) => places_by(places, slopes, size, corners, |at| (at, 1.0)),
        (Outside::Edge, _) => places_by(places, slopes, size, corners, |at| limited(at, size - 1.0)),
        // Reflections of an infinite place have no limit. The sum is NaN at an infinite place.
        (Outside::Reflected, 4) => places_by(places, slopes, size, corners, |at| (at + 0.0 * at, 1.0)),
        (Outside::Reflected, _) => places_by(places, slopes, size, corners, |at| reflected(at + 0.0 * at, size, corners)),
    }
}

/// Computes `N` terms from places, and moves the first pixel of each sample along the dimension. `slopes[0]` has the derivatives of the
/// places. The arguments are separate references, because otherwise the compiler does not see that they are disjoint, and makes no vectors.
#[inline(always)]
fn terms<const N: usize>(places: &Lane<f64>, first: &mut Lane<f64>, weights: &mut [Lane<f64>; 4], slopes: &mut [Lane<f64>; 4], size: f64) {
    for i in 0..BLOCK {
        let x = places[i];
        // Infinite places are outside.
        let below = if N == 1 { x.round_ties_even() } else { x.floor() };
        let is_infinite = x.abs() == f64::INFINITY;
        let rest = if is_infinite { 0.0 } else { x - below };
        match N {
            1 => weights[0][i] = if x.is_nan() { x } else { 1.0 },
            2 => {
                let slope = if is_infinite { 0.0 } else { slopes[0][i] };
                (weights[0][i], slopes[0][i]) = (1.0 - rest, -slope);
                (weights[1][i], slopes[1][i]) = (rest, slope);
            }
            _ => {
                let scale = slopes[0][i];
                for k in 0..4 {
                    let (weight, slope) = cubic(rest - (k as f64 - 1.0));
                    (weights[k][i], slopes[k][i]) = (weight, slope * scale);
                }
            }
        }
        let lowest = if N == 4 { below - 1.0 } else { below };
        let is_inside = (lowest >= 0.0) & (lowest + (N as f64 - 1.0) < size) & (first[i] >= 0.0);
        first[i] = if is_inside { first[i] * size + lowest } else { -1.0 };
    }
}

impl Block {
    fn new() -> Block {
        let none = [[[0.0; BLOCK]; 4]; 3];
        Block { places: [[0.0; BLOCK]; 3], weights: none, slopes: none, first: [-1; BLOCK] }
    }

    /// Computes the terms of `n` samples.
    ///
    /// # Safety
    /// `grid` has the coordinates of `n` samples.
    unsafe fn read<T: Pixel>(&mut self, work: &Sampling, grid: *const T, n: usize) {
        let (places, n) = (&mut self.places, n.min(BLOCK));
        simd(
            #[inline(always)]
            move |_| {
                // SAFETY: the caller guarantees the coordinates.
                let at = |i: usize| unsafe { grid.add(i).read() }.to_f64();
                if work.dims == 2 {
                    (0..n).for_each(|i| (places[0][i], places[1][i]) = (at(2 * i), at(2 * i + 1)));
                } else {
                    (0..n).for_each(|i| (places[0][i], places[1][i], places[2][i]) = (at(3 * i), at(3 * i + 1), at(3 * i + 2)));
                }
            },
        );
        self.compute(*work);
    }

    /// Replaces coordinates by terms.
    fn compute(&mut self, work: Sampling) {
        simd(
            #[inline(always)]
            move |_| {
                let mut first = [0.0; BLOCK];
                for d in (0..work.dims).rev() {
                    let (size, places) = (size(&work, d) as f64, &mut self.places[d]);
                    let (weights, slopes) = (&mut self.weights[d], &mut self.slopes[d]);
                    places_of(&work, size, places, &mut slopes[0]);
                    match work.along {
                        1 => terms::<1>(places, &mut first, weights, slopes, size),
                        2 => terms::<2>(places, &mut first, weights, slopes, size),
                        _ => terms::<4>(places, &mut first, weights, slopes, size),
                    }
                }
                for i in 0..BLOCK {
                    self.first[i] = whole(first[i]);
                }
            },
        );
    }

    /// Returns the terms of a sample. Each may be outside.
    fn each(&self, work: &Sampling, i: usize) -> [Term; MOST] {
        let mut pixels = [[-1; 4]; 3];
        for (d, pixels) in pixels[..work.dims].iter_mut().enumerate() {
            let (x, size) = (self.places[d][i], size(work, d) as f64);
            for (k, pixel) in pixels[..work.along].iter_mut().enumerate() {
                let x = match (work.along, work.outside) {
                    (1, _) => x,
                    (2, _) => x.floor() + k as f64,
                    (_, Outside::Zero) => x.floor() + k as f64 - 1.0,
                    (_, Outside::Edge) => limited(x.floor() + k as f64 - 1.0, size - 1.0).0,
                    (_, Outside::Reflected) => reflected(x.floor() + k as f64 - 1.0, size, work.align_corners).0,
                };
                let x = x.round_ties_even();
                *pixel = if x >= 0.0 && x < size { x as i64 } else { -1 };
            }
        }
        let mut terms = [Term { at: 0, weight: 1.0, slopes: [1.0; 3] }; MOST];
        for (tap, term) in terms[..work.taps()].iter_mut().enumerate() {
            for d in (0..work.dims).rev() {
                let k = tap >> (d as u32 * work.along.trailing_zeros()) & (work.along - 1);
                let at = pixels[d][k];
                term.at = if term.at < 0 || at < 0 { -1 } else { term.at * size(work, d) + at };
                term.weight *= self.weights[d][k][i];
                for (other, slope) in term.slopes.iter_mut().enumerate() {
                    *slope *= if other == d { self.slopes[d][k][i] } else { self.weights[d][k][i] };
                }
            }
        }
        terms
    }

    /// Calls `f` with each of the first `n` samples of which a term is outside, and its terms.
    fn outside(&self, work: &Sampling, n: usize, mut f: impl FnMut(usize, &[Term])) {
        for i in (0..n).filter(|&i| self.first[i] < 0) {
            f(i, &self.each(work, i)[..work.taps()]);
        }
    }
}

/// Converts numbers of a block to the type of the images.
fn convert<T: Pixel>(work: &Sampling, to: &mut Along<T>, from: &Along<f64>) {
    simd(
        #[inline(always)]
        move |_| {
            for (to, from) in to[..work.dims].iter_mut().zip(from) {
                for (to, from) in to[..work.along].iter_mut().zip(from) {
                    (0..BLOCK).for_each(|i| to[i] = T::from_f64(from[i]));
                }
            }
        },
    );
}

/// The kernels of samples whose terms are all inside the image.
struct Inside<'a, T> {
    first: &'a Lane<i64>,
    /// The number of samples.
    n: usize,
    weights: &'a Along<T>,
    /// The terms along each dimension, and the planes that have terms.
    along: usize,
    planes: usize,
    /// The elements from a row or a plane of the image to the next.
    steps: [usize; 2],
}

/// `sums[i] += factors[0][i] * row[0][i] + factors[1][i] * row[1][i] + ...`, times the weights of the row and of the plane, for `n` samples
/// with `along` terms. Loops over samples are inside, so that they become vectors.
#[inline(always)]
fn add_rows<T: Pixel>(
    sums: &mut Lane<T>,
    row: &[Lane<T>; 4],
    factors: &[Lane<T>; 4],
    of_row: &Lane<T>,
    of_plane: Option<&Lane<T>>,
    (n, along): (usize, usize),
) {
    let n = n.min(BLOCK);
    let mut sum = [T::ZERO; BLOCK];
    for i in 0..n {
        sum[i] = factors[0][i] * row[0][i];
    }
    for (factors, row) in factors.iter().zip(row).take(along).skip(1) {
        for i in 0..n {
            sum[i] = sum[i] + factors[i] * row[i];
        }
    }
    if let Some(of_plane) = of_plane {
        for i in 0..n {
            sum[i] = sum[i] * of_plane[i];
        }
    }
    for i in 0..n {
        sums[i] = sums[i] + sum[i] * of_row[i];
    }
}

impl<'a, T: Pixel> Inside<'a, T> {
    fn of(work: &Sampling, block: &'a Block, n: usize, weights: &'a Along<T>) -> Inside<'a, T> {
        let [_, y, z] = work.sizes.map(|size| size as usize);
        let steps = [if work.dims == 2 { y } else { z }, y * z];
        let planes = if work.dims == 2 { 1 } else { work.along };
        Inside { first: &block.first, n: n.min(BLOCK), weights, along: work.along, planes, steps }
    }

    /// Calls `f` with each sample and its first pixel.
    #[inline(always)]
    fn each_sample(&self, mut f: impl FnMut(usize, usize)) {
        for i in 0..self.n.min(BLOCK) {
            if self.first[i] >= 0 {
                f(i, self.first[i] as usize);
            }
        }
    }

    /// Calls `f` with the offset of each row, and the numbers of the row and of the plane.
    #[inline(always)]
    fn each_row(&self, mut f: impl FnMut(usize, usize, usize)) {
        for z in 0..self.planes {
            for y in 0..self.along {
                f(z * self.steps[1] + y * self.steps[0], y, z);
            }
        }
    }

    /// Returns the weights of a plane; `None` in two dimensions.
    #[inline(always)]
    fn of_plane(&self, lanes: &'a Along<T>, z: usize) -> Option<&'a Lane<T>> {
        if self.planes == 1 { None } else { Some(&lanes[2][z]) }
    }

    /// Reads the pixels of a row of each sample.
    ///
    /// # Safety
    /// `from` has all pixels.
    #[inline(always)]
    unsafe fn gather(&self, row: &mut [Lane<T>; 4], from: *const T) {
        if self.along == 2 {
            // SAFETY: the caller guarantees the pixels.
            return self.each_sample(
                #[inline(always)]
                |i, first| unsafe { (row[0][i], row[1][i]) = (from.add(first).read(), from.add(first + 1).read()) },
            );
        }
        for (k, row) in row.iter_mut().take(self.along).enumerate() {
            self.each_sample(
                #[inline(always)]
                // SAFETY: the caller guarantees the pixels.
                |i, first| row[i] = unsafe { from.add(first + k).read() },
            );
        }
    }

    /// Writes the samples of a channel.
    ///
    /// # Safety
    /// `to` has all samples, and `from` has all pixels.
    unsafe fn samples(&self, to: *mut T, from: *const T) {
        if self.along == 1 {
            // SAFETY: the caller guarantees the elements.
            return self.each_sample(
                #[inline(always)]
                |i, first| unsafe { to.add(i).write(from.add(first).read()) },
            );
        }
        let of = Inside { ..*self };
        simd(
            #[inline(always)]
            move |_| {
                let (mut row, mut sums, weights) = ([[T::ZERO; BLOCK]; 4], [T::ZERO; BLOCK], of.weights);
                of.each_row(
                    #[inline(always)]
                    |at, y, z| {
                        // SAFETY: the caller guarantees the pixels.
                        unsafe { of.gather(&mut row, from.add(at)) };
                        add_rows(&mut sums, &row, &weights[0], &weights[1][y], of.of_plane(weights, z), (of.n, of.along));
                    },
                );
                // SAFETY: the caller guarantees the elements.
                (0..of.n.min(BLOCK)).for_each(|i| unsafe { to.add(i).write(sums[i]) });
            },
        );
    }

    /// Adds the gradients of the pixels of a channel. All samples add one term each, because an addition waits for the last one to the same
    /// pixel, and adjacent samples often have a pixel in common.
    ///
    /// # Safety
    /// `g` has all samples, and `to` has all pixels.
    unsafe fn spread(&self, to: *mut T, g: *const T) {
        let mut products = [T::ZERO; BLOCK];
        self.each_row(|at, y, z| {
            for k in 0..self.along.min(4) {
                for i in 0..self.n.min(BLOCK) {
                    let weight = self.weights[0][k][i] * self.weights[1][y][i];
                    let weight = if self.planes == 1 { weight } else { weight * self.weights[2][z][i] };
                    // SAFETY: the caller guarantees the elements.
                    products[i] = weight * unsafe { g.add(i).read() };
                }
                self.each_sample(
                    #[inline(always)]
                    |i, first| {
                        // SAFETY: the caller guarantees the elements.
                        let to = unsafe { &mut *to.add(first + at + k) };
                        *to = *to + products[i];
                    },
                );
            }
        });
    }

    /// Adds the gradients of the coordinates.
    ///
    /// # Safety
    /// `g` has all samples, and `from` has all pixels.
    unsafe fn slopes(&self, to: &mut [Lane<T>; 3], slopes: &'a Along<T>, g: *const T, from: *const T) {
        let of = Inside { ..*self };
        simd(
            #[inline(always)]
            move |_| {
                let (mut row, mut sums, weights) = ([[T::ZERO; BLOCK]; 4], [[T::ZERO; BLOCK]; 3], of.weights);
                of.each_row(
                    #[inline(always)]
                    |at, y, z| {
                        // SAFETY: the caller guarantees the pixels.
                        unsafe { of.gather(&mut row, from.add(at)) };
                        for d in 0..if of.planes == 1 { 2 } else { 3 } {
                            let lanes = |other: usize| if other == d { slopes } else { weights };
                            add_rows(&mut sums[d], &row, &lanes(0)[0], &lanes(1)[1][y], of.of_plane(lanes(2), z), (of.n, of.along));
                        }
                    },
                );
                for (to, sums) in to.iter_mut().zip(&sums) {
                    of.each_sample(
                        #[inline(always)]
                        // SAFETY: the caller guarantees the elements.
                        |i, _| to[i] = to[i] + unsafe { g.add(i).read() } * sums[i],
                    );
                }
            },
        );
    }
}

/// The number of blocks of all images.
fn blocks(work: &Sampling) -> usize {
    work.images * work.samples.div_ceil(BLOCK)
}

/// The image, the first sample and the number of samples of a block.
fn place(work: &Sampling, number: usize) -> [usize; 3] {
    let blocks = work.samples.div_ceil(BLOCK);
    let start = number % blocks * BLOCK;
    [number / blocks, start, BLOCK.min(work.samples - start)]
}

/// Computes the samples.
pub fn run(work: &Sampling, r: &Operand, [t, grid]: [&Operand; 2]) -> Result<()> {
    let at = [r, t, grid].map(|operand| Shared(operand.first()));
    dispatch!(float, r.dtype, T => sample::<T>(work, at));
    Ok(())
}

/// Computes the gradients.
pub fn gradient(SamplingGradient(work): &SamplingGradient, out: [Option<&Operand>; 2], inputs: [&Operand; 3]) -> Result<()> {
    let [g, t, grid] = inputs.map(|operand| Shared(operand.first()));
    dispatch!(float, inputs[0].dtype, T => {
        if let Some(r) = out[0] {
            spread::<T>(work, [Shared(r.first()), g, grid]);
        }
        if let Some(r) = out[1] {
            slopes::<T>(work, [Shared(r.first()), g, t, grid]);
        }
    });
    Ok(())
}

fn sample<T: Pixel>(work: &Sampling, [r, t, grid]: [Shared; 3]) {
    let (channels, samples, pixels) = (work.channels, work.samples, work.pixels());
    parallel(blocks(work), BLOCK * work.taps() * (channels + 2), CHEAP, &|numbers| {
        let (mut block, mut weights) = (Block::new(), [[[T::ZERO; BLOCK]; 4]; 3]);
        for number in numbers {
            let [image, start, n] = place(work, number);
            // SAFETY: the operands have these images and samples, and threads write separate samples.
            unsafe {
                block.read(work, grid.get().cast::<T>().add((image * samples + start) * work.dims), n);
                let to = r.get().cast::<T>().add(image * channels * samples + start);
                let from = t.get().cast::<T>().add(image * channels * pixels);
                convert(work, &mut weights, &block.weights);
                let inside = Inside::of(work, &block, n, &weights);
                for c in 0..channels {
                    inside.samples(to.add(c * samples), from.add(c * pixels));
                }
                block.outside(work, n, |i, terms| {
                    for c in 0..channels {
                        // A weight may be NaN.
                        let value = |at: i64| if at < 0 { T::ZERO } else { from.add(c * pixels + at as usize).read() };
                        let sum = terms.iter().fold(T::ZERO, |sum, term| sum + T::from_f64(term.weight) * value(term.at));
                        to.add(c * samples + i).write(sum);
                    }
                });
            }
        }
    });
}

/// Computes the gradient of the images. A channel is the sum over its samples in order.
fn spread<T: Pixel>(work: &Sampling, [r, g, grid]: [Shared; 3]) {
    let (channels, samples, pixels) = (work.channels, work.samples, work.pixels());
    parallel(work.images * channels, pixels.saturating_add(samples.saturating_mul(work.taps())), CHEAP, &|planes| {
        let (mut block, mut weights) = (Block::new(), [[[T::ZERO; BLOCK]; 4]; 3]);
        let mut plane = planes.start;
        while plane < planes.end {
            let image = plane / channels;
            let of_image = plane..planes.end.min((image + 1) * channels);
            plane = of_image.end;
            // SAFETY: the operands have these channels and samples, and threads write separate channels. All bits 0 are the number 0.
            unsafe {
                let (r, g) = (r.get().cast::<T>(), g.get().cast::<T>());
                r.add(of_image.start * pixels).write_bytes(0, of_image.len() * pixels);
                for start in (0..samples).step_by(BLOCK) {
                    let n = BLOCK.min(samples - start);
                    block.read(work, grid.get().cast::<T>().add((image * samples + start) * work.dims), n);
                    convert(work, &mut weights, &block.weights);
                    let at = |c: usize| (r.add(c * pixels), g.add(c * samples + start));
                    let inside = Inside::of(work, &block, n, &weights);
                    for (to, g) in of_image.clone().map(at) {
                        inside.spread(to, g);
                    }
                    block.outside(work, n, |i, terms| {
                        for (to, g) in of_image.clone().map(at) {
                            for term in terms.iter().filter(|term| term.at >= 0) {
                                let to = to.add(term.at as usize);
                                to.write(to.read() + T::from_f64(term.weight) * g.add(i).read());
                            }
                        }
                    });
                }
            }
        }
    });
}

/// Computes the gradient of the grid.
fn slopes<T: Pixel>(work: &Sampling, [r, g, t, grid]: [Shared; 4]) {
    let (channels, samples, pixels, dims) = (work.channels, work.samples, work.pixels(), work.dims);
    if work.along == 1 {
        // SAFETY: the result has these elements, and all bits 0 are the number 0.
        return unsafe { r.get().cast::<T>().write_bytes(0, work.images * samples * dims) };
    }
    parallel(blocks(work), BLOCK * work.taps() * (channels + 4), CHEAP, &|numbers| {
        let (mut block, mut weights, mut slopes) = (Block::new(), [[[T::ZERO; BLOCK]; 4]; 3], [[[T::ZERO; BLOCK]; 4]; 3]);
        for number in numbers {
            let [image, start, n] = place(work, number);
            let at = (image * samples + start) * dims;
            // SAFETY: the operands have these images and samples, and threads write separate samples.
            unsafe {
                block.read(work, grid.get().cast::<T>().add(at), n);
                let g = g.get().cast::<T>().add(image * channels * samples + start);
                let from = t.get().cast::<T>().add(image * channels * pixels);
                convert(work, &mut weights, &block.weights);
                convert(work, &mut slopes, &block.slopes);
                let mut sums = [[T::ZERO; BLOCK]; 3];
                let inside = Inside::of(work, &block, n, &weights);
                for c in 0..channels {
                    inside.slopes(&mut sums, &slopes, g.add(c * samples), from.add(c * pixels));
                }
                block.outside(work, n, |i, terms| {
                    for term in terms {
                        let product = |c: usize| g.add(c * samples + i).read() * from.add(c * pixels + term.at as usize).read();
                        let dot = if term.at < 0 { T::ZERO } else { (0..channels).fold(T::ZERO, |sum, c| sum + product(c)) };
                        for (sums, slope) in sums.iter_mut().zip(term.slopes) {
                            sums[i] = sums[i] + dot * T::from_f64(slope);
                        }
                    }
                });
                let to = r.get().cast::<T>().add(at);
                for (d, lane) in sums[..dims].iter().enumerate() {
                    (0..n).for_each(|i| to.add(i * dims + d).write(lane[i]));
                }
            }
        }
    });
}
