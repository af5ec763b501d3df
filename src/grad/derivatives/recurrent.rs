//! Recurrent layers. One call of a function with `Grad` in its name gives all gradients.

use super::reductions::in_dtype_of;
use crate::api::function::Function;
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;

derivatives! {
    /// The derivatives of recurrent layers.
    RECURRENT:

    lstm {
        each(x, h0, c0, weights): |call, reserve, x, h0: optional, c0: optional, weights: all, lengths: optional, layers: i32,
            bidirectional: bool, batchFirst: bool|
            sequences(call, &names::lstm::FUNCTION, &names::lstmGrad::FUNCTION, Layers { reserve, x, states: &[h0, c0], weights },
                &[lengths.into(), layers.into(), bidirectional.into(), batchFirst.into()]);
    }
    gru {
        each(x, h0, weights): |call, reserve, x, h0: optional, weights: all, lengths: optional, layers: i32, bidirectional: bool,
            batchFirst: bool|
            sequences(call, &names::gru::FUNCTION, &names::gruGrad::FUNCTION, Layers { reserve, x, states: &[h0], weights },
                &[lengths.into(), layers.into(), bidirectional.into(), batchFirst.into()]);
    }
    rnn {
        each(x, h0, weights): |call, reserve, x, h0: optional, weights: all, lengths: optional, layers: i32, bidirectional: bool,
            batchFirst: bool, relu: bool|
            sequences(call, &names::rnn::FUNCTION, &names::rnnGrad::FUNCTION, Layers { reserve, x, states: &[h0], weights },
                &[lengths.into(), layers.into(), bidirectional.into(), batchFirst.into(), relu.into()]);
    }

    lstmCell {
        each(x, h, c, wih, whh, bih, bhh): |call, reserve, x, h, c, wih, whh, bih: optional, bhh: optional|
            cell(call, &names::lstmCell::FUNCTION, &names::lstmGrad::FUNCTION, (reserve, x, &[h, c]), ([wih, whh], [bih, bhh]), None);
    }
    gruCell {
        each(x, h, wih, whh, bih, bhh): |call, reserve, x, h, wih, whh, bih: optional, bhh: optional|
            cell(call, &names::gruCell::FUNCTION, &names::gruGrad::FUNCTION, (reserve, x, &[h]), ([wih, whh], [bih, bhh]), None);
    }
    rnnCell {
        each(x, h, wih, whh, bih, bhh): |call, reserve, x, h, wih, whh, bih: optional, bhh: optional, relu: bool|
            cell(call, &names::rnnCell::FUNCTION, &names::rnnGrad::FUNCTION, (reserve, x, &[h]), ([wih, whh], [bih, bhh]), Some(relu));
    }
}

/// The operands of a call of lstm, gru or rnn.
struct Layers<'s, 'a> {
    reserve: Value<'s>,
    x: Value<'s>,
    /// The initial states, and the initial memories of an LSTM.
    states: &'a [Option<Value<'s>>],
    /// The index of the list of weights.
    weights: usize,
}

/// Refuses the gradient of the reserve.
fn check_reserve(call: &Call<'_>, function: &'static Function, reserve: Value<'_>) {
    if call.grad(names::place(function.signature.names, "reserve")).is_some() {
        reserve.refuse(format_args!("the reserve has no gradient"));
    }
}

