//! The language of the tables of derivatives.

/// The list of derivatives `$list`: for each row the inputs, each with its gradient as a closure. The closure's first parameter is the
/// gradient of the result; the others are arguments of the row by name: tensors, which are kept for it, `x: optional` for one that may be
/// NULL, `x: wide` for one whose 16-bit floats become float32, `x: like` for no more than its shape and dtype, `x: list` for a list,
/// `x: grad` for the gradient of the result `x`, and numbers by their type. `x: shapes` is the place of an input whose shape is kept, be it
/// in a list, `x: all` that of a list whose tensors are
/// kept, and `x: at` the place alone. Where one computation gives several gradients, `each(a, b)` hands it the call.
macro_rules! derivatives {
    ($(#[$doc:meta])* $list:ident: $($row:ident { $($body:tt)* })*) => {
        $(#[$doc])*
        pub static $list: &[$crate::capi::grad::formula::Derivative] = &[$(
            $crate::capi::grad::formula::Derivative {
                row: &$crate::capi::words::names::$row::ROW,
                parts: $crate::capi::grad::names::derivatives!(@parts $row [] $($body)*),
            }
        ),*];
    };
    (@parts $row:ident [$($done:expr,)*]) => { &[$($done),*] };
    (@parts $row:ident [$($done:expr,)*]
        each($($input:ident),*): |$call:ident $(, $name:ident $(: $kind:ident)?)*| $formula:expr; $($rest:tt)*) => {
        $crate::capi::grad::names::derivatives!(@parts $row [$($done,)* $crate::capi::grad::formula::Part {
            inputs: 0 $(| 1 << $crate::capi::grad::names::derivatives!(@place $row $input))*,
            keep: 0 $(| $crate::capi::grad::names::derivatives!(@keep $row $name $($kind)?))*,
            shapes: 0 $(| $crate::capi::grad::names::derivatives!(@shapes $row $name $($kind)?))*,
            formula: |$call| {
                $(let $name = $crate::capi::grad::names::derivatives!(@bind $row $call $name $($kind)?);)*
                $formula
            },
        },] $($rest)*)
    };
    (@parts $row:ident [$($done:expr,)*]
        $input:ident: |$g:ident $(, $name:ident $(: $kind:ident)?)*| $formula:expr; $($rest:tt)*) => {
        $crate::capi::grad::names::derivatives!(@parts $row [$($done,)* $crate::capi::grad::formula::Part {
            inputs: 1 << $crate::capi::grad::names::derivatives!(@place $row $input),
            keep: 0 $(| $crate::capi::grad::names::derivatives!(@keep $row $name $($kind)?))*,
            shapes: 0 $(| $crate::capi::grad::names::derivatives!(@shapes $row $name $($kind)?))*,
            formula: |call| {
                let $g = call.g();
                $(let $name = $crate::capi::grad::names::derivatives!(@bind $row call $name $($kind)?);)*
                call.give($crate::capi::grad::names::derivatives!(@place $row $input), $formula)
            },
        },] $($rest)*)
    };
    (@place $row:ident $name:ident) => {
        const { $crate::capi::words::names::place($crate::capi::words::names::$row::ROW.signature.names, stringify!($name)) }
    };
    (@shapes $row:ident $name:ident shapes) => { 1 << $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@shapes $row:ident $name:ident $($kind:ident)?) => { 0 };
    (@keep $row:ident $name:ident) => { 1 << $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@keep $row:ident $name:ident optional) => { 1 << $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@keep $row:ident $name:ident wide) => { 1 << $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@keep $row:ident $name:ident all) => { 1 << $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@keep $row:ident $name:ident $kind:ident) => { 0 };
    (@bind $row:ident $call:ident $name:ident) => { $call.kept($crate::capi::grad::names::derivatives!(@place $row $name)) };
    (@bind $row:ident $call:ident $name:ident wide) => {
        $crate::capi::words::wide($call.kept($crate::capi::grad::names::derivatives!(@place $row $name)))
    };
    (@bind $row:ident $call:ident $name:ident optional) => {
        $call.optional($crate::capi::grad::names::derivatives!(@place $row $name))
    };
    (@bind $row:ident $call:ident $name:ident all) => { $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@bind $row:ident $call:ident $name:ident shapes) => { $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@bind $row:ident $call:ident $name:ident at) => { $crate::capi::grad::names::derivatives!(@place $row $name) };
    (@bind $row:ident $call:ident $name:ident like) => { $call.like($crate::capi::grad::names::derivatives!(@place $row $name)) };
    (@bind $row:ident $call:ident $name:ident list) => { $call.list($crate::capi::grad::names::derivatives!(@place $row $name)) };
    (@bind $row:ident $call:ident $name:ident grad) => { $call.grad($crate::capi::grad::names::derivatives!(@place $row $name)) };
    (@bind $row:ident $call:ident $name:ident $t:ident) => {
        $call.plain::<$t>($crate::capi::grad::names::derivatives!(@place $row $name))
    };
}
pub(crate) use derivatives;
