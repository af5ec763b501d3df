//! Backward: the gradients of a graph, node after node.
//!
//! A first pass counts the gradients that each node waits for. Then the latest node with all its gradients runs, until no node is left.
//! Hooks of a leaf are called as soon as its gradient is complete. The gradients of leaves are collected, and stored at the end, when
//! nothing can fail any more.

use super::counted::Counted;
pub use super::graph::Target;
use super::graph::{Node, Slot, Step, Variable};
use super::record::Hasher;
use super::reduce::{add, fit};
use super::store::{is_own, making, store};
use super::switch::Switched;
use super::variable::target;
use super::wanted::{Wanted, out_of_memory};
use crate::api::callbacks::THGradHook;
use crate::device::Device;
use crate::error::{Error, Kind, Result, bail};
use crate::expr::Like;
use crate::ops::{create, pointwise};
use crate::scalar::Scalar;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::ptr::{NonNull, null_mut};

/// The options of a run.
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
    turn: Turn,
}

/// The state of a node in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The node waits for gradients.
    Waits,
    /// The node is in the queue.
    Queued,
    /// The node has run.
    Done,
}

/// A node with all its gradients. Later nodes are ordered first.
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
    /// True once hooks were called.
    is_shown: bool,
}

/// A run of backward.
pub struct Backward {
    options: Options,
    nodes: HashMap<usize, Waiting, Hasher>,
    ready: BinaryHeap<Ready>,
    leaves: HashMap<usize, Reached, Hasher>,
    /// True if hooks are called for the leaves whose gradients are wanted.
    hooked: bool,
    /// The order in which the first gradients of leaves came.
    order: Vec<usize>,
    /// The targets whose gradients are wanted; `None` means all leaves.
    wanted: Option<Wanted>,
    /// Gradients of results to store at the end.
    kept: Vec<(Counted<Slot>, Tensor)>,
    /// Nodes with a smaller number end the run: their gradients are collected, and they do not run.
    first: u64,
    /// The number of nodes that are still to run and may find gradients of any leaf.
    capturing: usize,
    /// Leaves whose gradients are complete unless such a node adds to them.
    late: Vec<Counted<Variable>>,
}

/// A start of backward: the target of an output, and its gradient.
pub struct Root {
    pub to: Target,
    pub gradient: Tensor,
}

impl Backward {
    fn new(options: Options) -> Backward {
        Backward {
            options,
            nodes: HashMap::default(),
            ready: BinaryHeap::new(),
            leaves: HashMap::default(),
            hooked: false,
            order: Vec::new(),
            wanted: None,
            kept: Vec::new(),
            first: 0,
            capturing: 0,
            late: Vec::new(),
        }
    }

    /// Counts one more gradient that a leaf waits for.
    fn await_leaf(&mut self, leaf: &Counted<Variable>) -> Result<()> {
        if self.leaves.try_reserve(1).is_err() {
            return Err(out_of_memory());
        }
        let reached = self.leaves.entry(leaf.address());
        reached.or_insert_with(|| Reached { leaf: leaf.clone(), awaited: 0, gradient: None, is_shown: false }).awaited += 1;
        Ok(())
    }

    /// Counts `awaited` more gradients that a node waits for. A node that is new to the run is added to `fresh`.
    fn visit(&mut self, fresh: &mut Vec<Counted<Node>>, node: &Counted<Node>, awaited: usize) -> Result<()> {
        if self.nodes.try_reserve(1).is_err() || fresh.try_reserve(1).is_err() {
            return Err(out_of_memory());
        }
        let waiting = self.nodes.entry(node.address()).or_insert_with(|| {
            if node.sequence >= self.first {
                fresh.push(node.clone());
            }
            let grads = SmallVec::from_elem(None, node.outputs.len());
            Waiting { node: node.clone(), awaited: 0, grads, needed: true, turn: Turn::Waits }
        });
        waiting.awaited += awaited;
        Ok(())
    }

