//! The gradient of weights as products: channels and taps are rows, output channels are columns, and the sum is over places.

use super::super::matmul::{Gather, Gathered, Gatherer};
use super::super::scratch::{Elements, ThreadScratch};
use super::super::transpose::transpose;
use super::direct::{PLACES, Strip};
use super::grid::{Axis, Block, Grid, is_near, piece};
use crate::cpu::tuning::DIRECT_CHANNELS;
use crate::error::{Error, Kind, Result};
use crate::launch::Convolution;

/// Rows of a part.
const ROWS: usize = 288;
/// Strips of a part.
const STRIPS: usize = 4;
/// With fewer parts than this, the batch is divided, too.
const PARTS: usize = 8;

/// Weights whose partial sums a part adds up.
const PIECE: usize = 4096;

/// The grid and the memory of such a product.
pub struct Gradient<T> {
    grid: Grid,
    scratch: ThreadScratch,
    /// The partial sums of each chunk of blocks, if there are several chunks.
    partial: Option<ThreadScratch>,
    gatherer: Gatherer<T>,
    /// The number of channels in a part.
    channels: usize,
    chunks: usize,
}

/// A part of the work: a group, some channels of the image, some strips of output channels, and a chunk of the blocks.
struct Part {
    group: usize,
    channels: std::ops::Range<usize>,
    strips: std::ops::Range<usize>,
    chunk: usize,
}

impl<T: Gather> Gradient<T> {
    /// Returns `None` if this method does not pay, or is not possible.
    pub fn new(it: &Convolution) -> Result<Option<Gradient<T>>> {
        let Some(gatherer) = T::gatherer() else { return Ok(None) };
        let (w, taps) = (&it.window, it.window.taps());
        let empty = it.batch == 0 || it.groups == 0 || it.inputs == 0 || taps == 0 || w.out.contains(&0);
        if empty || !is_near(w) || it.outputs < DIRECT_CHANNELS || w.is_identity() {
            return Ok(None);
        }
        let channels = (ROWS / taps).clamp(1, it.inputs);
        let axes = [Axis::forward(w, 0)?, Axis::forward(w, 1)?, Axis::forward(w, 2)?];
        let Some(grid) = Grid::new(axes, channels, it.batch, PLACES, size_of::<T>())? else { return Ok(None) };
        let parts = it.groups * it.inputs.div_ceil(channels) * it.outputs.div_ceil(gatherer.most() * STRIPS);
        let chunks = PARTS.div_ceil(parts).min(grid.blocks());
        let made = Gradient { grid, scratch: ThreadScratch::new(0, 1).ok_or_else(no_memory)?, partial: None, gatherer, channels, chunks };
        let scratch = ThreadScratch::new(made.bytes(taps), usize::MAX).ok_or_else(no_memory)?;
        let weights = it.groups * it.outputs * it.inputs * taps;
        let partial = (chunks > 1).then(|| ThreadScratch::new(chunks * weights * size_of::<T>(), 1).ok_or_else(no_memory)).transpose()?;
        Ok(Some(Gradient { scratch, partial, ..made }))
    }

    /// Returns the byte offsets in a thread's tile of the source of a block, its gradient, the sums, the rows and the columns.
    fn layout(&self, taps: usize) -> [usize; 5] {
        let (size, width) = (size_of::<T>(), self.gatherer.most());
        let gradient = (self.grid.source(self.channels) * size).next_multiple_of(64);
        let sums = gradient + self.grid.places() * width * size;
        let columns = (sums + STRIPS * self.channels * taps * width * size).next_multiple_of(64);
        [0, gradient, sums, columns, columns + self.grid.places() * size_of::<usize>()]
    }

    fn bytes(&self, taps: usize) -> usize {
        self.layout(taps)[4]
    }

    /// Computes the gradient `w` of the weights from the gradient `y` of the outputs, and from the images `x`.
    ///
    /// # Safety
    /// As for [`Convolution::weights`].
    pub unsafe fn run(&self, it: &Convolution, w: *mut T, y: *const T, x: *const T) {
        let (w, y, x) = (Elements(w), Elements(y.cast_mut()), Elements(x.cast_mut()));
        let (cuts, all) = (it.inputs.div_ceil(self.channels), it.outputs.div_ceil(self.gatherer.most()));
        let shares = all.div_ceil(STRIPS);
        let weights = it.groups * it.outputs * it.inputs * it.window.taps();
        let to = self.partial.as_ref().map_or(w, |partial| Elements(partial.start::<T>()));
        self.scratch.each::<T>(it.groups * cuts * shares * self.chunks, &|part, tile| {
            let (chunk, rest) = (part % self.chunks, part / self.chunks);
            let part = Part {
                group: rest / shares / cuts,
                channels: piece(rest / shares % cuts * self.channels, self.channels, it.inputs),
                strips: piece(rest % shares * STRIPS, STRIPS, all),
                chunk,
            };
            // SAFETY: the caller keeps this function's contract; each part has separate weights.
            unsafe { self.part(it, &part, tile, to.at(chunk * weights), y.at(0), x.at(0)) };
        });
        if self.partial.is_some() {
            self.scratch.each::<T>(weights.div_ceil(PIECE), &|part, _| {
                for at in piece(part * PIECE, PIECE, weights) {
                    // SAFETY: the caller keeps this function's contract; each element is summed by one part.
                    unsafe { w.at(at).write((0..self.chunks).fold(T::ZERO, |sum, chunk| T::add(sum, *to.at(chunk * weights + at)))) };
                }
            });
        }
    }

