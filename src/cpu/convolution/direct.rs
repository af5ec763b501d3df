//! Sums over windows as products of an image, which is read in place, and weights, which are packed once. The places of the result are
//! rows, its channels are columns. The source elements of each tap and channel are found by an offset.

use super::super::matmul::{Gather, Gathered, Gatherer};
use super::super::scratch::{Elements, ThreadScratch};
use super::super::transpose::transpose;
use super::grid::{Axis, Block, Grid, is_near, piece};
use crate::cpu::tuning::{DIRECT_CHANNELS, PRODUCT_DEPTH};
use crate::error::{Result, bail};
use crate::launch::{Convolution, Window};

/// The maximum number of phases (the product of the strides in all dimensions). Transposed convolutions with more phases are computed
/// otherwise.
const MOST_PHASES: usize = 64;
/// Places in a block: a multiple of the heights of tiles.
pub(super) const PLACES: usize = 224;
/// With fewer parts than this, the channels of the result are divided, too.
const PARTS: usize = 8;

/// Results that are one stride apart: all results, or one phase of a transposed convolution.
struct Phase {
    grid: Grid,
    /// The first packed weight of the phase, in elements.
    weights: usize,
}

/// The grids and the memory of a convolution by products.
pub struct Direct<T> {
    phases: Vec<Phase>,
    weights: ThreadScratch,
    scratch: ThreadScratch,
    gatherer: Gatherer<T>,
    /// The number of channels that are summed over, and of channels of the result, in a group.
    channels: [usize; 2],
    /// The distance from one channel to the next of each kind in the weights of a group, in elements.
    steps: [usize; 2],
}

/// Columns of the result that are computed together: the first, their number, and their number with padding.
#[derive(Clone, Copy)]
pub struct Strip {
    pub first: usize,
    pub count: usize,
    pub width: usize,
}

impl Strip {
    /// Returns strip `number` of a result with `channels` columns.
    pub fn of<T>(gatherer: &Gatherer<T>, number: usize, channels: usize) -> Strip {
        let first = number * gatherer.most();
        let width = gatherer.width(channels - first);
        Strip { first, count: width.min(channels - first), width }
    }
}

/// Returns the number of columns, with padding, of `channels` channels in strips.
fn padded<T>(gatherer: &Gatherer<T>, channels: usize) -> usize {
    let whole = channels / gatherer.most() * gatherer.most();
    whole + if channels > whole { gatherer.width(channels - whole) } else { 0 }
}

/// Returns the grids of a convolution: one grid of sums over windows, or, if `transposed`, one grid for each place within a stride, of sums
/// over the windows that contain an element.
pub fn phases_of(w: &Window, transposed: bool, channels: usize, batch: usize, places: usize, size: usize) -> Result<Option<Vec<Grid>>> {
    let ways = [0, 1, 2].map(|d| if transposed { w.stride[d].min(w.image[d]) } else { 1 });
    if ways.iter().product::<usize>() > MOST_PHASES {
        return Ok(None);
    }
    let mut grids = Vec::new();
    for phase in 0..ways.iter().product() {
        let first = [phase / (ways[1] * ways[2]), phase / ways[2] % ways[1], phase % ways[2]];
        let axis = |d: usize| if transposed { Axis::transposed(w, d, first[d]) } else { Axis::forward(w, d) };
        let Some(grid) = Grid::new([axis(0)?, axis(1)?, axis(2)?], channels, batch, places, size)? else { return Ok(None) };
        grids.push(grid);
    }
    Ok(Some(grids))
}

impl<T: Gather> Direct<T> {
    /// Prepares sums over windows or, if `transposed`, over the windows that contain an element. Returns `None` if this method does not
    /// pay, or is not possible.
    pub fn new(it: &Convolution, transposed: bool) -> Result<Option<Direct<T>>> {
        let Some(gatherer) = T::gatherer() else { return Ok(None) };
        let (w, taps) = (&it.window, it.window.taps());
        let (channels, steps) = match transposed {
            false => ([it.inputs, it.outputs], [taps, it.inputs * taps]),
            true => ([it.outputs, it.inputs], [it.inputs * taps, taps]),
        };
        let sizes = if transposed { w.image } else { w.out };
        let empty = it.batch == 0 || it.groups == 0 || sizes.contains(&0);
        if empty || w.is_identity() || !is_near(w) || channels[1] < DIRECT_CHANNELS {
            return Ok(None);
        }
        let Some(grids) = phases_of(w, transposed, channels[0], it.batch, PLACES, size_of::<T>())? else { return Ok(None) };
        let (mut phases, mut weights) = (Vec::new(), 0);
        for grid in grids {
            let size = grid.offsets.len() * padded(&gatherer, channels[1]) * it.groups;
            phases.push(Phase { grid, weights });
            weights += size;
        }
        let tile = phases.iter().map(|phase| Layout::of::<T>(&phase.grid, channels[0], &gatherer).bytes).max().unwrap_or(0);
        let (weights, scratch) = (ThreadScratch::new(weights * size_of::<T>(), 1), ThreadScratch::new(tile, usize::MAX));
        let (Some(weights), Some(scratch)) = (weights, scratch) else { bail!(NoMem, "no memory for the tiles of a convolution") };
        Ok(Some(Direct { phases, weights, scratch, gatherer, channels, steps }))
    }