    /// Counts the gradients that each node and each leaf reachable from the targets waits for. Fails if a node that is new to the run
    /// cannot run, with the error of the latest such node.
    fn extend<'a>(&mut self, targets: impl Iterator<Item = &'a Target>) -> Result<()> {
        let mut fresh: Vec<Counted<Node>> = Vec::new();
        for to in targets {
            match to {
                Target::Node(node, _) => self.visit(&mut fresh, node, 0)?,
                Target::Leaf(leaf) => self.await_leaf(leaf)?,
            }
        }
        let mut at = 0;
        while let Some(node) = fresh.get(at).cloned() {
            at += 1;
            for edge in &node.edges {
                match &edge.to {
                    Target::Node(next, _) => self.visit(&mut fresh, next, 1)?,
                    Target::Leaf(leaf) => self.await_leaf(leaf)?,
                }
            }
        }
        if let Some(wanted) = &mut self.wanted {
            let nodes = &mut self.nodes;
            for node in &fresh {
                wanted.mark(node, |node, leads| {
                    if let Some(waiting) = nodes.get_mut(&node.address()) {
                        waiting.needed = leads;
                    }
                })?;
            }
        }
        let mut failed: Option<(u64, Error)> = None;
        for node in fresh {
            if !self.nodes.get(&node.address()).is_some_and(|waiting| waiting.needed) {
                continue;
            }
            self.capturing += usize::from(node.rule().captures());
            if let Err(error) = node.check()
                && failed.as_ref().is_none_or(|(latest, _)| *latest < node.sequence)
            {
                failed = Some((node.sequence, error));
            }
        }
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Returns the gradients of leaves whose handles exist, in the order of their first gradients.
    fn stored(&mut self) -> Result<Vec<(Counted<Variable>, Tensor)>> {
        let mut stored = Vec::new();
        stored.try_reserve_exact(self.order.len()).map_err(|_| out_of_memory())?;
        for at in std::mem::take(&mut self.order) {
            if let Some(Reached { leaf, gradient: Some(gradient), .. }) = self.leaves.remove(&at)
                && !leaf.lock().is_gone
            {
                stored.push((leaf, gradient));
            }
        }
        Ok(stored)
    }

    /// Delivers a gradient to its target.
    fn deliver(&mut self, to: &Target, gradient: Option<Tensor>) -> Result<()> {
        match to {
            Target::Leaf(leaf) => {
                let at = leaf.address();
                let before = self.leaves.get_mut(&at).and_then(|reached| reached.gradient.take());
                if before.is_none() && gradient.is_some() {
                    if self.order.try_reserve(1).is_err() {
                        return Err(out_of_memory());
                    }
                    self.order.push(at);
                }
                let sum = match (before, gradient) {
                    (Some(before), Some(gradient)) => Some(self.sum(before, gradient)?),
                    (before, gradient) => before.or(gradient),
                };
                let Some(reached) = self.leaves.get_mut(&at) else { return Ok(()) };
                reached.gradient = sum;
                reached.awaited -= 1;
                if reached.awaited == 0 && self.hooked && self.wanted.as_ref().is_none_or(|wanted| wanted.has_leaf(at)) {
                    if self.capturing == 0 {
                        return self.show(leaf);
                    }
                    if self.late.try_reserve(1).is_err() {
                        return Err(out_of_memory());
                    }
                    self.late.push(leaf.clone());
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

    /// Passes the gradient of a leaf, which is complete, to the hooks of the leaf.
    fn show(&mut self, leaf: &Counted<Variable>) -> Result<()> {
        let complete = self.leaves.get_mut(&leaf.address()).is_some_and(|reached| {
            let complete = reached.awaited == 0 && !reached.is_shown;
            reached.is_shown |= complete;
            complete
        });
        if !complete {
            return Ok(());
        }
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

    /// Returns `a + b`, in the memory of `a` or `b` if that tensor has no other reference.
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
            if let Target::Node(node, _) = &root.to {
                self.queue(node)?;
            }
        }
        while let Some(Ready(node)) = self.ready.pop() {
            self.step(&node)?;
        }
        Ok(())
    }

    /// Puts a node into the queue, unless the node waits for gradients, is in the queue, or has no part in the run.
    fn queue(&mut self, node: &Counted<Node>) -> Result<()> {
        let Some(waiting) = self.nodes.get_mut(&node.address()) else { return Ok(()) };
        if waiting.awaited > 0 || waiting.turn != Turn::Waits || node.sequence < self.first {
            return Ok(());
        }
        if self.ready.try_reserve(1).is_err() {
            return Err(out_of_memory());
        }
        waiting.turn = Turn::Queued;
        self.ready.push(Ready(node.clone()));
        Ok(())
    }

    fn step(&mut self, node: &Counted<Node>) -> Result<()> {
        let Some(waiting) = self.nodes.get_mut(&node.address()) else { return Ok(()) };
        waiting.turn = Turn::Done;
        let (needed, mut grads) = (waiting.needed, std::mem::take(&mut waiting.grads));
        self.look_on(node, &mut grads)?;
        let given = SmallVec::from_elem(None, node.edges.len());
        let mut step = Step { node, grads: &grads, given, recording: self.options.create, captured: Vec::new(), target };
        if needed && grads.iter().any(Option::is_some) {
            let device = node.outputs.first().map_or(Device::Cpu, |output| output.device);
            let _there = making(device);
            node.rule().apply(&mut step).map_err(|error| within(error, node.rule().name()))?;
        }
        let (mut given, captured) = (std::mem::take(&mut step.given), std::mem::take(&mut step.captured));
        drop(grads);
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
                self.queue(next)?;
            }
        }
        if needed && node.rule().captures() { self.capture(captured) } else { Ok(()) }
    }

    /// Delivers the gradients of tensors that a function used without naming them as inputs. Their nodes are older than the node of the
    /// function. So none of them has run: the queue runs the latest node first.
    fn capture(&mut self, captured: Vec<(Target, Tensor)>) -> Result<()> {
        self.extend(captured.iter().map(|(to, _)| to))?;
        for (to, gradient) in &captured {
            self.deliver(to, Some(gradient.clone()))?;
        }
        for (to, _) in &captured {
            if let Target::Node(node, _) = to {
                self.queue(node)?;
            }
        }
        self.capturing -= 1;
        if self.capturing == 0 {
            for leaf in std::mem::take(&mut self.late) {
                self.show(&leaf)?;
            }
        }
        Ok(())
    }

    /// Frees what the nodes that ran have saved, unless the graph is to be used again. Called when nothing can fail any more, so that a run
    /// that failed can be repeated.
    fn release(&self) {
        if self.options.retain {
            return;
        }
        for Waiting { node, .. } in self.nodes.values().filter(|waiting| waiting.needed && waiting.turn == Turn::Done) {
            let mut saved = node.saved();
            let freed = if saved.as_ref().is_some_and(|saved| !saved.tensors.is_empty()) { saved.take() } else { None };
            drop(saved);
            drop(freed);
            node.rule().release();
        }
    }

    /// The gradient of an input in its shape and dtype.
    fn fit(&self, gradient: Tensor, like: &Like, node: &Counted<Node>) -> Result<Tensor> {
        let _there = making(like.device);
        fit(gradient, like, self.options.create).map_err(|error| within(error, node.rule().name()))
    }

    /// Passes the gradients of a node's results to hooks, and stores the wanted ones.
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
                self.kept.try_reserve(1).map_err(|_| out_of_memory())?;
                self.kept.push((slot, g.clone()));
            }
        }
        if let Some(wanted) = &mut self.wanted {
            wanted.note(node, grads);
        }
        Ok(())
    }
}

