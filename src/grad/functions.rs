//! The exported functions for gradients of tensors.

use super::counted::Counted;
use super::derivatives::{CONSTANT, DERIVATIVES};
use super::engine::{self, Options};
use super::geometry::{set_edges, write_node};
use super::graph::{Cut, Hook, Slot, State, Target, Variable, attach, is_known, variable, version_of};
use super::outputs::{refuse, roots};
use super::record::count_write;
use super::shared::{mark_shared, share};
use super::variable::{Source, become_view, current, current_or_new, held, target, target_of};
use super::{record, switch};
use crate::alloc::THDeleter;
use crate::api::callbacks::THGradHook;
use crate::api::function::{Function, on_device, record_by};
use crate::api::table::table;
use crate::api::word::Word;
use crate::error::{Error, Kind, Result, bail};
use crate::ops::{copy, view};
use crate::scalar::Scalar;
use crate::storage::HAS_HISTORY;
use crate::tensor::Tensor;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, Ordering};

/// Switches on the recording of calls for the rest of the process.
fn begin() {
    record::derive_by(DERIVATIVES, CONSTANT);
    record_by(recorder);
}

/// Records a call, or runs it unrecorded if it is a function for gradients.
fn recorder(function: &'static Function, words: &[Word]) -> Result<Word> {
    if function.recorded { record::call(function, words) } else { on_device(function, words) }
}

/// Sets whether `t` is a leaf that requires a gradient.
fn require(t: &Tensor, requires: bool) -> Result<()> {
    begin();
    let dtype = t.defined()?;
    if requires && !dtype.is_float() {
        return Err(Error::about(t.as_ptr().addr(), Kind::Dtype, format_args!("has dtype {dtype}: only floats have gradients")));
    }
    if !requires && !is_known(t) {
        return Ok(());
    }
    let variable = current_or_new(t)?;
    let has_target = target_of(&variable)?.is_some();
    let is_result = {
        let state = variable.lock();
        // True if the tensor shares its base with leaves.
        let beside = state.view.as_ref().is_some_and(|view| {
            let base = view.base.lock();
            !base.leaves.is_empty() && base.of_leaves == base.generation
        });
        has_target && !state.requires && !beside
    };
    if is_result {
        return if requires {
            Ok(())
        } else {
            refuse(t, format_args!("is the result of a recorded operation; take THTensor_newDetach of it"))
        };
    }
    if !requires || variable.lock().requires {
        let was = std::mem::replace(&mut variable.lock().requires, requires);
        // A leaf does not know the tensor that it may be a view of.
        if was && !requires {
            mark_shared(t);
        }
        return Ok(());
    }
    become_leaf(t, &variable)
}

/// Makes a handle without a history a leaf. If the handle is a view, the base gets the leaf's elements as a part of its history.
fn become_leaf(t: &Tensor, variable: &Counted<Variable>) -> Result<()> {
    let mut state = variable.lock();
    let mut ended = (None, None, None);
    if let (Some(view), None) = (&state.view, state.cut) {
        let (mut node, mut base) = (write_node(&view.geometry)?, view.base.lock());
        if base.overlaps_leaf(&view.geometry.view) {
            return refuse(t, format_args!("shares its elements with another leaf that requires a gradient"));
        }
        if base.leaves.try_reserve(1).is_err() {
            bail!(NoMem, "out of memory for a list of leaves")
        }
        let old = held(&view.base, &base);
        set_edges(&mut node, &view.geometry, old, Some(Target::Leaf(variable.clone())))?;
        ended.0 = base.set_history(Some((node, 0)));
        base.generation += 1;
        base.note_leaf(variable.clone(), &view.geometry.view);
        view.base.activate();
    }
    // The base holds the leaf, and the leaf not the base.
    (state.requires, state.cut) = (true, None);
    ended.1 = state.set_history(None);
    ended.2 = state.view.take();
    variable.activate();
    t.storage().into_iter().for_each(|storage| storage.mark(HAS_HISTORY));
    drop(state);
    drop(ended);
    Ok(())
}

