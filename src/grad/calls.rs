//! Functions of the caller in the graph.

use super::custom;
use super::engine::Options;
use super::outputs::gradients_of;
use crate::api::failure::null_argument;
use crate::api::table::table;
use crate::error::{Result, bail};
use crate::tensor::{THTensor, Tensor};
use std::ffi::c_int;
use std::ptr::null_mut;

/// Stores the gradients in `r`, or only their number in `count` while there is no room.
///
/// # Safety
/// `count` must be readable; `r` must be NULL or have room for `*count` handles.
unsafe fn give(
    r: *mut *mut THTensor,
    count: *mut c_int,
    needed: usize,
    gradients: impl FnOnce() -> Result<Vec<Option<Tensor>>>,
) -> Result<()> {
    if count.is_null() {
        return Err(null_argument("count"));
    }
    // SAFETY: the caller's.
    unsafe {
        if !r.is_null() {
            if (count.read().max(0) as usize) < needed {
                bail!(Argument, "room for {} handles in 'r', {needed} are needed", count.read())
            }
            let gradients = gradients()?;
            gradients.into_iter().enumerate().for_each(|(i, t)| r.add(i).write(t.map_or(null_mut(), Tensor::into_raw)));
        }
        count.write(needed as c_int);
    }
    Ok(())
}

macro_rules! grad_call_functions {
    ($do:ident) => {
        $do! { "", unrecorded;
            /// The gradients of `sum of gradients * outputs` with respect to each of the `inputs`, and of nothing else: leaves keep theirs.
            /// `r` gets a new reference for each input; see "Lists" in the conventions for `r` and `count`. An input that has no part in the
            /// outputs is an error, or NULL in its place with `allowUnused`. Hooks of the inputs and of results on the way to them are called.
            /// The other arguments are those of `THGrad_backward`.
            THGrad_gradients(r: new_handles, count: count_inout, outputs: inputs, gradients: list_or_null, outputCount: handle_count,
                inputs: inputs, inputCount: handle_count, retainGraph: flag, createGraph: flag, allowUnused: flag) = {
                let options = Options { retain: retainGraph || createGraph, create: createGraph };
                // SAFETY: `r` has room for `*count` handles.
                unsafe {
                    give(r, count, inputs.len(), || gradients_of(&outputs, gradients.as_deref(), &inputs, options, allowUnused))
                }
            };
            /// Calls `forward`, which computes the `outputs` from the `inputs`, and has `backward` called for its gradient. `deleter`, unless
            /// NULL, is called with `context` twice when nothing needs the functions any more; on error it is not called. The outputs are
            /// fresh handles, or such that are overwritten.
            THGrad_apply(outputs: outs, outputCount: handle_count, inputs: inputs, inputCount: handle_count, forward: grad_rule,
                backward: grad_rule, context: context, deleter: deleter) =
                // SAFETY: the caller's functions, as their types ask.
                unsafe { custom::apply(&outputs, &inputs, forward, backward, (context, deleter)) };
            /// Saves a tensor for the gradient: an input, an output, or what was computed on the way, of which a reference is kept.
            /// `call` is that of a function that runs on this thread; it ends when the function returns.
            THGrad_save(call: grad_call, t: shared) = call.save(t);
            /// The tensor that was saved as number `index`, counted from 0. Returns a new reference.
            THGrad_newSaved(call: grad_call, index: entry) -> new = call.saved(index);
            /// 1 if the gradient of input `index` is wanted.
            THGrad_needsGradient(call: grad_call, index: entry) -> flag = call.needs(index);
            /// Calls `function`, which computes the `outputs` from the `inputs`. Backward keeps none of what it computes on the way, and calls
            /// it again when it comes through; so `function` must compute the same again. Tensors that `function` uses besides the `inputs` get
            /// their gradients, too. Random numbers must come from a generator that it
            /// seeds itself. `deleter` as for `THGrad_apply`.
            THGrad_checkpoint(outputs: outs, outputCount: handle_count, inputs: inputs, inputCount: handle_count, function: grad_function,
                context: context, deleter: deleter) =
                // SAFETY: the caller's function, as its type asks.
                unsafe { custom::checkpoint(&outputs, &inputs, function, (context, deleter)) };
            /// Compares the gradients of `function`, which computes `outputCount` results, 1 to 65536, with differences
            /// `(f(x + eps) - f(x - eps)) / (2 eps)` for each element of the inputs that require one, which are float64. `TH_ERR_NUMERIC`,
            /// with the place and the values, where they differ by more than `atol + rtol * |difference|`; 1e-6, 1e-5 and 1e-3 are usual.
            THGrad_check(inputs: inputs, inputCount: handle_count, outputCount: count, function: grad_function, context: context,
                eps: double, atol: double, rtol: double) =
                // SAFETY: the caller's function, as its type asks.
                unsafe { custom::check(&inputs, outputCount, function, context, (eps, atol, rtol)) };
        }
    };
}

pub mod chapter {
    //! Gradients.
    use super::*;
    grad_call_functions!(table);
    pub(crate) use grad_call_functions as functions;
}
