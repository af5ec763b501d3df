//! The graph: variables, which are attached to handles, and nodes, one for each recorded operation.

use super::counted::{Counted, Part, is_light};
use crate::alloc::fork::{ForkGuard, ForkMutex};
use crate::api::callbacks::THGradHook;
use crate::api::word::Word;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Result, bail};
use crate::expr::Like;
use crate::layout::{Dims, Layout};
use crate::ops::view;
use crate::tensor::{Attached, Tensor};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The autograd state of a handle: the origin of its values and their gradient.
pub struct Variable {
    state: ForkMutex<State>,
    /// True once gradients may go through the elements. Before, the variable is only the base of views.
    active: AtomicBool,
    /// The address of the storage of a base, with [`State::home`].
    storage: AtomicUsize,
}

/// The state of a variable.
#[derive(Default)]
pub struct State {
    /// True for a leaf that requires a gradient.
    pub requires: bool,
    /// The operation that computed the values, and the index of the result.
    pub history: Option<(Counted<Node>, u32)>,
    /// True once the handle was freed, so that the gradient can no longer be read.
    pub is_gone: bool,
    /// The gradient of a leaf.
    pub grad: Option<Tensor>,
    /// The slot that keeps the gradient of a result, if it is kept.
    pub kept: Option<Counted<Slot>>,
    /// The leaf with the same values, for handles that derivatives make.
    pub stands_for: Option<Counted<Variable>>,
    /// The base and the geometry, if the handle is a view.
    pub view: Option<Box<View>>,
    /// Why a view has no part in the history of its base.
    pub cut: Option<Cut>,
    /// The layout of a base when a view was made.
    pub home: Option<Layout>,
    /// The leaves that share elements with a base, with their layouts.
    pub leaves: Vec<(Counted<Variable>, Layout)>,
    /// The generation of a base whose history comes only from such leaves.
    pub of_leaves: u64,
    /// True for a base whose handle was written with other sizes: views of the base have no history any more.
    pub is_stale: bool,
    /// The number of times that the values were replaced, from which views see that their history is old.
    pub generation: u64,
    /// Functions of the caller for the gradient of a leaf.
    pub hooks: Vec<Counted<Hook>>,
}

/// A slot for the gradient of a result, shared by the variable and the node.
#[derive(Default)]
pub struct Slot(pub ForkMutex<Option<Tensor>>);

impl Part for Slot {}
impl Part for Node {}
impl Part for Geometry {}

impl Part for Variable {
    /// Frees the gradient, which can no longer be read. Its history may lead back to its leaf.
    fn let_go(&self) {
        let mut state = self.lock();
        state.is_gone = true;
        let (gradient, hooks) = (state.grad.take(), std::mem::take(&mut state.hooks));
        drop(state);
        drop((gradient, hooks));
    }
}

/// Why a view has no part in the history of its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// `THTensor_newDetach` made the view.
    Detached,
    /// The view was made while recording was off.
    Unrecorded,
}

/// A handle that shares elements with another one.
pub struct View {
    /// The variable of the handle that the first view was made of.
    pub base: Counted<Variable>,
    /// The generation of the base that the history of the view comes from.
    pub seen: Option<u64>,
    /// The layouts of the base and of the view.
    pub geometry: Counted<Geometry>,
}

/// The layouts of a base and of its view in one storage.
#[derive(Clone)]
pub struct Geometry {
    /// The layout of the base.
    pub base: Layout,
    /// The layout of the view.
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
    /// The function and, for a result of a node, the index of the result.
    pub function: THGradHook,
    pub output: u32,
    pub context: *mut c_void,
    pub deleter: crate::alloc::THDeleter,
}

// SAFETY: the header requires that any thread may use the caller's function and context.
unsafe impl Send for Hook {}
// SAFETY: as above.
unsafe impl Sync for Hook {}

// A run of backward holds the hooks that it calls, which may remove one another meanwhile.
impl Part for Hook {}

