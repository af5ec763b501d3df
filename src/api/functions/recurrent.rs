//! Recurrent layers.
//!
//! Recurrent layers read sequences `x` of the shape `[time, batch, inputs]`, or `[batch, time, inputs]` if `batchFirst` is not 0. `layers`
//! layers are stacked: each reads the output of the layer below. With `bidirectional`, each layer has a second direction, which reads the
//! sequences from the last step to the first. `directions` is then 2, else 1. `sides` is `layers * directions`; side `layer * directions +
//! direction` is a direction of a layer. `output` is the output of the last layer, of the shape of `x` with `directions * hidden` elements
//! in each step, the first direction first.
//!
//! `h0` and `hn` are the states before the first and after the last step of each sequence: `[sides, batch, hidden]`. So are `c0` and `cn`
//! of an LSTM. NULL for `h0` or `c0` means 0. `hn` and `cn` may be NULL.
//!
//! `weights` has the weights of each side, one side after the other, as PyTorch orders them: the weights of the input, `[gates * hidden,
//! inputs]`, or `[gates * hidden, directions * hidden]` above the first layer; the weights of the state, `[gates * hidden, hidden]`; and
//! the biases of both, `[gates * hidden]`. `count` is `4 * sides`, or `2 * sides` if there are no biases.
//!
//! `lengths`, int64 or int32, has the length of each sequence, in any order; NULL means that all are as long as `x`. Steps of `x` behind
//! the end of a sequence are not read, and are 0 in `output`. `hn` is the state at the end of the sequence, where the second direction
//! begins.
//!
//! Floats only; all operands have one dtype. 16-bit floats are computed in float32. `reserve` receives the float32 or float64 values from
//! which the function with `Grad` in its name computes the gradients, as one vector; NULL if no gradient is needed. Layers have no dropout:
//! a program calls dropout between calls with one layer each.
//!
//! Errors: `TH_ERR_SHAPE`, operands whose shapes do not fit; `TH_ERR_DTYPE`, operands of different dtypes, or not of floats;
//! `TH_ERR_ARGUMENT`, a wrong number of weights, no layers, or lengths out of range.

use crate::api::table::table;
use crate::error::{Result, bail};
use crate::ops::recurrent::{Arriving, Cell, Gradients, Network, States, backward, forward, single};
use crate::ops::view;
use crate::tensor::Tensor;

