//! Operations over lines as values. A line is all elements along one dimension; the operation needs all of them.

use crate::dtype::Dtype;
use crate::operand::Operand;

/// Softmax and related functions of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Softmax {
    /// `e^x / sum of e^x`
    Softmax,
    /// The logarithm of softmax.
    LogSoftmax,
    /// `log(sum of e^x)`: one number for each line.
    LogSumExp,
    /// The two numbers that the logarithm of softmax subtracts from the elements: the greatest element, and `log(sum of e^(x - greatest))`.
    /// Their sum is `LogSumExp`, but the sum may round away the second number.
    Parts,
}

impl Softmax {
    /// Returns true if the results of a line are single numbers.
    pub fn reduces(self) -> bool {
        matches!(self, Softmax::LogSumExp | Softmax::Parts)
    }
}

/// The element of a line with a given rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// The element with this index in ascending order. NaNs are last.
    At(usize),
    /// The lower median; NaN if there is a NaN.
    Median,
    /// The lower median of the elements that are not NaN.
    MedianOfNumbers,
}

/// The least or greatest elements of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Top {
    /// The number of elements.
    pub k: usize,
    /// True for the greatest.
    pub largest: bool,
    /// True to return the elements sorted, best first; false to keep their order in the line.
    pub sorted: bool,
}

/// The value of a quantile between two neighbouring elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Interpolation {
    Linear,
    Lower,
    Higher,
    Midpoint,
    Nearest,
}

/// The function of a line. Functions with two results return elements and their int64 positions in the line.
#[derive(Debug, Clone, Copy)]
pub enum LineOp<'a> {
    /// Running sums or products: in int64 for integers and Bool, in float64 for floats.
    Totals {
        /// True for products.
        product: bool,
    },
    /// The running maxima or minima, and the last position of each.
    Extremes {
        /// True for the greatest.
        max: bool,
    },
    /// Softmax and related functions; only floats.
    Softmax(Softmax),
    /// `log(e^x[0] + ... + e^x[i])` for each i; only floats.
    LogSums,
    /// The elements in order. The sort is stable.
    Sort {
        /// True for the greatest first.
        descending: bool,
    },
    /// The least or greatest elements.
    Top(Top),
    /// The element with a rank, and its first position; not for Bool.
    Select(Rank),
    /// The most frequent element, and its last position.
    Mode,
    /// Quantiles; only floats.
    Quantiles {
        /// The fraction of the line below each quantile: a vector of the compute dtype.
        shares: &'a Operand,
        /// The value between two elements.
        interpolation: Interpolation,
        /// True if NaNs are ignored; otherwise a NaN makes every quantile of its line NaN.
        skip_nan: bool,
    },
}

impl LineOp<'_> {
    /// The dtypes of the results for lines of `compute`; `None` for a missing second result.
    pub fn written(&self, compute: Dtype) -> [Option<Dtype>; 2] {
        let first = match self {
            LineOp::Totals { .. } if !compute.is_float() => Dtype::Int64,
            _ => compute,
        };
        let second = match self {
            LineOp::Softmax(Softmax::Parts) => Some(compute),
            LineOp::Totals { .. } | LineOp::Softmax(_) | LineOp::LogSums | LineOp::Quantiles { .. } => None,
            LineOp::Extremes { .. } | LineOp::Sort { .. } | LineOp::Top(_) | LineOp::Select(_) | LineOp::Mode => Some(Dtype::Int64),
        };
        [Some(first), second]
    }
}

/// An operation over lines along the last dimension of the input and the results. All other sizes of input and results are equal.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    /// The function.
    pub op: LineOp<'a>,
    /// The dtype that elements are converted to first, a compute type.
    pub compute: Dtype,
}