fn requires(t: &Tensor) -> Result<bool> {
    Ok(target(t)?.is_some())
}

pub(super) fn is_leaf(t: &Tensor) -> Result<bool> {
    target(t)?;
    Ok(variable(t).is_none_or(|variable| variable.lock().history.is_none()))
}

pub(super) fn gradient(t: &Tensor) -> Result<Option<Tensor>> {
    Ok(variable(t).and_then(|variable| variable.lock().gradient()))
}

pub(super) fn set_gradient(t: &Tensor, gradient: Option<&Tensor>) -> Result<()> {
    begin();
    let Some(gradient) = gradient else {
        let old = variable(t).and_then(|variable| variable.lock().set_gradient(None));
        drop(old);
        return Ok(());
    };
    if !gradient.same_shape(t) || gradient.dtype() != t.dtype() || gradient.device() != t.device() {
        bail!(Shape, "the gradient has another shape, dtype or device than the tensor")
    }
    if gradient.is(t) {
        bail!(Argument, "a tensor cannot be its own gradient")
    }
    // The gradient gets a separate handle, because two tensors may be each other's gradient.
    let kept = view::alias(gradient)?;
    if let Some(Target::Node(node, nr)) = target(gradient)? {
        attach(&kept, Some(Variable::new(State { history: Some((node, nr)), ..State::default() })?));
    }
    let old = current_or_new(t)?.lock().set_gradient(Some(kept));
    drop(old);
    Ok(())
}

pub(super) fn zero_gradient(t: &Tensor) -> Result<()> {
    match gradient(t)? {
        // The old gradient may have a history, which ends here.
        Some(gradient) => {
            let zeroed = view::alias(&gradient)?;
            copy::fill(&zeroed, Scalar::Int(0))?;
            count_write(&gradient);
            if let Some(variable) = variable(t) {
                attach(&gradient, None);
                let old = variable.lock().set_gradient(Some(gradient));
                drop(old);
            }
            Ok(())
        }
        None => Ok(()),
    }
}

fn retain_gradient(t: &Tensor) -> Result<()> {
    let Some(variable) = target(t)?.and_then(|_| variable(t)) else {
        return refuse(t, format_args!("requires no gradient"));
    };
    let mut state = variable.lock();
    if state.kept.is_some() {
        return Ok(());
    }
    let Some((node, nr)) = state.history.clone() else { return Ok(()) };
    let slot = Counted::new(Slot::default())?;
    *slot.0.lock() = state.grad.clone();
    let mut watched = node.watched();
    if watched.kept.try_reserve(1).is_err() {
        bail!(NoMem, "out of memory for the gradient of a result")
    }
    watched.kept.push((nr, slot.clone()));
    drop(watched);
    state.kept = Some(slot);
    Ok(())
}

/// Returns a second handle on the elements of `t` that is not part of the history of `t`.
fn detached(t: &Tensor) -> Result<Tensor> {
    let r = view::alias(t)?;
    if !super::arguments::is_float(t) || t.storage().is_none() {
        return Ok(r);
    }
    let source = Source::of(t)?;
    if source.variable.is_some() {
        become_view(&r, &source, Some(Cut::Detached), false, None)?;
        return Ok(r);
    }
    // Without a history both are views of one base.
    share(&r, t, 1, false);
    Ok(r)
}

fn end_history(t: &Tensor) -> Result<()> {
    let Some(variable) = current(t)? else { return Ok(()) };
    let has_target = target_of(&variable)?.is_some();
    let mut state = variable.lock();
    if state.requires {
        drop(state);
        attach(t, None);
        return Ok(());
    }
    if state.view.is_some() && has_target {
        return refuse(t, format_args!("is a view, whose history is that of its base; take THTensor_newDetach of it"));
    }
    // Existing views remain views of `t` and keep their histories.
    let ended = state.set_history(None);
    drop(state);
    drop(ended);
    Ok(())
}

