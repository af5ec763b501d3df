//! Quantised numbers: products with quantised matrices, encoding and decoding.
//!
//! A product quantises the rows of activations to 8 bits, with one scale for each block, so that the products of codes are integers. The
//! weights are decoded in registers. A row of weights is read from memory once for all activations.

mod activations;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod kernels;
#[cfg(target_arch = "x86_64")]
mod large;
#[cfg(target_arch = "x86_64")]
mod paired;
mod plain;
#[cfg(target_arch = "x86_64")]
mod small;
#[cfg(test)]
mod tests;
mod tile;

use super::engine::{CHEAP, Shared, parallel};
use super::tuning::{COSTLIEST, MATRIX_WORK, QUANTIZED_BYTES};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Quantized, QuantizedTask};
use crate::operand::Operand;
use activations::Activations;
use thorn_blocks::Blocks;
use tile::Tile;

/// Does the work.
pub fn run(work: Quantized, out: &Operand, inputs: &[&Operand]) -> Result<()> {
    match (work.task, inputs) {
        (QuantizedTask::Product, [a, w]) => product(work.blocks, out, a, w)?,
        (QuantizedTask::Encode, [t]) => encode(work.blocks, out, t),
        (QuantizedTask::Decode, [w]) => decode(work.blocks, out, w),
        _ => unreachable!("{} inputs for {work:?}", inputs.len()),
    }
    Ok(())
}

/// Returns the last size of an operand.
fn last(operand: &Operand) -> usize {
    operand.layout().shape.last().map_or(0, |&size| size as usize)
}

fn product(blocks: Blocks, out: &Operand, a: &Operand, w: &Operand) -> Result<()> {
    let (k, n) = (last(a), last(out));
    let rows = a.layout().numel() as usize / k.max(1);
    if rows == 0 || n == 0 {
        return Ok(());
    }
    let Some(bytes) = Activations::bytes(blocks, k).and_then(|bytes| i64::try_from(bytes.checked_mul(rows)?).ok()) else {
        bail!(NoMem, "{rows} quantised rows of {k} numbers have more bytes than memory")
    };
    let memory = Operand::row(Dtype::Uint8, bytes)?;
    let kernel = kernels::of(blocks);
    let activations = Activations::at(memory.first(), blocks, k, kernel.paired);
    // SAFETY: `a` is row-major float32.
    let numbers = unsafe { a.elements::<f32>() };
    // SAFETY: the memory has all rows, and each is in one range.
    parallel(rows, k, CHEAP, &|range| range.for_each(|row| unsafe { activations.quantize(row, &numbers[row * k..][..k]) }));
    let row_bytes = k / blocks.count() * blocks.bytes();
    let (weights, to) = (Shared(w.first()), Shared(out.first()));
    // Rows of weights that stay in the L2 cache while the activations pass.
    let most = if rows > tile::TILE { (QUANTIZED_BYTES / row_bytes).max(1) } else { n };
    parallel(n, k.saturating_mul(rows), MATRIX_WORK, &|range| {
        for first in range.clone().step_by(most) {
            let tile = Tile {
                weights: weights.get().wrapping_add(first * row_bytes),
                row_bytes,
                count: most.min(range.end - first),
                activations,
                rows,
                structure: blocks,
                blocks: k / blocks.count(),
                to: to.get().cast::<f32>().wrapping_add(first),
                stride: n,
            };
            // SAFETY: the operands have the rows, and ranges have distinct products. The kernel is of this processor.
            unsafe { (kernel.run)(tile) };
        }
    });
    Ok(())
}

/// Calls `task` with ranges of blocks, as their addresses in `out` and `input` and their number. A block has `sizes` bytes in both.
fn each_block(
    blocks: Blocks,
    out: &Operand,
    input: &Operand,
    sizes: [usize; 2],
    grain: usize,
    task: &(dyn Fn([*mut u8; 2], usize) + Sync),
) {
    let count = (out.layout().numel() as usize * out.dtype.size()) / sizes[0];
    let data = [Shared(out.first()), Shared(input.first())];
    parallel(count, blocks.count(), grain, &|range| {
        task([0, 1].map(|k| data[k].get().wrapping_add(range.start * sizes[k])), range.len());
    });
}

fn encode(blocks: Blocks, out: &Operand, t: &Operand) {
    let (bytes, count) = (blocks.bytes(), blocks.count());
    each_block(blocks, out, t, [bytes, count * 4], COSTLIEST, &|[to, from], n| {
        // SAFETY: the operands are row-major and have the blocks. Ranges are disjoint, and the result does not overlap the input.
        let (to, from) = unsafe { (std::slice::from_raw_parts_mut(to, n * bytes), std::slice::from_raw_parts(from.cast(), n * count)) };
        blocks.encode(from, to);
    });
}

fn decode(blocks: Blocks, out: &Operand, w: &Operand) {
    let (bytes, count) = (blocks.bytes(), blocks.count());
    each_block(blocks, out, w, [count * 4, bytes], CHEAP / 4, &|[to, from], n| {
        // SAFETY: as in `encode`.
        let (to, from) = unsafe { (std::slice::from_raw_parts_mut(to.cast(), n * count), std::slice::from_raw_parts(from, n * bytes)) };
        blocks.decode(from, to);
    });
}
