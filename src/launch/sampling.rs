//! Samples of images as values.

/// Samples of images at places between the pixels: sums of weighted pixels.
///
/// The row-major inputs are `[t, grid]`: the images `t` [images][channels][sizes], and the coordinates `grid` [images][samples][dims], with
/// the coordinate of the last dimension first. The result has the shape [images][channels][samples]. All have one dtype, float32 or
/// float64. A pixel outside the image adds nothing. A sample with a coordinate that is NaN is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// The number of images.
    pub images: usize,
    /// The number of channels of an image.
    pub channels: usize,
    /// The number of samples of an image.
    pub samples: usize,
    /// The number of dimensions of an image, 2 or 3.
    pub dims: usize,
    /// The sizes of an image. The last one is 1 if an image has two dimensions.
    pub sizes: [i64; 3],
    /// The pixels along each dimension: 1, the nearest; 2, linear interpolation; 4, cubic convolution.
    pub along: usize,
    /// The treatment of coordinates outside the image.
    pub outside: Outside,
    /// True if -1 and 1 are the centres of the pixels at the corners, false if they are the corners of these pixels.
    pub align_corners: bool,
}

/// The gradients of [`Sampling`]: of the images and of the grid. Each is optional, and has the shape of its operand.
///
/// The row-major inputs are `[g, t, grid]`: the gradient `g` of the samples, then the inputs of the samples. A pixel outside the image adds
/// nothing. The gradient of the grid is 0 for the nearest pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplingGradient(pub Sampling);

/// The pixels outside an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Outside {
    /// They are 0.
    Zero = 0,
    /// They are the pixels at the edge.
    Edge = 1,
    /// They are a reflection of the image.
    Reflected = 2,
}

impl Sampling {
    /// The number of terms of a sample.
    pub fn taps(&self) -> usize {
        self.along.pow(self.dims as u32)
    }

    /// The number of pixels of a channel of an image.
    pub fn pixels(&self) -> usize {
        self.sizes.iter().fold(1, |pixels: usize, &size| pixels.saturating_mul(size as usize))
    }
}
