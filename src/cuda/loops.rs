//! The loops of a plan in the form of kernel arguments.

use super::gpu::THREADS;
use crate::error::{Result, bail};
use crate::plan::Plan;

/// The maximum number of loops of a kernel.
pub(super) const MOST_LOOPS: usize = 12;

/// `a / b` rounded up, for positive numbers.
pub(super) fn div_up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// The loops over `N` operands, fastest first. The prelude declares the same struct.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Loops<const N: usize> {
    /// The number of positions.
    pub total: i64,
    /// The length of each loop.
    pub n: [i64; MOST_LOOPS],
    /// The distance between positions in bytes, for each operand.
    pub step: [[i64; MOST_LOOPS]; N],
    /// The number of loops.
    pub count: i32,
    /// 1 if 32 bits hold all positions and offsets.
    pub narrow: i32,
}

/// The loops of a plan.
pub fn loops<const N: usize>(plan: &Plan<N>) -> Result<Loops<N>> {
    let found = plan.loops();
    if found.len() > MOST_LOOPS {
        bail!(Shape, "the strides of the operands leave {} dimensions apart; a GPU walks {MOST_LOOPS}", found.len())
    }
    let (total, count) = (plan.numel() as i64, found.len() as i32);
    let reach =
        |k: usize| found.iter().map(|l| (l.n as i64 - 1).max(0).saturating_mul((l.step[k] as i64).abs())).fold(0, i64::saturating_add);
    let narrow = (0..N).map(reach).fold(total, i64::max) <= i32::MAX.into();
    let mut loops = Loops { total, n: [1; MOST_LOOPS], step: [[0; MOST_LOOPS]; N], count, narrow: narrow.into() };
    for (l, one) in found.iter().enumerate() {
        loops.n[l] = one.n as i64;
        (0..N).for_each(|k| loops.step[k][l] = one.step[k] as i64);
    }
    Ok(loops)
}

/// The threads over the first two loops, as in `map.cu`: the numbers of tiles, in total, along the first loop and along the second one; the
/// binary logarithms of a tile's threads along these loops; and the set of operands that are loaded or stored in packs.
pub(super) type Tiles = [i64; 6];

/// The number of adjacent positions of a thread for elements of this size: 16 bytes, but at most 8 positions.
pub(super) fn positions(size: usize) -> i64 {
    (16 / size.max(2)) as i64
}

/// The tiles for threads of `each` adjacent positions, and the number of threads. `n` are the lengths of the loops. An operand has its
/// address and its element size; operand k has its steps at `k * MOST_LOOPS`. A loop along which an operand is contiguous becomes
/// the second one if the operand is not contiguous in the first loop.
pub(super) fn tiles(n: &mut [i64], steps: &mut [i64], operands: impl Iterator<Item = (u64, usize)>, each: i64) -> (Tiles, i64) {
    let (mut packed, mut partner) = (0, 0);
    for (k, (address, size)) in operands.enumerate() {
        let (size, step) = (size as i64, &steps[k * MOST_LOOPS..][..n.len()]);
        let together = step[1..].iter().fold(address.cast_signed(), |together, step| together | step);
        if step[0] == size && together & ((size * each).min(16) - 1) == 0 {
            packed |= 1 << k;
        }
        if partner == 0 && step[0] != size && step[0] != 0 {
            partner = step.iter().position(|&step| step == size).unwrap_or(0);
        }
    }
    if n.len() == 1 {
        return ([0, 0, 0, 0, 0, packed], div_up(n[0], each));
    }
    if partner > 1 {
        n[1..=partner].rotate_right(1);
        steps.chunks_exact_mut(MOST_LOOPS).for_each(|step| step[1..=partner].rotate_right(1));
    }
    // The binary logarithm of a power of two that is at least `n`, but at most `2^most`.
    let log = |n: i64, most: u32| (n.min(1 << most) as u32).next_power_of_two().ilog2();
    // A transposed operand is contiguous along the second loop, so tiles are as long in both directions.
    let wide = log(div_up(n[0], each), if partner > 0 { (32 / each).ilog2() } else { 5 });
    let high = log(n[1], THREADS.ilog2() - wide);
    let (across, down) = (div_up(n[0], each << wide), div_up(n[1], 1 << high));
    let total = n[2..].iter().fold(across.saturating_mul(down), |total, &n| total.saturating_mul(n));
    ([total, across, down, wide.into(), high.into(), packed], total.saturating_mul(1 << (wide + high)))
}
