//! Bit by bit operations and shifts.

use super::{promote, promote_scalar, rounded};
use crate::cpu::engine::CHEAP;
use crate::cpu::map;
use crate::cpu::number::{Bits, Number};
use crate::dtype::dispatch;
use crate::error::Result;
use crate::ops::prepare::elementwise;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

unary! {
    /// `r = ~t`; on Bool this is *not*
    bitnot(): integral same CHEAP, |_, x| Bits::not(x);
}

both! {
    /// `r = a & b`
    cbitand / bitand: integral same CHEAP rounded, |_, a, b| Bits::and(a, b);
    /// `r = a | b`
    cbitor / bitor: integral same CHEAP rounded, |_, a, b| Bits::or(a, b);
    /// `r = a ^ b`
    cbitxor / bitxor: integral same CHEAP rounded, |_, a, b| Bits::xor(a, b);
    /// `r = a << b`
    clshift / lshift: numeric same CHEAP rounded, |isa, a, b| Number::shl(a, b, isa);
    /// `r = a >> b`
    crshift / rshift: numeric same CHEAP rounded, |isa, a, b| Number::shr(a, b, isa);
}
