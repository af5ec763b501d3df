//! Operations over lines along the last dimension: scans and softmax. Operations that need an order are in [`sort`](super::sort).

use super::copy::convert;
use super::gpu::Gpu;
use super::line_args::{KEYS, LINES, LineArgs, STATE, TILE};
use super::map::type_name;
use super::scan::scan;
use super::sort;
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::lines::Softmax;
use crate::launch::{LineOp, Lines};
use crate::operand::Operand;

/// The kernels of softmax and related functions.
pub static SOFTMAX: Source = Source { name: "softmax", text: &[KEYS, LINES, include_str!("kernels/softmax.cu")], entries: softmax_entries };

/// The maximum number of elements of a line for which one warp processes the line.
const WARP: i64 = 1024;

/// Runs an operation over lines.
pub fn lines(gpu: &Gpu, work: &Lines<'_>, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    match work.op {
        LineOp::Totals { product } => {
            scan(gpu, if product { "Products" } else { "Sums" }, work.compute, false, &LineArgs::new(input, out)?)
        }
        LineOp::Extremes { max } => scan(gpu, "Extremes", work.compute, max, &LineArgs::new(input, out)?),
        LineOp::LogSums => scan(gpu, "LogSums", work.compute, false, &LineArgs::new(input, out)?),
        LineOp::Softmax(kind) => softmax(gpu, kind, work.compute, out, input),
        op => match input.dtype.compute() == work.compute {
            true => sort::lines(gpu, op, out, input),
            false => {
                let made = Operand::new_on(input.device, work.compute, &input.layout.shape)?;
                convert(gpu, &made, input)?;
                sort::lines(gpu, op, out, &made)
            }
        },
    }
}

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct SoftmaxArgs {
    lines: LineArgs,
    states: u64,
    segments: i64,
    segment: i64,
    kind: i32,
    unused: i32,
}

/// The CUDA types of elements in memory.
const STORED: [&str; 6] = ["f32", "f64", "f16", "bf16", "Any<f32>", "Any<f64>"];

fn softmax_entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for name in STORED {
        for way in ["lines", "segments", "results", "singly"] {
            for lanes in if way == "lines" { &[", 32", ", BLOCK"][..] } else { &[""] } {
                entries.push(Entry::new(format!("softmax_{way}<{name}{lanes}>"), "SoftmaxArgs", name));
            }
        }
    }
    entries
}

fn softmax(gpu: &Gpu, kind: Softmax, compute: Dtype, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    let Some(to) = out[0] else { return Ok(()) };
    let lines = LineArgs::new(input, out)?;
    // Without elements there is nothing to do, except for the logarithm of an empty sum, which is a number.
    if lines.count() == 0 || (lines.n == 0 && !kind.reduces()) {
        return Ok(());
    }
    let stored = input.dtype.compute() == compute && (to.dtype == input.dtype || kind.reduces());
    let name = if stored { type_name(input.dtype).to_owned() } else { format!("Any<{}>", type_name(compute)) };
    let mut args = SoftmaxArgs { lines, states: 0, segments: 1, segment: lines.n, kind: kind as i32, unused: 0 };
    [args.segments, args.segment] = if lines.singly() { [1, lines.n] } else { lines.segments(TILE) };
    let launch = |way: &str, lanes: &str, blocks: u32, args: &SoftmaxArgs| {
        // SAFETY: the operands are inside their storages, and there is a state for each segment of each line.
        unsafe { gpu.launch(&SOFTMAX, &format!("softmax_{way}<{name}{lanes}>"), "SoftmaxArgs", blocks, args) }
    };
    let jobs = gpu.blocks_of(lines.count().saturating_mul(args.segments));
    if lines.singly() {
        launch("singly", "", gpu.blocks_for(lines.count()), &args)
    } else if args.segments > 1 {
        let states = gpu.scratch((lines.count() * args.segments * STATE) as usize)?;
        args.states = states.ptr();
        launch("segments", "", jobs, &args)?;
        launch("results", "", jobs, &args)
    } else if lines.n <= WARP {
        launch("lines", ", 32", gpu.blocks_for(lines.count().saturating_mul(32)), &args)
    } else {
        launch("lines", ", BLOCK", jobs, &args)
    }
}
