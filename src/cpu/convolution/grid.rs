//! The results of a convolution divided into blocks, and the part of the source that a block reads, copied with its padding.

use super::super::matmul::Gather;
use super::super::simd::simd;
use super::super::window::copied;
use crate::alloc;
use crate::cpu::tuning::CONVOLVED_BYTES;
use crate::error::Result;
use crate::launch::{IMAGE_DIMS, Window};
use std::ops::Range;

/// Returns `from..from + length`, cut at `end`.
#[inline]
pub(super) fn piece(from: usize, length: usize, end: usize) -> Range<usize> {
    from..end.min(from + length)
}

/// The maximum number of elements in a block's source.
const MOST: usize = 1 << 20;
/// How many times as many elements as taps read a block's source may have.
const SPARSE: usize = 16;
/// Sizes, strides and the like from which on places are not counted here.
const FAR: usize = 1 << 28;

/// One dimension. Result `q` is at `first + q * stride`, and reads the source at `q * step` plus the offset of each tap.
pub struct Axis {
    /// The number of results.
    pub count: usize,
    /// The size of the result in this dimension.
    pub size: usize,
    /// The index of the first result.
    pub first: usize,
    /// The distance from one result to the next.
    pub stride: usize,
    /// The size of the source.
    source: usize,
    /// The distance in the source between the elements that two consecutive results read.
    step: usize,
    /// The taps: index in the kernel, and offset.
    taps: Vec<(usize, isize)>,
}

impl Axis {
    /// Returns dimension `d` of the sums over windows.
    pub fn forward(w: &Window, d: usize) -> Result<Axis> {
        let taps = alloc::list(w.kernel[d], |t| Ok((t, (t * w.dilation[d]) as isize - w.padding[d] as isize)))?;
        Ok(Axis { count: w.out[d], size: w.out[d], first: 0, stride: 1, source: w.image[d], step: w.stride[d], taps })
    }

    /// Returns dimension `d` of the image elements `first`, `first + stride`, ..., as sums over the windows that contain them.
    pub fn transposed(w: &Window, d: usize, first: usize) -> Result<Axis> {
        let (stride, dilation) = (w.stride[d] as isize, w.dilation[d] as isize);
        let offset = |t: usize| (first + w.padding[d]) as isize - t as isize * dilation;
        let hits = |t: &usize| offset(*t).rem_euclid(stride) == 0;
        let mut found = (0..w.kernel[d]).filter(hits);
        let taps = alloc::list((0..w.kernel[d]).filter(hits).count(), |_| {
            let t = found.next().unwrap_or(0);
            Ok((t, offset(t).div_euclid(stride)))
        })?;
        let count = (w.image[d] - first).div_ceil(w.stride[d]);
        Ok(Axis { count, size: w.image[d], first, stride: w.stride[d], source: w.out[d], step: 1, taps })
    }

    /// Returns the size of the source.
    pub fn of_source(&self) -> usize {
        self.source
    }

    /// Returns the size of the result.
    pub fn of_result(&self) -> usize {
        self.size
    }

    /// Returns the smallest offset.
    fn least(&self) -> isize {
        self.taps.iter().map(|&(_, offset)| offset).min().unwrap_or(0)
    }

    /// Returns the number of source elements that `count` results read, from the first to the last.
    fn extent(&self, count: usize) -> usize {
        let most = self.taps.iter().map(|&(_, offset)| offset).max().unwrap_or(0);
        (count - 1) * self.step + (most - self.least()) as usize + 1
    }
}

/// Returns true if all numbers of a window are so small that no count of places overflows.
pub fn is_near(w: &Window) -> bool {
    [w.image, w.kernel, w.out, w.stride, w.padding, w.dilation].iter().flatten().all(|&n| n < FAR)
}

/// The results of all images, divided into blocks of one size. The last blocks of a dimension may be smaller.
pub struct Grid {
    /// The dimensions.
    pub axes: [Axis; IMAGE_DIMS],
    /// For each channel and tap: the offset of the element read, from the first element of the block's source that the block's first result
    /// reads.
    pub offsets: Vec<usize>,
    /// The number of images.
    batch: usize,
    /// The number of images in a block.
    images: usize,
    /// The number of results in a block in each dimension.
    block: [usize; IMAGE_DIMS],
    /// The number of elements in a channel of a block's source in each dimension.
    extent: [usize; IMAGE_DIMS],
}

