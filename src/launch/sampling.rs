//! Terms of samples of images as a value.

/// The terms of samples at places between the pixels of images: for each sample `taps()` pixels and their weights.
///
/// The input is a row-major float64 matrix of coordinates, a row for each sample, with the coordinate of the last dimension first. The
/// results are row-major: the number of each pixel, int64 `[samples, taps]`; the weights, float64 `[samples, taps]`; and optionally their
/// derivatives by the coordinates, float64 `[samples, taps, dims]`. Pixels are counted over all images. A term outside the image has the
/// number of pixels of all images, and the weights of a sample with a coordinate that is NaN are NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// The number of dimensions of an image, 2 or 3.
    pub dims: usize,
    /// The sizes of an image. The last one is 1 if an image has two dimensions.
    pub sizes: [i64; 3],
    /// The number of samples of all images.
    pub samples: usize,
    /// The number of images.
    pub images: usize,
    /// The pixels along each dimension: 1, the nearest; 2, linear interpolation; 4, cubic convolution.
    pub along: usize,
    /// The treatment of coordinates outside the image.
    pub outside: Outside,
    /// True if -1 and 1 are the centres of the pixels at the corners, false if they are the corners of these pixels.
    pub align_corners: bool,
}

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
}