/// A network of one cell and one step, on the inputs and states of a batch.
fn step(
    cell: Cell,
    results: (&Tensor, States<'_>),
    x: &Tensor,
    h: &Tensor,
    c: Option<&Tensor>,
    (wih, whh, biases): (&Tensor, &Tensor, [Option<&Tensor>; 2]),
) -> Result<()> {
    let of_one = |t: &Tensor| view::derive(t, |l| l.unsqueeze(0));
    let (x, h, c) = (of_one(x)?, of_one(h)?, c.map(of_one).transpose()?);
    let weights = match biases {
        [Some(input), Some(state)] => &[wih, whh, input, state][..],
        [None, None] => &[wih, whh],
        _ => bail!(Argument, "'bih' and 'bhh' are both NULL, or none of them is"),
    };
    let network =
        Network { cell, x: &x, h0: Some(&h), c0: c.as_ref(), weights, lengths: None, layers: 1, bidirectional: false, batch_first: false };
    single(results.0, results.1, network)
}

fn simple(relu: bool) -> Cell {
    if relu { Cell::Relu } else { Cell::Tanh }
}

macro_rules! recurrent_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `c = f * c + i * g; h = o * tanh(c)` for each step: long short-term memory. With the weights `W`, `U` and biases `b`, `d` of a
        /// gate: `i, f, o = sigmoid(W x + b + U h + d)` and `g = tanh(W x + b + U h + d)`. The rows of the weights have the order i, f, g,
        /// o. (Hochreiter and Schmidhuber, Long Short-Term Memory, 1997.)
        lstm(output: out, hn: optional_out, cn: optional_out, reserve: optional_out, x: input, h0: optional_input, c0: optional_input,
            weights: inputs, count: handle_count, lengths: optional_index, layers: int, bidirectional: flag, batchFirst: flag) =
            forward(output, States { h: hn, c: cn, reserve }, Network { cell: Cell::Lstm, x, h0, c0, weights: &weights, lengths, layers,
                bidirectional, batch_first: batchFirst });
        /// The gradients of lstm: `gradX` of `x`, `gradH0` of `h0`, `gradC0` of `c0`, and `gradWeights`, a vector of the gradients of all
        /// weights, row-major, one after the other. Each of the four results may be NULL. `gOutput`, `gHn` and `gCn` are the gradients of
        /// the results; NULL means 0. `reserve` is the reserve of the forward call, whose arguments are repeated.
        lstmGrad(gradX: optional_out, gradH0: optional_out, gradC0: optional_out, gradWeights: optional_out, reserve: input,
            gOutput: optional_input, gHn: optional_input, gCn: optional_input, x: input, h0: optional_input, c0: optional_input,
            weights: inputs, count: handle_count, lengths: optional_index, layers: int, bidirectional: flag, batchFirst: flag) =
            backward(Gradients { x: gradX, h0: gradH0, c0: gradC0, weights: gradWeights },
                Arriving { output: gOutput, h: gHn, c: gCn }, reserve, Network { cell: Cell::Lstm, x, h0, c0, weights: &weights, lengths,
                layers, bidirectional, batch_first: batchFirst });
        /// One step of lstm: from `x`, `[batch, inputs]`, and the states `h` and `c`, `[batch, hidden]`, the states `hn` and `cn`. `wih`,
        /// `whh`, `bih` and `bhh` are the weights of one side; both biases may be NULL. `hn` may be `h`, and `cn` may be `c`.
        lstmCell(hn: out, cn: optional_out, reserve: optional_out, x: input, h: input, c: input, wih: input, whh: input,
            bih: optional_input, bhh: optional_input) =
            step(Cell::Lstm, (hn, States { h: None, c: cn, reserve }), x, h, Some(c), (wih, whh, [bih, bhh]));

        /// `h = (1 - z) * n + z * h` for each step: a gated recurrent unit. With the weights `W`, `U` and biases `b`, `d` of a gate,
        /// `r` and `z` are `sigmoid(W x + b + U h + d)`, and `n` is `tanh(W x + b + r * (U h + d))`. The rows of the weights have the
        /// order r, z, n. (Cho and others, Learning Phrase Representations using RNN Encoder-Decoder, 2014.)
        gru(output: out, hn: optional_out, reserve: optional_out, x: input, h0: optional_input, weights: inputs, count: handle_count,
            lengths: optional_index, layers: int, bidirectional: flag, batchFirst: flag) =
            forward(output, States { h: hn, c: None, reserve }, Network { cell: Cell::Gru, x, h0, c0: None, weights: &weights, lengths,
                layers, bidirectional, batch_first: batchFirst });
        /// The gradients of gru, as lstmGrad.
        gruGrad(gradX: optional_out, gradH0: optional_out, gradWeights: optional_out, reserve: input, gOutput: optional_input,
            gHn: optional_input, x: input, h0: optional_input, weights: inputs, count: handle_count, lengths: optional_index, layers: int,
            bidirectional: flag, batchFirst: flag) =
            backward(Gradients { x: gradX, h0: gradH0, c0: None, weights: gradWeights }, Arriving { output: gOutput, h: gHn, c: None },
                reserve, Network { cell: Cell::Gru, x, h0, c0: None, weights: &weights, lengths, layers, bidirectional,
                batch_first: batchFirst });
        /// One step of gru, as lstmCell.
        gruCell(hn: out, reserve: optional_out, x: input, h: input, wih: input, whh: input, bih: optional_input, bhh: optional_input) =
            step(Cell::Gru, (hn, States { h: None, c: None, reserve }), x, h, None, (wih, whh, [bih, bhh]));

        /// `h = tanh(W x + b + U h + d)` for each step, or `max(0, W x + b + U h + d)` if `relu` is not 0. (Elman, Finding Structure in
        /// Time, 1990.)
        rnn(output: out, hn: optional_out, reserve: optional_out, x: input, h0: optional_input, weights: inputs, count: handle_count,
            lengths: optional_index, layers: int, bidirectional: flag, batchFirst: flag, relu: flag) =
            forward(output, States { h: hn, c: None, reserve }, Network { cell: simple(relu), x, h0, c0: None, weights: &weights,
                lengths, layers, bidirectional, batch_first: batchFirst });
        /// The gradients of rnn, as lstmGrad.
        rnnGrad(gradX: optional_out, gradH0: optional_out, gradWeights: optional_out, reserve: input, gOutput: optional_input,
            gHn: optional_input, x: input, h0: optional_input, weights: inputs, count: handle_count, lengths: optional_index, layers: int,
            bidirectional: flag, batchFirst: flag, relu: flag) =
            backward(Gradients { x: gradX, h0: gradH0, c0: None, weights: gradWeights }, Arriving { output: gOutput, h: gHn, c: None },
                reserve, Network { cell: simple(relu), x, h0, c0: None, weights: &weights, lengths, layers, bidirectional,
                batch_first: batchFirst });
        /// One step of rnn, as lstmCell.
        rnnCell(hn: out, reserve: optional_out, x: input, h: input, wih: input, whh: input, bih: optional_input, bhh: optional_input,
            relu: flag) =
            step(simple(relu), (hn, States { h: None, c: None, reserve }), x, h, None, (wih, whh, [bih, bhh]));
    } };
}

recurrent_functions!(table);
pub(crate) use recurrent_functions as functions;
