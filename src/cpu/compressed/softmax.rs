//! Softmax over the entries of each row, which are contiguous: lines of different lengths.

use super::{Position, Starts};
use crate::cpu::engine::Shared;
use crate::cpu::lines::Stack;
use crate::cpu::real::Real;
use crate::cpu::softmax::{Kind, gradient, stack};
use crate::cpu::vector::Vectored;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::RowSoftmax;
use crate::launch::layers::LineShape;
use crate::operand::Operand;
use std::ptr::null_mut;

/// The cost of an entry, relative to the cost of a multiplication and addition.
const COST: usize = 16;

/// Computes softmax or its gradient; see [`RowSoftmax`].
pub fn softmax(work: RowSoftmax, out: &Operand, starts: &Operand, x: &Operand, y: Option<&Operand>) -> Result<()> {
    let y = y.filter(|_| work.gradient);
    // SAFETY: the operands are row-major and of these types.
    unsafe {
        match (starts.dtype, x.dtype) {
            (Dtype::Int32, Dtype::Float32) => rows::<i32, f32>(out, starts.elements(), x, y),
            (Dtype::Int32, _) => rows::<i32, f64>(out, starts.elements(), x, y),
            (_, Dtype::Float32) => rows::<i64, f32>(out, starts.elements(), x, y),
            _ => rows::<i64, f64>(out, starts.elements(), x, y),
        }
    }
}

fn rows<I: Position, T: Real + Vectored>(out: &Operand, starts: &[I], x: &Operand, y: Option<&Operand>) -> Result<()> {
    let starts = Starts(starts);
    starts.check(x.layout().numel() as usize)?;
    let [out, x] = [out, x].map(|operand| Shared(operand.first()));
    let y = y.map(|y| Shared(y.first()));
    starts.each_piece(COST, &|rows| {
        for range in rows.map(|i| starts.row(i)).filter(|range| !range.is_empty()) {
            let n = range.len();
            let at = |operand: Shared| operand.get().cast::<T>().wrapping_add(range.start);
            match y {
                // SAFETY: rows are disjoint and inside row-major operands, and the result does not overlap the other operands.
                Some(y) => unsafe { gradient::<T>(Kind::Softmax, at(out), at(x), at(y), LineShape { outer: 1, n, inner: 1 }) },
                None => stack::<T>(
                    Kind::Softmax,
                    Stack { out: [at(out).cast(), null_mut()], out_step: [0; 2], x: at(x).cast(), x_step: 0, n, count: 1 },
                ),
            }
        }
    });
    Ok(())
}
