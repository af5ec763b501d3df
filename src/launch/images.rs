//! Work on images by windows as values: convolution, pooling, and windows as columns of a matrix. All operands are row-major, and of one
//! dtype that products are computed in; indices are int64.

use super::window::{Adaptive, Window};

/// A convolution or a gradient of one: `x` [batch][groups * inputs][pixels], `y` [batch][groups * outputs][places], `w` [groups *
/// outputs][inputs][taps], all row-major.
#[derive(Debug, Clone, Copy)]
pub struct Convolution {
    /// The product.
    pub product: Product,
    /// The place of `w` in an image of `x` for each place of `y`.
    pub window: Window,
    /// Number of images.
    pub batch: usize,
    /// Groups of channels, each of which is taken by itself.
    pub groups: usize,
    /// Channels of `x` in a group.
    pub inputs: usize,
    /// Channels of `y` in a group.
    pub outputs: usize,
}

/// The products between image, output and weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// `y = w * x + bias`, of `[w, x]` or `[w, x, bias]` with a bias for each channel of `y`.
    Forward,
    /// `x = transposed w * y + bias`, of `[w, y]` or `[w, y, bias]` with a bias for each channel of `x`.
    Transposed,
    /// `w = y * transposed x`, summed over the batch, of `[y, x]`.
    Weights,
}

/// The windows of a pooling.
#[derive(Debug, Clone, Copy)]
pub enum Windows {
    /// Windows of one size, side by side or overlapping.
    Strided(Window),
    /// Windows that divide the image.
    Adaptive(Adaptive),
}

/// The divisor of a mean.
#[derive(Debug, Clone, Copy)]
pub enum Divisor {
    /// The elements of the window that lie in the image.
    Inside,
    /// The elements of the window, in the padding too.
    Padded,
    /// A number.
    Given(f64),
}

/// The function of a window; of adaptive windows, which have no padding, a mean always is one of the elements inside.
#[derive(Debug, Clone, Copy)]
pub enum PoolOp {
    /// The greatest element, and if there is a second result, int64, its position in the plane: the first of equal ones.
    Max {
        /// The greatest of no elements, whose position is -1.
        least: f64,
    },
    /// The mean, of floats.
    Mean(Divisor),
    /// The gradient of the image, from that of the means, of floats.
    MeanGradient(Divisor),
}

/// Pooling: the image is a plane, the input.
#[derive(Debug, Clone, Copy)]
pub struct Pool {
    /// The function.
    pub op: PoolOp,
    /// The windows.
    pub windows: Windows,
    /// Number of planes.
    pub planes: usize,
}

/// `r[plane][indices[i]] = t[i]`, or its sum, for the elements of each plane; 0 where no index leads. An index outside of the plane is an
/// error; in sums -1, the position of the greatest of no elements, leads nowhere. The inputs are `t` and the indices.
#[derive(Debug, Clone, Copy)]
pub struct Unpool {
    /// Elements of a plane of the indices.
    pub places: usize,
    /// Elements of a plane of the result.
    pub pixels: usize,
    /// Number of planes.
    pub planes: usize,
    /// True if elements of one index are added; else the last counts.
    pub adds: bool,
}

/// The windows of images as columns of a matrix for each image, whose rows are the taps.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// The windows.
    pub window: Window,
    /// Number of images.
    pub images: usize,
    /// True for images that are the sums of their columns; else columns are made of images.
    pub sums: bool,
}
