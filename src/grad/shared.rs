//! Views while no history is involved. A view holds a reference to the variable of its base. The view gets a separate variable as soon as a
//! history is involved. The storage is marked if a handle's relation to the base is unknown.

use super::counted::Counted;
use super::geometry::contains;
use super::graph::{Known, State, Variable, attach, attach_after, attach_light, known};
use crate::error::Result;
use crate::storage::IS_SHARED;
use crate::tensor::Tensor;
use std::sync::atomic::Ordering;

/// Marks the storage of a tensor: an unknown handle may share its elements.
pub fn mark_shared(t: &Tensor) {
    if let Some(storage) = t.borrow_storage() {
        storage.mark(IS_SHARED);
    }
}

/// Records that `r` is a view of `source`, of which a call has made `made` views. With `anywhere`, `r` may also show other elements of the
/// storage.
pub fn share(r: &Tensor, source: &Tensor, made: i32, anywhere: bool) {
    let is_float = |t: &Tensor| t.dtype().is_some_and(|dtype| dtype.is_float());
    if r.is(source) {
        // From now on the handle of the base shows a part of its elements, and is a view like the others.
        if let Some(Known::Own(variable)) = known(r)
            && variable.storage() == r.storage_address()
        {
            attach_light(r, variable);
        }
        return;
    }
    if r.dtype() != source.dtype() || !is_float(r) {
        if is_float(r) || is_float(source) {
            mark_shared(r);
        }
        return attach(r, None);
    }
    let Ok(base) = base_of(source, made) else {
        mark_shared(r);
        return attach(r, None);
    };
    if anywhere && !r.layout().is_ok_and(|layout| base.lock().home.as_ref().is_some_and(|home| contains(home, &layout))) {
        mark_shared(r);
        return attach(r, None);
    }
    attach_light(r, base);
}

/// Records that the elements of a base without a history may have changed.
pub fn lay_out_anew(t: &Tensor) {
    let Some(Known::Own(variable)) = known(t) else { return };
    if variable.storage() == 0 {
        return;
    }
    if variable.storage() != t.storage_address() {
        return attach(t, None);
    }
    let (mut state, Ok(layout)) = (variable.lock(), t.layout()) else { return };
    let Some(home) = state.home.clone().filter(|home| *home != layout) else { return };
    if contains(&layout, &home) {
        variable.set_home(&mut state, t.storage_address(), &layout);
        return;
    }
    drop(state);
    if contains(&home, &layout) {
        return attach_light(t, variable);
    }
    mark_shared(t);
    attach(t, None);
}

/// The variable of the base of views of `source`.
fn base_of(source: &Tensor, made: i32) -> Result<Counted<Variable>> {
    let before = source.attached().load(Ordering::Acquire);
    match known(source) {
        Some(Known::ViewOf(base) | Known::Own(base)) if base.storage() == source.storage_address() => return Ok(base),
        Some(Known::Own(variable)) if variable.storage() == 0 => {
            let layout = source.layout()?;
            variable.set_home(&mut variable.lock(), source.storage_address(), &layout);
            return Ok(variable);
        }
        _ => {}
    }
    // A reference in excess of the handles belongs to a tensor that a recorded operation saved.
    if source.borrow_storage().is_some_and(|storage| storage.refcount() > made + 2) && before.is_null() {
        mark_shared(source);
    }
    let variable = Variable::new(State::default())?;
    variable.set_home(&mut variable.lock(), source.storage_address(), &source.layout()?);
    attach_after(source, before, variable)
}
