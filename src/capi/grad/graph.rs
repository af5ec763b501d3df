//! The graph: variables, which handles have, and nodes, which recorded operations leave.

use super::counted::{Counted, Part};
use crate::capi::face::callbacks::THGradHook;
use crate::capi::face::word::Word;
use crate::capi::words::Like;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Result, bail};
use crate::layout::{Dims, Layout};
use crate::ops::view;
use crate::tensor::{Attached, Tensor};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What gradients know of a handle: the values that its elements are, wherever they come from.
pub struct Variable(Mutex<State>);

/// The state of a variable.
#[derive(Default)]
pub struct State {
    /// True for a leaf whose gradient is wanted.
    pub requires: bool,
    /// The operation that computed the values, and which of its results they are.
    pub history: Option<(Counted<Node>, u32)>,
    /// True once the handle is gone: nobody can ask for the gradient.
    pub is_gone: bool,
    /// The gradient of a leaf.
    pub grad: Option<Tensor>,
    /// Where the gradient of a result is kept, if it is.
    pub kept: Option<Counted<Slot>>,
    /// The leaf that these values are, for handles that derivatives make.
    pub stands_for: Option<Counted<Variable>>,
    /// What the handle is a view of.
    pub view: Option<Box<View>>,
    /// The number of times that the values were replaced, from which views see that their history is old.
    pub generation: u64,
    /// Functions of the caller for the gradient of a leaf.
    pub hooks: Vec<Counted<Hook>>,
}

/// A place for the gradient of a result, which the variable and the node have.
#[derive(Default)]
pub struct Slot(pub Mutex<Option<Tensor>>);

impl Part for Slot {}
impl Part for Node {}
impl Part for Geometry {}

impl Part for Variable {
    /// A gradient that nobody can ask for any more is freed: it may have a history that leads back to its leaf.
    fn let_go(&self) {
        let mut state = self.lock();
        state.is_gone = true;
        let (gradient, hooks) = (state.grad.take(), std::mem::take(&mut state.hooks));
        drop(state);
        drop((gradient, hooks));
    }
}

/// A handle that shares elements with another one.
pub struct View {
    /// The variable of the handle that the first view was made of.
    pub base: Counted<Variable>,
    /// The generation of the base that the history of the view comes from.
    pub seen: Option<u64>,
    /// Where the elements lie.
    pub geometry: Counted<Geometry>,
}

/// The elements of a view among those of its base, in layouts of one storage.
#[derive(Clone)]
pub struct Geometry {
    /// All elements of the base.
    pub base: Layout,
    /// Those of the view.
    pub view: Layout,
    /// The dtype of both.
    pub dtype: Dtype,
    /// The device of both.
    pub device: Device,
}

/// A function of the caller.
pub struct Hook {
    /// The number that it is removed by.
    pub id: i64,
    /// The function, and where a result of a node is meant, which.
    pub function: THGradHook,
    pub output: u32,
    pub context: *mut c_void,
    pub deleter: crate::alloc::THDeleter,
}

// SAFETY: the caller's function and context, which the header says may be used by any thread.
unsafe impl Send for Hook {}
// SAFETY: as above.
unsafe impl Sync for Hook {}

// A run of backward holds the hooks that it calls, which may remove one another meanwhile.
impl Part for Hook {}

impl Drop for Hook {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // SAFETY: the caller's, called once.
            unsafe { deleter(self.context, self.context) }
        }
    }
}

/// Where a gradient goes.
#[derive(Clone)]
pub enum Target {
    /// To a leaf.
    Leaf(Counted<Variable>),
    /// To a node, as the gradient of one of its results.
    Node(Counted<Node>, u32),
}

/// An input of a node that needs a gradient.
pub struct Edge {
    /// Where its gradient goes.
    pub to: Target,
    /// Its place among the arguments.
    pub place: u16,
    /// Its place in the list that is the argument, or 0.
    pub entry: u16,
    /// Its shape, dtype and device.
    pub like: Like,
}

/// A tensor that a node keeps for its derivative.
pub struct SavedTensor {
    pub place: u16,
    pub entry: u16,
    /// A handle of the node's own on the elements.
    pub tensor: Tensor,
    /// The version of the storage when it was saved.
    pub version: u64,
    /// Which result of the node it is, if it is one.
    pub output: Option<u32>,
}