    /// Computes the sums of a part.
    unsafe fn part(&self, it: &Convolution, part: &Part, tile: *mut T, w: *mut T, y: *const T, x: *const T) {
        let (grid, taps, blocks) = (&self.grid, it.window.taps(), self.grid.blocks());
        let [_, gradient, sums, columns, _] = self.layout(taps).map(|at| tile.wrapping_byte_add(at));
        let (pixels, places, channels) = (it.window.pixels(), it.window.places(), part.channels.len());
        let chunk = blocks.div_ceil(self.chunks);
        let of_strip = self.channels * taps * self.gatherer.most();
        let mut fresh = true;
        for block in piece((part.chunk * chunk).min(blocks), chunk, blocks).map(|number| grid.block(number)) {
            let image = block.image * it.groups + part.group;
            let x = x.wrapping_add((image * it.inputs + part.channels.start) * pixels);
            // SAFETY: the caller keeps this function's contract, and the tile has the size of its layout. A last part may have fewer
            // channels than the source has room for; its channels come first.
            unsafe {
                grid.lay_out(&block, channels, x, it.groups * it.inputs * pixels, tile);
                grid.rows(&block, channels, columns.cast());
                for (k, strip) in part.strips.clone().map(|strip| Strip::of(&self.gatherer, strip, it.outputs)).enumerate() {
                    let y = y.wrapping_add((image * it.outputs + strip.first) * places);
                    self.lay_out_gradient(&block, strip, y, [it.groups * it.outputs * places, places], gradient);
                    self.gatherer.run(&Gathered {
                        a: tile,
                        rows: grid.offsets.as_ptr(),
                        count: channels * taps,
                        cols: columns.cast_const().cast(),
                        depth: block.places(),
                        b: gradient,
                        width: strip.width,
                        c: sums.wrapping_add(k * of_strip),
                        fresh,
                    });
                }
            }
            fresh = false;
        }
        let (size, row) = (size_of::<T>(), it.inputs * taps);
        for (k, strip) in part.strips.clone().map(|strip| Strip::of(&self.gatherer, strip, it.outputs)).enumerate() {
            let to = w.wrapping_add((part.group * it.outputs + strip.first) * row + part.channels.start * taps);
            let (from, step) = (sums.wrapping_add(k * of_strip), (strip.width * size) as isize);
            // SAFETY: the caller vouches for the weights of the part. The sums of a chunk without blocks are 0.
            unsafe {
                if fresh {
                    (0..strip.count * channels * taps)
                        .for_each(|k| to.add(k / (channels * taps) * row + k % (channels * taps)).write(T::ZERO));
                    continue;
                }
                transpose(size, to.cast(), (row * size) as isize, from.cast(), step, strip.count, channels * taps);
            }
        }
    }

    /// Packs the gradient of a block's outputs: a row for each place, a column for each channel of a strip. `steps` are the elements from
    /// image to image and from channel to channel.
    unsafe fn lay_out_gradient(&self, block: &Block, strip: Strip, y: *const T, steps: [usize; 2], to: *mut T) {
        let (axes, count, size) = (&self.grid.axes, block.count, size_of::<T>());
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if strip.count < strip.width {
                (0..block.places() * strip.width).for_each(|k| to.add(k).write(T::ZERO));
            }
            let whole = |d: usize| count[d] == axes[d].count;
            let (slices, lines, run) = match (whole(2), whole(1)) {
                (true, true) => (1, 1, block.of_image()),
                (true, false) => (count[0], 1, count[1] * count[2]),
                _ => (count[0], count[1], count[2]),
            };
            for line in 0..block.images * slices * lines {
                let (image, z, y_at) = (line / lines / slices, line / lines % slices + block.start[0], line % lines + block.start[1]);
                let at = image * steps[0] + (z * axes[1].count + y_at) * axes[2].count + block.start[2];
                let (to, from) = (to.add(line * run * strip.width), y.add(at));
                transpose(size, to.cast(), (strip.width * size) as isize, from.cast(), (steps[1] * size) as isize, run, strip.count);
            }
        }
    }
}

fn no_memory() -> Error {
    Error::new(Kind::NoMem, format_args!("no memory for the tiles of a convolution"))
}
