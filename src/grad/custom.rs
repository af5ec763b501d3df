//! Functions of the caller in the graph: functions with a custom gradient, and functions that backward computes again (checkpoints).

use super::arguments::is_float;
use super::counted::{Counted, Part};
use super::engine::{self, Options, Root};
use super::geometry::own;
use super::graph::{Backward, Edge, Node, State, Step, Target, Variable, attach, version_of, with_origin};
use super::switch::Switched;
use super::variable::{Before, check_writable, settle, target};
use crate::alloc::fork::ForkMutex;
use crate::alloc::{THDeleter, list};
use crate::api::callbacks::{Role, SavedList, THGradCall, THGradFunction, THGradRule};
use crate::error::{Error, Kind, Result, THStatus, bail};
use crate::expr::Like;
use crate::ops::view;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::ffi::{c_int, c_void};
use std::ptr::null;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The function's context, which ends with the node.
struct Context {
    pointer: *mut c_void,
    /// The caller's function, set once the call has succeeded.
    deleter: OnceLock<THDeleter>,
}

impl Part for Context {}

impl Context {
    fn new(pointer: *mut c_void) -> Result<Counted<Context>> {
        Counted::new(Context { pointer, deleter: OnceLock::new() })
    }
}

// SAFETY: the header requires that any thread may use the caller's context.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(&Some(deleter)) = self.deleter.get() {
            // SAFETY: the caller guarantees that its function may be called once with its context.
            unsafe { deleter(self.pointer, self.pointer) }
        }
    }
}

fn status(status: THStatus, what: &str) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(Error::from_callback(status, format_args!("{what} returned {status}"))) }
}

fn handles(tensors: &[&Tensor]) -> Result<Vec<*mut THTensor>> {
    list(tensors.len(), |k| Ok(tensors[k].as_ptr()))
}

/// The maximum number of inputs of a function, and of results that are checked.
const MOST: usize = 1 << 16;

fn edges_of(inputs: &[&Tensor]) -> Result<SmallVec<[Edge; 2]>> {
    if inputs.len() > MOST {
        bail!(Unsupported, "{} inputs: a function whose gradient is wanted has at most {MOST}", inputs.len())
    }
    let mut edges = SmallVec::new();
    for (k, t) in inputs.iter().enumerate() {
        if t.dtype().is_some_and(|dtype| dtype.is_float())
            && let Some(to) = target(t)?
        {
            edges.push(Edge { to, place: k as u16, entry: 0, like: Like::of(t)? });
        }
    }
    Ok(edges)
}

/// A node of a function that is about to be called, with room for its outputs.
fn node_before(rule: impl Backward + 'static, edges: SmallVec<[Edge; 2]>, outputs: usize) -> Result<Counted<Node>> {
    let mut likes = SmallVec::new();
    if likes.try_reserve(outputs).is_err() {
        bail!(NoMem, "out of memory for the results of a function")
    }
    Node::new(own(rule)?, edges, likes, super::graph::Saved::default())
}

/// Makes the written outputs the results of a node without other references.
fn settle_all(outputs: &[&Tensor], before: &mut [Before], mut node: Counted<Node>) -> Result<()> {
    let Some(made) = node.get_mut() else { bail!(Internal, "a node has two owners") };
    made.renumber();
    for t in outputs {
        made.outputs.push(Like::of(t)?);
    }
    for (nr, (t, before)) in outputs.iter().zip(before).enumerate() {
        settle(t, before, is_float(t).then(|| (node.clone(), nr as u32)))?;
    }
    Ok(())
}

/// Calls `f`, which writes to the outputs. If `f` fails, outputs that were fresh handles are fresh again.
fn or_undo(outputs: &[&Tensor], f: impl FnOnce() -> Result<()>) -> Result<()> {
    let was_fresh = list(outputs.len(), |k| Ok(outputs[k].dtype().is_none() && outputs[k].storage().is_none()))?;
    let done = f();
    if done.is_err() {
        for (t, _) in outputs.iter().zip(&was_fresh).filter(|(_, was_fresh)| **was_fresh) {
            attach(t, None);
            t.reset();
        }
    }
    done
}

/// Returns the state of the result handles before the call. Each is fresh or may be written.
fn results_before(outputs: &[&Tensor]) -> Result<Vec<Before>> {
    list(outputs.len(), |k| {
        check_writable(outputs[k])?;
        Before::of(outputs[k], true)
    })
}

/// The rule of a function with a custom gradient.
struct Own {
    backward: THGradRule,
    context: Counted<Context>,
    needs: Vec<bool>,
    saved: Counted<Kept>,
    outputs: usize,
}

/// The saved tensors; `None` before the function was called, and once backward has released the node.
struct Kept(ForkMutex<Option<SavedList>>);

impl Part for Kept {}

