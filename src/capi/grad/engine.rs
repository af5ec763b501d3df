//! Backward: the gradients of a graph, node after node.
//!
//! Nodes are counted first: each waits until all that follow it have given their gradients. Then the latest of those that wait for nobody
//! runs, until none is left. Hooks of a leaf are called as soon as its gradient is complete. The gradients of leaves are collected and
//! stored at last, when nothing can fail any more.

use super::counted::Counted;
pub use super::graph::Target;
use super::graph::{Edge, Node, Slot, Step, Variable};
use super::record::{Hasher, count_write};
use super::reduce::{add, fit};
use super::switch::Switched;
use super::variable::target;
use crate::capi::face::callbacks::THGradHook;
use crate::capi::words::Like;
use crate::device::{Device, Making};
use crate::error::{Error, Kind, Result, bail};
use crate::ops::{copy, create, pointwise};
use crate::scalar::Scalar;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::ptr::{NonNull, null_mut};
use std::sync::PoisonError;

/// What a run is asked for.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Keeps what nodes saved, so that backward can run again.
    pub retain: bool,
    /// Records the derivatives, so that gradients have gradients.
    pub create: bool,
}

/// A node during a run.
struct Waiting {
    node: Counted<Node>,
    /// Gradients that are still to come.
    awaited: usize,
    /// The gradients of its results so far.
    grads: SmallVec<[Option<Tensor>; 1]>,
    /// False if no wanted gradient comes from the node.
    needed: bool,
}

/// A node that waits for nobody; later ones first.
struct Ready(Counted<Node>);

