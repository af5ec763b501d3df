//! Windows over an image: sizes and steps.

/// Dimensions of an image. One with fewer has size 1 in the first.
pub(crate) const IMAGE_DIMS: usize = 3;

/// How windows lie in an image, dimension by dimension. An output is what is made of one window; a tap is an element of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Sizes of the image.
    pub image: [usize; IMAGE_DIMS],
    /// Taps of a window.
    pub kernel: [usize; IMAGE_DIMS],
    /// Number of windows.
    pub out: [usize; IMAGE_DIMS],
    /// From window to window.
    pub stride: [usize; IMAGE_DIMS],
    /// Elements that the image is thought to have in front and behind.
    pub padding: [usize; IMAGE_DIMS],
    /// From tap to tap.
    pub dilation: [usize; IMAGE_DIMS],
}

impl Window {
    /// Elements of an image.
    pub fn pixels(&self) -> usize {
        self.image.iter().product()
    }

    /// Elements of a kernel.
    pub fn taps(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Elements of an output.
    pub fn places(&self) -> usize {
        self.out.iter().product()
    }

    /// True if the windows are the elements of the image, each once.
    pub fn is_identity(&self) -> bool {
        // Padding behind the result of a transposed convolution makes images that are larger than their windows.
        self.taps() == 1 && self.stride == [1; IMAGE_DIMS] && self.padding == [0; IMAGE_DIMS] && self.image == self.out
    }
}

/// Windows that divide an image into as many parts of nearly equal size as there are outputs.
#[derive(Debug, Clone, Copy)]
pub struct Adaptive {
    /// Sizes of the image.
    pub image: [usize; IMAGE_DIMS],
    /// Number of windows.
    pub out: [usize; IMAGE_DIMS],
}