impl Drop for Hook {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // SAFETY: the caller guarantees that its function may be called once with its context.
            unsafe { deleter(self.context, self.context) }
        }
    }
}

/// The target of a gradient.
#[derive(Clone)]
pub enum Target {
    /// A leaf.
    Leaf(Counted<Variable>),
    /// A result of a node.
    Node(Counted<Node>, u32),
}

/// An input of a node that needs a gradient.
pub struct Edge {
    /// The target of its gradient.
    pub to: Target,
    /// Its index among the arguments.
    pub place: u16,
    /// Its index in the list if the argument is a list, else 0.
    pub entry: u16,
    /// Its shape, dtype and device.
    pub like: Like,
}

/// A tensor that a node keeps for its derivative.
pub struct SavedTensor {
    pub place: u16,
    pub entry: u16,
    /// A separate handle on the elements.
    pub tensor: Tensor,
    /// The version of the storage when it was saved.
    pub version: u64,
    /// The index of the result, if the tensor is a result of the node.
    pub output: Option<u32>,
}

/// The arguments and tensors that a node saves from the call.
#[derive(Default)]
pub struct Saved {
    /// The arguments. Only the words that are numbers are still valid.
    pub words: SmallVec<[Word; 8]>,
    /// The arguments that are lists, by index.
    pub lists: Vec<(u16, Vec<i64>)>,
    /// The argument that is a text.
    pub text: Option<std::ffi::CString>,
    pub tensors: SmallVec<[SavedTensor; 2]>,
    /// The shapes of inputs: the index of the argument, the index in a list, and the shape.
    pub shapes: Vec<(u16, u16, Dims)>,
}

/// The derivative of an operation.
pub trait Backward: Send + Sync {
    /// The name of the operation.
    fn name(&self) -> &str;
    /// Fails if tensors that the rule itself saved were released or changed.
    fn check(&self) -> Result<()> {
        Ok(())
    }
    /// Returns true if the rule may find gradients of tensors that are no inputs of the node.
    fn captures(&self) -> bool {
        false
    }
    /// Frees the tensors that the rule itself saved.
    fn release(&self) {}
    /// Computes the gradients of the inputs of a node from the gradients of its results.
    fn apply(&self, step: &mut Step<'_>) -> Result<()>;
}

/// The source of the derivative of a node.
pub enum Rule {
    /// The table of derivatives.
    Table(&'static dyn Backward),
    /// A rule of the node itself.
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
    pub(super) saved: ForkMutex<Option<Saved>>,
    pub(super) watched: ForkMutex<Watched>,
}

/// The observers of the gradients of a node's results.
#[derive(Default)]
pub struct Watched {
    pub hooks: Vec<Counted<Hook>>,
    /// The slots that keep the gradients of results. A variable removes its slot from the list before it ends.
    pub kept: Vec<(u32, Counted<Slot>)>,
}

/// The call of a derivative.
pub struct Step<'a> {
    pub node: &'a Counted<Node>,
    /// The gradients of the results; `None` is 0.
    pub grads: &'a [Option<Tensor>],
    /// The gradients of the edges, to be filled in.
    pub given: SmallVec<[Option<Tensor>; 2]>,
    /// True if the derivative is recorded itself.
    pub recording: bool,
    /// Gradients of tensors that are no inputs of the node, to be filled in by a rule that captures them.
    pub captured: Vec<(Target, Tensor)>,
    /// Finds the target of the gradient of a tensor.
    pub target: TargetOf,
}

/// A function that finds the target of the gradient of a tensor.
pub type TargetOf = fn(&Tensor) -> Result<Option<Target>>;

static SEQUENCE: AtomicU64 = AtomicU64::new(0);

impl Node {
    /// A new node, after all others.
    pub fn new(rule: Rule, edges: SmallVec<[Edge; 2]>, outputs: SmallVec<[Like; 1]>, saved: Saved) -> Result<Counted<Node>> {
        let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
        Counted::new(Node { rule, sequence, edges, outputs, saved: ForkMutex::new(Some(saved)), watched: ForkMutex::default() })
    }

