//! Elementwise operations as data: dtypes, grain, and a table of kernels.

use crate::dtype::{Domain, Dtype, Element};
use crate::element::{bits, rounded};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::work::Work;

/// The numbers beside the operands of a call.
pub struct Numbers<'a> {
    values: &'a [Scalar],
    common: Dtype,
}

impl<'a> Numbers<'a> {
    /// The numbers beside operands of this common dtype.
    pub fn new(values: &'a [Scalar], common: Dtype) -> Numbers<'a> {
        Numbers { values, common }
    }

    /// Number `k` in the compute type.
    #[inline(always)]
    pub fn exact<T: Element>(&self, k: usize) -> T {
        T::from_scalar(self.values[k])
    }

    /// Number `k` as an element of the common dtype, in its compute type.
    #[inline]
    pub fn rounded<T: Element>(&self, k: usize) -> T {
        if self.common == self.common.compute() {
            return self.exact(k);
        }
        T::from_f64(rounded(self.common, self.values[k]).to_f64())
    }

    /// The bits of number `k` as an element of the common dtype, in an integer of its size.
    #[inline]
    pub fn bits<T: Element>(&self, k: usize) -> T {
        T::from_i64(bits(self.common, self.values[k]).cast_signed())
    }

    /// The common dtype of the operands.
    pub fn common(&self) -> Dtype {
        self.common
    }
}

/// Computes all elements of one result and `N - 1` operands.
pub type MapKernel<const N: usize> = fn(&Work<N>, &Numbers<'_>);

/// How many types kernels are computed in, see [`slot`].
pub(crate) const COMPUTE_TYPES: usize = 8;

/// Where the kernel of a compute type stands among the kernels of an operation.
#[inline(always)]
pub const fn slot(compute: Dtype) -> usize {
    match compute {
        Dtype::Uint8 => 0,
        Dtype::Int8 => 1,
        Dtype::Int16 => 2,
        Dtype::Int32 => 3,
        Dtype::Int64 => 4,
        Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 => 5,
        Dtype::Float64 => 6,
        Dtype::Bool => 7,
    }
}

/// The dtype of a fresh result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultDtype {
    /// The common dtype of the operands.
    Same,
    /// The default dtype for integers and Bool, which are converted to it first.
    Real,
    /// Bool.
    Truth,
}

/// The part that the numbers of a call have in its dtypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// They take part in promotion, if there are any.
    Promoted,
    /// As [`Role::Promoted`]; integers are compared with the number as it is.
    Compared,
    /// They do not take part; integers need whole ones.
    Parameters,
}

/// The definition of an elementwise operation as text, from which other devices make their kernels.
#[cfg(feature = "cuda")]
#[derive(Debug, Clone, Copy)]
pub struct Formula<'a> {
    /// The name of the operation.
    pub name: &'a str,
    /// Its arguments and their kinds: `"r out; t input; value number"`.
    pub arguments: &'a str,
    /// Its kernel, as the row writes it.
    pub kernel: &'a str,
}

/// An elementwise operation: operand 0 is the result.
pub struct Op<const N: usize> {
    /// Its definition.
    #[cfg(feature = "cuda")]
    pub formula: Formula<'static>,
    /// The dtype of the result.
    pub result: ResultDtype,
    /// Numbers and dtypes.
    pub role: Role,
    /// True if integers refuse some numbers: those that are not whole, divisors that are 0.
    pub checked: bool,
    /// Elements a thread must get for waking it to pay.
    pub grain: usize,
    /// The kernels by compute type ([`slot`]). Floats that have none are computed in float64.
    pub kernels: [Option<MapKernel<N>>; COMPUTE_TYPES],
    /// The kernel for 16-bit floats as the int16 they are in memory, where that needs no conversion.
    pub bits: Option<MapKernel<N>>,
    /// True if operand 1 is a mask, Bool or uint8, which takes no part in the common dtype. Kernels then move the others as they lie in
    /// memory.
    pub masked: bool,
}

