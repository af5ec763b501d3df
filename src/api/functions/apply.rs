//! Functions of the caller.
//!
//! Functions of the program that are called for each element.
//!
//! Errors: the call returns any code other than 0 that the function returns, and the error's class is then `TH_ERR_CALLBACK`;
//! `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, operands without a dtype; `TH_ERR_ARGUMENT`, a function that is NULL or
//! that changed a storage.

use crate::api::table::table;
use crate::ops::pointwise::apply;

macro_rules! apply_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `t = function(t)`, element by element in row-major order, on the calling thread. The function may leave an element
            /// unchanged. If the function returns a code other than 0, the call stops and returns this code; elements changed before stay
            /// changed.
            apply(t: inout, function: apply_function, context: context) =
                // SAFETY: the caller passes a function that keeps the rules of `THApplyFunction`.
                unsafe { apply::apply(t, function, context) };
            /// `t = function(t, src)`, element by element as in apply. `src` broadcasts to the shape of `t`.
            map(t: inout, src: input, function: map_function, context: context) =
                // SAFETY: as for `apply`.
                unsafe { apply::map(t, src, function, context) };
            /// `t = function(t, a, b)`, element by element as in apply. `a` and `b` broadcast to the shape of `t`.
            map2(t: inout, a: input, b: input, function: map2_function, context: context) =
                // SAFETY: as for `apply`.
                unsafe { apply::map2(t, a, b, function, context) };
        }
    };
}

apply_functions!(table);
pub(crate) use apply_functions as functions;
