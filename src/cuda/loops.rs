//! The loops of a plan in the form of kernel arguments.

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
