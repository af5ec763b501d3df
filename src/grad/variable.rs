//! The target of a handle's gradient, and the history of a handle after a write.
//!
//! The rule for views: the elements of all views belong to one *base*, the handle that the first view was made of. Each view knows the
//! variable of its base. A write through any of the handles gives the base a new history, from which the other views take theirs when
//! they are next read. While no history is involved, a view is a reference to the variable of its base and nothing more (`shared.rs`).

use super::counted::Counted;
use super::geometry::{contains, set_base, set_edges, view_node, write_node};
use super::graph::{Cut, Geometry, Known, Node, State, Target, Variable, View, attach, attach_after, is_active, is_known, known};
use crate::alloc;
use crate::error::{Error, Kind, Result, bail};
use crate::layout::Layout;
use crate::storage::{HAS_HISTORY, IS_SHARED};
use crate::tensor::Tensor;
use std::sync::atomic::Ordering;

/// The target of a handle's gradient; `None` if the handle needs no gradient.
pub fn target(t: &Tensor) -> Result<Option<Target>> {
    if !is_active(t) {
        return Ok(None);
    }
    match current(t)? {
        Some(variable) => target_of(&variable),
        None if has_left(t) => Ok(None),
        None => bail!(
            Argument,
            "a tensor that has a history was laid out anew, and has elements that are not its own: call THTensor_reset, or make it anew"
        ),
    }
}

/// Returns true if a handle has left the memory that its variable describes.
fn has_left(t: &Tensor) -> bool {
    let (known, storage) = (known(t), t.storage_address());
    match known {
        None => true,
        Some(Known::ViewOf(base)) => base.storage() != storage,
        Some(Known::Own(variable)) => {
            let state = variable.lock();
            state.view.as_ref().map_or_else(|| variable.storage(), |view| view.base.storage()) != storage
        }
    }
}

/// Returns the handle's own variable for its current layout; a view of a base gets one here. `None` if the handle has no variable.
pub fn current(t: &Tensor) -> Result<Option<Counted<Variable>>> {
    match known(t) {
        None => Ok(None),
        Some(Known::ViewOf(base)) => view_of(t, &base),
        Some(Known::Own(variable)) => as_laid_out(t, variable),
    }
}

/// Returns the handle's own variable, or attaches a new one.
pub fn current_or_new(t: &Tensor) -> Result<Counted<Variable>> {
    match current(t)? {
        Some(variable) => Ok(variable),
        None => attach_after(t, t.attached().load(Ordering::Acquire), Variable::new(State::default())?),
    }
}

/// The new variable of a handle that is a view of a base; `None` if the handle has left the memory of the base.
fn view_of(t: &Tensor, base: &Counted<Variable>) -> Result<Option<Counted<Variable>>> {
    let before = t.attached().load(Ordering::Acquire);
    if base.storage() != t.storage_address() {
        return Ok(None);
    }
    let Some(home) = base.lock().home.clone() else { return Ok(None) };
    let view = new_view(t, base.clone(), home)?;
    let variable = Variable::new(State { view: Some(view), ..State::default() })?;
    attach_after(t, before, variable).map(Some)
}

/// Returns a new view of a base, without a history so far.
fn new_view(t: &Tensor, base: Counted<Variable>, home: Layout) -> Result<Box<View>> {
    // The base keeps its layout from now on.
    base.activate();
    let geometry = Counted::new(Geometry { base: home, view: t.layout()?, dtype: t.defined()?, device: t.device() })?;
    match alloc::boxed(View { base, seen: None, geometry }) {
        Some(view) => Ok(view),
        None => bail!(NoMem, "out of memory for a view"),
    }
}