    /// Orders the node after all others.
    pub fn renumber(&mut self) {
        self.sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
    }

    /// The derivative.
    pub fn rule(&self) -> &dyn Backward {
        match &self.rule {
            Rule::Table(rule) => *rule,
            Rule::Own(rule) => &**rule,
        }
    }

    /// The saved arguments and tensors; `None` once they were released.
    pub fn saved(&self) -> ForkGuard<'_, Option<Saved>> {
        self.saved.lock()
    }

    /// The observers of the gradients.
    pub fn watched(&self) -> ForkGuard<'_, Watched> {
        self.watched.lock()
    }

    /// Fails if backward cannot run because saved tensors were released or changed.
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

/// Returns a handle on a saved tensor with its history, for the derivative of a derivative. The tensor is the result `output` of the node,
/// or an input, whose gradient goes along `edge`.
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
        let active = state.requires || state.history.is_some() || state.stands_for.is_some() || state.view.is_some();
        Counted::new(Variable { state: ForkMutex::new(state), active: AtomicBool::new(active), storage: AtomicUsize::new(0) })
    }

    /// The state, locked. A view may lock its base while it is locked, and nothing else.
    pub fn lock(&self) -> ForkGuard<'_, State> {
        self.state.lock()
    }

    /// Returns true once gradients may go through the elements.
    #[inline(always)]
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed)
    }

    /// Allows gradients to go through the elements from now on.
    pub fn activate(&self) {
        self.active.store(true, Ordering::Relaxed);
    }

    /// Returns the address of the storage of a base; 0 before the first view.
    #[inline(always)]
    pub fn storage(&self) -> usize {
        self.storage.load(Ordering::Relaxed)
    }

    /// Sets the address of the storage of a base and the layout in that storage.
    pub fn set_home(&self, state: &mut State, storage: usize, layout: &Layout) {
        if self.storage() != storage || state.home.as_ref() != Some(layout) {
            self.storage.store(storage, Ordering::Relaxed);
            state.home = Some(layout.clone());
        }
    }
}

impl State {
    /// Sets the operation that computed the values. A kept gradient is from now on the gradient of the new values. Returns the old
    /// operation, which must be dropped after the state is unlocked, because a graph may end with it and call functions of the caller.
    #[must_use]
    pub fn set_history(&mut self, history: Option<(Counted<Node>, u32)>) -> Option<(Counted<Node>, u32)> {
        let kept = self.stop_keeping();
        if let (Some(slot), Some((node, nr))) = (kept, &history) {
            let mut watched = node.watched();
            if watched.kept.try_reserve(1).is_ok() {
                watched.kept.push((*nr, slot.clone()));
                self.kept = Some(slot);
            }
        }
        std::mem::replace(&mut self.history, history)
    }

    /// Removes the slot from the list of the node.
    fn stop_keeping(&mut self) -> Option<Counted<Slot>> {
        let slot = self.kept.take()?;
        if let Some((node, _)) = &self.history {
            node.watched().kept.retain(|(_, other)| other.address() != slot.address());
        }
        Some(slot)
    }

    /// Returns the gradient of the values.
    pub fn gradient(&self) -> Option<Tensor> {
        match &self.kept {
            Some(slot) => slot.0.lock().clone(),
            None => self.grad.clone(),
        }
    }

    /// Replaces the gradient of the values. Returns the old gradient, which must be dropped after the state is unlocked.
    #[must_use]
    pub fn set_gradient(&mut self, gradient: Option<Tensor>) -> Option<Tensor> {
        match &self.kept {
            Some(slot) => std::mem::replace(&mut *slot.0.lock(), gradient),
            None => std::mem::replace(&mut self.grad, gradient),
        }
    }
}

