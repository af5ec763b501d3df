//! Layers on GPUs: normalization, losses and gradients.

use super::gpu::Gpu;
use super::lines::{PACKETS, packets};
use super::loops::div_up;
use super::map::type_name;
use super::matmul::TWO_BLOCKS;
use super::source::{Entry, Source};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::layers::{Loss, LossOp, NormRows, Reduction, SoftmaxGradient};
use crate::launch::lines::Softmax;
use crate::operand::Operand;

/// The kernels of layers.
pub static LAYERS: Source = Source { name: "layers", text: &[TWO_BLOCKS, PACKETS, include_str!("kernels/layers.cu")], entries };

/// The maximum number of elements of a line for which one warp is enough: of two operands, and of one.
const SHORT: [i64; 2] = [512, 1024];
/// The number of adjacent lines that a block processes together.
const COLUMNS: i64 = 32;
/// The number of blocks that compute partial sums of columns, and the minimum number of rows of a part.
const PARTS: [i64; 2] = [512, 64];
/// The number of blocks that sum losses, and the minimum number of positions of a block.
const SUMS: [i64; 2] = [256, 2048];

/// The kernel for rows of which a warp or a block keeps elements in registers: packets if the rows are aligned, else single elements.
fn rows(kernel: &str, name: &str, aligned: bool, threads: i64, operands: i64) -> String {
    let (each, kept) = match packets(name).filter(|_| aligned) {
        Some((each, [.., kept])) if threads > 32 => (each, kept),
        Some((each, [_, kept, _])) => (each, kept.min(8 / operands)),
        None => (1, 8),
    };
    format!("{kernel}<{name}, {each}, {kept}, {threads}>")
}

fn entries() -> Vec<Entry> {
    let mut entries = vec![Entry::new("loss_check", "LossArgs", "f32")];
    for name in ["f32", "f64", "f16", "bf16"] {
        let mut add = |call: String, args| entries.push(Entry::new(call, args, name));
        for (threads, aligned) in [(32, false), (32, true), (256, false), (256, true)] {
            add(rows("norm_rows", name, aligned, threads, 1), "NormArgs");
            if matches!(name, "f32" | "f64") {
                add(rows("norm_gradient", name, aligned, threads, 2), "NormArgs");
                add(
                    if aligned { rows("softmax_rows", name, true, threads, 2) } else { format!("softmax_lines<{name}, {threads}>") },
                    "SoftmaxArgs",
                );
            }
        }
    }
    for name in ["f32", "f64"] {
        let mut add = |call: String, args| entries.push(Entry::new(call, args, name));
        add(format!("softmax_columns<{name}>"), "SoftmaxArgs");
        ["norm_column_sums", "norm_join"].iter().for_each(|kernel| add(format!("{kernel}<{name}>"), "NormArgs"));
        [32, 256].iter().for_each(|threads| add(format!("norm_span_sums<{name}, {threads}>"), "NormArgs"));
        let losses = ["loss_each", "loss_sums", "loss_total", "loss_gradient"];
        losses.iter().for_each(|kernel| add(format!("{kernel}<{name}>"), "LossArgs"));
    }
    entries
}

fn name_of(dtype: Dtype) -> Result<&'static str> {
    if matches!(dtype, Dtype::Float32 | Dtype::Float64) { Ok(type_name(dtype)) } else { Err(Domain::Float.refusal(dtype)) }
}

/// The number of threads for a line of `n` elements.
fn threads_of(n: i64) -> i64 {
    if n <= SHORT[0] { 32 } else { 256 }
}

/// Returns true if rows of `n` elements consist of packets in all operands, whose addresses are given.
fn aligned(dtype: Dtype, n: i64, addresses: &[u64]) -> bool {
    (n * dtype.size() as i64) % 16 == 0 && addresses.iter().all(|address| address.is_multiple_of(16))
}

fn address(operand: Option<&Operand>) -> u64 {
    operand.map_or(0, |operand| operand.first() as u64)
}

#[repr(C)]
#[derive(Clone, Copy)]
struct SoftmaxArgs {
    g: u64,
    y: u64,
    r: u64,
    outer: i64,
    n: i64,
    inner: i64,
    logarithm: i32,
    unused: i32,
}

