//! The arguments of recurrent layers, and their checks.

use super::cell::Cell;
use super::packing::Packing;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::operand::same_dtype;
use crate::ops::dense::dense;
use crate::tensor::Tensor;

/// A stack of recurrent layers, and its operands.
#[derive(Clone, Copy)]
pub struct Network<'a> {
    /// The kind of cells.
    pub cell: Cell,
    /// The sequences: `[time, batch, inputs]`.
    pub x: &'a Tensor,
    /// The initial states `[layers * directions, batch, hidden]`; 0 if absent.
    pub h0: Option<&'a Tensor>,
    /// The initial memories of an LSTM, like `h0`.
    pub c0: Option<&'a Tensor>,
    /// For each layer and direction, the weights of the input and of the state, followed by their biases if there are any.
    pub weights: &'a [&'a Tensor],
    /// The length of each sequence; absent if all are as long as `x`.
    pub lengths: Option<&'a Tensor>,
    /// The number of layers.
    pub layers: i32,
    /// True if each layer has a second direction, from the last step to the first.
    pub bidirectional: bool,
    /// True if the first dimension of `x` and of the output is the batch.
    pub batch_first: bool,
}

/// The weights of one direction of a layer, row-major in the compute type.
pub(super) struct Weights {
    /// The weights of the input.
    pub input: Tensor,
    /// The weights of the state.
    pub state: Tensor,
    /// The biases of both.
    pub biases: Option<[Tensor; 2]>,
}

/// A network whose operands fit each other.
pub(super) struct Checked<'a> {
    pub of: Network<'a>,
    pub dtype: Dtype,
    pub compute: Dtype,
    pub layers: i64,
    pub directions: i64,
    pub hidden: i64,
    pub has_biases: bool,
    pub packing: Packing,
}

impl<'a> Network<'a> {
    /// Checks all operands.
    pub(super) fn checked(self) -> Result<Checked<'a>> {
        let dtype = Domain::Float.check(self.x.defined()?)?;
        let shape = self.x.layout()?.shape;
        let &[first, second, inputs] = shape.as_slice() else {
            bail!(Shape, "an input of shape {:?}: expected three dimensions", shape.as_slice())
        };
        let [time, batch] = if self.batch_first { [second, first] } else { [first, second] };
        let directions = if self.bidirectional { 2 } else { 1 };
        let sides = i64::from(self.layers) * directions;
        let each = match self.weights.len() as i64 {
            count if self.layers > 0 && count == 4 * sides => 4,
            count if self.layers > 0 && count == 2 * sides => 2,
            _ if self.layers <= 0 => bail!(Argument, "{} layers: expected at least one", self.layers),
            count => bail!(Argument, "{count} weights: expected {} without biases, or {} with biases", 2 * sides, 4 * sides),
        };
        let state = self.weights[1].layout()?.shape;
        let &[_, hidden] = state.as_slice() else {
            bail!(Shape, "entry 1 of 'weights' has shape {:?}: expected a matrix", state.as_slice())
        };
        let rows = self.cell.gates().saturating_mul(hidden);
        for (k, weight) in self.weights.iter().enumerate() {
            same_dtype(dtype, weight)?;
            let (side, part) = (k as i64 / each, k as i64 % each);
            let columns = match part {
                0 if side < directions => inputs,
                0 => directions * hidden,
                _ => hidden,
            };
            let have = weight.layout()?.shape;
            let expected = [rows, columns];
            let expected = if part < 2 { &expected[..] } else { &expected[..1] };
            if have.as_slice() != expected {
                bail!(Shape, "entry {k} of 'weights' has shape {:?}, expected {expected:?}", have.as_slice())
            }
        }
        for (name, states) in [("h0", self.h0), ("c0", self.c0)] {
            let Some(states) = states else { continue };
            same_dtype(dtype, states)?;
            let have = states.layout()?.shape;
            if have.as_slice() != [sides, batch, hidden] {
                bail!(Shape, "{name} has shape {:?}, expected {:?}", have.as_slice(), [sides, batch, hidden])
            }
        }
        let packing = Packing::new([time, batch], self.batch_first, self.lengths)?;
        let (layers, compute, has_biases) = (i64::from(self.layers), dtype.compute(), each == 4);
        Ok(Checked { of: self, dtype, compute, layers, directions, hidden, has_biases, packing })
    }
}

impl Checked<'_> {
    /// The number of tensors of weights of one direction of a layer.
    pub fn each(&self) -> i64 {
        if self.has_biases { 4 } else { 2 }
    }

    /// The index of the first weight of a direction of a layer.
    pub fn first_weight(&self, layer: i64, direction: i64) -> usize {
        ((layer * self.directions + direction) * self.each()) as usize
    }

    /// The weights of a direction of a layer.
    pub fn weights(&self, layer: i64, direction: i64) -> Result<Weights> {
        let first = self.first_weight(layer, direction);
        let weight = |k: usize| dense(self.of.weights[first + k], self.compute);
        let biases = if self.has_biases { Some([weight(2)?, weight(3)?]) } else { None };
        Ok(Weights { input: weight(0)?, state: weight(1)?, biases })
    }

    /// The shape of the states of all layers.
    pub fn states(&self) -> [i64; 3] {
        [self.layers * self.directions, self.packing.batch, self.hidden]
    }
}
