//! Outputs and final states of recurrent layers.

use super::cell::Cell;
use super::kept::Kept;
use super::network::{Checked, Network, Weights};
use super::part;
use crate::error::Result;
use crate::ops::loss::made;
use crate::ops::matmul::{addmm, mm};
use crate::ops::pointwise::{arithmetic, function, recurrent};
use crate::ops::{copy, result::deliver, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

const ONE: Scalar = Scalar::Int(1);

/// The optional results of a forward call.
#[derive(Clone, Copy)]
pub struct States<'a> {
    /// The final states.
    pub h: Option<&'a Tensor>,
    /// The final memories of an LSTM.
    pub c: Option<&'a Tensor>,
    /// The values that the gradient needs.
    pub reserve: Option<&'a Tensor>,
}

/// The results of a forward call in the compute type.
struct Computed {
    output: Tensor,
    h: Tensor,
    c: Option<Tensor>,
    reserve: Option<Tensor>,
}

/// The output of all sequences, and the final states of all layers
pub fn forward(output: &Tensor, states: States<'_>, network: Network<'_>) -> Result<()> {
    let network = network.checked()?;
    let made = network.computed(states.reserve.is_some())?;
    let (dtype, compute) = (network.dtype, network.compute);
    let c = states.c.zip(made.c.as_ref());
    let reserve = states.reserve.zip(made.reserve.as_ref());
    deliver([
        Some((output, dtype, &made.output)),
        states.h.map(|h| (h, dtype, &made.h)),
        c.map(|(c, made)| (c, dtype, made)),
        reserve.map(|(reserve, made)| (reserve, compute, made)),
    ])
}

/// The states after one step. `network` has one layer and one step.
pub fn single(h: &Tensor, states: States<'_>, network: Network<'_>) -> Result<()> {
    let network = network.checked()?;
    let made = network.computed(states.reserve.is_some())?;
    let (dtype, compute) = (network.dtype, network.compute);
    let first = |t: &Tensor| view::derive(t, |l| l.select(0, 0));
    let of_c = made.c.as_ref().map(first).transpose()?;
    let c = states.c.zip(of_c.as_ref());
    let reserve = states.reserve.zip(made.reserve.as_ref());
    deliver([
        Some((h, dtype, &first(&made.h)?)),
        c.map(|(c, made)| (c, dtype, made)),
        reserve.map(|(reserve, made)| (reserve, compute, made)),
    ])
}

