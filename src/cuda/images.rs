//! Convolutions, pooling, and windows as columns, on GPUs.

use super::count::Check;
use super::gpu::Gpu;
use super::loops::div_up;
use super::map::type_name;
use super::matmul::{TILE, TILES, TWO_BLOCKS, splits};
use super::source::{Entry, Source};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Adaptive, Columns, Convolution, Divisor, IMAGE_DIMS, Pool, PoolOp, Product, Unpool, Window, Windows};
use crate::operand::Operand;

/// Divisions by numbers that are constant in a launch, for kernels that divide indices.
pub(super) const DIVIDE: &str = include_str!("kernels/divide.cuh");
const WINDOWS: &str = include_str!("kernels/windows.cuh");

/// The kernels of convolutions.
pub static IMAGES: Source =
    Source { name: "images", text: &[TWO_BLOCKS, TILES, DIVIDE, WINDOWS, include_str!("kernels/images.cu")], entries: image_entries };
/// The kernels of pooling and columns.
pub static POOL: Source =
    Source { name: "pool", text: &[TWO_BLOCKS, DIVIDE, WINDOWS, include_str!("kernels/pool.cu")], entries: pool_entries };

/// The dtypes of convolution and pooling, floats last.
const DTYPES: [Dtype; 4] = [Dtype::Int32, Dtype::Int64, Dtype::Float32, Dtype::Float64];
/// The minimum number of channels of a group's result for which tiles pay.
const TILED: i64 = 8;
/// The number of sums from which on splitting does not pay, and the minimum number of products of an element in a split.
const ENOUGH: [i64; 2] = [256, 512];
/// The number of elements of a window from which on a block for each output pays, and the number of outputs from which on a thread for each
/// is as fast.
const SHARED: [i64; 2] = [256, 1 << 16];

fn image_entries() -> Vec<Entry> {
    let products = ["FORWARD", "TRANSPOSED", "WEIGHTS"];
    let mut entries = Vec::new();
    for dtype in DTYPES {
        let name = type_name(dtype);
        let mut add = |call: String| entries.push(Entry::new(call, "ConvolutionArgs", name));
        products[..2].iter().for_each(|product| add(format!("convolve_elements<{name}, {product}>")));
        add(format!("convolve_weights<{name}>"));
        if dtype.is_float() {
            products.iter().for_each(|product| add(format!("convolve_tiles<{name}, {product}>")));
            add(format!("join_weights<{name}>"));
        }
    }
    entries
}

fn pool_entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for dtype in DTYPES {
        let name = type_name(dtype);
        for shared in [false, true] {
            entries.push(Entry::new(format!("pool_greatest<{name}, {shared}>"), "PoolArgs", name));
            if dtype.is_float() {
                entries.push(Entry::new(format!("pool_means<{name}, {shared}>"), "PoolArgs", name));
            }
        }
        if dtype.is_float() {
            entries.push(Entry::new(format!("pool_spread<{name}>"), "PoolArgs", name));
        }
        entries.push(Entry::new(format!("unpool<{name}>"), "UnpoolArgs", name));
        entries.extend(["unroll", "fold"].map(|kernel| Entry::new(format!("{kernel}<{name}>"), "ColumnsArgs", name)));
    }
    entries
}

/// A divisor that is constant in a launch, as its reciprocal. The kernels declare the same struct.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Divider {
    n: i64,
    multiplier: u32,
    shift: u32,
    fast: i32,
    unused: i32,
}

impl Divider {
    /// The divisor `n` for dividends up to `most`. The quotient is `(x * multiplier / 2^32 + x) / 2^shift`. It is exact if both numbers are
    /// below 2^31 (T. Granlund and P. Montgomery, Division by invariant integers using multiplication, 1994).
    pub(super) fn new(n: i64, most: i64) -> Divider {
        let n = n.max(1);
        let fast = n.max(most) <= i32::MAX.into();
        if !fast {
            return Divider { n, multiplier: 0, shift: 0, fast: 0, unused: 0 };
        }
        let shift = 64 - (n - 1).leading_zeros();
        let multiplier = (((1i64 << shift) - n) << 32) / n + 1;
        Divider { n, multiplier: multiplier as u32, shift, fast: 1, unused: 0 }
    }
}