static HOOKS: AtomicI64 = AtomicI64::new(1);

/// Adds a function of the caller and returns the number that removes the function.
fn add_hook(t: &Tensor, function: THGradHook, context: *mut c_void, deleter: THDeleter) -> Result<i64> {
    let Some(to) = target(t)? else { return refuse(t, format_args!("requires no gradient")) };
    let id = HOOKS.fetch_add(1, Ordering::Relaxed);
    let output = if let Target::Node(_, nr) = &to { *nr } else { 0 };
    // The hook takes over the context last, when nothing can fail any more.
    let mut hook = Counted::new(Hook { id, function, output, context, deleter: None })?;
    if let Some(hook) = hook.get_mut() {
        hook.deleter = deleter;
    }
    match to {
        Target::Leaf(leaf) => leaf.lock().hooks.push(hook),
        Target::Node(node, _) => node.watched().hooks.push(hook),
    }
    Ok(id)
}

fn remove_hook(t: &Tensor, id: i64) -> Result<()> {
    let removed = match target(t)? {
        Some(Target::Leaf(leaf)) => take(&mut leaf.lock().hooks, id),
        Some(Target::Node(node, _)) => take(&mut node.watched().hooks, id),
        None => None,
    };
    match removed {
        Some(_) => Ok(()),
        None => bail!(Argument, "there is no hook {id}"),
    }
}

fn take(hooks: &mut Vec<Counted<Hook>>, id: i64) -> Option<Counted<Hook>> {
    let at = hooks.iter().position(|hook| hook.id == id)?;
    Some(hooks.remove(at))
}

fn run(tensors: &[&Tensor], gradients: Option<&[Option<&Tensor>]>, options: Options) -> Result<()> {
    if tensors.is_empty() {
        bail!(Argument, "there is no tensor to begin with")
    }
    engine::backward(&roots(tensors, gradients)?, options)
}

macro_rules! grad_tensor_functions {
    ($do:ident) => { $do! { "THTensor_", unrecorded;
        /// Sets whether `t`, a leaf, requires a gradient. If it does, later operations on `t` are recorded.
        setRequiresGrad(t: handle, requiresGrad: flag) = require(t, requiresGrad);
        /// 1 if `t` requires a gradient: it is a leaf set so, or a result computed from such a leaf; 0 if not and on error.
        requiresGrad(t: input) -> flag = requires(t);
        /// 1 if `t` is a leaf, which is not the result of a recorded operation; 0 if not and on error.
        isLeaf(t: input) -> flag = is_leaf(t);
        /// The gradient of `t`; NULL, without an error, if `t` has no gradient. Returns a new reference.
        newGrad(t: input) -> new_or_null = gradient(t);
        /// Makes `grad` the gradient of `t`, which keeps a handle on the elements of `grad`. `grad` has the shape, dtype and device of `t`;
        /// NULL removes the gradient.
        setGrad(t: handle, grad: optional_input) = set_gradient(t, grad);
        /// Fills the gradient of `t` with 0, if `t` has one.
        zeroGrad(t: handle) = zero_gradient(t);
        /// Makes backward keep the gradient of `t`, a result of an operation. Each backward adds its gradient to the earlier one, as for a
        /// leaf. After a write to `t`, the gradient is the gradient of the new values. For a leaf the call has no effect, because leaves
        /// keep their gradients anyway.
        retainGrad(t: handle) = retain_gradient(t);
        /// A handle on the elements of `t` that requires no gradient. A write to the handle changes the elements of `t`, and their
        /// gradient. Returns a new reference.
        newDetach(t: shared) -> new = detached(t);
        /// Ends the history of `t`, which becomes a leaf that requires no gradient. A view is refused.
        detach(t: handle) = end_history(t);
        /// The number of writes to the storage of `t` since the program first used gradients; -1 on error.
        version(t: input) -> count = Ok(version_of(t) as i64);
        /// Computes the gradient of `sum of gradient * t` and adds it to the gradient of each leaf that `t` was computed from. A NULL
        /// `gradient` is 1, for a `t` of one element. The tensors that operations saved are freed.
        backward(t: input, gradient: optional_input) = run(&[t], gradient.map(|g| [Some(g)]).as_ref().map(|g| &g[..]), Options::default());
        /// Adds a hook: backward calls `function` with each gradient of `t` that it computes. Returns a number, with which
        /// `THTensor_removeHook` removes the hook; -1 on error. `deleter`, unless NULL, is called once, as `deleter(context, context)`,
        /// when `function` can no longer be called; on error it is not called.
        addHook(t: handle, function: grad_hook, context: context, deleter: deleter) -> count = add_hook(t, function, context, deleter);
        /// Removes the hook with the number `id`, which `THTensor_addHook` returned.
        removeHook(t: handle, id: count) = remove_hook(t, id);
    } };
}