    /// Computes `r` from `x`.
    ///
    /// # Safety
    /// As for [`Convolution::forward`] or [`Convolution::transposed`].
    pub unsafe fn run(&self, it: &Convolution, r: *mut T, w: *const T, x: *const T, bias: Option<*const T>) {
        let (r, w, x) = (Elements(r), Elements(w.cast_mut()), Elements(x.cast_mut()));
        let (bias, packed) = (bias.map(|bias| Elements(bias.cast_mut())), Elements(self.weights.start::<T>()));
        let strips = self.channels[1].div_ceil(self.gatherer.most());
        for Phase { grid, weights } in &self.phases {
            let (depth, packed) = (grid.offsets.len(), Elements(packed.at(*weights)));
            let of_group = depth * padded(&self.gatherer, self.channels[1]);
            let at = |group: usize, strip: usize| packed.at(group * of_group + strip * self.gatherer.most() * depth);
            self.scratch.each::<T>(it.groups * strips, &|part, _| {
                let (group, strip) = (part / strips, part % strips);
                // SAFETY: the caller keeps this function's contract; each strip has separate memory.
                unsafe { self.pack(grid, &it.window, w.at(group * self.of_group(it)), strip, at(group, strip)) };
            });
            let blocks = grid.blocks();
            let shares = strips.min(PARTS.div_ceil(blocks.saturating_mul(it.groups)));
            let share = strips.div_ceil(shares);
            let shares = strips.div_ceil(share);
            self.scratch.each::<T>(blocks * it.groups * shares, &|part, tile| {
                let (block, group) = (grid.block(part / shares / it.groups), part / shares % it.groups);
                let layout = Layout::of::<T>(grid, self.channels[0], &self.gatherer);
                let [from, to] = [self.channels[0] * grid.axes.iter().map(Axis::of_source).product::<usize>(), self.of_image(grid)];
                let image = block.image * it.groups + group;
                // SAFETY: the caller keeps this function's contract; each part has separate images or channels of the result, and the
                // scratch memory has the size of the layout.
                unsafe {
                    grid.lay_out(&block, self.channels[0], x.at(image * from), it.groups * from, tile);
                    let rows = layout.rows(tile);
                    grid.rows(&block, self.channels[0], rows);
                    for strip in piece(part % shares * share, share, strips) {
                        let columns = Strip::of(&self.gatherer, strip, self.channels[1]);
                        let c = layout.sums(tile);
                        let bias = bias.map(|bias| bias.at(group * self.channels[1] + columns.first).cast_const());
                        self.sums(grid, &block, columns, (tile, rows), at(group, strip), bias, c);
                        let plane = to / self.channels[1];
                        let r = r.at(image * to + columns.first * plane);
                        deliver(grid, &block, columns, c, layout.turned(tile), r, [it.groups * to, plane]);
                    }
                }
            });
        }
    }

    /// Returns the number of elements in a group of weights.
    fn of_group(&self, it: &Convolution) -> usize {
        self.channels[0] * self.channels[1] * it.window.taps()
    }

    /// Returns the number of elements of one image of the result in a group.
    fn of_image(&self, grid: &Grid) -> usize {
        self.channels[1] * grid.axes.iter().map(|axis| axis.size).product::<usize>()
    }

