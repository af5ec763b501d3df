//! Bit by bit operations and shifts.

use super::op::operations;
use crate::cpu::engine::CHEAP;
use crate::cpu::number::{Bits, Number};
use crate::dtype::Bool;

macro_rules! bits_functions {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        /// `r = ~t`, bit by bit; on Bool this is *not*. Not for floats.
        bitwiseNot(r: out, t: input) { integral same CHEAP, |_, t| Bits::not(t) }

        /// `r = t & value`, bit by bit; on Bool this is *and*. Not for floats.
        bitand(r: out, t: input, value: number) { integral same CHEAP, |_, t| Bits::and(t, value) }
        /// `r = t | value`, bit by bit; on Bool this is *or*. Not for floats.
        bitor(r: out, t: input, value: number) { integral same CHEAP, |_, t| Bits::or(t, value) }
        /// `r = t ^ value`, bit by bit. Not for floats.
        bitxor(r: out, t: input, value: number) { integral same CHEAP, |_, t| Bits::xor(t, value) }
        /// `r = t << value`; for integers the result is 0 if `value` is negative or at least the width. For floats `r = t * 2^value`,
        /// rounded once if `value` is whole. With a whole `value` Bool gives int64.
        lshift(r: out, t: input, value: number) { numeric same CHEAP, |isa, t| Number::shl(t, value, isa) }
        /// `r = t >> value`, an arithmetic shift; if `value` is negative or at least the width, all bits become the sign bit. For floats
        /// `r = t / 2^value`, rounded once if `value` is whole. With a whole `value` Bool gives int64.
        rshift(r: out, t: input, value: number) { numeric same CHEAP, |isa, t| Number::shr(t, value, isa) }

        /// `r = a & b`, bit by bit, with broadcasting and promotion; on Bool this is *and*. Not for floats.
        cbitand(r: out, a: input, b: input) { integral same CHEAP, |_, a, b| Bits::and(a, b) }
        /// `r = a | b`, bit by bit, with broadcasting and promotion; on Bool this is *or*. Not for floats.
        cbitor(r: out, a: input, b: input) { integral same CHEAP, |_, a, b| Bits::or(a, b) }
        /// `r = a ^ b`, bit by bit, with broadcasting and promotion. Not for floats.
        cbitxor(r: out, a: input, b: input) { integral same CHEAP, |_, a, b| Bits::xor(a, b) }
        /// `r = a << b`, with broadcasting and promotion; otherwise as lshift.
        clshift(r: out, a: input, b: input) { numeric same CHEAP, |isa, a, b| Number::shl(a, b, isa) }
        /// `r = a >> b`, with broadcasting and promotion; otherwise as rshift.
        crshift(r: out, a: input, b: input) { numeric same CHEAP, |isa, a, b| Number::shr(a, b, isa) }
    } };
}
pub(crate) use bits_functions;

bits_functions!(operations BITS;);
