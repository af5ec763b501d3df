//! Unsigned integers of 16 and 32 bits from other libraries. They are imported as wider integers, because this library has no such dtypes.

use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::copy;
use crate::ops::pointwise::bits;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// An unsigned integer type that has no dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    Bits16,
    Bits32,
}

impl Unsigned {
    /// Both types.
    pub(crate) const ALL: [Unsigned; 2] = [Unsigned::Bits16, Unsigned::Bits32];

    /// The dtype of signed integers with the same number of bits.
    pub fn stored(self) -> Dtype {
        match self {
            Unsigned::Bits16 => Dtype::Int16,
            Unsigned::Bits32 => Dtype::Int32,
        }
    }

    /// A new tensor of int32 or int64 with the unsigned values of `t`, whose dtype is signed.
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

/// The storage format of another library's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The format of a dtype.
    Same(Dtype),
    /// Unsigned integers that must be widened.
    Unsigned(Unsigned),
}

impl Stored {
    /// The dtype with elements of the same size.
    pub fn dtype(self) -> Dtype {
        match self {
            Stored::Same(dtype) => dtype,
            Stored::Unsigned(unsigned) => unsigned.stored(),
        }
    }
}
