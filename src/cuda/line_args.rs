//! The lines of operands in the form of kernel arguments.

use super::loops::{Loops, MOST_LOOPS, div_up, loops};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::INLINE_DIMS;
use crate::operand::Operand;
use crate::plan::{Loop, Plan};
use smallvec::SmallVec;

/// Device functions: order-preserving integers, and loads and stores by dtype.
pub(super) const KEYS: &str = include_str!("kernels/keys.cuh");
/// Device functions for lines of operands.
pub(super) const LINES: &str = include_str!("kernels/lines.cuh");

/// The number of elements that a block processes at a time.
pub(super) const TILE: i64 = 2048;
/// The maximum size of a line's state in bytes.
pub(super) const STATE: i64 = 16;
/// The number of lines below which lines are split, so that there are enough blocks.
const FEW: i64 = 256;
/// The maximum number of elements of a line for which one thread processes the line.
const SHORT: i64 = 32;
/// The number of adjacent lines from which on one thread processes each: for lines of up to a tile of elements, and for longer ones.
const BESIDE: [i64; 2] = [2048, 16384];

/// The lines of an input and results. The kernels declare the same struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LineArgs {
    pub outer: Loops<3>,
    pub x: u64,
    pub out: [u64; 2],
    pub n: i64,
    pub step: [i64; 3],
    pub dtype: [i32; 3],
    pub unused: i32,
}

impl LineArgs {
    /// The lines along the last dimension.
    pub fn new(input: &Operand, out: [Option<&Operand>; 2]) -> Result<LineArgs> {
        let all = [Some(input), out[0], out[1]];
        let last = input.layout().ndim() - 1;
        let step = |d: usize| all.map(|operand| operand.map_or(0, |o| o.layout().strides[d] as isize * o.dtype.size() as isize));
        let shape = &input.layout().shape[..last];
        let mut outer: SmallVec<[Loop<3>; INLINE_DIMS]> = SmallVec::new();
        for d in (0..last).rev().filter(|&d| shape[d] != 1) {
            outer.push(Loop { n: shape[d] as usize, step: step(d) });
        }
        let outer = if shape.contains(&0) { Plan::flat(0, [0; 3]) } else { Plan::of_loops(&mut outer, [0; 3]) };
        Ok(LineArgs {
            outer: loops(&outer)?,
            x: input.first() as u64,
            out: out.map(|out| out.map_or(0, |out| out.first() as u64)),
            n: input.layout().shape[last],
            step: step(last).map(|step| step as i64),
            dtype: all.map(|operand| operand.map_or(0, |o| o.dtype.code())),
            unused: 0,
        })
    }

    /// `count` lines of `n` contiguous elements, which are overwritten with their results.
    pub fn rows(at: u64, count: i64, n: i64, dtype: Dtype) -> LineArgs {
        let size = dtype.size() as i64;
        let mut outer = Loops { total: count, n: [1; MOST_LOOPS], step: [[0; MOST_LOOPS]; 3], count: 1, narrow: 0 };
        outer.n[0] = count;
        outer.step.iter_mut().for_each(|step| step[0] = n * size);
        LineArgs { outer, x: at, out: [at, 0], n, step: [size; 3], dtype: [dtype.code(); 3], unused: 0 }
    }

    /// The number of lines.
    pub fn count(&self) -> i64 {
        self.outer.total
    }

    /// The number of elements of all lines.
    pub fn numel(&self) -> i64 {
        self.outer.total.saturating_mul(self.n)
    }

    /// Returns true if neighbouring lines are closer in memory than neighbouring elements of a line.
    pub fn side_by_side(&self) -> bool {
        self.count() > 1 && self.outer.step[0][0] != 0 && self.outer.step[0][0].abs() < self.step[0].abs()
    }

    /// Returns true if the first elements of all lines of the input and of the first result have the same distance to a multiple of 16
    /// bytes.
    pub fn aligned_alike(&self) -> bool {
        (self.x ^ self.out[0]).is_multiple_of(16) && self.steps(0).zip(self.steps(1)).all(|(a, b)| (a - b) % 16 == 0)
    }

    /// Returns true if the first elements of all lines of the input are at multiples of 16 bytes.
    pub fn aligned(&self) -> bool {
        self.x.is_multiple_of(16) && self.steps(0).all(|step| step % 16 == 0)
    }

    /// The steps between lines of an operand.
    fn steps(&self, operand: usize) -> impl Iterator<Item = i64> {
        self.outer.step[operand][..self.outer.count as usize].iter().copied()
    }

    /// Returns true if one thread processes a line.
    pub fn singly(&self) -> bool {
        self.n <= SHORT || (self.side_by_side() && self.count() >= BESIDE[usize::from(self.n > TILE)])
    }

    /// The number of segments of a line that gives enough blocks, and the elements of a segment: a multiple of `unit`.
    pub fn segments(&self, unit: i64) -> [i64; 2] {
        let wanted = if self.count() < FEW { (4 * FEW / self.count().max(1)).min(self.n / (4 * unit)).max(1) } else { 1 };
        let segment = div_up(div_up(self.n, wanted).max(1), unit) * unit;
        [div_up(self.n, segment).max(1), segment]
    }
}