impl Backward for Own {
    fn name(&self) -> &str {
        "a function of THGrad_apply"
    }

    fn check(&self) -> Result<()> {
        let saved = self.saved.0.lock();
        let Some(saved) = &*saved else { return Err(released(self.name())) };
        match saved.iter().find(|(t, role, version)| *role != Role::Other && version_of(t) != *version) {
            None => Ok(()),
            Some((t, _, version)) => {
                bail!(
                    Argument,
                    "a tensor that {} saved was changed in place: it is at version {}, and was saved at version {version}",
                    self.name(),
                    version_of(t)
                )
            }
        }
    }

    fn release(&self) {
        let saved = self.saved.0.lock().take();
        let nothing = saved.as_ref().is_some_and(Vec::is_empty);
        if nothing {
            *self.saved.0.lock() = saved;
        }
    }

    fn apply(&self, step: &mut Step<'_>) -> Result<()> {
        let saved = {
            let saved = self.saved.0.lock();
            let Some(saved) = &*saved else { return Err(released(self.name())) };
            list(saved.len(), |k| {
                let (t, role, version) = &saved[k];
                Ok((if step.recording { with_history(t, *role, step)? } else { t.clone() }, *role, *version))
            })?
        };
        let needs = list(self.needs.len(), |k| Ok(self.needs[k]))?;
        let call = THGradCall::new(needs, Vec::new(), Vec::new(), saved);
        let grads: Vec<*const THTensor> =
            list(self.outputs, |k| Ok(step.grads.get(k).and_then(Option::as_ref).map_or(null(), |g| g.as_ptr().cast_const())))?;
        let fresh = list(self.needs.len(), |k| if self.needs[k] { Tensor::fresh().map(Some) } else { Ok(None) })?;
        let results: Vec<*mut THTensor> = list(fresh.len(), |k| Ok(fresh[k].as_ref().map_or(std::ptr::null_mut(), |t| t.as_ptr())))?;
        let Some(backward) = self.backward else { bail!(Argument, "the function is NULL") };
        let open = call.open();
        // SAFETY: the caller guarantees that the function satisfies its type.
        let code = unsafe {
            backward(
                (&raw const call).cast_mut(),
                grads.as_ptr(),
                grads.len() as c_int,
                results.as_ptr(),
                results.len() as c_int,
                self.context.pointer,
            )
        };
        drop(open);
        status(code, "the gradient of the function")?;
        for (k, edge) in step.node.edges.iter().enumerate() {
            step.given[k] = fresh[usize::from(edge.place)].clone().filter(|t| t.dtype().is_some());
        }
        Ok(())
    }
}

#[cold]
fn released(name: &str) -> Error {
    Error::new(Kind::Argument, format_args!("backward runs a second time through {name}, whose saved tensors were freed by the first"))
}

/// Returns a handle on a saved tensor with its history. An intermediate result has its own history.
fn with_history(t: &Tensor, role: Role, step: &Step<'_>) -> Result<Tensor> {
    match role {
        Role::Other => Ok(t.clone()),
        Role::Output(nr) => with_origin(t, step.node, Some(nr as u32), None),
        Role::Input(k) => with_origin(t, step.node, None, step.node.edges.iter().find(|edge| usize::from(edge.place) == k)),
    }
}

/// Calls a function with a custom gradient.
///
/// # Safety
/// The functions must satisfy their types.
pub unsafe fn apply(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    forward: THGradRule,
    backward: THGradRule,
    (context, deleter): (*mut c_void, THDeleter),
) -> Result<()> {
    let context = Context::new(context)?;
    // SAFETY: guaranteed by the caller of this function.
    or_undo(outputs, || unsafe { apply_in(outputs, inputs, forward, backward, &context) })?;
    _ = context.deleter.set(deleter);
    Ok(())
}