    /// Packs the weights of a strip: a row for each channel and tap that are summed over.
    unsafe fn pack(&self, grid: &Grid, window: &Window, w: *const T, strip: usize, to: *mut T) {
        let (strip, taps, size) = (Strip::of(&self.gatherer, strip, self.channels[1]), grid.taps(), size_of::<T>());
        let (depth, w) = (self.channels[0] * taps, w.wrapping_add(strip.first * self.steps[1]));
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if strip.count < strip.width {
                (0..depth * strip.width).for_each(|k| to.add(k).write(T::ZERO));
            }
            // The source of each column is one contiguous row: all taps of all channels in the packed order.
            if self.steps[0] == taps && self.steps[1] == depth && taps == window.taps() {
                return transpose(size, to.cast(), (strip.width * size) as isize, w.cast(), (depth * size) as isize, depth, strip.count);
            }
            for tap in 0..taps {
                let w = w.add(grid.tap(tap, window));
                for channel in 0..self.channels[0] {
                    let (w, to) = (w.add(channel * self.steps[0]), to.add((channel * taps + tap) * strip.width));
                    (0..strip.count).for_each(|j| to.add(j).write(*w.add(j * self.steps[1])));
                }
            }
        }
    }

    /// Computes the sums of a block in the columns of a strip.
    unsafe fn sums(
        &self,
        grid: &Grid,
        block: &Block,
        strip: Strip,
        (a, rows): (*const T, *const usize),
        b: *const T,
        bias: Option<*const T>,
        c: *mut T,
    ) {
        let (depth, places) = (grid.offsets.len(), block.places());
        let start = bias.is_some() || depth == 0;
        if start {
            for at in 0..places * strip.width {
                // SAFETY: the caller vouches for the sums of the block, and for the bias of each channel.
                unsafe {
                    let bias = bias.filter(|_| at % strip.width < strip.count).map_or(T::ZERO, |bias| *bias.add(at % strip.width));
                    c.add(at).write(bias);
                }
            }
        }
        for from in (0..depth).step_by(PRODUCT_DEPTH) {
            let depth = piece(from, PRODUCT_DEPTH, depth).len();
            let (cols, b) = (grid.offsets[from..].as_ptr(), b.wrapping_add(from * strip.width));
            let fresh = from == 0 && !start;
            let task = Gathered { a, rows, count: places, cols, depth, b, width: strip.width, c, fresh };
            // SAFETY: the caller keeps this function's contract.
            unsafe { self.gatherer.run(&task) };
        }
    }
}

/// The division of a thread's tile. The source of a block comes first.
struct Layout {
    sums: usize,
    turned: usize,
    rows: usize,
    bytes: usize,
}

impl Layout {
    fn of<T>(grid: &Grid, channels: usize, gatherer: &Gatherer<T>) -> Layout {
        let (places, size) = (grid.places(), size_of::<T>());
        let sums = (grid.source(channels) * size).next_multiple_of(64);
        let turned = sums + places * gatherer.most() * size;
        let rows = (turned + places * gatherer.most() * size).next_multiple_of(64);
        Layout { sums, turned, rows, bytes: rows + places * size_of::<usize>() }
    }

    fn sums<T>(&self, tile: *mut T) -> *mut T {
        tile.wrapping_byte_add(self.sums)
    }

    fn turned<T>(&self, tile: *mut T) -> *mut T {
        tile.wrapping_byte_add(self.turned)
    }

    fn rows<T>(&self, tile: *mut T) -> *mut usize {
        tile.wrapping_byte_add(self.rows).cast()
    }
}

/// Copies sums to their places in the result. `steps` are the elements of the result from image to image and from channel to channel.
unsafe fn deliver<T: Gather>(grid: &Grid, block: &Block, strip: Strip, c: *const T, turned: *mut T, r: *mut T, steps: [usize; 2]) {
    let (axes, size, count) = (&grid.axes, size_of::<T>(), block.count);
    let whole = |d: usize| axes[d].stride == 1 && count[d] == axes[d].size;
    // Results that are contiguous in the image as well as in the block are one run.
    let (slices, lines, run) = match (whole(2) && axes[1].stride == 1, whole(1) && axes[0].stride == 1) {
        (true, true) => (1, 1, block.of_image()),
        (true, false) => (count[0], 1, count[1] * count[2]),
        _ => (count[0], count[1], count[2]),
    };
    let step = (strip.width * size) as isize;
    for image in 0..block.images {
        let (r, c) = (r.wrapping_add(image * steps[0]), c.wrapping_add(image * block.of_image() * strip.width));
        // SAFETY: the caller vouches for the sums of the block, and for their places in the result.
        unsafe {
            if axes[2].stride == 1 {
                for line in 0..slices * lines {
                    let (to, from) = (r.add(grid.place(block, [line / lines, line % lines])), c.add(line * run * strip.width));
                    transpose(size, to.cast(), (steps[1] * size) as isize, from.cast(), step, strip.count, run);
                }
                continue;
            }
            let n = block.of_image();
            transpose(size, turned.cast(), (n * size) as isize, c.cast(), step, strip.count, n);
            for line in 0..strip.count * count[0] * count[1] {
                let (channel, z, y) = (line / count[1] / count[0], line / count[1] % count[0], line % count[1]);
                let (to, from) = (r.add(channel * steps[1] + grid.place(block, [z, y])), turned.add(line * count[2]));
                (0..count[2]).for_each(|x| to.add(x * axes[2].stride).write(*from.add(x)));
            }
        }
    }
}