/// The gradient of softmax.
pub fn softmax_gradient(gpu: &Gpu, work: SoftmaxGradient, r: &Operand, g: &Operand, y: &Operand) -> Result<()> {
    let name = name_of(r.dtype)?;
    let [outer, n, inner] = [work.lines.outer, work.lines.n, work.lines.inner].map(|n| n as i64);
    if outer * n * inner == 0 {
        return Ok(());
    }
    let logarithm = i32::from(work.of != Softmax::Softmax);
    let args = SoftmaxArgs { g: g.first() as u64, y: y.first() as u64, r: r.first() as u64, outer, n, inner, logarithm, unused: 0 };
    let (call, threads) = match threads_of(n) {
        _ if inner >= COLUMNS => (format!("softmax_columns<{name}>"), outer * div_up(inner, COLUMNS) * 256),
        threads if inner == 1 && aligned(r.dtype, n, &[args.g, args.y, args.r]) => {
            (rows("softmax_rows", name, true, threads, 2), outer.saturating_mul(threads))
        }
        threads => (format!("softmax_lines<{name}, {threads}>"), (outer * inner).saturating_mul(threads)),
    };
    // SAFETY: the operands are row-major with these lines. The result is one of the others, or overlaps none.
    unsafe { gpu.launch(&LAYERS, &call, "SoftmaxArgs", gpu.blocks_for(threads), &args) }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct NormArgs {
    x: u64,
    weight: u64,
    bias: u64,
    g: u64,
    r: u64,
    standards: u64,
    sums: u64,
    of_weight: u64,
    of_bias: u64,
    rows: i64,
    n: i64,
    parts: i64,
    groups: i64,
    span: i64,
    eps: f64,
    centred: i32,
    unused: i32,
}

impl NormArgs {
    fn new(rows: NormRows, x: &Operand, weight: &Operand) -> NormArgs {
        NormArgs {
            x: x.first() as u64,
            weight: weight.first() as u64,
            bias: 0,
            g: 0,
            r: 0,
            standards: 0,
            sums: 0,
            of_weight: 0,
            of_bias: 0,
            rows: rows.rows as i64,
            n: rows.n as i64,
            parts: 1,
            groups: rows.groups as i64,
            span: rows.span as i64,
            eps: rows.eps,
            centred: rows.centred.into(),
            unused: 0,
        }
    }

    /// Launches a kernel over rows of `dtype`: normalization, or its gradient if there is one of the result.
    ///
    /// # Safety
    /// The operands have these rows.
    unsafe fn launch_rows(&self, gpu: &Gpu, dtype: Dtype) -> Result<()> {
        let (kernel, operands) = if self.g == 0 { ("norm_rows", 1) } else { ("norm_gradient", 2) };
        let threads = if self.n <= SHORT[usize::from(self.g == 0)] { 32 } else { 256 };
        let aligned = aligned(dtype, self.n, &[self.x, self.weight, self.bias, self.g, self.r]);
        let call = rows(kernel, type_name(dtype), aligned, threads, operands);
        // SAFETY: the caller meets the conditions above.
        unsafe { gpu.launch(&LAYERS, &call, "NormArgs", gpu.blocks_for(self.rows.saturating_mul(threads)), self) }
    }
}

/// Normalized rows.
pub fn norm(gpu: &Gpu, rows: NormRows, r: &Operand, [x, weight, bias]: [&Operand; 3]) -> Result<()> {
    if rows.rows == 0 || rows.n == 0 {
        return Ok(());
    }
    let args = NormArgs { bias: bias.first() as u64, r: r.first() as u64, ..NormArgs::new(rows, x, weight) };
    // SAFETY: the operands are row-major with these rows, or with one. The result is the input, or overlaps no operand.
    unsafe { args.launch_rows(gpu, x.dtype) }
}

/// The gradients of normalization with respect to the rows, weight and bias.
pub fn norm_gradient(gpu: &Gpu, rows: NormRows, out: [Option<&Operand>; 3], [g, x, weight]: [&Operand; 3]) -> Result<()> {
    let (name, size) = (name_of(x.dtype)?, x.dtype.size());
    for out in out[1..].iter().flatten() {
        // SAFETY: the result is row-major.
        unsafe { gpu.zero(out.first() as u64, out.layout().numel() as usize * size) }?;
    }
    if rows.rows == 0 || rows.n == 0 {
        return Ok(());
    }
    let [r, of_weight, of_bias] = out.map(address);
    let mut args = NormArgs { g: g.first() as u64, r, of_weight, of_bias, ..NormArgs::new(rows, x, weight) };
    if of_weight == 0 && of_bias == 0 {
        // SAFETY: the operands are row-major with these rows, or with one. The result is an input, or overlaps no operand.
        return unsafe { args.launch_rows(gpu, x.dtype) };
    }
    // The sums are over the rows of a matrix with a column for each weight, or of spans of elements.
    let (entries, columns) = ((rows.rows / rows.groups) as i64, rows.weights() as i64);
    let across = div_up(columns, COLUMNS);
    let (kernel, blocks) = match rows.span {
        1 => {
            args.parts = (PARTS[0] / across).min(entries / PARTS[1]).max(1);
            (format!("norm_column_sums<{name}>"), across * args.parts * 256)
        }
        span => {
            args.parts = entries;
            let threads = threads_of(span as i64);
            (format!("norm_span_sums<{name}, {threads}>"), (entries * columns).saturating_mul(threads))
        }
    };
    let (standards, sums) = (gpu.scratch(rows.rows * 4 * size)?, gpu.scratch((args.parts * columns) as usize * 16)?);
    (args.standards, args.sums) = (standards.ptr(), sums.ptr());
    let of_columns = NormArgs { rows: entries, n: columns, ..args };
    // Sums over rows read the inputs, which the gradient of the rows may overwrite. So they are computed first.
    let of_rows = NormArgs { r: 0, ..args };
    // SAFETY: as above; there is memory for the sums.
    unsafe {
        of_rows.launch_rows(gpu, x.dtype)?;
        gpu.launch(&LAYERS, &kernel, "NormArgs", gpu.blocks_for(blocks), &of_columns)?;
        gpu.launch(&LAYERS, &format!("norm_join<{name}>"), "NormArgs", gpu.blocks_for(columns), &of_columns)?;
        if r != 0 { NormArgs { standards: 0, ..args }.launch_rows(gpu, x.dtype) } else { Ok(()) }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct LossArgs {
    scores: u64,
    parts: [u64; 2],
    g: u64,
    target: u64,
    weight: u64,
    r: u64,
    sums: u64,
    wrong: u64,
    positions: i64,
    classes: i64,
    inner: i64,
    ignored: i64,
    blocks: i64,
    op: i32,
    summed: i32,
    mean: i32,
    dtype: i32,
}

impl LossArgs {
    /// Fails if a kernel has found a target that is not a class.
    fn check(&self, gpu: &Gpu) -> Result<()> {
        let mut wrong = [0u64];
        // SAFETY: the scratch memory has a counter.
        unsafe { gpu.read(self.wrong, &mut wrong) }?;
        if wrong[0] == 0 {
            return Ok(());
        }
        let (at, mut target) = (!wrong[0], [0i64]);
        // SAFETY: the position is inside the targets, which are row-major.
        unsafe { gpu.read(self.target + at * 8, &mut target) }?;
        bail!(Argument, "target {} at position {at} is none of {} classes", target[0], self.classes)
    }

    /// Sums losses and weights, and writes the loss if it is wanted.
    ///
    /// # Safety
    /// The operands have the positions, and there is memory for the sums.
    unsafe fn total(&self, gpu: &Gpu, name: &str) -> Result<()> {
        // SAFETY: the caller meets the conditions above.
        unsafe {
            gpu.launch(&LAYERS, &format!("loss_sums<{name}>"), "LossArgs", self.blocks as u32, self)?;
            gpu.launch(&LAYERS, &format!("loss_total<{name}>"), "LossArgs", 1, self)
        }
    }
}

/// A loss or its gradient.
pub fn loss(gpu: &Gpu, loss: Loss, r: &Operand, inputs: &[&Operand]) -> Result<()> {
    let (given, [target, weight @ ..]) = inputs.split_at(loss.op.given()) else { unreachable!("no targets for {loss:?}") };
    let (scores, parts, g) = match (loss.op, given) {
        (LossOp::CrossEntropy, &[scores, most, logs]) => (Some(scores), [Some(most), Some(logs)], None),
        (LossOp::NegativeLogLikelihoodGradient, &[g]) => (None, [None; 2], Some(g)),
        _ => (given.first().copied(), [None; 2], given.get(1).copied()),
    };
    let (name, positions) = (name_of(r.dtype)?, target.layout().numel());
    let blocks = (positions / SUMS[1]).clamp(1, SUMS[0]);
    let mut args = LossArgs {
        scores: address(scores),
        parts: parts.map(address),
        g: address(g),
        target: target.first() as u64,
        weight: address(weight.first().copied()),
        r: r.first() as u64,
        sums: 0,
        wrong: 0,
        positions,
        classes: loss.classes as i64,
        inner: loss.inner as i64,
        ignored: loss.ignored,
        blocks,
        op: loss.op as i32,
        summed: (loss.reduction != Reduction::None).into(),
        mean: (loss.reduction == Reduction::Mean).into(),
        dtype: scores.map_or(0, |scores| scores.dtype.code()),
    };
    let (elements, memory) = (r.layout().numel(), gpu.scratch(16 * (blocks as usize + 2))?);
    (args.wrong, args.sums) = (memory.ptr(), memory.ptr() + 16);
    // SAFETY: the scratch memory has a counter.
    unsafe { gpu.zero(args.wrong, 8) }?;
    // SAFETY: the operands are row-major with these shapes, and do not overlap. There is memory for the sums. Targets are checked before
    // anything but the sums is written.
    unsafe {
        if matches!(loss.op, LossOp::NegativeLogLikelihood | LossOp::CrossEntropy) && loss.reduction != Reduction::None {
            args.total(gpu, name)?;
            return args.check(gpu);
        }
        if positions > 0 {
            gpu.launch(&LAYERS, "loss_check", "LossArgs", gpu.blocks_for(positions), &args)?;
            args.check(gpu)?;
        }
        if elements == 0 {
            return Ok(());
        }
        match loss.op {
            LossOp::NegativeLogLikelihood | LossOp::CrossEntropy => {
                gpu.launch(&LAYERS, &format!("loss_each<{name}>"), "LossArgs", gpu.blocks_for(elements), &args)
            }
            LossOp::NegativeLogLikelihoodGradient | LossOp::CrossEntropyGradient => {
                if loss.reduction == Reduction::Mean {
                    LossArgs { scores: 0, r: 0, ..args }.total(gpu, name)?;
                }
                gpu.launch(&LAYERS, &format!("loss_gradient<{name}>"), "LossArgs", gpu.blocks_for(elements), &args)
            }
        }
    }
}