impl Checked<'_> {
    fn computed(&self, keeps: bool) -> Result<Computed> {
        let (packing, compute) = (&self.packing, self.compute);
        let reserve = if keeps { Some(Tensor::empty(compute, &[self.reserve_len()?])?) } else { None };
        let h = packing.sorted(self.of.h0, compute, &self.states())?;
        let c = if self.of.cell.has_memory() { Some(packing.sorted(self.of.c0, compute, &self.states())?) } else { None };
        let mut x = packing.packed(self.of.x, compute)?;
        for layer in 0..self.layers {
            let kept = match &reserve {
                Some(reserve) => self.kept(reserve, layer)?,
                None => self.not_kept()?,
            };
            for direction in 0..self.directions {
                let side = (layer * self.directions + direction) as i32;
                let of_side = |t: &Tensor| view::derive(t, |l| l.select(0, side.into()));
                let states = Running { h: of_side(&h)?, c: c.as_ref().map(of_side).transpose()? };
                self.layer(&x, &kept, direction, &self.weights(layer, direction)?, &states)?;
            }
            x = kept.output;
        }
        let output = packing.padded(&x)?;
        // The output is separate from the reserve, which must not change with it.
        let output = if keeps { copy::contiguous_copy(&output)? } else { output };
        let c = c.map(|c| packing.restored(&c)).transpose()?;
        Ok(Computed { output, h: packing.restored(&h)?, c, reserve })
    }

    /// Computes one direction of a layer: its output, and in `states` the states at the end.
    fn layer(&self, x: &Tensor, kept: &Kept, direction: i64, weights: &Weights, states: &Running) -> Result<()> {
        let (cell, hidden, rows) = (self.of.cell, self.hidden, self.packing.rows);
        let side = direction as usize;
        let gates = match &kept.gates[side] {
            Some(gates) => gates.clone(),
            None => Tensor::empty(self.compute, &[rows, cell.columns() * hidden])?,
        };
        self.inputs(&gates, x, weights)?;
        // Several rows are multiplied faster if the rows of the right factor are contiguous.
        let by_state = view::derive(&weights.state, |l| l.transpose(0, 1))?;
        let is_short = self.packing.batch == 1 || self.packing.steps.len() == 1;
        let by_state = if is_short { by_state } else { copy::contiguous_copy(&by_state)? };
        let output = part(&kept.output, 1, direction * hidden, hidden)?;
        let column = |gates: &Tensor, first: i64, count: i64| part(gates, 1, first * hidden, count * hidden);
        for step in self.packing.in_order(direction == 1) {
            let states = states.first(step.count)?;
            let now = |t: &Tensor| part(t, 0, step.row, step.count);
            let (gates, h) = (now(&gates)?, &states.h);
            let sums = column(&gates, 0, cell.gates())?;
            addmm(&sums, ONE, &sums, ONE, h, &by_state)?;
            match (cell, &states.c) {
                (Cell::Lstm, Some(c)) => {
                    let [i, f, g, o] = [column(&gates, 0, 1)?, column(&gates, 1, 1)?, column(&gates, 2, 1)?, column(&gates, 3, 1)?];
                    let both = column(&gates, 0, 2)?;
                    function::sigmoid.run([&both, &both], &[])?;
                    function::tanh.run([&g, &g], &[])?;
                    function::sigmoid.run([&o, &o], &[])?;
                    arithmetic::cmul.run([c, c, &f], &[])?;
                    arithmetic::addcmul.run([c, c, &i, &g], &[ONE])?;
                    function::tanh.run([h, c], &[])?;
                    arithmetic::cmul.run([h, h, &o], &[])?;
                    if let Some(memories) = &kept.memories[side] {
                        copy::copy(&now(memories)?, c)?;
                    }
                }
                (Cell::Gru, _) => {
                    let [r, z, of_state, n] = [column(&gates, 0, 1)?, column(&gates, 1, 1)?, column(&gates, 2, 1)?, column(&gates, 3, 1)?];
                    let both = column(&gates, 0, 2)?;
                    function::sigmoid.run([&both, &both], &[])?;
                    arithmetic::addcmul.run([&n, &n, &r, &of_state], &[ONE])?;
                    function::tanh.run([&n, &n], &[])?;
                    recurrent::blended.run([h, &n, &z, h], &[])?;
                }
                (Cell::Relu, _) => function::relu.run([h, &gates], &[])?,
                _ => function::tanh.run([h, &gates], &[])?,
            }
            copy::copy(&now(&output)?, h)?;
        }
        Ok(())
    }

    /// Fills the gates with the products of the input and with the biases.
    fn inputs(&self, gates: &Tensor, x: &Tensor, weights: &Weights) -> Result<()> {
        let (cell, hidden) = (self.of.cell, self.hidden);
        let biases = match &weights.biases {
            Some([input, state]) => Some((input, state, made(|r| arithmetic::cadd(r, input, ONE, state))?)),
            None => None,
        };
        for block in cell.input_blocks() {
            let to = part(gates, 1, block.column * hidden, block.width * hidden)?;
            let rows = |t: &Tensor| part(t, 0, block.row * hidden, block.width * hidden);
            let factor = view::derive(&rows(&weights.input)?, |l| l.transpose(0, 1))?;
            match &biases {
                // The candidate of a GRU adds the bias of the state elsewhere.
                Some((input, _, both)) => addmm(&to, ONE, &rows(if block.column == block.row { both } else { input })?, ONE, x, &factor)?,
                None => mm(&to, x, &factor)?,
            }
        }
        if cell == Cell::Gru {
            let to = part(gates, 1, 2 * hidden, hidden)?;
            match &biases {
                Some((_, state, _)) => copy::copy(&to, &part(state, 0, 2 * hidden, hidden)?)?,
                None => copy::fill(&to, Scalar::Int(0))?,
            }
        }
        Ok(())
    }
}

/// The states of one direction of a layer, which change with each step: `[batch, hidden]`, sorted by length.
struct Running {
    h: Tensor,
    c: Option<Tensor>,
}

impl Running {
    /// The states of the first `count` sequences.
    fn first(&self, count: i64) -> Result<Running> {
        let of = |t: &Tensor| part(t, 0, 0, count);
        Ok(Running { h: of(&self.h)?, c: self.c.as_ref().map(of).transpose()? })
    }
}
