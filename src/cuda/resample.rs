//! Resampling on GPUs.

use super::gpu::Gpu;
use super::map::type_name;
use super::order::ITEMS;
use super::source::{Entry, Source};
use crate::dtype::{Domain, Dtype};
use crate::error::Result;
use crate::launch::Resample;
use crate::operand::Operand;

/// The kernels of resampling.
pub static RESAMPLE: Source = Source { name: "resample", text: &[ITEMS, include_str!("kernels/resample.cu")], entries };

/// The dtypes of the image and the result, and the type of the sums.
const TYPES: [[&str; 3]; 5] =
    [["f32", "f32", "f32"], ["f64", "f64", "f64"], ["u8", "f32", "f32"], ["f32", "u8", "f32"], ["u8", "u8", "f32"]];

fn entries() -> Vec<Entry> {
    TYPES.iter().map(|[x, r, sum]| Entry::new(format!("resample<{x}, {r}, {sum}>"), "ResampleArgs", *sum)).collect()
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ResampleArgs {
    x: u64,
    r: u64,
    places: u64,
    weights: u64,
    total: i64,
    before: i64,
    after: i64,
    inner: i64,
    taps: i32,
    unused: i32,
}

/// Computes the sums.
pub fn resample(gpu: &Gpu, work: Resample, r: &Operand, [x, places, weights]: [&Operand; 3]) -> Result<()> {
    let names = [x, r, weights].map(|operand| type_name(operand.dtype));
    if !TYPES.contains(&names) {
        return Err(Domain::Float.refusal(if x.dtype == Dtype::Uint8 { r.dtype } else { x.dtype }));
    }
    let total = r.layout().numel();
    if total == 0 {
        return Ok(());
    }
    let args = ResampleArgs {
        x: x.first() as u64,
        r: r.first() as u64,
        places: places.first() as u64,
        weights: weights.first() as u64,
        total,
        before: work.before as i64,
        after: work.after as i64,
        inner: work.inner as i64,
        taps: work.taps as i32,
        unused: 0,
    };
    let [x, r, sum] = names;
    // SAFETY: the operands are row-major with the shapes of the work, and each place is in the dimension.
    unsafe { gpu.launch(&RESAMPLE, &format!("resample<{x}, {r}, {sum}>"), "ResampleArgs", gpu.blocks_for(total), &args) }
}
