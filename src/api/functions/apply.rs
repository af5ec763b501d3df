//! Functions of the caller.
//!
//! Errors: a status that the function returns is what the call returns, and its class is `TH_ERR_CALLBACK`; `TH_ERR_SHAPE`, operands that
//! do not broadcast; `TH_ERR_DTYPE`, operands without a dtype; `TH_ERR_ARGUMENT`, a function that is NULL, or that changed a storage.

use crate::api::table::table;
use crate::ops::pointwise::apply;

macro_rules! apply_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `t = function(t)`, element after element in row-major order, on the calling thread. The function may leave an element as it is,
            /// or stop with a code of its own, which is what this then returns; elements changed before stay changed.
            apply(t: inout, function: apply_function, context: context) =
                // SAFETY: the caller's, as the types of the functions ask.
                unsafe { apply::apply(t, function, context) };
            /// `t = function(t, src)`, as apply; `src` broadcasts to the shape of `t`.
            map(t: inout, src: input, function: map_function, context: context) =
                // SAFETY: as above.
                unsafe { apply::map(t, src, function, context) };
            /// `t = function(t, a, b)`, as apply; `a` and `b` broadcast to the shape of `t`.
            map2(t: inout, a: input, b: input, function: map2_function, context: context) =
                // SAFETY: as above.
                unsafe { apply::map2(t, a, b, function, context) };
        }
    };
}

apply_functions!(table);
pub(crate) use apply_functions as functions;