/// Gives the wanted gradients of lstm, gru or rnn by one call of `grad`. `rest` are the arguments behind the weights.
fn sequences<'s>(call: &Call<'s>, function: &'static Function, grad: &'static Function, of: Layers<'s, '_>, rest: &[In<'s, '_>]) {
    check_reserve(call, function, of.reserve);
    let names = function.signature.names;
    let count = call.entries(of.weights);
    let weights: Vec<Value<'s>> = (0..count).filter_map(|k| call.entry(of.weights, k)).collect();
    let inputs: Vec<usize> = ["x", "h0", "c0"][..1 + of.states.len()].iter().map(|name| names::place(names, name)).collect();
    let needs = |place: usize| call.needs(place);
    let wanted: Vec<bool> = inputs.iter().map(|&place| needs(place)).chain([needs(of.weights)]).collect();
    // The results begin with the output and the states.
    let arriving = (0..=of.states.len()).map(|place| call.grad(place).map(|g| in_dtype_of(of.x, g)).into());
    let mut args: Vec<In<'s, '_>> = [of.reserve.into()].into_iter().chain(arriving).collect();
    args.push(of.x.into());
    args.extend(of.states.iter().map(|&state| In::from(state)));
    args.push(In::Tensors(&weights));
    args.extend(rest.iter().copied());
    let mut gradients = gradients(call, grad, &wanted, &args);
    for &input in inputs.iter().filter(|&&input| needs(input)) {
        if let Some(gradient) = gradients.next() {
            call.give(input, gradient);
        }
    }
    if let Some(all) = gradients.next() {
        for (k, gradient) in apart(all, &weights).enumerate() {
            call.give_at(of.weights, k, gradient);
        }
    }
}

/// The wanted gradients, in the order of the results of `grad`.
fn gradients<'s>(call: &Call<'s>, grad: &'static Function, wanted: &[bool], args: &[In<'s, '_>]) -> impl Iterator<Item = Value<'s>> {
    let bits = wanted.iter().enumerate().fold(0, |bits, (k, &is_wanted)| bits | u32::from(is_wanted) << k);
    let all: [Value<'s>; 4] = call.scope().call_for_all(grad, bits, args);
    all.into_iter().take(wanted.iter().filter(|&&is_wanted| is_wanted).count())
}

/// The gradient of each weight, from the vector of all.
fn apart<'s, 'a>(all: Value<'s>, weights: &'a [Value<'s>]) -> impl Iterator<Item = Value<'s>> + 'a {
    let mut at = 0;
    weights.iter().map(move |weight| {
        let first = at;
        at += weight.numel();
        reshape(narrow(all, 0, first, weight.numel()), &weight.shape())
    })
}

/// Gives the wanted gradients of a single step, which is a sequence of one step. `flag` is the last argument of rnnCell.
fn cell<'s>(
    call: &Call<'s>,
    function: &'static Function,
    grad: &'static Function,
    (reserve, x, states): (Value<'s>, Value<'s>, &[Value<'s>]),
    (weights, biases): ([Value<'s>; 2], [Option<Value<'s>>; 2]),
    flag: Option<bool>,
) {
    check_reserve(call, function, reserve);
    let at = |name: &&str| names::place(function.signature.names, name);
    let weights: Vec<Value<'s>> = weights.into_iter().chain(biases.into_iter().flatten()).collect();
    let of_weights: Vec<usize> = ["wih", "whh", "bih", "bhh"][..weights.len()].iter().map(at).collect();
    let inputs: Vec<usize> = ["x", "h", "c"][..1 + states.len()].iter().map(at).collect();
    let needs = |place: &usize| call.needs(*place);
    let wanted: Vec<bool> = inputs.iter().map(needs).chain([of_weights.iter().any(needs)]).collect();
    let one = |t: Value<'s>| unsqueeze(t, 0);
    // The output of a single step is its state, which has the gradient.
    let mut args: Vec<In<'s, '_>> = vec![reserve.into(), In::Null];
    args.extend((0..states.len()).map(|place| In::from(call.grad(place).map(|g| one(in_dtype_of(x, g))))));
    args.push(one(x).into());
    args.extend(states.iter().map(|&state| In::from(one(state))));
    args.extend([In::Tensors(&weights), In::Null, 1.into(), false.into(), false.into()]);
    args.extend(flag.map(In::from));
    let mut gradients = gradients(call, grad, &wanted, &args);
    for input in inputs.iter().filter(|&input| needs(input)) {
        if let Some(gradient) = gradients.next() {
            call.give(*input, squeeze(gradient, 0));
        }
    }
    if let Some(all) = gradients.next() {
        for (&place, gradient) in of_weights.iter().zip(apart(all, &weights)) {
            call.give(place, gradient);
        }
    }
}