/// What a node keeps of the call.
#[derive(Default)]
pub struct Saved {
    /// The arguments that are numbers; other words are not valid any more.
    pub words: SmallVec<[Word; 8]>,
    /// The arguments that are lists, by place.
    pub lists: Vec<(u16, Vec<i64>)>,
    /// The argument that is a text.
    pub text: Option<std::ffi::CString>,
    pub tensors: SmallVec<[SavedTensor; 2]>,
    /// The shapes of inputs: the place, the place in a list, and the shape.
    pub shapes: Vec<(u16, u16, Dims)>,
}

/// The derivative of an operation.
pub trait Backward: Send + Sync {
    /// The name of the operation.
    fn name(&self) -> &str;
    /// Fails where what the rule keeps itself was released, or changed since.
    fn check(&self) -> Result<()> {
        Ok(())
    }
    /// Frees what the rule keeps itself.
    fn release(&self) {}
    /// Computes the gradients of the inputs of a node from those of its results.
    fn apply(&self, step: &mut Step<'_>) -> Result<()>;
}

/// Where the derivative of a node comes from.
pub enum Rule {
    /// The table.
    Table(&'static dyn Backward),
    /// The node itself.
    Own(Box<dyn Backward>),
}

/// An operation that was recorded.
pub struct Node {
    pub rule: Rule,
    /// Later nodes have greater numbers.
    pub sequence: u64,
    pub edges: SmallVec<[Edge; 2]>,
    /// The results that are floats.
    pub outputs: SmallVec<[Like; 1]>,
    pub(super) saved: Mutex<Option<Saved>>,
    pub(super) watched: Mutex<Watched>,
}

/// Who looks on at the gradients of a node's results.
#[derive(Default)]
pub struct Watched {
    pub hooks: Vec<Counted<Hook>>,
    /// Where the gradients of results are kept. A variable takes its slot off the list before it ends.
    pub kept: Vec<(u32, Counted<Slot>)>,
}

/// The call of a derivative.
pub struct Step<'a> {
    pub node: &'a Counted<Node>,
    /// The gradients of the results; `None` stands for 0.
    pub grads: &'a [Option<Tensor>],
    /// The gradients of the edges, to be filled in.
    pub given: SmallVec<[Option<Tensor>; 2]>,
    /// True if the derivative is recorded itself.
    pub recording: bool,
    /// Finds where the gradient of a tensor goes.
    pub target: TargetOf,
}

/// A function that finds where the gradient of a tensor goes.
pub type TargetOf = fn(&Tensor) -> Result<Option<Target>>;

static SEQUENCE: AtomicU64 = AtomicU64::new(0);

impl Node {
    /// A new node, after all others.
    pub fn new(rule: Rule, edges: SmallVec<[Edge; 2]>, outputs: SmallVec<[Like; 1]>, saved: Saved) -> Result<Counted<Node>> {
        let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
        Counted::new(Node { rule, sequence, edges, outputs, saved: Mutex::new(Some(saved)), watched: Mutex::default() })
    }

    /// The derivative.
    pub fn rule(&self) -> &dyn Backward {
        match &self.rule {
            Rule::Table(rule) => *rule,
            Rule::Own(rule) => &**rule,
        }
    }

