//! Convolutions as matrix products: of the weights and the image as columns of windows, made tile by tile in the cache and never whole.
//!
//! Between an image `x`, its output `y` and weights `w` there are three products, each of two giving the third. Parts are cut at places
//! that depend on sizes alone, so that results do not depend on the number of threads.

mod direct;
mod few;
mod gradient;
mod grid;

use self::direct::Direct;
use self::few::Few;
use self::gradient::Gradient;
use self::grid::piece;
use super::matmul::{Gather, Gemm, Mat, gemm};
use super::scratch::{Elements, ThreadScratch};
use crate::cpu::tuning::PRODUCT_DEPTH;
use crate::error::{Result, bail};
use crate::launch::{Convolution, Product};
use std::ops::Range;

/// Outputs of a tile: whole strips of a product, whatever the machine.
const TILE_COLS: usize = 96;
/// Outputs of a tile whose sum over them is asked for, or output channels where these are summed over: no more than products take as they
/// lie.
const TILE_DEPTH: usize = 128;
/// Rows of the gradient of weights that are computed together.
const WEIGHT_ROWS: usize = 96;
/// Elements of a tile.
const TILE: usize = PRODUCT_DEPTH * TILE_COLS;
/// With fewer parts than that, output channels are divided, too.
const FEW_PARTS: usize = 32;
/// Output channels are divided into this many at least.
const LEAST_CHANNELS: usize = 64;

/// The method that computes a product, and its memory.
#[expect(clippy::large_enum_variant, reason = "a call makes one, on its stack")]
pub enum Workspace<T> {
    /// By tiles of windows.
    Tiles(ThreadScratch),
    /// From the image as it lies.
    Direct(Direct<T>),
    /// The same for few channels.
    Few(Few<T>),
    /// The same for weights.
    Gradient(Gradient<T>),
}

impl<T> Workspace<T> {
    /// Scratch memory for tiles; other ways have been gone before it is asked for.
    fn scratch(&self) -> &ThreadScratch {
        match self {
            Workspace::Tiles(scratch) => scratch,
            _ => unreachable!("the workspace of another product"),
        }
    }
}

/// A row-major matrix whose rows are `step` elements apart.
fn rows_of<T>(data: *mut T, rows: usize, cols: usize, step: usize) -> Mat<T> {
    Mat { data, rows, cols, row_stride: step as isize, col_stride: 1 }
}

/// A matrix whose columns are `step` elements apart.
fn columns_of<T>(data: *mut T, rows: usize, cols: usize, step: usize) -> Mat<T> {
    Mat { data, rows, cols, row_stride: 1, col_stride: step as isize }
}

/// Fills a row of a matrix for each channel with what is to be added to it.
unsafe fn fill_rows<T: Gemm>(c: Mat<T>, value: impl Fn(usize) -> T) {
    for i in 0..c.rows {
        let (row, value) = (c.data.wrapping_offset(i as isize * c.row_stride), value(i));
        // SAFETY: the caller's: an element of the matrix.
        (0..c.cols).for_each(|j| unsafe { row.add(j).write(value) });
    }
}

impl Convolution {
    /// Rows of the columns of a group.
    fn rows(&self) -> usize {
        self.inputs * self.window.taps()
    }

    /// Returns the workspace of a product; it fails only if memory runs out.
    pub fn workspace<T: Gather>(&self, product: Product) -> Result<Workspace<T>> {
        let transposed = product == Product::Transposed;
        let found = match product {
            Product::Weights => Gradient::new(self)?.map(Workspace::Gradient),
            _ => match Few::new(self, transposed)? {
                Some(few) => Some(Workspace::Few(few)),
                None => Direct::new(self, transposed)?.map(Workspace::Direct),
            },
        };
        if let Some(found) = found {
            return Ok(found);
        }
        // In how many parts does not matter for tiles of this size.
        let Some(scratch) = ThreadScratch::new(TILE * size_of::<T>(), usize::MAX) else {
            bail!(NoMem, "no memory for the tiles of a convolution")
        };
        Ok(Workspace::Tiles(scratch))
    }

    /// The rows of the columns of a group's image: as the image lies, where that has them, else made in the tile.
    unsafe fn columns<T: Gemm>(&self, x: *mut T, rows: Range<usize>, outputs: Range<usize>, tile: *mut T) -> Mat<T> {
        if self.window.is_identity() {
            let pixels = self.window.pixels();
            return rows_of(x.wrapping_add(rows.start * pixels + outputs.start), rows.len(), outputs.len(), pixels);
        }
        let (count, step) = (rows.len(), outputs.len());
        // SAFETY: the caller's.
        unsafe { self.window.unroll(x, rows, outputs, tile, step) };
        rows_of(tile, count, step, step)
    }

