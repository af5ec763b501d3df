//! Sums over windows for a result with few channels: places that are side by side are summed side by side, in registers.

use super::super::matmul::Gather;
use super::super::scratch::{Elements, ThreadScratch};
use super::super::simd::{Level, simd};
use super::direct::phases_of;
use super::grid::{Axis, Block, Grid, is_near};
use crate::cpu::tuning::DIRECT_CHANNELS;
use crate::error::{Result, bail};
use crate::launch::Convolution;

/// Places in a block.
const PLACES: usize = 4096;
/// Places that are summed side by side: with wide vectors, and with narrow vectors.
const WIDE: usize = 64;
const NARROW: usize = 32;
const LEAST: usize = 8;
/// Elements after the source of a block that are read and discarded, for steps of at most 2.
const BEHIND: usize = 2 * WIDE;

/// The grids and the memory of such sums.
pub struct Few<T> {
    /// The phases, as in a [`super::direct::Direct`], and where the packed weights of each phase begin.
    phases: Vec<(Grid, usize)>,
    weights: ThreadScratch,
    scratch: ThreadScratch,
    transposed: bool,
    element: std::marker::PhantomData<T>,
}

impl<T: Gather> Few<T> {
    /// Prepares sums over windows or, if `transposed`, over the windows that contain an element. Returns `None` if this method does not
    /// pay, or is not possible.
    pub fn new(it: &Convolution, transposed: bool) -> Result<Option<Few<T>>> {
        let w = &it.window;
        let [from, to] = if transposed { [it.outputs, it.inputs] } else { [it.inputs, it.outputs] };
        let sizes = if transposed { w.image } else { w.out };
        let empty = it.batch == 0 || it.groups == 0 || sizes.contains(&0);
        // A window of one element is a product of few rows, which is as fast.
        if empty || to >= DIRECT_CHANNELS || !is_near(w) || (w.is_identity() && from > 1) {
            return Ok(None);
        }
        let Some(grids) = phases_of(w, transposed, from, it.batch, PLACES, size_of::<T>())? else { return Ok(None) };
        let (mut phases, mut weights, mut tile) = (Vec::new(), 0, 0);
        for grid in grids {
            tile = tile.max(grid.source(from) + BEHIND + places(&grid));
            let size = grid.offsets.len() * to * it.groups;
            phases.push((grid, weights));
            weights += size;
        }
        let (weights, scratch) = (ThreadScratch::new(weights * size_of::<T>(), 1), ThreadScratch::new(tile * size_of::<T>(), usize::MAX));
        let (Some(weights), Some(scratch)) = (weights, scratch) else { bail!(NoMem, "no memory for the tiles of a convolution") };
        Ok(Some(Few { phases, weights, scratch, transposed, element: std::marker::PhantomData }))
    }

    /// Computes `r` from `x`.
    ///
    /// # Safety
    /// As for [`Convolution::forward`] or [`Convolution::transposed`].
    pub unsafe fn run(&self, it: &Convolution, r: *mut T, w: *const T, x: *const T, bias: Option<*const T>) {
        let (r, x, bias) = (Elements(r), Elements(x.cast_mut()), bias.map(|bias| Elements(bias.cast_mut())));
        let [from, to] = if self.transposed { [it.outputs, it.inputs] } else { [it.inputs, it.outputs] };
        for (grid, weights) in &self.phases {
            let (depth, packed) = (grid.offsets.len(), Elements(self.weights.start::<T>().wrapping_add(*weights)));
            // SAFETY: the caller keeps this function's contract; `packed` has room for these weights.
            unsafe { self.pack(grid, it, w, packed.at(0)) };
            let [of_source, of_result] = [Axis::of_source, Axis::of_result].map(|size| grid.axes.iter().map(size).product::<usize>());
            self.scratch.each::<T>(grid.blocks() * it.groups, &|part, tile| {
                let (block, group) = (grid.block(part / it.groups), part % it.groups);
                let image = block.image * it.groups + group;
                let sums = tile.wrapping_add(grid.source(from) + BEHIND);
                // SAFETY: the caller keeps this function's contract; each part has separate images or channels of the result. The scratch
                // memory has room for the source, the elements read after the source, and the sums of a slice.
                unsafe {
                    grid.lay_out(&block, from, x.at(image * from * of_source), it.groups * from * of_source, tile);
                    tile.wrapping_add(grid.source(from)).write_bytes(0, BEHIND);
                    for k in 0..to {
                        let w = packed.at((group * to + k) * depth);
                        let start = bias.map_or(T::ZERO, |bias| *bias.at(group * to + k));
                        for n in 0..block.images {
                            let r = r.at(((image + n * it.groups) * to + k) * of_result);
                            let source = tile.wrapping_add(n * grid.source_of_image(from));
                            run(grid, &block, source, (w, start), sums, r);
                        }
                    }
                }
            });
        }
    }

