//! Work on images by windows as values: convolution, pooling, and windows as columns of a matrix. All operands are row-major, with one
//! dtype in which products are computed; indices are int64.

use super::window::{Adaptive, Window};

/// A convolution or its gradient. The row-major operands are `x` [batch][groups * inputs][pixels], `y` [batch][groups * outputs][places]
/// and `w` [groups * outputs][inputs][taps].
#[derive(Debug, Clone, Copy)]
pub struct Convolution {
    /// The product.
    pub product: Product,
    /// The position of `w` in an image of `x` for each place of `y`.
    pub window: Window,
    /// Number of images.
    pub batch: usize,
    /// The number of channel groups, which are independent of each other.
    pub groups: usize,
    /// The number of channels of `x` in a group.
    pub inputs: usize,
    /// The number of channels of `y` in a group.
    pub outputs: usize,
}

/// The products between image, output and weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// `y = w * x + bias`. The inputs are `[w, x]`, or `[w, x, bias]` with a bias for each channel of `y`.
    Forward,
    /// `x = transposed w * y + bias`. The inputs are `[w, y]`, or `[w, y, bias]` with a bias for each channel of `x`.
    Transposed,
    /// `w = y * transposed x`, summed over the batch. The inputs are `[y, x]`.
    Weights,
}

/// The windows of a pooling.
#[derive(Debug, Clone, Copy)]
pub enum Windows {
    /// Windows of one size at equal distances, which may overlap.
    Strided(Window),
    /// Windows that divide the image into parts of nearly equal size.
    Adaptive(Adaptive),
}

/// The divisor of a mean.
#[derive(Debug, Clone, Copy)]
pub enum Divisor {
    /// The number of the window's elements inside the image.
    Inside,
    /// The number of the window's elements, including those in the padding.
    Padded,
    /// This number.
    Given(f64),
}

/// The function of a window. Adaptive windows have no padding; their means always divide by the number of elements.
#[derive(Debug, Clone, Copy)]
pub enum PoolOp {
    /// The greatest element. A second result, if there is one, is its int64 position in the plane; of equal elements the first.
    Max {
        /// The result for a window without elements, whose position is -1.
        least: f64,
    },
    /// The mean; only floats.
    Mean(Divisor),
    /// The gradient with respect to the image, from the gradient of the means; only floats.
    MeanGradient(Divisor),
}

/// Pooling. The input is a batch of planes.
#[derive(Debug, Clone, Copy)]
pub struct Pool {
    /// The function.
    pub op: PoolOp,
    /// The windows.
    pub windows: Windows,
    /// Number of planes.
    pub planes: usize,
}

/// `r[plane][indices[i]] = t[i]`, or the sum of all such `t[i]`, for the elements of each plane. Positions without an index are 0. The
/// inputs are `t` and the indices. An index outside the plane is an error, except that sums skip -1, which max pooling returns for empty
/// windows.
#[derive(Debug, Clone, Copy)]
pub struct Unpool {
    /// The number of elements of a plane of the indices.
    pub places: usize,
    /// The number of elements of a plane of the result.
    pub pixels: usize,
    /// Number of planes.
    pub planes: usize,
    /// True if elements with equal indices are added; otherwise the last one wins.
    pub adds: bool,
}

/// The windows of images as the columns of one matrix for each image. The rows of the matrix are the taps.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// The windows.
    pub window: Window,
    /// Number of images.
    pub images: usize,
    /// True to sum the columns into images; false to copy images into columns.
    pub sums: bool,
}