impl Drop for Variable {
    fn drop(&mut self) {
        drop(self.state.get_mut().stop_keeping());
    }
}

/// The variable that is attached to a handle.
pub enum Known {
    /// The handle's own variable.
    Own(Counted<Variable>),
    /// The variable of the base that the handle is a view of.
    ViewOf(Counted<Variable>),
}

/// Calls `f` with the variable that is attached to a handle, and with true if the variable belongs to the base of the handle.
#[inline(always)]
fn with_attached<R>(t: &Tensor, f: impl FnOnce(&Counted<Variable>, bool) -> R) -> Option<R> {
    let attached = NonNull::new(t.attached().load(Ordering::Acquire))?;
    let is_light = is_light(attached);
    // SAFETY: only this layer attaches data, and only variables. The handle keeps its reference.
    let held = std::mem::ManuallyDrop::new(unsafe {
        if is_light { Counted::<Variable>::from_light(attached) } else { Counted::<Variable>::from_attached(attached) }
    });
    Some(f(&held, is_light))
}

/// The autograd state that is attached to a handle.
pub fn known(t: &Tensor) -> Option<Known> {
    with_attached(t, |variable, is_light| if is_light { Known::ViewOf(variable.clone()) } else { Known::Own(variable.clone()) })
}

/// The handle's own variable, if it has one.
pub fn variable(t: &Tensor) -> Option<Counted<Variable>> {
    with_attached(t, |variable, is_light| (!is_light).then(|| variable.clone()))?
}

/// Returns true if gradients may go through the elements of a handle.
#[inline(always)]
pub fn is_active(t: &Tensor) -> bool {
    with_attached(t, |variable, _| variable.is_active()).unwrap_or(false)
}

/// Returns true if gradients know of the handle.
#[inline(always)]
pub fn is_known(t: &Tensor) -> bool {
    !t.attached().load(Ordering::Relaxed).is_null()
}

/// Attaches `variable` to a handle, in place of its previous variable.
pub fn attach(t: &Tensor, variable: Option<Counted<Variable>>) {
    replace(t, variable.map_or(null_mut(), |variable| variable.into_attached().as_ptr()));
}

/// Makes a handle a view of the base with this variable. The handle loses its previous variable.
pub fn attach_light(t: &Tensor, base: Counted<Variable>) {
    replace(t, base.into_light().as_ptr());
}

fn replace(t: &Tensor, new: *mut Attached) {
    let old = t.attached().swap(new, Ordering::AcqRel);
    if let Some(old) = NonNull::new(old) {
        // SAFETY: the reference belongs to the handle.
        unsafe { ((*old.as_ptr()).release)(old) }
    }
}

/// Attaches a new variable to a handle without one.
pub fn own_variable(t: &Tensor) -> Result<Counted<Variable>> {
    attach_after(t, null_mut(), Variable::new(State::default())?)
}

/// Attaches a variable to a handle to which `before` was attached, unless another thread was faster, and returns the handle's variable.
/// Threads that read one handle therefore share one variable.
pub fn attach_after(t: &Tensor, before: *mut Attached, new: Counted<Variable>) -> Result<Counted<Variable>> {
    let new = new.into_attached();
    match t.attached().compare_exchange(before, new.as_ptr(), Ordering::AcqRel, Ordering::Acquire) {
        Ok(old) => {
            if let Some(old) = NonNull::new(old) {
                // SAFETY: the reference belongs to the handle.
                unsafe { ((*old.as_ptr()).release)(old) }
            }
        }
        // SAFETY: the reference was made above, and no handle owns it.
        Err(_) => drop(unsafe { Counted::<Variable>::from_attached(new) }),
    }
    match variable(t) {
        Some(variable) => Ok(variable),
        None => Err(Error::new(crate::error::Kind::Internal, format_args!("the variable of a handle is gone"))),
    }
}
