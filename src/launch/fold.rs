//! Reductions as values.

use crate::dtype::Dtype;

/// The term of a sum: what each element x contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// `x`
    Plain,
    /// `|x|`
    Abs,
    /// `x^2`
    Square,
    /// 1 if x is not 0, else 0
    NonZero,
    /// `x`, or 0 if x is NaN
    NotNan,
}

/// The function of a sum that is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The sum itself.
    Itself,
    /// The sum divided by the number of elements.
    Mean,
    /// The square root of the sum.
    Sqrt,
}

/// The function that reduces the elements of one result position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fold {
    /// The sum of a term. Integers and Bool are summed in int64 and allow only plain terms. Floats are summed in float64, or with nearly
    /// its accuracy.
    Sum {
        /// The term that is summed.
        term: Term,
        /// The function of the sum that is returned.
        root: Root,
        /// True if all additions of floats are in float64.
        in_float64: bool,
    },
    /// The mean of the elements that are not NaN.
    NanMean,
    /// The product: in int64 for integers, in float64 for floats.
    Prod,
    /// `(sum of |x|^p)^(1/p)`, for floats
    Powers {
        /// The exponent: neither 0 nor infinite.
        p: f64,
        /// As for [`Fold::Sum`].
        in_float64: bool,
    },
    /// The greatest or least element; NaN if any element is NaN.
    Extreme {
        /// True for the greatest.
        max: bool,
        /// True if absolute values are compared and returned; only for floats.
        magnitude: bool,
    },
    /// The least and the greatest element: two results.
    MinMax,
    /// The greatest or least element, and its position among the elements in row-major order: two results.
    ExtremeAt {
        /// True for the greatest.
        max: bool,
    },
    /// The variance of floats.
    Moment {
        /// The number that is subtracted from the number of elements to get the divisor.
        correction: f64,
        /// True for the standard deviation.
        root: bool,
    },
    /// True if all elements, or any of them, are not 0.
    Logic {
        /// True for all.
        all: bool,
    },
}

/// A reduction. Results have the shape of the input, with size 1 in the dimensions that are folded.
#[derive(Debug, Clone, Copy)]
pub struct Reduce<'a> {
    /// The function.
    pub fold: Fold,
    /// The dtype that elements are converted to first.
    pub compute: Dtype,
    /// The dtype of each result of the function.
    pub written: [Dtype; 2],
    /// True for each dimension that is folded.
    pub folded: &'a [bool],
}
