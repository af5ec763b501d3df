//! Operations that call a callback for each element. The callbacks are closures, like Torch7's in Lua.

use crate::handles::{Outcome, Tensor, Thing, done};
use crate::json::text;
use crate::tensors;
use crate::world::Operation;
use std::ffi::{c_int, c_void};

/// `t = function(t)`
pub fn apply<F: FnMut(&mut f64)>(t: &Tensor, mut function: F) -> Outcome {
    unsafe extern "C" fn call<F: FnMut(&mut f64)>(x: *mut f64, function: *mut c_void) -> c_int {
        // SAFETY: the library passes one element and the function that `apply` gave it.
        unsafe { (*function.cast::<F>())(&mut *x) }
        0
    }
    done(c!(tensors::apply(t.0, Some(call::<F>), (&raw mut function).cast())))
}

/// `t = function(t, src)`
pub fn map<F: FnMut(&mut f64, f64)>(t: &Tensor, src: &Tensor, mut function: F) -> Outcome {
    unsafe extern "C" fn call<F: FnMut(&mut f64, f64)>(x: *mut f64, y: f64, function: *mut c_void) -> c_int {
        // SAFETY: as in `apply`.
        unsafe { (*function.cast::<F>())(&mut *x, y) }
        0
    }
    done(c!(tensors::map(t.0, src.0, Some(call::<F>), (&raw mut function).cast())))
}

/// `t = function(t, a, b)`
pub fn map2<F: FnMut(&mut f64, f64, f64)>(t: &Tensor, a: &Tensor, b: &Tensor, mut function: F) -> Outcome {
    unsafe extern "C" fn call<F: FnMut(&mut f64, f64, f64)>(x: *mut f64, y: f64, z: f64, function: *mut c_void) -> c_int {
        // SAFETY: as in `apply`.
        unsafe { (*function.cast::<F>())(&mut *x, y, z) }
        0
    }
    done(c!(tensors::map2(t.0, a.0, b.0, Some(call::<F>), (&raw mut function).cast())))
}

pub fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        // 1, 2, 3 ... in row-major order.
        "apply_counter" => |w, o| {
            let mut i = 0.0;
            apply(w.tensor(o, "self"), |x| {
                i += 1.0;
                *x = i;
            })
        },
        "apply_fn" => |w, o| match text(o, "fn") {
            "sin" => apply(w.tensor(o, "self"), |x| *x = x.sin()),
            other => panic!("{other} is no function"),
        },
        // Sums all elements, which are unchanged.
        "apply_accumulate" => |w, o| {
            let mut sum = 0.0;
            apply(w.tensor(o, "self"), |x| sum += *x)?;
            Ok(Some(Thing::Number(sum)))
        },
        _ => return None,
    })
}
