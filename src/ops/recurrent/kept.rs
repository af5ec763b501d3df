//! The values that the gradient needs: the reserve of a call.

use super::network::Checked;
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::ops::view;
use crate::tensor::Tensor;

/// The values of one layer. They are parts of the reserve, or separate tensors if the caller wants no reserve.
pub(super) struct Kept {
    /// The output: `[rows, directions * hidden]`.
    pub output: Tensor,
    /// For each direction, the values after the gates' functions: `[rows, columns]`. A simple layer has none.
    pub gates: [Option<Tensor>; 2],
    /// For each direction of an LSTM, the memories after each step: `[rows, hidden]`.
    pub memories: [Option<Tensor>; 2],
}

impl Checked<'_> {
    /// The number of elements of the reserve of one layer.
    fn kept_of_layer(&self) -> Option<i64> {
        let columns = self.directions.checked_mul(self.hidden)?.checked_mul(1 + self.of.cell.kept())?;
        columns.checked_mul(self.packing.rows)
    }

    /// The number of elements of the reserve.
    pub fn reserve_len(&self) -> Result<i64> {
        match self.kept_of_layer().and_then(|n| n.checked_mul(self.layers)) {
            Some(n) => Ok(n),
            None => bail!(Shape, "the gates of {} layers of {} units are too many", self.layers, self.hidden),
        }
    }

    /// The values of a layer in the reserve.
    pub fn kept(&self, reserve: &Tensor, layer: i64) -> Result<Kept> {
        let (cell, rows, hidden) = (self.of.cell, self.packing.rows, self.hidden);
        let mut offset = reserve.layout()?.offset + layer * self.kept_of_layer().unwrap_or(0);
        let mut next = |columns: i64| {
            let part = view::of(reserve, &Layout { offset, ..Layout::contiguous(&[rows, columns]) });
            offset += rows * columns;
            part
        };
        let output = next(self.directions * hidden)?;
        let (mut gates, mut memories) = ([None, None], [None, None]);
        for direction in 0..self.directions as usize {
            if cell.kept() > 0 {
                gates[direction] = Some(next(cell.columns() * hidden)?);
            }
            if cell.has_memory() {
                memories[direction] = Some(next(hidden)?);
            }
        }
        Ok(Kept { output, gates, memories })
    }

    /// Memory for the output of a layer whose gates and memories are not kept.
    pub fn not_kept(&self) -> Result<Kept> {
        let output = Tensor::empty(self.compute, &[self.packing.rows, self.directions * self.hidden])?;
        Ok(Kept { output, gates: [None, None], memories: [None, None] })
    }
}