    /// What the node keeps, `None` once it was released.
    pub fn saved(&self) -> MutexGuard<'_, Option<Saved>> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who looks on at the gradients.
    pub fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails where backward cannot run: what the node kept was released, or changed since.
    pub fn check(&self) -> Result<()> {
        self.rule().check()?;
        let saved = self.saved();
        let Some(saved) = &*saved else {
            bail!(
                Argument,
                "backward runs a second time through {}, whose saved tensors were freed by the first: that one should retain the graph",
                self.rule().name()
            )
        };
        for kept in &saved.tensors {
            let now = version_of(&kept.tensor);
            if now != kept.version {
                let shape = kept.tensor.layout().map_or(Dims::new(), |layout| layout.shape);
                bail!(
                    Argument,
                    "a tensor of shape {:?} that the gradient of {} needs was changed in place: it is at version {now}, and was saved at \
                     version {}",
                    shape.as_slice(),
                    self.rule().name(),
                    kept.version
                )
            }
        }
        Ok(())
    }
}

/// A handle on what a node saved that knows where it came from, for the derivative of a derivative: from the node itself, as its result
/// `output`, or from an input, whose gradient goes along `edge`.
pub fn with_origin(t: &Tensor, node: &Counted<Node>, output: Option<u32>, edge: Option<&Edge>) -> Result<Tensor> {
    let handle = view::alias(t)?;
    let state = match (output, edge.map(|edge| &edge.to)) {
        (Some(nr), _) => State { history: Some((node.clone(), nr)), ..State::default() },
        (None, Some(Target::Node(node, nr))) => State { history: Some((node.clone(), *nr)), ..State::default() },
        (None, Some(Target::Leaf(leaf))) => State { stands_for: Some(leaf.clone()), ..State::default() },
        (None, None) => return Ok(handle),
    };
    attach(&handle, Some(Variable::new(state)?));
    Ok(handle)
}

/// The version of the storage of a tensor; 0 without one.
pub fn version_of(t: &Tensor) -> u64 {
    t.version().map_or(0, |version| version.load(Ordering::Relaxed))
}

impl Variable {
    /// A variable in this state.
    pub fn new(state: State) -> Result<Counted<Variable>> {
        Counted::new(Variable(Mutex::new(state)))
    }

    /// The state, locked. A view may lock its base while it is locked, and nothing else.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Sets what computed the values; the gradient of what did before is kept no more. Returns what did, which is to be dropped once the
    /// state is unlocked: a graph may end with it, and functions of the caller be called.
    #[must_use]
    pub fn set_history(&mut self, history: Option<(Counted<Node>, u32)>) -> Option<(Counted<Node>, u32)> {
        self.stop_keeping();
        std::mem::replace(&mut self.history, history)
    }

    /// Takes the slot off the list of the node.
    fn stop_keeping(&mut self) {
        if let (Some(slot), Some((node, _))) = (self.kept.take(), &self.history) {
            node.watched().kept.retain(|(_, other)| other.address() != slot.address());
        }
    }
}

impl Drop for Variable {
    fn drop(&mut self) {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).stop_keeping();
    }
}

/// The variable of a handle, if gradients know of it.
pub fn variable(t: &Tensor) -> Option<Counted<Variable>> {
    let attached = NonNull::new(t.attached().load(Ordering::Acquire))?;
    // SAFETY: only this layer attaches, and only variables; the handle's own reference stays with it.
    let held = std::mem::ManuallyDrop::new(unsafe { Counted::<Variable>::from_attached(attached) });
    Some(Counted::clone(&held))
}

/// Returns true if gradients know of the handle.
#[inline(always)]
pub fn is_known(t: &Tensor) -> bool {
    !t.attached().load(Ordering::Relaxed).is_null()
}

/// Makes `variable` that of a handle, in place of the one it had.
pub fn attach(t: &Tensor, variable: Option<Counted<Variable>>) {
    let new = variable.map_or(null_mut(), |variable| variable.into_attached().as_ptr());
    let old = t.attached().swap(new, Ordering::AcqRel);
    if let Some(old) = NonNull::new(old) {
        // SAFETY: the handle's own reference.
        let old = unsafe { Counted::<Variable>::from_attached(old) };
        old.let_go();
    }
}

/// The variable of a handle, which gets a new one where it has none. Handles that several threads read get one.
pub fn variable_or_new(t: &Tensor) -> Result<Counted<Variable>> {
    if let Some(variable) = variable(t) {
        return Ok(variable);
    }
    let new: NonNull<Attached> = Variable::new(State::default())?.into_attached();
    let set = t.attached().compare_exchange(null_mut(), new.as_ptr(), Ordering::AcqRel, Ordering::Acquire);
    if set.is_err() {
        // SAFETY: the reference made above, which no handle has.
        drop(unsafe { Counted::<Variable>::from_attached(new) });
    }
    match variable(t) {
        Some(variable) => Ok(variable),
        None => Err(Error::new(crate::error::Kind::Internal, format_args!("the variable of a handle is gone"))),
    }
}
