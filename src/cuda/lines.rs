//! Operations over lines along the last dimension: scans and softmax. Operations that need an order are in [`sort`](super::sort).

use super::copy::convert;
use super::gpu::Gpu;
use super::line_args::{KEYS, LINES, LineArgs, STATE, TILE};
use super::loops::div_up;
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
pub static SOFTMAX: Source =
    Source { name: "softmax", text: &[PACKETS, KEYS, LINES, include_str!("kernels/softmax.cu")], entries: softmax_entries };

/// Device functions for packets of elements.
pub(super) const PACKETS: &str = include_str!("kernels/packets.cuh");

/// The maximum number of elements of a line for which a warp or a part of one processes the line.
const WARP: i64 = 1024;
/// The maximum number of elements that a warp keeps one by one. Longer lines are loaded in packets, even if they are not aligned.
const KEPT: i64 = 256;
/// The number of adjacent lines from which on neighbouring threads process neighbouring lines.
const COLUMNS: i64 = 1024;
/// The maximum number of elements of an adjacent line for which one thread processes the line.
const SHORT: i64 = 32;
/// The maximum number of threads for an adjacent line.
const SHARED: i64 = 8;
/// The maximum number of elements of a segment.
const SEGMENT: i64 = 1 << 30;

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
                let made = Operand::new_on(input.device, work.compute, &input.layout().shape)?;
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
    lanes: i32,
}

/// The CUDA types of elements in memory.
const STORED: [&str; 6] = ["f32", "f64", "f16", "bf16", "Any<f32>", "Any<f64>"];

/// The elements of a packet of a CUDA type. Then the numbers of packets that a thread keeps: in the shortest lines, in other lines of a
/// warp, and in lines of a block.
pub(super) fn packets(name: &str) -> Option<(i64, [i64; 3])> {
    match name {
        "f32" => Some((4, [2, 8, 10])),
        "f64" => Some((2, [2, 4, 5])),
        "f16" | "bf16" => Some((8, [2, 4, 5])),
        _ => None,
    }
}

/// The kernel for lines of which a thread keeps `kept` times `n` elements.
fn rows(name: &str, n: i64, kept: i64, whole: bool) -> String {
    format!("softmax_rows<{name}, {n}, {kept}, {whole}>")
}

fn softmax_entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for name in STORED {
        let mut calls = vec![format!("softmax_columns<{name}>"), format!("softmax_results<{name}>")];
        calls.extend([false, true].map(|whole| rows(name, 1, 8, whole)));
        if let Some((n, [shortest, short, long])) = packets(name) {
            calls.extend([(shortest, false), (short, false), (long, true)].map(|(kept, whole)| rows(name, n, kept, whole)));
        }
        entries.extend(calls.into_iter().map(|call| Entry::new(call, "SoftmaxArgs", name)));
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
    let mut args = SoftmaxArgs { lines, states: 0, segments: 1, segment: lines.n, kind: kind as i32, lanes: 0 };
    let launch = |call: &str, blocks: u32, args: &SoftmaxArgs| {
        // SAFETY: the operands are inside their storages, and there is a state for each segment of each line.
        unsafe { gpu.launch(&SOFTMAX, call, "SoftmaxArgs", blocks, args) }
    };
    let threads_for = |elements: i64, each: i64| div_up(elements, each).max(1).unsigned_abs().next_power_of_two() as i64;
    let n = lines.n;
    if lines.side_by_side() && (n <= SHORT || lines.count() >= COLUMNS) {
        let lanes = threads_for(n, SHORT).min(SHARED);
        args.lanes = lanes as i32;
        return launch(&format!("softmax_columns<{name}>"), gpu.blocks_for(lines.count().saturating_mul(lanes)), &args);
    }
    let size = input.dtype.size() as i64;
    let contiguous = lines.step[0] == size && (kind.reduces() || lines.step[1] == size);
    let aligned = lines.aligned();
    let together = kind.reduces() || lines.aligned_alike();
    let packets = packets(&name).filter(|&(each, _)| contiguous && together && ((aligned && n % each == 0) || n > KEPT));
    if n <= WARP {
        let (call, lanes) = match packets {
            Some((each, [kept, short, _])) => {
                let whole = aligned && n % each == 0;
                let lanes = if whole { threads_for(n, kept * each).clamp(2, 32) } else { 32 };
                (rows(&name, each, if n <= 32 * kept * each { kept } else { short }, false), lanes)
            }
            None => (rows(&name, 1, 8, false), threads_for(n, 4).min(32)),
        };
        args.lanes = lanes as i32;
        return launch(&call, gpu.blocks_for(lines.count().saturating_mul(lanes)), &args);
    }
    [args.segments, args.segment] = lines.segments(TILE);
    if args.segment > SEGMENT {
        [args.segments, args.segment] = [div_up(n, SEGMENT), SEGMENT];
    }
    let call = packets.map_or_else(|| rows(&name, 1, 8, true), |(each, [.., kept])| rows(&name, each, kept, true));
    let jobs = gpu.blocks_of(lines.count().saturating_mul(args.segments));
    if args.segments == 1 {
        return launch(&call, jobs, &args);
    }
    let states = gpu.scratch((lines.count() * args.segments * STATE) as usize)?;
    args.states = states.ptr();
    launch(&call, jobs, &args)?;
    launch(&format!("softmax_results<{name}>"), jobs, &args)
}
