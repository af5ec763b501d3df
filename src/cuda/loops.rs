//! The loops of a plan as kernels take them.

use crate::error::{Result, bail};
use crate::plan::Plan;

/// Loops that a kernel has at most.
pub(super) const MOST_LOOPS: usize = 12;

/// `a / b` of positive numbers, rounded up.
pub(super) fn div_up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// The loops over `N` operands, fastest first, as the prelude declares them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Loops<const N: usize> {
    /// Positions.
    pub total: i64,
    /// Length of each loop.
    pub n: [i64; MOST_LOOPS],
    /// Bytes from position to position, of each operand.
    pub step: [[i64; MOST_LOOPS]; N],
    /// Number of loops.
    pub count: i32,
    /// 1 if positions and offsets have 32 bits.
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