    /// Packs the weights of a phase, one channel of the result after the other.
    unsafe fn pack(&self, grid: &Grid, it: &Convolution, w: *const T, to: *mut T) {
        let (all, taps) = (it.window.taps(), grid.taps());
        let [from, made] = if self.transposed { [it.outputs, it.inputs] } else { [it.inputs, it.outputs] };
        let [step, stride] = if self.transposed { [it.inputs * all, all] } else { [all, it.inputs * all] };
        for tap in 0..taps {
            let w = w.wrapping_add(grid.tap(tap, &it.window));
            for at in 0..it.groups * made * from {
                let (group, k, channel) = (at / from / made, at / from % made, at % from);
                // SAFETY: the caller keeps this function's contract.
                unsafe { to.add(at * taps + tap).write(*w.add(group * from * made * all + k * stride + channel * step)) };
            }
        }
    }
}

/// Returns the room that the sums of a slice need. If a slice is summed as one line, this includes the gaps between its lines; sums are
/// written in whole steps.
fn places(grid: &Grid) -> usize {
    let [_, lines, width] = grid.most();
    lines * grid.pitch().max(width) + WIDE
}

/// Writes the sums of an image of the block in one channel to their places in the result.
///
/// # Safety
/// Source, weights, sums and result must be as large as the grid says.
unsafe fn run<T: Gather>(grid: &Grid, block: &Block, source: *const T, (w, start): (*const T, T), sums: *mut T, r: *mut T) {
    let ([_, dy, dx], [slices, lines, width]) = (grid.steps(), block.count);
    let (pitch, plane) = (grid.pitch(), grid.plane());
    // If one line of the result further is one line of the source further, a slice is summed as one line.
    let whole = dy == 1 && dx == 1;
    let (runs, n, line_stride) = if whole { (1, (lines - 1) * pitch + width, pitch) } else { (lines, width, width) };
    for z in 0..slices {
        let x = source.wrapping_add(z * grid.steps()[0] * plane);
        simd(
            #[inline(always)]
            |isa| {
                for line in 0..runs {
                    let sum = Sums { x: x.wrapping_add(line * dy * pitch), offsets: &grid.offsets, w, start, n };
                    let to = sums.wrapping_add(line * width);
                    // SAFETY: the caller keeps this function's contract.
                    unsafe {
                        match (dx, isa.has_fma()) {
                            (1, true) if isa.level() == Level::Baseline => sum.run::<true, NARROW, 1>(to),
                            (1, true) if n > LEAST => sum.run::<true, WIDE, 1>(to),
                            (1, true) => sum.run::<true, LEAST, 1>(to),
                            (1, false) => sum.run::<false, NARROW, 1>(to),
                            (2, true) if n > LEAST => sum.run::<true, NARROW, 2>(to),
                            (2, true) => sum.run::<true, LEAST, 2>(to),
                            (2, false) => sum.run::<false, LEAST, 2>(to),
                            _ => sum.each(dx, to),
                        }
                    }
                }
            },
        );
        for line in 0..lines {
            let (to, from) = (r.wrapping_add(grid.place(block, [z, line])), sums.wrapping_add(line * line_stride));
            let step = grid.axes[2].stride;
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                match step {
                    1 => to.copy_from_nonoverlapping(from, width),
                    _ => (0..width).for_each(|k| to.add(k * step).write(*from.add(k))),
                }
            }
        }
    }
}

/// `start + sum over k of w[k] * x[i * step + offsets[k]]` for `n` places `i`.
struct Sums<'a, T> {
    x: *const T,
    offsets: &'a [usize],
    w: *const T,
    start: T,
    n: usize,
}

impl<T: Gather> Sums<'_, T> {
    /// Computes `N` sums at a time. The last ones may exceed `n`.
    #[inline(always)]
    unsafe fn run<const FUSED: bool, const N: usize, const STEP: usize>(&self, to: *mut T) {
        for from in (0..self.n).step_by(N) {
            let (x, mut sums) = (self.x.wrapping_add(from * STEP), [self.start; N]);
            for (k, &offset) in self.offsets.iter().enumerate() {
                // SAFETY: the caller vouches for the source and [`BEHIND`] elements after it.
                unsafe {
                    let (w, x) = (*self.w.add(k), x.wrapping_add(offset));
                    if STEP == 1 {
                        let x = x.cast::<[T; N]>().read_unaligned();
                        (0..N).for_each(|i| sums[i] = T::mul_add::<FUSED>(w, x[i], sums[i]));
                    } else {
                        let x = x.cast::<[[T; STEP]; N]>().read_unaligned();
                        (0..N).for_each(|i| sums[i] = T::mul_add::<FUSED>(w, x[i][0], sums[i]));
                    }
                }
            }
            // SAFETY: the caller guarantees room for whole steps.
            unsafe { to.add(from).cast::<[T; N]>().write_unaligned(sums) };
        }
    }

    /// Computes the sums one by one, for other steps.
    #[inline(always)]
    unsafe fn each(&self, step: usize, to: *mut T) {
        for i in 0..self.n {
            let x = self.x.wrapping_add(i * step);
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                let term = |(k, &offset): (usize, &usize)| T::mul(*self.w.add(k), *x.add(offset));
                to.add(i).write(self.offsets.iter().enumerate().map(term).fold(self.start, T::add));
            }
        }
    }
}
