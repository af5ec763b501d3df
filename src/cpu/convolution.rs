//! Convolutions as products of the weight matrix and a matrix of windows. The matrix of windows is made tile by tile in the cache, never as
//! a whole.
//!
//! An image `x`, its output `y` and the weights `w` are related by three products; each computes one of the three from the other two. Parts
//! are divided at places that depend on sizes alone, so results do not depend on the number of threads.

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

/// Outputs in a tile: a whole number of a product's strips on any processor.
const TILE_COLS: usize = 96;
/// Outputs in a tile where the sum is over outputs, or output channels where the sum is over channels: at most the number that products use
/// without packing.
const TILE_DEPTH: usize = 128;
/// Rows of the gradient of weights that are computed together.
const WEIGHT_ROWS: usize = 96;
/// Elements of a tile.
const TILE: usize = PRODUCT_DEPTH * TILE_COLS;
/// With fewer parts than this, output channels are divided, too.
const FEW_PARTS: usize = 32;
/// The minimum number of output channels in a part.
const LEAST_CHANNELS: usize = 64;

/// The method that computes a product, and its memory.
#[expect(clippy::large_enum_variant, reason = "a call makes one, on its stack")]
pub enum Workspace<T> {
    /// Tiles of windows.
    Tiles(ThreadScratch),
    /// Products that read the image in place.
    Direct(Direct<T>),
    /// Sums for a result of few channels, which read the image in place.
    Few(Few<T>),
    /// The gradient of weights, which reads the image in place.
    Gradient(Gradient<T>),
}

impl<T> Workspace<T> {
    /// Returns the scratch memory for tiles. Only called for [`Workspace::Tiles`].
    fn scratch(&self) -> &ThreadScratch {
        match self {
            Workspace::Tiles(scratch) => scratch,
            _ => unreachable!("the workspace of another product"),
        }
    }
}

/// Returns a row-major matrix whose rows are `step` elements apart.
fn rows_of<T>(data: *mut T, rows: usize, cols: usize, step: usize) -> Mat<T> {
    Mat { data, rows, cols, row_stride: step as isize, col_stride: 1 }
}

/// Returns a column-major matrix whose columns are `step` elements apart.
fn columns_of<T>(data: *mut T, rows: usize, cols: usize, step: usize) -> Mat<T> {
    Mat { data, rows, cols, row_stride: 1, col_stride: step as isize }
}

/// Fills row `i` of a matrix with `value(i)`, the addend of its channel.
unsafe fn fill_rows<T: Gemm>(c: Mat<T>, value: impl Fn(usize) -> T) {
    for i in 0..c.rows {
        let (row, value) = (c.data.wrapping_offset(i as isize * c.row_stride), value(i));
        // SAFETY: the caller vouches for the matrix, and `j` is one of its columns.
        (0..c.cols).for_each(|j| unsafe { row.add(j).write(value) });
    }
}

impl Convolution {
    /// Returns the number of rows of the matrix of windows of a group.
    fn rows(&self) -> usize {
        self.inputs * self.window.taps()
    }

