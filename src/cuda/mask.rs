//! Elements by mask on GPUs.

use super::gpu::Gpu;
use super::loops::{MOST_LOOPS, div_up};
use super::order::ITEMS;
use super::source::{Entry, Source};
use crate::error::{Result, bail};
use crate::launch::Mask;
use crate::operand::Operand;

/// The kernels that move elements by a mask.
pub static MASK: Source = Source { name: "mask", text: &[ITEMS, include_str!("kernels/mask.cu")], entries };

/// The number of mask entries that a block processes.
const TILE: i64 = 4096;

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct MaskArgs {
    shape: [i64; MOST_LOOPS],
    n: i64,
    mask: u64,
    to: u64,
    from: u64,
    starts: u64,
    dims: i32,
    unused: i32,
}

fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = ["mask_count", "mask_scan", "positions"].map(|call| Entry::new(call, "MaskArgs", "mask")).into();
    for size in [1, 2, 4, 8] {
        entries.extend(["compress", "expand"].map(|name| Entry::new(format!("{name}<{size}>"), "MaskArgs", "mask")));
    }
    entries
}

/// Moves elements by a mask. All operands are row-major.
pub fn mask(gpu: &Gpu, work: Mask, out: &Operand, inputs: &[&Operand]) -> Result<()> {
    let (from, mask) = match inputs {
        [mask] => (0, mask),
        [from, mask] => (from.first() as u64, mask),
        _ => unreachable!("{} inputs for {work:?}", inputs.len()),
    };
    let (n, sizes) = (mask.layout().numel(), &mask.layout().shape);
    if n == 0 || out.layout().numel() == 0 {
        return Ok(());
    }
    if sizes.len() > MOST_LOOPS && work == Mask::Positions {
        bail!(Shape, "positions in {} dimensions; a GPU finds them in {MOST_LOOPS} at most", sizes.len())
    }
    let mut shape = [1; MOST_LOOPS];
    shape.iter_mut().zip(sizes.iter()).for_each(|(size, &n)| *size = n);
    let tiles = div_up(n, TILE);
    let starts = gpu.scratch(tiles as usize * 8)?;
    let (to, dims) = (out.first() as u64, sizes.len() as i32);
    let args = MaskArgs { shape, n, mask: mask.first() as u64, to, from, starts: starts.ptr(), dims, unused: 0 };
    let call = match work {
        Mask::Compress => format!("compress<{}>", out.dtype.size()),
        Mask::Expand => format!("expand<{}>", out.dtype.size()),
        Mask::Positions => "positions".to_owned(),
    };
    let blocks = gpu.blocks_for(n);
    // SAFETY: the operands are row-major, with an element for each entry of the mask or for each true one, and there is a number for each
    // tile.
    unsafe {
        gpu.launch(&MASK, "mask_count", "MaskArgs", blocks, &args)?;
        gpu.launch(&MASK, "mask_scan", "MaskArgs", 1, &args)?;
        gpu.launch(&MASK, &call, "MaskArgs", blocks, &args)
    }
}