unsafe fn apply_in(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    forward: THGradRule,
    backward: THGradRule,
    context: &Counted<Context>,
) -> Result<()> {
    let (Some(forward), true) = (forward, backward.is_some()) else { bail!(Argument, "the function is NULL") };
    let edges = if super::switch::is_recording() { edges_of(inputs)? } else { SmallVec::new() };
    let mut before = results_before(outputs)?;
    let mut needs: Vec<bool> = list(inputs.len(), |_| Ok(false))?;
    edges.iter().for_each(|edge| needs[usize::from(edge.place)] = true);
    let addresses = |tensors: &[&Tensor]| list(tensors.len(), |k| Ok(tensors[k].as_ptr().addr()));
    let call = THGradCall::new(list(inputs.len(), |k| Ok(needs[k]))?, addresses(inputs)?, addresses(outputs)?, Vec::new());
    let (given, wanted) = (handles(inputs)?, handles(outputs)?);
    // The node is made before the function writes the outputs, so that nothing can fail for want of memory afterwards.
    let recorded = match edges.is_empty() {
        true => None,
        false => {
            let saved = Counted::new(Kept(ForkMutex::new(None)))?;
            let rule = Own { backward, context: context.clone(), needs, saved: saved.clone(), outputs: outputs.len() };
            Some((node_before(rule, edges, outputs.len())?, saved))
        }
    };
    {
        let (_switched, _open) = (Switched::to(false), call.open());
        // SAFETY: the caller guarantees that the function satisfies its type. A list of handles may be passed as a list of const handles.
        let code = unsafe {
            forward(
                (&raw const call).cast_mut(),
                given.as_ptr().cast(),
                given.len() as c_int,
                wanted.as_ptr(),
                wanted.len() as c_int,
                context.pointer,
            )
        };
        status(code, "the function")?;
    }
    let Some((node, kept)) = recorded else {
        return outputs.iter().zip(&mut before).try_for_each(|(t, before)| settle(t, before, None));
    };
    let mut saved = call.saved.into_inner();
    saved.iter_mut().for_each(|(t, _, version)| *version = version_of(t));
    *kept.0.lock() = Some(saved);
    settle_all(outputs, &mut before, node)
}

/// The rule of a function that is computed again.
struct Again {
    function: THGradFunction,
    context: Counted<Context>,
    inputs: Vec<Tensor>,
    versions: Counted<Versions>,
    outputs: usize,
}

/// The versions of the inputs after the first call of the function.
struct Versions(Vec<AtomicU64>);

impl Part for Versions {}

impl Backward for Again {
    fn name(&self) -> &str {
        "a function of THGrad_checkpoint"
    }

    fn check(&self) -> Result<()> {
        match (0..self.inputs.len()).find(|&k| version_of(&self.inputs[k]) != self.versions.0[k].load(Ordering::Relaxed)) {
            None => Ok(()),
            Some(k) => bail!(Argument, "input {k} of {} was changed in place since", self.name()),
        }
    }

    fn captures(&self) -> bool {
        true
    }

    fn apply(&self, step: &mut Step<'_>) -> Result<()> {
        if step.recording {
            bail!(Unsupported, "what is computed again has no second derivative")
        }
        let _switched = Switched::to(true);
        let inputs = list(self.inputs.len(), |k| view::alias(&self.inputs[k]))?;
        let mut leaves = Vec::new();
        for edge in &step.node.edges {
            let leaf = Variable::new(State { requires: true, ..State::default() })?;
            attach(&inputs[usize::from(edge.place)], Some(leaf.clone()));
            leaves.push(leaf);
        }
        let outputs = list(self.outputs, |_| Tensor::fresh())?;
        call(self.function, &inputs.iter().collect::<Vec<_>>(), &outputs.iter().collect::<Vec<_>>(), self.context.pointer)?;
        let mut roots = Vec::new();
        for (t, g) in outputs.iter().zip(step.grads) {
            if let (Some(to), Some(g)) = (target(t)?, g) {
                roots.push(engine::root(to, t, Some(g))?);
            }
        }
        // Other tensors that the function used existed before the node.
        for (to, gradient) in engine::gradients_before(&roots, step.node.sequence)? {
            let edge = match &to {
                Target::Leaf(found) => leaves.iter().position(|leaf| leaf.address() == found.address()),
                Target::Node(..) => None,
            };
            match edge {
                Some(k) => step.given[k] = Some(gradient),
                None if step.captured.try_reserve(1).is_err() => bail!(NoMem, "out of memory for a list of gradients"),
                None => step.captured.push((to, gradient)),
            }
        }
        Ok(())
    }
}

/// Calls a function of the caller.
fn call(function: THGradFunction, inputs: &[&Tensor], outputs: &[&Tensor], context: *mut c_void) -> Result<()> {
    let Some(function) = function else { bail!(Argument, "the function is NULL") };
    let (given, wanted) = (handles(inputs)?, handles(outputs)?);
    // SAFETY: the caller guarantees that the function satisfies its type. A list of handles may be passed as a list of const handles.
    let code = unsafe { function(given.as_ptr().cast(), given.len() as c_int, wanted.as_ptr(), wanted.len() as c_int, context) };
    status(code, "the function")
}

/// Calls a function for which the graph only keeps the inputs; backward computes the rest again.
///
/// # Safety
/// The function must do what its type says.
pub unsafe fn checkpoint(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    function: THGradFunction,
    (context, deleter): (*mut c_void, THDeleter),
) -> Result<()> {
    let context = Context::new(context)?;
    or_undo(outputs, || checkpoint_in(outputs, inputs, function, &context))?;
    _ = context.deleter.set(deleter);
    Ok(())
}

