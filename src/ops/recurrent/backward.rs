//! Gradients of recurrent layers, from the values that the forward call kept.
//!
//! A step's gradients of the gates are products of the gradients of its states and of factors that do not depend on other steps. All
//! factors are computed first. The steps then replace the factors by the gradients, and products over all steps give the gradients of the
//! input and of the weights.

use super::cell::Cell;
use super::kept::Kept;
use super::network::{Checked, Network, Weights};
use super::part;
use crate::alloc;
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::operand::same_dtype;
use crate::ops::dense::dense;
use crate::ops::loss::made;
use crate::ops::matmul::{addmm, mm};
use crate::ops::pointwise::{arithmetic, function, gradient, recurrent};
use crate::ops::reduce::{self, Over, To};
use crate::ops::result::deliver;
use crate::ops::{copy, create, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

const ONE: Scalar = Scalar::Int(1);

/// The results of [`backward`]. Each is optional.
#[derive(Clone, Copy)]
pub struct Gradients<'a> {
    /// The gradient of the input.
    pub x: Option<&'a Tensor>,
    /// The gradient of the initial states.
    pub h0: Option<&'a Tensor>,
    /// The gradient of the initial memories of an LSTM.
    pub c0: Option<&'a Tensor>,
    /// The gradients of all weights, row-major and one after the other.
    pub weights: Option<&'a Tensor>,
}

/// The gradients of the results; 0 if absent.
#[derive(Clone, Copy)]
pub struct Arriving<'a> {
    /// The gradient of the output.
    pub output: Option<&'a Tensor>,
    /// The gradient of the final states.
    pub h: Option<&'a Tensor>,
    /// The gradient of the final memories of an LSTM.
    pub c: Option<&'a Tensor>,
}

/// The gradients of a forward call, whose reserve is `reserve`
pub fn backward(to: Gradients<'_>, g: Arriving<'_>, reserve: &Tensor, network: Network<'_>) -> Result<()> {
    let network = network.checked()?;
    let (dtype, compute, shape) = (network.dtype, network.compute, network.states());
    let kept = reserve.layout()?;
    same_dtype(compute, reserve)?;
    let expected = [network.reserve_len()?];
    if kept.shape.as_slice() != expected {
        bail!(Shape, "a reserve of shape {:?}, expected {expected:?}: the reserve of the forward call", kept.shape.as_slice())
    }
    let reserve = &dense(reserve, compute)?;
    let x = network.of.x.layout()?.shape;
    let output: Dims = [x[0], x[1], network.directions * network.hidden].into_iter().collect();
    for (name, g, expected) in [("gOutput", g.output, &output[..]), ("gHn", g.h, &shape[..]), ("gCn", g.c, &shape[..])] {
        let Some(g) = g else { continue };
        same_dtype(dtype, g)?;
        let have = g.layout()?.shape;
        if have.as_slice() != expected {
            bail!(Shape, "{name} has shape {:?}, expected {expected:?}", have.as_slice())
        }
    }
    let made = network.gradients(g, reserve, [to.x.is_some(), to.weights.is_some()])?;
    let c = to.c0.zip(made.c.as_ref());
    deliver([
        to.x.zip(made.x.as_ref()).map(|(r, x)| (r, dtype, x)),
        to.h0.map(|r| (r, dtype, &made.h)),
        c.map(|(r, c)| (r, dtype, c)),
        to.weights.zip(made.weights.as_ref()).map(|(r, weights)| (r, dtype, weights)),
    ])
}

/// The gradients in the compute type.
struct Computed {
    x: Option<Tensor>,
    h: Tensor,
    c: Option<Tensor>,
    weights: Option<Tensor>,
}

/// The operands of one direction of a layer.
struct Side {
    /// The output of the direction: `[rows, hidden]`.
    output: Tensor,
    /// The initial states.
    h0: Tensor,
    /// The initial memories.
    c0: Option<Tensor>,
    /// The direction.
    direction: usize,
}

