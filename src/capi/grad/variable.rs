//! Where the gradient of a handle goes, and what becomes of its history when it is written.
//!
//! The rule for views: the elements of all views belong to one *base*, the handle that the first view was made of. Each view knows the
//! variable of its base. A write through any of the handles gives the base a new history, from which the other views take theirs when
//! they are next read. While no history is involved, a view is a reference to the variable of its base and nothing more (`shared.rs`).

use super::counted::Counted;
use super::geometry::{view_node, write_node};
use super::graph::{Cut, Geometry, Known, Node, State, Target, Variable, View, attach, attach_after, is_active, is_known, known};
use crate::alloc;
use crate::error::{Error, Kind, Result, bail};
use crate::layout::Layout;
use crate::storage::{HAS_HISTORY, IS_SHARED};
use crate::tensor::Tensor;
use std::sync::atomic::Ordering;

/// Where the gradient of a handle goes; `None` if it needs none.
pub fn target(t: &Tensor) -> Result<Option<Target>> {
    if !is_active(t) {
        return Ok(None);
    }
    match current(t)? {
        Some(variable) => target_of(&variable),
        None => Ok(None),
    }
}

/// The handle's own variable as the handle is now, which a view of a base gets here; `None` if gradients do not know the handle.
pub fn current(t: &Tensor) -> Result<Option<Counted<Variable>>> {
    match known(t) {
        None => Ok(None),
        Some(Known::ViewOf(base)) => view_of(t, &base),
        Some(Known::Own(variable)) => as_laid_out(t, variable),
    }
}

/// The handle's own variable, which it gets if gradients do not know the handle.
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

/// A view of a base, whose history is not known yet.
pub fn new_view(t: &Tensor, base: Counted<Variable>, home: Layout) -> Result<Box<View>> {
    let geometry = Counted::new(Geometry { base: home, view: t.layout()?, dtype: t.defined()?, device: t.device() })?;
    match alloc::boxed(View { base, seen: None, geometry }) {
        Some(view) => Ok(view),
        None => bail!(NoMem, "out of memory for a view"),
    }
}

/// The variable of a handle whose sizes or place in memory may have changed since the variable was made. A base that shows other elements
/// of its memory than before becomes a view of what it was.
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
    let (is_base, cut) = (state.view.is_none(), state.cut);
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
    let view = new_view(t, base, home)?;
    let moved = Variable::new(State { view: Some(view), cut, ..State::default() })?;
    attach_after(t, t.attached().load(Ordering::Acquire), moved).map(Some)
}

/// Returns true if all elements of a layout belong to another one.
pub fn contains(home: &Layout, layout: &Layout) -> bool {
    let (Some(end), Some(last)) = (home.end(), layout.end()) else { return false };
    layout.numel() == 0 || home == layout || (home.is_dense() && layout.offset >= home.offset && last <= end)
}

/// Where the gradient of a variable goes, locked.
pub fn held(variable: &Counted<Variable>, state: &State) -> Option<Target> {
    if state.requires {
        return Some(Target::Leaf(variable.clone()));
    }
    if let Some(leaf) = &state.stands_for {
        return Some(Target::Leaf(leaf.clone()));
    }
    state.history.clone().map(|(node, k)| Target::Node(node, k))
}

/// Where the gradient of a variable goes. A view whose base was written since takes the new history.
pub fn target_of(variable: &Counted<Variable>) -> Result<Option<Target>> {
    let mut ended = None;
    let mut state = variable.lock();
    if !state.requires
        && state.cut.is_none()
        && let Some(view) = &state.view
    {
        let base = view.base.lock();
        if view.seen != Some(base.generation) {
            let (seen, to) = (Some(base.generation), held(&view.base, &base));
            drop(base);
            let history = match to {
                Some(to) => Some((view_node(&view.geometry, to)?, 0)),
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
                nodes = Some([write_node(&view.geometry)?, view_node(&view.geometry, Target::Leaf(variable.clone()))?]);
            }
        }
        let fresh = if gets_history { Some(Variable::new(State::default())?) } else { None };
        Ok(Before { storage: t.storage_address(), variable, fresh, nodes })
    }
}

fn refuse(t: &Tensor, what: std::fmt::Arguments<'_>) -> Result<()> {
    Err(Error::about(t.as_ptr().addr(), Kind::Argument, what))
}

