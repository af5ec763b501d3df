//! Scans on GPUs: running sums, products, extremes, and sums of exponentials.

use super::gpu::Gpu;
use super::line_args::{KEYS, LINES, LineArgs, STATE, TILE};
use super::map::type_name;
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;

/// The kernels of scans.
pub static SCAN: Source = Source { name: "scan", text: &[KEYS, LINES, include_str!("kernels/scan.cu")], entries };

/// The maximum number of elements of a line, and the minimum number of lines, for which one thread scans each line.
const SCANNED: [i64; 2] = [256, 32768];

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct ScanArgs {
    lines: LineArgs,
    states: u64,
    segments: i64,
    segment: i64,
    writes: i32,
    max: i32,
}

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for &dtype in Dtype::ALL.iter().filter(|&&dtype| dtype == dtype.compute()) {
        let name = type_name(dtype);
        for scan in ["Sums", "Products", "Extremes", "LogSums"] {
            for way in ["singly", "segments", "states"] {
                if scan != "LogSums" || dtype.is_float() {
                    entries.push(Entry::new(format!("scan_{way}<{scan}<{name}>>"), "ScanArgs", name));
                }
            }
        }
    }
    entries
}

/// Scans lines whose elements are converted to `compute`. Results may overwrite the elements.
pub fn scan(gpu: &Gpu, function: &str, compute: Dtype, max: bool, lines: &LineArgs) -> Result<()> {
    if lines.numel() == 0 {
        return Ok(());
    }
    let call = |way: &str| format!("scan_{way}<{function}<{}>>", type_name(compute));
    let mut args = ScanArgs { lines: *lines, states: 0, segments: 1, segment: lines.n, writes: 1, max: max.into() };
    if lines.singly() || (lines.n <= SCANNED[0] && lines.count() >= SCANNED[1]) {
        // SAFETY: the operands are inside their storages.
        return unsafe { gpu.launch(&SCAN, &call("singly"), "ScanArgs", gpu.blocks_for(lines.count()), &args) };
    }
    [args.segments, args.segment] = lines.segments(TILE);
    let jobs = gpu.blocks_of(lines.count().saturating_mul(args.segments));
    // SAFETY: the operands are inside their storages, and there is a state for each segment of each line.
    unsafe {
        if args.segments == 1 {
            return gpu.launch(&SCAN, &call("segments"), "ScanArgs", jobs, &args);
        }
        let states = gpu.scratch((lines.count() * args.segments * STATE) as usize)?;
        args.states = states.ptr();
        gpu.launch(&SCAN, &call("segments"), "ScanArgs", jobs, &ScanArgs { writes: 0, ..args })?;
        gpu.launch(&SCAN, &call("states"), "ScanArgs", gpu.blocks_of(lines.count()), &args)?;
        gpu.launch(&SCAN, &call("segments"), "ScanArgs", jobs, &args)
    }
}