/// The gradients of the states of a direction, which change with each step.
struct Running {
    h: Tensor,
    c: Option<Tensor>,
}

/// The factors of the gradients of the gates.
struct Factors {
    /// For each column of the gates, the factor of the gradient of the state, or of the memory: `[rows, columns]`.
    gates: Tensor,
    /// For an LSTM, the factor by which the gradient of the state adds to the gradient of the memory: `[rows, hidden]`.
    memory: Option<Tensor>,
}

impl Checked<'_> {
    fn gradients(&self, g: Arriving<'_>, reserve: &Tensor, [of_x, of_weights]: [bool; 2]) -> Result<Computed> {
        let (packing, compute, shape) = (&self.packing, self.compute, self.states());
        let has_memory = self.of.cell.has_memory();
        let sorted = |t: Option<&Tensor>| packing.sorted(t, compute, &shape);
        let memories = |t: Option<&Tensor>| if has_memory { sorted(t).map(Some) } else { Ok(None) };
        let (h0, c0, h, c) = (sorted(self.of.h0)?, memories(self.of.c0)?, sorted(g.h)?, memories(g.c)?);
        let weights = if of_weights { Some(Tensor::empty(compute, &[self.weights_len()?])?) } else { None };
        let mut of_output = match g.output {
            Some(g) => packing.packed(g, compute)?,
            None => create::full(compute, &[packing.rows, self.directions * self.hidden], Scalar::Int(0))?,
        };
        let mut of_input = None;
        for layer in (0..self.layers).rev() {
            let kept = self.kept(reserve, layer)?;
            let below = if layer > 0 { Some(self.kept(reserve, layer - 1)?.output) } else { None };
            let x = below.map_or_else(|| packing.packed(self.of.x, compute), Ok)?;
            let mut sum = None;
            for direction in 0..self.directions {
                let at = (layer * self.directions + direction) as i32;
                let of_side = |t: &Tensor| view::derive(t, |l| l.select(0, at.into()));
                let column = |t: &Tensor| part(t, 1, direction * self.hidden, self.hidden);
                let c0 = c0.as_ref().map(of_side).transpose()?;
                let side = Side { output: column(&kept.output)?, h0: of_side(&h0)?, c0, direction: direction as usize };
                let running = Running { h: of_side(&h)?, c: c.as_ref().map(of_side).transpose()? };
                let weights_of_side = self.weights(layer, direction)?;
                let previous = self.before(&side.output, &side.h0, direction == 1)?;
                let factors = self.factors(&side, &kept, &previous)?;
                let arriving = copy::contiguous_copy(&column(&of_output)?)?;
                self.steps(&factors, &running, arriving, &side, &kept, &weights_of_side.state)?;
                if layer > 0 || of_x {
                    sum = Some(self.input_gradient(sum, &factors.gates, &weights_of_side)?);
                }
                if let Some(weights) = &weights {
                    self.weight_gradients(weights, self.first_weight(layer, direction), &factors.gates, &x, &previous)?;
                }
            }
            match sum {
                Some(sum) if layer > 0 => of_output = sum,
                sum => of_input = sum,
            }
        }
        let x = of_input.map(|x| packing.padded(&x)).transpose()?;
        Ok(Computed { x, h: packing.restored(&h)?, c: c.map(|c| packing.restored(&c)).transpose()?, weights })
    }

    /// The number of elements of all weights.
    fn weights_len(&self) -> Result<i64> {
        let mut sum = 0i64;
        for weight in self.of.weights {
            match sum.checked_add(weight.layout()?.numel()) {
                Some(more) => sum = more,
                None => bail!(Shape, "the weights have too many elements"),
            }
        }
        Ok(sum)
    }

    /// The states before each step: `first` before the first step of a sequence, and the state after the previous step otherwise.
    fn before(&self, states: &Tensor, first: &Tensor, reverse: bool) -> Result<Tensor> {
        let before = Tensor::empty(self.compute, &[self.packing.rows, self.hidden])?;
        let mut done: Option<super::packing::Step> = None;
        for step in self.packing.in_order(reverse) {
            let ready = done.map_or(0, |done| done.count.min(step.count));
            if let Some(done) = done {
                copy::copy(&part(&before, 0, step.row, ready)?, &part(states, 0, done.row, ready)?)?;
            }
            if ready < step.count {
                let fresh = step.count - ready;
                copy::copy(&part(&before, 0, step.row + ready, fresh)?, &part(first, 0, ready, fresh)?)?;
            }
            done = Some(step);
        }
        Ok(before)
    }

    fn factors(&self, side: &Side, kept: &Kept, previous: &Tensor) -> Result<Factors> {
        let (cell, hidden) = (self.of.cell, self.hidden);
        let gates = Tensor::empty(self.compute, &[self.packing.rows, cell.columns() * hidden])?;
        let column = |t: &Tensor, k: i64| part(t, 1, k * hidden, hidden);
        let to = |k: i64| column(&gates, k);
        let (Some(from), memories) = (&kept.gates[side.direction], &kept.memories[side.direction]) else {
            return Ok(Factors { gates, memory: None });
        };
        if let (Some(memories), Some(c0)) = (memories, &side.c0) {
            let [i, f, g, o] = [column(from, 0)?, column(from, 1)?, column(from, 2)?, column(from, 3)?];
            let earlier = self.before(memories, c0, side.direction == 1)?;
            gradient::sigmoidGrad.run([&to(0)?, &g, &i], &[])?;
            gradient::sigmoidGrad.run([&to(1)?, &earlier, &f], &[])?;
            gradient::tanhGrad.run([&to(2)?, &i, &g], &[])?;
            let memory = made(|r| function::tanh.run([r, memories], &[]))?;
            gradient::sigmoidGrad.run([&to(3)?, &memory, &o], &[])?;
            gradient::tanhGrad.run([&memory, &o, &memory], &[])?;
            return Ok(Factors { gates, memory: Some(memory) });
        }
        let [r, z, of_state, n] = [column(from, 0)?, column(from, 1)?, column(from, 2)?, column(from, 3)?];
        recurrent::candidate_slope.run([&to(3)?, &z, &n], &[])?;
        recurrent::update_slope.run([&to(1)?, previous, &n, &z], &[])?;
        arithmetic::cmul.run([&to(2)?, &to(3)?, &r], &[])?;
        arithmetic::cmul.run([&to(0)?, &to(3)?, &of_state], &[])?;
        gradient::sigmoidGrad.run([&to(0)?, &to(0)?, &r], &[])?;
        Ok(Factors { gates, memory: None })
    }

    /// Replaces the factors by the gradients of the gates, from the last step to the first, and the gradients of the final states by those
    /// of the initial states. `arriving` has the gradients of the output.
    fn steps(&self, factors: &Factors, running: &Running, arriving: Tensor, side: &Side, kept: &Kept, by_state: &Tensor) -> Result<()> {
        let (cell, hidden) = (self.of.cell, self.hidden);
        let gates = &factors.gates;
        for step in self.packing.in_order(side.direction == 1).rev() {
            let now = |t: &Tensor| part(t, 0, step.row, step.count);
            let first = |t: &Tensor| part(t, 0, 0, step.count);
            let (gates, dh, h) = (now(gates)?, now(&arriving)?, first(&running.h)?);
            let column = |k: i64, count: i64| part(&gates, 1, k * hidden, count * hidden);
            // `count` columns, each multiplied by the gradient of a state.
            let times = |k: i64, count: i64, by: &Tensor| {
                let columns = view::derive(&column(k, count)?, |l| l.view(&[step.count, count, hidden]))?;
                arithmetic::cmul.run([&columns, &columns, &view::derive(by, |l| l.unsqueeze(1))?], &[])
            };
            arithmetic::cadd(&dh, &dh, ONE, &h)?;
            match (cell, &running.c, &factors.memory) {
                (Cell::Lstm, Some(c), Some(memory)) => {
                    let (c, from) = (first(c)?, kept.gates[side.direction].as_ref());
                    arithmetic::addcmul.run([&c, &c, &dh, &now(memory)?], &[ONE])?;
                    times(0, 3, &c)?;
                    times(3, 1, &dh)?;
                    if let Some(from) = from {
                        arithmetic::cmul.run([&c, &c, &part(&now(from)?, 1, hidden, hidden)?], &[])?;
                    }
                    mm(&h, &gates, by_state)?;
                }
                (Cell::Gru, ..) => {
                    times(0, 4, &dh)?;
                    if let Some(from) = &kept.gates[side.direction] {
                        arithmetic::cmul.run([&h, &dh, &part(&now(from)?, 1, hidden, hidden)?], &[])?;
                    }
                    addmm(&h, ONE, &h, ONE, &column(0, 3)?, by_state)?;
                }
                (Cell::Relu, ..) => {
                    gradient::reluGrad.run([&gates, &dh, &now(&side.output)?], &[])?;
                    mm(&h, &gates, by_state)?;
                }
                _ => {
                    gradient::tanhGrad.run([&gates, &dh, &now(&side.output)?], &[])?;
                    mm(&h, &gates, by_state)?;
                }
            }
        }
        Ok(())
    }

    /// `sum` plus the gradient of a layer's input, from the gradients of the gates of one direction.
    fn input_gradient(&self, sum: Option<Tensor>, gates: &Tensor, weights: &Weights) -> Result<Tensor> {
        let hidden = self.hidden;
        let mut sum = sum;
        for block in self.of.cell.input_blocks() {
            let g = part(gates, 1, block.column * hidden, block.width * hidden)?;
            let by = part(&weights.input, 0, block.row * hidden, block.width * hidden)?;
            match &sum {
                Some(sum) => addmm(sum, ONE, sum, ONE, &g, &by)?,
                None => sum = Some(made(|r| mm(r, &g, &by))?),
            }
        }
        sum.map_or_else(|| bail!(Internal, "a cell without an input"), Ok)
    }

    /// Writes the gradients of the weights of one direction, of which `first` is the first, from the gradients of the gates.
    fn weight_gradients(&self, to: &Tensor, first: usize, gates: &Tensor, x: &Tensor, previous: &Tensor) -> Result<()> {
        let (cell, hidden) = (self.of.cell, self.hidden);
        let mut at = 0;
        for weight in &self.of.weights[..first] {
            at += weight.layout()?.numel();
        }
        let places = alloc::list(self.each() as usize, |k| {
            let layout = self.of.weights[first + k].layout()?;
            let place = view::derive(&part(to, 0, at, layout.numel())?, |l| l.view(&layout.shape));
            at += layout.numel();
            place
        })?;
        let turned = |t: &Tensor| view::derive(t, |l| l.transpose(0, 1));
        let sum = |r: &Tensor, t: &Tensor| reduce::sum(To::tensor(r, false), t, Over::Dims(&[0]), None);
        for block in cell.input_blocks() {
            let g = part(gates, 1, block.column * hidden, block.width * hidden)?;
            let rows = |t: &Tensor| part(t, 0, block.row * hidden, block.width * hidden);
            mm(&rows(&places[0])?, &turned(&g)?, x)?;
            if self.has_biases {
                sum(&rows(&places[2])?, &g)?;
            }
        }
        let g = part(gates, 1, 0, cell.gates() * hidden)?;
        mm(&places[1], &turned(&g)?, previous)?;
        if self.has_biases {
            sum(&places[3], &g)?;
        }
        Ok(())
    }
}