/// Sizes and steps of windows. The kernels declare the same struct.
#[repr(C)]
#[derive(Clone, Copy)]
struct WindowArgs {
    image: [i64; IMAGE_DIMS],
    kernel: [i64; IMAGE_DIMS],
    out: [i64; IMAGE_DIMS],
    stride: [i64; IMAGE_DIMS],
    padding: [i64; IMAGE_DIMS],
    dilation: [i64; IMAGE_DIMS],
    by_image: [Divider; IMAGE_DIMS],
    by_kernel: [Divider; IMAGE_DIMS],
    by_out: [Divider; IMAGE_DIMS],
    by_stride: [Divider; IMAGE_DIMS],
    by_dilation: [Divider; IMAGE_DIMS],
}

impl WindowArgs {
    /// The arguments for these windows and for indices up to `most`.
    fn new(w: &Window, most: i64) -> WindowArgs {
        let of = |sizes: [usize; IMAGE_DIMS]| sizes.map(|size| size as i64);
        let by = |sizes: [usize; IMAGE_DIMS]| sizes.map(|size| Divider::new(size as i64, most));
        WindowArgs {
            image: of(w.image),
            kernel: of(w.kernel),
            out: of(w.out),
            stride: of(w.stride),
            padding: of(w.padding),
            dilation: of(w.dilation),
            by_image: by(w.image),
            by_kernel: by(w.kernel),
            by_out: by(w.out),
            by_stride: by(w.stride),
            by_dilation: by(w.dilation),
        }
    }
}

/// The greatest index that occurs in a window: positions in the padded image, and steps to them.
fn reach(w: &Window) -> i64 {
    let of = |d: usize| {
        let taps = w.kernel[d].saturating_mul(w.dilation[d]).saturating_add(w.stride[d]);
        w.out[d].saturating_mul(w.stride[d]).saturating_add(taps).saturating_add(w.image[d]).saturating_add(2 * w.padding[d])
    };
    (0..IMAGE_DIMS).map(of).max().unwrap_or(0).min(i64::MAX as usize) as i64
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ConvolutionArgs {
    a: u64,
    b: u64,
    r: u64,
    bias: u64,
    partial: u64,
    batch: i64,
    groups: i64,
    inputs: i64,
    outputs: i64,
    rows: i64,
    columns: i64,
    depth: i64,
    splits: i64,
    split_depth: i64,
    window: WindowArgs,
    by_taps: Divider,
    by_places: Divider,
    by_pixels: Divider,
}

/// The CUDA type of elements; an error if there are no kernels for the dtype.
fn name_of(dtype: Dtype) -> Result<&'static str> {
    if DTYPES.contains(&dtype) { Ok(type_name(dtype)) } else { Err(Domain::Numeric.refusal(dtype)) }
}