/// Fails where a handle may not be written while operations are recorded: a leaf that requires a gradient, or a view of one.
pub fn check_writable(t: &Tensor) -> Result<()> {
    if let Some(storage) = t.borrow_storage()
        && storage.has_mark(HAS_HISTORY)
        && !is_known(t)
        && storage.refcount() > 2
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
    let of_leaf = |state: &State| match state.has_leaf {
        true => refuse(t, format_args!("shares its elements with a leaf that requires a gradient, which would be changed in place; {INSTEAD}")),
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

/// What a caller may do where a write is refused.
const INSTEAD: &str = "write to it between THGrad_setEnabled(0) and THGrad_setEnabled(1)";

/// Fails where the geometry of a handle may not change: that of a leaf that requires a gradient.
pub fn check_own_geometry(t: &Tensor) -> Result<()> {
    match super::graph::variable(t) {
        Some(variable) if variable.lock().requires => {
            refuse(t, format_args!("is a leaf that requires a gradient, and keeps its elements, sizes and strides"))
        }
        _ => Ok(()),
    }
}

/// Fails where a result with a history would be written to elements that another handle shows, of which gradients do not know.
pub fn check_unshared(t: &Tensor) -> Result<()> {
    let Some(storage) = t.borrow_storage() else { return Ok(()) };
    let is_shared = storage.has_mark(IS_SHARED);
    // A tensor that a recorded operation saved is a reference, too.
    if storage.refcount() <= if is_shared { 1 } else { 2 } || (is_known(t) && !is_shared) {
        return Ok(());
    }
    refuse(
        t,
        format_args!(
            "shares its elements with a handle or a storage of which gradients do not know: one that was made of the storage, or before \
             the process used gradients. Make views of tensors, THTensor_newAsStrided among them, after a call of THGrad_setEnabled(1)"
        ),
    )
}

/// Sets what computed the elements of `t`, which were written: `None` if no gradient goes through them.
pub fn settle(t: &Tensor, before: &mut Before, history: Option<(Counted<Node>, u32)>) -> Result<()> {
    if let (Some(_), Some(storage)) = (&history, t.borrow_storage()) {
        storage.mark(HAS_HISTORY);
    }
    let in_place = before.storage == t.storage_address() && before.storage != 0;
    let own = match before.variable.take().filter(|_| in_place) {
        Some(variable) => as_laid_out(t, variable)?,
        None => None,
    };
    let Some(variable) = own else {
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
        return Ok(());
    };
    let mut state = variable.lock();
    let leaf_is_base = state.view.as_ref().is_some_and(|view| view.base.lock().requires);
    if state.view.is_none() || leaf_is_base {
        // The values of a leaf change through a detached view alone. The leaf stays one, and the view goes its own way.
        state.view = None;
        state.generation += 1;
        if history.is_some() {
            variable.activate();
        }
        let ended = state.set_history(history);
        drop(state);
        drop(ended);
        return Ok(());
    }
    let ended = write_through(&variable, &mut state, before.nodes.take(), history)?;
    drop(state);
    drop(ended);
    Ok(())
}

/// What ends with a write: the histories of a view and of its base.
type Ended = [Option<(Counted<Node>, u32)>; 2];

/// Gives the base of a view, into which `history` was written, a new history, and the view that of the base.
fn write_through(
    variable: &Counted<Variable>,
    state: &mut State,
    nodes: Option<[Counted<Node>; 2]>,
    history: Option<(Counted<Node>, u32)>,
) -> Result<Ended> {
    let Some(view) = &mut state.view else { return Ok([None, None]) };
    let mut base = view.base.lock();
    let (old, new) = (held(&view.base, &base), history.map(|(node, k)| Target::Node(node, k)));
    if old.is_none() && new.is_none() {
        return Ok([None, None]);
    }
    let [mut write, mut show] = match nodes {
        Some(nodes) => nodes,
        None => [write_node(&view.geometry)?, view_node(&view.geometry, Target::Leaf(variable.clone()))?],
    };
    // What is replaced altogether has no part in what follows.
    let old = old.filter(|_| view.geometry.view.numel() != view.geometry.base.numel() || view.geometry.view.overlaps_itself());
    super::geometry::set_edges(&mut write, &view.geometry, old, new)?;
    super::geometry::set_base(&mut show, Target::Node(write.clone(), 0))?;
    base.generation += 1;
    let ended_of_base = base.set_history(Some((write, 0)));
    view.base.activate();
    view.seen = Some(base.generation);
    drop(base);
    state.cut = None;
    Ok([ended_of_base, state.set_history(Some((show, 0)))])
}

/// A handle of which a call may make views, before it.
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
pub fn become_view(r: &Tensor, source: &Source, cut: Option<Cut>) -> Result<()> {
    // Without elements sizes may overflow: such a view has no gradient either.
    let is_float = r.dtype().is_some_and(|dtype| dtype.is_float());
    let (Some(parent), Some(layout), Ok(shown), true) = (&source.variable, &source.layout, r.layout(), is_float) else {
        attach(r, None);
        return Ok(());
    };
    let to = target_of(parent)?;
    let (root, cut) = {
        let mut state = parent.lock();
        let cut = cut.or(state.cut);
        match &state.view {
            // A leaf that is a view is a base itself.
            Some(view) if !state.requires => (Some((view.base.clone(), view.geometry.base.clone())), cut),
            _ => {
                parent.set_home(&mut state, source.storage, layout);
                (None, cut)
            }
        }
    };
    let (base, home) = root.unwrap_or_else(|| (parent.clone(), layout.clone()));
    if !contains(&home, &shown) && !contains(layout, &shown) && layout.is_dense() {
        bail!(Unsupported, "a view of a tensor with a history has elements that the tensor has not")
    }
    let geometry = |base: &Layout| Counted::new(Geometry { base: base.clone(), view: shown.clone(), dtype: r.defined()?, device: r.device() });
    let of_base = geometry(&home)?;
    let (seen, to_base) = {
        let state = base.lock();
        (Some(state.generation), held(&base, &state))
    };
    // The history leads through the handle that the view was made of, whose hooks are called, unless elements of it overlap.
    let history = match (to, to_base) {
        _ if cut.is_some() => None,
        (Some(to), _) if !layout.overlaps_itself() => {
            Some((view_node(&if *layout == home { of_base.clone() } else { geometry(layout)? }, to)?, 0))
        }
        (Some(_), Some(to)) => Some((view_node(&of_base, to)?, 0)),
        _ => None,
    };
    let Some(view) = alloc::boxed(View { base, seen, geometry: of_base }) else { bail!(NoMem, "out of memory for a view") };
    attach(r, Some(Variable::new(State { view: Some(view), history, cut, ..State::default() })?));
    Ok(())
}