pub mod tensors {
    //! Gradients.
    //!
    //! A leaf for which `THTensor_setRequiresGrad` was called requires a gradient, and so does every tensor that is computed from such a
    //! leaf. Each operation on them records a node in a graph, which its results keep alive. `THTensor_backward` traverses the graph and
    //! adds to each leaf its gradient.
    //!
    //! Handles on the same elements share their history: a write through a view changes the gradient of its tensor, and a write to the
    //! tensor changes the gradients of its views. A call that would lose a history is refused with `TH_ERR_ARGUMENT`:
    //! - `THTensor_resize` of a result, if the result would get new elements;
    //! - a new tensor over the storage of a result; use `THTensor_newAsStrided` instead;
    //! - a write to the storage of a result;
    //! - a write through a view that was made while recording was off.
    //!
    //! All of these calls are allowed between `THGrad_setEnabled(0)` and `THGrad_setEnabled(1)`, and gradients then ignore them.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a tensor that requires no gradient, a write to a leaf, or a saved tensor that was changed in place or
    //! freed by an earlier backward; `TH_ERR_DTYPE`, a leaf that is not of floats; `TH_ERR_SHAPE`, a gradient that does not fit its tensor;
    //! `TH_ERR_UNSUPPORTED`, an operation without a derivative; the status that a function of the caller returns; `TH_ERR_NUMERIC`, a check
    //! that finds a wrong gradient.
    use super::*;
    grad_tensor_functions!(table);
    pub(crate) use grad_tensor_functions as functions;
}

macro_rules! grad_graph_functions {
    ($do:ident) => {
        $do! { "", unrecorded;
            /// Computes the gradients of `count` tensors at once, as `THTensor_backward`. `gradients` has one gradient or NULL for each
            /// tensor; a NULL `gradients` is NULL for all. `retainGraph` keeps the tensors that operations saved, so that backward can run
            /// again. `createGraph` records the operations of backward, so that gradients have gradients.
            THGrad_backward(tensors: inputs, gradients: list_or_null, count: handle_count, retainGraph: flag, createGraph: flag) =
                run(&tensors, gradients.as_deref(), Options { retain: retainGraph || createGraph, create: createGraph });
            /// Switches recording on this thread on (1, the initial setting) or off (0).
            THGrad_setEnabled(enabled: flag) = {
                begin();
                switch::set_recording(enabled);
                Ok(())
            };
            /// 1 if this thread records operations; 0 if not and on error.
            THGrad_isEnabled() -> flag = Ok(switch::is_recording());
            /// Begins (1) or ends (0) inference mode on this thread. In inference mode nothing is recorded, regardless of
            /// `THGrad_setEnabled`.
            THGrad_setInference(on: flag) = {
                begin();
                switch::set_inference(on);
                Ok(())
            };
        }
    };
}

pub mod graphs {
    //! Gradients.
    use super::*;
    grad_graph_functions!(table);
    pub(crate) use grad_graph_functions as functions;
}
