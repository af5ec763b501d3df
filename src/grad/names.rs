//! The language of the tables of derivatives.

/// The list of derivatives `$list`: for each function the inputs, each with its gradient as a closure. The closure's first parameter is the
/// gradient of the result; the others are arguments of the function by name: tensors, which are kept for it, `x: optional` for one that may
/// be NULL, `x: wide` for one whose 16-bit floats become float32, `x: like` for no more than its shape and dtype, `x: list` for a list, `x:
/// grad` for the gradient of the result `x`, and numbers by their type. `x: shapes` is the index of an input or a list whose shapes are
/// kept, `x: all` is the index of a list whose tensors are kept, and `x: at` is only the index. If one computation gives several gradients,
/// `each(a, b)` passes the call to the closure.
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