/// A block: its first image and the number of images, its first result and the number of results in each dimension.
#[derive(Clone, Copy)]
pub struct Block {
    pub image: usize,
    pub images: usize,
    pub start: [usize; IMAGE_DIMS],
    pub count: [usize; IMAGE_DIMS],
}

impl Block {
    /// Returns the number of results in one image.
    pub fn of_image(&self) -> usize {
        self.count.iter().product()
    }

    /// Returns the number of results.
    pub fn places(&self) -> usize {
        self.images * self.of_image()
    }
}

impl Grid {
    /// For sums over `channels` of elements of `size` bytes, with about `places` results in a block; none where a block would see too much,
    /// or much more than its taps read. No dimension may be without results.
    pub fn new(axes: [Axis; IMAGE_DIMS], channels: usize, batch: usize, places: usize, size: usize) -> Result<Option<Grid>> {
        let wanted = CONVOLVED_BYTES / size;
        let seen = |block: [usize; IMAGE_DIMS]| (0..IMAGE_DIMS).fold(channels, |seen, d| seen.saturating_mul(axes[d].extent(block[d])));
        let mut block = [0, 1, 2].map(|d| axes[d].count.min(places));
        for d in 0..IMAGE_DIMS {
            let behind: usize = block[d + 1..].iter().product();
            block[d] = block[d].min((places / behind.min(places)).max(1));
        }
        for d in 0..2 {
            while block[d] > 1 && seen(block) > wanted {
                block[d] -= 1;
            }
        }
        // With a wide dilation most of what lies between the taps is not read.
        let taps = axes.iter().fold(channels, |taps, axis| taps.saturating_mul(axis.taps.len().max(1)));
        let read = block.iter().fold(taps, |read, &n| read.saturating_mul(n));
        if seen(block) > MOST || seen(block) / SPARSE > read {
            return Ok(None);
        }
        for d in 0..IMAGE_DIMS {
            block[d] = axes[d].count.div_ceil(axes[d].count.div_ceil(block[d]));
        }
        let whole = (0..IMAGE_DIMS).all(|d| block[d] == axes[d].count);
        let of_image: usize = block.iter().product();
        let images = if whole { (places / of_image).min(wanted / seen(block).max(1)).clamp(1, batch.max(1)) } else { 1 };
        let extent = [0, 1, 2].map(|d| axes[d].extent(block[d]));
        let mut grid = Grid { axes, offsets: Vec::new(), batch, images, block, extent };
        let taps = grid.taps();
        grid.offsets = alloc::list(channels.saturating_mul(taps), |k| Ok(grid.offset(k / taps, k % taps)))?;
        Ok(Some(grid))
    }