/// The variable of a handle whose sizes or place in memory may have changed since the variable was made. A base that shows other elements
/// of its memory than before becomes a view of its old elements.
fn as_laid_out(t: &Tensor, variable: Counted<Variable>) -> Result<Option<Counted<Variable>>> {
    let state = variable.lock();
    if state.requires || state.stands_for.is_some() || (state.view.is_none() && state.home.is_none()) {
        drop(state);
        return Ok(Some(variable));
    }
    let (base, home, shown) = match &state.view {
        Some(view) => (view.base.clone(), view.geometry.base.clone(), view.geometry.view.clone()),
        None => {
            let home = state.home.clone().unwrap_or_else(|| Layout::contiguous(&[]));
            (variable.clone(), home.clone(), home)
        }
    };
    let (is_base, cut, seen) = (state.view.is_none(), state.cut, state.view.as_ref().and_then(|view| view.seen));
    drop(state);
    let layout = t.layout()?;
    if is_base && variable.storage() != t.storage_address() {
        return Ok(None);
    }
    if layout == shown {
        return Ok(Some(variable));
    }
    if !contains(&home, &layout) {
        super::shared::mark_shared(t);
        return Ok(None);
    }
    let mut view = new_view(t, base, home)?;
    view.seen = seen.filter(|_| cut.is_some());
    let moved = Variable::new(State { view: Some(view), cut, ..State::default() })?;
    attach_after(t, t.attached().load(Ordering::Acquire), moved).map(Some)
}

/// Returns true if two layouts of one storage may share an element. The answer is exact for layouts of one shape and the same strides.
fn share_elements(a: &Layout, b: &Layout) -> bool {
    let end = |layout: &Layout| layout.end().unwrap_or(i64::MAX);
    if a.offset >= end(b) || b.offset >= end(a) {
        return false;
    }
    if a.shape != b.shape || a.strides != b.strides {
        return true;
    }
    let (mut shape, mut strides) = (a.shape.clone(), a.strides.clone());
    shape.insert(0, 2);
    strides.insert(0, (a.offset - b.offset).abs());
    Layout { shape, strides, offset: a.offset.min(b.offset) }.overlaps_itself()
}

impl State {
    /// Notes the elements of a base that a leaf shows. The list has room for one more.
    pub fn note_leaf(&mut self, leaf: Counted<Variable>, layout: &Layout) {
        self.leaves.push((leaf, layout.clone()));
        self.of_leaves = self.generation;
    }

    /// Returns true if a leaf may show elements of a base in this layout.
    pub fn overlaps_leaf(&self, layout: &Layout) -> bool {
        let is_live = |leaf: &Counted<Variable>| {
            let leaf = leaf.lock();
            leaf.requires && !leaf.is_gone
        };
        self.leaves.iter().any(|(leaf, shown)| share_elements(shown, layout) && is_live(leaf))
    }

    /// Returns true if the history of a base comes from leaves alone, and a view in this layout shows no element of a leaf.
    fn is_apart(&self, layout: &Layout) -> bool {
        !self.leaves.is_empty() && self.of_leaves == self.generation && !self.leaves.iter().any(|(_, shown)| share_elements(shown, layout))
    }
}

/// The target of a locked variable's gradient.
pub fn held(variable: &Counted<Variable>, state: &State) -> Option<Target> {
    if state.requires {
        return Some(Target::Leaf(variable.clone()));
    }
    if let Some(leaf) = &state.stands_for {
        return Some(Target::Leaf(leaf.clone()));
    }
    state.history.clone().map(|(node, k)| Target::Node(node, k))
}

fn overwritten() -> Result<Option<Target>> {
    bail!(Argument, "elements of a tensor were overwritten by a result of other sizes in the same memory: make the tensor or its view anew")
}

/// The target of a variable's gradient. A view takes the history of its base anew if the base was written since.
pub fn target_of(variable: &Counted<Variable>) -> Result<Option<Target>> {
    let mut ended = None;
    let mut state = variable.lock();
    if state.is_stale && state.view.is_none() {
        return overwritten();
    }
    if !state.requires
        && let Some(view) = &state.view
    {
        let base = view.base.lock();
        if view.seen != Some(base.generation) {
            if base.is_stale {
                return overwritten();
            }
            if state.cut.is_some() {
                return match held(&view.base, &base) {
                    None => Ok(None),
                    Some(_) => {
                        bail!(Argument, "a tensor was detached, and a tensor with its elements got a history since: detach it anew")
                    }
                };
            }
            let (seen, to) = (Some(base.generation), held(&view.base, &base).filter(|_| !base.is_apart(&view.geometry.view)));
            drop(base);
            let history = match to {
                Some(to) => {
                    view.geometry.check_base()?;
                    Some((view_node(&view.geometry, to)?, 0))
                }
                None => None,
            };
            ended = state.set_history(history);
            if let Some(view) = &mut state.view {
                view.seen = seen;
            }
        }
    }
    let target = held(variable, &state);
    drop(state);
    drop(ended);
    Ok(target)
}