fn checkpoint_in(outputs: &[&Tensor], inputs: &[&Tensor], function: THGradFunction, context: &Counted<Context>) -> Result<()> {
    let edges = if super::switch::is_recording() { edges_of(inputs)? } else { SmallVec::new() };
    if edges.is_empty() {
        return call(function, inputs, outputs, context.pointer);
    }
    let mut before = results_before(outputs)?;
    // The node is made before the function writes the outputs, so that nothing can fail for want of memory afterwards.
    let kept = list(inputs.len(), |k| view::alias(inputs[k]))?;
    let versions = Counted::new(Versions(list(inputs.len(), |_| Ok(AtomicU64::new(0)))?))?;
    let rule = Again { function, context: context.clone(), inputs: kept, versions: versions.clone(), outputs: outputs.len() };
    let node = node_before(rule, edges, outputs.len())?;
    {
        let _switched = Switched::to(false);
        call(function, inputs, outputs, context.pointer)?;
    }
    versions.0.iter().zip(inputs).for_each(|(version, t)| version.store(version_of(t), Ordering::Relaxed));
    settle_all(outputs, &mut before, node)
}

/// Compares the gradients of a function with finite differences.
///
/// # Safety
/// The function must do what its type says.
pub unsafe fn check(
    inputs: &[&Tensor],
    outputs: i64,
    function: THGradFunction,
    context: *mut c_void,
    (eps, atol, rtol): (f64, f64, f64),
) -> Result<()> {
    let Some(count) = usize::try_from(outputs).ok().filter(|count| (1..=MOST).contains(count)) else {
        bail!(Argument, "{outputs} results: expected 1 to {MOST}")
    };
    let run = |recording: bool| {
        let _switched = Switched::to(recording);
        let outputs = list(count, |_| Tensor::fresh())?;
        call(function, inputs, &outputs.iter().collect::<Vec<_>>(), context)?;
        Ok::<_, Error>(outputs)
    };
    let computed = run(true)?;
    let mut wanted = Vec::new();
    for (k, t) in inputs.iter().enumerate() {
        if let Some(to) = target(t)? {
            if t.dtype() != Some(crate::dtype::Dtype::Float64) {
                bail!(Dtype, "input {k} requires a gradient and is no float64, whose digits differences need")
            }
            wanted.push((k, to));
        }
    }
    let targets: Vec<Target> = wanted.iter().map(|(_, to)| to.clone()).collect();
    for (o, output) in computed.iter().enumerate() {
        if !is_float(output) {
            continue;
        }
        let to = target(output)?;
        let shape = output.layout()?.shape;
        let again = |j: i64| {
            let beside = run(false)?;
            let other = beside[o].layout()?.shape;
            if other != shape {
                bail!(Argument, "result {o} has shape {:?}, and {:?} where an input changes by eps", shape.as_slice(), other.as_slice())
            }
            get(&beside[o], j)
        };
        for j in 0..output.layout()?.numel() {
            let gradient = crate::ops::create::full_like(output, crate::scalar::Scalar::Int(0))?;
            set(&gradient, j, 1.0)?;
            // A result without a history has no gradient, and must not depend on the inputs.
            let found = match &to {
                Some(to) => {
                    let options = Options { retain: true, create: false };
                    engine::gradients(&[Root { to: to.clone(), gradient }], &targets, options, &|_| Ok(()))?
                }
                None => list(wanted.len(), |_| Ok(None))?,
            };
            for ((k, _), found) in wanted.iter().zip(found) {
                for i in 0..inputs[*k].layout()?.numel() {
                    let exact = found.as_ref().map_or(Ok(0.0), |g| get(g, i))?;
                    let x = get(inputs[*k], i)?;
                    set(inputs[*k], i, x + eps)?;
                    let above = again(j);
                    set(inputs[*k], i, x - eps)?;
                    let below = again(j);
                    set(inputs[*k], i, x)?;
                    let difference = (above? - below?) / (2.0 * eps);
                    if (exact - difference).abs() > atol + rtol * difference.abs() || exact.is_nan() != difference.is_nan() {
                        bail!(
                            Numeric,
                            "the gradient of element {j} of result {o} with respect to element {i} of input {k} is {exact}, and by \
                             differences {difference}"
                        )
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the indices of element `i` in row-major order.
fn position(t: &Tensor, i: i64) -> Result<Vec<i64>> {
    let shape = t.layout()?.shape;
    let (mut rest, mut at) = (i, vec![0; shape.len()]);
    for d in (0..shape.len()).rev() {
        (at[d], rest) = (rest % shape[d], rest / shape[d]);
    }
    Ok(at)
}

fn get(t: &Tensor, i: i64) -> Result<f64> {
    crate::ops::copy::get(t, &position(t, i)?).map(|x| x.to_f64())
}

fn set(t: &Tensor, i: i64, x: f64) -> Result<()> {
    crate::ops::copy::set(t, &position(t, i)?, x.into())
}
