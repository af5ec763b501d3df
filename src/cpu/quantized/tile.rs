//! A part of a product: some rows of weights times some rows of activations.

use super::activations::{Activations, Row};
use thorn_blocks::Blocks;

/// The rows of activations that a kernel multiplies by a decoded block of weights.
pub(crate) const TILE: usize = 4;

/// Rows of weights, rows of activations, and the place of their products.
#[derive(Clone, Copy)]
pub struct Tile {
    /// The first row of weights.
    pub weights: *const u8,
    /// The size of a row of weights in bytes.
    pub row_bytes: usize,
    /// The number of rows of weights.
    pub count: usize,
    /// The rows of activations.
    pub activations: Activations,
    /// The number of rows of activations.
    pub rows: usize,
    /// The structure of the blocks.
    pub structure: Blocks,
    /// The blocks in a row of weights.
    pub blocks: usize,
    /// The product of the first rows.
    pub to: *mut f32,
    /// The distance between the products of two rows of activations.
    pub stride: usize,
}

/// The products of a row of weights.
pub trait Dots {
    /// Returns the products of the row of weights at `w`, of `blocks` blocks, with rows of activations. The result of a row is the same
    /// for every `R`.
    ///
    /// # Safety
    /// The rows must exist, and the processor must have the instructions of the implementation.
    unsafe fn dots<const R: usize>(&self, w: *const u8, blocks: usize, a: [Row; R]) -> [f32; R];
}

impl Tile {
    /// Computes the products. Four rows of activations stay in the L1 cache while the rows of weights pass.
    ///
    /// # Safety
    /// All rows and products must exist, and no other thread may use the products. As for [`Dots::dots`].
    #[inline(always)]
    pub unsafe fn run(self, kernel: impl Dots) {
        let mut row = 0;
        while row < self.rows {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                if row + TILE <= self.rows {
                    self.part::<TILE>(row, &kernel);
                    row += TILE;
                } else {
                    self.part::<1>(row, &kernel);
                    row += 1;
                }
            }
        }
    }

    /// Computes the products of the activations from `first` on.
    #[inline(always)]
    unsafe fn part<const R: usize>(self, first: usize, kernel: &impl Dots) {
        let a: [Row; R] = std::array::from_fn(|r| self.activations.row(first + r));
        for j in 0..self.count {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                let found = kernel.dots::<R>(self.weights.add(j * self.row_bytes), self.blocks, a);
                for r in 0..R {
                    self.to.add((first + r) * self.stride + j).write(found[r]);
                }
            }
        }
    }
}
