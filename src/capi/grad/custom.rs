//! Functions of the caller in the graph: with a gradient of their own, or computed again when backward comes.

use super::counted::{Counted, Part};
use super::engine::{self, Options, Root};
use super::geometry::own;
use super::graph::{Backward, Edge, Node, State, Step, Target, Variable, attach, version_of, with_origin};
use super::record::is_float;
use super::switch::Switched;
use super::variable::{Before, check_writable, settle, target};
use crate::alloc::{THDeleter, list};
use crate::capi::face::callbacks::{Role, THGradCall, THGradFunction, THGradRule};
use crate::capi::words::Like;
use crate::error::{Error, Kind, Result, THStatus, bail};
use crate::ops::view;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::ptr::null;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The function's context, which ends with the node.
struct Context {
    pointer: *mut c_void,
    /// The caller's, once the call has succeeded.
    deleter: OnceLock<THDeleter>,
}

impl Part for Context {}

impl Context {
    fn new(pointer: *mut c_void) -> Result<Counted<Context>> {
        Counted::new(Context { pointer, deleter: OnceLock::new() })
    }
}

// SAFETY: the caller's, which the header says any thread may use.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(&Some(deleter)) = self.deleter.get() {
            // SAFETY: the caller's, called once.
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

fn edges_of(inputs: &[&Tensor]) -> Result<SmallVec<[Edge; 2]>> {
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

/// Makes the outputs the results of a node.
fn settle_all(outputs: &[&Tensor], before: &mut [Before], node: &Counted<Node>) -> Result<()> {
    for (nr, (t, before)) in outputs.iter().zip(before).enumerate() {
        let is_float = t.dtype().is_some_and(|dtype| dtype.is_float());
        settle(t, before, is_float.then(|| (node.clone(), nr as u32)))?;
    }
    Ok(())
}

fn likes(outputs: &[&Tensor]) -> Result<SmallVec<[Like; 1]>> {
    outputs.iter().map(|t| Like::of(t)).collect()
}

/// The handles that results are written to, before the call: fresh ones, or such that may be written.
fn results_before(outputs: &[&Tensor]) -> Result<Vec<Before>> {
    list(outputs.len(), |k| {
        check_writable(outputs[k])?;
        Before::of(outputs[k], true)
    })
}

/// The rule of a function with a gradient of its own.
struct Own {
    backward: THGradRule,
    context: Counted<Context>,
    needs: Vec<bool>,
    saved: Mutex<Option<Saved>>,
    outputs: usize,
}

/// What the function saved: the tensor, its role, its version, and where its gradient goes if it is an input.
type Saved = Vec<(Tensor, Role, u64)>;

impl Backward for Own {
    fn name(&self) -> &str {
        "a function of THGrad_apply"
    }

    fn check(&self) -> Result<()> {
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
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
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner).take();
        let nothing = saved.as_ref().is_some_and(Vec::is_empty);
        if nothing {
            *self.saved.lock().unwrap_or_else(PoisonError::into_inner) = saved;
        }
    }

    fn apply(&self, step: &mut Step<'_>) -> Result<()> {
        let saved = {
            let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(saved) = &*saved else { return Err(released(self.name())) };
            list(saved.len(), |k| {
                let (t, role, _) = &saved[k];
                Ok((if step.recording { with_history(t, *role, step)? } else { t.clone() }, *role))
            })?
        };
        let call = THGradCall { needs: self.needs.clone(), inputs: Vec::new(), outputs: Vec::new(), saved: RefCell::new(saved) };
        let grads: Vec<*const THTensor> =
            list(self.outputs, |k| Ok(step.grads.get(k).and_then(Option::as_ref).map_or(null(), |g| g.as_ptr().cast_const())))?;
        let fresh = list(self.needs.len(), |k| if self.needs[k] { Tensor::fresh().map(Some) } else { Ok(None) })?;
        let results: Vec<*mut THTensor> = list(fresh.len(), |k| Ok(fresh[k].as_ref().map_or(std::ptr::null_mut(), |t| t.as_ptr())))?;
        let Some(backward) = self.backward else { bail!(Argument, "the function is NULL") };
        // SAFETY: the caller's function, as its type asks.
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

/// A handle on a saved tensor that knows where it came from; what was computed on the way has a history of its own.
fn with_history(t: &Tensor, role: Role, step: &Step<'_>) -> Result<Tensor> {
    match role {
        Role::Other => Ok(t.clone()),
        Role::Output(nr) => with_origin(t, step.node, Some(nr as u32), None),
        Role::Input(k) => with_origin(t, step.node, None, step.node.edges.iter().find(|edge| usize::from(edge.place) == k)),
    }
}

/// Calls a function that has a gradient of its own.
///
/// # Safety
/// The functions must do what their types say.
pub unsafe fn apply(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    forward: THGradRule,
    backward: THGradRule,
    (context, deleter): (*mut c_void, THDeleter),
) -> Result<()> {
    let context = Context::new(context)?;
    // SAFETY: the caller's.
    unsafe { apply_in(outputs, inputs, forward, backward, &context)? };
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
    let address = |t: &&Tensor| t.as_ptr().addr();
    let mut needs: Vec<bool> = list(inputs.len(), |_| Ok(false))?;
    edges.iter().for_each(|edge| needs[usize::from(edge.place)] = true);
    let call = THGradCall {
        needs,
        inputs: inputs.iter().map(address).collect(),
        outputs: outputs.iter().map(address).collect(),
        saved: RefCell::new(Vec::new()),
    };
    let (given, wanted) = (handles(inputs)?, handles(outputs)?);
    {
        let _switched = Switched::to(false);
        // SAFETY: the caller's; a list of handles is one of handles that are not changed.
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
    if edges.is_empty() {
        return outputs.iter().zip(&mut before).try_for_each(|(t, before)| settle(t, before, None));
    }
    let saved = call.saved.into_inner().into_iter().map(|(t, role)| (version_of(&t), t, role)).map(|(version, t, role)| (t, role, version));
    let rule =
        Own { backward, context: context.clone(), needs: call.needs, saved: Mutex::new(Some(saved.collect())), outputs: outputs.len() };
    let node = Node::new(own(rule)?, edges, likes(outputs)?, super::graph::Saved::default())?;
    settle_all(outputs, &mut before, &node)
}

/// The rule of a function that is computed again.
struct Again {
    function: THGradFunction,
    context: Counted<Context>,
    inputs: Vec<Tensor>,
    versions: Vec<u64>,
    outputs: usize,
}

impl Backward for Again {
    fn name(&self) -> &str {
        "a function of THGrad_checkpoint"
    }

    fn check(&self) -> Result<()> {
        match (0..self.inputs.len()).find(|&k| version_of(&self.inputs[k]) != self.versions[k]) {
            None => Ok(()),
            Some(k) => bail!(Argument, "input {k} of {} was changed in place since", self.name()),
        }
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
        engine::backward(&roots, Options::default())?;
        for (given, leaf) in step.given.iter_mut().zip(leaves) {
            *given = leaf.lock().grad.take();
        }
        Ok(())
    }
}

/// Calls a function of the caller.
fn call(function: THGradFunction, inputs: &[&Tensor], outputs: &[&Tensor], context: *mut c_void) -> Result<()> {
    let Some(function) = function else { bail!(Argument, "the function is NULL") };
    let (given, wanted) = (handles(inputs)?, handles(outputs)?);
    // SAFETY: the caller's function, as its type asks; a list of handles is one of handles that are not changed.
    let code = unsafe { function(given.as_ptr().cast(), given.len() as c_int, wanted.as_ptr(), wanted.len() as c_int, context) };
    status(code, "the function")
}

/// Calls a function, of which backward keeps the inputs alone and computes the rest again.
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
    checkpoint_in(outputs, inputs, function, &context)?;
    _ = context.deleter.set(deleter);
    Ok(())
}

fn checkpoint_in(outputs: &[&Tensor], inputs: &[&Tensor], function: THGradFunction, context: &Counted<Context>) -> Result<()> {
    let edges = if super::switch::is_recording() { edges_of(inputs)? } else { SmallVec::new() };
    if edges.is_empty() {
        return call(function, inputs, outputs, context.pointer);
    }
    let mut before = results_before(outputs)?;
    {
        let _switched = Switched::to(false);
        call(function, inputs, outputs, context.pointer)?;
    }
    let kept = list(inputs.len(), |k| view::alias(inputs[k]))?;
    let versions = list(inputs.len(), |k| Ok(version_of(inputs[k])))?;
    let rule = Again { function, context: context.clone(), inputs: kept, versions, outputs: outputs.len() };
    let node = Node::new(own(rule)?, edges, likes(outputs)?, super::graph::Saved::default())?;
    settle_all(outputs, &mut before, &node)
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
    let Some(count) = usize::try_from(outputs).ok().filter(|&count| count > 0) else {
        bail!(Argument, "{outputs} results: expected 1 or more")
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
                Some(to) => engine::gradients(&[Root { to: to.clone(), gradient }], &targets, Options { retain: true, create: false })?,
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

/// The place of an element in row-major order.
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