/// A handle before a call that writes to it, and all memory that the history of the result will need.
pub struct Before {
    /// The address of its storage.
    pub storage: usize,
    /// Its variable, if it had one.
    pub variable: Option<Counted<Variable>>,
    /// The variable of a result in new memory.
    fresh: Option<Counted<Variable>>,
    /// The nodes of a write into a view: of the base, and of the view after it.
    nodes: Option<[Counted<Node>; 2]>,
}

impl Before {
    /// A handle now, which gets a history if `gets_history`.
    pub fn of(t: &Tensor, gets_history: bool) -> Result<Before> {
        let variable = current(t)?;
        let mut nodes = None;
        if let Some(variable) = &variable {
            let state = variable.lock();
            if let Some(view) = &state.view
                && (gets_history || held(&view.base, &view.base.lock()).is_some())
            {
                nodes = Some(nodes_of_write(variable, view)?);
            }
        }
        let fresh = if gets_history { Some(Variable::new(State::default())?) } else { None };
        Ok(Before { storage: t.storage_address(), variable, fresh, nodes })
    }
}

fn refuse(t: &Tensor, what: std::fmt::Arguments<'_>) -> Result<()> {
    Err(Error::about(t.as_ptr().addr(), Kind::Argument, what))
}

/// Returns true if a handle without a variable may show elements with a history.
#[inline(always)]
pub fn may_hide(t: &Tensor) -> bool {
    t.borrow_storage().is_some_and(|storage| storage.has_mark(HAS_HISTORY) && (storage.has_mark(IS_SHARED) || !is_known(t)))
}

/// Fails for a handle that must not be written while operations are recorded: a leaf that requires a gradient, or a view of such a leaf.
pub fn check_writable(t: &Tensor) -> Result<()> {
    if may_hide(t)
        && let Some(storage) = t.borrow_storage()
        && storage.refcount() > if storage.has_mark(IS_SHARED) { 1 } else { 2 }
    {
        return refuse(t, format_args!("shares its elements with a tensor that has a history, from which it was not made: {INSTEAD}"));
    }
    if !is_active(t) {
        return Ok(());
    }
    let Some(variable) = current(t)? else { return Ok(()) };
    let state = variable.lock();
    if state.requires {
        return refuse(t, format_args!("is a leaf that requires a gradient, and would be changed in place; {INSTEAD}"));
    }
    let of_leaf = |state: &State| match t.layout().is_ok_and(|layout| state.overlaps_leaf(&layout)) {
        true => {
            refuse(t, format_args!("shares its elements with a leaf that requires a gradient, which would be changed in place; {INSTEAD}"))
        }
        false => Ok(()),
    };
    let Some(view) = &state.view else { return of_leaf(&state) };
    let base = view.base.lock();
    match state.cut {
        Some(Cut::Unrecorded) if held(&view.base, &base).is_some() => refuse(
            t,
            format_args!("is a view that was made while recording was off, of a tensor that has a history, which would change; {INSTEAD}"),
        ),
        None if base.requires => {
            refuse(t, format_args!("is a view of a leaf that requires a gradient, and would be changed in place; {INSTEAD}"))
        }
        _ => of_leaf(&base),
    }
}

/// The advice of a refused write.
const INSTEAD: &str = "write to it between THGrad_setEnabled(0) and THGrad_setEnabled(1)";

/// Fails for a leaf that requires a gradient, whose geometry may not change.
pub fn check_own_geometry(t: &Tensor) -> Result<()> {
    match super::graph::variable(t) {
        Some(variable) if variable.lock().requires => {
            refuse(t, format_args!("is a leaf that requires a gradient, and keeps its elements, sizes and strides"))
        }
        _ => Ok(()),
    }
}

