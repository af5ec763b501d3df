//! Operations over whole lines as values: each needs all elements along a dimension.

use crate::dtype::Dtype;
use crate::operand::Operand;

/// The function that softmax and its kin make of a line of exponentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Softmax {
    /// `e^x / sum of e^x`
    Softmax,
    /// Its logarithm.
    LogSoftmax,
    /// `log(sum of e^x)`, one number a line.
    LogSumExp,
}

/// The element of a line that is chosen by its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// The element with this many before it in ascending order, NaN last.
    At(usize),
    /// The element in the middle, or the one before; a NaN, if there is one.
    Median,
    /// The same among the elements that are not NaN.
    MedianOfNumbers,
}

/// The least or greatest elements of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Top {
    /// How many.
    pub k: usize,
    /// True for the greatest.
    pub largest: bool,
    /// True for the best first; else they come as they stand in the line.
    pub sorted: bool,
}

/// The value of a rank between those of two neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Interpolation {
    Linear,
    Lower,
    Higher,
    Midpoint,
    Nearest,
}

/// The function of a line. Those with two results return elements and their int64 positions in the line.
#[derive(Debug, Clone, Copy)]
pub enum LineOp<'a> {
    /// Running sums or products: of integers and Bool in int64, of floats in float64.
    Totals {
        /// True for products.
        product: bool,
    },
    /// The greatest or least elements so far, and the last position of each.
    Extremes {
        /// True for the greatest.
        max: bool,
    },
    /// Softmax and its kin, of floats.
    Softmax(Softmax),
    /// `log(e^x[0] + ... + e^x[i])` for each i, of floats.
    LogSums,
    /// The elements in order; equal ones stay in theirs.
    Sort {
        /// True for the greatest first.
        descending: bool,
    },
    /// The least or greatest elements.
    Top(Top),
    /// The element of a rank, and its first position; not for Bool.
    Select(Rank),
    /// The most frequent element, and its last position.
    Mode,
    /// Quantiles, of floats.
    Quantiles {
        /// The shares of the line that lie below each: a vector of the dtype that is computed in.
        shares: &'a Operand,
        /// The value between two elements.
        interpolation: Interpolation,
        /// True if NaNs are left out; else one makes every quantile NaN.
        skip_nan: bool,
    },
}

impl LineOp<'_> {
    /// The dtypes that the function returns for lines of `compute`; `None` for a result that it does not have.
    pub fn written(&self, compute: Dtype) -> [Option<Dtype>; 2] {
        let first = match self {
            LineOp::Totals { .. } if !compute.is_float() => Dtype::Int64,
            _ => compute,
        };
        let positions = match self {
            LineOp::Totals { .. } | LineOp::Softmax(_) | LineOp::LogSums | LineOp::Quantiles { .. } => None,
            LineOp::Extremes { .. } | LineOp::Sort { .. } | LineOp::Top(_) | LineOp::Select(_) | LineOp::Mode => Some(Dtype::Int64),
        };
        [Some(first), positions]
    }
}

/// An operation over the lines along the last dimension of the input and the results, which have the same sizes in all others.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    /// The function.
    pub op: LineOp<'a>,
    /// The dtype that elements are converted to first, a compute type.
    pub compute: Dtype,
}
