//! Unsigned integers of 16 and 32 bits, which other libraries have and thorn has not: they are taken as wider ones.

use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::copy;
use crate::ops::pointwise::bits;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// An unsigned type without a dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    Bits16,
    Bits32,
}

impl Unsigned {
    /// Both types.
    pub(crate) const ALL: [Unsigned; 2] = [Unsigned::Bits16, Unsigned::Bits32];

    /// The dtype of signed integers with as many bits.
    pub fn stored(self) -> Dtype {
        match self {
            Unsigned::Bits16 => Dtype::Int16,
            Unsigned::Bits32 => Dtype::Int32,
        }
    }

    /// The values of elements that `t` has as signed integers: a new tensor of int32 or int64.
    pub fn widened(self, t: &Tensor) -> Result<Tensor> {
        let (dtype, mask) = match self {
            Unsigned::Bits16 => (Dtype::Int32, i64::from(u16::MAX)),
            Unsigned::Bits32 => (Dtype::Int64, i64::from(u32::MAX)),
        };
        let wide = copy::to_dtype(t, dtype)?;
        bits::bitand.run([&wide, &wide], &[Scalar::Int(mask)])?;
        Ok(wide)
    }
}

/// How the elements of another library are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// As elements of a dtype are.
    Same(Dtype),
    /// As integers that have to be widened.
    Unsigned(Unsigned),
}

impl Stored {
    /// A dtype of the same size.
    pub fn dtype(self) -> Dtype {
        match self {
            Stored::Same(dtype) => dtype,
            Stored::Unsigned(unsigned) => unsigned.stored(),
        }
    }
}
