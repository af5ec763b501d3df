//! The exported functions that take functions of the caller, and gradients with respect to given tensors.

use super::custom;
use super::engine::Options;
use super::outputs::gradients_of;
use crate::api::failure::null_argument;
use crate::api::table::table;
use crate::error::{Result, bail};
use crate::tensor::{THTensor, Tensor};
use std::ffi::c_int;
use std::ptr::null_mut;

/// Stores the gradients in `r` and their number in `count`; if `r` is NULL, only the number.
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
    // SAFETY: guaranteed by the caller of this function.
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
            /// The gradients of `sum of gradients * outputs` with respect to each of the `inputs`; the gradients of leaves are unchanged.
            /// `r` gets a new reference for each input; "Lists" in the conventions describes `r` and `count`. An input that the outputs do
            /// not depend on is an error; with `allowUnused` its gradient is NULL. Hooks of the inputs and of intermediate results are
            /// called. The other arguments are as for `THGrad_backward`.
            THGrad_gradients(r: new_handles, count: count_inout, outputs: inputs, gradients: list_or_null, outputCount: handle_count,
                inputs: inputs, inputCount: handle_count, retainGraph: flag, createGraph: flag, allowUnused: flag) = {
                let options = Options { retain: retainGraph || createGraph, create: createGraph };
                // SAFETY: the caller guarantees that `r` has room for `*count` handles.
                unsafe {
                    give(r, count, inputs.len(), || gradients_of(&outputs, gradients.as_deref(), &inputs, options, allowUnused))
                }
            };
            /// Calls `forward`, which computes the `outputs` from the `inputs`, and records `backward` as the function that computes the
            /// gradient. `deleter`, unless NULL, is called once, as `deleter(context, context)`, when the functions are no longer needed;
            /// on error it is not called. The outputs are fresh handles, or handles that `forward` overwrites.
            THGrad_apply(outputs: outs, outputCount: handle_count, inputs: inputs, inputCount: handle_count, forward: grad_rule,
                backward: grad_rule, context: context, deleter: deleter) =
                // SAFETY: the caller guarantees that both functions satisfy their types.
                unsafe { custom::apply(&outputs, &inputs, forward, backward, (context, deleter)) };
            /// Saves a reference to a tensor for the backward function: an input, an output or an intermediate result. `call` is the
            /// argument of a function that runs on this thread, and is valid until that function returns.
            THGrad_save(call: grad_call, t: shared) = call.save(t);
            /// The saved tensor number `index`, counted from 0. Returns a new reference.
            THGrad_newSaved(call: grad_call, index: entry) -> new = call.saved(index);
            /// 1 if the gradient of input `index` is needed; 0 if not and on error.
            THGrad_needsGradient(call: grad_call, index: entry) -> flag = call.needs(index);
            /// Calls `function`, which computes the `outputs` from the `inputs`, without keeping intermediate results. Backward calls
            /// `function` again to recompute them, so both calls must compute the same. Tensors that `function` uses apart from the
            /// `inputs` also get their gradients. Random numbers must come from a generator that `function` seeds itself. `deleter` is as
            /// for `THGrad_apply`.
            THGrad_checkpoint(outputs: outs, outputCount: handle_count, inputs: inputs, inputCount: handle_count, function: grad_function,
                context: context, deleter: deleter) =
                // SAFETY: the caller guarantees that the function satisfies its type.
                unsafe { custom::checkpoint(&outputs, &inputs, function, (context, deleter)) };
            /// Compares the gradients of `function` with the differences `(f(x + eps) - f(x - eps)) / (2 eps)` for each element of the
            /// inputs that require a gradient, which must be float64. `function` computes `outputCount` results, from 1 to 65536. If a
            /// gradient and a difference differ by more than `atol + rtol * |difference|`, the call fails with `TH_ERR_NUMERIC` and a
            /// message with the index and the values. Common values of `eps`, `atol` and `rtol` are 1e-6, 1e-5 and 1e-3.
            THGrad_check(inputs: inputs, inputCount: handle_count, outputCount: count, function: grad_function, context: context,
                eps: double, atol: double, rtol: double) =
                // SAFETY: the caller guarantees that the function satisfies its type.
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
