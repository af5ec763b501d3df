//! Reductions as values.

use crate::dtype::Dtype;

/// The operand of a sum: what each element x adds to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// `x`
    Plain,
    /// `|x|`
    Abs,
    /// `x^2`
    Square,
    /// 1 where x is not 0
    NonZero,
    /// `x`, or 0 where that is NaN
    NotNan,
}

/// The number made of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The sum itself.
    Itself,
    /// The sum divided by the number of elements.
    Mean,
    /// The square root of the sum.
    Sqrt,
}

/// The function of the elements of a result position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fold {
    /// The sum of a term. Integers and Bool are summed in int64, plain terms alone; floats in float64 if it is `wide`, else nearly so.
    Sum {
        /// The term that is summed.
        term: Term,
        /// The number made of the sum.
        root: Root,
        /// True if every addition of floats is one of float64.
        wide: bool,
    },
    /// The mean of what is not NaN.
    NanMean,
    /// The product: of integers in int64, of floats in float64.
    Prod,
    /// `(sum of |x|^p)^(1/p)`, for floats
    Powers {
        /// The exponent: neither 0 nor infinite.
        p: f64,
        /// As for [`Fold::Sum`].
        wide: bool,
    },
    /// The greatest or least element; NaN if one is.
    Extreme {
        /// True for the greatest.
        max: bool,
        /// True if magnitudes are compared and returned, of floats.
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
        /// The number that is taken from the number of elements to divide by.
        correction: f64,
        /// True for its square root.
        root: bool,
    },
    /// True if all elements, or any of them, are not 0.
    Logic {
        /// True for all.
        all: bool,
    },
}

/// A reduction: results have the shape of the input, with size 1 in the dimensions that are folded.
#[derive(Debug, Clone, Copy)]
pub struct Reduce<'a> {
    /// The function.
    pub fold: Fold,
    /// The dtype that elements are converted to first.
    pub compute: Dtype,
    /// The dtype that the function returns, of each result.
    pub written: [Dtype; 2],
    /// True for each dimension that is folded.
    pub folded: &'a [bool],
}
