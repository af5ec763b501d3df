//! `THTensor_*`: functions of the caller, element by element.

use super::export;
use crate::ops::pointwise::apply::{self, THApplyFunction, THMap2Function, THMapFunction};
use crate::tensor::THTensor;
use std::ffi::c_void;

export! {
    /// `t = function(t)`, element after element in row-major order, on the calling thread. The function may leave an element as it is, or stop with
    /// a code of its own, which is what this then returns; elements changed before stay changed.
    fn THTensor_apply(t: *mut THTensor, function: THApplyFunction, context: *mut c_void) =
        // SAFETY: the caller's, as the types of the functions ask.
        unsafe { apply::apply(t, function, context) };
    /// `t = function(t, src)`, as apply; `src` broadcasts to the shape of `t`.
    fn THTensor_map(t: *mut THTensor, src: *const THTensor, function: THMapFunction, context: *mut c_void) =
        // SAFETY: as above.
        unsafe { apply::map(t, src, function, context) };
    /// `t = function(t, a, b)`, as apply; `a` and `b` broadcast to the shape of `t`.
    fn THTensor_map2(t: *mut THTensor, a: *const THTensor, b: *const THTensor, function: THMap2Function, context: *mut c_void) =
        // SAFETY: as above.
        unsafe { apply::map2(t, a, b, function, context) };
}