/// Fails for a handle that cannot get a history with new elements: if an unknown handle shares the elements, if positions of the handle
/// share elements, or if the elements belong to a leaf.
pub fn check_result(t: &Tensor) -> Result<()> {
    let Some(storage) = t.borrow_storage() else { return Ok(()) };
    if t.layout().is_ok_and(|layout| layout.overlaps_itself()) {
        return refuse(t, format_args!("has several positions for one element, and would get a history"));
    }
    if let Some(variable) = current(t)?
        && let state = variable.lock()
        && let Some(view) = &state.view
        && state.cut.is_some()
        && view.base.lock().requires
    {
        return refuse(t, format_args!("shares its elements with a leaf that requires a gradient, and would get a history"));
    }
    let is_shared = storage.has_mark(IS_SHARED);
    // A tensor that a recorded operation saved is a reference, too.
    if storage.refcount() <= if is_shared { 1 } else { 2 } || (is_known(t) && !is_shared) {
        return Ok(());
    }
    refuse(
        t,
        format_args!(
            "cannot take a recorded result, because a storage that the program holds, or a tensor that was made of the storage or before \
             the first use of gradients, shares its elements: pass a fresh result, or free the other handle first"
        ),
    )
}

/// Sets the operation that computed the written elements of `t`; `None` if no gradient goes through them. The memory for a result of the
/// sizes of `t` is already allocated. If memory for a result of other sizes runs out, other handles on the elements lose their history.
pub fn settle(t: &Tensor, before: &mut Before, history: Option<(Counted<Node>, u32)>) -> Result<()> {
    if let (Some(_), Some(storage)) = (&history, t.borrow_storage()) {
        storage.mark(HAS_HISTORY);
    }
    let in_place = before.storage == t.storage_address() && before.storage != 0;
    let Some(variable) = before.variable.take().filter(|_| in_place) else { return begin(t, before, history) };
    let own = match as_laid_out(t, variable.clone()) {
        Ok(Some(own)) => own,
        _ => {
            forget(t, &variable);
            return begin(t, before, history);
        }
    };
    if own.address() != variable.address() {
        before.nodes = None;
    }
    let mut state = own.lock();
    let Some(view) = &state.view else {
        (state.is_stale, state.generation) = (false, state.generation + 1);
        if history.is_some() {
            own.activate();
        }
        let ended = state.set_history(history);
        drop(state);
        drop(ended);
        return Ok(());
    };
    let (of_leaf, has_history) = {
        let base = view.base.lock();
        (base.requires, history.is_some() || held(&view.base, &base).is_some())
    };
    // The values of a leaf have changed through a detached view, and the leaf stays one; or no gradient is concerned.
    if of_leaf || !has_history {
        return Ok(());
    }
    let nodes = match before.nodes.take() {
        Some(nodes) => Ok(nodes),
        None => nodes_of_write(&own, view),
    };
    let Ok(nodes) = nodes else {
        drop(state);
        forget(t, &own);
        return begin(t, before, history);
    };
    let ended = write_through(&mut state, nodes, history)?;
    drop(state);
    drop(ended);
    Ok(())
}

/// Gives a handle whose elements no other handle shows a history.
fn begin(t: &Tensor, before: &mut Before, history: Option<(Counted<Node>, u32)>) -> Result<()> {
    let Some(history) = history else {
        if is_known(t) {
            attach(t, None);
        }
        return Ok(());
    };
    let fresh = match before.fresh.take() {
        Some(fresh) => fresh,
        None => Variable::new(State::default())?,
    };
    fresh.lock().history = Some(history);
    fresh.activate();
    attach(t, Some(fresh));
    Ok(())
}

/// Records that elements of a base, or of the base of a view, were overwritten in a way that no view of the base describes.
fn forget(t: &Tensor, variable: &Counted<Variable>) {
    super::shared::mark_shared(t);
    let base = variable.lock().view.as_ref().map_or_else(|| variable.clone(), |view| view.base.clone());
    let mut state = base.lock();
    // The values of a leaf have changed, and the leaf stays one.
    if !state.requires {
        (state.is_stale, state.generation) = (true, state.generation + 1);
        base.activate();
    }
}

/// The nodes of a write into a view: of the base, and of the view after it.
fn nodes_of_write(variable: &Counted<Variable>, view: &View) -> Result<[Counted<Node>; 2]> {
    Ok([write_node(&view.geometry)?, view_node(&view.geometry, Target::Leaf(variable.clone()))?])
}

/// The old histories of a view and of its base, which a write ends.
type Ended = [Option<(Counted<Node>, u32)>; 2];