#[cold]
fn within(error: Error, name: &str) -> Error {
    Error::new(error.kind(), format_args!("the gradient of {name}: {}", error.message()))
}

/// Calls a hook of the caller with a gradient. Returns the replacement of the gradient, if any.
fn call_hook(function: THGradHook, g: &Tensor, context: *mut std::ffi::c_void, recording: bool) -> Result<Option<Tensor>> {
    let Some(function) = function else { return Ok(None) };
    let mut replacement: *mut THTensor = null_mut();
    let _switched = Switched::to(recording);
    // SAFETY: the caller guarantees that the function satisfies its type.
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

/// Adds the gradients of `roots` to the gradients of all leaves.
pub fn backward(roots: &[Root], options: Options) -> Result<()> {
    let mut backward = Backward::new(options);
    backward.hooked = true;
    backward.extend(roots.iter().map(|root| &root.to))?;
    backward.run(roots)?;
    let leaves = backward.stored()?;
    store(leaves, std::mem::take(&mut backward.kept), options.create)?;
    backward.release();
    Ok(())
}

/// Returns the gradients of `roots` with respect to `inputs`. The gradient is `None` for an input without influence, unless `unused` fails
/// for its index.
pub fn gradients(roots: &[Root], inputs: &[Target], options: Options, unused: &dyn Fn(usize) -> Result<()>) -> Result<Vec<Option<Tensor>>> {
    let mut backward = Backward::new(options);
    backward.wanted = Some(Wanted::new(inputs)?);
    backward.hooked = true;
    backward.extend(roots.iter().map(|root| &root.to))?;
    backward.run(roots)?;
    let found = crate::alloc::list(inputs.len(), |k| {
        let gradient = match &inputs[k] {
            Target::Leaf(leaf) => backward.leaves.get(&leaf.address()).and_then(|reached| reached.gradient.clone()),
            Target::Node(node, nr) => backward.wanted.as_ref().and_then(|wanted| wanted.result(node, *nr)),
        };
        if gradient.is_none() {
            unused(k)?;
        }
        Ok(gradient)
    })?;
    backward.release();
    Ok(found)
}

/// Returns the gradients of the leaves, and of the results of nodes before node number `first`, that `roots` depend on. Only the retained
/// gradients of results are stored.
pub fn gradients_before(roots: &[Root], first: u64) -> Result<Vec<(Target, Tensor)>> {
    let mut backward = Backward::new(Options { retain: true, create: false });
    backward.first = first;
    backward.extend(roots.iter().map(|root| &root.to))?;
    backward.run(roots)?;
    let mut found: Vec<(Target, Tensor)> = Vec::new();
    for (leaf, gradient) in backward.stored()? {
        found.try_reserve(1).map_err(|_| out_of_memory())?;
        found.push((Target::Leaf(leaf), gradient));
    }
    for waiting in backward.nodes.into_values().filter(|waiting| waiting.node.sequence < first) {
        for (nr, gradient) in waiting.grads.into_iter().enumerate() {
            if let Some(gradient) = gradient {
                found.try_reserve(1).map_err(|_| out_of_memory())?;
                found.push((Target::Node(waiting.node.clone(), nr as u32), gradient));
            }
        }
    }
    store(Vec::new(), backward.kept, false)?;
    Ok(found)
}

/// Returns the root of an output. Without a given gradient the gradient is 1, for an output of one element.
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