/// Operations of any number of operands.
#[derive(Clone, Copy)]
pub enum Elementwise {
    /// One operand.
    Unary(&'static Op<2>),
    /// Two operands.
    Binary(&'static Op<3>),
    /// Three operands.
    Ternary(&'static Op<4>),
}

/// The kernel of an operation for a common dtype, and the dtypes it takes.
#[derive(Clone, Copy)]
pub struct Choice<const N: usize> {
    /// The kernel.
    pub kernel: MapKernel<N>,
    /// The dtypes.
    pub signature: Signature<N>,
}

impl<const N: usize> Op<N> {
    /// The operation among those of any number of operands.
    pub const fn as_elementwise(&'static self) -> Elementwise {
        let op: *const Op<N> = self;
        // SAFETY: `N` is the number that the pointer is cast to.
        unsafe {
            match N {
                2 => Elementwise::Unary(&*op.cast()),
                3 => Elementwise::Binary(&*op.cast()),
                4 => Elementwise::Ternary(&*op.cast()),
                _ => panic!("operations have one to three operands"),
            }
        }
    }

    /// The kernel for operands of a common dtype, and a mask of that dtype where the operation takes one; an error where it is not defined
    /// for it.
    #[inline(always)]
    pub fn choose(&self, common: Dtype, mask: Option<Dtype>) -> Result<Choice<N>> {
        let (kernel, wide) = match self.kernels[slot(common)] {
            Some(kernel) => (kernel, false),
            None => match self.kernels[slot(Dtype::Float64)].filter(|_| common.is_float()) {
                Some(kernel) => (kernel, true),
                None => return Err(self.domain().refusal(common)),
            },
        };
        let kernel = match self.bits {
            Some(bits) if common != common.compute() => bits,
            _ if self.masked => kernel,
            _ => {
                let result = if self.result == ResultDtype::Truth { Dtype::Bool } else { common };
                let mut signature = Signature::new(common, result, self.grain);
                if wide {
                    signature.types = [Dtype::Float64; N];
                }
                return Ok(Choice { kernel, signature });
            }
        };
        let mut signature = Signature::of_types([common; N], common, self.grain);
        if self.masked {
            signature.types[1] = mask.unwrap_or(Dtype::Bool);
        }
        Ok(Choice { kernel, signature })
    }

    /// Returns the dtypes that the operation has kernels for.
    #[cold]
    fn domain(&self) -> Domain {
        let has = |compute| self.kernels[slot(compute)].is_some();
        match (has(Dtype::Int64), has(Dtype::Float64), has(Dtype::Bool)) {
            (false, ..) => Domain::Float,
            (_, false, _) => Domain::Integral,
            (.., false) => Domain::Numeric,
            _ => Domain::All,
        }
    }
}

/// The dtypes of an elementwise operation, operand 0 being the result.
#[derive(Clone, Copy)]
pub struct Signature<const N: usize> {
    /// The dtype in which the kernel takes each operand.
    pub types: [Dtype; N],
    /// The dtype that inputs are rounded to where their own dtype has more digits.
    pub common: Dtype,
    /// The dtype of a result nobody gave one.
    pub result: Dtype,
    /// Elements a thread must get for waking it to pay.
    pub grain: usize,
}

impl<const N: usize> Signature<N> {
    /// Inputs are converted to `common` and taken in its compute type.
    #[inline]
    pub fn new(common: Dtype, result: Dtype, grain: usize) -> Signature<N> {
        let mut types = [common.compute(); N];
        types[0] = result.compute();
        Signature { types, common, result, grain }
    }

    /// Each operand has a type of its own, and is converted to it at once: nothing is rounded before.
    #[inline]
    pub fn of_types(types: [Dtype; N], result: Dtype, grain: usize) -> Signature<N> {
        Signature { types, common: types[0].compute(), result, grain }
    }
}

/// A call of an operation: operands have the shape of the result.
#[derive(Clone, Copy)]
pub struct Map<'a> {
    /// The operation.
    pub op: Elementwise,
    /// The dtype that operands are converted to.
    pub common: Dtype,
    /// The numbers beside the operands.
    pub numbers: &'a [Scalar],
}

impl std::fmt::Debug for Map<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Map").field("common", &self.common).field("numbers", &self.numbers).finish_non_exhaustive()
    }
}
