//! Where the gradient of a handle goes, and what becomes of its history when it is written.

use super::counted::Counted;
use super::geometry::{view_node, write_node};
use super::graph::{Geometry, Node, State, Target, Variable, View, attach, is_known, variable, variable_or_new};
use crate::alloc;
use crate::error::{Error, Kind, Result, bail};
use crate::layout::Layout;
use crate::tensor::Tensor;

/// Where the gradient of a handle goes; `None` if it needs none.
pub fn target(t: &Tensor) -> Result<Option<Target>> {
    if !is_known(t) {
        return Ok(None);
    }
    match variable(t) {
        Some(variable) => target_of(&variable),
        None => Ok(None),
    }
}

/// Where the gradient of a variable goes, locked.
fn held(variable: &Counted<Variable>, state: &State) -> Option<Target> {
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

/// A handle before a call.
pub struct Before {
    /// The address of its storage.
    pub storage: usize,
    /// Its variable, if it had one.
    pub variable: Option<Counted<Variable>>,
}

/// A handle of which a call may make views, before it.
pub struct Source {
    pub before: Before,
    /// The address of the handle.
    pub address: usize,
    /// Its elements.
    layout: Option<Layout>,
}

impl Source {
    /// A handle now.
    pub fn of(t: &Tensor) -> Source {
        Source { before: Before::of(t), address: t.as_ptr().addr(), layout: t.layout().ok() }
    }
}

impl Before {
    /// A handle now.
    pub fn of(t: &Tensor) -> Before {
        Before { storage: t.storage_address(), variable: variable(t) }
    }
}

/// Fails where a handle may not be written while operations are recorded: a leaf that requires a gradient, or a view of one.
pub fn check_writable(t: &Tensor) -> Result<()> {
    let Some(variable) = variable(t) else { return Ok(()) };
    let state = variable.lock();
    let about = |what: &str| {
        Err(Error::about(
            t.as_ptr().addr(),
            Kind::Argument,
            format_args!("{what}; write to it between THGrad_setEnabled(0) and THGrad_setEnabled(1)"),
        ))
    };
    if state.requires {
        return about("is a leaf that requires a gradient, and would be changed in place");
    }
    match &state.view {
        Some(view) if view.base.lock().requires => about("is a view of a leaf that requires a gradient, and would be changed in place"),
        _ => Ok(()),
    }
}

/// Fails where the geometry of a handle may not change: that of a leaf that requires a gradient.
pub fn check_own_geometry(t: &Tensor) -> Result<()> {
    match variable(t) {
        Some(variable) if variable.lock().requires => Err(Error::about(
            t.as_ptr().addr(),
            Kind::Argument,
            format_args!("is a leaf that requires a gradient, and keeps its elements, sizes and strides"),
        )),
        _ => Ok(()),
    }
}

/// Fails where a result with a history would be written to elements that another handle shows, of which gradients do not know.
pub fn check_unshared(t: &Tensor) -> Result<()> {
    if is_known(t) || t.storage().is_none_or(|storage| storage.refcount() <= 2) {
        return Ok(());
    }
    Err(Error::about(
        t.as_ptr().addr(),
        Kind::Argument,
        format_args!(
            "shares its elements with a handle or a storage that was made before the process used gradients, or while they were switched \
             off: call THGrad_setEnabled(1) before views are made"
        ),
    ))
}

/// Sets what computed the elements of `t`, which were written: `None` if no gradient goes through them.
pub fn settle(t: &Tensor, before: &Before, history: Option<(Counted<Node>, u32)>) -> Result<()> {
    let in_place = before.storage == t.storage_address() && before.storage != 0;
    let Some(variable) = before.variable.as_ref().filter(|_| in_place) else {
        let state = State { history, ..State::default() };
        attach(t, if state.history.is_some() || is_known(t) { Some(Variable::new(state)?) } else { None });
        return Ok(());
    };
    let mut state = variable.lock();
    let Some(view) = &mut state.view else {
        state.generation += 1;
        let ended = state.set_history(history);
        drop(state);
        drop(ended);
        return Ok(());
    };
    let mut base = view.base.lock();
    let (old, new) = (held(&view.base, &base), history.clone().map(|(node, k)| Target::Node(node, k)));
    let written = if old.is_some() || new.is_some() { Some((write_node(&view.geometry, old, new)?, 0)) } else { None };
    base.generation += 1;
    let ended_of_base = base.set_history(written);
    let generation = base.generation;
    drop(base);
    view.seen = Some(generation);
    let ended = state.set_history(history);
    drop(state);
    drop((ended, ended_of_base));
    Ok(())
}

/// Makes `r` known as a view of the handle `of`, which was `source` before the call that made the view.
pub fn become_view(r: &Tensor, of: &Tensor, source: &Source) -> Result<()> {
    // Without elements sizes may overflow: such a view has no gradient either.
    let (Some(dtype), Some(layout), Ok(view)) = (r.dtype().filter(|dtype| dtype.is_float()), source.layout.clone(), r.layout()) else {
        attach(r, None);
        return Ok(());
    };
    let own = match &source.before.variable {
        Some(variable) => variable.clone(),
        None if r.is(of) => Variable::new(State::default())?,
        None => variable_or_new(of)?,
    };
    // The base of a view of a view is that of the first; a leaf that is a view is a base itself.
    let root = {
        let state = own.lock();
        state.view.as_ref().filter(|_| !state.requires).map(|view| (view.base.clone(), view.geometry.base.clone()))
    };
    let (base, base_layout) = root.unwrap_or((own, layout));
    let geometry = Counted::new(Geometry { base: base_layout, view, dtype, device: r.device() })?;
    let (seen, to) = {
        let state = base.lock();
        (Some(state.generation), held(&base, &state))
    };
    let history = match to {
        Some(to) => Some((view_node(&geometry, to)?, 0)),
        None => None,
    };
    let Some(view) = alloc::boxed(View { base, seen, geometry }) else { bail!(NoMem, "out of memory") };
    attach(r, Some(Variable::new(State { view: Some(view), history, ..State::default() })?));
    Ok(())
}