    /// Returns the workspace of a product. Fails only if memory runs out.
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
        // The number of parts does not matter for tiles of this size.
        let Some(scratch) = ThreadScratch::new(TILE * size_of::<T>(), usize::MAX) else {
            bail!(NoMem, "no memory for the tiles of a convolution")
        };
        Ok(Workspace::Tiles(scratch))
    }

    /// Returns some rows and columns of the matrix of windows of a group's image: in place if the window is the identity, otherwise in the
    /// tile.
    unsafe fn columns<T: Gemm>(&self, x: *mut T, rows: Range<usize>, outputs: Range<usize>, tile: *mut T) -> Mat<T> {
        if self.window.is_identity() {
            let pixels = self.window.pixels();
            return rows_of(x.wrapping_add(rows.start * pixels + outputs.start), rows.len(), outputs.len(), pixels);
        }
        let (count, step) = (rows.len(), outputs.len());
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.window.unroll(x, rows, outputs, tile, step) };
        rows_of(tile, count, step, step)
    }

    /// `y = w * x + bias`
    ///
    /// # Safety
    /// All tensors must have the elements that `self` says. A bias must have one element for each channel of `y`. No other thread may
    /// access `y`.
    pub unsafe fn forward<T: Gather>(&self, workspace: &Workspace<T>, y: *mut T, w: *const T, x: *const T, bias: Option<*const T>) {
        let (places, rows) = (self.window.places(), self.rows());
        if self.batch == 0 || self.groups * self.outputs == 0 || places == 0 {
            return;
        }
        if let Workspace::Direct(direct) = workspace {
            // SAFETY: the caller keeps this function's contract.
            return unsafe { direct.run(self, y, w, x, bias) };
        }
        if let Workspace::Few(few) = workspace {
            // SAFETY: the caller keeps this function's contract.
            return unsafe { few.run(self, y, w, x, bias) };
        }
        let scratch = workspace.scratch();
        let (y, w, x) = (Elements(y), Elements(w.cast_mut()), Elements(x.cast_mut()));
        let (biased, bias) = (bias.is_some(), bias.map(|bias| Elements(bias.cast_mut())));
        // SAFETY: the caller guarantees that the bias has an element for each channel.
        let bias = |channel: usize| bias.map_or(T::ZERO, |bias| unsafe { *bias.at(channel) });
        let tiles = places.div_ceil(TILE_COLS);
        // All steps have nearly equal depth.
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
            // SAFETY: the caller keeps this function's contract; each part has separate rows and columns of `y`.
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

    /// `x = transposed w * y + bias`: each element of `y` is added, with its weights, to the elements of its window. This is the gradient
    /// of the image, or a transposed convolution.
    ///
    /// # Safety
    /// As for [`Convolution::forward`], with a bias for each channel of `x`, which no other thread may access.
    pub unsafe fn transposed<T: Gather>(&self, workspace: &Workspace<T>, x: *mut T, w: *const T, y: *const T, bias: Option<*const T>) {
        let (pixels, taps, places, rows) = (self.window.pixels(), self.window.taps(), self.window.places(), self.rows());
        if self.batch == 0 || self.groups * self.inputs == 0 || pixels == 0 {
            return;
        }
        if let Workspace::Direct(direct) = workspace {
            // SAFETY: the caller keeps this function's contract.
            return unsafe { direct.run(self, x, w, y, bias) };
        }
        if let Workspace::Few(few) = workspace {
            // SAFETY: the caller keeps this function's contract.
            return unsafe { few.run(self, x, w, y, bias) };
        }
        let scratch = workspace.scratch();
        let (x, w, y) = (Elements(x), Elements(w.cast_mut()), Elements(y.cast_mut()));
        let bias = bias.map(|bias| Elements(bias.cast_mut()));
        // As many channels as fill a tile with their rows. One channel may have more rows than a tile.
        let channels = (PRODUCT_DEPTH / taps).clamp(1, self.inputs);
        let blocks = self.inputs.div_ceil(channels);
        scratch.each::<T>(self.batch * self.groups * blocks, &|part, tile| {
            let (image, group, block) =
                (part / blocks, part / blocks % self.groups, piece(part % blocks * channels, channels, self.inputs));
            let to = x.at((image * self.inputs + block.start) * pixels);
            let (w, y) = (w.at(group * self.outputs * rows), y.at(image * self.outputs * places));
            // SAFETY: the caller keeps this function's contract; each part has separate channels of `x`.
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

    /// Adds the contributions of `outputs` to channels of an image; `rows` are the rows of those channels in the matrix of windows.
    unsafe fn spread<T: Gemm>(&self, x: *mut T, rows: Range<usize>, outputs: Range<usize>, w: *mut T, y: *mut T, tile: *mut T) {
        let (places, step) = (self.window.places(), outputs.len());
        let direct = self.window.is_identity();
        let c = match direct {
            true => rows_of(x.wrapping_add(rows.start * places + outputs.start), rows.len(), step, places),
            false => rows_of(tile, rows.len(), step, step),
        };
        // SAFETY: the caller keeps this function's contract.
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
    /// As for [`Convolution::forward`]; no other thread may access `w`.
    pub unsafe fn weights<T: Gather>(&self, workspace: &Workspace<T>, w: *mut T, y: *const T, x: *const T) {
        let (pixels, places, rows) = (self.window.pixels(), self.window.places(), self.rows());
        if self.groups * self.outputs == 0 || rows == 0 {
            return;
        }
        if let Workspace::Gradient(gradient) = workspace {
            // SAFETY: the caller keeps this function's contract.
            return unsafe { gradient.run(self, w, y, x) };
        }
        let scratch = workspace.scratch();
        let (w, x, y) = (Elements(w), Elements(x.cast_mut()), Elements(y.cast_mut()));
        let (cuts, blocks) = (rows.div_ceil(WEIGHT_ROWS), self.outputs.div_ceil(PRODUCT_DEPTH));
        scratch.each::<T>(self.groups * cuts * blocks, &|part, tile| {
            let (group, cut) = (part / blocks / cuts, piece(part / blocks % cuts * WEIGHT_ROWS, WEIGHT_ROWS, rows));
            let channels = piece(part % blocks * PRODUCT_DEPTH, PRODUCT_DEPTH, self.outputs);
            let c = rows_of(w.at((group * self.outputs + channels.start) * rows + cut.start), channels.len(), cut.len(), rows);
            // SAFETY: the caller keeps this function's contract; each part has separate weights.
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