impl PartialEq for Ready {
    fn eq(&self, other: &Ready) -> bool {
        self.0.sequence == other.0.sequence
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Ready) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ready {
    fn cmp(&self, other: &Ready) -> Ordering {
        self.0.sequence.cmp(&other.0.sequence)
    }
}

/// A leaf during a run.
struct Reached {
    leaf: Counted<Variable>,
    /// Gradients that are still to come.
    awaited: usize,
    /// Their sum so far.
    gradient: Option<Tensor>,
}

/// A gradient that someone asked for.
enum Asked {
    Leaf(usize),
    Result(usize, u32),
}

/// A run of backward.
pub struct Run {
    options: Options,
    nodes: HashMap<usize, Waiting, Hasher>,
    ready: BinaryHeap<Ready>,
    leaves: HashMap<usize, Reached, Hasher>,
    /// True if hooks of leaves are called.
    hooked: bool,
    /// The order in which the first gradients of leaves came.
    order: Vec<usize>,
    /// The gradients of results that were asked for.
    asked: Vec<((usize, u32), Option<Tensor>)>,
    /// Gradients of results to store at last.
    kept: Vec<(Counted<Slot>, Tensor)>,
}

/// Where backward begins: the target of an output, and its gradient.
pub struct Root {
    pub to: Target,
    pub gradient: Tensor,
}

impl Run {
    fn new(options: Options) -> Run {
        Run {
            options,
            nodes: HashMap::default(),
            ready: BinaryHeap::new(),
            leaves: HashMap::default(),
            hooked: false,
            order: Vec::new(),
            asked: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Counts one more gradient that a leaf waits for.
    fn await_leaf(&mut self, leaf: &Counted<Variable>) -> Result<()> {
        if self.leaves.try_reserve(1).is_err() {
            return Err(out_of_memory());
        }
        let reached = self.leaves.entry(leaf.address());
        reached.or_insert_with(|| Reached { leaf: leaf.clone(), awaited: 0, gradient: None }).awaited += 1;
        Ok(())
    }

    /// Counts what each node and each leaf waits for.
    fn count(&mut self, roots: &[Root]) -> Result<()> {
        let mut stack: Vec<Counted<Node>> = Vec::new();
        let visit = |nodes: &mut HashMap<usize, Waiting, Hasher>, stack: &mut Vec<Counted<Node>>, node: &Counted<Node>, awaited| {
            if nodes.try_reserve(1).is_err() || stack.try_reserve(1).is_err() {
                return Err(out_of_memory());
            }
            let waiting = nodes.entry(node.address()).or_insert_with(|| {
                stack.push(node.clone());
                Waiting { node: node.clone(), awaited: 0, grads: SmallVec::from_elem(None, node.outputs.len()), needed: true }
            });
            waiting.awaited += awaited;
            Ok(())
        };
        for root in roots {
            match &root.to {
                Target::Node(node, _) => visit(&mut self.nodes, &mut stack, node, 0)?,
                Target::Leaf(leaf) => self.await_leaf(leaf)?,
            }
        }
        while let Some(node) = stack.pop() {
            for edge in &node.edges {
                match &edge.to {
                    Target::Node(next, _) => visit(&mut self.nodes, &mut stack, next, 1)?,
                    Target::Leaf(leaf) => self.await_leaf(leaf)?,
                }
            }
        }
        Ok(())
    }

    /// Marks the nodes from which wanted gradients come: those that lead to a target in `wanted`.
    fn prune(&mut self, roots: &[Root], wanted: &[Asked]) -> Result<()> {
        let leaf_wanted = |leaf: &Counted<Variable>| wanted.iter().any(|w| matches!(w, Asked::Leaf(l) if *l == leaf.address()));
        let leaf = |edge: &Edge| matches!(&edge.to, Target::Leaf(leaf) if leaf_wanted(leaf));
        let node_wanted = |node: &Counted<Node>| wanted.iter().any(|w| matches!(w, Asked::Result(n, _) if *n == node.address()));
        self.nodes.values_mut().for_each(|waiting| waiting.needed = false);
        // Depth first: a node is decided once all behind it are.
        let mut stack: Vec<(Counted<Node>, usize)> = Vec::new();
        let mut seen: HashMap<usize, bool, Hasher> = HashMap::default();
        for root in roots {
            let Target::Node(node, _) = &root.to else { continue };
            if seen.insert(node.address(), node_wanted(node)).is_none() {
                stack.push((node.clone(), 0));
            }
            while let Some((node, at)) = stack.last_mut() {
                let (node, k) = (node.clone(), *at);
                *at += 1;
                if k < node.edges.len() {
                    if let Target::Node(next, _) = &node.edges[k].to
                        && !seen.contains_key(&next.address())
                    {
                        if stack.try_reserve(1).is_err() || seen.try_reserve(1).is_err() {
                            return Err(out_of_memory());
                        }
                        seen.insert(next.address(), node_wanted(next));
                        stack.push((next.clone(), 0));
                    }
                    continue;
                }
                let leads = node.edges.iter().any(|edge| {
                    leaf(edge) || matches!(&edge.to, Target::Node(next, _) if seen.get(&next.address()).copied().unwrap_or(false))
                });
                let entry = seen.entry(node.address()).or_default();
                *entry |= leads;
                // A node that is only asked about itself need not run.
                if let Some(waiting) = self.nodes.get_mut(&node.address()) {
                    waiting.needed = leads;
                }
                stack.pop();
            }
        }
        Ok(())
    }

    /// Fails where a node cannot run. The error is that of the latest such node.
    fn check(&self) -> Result<()> {
        let needed = self.nodes.values().filter(|waiting| waiting.needed);
        let failed = needed.filter_map(|waiting| waiting.node.check().err().map(|error| (waiting.node.sequence, error)));
        failed.max_by_key(|(sequence, _)| *sequence).map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Gives a gradient to where it goes.
    fn deliver(&mut self, to: &Target, gradient: Option<Tensor>) -> Result<()> {
        match to {
            Target::Leaf(leaf) => {
                let at = leaf.address();
                let before = self.leaves.get_mut(&at).and_then(|reached| reached.gradient.take());
                if before.is_none() && gradient.is_some() {
                    self.order.push(at);
                }
                let sum = match (before, gradient) {
                    (Some(before), Some(gradient)) => Some(self.sum(before, gradient)?),
                    (before, gradient) => before.or(gradient),
                };
                let Some(reached) = self.leaves.get_mut(&at) else { return Ok(()) };
                reached.gradient = sum;
                reached.awaited -= 1;
                if reached.awaited == 0 && self.hooked {
                    self.show(leaf)?;
                }
            }
            Target::Node(node, nr) => {
                let Some(waiting) = self.nodes.get_mut(&node.address()) else { return Ok(()) };
                if let Some(gradient) = gradient {
                    let slot = std::mem::take(&mut waiting.grads[*nr as usize]);
                    let sum = match slot {
                        Some(before) => self.sum(before, gradient)?,
                        None => gradient,
                    };
                    if let Some(waiting) = self.nodes.get_mut(&node.address()) {
                        waiting.grads[*nr as usize] = Some(sum);
                    }
                }
            }
        }
        Ok(())
    }

    /// Hands the gradient of a leaf, which is complete, to its hooks.
    fn show(&mut self, leaf: &Counted<Variable>) -> Result<()> {
        let hooks = {
            let state = leaf.lock();
            if state.is_gone || state.hooks.is_empty() {
                return Ok(());
            }
            state.hooks.clone()
        };
        for hook in hooks {
            let Some(Reached { gradient: Some(gradient), .. }) = self.leaves.get_mut(&leaf.address()) else { return Ok(()) };
            if let Some(replaced) = call_hook(hook.function, gradient, hook.context, self.options.create)? {
                *gradient = replaced;
            }
        }
        Ok(())
    }

    /// `a + b`, in the memory of one that nobody else has.
    fn sum(&self, a: Tensor, b: Tensor) -> Result<Tensor> {
        if self.options.create {
            return add(&a, &b);
        }
        let _there = making(a.device());
        let r = if is_own(&a) { a.clone() } else { Tensor::fresh()? };
        pointwise::arithmetic::cadd(&r, &a, Scalar::Int(1), &b)?;
        Ok(r)
    }

    fn run(&mut self, roots: &[Root]) -> Result<()> {
        let _switched = Switched::to(self.options.create);
        for root in roots {
            self.deliver(&root.to, Some(root.gradient.clone()))?;
        }
        for root in roots {
            if let Target::Node(node, _) = &root.to
                && self.nodes.get(&node.address()).is_some_and(|waiting| waiting.awaited == 0)
                && !self.ready.iter().any(|ready| ready.0.address() == node.address())
            {
                self.ready.push(Ready(node.clone()));
            }
        }
        while let Some(Ready(node)) = self.ready.pop() {
            self.step(&node)?;
        }
        Ok(())
    }

    fn step(&mut self, node: &Counted<Node>) -> Result<()> {
        let Some(waiting) = self.nodes.remove(&node.address()) else { return Ok(()) };
        let mut grads = waiting.grads;
        self.look_on(node, &mut grads)?;
        let given = SmallVec::from_elem(None, node.edges.len());
        let mut step = Step { node, grads: &grads, given, recording: self.options.create, target };
        if waiting.needed && grads.iter().any(Option::is_some) {
            let device = node.outputs.first().map_or(Device::Cpu, |output| output.device);
            let _there = making(device);
            node.rule().apply(&mut step).map_err(|error| within(error, node.rule().name()))?;
        }
        let mut given = std::mem::take(&mut step.given);
        drop(grads);
        if !self.options.retain && waiting.needed {
            let mut saved = node.saved();
            if saved.as_ref().is_some_and(|saved| !saved.tensors.is_empty()) {
                *saved = None;
            }
            drop(saved);
            node.rule().release();
        }
        for (edge, gradient) in node.edges.iter().zip(given.iter_mut()) {
            let gradient = match gradient.take() {
                Some(gradient) => Some(self.fit(gradient, &edge.like, node)?),
                None => None,
            };
            self.deliver(&edge.to, gradient)?;
            if let Target::Node(next, _) = &edge.to
                && let Some(waiting) = self.nodes.get_mut(&next.address())
            {
                waiting.awaited -= 1;
                if waiting.awaited == 0 {
                    if self.ready.try_reserve(1).is_err() {
                        return Err(out_of_memory());
                    }
                    self.ready.push(Ready(next.clone()));
                }
            }
        }
        Ok(())
    }

    /// The gradient of an input in its shape and dtype.
    fn fit(&self, gradient: Tensor, like: &Like, node: &Counted<Node>) -> Result<Tensor> {
        let _there = making(like.device);
        fit(gradient, like, self.options.create).map_err(|error| within(error, node.rule().name()))
    }

    /// Hands the gradients of a node's results to hooks, and to who asked for them.
    fn look_on(&mut self, node: &Counted<Node>, grads: &mut [Option<Tensor>]) -> Result<()> {
        let (hooks, kept) = {
            let watched = node.watched();
            let hooks = watched.hooks.clone();
            (hooks, watched.kept.clone())
        };
        for hook in hooks {
            if let Some(g) = &grads[hook.output as usize] {
                let replaced = call_hook(hook.function, g, hook.context, self.options.create)?;
                if replaced.is_some() {
                    grads[hook.output as usize] = replaced;
                }
            }
        }
        for (nr, slot) in kept {
            if let Some(g) = &grads[nr as usize] {
                self.kept.push((slot, g.clone()));
            }
        }
        for ((at, nr), gradient) in &mut self.asked {
            if *at == node.address() {
                gradient.clone_from(&grads[*nr as usize]);
            }
        }
        Ok(())
    }
}

/// Returns true if nobody else has the tensor or its memory, and it can be added to in place.
fn is_own(t: &Tensor) -> bool {
    // SAFETY: a live handle.
    let alone = unsafe { (*t.as_ptr()).refcount } == 1 && t.storage().is_some_and(|storage| storage.refcount() == 2);
    alone && t.layout().is_ok_and(|layout| layout.is_dense())
}

/// Fresh tensors are made where an operation was, the host included: a graph may go over several devices.
fn making(device: Device) -> Making {
    Making::on(device)
}

#[cold]
fn within(error: Error, name: &str) -> Error {
    Error::new(error.kind(), format_args!("the gradient of {name}: {}", error.message()))
}

#[cold]
fn out_of_memory() -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory for the nodes of the graph"))
}

/// Calls a function of the caller with a gradient; gives what is to take its place.
fn call_hook(function: THGradHook, g: &Tensor, context: *mut std::ffi::c_void, recording: bool) -> Result<Option<Tensor>> {
    let Some(function) = function else { return Ok(None) };
    let mut replacement: *mut THTensor = null_mut();
    let _switched = Switched::to(recording);
    // SAFETY: the caller's function, as its type asks.
    let status = unsafe { function(g.as_ptr(), &raw mut replacement, context) };
    // SAFETY: the function stored a new reference, or left NULL.
    let replacement = NonNull::new(replacement).map(|raw| unsafe { Tensor::from_raw(raw) });
    if status != 0 {
        return Err(Error::from_callback(status, format_args!("a hook returned {status}")));
    }
    match replacement {
        Some(r) if !r.same_shape(g) || r.dtype() != g.dtype() => {
            bail!(Argument, "a hook replaced a gradient by a tensor of another shape or dtype")
        }
        replacement => Ok(replacement),
    }
}

/// Adds the gradients of `roots` to those of all leaves.
pub fn backward(roots: &[Root], options: Options) -> Result<()> {
    let mut run = Run::new(options);
    run.hooked = true;
    run.count(roots)?;
    run.check()?;
    run.run(roots)?;
    let order = std::mem::take(&mut run.order);
    let mut stored: Vec<(Counted<Variable>, Tensor)> = Vec::new();
    for at in order {
        let Some(Reached { leaf, gradient: Some(gradient), .. }) = run.leaves.remove(&at) else { continue };
        if !leaf.lock().is_gone {
            stored.push((leaf, gradient));
        }
    }
    let kept = std::mem::take(&mut run.kept);
    drop(run);
    // What may fail comes first: a gradient that others have, too, is copied.
    let mut ready: Vec<(Counted<Variable>, Tensor, bool)> = Vec::new();
    for (leaf, gradient) in stored {
        let before = leaf.lock().grad.clone();
        let _there = making(gradient.device());
        ready.push(match before {
            Some(before) if options.create => (leaf, add(&before, &gradient)?, true),
            None if !options.create && !is_own(&gradient) => (leaf, copy::contiguous_copy(&gradient)?, false),
            _ => (leaf, gradient, false),
        });
    }
    for (leaf, gradient, is_sum) in ready {
        // Two threads may add to one leaf.
        let mut state = leaf.lock();
        match state.grad.clone().filter(|_| !is_sum) {
            Some(before) => {
                let _there = making(before.device());
                pointwise::arithmetic::cadd(&before, &before, Scalar::Int(1), &gradient)?;
                count_write(&before);
            }
            None => {
                let old = state.grad.replace(gradient);
                drop(state);
                drop(old);
            }
        }
    }
    for (slot, gradient) in kept {
        let gradient = if options.create { gradient } else { copy::contiguous_copy(&gradient)? };
        *slot.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(gradient);
    }
    Ok(())
}

/// The gradients of `roots` with respect to `inputs`; `None` where they do not depend on one.
pub fn gradients(roots: &[Root], inputs: &[Target], options: Options) -> Result<Vec<Option<Tensor>>> {
    let mut run = Run::new(options);
    run.count(roots)?;
    let asked: Vec<Asked> = inputs
        .iter()
        .map(|input| match input {
            Target::Leaf(leaf) => Asked::Leaf(leaf.address()),
            Target::Node(node, nr) => Asked::Result(node.address(), *nr),
        })
        .collect();
    run.prune(roots, &asked)?;
    run.check()?;
    run.asked.extend(asked.iter().filter_map(|asked| if let Asked::Result(at, nr) = asked { Some(((*at, *nr), None)) } else { None }));
    run.run(roots)?;
    let mut found = Vec::new();
    for asked in &asked {
        found.push(match asked {
            Asked::Leaf(at) => run.leaves.get(at).and_then(|reached| reached.gradient.clone()),
            Asked::Result(at, nr) => run.asked.iter().find(|(place, _)| *place == (*at, *nr)).and_then(|(_, gradient)| gradient.clone()),
        });
    }
    Ok(found)
}

/// The root of an output: its gradient is 1 where none is given and it has one element.
pub fn root(to: Target, output: &Tensor, gradient: Option<&Tensor>) -> Result<Root> {
    let Some(gradient) = gradient else {
        let numel = output.layout()?.numel();
        if numel != 1 {
            let what = format_args!("has {numel} elements, and no gradient is given: only that of a single element is 1 by itself");
            return Err(Error::about(output.as_ptr().addr(), Kind::Argument, what));
        }
        let _there = making(output.device());
        return Ok(Root { to, gradient: create::full_like(output, Scalar::Int(1))? });
    };
    if !gradient.same_shape(output) || gradient.dtype() != output.dtype() {
        bail!(Shape, "the gradient has another shape or dtype than the tensor that it is of")
    }
    Ok(Root { to, gradient: gradient.clone() })
}