    /// `y = w * x + bias`
    ///
    /// # Safety
    /// All tensors have the elements that `self` says, a bias has one for each channel of `y`; nobody else may touch `y`.
    pub unsafe fn forward<T: Gather>(&self, workspace: &Workspace<T>, y: *mut T, w: *const T, x: *const T, bias: Option<*const T>) {
        let (places, rows) = (self.window.places(), self.rows());
        if self.batch == 0 || self.groups * self.outputs == 0 || places == 0 {
            return;
        }
        if let Workspace::Direct(direct) = workspace {
            // SAFETY: the caller's.
            return unsafe { direct.run(self, y, w, x, bias) };
        }
        if let Workspace::Few(few) = workspace {
            // SAFETY: the caller's.
            return unsafe { few.run(self, y, w, x, bias) };
        }
        let scratch = workspace.scratch();
        let (y, w, x) = (Elements(y), Elements(w.cast_mut()), Elements(x.cast_mut()));
        let (biased, bias) = (bias.is_some(), bias.map(|bias| Elements(bias.cast_mut())));
        // SAFETY: the caller's.
        let bias = |channel: usize| bias.map_or(T::ZERO, |bias| unsafe { *bias.at(channel) });
        let tiles = places.div_ceil(TILE_COLS);
        // Steps of nearly equal depth.
        let depth = rows.div_ceil(rows.div_ceil(PRODUCT_DEPTH).max(1));
        let wanted = FEW_PARTS.div_ceil((self.batch * self.groups).saturating_mul(tiles));
        let channels = self.outputs.div_ceil(wanted).max(LEAST_CHANNELS);
        let blocks = self.outputs.div_ceil(channels);
        scratch.each::<T>(self.batch * self.groups * tiles * blocks, &|part, tile| {
            let (image, block, cut) = (part / blocks / tiles, part % blocks, part / blocks % tiles);
            let (first, outputs) = (image % self.groups * self.outputs, piece(cut * TILE_COLS, TILE_COLS, places));
            let channels = piece(block * channels, channels, self.outputs);
            let x = x.at(image * self.inputs * self.window.pixels());
            let to = y.at((image * self.outputs + channels.start) * places + outputs.start);
            let c = rows_of(to, channels.len(), outputs.len(), places);
            let w = w.at((first + channels.start) * rows);
            // SAFETY: the caller's; parts have rows and columns of `y` of their own.
            unsafe {
                let mut beta = T::ZERO;
                if biased || rows == 0 {
                    fill_rows(c, |i| bias(first + channels.start + i));
                    beta = T::ONE;
                }
                for from in (0..rows).step_by(depth.max(1)) {
                    let depth = piece(from, depth, rows);
                    let b = self.columns(x, depth.clone(), outputs.clone(), tile);
                    gemm(beta, c, T::ONE, rows_of(w.wrapping_add(from), channels.len(), depth.len(), rows), b);
                    beta = T::ONE;
                }
            }
        });
    }

    /// `x = transposed w * y + bias`: what each output is made of gets its share. The gradient of the image, or a transposed convolution.
    ///
    /// # Safety
    /// As for [`Convolution::forward`], with a bias for each channel of `x`, which nobody else may touch.
    pub unsafe fn transposed<T: Gather>(&self, workspace: &Workspace<T>, x: *mut T, w: *const T, y: *const T, bias: Option<*const T>) {
        let (pixels, taps, places, rows) = (self.window.pixels(), self.window.taps(), self.window.places(), self.rows());
        if self.batch == 0 || self.groups * self.inputs == 0 || pixels == 0 {
            return;
        }
        if let Workspace::Direct(direct) = workspace {
            // SAFETY: the caller's.
            return unsafe { direct.run(self, x, w, y, bias) };
        }
        if let Workspace::Few(few) = workspace {
            // SAFETY: the caller's.
            return unsafe { few.run(self, x, w, y, bias) };
        }
        let scratch = workspace.scratch();
        let (x, w, y) = (Elements(x), Elements(w.cast_mut()), Elements(y.cast_mut()));
        let bias = bias.map(|bias| Elements(bias.cast_mut()));
        // Channels whose rows fill a tile; a channel's own may be more.
        let channels = (PRODUCT_DEPTH / taps).clamp(1, self.inputs);
        let blocks = self.inputs.div_ceil(channels);
        scratch.each::<T>(self.batch * self.groups * blocks, &|part, tile| {
            let (image, group, block) =
                (part / blocks, part / blocks % self.groups, piece(part % blocks * channels, channels, self.inputs));
            let to = x.at((image * self.inputs + block.start) * pixels);
            let (w, y) = (w.at(group * self.outputs * rows), y.at(image * self.outputs * places));
            // SAFETY: the caller's; parts have channels of `x` of their own.
            unsafe {
                fill_rows(rows_of(to, block.len(), pixels, pixels), |i| {
                    bias.map_or(T::ZERO, |bias| *bias.at(group * self.inputs + block.start + i))
                });
                for from in (0..places).step_by(TILE_COLS) {
                    let outputs = piece(from, TILE_COLS, places);
                    for row in (0..block.len() * taps).step_by(PRODUCT_DEPTH) {
                        let rows_here = piece(row, PRODUCT_DEPTH, block.len() * taps);
                        self.spread(to, rows_here, outputs.clone(), w.wrapping_add(block.start * taps), y, tile);
                    }
                }
            }
        });
    }

