//! The language of the tables of derivatives.

/// The list of derivatives `$list`: for each function the inputs, each with its gradient as a closure. The closure's first parameter is the
/// gradient of the result. The other parameters are arguments of the function by name: a plain name is a tensor, which is kept for the
/// closure; `x: optional` is a tensor that may be NULL; `x: wide` is a tensor whose 16-bit floats become float32; `x: like` is the shape
/// and the dtype of a tensor; `x: list` is a list; `x: grad` is the gradient of the result `x`; a number has its type. `x: shapes` is the
/// place of an input whose shape is kept, also in a list. `x: all` is the place of a list whose tensors are kept. `x: at` is the place
/// alone. If one computation gives several gradients, `each(a, b)` passes the call to it.
macro_rules! derivatives {
    ($(#[$doc:meta])* $list:ident: $($function:ident { $($body:tt)* })*) => {
        $(#[$doc])*
        pub static $list: &[$crate::grad::formula::Derivative] = &[$(
            $crate::grad::formula::Derivative {
                function: &$crate::expr::names::$function::FUNCTION,
                parts: $crate::grad::names::derivatives!(@parts $function [] $($body)*),
            }
        ),*];
    };
    (@parts $function:ident [$($done:expr,)*]) => { &[$($done),*] };
    (@parts $function:ident [$($done:expr,)*]
        each($($input:ident),*): |$call:ident $(, $name:ident $(: $kind:ident)?)*| $formula:expr; $($rest:tt)*) => {
        $crate::grad::names::derivatives!(@parts $function [$($done,)* $crate::grad::formula::Part {
            inputs: 0 $(| 1 << $crate::grad::names::derivatives!(@place $function $input))*,
            keep: 0 $(| $crate::grad::names::derivatives!(@keep $function $name $($kind)?))*,
            shapes: 0 $(| $crate::grad::names::derivatives!(@shapes $function $name $($kind)?))*,
            formula: |$call| {
                $(let $name = $crate::grad::names::derivatives!(@bind $function $call $name $($kind)?);)*
                $formula
            },
        },] $($rest)*)
    };
    (@parts $function:ident [$($done:expr,)*]
        $input:ident: |$g:ident $(, $name:ident $(: $kind:ident)?)*| $formula:expr; $($rest:tt)*) => {
        $crate::grad::names::derivatives!(@parts $function [$($done,)* $crate::grad::formula::Part {
            inputs: 1 << $crate::grad::names::derivatives!(@place $function $input),
            keep: 0 $(| $crate::grad::names::derivatives!(@keep $function $name $($kind)?))*,
            shapes: 0 $(| $crate::grad::names::derivatives!(@shapes $function $name $($kind)?))*,
            formula: |call| {
                let $g = call.g();
                $(let $name = $crate::grad::names::derivatives!(@bind $function call $name $($kind)?);)*
                call.give($crate::grad::names::derivatives!(@place $function $input), $formula)
            },
        },] $($rest)*)
    };
    (@place $function:ident $name:ident) => {
        const { $crate::expr::names::place($crate::expr::names::$function::FUNCTION.signature.names, stringify!($name)) }
    };
    (@shapes $function:ident $name:ident shapes) => { 1 << $crate::grad::names::derivatives!(@place $function $name) };
    (@shapes $function:ident $name:ident $($kind:ident)?) => { 0 };
    (@keep $function:ident $name:ident) => { 1 << $crate::grad::names::derivatives!(@place $function $name) };
    (@keep $function:ident $name:ident optional) => { 1 << $crate::grad::names::derivatives!(@place $function $name) };
    (@keep $function:ident $name:ident wide) => { 1 << $crate::grad::names::derivatives!(@place $function $name) };
    (@keep $function:ident $name:ident all) => { 1 << $crate::grad::names::derivatives!(@place $function $name) };
    (@keep $function:ident $name:ident $kind:ident) => { 0 };
    (@bind $function:ident $call:ident $name:ident) => { $call.kept($crate::grad::names::derivatives!(@place $function $name)) };
    (@bind $function:ident $call:ident $name:ident wide) => {
        $crate::expr::wide($call.kept($crate::grad::names::derivatives!(@place $function $name)))
    };
    (@bind $function:ident $call:ident $name:ident optional) => {
        $call.optional($crate::grad::names::derivatives!(@place $function $name))
    };
    (@bind $function:ident $call:ident $name:ident all) => { $crate::grad::names::derivatives!(@place $function $name) };
    (@bind $function:ident $call:ident $name:ident shapes) => { $crate::grad::names::derivatives!(@place $function $name) };
    (@bind $function:ident $call:ident $name:ident at) => { $crate::grad::names::derivatives!(@place $function $name) };
    (@bind $function:ident $call:ident $name:ident like) => { $call.like($crate::grad::names::derivatives!(@place $function $name)) };
    (@bind $function:ident $call:ident $name:ident list) => { $call.list($crate::grad::names::derivatives!(@place $function $name)) };
    (@bind $function:ident $call:ident $name:ident grad) => { $call.grad($crate::grad::names::derivatives!(@place $function $name)) };
    (@bind $function:ident $call:ident $name:ident $t:ident) => {
        $call.plain::<$t>($crate::grad::names::derivatives!(@place $function $name))
    };
}
pub(crate) use derivatives;