    /// Returns the number of taps in a window.
    pub fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.taps.len()).product()
    }

    fn split(&self, tap: usize) -> [(usize, isize); IMAGE_DIMS] {
        let [_, b, c] = [0, 1, 2].map(|d| self.axes[d].taps.len());
        let tap = [tap / (b * c), tap / c % b, tap % c];
        [0, 1, 2].map(|d| self.axes[d].taps[tap[d]])
    }

    /// Returns the index of a tap in the kernel.
    pub fn tap(&self, tap: usize, w: &Window) -> usize {
        let [z, y, x] = self.split(tap).map(|(tap, _)| tap);
        (z * w.kernel[1] + y) * w.kernel[2] + x
    }

    fn offset(&self, channel: usize, tap: usize) -> usize {
        let offsets = self.split(tap);
        let mut at = 0;
        for d in 0..IMAGE_DIMS {
            at = at * self.extent[d] + (offsets[d].1 - self.axes[d].least()) as usize;
        }
        channel * self.seen() + at
    }

    /// Returns the number of elements in a channel of a block's source.
    fn seen(&self) -> usize {
        self.extent.iter().product()
    }

    /// Returns the number of elements in one image of a block's source.
    pub fn source_of_image(&self, channels: usize) -> usize {
        channels * self.seen()
    }

    /// Returns the elements of a block's source from line to line. `plane` returns them from slice to slice.
    pub fn pitch(&self) -> usize {
        self.extent[2]
    }

    pub fn plane(&self) -> usize {
        self.extent[1] * self.extent[2]
    }

    /// Returns the distance in the source between two consecutive results, in each dimension.
    pub fn steps(&self) -> [usize; IMAGE_DIMS] {
        [0, 1, 2].map(|d| self.axes[d].step)
    }

    /// Returns the maximum number of results in a block in each dimension.
    pub fn most(&self) -> [usize; IMAGE_DIMS] {
        self.block
    }

    /// Returns the offset of the first result of a block's line in a channel of the result.
    pub fn place(&self, block: &Block, [slice, line]: [usize; 2]) -> usize {
        let [z, y, x] = [(0, slice), (1, line), (2, 0)].map(|(d, k)| self.axes[d].first + (block.start[d] + k) * self.axes[d].stride);
        (z * self.axes[1].size + y) * self.axes[2].size + x
    }

    /// Returns the number of elements in a block's source with `channels` channels.
    pub fn source(&self, channels: usize) -> usize {
        self.images * channels * self.seen()
    }

    /// Returns the maximum number of results in a block.
    pub fn places(&self) -> usize {
        self.images * self.block.iter().product::<usize>()
    }

    fn pieces(&self) -> [usize; IMAGE_DIMS] {
        [0, 1, 2].map(|d| self.axes[d].count.div_ceil(self.block[d]))
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.batch.div_ceil(self.images) * self.pieces().iter().product::<usize>()
    }

    /// Returns block `number`.
    pub fn block(&self, number: usize) -> Block {
        let [z, y, x] = self.pieces();
        let (image, piece) = (number / (z * y * x) * self.images, [number / (y * x) % z, number / x % y, number % x]);
        let start = [0, 1, 2].map(|d| piece[d] * self.block[d]);
        let count = [0, 1, 2].map(|d| self.block[d].min(self.axes[d].count - start[d]));
        Block { image, images: self.images.min(self.batch - image), start, count }
    }

    /// Writes, for each result of the block, the offset in the block's source of the first element that the result reads.
    ///
    /// # Safety
    /// `rows` must have room for [`Grid::places`] elements.
    pub unsafe fn rows(&self, block: &Block, channels: usize, rows: *mut usize) {
        let ([_, height, width], [dz, dy, dx]) = (self.extent, [0, 1, 2].map(|d| self.axes[d].step));
        let mut at = 0;
        for image in 0..block.images {
            for line in 0..block.count[0] * block.count[1] {
                let (z, y) = (line / block.count[1], line % block.count[1]);
                let first = image * channels * self.seen() + (z * dz * height + y * dy) * width;
                for x in 0..block.count[2] {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { rows.add(at).write(first + x * dx) };
                    at += 1;
                }
            }
        }
    }

    /// Copies the elements that a block reads of `channels` channels of its images. The first image begins at `source`, the others follow
    /// `image_stride` elements apart. Elements outside the image are 0.
    ///
    /// # Safety
    /// The images must have the channels, and there must be room for [`Grid::source`] elements.
    pub unsafe fn lay_out<T: Gather>(&self, block: &Block, channels: usize, source: *const T, image_stride: usize, to: *mut T) {
        let size = [0, 1, 2].map(|d| self.axes[d].source);
        let start = [0, 1, 2].map(|d| (block.start[d] * self.axes[d].step) as isize + self.axes[d].least());
        let width = self.extent[2] as isize;
        // The range of the row that is inside the image.
        let (from, end) = ((-start[2]).clamp(0, width) as usize, (size[2] as isize - start[2]).clamp(0, width) as usize);
        let inside = |d: usize, k: usize| usize::try_from(start[d] + k as isize).ok().filter(|&at| at < size[d]);
        let (width, end) = (self.extent[2], end.max(from));
        let pixels: usize = size.iter().product();
        simd(
            #[inline(always)]
            |_| {
                let mut to = to;
                for plane in 0..block.images * channels {
                    let source = source.wrapping_add(plane / channels * image_stride + plane % channels * pixels);
                    for z in 0..self.extent[0] {
                        for y in 0..self.extent[1] {
                            // SAFETY: the caller guarantees room for the row, and the elements are inside the image.
                            unsafe {
                                match (inside(0, z), inside(1, y)) {
                                    (Some(z), Some(y)) if end > from => {
                                        let x = (start[2] + from as isize) as usize;
                                        zeros(to, from);
                                        copied(to.add(from), source.add((z * size[1] + y) * size[2] + x), end - from);
                                        zeros(to.add(end), width - end);
                                    }
                                    _ => zeros(to, width),
                                }
                                to = to.add(width);
                            }
                        }
                    }
                }
            },
        );
    }
}

#[inline(always)]
unsafe fn zeros<T: Gather>(to: *mut T, n: usize) {
    // SAFETY: the caller keeps this function's contract.
    (0..n).for_each(|k| unsafe { to.add(k).write(T::ZERO) });
}