    /// Adds to channels of an image, `rows` of their columns, what these outputs give them.
    unsafe fn spread<T: Gemm>(&self, x: *mut T, rows: Range<usize>, outputs: Range<usize>, w: *mut T, y: *mut T, tile: *mut T) {
        let (places, step) = (self.window.places(), outputs.len());
        let direct = self.window.is_identity();
        let c = match direct {
            true => rows_of(x.wrapping_add(rows.start * places + outputs.start), rows.len(), step, places),
            false => rows_of(tile, rows.len(), step, step),
        };
        // SAFETY: the caller's.
        unsafe {
            for from in (0..self.outputs).step_by(TILE_DEPTH) {
                let depth = piece(from, TILE_DEPTH, self.outputs).len();
                let beta = if from == 0 && !direct { T::ZERO } else { T::ONE };
                let a = columns_of(w.wrapping_add(from * self.rows() + rows.start), rows.len(), depth, self.rows());
                gemm(beta, c, T::ONE, a, rows_of(y.wrapping_add(from * places + outputs.start), depth, step, places));
            }
            if !direct && self.outputs > 0 {
                self.window.fold(x, rows, outputs, tile, step);
            }
        }
    }

    /// `w = y * transposed x`: the gradient of the weights, summed over the batch.
    ///
    /// # Safety
    /// As for [`Convolution::forward`]; nobody else may touch `w`.
    pub unsafe fn weights<T: Gather>(&self, workspace: &Workspace<T>, w: *mut T, y: *const T, x: *const T) {
        let (pixels, places, rows) = (self.window.pixels(), self.window.places(), self.rows());
        if self.groups * self.outputs == 0 || rows == 0 {
            return;
        }
        if let Workspace::Gradient(gradient) = workspace {
            // SAFETY: the caller's.
            return unsafe { gradient.run(self, w, y, x) };
        }
        let scratch = workspace.scratch();
        let (w, x, y) = (Elements(w), Elements(x.cast_mut()), Elements(y.cast_mut()));
        let (cuts, blocks) = (rows.div_ceil(WEIGHT_ROWS), self.outputs.div_ceil(PRODUCT_DEPTH));
        scratch.each::<T>(self.groups * cuts * blocks, &|part, tile| {
            let (group, cut) = (part / blocks / cuts, piece(part / blocks % cuts * WEIGHT_ROWS, WEIGHT_ROWS, rows));
            let channels = piece(part % blocks * PRODUCT_DEPTH, PRODUCT_DEPTH, self.outputs);
            let c = rows_of(w.at((group * self.outputs + channels.start) * rows + cut.start), channels.len(), cut.len(), rows);
            // SAFETY: the caller's; parts have weights of their own.
            unsafe {
                fill_rows(c, |_| T::ZERO);
                for image in (0..self.batch).map(|n| n * self.groups + group) {
                    let x = x.at(image * self.inputs * pixels);
                    for from in (0..places).step_by(TILE_DEPTH) {
                        let outputs = piece(from, TILE_DEPTH, places);
                        let b = self.columns(x, cut.clone(), outputs.clone(), tile);
                        let b = Mat { rows: b.cols, cols: b.rows, row_stride: b.col_stride, col_stride: b.row_stride, ..b };
                        let y = y.at((image * self.outputs + channels.start) * places + from);
                        gemm(T::ONE, c, T::ONE, rows_of(y, channels.len(), outputs.len(), places), b);
                    }
                }
            }
        });
    }
}