/// Gives the base of a view a new history after a write of `history` into the view. The view takes the history of the base.
fn write_through(state: &mut State, nodes: [Counted<Node>; 2], history: Option<(Counted<Node>, u32)>) -> Result<Ended> {
    let Some(view) = &mut state.view else { return Ok([None, None]) };
    let ([mut write, mut show], mut base) = (nodes, view.base.lock());
    let (old, new) = (held(&view.base, &base), history.map(|(node, k)| Target::Node(node, k)));
    // A view of all elements replaces the old history.
    let old = old.filter(|_| view.geometry.view.numel() != view.geometry.base.numel() || view.geometry.view.overlaps_itself());
    let has_history = old.is_some() || new.is_some();
    set_edges(&mut write, &view.geometry, old, new)?;
    set_base(&mut show, Target::Node(write.clone(), 0))?;
    base.generation += 1;
    let ended_of_base = base.set_history(has_history.then_some((write, 0)));
    view.base.activate();
    view.seen = Some(base.generation);
    drop(base);
    state.cut = None;
    Ok([ended_of_base, state.set_history(has_history.then_some((show, 0)))])
}

/// The state of a handle before a call that may make views of the handle.
pub struct Source {
    pub storage: usize,
    /// The address of the handle.
    pub address: usize,
    /// Its variable, if gradients may go through its elements.
    pub variable: Option<Counted<Variable>>,
    /// Its elements.
    pub layout: Option<Layout>,
}

impl Source {
    /// A handle now.
    pub fn of(t: &Tensor) -> Result<Source> {
        let variable = if is_active(t) { current(t)? } else { None };
        Ok(Source { storage: t.storage_address(), address: t.as_ptr().addr(), variable, layout: t.layout().ok() })
    }
}

/// Makes `r` a view of the handle that `source` was before the call that made the view. With `cut` the view has no part in the history.
/// With `anywhere` the view may show other elements of the storage, too. `apart` is the layout of the view on a stand-in for a source whose
/// positions share elements.
pub fn become_view(r: &Tensor, source: &Source, cut: Option<Cut>, anywhere: bool, apart: Option<Layout>) -> Result<()> {
    // Without elements sizes may overflow: such a view has no gradient either.
    let is_float = r.dtype().is_some_and(|dtype| dtype.is_float());
    let (Some(parent), Some(layout), Ok(shown), true) = (&source.variable, &source.layout, r.layout(), is_float) else {
        attach(r, None);
        return Ok(());
    };
    let cut = cut.or(parent.lock().cut);
    let to = if cut.is_some() { None } else { target_of(parent)? };
    let root = {
        let mut state = parent.lock();
        match &state.view {
            // A leaf that is a view is a base itself.
            Some(view) if !state.requires => Some((view.base.clone(), view.geometry.base.clone())),
            _ => {
                parent.set_home(&mut state, source.storage, layout);
                None
            }
        }
    };
    let (base, home) = root.unwrap_or_else(|| (parent.clone(), layout.clone()));
    let through_parent = !anywhere || contains(layout, &shown);
    if !through_parent && !contains(&home, &shown) {
        bail!(Unsupported, "the view has elements that the tensor, which has a history, or its base has not")
    }
    let (dtype, device) = (r.defined()?, r.device());
    let geometry = |base: Layout, view: Layout| Counted::new(Geometry { base, view, dtype, device });
    let of_base = geometry(home.clone(), shown.clone())?;
    let (seen, to_base) = {
        let state = base.lock();
        (Some(state.generation), held(&base, &state))
    };
    // The history leads through the source of the view, so that hooks of the source are called. A source whose positions share elements
    // and that has no stand-in is left out.
    let history = match (to, to_base, apart) {
        _ if cut.is_some() => None,
        (Some(to), _, Some(apart)) => Some((view_node(&geometry(Layout::contiguous(&layout.shape), apart)?, to)?, 0)),
        (Some(to), ..) if through_parent && !layout.overlaps_itself() => {
            Some((view_node(&if *layout == home { of_base.clone() } else { geometry(layout.clone(), shown.clone())? }, to)?, 0))
        }
        (_, Some(to), _) => {
            of_base.check_base()?;
            Some((view_node(&of_base, to)?, 0))
        }
        _ => None,
    };
    let Some(view) = alloc::boxed(View { base, seen, geometry: of_base }) else { bail!(NoMem, "out of memory for a view") };
    attach(r, Some(Variable::new(State { view: Some(view), history, cut, ..State::default() })?));
    Ok(())
}