/// Convolves images.
pub fn convolution(gpu: &Gpu, it: &Convolution, r: &Operand, [a, b]: [&Operand; 2], bias: Option<&Operand>) -> Result<()> {
    let (name, w) = (name_of(r.dtype)?, &it.window);
    let [batch, groups, inputs, outputs] = [it.batch, it.groups, it.inputs, it.outputs].map(|n| n as i64);
    let [taps, places, pixels] = [w.taps(), w.places(), w.pixels()].map(|n| n as i64);
    let (product, [rows, columns, depth]) = match it.product {
        Product::Forward => ("FORWARD", [outputs, batch * places, inputs * taps]),
        Product::Transposed => ("TRANSPOSED", [inputs, batch * pixels, outputs * taps]),
        Product::Weights => ("WEIGHTS", [outputs, inputs * taps, batch * places]),
    };
    let elements = groups * rows * columns;
    if elements == 0 {
        return Ok(());
    }
    let most = [a, b, r].into_iter().map(|t| t.layout().numel()).fold(reach(w), i64::max);
    let by = |n: i64| Divider::new(n, most);
    let mut args = ConvolutionArgs {
        a: a.first() as u64,
        b: b.first() as u64,
        r: r.first() as u64,
        bias: bias.map_or(0, |bias| bias.first() as u64),
        partial: 0,
        batch,
        groups,
        inputs,
        outputs,
        rows,
        columns,
        depth,
        splits: 1,
        split_depth: depth,
        window: WindowArgs::new(w, most),
        by_taps: by(taps),
        by_places: by(places),
        by_pixels: by(pixels),
    };
    // Tiles use 32-bit indices, which may exceed the end by less than a tile.
    let narrow = [most, columns, depth, elements].into_iter().all(|n| n <= i64::from(i32::MAX) - TILE);
    if !(r.dtype.is_float() && rows >= TILED && narrow) {
        let (call, threads) = match it.product {
            Product::Weights => (format!("convolve_weights<{name}>"), 256),
            _ => (format!("convolve_elements<{name}, {product}>"), 1),
        };
        // SAFETY: the operands are row-major with these shapes, and the result does not overlap the others.
        return unsafe { gpu.launch(&IMAGES, &call, "ConvolutionArgs", gpu.blocks_for(elements.saturating_mul(threads)), &args) };
    }
    let tiles = groups * div_up(rows, TILE) * div_up(columns, TILE);
    if it.product == Product::Weights {
        [args.splits, args.split_depth] = splits(tiles, depth, ENOUGH[0], ENOUGH[1]);
    }
    let partial = match args.splits {
        1 => None,
        splits => Some(gpu.scratch((splits * elements) as usize * r.dtype.size())?),
    };
    args.partial = partial.as_ref().map_or(0, |partial| partial.ptr());
    let call = format!("convolve_tiles<{name}, {product}>");
    // SAFETY: as above.
    unsafe { gpu.launch(&IMAGES, &call, "ConvolutionArgs", (tiles * args.splits) as u32, &args)? };
    if partial.is_some() {
        let threads = if args.splits > 32 { 32 } else { 1 };
        // SAFETY: as above; the sums of all splits are in the stream before this kernel.
        unsafe { gpu.launch(&IMAGES, &format!("join_weights<{name}>"), "ConvolutionArgs", gpu.blocks_for(elements * threads), &args)? };
    }
    Ok(())
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PoolArgs {
    x: u64,
    r: u64,
    indices: u64,
    planes: i64,
    least: f64,
    divisor: f64,
    window: WindowArgs,
    adaptive: i32,
    divided_by: i32,
}

/// The fields of adaptive windows that the kernels read.
fn sizes_of(windows: &Adaptive) -> Window {
    let one = [1; IMAGE_DIMS];
    Window { image: windows.image, kernel: one, out: windows.out, stride: one, padding: [0; IMAGE_DIMS], dilation: one }
}

/// Pools planes.
pub fn pool(gpu: &Gpu, work: &Pool, r: &Operand, indices: Option<&Operand>, x: &Operand) -> Result<()> {
    let name = name_of(x.dtype)?;
    let (w, adaptive) = match &work.windows {
        Windows::Strided(window) => (*window, false),
        Windows::Adaptive(windows) => (sizes_of(windows), true),
    };
    let count = r.layout().numel();
    if count == 0 {
        return Ok(());
    }
    let (least, divisor) = match work.op {
        PoolOp::Max { least } => (least, Divisor::Inside),
        PoolOp::Mean(divisor) | PoolOp::MeanGradient(divisor) => (0.0, divisor),
    };
    let (divided_by, divisor) = match divisor {
        Divisor::Inside => (0, 0.0),
        Divisor::Padded => (1, 0.0),
        Divisor::Given(divisor) => (2, divisor),
    };
    let most = x.layout().numel().max(count).max(reach(&w));
    let args = PoolArgs {
        x: x.first() as u64,
        r: r.first() as u64,
        indices: indices.map_or(0, |indices| indices.first() as u64),
        planes: work.planes as i64,
        least: if adaptive { f64::NEG_INFINITY } else { least },
        divisor,
        window: WindowArgs::new(&w, most),
        adaptive: adaptive.into(),
        divided_by,
    };
    // The approximate number of elements of a window.
    let seen = if adaptive { w.pixels() / w.places().max(1) } else { w.taps().min(w.pixels()) } as i64;
    let shared = seen >= SHARED[0] && count < SHARED[1];
    let call = match work.op {
        PoolOp::Max { .. } => format!("pool_greatest<{name}, {shared}>"),
        PoolOp::Mean(_) => format!("pool_means<{name}, {shared}>"),
        PoolOp::MeanGradient(_) => format!("pool_spread<{name}>"),
    };
    let each = shared && !matches!(work.op, PoolOp::MeanGradient(_));
    let blocks = gpu.blocks_for(if each { count * 256 } else { count });
    // SAFETY: the operands are row-major with the shapes of the windows, and the results do not overlap the others.
    unsafe { gpu.launch(&POOL, &call, "PoolArgs", blocks, &args) }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct UnpoolArgs {
    t: u64,
    indices: u64,
    r: u64,
    planes: i64,
    places: i64,
    pixels: i64,
    adds: i32,
    unused: i32,
}

/// Writes elements to indexed positions of planes.
pub fn unpool(gpu: &Gpu, work: &Unpool, r: &Operand, t: &Operand, indices: &Operand) -> Result<()> {
    let name = name_of(t.dtype)?;
    let least = if work.adds { -1 } else { 0 };
    let check = Check::new(gpu, indices.first() as u64, indices.layout().numel(), [least, work.pixels as i64])?;
    if let Some(at) = check.end()? {
        let mut index = [0i64];
        // SAFETY: the index is inside the operand, which is row-major.
        unsafe { gpu.read(indices.first() as u64 + at as u64 * 8, &mut index) }?;
        bail!(Argument, "index {} is out of range for planes of {} elements", index[0], work.pixels)
    }
    // SAFETY: the result is row-major.
    unsafe { gpu.zero(r.first() as u64, r.layout().numel() as usize * r.dtype.size()) }?;
    if work.planes == 0 || work.places == 0 || work.pixels == 0 {
        return Ok(());
    }
    let args = UnpoolArgs {
        t: t.first() as u64,
        indices: indices.first() as u64,
        r: r.first() as u64,
        planes: work.planes as i64,
        places: work.places as i64,
        pixels: work.pixels as i64,
        adds: work.adds.into(),
        unused: 0,
    };
    // SAFETY: the operands are row-major with these shapes, and the indices were checked.
    unsafe { gpu.launch(&POOL, &format!("unpool<{name}>"), "UnpoolArgs", gpu.blocks_for(args.planes * 32), &args) }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ColumnsArgs {
    t: u64,
    r: u64,
    images: i64,
    window: WindowArgs,
    by_taps: Divider,
    by_places: Divider,
    by_pixels: Divider,
}

/// Copies windows to columns, or sums columns into images.
pub fn columns(gpu: &Gpu, work: &Columns, r: &Operand, t: &Operand) -> Result<()> {
    let (name, w, count) = (name_of(r.dtype)?, &work.window, r.layout().numel());
    if count == 0 {
        return Ok(());
    }
    let most = t.layout().numel().max(count).max(reach(w));
    let by = |n: usize| Divider::new(n as i64, most);
    let args = ColumnsArgs {
        t: t.first() as u64,
        r: r.first() as u64,
        images: work.images as i64,
        window: WindowArgs::new(w, most),
        by_taps: by(w.taps()),
        by_places: by(w.places()),
        by_pixels: by(w.pixels()),
    };
    let kernel = if work.sums { "fold" } else { "unroll" };
    // SAFETY: the operands are row-major with these shapes, and do not overlap.
    unsafe { gpu.launch(&POOL, &format!("{kernel}<{name}>"), "ColumnsArgs", gpu.blocks_for(count), &args) }
}

#[cfg(test)]
mod tests {
    use super::Divider;

    #[test]
    fn quotients_are_exact() {
        let most = i64::from(i32::MAX);
        for n in [1, 2, 3, 5, 7, 10, 641, 65535, 65536, 65537, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, most - 1, most] {
            let by = Divider::new(n, most);
            let multiples = [0, 1, 2, 3, 1000, most / n].map(|k| k.min(most / n) * n);
            for x in multiples.into_iter().flat_map(|x| [x - 1, x, x + 1]).chain([most - 1, most]).filter(|x| (0..=most).contains(x)) {
                let quotient = (((x as u64 * u64::from(by.multiplier)) >> 32) as u32 + x as u32) >> by.shift;
                assert_eq!(i64::from(quotient), x / n, "{x} / {n}");
            }
        }
    }
}
