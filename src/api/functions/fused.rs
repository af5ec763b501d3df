//! Fused expressions.
//!
//! A `THFused` is an expression of elementwise functions, such as `"tanh(a*b + c)"`, that is computed in one pass: no result of a step is
//! written to memory but the last. On the host the steps run one after the other on tiles in the first-level cache, on all threads; on a
//! GPU the whole is one kernel, which is compiled at its first use.
//!
//! Names that nothing else explains are inputs. Numbers are written as in C, in decimal (`1.5e-3`) or hexadecimal (`0x1.8p3`). The
//! operators are, from those that bind least: one of `<` `<=` `>` `>=` `==` `!=`; `+` `-`; `*` `/`; a sign `-`; and `**` or `^`, powers,
//! which bind from the right. A function of the chapters from Arithmetic to Comparisons and choices, and gradients of activations, is
//! called by its name without `THTensor_` and without its result: `clamp(a, 0, 1)`, `where(a > 0, b, 0.5)`, `addcmul(t, 0.1, a, b)`. The
//! arguments choose among the forms of a function: `pow(a, 2)`, `pow(a, b)`, `max(a, 0)`, `lerp(a, b, w)`. `signbit` is refused, because
//! it reads memory instead of elements. Statements before the expression, each closed by a semicolon, name values:
//! `"d = a - b; d*d + tanh(d)"`.
//!
//! The result is that of the single functions, one after the other, with their dtypes and rounding, and on the host bit for bit but for the
//! bits of NaN: inputs broadcast; `a + b` is cadd of two tensors and add of a tensor and a number, and so on; operators of two numbers
//! make a number, computed in double.
//!
//! An expression has at most 31 inputs, 1024 operations, and 100 brackets, signs and powers inside each other.
//!
//! Errors: `TH_ERR_ARGUMENT`, an expression that cannot be read or exceeds a limit, and at which column, or inputs that are fewer or more
//! than the expression has; whatever a function refuses, with its column.

use crate::api::function::Function;
use crate::api::functions::pointwise::ELEMENTWISE;
use crate::api::fused::{new_fused, release, retain};
use crate::api::table::table;
use crate::ops::fused::{Callable, Expressed};

/// The row with a name.
fn find(name: &str) -> Option<&'static dyn Callable> {
    let mut rows = ELEMENTWISE.iter().copied().flatten();
    rows.find(|row| row.signature.name() == name).map(|&row: &&'static Function| row as &dyn Callable)
}

macro_rules! fused_functions {
    ($do:ident) => {
        $do! { "";
            /// Reads an expression. Free it with `THFused_free`; NULL on error.
            THFused_new(expression: text) -> new_fused = new_fused(Expressed::new(expression, find)?);
            /// Adds a reference; NULL is ignored.
            THFused_retain(f: fused_or_null) -> nothing = {
                // SAFETY: the caller passes NULL or a live expression.
                unsafe { retain(f) };
                Ok(())
            };
            /// Gives up a reference, and frees the expression with the last one; NULL is ignored.
            THFused_free(f: fused_or_null) -> nothing = {
                // SAFETY: the caller passes NULL or a live expression, and gives up a reference of its own.
                unsafe { release(f) };
                Ok(())
            };
            /// The number of inputs; -1 on error.
            THFused_nInputs(f: fused) -> count = Ok(f.expressed.inputs() as i64);
            /// The name of input `index`, from 0: inputs are numbered as they first appear in the text. Borrowed: valid as long as the
            /// expression. NULL on error.
            THFused_inputName(f: fused, index: entry) -> borrowed_text = f.expressed.input_name(index).map(|name| name.as_ptr());
            /// `r` = the expression of the `count` inputs, in the order of their numbers. They broadcast; a fresh `r` has the dtype that the
            /// last function gives it. `r` may be an input.
            THFused_run(r: out, f: fused, inputs: inputs, count: handle_count) = f.expressed.run(r, &inputs);
        }
    };
}

fused_functions!(table);
pub(crate) use fused_functions as functions;
