//! Fused expressions.
//!
//! A `THFused` is an expression of elementwise functions, such as `"tanh(a*b + c)"`, that is computed in one pass: only the final result is
//! written to memory. On the host the steps are applied to one tile after another, in the first-level cache, on all threads. On a GPU the
//! whole expression is one kernel, compiled at its first use.
//!
//! Names that are neither functions nor defined values are inputs. Numbers are written as in C, in decimal (`1.5e-3`) or hexadecimal
//! (`0x1.8p3`). The operators are, from the lowest precedence to the highest: one of `<` `<=` `>` `>=` `==` `!=`; `+` `-`; `*` `/`; the
//! sign `-`; and the powers `**` or `^`, which are right-associative. Functions are from the chapters Arithmetic to Comparisons and
//! choices, and the gradients of activations. They are called without the prefix `THTensor_` and without the result: `clamp(a, 0, 1)`,
//! `where(a > 0, b, 0.5)`, `addcmul(t, 0.1, a, b)`. The arguments choose among the forms of a function: `pow(a, 2)`, `pow(a, b)`,
//! `max(a, 0)`, `lerp(a, b, w)`. `signbit` is refused, because it reads memory instead of elements. Statements before the expression, each
//! ended by a semicolon, define values: `"d = a - b; d*d + tanh(d)"`.
//!
//! The result equals the results of the single functions called one after the other, with their dtypes and rounding. On the host it is the
//! same to the bit, except for the bits of NaN. Inputs broadcast. `a + b` is cadd if both are tensors, and add if one is a number; other
//! operators are chosen likewise. An operator of two numbers makes a number, computed in double.
//!
//! An expression has at most 31 inputs, 1024 operations, and 100 nested brackets, signs and powers.
//!
//! Errors: `TH_ERR_ARGUMENT`, an expression that cannot be parsed or exceeds a limit, with the column, or a wrong number of inputs; the
//! errors of the functions in the expression, with the column.

use crate::api::function::Function;
use crate::api::functions::pointwise::ELEMENTWISE;
use crate::api::fused::{new_fused, release, retain};
use crate::api::table::table;
use crate::ops::fused::{Callable, Expressed};

/// Returns the elementwise function with this name.
pub(crate) fn find(name: &str) -> Option<&'static dyn Callable> {
    let mut rows = ELEMENTWISE.iter().copied().flatten();
    rows.find(|row| row.signature.name() == name).map(|&row: &&'static Function| row as &dyn Callable)
}

macro_rules! fused_functions {
    ($do:ident) => {
        $do! { "";
            /// Parses an expression. Free it with `THFused_free`; NULL on error.
            THFused_new(expression: text) -> new_fused = new_fused(Expressed::new(expression, find)?);
            /// Adds a reference; NULL is ignored.
            THFused_retain(f: fused_or_null) -> nothing = {
                // SAFETY: the caller passes NULL or a live expression.
                unsafe { retain(f) };
                Ok(())
            };
            /// Releases a reference, and frees the expression with the last one; NULL is ignored.
            THFused_free(f: fused_or_null) -> nothing = {
                // SAFETY: the caller passes NULL or a live expression, and releases a reference that it owns.
                unsafe { release(f) };
                Ok(())
            };
            /// Returns the number of inputs; -1 on error.
            THFused_nInputs(f: fused) -> count = Ok(f.expressed.inputs() as i64);
            /// Returns the name of input `index`, counted from 0. Inputs are numbered in the order of their first appearance in the text.
            /// Borrowed: valid as long as the expression. NULL on error.
            THFused_inputName(f: fused, index: entry) -> borrowed_text = f.expressed.input_name(index).map(|name| name.as_ptr());
            /// `r` = the expression of the `count` inputs, in the order of their numbers. Inputs broadcast; a fresh `r` has the dtype of
            /// the last function's result. `r` may be an input.
            THFused_run(r: out, f: fused, inputs: inputs, count: handle_count) = f.expressed.run(r, &inputs);
        }
    };
}

fused_functions!(table);
pub(crate) use fused_functions as functions;
