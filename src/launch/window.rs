//! Windows over an image: their sizes and strides.

/// The number of dimensions of an image. Images with fewer have size 1 in the first dimensions.
pub(crate) const IMAGE_DIMS: usize = 3;

/// The windows of an image, dimension by dimension. Each window gives one output; a tap is an element of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The sizes of the image.
    pub image: [usize; IMAGE_DIMS],
    /// The number of taps.
    pub kernel: [usize; IMAGE_DIMS],
    /// The number of windows in each dimension.
    pub out: [usize; IMAGE_DIMS],
    /// The distance between windows.
    pub stride: [usize; IMAGE_DIMS],
    /// The number of padding elements before the image, and after it.
    pub padding: [usize; IMAGE_DIMS],
    /// The distance between taps.
    pub dilation: [usize; IMAGE_DIMS],
}

impl Window {
    /// The number of elements of an image.
    pub fn pixels(&self) -> usize {
        self.image.iter().product()
    }

    /// The number of elements of a kernel.
    pub fn taps(&self) -> usize {
        self.kernel.iter().product()
    }

    /// The number of windows in all dimensions.
    pub fn places(&self) -> usize {
        self.out.iter().product()
    }

    /// Returns true if the windows are the single elements of the image, each once.
    pub fn is_identity(&self) -> bool {
        // The image may be larger than its windows, because the result of a transposed convolution may have padding at its end.
        self.taps() == 1 && self.stride == [1; IMAGE_DIMS] && self.padding == [0; IMAGE_DIMS] && self.image == self.out
    }
}

/// Windows that divide an image into as many parts of nearly equal size as there are outputs.
#[derive(Debug, Clone, Copy)]
pub struct Adaptive {
    /// The sizes of the image.
    pub image: [usize; IMAGE_DIMS],
    /// The number of windows in each dimension.
    pub out: [usize; IMAGE_DIMS],
}
