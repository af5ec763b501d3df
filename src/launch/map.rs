//! Elementwise operations as data: their dtypes, grain, formula, and table of the host's kernels.

use crate::dtype::{Domain, Dtype, Element};
use crate::element::{bits, rounded};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::work::Work;

/// The numbers among the arguments of a call, and the common dtype of the operands.
pub struct Numbers<'a> {
    values: &'a [Scalar],
    common: Dtype,
}

impl<'a> Numbers<'a> {
    /// The numbers of a call whose operands have this common dtype.
    pub fn new(values: &'a [Scalar], common: Dtype) -> Numbers<'a> {
        Numbers { values, common }
    }

    /// Number `k` in the compute type.
    #[inline(always)]
    pub fn exact<T: Element>(&self, k: usize) -> T {
        T::from_scalar(self.values[k])
    }

    /// Number `k`, rounded to the common dtype, in its compute type.
    #[inline]
    pub fn rounded<T: Element>(&self, k: usize) -> T {
        if self.common == self.common.compute() {
            return self.exact(k);
        }
        T::from_f64(rounded(self.common, self.values[k]).to_f64())
    }

    /// The bits of number `k` in the common dtype, as an integer of the same size.
    #[inline]
    pub fn bits<T: Element>(&self, k: usize) -> T {
        T::from_i64(bits(self.common, self.values[k]).cast_signed())
    }

    /// The common dtype of the operands.
    pub fn common(&self) -> Dtype {
        self.common
    }
}

/// A kernel of the host: computes all elements of one result from `N - 1` operands.
pub type MapKernel<const N: usize> = fn(&Work<N>, &Numbers<'_>);

/// The number of compute types; see [`slot`].
pub(crate) const COMPUTE_TYPES: usize = 8;

/// The index of a compute type in an operation's table of kernels.
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
    /// The common dtype if it is a float, otherwise the default dtype, to which integers and Bool are converted first.
    Real,
    /// Bool.
    Truth,
}

/// The effect of a call's numbers on its dtypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// They take part in promotion.
    Promoted,
    /// Like [`Role::Promoted`], but integers are compared with the exact number.
    Compared,
    /// They do not take part in promotion. With integer operands they must be whole.
    Parameters,
}

/// The source text of an elementwise operation, from which GPU kernels are generated.
#[cfg(feature = "cuda")]
#[derive(Debug, Clone, Copy)]
pub struct Formula<'a> {
    /// The name of the operation.
    pub name: &'a str,
    /// The arguments and their kinds: `"r out; t input; value number"`.
    pub arguments: &'a str,
    /// The kernel in the text of the definition: a formula, or the name of a function.
    pub kernel: &'a str,
}

/// An elementwise operation: operand 0 is the result.
pub struct Op<const N: usize> {
    /// The source text.
    #[cfg(feature = "cuda")]
    pub formula: Formula<'static>,
    /// The dtype of the result.
    pub result: ResultDtype,
    /// The effect of numbers on the dtypes.
    pub role: Role,
    /// True if some numbers are errors with integer operands: fractions, or a divisor of 0.
    pub checked: bool,
    /// The least number of elements for which it pays to wake a thread.
    pub grain: usize,
    /// The host's kernel for each compute type ([`slot`]). Floats without a kernel are computed in float64.
    pub kernels: [Option<MapKernel<N>>; COMPUTE_TYPES],
    /// The host's kernel that processes 16-bit floats as int16, if the operation needs no conversion.
    pub bits: Option<MapKernel<N>>,
    /// True if operand 1 is a mask, Bool or uint8, which does not count for the common dtype. The kernel then moves the other operands
    /// unchanged.
    pub masked: bool,
}

/// An operation of any number of operands.
#[derive(Clone, Copy)]
pub enum Elementwise {
    /// One operand.
    Unary(&'static Op<2>),
    /// Two operands.
    Binary(&'static Op<3>),
    /// Three operands.
    Ternary(&'static Op<4>),
}

/// The host's kernel of an operation for a common dtype, and the dtypes of its operands.
#[derive(Clone, Copy)]
pub struct Choice<const N: usize> {
    /// The kernel.
    pub kernel: MapKernel<N>,
    /// The dtypes.
    pub signature: Signature<N>,
}

impl<const N: usize> Op<N> {
    /// The operation as an [`Elementwise`].
    pub const fn as_elementwise(&'static self) -> Elementwise {
        let op: *const Op<N> = self;
        // SAFETY: each arm casts to `Op` with the `N` that it matched.
        unsafe {
            match N {
                2 => Elementwise::Unary(&*op.cast()),
                3 => Elementwise::Binary(&*op.cast()),
                4 => Elementwise::Ternary(&*op.cast()),
                _ => panic!("operations have one to three operands"),
            }
        }
    }

    /// The host's kernel for operands of a common dtype, and for a mask of dtype `mask` if the operation has one. Fails if the operation is
    /// not defined for the dtype.
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

    /// The dtypes for which the operation has kernels.
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

/// The dtypes of an elementwise operation. Operand 0 is the result.
#[derive(Clone, Copy)]
pub struct Signature<const N: usize> {
    /// The dtype in which the kernel reads or writes each operand.
    pub types: [Dtype; N],
    /// The dtype that inputs with more digits are rounded to.
    pub common: Dtype,
    /// The dtype of a fresh result.
    pub result: Dtype,
    /// The least number of elements for which it pays to wake a thread.
    pub grain: usize,
}

impl<const N: usize> Signature<N> {
    /// The signature of an operation whose inputs are converted to `common` and computed in its compute type.
    #[inline]
    pub fn new(common: Dtype, result: Dtype, grain: usize) -> Signature<N> {
        let mut types = [common.compute(); N];
        types[0] = result.compute();
        Signature { types, common, result, grain }
    }

    /// The signature of an operation whose operands have different types. Each is converted directly, without rounding to a common dtype.
    #[inline]
    pub fn of_types(types: [Dtype; N], result: Dtype, grain: usize) -> Signature<N> {
        Signature { types, common: types[0].compute(), result, grain }
    }
}

/// A call of an operation. Operands have the shape of the result.
#[derive(Clone, Copy)]
pub struct Map<'a> {
    /// The operation.
    pub op: Elementwise,
    /// The dtype that operands are converted to.
    pub common: Dtype,
    /// The numbers among the arguments.
    pub numbers: &'a [Scalar],
}

impl std::fmt::Debug for Map<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Map").field("common", &self.common).field("numbers", &self.numbers).finish_non_exhaustive()
    }
}
