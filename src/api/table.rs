//! The table: lists of functions. The macro [`table`] turns each line of a list into a [`Function`](super::function::Function).
//!
//! The lines of a chapter are in a macro that passes them to another macro: `functions!(table)`. A line is
//!
//! ```text
//! /// `r = m1 @ m2`, and the rest of the comment in the header.
//! mm(r: out, m1: input, m2: input) = matmul::mm(r, m1, m2);
//! ```
//!
//! with a kind for each argument (`args`), and `-> kind` if the function does not return a status. `as "where"` gives the C name if Rust
//! reserves this name. The body is an expression of the arguments, which are checked and converted according to their kinds. Elementwise
//! operations have a definition in braces instead of a body: see `ops::pointwise`.

/// Defines the functions of a list, and `FUNCTIONS`, the slice of all of them: `table!("prefix"; lines)`, or
/// `table!("prefix", unrecorded; lines)` for functions that are never recorded for gradients.
macro_rules! table {
    ($prefix:literal; $($lines:tt)*) => { $crate::api::table::table! { @lines ($prefix, true); $($lines)* } };
    ($prefix:literal, unrecorded; $($lines:tt)*) => { $crate::api::table::table! { @lines ($prefix, false); $($lines)* } };
    (@lines $origin:tt; $(
        $(#[doc = $doc:literal])* $name:ident $(as $c_name:literal)? ($($arg:ident: $kind:ident),* $(,)?) $(-> $ret:ident)? = $body:expr;
    )*) => {
        $crate::api::table::table! { @list $($name,)*; $(
            $crate::api::function::Function::new(
                $origin,
                concat!($crate::api::table::c_name!($name $($c_name)?), $(" ", stringify!($arg)),*),
                &[$($crate::api::args::Kind::$kind),*],
                $crate::api::table::table!(@returns $($ret)?),
                $crate::api::function::Body::Call(|_args| {
                    let mut _at = 0;
                    $(
                        #[allow(unused_variables)]
                        let $arg = _args.$kind(_at)?;
                        _at += 1;
                    )*
                    Ok($crate::api::table::table!(@given [$($ret)?] $body?))
                }),
                0,
                concat!($($doc, "\n"),*),
            ),
        )* }
    };
    // Elementwise operations: their definitions are statics of the same name in `$ops`.
    ($prefix:literal $ops:path; $(
        $(#[doc = $doc:literal])* $name:ident($($arg:ident: $kind:ident),* $(,)?) { $($definition:tt)* }
    )*) => {
        use $ops as ops;
        $crate::api::table::table! { @list $($name,)*; $(
            $crate::api::function::Function::new(
                ($prefix, true),
                $crate::api::table::tensors_first!(@names [stringify!($name)] [] $($arg $kind)*),
                $crate::api::table::tensors_first!(@kinds [] [] $($arg $kind)*),
                $crate::api::returns::Return::status,
                $crate::api::function::Body::Elementwise(ops::$name.as_elementwise()),
                $crate::api::function::numbers_among(&[$($crate::api::args::Kind::$kind),*]),
                concat!($($doc, "\n"),*),
            ),
        )* }
    };
    (@list $($name:ident,)*; $($function:expr,)*) => {
        #[allow(unused_imports)]
        use $crate::api::args::c_types::*;
        /// The functions of this chapter.
        pub static FUNCTIONS: &[&$crate::api::function::Function] = &[$(&table::$name::FUNCTION),*];
        /// Each function is a separate static, so that a program linked with the archive contains only the functions that it calls.
        #[allow(non_snake_case, missing_docs, unused_imports)]
        pub mod table {
            $(pub mod $name {
                use super::super::*;
                pub static FUNCTION: $crate::api::function::Function = $function;
            })*
        }
    };
    (@given [] $value:expr) => {{
        let () = $value;
        $crate::api::word::Word::ZERO
    }};
    (@given [number] $value:expr) => {
        $crate::api::word::ToWord::word($crate::scalar::canonical($value))
    };
    (@given [accumulated] $value:expr) => {
        $crate::api::word::ToWord::word($crate::scalar::canonical($value))
    };
    (@given [$ret:ident] $value:expr) => {
        $crate::api::word::Gives::<$crate::api::returns::return_type!($ret)>::given($value)
    };
    (@returns) => { $crate::api::returns::Return::status };
    (@returns $ret:ident) => { $crate::api::returns::Return::$ret };
}
pub(crate) use table;

/// Returns the C name of a function, without its prefix.
macro_rules! c_name {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $c_name:literal) => {
        $c_name
    };
}
pub(crate) use c_name;

/// Returns the names, kinds or words of an elementwise operation's arguments, tensors before numbers.
macro_rules! tensors_first {
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident number $($rest:ident)*) => {
        $crate::api::table::tensors_first!(@a_number $what [$($t),*] [$($n),*] $arg number $($rest)*)
    };
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident factor $($rest:ident)*) => {
        $crate::api::table::tensors_first!(@a_number $what [$($t),*] [$($n),*] $arg factor $($rest)*)
    };
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident parameter $($rest:ident)*) => {
        $crate::api::table::tensors_first!(@a_number $what [$($t),*] [$($n),*] $arg parameter $($rest)*)
    };
    (@a_number $what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident $kind:ident $($rest:ident)*) => {
        $crate::api::table::tensors_first!(
            @$what [$($t),*] [$($n,)* $crate::api::table::tensors_first!(@one $what $arg $kind)] $($rest)*
        )
    };
    (@$what:ident [$($t:expr),*] [$($n:expr),*] $arg:ident $kind:ident $($rest:ident)*) => {
        $crate::api::table::tensors_first!(
            @$what [$($t,)* $crate::api::table::tensors_first!(@one $what $arg $kind)] [$($n),*] $($rest)*
        )
    };
    (@names [$first:expr $(, $t:expr)*] [$($n:expr),*]) => { concat!($first $(, " ", $t)* $(, " ", $n)*) };
    (@kinds [$($t:expr),*] [$($n:expr),*]) => { &[$($t,)* $($n),*] };
    (@words [$($t:expr),*] [$($n:expr),*]) => { [$($t,)* $($n),*] };
    (@one names $arg:ident $kind:ident) => { stringify!($arg) };
    (@one kinds $arg:ident $kind:ident) => { $crate::api::args::Kind::$kind };
    (@one words $arg:ident $kind:ident) => { $crate::api::word::ToWord::word($arg) };
}
pub(crate) use tensors_first;
