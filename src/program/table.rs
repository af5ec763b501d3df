//! The table of ATen operators: one line for each operator and overload.
//!
//! ```text
//! "add.Tensor" "self other alpha=1" => cadd "self alpha other";
//! "linear" "input weight bias=None" => { linear };
//! "alias" "self" => same;
//! ```
//!
//! The first text is the operator with its overload, unless the overload is `default`. The second text has the names of the arguments in
//! the operator's schema, and their defaults. A default is a number, a list of numbers `1,1`, `None`, `True` or `False`.
//!
//! A line calls the function of thorn after `=>` with the arguments of the third text, in the order of the function without results,
//! lengths of lists and generators: names of the schema, numbers, and `-` for NULL. Other operators have a Rust function in braces, return
//! their first argument (`same`), or have no effect (`nothing`). An operator may have several lines. The first line whose arguments fit the
//! kinds of the function is used: a number where the function has a number, a tensor where it has a tensor.
//!
//! `name==default` restricts a line to arguments with this value, `#name` among the arguments of a function is the length of a list, and
//! `*name` at the end of a schema has all remaining arguments.
//!
//! `ALIASES` in [`aten`](super::aten) has operators with other names, and `ABSENT` the operators that are missing, with reasons.
//!
//! An operator whose name ends with `_` and that has no line uses the line without `_`, and the result is the first argument.

use super::call::Call;
use super::frame::Item;
use crate::api::function::Function;
use crate::error::Result;

/// A line of the table.
pub struct Operator {
    /// The name and the overload, `add.Tensor`, the names of the arguments and their defaults, and after `>` the arguments of the function.
    pub text: &'static str,
    /// The code.
    pub body: Body,
}

/// The code of an operator.
pub enum Body {
    /// A function of thorn.
    Function(&'static Function),
    /// A Rust function.
    Code(fn(&Call<'_>) -> Result<Item>),
    /// The result is the first argument.
    Same,
    /// There is no result.
    Nothing,
}

/// Defines `OPERATORS`, a list of lines.
macro_rules! aten {
    ($($name:literal $schema:literal => $body:tt $($arguments:literal)?;)*) => {
        /// The operators of this file.
        pub static OPERATORS: &[$crate::program::table::Operator] = &[$(
            $crate::program::table::Operator {
                text: concat!($name, " ", $schema, $(">", $arguments)?),
                body: $crate::program::table::aten!(@body $body),
            },
        )*];
    };
    (@body same) => { $crate::program::table::Body::Same };
    (@body nothing) => { $crate::program::table::Body::Nothing };
    (@body { $code:expr }) => { $crate::program::table::Body::Code($code) };
    (@body $function:ident) => { $crate::program::table::Body::Function(&$crate::expr::names::$function::FUNCTION) };
}
pub(crate) use aten;

#[cfg(test)]
thread_local! {
    static USED: std::cell::RefCell<Vec<usize>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Notes that a node uses a line, for the test that every line is used.
pub fn note(_line: &'static Operator) {
    #[cfg(test)]
    USED.with_borrow_mut(|used| used.push(std::ptr::from_ref(_line).addr()));
}

/// Returns the addresses of the lines that this thread has noted, and forgets them.
#[cfg(test)]
pub fn used() -> Vec<usize> {
    USED.take()
}

impl Operator {
    /// Returns the name and the overload.
    pub fn name(&self) -> &'static str {
        self.text.split(' ').next().unwrap_or_default()
    }

    /// Returns the arguments of the function.
    pub fn map(&self) -> &'static str {
        self.text.split_once('>').map_or("", |(_, map)| map)
    }

    /// Returns the names of the arguments and the texts of their defaults.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
        self.text.split('>').next().unwrap_or_default().split_whitespace().skip(1).map(|word| match word.split_once('=') {
            Some((name, default)) => (name, Some(default)),
            None => (word, None),
        })
    }
}
